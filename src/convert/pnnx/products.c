/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Matrix products and attention. */
#include <math.h>
#include "pnnx/pnnx.h"
#include "formula/simpler.h"
#include "spec/borders.h"

bool pnnx_linear(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *weight = xir_node_input(at, 1), *bias = xir_node_optional_input(at, 2);
    return xir_node_result(at, 0, pnnx_times(at, x, weight, bias));
}

bool pnnx_matmul(xir_node *at) {
    xir_value *a = xir_node_input(at, 0), *b = xir_node_input(at, 1);
    if (!xir_node_same_elements(at, 0, a, 1, b)) return false;
    return xir_node_result(at, 0, make_matrix_product(at, a, b));
}

/* beta * input + alpha * a b */
bool pnnx_addmm(xir_node *at) {
    xir_value *c = xir_node_input(at, 0), *y = make_matrix_product(at, xir_node_input(at, 1), xir_node_input(at, 2));
    return xir_node_result(at, 0, xir_node_sum(at, c, y, xir_node_real(at, "beta", 1), xir_node_real(at, "alpha", 1)));
}

bool pnnx_einsum(xir_node *at) {
    return xir_node_becomes(at, "Einsum", node_inputs(at), SETS(WORD("equation", xir_node_text(at, "equation", ""))));
}

/* ---- attention -------------------------------------------------------------------------------------------------- */

/* A query that may see no key gets 0, as PyTorch computes it from version 2.5 on. */
bool pnnx_sdpa(xir_node *at) {
    xir_value *q = xir_node_input(at, 0), *k = xir_node_input(at, 1), *v = xir_node_input(at, 2), *weights;
    xir_value *mask = xir_node_optional_input(at, 3);
    const size_t rank = v_rank(q);
    if (rank < 2 || v_rank(k) != rank) return xir_node_unsupported(at, "%zu dims", rank);
    const bool causal = xir_node_bool(at, "is_causal", false);
    if (causal && mask) return xir_node_invalid(at, XIR_E_INVALID, "input/3", "a mask, but is_causal makes one");
    if (causal && !(mask = attention_causal(at, q, k))) return false;
    if (!xir_node_need_dims(at, q, rank - 1, rank)) return false;
    if (xir_node_bool(at, "enable_gqa", false)) {   /* each head of k and v serves several of q */
        if (rank < 3 || !xir_node_need_dims(at, q, rank - 3, rank - 2))
            return xir_node_unsupported(at, "groups of unknown size");
        k = attention_repeated(at, k, v_dim(q, rank - 3));
        v = attention_repeated(at, v, v_dim(q, rank - 3));
    }
    const double scale = xir_node_real(at, "scale", 1 / sqrt((double)v_dim(q, rank - 1)));
    const bool hides = attention_hides(mask, false);
    mask = attention_addends(at, mask, v_element(q), false);
    return xir_node_result(at, 0, attention_of(at, q, k, v, scale, 0, mask, hides, &weights));
}

/* The inputs of nn.MultiheadAttention by position of its row. */
enum {
    QUERY, KEY, VALUE, MASK, IN_WEIGHT, IN_BIAS, OUT_WEIGHT, OUT_BIAS, Q_WEIGHT, K_WEIGHT, V_WEIGHT, BIAS_K, BIAS_V
};

/* Part i of three of in_proj along dim 0. */
static xir_value *third(xir_node *at, size_t input, int64_t i, int64_t size) {
    xir_value *all = xir_node_optional_input(at, input);
    return all ? make_part(at, all, 0, i * size, (i + 1) * size, 1) : NULL;
}

/* [n, length, heads * size] as [n, heads, length, size]. */
static xir_value *in_heads(xir_node *at, xir_value *x, int64_t heads) {
    static const int64_t order[] = { 0, 2, 1, 3 };
    const int64_t dims[] = { v_dim(x, 0), v_dim(x, 1), heads, v_dim(x, 2) / heads };
    x = make_shaped(at, x, dims, 4);
    return x ? xir_node_transposed(at, x, order, 4, NULL) : NULL;
}

/* One more row for each sequence of [n, length, e]: a bias of [1, 1, e], or zeros. */
static xir_value *with_row(xir_node *at, xir_value *x, xir_value *row) {
    if (xir_node_failed(at) || !x || !row) return NULL;
    const xir_ints dims = { (int64_t[]){ v_dim(x, 0), 1, v_dim(x, 2) }, 3 };
    row = xir_node_make(at, "Expand", INS(row), SETS(LIST("sizes", &dims)));
    return xir_node_make(at, "Concat", INS(x, row), SETS(INT("axis", 1)));
}

