/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The constants of convolutions and matrix products. Weights of b bits are symmetric: Sw = max |w| / (2^(b-1) - 1),
 * for each output channel or for all. A bias of integers has the scale float(Sx * Sw); where it would not fit, Sw of
 * the channel grows until it does. Every product gets constants of its own. */
#include <float.h>
#include <math.h>
#include <xir/ops.h>
#include "constants.h"
#include "support/upkeep.h"

bool is_product(const xir_op *op) {
    return xir_op_is(op, xir_conv1d_class()) || xir_op_is(op, xir_conv2d_class()) ||
           xir_op_is(op, xir_conv3d_class()) || xir_op_is(op, xir_conv_transpose1d_class()) ||
           xir_op_is(op, xir_conv_transpose2d_class()) || xir_op_is(op, xir_conv_transpose3d_class()) ||
           xir_op_is(op, xir_matmul_class());
}

bool product_fits(const xir_op *op) {
    size_t maps = 0;
    for (int64_t i = 0; i < 2; i++) {
        const xir_value *v = xir_op_input(op, i);
        int64_t n;
        if (!v || (!is_stored(v) && !is_constant(v))) return false;
        if (is_constant(v) && (xir_type_elements(v->type, &n) || n == 0)) return false;
        maps += is_stored(v);
    }
    return maps > 0;
}

static const xir_type *integers(const quantizing *q, const double *scales, size_t n, int64_t axis, int64_t bits) {
    xir_context *ctx = q->net->ctx;
    const xir_scales *array = xir_scales_from(ctx, scales, n, n > 1 ? axis : -1);
    const xir_type *storage = xir_type_sint(ctx, bits);
    return array && storage ? xir_type_quantized(ctx, array, NULL, 0, storage, NULL) : NULL;
}

/* ---- one product ------------------------------------------------------------------------------------------------- */

typedef struct product {
    xir_op   *op;
    uint32_t  at;              /* the input that has the weights                          */
    int64_t   axis, channels;  /* of the weights: the dim of output channels; -1: one scale */
    double    sx;              /* the scale of the map; 0: it has several                 */
} product;

static int64_t weight_bits(const quantizing *q, const product *p) {
    const op_precision *said = precision_of(&q->precision, p->op);
    if (q->scheme.weight_bits) return q->scheme.weight_bits;
    return said && said->bits ? said->bits : q->bits;
}
static double most_weight(const quantizing *q, const product *p) { return ldexp(1, (int)weight_bits(q, p) - 1) - 1; }
static double most_bias(const quantizing *q) { return ldexp(1, (int)q->scheme.bias_bits - 1) - 1; }
static bool   is_scaled(const quantizing *q) { return q->scheme.bias == XIR_SCHEME_BIAS_PRODUCT; }

/* The scale Sw of each channel: that of the weights, or a larger one that the bias needs. */
static void choose_scales(const quantizing *q, const product *p, const double *most, const double *bias, size_t n,
                          size_t n_bias, double *scales) {
    for (size_t c = 0; c < n; c++) {
        double scale = most[c] > 0 ? most[c] / most_weight(q, p) : 1;
        if (bias && p->sx > 0) {
            double b = 0;
            for (size_t k = 0; k < n_bias; k++) b = (n == 1 || k == c) && bias[k] > b ? bias[k] : b;
            scale = fmax(scale, fmax(b / most_bias(q), (double)FLT_MIN) / p->sx * (1 + 1e-6));
        }
        scales[c] = scale_of(q, scale);
    }
}

static xir_status store_bias(quantizing *q, const product *p, const constant *bias, const double *scales, size_t n) {
    const xir_allocator *alloc = &q->net->alloc;
    const xir_type *element = is_scaled(q) ? NULL : xir_type_float(q->net->ctx, q->scheme.bias_format);
    double *own = NULL;
    if (is_scaled(q)) {
        own = mem_new(alloc, bias->n * sizeof *own);
        if (!own) return XIR_E_MEMORY;
        for (size_t c = 0; c < bias->n; c++) own[c] = (double)(float)(p->sx * scales[n == 1 ? 0 : c]);
        element = integers(q, own, bias->n, bias->axis, q->scheme.bias_bits);
    }
    xir_value *made = element ? constant_store(q, bias, element, own, is_scaled(q) ? most_bias(q) : 0) : NULL;
    mem_free(alloc, own, bias->n * sizeof *own);
    return made ? xir_op_set_input(p->op, 2, made) : XIR_E_MEMORY;
}

static xir_status store_weights(quantizing *q, const product *p, const constant *w, const double *scales) {
    const xir_type *element = integers(q, scales, w->n, w->axis, weight_bits(q, p));
    xir_value *made = element ? constant_store(q, w, element, scales, most_weight(q, p)) : NULL;
    return made ? xir_op_set_input(p->op, p->at, made) : XIR_E_MEMORY;
}

/* `room` has twice the channels of the weights, and the channels of the bias. */
static xir_status store_both(quantizing *q, const product *p, const constant *w, const constant *bias, double *room) {
    double *most = room, *scales = most + w->n, *of_bias = scales + w->n;
    xir_status status = constant_look(q, p->op, w, most);
    if (!status && bias) status = constant_look(q, p->op, bias, of_bias);
    if (status) return status;
    const bool scaled = bias && is_scaled(q);
    choose_scales(q, p, most, scaled ? of_bias : NULL, w->n, bias ? bias->n : 0, scales);
    status = store_weights(q, p, w, scales);
    return status || !bias ? status : store_bias(q, p, bias, scales, w->n);
}

/* The bias, if it can be stored: a constant with a number for each output channel, or one scale for all. */
static xir_status open_bias(quantizing *q, const product *p, const constant *w, constant *bias, bool *has) {
    xir_value *v = xir_op_input(p->op, 2);
    *has = false;
    if (!is_constant(v)) return XIR_OK;
    const bool scaled = is_scaled(q);
    const int64_t axis = scaled && w->n > 1 ? bias_axis(v->type, (int64_t)w->n) : -1;
    if (scaled && (!(p->sx > 0) || (w->n > 1 && axis < 0))) return XIR_OK;
    *has = true;
    return constant_open(q, p->op, v, axis, bias);
}

static double only_scale(const xir_value *map) {
    const xir_scales *scales = xir_type_scale(map->type);
    return xir_scales_count(scales) == 1 ? xir_scales_at(scales, 0) : 0;
}

xir_status quantize_constants(quantizing *q, xir_op *op) {
    product p = { .op = op, .at = is_constant(xir_op_input(op, 1)) ? 1 : 0 };
    xir_value *weights = xir_op_input(op, p.at);
    if (!is_constant(weights)) return XIR_OK;   /* two maps */
    p.sx = only_scale(xir_op_input(op, 1 - (int64_t)p.at));
    p.axis = weights_axis(q, op, p.at);
    constant w = { 0 }, bias = { 0 };
    bool has_bias = false;
    xir_status status = constant_open(q, op, weights, p.axis, &w);
    if (!status) status = open_bias(q, &p, &w, &bias, &has_bias);
    const size_t size = (2 * w.n + (has_bias ? bias.n : 0)) * sizeof(double);
    double *room = status ? NULL : mem_new(&q->net->alloc, size);
    if (!status && !room) status = XIR_E_MEMORY;
    if (!status) status = store_both(q, &p, &w, has_bias ? &bias : NULL, room);
    if (room) mem_free(&q->net->alloc, room, size);
    constant_close(q, &w);
    constant_close(q, &bias);
    if (!status) xir_pass_changed(q->at, 1);
    return status;
}
