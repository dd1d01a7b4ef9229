/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* More ways to pick the ops of a view, and to ask it. */
#include <inttypes.h>
#include <xir/icraft.h>
#include "view.h"

/* ---- picking ----------------------------------------------------------------------------------------------------- */

/* The ops at positions [from, to); `at` counts. */
typedef struct span { int64_t at, from, to; } span;

static bool is_in_span(const xir_op *op, void *user) {
    span *s = user;
    (void)op;
    const int64_t i = s->at++;
    return i >= s->from && i < s->to;
}

xir_view *xir_view_range(xir_network *net, int64_t start, int64_t end) {
    if (!net) return NULL;
    const int64_t n = (int64_t)net->n_ops;
    span s = { 0, start < 0 ? start + n : start, end == INT64_MAX ? n : end < 0 ? end + n : end };
    if (s.from >= 0 && s.to <= n && s.from <= s.to) return xir_view_if(net, is_in_span, &s);
    net_fail(net, XIR_E_BOUNDS, "positions from %" PRId64 " to %" PRId64 " are not within %" PRId64 " ops", start, end,
             n);
    return NULL;
}

/* The ops from one to another. */
typedef struct stretch { uint32_t first, last; } stretch;

static bool is_in_stretch(const xir_op *op, void *user) {
    const stretch *s = user;
    return op->position >= s->first && op->position <= s->last;
}

xir_view *xir_view_id_range(xir_network *net, int64_t first_id, int64_t last_id) {
    xir_view *ends = net ? xir_view_ids(net, (const int64_t[]){ first_id, last_id }, 2) : NULL;   /* both exist */
    if (!ends) return NULL;
    xir_view_free(ends);
    const xir_op *first = net_find_op(net, first_id), *last = net_find_op(net, last_id);
    stretch s = { first->position, last->position };
    if (s.first <= s.last) return xir_view_if(net, is_in_stretch, &s);
    net_fail(net, XIR_E_BOUNDS, "op %" PRId64 " runs before op %" PRId64 ": from the one to the other there is nothing",
             last_id, first_id);
    return NULL;
}

static bool is_outside(const xir_op *op, void *view) { return !view_has(view, op); }

xir_view *xir_view_except(xir_network *net, const int64_t *ids, size_t n) {
    xir_view *out = net ? xir_view_ids(net, ids, n) : NULL, *view = out ? xir_view_if(net, is_outside, out) : NULL;
    xir_view_free(out);
    return view;
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

xir_network *xir_view_network(const xir_view *view) { return view->net; }

xir_op *xir_view_op_by_id(const xir_view *view, int64_t op_id) {
    xir_op *op = xir_view_is_stale(view) ? NULL : net_find_op(view->net, op_id);
    return xir_view_has(view, op) ? op : NULL;
}

xir_op *xir_view_last(const xir_view *view) { return xir_view_op_at(view, -1); }

xir_op *xir_view_prev(const xir_view *view, const xir_op *op) {
    if (!xir_view_has(view, op)) return NULL;
    if (op->prev && view_has(view, op->prev)) return op->prev;
    const int64_t i = xir_view_index_of(view, op);
    return i ? xir_view_op_at(view, i - 1) : NULL;
}

static bool value_is_in_view(const void *view, const xir_value *v) { return xir_view_has_value(view, v); }

xir_value *xir_view_value_by_name(const xir_view *view, xir_str name) {
    return !view || xir_view_is_stale(view) ? NULL : net_value_named(view->net, name, value_is_in_view, view);
}

bool xir_view_equal(const xir_view *a, const xir_view *b) {
    if (a->net != b->net || xir_view_is_stale(a) || xir_view_is_stale(b) || a->n_ops != b->n_ops) return false;
    return a->n_ops == 0 || memcmp((const void *)a->ops, (const void *)b->ops, a->n_ops * sizeof *a->ops) == 0;
}

xir_status xir_view_order_outputs(xir_view *view, const int64_t *v_ids, size_t n) {
    xir_network *net = view->net;
    if (xir_view_is_stale(view)) return view_stale(view);
    if (n != view->outputs.n) {
        return net_fail(net, XIR_E_INVALID, "%zu outputs are to be ordered, the view has %zu", n, view->outputs.n);
    }
    value_list old = { .places.alloc = &net->alloc }, now = { .places.alloc = &net->alloc };
    xir_status status = net_build_ids(net) ? XIR_OK : net_no_memory(net);
    for (size_t i = 0; i < n && !status; i++) {
        if (!value_list_add(&old, view->outputs.items[i])) status = net_no_memory(net);
    }
    for (size_t i = 0; i < n && !status; i++) {
        xir_value *v = net_find_value(net, v_ids[i]);
        if (!v || !value_list_has(&old, v)) {
            status = net_fail(net, XIR_E_INVALID, "value %" PRId64 " is not an output of the view", v_ids[i]);
        } else if (value_list_has(&now, v)) {
            status = net_fail(net, XIR_E_INVALID, "value %" PRId64 " is named twice", v_ids[i]);
        } else if (!value_list_add(&now, v)) {
            status = net_no_memory(net);
        }
    }
    value_list_free(&old);
    if (status) {
        value_list_free(&now);
        return status;
    }
    value_list_free(&view->outputs);
    value_list_close(&now);
    view->outputs = now;
    view->ordered = true;
    return XIR_OK;
}
