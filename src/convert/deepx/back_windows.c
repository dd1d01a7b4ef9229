/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of windows, unless {windows=false}: a constant has the places of all cells of all windows, and
 * `indexselect` takes them; then there is a product with the kernel, or a reduction. Rows and columns are one dim for
 * that, and one further cell is the padding. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "deepx/deepx.h"
#include "spec/maps.h"
#include "spec/windows.h"

enum { MOST_CELLS = 1 << 24 };

/* A map with channels last as [n, places, channels], and its windows: `count` of them, each of `cells`. */
typedef struct sliding {
    windows    w;
    int64_t    output[3], places, count, cells, channels, batch;
    xir_value *x;
} sliding;

static bool is_wanted(xir_node *at) {
    return xir_pass_bool(xir_node_pass(at), "windows") ||
           xir_node_unsupported(at, "windows, which the option excludes");
}

/* ---- the windows of an op --------------------------------------------------------------------------------------- */

/* x with its channels last, and the windows over it. */
static bool begin(xir_node *at, sliding *s) {
    static const char *const maps[] = { "NWC", "NHWC", "NDHWC" };
    xir_value *x = xir_node_input(at, 0);
    memset(s, 0, sizeof *s);
    if (!is_wanted(at) || !x || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const size_t rank = v_rank(x);
    if (rank < 3 || rank > 5) return xir_node_unsupported(at, "a map of %zu dims", rank);
    at->order = xir_str_of(maps[rank - 3]);
    s->x = node_in_order(at, x, at->order);
    if (!windows_of_op(at, s->x, 1, NULL, &s->w)) return false;
    s->batch = v_dim(s->x, 0), s->channels = v_dim(s->x, rank - 1);
    s->places = 1;
    for (size_t k = 0; k < s->w.n; k++)
        if (s->w.input[k] < 1 || __builtin_mul_overflow(s->places, s->w.input[k], &s->places))
            return xir_node_unsupported(at, "no places, or very many");
    return true;
}

/* The number of windows and cells; the dims of the result. */
static bool count(xir_node *at, sliding *s) {
    s->count = s->cells = 1;
    for (size_t k = 0; k < s->w.n; k++) {
        const windows *w = &s->w;
        static const char *const names[] = { "size", "dilation", "stride", "padding before", "padding after",
                                             "padding of the output" };
        const int64_t large[] = { w->size[k], w->dilation[k], w->stride[k], w->before[k], w->after[k], w->more[k] };
        for (size_t i = 0; i < COUNT(large); i++)
            if (!node_at_most(at, llabs(large[i]), MOST_CELLS, "the %s of the windows", names[i])) return false;
        const int64_t span = w->dilation[k] * (w->size[k] - 1);
        const int64_t spread = (w->input[k] - 1) * w->stride[k] - w->before[k] - w->after[k] + span + w->more[k] + 1;
        s->output[k] = w->transposed ? spread : window_room(w, k) < 0 ? 0 : window_room(w, k) / w->stride[k] + 1;
        if (s->output[k] < 1 || __builtin_mul_overflow(s->count, s->output[k], &s->count) ||
            __builtin_mul_overflow(s->cells, w->size[k], &s->cells) || s->count > MOST_CELLS ||
            s->cells > MOST_CELLS || s->count * s->cells > MOST_CELLS)
            return xir_node_unsupported(at, "no windows, or very many cells");
    }
    return true;
}

/* The place along axis k that a cell of a window has; -1: it is padding. Back: the place of the input whose window has
 * this cell there. */
static int64_t place_along(const sliding *s, size_t k, int64_t window, int64_t cell) {
    const windows *w = &s->w;
    const bool back = w->transposed;
    int64_t i = back ? window + w->before[k] - w->dilation[k] * cell
                     : window * w->stride[k] - w->before[k] + w->dilation[k] * cell;
    if (back && i % w->stride[k]) return -1;
    if (back) i /= w->stride[k];
    return i >= 0 && i < w->input[k] ? i : -1;
}

/* The places of all cells; `outside`, of each window, gets the number of cells that are padding, unless it is NULL. */
static xir_ints places_of(xir_node *at, const sliding *s, bool *any_outside, int64_t *outside) {
    xir_ints list = xir_node_make_ints(at, (size_t)(s->count * s->cells), 0);
    *any_outside = false;
    for (size_t i = 0; i < list.n && list.v; i++) {
        int64_t window = (int64_t)i / s->cells, cell = (int64_t)i % s->cells, place = 0, step = 1;
        for (size_t k = s->w.n; k-- > 0; step *= s->w.input[k]) {
            const int64_t own = place_along(s, k, window % s->output[k], cell % s->w.size[k]);
            place = own < 0 || place < 0 ? -1 : place + own * step;
            window /= s->output[k], cell /= s->w.size[k];
        }
        list.v[i] = place < 0 ? s->places : place;
        *any_outside |= place < 0;
        if (place < 0 && outside) outside[(int64_t)i / s->cells]++;
    }
    return list;
}

/* [n, count, cells, channels]: what the windows see. */
static xir_value *windows_of(xir_node *at, const sliding *s, double padding, int64_t *outside) {
    bool any;
    xir_ints places = places_of(at, s, &any, outside);
    xir_value *x = make_shaped(at, s->x, (int64_t[]){ s->batch, s->places, s->channels }, 3);
    if (any) {
        const xir_ints cell = { (int64_t[]){ s->batch, 1, s->channels }, 3 };
        x = xir_node_make(at, "Concat", INS(x, xir_node_filled(at, v_element(x), &cell, padding)),
                          SETS(INT("axis", 1)));
    }
    x = make_taken(at, x, 1, &places);
    return make_shaped(at, x, (int64_t[]){ s->batch, s->count, s->cells, s->channels }, 4);
}

/* [n, count, channels] as the map of the result, in its order. */
static bool give_map(xir_node *at, const sliding *s, xir_value *y, int64_t channels) {
    int64_t dims[5] = { s->batch };
    for (size_t k = 0; k < s->w.n; k++) dims[k + 1] = s->output[k];
    dims[s->w.n + 1] = channels;
    if (!map_give(at, make_shaped(at, y, dims, s->w.n + 2))) return false;
    at->c->bytes.windows += (uint64_t)(s->count * s->cells) * sizeof(int64_t);
    return true;
}

/* ---- convolutions ----------------------------------------------------------------------------------------------- */

/* [n count, cells * i] times [cells * i, o] for each group. */
static xir_value *product(xir_node *at, const sliding *s, xir_value *seen, xir_value *kernel, int64_t groups,
                          int64_t in, int64_t out) {
    const int64_t rows = s->batch * s->count;
    if (groups == 1)
        return make_matrix_product(at, make_shaped(at, seen, (int64_t[]){ rows, s->cells * in }, 2),
                                   make_shaped(at, kernel, (int64_t[]){ s->cells * in, out }, 2));
    static const int64_t first[] = { 2, 0, 1, 3 }, middle[] = { 2, 0, 1, 3 }, last[] = { 1, 0, 2 };
    seen = make_shaped(at, seen, (int64_t[]){ rows, s->cells, groups, in }, 4);
    kernel = make_shaped(at, kernel, (int64_t[]){ s->cells, in, groups, out }, 4);
    if (xir_node_failed(at) || !seen || !kernel) return NULL;
    seen = make_shaped(at, xir_node_transposed(at, seen, first, 4, NULL),
                       (int64_t[]){ groups, rows, s->cells * in }, 3);
    kernel = make_shaped(at, xir_node_transposed(at, kernel, middle, 4, NULL),
                         (int64_t[]){ groups, s->cells * in, out }, 3);
    xir_value *y = make_matrix_product(at, seen, kernel);
    return y ? xir_node_transposed(at, y, last, 3, NULL) : NULL;
}

/* Conv1d to 3d, ConvTranspose1d to 3d. The kernels of the latter have groups in their inputs: [cells, g, i, o]. */
bool deepx_back_conv(xir_node *at) {
    static const char *const kernels[] = { "WIO", "HWIO", "DHWIO" };
    sliding s;
    if (!begin(at, &s)) return false;
    xir_value *w = xir_node_input(at, 1), *bias = xir_node_optional_input(at, 2);
    const bool back = s.w.transposed;
    const int64_t groups = s.w.groups;
    if (s.w.mode != XIR_PADDING_ZEROS)
        return xir_node_unsupported(at, "padding with other cells than zeros");
    w = node_in_order(at, w, xir_str_of(kernels[s.w.n - 1]));
    if (!w || !xir_node_need_dims(at, w, 0, SIZE_MAX)) return false;
    for (size_t k = 0; k < s.w.n; k++) s.w.size[k] = v_dim(w, k);
    const int64_t i = v_dim(w, s.w.n), o = v_dim(w, s.w.n + 1);
    const int64_t in = s.channels / groups, out = back ? o : o / groups, all = out * groups;
    if (!count(at, &s)) return false;
    if (back && groups > 1) {   /* the inputs of a group are apart: groups come after them */
        static const int64_t order[] = { 0, 2, 1, 3 };
        w = make_shaped(at, w, (int64_t[]){ s.cells, groups, i / groups, o }, 4);
        w = w ? xir_node_transposed(at, w, order, 4, NULL) : NULL;
    }
    xir_value *y = product(at, &s, windows_of(at, &s, 0, NULL), w, groups, in, out);
    y = make_shaped(at, y, (int64_t[]){ s.batch, s.count, all }, 3);
    if (bias && v_rank(bias) != 1) bias = make_shaped(at, bias, (int64_t[]){ -1 }, 1);
    if (y && bias) y = xir_node_sum(at, y, bias, 1, 1);
    return give_map(at, &s, y, all);
}

/* ---- pools ------------------------------------------------------------------------------------------------------ */

static double least_of(const xir_type *element) {
    if (xir_type_kind_of(element) == XIR_TYPE_FLOAT) return -INFINITY;
    return -ldexp(1, (int)xir_type_storage_bits(element) - 1);
}

bool deepx_back_max_pool(xir_node *at) {
    sliding s;
    if (!begin(at, &s) || !count(at, &s)) return false;
    if (v_is_bool(s.x)) return xir_node_unsupported(at, "a reduction of bools");
    const xir_ints axis = { (int64_t[]){ 2 }, 1 };
    xir_value *seen = windows_of(at, &s, least_of(v_element(s.x)), NULL);
    return seen && give_map(at, &s, xir_node_reduced(at, "Max", seen, &axis, false), s.channels);
}

/* The divisor of each window, if they differ; else *all. */
static xir_value *divisors(xir_node *at, const sliding *s, const int64_t *outside, double *all) {
    const int64_t fixed = s->w.divisor;
    const bool counts = s->w.counts;
    const xir_ints dims = { (int64_t[]){ 1, s->count, 1 }, 3 };
    double *list = node_take(at, ((size_t)s->count + 1) * sizeof *list);
    bool same = true;
    if (!list) return node_no_memory(at), NULL;
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t n = fixed ? fixed : counts ? s->cells : s->cells - outside[i];
        list[i] = n > 0 ? (double)n : 1;   /* of padding alone the sum is 0 */
        same &= list[i] == list[0];
    }
    *all = list[0];
    return same ? NULL : xir_node_constant(at, v_element(s->x), &dims, list, (size_t)s->count);
}

bool deepx_back_average_pool(xir_node *at) {
    sliding s;
    double by = 1;
    if (!begin(at, &s) || !count(at, &s)) return false;
    xir_ints outside = xir_node_make_ints(at, (size_t)s.count, 0);
    if (!outside.v) return false;
    const xir_ints axis = { (int64_t[]){ 2 }, 1 };
    xir_value *seen = windows_of(at, &s, 0, outside.v);
    xir_value *sum = seen ? xir_node_reduced(at, "Sum", seen, &axis, false) : NULL;
    xir_value *each = sum ? divisors(at, &s, outside.v, &by) : NULL;
    if (!each && by == 1) return give_map(at, &s, sum, s.channels);
    if (!each) each = xir_node_scalar(at, v_element(sum), by);
    xir_value *mean = xir_node_make(at, "Div", INS(sum, each), SETS(WORD("rounding_mode", v_is_integer(sum)
                                                                         ? XIR_STR("TRUNC") : XIR_STR("NONE"))));
    return give_map(at, &s, mean, s.channels);
}
