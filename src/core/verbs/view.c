/* A view holds its ops in execution order, and what it found in them when it was made: the questions then cost nothing and may
 * come from many threads. It compares the network's epoch, which every edit changes, and holds a reference of the network. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xir/view.h>
#include "graph.h"
#include "hash.h"

/* Values in the order in which they were added, each once. */
typedef struct value_list {
    xir_value   **items;
    size_t        n, room;
    pointer_table places;   /* indexes; only while it grows */
} value_list;

struct xir_view {
    xir_network *net;
    uint64_t     epoch;
    xir_op     **ops;
    size_t       n_ops, op_room;
    uint64_t    *members;      /* a bit for each slot of the network                   */
    size_t       member_words;
    value_list   inputs, outputs, params;
    bool         ordered;      /* the caller said in which order the outputs are       */
};

/* ---- value lists ------------------------------------------------------------------------------------------------ */

static bool list_add(value_list *l, xir_value *v) {
    if (l->n == UINT32_MAX - 1) return false;
    const uint32_t *at = pointer_table_add(&l->places, v, (uint32_t)l->n);
    if (!at) return false;
    if (*at < l->n) return true;
    if (!mem_reserve(l->places.alloc, (void **)&l->items, &l->room, l->n + 1, sizeof *l->items)) return false;
    l->items[l->n++] = v;
    return true;
}

static bool list_has(const value_list *l, const xir_value *v) { return pointer_table_find(&l->places, v); }

/* The list stays as it is from here on. */
static void list_close(value_list *l) { pointer_table_free(&l->places); }

static void list_free(value_list *l) {
    list_close(l);
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
    list_free(&view->inputs);
    list_free(&view->outputs);
    list_free(&view->params);
    mem_free(&net->alloc, view->members, view->member_words * sizeof *view->members);
    mem_free(&net->alloc, view->ops, view->op_room * sizeof *view->ops);
    mem_free(&net->alloc, view, sizeof *view);
    xir_network_free(net);
}

/* An empty view, to be filled and then finished. */
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
    if (!mem_reserve(&view->net->alloc, (void **)&view->ops, &view->op_room, view->n_ops + 1, sizeof *view->ops)) return false;
    view->ops[view->n_ops++] = op;
    return true;
}

static bool is_member(const xir_view *view, const xir_op *op) {
    return op->net == view->net && op->slot / 64 < view->member_words && view->members[op->slot / 64] >> (op->slot % 64) & 1;
}

static int by_position(const void *a, const void *b) {
    uint32_t x = (*(xir_op *const *)a)->position, y = (*(xir_op *const *)b)->position;
    return (x > y) - (x < y);
}

/* Sorts the ops, takes out repetitions, and marks the members. */
static bool settle(xir_view *view) {
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
        if (is_member(view, op)) continue;
        view->members[op->slot / 64] |= UINT64_C(1) << (op->slot % 64);
        view->ops[n++] = op;
    }
    view->n_ops = n;
    return true;
}

/* What the order knows of a user: sub ops stand for their parents, and an op that was never placed is NULL. */
static const xir_op *placed_user(const xir_use *use) {
    const xir_op *op = use->user;
    while (op && !(op->flags & OP_PLACED)) op = op->more ? op->more->parent : NULL;
    return op;
}

static bool used_outside(const xir_view *view, const xir_value *v) {
    for (const xir_use *u = v->uses; u; u = u->next) {
        const xir_op *user = placed_user(u);
        if (user && !is_member(view, user)) return true;
    }
    return false;
}

static bool is_source(const xir_op *op) { return op->cls->traits & XIR_TRAIT_SOURCE; }
static bool is_sink(const xir_op *op)   { return op->cls->traits & XIR_TRAIT_SINK; }

static bool goes_out(const xir_view *view, const xir_value *v) {
    bool used = false;
    for (const xir_use *u = v->uses; u; u = u->next) {
        const xir_op *user = placed_user(u);
        if (!user) continue;
        if (!is_member(view, user) || is_sink(user)) return true;
        used = true;
    }
    return !used;
}

