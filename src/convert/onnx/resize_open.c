/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Resizes of images whose size is open. XIR's Resize takes the new size from an input; what needs coordinates that are
 * computed while converting is not converted. */
#include <math.h>
#include <stdio.h>
#include "node/lists.h"
#include "onnx/rows.h"
#include "spec/resizing.h"

enum { MOST_FACTOR = 1 << 16 };

bool onnx_resize_is_open(xir_node *at, const xir_value *x, size_t sizes_at) {
    if (xir_node_failed(at) || v_rank(x) < 3) return false;
    for (size_t i = 2; i < v_rank(x); i++) {
        if (v_dim(x, i) < 0) return true;
    }
    return sizes_at && xir_node_has(at, sizes_at) && !xir_node_is_constant(at, sizes_at);
}

/* The factor by which a dim grows: whole and at least 1, or 0 if it is something else or unknown. */
static int64_t factor_of(xir_node *at, const list_item *size, const list_item *dim) {
    if (size->v == EXPR_UNKNOWN || dim->v == EXPR_UNKNOWN || dim->v == 0) return 0;
    expr by = expr_exact_div(&at->c->net->pool, size->v, dim->v);
    return expr_is_number(by) && by > 0 ? by : 0;
}

/* The new sizes of all dims from the input of sizes. */
static bool sizes_of(xir_node *at, xir_value *x, size_t sizes_at, list_items *out, int64_t *factors) {
    char where[32];
    if (!read_items_of(at, NULL, sizes_at, out)) return false;
    snprintf(where, sizeof where, "input/%zu", sizes_at);
    if (out->n != v_rank(x)) {
        return xir_node_invalid(at, XIR_E_BOUNDS, where, "expected %zu sizes, one for each dim, found %zu", v_rank(x),
                                out->n);
    }
    for (size_t i = 0; i < out->n; i++) {
        const list_item dim = item_dim(x, i), *size = &out->v[i];
        const bool is_kept = size->origin == FROM_DIM && size->of == x && size->axis == (int64_t)i;
        factors[i] = is_kept ? 1 : factor_of(at, size, &dim);
        if (i < 2 && factors[i] != 1) return xir_node_unsupported(at, "dim %zu is resized, and another is open", i);
    }
    return true;
}

/* The new sizes from scales: only whole factors give whole sizes for any dim. */
static bool scales_of(xir_node *at, xir_value *x, size_t scales_at, list_items *out, int64_t *factors) {
    const double *scales = NULL;
    size_t n = 0, rank = v_rank(x);
    char where[32];
    const bool listed = xir_node_real_items(at, "scales", &scales, &n);
    if (!listed && !xir_node_reals(at, scales_at, &scales, &n)) return false;
    snprintf(where, sizeof where, "input/%zu", scales_at);
    if (n != rank) {
        return xir_node_invalid(at, XIR_E_BOUNDS, where, "expected %zu scales, one for each dim, found %zu", rank, n);
    }
    for (size_t i = 0; i < n; i++) {
        bool whole = scales[i] >= 1 && scales[i] <= MOST_FACTOR && scales[i] == floor(scales[i]);
        if (!whole || (i < 2 && scales[i] != 1))
            return xir_node_unsupported(at, "an open image whose dim %zu is scaled by %g", i, scales[i]);
        factors[i] = (int64_t)scales[i];
    }
    /* dims times factors, as a value, and read back */
    xir_ints by = xir_node_make_ints(at, rank, 1);
    for (size_t i = 0; i < by.n; i++) by.v[i] = factors[i];
    xir_value *sizes = xir_node_product(at, xir_node_unary(at, "Shape", x), by.v ? xir_node_integers(at, &by) : NULL);
    item_list known;
    *out = make_items(at, rank, 0);
    if (xir_node_failed(at) || !sizes) return false;
    bool found = conversion_items(at->c, sizes, &known) && known.n == rank;
    for (size_t i = 0; i < rank; i++) {
        out->v[i] = (list_item){ .v = found ? known.v[i] : EXPR_UNKNOWN, .origin = FROM_ITEM, .of = sizes,
                                 .axis = (int64_t)i };
    }
    return true;
}

/* Returns true if XIR's coordinates, half-pixel centres, give what the node asks for. */
static bool fits(const xir_node *at, bool old, bool nearest, const int64_t *factors, size_t rank) {
    const char *place = "coordinate_transformation_mode", *round = "nearest_mode";
    bool whole = true, pytorch = xir_node_is(at, place, "pytorch_half_pixel");
    for (size_t i = 2; i < rank; i++) whole = whole && factors[i] > 0;
    bool centres = !old && (pytorch || xir_node_is(at, place, "half_pixel") || !xir_node_attr(at, place));
    bool asymmetric = old || xir_node_is(at, place, "asymmetric") || xir_node_is(at, place, "tf_half_pixel_for_nn");
    bool down = old || xir_node_is(at, round, "floor"), up = xir_node_is(at, round, "round_prefer_ceil");
    bool halves = !old && (xir_node_is(at, round, "round_prefer_floor") || !xir_node_attr(at, round));
    if (nearest && asymmetric) return whole && down;   // the same cells as centres have
    if (!centres || (pytorch && !whole)) return false; // a single element is the first one there
    return !nearest || up || (halves && whole);        // no coordinate lies midway
}

bool onnx_resize_open(xir_node *at, xir_value *x, bool old, size_t scales_at, size_t sizes_at) {
    list_items size;
    const size_t rank = v_rank(x);
    int64_t factors[5];
    if (rank > 5) return xir_node_unsupported(at, "an open image of %zu dims", rank);
    if (xir_node_attr(at, "axes") || xir_node_is(at, "keep_aspect_ratio_policy", "not_larger") ||
        xir_node_is(at, "keep_aspect_ratio_policy", "not_smaller"))
        return xir_node_unsupported(at, "sizes of some axes of an open image, or that keep its proportions");
    bool nearest = xir_node_is(at, "mode", "nearest") || !xir_node_attr(at, "mode");
    if (xir_node_is(at, "mode", "cubic") || xir_node_int(at, "antialias", 0) || xir_node_int(at, "exclude_outside", 0))
        return xir_node_unsupported(at, "an open image, not nearest or linear");
    bool has_sizes = sizes_at && xir_node_has(at, sizes_at);
    if (has_sizes ? !sizes_of(at, x, sizes_at, &size, factors) : !scales_of(at, x, scales_at, &size, factors))
        return false;
    if (!fits(at, old, nearest, factors, rank))
        return xir_node_unsupported(at, "the coordinates or the rounding of an open image");
    const resizing r = { .way = nearest ? CELL_NEAREST : CELL_LINEAR, .size = { size.v + 2, rank - 2 } };
    return xir_node_result(at, 0, op_of_resizing(at, x, &r));
}
