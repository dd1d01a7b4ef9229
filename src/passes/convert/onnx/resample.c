/* Resizes whose coordinates, rounding or weights no XIR operation has. Each axis is processed separately: the result is
 * the sum of one, two or four tensors, each gathered from the input and weighted. Cells and weights are constants. */
#include <math.h>
#include "convert/onnx/rows.h"

enum { MOST_TAPS = 4 };

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

/* The weights of the cells around a coordinate that is t after the first cell, or for cubic curves after the second. */
static void weigh(const xir_node *at, size_t taps, double t, double out[MOST_TAPS]) {
    const double a = xir_node_real(at, "cubic_coeff_a", -0.75);
    if (taps == 1) out[0] = 1;
    if (taps == 2) out[0] = 1 - t, out[1] = t;
    for (size_t i = 0; taps == MOST_TAPS && i < taps; i++) {
        double d = fabs(t + 1 - (double)i);
        out[i] = d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
    }
}

/* The cells and weights of one axis: `cells[k]` and `weights[k]` are tap k of every cell of the output. */
typedef struct axis_taps {
    size_t   n;
    xir_ints cells[MOST_TAPS];
    double  *weights[MOST_TAPS];
    double  *outside;              /* 1 where a cell of the output lies outside of the input */
    bool     any_outside;
} axis_taps;

static bool find_taps(xir_node *at, const axis_map *axis, axis_taps *taps) {
    const int64_t in = axis->in, out = axis->out;
    const bool only_inside = xir_node_int(at, "exclude_outside", 0) != 0;
    for (size_t k = 0; k < taps->n; k++) {
        taps->cells[k] = xir_node_make_ints(at, (size_t)out, 0);
        taps->weights[k] = node_take(at, ((size_t)out + 1) * sizeof(double));
        if (xir_node_failed(at) || !taps->weights[k]) return node_no_memory(at);
    }
    taps->outside = node_take(at, ((size_t)out + 1) * sizeof(double));
    if (!taps->outside) return node_no_memory(at);
    for (int64_t p = 0; p < out; p++) {
        double x = place_of(at, p, axis), low = taps->n == 1 ? nearest_cell(at, x) : floor(x);
        double weight[MOST_TAPS], sum = 0;
        taps->outside[p] = axis->region && !(x > -NEAR && x < (double)(in - 1) + NEAR);
        taps->any_outside |= taps->outside[p] != 0;
        if (taps->outside[p]) x = low = 0;
        weigh(at, taps->n, x - low, weight);
        for (size_t k = 0; k < taps->n; k++) {
            double cell = low + (double)k - (taps->n == MOST_TAPS);
            if (only_inside && taps->n == MOST_TAPS && (cell < 0 || cell >= (double)in)) weight[k] = 0;
            taps->cells[k].v[p] = cell < 0 ? 0 : cell < (double)in ? (int64_t)cell : in - 1;
            sum += weight[k];
        }
        for (size_t k = 0; k < taps->n; k++) taps->weights[k][p] = weight[k] / sum;
    }
    return true;
}

/* Resizes x along one axis: the sum of the gathered tensors, each times its weights. */
static xir_value *resample_axis(xir_node *at, xir_value *x, size_t axis, const axis_map *map, size_t n) {
    axis_taps taps = { .n = n };
    const int64_t out = map->out;
    xir_ints dims = xir_node_make_ints(at, v_rank(x) - axis, 1);
    /* The dims of the weights, which broadcast over the axes after this one. */
    if (xir_node_failed(at) || !find_taps(at, map, &taps)) return NULL;
    dims.v[0] = out;
    xir_value *sum = NULL;
    for (size_t k = 0; k < n; k++) {
        xir_value *y = xir_node_make(at, "Gather", INS(x, xir_node_integers(at, &taps.cells[k])),
                                     SETS(INT("axis", (int64_t)axis)));
        if (n > 1)
            y = xir_node_product(at, y, xir_node_constant(at, v_element(x), &dims, taps.weights[k], (size_t)out));
        sum = k ? xir_node_sum(at, sum, y, 1, 1) : y;
    }
    if (!taps.any_outside || !sum) return sum;
    xir_value *outside = xir_node_constant(at, xir_type_bool(at->c->ctx), &dims, taps.outside, (size_t)out);
    xir_value *value = xir_node_scalar(at, v_element(x), xir_node_real(at, "extrapolation_value", 0));
    return xir_node_make(at, "Where", INS(value, sum, outside), NO_SETS);
}

bool onnx_resample(xir_node *at, const xir_ints *to, const double *scales, const double *region) {
    xir_value *x = xir_node_input(at, 0);
    const bool linear = xir_node_is(at, "mode", "linear") || xir_node_is(at, "mode", "bilinear");
    const bool cubic = xir_node_is(at, "mode", "cubic");
    if (xir_node_failed(at)) return false;
    if ((linear || cubic) && xir_type_kind_of(v_element(x)) != XIR_TYPE_FLOAT)
        return xir_node_unsupported(at, "integers between cells");
    for (size_t k = 0; k < to->n; k++) {
        const axis_map map = { v_dim(x, k), to->v[k], scales[k], region ? region[k] : 0, region ? region[to->n + k] : 1,
                               region };
        if (to->v[k] == v_dim(x, k) && scales[k] == 1 && map.begin == 0 && map.end == 1) continue;
        if (v_dim(x, k) < 1 || to->v[k] < 1) return xir_node_unsupported(at, "an image without cells");
        x = resample_axis(at, x, k, &map, cubic ? MOST_TAPS : linear ? 2 : 1);
        if (xir_node_failed(at)) return false;
    }
    return xir_node_result(at, 0, x);
}
