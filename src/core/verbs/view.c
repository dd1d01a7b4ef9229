/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A view holds its ops in execution order and what it found about them when it was made. So queries are cheap and
 * several threads may ask. It compares the network's epoch, which every edit changes, and holds a reference of the
 * network. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "view.h"

/* ---- value lists ------------------------------------------------------------------------------------------------ */

bool value_list_add(value_list *l, xir_value *v) {
    if (l->n == UINT32_MAX - 1) return false;
    const uint32_t *at = pointer_table_add(&l->places, v, (uint32_t)l->n);
    if (!at) return false;
    if (*at < l->n) return true;
    if (!mem_reserve(l->places.alloc, (void **)&l->items, &l->room, l->n + 1, sizeof *l->items)) return false;
    l->items[l->n++] = v;
    return true;
}

bool value_list_has(const value_list *l, const xir_value *v) { return pointer_table_find(&l->places, v); }

void value_list_close(value_list *l) { pointer_table_free(&l->places); }

void value_list_free(value_list *l) {
    value_list_close(l);
    mem_free(l->places.alloc, (void *)l->items, l->room * sizeof *l->items);
}

static size_t list_give(const value_list *l, xir_value **out, size_t room) {
    for (size_t i = 0; i < l->n && i < room; i++) out[i] = l->items[i];
    return l->n;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

void xir_view_free(xir_view *view) {
    if (!view) return;
    xir_network *net = view->net;
    value_list_free(&view->inputs);
    value_list_free(&view->outputs);
    value_list_free(&view->params);
    mem_free(&net->alloc, view->members, view->member_words * sizeof *view->members);
    mem_free(&net->alloc, view->ops, view->op_room * sizeof *view->ops);
    mem_free(&net->alloc, view, sizeof *view);
    xir_network_free(net);
}

/* Makes an empty view, to be filled and then finished. */
static xir_view *start(xir_network *net) {
    xir_view *view = mem_new(&net->alloc, sizeof *view);
    if (!view) {
        net_no_memory(net);
        return NULL;
    }
    *view = (xir_view){ .net = net, .inputs.places.alloc = &net->alloc,
                        .outputs.places.alloc = &net->alloc, .params.places.alloc = &net->alloc };
    network_retain(net);
    return view;
}

static bool take(xir_view *view, xir_op *op) {
    if (!mem_reserve(&view->net->alloc, (void **)&view->ops, &view->op_room, view->n_ops + 1, sizeof *view->ops))
        return false;
    view->ops[view->n_ops++] = op;
    return true;
}

static int by_position(const void *a, const void *b) {
    uint32_t x = (*(xir_op *const *)a)->position, y = (*(xir_op *const *)b)->position;
    return (x > y) - (x < y);
}

/* Sorts the ops, removes duplicates, and marks the members. */
static bool mark_members(xir_view *view) {
    bool sorted = true;
    for (size_t i = 1; i < view->n_ops && sorted; i++) sorted = view->ops[i - 1]->position < view->ops[i]->position;
    if (!sorted) qsort(view->ops, view->n_ops, sizeof *view->ops, by_position);
    size_t words = (size_t)view->net->n_slots / 64 + 1;
    view->members = mem_new(&view->net->alloc, words * sizeof *view->members);
    if (!view->members) return false;
    view->member_words = words;
    memset(view->members, 0, words * sizeof *view->members);
    size_t n = 0;
    for (size_t i = 0; i < view->n_ops; i++) {
        xir_op *op = view->ops[i];
        if (view_has(view, op)) continue;
        view->members[op->slot / 64] |= UINT64_C(1) << (op->slot % 64);
        view->ops[n++] = op;
    }
    view->n_ops = n;
    return true;
}

bool view_is_used_outside(const xir_view *view, const xir_value *v) {
    for (const xir_use *u = v->uses; u; u = u->next) {
        const xir_op *user = placed_user(u);
        if (user && !view_has(view, user)) return true;
    }
    return false;
}

static bool goes_out(const xir_view *view, const xir_value *v) {
    bool used = false;
    for (const xir_use *u = v->uses; u; u = u->next) {
        const xir_op *user = placed_user(u);
        if (!user) continue;
        if (!view_has(view, user) || is_sink(user)) return true;
        used = true;
    }
    return !used;
}

static bool find_inputs(xir_view *view) {
    for (size_t i = 0; i < view->n_ops; i++) {
        const xir_op *op = view->ops[i];
        for (uint32_t k = 0; k < op->n_outputs && is_source(op); k++) {
            if (!value_list_add(&view->inputs, &op_outputs(op)[k])) return false;
        }
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            xir_value *v = op_inputs(op)[k].value;
            if (!v || value_is_params(v) || (value_op(v) && view_has(view, value_op(v)))) continue;
            if (!value_list_add(&view->inputs, v)) return false;
        }
    }
    return true;
}

