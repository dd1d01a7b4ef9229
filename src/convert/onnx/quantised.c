/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Quantised tensors with a plain form get quantised types: a constant scale of float32, one for all or one for each
 * index of an axis, and a constant zero point of the same dims. What is stored keeps its bytes. An ONNX value of such
 * numbers is a tensor of integers, and stays one: a BitCast stands between it and the quantised value, which the
 * operations that know its type look for (walk/quantised.c). Other forms are computed with integers and reals. */
#include <math.h>
#include <xir/quant.h>
#include "onnx/quantised.h"
#include "support/numbers.h"

enum { MOST_SCALES = 1 << 20 };

static const size_t WIDTHS = UINT64_C(1) << 2 | UINT64_C(1) << 4 | UINT64_C(1) << 8 | UINT64_C(1) << 16 |
                             UINT64_C(1) << 32;

/* ---- scales and zero points that agree --------------------------------------------------------------------------- */

static int64_t items_of(const xir_value *v) {
    int64_t n;
    return xir_type_elements(xir_value_type(v), &n) == XIR_OK ? n : -1;
}

/* Checks one of them, input i: a single number, or one for each index of dim `axis` of x. */
static bool fits_axis(xir_node *at, const xir_value *x, const xir_value *v, size_t i, int64_t axis) {
    char where[32], words[80];
    int64_t along;
    if (v_rank(v) == 0 || (v_rank(v) == 1 && v_dim(v, 0) == 1)) return true;
    snprintf(where, sizeof where, "input/%zu", i);
    if (v_rank(v) != 1) {
        return xir_node_invalid(at, XIR_E_BOUNDS, where, "%s: expected one number, or one for each index of a dim, "
                                "found %zu dims", node_input_words(at, i, words), v_rank(v));
    }
    if (!xir_node_axis(at, "attribute/axis", axis, v_rank(x), &along)) return false;
    const int64_t n = v_dim(x, (size_t)along), m = v_dim(v, 0);
    if (n < 0 || m < 0 || n == m) return true;
    return xir_node_invalid(at, XIR_E_INVALID, where, "%s: expected %lld numbers, one for each index of dim %lld, "
                            "found %lld", node_input_words(at, i, words), (long long)n, (long long)along, (long long)m);
}

