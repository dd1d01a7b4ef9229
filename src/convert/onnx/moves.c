/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Op types that move elements: to other dims (see also reshape.c), into parts and blocks. */
#include <stdio.h>
#include "node/lists.h"
#include "onnx/rows.h"
#include "formula/parts.h"
#include "spec/borders.h"
#include "spec/moving.h"
#include "spec/slicing.h"
#include "support/numbers.h"

/* ---- places of lists -------------------------------------------------------------------------------------------- */

/* The place of a list in the file, for findings: before version `since` an attribute, from then on an input. */
static const char *place_of(const xir_node *at, const char *name, size_t input, int64_t since, char room[48]) {
    const bool attribute = xir_node_attr(at, name) || (!xir_node_has(at, input) && at->cls->version < since);
    if (attribute) snprintf(room, 48, "attribute/%s", name);
    else snprintf(room, 48, "input/%zu", input);
    return room;
}

/* ---- other dims ------------------------------------------------------------------------------------------------- */

bool onnx_squeeze(xir_node *at) {
    char room[48];
    xir_ints axes;
    xir_value *x = xir_node_input(at, 0);
    if (!xir_node_list(at, "axes", 1, &axes)) {
        if (xir_node_failed(at) || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
        axes = (xir_ints){ NULL, 0 };
    }
    const char *where = place_of(at, "axes", 1, 13, room);
    xir_ints dims = xir_node_dims(at, x);
    for (size_t i = 0; i < axes.n; i++) {
        int64_t axis;
        if (!xir_node_axis(at, where, axes.v[i], dims.n, &axis)) return false;
        if (dims.v[axis] == 1 || dims.v[axis] < 0) continue;
        return xir_node_invalid(at, XIR_E_INVALID, where,
                                "dim %lld of input 0, which is removed: expected 1, found %lld", (long long)axis,
                                (long long)dims.v[axis]);
    }
    if (!xir_value_is_params(x)) return xir_node_becomes(at, "Squeeze", INS(x), SETS(LIST("axis", &axes)));
    xir_ints rest = xir_node_make_ints(at, dims.n, 1);
    rest.n = 0;
    for (size_t i = 0; i < dims.n; i++) {
        bool gone = axes.n == 0 && dims.v[i] == 1;
        for (size_t k = 0; k < axes.n; k++)
            gone |= axes.v[k] == (int64_t)i || axes.v[k] + (int64_t)dims.n == (int64_t)i;
        if (!gone) rest.v[rest.n++] = dims.v[i];
    }
    return xir_node_result(at, 0, make_reshaped(at, x, &rest));
}

bool onnx_unsqueeze(xir_node *at) {
    char room[48];
    xir_ints axes;
    xir_value *x = xir_node_input(at, 0);
    const char *where = place_of(at, "axes", 1, 13, room);
    if (!xir_node_list(at, "axes", 1, &axes)) {
        return xir_node_invalid(at, XIR_E_MISSING, where, "axes is missing");
    }
    return xir_node_result(at, 0, xir_node_unsqueezed(at, x, &axes, where));
}

bool onnx_transpose(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    xir_ints perm;
    size_t rank = v_rank(x);
    if (!xir_node_items(at, "perm", &perm)) {
        perm = xir_node_make_ints(at, rank, 0);
        for (size_t i = 0; i < perm.n; i++) perm.v[i] = (int64_t)(rank - 1 - i);
    }
    if (perm.n != rank) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/perm",
                                "perm: expected %zu items, one for each dim of input 0, found %zu", rank, perm.n);
    }
    if (!order_is_sound(at, "attribute/perm", &perm, rank)) return false;
    return xir_node_result(at, 0, xir_node_transposed(at, x, perm.v, rank, NULL));
}

/* The size for one dim of XIR's Expand: -1 keeps it, as any size does if the dim is not 1. */
static list_item asked_size(xir_node *at, const list_item *asked, const list_item *own) {
    object_pool *pool = &at->c->net->pool;
    bool keeps = asked->v == 1 || (asked->v == own->v && asked->v != EXPR_UNKNOWN) ||
                 (!expr_is_number(asked->v) && expr_never_equal(pool, own->v, 1));
    return keeps ? item_number(-1) : *asked;
}

