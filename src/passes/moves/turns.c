/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A run of Reshapes, Squeezes and Transpositions, written the shortest way. A run that is rewritten gets fewer ops, or
 * as many with fewer Transpositions. */
#include "canon/canon.h"
#include "moves/moves.h"
#include "normalised.h"
#include "provenance.h"
#include "support/upkeep.h"
#include "types.h"

enum { X, OUT, MOST_RUN = 12 };

static const xir_pattern_row rows[] = {
    [X]   = { XIR_ROW_ANY },
    [OUT] = { XIR_ROW_OP(xir_transpose_class, xir_reshape_class, xir_squeeze_class), XIR_ROW_INPUTS(X) },
};

static bool is_turn(const xir_op *op) { return xir_transpose_of(op) || xir_reshape_of(op) || xir_squeeze_of(op); }

/* Returns true if a Transpose moves only dims of 1. */
static bool keeps_memory(const xir_op *op) {
    const xir_i64s order = xir_transpose_of(op)->dims, *dims = value_dims(op_inputs(op)[0].value);
    int64_t last = -1;
    for (size_t i = 0; dims && i < order.size; i++) {
        const int64_t at = from_end(order.data[i], (int64_t)order.size);
        if (at < 0 || at >= (int64_t)dims->size || dims->data[at] == 1) continue;
        if (at < last) return false;
        last = at;
    }
    return true;
}

/* Returns true if a run that ends with the op may have a shorter form. An op alone has one if it is a Transpose that
 * moves nothing; what a Reshape that does nothing becomes is up to `identity`. */
static bool may_be_long(const xir_op *op) {
    const xir_value *x = op->n_inputs == 1 ? op_inputs(op)[0].value : NULL;
    if (!x) return false;
    return (value_op(x) && is_turn(value_op(x))) || (xir_transpose_of(op) && keeps_memory(op));
}

bool move_turns(const xir_op *op) {
    if (!is_turn(op) || op->n_inputs != 1 || op->n_outputs != 1 || !(op->flags & OP_PLACED) || xir_op_extra(op) ||
        !target_is_host(op_target(op))) return false;
    const xir_value *x = op_inputs(op)[0].value, *y = &op_outputs(op)[0];
    return x && fuse_is_plain(x->type) && fuse_is_plain(y->type) &&
           xir_type_equal(xir_type_element(x->type), xir_type_element(y->type)) &&
           xir_object_equal((const xir_object *)xir_value_mtype(x), (const xir_object *)xir_value_mtype(y));
}

/* The op that makes a value, if nothing else uses the value. */
static xir_op *op_before(const xir_value *v) {
    xir_op *op = value_op(v);
    return op && v->uses && !v->uses->next && move_turns(op) ? op : NULL;
}

/* Goes on with what an op of a run does; false if that is not known. */
static bool compose(move_map *map, const xir_op *op) {
    const xir_i64s dims = *value_dims(&op_outputs(op)[0]);
    if (!xir_transpose_of(op)) return map_reshape(map, dims);
    return map_transpose(map, xir_transpose_of(op)->dims) && map_has_dims(map, dims);
}

/* A Transposition alone that gives letters to dims stays, even if it moves nothing: formats know it as a change between
 * orders of axes. */
static bool has_letters(const xir_type *type) {
    const xir_str text = xir_layout_text(xir_type_layout(type));
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] != '*') return true;
    }
    return false;
}

/* The longest part of the run up to the root that can be written in a shorter way: its first op is run[*n - 1]. */
static bool shorter(const xir_match *m, xir_op **run, size_t *n, move_plan *plan) {
    size_t all = 0;
    for (xir_op *op = m->root; op && all < MOST_RUN; op = op_before(op_inputs(op)[0].value)) {
        for (size_t i = 0; i < all; i++) {
            if (run[i] == op) return false;       /* a cycle */
        }
        run[all++] = op;
    }
    for (*n = all; *n; --*n) {
        if (*n == 1 && !(xir_transpose_of(m->root) && keeps_memory(m->root))) return false;
        const xir_value *x = op_inputs(run[*n - 1])[0].value;
        if (value_op(x) == m->root) return false;
        move_map map;
        int turns = 0;
        bool known = map_of_dims(*value_dims(x), &map);
        for (size_t i = *n; i-- > 0 && known;) {
            known = compose(&map, run[i]);
            turns += xir_transpose_of(run[i]) != NULL;
        }
        if (!known || !plan_of(&map, x, op_outputs(m->root)[0].type, plan)) continue;
        if (*n == 1 && plan_ops(plan) && has_letters(op_outputs(m->root)[0].type)) return false;
        const int ops = plan_ops(plan);
        if (ops < (int)*n || (ops == (int)*n && plan->turns < turns)) return true;
    }
    return false;
}

