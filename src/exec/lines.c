/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "lines.h"

xir_status lines_open_groups(lines *l, xir_kernel *at) {
    l->steps = 1;
    return reader_open(&l->x, at, 0) && writer_open(&l->y, at, 0) ? XIR_OK : XIR_E_MEMORY;
}

xir_status lines_open(lines *l, xir_kernel *at, const int64_t *axes, size_t n) {
    xir_status status = refuse_padding(at, 0);
    if (status) return status;
    const xir_type *type = xir_kernel_input_type(at, 0);
    const bool *along = groups_along(at, type, axes, n);
    if (!along || !groups_open_lines(&l->g, at, type, along)) return XIR_E_MEMORY;
    return lines_open_groups(l, at);
}

/* Moves the elements of groups that begin at consecutive elements to rows, or back, member by member. */
static void move_strip(const lines *l, double *rows, size_t start, size_t n, bool back) {
    const size_t size = l->g.size;
    double room[BLOCK];
    for (size_t m = 0; m < size; m++) {
        const size_t from = start + group_member(&l->g, m);
        if (back) {
            for (size_t i = 0; i < n; i++) room[i] = rows[i * size + m];
            write_reals(&l->y, from, n, room);
        } else {
            const double *x = read_reals(&l->x, from, n, room);
            for (size_t i = 0; i < n; i++) rows[i * size + m] = x[i];
        }
    }
}

/* The same for one group whose members lie in lines. */
static void move_row(const lines *l, double *row, size_t start, bool back) {
    const groups *g = &l->g;
    for (size_t m = 0; m < g->size; m += g->line) {
        const size_t from = start + group_member(g, m);
        const double *x = back ? NULL : read_reals(&l->x, from, g->line, row + m);
        if (back) write_reals(&l->y, from, g->line, row + m);
        else if (x != row + m) memcpy(row + m, x, g->line * sizeof *row);
    }
}

static void move(const lines *l, double *rows, size_t first, size_t n, bool back) {
    const groups *g = &l->g;
    for (size_t i = 0, run; i < n; i += run) {
        run = g->line == 1 ? groups_in_a_row(g, first + i, n - i) : 1;
        if (g->line == 1) move_strip(l, rows + i * g->size, group_start(g, first + i), run, back);
        else              move_row(l, rows + i * g->size, group_start(g, first + i), back);
    }
}

static void compute(size_t from, size_t n, double *room, void *user) {
    const lines *l = user;
    move(l, room, from, n, false);
    l->fn(l, room, from, n, l->user);
    move(l, room, from, n, true);
}

xir_status lines_each(lines *l, xir_kernel *at, lines_fn *fn, void *user) {
    /* About a block: four rows, whose sums run side by side, or enough groups that are apart for whole cache lines. */
    enum { FEW = 4, APART = 16, LONG = 1 << 13 };
    const size_t size = l->g.size ? l->g.size : 1, few = l->g.line == 1 ? APART : size < LONG ? FEW : 1;
    size_t at_once = BLOCK / size / FEW * FEW;
    if (at_once < few) at_once = few;
    if (at_once > MOST_LINES) at_once = MOST_LINES;
    l->fn = fn;
    l->user = user;
    size_t room;
    if (!l->g.size) return XIR_OK;   // no elements, but perhaps any number of groups
    if (__builtin_mul_overflow(at_once, size, &room)) return XIR_E_MEMORY;
    return spread_rows(at, l->g.n, at_once, size * l->steps, room, &l->y, compute, l);
}
