/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Op types with spatial windows: convolutions and pools. XIR's ops have the channels last, so each is made between two
 * transposes; constant kernels are permuted at once. */
#include <stdio.h>
#include "formula/parts.h"
#include "onnx/rows.h"
#include "spec/windows.h"

/* ---- windows ---------------------------------------------------------------------------------------------------- */

static const int64_t MOST_DIM = INT64_C(1) << 40;

/* Reads a list of `n` items of at least `least`. False if it is missing, or after a finding. */
static bool window_items(xir_node *at, const char *name, size_t n, int64_t least, xir_ints *out) {
    char where[48];
    size_t i = 0;
    if (!xir_node_items(at, name, out)) return false;
    while (out->n == n && i < n && out->v[i] >= least && out->v[i] <= WINDOW_MOST) i++;
    if (out->n == n && i == n) return true;
    snprintf(where, sizeof where, "attribute/%s", name);
    if (out->n != n) {
        return xir_node_invalid(at, XIR_E_BOUNDS, where, "%s: expected %zu items, found %zu", name, n, out->n);
    }
    const bool more = out->v[i] > WINDOW_MOST;
    return xir_node_invalid(at, XIR_E_BOUNDS, where, "%s[%zu]: expected at %s %lld, found %lld", name, i,
                            more ? "most" : "least", more ? (long long)WINDOW_MOST : (long long)least,
                            (long long)out->v[i]);
}

/* The standard forbids auto_pad with pads. Pads of 0 say nothing, and exporters write them. */
static void no_pads(const xir_node *at, const xir_ints *pads) {
    xir_str word = xir_node_text(at, "auto_pad", "");
    for (size_t k = 0; k < pads->n; k++) {
        if (!pads->v[k]) continue;
        node_contradicts(at, XIR_E_INVALID, "attribute/pads",
                         "pads[%zu]: expected 0 or no pads with the auto_pad %.*s, "
                         "found %lld", k, (int)word.size, word.data, (long long)pads->v[k]);
        return;
    }
}

bool onnx_windows(xir_node *at, const xir_value *x, const xir_value *kernel, windows *w) {
    xir_ints list;
    if (xir_node_failed(at) || !xir_node_one_of(at, "auto_pad", "NOTSET", "NOTSET|SAME_UPPER|SAME_LOWER|VALID"))
        return false;
    size_t rank = v_rank(x);
    if (rank < 3) return xir_node_invalid(at, XIR_E_BOUNDS, "input/0",
                                          "expected at least 3 dims, batch, channels and rows, found %zu", rank);
    if (kernel && v_rank(kernel) != rank) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/1",
                                "the kernel: expected %zu dims, like input 0, found %zu", rank, v_rank(kernel));
    }
    if (rank > 5) return xir_node_unsupported(at, "%zu dims", rank);
    *w = (windows){ .n = rank - 2 };
    for (size_t k = 0; k < w->n; k++) {
        w->input[k] = v_dim(x, 2 + k);
        w->size[k] = kernel ? v_dim(kernel, 2 + k) : 1;
        w->stride[k] = w->dilation[k] = 1;
        w->before[k] = w->after[k] = 0;
        if (!node_at_most(at, w->input[k], MOST_DIM, "dim %zu of input 0", 2 + k) ||
            !node_at_most(at, w->size[k], WINDOW_MOST, "dim %zu of the kernel", 2 + k)) return false;
    }
    if (window_items(at, "kernel_shape", w->n, 1, &list)) {
        for (size_t k = 0; k < w->n; k++) {
            if (kernel && w->size[k] >= 0 && w->size[k] != list.v[k]) {
                return xir_node_invalid(at, XIR_E_INVALID, "attribute/kernel_shape",
                                        "kernel_shape[%zu]: expected %lld, like the kernel, found %lld", k,
                                        (long long)w->size[k], (long long)list.v[k]);
            }
            w->size[k] = list.v[k];
        }
    }
    if (window_items(at, "strides", w->n, 1, &list))   memcpy(w->stride, list.v, w->n * sizeof *list.v);
    if (window_items(at, "dilations", w->n, 1, &list)) memcpy(w->dilation, list.v, w->n * sizeof *list.v);
    if (window_items(at, "pads", 2 * w->n, 0, &list)) {
        bool automatic = !xir_node_is(at, "auto_pad", "NOTSET") && xir_node_attr(at, "auto_pad");
        for (size_t k = 0; k < w->n && !automatic; k++) w->before[k] = list.v[k], w->after[k] = list.v[w->n + k];
        if (automatic) no_pads(at, &list);
    }
    return !xir_node_failed(at);
}

