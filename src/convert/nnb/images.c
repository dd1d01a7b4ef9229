/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Images in other sizes, and at the places of a grid. */
#include <math.h>
#include "formula/formulas.h"
#include "formula/sampled.h"
#include "nnb/nnb.h"
#include "spec/resizing.h"

static bool is_last(const xir_node *at) { return xir_node_bool(at, "channel_last", false); }

/* ---- other sizes ------------------------------------------------------------------------------------------------ */

/* Each cell of the axis k times. */
static xir_value *repeated(xir_node *at, xir_value *x, size_t axis, int64_t k) {
    if (k == 1 || !x) return x;
    const int64_t n = v_dim(x, axis);
    if (n < 0 || n > NNB_MOST_LISTED / k)
        return xir_node_unsupported(at, "a constant of more than 2^22 elements"), NULL;
    xir_ints places = xir_node_make_ints(at, (size_t)(n * k), 0);
    for (size_t i = 0; i < places.n; i++) places.v[i] = (int64_t)i / k;
    return make_taken(at, x, axis, &places);
}

static xir_value *upsampled(xir_node *at, xir_value *x, bool last, int64_t height, int64_t width, cell_way way,
                            bool corners) {
    list_item size[] = { item_number(height), item_number(width) };
    const resizing r = { .up = true, .last = last, .way = way, .corners = corners, .size = { size, 2 } };
    return op_of_resizing(at, x, &r);
}

bool nnb_unpool(xir_node *at) {
    xir_ints kernel;
    xir_value *x = xir_node_input(at, 0);
    const bool last = is_last(at);
    if (!x || !xir_node_items(at, "kernel", &kernel)) return x && xir_node_unsupported(at, "kernel is missing");
    const size_t rank = v_rank(x), n = kernel.n;
    if (!nnb_list(at, "kernel", n, 1, 1, false, &kernel)) return false;
    if (n + last > rank) return xir_node_invalid(at, XIR_E_BOUNDS, "argument/kernel", "kernel: expected at most %zu "
                                                 "items, found %zu", rank - last, n);
    const size_t first = rank - n - last;
    if (!xir_node_need_dims(at, x, first, first + n)) return false;
    int64_t h, w;
    if (n == 2 && rank == 4 && !__builtin_mul_overflow(v_dim(x, first), kernel.v[0], &h) &&
        !__builtin_mul_overflow(v_dim(x, first + 1), kernel.v[1], &w) && h > 0 && w > 0)
        return xir_node_result(at, 0, upsampled(at, x, last, h, w, CELL_NEAREST, false));
    for (size_t k = 0; k < n; k++) x = repeated(at, x, first + k, kernel.v[k]);
    return xir_node_result(at, 0, x);
}

/* One axis. `half`: cells have their centres at halves; `exact`: that of the nearest one, without a lower bound. */
typedef struct enlarged { int64_t in, out; bool corners, half, exact; } enlarged;

/* NNabla computes places in 32-bit floats, and gives an image of one cell the first cell of the input. */
static float place_of(const enlarged *e, int64_t o) {
    const float in = (float)e->in, out = (float)e->out;
    if (e->exact) return in / out * ((float)o + 0.5f);
    const float step = e->out <= 1 ? 0 : e->corners ? (in - 1) / (out - 1) : in / out;
    const float place = e->half ? step * ((float)o + 0.5f) - 0.5f : step * (float)o;
    return place < 0 ? 0 : place;
}

static int64_t cell_of(const enlarged *e, int64_t o) {
    const float place = place_of(e, o);
    return place < (float)e->in ? (int64_t)place : e->in - 1;
}

static xir_value *resized_axis(xir_node *at, xir_value *x, size_t axis, const enlarged *e, bool linear) {
    double *places = node_reals(at, e->out);
    for (int64_t o = 0; o < e->out && places; o++) places[o] = (double)place_of(e, o);
    return make_resampled(at, x, axis, places, e->out, linear ? CELL_LINEAR : CELL_NEAREST);
}

/* Returns true if XIR's Upsample has the same cells: linear with half pixels or corners, or each cell repeated. */
static bool suits_upsample(const enlarged *e, bool linear) {
    if (linear) return e->corners ? !e->half : e->half && (e->out > 1 || e->in == 1);
    if (e->out % e->in) return false;
    for (int64_t o = 0; o < e->out; o++) if (cell_of(e, o) != o / (e->out / e->in)) return false;
    return true;
}

bool nnb_interpolate(xir_node *at) {
    xir_ints size;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !xir_node_one_of(at, "mode", "nearest", "nearest|linear")) return false;
    if (!xir_node_items(at, "output_size", &size)) return xir_node_unsupported(at, "output_size is missing");
    const bool last = is_last(at), linear = xir_node_is(at, "mode", "linear"),
               corners = xir_node_bool(at, "align_corners", false), half = xir_node_bool(at, "half_pixel", false),
               exact = xir_node_bool(at, "half_pixel_for_nn", false);
    const size_t n = size.n, rank = v_rank(x);
    if (!n || n + last > rank)
        return xir_node_invalid(at, XIR_E_BOUNDS, "argument/output_size", "output_size: expected 1 to %zu items, "
                                "found %zu", rank - last, n);
    if (!nnb_list(at, "output_size", n, 1, 1, false, &size)) return false;
    const size_t first = rank - n - last;
    if (!xir_node_need_dims(at, x, first, first + n)) return false;
    enlarged e[8];
    if (n > COUNT(e)) return xir_node_unsupported(at, "%zu axes", n);
    bool plain = n == 2 && rank == 4;
    for (size_t k = 0; k < n; k++) {
        const int64_t in = v_dim(x, first + k), out = size.v[k];
        if (in < 1 || out > NNB_MOST_LISTED) return xir_node_unsupported(at, "a dim of %lld", (long long)in);
        e[k] = (enlarged){ in, out, corners, half, !linear && exact };
        plain = plain && suits_upsample(&e[k], linear);
    }
    if (plain)
        return xir_node_result(at, 0, upsampled(at, x, last, size.v[0], size.v[1], linear ? CELL_LINEAR : CELL_NEAREST,
                                                linear && corners));
    for (size_t k = 0; k < n; k++) x = resized_axis(at, x, first + k, &e[k], linear);
    return xir_node_result(at, 0, x);
}

/* ---- places of a grid ------------------------------------------------------------------------------------------- */

/* The nearest cell of a half is the one away from 0, in XIR the even one, so only linear places are converted. */
bool nnb_warp_by_grid(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *grid = xir_node_input(at, 1);
    if (!x || !grid || !xir_node_one_of(at, "mode", "linear", "linear|nearest") ||
        !xir_node_one_of(at, "padding_mode", "zero", "zero|repeat|reflect")) return false;
    if (xir_node_is(at, "mode", "nearest")) return xir_node_unsupported(at, "the nearest cell");
    const size_t rank = v_rank(x);
    if (rank != 4 && rank != 5)
        return xir_node_invalid(at, XIR_E_INVALID, "input/0", "expected 4 or 5 dims, found %zu", rank);
    const char *padding = xir_node_is(at, "padding_mode", "zero") ? "ZEROS"
                        : xir_node_is(at, "padding_mode", "repeat") ? "BORDER" : "REFLECTION";
    const bool corners = xir_node_bool(at, "align_corners", false);
    if (!is_last(at))
        return xir_node_result(at, 0, make_grid_sample(at, x, grid, "LINEAR", xir_str_of(padding), corners));
    return xir_node_becomes(at, "GridSample", INS(x, grid), SETS(WORD("padding_mode", xir_str_of(padding)),
                                                                 INT("align_corners", corners)));
}
