/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Addresses in the bodies of calls, when all other values have theirs. */
#ifndef PASSES_PLAN_BODIES_H
#define PASSES_PLAN_BODIES_H

#include "parts.h"

typedef struct bodies {
    xir_pass                 *at;
    const plan_options       *how;
    const parts              *parts;
    const xir_memory_buffers *maps;      /* NULL: maps share no bytes     */
    const uint64_t           *maps_at;   /* the address of each           */
} bodies;

/* A port of a body is where the value outside is that it stands for; what the body makes is in the buffer of the call
 * or, where maps share no bytes, on the host. */
xir_status bodies_set(const bodies *b);

#endif