static bool find_inputs(xir_view *view) {
    for (size_t i = 0; i < view->n_ops; i++) {
        const xir_op *op = view->ops[i];
        for (uint32_t k = 0; k < op->n_outputs && is_source(op); k++) {
            if (!list_add(&view->inputs, &op->outputs[k])) return false;
        }
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            xir_value *v = op->inputs[k].value;
            if (!v || value_is_params(v) || (v->producer && is_member(view, v->producer))) continue;
            if (!list_add(&view->inputs, v)) return false;
        }
    }
    return true;
}

static bool find_outputs(xir_view *view) {
    for (size_t i = 0; i < view->n_ops; i++) {
        const xir_op *op = view->ops[i];
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            if (goes_out(view, &op->outputs[k]) && !list_add(&view->outputs, &op->outputs[k])) return false;
        }
        /* What an Output op passes on without an op of the view having made it. */
        for (uint32_t k = 0; k < op->n_inputs && is_sink(op); k++) {
            if (op->inputs[k].value && !list_add(&view->outputs, op->inputs[k].value)) return false;
        }
    }
    return true;
}

/* If what goes out is what goes out of the network, it is in the network's order. */
static bool keep_order(xir_view *view) {
    const xir_op *end = xir_network_output_op(view->net);
    value_list same = { .places.alloc = &view->net->alloc };
    bool made = true, all = true;
    for (uint32_t i = 0; end && made && all && i < end->n_inputs; i++) {
        xir_value *v = end->inputs[i].value;
        all = v && list_has(&view->outputs, v);
        if (all) made = list_add(&same, v);
    }
    if (made && all && same.n == view->outputs.n) {
        value_list other = view->outputs;
        view->outputs = same;
        same = other;
    }
    list_free(&same);
    return made;
}

static bool add_params(void *user, xir_value *v) { return list_add(user, v); }

static bool find_params(xir_view *view) {
    for (size_t i = 0; i < view->n_ops; i++) {
        const xir_op *op = view->ops[i];
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            xir_value *v = op->inputs[k].value;
            if (v && value_is_params(v) && !list_add(&view->params, v)) return false;
        }
    }
    for (size_t i = 0; i < view->n_ops; i++) {
        if (!op_walk_attr_params(view->ops[i], add_params, &view->params)) return false;
    }
    return true;
}

static xir_view *finish(xir_view *view, bool filled) {
    if (filled && settle(view) && find_inputs(view) && find_outputs(view) && keep_order(view) && find_params(view)) {
        list_close(&view->inputs);
        list_close(&view->outputs);
        list_close(&view->params);
        view->epoch = view->net->epoch;
        return view;
    }
    net_no_memory(view->net);
    xir_view_free(view);
    return NULL;
}

static xir_view *give_up(xir_view *view) {
    xir_view_free(view);
    return NULL;
}

/* ---- the ways to pick ---------------------------------------------------------------------------------------------- */

xir_view *xir_view_ops(xir_network *net, xir_op *const *ops, size_t n) {
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

/* The placed op of an id, NULL with a finding. */
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
    xir_view *view = start(net);
    bool filled = view;
    for (size_t i = 0; i < n && filled; i++) {
        xir_op *op = op_of_id(net, ids[i]);
        if (!op) return give_up(view);
        filled = take(view, op);
    }
    return view ? finish(view, filled) : NULL;
}

static xir_view *view_from_to(xir_network *net, xir_op *first, const xir_op *end) {
    xir_view *view = start(net);
    bool filled = view;
    for (xir_op *op = first; op != end && filled; op = op->next) filled = take(view, op);
    return view ? finish(view, filled) : NULL;
}

xir_view *xir_view_range(xir_network *net, int64_t start_at, int64_t end) {
    int64_t n = (int64_t)net->n_ops, from = start_at < 0 ? start_at + n : start_at;
    int64_t to = end == INT64_MAX ? n : end < 0 ? end + n : end;
    if (from < 0 || to > n || from > to) {
        net_fail(net, XIR_E_BOUNDS, "positions from %" PRId64 " to %" PRId64 " are no part of %" PRId64 " ops", start_at, end, n);
        return NULL;
    }
    if (from == to) return view_from_to(net, NULL, NULL);
    xir_op *first = xir_network_op_at(net, from), *last = xir_network_op_at(net, to - 1);
    if (!first || !last) {
        net_no_memory(net);
        return NULL;
    }
    return view_from_to(net, first, last->next);
}

