/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Versions of the operator set. The least one that has operators for an op of XIR: only what a form of the op needs
 * beyond the oldest version counts; where an older version has another form for the same, hooks choose it. And whether
 * an operator that stays in the network is the same in another version. */
#include "onnx/back.h"

/* Returns true for a dim of 0 that is not the dim of x in its place, which a 0 stands for before version 14. */
static bool has_new_zero(const xir_op *op) {
    const xir_reshape_attrs *a = op->attrs;
    const xir_value *x = xir_op_input(op, 0);
    for (size_t i = 0; i < a->shape.size; i++)
        if (a->shape.data[i] == 0 && !(i < v_rank(x) && v_dim(x, i) == 0)) return true;
    return false;
}

static bool has_no_elements(const xir_value *v) {
    for (size_t i = 0; i < v_rank(v); i++) if (v_dim(v, i) == 0) return true;
    return false;
}

static int64_t version_of_form(const xir_op *op) {
    const xir_value *x = xir_op_input_count(op) ? xir_op_input(op, 0) : NULL;
    if (!x || !xir_type_as_tensor(xir_value_type(x))) return 0;
    if (xir_op_is(op, xir_grid_sample_class())) return v_rank(x) > 4 ? 20 : 16;
    if (xir_op_is(op, xir_reshape_class()))   /* allowzero */
        return (xir_op_input(op, 1) ? has_no_elements(x) : has_new_zero(op)) ? 14 : 0;
    if (xir_op_is(op, xir_scatter_nd_class())) {
        const xir_scatter_reduction how = ((const xir_scatter_nd_attrs *)op->attrs)->reduction;
        return how == XIR_SCATTER_NONE ? 0 : how == XIR_SCATTER_ADD || how == XIR_SCATTER_MUL ? 16 : 18;
    }
    return 0;
}

/* Integers of 4 bits; and numbers of 16 bits that are stored half to even, for which there is no arithmetic. */
static int64_t version_of_elements(const xir_op *op, const xir_value *v) {
    if (!v || !xir_type_as_tensor(xir_value_type(v))) return 0;
    const xir_type_kind kind = xir_type_kind_of(v_element(v));
    const uint64_t bits = xir_type_storage_bits(v_element(v));
    if ((kind == XIR_TYPE_QUANTIZED || kind == XIR_TYPE_INTEGER) && bits == 4) return 21;
    const bool even = xir_op_is(op, xir_quantize_class()) &&
                      ((const xir_quantize_attrs *)op->attrs)->rounding == XIR_TIES_HALF_EVEN;
    return even && kind == XIR_TYPE_QUANTIZED && bits == 16 && v == xir_op_output(op, 0) ? 21 : 0;
}

int64_t onnx_needs(const xir_op *op) {
    int64_t most = version_of_form(op);
    for (size_t i = 0, n = op_values(op); i < n; i++) {
        const int64_t own = version_of_elements(op, op_value(op, i));
        if (own > most) most = own;
    }
    return most;
}

bool onnx_is_new_enough(xir_node *at) {
    const int64_t needs = onnx_needs(at->op);
    const xir_str name = xir_node_type(at);
    return needs <= onnx_target(at) || xir_node_unsupported(at, "this form of %.*s, which needs version %lld",
                                                            (int)name.size, name.data, (long long)needs);
}

/* ---- operators that stay ---------------------------------------------------------------------------------------- */

/* Versions since 11 that gave an operator of the same inputs and attributes another meaning, or moved an attribute to
 * the inputs. New attributes are not listed: their rows name the version, and their defaults keep the old meaning. */
static const struct { const char *names; int64_t since; } changes[] = {
    { " Dropout ",                                                                                                 12 },
    { " Softmax LogSoftmax Hardmax Squeeze Unsqueeze Split ReduceSum ",                                            13 },
    { " BatchNormalization ",                                                                                      14 },
    { " RoiAlign ",                                                                                                16 },
    { " Split ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ",          18 },
    { " ReduceSumSquare Pad Resize ",                                                                              18 },
    { " DFT GridSample ",                                                                                          20 },
    { " GroupNormalization ",                                                                                      21 },
};

/* Returns true if both versions have the operator and its attributes. */
static bool both_have(const xir_op *op, int64_t old, int64_t new) {
    const xir_convert_row *row = xir_convert_find(op->net->ctx, xir_class_key(xir_op_class(op)));
    const xir_map *extra = xir_op_extra(op);
    int64_t from, until;
    row_attribute known;
    if (!row) return false;
    row_versions(row->attributes, &from, &until);
    if (old < from || new >= until) return false;
    for (const char *text = row->attributes; row_next_attribute(&text, &known);)
        if (extra && xir_map_find(extra, known.name) && (old < known.from || new >= known.until)) return false;
    return true;
}

bool onnx_means_the_same(const xir_op *op, int64_t a, int64_t b) {
    const int64_t old = a < b ? a : b, new = a < b ? b : a;
    const xir_str key = xir_class_key(xir_op_class(op));
    char name[64];
    if (memchr(key.data + 6, '.', key.size - 6)) return true;   /* of another domain */
    if (key.size - 6 >= sizeof name) return false;
    memcpy(name, key.data + 6, key.size - 6);
    name[key.size - 6] = '\0';
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (old < changes[i].since && changes[i].since <= new && onnx_has_name(changes[i].names, name)) return false;
    return both_have(op, old, new);
}
