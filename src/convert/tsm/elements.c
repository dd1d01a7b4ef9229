/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators that compute each element by itself, and element types. */
#include <math.h>
#include "formula/formulas.h"
#include "formula/text.h"
#include "tsm/tsm.h"

/* ---- element types ---------------------------------------------------------------------------------------------- */

static bool converted(xir_node *at, const xir_type *element) {
    xir_value *x = xir_node_input(at, 0);
    if (!x || !element) return false;
    if (xir_type_equal(v_element(x), element)) return xir_convert_copy(at);
    return xir_node_result(at, 0, tsm_cast(at, x, element));
}

bool tsm_cast_to(xir_node *at) {
    const int64_t dtype = xir_node_int(at, "dtype", 0);
    const xir_type *element = tsm_element(xir_node_context(at), dtype);
    if (dtype < 0 || dtype > 32) return tsm_out_of_range(at, "dtype", dtype);
    return element ? converted(at, element) : xir_node_unsupported(at, "elements of the type %lld", (long long)dtype);
}

bool tsm_to_float(xir_node *at) {
    return converted(at, xir_type_float(xir_node_context(at), XIR_FLOAT_FP32));
}

bool tsm_shape(xir_node *at) {
    return xir_node_result(at, 0, tsm_int32(at, xir_node_unary(at, "Shape", xir_node_input(at, 0))));
}

bool tsm_dims(xir_node *at) {
    const xir_value *x = xir_node_input(at, 0);
    return x && xir_node_result(at, 0, xir_node_scalar(at, xir_type_sint(xir_node_context(at), 32),
                                                       (double)v_rank(x)));
}

/* ---- two operands ----------------------------------------------------------------------------------------------- */

/* Both operands in the type that is common to them. */
static bool operands(xir_node *at, size_t first, xir_value **a, xir_value **b) {
    *a = xir_node_input(at, first), *b = xir_node_input(at, first + 1);
    const xir_type *common = tsm_common(at, *a, *b);
    if (!common || !xir_node_broadcasts(at, first, *a, first + 1, *b)) return false;
    *a = tsm_cast(at, *a, common);
    *b = tsm_cast(at, *b, common);
    return !xir_node_failed(at);
}

/* Quotients of integers are truncated; a remainder has the sign of the dividend. */
bool tsm_binary(xir_node *at) {
    xir_value *a, *b;
    const xir_str type = xir_node_type(at);
    const char *cls = at->cls->row->cls;
    if (!operands(at, 0, &a, &b)) return false;
    if (xir_str_equal(type, XIR_STR("sub"))) return xir_node_result(at, 0, xir_node_sum(at, a, b, 1, -1));
    if (xir_str_equal(type, XIR_STR("mod"))) return xir_node_becomes(at, cls, INS(a, b), SETS(INT("fmod", 1)));
    if (xir_str_equal(type, XIR_STR("div")) && v_is_integer(a))
        return xir_node_becomes(at, cls, INS(a, b), SETS(WORD("rounding_mode", XIR_STR("TRUNC"))));
    return xir_node_becomes(at, cls, INS(a, b), NO_SETS);
}

bool tsm_equal(xir_node *at) {
    xir_value *a, *b;
    return operands(at, 0, &a, &b) && xir_node_becomes(at, "Equal", INS(a, b), NO_SETS);
}

bool tsm_where(xir_node *at) {
    xir_value *a, *b, *condition = xir_node_input(at, 0);
    if (!operands(at, 1, &a, &b)) return false;
    return xir_node_becomes(at, "Where", INS(a, b, make_truth(at, condition)), NO_SETS);
}

/* ---- functions -------------------------------------------------------------------------------------------------- */

/* Functions of integers are computed in reals, and truncated. */
static xir_value *as_real(xir_node *at, xir_value *x) {
    if (!x || xir_type_kind_of(v_element(x)) == XIR_TYPE_FLOAT) return x;
    return xir_node_cast(at, x, xir_type_float(xir_node_context(at), XIR_FLOAT_FP64));
}

static bool give_as(xir_node *at, xir_value *y, const xir_value *x) {
    return y && x && xir_node_result(at, 0, tsm_cast(at, y, v_element(x)));
}

bool tsm_function(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    return give_as(at, xir_node_unary(at, at->cls->row->cls, as_real(at, x)), x);
}

bool tsm_rsqrt(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    return give_as(at, make_formula(at, "Reciprocal(Sqrt(x))", INS(as_real(at, x)), NULL), x);
}

FORMULA(tsm_square, "x * x")

bool tsm_pow(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *base = as_real(at, x);
    xir_value *power = xir_node_scalar(at, v_element(base), xir_node_real(at, "y", 1));
    return give_as(at, xir_node_make(at, "Pow", INS(base, power), NO_SETS), x);
}

bool tsm_relu_max(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const double most = xir_node_real(at, "max", 0);
    return xir_node_becomes(at, "ClampScalar", INS(x), SETS(REAL("min", most < 0 ? most : 0), REAL("max", most)));
}

/* One slope for all, as the front end for ONNX writes it, or one for each index of dim. */
bool tsm_prelu(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *slope = xir_node_input(at, 1);
    int64_t axis;
    if (xir_node_failed(at) || !node_axis(at, "dim", 1, v_rank(x), &axis)) return false;
    if (!xir_node_same_elements(at, 0, x, 1, slope)) return false;
    const xir_ints dims = xir_node_dims(at, slope);
    const int64_t n = product_of(&dims, 0, dims.n), own = v_dim(x, (size_t)axis);
    if (n >= 0 && own >= 0 && n != 1 && n != own)
        return xir_node_invalid(at, XIR_E_INVALID, "input/1", "the slopes: expected %lld numbers, one for each index "
                                "of dim %lld, found %lld", (long long)own, (long long)axis, (long long)n);
    if (axis == 1 || n == 1) return xir_node_result(at, 0, make_prelu(at, x, slope, true));
    return xir_node_result(at, 0, make_prelu(at, x, tsm_along(at, slope, x, (size_t)axis), false));
}

/* round(x * scale), halves away from zero, in 8 bits: one scale, or one for each index of the first dim. */
bool tsm_quantize(xir_node *at) {
    const double *scales;
    size_t n;
    double one;
    xir_value *x = xir_node_input(at, 0);
    const xir_type *element = v_element(x);
    if (!xir_node_real_items(at, "quantize_scale", &scales, &n)) {
        if (xir_node_failed(at)) return false;
        one = xir_node_real(at, "quantize_scale", 1), scales = &one, n = 1;
    }
    const int64_t own = v_rank(x) ? v_dim(x, 0) : 1;
    if (xir_type_kind_of(element) != XIR_TYPE_FLOAT) return xir_node_unsupported(at, "elements that are not reals");
    if (n != 1 && own != (int64_t)n)
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/quantize_scale", "quantize_scale: expected %lld numbers, "
                                "one for each index of the first dim, found %zu", (long long)own, n);
    xir_value *factor = xir_node_constant(at, element, NULL, scales, n);
    if (n != 1) factor = tsm_along(at, factor, x, 0);
    xir_value *y = make_rounded(at, xir_node_product(at, x, factor));
    y = xir_node_make(at, "ClampScalar", INS(y), SETS(REAL("min", -128), REAL("max", 127)));
    return y && xir_node_result(at, 0, xir_node_cast(at, y, xir_type_sint(xir_node_context(at), 8)));
}
