/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Comparisons, logic and selection. */
#include <inttypes.h>
#include "elementwise.h"
#include "graph.h"
#include "types.h"

xir_status compare_check(xir_infer *at) { return check_pair(at); }

xir_status logic_check(xir_infer *at) {
    xir_status status = need_bools(at, 0);
    if (!status) status = need_bools(at, 1);
    return status ? status : check_pair(at);
}

static const xir_type *truth(xir_infer *at) {
    const xir_type *element = type_bool(at->pool);
    if (!element) infer_no_memory(at);
    return element;
}

xir_status compare_infer(xir_infer *at) {
    const xir_type *element = truth(at);
    return element ? give_pair(at, element) : XIR_E_MEMORY;
}

xir_status not_infer(xir_infer *at) {
    const xir_type *input = xir_infer_input(at, 0), *element = truth(at);
    const xir_tensor_type *like = xir_type_as_tensor(input);
    if (!element) return XIR_E_MEMORY;
    if (!input) return xir_infer_fail(at, XIR_E_MISSING, "inputs/0", "input is absent or has no type");
    if (!like) return xir_infer_result(at, element);
    const xir_type *type = type_tensor(at->pool, element, like->layout, like->shape, like->merged_distrs);
    return type ? xir_infer_result(at, type) : infer_no_memory(at);
}

/* ---- selection ----------------------------------------------------------------------------------------------- */

/* The common shape of all three inputs; creates `out`. */
static xir_status where_shape(xir_infer *at, dim_list *out) {
    const xir_tensor_type *tensor = xir_type_as_tensor(xir_infer_input(at, 2));
    const xir_i64s condition = tensor ? tensor->shape : (xir_i64s){ NULL, 0 };
    dim_list values;
    xir_status status = broadcast(at, xir_infer_input(at, 0), xir_infer_input(at, 1), &values);
    if (status) return status;
    if (!dims_init(at, out, values.size > condition.size ? values.size : condition.size)) {
        dims_free(&values);
        return XIR_E_MEMORY;
    }
    size_t k = join_dims(at, (xir_i64s){ values.data, values.size }, condition, out);
    if (k) {
        status = xir_infer_fail(at, XIR_E_INVALID, "inputs/2", "dim -%zu of condition is %s, that of lhs and rhs is "
                                "%s: expected the same or 1", k,
                                dim_words(at, condition.data[condition.size - k]).text,
                                dim_words(at, values.data[values.size - k]).text);
    }
    dims_free(&values);
    if (status) dims_free(out);
    return status;
}

xir_status where_check(xir_infer *at) {
    dim_list dims;
    xir_status status = need_bools(at, 2);
    if (status || !inputs_known(at, 3) || inputs_tiled(at, 3)) return status;
    status = same_elements(at, 0, 1);
    if (!status) status = where_shape(at, &dims);
    if (!status) dims_free(&dims);
    return status;
}

xir_status where_infer(xir_infer *at) {
    const xir_type *lhs = xir_infer_input(at, 0), *rhs = xir_infer_input(at, 1), *condition = xir_infer_input(at, 2);
    const xir_type *element;
    if (inputs_known(at, 3) && xir_type_equal(lhs, rhs) && same_placement(lhs, condition)) {
        return xir_infer_result(at, lhs);
    }
    dim_list dims;
    xir_status status = need_inputs(at, 3);
    if (!status) status = where_shape(at, &dims);
    if (status) return status;
    status = either_element(at, &dims, &element);
    if (!status) status = give_joined(at, 3, element, &dims);
    dims_free(&dims);
    return status;
}