/* A window of a pool that lies in the padding has no elements, and runtimes refuse the node. */
static void pads_below_windows(xir_node *at, const windows *w) {
    for (size_t k = 0; k < 2 * w->n; k++) {
        const size_t axis = k % w->n;
        const int64_t pad = k < w->n ? w->before[axis] : w->after[axis];
        const int64_t window = w->dilation[axis] * (w->size[axis] - 1) + 1;
        if (pad < window) continue;
        node_contradicts(at, XIR_E_BOUNDS, "attribute/pads",
                         "pads[%zu]: expected less than the kernel's %lld elements, "
                         "found %lld", k, (long long)window, (long long)pad);
        return;
    }
}

/* Padding by auto_pad: the output has the input's size divided by the stride, rounded up. */
static bool pad_same(xir_node *at, const xir_value *x, windows *w) {
    bool lower = xir_node_is(at, "auto_pad", "SAME_LOWER");
    if (!lower && !xir_node_is(at, "auto_pad", "SAME_UPPER")) return true;
    if (!xir_node_need_dims(at, x, 2, SIZE_MAX)) return false;
    for (size_t k = 0; k < w->n; k++) {
        int64_t places = (w->input[k] + w->stride[k] - 1) / w->stride[k];
        int64_t total = (places - 1) * w->stride[k] + w->dilation[k] * (w->size[k] - 1) + 1 - w->input[k];
        if (total < 0) total = 0;
        w->before[k] = lower ? total - total / 2 : total / 2;
        w->after[k] = total - w->before[k];
    }
    return true;
}

static bool pad_ceil(xir_node *at, const xir_value *x, windows *w) {
    if (!xir_node_int(at, "ceil_mode", 0)) return true;
    if (!xir_node_need_dims(at, x, 2, SIZE_MAX)) return false;
    (void)windows_round_up(w);
    return true;
}

/* ---- convolutions ----------------------------------------------------------------------------------------------- */

/* Checks that the channels of input, kernel and bias agree. `in` and `out` are the kernel's channel dims, which the
 * groups divide. */
static bool channels_fit(xir_node *at, const xir_value *x, const xir_value *kernel, const xir_value *bias,
                         bool transposed) {
    int64_t groups = xir_node_int(at, "group", 1), channels = v_dim(x, 1);
    int64_t in = v_dim(kernel, transposed ? 0 : 1), out = v_dim(kernel, transposed ? 1 : 0), all;
    if (!xir_node_same_elements(at, 0, x, 1, kernel) || (bias && !xir_node_same_elements(at, 0, x, 2, bias)))
        return false;
    if (groups < 1 || groups > WINDOW_MOST) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/group", "group: expected at least 1, found %lld",
                                (long long)groups);
    }
    if (!transposed && in >= 0 && !node_at_most(at, in, INT64_MAX / groups, "dim 1 of the kernel")) return false;
    if (!transposed && in >= 0) in *= groups;
    if (channels >= 0 && in >= 0 && channels != in) {
        return xir_node_invalid(at, XIR_E_INVALID, "input/1",
                                "input 0: expected %lld channels, like the kernel with %lld group%s, found %lld",
                                    (long long)in,
                                (long long)groups, groups == 1 ? "" : "s", (long long)channels);
    }
    if ((transposed ? in : out) >= 0 && (transposed ? in : out) % groups) {
        return xir_node_invalid(at, XIR_E_INVALID, "attribute/group",
                                "group: expected a divisor of the kernel's %lld channels, found %lld",
                                (long long)(transposed ? in : out), (long long)groups);
    }
    all = transposed && out >= 0 ? out * groups : out;
    if (bias && (v_rank(bias) != 1 || (v_dim(bias, 0) >= 0 && all >= 0 && v_dim(bias, 0) != all))) {
        return xir_node_invalid(at, XIR_E_INVALID, "input/2",
                                "the bias: expected 1 dim of %lld elements, one for each channel, found %zu of %lld",
                                (long long)all, v_rank(bias), (long long)(v_rank(bias) ? v_dim(bias, 0) : 1));
    }
    return true;
}

xir_value *make_conv(xir_node *at, xir_value *x, xir_value *kernel, xir_value *bias) {
    windows w;
    if (!onnx_windows(at, x, kernel, &w) || !channels_fit(at, x, kernel, bias, false) || !pad_same(at, x, &w) ||
        !node_windows_fit(at, &w)) return NULL;
    w.groups = xir_node_int(at, "group", 1);
    return op_of_convolution_second(at, x, kernel, bias, &w);
}

bool onnx_conv(xir_node *at) {
    return xir_node_result(at, 0,
                           make_conv(at, xir_node_input(at, 0), xir_node_input(at, 1), xir_node_optional_input(at, 2)));
}

