/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Makes a network of a view: clones the whole network, so that all its other contents are kept, and removes what is not
 * in the view. */
#include <inttypes.h>
#include <stdio.h>
#include "view.h"

/* ---- convex regions --------------------------------------------------------------------------------------------- */

/* A path out of the view: the op of the view whose output is used outside, and the outside op that uses it. */
typedef struct way_out { const xir_op *last, *first; } way_out;

typedef struct ways {
    const xir_view *view;
    way_out        *of;       /* by slot: how an op outside was reached from the view; `last` NULL: not reached */
    const xir_op  **reached;  /* ops outside, in the order in which they were reached */
    size_t          n;
} ways;

static const char *name_shown(const xir_op *op, char *room, size_t size) {
    xir_str name = name_text(op_label(op));
    snprintf(room, size, "op %" PRId64 "%s%.*s%s", op->id, name.size ? " '" : "", name.size > 80 ? 80
             : (int)name.size, name.data, name.size ? "'" : "");
    return room;
}

/* Lists the outside users of an op's outputs. Returns false if a user is inside and the op is not: the path leads
 * back. */
static bool follow(ways *w, const xir_op *op, bool inside, const xir_op **back) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        for (const xir_use *u = op_outputs(op)[i].uses; u; u = u->next) {
            const xir_op *user = placed_user(u);
            if (!user || user == op) continue;
            if (view_has(w->view, user)) {
                *back = user;
                if (!inside) return false;
            } else if (!w->of[user->slot].last) {
                w->of[user->slot] = inside ? (way_out){ op, user } : w->of[op->slot];
                w->reached[w->n++] = user;
            }
        }
    }
    return true;
}

/* Checks that no path leads out of the view and back in: the value that comes back would depend on the view's own
 * results, but a standalone network would have it as an input. Each op outside is reached once. */
static xir_status check_convex(const xir_view *view) {
    xir_network *net = view->net;
    size_t slots = (size_t)net->n_slots + 1;
    ways w = { view, mem_new(&net->alloc, slots * sizeof *w.of), mem_new(&net->alloc, slots * sizeof *w.reached), 0 };
    xir_status status = w.of && w.reached ? XIR_OK : XIR_E_MEMORY;
    const xir_op *back = NULL, *op = NULL;
    if (!status) memset(w.of, 0, slots * sizeof *w.of);
    for (size_t i = 0; i < view->n_ops && !status; i++) follow(&w, view->ops[i], true, &back);
    bool convex = true;
    for (size_t i = 0; i < w.n && convex && !status; i++) convex = follow(&w, op = w.reached[i], false, &back);
    if (status) {
        net_no_memory(net);
    } else if (!convex) {
        char text[4][128];
        way_out out = w.of[op->slot];
        status = net_fail(net, XIR_E_INVALID,
                          "the view is not convex: a way leads out from %s to %s, and back in from %s to %s",
                          name_shown(out.last, text[0], sizeof text[0]), name_shown(out.first, text[1], sizeof text[1]),
                          name_shown(op, text[2], sizeof text[2]), name_shown(back, text[3], sizeof text[3]));
    }
    mem_free(&net->alloc, w.of, slots * sizeof *w.of);
    mem_free(&net->alloc, (void *)w.reached, slots * sizeof *w.reached);
    return status;
}

/* ---- a network of its own --------------------------------------------------------------------------------------- */

/* The clone of the whole network that is reduced to the view. */
typedef struct cutting {
    const xir_view *view;
    xir_network    *copy;
    xir_op        **copies;  /* by slot of the original */
} cutting;

/* The value of the clone that stands for one of the original: an output of the copy of an op in the view, or what that
 * copy uses. */
static xir_value *copy_of(const cutting *c, const xir_value *v) {
    if (value_op(v) && view_has(c->view, value_op(v))) {
        return &op_outputs(c->copies[value_op(v)->slot])[v - op_outputs(value_op(v))];
    }
    const xir_use *u = v->uses;
    while (!view_has(c->view, u->user)) u = u->next;   // there is one: it came in
    return op_inputs(c->copies[u->user->slot])[u - op_inputs(u->user)].value;
}

xir_op *view_make_end(xir_network *net, const xir_class *cls, const xir_type *const *types, size_t n_types,
                      size_t n_inputs) {
    if (!net_reserve_ids(net, 1, n_types)) return NULL;
    xir_op *op = op_make(net, cls, cls->defaults, n_inputs);
    if (!op || !op_make_outputs(op, types, n_types)) return NULL;
    op_set_id(op, net->next_op_id);
    return op;
}

bool view_move_value(xir_value *to, xir_value *from) {
    int64_t id = from->id;
    if (value_more_of(from)) {
        value_more *more = value_need_more(to);
        if (!more) return false;
        more->name = value_more_of(from)->name;
        more->tags = value_more_of(from)->tags;
        more->extra = value_more_of(from)->extra;
        more->mtype = value_more_of(from)->mtype;
    }
    xir_value_replace(from, to);
    ids_forget_value(from);
    xir_network *net = value_net(to);
    from->id = net->next_temp_id--;
    return value_set_id(to, id < 0 ? net->next_value_id : id);
}

