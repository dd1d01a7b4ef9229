/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Pools. A cell outside the input is not an element: it is never the maximum and adds nothing to a mean. A window
 * without elements gives the lowest number, or 0. If an element is NaN, the maximum is NaN, as in PyTorch.
 *
 * Windows of consecutive elements of the output, a strip, are combined side by side, cell by cell, in the order of the
 * cells: so the same loops serve any order of the axes. */
#include <math.h>
#include "dims.h"
#include "spread.h"
#include "windows.h"

/* ---- loops over the windows of a strip --------------------------------------------------------------------------- */

/* Combines a cell of each of n windows, `step` apart, with what was combined so far; `order` of integers is from
 * order_of. */
typedef void strip_fn(number *sofar, const number *x, size_t n, size_t step, int64_t order);

#define STRIP(id, member, type, formula)                                                                             \
    static void id(number *sofar, const number *x, size_t n, size_t step, int64_t order) {                           \
        type *restrict all = &sofar->member;                                                                         \
        const type *restrict in = &x->member;                                                                        \
        (void)order;                                                                                                 \
        if (step == 1) {                                                                                             \
            for (size_t i = 0; i < n; i++) all[i] = formula(all[i], in[i], order);                                   \
        } else {                                                                                                     \
            for (size_t i = 0; i < n; i++) all[i] = formula(all[i], in[i * step], order);                            \
        }                                                                                                            \
    }
#define GREATER_REAL(a, b, order)    ((((a) != (a)) | ((b) <= (a))) ? (a) : (b))
#define GREATER_INTEGER(a, b, order) (((b) ^ (order)) > ((a) ^ (order)) ? (b) : (a))
#define SUM_REAL(a, b, order)        ((a) + (b))
#define SUM_INTEGER(a, b, order)     ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
STRIP (greatest_reals,    real,    double,  GREATER_REAL)
STRIP (greatest_integers, integer, int64_t, GREATER_INTEGER)
STRIP (sum_of_reals,      real,    double,  SUM_REAL)
STRIP (sum_of_integers,   integer, int64_t, SUM_INTEGER)

/* ---- strips ----------------------------------------------------------------------------------------------------- */

typedef struct pool {
    window    w;
    bool      padding_counts;
    int64_t   divisor;       /* 0: counted elements                                                   */
    axes      x, y;
    reader    from;
    writer    to;
    bool      real, mean;
    int64_t   order;         /* of integers, from order_of                                            */
    strip_fn *fn;
    number    first;
    size_t    along;         /* the axis of a strip, N to C: neighbours are neighbours in the output   */
    int64_t   length, row;   /* windows of a strip, and cells of the input along its axis              */
    int64_t  *begin, *end;   /* for each cell of a window along the axis: the windows that have it inside */
    int64_t  *inside;        /* of each window of a strip: how many cells along the axis are inside        */
    int64_t  *places;        /* the cells of a row, if they are apart in the input; else NULL              */
} pool;

/* The window along the axis of a strip; NULL if the axis is not spatial. */
static const steps *steps_along(const pool *p) {
    return p->along >= D && p->along <= W ? &p->w.along[p->along - D] : NULL;
}

/* Finds out which cells of windows along the axis of a strip are inside the map. False on out of memory. */
static bool find_insides(xir_kernel *at, pool *p) {
    const steps *along = steps_along(p);
    const int64_t size = along ? along->size : 1;
    p->begin = xir_kernel_alloc(at, (size_t)size + 1, sizeof *p->begin);
    p->end = xir_kernel_alloc(at, (size_t)size + 1, sizeof *p->end);
    p->inside = xir_kernel_alloc(at, (size_t)p->length + 1, sizeof *p->inside);
    if (!p->begin || !p->end || !p->inside) return false;
    for (int64_t k = 0; k < size; k++) {
        const int64_t *cell = along ? p->w.cell[p->along - D] + k : NULL;
        int64_t begin = 0, end = p->length;
        while (cell && begin < p->length && cell[begin * size] < 0) begin++;
        while (cell && end > begin && cell[(end - 1) * size] < 0) end--;
        for (int64_t i = begin; i < end; i++) p->inside[i]++;
        p->begin[k] = begin;
        p->end[k] = end;
    }
    if (p->x.step[p->along] == 1 || p->row == 1) return true;
    return (p->places = axis_places(at, &p->x, p->along)) != NULL;
}

/* The cell of the input that the windows at a place have as their cell k, without the axis of the strip; -1 outside. */
static int64_t cell_of(const pool *p, const int64_t place[SPATIAL], const int64_t k[SPATIAL], int64_t from) {
    for (size_t a = 0; a < SPATIAL; a++) {
        if (p->along == D + a) continue;
        const int64_t cell = p->w.cell[a][place[a] * p->w.size[a] + k[a]];
        if (cell < 0) return -1;
        from += cell * p->x.step[D + a];
    }
    return from;
}

/* The divisor for the sum of a window with `inside` cells in the input. */
static int64_t divisor_of(const pool *p, int64_t inside) {
    if (p->divisor) return p->divisor;
    return p->padding_counts ? p->w.cells : inside ? inside : 1;
}

/* Integers are rounded towards 0, as C does. */
static void divide(const pool *p, int64_t rows, number *sum) {
    for (int64_t i = 0; i < p->length; i++) {
        const int64_t divisor = divisor_of(p, p->inside[i] * rows);
        if (p->real)       sum[i].real /= (double)divisor;
        else if (p->order) sum[i].integer = (int64_t)((uint64_t)sum[i].integer / (uint64_t)divisor);
        else               sum[i].integer /= divisor;
    }
}

