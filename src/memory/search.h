/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A search that decides if the items of a space fit into a number of bytes. */
#ifndef MEMORY_SEARCH_H
#define MEMORY_SEARCH_H

#include "space.h"

typedef enum found {
    FOUND,        /* a plan                                                      */
    FOUND_NONE,   /* there is no plan                                            */
    FOUND_OUT,    /* the steps, or the room for what they note, were used up     */
    FOUND_MEMORY  /* memory ran out                                              */
} found;

/* Searches for a plan that needs at most `capacity` bytes, in about `steps` steps, and subtracts those taken from it.
 * `offsets` are those of the items. */
found search_space(const space *s, uint64_t capacity, uint64_t *steps, uint64_t *offsets);

#endif
