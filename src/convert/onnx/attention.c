/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Attention, of the standard and of ONNX Runtime (com.microsoft): MultiHeadAttention of given queries, keys and values,
 * and Attention, which computes them from one input. Heads are in the last dim; masks are numbers that are added, keys
 * and values of earlier tokens are put in front. */
#include <math.h>
#include "onnx/rows.h"
#include "formula/parts.h"
#include "formula/simpler.h"
#include "formula/text.h"

enum { MOST_HEADS = 1 << 16 };

/* The common part of both: queries, keys and values as [batch, heads, length, size]. */
typedef struct attention {
    xir_value *q, *k, *v, *mask, *padding, *past_k, *past_v;   /* all after v may be NULL */
    int64_t    heads;
    double     filter;                                         /* added where a mask forbids */
} attention;

/* [batch, length, heads * size] as [batch, heads, length, size], and back. */
static xir_value *in_heads(xir_node *at, size_t i, xir_value *x, int64_t heads) {
    const input_place here = place_of_input(i);
    x = onnx_in_heads(at, x, heads, here.text);
    return x ? onnx_heads_exchanged(at, x) : NULL;
}

static xir_value *from_heads(xir_node *at, xir_value *x) {
    return xir_node_failed(at) || !x ? NULL : onnx_from_heads(at, onnx_heads_exchanged(at, x));
}

static bool read_heads(xir_node *at, attention *a) {
    a->heads = xir_node_int(at, "num_heads", 0);
    a->filter = xir_node_real(at, "mask_filter_value", -10000);
    if (a->heads >= 1 && a->heads <= MOST_HEADS) return !xir_node_failed(at);
    return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/num_heads", "num_heads: expected 1 to %d, found %lld",
                            MOST_HEADS,
                            (long long)a->heads);
}

/* 0, or the filter where a condition does not hold. */
static xir_value *addends(xir_node *at, const attention *a, xir_value *holds) {
    return holds ? make_formula(at, "y ? 0 : a", INS(a->q, holds), NUMBERS(a->filter)) : NULL;
}

/* The mask of padded keys, as addends that broadcast with [batch, heads, length, keys]: a number for each key of each
 * batch, or of each token, which is 0 where the key is padding; or where the keys of each batch end and begin. */
static xir_value *padding_addends(xir_node *at, const attention *a) {
    xir_value *m = a->padding;
    const xir_ints one = { (int64_t[]){ 1 }, 1 }, two = { (int64_t[]){ 1, 2 }, 2 };
    if (xir_node_failed(at) || !m) return NULL;
    if (v_rank(m) == 1) {
        const int64_t batch = v_dim(a->q, 0), n = v_dim(m, 0);
        const xir_ints all = { (int64_t[]){ 1, 2, 3 }, 3 };
        if (n < 0 || batch < 0) return xir_node_unsupported(at, "lengths of an open batch"), NULL;
        const bool starts = n == 2 * batch && n;
        if (!starts && n != batch) return xir_node_unsupported(at, "a mask of %lld numbers", (long long)n), NULL;
        xir_value *places = xir_node_cast(at, onnx_places_along(at, a->k, 2, false), v_element(m));
        xir_value *end = xir_node_unsqueezed(at, starts ? make_part(at, m, 0, 0, batch, 1) : m, &all, NULL);
        xir_value *start = starts ? xir_node_unsqueezed(at, make_part(at, m, 0, batch, n, 1), &all, NULL) : NULL;
        return addends(at, a, make_formula(at, starts ? "And(x < y, x >= z)" : "x < y", INS(places, end, start), NULL));
    }
    if (v_rank(m) > 3) return xir_node_unsupported(at, "a mask of %zu dims", v_rank(m)), NULL;
    xir_value *holds = make_formula(at, "x > 0", INS(m), NULL);
    return addends(at, a, holds ? xir_node_unsqueezed(at, holds, v_rank(m) == 2 ? &two : &one, NULL) : NULL);
}

