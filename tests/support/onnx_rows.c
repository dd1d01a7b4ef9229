/* What each op type of ONNX is with us. A row without a hook is one op of the same inputs; a hook makes one op from inputs
 * that are attributes with us, or the few ops that say the same. What no hook says exactly is refused with map_no_form. */
#include <stdio.h>
#include "onnx_rows.h"

const onnx_row seed_onnx_rows[] = {
    /* element by element, one input */
    { "Abs",             "Abs",          NULL,                         NULL },
    { "Acos",            "ACos",         NULL,                         NULL },
    { "Acosh",           "ACosh",        NULL,                         NULL },
    { "Asin",            "ASin",         NULL,                         NULL },
    { "Asinh",           "ASinh",        NULL,                         NULL },
    { "Atan",            "ATan",         NULL,                         NULL },
    { "Atanh",           "ATanh",        NULL,                         NULL },
    { "Ceil",            "Ceil",         NULL,                         NULL },
    { "Celu",            NULL,           NULL,                         row_celu },
    { "Cos",             "Cos",          NULL,                         NULL },
    { "Cosh",            "Cosh",         NULL,                         NULL },
    { "Elu",             "ELU",          "alpha=alpha:1",              NULL },
    { "Erf",             "Erf",          NULL,                         NULL },
    { "Exp",             "Exp",          NULL,                         NULL },
    { "Floor",           "Floor",        NULL,                         NULL },
    { "HardSigmoid",     "Hardsigmoid",  "alpha=alpha:0.2 beta=beta:0.5", NULL },
    { "HardSwish",       "Hardswish",    NULL,                         NULL },
    { "Identity",        "Copy",         NULL,                         NULL },
    { "IsInf",           NULL,           NULL,                         row_is_inf },
    { "IsNaN",           NULL,           NULL,                         row_is_nan },
    { "LeakyRelu",       "ReLU",         "alpha=alpha:0.01",           NULL },
    { "Log",             "Log",          NULL,                         NULL },
    { "Neg",             "Neg",          NULL,                         NULL },
    { "Not",             "Not",          NULL,                         NULL },
    { "Reciprocal",      "Reciprocal",   NULL,                         NULL },
    { "Relu",            "ReLU",         NULL,                         NULL },
    { "Round",           "Round",        NULL,                         NULL },
    { "Selu",            NULL,           NULL,                         row_selu },
    { "Shrink",          NULL,           NULL,                         row_shrink },
    { "Sigmoid",         "Sigmoid",      NULL,                         NULL },
    { "Sign",            "Sign",         NULL,                         NULL },
    { "Sin",             "Sin",          NULL,                         NULL },
    { "Sinh",            "Sinh",         NULL,                         NULL },
    { "Softplus",        "Softplus",     "threshold=1e30",             NULL },
    { "Softsign",        "Softsign",     NULL,                         NULL },
    { "Sqrt",            "Sqrt",         NULL,                         NULL },
    { "Tan",             "Tan",          NULL,                         NULL },
    { "Tanh",            "Tanh",         NULL,                         NULL },
    { "ThresholdedRelu", "ReLU",         "threshold=alpha:1",          NULL },
    { "Cast",            NULL,           NULL,                         row_cast },
    { "CastLike",        NULL,           NULL,                         row_cast_like },
    { "Clip",            NULL,           NULL,                         row_clip },
    { "Dropout",         NULL,           NULL,                         row_dropout },

    /* element by element, several inputs */
    { "Add",             NULL,           NULL,                         row_add },
    { "And",             "And",          NULL,                         NULL },
    { "Div",             NULL,           NULL,                         row_div },
    { "Equal",           "Equal",        NULL,                         NULL },
    { "Greater",         "Greater",      NULL,                         NULL },
    { "GreaterOrEqual",  "GreaterEqual", NULL,                         NULL },
    { "Less",            "Less",         NULL,                         NULL },
    { "LessOrEqual",     "LessEqual",    NULL,                         NULL },
    { "Max",             NULL,           NULL,                         row_max },
    { "Mean",            NULL,           NULL,                         row_sum },
    { "Min",             NULL,           NULL,                         row_min },
    { "Mod",             "Mod",          "fmod=fmod:0",                NULL },
    { "Mul",             NULL,           NULL,                         row_mul },
    { "Or",              "Or",           NULL,                         NULL },
    { "Pow",             NULL,           NULL,                         row_pow },
    { "PRelu",           NULL,           NULL,                         row_prelu },
    { "Sub",             NULL,           NULL,                         row_sub },
    { "Sum",             NULL,           NULL,                         row_sum },
    { "Where",           NULL,           NULL,                         row_where },
    { "Xor",             "Xor",          NULL,                         NULL },

    /* constants and shapes */
    { "Constant",        NULL,           NULL,                         row_constant },
    { "ConstantOfShape", NULL,           NULL,                         row_constant_of_shape },
    { "Range",           NULL,           NULL,                         seed_row_range },
    { "Shape",           NULL,           NULL,                         row_shape },
    { "Size",            NULL,           NULL,                         row_size },

    /* the same elements elsewhere */
    { "Concat",          NULL,           NULL,                         row_concat },
    { "DepthToSpace",    NULL,           NULL,                         row_depth_to_space },
    { "Expand",          NULL,           NULL,                         row_expand },
    { "Flatten",         NULL,           NULL,                         row_flatten },
    { "Pad",             NULL,           NULL,                         row_pad },
    { "Reshape",         NULL,           NULL,                         row_reshape },
    { "Slice",           NULL,           NULL,                         row_slice },
    { "SpaceToDepth",    NULL,           NULL,                         row_space_to_depth },
    { "Split",           NULL,           NULL,                         row_split },
    { "Squeeze",         NULL,           NULL,                         row_squeeze },
    { "Tile",            NULL,           NULL,                         row_tile },
    { "Transpose",       NULL,           NULL,                         row_transpose },
    { "Trilu",           NULL,           NULL,                         row_trilu },
    { "Unsqueeze",       NULL,           NULL,                         row_unsqueeze },

    /* windows and sizes */
    { "AveragePool",       NULL,         NULL,                         row_average_pool },
    { "Conv",              NULL,         NULL,                         row_conv },
    { "ConvInteger",       NULL,         NULL,                         row_conv_integer },
    { "ConvTranspose",     NULL,         NULL,                         row_conv_transpose },
    { "GlobalAveragePool", NULL,         NULL,                         row_global_average_pool },
    { "GlobalMaxPool",     NULL,         NULL,                         row_global_max_pool },
    { "GridSample",        NULL,         NULL,                         row_grid_sample },
    { "MaxPool",           NULL,         NULL,                         row_max_pool },
    { "Resize",            NULL,         NULL,                         row_resize },
    { "Upsample",          NULL,         NULL,                         row_resize },

    /* reductions and normalisations */
    { "ArgMax",          NULL,           NULL,                         row_arg_max },
    { "ArgMin",          NULL,           NULL,                         row_arg_min },
    { "BatchNormalization",        NULL, NULL,                         row_batch_normalization },
    { "CumSum",          NULL,           NULL,                         row_cum_sum },
    { "Hardmax",         NULL,           NULL,                         row_hardmax },
    { "InstanceNormalization",     NULL, NULL,                         row_instance_normalization },
    { "LayerNormalization",        NULL, NULL,                         row_layer_normalization },
    { "LogSoftmax",      NULL,           NULL,                         row_log_softmax },
    { "LRN",             NULL,           NULL,                         row_lrn },
    { "MeanVarianceNormalization", NULL, NULL,                         row_mean_variance_normalization },
    { "ReduceL1",        NULL,           NULL,                         row_reduce_l1 },
    { "ReduceL2",        NULL,           NULL,                         row_reduce_l2 },
    { "ReduceLogSum",    NULL,           NULL,                         row_reduce_log_sum },
    { "ReduceLogSumExp", NULL,           NULL,                         row_reduce_log_sum_exp },
    { "ReduceMax",       NULL,           NULL,                         row_reduce_max },
    { "ReduceMean",      NULL,           NULL,                         row_reduce_mean },
    { "ReduceMin",       NULL,           NULL,                         row_reduce_min },
    { "ReduceProd",      NULL,           NULL,                         row_reduce_prod },
    { "ReduceSum",       NULL,           NULL,                         row_reduce_sum },
    { "ReduceSumSquare", NULL,           NULL,                         row_reduce_sum_square },
    { "Softmax",         NULL,           NULL,                         row_softmax },

    /* products and quantisation */
    { "DequantizeLinear",        NULL,   NULL,                         row_dequantize_linear },
    { "DynamicQuantizeLinear",   NULL,   NULL,                         row_dynamic_quantize_linear },
    { "Einsum",                  NULL,   NULL,                         row_einsum },
    { "Gemm",                    NULL,   NULL,                         row_gemm },
    { "MatMul",                  "Matmul", NULL,                       NULL },
    { "MatMulInteger",           NULL,   NULL,                         row_matmul_integer },
    { "QuantizeLinear",          NULL,   NULL,                         row_quantize_linear },

    /* elements by index */
    { "Compress",          NULL,         NULL,                         row_compress },
    { "Gather",            "Gather",     "axis=axis:0",                NULL },
    { "GatherElements",    "GatherElements", "axis=axis:0",            NULL },
    { "GatherND",          NULL,         NULL,                         row_gather_nd },
    { "NonMaxSuppression", NULL,         NULL,                         row_non_max_suppression },
    { "NonZero",           NULL,         NULL,                         row_non_zero },
    { "OneHot",            NULL,         NULL,                         row_one_hot },
    { "ScatterND",         NULL,         NULL,                         row_scatter_nd },
    { "TopK",              NULL,         NULL,                         row_top_k },

    /* losses and recurrent networks */
    { "GRU",                       NULL, NULL,                         row_gru },
    { "LSTM",                      NULL, NULL,                         row_lstm },
    { "NegativeLogLikelihoodLoss", NULL, NULL,                         row_nll_loss },
    { "RNN",                       NULL, NULL,                         row_rnn },
    { "SoftmaxCrossEntropyLoss",   NULL, NULL,                         row_softmax_cross_entropy_loss },
};
const size_t seed_onnx_row_count = COUNT(seed_onnx_rows);

