/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Determinants, bits of integers, rows written into a cache. */
#include <math.h>
#include "onnx/quantised.h"
#include "formula/parts.h"

/* ---- Det -------------------------------------------------------------------------------------------------------- */

enum { MOST_ROWS = 6 };   /* each takes 9 ops more, and longer sums lose digits */

/* A constant n x n matrix: 1 above the diagonal, on it, or from it on. */
static xir_value *ones(xir_node *at, const xir_type *e, int64_t n, char where) {
    double *v = node_take(at, (size_t)(n * n) * sizeof *v);
    const xir_ints dims = { (int64_t[]){ n, n }, 2 };
    if (!v) return node_no_memory(at), NULL;
    for (int64_t i = 0; i < n * n; i++) {
        const int64_t off = i % n - i / n;
        v[i] = where == '>' ? off > 0 : where == '<' ? off < 0 : off == 0;
    }
    return xir_node_constant(at, e, &dims, v, (size_t)(n * n));
}

/* Without divisions, so that no pivot is needed (Bird 2011): F becomes mu(F) A, n - 1 times, where mu keeps what is
 * above the diagonal, and puts minus the sum of the later diagonal elements on it. The corner is the determinant, up
 * to its sign. */
bool onnx_det(xir_node *at) {
    xir_value *a = xir_node_input(at, 0), *f = a;
    const size_t rank = v_rank(a);
    if (!onnx_ranked(at, 0, a, 2, SIZE_MAX) || !xir_node_need_dims(at, a, rank - 2, rank)) return false;
    const int64_t n = v_dim(a, rank - 1);
    if (v_dim(a, rank - 2) != n) {
        return xir_node_invalid(at, XIR_E_INVALID, "input/0",
                                "expected square matrices, found %lld rows and %lld columns",
                                (long long)v_dim(a, rank - 2), (long long)n);
    }
    if (n < 1 || n > MOST_ROWS) return xir_node_unsupported(at, "matrices of %lld rows", (long long)n);
    const xir_type *e = v_element(a);
    const xir_ints columns = { (int64_t[]){ -1 }, 1 }, both = { (int64_t[]){ (int64_t)rank - 2, (int64_t)rank - 1 },
                                                                2 };
    xir_value *above = ones(at, e, n, '>'), *below = ones(at, e, n, '<'), *diagonal = ones(at, e, n, '=');
    for (int64_t i = 1; i < n && f; i++) {
        xir_value *sums = xir_node_reduced(at, "Sum", xir_node_product(at, f, diagonal), &columns, true);   /* [n, 1] */
        static const int64_t order[] = { 1, 0 };
        xir_value *later = make_matrix_product(at, xir_node_transposed(at, below, order, 2, NULL), sums);
        later = xir_node_product(at, diagonal, later);
        f = make_matrix_product(at, xir_node_sum(at, xir_node_product(at, f, above), later, 1, -1), a);
    }
    f = make_part(at, make_part(at, f, rank - 1, 0, 1, 1), rank - 2, 0, 1, 1);
    if (f && n % 2 == 0) f = xir_node_unary(at, "Neg", f);
    return xir_node_result(at, 0, f ? xir_node_make(at, "Squeeze", INS(f), SETS(LIST("axis", &both))) : NULL);
}

/* ---- bits ------------------------------------------------------------------------------------------------------- */

/* -1 - x of a signed integer, the greatest minus x of an unsigned one. */
bool onnx_bitwise_not(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const xir_type *e = v_element(x), *wide = xir_type_sint(at->c->ctx, 64);
    const xir_integer_type *integer = xir_integer_type_of(xir_type_object(e));
    const uint64_t bits = xir_type_storage_bits(e);
    if (!integer || bits > 64) return xir_node_unsupported(at, "integers of %d bits", (int)bits);
    if (bits == 64) x = onnx_bits_as(at, x, wide);
    const double all = integer->sign || bits == 64 ? -1 : (double)((UINT64_C(1) << bits) - 1);
    x = x ? xir_node_sum(at, xir_node_scalar(at, v_element(x), all), x, 1, -1) : NULL;
    return xir_node_result(at, 0, onnx_bits_as(at, x, e));
}

/* A whole quotient, rounded down, or its remainder. */
static xir_value *divided(xir_node *at, const char *cls, xir_value *x, xir_value *by) {
    return !strcmp(cls, "Mod") ? xir_node_make(at, cls, INS(x, by), NO_SETS)
                               : xir_node_make(at, cls, INS(x, by), SETS(WORD("rounding_mode", XIR_STR("FLOOR"))));
}

enum { MOST_BITS = 32 };

/* Each bit of x in a new last dim. All of these are 64-bit integers. */
static xir_value *bits_of(xir_node *at, xir_value *x, const double *powers, size_t bits) {
    const xir_type *wide = xir_type_sint(at->c->ctx, 64);
    const xir_ints end = { (int64_t[]){ -1 }, 1 };
    x = x ? xir_node_unsqueezed(at, x, &end, NULL) : NULL;
    x = divided(at, "Div", x, xir_node_constant(at, wide, NULL, powers, bits));
    return divided(at, "Mod", x, xir_node_scalar(at, wide, 2));
}

