/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Normalisations of ONNX Runtime (com.microsoft) with the sum before them, and its embedding of tokens. */
#include "onnx/rows.h"
#include "formula/parts.h"

/* ---- layers ----------------------------------------------------------------------------------------------------- */

/* Input 0 + input 1 + the bias at `bias_at`, normalised over the last dim. The sum is output 3. */
static bool skip_norm(xir_node *at, bool rms, size_t bias_at) {
    xir_value *x = xir_node_input(at, 0), *skip = xir_node_input(at, 1), *gamma = xir_node_input(at, 2);
    xir_value *beta = rms ? NULL : xir_node_optional_input(at, 3), *bias = xir_node_optional_input(at, bias_at), *mean;
    const double eps = xir_node_real(at, "epsilon", 1e-12);
    if (!onnx_broadcasts_to(at, x, 1, skip)) return false;
    if (v_rank(x) < 1) return xir_node_invalid(at, XIR_E_BOUNDS, "input/0", "expected at least 1 dim, found none");
    if (!onnx_broadcasts_to(at, x, 2, gamma) || (beta && !onnx_broadcasts_to(at, x, 3, beta)) ||
        (bias && !onnx_broadcasts_to(at, x, bias_at, bias))) return false;
    xir_value *sum = xir_node_sum(at, x, skip, 1, 1);
    if (bias) sum = xir_node_sum(at, sum, bias, 1, 1);
    const xir_ints axes = xir_node_series(at, (int64_t)v_rank(x) - 1, 1);
    mean = rms ? NULL : node_wants(at, 1) || node_wants(at, 2) ? xir_node_reduced(at, "Mean", sum, &axes, true) : NULL;
    if (rms && node_wants(at, 1)) return xir_node_unsupported(at, "the mean, which is not computed");
    if (mean) xir_node_result(at, 1, mean);
    if (node_wants(at, 2)) xir_node_result(at, 2, onnx_reciprocal_deviation(at, sum, mean, &axes, eps));
    if (node_wants(at, 3)) xir_node_result(at, 3, sum);
    return xir_node_result(at, 0, rms ? onnx_rms_norm(at, sum, gamma, &axes, eps)
                           : onnx_layer_norm(at, sum, gamma, beta, &axes, eps));
}
bool onnx_ms_skip_layer_normalization(xir_node *at) { return skip_norm(at, false, 4); }
bool onnx_ms_skip_rms_normalization(xir_node *at)   { return skip_norm(at, true, 3); }

/* ---- tokens ----------------------------------------------------------------------------------------------------- */

static xir_value *looked_up(xir_node *at, xir_value *table, xir_value *index) {
    if (xir_node_failed(at) || !table || !index) return NULL;
    if (v_rank(table) != 2) return xir_node_unsupported(at, "a table of %zu dims", v_rank(table)), NULL;
    return xir_node_make(at, "Gather", INS(table, index), SETS(INT("axis", 0)));
}

/* Returns the number of elements of each row of the mask that are 1; without a mask 0. */
static xir_value *mask_index(xir_node *at, xir_value *ids, xir_value *mask) {
    const xir_type *whole = xir_type_sint(at->c->ctx, 32);
    const xir_ints axis = { (int64_t[]){ 1 }, 1 };
    if (mask) {
        xir_value *ones = xir_node_make(at, "Equal", INS(mask, xir_node_scalar(at, v_element(mask), 1)), NO_SETS);
        return xir_node_reduced(at, "Sum", xir_node_cast(at, ones, whole), &axis, false);
    }
    return xir_node_reduced(at, "Sum", xir_node_scaled(at, xir_node_cast(at, ids, whole), 0), &axis, false);
}

/* Inputs: ids of words, of segments; tables of words, positions, segments; gamma, beta; the mask; positions. */
bool onnx_ms_embed_layer_normalization(xir_node *at) {
    xir_value *ids = xir_node_input(at, 0), *segments = xir_node_optional_input(at, 1), *words = xir_node_input(at, 2),
              *positions = xir_node_input(at, 3), *of_segments = xir_node_optional_input(at, 4),
              *mask = xir_node_optional_input(at, 7), *places = xir_node_optional_input(at, 8);
    if (!onnx_ranked(at, 0, ids, 2, 2)) return false;
    if (!segments != !of_segments) {
        return xir_node_invalid(at, XIR_E_MISSING, segments ? "input/4" : "input/1",
                                "expected both ids and a table of segments, or neither");
    }
    xir_value *sum = xir_node_sum(at, looked_up(at, words, ids),
                                  looked_up(at, positions, places ? places : onnx_places_along(at, ids, 1, false)), 1,
                                      1);
    if (segments) sum = xir_node_sum(at, sum, looked_up(at, of_segments, segments), 1, 1);
    const xir_ints axes = { (int64_t[]){ 2 }, 1 };
    if (node_wants(at, 1)) xir_node_result(at, 1, mask_index(at, ids, mask));
    if (node_wants(at, 2)) xir_node_result(at, 2, sum);
    return xir_node_result(at, 0, onnx_layer_norm(at, sum, xir_node_input(at, 5), xir_node_input(at, 6), &axes,
                                                  xir_node_real(at, "epsilon", 1e-12)));
}

/* ---- groups of channels ----------------------------------------------------------------------------------------- */

/* GroupNorm of x in the order of the node, then SiLU if its activation is 1. */
static xir_value *group_norm(xir_node *at, xir_value *x, bool last) {
    xir_value *gamma = xir_node_params(at, 1), *beta = xir_node_params(at, 2);
    const int64_t activation = xir_node_int(at, "activation", 0);
    if (v_rank(x) != 4) return xir_node_unsupported(at, "%zu dims", v_rank(x)), NULL;
    if (activation < 0 || activation > 1) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/activation", "activation: expected 0 or 1, found %lld",
                                (long long)activation), NULL;
    }
    xir_value *y = xir_node_make(at, "GroupNorm", INS(last ? x : xir_node_channels_last(at, x)),
                                 SETS(INT("groups", xir_node_int(at, "groups", 0)),
                                      REAL("eps", xir_node_real(at, "epsilon", 1e-5)), OBJ("gamma", gamma),
                                      OBJ("beta", beta)));
    if (activation) y = xir_node_unary(at, "SiLU", y);
    return last ? y : xir_node_channels_second(at, y);
}

bool onnx_ms_group_norm(xir_node *at) {
    return xir_node_result(at, 0, group_norm(at, xir_node_input(at, 0), xir_node_int(at, "channels_last", 1)));
}

/* Of x + skip + bias: channels come last. The skip may be one number for each channel of a sample. */
bool onnx_ms_skip_group_norm(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *skip = xir_node_input(at, 3), *bias = xir_node_optional_input(at, 4);
    if (!xir_node_int(at, "channels_last", 1)) return xir_node_unsupported(at, "channels that are not the last dim");
    if (v_rank(skip) == 2) skip = make_shaped(at, skip, (int64_t[]){ v_dim(skip, 0), 1, 1, v_dim(skip, 1) }, 4);
    if (!onnx_broadcasts_to(at, x, 3, skip) || (bias && !onnx_broadcasts_to(at, x, 4, bias))) return false;
    xir_value *sum = xir_node_sum(at, x, skip, 1, 1);
    if (bias) sum = xir_node_sum(at, sum, bias, 1, 1);
    if (node_wants(at, 1)) xir_node_result(at, 1, sum);
    return xir_node_result(at, 0, group_norm(at, sum, true));
}
