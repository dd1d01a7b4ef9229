/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Elements gathered and scattered by index. Every index is checked; one outside its dim is an error that names it.
 * Threads share what is gathered; updates are scattered in order, because the last one of a place counts. */
#include <inttypes.h>
#include <stdatomic.h>
#include "carry.h"
#include "dims.h"
#include "heap.h"

/* Normalises a negative index, which counts from the end; false if it is outside the dim. */
static bool index_in(int64_t *index, int64_t dim) {
    if (*index < 0) *index += dim;
    return *index >= 0 && *index < dim;
}

static xir_status outside(xir_kernel *at, int64_t index, int64_t position, size_t axis, int64_t dim) {
    return xir_kernel_fail(at, XIR_E_BOUNDS, "inputs/1",
                           "index %" PRId64 ", element %" PRId64 " of indices, is outside dim %zu "
                           "of data, which is %" PRId64, index, position, axis, dim);
}

/* ---- checking --------------------------------------------------------------------------------------------------- */

typedef struct checked {
    reader           r;
    int64_t          dim;
    _Atomic int64_t  wrong;   /* the first position that a thread has found to be outside */
} checked;

static void note_first(_Atomic int64_t *wrong, int64_t position) {
    int64_t first = atomic_load(wrong);
    while (position < first && !atomic_compare_exchange_weak(wrong, &first, position)) continue;
}

static void check_block(size_t from, size_t n, void *user) {
    checked *x = user;
    int64_t room[BLOCK];
    const int64_t *given = read_i64s(&x->r, from, n, room);
    for (size_t i = 0; i < n; i++) {
        int64_t index = given[i];
        if (index_in(&index, x->dim)) continue;
        note_first(&x->wrong, (int64_t)(from + i));
        return;
    }
}

/* Opens n indices of a dim, which are input 1. Of those that are outside, the finding names the first one. */
static xir_status open_indices(checked *x, xir_kernel *at, int64_t n, size_t axis, int64_t dim) {
    x->dim = dim;
    atomic_init(&x->wrong, n);
    if (!reader_open(&x->r, at, 1)) return XIR_E_MEMORY;
    xir_status status = spread_blocks_of(at, (size_t)n, 1, check_block, x);
    const int64_t wrong = atomic_load(&x->wrong);
    int64_t index = 0;
    if (status || wrong == n) return status;
    index = *read_i64s(&x->r, (size_t)wrong, 1, &index);
    return outside(at, index, wrong, axis, dim);
}

/* An index that has been checked. */
static int64_t from_start(int64_t index, int64_t dim) { return index < 0 ? index + dim : index; }
static int64_t at_most(int64_t n, int64_t most) { return n < most ? n : most; }

/* ---- Gather ----------------------------------------------------------------------------------------------------- */

/* A row of the output, `after` elements, is one index of one of the `before` matrices of data. */
typedef struct gathering {
    checked x;
    carrier m;
    int64_t n, after;
} gathering;

static void gather_block(size_t from, size_t n, void *user) {
    const gathering *g = user;
    const int64_t after = g->after, dim = g->x.dim, end = (int64_t)(from + n);
    int64_t room[BLOCK], places[BLOCK];
    for (int64_t to = (int64_t)from; to < end;) {
        const int64_t row = to / after, matrix = row / g->n * dim, i = row % g->n;
        const int64_t rows = at_most(g->n - i, (end - 1) / after - row + 1);
        const int64_t *given = read_i64s(&g->x.r, (size_t)i, (size_t)rows, room);
        for (int64_t k = 0; k < rows; k++) places[k] = from_start(given[k], dim);
        if (after == 1) {
            carry_at(&g->m, to, matrix, places, rows, NULL);
            to += rows;
            continue;
        }
        for (int64_t k = 0, some; k < rows; k++, to += some) {
            const int64_t skip = to % after;
            some = at_most(after - skip, end - to);
            carry(&g->m, to, (matrix + places[k]) * after + skip, some);
        }
    }
}

