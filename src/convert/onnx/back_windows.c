/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of operations on feature maps: convolutions, pools, resizing, grids. ONNX has the channels second, and
 * kernels with the output channels first. What its padding does not say is a Pad before. */
#include <math.h>
#include "onnx/back.h"
#include "spec/reduction.h"
#include "spec/resizing.h"
#include "spec/windows.h"

/* ---- windows ---------------------------------------------------------------------------------------------------- */

/* x repeated around itself, as often as the padding needs. */
static xir_value *wrapped(xir_node *at, xir_value *x, windows *w) {
    enum { MOST = 1 << 20 };
    for (size_t k = 0; k < w->n && x; k++) {
        const int64_t before = w->before[k], after = w->after[k], n = w->input[k];
        w->before[k] = w->after[k] = 0;
        if (!before && !after) continue;
        if (n < 1 || n > MOST || before < 0 || after < 0 || before > MOST || after > MOST)
            return xir_node_unsupported(at, "cells of an open dim around it"), NULL;
        xir_ints places = xir_node_make_ints(at, (size_t)(before + n + after), 0);
        for (size_t i = 0; i < places.n; i++) places.v[i] = (((int64_t)i - before) % n + n) % n;
        x = make_taken(at, x, 2 + k, &places);
    }
    return x;
}

/* ---- convolutions ----------------------------------------------------------------------------------------------- */

static xir_value *kernel_of(xir_node *at, const xir_value *x, bool transposed) {
    static const char *const orders[2][3] = { { "OIW", "OIHW", "OIDHW" }, { "IOW", "IOHW", "IODHW" } };
    if (xir_node_failed(at) || !x || v_rank(x) < 3 || v_rank(x) > 5) return NULL;
    return node_in_order(at, xir_node_input(at, 1), xir_str_of(orders[transposed][v_rank(x) - 3]));
}

/* The bias in one dim. */
static xir_value *bias_of(xir_node *at) {
    xir_value *b = xir_node_optional_input(at, 2);
    return b && v_rank(b) != 1 ? make_shaped(at, b, (int64_t[]){ -1 }, 1) : b;
}

/* The attributes that convolutions of both kinds have; the last one is left out if the kernel is open or empty. */
static bool becomes_conv(xir_node *at, xir_values inputs, windows *w) {
    const xir_ints pads = window_pads(at, w), size = window_list(w, w->size), more = window_list(w, w->more),
                   stride = window_list(w, w->stride), dilation = window_list(w, w->dilation);
    bool has_size = true;
    xir_set sets[6] = { INT("group", w->groups), LIST("pads", &pads), LIST("strides", &stride),
                        LIST("dilations", &dilation) };
    size_t n = 4;
    for (size_t k = 0; k < w->n; k++) has_size &= w->size[k] >= 1;
    if (w->transposed) sets[n++] = (xir_set)LIST("output_padding", &more);
    if (has_size) sets[n++] = (xir_set)LIST("kernel_shape", &size);
    return inputs.data[0] && onnx_becomes_map(at, inputs, (xir_sets){ sets, n });
}

bool onnx_back_conv(xir_node *at) {
    windows w;
    if (xir_node_has(at, 0) && v_is_integer(xir_op_input(at->op, 0))) return onnx_back_whole_conv(at);
    xir_value *x = map_input(at), *kernel = kernel_of(at, x, false), *bias = bias_of(at);
    if (!kernel || !windows_of_op(at, x, 2, kernel, &w)) return false;
    const bool pads = window_has_pads(&w);
    if (pads && w.mode == XIR_PADDING_CIRCULAR) x = wrapped(at, x, &w);
    else if (pads && w.mode != XIR_PADDING_ZEROS)
        x = window_padded(at, x, &w, w.mode == XIR_PADDING_REFLECT ? XIR_PAD_REFLECTION : XIR_PAD_REPLICATION, 0);
    else if (window_cuts(&w)) x = window_padded(at, x, &w, XIR_PAD_CONSTANT, 0);
    return becomes_conv(at, INS(x, kernel, bias), &w);
}

bool onnx_back_conv_transpose(xir_node *at) {
    windows w;
    if (xir_node_has(at, 0) && v_is_integer(xir_op_input(at->op, 0))) return onnx_back_whole_conv(at);
    xir_value *x = map_input(at), *kernel = kernel_of(at, x, true), *bias = bias_of(at);
    if (!kernel || !windows_of_op(at, x, 2, kernel, &w)) return false;
    if (window_cuts(&w)) return xir_node_unsupported(at, "padding below 0");
    return becomes_conv(at, INS(x, kernel, bias), &w);
}