/* ---- what the hooks share ------------------------------------------------------------------------------------------ */

xir_value *seed_make_number(onnx_at *at, const xir_type *element, double value) {
    const items none = { .n = 0 };
    return map_filled(at, element, &none, value);
}

items items_from(int64_t first, size_t n) {
    items list = { .n = n < MOST_ITEMS ? n : MOST_ITEMS };
    for (size_t i = 0; i < list.n; i++) list.v[i] = first + (int64_t)i;
    return list;
}

items items_of_one(size_t n) {
    items list = { .n = n < MOST_ITEMS ? n : MOST_ITEMS };
    for (size_t i = 0; i < list.n; i++) list.v[i] = 1;
    return list;
}

int64_t items_product(const items *list, size_t from, size_t to) {
    int64_t n = 1;
    for (size_t i = from; i < to; i++) {
        if (list->v[i] < 0 || __builtin_mul_overflow(n, list->v[i], &n)) return -1;
    }
    return n;
}

xir_value *seed_make_sum(onnx_at *at, xir_value *lhs, xir_value *rhs, double alpha, double beta) {
    const void *factors[] = { xir_scalar_real(at->ctx, alpha), xir_scalar_real(at->ctx, beta) };
    return map_make1(at, "Add", INS(lhs, rhs), SETS(OBJECT("alpha", &factors[0]), OBJECT("beta", &factors[1])));
}

