/* Elements gathered and scattered by index. Every index is checked; one outside its dim is an error that names it. */
#include <inttypes.h>
#include "carry.h"
#include "dims.h"

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

/* ---- Gather ----------------------------------------------------------------------------------------------------- */

static xir_status gather(xir_kernel *at) {
    const xir_gather_attrs *a = xir_kernel_attrs(at);
    const xir_type *data = xir_kernel_input_type(at, 0);
    const size_t rank = xir_type_rank(data), axis = axis_of(data, a->axis);
    const xir_type *type = xir_kernel_input_type(at, 1);
    const int64_t before = elements_between(data, 0, axis), dim = elements_between(data, axis, axis + 1);
    const int64_t after = elements_between(data, axis + 1, rank), n = elements_between(type, 0, xir_type_rank(type));
    const int64_t *indices = xir_kernel_i64s(at, 1);
    carrier m;
    if (!indices || !carry_begin(at, &m, 0, 0)) return XIR_E_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        int64_t index = indices[i];
        if (!index_in(&index, dim)) return outside(at, indices[i], i, axis, dim);
        if (xir_kernel_stops(at, (uint64_t)(before * after))) return XIR_E_CANCELLED;
        for (int64_t p = 0; p < before; p++) carry(&m, (p * n + i) * after, (p * dim + index) * after, after);
    }
    return XIR_OK;
}

/* ---- GatherElements --------------------------------------------------------------------------------------------- */

static xir_status gather_elements(xir_kernel *at) {
    const xir_gather_elements_attrs *a = xir_kernel_attrs(at);
    const xir_type *data = xir_kernel_input_type(at, 0), *type = xir_kernel_input_type(at, 1);
    const size_t rank = xir_type_rank(data), axis = axis_of(data, a->axis);
    const int64_t dim = elements_between(data, axis, axis + 1), n = elements_between(type, 0, rank);
    const int64_t *indices = xir_kernel_i64s(at, 1);
    int64_t *step = xir_kernel_alloc(at, rank, sizeof *step), *place = xir_kernel_alloc(at, rank, sizeof *place);
    carrier m;
    if (!indices || !step || !place || !carry_begin(at, &m, 0, 0)) return XIR_E_MEMORY;
    for (size_t k = 0; k < rank; k++) step[k] = elements_between(data, k + 1, rank);
    for (int64_t i = 0, from = 0; i < n; i++) {   // `from` has no term for the axis
        int64_t index = indices[i];
        if (!index_in(&index, dim)) return outside(at, indices[i], i, axis, dim);
        if (xir_kernel_stops(at, 1)) return XIR_E_CANCELLED;
        carry(&m, i, from + index * step[axis], 1);
        for (size_t k = rank; k-- > 0;) {
            int64_t along = k == axis ? 0 : step[k];
            from += along;
            if (++place[k] < xir_type_dim(type, (int64_t)k, false)) break;
            from -= place[k] * along;
            place[k] = 0;
        }
    }
    return XIR_OK;
}

/* ---- GatherND and ScatterND ------------------------------------------------------------------------------------- */

/* Positions in dims [first, first + n) of data, each given by n indices. */
typedef struct places {
    const xir_type *data;
    const int64_t  *indices;
    size_t          first;
    int64_t         n, count;   /* indices of a position, number of positions     */
    int64_t         slice;      /* elements at each position                      */
    int64_t         all;        /* elements of the indexed dims and those after    */
} places;

static places places_of(xir_kernel *at, size_t first) {
    const xir_type *data = xir_kernel_input_type(at, 0), *type = xir_kernel_input_type(at, 1);
    const size_t rank = xir_type_rank(type), end = xir_type_rank(data);
    const int64_t n = elements_between(type, rank - 1, rank);
    return (places){ .data = data, .indices = xir_kernel_i64s(at, 1), .first = first, .n = n,
                     .count = elements_between(type, 0, rank - 1),
                     .slice = elements_between(data, first + (size_t)n, end),
                     .all = elements_between(data, first, end) };
}

