/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Convolutions that give each channel a sum of its own, from one input channel. Vectors hold neighbours of the output:
 * channels, or pixels of a row. The sum of each output runs over the taps in order. A cell outside of the image is a 0
 * that is multiplied too, so that the result is the same as by the definition for weights that are not finite. */
#include "conv.h"
#include "pool.h"

enum { LINE = 512 };   /* sums at a time */

static const float zeros[LINE];
static const double wide_zeros[LINE];

/* Pixels of a row that read every `step`-th element from `from` on; from < 0: zeros. */
typedef struct run { int64_t first, n, from, step; } run;

typedef struct depthwise {
    const conv      *c;
    const gemm_path *path;
    bool             exact, by_channel;   /* neighbours are channels; else pixels of a row     */
    gemm_input       x;
    gemm_output      y;
    const double    *bias;
    double          *k;                   /* [tap][channel], or [channel][tap]                 */
    run             *runs;                /* for each cell of the window along W               */
    size_t          *n_runs;
    double          *sums;                /* LINE of each thread                               */
} depthwise;

bool conv_is_depthwise(const conv *c) {
    if (c->in != 1 || c->out != 1 || c->groups == 1) return false;
    return (c->x.step[C] == 1 && c->y.step[C] == 1) || (c->x.step[W] == 1 && c->y.step[W] == 1);
}

/* n elements as doubles, where they are or in `room`. Not for singles. */
static const double *doubles_of(const depthwise *d, int64_t from, int64_t step, size_t n, double *room) {
    if (d->x.doubles && step == 1) return d->x.doubles + from;
    gemm_copy_line(&d->x, from, step, n, room, 1);
    return room;
}

/* One pixel of all channels. */
static void add_pixel(const depthwise *d, double *sum, int64_t image, const int64_t *p, int64_t to) {
    const conv *c = d->c;
    const int64_t channels = c->y.dim[C];
    double room[LINE];
    for (int64_t first = 0; first < channels; first += LINE) {
        const size_t n = (size_t)(channels - first < LINE ? channels - first : LINE);
        int64_t tap[SPATIAL] = { 0 };
        const double *k = d->k + first;
        memset(sum, 0, n * sizeof *sum);
        do {
            const int64_t cell = window_cell(&c->w, &c->x, p, tap), from = image + cell + first;
            if (d->x.singles) {
                d->path->add_product[d->exact](cell < 0 ? zeros : d->x.singles + from, k, n, sum);
            } else {
                const double *x = cell < 0 ? wide_zeros : doubles_of(d, from, 1, n, room);
                d->path->add_wide_product[d->exact](x, k, n, sum);
            }
            k += channels;
        } while (next_cell(tap, c->w.size));
        gemm_put(d->path, &d->y, to + first, sum, d->bias ? d->bias + first : NULL, n);
    }
}

/* Rows [from, to) of all images. */
static void take_channels(pool_share *share, size_t from, size_t to, void *user) {
    const depthwise *d = user;
    const conv *c = d->c;
    double *sum = d->sums + pool_thread(share) * LINE;
    for (size_t i = from; i < to; i++) {
        const int64_t h = c->y.dim[H], row = (int64_t)i, n = row / (h * c->y.dim[D]);
        int64_t p[SPATIAL] = { row / h % c->y.dim[D], row % h, 0 };
        for (; p[2] < c->y.dim[W]; p[2]++) {
            add_pixel(d, sum, n * c->x.step[N], p, n * c->y.step[N] + pixel_offset(&c->y, p));
        }
        if (pool_stops(share, (uint64_t)(c->y.dim[W] * c->y.dim[C] * c->w.cells))) return;
    }
}

/* Adds pixels [first, first + n) of one row of the image, times k. `from`: the row, < 0 outside of the image. */
static void add_runs(const depthwise *d, const run *runs, size_t n_runs, int64_t from, double k, int64_t first,
                     int64_t n, double *sum) {
    double room[LINE];
    for (const run *r = runs; r < runs + n_runs; r++) {
        const int64_t begin = r->first > first ? r->first : first,
                      end = r->first + r->n < first + n ? r->first + r->n : first + n, m = end - begin;
        if (m <= 0) continue;
        double *to = sum + (begin - first);
        if (from < 0 || r->from < 0) {
            d->path->add_scaled[d->exact](zeros, k, (size_t)m, to);
            continue;
        }
        const int64_t cell = from + r->from + (begin - r->first) * r->step;
        if (d->x.singles && r->step == 1) {
            d->path->add_scaled[d->exact](d->x.singles + cell, k, (size_t)m, to);
        } else {
            d->path->add_wide_scaled[d->exact](doubles_of(d, cell, r->step, (size_t)m, room), k, (size_t)m, to);
        }
    }
}

