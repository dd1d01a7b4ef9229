/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/quantiser.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <xir/icraft.h>
#include "graph.h"

enum { MOST_VALUES = 64, MOST_CHANNELS = 256 };
static const double head_room = 1.05;   /* what rounding can add to the greatest numbers */

/* ---- what a run gave -------------------------------------------------------------------------------------------- */

typedef struct seen_values {
    struct { xir_str name; xir_array *array; } of[MOST_VALUES];
    size_t n;
} seen_values;

static bool see(void *user, const xir_value *value, const xir_array *array) {
    seen_values *s = user;
    assert_true(s->n < MOST_VALUES);
    s->of[s->n].name = xir_value_name(value);
    s->of[s->n++].array = xir_array_retain((xir_array *)(uintptr_t)array);
    return true;
}

static xir_array *seen_of(const seen_values *s, const xir_value *value) {
    for (size_t i = 0; i < s->n; i++) {
        if (xir_str_equal(s->of[i].name, xir_value_name(value))) return s->of[i].array;
    }
    return NULL;
}

static void forget(seen_values *s) {
    for (size_t i = 0; i < s->n; i++) xir_array_free(s->of[i].array);
    s->n = 0;
}

/* Runs a network; its inputs are recorded too. */
static void run(const xir_network *net, xir_array *const *in, size_t n_in, xir_array **out, size_t n_out,
                seen_values *seen, const char *what) {
    const xir_op *input = xir_network_input_op(net);
    for (size_t i = 0; i < n_in && seen; i++) see(seen, xir_op_output(input, (int64_t)i), in[i]);
    xir_diags_clear(why);
    xir_status status = xir_network_run(net, (const xir_array *const *)in, n_in, out, n_out,
                                        &XIR_INIT(xir_run_options, .watch = seen ? see : NULL, .user = seen), why);
    if (status) xir_diags_print(why, stderr);
    if (status) fail_msg("%s: %s", what, xir_status_name(status));
}

/* ---- ratios ----------------------------------------------------------------------------------------------------- */

typedef struct ratios {
    double of[MOST_CHANNELS];
    size_t n;
} ratios;

static size_t channels_of(const xir_type *type) {
    size_t rank = xir_type_rank(type);
    return rank ? (size_t)xir_type_dim(type, (int64_t)rank - 1, false) : 1;
}

/* The ratios of a map, one for each index of the last axis. */
static ratios ratios_of(const xir_value *map) {
    ratios r = { .n = channels_of(map->type) };
    const xir_norm_ratios *of = xir_type_norm_ratios(map->type);
    assert_true(r.n <= MOST_CHANNELS);
    if (of) assert_int_equal(xir_norm_ratios_count(of), r.n);
    for (size_t c = 0; c < r.n; c++) r.of[c] = of ? xir_norm_ratios_at(of, c) : 1;
    return r;
}

static ratios measure(const xir_array *array, const quantiser *how) {
    ratios r = { .n = channels_of(xir_array_type(array)) };
    double most = ldexp(1, (int)how->bits - 1) - 1, all = 0;
    assert_true(r.n <= MOST_CHANNELS);
    for (size_t i = 0; i < xir_array_count(array); i++) {
        double x = fabs(xir_array_real(array, i)) * head_room / most;
        if (x > r.of[i % r.n]) r.of[i % r.n] = x;
        if (x > all) all = x;
    }
    for (size_t c = 0; c < r.n; c++) r.of[c] = how->per_channel && r.of[c] > 0 ? r.of[c] : all > 0 ? all : 1;
    return r;
}

static const xir_type *with_ratios(const xir_type *type, const ratios *r, const quantiser *how) {
    int64_t m[MOST_CHANNELS], exp[MOST_CHANNELS];
    double one[MOST_CHANNELS];
    for (size_t c = 0; c < r->n; c++) m[c] = 1, exp[c] = 0, one[c] = 1;
    const xir_type *normalised = xir_type_normalized(ctx, xir_norm_ratios_from(ctx, r->of, r->n, -1),
                                                     xir_type_sint(ctx, how->bits), NULL);
    const xir_type *element = xir_type_normalized_quantized(ctx, normalised,
                                                            xir_exp_scales_from(ctx, m, exp, one, r->n, -1), NULL, 0);
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    assert_non_null(element);
    return xir_type_tensor(ctx, element, tensor->layout, tensor->shape.data, tensor->shape.size);
}

static xir_array *quantise_array(const xir_array *array, const xir_type *type, const quantiser *how) {
    xir_array *out = xir_array_new(ctx, type, why);
    const xir_norm_ratios *r = xir_type_norm_ratios(type);
    assert_non_null(out);
    for (size_t i = 0; i < xir_array_count(array); i++) {
        double stored = round(xir_array_real(array, i) / xir_norm_ratios_at(r, i % xir_norm_ratios_count(r)));
        if (how->bits == 8) ((int8_t *)xir_array_edit(out))[i] = (int8_t)stored;
        else ((int16_t *)xir_array_edit(out))[i] = (int16_t)stored;
    }
    return out;
}

