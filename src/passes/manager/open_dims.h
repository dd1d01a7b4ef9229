/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Numbers for the open dims of a network that is proven: random inputs must agree on the symbols of their dims. */
#ifndef MANAGER_OPEN_DIMS_H
#define MANAGER_OPEN_DIMS_H

#include <xir/exec.h>
#include <xir/symbols.h>
#include "memory.h"

/* The numbers of an attempt: different ones from 2 on; all 8, then all 32, because an image that is halved often needs
 * a power of two; all 1. A symbol that cannot have the number gets the nearest one of its interval. Where a dim of a
 * value would be below 1, numbers are doubled, or halved, until it is not. */
enum { OPEN_DIMS_ATTEMPTS = 4 };

/* The numbers that were taken for symbols about which the given arrays say nothing. */
typedef struct open_dims {
    xir_symbol *list;
    size_t      n;
    bool        sought;   /* some are others than the attempt begins with */
} open_dims;

/* Makes a copy of the network whose symbols have numbers. `given` has the array of each input, NULL for those that are
 * to be made: a symbol that is a dim of a given array has its number (of its first dim 1 if `each` is set). NULL in
 * `*out` if the network has no symbols. `taken`, in the arena, lists the numbers of the others. XIR_E_MEMORY, or what
 * xir_network_bind finds. */
xir_status open_dims_bind(const xir_network *net, const xir_array *const *given, bool each, unsigned attempt,
                          arena *room, open_dims *taken, xir_network **out, xir_diags *why);

/* Returns true if arrays that fitted the inputs of `was` fit those of `net`: false if a dim that was open has got
 * another number or an interval without it. Inputs whose array is given, and those with another layout, count as
 * fitting. */
bool open_dims_fit(const xir_network *was, const xir_network *net, const xir_array *const *given,
                   const xir_array *const *arrays);

#endif
