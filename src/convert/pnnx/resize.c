/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Resizing. Each axis is resized by itself: nearest cells by a Gather, sums of cells (linear, cubic) by a product with
 * a constant matrix, where no op of XIR computes the same. */
#include <math.h>
#include "node/lists.h"
#include "formula/formulas.h"
#include "formula/sampled.h"
#include "pnnx/pnnx.h"
#include "spec/resizing.h"

typedef enum resize_mode { NEAREST, NEAREST_EXACT, LINEAR, CUBIC, AREA } resize_mode;

/* One axis: `step` is the distance of two output cells in the input. */
typedef struct resize_axis { int64_t in, out; double step; } resize_axis;

static bool read_mode(xir_node *at, resize_mode *mode, bool *corners) {
    const xir_str type = xir_node_type(at), word = xir_node_text(at, "mode", "");
    static const struct { const char *word; resize_mode mode; } words[] = {
        { "nearest", NEAREST }, { "nearest-exact", NEAREST_EXACT }, { "linear", LINEAR }, { "bilinear", LINEAR },
        { "trilinear", LINEAR }, { "bicubic", CUBIC },
        { "area", AREA },
    };
    const bool bilinear = xir_str_equal(type, XIR_STR("nn.UpsamplingBilinear2d")) ||
                          xir_str_equal(type, XIR_STR("F.upsample_bilinear"));
    *mode = bilinear ? LINEAR : NEAREST;
    *corners = xir_node_bool(at, "align_corners", bilinear);
    if (!word.size) return true;
    for (size_t i = 0; i < COUNT(words); i++) {
        if (!xir_str_equal(word, xir_str_of(words[i].word))) continue;
        *mode = words[i].mode;
        return true;
    }
    return xir_node_one_of(at, "mode", "", "nearest|nearest-exact|linear|bilinear|trilinear|bicubic|area");
}

/* Files of 2021 have factors for each axis by another name. */
static const char *factors_name(const xir_node *at) {
    return xir_node_attr(at, "scale_factors") ? "scale_factors" : "scale_factor";
}

/* The new sizes: given, as an input, or by factors. A factor gives the step unless it is computed again. */
static bool read_axes(xir_node *at, const xir_value *x, bool corners, resize_axis *axes, size_t n) {
    xir_ints size = { NULL, 0 };
    const double *factors = NULL;
    size_t n_factors = 0;
    double one;
    if (xir_node_has(at, 1)) {
        if (!xir_node_ints(at, 1, &size)) return false;
        if (size.n == 1) size = xir_node_make_ints(at, n, size.v[0]);
    } else if (!pnnx_list(at, "size", n, &size)) {
        const xir_any *a = xir_node_attr(at, factors_name(at));
        if (xir_node_failed(at)) return false;
        if (a && a->kind == XIR_ANY_LIST) (void)xir_node_real_items(at, factors_name(at), &factors, &n_factors);
        else if (!pnnx_is_none(at, "scale_factor"))
            one = xir_node_real(at, "scale_factor", 1), factors = &one, n_factors = 1;
        if (!n_factors) return xir_node_invalid(at, XIR_E_MISSING, NULL, "size and scale_factor are missing");
    }
    if (xir_node_failed(at)) return false;
    if ((size.v && size.n != n) || (factors && n_factors != n && n_factors != 1))
        return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "expected %zu sizes or factors", n);
    const bool again = xir_node_bool(at, "recompute_scale_factor", false);
    for (size_t k = 0; k < n; k++) {
        const double factor = factors ? factors[n_factors == 1 ? 0 : k] : 0;
        const int64_t in = v_dim(x, v_rank(x) - n + k);
        const double out = factors ? floor((double)in * factor) : (double)size.v[k];
        if (!(out >= 1 && out <= 1 << 20) || in < 1 || in > 1 << 20)
            return xir_node_unsupported(at, "a size of %g", out);
        axes[k] = (resize_axis){ in, (int64_t)out, 0 };
        axes[k].step = factors && !again ? 1 / factor : (double)in / (double)axes[k].out;
        if (corners) axes[k].step = axes[k].out > 1 ? (double)(in - 1) / (double)(axes[k].out - 1) : 0;
    }
    return true;
}

