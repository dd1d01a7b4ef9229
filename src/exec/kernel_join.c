/* Inputs joined along a dim of the output. Stack joins along a new dim, in which each input has size 1. */
#include "carry.h"
#include "dims.h"

/* Chooses how the elements of all inputs are copied to output 0: all as bytes, or all as the same kind of numbers. */
static bool join_begin(xir_kernel *at, carrier *m) {
    const xir_type *out = xir_kernel_output_type(at, 0);
    bool same = true, real = xir_kernel_is_real(out);
    for (size_t i = 0; i < xir_kernel_input_count(at); i++) {
        const xir_type *in = xir_kernel_input_type(at, i);
        same = same && xir_kernel_same_elements(at, 0, i);
        real = real || xir_kernel_is_real(in);
    }
    size_t bytes = same ? xir_kernel_element_bytes(out) : 0;
    *m = (carrier){ .as = bytes ? CARRIED_BYTES : real ? CARRIED_REALS : CARRIED_I64S, .size = bytes ? bytes : 8 };
    m->to = m->as == CARRIED_BYTES ? kernel_all_bytes(at, 0)
          : m->as == CARRIED_REALS ? (char *)kernel_all_reals(at, 0) : (char *)kernel_all_i64s(at, 0);
    return m->to != NULL;
}

/* Joins along `axis` of the output. Each index of the axis has `inner` elements. */
static xir_status join(xir_kernel *at, size_t axis, bool stacked) {
    const xir_type *to = xir_kernel_output_type(at, 0);
    size_t inner = elements_after(to, axis), all = dim_of(to, axis), outer = 1, place = 0;
    carrier m;
    if (!join_begin(at, &m)) return XIR_E_MEMORY;
    for (size_t k = 0; k < axis; k++) outer *= dim_of(to, k);
    for (size_t i = 0; i < xir_kernel_input_count(at); i++) {
        size_t n = stacked ? 1 : dim_of(xir_kernel_input_type(at, i), axis);
        m.from = carried_input(at, &m, i);
        if (!m.from) return XIR_E_MEMORY;
        for (size_t o = 0; o < outer; o++) {
            if (xir_kernel_stops(at, n * inner)) return XIR_E_CANCELLED;
            carry(&m, (int64_t)((o * all + place) * inner), (int64_t)(o * n * inner), (int64_t)(n * inner));
        }
        place += n;
    }
    return XIR_OK;
}

static xir_status concat(xir_kernel *at) {
    const xir_concat_attrs *a = xir_kernel_attrs(at);
    return join(at, axis_of(xir_kernel_output_type(at, 0), a->axis), false);
}

static xir_status stack(xir_kernel *at) {
    const xir_stack_attrs *a = xir_kernel_attrs(at);
    return join(at, axis_of(xir_kernel_output_type(at, 0), a->dim), true);
}

kernel_table kernels_join = {
    { xir_concat_class, concat },
    { xir_stack_class,  stack  },
    { NULL,             NULL   },
};
