/* What ops that pick elements by indices share. An index may be that of any element, of padding too: what is padding
 * along the dims that are picked from cannot be said of what was picked. */
#ifndef OPS_PICK_H
#define OPS_PICK_H

#include "constant.h"
#include "element.h"

/* The axis that an attribute names, from the start. Fails unless input 0 has dims and it is one of them. */
xir_status picked_axis(xir_infer *at, int64_t axis, size_t *out);

/* All elements of an input count: XIR_E_UNSUPPORTED if a distribution says that some are padding. */
xir_status need_whole(xir_infer *at, size_t i);

/* No constant index of the input is outside a dim; indices may be counted from the end. An unknown dim has room for
 * all. */
xir_status indices_in_dim(xir_infer *at, size_t i, int64_t dim);

/* Gives elements of input 0 in other places, `to` as in moved_element. Its layout stays if the rank does. Padding
 * over dims that stay stays, over others it is refused, unless it is over dim `cut` alone (none if negative), where
 * only what counts is taken. */
xir_status give_picked(xir_infer *at, const int64_t *to, int64_t cut, const dim_list *dims);

#endif
