/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The type rules of ONNX's operators, versions 1 to 24 of the operator set: a row for every operator of the standard,
 * or for several with the same rules. A node that is not converted gets the types that they give, and the file's
 * declared ones where they give none; a check compares the elements of every node's inputs with them. */
#include <stdio.h>
#include <stdlib.h>
#include "onnx/onnx.h"
#include "onnx/types.h"
#include "element_codes.h"

#define T(elements, rule, inputs, names) { elements, onnx_shape_##rule, inputs, names }
#define U(inputs, names)                 { NULL, NULL, inputs, names }
static const type_row rows[] = {
    T("0",                    same,                   "",
      " Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Celu Clip Cos Cosh Elu Erf Exp Floor Gelu"
      " GroupNormalization HardSigmoid HardSwish Hardmax Identity InstanceNormalization LRN LeakyRelu Log"
      " LogSoftmax LpNormalization MeanVarianceNormalization Mish Neg RMSNormalization Reciprocal Relu Round"
      " Selu Shrink Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu "),
    T("0",                    broadcast,              "",
      " Add BitShift BitwiseAnd BitwiseOr BitwiseXor Div Max Mean Min Mod Mul PRelu Pow Sub Sum "),
    T("0",                    affine_grid,            ".l",        " AffineGrid "),
    T("bool",                 broadcast,              "bb",        " And Or Xor "),
    T("i64",                  positions,              "",          " ArgMax ArgMin "),
    T("0 1 2 0",              attention,              "......l",   " Attention "),
    T("0",                    pool,                   "",          " AveragePool LpPool "),
    T("0 3",                  batch_normalization,    "",          " BatchNormalization "),
    T("@dtype|0",             same,                   "",
      " Bernoulli EyeLike RandomNormalLike RandomUniformLike "),
    T("@output_datatype|f32", counted,                "i",         " BlackmanWindow HammingWindow HannWindow "),
    T("@to",                  same,                   "",          " Cast "),
    T("1",                    same,                   "",          " CastLike "),
    T("0",                    center_crop_pad,        ".i",        " CenterCropPad "),
    T("0",                    col2im,                 ".ll",       " Col2Im "),
    T("0",                    compress,               ".b",        " Compress "),
    T("0",                    concat,                 "",          " Concat "),
    U("",
      " ConcatFromSequence Constant Optional OptionalGetElement Scan SequenceConstruct SequenceEmpty SequenceMap"
      " StringConcat StringNormalizer StringSplit "),
    T("#value|f32",           listed,                 "l",         " ConstantOfShape "),
    T("0",                    convolution,            "",          " Conv DeformConv "),
    T("i32",                  convolution,            "",          " ConvInteger "),
    T("0",                    transposed_convolution, "",          " ConvTranspose "),
    T("0",                    same,                   ".i",        " CumSum Scatter ScatterElements "),
    T("0",                    dft,                    ".il",       " DFT "),
    T("0",                    depth_to_space,         "",          " DepthToSpace "),
    T("@output_dtype|1",      same,                   "",          " DequantizeLinear "),
    T("0",                    det,                    "",          " Det "),
    T("0 bool",               same,                   "..b",       " Dropout "),
    T("u8 f32 u8",            dynamic_quantize,       "",          " DynamicQuantizeLinear "),
    T("0",                    einsum,                 "",          " Einsum "),
    T("bool",                 broadcast,              "",          " Equal Greater GreaterOrEqual Less LessOrEqual "),
    T("0",                    expand,                 ".l",        " Expand "),
    T("0",                    flatten,                "",          " Flatten "),
    T("0",                    recurrent,              "....n",     " GRU LSTM RNN "),
    T("0",                    gather,                 ".i",        " Gather "),
    T("0",                    like_second,            ".i",        " GatherElements "),
    T("0",                    gather_nd,              ".l",        " GatherND "),
    T("0",                    gemm,                   "",          " Gemm "),
    T("0",                    global_pool,            "",          " GlobalAveragePool GlobalLpPool GlobalMaxPool "),
    T("0",                    grid_sample,            "",          " GridSample "),
    U("b", " If "),
    T("u8",                   image,                  "",          " ImageDecoder "),
    T("bool",                 same,                   "",          " IsInf IsNaN RegexFullMatch "),
    T("0 f32",                layer_normalization,    "",          " LayerNormalization "),
    U("lb", " Loop "),
    T("0",                    matmul,                 "",          " MatMul "),
    T("i32",                  matmul,                 "",          " MatMulInteger "),
    T("0 i64",                pool,                   "",          " MaxPool "),
    T("0",                    regions,                "",          " MaxRoiPool "),
    T("0",                    unpool,                 ".ll",       " MaxUnpool "),
    T("@output_datatype|f32", mel_weights,            "iii",       " MelWeightMatrix "),
    T("@dtype|i32",           multinomial,            "",          " Multinomial "),
    T("0",                    cross_entropy,          ".i",
      " NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss "),
    T("i64",                  boxes,                  "..l",       " NonMaxSuppression "),
    T("i64",                  non_zero,               "",          " NonZero "),
    T("0",                    same,                   "b",         " Not "),
    T("2",                    one_hot,                "",          " OneHot "),
    T("bool",                 scalar,                 "",          " OptionalHasElement "),
    T("0",                    pad,                    ".l.i",      " Pad "),
    T("7",                    convolution,            "........n", " QLinearConv "),
    T("7",                    matmul,                 "",          " QLinearMatMul "),
    T("2|@output_dtype|u8",   same,                   "",          " QuantizeLinear "),
    T("@dtype|f32",           attribute_shape,        "",          " RandomNormal RandomUniform "),
    T("0",                    range,                  "",          " Range "),
    T("0",                    reduced,                ".l",
      " ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum"
      " ReduceSumSquare "),
    T("0",                    reshape,                ".l",        " Reshape "),
    T("0",                    resize,                 "...l",      " Resize "),
    T("0",                    same,                   ".l",        " ReverseSequence ScatterND Trilu "),
    T("0",                    regions,                "..l",       " RoiAlign "),
    T("0",                    same,                   "...l",      " RotaryEmbedding "),
    T("0",                    stft,                   ".i.i",      " STFT "),
    U(".i", " SequenceAt SequenceErase SplitToSequence "),
    U("..i", " SequenceInsert "),
    T("i64",                  scalar,                 "",          " SequenceLength Size "),
    T("i64",                  shape,                  "",          " Shape "),
    T("0",                    slice,                  ".iiii",     " Slice "),
    T("0",                    space_to_depth,         "",          " SpaceToDepth "),
    T("0",                    split,                  ".l",        " Split "),
    T("0",                    squeeze,                ".l",        " Squeeze "),
    T("0",                    same,                   "..l",       " TensorScatter "),
    T("f32",                  ngrams,                 "",          " TfIdfVectorizer "),
    T("0",                    tile,                   ".l",        " Tile "),
    T("0 i64",                top_k,                  ".l",        " TopK "),
    T("0",                    transpose,              "",          " Transpose "),
    T("0 i64",                unique,                 "",          " Unique "),
    T("0",                    unsqueeze,              ".l",        " Unsqueeze "),
    T("0",                    resize,                 "",          " Upsample "),
    T("1",                    broadcast,              "b",         " Where "),
};

/* Operators of other domains than the standard and ONNX Runtime have none. */
static const type_row *row_of(xir_node *at) {
    const convert_class *cls = at->cls;
    const xir_str prefix = XIR_STR("onnx::com.microsoft."), key = xir_class_key(cls->cls);
    const bool microsoft = key.size == prefix.size + cls->type.size && memcmp(key.data, prefix.data, prefix.size) == 0;
    onnx_facts *f = onnx_facts_of(at, cls);
    if (!f || f->typed) return f ? f->types : NULL;
    f->typed = true;
    return f->types = !cls->foreign ? onnx_type_row_named(rows, COUNT(rows), f->name)
                    : microsoft ? onnx_type_row_of_microsoft(f->name) : NULL;
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
    const xir_any *tag = xir_map_find(xir_value_tags(v), XIR_STR("onnx.type"));
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
