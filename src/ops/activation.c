/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Element-wise ops with one tensor operand: the output has the type of the input, including tiles and valid
 * elements. */
#include <inttypes.h>
#include "elementwise.h"

xir_status same_infer(xir_infer *at) {
    const xir_type *input = xir_infer_input(at, 0);
    if (!input) return xir_infer_fail(at, XIR_E_MISSING, "inputs/0", "%s is absent or has no type", input_name(at, 0));
    return xir_infer_result(at, input);
}

xir_status float_check(xir_infer *at)  { return need_reals(at, 0); }
xir_status number_check(xir_infer *at) { return need_numbers(at, 0); }

/* ---- attributes: reals are checked as float32, which is what files hold ---------------------------------------- */

xir_status hardtanh_check(xir_infer *at) {
    const xir_hardtanh_attrs *a = xir_infer_attrs(at);
    if ((float)a->min_val > (float)a->max_val) {
        return xir_infer_fail(at, XIR_E_INVALID, "min_val", "min_val is %g: expected at most max_val, %g", a->min_val,
                              a->max_val);
    }
    return need_numbers(at, 0);
}

xir_status softplus_check(xir_infer *at) {
    const xir_softplus_attrs *a = xir_infer_attrs(at);
    if ((float)a->beta == 0) {
        return xir_infer_fail(at, XIR_E_INVALID, "beta", "beta is 0: expected another number, because beta divides");
    }
    return need_reals(at, 0);
}

/* ---- signed numbers ------------------------------------------------------------------------------------------- */

/* Returns true if the negative of every stored value, except the lowest one, is also a stored value. The calibrated
 * range of a type holds for its values, not for their negatives. */
static bool mirrored(const xir_type *element) {
    const xir_object *object = (const xir_object *)element;
    const xir_quantized_type *q = xir_quantized_type_of(object);
    const xir_normalized_quantized_type *n = xir_normalized_quantized_type_of(object);
    if (xir_type_kind_of(element) == XIR_TYPE_CALIBRATED) return false;
    const xir_integer_type *stored = xir_integer_type_of((const xir_object *)xir_type_storage(element));
    xir_i64s zeros = q ? q->zero_points : n ? n->zero_points : (xir_i64s){ NULL, 0 };
    for (size_t i = 0; i < zeros.size; i++) {
        if (zeros.data[i] != 0) return false;
    }
    return !stored || stored->sign;
}

xir_status mirror_infer(xir_infer *at) {
    const xir_type *input = xir_infer_input(at, 0), *element = xir_type_element(input);
    return xir_type_is_quantized(element) && !mirrored(element) ? function_infer(at) : same_infer(at);
}

xir_status neg_check(xir_infer *at) {
    const xir_type *type = xir_infer_input(at, 0), *element = xir_type_as_tensor(type) ? xir_type_element(type) : type;
    const xir_integer_type *integer = xir_integer_type_of((const xir_object *)element);
    if (!integer || integer->sign) return need_numbers(at, 0);
    return xir_infer_fail(at, XIR_E_TYPE, "inputs/0",
                          "the elements of input are uint(%" PRId64 "): expected signed numbers", integer->ibits);
}

/* ---- ReLU ---------------------------------------------------------------------------------------------------- */

xir_status relu_check(xir_infer *at) {
    const xir_relu_attrs *a = xir_infer_attrs(at);
    xir_status status = need_numbers(at, 0);
    if (status || (float)a->alpha == 0 || !holds_integers(xir_infer_input(at, 0))) return status;
    return xir_infer_fail(at, XIR_E_TYPE, "alpha",
                          "the elements of input are integers: expected floating-point numbers, because alpha is %g",
                          a->alpha);
}

/* With alpha 0 a result is an element of the input, 0 or the maximum. */
xir_status relu_infer(xir_infer *at) {
    const xir_relu_attrs *a = xir_infer_attrs(at);
    return (float)a->alpha == 0 ? same_infer(at) : function_infer(at);
}

/* ---- PReLU --------------------------------------------------------------------------------------------------- */

xir_status prelu_check(xir_infer *at) {
    const xir_prelu_attrs *a = xir_infer_attrs(at);
    const xir_type *input = xir_infer_input(at, 0), *alpha = a->alpha ? xir_value_type(a->alpha) : NULL;
    const xir_tensor_type *tensor = xir_type_as_tensor(input);
    xir_status status = need_reals(at, 0);
    int64_t slopes;
    if (status || !tensor || !alpha || xir_type_is_layouted(input)) return status;
    int64_t channels = channels_of(input, tensor->shape.data, tensor->shape.size);
    if (channels < 0 || xir_type_elements(alpha, &slopes) != XIR_OK || slopes == 1 || slopes == channels) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, "alpha",
                          "alpha has %" PRId64 " elements: expected 1, or 1 for each of %" PRId64 " channels", slopes,
                          channels);
}

/* ---- Pow ----------------------------------------------------------------------------------------------------- */

xir_status pow_check(xir_infer *at) {
    dim_list dims;
    xir_status status = need_numbers(at, 0);
    if (!status) status = need_numbers(at, 1);
    if (status || !inputs_known(at, 2) || inputs_tiled(at, 2)) return status;
    status = broadcast(at, xir_infer_input(at, 0), xir_infer_input(at, 1), &dims);
    if (!status) dims_free(&dims);
    return status;
}

/* A single exponent broadcasts to any input, tiled or not. */
xir_status pow_infer(xir_infer *at) {
    const xir_type *input = xir_infer_input(at, 0), *exponent = xir_infer_input(at, 1), *element;
    int64_t n;
    xir_status status = computed_element(at, 0, &element);
    if (status) return status;
    if (inputs_known(at, 2) && xir_type_rank(exponent) <= xir_type_rank(input) &&
        xir_type_elements(exponent, &n) == XIR_OK && n == 1) return xir_infer_result(at, input);
    return give_pair(at, element);
}
