/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Passes on a view. They run on a network of its own, made of the view's ops, whose ends are the view's inputs and
 * outputs. Then a mapping copies what they have left into the place of those ops: before the last of them, where all
 * that enters the view has been made. Ops between the first and the last that depend on the view move after the copies.
 * Whatever may fail comes before the first change, except giving the view its new ops. */
#include <xir/mapping.h>
#include "copying.h"
#include "manager/manager.h"
#include "provenance_ask.h"
#include "support/upkeep.h"
#include "view.h"

typedef struct place {
    xir_view    *view, *inner;   /* the caller's, and the same without Input and Output ops          */
    xir_network *net, *own;      /* the caller's, and the one that the passes get                    */
    xir_mapping *map;
    xir_view    *left;           /* the ops that the passes left, without Input and Output           */
    xir_value  **outputs;        /* of the own network; then what stands for them in the caller's    */
    xir_op     **members;        /* of the view, when all is done                                    */
    size_t       n_members, member_room, output_room;
    int64_t      next_op, next_value;   /* ids below are those of the caller's network              */
    uint32_t     slots;          /* before the copies                                               */
    xir_diags   *why;
} place;

static bool is_inner(const xir_op *op, void *user) { return (void)user, !is_source(op) && !is_sink(op); }

/* The findings of building calls in the caller's network are those of this call. */
static xir_status take_findings(const place *at, size_t from, xir_status was, xir_status status) {
    const xir_diag *d;
    if (!was) at->net->status = XIR_OK;
    if (status == XIR_E_MEMORY) return diag_memory(at->why);
    for (size_t i = from; at->why && (d = xir_diags_at(at->net->diags, i)); i++) xir_diags_append(at->why, d);
    return status;
}

/* ---- before the passes ------------------------------------------------------------------------------------------ */

static xir_status make_inner(place *at) {
    const xir_allocator *alloc = &at->net->alloc;
    const size_t bytes = (at->view->n_ops + 1) * sizeof(xir_op *);
    xir_op **ops = mem_new(alloc, bytes);
    size_t n = 0;
    for (size_t i = 0; ops && i < at->view->n_ops; i++) {
        if (is_inner(at->view->ops[i], NULL)) ops[n++] = at->view->ops[i];
    }
    at->inner = ops ? xir_view_ops(at->net, ops, n) : NULL;
    mem_free(alloc, (void *)ops, ops ? bytes : 0);
    return at->inner ? XIR_OK : XIR_E_MEMORY;
}

/* ---- what the passes left --------------------------------------------------------------------------------------- */

static xir_status check_types(const place *at, const char *noun, xir_value *const *own, const value_list *values) {
    for (size_t i = 0; i < values->n; i++) {
        if (!own[i] || (!value_op(own[i]) && !value_is_params(own[i])))   /* or one that no op makes */
            return diag_fail(at->why, XIR_E_INVALID, XIR_STR(""), "the passes left no %s %zu of the view", noun, i);
        if (is_same_type(own[i]->type, values->items[i]->type)) continue;
        return diag_fail(at->why, XIR_E_TYPE, XIR_STR(""), "the passes changed the type of %s %zu of the view", noun,
                         i);
    }
    return XIR_OK;
}

static xir_status check_count(const place *at, const char *noun, size_t found, size_t expected) {
    if (found == expected) return XIR_OK;
    return diag_fail(at->why, XIR_E_INVALID, XIR_STR(""), "the passes changed the number of %ss of the view: expected "
                     "%zu, found %zu", noun, expected, found);
}

/* Params that the passes did not touch are those of the caller's network. */
static bool is_untouched(const xir_value *now, const xir_value *was) {
    const params *a = value_params(now), *b = value_params(was);
    return a->data == b->data && a->allow_no_data == b->allow_no_data && same_kind(now, was) &&
           xir_str_equal(xir_value_name(now), xir_value_name(was)) &&
           xir_map_equal(xir_value_tags(now), xir_value_tags(was));
}

