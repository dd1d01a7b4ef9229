/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Convolutions. Reals are sums of products of matrices (conv_products.c), where each channel is alone sums of its own
 * (conv_depthwise.c); so are integers of few bits, whose sums are exact. Others are computed by the definition.
 *
 * Quantised inputs are multiplied as the numbers that they stand for. A cut_scale, by which hardware converts to the
 * output's scale, therefore has no effect, except for maps of normalised numbers: there it is applied when the
 * result is stored. */
#include "carry.h"
#include "conv.h"

/* Reads dims. False on out of memory. */
static bool conv_make(xir_kernel *at, conv *c) {
    static const char *const letters[2][SPATIAL + 1] = {
        { "", "..LIO", ".HWIO", "DHWIO" },
        { "", "..LOI", ".HWOI", "DHWOI" },
    };
    const size_t i = SPATIAL + c->transposed, o = SPATIAL + !c->transposed;
    const axes *over = c->transposed ? &c->y : &c->x, *placed = c->transposed ? &c->x : &c->y;
    map_axes(xir_kernel_input_type(at, 0), c->n, &c->x);
    read_axes(xir_kernel_input_type(at, 1), letters[c->transposed][c->n], &c->k);
    map_axes(xir_kernel_output_type(at, 0), c->n, &c->y);
    c->pixels = 1;
    for (size_t a = 0; a < SPATIAL; a++) {
        c->w.along[a].size = c->k.dim[a];
        c->pixels *= (size_t)placed->dim[D + a];
    }
    c->in = c->k.dim[i] / (c->transposed ? c->groups : 1);
    c->out = c->k.dim[o] / (c->transposed ? 1 : c->groups);
    c->in_step = c->k.step[i];
    c->out_step = c->k.step[o];
    c->group_step = c->transposed ? c->in * c->in_step : c->out * c->out_step;
    return window_make(at, &c->w, over->dim + D, placed->dim + D, c->mode);
}

/* ---- by definition ---------------------------------------------------------------------------------------------- */

/* Returns the addend of one tap of the input for output channel o of a group. */
static uint64_t sum_channels(const conv *c, const int64_t *x, const int64_t *k) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < c->in; i++) sum += (uint64_t)x[i * c->x.step[C]] * (uint64_t)k[i * c->in_step];
    return sum;
}

/* Integers wrap. False if the run is cancelled. */
static bool sum_integers(xir_kernel *at, const conv *c, const int64_t *x, const int64_t *k, int64_t *y) {
    const axes *over = c->transposed ? &c->y : &c->x, *placed = c->transposed ? &c->x : &c->y;
    for (size_t pixel = 0; pixel < c->pixels; pixel++) {
        int64_t p[SPATIAL], tap[SPATIAL] = { 0 };
        pixel_at(placed, pixel, p);
        do {
            int64_t cell = window_cell(&c->w, over, p, tap), place = pixel_offset(placed, p);
            if (xir_kernel_stops(at, (uint64_t)(c->in * c->y.dim[C]))) return false;
            if (cell < 0) continue;
            const int64_t *from = x + (c->transposed ? place : cell), *w = k + tap_offset(c, tap);
            int64_t *to = y + (c->transposed ? cell : place);
            for (int64_t o = 0; o < c->y.dim[C]; o++) {
                int64_t group = o / c->out, *sum = &to[o * c->y.step[C]];
                *sum = (int64_t)((uint64_t)*sum + sum_channels(c, from + group * c->in * c->x.step[C],
                                                               w + group * c->group_step + o % c->out * c->out_step));
            }
        } while (next_cell(tap, c->w.size));
    }
    return true;
}

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

