/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Pools of regions of an image, which an input gives. Each bin of a region has a grid of samples, and each
 * sample lies between four cells. */
#include <math.h>
#include "formula/parts.h"
#include "formula/sampled.h"
#include "formula/text.h"

enum { MOST_CELLS = 1 << 22 };   /* of constants and of a dim */

/* n is the weight of each cell y at each position x; z is true for positions inside the image. o is the position minus
 * the cell. */
#define NEAR "o = ClampScalar(x, min=0, max=a) - y; n = 1 - Abs(o); l = like(z); n = ReLU(n) * l"

/* Returns the weight of each of `size` cells at places p, [regions, …, 1]: a sample between two cells counts both, one
 * outside of the image none, nor one for which `also`, unless it is NULL, does not hold. With `side` -1 only the cell
 * before the place counts, with 1 only the one after it. */
static xir_value *cell_weights(xir_node *at, xir_value *p, xir_value *also, int64_t size, int side) {
    static const char *const of_side[] = { NEAR "; n * like(o >= 0)", NEAR "; n", NEAR "; n * like(o < 0)" };
    double *cells = node_reals(at, size);
    if (!cells || xir_node_failed(at) || !p) return NULL;
    for (int64_t i = 0; i < size; i++) cells[i] = (double)i;
    xir_value *inside = make_formula(at, also ? "f = x >= -1; f = And(f, x <= a); And(f, y)" : "And(x >= -1, x <= a)",
                                     INS(p, also), NUMBERS((double)size));
    xir_value *cell = xir_node_constant(at, v_element(p), NULL, cells, (size_t)size);
    return make_formula(at, of_side[side + 1], INS(p, cell, inside), NUMBERS((double)(size - 1)));
}

/* Along one axis, the places of `samples` in each of n bins of each region, [regions, n * samples, 1]. `from` and
 * `length`, [regions, 1], are in cells. */
static xir_value *sample_places(xir_node *at, xir_value *from, xir_value *length, int64_t n, int64_t samples) {
    const xir_ints last = { (int64_t[]){ 2 }, 1 };
    double *places = node_reals(at, n * samples);
    if (!places || xir_node_failed(at) || !from || !length) return NULL;
    for (int64_t i = 0; i < n * samples; i++) places[i] = ((double)i + 0.5) / (double)(n * samples);
    xir_value *at_bins = xir_node_product(at, length, xir_node_constant(at, v_element(from), NULL, places,
                                                                        (size_t)(n * samples)));
    xir_value *p = xir_node_sum(at, from, at_bins, 1, 1);
    return p ? xir_node_unsqueezed(at, p, &last, NULL) : NULL;
}

/* Along one axis of `size` cells: how much each cell counts in each of `n` bins of each region, [regions, n, size]. */
static xir_value *bin_weights(xir_node *at, xir_value *from, xir_value *length, int64_t n, int64_t samples,
                              int64_t size) {
    const xir_ints mean = { (int64_t[]){ 2 }, 1 };
    xir_value *near = cell_weights(at, sample_places(at, from, length, n, samples), NULL, size, 0);
    near = near ? make_shaped(at, near, (int64_t[]){ v_dim(near, 0), n, samples, size }, 4) : NULL;
    return near ? xir_node_reduced(at, "Mean", near, &mean, false) : NULL;
}

/* As many samples in a bin as it has cells, rounded up, which only a run knows: those of the largest bin are computed
 * for all regions. */
typedef struct own_samples {
    xir_value *places;    /* [regions, n, samples, 1]                        */
    xir_value *there;     /* [regions, 1, samples, 1]: the region has it     */
    xir_value *count;     /* [regions, 1, 1, 1]                              */
    xir_value *divisor;   /* the same, at least 1                            */
} own_samples;