static bool map_params(const place *at) {
    for (xir_value *v = at->own->all_params; v; v = value_params(v)->next) {
        xir_value *was = v->id >= 0 && v->id < at->next_value ? net_find_value(at->net, v->id) : NULL;
        if (was && value_is_params(was) && is_untouched(v, was) && !mapping_add_value(at->map, v, was)) return false;
    }
    return true;
}

/* Checks the ends and maps the inputs. */
static xir_status map_inputs(place *at) {
    const value_list *in = &at->inner->inputs, *out = &at->inner->outputs;
    const size_t n_in = xir_network_inputs(at->own, NULL, 0), n_out = xir_network_outputs(at->own, NULL, 0);
    xir_status status = check_count(at, "input", n_in, in->n);
    if (!status) status = check_count(at, "output", n_out, out->n);
    if (status) return status;
    at->output_room = (n_in > n_out ? n_in : n_out) + 1;
    at->outputs = mem_new(&at->net->alloc, at->output_room * sizeof *at->outputs);
    at->map = xir_mapping_new(at->own, at->net);
    if (!at->outputs || !at->map) return diag_memory(at->why);
    xir_network_inputs(at->own, at->outputs, n_in);
    status = check_types(at, "input", at->outputs, in);
    for (size_t i = 0; i < n_in && !status; i++) {
        if (!mapping_add_value(at->map, at->outputs[i], in->items[i])) status = diag_memory(at->why);
    }
    if (status) return status;
    xir_network_outputs(at->own, at->outputs, n_out);
    return check_types(at, "output", at->outputs, out);
}

/* Finds the outputs in the caller's network. */
static bool map_outputs(const place *at) {
    for (size_t i = 0; i < at->inner->outputs.n; i++) {
        xir_value *now = xir_mapping_value(at->map, at->outputs[i]);
        if (!now && value_is_params(at->outputs[i])) now = mapping_copy_params(at->map, at->outputs[i]);
        if (!now || (value_is_params(now) && now->id < 0 && value_number(now) != XIR_OK)) return false;
        at->outputs[i] = now;
    }
    return true;
}

/* ---- changes ---------------------------------------------------------------------------------------------------- */

static bool is_copy(const place *at, const xir_op *op) { return op->slot >= at->slots; }

/* Marks what depends on an op between the first and the last of the view. */
static void mark_users(const place *at, const xir_op *op) {
    const xir_view *inner = at->inner;
    const uint32_t first = inner->ops[0]->position, last = inner->ops[inner->n_ops - 1]->position;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        for (const xir_use *u = op_outputs(op)[i].uses; u; u = u->next) {
            xir_op *user = (xir_op *)(uintptr_t)placed_user(u);
            if (!user || view_has(inner, user) || is_copy(at, user)) continue;
            if (user->position > first && user->position < last) user->flags |= OP_REACHED;
        }
    }
}

/* Moves those ops after the copies, in their order. */
static void move_dependent(const place *at) {
    const xir_view *inner = at->inner;
    xir_op *first = inner->ops[0], *last = inner->ops[inner->n_ops - 1];
    for (xir_op *op = first; op != last; op = op->next) {
        if (!is_copy(at, op) && (view_has(inner, op) || op->flags & OP_REACHED)) mark_users(at, op);
    }
    for (xir_op *op = first, *next; op != last; op = next) {
        next = op->next;
        if (!(op->flags & OP_REACHED)) continue;
        op->flags &= ~(uint32_t)OP_REACHED;
        xir_op_move(op, last);
    }
}

/* Ops and values that were kept get their ids again. There is room in the tables, because as many have left them. */
static void keep_ids(const place *at) {
    for (size_t i = 0; i < at->left->n_ops; i++) {
        const xir_op *op = at->left->ops[i];
        xir_op *copy = mapping_op(at->map, op);
        if (op->id < at->next_op && !net_find_op(at->net, op->id)) op_set_id(copy, op->id);
        for (uint32_t k = 0; k < op->n_outputs && k < copy->n_outputs; k++) {
            const int64_t id = op_outputs(op)[k].id;
            if (id < at->next_value && !net_find_value(at->net, id)) value_set_id(&op_outputs(copy)[k], id);
        }
    }
}

