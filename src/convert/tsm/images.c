/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Resized and sampled images. An operator is a table of cells and weights for each cell of the result: of an axis, or,
 * for a matrix, of both axes as one. Where an operation of XIR computes the same, it is used instead. */
#include <math.h>
#include <stdio.h>
#include "formula/sampled.h"
#include "spec/resizing.h"
#include "tsm/tsm.h"

typedef enum way { LINEAR, CUBIC, NEAREST, HARD } way;

/* ---- cells and weights ------------------------------------------------------------------------------------------ */

enum { MOST_TAPS = 4 };

/* The cells around a coordinate, and their weights. `outside`: it lies outside, where affine_sample2d may have another
 * value. */
typedef struct taps { size_t n; int64_t cell[MOST_TAPS]; double weight[MOST_TAPS]; bool outside; } taps;

static void cubic_weights(double t, double out[4]) {
    static const double a = -0.75;
    out[0] = ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a;
    out[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
    out[2] = ((a + 2) * (1 - t) - (a + 3)) * (1 - t) * (1 - t) + 1;
    out[3] = 1 - out[0] - out[1] - out[2];
}

static int64_t clamped(double x, int64_t n) { return x >= (double)n - 1 ? n - 1 : x > 0 ? (int64_t)x : 0; }

/* Of an axis of n cells. A curve needs one cell before its own and two after it: next to the borders, it is that of the
 * last place that has them. */
static taps taps_at(way type, double x, int64_t n) {
    taps t = { .n = 1, .weight = { 1 } };
    if (type == LINEAR) {
        t.outside = !(x >= 0 && x < (double)n - 1);
        x = x >= 0 ? x : 0;
        x = x < (double)n - 1 ? x : (double)n - 1 - 1e-5;
        const int64_t low = clamped(x, n);
        t.n = 2;
        t.cell[0] = low, t.cell[1] = low + 1 < n ? low + 1 : n - 1;
        t.weight[0] = 1 - (x - (double)low), t.weight[1] = x - (double)low;
    } else if (type == CUBIC) {
        double low = floor(x), part = x - low;
        t.outside = low < 1 || low >= (double)n - 3;
        if (low < 1) part = 0, low = 1;
        if (low >= (double)n - 3) part = 0, low = (double)n - 3;
        t.n = 4;
        cubic_weights(part, t.weight);
        for (size_t k = 0; k < 4; k++) t.cell[k] = clamped(low - 1 + (double)k, n);
    } else {
        const double cell = type == NEAREST ? round(x) : trunc(x);
        t.outside = !(cell >= 0 && cell < (double)n - 1);
        t.cell[0] = clamped(cell, n);
    }
    return t;
}

/* Cells and weights of tap k of all `out` places begin at k * out. */
static bool take_tables(xir_node *at, size_t n, int64_t out, int64_t **cells, double **weights) {
    *cells = NULL, *weights = NULL;
    if (out > TSM_MOST_LISTED / (int64_t)n) return xir_node_unsupported(at, "a constant of more than 2^22 elements");
    *cells = node_take(at, (n * (size_t)out + 1) * sizeof **cells);
    *weights = node_take(at, (n * (size_t)out + 1) * sizeof **weights);
    return (*cells && *weights) || node_no_memory(at);
}

static size_t taps_of(way type) { return type == LINEAR ? 2 : type == CUBIC ? 4 : 1; }

/* ---- resize ----------------------------------------------------------------------------------------------------- */

/* The place in `in` cells of cell p of `out`. Only hard has no half cells, and it is computed in 32 bits. */
static double place_of(way type, int64_t p, int64_t in, int64_t out) {
    const double q = (double)in / (double)out;
    if (type == HARD) return (double)((float)in / (float)out * (float)p);
    return type == CUBIC ? ((double)p + 0.5) * q - 0.5 : q * (double)p + (q / 2 - 0.5);
}

static xir_value *resized_axis(xir_node *at, xir_value *x, size_t axis, int64_t out, way type) {
    int64_t *cells;
    double *weights;
    if (xir_node_failed(at) || !x || !take_tables(at, taps_of(type), out, &cells, &weights)) return NULL;
    const int64_t in = v_dim(x, axis);
    for (int64_t p = 0; p < out; p++) {
        const taps t = taps_at(type, place_of(type, p, in, out), in);
        for (size_t k = 0; k < t.n; k++)
            cells[(int64_t)k * out + p] = t.cell[k], weights[(int64_t)k * out + p] = t.weight[k];
    }
    return make_weighed(at, x, axis, taps_of(type), out, cells, taps_of(type) > 1 ? weights : NULL);
}

bool tsm_same_cells(int64_t in, int64_t out) {
    for (int64_t p = 0; p < out; p++) {
        const int64_t cell = ((2 * p + 1) * in) / (2 * out);
        if (taps_at(NEAREST, place_of(NEAREST, p, in, out), in).cell[0] != (cell < in ? cell : in - 1)) return false;
    }
    return true;
}

/* Returns true if no place lies past the last cell: there TenniS stops 1e-5 before it, Upsample at it. */
static bool same_weights(int64_t in, int64_t out) { return place_of(LINEAR, out - 1, in, out) < (double)in - 1; }

/* Upsample for images of reals with the channels second. */
static bool is_upsample(const xir_value *x, size_t axis, int64_t height, int64_t width, way type) {
    if (v_rank(x) != 4 || axis != 2 || xir_type_kind_of(v_element(x)) != XIR_TYPE_FLOAT) return false;
    if (type == LINEAR) return same_weights(v_dim(x, 2), height) && same_weights(v_dim(x, 3), width);
    return type == NEAREST && tsm_same_cells(v_dim(x, 2), height) && tsm_same_cells(v_dim(x, 3), width);
}

/* x with two dims from `axis` on changed; integers are computed in reals, and truncated. */
static xir_value *resized(xir_node *at, xir_value *x, size_t axis, int64_t height, int64_t width, way type) {
    if (xir_node_failed(at) || !x || !xir_node_need_dims(at, x, axis, axis + 2)) return NULL;
    const int64_t rows = v_dim(x, axis), columns = v_dim(x, axis + 1);
    if (height < 1 || width < 1 || rows < 1 || columns < 1)
        return xir_node_unsupported(at, "an image without cells"), NULL;
    if (height > TSM_MOST_LISTED || width > TSM_MOST_LISTED || rows > TSM_MOST_DIM || columns > TSM_MOST_DIM)
        return xir_node_unsupported(at, "more than 2^22 rows or columns"), NULL;
    if (type == CUBIC && (rows < 4 || columns < 4))
        return xir_node_unsupported(at, "a curve through less than 4 cells"), NULL;
    if (type != CUBIC && height == rows && width == columns) return x;
    if (is_upsample(x, axis, height, width, type)) {
        list_item size[] = { item_number(height), item_number(width) };
        return op_of_resizing(at, x, &(resizing){ .up = true, .size = { size, 2 },
                                                  .way = type == LINEAR ? CELL_LINEAR : CELL_NEAREST });
    }
    const xir_type *element = v_element(x);
    const bool between = taps_of(type) > 1 && xir_type_kind_of(element) != XIR_TYPE_FLOAT;
    xir_value *y = between ? xir_node_cast(at, x, xir_type_float(xir_node_context(at), XIR_FLOAT_FP64)) : x;
    y = resized_axis(at, y, axis, height, type);
    y = resized_axis(at, y, axis + 1, width, type);
    return between && y ? tsm_cast(at, y, element) : y;
}

static bool give_resized(xir_node *at, xir_value *x, size_t axis, int64_t height, int64_t width, way type) {
    xir_value *y = resized(at, x, axis, height, width, type);
    return y && y == x ? xir_convert_copy(at) : xir_node_result(at, 0, y);
}

static bool way_of(xir_node *at, way otherwise, way *out) {
    int64_t type;
    if (!tsm_int(at, "type", otherwise, LINEAR, HARD, &type)) return false;
    *out = (way)type;
    return true;
}

/* The dims that a list of sizes changes: two neighbours, all others are kept (-1, or their number). */
static bool give_sizes(xir_node *at, xir_value *x, const xir_ints *sizes, way type) {
    const size_t rank = v_rank(x);
    if (rank < 2 || sizes->n != rank)
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/1", "input 1: expected %zu numbers, one for each dim, found "
                                "%zu", rank, sizes->n);
    if (!xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    size_t first = rank, last = 0;
    for (size_t i = 0; i < rank; i++) {
        if (sizes->v[i] < 0) sizes->v[i] = v_dim(x, i);
        if (sizes->v[i] == v_dim(x, i)) continue;
        if (first == rank) first = i;
        last = i;
    }
    if (first == rank) first = last = rank == 4 ? 2 : rank - 2;
    if (last > first + 1)
        return xir_node_invalid(at, XIR_E_INVALID, "input/1", "input 1: expected other sizes of two neighbouring dims, "
                                "found dims %zu and %zu", first, last);
    if (first == last && (first + 1 == rank || (rank == 4 && first == 3))) first--;
    return give_resized(at, x, first, sizes->v[first], sizes->v[first + 1], type);
}

/* Sizes that are computed: each axis by itself, at round(q * p + (q / 2 - 0.5)) or, hard, floor(q * p). */
static bool computed_sizes(xir_node *at, xir_value *x, xir_value *sizes, way type) {
    const size_t rank = v_rank(x);
    xir_context *ctx = xir_node_context(at);
    const xir_type *whole = xir_type_sint(ctx, 64), *real = xir_type_float(ctx, XIR_FLOAT_FP64);
    if (type != NEAREST && type != HARD) return xir_node_unsupported(at, "sizes that are not constant");
    sizes = tsm_index(at, sizes);
    if (!tsm_has_rank(at, 1, sizes, 1) || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    for (size_t k = 0; k < rank && x; k++) {
        const double last = (double)v_dim(x, k) - 1;
        xir_value *n = xir_node_scalar(at, whole, (double)v_dim(x, k)), *zero = xir_node_scalar(at, whole, 0);
        xir_value *to = make_part(at, sizes, 0, (int64_t)k, (int64_t)k + 1, 1);
        to = xir_node_make(at, "Where", INS(n, to, xir_node_make(at, "Less", INS(to, zero), NO_SETS)), NO_SETS);
        xir_value *p = xir_node_make(at, "Range", INS(zero, to, xir_node_scalar(at, whole, 1)), NO_SETS);
        if (xir_node_failed(at)) return false;
        xir_value *q = xir_node_quotient(at, xir_node_cast(at, n, real), xir_node_cast(at, to, real));
        xir_value *place = xir_node_product(at, xir_node_cast(at, p, real), q);
        if (type == NEAREST) {
            place = xir_node_sum(at, place, make_affine(at, xir_node_scaled(at, q, 0.5), 1, -0.5), 1, 1);
            place = xir_node_unary(at, "Floor", make_affine(at, place, 1, 0.5));
        }
        place = xir_node_make(at, "ClampScalar", INS(place), SETS(REAL("min", 0), REAL("max", last)));
        x = place ? xir_node_make(at, "Gather", INS(x, xir_node_cast(at, place, whole)), SETS(INT("axis", (int64_t)k)))
                  : NULL;
    }
    return xir_node_result(at, 0, x);
}

bool tsm_resize2d(xir_node *at) {
    way type;
    xir_ints sizes;
    xir_value *x = xir_node_input(at, 0), *size = xir_node_input(at, 1);
    if (xir_node_failed(at) || !way_of(at, LINEAR, &type)) return false;
    if (!xir_node_is_constant(at, 1)) return computed_sizes(at, x, size, type);
    return tsm_constant(at, 1, SIZE_MAX, &sizes) && give_sizes(at, x, &sizes, type);
}

/* Sizes of two dims; align_corners is ignored. */
bool tsm_resize_nearest(xir_node *at) {
    xir_ints size;
    int64_t dim;
    xir_value *x = xir_node_input(at, 0);
    if (v_rank(x) < 2) return xir_node_unsupported(at, "%zu dims", v_rank(x));
    if (!tsm_int(at, "dim", 0, 0, (int64_t)v_rank(x) - 2, &dim) || !tsm_constant(at, 1, 2, &size)) return false;
    return give_resized(at, x, (size_t)dim, size.v[0], size.v[1], NEAREST);
}

/* Factors of all dims. */
bool tsm_sample2d_v2(xir_node *at) {
    const double *scale;
    size_t n;
    way type;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !way_of(at, HARD, &type) || !xir_node_reals(at, 1, &scale, &n)) return false;
    if (n != v_rank(x))
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/1", "input 1: expected %zu numbers, one for each dim, found "
                                "%zu", v_rank(x), n);
    if (!xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    xir_ints sizes = xir_node_make_ints(at, n, 0);
    for (size_t i = 0; i < n && sizes.v; i++) {
        const float size = floorf((float)v_dim(x, i) * (float)scale[i]);
        if (!(size >= 1 && size <= TSM_MOST_LISTED)) return xir_node_unsupported(at, "a dim of 0, or above 2^22");
        sizes.v[i] = (int64_t)size;
    }
    return sizes.v && give_sizes(at, x, &sizes, type);
}

/* A number, or columns and rows: with one the shorter side has that length. */
bool tsm_scale_resize(xir_node *at) {
    way type;
    xir_ints size;
    xir_value *x = xir_node_input(at, 0);
    if (!tsm_has_rank(at, 0, x, 4) || !way_of(at, LINEAR, &type) || !tsm_list(at, "size", SIZE_MAX, 1, &size) ||
        !xir_node_need_dims(at, x, 1, 3)) return false;
    int64_t rows = v_dim(x, 1), columns = v_dim(x, 2);
    if (size.n < 1 || size.n > 2)
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/size", "size: expected 1 or 2 numbers, found %zu", size.n);
    if (rows < 1 || columns < 1 || rows > TSM_MOST_DIM || columns > TSM_MOST_DIM)
        return xir_node_unsupported(at, "a dim of 0, or above 2^31 - 1");
    if (size.n == 2) rows = size.v[1], columns = size.v[0];
    else if (rows > columns) rows = size.v[0] * rows / columns, columns = size.v[0];
    else columns = size.v[0] * columns / rows, rows = size.v[0];
    return give_resized(at, x, 1, rows, columns, type);
}

/* ---- samples ---------------------------------------------------------------------------------------------------- */

/* A matrix takes (column, row, 1) of the result to the image. Outside is `value`, or the border. */
typedef struct sampling { float m[6]; int64_t rows, columns; way type; bool has_value; double value; } sampling;

static void sample_cell(const sampling *s, int64_t p, int64_t in_rows, int64_t in_columns, int64_t *cells,
                        double *weights, double *rest) {
    const int64_t out = s->rows * s->columns;
    const float row = (float)(p / s->columns), column = (float)(p % s->columns);
    const float x = s->m[0] * column + s->m[1] * row + s->m[2], y = s->m[3] * column + s->m[4] * row + s->m[5];
    const taps tx = taps_at(s->type, (double)x, in_columns), ty = taps_at(s->type, (double)y, in_rows);
    const bool outside = s->has_value && (tx.outside || ty.outside);
    *rest = outside ? s->value : 0;
    for (size_t i = 0, k = 0; i < ty.n; i++) {
        for (size_t j = 0; j < tx.n; j++, k++) {
            cells[(int64_t)k * out + p] = ty.cell[i] * in_columns + tx.cell[j];
            weights[(int64_t)k * out + p] = outside ? 0 : ty.weight[i] * tx.weight[j];
        }
    }
}

/* x with the dims `axis` and after it sampled; both are one while it is. */
static bool give_sampled(xir_node *at, xir_value *x, size_t axis, const sampling *s) {
    int64_t *cells, out;
    double *weights;
    if (xir_node_failed(at) || !x || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const int64_t rows = v_dim(x, axis), columns = v_dim(x, axis + 1);
    const size_t rank = v_rank(x), n = taps_of(s->type) * taps_of(s->type);
    if (s->rows < 1 || s->columns < 1 || rows < 1 || columns < 1)
        return xir_node_unsupported(at, "an image without cells");
    if (s->type == CUBIC && (rows < 4 || columns < 4))
        return xir_node_unsupported(at, "a curve through less than 4 cells");
    if (rows > TSM_MOST_DIM || columns > TSM_MOST_DIM || __builtin_mul_overflow(s->rows, s->columns, &out))
        return xir_node_unsupported(at, "a dim above 2^31 - 1");
    if (!take_tables(at, n, out, &cells, &weights)) return false;
    double *rest = node_take(at, ((size_t)out + 1) * sizeof *rest);
    if (!rest) return node_no_memory(at);
    bool any = false, weighted = n > 1;
    for (int64_t p = 0; p < out; p++) {
        sample_cell(s, p, rows, columns, cells, weights, &rest[p]);
        any |= rest[p] != 0;
        weighted |= weights[p] != 1;
    }
    const xir_ints dims = xir_node_dims(at, x), line = node_line(at, rank - 1 - axis, 0, out);
    if (xir_node_failed(at)) return false;
    const xir_type *element = v_element(x);
    const bool between = n > 1 && xir_type_kind_of(element) != XIR_TYPE_FLOAT;
    if (between) x = xir_node_cast(at, x, xir_type_float(xir_node_context(at), XIR_FLOAT_FP64));
    xir_ints flat = xir_node_make_ints(at, rank - 1, 1);
    for (size_t i = 0; i + 1 < rank && flat.v; i++) flat.v[i] = i == axis ? rows * columns : dims.v[i + (i > axis)];
    xir_value *y = make_weighed(at, make_reshaped(at, x, &flat), axis, n, out, cells, weighted ? weights : NULL);
    if (any && y)
        y = xir_node_sum(at, y, xir_node_constant(at, v_element(y), &line, rest, (size_t)out), 1, 1);
    if (between && y) y = xir_node_cast(at, y, element);
    dims.v[axis] = s->rows, dims.v[axis + 1] = s->columns;
    return y && xir_node_result(at, 0, make_reshaped(at, y, &dims));
}

/* The first of two neighbouring dims. */
static bool two_dims(xir_node *at, const xir_value *x, int64_t otherwise, int64_t *dim) {
    if (v_rank(x) < 2) return xir_node_unsupported(at, "%zu dims", v_rank(x));
    if (!node_axis(at, "dim", otherwise, v_rank(x), dim)) return false;
    return *dim + 1 < (int64_t)v_rank(x) || tsm_out_of_range(at, "dim", *dim);
}

/* Cell p is at p / scale; outside is 0. */
bool tsm_sample2d(xir_node *at) {
    int64_t dim;
    sampling s = { .has_value = true };
    xir_value *x = xir_node_input(at, 0);
    if (!two_dims(at, x, -2, &dim) || !way_of(at, NEAREST, &s.type)) return false;
    const float scale = (float)xir_node_real(at, "scale", 1);
    if (!(scale >= 1e-5f) || isinf(scale))
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/scale", "scale: expected at least 1e-5, found %g",
                                (double)scale);
    if (!xir_node_need_dims(at, x, (size_t)dim, (size_t)dim + 2)) return false;
    const float rows = floorf((float)v_dim(x, (size_t)dim) * scale);
    const float columns = floorf((float)v_dim(x, (size_t)dim + 1) * scale);
    if (!(rows <= TSM_MOST_LISTED && columns <= TSM_MOST_LISTED))
        return xir_node_unsupported(at, "more than 2^22 rows or columns");
    s.rows = (int64_t)rows, s.columns = (int64_t)columns;
    s.m[0] = s.m[4] = 1 / scale;
    return give_sampled(at, x, (size_t)dim, &s);
}

/* Inputs: x, two sizes, a 3 x 3 matrix, whose last row is not read. */
bool tsm_affine_sample2d(xir_node *at) {
    xir_ints size;
    const double *matrix;
    size_t n;
    int64_t dim;
    sampling s = { .has_value = xir_node_attr(at, "outer_value") != NULL,
                   .value = xir_node_real(at, "outer_value", 0) };
    xir_value *x = xir_node_input(at, 0);
    if (!two_dims(at, x, -2, &dim) || !way_of(at, LINEAR, &s.type) || !tsm_constant(at, 1, 2, &size) ||
        !xir_node_reals(at, 2, &matrix, &n)) return false;
    if (n != 9)
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/2", "input 2: expected 3 x 3 numbers, found %zu", n);
    for (size_t i = 0; i < 6; i++) {
        s.m[i] = (float)matrix[i];
        if (!isfinite(s.m[i])) return xir_node_unsupported(at, "a matrix with numbers that are not finite");
    }
    s.rows = size.v[0], s.columns = size.v[1];
    return give_sampled(at, x, (size_t)dim, &s);
}

/* The image as large as possible at the top left of one of a size: a number, or columns and rows. */
bool tsm_letterbox(xir_node *at) {
    xir_ints size;
    sampling s = { .has_value = true, .value = xir_node_real(at, "outer_value", 0) };
    xir_value *x = xir_node_input(at, 0);
    if (!tsm_has_rank(at, 0, x, 4) || !way_of(at, LINEAR, &s.type) || !tsm_list(at, "size", SIZE_MAX, 1, &size) ||
        !xir_node_need_dims(at, x, 1, 3)) return false;
    if (size.n < 1 || size.n > 2)
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/size", "size: expected 1 or 2 numbers, found %zu", size.n);
    s.rows = size.v[size.n - 1], s.columns = size.v[0];
    const float across = (float)s.columns / (float)v_dim(x, 2), down = (float)s.rows / (float)v_dim(x, 1);
    if (!isfinite(across) || !isfinite(down)) return xir_node_unsupported(at, "an image without cells");
    s.m[0] = s.m[4] = 1 / (across < down ? across : down);
    return give_sampled(at, x, 1, &s);
}

/* ---- colours ---------------------------------------------------------------------------------------------------- */

bool tsm_force_color(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const size_t rank = v_rank(x);
    if (!rank) return xir_node_invalid(at, XIR_E_INVALID, "input/0", "expected 1 dim or more, found 0");
    if (!xir_node_need_dims(at, x, rank - 1, rank)) return false;
    if (v_dim(x, rank - 1) == 3) return xir_convert_copy(at);
    if (v_dim(x, rank - 1) != 1)
        return xir_node_invalid(at, XIR_E_INVALID, "input/0", "expected a last dim of 1 or 3, found %lld",
                                (long long)v_dim(x, rank - 1));
    xir_ints sizes = xir_node_make_ints(at, rank, -1);
    if (!sizes.v) return false;
    sizes.v[rank - 1] = 3;
    return xir_node_becomes(at, "Expand", INS(x), SETS(LIST("sizes", &sizes)));
}

/* The sum of the last dim, weighted; integers are truncated. */
bool tsm_force_gray(xir_node *at) {
    static const double usual[] = { 0.114f, 0.587f, 0.299f };
    const double *scale = usual;
    size_t n = 3;
    xir_value *x = xir_node_input(at, 0);
    const size_t rank = v_rank(x);
    if (!rank) return xir_node_invalid(at, XIR_E_INVALID, "input/0", "expected 1 dim or more, found 0");
    if (!xir_node_need_dims(at, x, rank - 1, rank)) return false;
    if (v_dim(x, rank - 1) == 1) return xir_convert_copy(at);
    if (!xir_node_real_items(at, "scale", &scale, &n) || !n) scale = usual, n = 3;
    if (v_dim(x, rank - 1) != (int64_t)n)
        return xir_node_invalid(at, XIR_E_INVALID, "input/0", "expected a last dim of 1 or %zu, found %lld", n,
                                (long long)v_dim(x, rank - 1));
    const xir_type *element = v_element(x);
    const bool real = xir_type_kind_of(element) == XIR_TYPE_FLOAT;
    xir_value *y = real ? x : xir_node_cast(at, x, xir_type_float(xir_node_context(at), XIR_FLOAT_FP32));
    const xir_ints last = { (int64_t[]){ (int64_t)rank - 1 }, 1 };
    y = y ? xir_node_product(at, y, xir_node_constant(at, v_element(y), NULL, scale, n)) : NULL;
    y = xir_node_reduced(at, "Sum", y, &last, true);
    return xir_node_result(at, 0, real ? y : tsm_cast(at, y, element));
}