/* The padding at the end of the output follows from output_padding, or from output_shape and the padding. */
bool onnx_conv_transpose(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *kernel = xir_node_input(at, 1), *bias = xir_node_optional_input(at, 2);
    windows w;
    xir_ints list;
    if (!onnx_windows(at, x, kernel, &w) || !channels_fit(at, x, kernel, bias, true)) return false;
    if (window_items(at, "output_padding", w.n, 0, &list)) memcpy(w.more, list.v, w.n * sizeof *w.more);
    bool upper = xir_node_is(at, "auto_pad", "SAME_UPPER"), same = upper || xir_node_is(at, "auto_pad", "SAME_LOWER");
    bool shaped = xir_node_items(at, "output_shape", &list);
    if (shaped && list.n != w.n && list.n != w.n + 2) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/output_shape",
                                "output_shape: expected %zu items, found %zu", w.n, list.n);
    }
    if ((shaped || same) && !xir_node_need_dims(at, x, 2, SIZE_MAX)) return false;
    for (size_t k = 0; (shaped || same) && k < w.n; k++) {
        int64_t out = shaped ? list.v[list.n - w.n + k] : w.input[k] * w.stride[k];
        if (out < 1 || out > MOST_DIM) {
            return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/output_shape",
                                    "output_shape[%zu]: expected at least 1, found %lld", k, (long long)out);
        }
        int64_t total = w.stride[k] * (w.input[k] - 1) + w.more[k] + (w.size[k] - 1) * w.dilation[k] + 1 - out;
        if (total < 0) w.more[k] -= total, total = 0;
        w.before[k] = upper ? total / 2 : total - total / 2;
        w.after[k] = total - w.before[k];
    }
    w.groups = xir_node_int(at, "group", 1), w.transposed = true;
    return xir_node_result(at, 0, op_of_convolution_second(at, x, kernel, bias, &w));
}

/* ---- pools ------------------------------------------------------------------------------------------------------ */

/* The sum of the elements in each window, where padding counts 0: a convolution with ones, channel by channel. */
static xir_value *window_sums(xir_node *at, xir_value *x, const windows *w) {
    windows each = *w;
    xir_ints dims = node_line(at, w->n + 2, w->n + 1, v_dim(x, 1));
    if (!xir_node_need_dims(at, x, 1, 2) || !dims.v) return NULL;
    for (size_t k = 0; k < w->n; k++) dims.v[k] = w->size[k];
    each.groups = v_dim(x, 1);
    if (!node_elements_at_most(at, &dims, MOST_LISTED, "a kernel of ones")) return NULL;
    xir_value *map = xir_node_channels_last(at, x), *ones = xir_node_filled(at, v_element(x), &dims, 1);
    return xir_node_channels_second(at, op_of_convolution(at, map, ones, NULL, &each));
}

/* The least number of steps, from 0 on, that reach a distance. */
static int64_t steps_to(int64_t distance, int64_t step) {
    return distance <= 0 ? 0 : distance / step + (distance % step != 0);
}

/* Returns the number of elements of each window that count, in dims that broadcast with its sums: those of the input,
 * or, with `padded`, those of the padding too, but not cells after it, which only rounding up adds. */
static xir_value *window_counts(xir_node *at, const xir_value *x, const windows *w, const windows *plain, bool padded) {
    xir_ints dims = xir_node_make_ints(at, w->n, 1);
    if (!xir_node_need_dims(at, x, 2, SIZE_MAX) || !dims.v) return NULL;
    for (size_t k = 0; k < w->n; k++) dims.v[k] = window_room(w, k) / w->stride[k] + 1;
    if (!node_elements_at_most(at, &dims, MOST_LISTED, "the output without channels")) return NULL;
    const int64_t n = product_of(&dims, 0, w->n);
    double *counts = node_take(at, ((size_t)n + 1) * sizeof *counts);
    if (!counts) return node_no_memory(at), NULL;
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i;
        counts[i] = 1;
        for (size_t k = w->n; k-- > 0; rest /= dims.v[k]) {
            const int64_t from = rest % dims.v[k] * w->stride[k] - w->before[k];
            const int64_t least = padded ? -w->before[k] : 0, most = w->input[k] + (padded ? plain->after[k] : 0);
            const int64_t first = steps_to(least - from, w->dilation[k]), past = steps_to(most - from, w->dilation[k]);
            const int64_t end = past < w->size[k] ? past : w->size[k];
            counts[i] *= end > first ? (double)(end - first) : 0;
        }
    }
    return xir_node_constant(at, v_element(x), &dims, counts, (size_t)n);
}

