/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tensors made from shapes and single numbers. Results that depend on the bytes of a constant are unknown without
 * them. */
#include <inttypes.h>
#include <math.h>
#include "constant.h"
#include "element.h"
#include "graph.h"
#include "items.h"
#include "number.h"
#include "types.h"

static bool is_number(const xir_type *element) {
    xir_type_kind kind = xir_type_kind_of(element);
    return kind == XIR_TYPE_INTEGER || kind == XIR_TYPE_FLOAT;
}

/* ---- Range ----------------------------------------------------------------------------------------------------- */

enum { START, LIMIT, DELTA };   /* the inputs */

static xir_status delta_zero(xir_infer *at) {
    return xir_infer_fail(at, XIR_E_INVALID, "inputs/2", "delta is 0: expected another number");
}

/* ceil((limit - start) / delta) in integers. It cannot overflow: the difference of two int64 fits uint64. */
static xir_status count_integers(xir_infer *at, int64_t start, int64_t limit, int64_t delta, int64_t *out) {
    if (delta == 0) return delta_zero(at);
    *out = 0;
    if (delta > 0 ? start >= limit : start <= limit) return XIR_OK;
    uint64_t span = delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
    uint64_t step = delta > 0 ? (uint64_t)delta : -(uint64_t)delta;
    uint64_t n = (span - 1) / step + 1;
    if (n > INT64_MAX) {
        return xir_infer_fail(at, XIR_E_LIMIT, "inputs/1", "the number of elements of the range exceeds int64");
    }
    *out = (int64_t)n;
    return XIR_OK;
}

static xir_status count_reals(xir_infer *at, double start, double limit, double delta, bool single, int64_t *out) {
    if (delta == 0) return delta_zero(at);
    double span = single ? number_to_f32(limit - start) : limit - start, n = ceil(span / delta);
    if (isnan(n)) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/1",
                              "the number of elements from %g to %g in steps of %g cannot be determined", start, limit,
                              delta);
    }
    if (n >= 0x1p63) {
        return xir_infer_fail(at, XIR_E_LIMIT, "inputs/1",
                              "the number of elements from %g to %g in steps of %g exceeds int64", start, limit, delta);
    }
    *out = n > 0 ? (int64_t)n : 0;
    return XIR_OK;
}

/* The same for integers that depend on open dims; unknown unless delta is a number. */
static int64_t length_of_items(xir_infer *at) {
    item_list n[3];
    object_pool *pool = at->pool;
    for (size_t i = 0; i < 3; i++) {
        if (!items_of_value(pool, xir_infer_input_value(at, i), &n[i]) || n[i].n != 1) return UNKNOWN_DIM;
    }
    expr from = n[START].v[0], to = n[LIMIT].v[0], step = n[DELTA].v[0];
    if (!expr_is_number(step) || step == 0 || step < -INT32_MAX) return UNKNOWN_DIM;
    expr span = step > 0 ? expr_sub(pool, to, from) : expr_sub(pool, from, to);
    return dim_of_expr(expr_ceil_div(pool, expr_max(pool, span, 0), step > 0 ? step : -step));
}

static xir_status range_length(xir_infer *at, int64_t *out) {
    const xir_type *element = xir_type_element(xir_infer_input(at, START));
    constant_number n[3];
    xir_status status;
    *out = UNKNOWN_DIM;
    if (!is_number(element)) {
        return xir_infer_fail(at, XIR_E_TYPE, "inputs/0",
                              "the elements of start are neither integers nor floating-point numbers");
    }
    if ((status = same_elements(at, START, LIMIT)) || (status = same_elements(at, START, DELTA))) return status;
    for (size_t i = 0; i < 3; i++) {
        if (!is_number(xir_type_element(xir_infer_input(at, i)))) {
            return xir_infer_fail(at, XIR_E_TYPE, path_of_input(i).text,
                                  "the elements of %s are neither integers nor floating-point numbers",
                                  input_name(at, i));
        }
        if ((status = need_one(at, i))) return status;
    }
    for (size_t i = 0; i < 3; i++) {
        if ((status = read_number(at, i, &n[i]))) return status;
    }
    if (n[DELTA].known && n[DELTA].real == 0) return delta_zero(at);
    if (!n[START].known || !n[LIMIT].known || !n[DELTA].known) {
        if (n[START].is_integer) *out = length_of_items(at);
        return expr_no_memory(at->pool) ? infer_no_memory(at) : XIR_OK;
    }
    if (n[START].is_integer) return count_integers(at, n[START].integer, n[LIMIT].integer, n[DELTA].integer, out);
    const xir_float_type *real = xir_float_type_of((const xir_object *)element);
    return count_reals(at, n[START].real, n[LIMIT].real, n[DELTA].real, real->format == XIR_FLOAT_FP32, out);
}

xir_status range_check(xir_infer *at) {
    int64_t length;
    return inputs_known(at, 3) && !inputs_tiled(at, 3) ? range_length(at, &length) : XIR_OK;
}

xir_status range_infer(xir_infer *at) {
    int64_t length;
    xir_status status = need_inputs(at, 3);
    if (!status) status = range_length(at, &length);
    return status ? status
           : xir_infer_result_tensor(at, xir_type_element(xir_infer_input(at, START)), NULL, &length, 1);
}

/* ---- Shape ----------------------------------------------------------------------------------------------------- */

