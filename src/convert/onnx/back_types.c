/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The elements that ONNX's operators accept, by the version of the operator set, as far as the way back makes them. */
#include "onnx/back.h"
#include "onnx/onnx.h"
#include "onnx/types.h"
#include "element_codes.h"

int64_t onnx_code_of(xir_node *at, const xir_type *element) {
    for (size_t i = 1; i < element_codes_onnx.n; i++) {
        const element_code *code = element_code_at(&element_codes_onnx, i);
        if (!code || code->kind == ELEMENT_NONE || code->numbers > 1) continue;
        const xir_type *type = element_code_type(at->c->ctx, code);
        if (!type) return node_no_memory(at), -1;
        if (xir_type_equal(type, element)) return (int64_t)i;
    }
    return -1;
}

/* The elements that operators take from a version on; the last row that fits counts. A letter for each:
 *
 *   e  float          f  float16, float, double     i  int32, int64      s  int8, int16     b  bool
 *   d  float, double  h  bfloat16                   u  uint32, uint64    v  uint8, uint16   c  int8, uint8
 *   k  int16
 *
 * Operators without a row take all but bfloat16, and from version 13 on that too. */
typedef struct taken { int64_t since; const char *elements, *names; } taken;
static const taken rows[] = {
    {  1, "f",       " Acos Acosh Asin Asinh Atan Atanh Cos Cosh Sin Sinh Tan Softplus Softsign Elu HardSigmoid "
                     "HardSwish Mish Round Ceil Exp Floor Log Sqrt Sigmoid Tanh Reciprocal Softmax LogSoftmax "
                     "LeakyRelu Relu Pow Max Min Clip Conv ConvTranspose AveragePool GlobalAveragePool MaxPool "
                     "InstanceNormalization BatchNormalization LSTM GRU RNN " },
    {  1, "fiu",     " Add Sub Mul Div MatMul Gemm ReduceSum ReduceMean ReduceProd ReduceMax ReduceMin PRelu " },
    {  1, "fis",     " Neg " },
    {  1, "fiusv",   " Abs Sign Erf Shrink Greater Less GreaterOrEqual LessOrEqual Mod ArgMax ArgMin TopK Einsum Pad " },
    {  1, "fiusvb",  " Equal Where " },
    {  1, "b",       " And Or Xor Not " },
    {  1, "diu",     " CumSum " },
    {  1, "dki",     " Range " },
    {  1, "e",       " NonMaxSuppression " },
    {  1, "fh",      " LayerNormalization RMSNormalization GroupNormalization Gelu Attention " },
    { 12, "fiusv",   " Max Min Clip " },
    { 12, "fi",      " Pow " },
    { 12, "fc",      " MaxPool " },
    { 12, "fiuc",    " ReduceMax ReduceMin " },
    { 13, "fh",      " Ceil Exp Floor Log Sqrt Sigmoid Tanh Reciprocal Softmax LogSoftmax Relu " },
    { 13, "fhis",    " Neg " },
    { 13, "fhi",     " Pow " },
    { 13, "fhiu",    " Add Sub Mul Div MatMul Gemm ReduceSum ReduceMean ReduceProd " },
    { 13, "fhiuc",   " ReduceMax ReduceMin " },
    { 13, "fhiusv",  " Abs Sign Erf Max Min Clip Greater Less Mod ArgMax ArgMin " },
    { 13, "fhiusvb", " Equal Pad " },
    { 14, "fhiusv",  " Add Sub Mul Div " },
    { 14, "fhis",    " Relu " },
    { 14, "fh",      " BatchNormalization " },
    { 14, "fhiu",    " CumSum " },
    { 16, "fh",      " LeakyRelu " },
    { 16, "fhiu",    " PRelu " },
    { 16, "fhiusv",  " GreaterOrEqual LessOrEqual " },
    { 16, "fhiusvb", " Where " },
};

/* Elements that operators take, but for which ONNX Runtime 1.20 has no kernel in any version of the operator set from
 * 11 on, as far as other elements have all their numbers. Later releases have more. float16 does not count, since ONNX
 * Runtime casts it itself. */
static const struct { const char *elements, *names; } lacking[] = {
    { " i8 u8 i16 u16 u32 u64 ", " Add Sub Mul Div Equal Greater Less GreaterOrEqual LessOrEqual Einsum TopK " },
    { " i8 i16 u16 u32 u64 b ",  " Where " },
    { " i8 u8 i16 u16 ",         " Max Min " },
    { " i16 u16 ",               " Clip Pad Resize " },
    { " i16 ",                   " Neg " },
    { " i16 u16 u32 u64 ",       " ArgMax ArgMin " },
    { " i8 i16 u16 u32 u64 ",    " NonZero " },
    { " u32 u64 ",               " CumSum ReduceSum ReduceMean ReduceProd ReduceMax ReduceMin " },
};

/* The operators for which it has kernels of bfloat16; those to which version 21 gave integers of 4 bits. */
static const char brains[] = " Cast Concat Gather GatherElements GatherND Identity Reshape ScatterND Shape Sign Slice "
                             "Split Squeeze Transpose Unsqueeze ";
static const char nibbles[] = " Cast DequantizeLinear Identity QuantizeLinear Reshape Shape Squeeze Transpose "
                              "Unsqueeze ";

