/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Products of matrices: out[i, j] = the sum over k of left[i, k] * right[k, j], in double, k in order. So a sum does
 * not depend on the machine, the number of threads, or the other dims.
 *
 * Neither side is stored as a matrix of doubles. Functions of the kernel copy panels of them, some rows of the left or
 * columns of the right side at a time, from what the tensors store: the rows of a convolution are windows of an image,
 * and weights stay as they are in the file. Another function takes the sums, a tile at a time. Panels and sums lie in
 * blocks that fit the caches; their sizes are bounded.
 *
 * All three functions are called on several threads (pool.h). */
#ifndef EXEC_GEMM_H
#define EXEC_GEMM_H

#include "blocks.h"
#include "gemm_paths.h"

enum { GEMM_DEPTH = 256 };   /* most depths of a panel */

/* A panel: items (rows of the left or columns of the right side) [first, first + n), depths [k, k + depth). Element
 * [item, depth] belongs into out[(depth - k) * unit + (item - first)]. */
typedef struct gemm_panel {
    size_t  batch, first, n, k, depth, unit;
    double *out;
} gemm_panel;
typedef void gemm_pack(const void *side, const gemm_panel *panel);

/* Finished sums: of [row + i, column + j] it is sum[i * step + j]. */
typedef struct gemm_sums {
    size_t        batch, row, rows, column, columns, step;
    const double *sum;
} gemm_sums;
typedef void gemm_take(void *out, const gemm_sums *sums);

typedef struct gemm {
    const gemm_path *path;             /* gemm_path_now()                                        */
    bool             exact;            /* gemm_is_exact of both sides                            */
    size_t           batches, rows, columns, depth;
    gemm_pack       *left, *right;     /* with what they read                                    */
    const void      *left_of, *right_of;
    gemm_take       *take;             /* called with all sums, unless `sums` is set             */
    void            *out;
    /* The sums, if they are the result, in doubles: sums[batch * sums_batch + row * sums_step + column]; else NULL. */
    double          *sums;
    size_t           sums_batch, sums_step;
} gemm;

/* XIR_E_CANCELLED; XIR_E_MEMORY without a finding. A product without depth has sums of 0. */
xir_status gemm_run(xir_kernel *at, const gemm *g);

/* ---- operands and results -------------------------------------------------------------------------------------- */

/* Elements as a tensor stores them. No tensor is converted as a whole: lines of it become doubles while panels are
 * copied. Numbers need not be aligned. */
typedef struct gemm_input {
    const float  *singles;             /* elements of fp32 or TF32; else NULL                    */
    const double *doubles;             /* of fp64, or converted before; else NULL                */
    reader        stored;              /* others                                                 */
    unsigned      bits;                /* significant ones                                       */
} gemm_input;

/* False on out of memory. */
bool gemm_read(xir_kernel *at, size_t input, gemm_input *in);
/* Returns true if both inputs, and `bias` unless it is absent, are integers so narrow that sums of `depth` products are
 * exact in double. */
bool gemm_is_narrow(const xir_kernel *at, size_t left, size_t right, size_t bias, uint64_t depth);
/* Returns true if products of both need no rounding (gemm_paths.h). */
static inline bool gemm_is_exact(const gemm_input *a, const gemm_input *b) { return a->bits + b->bits <= 53; }
static inline double gemm_element(const gemm_input *in, int64_t i) {
    float v;
    double wide;
    if (in->singles) {
        memcpy(&v, in->singles + i, sizeof v);
        return (double)v;
    }
    if (in->doubles) memcpy(&wide, in->doubles + i, sizeof wide);
    else elements_read_reals(in->stored.elements, in->stored.bytes, (size_t)i, 1, &wide);
    return wide;
}

/* n elements from `from` on, every `step`-th one; into out[i * unit]. */
void gemm_copy_line(const gemm_input *in, int64_t from, int64_t step, size_t n, double *out, size_t unit);
/* n lines of neighbours, at most GEMM_DEPTH each, that begin at from[i], or are zeros if that is negative: element k of
 * line i into out[k * unit + i]. */
void gemm_copy_lines(const gemm_path *path, const gemm_input *in, const int64_t *from, size_t n, size_t depth,
                     double *out, size_t unit);
/* A matrix whose element [item, k] is element start + item * step + k * k_step, in a panel of it. */
void gemm_pack_matrix(const gemm_path *path, const gemm_input *in, int64_t start, int64_t step, int64_t k_step,
                      const gemm_panel *panel);

/* The destination of results: they are stored at once, as one of these. Elements that do not take whole bytes are
 * doubles, which the executor stores when the kernel is done. */
typedef struct gemm_output {
    float   *singles;                  /* need not be aligned                                    */
    double  *doubles;
    int64_t *integers;
    writer   stored;
    bool     whole;                    /* the sums are integers, and wrap to the width of the output */
} gemm_output;
/* Every element must be written. `whole`: the sums are integers. False on out of memory. */
bool gemm_write(xir_kernel *at, size_t output, bool whole, gemm_output *out);
/* A block of sums: row i is contiguous from at + i * row_step. */
void gemm_put_block(const gemm_path *path, const gemm_output *out, int64_t at, int64_t row_step,
                    const gemm_block *block);
/* n neighbours from `at` on: sums, plus a bias each unless it is NULL. */
static inline void gemm_put(const gemm_path *path, const gemm_output *out, int64_t at, const double *sum,
                            const double *bias, size_t n) {
    gemm_put_block(path, out, at, 0, &(gemm_block){ .rows = 1, .columns = n, .sum = sum, .column_bias = bias });
}
static inline void gemm_put_one(const gemm_output *out, int64_t at, double v) {
    const float rounded = (float)v;
    const int64_t integer = out->whole ? (int64_t)v : 0;
    if (out->singles)       memcpy(out->singles + at, &rounded, sizeof rounded);
    else if (out->doubles)  memcpy(out->doubles + at, &v, sizeof v);
    else if (out->integers) out->integers[at] = integer;
    else if (out->whole)    write_i64s(&out->stored, (size_t)at, 1, &integer);
    else                    write_reals(&out->stored, (size_t)at, 1, &v);
}

#endif
