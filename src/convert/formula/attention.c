/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Attention in terms of products and Softmax: shared by operators of formats that are more than XIR's Attention, and by
 * formats that do not have it. */
#include <math.h>
#include <string.h>
#include "node/lists.h"
#include "formula/parts.h"
#include "formula/simpler.h"
#include "formula/text.h"
#include "elements.h"
#include "support/numbers.h"

enum { MOST_MASK = 1 << 22, MOST_HEADS = 1 << 16 };

xir_value *attention_addends(xir_node *at, xir_value *mask, const xir_type *element, bool forbids) {
    if (!mask || xir_type_kind_of(v_element(mask)) != XIR_TYPE_BOOL) return mask;
    xir_value *zero = xir_node_scalar(at, element, 0), *never = xir_node_scalar(at, element, -INFINITY);
    return make_formula(at, forbids ? "x ? z : y" : "x ? y : z", INS(mask, zero, never), NULL);
}

xir_value *attention_causal(xir_node *at, const xir_value *q, const xir_value *k) {
    const size_t rank = v_rank(q);
    if (rank < 2 || v_rank(k) < 2) return xir_node_unsupported(at, "vectors"), NULL;
    if (!xir_node_need_dims(at, q, rank - 2, rank - 1) ||
        !xir_node_need_dims(at, k, v_rank(k) - 2, v_rank(k) - 1)) return NULL;
    const xir_ints dims = { (int64_t[]){ v_dim(q, rank - 2), v_dim(k, v_rank(k) - 2) }, 2 };
    const int64_t n = product_of(&dims, 0, 2);
    if (!node_elements_at_most(at, &dims, MOST_MASK, "the mask")) return NULL;
    double *v = node_take(at, ((size_t)n + 1) * sizeof *v);
    if (!v) return node_no_memory(at), NULL;
    for (int64_t i = 0; i < n; i++) v[i] = i % dims.v[1] <= i / dims.v[1] ? 0 : -INFINITY;
    return xir_node_constant(at, v_element(q), &dims, v, (size_t)n);
}

/* Of a bool, that it is true; of an addend, that it is not minus infinity, which in 32 bits is these bytes. */
static inline bool lets_see(element_format form, const void *bytes, size_t k) {
    static const uint8_t never[4] = { 0, 0, 0x80, 0xFF };
    if (form.mantissa == 23 && form.bits == 32) return memcmp((const uint8_t *)bytes + 4 * k, never, 4) != 0;
    const double v = element_real(form, bytes, k);
    return form.kind == ELEMENT_BOOL ? v != 0 : v != -INFINITY;
}

bool attention_hides(const xir_value *mask, bool first) {
    int64_t n;
    if (!mask) return false;
    const void *bytes = whole_params(mask);
    const element_format form = element_format_of(xir_value_type(mask));
    const size_t rank = v_rank(mask);
    if (!bytes || form.kind == ELEMENT_NONE || xir_type_elements(xir_value_type(mask), &n) || n > MOST_MASK)
        return true;
    const int64_t row = rank ? v_dim(mask, rank - 1) : 1, looked_at = first ? 1 : row;
    for (int64_t i = 0; row > 0 && i < n; i += row) {
        bool seen = false;
        for (int64_t k = i; k < i + looked_at && !seen; k++) seen = lets_see(form, bytes, (size_t)k);
        if (!seen) return true;
    }
    return row <= 0;
}

/* 1 for a query that sees a key, 0 for one from which addends hide all. */
static xir_value *sees_a_key(xir_node *at, xir_value *mask) {
    if (xir_node_failed(at) || !mask || !v_rank(mask)) return NULL;
    const xir_ints last = { (int64_t[]){ (int64_t)v_rank(mask) - 1 }, 1 };
    xir_value *most = xir_node_reduced(at, "Max", mask, &last, true);
    return make_formula(at, "like(x != -inf)", INS(most), NULL);
}

/* Addends without infinity, next to which no score counts: Softmax has numbers then, where all keys are hidden. */
static xir_value *without_infinity(xir_node *at, xir_value *mask) {
    const bool half = xir_type_storage_bits(v_element(mask)) == 16 && element_format_of(v_element(mask)).exponent == 5;
    return make_formula(at, "Maximum(x, a)", INS(mask), NUMBERS(half ? -30000 : -1e30));
}

xir_value *attention_of(xir_node *at, xir_value *q, xir_value *k, xir_value *v, double scale, double cap,
                        xir_value *mask, bool hides, xir_value **weights) {
    if (xir_node_failed(at) || !q || !k || !v) return NULL;
    const size_t rank = v_rank(k);
    if (rank < 2) return xir_node_unsupported(at, "vectors"), NULL;
    if (hides && !(isfinite(scale) && isfinite(cap)))
        return xir_node_unsupported(at, "a scale that is not finite, where no key may be seen"), NULL;
    xir_value *scores = make_matrix_product(at, xir_node_scaled(at, q, scale), make_swapped(at, k));
    if (cap != 0)
        scores = xir_node_scaled(at, xir_node_unary(at, "Tanh", xir_node_scaled(at, scores, 1 / cap)), cap);
    if (mask) scores = xir_node_sum(at, scores, hides ? without_infinity(at, mask) : mask, 1, 1);
    *weights = scores ? xir_node_make(at, "Softmax", INS(scores), SETS(INT("axis", (int64_t)rank - 1))) : NULL;
    if (hides) *weights = xir_node_product(at, *weights, sees_a_key(at, mask));
    return make_matrix_product(at, *weights, v);
}

