/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Parts that are joined again: all parts of a Split or an Unstack in their order, which are the whole; and Slices with
 * steps that together take every element, which a Concat puts into another order (Focus, patch merging).
 *
 *     a, b = Split x                                a = Slice x [::2]               r = Reshape x [n/2,2,c]
 *     y = Concat z a b     =>   y = Concat z x      b = Slice x [1::2]        =>    t = Transpose r [1,0,2]
 *                                                   y = Concat a b [axis=0]         y = Reshape t [n,c]
 */
#include "canon/canon.h"
#include "moves/moves.h"
#include "provenance.h"
#include "support/upkeep.h"
#include "types.h"

enum { FIRST, REST, OUT, MOST_PARTS = 64 };

static const xir_pattern_row rows[] = {
    [FIRST] = { XIR_ROW_ANY },
    [REST]  = { XIR_ROW_REST },
    [OUT]   = { XIR_ROW_OP(xir_concat_class, xir_stack_class), XIR_ROW_INPUTS(FIRST, REST) },
};

static bool is_plain(const xir_op *op) {
    const xir_value *y = xir_op_output(op, 0);
    return y && op->n_inputs <= MOST_PARTS && target_is_host(op_target(op)) && !xir_op_extra(op) &&
           fuse_is_plain(y->type);
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

/* Returns the op whose outputs are, all and in their order, the inputs of `op` from `at` on, along the joined dim. */
static xir_op *divided_at(const xir_op *op, uint32_t at) {
    const xir_value *part = xir_op_input(op, at);
    xir_op *from = part ? value_op(part) : NULL;
    const int64_t rank = (int64_t)xir_type_rank(xir_op_output(op, 0)->type);
    int64_t there, here;
    if (!from || !is_plain(from) || !from->n_outputs || from->n_outputs > op->n_inputs - at || from == op) return NULL;
    if (xir_concat_of(op) && xir_split_of(from)) {
        there = xir_split_of(from)->axis;
        here = xir_concat_of(op)->axis;
    } else if (xir_stack_of(op) && xir_unstack_of(from)) {
        there = xir_unstack_of(from)->dim;
        here = xir_stack_of(op)->dim;
    } else {
        return NULL;
    }
    for (uint32_t i = 0; i < from->n_outputs; i++) {
        if (xir_op_input(op, at + i) != xir_op_output(from, i)) return NULL;
    }
    return from_end(there, rank) == from_end(here, rank) ? from : NULL;
}

/* A Stack joins all parts or none. */
static bool find_whole(const xir_op *op, uint32_t *at, xir_op **from) {
    for (*at = 0; *at < op->n_inputs; ++*at) {
        *from = divided_at(op, *at);
        if (!*from) continue;
        const xir_value *x = xir_op_input(*from, 0);
        const bool all = (*from)->n_outputs == op->n_inputs;
        if (!x || !fuse_is_plain(x->type)) continue;
        if (all ? same_kind(x, xir_op_output(op, 0)) : xir_concat_of(op) && (*from)->n_outputs > 1) return true;
    }
    return false;
}

static bool has_whole(const xir_match *m, void *user) {
    uint32_t at;
    xir_op *from;
    (void)user;
    return is_plain(m->root) && find_whole(m->root, &at, &from);
}

static const xir_pattern_decl whole = { XIR_PATTERN_HEAD("whole", rows), .check = has_whole };

static xir_verdict to_whole(xir_rewriter *at, const xir_match *m, const void *user) {
    uint32_t first;
    xir_op *from, *op = m->root;
    xir_value *inputs[MOST_PARTS];
    size_t n = 0;
    (void)user;
    if (!find_whole(op, &first, &from)) return XIR_REWRITE_LEFT;
    xir_value *x = xir_op_input(from, 0);
    if (from->n_outputs == op->n_inputs) {
        provenance_also(from);
        const xir_verdict verdict = canon_keep(m, x);
        if (verdict == XIR_REWRITE_DONE && op_is_unused(from) && xir_op_erase(from)) return XIR_REWRITE_FAILED;
        return verdict;
    }
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (i == first) inputs[n++] = x;
        else if (i < first || i >= first + from->n_outputs) inputs[n++] = xir_op_input(op, i);
    }
    if (xir_op_set_inputs(op, inputs, n)) return XIR_REWRITE_FAILED;
    provenance_absorbed(op, from);
    xir_rewriter_touch(at, op);
    return op_is_unused(from) && xir_op_erase(from) ? XIR_REWRITE_FAILED : XIR_REWRITE_DONE;
}

/* ---- slices with steps ------------------------------------------------------------------------------------------- */

/* The Slices that a Concat joins: all of one value, with the same steps. Slice k begins at (k / run[d]) % step[d] in
 * each dim. */
typedef struct stepped {
    xir_value *x;
    size_t     rank;
    int64_t    step[MAP_DIMS], run[MAP_DIMS];
} stepped;

static const xir_slice_attrs *slice_at(const xir_op *op, uint32_t i, const xir_value **x) {
    const xir_value *part = xir_op_input(op, i);
    const xir_op *from = part ? value_op(part) : NULL;
    const xir_slice_attrs *a = from ? xir_slice_of(from) : NULL;
    if (!a || from->n_inputs != 1 || !is_plain(from) || !part->uses || part->uses->next) return NULL;
    *x = xir_op_input(from, 0);
    return a;
}

