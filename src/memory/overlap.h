/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The buffers that overlap while both live, by a sweep in time. It knows nothing of how plans are made. */
#ifndef MEMORY_OVERLAP_H
#define MEMORY_OVERLAP_H

#include <xir/memory.h>
#include "memory.h"

typedef struct overlaps {
    const xir_allocator *alloc;
    const xir_buffer    *buffers;
    const uint64_t      *offsets;    /* by buffer; buffers end at most at 2^64 - 1, and not before they begin  */
    const uint32_t      *numbers;    /* of the buffers to compare; NULL: the first `n`                         */
    uint32_t             n;
} overlaps;

/* Adds a finding, which begins with `what`, for each buffer that overlaps one which is in no finding and began to live
 * before it or at the same moment. XIR_E_INVALID if there are some, XIR_E_MEMORY. */
xir_status overlaps_find(const overlaps *o, const char *what, xir_diags *why);

#endif