bool onnx_expand(xir_node *at) {
    list_items asked;
    xir_value *x = xir_node_input(at, 0);
    if (xir_node_failed(at) || !read_items_of(at, NULL, 1, &asked)) return false;
    size_t rank = v_rank(x), n = asked.n > rank ? asked.n : rank;
    list_items sizes = make_items(at, n, -1);
    xir_ints numbers = xir_node_make_ints(at, n, -1);
    if (xir_node_failed(at)) return false;
    for (size_t i = n - asked.n; i < n; i++) {
        const list_item *item = &asked.v[i - (n - asked.n)];
        sizes.v[i] = *item;
        if (i < n - rank) continue;
        list_item own = item_dim(x, i - (n - rank));
        if (expr_is_number(item->v) && expr_is_number(own.v) && item->v >= 0 && item->v != own.v && item->v != 1 &&
            own.v != 1) {
            return xir_node_invalid(at, XIR_E_INVALID, "input/1",
                                    "shape[%zu]: expected 1 or %lld, like dim %zu of input 0, found %lld",
                                    i - (n - asked.n), (long long)own.v, i - (n - rank), (long long)item->v);
        }
        sizes.v[i] = asked_size(at, item, &own);
    }
    for (size_t i = 0; i < n; i++) numbers.v[i] = sizes.v[i].v;
    if (items_known(&sizes)) return xir_node_becomes(at, "Expand", INS(x), SETS(LIST("sizes", &numbers)));
    for (size_t i = 0; i < n; i++) numbers.v[i] = -1;
    return xir_node_result(at, 0, make_listed(at, "Expand", x, &sizes, SETS(LIST("sizes", &numbers))));
}

bool onnx_tile(xir_node *at) {
    list_items repeats;
    xir_value *x = xir_node_input(at, 0);
    if (xir_node_failed(at) || !read_items_of(at, NULL, 1, &repeats)) return false;
    if (at->cls->version < 6) return xir_node_unsupported(at, "tiles along one axis");
    if (repeats.n != v_rank(x)) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/1",
                                "expected %zu repeats, one for each dim, found %zu", v_rank(x), repeats.n);
    }
    xir_ints numbers = xir_node_make_ints(at, repeats.n, -1);
    if (!numbers.v) return false;
    if (!items_known(&repeats))
        return xir_node_result(at, 0, make_listed(at, "Tile", x, &repeats, SETS(LIST("dims", &numbers))));
    for (size_t i = 0; i < repeats.n; i++) numbers.v[i] = repeats.v[i].v;
    return xir_node_becomes(at, "Tile", INS(x), SETS(LIST("dims", &numbers)));
}

/* ---- parts and joins -------------------------------------------------------------------------------------------- */

/* An end at or after the end of the dim. */
static bool is_whole(xir_node *at, const list_item *end, const list_item *own) {
    return own->v != EXPR_UNKNOWN && end->v != EXPR_UNKNOWN && expr_at_least(&at->c->net->pool, end->v, own->v);
}

/* The first element that is taken backwards: ONNX moves a start before the dim to its element 0, where XIR's Slice
 * takes nothing. From -1 on none is before it, unless the dim is 0. */
