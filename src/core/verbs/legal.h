/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The ops that a target runs, by the rules of its row. */
#ifndef CORE_LEGAL_H
#define CORE_LEGAL_H

#include "graph.h"

/* Returns true if the target has rules. */
static inline bool has_rules(const xir_target *target) {
    return target && xir_target_row_of(target)->n_rules;
}
/* Returns true if ops of the class run a body: then the rules are asked about the ops in it instead. */
static inline bool is_call(const xir_class *cls) {
    const xir_str key = XIR_STR("xir::Call");
    return cls->key.size == key.size && memcmp(cls->key.data, key.data, key.size) == 0;
}
/* Returns true if validation asks them, too. */
static inline bool has_strict_rules(const xir_target *target) {
    return has_rules(target) && !(xir_target_row_of(target)->flags & XIR_TARGET_ADVISES);
}

/* The rules of a row that are about one class, and their verdict on it as a whole. */
enum { RULE_BITS = 512 };
typedef struct class_rules {
    const xir_class       *cls;                     /* NULL: nothing is known yet              */
    const xir_target_row  *row;
    const xir_target_rule *excludes;                /* the rule that excludes it; NULL: none   */
    bool                   runs, compiled;
    uint64_t               about[RULE_BITS / 64];   /* a bit for each of the first rules: it is asked about the class */
} class_rules;

/* Networks have few classes: the answer about a class is kept, in a slot that its address selects. */
typedef struct rules_memo { class_rules of[128]; } rules_memo;

/* XIR_E_UNSUPPORTED, with a finding for each rule that the op breaks, if the target does not run it. The question has
 * the types of the outputs; `typed` asks rules about element types, too. *noted becomes true for a note. `memo` may be
 * NULL. */
xir_status rules_check(xir_infer *at, rules_memo *memo, bool typed, bool *noted);
/* Returns true if an input or output of the op has a quantised type. */
bool       op_is_quantised(const xir_op *op);

/* The question to a target, and where inference makes types meanwhile. */
typedef struct trial {
    const xir_target *target;
    object_pool      *pool;
    bool              typed;
    bool              valid;   /* types are those of inference: what the target infers as the host does is not again */
    xir_diags        *why;
    rules_memo       *memo;    /* may be NULL */
} trial;
/* Asks about an op and, of a call, the ops of its body; `path` is its place. *noted becomes true if the answer is more
 * than the status, or depends on more than types and attributes. Does not say that memory ran out. */
xir_status try_op(const trial *t, const xir_op *op, xir_str path, bool *noted);

#endif
