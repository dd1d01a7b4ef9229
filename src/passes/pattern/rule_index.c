/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The rows are made once for a rewriting: first those of the classes that patterns name, then what applies to all
 * classes is added to each of them. An input of the root may be made by anything unless its row is strict. */
#include "pattern/rule_index.h"

/* The row of a class, added if missing: there is room for all. */
static class_row *row_to_change(rule_index *x, const xir_class *cls) {
    return &x->classes[*pointer_table_add(&x->class_at, cls, (uint32_t)x->class_at.n)];
}

static void note_pattern(rule_index *x, const xir_pattern *p, uint64_t bit) {
    for (uint32_t j = 0; j < p->n_root_classes; j++) row_to_change(x, p->root_classes[j])->roots |= bit;
    if (!p->root_classes) x->others.roots |= bit;
    for (uint64_t rows = p->op_rows & ~((uint64_t)1 << p->root); rows; rows &= rows - 1) {
        const node *n = &p->nodes[__builtin_ctzll(rows)];
        for (uint32_t j = 0; j < n->n_classes; j++) row_to_change(x, n->classes[j])->inside = true;
        x->others.inside |= !n->classes;
    }
    x->others.inside |= p->tests_leaves;   /* any op may make a leaf */
    x->tests_leaves |= p->tests_leaves;
    if (p->depth > x->depth) x->depth = p->depth;
}

/* Returns true if only ops, or only Params, can stand for a row. */
static bool is_strict(const node *n) {
    const bool one_kind = n->kind == XIR_PATTERN_OP || n->kind == XIR_PATTERN_PARAMS || n->kind == XIR_PATTERN_NUMBER;
    return one_kind && !n->optional;
}

/* Notes the classes that may make input `i` of the root. All classes have their rows. */
static void note_input(rule_index *x, const xir_pattern *p, uint32_t i, uint64_t bit) {
    const node *root = &p->nodes[p->root];
    const bool is_listed = root->kind == XIR_PATTERN_OP && i < root->n_inputs;
    const node *n = is_listed && is_strict(&p->nodes[root->inputs[i]]) ? &p->nodes[root->inputs[i]] : NULL;
    if (!n || n->kind != XIR_PATTERN_OP) x->constants.makes[i] |= bit;
    if (!n) x->nothing.makes[i] |= bit;
    const bool any_op = !n || (n->kind == XIR_PATTERN_OP && !n->classes);
    if (any_op) x->others.makes[i] |= bit;
    for (size_t j = 0; any_op && j < x->class_at.n; j++) x->classes[j].makes[i] |= bit;
    for (uint32_t j = 0; !any_op && j < n->n_classes; j++) row_to_change(x, n->classes[j])->makes[i] |= bit;
}

/* Of the classes without a row, those with higher numbers need no place. */
static bool number_rows(rule_index *x) {
    const pointer_table *t = &x->class_at;
    size_t n = 0;
    for (size_t i = 0; i < t->room; i++) {
        const xir_class *cls = t->slots[i].key;
        if (cls && !cls->opaque && cls->number >= n) n = (size_t)cls->number + 1;
    }
    if (!mem_reserve(x->class_at.alloc, (void **)&x->by_number, &x->number_room, n, sizeof *x->by_number))
        return false;
    for (size_t i = 0; i < n; i++) x->by_number[i] = NO_CLASS_ROW;
    for (size_t i = 0; i < t->room; i++) {
        const xir_class *cls = t->slots[i].key;
        if (cls && !cls->opaque) x->by_number[cls->number] = t->slots[i].value;
    }
    x->n_numbers = n;
    return true;
}

bool rule_index_make(rule_index *x, const xir_rule *rules, size_t n, const xir_allocator *alloc) {
    size_t most = 0;   /* rows: a class that appears twice is counted twice */
    *x = (rule_index){ .class_at.alloc = alloc };
    for (size_t i = 0; i < n; i++) {
        const xir_pattern *p = rules[i].pattern;
        most += p->n_root_classes;
        for (uint32_t row = 0; row < p->n_nodes; row++) most += p->nodes[row].n_classes;
    }
    if (!mem_reserve(alloc, (void **)&x->classes, &x->class_room, most, sizeof *x->classes) ||
        !pointer_table_reserve(&x->class_at, most)) return false;
    if (most) memset((void *)x->classes, 0, most * sizeof *x->classes);
    for (size_t i = 0; i < n; i++) note_pattern(x, rules[i].pattern, (uint64_t)1 << i);
    for (size_t i = 0; i < x->class_at.n; i++) {   /* what applies to all classes applies to these too */
        x->classes[i].roots |= x->others.roots;
        x->classes[i].inside |= x->others.inside;
    }
    for (size_t i = 0; i < n; i++) {
        const xir_pattern *p = rules[i].pattern;
        const uint64_t bit = (uint64_t)1 << i;
        if (p->nodes[p->root].commutes) x->commuting |= bit;
        for (uint32_t j = 0; j < 2; j++) note_input(x, p, j, bit);
    }
    if (!number_rows(x)) return false;
    x->depth += x->tests_leaves;
    return true;
}

void rule_index_free(rule_index *x) {
    const xir_allocator *alloc = x->class_at.alloc;
    pointer_table_free(&x->class_at);
    mem_free(alloc, x->classes, x->class_room * sizeof *x->classes);
    mem_free(alloc, x->by_number, x->number_room * sizeof *x->by_number);
}