static xir_status gather(xir_kernel *at) {
    const xir_gather_attrs *a = xir_kernel_attrs(at);
    const xir_type *data = xir_kernel_input_type(at, 0);
    const size_t rank = xir_type_rank(data), axis = axis_of(data, a->axis);
    const xir_type *type = xir_kernel_input_type(at, 1);
    const int64_t before = elements_between(data, 0, axis), dim = elements_between(data, axis, axis + 1);
    gathering g = { .n = elements_between(type, 0, xir_type_rank(type)),
                    .after = elements_between(data, axis + 1, rank) };
    if (!carry_begin(at, &g.m, 0, 0)) return XIR_E_MEMORY;
    const xir_status status = open_indices(&g.x, at, g.n, axis, dim);
    if (status || before * g.n * g.after == 0) return status;
    const size_t count = (size_t)(before * g.n * g.after);
    return g.m.as_bytes ? spread_blocks_of(at, count, STEPS_A_COPY + STEPS_A_RUN / (uint64_t)g.after, gather_block, &g)
                        : spread_blocks(at, count, gather_block, &g);
}

/* ---- GatherElements --------------------------------------------------------------------------------------------- */

typedef struct gathering_elements {
    checked         x;
    carrier         m;
    const xir_type *type;   /* of the indices                      */
    size_t          axis;
    const int64_t  *step;   /* elements of data between indices    */
    int64_t         row;    /* elements of the last dim of indices */
} gathering_elements;

/* Returns the position in data of row r of the indices, without its index along the axis. */
static int64_t row_place(const gathering_elements *g, int64_t r) {
    int64_t place = 0;
    for (size_t k = xir_type_rank(g->type) - 1; k-- > 0;) {
        const int64_t n = xir_type_dim(g->type, (int64_t)k, false);
        if (k != g->axis) place += r % n * g->step[k];
        r /= n;
    }
    return place;
}

static void gather_elements_block(size_t from, size_t n, void *user) {
    const gathering_elements *g = user;
    const int64_t step = g->step[g->axis], next = g->axis + 1 < xir_type_rank(g->type);
    int64_t room[BLOCK], places[BLOCK];
    const int64_t *given = read_i64s(&g->x.r, from, n, room);
    for (size_t i = 0; i < n;) {
        const int64_t first = (int64_t)(from + i) % g->row;
        const int64_t place = row_place(g, (int64_t)(from + i) / g->row);
        for (int64_t k = first; k < g->row && i < n; k++, i++)
            places[i] = place + from_start(given[i], g->x.dim) * step + k * next;
    }
    carry_at(&g->m, (int64_t)from, 0, places, (int64_t)n, NULL);
}

static xir_status gather_elements(xir_kernel *at) {
    const xir_gather_elements_attrs *a = xir_kernel_attrs(at);
    const xir_type *data = xir_kernel_input_type(at, 0), *type = xir_kernel_input_type(at, 1);
    const size_t rank = xir_type_rank(data), axis = axis_of(data, a->axis);
    const int64_t n = elements_between(type, 0, rank);
    gathering_elements g = { .type = type, .axis = axis, .row = elements_between(type, rank - 1, rank) };
    int64_t *step = xir_kernel_alloc(at, rank, sizeof *step);
    if (!step || !carry_begin(at, &g.m, 0, 0)) return XIR_E_MEMORY;
    for (size_t k = 0; k < rank; k++) step[k] = elements_between(data, k + 1, rank);
    g.step = step;
    const xir_status status = open_indices(&g.x, at, n, axis, elements_between(data, axis, axis + 1));
    return status ? status : spread_blocks(at, (size_t)n, gather_elements_block, &g);
}

/* ---- GatherND and ScatterND ------------------------------------------------------------------------------------- */

/* Positions in dims [first, first + n) of data, each given by n indices. */
typedef struct places {
    const xir_type *data;
    reader          indices;
    int64_t        *room;       /* for those of a position                        */
    size_t          first;
    int64_t         n, count;   /* indices of a position, number of positions     */
    int64_t         slice;      /* elements at each position                      */
    int64_t         all;        /* elements of the indexed dims and those after    */
} places;