/* The rest is up to the rewrite: a match has one form, and a plan takes longer than all else. */
static bool is_long(const xir_match *m, void *user) {
    (void)user;
    return may_be_long(m->root) && move_turns(m->root) && !op_has_normalised(m->root);
}

static const xir_pattern_decl turns = { XIR_PATTERN_HEAD("turns", rows), .check = is_long };

/* Erases ops of a run before its last one, from the end. */
static xir_verdict erase_rest(xir_op **run, size_t n) {
    for (size_t i = 1; i < n; i++) {
        if (op_is_unused(run[i]) && xir_op_erase(run[i])) return XIR_REWRITE_FAILED;
    }
    return XIR_REWRITE_DONE;
}

static xir_verdict to_shorter(xir_rewriter *at, const xir_match *m, const void *user) {
    xir_op *run[MOST_RUN];
    size_t n;
    move_plan plan;
    (void)at, (void)user;
    if (!shorter(m, run, &n, &plan)) return XIR_REWRITE_LEFT;
    xir_value *x = op_inputs(run[n - 1])[0].value;
    for (size_t i = 1; i < n; i++) provenance_also(run[i]);
    if (!plan_ops(&plan)) {
        const xir_verdict verdict = canon_keep(m, x);
        return verdict == XIR_REWRITE_DONE ? erase_rest(run, n) : verdict;
    }
    xir_value *now = plan_write(xir_match_at(m), x, op_outputs(m->root)[0].type, &plan);
    const xir_verdict verdict = xir_match_replace(m, now);
    return verdict == XIR_REWRITE_DONE ? erase_rest(run, n) : verdict;
}

/* ---- a function between ------------------------------------------------------------------------------------------ */

/* Functions of one element do not care where it is: moves on both sides of one may be shorter together. */
enum { F_BEFORE = 1, F_FUNCTION, F_AFTER };

#define TURN(x)     { XIR_ROW_OP(xir_transpose_class, xir_reshape_class, xir_squeeze_class), XIR_ROW_INPUTS(x) }
#define FUNCTION(x) { XIR_ROW_OP(xir_relu_class, xir_clamp_scalar_class, xir_sigmoid_class, xir_tanh_class,          \
                                 xir_gelu_class, xir_silu_class, xir_hardsigmoid_class, xir_hardswish_class,         \
                                 xir_exp_class, xir_sqrt_class, xir_neg_class, xir_abs_class), XIR_ROW_INPUTS(x) }

static const xir_pattern_row function_rows[] = {
    [X]          = { XIR_ROW_ANY },
    [F_BEFORE]   = TURN(X),
    [F_FUNCTION] = FUNCTION(F_BEFORE),
    [F_AFTER]    = TURN(F_FUNCTION),
};

/* One move or none remains of two. */
static bool together(const xir_match *m, move_plan *plan) {
    move_map map;
    const xir_value *x = xir_match_value(m, X);
    return map_of_dims(*value_dims(x), &map) && compose(&map, xir_match_op(m, F_BEFORE)) &&
           compose(&map, m->root) && plan_of(&map, x, op_outputs(m->root)[0].type, plan) && plan_ops(plan) < 2;
}

static bool can_pass(const xir_match *m, void *user) {
    move_plan plan;
    const xir_op *f = xir_match_op(m, F_FUNCTION);
    (void)user;
    return canon_check_ops(m) && move_turns(xir_match_op(m, F_BEFORE)) && move_turns(m->root) && f->n_outputs == 1 &&
           xir_type_equal(xir_match_value(m, F_BEFORE)->type, xir_match_value(m, F_FUNCTION)->type) &&
           together(m, &plan);
}

static const xir_pattern_decl function = {
    XIR_PATTERN_HEAD("turns-function", function_rows), .closed = true, .check = can_pass,
};

static xir_verdict to_one_side(xir_rewriter *at, const xir_match *m, const void *user) {
    move_plan plan;
    (void)at, (void)user;
    if (!together(m, &plan)) return XIR_REWRITE_LEFT;
    xir_value *x = xir_match_value(m, X);
    xir_op *f = xir_op_clone(xir_match_op(m, F_FUNCTION));
    if (!f || xir_op_set_input(f, 0, x) || xir_value_set_type(xir_op_output(f, 0), x->type) ||
        xir_op_place(f, m->root)) return XIR_REWRITE_FAILED;
    xir_value *now = xir_op_output(f, 0);
    if (plan_ops(&plan)) now = plan_write(xir_match_at(m), now, op_outputs(m->root)[0].type, &plan);
    return xir_match_replace(m, now);
}

const pass_rule moves_turns[] = {
    { &turns,    to_shorter  },
    { &function, to_one_side },
    { NULL, NULL },
};
