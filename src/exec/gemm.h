/* Products of matrices of doubles, blocked so that what is multiplied lies in the processor's caches: both sides are
 * copied into panels that are read front to back. The left side comes row by row from a function, since the rows of a
 * convolution are the windows of an image, which are nowhere written down.
 *
 * A sum runs over the columns of the left side in their order, GEMM_DEPTH of them at a time: it does not depend on
 * the size of the machine or of the other dims. ResNet-50, 4.1e9 products, takes 1.3 s (bench exec-resnet: 6.2
 * GFLOP/s, gcc 12 -O3, 2-vCPU Xeon VM). */
#ifndef EXEC_GEMM_H
#define EXEC_GEMM_H

#include "kernels.h"

enum { GEMM_ROWS = 64, GEMM_DEPTH = 256 };

/* Writes elements [k, k + n) of a row of the left side to out[0], out[step], … */
typedef void gemm_row(const void *left, size_t row, size_t k, size_t n, double *out, size_t step);

typedef struct gemm {
    xir_kernel *at;
    size_t  depth, columns, wide;   /* `wide` columns with those that fill the last panel */
    double *right, *left;
    double *out;                    /* what gemm_run gives: GEMM_ROWS rows of `wide`      */
} gemm;

/* Memory for products with a right side of depth x columns; false without. */
bool gemm_make(xir_kernel *at, gemm *g, size_t depth, size_t columns);
/* The right side: element [k, j] is b[k * row_step + j * column_step]. */
void gemm_right(gemm *g, const double *b, size_t row_step, size_t column_step);
/* Multiplies `rows` rows, at most GEMM_ROWS, from `row` on: out[i * wide + j]. False: the run is cancelled. */
bool gemm_run(gemm *g, gemm_row *read, const void *left, size_t row, size_t rows);

#endif
