/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Counts the ranges of channels: see channels.c. */
#ifndef QUANT_CHANNELS_H
#define QUANT_CHANNELS_H

#include <math.h>
#include "calibration.h"

/* Begins a sample with n channels; 0: it has none. False without memory. */
bool channels_open(record *r, const xir_allocator *alloc, size_t n);
/* Counts the elements [from, from + n) of the sample. */
void channels_add(record *r, const double *x, size_t from, size_t n);
/* Adds those of another record, before its bins are added. False without memory. */
bool channels_merge(record *to, const record *from, const xir_allocator *alloc);

#endif