/* ---- constants -------------------------------------------------------------------------------------------------- */

/* The numbers of Params; free them. */
static double *numbers_of(const xir_value *v, size_t *n) {
    xir_array *array = xir_array_from_params(v, why);
    assert_non_null(array);
    *n = xir_array_count(array);
    double *out = malloc((*n + 1) * sizeof *out);
    for (size_t i = 0; i < *n; i++) out[i] = xir_array_real(array, i);
    xir_array_free(array);
    return out;
}

/* New Params with the dims of `like`, or with one dim: 16-bit integers and a scale if the quantiser stores constants
 * so. Frees the numbers. */
static xir_value *constant(xir_network *net, const xir_value *like, double *numbers, size_t n, const quantiser *how) {
    int64_t one = (int64_t)n, count = 0;
    const xir_tensor_type *tensor = xir_type_as_tensor(like->type);
    bool same = xir_type_elements(like->type, &count) == XIR_OK && (size_t)count == n;
    const xir_type *element = xir_type_float(ctx, XIR_FLOAT_FP32);
    double most = 0, scale;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(numbers[i]));
    scale = (double)(float)(most > 0 ? most / 32767 : 1);
    if (how->constants)
        element = xir_type_quantized(ctx, xir_scales_from(ctx, &scale, 1, -1), NULL, 0, xir_type_sint(ctx, 16), NULL);
    const xir_type *type = same ? xir_type_tensor(ctx, element, tensor->layout, tensor->shape.data, tensor->shape.size)
                                : xir_type_tensor(ctx, element, NULL, &one, 1);
    xir_array *array = xir_array_new(ctx, type, why);
    assert_non_null(array);
    for (size_t i = 0; i < n; i++) {
        if (how->constants) ((int16_t *)xir_array_edit(array))[i] = (int16_t)round(numbers[i] / scale);
        else ((float *)xir_array_edit(array))[i] = (float)numbers[i];
    }
    xir_value *v = xir_params_from_array(net, xir_value_name(like), array);
    assert_non_null(v);
    xir_array_free(array);
    free(numbers);
    return v;
}

/* The numbers along the last axis, or one number, divided by the ratios of the result and multiplied by those of the
 * input (NULL: 1). */
static xir_value *along_channels(const xir_op *op, const xir_value *v, const ratios *x, const ratios *z,
                                 const quantiser *how) {
    size_t n;
    double *from = numbers_of(v, &n), *to = malloc(z->n * sizeof *to);
    assert_true(n == 1 || n == z->n);
    for (size_t c = 0; c < z->n; c++) to[c] = from[n == 1 ? 0 : c] * (x ? x->of[c] : 1) / z->of[c];
    free(from);
    return constant(op->net, v, to, z->n, how);
}

/* The weights of a convolution, or of a product with a matrix. */
static xir_value *weights(const xir_op *op, const ratios *x, const ratios *z, bool transposed, const quantiser *how) {
    const xir_value *v = xir_op_input(op, 1);
    const xir_type *type = v->type;
    int64_t rank = (int64_t)xir_type_rank(type), in = rank - 2, out = rank - 1, groups = 1;
    xir_attr a;
    if (xir_layout_index(xir_type_layout(type), 'I') >= 0) {
        in = xir_layout_index(xir_type_layout(type), 'I');
        out = xir_layout_index(xir_type_layout(type), 'O');
        DOES(xir_op_get(op, XIR_STR("groups"), &a));
        groups = a.as.i64;
    }
    size_t n, in_dim = (size_t)xir_type_dim(type, in, false), out_dim = (size_t)xir_type_dim(type, out, false);
    double *w = numbers_of(v, &n);
    for (size_t k = 0; k < n; k++) {
        size_t rest = k, index[8] = { 0 };
        for (int64_t d = rank; d-- > 0; rest /= (size_t)xir_type_dim(type, d, false)) {
            index[d] = rest % (size_t)xir_type_dim(type, d, false);
        }
        size_t i = index[in], o = index[out], group = transposed ? i / (in_dim / (size_t)groups)
            : o / (out_dim / (size_t)groups);
        w[k] *= x->of[transposed ? i : group * in_dim + i] / z->of[transposed ? group * out_dim + o : o];
    }
    return constant(op->net, v, w, n, how);
}

/* Finds m * 2^-exp, with m of 8 bits, and the value of that product. */
static double cut_to_8_bits(double x, int64_t *m, int64_t *exp) {
    *exp = 0;
    while (ldexp(x, (int)*exp) < 128) ++*exp;
    *m = (int64_t)round(ldexp(x, (int)*exp));
    return ldexp((double)*m, -(int)*exp);
}

