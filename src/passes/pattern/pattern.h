/* A pattern as it is matched: its rows with classes looked up and all that they point to copied. */
#ifndef PATTERN_PATTERN_H
#define PATTERN_PATTERN_H

#include <xir/pattern.h>
#include "graph.h"

/* An attribute test; `field` is there if the row has one class, which declares it. */
typedef struct node_attr {
    xir_str          name, text;
    xir_pattern_attr is;
    const xir_field *field;
} node_attr;

typedef struct node {
    uint8_t            kind;          /* xir_pattern_kind                                      */
    uint8_t            n_inputs;      /* that are listed; without the REST                     */
    uint8_t            output;
    bool               asks_inputs, rest, commutes, optional;
    bool               judges_value;  /* uses, element or where_value                          */
    uint32_t           traits, targets;
    uint32_t           n_classes, n_attrs;
    const uint8_t     *inputs;
    const xir_class  **classes;       /* NULL: any                                             */
    const node_attr   *attrs;
    size_t             uses;
    const xir_type    *element;       /* the context's; NULL: any                              */
    double             number, within;
    bool             (*where)(const xir_op *op, void *user);
    bool             (*where_value)(const xir_value *value, void *user);
} node;

struct xir_pattern {
    xir_context      *ctx;
    arena             arena;
    const char       *name;
    node             *nodes;
    uint32_t          n_nodes, root;
    uint64_t          op_rows;        /* bits of OP rows,                                      */
    uint64_t          leaf_rows;      /* and of rows that have no inputs                       */
    uint32_t          depth;          /* ops on the longest way from the root to a leaf        */
    const xir_class **root_classes;   /* NULL: any                                             */
    uint32_t          n_root_classes;
    bool              closed;
    /* uses or anything else that is asked of a value that is no op's of the pattern */
    bool              judges_leaves;
    bool            (*check)(const xir_match *match, void *user);
    void             *user;
};

/* Whether ops of a class can be roots: one comparison for most. */
static inline bool pattern_may_start(const xir_pattern *p, const xir_class *cls) {
    for (uint32_t i = 0; i < p->n_root_classes; i++) {
        if (p->root_classes[i] == cls) return true;
    }
    return !p->root_classes;
}

#endif
