/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Maxima with their positions: the cells of all windows side by side, [n, windows, cells], of which Max and Argmax give
 * the greatest; a constant table has the position in the image of each cell. */
#include <math.h>
#include "pnnx/pnnx.h"
#include "spec/borders.h"

/* The sizes along the spatial axes. */
typedef struct grid { size_t n; int64_t in[3], cells[3], out[3], all_cells, all_out; } grid;

/* The position in the image of cell `c` of window `o`; -1 if it is outside. */
static int64_t position(const grid *g, const xir_ints *places, int64_t o, int64_t c) {
    int64_t at = 0, stride = 1;
    for (size_t k = g->n; k-- > 0; stride *= g->in[k]) {
        const int64_t place = places[k].v[c % g->cells[k] * g->out[k] + o % g->out[k]];
        if (place < 0 || place >= g->in[k]) return -1;
        at += place * stride;
        c /= g->cells[k], o /= g->out[k];
    }
    return at;
}

/* [n, windows, cells] of x. Cells outside of the image are -inf. */
static xir_value *side_by_side(xir_node *at, xir_value *x, const grid *g, const xir_ints *places) {
    const size_t rank = v_rank(x), first = rank - g->n;
    int64_t apart[7] = { -1 }, order[7] = { 0 };
    xir_ints pads = xir_node_make_ints(at, 2 * rank, 0);
    bool any = false;
    for (size_t k = 0; k < g->n && pads.v; k++) {
        for (size_t i = 0; i < places[k].n; i++) {
            const int64_t before = -places[k].v[i], after = places[k].v[i] - g->in[k] + 1;
            int64_t *pad = &pads.v[2 * (first + k)];
            if (before > pad[0]) pad[0] = before, any = true;
            if (after > pad[1]) pad[1] = after, any = true;
        }
    }
    if (any) x = op_of_borders(at, x, &(borders){ .cells = pads, .filled = true, .value = -INFINITY });
    for (size_t k = 0; k < g->n && !xir_node_failed(at); k++) {
        xir_ints shifted = xir_node_make_ints(at, places[k].n, 0);
        for (size_t i = 0; i < shifted.n; i++) shifted.v[i] = places[k].v[i] + pads.v[2 * (first + k)];
        x = make_taken(at, x, first + k, &shifted);
        apart[1 + 2 * k] = g->cells[k], apart[2 + 2 * k] = g->out[k];
        order[1 + k] = (int64_t)(2 + 2 * k), order[1 + g->n + k] = (int64_t)(1 + 2 * k);
    }
    x = make_shaped(at, x, apart, 1 + 2 * g->n);
    x = x ? xir_node_transposed(at, x, order, 1 + 2 * g->n, NULL) : NULL;
    return make_shaped(at, x, (int64_t[]){ -1, g->all_out, g->all_cells }, 3);
}

bool pnnx_max_places(xir_node *at, xir_value *x, size_t n, const xir_ints *places, const int64_t *out) {
    grid g = { .n = n, .all_cells = 1, .all_out = 1 };
    if (!xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    if (xir_type_kind_of(v_element(x)) != XIR_TYPE_FLOAT) return xir_node_unsupported(at, "positions of integers");
    xir_ints dims = xir_node_dims(at, x);
    for (size_t k = 0; k < n && dims.v; k++) {
        g.in[k] = dims.v[dims.n - n + k], g.out[k] = out[k], g.cells[k] = (int64_t)places[k].n / out[k];
        g.all_cells *= g.cells[k], g.all_out *= g.out[k];
        if (g.all_cells > PNNX_MOST_LISTED || g.all_out > PNNX_MOST_LISTED) break;
        dims.v[dims.n - n + k] = out[k];
    }
    if (xir_node_failed(at)) return false;
    if (!node_at_most(at, g.all_cells * g.all_out, PNNX_MOST_LISTED, "the number of all windows' cells")) return false;
    xir_ints table = xir_node_make_ints(at, (size_t)(g.all_cells * g.all_out), 0),
             rows = xir_node_make_ints(at, (size_t)g.all_out, 0);
    for (int64_t i = 0; table.v && i < g.all_cells * g.all_out; i++)
        table.v[i] = position(&g, places, i / g.all_cells, i % g.all_cells);
    for (size_t i = 0; i < rows.n; i++) rows.v[i] = (int64_t)i * g.all_cells;
    xir_value *windows = xir_node_failed(at) ? NULL : side_by_side(at, x, &g, places);
    const xir_sets last = SETS(INT("dim", 2));
    xir_value *most = xir_node_make(at, "Max", INS(windows), last),
              *cell = xir_node_make(at, "Argmax", INS(windows), last);
    cell = cell ? xir_node_cast(at, cell, xir_type_sint(xir_node_context(at), 64)) : NULL;
    cell = xir_node_sum(at, cell, xir_node_integers(at, &rows), 1, 1);
    xir_value *places_of = cell ? xir_node_integers(at, &table) : NULL;
    xir_value *found = cell ? xir_node_make(at, "Gather", INS(places_of, cell), SETS(INT("axis", 0))) : NULL;
    return xir_node_result(at, 0, most ? make_reshaped(at, most, &dims) : NULL) &&
           xir_node_result(at, 1, found ? make_reshaped(at, found, &dims) : NULL);
}
