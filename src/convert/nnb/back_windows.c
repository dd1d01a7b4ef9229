/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of convolutions, pools and factors of channels. NNabla has channels second. Its padding is the same on
 * both sides; other padding is a Pad before. */
#include <math.h>
#include "nnb/nnb.h"
#include "spec/maps.h"
#include "spec/reduction.h"
#include "spec/windows.h"

static const char *const kernels[2][3] = { { "OIW", "OIHW", "OIDHW" }, { "IOW", "IOHW", "IODHW" } };

/* ---- convolutions ----------------------------------------------------------------------------------------------- */

bool nnb_back_conv(xir_node *at) {
    windows w;
    xir_value *x = map_input(at), *kernel = xir_node_input(at, 1), *bias = xir_node_optional_input(at, 2);
    if (!windows_of_op(at, x, 2, NULL, &w)) return false;
    const bool back = w.transposed;
    kernel = node_in_order(at, kernel, xir_str_of(kernels[back][w.n - 1]));
    if (bias && v_rank(bias) != 1) bias = make_shaped(at, bias, (int64_t[]){ -1 }, 1);
    if (w.mode != XIR_PADDING_ZEROS)
        return xir_node_unsupported(at, "padding with other cells than zeros");
    bool more = false;
    if (!back && !window_is_even(&w)) x = window_padded(at, x, &w, XIR_PAD_CONSTANT, 0);
    for (size_t k = 0; k < w.n && back; k++) {   /* cells less at the end are output padding */
        if (w.after[k] > w.before[k] || w.before[k] < 0)
            return xir_node_unsupported(at, "more padding after than before");
        w.more[k] += w.before[k] - w.after[k];
        if (w.more[k] >= w.stride[k] && w.more[k] >= w.dilation[k])
            return xir_node_unsupported(at, "%lld cells more before than after", (long long)w.more[k]);
        more |= w.more[k] != 0;
    }
    if (more && nnb_level(at) < 15) return xir_node_unsupported(at, "output padding, which needs api level 15");
    const xir_ints pad = window_list(&w, w.before), stride = window_list(&w, w.stride),
                   dilation = window_list(&w, w.dilation), added = window_list(&w, w.more);
    const xir_set sets[] = { INT("base_axis", 1), LIST("pad", &pad), LIST("stride", &stride),
                             LIST("dilation", &dilation), INT("group", w.groups),
                             XIR_SETB("channel_last", false), LIST("output_padding", &added) };
    const int64_t level = nnb_level(at);
    const size_t n = back ? level >= 15 ? 7 : level >= 8 ? 6 : 5 : level >= 4 ? 6 : 5;
    return row_becomes(at, INS(x, kernel, bias), (xir_sets){ sets, n });
}

/* ---- pools ------------------------------------------------------------------------------------------------------ */

/* Returns true if the cells after the end are those of windows that begin inside: NNabla's ignore_border = false. */
static bool rounds_up(const xir_value *y, size_t first, const windows *w) {
    for (size_t k = 0; k < w->n; k++) {
        const int64_t in = w->input[k], out = v_dim(y, first + k);
        if (in < 0 || w->before[k] < 0 || out != (in + w->before[k] - 1) / w->stride[k] + 1) return false;
    }
    return true;
}

/* A pool of one axis as one of two; the first axis has one cell. */
static xir_value *as_two(xir_node *at, xir_value *x, windows *w) {
    int64_t *const lists[] = { w->input, w->size, w->stride, w->dilation, w->before, w->after, w->more };
    static const int64_t otherwise[] = { 1, 1, 1, 1, 0, 0, 0 };
    for (size_t i = 0; i < COUNT(lists); i++) lists[i][1] = lists[i][0], lists[i][0] = otherwise[i];
    w->n = 2;
    return make_shaped(at, x, (int64_t[]){ v_dim(x, 0), v_dim(x, 1), 1, v_dim(x, 2) }, 4);
}

/* The op of x, whose channels come second, with the dims that its windows give; `counted` is less than 0 for pools that
 * are not averages. */
static xir_value *pooled(xir_node *at, const char *key, xir_value *x, windows *w, bool whole, int64_t counted) {
    const bool line = w->n == 1;
    if (line && x) x = as_two(at, x, w);
    xir_ints dims = xir_node_dims(at, x);
    if (xir_node_failed(at)) return NULL;
    for (size_t k = 0; k < w->n; k++) {
        const int64_t in = dims.v[2 + k], room = in + 2 * w->before[k] - w->size[k];
        dims.v[2 + k] = (whole ? room : in + w->before[k] - 1) / w->stride[k] + 1;
    }
    const xir_ints size = window_list(w, w->size), stride = window_list(w, w->stride), pad = window_list(w, w->before);
    xir_set sets[6] = { LIST("kernel", &size), LIST("stride", &stride), XIR_SETB("ignore_border", whole),
                        LIST("pad", &pad) };
    size_t n = 4;
    const bool average = counted >= 0;
    if (nnb_level(at) >= 4 || average) sets[n++] = (xir_set)XIR_SETB("channel_last", false);
    if (nnb_level(at) >= 4 && average) sets[n++] = (xir_set)XIR_SETB("including_pad", counted);
    const xir_layout *layout = conversion_layout(at->c, map_order(dims.n));
    const xir_type *type = layout ? node_type(at, v_element(x), layout, &dims) : NULL;
    if (!type) return node_no_memory(at), NULL;
    xir_value *y = foreign_value(at, key, INS(x), (xir_sets){ sets, n }, type);
    return y && line ? make_shaped(at, y, (int64_t[]){ dims.v[0], dims.v[1], dims.v[3] }, 3) : y;
}