/* With a past: a token sees all keys of the past, and of the new ones as many as there are tokens up to its own. */
static xir_value *causal_addends(xir_node *at, const attention *a) {
    xir_value *row = onnx_places_along(at, a->q, 2, true), *column = onnx_places_along(at, a->k, 2, false);
    if (xir_node_failed(at) || !row || !column) return NULL;
    xir_value *past = xir_node_make(at, "Shape", INS(a->past_k), SETS(INT("start", 2), INT("end", 3)));
    return addends(at, a, make_formula(at, "l = y + z; x <= l", INS(column, row, past), NULL));
}

/* Of a buffer whose first keys count, as many in each batch as `padding` says, the last ones are those of the tokens: a
 * token sees the keys up to its own. */
static xir_value *causal_in_buffer(xir_node *at, const attention *a) {
    const xir_ints later = { (int64_t[]){ 1, 2, 3 }, 3 };
    xir_value *row = onnx_places_along(at, a->q, 2, true), *column = onnx_places_along(at, a->k, 2, false);
    xir_value *tokens = xir_node_make(at, "Shape", INS(a->q), SETS(INT("start", 2), INT("end", 3)));
    if (xir_node_failed(at) || !row || !column || !tokens) return NULL;
    xir_value *count = xir_node_unsqueezed(at, xir_node_cast(at, a->padding, v_element(row)), &later, NULL);
    xir_value *now = xir_node_cast(at, tokens, v_element(row));
    return addends(at, a, make_formula(at, "l = z - w; l = y + l; x <= l", INS(column, row, count, now), NULL));
}

static xir_value *after_past(xir_node *at, xir_value *past, xir_value *now) {
    if (xir_node_failed(at) || !past || !now) return now;
    return xir_node_make(at, "Concat", INS(past, now), SETS(INT("axis", 2)));
}

static xir_value *added(xir_node *at, xir_value *a, xir_value *b) {
    return a && b ? xir_node_sum(at, a, b, 1, 1) : a ? a : b;
}

/* The op, and its result as [batch, length, heads * size]. ONNX Runtime shows the last token every key, which is causal
 * only if the new keys are those of the tokens. */
static xir_value *attention_result(xir_node *at, attention *a) {
    const int64_t tokens = a->q ? v_dim(a->q, 2) : -1, keys = a->k ? v_dim(a->k, 2) : -1;
    const bool causal = xir_node_int(at, "unidirectional", 0), plain = causal && !a->past_k;
    if (causal && tokens >= 0 && keys >= 0 && tokens != keys) {
        return xir_node_unsupported(at, "keys of %lld tokens for %lld that see only earlier ones", (long long)keys,
                                    (long long)tokens), NULL;
    }
    a->k = after_past(at, a->past_k, a->k), a->v = after_past(at, a->past_v, a->v);
    if (xir_node_failed(at) || !a->q || !a->k || !a->v) return NULL;
    xir_value *mask = added(at, a->mask, padding_addends(at, a));
    if (causal && !plain) mask = added(at, mask, causal_addends(at, a));
    const double scale = xir_node_real(at, "scale", 0);
    const xir_set sets[] = { INT("is_causal", plain), REAL("scale", scale) };
    return from_heads(at, xir_node_make(at, "Attention", INS(a->q, a->k, a->v, mask),
                                        (xir_sets){ sets, scale != 0 ? 2 : 1 }));
}

/* Elements [from, from + n) of a bias for queries, keys and values, added to x. */
static xir_value *with_bias(xir_node *at, xir_value *x, xir_value *bias, int64_t from, int64_t n) {
    if (xir_node_failed(at) || !x || !bias) return x;
    return xir_node_sum(at, x, make_part(at, bias, 0, from, from + n, 1), 1, 1);
}

/* Part `i` of `n` of a packed input [batch, length, heads, n, size], as [batch, heads, length, size]. */
static xir_value *packed_part(xir_node *at, xir_value *x, int64_t i) {
    const xir_ints place = { (int64_t[]){ i }, 1 }, axis = { (int64_t[]){ 3 }, 1 };
    xir_value *part = make_taken(at, x, 3, &place);
    part = part ? xir_node_make(at, "Squeeze", INS(part), SETS(LIST("axis", &axis))) : NULL;
    return part ? onnx_heads_exchanged(at, part) : NULL;
}

/* ---- MultiHeadAttention ----------------------------------------------------------------------------------------- */

/* Inputs: query, key, value, bias, mask of keys, mask of products, keys and values of the past, its length, an order of
 * beams. */