/* Rows [from, to) of all channels of all images. */
static void take_rows(pool_share *share, size_t from, size_t to, void *user) {
    const depthwise *d = user;
    const conv *c = d->c;
    double *sum = d->sums + pool_thread(share) * LINE, bias[LINE];
    for (size_t i = from; i < to; i++) {
        const int64_t h = (int64_t)i % c->y.dim[H], z = (int64_t)i / c->y.dim[H] % c->y.dim[D],
                      plane = (int64_t)i / (c->y.dim[H] * c->y.dim[D]), o = plane % c->y.dim[C],
                      n = plane / c->y.dim[C];
        const int64_t image = n * c->x.step[N] + o * c->x.step[C],
                      row = n * c->y.step[N] + o * c->y.step[C] + z * c->y.step[D] + h * c->y.step[H];
        for (int64_t first = 0; first < c->y.dim[W]; first += LINE) {
            const int64_t m = c->y.dim[W] - first < LINE ? c->y.dim[W] - first : LINE;
            const double *k = d->k + o * c->w.cells;
            memset(sum, 0, (size_t)m * sizeof *sum);
            for (int64_t a = 0; a < c->w.size[0]; a++) {
                const int64_t deep = c->w.cell[0][z * c->w.size[0] + a];
                for (int64_t b = 0; b < c->w.size[1]; b++) {
                    const int64_t high = c->w.cell[1][h * c->w.size[1] + b];
                    const int64_t at = deep < 0 || high < 0 ? -1 : image + deep * c->x.step[D] + high * c->x.step[H];
                    for (int64_t t = 0; t < c->w.size[2]; t++)
                        add_runs(d, d->runs + t * c->y.dim[W], d->n_runs[t], at, *k++, first, m, sum);
                }
            }
            for (int64_t t = 0; d->bias && t < m; t++) bias[t] = d->bias[o];
            gemm_put(d->path, &d->y, row + first, sum, d->bias ? bias : NULL, (size_t)m);
        }
        if (pool_stops(share, (uint64_t)(c->y.dim[W] * c->w.cells))) return;
    }
}

/* The runs of cell t of the window along W. Returns how many. */
static size_t find_runs(const conv *c, int64_t t, run *out) {
    size_t n = 0;
    for (int64_t w = 0; w < c->y.dim[W]; w++) {
        const int64_t cell = c->w.cell[2][w * c->w.size[2] + t];
        run *r = n ? &out[n - 1] : NULL;
        if (r && r->from < 0 && cell < 0) {
            r->n++;
        } else if (r && r->from >= 0 && cell >= 0 && (r->n == 1 ? cell > r->from : cell == r->from + r->n * r->step)) {
            if (r->n++ == 1) r->step = cell - r->from;
        } else {
            out[n++] = (run){ w, 1, cell, 1 };
        }
    }
    return n;
}

/* False on out of memory. */
static bool prepare(xir_kernel *at, depthwise *d, const gemm_input *k) {
    const conv *c = d->c;
    const size_t taps = (size_t)c->w.cells, channels = (size_t)c->groups, along = (size_t)c->w.size[2];
    size_t t = 0;
    int64_t tap[SPATIAL] = { 0 };
    d->k = xir_kernel_alloc(at, channels * taps + 1, sizeof *d->k);
    d->sums = xir_kernel_alloc(at, pool_width(at), LINE * sizeof *d->sums);
    d->runs = xir_kernel_alloc(at, (size_t)c->y.dim[W] * along + 1, sizeof *d->runs);
    d->n_runs = xir_kernel_alloc(at, along + 1, sizeof *d->n_runs);
    if (!d->k || !d->sums || !d->runs || !d->n_runs) return false;
    do {
        for (size_t g = 0; g < channels; g++) {
            const double v = gemm_element(k, (int64_t)g * c->group_step + tap_offset(c, tap));
            d->k[d->by_channel ? t * channels + g : g * taps + t] = v;
        }
        t++;
    } while (next_cell(tap, c->w.size));
    for (size_t i = 0; i < along; i++) d->n_runs[i] = find_runs(c, (int64_t)i, d->runs + i * (size_t)c->y.dim[W]);
    return true;
}

xir_status conv_depthwise(xir_kernel *at, const conv *c) {
    depthwise d = { .c = c, .path = gemm_path_now(), .by_channel = c->x.step[C] == 1 && c->y.step[C] == 1 };
    gemm_input k;
    const bool has_bias = xir_kernel_input_type(at, 2) != NULL;
    if (!gemm_read(at, 0, &d.x) || !gemm_read(at, 1, &k) || !gemm_write(at, 0, c->whole, &d.y))
        return XIR_E_MEMORY;
    if (has_bias && !(d.bias = xir_kernel_reals(at, 2))) return XIR_E_MEMORY;
    d.exact = gemm_is_exact(&d.x, &k);
    if (!prepare(at, &d, &k)) return XIR_E_MEMORY;
    const int64_t rows = c->y.dim[N] * c->y.dim[D] * c->y.dim[H], ops = c->y.dim[W] * c->w.cells;
    const bool more = d.by_channel ? pool_for(at, (size_t)rows, (uint64_t)(ops * c->y.dim[C]), take_channels, &d)
                                   : pool_for(at, (size_t)(rows * c->y.dim[C]), (uint64_t)ops, take_rows, &d);
    return more ? XIR_OK : XIR_E_CANCELLED;
}
