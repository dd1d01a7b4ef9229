/* Tensors made from shapes and single numbers. Inference has seen the numbers and computed the number of elements. */
#include "kernel.h"
#include "pieces.h"

static int64_t count(xir_kernel *at) {
    int64_t n = 0;
    return xir_type_elements(xir_kernel_output_type(at, 0), &n) == XIR_OK ? n : 0;
}

static xir_status range(xir_kernel *at) {
    const int64_t n = count(at);
    if (xir_kernel_is_real(xir_kernel_input_type(at, 0))) {
        const double *start = xir_kernel_reals(at, 0), *delta = xir_kernel_reals(at, 2);
        double *out = kernel_all_reals(at, 0);
        if (!start || !delta || !out) return XIR_E_MEMORY;
        for (int64_t i = 0, end; (end = next_piece(at, i, n)) > i;) {
            for (; i < end; i++) out[i] = *start + (double)i * *delta;
        }
    } else {
        const int64_t *start = xir_kernel_i64s(at, 0), *delta = xir_kernel_i64s(at, 2);
        int64_t *out = kernel_all_i64s(at, 0);
        if (!start || !delta || !out) return XIR_E_MEMORY;
        for (int64_t i = 0, end; (end = next_piece(at, i, n)) > i;) {
            for (; i < end; i++) out[i] = (int64_t)((uint64_t)*start + (uint64_t)i * (uint64_t)*delta);
        }
    }
    return XIR_OK;
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
    const int64_t n = count(at), whole = integer ? integer->value : boolean ? boolean->value : 0;
    if (real) {
        double *out = kernel_all_reals(at, 0);
        if (!out) return XIR_E_MEMORY;
        for (int64_t i = 0, end; (end = next_piece(at, i, n)) > i;) {
            for (; i < end; i++) out[i] = real->value;
        }
        return XIR_OK;
    }
    int64_t *out = kernel_all_i64s(at, 0);
    if (!out) return XIR_E_MEMORY;
    for (int64_t i = 0, end; (end = next_piece(at, i, n)) > i;) {
        for (; i < end; i++) out[i] = whole;
    }
    return XIR_OK;
}

kernel_table kernels_fill = {
    { xir_range_class,             range             },
    { xir_shape_class,             shape             },
    { xir_constant_of_shape_class, constant_of_shape },
    { NULL,                        NULL              },
};
