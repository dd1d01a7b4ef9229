/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* gamma and beta of a norm over the last dim go into the constants of the products that read the result. */
#include "canon/canon.h"
#include "products/absorb.h"
#include "products/products.h"
#include "support/upkeep.h"

enum { X, NORM };

static const xir_pattern_row rows[] = {
    [X]    = { XIR_ROW_ANY },
    [NORM] = { XIR_ROW_OP(xir_layer_norm_class, xir_rms_norm_class), XIR_ROW_INPUTS(X) },
};

static void read_constants(const xir_op *op, const xir_value **gamma, const xir_value **beta, xir_i64s *axis) {
    const xir_layer_norm_attrs *layer = xir_layer_norm_of(op);
    *gamma = layer ? layer->gamma : xir_rms_norm_of(op)->gamma;
    *beta = layer ? layer->beta : NULL;
    *axis = layer ? layer->axis : xir_rms_norm_of(op)->axis;
}

/* Absent, or as many floats as the dim has elements. */
static bool fits(const xir_value *v, int64_t size) {
    int64_t n;
    return !v || (constant_is_plain(v, &n) && n == size && element_is_float(element_format_of(v->type)));
}

static bool has_constants(const xir_match *m, void *user) {
    const xir_value *gamma, *beta;
    xir_i64s axis;
    const int64_t rank = (int64_t)xir_type_rank(xir_match_value(m, X)->type);
    if (!canon_check_floats(m, user) || rank < 1) return false;
    const int64_t size = xir_type_dim(xir_match_value(m, X)->type, rank - 1, false);
    read_constants(m->root, &gamma, &beta, &axis);
    return (gamma || beta) && axis.size == 1 && from_end(axis.data[0], rank) == rank - 1 && size > 0 &&
           size <= ABSORB_LINES && fits(gamma, size) && fits(beta, size);
}

static const xir_pattern_decl norm = { XIR_PATTERN_HEAD("norm", rows), .check = has_constants };

/* Reads the numbers of gamma, 1 if it is NULL, and of beta, 0 if it is. */
static void read_lines(const xir_value *gamma, const xir_value *beta, channel_line *lines, size_t n) {
    const element_format of_gamma = element_format_of(gamma ? gamma->type : NULL);
    const element_format of_beta = element_format_of(beta ? beta->type : NULL);
    const void *factors = gamma ? xir_params_data(gamma, NULL) : NULL;
    const void *addends = beta ? xir_params_data(beta, NULL) : NULL;
    for (size_t i = 0; i < n; i++) {
        lines[i].factor = factors ? element_real(of_gamma, factors, i) : 1;
        lines[i].addend = addends ? element_real(of_beta, addends, i) : 0;
    }
}

static xir_status make_bare(xir_op *op) {
    const xir_layer_norm_attrs *layer = xir_layer_norm_of(op);
    if (layer) {
        xir_layer_norm_attrs a = *layer;
        a.gamma = a.beta = NULL;
        return xir_layer_norm_set(op, &a);
    }
    xir_rms_norm_attrs a = *xir_rms_norm_of(op);
    a.gamma = NULL;
    return xir_rms_norm_set(op, &a);
}

static xir_status make_bare_or_back(xir_op *op, const absorption *c) {
    const xir_status status = make_bare(op);
    if (status) absorb_give_back(c);
    return status;
}

static xir_verdict fold(xir_rewriter *at, const xir_match *m, const void *user) {
    const xir_value *gamma, *beta;
    xir_i64s axis;
    absorption c;
    xir_verdict verdict = XIR_REWRITE_LEFT;
    const int64_t last = (int64_t)xir_type_rank(xir_match_value(m, X)->type) - 1;
    (void)user;
    read_constants(m->root, &gamma, &beta, &axis);
    channel_line *lines = absorb_begin(&c, xir_op_output(m->root, 0), last,
                                      (size_t)xir_type_dim(xir_match_value(m, X)->type, last, false));
    if (lines) read_lines(gamma, beta, lines, c.n_lines);
    absorb_frees(&c, gamma);
    absorb_frees(&c, beta);
    if (lines && absorb_plan(&c)) {
        verdict = absorb_make(&c) || absorb_take(&c) || make_bare_or_back(m->root, &c) ? XIR_REWRITE_FAILED
                                                                                       : XIR_REWRITE_DONE;
        if (verdict == XIR_REWRITE_DONE) absorb_done(&c, at);
    }
    if (c.no_memory) {
        net_no_memory(c.net);
        verdict = XIR_REWRITE_FAILED;
    }
    absorb_end(&c);
    return verdict;
}

const pass_rule products_norms[] = { { &norm, fold }, { NULL, NULL } };