xir_value *attention_repeated(xir_node *at, xir_value *k, int64_t heads) {
    const size_t rank = k ? v_rank(k) : 0;
    if (rank < 3 || !xir_node_need_dims(at, k, rank - 3, rank - 2))
        return xir_node_unsupported(at, "groups of unknown size"), NULL;
    const int64_t groups = v_dim(k, rank - 3);
    if (heads == groups) return k;
    if (groups < 1 || heads < 1 || heads % groups || heads > MOST_HEADS)
        return xir_node_unsupported(at, "groups that do not divide the heads"), NULL;
    xir_ints places = xir_node_make_ints(at, (size_t)heads, 0);
    for (size_t i = 0; i < places.n; i++) places.v[i] = (int64_t)i / (heads / groups);
    xir_value *index = places.v ? xir_node_integers(at, &places) : NULL;
    return index ? xir_node_make(at, "Gather", INS(k, index), SETS(INT("axis", (int64_t)rank - 3))) : NULL;
}

/* ---- XIR's Attention -------------------------------------------------------------------------------------------- */

/* [n, length, heads * size] as [n, heads, length, size]. */
static xir_value *in_heads(xir_node *at, xir_value *x, int64_t heads) {
    static const int64_t order[] = { 0, 2, 1, 3 };
    if (xir_node_failed(at) || !x || !xir_node_need_dims(at, x, 2, 3)) return NULL;
    if (heads < 1 || v_dim(x, 2) % heads)
        return xir_node_unsupported(at, "heads that do not divide the last dim"), NULL;
    list_item items[] = { item_dim(x, 0), item_dim(x, 1), item_number(heads), item_number(v_dim(x, 2) / heads) };
    x = make_reshaped_to(at, x, &(list_items){ items, 4 });
    return x ? xir_node_transposed(at, x, order, 4, NULL) : NULL;
}

/* Heads in the last dim: put in dim 1, and back. */
static bool with_heads_apart(xir_node *at) {
    static const int64_t back[] = { 0, 2, 1, 3 };
    xir_value *x = xir_node_input(at, 0), *k = xir_node_input(at, 1), *v = xir_node_input(at, 2),
              *mask = xir_node_optional_input(at, 3);
    if (xir_node_failed(at)) return false;
    const int64_t heads = xir_node_int(at, "q_num_heads", 0), groups = xir_node_int(at, "kv_num_heads", 0);
    xir_value *q = in_heads(at, x, heads);
    k = in_heads(at, k, groups), v = in_heads(at, v, groups);
    xir_set sets[] = { INT("is_causal", xir_node_bool(at, "is_causal", false)),
                       REAL("softcap", xir_node_real(at, "softcap", 0)), REAL("scale", xir_node_real(at, "scale", 1)) };
    xir_value *y = xir_node_make(at, "Attention", INS(q, k, v, mask),
                                 (xir_sets){ sets, xir_node_attr(at, "scale") ? 3 : 2 });
    const int64_t size = v ? v_dim(v, 3) : 0;
    y = y ? xir_node_transposed(at, y, back, 4, NULL) : NULL;
    if (!y) return false;
    list_item items[] = { item_dim(x, 0), item_dim(x, 1), item_number(heads * size) };
    return xir_node_result(at, 0, make_reshaped_to(at, y, &(list_items){ items, 3 }));
}

bool simpler_attention(xir_node *at) {
    xir_value *q = xir_node_input(at, 0), *k = xir_node_input(at, 1), *v = xir_node_input(at, 2), *weights,
              *mask = xir_node_optional_input(at, 3);
    if (xir_node_failed(at)) return false;
    if (v_rank(q) != 4) return with_heads_apart(at);
    if (!xir_node_need_dims(at, q, 1, 2) || !xir_node_need_dims(at, q, 3, 4)) return false;
    const xir_type *element = v_element(q);
    const bool is_causal = xir_node_bool(at, "is_causal", false), hides = attention_hides(mask, is_causal);
    mask = attention_addends(at, mask, element, false);
    if (is_causal) {
        xir_value *causal = attention_causal(at, q, k);
        mask = mask ? xir_node_sum(at, mask, causal, 1, 1) : causal;
    }
    k = attention_repeated(at, k, v_dim(q, 1)), v = attention_repeated(at, v, v_dim(q, 1));
    const double scale = xir_node_real(at, "scale", 1 / sqrt((double)v_dim(q, 3)));
    if (xir_node_failed(at)) return false;
    return xir_node_result(at, 0, attention_of(at, q, k, v, scale, xir_node_real(at, "softcap", 0), mask, hides,
                                               &weights));
}
