/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Matrix products. Stored weights of Affine and its relatives are transposed: their bytes are [out][in], while their
 * shape says (in, out). A weight that a function makes is as its shape says. */
#include "nnb/nnb.h"

/* The inputs that are the weight, the factors of the outputs, and the bias. SIZE_MAX: the function does not have
 * it. */
typedef struct roles { size_t weight, alpha, bias; } roles;

static roles roles_of(const xir_node *at) {
    static const roles all[] = { [NNB_PLAIN] = { 1, SIZE_MAX, 2 }, [NNB_BINARY] = { 2, SIZE_MAX, 3 },
                                 [NNB_BINARY_SCALED] = { 2, 3, 4 } };
    return all[xir_node_variant(at)];
}

/* Finds the number of leading dims of the weight for the input's: the fewest whose product is `n`. */
static bool input_dims(xir_node *at, const xir_ints *dims, int64_t n, size_t weight, size_t *out) {
    char where[32];
    for (size_t k = 1; k <= dims->n; k++) {
        *out = k;
        if (product_of(dims, 0, k) == n) return true;
    }
    snprintf(where, sizeof where, "input/%zu", weight);
    return xir_node_invalid(at, XIR_E_INVALID, where, "the weight: expected leading dims of %lld elements, as the "
                            "input has from base_axis on", (long long)n);
}

bool nnb_affine(xir_node *at) {
    const roles r = roles_of(at);
    xir_value *x = xir_node_input(at, 0), *w = xir_node_input(at, r.weight);
    size_t base = 0, k = 0;
    if (xir_node_failed(at) || !nnb_base(at, x, &base)) return false;
    if (!xir_node_need_dims(at, x, 0, SIZE_MAX) || !xir_node_need_dims(at, w, 0, SIZE_MAX)) return false;
    const xir_ints dims = xir_node_dims(at, x), shape = xir_node_dims(at, w);
    if (xir_node_failed(at)) return false;
    const int64_t rows = product_of(&dims, 0, base), n = product_of(&dims, base, dims.n);
    if (rows < 0 || n < 0) return xir_node_unsupported(at, "dims whose product exceeds 63 bits");
    if (!input_dims(at, &shape, n, r.weight, &k)) return false;
    const int64_t m = product_of(&shape, k, shape.n);
    if (m < 0) return xir_node_unsupported(at, "dims whose product exceeds 63 bits");
    const bool stored = xir_value_is_params(w);
    w = make_shaped(at, w, stored ? (int64_t[]){ m, n } : (int64_t[]){ n, m }, 2);
    if (stored && w) w = make_swapped(at, w);
    xir_value *bias = r.bias < at->n_in ? xir_node_optional_input(at, r.bias) : NULL;
    if (bias) bias = make_shaped(at, bias, &m, 1);
    if (base != 1 || dims.n != 2) x = make_shaped(at, x, (int64_t[]){ rows, n }, 2);
    if (xir_node_failed(at)) return false;
    xir_value *y;
    if (r.alpha < at->n_in) {
        y = xir_node_product(at, make_matrix_product(at, x, w),
                             make_shaped(at, xir_node_input(at, r.alpha), &m, 1));
        if (bias) y = xir_node_sum(at, y, bias, 1, 1);
    } else if (bias) {
        y = xir_node_make(at, "Matmul", INS(x, w, bias), NO_SETS);
    } else {
        y = make_matrix_product(at, x, w);
    }
    if (base == 1 && shape.n == k + 1) return xir_node_result(at, 0, y);
    xir_ints to = xir_node_make_ints(at, base + shape.n - k, 1);
    for (size_t i = 0; i < to.n; i++) to.v[i] = i < base ? dims.v[i] : shape.v[k + i - base];
    return !xir_node_failed(at) && xir_node_result(at, 0, make_reshaped(at, y, &to));
}

bool nnb_matmul(xir_node *at) {
    xir_value *a = xir_node_input(at, 0), *b = xir_node_input(at, 1);
    if (v_rank(a) < 2 || v_rank(b) < 2)
        return xir_node_invalid(at, XIR_E_INVALID, v_rank(a) < 2 ? "input/0" : "input/1",
                                "expected 2 dims or more, found %zu", v_rank(a) < 2 ? v_rank(a) : v_rank(b));
    if (xir_node_bool(at, "transpose_a", false)) a = make_swapped(at, a);
    if (xir_node_bool(at, "transpose_b", false)) b = make_swapped(at, b);
    return xir_node_result(at, 0, make_matrix_product(at, a, b));
}

bool nnb_embed(xir_node *at) {
    return xir_node_becomes(at, "Gather", INS(xir_node_input(at, 1), nnb_index(at, xir_node_input(at, 0))),
                            SETS(INT("axis", 0)));
}
