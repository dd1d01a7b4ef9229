/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Convolutions and pools. Lists of strides, dilations and pads are in the order of the format; kernels are [out, in,
 * rows, columns] in both. */
#include <float.h>
#include <stdio.h>
#include "spec/windows.h"
#include "tsm/tsm.h"

/* ---- parameters ------------------------------------------------------------------------------------------------- */

/* The place of the rows in the order of a format; the columns come after them. */
static size_t rows_of(const xir_node *at) { return xir_node_is(at, "format", "NHWC") ? 1 : 2; }

/* The two spatial numbers of a list of four; those of batch and channels are 0 or 1. */
static bool pair_of(xir_node *at, const char *name, const xir_ints *list, size_t first, int64_t least, int64_t out[3]) {
    for (size_t i = 0; i < 4; i++) {
        const bool spatial = i == first || i == first + 1;
        if (spatial ? list->v[i] < least : list->v[i] != 1 && list->v[i] != 0)
            return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "%s[%zu]: expected %s%lld, found %lld", name, i,
                                    spatial ? "at least " : "", (long long)(spatial ? least : 1),
                                    (long long)list->v[i]);
    }
    out[0] = list->v[first], out[1] = list->v[first + 1];
    return true;
}

static bool pads_of(xir_node *at, const xir_ints *pads, size_t first, windows *w) {
    for (size_t i = 0; i < 8; i++) {
        const bool spatial = i / 2 == first || i / 2 == first + 1;
        if (spatial || !pads->v[i]) continue;
        return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "padding[%zu]: expected 0, found %lld", i,
                                (long long)pads->v[i]);
    }
    for (size_t k = 0; k < 2; k++) {
        w->before[k] = pads->v[2 * (first + k)];
        w->after[k] = pads->v[2 * (first + k) + 1];
    }
    return true;
}

/* A list of n numbers, from a parameter, or from an input if `input` is not 0. */
static bool numbers(xir_node *at, const char *name, size_t input, size_t n, xir_ints *out) {
    if (input) return tsm_constant(at, input, n, out);
    if (tsm_list(at, name, n, INT32_MIN, out)) return true;
    return xir_node_failed(at) ? false : xir_node_unsupported(at, "%s is missing", name);
}

static bool format_of(xir_node *at, const xir_value *x) {
    if (!xir_node_one_of(at, "format", "NCHW", "NCHW|NHWC") || !tsm_has_rank(at, 0, x, 4)) return false;
    for (size_t i = 0; i < 4; i++)
        if (v_dim(x, i) > TSM_MOST_DIM) return xir_node_unsupported(at, "a dim above 2^31 - 1");
    return true;
}

/* ---- convolutions ----------------------------------------------------------------------------------------------- */

/* Of a kernel with w->size; strides and dilations may be missing where an operator has none. */
static bool conv_windows(xir_node *at, size_t padding_input, windows *w) {
    xir_ints list;
    const size_t first = rows_of(at);
    const char *dilation = xir_node_attr(at, "dilation") ? "dilation" : "dialations";
    for (size_t k = 0; k < 2; k++) w->stride[k] = w->dilation[k] = 1;
    if (tsm_list(at, "stride", 4, 0, &list) && !pair_of(at, "stride", &list, first, 1, w->stride)) return false;
    if (tsm_list(at, dilation, 4, 0, &list) && !pair_of(at, dilation, &list, first, 1, w->dilation)) return false;
    if (xir_node_failed(at) || !numbers(at, "padding", padding_input, 8, &list)) return false;
    return pads_of(at, &list, first, w);
}

