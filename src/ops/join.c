/* Tensors one after the other, along a dim that they have (Concat) or a new one (Stack). */
#include <inttypes.h>
#include "graph.h"
#include "join.h"

/* Merges dim k, which must be the same, of input i into that of the output; `at_input` is where input i has it. */
static xir_status merge_dim(xir_infer *at, size_t i, size_t k, int64_t *out) {
    int64_t dim = xir_type_dim(xir_infer_input(at, i), (int64_t)k, false);
    if (*out < 0) *out = dim < 0 ? UNKNOWN_DIM : dim;
    else if (dim >= 0 && dim != *out) {
        return xir_infer_fail(at, XIR_E_INVALID, path_of_input(i).text, "dim %zu of input %zu is %" PRId64
                              ", of those before it %" PRId64, k, i, dim, *out);
    }
    return XIR_OK;
}

static xir_status need_some(xir_infer *at) {
    if (xir_infer_input_count(at)) return XIR_OK;
    return xir_infer_fail(at, XIR_E_MISSING, "inputs", "no inputs, at least one was expected");
}

/* Ranks and element types agree. */
static xir_status alike(xir_infer *at) {
    size_t n = xir_infer_input_count(at), rank = xir_type_rank(xir_infer_input(at, 0));
    for (size_t i = 1; i < n; i++) {
        if (xir_type_rank(xir_infer_input(at, i)) != rank) {
            return xir_infer_fail(at, XIR_E_INVALID, path_of_input(i).text, "input %zu has %zu dims, input 0 has %zu: the same were "
                                  "expected", i, xir_type_rank(xir_infer_input(at, i)), rank);
        }
        const xir_type *a = xir_type_element(xir_infer_input(at, 0)), *b = xir_type_element(xir_infer_input(at, i));
        xir_status status = same_elements(at, 0, i);
        if (status) return status;
        if (xir_type_kind_of(a) != xir_type_kind_of(b)) {
            return xir_infer_fail(at, XIR_E_TYPE, path_of_input(i).text, "input %zu and input 0 are not quantised in the same way", i);
        }
    }
    return XIR_OK;
}

/* ---- Concat --------------------------------------------------------------------------------------------------- */

static xir_status concat_dims(xir_infer *at, dim_list *out, join *j) {
    const xir_concat_attrs *a = xir_infer_attrs(at);
    size_t n = xir_infer_input_count(at);
    if (a->axis < -1) return xir_infer_fail(at, XIR_E_BOUNDS, "axis", "%" PRId64 " is below -1, the least axis", a->axis);
    xir_status status = read_axis(at, "axis", a->axis, xir_type_rank(xir_infer_input(at, 0)), &j->axis);
    if (!status) status = alike(at);
    if (status) return status;
    if (!dims_copy(at, out, xir_infer_input(at, 0))) return XIR_E_MEMORY;
    for (size_t k = 0; k < out->size; k++) {
        if (out->data[k] < 0) out->data[k] = UNKNOWN_DIM;
    }
    int64_t *total = &out->data[j->axis];
    for (size_t i = 1; i < n && !status; i++) {
        for (size_t k = 0; k < out->size && !status; k++) {
            if (k != j->axis) status = merge_dim(at, i, k, &out->data[k]);
        }
        int64_t dim = xir_type_dim(xir_infer_input(at, i), (int64_t)j->axis, false);
        if (*total < 0 || dim < 0) *total = UNKNOWN_DIM;
        else if (!status && !add_i64(*total, dim, total)) {
            status = xir_infer_fail(at, XIR_E_LIMIT, "axis", "together the inputs exceed 64 bits along dim %zu", j->axis);
        }
    }
    if (status) dims_free(out);
    return status;
}

xir_status concat_check(xir_infer *at) {
    dim_list dims;
    join j = { 0 };
    size_t n = xir_infer_input_count(at);
    if (n == 0) return need_some(at);
    if (!movable_known(at, n)) return XIR_OK;
    xir_status status = concat_dims(at, &dims, &j);
    if (!status) dims_free(&dims);
    return status;
}

xir_status concat_infer(xir_infer *at) {
    dim_list dims;
    join j = { .dims = &dims };
    xir_status status = need_some(at);
    if (!status) status = need_movable(at, xir_infer_input_count(at));
    if (!status) status = concat_dims(at, &dims, &j);
    if (status) return status;
    status = give_join(at, &j, xir_type_layout(xir_infer_input(at, 0)));
    dims_free(&dims);
    return status;
}

/* ---- Stack ---------------------------------------------------------------------------------------------------- */

static xir_status stack_dims(xir_infer *at, dim_list *out, join *j) {
    const xir_stack_attrs *a = xir_infer_attrs(at);
    size_t n = xir_infer_input_count(at), rank = xir_type_rank(xir_infer_input(at, 0));
    int64_t axis = from_start(a->dim, rank + 1);
    if (axis < 0) {
        return xir_infer_fail(at, XIR_E_BOUNDS, "dim", "%" PRId64 " is outside the %zu dims of the output", a->dim, rank + 1);
    }
    j->axis = (size_t)axis;
    xir_status status = alike(at);
    if (status) return status;
    if (!dims_init(at, out, rank + 1)) return XIR_E_MEMORY;
    for (size_t k = 0; k <= rank; k++) out->data[k] = k == j->axis ? (int64_t)n : UNKNOWN_DIM;
    for (size_t i = 0; i < n && !status; i++) {
        for (size_t k = 0; k < rank && !status; k++) status = merge_dim(at, i, k, &out->data[k + (k >= j->axis)]);
    }
    if (status) dims_free(out);
    return status;
}

xir_status stack_check(xir_infer *at) {
    dim_list dims;
    join j = { 0 };
    size_t n = xir_infer_input_count(at);
    if (n == 0) return need_some(at);
    if (!inputs_known(at, n) || inputs_tiled(at, n)) return XIR_OK;
    xir_status status = stack_dims(at, &dims, &j);
    if (!status) dims_free(&dims);
    return status;
}

xir_status stack_infer(xir_infer *at) {
    const xir_layout *layout;
    dim_list dims, from;
    join j = { .dims = &dims, .stack = true };
    xir_status status = need_some(at);
    if (!status) status = need_inputs(at, xir_infer_input_count(at));
    if (!status) status = stack_dims(at, &dims, &j);
    if (status) return status;
    if (!dims_init(at, &from, dims.size)) status = XIR_E_MEMORY;
    else {
        for (size_t k = 0; k < dims.size; k++) from.data[k] = k == j.axis ? -1 : (int64_t)(k - (k > j.axis));
        status = layout_of_axes(at, xir_infer_input(at, 0), from.data, from.size, &layout);
        if (!status) status = give_join(at, &j, layout);
        dims_free(&from);
    }
    dims_free(&dims);
    return status;
}

xir_status give_join(xir_infer *at, const join *j, const xir_layout *layout) {
    const xir_type *element;
    xir_status status = computed_element(at, 0, &element);
    return status ? status : xir_infer_give_tensor(at, element, layout, j->dims->data, j->dims->size);
}