static bool places_open(places *p, xir_kernel *at, size_t first) {
    const xir_type *data = xir_kernel_input_type(at, 0), *type = xir_kernel_input_type(at, 1);
    const size_t rank = xir_type_rank(type), end = xir_type_rank(data);
    const int64_t n = elements_between(type, rank - 1, rank);
    *p = (places){ .data = data, .first = first, .n = n, .count = elements_between(type, 0, rank - 1),
                   .slice = elements_between(data, first + (size_t)n, end),
                   .all = elements_between(data, first, end) };
    p->room = xir_kernel_alloc(at, (size_t)n + 1, sizeof *p->room);
    return p->room && reader_open(&p->indices, at, 1);
}

/* The offset of position i within its batch. False if an index of it is outside: then `out` is which one. `room` is for
 * p->n indices. */
static bool place_at(const places *p, int64_t i, int64_t *room, int64_t *out) {
    const int64_t *given = read_i64s(&p->indices, (size_t)(i * p->n), (size_t)p->n, room);
    int64_t place = 0;
    for (int64_t k = 0; k < p->n; k++) {
        const int64_t dim = xir_type_dim(p->data, (int64_t)p->first + k, false);
        int64_t index = given[k];
        if (!index_in(&index, dim)) return *out = k, false;
        place = place * dim + index;
    }
    *out = place * p->slice;
    return true;
}

static xir_status find_place(xir_kernel *at, const places *p, int64_t i, int64_t *out) {
    if (xir_kernel_stops(at, (uint64_t)(p->n + p->slice))) return XIR_E_CANCELLED;
    if (place_at(p, i, p->room, out)) return XIR_OK;
    const int64_t k = *out, position = i * p->n + k;
    const size_t axis = p->first + (size_t)k;
    int64_t one;
    return outside(at, *read_i64s(&p->indices, (size_t)position, 1, &one), position, axis,
                   xir_type_dim(p->data, (int64_t)axis, false));
}

typedef struct gathering_slices {
    places          p;
    carrier         m;
    int64_t         each;    /* positions of a batch                                          */
    _Atomic int64_t wrong;   /* the first position that a thread has found to be outside */
} gathering_slices;

static void gather_slices(size_t first, size_t n, double *room, void *user) {
    gathering_slices *g = user;
    const places *p = &g->p;
    for (int64_t i = (int64_t)first, end = i + (int64_t)n, from; i < end; i++) {
        if (place_at(p, i, (int64_t *)(void *)room, &from))
            carry(&g->m, i * p->slice, i / g->each * p->all + from, p->slice);
        else
            note_first(&g->wrong, i);
    }
}

static xir_status gather_nd(xir_kernel *at) {
    enum { SHORT = 64 };
    const xir_gather_nd_attrs *a = xir_kernel_attrs(at);
    gathering_slices g;
    if (!places_open(&g.p, at, (size_t)a->batch_dims) || !carry_begin(at, &g.m, 0, 0)) return XIR_E_MEMORY;
    const places *p = &g.p;
    const int64_t batches = elements_between(p->data, 0, p->first);
    g.each = batches ? p->count / batches : 0;
    atomic_init(&g.wrong, p->count);
    const xir_status status = spread_rows(at, (size_t)p->count, p->slice < SHORT ? SHORT : 1,
                                          (size_t)(p->n + p->slice), (size_t)p->n, g.m.as_bytes ? NULL : &g.m.y,
                                          gather_slices, &g);
    int64_t none;
    return status || g.wrong == p->count ? status : find_place(at, p, g.wrong, &none);
}

static double reduce_reals(xir_scatter_reduction how, double a, double b) {
    switch (how) {
    case XIR_SCATTER_NONE: break;
    case XIR_SCATTER_ADD:  return a + b;
    case XIR_SCATTER_MUL:  return a * b;
    case XIR_SCATTER_MAX:  return a > b || a != a ? a : b;   // NaN wins
    case XIR_SCATTER_MIN:  return a < b || a != a ? a : b;
    }
    return b;
}