/* Cells around x that hold another value than 0, or are cut off, become part of x. */
static xir_value *with_borders(xir_node *at, xir_value *x, windows *w) {
    const double value = xir_node_real(at, "padding_value", 0);
    const size_t first = rows_of(at);
    bool negative = false;
    for (size_t k = 0; k < 2; k++) negative |= w->before[k] < 0 || w->after[k] < 0;
    if (value == 0 && !negative) return x;
    xir_ints pairs = xir_node_make_ints(at, 8, 0);
    for (size_t k = 0; k < 2 && pairs.v; k++) {
        pairs.v[2 * (first + k)] = w->before[k], pairs.v[2 * (first + k) + 1] = w->after[k];
        w->before[k] = w->after[k] = 0;
    }
    return tsm_padded(at, x, &pairs, value);
}

/* The convolution of x, in the order of the format, with a kernel in XIR's order. */
static xir_value *convolved(xir_node *at, xir_value *x, xir_value *kernel, windows *w, tsm_conv kind, int64_t groups) {
    static const int64_t as_it_is[] = { 0, 1, 2, 3 };
    const bool last = rows_of(at) == 1;
    if (kind != TSM_TRANSPOSED) x = with_borders(at, x, w);
    if (xir_node_failed(at) || !x || !kernel) return NULL;
    w->groups = groups, w->transposed = kind == TSM_TRANSPOSED;
    x = last ? xir_node_transposed(at, x, as_it_is, 4, "NHWC") : xir_node_channels_last(at, x);
    xir_value *y = op_of_convolution(at, x, kernel, NULL, w);
    return last ? y : xir_node_channels_second(at, y);
}

/* Returns true if x has the channels that the kernel needs, in its dim `of`. */
static bool channels_fit(xir_node *at, const xir_value *x, const xir_value *kernel, size_t i, size_t of) {
    char where[32];
    const int64_t has = v_dim(x, rows_of(at) == 1 ? 3 : 1), needs = v_dim(kernel, of);
    if (has == needs || has < 0 || needs < 0) return true;
    snprintf(where, sizeof where, "input/%zu", i);
    return xir_node_invalid(at, XIR_E_INVALID, where, "the kernel: expected %lld channels, as many as the input has, "
                            "found %lld", (long long)has, (long long)needs);
}

/* The last input is the kernel; with three the second one has the pads. */
bool tsm_conv2d(xir_node *at) {
    const tsm_conv kind = (tsm_conv)xir_node_variant(at);
    const size_t last = at->n_in - 1;
    windows w = { .n = 2 };
    xir_value *x = xir_node_input(at, 0), *kernel = xir_node_input(at, last);
    if (!format_of(at, x) || !tsm_has_rank(at, last, kernel, 4)) return false;
    if (xir_node_bool(at, "kernel_packed", false)) return xir_node_unsupported(at, "a kernel in packed order");
    if (!xir_node_same_elements(at, 0, x, last, kernel)) return false;
    if (!channels_fit(at, x, kernel, last, kind == TSM_TRANSPOSED ? 0 : 1)) return false;
    for (size_t k = 0; k < 2; k++) w.size[k] = v_dim(kernel, k + 2);
    if (!conv_windows(at, last == 2 ? 1 : 0, &w)) return false;
    if (kind == TSM_TRANSPOSED && xir_node_attr(at, "output_shape")) return xir_node_unsupported(at, "output_shape");
    if (kind == TSM_TRANSPOSED && xir_node_real(at, "padding_value", 0) != 0)
        return xir_node_unsupported(at, "padding of another value than 0");
    if (kind != TSM_DEPTHWISE) {
        kernel = window_kernel(at, kernel, kind == TSM_TRANSPOSED);
        return xir_node_result(at, 0, convolved(at, x, kernel, &w, kind, 1));
    }
    if (v_dim(kernel, 0) != 1)
        return xir_node_invalid(at, XIR_E_INVALID, "input/1", "the kernel: expected a first dim of 1, found %lld",
                                (long long)v_dim(kernel, 0));
    if (!xir_node_need_dims(at, kernel, 1, 2)) return false;
    const int64_t groups = v_dim(kernel, 1);
    kernel = window_kernel(at, xir_node_transposed(at, kernel, (const int64_t[]){ 1, 0, 2, 3 }, 4, NULL), false);
    return xir_node_result(at, 0, convolved(at, x, kernel, &w, kind, groups));
}

