/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The k greatest or least elements along an axis. */
#include <inttypes.h>
#include "graph.h"
#include "pick.h"

/* The number of elements to choose from. Padding along the axis alone does not count. */
static int64_t candidates(xir_infer *at, size_t axis) {
    const xir_type *x = xir_infer_input(at, 0);
    const int64_t axes[1] = { (int64_t)axis };
    const xir_distr *distr = xir_type_distr(x, axes, 1);
    return distr ? xir_distr_total_valid(distr) : type_dim(x, (int64_t)axis);
}

static xir_status top_k_shape(xir_infer *at, size_t *axis, int64_t *k) {
    const xir_top_k_attrs *a = xir_infer_attrs(at);
    xir_status status = picked_axis(at, a->axis, axis);
    if (status) return status;
    if (xir_type_kind_of(xir_type_element(xir_infer_input(at, 0))) == XIR_TYPE_BOOL) {
        return xir_infer_fail(at, XIR_E_TYPE, "inputs/0", "the elements of x are bool: expected numbers");
    }
    constant_number count;
    if ((status = need_integers(at, 1)) || (status = need_one(at, 1)) || (status = read_number(at, 1, &count)))
        return status;
    *k = count.known ? count.integer : UNKNOWN_DIM;
    if (!count.known) return XIR_OK;

    int64_t most = candidates(at, *axis);
    if (*k < 0) return xir_infer_fail(at, XIR_E_BOUNDS, "inputs/1", "k is %" PRId64 ": expected at least 0", *k);
    if (most < 0 || *k <= most) return XIR_OK;
    return xir_infer_fail(at, XIR_E_BOUNDS, "inputs/1", "k is %" PRId64 ", but axis %zu has %" PRId64 " elements", *k,
                          *axis, most);
}

xir_status top_k_check(xir_infer *at) {
    size_t axis;
    int64_t k;
    if (!inputs_known(at, 2) || inputs_tiled(at, 2)) return XIR_OK;
    return top_k_shape(at, &axis, &k);
}

xir_status top_k_infer(xir_infer *at) {
    size_t axis;
    int64_t k;
    dim_list dims, to;
    xir_status status = need_inputs(at, 2);
    if (!status) status = top_k_shape(at, &axis, &k);
    if (status) return status;
    const xir_type *x = xir_infer_input(at, 0), *element = xir_type_element(x);
    if (!dims_copy(at, &dims, x)) return XIR_E_MEMORY;
    if (!dims_init(at, &to, dims.size)) {
        dims_free(&dims);
        return XIR_E_MEMORY;
    }
    for (size_t i = 0; i < dims.size; i++) to.data[i] = (int64_t)i;
    dims.data[axis] = k;
    to.data[axis] = -1;
    status = give_picked(at, to.data, (int64_t)axis, &dims);
    if (!status && !xir_type_is_quantized(element)) status = xir_infer_result(at, at->out[0]);
    else if (!status) {
        status = give_tensor(at, at->out[0], xir_type_expressed(element), &dims,
                             xir_type_as_tensor(at->out[0])->merged_distrs);
    }
    dims_free(&to);
    dims_free(&dims);
    return status;
}
