/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Parts of tensors, and tensors with a border. */
#include <stdio.h>
#include "formula/text.h"
#include "spec/slicing.h"
#include "tsm/tsm.h"

/* ---- slices ----------------------------------------------------------------------------------------------------- */

/* From `begin`, `size` elements; a negative size: to the end. slice_v2 has both as inputs. */
bool tsm_slice(xir_node *at) {
    xir_ints begin, size;
    slicing b;
    xir_value *x = xir_node_input(at, 0);
    const size_t rank = v_rank(x);
    const bool inputs = at->n_in > 1;
    if (!(inputs ? tsm_constant(at, 1, rank, &begin) : tsm_list(at, "begin", rank, INT32_MIN, &begin)) ||
        !(inputs ? tsm_constant(at, 2, rank, &size) : tsm_list(at, "size", rank, INT32_MIN, &size)) ||
        !slicing_begin(at, rank, &b)) return false;
    for (size_t i = 0; i < rank; i++) {
        const int64_t n = v_dim(x, i), end = begin.v[i] + size.v[i];
        if (begin.v[i] < 0 || (n >= 0 && begin.v[i] >= n)) return tsm_out_of_range(at, "begin", begin.v[i]);
        if (size.v[i] >= 0 && n >= 0 && end > n) return tsm_out_of_range(at, "size", size.v[i]);
        b.begin.v[i] = begin.v[i];
        if (size.v[i] >= 0) b.end.v[i] = end;
    }
    return xir_node_result(at, 0, op_of_slicing(at, x, &b));
}

/* With a negative step an end of -n or less is before the first element. */
static bool set_bounds(xir_node *at, const xir_value *x, size_t k, int64_t begin, int64_t end, int64_t step,
                       slicing *b) {
    const int64_t n = v_dim(x, k);
    if (!step) return tsm_out_of_range(at, "step", 0);
    if (n < 0 && step < 0 && end < 0 && end > INT32_MIN + 1) return xir_node_need_dims(at, x, k, k + 1);
    b->begin.v[k] = begin;
    b->end.v[k] = step < 0 && n >= 0 && end <= -n ? INT64_MIN : end;
    b->step.v[k] = step;
    return true;
}

static xir_value *item(xir_node *at, xir_value *list, int64_t i) {
    return i < 0 ? list : make_part(at, list, 0, i, i + 1, 1);
}

/* Bounds that are computed: the elements of one axis from `begin` to `end`, by their positions. All are one number. */
static xir_value *picked(xir_node *at, xir_value *x, size_t k, xir_value *begin, xir_value *end, xir_value *step) {
    const xir_ints one = { (int64_t[]){ 1 }, 1 };
    const xir_type *whole = xir_type_sint(xir_node_context(at), 64);
    xir_value *n = xir_node_make(at, "Shape", INS(x), SETS(INT("start", (int64_t)k), INT("end", (int64_t)k + 1)));
    xir_value *zero = xir_node_filled(at, whole, &one, 0), *back = xir_node_filled(at, whole, &one, -1);
    xir_value *down = xir_node_make(at, "Less", INS(step, zero), NO_SETS);
    xir_value *least = xir_node_make(at, "Where", INS(back, zero, down), NO_SETS);
    xir_value *most = xir_node_make(at, "Where", INS(xir_node_sum(at, n, back, 1, 1), n, down), NO_SETS);
    xir_value *ends[2] = { begin, end };
    for (size_t i = 0; i < 2; i++) {   /* a negative one counts from the end */
        xir_value *below = xir_node_make(at, "Less", INS(ends[i], zero), NO_SETS);
        ends[i] = make_formula(at, "z ? x + y : x", INS(ends[i], n, below), NULL);
        if (i) {   /* with a negative step 0 from the end is before the first */
            xir_value *first = make_formula(at, "f = And(x == y, z); And(f, w)", INS(ends[i], zero, below, down), NULL);
            ends[i] = xir_node_make(at, "Where", INS(back, ends[i], first), NO_SETS);
        }
        ends[i] = make_formula(at, "Minimum(Maximum(x, y), z)", INS(ends[i], least, most), NULL);
    }
    xir_value *places = xir_node_make(at, "Range", INS(ends[0], ends[1], step), NO_SETS);
    return xir_node_make(at, "Gather", INS(x, places), SETS(INT("axis", (int64_t)k)));
}

