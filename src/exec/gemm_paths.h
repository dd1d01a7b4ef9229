/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The innermost loops of products, for each instruction set that has its own. All paths give the same bits: a sum adds
 * its products one after the other, in the order of depth, in double. Vectors hold neighbouring sums, never parts of
 * one.
 *
 * Some processors multiply and add in one instruction that rounds once (FMA). Where both factors have so few bits that
 * their product needs at most 53, the product is exact, so that one rounding and two are the same: 24 + 24 bits for
 * numbers of fp32, and its exponents are far from those of the smallest double. Such products are `exact`, and only
 * they use FMA. A NaN that results may have other bits. */
#ifndef EXEC_GEMM_PATHS_H
#define EXEC_GEMM_PATHS_H

#include <stdbool.h>
#include <stddef.h>

enum { GEMM_MOST_TALL = 8, GEMM_MOST_BROAD = 24, GEMM_MOST_LINES = 8 };
enum { TILE_ROWS = 4, TILE_VECTORS = 3 };   /* a tile exists for 1, 2, 4 and 8 rows, of 1 to 3 vectors */
enum { TAPS_PIXELS = 4 };                   /* whose sums over taps are in registers at a time */

/* sum[i * step + j] of a tile += the products of `depth` columns of a left panel, of `tall` rows, with as many rows of
 * a right panel, of `broad` columns; `begin`: = instead of +=. */
typedef void gemm_tile(const double *left, const double *right, size_t depth, double *sum, size_t step, bool begin);

/* Sums of some rows and columns: of [row, column] sum[row * step + column], plus the bias of the row or of the column
 * unless it is NULL; there is at most one. */
typedef struct gemm_block {
    size_t        rows, columns, step;
    const double *sum, *row_bias, *column_bias;
} gemm_block;
/* Rounds them to fp32, into out[row * out_step + column]. */
typedef void gemm_narrow(const gemm_block *block, float *out, ptrdiff_t out_step);

/* The taps of a window over each of n channels, at `pixels` neighbouring places: sum[q * n + i] of pixel q gets
 * x[t][q * go[t] + i] * k[t * k_step + i] added for tap after tap. */
typedef struct gemm_taps {
    size_t           taps, pixels, n, k_step;
    const double    *k;
    const ptrdiff_t *go;
} gemm_taps;

typedef struct gemm_path {
    const char *name;
    size_t      tall, broad, lanes;                      /* of panels; numbers of a vector             */
    size_t      lines;                                   /* that interleave copies: all panels are multiples */
    gemm_tile  *tile[2][TILE_ROWS][TILE_VECTORS];        /* [exact]; NULL beyond `tall` and `broad`    */
    /* Copies: n numbers; `rows` rows of n numbers each, `step` apart, to rows `unit` apart; `lines` lines of n numbers
     * each, next to each other: out[k * unit + line]. */
    void      (*widen)(const float *from, size_t n, double *out);
    void      (*widen_rows)(const float *from, ptrdiff_t step, size_t n, size_t rows, double *out, size_t unit);
    void      (*copy_rows)(const double *from, ptrdiff_t step, size_t n, size_t rows, double *out, size_t unit);
    void      (*interleave)(const float *const *from, size_t n, double *out, size_t unit);
    void      (*interleave_doubles)(const double *const *from, size_t n, double *out, size_t unit);
    gemm_narrow *narrow;
    /* sum[i] += x[i] * k; and the products of some pixels with all taps; [exact]. */
    void      (*add_scaled[2])(const float *x, double k, size_t n, double *sum);
    void      (*add_taps[2])(const float *const *x, const gemm_taps *w, double *sum);
    void      (*add_wide_scaled[2])(const double *x, double k, size_t n, double *sum);
    void      (*add_wide_taps[2])(const double *const *x, const gemm_taps *w, double *sum);
} gemm_path;

/* The fastest path of this processor; or, for tests, what the environment names (XIR_EXEC_PATH=plain, avx2, avx512,
 * neon), if the processor has it. */
const gemm_path *gemm_path_now(void);
/* The paths of this processor, the plain one first; NULL after the last. */
const gemm_path *gemm_path_at(size_t i);

/* The tile for so many rows and columns. */
static inline gemm_tile *gemm_tile_for(const gemm_path *p, bool exact, size_t rows, size_t columns) {
    const size_t r = rows > 4 ? 3 : rows > 2 ? 2 : rows - 1, v = (columns + p->lanes - 1) / p->lanes - 1;
    return p->tile[exact][r][v];
}

#endif