bool onnx_ms_multi_head_attention(xir_node *at) {
    xir_value *q = xir_node_input(at, 0), *k = xir_node_optional_input(at, 1), *v = xir_node_optional_input(at, 2),
              *bias = xir_node_optional_input(at, 3);
    attention a = { .padding = xir_node_optional_input(at, 4), .mask = xir_node_optional_input(at, 5),
                    .past_k = xir_node_optional_input(at, 6), .past_v = xir_node_optional_input(at, 7) };
    if (!read_heads(at, &a)) return false;
    if (xir_node_has(at, 8) || xir_node_has(at, 9)) return xir_node_unsupported(at,
                                                                                "a buffer that past and present share");
    if (node_wants(at, 3)) return xir_node_unsupported(at, "the products of queries and keys");
    if (!a.past_k != !a.past_v)
        return xir_node_invalid(at, XIR_E_MISSING, a.past_k ? "input/7" : "input/6",
                                "expected both keys and values of the past");
    if (v_rank(q) == 5 || (k && v_rank(k) == 5)) {
        const bool all = v_rank(q) == 5;
        if (bias || (all ? k || v : v != NULL)) return xir_node_unsupported(at, "packed inputs with others");
        if (!xir_node_need_dims(at, all ? q : k, 3, 4)) return false;
        if (v_dim(all ? q : k, 3) != (all ? 3 : 2)) {
            return xir_node_invalid(at, XIR_E_BOUNDS, all ? "input/0" : "input/1",
                                    "dim 3 of a packed input: expected %d, "
                                    "found %lld", all ? 3 : 2, (long long)v_dim(all ? q : k, 3));
        }
        a.q = all ? packed_part(at, q, 0) : in_heads(at, 0, q, a.heads);
        a.k = packed_part(at, all ? q : k, all), a.v = packed_part(at, all ? q : k, all + 1);
    } else {
        if (!k || !v)
            return xir_node_invalid(at, XIR_E_MISSING, k ? "input/2" : "input/1",
                                    "expected keys and values, or packed ones");
        if (v_rank(q) != 3)
            return xir_node_invalid(at, XIR_E_BOUNDS, "input/0", "expected 3 or 5 dims, found %zu", v_rank(q));
        const bool apart = v_rank(k) == 4 && v_rank(v) == 4;
        if (!apart && (v_rank(k) != 3 || v_rank(v) != 3)) {
            return xir_node_invalid(at, XIR_E_BOUNDS, "input/1",
                                    "keys and values: expected 3 or 4 dims, found %zu and %zu",
                                    v_rank(k), v_rank(v));
        }
        if (bias && !xir_node_need_dims(at, q, 2, 3)) return false;
        const int64_t n = v_dim(q, 2);
        a.q = in_heads(at, 0, with_bias(at, q, bias, 0, n), a.heads);
        if (bias && !apart && !xir_node_need_dims(at, v, 2, 3)) return false;
        /* Keys and values in heads have their bias already. */
        a.k = apart ? k : in_heads(at, 1, with_bias(at, k, bias, n, n), a.heads);
        a.v = apart ? v : in_heads(at, 2, with_bias(at, v, bias, 2 * n, v_dim(v, 2)), a.heads);
    }
    xir_value *y = attention_result(at, &a);
    if (node_wants(at, 1)) xir_node_result(at, 1, a.k);
    if (node_wants(at, 2)) xir_node_result(at, 2, a.v);
    return xir_node_result(at, 0, y);
}

/* ---- Attention -------------------------------------------------------------------------------------------------- */

/* The sizes of queries, keys and values in the columns of the weights. */
static bool read_sizes(xir_node *at, const xir_value *w, int64_t sizes[3]) {
    xir_ints list;
    if (!xir_node_need_dims(at, w, 1, 2)) return false;
    const int64_t n = v_dim(w, 1);
    if (!xir_node_items(at, "qkv_hidden_sizes", &list)) {
        sizes[0] = sizes[1] = sizes[2] = n / 3;
    } else {
        if (list.n != 3)
            return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/qkv_hidden_sizes", "expected 3 items, found %zu",
                                    list.n);
        for (size_t i = 0; i < 3; i++) sizes[i] = list.v[i];
    }
    bool fit = sizes[0] == sizes[1];
    for (size_t i = 0; i < 3; i++) fit = fit && sizes[i] >= 1 && sizes[i] <= n;
    if (fit && sizes[0] + sizes[1] + sizes[2] == n) return !xir_node_failed(at);
    return xir_node_invalid(at, XIR_E_INVALID, "input/1",
                            "the weights' columns: expected queries, as many keys, and values, "
                            "%lld + %lld + %lld, found %lld", (long long)sizes[0], (long long)sizes[1],
                                (long long)sizes[2],
                            (long long)n);
}

