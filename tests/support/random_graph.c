/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/random_graph.h"
#include <stdio.h>
#include "support/op_list.h"

static bool once_in(uint64_t n) { return chance(n) == 0; }

enum { MOST_VALUES = 80, STEPS = 40, RESULTS = RANDOM_RESULTS };

typedef struct maker {
    xir_network *net;
    xir_value   *values[MOST_VALUES];
    size_t       n, made;
    xir_value   *odd;         /* without elements, or with unknown dims: only used as a result */
} maker;

static void keep(maker *m, const xir_op *op) {
    if (!op) {   /* a random request may be refused */
        xir_network_clear_status(m->net);
        return;
    }
    for (size_t i = 0; i < xir_op_output_count(op); i++) {
        char name[24];
        xir_value *v = xir_op_output(op, (int64_t)i);
        snprintf(name, sizeof name, "v%zu", m->made++);
        if (!once_in(5)) DOES(xir_value_set_name(v, xir_str_of(name)));
        int64_t count;
        if (xir_type_elements(xir_value_type(v), &count) || count <= 0) m->odd = v;
        else if (m->n < MOST_VALUES) m->values[m->n++] = v;
    }
}

static xir_i64s dims_of(const xir_value *v) { return xir_type_as_tensor(xir_value_type(v))->shape; }

/* A value, usually a recent one. */
static xir_value *some(const maker *m) {
    size_t from = once_in(3) || m->n < 6 ? 0 : m->n - 6;
    return m->values[from + chance(m->n - from)];
}

static bool is_fp32(const xir_value *v) { return xir_type_storage_bits(xir_value_type(v)) == 32; }

static xir_value *some_fp32(const maker *m) {
    xir_value *v;
    do v = some(m);
    while (!is_fp32(v));
    return v;
}

static xir_value *numbers(const maker *m, const xir_type *type) {
    float data[256];
    int64_t n;
    DOES(xir_type_elements(type, &n));
    if (n > 256) return NULL;
    for (int64_t i = 0; i < n; i++) data[i] = (float)((int)chance(5) - 2);
    return xir_params_copy(m->net, XIR_STR("p"), type, data, (size_t)n * 4);
}

static const char letters[] = "******";
static const xir_layout *layout_of(size_t rank) { return xir_layout_parse(ctx, (xir_str){ letters, rank }, NULL); }

static void step_reshape(maker *m) {
    xir_value *x = some(m);
    xir_i64s dims = dims_of(x);
    int64_t shape[6];
    size_t n = 0;
    for (size_t i = 0; i < dims.size && n < 5; i++) {   /* splits 6 into 2 3, merges neighbours, adds or removes 1 */
        int64_t d = dims.data[i];
        if (once_in(3) && n && d != 0) shape[n - 1] *= d;
        else if (d == 6 && once_in(2)) shape[n++] = 2, shape[n++] = 3;
        else if (once_in(4)) shape[n++] = 1, shape[n++] = d;
        else shape[n++] = d;
    }
    if (n && once_in(3)) shape[chance(n)] = -1;
    xir_reshape_attrs a = xir_reshape_init();
    a.shape = (xir_i64s){ shape, n };
    a.layout = layout_of(n);
    keep(m, xir_add_reshape(xir_at_end(m->net), (xir_reshape_in){ x }, &a));
}

static void step_transpose(maker *m) {
    xir_value *x = some(m);
    size_t n = dims_of(x).size;
    int64_t dims[6];
    for (size_t i = 0; i < n; i++) {
        size_t j = chance(i + 1);
        dims[i] = dims[j];
        dims[j] = (int64_t)i;
    }
    for (size_t i = 0; i < n; i++) dims[i] -= once_in(4) ? (int64_t)n : 0;
    xir_transpose_attrs a = xir_transpose_init();
    a.dims = (xir_i64s){ dims, n };
    a.layout = layout_of(n);
    keep(m, xir_add_transpose(xir_at_end(m->net), (xir_transpose_in){ x }, &a));
}

