/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The operands and results of products. */
#include "gemm.h"
#include "elements.h"

enum { PUT_AT_ONCE = 64 };

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
    if (!reader_open(&in->stored, at, input)) return false;
    in->doubles = in->stored.reals;
    return true;
}

void gemm_copy_line(const gemm_input *in, int64_t from, int64_t step, size_t n, double *out, size_t unit) {
    enum { ROOM = 512, NEAR = 16 };    /* elements between those of a line are converted too, if they are few */
    double room[ROOM];
    const gemm_input wide = { .doubles = in->doubles };    // so that no element asks which it is
    if (in->singles) {
        for (size_t k = 0; k < n; k++) out[k * unit] = gemm_element(in, from + (int64_t)k * step);
        return;
    }
    if (in->doubles) {
        for (size_t k = 0; k < n; k++) out[k * unit] = gemm_element(&wide, from + (int64_t)k * step);
        return;
    }
    const size_t apart = step > 0 && step <= NEAR ? (size_t)step : 1, most = step == (int64_t)apart ? ROOM / apart : 1;
    for (size_t k = 0, m; k < n; k += m) {
        m = n - k < most ? n - k : most;
        const double *x = read_reals(&in->stored, (size_t)(from + (int64_t)k * step), (m - 1) * apart + 1, room);
        for (size_t i = 0; i < m; i++) out[(k + i) * unit] = x[i * apart];
    }
}

void gemm_copy_lines(const gemm_path *path, const gemm_input *in, const int64_t *from, size_t n, size_t depth,
                     double *out, size_t unit) {
    static const float zeros[GEMM_DEPTH];
    static const double wide_zeros[GEMM_DEPTH];
    double room[GEMM_MOST_LINES][GEMM_DEPTH];
    size_t i = 0;
    for (; n - i >= path->lines; i += path->lines) {
        const float *single[GEMM_MOST_LINES];
        const double *line[GEMM_MOST_LINES];
        for (size_t t = 0; t < path->lines; t++) {
            const int64_t at = from[i + t];
            if (in->singles)      single[t] = at < 0 ? zeros : in->singles + at;
            else if (at < 0)      line[t] = wide_zeros;
            else if (in->doubles) line[t] = in->doubles + at;
            else                  line[t] = read_reals(&in->stored, (size_t)at, depth, room[t]);
        }
        if (in->singles) path->interleave(single, depth, out + i, unit);
        else path->interleave_doubles(line, depth, out + i, unit);
    }
    for (; i < n; i++) {
        if (from[i] >= 0) gemm_copy_line(in, from[i], 1, depth, out + i, unit);
        else for (size_t k = 0; k < depth; k++) out[k * unit + i] = 0;
    }
}

/* Neighbours are items of the panel. */
static void pack_rows(const gemm_path *path, const gemm_input *in, int64_t from, int64_t k_step, const gemm_panel *p) {
    if (in->singles) {
        path->widen_rows(in->singles + from, (ptrdiff_t)k_step, p->n, p->depth, p->out, p->unit);
    } else if (in->doubles) {
        path->copy_rows(in->doubles + from, (ptrdiff_t)k_step, p->n, p->depth, p->out, p->unit);
    } else for (size_t k = 0; k < p->depth; k++, from += k_step) {
        elements_read_reals(in->stored.elements, in->stored.bytes, (size_t)from, p->n, p->out + k * p->unit);
    }
}

void gemm_pack_matrix(const gemm_path *path, const gemm_input *in, int64_t start, int64_t step, int64_t k_step,
                      const gemm_panel *p) {
    const int64_t first = start + (int64_t)p->first * step + (int64_t)p->k * k_step;
    int64_t from[GEMM_MOST_BROAD];
    if (step == 1) {
        pack_rows(path, in, first, k_step, p);
    } else if (k_step == 1) {
        for (size_t t = 0; t < p->n; t++) from[t] = first + (int64_t)t * step;
        gemm_copy_lines(path, in, from, p->n, p->depth, p->out, p->unit);
    } else if (k_step < step) {
        for (size_t t = 0; t < p->n; t++)
            gemm_copy_line(in, first + (int64_t)t * step, k_step, p->depth, p->out + t, p->unit);
    } else {
        for (size_t k = 0; k < p->depth; k++)
            gemm_copy_line(in, first + (int64_t)k * k_step, step, p->n, p->out + k * p->unit, 1);
    }
}

