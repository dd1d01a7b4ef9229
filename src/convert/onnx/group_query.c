/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* GroupQueryAttention of ONNX Runtime (com.microsoft): several heads of queries share one of keys and values. Tokens
 * see those before them. The keys of a past are in front of the new ones. How many of them each batch has may be known
 * only in a run: then the new keys follow the last one that counts, and zeros fill the rest of the buffer. Without a
 * past, tokens that are padding have no defined result. */
#include <math.h>
#include "onnx/rows.h"
#include "formula/parts.h"
#include "formula/text.h"
#include "spec/borders.h"

enum { MOST_HEADS = 1 << 16, MOST_TOKENS = 1 << 30 };
enum { QUERY, KEY, VALUE, PAST_KEY, PAST_VALUE, LENGTHS, TOTAL, COSINES, SINES, POSITIONS, BIAS, SINK, K_SCALE,
       V_SCALE };

typedef struct group_query {
    xir_value *q, *k, *v;           /* [batch, length, heads, size] */
    xir_value *past_k, *past_v;     /* [batch, heads, length, size]; NULL: there is no past */
    xir_value *before;              /* [batch], how many keys of the past count; NULL: all of them */
    xir_value *rows, *used;         /* with `before`: which rows of past and new keys a batch has, and which of them */
    int64_t    heads, groups, size; /* of queries, of keys; elements of a head */
    int64_t    window;              /* how many keys a token sees; -1: all */
    bool       sinks;               /* a further key takes a part of each token's attention */
} group_query;

static bool is_refused(xir_node *at, group_query *g) {
    if (xir_node_has(at, K_SCALE) || xir_node_has(at, V_SCALE)) return !xir_node_unsupported(at, "a quantised cache");
    if (node_wants(at, 3)) return !xir_node_unsupported(at, "the products of queries and keys");
    if (!xir_node_bool(at, "causal", true)) return !xir_node_unsupported(at, "tokens that see later ones");
    if (xir_node_bool(at, "sliding_window_cache", false)) return !xir_node_unsupported(at, "a cache of one window");
    g->window = xir_node_int(at, "local_window_size", -1);
    g->sinks = xir_node_has(at, SINK) || xir_node_int(at, "smooth_softmax", 0) == 1;
    if (g->window < -1 || g->window == 0 || g->window > MOST_TOKENS)
        return !xir_node_unsupported(at, "a window of %lld tokens", (long long)g->window);
    return xir_node_failed(at);
}

static bool read_heads(xir_node *at, group_query *g) {
    g->heads = xir_node_int(at, "num_heads", 0), g->groups = xir_node_int(at, "kv_num_heads", 0);
    const bool wrong = g->heads < 1 || g->heads > MOST_HEADS;
    if (!wrong && g->groups >= 1 && g->heads % g->groups == 0) return !xir_node_failed(at);
    return xir_node_invalid(at, XIR_E_BOUNDS, wrong ? "attribute/num_heads" : "attribute/kv_num_heads",
                            "heads: expected 1 to %d of queries, and a divisor of them of keys, found %lld and %lld",
                            MOST_HEADS, (long long)g->heads, (long long)g->groups);
}

/* Queries, keys and values, which may be packed in one input, in heads. */
static bool read_inputs(xir_node *at, group_query *g) {
    xir_value *q = xir_node_input(at, QUERY), *k = xir_node_optional_input(at, KEY),
              *v = xir_node_optional_input(at, VALUE);
    if (!k != !v) return xir_node_invalid(at, XIR_E_MISSING, k ? "input/2" : "input/1",
                                          "expected both keys and values, or neither");
    if (v_rank(q) != 3 || (k && (v_rank(k) != 3 || v_rank(v) != 3)))
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/0", "query, key and value: expected 3 dims");
    if (!xir_node_need_dims(at, q, 2, 3) ||
        (k && (!xir_node_need_dims(at, k, 2, 3) || !xir_node_need_dims(at, v, 2, 3)))) return false;
    const int64_t all = k ? g->heads : g->heads + 2 * g->groups;
    g->size = v_dim(q, 2) / all;
    const int64_t rows = g->size * g->groups;
    if (g->size < 1 || v_dim(q, 2) % all || (k && (v_dim(k, 2) != rows || v_dim(v, 2) != rows))) {
        return xir_node_invalid(at, XIR_E_INVALID, "input/0",
                                "dim 2 of input 0: expected a multiple of %lld heads, and keys and "
                                "values of %lld elements, found %lld", (long long)all, (long long)rows,
                                    (long long)v_dim(q, 2));
    }
    if (!k) {
        const int64_t n = g->heads * g->size;
        k = make_part(at, q, 2, n, n + rows, 1), v = make_part(at, q, 2, n + rows, n + 2 * rows, 1);
        q = make_part(at, q, 2, 0, n, 1);
    }
    g->q = onnx_in_heads(at, q, g->heads, "input/0");
    g->k = onnx_in_heads(at, k, g->groups, "input/1"), g->v = onnx_in_heads(at, v, g->groups, "input/2");
    return g->q && g->k && g->v;
}

