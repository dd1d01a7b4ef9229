/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The type rules of ONNX Runtime's operators (com.microsoft): those that its optimiser writes, and others whose output
 * is like an input. Channels are the second dim; where an attribute says otherwise, or the operator is of its blocked
 * layout, the declared type counts. */
#include <stdlib.h>
#include "onnx/types.h"

/* ---- element by element ----------------------------------------------------------------------------------------- */

static bool is_type(const xir_node *at, const char *name) { return xir_str_equal(at->cls->type, xir_str_of(name)); }

/* The integers of QLinearAdd and others are inputs 0 and 3, of QLinearWhere 0, 1 and 4. */
static bool onnx_shape_ms_broadcast(xir_node *at, xir_ints *dims) {
    const bool three = is_type(at, "QLinearWhere");
    xir_ints next;
    if (!dims_of(at, 0, dims)) return false;
    if (three && (!dims_of(at, 1, &next) || !dims_broadcast(at, dims, &next, dims))) return false;
    return dims_of(at, three ? 4 : 3, &next) && dims_broadcast(at, dims, &next, dims);
}

static bool onnx_shape_ms_half(xir_node *at, xir_ints *dims) {
    if (!dims_of(at, 0, dims) || dims->n == 0) return false;
    int64_t *last = &dims->v[dims->n - 1];
    *last = *last < 0 ? -1 : *last / 2;
    return true;
}

/* Inputs: scale and zero point of the output, then each part with its own. */
static bool onnx_shape_ms_concat(xir_node *at, xir_ints *dims) {
    xir_ints next;
    size_t axis;
    if (!dims_of(at, 2, dims) || !axis_in(xir_node_int(at, "axis", 0), dims->n, &axis)) return false;
    for (size_t i = 5; i < at->n_in; i += 3) {
        if (!dims_of(at, i, &next) || next.n != dims->n) return false;
        dims->v[axis] = dim_sum(dims->v[axis], next.v[axis]);
    }
    return true;
}

/* Outputs 1 and 2 are the mean and the deviation over the last dim. */
static bool onnx_shape_ms_skip_norm(xir_node *at, xir_ints *dims) {
    if (!dims_of(at, 0, dims) || dims->n == 0) return false;
    if (at->asked == 1 || at->asked == 2) dims->v[dims->n - 1] = 1;
    return true;
}

/* ---- windows ---------------------------------------------------------------------------------------------------- */

static bool onnx_shape_ms_pool(xir_node *at, xir_ints *dims) {
    if (xir_node_int(at, "channels_last", 0)) return false;
    return is_type(at, "QLinearGlobalAveragePool") ? onnx_shape_global_pool(at, dims)
         : onnx_shape_pool(at, dims);
}

static bool onnx_shape_ms_convolution(xir_node *at, xir_ints *dims) {
    return !xir_node_int(at, "channels_last", 0) && onnx_shape_convolution(at, dims);
}

/* Output 1 is the new state, [batch, channels, size of the kernel - 1]. */
static bool onnx_shape_ms_causal_conv(xir_node *at, xir_ints *dims) {
    xir_ints kernel;
    if (!dims_of(at, 0, dims)) return false;
    if (!at->asked) return true;
    if (!dims_of(at, 1, &kernel) || dims->n != 3 || kernel.n != 3) return false;
    dims->v[2] = kernel.v[2] > 0 ? kernel.v[2] - 1 : -1;
    return true;
}

/* ---- products --------------------------------------------------------------------------------------------------- */

/* The dims of a matrix after its transposes: first the first dim moves before the last, then the last two change. */
static bool turned(xir_node *at, size_t input, const char *rows, const char *batch, xir_ints *dims) {
    if (!dims_of(at, input, dims)) return false;
    const size_t n = dims->n;
    if (n < 2) return true;
    int64_t *v = dims->v;
    if (xir_node_int(at, batch, 0)) {
        const int64_t first = v[0];
        for (size_t i = 0; i + 2 < n; i++) v[i] = v[i + 1];
        v[n - 2] = first;
    }
    if (xir_node_int(at, rows, 0)) {
        const int64_t last = v[n - 1];
        v[n - 1] = v[n - 2], v[n - 2] = last;
    }
    return true;
}