/* Returns true if the slice takes from `begin`, which is below the step, to the end of a dim that the step divides. */
static bool takes_all(int64_t begin, int64_t end, int64_t step, int64_t dim) {
    if (step == 1) return begin == 0 && (dim < 0 ? end >= INT32_MAX : end >= dim);
    return step > 1 && dim > 0 && dim % step == 0 && begin >= 0 && begin < step && end > dim - step + begin;
}

static bool read_steps(const xir_op *op, stepped *s) {
    const xir_value *x, *other;
    const xir_slice_attrs *first = slice_at(op, 0, &x);
    int64_t all = 1;
    if (!first || !x || !fuse_is_plain(x->type) || xir_type_rank(x->type) > MAP_DIMS) return false;
    const xir_i64s dims = *value_dims(x);
    *s = (stepped){ .x = xir_op_input(value_op(xir_op_input(op, 0)), 0), .rank = dims.size };
    if (first->stride.size != dims.size) return false;
    for (size_t d = 0; d < dims.size; d++) {
        s->step[d] = first->stride.data[d];
        if (s->step[d] < 1 || s->step[d] > MOST_PARTS) return false;
        all *= s->step[d];
        if (all > MOST_PARTS) return false;
    }
    if (all != (int64_t)op->n_inputs || all < 2) return false;
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        const xir_slice_attrs *a = slice_at(op, k, &other);
        if (!a || other != x || a->begin.size != dims.size || a->end.size != dims.size || a->stride.size != dims.size)
            return false;
        for (size_t d = 0; d < dims.size; d++) {
            if (a->stride.data[d] != s->step[d] ||
                !takes_all(a->begin.data[d], a->end.data[d], s->step[d], dims.data[d])) return false;
            if (!s->run[d] && a->begin.data[d] != 0) s->run[d] = k;
            if (s->step[d] > 1 && a->begin.data[d] != (s->run[d] ? k / s->run[d] % s->step[d] : 0)) return false;
        }
    }
    return true;
}

/* The dims with steps, the one that changes slowest first; false if their runs do not fit. */
static bool order_steps(const stepped *s, size_t *of, size_t *n) {
    int64_t run = 1;
    size_t count = 0;
    *n = 0;
    for (size_t d = 0; d < s->rank; d++) count += s->step[d] > 1;
    for (; *n < count; ++*n) {
        size_t d = 0;
        while (d < s->rank && (s->step[d] == 1 || s->run[d] != run)) d++;
        if (d == s->rank) return false;
        of[count - 1 - *n] = d;
        run *= s->step[d];
    }
    return true;
}

/* x with each stepped dim as [dim / step, step]; then the steps go before the dim that the Concat joins. */
static bool map_steps(const xir_op *op, const stepped *s, move_map *map) {
    const xir_i64s dims = *value_dims(s->x);
    const size_t axis = (size_t)from_end(xir_concat_of(op)->axis, (int64_t)s->rank);
    size_t of[MAP_DIMS], n, at[MAP_DIMS], place = 0, to = 0;
    int64_t parts[MAP_DIMS], order[MAP_DIMS];
    if (axis >= s->rank || !order_steps(s, of, &n) || s->rank + n > MAP_DIMS) return false;
    for (size_t d = 0; d < s->rank; d++) {
        at[d] = place;
        parts[place++] = s->step[d] > 1 ? dims.data[d] / s->step[d] : dims.data[d];
        if (s->step[d] > 1) parts[place++] = s->step[d];
    }
    for (size_t d = 0; d < s->rank; d++) {
        for (size_t i = 0; i < n && d == axis; i++) order[to++] = (int64_t)at[of[i]] + 1;
        order[to++] = (int64_t)at[d];
    }
    return map_of_dims(dims, map) && map_reshape(map, (xir_i64s){ parts, place }) &&
           map_transpose(map, (xir_i64s){ order, place }) && map_reshape(map, *value_dims(xir_op_output(op, 0)));
}

static bool plan_steps(const xir_match *m, stepped *s, move_plan *plan) {
    move_map map;
    return xir_concat_of(m->root) && is_plain(m->root) && read_steps(m->root, s) && map_steps(m->root, s, &map) &&
           plan_of(&map, s->x, xir_op_output(m->root, 0)->type, plan) && plan_ops(plan) > 0 &&
           plan_ops(plan) <= (int)m->root->n_inputs;
}

static bool are_steps(const xir_match *m, void *user) {
    stepped s;
    move_plan plan;
    (void)user;
    return plan_steps(m, &s, &plan);
}

static const xir_pattern_decl steps = { XIR_PATTERN_HEAD("steps", rows), .check = are_steps };

static xir_verdict to_turn(xir_rewriter *at, const xir_match *m, const void *user) {
    stepped s;
    move_plan plan;
    xir_op *slices[MOST_PARTS];
    size_t n = m->root->n_inputs;
    (void)at, (void)user;
    if (!plan_steps(m, &s, &plan)) return XIR_REWRITE_LEFT;
    for (size_t i = 0; i < n; i++) provenance_also(slices[i] = value_op(xir_op_input(m->root, (int64_t)i)));
    xir_value *now = plan_write(xir_match_at(m), s.x, xir_op_output(m->root, 0)->type, &plan);
    const xir_verdict verdict = xir_match_replace(m, now);
    for (size_t i = 0; i < n && verdict == XIR_REWRITE_DONE; i++) {
        if (op_is_unused(slices[i]) && xir_op_erase(slices[i])) return XIR_REWRITE_FAILED;
    }
    return verdict;
}

const pass_rule moves_parts[] = {
    { &whole, to_whole },
    { &steps, to_turn  },
    { NULL, NULL },
};