static void set_scalars(xir_op *op, const char *name, const ratios *of) {
    const xir_object *items[MOST_CHANNELS];
    for (size_t c = 0; c < of->n; c++) items[c] = (const xir_object *)xir_scalar_real(ctx, of->of[c]);
    DOES(xir_op_set(op, xir_str_of(name), &(xir_attr){ .kind = XIR_KIND_REFS, .as.refs = { items, of->n } }));
}

/* The product of two maps: it needs scales of Nx * Ny / Nz, and ratios of the result that fit them. */
static void product_of_maps(xir_op *op, const ratios *x, const ratios *y, ratios *z, bool elementwise,
                            const quantiser *how) {
    int64_t m[MOST_CHANNELS], exp[MOST_CHANNELS];
    double cut[MOST_CHANNELS];
    for (size_t c = 0; c < z->n; c++) {
        double both = x->of[elementwise ? c : 0] * y->of[c];
        cut[c] = cut_to_8_bits(both / z->of[c], &m[c], &exp[c]);
        z->of[c] = both / cut[c];
    }
    DOES(xir_op_set(op, XIR_STR("cut_scale"), &(xir_attr){ .kind = XIR_KIND_REF,
        .as.ref = (const xir_object *)xir_exp_scales_from(ctx, m, exp, cut, z->n, -1) }));
    DOES(xir_value_set_type(xir_op_output(op, 0), with_ratios(xir_value_type(xir_op_output(op, 0)), z, how)));
}

static void store_constants(xir_op *op, const quantiser *how) {
    const xir_value *first = xir_op_input(op, 0), *second = xir_op_input(op, 1), *third = xir_op_input(op, 2);
    ratios x = ratios_of(first), y = { 0 }, z = ratios_of(xir_op_output(op, 0));
    bool maps = second && !value_is_params(second), matmul = xir_op_is(op, xir_matmul_class());
    bool conv = second && xir_layout_index(xir_type_layout(second->type), 'O') >= 0;
    if (maps) y = ratios_of(second);
    if (matmul || conv) {
        bool transposed = conv && !xir_class_field(op->cls, XIR_STR("padding_mode"));
        if (maps) product_of_maps(op, &x, &y, &z, false, how);
        else DOES(xir_op_set_input(op, 1, weights(op, &x, &z, transposed, how)));
        if (third) DOES(xir_op_set_input(op, 2, along_channels(op, third, NULL, &z, how)));
    } else if (xir_multiply_of(op)) {
        if (maps) product_of_maps(op, &x, &y, &z, true, how);
        else DOES(xir_op_set_input(op, 1, along_channels(op, second, &x, &z, how)));
    } else if (xir_add_of(op)) {
        double alpha = xir_scalar_as_real((const xir_scalar *)xir_add_of(op)->alpha.data[0]);
        double beta = xir_scalar_as_real((const xir_scalar *)xir_add_of(op)->beta.data[0]);
        for (size_t c = 0; c < z.n; c++) x.of[c] *= alpha / z.of[c];
        for (size_t c = 0; c < z.n && maps; c++) y.of[c] *= beta / z.of[c];
        set_scalars(op, "alpha", &x);
        if (maps) set_scalars(op, "beta", &y);
        else DOES(xir_op_set_input(op, 1, along_channels(op, second, NULL, &z, how)));
    } else if (xir_batch_norm2d_of(op)) {
        xir_batch_norm2d_attrs a = *xir_batch_norm2d_of(op);
        a.variance = along_channels(op, a.variance, &x, &z, how);
        a.mean = along_channels(op, a.mean, NULL, &z, how);
        DOES(xir_batch_norm2d_set(op, &a));
    }
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

/* Returns true if its result has the ratios of its input although inference leaves them to the quantiser. */
static bool passes_on(const xir_op *op) { return xir_prelu_of(op) || xir_relu_of(op); }

static void quantise_op(xir_op *op, const seen_values *seen, const quantiser *how) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        xir_value *v = &op_outputs(op)[i];
        ratios r = passes_on(op) ? ratios_of(xir_op_input(op, 0)) : measure(seen_of(seen, v), how);
        DOES(xir_value_set_type(v, with_ratios(v->type, &r, how)));
    }
    if (op->n_inputs && xir_op_infer(op, true) != XIR_OK) xir_network_clear_status(op->net);
    if (op->n_inputs) store_constants(op, how);
}