/* With antialiasing the curve is as wide as the step. It ends at the border, and its weights have the sum 1. */
static void weigh_smoothly(double *matrix, const resize_axis *a, int64_t i, bool cubic) {
    const double width = a->step > 1 ? a->step : 1, reach = (cubic ? 2 : 1) * width,
                 centre = ((double)i + 0.5) * a->step, begin = floor(centre - reach + 0.5),
                 end = floor(centre + reach + 0.5);
    const int64_t first = begin > 0 ? (int64_t)begin : 0, last = end < (double)a->in ? (int64_t)end : a->in;
    double sum = 0;
    for (int64_t cell = first; cell < last; cell++)
        sum += matrix[cell * a->out + i] = curve_weight(((double)cell + 0.5 - centre) / width, cubic, -0.5);
    for (int64_t cell = first; cell < last && sum != 0; cell++) matrix[cell * a->out + i] /= sum;
}

/* The place of cell i of the result; of the nearest one, in 32 bits. */
static double place_of(const resize_axis *a, int64_t i, resize_mode mode, bool corners) {
    if (mode == NEAREST || mode == NEAREST_EXACT)
        return (double)((mode == NEAREST ? (float)i : (float)i + 0.5f) * (float)a->step);
    const double place = corners ? (double)i * a->step : ((double)i + 0.5) * a->step - 0.5;
    return mode == LINEAR && place < 0 ? 0 : place;
}

static xir_value *resized_axis(xir_node *at, xir_value *x, size_t axis, const resize_axis *a, resize_mode mode,
                               bool corners, bool smooth) {
    const bool near = mode == NEAREST || mode == NEAREST_EXACT;
    if (!near && !v_is_real(x)) return xir_node_unsupported(at, "integers between cells"), NULL;
    double *v = smooth ? mixing_matrix(at, a->in, a->out) : node_reals(at, a->out);
    for (int64_t i = 0; i < a->out && v; i++) {
        if (smooth) weigh_smoothly(v, a, i, mode == CUBIC);
        else v[i] = place_of(a, i, mode, corners);
    }
    if (smooth) return v ? make_mixed(at, x, axis, v, (size_t)a->out) : NULL;
    return make_resampled(at, x, axis, v, a->out, near ? CELL_NEAREST : mode == CUBIC ? CELL_CUBIC : CELL_LINEAR);
}

/* An image of open dims, to a computed size or by whole factors: the op takes the new size as an input. */
static bool resize_open(xir_node *at, xir_value *x, resize_mode mode, bool corners) {
    const size_t n = v_rank(x) - 2;
    const double *factors;
    size_t count;
    item_list known;
    xir_ints whole = xir_node_make_ints(at, n, 1);
    list_items to = make_items(at, n, 0);
    const cell_way way = mode == LINEAR ? CELL_LINEAR : CELL_NEAREST;
    if (xir_node_has(at, 1) && (mode == LINEAR || mode == NEAREST_EXACT) && !corners && to.v) {
        if (!read_items_of(at, NULL, 1, &to) || to.n != n) return xir_node_unsupported(at, "an image of unknown size");
        return xir_node_result(at, 0, op_of_resizing(at, x, &(resizing){ .way = way, .size = to }));
    }
    if (!xir_node_real_items(at, factors_name(at), &factors, &count) || count != n || corners || mode == CUBIC ||
        mode == AREA)
        return xir_node_unsupported(at, "an image of unknown size");
    for (size_t k = 0; k < n && whole.v; k++) {
        if (factors[k] < 1 || factors[k] > 1 << 16 || factors[k] != floor(factors[k]))
            return xir_node_unsupported(at, "an image of unknown size");
        whole.v[k] = (int64_t)factors[k];
    }
    xir_value *dims = xir_node_make(at, "Shape", INS(x), SETS(INT("start", 2)));
    xir_value *size = xir_node_product(at, dims, xir_node_integers(at, &whole));
    if (!size) return false;
    const bool found = conversion_items(at->c, size, &known) && known.n == n;
    for (size_t k = 0; k < n; k++) {
        to.v[k] = (list_item){ .origin = FROM_ITEM, .of = size, .axis = (int64_t)k };
        to.v[k].v = found ? known.v[k] : EXPR_UNKNOWN;
    }
    return xir_node_result(at, 0, op_of_resizing(at, x, &(resizing){ .way = way, .size = to }));
}

/* Returns true if the size is an input whose numbers are not known. */
static bool size_is_computed(xir_node *at) {
    xir_ints size;
    if (!xir_node_has(at, 1) || xir_node_is_constant(at, 1)) return false;
    if (!conversion_ints(at->c, xir_node_input(at, 1), &size)) return true;
    for (size_t i = 0; i < size.n; i++) if (size.v[i] == OPEN_ITEM) return true;
    return false;
}

