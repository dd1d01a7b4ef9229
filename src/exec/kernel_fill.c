/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tensors made from shapes and single numbers. Inference has seen the numbers and computed the number of elements. */
#include "kernels.h"
#include "spread.h"

static int64_t count(xir_kernel *at) {
    int64_t n = 0;
    return xir_type_elements(xir_kernel_output_type(at, 0), &n) == XIR_OK ? n : 0;
}

/* Numbers in equal steps; if the step is NULL, the same number. */
typedef struct series {
    bool          real;
    number        first;
    const number *step;
    writer        y;
} series;

static void fill_block(size_t from, size_t n, void *user) {
    const series *s = user;
    number out[BLOCK];
    for (size_t i = 0; i < n; i++) {
        if (!s->step) out[i] = s->first;
        else if (s->real) out[i].real = s->first.real + (double)(from + i) * s->step->real;
        else out[i].integer = (int64_t)((uint64_t)s->first.integer + (from + i) * (uint64_t)s->step->integer);
    }
    write_numbers(&s->y, s->real, from, n, out);
}

static xir_status fill(xir_kernel *at, series *s) {
    if (!writer_open(&s->y, at, 0)) return XIR_E_MEMORY;
    return spread_blocks(at, (size_t)count(at), fill_block, s);
}

static xir_status range(xir_kernel *at) {
    reader start, delta;
    number step;
    series s = { .real = xir_kernel_is_real(xir_kernel_input_type(at, 0)), .step = &step };
    if (!reader_open(&start, at, 0) || !reader_open(&delta, at, 2)) return XIR_E_MEMORY;
    copy_numbers(&start, s.real, 0, 1, &s.first);
    copy_numbers(&delta, s.real, 0, 1, &step);
    return fill(at, &s);
}

static xir_status shape(xir_kernel *at) {
    const xir_shape_attrs *a = xir_kernel_attrs(at);
    const xir_type *type = xir_kernel_input_type(at, 0);
    const int64_t n = count(at), rank = (int64_t)xir_type_rank(type);
    int64_t start = a->start >= 0 ? a->start : a->start < -rank ? 0 : a->start + rank;
    int64_t *out = kernel_all_i64s(at, 0);
    for (int64_t i = 0; i < n && out; i++) out[i] = xir_type_dim(type, start + i, false);
    return out ? XIR_OK : XIR_E_MEMORY;
}

static xir_status constant_of_shape(xir_kernel *at) {
    const xir_constant_of_shape_attrs *a = xir_kernel_attrs(at);
    const xir_object *value = (const xir_object *)a->value;
    const xir_float_imm *real = xir_float_imm_of(value);
    const xir_int_imm *integer = xir_int_imm_of(value);
    const xir_bool_imm *boolean = xir_bool_imm_of(value);
    series s = { .real = real != NULL };
    if (real) s.first.real = real->value;
    else s.first.integer = integer ? integer->value : boolean ? boolean->value : 0;
    return fill(at, &s);
}

kernel_table kernels_fill = {
    { xir_range_class,             range             },
    { xir_shape_class,             shape             },
    { xir_constant_of_shape_class, constant_of_shape },
    { NULL,                        NULL              },
};