static bool onnx_shape_ms_fused_matmul(xir_node *at, xir_ints *dims) {
    xir_ints a, b;
    if (!turned(at, 0, "transA", "transBatchA", &a) || !turned(at, 1, "transB", "transBatchB", &b)) return false;
    return dims_of_product(at, &a, &b, dims);
}

static bool onnx_shape_ms_nbits(xir_node *at, xir_ints *dims) {
    if (!dims_of(at, 0, dims) || dims->n == 0) return false;
    dims->v[dims->n - 1] = dim_given(xir_node_int(at, "N", -1));
    return true;
}

/* Rows of bytes are packed: each holds several elements of the last dim. */
static bool onnx_shape_ms_gather_blocks(xir_node *at, xir_ints *dims) {
    const xir_value *x = node_input_at(at, 0);
    const int64_t bits = xir_node_int(at, "bits", 4);
    xir_ints from;
    if (!dims_of(at, 0, &from) || from.n == 0 || (bits != 2 && bits != 4 && bits != 8)) return false;
    int64_t *last = &from.v[from.n - 1];
    if (xir_type_storage_bits(v_element(x)) == 8) *last = dim_product(*last, 8 / bits);
    return dims_gathered(at, &from, xir_node_int(at, "gather_axis", 0), dims);
}

/* ---- attention -------------------------------------------------------------------------------------------------- */

/* Output 1 is the present, [2, batch, heads, keys, size]. */
static bool onnx_shape_ms_attention(xir_node *at, xir_ints *dims) {
    const size_t past_at = is_type(at, "QAttention") ? 8 : 4;
    xir_ints x, w, past, sizes;
    if (!dims_of(at, 0, &x) || !dims_of(at, 1, &w) || x.n != 3 || w.n != 2) return false;
    const bool listed = xir_node_items(at, "qkv_hidden_sizes", &sizes) && sizes.n == 3;
    const int64_t hidden = listed ? dim_given(sizes.v[2]) : dim_quotient(w.v[1], 3);
    const int64_t heads = xir_node_int(at, "num_heads", 0);
    int64_t keys = x.v[1];
    if (!at->asked) return dims_are(at, dims, DIMS(x.v[0], x.v[1], hidden));
    if (xir_node_has(at, past_at))
        keys = dims_of(at, past_at, &past) && past.n == 5 ? dim_sum(past.v[3], keys) : -1;
    if (xir_node_int(at, "past_present_share_buffer", 0)) keys = -1;
    return dims_are(at, dims, DIMS(2, x.v[0], dim_given(heads), keys, dim_quotient(hidden, heads)));
}

/* Queries are [batch, length, heads * size] or packed, [batch, length, heads, 3, size]; values too, or [batch, heads,
 * length, size], or packed with the keys. */
static bool onnx_shape_ms_multi_head(xir_node *at, xir_ints *dims) {
    const int64_t heads = xir_node_int(at, "num_heads", 0);
    xir_ints q, v = { NULL, 0 }, past;
    if (at->asked == 3 || heads < 1 || !dims_of(at, 0, &q) || (q.n != 3 && q.n != 5)) return false;
    if (q.n == 5 || !xir_node_has(at, 1)) v = q;
    else if (!dims_of(at, xir_node_has(at, 2) ? 2 : 1, &v)) return false;
    if (v.n < 3 || v.n > 5) return false;
    const int64_t size = v.n == 3 ? dim_quotient(v.v[2], heads) : v.v[v.n - 1];
    if (!at->asked) return dims_are(at, dims, DIMS(q.v[0], q.v[1], dim_product(heads, size)));
    int64_t keys = v.v[v.n == 4 ? 2 : 1];
    if (xir_node_has(at, 6)) keys = dims_of(at, 6, &past) && past.n == 4 ? dim_sum(past.v[2], keys) : -1;
    if (xir_node_has(at, 8) || xir_node_has(at, 9)) keys = -1;
    const int64_t of_query = q.n == 3 ? dim_quotient(q.v[2], heads) : q.v[4];
    return dims_are(at, dims, DIMS(q.v[0], heads, keys, at->asked == 1 ? of_query : size));
}

