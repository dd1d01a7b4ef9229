/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* GroupNorm from its parts. Exporters make each group one channel of a Reshape and normalise that:
 *
 *     [N, C, …] -> [N, g, C/g * …], InstanceNorm, -> [N, C, …]
 *
 * Transposes around the InstanceNorm bring its channels last, and those around the GroupNorm take their place. Then a
 * product with a constant of the channels becomes gamma, and a sum beta. */
#include "fuse/fuse.h"
#include "support/affine.h"

enum { X };

/* ---- the norm without factors ----------------------------------------------------------------------------------- */

typedef struct instance { double eps; const xir_value *gamma, *beta; } instance;

static bool instance_of(const xir_op *op, instance *out) {
    const xir_instance_norm1d_attrs *one = xir_instance_norm1d_of(op);
    const xir_instance_norm2d_attrs *two = xir_instance_norm2d_of(op);
    const xir_instance_norm3d_attrs *three = xir_instance_norm3d_of(op);
    if (one) *out = (instance){ one->eps, one->gamma, one->beta };
    if (two) *out = (instance){ two->eps, two->gamma, two->beta };
    if (three) *out = (instance){ three->eps, three->gamma, three->beta };
    return one || two || three;
}

/* Returns true if constants are absent or have one number everywhere. */
static bool is_all(const xir_value *v, double wanted) {
    int64_t n;
    if (!v) return true;
    const void *bytes = value_is_constant(v) ? whole_params(v) : NULL;
    element_format form = element_format_of(v->type);
    if (!bytes || !element_is_float(form) || xir_type_elements(v->type, &n) != XIR_OK) return false;
    for (int64_t i = 0; i < n; i++) {
        if (element_real(form, bytes, (size_t)i) != wanted) return false;
    }
    return true;
}

static bool is_bare_instance(const xir_op *op, void *user) {
    (void)user;
    instance a;
    return instance_of(op, &a) && is_all(a.gamma, 1) && is_all(a.beta, 0);
}

enum { G_LIST = 1, G_DOWN, G_BEFORE, G_NORM, G_AFTER, G_BACK, G_OUT };
static const xir_pattern_row group_norm_rows[] = {
    [X]        = { XIR_ROW_ANY },
    [G_LIST]   = { XIR_ROW_ANY, .optional = true },   /* computed dims: the types have them, too */
    [G_DOWN]   = { XIR_ROW_OP(xir_reshape_class), XIR_ROW_INPUTS(X, G_LIST) },
    [G_BEFORE] = { XIR_ROW_OP(xir_transpose_class), XIR_ROW_INPUTS(G_DOWN), .optional = true },
    [G_NORM]   = { XIR_ROW_OP(xir_instance_norm1d_class, xir_instance_norm2d_class, xir_instance_norm3d_class),
                   XIR_ROW_INPUTS(G_BEFORE), .where = is_bare_instance },
    [G_AFTER]  = { XIR_ROW_OP(xir_transpose_class), XIR_ROW_INPUTS(G_NORM), .optional = true },
    [G_BACK]   = { XIR_ROW_ANY, .optional = true },
    [G_OUT]    = { XIR_ROW_OP(xir_reshape_class), XIR_ROW_INPUTS(G_AFTER, G_BACK) },
};

/* The axis of the reshaped map that a dim of the norm's input is. */
static int64_t axis_before(const xir_match *m, int64_t dim) {
    const xir_transpose_attrs *t = xir_match_op(m, G_BEFORE) ? xir_transpose_of(xir_match_op(m, G_BEFORE)) : NULL;
    int64_t rank = (int64_t)xir_type_rank(xir_match_value(m, G_DOWN)->type);
    if (!t || dim < 0) return dim;
    int64_t axis = dim < (int64_t)t->dims.size ? t->dims.data[dim] : -1;
    return axis < 0 ? axis + rank : axis;
}

/* Returns true if the Transpose after the norm undoes the one before it; both may be absent. */
static bool is_undone(const xir_match *m) {
    const xir_op *before = xir_match_op(m, G_BEFORE), *after = xir_match_op(m, G_AFTER);
    if (!before || !after) return !before && !after;
    const xir_i64s to = xir_transpose_of(before)->dims, back = xir_transpose_of(after)->dims;
    int64_t rank = (int64_t)to.size;
    if (back.size != to.size) return false;
    for (int64_t i = 0; i < rank; i++) {
        int64_t k = back.data[i] < 0 ? back.data[i] + rank : back.data[i];
        if (k < 0 || k >= rank || (to.data[k] < 0 ? to.data[k] + rank : to.data[k]) != i) return false;
    }
    return true;
}

