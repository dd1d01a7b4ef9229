/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Attention: two products of matrices for each head, of queries with keys and of weights with values, some heads or
 * queries at a time. Of the scores of a query the largest is subtracted before exp, so that nothing overflows. */
#include <math.h>
#include "dims.h"
#include "gemm.h"
#include "groups.h"
#include "pool.h"

enum { QUERY, KEY, VALUE, MASK };

/* Dims and strides as [batch, heads, length, size], for rank 3 too. */
typedef struct heads { int64_t dim[4], step[4]; } heads;

static void read_heads(const xir_type *type, int64_t count, heads *h) {
    int64_t dim[4], step[4];
    const size_t rank = xir_type_rank(type);
    for (size_t i = 0; i < rank; i++) {
        dim[i] = xir_type_dim(type, (int64_t)i, false);
        step[i] = elements_between(type, i + 1, rank);
    }
    if (rank == 4) {
        *h = (heads){ { dim[0], dim[1], dim[2], dim[3] }, { step[0], step[1], step[2], step[3] } };
    } else {
        const int64_t size = dim[2] / count;
        *h = (heads){ { dim[0], count, dim[1], size }, { step[0], size, step[1], 1 } };
    }
}

/* The strides of the mask along [batch, heads, length, keys]; 0 where it is broadcast. */
static void read_mask(const xir_type *type, int64_t step[4]) {
    const size_t rank = xir_type_rank(type);
    for (size_t i = 0; i < rank; i++)
        step[4 - rank + i] = dim_of(type, i) == 1 ? 0 : elements_between(type, i + 1, rank);
}

enum { SCORES = 1 << 20 };   /* that exist at a time, unless one query has more */

typedef struct attention {
    heads            q, k, v, y;
    int64_t          mask_step[4];
    const gemm_path *path;
    gemm_input       query, key, value;
    const double    *mask;
    gemm_output      out;
    double           scale, softcap;
    bool             is_causal, mask_is_bool;
    size_t           head, heads;      /* these heads of all batches     */
    size_t           first, queries;   /* these queries of each of them  */
    double          *score, *sum;      /* [head][query][key], [head][query] */
} attention;

/* Returns the offset of a head of an operand; `shared`: so many heads of the queries have the same one. */
static int64_t head_at(const attention *a, const heads *h, size_t batch, int64_t shared) {
    const int64_t i = (int64_t)(a->head + batch), count = a->q.dim[1];
    return i / count * h->step[0] + i % count / shared * h->step[1];
}
static int64_t shared_heads(const attention *a) { return a->q.dim[1] / a->k.dim[1]; }

static void pack_queries(const void *of, const gemm_panel *p) {
    const attention *a = of;
    const int64_t at = head_at(a, &a->q, p->batch, 1) + (int64_t)a->first * a->q.step[2];
    gemm_pack_matrix(a->path, &a->query, at, a->q.step[2], a->q.step[3], p);
}

static void pack_keys(const void *of, const gemm_panel *p) {
    const attention *a = of;
    gemm_pack_matrix(a->path, &a->key, head_at(a, &a->k, p->batch, shared_heads(a)), a->k.step[2], a->k.step[3], p);
}

static void pack_weights(const void *of, const gemm_panel *p) {
    const attention *a = of;
    const gemm_input weights = { .doubles = a->score };
    const int64_t keys = a->k.dim[2];
    gemm_pack_matrix(a->path, &weights, (int64_t)(p->batch * a->queries) * keys, keys, 1, p);
}

static void pack_values(const void *of, const gemm_panel *p) {
    const attention *a = of;
    gemm_pack_matrix(a->path, &a->value, head_at(a, &a->v, p->batch, shared_heads(a)), a->v.step[3], a->v.step[2], p);
}

static void take_means(void *out, const gemm_sums *s) {
    const attention *a = out;
    for (size_t i = 0; i < s->rows; i++) {
        double mean[GEMM_MOST_BROAD];
        const double sum = a->sum[s->batch * a->queries + s->row + i];
        for (size_t j = 0; j < s->columns; j++) mean[j] = s->sum[i * s->step + j] / sum;
        gemm_put(a->path, &a->out, head_at(a, &a->y, s->batch, 1) + (int64_t)(a->first + s->row + i) * a->y.step[2] +
                 (int64_t)s->column, mean, NULL, s->columns);
    }
}

/* Scores become weights, not yet divided by their sum. Without a key that is seen all are 0, and so is the result. */
static double weigh_keys(const attention *a, const double *mask, int64_t query, double *score) {
    double most = -INFINITY, sum = 0;
    for (int64_t j = 0; j < a->k.dim[2]; j++) {
        double v = score[j] * a->scale;
        if (a->softcap > 0) v = a->softcap * tanh(v / a->softcap);
        if (mask && a->mask_is_bool) v = mask[j * a->mask_step[3]] != 0 ? v : -INFINITY;
        else if (mask) v += mask[j * a->mask_step[3]];
        if (a->is_causal && j > query) v = -INFINITY;
        if (v > most || isnan(v)) most = v;
        score[j] = v;
    }
    if (most == -INFINITY) {
        for (int64_t j = 0; j < a->k.dim[2]; j++) score[j] = 0;
        return 1;
    }
    for (int64_t j = 0; j < a->k.dim[2]; j++) sum += score[j] = exp(score[j] - most);
    return sum;
}