/* A constant kernel of 8-bit integers, in XIR's order, as the numbers that it stands for: it gets a quantised type with
 * a scale for each channel of the result, and is cast at run time. NULL without a failure if no type says this. */
static xir_value *quantised(xir_node *at, xir_value *kernel, const double *scales, size_t n) {
    xir_context *ctx = xir_node_context(at);
    const xir_type *byte = xir_type_sint(ctx, 8);
    const int64_t zero = 0;
    if (!kernel || !n || !xir_value_is_params(kernel) || !xir_type_equal(v_element(kernel), byte)) return NULL;
    for (size_t i = 0; i < n; i++)
        if (!((float)scales[i] >= FLT_MIN && (float)scales[i] <= FLT_MAX)) return NULL;
    const xir_ints dims = xir_node_dims(at, kernel);
    const xir_scales *each = xir_scales_from(ctx, scales, n, 3);
    const xir_type *element = each ? xir_type_quantized(ctx, each, &zero, 1, byte, NULL) : NULL;
    const xir_type *real = element && dims.v ? tsm_tensor(at, xir_type_float(ctx, XIR_FLOAT_FP32),
                                                          xir_type_layout(xir_value_type(kernel)), &dims) : NULL;
    const xir_type *type = real ? tsm_typed_as(at, real, element) : NULL;
    xir_value *made = type ? node_alias(at, kernel) : NULL;
    if (!made || xir_value_set_type(made, type) || xir_value_set_name(made, xir_value_name(kernel)))
        return node_no_memory(at), NULL;
    xir_op *cast = xir_node_make_op(at, "Cast", INS(made), SETS(OBJ("target_dtype", real)));
    return cast ? xir_op_output(cast, 0) : NULL;
}

/* Sums of products of 8-bit integers, times a number for each channel of the result. */
bool tsm_conv2d_quantized(xir_node *at) {
    const double *scales;
    size_t n;
    windows w = { .n = 2 };
    xir_value *x = xir_node_input(at, 0), *kernel = xir_node_input(at, 1);
    if (!format_of(at, x) || !tsm_has_rank(at, 1, kernel, 4) || !channels_fit(at, x, kernel, 1, 1)) return false;
    for (size_t k = 0; k < 2; k++) w.size[k] = v_dim(kernel, k + 2);
    if (!conv_windows(at, 0, &w)) return false;
    if (!xir_node_real_items(at, "dequantize_scales", &scales, &n)) {
        if (xir_node_failed(at)) return false;
        return xir_node_unsupported(at, "dequantize_scales is not a list");
    }
    if (v_dim(kernel, 0) >= 0 && v_dim(kernel, 0) != (int64_t)n)
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/dequantize_scales", "dequantize_scales: expected %lld "
                                "numbers, one for each channel of the result, found %zu",
                                (long long)v_dim(kernel, 0), n);
    const xir_type *real = xir_type_float(xir_node_context(at), XIR_FLOAT_FP32);
    kernel = window_kernel(at, kernel, false);
    xir_value *scaled = quantised(at, kernel, scales, n);
    kernel = scaled ? scaled : xir_node_cast(at, kernel, real);
    xir_value *y = convolved(at, xir_node_cast(at, x, real), kernel, &w, TSM_PLAIN, 1);
    if (scaled) return xir_node_result(at, 0, y);
    xir_value *factors = tsm_along(at, xir_node_constant(at, real, NULL, scales, n), y, rows_of(at) == 1 ? 3 : 1);
    return xir_node_result(at, 0, xir_node_product(at, y, factors));
}