static void step_slice(maker *m) {
    xir_value *x = some(m);
    size_t n = dims_of(x).size;
    int64_t begin[6], end[6], stride[6];
    for (size_t i = 0; i < n; i++) {
        bool whole = once_in(2);
        begin[i] = whole ? 0 : (int64_t)chance(9) - 4;
        end[i] = whole ? INT64_MAX : (int64_t)chance(12) - 4;
        stride[i] = whole ? 1 : (int64_t)chance(5) - 2;
        if (!stride[i]) stride[i] = 1;
    }
    xir_slice_attrs a = xir_slice_init();
    a.begin = (xir_i64s){ begin, n };
    a.end = (xir_i64s){ end, n };
    a.stride = (xir_i64s){ stride, n };
    keep(m, xir_add_slice(xir_at_end(m->net), (xir_slice_in){ x }, &a));
}

static void step_concat(maker *m) {
    xir_value *x = some(m), *parts[4];
    size_t n = 1 + chance(3);
    for (size_t i = 0; i < n; i++) {
        parts[i] = some(m);
        if (!xir_type_equal(xir_value_type(parts[i]), xir_value_type(x))) parts[i] = x;
    }
    xir_concat_attrs a = xir_concat_init();
    a.axis = once_in(2) ? -1 : (int64_t)chance(dims_of(x).size + 1);
    int64_t count;
    if (xir_type_elements(xir_value_type(x), &count) || count * (int64_t)n > 5000) return;
    keep(m, xir_add_concat(xir_at_end(m->net), (xir_concat_in){ { parts, n } }, &a));
}

static void step_split(maker *m) {
    xir_value *x = some(m);
    xir_i64s dims = dims_of(x);
    if (!dims.size) return;
    size_t axis = chance(dims.size);
    int64_t first = 1 + (int64_t)chance((uint64_t)dims.data[axis] + 1), sections[] = { first, dims.data[axis] - first };
    xir_split_attrs a = xir_split_init();
    a.axis = (int64_t)axis;
    a.sections = (xir_i64s){ sections, sections[1] > 0 ? 2 : 1 };
    keep(m, xir_add_split(xir_at_end(m->net), (xir_split_in){ x }, &a));
}

/* Gathers of the indices of a dim, each of them or all but one, in a random direction. */
static void step_gathers(maker *m) {
    xir_value *x = some(m);
    const xir_i64s dims = dims_of(x);
    xir_gather_attrs a = xir_gather_init();
    a.axis = dims.size ? (int64_t)chance(dims.size) : 0;
    const int64_t n = dims.size ? dims.data[a.axis] : 0;
    if (n < 2 || n > 6) return;
    const bool backward = once_in(2);
    for (int64_t i = once_in(4); i < n; i++) {
        const int64_t index = backward ? -1 - i : i;
        const xir_type *type = xir_type_tensor(ctx, xir_type_sint(ctx, 64), xir_layout_default(ctx, 0), NULL, 0);
        xir_value *which = constant(m->net, "index", type, &index, sizeof index);
        keep(m, xir_add_gather(xir_at_end(m->net), (xir_gather_in){ x, which }, &a));
    }
}

static void step_pair(maker *m) {
    xir_value *x = some_fp32(m), *y = some(m);
    if (once_in(3)) {
        const xir_type *scalar = xir_type_tensor(ctx, xir_type_element(xir_value_type(x)),
                                                 xir_layout_default(ctx, 0), NULL, 0);
        y = numbers(m, once_in(2) ? scalar : xir_value_type(x));
    }
    if (!y || !is_fp32(y)) return;
    if (once_in(3)) keep(m, xir_add_maximum(xir_at_end(m->net), (xir_maximum_in){ x, y }, NULL));
    else keep(m, xir_add_add(xir_at_end(m->net), (xir_add_in){ x, y }, NULL));
}

static void step_alone(maker *m) {
    xir_value *x = some_fp32(m);
    xir_at at = xir_at_end(m->net);
    switch (chance(5)) {
    case 0: keep(m, xir_add_relu(at, (xir_relu_in){ x }, NULL)); break;
    case 1: keep(m, xir_add_neg(at, (xir_neg_in){ x }, NULL)); break;
    case 2: keep(m, xir_add_copy(at, (xir_copy_in){ x }, NULL)); break;
    case 3: {
        xir_cast_attrs a = xir_cast_init();
        a.target_dtype = xir_type_as_tensor(xir_value_type(x));
        keep(m, xir_add_cast(at, (xir_cast_in){ x }, &a));
        break;
    }
    default: {
        xir_squeeze_attrs a = xir_squeeze_init();
        keep(m, xir_add_squeeze(at, (xir_squeeze_in){ x }, &a));
    }
    }
}