static int64_t clamped(int64_t axis, int64_t rank) {
    if (axis < 0) axis = axis < -rank ? 0 : axis + rank;
    return axis < rank ? axis : rank;
}

xir_status shape_check(xir_infer *at) {
    (void)at;
    return XIR_OK;   // every tensor has a shape, and begin and end are clamped
}

xir_status shape_infer(xir_infer *at) {
    const xir_shape_attrs *a = xir_infer_attrs(at);
    xir_status status = need_inputs(at, 1);
    if (status) return status;
    int64_t rank = (int64_t)xir_type_rank(xir_infer_input(at, 0));
    const xir_int_imm *end_at = xir_int_imm_of((const xir_object *)a->end);
    int64_t start = clamped(a->start, rank), end = end_at ? clamped(end_at->value, rank) : rank;
    int64_t length = end > start ? end - start : 0;
    const xir_type *element = type_integer(at->pool, true, 64);
    return element ? xir_infer_result_tensor(at, element, NULL, &length, 1) : infer_no_memory(at);
}

/* ---- ConstantOfShape --------------------------------------------------------------------------------------------- */

/* Returns true if an integer type can hold a number. */
static bool holds(const xir_integer_type *type, int64_t v) {
    if (!type->sign && v < 0) return false;
    int64_t bits = type->ibits - type->sign;   // of the magnitude
    return bits >= 63 || bits < 0 || (v < 0 ? v >> bits == -1 : v >> bits == 0);
}

static xir_status value_fits(xir_infer *at) {
    const xir_constant_of_shape_attrs *a = xir_infer_attrs(at);
    const xir_type *element = (const xir_type *)a->element_dtype;
    if (!element) return xir_infer_fail(at, XIR_E_MISSING, "element_dtype", "the element type is missing");
    if (!a->value) return xir_infer_fail(at, XIR_E_MISSING, "value", "the value is missing");
    xir_type_kind kind = xir_type_kind_of(element);
    if (kind != XIR_TYPE_BOOL && !is_number(element)) {
        return xir_infer_fail(at, XIR_E_TYPE, "element_dtype", "the element type is neither bool nor a number: "
                              "expected bool, an integer or a floating-point type");
    }
    if (kind == XIR_TYPE_FLOAT) return XIR_OK;
    const xir_float_imm *real = xir_float_imm_of((const xir_object *)a->value);
    if (real && !(floor(real->value) == real->value && fabs(real->value) < 0x1p63)) {
        return xir_infer_fail(at, XIR_E_TYPE, "value",
                              "%g is not an integer of 64 bits: expected one, because element_dtype is an integer type",
                              real->value);
    }
    const xir_integer_type *integer = xir_integer_type_of((const xir_object *)element);
    int64_t v = xir_scalar_as_int(a->value);
    if (integer ? holds(integer, v) : v == 0 || v == 1) return XIR_OK;
    return xir_infer_fail(at, XIR_E_BOUNDS, "value", "%" PRId64 " does not fit element_dtype", v);
}

/* Reads the dims that the input holds. `known` is false if only their number is known; *rank is negative if not even
 * that. */
static xir_status read_shape(xir_infer *at, int64_t *rank, integer_list *dims) {
    const xir_type *input = xir_infer_input(at, 0);
    xir_status status = value_fits(at);
    if (!status) status = need_integers(at, 0);
    if (status) return status;
    if (xir_type_rank(input) != 1) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "input has %zu dims: expected 1, a list of dims",
                              xir_type_rank(input));
    }
    *rank = type_dim(input, 0);
    if (*rank > MOST_CONSTANTS) {
        return xir_infer_fail(at, XIR_E_LIMIT, "inputs/0", "input holds %" PRId64 " dims: expected at most %d", *rank,
                              MOST_CONSTANTS);
    }
    if ((status = read_integers(at, 0, dims))) return status;
    for (size_t i = 0; i < dims->size; i++) {
        if (dims->data[i] >= 0) continue;
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "dim %zu is %" PRId64 ": expected at least 0", i,
                              dims->data[i]);
    }
    return XIR_OK;
}

xir_status constant_of_shape_check(xir_infer *at) {
    int64_t rank;
    integer_list dims;
    return inputs_known(at, 1) && !inputs_tiled(at, 1) ? read_shape(at, &rank, &dims) : XIR_OK;
}

xir_status constant_of_shape_infer(xir_infer *at) {
    const xir_constant_of_shape_attrs *a = xir_infer_attrs(at);
    int64_t rank;
    integer_list dims;
    xir_status status = need_inputs(at, 1);
    if (!status) status = read_shape(at, &rank, &dims);
    if (status) return status;
    if (rank < 0) {
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0", "the number of dims that input holds is unknown, so "
                              "the rank of the output cannot be determined");
    }
    item_list items;
    bool computed = !dims.known && items_of_value(at->pool, xir_infer_input_value(at, 0), &items);
    for (int64_t i = 0; i < rank && !dims.known; i++) {
        dims.data[i] = computed && (size_t)i < items.n ? dim_of_expr(items.v[i]) : UNKNOWN_DIM;
    }
    if (computed && expr_no_memory(at->pool)) return infer_no_memory(at);
    return xir_infer_result_tensor(at, (const xir_type *)a->element_dtype, NULL, dims.data, (size_t)rank);
}
