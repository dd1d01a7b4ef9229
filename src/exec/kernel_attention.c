/* Attention, head by head. The scores of one query are computed at a time, and the largest is subtracted before exp so
 * that nothing overflows. */
#include <math.h>
#include "dims.h"
#include "groups.h"

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

typedef struct attention {
    heads         q, k, v, y;
    int64_t       mask_step[4];
    const double *query, *key, *value, *mask;
    double       *out, *score;
    double        scale, softcap;
    bool          is_causal, mask_is_bool;
} attention;

/* Computes the scores of query i of a head. Returns the largest, or -inf. */
static double score_keys(const attention *a, const double *q, const double *k, const double *mask, int64_t i) {
    double most = -INFINITY;
    for (int64_t j = 0; j < a->k.dim[2]; j++) {
        double score = 0;
        for (int64_t t = 0; t < a->q.dim[3]; t++) score += q[t * a->q.step[3]] * k[j * a->k.step[2] + t * a->k.step[3]];
        score *= a->scale;
        if (a->softcap > 0) score = a->softcap * tanh(score / a->softcap);
        if (mask && a->mask_is_bool) score = mask[j * a->mask_step[3]] != 0 ? score : -INFINITY;
        else if (mask) score += mask[j * a->mask_step[3]];
        if (a->is_causal && j > i) score = -INFINITY;
        if (score > most || isnan(score)) most = score;
        a->score[j] = score;
    }
    return most;
}

/* False if the run is cancelled. */
static bool attend(xir_kernel *at, const attention *a, int64_t b, int64_t h) {
    const int64_t kv = h / (a->q.dim[1] / a->k.dim[1]);
    const double *k = a->key + b * a->k.step[0] + kv * a->k.step[1],
                  *v = a->value + b * a->v.step[0] + kv * a->v.step[1];
    for (int64_t i = 0; i < a->q.dim[2]; i++) {
        if (xir_kernel_stops(at, (uint64_t)(a->k.dim[2] * (a->q.dim[3] + a->v.dim[3])))) return false;
        const double *q = a->query + b * a->q.step[0] + h * a->q.step[1] + i * a->q.step[2];
        const double *mask = a->mask ? a->mask + b * a->mask_step[0] + h * a->mask_step[1] + i * a->mask_step[2] : NULL;
        double *y = a->out + b * a->y.step[0] + h * a->y.step[1] + i * a->y.step[2];
        double most = score_keys(a, q, k, mask, i), sum = 0;
        for (int64_t j = 0; j < a->k.dim[2]; j++) sum += a->score[j] = exp(a->score[j] - most);
        for (int64_t t = 0; t < a->v.dim[3]; t++) {
            double mean = 0;
            for (int64_t j = 0; j < a->k.dim[2]; j++) mean += a->score[j] * v[j * a->v.step[2] + t * a->v.step[3]];
            y[t * a->y.step[3]] = mean / sum;
        }
    }
    return true;
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
    a.query = xir_kernel_reals(at, QUERY);
    a.key = xir_kernel_reals(at, KEY);
    a.value = xir_kernel_reals(at, VALUE);
    a.mask = mask ? xir_kernel_reals(at, MASK) : NULL;
    a.out = xir_kernel_real_out(at, 0);
    a.score = xir_kernel_alloc(at, (size_t)a.k.dim[2] + 1, sizeof *a.score);
    if (!a.query || !a.key || !a.value || (mask && !a.mask) || !a.out || !a.score) return XIR_E_MEMORY;
    for (int64_t b = 0; b < a.q.dim[0]; b++) {
        for (int64_t h = 0; h < a.q.dim[1]; h++) {
            if (!attend(at, &a, b, h)) return XIR_E_CANCELLED;
        }
    }
    return XIR_OK;
}

kernel_table kernels_attention = {
    { xir_attention_class, run_attention },
    { NULL,                NULL          },
};
