/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Floats of fewer bits in the place of fp32: constants are rounded once, and all other types follow by inference. The
 * network's inputs and results stay fp32, with a Cast each.
 *
 *     x:fp32 = input()                 x:fp32 = input()
 *     y:fp32 = conv2d(x, w:fp32)  ->   a:bf16 = cast(x)
 *     output(y)                        b:bf16 = conv2d(a, w:bf16)
 *                                      y:fp32 = cast(b)
 *                                      output(y)
 */
#include <math.h>
#include <xir/array.h>
#include <xir/ops.h>
#include "elements.h"
#include "quantize.h"
#include "support/upkeep.h"
#include "types.h"

enum { BLOCK = 1024 };

static bool is_fp32(const xir_type *type) {
    const xir_float_type *real = xir_float_type_of((const xir_object *)xir_type_element(type));
    return real && real->format == XIR_FLOAT_FP32;
}

static const xir_type *with_element(const quantizing *q, const xir_type *type, const xir_type *element) {
    return xir_type_with_element(q->net->ctx, type, element, q->at->why);
}

/* ---- constants --------------------------------------------------------------------------------------------------- */

static xir_status round_array(quantizing *q, const xir_value *value, const xir_array *from, xir_array *to) {
    const element_format format = element_format_of(xir_array_type(to));
    void *out = xir_array_edit(to);
    double x[BLOCK];
    const size_t n = xir_array_count(from);
    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t size = n - at < BLOCK ? n - at : BLOCK;
        if (xir_array_reals(from, at, size, x)) return XIR_E_TYPE;
        for (size_t i = 0; i < size; i++) {
            element_put_real(format, out, at + i, x[i]);
            if (!isfinite(x[i]) || isfinite(element_real(format, out, at + i))) continue;
            return xir_pass_fail(q->at, XIR_E_BOUNDS, NULL, "the constant '" XIR_PRI "' is %g at element %zu, which "
                                 "the type does not hold", XIR_ARG(xir_value_name(value)), x[i], at + i);
        }
    }
    return XIR_OK;
}

static xir_status round_params(quantizing *q, xir_value *value, const xir_type *element) {
    if (!is_fp32(value->type) || xir_params_is_default(value)) return XIR_OK;
    const xir_type *type = with_element(q, value->type, element);
    if (!type) return XIR_E_MEMORY;
    if (!xir_params_has_data(value))
        return xir_pass_fail(q->at, XIR_E_MISSING, NULL, "the constant '" XIR_PRI "' has no bytes",
                             XIR_ARG(xir_value_name(value)));
    xir_array *from = xir_array_from_params(value, q->at->why);
    xir_array *to = from ? xir_array_new(q->net->ctx, type, q->at->why) : NULL;
    xir_status status = to ? round_array(q, value, from, to) : XIR_E_MEMORY;
    size_t size = 0;
    const void *bytes = to ? xir_array_data(to, &size) : NULL;
    if (!status) status = xir_value_set_type(value, type);
    if (!status && size) status = xir_params_set_copy(value, bytes, size);
    xir_array_free(from);
    xir_array_free(to);
    xir_pass_changed(q->at, 1);
    return status;
}

static xir_status round_constants(quantizing *q, const xir_type *element) {
    const size_t n = xir_network_params(q->net, NULL, 0), size = (n + 1) * sizeof(xir_value *);
    xir_value **all = mem_new(&q->net->alloc, size);
    if (!all) return XIR_E_MEMORY;
    xir_network_params(q->net, all, n);
    xir_status status = XIR_OK;
    for (size_t i = 0; i < n && !status; i++) status = round_params(q, all[i], element);
    mem_free(&q->net->alloc, all, size);
    return status;
}

/* ---- casts ------------------------------------------------------------------------------------------------------- */

/* Returns true if an op alone reads a value of the network's results: its type is the caller's. */
static bool feeds_outputs_alone(const quantizing *q, const xir_value *value) {
    for (const xir_use *u = value->uses; u; u = xir_use_next(u))
        if (xir_use_op(u) != xir_network_output_op(q->net)) return false;
    return value->uses != NULL;
}

/* A Cast to fp32 inside of the network becomes one to the type. */
static xir_status retarget(quantizing *q, xir_op *op, const xir_type *element) {
    const xir_type *to = (const xir_type *)xir_cast_of(op)->target_dtype;
    if (!is_fp32(to) || feeds_outputs_alone(q, op_outputs(op))) return XIR_OK;
    const xir_type *type = with_element(q, to, element);
    if (!type) return XIR_E_MEMORY;
    xir_pass_changed(q->at, 1);
    return xir_op_set(op, XIR_STR("target_dtype"),
                      &(xir_attr){ .kind = XIR_KIND_REF, .as.ref = (const xir_object *)type });
}

static bool is_cast_from(const xir_value *value, const xir_type *element) {
    const xir_op *op = value_op(value);
    const xir_value *from = op && xir_op_is(op, xir_cast_class()) ? xir_op_input(op, 0) : NULL;
    return from && xir_type_equal(xir_type_element(from->type), element);
}

static bool is_read_by_casts_alone(const xir_value *value, const xir_type *element) {
    for (const xir_use *u = value->uses; u; u = xir_use_next(u)) {
        const xir_op *op = xir_use_op(u);
        if (!xir_op_is(op, xir_cast_class()) || op->n_outputs != 1 ||
            !xir_type_equal(xir_type_element(op_outputs(op)[0].type), element)) return false;
    }
    return true;
}

static xir_status cast_inputs(quantizing *q, const xir_type *element) {
    xir_op *in = xir_network_input_op(q->net);
    xir_status status = XIR_OK;
    for (uint32_t i = 0; in && i < in->n_outputs && !status; i++) {
        xir_value *value = &op_outputs(in)[i];
        if (!is_fp32(value->type) || is_read_by_casts_alone(value, element) || feeds_outputs_alone(q, value)) continue;
        xir_value *cast = cast_value(q, value, element, in->next);
        if (!cast) return xir_network_status(q->net) ? xir_network_status(q->net) : XIR_E_MEMORY;
        status = move_uses(q, value, cast);
    }
    return status;
}

static xir_status cast_outputs(quantizing *q, const xir_type *element) {
    xir_op *out = xir_network_output_op(q->net);
    const xir_type *fp32 = xir_type_float(q->net->ctx, XIR_FLOAT_FP32);
    xir_status status = XIR_OK;
    for (uint32_t i = 0; out && i < out->n_inputs && !status; i++) {
        xir_value *value = op_inputs(out)[i].value;
        if (!value || !xir_type_equal(xir_type_element(value->type), element) || is_cast_from(value, element)) continue;
        xir_value *cast = cast_value(q, value, fp32, out);
        if (!cast) return xir_network_status(q->net) ? xir_network_status(q->net) : XIR_E_MEMORY;
        status = xir_op_set_input(out, i, cast);
    }
    return status;
}

xir_status quantize_floats(quantizing *q, const xir_type *element) {
    xir_status status = round_constants(q, element);
    for (xir_op *op = q->net->first; op && !status; op = op->next)
        if (xir_op_is(op, xir_cast_class())) status = retarget(q, op, element);
    if (!status) status = cast_inputs(q, element);
    if (!status) status = xir_network_infer(q->net, q->at->why);
    return status ? status : cast_outputs(q, element);
}