/* ---- the past --------------------------------------------------------------------------------------------------- */

static xir_value *size_of(xir_node *at, xir_value *x, int64_t axis) {
    return xir_node_make(at, "Shape", INS(x), SETS(INT("start", axis), INT("end", axis + 1)));
}

static xir_value *as_int64(xir_node *at, size_t i) {
    return xir_node_cast(at, xir_node_input(at, i), xir_type_sint(at->c->ctx, 64));
}

/* Returns true if each batch has all keys of the past and the new ones, as constants say. */
static bool is_whole(xir_node *at, const group_query *g) {
    xir_ints lengths;
    const int64_t past = v_dim(g->past_k, 2), now = v_dim(g->k, 1);
    if (past < 0 || now < 0 || !xir_node_is_constant(at, LENGTHS) || !xir_node_ints(at, LENGTHS, &lengths))
        return false;
    for (size_t i = 0; i < lengths.n; i++) if (lengths.v[i] != past + now - 1) return false;
    return true;
}

/* Finds the number of keys of the past that count: those that the new ones complete to input 5 plus 1; none if the new
 * ones are all that there are (input 6), because then some of them may be padding. */
static bool count_before(xir_node *at, group_query *g) {
    xir_value *total = as_int64(at, TOTAL), *lengths = as_int64(at, LENGTHS);
    const xir_ints one = { (int64_t[]){ 1 }, 1 }, none = { (int64_t[]){ 0 }, 1 };
    if (xir_node_failed(at) || !total || !lengths) return false;
    const xir_type *whole = v_element(total);
    /* some exporters write a row or a column */
    if (v_rank(lengths) == 2 && (v_dim(lengths, 0) == 1 || v_dim(lengths, 1) == 1))
        lengths = make_shaped(at, lengths, (int64_t[]){ -1 }, 1);
    if (v_rank(lengths) != 1)
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/5", "expected 1 dim, found %zu", v_rank(lengths));
    if (v_rank(total) > 1)
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/6", "expected one number, found %zu dims", v_rank(total));
    if (!v_rank(total)) total = xir_node_unsqueezed(at, total, &none, NULL);
    xir_value *now = size_of(at, g->k, 1), *past = size_of(at, g->past_k, 2);
    xir_value *left = xir_node_sum(at, xir_node_sum(at, lengths, xir_node_integers(at, &one), 1, 1), now, 1, -1);
    g->before = xir_node_make(at, "Where", INS(xir_node_scalar(at, whole, 0), left,
                                               xir_node_make(at, "Equal", INS(total, now), NO_SETS)), NO_SETS);
    xir_value *room = xir_node_make(at, "Maximum", INS(total, past), NO_SETS);
    xir_value *place = xir_node_make(at, "Range", INS(xir_node_integers(at, &none), room, xir_node_integers(at, &one)),
                                     NO_SETS);
    if (xir_node_failed(at) || !g->before || !place) return false;
    xir_value *first = xir_node_unsqueezed(at, g->before, &one, NULL);
    xir_value *moved = xir_node_sum(at, xir_node_sum(at, place, first, 1, -1), past, 1, 1);
    xir_value *last = xir_node_sum(at, xir_node_sum(at, past, now, 1, 1), xir_node_integers(at, &one), 1, -1);
    xir_value *rows = xir_node_make(at, "Where", INS(place, moved, xir_node_make(at, "Less", INS(place, first),
                                                                                 NO_SETS)), NO_SETS);
    g->rows = xir_node_make(at, "Minimum", INS(rows, last), NO_SETS);
    g->used = xir_node_make(at, "Less", INS(place, xir_node_sum(at, first, now, 1, 1)), NO_SETS);
    return !xir_node_failed(at);
}

