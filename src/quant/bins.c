/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Bins that grow: see bins.h. The position of a number is floor(|x| * BINS / 2^exponent). The factor is a power of two,
 * so the product is exact, and halving a position gives the position in the doubled range. */
#include "bins.h"
#include <math.h>
#include <string.h>
#include "packed.h"

void bins_free(bins *b, const xir_allocator *alloc) {
    if (b->packed) alloc->resize(alloc->user, b->packed, b->positive + b->negative + 1, 0);
    if (b->narrow) alloc->resize(alloc->user, b->narrow, 2 * BINS * sizeof *b->narrow, 0);
    if (b->wide) alloc->resize(alloc->user, b->wide, 2 * BINS * sizeof *b->wide, 0);
    *b = (bins){ 0 };
}

static uint64_t bins_at(const bins *b, size_t i) { return b->wide ? b->wide[i] : b->narrow ? b->narrow[i] : 0; }

void bins_counts(const bins *b, uint64_t counts[2 * BINS]) {
    if (b->packed) {
        uint64_t total;   /* the texts were checked when they were kept */
        (void)packed_read((xir_str){ b->packed, b->positive }, counts, BINS, &total);
        (void)packed_read((xir_str){ b->packed + b->positive, b->negative }, counts + BINS, BINS, &total);
        return;
    }
    for (size_t i = 0; i < 2 * BINS; i++) counts[i] = bins_at(b, i);
}

bool bins_keep(bins *b, const xir_allocator *alloc, int exponent, uint64_t count, xir_str positive, xir_str negative) {
    char *packed = alloc->resize(alloc->user, NULL, 0, positive.size + negative.size + 1);
    if (!packed) return false;
    if (positive.size) memcpy(packed, positive.data, positive.size);
    if (negative.size) memcpy(packed + positive.size, negative.data, negative.size);
    *b = (bins){ .exponent = exponent, .count = count, .packed = packed, .positive = positive.size,
                 .negative = negative.size };
    return true;
}

bool bins_reserve(bins *b, const xir_allocator *alloc, uint64_t more) {
    const bool fits = more <= UINT32_MAX && b->count <= UINT32_MAX - more;
    if (b->wide || (b->narrow && fits)) return true;
    uint64_t counts[2 * BINS];
    const size_t size = 2 * BINS * (fits ? sizeof *b->narrow : sizeof *b->wide);
    void *room = alloc->resize(alloc->user, NULL, 0, size);
    if (!room) return false;
    bins_counts(b, counts);
    bins now = { .exponent = b->count ? b->exponent : BINS_LEAST, .count = b->count, .narrow = fits ? room : NULL,
                 .wide = fits ? NULL : room };
    for (size_t i = 0; i < 2 * BINS; i++) {
        if (fits) now.narrow[i] = (uint32_t)counts[i];
        else now.wide[i] = counts[i];
    }
    bins_free(b, alloc);
    *b = now;
    return true;
}

/* Doubles the range `times` times. Bins move towards 0, so they are added from there on. */
#define FOLD(counts)                                                         \
    for (size_t half = 0; half < 2 * BINS; half += BINS)                     \
        for (size_t i = 1; i < BINS; i++) {                                  \
            const size_t to = times < 12 ? i >> times : 0;                   \
            const uint64_t was = (counts)[half + i];                         \
            (counts)[half + i] = 0;                                          \
            (counts)[half + to] += (__typeof__(*(counts)))was;               \
        }

static void widen_to(bins *b, int exponent) {
    const int times = exponent - b->exponent;
    if (times <= 0) return;
    if (b->wide) { FOLD(b->wide) }
    else { FOLD(b->narrow) }
    b->exponent = exponent;
}

/* The least exponent whose range has the number. */
static int exponent_of(double size) {
    int e = BINS_LEAST;
    if (size > 0) (void)frexp(size, &e);
    return e > BINS_LEAST ? e : BINS_LEAST;
}

#define COUNT(counts)                                                        \
    for (size_t i = 0; i < n; i++) {                                         \
        const size_t at = (size_t)(int32_t)(fabs(x[i]) * factor);            \
        (counts)[at + (x[i] < 0 ? BINS : 0)]++;                              \
    }

void bins_add(bins *b, const double *x, size_t n, double most) {
    widen_to(b, exponent_of(most));
    const double factor = ldexp(BINS, -b->exponent);
    if (b->wide) { COUNT(b->wide) }
    else { COUNT(b->narrow) }
    b->count += n;
}

void bins_merge(bins *b, const bins *other) {
    if (!other->count) return;
    uint64_t counts[2 * BINS];
    bins_counts(other, counts);
    widen_to(b, other->exponent);
    const int times = b->exponent - other->exponent;
    for (size_t i = 0; i < 2 * BINS; i++) {
        const uint64_t n = counts[i];
        const size_t half = i & BINS, to = half + (times < 12 ? (i - half) >> times : 0);
        if (b->wide) b->wide[to] += n;
        else b->narrow[to] += (uint32_t)n;
    }
    b->count += other->count;
}