/* Nothing here can fail. */
static void change(const place *at) {
    move_dependent(at);
    for (size_t i = 0; i < at->inner->outputs.n; i++) xir_value_replace(at->inner->outputs.items[i], at->outputs[i]);
    for (size_t i = at->inner->n_ops; i-- > 0;) xir_network_remove(at->net, at->inner->ops[i]);
    keep_ids(at);
}

static void take_copies_back(const place *at) {
    for (size_t i = at->left->n_ops; i-- > 0;) {
        xir_op *copy = mapping_op(at->map, at->left->ops[i]);
        if (copy) xir_network_remove(at->net, copy);
    }
}

static xir_status put_copies(place *at) {
    at->member_room = at->view->n_ops + at->left->n_ops + 1;
    at->members = mem_new(&at->net->alloc, at->member_room * sizeof *at->members);
    if (!at->members || !map_params(at) || !net_build_ids(at->net)) return diag_memory(at->why);
    const size_t findings = xir_diags_count(at->net->diags);
    const xir_status was = at->net->status;
    at->slots = at->net->n_slots;
    xir_status status = xir_mapping_clone_view(at->map, at->left, at->inner->ops[at->inner->n_ops - 1]);
    const bool done = !status && map_outputs(at) && net_reserve_ids(at->net, 1, 1);
    if (done) return XIR_OK;
    if (!status) take_copies_back(at);
    at->view->epoch = at->net->epoch;   /* nothing in the view has changed */
    return take_findings(at, findings, was, status ? status : XIR_E_MEMORY);
}

/* ---- what the copies stand for ---------------------------------------------------------------------------------- */

/* Records the sources of an origin in the view's network, there being ops of the view and their sub ops: they are
 * found by their ids, unless they are its Input or Output. */
static void record_copy(const place *at, origin_walk *w, uint32_t from, uint32_t target) {
    xir_provenance *p = at->net->provenance;
    if (!from || !provenance_keep(p, origin_walk_sources(w, from))) return;
    for (size_t i = 0; i < w->found.n; i++) {
        const xir_provenance_source *source = &w->p->sources[w->found.items[i]];
        const bool is_end = source->cls->traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK);
        const xir_op *op = source->id < at->next_op ? net_find_op(at->net, source->id) : NULL;
        w->found.items[i] = op && (!is_end || op->flags & OP_CHILD) ? origin_of_op(p, op) : 0;
    }
    origin_absorb(p, target, w->found.items, w->found.n);
}

typedef struct recording {
    const place *at;
    origin_walk  walk;
} recording;

/* An op, and its sub ops. */
static bool record_op(void *user, const xir_op *op, const xir_op *copy) {
    recording *r = user;
    record_copy(r->at, &r->walk, origin_of_op(r->walk.p, op), copy->slot);
    return ops_each_pair(op, copy, record_op, user);
}

static xir_status record_copies(const place *at) {
    const xir_provenance *own = at->own->provenance;
    if (!own || !at->net->provenance) return XIR_OK;
    if (!provenance_keep(at->net->provenance, !own->status)) return at->net->provenance->status;
    recording r = { at, { .p = own } };
    for (size_t i = 0; i < at->left->n_ops; i++)
        (void)record_op(&r, at->left->ops[i], mapping_op(at->map, at->left->ops[i]));
    for (const xir_value *v = at->own->all_params; v; v = value_params(v)->next) {
        xir_value *now;
        if (mapping_value(at->map, v, &now) && now && value_is_params(now))
            record_copy(at, &r.walk, origin_of_value(own, v), ORIGIN_PARAMS | value_params(now)->number);
    }
    origin_walk_free(&r.walk);
    return at->net->provenance->status;
}

static xir_status not_recorded(const place *at, xir_status status) {
    return diag_fail(at->why, status, XIR_STR(""), "what becomes of the ops cannot be recorded");
}