/* The letters that a map of this rank has if its channels are second, and if they are last. */
static const char *const channels_second[] = { "NC", "NCL", "NCHW", "NCDHW" };
static const char *const channels_last[]   = { "NC", "NLC", "NHWC", "NDHWC" };
enum { LEAST_RANK = 2, MOST_RANK = 5 };

static bool is_group_norm(const xir_match *m, void *user) {
    if (!fuse_check_same(m, user) || !is_undone(m)) return false;
    const xir_type *x = xir_match_value(m, X)->type, *down = xir_match_value(m, G_DOWN)->type,
                   *in = xir_match_value(m, G_BEFORE)->type;
    size_t rank = xir_type_rank(x);
    if (rank < LEAST_RANK || rank > MOST_RANK || xir_type_rank(down) < 3 || !fuse_is_plain(x)) return false;
    const xir_layout *letters = xir_type_layout(in), *own = xir_type_layout(x);
    int64_t batch = letters ? xir_layout_index(letters, 'N') : -1;
    if (axis_before(m, batch < 0 ? 0 : batch) != 0 || axis_before(m, channel_dim(in)) != 1) return false;
    if (!own || xir_layout_index(own, 'N') > 0 || (xir_layout_has(own, 'C') && xir_layout_index(own, 'C') != 1))
        return false;
    /* A Reshape that gives letters must say all dims. */
    if (!xir_match_op(m, G_BEFORE) && channel_dim(x) != 1 && xir_type_has_unknown_dim(x)) return false;
    int64_t n = xir_type_as_tensor(x)->shape.data[0], channels = xir_type_dim(x, 1, false),
            groups = xir_type_dim(down, 1, false);
    return n == xir_type_as_tensor(down)->shape.data[0] && n != XIR_UNKNOWN_DIM && n != 0 && groups > 0 &&
           channels > 0 && channels % groups == 0;
}

static const xir_pattern_decl group_norm = {
    XIR_PATTERN_HEAD("group-norm", group_norm_rows), .closed = true, .check = is_group_norm,
};

static xir_value *transposed(xir_at at, xir_value *x, const int64_t *dims, const xir_layout *letters) {
    xir_transpose_attrs a = xir_transpose_init();
    if (!x || !letters) return NULL;
    a.dims = (xir_i64s){ dims, xir_type_rank(x->type) };
    a.layout = letters;
    return xir_op_output(xir_add_transpose(at, (xir_transpose_in){ .input = x }, &a), 0);
}

static xir_value *lettered(xir_at at, xir_value *x, const xir_layout *letters) {
    xir_reshape_attrs a = xir_reshape_init();
    if (!x || !letters) return NULL;
    a.shape = xir_type_as_tensor(x->type)->shape;
    a.layout = letters;
    return xir_op_output(xir_add_reshape(at, (xir_reshape_in){ .input = x }, &a), 0);
}

/* The norm finds its channels by their letter, or last. If the parts had Transposes, so has the norm; otherwise its map
 * gets letters. */
static xir_verdict to_group_norm(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)user;
    xir_network *net = xir_rewriter_network(at);
    static const int64_t last[][MOST_RANK] = { { 0, 1 }, { 0, 2, 1 }, { 0, 2, 3, 1 }, { 0, 2, 3, 4, 1 } },
                         second[][MOST_RANK] = { { 0, 1 }, { 0, 2, 1 }, { 0, 3, 1, 2 }, { 0, 4, 1, 2, 3 } };
    xir_value *x = xir_match_value(m, X), *y;
    xir_context *ctx = xir_network_context(net);
    const xir_layout *own = xir_type_layout(x->type);
    size_t form = xir_type_rank(x->type) - LEAST_RANK;
    bool direct = channel_dim(x->type) == 1, moved = xir_match_op(m, G_BEFORE);
    xir_at last_at = xir_match_at(m), inner = last_at;
    instance parts = { 0 };
    xir_group_norm_attrs a = xir_group_norm_init();
    inner.name = (xir_str){ NULL, 0 };
    instance_of(xir_match_op(m, G_NORM), &parts);
    a.groups = xir_type_dim(xir_match_value(m, G_DOWN)->type, 1, false);
    a.eps = parts.eps;
    y = x;
    if (!direct) {
        const char *letters = (moved ? channels_last : channels_second)[form];
        const xir_layout *named = xir_layout_parse(ctx, xir_str_of(letters), xir_network_diags(net));
        y = moved ? transposed(inner, x, last[form], named) : lettered(inner, x, named);
    }
    y = y ? xir_op_output(xir_add_group_norm(direct ? last_at : inner, (xir_group_norm_in){ .input = y }, &a), 0)
          : NULL;
    if (!direct) y = moved ? transposed(last_at, y, second[form], own) : lettered(last_at, y, own);
    return xir_match_replace(m, y);
}