static list_item backward_start(xir_node *at, xir_value *x, const list_item *start, size_t axis) {
    object_pool *pool = &at->c->net->pool;
    const list_item own = item_dim(x, axis);
    const expr least = own.v == EXPR_UNKNOWN ? EXPR_UNKNOWN : expr_sub(pool, 0, own.v);
    const bool open = start->v == EXPR_UNKNOWN;
    if (!open && (expr_at_least(pool, start->v, -1) || (least != EXPR_UNKNOWN && expr_at_least(pool, start->v, least))))
        return *start;
    if (!open && expr_is_number(start->v) && least != EXPR_UNKNOWN && expr_is_number(least)) return item_number(0);
    xir_value *first = make_list(at, &(list_items){ (list_item[]){ *start }, 1 });
    xir_value *dim = make_list(at, &(list_items){ (list_item[]){ own }, 1 });
    first = xir_node_make(at, "Maximum", INS(first, xir_node_unary(at, "Neg", dim)), NO_SETS);
    const expr known = open || least == EXPR_UNKNOWN ? EXPR_UNKNOWN : expr_max(pool, start->v, least);
    return (list_item){ .v = known, .origin = FROM_ITEM, .of = first };
}

bool onnx_slice(xir_node *at) {
    char room[48];
    list_items starts, ends;
    xir_ints axes, steps;
    xir_value *x = xir_node_input(at, 0);
    if (!read_items_of(at, "starts", 1, &starts)) {
        return xir_node_invalid(at, XIR_E_MISSING, place_of(at, "starts", 1, 10, room), "starts is missing");
    }
    if (!read_items_of(at, "ends", 2, &ends)) {
        return xir_node_invalid(at, XIR_E_MISSING, place_of(at, "ends", 2, 10, room), "ends is missing");
    }
    if (!xir_node_list(at, "axes", 3, &axes)) axes = xir_node_series(at, 0, starts.n);
    if (!xir_node_has(at, 4)) steps = xir_node_make_ints(at, starts.n, 1);
    else if (!xir_node_ints(at, 4, &steps)) return false;
    size_t rank = v_rank(x);
    list_items bounds = make_items(at, 2 * rank, 0);
    xir_ints stride = xir_node_make_ints(at, rank, 1);
    if (xir_node_failed(at)) return false;
    for (size_t i = 0; i < rank; i++) bounds.v[rank + i].v = INT64_MAX;
    if (starts.n != ends.n || starts.n != axes.n || starts.n != steps.n) {
        return xir_node_invalid(at, XIR_E_BOUNDS, NULL,
                                "starts, ends, axes and steps: expected as many items of each, found %zu, %zu, %zu and "
                                "%zu",
                                starts.n, ends.n, axes.n, steps.n);
    }
    for (size_t i = 0; i < axes.n; i++) {
        int64_t axis;
        if (!xir_node_axis(at, place_of(at, "axes", 3, 10, room), axes.v[i], rank, &axis)) return false;
        if (steps.v[i] == 0) {
            return xir_node_invalid(at, XIR_E_BOUNDS, "input/4", "steps[%zu]: expected a number other than 0", i);
        }
        list_item own = item_dim(x, (size_t)axis);
        bounds.v[axis] = steps.v[i] < 0 ? backward_start(at, x, &starts.v[i], (size_t)axis) : starts.v[i];
        bounds.v[rank + (size_t)axis] = ends.v[i];
        if (steps.v[i] > 0 && !expr_is_number(ends.v[i].v) && is_whole(at, &ends.v[i], &own))
            bounds.v[rank + (size_t)axis] = item_number(INT64_MAX);
        stride.v[axis] = steps.v[i];
    }
    slicing s;
    return slicing_of_items(at, &bounds, &stride, &s) && xir_node_result(at, 0, op_of_slicing(at, x, &s));
}

