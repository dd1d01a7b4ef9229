/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Windows over one or three dims in terms of windows over two, for formats that have no others: a line is an image of
 * one row; a volume is convolved slice by slice, and pooled over rows and columns first, then over slices. */
#include <math.h>
#include <stdio.h>
#include "formula/parts.h"
#include "formula/simpler.h"
#include "spec/borders.h"
#include "spec/maps.h"
#include "spec/windows.h"
#include "window_attrs.h"

enum { MOST_SLICES = 16 };   /* of a kernel */

/* Gives y, whose axes are in the order of these letters. */
static bool give_in_order(xir_node *at, xir_value *y, xir_str letters) {
    at->order = letters;
    return !xir_node_failed(at) && map_give(at, y);
}

/* The dims of the op's result in the order of these letters. */
static bool result_dims(xir_node *at, xir_str letters, xir_ints *out) {
    at->order = letters;
    return map_result_dims(at, out);
}

static void copy_number(xir_node *at, window_sets *s, const char *name) {
    if (xir_node_attr(at, name)) window_set(s, name, xir_node_int(at, name, 0));
}

/* Copies the attributes of a window over two dims: those of columns, and of rows if the op has rows. */
static void copy_window(xir_node *at, window_sets *s, size_t n) {
    for (size_t k = n - (n > 1 ? 2 : 1); k < n; k++) {
        const axis_words *w = axis_words_of(n, k);
        const char *const names[] = { w->pool, w->stride, w->dilation, w->before, w->after, w->more };
        for (size_t i = 0; i < COUNT(names); i++) copy_number(at, s, names[i]);
    }
    copy_number(at, s, "groups");
    copy_number(at, s, "count_include_pad");
    if (n == 1) copy_number(at, s, "divisor_override");
    if (xir_node_attr(at, "padding_mode"))
        s->data[s->n++] = (xir_set)WORD("padding_mode", xir_node_text(at, "padding_mode", "ZEROS"));
}

/* [a, b, w] as [a, b, 1, w]. */
static xir_value *as_rows(xir_node *at, xir_value *v, const char *order, const char *letters) {
    v = node_in_order(at, v, xir_str_of(order));
    const xir_ints own = xir_node_dims(at, v);
    if (xir_node_failed(at)) return NULL;
    const xir_ints dims = { (int64_t[]){ own.v[0], own.v[1], 1, own.v[2] }, 4 };
    return xir_node_reshaped(at, v, &dims, letters);
}

bool op_requantises(const xir_node *at) {
    xir_str other;
    const xir_field *f = xir_class_field(at->op->cls, XIR_STR("cut_scale"));
    const uint64_t all = UINT64_MAX;
    return f && !own_is_default(at->op, all ^ (UINT64_C(1) << (f - at->op->cls->fields)), &other);
}

bool simpler_line(xir_node *at) {
    const window_attrs own_windows = window_attrs_of(at->op->cls->decl, at->op->attrs);
    const bool pool = own_windows.along[0].size, back = own_windows.transposed;
    const char *cls = pool ? own_windows.max ? "MaxPool2d" : "AvgPool2d" : back ? "ConvTranspose2d" : "Conv2d";
    window_sets sets = { .n = 0 };
    xir_ints dims;
    /* some call the length W, others L */
    const xir_type *own = xir_value_type(xir_op_output(at->op, 0));
    const char *letters = xir_layout_has(xir_type_layout(own), 'L') ? "NCL" : "NCW";
    xir_value *x = as_rows(at, xir_node_input(at, 0), "NCW", "NCHW"), *kernel = NULL;
    if (!x || !result_dims(at, XIR_STR("NCW"), &dims) || op_requantises(at))
        return xir_node_unsupported(at, "another map than a line");
    if (!pool) kernel = as_rows(at, xir_node_input(at, 1), back ? "IOW" : "OIW", back ? "IOHW" : "OIHW");
    copy_window(at, &sets, 1);
    if (pool) window_set(&sets, axis_words_of(2, 0)->pool, 1);
    const xir_values inputs = pool ? INS(x) : INS(x, kernel, xir_node_optional_input(at, 2));
    xir_value *y = pool || kernel ? xir_node_make(at, cls, inputs, (xir_sets){ sets.data, sets.n }) : NULL;
    return y && give_in_order(at, xir_node_reshaped(at, y, &dims, letters), XIR_STR("NCW"));
}

/* ---- volumes ---------------------------------------------------------------------------------------------------- */

/* x in the order NCDHW, all of whose dims are known. */
static xir_value *volume(xir_node *at, xir_ints *dims, xir_ints *result) {
    xir_value *x = node_in_order(at, xir_node_input(at, 0), XIR_STR("NCDHW"));
    if (!x || !xir_node_need_dims(at, x, 0, SIZE_MAX) || !result_dims(at, XIR_STR("NCDHW"), result)) return NULL;
    *dims = xir_node_dims(at, x);
    return dims->v ? x : NULL;
}