static bool find_samples(xir_node *at, xir_value *from, xir_value *length, int64_t n, own_samples *out) {
    const xir_ints both = { (int64_t[]){ 2, 3 }, 2 }, first = { (int64_t[]){ 0 }, 1 }, one = { (int64_t[]){ 1 }, 1 },
                   flat = { (int64_t[]){ -1 }, 1 }, column = { (int64_t[]){ -1, 1 }, 2 },
                   bins = { (int64_t[]){ n, 1, 1 }, 3 };
    double *numbers = node_reals(at, n), least = 1;
    if (!numbers || xir_node_failed(at) || !from || !length) return false;
    for (int64_t i = 0; i < n; i++) numbers[i] = (double)i;
    const xir_type *e = v_element(from);
    from = xir_node_unsqueezed(at, from, &both, NULL);
    xir_value *bin = xir_node_quotient(at, xir_node_unsqueezed(at, length, &both, NULL),
                                       xir_node_scalar(at, e, (double)n));
    out->count = xir_node_unary(at, "Ceil", bin);
    out->divisor = make_formula(at, "Maximum(x, 1)", INS(out->count), NULL);
    if (xir_node_failed(at) || !out->divisor) return false;
    xir_value *all = xir_node_make(at, "Concat", INS(make_reshaped(at, out->divisor, &flat),
                                                     xir_node_constant(at, e, &one, &least, 1)),
                                   SETS(INT("axis", 0)));   /* a run may have no regions */
    xir_value *most = xir_node_cast(at, xir_node_reduced(at, "Max", all, &first, true), xir_type_sint(at->c->ctx, 64));
    xir_value *k = xir_node_make(at, "Range", INS(xir_node_integers(at, &first), most, xir_node_integers(at, &one)),
                                 NO_SETS);
    k = k ? xir_node_cast(at, make_reshaped(at, k, &column), e) : NULL;
    xir_value *in_bin = make_formula(at, "(x + 0.5) * y / z", INS(k, bin, out->divisor), NULL);
    xir_value *start = xir_node_product(at, bin, xir_node_constant(at, e, &bins, numbers, (size_t)n));
    out->places = xir_node_sum(at, xir_node_sum(at, from, start, 1, 1), in_bin, 1, 1);
    out->there = xir_node_make(at, "Less", INS(k, out->count), NO_SETS);
    return !xir_node_failed(at);
}

/* The weights of bin_weights with these samples; those that a region does not have count nothing. */
static xir_value *own_bin_weights(xir_node *at, const own_samples *s, int64_t size) {
    const xir_ints samples = { (int64_t[]){ 2 }, 1 }, last = { (int64_t[]){ 3 }, 1 };
    xir_value *near = cell_weights(at, s->places, s->there, size, 0);
    return xir_node_quotient(at, xir_node_reduced(at, "Sum", near, &samples, false),
                             xir_node_make(at, "Squeeze", INS(s->divisor), SETS(LIST("axis", &last))));
}

/* Picks the rows `rows` from the image, then the columns `columns`: both are [regions, …, cells]. */
static xir_value *picked(xir_node *at, xir_value *image, xir_value *rows, xir_value *columns) {
    const xir_ints one = { (int64_t[]){ 1 }, 1 };
    if (xir_node_failed(at) || !image || !rows || !columns) return NULL;
    xir_value *right = xir_node_unsqueezed(at, make_swapped(at, columns), &one, NULL);
    return make_matrix_product(at, make_matrix_product(at, xir_node_unsqueezed(at, rows, &one, NULL), image), right);
}

/* The maximum of all samples of a bin, each the largest of its four cells times their weights, as ONNX Runtime has
 * it. `from` and `length` are those of rows and of columns. */
static xir_value *bin_maxima(xir_node *at, xir_value *image, xir_value *from[2], xir_value *length[2],
                             const int64_t n[2], int64_t samples) {
    const xir_ints axes = { (int64_t[]){ 3, 5 }, 2 };
    xir_value *w[2][2], *y = NULL;
    if (xir_node_failed(at) || !image) return NULL;
    for (size_t k = 0; k < 2; k++) {
        xir_value *p = sample_places(at, from[k], length[k], n[k], samples);
        for (int side = 0; side < 2; side++)
            w[k][side] = cell_weights(at, p, NULL, v_dim(image, 2 + k), side ? 1 : -1);
    }
    for (int i = 0; i < 4; i++) {
        xir_value *corner = picked(at, image, w[0][i / 2], w[1][i % 2]);
        y = i ? xir_node_make(at, "Maximum", INS(y, corner), NO_SETS) : corner;
        if (!y || xir_node_failed(at)) return NULL;
    }
    const int64_t channels = v_dim(y, 1);
    y = make_shaped(at, y, (int64_t[]){ v_dim(y, 0), channels, n[0], samples, n[1], samples }, 6);
    return y ? xir_node_reduced(at, "Max", y, &axes, false) : NULL;
}

