/* Which elements ONNX's operators take, by the version of the operator set, as far as the way back makes them. */
#include <stdio.h>
#include "onnx/back.h"
#include "onnx/onnx.h"
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
                     "LeakyRelu Relu Pow Max Min Clip Conv ConvTranspose AveragePool MaxPool InstanceNormalization "
                     "BatchNormalization LSTM GRU RNN " },
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

/* The letters that mean an element type. */
static const char *letters_of(const xir_type *element) {
    const xir_float_type *real = xir_float_type_of(xir_type_object(element));
    const xir_integer_type *whole = xir_integer_type_of(xir_type_object(element));
    const uint64_t bits = xir_type_storage_bits(element);
    if (xir_type_kind_of(element) == XIR_TYPE_BOOL) return "b";
    if (real) return real->format == XIR_FLOAT_FP32 ? "fde" : real->format == XIR_FLOAT_FP64 ? "fd"
                   : real->format == XIR_FLOAT_FP16 ? "f" : real->format == XIR_FLOAT_BF16 ? "h" : "";
    if (!whole || xir_type_kind_of(element) != XIR_TYPE_INTEGER) return "";
    if (bits == 64 || bits == 32) return whole->sign ? "i" : "u";
    if (bits == 16) return whole->sign ? "sk" : "v";
    return bits == 8 ? whole->sign ? "sc" : "vc" : "";
}

bool onnx_has_name(const char *names, const char *name) {
    const size_t n = strlen(name);
    for (const char *p = names; (p = strstr(p, name)); p += n) if (p[-1] == ' ' && p[n] == ' ') return true;
    return false;
}

/* Integers of 4 bits, which version 21 gave to some operators. */
static bool takes_nibbles(const char *name, int64_t version, const xir_type *element) {
    return version >= 21 && xir_type_kind_of(element) == XIR_TYPE_INTEGER && xir_type_storage_bits(element) == 4 &&
           onnx_has_name(" Cast DequantizeLinear Identity QuantizeLinear Reshape Shape Squeeze Transpose Unsqueeze ", name);
}

bool onnx_takes(const char *key, int64_t version, const xir_type *element) {
    const char *own = letters_of(element), *name = strncmp(key, "onnx::", 6) == 0 ? key + 6 : key;
    if (takes_nibbles(name, version, element)) return true;
    const char *all = version >= 13 ? "fhiusvb" : "fiusvb";
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].since <= version && onnx_has_name(rows[i].names, name)) all = rows[i].elements;
    return *own && strpbrk(own, all);
}

/* ---- the check -------------------------------------------------------------------------------------------------- */

static bool is_element(xir_node *at, const xir_value *v) {
    if (!v || !xir_type_as_tensor(xir_value_type(v))) return true;
    const char *own = letters_of(v_element(v));
    if (*own == 'h' && at->cls->version < 13) return xir_node_unsupported(at, "bfloat16, which needs version 13");
    if (*own) return true;
    if (onnx_code_of(at, v_element(v)) < 0) return xir_node_unsupported(at, "elements that ONNX does not have");
    char name[64], words[40];
    const xir_str type = at->cls->type;
    snprintf(name, sizeof name, "%.*s", CLIP_TO(type, 60));
    if (takes_nibbles(name, at->cls->version, v_element(v))) return true;
    return xir_node_unsupported(at, "%s of version %lld does not take %s", name, (long long)at->cls->version,
                                element_words(v, words));
}

bool onnx_check_both(xir_node *at) {
    char name[64];
    if (!onnx_check(at)) return false;
    if (!at->c->back.to) return true;
    const xir_str type = at->cls->type;
    if (at->cls->version < at->cls->from || at->cls->version >= at->cls->until)
        return xir_node_unsupported(at, "version %lld does not have %.*s", (long long)at->cls->version,
                                    CLIP_TO(type, 60));
    for (size_t i = 0; i < xir_op_input_count(at->op); i++)
        if (!is_element(at, xir_op_input(at->op, (int64_t)i))) return false;
    for (size_t i = 0; i < xir_op_output_count(at->op); i++)
        if (!is_element(at, xir_op_output(at->op, (int64_t)i))) return false;
    if (at->cls->foreign || type.size >= sizeof name) return true;
    memcpy(name, type.data, type.size);
    name[type.size] = '\0';
    const size_t of = strcmp(name, "Where") == 0;
    const xir_value *v = of < xir_op_input_count(at->op) ? xir_op_input(at->op, (int64_t)of) : NULL;
    if (!v || !xir_type_as_tensor(xir_value_type(v)) || onnx_takes(name, at->cls->version, v_element(v))) return true;
    char words[40];
    return xir_node_unsupported(at, "%s of version %lld does not take %s", name, (long long)at->cls->version,
                                element_words(v, words));
}
