/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The shortest way to write a map: nothing, a Reshape, a Transpose, two ops, or three. A Transpose can come first if it
 * moves dims of the source as a whole, and last if it makes whole dims of the result; otherwise Reshapes that make and
 * join the factors stand around it. */
#include <string.h>
#include "moves/moves.h"
#include "types.h"

/* The lists are written as far as they are used. */
static void begin(move_plan *p, bool reshapes, bool turns, bool ends, size_t n) {
    p->reshapes = reshapes;
    p->turns = turns;
    p->ends = ends;
    p->n = n;
}

static xir_i64s dims_of(const xir_type *type) { return xir_type_as_tensor(type)->shape; }

static bool keeps_order(const move_map *m) {
    size_t k = 0;
    while (k < m->n && m->source[k] == k) k++;
    return k == m->n;
}

/* A Reshape says all dims but one that is an expression. */
static bool can_say(const int64_t *dims, size_t n) {
    size_t open = 0;
    for (size_t i = 0; i < n; i++) open += dims[i] < 0;
    return open <= 1;
}

/* Dims by the order of others: leading ones first, then each dim and the ones that follow it. `of` lists the dims that
 * are not 1 in the wanted order. Returns the number of dims. */
static size_t with_ones(xir_i64s dims, const int64_t *of, size_t n, int64_t *out) {
    size_t k = 0, to = 0;
    while (k < dims.size && dims.data[k] == 1) out[to++] = (int64_t)k++;
    for (size_t i = 0; i < n; i++) {
        k = (size_t)of[i];
        do out[to++] = (int64_t)k++;
        while (k < dims.size && dims.data[k] == 1);
    }
    return to;
}

/* The dims of the source that are not 1, in the order of the result; false if one is cut into parts that do not stay
 * together. */
static bool whole_dims(const move_map *m, xir_i64s dims, int64_t *out, size_t *n) {
    int64_t sizes[MAP_FACTORS];
    uint8_t dim[MAP_FACTORS], left[MAP_FACTORS];   /* of each factor of the source, and those after it in its dim */
    size_t k = 0;
    for (size_t i = 0; i < m->n; i++) sizes[m->source[i]] = m->size[i];
    for (size_t i = 0; i < dims.size; i++) {
        const size_t from = k;
        for (int64_t rest = dims.data[i]; rest != 1; k++) {
            dim[k] = (uint8_t)i;
            rest = rest == sizes[k] ? 1 : rest / sizes[k];
        }
        for (size_t j = from; j < k; j++) left[j] = (uint8_t)(k - 1 - j);
    }
    *n = 0;
    for (size_t i = 0; i < m->n; i++) {
        const uint8_t s = m->source[i];
        if (i == 0 || left[m->source[i - 1]] == 0) {
            if (s && dim[s - 1] == dim[s]) return false;   /* it does not begin its dim */
            out[(*n)++] = dim[s];
        } else if (s != m->source[i - 1] + 1) {
            return false;
        }
    }
    return true;
}

/* The Transpose alone, or before a Reshape. */
static bool turn_first(const move_map *m, xir_i64s dims, xir_i64s to, move_plan *p) {
    int64_t of[MAP_FACTORS];
    size_t n;
    if (!whole_dims(m, dims, of, &n)) return false;
    begin(p, false, true, false, dims.size);
    size_t one = 0, next = 0;
    bool alone = dims.size == to.size;
    for (size_t d = 0; d < to.size && alone; d++) {
        if (to.data[d] == 1) {
            while (one < dims.size && dims.data[one] != 1) one++;
            alone = one < dims.size;
            p->order[d] = (int64_t)one++;
        } else {
            alone = next < n && dims.data[of[next]] == to.data[d];
            p->order[d] = alone ? of[next++] : 0;
        }
    }
    if (alone) return true;
    p->ends = true;
    with_ones(dims, of, n, p->order);
    return can_say(to.data, to.size);
}

/* A Reshape to the dims of the result in the order of the source, before the Transpose. */
static bool turn_last(const move_map *m, xir_i64s to, move_plan *p) {
    int64_t of[MAP_FACTORS] = { 0 }, at[MAP_FACTORS];
    size_t n = 0;
    for (size_t d = 0; d < to.size; d++) {
        for (size_t k = m->begin[d] + 1u; k < m->begin[d + 1]; k++) {
            if (m->source[k] != m->source[k - 1] + 1) return false;
        }
        if (to.data[d] != 1) of[n++] = (int64_t)d;
    }
    for (size_t i = 1; i < n; i++) {      /* by their place in the source */
        const int64_t d = of[i];
        size_t k = i;
        for (; k && m->source[m->begin[of[k - 1]]] > m->source[m->begin[d]]; k--) of[k] = of[k - 1];
        of[k] = d;
    }
    begin(p, true, true, false, to.size);
    with_ones(to, of, n, at);
    for (size_t i = 0; i < to.size; i++) {
        p->first[i] = to.data[at[i]];
        p->order[at[i]] = (int64_t)i;
    }
    return can_say(p->first, p->n);
}

static bool turn_between(const move_map *m, xir_i64s to, move_plan *p) {
    begin(p, true, true, true, map_factors(m, p->first, p->order));
    return p->n <= MAP_DIMS && can_say(p->first, p->n) && can_say(to.data, to.size);
}

bool plan_of(const move_map *m, const xir_value *x, const xir_type *to, move_plan *out) {
    move_plan last;
    const xir_i64s dims = dims_of(x->type), end = dims_of(to);
    if (keeps_order(m)) {
        begin(out, false, false, !xir_type_equal(x->type, to), 0);
        return !out->ends || can_say(end.data, end.size);
    }
    const bool can_first = turn_first(m, dims, end, out);
    if (can_first && !out->ends) return true;
    if (turn_last(m, end, &last)) {
        *out = last;
        return true;
    }
    return can_first || turn_between(m, end, out);
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static xir_value *add_reshape(xir_at at, xir_value *x, const int64_t *dims, size_t n, const xir_layout *layout) {
    int64_t shape[MAP_FACTORS];
    xir_reshape_attrs a = xir_reshape_init();
    for (size_t i = 0; i < n; i++) shape[i] = dims[i] < 0 ? -1 : dims[i];
    a.shape = (xir_i64s){ shape, n };
    a.layout = layout;
    return xir_op_output(xir_add_reshape(at, (xir_reshape_in){ .input = x }, &a), 0);
}

xir_value *plan_write(xir_at at, xir_value *x, const xir_type *to, const move_plan *p) {
    const xir_layout *stars = xir_layout_default(at.net->ctx, p->n), *end = xir_type_layout(to);
    const xir_i64s dims = dims_of(to);
    xir_at between = at;
    between.name = (xir_str){ NULL, 0 };
    if (p->reshapes) x = add_reshape(between, x, p->first, p->n, stars);
    if (x && p->turns) {
        xir_transpose_attrs a = xir_transpose_init();
        a.dims = (xir_i64s){ p->order, p->n };
        a.layout = p->ends ? stars : end;
        x = xir_op_output(xir_add_transpose(p->ends ? between : at, (xir_transpose_in){ .input = x }, &a), 0);
    }
    return x && p->ends ? add_reshape(at, x, dims.data, dims.size, end) : x;
}