static bool read_past(xir_node *at, group_query *g) {
    xir_value *k = xir_node_optional_input(at, PAST_KEY), *v = xir_node_optional_input(at, PAST_VALUE);
    if (xir_node_failed(at)) return false;
    if (!k != !v)
        return xir_node_invalid(at, XIR_E_MISSING, k ? "input/4" : "input/3",
                                "expected both keys and values of the past");
    if (!k) return true;
    if (v_rank(k) != 4 || v_rank(v) != 4)
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/3", "keys and values of the past: expected 4 dims");
    if (v_dim(k, 2) == 0) return true;
    g->past_k = k, g->past_v = v;
    if (is_whole(at, g)) return true;
    if (xir_node_has(at, BIAS)) return xir_node_unsupported(at, "a mask for keys whose number only a run says");
    return count_before(at, g);
}

/* The keys of the past and the new ones, [batch, heads, keys, size]. */
static xir_value *with_past(xir_node *at, const group_query *g, xir_value *past, xir_value *now) {
    const xir_ints last = { (int64_t[]){ 2 }, 1 }, both = { (int64_t[]){ 2, 3 }, 2 };
    if (xir_node_failed(at) || !past || !g->before) {
        now = xir_node_failed(at) ? NULL : onnx_heads_exchanged(at, now);
        return past && now ? xir_node_make(at, "Concat", INS(past, now), SETS(INT("axis", 2))) : now;
    }
    xir_value *all = xir_node_make(at, "Concat", INS(onnx_heads_exchanged(at, past), now),
                                   SETS(INT("axis", 1)));
    all = xir_node_make(at, "GatherND", INS(all, xir_node_unsqueezed(at, g->rows, &last, NULL)),
                        SETS(INT("batch_dims", 1)));
    xir_value *zero = xir_node_scalar(at, v_element(now), 0);
    all = xir_node_make(at, "Where", INS(all, zero, xir_node_unsqueezed(at, g->used, &both, NULL)), NO_SETS);
    return all ? onnx_heads_exchanged(at, all) : NULL;
}

/* ---- positions and masks ---------------------------------------------------------------------------------------- */

/* The positions of tokens, after those of the past. */
static xir_value *places_of(xir_node *at, const group_query *g) {
    const xir_ints none = { (int64_t[]){ 0 }, 1 }, one = { (int64_t[]){ 1 }, 1 };
    if (xir_node_has(at, POSITIONS)) return xir_node_input(at, POSITIONS);
    if (!g->past_k) return xir_node_integers(at, &none);
    if (!g->before) return size_of(at, g->past_k, 2);
    return xir_node_sum(at, onnx_places_along(at, g->q, 1, false), xir_node_unsqueezed(at, g->before, &one, NULL), 1,
                        1);
}

static bool rotate(xir_node *at, group_query *g) {
    xir_value *places = places_of(at, g);
    const xir_value *table = xir_node_input(at, COSINES);
    if (!onnx_ranked(at, 7, table, 2, 2) || !xir_node_need_dims(at, table, 1, 2)) return false;
    const int64_t half = v_dim(table, 1);
    if (half < 1 || half > g->size / 2) {
        return xir_node_invalid(at, XIR_E_INVALID, "input/7",
                                "dim 1 of input 7: expected 1 to %lld, half of a head, found %lld",
                                (long long)g->size / 2, (long long)half);
    }
    const bool pairs = xir_node_int(at, "rotary_interleaved", 0);
    xir_value *cos = onnx_rotary_rows(at, COSINES, g->q, 1, places, half);
    xir_value *sin = onnx_rotary_rows(at, SINES, g->q, 1, places, half);
    g->q = onnx_rotated(at, g->q, cos, sin, 2 * half, pairs);
    g->k = onnx_rotated(at, g->k, cos, sin, 2 * half, pairs);
    return g->q && g->k;
}

