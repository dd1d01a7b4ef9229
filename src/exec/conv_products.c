/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Convolutions as products of matrices, one for each group. One side has the windows of all images, a pixel of the
 * output each, and is read from the image panel by panel; the other has the kernel. If channels are neighbours in the
 * output, pixels are rows, otherwise columns: so results are stored in lines.
 *
 * A transposed convolution multiplies each cell of the image by the whole kernel and adds the result to the window in
 * the output, cell after cell. */
#include "conv.h"
#include "pool.h"

typedef struct sliding {
    const conv      *c;
    const gemm_path *path;
    gemm_input       x, k;
    const double    *bias;       /* NULL: none                                  */
    gemm_output      y;
    bool             even;       /* pixels of an image have the same distance   */
    bool             flat;       /* and so have those of all images in the input, and each window is one of them */
} sliding;

/* ---- windows ----------------------------------------------------------------------------------------------------- */

/* Pixels [first, first + n) of all images: where they are, and where their image begins. */
typedef struct places {
    int64_t p[GEMM_MOST_BROAD][SPATIAL], image[GEMM_MOST_BROAD];
} places;

static void find_places(const axes *map, size_t pixels, const axes *x, size_t first, size_t n, places *out) {
    pixel_at(map, first % pixels, out->p[0]);
    size_t image = first / pixels;
    for (size_t t = 0; t < n; t++) {
        out->image[t] = (int64_t)image * x->step[N];
        if (t + 1 == n) break;
        memcpy(out->p[t + 1], out->p[t], sizeof out->p[t]);
        image += !next_cell(out->p[t + 1], map->dim + D);
    }
}

/* Neighbouring items of a panel that read neighbouring elements, or zeros (from < 0). */
typedef struct line { size_t first, n; int64_t from; } line;

static size_t find_lines(const int64_t *cell, size_t n, line *out) {
    size_t lines = 0;
    for (size_t t = 0; t < n; t++) {
        line *l = lines ? &out[lines - 1] : NULL;
        if (l && (cell[t] < 0 ? l->from < 0 : l->from >= 0 && cell[t] == l->from + (int64_t)l->n)) l->n++;
        else out[lines++] = (line){ t, 1, cell[t] };
    }
    return lines;
}

/* Channels need not be neighbours: then items read lines of pixels, channel by channel. */
static void copy_pixels(const sliding *s, const int64_t *cell, const gemm_panel *p) {
    const int64_t channel_step = s->c->x.step[C];
    line lines[GEMM_MOST_BROAD];
    const size_t n = find_lines(cell, p->n, lines);
    double *out = p->out;
    for (size_t k = 0; k < p->depth; k++, out += p->unit) {
        for (const line *l = lines; l < lines + n; l++) {
            const int64_t from = l->from + (int64_t)k * channel_step;
            double *to = out + l->first;
            if (l->from < 0) for (size_t t = 0; t < l->n; t++) to[t] = 0;
            else if (s->x.doubles) memcpy(to, s->x.doubles + from, l->n * sizeof *to);
            else if (s->x.singles && l->n >= 4) s->path->widen(s->x.singles + from, l->n, to);
            else gemm_copy_line(&s->x, from, 1, l->n, to, 1);
        }
    }
}

static bool is_even(const axes *map) {
    return (map->dim[H] == 1 || map->step[H] == map->dim[W] * map->step[W]) &&
           (map->dim[D] == 1 || map->step[D] == map->dim[H] * map->dim[W] * map->step[W]);
}

static bool is_flat(const conv *c) {
    for (size_t a = 0; a < SPATIAL; a++) {
        const steps *along = &c->w.along[a];
        if (along->stride != 1 || along->before || along->after) return false;
    }
    return c->w.cells == 1 && is_even(&c->x) &&
           (c->x.dim[N] == 1 || c->x.step[N] == (int64_t)c->pixels * c->x.step[W]);
}

static void pack_windows(const void *of, const gemm_panel *panel) {
    const sliding *s = of;
    const conv *c = s->c;
    if (s->flat) {
        gemm_pack_matrix(s->path, &s->x, (int64_t)panel->batch * c->in * c->x.step[C], c->x.step[W], c->x.step[C],
                         panel);
        return;
    }
    const size_t in = (size_t)c->in;
    gemm_panel part = *panel;
    size_t i = panel->k % in;
    int64_t tap[SPATIAL], rest = (int64_t)(panel->k / in), cell[GEMM_MOST_BROAD];
    places at;
    find_places(&c->y, c->pixels, &c->x, panel->first, panel->n, &at);
    for (size_t a = SPATIAL; a-- > 0; rest /= c->w.size[a]) tap[a] = rest % c->w.size[a];
    for (size_t left = panel->depth; left; left -= part.depth, i = 0) {
        part.depth = in - i < left ? in - i : left;
        const int64_t channels = ((int64_t)panel->batch * c->in + (int64_t)i) * c->x.step[C];
        for (size_t t = 0; t < panel->n; t++) {
            cell[t] = window_cell(&c->w, &c->x, at.p[t], tap);
            if (cell[t] >= 0) cell[t] += at.image[t] + channels;
        }
        if (c->x.step[C] == 1) gemm_copy_lines(s->path, &s->x, cell, part.n, part.depth, part.out, part.unit);
        else copy_pixels(s, cell, &part);
        part.out += part.depth * part.unit;
        next_cell(tap, c->w.size);
    }
}

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

