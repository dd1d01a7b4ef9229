/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of reductions, products and normalisations. */
#include <math.h>
#include <stdio.h>
#include "onnx/back.h"
#include "spec/one_axis.h"
#include "spec/reduction.h"

/* ---- reductions ------------------------------------------------------------------------------------------------- */

/* The axes of ReduceSum are an input since version 13, those of the others since 18. */
static bool reduces(xir_node *at, int64_t since) {
    reduction r;
    xir_value *x = xir_node_input(at, 0);
    if (!reduction_of_op(at, x, &r)) return false;
    const bool extreme = node_is_class(at, "Max") || node_is_class(at, "Min");
    if (extreme && r.empty && (v_is_bool(x) || onnx_target(at) < (v_is_real(x) ? 18 : 20)))
        return xir_node_unsupported(at, "an extreme of no elements, which this version does not define");
    onnx_form f = { .in = { x }, .n_in = 1, .sets = { INT("keepdims", r.keep) }, .n_sets = 1 };
    if (!v_rank(x)) return onnx_calls(at, "onnx::Identity", INS(x), NO_SETS);
    onnx_put_list(at, &f, "axes", 1, since, &r.axes);
    return onnx_becomes(at, onnx_inputs(&f), onnx_sets(&f));
}

bool onnx_back_reduce(xir_node *at)  { return reduces(at, node_is_class(at, "Sum") ? 13 : 18); }
bool onnx_back_extreme(xir_node *at) { return reduces(at, 18); }

/* Argmax and Argmin: of one dim, or of all elements in one. */
bool onnx_back_place(xir_node *at) {
    reduction r;
    xir_value *x = xir_node_input(at, 0);
    if (!reduction_of_op(at, x, &r)) return false;
    if (!r.all) return onnx_becomes(at, INS(x), SETS(INT("axis", r.axes.v[0]), INT("keepdims", r.keep)));
    const xir_value *y = xir_op_output(at->op, 0);
    const xir_ints to = xir_node_dims(at, y);
    x = make_shaped(at, x, (int64_t[]){ -1 }, 1);
    x = x ? xir_node_make(at, r.cls, INS(x), SETS(INT("dim", 0))) : NULL;
    return x && xir_node_result(at, 0, to.n ? make_reshaped(at, x, &to) : x);
}

bool onnx_back_cum_sum(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/axis", -1);
    xir_value *of = xir_node_scalar(at, xir_type_sint(at->c->ctx, 64), (double)a.axis);
    return onnx_becomes(at, INS(a.x, of), SETS(INT("exclusive", xir_node_bool(at, "exclusive", false)),
                                             INT("reverse", xir_node_bool(at, "reverse", false))));
}

/* Before version 13 all dims from the axis on are one: the axis must be the last. */
bool onnx_back_softmax(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/axis", -1);
    xir_value *x = a.x;
    const size_t last = x ? v_rank(x) - 1 : 0;
    if (onnx_target(at) >= 13 || a.axis == last) return onnx_becomes(at, INS(x), SETS(AXIS("axis", a)));
    xir_ints order = xir_node_series(at, 0, v_rank(x));
    if (!order.v) return false;
    order.v[a.axis] = (int64_t)last, order.v[last] = (int64_t)a.axis;
    x = xir_node_transposed(at, x, order.v, order.n, NULL);
    x = x ? xir_node_make(at, node_is_class(at, "Softmax") ? "Softmax" : "LogSoftmax", INS(x), SETS(INT("axis", -1)))
          : NULL;
    return x && xir_node_result(at, 0, xir_node_transposed(at, x, order.v, order.n, NULL));
}

/* ---- products --------------------------------------------------------------------------------------------------- */

/* x k + b as Gemm, where these are real matrices and a row: ONNX Runtime has no Gemm of integers. */
static bool is_gemm(const xir_value *x, const xir_value *k, const xir_value *b) {
    return v_is_real(x) && v_rank(x) == 2 && v_rank(k) == 2 && v_rank(b) == 1 &&
           (v_dim(b, 0) == v_dim(k, 1) || v_dim(b, 0) == 1);
}

bool onnx_back_matmul(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *k = xir_node_input(at, 1), *b = xir_node_optional_input(at, 2);
    if (xir_node_failed(at) || !x || !k) return false;
    if (!b) return onnx_becomes(at, INS(x, k), NO_SETS);
    if (is_gemm(x, k, b)) return onnx_calls(at, "onnx::Gemm", INS(x, k, b), NO_SETS);
    if (op_requantises(at)) return xir_node_unsupported(at, "requantisation");
    if (v_rank(b) > v_rank(xir_op_output(at->op, 0)))
        return xir_node_unsupported(at, "a bias of more dims than the product");
    return xir_node_result(at, 0, xir_node_sum(at, xir_node_make(at, "Matmul", INS(x, k), NO_SETS), b, 1, 1));
}

