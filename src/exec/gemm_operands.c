/* What products read and write. */
#include "gemm.h"
#include "elements.h"

#define IS_LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)   /* else numbers are not as tensors store them */

/* An upper bound of the significant bits of a type's numbers as doubles. */
static unsigned significant_bits(element_format f) {
    switch (f.kind) {
    case ELEMENT_FLOAT:    return f.mantissa + 1u;
    case ELEMENT_BOOL:     return 1;
    case ELEMENT_SIGNED:
    case ELEMENT_UNSIGNED: return f.bits < 53 ? f.bits : 53;
    case ELEMENT_NONE:     break;
    }
    return 53;
}

bool gemm_read(xir_kernel *at, size_t input, gemm_input *in) {
    const element_format f = element_format_of(xir_kernel_input_type(at, input));
    const bool is_float = f.kind == ELEMENT_FLOAT && IS_LITTLE;
    *in = (gemm_input){ .bits = significant_bits(f) };
    if (is_float && f.bits == 32) {
        in->bits = 24;             // TF32 may have bits of fp32 that are not zero
        in->singles = xir_kernel_bytes(at, input);
        return in->singles != NULL;
    }
    if (is_float && f.bits == 64) {
        in->doubles = xir_kernel_bytes(at, input);
        return in->doubles != NULL;
    }
    in->doubles = xir_kernel_reals(at, input);
    return in->doubles != NULL;
}

/* Copies a line of n neighbouring numbers into a panel; `unit` apart. */
static void put_line(const gemm_input *in, int64_t from, size_t n, double *out, size_t unit) {
    const gemm_input wide = { .doubles = in->doubles };    // so that no element asks which it is
    if (in->doubles) for (size_t k = 0; k < n; k++) out[k * unit] = gemm_element(&wide, from + (int64_t)k);
    else for (size_t k = 0; k < n; k++) out[k * unit] = gemm_element(in, from + (int64_t)k);
}

void gemm_pack_matrix(const gemm_path *path, const gemm_input *in, int64_t start, int64_t step, int64_t k_step,
                      const gemm_panel *p) {
    const int64_t first = start + (int64_t)p->first * step + (int64_t)p->k * k_step;
    double *out = p->out;
    if (step == 1) {
        for (size_t k = 0; k < p->depth; k++, out += p->unit) {
            const int64_t from = first + (int64_t)k * k_step;
            if (in->singles) path->widen(in->singles + from, p->n, out);
            else memcpy(out, in->doubles + from, p->n * sizeof *out);
        }
        return;
    }
    size_t i = 0;
    if (k_step == 1 && in->singles) {
        for (; p->n - i >= path->lines; i += path->lines) {
            const float *from[GEMM_MOST_LINES];
            for (size_t t = 0; t < path->lines; t++) from[t] = in->singles + first + (int64_t)(i + t) * step;
            path->interleave(from, p->depth, out + i, p->unit);
        }
    }
    if (k_step == 1 && in->doubles) {
        for (; p->n - i >= path->lines; i += path->lines) {
            const double *from[GEMM_MOST_LINES];
            for (size_t t = 0; t < path->lines; t++) from[t] = in->doubles + first + (int64_t)(i + t) * step;
            path->interleave_doubles(from, p->depth, out + i, p->unit);
        }
    }
    if (k_step == 1) {
        for (; i < p->n; i++) put_line(in, first + (int64_t)i * step, p->depth, out + i, p->unit);
        return;
    }
    for (size_t k = 0; k < p->depth; k++, out += p->unit) {
        const int64_t from = first + (int64_t)k * k_step;
        if (in->doubles) for (size_t t = 0; t < p->n; t++) memcpy(out + t, in->doubles + from + (int64_t)t * step, 8);
        else for (size_t t = 0; t < p->n; t++) out[t] = gemm_element(in, from + (int64_t)t * step);
    }
}

bool gemm_write(xir_kernel *at, size_t output, gemm_output *out) {
    const xir_type *type = xir_kernel_output_type(at, output);
    const element_format f = element_format_of(type);
    *out = (gemm_output){ 0 };
    if (f.kind == ELEMENT_FLOAT && f.mantissa == 23 && IS_LITTLE && !at->numbers.cut) {
        out->singles = kernel_all_bytes(at, output);
        return out->singles != NULL;
    }
    if (f.kind == ELEMENT_FLOAT && f.mantissa == 52 && IS_LITTLE && !at->numbers.cut) {
        out->doubles = kernel_all_bytes(at, output);
        return out->doubles != NULL;
    }
    out->doubles = kernel_all_reals(at, output);
    return out->doubles != NULL;
}

void gemm_put(const gemm_path *path, const gemm_output *out, int64_t at, const double *sum, const double *bias,
              size_t n) {
    if (out->singles) path->narrow(sum, bias, n, out->singles + at);
    else if (!bias) memcpy(out->doubles + at, sum, n * sizeof *sum);
    else for (size_t i = 0; i < n; i++) gemm_put_one(out, at + (int64_t)i, sum[i] + bias[i]);
}