/* sum * (x + y) + both * (x and y), of numbers of up to 32 bits. */
static xir_value *combined(xir_node *at, xir_value *x, xir_value *y, size_t bits, bool sign, double sum, double both) {
    const xir_ints last = { (int64_t[]){ -1 }, 1 };
    const xir_type *wide = xir_type_sint(at->c->ctx, 64);
    double powers[MOST_BITS], values[MOST_BITS];
    for (size_t i = 0; i < bits; i++) powers[i] = values[i] = ldexp(1, (int)i);
    if (sign) values[bits - 1] = -values[bits - 1];
    xir_value *common = xir_node_product(at, bits_of(at, x, powers, bits), bits_of(at, y, powers, bits));
    common = xir_node_product(at, common, xir_node_constant(at, wide, NULL, values, bits));
    common = common ? xir_node_reduced(at, "Sum", common, &last, false) : NULL;
    if (sum == 0 || !common) return common;
    return xir_node_sum(at, xir_node_sum(at, x, y, 1, 1), common, sum, both);
}

/* The bits that both have are products of bits; `or` is the sum without them, `xor` the sum without both of them.
 * Integers of 64 bits are taken in halves. */
static bool bitwise(xir_node *at, double sum, double both) {
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1), *z = NULL;
    if (!xir_node_same_elements(at, 0, x, 1, y) || !xir_node_broadcasts(at, 0, x, 1, y)) return false;
    const xir_type *e = v_element(x), *wide = xir_type_sint(at->c->ctx, 64);
    const xir_integer_type *integer = xir_integer_type_of(xir_type_object(e));
    const size_t bits = (size_t)xir_type_storage_bits(e);
    if (!integer || (bits > MOST_BITS && bits != 64)) return xir_node_unsupported(at, "integers of %zu bits", bits);
    if (bits != 64) {
        z = combined(at, xir_node_cast(at, x, wide), xir_node_cast(at, y, wide), bits, integer->sign, sum, both);
        return xir_node_result(at, 0, z ? xir_node_cast(at, z, e) : NULL);
    }
    xir_value *half = xir_node_scalar(at, wide, ldexp(1, MOST_BITS));
    x = onnx_bits_as(at, x, wide);
    y = onnx_bits_as(at, y, wide);
    xir_value *high = divided(at, "Div", x, half), *low = divided(at, "Mod", x, half);
    high = combined(at, high, divided(at, "Div", y, half), MOST_BITS, true, sum, both);
    low = combined(at, low, divided(at, "Mod", y, half), MOST_BITS, false, sum, both);
    if (high && low) z = xir_node_sum(at, xir_node_product(at, high, half), low, 1, 1);
    return xir_node_result(at, 0, onnx_bits_as(at, z, e));
}
bool onnx_bitwise_and(xir_node *at) { return bitwise(at, 0, 1); }
bool onnx_bitwise_or(xir_node *at)  { return bitwise(at, 1, -1); }
bool onnx_bitwise_xor(xir_node *at) { return bitwise(at, 1, -2); }

/* ---- TensorScatter ---------------------------------------------------------------------------------------------- */

/* Rows of the update replace those of the cache from a place on, of each batch its own; a circular cache goes on at its
 * start. */
bool onnx_tensor_scatter(xir_node *at) {
    xir_value *cache = xir_node_input(at, 0), *update = xir_node_input(at, 1), *from = xir_node_optional_input(at, 2);
    int64_t axis;
    if (!xir_node_one_of(at, "mode", "linear", "linear|circular") || !xir_node_same_elements(at, 0, cache, 1, update))
        return false;
    const size_t rank = v_rank(cache);
    if (!node_axis(at, "axis", -2, rank, &axis)) return false;
    if (axis == 0)
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/axis",
                                "axis: expected another dim than that of the batch");
    if (!onnx_ranked(at, 1, update, rank, rank)) return false;
    if (!xir_node_need_dims(at, cache, 0, rank) || !xir_node_need_dims(at, update, 0, rank)) return false;
    const xir_ints dims = xir_node_dims(at, update);
    if (xir_node_failed(at)) return false;
    for (size_t i = 0; i < dims.n; i++) {
        const int64_t dim = v_dim(cache, i);
        if ((int64_t)i == axis ? dims.v[i] <= dim : dims.v[i] == dim) continue;
        return xir_node_invalid(at, XIR_E_INVALID, "input/1", "dim %zu of input 1: expected %s%lld, found %lld", i,
                                (int64_t)i == axis ? "at most " : "", (long long)dim, (long long)dims.v[i]);
    }
    if (!node_at_most(at, dims.v[axis], MOST_LISTED, "dim %lld of input 1", (long long)axis)) return false;
    const xir_type *whole = xir_type_sint(at->c->ctx, 64);
    const xir_ints rows = node_line(at, rank, 0, dims.v[0]), series = xir_node_series(at, 0, (size_t)dims.v[axis]);
    xir_value *places = make_line(at, xir_node_integers(at, &series), rank, (size_t)axis);
    if (from) {
        if (v_rank(from) != 1 || (v_dim(from, 0) >= 0 && v_dim(from, 0) != dims.v[0])) {
            return xir_node_invalid(at, XIR_E_INVALID, "input/2", "expected %lld places, one for each batch",
                                    (long long)dims.v[0]);
        }
        places = xir_node_sum(at, places, make_reshaped(at, xir_node_cast(at, from, whole), &rows), 1, 1);
    }
    if (xir_node_is(at, "mode", "circular") && places) {
        xir_value *n = xir_node_scalar(at, whole, (double)v_dim(cache, (size_t)axis));
        places = xir_node_make(at, "Mod", INS(places, n), NO_SETS);
    }
    places = places ? xir_node_make(at, "Expand", INS(places), SETS(LIST("sizes", &dims))) : NULL;
    return xir_node_result(at, 0, make_scattered(at, cache, places, update, (size_t)axis, XIR_STR("none")));
}
