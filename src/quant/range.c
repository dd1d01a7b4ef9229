/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ranges from bins. A number is taken for the middle of its bin, and zeros for 0. The bins are those of bins.h: BINS
 * for each sign, of the width w. */
#include <math.h>
#include <string.h>
#include "calibration.h"
#include "sized.h"

static const xir_str nowhere = { "", 0 };

static const char *const words[] = { "max", "average", "percentile", "mse", "kld" };   /* ORDER xir_range_method */
enum { METHODS = sizeof words / sizeof *words };

bool xir_range_method_of(xir_str word, xir_range_method *out) {
    for (int i = 0; i < METHODS; i++) {
        if (!xir_str_equal(word, xir_str_of(words[i]))) continue;
        if (out) *out = (xir_range_method)i;
        return true;
    }
    return false;
}

typedef struct range { double low, high; } range;

/* The counts that the methods evaluate. */
typedef struct view {
    const record *r;
    double        width;      /* of a bin                 */
    double        size[BINS]; /* counts of |x|            */
    uint64_t      counts[2 * BINS];
} view;

static double widest(const record *r) { return fabs(r->min) > fabs(r->max) ? fabs(r->min) : fabs(r->max); }
static range both_ways(double high) { return (range){ -high, high }; }

/* ---- percentile --------------------------------------------------------------------------------------------- */

/* The end of the first bin up to which at most `cut` numbers are left out; `all` if that is less. */
static double end_after(const view *v, const double *counts, double left, double cut, double all) {
    for (size_t k = 0; k < BINS; k++) {
        left -= counts[k];
        if (left <= cut) return fmin((double)(k + 1) * v->width, all);
    }
    return all;
}

static range percentile(const view *v, double percent, bool symmetric) {
    const double total = (double)v->r->bins.count, rest = total * (100 - percent) / 100;
    if (symmetric) return both_ways(end_after(v, v->size, total, rest, widest(v->r)));
    double side[BINS], sum = 0;
    range out;
    for (size_t k = 0; k < BINS; k++) sum += side[k] = (double)v->counts[k];
    out.high = end_after(v, side, sum, rest / 2, fmax(v->r->max, 0));
    sum = 0;
    for (size_t k = 0; k < BINS; k++) sum += side[k] = (double)v->counts[BINS + k];
    out.low = -end_after(v, side, sum, rest / 2, fmax(-v->r->min, 0));
    return out;
}

/* ---- the least squared error ---------------------------------------------------------------------------------- */

/* The sum of squared errors of numbers that are clamped to a range and rounded to multiples of `step`. */
static double error_of(const view *v, range to, double step) {
    double sum = 0;
    for (size_t i = 0; i < 2 * BINS; i++) {
        const uint64_t n = v->counts[i];
        if (!n) continue;
        const double middle = i == 0 ? 0 : ((double)(i % BINS) + 0.5) * v->width, x = i < BINS ? middle : -middle;
        const double in = fmin(fmax(x, to.low), to.high), error = x - rint(in / step) * step;
        sum += (double)n * error * error;
    }
    return sum;
}

/* Tries all ranges that are a number of 64ths of the whole one. */
static range least_error(const view *v, uint32_t bits, bool symmetric) {
    enum { STEPS = 64 };
    const range all = symmetric ? both_ways(widest(v->r)) : (range){ fmin(v->r->min, 0), fmax(v->r->max, 0) };
    const double levels = ldexp(1, (int)bits) - (symmetric ? 2 : 1);
    range best = all;
    double least = INFINITY;
    for (int k = STEPS; k >= STEPS / 8; k--) {
        const range to = { all.low * k / STEPS, all.high * k / STEPS };
        const double step = (to.high - to.low) / levels, error = step > 0 ? error_of(v, to, step) : 0;
        if (!(error < least)) continue;
        least = error;
        best = to;
    }
    return best;
}

/* ---- the least divergence -------------------------------------------------------------------------------------- */

enum { LEVELS = 128, TAIL_STEP = 128 };

/* Returns the divergence of the counts of the first n bins from the same counts in LEVELS levels. The last bin also
 * has the numbers beyond. The bins of a level that are not empty get equal counts. */
