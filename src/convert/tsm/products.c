/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Matrix products and recurrent networks. */
#include "tsm/tsm.h"


/* Returns true if the inner dims of two matrices agree. */
static bool inner_fit(xir_node *at, const xir_value *a, const xir_value *b) {
    if (xir_node_failed(at) || !a || !b || !xir_node_same_elements(at, 0, a, 1, b)) return false;
    const int64_t k = v_dim(a, v_rank(a) - 1), m = v_dim(b, v_rank(b) - 2);
    if (k == m || k < 0 || m < 0) return true;
    return xir_node_invalid(at, XIR_E_INVALID, "input/1", "input 1: expected %lld rows, as many as input 0 has "
                            "columns, found %lld", (long long)k, (long long)m);
}

/* alpha * A * B + beta * C */
bool tsm_gemm(xir_node *at) {
    xir_value *a = xir_node_input(at, 0), *b = xir_node_input(at, 1), *c = xir_node_optional_input(at, 2);
    if (!tsm_has_rank(at, 0, a, 2) || !tsm_has_rank(at, 1, b, 2)) return false;
    if (c && v_rank(c) > 2)
        return xir_node_invalid(at, XIR_E_INVALID, "input/2", "input 2: expected at most 2 dims, found %zu", v_rank(c));
    if (xir_node_bool(at, "transA", false)) a = make_swapped(at, a);
    if (xir_node_bool(at, "transB", false)) b = make_swapped(at, b);
    const double alpha = xir_node_real(at, "alpha", 1), beta = xir_node_real(at, "beta", 1);
    if (!inner_fit(at, a, b)) return false;
    xir_value *y;
    if (c && beta == 1 && alpha == 1 && !(xir_value_is_params(a) && xir_value_is_params(b))) {
        y = xir_node_make(at, "Matmul", INS(a, b, c), NO_SETS);
    } else {
        y = make_matrix_product(at, a, b);
        if (c && beta != 0) y = xir_node_sum(at, y, c, alpha, beta);
        else if (alpha != 1) y = xir_node_scaled(at, y, alpha);
    }
    return xir_node_result(at, 0, y);
}

/* x in two dims times W, or its transpose. */
bool tsm_inner_prod(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *w = xir_node_input(at, 1);
    if (!tsm_has_rank(at, 1, w, 2)) return false;
    if (!v_rank(x)) return xir_node_invalid(at, XIR_E_INVALID, "input/0", "expected 1 dim or more, found 0");
    if (xir_node_bool(at, "kernel_packed", false)) return xir_node_unsupported(at, "a weight in packed order");
    if (v_rank(x) != 2) x = tsm_flattened(at, x, 1);
    if (xir_node_bool(at, "transpose", false)) w = make_swapped(at, w);
    return inner_fit(at, x, w) && xir_node_result(at, 0, make_matrix_product(at, x, w));
}

bool tsm_matmul(xir_node *at) {
    xir_value *a = xir_node_input(at, 0), *b = xir_node_input(at, 1);
    if (!v_rank(a) || v_rank(b) < 2)
        return xir_node_invalid(at, XIR_E_INVALID, v_rank(a) ? "input/1" : "input/0",
                                "expected %d dims or more, found %zu", v_rank(a) ? 2 : 1,
                                v_rank(a) ? v_rank(b) : v_rank(a));
    return inner_fit(at, a, b) && xir_node_result(at, 0, make_matrix_product(at, a, b));
}

/* Gates i, o, f, c, as XIR has them. "reverse" runs forward. */
bool tsm_lstm(xir_node *at) {
    int64_t hidden;
    xir_value *in[7] = { NULL };
    if (!xir_node_one_of(at, "direction", "forward", "forward|reverse|bidirectional")) return false;
    if (!tsm_int(at, "hidden_size", 0, 1, TSM_MOST_DIM, &hidden)) return false;
    for (size_t i = 0; i < 4 && i < at->n_in; i++) in[i] = xir_node_optional_input(at, i);
    if (at->n_in > 4) in[5] = xir_node_optional_input(at, 4);
    if (at->n_in > 5) in[6] = xir_node_optional_input(at, 5);
    if (xir_node_failed(at)) return false;
    const bool both = xir_node_is(at, "direction", "bidirectional");
    if (xir_node_is(at, "direction", "reverse") && !at->c->checking)
        node_say(at, XIR_WARNING, XIR_OK, "attribute/direction", "a reverse LSTM runs forward, as in TenniS");
    xir_op *op = xir_node_make_op(at, "LSTM", (xir_values){ in, COUNT(in) },
                                  SETS(INT("hidden_size", hidden),
                                       WORD("direction", both ? XIR_STR("BIDIRECTIONAL") : XIR_STR("FORWARD"))));
    for (size_t i = 0; op && i < at->n_out && i < 3; i++) xir_node_result(at, i, xir_op_output(op, (int64_t)i));
    return !xir_node_failed(at);
}