/* The offset of position i within its batch. */
static xir_status find_place(xir_kernel *at, const places *p, int64_t i, int64_t *out) {
    *out = 0;
    if (xir_kernel_stops(at, (uint64_t)(p->n + p->slice))) return XIR_E_CANCELLED;
    for (int64_t k = 0; k < p->n; k++) {
        int64_t given = p->indices[i * p->n + k], index = given,
                dim = xir_type_dim(p->data, (int64_t)p->first + k, false);
        if (!index_in(&index, dim)) return outside(at, given, i * p->n + k, p->first + (size_t)k, dim);
        *out = *out * dim + index;
    }
    *out *= p->slice;
    return XIR_OK;
}

static xir_status gather_nd(xir_kernel *at) {
    const xir_gather_nd_attrs *a = xir_kernel_attrs(at);
    const places p = places_of(at, (size_t)a->batch_dims);
    const int64_t batches = elements_between(p.data, 0, p.first), each = batches ? p.count / batches : 0;
    carrier m;
    if (!p.indices || !carry_begin(at, &m, 0, 0)) return XIR_E_MEMORY;
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
    m.from = carried_input(at, &m, 2);
    if (!m.from) return XIR_E_MEMORY;
    for (int64_t i = 0; i < p->count; i++) {
        int64_t to;
        xir_status status = find_place(at, p, i, &to);
        if (status) return status;
        carry(&m, to, i * p->slice, p->slice);
    }
    return XIR_OK;
}

/* Updates are written one after the other; duplicate positions are combined in that order. */
static xir_status scatter_reals(xir_kernel *at, const places *p, xir_scatter_reduction how) {
    const double *x = xir_kernel_reals(at, 0), *u = xir_kernel_reals(at, 2);
    double *y = kernel_all_reals(at, 0);
    if (!x || !u || !y) return XIR_E_MEMORY;
    memcpy(y, x, (size_t)p->all * sizeof *y);
    for (int64_t i = 0; i < p->count; i++) {
        int64_t to;
        xir_status status = find_place(at, p, i, &to);
        if (status) return status;
        for (int64_t k = 0; k < p->slice; k++) y[to + k] = reduce_reals(how, y[to + k], u[i * p->slice + k]);
    }
    return XIR_OK;
}

static xir_status scatter_integers(xir_kernel *at, const places *p, xir_scatter_reduction how) {
    const int64_t *x = xir_kernel_i64s(at, 0), *u = xir_kernel_i64s(at, 2), order = order_of(p->data);
    int64_t *y = kernel_all_i64s(at, 0);
    if (!x || !u || !y) return XIR_E_MEMORY;
    memcpy(y, x, (size_t)p->all * sizeof *y);
    for (int64_t i = 0; i < p->count; i++) {
        int64_t to;
        xir_status status = find_place(at, p, i, &to);
        if (status) return status;
        for (int64_t k = 0; k < p->slice; k++) y[to + k] = reduce_integers(how, y[to + k], u[i * p->slice + k], order);
    }
    return XIR_OK;
}

static xir_status scatter_nd(xir_kernel *at) {
    const xir_scatter_nd_attrs *a = xir_kernel_attrs(at);
    const places p = places_of(at, 0);
    if (!p.indices) return XIR_E_MEMORY;
    if (a->reduction == XIR_SCATTER_NONE) return scatter_moved(at, &p);
    return xir_kernel_is_real(p.data) ? scatter_reals(at, &p, a->reduction) : scatter_integers(at, &p, a->reduction);
}

kernel_table kernels_gather = {
    { xir_gather_class,          gather          },
    { xir_gather_elements_class, gather_elements },
    { xir_gather_nd_class,       gather_nd       },
    { xir_scatter_nd_class,      scatter_nd      },
    { NULL,                      NULL            },
};