static bool find_outputs(xir_view *view) {
    for (size_t i = 0; i < view->n_ops; i++) {
        const xir_op *op = view->ops[i];
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            if (goes_out(view, &op_outputs(op)[k]) && !value_list_add(&view->outputs, &op_outputs(op)[k])) return false;
        }
        /* Values that an Output op passes on, but no op of the view has made. */
        for (uint32_t k = 0; k < op->n_inputs && is_sink(op); k++) {
            if (op_inputs(op)[k].value && !value_list_add(&view->outputs, op_inputs(op)[k].value)) return false;
        }
    }
    return true;
}

/* If the outputs are those of the network, puts them into the network's order. */
static bool keep_order(xir_view *view) {
    const xir_op *end = xir_network_output_op(view->net);
    value_list same = { .places.alloc = &view->net->alloc };
    bool made = true, all = true;
    for (uint32_t i = 0; end && made && all && i < end->n_inputs; i++) {
        xir_value *v = op_inputs(end)[i].value;
        all = v && value_list_has(&view->outputs, v);
        if (all) made = value_list_add(&same, v);
    }
    if (made && all && same.n == view->outputs.n) {
        value_list other = view->outputs;
        view->outputs = same;
        same = other;
    }
    value_list_free(&same);
    return made;
}

static bool add_params(void *user, xir_value *v) { return value_list_add(user, v); }

static bool find_params(xir_view *view) {
    for (size_t i = 0; i < view->n_ops; i++) {
        const xir_op *op = view->ops[i];
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            xir_value *v = op_inputs(op)[k].value;
            if (v && value_is_params(v) && !value_list_add(&view->params, v)) return false;
        }
    }
    for (size_t i = 0; i < view->n_ops; i++) {
        if (!op_walk_attr_params(view->ops[i], add_params, &view->params)) return false;
    }
    return true;
}

static xir_view *finish(xir_view *view, bool filled) {
    if (filled && mark_members(view) && find_inputs(view) && find_outputs(view) && keep_order(view) &&
        find_params(view)) {
        value_list_close(&view->outputs);
        view->epoch = view->net->epoch;
        return view;
    }
    net_no_memory(view->net);
    xir_view_free(view);
    return NULL;
}

/* ---- making it again -------------------------------------------------------------------------------------------- */

xir_status view_remake(xir_view *view, xir_op *const *ops, size_t n) {
    xir_view *made = start(view->net);
    bool filled = made;
    for (size_t i = 0; i < n && filled; i++) filled = take(made, ops[i]);
    if (made) made = finish(made, filled);
    if (!made) return XIR_E_MEMORY;
    const xir_view old = *view;
    *view = *made;
    view->busy = old.busy;
    *made = old;
    xir_view_free(made);
    return XIR_OK;
}

xir_status view_check(const xir_view *view, xir_diags *why) {
    if (!view) return diag_null(why, "view");
    if (view->busy)
        return diag_fail(why, XIR_E_IN_USE, XIR_STR(""), "a rewriting or a pipeline runs on the view already");
    if (!xir_view_is_stale(view)) return XIR_OK;
    return diag_fail(why, XIR_E_STALE, XIR_STR(""), "the network has been changed since the view was made");
}

xir_status xir_view_renew(xir_view *view) {
    if (!view) return XIR_E_MISSING;
    if (view->busy) return net_fail(view->net, XIR_E_IN_USE, "a rewriting or a pipeline runs on the view");
    if (!xir_view_is_stale(view)) return XIR_OK;
    size_t n = 0;   /* ops that are gone may leave: they do not come back */
    for (size_t i = 0; i < view->n_ops; i++) {
        if (view->ops[i]->flags & OP_PLACED) view->ops[n++] = view->ops[i];
    }
    view->n_ops = n;
    return view_remake(view, view->ops, n);
}

static xir_view *give_up(xir_view *view) {
    xir_view_free(view);
    return NULL;
}

/* ---- the ways to pick ------------------------------------------------------------------------------------------- */

xir_view *xir_view_ops(xir_network *net, xir_op *const *ops, size_t n) {
    if (!net) return NULL;
    xir_view *view = start(net);
    bool filled = view;
    for (size_t i = 0; i < n && filled; i++) {
        if (!ops[i] || ops[i]->net != net || !(ops[i]->flags & OP_PLACED)) {
            net_fail(net, XIR_E_INVALID, "op %zu of a view is not in the network's order", i);
            return give_up(view);
        }
        filled = take(view, ops[i]);
    }
    return view ? finish(view, filled) : NULL;
}

