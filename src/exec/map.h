/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions of one number, applied to every element. */
#ifndef EXEC_MAP_H
#define EXEC_MAP_H

#include "kernels.h"

/* Computes n numbers. Each is one loop that the compiler sees whole. */
typedef void real_map(const double *restrict in, double *restrict out, size_t n, const void *attrs);
typedef void i64_map(const int64_t *restrict in, int64_t *restrict out, size_t n, const void *attrs);

/* Output 0 becomes the function of input 0. Integers use `of_integers`; if it is NULL, they are computed as reals. */
xir_status map_elements(xir_kernel *at, real_map *of_reals, i64_map *of_integers);

/* One line for each class: its formula in `x`, with the attributes in `a`. MAP_NUMBERS has a second formula for
 * integers; MAP_BOTH makes the same loops, for a kernel that the file has itself. */
#define MAP_LOOP(id, name, number, formula)                                                                          \
    static void id##name(const number *restrict in, number *restrict out, size_t n, const void *attrs) {             \
        const xir_##id##_attrs *a = attrs;                                                                           \
        (void)a;                                                                                                     \
        for (size_t i = 0; i < n; i++) {                                                                             \
            const number x = in[i];                                                                                  \
            out[i] = (formula);                                                                                      \
        }                                                                                                            \
    }
#define MAP_REALS(id, formula)                                                                                       \
    MAP_LOOP(id, _reals, double, formula)                                                                            \
    static xir_status run_##id(xir_kernel *at) { return map_elements(at, id##_reals, NULL); }
#define MAP_BOTH(id, formula, integers)                                                                              \
    MAP_LOOP(id, _reals, double, formula)                                                                            \
    MAP_LOOP(id, _i64s, int64_t, integers)
#define MAP_NUMBERS(id, formula, integers)                                                                           \
    MAP_BOTH(id, formula, integers)                                                                                  \
    static xir_status run_##id(xir_kernel *at) { return map_elements(at, id##_reals, id##_i64s); }

/* Wrapping integer arithmetic, as for stored integers. */
static inline int64_t wrap_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static inline int64_t wrap_sub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
static inline int64_t wrap_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

#endif
