/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The arrays of quantised types. Items along a dim follow that dim to the output. An array whose items are all equal
 * can lie along any dim. A single item stays single. */
#include <inttypes.h>
#include "graph.h"
#include "move.h"

xir_status computed_element(xir_infer *at, size_t i, const xir_type **out) {
    *out = xir_type_element(xir_infer_input(at, i));
    if (!xir_type_is_quantized(*out)) return XIR_OK;
    return xir_infer_fail(at, XIR_E_UNSUPPORTED, path_of_input(i).text,
                          "%s is quantised, and the quantised type of computed values does not follow from it: set the "
                          "types of the outputs", input_name(at, i));
}

xir_status moved_element(xir_infer *at, size_t i, const int64_t *to, const dim_list *dims, const xir_type **out) {
    *out = xir_type_element(xir_infer_input(at, i));
    if (!xir_type_is_quantized(*out)) return XIR_OK;
    return move_element(at, i, &(move){ .to = to, .dims = dims }, out);
}

/* ---- arrays --------------------------------------------------------------------------------------------------- */

static const char *const array_words[] = { "scales", "ratios", "zero points" };   // ORDER ARRAY

xir_status cannot_follow(xir_infer *at, size_t i, array_kind kind, int64_t axis) {
    return xir_infer_fail(at, XIR_E_UNSUPPORTED, path_of_input(i).text,
                          "the %s of %s differ along dim %" PRId64 ", which is merged, split or mixed with others, or "
                          "has another number of elements: they cannot be carried over to the output",
                          array_words[kind], input_name(at, i), axis);
}

/* Returns how many equal items the last dim of the output takes; one if that is unknown or the output has no dims. */
static int64_t last_extent(const move *m) {
    int64_t axes[2] = { (int64_t)m->dims->size - 1, -1 };
    size_t n = 1;
    if (m->dims->size == 0) return 1;
    if (m->layout && xir_layout_is_layouted(m->layout)) {
        axes[1] = tile_partner(m->layout, (size_t)axes[0]);
        if (axes[1] >= 0) n = 2;
    }
    int64_t all = extent((xir_i64s){ m->dims->data, m->dims->size }, axes, n);
    return all < 0 ? 1 : all;
}

/* Moves the items of an array along *axis, and updates the axis. */
typedef struct moving { size_t input; const move *m; } moving;
static xir_status move_array(void *user, xir_infer *at, array_kind kind, xir_runs items, xir_run fill, int64_t *axis,
                             run_list *out) {
    const size_t i = ((const moving *)user)->input;
    const move *m = ((const moving *)user)->m;
    const xir_type *type = xir_infer_input(at, i);
    xir_i64s shape = xir_type_as_tensor(type)->shape, now = { m->dims->data, m->dims->size };
    int64_t axes[2], count = runs_total(items), was = *axis;
    size_t n = axes_along(type, was, axes);
    int64_t have = extent(shape, axes, n);
    if (count == 0 && (n == 0 || have != 0)) return XIR_OK;   // an empty array, as opposed to an array for a dim of 0
    bool alike = items.size == 1, stays = n > 0;
    bool along = n > 0 && (have < 0 ? count > 1 : have == count);
    for (size_t k = 0; k < n; k++) stays &= !m->to || m->to[axes[k]] >= 0;
    int64_t there[2] = { axes[0], axes[1] };
    for (size_t k = 0; k < n && m->to && stays; k++) there[k] = m->to[axes[k]];
    const bool spreads = along && stays && extent(now, there, n) != 1;   // the one item is now for several indices
    if (count == 1 && was == -1 && kind != ARRAY_RATIOS && !spreads) {
        const xir_run one = items.data[0];   // it holds for all elements, wherever the last dim goes
        return run_list_add(out, 1, one.m, one.exp, one.value) ? infer_no_memory(at) : XIR_OK;
    }
    if (!along && !alike) return cannot_follow(at, i, kind, was);

    *axis = stays ? moved_axis(m, was, shape.size) : -1;
    if (along && !(alike && !m->padding)) {
        xir_status status = move_items(at, i, m, axes, n, items, fill, out);
        if (status || stays) return status;
        if (out->size == 0) return kind == ARRAY_RATIOS && last_extent(m) ? cannot_follow(at, i, kind, was) : XIR_OK;
        if (out->size > 1) return cannot_follow(at, i, kind, was);
        items = run_list_runs(out);
    }
    /* All items are equal: they hold for all elements, for those of the dim, or for those of the last dim. */
    xir_run one = items.data[0];
    if (along && stays) {
        for (size_t k = 0; k < n && m->to; k++) axes[k] = m->to[axes[k]];
        have = extent(now, axes, n);
        if (have >= 0) count = have;
    } else if (along || (kind == ARRAY_RATIOS && shape.size == 0)) {
        count = last_extent(m);   // there is one ratio for each element; scales may be fewer
    }
    run_list_cut(out, 0);
    return run_list_add(out, count, one.m, one.exp, one.value) ? infer_no_memory(at) : XIR_OK;
}

/* ---- zero points ---------------------------------------------------------------------------------------------- */

/* Zero points are stored one by one, so an op must not turn a few into very many. */
enum { MOST_ZEROS = 1 << 20 };

xir_status zeros_as_runs(xir_infer *at, xir_i64s zeros, run_list *out) {
    for (size_t i = 0; i < zeros.size; i++) {
        if (run_list_add(out, 1, zeros.data[i], 0, 0)) return infer_no_memory(at);
    }
    return XIR_OK;
}

