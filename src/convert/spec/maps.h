/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Feature maps in the order of axes of a format, and back in that of the node's op. */
#ifndef CONVERT_MAPS_H
#define CONVERT_MAPS_H

#include "node/helpers.h"

/* The order with channels second: "NCW", "NCHW", "NCDHW"; empty for other ranks. */
xir_str    map_order(size_t rank);
/* The axis of the channels, the letter C of its layout; without the letter the last axis. */
size_t     map_channels(const xir_value *x);
/* Input 0 in this order, which becomes at->order. NULL after a failure. */
xir_value *map_input(xir_node *at);
/* v, whose axes are in at->order (empty: any), with its axes as output i of the op has them. NULL after a failure. */
xir_value *map_as_output(xir_node *at, size_t i, xir_value *v);
/* Gives the node v, whose axes are in at->order, as output 0. */
bool       map_give(xir_node *at, xir_value *v);
/* The dims of output 0 in at->order; -1 is unknown. */
bool       map_result_dims(xir_node *at, xir_ints *out);

#endif
