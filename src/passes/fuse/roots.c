/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* RMSNorm from its parts: first the bare one, x / sqrt(mean(x^2) + eps); then a product with a constant becomes its
 * gamma. And norms that are computed in wider floats between two Casts, as exports of half precision have them: a norm
 * computes in wide numbers anyway and rounds its result. */
#include "fuse/root.h"

enum { X };

/* ---- bare RMSNorm ----------------------------------------------------------------------------------------------- */

enum { R_TWO = 1, R_SQUARE, R_PRODUCT, R_EITHER, R_MEAN, ROOT_NAMES(R_) };
static const xir_pattern_row rms_norm_rows[] = {
    [X]         = { XIR_ROW_ANY },
    [R_TWO]     = { XIR_ROW_NUMBER(2) },
    [R_SQUARE]  = { XIR_ROW_OP(xir_pow_class), XIR_ROW_INPUTS(X, R_TWO) },
    [R_PRODUCT] = { XIR_ROW_OP(xir_multiply_class), XIR_ROW_INPUTS(X, X), .where = fuse_plain_product },
    [R_EITHER]  = { XIR_ROW_EITHER(R_SQUARE, R_PRODUCT) },
    [R_MEAN]    = { XIR_ROW_OP(xir_mean_class), XIR_ROW_INPUTS(R_EITHER), .where = fuse_keeps_dims },
    ROOT_ROWS(R_, R_MEAN, X),
};

static bool is_rms_norm(const xir_match *m, void *user) {
    double eps;
    if (!fuse_check_same(m, user)) return false;
    size_t rank = xir_type_rank(xir_match_value(m, X)->type);
    return rank > 0 && rank <= FUSE_DIMS && number_of_params(xir_match_value(m, R_EPS), &eps);
}

static const xir_pattern_decl rms_norm = {
    XIR_PATTERN_HEAD("rms-norm", rms_norm_rows), .closed = true, .check = is_rms_norm,
};

static xir_verdict to_rms_norm(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    int64_t room[FUSE_DIMS];
    xir_value *x = xir_match_value(m, X);
    xir_rms_norm_attrs a = xir_rms_norm_init();
    a.axis = fuse_mean_dims(xir_match_op(m, R_MEAN), x->type, room);
    number_of_params(xir_match_value(m, R_EPS), &a.eps);
    xir_op *now = xir_add_rms_norm(xir_match_at(m), (xir_rms_norm_in){ .input = x }, &a);
    return xir_match_replace(m, xir_op_output(now, 0));
}

/* ---- gamma ------------------------------------------------------------------------------------------------------ */

static bool is_without_factors(const xir_op *op, void *user) { return (void)user, !xir_rms_norm_of(op)->gamma; }

enum { N_NORM = 1, N_CONSTANT, N_OUT };
static const xir_pattern_row gamma_rows[] = {
    [X]          = { XIR_ROW_ANY },
    [N_NORM]     = { XIR_ROW_OP(xir_rms_norm_class), XIR_ROW_INPUTS(X), .where = is_without_factors },
    [N_CONSTANT] = { XIR_ROW_PARAMS },
    [N_OUT]      = { XIR_ROW_OP(xir_multiply_class), XIR_ROW_INPUTS(N_NORM, N_CONSTANT), .commutes = true,
                     .where = fuse_plain_product },
};

static bool has_elements_of_axes(const xir_match *m, void *user) {
    return fuse_check_same(m, user) && fuse_has_dims(xir_match_value(m, N_CONSTANT)->type, xir_match_value(m, X)->type,
                                                     xir_rms_norm_of(xir_match_op(m, N_NORM))->axis);
}

static const xir_pattern_decl gamma_ = {
    XIR_PATTERN_HEAD("rms-norm-gamma", gamma_rows), .closed = true, .check = has_elements_of_axes,
};

static xir_verdict take_gamma(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    xir_op *norm = xir_match_op(m, N_NORM);
    xir_rms_norm_attrs a = *xir_rms_norm_of(norm);
    a.gamma = xir_match_value(m, N_CONSTANT);
    return xir_rms_norm_set(norm, &a) ? XIR_REWRITE_FAILED : xir_match_replace(m, xir_match_value(m, N_NORM));
}

/* ---- Cast, norm, Cast ------------------------------------------------------------------------------------------- */

enum { C_WIDE = 1, C_NORM, C_OUT };
static const xir_pattern_row cast_rows[] = {
    [X]      = { XIR_ROW_ANY },
    [C_WIDE] = { XIR_ROW_OP(xir_cast_class), XIR_ROW_INPUTS(X) },
    [C_NORM] = { XIR_ROW_OP(xir_layer_norm_class, xir_rms_norm_class), XIR_ROW_INPUTS(C_WIDE) },
    [C_OUT]  = { XIR_ROW_OP(xir_cast_class), XIR_ROW_INPUTS(C_NORM) },
};

/* The Casts only change elements, to wider floats and back; factors would stay in the wide ones. */
static bool is_cast_norm(const xir_match *m, void *user) {
    const xir_op *norm = xir_match_op(m, C_NORM);
    const xir_layer_norm_attrs *layer = xir_layer_norm_of(norm);
    const xir_rms_norm_attrs *rms = xir_rms_norm_of(norm);
    const xir_type *x = xir_match_value(m, X)->type, *wide = xir_match_value(m, C_WIDE)->type;
    if (!fuse_check_same(m, user) || !fuse_is_plain(x) || !fuse_is_plain(wide)) return false;
    if (layer ? layer->gamma || layer->beta : rms->gamma != NULL) return false;
    return element_is_float(element_format_of(wide)) && xir_type_rank(x) == xir_type_rank(wide) &&
           xir_type_storage_bits(wide) > xir_type_storage_bits(x) &&
           xir_object_equal((const xir_object *)xir_type_layout(x), (const xir_object *)xir_type_layout(wide));
}

static const xir_pattern_decl cast_norm = {
    XIR_PATTERN_HEAD("cast-norm", cast_rows), .closed = true, .check = is_cast_norm,
};

static xir_verdict to_norm(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    const xir_op *norm = xir_match_op(m, C_NORM);
    const xir_layer_norm_attrs *layer = xir_layer_norm_of(norm);
    xir_value *x = xir_match_value(m, X);
    xir_op *now = layer ? xir_add_layer_norm(xir_match_at(m), (xir_layer_norm_in){ .input = x }, layer)
                        : xir_add_rms_norm(xir_match_at(m), (xir_rms_norm_in){ .input = x }, xir_rms_norm_of(norm));
    return xir_match_replace(m, xir_op_output(now, 0));
}

const fuse_rule fuse_roots[] = {
    { &rms_norm,  to_rms_norm },
    { &gamma_,    take_gamma  },
    { &cast_norm, to_norm     },
    { NULL, NULL },
};
