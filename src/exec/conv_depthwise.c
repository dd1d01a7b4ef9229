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
    double          *sums;                /* LINE of each thread, and the rest of its desk     */
    size_t           desk;                /* doubles that a thread needs                       */
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

/* The memory of a thread that takes channels: sums, and for each tap a row, a cell, the distance to the next pixel's
 * cell, and a line. */
typedef struct desk {
    double    *sum;
    int64_t   *row, *cell;    /* row[a, b]: where the cells along W begin; < 0: outside of the image */
    ptrdiff_t *go;
    void      *lines;
} desk;
enum { DESK_ARRAYS = 4 };

static desk desk_of(const depthwise *d, const pool_share *share) {
    const int64_t taps = d->c->w.cells;
    double *sum = d->sums + pool_thread(share) * d->desk;
    int64_t *row = (int64_t *)(void *)(sum + LINE);
    return (desk){ sum, row, row + taps, (ptrdiff_t *)(void *)(row + 2 * taps), row + 3 * taps };
}

/* The rows of the image that a row of the output reads. */
static void find_rows(const conv *c, int64_t image, int64_t z, int64_t h, int64_t *row) {
    for (int64_t a = 0; a < c->w.size[0]; a++) {
        const int64_t deep = c->w.cell[0][z * c->w.size[0] + a];
        for (int64_t b = 0; b < c->w.size[1]; b++) {
            const int64_t high = c->w.cell[1][h * c->w.size[1] + b];
            *row++ = deep < 0 || high < 0 ? -1 : image + deep * c->x.step[D] + high * c->x.step[H];
        }
    }
}

/* The first channel of each cell that pixel w of the row reads, < 0 outside of the image; and the distance to the cell
 * of the next pixel. */
static void find_cells(const conv *c, const desk *at, int64_t w, int64_t pixels) {
    const int64_t *along = c->w.cell[2] + w * c->w.size[2], *row = at->row;
    const int64_t go = pixels > 1 ? c->w.along[2].stride * c->x.step[W] : 0;   /* of one pixel it may be any number */
    for (int64_t j = 0; j < c->w.cells; row++) {
        for (int64_t t = 0; t < c->w.size[2]; t++, j++) {
            const bool outside = *row < 0 || along[t] < 0;
            at->cell[j] = outside ? -1 : *row + along[t] * c->x.step[W];
            at->go[j] = outside ? 0 : (ptrdiff_t)go;
        }
    }
}

/* Returns the number of pixels of a row from w on, at most n, each of which reads cells that are `stride` further than
 * those of the previous one. */
static int64_t even_pixels(const conv *c, int64_t w, int64_t n) {
    const int64_t size = c->w.size[2], *along = c->w.cell[2] + w * size;
    int64_t m = 1;
    for (; m < n; m++) {
        for (int64_t t = 0; t < size; t++, along++)
            if (along[0] < 0 || along[size] - along[0] != c->w.along[2].stride) return m;
    }
    return m;
}

/* Channels [first, first + n) of pixels whose cells are found. */
static void add_taps(const depthwise *d, const desk *at, int64_t first, size_t n, size_t pixels) {
    const size_t taps = (size_t)d->c->w.cells, channels = (size_t)d->c->y.dim[C];
    gemm_taps w = { .taps = taps, .pixels = pixels, .n = n, .k_step = channels, .k = d->k + first, .go = at->go };
    memset(at->sum, 0, pixels * n * sizeof *at->sum);
    if (d->x.singles) {
        const float **lines = at->lines;
        for (size_t t = 0; t < taps; t++) lines[t] = at->cell[t] < 0 ? zeros : d->x.singles + at->cell[t] + first;
        d->path->add_taps[d->exact](lines, &w, at->sum);
        return;
    }
    const double **lines = at->lines;
    if (d->x.doubles) {
        for (size_t t = 0; t < taps; t++)
            lines[t] = at->cell[t] < 0 ? wide_zeros : d->x.doubles + at->cell[t] + first;
        d->path->add_wide_taps[d->exact](lines, &w, at->sum);
        return;
    }
    double room[LINE];
    w.taps = 1;
    for (size_t t = 0; t < taps; t++, w.k += channels) {
        *lines = at->cell[t] < 0 ? wide_zeros : doubles_of(d, at->cell[t] + first, 1, n, room);
        d->path->add_wide_taps[d->exact](lines, &w, at->sum);
    }
}

/* Rows [from, to) of all images. */
static void take_channels(pool_share *share, size_t from, size_t to, void *user) {
    const depthwise *d = user;
    const conv *c = d->c;
    const desk at = desk_of(d, share);
    const int64_t channels = c->y.dim[C], fit = d->x.singles || d->x.doubles ? LINE / channels : 1;
    for (size_t i = from; i < to; i++) {
        const int64_t h = (int64_t)i % c->y.dim[H], z = (int64_t)i / c->y.dim[H] % c->y.dim[D],
                      n = (int64_t)i / (c->y.dim[H] * c->y.dim[D]),
                      row = n * c->y.step[N] + z * c->y.step[D] + h * c->y.step[H];
        find_rows(c, n * c->x.step[N], z, h, at.row);
        for (int64_t w = 0, m; w < c->y.dim[W]; w += m) {
            m = c->y.dim[W] - w;
            m = even_pixels(c, w, m < fit ? m : fit);
            find_cells(c, &at, w, m);
            for (int64_t first = 0; first < channels; first += LINE) {
                const size_t of = (size_t)(channels - first < LINE ? channels - first : LINE);
                const gemm_block sums = { (size_t)m, of, of, at.sum, NULL, d->bias ? d->bias + first : NULL };
                add_taps(d, &at, first, of, (size_t)m);
                gemm_put_block(d->path, &d->y, row + w * c->y.step[W] + first, c->y.step[W], &sums);
            }
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
    double *sum = d->sums + pool_thread(share) * d->desk, bias[LINE];
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
    d->desk = LINE + (d->by_channel ? (DESK_ARRAYS * taps + 7) / 8 * 8 : 0);
    d->sums = xir_kernel_alloc(at, pool_width(at), d->desk * sizeof *d->sums);
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
