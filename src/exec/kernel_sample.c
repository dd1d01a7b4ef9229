/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Images sampled at grid positions. The taps of a position are those of all channels: neighbouring positions are
 * sampled side by side, or where channels lie next to each other the channels of one. */
#include "carry.h"
#include "dims.h"
#include "taps.h"
#include "windows.h"

enum { POSITIONS = 64, MOST_CELLS = MOST_TAPS * MOST_TAPS * MOST_TAPS };

/* Mirrors position x into the n cells: at their borders, or at the outermost centres. */
static double mirrored(double x, int64_t n, bool centres) {
    double low = centres ? 0 : -0.5, span = (double)n - (centres ? 1 : 0);
    if (span <= 0) return 0;
    double turn = fmod(fabs(x - low), 2 * span);
    return low + (turn <= span ? turn : 2 * span - turn);
}

static int64_t padded_cell(double cell, int64_t n, const xir_grid_sample_attrs *a) {
    if (a->padding_mode == XIR_GRID_PADDING_REFLECTION) cell = floor(mirrored(cell, n, a->align_corners) + 0.5);
    if (a->padding_mode == XIR_GRID_PADDING_ZEROS && !(cell >= 0 && cell < (double)n)) return -1;
    return !(cell >= 0) ? 0 : cell < (double)n ? (int64_t)cell : n - 1;   // NaN selects cell 0
}

/* The taps for coordinate g along an axis of n cells. */
static taps grid_taps(double g, int64_t n, const xir_grid_sample_attrs *a) {
    static const between how[] = { [XIR_GRID_NEAREST] = NEAREST, [XIR_GRID_LINEAR] = LINEAR, [XIR_GRID_CUBIC] = CUBIC };
    double x = a->align_corners ? (g + 1) / 2 * (double)(n - 1) : ((g + 1) * (double)n - 1) / 2;
    /* As in PyTorch, positions are clamped, not cells; a cubic curve then takes the cells it needs. */
    if (a->interpolation != XIR_GRID_CUBIC) {
        if (a->padding_mode == XIR_GRID_PADDING_REFLECTION) x = mirrored(x, n, a->align_corners);
        if (a->padding_mode != XIR_GRID_PADDING_ZEROS) x = fmin(fmax(x, 0), (double)(n - 1));
    }
    taps out = taps_at(0, how[a->interpolation], 0);
    double low = a->interpolation == XIR_GRID_NEAREST ? nearbyint(x) : floor(x);
    if (how[a->interpolation] == LINEAR) {
        out.weight[1] = x - low;
        out.weight[0] = 1 - out.weight[1];
    }
    if (how[a->interpolation] == CUBIC) cubic_weights(x - low, out.weight);
    for (size_t i = 0; i < out.n; i++)
        out.cell[i] = padded_cell(low + (double)i - (how[a->interpolation] == CUBIC), n, a);
    return out;
}

/* ---- positions -------------------------------------------------------------------------------------------------- */

typedef struct sampling {
    const xir_grid_sample_attrs *a;
    axes     x, g, y;
    size_t   n;              /* spatial axes                                                           */
    size_t   along;          /* the axis of positions that are sampled together, D to W                */
    bool     by_channel;     /* each for itself: channels lie next to each other in both maps          */
    size_t   cells;          /* of a position                                                          */
    reader   grid, from;
    writer   to;
    carrier  m;              /* copies cells, if there is one for each position                        */
    void    *zero;           /* an element                                                             */
} sampling;

static bool is_copy(const sampling *s) { return s->a->interpolation == XIR_GRID_NEAREST; }

/* The cells of a position, by their offset in a channel of the input, and their weights; -1 and 0 outside. Cell k of
 * position i is at index k * POSITIONS + i. */
static void find_cells(const sampling *s, int64_t b, const int64_t p[SPATIAL], int64_t *cell, double *weight) {
    taps along[SPATIAL] = { { 1, { 0 }, { 1 } }, { 1, { 0 }, { 1 } }, { 1, { 0 }, { 1 } } };
    int64_t place = b * s->g.step[N];
    for (size_t k = 0; k < SPATIAL; k++) place += p[k] * s->g.step[D + k];
    for (size_t k = 0; k < s->n; k++) {   // the first coordinate belongs to W
        double room;
        const double *g = read_reals(&s->grid, (size_t)(place + (int64_t)k * s->g.step[C]), 1, &room);
        along[SPATIAL - 1 - k] = grid_taps(*g, s->x.dim[W - k], s->a);
    }
    for (size_t d = 0; d < along[0].n; d++) {
        for (size_t h = 0; h < along[1].n; h++) {
            for (size_t w = 0; w < along[2].n; w++, cell += POSITIONS, weight += POSITIONS) {
                const int64_t z = along[0].cell[d], y = along[1].cell[h], x = along[2].cell[w];
                const bool outside = z < 0 || y < 0 || x < 0;
                *cell = outside ? -1 : z * s->x.step[D] + y * s->x.step[H] + x * s->x.step[W];
                *weight = outside ? 0 : along[0].weight[d] * along[1].weight[h] * along[2].weight[w];
            }
        }
    }
}

/* A sum begins at +0, so that adding the +0 of a cell outside changes nothing. */
static void add_weighted(double *restrict sum, const double *restrict weight, const double *restrict x, size_t n) {
    for (size_t i = 0; i < n; i++) sum[i] += weight[i] * x[i];
}
static void add_scaled(double *restrict sum, double weight, const double *restrict x, size_t n) {
    for (size_t i = 0; i < n; i++) sum[i] += weight * x[i];
}

