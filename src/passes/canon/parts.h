/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the rules about parts of a dim. */
#ifndef PASSES_CANON_PARTS_H
#define PASSES_CANON_PARTS_H

#include "canon/canon.h"

enum { PART_DIMS = 16 };   /* the most dims of a tensor that is cut */

static inline xir_i64s parts_dims(const xir_value *v) { return xir_type_as_tensor(v->type)->shape; }

/* The position that a bound of a Slice, forward through n elements, means. */
static inline int64_t part_bound(int64_t at, int64_t n) {
    if (at < 0) at = at < -n ? 0 : at + n;
    return at > n ? n : at;
}

/* Returns true if the lists have a number for each dim, and these are few. */
static inline bool part_has_rank(const xir_slice_attrs *a, size_t rank) {
    return rank <= PART_DIMS && a->begin.size == rank && a->end.size == rank && a->stride.size == rank;
}

/* Row 0 may be the dims of a shape: inference follows the numbers of lists of integers through Slices and Gathers. */
bool parts_of_shape(const xir_match *m);
/* Checks the root and row 0 as canon_check does, but for their dims, which differ. */
bool parts_are_plain(const xir_match *m);

#endif