xir_value *seed_make_product(onnx_at *at, xir_value *lhs, xir_value *rhs) {
    return map_make1(at, "Multiply", INS(lhs, rhs), NO_SETS);
}

xir_value *seed_make_scaled(onnx_at *at, xir_value *x, double factor) {
    return x ? seed_make_product(at, x, seed_make_number(at, map_element_of(x), factor)) : NULL;
}

xir_value *seed_make_quotient(onnx_at *at, xir_value *lhs, xir_value *rhs) {
    return map_make1(at, "Div", INS(lhs, rhs), NO_SETS);
}

xir_value *seed_make_of(onnx_at *at, const char *cls, xir_value *x) { return map_make1(at, cls, INS(x), NO_SETS); }

xir_value *make_transposed(onnx_at *at, xir_value *x, const items *perm) {
    const xir_layout *layout = xir_layout_default(at->ctx, perm->n);
    return map_make1(at, "Transpose", INS(x), SETS(ITEMS("dims", perm), OBJECT("layout", layout)));
}

/* Reshape keeps one dim that is not known; more of them cannot be said. */
xir_value *seed_make_reshaped(onnx_at *at, xir_value *x, const items *dims) {
    size_t unknown = 0;
    for (size_t i = 0; i < dims->n; i++) unknown += dims->v[i] < 0;
    if (unknown > 1) {
        map_no_form(at, "needs dims that are not known");
        return NULL;
    }
    return map_reshaped(at, x, dims);
}

xir_value *seed_make_unsqueezed(onnx_at *at, xir_value *x, const items *axes) {
    if (map_failed(at)) return NULL;
    items dims = { .n = map_rank_of(x) + axes->n };
    if (dims.n > MOST_ITEMS) {
        map_refused(at, "%zu dims", dims.n);
        return NULL;
    }
    bool fresh[MOST_ITEMS] = { false };
    for (size_t i = 0; i < axes->n; i++) {
        int64_t axis;
        if (!map_to_axis(at, axes->v[i], dims.n, &axis)) return NULL;
        fresh[axis] = true;
    }
    for (size_t i = 0, from = 0; i < dims.n; i++) dims.v[i] = fresh[i] ? 1 : map_dim_of(x, from++);
    return seed_make_reshaped(at, x, &dims);
}

const char *const map_feature_letters[3] = { "NCL", "NCHW", "NCDHW" };

const char *map_class_of_rank(char room[32], const char *family, size_t n) {
    snprintf(room, 32, "%s%zud", family, n);
    return room;
}