static bool is_dilated(const windows *w) {
    for (size_t k = 0; k < w->n; k++) if (w->dilation[k] != 1) return true;
    return false;
}

/* The windows of a pool, and as they are without what rounding up adds. */
static bool pool_windows(xir_node *at, const xir_value *x, windows *w, windows *plain) {
    if (!onnx_windows(at, x, NULL, w)) return false;
    pads_below_windows(at, w);
    if (!pad_same(at, x, w)) return false;
    *plain = *w;
    return pad_ceil(at, x, w) && node_windows_fit(at, w);
}

bool onnx_max_pool(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    windows w, plain;
    if (!pool_windows(at, x, &w, &plain)) return false;
    if (node_wants(at, 1) && !xir_node_result(at, 1, onnx_places_of_maxima(at, x, &w))) return false;
    w.max = true;
    return xir_node_result(at, 0, op_of_pool_second(at, x, &w));
}

/* Dilated windows, and averages that count some padding but not that of ceil_mode, are sums with their own counts. */
xir_value *onnx_average(xir_node *at, xir_value *x) {
    windows w, plain;
    if (!pool_windows(at, x, &w, &plain)) return NULL;
    w.counts = xir_node_int(at, "count_include_pad", 0);
    const bool uneven = w.counts && memcmp(w.after, plain.after, w.n * sizeof *w.after) != 0;
    if (!uneven && !is_dilated(&w)) return op_of_pool_second(at, x, &w);
    return xir_node_quotient(at, window_sums(at, x, &w), window_counts(at, x, &w, &plain, w.counts));
}

bool onnx_ranked(xir_node *at, size_t i, const xir_value *v, size_t least, size_t most) {
    const input_place here = place_of_input(i);
    const size_t rank = v_rank(v);
    char upper[32] = "";
    if (xir_node_failed(at) || (rank >= least && rank <= most)) return !xir_node_failed(at);
    if (most != least && most != SIZE_MAX)
        snprintf(upper, sizeof upper, " %s %zu", most == least + 1 ? "or" : "to", most);
    return xir_node_invalid(at, XIR_E_BOUNDS, here.text, "expected %s%zu%s dims, found %zu",
                            most == SIZE_MAX ? "at least " : "", least, upper, rank);
}

xir_value *onnx_channels_second(xir_node *at, xir_value *x) {
    return onnx_ranked(at, 0, x, 3, 5) ? xir_node_channels_second(at, x) : NULL;
}

/* MaxPool of an image whose channels are the last dim. */
bool onnx_ms_nhwc_max_pool(xir_node *at) {
    xir_value *x = onnx_channels_second(at, xir_node_input(at, 0));
    windows w, plain;
    if (!x || !pool_windows(at, x, &w, &plain)) return false;
    w.max = true;
    return xir_node_result(at, 0, xir_node_channels_last(at, op_of_pool_second(at, x, &w)));
}

bool onnx_average_pool(xir_node *at) { return xir_node_result(at, 0, onnx_average(at, xir_node_input(at, 0))); }

static bool read_p(xir_node *at, double *p) {
    *p = xir_node_real(at, "p", 2);
    if (*p > 64) return xir_node_unsupported(at, "a p of %g, whose powers are very large or small", *p);
    if (*p >= 1) return !xir_node_failed(at);
    return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/p", "p: expected at least 1, found %g", *p);
}

bool onnx_lp_pool(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    windows w, plain;
    double p;
    if (!read_p(at, &p) || !pool_windows(at, x, &w, &plain)) return false;
    return xir_node_result(at, 0, make_root(at, window_sums(at, make_powers(at, x, p), &w), p));
}

static bool global_pool(xir_node *at, const char *cls) {
    xir_value *x = xir_node_input(at, 0);
    if (!onnx_ranked(at, 0, x, 3, SIZE_MAX)) return false;
    const xir_ints axes = xir_node_series(at, 2, v_rank(x) - 2);
    return xir_node_result(at, 0, xir_node_reduced(at, cls, x, &axes, true));
}
bool onnx_global_average_pool(xir_node *at) { return global_pool(at, "Mean"); }
bool onnx_global_max_pool(xir_node *at)     { return global_pool(at, "Max"); }

bool onnx_global_lp_pool(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    double p;
    if (xir_node_failed(at) || !read_p(at, &p)) return false;
    if (!onnx_ranked(at, 0, x, 3, SIZE_MAX)) return false;
    const xir_ints axes = xir_node_series(at, 2, v_rank(x) - 2);
    return xir_node_result(at, 0, make_root(at, xir_node_reduced(at, "Sum", make_powers(at, x, p), &axes, true), p));
}
