/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Parts of a dim: bounds as they are, slices that are all parts of a Split, and a Gather that takes a run. */
#include <stdlib.h>
#include "canon/canon.h"
#include "support/upkeep.h"
#include "types.h"

enum { X, MOST_DIMS = 16, MOST_PARTS = 64, MOST_USES = 256, MOST_INDICES = 65536 };

static xir_i64s dims_of(const xir_value *v) { return xir_type_as_tensor(v->type)->shape; }

static int64_t within(int64_t at, int64_t n) {
    if (at < 0) at = at < -n ? 0 : at + n;
    return at > n ? n : at;
}

/* Returns true if lists have a number for each of a few dims. */
static bool has_rank(const xir_slice_attrs *a, size_t rank) {
    return rank <= MOST_DIMS && a->begin.size == rank && a->end.size == rank && a->stride.size == rank;
}

static const xir_pattern_row slice_rows[] = {
    [X] = { XIR_ROW_ANY },
    [1] = { XIR_ROW_OP(xir_slice_class), XIR_ROW_INPUTS(X) },
};

/* Lists of integers may be shapes, whose numbers inference follows through ops of the form that they have. */
static bool may_be_shape(const xir_value *x) {
    return xir_type_rank(x->type) == 1 && !element_is_float(element_format_of(x->type));
}

/* The types differ: a slice has other dims. */
static bool is_plain(const xir_match *m) {
    const xir_value *x = xir_match_value(m, X), *y = xir_op_output(m->root, 0);
    return y && canon_check_ops(m) && fuse_is_plain(x->type) && fuse_is_plain(y->type) &&
           xir_type_equal(xir_type_element(x->type), xir_type_element(y->type));
}

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

/* Forward through a known dim both bounds are positions in it. */
static bool has_far_bounds(const xir_match *m, void *user) {
    const xir_slice_attrs *a = xir_slice_of(m->root);
    (void)user;
    if (!is_plain(m) || !has_rank(a, dims_of(xir_match_value(m, X)).size)) return false;
    for (size_t i = 0; i < a->begin.size; i++) {
        const int64_t n = dims_of(xir_match_value(m, X)).data[i];
        if (n < 0 || a->stride.data[i] < 1) continue;
        if (within(a->begin.data[i], n) != a->begin.data[i] || within(a->end.data[i], n) != a->end.data[i]) return true;
    }
    return false;
}

static const xir_pattern_decl bounds = { XIR_PATTERN_HEAD("slice-bounds", slice_rows), .check = has_far_bounds };

static xir_verdict to_bounds(xir_rewriter *at, const xir_match *m, const void *user) {
    int64_t begin[MOST_DIMS], end[MOST_DIMS];
    const xir_i64s dims = dims_of(xir_match_value(m, X));
    xir_slice_attrs a = *xir_slice_of(m->root);
    (void)at, (void)user;
    for (size_t i = 0; i < dims.size; i++) {
        const bool forward = dims.data[i] >= 0 && a.stride.data[i] > 0;
        begin[i] = forward ? within(a.begin.data[i], dims.data[i]) : a.begin.data[i];
        end[i] = forward ? within(a.end.data[i], dims.data[i]) : a.end.data[i];
    }
    a.begin.data = begin;
    a.end.data = end;
    return xir_slice_set(m->root, &a) ? XIR_REWRITE_FAILED : XIR_REWRITE_DONE;
}

/* ---- slices that are all parts ----------------------------------------------------------------------------------- */

typedef struct part { xir_op *op; int64_t begin, end; } part;

/* Returns true if the op takes [begin, end) of one dim, which is *axis unless that is -1, and all of the others. */
static bool is_part(xir_op *op, const xir_value *x, int64_t *axis, part *out) {
    const xir_slice_attrs *a = xir_slice_of(op);
    const xir_i64s dims = dims_of(x);
    if (!a || !(op->flags & OP_PLACED) || op->flags & OP_CHILD || op->n_inputs != 1 || xir_op_extra(op) ||
        !target_is_host(op_target(op)) || !has_rank(a, dims.size)) return false;
    int64_t cut = -1;
    for (size_t i = 0; i < dims.size; i++) {
        const int64_t n = dims.data[i], begin = within(a->begin.data[i], n), end = within(a->end.data[i], n);
        if (a->stride.data[i] != 1 || n < 0) return false;
        if (begin == 0 && end == n) continue;
        if (cut >= 0 || begin >= end) return false;
        cut = (int64_t)i;
        *out = (part){ op, begin, end };
    }
    if (cut < 0 || (*axis >= 0 && *axis != cut)) return false;
    *axis = cut;
    return true;
}