/* A value of rows, [regions, n, samples, …], or of columns, with dims for the other one: [regions, 1, n, 1, samples, …]
 * or [regions, 1, 1, n, …, samples]. */
static xir_value *of_pairs(xir_node *at, xir_value *v, bool columns) {
    const xir_ints axes = { columns ? (int64_t[]){ 1, 2 } : (int64_t[]){ 1, 3 }, 2 };
    if (v && columns) v = make_swapped(at, v);
    return v ? xir_node_unsqueezed(at, v, &axes, NULL) : NULL;
}

/* The maxima of bins with as many samples as cells; 0 where a region has none. */
static xir_value *own_bin_maxima(xir_node *at, xir_value *image, const own_samples s[2]) {
    const xir_ints both = { (int64_t[]){ 4, 5 }, 2 }, middle = { (int64_t[]){ 2, 3 }, 2 };
    xir_value *y = NULL;
    if (xir_node_failed(at) || !image) return NULL;
    const int64_t size[2] = { v_dim(image, 2), v_dim(image, 3) };
    image = xir_node_unsqueezed(at, image, &middle, NULL);
    for (int i = 0; i < 4; i++) {
        xir_value *rows = of_pairs(at, cell_weights(at, s[0].places, NULL, size[0], i / 2 ? 1 : -1), false);
        xir_value *columns = of_pairs(at, cell_weights(at, s[1].places, NULL, size[1], i % 2 ? 1 : -1), true);
        xir_value *corner = make_matrix_product(at, make_matrix_product(at, rows, image), columns);
        y = i ? xir_node_make(at, "Maximum", INS(y, corner), NO_SETS) : corner;
        if (!y || xir_node_failed(at)) return NULL;
    }
    xir_value *row_there = of_pairs(at, s[0].there, false), *column_there = of_pairs(at, s[1].there, true);
    y = make_formula(at, "And(y, z) ? x : -inf", INS(y, row_there, column_there), NULL);
    y = y ? xir_node_reduced(at, "Max", y, &both, false) : NULL;
    return make_formula(at, "y * z > 0 ? x : 0", INS(y, s[0].count, s[1].count), NULL);
}

/* The mean over a grid of samples between cells is a product with a matrix on each side of the image. */
xir_value *make_roi_align(xir_node *at, xir_value *x, xir_value *regions, xir_value *batch, const roi_pool *p) {
    const int64_t *n = p->n, samples = p->samples;
    const bool own = samples == 0;
    xir_value *from[2], *length[2], *w[2];
    own_samples s[2];
    if (samples < 0 || samples > 1 << 10) return xir_node_unsupported(at, "%lld samples", (long long)samples), NULL;
    if (!xir_node_need_dims(at, x, 2, 4)) return NULL;
    regions = xir_node_scaled(at, regions, p->scale);
    if (p->halves) regions = make_formula(at, "x - like(0.5)", INS(regions), NULL);
    for (int k = 0; k < 2; k++) {   /* x1, y1, x2, y2 */
        from[k] = make_part(at, regions, 1, 1 - k, 2 - k, 1);
        length[k] = xir_node_sum(at, make_part(at, regions, 1, 3 - k, 4 - k, 1), from[k], 1, -1);
        if (!p->halves) length[k] = make_formula(at, "Maximum(x, 1)", INS(length[k]), NULL);
        const int64_t size = v_dim(x, 2 + (size_t)k);
        if (n[k] > MOST_CELLS / (own ? 1 : samples) || size < 1 || size > MOST_CELLS)
            return xir_node_unsupported(at, "a dim of 0, or a constant of more than 2^22 elements"), NULL;
        if (own && !find_samples(at, from[k], length[k], n[k], &s[k])) return NULL;
        if (!p->max) w[k] = own ? own_bin_weights(at, &s[k], size)
                                : bin_weights(at, from[k], length[k], n[k], samples, size);
    }
    if (xir_node_failed(at)) return NULL;
    xir_value *image = xir_node_make(at, "Gather", INS(x, batch), SETS(INT("axis", 0)));
    return p->max && own ? own_bin_maxima(at, image, s)
           : p->max ? bin_maxima(at, image, from, length, n, samples)
           : picked(at, image, w[0], w[1]);
}