/* Makes the values that enter the view outputs of the Input op, which is made if there is none. */
static bool cut_inputs(const cutting *c) {
    const xir_view *view = c->view;
    xir_network *copy = c->copy;
    const xir_op *source = NULL;
    size_t n = 0, first = 0;
    for (size_t i = 0; i < view->n_ops && !source; i++) {
        if (is_source(view->ops[i])) source = view->ops[i];
    }
    const xir_type **types = mem_new(&copy->alloc, (view->inputs.n + 1) * sizeof *types);
    xir_value **coming = mem_new(&copy->alloc, (view->inputs.n + 1) * sizeof *coming);
    bool done = types && coming;
    for (size_t i = 0; i < view->inputs.n && done; i++) {
        xir_value *v = view->inputs.items[i];
        if (value_op(v) && view_has(view, value_op(v))) continue;
        coming[n] = copy_of(c, v);
        types[n] = coming[n]->type;
        n++;
    }
    xir_op *input = source ? c->copies[source->slot] : NULL;
    if (done && !input) {
        input = view_make_end(copy, copy->ctx->input_class, types, n, 0);
        done = input;
        if (done) op_link(input, copy->first);
    } else if (done && n) {
        int64_t next_id = copy->next_value_id;
        first = input->n_outputs;
        const xir_type **all = mem_new(&copy->alloc, (first + n) * sizeof *all);
        done = all;
        for (size_t i = 0; i < first && done; i++) all[i] = op_outputs(input)[i].type;
        if (done) memcpy((void *)(all + first), (const void *)types, n * sizeof *all);
        done = done && xir_op_set_outputs(input, all, first + n) == XIR_OK;
        mem_free(&copy->alloc, (void *)all, (first + n) * sizeof *all);
        /* The ids they were given are not kept. */
        for (size_t i = 0; i < n && done; i++) ids_forget_value(&op_outputs(input)[first + i]);
        copy->next_value_id = next_id;
    }
    for (size_t i = 0; i < n && done; i++) done = view_move_value(&op_outputs(input)[first + i], coming[i]);
    mem_free(&copy->alloc, (void *)types, (view->inputs.n + 1) * sizeof *types);
    mem_free(&copy->alloc, coming, (view->inputs.n + 1) * sizeof *coming);
    return done;
}

static void cut_ops(const cutting *c) {
    for (const xir_op *op = c->view->net->last; op; op = op->prev) {
        if (!view_has(c->view, op)) xir_network_remove(c->copy, c->copies[op->slot]);
    }
}

/* Makes the view's outputs inputs of the Output op. An Output inside the view keeps its inputs, unless the caller
 * has set an order, and also gets what is used outside. `out` has the copies of the view's outputs. */
static bool cut_outputs(const cutting *c, xir_value *const *out) {
    const xir_view *view = c->view;
    const xir_op *sink = NULL;
    for (size_t i = view->n_ops; i-- > 0 && !sink;) {
        if (is_sink(view->ops[i])) sink = view->ops[i];
    }
    xir_op *output = sink ? c->copies[sink->slot] : NULL;
    if (!output) {
        output = view_make_end(c->copy, c->copy->ctx->output_class, NULL, 0, view->outputs.n);
        if (!output) return false;
        for (size_t i = 0; i < view->outputs.n; i++) use_link(&op_inputs(output)[i], output, out[i]);
        op_link(output, NULL);
        return true;
    }
    if (view->ordered) return xir_op_set_inputs(output, out, view->outputs.n) == XIR_OK;
    for (size_t i = 0; i < view->outputs.n; i++) {
        if (!view_is_used_outside(view, view->outputs.items[i]) || xir_op_input_index(output, out[i], NULL, 0))
            continue;
        if (xir_op_add_input(output, out[i]) != XIR_OK) return false;
    }
    return true;
}

static bool cut(const cutting *c) {
    const xir_view *view = c->view;
    if (!cut_inputs(c)) return false;
    size_t bytes = (view->outputs.n + 1) * sizeof(xir_value *);
    xir_value **out = mem_new(&c->copy->alloc, bytes);
    if (!out) return false;
    for (size_t i = 0; i < view->outputs.n; i++) out[i] = copy_of(c, view->outputs.items[i]);
    cut_ops(c);
    bool done = cut_outputs(c, out);
    mem_free(&c->copy->alloc, out, bytes);
    return done;
}

xir_network *xir_view_to_network(const xir_view *view) {
    xir_network *net = view->net;
    if (xir_view_is_stale(view)) {
        view_stale(view);
        return NULL;
    }
    if (check_convex(view)) return NULL;
    size_t bytes = ((size_t)net->n_slots + 1) * sizeof(xir_op *);
    cutting c = { view, xir_network_clone(net), mem_new(&net->alloc, bytes) };
    bool done = c.copy && c.copies;
    if (done) {
        xir_op *copy = c.copy->first;
        for (const xir_op *op = net->first; op; op = op->next, copy = copy->next) c.copies[op->slot] = copy;
        done = cut(&c);
    }
    mem_free(&net->alloc, c.copies, bytes);
    if (done) return c.copy;
    net_no_memory(net);
    xir_network_free(c.copy);
    return NULL;
}
