/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Gather ops. */
#include <inttypes.h>
#include "graph.h"
#include "pick.h"
#include "types.h"

/* The output of a gather: its dims, and where the dims of data are in it. */
typedef struct pick {
    dim_list dims, to;
} pick;

static bool pick_init(xir_infer *at, pick *p, size_t rank) {
    size_t from = xir_type_rank(xir_infer_input(at, 0));
    if (!dims_init(at, &p->dims, rank)) return false;
    if (!dims_init(at, &p->to, from)) {
        dims_free(&p->dims);
        return false;
    }
    for (size_t i = 0; i < from; i++) p->to.data[i] = -1;
    return true;
}

static void pick_free(pick *p) {
    dims_free(&p->to);
    dims_free(&p->dims);
}

static int64_t dim_of(xir_infer *at, size_t input, size_t i) {
    int64_t dim = type_dim(xir_infer_input(at, input), (int64_t)i);
    return dim;
}

/* Keeps dim `from` of data whole, as dim `to`. */
static void keep_dim(xir_infer *at, pick *p, size_t from, size_t to) {
    p->dims.data[to] = dim_of(at, 0, from);
    p->to.data[from] = (int64_t)to;
}

static bool both_checkable(xir_infer *at) { return inputs_known(at, 2) && !inputs_tiled(at, 2); }

/* ---- Gather ---------------------------------------------------------------------------------------------------- */

static xir_status gather_rules(xir_infer *at, size_t *axis) {
    const xir_gather_attrs *a = xir_infer_attrs(at);
    xir_status status = picked_axis(at, a->axis, axis);
    if (!status) status = need_integers(at, 1);
    if (!status) status = need_whole(at, 1);
    return status ? status : indices_in_dim(at, 1, dim_of(at, 0, *axis));
}

xir_status gather_check(xir_infer *at) {
    size_t axis;
    return both_checkable(at) ? gather_rules(at, &axis) : XIR_OK;
}

xir_status gather_infer(xir_infer *at) {
    size_t axis;
    pick p;
    xir_status status = need_inputs(at, 2);
    if (!status) status = gather_rules(at, &axis);
    if (status) return status;
    size_t rank = xir_type_rank(xir_infer_input(at, 0)), more = xir_type_rank(xir_infer_input(at, 1));
    if (!pick_init(at, &p, rank - 1 + more)) return XIR_E_MEMORY;
    for (size_t i = 0; i < axis; i++) keep_dim(at, &p, i, i);
    for (size_t i = 0; i < more; i++) p.dims.data[axis + i] = dim_of(at, 1, i);
    for (size_t i = axis + 1; i < rank; i++) keep_dim(at, &p, i, i - 1 + more);
    status = give_picked(at, p.to.data, -1, &p.dims);
    pick_free(&p);
    return status;
}

/* ---- GatherElements ---------------------------------------------------------------------------------------------- */

static xir_status gather_elements_rules(xir_infer *at, size_t *axis) {
    const xir_gather_elements_attrs *a = xir_infer_attrs(at);
    xir_status status = picked_axis(at, a->axis, axis);
    if (!status) status = need_integers(at, 1);
    if (!status) status = need_whole(at, 1);
    if (status) return status;
    size_t rank = xir_type_rank(xir_infer_input(at, 0)), found = xir_type_rank(xir_infer_input(at, 1));
    if (found != rank) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/1", "indices has %zu dims, data has %zu: expected the same",
                              found, rank);
    }
    for (size_t i = 0; i < rank; i++) {
        int64_t most = dim_of(at, 0, i), dim = dim_of(at, 1, i);
        if (i == *axis || !dim_exceeds(at, dim, most)) continue;
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/1", "dim %zu of indices is %s, that of data is %s: expected "
                              "at most that, except along axis %zu", i, dim_words(at, dim).text,
                              dim_words(at, most).text, *axis);
    }
    return indices_in_dim(at, 1, dim_of(at, 0, *axis));
}

xir_status gather_elements_check(xir_infer *at) {
    size_t axis;
    return both_checkable(at) ? gather_elements_rules(at, &axis) : XIR_OK;
}

xir_status gather_elements_infer(xir_infer *at) {
    size_t axis;
    pick p;
    xir_status status = need_inputs(at, 2);
    if (!status) status = gather_elements_rules(at, &axis);
    if (status) return status;
    size_t rank = xir_type_rank(xir_infer_input(at, 0));
    if (!pick_init(at, &p, rank)) return XIR_E_MEMORY;
    for (size_t i = 0; i < rank; i++) {
        int64_t dim = dim_of(at, 1, i);
        if (i != axis && dim >= 0 && dim == dim_of(at, 0, i)) keep_dim(at, &p, i, i);
        else p.dims.data[i] = dim;
    }
    status = give_picked(at, p.to.data, -1, &p.dims);
    pick_free(&p);
    return status;
}