bool pnnx_resize(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    resize_mode mode;
    bool corners;
    resize_axis axes[3];
    if (!x || !read_mode(at, &mode, &corners)) return false;
    const bool smooth = xir_node_bool(at, "antialias", false);
    const size_t rank = v_rank(x), n = rank - 2;
    if (rank < 3 || rank > 5) return xir_node_unsupported(at, "an input of %zu dims", rank);
    if (smooth && (rank != 4 || (mode != LINEAR && mode != CUBIC)))
        return xir_node_invalid(at, XIR_E_INVALID, "attribute/antialias",
                                "antialias: expected an image of 4 dims and the mode bilinear or bicubic");
    bool open = size_is_computed(at);
    for (size_t k = 0; k < n; k++) open |= v_dim(x, 2 + k) < 0 && pnnx_is_none(at, "size");
    if (open && smooth) return xir_node_unsupported(at, "antialiasing of an image of unknown size");
    if (open) return resize_open(at, x, mode, corners);
    if (!xir_node_need_dims(at, x, 2, SIZE_MAX) || !read_axes(at, x, corners, axes, n)) return false;
    bool plain = n == 2 && !smooth;   /* what Upsample computes */
    for (size_t k = 0; k < n; k++) {
        const bool quotient = axes[k].step == (double)axes[k].in / (double)axes[k].out;
        plain = plain && (corners || quotient) && (mode != NEAREST || axes[k].out % axes[k].in == 0);
    }
    if (plain && (mode == NEAREST || mode == LINEAR)) {
        list_items to = make_items(at, n, 0);
        for (size_t k = 0; k < to.n; k++) to.v[k] = item_number(axes[k].out);
        const resizing r = { .up = true, .way = mode == NEAREST ? CELL_NEAREST : CELL_LINEAR, .corners = corners,
                             .size = to };
        return xir_node_result(at, 0, op_of_resizing(at, x, &r));
    }
    for (size_t k = 0; k < n && x; k++) {
        if (mode == AREA) x = pnnx_averaged(at, x, 2 + k, axes[k].in, axes[k].out);
        else x = resized_axis(at, x, 2 + k, &axes[k], mode, corners, smooth);
    }
    return xir_node_result(at, 0, x);
}

bool pnnx_grid_sample(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *grid = xir_node_input(at, 1);
    if (!xir_node_one_of(at, "mode", "bilinear", "bilinear|nearest|bicubic") ||
        !xir_node_one_of(at, "padding_mode", "zeros", "zeros|border|reflection") || xir_node_failed(at)) return false;
    const bool cubic = xir_node_is(at, "mode", "bicubic"), nearest = xir_node_is(at, "mode", "nearest");
    const char *word = cubic ? "CUBIC" : nearest ? "NEAREST" : "LINEAR";
    return xir_node_result(at, 0, make_grid_sample(at, x, grid, word, xir_node_text(at, "padding_mode", "zeros"),
                                                   xir_node_bool(at, "align_corners", false)));
}

/* The places of all cells, [cells, dims + 1] with x first and a 1 at the end, times theta^T. */
bool pnnx_affine_grid(xir_node *at) {
    static const int64_t swap[] = { 0, 2, 1 };
    xir_value *theta = xir_node_input(at, 0);
    xir_ints size;
    if (!theta || !pnnx_list(at, "size", 0, &size)) return false;
    const size_t n = size.n - 2;
    int64_t cells = 1;
    if (size.n < 4 || size.n > 5) return xir_node_unsupported(at, "%zu dims", size.n);
    for (size_t k = 0; k < n; k++) {
        if (size.v[2 + k] < 1) return xir_node_unsupported(at, "size[%zu] is %lld", 2 + k, (long long)size.v[2 + k]);
        if (!node_at_most(at, size.v[2 + k], 1 << 20, "size[%zu]", 2 + k) ||
            !node_at_most(at, cells *= size.v[2 + k], PNNX_MOST_LISTED / 8, "the number of cells of the grid"))
            return false;
    }
    const bool corners = xir_node_bool(at, "align_corners", false);
    const double *places = grid_places(at, size.v + 2, n, cells, corners);
    if (!places) return false;
    const xir_ints dims = { (int64_t[]){ 1, cells, (int64_t)n + 1 }, 3 };
    xir_value *grid = xir_node_constant(at, v_element(theta), &dims, places, (size_t)cells * (n + 1));
    xir_value *y = make_matrix_product(at, grid, xir_node_transposed(at, theta, swap, 3, NULL));
    const int64_t back[] = { size.v[0], size.v[2], size.v[3], size.n == 5 ? size.v[4] : (int64_t)n, (int64_t)n };
    return xir_node_result(at, 0, make_shaped(at, y, back, size.n));
}
