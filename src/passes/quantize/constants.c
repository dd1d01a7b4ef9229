/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Constants by channels: see constants.h. */
#include "constants.h"
#include <float.h>
#include <math.h>
#include <xir/ops.h>
#include "elements.h"
#include "types.h"

enum { BLOCK = 1024 };

xir_status constant_open(quantizing *q, const xir_op *op, xir_value *value, int64_t axis, constant *c) {
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

static size_t channel_of(const channel_rule *r, size_t k) {
    return (r->n > 1 ? k / r->inner % r->n : 0) + (r->step ? k / r->outer % r->n_outer / r->each * r->step : 0);
}

/* The factor of element k. */
static double factor_of(const constant *c, size_t k) {
    double factor = c->read.of ? c->read.of[channel_of(&c->read.rule, k)] : 1;
    if (c->given.of) factor /= c->given.of[channel_of(&c->given.rule, k)];
    return factor;
}

bool constant_factors(const constant *c, double *out) {
    bool even = true;
    for (size_t i = 0; i < c->n; i++) out[i] = 0;
    for (size_t k = 0; k < c->count; k++) {
        double *of = &out[k / c->inner % c->n];
        const double factor = factor_of(c, k);
        even &= *of == 0 || *of == factor;
        *of = factor;
    }
    return even;
}

xir_status constant_look(quantizing *q, const xir_op *op, const constant *c, double *most) {
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
            *m = fmax(*m, fabs(x[i] * factor_of(c, at + i)));
        }
    }
    return XIR_OK;
}

xir_value *constant_store(const quantizing *q, const constant *c, const xir_type *element, const double *scales,
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
            x[i] *= factor_of(c, at + i);
            if (!scales) {
                element_put_real(to, out, at + i, x[i]);
                continue;
            }
            const double v = x[i] / scales[(at + i) / c->inner % c->n];
            const double stored = q->scheme.half_even ? rint(v) : round(v);
            element_put_i64(to, out, at + i, (int64_t)fmin(fmax(stored, -most), most));
        }
    }
    xir_value *made = xir_params_from_array(q->net, xir_value_name(c->value), array);
    xir_array_free(array);
    return made;
}

void constant_close(const quantizing *q, constant *c) {
    mem_free(&q->net->alloc, c->read.of, c->read.n * sizeof *c->read.of);
    mem_free(&q->net->alloc, c->given.of, c->given.n * sizeof *c->given.of);
    xir_array_free(c->array);
}

/* A transposed convolution in groups has several output channels for each index of O, and one scale for all. */
int64_t weights_axis(const quantizing *q, const xir_op *op, uint32_t at) {
    const xir_type *weights = xir_op_input(op, at)->type;
    xir_attr groups = { .as.i64 = 1 };
    const op_precision *said = precision_of(&q->precision, op);
    if (said && said->per_said ? said->per_tensor : !q->per_channel) return -1;
    if (xir_op_is(op, xir_matmul_class()))
        return at == 1 && xir_type_rank(weights) == 2 ? (int64_t)xir_type_rank(weights) - 1 : -1;
    const bool transposed = !xir_class_field(op->cls, XIR_STR("padding_mode"));
    if (transposed && (xir_op_get(op, XIR_STR("groups"), &groups) != XIR_OK || groups.as.i64 != 1)) return -1;
    return xir_layout_index(xir_type_layout(weights), 'O');
}

/* The dim of a bias that has the output channels; -1: none. */
int64_t bias_axis(const xir_type *bias, int64_t channels) {
    int64_t n;
    if (xir_type_elements(bias, &n) || n != channels) return -1;
    for (int64_t k = 0; k < (int64_t)xir_type_rank(bias); k++)
        if (xir_type_dim(bias, k, false) == channels) return k;
    return -1;
}
