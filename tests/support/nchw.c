/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/nchw.h"
#include <stdio.h>

/* ---- building --------------------------------------------------------------------------------------------------- */

static xir_network *net_of(const xir_value *x) { return xir_value_network(x); }
static xir_at end_of(const xir_value *x)       { return xir_at_end(net_of(x)); }
static int64_t dim_of(const xir_value *x, int64_t i) { return xir_type_dim(xir_value_type(x), i, false); }
static size_t rank_of(const xir_value *x)      { return xir_type_rank(xir_value_type(x)); }

/* The only output of an op that must have been made. */
static xir_value *only(xir_op *op, const xir_network *net, const char *name) {
    if (!op) xir_diags_print(xir_network_diags((xir_network *)(uintptr_t)net), stderr);
    assert_non_null(op);
    xir_value *v = xir_op_output(op, 0);
    return name ? named(v, name) : v;
}

static const xir_type *tensor(const char *letters, const int64_t *dims, size_t rank) {
    const xir_type *element = xir_type_float(ctx, XIR_FLOAT_FP32);
    return letters ? xir_type_tensor_text(ctx, element, letters, dims, rank)
           : xir_type_tensor(ctx, element, NULL, dims, rank);
}

xir_value *nchw_begin(xir_network **net, const int64_t *dims, size_t rank) {
    *net = new_net();
    return named(xir_input(xir_at_end(*net), "in", tensor(NULL, dims, rank)), "x");
}

void nchw_end(xir_values results) {
    assert_non_null(xir_output(end_of(results.data[0]), results));
    assert_int_equal(xir_network_status(net_of(results.data[0])), XIR_OK);
}

xir_value *nchw_params(xir_network *net, const char *name, const char *letters, const int64_t *dims, size_t rank) {
    static uint64_t seed;
    xir_array *array = xir_array_random(ctx, tensor(letters, dims, rank), ++seed, why);
    assert_non_null(array);
    xir_value *v = xir_params_from_array(net, xir_str_of(name), array);
    assert_non_null(v);
    xir_array_free(array);
    return v;
}

xir_value *nchw_transpose(xir_value *x, const char *letters, const int64_t *dims, size_t rank) {
    xir_transpose_attrs a = xir_transpose_init();
    a.dims = (xir_i64s){ dims, rank };
    a.layout = letters ? xir_layout_parse(ctx, xir_str_of(letters), NULL) : xir_layout_default(ctx, rank);
    return only(xir_add_transpose(end_of(x), (xir_transpose_in){ x }, &a), net_of(x), NULL);
}

xir_value *channels_last(xir_value *x) {
    switch (rank_of(x)) {
    case 3:  return TRANSPOSE(x, "NLC", 0, 2, 1);
    case 4:  return TRANSPOSE(x, "NHWC", 0, 2, 3, 1);
    default: return TRANSPOSE(x, "NDHWC", 0, 2, 3, 4, 1);
    }
}

xir_value *channels_first(xir_value *x) {
    switch (rank_of(x)) {
    case 3:  return TRANSPOSE(x, NULL, 0, 2, 1);
    case 4:  return TRANSPOSE(x, NULL, 0, 3, 1, 2);
    default: return TRANSPOSE(x, NULL, 0, 4, 1, 2, 3);
    }
}

static xir_value *back(xir_op *op, const xir_network *net, const char *name) {
    return named(channels_first(only(op, net, NULL)), name);
}

xir_value *nchw_conv(xir_value *x, int64_t channels, int64_t k, const char *name) {
    xir_network *net = net_of(x);
    int64_t in = dim_of(x, 1), pad = k / 2;
    char weights[64], bias[64];
    snprintf(weights, sizeof weights, "%s.w", name);
    snprintf(bias, sizeof bias, "%s.b", name);
    xir_value *b = PARAMS(net, bias, "C", channels);
    xir_value *last = channels_last(x);
    if (rank_of(x) == 3) {
        xir_conv1d_attrs a = xir_conv1d_init();
        a.pad_left = a.pad_right = pad;
        return back(xir_add_conv1d(end_of(x), (xir_conv1d_in){ last, PARAMS(net, weights, "LIO", k, in, channels), b },
                                   &a), net, name);
    }
    if (rank_of(x) == 5) {
        xir_conv3d_attrs a = xir_conv3d_init();
        a.pad_front = a.pad_back = a.pad_top = a.pad_bottom = a.pad_left = a.pad_right = pad;
        return back(xir_add_conv3d(end_of(x),
                                   (xir_conv3d_in){ last, PARAMS(net, weights, "DHWIO", k, k, k, in, channels), b },
                                   &a), net, name);
    }
    xir_conv2d_attrs a = xir_conv2d_init();
    a.pad_top = a.pad_bottom = a.pad_left = a.pad_right = pad;
    return back(xir_add_conv2d(end_of(x), (xir_conv2d_in){ last, PARAMS(net, weights, "HWIO", k, k, in, channels), b },
                               &a), net, name);
}