/* One half of a past [2, batch, heads, length, size]. */
static xir_value *past_half(xir_node *at, xir_value *past, int64_t i) {
    const xir_ints place = { (int64_t[]){ i }, 1 }, axis = { (int64_t[]){ 0 }, 1 };
    xir_value *half = make_taken(at, past, 0, &place);
    return half ? xir_node_make(at, "Squeeze", INS(half), SETS(LIST("axis", &axis))) : NULL;
}

/* Attention of queries, keys and values, which the columns of `all` are: products of input 0 with the weights of input
 * 1. The past is input `past_at`. */
static bool give_attention(xir_node *at, attention *a, xir_value *all, size_t past_at) {
    xir_value *past = xir_node_optional_input(at, past_at);
    int64_t sizes[3];
    if (xir_node_failed(at) || !all) return false;
    if (past && !onnx_ranked(at, past_at, past, 5, 5)) return false;
    if (!read_sizes(at, xir_node_input(at, 1), sizes)) return false;
    a->q = in_heads(at, 1, make_part(at, all, 2, 0, sizes[0], 1), a->heads);
    a->k = in_heads(at, 1, make_part(at, all, 2, sizes[0], 2 * sizes[0], 1), a->heads);
    a->v = in_heads(at, 1, make_part(at, all, 2, 2 * sizes[0], 2 * sizes[0] + sizes[2], 1), a->heads);
    if (past) a->past_k = past_half(at, past, 0), a->past_v = past_half(at, past, 1);
    xir_value *y = attention_result(at, a);
    if (node_wants(at, 1) && !xir_node_failed(at)) {
        const xir_ints front = { (int64_t[]){ 0 }, 1 };
        xir_node_result(at, 1, xir_node_make(at, "Concat", INS(xir_node_unsqueezed(at, a->k, &front, NULL),
                                                               xir_node_unsqueezed(at, a->v, &front, NULL)),
                                             SETS(INT("axis", 0))));
    }
    return xir_node_result(at, 0, y);
}

/* The forms that are refused, and the ranks of input 0 and the weights. */
static bool can_attend(xir_node *at) {
    if (xir_node_int(at, "past_present_share_buffer", 0))
        return xir_node_unsupported(at, "a buffer that past and present share");
    if (xir_node_int(at, "do_rotary", 0)) return xir_node_unsupported(at, "a position embedding inside");
    const xir_value *x = xir_node_input(at, 0), *w = xir_node_input(at, 1);
    return onnx_ranked(at, 0, x, 3, 3) && onnx_ranked(at, 1, w, 2, 2);
}

/* Inputs: x, weights and bias of all three, a mask, the past, a mask of products, the length of a shared buffer. */
bool onnx_ms_attention(xir_node *at) {
    attention a = { .padding = xir_node_optional_input(at, 3), .mask = xir_node_optional_input(at, 5) };
    if (!read_heads(at, &a)) return false;
    if (xir_node_has(at, 6)) return xir_node_unsupported(at, "a buffer that past and present share");
    if (!can_attend(at)) return false;
    return give_attention(at, &a, onnx_product(at, xir_node_input(at, 0), xir_node_input(at, 1),
                                               xir_node_optional_input(at, 2)), 4);
}

/* Inputs: x and the weights as integers, the bias, the scales of both, a mask, the zero points of both, the past. */
bool onnx_ms_qattention(xir_node *at) {
    attention a = { .padding = xir_node_optional_input(at, 5) };
    xir_value *bias = xir_node_input(at, 2), *x_scale = xir_node_input(at, 3), *w_scale = xir_node_input(at, 4);
    if (!read_heads(at, &a) || !can_attend(at)) return false;
    xir_value *all = onnx_product(at, onnx_centred(at, 0, 6, 2), onnx_centred(at, 1, 7, 1), NULL);
    const xir_type *real = v_element(bias);
    all = xir_node_product(at, xir_node_cast(at, all, real), xir_node_product(at, x_scale, w_scale));
    return give_attention(at, &a, xir_node_sum(at, all, bias, 1, 1), 8);
}

