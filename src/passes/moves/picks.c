/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The elements of a dim, picked one by one, reshaped each, and joined again in their order: a map of the whole, as
 * exports of images that are normalised by channel have it.
 *
 *     a = Gather x 0 [axis=1];  r = Reshape a [1,1,h,w]
 *     b = Gather x 1 [axis=1];  s = Reshape b [1,1,h,w]     =>     y = x
 *     y = Concat r s [axis=1]
 */
#include "canon/canon.h"
#include "moves/moves.h"
#include "provenance.h"
#include "support/numbers.h"
#include "support/upkeep.h"
#include "types.h"

enum { FIRST, REST, OUT, MOST_PICKS = 16 };

static const xir_pattern_row rows[] = {
    [FIRST] = { XIR_ROW_ANY },
    [REST]  = { XIR_ROW_REST },
    [OUT]   = { XIR_ROW_OP(xir_concat_class, xir_stack_class), XIR_ROW_INPUTS(FIRST, REST) },
};

/* Element `index` of dim `dim` of x. */
typedef struct pick { xir_value *x; xir_op *op; int64_t dim, index; } pick;

static bool has_one_use(const xir_value *v) { return v->uses && !v->uses->next; }

static bool is_plain(const xir_op *op) {
    const xir_value *x = xir_op_input(op, 0), *y = xir_op_output(op, 0);
    return x && y && op->flags & OP_PLACED && target_is_host(op_target(op)) && !xir_op_extra(op) &&
           fuse_is_plain(x->type) && fuse_is_plain(y->type) &&
           xir_type_equal(xir_type_element(x->type), xir_type_element(y->type));
}

/* Finds the element that a value is: by a Gather, or as an output of an Unstack, or of a Split in parts of 1. */
static bool read_pick(const xir_value *v, pick *p) {
    xir_op *op = value_op(v);
    double index = 0;
    if (!op || !is_plain(op)) return false;
    const xir_gather_attrs *gather = xir_gather_of(op);
    const xir_unstack_attrs *unstack = xir_unstack_of(op);
    const xir_split_attrs *split = xir_split_of(op);
    *p = (pick){ .x = xir_op_input(op, 0), .op = op };
    const int64_t rank = (int64_t)xir_type_rank(p->x->type);
    if (!gather && !unstack && !split) return false;
    p->dim = from_end(gather ? gather->axis : unstack ? unstack->dim : split->axis, rank);
    if (p->dim < 0 || p->dim >= rank) return false;
    if (gather && !number_of_params(xir_op_input(op, 1), &index)) return false;
    for (size_t i = 0; split && i < split->sections.size; i++) {
        if (split->sections.data[i] != 1) return false;
    }
    p->index = gather ? from_end((int64_t)index, xir_type_dim(p->x->type, p->dim, false)) : v - op_outputs(op);
    return true;
}

/* All that takes part: the value that the elements are picked from, their dim, and the ops before the root. */
typedef struct picked {
    xir_value *x;
    int64_t    dim;
    size_t     n_ops;
    xir_op    *ops[2 * MOST_PICKS];     /* those that read others come first */
} picked;

static bool read_picks(const xir_op *root, picked *all) {
    pick p;
    xir_op *picks[MOST_PICKS];
    const size_t n = root->n_inputs;
    *all = (picked){ 0 };
    if (!is_plain(root) || n < 2 || n > MOST_PICKS) return false;
    for (size_t i = 0; i < n; i++) {
        const xir_value *v = xir_op_input(root, (int64_t)i);
        xir_op *turn = v && has_one_use(v) ? value_op(v) : NULL;
        if (!turn) return false;
        if (move_turns(turn) && !xir_transpose_of(turn)) {
            all->ops[all->n_ops++] = turn;
            v = op_inputs(turn)[0].value;
        }
        if (!has_one_use(v) || !read_pick(v, &p) || p.index != (int64_t)i) return false;
        if (i && (p.x != all->x || p.dim != all->dim)) return false;
        all->x = p.x;
        all->dim = p.dim;
        picks[i] = p.op;
    }
    for (size_t i = 0; i < n; i++) {
        if (!i || picks[i] != picks[0]) all->ops[all->n_ops++] = picks[i];
    }
    return xir_type_dim(all->x->type, all->dim, false) == (int64_t)n;
}

/* The dim of the elements goes to the front; each then has the dims of a part; then it goes where they are joined. */
static bool map_picks(const xir_op *root, const picked *all, move_map *map) {
    int64_t order[MAP_DIMS], dims[MAP_DIMS], back[MAP_DIMS];
    const xir_i64s part = *value_dims(xir_op_input(root, 0)), out = *value_dims(xir_op_output(root, 0));
    const size_t rank = xir_type_rank(all->x->type);
    const int64_t at = from_end(xir_concat_of(root) ? xir_concat_of(root)->axis : xir_stack_of(root)->dim,
                                (int64_t)out.size);
    if (rank > MAP_DIMS || part.size >= MAP_DIMS || at < 0 || at > (int64_t)part.size) return false;
    for (size_t i = 0; i < rank; i++)
        order[i] = i == 0 ? all->dim : (int64_t)i - ((int64_t)i <= all->dim);
    dims[0] = (int64_t)root->n_inputs;
    for (size_t i = 0; i < part.size; i++) dims[i + 1] = part.data[i];
    for (size_t i = 0; i <= part.size; i++)
        back[i] = (int64_t)i < at ? (int64_t)i + 1 : (int64_t)i == at ? 0 : (int64_t)i;
    return map_of_dims(*value_dims(all->x), map) && map_transpose(map, (xir_i64s){ order, rank }) &&
           map_reshape(map, (xir_i64s){ dims, part.size + 1 }) &&
           map_transpose(map, (xir_i64s){ back, part.size + 1 }) && map_reshape(map, out);
}

static bool plan_picks(const xir_match *m, picked *all, move_plan *plan) {
    move_map map;
    return read_picks(m->root, all) && map_picks(m->root, all, &map) &&
           plan_of(&map, all->x, xir_op_output(m->root, 0)->type, plan) && plan_ops(plan) < (int)all->n_ops + 1;
}

static bool are_picks(const xir_match *m, void *user) {
    picked all;
    move_plan plan;
    (void)user;
    return plan_picks(m, &all, &plan);
}

static const xir_pattern_decl picks_ = { XIR_PATTERN_HEAD("picks", rows), .check = are_picks };

static xir_verdict to_map(xir_rewriter *at, const xir_match *m, const void *user) {
    picked all;
    move_plan plan;
    (void)at, (void)user;
    if (!plan_picks(m, &all, &plan)) return XIR_REWRITE_LEFT;
    for (size_t i = 0; i < all.n_ops; i++) provenance_also(all.ops[i]);
    const xir_verdict verdict = plan_ops(&plan)
        ? xir_match_replace(m, plan_write(xir_match_at(m), all.x, xir_op_output(m->root, 0)->type, &plan))
        : canon_keep(m, all.x);
    for (size_t i = 0; i < all.n_ops && verdict == XIR_REWRITE_DONE; i++) {
        if (op_is_unused(all.ops[i]) && xir_op_erase(all.ops[i])) return XIR_REWRITE_FAILED;
    }
    return verdict;
}

const pass_rule moves_picks[] = { { &picks_, to_map }, { NULL, NULL } };
