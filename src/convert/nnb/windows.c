/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Convolutions, pools and what enlarges images. XIR's ops have [batch, rows, columns, channels]; NNabla's have any
 * number of dims before base_axis, which become one, and channels first or, with channel_last, last. */
#include <math.h>
#include "nnb/nnb.h"
#include "spec/borders.h"
#include "spec/windows.h"

/* ---- maps ------------------------------------------------------------------------------------------------------- */

/* x as a map with n spatial axes: `base` dims of the batch, and the channels before or after the space. */
typedef struct map { size_t base, n; bool last; } map;

static xir_value *as_map(xir_node *at, xir_value *x, const map *m) {
    if (m->base != 1) {
        xir_ints dims = xir_node_dims(at, x), to = xir_node_make_ints(at, m->n + 2, 1);
        if (!to.v || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return NULL;
        to.v[0] = product_of(&dims, 0, m->base);
        if (to.v[0] < 0) return xir_node_unsupported(at, "dims whose product exceeds 63 bits"), NULL;
        for (size_t i = 1; i < to.n; i++) to.v[i] = dims.v[m->base + i - 1];
        x = make_reshaped(at, x, &to);
    }
    return m->last ? x : xir_node_channels_last(at, x);
}

/* The map y, in the dims that x had before base_axis. */
static xir_value *from_map(xir_node *at, xir_value *y, const xir_value *x, const map *m) {
    if (!m->last) y = xir_node_channels_second(at, y);
    if (m->base == 1 || !y) return y;
    xir_ints dims = xir_node_dims(at, y), to = xir_node_make_ints(at, m->base + m->n + 1, 1);
    for (size_t i = 0; i < to.n && dims.v; i++) to.v[i] = i < m->base ? v_dim(x, i) : dims.v[i - m->base + 1];
    return xir_node_failed(at) ? NULL : make_reshaped(at, y, &to);
}

/* ---- convolutions ----------------------------------------------------------------------------------------------- */

typedef struct conv { map m; windows w; } conv;

/* Of a convolution of x with `rank` - 2 spatial axes. */
static bool read_conv(xir_node *at, const xir_value *x, size_t rank, bool back, conv *c) {
    xir_ints pad, stride, dilation, more;
    if (rank < 3 || rank > 5) return xir_node_unsupported(at, "%zu spatial axes", rank - 2);
    *c = (conv){ .m = { .n = rank - 2, .last = xir_node_bool(at, "channel_last", false) } };
    if (!nnb_base(at, x, &c->m.base)) return false;
    if (v_rank(x) != c->m.base + c->m.n + 1)
        return xir_node_invalid(at, XIR_E_INVALID, "input/0", "expected %zu dims from base_axis on, for a kernel with "
                                "%zu spatial axes, found %zu", c->m.n + 1, c->m.n, v_rank(x) - c->m.base);
    const size_t n = c->m.n;
    if (!nnb_list(at, "pad", n, 0, 0, false, &pad) || !nnb_list(at, "stride", n, 1, 1, false, &stride) ||
        !nnb_list(at, "dilation", n, 1, 1, false, &dilation) ||
        !nnb_list(at, "output_padding", n, 0, 0, true, &more)) return false;
    windows *w = &c->w;
    *w = (windows){ .n = n, .transposed = back, .groups = xir_node_int(at, "group", 1) };
    if (w->groups < 1) return nnb_out_of_range(at, "group", w->groups);
    for (size_t k = 0; k < n; k++) {
        w->stride[k] = stride.v[k], w->dilation[k] = dilation.v[k], w->more[k] = more.v[k];
        w->before[k] = w->after[k] = pad.v[k];
    }
    return true;
}

/* A kernel [a, b, k…], or [a, k…, b] with the channels last, as [k…, b, a]. */
static xir_value *kernel_of(xir_node *at, xir_value *w, bool last, bool back) {
    static const char *const letters[2][3] = { { "WIO", "HWIO", "DHWIO" }, { "WOI", "HWOI", "DHWOI" } };
    int64_t order[5];
    if (xir_node_failed(at) || !w) return NULL;
    const size_t rank = v_rank(w), n = rank - 2;
    for (size_t i = 0; i < n; i++) order[i] = (int64_t)(last ? i + 1 : i + 2);
    order[n] = last ? (int64_t)n + 1 : 1;
    order[n + 1] = 0;
    return xir_node_transposed(at, w, order, rank, letters[back][n - 1]);
}

static xir_value *convolved(xir_node *at, const conv *c, xir_value *x, xir_value *w, xir_value *bias) {
    if (bias && v_rank(bias) != 1) bias = make_shaped(at, bias, (int64_t[]){ -1 }, 1);
    xir_value *in = as_map(at, x, &c->m), *kernel = kernel_of(at, w, c->m.last, c->w.transposed);
    return op_of_convolution(at, in, kernel, bias, &c->w);
}

bool nnb_convolution(xir_node *at) {
    const bool scaled = xir_node_variant(at) == NNB_BINARY_SCALED;
    const size_t i = xir_node_variant(at) == NNB_PLAIN ? 1 : 2;
    conv c;
    xir_value *x = xir_node_input(at, 0), *w = xir_node_input(at, i);
    if (xir_node_failed(at) || !read_conv(at, x, v_rank(w), false, &c)) return false;
    xir_value *factors = scaled ? xir_node_input(at, 3) : NULL, *bias = xir_node_optional_input(at, i + 1 + scaled);
    xir_value *y = convolved(at, &c, x, w, scaled ? NULL : bias);
    if (scaled) y = xir_node_product(at, y, make_shaped(at, factors, (int64_t[]){ -1 }, 1));
    if (scaled && bias) y = xir_node_sum(at, y, make_shaped(at, bias, (int64_t[]){ -1 }, 1), 1, 1);
    return xir_node_result(at, 0, from_map(at, y, x, &c.m));
}

bool nnb_deconvolution(xir_node *at) {
    conv c;
    xir_value *x = xir_node_input(at, 0), *w = xir_node_input(at, 1);
    if (xir_node_failed(at) || !read_conv(at, x, v_rank(w), true, &c)) return false;
    xir_value *y = convolved(at, &c, x, w, xir_node_optional_input(at, 2));
    return xir_node_result(at, 0, from_map(at, y, x, &c.m));
}

/* A kernel [channels, k…]: one map in each group of a convolution. */
static bool depthwise(xir_node *at, bool back) {
    conv c;
    xir_value *x = xir_node_input(at, 0), *w = xir_node_input(at, 1);
    if (xir_node_failed(at) || !read_conv(at, x, v_rank(w) + 1, back, &c)) return false;
    if (!xir_node_need_dims(at, w, 0, SIZE_MAX)) return false;
    const int64_t maps = v_dim(x, c.m.base), each = xir_node_int(at, back ? "divisor" : "multiplier", 1);
    if (each < 1) return nnb_out_of_range(at, back ? "divisor" : "multiplier", each);
    if (maps < 1) return xir_node_unsupported(at, "an unknown number of channels");
    if (back && maps % each)
        return xir_node_invalid(at, XIR_E_INVALID, "argument/divisor", "divisor: expected one of %lld, the channels, "
                                "found %lld", (long long)maps, (long long)each);
    c.w.groups = back ? maps / each : maps;
    int64_t dims[5] = { v_dim(w, 0), 1 };
    for (size_t i = 1; i < v_rank(w); i++) dims[i + 1] = v_dim(w, i);
    const int64_t expected = back ? maps : maps * each;
    if (dims[0] != expected)
        return xir_node_invalid(at, XIR_E_INVALID, "input/1", "the weight: expected %lld maps, found %lld",
                                (long long)expected, (long long)dims[0]);
    w = make_shaped(at, w, dims, v_rank(w) + 1);
    return xir_node_result(at, 0, from_map(at, convolved(at, &c, x, w, xir_node_optional_input(at, 2)), x, &c.m));
}
bool nnb_depthwise(xir_node *at)      { return depthwise(at, false); }
bool nnb_depthwise_back(xir_node *at) { return depthwise(at, true); }

/* ---- pools ------------------------------------------------------------------------------------------------------ */

/* Along each axis window o begins at o * stride - before and ends after `size` cells, at input + before at most.
 * `after`: the cells that XIR's op needs after the end for the last window, those of the padding included. */
typedef struct pool {
    map     m;
    windows w;
    int64_t out[3];
} pool;

static bool read_pool(xir_node *at, const xir_value *x, bool last, pool *p) {
    xir_ints size, stride, pad;
    const bool averages = xir_str_equal(xir_node_type(at), XIR_STR("AveragePooling"));
    if (!xir_node_items(at, "kernel", &size)) return xir_node_unsupported(at, "kernel is missing");
    const size_t n = size.n, rank = v_rank(x);
    if (n < 1 || n > 3) return xir_node_unsupported(at, "%zu spatial axes", n);
    if (!nnb_list(at, "kernel", n, 1, 1, false, &size) || !nnb_list(at, "stride", n, 1, 1, true, &stride) ||
        !nnb_list(at, "pad", n, 0, 0, true, &pad)) return false;
    if (rank < n + last)
        return xir_node_invalid(at, XIR_E_INVALID, "input/0", "expected at least %zu dims, found %zu", n + last, rank);
    const xir_any *given = xir_node_attr(at, "stride");
    const bool own = given && given->kind == XIR_ANY_LIST && given->as.list.size;
    const size_t first = rank - n - last;
    *p = (pool){ .m = { .base = last ? first : first ? first - 1 : 0, .n = n, .last = last }, .w = { .n = n } };
    if (!xir_node_need_dims(at, x, first, first + n)) return false;
    windows *const w = &p->w;
    for (size_t k = 0; k < n; k++) {
        const int64_t in = v_dim(x, first + k);
        w->dilation[k] = 1;
        w->input[k] = in, w->size[k] = size.v[k], w->stride[k] = own ? stride.v[k] : size.v[k];
        w->before[k] = pad.v[k];
        const bool whole = xir_node_bool(at, "ignore_border", true);
        /* NNabla's C runtime clips the only window of an average to the padded dim */
        const int64_t padded = in + 2 * w->before[k];
        if (averages && whole && w->size[k] > padded && w->size[k] - padded < w->stride[k]) w->size[k] = padded;
        const int64_t room = whole ? in + 2 * w->before[k] - w->size[k] : in + w->before[k] - 1;
        if (room < 0)
            return xir_node_invalid(at, XIR_E_INVALID, "argument/kernel", "kernel: expected at most %lld, the padded "
                                    "dim %zu, found %lld", (long long)(in + 2 * w->before[k]), first + k,
                                    (long long)w->size[k]);
        p->out[k] = room / w->stride[k] + 1;
        const int64_t beyond = (p->out[k] - 1) * w->stride[k] + w->size[k] - w->before[k] - in;
        w->after[k] = beyond > 0 ? beyond : 0;
    }
    return true;
}

/* Without a dim for the channels, or with several before the space, all of them are the batch, and there is one. */
static xir_value *pooled(xir_node *at, xir_value *x, const pool *p) {
    const size_t n = p->m.n, first = v_rank(x) - n - p->m.last;
    if (p->m.last || first == 2) return from_map(at, op_of_pool(at, as_map(at, x, &p->m), &p->w), x, &p->m);
    xir_ints dims = xir_node_dims(at, x), to = xir_node_make_ints(at, n + 2, 1);
    if (!to.v || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return NULL;
    to.v[0] = product_of(&dims, 0, first);
    if (to.v[0] < 0) return xir_node_unsupported(at, "dims whose product exceeds 63 bits"), NULL;
    for (size_t k = 0; k < n; k++) to.v[k + 1] = p->w.input[k];
    xir_value *y = op_of_pool(at, make_reshaped(at, x, &to), &p->w);
    for (size_t k = 0; k < n; k++) dims.v[first + k] = p->out[k];
    return y ? make_reshaped(at, y, &dims) : NULL;
}

static bool is_last(const xir_node *at) { return xir_node_bool(at, "channel_last", false); }

bool nnb_max_pool(xir_node *at) {
    pool p;
    xir_value *x = xir_node_input(at, 0);
    if (!read_pool(at, x, is_last(at), &p)) return false;
    p.w.max = true;
    return xir_node_result(at, 0, pooled(at, x, &p));
}

bool nnb_sum_pool(xir_node *at) {
    pool p;
    xir_value *x = xir_node_input(at, 0);
    if (!read_pool(at, x, is_last(at), &p)) return false;
    p.w.divisor = 1;
    return xir_node_result(at, 0, pooled(at, x, &p));
}

/* The padding that counts as cells of x; the rest of a window is cut off. */
static xir_value *with_padding(xir_node *at, xir_value *x, pool *p) {
    const size_t first = v_rank(x) - p->m.n - p->m.last;
    xir_ints pads = xir_node_make_ints(at, 2 * v_rank(x), 0);
    if (!pads.v) return NULL;
    for (size_t k = 0; k < p->m.n; k++) {
        const int64_t after = p->w.after[k] < p->w.before[k] ? p->w.after[k] : p->w.before[k];
        pads.v[2 * (first + k)] = p->w.before[k], pads.v[2 * (first + k) + 1] = after;
        p->w.input[k] += p->w.before[k] + after;
        p->w.after[k] -= after;
        p->w.before[k] = 0;
    }
    return zeros_around(at, x, &pads);
}

/* Returns true if the dims of the declared output are those of the pool. */
static bool fits(const xir_node *at, const xir_value *x, const pool *p) {
    const xir_value *y = xir_op_output(xir_node_op(at), 0);
    if (!y || !xir_type_as_tensor(xir_value_type(y)) || v_rank(y) != v_rank(x)) return false;
    for (size_t k = 0; k < p->m.n; k++)
        if (v_dim(y, v_rank(x) - p->m.n - p->m.last + k) != p->out[k]) return false;
    return true;
}

/* Files of number 6 have one byte for channel_last or for including_pad, which is 1 without it. If the declared dims
 * are only those of channels before the space, it is the latter. */
bool nnb_average_pool(xir_node *at) {
    pool p, other;
    bool beyond = false, any = false, last = is_last(at);
    const bool old = !xir_node_attr(at, "including_pad");
    xir_value *x = xir_node_input(at, 0);
    if (!read_pool(at, x, last, &p)) return false;
    if (old && last && !fits(at, x, &p)) {
        if (!read_pool(at, x, false, &other)) return false;
        if (fits(at, x, &other)) p = other, last = false;
    }
    const bool counted = xir_node_bool(at, "including_pad", true);
    for (size_t k = 0; k < p.m.n; k++) {
        beyond |= p.w.after[k] > p.w.before[k];
        any |= p.w.before[k] > 0;
    }
    if (counted && any && beyond) x = with_padding(at, x, &p);
    p.w.counts = counted && any && !beyond;
    return xir_node_result(at, 0, pooled(at, x, &p));
}

bool nnb_global_average(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (v_rank(x) < 3) return xir_node_unsupported(at, "an input of %zu dims", v_rank(x));
    const xir_ints axes = xir_node_series(at, 2, v_rank(x) - 2);
    return xir_node_result(at, 0, xir_node_reduced(at, "Mean", x, &axes, true));
}
