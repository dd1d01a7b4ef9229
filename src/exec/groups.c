/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "groups.h"
#include <xir/distr.h>

/* The offsets of all indices of the dims whose mark is `mark`, in row-major order. */
static size_t *offsets(xir_kernel *at, const xir_type *type, const bool *along, bool mark, size_t *count) {
    size_t rank = xir_type_rank(type), n = 1, filled = 1;
    for (size_t k = 0; k < rank; k++) n *= along[k] == mark ? dim_of(type, k) : 1;
    size_t *out = xir_kernel_alloc(at, n + 1, sizeof *out);
    *count = n;
    if (!out || n == 0) return out;
    /* From the last dim on, the offsets so far are repeated for every index of the next dim. */
    for (size_t k = rank; k-- > 0;) {
        size_t stride = elements_after(type, k);
        for (size_t i = 1; along[k] == mark && i < dim_of(type, k); i++) {
            for (size_t j = 0; j < filled; j++) out[i * filled + j] = out[j] + i * stride;
        }
        if (along[k] == mark) filled *= dim_of(type, k);
    }
    return out;
}

/* The starts follow from the dims if the grouped ones are neighbours; dims of 1 do not count. */
static bool open_starts(groups *g, xir_kernel *at, const xir_type *type, const bool *along) {
    bool inside = false, ended = false, neighbours = true;
    g->n = g->after = 1;
    for (size_t k = 0; k < xir_type_rank(type); k++) {
        const size_t dim = dim_of(type, k);
        if (dim == 1) continue;
        neighbours = neighbours && !(along[k] && ended);
        inside = inside || along[k];
        ended = inside && !along[k];
        if (along[k]) g->after = 1;
        else          g->after *= dim, g->n *= dim;
    }
    if (!inside) g->after = 1;
    if (g->after == 0) g->after = 1;
    g->starts = NULL;
    return neighbours || (g->starts = offsets(at, type, along, false, &g->n));
}

bool groups_open(groups *g, xir_kernel *at, const xir_type *type, const bool *along) {
    g->line = 1;
    for (size_t k = xir_type_rank(type); k > 0 && along[k - 1]; k--) g->line *= dim_of(type, k - 1);
    if (g->line == 0) g->line = 1;
    g->members = offsets(at, type, along, true, &g->size);
    return g->members && open_starts(g, at, type, along);
}

bool groups_open_lines(groups *g, xir_kernel *at, const xir_type *type, const bool *along) {
    size_t k = xir_type_rank(type);
    g->size = 1;
    for (; k > 0 && along[k - 1]; k--) g->size *= dim_of(type, k - 1);
    for (; k > 0; k--) {
        if (along[k - 1]) return groups_open(g, at, type, along);
    }
    g->members = NULL;
    g->line = g->size ? g->size : 1;
    return open_starts(g, at, type, along);
}

bool *groups_along(xir_kernel *at, const xir_type *type, const int64_t *axes, size_t n) {
    size_t rank = xir_type_rank(type);
    bool *along = xir_kernel_alloc(at, rank + 1, sizeof *along);
    for (size_t i = 0; along && i < n; i++) along[axis_of(type, axes[i])] = true;
    for (size_t k = 0; along && n == 0 && k < rank; k++) along[k] = true;
    return along;
}

xir_status refuse_padding(xir_kernel *at, size_t input) {
    xir_refs distrs = xir_type_as_tensor(xir_kernel_input_type(at, input))->merged_distrs;
    for (size_t i = 0; i < distrs.size; i++) {
        if (distrs.data[i] && xir_distr_total_invalid((const xir_distr *)distrs.data[i])) {
            return xir_kernel_fail(at, XIR_E_UNSUPPORTED, "inputs/0",
                                   "some elements are padding: the executor cannot skip padding here");
        }
    }
    return XIR_OK;
}