/* ---- the standard's Attention ----------------------------------------------------------------------------------- */

/* Inputs: query, key, value, mask, keys and values of the past, how many keys of each batch are not padding. */
bool onnx_attention(xir_node *at) {
    xir_value *q = xir_node_input(at, 0), *k = xir_node_input(at, 1), *v = xir_node_input(at, 2);
    attention a = { .mask = xir_node_optional_input(at, 3), .past_k = xir_node_optional_input(at, 4),
                    .past_v = xir_node_optional_input(at, 5), .padding = xir_node_optional_input(at, 6) };
    const bool flat = v_rank(q) == 3;
    const int64_t heads = xir_node_int(at, "q_num_heads", 0), groups = xir_node_int(at, "kv_num_heads", 0);
    if ((v_rank(q) != 3 && v_rank(q) != 4) || v_rank(k) != v_rank(q) || v_rank(v) != v_rank(q)) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/0",
                                "query, key and value: expected all of 3 or all of 4 dims, "
                                "found %zu, %zu and %zu", v_rank(q), v_rank(k), v_rank(v));
    }
    if (flat && (heads < 1 || groups < 1 || heads > MOST_HEADS || groups > MOST_HEADS)) {
        const bool first = heads < 1 || heads > MOST_HEADS;
        return xir_node_invalid(at, XIR_E_BOUNDS, first ? "attribute/q_num_heads" : "attribute/kv_num_heads",
                                "heads of inputs "
                                "of 3 dims: expected 1 to %d, found %lld", MOST_HEADS,
                                    (long long)(first ? heads : groups));
    }
    if (!a.past_k != !a.past_v)
        return xir_node_invalid(at, XIR_E_MISSING, a.past_k ? "input/5" : "input/4",
                                "expected both keys and values of the past");
    if (node_wants(at, 3)) return xir_node_unsupported(at, "the products of queries and keys");
    if (a.padding && a.past_k) return xir_node_unsupported(at, "padded keys with a past");
    const int64_t precision = xir_node_int(at, "softmax_precision", 0);
    if (precision && !xir_type_equal(onnx_element(at->c->ctx, precision), v_element(q)))
        return xir_node_unsupported(at, "a Softmax of other elements than those of the query");
    a.q = flat ? in_heads(at, 0, q, heads) : q;
    a.k = after_past(at, a.past_k, flat ? in_heads(at, 1, k, groups) : k);
    a.v = after_past(at, a.past_v, flat ? in_heads(at, 2, v, groups) : v);
    if (xir_node_failed(at) || !a.q || !a.k || !a.v) return false;
    a.filter = -INFINITY;
    const bool causal = xir_node_int(at, "is_causal", 0), plain = causal && !a.past_k && !a.padding;
    if (a.padding && v_rank(a.padding) != 1)
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/6", "expected 1 dim, found %zu", v_rank(a.padding));
    if (a.mask) a.mask = attention_addends(at, a.mask, v_element(q), false);
    if (causal && a.padding) a.mask = added(at, a.mask, causal_in_buffer(at, &a));
    else a.mask = added(at, a.mask, padding_addends(at, &a));
    if (causal && a.past_k) a.mask = added(at, a.mask, causal_addends(at, &a));
    const double cap = xir_node_real(at, "softcap", 0), scale = xir_node_real(at, "scale", 0);
    const xir_set sets[] = { INT("is_causal", plain), REAL("softcap", cap), REAL("scale", scale) };
    xir_value *y = xir_node_make(at, "Attention", INS(a.q, a.k, a.v, a.mask), (xir_sets){ sets, scale != 0 ? 3 : 2 });
    if (node_wants(at, 1)) xir_node_result(at, 1, a.k);
    if (node_wants(at, 2)) xir_node_result(at, 2, a.v);
    return xir_node_result(at, 0, flat ? from_heads(at, y) : y);
}
