/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators that compute the pads of a pool or a convolution from dims: [4, 2] integers, in the order of the format.
 * They become constants, which pools and convolutions take as attributes. */
#include <stdio.h>
#include "tsm/tsm.h"

/* One spatial axis: its dim, the window (with its dilation), the step, the given pads. Results: the computed pads. */
typedef struct axis { int64_t in, size, whole, stride, before, after; } axis;
typedef struct axes { axis of[2]; size_t first; } axes;

static int64_t ceil_div(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }
static int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

static bool read_pads(xir_node *at, const xir_value *x, axes *a) {
    xir_ints pads;
    const bool given = tsm_list(at, "padding", 8, INT32_MIN, &pads);
    for (size_t k = 0; k < 2; k++) {
        const size_t i = a->first + k;
        a->of[k].in = v_dim(x, i);
        a->of[k].before = given ? pads.v[2 * i] : 0;
        a->of[k].after = given ? pads.v[2 * i + 1] : 0;
        if (a->of[k].in > TSM_MOST_DIM) return xir_node_unsupported(at, "a dim above 2^31 - 1");
    }
    return xir_node_need_dims(at, x, a->first, a->first + 2);
}

static bool positive(xir_node *at, size_t i, int64_t found) {
    char where[32];
    if (found >= 1) return true;
    snprintf(where, sizeof where, "input/%zu", i);
    return xir_node_invalid(at, XIR_E_BOUNDS, where, "input %zu: expected at least 1, found %lld", i, (long long)found);
}

/* Inputs: x, ksize, stride. */
static bool read_pool(xir_node *at, axes *a) {
    xir_ints size, stride;
    const xir_value *x = xir_node_input(at, 0);
    if (xir_node_attr(at, "format") && !xir_node_one_of(at, "format", "NCHW", "NCHW|NHWC")) return false;
    if (!tsm_has_rank(at, 0, x, 4) || !tsm_constant(at, 1, 4, &size) || !tsm_constant(at, 2, 4, &stride)) return false;
    a->first = xir_node_is(at, "format", "NHWC") ? 1 : 2;
    if (!read_pads(at, x, a)) return false;
    for (size_t k = 0; k < 2; k++) {
        a->of[k].size = a->of[k].whole = size.v[a->first + k];
        a->of[k].stride = stride.v[a->first + k];
        if (!positive(at, 1, a->of[k].size) || !positive(at, 2, a->of[k].stride)) return false;
    }
    return true;
}

/* Inputs: x and the kernel. */
static bool read_conv(xir_node *at, axes *a) {
    xir_ints stride, dilation;
    const xir_value *x = xir_node_input(at, 0), *w = xir_node_input(at, 1);
    if (!xir_node_one_of(at, "format", "NCHW", "NCHW|NHWC")) return false;
    if (!tsm_has_rank(at, 0, x, 4) || !tsm_has_rank(at, 1, w, 4)) return false;
    a->first = xir_node_is(at, "format", "NHWC") ? 1 : 2;
    if (!read_pads(at, x, a) || !xir_node_need_dims(at, w, a->first, a->first + 2)) return false;
    if (!tsm_list(at, "stride", 4, 0, &stride)) return xir_node_unsupported(at, "stride is missing");
    const bool dilated = tsm_list(at, xir_node_attr(at, "dilation") ? "dilation" : "dialations", 4, 0, &dilation);
    if (xir_node_failed(at)) return false;
    for (size_t k = 0; k < 2; k++) {
        axis *s = &a->of[k];
        const size_t i = a->first + k;
        const int64_t d = dilated ? dilation.v[i] : 1;
        s->size = v_dim(w, i), s->stride = stride.v[i];
        if (!positive(at, 1, s->size)) return false;
        if (s->stride < 1) return tsm_out_of_range(at, "stride", s->stride);
        if (d < 1) return tsm_out_of_range(at, "dilation", d);
        if (s->size > TSM_MOST_DIM) return xir_node_unsupported(at, "a dim above 2^31 - 1");
        s->whole = d * (s->size - 1) + 1;
    }
    return true;
}

static bool read_axes(xir_node *at, axes *a) { return at->n_in == 2 ? read_conv(at, a) : read_pool(at, a); }

static bool give_pads(xir_node *at, const axes *a) {
    double v[8] = { 0 };
    const xir_ints dims = { (int64_t[]){ 4, 2 }, 2 };
    for (size_t k = 0; k < 2; k++) {
        v[2 * (a->first + k)] = (double)a->of[k].before;
        v[2 * (a->first + k) + 1] = (double)a->of[k].after;
    }
    return xir_node_result(at, 0, xir_node_constant(at, xir_type_sint(xir_node_context(at), 32), &dims, v, 8));
}