quantised quantise_story(const char *text, const quantiser *how) {
    quantised q = { .text = text, .real = story_net(text) };
    seen_values seen = { .n = 0 };
    xir_array *out[4] = { NULL };
    const xir_op *input = xir_network_input_op(q.real);
    q.n_in = xir_op_output_count(input);
    q.n_out = xir_op_input_count(xir_network_output_op(q.real));
    for (size_t i = 0; i < q.n_in; i++) {
        q.in[i] = xir_array_random(ctx, xir_value_type(xir_op_output(input, (int64_t)i)), i + 7, why);
    }
    run(q.real, q.in, q.n_in, out, q.n_out, &seen, text);
    for (size_t i = 0; i < q.n_out; i++) xir_array_free(out[i]);
    q.net = xir_network_clone(q.real);
    assert_non_null(q.net);
    for (xir_op *op = q.net->first; op; op = op->next) {
        if (op != xir_network_output_op(q.net)) quantise_op(op, &seen, how);
    }
    if (xir_network_validate(q.net, why) != XIR_OK) xir_diags_print(why, stderr);
    DOES(xir_network_status(q.net));
    for (size_t i = 0; i < q.n_in; i++) {
        q.quantised[i] = quantise_array(q.in[i], xir_value_type(xir_op_output(xir_network_input_op(q.net), (int64_t)i)),
                                        how);
    }
    forget(&seen);
    return q;
}

void quantised_free(quantised *q) {
    for (size_t i = 0; i < q->n_in; i++) {
        xir_array_free(q->in[i]);
        xir_array_free(q->quantised[i]);
    }
    xir_network_free(q->net);
    xir_network_free(q->real);
}

/* The numbers that an array stands for, as floats. */
static xir_array *as_floats(const xir_array *array) {
    const xir_tensor_type *tensor = xir_type_as_tensor(xir_array_type(array));
    const xir_type *fp32 = xir_type_float(ctx, XIR_FLOAT_FP32);
    xir_array *out =
        xir_array_new(ctx, xir_type_tensor(ctx, fp32, tensor->layout, tensor->shape.data, tensor->shape.size), why);
    assert_non_null(out);
    for (size_t i = 0; i < xir_array_count(array); i++)
        ((float *)xir_array_edit(out))[i] = (float)xir_array_real(array, i);
    return out;
}

static void check_op(const quantised *q, const xir_op *op, const seen_values *seen, const char *what) {
    xir_array *in[8] = { NULL }, *out[4] = { NULL };
    char name[64];
    snprintf(name, sizeof name, "%.*s", CLIP(xir_value_name(&op_outputs(op)[0])));
    const xir_op *real = story_op(q->real, name);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        xir_array *array = op_inputs(op)[i].value ? seen_of(seen, op_inputs(op)[i].value) : NULL;
        if (array && !value_is_params(op_inputs(op)[i].value)) in[i] = as_floats(array);
    }
    DOES(xir_op_run(real, (const xir_array *const *)in, op->n_inputs, out, op->n_outputs, NULL, why));
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        const xir_array *found = seen_of(seen, &op_outputs(op)[k]);
        ratios step = ratios_of(&op_outputs(op)[k]);
        for (size_t i = 0; i < xir_array_count(found); i++) {
            double x = xir_array_real(found, i), expected = xir_array_real(out[k], i);
            if (fabs(x - expected) <= step.of[i % step.n]) continue;
            fail_msg("%s: %.*s '%.*s': element %zu is %g, expected %g; a step is %g", what, (int)op->cls->key.size,
                     op->cls->key.data, CLIP(xir_value_name(&op_outputs(op)[k])), i, x, expected, step.of[i % step.n]);
        }
        xir_array_free(out[k]);
    }
    for (uint32_t i = 0; i < op->n_inputs; i++) xir_array_free(in[i]);
}

void check_each_op(const quantised *q, const char *what) {
    seen_values seen = { .n = 0 };
    xir_array *out[4] = { NULL };
    run(q->net, q->quantised, q->n_in, out, q->n_out, &seen, what);
    for (const xir_op *op = q->net->first; op; op = op->next) {
        if (op->n_inputs && op->n_outputs) check_op(q, op, &seen, what);
    }
    for (size_t i = 0; i < q->n_out; i++) xir_array_free(out[i]);
    forget(&seen);
}

void check_same_outputs(const quantised *q, const xir_network *net, const char *what) {
    xir_array *before[4] = { NULL }, *after[4] = { NULL };
    run(q->net, q->quantised, q->n_in, before, q->n_out, NULL, what);
    run(net, q->quantised, q->n_in, after, q->n_out, NULL, what);
    for (size_t i = 0; i < q->n_out; i++) {
        xir_difference d;
        DOES(xir_array_compare(after[i], before[i], 0, 0, &d));
        if (!d.same_shape || d.count)
            fail_msg("%s: output %zu: element %zu is %g and was %g", what, i, d.first, d.a, d.b);
        xir_array_free(before[i]);
        xir_array_free(after[i]);
    }
}
