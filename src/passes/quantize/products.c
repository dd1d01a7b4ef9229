/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The constants of convolutions and matrix products. Weights are sint(8), symmetric: Sw = max |w| / 127, for each
 * output channel or for all. A bias of 32-bit integers has the scale float(Sx * Sw); where it would not fit, Sw of the
 * channel grows until it does. Every product gets constants of its own. */
#include <float.h>
#include <math.h>
#include <xir/array.h>
#include <xir/ops.h>
#include "elements.h"
#include "quantize.h"
#include "support/upkeep.h"
#include "types.h"

enum { BLOCK = 1024 };
static const double most_weight = 127, most_bias = 2147483647;

bool is_product(const xir_op *op) {
    return xir_op_is(op, xir_conv1d_class()) || xir_op_is(op, xir_conv2d_class()) ||
           xir_op_is(op, xir_conv3d_class()) || xir_op_is(op, xir_conv_transpose1d_class()) ||
           xir_op_is(op, xir_conv_transpose2d_class()) || xir_op_is(op, xir_conv_transpose3d_class()) ||
           xir_op_is(op, xir_matmul_class());
}

static bool is_constant(const xir_value *v) { return v && value_is_constant(v) && is_float(v); }

bool product_fits(const xir_op *op) {
    size_t maps = 0;
    for (int64_t i = 0; i < 2; i++) {
        const xir_value *v = xir_op_input(op, i);
        if (!v || (!is_stored(v) && !is_constant(v))) return false;
        maps += is_stored(v);
    }
    return maps > 0;
}

/* ---- numbers of a constant --------------------------------------------------------------------------------------- */

/* A constant whose elements belong to channels: element k to k / inner % n. */
typedef struct constant {
    xir_value *value;
    xir_array *array;
    size_t     count, n, inner;
    int64_t    axis;
} constant;

static xir_status open_constant(quantizing *q, const xir_op *op, xir_value *value, int64_t axis, constant *c) {
    *c = (constant){ .value = value, .n = 1, .inner = 1, .axis = axis };
    c->array = xir_array_from_params(value, q->at->why);
    if (!c->array) return xir_params_has_data(value) ? XIR_E_MEMORY
        : xir_pass_fail(q->at, XIR_E_MISSING, op, "the constant '" XIR_PRI "' has no bytes",
                        XIR_ARG(xir_value_name(value)));
    c->count = xir_array_count(c->array);
    if (axis < 0) return XIR_OK;
    const int64_t rank = (int64_t)xir_type_rank(value->type);
    c->n = (size_t)xir_type_dim(value->type, axis, false);
    for (int64_t k = axis + 1; k < rank; k++) c->inner *= (size_t)xir_type_dim(value->type, k, false);
    return XIR_OK;
}

/* Writes the greatest |x| of each channel. */
static xir_status look(quantizing *q, const xir_op *op, const constant *c, double *most) {
    double x[BLOCK];
    for (size_t i = 0; i < c->n; i++) most[i] = 0;
    for (size_t at = 0; at < c->count; at += BLOCK) {
        const size_t size = c->count - at < BLOCK ? c->count - at : BLOCK;
        if (xir_array_reals(c->array, at, size, x)) return XIR_E_TYPE;
        for (size_t i = 0; i < size; i++) {
            double *m = &most[(at + i) / c->inner % c->n];
            if (!(fabs(x[i]) <= DBL_MAX))
                return xir_pass_fail(q->at, XIR_E_INVALID, op, "the constant '" XIR_PRI "' is not finite at element "
                                     "%zu", XIR_ARG(xir_value_name(c->value)), at + i);
            *m = fabs(x[i]) > *m ? fabs(x[i]) : *m;
        }
    }
    return XIR_OK;
}

