/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tensors joined along an existing dim (Concat) or a new one (Stack): what the inputs must have in common, and the
 * dims. join_type.c joins the other parts of their types. */
#include <inttypes.h>
#include "graph.h"
#include "join.h"

/* ---- dims ----------------------------------------------------------------------------------------------------- */

/* Merges dim k of input i, which must be the same in all inputs, into the output. */
static xir_status merge_dim(xir_infer *at, size_t i, size_t k, int64_t *out) {
    int64_t dim = type_dim(xir_infer_input(at, i), (int64_t)k);
    int64_t before = *out;
    if (same_dim(at, before, dim, out)) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, path_of_input(i).text,
                          "dim %zu of input %zu is %s: expected %s, as in the "
                          "inputs before it", k, i, dim_words(at, dim).text, dim_words(at, before).text);
}

static xir_status need_some(xir_infer *at) {
    if (xir_infer_input_count(at)) return XIR_OK;
    return xir_infer_fail(at, XIR_E_MISSING, "inputs", "there are no inputs: expected at least one");
}

/* Returns true if two element types are quantised in the same way, apart from the numbers. */
static bool alike_quantized(const xir_type *a, const xir_type *b) {
    const xir_scales *s = xir_type_scale(a), *t = xir_type_scale(b);
    return xir_type_kind_of(a) == xir_type_kind_of(b) && xir_type_equal(xir_type_storage(a), xir_type_storage(b)) &&
           xir_type_equal(xir_type_expressed(a), xir_type_expressed(b)) &&
           !s == !t && xir_scales_is_exp(s) == xir_scales_is_exp(t) &&
           !xir_type_norm_ratios(a) == !xir_type_norm_ratios(b) &&
           (xir_type_kind_of(a) != XIR_TYPE_CALIBRATED || xir_type_equal(a, b));
}

/* Checks that ranks, element types and tiles agree. */
static xir_status check_alike(xir_infer *at) {
    size_t n = xir_infer_input_count(at), rank = xir_type_rank(xir_infer_input(at, 0));
    const xir_type *first = xir_infer_input(at, 0), *a = xir_type_element(first);
    bool tiled = inputs_tiled(at, n);
    for (size_t i = 1; i < n; i++) {
        const xir_type *type = xir_infer_input(at, i), *b = xir_type_element(type);
        if (xir_type_rank(type) != rank) {
            return xir_infer_fail(at, XIR_E_INVALID, path_of_input(i).text,
                                  "input %zu has %zu dims, input 0 has %zu: expected the same", i, xir_type_rank(type),
                                  rank);
        }
        xir_status status = same_elements(at, 0, i);
        if (status) return status;
        if (!xir_type_equal(a, b) && !alike_quantized(a, b)) {
            return xir_infer_fail(at, XIR_E_TYPE, path_of_input(i).text,
                                  "input %zu is not quantised in the same way as input 0", i);
        }
        for (size_t k = 0; tiled && k < rank; k++) {
            const xir_layout *l = xir_type_layout(first), *r = xir_type_layout(type);
            bool same_unit = xir_layout_unit(l, k) == xir_layout_unit(r, k);
            if (same_unit && (!xir_layout_unit(l, k) || tile_partner(l, k) == tile_partner(r, k))) continue;
            return xir_infer_fail(at, XIR_E_INVALID, path_of_input(i).text,
                                  "dim %zu of input %zu is not tiled like that of input 0", k, i);
        }
    }
    return XIR_OK;
}

/* Joins a tiled axis, given by either of its dims, along its tiles. Only the last input may have padding in them. */
static xir_status join_tiles(xir_infer *at, join *j) {
    const xir_type *first = xir_infer_input(at, 0);
    const xir_layout *layout = xir_type_layout(first);
    size_t n = xir_infer_input_count(at);
    int64_t axes[2];
    if (axes_along(first, (int64_t)j->axis, axes) < 2) return XIR_OK;
    j->axis = (size_t)axes[0];
    j->partner = axes[1];
    for (size_t i = 0; i + 1 < n; i++) {
        if (all_valid(xir_type_distr(xir_infer_input(at, i), axes, 2))) continue;
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, path_of_input(i).text,
                              "input %zu has padding along the tiled axis %c: expected full tiles in all inputs but "
                              "the last", i, xir_layout_axis(layout, j->axis));
    }
    return XIR_OK;
}

/* ---- Concat --------------------------------------------------------------------------------------------------- */