/* ---- gamma and beta --------------------------------------------------------------------------------------------- */

static bool is_without_factors(const xir_op *op, void *user) {
    (void)user;
    const xir_group_norm_attrs *a = xir_group_norm_of(op);
    return !a->gamma && !a->beta;
}

static bool is_without_addends(const xir_op *op, void *user) { return (void)user, !xir_group_norm_of(op)->beta; }

enum { N_NORM = 1, N_CONSTANT, N_OUT };
static const xir_pattern_row gamma_rows[] = {
    [X]          = { XIR_ROW_ANY },
    [N_NORM]     = { XIR_ROW_OP(xir_group_norm_class), XIR_ROW_INPUTS(X), .where = is_without_factors },
    [N_CONSTANT] = { XIR_ROW_PARAMS },
    [N_OUT]      = { XIR_ROW_OP(xir_multiply_class), XIR_ROW_INPUTS(N_NORM, N_CONSTANT), .commutes = true,
                     .where = fuse_plain_product },
};
static const xir_pattern_row beta_rows[] = {
    [X]          = { XIR_ROW_ANY },
    [N_NORM]     = { XIR_ROW_OP(xir_group_norm_class), XIR_ROW_INPUTS(X), .where = is_without_addends },
    [N_CONSTANT] = { XIR_ROW_PARAMS },
    [N_OUT]      = { XIR_ROW_OP(xir_add_class), XIR_ROW_INPUTS(N_NORM, N_CONSTANT), .commutes = true,
                     .where = fuse_plain_sum },
};

/* Returns true if the constant has exactly the channels. */
static bool has_channels(const xir_match *m, void *user) {
    const xir_type *x = xir_match_value(m, X)->type, *c = xir_match_value(m, N_CONSTANT)->type;
    if (!fuse_check_same(m, user) || !element_is_float(element_format_of(c)) || xir_type_rank(c) > xir_type_rank(x))
        return false;
    size_t rank = xir_type_rank(x), less = rank - xir_type_rank(c);
    int64_t channel = channel_dim(x);
    for (size_t i = 0; i < rank; i++) {
        int64_t dim = i < less ? 1 : xir_type_dim(c, (int64_t)(i - less), false);
        if (dim != ((int64_t)i == channel ? xir_type_dim(x, channel, false) : 1)) return false;
    }
    return true;
}

static const xir_pattern_decl gamma_ = {
    XIR_PATTERN_HEAD("group-norm-gamma", gamma_rows), .closed = true, .check = has_channels,
};
static const xir_pattern_decl beta = {
    XIR_PATTERN_HEAD("group-norm-beta", beta_rows), .closed = true, .check = has_channels,
};

static xir_verdict take_constant(const xir_match *m, bool as_gamma) {
    xir_op *norm = xir_match_op(m, N_NORM);
    xir_group_norm_attrs a = *xir_group_norm_of(norm);
    if (as_gamma) a.gamma = xir_match_value(m, N_CONSTANT);
    else a.beta = xir_match_value(m, N_CONSTANT);
    return xir_group_norm_set(norm, &a) ? XIR_REWRITE_FAILED : xir_match_replace(m, xir_match_value(m, N_NORM));
}

static xir_verdict take_gamma(xir_rewriter *at, const xir_match *m, const void *user) {
    return (void)at, (void)user, take_constant(m, true);
}

static xir_verdict take_beta(xir_rewriter *at, const xir_match *m, const void *user) {
    return (void)at, (void)user, take_constant(m, false);
}

const fuse_rule fuse_groups[] = {
    { &group_norm, to_group_norm },
    { &gamma_,     take_gamma    },
    { &beta,       take_beta     },
    { NULL, NULL },
};
