/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops that multiply each channel by a constant and add another: BatchNorm, and Multiply, Add, Div and DivideScalar with
 * constants along the channels. The constants are read in place; nothing is allocated. */
#ifndef PASSES_AFFINE_H
#define PASSES_AFFINE_H

#include <xir/ops.h>
#include "support/numbers.h"

/* One number, or one per channel, in the bytes of Params. */
typedef struct channel_numbers {
    const void *bytes;   /* NULL: no numbers */
    element_format form;
    bool        one;
} channel_numbers;

typedef struct affine {
    channel_numbers factors, addends;
    double          factor, addend;   /* multiply the numbers; without numbers they are the values */
    bool            divides;          /* the factors are divisors */
    bool            uniform;          /* not a BatchNorm, and the same for all channels */
} affine;

/* The dim of a value's type that counts channels: the layout's C, or the last dim without one. -1 if there are no
 * dims. */
int64_t channel_dim(const xir_type *type);

/* Reads what the op does to its input `data`, whose dim `dim` has `size` elements; false if it is not such an op. */
bool affine_of(const xir_op *op, const xir_value *data, int64_t dim, int64_t size, affine *out);

double affine_factor(const affine *a, size_t channel);
double affine_addend(const affine *a, size_t channel);
bool   affine_adds_nothing(const affine *a, int64_t channels);

#endif
