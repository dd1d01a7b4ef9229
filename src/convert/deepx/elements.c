/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions that compute each element by itself. Tensors have equal shapes: front ends broadcast before. */
#include <math.h>
#include <string.h>
#include "deepx/deepx.h"

/* A copy, also of a constant: matmul does not accept two constants, so one of them is a copy. */
bool deepx_same(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const xir_op *copy = x ? xir_node_make_op(at, "Copy", INS(x), NO_SETS) : NULL;
    return copy && xir_node_result(at, 0, xir_op_output(copy, 0));
}

/* Loads what was saved before, or the tensor of a file. */
bool deepx_load(xir_node *at) {
    if (at->n_in) return xir_convert_copy(at);
    if (!xir_node_attr(at, "data")) return xir_node_unsupported(at, "the file is not known");
    xir_value *v = xir_node_attr_params(at, "data");
    return v && xir_node_result(at, 0, v);
}

bool deepx_cast(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const xir_type *type = deepx_target(at);
    if (!type) return xir_node_unsupported(at, "the type of the tensor that it writes into is unknown");
    if (xir_type_equal(v_element(x), xir_type_element(type))) return xir_convert_copy(at);
    return xir_node_result(at, 0, xir_node_cast(at, x, xir_type_element(type)));
}

bool deepx_unary(xir_node *at) {
    return xir_node_result(at, 0, xir_node_unary(at, at->cls->row->cls, xir_node_input(at, 0)));
}

/* Two tensors of one shape and one element type. */
static bool take_pair(xir_node *at, xir_value **x, xir_value **y) {
    *x = xir_node_input(at, 0);
    *y = xir_node_input(at, 1);
    if (!*x || !*y || !xir_node_same_elements(at, 0, *x, 1, *y)) return false;
    bool same = v_rank(*x) == v_rank(*y);
    for (size_t i = 0; same && i < v_rank(*x); i++) {
        const int64_t a = v_dim(*x, i), b = v_dim(*y, i);
        same = a < 0 || b < 0 || a == b;
    }
    return same || xir_node_invalid(at, XIR_E_INVALID, "input/1", "the tensors have different shapes: the executor "
                                    "does not broadcast");
}

/* The op of the row. A quotient of integers loses its fraction. */
static bool becomes(xir_node *at, xir_value *x, xir_value *y) {
    const char *cls = at->cls->row->cls;
    if (strcmp(cls, "Div") != 0 || !v_is_integer(x)) return xir_node_becomes(at, cls, INS(x, y), NO_SETS);
    return xir_node_becomes(at, cls, INS(x, y), SETS(WORD("rounding_mode", XIR_STR("TRUNC"))));
}

bool deepx_pair(xir_node *at) {
    xir_value *x, *y;
    return take_pair(at, &x, &y) && becomes(at, x, y);
}

bool deepx_sub(xir_node *at) {
    xir_value *x, *y;
    return take_pair(at, &x, &y) && xir_node_result(at, 0, xir_node_sum(at, x, y, 1, -1));
}

static bool begins(xir_node *at, const char *word) {
    const xir_str type = xir_node_type(at);
    const size_t n = strlen(word);
    return type.size >= n && memcmp(type.data, word, n) == 0;
}

/* A tensor and a number: A + b, A < b. */
bool deepx_by_number(xir_node *at) {
    double v;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !deepx_number(at, 1, &v)) return false;
    xir_value *number = deepx_scalar(at, v_element(x), v);
    if (begins(at, "sub")) return xir_node_result(at, 0, xir_node_sum(at, x, number, 1, -1));
    return becomes(at, x, number);
}

/* A number and a tensor: s - A, s / A, s ^ A. */
bool deepx_scalar_first(xir_node *at) {
    double v;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !deepx_number(at, 0, &v)) return false;
    xir_value *number = deepx_scalar(at, v_element(x), v);
    if (begins(at, "rsub")) return xir_node_result(at, 0, xir_node_sum(at, number, x, 1, -1));
    return becomes(at, number, x);
}

/* x == y up to epsilon, or not. Differences of integers are of 64 bits. */
static bool compare(xir_node *at, xir_value *x, xir_value *y, double epsilon) {
    const bool unlike = begins(at, "not");
    if (xir_node_failed(at) || !x || !y) return false;
    if (epsilon == 0) return xir_node_becomes(at, unlike ? "NotEqual" : "Equal", INS(x, y), NO_SETS);
    if (v_is_bool(x))
        return xir_node_unsupported(at, "bools that are equal up to epsilon");
    if (v_is_integer(x)) {
        const xir_type *wide = xir_type_sint(at->c->ctx, 64);
        x = xir_node_cast(at, x, wide);
        y = xir_node_cast(at, y, wide);
        epsilon = floor(epsilon);
    }
    xir_value *far = xir_node_unary(at, "Abs", xir_node_sum(at, x, y, 1, -1));
    return xir_node_becomes(at, unlike ? "Greater" : "LessEqual",
                            INS(far, xir_node_scalar(at, v_element(far), epsilon)), NO_SETS);
}

bool deepx_near(xir_node *at) {
    double epsilon;
    xir_value *x, *y;
    return deepx_number(at, 2, &epsilon) && take_pair(at, &x, &y) && compare(at, x, y, epsilon);
}

bool deepx_near_scalar(xir_node *at) {
    double v, epsilon;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !deepx_number(at, 1, &v) || !deepx_number(at, 2, &epsilon)) return false;
    return compare(at, x, deepx_scalar(at, v_element(x), v), epsilon);
}

/* All bits, which of an integer is -A - 1. */
bool deepx_invert(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (v_is_bool(x)) return xir_node_becomes(at, "Not", INS(x), NO_SETS);
    if (!v_is_integer(x)) return xir_node_invalid(at, XIR_E_TYPE, "input/0", "expected integers or bools");
    return xir_node_result(at, 0, xir_node_sum(at, x, xir_node_scalar(at, v_element(x), 1), -1, -1));
}

/* Element i of the tensor whose number is element i of the cases. A bool chooses between two. */
bool deepx_choose(xir_node *at) {
    const size_t n = at->n_in;
    if (n < 2) return xir_node_unsupported(at, "no tensors to choose from");
    xir_value **in = node_take(at, n * sizeof *in);
    if (!in) return node_no_memory(at);
    for (size_t i = 0; i < n; i++) in[i] = xir_node_input(at, i);
    if (xir_node_failed(at)) return false;
    xir_value *cases = in[n - 1];
    if (v_is_bool(cases)) {
        if (n != 3) return xir_node_invalid(at, XIR_E_INVALID, "input/0", "bool cases choose between 2 tensors, found "
                                            "%zu", n - 1);
        return xir_node_becomes(at, "Where", INS(in[1], in[0], cases), NO_SETS);
    }
    const xir_ints first = { (int64_t[]){ 0 }, 1 };
    xir_value *all = xir_node_make(at, "Stack", (xir_values){ in, n - 1 }, SETS(INT("dim", 0)));
    xir_value *one = xir_node_make(at, "GatherElements", INS(all, xir_node_unsqueezed(at, cases, &first, NULL)),
                                   SETS(INT("axis", 0)));
    xir_ints dims = xir_node_dims(at, cases);
    return dims.v && xir_node_result(at, 0, make_reshaped(at, one, &dims));
}
