/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Sums along dims, normalisations, and orders. */
#include <math.h>
#include <stdio.h>
#include "formula/text.h"
#include "spec/one_axis.h"
#include "tsm/tsm.h"

/* ---- numbers of channels ---------------------------------------------------------------------------------------- */

/* An input of one number for each index of an axis of x, in dims that broadcast with those of x. */
static xir_value *channel_input(xir_node *at, size_t i, const xir_value *x, size_t axis) {
    char where[32];
    xir_value *v = xir_node_input(at, i);
    if (xir_node_failed(at) || !xir_node_same_elements(at, 0, x, i, v)) return NULL;
    const xir_ints dims = xir_node_dims(at, v);
    const int64_t n = product_of(&dims, 0, dims.n), own = v_dim(x, axis);
    if (n >= 0 && own >= 0 && n != own) {
        snprintf(where, sizeof where, "input/%zu", i);
        return xir_node_invalid(at, XIR_E_INVALID, where, "input %zu: expected %lld numbers, one for each index of dim "
                                "%zu, found %lld", i, (long long)own, axis, (long long)n), NULL;
    }
    return tsm_along(at, v, x, axis);
}

/* A dim that does not count from the end. */
static bool own_dim(xir_node *at, const xir_value *x, int64_t otherwise, size_t *out) {
    int64_t axis;
    *out = 0;
    if (xir_node_failed(at) || !x || !tsm_int(at, "dim", otherwise, 0, TSM_MOST_DIM, &axis) ||
        !node_axis(at, "dim", axis, v_rank(x), &axis)) return false;
    *out = (size_t)axis;
    return true;
}

/* Along dim, or the channels of a format. */
bool tsm_add_bias(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    size_t axis;
    const bool last = xir_node_is(at, "format", "NHWC");
    if (!xir_node_attr(at, "dim") && !xir_node_attr(at, "format"))
        return xir_node_invalid(at, XIR_E_MISSING, NULL, "dim or format is missing");
    if (xir_node_attr(at, "format") && !xir_node_one_of(at, "format", "NCHW", "NCHW|NHWC")) return false;
    if (!own_dim(at, x, last ? 3 : 1, &axis)) return false;
    return xir_node_result(at, 0, xir_node_sum(at, x, channel_input(at, 1, x, axis), 1, 1));
}

/* batch_norm: (x - mean) / sqrt(variance + epsilon); batch_scale: x * scale + bias; fused_batch_norm: both. */
bool tsm_batch_norm(xir_node *at) {
    const int64_t variant = xir_node_variant(at);
    xir_value *x = xir_node_input(at, 0);
    size_t axis;
    if (!own_dim(at, x, 1, &axis)) return false;
    if (variant & TSM_NORMALISED) {
        xir_value *mean = channel_input(at, 1, x, axis), *variance = channel_input(at, 2, x, axis);
        xir_value *deviation = xir_node_unary(at, "Sqrt", make_affine(at, variance, 1,
                                                                      xir_node_real(at, "epsilon", 1e-5)));
        x = xir_node_quotient(at, xir_node_sum(at, x, mean, 1, -1), deviation);
    }
    if (!x || !(variant & TSM_SCALED)) return xir_node_result(at, 0, x);
    const size_t first = variant & TSM_NORMALISED ? 3 : 1;
    x = xir_node_product(at, x, channel_input(at, first, x, axis));
    return x && xir_node_result(at, 0, xir_node_sum(at, x, channel_input(at, first + 1, x, axis), 1, 1));
}

/* ---- over dims -------------------------------------------------------------------------------------------------- */

