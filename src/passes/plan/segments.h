/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The segments of a planned memory, one after the other: Params, inputs, outputs, maps. Only maps share bytes. A chunk
 * has maps alone. */
#ifndef PASSES_SEGMENTS_H
#define PASSES_SEGMENTS_H

#include <xir/memory.h>
#include "support/upkeep.h"

typedef struct plan_options {
    bool       etm;                   /* segments of external memory; otherwise a chunk    */
    bool       in_place, reuse, parts;
    bool       keep;                  /* existing addresses                                */
    bool       apart;                 /* a chunk for each set of values that share bytes   */
    xir_str    doubled;               /* etm: names of inputs that have a second copy      */
    uint64_t   onchip;                /* etm: the bytes on the chip; 0: they are not used  */
    uint64_t   align, params_align, base, limit;
    int64_t    upper;
    xir_effort effort;
} plan_options;

/* Gives a value a memory type of the kind, and counts it if it had another one; `chunk` is the number of a chunk. */
xir_status plan_place(xir_pass *at, xir_value *v, xir_mtype_kind kind, uint64_t chunk, uint64_t address);

/* Notes the second address of an input in a tag, or removes the tag if there is none. */
xir_status plan_double(xir_pass *at, xir_value *v, const uint64_t *address);

xir_status segments_plan(xir_pass *at, const plan_options *how);

#endif
