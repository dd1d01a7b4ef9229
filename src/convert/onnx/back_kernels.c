/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The elements with which operators compute. What an operator does not take in a version, and what ONNX Runtime has no
 * CPU kernel for, is computed with wider elements between Casts, if some have all numbers. */
#include "onnx/back.h"

/* Operators whose results are some of their operands, or integers of few bits: reals of 64 bits have them all, and
 * those of 32 bits have integers of 16. */
static bool is_exact_in_reals(const char *name, uint64_t bits, bool single) {
    if (strcmp(name, "Conv") == 0 || strcmp(name, "ConvTranspose") == 0) return bits <= 16 && !single;
    return onnx_has_name(" Max Min Clip Relu ReduceMax ReduceMin MaxPool Neg ", name) && bits <= (single ? 16 : 32);
}

/* Operators that give the same bits for integers with and without a sign. */
static bool is_same_bits(const char *name) {
    return onnx_has_name(" Add Sub Mul Equal Where Einsum MatMul CumSum ReduceSum ReduceProd NonZero ", name);
}

/* Returns true if integers of `room` bits with a sign stand for all elements. */
static bool holds_integers(const char *name, const xir_type *element, uint64_t room) {
    const uint64_t bits = xir_type_storage_bits(element);
    if (xir_type_kind_of(element) == XIR_TYPE_BOOL) return onnx_has_name(" Where ReduceMax ReduceMin ", name);
    return xir_type_kind_of(element) == XIR_TYPE_INTEGER && (bits < room || (bits == room && is_same_bits(name)));
}

static bool holds_reals(const char *name, const xir_type *element, bool single) {
    const uint64_t bits = xir_type_storage_bits(element);
    if (xir_type_kind_of(element) == XIR_TYPE_FLOAT) return bits <= (single ? 16 : 32);
    return xir_type_kind_of(element) == XIR_TYPE_INTEGER && is_exact_in_reals(name, bits, single);
}

/* Returns true if the greatest or least of no integers or bools may be wanted, which wider ones have another value
 * for. */
static bool may_reduce_nothing(xir_node *at, const char *name, const xir_type *element) {
    const xir_value *x = xir_op_input(at->op, 0);
    bool any = false;
    for (size_t i = 0; x && i < v_rank(x); i++) any |= v_dim(x, i) < 1;
    return any && onnx_has_name(" ReduceMax ReduceMin ", name) && xir_type_kind_of(element) != XIR_TYPE_FLOAT;
}

const xir_type *onnx_element_for(xir_node *at, const char *key, const xir_type *element) {
    xir_context *ctx = at->c->ctx;
    const char *name = key + strlen("onnx::");
    const bool takes = onnx_takes(at, key, element);
    if (takes && (onnx_runs(at, key, element) || may_reduce_nothing(at, name, element))) return element;
    if (may_reduce_nothing(at, name, element)) return NULL;
    const xir_type *const types[] = { xir_type_sint(ctx, 32), xir_type_sint(ctx, 64),
                                      xir_type_float(ctx, XIR_FLOAT_FP32), xir_type_float(ctx, XIR_FLOAT_FP64) };
    for (size_t i = 0; i < COUNT(types); i++) if (!types[i]) return node_no_memory(at), NULL;
    for (size_t i = 0; i < COUNT(types) && strcmp(name, "Cast") != 0; i++) {
        if (!onnx_takes(at, key, types[i]) || !onnx_runs(at, key, types[i])) continue;
        if (i < 2 ? holds_integers(name, element, i ? 64 : 32) : holds_reals(name, element, i == 2)) return types[i];
    }
    return takes ? element : NULL;
}