/* Zeros for a mask that does not have the rows added to k and v. */
static xir_value *longer_mask(xir_node *at, xir_value *mask, int64_t rows) {
    if (!mask || !rows) return mask;
    xir_ints pads = xir_node_make_ints(at, 2 * v_rank(mask), 0);
    if (!pads.v) return NULL;
    pads.v[pads.n - 1] = rows;
    return zeros_around(at, mask, &pads);
}

bool pnnx_attention(xir_node *at) {
    static const int64_t swap[] = { 1, 0, 2 }, back[] = { 0, 2, 1, 3 };
    xir_value *x[3], *p[3], *weights = NULL;
    const int64_t heads = xir_node_int(at, "num_heads", 1);
    bool added = false;   /* a batch */
    x[0] = xir_node_input(at, QUERY);
    x[1] = xir_node_has(at, KEY) ? xir_node_input(at, KEY) : x[0];
    x[2] = xir_node_has(at, VALUE) ? xir_node_input(at, VALUE) : x[1];
    xir_value *mask = xir_node_optional_input(at, MASK);
    if (v_rank(x[0]) != 3 && v_rank(x[0]) != 2) return xir_node_unsupported(at, "an input of %zu dims", v_rank(x[0]));
    const bool batch_first = v_rank(x[0]) == 3 && xir_node_bool(at, "batch_first", false);
    for (size_t i = 0; i < 3; i++) {
        x[i] = pnnx_with_batch(at, x[i], 3, 1, &added);
        if (!x[i] || v_rank(x[i]) != 3) return xir_node_unsupported(at, "inputs of different ranks");
        if (!xir_node_need_dims(at, x[i], 0, SIZE_MAX)) return false;
        if (!batch_first) x[i] = xir_node_transposed(at, x[i], swap, 3, NULL);
        if (!x[i]) return false;
    }
    const int64_t e = v_dim(x[0], 2);
    if (heads < 1 || e % heads)
        return xir_node_invalid(at, XIR_E_INVALID, "attribute/num_heads", "%lld heads of %lld elements",
                                (long long)heads, (long long)e);
    for (size_t i = 0; i < 3; i++) {
        xir_value *w = xir_node_has(at, IN_WEIGHT) ? third(at, IN_WEIGHT, (int64_t)i, e)
                                                   : xir_node_input(at, Q_WEIGHT + i);
        p[i] = pnnx_times(at, x[i], w, third(at, IN_BIAS, (int64_t)i, e));
    }
    int64_t rows = 0;
    if (xir_node_has(at, BIAS_K)) {
        p[1] = with_row(at, p[1], xir_node_input(at, BIAS_K));
        p[2] = with_row(at, p[2], xir_node_input(at, BIAS_V));
        rows++;
    }
    if (xir_node_bool(at, "add_zero_attn", false)) {
        const xir_ints one = { (int64_t[]){ 1, 1, 1 }, 3 };
        xir_value *zero = xir_node_failed(at) ? NULL : xir_node_filled(at, v_element(x[0]), &one, 0);
        p[1] = with_row(at, p[1], zero);
        p[2] = with_row(at, p[2], zero);
        rows++;
    }
    for (size_t i = 0; i < 3; i++) p[i] = in_heads(at, p[i], heads);
    mask = longer_mask(at, attention_addends(at, mask, v_element(x[0]), true), rows);
    if (mask && v_rank(mask) == 3) {   /* one for each head of each sequence */
        const int64_t dims[] = { v_dim(x[0], 0), heads, v_dim(mask, 1), v_dim(mask, 2) };
        mask = make_shaped(at, mask, dims, 4);
    }
    xir_value *y = attention_of(at, p[0], p[1], p[2], 1 / sqrt((double)(e / heads)), 0, mask, false, &weights);
    y = xir_node_transposed(at, y, back, 4, NULL);
    y = make_shaped(at, y, (int64_t[]){ v_dim(x[0], 0), v_dim(x[0], 1), e }, 3);
    y = pnnx_times(at, y, xir_node_input(at, OUT_WEIGHT), xir_node_optional_input(at, OUT_BIAS));
    if (y && !batch_first) y = xir_node_transposed(at, y, swap, 3, NULL);
    if (!xir_node_result(at, 0, pnnx_without_batch(at, y, 1, added)) || at->n_out < 2) return !xir_node_failed(at);
    const xir_ints over_heads = { (int64_t[]){ 1 }, 1 };
    xir_value *mean = xir_node_reduced(at, "Mean", weights, &over_heads, false);
    return xir_node_result(at, 1, pnnx_without_batch(at, mean, 0, added));
}