static int by_begin(const void *a, const void *b) {
    const part *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* All parts in order, if they cover the dim without overlapping; otherwise 0. The root is the first of them. */
static size_t parts_of(const xir_match *m, int64_t *axis, part *parts) {
    const xir_value *x = xir_match_value(m, X);
    size_t n = 0, uses = 0;
    *axis = -1;
    if (!is_part(m->root, x, axis, &parts[0]) || parts[0].begin != 0) return 0;
    for (const xir_use *u = x->uses; u; u = u->next) {
        if (++uses > MOST_USES || n == MOST_PARTS) return 0;
        part found;
        int64_t same = *axis;
        if (is_part(u->user, x, &same, &found)) parts[n++] = found;
    }
    qsort(parts, n, sizeof *parts, by_begin);
    int64_t covered = 0;
    for (size_t i = 0; i < n; i++) {
        if (parts[i].begin != covered) return 0;
        covered = parts[i].end;
    }
    return n > 1 && covered == dims_of(x).data[*axis] && parts[0].op == m->root ? n : 0;
}

static bool are_parts(const xir_match *m, void *user) {
    int64_t axis;
    part parts[MOST_PARTS];
    (void)user;
    return is_plain(m) && !may_be_shape(xir_match_value(m, X)) && parts_of(m, &axis, parts) > 0;
}

static const xir_pattern_decl parts_ = { XIR_PATTERN_HEAD("slices", slice_rows), .check = are_parts };

static xir_verdict to_split(xir_rewriter *at, const xir_match *m, const void *user) {
    int64_t sections[MOST_PARTS];
    part parts[MOST_PARTS];
    xir_split_attrs a = xir_split_init();
    (void)user;
    const size_t n = parts_of(m, &a.axis, parts);
    xir_op *first = m->root;
    for (size_t i = 0; i < n; i++) {
        sections[i] = parts[i].end - parts[i].begin;
        if (parts[i].op->position < first->position) first = parts[i].op;
    }
    a.sections = (xir_i64s){ sections, n };
    xir_at where = xir_match_at(m);
    where.before = first;
    xir_op *split = xir_add_split(where, (xir_split_in){ xir_match_value(m, X) }, &a);
    if (!split) return XIR_REWRITE_FAILED;
    bool same = true;
    for (size_t i = 0; i < n; i++)
        same = same && xir_type_equal(xir_op_output(parts[i].op, 0)->type, xir_op_output(split, (int64_t)i)->type);
    if (!same) return xir_op_erase(split) ? XIR_REWRITE_FAILED : XIR_REWRITE_LEFT;
    for (size_t i = 0; i < n; i++) {
        xir_value *old = xir_op_output(parts[i].op, 0), *now = xir_op_output(split, (int64_t)i);
        size_t moved = 0;
        if (value_replace(now, old, true, &moved)) return XIR_REWRITE_FAILED;
        if (parts[i].op != m->root && xir_op_erase(parts[i].op)) return XIR_REWRITE_FAILED;
    }
    xir_rewriter_touch(at, split);
    return xir_op_erase(m->root) ? XIR_REWRITE_FAILED : XIR_REWRITE_DONE;
}

/* ---- a run of indices -------------------------------------------------------------------------------------------- */

enum { G_INDICES = 1, G_OUT };
static const xir_pattern_row gather_rows[] = {
    [X]         = { XIR_ROW_ANY },
    [G_INDICES] = { XIR_ROW_PARAMS },
    [G_OUT]     = { XIR_ROW_OP(xir_gather_class), XIR_ROW_INPUTS(X, G_INDICES) },
};

/* The run [*begin, *begin + *n) of a known dim that the indices count up. */
static bool run_of(const xir_match *m, int64_t *axis, int64_t *begin, int64_t *n) {
    const xir_value *v = xir_match_value(m, G_INDICES);
    const xir_i64s dims = dims_of(xir_match_value(m, X));
    const void *bytes = value_is_default(v) ? NULL : whole_params(v);
    *axis = from_end(xir_gather_of(m->root)->axis, (int64_t)dims.size);
    if (!bytes || xir_type_rank(v->type) != 1 || dims.size > MOST_DIMS || *axis < 0 || *axis >= (int64_t)dims.size)
        return false;
    *n = xir_type_dim(v->type, 0, false);
    const int64_t size = dims.data[*axis];
    if (*n < 1 || *n > MOST_INDICES || size < *n) return false;
    for (int64_t i = 0; i < *n; i++) {
        const int64_t at = from_end(element_i64(element_format_of(v->type), bytes, (size_t)i), size);
        if (i == 0) *begin = at;
        if (at != *begin + i || at < 0 || at >= size) return false;
    }
    return true;
}

static bool is_run(const xir_match *m, void *user) {
    int64_t axis, begin, n;
    (void)user;
    return is_plain(m) && !may_be_shape(xir_match_value(m, X)) && run_of(m, &axis, &begin, &n);
}

static const xir_pattern_decl run = { XIR_PATTERN_HEAD("gather-run", gather_rows), .check = is_run };

static xir_verdict to_slice(xir_rewriter *at, const xir_match *m, const void *user) {
    int64_t begin[MOST_DIMS], end[MOST_DIMS], stride[MOST_DIMS], axis, from, n;
    (void)at, (void)user;
    if (!run_of(m, &axis, &from, &n)) return XIR_REWRITE_LEFT;
    const xir_i64s dims = dims_of(xir_match_value(m, X));
    for (size_t i = 0; i < dims.size; i++) {
        begin[i] = 0;
        end[i] = dims.data[i] < 0 ? INT64_MAX : dims.data[i];
        stride[i] = 1;
    }
    begin[axis] = from;
    end[axis] = from + n;
    xir_slice_attrs a = xir_slice_init();
    a.begin = (xir_i64s){ begin, dims.size };
    a.end = (xir_i64s){ end, dims.size };
    a.stride = (xir_i64s){ stride, dims.size };
    xir_op *now = xir_add_slice(xir_match_at(m), (xir_slice_in){ .input = xir_match_value(m, X) }, &a);
    return xir_match_replace(m, xir_op_output(now, 0));
}

const pass_rule canon_slices[] = {
    { &bounds, to_bounds },
    { &parts_, to_split  },
    { &run,    to_slice  },
    { NULL, NULL },
};
