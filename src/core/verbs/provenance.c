/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Recorders and their steps. A recorder allocates on its own and refers to records of the network, which live in the
 * network's arena as long as the network. */
#include "provenance.h"
#include "provenance_ask.h"

/* ---- making ----------------------------------------------------------------------------------------------------- */

static void free_recorder(xir_provenance *p) {
    const xir_allocator *alloc = p->alloc;
    xir_network *net = p->net;
    mem_free(alloc, p->of_op.items, p->of_op.room * sizeof(uint32_t));
    mem_free(alloc, p->of_params.items, p->of_params.room * sizeof(uint32_t));
    mem_free(alloc, p->parents.items, p->parents.room * sizeof(uint32_t));
    mem_free(alloc, p->held.items, p->held.room * sizeof(uint32_t));
    mem_free(alloc, p->origins, p->origin_room * sizeof *p->origins);
    mem_free(alloc, p->sources, p->source_room * sizeof *p->sources);
    mem_free(alloc, p->values, p->value_room * sizeof *p->values);
    for (size_t i = 0; i < p->n_steps; i++)
        mem_free(alloc, (void *)(uintptr_t)p->steps[i].data, p->steps[i].size + !p->steps[i].size);
    mem_free(alloc, p->steps, p->step_room * sizeof *p->steps);
    mem_free(alloc, (void *)p->ops, p->op_room * sizeof *p->ops);
    mem_free(alloc, (void *)p->params, p->param_room * sizeof *p->params);
    mem_free(alloc, p->heirs, p->heir_room * sizeof *p->heirs);
    mem_free(alloc, p->reads, p->read_room * sizeof *p->reads);
    mem_free(alloc, p->news, p->news_room * sizeof *p->news);
    pointer_table_free(&p->value_at);
    mem_free(alloc, p, sizeof *p);
    xir_network_free(net);
}

void xir_provenance_free(xir_provenance *p) {
    if (!p) return;
    p->net->provenance = NULL;
    free_recorder(p);
}

xir_provenance *xir_provenance_of(const xir_network *net)            { return net ? net->provenance : NULL; }
xir_network    *xir_provenance_network(const xir_provenance *p)      { return p ? p->net : NULL; }
xir_status      xir_provenance_status(const xir_provenance *p)       { return p ? p->status : XIR_E_MISSING; }
size_t          xir_provenance_step_count(const xir_provenance *p)   { return p ? p->n_steps : 0; }
size_t          xir_provenance_source_count(const xir_provenance *p) { return p ? p->n_sources : 0; }

xir_str xir_provenance_step_name(const xir_provenance *p, size_t step) {
    return p && step < p->n_steps ? p->steps[step] : (xir_str){ "", 0 };
}

const xir_provenance_source *xir_provenance_source_at(const xir_provenance *p, size_t i) {
    return p && i < p->n_sources ? &p->sources[i] : NULL;
}

static void add_step(xir_provenance *p, xir_str name) {
    xir_str copy = { mem_new(p->alloc, name.size + !name.size), name.size };
    if (!provenance_keep(p, copy.data) || !PROVENANCE_ROOM(p, steps, n_steps, step_room)) {
        mem_free(p->alloc, (void *)(uintptr_t)copy.data, name.size + !name.size);
        return;
    }
    if (name.size) memcpy((char *)(uintptr_t)copy.data, name.data, name.size);
    p->steps[p->n_steps++] = copy;
}

xir_status xir_provenance_step(xir_provenance *p, xir_str name) {
    if (!p) return XIR_E_MISSING;
    provenance_settle(p);
    if (!p->status) add_step(p, name);
    return p->status;
}

/* ---- sources ---------------------------------------------------------------------------------------------------- */

bool source_add(xir_provenance *p, xir_provenance_source source) {
    const bool ok = PROVENANCE_ROOM(p, sources, n_sources, source_room);
    if (ok) p->sources[p->n_sources++] = source;
    return ok;
}