/* The view's network gets a recorder, too; *own is NULL if the caller's has none. */
static xir_status begin_recording(const place *at, xir_provenance **own) {
    *own = at->net->provenance ? xir_provenance_new(at->own, at->why) : NULL;
    if (!at->net->provenance) return XIR_OK;
    const xir_status status = *own ? xir_provenance_step(at->net->provenance, XIR_STR("view")) : XIR_E_MEMORY;
    return status && *own ? not_recorded(at, status) : status;
}

/* Ends the view with the ops that it has now. */
static xir_status renew(place *at) {
    for (size_t i = 0; i < at->view->n_ops; i++) {
        if (at->view->ops[i]->flags & OP_PLACED) at->members[at->n_members++] = at->view->ops[i];
    }
    for (size_t i = 0; i < at->left->n_ops; i++) at->members[at->n_members++] = mapping_op(at->map, at->left->ops[i]);
    return view_remake(at->view, at->members, at->n_members) ? diag_memory(at->why) : XIR_OK;
}

static xir_status put_back(place *at) {
    at->left = xir_view_if(at->own, is_inner, NULL);
    xir_status status = at->left ? map_inputs(at) : diag_memory(at->why);
    if (!status) status = put_copies(at);
    if (status) return status;
    status = record_copies(at);
    if (status) {
        take_copies_back(at);
        at->view->epoch = at->net->epoch;   /* nothing in the view has changed */
        return not_recorded(at, status);
    }
    change(at);
    return renew(at);
}

static void clean_up(const place *at) {
    const xir_allocator *alloc = &at->net->alloc;
    mem_free(alloc, (void *)at->outputs, at->output_room * sizeof *at->outputs);
    mem_free(alloc, (void *)at->members, at->member_room * sizeof *at->members);
    xir_mapping_free(at->map);
    xir_view_free(at->left);
    xir_network_free(at->own);
    xir_view_free(at->inner);
}

/* The network of the view. */
static xir_status make_own(place *at) {
    const size_t findings = xir_diags_count(at->net->diags);
    const xir_status was = at->net->status;
    xir_status status = make_inner(at);
    if (!status && at->inner->n_ops) {
        at->own = xir_view_to_network(at->inner);
        const xir_diag *d = at->own ? NULL : xir_diags_at(at->net->diags, findings);
        if (!at->own) status = d ? d->code : XIR_E_MEMORY;
    }
    return status ? take_findings(at, findings, was, status) : XIR_OK;
}

/* Returns true if the passes have changed anything since `epoch`. The bytes of Params change without a new one. */
static bool is_changed(const place *at, uint64_t epoch) {
    for (const xir_value *v = at->own->all_params; v && at->own->epoch == epoch; v = value_params(v)->next) {
        const xir_value *was = v->id >= 0 ? net_find_value(at->net, v->id) : NULL;
        if (v->id >= 0 && !(was && value_is_params(was) && is_untouched(v, was))) return true;
    }
    return at->own->epoch != epoch;
}

xir_status xir_pipeline_run_view(const xir_pipeline *p, xir_view *view, const xir_pass_settings *settings,
                                 xir_pass_report *report, xir_diags *why) {
    if (!p) return diag_null(why, "pipeline");
    xir_status status = view_check(view, why);
    if (status) return status;
    place at = { .view = view, .net = view->net, .why = why, .next_op = view->net->next_op_id,
                 .next_value = view->net->next_value_id };
    if (report) report_clear(report);
    view->busy = true;
    status = make_own(&at);
    if (!status && at.own) {
        const uint64_t epoch = at.own->epoch;
        xir_provenance *own;
        status = begin_recording(&at, &own);
        if (!status) status = xir_pipeline_run(p, at.own, settings, report, why);
        if (!status && is_changed(&at, epoch)) status = put_back(&at);
        xir_provenance_free(own);
    }
    clean_up(&at);
    view->busy = false;
    return status;
}
