/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Constants whose elements belong to channels: what their numbers are, and how they are stored. */
#ifndef QUANTIZE_CONSTANTS_H
#define QUANTIZE_CONSTANTS_H

#include <xir/array.h>
#include "quantize.h"

static inline bool is_constant(const xir_value *v) { return v && value_is_constant(v) && is_float(v); }

/* A constant whose elements belong to channels: element k to k / inner % n. */
typedef struct constant {
    xir_value *value;
    xir_array *array;
    size_t     count, n, inner;
    int64_t    axis;
    double     factor;     /* what is stored is multiplied by it */
} constant;

/* Opens the Params of an op; `axis` is the dim of the channels, -1: there is one. XIR_E_MISSING without bytes. */
xir_status constant_open(quantizing *q, const xir_op *op, xir_value *value, int64_t axis, constant *c);
void       constant_close(constant *c);
/* Writes the greatest |x| of each channel. XIR_E_INVALID for a number that is not finite. */
xir_status constant_look(quantizing *q, const xir_op *op, const constant *c, double *most);
/* New Params with the elements times the factor, divided by the scale of their channel, rounded by the scheme and
 * clamped to [-most, most]; without scales they are floats. NULL without memory. */
xir_value *constant_store(const quantizing *q, const constant *c, const xir_type *element, const double *scales,
                          double most);

/* The dim of the weights that has the output channels; -1: all have one scale. */
int64_t weights_axis(const quantizing *q, const xir_op *op, uint32_t at);
/* The dim of a bias that has the output channels; -1: none. */
int64_t bias_axis(const xir_type *bias, int64_t channels);

#endif