/* The number of a list for axis k: where `axes` names it, else `otherwise`. */
static xir_value *for_axis(xir_node *at, xir_value *list, xir_value *axes, size_t rank, size_t k,
                           xir_value *otherwise) {
    const xir_ints all = { (int64_t[]){ 0 }, 1 };
    xir_value *more = make_formula(at, "Or(x == a, x == b) ? y - z : 0", INS(axes, list, otherwise),
                                   NUMBERS((double)k, (double)k - (double)rank));
    return xir_node_sum(at, xir_node_reduced(at, "Sum", more, &all, true), otherwise, 1, 1);
}

/* A list of integers in an input; without the input a line of `fill`. */
static xir_value *list_input(xir_node *at, size_t i, int64_t n, double fill) {
    const xir_ints dims = { &n, 1 };
    if (!xir_node_has(at, i)) return xir_node_filled(at, xir_type_sint(xir_node_context(at), 64), &dims, fill);
    xir_value *v = tsm_index(at, xir_node_input(at, i));
    return tsm_has_rank(at, i, v, 1) ? v : NULL;
}

/* ONNX's Slice with numbers that are not constants. */
static bool computed_slice(xir_node *at, xir_value *x) {
    const size_t rank = v_rank(x);
    const xir_ints one = { (int64_t[]){ 1 }, 1 };
    const xir_type *whole = xir_type_sint(xir_node_context(at), 64);
    xir_value *starts = list_input(at, 1, 0, 0), *ends = list_input(at, 2, 0, 0);
    if (!starts || !ends || !xir_node_need_dims(at, starts, 0, 1)) return false;
    const int64_t n = v_dim(starts, 0);
    if (n > (int64_t)rank)
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/1", "input 1: expected at most %zu numbers, found %lld", rank,
                                (long long)n);
    const bool listed = xir_node_has(at, 3);
    xir_value *axes = listed ? list_input(at, 3, n, 0) : NULL, *steps = list_input(at, 4, n, 1);
    for (size_t k = 0; k < rank && x; k++) {
        if (!listed && (int64_t)k >= n) break;
        xir_value *length = xir_node_make(at, "Shape", INS(x), SETS(INT("start", (int64_t)k),
                                                                    INT("end", (int64_t)k + 1)));
        xir_value *zero = xir_node_filled(at, whole, &one, 0), *unit = xir_node_filled(at, whole, &one, 1);
        if (listed) x = picked(at, x, k, for_axis(at, starts, axes, rank, k, zero),
                               for_axis(at, ends, axes, rank, k, length), for_axis(at, steps, axes, rank, k, unit));
        else x = picked(at, x, k, item(at, starts, (int64_t)k), item(at, ends, (int64_t)k),
                        item(at, steps, (int64_t)k));
    }
    return xir_node_result(at, 0, x);
}

/* ONNX's Slice: starts, ends, axes, steps. A negative axis counts from the end. */
bool tsm_slice_v3(xir_node *at) {
    xir_ints starts, ends, axes, steps;
    slicing b;
    bool constant = true;
    xir_value *x = xir_node_input(at, 0);
    const size_t rank = v_rank(x);
    for (size_t i = 1; i < at->n_in; i++) constant &= !xir_node_has(at, i) || xir_node_is_constant(at, i);
    if (!constant) return computed_slice(at, x);
    if (!xir_node_ints(at, 1, &starts) || !xir_node_ints(at, 2, &ends)) return false;
    const size_t n = starts.n;
    if (ends.n != n)
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/2", "input 2: expected %zu numbers, found %zu", n, ends.n);
    axes = xir_node_series(at, 0, n), steps = xir_node_make_ints(at, n, 1);
    if (xir_node_has(at, 3) && !tsm_constant(at, 3, n, &axes)) return false;
    if (xir_node_has(at, 4) && !tsm_constant(at, 4, n, &steps)) return false;
    if (!slicing_begin(at, rank, &b)) return false;
    for (size_t i = 0; i < n; i++) {
        int64_t k;
        if (!xir_node_axis(at, xir_node_has(at, 3) ? "input/3" : "input/1", axes.v[i], rank, &k)) return false;
        if (!set_bounds(at, x, (size_t)k, starts.v[i], ends.v[i], steps.v[i], &b)) return false;
    }
    return xir_node_result(at, 0, op_of_slicing(at, x, &b));
}

