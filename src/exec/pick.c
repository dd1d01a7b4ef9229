#include "pick.h"

bool pick_open(pick *p, xir_kernel *at, size_t output) {
    const xir_type *to = xir_kernel_output_type(at, output), *from = xir_kernel_input_type(at, 0);
    size_t own = xir_type_rank(from), total = 0;
    *p = (pick){ .rank = xir_type_rank(to) };
    p->dims = xir_kernel_alloc(at, p->rank + 1, sizeof *p->dims);
    p->from = xir_kernel_alloc(at, p->rank + 1, sizeof *p->from);
    p->strides = xir_kernel_alloc(at, own + 1, sizeof *p->strides);
    if (!p->dims || !p->from || !p->strides) return false;
    for (size_t k = 0; k < p->rank; k++) total += p->dims[k] = dim_of(to, k);
    int64_t *room = xir_kernel_alloc(at, total + 1, sizeof *room);
    if (!room) return false;
    for (size_t k = 0; k < p->rank; k++) {
        p->from[k] = room;
        room += p->dims[k];
    }
    size_t stride = 1;
    for (size_t k = own; k-- > 0;) {
        p->strides[k] = stride;
        stride *= dim_of(from, k);
    }
    return true;
}

void pick_along(pick *p, size_t k, size_t j, int64_t first, int64_t step) {
    int64_t stride = (int64_t)p->strides[j];
    for (size_t i = 0; i < p->dims[k]; i++) p->from[k][i] = (first + (int64_t)i * step) * stride;
}

static void put_one(const carrier *m, size_t to, const char *element) {
    char *out = m->to + to * m->size;
    switch (m->size) {   // for a constant size the compiler emits a single move
    case 1:  *out = *element;         return;
    case 2:  memcpy(out, element, 2); return;
    case 4:  memcpy(out, element, 4); return;
    case 8:  memcpy(out, element, 8); return;
    default: memcpy(out, element, m->size);
    }
}

/* Copies row `to` of the output, whose elements are at `at` + table in the input. */
static void put_row(const carrier *m, size_t to, int64_t at, const int64_t *table, size_t n, bool neighbours,
                    const char *fill) {
    if (neighbours) {
        carry(m, (int64_t)to, at + table[0], (int64_t)n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        put_one(m, to + i, table[i] == NEW ? fill : m->from + (size_t)(at + table[i]) * m->size);
}

xir_status pick_carry(pick *p, xir_kernel *at, const carrier *m, const void *fill) {
    static const int64_t zero = 0;
    const int64_t *last = p->rank ? p->from[p->rank - 1] : &zero;
    size_t outer = p->rank ? p->rank - 1 : 0, row = p->rank ? p->dims[outer] : 1, rows = 1, to = 0;
    size_t *index = xir_kernel_alloc(at, outer + 1, sizeof *index);
    char *zeros = xir_kernel_alloc(at, 1, m->size);
    if (!index || !zeros) return XIR_E_MEMORY;
    bool neighbours = row > 0 && last[0] != NEW;
    for (size_t i = 1; neighbours && i < row; i++) neighbours = last[i] == last[0] + (int64_t)i;
    for (size_t k = 0; k < outer; k++) rows *= p->dims[k];
    if (row == 0) rows = 0;
    const char *new_element = fill ? fill : zeros;
    for (size_t r = 0; r < rows && !xir_kernel_stops(at, row); r++, to += row) {
        int64_t from = p->base;
        bool is_new = false;
        for (size_t k = 0; k < outer; k++) {
            int64_t add = p->from[k][index[k]];
            is_new = is_new || add == NEW;
            from += add;
        }
        if (is_new) for (size_t i = 0; i < row; i++) put_one(m, to + i, new_element);
        else put_row(m, to, from, last, row, neighbours, new_element);
        for (size_t k = outer; k-- > 0;) {
            if (++index[k] < p->dims[k]) break;
            index[k] = 0;
        }
    }
    return XIR_OK;
}

xir_status pick_run(pick *p, xir_kernel *at, size_t output) {
    carrier m;
    if (!carry_begin(at, &m, output, 0)) return XIR_E_MEMORY;
    return pick_carry(p, at, &m, NULL);
}