/* The placed op with an id, NULL with a finding. */
static xir_op *op_of_id(xir_network *net, int64_t id) {
    if (!net_build_ids(net)) {
        net_no_memory(net);
        return NULL;
    }
    xir_op *op = net_find_op(net, id);
    if (op && op->flags & OP_PLACED) return op;
    net_fail(net, XIR_E_MISSING, "no op of the network has the id %" PRId64, id);
    return NULL;
}

xir_view *xir_view_ids(xir_network *net, const int64_t *ids, size_t n) {
    if (!net) return NULL;
    xir_view *view = start(net);
    bool filled = view;
    for (size_t i = 0; i < n && filled; i++) {
        xir_op *op = op_of_id(net, ids[i]);
        if (!op) return give_up(view);
        filled = take(view, op);
    }
    return view ? finish(view, filled) : NULL;
}

xir_view *xir_view_if(xir_network *net, bool (*pick)(const xir_op *op, void *user), void *user) {
    if (!net) return NULL;
    xir_view *view = start(net);
    bool filled = view;
    for (xir_op *op = net->first; op && filled; op = op->next) {
        if (pick(op, user)) filled = take(view, op);
    }
    return view ? finish(view, filled) : NULL;
}

/* ---- asking ----------------------------------------------------------------------------------------------------- */

bool xir_view_is_stale(const xir_view *view) { return view->epoch != view->net->epoch; }

size_t xir_view_op_count(const xir_view *view) { return xir_view_is_stale(view) ? 0 : view->n_ops; }

xir_op *xir_view_op_at(const xir_view *view, int64_t i) {
    int64_t n = (int64_t)xir_view_op_count(view);
    if (i < 0) i += n;
    return i >= 0 && i < n ? view->ops[i] : NULL;
}

bool xir_view_has(const xir_view *view, const xir_op *op) {
    return op && !xir_view_is_stale(view) && view_has(view, op);
}

int64_t xir_view_index_of(const xir_view *view, const xir_op *op) {
    if (!xir_view_has(view, op)) return -1;
    size_t low = 0, high = view->n_ops;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (view->ops[middle]->position < op->position) low = middle + 1;
        else high = middle;
    }
    return (int64_t)low;
}

xir_op *xir_view_first(const xir_view *view) { return xir_view_op_at(view, 0); }

xir_op *xir_view_next(const xir_view *view, const xir_op *op) {
    if (!xir_view_has(view, op)) return NULL;
    if (op->next && view_has(view, op->next)) return op->next;
    return xir_view_op_at(view, xir_view_index_of(view, op) + 1);
}

static bool op_is_in_view(const void *view, const xir_op *op) { return view_has(view, op); }

static bool value_is_in_view(const void *user, const xir_value *v) {
    const xir_view *view = user;
    const xir_op *maker = value_op(v);
    while (maker && maker->flags & OP_CHILD) maker = xir_op_parent(maker);
    return (maker && !(maker->flags & OP_ERASED) && view_has(view, maker)) || value_list_has(&view->inputs, v) ||
           value_list_has(&view->params, v);
}

bool xir_view_has_value(const xir_view *view, const xir_value *v) {
    return view && v && value_net(v) == view->net && !xir_view_is_stale(view) && value_is_in_view(view, v);
}

xir_value *xir_view_value_by_id(const xir_view *view, int64_t v_id) {
    xir_value *v = !view || xir_view_is_stale(view) ? NULL : net_find_value(view->net, v_id);
    return xir_view_has_value(view, v) ? v : NULL;
}

xir_op *xir_view_op_by_name(const xir_view *view, xir_str name) {
    return !view || xir_view_is_stale(view) ? NULL : net_op_named(view->net, name, op_is_in_view, view);
}

size_t xir_view_inputs(const xir_view *view, xir_value **out, size_t room) {
    return xir_view_is_stale(view) ? 0 : list_give(&view->inputs, out, room);
}
size_t xir_view_outputs(const xir_view *view, xir_value **out, size_t room) {
    return xir_view_is_stale(view) ? 0 : list_give(&view->outputs, out, room);
}
size_t xir_view_params(const xir_view *view, xir_value **out, size_t room) {
    return xir_view_is_stale(view) ? 0 : list_give(&view->params, out, room);
}

xir_status view_stale(const xir_view *view) {
    return net_fail(view->net, XIR_E_STALE, "the network has been changed since the view was made");
}

