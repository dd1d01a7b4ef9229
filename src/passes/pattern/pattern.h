/* A pattern in the form that the matcher uses: classes are looked up, and everything that rows point to is copied. */
#ifndef PATTERN_PATTERN_H
#define PATTERN_PATTERN_H

#include <xir/pattern.h>
#include "graph.h"

/* An attribute test. `field` is set if the row has exactly one class that declares the attribute. */
typedef struct node_attr {
    xir_str          name, text;
    xir_pattern_attr is;
    const xir_field *field;
} node_attr;

typedef struct node {
    uint8_t            kind;          /* xir_pattern_kind                                      */
    uint8_t            n_inputs;      /* listed inputs, without the REST                        */
    uint8_t            output;
    bool               asks_inputs, rest, commutes, optional;
    bool               tests_value;   /* it has uses, element or where_value                   */
    uint32_t           traits, targets;
    uint32_t           n_classes, n_attrs;
    const uint8_t     *inputs;
    const xir_class  **classes;       /* NULL: any                                             */
    const node_attr   *attrs;
    size_t             uses;
    const xir_type    *element;       /* borrowed from the context; NULL: any                   */
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
    uint64_t          op_rows;        /* one bit per OP row                                     */
    uint64_t          leaf_rows;      /* one bit per row without inputs                         */
    uint32_t          depth;          /* number of ops on the longest path from root to leaf    */
    const xir_class **root_classes;   /* NULL: any                                             */
    uint32_t          n_root_classes;
    bool              closed;
    bool              tests_leaves;   /* it tests values that no op of the pattern makes       */
    bool            (*check)(const xir_match *match, void *user);
    void             *user;
};

/* Whether an op of the class can be a root. */
static inline bool pattern_may_start(const xir_pattern *p, const xir_class *cls) {
    for (uint32_t i = 0; i < p->n_root_classes; i++) {
        if (p->root_classes[i] == cls) return true;
    }
    return !p->root_classes;
}

#endif
