/* Elements selected by value: the greatest, the least, the non-zero ones. NaN is greater than any number, as in
 * PyTorch. Of equal elements the first is selected. */
#include <inttypes.h>
#include "dims.h"
#include "groups.h"
#include "kernel.h"
#include "pieces.h"

/* The elements of an input, as reals or as integers. */
typedef struct elements {
    const double  *reals;
    const int64_t *i64s;
    int64_t        order;   /* from order_of */
} elements;

static bool take_elements(xir_kernel *at, size_t input, elements *e) {
    const xir_type *type = xir_kernel_input_type(at, input);
    *e = (elements){ .order = order_of(type) };
    if (xir_kernel_is_real(type)) return (e->reals = xir_kernel_reals(at, input)) != NULL;
    return (e->i64s = xir_kernel_i64s(at, input)) != NULL;
}

static bool is_greater(const elements *e, int64_t i, int64_t j) {
    if (e->i64s) return (e->i64s[i] ^ e->order) > (e->i64s[j] ^ e->order);
    double a = e->reals[i], b = e->reals[j];
    return a > b || (a != a && b == b);
}

/* ---- Argmax, Argmin --------------------------------------------------------------------------------------------- */

static xir_status find_extreme(xir_kernel *at, const xir_int_imm *dim, bool least) {
    const xir_type *type = xir_kernel_input_type(at, 0);
    const size_t rank = xir_type_rank(type), axis = dim ? axis_of(type, dim->value) : 0, end = dim ? axis + 1 : rank;
    const int64_t before = elements_between(type, 0, axis), n = elements_between(type, axis, end);
    const int64_t after = elements_between(type, end, rank);
    int64_t *out = kernel_all_i64s(at, 0);
    elements e;
    xir_status status = refuse_padding(at, 0);
    if (status) return status;
    if (!out || !take_elements(at, 0, &e)) return XIR_E_MEMORY;
    for (int64_t p = 0; p < before; p++) {
        for (int64_t s = 0; s < after; s++) {
            int64_t first = p * n * after + s, best = 0;
            if (xir_kernel_stops(at, (uint64_t)n)) return XIR_E_CANCELLED;
            for (int64_t k = 1; k < n; k++) {
                int64_t i = first + k * after, j = first + best * after;
                if (least ? is_greater(&e, j, i) : is_greater(&e, i, j)) best = k;
            }
            *out++ = best;
        }
    }
    return XIR_OK;
}

static xir_status argmax(xir_kernel *at) {
    const xir_argmax_attrs *a = xir_kernel_attrs(at);
    return find_extreme(at, xir_int_imm_of((const xir_object *)a->dim), false);
}

static xir_status argmin(xir_kernel *at) {
    const xir_argmin_attrs *a = xir_kernel_attrs(at);
    return find_extreme(at, xir_int_imm_of((const xir_object *)a->dim), true);
}

/* ---- TopK ------------------------------------------------------------------------------------------------------- */

/* A line of elements along the axis: element k is at first + k * step. */
typedef struct line {
    elements e;
    int64_t  first, step;
    bool     largest;
} line;

/* Whether element i stays before element j, which follows it. */
static bool keeps(const line *l, int64_t i, int64_t j) {
    int64_t a = l->first + i * l->step, b = l->first + j * l->step;
    return l->largest ? !is_greater(&l->e, b, a) : !is_greater(&l->e, a, b);
}

/* Sorts n indices by merging, which is stable. `room` has space for n. */
static void sort_indices(const line *l, int64_t *indices, int64_t *room, int64_t n) {
    if (n < 2) return;
    const int64_t half = n / 2;
    sort_indices(l, indices, room, half);
    sort_indices(l, indices + half, room, n - half);
    for (int64_t i = 0; i < n; i++) room[i] = indices[i];
    for (int64_t i = 0, a = 0, b = half; i < n; i++) {
        bool from_a = b == n || (a < half && keeps(l, room[a], room[b]));
        indices[i] = from_a ? room[a++] : room[b++];
    }
}

