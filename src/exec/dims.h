/* What kernels ask of types: dims by their meaning, and the one integer type whose numbers are not those of an
 * int64. */
#ifndef EXEC_DIMS_H
#define EXEC_DIMS_H

#include "kernels.h"

/* The dim of the first of these letters that a layout has, "COI"; else the last one. 0 of rank 0. */
static inline size_t channel_axis(const xir_type *type, const char *letters) {
    size_t rank = xir_type_rank(type);
    for (; *letters; letters++) {
        int64_t k = xir_layout_index(xir_type_layout(type), *letters);
        if (k >= 0 && (size_t)k < rank) return (size_t)k;
    }
    return rank ? rank - 1 : 0;
}

/* A dim of a type of known dims; 1 of those that it does not have. */
static inline size_t dim_of(const xir_type *type, size_t k) {
    return k < xir_type_rank(type) ? (size_t)xir_type_dim(type, (int64_t)k, false) : 1;
}

/* The product of the dims behind axis k. */
static inline size_t elements_behind(const xir_type *type, size_t k) {
    size_t n = 1;
    for (size_t j = k + 1; j < xir_type_rank(type); j++) n *= dim_of(type, j);
    return n;
}

/* The product of dims [from, to). It wraps where the tensor has no elements and dims that are too large: then nobody
 * needs it. */
static inline int64_t elements_between(const xir_type *type, size_t from, size_t to) {
    uint64_t n = 1;
    for (size_t j = from; j < to; j++) n *= (uint64_t)xir_type_dim(type, (int64_t)j, false);
    return (int64_t)n;
}

/* An axis that may be counted from the end; below the rank, as inference has seen to. */
static inline size_t axis_of(const xir_type *type, int64_t axis) {
    return (size_t)(axis < 0 ? axis + (int64_t)xir_type_rank(type) : axis);
}

/* Whether integers are uint64: in the bits of an int64, but in another order. */
static inline bool is_u64(const xir_type *type) {
    const xir_integer_type *integer = xir_integer_type_of(xir_type_object(xir_type_element(type)));
    return integer && !integer->sign && integer->ibits == 64;
}

/* What makes the integers of a type, read as int64, come in their order: x ^ order_of(type). */
static inline int64_t order_of(const xir_type *type) { return is_u64(type) ? INT64_MIN : 0; }

#endif