bool onnx_split(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    xir_ints sections;
    int64_t axis, sum = 0, n = (int64_t)xir_op_output_count(at->op);
    if (xir_node_failed(at) || !node_axis(at, "axis", 0, v_rank(x), &axis)) return false;
    int64_t dim = v_dim(x, (size_t)axis);
    char room[48];
    const char *where = place_of(at, "split", 1, 13, room);
    if (!xir_node_list(at, "split", 1, &sections)) {
        if (xir_node_failed(at) || !xir_node_need_dims(at, x, (size_t)axis, (size_t)axis + 1)) return false;
        n = xir_node_int(at, "num_outputs", n);
        if (n < 1 || n > 1 << 16) {
            return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/num_outputs",
                                    "num_outputs: expected at least 1, found %lld", (long long)n);
        }
        sections = xir_node_make_ints(at, (size_t)n, (dim + n - 1) / n);
        if (!sections.v) return false;
        int64_t last = dim - (n - 1) * ((dim + n - 1) / n);
        if (last < 0) return xir_node_invalid(at, XIR_E_INVALID, NULL,
                                              "dim %lld has %lld elements, which can't be split into %lld outputs",
                                                  (long long)axis,
                                              (long long)dim, (long long)n);
        sections.v[n - 1] = last;
    }
    for (size_t i = 0; i < sections.n; i++) {
        if (sections.v[i] < 0 || __builtin_add_overflow(sum, sections.v[i], &sum)) {
            return xir_node_invalid(at, XIR_E_BOUNDS, where, "split[%zu]: expected at least 0, found %lld", i,
                                    (long long)sections.v[i]);
        }
    }
    if (dim >= 0 && sum != dim) {
        return xir_node_invalid(at, XIR_E_INVALID, where, "expected sections with %lld elements together, like dim "
                                "%lld, found %lld", (long long)dim, (long long)axis, (long long)sum);
    }
    if (sections.n < at->n_out) {
        return xir_node_invalid(at, XIR_E_BOUNDS, where, "expected %zu sections, one for each output, found %zu",
                                at->n_out, sections.n);
    }
    return node_gives(at, xir_node_make_op(at, "Split", INS(x), SETS(LIST("sections", &sections), INT("axis", axis))));
}

bool onnx_concat(xir_node *at) {
    int64_t axis;
    char where[32];
    const xir_values in = node_inputs(at);
    xir_value *const *inputs = in.data;
    if (!in.size || !node_axis(at, "axis", 1, v_rank(inputs[0]), &axis)) return false;
    for (size_t i = 1; i < in.size; i++) {
        snprintf(where, sizeof where, "input/%zu", i);
        if (!xir_node_same_elements(at, 0, inputs[0], i, inputs[i])) return false;
        if (v_rank(inputs[i]) != v_rank(inputs[0])) {
            return xir_node_invalid(at, XIR_E_INVALID, where,
                                    "input %zu: expected %zu dims, like input 0, found %zu", i, v_rank(inputs[0]),
                                    v_rank(inputs[i]));
        }
        for (size_t k = 0; k < v_rank(inputs[0]); k++) {
            int64_t a = v_dim(inputs[0], k), b = v_dim(inputs[i], k);
            if ((int64_t)k == axis || a == b || a < 0 || b < 0) continue;
            return xir_node_invalid(at, XIR_E_INVALID, where,
                                    "dim %zu of input %zu: expected %lld, like input 0, found %lld",
                                    k, i, (long long)a, (long long)b);
        }
    }
    return xir_node_becomes(at, "Concat", in, SETS(INT("axis", axis)));
}

bool onnx_pad(xir_node *at) {
    list_items pads;
    xir_ints axes;
    double value;
    xir_value *x = xir_node_input(at, 0);
    char room[48];
    const char *name = at->cls->version < 2 ? "paddings" : "pads", *where = place_of(at, name, 1, 11, room);
    if (!xir_node_one_of(at, "mode", "constant", "constant|reflect|edge|wrap")) return false;
    if (!read_items_of(at, name, 1, &pads))
        return xir_node_invalid(at, XIR_E_MISSING, where, "%s is missing", name);
    if (!xir_node_number(at, "value", 2, 0, &value)) return false;
    size_t rank = v_rank(x);
    if (xir_node_has(at, 3)) {
        if (!xir_node_ints(at, 3, &axes)) return false;
    } else {
        axes = xir_node_series(at, 0, rank);
    }
    if (pads.n != 2 * axes.n) {
        return xir_node_invalid(at, XIR_E_BOUNDS, where,
                                "%s: expected %zu items, before and after %zu dims, found %zu",
                                name, 2 * axes.n, axes.n, pads.n);
    }
    list_items cells = make_items(at, 2 * rank, 0);
    if (xir_node_failed(at)) return false;
    for (size_t i = 0; i < axes.n; i++) {
        int64_t axis;
        if (!xir_node_axis(at, "input/3", axes.v[i], rank, &axis)) return false;
        cells.v[2 * axis] = pads.v[i];
        cells.v[2 * axis + 1] = pads.v[axes.n + i];
    }
    const bool wraps = xir_node_is(at, "mode", "wrap");
    if (wraps && !items_known(&cells))
        return xir_node_unsupported(at, "padding that wraps around, as often as another value says");
    borders p;
    if (!borders_of_items(at, &cells, &p)) return false;
    if (wraps) return xir_node_result(at, 0, make_wrapped(at, x, &p.cells));
    p.mode = xir_node_is(at, "mode", "reflect") ? XIR_PAD_REFLECTION
           : xir_node_is(at, "mode", "edge") ? XIR_PAD_REPLICATION : XIR_PAD_CONSTANT;
    p.filled = true, p.value = value;
    return xir_node_result(at, 0, op_of_borders(at, x, &p));
}

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

