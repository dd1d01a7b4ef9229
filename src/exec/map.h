/* Functions of one number, applied to every element. */
#ifndef EXEC_MAP_H
#define EXEC_MAP_H

#include "kernels.h"

typedef double  real_map(double x, const void *attrs);
typedef int64_t i64_map(int64_t x, const void *attrs);

/* Output 0 becomes the function of input 0. Integers use `of_integer`; if it is NULL, they are computed as reals. */
xir_status map_elements(xir_kernel *at, real_map *of_real, i64_map *of_integer);

/* One line for each class: its formula in `x`, with the attributes in `a`. MAP_NUMBERS has a second formula for
 * integers. */
#define MAP_REALS(id, formula)                                                                                       \
    static double id##_real(double x, const void *attrs) {                                                           \
        const xir_##id##_attrs *a = attrs;                                                                           \
        (void)a;                                                                                                     \
        return formula;                                                                                              \
    }                                                                                                                \
    static xir_status run_##id(xir_kernel *at) { return map_elements(at, id##_real, NULL); }
#define MAP_NUMBERS(id, formula, integers)                                                                           \
    static double id##_real(double x, const void *attrs) {                                                           \
        const xir_##id##_attrs *a = attrs;                                                                           \
        (void)a;                                                                                                     \
        return formula;                                                                                              \
    }                                                                                                                \
    static int64_t id##_i64(int64_t x, const void *attrs) {                                                          \
        const xir_##id##_attrs *a = attrs;                                                                           \
        (void)a;                                                                                                     \
        return integers;                                                                                             \
    }                                                                                                                \
    static xir_status run_##id(xir_kernel *at) { return map_elements(at, id##_real, id##_i64); }

/* Wrapping integer arithmetic, as for stored integers. */
static inline int64_t wrap_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static inline int64_t wrap_sub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
static inline int64_t wrap_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

#endif
