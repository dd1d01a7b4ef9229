/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of operations on maps: windows, factors of channels, other sizes. Maps are NCHW, the only order in which
 * TenniS' pools compute. */
#include "spec/maps.h"
#include "spec/reduction.h"
#include "spec/resizing.h"
#include "spec/windows.h"
#include "tsm/tsm.h"

/* The lists of four and eight numbers of a window, in the order NCHW. */
typedef struct lists { xir_ints padding, ksize, stride, dilation; } lists;

static bool read_lists(xir_node *at, const xir_value *x, windows *w, lists *l) {
    if (!windows_of_op(at, x, 2, NULL, w)) return false;
    l->padding = xir_node_make_ints(at, 8, 0);
    l->ksize = xir_node_make_ints(at, 4, 1);
    l->stride = xir_node_make_ints(at, 4, 1);
    l->dilation = xir_node_make_ints(at, 4, 1);
    for (size_t k = 0; k < w->n && !xir_node_failed(at); k++) {
        l->padding.v[4 + 2 * k] = w->before[k];
        l->padding.v[5 + 2 * k] = w->after[k] - w->more[k];   /* cells that are added to a result are missing pads */
        l->ksize.v[2 + k] = w->size[k];
        l->stride.v[2 + k] = w->stride[k];
        l->dilation.v[2 + k] = w->dilation[k];
    }
    return !xir_node_failed(at);
}

/* x in the order NCHW, in which results are made, too. */
static xir_value *image_input(xir_node *at) {
    const xir_value *x = xir_node_input(at, 0);
    if (!x || v_rank(x) != 4 || xir_type_rank(tsm_type(at, 0)) != 4)
        return xir_node_unsupported(at, "a map of other dims than four"), NULL;
    return tsm_short_dims(at, x) ? map_input(at) : NULL;
}

/* The type of the result in this order. */
static const xir_type *nchw_type(xir_node *at, const xir_value *x, int64_t channels) {
    xir_ints dims;
    if (!map_result_dims(at, &dims)) return NULL;
    dims.v[0] = v_dim(x, 0), dims.v[1] = channels;
    return tsm_tensor(at, v_element(x), xir_layout_parse(xir_node_context(at), at->order, NULL), &dims);
}

static xir_value *with_bias(xir_node *at, xir_value *y, xir_value *bias) {
    return bias ? tsm_part(at, "tsm::add_bias", INS(y, bias), SETS(INT("dim", 1), WORD("format", XIR_STR("NCHW"))),
                       y ? xir_value_type(y) : NULL) : y;
}

#define CONV_SETS(l) SETS(WORD("format", XIR_STR("NCHW")), LIST("padding", &(l).padding), LIST("stride", &(l).stride), \
                          LIST("dilation", &(l).dilation), REAL("padding_value", 0))

/* A few groups are convolved one by one. */
static bool grouped(xir_node *at, xir_value *x, xir_value *kernel, xir_value *bias, int64_t groups, const lists *l) {
    enum { MOST_GROUPS = 16 };
    xir_value *parts[MOST_GROUPS];
    const int64_t in = v_dim(kernel, 1), out = v_dim(kernel, 0) / groups;
    if (groups > MOST_GROUPS) return xir_node_unsupported(at, "%lld groups", (long long)groups);
    const xir_ints sizes = xir_node_make_ints(at, (size_t)groups, in);
    xir_value *packed = tsm_part(at, "tsm::split", INS(x, tsm_list_of(at, &sizes, NULL)), SETS(INT("axis", 1)),
                             xir_value_type(x));
    for (int64_t g = 0; g < groups && packed; g++) {
        const xir_type *own = xir_value_type(x);
        const xir_ints dims = { (int64_t[]){ v_dim(x, 0), in, v_dim(x, 2), v_dim(x, 3) }, 4 };
        const xir_type *type = tsm_tensor(at, v_element(x), xir_type_layout(own), &dims);
        xir_value *field = tsm_part(at, "tsm::_field", INS(packed), SETS(INT("offset", g)), type);
        xir_value *weight = make_part(at, kernel, 0, g * out, (g + 1) * out, 1);
        parts[g] = field && weight ? tsm_part(at, "tsm::conv2d", INS(field, weight), CONV_SETS(*l),
                                          nchw_type(at, x, out)) : NULL;
        if (!parts[g]) return false;
    }
    const xir_type *type = nchw_type(at, x, v_dim(kernel, 0));
    xir_value *y = tsm_part(at, "tsm::concat", (xir_values){ parts, (size_t)groups }, SETS(INT("dim", 1)), type);
    return map_give(at, with_bias(at, y, bias));
}

