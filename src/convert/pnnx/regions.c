/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Regions of images, torchvision's: pools of regions, and the best ones of boxes that overlap. */
#include "pnnx/pnnx.h"
#include "formula/sampled.h"

/* Each region is the number of its image and its corners. Without a number of samples each bin has as many as cells. */
bool pnnx_roi_align(xir_node *at) {
    enum { MOST_SIDE = 1 << 20 };
    xir_value *x = xir_node_input(at, 0), *boxes = xir_node_input(at, 1);
    xir_ints size;
    if (!node_has_rank(at, 0, x, 4) || !node_has_rank(at, 1, boxes, 2)) return false;
    if (v_dim(boxes, 1) != 5) {
        if (!xir_node_need_dims(at, boxes, 1, 2)) return false;
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/1", "dim 1 of the boxes: expected 5, the number of an image and "
                                "the corners of a region, found %lld", (long long)v_dim(boxes, 1));
    }
    if (!xir_node_same_elements(at, 0, x, 1, boxes) || !pnnx_list(at, "output_size", 2, &size)) {
        if (xir_node_failed(at)) return false;
        return xir_node_invalid(at, XIR_E_MISSING, NULL, "output_size is missing");
    }
    const int64_t samples = xir_node_int(at, "sampling_ratio", -1);
    const roi_pool p = { .n = { size.v[0], size.v[1] }, .samples = samples > 0 ? samples : 0,
                         .scale = xir_node_real(at, "spatial_scale", 1),
                         .halves = xir_node_bool(at, "aligned", false) };
    for (int k = 0; k < 2; k++) {
        if (p.n[k] >= 1 && p.n[k] <= MOST_SIDE) continue;
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/output_size", "output_size[%d]: expected 1 to %d, found "
                                "%lld", k, MOST_SIDE, (long long)p.n[k]);
    }
    xir_value *batch = make_shaped(at, make_part(at, boxes, 1, 0, 1, 1), (int64_t[]){ -1 }, 1);
    batch = batch ? xir_node_cast(at, batch, xir_type_sint(xir_node_context(at), 64)) : NULL;
    return xir_node_result(at, 0, make_roi_align(at, x, make_part(at, boxes, 1, 1, 5, 1), batch, &p));
}

/* All boxes are of one image and one class, and all that overlap no better one are selected. Swapped coordinates do not
 * change how much boxes overlap. */
bool pnnx_nms(xir_node *at) {
    xir_value *boxes = xir_node_input(at, 0), *scores = xir_node_input(at, 1);
    const double threshold = xir_node_real(at, "iou_threshold", -1);
    const xir_ints any = { (int64_t[]){ INT64_MAX }, 1 };
    if (!node_has_rank(at, 0, boxes, 2) || !node_has_rank(at, 1, scores, 1)) return false;
    if (v_dim(boxes, 1) != 4) {
        if (!xir_node_need_dims(at, boxes, 1, 2)) return false;
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/0", "dim 1 of the boxes: expected 4, two corners, found %lld",
                                (long long)v_dim(boxes, 1));
    }
    if (!(threshold >= 0 && threshold <= 1)) return xir_node_unsupported(at, "a threshold of %g", threshold);
    boxes = xir_node_unsqueezed(at, boxes, &(xir_ints){ (int64_t[]){ 0 }, 1 }, NULL);
    scores = xir_node_unsqueezed(at, scores, &(xir_ints){ (int64_t[]){ 0, 1 }, 2 }, NULL);
    xir_value *selected = xir_node_make(at, "NonMaxSuppression",
                                        INS(boxes, scores, xir_node_integers(at, &any),
                                            xir_node_scalar(at, v_element(boxes), threshold)), NO_SETS);
    return xir_node_result(at, 0, make_shaped(at, make_part(at, selected, 1, 2, 3, 1), (int64_t[]){ -1 }, 1));
}
