/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A pattern in the form that the matcher uses: classes are looked up, and everything that rows point to is copied. */
#ifndef PATTERN_PATTERN_H
#define PATTERN_PATTERN_H

#include <xir/pattern_build.h>
#include "view.h"

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
    bool               tests_value;   /* it has uses, element, type or where_value             */
    uint64_t           traits;
    uint32_t           targets;
    uint32_t           n_classes, n_attrs;
    const uint8_t     *inputs;
    const xir_class  **classes;       /* NULL: any                                             */
    const node_attr   *attrs;
    size_t             uses;
    const xir_type    *element;       /* borrowed from the context; NULL: any                   */
    const xir_type    *type;          /* the same, of the whole value                          */
    void              *user;          /* of the row, otherwise of the pattern                  */
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
    xir_parts        *parts;          /* of a pattern from parts, which it keeps alive; NULL: from a table   */
    uint32_t          numbers[XIR_PATTERN_ROWS];   /* of the parts of its rows, which grow  */
};

/* Returns true if an op of the class can be a root. */
static inline bool pattern_may_start(const xir_pattern *p, const xir_class *cls) {
    for (uint32_t i = 0; i < p->n_root_classes; i++) {
        if (p->root_classes[i] == cls) return true;
    }
    return !p->root_classes;
}

/* The ops that a match may have: those of a view, and those whose slots are `since` and above. */
typedef struct among { const xir_view *view; uint32_t since; } among;
static inline bool is_among(const among *a, const xir_op *op) {
    return !a || op->slot >= a->since || view_has(a->view, op);
}

/* Copies a declaration into this library's struct; false with a finding if it is for another one. */
bool pattern_take_decl(xir_pattern_decl *out, const xir_pattern_decl *decl, xir_diags *why);

/* xir_pattern_match among some ops; NULL: among all. */
bool pattern_match(const xir_pattern *p, xir_op *root, const among *in, xir_match *out);

/* Called by the replacing functions of a callback (rewrite.c): another value stands for what some users used; or the
 * new value would depend on itself through this op. */
void rewriter_replaced(xir_rewriter *at, xir_value *now);
/* Ops have moved to places after the root, where the walk may miss them. */
void rewriter_moved(xir_rewriter *at);
void rewriter_cycle(xir_rewriter *at, const xir_op *through);

#endif
