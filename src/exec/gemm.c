#include <string.h>
#include "gemm.h"

/* A panel is TALL rows or BROAD columns of one block of depth. The innermost loop keeps TALL * BROAD sums in
 * registers. */
enum { TALL = 4, BROAD = 4 };

static size_t padded(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

bool gemm_make(xir_kernel *at, gemm *g, size_t depth, size_t columns) {
    size_t room;
    *g = (gemm){ .at = at, .depth = depth, .columns = columns, .wide = padded(columns, BROAD) };
    if (__builtin_mul_overflow(depth, g->wide, &room)) return false;
    g->right = xir_kernel_alloc(at, room + 1, sizeof *g->right);
    g->left = xir_kernel_alloc(at, GEMM_ROWS * GEMM_DEPTH, sizeof *g->left);
    g->out = xir_kernel_alloc(at, g->wide + 1, GEMM_ROWS * sizeof *g->out);
    return g->right && g->left && g->out;
}

void gemm_right(gemm *g, const double *b, size_t row_step, size_t column_step) {
    double *out = g->right;
    for (size_t k0 = 0; k0 < g->depth; k0 += GEMM_DEPTH) {
        size_t end = k0 + GEMM_DEPTH < g->depth ? k0 + GEMM_DEPTH : g->depth;
        for (size_t j0 = 0; j0 < g->columns; j0 += BROAD) {
            size_t n = g->columns - j0 < BROAD ? g->columns - j0 : BROAD;
            for (size_t k = k0; k < end; k++, out += BROAD) {
                for (size_t j = 0; j < n; j++) out[j] = b[k * row_step + (j0 + j) * column_step];
                for (size_t j = n; j < BROAD; j++) out[j] = 0;
            }
        }
    }
}

/* out[TALL x BROAD] += left * right, panels of `depth`. */
static void multiply_panels(const double *left, const double *right, size_t depth, double *out, size_t step) {
    double sum[TALL][BROAD];
    for (size_t i = 0; i < TALL; i++) memcpy(sum[i], out + i * step, sizeof sum[i]);
    for (size_t k = 0; k < depth; k++, left += TALL, right += BROAD) {
        for (size_t i = 0; i < TALL; i++) {
            for (size_t j = 0; j < BROAD; j++) sum[i][j] += left[i] * right[j];
        }
    }
    for (size_t i = 0; i < TALL; i++) memcpy(out + i * step, sum[i], sizeof sum[i]);
}

bool gemm_run(gemm *g, gemm_row *read, const void *left, size_t row, size_t rows) {
    size_t tall = padded(rows, TALL);
    memset(g->out, 0, tall * g->wide * sizeof *g->out);
    for (size_t k0 = 0; k0 < g->depth; k0 += GEMM_DEPTH) {
        size_t depth = g->depth - k0 < GEMM_DEPTH ? g->depth - k0 : GEMM_DEPTH;
        const double *right = g->right + k0 * g->wide;
        for (size_t i = 0; i < tall; i++) {
            double *out = g->left + i / TALL * TALL * depth + i % TALL;
            if (i < rows) read(left, row + i, k0, depth, out, TALL);
            else for (size_t k = 0; k < depth; k++) out[k * TALL] = 0;
        }
        for (size_t j = 0; j < g->wide; j += BROAD, right += depth * BROAD) {
            if (xir_kernel_stops(g->at, tall * depth * BROAD)) return false;
            for (size_t i = 0; i < tall; i += TALL) {
                multiply_panels(g->left + i * depth, right, depth, g->out + i * g->wide + j, g->wide);
            }
        }
    }
    return true;
}
