/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A part of a dim: bounds of a Slice as they are, and a Gather that takes a run. */
#include "canon/parts.h"
#include "support/upkeep.h"
#include "types.h"

enum { X, MOST_INDICES = 65536 };

static const xir_pattern_row slice_rows[] = {
    [X] = { XIR_ROW_ANY },
    [1] = { XIR_ROW_OP(xir_slice_class), XIR_ROW_INPUTS(X) },
};

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

/* Forward through a known dim both bounds are positions in it. */
static bool has_far_bounds(const xir_match *m, void *user) {
    const xir_slice_attrs *a = xir_slice_of(m->root);
    (void)user;
    if (!parts_are_plain(m) || !part_has_rank(a, parts_dims(xir_match_value(m, X)).size)) return false;
    for (size_t i = 0; i < a->begin.size; i++) {
        const int64_t n = parts_dims(xir_match_value(m, X)).data[i];
        if (n < 0 || a->stride.data[i] < 1) continue;
        if (part_bound(a->begin.data[i], n) != a->begin.data[i]) return true;
        if (part_bound(a->end.data[i], n) != a->end.data[i]) return true;
    }
    return false;
}

static const xir_pattern_decl bounds = { XIR_PATTERN_HEAD("slice-bounds", slice_rows), .check = has_far_bounds };

static xir_verdict to_bounds(xir_rewriter *at, const xir_match *m, const void *user) {
    int64_t begin[PART_DIMS], end[PART_DIMS];
    const xir_i64s dims = parts_dims(xir_match_value(m, X));
    xir_slice_attrs a = *xir_slice_of(m->root);
    (void)at, (void)user;
    for (size_t i = 0; i < dims.size; i++) {
        const bool forward = dims.data[i] >= 0 && a.stride.data[i] > 0;
        begin[i] = forward ? part_bound(a.begin.data[i], dims.data[i]) : a.begin.data[i];
        end[i] = forward ? part_bound(a.end.data[i], dims.data[i]) : a.end.data[i];
    }
    a.begin.data = begin;
    a.end.data = end;
    return xir_slice_set(m->root, &a) ? XIR_REWRITE_FAILED : XIR_REWRITE_DONE;
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
    const xir_i64s dims = parts_dims(xir_match_value(m, X));
    const void *bytes = value_is_default(v) ? NULL : whole_params(v);
    *axis = from_end(xir_gather_of(m->root)->axis, (int64_t)dims.size);
    if (!bytes || xir_type_rank(v->type) != 1 || dims.size > PART_DIMS || *axis < 0 || *axis >= (int64_t)dims.size)
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
    return parts_are_plain(m) && !parts_of_shape(m) && run_of(m, &axis, &begin, &n);
}

static const xir_pattern_decl run = { XIR_PATTERN_HEAD("gather-run", gather_rows), .check = is_run };

static xir_verdict to_slice(xir_rewriter *at, const xir_match *m, const void *user) {
    int64_t begin[PART_DIMS], end[PART_DIMS], stride[PART_DIMS], axis, from, n;
    (void)at, (void)user;
    if (!run_of(m, &axis, &from, &n)) return XIR_REWRITE_LEFT;
    const xir_i64s dims = parts_dims(xir_match_value(m, X));
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
    { &run,    to_slice  },
    { NULL, NULL },
};
