/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* LayerNorm from its parts: first the bare one, (x - mean) / sqrt(mean((x - mean)^2) + eps), whose difference may be
 * computed twice; then a product with a constant becomes its gamma, and a sum its beta. */
#include "fuse/root.h"

enum { X };

/* ---- bare LayerNorm --------------------------------------------------------------------------------------------- */

bool fuse_keeps_dims(const xir_op *op, void *user) { return (void)user, xir_mean_of(op)->keepdim; }
bool fuse_true_quotient(const xir_op *op, void *user) {
    return (void)user, xir_div_of(op)->rounding_mode == XIR_ROUNDING_NONE;
}

xir_i64s fuse_mean_dims(const xir_op *mean, const xir_type *type, int64_t *room) {
    xir_i64s dims = xir_mean_of(mean)->dim;
    size_t rank = xir_type_rank(type);
    for (size_t i = 0; i < rank && i < FUSE_DIMS; i++) room[i] = (int64_t)i;
    return dims.size ? dims : (xir_i64s){ room, rank };
}

enum { L_MEAN = 1, L_OFF, L_AGAIN, L_DATA, L_TWO, L_POWER, L_PRODUCT, L_SQUARE, L_VARIANCE, ROOT_NAMES(L_) };
#define MEAN(x) { XIR_ROW_OP(xir_mean_class), XIR_ROW_INPUTS(x), .where = fuse_keeps_dims }
#define DIFFERENCE(x, mean) \
    { XIR_ROW_OP(xir_add_class), XIR_ROW_INPUTS(x, mean), .where = fuse_plain_difference }
static const xir_pattern_row layer_norm_rows[] = {
    [X]          = { XIR_ROW_ANY },
    [L_MEAN]     = MEAN(X),
    [L_OFF]      = DIFFERENCE(X, L_MEAN),
    [L_AGAIN]    = MEAN(X),                  /* these two may be the ops above */
    [L_DATA]     = DIFFERENCE(X, L_AGAIN),
    [L_TWO]      = { XIR_ROW_NUMBER(2) },
    [L_POWER]    = { XIR_ROW_OP(xir_pow_class), XIR_ROW_INPUTS(L_OFF, L_TWO) },
    [L_PRODUCT]  = { XIR_ROW_OP(xir_multiply_class), XIR_ROW_INPUTS(L_OFF, L_OFF), .where = fuse_plain_product },
    [L_SQUARE]   = { XIR_ROW_EITHER(L_POWER, L_PRODUCT) },
    [L_VARIANCE] = MEAN(L_SQUARE),
    ROOT_ROWS(L_, L_VARIANCE, L_DATA),
};

/* Returns true if a list has a dim; its items may count from the end. An empty list of Mean has all dims. */
static bool lists(xir_i64s dims, size_t rank, size_t dim) {
    for (size_t i = 0; i < dims.size; i++) {
        if (dims.data[i] == (int64_t)dim || dims.data[i] + (int64_t)rank == (int64_t)dim) return true;
    }
    return dims.size == 0;
}

static bool same_dims(xir_i64s a, xir_i64s b, size_t rank) {
    bool same = true;
    for (size_t i = 0; i < rank && same; i++) same = lists(a, rank, i) == lists(b, rank, i);
    return same;
}

static bool is_layer_norm(const xir_match *m, void *user) {
    double eps;
    if (!fuse_check_same(m, user)) return false;
    size_t rank = xir_type_rank(xir_value_type(xir_match_value(m, X)));
    xir_i64s dims = xir_mean_of(xir_match_op(m, L_MEAN))->dim;
    return rank > 0 && rank <= FUSE_DIMS && number_of_params(xir_match_value(m, L_EPS), &eps) &&
           same_dims(dims, xir_mean_of(xir_match_op(m, L_AGAIN))->dim, rank) &&
           same_dims(dims, xir_mean_of(xir_match_op(m, L_VARIANCE))->dim, rank);
}

static const xir_pattern_decl layer_norm = {
    XIR_PATTERN_HEAD("layer-norm", layer_norm_rows), .closed = true, .check = is_layer_norm,
};

static xir_verdict to_layer_norm(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    xir_value *x = xir_match_value(m, X);
    xir_layer_norm_attrs a = xir_layer_norm_init();
    int64_t room[FUSE_DIMS];
    a.axis = fuse_mean_dims(xir_match_op(m, L_MEAN), x->type, room);
    number_of_params(xir_match_value(m, L_EPS), &a.eps);
    xir_op *now = xir_add_layer_norm(xir_match_at(m), (xir_layer_norm_in){ .input = x }, &a);
    return xir_match_replace(m, xir_op_output(now, 0));
}

/* ---- an RMSNorm of what is centred ------------------------------------------------------------------------------- */

/* So another rule has seen the part of the same formula that it knows, or an exporter has. */
enum { C_MEAN = 1, C_OFF, C_OUT };
static const xir_pattern_row centred_rows[] = {
    [X]      = { XIR_ROW_ANY },
    [C_MEAN] = MEAN(X),
    [C_OFF]  = DIFFERENCE(X, C_MEAN),
    [C_OUT]  = { XIR_ROW_OP(xir_rms_norm_class), XIR_ROW_INPUTS(C_OFF) },
};

