/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The numbers that the inputs of ops may be: the functions of TAKES rows. Indices are within their tables, real
 * functions are defined, and ops that move, add to or multiply numbers pass on what later ops take. */
#include <math.h>
#include <xir/takes.h>
#include "rules.h"

/* The margin that a random number keeps from a pole, where a rounded last digit would change the result too much. A
 * power of two, which every floating-point format holds. */
static const double margin = 0x1p-6;

static const xir_type *in(const xir_infer *at, size_t i) { return xir_infer_input(at, i); }

static xir_status between(xir_infer *at, size_t i, double low, double high) {
    xir_takes(at, i, &XIR_INIT(xir_numbers, .low = low, .high = high));
    return XIR_OK;
}

static void not_near_0(xir_infer *at, size_t i) {
    const double gap = xir_type_kind_of(xir_type_element(in(at, i))) == XIR_TYPE_INTEGER ? 1 : margin;
    xir_takes(at, i, &XIR_INIT(xir_numbers, .low = -INFINITY, .high = INFINITY, .gap = gap));
}

/* ---- ops that move elements ------------------------------------------------------------------------------------- */

xir_status moved_takes(xir_infer *at) {
    xir_numbers range = XIR_INIT(xir_numbers);
    for (size_t o = 0; xir_infer_output(at, o); o++)
        if (xir_takes_output(at, o, &range)) xir_takes(at, 0, &range);
    return XIR_OK;
}

xir_status joined_takes(xir_infer *at) {
    for (size_t i = 0; i < xir_infer_input_count(at); i++) xir_takes_moved(at, i, 0);
    return XIR_OK;
}

xir_status where_takes(xir_infer *at) {
    xir_takes_moved(at, 0, 0);
    xir_takes_moved(at, 1, 0);
    return XIR_OK;
}

/* ---- indices ---------------------------------------------------------------------------------------------------- */

xir_status gather_takes(xir_infer *at) {
    const xir_gather_attrs *a = xir_infer_attrs(at);
    xir_takes_moved(at, 0, 0);
    xir_takes_index(at, 1, xir_type_dim(in(at, 0), a->axis, false));
    return XIR_OK;
}

xir_status gather_elements_takes(xir_infer *at) {
    const xir_gather_elements_attrs *a = xir_infer_attrs(at);
    xir_takes_moved(at, 0, 0);
    xir_takes_index(at, 1, xir_type_dim(in(at, 0), a->axis, false));
    return XIR_OK;
}

/* Tuples of indices into dims of data from `first` on. The least of the dims bounds all of them. */
static void takes_places(xir_infer *at, int64_t first) {
    const xir_type *data = in(at, 0), *indices = in(at, 1);
    const int64_t rank = (int64_t)xir_type_rank(data);
    int64_t n = xir_type_rank(indices) ? xir_type_dim(indices, -1, false) : 0, least = INT64_MAX;
    if (first < 0 || n < 1 || first > rank || n > rank - first) return;
    for (int64_t k = first; k < first + n; k++) {
        const int64_t dim = xir_type_dim(data, k, false);
        least = dim < least ? dim : least;
    }
    xir_takes_index(at, 1, least);
}

xir_status gather_nd_takes(xir_infer *at) {
    const xir_gather_nd_attrs *a = xir_infer_attrs(at);
    xir_takes_moved(at, 0, 0);
    takes_places(at, a->batch_dims);
    return XIR_OK;
}

xir_status scatter_nd_takes(xir_infer *at) {
    const xir_scatter_nd_attrs *a = xir_infer_attrs(at);
    takes_places(at, 0);
    if (a->reduction != XIR_SCATTER_NONE) return XIR_OK;
    xir_takes_moved(at, 0, 0);
    xir_takes_moved(at, 2, 0);
    return XIR_OK;
}

/* k is a number of elements, from 1 on. */
xir_status top_k_takes(xir_infer *at) {
    const xir_top_k_attrs *a = xir_infer_attrs(at);
    const int64_t dim = xir_type_rank(in(at, 0)) ? xir_type_dim(in(at, 0), a->axis, false) : 0;
    xir_takes_moved(at, 0, 0);
    if (dim > 0) xir_takes(at, 1, &XIR_INIT(xir_numbers, .whole = true, .low = 1, .high = (double)dim));
    return XIR_OK;
}

/* Lengths of sequences, from 1 to that of X. If it is unknown, 1 is taken wherever there is a number. */
static xir_status takes_lengths(xir_infer *at, bool batch_first) {
    const int64_t length = xir_type_rank(in(at, 0)) == 3 ? xir_type_dim(in(at, 0), batch_first, false) : 0;
    if (length) {
        xir_takes(at, 4, &XIR_INIT(xir_numbers, .whole = true, .low = 1, .high = length > 0 ? (double)length : 1));
    }
    return XIR_OK;
}

#define LENGTHS(name) \
    xir_status name##_takes(xir_infer *at) { \
        const xir_##name##_attrs *a = xir_infer_attrs(at); \
        return takes_lengths(at, a->layout == 1); \
    }
LENGTHS(lstm)
LENGTHS(gru)
LENGTHS(rnn)

/* ---- functions that are not defined everywhere ------------------------------------------------------------------ */