/* All channels of n positions along an axis. */
static void sample_positions(const sampling *s, int64_t from, int64_t to, int64_t n, const int64_t *cell,
                             const double *weight) {
    const int64_t step = s->y.step[s->along];
    for (int64_t c = 0; c < s->y.dim[C]; c++, from += s->x.step[C], to += s->y.step[C]) {
        double sum[POSITIONS] = { 0 }, x[POSITIONS];
        const int64_t some = step == 1 ? n : 1;   // that are next to each other in the output
        for (int64_t i = 0; is_copy(s) && i < n; i += some)
            carry_at(&s->m, to + i * step, from, cell + i, some, s->zero);
        if (is_copy(s)) continue;
        for (size_t k = 0; k < s->cells; k++) {
            read_reals_at(&s->from, from, cell + k * POSITIONS, (size_t)n, x);
            add_weighted(sum, weight + k * POSITIONS, x, (size_t)n);
        }
        for (int64_t i = 0; i < n; i += some) write_reals(&s->to, (size_t)(to + i * step), (size_t)some, sum + i);
    }
}

/* All channels of one position, a block at a time. */
static void sample_channels(const sampling *s, int64_t from, int64_t to, const int64_t *cell, const double *weight) {
    double sum[BLOCK], room[BLOCK];
    for (int64_t c = 0, n; c < s->y.dim[C]; c += n) {
        n = s->y.dim[C] - c < BLOCK ? s->y.dim[C] - c : BLOCK;
        if (is_copy(s)) {
            if (*cell < 0) carry_zeros(&s->m, to + c, n);
            else           carry(&s->m, to + c, from + *cell + c, n);
            continue;
        }
        memset(sum, 0, sizeof sum);
        for (size_t k = 0; k < s->cells; k++) {
            if (cell[k * POSITIONS] < 0) continue;
            const double *x = read_reals(&s->from, (size_t)(from + cell[k * POSITIONS] + c), (size_t)n, room);
            add_scaled(sum, weight[k * POSITIONS], x, (size_t)n);
        }
        write_reals(&s->to, (size_t)(to + c), (size_t)n, sum);
    }
}

/* Returns how many parts of POSITIONS the positions along the axis have. */
static int64_t parts_of(const sampling *s) { return (s->y.dim[s->along] + POSITIONS - 1) / POSITIONS; }

/* Parts [first, first + n): row-major over N and the spatial axes, of which one counts parts. */
static void sample_parts(size_t first, size_t n, double *room, void *user) {
    const sampling *s = user;
    double *weight = room;
    int64_t *cell = (int64_t *)(void *)(room + s->cells * POSITIONS);
    for (size_t i = first; i < first + n; i++) {
        int64_t rest = (int64_t)i, p[SPATIAL];
        for (size_t a = SPATIAL; a-- > 0;) {
            const int64_t dim = D + a == s->along ? parts_of(s) : s->y.dim[D + a];
            p[a] = rest % dim * (D + a == s->along ? POSITIONS : 1);
            rest /= dim;
        }
        const int64_t start = p[s->along - D], left = s->y.dim[s->along] - start;
        const int64_t some = left < POSITIONS ? left : POSITIONS, from = rest * s->x.step[N];
        int64_t to = rest * s->y.step[N];
        for (size_t a = 0; a < SPATIAL; a++) to += p[a] * s->y.step[D + a];
        for (int64_t k = 0; k < some; k++) {
            p[s->along - D] = start + k;
            find_cells(s, rest, p, cell + k, weight + k);
            if (s->by_channel) sample_channels(s, from, to + k * s->y.step[s->along], cell + k, weight + k);
        }
        if (!s->by_channel) sample_positions(s, from, to, some, cell, weight);
    }
}

static xir_status grid_sample(xir_kernel *at) {
    static const size_t taps_of[] = { [XIR_GRID_NEAREST] = NEAREST, [XIR_GRID_LINEAR] = LINEAR,
                                      [XIR_GRID_CUBIC] = CUBIC };
    sampling s = { .a = xir_kernel_attrs(at), .n = xir_type_rank(xir_kernel_input_type(at, 0)) - 2, .along = W,
                   .cells = 1 };
    map_axes(xir_kernel_input_type(at, 0), s.n, &s.x);
    map_axes(xir_kernel_input_type(at, 1), s.n, &s.g);
    map_axes(xir_kernel_output_type(at, 0), s.n, &s.y);
    for (size_t k = 0; k < s.n; k++) s.cells *= taps_of[s.a->interpolation];
    for (size_t a = D; a <= W; a++) if (s.y.step[a] == 1 && s.y.dim[a] > 1) s.along = a;
    s.by_channel = s.x.step[C] == 1 && s.y.step[C] == 1 && s.y.dim[C] > 1;
    if (!reader_open(&s.grid, at, 1)) return XIR_E_MEMORY;
    if (is_copy(&s) ? !carry_begin_zeros(at, &s.m, 0, 0) || !(s.zero = xir_kernel_alloc(at, 1, s.m.size))
                    : !reader_open(&s.from, at, 0) || !writer_open(&s.to, at, 0))
        return XIR_E_MEMORY;
    size_t count = (size_t)s.y.dim[N];
    for (size_t a = D; a <= W; a++) count *= (size_t)(a == s.along ? parts_of(&s) : s.y.dim[a]);
    if (s.y.dim[C] == 0) count = 0;
    const writer *to = is_copy(&s) ? s.m.as_bytes ? NULL : &s.m.y : &s.to;
    return spread_rows(at, count, 1, (size_t)s.y.dim[C] * s.cells * POSITIONS, 2 * s.cells * POSITIONS, to,
                       sample_parts, &s);
}

kernel_table kernels_sample = {
    { xir_grid_sample_class, grid_sample },
    { NULL,                  NULL        },
};
