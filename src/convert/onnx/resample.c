/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Resizes whose coordinates, rounding or weights no XIR operation has. Each axis is processed separately: the result is
 * the sum of one, two or four tensors, or of more with antialiasing, each gathered from the input and weighted. Cells
 * and weights are constants. */
#include <math.h>
#include "onnx/rows.h"
#include "formula/parts.h"
#include "formula/sampled.h"

enum { MOST_TAPS = 64 };

#define NEAR 1e-6   /* what rounding may add to a coordinate at the border */

/* An axis: its cells, the scale, and the part of it that is resized, [begin, end] of 1. */
typedef struct axis_map {
    int64_t in, out;
    double  scale, begin, end;
    bool    region;
} axis_map;

/* The coordinate in the input of the output's cell `p`. The resized length is the scale times `in`; it may be
 * fractional. */
static double place_of(const xir_node *at, int64_t p, const axis_map *axis) {
    const int64_t in = axis->in, out = axis->out;
    const double scale = axis->scale, last = (double)(in - 1);
    if (axis->region && out == 1) return (axis->begin + axis->end) * last / 2;
    if (axis->region) return axis->begin * last + (double)p * (axis->end - axis->begin) * last / (double)(out - 1);
    const char *mode = "coordinate_transformation_mode";
    const double size = scale * (double)in, centre = ((double)p + 0.5) / scale - 0.5;
    if (xir_node_version(at) < 11 || xir_node_is(at, mode, "asymmetric")) return (double)p / scale;
    if (xir_node_is(at, mode, "align_corners")) return p == 0 ? 0 : (double)p * (double)(in - 1) / (size - 1);
    if (xir_node_is(at, mode, "tf_half_pixel_for_nn")) return ((double)p + 0.5) / scale;
    if (xir_node_is(at, mode, "pytorch_half_pixel")) return out == 1 ? 0 : centre;
    if (xir_node_is(at, mode, "half_pixel_symmetric")) return (double)in / 2 * (1 - (double)out / size) + centre;
    return centre;
}

/* The nearest cell; of two equally near ones the lower one, unless nearest_mode says otherwise. */
static double nearest_cell(const xir_node *at, double x) {
    if (xir_node_version(at) < 11 || xir_node_is(at, "nearest_mode", "floor")) return floor(x);
    if (xir_node_is(at, "nearest_mode", "ceil")) return ceil(x);
    return xir_node_is(at, "nearest_mode", "round_prefer_ceil") ? floor(x + 0.5) : ceil(x - 0.5);
}

/* The reach of a curve: the number of elements on each side that it weighs. */
typedef enum curve { NEAREST = 0, LINEAR = 1, CUBIC = 2 } curve;

/* The weight of a cell at a distance. */
static double weigh(const xir_node *at, curve c, double distance) {
    return c == NEAREST ? 1 : curve_weight(distance, c == CUBIC, xir_node_real(at, "cubic_coeff_a", -0.75));
}

/* The cells and weights of one axis: those of tap k of all cells of the output begin at k * out. */
typedef struct axis_taps {
    size_t   n;
    int64_t  first;                /* the first tap, counted from the cell before the coordinate          */
    double   narrow;               /* distances count this much: antialiasing widens the curve by 1/scale */
    int64_t *cells;
    double  *weights;
    double  *outside;              /* 1 where a cell of the output lies outside of the input              */
    bool     any_outside;
} axis_taps;

static bool take_taps(xir_node *at, const axis_map *axis, curve c, axis_taps *taps) {
    const bool wide = c != NEAREST && axis->scale < 1 && xir_node_int(at, "antialias", 0);
    taps->narrow = wide ? axis->scale : 1;
    const double reach = floor(-(double)c / taps->narrow) + 1;
    if (2 - 2 * reach > MOST_TAPS) return xir_node_unsupported(at, "antialiasing over more than %d cells", MOST_TAPS);
    taps->first = c == NEAREST ? 0 : (int64_t)reach;
    taps->n = c == NEAREST ? 1 : (size_t)(2 - 2 * taps->first);
    taps->cells = node_take(at, (taps->n * (size_t)axis->out + 1) * sizeof *taps->cells);
    taps->weights = node_reals(at, (int64_t)taps->n * axis->out);
    taps->outside = node_reals(at, axis->out);
    return !xir_node_failed(at);
}