xir_status log_takes(xir_infer *at)        { return between(at, 0, margin, INFINITY); }
xir_status sqrt_takes(xir_infer *at)       { return between(at, 0, 0, INFINITY); }
xir_status arc_takes(xir_infer *at)        { return between(at, 0, -1, 1); }
xir_status acosh_takes(xir_infer *at)      { return between(at, 0, 1, INFINITY); }
xir_status atanh_takes(xir_infer *at)      { return between(at, 0, margin - 1, 1 - margin); }
xir_status reciprocal_takes(xir_infer *at) { return not_near_0(at, 0), XIR_OK; }
xir_status mod_takes(xir_infer *at)        { return not_near_0(at, 1), XIR_OK; }

/* A fraction is a power of no negative number, and a negative power is not one of 0. An exponent that is not a constant
 * may be both. */
xir_status pow_takes(xir_infer *at) {
    xir_numbers exponent = xir_numbers_any();
    const bool known = xir_takes_known(at, 1, &exponent);
    if (!known) return between(at, 0, margin, INFINITY);
    if (exponent.low < 0) not_near_0(at, 0);
    if (exponent.low != exponent.high || floor(exponent.low) != exponent.low) return between(at, 0, 0, INFINITY);
    return XIR_OK;
}

/* ---- sums and products ------------------------------------------------------------------------------------------ */

/* The numbers that x may be so that factor x is in a range, where the factor may be any number of `factors`, all of
 * one sign. */
static xir_numbers divided(const xir_numbers *range, const xir_numbers *factors) {
    xir_numbers out = *range;
    const double least = factors->low, most = factors->high;
    const bool negative = most < 0;
    const double low = negative ? range->high : range->low, high = negative ? range->low : range->high;
    out.low = fmax(low / least, low / most) + 0.0;   /* not -0 */
    out.high = fmin(high / least, high / most) + 0.0;
    out.gap = range->gap / fmin(fabs(least), fabs(most));
    out.whole = range->whole && least == most && fabs(least) == 1;
    return out;
}

static bool of_one_sign(const xir_numbers *r) { return isfinite(r->low) && isfinite(r->high) && r->low * r->high > 0; }

/* A factor of a sum: 1, if the list has several numbers. */
static double factor(const xir_refs *list) {
    double v = list->size == 1 ? xir_scalar_as_real((const xir_scalar *)list->data[0]) : 1;
    return isfinite(v) && v != 0 ? v : 1;
}

/* alpha * lhs + beta * rhs: what a constant leaves for the other operand; each of two operands makes half of the
 * sum. */
xir_status add_takes(xir_infer *at) {
    const xir_add_attrs *a = xir_infer_attrs(at);
    const double factors[] = { factor(&a->alpha), factor(&a->beta) };
    xir_numbers sum = xir_numbers_any();
    if (!xir_takes_output(at, 0, &sum)) return XIR_OK;
    for (size_t i = 0; i < 2; i++) {
        const double f = factors[i], g = factors[1 - i];
        xir_numbers other = xir_numbers_any(), rest = sum;
        if (xir_takes_known(at, 1 - i, &other)) {
            rest.low -= fmin(other.low * g, other.high * g);
            rest.high -= fmax(other.low * g, other.high * g);
            rest.whole &= other.low == other.high && floor(other.low * g) == other.low * g;
        } else {
            rest.low /= 2;
            rest.high /= 2;
        }
        rest.gap = 0;
        const xir_numbers one = xir_numbers_between(f, f);
        rest = divided(&rest, &one);
        xir_takes(at, i, &rest);
    }
    return XIR_OK;
}

/* A factor that only a mask has: "(1 - mask) * -10000" leaves out what the mask does not mark. */
static const double mask_factor = 9999;

static void takes_mask(xir_infer *at, size_t i, const xir_numbers *factors) {
    const bool negative = factors->high < 0;
    xir_takes(at, i, &XIR_INIT(xir_numbers, .whole = true, .low = negative ? 0 : -1, .high = negative ? 1 : 0));
}

xir_status multiply_takes(xir_infer *at) {
    xir_numbers product = xir_numbers_any(), factors = xir_numbers_any();
    const bool asked = xir_takes_output(at, 0, &product);
    for (size_t i = 0; i < 2; i++) {
        if (!xir_takes_known(at, 1 - i, &factors) || !of_one_sign(&factors)) continue;
        if (asked) {
            const xir_numbers rest = divided(&product, &factors);
            xir_takes(at, i, &rest);
        } else if (fmin(fabs(factors.low), fabs(factors.high)) >= mask_factor) {
            takes_mask(at, i, &factors);
        }
    }
    return XIR_OK;
}

xir_status neg_takes(xir_infer *at) {
    xir_numbers range = xir_numbers_any();
    const xir_numbers minus = xir_numbers_between(-1, -1);
    if (!xir_takes_output(at, 0, &range)) return XIR_OK;
    range = divided(&range, &minus);
    xir_takes(at, 0, &range);
    return XIR_OK;
}

/* lhs / rhs, by a constant. */
xir_status div_takes(xir_infer *at) {
    xir_numbers quotient = xir_numbers_any(), divisors = xir_numbers_any();
    not_near_0(at, 1);
    if (!xir_takes_output(at, 0, &quotient) || !xir_takes_known(at, 1, &divisors) || !of_one_sign(&divisors))
        return XIR_OK;
    const xir_numbers factors = xir_numbers_between(1 / divisors.high, 1 / divisors.low);
    const xir_numbers rest = divided(&quotient, &factors);
    xir_takes(at, 0, &rest);
    return XIR_OK;
}
