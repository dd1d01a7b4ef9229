/* Convolutions and pools. Lists of strides, dilations and pads are in the order of the format; kernels are [out, in,
 * rows, columns] in both. */
#include <stdio.h>
#include "convert/windows.h"
#include "convert/tsm/tsm.h"

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
        if (v_dim(x, i) > TSM_MOST_DIM) return xir_node_unsupported(at, "very large dims");
    return true;
}

/* ---- convolutions ----------------------------------------------------------------------------------------------- */

typedef enum conv_kind { PLAIN, DEPTHWISE, TRANSPOSED } conv_kind;

static conv_kind kind_of(const xir_node *at) {
    const char c = xir_node_type(at).data[0];
    return c == 'd' ? DEPTHWISE : c == 't' ? TRANSPOSED : PLAIN;
}

/* Of a kernel with w->size; strides and dilations may be missing where an operator has none. */
static bool conv_windows(xir_node *at, size_t padding_input, windows *w) {
    xir_ints list;
    const size_t first = rows_of(at);
    const char *dilation = xir_node_attr(at, "dilation") ? "dilation" : "dialations";
    for (size_t k = 0; k < 2; k++) w->stride[k] = w->dilation[k] = 1;
    if (tsm_list(at, "stride", 4, 0, &list) && !pair_of(at, "stride", &list, first, 1, w->stride)) return false;
    if (xir_node_failed(at)) return false;
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

/* The convolution of x, in the order of the format, with a kernel [out, in, rows, columns], or, transposed, [in, out,
 * rows, columns]. */
static xir_value *convolved(xir_node *at, xir_value *x, xir_value *kernel, windows *w, conv_kind kind, int64_t groups) {
    static const int64_t order[] = { 2, 3, 1, 0 }, as_it_is[] = { 0, 1, 2, 3 };
    const bool last = rows_of(at) == 1;
    window_sets s = { .n = 0 };
    if (kind != TRANSPOSED) x = with_borders(at, x, w);
    if (xir_node_failed(at) || !x || !kernel) return NULL;
    window_set_all(&s, w, false, true);
    window_set(&s, "groups", groups);
    kernel = xir_node_transposed(at, kernel, order, 4, kind == TRANSPOSED ? "HWOI" : "HWIO");
    x = last ? xir_node_transposed(at, x, as_it_is, 4, "NHWC") : xir_node_channels_last(at, x);
    xir_value *y = xir_node_make(at, kind == TRANSPOSED ? "ConvTranspose2d" : "Conv2d", INS(x, kernel, NULL),
                                 (xir_sets){ s.data, s.n });
    return last ? y : xir_node_channels_second(at, y);
}

/* Whether x has the channels that the kernel needs, in its dim `of`. */
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
    const conv_kind kind = kind_of(at);
    const size_t last = at->n_in - 1;
    windows w = { .n = 2 };
    xir_value *x = xir_node_input(at, 0), *kernel = xir_node_input(at, last);
    if (!format_of(at, x) || !tsm_has_rank(at, last, kernel, 4)) return false;
    if (xir_node_bool(at, "kernel_packed", false)) return xir_node_unsupported(at, "a kernel in packed order");
    if (!xir_node_same_elements(at, 0, x, last, kernel)) return false;
    if (!channels_fit(at, x, kernel, last, kind == TRANSPOSED ? 0 : 1)) return false;
    for (size_t k = 0; k < 2; k++) w.size[k] = v_dim(kernel, k + 2);
    if (!conv_windows(at, last == 2 ? 1 : 0, &w)) return false;
    if (kind == TRANSPOSED && xir_node_attr(at, "output_shape")) return xir_node_unsupported(at, "output_shape");
    if (kind == TRANSPOSED && xir_node_real(at, "padding_value", 0) != 0)
        return xir_node_unsupported(at, "padding of another value than 0");
    if (kind != DEPTHWISE) return xir_node_result(at, 0, convolved(at, x, kernel, &w, kind, 1));
    if (v_dim(kernel, 0) != 1)
        return xir_node_invalid(at, XIR_E_INVALID, "input/1", "the kernel: expected a first dim of 1, found %lld",
                                (long long)v_dim(kernel, 0));
    if (!xir_node_need_dims(at, kernel, 1, 2)) return false;
    kernel = xir_node_transposed(at, kernel, (const int64_t[]){ 1, 0, 2, 3 }, 4, NULL);
    return xir_node_result(at, 0, convolved(at, x, kernel, &w, kind, kernel ? v_dim(kernel, 0) : 1));
}

/* Products of 8-bit integers, times a number for each channel of the result. */
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
    const xir_type *wide = xir_type_sint(xir_node_context(at), 32), *real = xir_type_float(xir_node_context(at),
                                                                                           XIR_FLOAT_FP32);
    xir_value *y = convolved(at, xir_node_cast(at, x, wide), xir_node_cast(at, kernel, wide), &w, PLAIN, 1);
    y = y ? xir_node_cast(at, y, real) : NULL;
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
    return xir_node_result(at, 0, convolved(at, x, kernel, &w, PLAIN, 1));
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
    if (rows > TSM_MOST_DIM || columns > TSM_MOST_DIM / 64) return xir_node_unsupported(at, "very large dims");
    double g[24];
    for (size_t i = 0; i < n; i++)   /* transposed: 3 rows of n */
        for (size_t j = 0; j < 3; j++) g[j * n + i] = (small ? f23 : f63)[3 * i + j];
    xir_value *u = make_mixed(at, make_mixed(at, w, 2, g, n), 3, g, n);
    u = xir_node_transposed(at, u, (int64_t[]){ 2, 3, 0, 1 }, 4, NULL);
    u = make_shaped(at, u, (int64_t[]){ side * side, rows, columns }, 3);
    u = packed_rows(at, u, side * side, rows, columns);
    return xir_node_result(at, 0, make_shaped(at, u, (int64_t[]){ rows, columns, side, side }, 4));
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
    window_sets s = { .n = 0 };
    if (!xir_node_need_dims(at, x, 2, 4)) return false;
    for (size_t k = 0; k < 2; k++) w->input[k] = v_dim(x, k + 2), w->dilation[k] = 1;
    if (!round_up(at, w, extra)) return false;
    xir_ints pairs = xir_node_make_ints(at, 8, 0);   /* cells that are cut off */
    for (size_t k = 0; k < 2 && pairs.v; k++) {
        w->after[k] += extra[k];
        if (w->before[k] < 0) pairs.v[4 + 2 * k] = w->before[k], w->before[k] = 0;
        if (w->after[k] < 0) pairs.v[5 + 2 * k] = w->after[k], w->after[k] = 0;
    }
    x = xir_node_channels_last(at, tsm_padded(at, x, &pairs, 0));
    window_set_all(&s, w, true, false);
    if (type == AVERAGE) window_set(&s, "count_include_pad", padding_type == WHITE);
    xir_value *y = xir_node_make(at, type == AVERAGE ? "AvgPool2d" : "MaxPool2d", INS(x), (xir_sets){ s.data, s.n });
    return xir_node_result(at, 0, xir_node_channels_second(at, y));
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
    windows w = { .n = 2, .stride = { 1, 1 } };
    int64_t type, padding_type;
    xir_value *x = xir_node_input(at, 0);
    if (!pool_types(at, x, &type, &padding_type) || !xir_node_need_dims(at, x, 2, 4)) return false;
    for (size_t k = 0; k < 2; k++) {
        w.size[k] = v_dim(x, k + 2);
        if (!w.size[k]) return xir_node_unsupported(at, "an image without cells");
    }
    return pooled(at, x, &w, type, BLACK);
}
