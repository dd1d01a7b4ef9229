/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Elements selected by value: the greatest, the least, the non-zero ones. NaN is greater than any number, as in
 * PyTorch. Of equal elements the first is selected. Elements are read a block at a time. */
#include "along.h"
#include "groups.h"
#include "heap.h"

/* ---- Argmax, Argmin --------------------------------------------------------------------------------------------- */

typedef struct extremes {
    along   l;
    writer  y;
    bool    least;
    int64_t order;   /* of integers, from order_of */
} extremes;

INLINED bool is_better(bool real, bool least, int64_t order, number a, number than) {
    const number greater = least ? than : a, less = least ? a : than;
    if (real) return real_is_greater(greater.real, less.real);
    return (greater.integer ^ order) > (less.integer ^ order);
}

/* Elements [k, k + n) of one line. */
INLINED void scan_line(bool real, bool least, int64_t order, const number *x, int64_t n, int64_t k, number *best,
                       int64_t *index) {
    number sofar = *best;
    for (int64_t i = 0; i < n; i++) {
        if (!is_better(real, least, order, x[i], sofar)) continue;
        sofar = x[i];
        *index = k + i;
    }
    *best = sofar;
}

/* Element k of n lines. */
INLINED void scan_abreast(bool real, bool least, int64_t order, const number *x, int64_t n, int64_t k,
                         number *restrict best, int64_t *restrict index) {
    for (int64_t i = 0; i < n; i++) {
        const bool better = is_better(real, least, order, x[i], best[i]);
        best[i] = better ? x[i] : best[i];
        index[i] = better ? k : index[i];
    }
}

/* Each way is a loop of its own. */
#define SCAN(how, e, ...)                                                        \
    do {                                                                         \
        if ((e)->l.real && (e)->least) how(true, true, 0, __VA_ARGS__);          \
        else if ((e)->l.real)          how(true, false, 0, __VA_ARGS__);         \
        else if ((e)->least)           how(false, true, (e)->order, __VA_ARGS__); \
        else                           how(false, false, (e)->order, __VA_ARGS__); \
    } while (0)

static void one_extreme(const extremes *e, int64_t line, int64_t *index) {
    const int64_t start = along_start(&e->l, line);
    number room[BLOCK], best = { .integer = 0 };
    for (int64_t k = 0, n; k < e->l.n; k += n) {
        n = e->l.n - k < BLOCK ? e->l.n - k : BLOCK;
        const number *x = along_line(&e->l, start, k, n, room);
        if (k == 0) best = x[0];
        SCAN (scan_line, e, x, n, k, &best, index);
    }
}

static void extremes_abreast(const extremes *e, int64_t line, int64_t n, int64_t *index) {
    const int64_t start = along_start(&e->l, line);
    number room[ABREAST], best[ABREAST];
    for (int64_t k = 0; k < e->l.n; k++) {
        const number *x = along_lines(&e->l, start, k, n, room);
        if (k == 0) memcpy(best, x, (size_t)n * sizeof *best);
        SCAN (scan_abreast, e, x, n, k, best, index);
    }
}

static void find_extremes(size_t first, size_t n, double *unused, void *user) {
    const extremes *e = user;
    int64_t index[ABREAST] = { 0 };
    (void)unused;
    for (int64_t i = 0, some; i < (int64_t)n; i += some) {
        some = along_abreast(&e->l, (int64_t)first + i, (int64_t)n - i);
        if (e->l.after == 1) one_extreme(e, (int64_t)first + i, index + i), some = 1;
        else                 extremes_abreast(e, (int64_t)first + i, some, index + i);
    }
    write_i64s(&e->y, first, n, index);
}

