/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Forms that cost less and compute nearly the same: a quotient by a constant becomes a product with the reciprocals,
 * which are rounded once; a power of one half a root, which differs for -0 and below; an image that is interpolated
 * from one cell copies of it, which differ for -0 and infinity. Each rewrite lessens the number of Divs, DivideScalars,
 * Pows and ops that interpolate. */
#include <math.h>
#include <xir/sugar.h>
#include "canon/canon.h"
#include "products/products.h"
#include "support/linear.h"

enum { X, NUMBER, OUT };

enum { MOST_NUMBERS = 16384 };   /* of a divisor, which others may use as well */

/* ---- quotients --------------------------------------------------------------------------------------------------- */

/* The divisors of an op, one after the other. */
typedef struct divisors { const xir_value *params; double one; size_t n; } divisors;

static double divisor_at(const divisors *d, size_t i) {
    return d->params ? element_real(element_format_of(d->params->type), whole_params(d->params), i) : d->one;
}

static bool divisors_of(const xir_op *op, divisors *out) {
    const xir_divide_scalar_attrs *by = xir_divide_scalar_of(op);
    const xir_div_attrs *div = xir_div_of(op);
    int64_t n = 1;
    if (by) *out = (divisors){ .one = by->divisor, .n = 1 };
    else *out = (divisors){ .params = xir_op_input(op, 1) };
    if ((by ? by->rounding_mode : div->rounding_mode) != XIR_ROUNDING_NONE) return false;
    if (!by && (!constant_is_plain(out->params, &n) || n < 1 || n > MOST_NUMBERS)) return false;
    out->n = (size_t)n;
    return true;
}

/* Every divisor and every reciprocal is a normal number of the format. In formats of fewer digits than float32 the
 * second rounding would be seen in the results. */
static bool is_quotient(const xir_match *m, void *user) {
    divisors d;
    double least, greatest;
    if (!canon_check_floats(m, user) || !divisors_of(m->root, &d)) return false;
    const element_format form = element_format_of(xir_match_value(m, X)->type);
    if (form.mantissa < 23) return false;
    if (d.params && !xir_type_equal(xir_type_element(d.params->type), xir_type_element(xir_match_value(m, X)->type)))
        return false;
    number_range(form, &least, &greatest);
    for (size_t i = 0; i < d.n; i++) {
        const double by = fabs(divisor_at(&d, i));
        if (!(by >= least && by <= greatest && 1 / by >= least && 1 / by <= greatest)) return false;
    }
    return true;
}

static const xir_pattern_row quotient_rows[] = {
    [X]      = { XIR_ROW_ANY },
    [NUMBER] = { XIR_ROW_PARAMS, .optional = true },
    [OUT]    = { XIR_ROW_OP(xir_div_class, xir_divide_scalar_class), XIR_ROW_INPUTS(X, NUMBER) },
};
static const xir_pattern_decl quotient = { XIR_PATTERN_HEAD("reciprocals", quotient_rows), .check = is_quotient };

static xir_verdict to_product(xir_rewriter *at, const xir_match *m, const void *user) {
    divisors d;
    (void)at, (void)user;
    if (!divisors_of(m->root, &d)) return XIR_REWRITE_LEFT;
    xir_value *x = xir_match_value(m, X);
    xir_value *factors = d.params ? constant_copy(d.params, m->root) : canon_number(m, 1 / d.one);
    void *bytes = factors && d.params ? xir_params_edit(factors) : NULL;
    if (!factors || (d.params && !bytes)) return XIR_REWRITE_FAILED;
    for (size_t i = 0; bytes && i < d.n; i++)
        element_put_real(element_format_of(x->type), bytes, i, 1 / divisor_at(&d, i));
    return xir_match_replace(m, XIR_OP(xir_match_at(m), multiply, .lhs = x, .rhs = factors));
}

/* ---- roots ------------------------------------------------------------------------------------------------------- */

static const xir_pattern_row root_rows[] = {
    [X]      = { XIR_ROW_ANY },
    [NUMBER] = { XIR_ROW_NUMBER(0.5) },
    [OUT]    = { XIR_ROW_OP(xir_pow_class), XIR_ROW_INPUTS(X, NUMBER) },
};
static const xir_pattern_decl root = { XIR_PATTERN_HEAD("root", root_rows), .check = canon_check_floats };

static xir_verdict to_root(xir_rewriter *at, const xir_match *m, const void *user) {
    double half;
    (void)at, (void)user;
    if (!number_of_params(xir_match_value(m, NUMBER), &half) || half != 0.5) return XIR_REWRITE_LEFT;
    return xir_match_replace(m, XIR_OP(xir_match_at(m), sqrt, .input = xir_match_value(m, X)));
}

/* ---- images of one cell ------------------------------------------------------------------------------------------ */

enum { IMAGE = 1 };

static bool has_one_cell(const xir_match *m, void *user) {
    const xir_type *x = xir_match_value(m, X)->type;
    const xir_value *y = xir_op_output(m->root, 0);
    (void)user;
    return y && canon_check_ops(m) && fuse_is_plain(x) && fuse_is_plain(y->type) &&
           element_is_float(element_format_of(x)) &&
           xir_upsample_of(m->root)->interpolation != XIR_UPSAMPLE_NEAREST &&
           xir_type_axis_dim(x, 'H', false) == 1 && xir_type_axis_dim(x, 'W', false) == 1;
}

static const xir_pattern_row image_rows[] = {
    [X]     = { XIR_ROW_ANY },
    [IMAGE] = { XIR_ROW_OP(xir_upsample_class), XIR_ROW_INPUTS(X) },
};
static const xir_pattern_decl image = { XIR_PATTERN_HEAD("one-cell", image_rows), .check = has_one_cell };

/* Without corners, the only form that NEAREST has in every format. */
static xir_verdict to_copies(xir_rewriter *at, const xir_match *m, const void *user) {
    xir_upsample_attrs a = *xir_upsample_of(m->root);
    (void)at, (void)user;
    a.interpolation = XIR_UPSAMPLE_NEAREST;
    a.align_corners = false;
    return xir_upsample_set(m->root, &a) ? XIR_REWRITE_FAILED : XIR_REWRITE_DONE;
}

const pass_rule products_forms[] = {
    { &quotient, to_product },
    { &root,     to_root    },
    { &image,    to_copies  },
    { NULL, NULL },
};
