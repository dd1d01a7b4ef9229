/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Matrix products, as in NumPy's matmul: dims before the matrices broadcast, a vector is a row on the left and a
 * column on the right. The bias broadcasts to the product. */
#include "dims.h"
#include "gemm.h"
#include "pool.h"

enum { X, K, BIAS, OPERANDS };

/* The dims of the product, and the stride of each operand along them; 0 where it is broadcast. */
typedef struct matmul {
    size_t   batches;                  /* number of dims before the matrices                */
    int64_t  rows, depth, columns;     /* of the matrices; a vector's missing dim is 1      */
    int64_t *dim, *index;              /* sizes and current index of the batch dims         */
    int64_t *step[OPERANDS];           /* strides along the batch dims                      */
    int64_t  depth_step;               /* stride along the rows of k                        */
    int64_t  bias_row, bias_column;
} matmul;

static int64_t dim_from_right(const xir_type *type, size_t k) {
    return k <= xir_type_rank(type) ? xir_type_dim(type, -(int64_t)k, false) : 1;
}

/* The strides of an operand along `n` dims of the product. The last of them is dim `skip` + 1 from its right. */
static void broadcast_steps(const xir_type *type, size_t skip, size_t n, int64_t *step) {
    const size_t rank = xir_type_rank(type);
    for (size_t k = 1; k <= n && skip + k <= rank; k++) {
        step[n - k] = dim_from_right(type, skip + k) == 1 ? 0 : elements_between(type, rank - skip - k + 1, rank);
    }
}

/* Reads dims. False on out of memory. */
static bool matmul_make(xir_kernel *at, matmul *m) {
    const xir_type *x = xir_kernel_input_type(at, X), *k = xir_kernel_input_type(at, K),
                    *b = xir_kernel_input_type(at, BIAS);
    const xir_type *y = xir_kernel_output_type(at, 0);
    const bool row = xir_type_rank(x) == 1, column = xir_type_rank(k) == 1;
    const size_t y_rank = xir_type_rank(y), batches = y_rank - !row - !column, n = batches + 2;
    m->batches = batches;
    m->dim = xir_kernel_alloc(at, n, sizeof *m->dim);
    m->index = xir_kernel_alloc(at, n, sizeof *m->index);
    for (size_t i = 0; i < OPERANDS; i++) m->step[i] = xir_kernel_alloc(at, n + 1, sizeof *m->step[i]);
    if (!m->dim || !m->index || !m->step[X] || !m->step[K] || !m->step[BIAS]) return false;

    for (size_t i = 0; i < batches; i++) m->dim[i] = xir_type_dim(y, (int64_t)i, false);
    m->rows = row ? 1 : dim_from_right(x, 2);
    m->columns = column ? 1 : dim_from_right(k, 1);
    m->depth = dim_from_right(x, 1);
    m->depth_step = column ? 1 : m->columns;
    broadcast_steps(x, row ? 1 : 2, row ? 0 : batches, m->step[X]);       // a vector has no batch dims
    broadcast_steps(k, column ? 1 : 2, column ? 0 : batches, m->step[K]);
    if (b) {
        broadcast_steps(b, 0, y_rank, m->step[BIAS]);
        m->bias_row = row ? 0 : m->step[BIAS][batches];
        m->bias_column = column ? 0 : m->step[BIAS][y_rank - 1];
    }
    return true;
}

/* The offset of operand i for the batch m->index. */
static int64_t batch_offset(const matmul *m, size_t i) {
    int64_t offset = 0;
    for (size_t k = 0; k < m->batches; k++) offset += m->index[k] * m->step[i][k];
    return offset;
}

/* Advances to the next batch; false after the last. */
static bool next_batch(matmul *m) {
    for (size_t k = m->batches; k-- > 0;) {
        if (++m->index[k] < m->dim[k]) return true;
        m->index[k] = 0;
    }
    return false;
}

/* Finds the offset of each batch in the operands. False on out of memory. */
static bool find_batches(xir_kernel *at, matmul *m, size_t batches, int64_t *begin[OPERANDS]) {
    for (size_t i = 0; i < OPERANDS; i++) {
        if (!(begin[i] = xir_kernel_alloc(at, batches, sizeof *begin[i]))) return false;
    }
    for (size_t b = 0; b < batches; b++, next_batch(m)) {
        for (size_t i = 0; i < OPERANDS; i++) begin[i][b] = batch_offset(m, i);
    }
    return true;
}

/* ---- reals ------------------------------------------------------------------------------------------------------ */

/* Operands as reals. */
typedef struct product {
    const matmul    *m;
    const gemm_path *path;
    gemm_input       x, k;
    const double    *bias;
    gemm_output      y;
    int64_t         *begin[OPERANDS];
} product;

static void pack_rows(const void *of, const gemm_panel *panel) {
    const product *p = of;
    gemm_pack_matrix(p->path, &p->x, p->begin[X][panel->batch], p->m->depth, 1, panel);
}

static void pack_columns(const void *of, const gemm_panel *panel) {
    const product *p = of;
    gemm_pack_matrix(p->path, &p->k, p->begin[K][panel->batch], 1, p->m->depth_step, panel);
}

static void take_sums(void *out, const gemm_sums *s) {
    const product *p = out;
    const matmul *m = p->m;
    const int64_t at = ((int64_t)s->batch * m->rows + (int64_t)s->row) * m->columns + (int64_t)s->column;
    if (!p->bias || (m->bias_row == 0 && m->bias_column == 1)) {
        const double *bias = p->bias ? p->bias + p->begin[BIAS][s->batch] + s->column : NULL;
        gemm_put_block(p->path, &p->y, at, m->columns,
                       &(gemm_block){ s->rows, s->columns, s->step, s->sum, NULL, bias });
        return;
    }
    for (size_t i = 0; i < s->rows; i++) {
        double bias[GEMM_MOST_BROAD];
        const double *from = p->bias + p->begin[BIAS][s->batch] + (int64_t)(s->row + i) * m->bias_row;
        for (size_t j = 0; j < s->columns; j++) bias[j] = from[(int64_t)(s->column + j) * m->bias_column];
        gemm_put(p->path, &p->y, at + (int64_t)i * m->columns, s->sum + i * s->step, bias, s->columns);
    }
}

