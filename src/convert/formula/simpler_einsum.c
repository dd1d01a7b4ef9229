/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Einsum as sums, transposes and matrix products of at most three dims. */
#include "formula/parts.h"
#include "formula/simpler.h"
#include "support/einsum.h"

static xir_value *make_op(void *user, einsum_kind kind, xir_value *x, xir_value *y, const int64_t *list, size_t n) {
    xir_node *at = user;
    const xir_ints axes = { (int64_t *)(uintptr_t)list, n };
    switch (kind) {
    case EINSUM_SUM:       return xir_node_reduced(at, "Sum", x, &axes, false);
    case EINSUM_RESHAPE:   return make_shaped(at, x, list, n);
    case EINSUM_TRANSPOSE: return xir_node_transposed(at, x, list, n, NULL);
    default:               return make_matrix_product(at, x, y);
    }
}

bool simpler_einsum(xir_node *at) {
    const char *obstacle = NULL;
    const xir_values in = node_inputs(at);
    for (size_t i = 0; i < in.size; i++) if (!xir_node_need_dims(at, in.data[i], 0, SIZE_MAX)) return false;
    if (!in.size) return false;
    const einsum_maker maker = { make_op, at, true };
    xir_value *y = einsum_make(&maker, xir_node_text(at, "equation", ""), in.data, in.size, &obstacle);
    if (obstacle) return xir_node_unsupported(at, "%s", obstacle);
    return y == in.data[0] ? xir_node_becomes(at, "Copy", INS(y), NO_SETS) : xir_node_result(at, 0, y);
}
