/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tensors that have no tensor as input, or only its shape: constants, shapes, ranges, tensors of one number. */
#include <stdio.h>
#include "node/lists.h"
#include "onnx/rows.h"
#include "formula/parts.h"
#include "support/numbers.h"

bool onnx_constant(xir_node *at) {
    const xir_any *a;
    const double *reals;
    size_t n;
    xir_ints list;
    if (xir_node_attr(at, "value")) {
        xir_value *v = xir_node_attr_params(at, "value");
        return v && xir_node_result(at, 0, v);
    }
    if ((a = xir_node_attr(at, "value_int"))) {
        xir_ints one = xir_node_make_ints(at, 1, a->as.integer);
        xir_value *v = one.v ? xir_node_integers(at, &one) : NULL;
        return xir_node_result(at, 0, make_reshaped(at, v, &(xir_ints){ NULL, 0 }));
    }
    if ((a = xir_node_attr(at, "value_float"))) {
        return xir_node_result(at, 0, xir_node_scalar(at, xir_type_float(at->c->ctx, XIR_FLOAT_FP32),
                                                xir_node_real(at, "value_float", 0)));
    }
    if (xir_node_items(at, "value_ints", &list)) return xir_node_result(at, 0, xir_node_integers(at, &list));
    a = xir_node_attr(at, "value_floats");
    if (a && a->kind == XIR_ANY_PARAMS) return xir_node_result(at, 0, xir_node_attr_params(at, "value_floats"));
    if (xir_node_real_items(at, "value_floats", &reals, &n)) {
        return xir_node_result(at, 0,
                               xir_node_constant(at, xir_type_float(at->c->ctx, XIR_FLOAT_FP32), NULL, reals, n));
    }
    if (!xir_node_attr(at, "sparse_value") && !xir_node_attr(at, "value_string") &&
        !xir_node_attr(at, "value_strings")) {
        return xir_node_invalid(at, XIR_E_MISSING, "attribute/value",
                                "expected value, value_int, value_float or a similar attribute, found none");
    }
    return xir_node_unsupported(at, "a constant of texts, or sparse");
}

bool onnx_shape(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    int64_t start = xir_node_int(at, "start", 0);
    if (!xir_node_attr(at, "end")) return xir_node_becomes(at, "Shape", INS(x), SETS(INT("start", start)));
    return xir_node_becomes(at, "Shape", INS(x), SETS(INT("start", start), INT("end", xir_node_int(at, "end", 0))));
}

bool onnx_size(xir_node *at) {
    const xir_ints all = { NULL, 0 };
    return xir_node_becomes(at, "Prod", INS(xir_node_unary(at, "Shape", xir_node_input(at, 0))),
                            SETS(LIST("dim", &all)));
}

bool onnx_constant_of_shape(xir_node *at) {
    xir_value *shape = xir_node_input(at, 0), *value = xir_node_attr_params(at, "value");
    const xir_type *element = xir_type_float(at->c->ctx, XIR_FLOAT_FP32);
    xir_set of = REAL("value", 0);
    if (value) {
        int64_t n, whole = 0;
        double real = 0;
        element = v_element(value);
        const void *bytes = xir_params_has_data(value) ? whole_params(value) : NULL;
        if (xir_type_elements(xir_value_type(value), &n) != XIR_OK || n != 1) {
            return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/value",
                                    "value: expected a tensor with one element, found %lld", (long long)n);
        }
        if (!bytes || !element_readable(element))
            return xir_node_unsupported(at, "a value that is missing or not a number");
        elements_to_reals(element, bytes, 0, 1, &real);
        elements_to_ints(element, bytes, 0, 1, &whole);
        of = xir_type_kind_of(element) == XIR_TYPE_FLOAT ? (xir_set)REAL("value", real) : (xir_set)INT("value", whole);
    }
    return xir_node_becomes(at, "ConstantOfShape", INS(shape), SETS(of, OBJ("element_dtype", element)));
}

bool onnx_range(xir_node *at) {
    return xir_node_becomes(at, "Range", INS(xir_node_input(at, 0), xir_node_input(at, 1), xir_node_input(at, 2)),
                            NO_SETS);
}

/* The matrix is a constant if its dims are known. */
bool onnx_eye_like(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    int64_t k = xir_node_int(at, "k", 0), type = xir_node_int(at, "dtype", 0);
    const xir_type *element = xir_node_attr(at, "dtype") ? onnx_given_element(at, type) : v_element(x);
    if (!onnx_ranked(at, 0, x, 2, 2)) return false;
    if (!element) return xir_node_unsupported(at, "elements of TensorProto.DataType %lld", (long long)type);
    if (!xir_node_need_dims(at, x, 0, 2)) return false;
    xir_ints dims = xir_node_dims(at, x);
    if (!node_elements_at_most(at, &dims, MOST_LISTED, "the matrix")) return false;
    return xir_node_result(at, 0, make_band(at, element, &dims, k, k));
}