static bool find_taps(xir_node *at, const axis_map *axis, curve c, axis_taps *taps) {
    const int64_t in = axis->in, out = axis->out;
    if (!take_taps(at, axis, c, taps)) return false;
    const bool only_inside = (c == CUBIC || taps->narrow < 1) && xir_node_int(at, "exclude_outside", 0);
    for (int64_t p = 0; p < out; p++) {
        double x = place_of(at, p, axis), low = c == NEAREST ? nearest_cell(at, x) : floor(x), sum = 0;
        taps->outside[p] = axis->region && !(x > -NEAR && x < (double)(in - 1) + NEAR);
        taps->any_outside |= taps->outside[p] != 0;
        if (taps->outside[p]) x = low = 0;
        for (int64_t k = 0, i = p; k < (int64_t)taps->n; k++, i += out) {
            const double cell = low + (double)(taps->first + k);
            const bool dropped = only_inside && (cell < 0 || cell >= (double)in);
            taps->cells[i] = cell < 0 ? 0 : cell < (double)in ? (int64_t)cell : in - 1;
            taps->weights[i] = dropped ? 0 : weigh(at, c, (cell - x) * taps->narrow);
            sum += taps->weights[i];
        }
        for (int64_t k = 0; k < (int64_t)taps->n; k++) taps->weights[k * out + p] /= sum;
    }
    return true;
}

static xir_value *resample_axis(xir_node *at, xir_value *x, size_t axis, const axis_map *map, curve c) {
    axis_taps taps = { .n = 0 };
    const int64_t out = map->out;
    if (xir_node_failed(at) || !find_taps(at, map, c, &taps)) return NULL;
    xir_value *sum = make_weighed(at, x, axis, taps.n, out, taps.cells, c == NEAREST ? NULL : taps.weights);
    if (!taps.any_outside || !sum) return sum;
    const xir_ints dims = node_line(at, v_rank(x) - axis, 0, out);   /* the axes after this one broadcast */
    xir_value *outside = xir_node_constant(at, xir_type_bool(at->c->ctx), &dims, taps.outside, (size_t)out);
    xir_value *value = xir_node_scalar(at, v_element(x), xir_node_real(at, "extrapolation_value", 0));
    return xir_node_make(at, "Where", INS(value, sum, outside), NO_SETS);
}

bool onnx_resample(xir_node *at, const xir_ints *to, const double *scales, const double *region) {
    xir_value *x = xir_node_input(at, 0);
    const bool linear = xir_node_is(at, "mode", "linear") || xir_node_is(at, "mode", "bilinear");
    const curve c = xir_node_is(at, "mode", "cubic") ? CUBIC : linear ? LINEAR : NEAREST;
    if (xir_node_failed(at)) return false;
    if (c != NEAREST && xir_type_kind_of(v_element(x)) != XIR_TYPE_FLOAT)
        return xir_node_unsupported(at, "integers between cells");
    for (size_t k = 0; k < to->n; k++) {
        const axis_map map = { v_dim(x, k), to->v[k], scales[k], region ? region[k] : 0, region ? region[to->n + k] : 1,
                               region };
        if (to->v[k] == v_dim(x, k) && scales[k] == 1 && map.begin == 0 && map.end == 1) continue;
        if (v_dim(x, k) < 1 || to->v[k] < 1) return xir_node_unsupported(at, "an image without cells");
        x = resample_axis(at, x, k, &map, c);
        if (xir_node_failed(at)) return false;
    }
    return xir_node_result(at, 0, x);
}
