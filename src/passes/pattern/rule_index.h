/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The rules that can match at an op. Rows by class say which rules an op can be the root of, and which rules allow it
 * as the maker of an input of the root. So three lookups leave only the rules that fit an op and the makers of its
 * first two inputs, for any number of rules, and no pattern is tried on most ops. */
#ifndef PATTERN_RULE_INDEX_H
#define PATTERN_RULE_INDEX_H

#include "hash.h"
#include "pattern/pattern.h"

/* The rules that use a class. The sets have a bit per rule. */
typedef struct class_row {
    uint64_t roots;      /* its root can be of the class                                     */
    uint64_t makes[2];   /* an op of it may make the first, the second input of the root     */
    bool     inside;     /* an inner op of some rule can be of it                            */
} class_row;

typedef struct rule_index {
    pointer_table class_at;          /* from classes of the patterns to indices in `classes`            */
    class_row    *classes;
    size_t        class_room;
    uint32_t     *by_number;         /* the same from the numbers of classes; NO_CLASS_ROW: others      */
    size_t        n_numbers, number_room;
    class_row     others;            /* for all other classes                                           */
    class_row     constants, nothing;/* as inputs: Params; a value that nothing makes, or none          */
    uint64_t      commuting;         /* rules whose root may have its first two inputs exchanged        */
    bool          tests_leaves;      /* a rule tests values that none of its ops makes                  */
    size_t        depth;             /* of the deepest pattern, leaves that are tested included         */
} rule_index;

#define NO_CLASS_ROW UINT32_MAX

/* The allocator must outlive the index. False without memory; rule_index_free must follow in any case. */
bool rule_index_make(rule_index *x, const xir_rule *rules, size_t n, const xir_allocator *alloc);
void rule_index_free(rule_index *x);

static inline const class_row *class_row_of(const rule_index *x, const xir_class *cls) {
    if (cls->number < x->n_numbers) {
        const uint32_t i = x->by_number[cls->number];
        return i == NO_CLASS_ROW ? &x->others : &x->classes[i];
    }
    const uint32_t *i = cls->opaque ? pointer_table_find(&x->class_at, cls) : NULL;
    return i ? &x->classes[*i] : &x->others;
}

static inline const class_row *class_row_of_input(const rule_index *x, const xir_op *op, uint32_t i) {
    const xir_value *v = i < op->n_inputs ? op_inputs(op)[i].value : NULL;
    if (v && value_op(v)) return class_row_of(x, value_op(v)->cls);
    return v && value_is_params(v) ? &x->constants : &x->nothing;
}

/* The rules that may match at an op, by the classes of the op and of the makers of its first two inputs. */
static inline uint64_t rules_at(const rule_index *x, const xir_op *op) {
    const uint64_t rules = class_row_of(x, op->cls)->roots;
    if (!rules) return 0;
    const class_row *a = class_row_of_input(x, op, 0), *b = class_row_of_input(x, op, 1);
    return rules & ((a->makes[0] & b->makes[1]) | (x->commuting & a->makes[1] & b->makes[0]));
}

#endif
