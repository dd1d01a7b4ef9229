/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The precision of single ops, by a CSV: the bits of their results, or that they stay in floats. */
#ifndef QUANTIZE_PRECISION_H
#define QUANTIZE_PRECISION_H

#include <xir/calibrate.h>
#include "hash.h"
#include "manager/pass.h"

/* A row for an op. */
typedef struct op_precision {
    bool             floats;
    uint32_t         bits;          /* 0: those of the pass    */
    bool             per_said, per_tensor;
    bool             method_said;
    xir_range_method method;
} op_precision;

/* Zero with an allocator has no rows. */
typedef struct precision {
    const xir_allocator *alloc;
    pointer_table        of;        /* an op: the index of its row   */
    op_precision        *rows;
    size_t               n, room;
} precision;

void precision_init(precision *p, const xir_allocator *alloc);
void precision_free(precision *p);
/* Reads the file that the option `precision` names, or with more than one line the option itself; an empty name stands
 * for no file. A row is for the ops that it
 * matches; a later one replaces an earlier one. XIR_E_SYNTAX, XIR_E_UNKNOWN for a row that matches no op, XIR_E_BOUNDS
 * for bits other than `narrow` and `wide` (0: there are none), each with the line; XIR_E_IO, XIR_E_LIMIT for a file of
 * more than 64 MiB or 1000 rows for all ops, XIR_E_MEMORY. */
xir_status precision_read(precision *p, xir_pass *at, uint32_t narrow, uint32_t wide);
/* The row of an op; NULL: it has none. */
const op_precision *precision_of(const precision *p, const xir_op *op);

#endif