/* ---- strided_slice ---------------------------------------------------------------------------------------------- */

typedef struct masks { int64_t begin, end, ellipsis, new_axis, shrink; } masks;

static bool has_bit(int64_t mask, size_t i) { return i < 32 && (mask >> i & 1); }

/* TensorFlow's: an item for each dim, for a new dim of 1, or, the ellipsis, for all dims that are left. As in TenniS
 * an item of a new dim cuts it too, and a dim that is removed must have one element. */
bool tsm_strided_slice(xir_node *at) {
    xir_ints begin, end, stride;
    slicing b;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !tsm_list(at, "begin", SIZE_MAX, INT32_MIN, &begin) ||
        !tsm_list(at, "end", begin.n, INT32_MIN, &end)) return false;
    const masks m = { xir_node_int(at, "begin_mask", 0), xir_node_int(at, "end_mask", 0),
                      xir_node_int(at, "ellipsis_mask", 0), xir_node_int(at, "new_axis_mask", 0),
                      xir_node_int(at, "shrink_axis_mask", 0) };
    if (!tsm_list(at, "stride", begin.n, INT32_MIN, &stride)) stride = xir_node_make_ints(at, begin.n, 1);
    if (xir_node_failed(at)) return false;
    const size_t rank = v_rank(x), n = begin.n;
    size_t used = 0, added = 0, dots = 0;
    if (n > 31) return xir_node_unsupported(at, "%zu items", n);
    for (size_t i = 0; i < n; i++) {
        const bool fresh = has_bit(m.new_axis, i), dot = has_bit(m.ellipsis, i);
        dots += dot, added += fresh && !dot, used += !fresh && !dot;
    }
    if (dots > 1 || used > rank)
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/begin", "expected items for at most %zu dims and one "
                                "ellipsis, found %zu and %zu", rank, used, dots);
    if (!xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const size_t all = rank + added;
    xir_ints dims = xir_node_make_ints(at, all, 1), removed = xir_node_make_ints(at, all, 0);
    if (!slicing_begin(at, all, &b)) return false;
    size_t from = 0, k = 0;   /* of x and of the result with the new dims */
    for (size_t i = 0; i < n; i++) {
        if (has_bit(m.ellipsis, i)) {
            for (size_t j = 0; j < rank - used; j++) dims.v[k++] = v_dim(x, from++);
            continue;
        }
        if (!has_bit(m.new_axis, i)) dims.v[k] = v_dim(x, from++);
        const bool down = stride.v[i] < 0;
        if (!stride.v[i]) return tsm_out_of_range(at, "stride", 0);
        b.begin.v[k] = !has_bit(m.begin, i) ? begin.v[i] : down ? INT64_MAX : 0;
        b.end.v[k] = !has_bit(m.end, i) ? end.v[i] : down ? INT64_MIN : INT64_MAX;
        if (down && b.end.v[k] <= -dims.v[k]) b.end.v[k] = INT64_MIN;
        b.step.v[k] = stride.v[i];
        removed.v[k++] = has_bit(m.shrink, i);
    }
    while (from < rank) dims.v[k++] = v_dim(x, from++);
    if (added) x = make_reshaped(at, x, &dims);
    xir_value *y = op_of_slicing(at, x, &b);
    xir_ints left = xir_node_make_ints(at, all, 1);
    if (!left.v) return false;
    left.n = 0;
    for (size_t i = 0; i < all; i++) {
        if (!removed.v[i]) left.v[left.n++] = v_dim(y, i);
        else if (v_dim(y, i) != 1)
            return xir_node_invalid(at, XIR_E_INVALID, "attribute/shrink_axis_mask", "expected one element of a dim "
                                    "that is removed, found %lld", (long long)v_dim(y, i));
    }
    return xir_node_result(at, 0, left.n < all ? make_reshaped(at, y, &left) : y);
}

/* ---- borders ---------------------------------------------------------------------------------------------------- */

static bool give_padded(xir_node *at, xir_value *x, const xir_ints *pairs, double value) {
    xir_value *y = tsm_padded(at, x, pairs, value);
    return y == x && x ? xir_convert_copy(at) : xir_node_result(at, 0, y);
}

bool tsm_pad(xir_node *at) {
    xir_ints pairs;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !tsm_constant(at, 1, 2 * v_rank(x), &pairs)) return false;
    return give_padded(at, x, &pairs, xir_node_real(at, "padding_value", 0));
}