static bool block_of(xir_node *at, const xir_value *x, int64_t *b) {
    *b = xir_node_int(at, "blocksize", 1);
    if (*b < 1 || *b > 1 << 10) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/blocksize", "blocksize: expected at least 1, found %lld",
                                (long long)*b);
    }
    return onnx_ranked(at, 0, x, 4, 4) && xir_node_need_dims(at, x, 1, SIZE_MAX);
}

static xir_value *blocks_moved(xir_node *at, xir_value *x, const int64_t apart[6], const int64_t perm[6],
                               const int64_t back[4]) {
    const xir_ints six = { (int64_t *)(uintptr_t)apart, 6 }, four = { (int64_t *)(uintptr_t)back, 4 };
    return make_reshaped(at, xir_node_transposed(at, make_reshaped(at, x, &six), perm, 6, NULL), &four);
}

/* From [n, b, b, c, h, w], or in mode CRD [n, c, b, b, h, w], to [n, c, h, b, w, b]. */
bool onnx_depth_to_space(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    int64_t b;
    if (!xir_node_one_of(at, "mode", "DCR", "DCR|CRD") || !block_of(at, x, &b)) return false;
    int64_t n = v_dim(x, 0), c = v_dim(x, 1), h = v_dim(x, 2), w = v_dim(x, 3);
    if (c % (b * b)) return xir_node_invalid(at, XIR_E_INVALID, "input/0",
                                             "expected a multiple of %lld channels, found %lld",
                                             (long long)(b * b), (long long)c);
    if (xir_node_is(at, "mode", "CRD")) {
        xir_value *y = xir_node_make(at, "PixelShuffle", INS(xir_node_channels_last(at, x)),
                                     SETS(INT("upscale_factor", b)));
        return xir_node_result(at, 0, xir_node_channels_second(at, y));
    }
    static const int64_t perm[] = { 0, 3, 4, 1, 5, 2 };
    const int64_t apart[] = { n, b, b, c / (b * b), h, w }, back[] = { n, c / (b * b), h * b, w * b };
    return xir_node_result(at, 0, blocks_moved(at, x, apart, perm, back));
}

bool onnx_space_to_depth(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    int64_t b;
    if (!block_of(at, x, &b)) return false;
    int64_t n = v_dim(x, 0), c = v_dim(x, 1), h = v_dim(x, 2), w = v_dim(x, 3);
    if (h % b || w % b) {
        return xir_node_invalid(at, XIR_E_INVALID, "input/0",
                                "expected multiples of %lld rows and columns, found %lld and %lld",
                                (long long)b, (long long)h, (long long)w);
    }
    static const int64_t perm[] = { 0, 3, 5, 1, 2, 4 };
    const int64_t apart[] = { n, c, h / b, b, w / b, b }, back[] = { n, c * b * b, h / b, w / b };
    return xir_node_result(at, 0, blocks_moved(at, x, apart, perm, back));
}
