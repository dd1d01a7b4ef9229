/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Resizes. ONNX has more kinds of coordinates and rounding than XIR's ops: a Resize that no op computes exactly is
 * built from Gathers (resample.c). */
#include <math.h>
#include <stdio.h>
#include "formula/formulas.h"
#include "onnx/rows.h"
#include "spec/one_axis.h"
#include "spec/resizing.h"

enum { MOST_SIZE = 1 << 24 };

/* The new dims, and the scales for coordinates. If a scale does not give a whole number, ONNX uses the scale itself,
 * not the quotient of the sizes. */
typedef struct new_size {
    xir_ints to, axes;   /* of all dims; those that sizes and scales are for */
    double  *scales;
    double  *region;     /* where each dim begins and ends, as parts of it; NULL: the whole image */
    bool     whole;      /* all scales give whole numbers */
} new_size;

static bool read_axes(xir_node *at, const xir_value *x, new_size *out) {
    if (!xir_node_items(at, "axes", &out->axes)) out->axes = xir_node_series(at, 0, v_rank(x));
    return axes_from_start(at, "attribute/axes", v_rank(x), &out->axes);
}

/* As many numbers as axes. */
static bool fits_axes(xir_node *at, size_t input, const char *what, const new_size *size, size_t n) {
    char where[24];
    snprintf(where, sizeof where, "input/%zu", input);
    return n == size->axes.n || xir_node_invalid(at, XIR_E_BOUNDS, where, "expected %zu %s, one for each %s, found %zu",
                                                 size->axes.n, what, xir_node_attr(at, "axes") ? "axis" : "dim", n);
}

/* The first half of the numbers are where axes begin, the second half where they end. */
static bool read_region(xir_node *at, const xir_value *x, new_size *out) {
    const double *v;
    const size_t rank = v_rank(x);
    size_t n;
    out->region = NULL;
    if (xir_node_version(at) < 11 || !xir_node_is(at, "coordinate_transformation_mode",
                                                  "tf_crop_and_resize")) return true;
    out->region = node_take(at, (2 * rank + 1) * sizeof *out->region);
    if (!out->region) return node_no_memory(at);
    for (size_t i = 0; i < rank; i++) out->region[i] = 0, out->region[rank + i] = 1;
    if (!xir_node_reals(at, 1, &v, &n)) return false;
    if (n != 2 * out->axes.n) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/1",
                                "expected %zu numbers, where each dim begins and ends, found %zu",
                                2 * out->axes.n, n);
    }
    for (size_t i = 0; i < out->axes.n; i++) {
        out->region[out->axes.v[i]] = v[i];
        out->region[rank + (size_t)out->axes.v[i]] = v[out->axes.n + i];
    }
    return true;
}

/* A size that a scale gives, which may not be a number. */
static bool size_fits(xir_node *at, size_t axis, double size) {
    return size <= MOST_SIZE || xir_node_unsupported(at, "dim %zu of the output is %g: a conversion takes at most %d",
                                                     axis, size, MOST_SIZE);
}

/* One scale for all axes, the least or the greatest, which keeps the proportions of the image. */
static bool keep_proportions(xir_node *at, const xir_value *x, new_size *out) {
    const bool smaller = xir_node_is(at, "keep_aspect_ratio_policy", "not_larger");
    if (!smaller && !xir_node_is(at, "keep_aspect_ratio_policy", "not_smaller")) return true;
    double scale = smaller ? INFINITY : 0;
    for (size_t i = 0; i < out->axes.n; i++) {
        const size_t axis = (size_t)out->axes.v[i];
        scale = smaller ? fmin(scale, out->scales[axis]) : fmax(scale, out->scales[axis]);
    }
    for (size_t i = 0; i < out->axes.n; i++) {
        const size_t axis = (size_t)out->axes.v[i];
        const double size = scale * (double)v_dim(x, axis);
        if (!size_fits(at, axis, size)) return false;
        out->to.v[axis] = (int64_t)floor(size + 0.5);
        out->scales[axis] = scale;
        out->whole = out->whole && size == floor(size);
    }
    return true;
}

