/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The type rules of ONNX's operators, versions 1 to 24 of the operator set: a row for every operator of the standard,
 * sorted by name. A node that is not converted gets the types that they give, and the file's declared ones where they
 * give none; a check compares the elements of every node's inputs with them. */
#include <stdio.h>
#include <stdlib.h>
#include "onnx/onnx.h"
#include "onnx/types.h"
#include "element_codes.h"

#define T(name, elements, rule, inputs) { name, elements, onnx_shape_##rule, inputs }
static const type_row rows[] = {
    T("Abs",                      "0",                  same,                    ""),
    T("Acos",                     "0",                  same,                    ""),
    T("Acosh",                    "0",                  same,                    ""),
    T("Add",                      "0",                  broadcast,               ""),
    T("AffineGrid",               "0",                  affine_grid,             ".l"),
    T("And",                      "bool",               broadcast,               "bb"),
    T("ArgMax",                   "i64",                positions,               ""),
    T("ArgMin",                   "i64",                positions,               ""),
    T("Asin",                     "0",                  same,                    ""),
    T("Asinh",                    "0",                  same,                    ""),
    T("Atan",                     "0",                  same,                    ""),
    T("Atanh",                    "0",                  same,                    ""),
    T("Attention",                "0 1 2 0",            attention,               "......l"),
    T("AveragePool",              "0",                  pool,                    ""),
    T("BatchNormalization",       "0 3",                batch_normalization,     ""),
    T("Bernoulli",                "@dtype|0",           same,                    ""),
    T("BitShift",                 "0",                  broadcast,               ""),
    T("BitwiseAnd",               "0",                  broadcast,               ""),
    T("BitwiseNot",               "0",                  same,                    ""),
    T("BitwiseOr",                "0",                  broadcast,               ""),
    T("BitwiseXor",               "0",                  broadcast,               ""),
    T("BlackmanWindow",           "@output_datatype|f32",counted,                 "i"),
    T("Cast",                     "@to",                same,                    ""),
    T("CastLike",                 "1",                  same,                    ""),
    T("Ceil",                     "0",                  same,                    ""),
    T("Celu",                     "0",                  same,                    ""),
    T("CenterCropPad",            "0",                  center_crop_pad,         ".i"),
    T("Clip",                     "0",                  same,                    ""),
    T("Col2Im",                   "0",                  col2im,                  ".ll"),
    T("Compress",                 "0",                  compress,                ".b"),
    T("Concat",                   "0",                  concat,                  ""),
    { "ConcatFromSequence",       NULL, NULL, "" },
    { "Constant",                 NULL, NULL, "" },
    T("ConstantOfShape",          "#value|f32",         listed,                  "l"),
    T("Conv",                     "0",                  convolution,             ""),
    T("ConvInteger",              "i32",                convolution,             ""),
    T("ConvTranspose",            "0",                  transposed_convolution,  ""),
    T("Cos",                      "0",                  same,                    ""),
    T("Cosh",                     "0",                  same,                    ""),
    T("CumSum",                   "0",                  same,                    ".i"),
    T("DFT",                      "0",                  dft,                     ".il"),
    T("DeformConv",               "0",                  convolution,             ""),
    T("DepthToSpace",             "0",                  depth_to_space,          ""),
    T("DequantizeLinear",         "@output_dtype|1",    same,                    ""),
    T("Det",                      "0",                  det,                     ""),
    T("Div",                      "0",                  broadcast,               ""),
    T("Dropout",                  "0 bool",             same,                    "..b"),
    T("DynamicQuantizeLinear",    "u8 f32 u8",          dynamic_quantize,        ""),
    T("Einsum",                   "0",                  einsum,                  ""),
    T("Elu",                      "0",                  same,                    ""),
    T("Equal",                    "bool",               broadcast,               ""),
    T("Erf",                      "0",                  same,                    ""),
    T("Exp",                      "0",                  same,                    ""),
    T("Expand",                   "0",                  expand,                  ".l"),
    T("EyeLike",                  "@dtype|0",           same,                    ""),
    T("Flatten",                  "0",                  flatten,                 ""),
    T("Floor",                    "0",                  same,                    ""),
    T("GRU",                      "0",                  recurrent,               "....n"),
    T("Gather",                   "0",                  gather,                  ".i"),
    T("GatherElements",           "0",                  like_second,             ".i"),
    T("GatherND",                 "0",                  gather_nd,               ".l"),
    T("Gelu",                     "0",                  same,                    ""),
    T("Gemm",                     "0",                  gemm,                    ""),
    T("GlobalAveragePool",        "0",                  global_pool,             ""),
    T("GlobalLpPool",             "0",                  global_pool,             ""),
    T("GlobalMaxPool",            "0",                  global_pool,             ""),
    T("Greater",                  "bool",               broadcast,               ""),
    T("GreaterOrEqual",           "bool",               broadcast,               ""),
    T("GridSample",               "0",                  grid_sample,             ""),
    T("GroupNormalization",       "0",                  same,                    ""),
    T("HammingWindow",            "@output_datatype|f32",counted,                 "i"),
    T("HannWindow",               "@output_datatype|f32",counted,                 "i"),
    T("HardSigmoid",              "0",                  same,                    ""),
    T("HardSwish",                "0",                  same,                    ""),
    T("Hardmax",                  "0",                  same,                    ""),
    T("Identity",                 "0",                  same,                    ""),
    { "If",                       NULL, NULL, "b" },
    T("ImageDecoder",             "u8",                 image,                   ""),
    T("InstanceNormalization",    "0",                  same,                    ""),
    T("IsInf",                    "bool",               same,                    ""),
    T("IsNaN",                    "bool",               same,                    ""),
    T("LRN",                      "0",                  same,                    ""),
    T("LSTM",                     "0",                  recurrent,               "....n"),
    T("LayerNormalization",       "0 f32",              layer_normalization,     ""),
    T("LeakyRelu",                "0",                  same,                    ""),
    T("Less",                     "bool",               broadcast,               ""),
    T("LessOrEqual",              "bool",               broadcast,               ""),
    T("Log",                      "0",                  same,                    ""),
    T("LogSoftmax",               "0",                  same,                    ""),
    { "Loop",                     NULL, NULL, "lb" },
    T("LpNormalization",          "0",                  same,                    ""),
    T("LpPool",                   "0",                  pool,                    ""),
    T("MatMul",                   "0",                  matmul,                  ""),
    T("MatMulInteger",            "i32",                matmul,                  ""),
    T("Max",                      "0",                  broadcast,               ""),
    T("MaxPool",                  "0 i64",              pool,                    ""),
    T("MaxRoiPool",               "0",                  regions,                 ""),
    T("MaxUnpool",                "0",                  unpool,                  ".ll"),
    T("Mean",                     "0",                  broadcast,               ""),
    T("MeanVarianceNormalization","0",                  same,                    ""),
    T("MelWeightMatrix",          "@output_datatype|f32",mel_weights,             "iii"),
    T("Min",                      "0",                  broadcast,               ""),
    T("Mish",                     "0",                  same,                    ""),
    T("Mod",                      "0",                  broadcast,               ""),
    T("Mul",                      "0",                  broadcast,               ""),
    T("Multinomial",              "@dtype|i32",         multinomial,             ""),
    T("Neg",                      "0",                  same,                    ""),
    T("NegativeLogLikelihoodLoss","0",                  cross_entropy,           ".i"),
    T("NonMaxSuppression",        "i64",                boxes,                   "..l"),
    T("NonZero",                  "i64",                non_zero,                ""),
    T("Not",                      "0",                  same,                    "b"),
    T("OneHot",                   "2",                  one_hot,                 ""),
    { "Optional",                 NULL, NULL, "" },
    { "OptionalGetElement",       NULL, NULL, "" },
    T("OptionalHasElement",       "bool",               scalar,                  ""),
    T("Or",                       "bool",               broadcast,               "bb"),
    T("PRelu",                    "0",                  broadcast,               ""),
    T("Pad",                      "0",                  pad,                     ".l.i"),
    T("Pow",                      "0",                  broadcast,               ""),
    T("QLinearConv",              "7",                  convolution,             "........n"),
    T("QLinearMatMul",            "7",                  matmul,                  ""),
    T("QuantizeLinear",           "2|@output_dtype|u8", same,                    ""),
    T("RMSNormalization",         "0",                  same,                    ""),
    T("RNN",                      "0",                  recurrent,               "....n"),
    T("RandomNormal",             "@dtype|f32",         attribute_shape,         ""),
    T("RandomNormalLike",         "@dtype|0",           same,                    ""),
    T("RandomUniform",            "@dtype|f32",         attribute_shape,         ""),
    T("RandomUniformLike",        "@dtype|0",           same,                    ""),
    T("Range",                    "0",                  range,                   ""),
    T("Reciprocal",               "0",                  same,                    ""),
    T("ReduceL1",                 "0",                  reduced,                 ".l"),
    T("ReduceL2",                 "0",                  reduced,                 ".l"),
    T("ReduceLogSum",             "0",                  reduced,                 ".l"),
    T("ReduceLogSumExp",          "0",                  reduced,                 ".l"),
    T("ReduceMax",                "0",                  reduced,                 ".l"),
    T("ReduceMean",               "0",                  reduced,                 ".l"),
    T("ReduceMin",                "0",                  reduced,                 ".l"),
    T("ReduceProd",               "0",                  reduced,                 ".l"),
    T("ReduceSum",                "0",                  reduced,                 ".l"),
    T("ReduceSumSquare",          "0",                  reduced,                 ".l"),
    T("RegexFullMatch",           "bool",               same,                    ""),
    T("Relu",                     "0",                  same,                    ""),
    T("Reshape",                  "0",                  reshape,                 ".l"),
    T("Resize",                   "0",                  resize,                  "...l"),
    T("ReverseSequence",          "0",                  same,                    ".l"),
    T("RoiAlign",                 "0",                  regions,                 "..l"),
    T("RotaryEmbedding",          "0",                  same,                    "...l"),
    T("Round",                    "0",                  same,                    ""),
    T("STFT",                     "0",                  stft,                    ".i.i"),
    { "Scan",                     NULL, NULL, "" },
    T("Scatter",                  "0",                  same,                    ".i"),
    T("ScatterElements",          "0",                  same,                    ".i"),
    T("ScatterND",                "0",                  same,                    ".l"),
    T("Selu",                     "0",                  same,                    ""),
    { "SequenceAt",               NULL, NULL, ".i" },
    { "SequenceConstruct",        NULL, NULL, "" },
    { "SequenceEmpty",            NULL, NULL, "" },
    { "SequenceErase",            NULL, NULL, ".i" },
    { "SequenceInsert",           NULL, NULL, "..i" },
    T("SequenceLength",           "i64",                scalar,                  ""),
    { "SequenceMap",              NULL, NULL, "" },
    T("Shape",                    "i64",                shape,                   ""),
    T("Shrink",                   "0",                  same,                    ""),
    T("Sigmoid",                  "0",                  same,                    ""),
    T("Sign",                     "0",                  same,                    ""),
    T("Sin",                      "0",                  same,                    ""),
    T("Sinh",                     "0",                  same,                    ""),
    T("Size",                     "i64",                scalar,                  ""),
    T("Slice",                    "0",                  slice,                   ".iiii"),
    T("Softmax",                  "0",                  same,                    ""),
    T("SoftmaxCrossEntropyLoss",  "0",                  cross_entropy,           ".i"),
    T("Softplus",                 "0",                  same,                    ""),
    T("Softsign",                 "0",                  same,                    ""),
    T("SpaceToDepth",             "0",                  space_to_depth,          ""),
    T("Split",                    "0",                  split,                   ".l"),
    { "SplitToSequence",          NULL, NULL, ".i" },
    T("Sqrt",                     "0",                  same,                    ""),
    T("Squeeze",                  "0",                  squeeze,                 ".l"),
    { "StringConcat",             NULL, NULL, "" },
    { "StringNormalizer",         NULL, NULL, "" },
    { "StringSplit",              NULL, NULL, "" },
    T("Sub",                      "0",                  broadcast,               ""),
    T("Sum",                      "0",                  broadcast,               ""),
    T("Swish",                    "0",                  same,                    ""),
    T("Tan",                      "0",                  same,                    ""),
    T("Tanh",                     "0",                  same,                    ""),
    T("TensorScatter",            "0",                  same,                    "..l"),
    T("TfIdfVectorizer",          "f32",                ngrams,                  ""),
    T("ThresholdedRelu",          "0",                  same,                    ""),
    T("Tile",                     "0",                  tile,                    ".l"),
    T("TopK",                     "0 i64",              top_k,                   ".l"),
    T("Transpose",                "0",                  transpose,               ""),
    T("Trilu",                    "0",                  same,                    ".l"),
    T("Unique",                   "0 i64",              unique,                  ""),
    T("Unsqueeze",                "0",                  unsqueeze,               ".l"),
    T("Upsample",                 "0",                  resize,                  ""),
    T("Where",                    "1",                  broadcast,               "b"),
    T("Xor",                      "bool",               broadcast,               "bb"),
};

