/* Elements gathered and scattered by index. Every index is checked; one outside its dim is an error that names it. */
#include <inttypes.h>
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

/* Indices [from, from + n) of n, at most BLOCK; sets n to 0 at the end and if the run is cancelled. */
static const int64_t *next_indices(xir_kernel *at, const reader *r, int64_t from, int64_t count, int64_t room[BLOCK],
                                   int64_t *n) {
    *n = (int64_t)next_block(at, (size_t)from, (size_t)count);
    return read_i64s(r, (size_t)from, (size_t)*n, room);
}

/* ---- Gather ----------------------------------------------------------------------------------------------------- */

static xir_status gather(xir_kernel *at) {
    const xir_gather_attrs *a = xir_kernel_attrs(at);
    const xir_type *data = xir_kernel_input_type(at, 0);
    const size_t rank = xir_type_rank(data), axis = axis_of(data, a->axis);
    const xir_type *type = xir_kernel_input_type(at, 1);
    const int64_t before = elements_between(data, 0, axis), dim = elements_between(data, axis, axis + 1);
    const int64_t after = elements_between(data, axis + 1, rank), n = elements_between(type, 0, xir_type_rank(type));
    int64_t room[BLOCK], some;
    reader indices;
    carrier m;
    if (!reader_open(&indices, at, 1) || !carry_begin(at, &m, 0, 0)) return XIR_E_MEMORY;
    for (int64_t from = 0; from < n; from += some) {
        const int64_t *given = next_indices(at, &indices, from, n, room, &some);
        if (!some) return XIR_E_CANCELLED;
        for (int64_t i = from; i < from + some; i++) {
            int64_t index = given[i - from];
            if (!index_in(&index, dim)) return outside(at, given[i - from], i, axis, dim);
            if (xir_kernel_stops(at, (uint64_t)(before * after))) return XIR_E_CANCELLED;
            for (int64_t p = 0; p < before; p++) carry(&m, (p * n + i) * after, (p * dim + index) * after, after);
        }
    }
    return XIR_OK;
}

/* ---- GatherElements --------------------------------------------------------------------------------------------- */

static xir_status gather_elements(xir_kernel *at) {
    const xir_gather_elements_attrs *a = xir_kernel_attrs(at);
    const xir_type *data = xir_kernel_input_type(at, 0), *type = xir_kernel_input_type(at, 1);
    const size_t rank = xir_type_rank(data), axis = axis_of(data, a->axis);
    const int64_t dim = elements_between(data, axis, axis + 1), n = elements_between(type, 0, rank);
    int64_t *step = xir_kernel_alloc(at, rank, sizeof *step), *place = xir_kernel_alloc(at, rank, sizeof *place);
    int64_t room[BLOCK], places[BLOCK], some;
    reader indices;
    carrier m;
    if (!step || !place || !reader_open(&indices, at, 1) || !carry_begin(at, &m, 0, 0)) return XIR_E_MEMORY;
    for (size_t k = 0; k < rank; k++) step[k] = elements_between(data, k + 1, rank);
    for (int64_t i = 0, from = 0; i < n; i += some) {   // `from` has no term for the axis
        const int64_t *given = next_indices(at, &indices, i, n, room, &some);
        if (!some) return XIR_E_CANCELLED;
        for (int64_t j = 0; j < some; j++) {
            int64_t index = given[j];
            if (!index_in(&index, dim)) return outside(at, given[j], i + j, axis, dim);
            places[j] = from + index * step[axis];
            for (size_t k = rank; k-- > 0;) {
                const int64_t along = k == axis ? 0 : step[k];
                from += along;
                if (++place[k] < xir_type_dim(type, (int64_t)k, false)) break;
                from -= place[k] * along;
                place[k] = 0;
            }
        }
        carry_at(&m, i, 0, places, some, NULL);
    }
    return XIR_OK;
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

/* The offset of position i within its batch. */
static xir_status find_place(xir_kernel *at, const places *p, int64_t i, int64_t *out) {
    *out = 0;
    if (xir_kernel_stops(at, (uint64_t)(p->n + p->slice))) return XIR_E_CANCELLED;
    const int64_t *indices = read_i64s(&p->indices, (size_t)(i * p->n), (size_t)p->n, p->room);
    for (int64_t k = 0; k < p->n; k++) {
        int64_t given = indices[k], index = given,
                dim = xir_type_dim(p->data, (int64_t)p->first + k, false);
        if (!index_in(&index, dim)) return outside(at, given, i * p->n + k, p->first + (size_t)k, dim);
        *out = *out * dim + index;
    }
    *out *= p->slice;
    return XIR_OK;
}

static xir_status gather_nd(xir_kernel *at) {
    const xir_gather_nd_attrs *a = xir_kernel_attrs(at);
    places p;
    carrier m;
    if (!places_open(&p, at, (size_t)a->batch_dims) || !carry_begin(at, &m, 0, 0)) return XIR_E_MEMORY;
    const int64_t batches = elements_between(p.data, 0, p.first), each = batches ? p.count / batches : 0;
    for (int64_t i = 0; i < p.count; i++) {
        int64_t from;
        xir_status status = find_place(at, &p, i, &from);
        if (status) return status;
        carry(&m, i * p.slice, i / each * p.all + from, p.slice);
    }
    return XIR_OK;
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
    { xir_gather_class,          gather          },
    { xir_gather_elements_class, gather_elements },
    { xir_gather_nd_class,       gather_nd       },
    { xir_scatter_nd_class,      scatter_nd      },
    { NULL,                      NULL            },
};