xir_view *xir_view_id_range(xir_network *net, int64_t first_id, int64_t last_id) {
    xir_op *first = op_of_id(net, first_id), *last = first ? op_of_id(net, last_id) : NULL;
    if (!last) return NULL;
    if (last->position < first->position) {
        net_fail(net, XIR_E_BOUNDS, "op %" PRId64 " runs before op %" PRId64 ": from the one to the other there is nothing",
                 last_id, first_id);
        return NULL;
    }
    return view_from_to(net, first, last->next);
}

xir_view *xir_view_if(xir_network *net, bool (*pick)(const xir_op *op, void *user), void *user) {
    xir_view *view = start(net);
    bool filled = view;
    for (xir_op *op = net->first; op && filled; op = op->next) {
        if (pick(op, user)) filled = take(view, op);
    }
    return view ? finish(view, filled) : NULL;
}

xir_view *xir_view_except(xir_network *net, const int64_t *ids, size_t n) {
    xir_view *out = xir_view_ids(net, ids, n), *view = out ? start(net) : NULL;
    bool filled = view;
    for (xir_op *op = net->first; op && filled; op = op->next) {
        if (!is_member(out, op)) filled = take(view, op);
    }
    xir_view_free(out);
    return view ? finish(view, filled) : NULL;
}

/* ---- asking -------------------------------------------------------------------------------------------------------- */

bool         xir_view_is_stale(const xir_view *view) { return view->epoch != view->net->epoch; }
xir_network *xir_view_network(const xir_view *view)  { return view->net; }

size_t xir_view_op_count(const xir_view *view) { return xir_view_is_stale(view) ? 0 : view->n_ops; }

xir_op *xir_view_op_at(const xir_view *view, int64_t i) {
    int64_t n = (int64_t)xir_view_op_count(view);
    if (i < 0) i += n;
    return i >= 0 && i < n ? view->ops[i] : NULL;
}

bool xir_view_has(const xir_view *view, const xir_op *op) { return op && !xir_view_is_stale(view) && is_member(view, op); }

