/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Counts of numbers in bins of equal width. There are BINS of them for numbers of each sign, over |x| < 2^exponent. A
 * number beyond doubles the range as often as needed, and pairs of bins are added then. A bin of the doubled range
 * holds exactly what two bins held, so the bins depend on the numbers alone, not on their order nor on how they are
 * split into runs. Counts have 32 bits until they may not fit. Bins of a file stay packed (packed.h) until more numbers
 * are counted, so a file takes as many bytes in memory as it has. */
#ifndef QUANT_BINS_H
#define QUANT_BINS_H

#include <xir/context.h>

enum {
    BINS = 4096,
    BINS_LEAST = -1000, BINS_MOST = 1024   /* of the exponent; all finite numbers fit */
};

/* Index k < BINS counts k * w <= x < (k + 1) * w, where w = 2^exponent / BINS; BINS + k counts the same of -x, without
 * 0. Zero is empty. */
typedef struct bins {
    int       exponent;
    uint64_t  count;
    uint32_t *narrow;               /* one of the three, unless nothing was counted */
    uint64_t *wide;
    char     *packed;               /* the text of both signs                       */
    size_t    positive, negative;   /* how long each is                             */
} bins;

/* Writes the counts, in BINS bins for each sign. */
void bins_counts(const bins *b, uint64_t counts[2 * BINS]);

void bins_free(bins *b, const xir_allocator *alloc);
/* Makes room for `more` numbers: then adding them cannot fail. False without memory. */
bool bins_reserve(bins *b, const xir_allocator *alloc, uint64_t more);
/* Counts n finite numbers; `most` is the greatest |x| among them. */
void bins_add(bins *b, const double *x, size_t n, double most);
/* Adds the counts of other bins, for which there is room. */
void bins_merge(bins *b, const bins *other);
/* Gives bins that are empty the range and the texts of a file, which have `count` numbers. False without memory. */
bool bins_keep(bins *b, const xir_allocator *alloc, int exponent, uint64_t count, xir_str positive, xir_str negative);

#endif
