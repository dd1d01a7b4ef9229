/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Convolutions and pools. XIR's ops have the channels last, so each is made between two transposes; constant kernels
 * are permuted at once. */
#include <stdio.h>
#include "pnnx/pnnx.h"
#include "formula/sampled.h"
#include "spec/borders.h"

/* ---- convolutions ----------------------------------------------------------------------------------------------- */

/* padding=same puts the odd cell after; valid is 0. */
static bool word_pads(xir_node *at, const xir_value *kernel, xir_set *sets, size_t *n) {
    const bool same = xir_node_is(at, "padding", "same");
    xir_ints dilation;
    if (!same && !xir_node_is(at, "padding", "valid")) return xir_node_unsupported(at, "this padding");
    const size_t spatial = v_rank(kernel) - 2;
    if (!pnnx_list(at, "dilation", spatial, &dilation)) dilation = xir_node_make_ints(at, spatial, 1);
    if (!xir_node_need_dims(at, kernel, 2, SIZE_MAX)) return false;
    for (size_t k = 0; k < spatial; k++) {
        const axis_words *words = axis_words_of(spatial, k);
        const int64_t size = v_dim(kernel, 2 + k), step = dilation.v[k];
        if (size > WINDOW_MOST || step < 1 || step > WINDOW_MOST)
            return xir_node_unsupported(at, "a kernel or dilation above 2^31 - 1");
        const int64_t total = same ? step * (size - 1) : 0;
        sets[(*n)++] = (xir_set)INT(words->before, total / 2);
        sets[(*n)++] = (xir_set)INT(words->after, total - total / 2);
    }
    return true;
}

/* Images of n spatial axes, with channels and perhaps a batch. */
static bool are_images(xir_node *at, const xir_value *x, size_t n) {
    if (!x || v_rank(x) == n + 2 || v_rank(x) == n + 1) return x;
    return xir_node_invalid(at, XIR_E_INVALID, "input/0", "expected %zu or %zu dims, found %zu", n + 2, n + 1,
                            v_rank(x));
}

static bool has_items(xir_node *at, const char *name, size_t n) {
    const xir_any *a = xir_node_attr(at, name);
    xir_ints list;
    return !a || a->kind == XIR_ANY_TEXT || pnnx_list(at, name, n, &list) || !xir_node_failed(at);
}

static bool convolution(xir_node *at) {
    xir_set sets[8];
    size_t n = 0;
    static const char *const lists[] = { "stride", "dilation", "padding", "output_padding" };
    xir_value *x = xir_node_input(at, 0), *kernel = xir_node_input(at, 1);
    const size_t rank = at->cls->slots[1].order.size;
    if (v_rank(kernel) != rank) {
        return xir_node_invalid(at, XIR_E_INVALID, "input/1", "the kernel: expected %zu dims, found %zu", rank,
                                v_rank(kernel));
    }
    if (!are_images(at, x, rank - 2)) return false;
    for (size_t i = 0; i < COUNT(lists); i++) if (!has_items(at, lists[i], rank - 2)) return false;
    bool added;
    x = pnnx_with_batch(at, x, rank, 0, &added);
    node_input *in = node_take(at, at->n_in * sizeof *in);
    if (!in) return node_no_memory(at);
    memcpy((void *)in, at->in, at->n_in * sizeof *in);
    in[0].value = x;
    at->in = in;
    const xir_any *padding = xir_node_attr(at, "padding");
    if (padding && padding->kind == XIR_ANY_TEXT && !word_pads(at, kernel, sets, &n)) return false;
    if (xir_node_failed(at) || !row_run_with(at, (xir_sets){ sets, n })) return false;
    return !added || xir_node_result(at, 0, pnnx_without_batch(at, at->given[0], 0, added));
}
bool pnnx_conv(xir_node *at)           { return convolution(at); }
bool pnnx_conv_transpose(xir_node *at) { return convolution(at); }

/* ---- pools ------------------------------------------------------------------------------------------------------ */

static size_t spatial_axes(const xir_node *at) { return (size_t)xir_node_variant(at); }

static bool bounded(xir_node *at, const char *name, const xir_ints *list, int64_t least) {
    char where[48];
    snprintf(where, sizeof where, "attribute/%s", name);
    for (size_t i = 0; i < list->n; i++) {
        if (list->v[i] >= least && list->v[i] <= WINDOW_MOST) continue;
        return xir_node_invalid(at, XIR_E_BOUNDS, where, "%s[%zu]: expected at least %lld, found %lld", name, i,
                                (long long)least, (long long)list->v[i]);
    }
    return true;
}