xir_op *xir_view_op_by_id(const xir_view *view, int64_t op_id) {
    xir_op *op = xir_view_is_stale(view) ? NULL : net_find_op(view->net, op_id);
    return xir_view_has(view, op) ? op : NULL;
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

size_t xir_view_inputs(const xir_view *view, xir_value **out, size_t room) {
    return xir_view_is_stale(view) ? 0 : list_give(&view->inputs, out, room);
}
size_t xir_view_outputs(const xir_view *view, xir_value **out, size_t room) {
    return xir_view_is_stale(view) ? 0 : list_give(&view->outputs, out, room);
}
size_t xir_view_params(const xir_view *view, xir_value **out, size_t room) {
    return xir_view_is_stale(view) ? 0 : list_give(&view->params, out, room);
}

bool xir_view_equal(const xir_view *a, const xir_view *b) {
    if (a->net != b->net || xir_view_is_stale(a) || xir_view_is_stale(b) || a->n_ops != b->n_ops) return false;
    return a->n_ops == 0 || memcmp((const void *)a->ops, (const void *)b->ops, a->n_ops * sizeof *a->ops) == 0;
}

static xir_status stale(const xir_view *view) {
    return net_fail(view->net, XIR_E_STALE, "the network has been changed since the view was made");
}

xir_status xir_view_order_outputs(xir_view *view, const int64_t *v_ids, size_t n) {
    xir_network *net = view->net;
    if (xir_view_is_stale(view)) return stale(view);
    if (n != view->outputs.n) {
        return net_fail(net, XIR_E_INVALID, "%zu outputs are to be ordered, the view has %zu", n, view->outputs.n);
    }
    value_list old = { .places.alloc = &net->alloc }, now = { .places.alloc = &net->alloc };
    xir_status status = net_build_ids(net) ? XIR_OK : net_no_memory(net);
    for (size_t i = 0; i < n && !status; i++) {
        if (!list_add(&old, view->outputs.items[i])) status = net_no_memory(net);
    }
    for (size_t i = 0; i < n && !status; i++) {
        xir_value *v = net_find_value(net, v_ids[i]);
        if (!v || !list_has(&old, v)) {
            status = net_fail(net, XIR_E_INVALID, "value %" PRId64 " is no output of the view", v_ids[i]);
        } else if (list_has(&now, v)) {
            status = net_fail(net, XIR_E_INVALID, "value %" PRId64 " is named twice", v_ids[i]);
        } else if (!list_add(&now, v)) {
            status = net_no_memory(net);
        }
    }
    list_free(&old);
    if (status) {
        list_free(&now);
        return status;
    }
    list_free(&view->outputs);
    list_close(&now);
    view->outputs = now;
    view->ordered = true;
    return XIR_OK;
}

/* ---- convex regions ------------------------------------------------------------------------------------------------ */

/* A way out of the view: the op of the view whose output is used outside, and the outside op that uses it. */
typedef struct way_out { const xir_op *last, *first; } way_out;

typedef struct ways {
    const xir_view *view;
    way_out        *of;       /* by slot: how an op outside was reached from the view; `last` NULL: it was not */
    const xir_op  **reached;  /* ops outside, in the order in which they were reached */
    size_t          n;
} ways;

static const char *name_shown(const xir_op *op, char *room, size_t size) {
    xir_str name = name_text(op->name);
    snprintf(room, size, "op %" PRId64 "%s%.*s%s", op->id, name.size ? " '" : "", name.size > 80 ? 80 : (int)name.size, name.data,
             name.size ? "'" : "");
    return room;
}

/* Lists the users of an op's outputs that are outside. False if one is inside, and the op is not: the way leads back. */
static bool follow(ways *w, const xir_op *op, bool inside, const xir_op **back) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        for (const xir_use *u = op->outputs[i].uses; u; u = u->next) {
            const xir_op *user = placed_user(u);
            if (!user || user == op) continue;
            if (is_member(w->view, user)) {
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

/* Whether no way leads out of the view and back into it: what came in again would depend on what the view itself makes, and a network
 * of its own would have it as an argument. Each op outside is reached once. */
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
        status = net_fail(net, XIR_E_INVALID, "the view is not convex: a way leads out from %s to %s, and back in from %s to %s",
                          name_shown(out.last, text[0], sizeof text[0]), name_shown(out.first, text[1], sizeof text[1]),
                          name_shown(op, text[2], sizeof text[2]), name_shown(back, text[3], sizeof text[3]));
    }
    mem_free(&net->alloc, w.of, slots * sizeof *w.of);
    mem_free(&net->alloc, (void *)w.reached, slots * sizeof *w.reached);
    return status;
}

/* ---- a network of its own ------------------------------------------------------------------------------------------- */

/* The clone of the whole network that is cut down to the view. */
typedef struct cutting {
    const xir_view *view;
    xir_network    *copy;
    xir_op        **twins;   /* by slot of the original */
} cutting;

/* The value of the copy that stands for one of the original: what the twin of an op of the view makes, or what it is fed. */
static xir_value *twin_of(const cutting *c, const xir_value *v) {
    if (v->producer && is_member(c->view, v->producer)) {
        return &c->twins[v->producer->slot]->outputs[v - v->producer->outputs];
    }
    const xir_use *u = v->uses;
    while (!is_member(c->view, u->user)) u = u->next;   // there is one: it came in
    return c->twins[u->user->slot]->inputs[u - u->user->inputs].value;
}

/* An Input or Output, in no order yet. */
static xir_op *make_end(xir_network *net, const xir_class *cls, const xir_type *const *types, size_t n_types, size_t n_inputs) {
    if (!net_reserve_ids(net, 1, n_types)) return NULL;
    xir_op *op = op_make(net, cls, cls->defaults, n_inputs);
    if (!op || !op_make_outputs(op, types, n_types)) return NULL;
    op_set_id(op, net->next_op_id);
    return op;
}

/* `to` becomes the value that `from` was: id, name, tags, place, and uses. */
static bool move_value(xir_value *to, xir_value *from) {
    int64_t id = from->id;
    if (from->more) {
        value_more *more = value_need_more(to);
        if (!more) return false;
        more->name = from->more->name;
        more->tags = from->more->tags;
        more->mtype = from->more->mtype;
    }
    xir_value_replace(from, to);
    ids_forget_value(from);
    from->id = value_net(to)->next_temp_id--;
    return value_set_id(to, id);
}

/* What comes in becomes outputs of the Input op, which is made if there is none. */
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
        if (v->producer && is_member(view, v->producer)) continue;
        coming[n] = twin_of(c, v);
        types[n] = coming[n]->type;
        n++;
    }
    xir_op *input = source ? c->twins[source->slot] : NULL;
    if (done && !input) {
        input = make_end(copy, copy->ctx->input_class, types, n, 0);
        done = input;
        if (done) op_link(input, copy->first);
    } else if (done && n) {
        int64_t next_id = copy->next_value_id;
        first = input->n_outputs;
        const xir_type **all = mem_new(&copy->alloc, (first + n) * sizeof *all);
        done = all;
        for (size_t i = 0; i < first && done; i++) all[i] = input->outputs[i].type;
        if (done) memcpy((void *)(all + first), (const void *)types, n * sizeof *all);
        done = done && xir_op_set_outputs(input, all, first + n) == XIR_OK;
        mem_free(&copy->alloc, (void *)all, (first + n) * sizeof *all);
        /* The ids that they were given are not theirs. */
        for (size_t i = 0; i < n && done; i++) ids_forget_value(&input->outputs[first + i]);
        copy->next_value_id = next_id;
    }
    for (size_t i = 0; i < n && done; i++) done = move_value(&input->outputs[first + i], coming[i]);
    mem_free(&copy->alloc, (void *)types, (view->inputs.n + 1) * sizeof *types);
    mem_free(&copy->alloc, coming, (view->inputs.n + 1) * sizeof *coming);
    return done;
}