static bool sizes_given(xir_node *at, const xir_value *x, size_t sizes_at, new_size *out) {
    xir_ints list;
    if (!xir_node_ints(at, sizes_at, &list) || !fits_axes(at, sizes_at, "sizes", out, list.n)) return false;
    for (size_t i = 0; i < list.n; i++) {
        const size_t axis = (size_t)out->axes.v[i];
        char where[24];
        snprintf(where, sizeof where, "input/%zu", sizes_at);
        if (list.v[i] < 0) {
            return xir_node_invalid(at, XIR_E_BOUNDS, where, "sizes[%zu]: expected at least 0, found %lld", i,
                                    (long long)list.v[i]);
        }
        if (!xir_node_need_dims(at, x, axis, axis + (list.v[i] != v_dim(x, axis)))) return false;
        out->to.v[axis] = list.v[i];
        out->scales[axis] = list.v[i] == v_dim(x, axis) ? 1 : (double)list.v[i] / (double)v_dim(x, axis);
    }
    return keep_proportions(at, x, out);
}

static bool new_sizes(xir_node *at, const xir_value *x, size_t scales_at, size_t sizes_at, new_size *out) {
    const double *scales = NULL;
    const size_t rank = v_rank(x);
    size_t n = 0;
    char where[24];
    const xir_any *a = xir_node_attr(at, "scales");
    out->whole = true;
    out->to = xir_node_dims(at, x);
    out->scales = node_take(at, (rank + 1) * sizeof *out->scales);
    if (!out->scales) return node_no_memory(at);
    for (size_t i = 0; i < rank; i++) out->scales[i] = 1;
    if (!read_axes(at, x, out) || !read_region(at, x, out)) return false;
    if (sizes_at && xir_node_has(at, sizes_at)) return sizes_given(at, x, sizes_at, out);
    snprintf(where, sizeof where, "input/%zu", scales_at);
    if (a && a->kind == XIR_ANY_LIST) {   /* Upsample 7 */
        double *v = node_take(at, (a->as.list.size + 1) * sizeof *v);
        if (!v) return node_no_memory(at);
        for (n = 0; n < a->as.list.size; n++) v[n] = a->as.list.items[n].as.real;
        scales = v;
    } else if (!xir_node_reals(at, scales_at, &scales, &n)) {
        return false;
    }
    if (!fits_axes(at, scales_at, "scales", out, n)) return false;
    for (size_t i = 0; i < n; i++) {
        const size_t axis = (size_t)out->axes.v[i];
        const int64_t dim = v_dim(x, axis);
        const double part = out->region ? out->region[rank + axis] - out->region[axis] : 1;
        float size = (float)dim * (float)part * (float)scales[i];   // like ONNX: 0.7 times 10 is 7
        out->scales[axis] = scales[i];
        if (!(scales[i] > 0)) {
            return xir_node_invalid(at, XIR_E_BOUNDS, where, "scales[%zu]: expected a positive number, found %g",
                                    i, scales[i]);
        }
        if (scales[i] == 1 && part == 1) continue;
        if (dim < 0) return xir_node_unsupported(at, "dim %zu is unknown", axis);
        if (!size_fits(at, axis, (double)size)) return false;
        out->whole = out->whole && size == floorf(size);
        out->to.v[axis] = (int64_t)size;
    }
    return !xir_node_failed(at);
}

/* Returns true if a coordinate lies midway between two cells, which ONNX's nearest mode rounds down and XIR's op
 * up. */
static bool any_midway(const xir_ints *from, const xir_ints *to) {
    for (size_t i = 2; i < to->n; i++) {
        for (int64_t p = 0; p < to->v[i]; p++) {
            if (((2 * p + 1) * from->v[i]) % (2 * to->v[i]) == 0) return true;
        }
    }
    return false;
}

typedef enum resize_way { BY_CENTRES, BY_CORNERS, BY_WHOLE_FACTORS } resize_way;

/* Finds XIR's mapping from output to input coordinates; false if none is the same. */
static bool way_of(const xir_node *at, const xir_ints *from, const xir_ints *to, bool old, bool nearest,
                   resize_way *out) {
    const char *place = "coordinate_transformation_mode", *round = "nearest_mode";
    /* of a cell's first or middle point, rounding down, by a whole factor: the same cell */
    bool asymmetric = old || xir_node_is(at, place, "asymmetric") || xir_node_is(at, place, "tf_half_pixel_for_nn");
    bool whole = true;
    bool floor_mode = old || xir_node_is(at, round, "floor");
    bool pytorch = xir_node_is(at, place, "pytorch_half_pixel");
    bool centres = !old && (pytorch || xir_node_is(at, place, "half_pixel") || !xir_node_attr(at, place));
    for (size_t i = 2; i < to->n; i++) {
        whole = whole && from->v[i] > 0 && to->v[i] % from->v[i] == 0;
        if (pytorch && to->v[i] == 1 && from->v[i] != 1) return false;   // there a single element is the first one
    }
    if (nearest && asymmetric && whole && floor_mode) {
        *out = BY_WHOLE_FACTORS;
        return true;
    }
    if (centres) {
        bool up = xir_node_is(at, round, "round_prefer_ceil");
        bool down = xir_node_is(at, round, "round_prefer_floor") || !xir_node_attr(at, round);
        *out = BY_CENTRES;
        return !nearest || up || (down && !any_midway(from, to));
    }
    if (!nearest && xir_node_is(at, place, "align_corners")) {
        *out = BY_CORNERS;
        return true;
    }
    return false;
}

