/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Groups of elements as rows of doubles: a function sees some groups at once, each as `size` consecutive numbers, and
 * changes them in place; they are read before and stored after. Groups whose elements are apart are put together from
 * neighbouring groups, so memory is read in order. */
#ifndef EXEC_LINES_H
#define EXEC_LINES_H

#include "groups.h"
#include "spread.h"

enum { MOST_LINES = 64 };   /* in one call */

typedef struct lines lines;
/* Computes `n` groups from group `first` on, at most MOST_LINES. */
typedef void lines_fn(const lines *l, double *rows, size_t first, size_t n, void *user);

struct lines {
    groups    g;
    reader    x;
    writer    y;
    lines_fn *fn;
    void     *user;
    size_t    steps;    /* what an element takes, in sums; opened as 1 */
};

/* Opens input 0 and output 0 for groups along these axes of the input; all for none. */
xir_status lines_open(lines *l, xir_kernel *at, const int64_t *axes, size_t n);
/* The same for groups that the caller has set. */
xir_status lines_open_groups(lines *l, xir_kernel *at);
/* Computes all groups. */
xir_status lines_each(lines *l, xir_kernel *at, lines_fn *fn, void *user);

#endif
