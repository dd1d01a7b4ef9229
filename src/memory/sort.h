/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Sorting numbers by a key. */
#ifndef MEMORY_SORT_H
#define MEMORY_SORT_H

#include <stddef.h>
#include <stdint.h>

typedef struct keyed { uint64_t key; uint32_t number; } keyed;

/* Sorts by key, in time linear in `n`. Equal keys keep their order. `spare` has room for `n` items. */
void sort_keyed(keyed *items, keyed *spare, size_t n);

#endif
