/* Ops that multiply each channel by a constant and add one: BatchNorm, and Multiply, Add, Div and DivideScalar with
 * constants that lie along the channels. They are read where they lie; nothing is allocated. */
#ifndef PASSES_AFFINE_H
#define PASSES_AFFINE_H

#include <xir/ops.h>
#include "support/numbers.h"

/* One number, or one a channel, in the bytes of Params. */
typedef struct channel_numbers {
    const void *bytes;   /* NULL: none */
    element_format form;
    bool        one;
} channel_numbers;

typedef struct affine {
    channel_numbers factors, addends;
    double          factor, addend;   /* what they are multiplied by; the factor itself if there are none */
    bool            divides;          /* factors are divisors */
    bool            uniform;          /* it is no BatchNorm, and the same for all channels */
} affine;

/* The dim of a value's type that counts channels: C of the layout, the last one without a C. -1: it has no dims. */
int64_t channel_dim(const xir_type *type);

/* What the op does to `data`, its input, whose dim `dim` has `size` elements; false if it is nothing of this kind. */
bool affine_of(const xir_op *op, const xir_value *data, int64_t dim, int64_t size, affine *out);

double affine_factor(const affine *a, size_t channel);
double affine_addend(const affine *a, size_t channel);
bool   affine_adds_nothing(const affine *a, int64_t channels);
bool   affine_scales_nothing(const affine *a, int64_t channels);   /* all factors are 1 */

#endif