/* Converts runs to zero points; creates `room`. */
static xir_status zeros_from_runs(xir_infer *at, size_t i, xir_runs runs, size_t had, dim_list *room) {
    int64_t n = runs_total(runs), start = 0;
    if (n > MOST_ZEROS && (uint64_t)n - MOST_ZEROS > had) {
        return xir_infer_fail(at, XIR_E_LIMIT, path_of_input(i).text,
                              "the output needs more than %d additional zero points", MOST_ZEROS);
    }
    if (!dims_init(at, room, (size_t)n)) return XIR_E_MEMORY;
    for (size_t k = 0; k < runs.size; start = runs.data[k++].end) {
        for (int64_t item = start; item < runs.data[k].end; item++) room->data[item] = runs.data[k].m;
    }
    return XIR_OK;
}

/* ---- types ---------------------------------------------------------------------------------------------------- */

static xir_status change_scales(xir_infer *at, array_fn *change, void *user, const xir_scales **scales) {
    if (!*scales) return XIR_OK;
    bool exp = xir_scales_is_exp(*scales);
    int64_t axis = (*scales)->axis;
    run_list out;
    run_list_init(&out, context_alloc(at->ctx));
    const xir_run one = { .m = exp, .value = 1 };   // files store 1, or 1/0/1, for padding
    xir_status status = change(user, at, ARRAY_SCALES, (*scales)->items, one, &axis, &out);
    if (!status) {
        *scales = scales_make(at->pool, exp, run_list_runs(&out), axis);
        if (!*scales) status = infer_no_memory(at);
    }
    run_list_free(&out);
    return status;
}

static xir_status change_ratios(xir_infer *at, array_fn *change, void *user, const xir_norm_ratios **ratios) {
    if (!*ratios) return XIR_OK;
    int64_t axis = (*ratios)->axis;
    run_list out;
    run_list_init(&out, context_alloc(at->ctx));
    xir_status status = change(user, at, ARRAY_RATIOS, (*ratios)->items, (xir_run){ .value = 1 }, &axis, &out);
    if (!status) {
        *ratios = norm_ratios_make(at->pool, run_list_runs(&out), axis);
        if (!*ratios) status = infer_no_memory(at);
    }
    run_list_free(&out);
    return status;
}

/* Zero points lie along the axis of their scales. */
static xir_status change_zeros(xir_infer *at, size_t i, array_fn *change, void *user, int64_t axis, xir_i64s *zeros,
                               dim_list *room) {
    run_list runs, out;
    run_list_init(&runs, context_alloc(at->ctx));
    run_list_init(&out, context_alloc(at->ctx));
    xir_status status = zeros_as_runs(at, *zeros, &runs);
    if (!status) status = change(user, at, ARRAY_ZEROS, run_list_runs(&runs), (xir_run){ 0 }, &axis, &out);
    if (!status) status = zeros_from_runs(at, i, run_list_runs(&out), zeros->size, room);
    if (!status) *zeros = (xir_i64s){ room->data, room->size };
    run_list_free(&out);
    run_list_free(&runs);
    return status;
}

/* The ranges of a calibrated type have no axis. */
static xir_status keep_ranges(xir_infer *at, size_t i, const xir_calibrated_type *c) {
    size_t most = c->min.size > c->max.size ? c->min.size : c->max.size;
    if (c->sat.size > most) most = c->sat.size;
    if (most <= 1) return XIR_OK;
    return xir_infer_fail(at, XIR_E_UNSUPPORTED, path_of_input(i).text,
                          "%s has %zu ranges and no axis for them: they cannot be carried over to the output",
                          input_name(at, i), most);
}

xir_status change_arrays(xir_infer *at, size_t i, array_fn *change, void *user, const xir_type **element) {
    *element = xir_type_element(xir_infer_input(at, i));
    const xir_object *object = (const xir_object *)*element, *made = object;
    const xir_calibrated_type *c = xir_calibrated_type_of(object);
    const xir_quantized_type *q = xir_quantized_type_of(object);
    const xir_normalized_type *n = xir_normalized_type_of(object);
    const xir_normalized_quantized_type *nq = xir_normalized_quantized_type_of(object);
    xir_status status = XIR_OK;
    dim_list room = { .data = room.few };
    if (c) status = keep_ranges(at, i, c);
    else if (q) {
        xir_quantized_type now = *q;
        status = change_scales(at, change, user, &now.scale);
        if (!status) status = change_zeros(at, i, change, user, xir_scales_axis(q->scale), &now.zero_points, &room);
        now.head.hash = 0;
        if (!status) made = pool_intern(at->pool, &now.head);
    } else if (n) {
        xir_normalized_type now = *n;
        status = change_ratios(at, change, user, &now.normratio);
        now.head.hash = 0;
        if (!status) made = pool_intern(at->pool, &now.head);
    } else if (nq) {
        xir_normalized_quantized_type now = *nq;
        status = change_ratios(at, change, user, &now.normratio);
        if (!status) status = change_scales(at, change, user, &now.scale);
        if (!status) status = change_zeros(at, i, change, user, xir_scales_axis(nq->scale), &now.zero_points, &room);
        now.head.hash = 0;
        if (!status) made = pool_intern(at->pool, &now.head);
    }
    dims_free(&room);
    if (status) return status;
    *element = (const xir_type *)made;
    return made ? XIR_OK : infer_no_memory(at);
}

xir_status move_element(xir_infer *at, size_t i, const move *m, const xir_type **element) {
    return change_arrays(at, i, move_array, &(moving){ i, m }, element);
}