/* Reads the attributes stride, dilation and padding. */
static bool read_steps(xir_node *at, windows *w) {
    xir_ints list;
    if (pnnx_list(at, "stride", w->n, &list) && bounded(at, "stride", &list, 1))
        for (size_t k = 0; k < w->n; k++) w->stride[k] = list.v[k];
    if (pnnx_list(at, "dilation", w->n, &list) && bounded(at, "dilation", &list, 1))
        for (size_t k = 0; k < w->n; k++) w->dilation[k] = list.v[k];
    if (pnnx_list(at, "padding", w->n, &list) && bounded(at, "padding", &list, 0))
        for (size_t k = 0; k < w->n; k++) w->before[k] = w->after[k] = list.v[k];
    return !xir_node_failed(at);
}

static bool read_windows(xir_node *at, const xir_value *x, windows *w) {
    xir_ints list;
    *w = (windows){ .n = spatial_axes(at) };
    if (!are_images(at, x, w->n)) return false;
    if (v_rank(x) != w->n + 2) return xir_node_unsupported(at, "an image without a batch");
    if (!pnnx_list(at, "kernel_size", w->n, &list)) {
        if (xir_node_failed(at)) return false;
        return xir_node_invalid(at, XIR_E_MISSING, NULL, "the attribute kernel_size is missing");
    }
    if (!bounded(at, "kernel_size", &list, 1)) return false;
    for (size_t k = 0; k < w->n; k++) {
        w->input[k] = v_dim(x, 2 + k);
        w->size[k] = w->stride[k] = list.v[k];
        w->dilation[k] = 1;
    }
    return read_steps(at, w);
}

/* The number of groups of channels with offsets of their own follows from the offsets. */
bool pnnx_deform_conv(xir_node *at) {
    enum { MOST_SIDE = 1 << 10 };
    xir_value *x = xir_node_input(at, 0), *kernel = xir_node_input(at, 1), *offset = xir_node_input(at, 2);
    deformed d = { .windows = { .n = 2 }, .groups = xir_node_int(at, "groups", 1),
                   .of_groups = "attribute/groups", .of_offset_groups = "input/2" };
    windows *w = &d.windows;
    if (!node_has_rank(at, 0, x, 4) || !node_has_rank(at, 1, kernel, 4) || !node_has_rank(at, 2, offset, 4))
        return false;
    if (!xir_node_need_dims(at, x, 1, 4) || !xir_node_need_dims(at, kernel, 2, 4) ||
        !xir_node_need_dims(at, offset, 1, 2)) return false;
    for (size_t k = 0; k < 2; k++) {
        w->input[k] = v_dim(x, 2 + k), w->size[k] = v_dim(kernel, 2 + k);
        w->stride[k] = w->dilation[k] = 1;
        if (w->input[k] > WINDOW_MOST) return xir_node_unsupported(at, "a dim of more than 2^31 - 1");
        if (w->size[k] < 1 || w->size[k] > MOST_SIDE)
            return xir_node_unsupported(at, "a kernel of %lld cells along an axis: expected 1 to %d",
                                        (long long)w->size[k], MOST_SIDE);
    }
    const int64_t numbers = 2 * w->size[0] * w->size[1], found = v_dim(offset, 1);
    d.offset_groups = found / numbers;
    if (found % numbers) {
        return xir_node_invalid(at, XIR_E_INVALID, "input/2", "dim 1 of the offsets: expected a multiple of %lld, two "
                                "numbers for each of the kernel's cells, found %lld", (long long)numbers,
                                (long long)found);
    }
    return read_steps(at, w) && xir_node_result(at, 0, make_deformed(at, &d));
}

/* PyTorch pads at most half a window on each side. */
static bool half_padded(xir_node *at, const windows *w) {
    for (size_t k = 0; k < w->n; k++) {
        const int64_t most = (w->dilation[k] * (w->size[k] - 1) + 1) / 2;
        if (w->before[k] <= most) continue;
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/padding",
                                "padding[%zu]: expected at most %lld, half a window, found %lld", k, (long long)most,
                                (long long)w->before[k]);
    }
    return true;
}

/* For ceil_mode. Sets *beyond if cells after the end are added. */
static bool pad_ceil(xir_node *at, const xir_value *x, windows *w, bool *beyond) {
    *beyond = false;
    if (!xir_node_bool(at, "ceil_mode", false)) return true;
    if (!xir_node_need_dims(at, x, 2, SIZE_MAX)) return false;
    *beyond = windows_round_up(w);
    return true;
}

/* Returns true if the positions of maxima are used. */
static bool gives_places(const xir_node *at) {
    return xir_op_output_count(xir_node_op(at)) > 1 && xir_value_uses(xir_op_output(xir_node_op(at), 1));
}

