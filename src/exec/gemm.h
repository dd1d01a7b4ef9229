/* Products of matrices of doubles, blocked so that the operands stay in the processor's caches. Both sides are copied
 * into panels that are read sequentially. A function provides the rows of the left side, because the rows of a
 * convolution are the windows of an image and are not stored anywhere.
 *
 * A sum runs over the columns of the left side in order, GEMM_DEPTH of them at a time, so it does not depend on the
 * machine or on the other dims. ResNet-50, 4.1e9 products, takes 1.3 s (bench exec-resnet: 6.2 GFLOP/s, gcc 12 -O3,
 * 2-vCPU Xeon VM). */
#ifndef EXEC_GEMM_H
#define EXEC_GEMM_H

#include "kernels.h"

enum { GEMM_ROWS = 64, GEMM_DEPTH = 256 };

/* Writes elements [k, k + n) of a row of the left side to out[0], out[step], … */
typedef void gemm_row(const void *left, size_t row, size_t k, size_t n, double *out, size_t step);

typedef struct gemm {
    xir_kernel *at;
    size_t  depth, columns, wide;   /* `wide`: columns rounded up to whole panels */
    double *right, *left;
    double *out;                    /* the result of gemm_run: GEMM_ROWS rows of `wide`    */
} gemm;

/* Allocates for products with a right side of depth x columns; false on out of memory. */
bool gemm_make(xir_kernel *at, gemm *g, size_t depth, size_t columns);
/* Copies the right side: element [k, j] is b[k * row_step + j * column_step]. */
void gemm_right(gemm *g, const double *b, size_t row_step, size_t column_step);
/* Multiplies `rows` rows, at most GEMM_ROWS, from `row` on; the result is out[i * wide + j]. False if cancelled. */
bool gemm_run(gemm *g, gemm_row *read, const void *left, size_t row, size_t rows);

#endif
