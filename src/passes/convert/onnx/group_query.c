/* GroupQueryAttention of ONNX Runtime (com.microsoft): several heads of queries share one of keys and values. Tokens
 * see those before them. With a past, XIR says the same only if all batches have as many keys as the past and the new
 * tokens together, which must be constant; without one, tokens that are padding have no defined result. */
#include "convert/onnx/rows.h"
#include "convert/parts.h"

enum { MOST_HEADS = 1 << 16 };
enum { QUERY, KEY, VALUE, PAST_KEY, PAST_VALUE, LENGTHS, TOTAL, COSINES, SINES, POSITIONS, BIAS, SINK, K_SCALE,
       V_SCALE };

typedef struct group_query {
    xir_value *q, *k, *v, *past_k, *past_v;
    int64_t    heads, groups, size;      /* of queries, of keys; elements of a head */
} group_query;

static bool is_refused(xir_node *at) {
    if (xir_node_has(at, SINK)) return !xir_node_unsupported(at, "a sink for each head");
    if (xir_node_has(at, K_SCALE) || xir_node_has(at, V_SCALE)) return !xir_node_unsupported(at, "a quantised cache");
    if (xir_node_int(at, "local_window_size", -1) != -1) return !xir_node_unsupported(at, "a window of tokens");
    if (xir_node_int(at, "smooth_softmax", 0)) return !xir_node_unsupported(at, "a smooth Softmax");
    if (node_wants(at, 3)) return !xir_node_unsupported(at, "the products of queries and keys");
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
    if (xir_node_failed(at)) return false;
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

/* The past, if it has elements: all batches must have all of it. */
static bool read_past(xir_node *at, group_query *g) {
    xir_value *k = xir_node_optional_input(at, PAST_KEY), *v = xir_node_optional_input(at, PAST_VALUE);
    xir_ints lengths;
    if (xir_node_failed(at)) return false;
    if (!k != !v)
        return xir_node_invalid(at, XIR_E_MISSING, k ? "input/4" : "input/3",
                                "expected both keys and values of the past");
    if (!k) return true;
    if (v_rank(k) != 4 || v_rank(v) != 4)
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/3", "keys and values of the past: expected 4 dims");
    if (v_dim(k, 2) == 0) return true;
    if (!xir_node_is_constant(at, LENGTHS))
        return xir_node_unsupported(at, "with a past, how many keys each batch has, which only a run says");
    if (!xir_node_ints(at, LENGTHS, &lengths) || !xir_node_need_dims(at, k, 2, 3) ||
        !xir_node_need_dims(at, g->k, 1, 2)) return false;
    for (size_t i = 0; i < lengths.n; i++) {
        if (lengths.v[i] != v_dim(k, 2) + v_dim(g->k, 1) - 1)
            return xir_node_unsupported(at, "a batch with fewer keys than the past and the new tokens");
    }
    g->past_k = k, g->past_v = v;
    return true;
}

/* The positions of tokens, after those of the past. */
static bool rotate(xir_node *at, group_query *g) {
    xir_value *places = xir_node_optional_input(at, POSITIONS);
    const int64_t from = g->past_k ? v_dim(g->past_k, 2) : 0;
    const xir_value *table = xir_node_input(at, COSINES);
    if (xir_node_failed(at)) return false;
    if (!places) {
        const xir_ints first = { (int64_t[]){ from }, 1 };
        places = xir_node_integers(at, &first);
    }
    const size_t last = v_rank(table) - 1;
    if (v_rank(table) != 2) return xir_node_invalid(at, XIR_E_BOUNDS, "input/7", "expected 2 dims, found %zu",
                                                    v_rank(table));
    if (!xir_node_need_dims(at, table, last, last + 1)) return false;
    const int64_t half = v_dim(table, last);
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

/* 0 where a token may look, which `past` others precede; lengths are known. */
static xir_value *causal(xir_node *at, const group_query *g, int64_t past) {
    enum { MOST = 1 << 22 };
    const int64_t n = v_dim(g->q, 2), keys = past + n;
    const xir_ints dims = { (int64_t[]){ n, keys }, 2 };
    if (n > MOST || keys > MOST || n * keys > MOST) return xir_node_unsupported(at, "a very large mask"), NULL;
    double *v = arena_take(&at->c->scratch, ((size_t)(n * keys) + 1) * sizeof *v);
    if (!v) return node_no_memory(at), NULL;
    for (int64_t i = 0; i < n * keys; i++) v[i] = i % keys <= past + i / keys ? 0 : -3e38;
    return xir_node_constant(at, v_element(g->q), &dims, v, (size_t)(n * keys));
}

bool onnx_ms_group_query_attention(xir_node *at) {
    static const int64_t order[] = { 0, 2, 1, 3 };
    group_query g = { .past_k = NULL };
    if (is_refused(at) || !read_heads(at, &g) || !read_inputs(at, &g) || !read_past(at, &g)) return false;
    if (xir_node_int(at, "do_rotary", 0) && !rotate(at, &g)) return false;
    g.q = xir_node_transposed(at, g.q, order, 4, NULL);
    g.k = xir_node_transposed(at, g.k, order, 4, NULL), g.v = xir_node_transposed(at, g.v, order, 4, NULL);
    xir_value *mask = xir_node_optional_input(at, BIAS);
    if (xir_node_failed(at) || !g.q || !g.k || !g.v) return false;
    if (g.past_k) {
        xir_value *seen = causal(at, &g, v_dim(g.past_k, 2));
        mask = mask && seen ? xir_node_sum(at, mask, seen, 1, 1) : seen;
        g.k = xir_node_make(at, "Concat", INS(g.past_k, g.k), SETS(INT("axis", 2)));
        g.v = xir_node_make(at, "Concat", INS(g.past_v, g.v), SETS(INT("axis", 2)));
    }
    const double scale = xir_node_real(at, "scale", 0);
    const xir_set sets[] = { INT("is_causal", !g.past_k), REAL("softcap", xir_node_real(at, "softcap", 0)),
                             REAL("scale", scale) };
    if (xir_node_failed(at)) return false;
    xir_value *y = xir_node_make(at, "Attention", INS(g.q, g.k, g.v, mask), (xir_sets){ sets, scale != 0 ? 3 : 2 });
    y = y ? xir_node_transposed(at, y, order, 4, NULL) : NULL;
    if (node_wants(at, 1)) xir_node_result(at, 1, g.k);
    if (node_wants(at, 2)) xir_node_result(at, 2, g.v);
    return xir_node_result(at, 0, onnx_from_heads(at, y));
}