/* The strip at element `to` of the output; its windows are at a place, over what begins at element `from`. */
static void compute_strip(const pool *p, const int64_t place[SPATIAL], int64_t from, int64_t to, number *room) {
    const steps *along = steps_along(p);
    const size_t row = (size_t)p->row;
    number *sofar = room;
    const number *x = NULL;
    int64_t k[SPATIAL] = { 0 }, last = -1, cells = 0;
    for (int64_t i = 0; i < p->length; i++) sofar[i] = p->first;
    do {
        const int64_t cell = cell_of(p, place, k, from), tap = along ? k[p->along - D] : 0;
        if (cell < 0) continue;
        if (cell != last) x = read_row_numbers(&p->from, p->real, cell, p->places, row, room + p->length);
        last = cell;
        cells += tap == 0;
        const int64_t begin = p->begin[tap], n = p->end[tap] - begin;
        if (n <= 0) continue;
        const number *first = along ? x + p->w.cell[p->along - D][begin * along->size + tap] : x;
        p->fn(sofar + begin, first, (size_t)n, along ? (size_t)along->stride : 1, p->order);
    } while (next_cell(k, p->w.size));
    if (p->mean) divide(p, cells, sofar);
    write_numbers(&p->to, p->real, (size_t)to, (size_t)p->length, sofar);
}

static void compute_strips(size_t first, size_t n, double *room, void *user) {
    const pool *p = user;
    for (size_t i = first; i < first + n; i++) {
        int64_t place[MOST_AXES];
        const int64_t to = strip_place(&p->y, p->along, (int64_t)i, place);
        compute_strip(p, place + D, place[N] * p->x.step[N] + place[C] * p->x.step[C], to, (number *)(void *)room);
    }
}

static xir_status run(xir_kernel *at, const window_attrs *attrs, pool *p) {
    const xir_type *type = xir_kernel_input_type(at, 0);
    p->padding_counts = attrs->padding_counts;
    p->divisor = attrs->divisor;
    p->order = order_of(type);
    window_axes(&p->w, attrs);
    map_axes(type, attrs->n, &p->x);
    map_axes(xir_kernel_output_type(at, 0), attrs->n, &p->y);
    p->along = strip_axis(&p->y);
    p->length = p->y.dim[p->along];
    p->row = p->x.dim[p->along];
    if (!window_make(at, &p->w, p->x.dim + D, p->y.dim + D, XIR_PADDING_ZEROS) || !reader_open(&p->from, at, 0) ||
        !writer_open(&p->to, at, 0) || !find_insides(at, p)) return XIR_E_MEMORY;
    return spread_rows(at, strip_count(&p->y, p->along), 1, (size_t)(p->length * p->w.cells),
                       (size_t)(p->length + p->row), &p->to, compute_strips, p);
}

/* ---- maximum, mean ---------------------------------------------------------------------------------------------- */

/* The lowest number of an integer type; 0 of bool. */
static int64_t lowest_of(const xir_type *element) {
    const xir_integer_type *integer = xir_integer_type_of((const xir_object *)element);
    if (!integer || !integer->sign) return 0;
    return integer->ibits >= 64 ? INT64_MIN : -((int64_t)1 << (integer->ibits - 1));
}

static xir_status max_pool(xir_kernel *at, window_attrs attrs) {
    const xir_type *type = xir_kernel_input_type(at, 0);
    pool p = { .real = xir_kernel_is_real(type) };
    p.fn = p.real ? greatest_reals : greatest_integers;
    if (p.real) p.first.real = -INFINITY;
    else        p.first.integer = lowest_of(xir_type_element(type));
    return run(at, &attrs, &p);
}

static xir_status avg_pool(xir_kernel *at, window_attrs attrs) {
    pool p = { .real = xir_kernel_is_real(xir_kernel_input_type(at, 0)), .mean = true };
    p.fn = p.real ? sum_of_reals : sum_of_integers;
    if (p.real) p.first.real = 0;
    else        p.first.integer = 0;
    return run(at, &attrs, &p);
}

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

static xir_status avg_pool1d(xir_kernel *at) { return avg_pool(at, avg_pool1d_windows(xir_kernel_attrs(at))); }
static xir_status avg_pool2d(xir_kernel *at) { return avg_pool(at, avg_pool2d_windows(xir_kernel_attrs(at))); }
static xir_status avg_pool3d(xir_kernel *at) { return avg_pool(at, avg_pool3d_windows(xir_kernel_attrs(at))); }
static xir_status max_pool1d(xir_kernel *at) { return max_pool(at, max_pool1d_windows(xir_kernel_attrs(at))); }
static xir_status max_pool2d(xir_kernel *at) { return max_pool(at, max_pool2d_windows(xir_kernel_attrs(at))); }
static xir_status max_pool3d(xir_kernel *at) { return max_pool(at, max_pool3d_windows(xir_kernel_attrs(at))); }

kernel_table kernels_pool = {
    { xir_avg_pool1d_class, avg_pool1d },
    { xir_avg_pool2d_class, avg_pool2d },
    { xir_avg_pool3d_class, avg_pool3d },
    { xir_max_pool1d_class, max_pool1d },
    { xir_max_pool2d_class, max_pool2d },
    { xir_max_pool3d_class, max_pool3d },
    { NULL,                 NULL       },
};