/* The equation with its output, which runtimes do not always find themselves: the letters that occur once, sorted,
 * after the dims of "...". NULL after a failure. */
static const char *whole_equation(xir_node *at, xir_str text) {
    size_t n = 0, times[128] = { 0 };
    char *out = node_take(at, text.size + 80);
    bool dots = false;
    if (!out) return node_no_memory(at), NULL;
    for (size_t i = 0; i < text.size; i++) if (text.data[i] != ' ') out[n++] = text.data[i];
    out[n] = '\0';
    const char *arrow = strstr(out, "->");
    for (const char *p = out; *p && p != arrow; p++) dots |= *p == '.', times[*p & 127]++;
    if (arrow && dots && !strstr(arrow, "..."))
        return xir_node_unsupported(at, "dims of ... that the result does not have"), NULL;
    if (arrow) return out;
    n += (size_t)snprintf(out + n, 8, "->%s", dots ? "..." : "");
    for (char c = 'A'; c <= 'z'; c++)
        if ((c <= 'Z' || c >= 'a') && times[(size_t)c] == 1) out[n++] = c;
    out[n] = '\0';
    return out;
}

bool onnx_back_einsum(xir_node *at) {
    const char *equation = whole_equation(at, xir_node_text(at, "equation", ""));
    return equation && onnx_becomes(at, node_inputs(at), SETS(WORD("equation", xir_str_of(equation))));
}

/* ---- normalisations --------------------------------------------------------------------------------------------- */

/* One number for each of n channels: the attribute, or all `otherwise`. */
static xir_value *of_channels(xir_node *at, const char *name, const xir_type *element, int64_t n, double otherwise) {
    xir_value *v = onnx_weight(at, name);
    const xir_ints dims = { &n, 1 };
    return v ? make_reshaped(at, v, &dims) : xir_node_filled(at, element, &dims, otherwise);
}

/* XIR has the statistics in factor and addend: here the mean is 0, the variance 1. */
bool onnx_back_batch_norm(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (v_rank(x) != 2) x = map_input(at);
    else if (map_channels(x) != 1) return xir_node_unsupported(at, "channels that are not the second dim");
    if (!x || !xir_node_need_dims(at, x, 1, 2)) return false;
    const int64_t n = v_dim(x, 1);
    const xir_type *element = v_element(x);
    xir_value *factor = of_channels(at, "variance", element, n, 1), *addend = of_channels(at, "mean", element, n, 0),
              *mean = of_channels(at, "", element, n, 0), *variance = of_channels(at, "", element, n, 1);
    return onnx_becomes_map(at, INS(x, factor, addend, mean, variance), SETS(REAL("epsilon", 0)));
}

bool onnx_back_instance_norm(xir_node *at) {
    xir_value *x = map_input(at);
    if (!x || !xir_node_need_dims(at, x, 1, 2)) return false;
    const int64_t n = v_dim(x, 1);
    xir_value *gamma = of_channels(at, "gamma", v_element(x), n, 1),
              *beta = of_channels(at, "beta", v_element(x), n, 0);
    return onnx_becomes_map(at, INS(x, gamma, beta), SETS(REAL("epsilon", xir_node_real(at, "eps", 1e-5))));
}

/* An operator whose result has the type of x, or NULL after a failure. */
static xir_value *typed_as(xir_node *at, const char *key, xir_values inputs, xir_sets sets, const xir_value *x) {
    return xir_node_failed(at) ? NULL : foreign_value(at, key, inputs, sets, xir_value_type(x));
}

/* y with a factor or an addend for each of its channels, if it has that attribute. */
static xir_value *with_channels(xir_node *at, const char *key, xir_value *y, const char *name) {
    xir_value *v = onnx_weight(at, name);
    if (xir_node_failed(at) || !v || !y) return y;
    const xir_ints dims = node_line(at, v_rank(y) - 1, 0, v_dim(y, 1));
    v = make_reshaped(at, v, &dims);
    return typed_as(at, key, INS(y, v), NO_SETS, y);
}

