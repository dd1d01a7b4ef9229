/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Resized images. An output cell is a weighted sum of input cells along each axis: two for linear, four for cubic; and
 * one for nearest, which is copied. Neighbouring elements of the output, a strip, are computed side by side. */
#include "pick.h"
#include "taps.h"
#include "windows.h"

static int64_t limit(int64_t i, int64_t n) { return i < 0 ? 0 : i < n ? i : n - 1; }

typedef struct scaling {
    axes          x, y;
    between       how;
    bool          align_corners;
    const taps   *of_axis[SPATIAL];       /* a table for each axis, indexed by output cells      */
    size_t        along;                  /* the axis of a strip, N to C                         */
    int64_t       length, row;            /* cells of a strip, and of the input along its axis   */
    int64_t      *cell[MOST_TAPS];        /* the taps along it, if it is spatial                 */
    double       *weight[MOST_TAPS];
    int64_t      *places;                 /* the cells of a row, if they are apart in the input  */
    reader        from;
    writer        to;
} scaling;

static const taps *scale_axis(xir_kernel *at, const scaling *s, size_t a) {
    const int64_t in = s->x.dim[D + a], out = s->y.dim[D + a];
    taps *table = xir_kernel_alloc(at, (size_t)out + 1, sizeof *table);
    for (int64_t p = 0; p < out && table; p++) {
        double x = ((double)p + 0.5) * (double)in / (double)out - 0.5;
        if (s->align_corners) x = out == 1 ? 0 : (double)p * (double)(in - 1) / (double)(out - 1);
        /* An axis that is missing or keeps its size needs no interpolation. */
        table[p] = in == out ? taps_at((double)p, NEAREST, (double)p) : taps_at(x, s->how, floor(x + 0.5));
        for (size_t i = 0; i < table[p].n; i++) table[p].cell[i] = limit(table[p].cell[i], in);
    }
    return table;
}

/* ---- copied cells ----------------------------------------------------------------------------------------------- */

/* The dim of a type that is an axis of a map: the one with its step. Dims of one element need none. */
static void pick_axis(pick *p, const axes *x, const axes *y, size_t axis, const taps *table) {
    size_t stride = 1;
    for (size_t k = p->rank; k-- > 0; stride *= p->dims[k]) {
        if (y->step[axis] != (int64_t)stride || p->dims[k] != (size_t)y->dim[axis] || p->dims[k] == 1) continue;
        for (size_t i = 0; i < p->dims[k]; i++)
            p->from[k][i] = (table ? table[i].cell[0] : (int64_t)i) * x->step[axis];
    }
    if (y->dim[axis] == 1 && table) p->base += table[0].cell[0] * x->step[axis];
}

static xir_status copy_cells(xir_kernel *at, const scaling *s) {
    pick p;
    if (!pick_open(&p, at, 0)) return XIR_E_MEMORY;
    for (size_t k = N; k <= C; k++)
        pick_axis(&p, &s->x, &s->y, k, k >= D && k <= W ? s->of_axis[k - D] : NULL);
    return pick_run(&p, at, 0);
}

/* ---- weighted sums ---------------------------------------------------------------------------------------------- */

/* Tables of the taps along a strip, and of the places of its cells. False on out of memory. */
static bool open_strips(xir_kernel *at, scaling *s) {
    const taps *table = s->along >= D && s->along <= W ? s->of_axis[s->along - D] : NULL;
    const size_t length = (size_t)s->length, n = table && length ? table[0].n : 0;
    for (size_t t = 0; t < n; t++) {
        s->cell[t] = xir_kernel_alloc(at, length, sizeof *s->cell[t]);
        s->weight[t] = xir_kernel_alloc(at, length, sizeof *s->weight[t]);
        if (!s->cell[t] || !s->weight[t]) return false;
        for (size_t i = 0; i < length; i++) {
            s->cell[t][i] = table[i].cell[t];
            s->weight[t][i] = table[i].weight[t];
        }
    }
    if (s->x.step[s->along] == 1 || s->row == 1) return true;
    return (s->places = axis_places(at, &s->x, s->along)) != NULL;
}

/* sum += (p * weight * q) * the cell, in this order. */
static void add_cells(double *restrict sum, size_t n, double p, double q, const double *restrict weight,
                      const int64_t *restrict cell, const double *restrict row) {
    for (size_t i = 0; i < n; i++) sum[i] += p * weight[i] * q * row[cell[i]];
}

static void add_row(double *restrict sum, size_t n, double weight, const double *restrict row) {
    for (size_t i = 0; i < n; i++) sum[i] += weight * row[i];
}

