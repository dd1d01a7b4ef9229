/* Functions of one number, applied to every element. */
#ifndef EXEC_MAP_H
#define EXEC_MAP_H

#include "kernels.h"

typedef double  real_map(double x, const void *attrs);
typedef int64_t i64_map(int64_t x, const void *attrs);

/* Output 0 is the function of input 0. Integers take `of_integer`, NULL: they are computed as reals. */
xir_status map_elements(xir_kernel *at, real_map *of_real, i64_map *of_integer);

/* One line a class: its formula of `x`, with the attributes in `a`. MAP_NUMBERS has a second one for integers. */
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

/* Integers that wrap, as stored ones do. */
static inline int64_t wrap_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static inline int64_t wrap_sub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
static inline int64_t wrap_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

#endif
