/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops that together take all of a dim are one op: Slices, one after the other, are a Split, and Gathers of each index
 * are an Unstack. The first part is the root of the match; the other users of its input are searched for the rest. */
#include <stdlib.h>
#include "canon/parts.h"
#include "support/upkeep.h"
#include "types.h"

enum { X, MOST_PARTS = 64, MOST_USES = 256 };

bool parts_of_shape(const xir_match *m) {
    const xir_type *x = xir_match_value(m, X)->type;
    return xir_type_rank(x) == 1 && !element_is_float(element_format_of(x));
}

bool parts_are_plain(const xir_match *m) {
    const xir_value *x = xir_match_value(m, X), *y = xir_op_output(m->root, 0);
    return y && canon_check_ops(m) && fuse_is_plain(x->type) && fuse_is_plain(y->type) &&
           xir_type_equal(xir_type_element(x->type), xir_type_element(y->type));
}

/* ---- one part ---------------------------------------------------------------------------------------------------- */

/* The elements [begin, end) of a dim, in an op that takes all of the other dims. */
typedef struct part { xir_op *op; int64_t axis, begin, end; } part;

static bool is_slice(const xir_op *op, const xir_value *x, part *out) {
    const xir_slice_attrs *a = xir_slice_of(op);
    const xir_i64s dims = parts_dims(x);
    if (!a || op->n_inputs != 1 || !part_has_rank(a, dims.size)) return false;
    out->axis = -1;
    for (size_t i = 0; i < dims.size; i++) {
        const int64_t n = dims.data[i], begin = part_bound(a->begin.data[i], n), end = part_bound(a->end.data[i], n);
        if (a->stride.data[i] != 1 || n < 0) return false;
        if (begin == 0 && end == n) continue;
        if (out->axis >= 0 || begin >= end) return false;
        out->axis = (int64_t)i, out->begin = begin, out->end = end;
    }
    return out->axis >= 0;
}

/* The index is one constant without dims, so that the dim is gone. */
static bool is_gather(const xir_op *op, const xir_value *x, part *out) {
    const xir_gather_attrs *a = xir_gather_of(op);
    const xir_i64s dims = parts_dims(x);
    const xir_value *index = a && op->n_inputs == 2 ? xir_op_input(op, 1) : NULL;
    if (!index || xir_op_input(op, 0) != x || !value_params(index) || value_is_default(index)) return false;
    const void *bytes = whole_params(index);
    out->axis = from_end(a->axis, (int64_t)dims.size);
    if (!bytes || xir_type_rank(index->type) || out->axis < 0 || out->axis >= (int64_t)dims.size) return false;
    const int64_t n = dims.data[out->axis];
    out->begin = from_end(element_i64(element_format_of(index->type), bytes, 0), n);
    out->end = out->begin + 1;
    return n > 0 && out->begin >= 0 && out->begin < n;
}

static bool is_part(xir_op *op, const xir_value *x, part *out) {
    out->op = op;
    return (op->flags & OP_PLACED) && !(op->flags & OP_CHILD) && !xir_op_extra(op) &&
           target_is_host(op_target(op)) && (is_slice(op, x, out) || is_gather(op, x, out));
}

/* ---- all parts --------------------------------------------------------------------------------------------------- */

static int by_begin(const void *a, const void *b) {
    const part *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* All parts in order, if they cover the dim without overlapping; otherwise 0. The root is the first of them. */
static size_t parts_of(const xir_match *m, part *parts) {
    const xir_value *x = xir_match_value(m, X);
    size_t n = 0, uses = 0;
    part root, found;
    if (!is_part(m->root, x, &root) || root.begin != 0) return 0;
    for (const xir_use *u = x->uses; u; u = u->next) {
        if (++uses > MOST_USES || n == MOST_PARTS) return 0;
        if (u->user->cls != m->root->cls || !is_part(u->user, x, &found) || found.axis != root.axis) continue;
        parts[n++] = found;
    }
    qsort(parts, n, sizeof *parts, by_begin);
    int64_t covered = 0;
    for (size_t i = 0; i < n; i++) {
        if (parts[i].begin != covered) return 0;
        covered = parts[i].end;
    }
    return n > 1 && covered == parts_dims(x).data[root.axis] && parts[0].op == m->root ? n : 0;
}

static bool are_parts(const xir_match *m, void *user) {
    part parts[MOST_PARTS];
    (void)user;
    return parts_are_plain(m) && !parts_of_shape(m) && parts_of(m, parts) > 0;
}

static const xir_pattern_row slice_rows[] = {
    [X] = { XIR_ROW_ANY },
    [1] = { XIR_ROW_OP(xir_slice_class), XIR_ROW_INPUTS(X) },
};
static const xir_pattern_decl slices = { XIR_PATTERN_HEAD("slices", slice_rows), .check = are_parts };

static const xir_pattern_row gather_rows[] = {
    [X] = { XIR_ROW_ANY },
    [1] = { XIR_ROW_PARAMS },
    [2] = { XIR_ROW_OP(xir_gather_class), XIR_ROW_INPUTS(X, 1) },
};
static const xir_pattern_decl gathers = { XIR_PATTERN_HEAD("gathers", gather_rows), .check = are_parts };

static xir_op *add_split(xir_at where, xir_value *x, const part *parts, size_t n) {
    int64_t sections[MOST_PARTS];
    xir_split_attrs a = xir_split_init();
    for (size_t i = 0; i < n; i++) sections[i] = parts[i].end - parts[i].begin;
    a.axis = parts->axis;
    a.sections = (xir_i64s){ sections, n };
    return xir_add_split(where, (xir_split_in){ x }, &a);
}

static xir_op *add_unstack(xir_at where, xir_value *x, int64_t axis) {
    xir_unstack_attrs a = xir_unstack_init();
    a.dim = axis;
    return xir_add_unstack(where, (xir_unstack_in){ x }, &a);
}

/* The op of all parts takes the place of the one that comes first. */
static xir_verdict to_one(xir_rewriter *at, const xir_match *m, const void *user) {
    part parts[MOST_PARTS];
    xir_value *x = xir_match_value(m, X);
    const size_t n = parts_of(m, parts);
    (void)user;
    if (!n) return XIR_REWRITE_LEFT;
    xir_at where = xir_match_at(m);
    for (size_t i = 0; i < n; i++) if (parts[i].op->position < where.before->position) where.before = parts[i].op;
    xir_op *all = xir_slice_of(m->root) ? add_split(where, x, parts, n) : add_unstack(where, x, parts->axis);
    if (!all) return XIR_REWRITE_FAILED;
    bool same = true;
    for (size_t i = 0; i < n; i++)
        same = same && xir_type_equal(xir_op_output(parts[i].op, 0)->type, xir_op_output(all, (int64_t)i)->type);
    if (!same) return xir_op_erase(all) ? XIR_REWRITE_FAILED : XIR_REWRITE_LEFT;
    for (size_t i = 0; i < n; i++) {
        xir_value *old = xir_op_output(parts[i].op, 0), *now = xir_op_output(all, (int64_t)i);
        size_t moved = 0;
        if (value_replace(now, old, true, &moved)) return XIR_REWRITE_FAILED;
        if (parts[i].op != m->root && xir_op_erase(parts[i].op)) return XIR_REWRITE_FAILED;
    }
    xir_rewriter_touch(at, all);
    return xir_op_erase(m->root) ? XIR_REWRITE_FAILED : XIR_REWRITE_DONE;
}

const pass_rule canon_parts[] = { { &slices, to_one }, { &gathers, to_one }, { NULL, NULL } };