/* A kernel of 3 x 3 with steps of 1: another way to compute the same, unless the kernel is transformed already. */
bool tsm_conv2d_winograd(xir_node *at) {
    const size_t last = at->n_in - 1;
    windows w = { .n = 2 };
    xir_value *x = xir_node_input(at, 0), *kernel = xir_node_input(at, last);
    if (!format_of(at, x) || !tsm_has_rank(at, last, kernel, 4) || !channels_fit(at, x, kernel, last, 1)) return false;
    if (xir_node_bool(at, "kernel_winograd_transformed", false) || v_dim(kernel, 2) != 3 || v_dim(kernel, 3) != 3)
        return xir_node_unsupported(at, "a kernel that is not of 3 x 3 numbers");
    for (size_t k = 0; k < 2; k++) w.size[k] = 3;
    if (!conv_windows(at, last == 2 ? 1 : 0, &w)) return false;
    return xir_node_result(at, 0, convolved(at, x, window_kernel(at, kernel, false), &w, TSM_PLAIN, 1));
}

/* Rows of matrices [tiles, out, in] as TenniS' products read them: eight rows together, column by column, then the rest
 * row by row. */
static xir_value *packed_rows(xir_node *at, xir_value *u, int64_t tiles, int64_t rows, int64_t columns) {
    const int64_t whole = rows / 8 * 8;
    xir_value *rest = make_part(at, u, 1, whole, INT64_MAX, 1);
    rest = make_shaped(at, rest, (int64_t[]){ tiles, (rows - whole) * columns }, 2);
    if (!whole) return rest;
    xir_value *packed = make_shaped(at, make_part(at, u, 1, 0, whole, 1),
                                    (int64_t[]){ tiles, whole / 8, 8, columns }, 4);
    packed = xir_node_transposed(at, packed, (int64_t[]){ 0, 1, 3, 2 }, 4, NULL);
    packed = make_shaped(at, packed, (int64_t[]){ tiles, whole * columns }, 2);
    return whole == rows ? packed : xir_node_make(at, "Concat", INS(packed, rest), SETS(INT("axis", 1)));
}

/* G * w * G^T for each 3 x 3 kernel w, tiles of 8 x 8 (winograd_f63) or 4 x 4 (winograd_f23), in packed rows. */
bool tsm_winograd_kernel(xir_node *at) {
    static const double f23[] = { 1, 0, 0,  .5, .5, .5,  .5, -.5, .5,  0, 0, 1 };
    static const double f63[] = { 1, 0, 0,  -2. / 9, -2. / 9, -2. / 9,  -2. / 9, 2. / 9, -2. / 9,
                                  1. / 90, 1. / 45, 2. / 45,  1. / 90, -1. / 45, 2. / 45,
                                  1. / 45, 1. / 90, 1. / 180,  1. / 45, -1. / 90, 1. / 180,  0, 0, 1 };
    xir_value *w = xir_node_input(at, 0);
    if (!tsm_has_rank(at, 0, w, 4) || !xir_node_need_dims(at, w, 0, SIZE_MAX)) return false;
    if (!xir_node_one_of(at, "winograd_mode", "winograd_f63", "winograd_f63|winograd_f23")) return false;
    if (v_dim(w, 2) != 3 || v_dim(w, 3) != 3) return xir_node_unsupported(at, "a kernel that is not 3 x 3");
    const bool small = xir_node_is(at, "winograd_mode", "winograd_f23");
    const size_t n = small ? 4 : 8;
    const int64_t rows = v_dim(w, 0), columns = v_dim(w, 1), side = (int64_t)n;
    if (rows > TSM_MOST_DIM || columns > TSM_MOST_DIM / 64)
        return xir_node_unsupported(at, "more than 2^31 - 1 rows, or than 2^25 columns");
    double g[24];
    for (size_t i = 0; i < n; i++)   /* transposed: 3 rows of n */
        for (size_t j = 0; j < 3; j++) g[j * n + i] = (small ? f23 : f63)[3 * i + j];
    xir_value *u = make_mixed(at, make_mixed(at, w, 2, g, n), 3, g, n);
    u = xir_node_transposed(at, u, (int64_t[]){ 2, 3, 0, 1 }, 4, NULL);
    u = make_shaped(at, u, (int64_t[]){ side * side, rows, columns }, 3);
    u = packed_rows(at, u, side * side, rows, columns);
    return xir_node_result(at, 0, make_shaped(at, u, (int64_t[]){ rows, columns, side, side }, 4));
}