static xir_status run(xir_kernel *at, window_attrs attrs) {
    conv c = { .n = attrs.n, .groups = attrs.groups, .mode = attrs.mode, .transposed = attrs.transposed };
    window_axes(&c.w, &attrs);
    if (!conv_make(at, &c)) return XIR_E_MEMORY;
    const bool real = xir_kernel_is_real(xir_kernel_input_type(at, 0)) ||
                      xir_kernel_is_real(xir_kernel_input_type(at, 1));
    c.whole = !real && !c.transposed && gemm_is_narrow(at, 0, 1, 2, (uint64_t)(c.in * c.w.cells));
    if (real || c.whole) {
        if (c.transposed) return conv_transposed(at, &c);
        return conv_is_depthwise(&c) ? conv_depthwise(at, &c) : conv_products(at, &c);
    }
    const bool has_bias = xir_kernel_input_type(at, 2) != NULL;
    const int64_t elements = c.y.dim[N] * c.y.dim[D] * c.y.dim[H] * c.y.dim[W] * c.y.dim[C];
    const int64_t *x = xir_kernel_i64s(at, 0), *k = xir_kernel_i64s(at, 1),
                   *bias = has_bias ? xir_kernel_i64s(at, 2) : x;
    int64_t *y = xir_kernel_i64_out(at, 0);
    if (!x || !k || !bias || !y) return XIR_E_MEMORY;
    for (int64_t i = 0; i < elements; i++) y[i] = has_bias ? bias[i / c.y.step[C] % c.y.dim[C]] : 0;
    for (int64_t n = 0; n < c.y.dim[N]; n++) {
        if (!sum_integers(at, &c, x + n * c.x.step[N], k, y + n * c.y.step[N])) return XIR_E_CANCELLED;
    }
    return XIR_OK;
}

static xir_status conv1d(xir_kernel *at) { return run(at, conv1d_windows(xir_kernel_attrs(at))); }
static xir_status conv2d(xir_kernel *at) { return run(at, conv2d_windows(xir_kernel_attrs(at))); }
static xir_status conv3d(xir_kernel *at) { return run(at, conv3d_windows(xir_kernel_attrs(at))); }
static xir_status conv_transpose1d(xir_kernel *at) { return run(at, conv_transpose1d_windows(xir_kernel_attrs(at))); }
static xir_status conv_transpose2d(xir_kernel *at) { return run(at, conv_transpose2d_windows(xir_kernel_attrs(at))); }
static xir_status conv_transpose3d(xir_kernel *at) { return run(at, conv_transpose3d_windows(xir_kernel_attrs(at))); }

/* ---- Unfold ----------------------------------------------------------------------------------------------------- */

typedef struct unfolding {
    window  w;
    axes    x, y;
    int64_t places[SPATIAL];
    carrier m;
} unfolding;

/* The output has a row (L) for each window position and a cell (C) for each channel and tap. */
static void unfold_places(size_t first, size_t n, double *unused, void *user) {
    const unfolding *u = user;
    const axes *x = &u->x, *y = &u->y;
    (void)unused;
    for (int64_t i = (int64_t)first, end = i + (int64_t)n; i < end; i++) {
        const int64_t image = i / y->dim[W], place = i % y->dim[W];
        const int64_t p[SPATIAL] = { 0, place / u->places[2], place % u->places[2] };
        int64_t tap[SPATIAL] = { 0 }, t = 0;
        do {
            const int64_t cell = window_cell(&u->w, x, p, tap);
            for (int64_t c = 0; c < x->dim[C] && cell >= 0; c++) {
                carry(&u->m, image * y->step[N] + place * y->step[W] + (c * u->w.cells + t) * y->step[C],
                      image * x->step[N] + cell + c * x->step[C], 1);
            }
            t++;
        } while (next_cell(tap, u->w.size));
    }
}

static xir_status unfold(xir_kernel *at) {
    const window_attrs attrs = unfold_windows(xir_kernel_attrs(at));
    unfolding u;
    window_axes(&u.w, &attrs);
    map_axes(xir_kernel_input_type(at, 0), 2, &u.x);
    map_axes(xir_kernel_output_type(at, 0), 1, &u.y);
    u.places[0] = 1;
    for (size_t a = 1; a < SPATIAL; a++) u.places[a] = window_places(&u.w.along[a], u.x.dim[D + a]);
    if (!window_make(at, &u.w, u.x.dim + D, u.places, XIR_PADDING_ZEROS) || !carry_begin_zeros(at, &u.m, 0, 0))
        return XIR_E_MEMORY;
    carry_zeros(&u.m, 0, u.y.dim[N] * u.y.dim[W] * u.y.dim[C]);
    return spread_rows(at, (size_t)(u.y.dim[N] * u.y.dim[W]), 1, (size_t)(u.x.dim[C] * u.w.cells), 0,
                       u.m.as_bytes ? NULL : &u.m.y, unfold_places, &u);
}

kernel_table kernels_conv = {
    { xir_conv1d_class,           conv1d           },
    { xir_conv2d_class,           conv2d           },
    { xir_conv3d_class,           conv3d           },
    { xir_conv_transpose1d_class, conv_transpose1d },
    { xir_conv_transpose2d_class, conv_transpose2d },
    { xir_conv_transpose3d_class, conv_transpose3d },
    { xir_unfold_class,           unfold           },
    { NULL,                       NULL             },
};