static xir_value *ones_like(xir_node *at, const xir_value *x) {
    const xir_ints dims = xir_node_dims(at, x);
    if (xir_node_failed(at) || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return NULL;
    return xir_node_filled(at, v_element(x), &dims, 1);
}

/* x / sqrt(sum(x^2) + epsilon); a dim of 1 gives 1. */
bool tsm_l2_norm(xir_node *at) {
    const one_axis a = known_axis_of(at, "attribute/dim", -1);
    xir_value *x = a.x;
    if (x && a.n == 1) return xir_node_result(at, 0, ones_like(at, x));
    const xir_ints axes = { (int64_t[]){ (int64_t)a.axis }, 1 };
    xir_value *sum = xir_node_reduced(at, "Sum", xir_node_product(at, x, x), &axes, true);
    sum = xir_node_unary(at, "Sqrt", make_affine(at, sum, 1, xir_node_real(at, "epsilon", 1e-5)));
    return xir_node_result(at, 0, xir_node_quotient(at, x, sum));
}

/* norm_image: (x - mean) / (deviation + epsilon); prewhiten: with max(deviation, 1 / sqrt(n)). Both over all dims but
 * the first. */
bool tsm_norm_image(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const size_t rank = v_rank(x);
    if (rank < 2) return xir_node_unsupported(at, "%zu dims", rank);
    const xir_ints axes = xir_node_series(at, 1, rank - 1), dims = xir_node_dims(at, x);
    if (xir_node_failed(at)) return false;
    xir_value *mean = xir_node_reduced(at, "Mean", x, &axes, true), *d = xir_node_sum(at, x, mean, 1, -1);
    xir_value *deviation = xir_node_unary(at, "Sqrt",
                                          xir_node_reduced(at, "Mean", xir_node_product(at, d, d), &axes, true));
    if (xir_str_equal(xir_node_type(at), XIR_STR("norm_image"))) {
        deviation = make_affine(at, deviation, 1, xir_node_real(at, "epsilon", 1e-5));
    } else {
        if (!xir_node_need_dims(at, x, 1, SIZE_MAX)) return false;
        const double n = (double)product_of(&dims, 1, rank);
        deviation = make_formula(at, "Maximum(x, a)", INS(deviation), NUMBERS(1 / sqrt(n)));
    }
    return xir_node_result(at, 0, xir_node_quotient(at, d, deviation));
}

/* Without `smooth` the greatest number is not subtracted first, which only matters if exp overflows. */
bool tsm_softmax(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/dim", -1);
    return xir_node_becomes(at, "Softmax", INS(a.x), SETS(AXIS("axis", a)));
}

static bool keeps(const xir_node *at) { return xir_node_bool(at, "keep_dims", true); }

bool tsm_reduce(xir_node *at) {
    xir_ints dims;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !tsm_list(at, "dims", SIZE_MAX, INT32_MIN, &dims)) return false;
    if (!dims.n) return xir_node_unsupported(at, "no dims");
    xir_ints seen = xir_node_make_ints(at, v_rank(x), 0);
    for (size_t i = 0; i < dims.n && !xir_node_failed(at); i++) {
        if (!xir_node_axis(at, "attribute/dims", dims.v[i], v_rank(x), &dims.v[i])) return false;
        if (seen.v[dims.v[i]]++)
            return xir_node_invalid(at, XIR_E_INVALID, "attribute/dims", "dims: dim %lld appears twice",
                                    (long long)dims.v[i]);
    }
    return xir_node_result(at, 0, xir_node_reduced(at, at->cls->row->cls, x, &dims, keeps(at)));
}

bool tsm_max(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/dim", 0);
    return xir_node_becomes(at, "Max", INS(a.x), SETS(AXIS("dim", a), INT("keepdim", keeps(at))));
}

bool tsm_argmax(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/dim", 0);
    return xir_node_result(at, 0, tsm_int32(at, xir_node_make(at, "Argmax", INS(a.x), SETS(AXIS("dim", a)))));
}

/* The greatest numbers along the last dim, and their indices, which TopK gives in the type of the numbers. */
bool tsm_topk(xir_node *at) {
    int64_t k;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !tsm_int(at, "number", 1, 1, TSM_MOST_DIM, &k)) return false;
    const size_t rank = v_rank(x);
    if (!rank) return xir_node_unsupported(at, "a single number");
    if (!xir_node_need_dims(at, x, rank - 1, rank)) return false;
    if (k > v_dim(x, rank - 1)) k = v_dim(x, rank - 1);
    const xir_type *element = v_element(x);
    const int bits = (int)xir_type_storage_bits(element);
    const int64_t exact = xir_type_kind_of(element) != XIR_TYPE_FLOAT ? INT64_C(1) << (bits > 62 ? 62 : bits - 1)
                        : bits < 32 ? 1 << 8 : bits < 64 ? 1 << 24 : INT64_C(1) << 53;
    if (v_dim(x, rank - 1) > exact) return xir_node_unsupported(at, "indices that the elements cannot hold");
    const xir_ints count = { &k, 1 };
    xir_op *op = xir_node_make_op(at, "TopK", INS(x, xir_node_integers(at, &count)), SETS(INT("axis", -1)));
    if (!op || !xir_node_result(at, 0, xir_op_output(op, 0))) return false;
    return at->n_out < 2 || xir_node_result(at, 1, tsm_int32(at, xir_op_output(op, 1)));
}