static xir_status concat_dims(xir_infer *at, dim_list *out, join *j) {
    const xir_concat_attrs *a = xir_infer_attrs(at);
    size_t n = xir_infer_input_count(at);
    if (a->axis < -1)
        return xir_infer_fail(at, XIR_E_BOUNDS, "axis", "axis is %" PRId64 ": expected at least -1", a->axis);
    xir_status status = read_axis(at, "axis", a->axis, xir_type_rank(xir_infer_input(at, 0)), &j->axis);
    if (!status) status = check_alike(at);
    if (!status) status = join_tiles(at, j);
    if (status) return status;
    if (!copy_dims(at, out)) return XIR_E_MEMORY;
    int64_t *total = &out->data[j->axis];
    for (size_t i = 1; i < n && !status; i++) {
        for (size_t k = 0; k < out->size && !status; k++) {
            if (k != j->axis) status = merge_dim(at, i, k, &out->data[k]);
        }
        int64_t dim = type_dim(xir_infer_input(at, i), (int64_t)j->axis);
        if (*total < 0 || dim < 0) *total = dim_of_expr(expr_add(at->pool, expr_of_dim(*total), expr_of_dim(dim)));
        else if (!status && !add_i64(*total, dim, total)) {
            status = xir_infer_fail(at, XIR_E_LIMIT, path_of_input(i).text,
                                    "the sizes of the inputs along dim %zu exceed 64 bits together", j->axis);
        }
    }
    if (status) dims_free(out);
    return status;
}

xir_status concat_check(xir_infer *at) {
    dim_list dims;
    join j = { .partner = -1 };
    size_t n = xir_infer_input_count(at);
    if (n == 0) return need_some(at);
    if (!inputs_checkable(at, n)) return XIR_OK;
    xir_status status = need_few_dims(at, n);
    if (status) return status;
    status = concat_dims(at, &dims, &j);
    if (!status) dims_free(&dims);
    return status;
}

xir_status concat_infer(xir_infer *at) {
    dim_list dims;
    join j = { .dims = &dims, .partner = -1, .layout = xir_type_layout(xir_infer_input(at, 0)) };
    xir_status status = need_some(at);
    if (!status) status = need_movable(at, xir_infer_input_count(at));
    if (!status) status = concat_dims(at, &dims, &j);
    if (status) return status;
    status = give_join(at, &j);
    dims_free(&dims);
    return status;
}

/* Asks a rule of Concat for a Route, which is a Concat along the last dim. */
static xir_status as_concat(xir_infer *at, xir_infer_fn *rule) {
    static const xir_concat_attrs last = { .axis = -1 };
    const void *own = at->attrs;
    at->attrs = &last;
    xir_status status = rule(at);
    at->attrs = own;
    return status;
}

xir_status route_check(xir_infer *at) {
    const xir_type *first = xir_infer_input(at, 0);
    if (!xir_type_as_tensor(first) || xir_type_rank(first)) return as_concat(at, concat_check);
    return xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "input 0 has no dims: expected one to join along");
}

xir_status route_infer(xir_infer *at) { return as_concat(at, concat_infer); }

/* ---- Stack ---------------------------------------------------------------------------------------------------- */

static xir_status stack_dims(xir_infer *at, dim_list *out, join *j) {
    const xir_stack_attrs *a = xir_infer_attrs(at);
    size_t n = xir_infer_input_count(at), rank = xir_type_rank(xir_infer_input(at, 0));
    int64_t axis = from_start(a->dim, rank + 1);
    if (axis < 0) {
        return xir_infer_fail(at, XIR_E_BOUNDS, "dim", "dim %" PRId64 " is outside the %zu dims of the output", a->dim,
                              rank + 1);
    }
    j->axis = (size_t)axis;
    xir_status status = check_alike(at);
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
    join j = { .partner = -1 };
    size_t n = xir_infer_input_count(at);
    if (n == 0) return need_some(at);
    if (!inputs_known(at, n) || inputs_tiled(at, n)) return XIR_OK;
    xir_status status = stack_dims(at, &dims, &j);
    if (!status) dims_free(&dims);
    return status;
}

xir_status stack_infer(xir_infer *at) {
    dim_list dims, from;
    join j = { .dims = &dims, .partner = -1, .stack = true };
    xir_status status = need_some(at);
    if (!status) status = need_inputs(at, xir_infer_input_count(at));
    if (!status) status = stack_dims(at, &dims, &j);
    if (status) return status;
    if (!dims_init(at, &from, dims.size)) status = XIR_E_MEMORY;
    else {
        for (size_t k = 0; k < dims.size; k++) from.data[k] = k == j.axis ? -1 : (int64_t)(k - (k > j.axis));
        status = layout_of_axes(at, xir_infer_input(at, 0), from.data, from.size, &j.layout);
        if (!status) status = give_join(at, &j);
        dims_free(&from);
    }
    dims_free(&dims);
    return status;
}
