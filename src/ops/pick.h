/* What ops that pick elements by indices share. */
#ifndef OPS_PICK_H
#define OPS_PICK_H

#include "constant.h"
#include "element.h"

/* The axis that an attribute names, from the start. Fails unless input 0 has dims and it is one of them. */
xir_status picked_axis(xir_infer *at, int64_t axis, size_t *out);

/* The distributions of an input after its dims have moved: `to` as in moved_element. One over dims that all stay follows them;
 * one that says that all elements are valid goes; so does one over dim `cut` alone (none if negative), of which valid elements
 * only are taken; others are refused (XIR_E_UNSUPPORTED). `room` has space for as many as the input has. */
xir_status picked_distrs(xir_infer *at, size_t i, const int64_t *to, int64_t cut, const xir_object **room, xir_refs *out);

/* Gives the elements of input 0 that were moved: its element type and distributions follow `to`; its layout if the rank is the
 * same, otherwise the default. */
xir_status give_picked(xir_infer *at, const int64_t *to, int64_t cut, const dim_list *dims);

/* No constant index of the input is outside a dim; indices may be counted from the end. An unknown dim has room for all. */
xir_status indices_in_dim(xir_infer *at, size_t i, int64_t dim);

/* Which elements of indices are invalid would have to be said of the result: refused, unless all are valid. */
xir_status need_whole(xir_infer *at, size_t i);

#endif