/* The most binary digits of an integer's magnitude; 64 if the input is not integers. */
static uint64_t digits_of(const xir_kernel *at, size_t input) {
    const element_format f = element_format_of(xir_kernel_input_type(at, input));
    switch (f.kind) {
    case ELEMENT_BOOL:     return 1;
    case ELEMENT_SIGNED:   return f.bits - 1u;     // products of -2^(bits - 1) too have at most the digits of both
    case ELEMENT_UNSIGNED: return f.bits;
    default:               return 64;
    }
}

bool gemm_is_narrow(const xir_kernel *at, size_t left, size_t right, size_t bias, uint64_t depth) {
    uint64_t digits = digits_of(at, left) + digits_of(at, right);
    for (; depth; depth /= 2) digits++;
    return digits <= 52 && (!xir_kernel_input_type(at, bias) || digits_of(at, bias) <= 52);
}

bool gemm_write(xir_kernel *at, size_t output, bool whole, gemm_output *out) {
    const xir_type *type = xir_kernel_output_type(at, output);
    const element_format f = element_format_of(type);
    *out = (gemm_output){ .whole = whole };
    if (whole) {
        if (xir_type_storage_bits(type) % 8 == 0) return writer_open(&out->stored, at, output);
        out->integers = kernel_all_i64s(at, output);
        return out->integers != NULL;
    }
    if (f.kind == ELEMENT_FLOAT && f.mantissa == 23 && IS_LITTLE && !at->numbers.cut) {
        out->singles = kernel_all_bytes(at, output);
        return out->singles != NULL;
    }
    if (f.kind == ELEMENT_FLOAT && f.mantissa == 52 && IS_LITTLE && !at->numbers.cut) {
        out->doubles = kernel_all_bytes(at, output);
        return out->doubles != NULL;
    }
    if (xir_type_storage_bits(type) % 8 == 0) return writer_open(&out->stored, at, output);
    out->doubles = kernel_all_reals(at, output);
    return out->doubles != NULL;
}

/* One row, whose sums have their bias already. They may be changed. */
static void put_row(const gemm_output *out, size_t at, double *sum, size_t n) {
    int64_t integers[PUT_AT_ONCE];
    if (!out->whole) {
        write_reals(&out->stored, at, n, sum);
        return;
    }
    for (size_t i = 0; i < n; i++) integers[i] = (int64_t)sum[i];
    if (out->integers) memcpy(out->integers + at, integers, n * sizeof *integers);
    else write_i64s(&out->stored, at, n, integers);
}

void gemm_put_block(const gemm_path *path, const gemm_output *out, int64_t at, int64_t row_step, const gemm_block *b) {
    double room[PUT_AT_ONCE];
    if (out->singles) {
        path->narrow(b, out->singles + at, (ptrdiff_t)row_step);
        return;
    }
    for (size_t i = 0; i < b->rows; i++, at += row_step) {
        for (size_t k = 0, n; k < b->columns; k += n) {
            const double *sum = b->sum + i * b->step + k;
            n = b->columns - k < PUT_AT_ONCE ? b->columns - k : PUT_AT_ONCE;
            for (size_t j = 0; j < n; j++) {
                room[j] = b->row_bias ? sum[j] + b->row_bias[i] : b->column_bias ? sum[j] + b->column_bias[k + j]
                    : sum[j];
            }
            if (out->doubles) memcpy(out->doubles + at + k, room, n * sizeof *room);
            else put_row(out, (size_t)at + k, room, n);
        }
    }
}
