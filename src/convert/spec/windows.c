/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Windows of foreign convolutions and pools: see windows.h. */
#include "spec/windows.h"
#include "spec/borders.h"
#include "window_attrs.h"

const axis_words *axis_words_of(size_t n, size_t k) {
    static const axis_words words[3] = {   /* counted from the last axis */
        { "pool_width",  "stride_width",  "dilation_width",  "pad_left",  "pad_right",  "output_pad_width"  },
        { "pool_height", "stride_height", "dilation_height", "pad_top",   "pad_bottom", "output_pad_height" },
        { "pool_depth",  "stride_depth",  "dilation_depth",  "pad_front", "pad_back",   "output_pad_depth"  },
    };
    return &words[n - 1 - k];
}

bool node_windows_fit(xir_node *at, const windows *w) {
    for (size_t k = 0; k < w->n; k++) {
        int64_t room = w->input[k] + w->before[k] + w->after[k], window = w->dilation[k] * (w->size[k] - 1) + 1;
        if (w->input[k] < 0 || w->size[k] < 0 || room >= window) continue;
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/0",
                                "dim %zu: expected at least %lld elements, like the kernel, found %lld and %lld of padding",
                                2 + k, (long long)window, (long long)w->input[k],
                                (long long)(w->before[k] + w->after[k]));
    }
    return true;
}

bool windows_round_up(windows *w) {
    bool any = false;
    for (size_t k = 0; k < w->n; k++) {
        const int64_t room = window_room(w, k), stride = w->stride[k];
        const int64_t next = room < 0 ? 0 : (room / stride + 1) * stride, missing = next - room;
        /* a window that would begin in the padding at the end does not count */
        if (missing >= stride || next >= w->input[k] + w->before[k]) continue;
        w->after[k] += missing;
        any = true;
    }
    return any;
}

/* ---- from XIR's op ---------------------------------------------------------------------------------------------- */

static bool is_large(int64_t v) { return v > WINDOW_MOST || v < -WINDOW_MOST; }

/* An unknown size of a kernel is -1. */
static bool read_axis(xir_node *at, const steps *from, const xir_value *kernel, windows *w, size_t k) {
    const axis_words *words = axis_words_of(w->n, k);
    const struct { int64_t *to, v; const char *name; } numbers[] = {
        { w->size, from->size, words->pool }, { w->stride, from->stride, words->stride },
        { w->dilation, from->dilation, words->dilation }, { w->before, from->before, words->before },
        { w->after, from->after, words->after }, { w->more, from->extra, words->more },
    };
    for (size_t i = 0; i < COUNT(numbers); i++) {
        numbers[i].to[k] = numbers[i].v;
        if (is_large(numbers[i].v)) return xir_node_unsupported(at, "%s does not fit into 32 bits", numbers[i].name);
    }
    if (kernel) w->size[k] = v_dim(kernel, v_rank(kernel) - w->n + k);
    return !is_large(w->size[k]) || xir_node_unsupported(at, "a kernel that does not fit into 32 bits");
}

/* Pads after the end as much as before the begin if the windows remain the same: many formats have one number. */
static void make_even(const xir_op *op, windows *w, size_t k) {
    const xir_value *kernel = xir_op_input(op, 1);
    int64_t size = w->size[k];
    if (!size && kernel) size = xir_type_axis_dim(kernel->type, "DHW"[3 - w->n + k], false);
    if (!size && kernel) size = xir_type_axis_dim(kernel->type, 'L', false);
    /* An op that is not valid, and an unknown or very large kernel, are left as they are. */
    if (w->input[k] < 0 || size < 1 || is_large(size) || w->before[k] < 0 || w->stride[k] < 1) return;
    const int64_t room = w->input[k] + w->before[k] + w->after[k] - w->dilation[k] * (size - 1) - 1;
    const int64_t even = room - w->after[k] + w->before[k];
    if (room < 0 || even < 0) return;
    if (room / w->stride[k] == even / w->stride[k]) w->after[k] = w->before[k];
}

bool windows_of_op(xir_node *at, const xir_value *x, size_t first, const xir_value *kernel, windows *w) {
    if (xir_node_failed(at) || !x) return false;
    const window_attrs a = window_attrs_of(at->op->cls->decl, at->op->attrs);
    if (!a.n || v_rank(x) != a.n + 2) return xir_node_unsupported(at, "a map of %zu dims", v_rank(x));
    *w = (windows){ .n = a.n, .groups = a.groups, .mode = a.mode, .transposed = a.transposed, .max = a.max,
                    .counts = a.padding_counts, .divisor = a.divisor };
    if (kernel && v_rank(kernel) < w->n) return xir_node_unsupported(at, "a kernel of %zu dims", v_rank(kernel));
    for (size_t k = 0; k < w->n; k++) {
        w->input[k] = v_dim(x, first + k);
        if (is_large(w->input[k])) return xir_node_unsupported(at, "a dim that does not fit into 32 bits");
        if (!read_axis(at, &a.along[k], kernel, w, k)) return false;
        if (!w->transposed) make_even(at->op, w, k);
    }
    return true;
}

xir_ints window_pads(xir_node *at, const windows *w) {
    xir_ints pads = xir_node_make_ints(at, 2 * w->n, 0);
    for (size_t k = 0; k < w->n && pads.v; k++) pads.v[k] = w->before[k], pads.v[w->n + k] = w->after[k];
    return pads;
}