static void weigh(pool_share *share, size_t from, size_t to, void *user) {
    const attention *a = user;
    for (size_t i = from; i < to; i++) {
        const int64_t head = (int64_t)(a->head + i / a->queries), query = (int64_t)(a->first + i % a->queries),
                      b = head / a->q.dim[1], h = head % a->q.dim[1];
        const double *mask = a->mask ? a->mask + b * a->mask_step[0] + h * a->mask_step[1] + query * a->mask_step[2]
            : NULL;
        a->sum[i] = weigh_keys(a, mask, query, a->score + i * (size_t)a->k.dim[2]);
        if (pool_stops(share, (uint64_t)a->k.dim[2])) return;
    }
}

static xir_status attend(xir_kernel *at, attention *a) {
    const size_t keys = (size_t)a->k.dim[2];
    const gemm scores = {
        .path = a->path, .exact = gemm_is_exact(&a->query, &a->key), .batches = a->heads, .rows = a->queries,
        .columns = keys, .depth = (size_t)a->q.dim[3], .left = pack_queries, .left_of = a, .right = pack_keys,
        .right_of = a, .sums = a->score, .sums_batch = a->queries * keys, .sums_step = keys,
    }, means = {
        .path = a->path, .batches = a->heads, .rows = a->queries, .columns = (size_t)a->v.dim[3], .depth = keys,
        .left = pack_weights, .left_of = a, .right = pack_values, .right_of = a, .take = take_means, .out = a,
    };
    xir_status status = gemm_run(at, &scores);
    if (status) return status;
    if (!pool_for(at, a->heads * a->queries, 10 * keys, weigh, a)) return XIR_E_CANCELLED;
    return gemm_run(at, &means);
}

static xir_status attend_all(xir_kernel *at, attention *a) {
    const size_t all = (size_t)(a->q.dim[0] * a->q.dim[1]), queries = (size_t)a->q.dim[2],
                 keys = (size_t)a->k.dim[2], room = SCORES / (keys + 1) + 1;
    const size_t rows = queries < room ? queries : room, fits = room / (rows + 1) + 1, some = all < fits ? all : fits;
    a->score = kernel_room(at, rows * some, (keys + 1) * sizeof *a->score);
    a->sum = kernel_room(at, rows * some + 1, sizeof *a->sum);
    if (!a->score || !a->sum) return XIR_E_MEMORY;
    for (a->head = 0; a->head < all; a->head += some) {
        a->heads = all - a->head < some ? all - a->head : some;
        for (a->first = 0; a->first < queries; a->first += rows) {
            a->queries = queries - a->first < rows ? queries - a->first : rows;
            xir_status status = attend(at, a);
            if (status) return status;
        }
    }
    return XIR_OK;
}

static double number_of(const xir_scalar *scalar, double preset) {
    const xir_float_imm *real = xir_float_imm_of((const xir_object *)scalar);
    const xir_int_imm *integer = xir_int_imm_of((const xir_object *)scalar);
    return real ? real->value : integer ? (double)integer->value : preset;
}

static xir_status run_attention(xir_kernel *at) {
    const xir_attention_attrs *attrs = xir_kernel_attrs(at);
    const xir_type *mask = xir_kernel_input_type(at, MASK);
    attention a = { .softcap = attrs->softcap, .is_causal = attrs->is_causal };
    read_heads(xir_kernel_input_type(at, QUERY), attrs->q_num_heads, &a.q);
    read_heads(xir_kernel_input_type(at, KEY), attrs->kv_num_heads, &a.k);
    read_heads(xir_kernel_input_type(at, VALUE), attrs->kv_num_heads, &a.v);
    read_heads(xir_kernel_output_type(at, 0), attrs->q_num_heads, &a.y);
    if (mask) read_mask(mask, a.mask_step);
    xir_status status = refuse_padding(at, KEY);
    if (!status) status = refuse_padding(at, VALUE);
    if (status) return status;
    a.scale = number_of(attrs->scale, 1 / sqrt((double)a.q.dim[3]));
    a.mask_is_bool = mask && xir_type_kind_of(xir_type_element(mask)) == XIR_TYPE_BOOL;
    a.path = gemm_path_now();
    if (!gemm_read(at, QUERY, &a.query) || !gemm_read(at, KEY, &a.key) || !gemm_read(at, VALUE, &a.value) ||
        !gemm_write(at, 0, false, &a.out)) return XIR_E_MEMORY;
    if (mask && !(a.mask = xir_kernel_reals(at, MASK))) return XIR_E_MEMORY;
    return attend_all(at, &a);
}

kernel_table kernels_attention = {
    { xir_attention_class, run_attention },
    { NULL,                NULL          },
};