/* The row of an operator of the standard or of ONNX Runtime; NULL for those of other domains. */
static const type_row *row_of(const xir_node *at) {
    const xir_str prefix = XIR_STR("onnx::com.microsoft.");
    const xir_str key = xir_class_key(xir_op_class(at->op)), *type = &at->cls->type;
    if (!at->cls->foreign) return bsearch(type, rows, COUNT(rows), sizeof *rows, onnx_compare_type_rows);
    const bool microsoft = key.size == prefix.size + type->size && memcmp(key.data, prefix.data, prefix.size) == 0;
    return microsoft ? onnx_type_row_of_microsoft(type) : NULL;
}

/* ---- elements --------------------------------------------------------------------------------------------------- */

static const xir_type *element_named(xir_context *ctx, const char *word, size_t size) {
    if (size == 4 && memcmp(word, "bool", 4) == 0) return xir_type_bool(ctx);
    const int bits = atoi(word + 1);
    return *word == 'i' ? xir_type_sint(ctx, bits) : *word == 'u' ? xir_type_uint(ctx, bits)
         : xir_type_float(ctx, XIR_FLOAT_FP32);
}

/* One alternative of a row; NULL if it does not exist. */
static const xir_type *element_by(xir_node *at, const char *word, size_t size) {
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)size - 1, word + 1);
    if (*word == '@') {
        return xir_node_attr(at, name) ? onnx_element(at->c->ctx, xir_node_int(at, name, 0)) : NULL;
    }
    const xir_any *tensor = *word == '#' ? xir_node_attr(at, name) : NULL;
    const bool input = *word >= '0' && *word <= '9';
    const xir_value *v = input ? node_input_at(at, (size_t)(*word - '0'))
                       : tensor && tensor->kind == XIR_ANY_PARAMS ? tensor->as.params : NULL;
    if (input || *word == '#') return v && xir_type_as_tensor(xir_value_type(v)) ? v_element(v) : NULL;
    return element_named(at->c->ctx, word, size);
}

