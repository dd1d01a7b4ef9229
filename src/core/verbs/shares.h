/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The bytes that values share by the SHARES rows of their classes: for liveness, for the checker of addresses, and for
 * runs in the memory of a plan. */
#ifndef CORE_SHARES_H
#define CORE_SHARES_H

#include <xir/op.h>

/* Returns true if the SHARES row of an op's class names an input. */
bool shares_names_input(const xir_op *op, size_t input);

/* Returns true if the first output of an op has the elements of an input, in the same places and of the same type. */
bool shares_is_view(const xir_op *op, size_t input);

/* Returns true if elements of both types are in the same places, if they are in the same order. */
bool shares_same_places(const xir_type *a, const xir_type *b);

/* ---- parts ------------------------------------------------------------------------------------------------------- */

/* A walk over the parts of an op that joins or divides. */
typedef struct shares_parts {
    const xir_op    *op;
    const xir_value *whole;
    bool             joins;    /* inputs are parts of the output; otherwise outputs of an input */
    uint32_t         i, n;
    uint64_t         at;       /* where the next part begins                                    */
} shares_parts;

/* Begins a walk. False if the op neither joins nor divides, or if a part is not one run of bytes in the whole. */
bool shares_begin_parts(const xir_op *op, shares_parts *out);
/* The next part, and at which byte of the whole it begins. False if there is none. */
bool shares_next_part(shares_parts *p, const xir_value **part, uint64_t *offset, uint64_t *bytes);

#endif
