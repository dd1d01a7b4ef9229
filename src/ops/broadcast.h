/* Outputs that several inputs are broadcast to, or summed to: where layout and element type come from, and which
 * elements are valid. */
#ifndef OPS_BROADCAST_H
#define OPS_BROADCAST_H

#include "element.h"
#include "sort.h"

/* Whether two tensors have the same dims, layout and valid elements, so that what lies where is the same. */
bool lie_alike(const xir_type *a, const xir_type *b);

/* Which of the first n inputs, those of the highest rank, comes first: the result has its layout. */
size_t leading_input(xir_infer *at, size_t n);

/* The element type of results that are elements of the first or of the second input, broadcast to `dims`. Quantised
 * ones stay if both say the same of the output's elements; otherwise XIR_E_UNSUPPORTED. */
xir_status either_element(xir_infer *at, const dim_list *dims, const xir_type **out);

/* Gives what the first n inputs are broadcast to, with this element type. What each says of valid elements is true
 * of the output; what does not fit together is refused (XIR_E_UNSUPPORTED). */
xir_status give_joined(xir_infer *at, size_t n, const xir_type *element, const dim_list *dims);

/* Distributions for an output. */
typedef struct distr_list {
    const xir_allocator *alloc;
    const xir_object    *few[4], **data;
    size_t               size, room;
} distr_list;
void distrs_init(xir_infer *at, distr_list *list);
void distrs_free(distr_list *list);
/* Adds the distributions of input i: its dim k is dim to[k] of the output, or -1 if it is summed. Of summed dims
 * nothing is left to say; of dims that were broadcast nothing may have been said. Those that speak of the same dims
 * must agree. */
xir_status carry_distrs(xir_infer *at, size_t i, const int64_t *to, const dim_list *dims, distr_list *list);
/* The same for an input that is broadcast from the right. */
xir_status carry_from_right(xir_infer *at, size_t i, const dim_list *dims, distr_list *list);
/* Gives a tensor with these distributions; a layout that does not fit the rank becomes the default. */
xir_status give_with(xir_infer *at, const xir_type *element, const xir_layout *layout, const dim_list *dims,
                     const distr_list *list);

#endif