static xir_status top_k(xir_kernel *at) {
    const xir_top_k_attrs *a = xir_kernel_attrs(at);
    const xir_type *type = xir_kernel_input_type(at, 0), *out = xir_kernel_output_type(at, 0);
    const size_t rank = xir_type_rank(type), axis = axis_of(type, a->axis);
    const int64_t before = elements_between(type, 0, axis), n = elements_between(type, axis, axis + 1);
    const int64_t after = elements_between(type, axis + 1, rank), k = elements_between(out, axis, axis + 1);
    line l = { .step = after, .largest = a->largest };
    int64_t *order = xir_kernel_alloc(at, (size_t)n + 1, sizeof *order);
    int64_t *room = xir_kernel_alloc(at, (size_t)n + 1, sizeof *room);
    int64_t *indices = kernel_all_i64s(at, 1), *integers = NULL;
    double *reals = NULL;
    xir_status status = refuse_padding(at, 0);
    if (status) return status;
    if (!order || !room || !indices || !take_elements(at, 0, &l.e)) return XIR_E_MEMORY;
    if (l.e.reals ? !(reals = kernel_all_reals(at, 0)) : !(integers = kernel_all_i64s(at, 0)))
        return XIR_E_MEMORY;
    for (int64_t p = 0; p < before; p++) {
        for (int64_t s = 0; s < after; s++) {
            l.first = p * n * after + s;
            if (xir_kernel_stops(at, (uint64_t)n)) return XIR_E_CANCELLED;
            for (int64_t i = 0; i < n; i++) order[i] = i;
            sort_indices(&l, order, room, n);
            for (int64_t i = 0; i < k; i++) {
                int64_t from = l.first + order[i] * after, to = (p * k + i) * after + s;
                indices[to] = order[i];
                if (reals) reals[to] = l.e.reals[from];
                else       integers[to] = l.e.i64s[from];
            }
        }
    }
    return XIR_OK;
}

/* ---- NonZero ---------------------------------------------------------------------------------------------------- */

static xir_status non_zero(xir_kernel *at) {
    const xir_type *type = xir_kernel_input_type(at, 0);
    const size_t rank = xir_type_rank(type);
    const int64_t n = elements_between(type, 0, rank);
    int64_t found = 0;
    elements e;
    if (!take_elements(at, 0, &e)) return XIR_E_MEMORY;
    for (int64_t i = 0, end; (end = next_piece(at, i, n)) > i;) {
        for (; i < end; i++) found += e.reals ? e.reals[i] != 0 : e.i64s[i] != 0;
    }
    if (xir_kernel_stops(at, 0)) return XIR_E_CANCELLED;   // the count is incomplete
    const int64_t dims[2] = { (int64_t)rank, found };
    xir_status status = xir_kernel_result(at, 0, dims, 2);
    int64_t *out = status ? NULL : kernel_all_i64s(at, 0);
    if (!out) return status ? status : XIR_E_MEMORY;
    for (int64_t i = 0, column = 0; i < n; i++) {
        if (xir_kernel_stops(at, 1)) return XIR_E_CANCELLED;
        if (e.reals ? e.reals[i] == 0 : e.i64s[i] == 0) continue;
        for (size_t k = rank, rest = (size_t)i; k-- > 0;) {
            size_t dim = (size_t)xir_type_dim(type, (int64_t)k, false);
            out[(int64_t)k * found + column] = (int64_t)(rest % dim);
            rest /= dim;
        }
        column++;
    }
    return XIR_OK;
}

kernel_table kernels_select = {
    { xir_argmax_class,   argmax   },
    { xir_argmin_class,   argmin   },
    { xir_top_k_class,    top_k    },
    { xir_non_zero_class, non_zero },
    { NULL,               NULL     },
};