/* The product of three weights is (D * H) * W; that of the axis of the strip differs from cell to cell. */
static void add_taps(const scaling *s, double *sum, const double w[SPATIAL], size_t tap, const double *row) {
    const size_t n = (size_t)s->length;
    const double *weight = s->weight[tap];
    const int64_t *cell = s->cell[tap];
    switch (s->along) {
    case D:  add_cells(sum, n, w[1], w[2], weight, cell, row); break;
    case H:  add_cells(sum, n, w[0], w[2], weight, cell, row); break;
    case W:  add_cells(sum, n, w[0] * w[1], 1, weight, cell, row); break;
    default: add_row(sum, n, w[0] * w[1] * w[2], row); break;
    }
}

/* The strip at element `to` of the output; its cells are at a place, over what begins at element `from`. */
static void scale_strip(const scaling *s, const int64_t place[SPATIAL], int64_t from, int64_t to, double *room) {
    const taps *t[SPATIAL];
    int64_t n[SPATIAL], k[SPATIAL] = { 0 }, last = -1;
    const double *row = NULL;
    for (size_t a = 0; a < SPATIAL; a++) {
        t[a] = &s->of_axis[a][place[a]];
        n[a] = (int64_t)t[a]->n;
    }
    memset(room, 0, (size_t)s->length * sizeof *room);
    do {
        double w[SPATIAL];
        int64_t cell = from;
        size_t tap = 0;
        for (size_t a = 0; a < SPATIAL; a++) {
            w[a] = t[a]->weight[k[a]];
            if (s->along == D + a) tap = (size_t)k[a];
            else cell += t[a]->cell[k[a]] * s->x.step[D + a];
        }
        if (cell != last) row = read_row(&s->from, cell, s->places, (size_t)s->row, room + s->length);
        last = cell;
        add_taps(s, room, w, tap, row);
    } while (next_cell(k, n));
    write_reals(&s->to, (size_t)to, (size_t)s->length, room);
}

static void scale_strips(size_t first, size_t n, double *room, void *user) {
    const scaling *s = user;
    for (size_t i = first; i < first + n; i++) {
        int64_t place[MOST_AXES];
        const int64_t to = strip_place(&s->y, s->along, (int64_t)i, place);
        scale_strip(s, place + D, place[N] * s->x.step[N] + place[C] * s->x.step[C], to, room);
    }
}

static xir_status scale(xir_kernel *at, scaling *s) {
    for (size_t a = 0; a < SPATIAL; a++) {
        if (!(s->of_axis[a] = scale_axis(at, s, a))) return XIR_E_MEMORY;
    }
    if (s->how == NEAREST) return copy_cells(at, s);
    s->along = strip_axis(&s->y);
    s->length = s->y.dim[s->along];
    s->row = s->x.dim[s->along];
    if (!reader_open(&s->from, at, 0) || !writer_open(&s->to, at, 0) || !open_strips(at, s)) return XIR_E_MEMORY;
    return spread_rows(at, strip_count(&s->y, s->along), 1, (size_t)s->length * s->how, (size_t)(s->length + s->row),
                       &s->to, scale_strips, s);
}

static xir_status resize(xir_kernel *at) {
    const xir_resize_attrs *a = xir_kernel_attrs(at);
    scaling s = { .how = a->interpolation == XIR_RESIZE_INTER_NEAREST ? NEAREST : LINEAR };
    size_t n = xir_type_rank(xir_kernel_input_type(at, 0)) - 2;
    map_axes(xir_kernel_input_type(at, 0), n, &s.x);
    map_axes(xir_kernel_output_type(at, 0), n, &s.y);
    return scale(at, &s);
}

static xir_status upsample(xir_kernel *at) {
    static const between how[] = {
        [XIR_UPSAMPLE_NEAREST] = NEAREST, [XIR_UPSAMPLE_BILINEAR] = LINEAR, [XIR_UPSAMPLE_BICUBIC] = CUBIC
    };
    const xir_upsample_attrs *a = xir_kernel_attrs(at);
    scaling s = { .how = how[a->interpolation], .align_corners = a->align_corners };
    map_axes(xir_kernel_input_type(at, 0), 2, &s.x);
    map_axes(xir_kernel_output_type(at, 0), 2, &s.y);
    return scale(at, &s);
}

kernel_table kernels_resize = {
    { xir_resize_class,   resize   },
    { xir_upsample_class, upsample },
    { NULL,               NULL     },
};