static bool max_with_places(xir_node *at, xir_value *x, const windows *w) {
    xir_ints places[3];
    int64_t out[3];
    if (!xir_node_need_dims(at, x, 2, SIZE_MAX)) return false;
    for (size_t k = 0; k < w->n; k++) {
        const int64_t room = window_room(w, k);
        out[k] = room / w->stride[k] + 1;
        if (room < 0) return xir_node_unsupported(at, "windows that do not fit");
        if (!node_at_most(at, out[k], 1 << 20, "dim %zu of the output", k + 2) ||
            !node_at_most(at, w->size[k], 1 << 10, "kernel_size[%zu]", k)) return false;
        places[k] = xir_node_make_ints(at, (size_t)(out[k] * w->size[k]), 0);
        for (size_t i = 0; i < places[k].n; i++) {
            places[k].v[i] = (int64_t)i / out[k] * w->dilation[k] + (int64_t)i % out[k] * w->stride[k] - w->before[k];
        }
    }
    return !xir_node_failed(at) && pnnx_max_places(at, x, w->n, places, out);
}

bool pnnx_max_pool(xir_node *at) {
    windows w;
    bool beyond, added;
    xir_value *x = pnnx_with_batch(at, xir_node_input(at, 0), spatial_axes(at) + 2, 0, &added);
    if (!read_windows(at, x, &w) || !half_padded(at, &w) || !pad_ceil(at, x, &w, &beyond)) return false;
    if (gives_places(at)) {
        if (!max_with_places(at, x, &w)) return false;
        for (size_t i = 0; i < 2 && added; i++)
            xir_node_result(at, i, pnnx_without_batch(at, at->given[i], 0, added));
        return !xir_node_failed(at);
    }
    w.max = true;
    return xir_node_result(at, 0, pnnx_without_batch(at, op_of_pool_second(at, x, &w), 0, added));
}

/* The padding as cells of the input. */
static xir_value *padded(xir_node *at, xir_value *x, windows *w, const windows *by) {
    xir_ints pads = xir_node_make_ints(at, 2 * (w->n + 2), 0);
    if (!pads.v) return NULL;
    for (size_t k = 0; k < w->n; k++) {
        pads.v[2 * (k + 2)] = by->before[k], pads.v[2 * (k + 2) + 1] = by->after[k];
        w->before[k] -= by->before[k], w->after[k] -= by->after[k];
    }
    return zeros_around(at, x, &pads);
}

/* Counted padding is part of the input if cells after it do not count. */
static xir_value *averages(xir_node *at, xir_value *x, windows w) {
    const windows plain = w;
    bool beyond, counted = xir_node_bool(at, "count_include_pad", true);
    w.divisor = xir_node_int(at, "divisor_override", 0);
    if (!pad_ceil(at, x, &w, &beyond)) return NULL;
    if (w.divisor) return op_of_pool_second(at, x, &w);
    bool any = false;
    for (size_t k = 0; k < w.n; k++) any |= plain.before[k] > 0;
    if (counted && beyond && any) x = padded(at, x, &w, &plain), counted = false;
    w.counts = counted && !beyond;
    return op_of_pool_second(at, x, &w);
}

bool pnnx_avg_pool(xir_node *at) {
    windows w;
    bool added;
    xir_value *x = pnnx_with_batch(at, xir_node_input(at, 0), spatial_axes(at) + 2, 0, &added);
    if (!read_windows(at, x, &w) || !half_padded(at, &w)) return false;
    return xir_node_result(at, 0, pnnx_without_batch(at, averages(at, x, w), 0, added));
}

/* (sign(a) relu(|a|) k^n)^(1/p) for the average a of x^p. */
bool pnnx_lp_pool(xir_node *at) {
    bool added;
    xir_value *x = pnnx_with_batch(at, xir_node_input(at, 0), spatial_axes(at) + 2, 0, &added);
    windows w;
    const double p = xir_node_real(at, "norm_type", 2);
    if (!read_windows(at, x, &w)) return false;
    double cells = 1;
    for (size_t k = 0; k < w.n; k++) cells *= (double)w.size[k];
    xir_value *power = xir_node_make(at, "Pow", INS(x, xir_node_scalar(at, v_element(x), p)), NO_SETS);
    xir_value *a = averages(at, power, w);
    a = xir_node_product(at, xir_node_unary(at, "Sign", a), xir_node_unary(at, "ReLU", xir_node_unary(at, "Abs", a)));
    xir_value *root = xir_node_scalar(at, v_element(x), 1 / p);
    xir_value *y = xir_node_make(at, "Pow", INS(xir_node_scaled(at, a, cells), root), NO_SETS);
    return xir_node_result(at, 0, pnnx_without_batch(at, y, 0, added));
}

