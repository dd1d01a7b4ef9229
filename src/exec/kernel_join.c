/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Inputs joined along a dim of the output. Stack joins along a new dim, in which each input has size 1. A row of the
 * output has a part of each input; threads share the elements of all rows. */
#include "carry.h"
#include "dims.h"

/* Elements [first, end) of each row are of an input, from element 0 of it on. */
typedef struct part {
    carrier m;
    size_t  first, end;
} part;

typedef struct joining {
    const part *parts;
    size_t      n, row;   /* number of parts, elements of a row */
} joining;

/* The part that has element k of a row. Parts without elements have none. */
static const part *part_at(const joining *j, size_t k) {
    size_t low = 0, high = j->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (j->parts[middle].end > k) high = middle;
        else                          low = middle + 1;
    }
    return &j->parts[low];
}

static void join_block(size_t from, size_t n, void *user) {
    const joining *j = user;
    size_t row = from / j->row, k = from % j->row;
    const part *p = part_at(j, k);
    for (size_t i = 0, some; i < n; i += some) {
        const size_t size = p->end - p->first, rest = p->end - k;
        some = n - i < rest ? n - i : rest;
        carry(&p->m, (int64_t)(from + i), (int64_t)(row * size + k - p->first), (int64_t)some);
        k += some;
        if (k == j->row) {
            k = 0;
            row++;
            p = j->parts;
        }
        while (k >= p->end) p++;
    }
}

/* Joins along `axis` of the output. Each index of the axis has `inner` elements. */
static xir_status join(xir_kernel *at, size_t axis, bool stacked) {
    const xir_type *to = xir_kernel_output_type(at, 0);
    const size_t inner = elements_after(to, axis), n = xir_kernel_input_count(at);
    size_t outer = 1, place = 0;
    carrier m;
    part *parts = xir_kernel_alloc(at, n + 1, sizeof *parts);
    if (!parts || !carry_begin_all(at, &m, 0)) return XIR_E_MEMORY;
    for (size_t k = 0; k < axis; k++) outer *= dim_of(to, k);
    for (size_t i = 0; i < n; i++) {
        if (!carry_from(at, &m, i)) return XIR_E_MEMORY;
        const size_t size = (stacked ? 1 : dim_of(xir_kernel_input_type(at, i), axis)) * inner;
        parts[i] = (part){ m, place, place + size };
        place += size;
    }
    if (outer * place == 0) return XIR_OK;
    joining j = { parts, n, place };
    return m.as_bytes ? spread_blocks_of(at, outer * place, STEPS_A_COPY + STEPS_A_RUN * n / place, join_block, &j)
                      : spread_blocks(at, outer * place, join_block, &j);
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
