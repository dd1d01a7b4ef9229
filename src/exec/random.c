/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Arrays of random numbers: the same on every machine for the same seed, within the range that a network's input
 * takes. */
#include <math.h>
#include <string.h>
#include <xir/exec.h>
#include "elements.h"
#include "graph.h"
#include "sized.h"

/* SplitMix64: a counter whose states are mixed to 64 pseudo-random bits. */
static uint64_t next_bits(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* From 0 to 1, without 1. */
static double next_uniform(uint64_t *state) { return (double)(next_bits(state) >> 11) * 0x1p-53; }

/* The sum of twelve uniform numbers has variance 1. That is normal enough, and unlike a logarithm it is the same on
 * every machine. */
static double next_normal(uint64_t *state) {
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += next_uniform(state);
    return sum;
}

/* ---- reals ------------------------------------------------------------------------------------------------------ */

/* A number between -gap and gap, mirrored at the nearer of the two, or at the one that the bounds allow. */
static double leave_gap(double v, const xir_numbers *r) {
    if (!(fabs(v) < r->gap)) return v;
    bool up = r->low > -r->gap || (v >= 0 && r->high >= r->gap);
    return up ? 2 * r->gap - fabs(v) : fabs(v) - 2 * r->gap;
}

static double clamp(double v, double low, double high) { return v < low ? low : v > high ? high : v; }

static double next_real(uint64_t *state, const xir_numbers *r) {
    double low = r->whole ? ceil(r->low) : r->low, high = r->whole ? floor(r->high) : r->high, v;
    bool between = low > -INFINITY && high < INFINITY;
    if (between && r->whole) v = low + floor(next_uniform(state) * (high - low + 1));
    else if (between) v = low + next_uniform(state) * (high - low);
    else v = next_normal(state);
    if (v < low) v = 2 * low - v;
    if (v > high) v = 2 * high - v;
    v = leave_gap(v, r);
    if (r->whole && !between) v = low > -INFINITY ? ceil(v) : floor(v);
    return clamp(v, low, high);
}

/* ---- integers --------------------------------------------------------------------------------------------------- */

/* The integers from which to draw: [least, least + n). */
typedef struct choice { int64_t least; uint64_t n; } choice;

enum { USUAL = 10 };   /* without bounds, integers are 0 to 9 */

/* The bounds as integers. 2^53 is beyond all tables. */
static int64_t whole_of(double v) { return (int64_t)clamp(v, -0x1p53, 0x1p53); }

static choice choose(const xir_numbers *r, element_format f) {
    if (numbers_are_any(r)) return (choice){ 0, USUAL };
    bool is_signed = f.kind == ELEMENT_SIGNED;
    int bits = f.bits - is_signed < 53 ? f.bits - is_signed : 53;
    int64_t most = (INT64_C(1) << bits) - 1, least = is_signed ? -most - 1 : 0;
    bool below = r->low > -INFINITY, above = r->high < INFINITY;
    int64_t low = below ? whole_of(ceil(r->low)) : above ? whole_of(floor(r->high)) - USUAL + 1 : 0;
    int64_t high = above ? whole_of(floor(r->high)) : low + USUAL - 1;
    if (!below && high >= 0) low = 0;
    if (!above && low <= 0) high = USUAL - 1;
    if (r->gap > 0 && low > -r->gap && low < r->gap) low = whole_of(ceil(r->gap));
    if (r->gap > 0 && high > -r->gap && high < r->gap) high = whole_of(floor(-r->gap));
    low = low < least ? least : low;
    high = high > most ? most : high;
    return low <= high ? (choice){ low, (uint64_t)(high - low) + 1 } : (choice){ 0, USUAL };   /* of another type */
}

static int64_t next_integer(uint64_t *state, const choice *c, double gap) {
    int64_t v = c->least + (int64_t)(next_bits(state) % c->n);
    if (gap > 0 && fabs((double)v) < gap) v = (int64_t)ceil(gap);   /* a gap inside of the bounds */
    return v;
}

/* ---- arrays ----------------------------------------------------------------------------------------------------- */

xir_array *xir_array_random(xir_context *ctx, const xir_type *type, uint64_t seed, xir_diags *why) {
    return xir_array_random_in(ctx, type, seed, NULL, why);
}

xir_array *xir_array_random_in(xir_context *ctx, const xir_type *type, uint64_t seed, const xir_numbers *range,
                               xir_diags *why) {
    xir_numbers within = xir_numbers_any();
    tensor_elements e;
    if (range && sized_take(NUMBERS_STRUCT, &within, range, why) != XIR_OK) return NULL;
    xir_array *array = xir_array_new(ctx, type, why);
    if (!array) return NULL;
    if (elements_open(&e, &ctx->alloc, xir_array_type(array), why)) {
        xir_array_free(array);
        return NULL;
    }
    if (within.whole && e.format.kind == ELEMENT_FLOAT) {   /* the integers that it stores exactly */
        const double most = ldexp(1, e.format.mantissa + 1);
        (void)numbers_narrow(&within, &(xir_numbers){ .low = -most, .high = most });
    }
    uint8_t *bytes = xir_array_edit(array);
    const choice from = e.format.kind == ELEMENT_BOOL ? (choice){ 0, 2 } : choose(&within, e.format);
    for (size_t i = 0; i < xir_array_count(array); i++) {
        if (elements_are_real(&e)) {
            elements_write_reals(&e, bytes, i, 1, &(double){ next_real(&seed, &within) });
        } else {
            elements_write_i64s(&e, bytes, i, 1, &(int64_t){ next_integer(&seed, &from, within.gap) });
        }
    }
    elements_close(&e);
    return array;
}