/* ---- GatherND ---------------------------------------------------------------------------------------------------- */

/* Checks GatherND. *place is the number of dims of data that an index addresses; unknown if the last dim of indices
 * is. */
static xir_status gather_nd_rules(xir_infer *at, int64_t *place) {
    const xir_gather_nd_attrs *a = xir_infer_attrs(at);
    size_t rank = xir_type_rank(xir_infer_input(at, 0)), n = xir_type_rank(xir_infer_input(at, 1));
    xir_status status = need_integers(at, 1);
    if (!status) status = need_whole(at, 1);
    if (status) return status;
    if (rank == 0 || n == 0) {
        return xir_infer_fail(at, XIR_E_INVALID, path_of_input(rank != 0).text, "%s has no dims: expected at least one",
                              input_name(at, rank != 0));
    }
    size_t least = rank < n ? rank : n;
    if (a->batch_dims < 0 || (uint64_t)a->batch_dims >= least) {
        return xir_infer_fail(at, XIR_E_BOUNDS, "batch_dims",
                              "%" PRId64 " batch dims are outside [0, %zu): data has %zu dims, indices has %zu",
                              a->batch_dims, least, rank, n);
    }
    size_t batch = (size_t)a->batch_dims;
    for (size_t i = 0; i < batch; i++) {
        int64_t of_data = dim_of(at, 0, i), of_indices = dim_of(at, 1, i);
        if (!dims_differ(at, of_data, of_indices)) continue;
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/1",
                              "batch dim %zu of indices is %s, that of data is %s: expected the same", i,
                              dim_words(at, of_indices).text, dim_words(at, of_data).text);
    }
    *place = dim_of(at, 1, n - 1);
    if (*place != 0 && !dim_exceeds(at, *place, (int64_t)(rank - batch))) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, "inputs/1", "the last dim of indices is %s: expected 1 to %zu, an index "
                          "for each dim of data that it picks from", dim_words(at, *place).text, rank - batch);
}

xir_status gather_nd_check(xir_infer *at) {
    int64_t place;
    return both_checkable(at) ? gather_nd_rules(at, &place) : XIR_OK;
}

xir_status gather_nd_infer(xir_infer *at) {
    const xir_gather_nd_attrs *a = xir_infer_attrs(at);
    int64_t place;
    pick p;
    xir_status status = need_inputs(at, 2);
    if (!status) status = gather_nd_rules(at, &place);
    if (status) return status;
    if (place < 0) {
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/1",
                              "the last dim of indices is unknown, so the rank of the output cannot be determined");
    }
    size_t rank = xir_type_rank(xir_infer_input(at, 0)), n = xir_type_rank(xir_infer_input(at, 1));
    size_t batch = (size_t)a->batch_dims, tail = batch + (size_t)place;
    if (!pick_init(at, &p, n - 1 + rank - tail)) return XIR_E_MEMORY;
    for (size_t i = 0; i < n - 1; i++) p.dims.data[i] = dim_of(at, 1, i);
    for (size_t i = 0; i < batch; i++) {
        if (p.dims.data[i] < 0 || p.dims.data[i] == dim_of(at, 0, i)) keep_dim(at, &p, i, i);
    }
    for (size_t i = tail; i < rank; i++) keep_dim(at, &p, i, n - 1 + i - tail);
    status = give_picked(at, p.to.data, -1, &p.dims);
    pick_free(&p);
    return status;
}

/* ---- NonZero ---------------------------------------------------------------------------------------------------- */

xir_status non_zero_check(xir_infer *at) {
    return inputs_known(at, 1) && !inputs_tiled(at, 1) ? need_whole(at, 0) : XIR_OK;
}

xir_status non_zero_infer(xir_infer *at) {
    xir_status status = need_inputs(at, 1);
    if (!status) status = need_whole(at, 0);
    if (status) return status;
    const xir_type *element = type_integer(at->pool, true, 64);
    const int64_t dims[2] = { (int64_t)xir_type_rank(xir_infer_input(at, 0)), UNKNOWN_DIM };
    return element ? xir_infer_result_tensor(at, element, NULL, dims, 2) : infer_no_memory(at);
}
