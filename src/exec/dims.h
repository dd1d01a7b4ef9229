/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Queries of types for kernels: dims by role, and uint64, the one integer type whose values do not fit int64. */
#ifndef EXEC_DIMS_H
#define EXEC_DIMS_H

#include "kernels.h"

/* The axis with the first of these letters that the layout has, "COI"; else the last axis. 0 for rank 0. */
static inline size_t channel_axis(const xir_type *type, const char *letters) {
    size_t rank = xir_type_rank(type);
    for (; *letters; letters++) {
        int64_t k = xir_layout_index(xir_type_layout(type), *letters);
        if (k >= 0 && (size_t)k < rank) return (size_t)k;
    }
    return rank ? rank - 1 : 0;
}

/* A dim of a type of known dims; 1 if it has no such dim. */
static inline size_t dim_of(const xir_type *type, size_t k) {
    return k < xir_type_rank(type) ? (size_t)xir_type_dim(type, (int64_t)k, false) : 1;
}

/* The product of the dims after axis k. */
static inline size_t elements_after(const xir_type *type, size_t k) {
    size_t n = 1;
    for (size_t j = k + 1; j < xir_type_rank(type); j++) n *= dim_of(type, j);
    return n;
}

/* The product of dims [from, to). It may overflow for a tensor without elements, whose product is not used. */
static inline int64_t elements_between(const xir_type *type, size_t from, size_t to) {
    uint64_t n = 1;
    for (size_t j = from; j < to; j++) n *= (uint64_t)xir_type_dim(type, (int64_t)j, false);
    return (int64_t)n;
}

/* An axis that may count from the end, as one from the start. Inference has checked that it is in range. */
static inline size_t axis_of(const xir_type *type, int64_t axis) {
    return (size_t)(axis < 0 ? axis + (int64_t)xir_type_rank(type) : axis);
}

/* Returns true if integers are uint64: stored in the bits of an int64, but ordered differently. */
static inline bool is_u64(const xir_type *type) {
    const xir_integer_type *integer = xir_integer_type_of(xir_type_object(xir_type_element(type)));
    return integer && !integer->sign && integer->ibits == 64;
}

/* A mask that makes the int64 bits of a type compare in order: x ^ order_of(type). */
static inline int64_t order_of(const xir_type *type) { return is_u64(type) ? INT64_MIN : 0; }

#endif
