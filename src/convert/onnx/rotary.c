/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* RotaryEmbedding, of the standard and of ONNX Runtime: pairs of elements are turned by an angle that grows with the
 * position. */
#include "onnx/rows.h"
#include "formula/parts.h"

/* Elements `which`, `which` + 2, … of the first `n` of the last dim, if pairs are neighbours; else the first or second
 * half of them. */
static xir_value *half_of(xir_node *at, xir_value *x, int64_t which, int64_t n, bool interleaved) {
    const size_t last = v_rank(x) - 1;
    return interleaved ? make_part(at, x, last, which, n, 2)
           : make_part(at, x, last, which * n / 2, (which + 1) * n / 2, 1);
}

static xir_value *joined(xir_node *at, xir_value *a, xir_value *b, int64_t axis) {
    return xir_node_failed(at) || !a || !b ? NULL : xir_node_make(at, "Concat", INS(a, b), SETS(INT("axis", axis)));
}

/* The halves as neighbours in pairs. */
static xir_value *woven(xir_node *at, xir_value *a, xir_value *b, int64_t n) {
    if (xir_node_failed(at) || !a || !b) return NULL;
    const int64_t rank = (int64_t)v_rank(a);
    const xir_ints end = { (int64_t[]){ -1 }, 1 };
    xir_value *pairs = joined(at, xir_node_unsqueezed(at, a, &end, NULL), xir_node_unsqueezed(at, b, &end, NULL), rank);
    xir_ints dims = xir_node_dims(at, a);
    size_t open = 0;
    for (size_t i = 0; i + 1 < dims.n; i++) open += dims.v[i] < 0;
    if (xir_node_failed(at)) return NULL;
    if (open > 1) return xir_node_unsupported(at, "several open dims, in neighbouring pairs"), NULL;
    dims.v[dims.n - 1] = n;
    return make_reshaped(at, pairs, &dims);
}

xir_value *onnx_rotated(xir_node *at, xir_value *x, xir_value *cos, xir_value *sin, int64_t rotated, bool interleaved) {
    if (xir_node_failed(at) || !x || !cos || !sin) return NULL;
    const size_t last = v_rank(x) - 1;
    const int64_t size = v_dim(x, last);
    xir_value *a = half_of(at, x, 0, rotated, interleaved), *b = half_of(at, x, 1, rotated, interleaved);
    xir_value *real = xir_node_sum(at, xir_node_product(at, a, cos), xir_node_product(at, b, sin), 1, -1);
    xir_value *imaginary = xir_node_sum(at, xir_node_product(at, a, sin), xir_node_product(at, b, cos), 1, 1);
    xir_value *y = interleaved ? woven(at, real, imaginary, rotated) : joined(at, real, imaginary, (int64_t)last);
    return rotated == size ? y : joined(at, y, make_part(at, x, last, rotated, size, 1), (int64_t)last);
}

/* Rows of a table [positions, n] for each token, [batch or 1, length, 1, n]. Positions are [batch, length], or one from
 * which the tokens count; without them the table is [batch, length, n]. */
xir_value *onnx_rotary_rows(xir_node *at, size_t i, xir_value *x, size_t tokens, xir_value *places, int64_t n) {
    const input_place here = place_of_input(i);
    const xir_ints heads = { (int64_t[]){ 2 }, 1 };
    xir_value *table = xir_node_input(at, i);
    const size_t rank = places ? 2 : 3;
    if (v_rank(table) != rank || (v_dim(table, rank - 1) >= 0 && v_dim(table, rank - 1) != n)) {
        return xir_node_invalid(at, XIR_E_INVALID, here.text,
                                "input %zu: expected %zu dims, the last of %lld elements, found "
                                "%zu, the last of %lld", i, rank, (long long)n, v_rank(table),
                                (long long)(v_rank(table) ? v_dim(table, v_rank(table) - 1) : 1)), NULL;
    }
    if (!places) return xir_node_unsqueezed(at, table, &heads, NULL);
    if (v_rank(places) > 2 || (v_rank(places) == 1 && v_dim(places, 0) > 1)) {
        return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "the positions: expected [batch, length] or one number, found "
                                "%zu dim%s", v_rank(places), v_rank(places) == 1 ? " of several" : "s"), NULL;
    }
    const bool first = v_rank(places) < 2;
    if (first && !xir_node_need_dims(at, places, 0, 1)) return NULL;
    if (first) {
        xir_value *along = xir_node_cast(at, onnx_places_along(at, x, tokens, false), v_element(places));
        places = xir_node_sum(at, along, places, 1, 1);
    }
    xir_value *rows = xir_node_make(at, "Gather", INS(table, places), SETS(INT("axis", 0)));
    const xir_ints alone = { (int64_t[]){ 1 }, 1 };
    return rows ? xir_node_unsqueezed(at, rows, first ? &alone : &heads, NULL) : NULL;
}

/* `standard`: input 3 has the positions, otherwise input 1. x is [batch, length, heads * size] or [batch, heads,
 * length, size]. */
static bool rotary(xir_node *at, bool standard) {
    xir_value *x = xir_node_input(at, 0), *places = standard ? xir_node_optional_input(at, 3) : xir_node_input(at, 1),
        *y;
    const size_t cos_at = standard ? 1 : 2;
    int64_t rotated = xir_node_int(at, "rotary_embedding_dim", 0), heads = xir_node_int(at, "num_heads", 0);
    const bool apart = v_rank(x) == 4;
    if (!onnx_ranked(at, 0, x, 3, 4)) return false;
    if (!apart && !heads && !standard && !rotated) {   /* the table says the size of a head */
        const xir_value *table = xir_node_input(at, cos_at);
        if (!table || !xir_node_need_dims(at, table, 1, 2) || !xir_node_need_dims(at, x, 2, 3)) return false;
        heads = v_dim(table, 1) > 0 ? v_dim(x, 2) / (2 * v_dim(table, 1)) : 0;
    }
    xir_value *own = apart ? onnx_heads_exchanged(at, x)
        : onnx_in_heads(at, x, heads, "attribute/num_heads");
    if (!own || !xir_node_need_dims(at, own, 3, 4)) return false;
    const int64_t size = v_dim(own, 3);
    if (rotated == 0) rotated = size;
    if (rotated < 2 || rotated > size || rotated % 2) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/rotary_embedding_dim", "the rotated elements of a head: "
                                "expected an even number up to %lld, found %lld", (long long)size, (long long)rotated);
    }
    const size_t tokens = apart ? 2 : 1;
    xir_value *cos = onnx_rotary_rows(at, cos_at, x, tokens, places, rotated / 2);
    xir_value *sin = onnx_rotary_rows(at, cos_at + 1, x, tokens, places, rotated / 2);
    y = onnx_rotated(at, own, cos, sin, rotated, xir_node_int(at, "interleaved", 0));
    if (apart) return xir_node_result(at, 0, y ? onnx_heads_exchanged(at, y) : NULL);
    return xir_node_result(at, 0, onnx_from_heads(at, y));
}

bool onnx_rotary_embedding(xir_node *at) { return rotary(at, true); }
bool onnx_ms_rotary_embedding(xir_node *at) {
    if (xir_node_int(at, "is_packed_batching", 0)) return xir_node_unsupported(at, "batches without padding");
    const double scale = xir_node_real(at, "scale", 1);
    if (scale != 1 && scale != 0) return xir_node_unsupported(at, "a scale of %g", scale);
    return rotary(at, false);
}