/* ---- deformed convolutions -------------------------------------------------------------------------------------- */

/* Each part of the channels has its own places, one for each cell of the kernel (a tap) in each window. */
typedef struct deformed { int64_t n, channels, parts, taps, rows, columns, out; } deformed;

/* The sizes of it all; the dims of the inputs are known. False after a finding. */
static bool deformed_sizes(xir_node *at, const xir_value *x, const xir_value *kernel, windows *w, deformed *d) {
    int64_t all;
    *d = (deformed){ .n = v_dim(x, 0), .channels = v_dim(x, 1), .out = v_dim(kernel, 0) };
    if (!tsm_int(at, "deformable_groups", 0, 1, TSM_MOST_DIM, &d->parts)) return false;
    if (d->channels % d->parts)
        return xir_node_invalid(at, XIR_E_INVALID, "attribute/deformable_groups", "deformable_groups: expected a "
                                "divisor of %lld, found %lld", (long long)d->channels, (long long)d->parts);
    for (size_t k = 0; k < 2; k++) {
        w->input[k] = v_dim(x, k + 2), w->size[k] = v_dim(kernel, k + 2);
        if (w->input[k] < 1 || w->size[k] < 1) return xir_node_unsupported(at, "an image or a kernel without cells");
    }
    if (!conv_windows(at, 0, w)) return false;
    for (size_t k = 0; k < 2; k++)
        if (window_room(w, k) < 0)
            return xir_node_invalid(at, XIR_E_INVALID, "input/1", "the kernel: it does not fit into the image");
    d->taps = w->size[0] * w->size[1];
    d->rows = window_room(w, 0) / w->stride[0] + 1, d->columns = window_room(w, 1) / w->stride[1] + 1;
    const bool over = __builtin_mul_overflow(d->rows, d->columns, &all) || __builtin_mul_overflow(all, d->taps, &all) ||
                      __builtin_mul_overflow(all, d->channels + 2, &all) || __builtin_mul_overflow(all, d->n, &all);
    const int64_t longest = d->rows > d->columns ? d->rows : d->columns;
    return (!over && longest <= TSM_MOST_LISTED / d->taps) ||
           xir_node_unsupported(at, "a constant of more than 2^22 elements");
}

/* Returns true if input i has `per` numbers for each tap, of all parts, in each window. */
static bool is_of_taps(xir_node *at, size_t i, const xir_value *v, const deformed *d, int64_t per) {
    const int64_t expected[] = { d->n, per * d->parts * d->taps, d->rows, d->columns };
    char where[24];
    snprintf(where, sizeof where, "input/%zu", i);
    for (size_t k = 0; k < 4; k++)
        if (v_dim(v, k) != expected[k])
            return xir_node_invalid(at, XIR_E_INVALID, where, "input %zu: expected %lld as dim %zu, found %lld", i,
                                    (long long)expected[k], k, (long long)v_dim(v, k));
    return true;
}

/* The places of all taps along the rows (axis 0) or columns of the image, from -1 to 1: those of an ordinary
 * convolution and the offsets [n * parts, taps, 2, rows, columns]. */