bool value_source_join(xir_provenance *p, uint32_t *all, int64_t id) {
    const uint32_t one = value_origin_add(p, (value_origin){ .id = id });
    *all = !*all || !one ? one : value_origin_add(p, (value_origin){ .a = *all, .b = one });
    return *all;
}

static void add_value(xir_provenance *p, const xir_value *v) {
    if (pointer_table_find(&p->value_at, v)) return;
    const uint32_t maker = value_op(v) ? origin_of_op(p, value_op(v)) : 0;
    const uint32_t i = value_origin_add(p, (value_origin){ .a = maker, .id = v->id });
    if (i) provenance_keep(p, pointer_table_add(&p->value_at, v, i));
}

/* An op of the network, its values and its sub ops. */
static bool add_op(void *user, xir_op *op) {
    xir_provenance *p = user;
    if (!source_add(p, (xir_provenance_source){ op->id, name_text(op_label(op)), op->cls }) ||
        !origin_add(p, op->slot, 0, 0)) return false;
    for (uint32_t i = 0; i < op->n_outputs; i++) add_value(p, &op_outputs(op)[i]);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (v && !value_op(v) && !value_is_params(v)) add_value(p, v);
    }
    return op->cls->plain || op_each_child(op, add_op, user);
}

static void add_network(xir_provenance *p) {
    for (xir_op *op = p->net->first; op && !p->status; op = op->next) add_op(p, op);
    for (const xir_value *v = p->net->all_params; v && !p->status; v = value_params(v)->next) add_value(p, v);
}

/* A recorder without sources, which is not attached yet. NULL with a finding. */
static xir_provenance *make(xir_network *net, xir_diags *why) {
    if (!net) return (void)diag_null(why, "network"), NULL;
    if (net->provenance) {
        diag_fail(why, XIR_E_IN_USE, XIR_STR(""), "the network has a recorder already");
        return NULL;
    }
    xir_provenance *p = mem_new(&net->alloc, sizeof *p);
    if (!p) return (void)diag_memory(why), NULL;
    *p = (xir_provenance){ .net = net, .alloc = &net->alloc, .n_values = 1 };
    pointer_table_init(&p->value_at, p->alloc);
    network_retain(net);
    const bool ok = mem_reserve(p->alloc, (void **)&p->origins, &p->origin_room, 1, sizeof *p->origins) &&
                    mem_reserve(p->alloc, (void **)&p->values, &p->value_room, 1, sizeof *p->values);
    if (provenance_keep(p, ok)) {
        p->n_origins = 1;
        p->origins[0] = (origin){ ORIGIN_NONE, 0, 0, 0 };
        p->values[0] = (value_origin){ .a = 0 };
        add_step(p, XIR_STR(""));
    }
    p->first_slots = net->n_slots;
    p->first_params = net->n_params;
    return p;
}

/* Attaches a recorder that has its sources, or frees it. */
static xir_provenance *attach(xir_provenance *p, xir_diags *why) {
    provenance_settle(p);
    if (!p->status) {
        p->net->provenance = p;
        return p;
    }
    if (p->status == XIR_E_MEMORY) diag_memory(why);
    else diag_fail(why, p->status, XIR_STR(""), "the network is too large to be recorded");
    free_recorder(p);
    return NULL;
}

xir_provenance *xir_provenance_new(xir_network *net, xir_diags *why) {
    xir_provenance *p = make(net, why);
    if (!p) return NULL;
    if (!p->status) add_network(p);
    return attach(p, why);
}

xir_provenance *xir_provenance_from_tags(xir_network *net, xir_diags *why) {
    xir_provenance *p = make(net, why);
    if (!p) return NULL;
    if (!p->status) tags_to_origins(p, why);
    return attach(p, why);
}

/* ---- copies ----------------------------------------------------------------------------------------------------- */

/* The networks of a copy, both in the same order. */
typedef struct pairing {
    const xir_provenance *from;
    xir_provenance       *to;
    origin_walk           walk;      /* up to sources of the first  */
    bool                  differ;
} pairing;