/* Params with the elements of a constant, divided by the scale of their channel: integers of `bits`; or as they are. */
static xir_value *store_constant(const quantizing *q, const constant *c, const xir_type *element, const double *scales,
                                 double most) {
    const xir_type *type = xir_type_with_element(q->net->ctx, c->value->type, element, q->at->why);
    xir_array *array = type ? xir_array_new(q->net->ctx, type, q->at->why) : NULL;
    if (!array) return NULL;
    const element_format to = element_format_of(xir_type_storage(type));
    void *out = xir_array_edit(array);
    double x[BLOCK];
    for (size_t at = 0; at < c->count; at += BLOCK) {
        const size_t size = c->count - at < BLOCK ? c->count - at : BLOCK;
        if (xir_array_reals(c->array, at, size, x)) break;
        for (size_t i = 0; i < size; i++) {
            if (!scales) element_put_real(to, out, at + i, x[i]);
            else {
                const double v = rint(x[i] / scales[(at + i) / c->inner % c->n]);
                element_put_i64(to, out, at + i, (int64_t)fmin(fmax(v, -most), most));
            }
        }
    }
    xir_value *made = xir_params_from_array(q->net, xir_value_name(c->value), array);
    xir_array_free(array);
    return made;
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

/* A transposed convolution in groups has several output channels for each index of O, and one scale for all. */
static int64_t output_axis(const quantizing *q, const xir_op *op, uint32_t at, const xir_type *weights) {
    xir_attr groups = { .as.i64 = 1 };
    if (!q->per_channel) return -1;
    if (xir_op_is(op, xir_matmul_class()))
        return at == 1 && xir_type_rank(weights) == 2 ? (int64_t)xir_type_rank(weights) - 1 : -1;
    const bool transposed = !xir_class_field(op->cls, XIR_STR("padding_mode"));
    if (transposed && (xir_op_get(op, XIR_STR("groups"), &groups) != XIR_OK || groups.as.i64 != 1)) return -1;
    return xir_layout_index(xir_type_layout(weights), 'O');
}

/* The dim of a bias that has the output channels; -1: none. */
static int64_t bias_axis(const xir_type *bias, int64_t channels) {
    int64_t n;
    if (xir_type_elements(bias, &n) || n != channels) return -1;
    for (int64_t k = 0; k < (int64_t)xir_type_rank(bias); k++)
        if (xir_type_dim(bias, k, false) == channels) return k;
    return -1;
}

/* Sw of each channel: what the weights need, and more where the bias needs it. */
static void choose_scales(const quantizing *q, const product *p, const double *most, const double *bias, size_t n,
                          size_t n_bias, double *scales) {
    for (size_t c = 0; c < n; c++) {
        double scale = most[c] > 0 ? most[c] / most_weight : 1;
        if (bias && p->sx > 0) {
            double b = 0;
            for (size_t k = 0; k < n_bias; k++) b = (n == 1 || k == c) && bias[k] > b ? bias[k] : b;
            scale = fmax(scale, fmax(b / most_bias, (double)FLT_MIN) / p->sx * (1 + 1e-6));
        }
        scales[c] = scale_of(q, scale);
    }
}

static xir_status store_bias(quantizing *q, const product *p, const constant *bias, const double *scales, size_t n) {
    const xir_allocator *alloc = &q->net->alloc;
    const xir_type *fp16 = xir_type_float(q->net->ctx, XIR_FLOAT_FP16), *element = fp16;
    double *own = NULL;
    if (q->scheme->bias == BIAS_PRODUCT) {
        own = mem_new(alloc, bias->n * sizeof *own);
        if (!own) return XIR_E_MEMORY;
        for (size_t c = 0; c < bias->n; c++) own[c] = (double)(float)(p->sx * scales[n == 1 ? 0 : c]);
        element = integers(q, own, bias->n, bias->axis, 32);
    }
    xir_value *made = element ? store_constant(q, bias, element, own, most_bias) : NULL;
    mem_free(alloc, own, bias->n * sizeof *own);
    return made ? xir_op_set_input(p->op, 2, made) : XIR_E_MEMORY;
}

static xir_status store_weights(quantizing *q, const product *p, const constant *w, const double *scales) {
    const xir_type *element = integers(q, scales, w->n, w->axis, 8);
    xir_value *made = element ? store_constant(q, w, element, scales, most_weight) : NULL;
    return made ? xir_op_set_input(p->op, p->at, made) : XIR_E_MEMORY;
}

/* `room` has twice the channels of the weights, and the channels of the bias. */
static xir_status store_both(quantizing *q, const product *p, const constant *w, const constant *bias, double *room) {
    double *most = room, *scales = most + w->n, *of_bias = scales + w->n;
    xir_status status = look(q, p->op, w, most);
    if (!status && bias) status = look(q, p->op, bias, of_bias);
    if (status) return status;
    const bool scaled = bias && q->scheme->bias == BIAS_PRODUCT;
    choose_scales(q, p, most, scaled ? of_bias : NULL, w->n, bias ? bias->n : 0, scales);
    status = store_weights(q, p, w, scales);
    return status || !bias ? status : store_bias(q, p, bias, scales, w->n);
}

/* The bias, if it can be stored: a constant with a number for each output channel, or one scale for all. */
static xir_status open_bias(quantizing *q, const product *p, const constant *w, constant *bias, bool *has) {
    xir_value *v = xir_op_input(p->op, 2);
    *has = false;
    if (!is_constant(v)) return XIR_OK;
    const bool scaled = q->scheme->bias == BIAS_PRODUCT;
    const int64_t axis = scaled && w->n > 1 ? bias_axis(v->type, (int64_t)w->n) : -1;
    if (scaled && (!(p->sx > 0) || (w->n > 1 && axis < 0))) return XIR_OK;
    *has = true;
    return open_constant(q, p->op, v, axis, bias);
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
    p.axis = output_axis(q, op, p.at, weights->type);
    constant w = { 0 }, bias = { 0 };
    bool has_bias = false;
    xir_status status = open_constant(q, op, weights, p.axis, &w);
    if (!status) status = open_bias(q, &p, &w, &bias, &has_bias);
    const size_t size = (2 * w.n + (has_bias ? bias.n : 0)) * sizeof(double);
    double *room = status ? NULL : mem_new(&q->net->alloc, size);
    if (!status && !room) status = XIR_E_MEMORY;
    if (!status) status = store_both(q, &p, &w, has_bias ? &bias : NULL, room);
    if (room) mem_free(&q->net->alloc, room, size);
    xir_array_free(w.array);
    xir_array_free(bias.array);
    if (!status) xir_pass_changed(q->at, 1);
    return status;
}