/* Keys and values of the present are as many as input 6 says, or as the past has room for. */
static bool onnx_shape_ms_group_query(xir_node *at, xir_ints *dims) {
    const int64_t heads = xir_node_int(at, "num_heads", 0), groups = xir_node_int(at, "kv_num_heads", 0);
    xir_ints q, past;
    if (at->asked == 3 || heads < 1 || groups < 1 || heads > 1 << 16 || groups > heads) return false;
    if (!dims_of(at, 0, &q) || q.n != 3) return false;
    const int64_t size = dim_quotient(q.v[2], xir_node_has(at, 1) ? heads : heads + 2 * groups);
    if (!at->asked) return dims_are(at, dims, DIMS(q.v[0], q.v[1], dim_product(heads, size)));
    const int64_t total = number_of(at, 6);
    int64_t room = 0;
    if (xir_node_has(at, 3)) room = dims_of(at, 3, &past) && past.n == 4 ? past.v[2] : -1;
    return dims_are(at, dims, DIMS(q.v[0], groups, total < 0 || room < 0 ? -1 : total > room ? total : room, size));
}

/* Output 1 counts the tokens of each batch. */
static bool onnx_shape_ms_embed(xir_node *at, xir_ints *dims) {
    xir_ints ids, words;
    if (!dims_of(at, 0, &ids) || !dims_of(at, 2, &words) || ids.n != 2 || words.n != 2) return false;
    return dims_are(at, dims, at->asked == 1 ? DIMS(ids.v[0]) : DIMS(ids.v[0], ids.v[1], words.v[1]));
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

#define T(elements, rule, inputs, names) { elements, onnx_shape_##rule, inputs, names }
static const type_row rows[] = {
    T("0",           ms_attention,        "...n",       " Attention "),
    T("0",           same,                "",
      " BiasAdd BiasGelu BiasSoftmax FastGelu Gelu GroupNorm Inverse MoE QLinearLeakyRelu QLinearSigmoid"
      " QLinearSoftmax QMoE QuickGelu SkipGroupNorm "),
    T("0 bool",      same,                "",           " BiasDropout "),
    T("0",           ms_half,             "",           " BiasSplitGelu "),
    T("0",           ms_causal_conv,      "",           " CausalConvWithState "),
    T("1",           same,                "",           " DequantizeLinear "),
    T("0",           matmul,              "",           " DynamicQuantizeMatMul "),
    T("2 i32 2",     ms_embed,            "nn.....nn",  " EmbedLayerNormalization "),
    T("0",           convolution,         "",           " FusedConv "),
    T("0",           gemm,                "",           " FusedGemm "),
    T("0",           ms_fused_matmul,     "",           " FusedMatMul FusedMatMulActivation TransposeMatMul "),
    T("2",           ms_gather_blocks,    ".i",         " GatherBlockQuantized "),
    T("0",           gather_nd,           ".i",         " GatherND "),
    T("0",           grid_sample,         "",           " GridSample "),
    T("0",           ms_group_query,      ".....nn..l", " GroupQueryAttention "),
    T("2",           matmul,              "",           " MatMulIntegerToFloat "),
    T("0",           ms_nbits,            "....n",      " MatMulNBits "),
    T("0",           ms_multi_head,       "....n",      " MultiHeadAttention "),
    T("1",           like_second,         "l",          " NGramRepeatBlock "),
    T("3",           ms_attention,        ".....n",     " QAttention "),
    T("8|1",         gemm,                "......n",    " QGemm "),
    T("0",           ms_broadcast,        "",           " QLinearAdd QLinearMul "),
    T("0",           ms_pool,             "",           " QLinearAveragePool QLinearGlobalAveragePool "),
    T("2",           ms_concat,           "",           " QLinearConcat "),
    T("7",           ms_convolution,      "........n",  " QLinearConv "),
    T("1",           ms_broadcast,        "b",          " QLinearWhere "),
    T("2|u8",        same,                "",           " QuantizeLinear "),
    T("0",           same,                ".l",         " RotaryEmbedding Trilu "),
    T("0 f32",       layer_normalization, "",           " SimplifiedLayerNormalization "),
    T("0 f32 f32 0", ms_skip_norm,        "",           " SkipLayerNormalization SkipSimplifiedLayerNormalization "),
};

const type_row *onnx_type_row_of_microsoft(const char *name) { return onnx_type_row_named(rows, COUNT(rows), name); }
