/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators of detectors, as TenniS computes them. */
#include <math.h>
#include <stdio.h>
#include "formula/text.h"
#include "tsm/tsm.h"

/* ---- boxes ------------------------------------------------------------------------------------------------------ */

/* Corners [a, b, a + c, b + d] of boxes [n, 4] with a corner and a size. */
static xir_value *corners(xir_node *at, xir_value *boxes) {
    xir_value *corner = make_part(at, boxes, 1, 0, 2, 1), *size = make_part(at, boxes, 1, 2, 4, 1);
    return xir_node_make(at, "Concat", INS(corner, xir_node_sum(at, corner, size, 1, 1)), SETS(INT("axis", 1)));
}

/* The indices of the selected boxes, then -1 up to max_output_size. */
bool tsm_non_max_suppression(xir_node *at) {
    int64_t most;
    xir_context *ctx = xir_node_context(at);
    const xir_type *whole = xir_type_sint(ctx, 64), *real = xir_type_float(ctx, XIR_FLOAT_FP32);
    xir_value *boxes = xir_node_input(at, 0), *scores = xir_node_input(at, 1);
    if (xir_node_failed(at) || !xir_node_one_of(at, "mode", "xyxy", "xyxy|xywh") ||
        !tsm_int(at, "max_output_size", 0, 0, 1 << 24, &most)) return false;
    if (!tsm_has_rank(at, 0, boxes, 2) || !tsm_has_rank(at, 1, scores, 1)) return false;
    if (xir_node_is(at, "mode", "xywh")) boxes = corners(at, boxes);
    const xir_ints none = { NULL, 0 }, lines = { (int64_t[]){ most }, 1 };
    boxes = boxes ? xir_node_unsqueezed(at, boxes, &(xir_ints){ (int64_t[]){ 0 }, 1 }, NULL) : NULL;
    scores = xir_node_unsqueezed(at, scores, &(xir_ints){ (int64_t[]){ 0, 1 }, 2 }, NULL);
    xir_value *limit = xir_node_filled(at, whole, &none, (double)most);
    xir_value *iou = xir_node_filled(at, real, &none, xir_node_real(at, "iou_threshold", 0));
    xir_value *least = xir_node_filled(at, real, &none, xir_node_real(at, "score_threshold", 0));
    xir_value *found = xir_node_make(at, "NonMaxSuppression", INS(boxes, scores, limit, iou, least), NO_SETS);
    found = make_taken(at, found, 1, &(xir_ints){ (int64_t[]){ 2 }, 1 });
    found = make_shaped(at, found, (int64_t[]){ -1 }, 1);
    found = xir_node_make(at, "Concat", INS(found, xir_node_filled(at, whole, &lines, -1)), SETS(INT("axis", 0)));
    found = make_shaped(at, make_part(at, found, 0, 0, most, 1), &most, 1);
    return xir_node_result(at, 0, tsm_int32(at, found));
}

/* ---- prior boxes ------------------------------------------------------------------------------------------------ */

enum { MOST_SIZES = 64 };
typedef struct priors {
    size_t n_least, n_most, n_ratios;
    double least[MOST_SIZES], most[MOST_SIZES], ratios[2 * MOST_SIZES];
} priors;

/* A list of reals, or one. */
static bool reals(xir_node *at, const char *name, double *out, size_t *n) {
    const double *list;
    *n = 0;
    if (xir_node_real_items(at, name, &list, n)) {
        if (*n > MOST_SIZES) return xir_node_unsupported(at, "%zu numbers in %s", *n, name);
        for (size_t i = 0; i < *n; i++) out[i] = (double)(float)list[i];
    } else if (!xir_node_failed(at) && xir_node_attr(at, name)) {
        out[(*n)++] = (double)(float)xir_node_real(at, name, 0);
    }
    return !xir_node_failed(at);
}