/* ---- pools ------------------------------------------------------------------------------------------------------ */

/* Runtimes refuse padding that is not less than the window. */
static bool pads_fit(const windows *w) {
    bool fit = !window_cuts(w);
    for (size_t k = 0; k < w->n; k++) fit &= w->before[k] < w->size[k] && w->after[k] < w->size[k];
    return fit;
}

/* The least number of an element type. */
static double lowest(const xir_type *element) {
    const xir_integer_type *whole = xir_integer_type_of(xir_type_object(element));
    if (!whole) return -INFINITY;
    return whole->sign ? -ldexp(1, (int)xir_type_storage_bits(element) - 1) : 0;
}

bool onnx_back_max_pool(xir_node *at) {
    windows w;
    xir_value *x = map_input(at);
    if (!windows_of_op(at, x, 2, NULL, &w)) return false;
    const xir_type *own = v_element(x);
    if (!onnx_takes(at, "onnx::MaxPool", own))
        return xir_node_unsupported(at, "elements that MaxPool does not take");
    if (!pads_fit(&w)) x = window_padded(at, x, &w, XIR_PAD_CONSTANT, lowest(own));
    bool dilated = false;
    for (size_t k = 0; k < w.n; k++) dilated |= w.dilation[k] > 1;
    const xir_ints pads = window_pads(at, &w), size = window_list(&w, w.size), stride = window_list(&w, w.stride),
                   dilation = window_list(&w, w.dilation);
    const xir_set sets[] = { LIST("kernel_shape", &size), LIST("strides", &stride), LIST("pads", &pads),
                             LIST("dilations", &dilation) };
    return x && onnx_becomes_map(at, INS(x), (xir_sets){ sets, dilated ? 4 : 3 });
}

/* Another divisor is a factor of the average that counts padding. */
static bool with_divisor(xir_node *at, const xir_value *x, const windows *w) {
    const xir_ints size = { (int64_t *)(uintptr_t)w->size, w->n };
    windows counted = *w;
    if (!v_is_real(x)) return xir_node_unsupported(at, "another divisor of integers");
    counted.counts = true, counted.divisor = 0;
    xir_value *y = op_of_pool(at, xir_node_input(at, 0), &counted);
    return xir_node_result(at, 0, xir_node_scaled(at, y, (double)product_of(&size, 0, w->n) / (double)w->divisor));
}

/* The average of a padded map is the same if padding counts, or does not matter. */
bool onnx_back_average_pool(xir_node *at) {
    windows w;
    xir_value *x = map_input(at);
    if (!windows_of_op(at, x, 2, NULL, &w)) return false;
    if (w.divisor) return with_divisor(at, x, &w);
    if (!pads_fit(&w)) {
        bool adds = false;
        for (size_t k = 0; k < w.n; k++) adds |= w.before[k] > 0 || w.after[k] > 0;
        if (!w.counts && adds) return xir_node_unsupported(at, "padding beyond the window");
        x = window_padded(at, x, &w, XIR_PAD_CONSTANT, 0);
    }
    const xir_ints pads = window_pads(at, &w), size = window_list(&w, w.size), stride = window_list(&w, w.stride);
    const xir_set sets[] = { LIST("kernel_shape", &size), LIST("strides", &stride), LIST("pads", &pads),
                             INT("count_include_pad", w.counts) };
    return x && onnx_becomes_map(at, INS(x), (xir_sets){ sets, window_has_pads(&w) ? 4 : 3 });
}

/* Another mean is ReduceMean. */
bool onnx_back_global_average_pool(xir_node *at) {
    xir_value *x = mean_of_map(at);
    if (x && !onnx_takes(at, "onnx::GlobalAveragePool", v_element(x))) return node_declines(at);
    return x && onnx_becomes_map(at, INS(x), NO_SETS);
}

/* ---- sizes and grids -------------------------------------------------------------------------------------------- */

/* The sizes of all dims; of a computed size, item by item. */
static xir_value *sizes_of(xir_node *at, xir_value *x, const resizing *r, xir_value *given) {
    list_items all = make_items(at, r->size.n + 2, 0);
    if (xir_node_failed(at)) return NULL;
    for (size_t i = 0; i < 2; i++) all.v[i] = item_dim(x, i);
    for (size_t k = 0; k < r->size.n; k++)
        all.v[2 + k] = given ? (list_item){ .v = EXPR_UNKNOWN, .origin = FROM_ITEM, .of = given, .axis = (int64_t)k }
                             : r->size.v[k];
    return make_list(at, &all);
}