/* x with other dims: `first[i]` cells before dim i are added, the rest after it. A dim below 0 is kept. */
static bool give_sized(xir_node *at, xir_value *x, const xir_ints *dims, const xir_ints *first, double value) {
    if (xir_node_failed(at) || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    xir_ints pairs = xir_node_make_ints(at, 2 * v_rank(x), 0);
    for (size_t i = 0; i < v_rank(x) && pairs.v; i++) {
        if (dims->v[i] < 0) continue;
        pairs.v[2 * i] = first->v[i];
        pairs.v[2 * i + 1] = dims->v[i] - v_dim(x, i) - first->v[i];
    }
    return pairs.v && give_padded(at, x, &pairs, value);
}

/* The last dims become multiples of numbers. */
bool tsm_divided(xir_node *at) {
    xir_ints size;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !tsm_list(at, "size", SIZE_MAX, 1, &size) || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const size_t rank = v_rank(x);
    if (size.n > rank)
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/size", "size: expected at most %zu numbers, found %zu",
                                rank, size.n);
    xir_ints dims = xir_node_dims(at, x), first = xir_node_make_ints(at, rank, 0);
    for (size_t i = 0; i < size.n && dims.v; i++) {
        int64_t *dim = &dims.v[rank - size.n + i];
        if (*dim > TSM_MOST_DIM) return xir_node_unsupported(at, "a dim above 2^31 - 1");
        *dim = (*dim + size.v[i] - 1) / size.v[i] * size.v[i];
    }
    return give_sized(at, x, &dims, &first, xir_node_real(at, "padding_value", 0));
}

/* Larger dims are cut on both sides; of numbers below 1 all is kept. */
bool tsm_limit(xir_node *at) {
    xir_ints shape;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !tsm_list(at, "shape", SIZE_MAX, INT32_MIN, &shape) || !xir_node_need_dims(at, x, 0, SIZE_MAX))
        return false;
    const size_t rank = v_rank(x);
    if (shape.n > rank)
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/shape", "shape: expected at most %zu numbers, found %zu",
                                rank, shape.n);
    xir_ints dims = xir_node_dims(at, x), first = xir_node_make_ints(at, rank, 0);
    for (size_t i = 0; i < shape.n && dims.v && first.v; i++) {
        const size_t k = rank - shape.n + i;
        if (shape.v[i] <= 0 || dims.v[k] <= shape.v[i]) continue;
        first.v[k] = (shape.v[i] - dims.v[k]) / 2;
        dims.v[k] = shape.v[i];
    }
    return give_sized(at, x, &dims, &first, 0);
}

/* The middle, or what begins at `shift`. */
bool tsm_crop_nd(xir_node *at) {
    xir_ints size, shift;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !tsm_constant(at, 1, v_rank(x), &size)) return false;
    const bool shifted = tsm_list(at, "shift", v_rank(x), INT32_MIN, &shift);
    if (xir_node_failed(at) || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    xir_ints dims = xir_node_dims(at, x), first = xir_node_make_ints(at, v_rank(x), 0);
    for (size_t i = 0; i < size.n && dims.v && first.v; i++) {
        const int64_t to = size.v[i] > 0 ? size.v[i] : dims.v[i];
        first.v[i] = shifted ? -shift.v[i] : (to - dims.v[i]) / 2;
        dims.v[i] = to;
    }
    return give_sized(at, x, &dims, &first, 0);
}

/* From axis on the dims of a second tensor, from an offset. */
bool tsm_crop_to(xir_node *at) {
    xir_ints offset;
    int64_t axis;
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    if (xir_node_failed(at) || !tsm_has_rank(at, 1, y, v_rank(x)) || !node_axis(at, "axis", 2, v_rank(x), &axis))
        return false;
    const size_t rank = v_rank(x), from = (size_t)axis;
    const bool given = tsm_list(at, "offset", rank - from, INT32_MIN, &offset);
    if (xir_node_failed(at) || !xir_node_need_dims(at, y, from, SIZE_MAX)) return false;
    xir_ints dims = xir_node_dims(at, x), first = xir_node_make_ints(at, rank, 0);
    for (size_t i = from; i < rank && dims.v && first.v; i++) {
        first.v[i] = given ? -offset.v[i - from] : 0;
        dims.v[i] = v_dim(y, i);
    }
    return give_sized(at, x, &dims, &first, 0);
}