/* ---- adaptive pools --------------------------------------------------------------------------------------------- */

/* Window i of an axis begins at floor(i in / out) and ends at ceil((i + 1) in / out). The axes are separate. */
typedef struct adaptive { int64_t in, out; } adaptive;
static int64_t window_begin(adaptive a, int64_t i) { return i * a.in / a.out; }
static int64_t window_end(adaptive a, int64_t i)   { return ((i + 1) * a.in + a.out - 1) / a.out; }

/* A number of output_size; 0, as None is written too, keeps the dim. */
static bool size_given(xir_node *at, const xir_any *a, int64_t *out) {
    *out = a->kind == XIR_ANY_INT ? a->as.integer : 0;
    const bool text = a->kind == XIR_ANY_TEXT, none = text && xir_str_equal(a->as.text, XIR_STR("None"));
    if (a->kind == XIR_ANY_INT || a->kind == XIR_ANY_NULL || none) return true;
    if (text && pnnx_word_integer(a->as.text, out)) return true;
    return xir_node_invalid(at, XIR_E_TYPE, "attribute/output_size", "output_size: expected integers or None");
}

/* One number for all axes, or one for each. A list with None among numbers is a text. */
static bool read_sizes(xir_node *at, xir_ints *sizes) {
    const xir_any *a = xir_node_attr(at, "output_size");
    size_t n = 0;
    if (xir_node_failed(at)) return false;
    if (!a) return xir_node_invalid(at, XIR_E_MISSING, NULL, "output_size is missing");
    if (a->kind == XIR_ANY_LIST) {
        for (; n < a->as.list.size; n++)
            if (n < sizes->n && !size_given(at, &a->as.list.items[n], &sizes->v[n])) return false;
    } else if (a->kind == XIR_ANY_TEXT && memchr("([", a->as.text.size ? *a->as.text.data : 'x', 2)) {
        xir_str rest = a->as.text, word;
        for (; pnnx_next_word(&rest, &word); n++)
            if (n < sizes->n && !size_given(at, &(xir_any){ .kind = XIR_ANY_TEXT, .as.text = word }, &sizes->v[n]))
                return false;
    } else if (!size_given(at, a, &sizes->v[n++])) {
        return false;
    }
    for (size_t k = 1; n == 1 && k < sizes->n; k++) sizes->v[k] = sizes->v[0];
    if (n == sizes->n || n == 1) return true;
    return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/output_size", "output_size: expected %zu items, found %zu",
                            sizes->n, n);
}

static bool adaptive_sizes(xir_node *at, const xir_value *x, adaptive sizes[3], size_t *n) {
    *n = spatial_axes(at);
    if (v_rank(x) <= *n) return xir_node_unsupported(at, "an input of %zu dims", v_rank(x));
    const size_t first = v_rank(x) - *n;
    bool whole = true;   /* all outputs are 1: the dims may be unknown */
    xir_ints list = xir_node_make_ints(at, *n, 0);
    if (!list.v || !read_sizes(at, &list)) return false;
    for (size_t k = 0; k < *n && list.v; k++) whole = whole && list.v[k] == 1;
    if (xir_node_failed(at) || (!whole && !xir_node_need_dims(at, x, first, SIZE_MAX))) return false;
    for (size_t k = 0; k < *n; k++) {
        sizes[k] = (adaptive){ v_dim(x, first + k), list.v[k] ? list.v[k] : v_dim(x, first + k) };
        if (sizes[k].out < 1 || sizes[k].in > 1 << 20 || sizes[k].out > 1 << 20)
            return xir_node_unsupported(at, "an output of %lld", (long long)sizes[k].out);
    }
    return true;
}

/* The mean or maximum over all spatial axes. */
static bool over_all(xir_node *at, const char *cls, xir_value *x, size_t n) {
    const xir_ints axes = xir_node_series(at, (int64_t)(v_rank(x) - n), n);
    return xir_node_result(at, 0, xir_node_reduced(at, cls, x, &axes, true));
}

static bool all_ones(const adaptive *sizes, size_t n) {
    for (size_t k = 0; k < n; k++) if (sizes[k].out != 1) return false;
    return true;
}

/* Windows of one size that do not overlap are those of an ordinary pool. */
static bool even(const xir_value *x, const adaptive *sizes, size_t n, windows *w) {
    *w = (windows){ .n = n };
    for (size_t k = 0; k < n; k++) {
        if (sizes[k].in % sizes[k].out) return false;
        w->size[k] = w->stride[k] = sizes[k].in / sizes[k].out;
        w->dilation[k] = 1;
    }
    return v_rank(x) == n + 2;
}