bool onnx_quantiser_fits(xir_node *at, const xir_value *x, size_t scale_at, size_t zero_at, int64_t axis) {
    xir_value *scale = xir_node_input(at, scale_at), *zero = xir_node_optional_input(at, zero_at);
    char where[32], first[80], second[80];
    if (xir_node_failed(at) || !x || !scale) return false;
    const xir_float_type *real = xir_float_type_of(xir_type_object(v_element(scale)));
    if (!real || real->format == XIR_FLOAT_FP64) {   /* of which no operator has scales */
        snprintf(where, sizeof where, "input/%zu", scale_at);
        return xir_node_invalid(at, XIR_E_TYPE, where, "%s: expected float, found %s",
                                node_input_words(at, scale_at, first), element_words(scale, second));
    }
    if (!fits_axis(at, x, scale, scale_at, axis) || (zero && !fits_axis(at, x, zero, zero_at, axis))) return false;
    /* the input before the scale, unless it is real */
    if (zero && v_is_integer(x) && !xir_node_same_elements(at, scale_at - 1, x, zero_at, zero)) return false;
    const int64_t n = items_of(scale), m = zero ? items_of(zero) : n;
    if (n < 0 || m < 0 || n == m) return true;
    snprintf(where, sizeof where, "input/%zu", zero_at);
    return xir_node_invalid(at, XIR_E_INVALID, where, "%s: expected %lld numbers, as many as %s has, found %lld",
                            node_input_words(at, zero_at, second), (long long)n, node_input_words(at, scale_at, first),
                            (long long)m);
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

static bool is_known(const xir_value *v) {
    return v && xir_value_is_params(v) && xir_params_has_data(v) && element_readable(v_element(v));
}

/* The numbers of a constant of at most one dim. */
static double *numbers_of(xir_node *at, const xir_value *v, size_t *n) {
    const int64_t count = is_known(v) && v_rank(v) <= 1 ? items_of(v) : -1;
    if (count < 1 || count > MOST_SCALES) return NULL;
    const void *bytes = whole_params(v);
    double *out = bytes ? node_reals(at, count) : NULL;
    if (!out) return NULL;
    elements_to_reals(v_element(v), bytes, 0, (size_t)count, out);
    *n = (size_t)count;
    return out;
}

static bool is_single(const xir_value *v) {
    const xir_float_type *real = xir_float_type_of(xir_type_object(v_element(v)));
    return real && real->format == XIR_FLOAT_FP32;
}

/* Zero points; in `found` fewer numbers than scales only if they are all 0. */
static bool read_zeros(xir_node *at, const xir_value *zero, const xir_type *stored, size_t scales, const int64_t **out,
                       size_t *found) {
    size_t n = 0;
    bool any = false;
    *out = NULL;
    *found = 0;
    if (!zero) return true;
    if (!xir_type_equal(v_element(zero), stored)) return false;
    const double *v = numbers_of(at, zero, &n);
    xir_ints list = v && n == scales ? xir_node_make_ints(at, n, 0) : (xir_ints){ NULL, 0 };
    if (!list.v) return false;
    for (size_t i = 0; i < n; i++) any |= (list.v[i] = (int64_t)v[i]) != 0;
    *out = list.v;
    *found = any ? n : 0;
    return true;
}

/* The type of these numbers. Without zero points they are 0. */
static const xir_type *type_from(xir_node *at, const double *scales, size_t n, int64_t axis, const int64_t *zeros,
                                 size_t n_zeros, const xir_type *stored) {
    const xir_scales *array = xir_scales_from(at->c->ctx, scales, n, axis);
    const xir_type *type = array ? xir_type_quantized(at->c->ctx, array, zeros, n_zeros, stored, NULL) : NULL;
    if (!type) node_no_memory(at);
    return type;
}

const xir_type *onnx_quantised_type(xir_node *at, const xir_type *stored, const xir_value *scale, const xir_value *zero,
                                    int64_t axis) {
    const xir_integer_type *integer = xir_integer_type_of(xir_type_object(stored));
    const int64_t *zeros;
    size_t n, n_zeros;
    if (xir_node_failed(at) || at->c->arithmetic || !scale || !integer || !is_single(scale)) return NULL;
    if (integer->ibits > 32 || !(WIDTHS >> integer->ibits & 1)) return NULL;
    const double *scales = numbers_of(at, scale, &n);
    if (!scales) return NULL;
    for (size_t i = 0; i < n; i++) if (!(scales[i] > 0) || isinf(scales[i])) return NULL;
    if (!read_zeros(at, zero, stored, n, &zeros, &n_zeros)) return NULL;
    return type_from(at, scales, n, n > 1 ? axis : -1, zeros, n_zeros, stored);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* The type of a value with other elements; and as an attribute, in which open dims are unknown. */
static const xir_type *target_of(xir_node *at, const xir_value *v, const xir_type *element) {
    const xir_ints dims = xir_node_dims(at, v);
    const xir_type *type = xir_node_failed(at) ? NULL
                         : xir_type_tensor(at->c->ctx, element, xir_type_layout(xir_value_type(v)), dims.v, dims.n);
    if (!type) node_no_memory(at);
    return type;
}
static const xir_type *typed(xir_node *at, const xir_value *v, const xir_type *element) {
    const xir_type *type = xir_type_with_element(at->c->ctx, xir_value_type(v), element, NULL);
    if (!type) node_no_memory(at);
    return type;
}

/* Returns the input of a BitCast to integers, if it has these elements. */
static xir_value *source_of(xir_value *v, const xir_type *element) {
    const xir_op *op = xir_value_op(v);
    xir_value *from = op && xir_op_is(op, xir_bit_cast_class()) ? xir_op_input(op, 0) : NULL;
    return from && xir_type_equal(v_element(from), element) ? from : NULL;
}

xir_value *onnx_bits_as(xir_node *at, xir_value *v, const xir_type *element) {
    if (!v || xir_type_equal(v_element(v), element)) return v;
    const xir_type *type = target_of(at, v, element);
    return type ? xir_node_make(at, "BitCast", INS(v), SETS(OBJ("target_dtype", type))) : NULL;
}

xir_value *onnx_as_quantised(xir_node *at, xir_value *v, const xir_type *element) {
    if (xir_node_failed(at) || !v || !element) return NULL;
    at->c->quantised++;
    xir_value *from = source_of(v, element);
    if (from) return from;
    if (!xir_value_is_params(v)) return onnx_bits_as(at, v, element);
    const xir_type *type = typed(at, v, element);
    xir_value *made = type ? node_alias(at, v) : NULL;
    if (!made || xir_value_set_type(made, type) || xir_value_set_name(made, xir_value_name(v)))
        return node_no_memory(at), NULL;
    return made;
}

xir_value *onnx_as_stored(xir_node *at, xir_value *q) {
    return onnx_bits_as(at, q, xir_type_storage(v_element(q)));
}

xir_value *onnx_dequantised(xir_node *at, xir_value *q) {
    return xir_node_cast(at, q, xir_type_float(at->c->ctx, XIR_FLOAT_FP32));
}

xir_value *onnx_quantised_value(xir_node *at, xir_value *x, const xir_type *element, bool full) {
    const xir_type *type = xir_node_failed(at) || !x ? NULL : target_of(at, x, element);
    if (!type) return NULL;
    at->c->quantised++;
    return xir_node_make(at, "Quantize", INS(x), SETS(OBJ("target_dtype", type),
                                                      WORD("rounding", XIR_STR("HALF_EVEN")), INT("full_range", full)));
}

/* ---- sums of products -------------------------------------------------------------------------------------------- */

/* The type of 32-bit sums of products of two quantised numbers; the scales of the second lie along `axis` of the
 * result. NULL if the first has several scales. */
static const xir_type *sum_type(xir_node *at, const xir_type *x, const xir_type *w, int64_t axis) {
    const xir_scales *of_x = xir_type_scale(x), *of_w = xir_type_scale(w);
    const size_t n = xir_scales_count(of_w);
    double *scales = xir_scales_count(of_x) == 1 ? node_reals(at, (int64_t)n) : NULL;
    if (!scales) return NULL;
    for (size_t i = 0; i < n; i++) {
        scales[i] = (double)(float)(xir_scales_at(of_x, 0) * xir_scales_at(of_w, i));
        if (!(scales[i] > 0) || isinf(scales[i])) return NULL;
    }
    return type_from(at, scales, n, n > 1 ? axis : -1, NULL, 0, xir_type_sint(at->c->ctx, 32));
}

/* The element type of sums, with their scales along another axis. */
static const xir_type *along(xir_node *at, const xir_type *element, int64_t axis) {
    const xir_scales *scales = xir_type_scale(element);
    const size_t n = xir_scales_count(scales);
    double *list = n > 1 ? node_reals(at, (int64_t)n) : NULL;
    if (!list) return element;
    for (size_t i = 0; i < n; i++) list[i] = xir_scales_at(scales, i);
    return type_from(at, list, n, axis, NULL, 0, xir_type_storage(element));
}

/* Gives the result of a convolution in ONNX's order, or of another product, this type. */
static xir_value *as_sums(xir_node *at, xir_value *y, const xir_type *element) {
    if (xir_node_failed(at) || !y || !element) return NULL;
    xir_op *op = xir_value_op(y);
    xir_value *inner = op && xir_op_is(op, xir_transpose_class()) ? xir_op_input(op, 0) : NULL;
    const xir_type *type = typed(at, y, element);
    if (!op || !type || xir_value_set_type(y, type)) return node_no_memory(at), NULL;
    if (!inner) return y;
    element = along(at, element, (int64_t)v_rank(inner) - 1);   /* a convolution has its channels last */
    type = element ? typed(at, inner, element) : NULL;
    if (!type || xir_value_set_type(inner, type)) return node_no_memory(at), NULL;
    return y;
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* Two operands with their quantised types, and the type of their product. */
typedef struct product {
    xir_value      *a, *b, *bias;   /* no bias: NULL */
    const xir_type *of_a, *of_b, *sums;
} product;

/* The axis of the operand that several scales lie along: output channels of kernels, columns of the second matrix. */
static int64_t kernel_axis(const xir_value *b, bool conv) { return conv ? 0 : (int64_t)v_rank(b) - 1; }

static xir_value *product_of_types(xir_node *at, const product *p, bool conv) {
    xir_value *x = onnx_dequantised(at, onnx_as_quantised(at, p->a, p->of_a)),
              *w = onnx_dequantised(at, onnx_as_quantised(at, p->b, p->of_b)), *bias = p->bias;
    if (bias) bias = onnx_dequantised(at, onnx_as_quantised(at, bias, along(at, p->sums, 0)));
    return as_sums(at, conv ? make_conv(at, x, w, bias) : onnx_product(at, x, w, bias), p->sums);
}

/* Returns true if a bias is a 32-bit integer for each channel or column. */
static bool bias_fits(const product *p, int64_t channels) {
    const xir_integer_type *of = p->bias ? xir_integer_type_of(xir_type_object(v_element(p->bias))) : NULL;
    return !p->bias || (of && of->sign && of->ibits == 32 && v_rank(p->bias) == 1 && v_dim(p->bias, 0) == channels);
}

bool onnx_linear_product(xir_node *at, bool conv) {
    product p = { .a = xir_node_input(at, 0), .b = xir_node_input(at, 3) };
    xir_value *y_scale = xir_node_input(at, 6), *y_zero = xir_node_input(at, 7);
    if (conv) p.bias = xir_node_optional_input(at, 8);
    if (xir_node_failed(at) || v_rank(p.a) < 2 || v_rank(p.b) < 2) return false;
    const int64_t axis = kernel_axis(p.b, conv);
    if (!onnx_quantiser_fits(at, p.a, 1, 2, conv ? 1 : -2) || !onnx_quantiser_fits(at, p.b, 4, 5, axis)) return false;
    if (!bias_fits(&p, v_dim(p.b, (size_t)axis))) return false;
    p.of_a = onnx_quantised_type(at, v_element(p.a), xir_node_input(at, 1), xir_node_optional_input(at, 2), -1);
    p.of_b = onnx_quantised_type(at, v_element(p.b), xir_node_input(at, 4), xir_node_optional_input(at, 5), axis);
    const xir_type *of_y = onnx_quantised_type(at, v_element(y_zero), y_scale, y_zero, -1);
    if (!p.of_a || !p.of_b || !of_y || xir_scales_count(xir_type_scale(of_y)) > 1) return false;
    p.sums = sum_type(at, p.of_a, p.of_b, conv ? 1 : -1);
    if (!p.sums) return false;
    return xir_node_result(at, 0, onnx_as_stored(at, onnx_quantised_value(at, product_of_types(at, &p, conv), of_y,
                                                                           true)));
}

/* Integers minus a constant zero point, input `zero_at`: the scale is 1. */
static const xir_type *integer_type(xir_node *at, const xir_value *v, size_t zero_at, int64_t axis) {
    const xir_value *zero = xir_node_optional_input(at, zero_at);
    const xir_integer_type *stored = xir_integer_type_of(xir_type_object(v_element(v)));
    size_t n = 1, n_zeros = 0;
    if (xir_node_failed(at) || at->c->arithmetic || !stored || stored->ibits > 16) return NULL;
    if (zero && !numbers_of(at, zero, &n)) return NULL;
    if (n > 1 && (axis < 0 || v_dim(v, (size_t)axis) != (int64_t)n)) return NULL;
    const int64_t *zeros;
    if (!read_zeros(at, zero, v_element(v), n, &zeros, &n_zeros)) return NULL;
    double *ones = node_reals(at, (int64_t)n);
    for (size_t i = 0; ones && i < n; i++) ones[i] = 1;
    return ones ? type_from(at, ones, n, n > 1 ? axis : -1, zeros, n_zeros, v_element(v)) : NULL;
}

/* Checks the zero point of input i; one of several dims is checked where it is used. */
static bool zero_fits(xir_node *at, const xir_value *x, size_t i, int64_t axis) {
    const xir_value *zero = xir_node_optional_input(at, i + 2);
    if (xir_node_failed(at)) return false;
    if (!zero) return true;
    return xir_node_same_elements(at, i, x, i + 2, zero) && (v_rank(zero) > 1 || fits_axis(at, x, zero, i + 2, axis));
}

bool onnx_integer_product(xir_node *at, bool conv) {
    product p = { .a = xir_node_input(at, 0), .b = xir_node_input(at, 1) };
    if (xir_node_failed(at) || v_rank(p.a) < 2 || v_rank(p.b) < 2) return false;
    if (!zero_fits(at, p.a, 0, conv ? 1 : -2) || !zero_fits(at, p.b, 1, kernel_axis(p.b, conv))) return false;
    p.of_a = integer_type(at, p.a, 2, -1);
    p.of_b = integer_type(at, p.b, 3, kernel_axis(p.b, conv));
    p.sums = p.of_a && p.of_b ? sum_type(at, p.of_a, p.of_b, conv ? 1 : -1) : NULL;
    return p.sums && xir_node_result(at, 0, onnx_as_stored(at, product_of_types(at, &p, conv)));
}