/* size: columns and rows. */
bool tsm_center_crop(xir_node *at) {
    xir_ints size;
    xir_value *x = xir_node_input(at, 0);
    if (!tsm_has_rank(at, 0, x, 4) || !tsm_list(at, "size", 2, 1, &size) || !xir_node_need_dims(at, x, 0, SIZE_MAX))
        return false;
    xir_ints dims = xir_node_dims(at, x), first = xir_node_make_ints(at, 4, 0);
    for (size_t i = 0; i < 2 && dims.v && first.v; i++) {
        first.v[1 + i] = (size.v[1 - i] - dims.v[1 + i]) / 2;
        dims.v[1 + i] = size.v[1 - i];
    }
    return give_sized(at, x, &dims, &first, 0);
}

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

static bool block_of(xir_node *at, xir_ints *block) {
    if (tsm_list(at, "block_shape", 2, 1, block)) return true;
    return xir_node_failed(at) ? false : xir_node_unsupported(at, "block_shape is missing");
}

/* [n bh bw, c, h, w] becomes [n, c, h bh, w bw], then the border is cut off. */
bool tsm_batch_to_space(xir_node *at) {
    xir_ints crop, block;
    xir_value *x = xir_node_input(at, 0);
    if (!tsm_has_rank(at, 0, x, 4) || !tsm_list(at, "crop", 4, 0, &crop) || !block_of(at, &block) ||
        !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const int64_t bh = block.v[0], bw = block.v[1], n = v_dim(x, 0), c = v_dim(x, 1), h = v_dim(x, 2), w = v_dim(x, 3);
    if (bh > 1 << 15 || bw > 1 << 15 || n % (bh * bw))
        return xir_node_invalid(at, XIR_E_INVALID, "attribute/block_shape", "block_shape: expected a divisor of the "
                                "first dim %lld, found %lld * %lld", (long long)n, (long long)bh, (long long)bw);
    x = make_shaped(at, x, (int64_t[]){ bh, bw, n / (bh * bw), c, h, w }, 6);
    x = xir_node_transposed(at, x, (int64_t[]){ 2, 3, 4, 0, 5, 1 }, 6, NULL);
    x = make_shaped(at, x, (int64_t[]){ n / (bh * bw), c, h * bh, w * bw }, 4);
    const xir_ints pairs = { (int64_t[]){ 0, 0, 0, 0, -crop.v[0], -crop.v[1], -crop.v[2], -crop.v[3] }, 8 };
    return xir_node_result(at, 0, tsm_padded(at, x, &pairs, 0));
}

/* The inverse: a border of zeros is added, then [n, c, h bh, w bw] becomes [n bh bw, c, h, w]. */
bool tsm_space_to_batch(xir_node *at) {
    xir_ints pad, block;
    xir_value *x = xir_node_input(at, 0);
    if (!tsm_has_rank(at, 0, x, 4) || !tsm_list(at, "padding", 4, 0, &pad) || !block_of(at, &block)) return false;
    const xir_ints pairs = { (int64_t[]){ 0, 0, 0, 0, pad.v[0], pad.v[1], pad.v[2], pad.v[3] }, 8 };
    x = tsm_padded(at, x, &pairs, 0);
    if (!x || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const int64_t bh = block.v[0], bw = block.v[1], n = v_dim(x, 0), c = v_dim(x, 1), h = v_dim(x, 2), w = v_dim(x, 3);
    int64_t all;
    if (h % bh || w % bw)
        return xir_node_invalid(at, XIR_E_INVALID, "attribute/block_shape", "block_shape: expected divisors of %lld "
                                "and %lld, found %lld and %lld", (long long)h, (long long)w, (long long)bh,
                                (long long)bw);
    if (__builtin_mul_overflow(n, bh * bw, &all)) return xir_node_unsupported(at, "dims whose product exceeds 63 bits");
    x = make_shaped(at, x, (int64_t[]){ n, c, h / bh, bh, w / bw, bw }, 6);
    x = xir_node_transposed(at, x, (int64_t[]){ 3, 5, 0, 1, 2, 4 }, 6, NULL);
    return xir_node_result(at, 0, make_shaped(at, x, (int64_t[]){ all, c, h / bh, w / bw }, 4));
}