static xir_value *tap_places(xir_node *at, xir_value *offsets, const deformed *d, const windows *w, size_t axis) {
    const int64_t windows_n = axis ? d->columns : d->rows, n = d->taps * windows_n;
    double *v = node_take(at, (size_t)n * sizeof *v);
    if (!v) return node_no_memory(at), NULL;
    for (int64_t i = 0; i < n; i++) {
        const int64_t tap = i / windows_n, along = axis ? tap % w->size[1] : tap / w->size[1];
        v[i] = (double)(i % windows_n * w->stride[axis] - w->before[axis] + along * w->dilation[axis]);
    }
    xir_value *own = make_shaped(at, make_part(at, offsets, 2, (int64_t)axis, (int64_t)axis + 1, 1),
                                 (int64_t[]){ d->n * d->parts, d->taps, d->rows, d->columns }, 4);
    const xir_ints dims = { (int64_t[]){ 1, d->taps, axis ? 1 : d->rows, axis ? d->columns : 1 }, 4 };
    own = xir_node_sum(at, own, xir_node_constant(at, v_element(own), &dims, v, (size_t)n), 1, 1);
    const double size = (double)w->input[axis];
    return make_affine(at, own, 2 / size, 1 / size - 1);
}

/* A convolution whose cells are taken from places between those of the image, 0 outside, times a mask. */
bool tsm_deformed(xir_node *at) {
    windows w = { .n = 2 };
    deformed d;
    xir_value *in[5];
    for (size_t i = 0; i < COUNT(in); i++) in[i] = xir_node_input(at, i);
    if (!format_of(at, in[0])) return false;
    if (rows_of(at) == 1) return xir_node_unsupported(at, "NHWC, which TenniS does not compute");
    for (size_t i = 1; i < COUNT(in); i++)
        if (!tsm_has_rank(at, i, in[i], i == 2 ? 1 : 4) || !xir_node_same_elements(at, 0, in[0], i, in[i]))
            return false;
    for (size_t i = 0; i < COUNT(in); i++)
        if (!xir_node_need_dims(at, in[i], 0, SIZE_MAX)) return false;
    if (!channels_fit(at, in[0], in[1], 1, 1) || !deformed_sizes(at, in[0], in[1], &w, &d) ||
        !is_of_taps(at, 3, in[3], &d, 2) || !is_of_taps(at, 4, in[4], &d, 1)) return false;
    const int64_t maps = d.n * d.parts, own = d.channels / d.parts, lines = d.taps * d.rows, cells = d.rows * d.columns;
    xir_value *offsets = make_shaped(at, in[3], (int64_t[]){ maps, d.taps, 2, d.rows, d.columns }, 5);
    xir_value *places = xir_node_make(at, "Stack", INS(tap_places(at, offsets, &d, &w, 1),
                                                       tap_places(at, offsets, &d, &w, 0)), SETS(INT("dim", 4)));
    places = make_shaped(at, places, (int64_t[]){ maps, lines, d.columns, 2 }, 4);
    xir_value *x = make_shaped(at, in[0], (int64_t[]){ maps, own, w.input[0], w.input[1] }, 4);
    x = xir_node_make(at, "GridSample", INS(xir_node_channels_last(at, x), places), NO_SETS);
    x = xir_node_product(at, x, make_shaped(at, in[4], (int64_t[]){ maps, lines, d.columns, 1 }, 4));
    x = make_shaped(at, x, (int64_t[]){ d.n, d.parts, d.taps, cells, own }, 5);
    x = xir_node_transposed(at, x, (int64_t[]){ 0, 3, 2, 1, 4 }, 5, NULL);
    x = make_shaped(at, x, (int64_t[]){ d.n, cells, d.taps * d.channels }, 3);
    xir_value *kernel = make_shaped(at, window_kernel(at, in[1], false), (int64_t[]){ d.taps * d.channels, d.out }, 2);
    xir_value *y = xir_node_sum(at, make_matrix_product(at, x, kernel), in[2], 1, 1);
    const xir_ints image = { (int64_t[]){ d.n, d.rows, d.columns, d.out }, 4 };
    return xir_node_result(at, 0, xir_node_channels_second(at, xir_node_reshaped(at, y, &image, "NHWC")));
}