static const xir_type *element_of(xir_node *at, const char *elements, size_t output) {
    const char *word = elements;
    for (size_t i = 0; i < output && strchr(word, ' '); i++) word = strchr(word, ' ') + 1;
    for (;;) {
        const size_t size = strcspn(word, "| ");
        const xir_type *element = element_by(at, word, size);
        if (element || word[size] != '|') return element;
        word += size + 1;
    }
}

/* ---- types ------------------------------------------------------------------------------------------------------ */

void onnx_types(xir_node *at) {
    const type_row *row = row_of(at);
    xir_node probe = *at;   /* whose questions are answered, although the node itself has failed */
    probe.fate = NODE_GOES;
    for (size_t i = 0; row && row->shape && i < at->n_out; i++) {
        probe.asked = i;
        xir_ints dims = { NULL, 0 };
        const xir_type *element = element_of(&probe, row->elements, i);
        if (!element || !row->shape(&probe, &dims)) continue;
        const xir_type *type = node_type(at, element, NULL, &dims);
        if (type) xir_node_type_output(at, i, type);
        else (void)node_no_memory(&probe);
    }
    if (probe.fate == NODE_NO_MEMORY) at->fate = NODE_NO_MEMORY;
}

/* The elements that a file declares without a shape: "tensor(float)". */
const xir_type *onnx_declared_element(const xir_value *v) {
    const xir_map *tags = xir_value_tags(v);
    const xir_any *tag = tags ? xir_map_find(tags, XIR_STR("onnx.type")) : NULL;
    if (!tag || tag->kind != XIR_ANY_TEXT) return NULL;
    const xir_str text = tag->as.text;
    const size_t head = strlen("tensor(");
    if (text.size <= head || memcmp(text.data, "tensor(", head) != 0 || text.data[text.size - 1] != ')') return NULL;
    const xir_str name = { text.data + head, text.size - head - 1 };
    for (size_t i = 0; i < element_codes_onnx.n; i++) {
        const element_code *e = &element_codes_onnx.rows[i];
        if (e->name && xir_str_equal(xir_str_of(e->name), name)) return element_code_type(value_net(v)->ctx, e);
    }
    return NULL;
}