static bool is_centred(const xir_match *m, void *user) {
    if (!fuse_check_same(m, user)) return false;
    const size_t rank = xir_type_rank(xir_match_value(m, X)->type);
    const xir_i64s dims = xir_mean_of(xir_match_op(m, C_MEAN))->dim, axis = xir_rms_norm_of(m->root)->axis;
    return rank > 0 && rank <= FUSE_DIMS && axis.size > 0 && same_dims(dims, axis, rank);
}

static const xir_pattern_decl centred = {
    XIR_PATTERN_HEAD("layer-norm-rms", centred_rows), .closed = true, .check = is_centred,
};

static xir_verdict centred_to_layer_norm(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    const xir_rms_norm_attrs *rms = xir_rms_norm_of(m->root);
    xir_layer_norm_attrs a = xir_layer_norm_init();
    a.axis = rms->axis;
    a.eps = rms->eps;
    a.gamma = rms->gamma;
    xir_op *now = xir_add_layer_norm(xir_match_at(m), (xir_layer_norm_in){ .input = xir_match_value(m, X) }, &a);
    return xir_match_replace(m, xir_op_output(now, 0));
}

/* ---- gamma and beta --------------------------------------------------------------------------------------------- */

static bool is_bare(const xir_op *op, void *user) {
    (void)user;
    const xir_layer_norm_attrs *a = xir_layer_norm_of(op);
    return !a->gamma && !a->beta;
}

static bool has_no_beta(const xir_op *op, void *user) { return (void)user, !xir_layer_norm_of(op)->beta; }

enum { N_NORM = 1, N_CONSTANT, N_OUT };
static const xir_pattern_row gamma_rows[] = {
    [X]          = { XIR_ROW_ANY },
    [N_NORM]     = { XIR_ROW_OP(xir_layer_norm_class), XIR_ROW_INPUTS(X), .where = is_bare },
    [N_CONSTANT] = { XIR_ROW_PARAMS },
    [N_OUT]      = { XIR_ROW_OP(xir_multiply_class), XIR_ROW_INPUTS(N_NORM, N_CONSTANT), .commutes = true,
                     .where = fuse_plain_product },
};
static const xir_pattern_row beta_rows[] = {
    [X]          = { XIR_ROW_ANY },
    [N_NORM]     = { XIR_ROW_OP(xir_layer_norm_class), XIR_ROW_INPUTS(X), .where = has_no_beta },
    [N_CONSTANT] = { XIR_ROW_PARAMS },
    [N_OUT]      = { XIR_ROW_OP(xir_add_class), XIR_ROW_INPUTS(N_NORM, N_CONSTANT), .commutes = true,
                     .where = fuse_plain_sum },
};

bool fuse_has_dims(const xir_type *c, const xir_type *x, xir_i64s axis) {
    if (!element_is_float(element_format_of(c)) || xir_type_rank(c) > xir_type_rank(x)) return false;
    size_t rank = xir_type_rank(x), less = rank - xir_type_rank(c);
    for (size_t i = 0; i < rank; i++) {
        int64_t dim = i < less ? 1 : xir_type_dim(c, (int64_t)(i - less), false);
        if (dim != (lists(axis, rank, i) ? xir_type_dim(x, (int64_t)i, false) : 1)) return false;
    }
    return true;
}

/* Returns true if the constant has exactly the normalised dims. */
static bool has_elements_of_axes(const xir_match *m, void *user) {
    return fuse_check_same(m, user) && fuse_has_dims(xir_match_value(m, N_CONSTANT)->type, xir_match_value(m, X)->type,
                                                     xir_layer_norm_of(xir_match_op(m, N_NORM))->axis);
}

static const xir_pattern_decl gamma_ = {
    XIR_PATTERN_HEAD("layer-norm-gamma", gamma_rows), .closed = true, .check = has_elements_of_axes,
};
static const xir_pattern_decl beta = {
    XIR_PATTERN_HEAD("layer-norm-beta", beta_rows), .closed = true, .check = has_elements_of_axes,
};

static xir_verdict take_constant(const xir_match *m, bool as_gamma) {
    xir_op *norm = xir_match_op(m, N_NORM);
    xir_layer_norm_attrs a = *xir_layer_norm_of(norm);
    if (as_gamma) a.gamma = xir_match_value(m, N_CONSTANT);
    else a.beta = xir_match_value(m, N_CONSTANT);
    return xir_layer_norm_set(norm, &a) ? XIR_REWRITE_FAILED : xir_match_replace(m, xir_match_value(m, N_NORM));
}

static xir_verdict take_gamma(xir_rewriter *at, const xir_match *m, const void *user) {
    return (void)at, (void)user, take_constant(m, true);
}

static xir_verdict take_beta(xir_rewriter *at, const xir_match *m, const void *user) {
    return (void)at, (void)user, take_constant(m, false);
}

const fuse_rule fuse_norms[] = {
    { &layer_norm, to_layer_norm },
    { &centred,    centred_to_layer_norm },
    { &gamma_,     take_gamma    },
    { &beta,       take_beta     },
    { NULL, NULL },
};
