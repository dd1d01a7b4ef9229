/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Boxes selected by score. */
#include <inttypes.h>
#include "constant.h"
#include "graph.h"
#include "types.h"

enum { BOXES, SCORES, MOST, IOU, SCORE };   /* the inputs */

static xir_status three_dims(xir_infer *at, size_t i, const char *meaning) {
    size_t rank = xir_type_rank(xir_infer_input(at, i));
    if (rank == 3) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, path_of_input(i).text, "%s has %zu dims: expected %s", input_name(at, i),
                          rank, meaning);
}

static xir_status need_same(xir_infer *at, int64_t of_boxes, int64_t of_scores, const char *what) {
    int64_t a = type_dim(xir_infer_input(at, BOXES), of_boxes);
    int64_t b = type_dim(xir_infer_input(at, SCORES), of_scores);
    if (!dims_differ(at, a, b)) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, "inputs/1", "scores has %s %s, boxes has %s: expected the same",
                          dim_words(at, b).text, what, dim_words(at, a).text);
}

/* Checks the three optional numbers that are present. */
static xir_status numbers_fit(xir_infer *at) {
    constant_number n;
    xir_status status = XIR_OK;
    if (xir_infer_input(at, MOST)) {
        status = need_integers(at, MOST);
        if (!status) status = need_one(at, MOST);
    }
    for (size_t i = IOU; i <= SCORE && !status; i++) {
        if (!xir_infer_input(at, i)) continue;
        status = need_reals(at, i);
        if (!status) status = need_one(at, i);
    }
    if (status || !xir_infer_input(at, IOU)) return status;
    status = read_number(at, IOU, &n);
    if (status || !n.known || (n.real >= 0 && n.real <= 1)) return status;
    return xir_infer_fail(at, XIR_E_BOUNDS, "inputs/3", "iou_threshold is %g: expected a ratio from 0 to 1", n.real);
}

static xir_status non_max_suppression_rules(xir_infer *at) {
    xir_status status = three_dims(at, BOXES, "[batches, boxes, 4]");
    if (!status) status = three_dims(at, SCORES, "[batches, classes, boxes]");
    if (status) return status;
    int64_t corners = type_dim(xir_infer_input(at, BOXES), 2);
    if (dims_differ(at, corners, 4)) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "a box has %s numbers: expected 4",
                              dim_words(at, corners).text);
    }
    if ((status = need_same(at, 0, 0, "batches")) || (status = need_same(at, 1, 2, "boxes"))) return status;
    if ((status = need_reals(at, BOXES)) || (status = same_elements(at, BOXES, SCORES)) ||
        (status = need_reals(at, SCORES))) {
        return status;
    }
    return numbers_fit(at);
}

/* Returns true if the types can be checked: all present inputs are tensors and none is tiled. */
static bool checkable(xir_infer *at) {
    if (!inputs_known(at, 2) || inputs_tiled(at, 5)) return false;
    for (size_t i = MOST; i <= SCORE; i++) {
        if (xir_infer_input(at, i) && !xir_type_as_tensor(xir_infer_input(at, i))) return false;
    }
    return true;
}

xir_status non_max_suppression_check(xir_infer *at) {
    return checkable(at) ? non_max_suppression_rules(at) : XIR_OK;
}

xir_status non_max_suppression_infer(xir_infer *at) {
    xir_status status = need_inputs(at, 2);
    if (!status && !checkable(at)) {
        status = xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/2", "the input is tiled or not a tensor");
    }
    if (!status) status = non_max_suppression_rules(at);
    if (status) return status;
    const xir_type *element = type_integer(at->pool, true, 64);
    const int64_t dims[2] = { UNKNOWN_DIM, 3 };
    return element ? xir_infer_result_tensor(at, element, NULL, dims, 2) : infer_no_memory(at);
}