/* ---- checks ----------------------------------------------------------------------------------------------------- */

static bool has_element(const xir_type *element, char letter) {
    const xir_integer_type *integer = xir_integer_type_of(xir_type_object(element));
    const bool is_signed = integer && integer->sign;
    const uint64_t bits = xir_type_storage_bits(element);
    switch (letter) {
    case 'b': return xir_type_kind_of(element) == XIR_TYPE_BOOL;
    case 'l': return is_signed && bits == 64;
    case 'i': return is_signed && (bits == 32 || bits == 64);
    case 'n': return is_signed && bits == 32;
    default:  return true;
    }
}

/* Conditions, indices, axes and counts have elements of their own, whatever the other inputs have. */
bool onnx_check(xir_node *at) {
    const type_row *row = row_of(at);
    for (size_t i = 0; row && row->inputs[i] && i < at->n_in; i++) {
        const char letter = row->inputs[i];
        const xir_value *v = node_input_at(at, i);
        char where[32], found[40];
        if (!v || !xir_type_as_tensor(xir_value_type(v)) || has_element(v_element(v), letter)) continue;
        snprintf(where, sizeof where, "input/%zu", i);
        return xir_node_invalid(at, XIR_E_TYPE, where, "input %zu: expected %s, found %s", i,
                                letter == 'b' ? "bool" : letter == 'l' ? "int64" : letter == 'n' ? "int32"
                                : "int32 or int64", element_words(v, found));
    }
    return true;
}
