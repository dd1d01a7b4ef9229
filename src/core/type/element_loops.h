/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Loops over consecutive elements of the formats that nearly all tensors have, for each instruction set. All paths give
 * the same bits: an element is converted by itself, with the same roundings. Elements are stored as the processor
 * stores them; on a big-endian processor there are no loops. */
#ifndef CORE_ELEMENT_LOOPS_H
#define CORE_ELEMENT_LOOPS_H

#include "elements.h"

/* The ways to store an element. */
typedef enum element_store {
    STORED_OTHER,     /* without loops: other widths                                */
    STORED_F64, STORED_F32,
    STORED_TF32,      /* the upper bits of an fp32                                  */
    STORED_F16,       /* every float of 16 bits: the parts of the format tell which */
    STORED_BOOL, STORED_S8, STORED_U8, STORED_S16, STORED_U16, STORED_S32, STORED_U32, STORED_S64, STORED_U64,
    STORED_COUNT
} element_store;

typedef void to_reals_fn(element_format f, const uint8_t *restrict b, size_t n, double *restrict out);
typedef void of_reals_fn(element_format f, const double *restrict in, size_t n, uint8_t *restrict b);
typedef void to_i64s_fn(const uint8_t *restrict b, size_t n, int64_t *restrict out);
typedef void of_i64s_fn(const int64_t *restrict in, size_t n, uint8_t *restrict b);

/* Factors and zero points, one for each of n elements, and the range of what is stored. */
typedef struct quantum {
    double *factor, *zero, least, most;
} quantum;

typedef struct element_loops {
    const char  *name;
    to_reals_fn *to_reals[STORED_COUNT];   /* NULL: no loop. The same below. */
    of_reals_fn *of_reals[STORED_COUNT];
    to_i64s_fn  *to_i64s[STORED_COUNT];    /* not of floats                  */
    of_i64s_fn  *of_i64s[STORED_COUNT];
    /* x = (x - zero) * factor; and back, into integers half away from zero, or into reals. */
    void       (*dequantise)(const quantum *q, size_t n, double *restrict x);
    void       (*quantise)(const quantum *q, size_t n, const double *restrict in, double *restrict out);
    void       (*rescale)(const quantum *q, size_t n, const double *restrict in, double *restrict out);
    /* fp32 as stored, times one factor or times one each, in double and rounded once; products are added to sums. */
    void       (*scale)(const uint8_t *restrict b, size_t n, double factor, uint8_t *restrict out);
    void       (*scale_each)(const uint8_t *restrict b, size_t n, const double *restrict factors,
                             uint8_t *restrict out);
    void       (*add_scaled)(const uint8_t *restrict b, size_t n, double factor, double *restrict sums);
} element_loops;

element_store element_store_of(element_format f);
/* The best path of the processor; or, for tests, the one that the environment names (XIR_EXEC_PATH=plain, avx2, avx512)
 * if the processor has it. */
const element_loops *element_loops_now(void);
/* The paths of this processor, the plain one first; NULL after the last. */
const element_loops *element_loops_at(size_t i);

#endif