/* Over rows and columns of each slice, then over slices. */
bool simpler_volume_pool(xir_node *at) {
    xir_ints d, r;
    window_sets flat = { .n = 0 }, deep = { .n = 0 };
    const char *cls = xir_op_is(at->op, xir_max_pool3d_class()) ? "MaxPool2d" : "AvgPool2d";
    xir_value *x = volume(at, &d, &r);
    if (!x) return false;
    if (v_is_integer(x) || xir_node_int(at, "divisor_override", 0))
        return xir_node_unsupported(at, "integers, or a divisor of its own");
    copy_window(at, &flat, 3);
    const axis_words *own = axis_words_of(3, 0), *rows = axis_words_of(2, 0), *columns = axis_words_of(2, 1);
    const char *const from[] = { own->pool, own->stride, own->dilation, own->before, own->after };
    const char *const to[] = { rows->pool, rows->stride, rows->dilation, rows->before, rows->after };
    for (size_t i = 0; i < COUNT(from); i++)
        if (xir_node_attr(at, from[i])) window_set(&deep, to[i], xir_node_int(at, from[i], 1));
    window_set(&deep, columns->pool, 1);
    copy_number(at, &deep, "count_include_pad");
    const int64_t area = product_of(&r, 3, 5), slices = d.v[1] * d.v[2];
    if (area < 0) return xir_node_unsupported(at, "dims whose product exceeds 63 bits");
    x = xir_node_reshaped(at, x, &(xir_ints){ (int64_t[]){ d.v[0], slices, d.v[3], d.v[4] }, 4 }, "NCHW");
    x = xir_node_make(at, cls, INS(x), (xir_sets){ flat.data, flat.n });
    x = xir_node_reshaped(at, x, &(xir_ints){ (int64_t[]){ d.v[0], d.v[1], d.v[2], area }, 4 }, "NCHW");
    x = xir_node_make(at, cls, INS(x), (xir_sets){ deep.data, deep.n });
    return give_in_order(at, xir_node_reshaped(at, x, &r, "NCDHW"), XIR_STR("NCDHW"));
}

/* The sum over the kernel's slices: each is convolved with the slices of x that it meets, as images of one batch. */
bool simpler_volume_conv(xir_node *at) {
    xir_ints d, r;
    window_sets sets = { .n = 0 };
    xir_value *x = volume(at, &d, &r), *kernel = node_in_order(at, xir_node_input(at, 1), XIR_STR("OIDHW")), *y = NULL;
    if (!x || !kernel || !xir_node_need_dims(at, kernel, 0, SIZE_MAX)) return false;
    const xir_ints k = xir_node_dims(at, kernel);
    if (xir_node_failed(at)) return false;
    const axis_words *w = axis_words_of(3, 0);
    const int64_t step = xir_node_int(at, w->stride, 1), gap = xir_node_int(at, w->dilation, 1);
    const int64_t before = xir_node_int(at, w->before, 0), after = xir_node_int(at, w->after, 0);
    if (!xir_node_is(at, "padding_mode", "ZEROS") || op_requantises(at) || before < 0 || after < 0)
        return xir_node_unsupported(at, "padding of another kind than zeros");
    if (k.v[2] > MOST_SLICES || r.v[2] < 1)
        return xir_node_unsupported(at, "a kernel of %lld slices", (long long)k.v[2]);
    copy_window(at, &sets, 3);
    if (before || after) {
        xir_ints pads = xir_node_make_ints(at, 10, 0);
        if (!pads.v) return false;
        pads.v[4] = before, pads.v[5] = after;
        x = zeros_around(at, x, &pads);
    }
    x = xir_node_transposed(at, x, (int64_t[]){ 0, 2, 1, 3, 4 }, 5, NULL);
    const int64_t batch = d.v[0] * r.v[2];
    for (int64_t i = 0; i < k.v[2] && !xir_node_failed(at); i++) {
        xir_value *slices = make_part(at, x, 1, i * gap, i * gap + (r.v[2] - 1) * step + 1, step);
        slices = xir_node_reshaped(at, slices, &(xir_ints){ (int64_t[]){ batch, d.v[1], d.v[3], d.v[4] }, 4 }, "NCHW");
        xir_value *own = make_part(at, kernel, 2, i, i + 1, 1);
        own = xir_node_reshaped(at, own, &(xir_ints){ (int64_t[]){ k.v[0], k.v[1], k.v[3], k.v[4] }, 4 }, "OIHW");
        xir_value *part = slices && own ? xir_node_make(at, "Conv2d",
                                                        INS(slices, own, i ? NULL : xir_node_optional_input(at, 2)),
                                                        (xir_sets){ sets.data, sets.n }) : NULL;
        y = y ? xir_node_sum(at, y, part, 1, 1) : part;
    }
    y = xir_node_reshaped(at, y, &(xir_ints){ (int64_t[]){ d.v[0], r.v[2], r.v[1], r.v[3], r.v[4] }, 5 }, NULL);
    return give_in_order(at, xir_node_transposed(at, y, (int64_t[]){ 0, 2, 1, 3, 4 }, 5, "NCDHW"), XIR_STR("NCDHW"));
}