xir_value *pnnx_averaged(xir_node *at, xir_value *x, size_t axis, int64_t in, int64_t out) {
    const adaptive s = { in, out };
    if (in == out || xir_node_failed(at)) return x;
    if (in * out > PNNX_MOST_LISTED) return xir_node_unsupported(at, "a constant of more than 2^22 elements"), NULL;
    double *matrix = node_take(at, (size_t)(in * out) * sizeof *matrix);
    if (!matrix) return node_no_memory(at), NULL;
    for (int64_t i = 0; i < in * out; i++) {
        const int64_t begin = window_begin(s, i % out), end = window_end(s, i % out), row = i / out;
        matrix[i] = row >= begin && row < end ? 1.0 / (double)(end - begin) : 0;
    }
    return make_mixed(at, x, axis, matrix, (size_t)out);
}

bool pnnx_adaptive_avg(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    adaptive sizes[3];
    windows w;
    size_t n;
    if (!adaptive_sizes(at, x, sizes, &n)) return false;
    if (all_ones(sizes, n)) return over_all(at, "Mean", x, n);
    if (even(x, sizes, n, &w)) return xir_node_result(at, 0, op_of_pool_second(at, x, &w));
    const size_t first = v_rank(x) - n;
    for (size_t k = 0; k < n && x; k++) x = pnnx_averaged(at, x, first + k, sizes[k].in, sizes[k].out);
    return xir_node_result(at, 0, x);
}

static int64_t longest_window(adaptive s) {
    int64_t longest = 1;
    for (int64_t i = 0; i < s.out; i++)
        if (window_end(s, i) - window_begin(s, i) > longest) longest = window_end(s, i) - window_begin(s, i);
    return longest;
}

/* The place of element j of window i; shorter windows repeat their last element. */
static int64_t window_place(adaptive s, int64_t i, int64_t j) {
    const int64_t place = window_begin(s, i) + j, end = window_end(s, i);
    return place < end ? place : end - 1;
}

static bool adaptive_with_places(xir_node *at, xir_value *x, const adaptive *sizes, size_t n) {
    xir_ints places[3];
    int64_t out[3];
    if (!xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    for (size_t k = 0; k < n; k++) {
        const int64_t longest = longest_window(sizes[k]);
        out[k] = sizes[k].out;
        if (longest * out[k] > PNNX_MOST_LISTED)
            return xir_node_unsupported(at, "a constant of more than 2^22 elements");
        places[k] = xir_node_make_ints(at, (size_t)(longest * out[k]), 0);
        for (size_t i = 0; i < places[k].n; i++)
            places[k].v[i] = window_place(sizes[k], (int64_t)i % out[k], (int64_t)i / out[k]);
    }
    return !xir_node_failed(at) && pnnx_max_places(at, x, n, places, out);
}

bool pnnx_adaptive_max(xir_node *at) {
    enum { MOST_GATHERS = 1 << 10 };
    xir_value *x = xir_node_input(at, 0);
    adaptive sizes[3];
    windows w;
    size_t n;
    if (!adaptive_sizes(at, x, sizes, &n)) return false;
    if (gives_places(at)) return adaptive_with_places(at, x, sizes, n);
    if (all_ones(sizes, n)) return over_all(at, "Max", x, n);
    if (even(x, sizes, n, &w)) {
        w.max = true;
        return xir_node_result(at, 0, op_of_pool_second(at, x, &w));
    }
    for (size_t k = 0; k < n && x; k++) {
        const adaptive s = sizes[k];
        const size_t axis = v_rank(x) - n + k;
        const int64_t longest = longest_window(s);
        if (s.in == s.out) continue;
        if (longest > MOST_GATHERS || longest * s.out > PNNX_MOST_LISTED)
            return xir_node_unsupported(at, "windows of more than 1024 cells, or more than 2^22 of all");
        xir_value *most = NULL;   /* one Gather for each place in the windows */
        for (int64_t j = 0; j < longest && !xir_node_failed(at); j++) {
            xir_ints places = xir_node_make_ints(at, (size_t)s.out, 0);
            for (size_t i = 0; i < places.n; i++) places.v[i] = window_place(s, (int64_t)i, j);
            xir_value *part = make_taken(at, x, axis, &places);
            most = most && part ? xir_node_make(at, "Maximum", INS(most, part), NO_SETS) : part;
        }
        x = most;
    }
    return xir_node_result(at, 0, x);
}