static bool gives_origin(pairing *c, uint32_t target, uint32_t of) {
    u32_list *found = &c->walk.found;
    if (!of) return true;
    if (!provenance_keep(c->to, origin_walk_sources(&c->walk, of))) return false;
    for (size_t i = 0; i < found->n; i++) found->items[i]++;   /* sources have the origins from 1 on */
    origin_absorb(c->to, target, found->items, found->n);
    return !c->to->status;
}

static bool gives_value(pairing *c, const xir_value *from, const xir_value *to) {
    size_t n;
    uint32_t all = 0;
    const uint32_t of = value_origin_of(c->from, from);
    if (!of || pointer_table_find(&c->to->value_at, to)) return true;
    const int64_t *ids = value_walk_ids(&c->walk, of, &n);
    if (!provenance_keep(c->to, ids)) return false;
    for (size_t i = 0; i < n && value_source_join(c->to, &all, ids[i]); i++) {}
    if (!c->to->status && all) provenance_keep(c->to, pointer_table_add(&c->to->value_at, to, all));
    return !c->to->status;
}

static bool pair_ops(void *user, const xir_op *from, const xir_op *to) {
    pairing *c = user;
    c->differ |= from->cls != to->cls || from->n_outputs != to->n_outputs || from->n_inputs != to->n_inputs;
    if (c->differ || !gives_origin(c, to->slot, origin_of_op(c->from, from))) return false;
    for (uint32_t i = 0; i < from->n_outputs; i++)
        if (!gives_value(c, &op_outputs(from)[i], &op_outputs(to)[i])) return false;
    for (uint32_t i = 0; i < from->n_inputs; i++) {
        const xir_value *v = op_inputs(from)[i].value, *w = op_inputs(to)[i].value;
        c->differ |= !v != !w || (v && value_is_params(v) != value_is_params(w));
        if (c->differ) return false;
        if (!v || value_op(v)) continue;
        if (!gives_value(c, v, w)) return false;
        if (value_is_params(v) && !origin_of_value(c->to, w) &&
            !gives_origin(c, ORIGIN_PARAMS | value_params(w)->number, origin_of_value(c->from, v))) return false;
    }
    const bool ok = ops_each_pair(from, to, pair_ops, c);
    c->differ |= !ok && !c->to->status;
    return ok;
}

/* A source of the copy's recorder. Its name becomes one of the copy's network, which may outlive the other. */
static bool add_source_of(xir_provenance *p, const xir_provenance_source *source) {
    const label *name = net_name(p->net, source->name);
    return provenance_keep(p, name) &&
           source_add(p, (xir_provenance_source){ source->id, name_text(name), source->cls });
}

xir_provenance *xir_provenance_clone(const xir_provenance *from, xir_network *copy, xir_diags *why) {
    if (!from) return (void)diag_null(why, "recorder"), NULL;
    if (from->status) {
        diag_fail(why, from->status, XIR_STR(""), "the recorder has failed");
        return NULL;
    }
    xir_provenance *p = make(copy, why);
    if (!p) return NULL;
    pairing c = { .from = from, .to = p, .walk.p = from, .differ = copy->ctx != from->net->ctx };
    for (size_t i = 0; i < from->n_sources && !p->status && !c.differ; i++) {
        if (add_source_of(p, &from->sources[i])) origin_add(p, ORIGIN_NONE, 0, 0);
    }
    const xir_op *op = from->net->first, *of = copy->first;
    for (; op && of && !p->status && !c.differ; op = op->next, of = of->next) pair_ops(&c, op, of);
    c.differ |= !p->status && (op || of);
    origin_walk_free(&c.walk);
    if (!c.differ) return attach(p, why);
    diag_fail(why, XIR_E_INVALID, XIR_STR(""), "the network is not a copy of the one that is recorded");
    free_recorder(p);
    return NULL;
}
