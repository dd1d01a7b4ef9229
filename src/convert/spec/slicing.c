/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Slices: see slicing.h. */
#include "spec/slicing.h"

bool slicing_begin(xir_node *at, size_t rank, slicing *s) {
    *s = (slicing){ .begin = xir_node_make_ints(at, rank, 0), .end = xir_node_make_ints(at, rank, INT64_MAX),
                    .step = xir_node_make_ints(at, rank, 1) };
    return !xir_node_failed(at);
}

bool slicing_of_items(xir_node *at, const list_items *bounds, const xir_ints *step, slicing *s) {
    const size_t rank = step->n;
    *s = (slicing){ .begin = xir_node_make_ints(at, rank, -1), .end = xir_node_make_ints(at, rank, -1), .step = *step,
                    .computed = !items_known(bounds) };
    if (s->computed) s->bounds = make_list(at, bounds);
    if (xir_node_failed(at)) return false;
    for (size_t i = 0; i < rank && !s->computed; i++)
        s->begin.v[i] = bounds->v[i].v, s->end.v[i] = bounds->v[rank + i].v;
    return true;
}

xir_value *op_of_slicing(xir_node *at, xir_value *x, const slicing *s) {
    return xir_node_make(at, "Slice", INS(x, s->computed ? s->bounds : NULL),
                         SETS(LIST("begin", &s->begin), LIST("end", &s->end), LIST("stride", &s->step)));
}

bool slicing_of_op(xir_node *at, const xir_value *x, slicing *s) {
    xir_ints list;
    if (xir_node_failed(at) || !x) return false;
    const size_t rank = v_rank(x);
    *s = (slicing){ .bounds = xir_node_optional_input(at, 1) };
    s->computed = s->bounds && !xir_node_is_constant(at, 1);
    const bool has = xir_node_items(at, "begin", &s->begin) && xir_node_items(at, "end", &s->end) &&
                     xir_node_items(at, "stride", &s->step);
    if (!has || s->begin.n != rank || s->end.n != rank || s->step.n != rank)
        return xir_node_unsupported(at, "a slice without a begin, an end and a step for each dim");
    if (s->bounds && !s->computed) {
        if (!xir_node_ints(at, 1, &list)) return false;
        if (list.n != 2 * rank) return xir_node_unsupported(at, "a slice without a begin and an end for each dim");
        s->begin = (xir_ints){ list.v, rank }, s->end = (xir_ints){ list.v + rank, rank };
    }
    for (size_t i = 0; i < rank; i++) if (s->step.v[i] == INT64_MIN) s->step.v[i]++;   /* takes the same element */
    return !xir_node_failed(at);
}

bool fixed_slicing_of_op(xir_node *at, const xir_value *x, slicing *s) {
    if (!slicing_of_op(at, x, s)) return false;
    if (s->computed) return xir_node_unsupported(at, "bounds that are computed");
    return xir_node_need_dims(at, x, 0, SIZE_MAX);
}

/* A bound as a place, before limits: -1 is any place before the first. */
static int64_t place_of(int64_t bound, int64_t n) { return bound < -n ? -1 : bound < 0 ? bound + n : bound; }

static int64_t within(int64_t v, int64_t least, int64_t most) { return v < least ? least : v > most ? most : v; }

slice_part slicing_picks(const slicing *s, size_t axis, int64_t n) {
    const int64_t step = s->step.v[axis];
    const bool down = step < 0;
    const int64_t first = within(place_of(s->begin.v[axis], n), down ? -1 : 0, down ? n - 1 : n),
                  end = within(place_of(s->end.v[axis], n), down ? -1 : 0, n),
                  length = down ? first - end : end - first;
    return (slice_part){ first, end, length > 0 ? (length - 1) / (down ? -step : step) + 1 : 0 };
}