static void cut_ops(const cutting *c) {
    for (const xir_op *op = c->view->net->last; op; op = op->prev) {
        if (!is_member(c->view, op)) xir_network_remove(c->copy, c->twins[op->slot]);
    }
}

/* What goes out becomes inputs of the Output op. One that the view has keeps its own, unless the caller gave an order, and gets
 * what is used outside. `out` has the twins of the view's outputs. */
static bool cut_outputs(const cutting *c, xir_value *const *out) {
    const xir_view *view = c->view;
    const xir_op *sink = NULL;
    for (size_t i = view->n_ops; i-- > 0 && !sink;) {
        if (is_sink(view->ops[i])) sink = view->ops[i];
    }
    xir_op *output = sink ? c->twins[sink->slot] : NULL;
    if (!output) {
        output = make_end(c->copy, c->copy->ctx->output_class, NULL, 0, view->outputs.n);
        if (!output) return false;
        for (size_t i = 0; i < view->outputs.n; i++) use_link(&output->inputs[i], output, out[i]);
        op_link(output, NULL);
        return true;
    }
    if (view->ordered) return xir_op_set_inputs(output, out, view->outputs.n) == XIR_OK;
    for (size_t i = 0; i < view->outputs.n; i++) {
        if (!used_outside(view, view->outputs.items[i]) || xir_op_input_index(output, out[i], NULL, 0)) continue;
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
    for (size_t i = 0; i < view->outputs.n; i++) out[i] = twin_of(c, view->outputs.items[i]);
    cut_ops(c);
    bool done = cut_outputs(c, out);
    mem_free(&c->copy->alloc, out, bytes);
    return done;
}

xir_network *xir_view_to_network(const xir_view *view) {
    xir_network *net = view->net;
    if (xir_view_is_stale(view)) {
        stale(view);
        return NULL;
    }
    if (check_convex(view)) return NULL;
    size_t bytes = ((size_t)net->n_slots + 1) * sizeof(xir_op *);
    cutting c = { view, xir_network_clone(net), mem_new(&net->alloc, bytes) };
    bool done = c.copy && c.twins;
    if (done) {
        xir_op *twin = c.copy->first;
        for (const xir_op *op = net->first; op; op = op->next, twin = twin->next) c.twins[op->slot] = twin;
        done = cut(&c);
    }
    mem_free(&net->alloc, c.twins, bytes);
    if (done) return c.copy;
    net_no_memory(net);
    xir_network_free(c.copy);
    return NULL;
}