static xir_value *step_cast(maker *m, xir_value *x, const xir_type *element) {
    const xir_tensor_type *t = xir_type_as_tensor(xir_value_type(x));
    x = cast(m->net, x, xir_type_tensor(ctx, element, t->layout, t->shape.data, t->shape.size), "");
    keep(m, xir_value_op(x));
    return x;
}

static xir_op *compare(xir_network *net, xir_value *x, xir_value *y) {
    xir_at at = xir_at_end(net);
    switch (chance(6)) {
    case 0:  return xir_add_less(at, (xir_less_in){ x, y }, NULL);
    case 1:  return xir_add_less_equal(at, (xir_less_equal_in){ x, y }, NULL);
    case 2:  return xir_add_greater(at, (xir_greater_in){ x, y }, NULL);
    case 3:  return xir_add_greater_equal(at, (xir_greater_equal_in){ x, y }, NULL);
    case 4:  return xir_add_equal(at, (xir_equal_in){ x, y }, NULL);
    default: return xir_add_not_equal(at, (xir_not_equal_in){ x, y }, NULL);
    }
}

/* A few numbers of the type of `v`, of integers of 8 or 64 bits. */
static xir_value *integers(maker *m, const xir_value *v) {
    int8_t few[256];
    int64_t data[256], n;
    DOES(xir_type_elements(xir_value_type(v), &n));
    if (n > 256) return NULL;
    for (int64_t i = 0; i < n; i++) data[i] = few[i] = (int8_t)((int)chance(5) - 2);
    const size_t size = (size_t)(xir_type_storage_bits(xir_value_type(v)) / 8);
    return xir_params_copy(m->net, XIR_STR("p"), xir_value_type(v), size == 1 ? (void *)few : data, (size_t)n * size);
}

/* A comparison of reals or integers, usually with Not after it, and numbers made of it. */
static void step_compare(maker *m) {
    xir_value *x = some_fp32(m), *y = some_fp32(m);
    const bool fits = xir_type_equal(xir_value_type(x), xir_value_type(y)) && !once_in(3);
    if (!once_in(4)) {
        const xir_type *integer = xir_type_sint(ctx, once_in(2) ? 64 : 8);
        x = step_cast(m, x, integer);
        y = fits ? step_cast(m, y, integer) : integers(m, x);
    } else if (!fits) {
        y = numbers(m, xir_value_type(x));
    }
    if (!y) return;
    const xir_op *op = compare(m->net, x, y);
    if (once_in(3)) keep(m, op);     /* another op may use it, too */
    for (size_t i = chance(3); op && i > 0; i--)
        op = xir_add_logical_not(xir_at_end(m->net), (xir_logical_not_in){ xir_op_output(op, 0) }, NULL);
    keep(m, op);
    if (op && once_in(2)) step_cast(m, xir_op_output(op, 0), xir_type_float(ctx, XIR_FLOAT_FP32));
}

static void step_pad(maker *m) {
    xir_value *x = some_fp32(m);
    int64_t padding[12] = { 0 };
    xir_i64s dims = dims_of(x);
    if (dims.size && once_in(2)) padding[chance(dims.size * 2)] = 1;
    xir_pad_attrs a = xir_pad_init();
    a.padding = (xir_i64s){ padding, dims.size * 2 };
    keep(m, xir_add_pad(xir_at_end(m->net), (xir_pad_in){ x }, &a));
}

/* An op of constants alone. */
static void step_constant(maker *m) {
    xir_value *x = numbers(m, FP32("**", 2, 3)), *y = numbers(m, FP32("**", 2, 3));
    const xir_op *op = xir_add_add(xir_at_end(m->net), (xir_add_in){ x, y }, NULL);
    keep(m, op);
}

static void step_shape(maker *m) {
    xir_shape_attrs a = xir_shape_init();
    a.start = (int64_t)chance(3) - 1;
    const xir_op *op = xir_add_shape(xir_at_end(m->net), (xir_shape_in){ some(m) }, &a);
    keep(m, op);
    if (op && once_in(2))
        keep(m,
             xir_add_constant_of_shape(xir_at_end(m->net), (xir_constant_of_shape_in){ xir_op_output(op, 0) }, NULL));
}