bool tsm_back_conv(xir_node *at) {
    lists l;
    windows w;
    xir_value *x = image_input(at), *kernel = node_in_order(at, xir_node_input(at, 1), XIR_STR("OIHW"));
    xir_value *bias = xir_node_optional_input(at, 2);
    if (xir_node_failed(at) || !x || !kernel || !read_lists(at, x, &w, &l) ||
        !xir_node_need_dims(at, kernel, 0, SIZE_MAX)) return false;
    const int64_t groups = w.groups;
    if (w.mode != XIR_PADDING_ZEROS)
        return xir_node_unsupported(at, "padding of another kind than zeros");
    for (size_t i = 4; i < 8; i++)
        if (l.padding.v[i] < 0 && l.padding.v[i] + v_dim(x, i / 2) < 0)
            return xir_node_unsupported(at, "padding that removes more than there is");
    const xir_type *type = nchw_type(at, x, v_dim(kernel, 0));
    const bool depthwise = groups > 1 && v_dim(kernel, 1) == 1 && v_dim(kernel, 0) == groups;
    if (groups > 1 && !depthwise) return grouped(at, x, kernel, bias, groups, &l);
    if (depthwise) kernel = xir_node_transposed(at, kernel, (int64_t[]){ 1, 0, 2, 3 }, 4, NULL);
    xir_value *y = tsm_part(at, depthwise ? "tsm::depthwise_conv2d" : "tsm::conv2d", INS(x, kernel), CONV_SETS(l),
                             type);
    return map_give(at, with_bias(at, y, bias));
}

bool tsm_back_conv_transpose(xir_node *at) {
    lists l;
    windows w;
    xir_value *x = image_input(at), *kernel = node_in_order(at, xir_node_input(at, 1), XIR_STR("IOHW"));
    xir_value *bias = xir_node_optional_input(at, 2);
    if (xir_node_failed(at) || !x || !kernel || !read_lists(at, x, &w, &l)) return false;
    if (w.groups != 1) return xir_node_unsupported(at, "groups");
    const xir_type *type = nchw_type(at, x, v_dim(kernel, 1));
    xir_value *y = tsm_part(at, "tsm::transpose_conv2d", INS(x, kernel), CONV_SETS(l), type);
    return map_give(at, with_bias(at, y, bias));
}

/* Fewer pads at the end, so that rounding up gives what rounding down does. */
bool tsm_back_pool(xir_node *at) {
    lists l;
    windows w;
    xir_value *x = image_input(at);
    if (!x || !read_lists(at, x, &w, &l) || !xir_node_need_dims(at, x, 2, 4)) return false;
    if (w.divisor) return xir_node_unsupported(at, "a divisor of its own");
    if (v_is_integer(x)) return xir_node_unsupported(at, "integers");
    for (size_t k = 0; k < 2; k++) {
        int64_t *pads = &l.padding.v[4 + 2 * k];
        const int64_t size = l.ksize.v[2 + k];
        if (l.dilation.v[2 + k] != 1) return xir_node_unsupported(at, "a window with gaps");
        if (pads[0] >= size) return xir_node_unsupported(at, "a window in the padding alone");
        const int64_t room = v_dim(x, 2 + k) + pads[0] + pads[1] - size;
        if (room < 0) return xir_node_unsupported(at, "a window that does not fit");
        pads[1] -= room % l.stride.v[2 + k];
        if (pads[1] >= size) return xir_node_unsupported(at, "a window in the padding alone");
    }
    const xir_type *type = nchw_type(at, x, v_dim(x, 1));
    return map_give(at, tsm_part(at, "tsm::pooling2d", INS(x),
                             SETS(WORD("format", XIR_STR("NCHW")), INT("type", !w.max), LIST("padding", &l.padding),
                                  INT("padding_type", w.counts ? 3 : 0), LIST("ksize", &l.ksize),
                                  LIST("stride", &l.stride)), type));
}

/* Another mean is reduce_mean. */
bool tsm_back_global_average(xir_node *at) {
    xir_value *x = v_rank(xir_node_input(at, 0)) == 4 ? mean_of_map(at) : (node_declines(at), NULL);
    if (!x || !tsm_short_dims(at, x)) return false;
    return map_give(at, tsm_part(at, "tsm::global_pooling2d", INS(x),
                                 SETS(WORD("format", XIR_STR("NCHW")), INT("type", 1)), nchw_type(at, x, v_dim(x, 1))));
}

/* x * factor + addend of each channel. */
bool tsm_back_batch_norm(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *factor = xir_node_attr_params(at, "variance"),
              *addend = xir_node_attr_params(at, "mean");
    if (!x || !factor || !addend) return false;
    return row_becomes(at, INS(x, factor, addend), SETS(INT("dim", (int64_t)map_channels(x))));
}

/* TSM has half cells, and interpolates linearly or takes the nearest. */
bool tsm_back_upsample(xir_node *at) {
    resizing r;
    xir_value *x = image_input(at);
    if (!x || !tsm_short_dims(at, xir_op_output(at->op, 0))) return false;
    if (!resizing_form_of_op(at, &r)) return false;
    const bool linear = r.way == CELL_LINEAR, nearest = r.way == CELL_NEAREST;
    if (r.way == CELL_CUBIC || r.corners || r.computed)
        return xir_node_unsupported(at, "curves, corners, or sizes that are computed");
    if (linear && !v_is_real(x)) return xir_node_unsupported(at, "integers between those of the cells");
    const xir_type *type = nchw_type(at, x, v_dim(x, 1));
    const xir_ints size = { (int64_t[]){ -1, -1, xir_type_dim(type, 2, false), xir_type_dim(type, 3, false) }, 4 };
    for (size_t i = 2; i < 4 && nearest; i++)
        if (!tsm_same_cells(v_dim(x, i), size.v[i]))
            return xir_node_unsupported(at, "other nearest cells than TenniS's");
    return map_give(at, tsm_part(at, "tsm::_resize2d", INS(x, tsm_list_of(at, &size, NULL)),
                                 SETS(INT("type", nearest ? 2 : 0)),
                             type));
}
