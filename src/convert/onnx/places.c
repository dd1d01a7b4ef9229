/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops that write or read single elements along an axis: they become ScatterND and GatherND, with all coordinates of
 * each element. The coordinates that the op's indices do not give are constants. */
#include "onnx/rows.h"

enum { MOST_PLACES = 1 << 22 };

bool onnx_scatter_elements(xir_node *at) {
    xir_value *data = xir_node_input(at, 0), *indices = xir_node_input(at, 1), *updates = xir_node_input(at, 2);
    int64_t axis;
    if (!xir_node_one_of(at, "reduction", "none", "none|add|mul|max|min") || xir_node_failed(at)) return false;
    if (!node_axis(at, "axis", 0, v_rank(data), &axis)) return false;
    return xir_node_result(at, 0, make_scattered(at, data, indices, updates, (size_t)axis,
                                                 xir_node_text(at, "reduction", "none")));
}

/* In each batch, reverses the given number of first elements along the time axis; the others stay in place. */
bool onnx_reverse_sequence(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const int64_t batch_axis = xir_node_int(at, "batch_axis", 1), time_axis = xir_node_int(at, "time_axis", 0);
    xir_ints lengths;
    if (xir_node_failed(at) || !xir_node_need_dims(at, x, 0, 2) || !xir_node_ints(at, 1, &lengths)) return false;
    if (v_rank(x) < 2 || batch_axis < 0 || batch_axis > 1 || time_axis != 1 - batch_axis) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/time_axis",
                                "batch_axis and time_axis: expected 0 and 1 in any order, found %lld and %lld",
                                (long long)batch_axis, (long long)time_axis);
    }
    const int64_t batches = v_dim(x, (size_t)batch_axis), times = v_dim(x, (size_t)time_axis);
    if ((int64_t)lengths.n != batches) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/1",
                                "expected %lld lengths, one for each batch, found %zu",
                                (long long)batches, lengths.n);
    }
    xir_ints dims = xir_node_make_ints(at, 3, 2);
    if (xir_node_failed(at)) return false;
    dims.v[0] = v_dim(x, 0), dims.v[1] = v_dim(x, 1);
    const int64_t n = product_of(&dims, 0, 3);
    if (!node_elements_at_most(at, &dims, MOST_PLACES, "the tensor of indices")) return false;
    double *v = node_take(at, ((size_t)n + 1) * sizeof *v);
    if (!v) return node_no_memory(at);
    for (int64_t i = 0; i < n / 2; i++) {
        int64_t place[2] = { i / dims.v[1], i % dims.v[1] }, t = place[time_axis],
                length = lengths.v[place[batch_axis]];
        if (length < 0 || length > times) {
            return xir_node_invalid(at, XIR_E_BOUNDS, "input/1", "expected lengths of at most %lld, found %lld",
                                    (long long)times, (long long)length);
        }
        if (t < length) place[time_axis] = length - 1 - t;
        v[2 * i] = (double)place[0];
        v[2 * i + 1] = (double)place[1];
    }
    return xir_node_becomes(at, "GatherND",
                            INS(x, xir_node_constant(at, xir_type_sint(at->c->ctx, 64), &dims, v, (size_t)n)), NO_SETS);
}
