/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include <inttypes.h>
#include "axes.h"
#include "elementwise.h"
#include "pick.h"

xir_status picked_axis(xir_infer *at, int64_t axis, size_t *out) {
    size_t rank = xir_type_rank(xir_infer_input(at, 0));
    int64_t found = from_start(axis, rank);
    *out = (size_t)found;
    if (found >= 0) return XIR_OK;
    if (rank) return axis_outside(at, "axis", axis, rank);
    return xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "%s has no dims: expected at least one to pick along",
                          input_name(at, 0));
}

static bool is_whole(const xir_object *distr) {
    return !distr || xir_distr_total_invalid((const xir_distr *)distr) == 0;
}

xir_status need_whole(xir_infer *at, size_t i) {
    xir_refs distrs = xir_type_as_tensor(xir_infer_input(at, i))->merged_distrs;
    for (size_t k = 0; k < distrs.size; k++) {
        if (is_whole(distrs.data[k])) continue;
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, path_of_input(i).text,
                              "some elements of %s are padding: remove the padding first", input_name(at, i));
    }
    return XIR_OK;
}

/* Returns true if a distribution covers only kept dims, or only `dim`. */
static bool goes_along(const xir_distr *distr, const int64_t *to, int64_t dim, size_t rank) {
    xir_i64s axes = distr->merged_axis;
    if (dim >= 0 && axes.size == 1 && from_start(axes.data[0], rank) == dim) return true;
    for (size_t k = 0; k < axes.size; k++) {
        int64_t axis = from_start(axes.data[k], rank);
        if (axis < 0 || to[axis] < 0) return false;
    }
    return true;
}

static xir_status no_padding_picked(xir_infer *at, const int64_t *to, int64_t dim) {
    const xir_type *type = xir_infer_input(at, 0);
    xir_refs distrs = xir_type_as_tensor(type)->merged_distrs;
    for (size_t k = 0; k < distrs.size; k++) {
        if (is_whole(distrs.data[k]) || goes_along((const xir_distr *)distrs.data[k], to, dim, xir_type_rank(type)))
            continue;
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0", "the valid elements of the output do not follow from "
                              "distribution %zu of %s: remove the padding first", k, input_name(at, 0));
    }
    return XIR_OK;
}

xir_status give_picked(xir_infer *at, const int64_t *to, int64_t dim, const dim_list *dims) {
    const xir_type *element;
    distr_list distrs;
    distrs_init(at, &distrs);
    xir_status status = moved_element(at, 0, to, dims, &element);
    if (!status) status = no_padding_picked(at, to, dim);
    if (!status) status = carry_distrs(at, 0, to, dims, &distrs);
    if (!status) status = give_with(at, element, xir_type_layout(xir_infer_input(at, 0)), dims, &distrs);
    distrs_free(&distrs);
    return status;
}

xir_status indices_in_dim(xir_infer *at, size_t i, int64_t dim) {
    integer_list indices;
    if (dim < 0) return XIR_OK;
    xir_status status = read_integers(at, i, &indices);
    for (size_t k = 0; !status && k < indices.size; k++) {
        int64_t index = indices.data[k];
        if (index >= -dim && index < dim) continue;
        status = xir_infer_fail(at, XIR_E_BOUNDS, path_of_input(i).text,
                                "index %" PRId64 " is outside an axis of %" PRId64 " elements", index, dim);
    }
    return status;
}
