/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Numbers as stored integers: by a rule for rounding, or as they are. The rule of ONNX rounds every step to the
 * expressed type, so that ties are those of its definition: the quotient of a real, or of stored numbers the quotient
 * of both scales and the product with it. */
#include <math.h>
#include "element_loops.h"
#include "kernels.h"
#include "spread.h"

typedef struct quantizing {
    const xir_quantize_attrs *rule;
    reader                    x;
    tensor_elements           from, to, expressed;
    void                     *out;
    double                    least, most;   /* of what is stored */
} quantizing;

/* Rounds n numbers to the expressed type. */
static void express(const quantizing *q, double *v, size_t n) {
    uint8_t bytes[BLOCK * sizeof(double)];
    if (q->expressed.format.kind != ELEMENT_FLOAT) return;
    elements_write_stored(&q->expressed, bytes, 0, n, v);
    elements_read_stored(&q->expressed, bytes, 0, n, v);
}

/* The quotients of elements [from, from + n) and their scales; or of stored numbers the products with those of both
 * scales. */
static void divide(const quantizing *q, size_t from, size_t n, double *scale, double *out) {
    double factor[BLOCK], room[BLOCK];
    if (!q->from.quantised) {
        const double *x = read_reals(&q->x, from, n, room);
        for (size_t i = 0; i < n; i++) out[i] = x[i] / scale[i];
        return;
    }
    elements_scales(&q->from, from, n, factor);
    for (size_t i = 0; i < n; i++) factor[i] /= scale[i];
    elements_read_stored(&q->from, q->x.bytes, from, n, out);
    elements_zeros(&q->from, from, n, room);
    for (size_t i = 0; i < n; i++) out[i] -= room[i];
    express(q, factor, n);
    express(q, out, n);
    for (size_t i = 0; i < n; i++) out[i] *= factor[i];
}

/* The same as nearbyint(), without a call: numbers of 2^52 and more have no fraction, and adding 2^52 to others rounds
 * ties to even. */
static double half_even(double x) {
    const double size = fabs(x), even = (size + 0x1p52) - 0x1p52;
    return copysign(size < 0x1p52 ? even : size, x);
}

/* NaN becomes the least number. */
static void store_block(size_t from, size_t n, void *user) {
    const quantizing *q = user;
    double scale[BLOCK], zero[BLOCK], out[BLOCK];
    const double least = q->least, most = q->most;
    elements_scales(&q->to, from, n, scale);
    elements_zeros(&q->to, from, n, zero);
    if (q->rule->rounding == XIR_TIES_HALF_AWAY) {
        const quantum to = { scale, zero, least, most };
        double room[BLOCK];
        q->to.loops->quantise(&to, n, read_reals(&q->x, from, n, room), out);
        for (size_t i = 0; i < n; i++) out[i] = out[i] >= least ? out[i] : least;
    } else {
        divide(q, from, n, scale, out);
        express(q, out, n);
        for (size_t i = 0; i < n; i++) {
            const double v = half_even(out[i]) + zero[i];
            out[i] = v > most ? most : v >= least ? v : least;
        }
    }
    elements_write_stored(&q->to, q->out, from, n, out);
}

/* Gives the output the dims of the input. */
static xir_status take_dims(xir_kernel *at) {
    const xir_type *in = xir_kernel_input_type(at, 0);
    const size_t rank = xir_type_rank(in);
    int64_t *dims = xir_kernel_alloc(at, rank + 1, sizeof *dims);
    if (!dims) return XIR_E_MEMORY;
    for (size_t k = 0; k < rank; k++) dims[k] = xir_type_dim(in, (int64_t)k, false);
    return xir_kernel_result(at, 0, dims, rank);
}

static xir_status quantize(xir_kernel *at) {
    xir_status status = take_dims(at);
    if (status) return status;
    const xir_type *in = xir_kernel_input_type(at, 0), *out = xir_kernel_output_type(at, 0);
    const xir_allocator *alloc = &at->ctx->alloc;
    quantizing q = { .rule = xir_kernel_attrs(at) };
    q.expressed = elements_plain(element_format_of(xir_type_expressed(out)));
    int64_t n;
    if (xir_type_elements(out, &n)) return xir_kernel_fail(at, XIR_E_UNSUPPORTED, "outputs/0", "the dims are unknown");
    if (xir_type_kind_of(xir_type_element(out)) != XIR_TYPE_QUANTIZED)
        return xir_kernel_fail(at, XIR_E_UNSUPPORTED, "outputs/0", "the elements are not a QuantizedType");
    status = elements_open(&q.from, alloc, in, at->why);
    if (status) return xir_kernel_fail(at, status, "inputs/0", "the elements cannot be read as numbers");
    status = elements_open(&q.to, alloc, out, at->why);
    if (status) {
        elements_close(&q.from);
        return xir_kernel_fail(at, status, "outputs/0", "the elements cannot be stored as numbers");
    }
    const bool is_signed = q.to.format.kind == ELEMENT_SIGNED;
    q.most = ldexp(1, (int)q.to.format.bits - is_signed) - 1;
    q.least = is_signed ? -q.most - q.rule->full_range : 0;
    q.out = reader_open(&q.x, at, 0) ? kernel_all_bytes(at, 0) : NULL;
    status = q.out ? spread_blocks(at, (size_t)n, store_block, &q) : XIR_E_MEMORY;
    elements_close(&q.from);
    elements_close(&q.to);
    return status;
}

static xir_status bit_cast(xir_kernel *at) {
    xir_status status = take_dims(at);
    if (status) return status;
    const xir_type *in = xir_kernel_input_type(at, 0), *out = xir_kernel_output_type(at, 0);
    if (xir_type_storage_bits(in) != xir_type_storage_bits(out))
        return xir_kernel_fail(at, XIR_E_UNSUPPORTED, "outputs/0", "the elements have another width");
    uint64_t bytes = 0;
    const void *from = xir_kernel_bytes(at, 0);
    void *to = kernel_all_bytes(at, 0);
    if (!from || !to) return XIR_E_MEMORY;
    if (xir_type_bytes(out, &bytes)) return xir_kernel_fail(at, XIR_E_UNSUPPORTED, "outputs/0", "the dims are unknown");
    if (bytes) memcpy(to, from, (size_t)bytes);
    return XIR_OK;
}

kernel_table kernels_quantize = {
    { xir_quantize_class, quantize },
    { xir_bit_cast_class, bit_cast },
    { NULL,               NULL     },
};