/* The first spatial axis of the result. */
static size_t first_axis(const xir_node *at) {
    const xir_layout *layout = xir_type_layout(xir_value_type(xir_op_output(at->op, 0)));
    return layout && xir_layout_rank(layout) > 2 && xir_layout_axis(layout, 1) == 'C' ? 2 : 1;
}

/* The value of a cell of the padding for a greatest element: NNabla has bools and integers as reals. */
static double least_element(const xir_type *element) {
    const xir_integer_type *integer = xir_integer_type_of(xir_type_object(element));
    if (xir_type_kind_of(element) == XIR_TYPE_BOOL) return 0;
    return !integer ? -INFINITY : integer->sign ? -ldexp(1, (int)xir_type_storage_bits(element) - 1) : 0;
}

bool nnb_back_pool(xir_node *at) {
    windows w;
    xir_value *x = map_input(at), *y = xir_op_output(at->op, 0);
    if (!windows_of_op(at, x, 2, NULL, &w) || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const bool max = w.max, counts = w.counts;
    const int64_t divisor = w.divisor;
    bool whole = window_is_even(&w);
    const bool padded = window_has_pads(&w);
    for (size_t k = 0; k < w.n; k++) if (w.dilation[k] != 1) return xir_node_unsupported(at, "windows with gaps");
    whole &= !(max && padded && !v_is_real(x));
    const bool up = !whole && v_is_real(x) && (max || !counts) && rounds_up(y, first_axis(at), &w);
    bool counted = counts && padded;
    if (!whole && !up) {
        if (!max && !counts && !divisor) return xir_node_unsupported(at, "padding of both sides that differs");
        x = window_padded(at, x, &w, XIR_PAD_CONSTANT, max ? least_element(v_element(x)) : 0);
        whole = true;
        counted = true;
    }
    if (!max && !divisor && nnb_level(at) < 4 && padded && !counted)
        return xir_node_unsupported(at, "averages without padding, which need api level 4");
    const char *key = max ? "nnb::MaxPooling" : divisor ? "nnb::SumPooling" : "nnb::AveragePooling";
    xir_value *v = pooled(at, key, x, &w, whole, max || divisor ? -1 : counted);
    if (v && divisor) v = xir_node_scaled(at, v, 1.0 / (double)divisor);
    return map_give(at, v);
}

/* The average of a whole map is AveragePooling: NNabla's C runtime has neither GlobalAveragePooling nor Mean. */
bool nnb_back_global_average(xir_node *at) {
    windows w;
    xir_value *x = mean_of_map(at);
    if (!x || !window_of_map(at, x, &w) || !xir_node_need_dims(at, x, 0, 2)) return false;
    return map_give(at, pooled(at, "nnb::AveragePooling", x, &w, true, false));
}

/* ---- factors and addends of channels ---------------------------------------------------------------------------- */

static xir_value *of_channels(xir_node *at, const char *name, int64_t n, size_t rank) {
    const xir_any *any = xir_node_attr(at, name);
    const xir_ints dims = node_line(at, rank, 1, n);
    if (!any || any->kind != XIR_ANY_PARAMS) return xir_node_unsupported(at, "it has no %s", name), NULL;
    return make_reshaped(at, any->as.params, &dims);
}

/* XIR's batch normalisation has folded statistics: a mean of 0 and a variance of 1 here. */
bool nnb_back_batch_norm(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const size_t rank = v_rank(x);
    if (rank == 2) at->order = (xir_str){ NULL, 0 };
    else x = map_input(at);
    if (!x || !xir_node_need_dims(at, x, 1, 2)) return false;
    const int64_t n = v_dim(x, 1);
    xir_value *factor = of_channels(at, "variance", n, rank), *addend = of_channels(at, "mean", n, rank);
    const xir_ints dims = node_line(at, rank, 1, n);
    xir_value *zeros = xir_node_filled(at, v_element(x), &dims, 0), *ones = xir_node_filled(at, v_element(x), &dims, 1);
    const xir_ints channel = { (int64_t[]){ 1 }, 1 };
    const xir_set sets[] = { LIST("axes", &channel), REAL("decay_rate", 0.9), REAL("eps", 0),
                             XIR_SETB("batch_stat", false), XIR_SETB("no_scale", false), XIR_SETB("no_bias", false) };
    return row_becomes(at, INS(x, addend, factor, zeros, ones), (xir_sets){ sets, nnb_level(at) >= 28 ? 6 : 4 });
}