static void pack_kernel(const void *of, const gemm_panel *panel) {
    const sliding *s = of;
    const conv *c = s->c;
    const size_t in = (size_t)c->in;
    gemm_panel part = *panel;
    int64_t tap[SPATIAL], rest = (int64_t)(panel->k / in);
    part.k = panel->k % in;
    for (size_t a = SPATIAL; a-- > 0; rest /= c->w.size[a]) tap[a] = rest % c->w.size[a];
    for (size_t left = panel->depth; left; left -= part.depth, part.k = 0) {
        part.depth = in - part.k < left ? in - part.k : left;
        gemm_pack_matrix(s->path, &s->k, (int64_t)panel->batch * c->group_step + tap_offset(c, tap), c->out_step,
                         c->in_step, &part);
        part.out += part.depth * part.unit;
        next_cell(tap, c->w.size);
    }
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static int64_t pixel_place(const conv *c, size_t i) {
    int64_t p[SPATIAL];
    pixel_at(&c->y, i % c->pixels, p);
    return (int64_t)(i / c->pixels) * c->y.step[N] + pixel_offset(&c->y, p);
}

/* The offset of pixel `i` of all images where those of an image are `step` apart. */
static int64_t even_place(const conv *c, size_t i, int64_t step) {
    return (int64_t)(i / c->pixels) * c->y.step[N] + (int64_t)(i % c->pixels) * step;
}

/* Returns how many of n pixels from `first` on are in the same image. */
static size_t in_image(const conv *c, size_t first, size_t n) {
    const size_t rest = c->pixels - first % c->pixels;
    return n < rest ? n : rest;
}

/* Rows are pixels, columns output channels. */
static void take_pixels(void *out, const gemm_sums *sums) {
    const sliding *s = out;
    const conv *c = s->c;
    const size_t channel = sums->batch * (size_t)c->out + sums->column;
    const double *bias = s->bias ? s->bias + channel : NULL;
    for (size_t i = 0, n; i < sums->rows; i += n) {
        n = s->even ? in_image(c, sums->row + i, sums->rows - i) : 1;
        const int64_t place = s->even ? even_place(c, sums->row + i, c->y.step[W]) : pixel_place(c, sums->row + i);
        const gemm_block block = { n, sums->columns, sums->step, sums->sum + i * sums->step, NULL, bias };
        gemm_put_block(s->path, &s->y, place + (int64_t)channel * c->y.step[C], c->y.step[W], &block);
    }
}

/* Rows are output channels, columns pixels. */
static void take_channels(void *out, const gemm_sums *sums) {
    const sliding *s = out;
    const conv *c = s->c;
    const size_t channel = sums->batch * (size_t)c->out + sums->row;
    const int64_t to = (int64_t)channel * c->y.step[C];
    for (size_t j = 0, n; j < sums->columns; j += n) {
        n = s->even && c->y.step[W] == 1 ? in_image(c, sums->column + j, sums->columns - j) : 1;
        const int64_t place = s->even ? even_place(c, sums->column + j, c->y.step[W])
            : pixel_place(c, sums->column + j);
        const gemm_block block = { sums->rows, n, sums->step, sums->sum + j, s->bias ? s->bias + channel : NULL, NULL };
        gemm_put_block(s->path, &s->y, place + to, c->y.step[C], &block);
    }
}

xir_status conv_products(xir_kernel *at, const conv *c) {
    sliding s = { .c = c, .path = gemm_path_now() };
    const bool has_bias = xir_kernel_input_type(at, 2) != NULL;
    if (!gemm_read(at, 0, &s.x) || !gemm_read(at, 1, &s.k) || !gemm_write(at, 0, c->whole, &s.y))
        return XIR_E_MEMORY;
    if (has_bias && !(s.bias = xir_kernel_reals(at, 2))) return XIR_E_MEMORY;
    s.even = is_even(&c->y);
    s.flat = is_flat(c);
    const size_t pixels = (size_t)c->y.dim[N] * c->pixels, out = (size_t)c->out;
    const bool rows = c->y.step[C] == 1 && (c->groups == 1 || out >= s.path->broad);
    const gemm g = {
        .path = s.path, .exact = gemm_is_exact(&s.x, &s.k),
        .batches = (size_t)c->groups, .rows = rows ? pixels : out, .columns = rows ? out : pixels,
        .depth = (size_t)(c->in * c->w.cells),
        .left = rows ? pack_windows : pack_kernel, .left_of = &s, .right = rows ? pack_kernel : pack_windows,
        .right_of = &s, .take = rows ? take_pixels : take_channels, .out = &s,
    };
    return gemm_run(at, &g);
}

/* ---- transposed -------------------------------------------------------------------------------------------------- */

/* The product of some cells of a group in an image, a row each, with the kernel: a column for each tap and output
 * channel. */
typedef struct scatter {
    sliding s;
    size_t  image, group, first, cells;
    double *product, *y;
    size_t  columns;
} scatter;

enum { SCATTERED = 1 << 20 };   /* doubles of products at a time */

static void pack_cells(const void *of, const gemm_panel *panel) {
    const scatter *o = of;
    const conv *c = o->s.c;
    places at;
    find_places(&c->x, c->pixels, &c->x, o->first + panel->first, panel->n, &at);
    for (size_t t = 0; t < panel->n; t++) {
        const int64_t from = (int64_t)o->image * c->x.step[N] + pixel_offset(&c->x, at.p[t]) +
                             ((int64_t)o->group * c->in + (int64_t)panel->k) * c->x.step[C];
        gemm_copy_line(&o->s.x, from, c->x.step[C], panel->depth, panel->out + t, panel->unit);
    }
}

static void pack_taps(const void *of, const gemm_panel *panel) {
    const scatter *o = of;
    const conv *c = o->s.c;
    for (size_t j = 0; j < panel->n; j++) {
        int64_t tap[SPATIAL], rest = (int64_t)(panel->first + j) / c->out;
        for (size_t a = SPATIAL; a-- > 0; rest /= c->w.size[a]) tap[a] = rest % c->w.size[a];
        const int64_t from = (int64_t)o->group * c->group_step + tap_offset(c, tap) +
                             (int64_t)(panel->first + j) % c->out * c->out_step + (int64_t)panel->k * c->in_step;
        gemm_copy_line(&o->s.k, from, c->in_step, panel->depth, panel->out + j, panel->unit);
    }
}

/* Adds rows of the product to output channels [from, to) of the group. */
static void add_windows(pool_share *share, size_t from, size_t to, void *user) {
    const scatter *o = user;
    const conv *c = o->s.c;
    const int64_t step = c->y.step[C];
    double *y = o->y + (int64_t)o->image * c->y.step[N] + (int64_t)o->group * c->out * step;
    const double *row = o->product;
    for (size_t i = 0; i < o->cells; i++) {
        int64_t p[SPATIAL], tap[SPATIAL] = { 0 };
        pixel_at(&c->x, o->first + i, p);
        do {
            const int64_t cell = window_cell(&c->w, &c->y, p, tap);
            for (size_t k = from; k < to && cell >= 0; k++) y[cell + (int64_t)k * step] += row[k];
            row += c->out;
        } while (next_cell(tap, c->w.size));
        if (pool_stops(share, (to - from) * (size_t)c->w.cells)) return;
    }
}

static xir_status transpose_group(xir_kernel *at, scatter *o, size_t most) {
    const conv *c = o->s.c;
    for (o->first = 0; o->first < c->pixels; o->first += o->cells) {
        o->cells = c->pixels - o->first < most ? c->pixels - o->first : most;
        const gemm g = {
            .path = o->s.path, .exact = gemm_is_exact(&o->s.x, &o->s.k), .batches = 1, .rows = o->cells,
            .columns = o->columns, .depth = (size_t)c->in, .left = pack_cells, .left_of = o, .right = pack_taps,
            .right_of = o, .sums = o->product, .sums_step = o->columns,
        };
        xir_status status = gemm_run(at, &g);
        if (status) return status;
        if (!pool_for(at, (size_t)c->out, o->cells * (size_t)c->w.cells, add_windows, o)) return XIR_E_CANCELLED;
    }
    return XIR_OK;
}

xir_status conv_transposed(xir_kernel *at, const conv *c) {
    scatter o = { .s = { .c = c, .path = gemm_path_now() } };
    const bool has_bias = xir_kernel_input_type(at, 2) != NULL;
    const int64_t elements = c->y.dim[N] * c->y.dim[D] * c->y.dim[H] * c->y.dim[W] * c->y.dim[C];
    if (!gemm_read(at, 0, &o.s.x) || !gemm_read(at, 1, &o.s.k)) return XIR_E_MEMORY;
    const double *bias = has_bias ? xir_kernel_reals(at, 2) : NULL;
    o.y = kernel_all_reals(at, 0);
    if (!o.y || (has_bias && !bias)) return XIR_E_MEMORY;
    for (int64_t i = 0; i < elements; i++) o.y[i] = has_bias ? bias[i / c->y.step[C] % c->y.dim[C]] : 0;
    o.columns = (size_t)(c->out * c->w.cells);
    size_t most = SCATTERED / (o.columns + 1) + 1;
    if (most > c->pixels) most = c->pixels;
    o.product = kernel_room(at, most * o.columns + 1, sizeof *o.product);
    if (!o.product) return XIR_E_MEMORY;
    xir_status status = XIR_OK;
    for (int64_t i = 0; !status && i < c->groups * c->y.dim[N]; i++) {
        o.group = (size_t)(i / c->y.dim[N]);
        o.image = (size_t)(i % c->y.dim[N]);
        status = transpose_group(at, &o, most);
    }
    return status;
}