/* x, whose channels are second, with each group normalised as one channel: only the channels must be known. */
static bool groups_as_channels(xir_node *at, xir_value *x) {
    const int64_t groups = xir_node_int(at, "groups", 1), rank = (int64_t)v_rank(x);
    const xir_type *whole = xir_type_sint(at->c->ctx, 64);
    const xir_ints list = { (int64_t[]){ 0, groups, -1 }, 3 }, own = node_own_dims(at, x);
    xir_ints dims = xir_node_make_ints(at, 3, -1);
    if (!whole) return node_no_memory(at);
    if (xir_node_failed(at)) return false;
    if (op_requantises(at)) return xir_node_unsupported(at, "requantisation");
    for (size_t i = 0; i < own.n; i++) if (!own.v[i]) return xir_node_unsupported(at, "no elements");
    if (!onnx_takes(at, "onnx::InstanceNormalization", v_element(x)))
        return xir_node_unsupported(at, "elements that InstanceNormalization does not take");
    dims.v[0] = own.v[0], dims.v[1] = groups;
    xir_value *y = onnx_call(at, "onnx::Reshape", INS(x, xir_node_integers(at, &list)), NO_SETS, v_element(x), &dims);
    xir_value *ones = of_channels(at, "", v_element(x), groups, 1),
              *zeros = of_channels(at, "", v_element(x), groups, 0);
    y = y ? typed_as(at, "onnx::InstanceNormalization", INS(y, ones, zeros),
                     SETS(REAL("epsilon", xir_node_real(at, "eps", 1e-5))), y) : NULL;
    xir_value *shape = onnx_call(at, "onnx::Shape", INS(x), NO_SETS, whole, &(xir_ints){ (int64_t[]){ rank }, 1 });
    y = y ? typed_as(at, "onnx::Reshape", INS(y, shape), NO_SETS, x) : NULL;
    y = with_channels(at, "onnx::Mul", y, "gamma");
    y = with_channels(at, "onnx::Add", y, "beta");
    return y && row_back_results(at, xir_value_op(y));
}

/* Before version 21 scales are one for each group, and runtimes have it as a function of others. */
bool onnx_back_group_norm(xir_node *at) {
    xir_value *x = map_input(at);
    if (!x || !xir_node_need_dims(at, x, 1, 2)) return false;
    if (onnx_target(at) < 21) return groups_as_channels(at, x);
    const int64_t n = v_dim(x, 1);
    xir_value *gamma = of_channels(at, "gamma", v_element(x), n, 1),
              *beta = of_channels(at, "beta", v_element(x), n, 0);
    return onnx_becomes_map(at, INS(x, gamma, beta), SETS(INT("num_groups", xir_node_int(at, "groups", 1)),
                                                          REAL("epsilon", xir_node_real(at, "eps", 1e-5))));
}

/* Reads the node's norm: its axes must be the last dims, which are known. */
static bool last_dims(xir_node *at, const xir_value *x, normalisation *n) {
    if (!norm_of_op(at, x, n)) return false;
    if (!n->axes.n) return xir_node_unsupported(at, "no axes");
    if (!n->last) return xir_node_unsupported(at, "dims that are not the last");
    return !n->open || xir_node_unsupported(at, "open dims");
}

/* A factor for each element of the normalised dims: the attribute gamma, or ones. */
static xir_value *factors_of(xir_node *at, const xir_value *x, const xir_ints *dims) {
    xir_value *gamma = onnx_weight(at, "gamma");
    return gamma ? make_reshaped(at, gamma, dims) : xir_node_filled(at, v_element(x), dims, 1);
}

/* Since version 17, over the last dims. */
bool onnx_back_layer_norm(xir_node *at) {
    normalisation n;
    xir_value *x = xir_node_input(at, 0);
    if (onnx_target(at) < 17) return xir_node_unsupported(at, "LayerNormalization, which needs version 17");
    if (!last_dims(at, x, &n)) return false;
    xir_value *gamma = factors_of(at, x, &n.dims), *beta = onnx_weight(at, "beta");
    if (beta) beta = make_reshaped(at, beta, &n.dims);
    return onnx_becomes(at, INS(x, gamma, beta), SETS(INT("axis", n.axes.v[0]), REAL("epsilon", n.eps)));
}

/* Since version 23, over the last dims. The operator computes in floats, unless stash_type says another type. */
bool onnx_back_rms_norm(xir_node *at) {
    normalisation n;
    xir_value *x = xir_node_input(at, 0);
    if (onnx_target(at) < 23) return xir_node_unsupported(at, "RMSNormalization, which needs version 23");
    if (!last_dims(at, x, &n)) return false;
    const bool wide = xir_type_storage_bits(v_element(x)) > 32;
    const xir_set sets[] = { INT("axis", n.axes.v[0]), REAL("epsilon", n.eps),
                             INT("stash_type", wide ? onnx_code_of(at, v_element(x)) : 1) };
    return onnx_becomes(at, INS(x, factors_of(at, x, &n.dims)), (xir_sets){ sets, wide ? 3 : 2 });
}
