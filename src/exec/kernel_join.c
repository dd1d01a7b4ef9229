/* Inputs joined along a dim of the output. Stack joins along a new dim, in which each input has size 1. */
#include "carry.h"
#include "dims.h"

/* Joins along `axis` of the output. Each index of the axis has `inner` elements. */
static xir_status join(xir_kernel *at, size_t axis, bool stacked) {
    const xir_type *to = xir_kernel_output_type(at, 0);
    size_t inner = elements_after(to, axis), all = dim_of(to, axis), outer = 1, place = 0;
    carrier m;
    if (!carry_begin_all(at, &m, 0)) return XIR_E_MEMORY;
    for (size_t k = 0; k < axis; k++) outer *= dim_of(to, k);
    for (size_t i = 0; i < xir_kernel_input_count(at); i++) {
        size_t n = stacked ? 1 : dim_of(xir_kernel_input_type(at, i), axis);
        if (!carry_from(at, &m, i)) return XIR_E_MEMORY;
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
