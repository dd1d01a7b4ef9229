/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "broadcast.h"

/* The strides of an input along the dims of the output. */
static xir_status find_strides(xir_kernel *at, size_t input, const xir_type *to, size_t *strides) {
    const xir_type *type = xir_kernel_input_type(at, input);
    size_t rank = xir_type_rank(to), own = xir_type_rank(type), stride = 1;
    if (own > rank) return xir_kernel_fail(at, XIR_E_INVALID, NULL, "input %zu has more dims than the output", input);
    for (size_t k = 0; k < rank; k++) {
        size_t o = rank - 1 - k;
        int64_t dim = k < own ? xir_type_dim(type, (int64_t)(own - 1 - k), false) : 1;
        if (dim != 1 && dim != xir_type_dim(to, (int64_t)o, false)) {
            return xir_kernel_fail(at, XIR_E_INVALID, NULL,
                                   "dim -%zu of input %zu does not broadcast to that of the output", k + 1, input);
        }
        strides[o] = dim == 1 ? 0 : stride;
        stride *= (size_t)dim;
    }
    return XIR_OK;
}

static bool goes_on(const broadcast *b, size_t k) {
    for (size_t i = 0; i < b->n_inputs; i++) {
        if (b->strides[i][k] != b->strides[i][k + 1] * b->dims[k + 1]) return false;
    }
    return true;
}

/* Removes dim k, which is merged into the next one or has size 1. */
static void drop(broadcast *b, size_t k) {
    b->rank--;
    for (size_t j = k; j < b->rank; j++) {
        b->dims[j] = b->dims[j + 1];
        for (size_t i = 0; i < b->n_inputs; i++) b->strides[i][j] = b->strides[i][j + 1];
    }
}

xir_status broadcast_open(broadcast *b, xir_kernel *at, size_t n) {
    const xir_type *to = xir_kernel_output_type(at, 0);
    *b = (broadcast){ .n_inputs = n, .rank = xir_type_rank(to) };
    int64_t elements;
    if (xir_type_elements(to, &elements))
        return xir_kernel_fail(at, XIR_E_UNSUPPORTED, "outputs/0", "the dims are unknown");
    b->count = (size_t)elements;
    size_t *room = xir_kernel_alloc(at, (b->rank + 1) * (n + 1), sizeof *room);
    if (!room) return XIR_E_MEMORY;
    b->dims = room;
    for (size_t i = 0; i < n; i++) {
        b->strides[i] = room + (b->rank + 1) * (i + 1);
        xir_status status = find_strides(at, i, to, b->strides[i]);
        if (status) return status;
    }
    for (size_t k = 0; k < b->rank; k++) b->dims[k] = (size_t)xir_type_dim(to, (int64_t)k, false);
    for (size_t k = b->rank; k-- > 0;) {
        if (b->dims[k] == 1) drop(b, k);
    }
    for (size_t k = b->rank; k-- > 1;) {
        if (!goes_on(b, k - 1)) continue;
        b->dims[k] *= b->dims[k - 1];
        drop(b, k - 1);
    }
    for (size_t i = 0; i < n; i++) {
        if (!reader_open(&b->in[i], at, i)) return XIR_E_MEMORY;
        size_t stride = 1;
        b->whole[i] = true;
        for (size_t k = b->rank; k-- > 0; stride *= b->dims[k]) b->whole[i] = b->whole[i] && b->strides[i][k] == stride;
    }
    return XIR_OK;
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

/* Elements [from, from + n) of a row: consecutive, or the same one n times. */
static void put_row(const reader *r, bool real, size_t from, bool repeated, size_t n, number *out) {
    copy_numbers(r, real, from, repeated ? 1 : n, out);
    const number one = out[0];   // n is not 0
    for (size_t i = 1; repeated && i < n; i++) out[i] = one;
}

/* Returns the position in an input of element `o` of the output. */
static size_t place_of(const broadcast *b, size_t input, size_t o) {
    size_t at = 0;
    for (size_t k = b->rank; k-- > 0; o /= b->dims[k]) at += o % b->dims[k] * b->strides[input][k];
    return at;
}

static const number *gather(const broadcast *b, size_t input, bool real, size_t from, size_t n, number *room) {
    if (b->whole[input]) return read_numbers(&b->in[input], real, from, n, room);
    const size_t last = b->rank - 1, length = b->dims[last];   // without dims it would be whole
    for (size_t done = 0, row; done < n; done += row) {
        row = length - (from + done) % length;
        if (row > n - done) row = n - done;
        put_row(&b->in[input], real, place_of(b, input, from + done), b->strides[input][last] == 0, row, room + done);
    }
    return room;
}

const double *broadcast_reals(const broadcast *b, size_t input, size_t from, size_t n, double *room) {
    return &gather(b, input, true, from, n, (number *)(void *)room)->real;
}

const int64_t *broadcast_i64s(const broadcast *b, size_t input, size_t from, size_t n, int64_t *room) {
    return &gather(b, input, false, from, n, (number *)(void *)room)->integer;
}
