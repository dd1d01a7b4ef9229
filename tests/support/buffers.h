/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Buffers and plans for tests: text to buffers, random ones, and a check of offsets that compares each two. */
#ifndef SUPPORT_BUFFERS_H
#define SUPPORT_BUFFERS_H

#include "support/net.h"

enum { BUFFERS_ROOM = 512 };
typedef struct buffers {
    xir_buffer of[BUFFERS_ROOM];
    size_t     n;
} buffers;

/* "0-2:16 1-1:8/64 3-5:4@32 2-4:8#1": lives, bytes, alignments, fixed offsets and groups. */
buffers buffers_of(const char *text);

/* Random buffers: `n` that live somewhere in so many moments. */
typedef struct buffers_how {
    size_t   n;
    uint64_t moments, longest, largest;
    bool     aligned, fixed, grouped;    /* some of them are; fixed ones do not collide                           */
} buffers_how;
buffers buffers_random(const buffers_how *how);
void    buffers_shuffle(buffers *b);

/* Plans in the group's context. The plan must pass the checker and offsets_are_right, and need no less than its bound.
 * Free it. */
xir_memory_plan *plan_buffers(const buffers *b, const xir_memory_options *how);
xir_memory_peak  plan_peak(const xir_memory_plan *plan);
/* The peak of a plan of an effort. */
uint64_t         peak_with(const buffers *b, xir_effort effort);

/* Compares each two buffers. Sizes are not rounded. */
bool offsets_are_right(const buffers *b, const uint64_t *offsets, uint64_t limit);

#endif
