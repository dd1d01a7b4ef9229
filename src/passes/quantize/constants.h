/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Constants whose elements belong to channels: what their numbers are, and how they are stored. */
#ifndef QUANTIZE_CONSTANTS_H
#define QUANTIZE_CONSTANTS_H

#include <xir/array.h>
#include "quantize.h"

static inline bool is_constant(const xir_value *v) { return v && value_is_constant(v) && is_float(v); }

/* The channel of a map that element k of a constant belongs to: k / inner % n, and of a convolution in groups in
 * addition k / outer % n_outer / each * step. */
typedef struct channel_rule { size_t inner, n, outer, n_outer, each, step; } channel_rule;

/* The ratios of the map that an op reads, or gives. NULL: 1. */
typedef struct constant_ratios { double *of; size_t n; channel_rule rule; } constant_ratios;

/* A constant whose elements have scales by channels: element k that of k / inner % n. What is stored is multiplied by
 * the ratios of `read`, and divided by those of `given`. */
typedef struct constant {
    xir_value      *value;
    xir_array      *array;
    size_t          count, n, inner;
    int64_t         axis;
    constant_ratios read, given;
} constant;

/* Opens the Params of an op; `axis` is the dim of the channels, -1: there is one. XIR_E_MISSING without bytes. */
xir_status constant_open(quantizing *q, const xir_op *op, xir_value *value, int64_t axis, constant *c);
/* Frees all of it. */
void       constant_close(const quantizing *q, constant *c);
/* Writes the greatest |x| of each channel, with the ratios. XIR_E_INVALID for a number that is not finite. */
xir_status constant_look(quantizing *q, const xir_op *op, const constant *c, double *most);
/* Writes the factor of each channel: that of the ratios. False if the elements of a channel have different ones. */
bool constant_factors(const constant *c, double *out);
/* New Params with the elements by the ratios, divided by the scale of their channel, rounded by the scheme and clamped
 * to [-most, most]; without scales they are floats. NULL without memory. */
xir_value *constant_store(const quantizing *q, const constant *c, const xir_type *element, const double *scales,
                          double most);

/* The dim of the weights that has the output channels; -1: all have one scale. */
int64_t weights_axis(const quantizing *q, const xir_op *op, uint32_t at);
/* The dim of a bias that has the output channels; -1: none. */
int64_t bias_axis(const xir_type *bias, int64_t channels);

#endif