bool onnx_resize(xir_node *at) {
    xir_ints to, from;
    resize_way way = BY_CENTRES;
    xir_value *x = xir_node_input(at, 0);
    bool old = at->cls->version < 11 || xir_str_equal(at->cls->type, XIR_STR("Upsample"));
    if (xir_node_failed(at) || !xir_node_one_of(at, "mode", "nearest", "nearest|linear|bilinear|cubic")) return false;
    if (!old && !xir_node_one_of(at, "coordinate_transformation_mode", "half_pixel",
                        "half_pixel|half_pixel_symmetric|pytorch_half_pixel|align_corners|asymmetric|tf_half_pixel_for_nn|"
                        "tf_crop_and_resize")) return false;
    if (!old && !xir_node_one_of(at, "nearest_mode", "round_prefer_floor",
                        "round_prefer_floor|round_prefer_ceil|floor|ceil")) return false;
    if (!old && !xir_node_one_of(at, "keep_aspect_ratio_policy", "stretch",
                                 "stretch|not_larger|not_smaller")) return false;
    if (onnx_resize_is_open(at, x, old ? 0 : 3)) return onnx_resize_open(at, x, old, old ? 1 : 2, old ? 0 : 3);
    new_size size;
    if (!new_sizes(at, x, old ? 1 : 2, old ? 0 : 3, &size)) return false;
    to = size.to;
    from = xir_node_dims(at, x);
    if (xir_node_failed(at) || !xir_node_need_dims(at, x, 2, SIZE_MAX)) return false;
    for (size_t i = 0; i < to.n; i++) {
        if (!node_at_most(at, to.v[i], MOST_SIZE, "dim %zu of the output", i) ||
            !node_at_most(at, from.v[i], MOST_SIZE, "dim %zu of input 0", i)) return false;
    }
    bool nearest = xir_node_is(at, "mode", "nearest") || !xir_node_attr(at, "mode"),
         cubic = xir_node_is(at, "mode", "cubic");
    bool smaller = false;
    for (size_t i = 0; i < to.n; i++) smaller = smaller || size.scales[i] < 1;
    const bool widened = smaller && !nearest && xir_node_int(at, "antialias", 0);
    bool plain = !widened && size.whole && from.n >= 3 && from.n <= 5 && to.v[0] == from.v[0] && to.v[1] == from.v[1] &&
                !xir_node_int(at, "exclude_outside", 0) && xir_node_real(at, "cubic_coeff_a", -0.75) == -0.75 &&
                way_of(at, &from, &to, old, nearest, &way);
    bool any_dims = (way == BY_CENTRES && !cubic) || (nearest && from.n != 4);
    /* For whole factors, centres pick the same cells. */
    if (!plain || (!any_dims && from.n != 4)) return onnx_resample(at, &to, size.scales, size.region);
    const resizing r = { .way = nearest ? CELL_NEAREST : cubic ? CELL_CUBIC : CELL_LINEAR, .corners = way == BY_CORNERS,
                         .up = !any_dims, .size = size_of(at, &to, 2) };
    return xir_node_result(at, 0, op_of_resizing(at, x, &r));
}

bool onnx_grid_sample(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *grid = xir_node_input(at, 1);
    if (!xir_node_one_of(at, "mode", "bilinear", "bilinear|linear|nearest|bicubic|cubic") ||
        !xir_node_one_of(at, "padding_mode", "zeros", "zeros|border|reflection")) return false;
    bool cubic = xir_node_is(at, "mode", "bicubic") || xir_node_is(at, "mode", "cubic");
    const char *word = cubic ? "CUBIC" : xir_node_is(at, "mode", "nearest") ? "NEAREST" : "LINEAR";
    return xir_node_result(at, 0, make_grid_sample(at, x, grid, word, xir_node_text(at, "padding_mode", "zeros"),
                                                   xir_node_int(at, "align_corners", 0)));
}