/* A copy of an existing op. */
static void step_again(maker *m) {
    const xir_op *op = xir_value_op(some(m));
    if (op == xir_network_first(m->net)) return;
    xir_op *copy = xir_op_clone(op);
    assert_non_null(copy);
    DOES(xir_op_place(copy, NULL));
    keep(m, copy);
}

/* As a conversion does it: the channels move to the end for a window op, and back. */
static void step_window(maker *m) {
    xir_value *x = some_fp32(m);
    xir_i64s dims = dims_of(x);
    if (dims.size != 4) return;
    xir_at at = xir_at_end(m->net);
    x = transpose(m->net, x, "NHWC", LIST(0, 2, 3, 1), "");
    int64_t c = dims.data[1], rows = dims.data[2], columns = dims.data[3];
    if (once_in(3) && rows > 1 && columns > 1) {
        x = XIR_MAX_POOL2D(at, .input = x, .k = 2);
    } else if (once_in(3) && rows * columns < 16 && !(rows * columns & (rows * columns - 1))) {   /* exact */
        xir_avg_pool2d_attrs a = xir_avg_pool2d_init();
        a.pool_height = rows;
        a.pool_width = columns;
        x = XIR_OP(at, avg_pool2d, .input = x, .attrs = &a);
    } else if (once_in(2)) {   /* each output is an input or its negative, so the numbers don't grow */
        float w[8 * 8] = { 0 }, b[8] = { 0 };
        int64_t to = 1 + (int64_t)chance(4);
        if (c > 8) return;
        for (int64_t o = 0; o < to; o++)
            w[(int64_t)chance((uint64_t)c) * to + o] = once_in(2) ? 1 : -1, b[o] = (float)chance(3);
        xir_value *weights = constant(m->net, "w", FP32("HWIO", 1, 1, c, to), w, (size_t)(c * to) * 4);
        xir_value *bias = constant(m->net, "b", FP32("C", to), b, (size_t)to * 4);
        x = XIR_CONV2D(at, .input = x, .weights = weights, .bias = once_in(2) ? bias : NULL);
    } else {
        float factors[8], addends[8];
        if (c > 8) return;
        for (int64_t i = 0; i < c; i++) factors[i] = once_in(2) ? 1 : -1, addends[i] = (float)chance(3);
        xir_batch_norm2d_attrs a = xir_batch_norm2d_init();
        a.variance = constant(m->net, "v", FP32("C", c), factors, (size_t)c * 4);
        a.mean = constant(m->net, "m", FP32("C", c), addends, (size_t)c * 4);
        x = XIR_OP(at, batch_norm2d, .input = x, .attrs = &a);
    }
    assert_non_null(x);
    x = transpose(m->net, x, "****", LIST(0, 3, 1, 2), "");
    keep(m, xir_value_op(x));
}

static bool is_among(xir_value *const *values, size_t n, const xir_value *v) {
    for (size_t i = 0; i < n; i++) {
        if (values[i] == v) return true;
    }
    return false;
}

xir_network *random_graph(uint64_t seed) {
    static void (*const steps[])(maker *m) = { step_reshape, step_reshape, step_transpose, step_transpose, step_slice,
                                               step_slice, step_concat, step_split, step_pair,
                                               step_pair, step_alone, step_alone, step_pad, step_constant, step_shape,
                                               step_again, step_again, step_window, step_window, step_window,
                                               step_gathers, step_compare };
    maker m = { .net = new_net() };
    chance_begin(seed);
    const xir_type *types[] = { FP32("**", 2, 6), FP32("****", 1, 4, 3, 2) };
    keep(&m, xir_inputs(xir_at_end(m.net), "in", types, 2));
    for (int i = 0; i < STEPS; i++) steps[chance(COUNT(steps))](&m);
    xir_value *out[RESULTS] = { m.odd ? m.odd : some(&m) };
    for (size_t i = 1; i < RESULTS; i++) {
        do out[i] = some(&m);
        while (is_among(out, i, out[i]));
    }
    results(m.net, (xir_values){ out, COUNT(out) });
    return m.net;
}
