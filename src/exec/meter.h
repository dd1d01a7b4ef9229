/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Counts the bytes of a run against a limit. The rooms of such a run ask the meter's allocator for memory; what they
 * get is in use until it is freed, also if the caller holds it after the run. So an array that the caller keeps counts,
 * and an array that several values share counts once. Several threads may ask at once. */
#ifndef EXEC_METER_H
#define EXEC_METER_H

#include <stdatomic.h>
#include "memory.h"

typedef struct meter {
    xir_allocator    alloc;      /* asks `base`                                                     */
    xir_allocator    base;
    uint64_t         limit;
    _Atomic uint64_t used;
    _Atomic uint64_t refused;    /* how much more was asked for when the limit was reached; 0: never. Its owner may
                                    set it back                                                     */
    atomic_size_t    holders;    /* its owner, and each block that exists                           */
} meter;

/* NULL without memory. meter_close gives up the owner's hold; it accepts NULL. */
meter *meter_open(const xir_allocator *base, uint64_t limit);
void   meter_close(meter *m);

#endif