/* 1, then each other ratio and, with `flip`, its inverse. */
static bool read_priors(xir_node *at, priors *p) {
    double given[MOST_SIZES];
    size_t n;
    if (!reals(at, "min_size", p->least, &p->n_least) || !reals(at, "max_size", p->most, &p->n_most) ||
        !reals(at, "aspect_ratio", given, &n)) return false;
    if (!p->n_least) return xir_node_invalid(at, XIR_E_MISSING, "attribute/min_size", "min_size is missing");
    if (p->n_most && p->n_most != p->n_least)
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/max_size", "max_size: expected %zu numbers, found %zu",
                                p->n_least, p->n_most);
    p->ratios[0] = 1, p->n_ratios = 1;
    for (size_t i = 0; i < n; i++) {
        bool known = false;
        for (size_t k = 0; k < p->n_ratios; k++) known |= fabs(given[i] - p->ratios[k]) < 1e-6;
        if (known || p->n_ratios + 2 > COUNT(p->ratios)) continue;
        if (!(given[i] > 0))
            return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/aspect_ratio", "aspect_ratio[%zu]: expected a "
                                    "positive number, found %g", i, given[i]);
        p->ratios[p->n_ratios++] = given[i];
        if (xir_node_bool(at, "flip", true)) p->ratios[p->n_ratios++] = (double)(float)(1 / given[i]);
    }
    return true;
}

/* One box as parts of the image. */
static double *put_box(double *to, const double centre[2], double width, double height, const double image[2]) {
    *to++ = (centre[0] - width / 2) / image[0];
    *to++ = (centre[1] - height / 2) / image[1];
    *to++ = (centre[0] + width / 2) / image[0];
    *to++ = (centre[1] + height / 2) / image[1];
    return to;
}

/* The boxes of one cell: of each least size a square, one between it and the greatest size, and the other ratios. */
static double *put_cell(double *to, const priors *p, const double centre[2], const double image[2]) {
    for (size_t s = 0; s < p->n_least; s++) {
        const double least = trunc(p->least[s]);
        to = put_box(to, centre, least, least, image);
        if (p->n_most) {
            const double side = sqrt(least * trunc(p->most[s]));
            to = put_box(to, centre, side, side, image);
        }
        for (size_t r = 1; r < p->n_ratios; r++)
            to = put_box(to, centre, least * sqrt(p->ratios[r]), least / sqrt(p->ratios[r]), image);
    }
    return to;
}

/* Columns and rows of something, by a number for each, or one for both; 0 if the file has neither. */
static void sides(const xir_node *at, const char *across, const char *down, const char *both, double out[2]) {
    out[0] = xir_node_real(at, across, xir_node_real(at, both, 0));
    out[1] = xir_node_real(at, down, xir_node_real(at, both, 0));
}

/* [1, 2, n]: boxes for each cell of input 0 in the image, input 1, and their variances. A constant. */
bool tsm_prior_box(xir_node *at) {
    priors p;
    double image[2], step[2], variance[MOST_SIZES];
    size_t n_variance;
    xir_value *x = xir_node_input(at, 0), *whole = xir_node_optional_input(at, 1);
    if (!tsm_has_rank(at, 0, x, 4) || !xir_node_need_dims(at, x, 2, 4) || !read_priors(at, &p) ||
        !reals(at, "variance", variance, &n_variance)) return false;
    const int64_t rows = v_dim(x, 2), columns = v_dim(x, 3);
    sides(at, "img_w", "img_h", "img_size", image);
    if (image[0] == 0 || image[1] == 0) {
        if (!tsm_has_rank(at, 1, whole, 4) || !xir_node_need_dims(at, whole, 2, 4))
            return xir_node_unsupported(at, "an image of unknown size");
        image[0] = (double)v_dim(whole, 3), image[1] = (double)v_dim(whole, 2);
    }
    sides(at, "step_w", "step_h", "step", step);
    if (step[0] == 0 || step[1] == 0) step[0] = image[0] / (double)columns, step[1] = image[1] / (double)rows;
    const size_t boxes = p.n_least * p.n_ratios + p.n_most;
    int64_t n;
    if (__builtin_mul_overflow(rows, columns, &n) || n > TSM_MOST_LISTED / 8 / (int64_t)boxes)
        return xir_node_unsupported(at, "a constant of more than 2^22 elements");
    if (n_variance > 1 && n_variance != 4)
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/variance", "variance: expected 1 or 4 numbers, found %zu",
                                n_variance);
    n *= 4 * (int64_t)boxes;
    double *v = node_take(at, ((size_t)n * 2 + 1) * sizeof *v), *to = v;
    if (!v) return node_no_memory(at);
    const double offset = xir_node_real(at, "offset", 0.5);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            to = put_cell(to, &p, (double[]){ ((double)j + offset) * step[0], ((double)i + offset) * step[1] }, image);
    const bool clip = xir_node_bool(at, "clip", false);
    for (int64_t i = 0; i < n; i++) {
        if (clip) v[i] = v[i] < 0 ? 0 : v[i] > 1 ? 1 : v[i];
        v[n + i] = n_variance == 4 ? variance[i % 4] : n_variance ? variance[0] : (double)0.1f;
    }
    const xir_ints dims = { (int64_t[]){ 1, 2, n }, 3 };
    return xir_node_result(at, 0, xir_node_constant(at, xir_type_float(xir_node_context(at), XIR_FLOAT_FP32), &dims, v,
                                                    (size_t)n * 2));
}

