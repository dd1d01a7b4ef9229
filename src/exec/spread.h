/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Loops over the elements or rows of a tensor, by the threads of the run. Each part is computed in the same way by any
 * thread, and writes only what is its own. */
#ifndef EXEC_SPREAD_H
#define EXEC_SPREAD_H

#include "blocks.h"

/* Computes elements [from, from + n), at most BLOCK; `from` is a multiple of 64. */
typedef void block_fn(size_t from, size_t n, void *user);
/* XIR_E_CANCELLED if the run is cancelled. */
xir_status spread_blocks(xir_kernel *at, size_t count, block_fn *fn, void *user);
/* The same for elements that take `steps` each: copies of bytes take fewer than numbers. */
xir_status spread_blocks_of(xir_kernel *at, size_t count, uint64_t steps, block_fn *fn, void *user);

/* Computes rows [from, from + n) with `room`, which has space for as many numbers as was asked for. */
typedef void rows_fn(size_t from, size_t n, double *room, void *user);
/* At most `at_once` rows in one call, each of which takes so many steps. `y` is where results are written: if its
 * elements do not take whole bytes, one thread computes all rows; NULL if bytes are copied. XIR_E_CANCELLED, or
 * XIR_E_MEMORY with a finding. */
xir_status spread_rows(xir_kernel *at, size_t count, size_t at_once, size_t steps, size_t room, const writer *y,
                       rows_fn *fn, void *user);

#endif