static xir_status find_extreme(xir_kernel *at, const xir_int_imm *dim, bool least) {
    const xir_type *type = xir_kernel_input_type(at, 0);
    const size_t axis = dim ? axis_of(type, dim->value) : 0;
    extremes e = { .least = least, .order = order_of(type) };
    xir_status status = refuse_padding(at, 0);
    if (status) return status;
    if (!along_open(&e.l, at, axis, dim ? axis + 1 : xir_type_rank(type)) || !writer_open(&e.y, at, 0))
        return XIR_E_MEMORY;
    return spread_rows(at, (size_t)(e.l.before * e.l.after), along_at_once(&e.l), (size_t)e.l.n + 1, 0, &e.y,
                       find_extremes, &e);
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

enum { MOST_HEAPS = 64 };   /* lines that are read side by side */

typedef struct top {
    along   l;
    ranking r;
    writer  values, indices;
    int64_t k;
} top;

/* Item i of `n` lines, whose heaps have `k` items each; or, of one line, items from i on. */
static void put_items(const top *t, int64_t to, const item *items, int64_t step, int64_t n) {
    number values[BLOCK];
    int64_t indices[BLOCK];
    for (int64_t i = 0; i < n; i++) {
        values[i] = items[i * step].value;
        indices[i] = items[i * step].index;
    }
    write_numbers(&t->values, t->l.real, (size_t)to, (size_t)n, values);
    write_i64s(&t->indices, (size_t)to, (size_t)n, indices);
}

static void top_of_line(const top *t, int64_t line, item *heap) {
    const int64_t start = along_start(&t->l, line), all = t->l.n;
    number room[BLOCK];
    size_t filled = 0;
    for (int64_t m = 0, n; m < all; m += n) {
        n = all - m < BLOCK ? all - m : BLOCK;
        const number *x = along_line(&t->l, start, m, n, room);
        for (int64_t i = 0; i < n; i++) heap_offer(&t->r, heap, &filled, (size_t)t->k, (item){ x[i], m + i });
    }
    heap_sort(&t->r, heap, filled);
    for (int64_t i = 0; i < t->k; i += BLOCK)
        put_items(t, line * t->k + i, heap + i, 1, t->k - i < BLOCK ? t->k - i : BLOCK);
}

static void tops_abreast(const top *t, int64_t line, int64_t n, item *heaps) {
    const int64_t start = along_start(&t->l, line), after = t->l.after, k = t->k;
    number room[MOST_HEAPS];
    size_t filled[MOST_HEAPS] = { 0 };
    for (int64_t m = 0; m < t->l.n; m++) {
        const number *x = along_lines(&t->l, start, m, n, room);
        for (int64_t i = 0; i < n; i++) heap_offer(&t->r, heaps + i * k, &filled[i], (size_t)k, (item){ x[i], m });
    }
    for (int64_t i = 0; i < n; i++) heap_sort(&t->r, heaps + i * k, filled[i]);
    for (int64_t i = 0; i < k; i++) put_items(t, (line / after * k + i) * after + line % after, heaps + i, k, n);
}

static void find_tops(size_t first, size_t n, double *room, void *user) {
    const top *t = user;
    item *heaps = (item *)(void *)room;
    for (int64_t i = 0, some; i < (int64_t)n; i += some) {
        some = along_abreast(&t->l, (int64_t)first + i, (int64_t)n - i);
        if (t->l.after == 1) top_of_line(t, (int64_t)first + i, heaps), some = 1;
        else                 tops_abreast(t, (int64_t)first + i, some, heaps);
    }
}

static xir_status top_k(xir_kernel *at) {
    const xir_top_k_attrs *a = xir_kernel_attrs(at);
    const xir_type *type = xir_kernel_input_type(at, 0), *out = xir_kernel_output_type(at, 0);
    const size_t axis = axis_of(type, a->axis);
    top t = { .k = elements_between(out, axis, axis + 1) };
    xir_status status = refuse_padding(at, 0);
    if (status) return status;
    if (!along_open(&t.l, at, axis, axis + 1) || !writer_open(&t.values, at, 0) || !writer_open(&t.indices, at, 1))
        return XIR_E_MEMORY;
    t.r = (ranking){ .real = t.l.real, .largest = a->largest, .order = order_of(type) };
    /* Lines side by side: as many as a few pages have heaps for, but enough for whole cache lines. */
    enum { ITEMS = 4096, FEW = 16 };
    const size_t k = t.k ? (size_t)t.k : 1, size = t.l.n ? (size_t)t.l.n : 1;
    const size_t fit = ITEMS / k < FEW ? FEW : ITEMS / k < MOST_HEAPS ? ITEMS / k : MOST_HEAPS;
    const size_t at_once = t.l.after == 1 ? 1 : (int64_t)fit < t.l.after ? fit : (size_t)t.l.after;
    size_t room;
    if (__builtin_mul_overflow(at_once * sizeof(item) / sizeof(double), k, &room)) return XIR_E_MEMORY;
    return spread_rows(at, (size_t)(t.l.before * t.l.after), at_once ? at_once : 1, size, room,
                       writer_has_bytes(&t.values) ? &t.indices : &t.values, find_tops, &t);
}

/* ---- NonZero ---------------------------------------------------------------------------------------------------- */

/* The places of the non-zero ones of elements [from, from + n). */
static size_t find_non_zeros(const along *l, size_t from, size_t n, int64_t *places) {
    number room[BLOCK];
    const number *x = read_numbers(&l->x, l->real, from, n, room);
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        places[found] = (int64_t)(from + i);
        found += l->real ? x[i].real != 0 : x[i].integer != 0;
    }
    return found;
}

static xir_status non_zero(xir_kernel *at) {
    const xir_type *type = xir_kernel_input_type(at, 0);
    const size_t rank = xir_type_rank(type);
    int64_t places[BLOCK], indices[BLOCK], found = 0, column = 0;
    along l;
    writer y;
    if (!along_open(&l, at, 0, rank)) return XIR_E_MEMORY;
    const size_t count = (size_t)l.n;
    for (size_t i = 0, n; (n = next_block(at, i, count)); i += n) found += (int64_t)find_non_zeros(&l, i, n, places);
    if (xir_kernel_stops(at, 0)) return XIR_E_CANCELLED;   // the count is incomplete
    const int64_t dims[2] = { (int64_t)rank, found };
    xir_status status = xir_kernel_result(at, 0, dims, 2);
    if (status) return status;
    if (!writer_open(&y, at, 0)) return XIR_E_MEMORY;
    for (size_t i = 0, n; (n = next_block(at, i, count)); i += n) {
        const size_t some = find_non_zeros(&l, i, n, places);
        int64_t after = 1;
        for (size_t k = rank; k-- > 0 && some;) {
            const int64_t dim = xir_type_dim(type, (int64_t)k, false);
            for (size_t j = 0; j < some; j++) indices[j] = places[j] / after % dim;
            write_i64s(&y, k * (size_t)found + (size_t)column, some, indices);
            after *= dim;
        }
        column += (int64_t)some;
    }
    return xir_kernel_stops(at, 0) ? XIR_E_CANCELLED : XIR_OK;
}

kernel_table kernels_select = {
    { xir_argmax_class,   argmax                    },
    { xir_argmin_class,   argmin                    },
    { xir_top_k_class,    top_k                     },
    { xir_non_zero_class, non_zero, kernel_is_alone },
    { NULL,               NULL                      },
};
