/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions of bits. XIR's And, Or and Xor are of bools, and no class is of bits: integers are taken apart into their
 * bits in one more dim, each 0 or 1, and put together again. */
#include <math.h>
#include "pnnx/pnnx.h"

/* Each bit of x in a last dim: floor(x / 2^k) mod 2. The division is done in two steps, since the value of a sign bit
 * is not a positive number of the type. */
static xir_value *bits_of(xir_node *at, xir_value *x, xir_value *first, xir_value *second) {
    const xir_ints last = { (int64_t[]){ -1 }, 1 };
    const xir_sets floors = SETS(WORD("rounding_mode", XIR_STR("FLOOR")));
    x = xir_node_unsqueezed(at, x, &last, NULL);
    x = x ? xir_node_make(at, "Div", INS(x, first), floors) : NULL;
    x = x ? xir_node_make(at, "Div", INS(x, second), floors) : NULL;
    return x ? xir_node_make(at, "Mod", INS(x, xir_node_scalar(at, v_element(x), 2)), NO_SETS) : NULL;
}

static xir_value *of_integers(xir_node *at, pnnx_bit_function f, xir_value *a, xir_value *b) {
    double first[64], second[64], weights[64];
    const xir_type *element = v_element(a);
    const xir_integer_type *integer = xir_integer_type_of(xir_type_object(element));
    const size_t n = (size_t)xir_type_storage_bits(element);
    if (!integer || n < 1 || n > 64) return xir_node_unsupported(at, "elements of %zu bits", n), NULL;
    for (size_t k = 0; k < n; k++) {
        first[k] = ldexp(1, (int)(k / 2)), second[k] = ldexp(1, (int)(k - k / 2));
        weights[k] = ldexp(k + 1 == n && integer->sign ? -1 : 1, (int)k);
    }
    xir_value *by = xir_node_constant(at, element, NULL, first, n);
    xir_value *again = xir_node_constant(at, element, NULL, second, n);
    a = bits_of(at, a, by, again), b = bits_of(at, b, by, again);
    xir_value *y = f == PNNX_AND ? xir_node_make(at, "Minimum", INS(a, b), NO_SETS)
                 : f == PNNX_OR ? xir_node_make(at, "Maximum", INS(a, b), NO_SETS)
                 : xir_node_make(at, "Mod", INS(xir_node_sum(at, a, b, 1, 1), xir_node_scalar(at, element, 2)),
                                 NO_SETS);
    const xir_ints last = { (int64_t[]){ -1 }, 1 };
    y = xir_node_product(at, y, xir_node_constant(at, element, NULL, weights, n));
    return y ? xir_node_reduced(at, "Sum", y, &last, false) : NULL;
}

xir_value *pnnx_make_bits(xir_node *at, pnnx_bit_function f, xir_value *a, xir_value *b) {
    static const char *const classes[] = { "And", "Or", "Xor" };
    if (xir_node_failed(at) || !a || !b) return NULL;
    switch ((int)xir_type_kind_of(v_element(a))) {
    case XIR_TYPE_BOOL:    return xir_node_make(at, classes[f], INS(a, b), NO_SETS);
    case XIR_TYPE_INTEGER: return of_integers(at, f, a, b);
    default:               return xir_node_unsupported(at, "bits of reals"), NULL;
    }
}