/* Matrices that lie next to each other, are all multiplied by the same one, and get the same bias row by row, are one
 * matrix. */
static size_t join_batches(matmul *m, size_t batches) {
    int64_t next = m->rows * m->depth, rows = m->rows;
    if (m->bias_row) return batches;
    for (size_t i = m->batches; i-- > 0;) {
        if (m->step[K][i] || m->step[BIAS][i] || (m->dim[i] > 1 && m->step[X][i] != next)) return batches;
        next *= m->dim[i];
        rows *= m->dim[i];
    }
    m->rows = rows;
    return 1;
}

/* `whole`: of integers whose sums are exact. */
static xir_status multiply_reals(xir_kernel *at, matmul *m, bool whole) {
    product p = { .m = m, .path = gemm_path_now() };
    size_t batches = 1;
    for (size_t i = 0; i < m->batches; i++) batches *= (size_t)m->dim[i];
    batches = join_batches(m, batches);
    if (!find_batches(at, m, batches, p.begin)) return XIR_E_MEMORY;
    const bool has_bias = xir_kernel_input_type(at, BIAS) != NULL;
    if (!gemm_read(at, X, &p.x) || !gemm_read(at, K, &p.k) || !gemm_write(at, 0, whole, &p.y))
        return XIR_E_MEMORY;
    if (has_bias && !(p.bias = xir_kernel_reals(at, BIAS))) return XIR_E_MEMORY;
    const gemm g = {
        .path = p.path, .exact = gemm_is_exact(&p.x, &p.k),
        .batches = batches, .rows = (size_t)m->rows, .columns = (size_t)m->columns, .depth = (size_t)m->depth,
        .left = pack_rows, .left_of = &p, .right = pack_columns, .right_of = &p, .take = take_sums, .out = &p,
        .sums = has_bias ? NULL : p.y.doubles, .sums_batch = (size_t)(m->rows * m->columns),
        .sums_step = (size_t)m->columns,
    };
    return gemm_run(at, &g);
}

/* ---- integers --------------------------------------------------------------------------------------------------- */

typedef struct whole_product {
    const matmul  *m;
    const int64_t *x, *k, *bias;   /* no bias: NULL */
    int64_t       *y;
    int64_t       *begin[OPERANDS];
} whole_product;

/* Rows [from, to) of all batches. */
static void multiply_rows(pool_share *share, size_t from, size_t to, void *user) {
    const whole_product *p = user;
    const matmul *m = p->m;
    for (size_t r = from; r < to; r++) {
        const size_t batch = r / (size_t)m->rows, i = r % (size_t)m->rows;
        const int64_t *left = p->x + p->begin[X][batch] + (int64_t)i * m->depth, *right = p->k + p->begin[K][batch];
        const int64_t *bias = p->bias ? p->bias + p->begin[BIAS][batch] + (int64_t)i * m->bias_row : NULL;
        int64_t *y = p->y + (int64_t)r * m->columns;
        for (int64_t j = 0; j < m->columns; j++) {
            if (pool_stops(share, (uint64_t)m->depth)) return;
            uint64_t sum = bias ? (uint64_t)bias[j * m->bias_column] : 0;
            for (int64_t t = 0; t < m->depth; t++) sum += (uint64_t)left[t] * (uint64_t)right[t * m->depth_step + j];
            y[j] = (int64_t)sum;
        }
    }
}

/* Integers wrap. Those of few bits are multiplied as reals. */
static xir_status multiply_integers(xir_kernel *at, matmul *m) {
    whole_product p = { .m = m, .x = xir_kernel_i64s(at, X), .k = xir_kernel_i64s(at, K) };
    const bool has_bias = xir_kernel_input_type(at, BIAS) != NULL;
    size_t batches = 1;
    for (size_t i = 0; i < m->batches; i++) batches *= (size_t)m->dim[i];
    if (has_bias) p.bias = xir_kernel_i64s(at, BIAS);
    p.y = kernel_all_i64s(at, 0);
    if (!p.x || !p.k || !p.y || (has_bias && !p.bias) || !find_batches(at, m, batches, p.begin)) return XIR_E_MEMORY;
    return pool_for(at, batches * (size_t)m->rows, 2 * (uint64_t)(m->columns * m->depth), multiply_rows, &p)
        ? XIR_OK : XIR_E_CANCELLED;
}

static xir_status run_matmul(xir_kernel *at) {
    matmul m = { 0 };
    int64_t elements;
    if (!matmul_make(at, &m)) return XIR_E_MEMORY;
    const bool real = xir_kernel_is_real(xir_kernel_input_type(at, X)) ||
        xir_kernel_is_real(xir_kernel_input_type(at, K));
    if (xir_type_elements(xir_kernel_output_type(at, 0), &elements) || elements == 0) {
        return xir_kernel_i64_out(at, 0) ? XIR_OK : XIR_E_MEMORY;
    }
    const bool narrow = !real && gemm_is_narrow(at, X, K, BIAS, (uint64_t)m.depth);
    return real || narrow ? multiply_reals(at, &m, narrow) : multiply_integers(at, &m);
}

kernel_table kernels_matmul = {
    { xir_matmul_class, run_matmul },
    { NULL,             NULL       },
};
