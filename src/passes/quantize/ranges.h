/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The ranges of the values of a network: from calibrated types, or from a calibration by a method. */
#ifndef QUANTIZE_RANGES_H
#define QUANTIZE_RANGES_H

#include "precision.h"

/* The options of a pass that measures ranges. */
#define RANGE_OPTIONS                                                                                                 \
    { "calibration", XIR_PASS_TEXT, "",      "the file that xir calibrate wrote" },                                   \
    { "method",      XIR_PASS_TEXT, "max",   "the range of a value: max, average, percentile, mse, kld" },            \
    { "percent",     XIR_PASS_REAL, "99.99", "percentile: how many of the numbers are in the range" }

typedef struct value_range {
    double low, high;   /* with 0                                    */
    double sat;         /* of a symmetric range: [-sat, sat]         */
    size_t first, n;    /* that of each channel, in value_ranges; n: 0 if they are not known */
} value_range;

/* Zero with an allocator is empty. */
typedef struct value_ranges {
    const xir_allocator *alloc;
    pointer_table        of;       /* a value: its index in `items` */
    value_range         *items;
    size_t               n, room;
    bool                 channels;   /* are wanted                     */
    double              *sats;
    size_t               n_sats, sat_room;
} value_ranges;

/* Finds the ranges of the floating-point values that ops of the execution order make: those of calibrated types, and
 * with `calibration` those of the file, for a quantiser with `bits`. A row of `said` (NULL: there are no rows) for the
 * op that makes a value comes before the options. Values that the file lacks get a warning; a file that has none is
 * XIR_E_MISSING, and so is one that has no channels if they are wanted. Statuses of xir_calibration_load and
 * xir_calibration_range; XIR_E_UNKNOWN for another method. */
xir_status ranges_measure(xir_pass *at, uint32_t bits, const precision *said, value_ranges *r);
/* NULL: not known. */
const value_range *ranges_find(const value_ranges *r, const xir_value *value);
void ranges_free(value_ranges *r);

#endif