/* The element types: their letters, and the word of integers and bool. */
typedef enum kind { OTHER, BOOL, F16, F32, F64, BF16, I4, I8, I16, I32, I64, U8, U16, U32, U64, KINDS } kind;
static const struct { const char *letters, *word; } kinds[KINDS] = {
    [OTHER] = { "", NULL }, [BOOL] = { "b", " b " },
    [F16] = { "f", NULL }, [F32] = { "fde", NULL }, [F64] = { "fd", NULL }, [BF16] = { "h", NULL },
    [I4] = { "", NULL },
    [I8] = { "sc", " i8 " }, [I16] = { "sk", " i16 " }, [I32] = { "i", " i32 " }, [I64] = { "i", " i64 " },
    [U8] = { "vc", " u8 " }, [U16] = { "v", " u16 " },  [U32] = { "u", " u32 " }, [U64] = { "u", " u64 " },
};

static kind kind_of(const xir_type *element) {
    const xir_float_type *real = xir_float_type_of(xir_type_object(element));
    const xir_integer_type *whole = xir_integer_type_of(xir_type_object(element));
    if (xir_type_kind_of(element) == XIR_TYPE_BOOL) return BOOL;
    if (real) return real->format == XIR_FLOAT_FP32 ? F32 : real->format == XIR_FLOAT_FP64 ? F64
                   : real->format == XIR_FLOAT_FP16 ? F16 : real->format == XIR_FLOAT_BF16 ? BF16 : OTHER;
    if (!whole || xir_type_kind_of(element) != XIR_TYPE_INTEGER) return OTHER;
    switch (xir_type_storage_bits(element)) {
    case 4:  return I4;
    case 8:  return whole->sign ? I8 : U8;
    case 16: return whole->sign ? I16 : U16;
    case 32: return whole->sign ? I32 : U32;
    case 64: return whole->sign ? I64 : U64;
    default: return OTHER;
    }
}

/* ---- an operator ------------------------------------------------------------------------------------------------ */

static bool runs(const char *name, kind k) {
    if (k == BF16) return onnx_has_name(brains, name);
    for (size_t i = 0; kinds[k].word && i < COUNT(lacking); i++)
        if (strstr(lacking[i].elements, kinds[k].word) && onnx_has_name(lacking[i].names, name)) return false;
    return true;
}

/* The tables are read once for each operator. Out of memory, it has no elements. */
static const onnx_facts *elements_of(xir_node *at, const convert_class *cls) {
    static const onnx_facts none;
    onnx_facts *e = onnx_facts_of(at, cls);
    if (!e || e->read) return e ? e : &none;
    const char *all = cls->version >= 13 ? "fhiusvb" : "fiusvb", *name = e->name;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].since <= cls->version && onnx_has_name(rows[i].names, name)) all = rows[i].elements;
    for (kind k = BOOL; k < KINDS; k++) {
        if (*kinds[k].letters && strpbrk(kinds[k].letters, all)) e->takes |= 1u << k;
        if (runs(name, k)) e->runs |= 1u << k;
    }
    if (cls->version >= 21 && onnx_has_name(nibbles, name)) e->takes |= 1u << I4;
    e->read = true;
    return e;
}

bool onnx_takes(xir_node *at, const char *key, const xir_type *element) {
    return elements_of(at, conversion_class_named(at->c, key))->takes >> kind_of(element) & 1;
}

bool onnx_runs(xir_node *at, const char *key, const xir_type *element) {
    return elements_of(at, conversion_class_named(at->c, key))->runs >> kind_of(element) & 1;
}

/* ---- the check -------------------------------------------------------------------------------------------------- */

static bool refuse(xir_node *at, const xir_value *v) {
    char words[40];
    return xir_node_unsupported(at, "%.*s of version %lld does not take %s", CLIP_TO(at->cls->type, 60),
                                (long long)at->cls->version, element_words(v, words));
}

static bool is_element(xir_node *at, const xir_value *v) {
    const kind k = v && xir_type_as_tensor(xir_value_type(v)) ? kind_of(v_element(v)) : BOOL;
    if (k == BF16 && at->cls->version < 13) return xir_node_unsupported(at, "bfloat16, which needs version 13");
    if (*kinds[k].letters) return true;
    if (onnx_code_of(at, v_element(v)) < 0) return xir_node_unsupported(at, "elements that ONNX does not have");
    return elements_of(at, at->cls)->takes >> k & 1 || refuse(at, v);
}

bool onnx_check_both(xir_node *at) {
    if (!onnx_check(at)) return false;
    if (!at->c->back.to) return true;
    if (at->cls->version < at->cls->from || at->cls->version >= at->cls->until)
        return xir_node_unsupported(at, "version %lld does not have %.*s", (long long)at->cls->version,
                                    CLIP_TO(at->cls->type, 60));
    for (size_t i = 0, n = op_values(at->op); i < n; i++) if (!is_element(at, op_value(at->op, i))) return false;
    if (at->cls->foreign) return true;
    const size_t of = xir_str_equal(at->cls->type, XIR_STR("Where"));
    const xir_value *v = of < xir_op_input_count(at->op) ? xir_op_input(at->op, (int64_t)of) : NULL;
    if (!v || !xir_type_as_tensor(xir_value_type(v))) return true;
    return elements_of(at, at->cls)->takes >> kind_of(v_element(v)) & 1 || refuse(at, v);
}