static double divergence(const double *counts, size_t n, double beyond, double total) {
    double sum = 0;
    for (size_t level = 0; level < LEVELS; level++) {
        const size_t from = level * n / LEVELS, to = (level + 1) * n / LEVELS;
        double in = 0;
        size_t used = 0;
        for (size_t k = from; k < to; k++) {
            in += counts[k];
            used += counts[k] > 0;
        }
        for (size_t k = from; k < to; k++) {
            const double p = counts[k] + (k == n - 1 ? beyond : 0);
            if (p <= 0) continue;
            const double q = used && counts[k] > 0 ? in / (double)used : 0;
            sum += p / total * log(p / total / fmax(q / (total - beyond), 1e-12));
        }
    }
    return sum;
}

static double least_divergence(const view *v) {
    const double total = (double)v->r->bins.count, all = widest(v->r);
    double least = INFINITY, best = all, beyond = total;
    size_t done = 0;
    for (size_t n = TAIL_STEP; n <= BINS; n += TAIL_STEP) {
        for (; done < n; done++) beyond -= v->size[done];
        if (total - beyond <= 0) continue;
        const double d = divergence(v->size, n, beyond, total);
        if (d < least) {
            least = d;
            best = (double)n * v->width;
        }
        if ((double)n * v->width >= all) break;
    }
    return fmin(best, all);
}

/* ---- the call --------------------------------------------------------------------------------------------------- */

static range clip_to(const record *r, double most) {
    return (range){ -fmin(most, fmax(-r->min, 0)), fmin(most, fmax(r->max, 0)) };
}

static range choose(const view *v, const xir_range_options *how) {
    const record *r = v->r;
    const double n = r->samples ? (double)r->samples : 1;
    switch (how->method) {
    case XIR_RANGE_AVERAGE:
        return how->symmetric ? both_ways(r->sums[2] / n) : (range){ r->sums[0] / n, r->sums[1] / n };
    case XIR_RANGE_PERCENTILE: return percentile(v, how->percent > 0 ? how->percent : 99.99, how->symmetric);
    case XIR_RANGE_MSE: return least_error(v, how->bits ? how->bits : 8, how->symmetric);
    case XIR_RANGE_KLD: {
        const double most = least_divergence(v);
        return how->symmetric ? both_ways(most) : clip_to(r, most);
    }
    default: return how->symmetric ? both_ways(widest(r)) : (range){ r->min, r->max };
    }
}

static xir_status check_options(const xir_range_options *how, xir_diags *why) {
    if ((unsigned)how->method >= METHODS)
        return xir_diags_add(why, XIR_ERROR, XIR_E_INVALID, nowhere, "%d does not stand for a method",
                             (int)how->method);
    if (!(how->percent >= 0 && how->percent <= 100))
        return xir_diags_add(why, XIR_ERROR, XIR_E_BOUNDS, nowhere,
                             "expected a percentage above 0, at most 100, found %g", how->percent);
    if (how->bits && (how->bits < 2 || how->bits > 16))
        return xir_diags_add(why, XIR_ERROR, XIR_E_BOUNDS, nowhere, "expected 2 to 16 bits, found %u", how->bits);
    return XIR_OK;
}

xir_status xir_calibration_range(const xir_calibration *c, size_t i, const xir_range_options *options, double *low,
                                 double *high, xir_diags *why) {
    xir_range_options how = XIR_INIT(xir_range_options);
    xir_status status = calibration_check(c, why);
    if (!status) status = sized_take(SIZED(xir_range_options, percent), &how, options, why);
    if (!status) status = check_options(&how, why);
    if (status) return status;
    if (!low || !high) return xir_diags_add(why, XIR_ERROR, XIR_E_MISSING, nowhere, "expected two numbers, found NULL");
    if (i >= c->n)
        return xir_diags_add(why, XIR_ERROR, XIR_E_BOUNDS, nowhere, "value %zu: the calibration has %zu", i, c->n);
    const record *r = &c->records[i];
    *low = *high = 0;
    if (!r->bins.count || widest(r) == 0) return XIR_OK;
    view v = { .r = r, .width = ldexp(1, r->bins.exponent) / BINS };
    bins_counts(&r->bins, v.counts);
    for (size_t k = 0; k < BINS; k++)
        v.size[k] = (double)v.counts[k] + (double)v.counts[BINS + k];
    const range found = choose(&v, &how);
    *low = fmin(found.low, 0);
    *high = fmax(found.high, 0);
    return XIR_OK;
}