/* Integers wrap; `order` is from order_of. */
static int64_t reduce_integers(xir_scatter_reduction how, int64_t a, int64_t b, int64_t order) {
    switch (how) {
    case XIR_SCATTER_NONE: break;
    case XIR_SCATTER_ADD:  return (int64_t)((uint64_t)a + (uint64_t)b);
    case XIR_SCATTER_MUL:  return (int64_t)((uint64_t)a * (uint64_t)b);
    case XIR_SCATTER_MAX:  return (a ^ order) > (b ^ order) ? a : b;
    case XIR_SCATTER_MIN:  return (a ^ order) < (b ^ order) ? a : b;
    }
    return b;
}

static xir_status scatter_moved(xir_kernel *at, const places *p) {
    carrier m;
    if (!carry_begin(at, &m, 0, 0)) return XIR_E_MEMORY;
    carry(&m, 0, 0, p->all);
    if (!carry_from(at, &m, 2)) return XIR_E_MEMORY;
    for (int64_t i = 0; i < p->count; i++) {
        int64_t to;
        xir_status status = find_place(at, p, i, &to);
        if (status) return status;
        carry(&m, to, i * p->slice, p->slice);
    }
    return XIR_OK;
}

/* Positions in the order of their places, and where those are the same in their own order. */
static xir_status sort_places(xir_kernel *at, const places *p, item *sorted) {
    const ranking by_place = { .real = false, .largest = false };
    const size_t count = (size_t)p->count;
    size_t n = 0;
    for (int64_t i = 0; i < p->count; i++) {
        int64_t to;
        xir_status status = find_place(at, p, i, &to);
        if (status) return status;
        heap_offer(&by_place, sorted, &n, count, (item){ { .integer = to }, i });
    }
    heap_sort(&by_place, sorted, n);
    return XIR_OK;
}

/* Elements that are updated several times are rounded once: the updates of a place are combined one after the other. */
static xir_status scatter_combined(xir_kernel *at, const places *p, xir_scatter_reduction how) {
    const bool real = xir_kernel_is_real(p->data);
    const int64_t order = order_of(p->data);
    carrier m;
    reader u;
    item *sorted = kernel_room(at, (size_t)p->count + 1, sizeof *sorted);
    if (!sorted || !carry_begin_numbers(at, &m, 0, 0, real) || !reader_open(&u, at, 2)) return XIR_E_MEMORY;
    carry(&m, 0, 0, p->all);
    xir_status status = sort_places(at, p, sorted);
    for (int64_t i = 0, end; !status && i < p->count; i = end) {
        const int64_t to = sorted[i].value.integer;
        for (end = i + 1; end < p->count && sorted[end].value.integer == to;) end++;
        for (int64_t k = 0; k < p->slice; k += BLOCK) {
            const size_t n = (size_t)(p->slice - k < BLOCK ? p->slice - k : BLOCK);
            number sofar[BLOCK], room[BLOCK];
            copy_numbers(&m.x, real, (size_t)(to + k), n, sofar);
            for (int64_t j = i; j < end; j++) {
                const number *v = read_numbers(&u, real, (size_t)(sorted[j].index * p->slice + k), n, room);
                for (size_t e = 0; e < n; e++) {
                    if (real) sofar[e].real = reduce_reals(how, sofar[e].real, v[e].real);
                    else sofar[e].integer = reduce_integers(how, sofar[e].integer, v[e].integer, order);
                }
            }
            write_numbers(&m.y, real, (size_t)(to + k), n, sofar);
        }
    }
    return status;
}

static xir_status scatter_nd(xir_kernel *at) {
    const xir_scatter_nd_attrs *a = xir_kernel_attrs(at);
    places p;
    if (!places_open(&p, at, 0)) return XIR_E_MEMORY;
    return a->reduction == XIR_SCATTER_NONE ? scatter_moved(at, &p) : scatter_combined(at, &p, a->reduction);
}

kernel_table kernels_gather = {
    { xir_gather_class,          gather                      },
    { xir_gather_elements_class, gather_elements             },
    { xir_gather_nd_class,       gather_nd                   },
    { xir_scatter_nd_class,      scatter_nd, kernel_is_alone },
    { NULL,                      NULL                        },
};
