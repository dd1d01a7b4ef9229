/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared rules of ops that pick elements by index. An index may address any element, including padding, so padding
 * along the indexed dims cannot be carried over to the output. */
#ifndef OPS_PICK_H
#define OPS_PICK_H

#include "constant.h"
#include "element.h"

/* Normalises an axis attribute to count from the start. Fails if input 0 has no such dim. */
xir_status picked_axis(xir_infer *at, int64_t axis, size_t *out);

/* Checks that all elements of an input are valid: XIR_E_UNSUPPORTED if a distribution marks some as padding. */
xir_status need_whole(xir_infer *at, size_t i);

/* Checks that no constant index of the input is outside a dim; negative ones count from the end. An unknown dim accepts
 * all. */
xir_status indices_in_dim(xir_infer *at, size_t i, int64_t dim);

/* Sets the result to elements of input 0 in other places, with `to` as in moved_element. The layout is kept if the rank
 * is. Distributions over kept dims carry over. One over `dim` alone (negative: no such dim) is dropped, because only
 * valid elements are taken. Others are refused. */
xir_status give_picked(xir_infer *at, const int64_t *to, int64_t dim, const dim_list *dims);

#endif
