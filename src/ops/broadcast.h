/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Outputs of several broadcast or reduced inputs: which input gives layout and element type, and which elements are
 * valid. */
#ifndef OPS_BROADCAST_H
#define OPS_BROADCAST_H

#include "element.h"
#include "sort.h"

/* Returns true if two tensors have the same dims, layout and valid elements, so that their elements correspond in
 * memory. */
bool same_placement(const xir_type *a, const xir_type *b);

/* The first of the n inputs that has the highest rank. The result has its layout. */
size_t leading_input(xir_infer *at, size_t n);

/* The element type of an output whose elements come from input 0 or input 1, broadcast to `dims`. A quantised type is
 * kept if both describe the elements of the output alike; otherwise the result is XIR_E_UNSUPPORTED. */
xir_status either_element(xir_infer *at, const dim_list *dims, const xir_type **out);

/* Sets the result to the broadcast of the first n inputs, with this element type. The output keeps the distributions of
 * all inputs; contradictory ones are refused (XIR_E_UNSUPPORTED). */
xir_status give_joined(xir_infer *at, size_t n, const xir_type *element, const dim_list *dims);

/* The distributions of an output. */
typedef struct distr_list {
    const xir_allocator *alloc;
    const xir_object    *few[4], **data;
    size_t               size, room;
} distr_list;
void distrs_init(xir_infer *at, distr_list *list);
void distrs_free(distr_list *list);
/* Adds the distributions of input i. Dim k of the input is dim to[k] of the output, or -1 if it is summed. A
 * distribution over summed dims is dropped; one over broadcast dims is refused. Distributions over the same dims must
 * agree. */
xir_status carry_distrs(xir_infer *at, size_t i, const int64_t *to, const dim_list *dims, distr_list *list);
/* The same for an input that is broadcast from the right. */
xir_status carry_from_right(xir_infer *at, size_t i, const dim_list *dims, distr_list *list);
/* Sets the result to a tensor with these distributions. A layout that does not fit the rank becomes the default. */
xir_status give_with(xir_infer *at, const xir_type *element, const xir_layout *layout, const dim_list *dims,
                     const distr_list *list);

#endif