/* ---- yolo ------------------------------------------------------------------------------------------------------- */

/* Numbers of a parameter as a constant. */
static xir_value *list_param(xir_node *at, const char *name, const xir_type *element) {
    const double *list;
    size_t n;
    if (xir_node_real_items(at, name, &list, &n)) return xir_node_constant(at, element, NULL, list, n);
    return xir_node_scalar(at, element, xir_node_real(at, name, 0));
}

/* Of each anchor's 5 + classes maps all but numbers 2 and 3 (the size of a box) are probabilities. The other fields are
 * the parameters. */
bool tsm_yolo(xir_node *at) {
    int64_t classes;
    xir_context *ctx = xir_node_context(at);
    const xir_type *whole = xir_type_sint(ctx, 32), *real = xir_type_float(ctx, XIR_FLOAT_FP32);
    xir_value *x = xir_node_input(at, 0);
    if (!tsm_has_rank(at, 0, x, 4) || !tsm_int(at, "classes", 0, 0, 1 << 24, &classes) ||
        !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    xir_value *mask = list_param(at, "mask", whole);
    const int64_t n = v_rank(mask) ? v_dim(mask, 0) : 1, maps = classes + 5;
    if (n < 1 || v_dim(x, 1) % maps || v_dim(x, 1) / maps != n)
        return xir_node_invalid(at, XIR_E_INVALID, "input/0", "expected %lld * %lld channels, found %lld", (long long)n,
                                (long long)maps, (long long)v_dim(x, 1));
    const xir_ints dims = xir_node_dims(at, x);
    if (!dims.v) return false;
    xir_value *y = make_shaped(at, x, (int64_t[]){ dims.v[0], n, maps, dims.v[2], dims.v[3] }, 5);
    xir_value *centre = xir_node_unary(at, "Sigmoid", make_part(at, y, 2, 0, 2, 1));
    xir_value *rest = xir_node_unary(at, "Sigmoid", make_part(at, y, 2, 4, INT64_MAX, 1));
    y = xir_node_make(at, "Concat", INS(centre, make_part(at, y, 2, 2, 4, 1), rest), SETS(INT("axis", 2)));
    xir_node_result(at, 0, y ? make_reshaped(at, y, &dims) : NULL);
    if (at->n_out > 1) xir_node_result(at, 1, list_param(at, "classes", whole));
    if (at->n_out > 2) xir_node_result(at, 2, mask);
    if (at->n_out > 3) xir_node_result(at, 3, list_param(at, "anchors", real));
    return !xir_node_failed(at);
}

/* ---- regions ---------------------------------------------------------------------------------------------------- */

/* Returns the positions of the samples of a side, in cells: `per` in each of `bins` equal parts of a side. [regions,
 * samples] */
static xir_value *side_places(xir_node *at, xir_value *start, xir_value *end, int64_t bins, int64_t per) {
    if (xir_node_failed(at) || !start || !end) return NULL;
    double *t = node_take(at, (size_t)(bins * per) * sizeof *t);
    if (!t) return node_no_memory(at), NULL;
    for (int64_t i = 0; i < bins * per; i++)
        t[i] = ((double)(i / per) + ((double)(i % per) + 0.5) / (double)per) / (double)bins;
    xir_value *parts = xir_node_constant(at, v_element(start), NULL, t, (size_t)(bins * per));
    return make_formula(at, "m = Maximum(y - x, 1) * z; x + m", INS(start, end, parts), NULL);
}

/* 1 where -1 <= x <= n, else 0. */
static xir_value *inside(xir_node *at, xir_value *x, int64_t n) {
    return make_formula(at, "like(And(x >= -1, x <= a))", INS(x), NUMBERS((double)n));
}

/* Means of linear samples in pool_h * pool_w bins of regions [batch, x1, y1, x2, y2]; 0 for a negative batch. */
bool tsm_roi_align(xir_node *at) {
    int64_t rows, columns, per;
    xir_value *x = xir_node_input(at, 0), *rois = xir_node_input(at, 1);
    if (!tsm_has_rank(at, 0, x, 4) || !tsm_has_rank(at, 1, rois, 2) || !tsm_int(at, "pool_h", 0, 1, 4096, &rows) ||
        !tsm_int(at, "pool_w", 0, 1, 4096, &columns) || !xir_node_same_elements(at, 0, x, 1, rois)) return false;
    per = xir_node_int(at, "sampling_ratio", 2);
    if (per < 1 || per > 64) return xir_node_unsupported(at, "samples as many as the region has cells");
    if (!xir_node_need_dims(at, x, 0, SIZE_MAX) || !xir_node_need_dims(at, rois, 0, SIZE_MAX)) return false;
    if (v_dim(rois, 1) != 5)
        return xir_node_invalid(at, XIR_E_INVALID, "input/1", "input 1: expected 5 numbers for each region, found %lld",
                                (long long)v_dim(rois, 1));
    const int64_t n = v_dim(rois, 0), h = v_dim(x, 2), w = v_dim(x, 3);
    if (h < 1 || w < 1 || n < 1) return xir_node_unsupported(at, "no regions or no cells");
    const xir_type *e = v_element(x);
    xir_value *side[5];
    for (int64_t i = 0; i < 5; i++) {
        side[i] = make_part(at, rois, 1, i, i + 1, 1);
        if (i) side[i] = xir_node_scaled(at, side[i], xir_node_real(at, "spatial_scale", 1));
    }
    xir_value *px = side_places(at, side[1], side[3], columns, per), *py = side_places(at, side[2], side[4], rows, per);
    const int64_t high = rows * per, wide = columns * per;
    xir_value *mask = xir_node_product(at, make_shaped(at, inside(at, py, h), (int64_t[]){ n, high, 1, 1 }, 4),
                                       make_shaped(at, inside(at, px, w), (int64_t[]){ n, 1, wide, 1 }, 4));
    xir_value *batch = tsm_index(at, make_shaped(at, side[0], &n, 1));
    xir_value *valid = make_formula(at, "x >= 0", INS(batch), NULL);
    mask = xir_node_product(at, mask, make_shaped(at, xir_node_cast(at, valid, e), (int64_t[]){ n, 1, 1, 1 }, 4));
    batch = make_formula(at, "Maximum(x, 0)", INS(batch), NULL);
    const xir_ints to = { (int64_t[]){ n, high, wide }, 3 };
    xir_value *grid[2] = { make_shaped(at, make_affine(at, px, 2. / (double)w, 1. / (double)w - 1),
                                       (int64_t[]){ n, 1, wide }, 3),
                           make_shaped(at, make_affine(at, py, 2. / (double)h, 1. / (double)h - 1),
                                       (int64_t[]){ n, high, 1 }, 3) };
    for (size_t i = 0; i < 2; i++) grid[i] = xir_node_make(at, "Expand", INS(grid[i]), SETS(LIST("sizes", &to)));
    xir_value *places = xir_node_make(at, "Stack", INS(grid[0], grid[1]), SETS(INT("dim", 3)));
    xir_value *maps = xir_node_channels_last(at, xir_node_make(at, "Gather", INS(x, batch), SETS(INT("axis", 0))));
    xir_value *y = xir_node_make(at, "GridSample", INS(maps, places), SETS(WORD("padding_mode", XIR_STR("BORDER"))));
    y = xir_node_make(at, "AvgPool2d", INS(xir_node_product(at, y, mask)),
                      SETS(INT("pool_height", per), INT("pool_width", per), INT("stride_height", per),
                           INT("stride_width", per)));
    return xir_node_result(at, 0, xir_node_channels_second(at, y));
}

/* Cells of one side of a patch of `size` cells around each position, [batch, points, size]: whole numbers. */
static xir_value *patch_places(xir_node *at, xir_value *pos, int64_t first, int64_t cells, int64_t size) {
    double *t = node_take(at, ((size_t)size + 1) * sizeof *t);
    if (!t) return node_no_memory(at), NULL;
    for (int64_t i = 0; i < size; i++) t[i] = (double)i;
    const xir_type *whole = xir_type_sint(xir_node_context(at), 64);
    xir_value *p = make_part(at, pos, 2, first, first + 1, 1);   /* x1, y1, x2, y2, … */
    p = make_affine(at, p, (double)cells - 1, 0.5 - (double)(size - 1) / 2);
    p = p ? xir_node_cast(at, p, whole) : NULL;
    return xir_node_sum(at, p, xir_node_constant(at, whole, NULL, t, (size_t)size), 1, 1);
}

/* 1 where 0 <= p < n, else 0; *p gets within these bounds. */
static xir_value *on_axis(xir_node *at, xir_value **p, int64_t n) {
    if (xir_node_failed(at) || !*p) return NULL;
    xir_value *near = xir_node_make(at, "ClampScalar", INS(*p), SETS(REAL("min", 0), REAL("max", (double)n - 1)));
    xir_value *same = xir_node_make(at, "Equal", INS(near, *p), NO_SETS);
    *p = near;
    return same;
}

/* The side of a patch: as many cells as it has of the original image, in proportion. */
static int64_t patch_side(int64_t patch, int64_t cells, int64_t origin) {
    const float size = (float)(patch * cells) / (float)origin + 0.5f;
    return size >= 1 && size <= 4096 ? (int64_t)size : 0;
}

/* Patches around points, [batch, channels, rows, points, columns]; cells outside are 0. */
bool tsm_shape_index_patch(xir_node *at) {
    xir_ints patch, origin;
    xir_value *x = xir_node_input(at, 0), *pos = xir_node_input(at, 1);
    if (!tsm_has_rank(at, 0, x, 4) || !tsm_has_rank(at, 1, pos, 4) || !xir_node_same_elements(at, 0, x, 1, pos) ||
        !xir_node_need_dims(at, x, 0, SIZE_MAX) || !xir_node_need_dims(at, pos, 0, SIZE_MAX)) return false;
    if (!tsm_list(at, "origin_patch", 2, 1, &patch) || !tsm_list(at, "origin", 2, 1, &origin))
        return xir_node_failed(at) ? false : xir_node_unsupported(at, "origin or origin_patch is missing");
    const int64_t n = v_dim(x, 0), c = v_dim(x, 1), h = v_dim(x, 2), w = v_dim(x, 3), points = v_dim(pos, 1) / 2;
    if (v_dim(pos, 1) % 2 || v_dim(pos, 0) != n || v_dim(pos, 2) != 1 || v_dim(pos, 3) != 1)
        return xir_node_invalid(at, XIR_E_INVALID, "input/1", "input 1: expected pairs of numbers for each of %lld "
                                "images", (long long)n);
    if (h > 1 << 24 || w > 1 << 24) return xir_node_unsupported(at, "a dim above 2^24");
    const int64_t high = patch_side(patch.v[0], h, origin.v[0]), wide = patch_side(patch.v[1], w, origin.v[1]);
    if (!high || !wide || h < 1 || w < 1 || points < 1) return xir_node_unsupported(at, "a patch without cells");
    pos = make_shaped(at, pos, (int64_t[]){ n, points, 2 }, 3);
    xir_value *px = patch_places(at, pos, 0, w, wide), *py = patch_places(at, pos, 1, h, high);
    py = xir_node_transposed(at, py, (int64_t[]){ 0, 2, 1 }, 3, NULL);
    py = make_shaped(at, py, (int64_t[]){ n, high, points, 1 }, 4);
    px = make_shaped(at, px, (int64_t[]){ n, 1, points, wide }, 4);
    xir_value *in_y = on_axis(at, &py, h), *in_x = on_axis(at, &px, w);
    xir_value *is_in = xir_node_make(at, "And", INS(in_y, in_x), NO_SETS);
    xir_value *place = xir_node_sum(at, xir_node_scaled(at, py, (double)w), px, 1, 1);
    int64_t cells;
    if (__builtin_mul_overflow(high * wide, points, &cells))
        return xir_node_unsupported(at, "dims whose product exceeds 63 bits");
    const xir_ints to = { (int64_t[]){ n, c, cells }, 3 };
    place = xir_node_make(at, "Expand", INS(make_shaped(at, place, (int64_t[]){ n, 1, cells }, 3)),
                          SETS(LIST("sizes", &to)));
    xir_value *y = make_shaped(at, x, (int64_t[]){ n, c, h * w }, 3);
    y = xir_node_make(at, "GatherElements", INS(y, place), SETS(INT("axis", 2)));
    y = make_shaped(at, y, (int64_t[]){ n, c, high, points, wide }, 5);
    is_in = make_shaped(at, is_in, (int64_t[]){ n, 1, high, points, wide }, 5);
    return xir_node_becomes(at, "Where", INS(y, xir_node_scalar(at, v_element(x), 0), is_in), NO_SETS);
}