bool window_has_pads(const windows *w) {
    bool has = false;
    for (size_t k = 0; k < w->n; k++) has |= w->before[k] || w->after[k];
    return has;
}

bool window_cuts(const windows *w) {
    bool cuts = false;
    for (size_t k = 0; k < w->n; k++) cuts |= w->before[k] < 0 || w->after[k] < 0;
    return cuts;
}

bool window_is_even(const windows *w) {
    bool even = !window_cuts(w);
    for (size_t k = 0; k < w->n; k++) even &= w->before[k] == w->after[k];
    return even;
}

xir_value *window_padded(xir_node *at, xir_value *x, windows *w, xir_pad_mode mode, double value) {
    const size_t rank = v_rank(x);
    xir_ints all = xir_node_make_ints(at, 2 * rank, 0);
    if (!all.v) return NULL;
    for (size_t k = 0; k < w->n; k++) {
        all.v[2 * (k + 2)] = w->before[k], all.v[2 * (k + 2) + 1] = w->after[k];
        if (w->input[k] >= 0) w->input[k] += w->before[k] + w->after[k];
        w->before[k] = w->after[k] = 0;
    }
    return op_of_borders(at, x, &(borders){ .cells = all, .mode = mode, .filled = mode == XIR_PAD_CONSTANT,
                                            .value = value });
}

bool window_of_map(xir_node *at, const xir_value *x, windows *w) {
    *w = (windows){ .n = v_rank(x) - 2, .stride = { 1, 1, 1 }, .dilation = { 1, 1, 1 } };
    for (size_t k = 0; k < w->n; k++) {
        w->size[k] = w->input[k] = v_dim(x, 2 + k);
        if (w->size[k] < 1) return xir_node_unsupported(at, w->size[k] ? "dim %zu is unknown" : "dim %zu is 0", 2 + k);
    }
    return !xir_node_failed(at);
}

/* ---- to XIR's op ------------------------------------------------------------------------------------------------ */

void window_set(window_sets *s, const char *name, int64_t v) { s->data[s->n++] = (xir_set)INT(name, v); }

/* The attributes that pools and convolutions have along an axis; `dilated`: the class has dilations. */
static void set_steps(window_sets *s, const windows *w, size_t k, bool dilated) {
    const axis_words *words = axis_words_of(w->n, k);
    window_set(s, words->stride, w->stride[k]);
    if (dilated) window_set(s, words->dilation, w->dilation[k]);
    window_set(s, words->before, w->before[k]);
    window_set(s, words->after, w->after[k]);
}

xir_value *op_of_pool(xir_node *at, xir_value *x, const windows *w) {
    static const char *const classes[2][3] = { { "AvgPool1d", "AvgPool2d", "AvgPool3d" },
                                               { "MaxPool1d", "MaxPool2d", "MaxPool3d" } };
    window_sets s = { .n = 0 };
    for (size_t k = 0; k < w->n; k++) {
        window_set(&s, axis_words_of(w->n, k)->pool, w->size[k]);
        set_steps(&s, w, k, w->max);
    }
    if (!w->max) window_set(&s, "count_include_pad", w->counts);
    if (!w->max) window_set(&s, "divisor_override", w->divisor);
    return xir_node_make(at, classes[w->max][w->n - 1], INS(x), (xir_sets){ s.data, s.n });
}

xir_value *op_of_pool_second(xir_node *at, xir_value *x, const windows *w) {
    return xir_node_channels_second(at, op_of_pool(at, xir_node_channels_last(at, x), w));
}

xir_value *op_of_convolution(xir_node *at, xir_value *x, xir_value *kernel, xir_value *bias, const windows *w) {
    static const char *const classes[2][3] = { { "Conv1d", "Conv2d", "Conv3d" },
                                               { "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d" } };
    window_sets s = { .n = 0 };
    for (size_t k = 0; k < w->n; k++) {
        set_steps(&s, w, k, true);
        if (w->transposed) window_set(&s, axis_words_of(w->n, k)->more, w->more[k]);
    }
    window_set(&s, "groups", w->groups);
    return xir_node_make(at, classes[w->transposed][w->n - 1], INS(x, kernel, bias), (xir_sets){ s.data, s.n });
}

xir_value *op_of_convolution_second(xir_node *at, xir_value *x, xir_value *kernel, xir_value *bias, const windows *w) {
    x = xir_node_channels_last(at, x), kernel = window_kernel(at, kernel, w->transposed);
    return xir_node_channels_second(at, op_of_convolution(at, x, kernel, bias, w));
}

xir_value *window_kernel(xir_node *at, xir_value *kernel, bool transposed) {
    static const int64_t orders[3][5] = { { 2, 1, 0 }, { 2, 3, 1, 0 }, { 2, 3, 4, 1, 0 } };
    const size_t rank = kernel ? v_rank(kernel) : 3, n = rank - 2;
    const char *letters = transposed ? BY_RANK(n, "LOI", "HWOI", "DHWOI") : BY_RANK(n, "LIO", "HWIO", "DHWIO");
    return xir_node_transposed(at, kernel, orders[n - 1], rank, letters);
}