/* ---- pools ------------------------------------------------------------------------------------------------------ */

enum { MAX, AVERAGE };
enum { BLACK, COPY, LOOP, WHITE };

/* Windows are counted upward: the last one may end outside, and the pads at the end grow until it fits. */
static bool round_up(xir_node *at, windows *w, int64_t extra[2]) {
    for (size_t k = 0; k < 2; k++) {
        const int64_t room = window_room(w, k), rest = room < 0 ? 0 : room % w->stride[k];
        if (room < 0 && w->input[k] >= 0)
            return xir_node_invalid(at, XIR_E_INVALID, NULL, "ksize: expected at most %lld, the padded dim, found %lld",
                                    (long long)(w->input[k] + w->before[k] + w->after[k]), (long long)w->size[k]);
        extra[k] = rest ? w->stride[k] - rest : 0;
    }
    return true;
}

/* Averages over the cells of a window inside x, or, with padding that counts, over the whole window. */
static bool pooled(xir_node *at, xir_value *x, windows *w, int64_t type, int64_t padding_type) {
    int64_t extra[2];
    if (!xir_node_need_dims(at, x, 2, 4)) return false;
    for (size_t k = 0; k < 2; k++) w->input[k] = v_dim(x, k + 2), w->dilation[k] = 1;
    if (!round_up(at, w, extra)) return false;
    xir_ints pairs = xir_node_make_ints(at, 8, 0);   /* cells that are cut off */
    for (size_t k = 0; k < 2 && pairs.v; k++) {
        w->after[k] += extra[k];
        if (w->before[k] < 0) pairs.v[4 + 2 * k] = w->before[k], w->before[k] = 0;
        if (w->after[k] < 0) pairs.v[5 + 2 * k] = w->after[k], w->after[k] = 0;
    }
    w->max = type == MAX, w->counts = padding_type == WHITE;
    return xir_node_result(at, 0, op_of_pool_second(at, tsm_padded(at, x, &pairs, 0), w));
}

static bool pool_types(xir_node *at, const xir_value *x, int64_t *type, int64_t *padding_type) {
    if (!format_of(at, x) || !tsm_int(at, "type", MAX, MAX, AVERAGE, type) ||
        !tsm_int(at, "padding_type", BLACK, BLACK, WHITE, padding_type)) return false;
    if (rows_of(at) == 1) return xir_node_unsupported(at, "a pool in NHWC, which TenniS does not compute");
    if (*padding_type == COPY || *padding_type == LOOP)
        return xir_node_unsupported(at, "padding_type %lld, which TenniS does not compute", (long long)*padding_type);
    return true;
}

/* pooling2d_v2 has padding, ksize and stride as inputs. */
bool tsm_pooling2d(xir_node *at) {
    windows w = { .n = 2 };
    xir_ints pads, size, stride;
    int64_t type, padding_type;
    const size_t first = at->n_in > 1 ? 1 : 0;
    xir_value *x = xir_node_input(at, 0);
    if (!pool_types(at, x, &type, &padding_type)) return false;
    if (!numbers(at, "padding", first, 8, &pads) || !numbers(at, "ksize", first ? 2 : 0, 4, &size) ||
        !numbers(at, "stride", first ? 3 : 0, 4, &stride)) return false;
    if (!pads_of(at, &pads, 2, &w) || !pair_of(at, "ksize", &size, 2, 1, w.size) ||
        !pair_of(at, "stride", &stride, 2, 1, w.stride)) return false;
    return pooled(at, x, &w, type, padding_type);
}

bool tsm_global_pooling2d(xir_node *at) {
    windows w;
    int64_t type, padding_type;
    xir_value *x = xir_node_input(at, 0);
    return pool_types(at, x, &type, &padding_type) && window_of_map(at, x, &w) && pooled(at, x, &w, type, BLACK);
}