/* The cells that `out` windows need beyond the dim and the given pads; negative if some are left. */
static int64_t missing(const axis *s, int64_t out) {
    return (out - 1) * s->stride + s->whole - s->in - s->before - s->after;
}

/* NOTSET: fewer pads at the end, so that the pool's rounding up gives what rounding down would. */
static void onnx_axis(const xir_node *at, axis *s) {
    const bool upper = xir_node_is(at, "auto_pad", "SAME_UPPER"), lower = xir_node_is(at, "auto_pad", "SAME_LOWER");
    const int64_t all = s->in + s->before + s->after;
    if (!upper && !lower && !xir_node_is(at, "auto_pad", "VALID")) {
        s->after -= (all - s->size) % s->stride;
        return;
    }
    const int64_t more = missing(s, upper || lower ? ceil_div(all, s->stride)
                                                   : ceil_div(all - s->size + 1, s->stride));
    const int64_t half = more / 2;
    if (upper || lower) s->before += upper ? half : more - half;
    s->after += upper ? more - half : lower ? half : more;
}

bool tsm_onnx_padding(xir_node *at) {
    axes a;
    if (!xir_node_one_of(at, "auto_pad", "NOTSET", "NOTSET|VALID|SAME_UPPER|SAME_LOWER") || !read_axes(at, &a))
        return false;
    for (size_t k = 0; k < 2; k++) onnx_axis(at, &a.of[k]);
    return give_pads(at, &a);
}

/* An _mx_ pool that is valid rounds down, too. */
bool tsm_mx_padding(xir_node *at) {
    axes a;
    if (!read_axes(at, &a)) return false;
    for (size_t k = 0; k < 2 && xir_node_bool(at, "valid", false); k++)
        a.of[k].after -= (a.of[k].in + a.of[k].before + a.of[k].after - a.of[k].size) % a.of[k].stride;
    return give_pads(at, &a);
}

/* VALID adds what is missing at the end, SAME on both sides, the odd cell at the end. */
bool tsm_tf_padding(xir_node *at) {
    axes a;
    if (!xir_node_one_of(at, "padding_method", "", "SAME|VALID") || !read_axes(at, &a)) return false;
    for (size_t k = 0; k < 2; k++) {
        axis *s = &a.of[k];
        const bool same = xir_node_is(at, "padding_method", "SAME");
        const int64_t all = s->in + s->before + s->after;
        const int64_t more = missing(s, same ? ceil_div(all, s->stride) : ceil_div(all - s->whole + 1, s->stride));
        s->before += same ? more / 2 : 0;
        s->after += same ? more - more / 2 : more;
    }
    return give_pads(at, &a);
}

/* Caffe's windows: rounded up or down, without one that would begin after the padding. */
static void dragon_valid(const xir_node *at, axis *s) {
    const int64_t all = s->in + s->before + s->after, room = all - s->size;
    int64_t out = (xir_node_bool(at, "ceil", true) ? ceil_div(room, s->stride) : floor_div(room, s->stride)) + 1;
    if ((out - 1) * s->stride >= all) out--;
    s->after += missing(s, out);
}

/* The given pads at the end; what is missing before x is half of the cells for ceil(in / stride) windows. Of a
 * convolution the end counts windows without dilation. */
static void dragon_same(const xir_node *at, axis *s, bool conv) {
    const bool upper = xir_node_is(at, conv ? "padding_method" : "auto_pad", "SAME_UPPER");
    const int64_t out = ceil_div(s->in, s->stride), whole = conv ? s->whole : s->size;
    int64_t more = (out - 1) * s->stride + whole - s->in;
    if (more < 0) more = 0;
    const int64_t half = more / 2;
    const int64_t before = upper == conv ? more - half : half;
    s->after = (out - 1) * s->stride + s->size - s->in - before;
    s->before = before;
}

bool tsm_dragon_padding(xir_node *at) {
    axes a;
    const bool conv = at->n_in == 2;
    const char *name = conv ? "padding_method" : "auto_pad";
    if (!xir_node_one_of(at, name, "VALID", "VALID|NOTSET|SAME|SAME_UPPER|SAME_LOWER") || !read_axes(at, &a))
        return false;
    const bool valid = !xir_node_attr(at, name) || xir_node_is(at, name, "VALID") || xir_node_is(at, name, "NOTSET");
    for (size_t k = 0; k < 2; k++) {
        if (!valid) dragon_same(at, &a.of[k], conv);
        else if (!conv) dragon_valid(at, &a.of[k]);
    }
    return give_pads(at, &a);
}