xir_value *nchw_pool(xir_value *x, const char *name) {
    xir_max_pool2d_attrs a = xir_max_pool2d_init();
    a.pool_width = a.pool_height = a.stride_width = a.stride_height = 2;
    return back(xir_add_max_pool2d(end_of(x), (xir_max_pool2d_in){ channels_last(x) }, &a), net_of(x), name);
}

xir_value *nchw_global_pool(xir_value *x, const char *name) {
    xir_avg_pool2d_attrs a = xir_avg_pool2d_init();
    a.pool_height = dim_of(x, 2);
    a.pool_width = dim_of(x, 3);
    return back(xir_add_avg_pool2d(end_of(x), (xir_avg_pool2d_in){ channels_last(x) }, &a), net_of(x), name);
}

xir_value *nchw_upsample(xir_value *x, int64_t height, int64_t width, const char *name) {
    xir_upsample_attrs a = xir_upsample_init();
    a.height = height;
    a.width = width;
    return back(xir_add_upsample(end_of(x), (xir_upsample_in){ channels_last(x) }, &a), net_of(x), name);
}

xir_value *nchw_batch_norm(xir_value *x, const char *name) {
    xir_batch_norm2d_attrs a = xir_batch_norm2d_init();
    a.variance = PARAMS(net_of(x), "variance", "C", dim_of(x, 1));
    a.mean = PARAMS(net_of(x), "mean", "C", dim_of(x, 1));
    return back(xir_add_batch_norm2d(end_of(x), (xir_batch_norm2d_in){ channels_last(x) }, &a), net_of(x), name);
}

xir_value *relu_of(xir_value *x, const char *name) {
    return only(xir_add_relu(end_of(x), (xir_relu_in){ x }, NULL), net_of(x), name);
}
xir_value *sigmoid_of(xir_value *x, const char *name) {
    return only(xir_add_sigmoid(end_of(x), (xir_sigmoid_in){ x }, NULL), net_of(x), name);
}
xir_value *add_of(xir_value *a, xir_value *b, const char *name) {
    return only(xir_add_add(end_of(a), (xir_add_in){ a, b }, NULL), net_of(a), name);
}
xir_value *multiply_of(xir_value *a, xir_value *b, const char *name) {
    return only(xir_add_multiply(end_of(a), (xir_multiply_in){ a, b }, NULL), net_of(a), name);
}

xir_value *concat_of(xir_values inputs, int64_t axis, const char *name) {
    xir_concat_attrs a = xir_concat_init();
    a.axis = axis;
    return only(xir_add_concat(end_of(inputs.data[0]), (xir_concat_in){ inputs }, &a), net_of(inputs.data[0]), name);
}

xir_value *reshape_of(xir_value *x, const char *name, const int64_t *dims, size_t rank) {
    xir_reshape_attrs a = xir_reshape_init();
    a.shape = (xir_i64s){ dims, rank };
    a.layout = xir_layout_default(ctx, rank);
    return only(xir_add_reshape(end_of(x), (xir_reshape_in){ x }, &a), net_of(x), name);
}

xir_value *matmul_of(xir_value *x, int64_t columns, const char *name) {
    char weights[64];
    snprintf(weights, sizeof weights, "%s.w", name);
    xir_value *k = PARAMS(net_of(x), weights, NULL, dim_of(x, -1), columns);
    return only(xir_add_matmul(end_of(x), (xir_matmul_in){ x, k, NULL }, NULL), net_of(x), name);
}

size_t count_of(const xir_network *net, const xir_class_decl *decl) {
    size_t n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) n += xir_op_is(op, decl);
    return n;
}

/* ---- proof ------------------------------------------------------------------------------------------------------ */

enum { MOST = 16 };