/* 0 where a token may look, for queries and keys as [batch, heads, length, size]. */
static xir_value *visible(xir_node *at, const group_query *g, xir_value *q, xir_value *k) {
    const xir_ints later = { (int64_t[]){ 1, 2, 3 }, 3 };
    xir_value *own = onnx_places_along(at, q, 2, true), *key = onnx_places_along(at, k, 2, false);
    if (xir_node_failed(at) || !own || !key) return NULL;
    if (g->past_k) {
        own = xir_node_sum(at, own, g->before ? xir_node_unsqueezed(at, g->before, &later, NULL)
                           : size_of(at, g->past_k, 2), 1, 1);
    }
    xir_value *seen = make_formula(at, g->window > 0 ? "s = y <= x; f = x - like(a); And(s, y > f)" : "y <= x",
                                   INS(own, key), NUMBERS((double)g->window));
    return make_formula(at, "y ? 0 : -inf", INS(q, seen), NULL);
}

/* A row of zeros in front of dim `axis`. */
static xir_value *after_zero(xir_node *at, xir_value *x, size_t axis) {
    xir_ints cells = xir_node_make_ints(at, 2 * v_rank(x), 0);
    if (!cells.v) return NULL;
    cells.v[2 * axis] = 1;
    return zeros_around(at, x, &cells);
}

/* The mask with a key in front, whose weight in the Softmax is the exponent of the sink of the head, or 1. */
static xir_value *with_sink(xir_node *at, xir_value *mask, xir_value *k) {
    xir_value *sink = xir_node_optional_input(at, SINK);
    const xir_ints dims = { (int64_t[]){ 1, 2 }, 2 };
    mask = mask ? after_zero(at, mask, v_rank(mask) - 1) : NULL;
    if (!sink || !mask || xir_node_failed(at)) return mask;
    if (v_rank(sink) != 1)
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/11", "expected 1 dim, found %zu", v_rank(sink)), NULL;
    xir_value *places = onnx_places_along(at, k, 2, false);
    xir_value *first = make_formula(at, "x == 0", INS(places), NULL);
    sink = xir_node_product(at, xir_node_unsqueezed(at, sink, &dims, NULL),
                            first ? xir_node_cast(at, first, v_element(sink)) : NULL);
    return xir_node_sum(at, mask, sink, 1, 1);
}

bool onnx_ms_group_query_attention(xir_node *at) {
    group_query g = { .past_k = NULL };
    if (is_refused(at, &g) || !read_heads(at, &g) || !read_inputs(at, &g) || !read_past(at, &g)) return false;
    if (xir_node_int(at, "do_rotary", 0) && !rotate(at, &g)) return false;
    xir_value *q = onnx_heads_exchanged(at, g.q);
    xir_value *k = with_past(at, &g, g.past_k, g.k), *v = with_past(at, &g, g.past_v, g.v);
    xir_value *mask = xir_node_optional_input(at, BIAS);
    if (xir_node_failed(at) || !q || !k || !v) return false;
    if (node_wants(at, 1)) xir_node_result(at, 1, k);
    if (node_wants(at, 2)) xir_node_result(at, 2, v);
    const bool plain = !g.past_k && g.window < 0 && !g.sinks;
    if (!plain) {
        xir_value *seen = visible(at, &g, q, k);
        mask = mask ? xir_node_sum(at, mask, seen, 1, 1) : seen;
    }
    if (g.sinks) {
        k = after_zero(at, k, 2), v = after_zero(at, v, 2);
        mask = k ? with_sink(at, mask, k) : NULL;
    }
    const double scale = xir_node_real(at, "scale", 0);
    const xir_set sets[] = { INT("is_causal", plain), REAL("softcap", xir_node_real(at, "softcap", 0)),
                             REAL("scale", scale) };
    xir_value *y = xir_node_make(at, "Attention", INS(q, k, v, mask), (xir_sets){ sets, scale != 0 ? 3 : 2 });
    y = y ? onnx_heads_exchanged(at, y) : NULL;
    return xir_node_result(at, 0, onnx_from_heads(at, y));
}