/* The op on elements with which Resize computes. */
static bool resize_wider(xir_node *at, const xir_type *wide) {
    xir_value *x = xir_op_input(at->op, 0), *in[] = { xir_node_cast(at, x, wide), xir_node_optional_input(at, 1) };
    xir_op *op = xir_node_failed(at) ? NULL : node_remade(at, in, in[1] ? 2 : 1);
    return op && xir_node_result(at, 0, xir_node_cast(at, xir_op_output(op, 0), v_element(x)));
}

/* Sizes that are given by an input are in the order of the layout's letters. */
static bool is_in_order(const xir_node *at) {
    const xir_layout *own = xir_type_layout(xir_value_type(xir_op_input(at->op, 0)));
    int64_t last = -1;
    for (const char *p = at->order.data + 2; own && p < at->order.data + at->order.size; p++) {
        const int64_t axis = xir_layout_index(own, *p);
        if (axis < 0) continue;
        if (axis < last) return false;
        last = axis;
    }
    return true;
}

/* Half-pixel centres; the nearest cell is floor(x + 0.5). */
bool onnx_back_resize(xir_node *at) {
    static const char *const modes[] = { "nearest", "linear", "cubic" };
    resizing r;
    xir_value *x = xir_node_input(at, 0), *given = NULL;
    if (!x || !resizing_form_of_op(at, &r)) return false;
    const bool near = r.way == CELL_NEAREST;
    const xir_type *wide = near ? onnx_element_for(at, "onnx::Resize", v_element(x)) : NULL;
    if (wide && !xir_type_equal(wide, v_element(x))) return resize_wider(at, wide);
    x = map_input(at);
    if (!x || !resizing_of_op(at, &r)) return false;
    if (r.given && !is_in_order(at)) return xir_node_unsupported(at, "axes with other letters");
    if (r.given) given = onnx_long(at, r.given);
    xir_value *in[4] = { x, NULL, NULL, sizes_of(at, x, &r, given) };
    if (!in[3]) return false;
    if (onnx_target(at) < 13) {   /* regions and scales are required, and empty */
        const xir_ints none = { &(int64_t){ 0 }, 1 };
        in[1] = in[2] = xir_node_filled(at, xir_type_float(at->c->ctx, XIR_FLOAT_FP32), &none, 0);
    }
    xir_set sets[] = { WORD("mode", xir_str_of(modes[r.way])),
                       WORD("coordinate_transformation_mode", xir_str_of(r.corners ? "align_corners" : "half_pixel")),
                       WORD("nearest_mode", XIR_STR("round_prefer_ceil")) };
    return onnx_becomes_map(at, (xir_values){ in, 4 }, (xir_sets){ sets, near ? 3 : 2 });
}

/* The grid with its positions last, and its rows and columns in their order. */
static xir_value *grid_of(xir_node *at, size_t rank) {
    xir_value *grid = xir_node_input(at, 1);
    return grid ? node_in_order(at, grid, rank == 4 ? XIR_STR("NHWC") : XIR_STR("NDHWC")) : NULL;
}

bool onnx_back_grid_sample(xir_node *at) {
    static const char *const words[][3] = {   /* until version 20, since then */
        { "LINEAR", "bilinear", "linear" }, { "NEAREST", "nearest", "nearest" }, { "CUBIC", "bicubic", "cubic" },
    };
    static const char *const pads[][2] = { { "ZEROS", "zeros" }, { "BORDER", "border" },
                                           { "REFLECTION", "reflection" } };
    const int64_t version = onnx_target(at);
    if (!onnx_is_new_enough(at)) return false;
    xir_value *x = map_input(at);
    if (v_rank(x) != 4 && v_rank(x) != 5)
        return xir_node_unsupported(at, "a map of %zu dims", v_rank(x));
    xir_value *grid = grid_of(at, v_rank(x));
    xir_set sets[] = { WORD("mode", XIR_STR("")), WORD("padding_mode", XIR_STR("")),
                       INT("align_corners", xir_node_bool(at, "align_corners", false)) };
    for (size_t i = 0; i < COUNT(words); i++)
        if (xir_node_is(at, "interpolation", words[i][0])) sets[0].text = xir_str_of(words[i][version >= 20 ? 2 : 1]);
    for (size_t i = 0; i < COUNT(pads); i++)
        if (xir_node_is(at, "padding_mode", pads[i][0])) sets[1].text = xir_str_of(pads[i][1]);
    return grid && onnx_becomes_map(at, INS(x, grid), (xir_sets){ sets, 3 });
}
