/* Numbers as stored integers: by a rule for rounding, or as they are. The rule of ONNX rounds every step to the
 * expressed type, so that ties are those of its definition: the quotient of a real, or of stored numbers the quotient
 * of both scales and the product with it. */
#include <math.h>
#include "elements.h"
#include "kernel.h"
#include "kernels.h"
#include "pieces.h"

typedef struct quantizing {
    const xir_quantize_attrs *rule;
    tensor_elements           from, to;
    element_format            expressed;
    double                    least, most;   /* of what is stored */
} quantizing;

/* The stored number of element i, without its limits. */
static double stored_number(const quantizing *q, const void *in, size_t i, const double *reals) {
    const double scale = elements_scale(&q->to, i), zero = elements_zero(&q->to, i);
    if (q->rule->rounding == XIR_TIES_HALF_AWAY) return round(reals[i] / scale) + zero;
    double v = reals[i] / scale;
    if (q->from.quantised) {
        const double stored = elements_stored(&q->from, in, i) - elements_zero(&q->from, i);
        v = element_rounded(q->expressed, stored) * element_rounded(q->expressed, elements_scale(&q->from, i) / scale);
    }
    return nearbyint(element_rounded(q->expressed, v)) + zero;
}

static xir_status give_stored(xir_kernel *at, quantizing *q, size_t n) {
    const void *in = xir_kernel_bytes(at, 0);
    const double *reals = xir_kernel_reals(at, 0);
    void *out = xir_kernel_bytes_out(at, 0);
    if (!in || !reals || !out) return XIR_E_MEMORY;
    for (int64_t i = 0, end; (end = next_piece(at, i, (int64_t)n)) > i;) {
        for (; i < end; i++) {
            const double v = stored_number(q, in, (size_t)i, reals);
            elements_store(&q->to, out, (size_t)i, v > q->most ? q->most : v >= q->least ? v : q->least);   /* as NaN */
        }
    }
    return XIR_OK;
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
    quantizing q = { .rule = xir_kernel_attrs(at), .expressed = element_format_of(xir_type_expressed(out)) };
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
    status = give_stored(at, &q, (size_t)n);
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
    void *to = xir_kernel_bytes_out(at, 0);
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
