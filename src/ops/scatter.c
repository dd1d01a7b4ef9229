/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Scatter ops: elements and slices written to indexed places. */
#include <inttypes.h>
#include "pick.h"

/* Checks the dims of updates: those of indices without the last, then those of data after the indexed ones. */
static xir_status updates_fit(xir_infer *at, size_t place) {
    const xir_type *data = xir_infer_input(at, 0), *indices = xir_infer_input(at, 1), *updates = xir_infer_input(at, 2);
    size_t places = xir_type_rank(indices) - 1, rank = places + xir_type_rank(data) - place,
           found = xir_type_rank(updates);
    if (found != rank) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/2", "updates has %zu dims: expected %zu, %zu of indices "
                              "without the last and %zu of data after the indexed ones", found, rank, places,
                              rank - places);
    }
    xir_status status = XIR_OK;
    for (size_t i = 0; i < rank && !status; i++) {
        const int64_t expected = i < places ? type_dim(indices, (int64_t)i)
                                            : type_dim(data, (int64_t)(i - places + place));
        status = need_dim(at, 2, i, expected);
    }
    return status;
}

/* Updates of a quantised type must mean the same numbers in data: the arrays along their dims must match those of
 * data. */
static xir_status same_quantized(xir_infer *at, int64_t place) {
    const xir_scatter_nd_attrs *a = xir_infer_attrs(at);
    const xir_type *data = xir_infer_input(at, 0), *element;
    if (a->reduction == XIR_SCATTER_ADD || a->reduction == XIR_SCATTER_MUL) return computed_element(at, 0, &element);
    size_t places = xir_type_rank(xir_infer_input(at, 1)) - 1, rank = xir_type_rank(xir_infer_input(at, 2));
    if (place < 0) {
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/1", "the last dim of indices is unknown, and data is "
                              "quantised: the axis of the scales in updates cannot be determined");
    }
    dim_list dims, to;
    if (!dims_copy(at, &dims, data)) return XIR_E_MEMORY;
    if (!dims_init(at, &to, rank)) {
        dims_free(&dims);
        return XIR_E_MEMORY;
    }
    for (size_t i = 0; i < rank; i++) to.data[i] = i < places ? -1 : (int64_t)(i - places) + place;
    xir_status status = moved_element(at, 2, to.data, &dims, &element);
    if (!status && !xir_type_equal(element, xir_type_element(data))) {
        status = xir_infer_fail(at, XIR_E_TYPE, "inputs/2",
                                "the quantised element type of updates differs from that of data: expected the same");
    }
    dims_free(&to);
    dims_free(&dims);
    return status;
}

static xir_status scatter_nd_rules(xir_infer *at) {
    const xir_scatter_nd_attrs *a = xir_infer_attrs(at);
    const xir_type *data = xir_infer_input(at, 0), *indices = xir_infer_input(at, 1);
    size_t rank = xir_type_rank(data);
    xir_status status = need_integers(at, 1);
    if (!status) status = need_whole(at, 1);
    if (!status) status = need_whole(at, 2);
    if (status) return status;
    if (rank == 0 || xir_type_rank(indices) == 0) {
        return xir_infer_fail(at, XIR_E_INVALID, path_of_input(rank != 0).text, "%s has no dims: expected at least one",
                              input_name(at, rank != 0));
    }
    int64_t place = type_dim(indices, -1);
    if (place == 0 || dim_exceeds(at, place, (int64_t)rank)) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/1", "the last dim of indices is %s: expected 1 to %zu, an "
                              "index for each dim of data that it addresses", dim_words(at, place).text, rank);
    }
    if (place > 0) status = updates_fit(at, (size_t)place);
    if (status) return status;

    bool quantized = xir_type_is_quantized(xir_type_element(data));
    if (quantized || xir_type_is_quantized(xir_type_element(xir_infer_input(at, 2)))) return same_quantized(at, place);
    if ((status = same_elements(at, 0, 2))) return status;
    if (a->reduction != XIR_SCATTER_NONE && xir_type_kind_of(xir_type_element(data)) == XIR_TYPE_BOOL) {
        return xir_infer_fail(at, XIR_E_TYPE, "inputs/0",
                              "the elements of data are bool: expected numbers, because a reduction is set");
    }
    return XIR_OK;
}

xir_status scatter_nd_check(xir_infer *at) {
    return inputs_known(at, 3) && !inputs_tiled(at, 3) ? scatter_nd_rules(at) : XIR_OK;
}

xir_status scatter_nd_infer(xir_infer *at) {
    xir_status status = need_inputs(at, 3);
    if (!status) status = scatter_nd_rules(at);
    return status ? status : xir_infer_result(at, xir_infer_input(at, 0));
}