typedef struct ends { xir_value *values[MOST]; size_t n; } ends;

static ends arguments_of(const xir_network *net) {
    ends e;
    e.n = xir_network_inputs(net, e.values, MOST);
    return e;
}

static ends results_of(const xir_network *net) {
    ends e;
    e.n = xir_network_outputs(net, e.values, MOST);
    return e;
}

/* The array with its channels moved last or first if its dims differ from those of the type; otherwise the array
 * itself. */
static xir_array *turned(xir_array *array, const xir_type *type, bool last) {
    const xir_tensor_type *from = xir_type_as_tensor(xir_array_type(array));
    size_t rank = from->shape.size, n = xir_array_count(array);
    bool same = true;
    for (size_t i = 0; i < rank; i++) same &= from->shape.data[i] == xir_type_dim(type, (int64_t)i, false);
    if (same) return array;
    xir_array *out = xir_array_new(ctx, type, why);
    assert_non_null(out);
    const float *a = xir_array_data(array, NULL);
    float *b = xir_array_edit(out);
    size_t channels = (size_t)from->shape.data[last ? 1 : rank - 1], batch = (size_t)from->shape.data[0];
    size_t cells = n / channels / batch;
    for (size_t i = 0; i < batch; i++) {
        for (size_t k = 0; k < cells; k++) {
            for (size_t c = 0; c < channels; c++) {
                size_t before = (i * channels + c) * cells + k, after = (i * cells + k) * channels + c;
                memcpy(&b[last ? after : before], &a[last ? before : after], sizeof *a);
            }
        }
    }
    xir_array_free(array);
    return out;
}

static void run(const xir_network *net, xir_array **in, size_t n_in, xir_array **out, size_t n_out,
                const char *file, int line) {
    const xir_op *missing = xir_network_first_unrunnable(net);
    if (missing)
        print_error("no kernel for %.*s\n", (int)xir_class_key(xir_op_class(missing)).size,
                    xir_class_key(xir_op_class(missing)).data);
    xir_diags_clear(why);
    xir_status status = xir_network_run(net, (const xir_array *const *)in, n_in, out, n_out, NULL, why);
    if (status) xir_diags_print(why, stderr);
    _assert_int_equal(status, XIR_OK, file, line);
}

static void compare(xir_array *before, xir_array *after, const xir_value *result, double tolerance,
                    const char *file, int line) {
    xir_difference d;
    _assert_int_equal(xir_array_compare(before, after, tolerance, tolerance, &d), XIR_OK, file, line);
    if (!d.same_shape || d.count) {
        print_error("%.*s: %zu of %zu differ, first %zu: %g became %g\n", (int)xir_value_name(result).size,
                    xir_value_name(result).data, d.count, xir_array_count(before), d.first, d.a, d.b);
    }
    _assert_true(d.same_shape && d.count == 0, "the results are the same", file, line);
}

size_t prove_pass(xir_network *net, const char *pass, const char *options, double tolerance,
                  const char *file, int line) {
    ends from = arguments_of(net), to = results_of(net);
    xir_array *in[MOST], *before[MOST], *after[MOST];
    char names[MOST][64];
    for (size_t i = 0; i < from.n; i++) in[i] = xir_array_random(ctx, xir_value_type(from.values[i]), i + 1, why);
    for (size_t i = 0; i < to.n; i++) {
        snprintf(names[i], sizeof names[i], "%.*s", (int)xir_value_name(to.values[i]).size,
                 xir_value_name(to.values[i]).data);
    }
    run(net, in, from.n, before, to.n, file, line);
    size_t changes = run_pass(net, pass, options, file, line);
    ends now_from = arguments_of(net), now_to = results_of(net);
    _assert_int_equal(now_to.n, to.n, file, line);
    for (size_t i = 0; i < from.n; i++) in[i] = turned(in[i], xir_value_type(now_from.values[i]), true);
    run(net, in, from.n, after, to.n, file, line);
    for (size_t i = 0; i < to.n; i++) {
        check_str(xir_value_name(now_to.values[i]), names[i], file, line);   // callers know results by their names
        after[i] = turned(after[i], xir_array_type(before[i]), false);
        compare(before[i], after[i], now_to.values[i], tolerance, file, line);
        xir_array_free(before[i]);
        xir_array_free(after[i]);
    }
    for (size_t i = 0; i < from.n; i++) xir_array_free(in[i]);
    return changes;
}
