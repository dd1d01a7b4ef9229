/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The segment of each value, and the values that share its bytes there.
 *
 * Sets of values that share bytes (liveness.h) are cut where a value of another segment begins: what the host writes
 * and what it reads have bytes of their own. Maps may be written over maps, and an output over maps that are dead. */
#ifndef PASSES_PLAN_PARTS_H
#define PASSES_PLAN_PARTS_H

#include "hash.h"
#include "segments.h"

typedef enum segment { SEGMENT_PARAMS, SEGMENT_INPUT, SEGMENT_OUTPUT, SEGMENT_MAPS, SEGMENTS } segment;

/* Values in the same bytes. */
typedef struct part {
    const xir_value *first;
    uint64_t         bytes, address;
    segment          its;
    bool             onchip;            /* the address is one of the chip's                 */
    bool             twice;             /* there is a second copy, at `second`              */
    uint64_t         second;
} part;

typedef struct parts {
    const xir_network   *net;
    const xir_memory_buffers *sets;     /* of all values that are planned                   */
    bool                 etm;
    bool                 accelerated;   /* some ops run on an accelerator                   */
    part                *all;
    size_t               n, room;
    pointer_table        numbers;       /* from a value to its part                         */
} parts;

bool parts_is_accelerated(const xir_op *op);
/* Returns true if the values of an op are planned: those of the accelerator, or all of a network without one. */
bool parts_plans(const parts *p, const xir_op *op);
/* Returns true if a planned op makes or reads a value. */
bool parts_takes(const parts *p, const xir_value *v);

/* Returns true if a value may share bytes with others than its views: it is planned, and the host neither makes nor
 * reads it. */
bool parts_is_map(const parts *p, const xir_value *v);

/* Makes the parts of p->sets; `views` are the lives without outputs over inputs. False without memory. */
bool parts_make(parts *p, const xir_liveness *views);
/* The part of a value; NULL if it has none. */
part *parts_find(const parts *p, const xir_value *v);
void  parts_close(parts *p);

#endif
