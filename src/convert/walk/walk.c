/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The walk: in execution order, the ops that a row or hook makes replace the node, or the node stays. */
#include <stdio.h>
#include "walk/opened.h"
#include "walk/walk.h"
#include "provenance.h"
#include "support/spent.h"

/* ---- a run ------------------------------------------------------------------------------------------------------ */

void conversion_begin(conversion *c, xir_network *net, xir_diags *why) {
    *c = (conversion){ .ctx = xir_network_context(net), .net = net, .why = why, .prefix = "" };
    for (const xir_op *op = xir_network_first(net); op && !c->dialect; op = xir_op_next(op)) {
        c->dialect = dialect_of_class(op->cls);
    }
    arena_init(&c->scratch, context_alloc(c->ctx));
    arena_init(&c->brief, context_alloc(c->ctx));
    pointer_table_init(&c->class_of, context_alloc(c->ctx));
    text_table_init(&c->class_named, context_alloc(c->ctx));
    pointer_table_init(&c->permuted_of, context_alloc(c->ctx));
    pointer_table_init(&c->stayed.of, context_alloc(c->ctx));
    inlining_begin(c);
}

void conversion_end(conversion *c) {
    const xir_allocator *alloc = context_alloc(c->ctx);
    converted_end(c);
    inlining_end(c);
    arena_free(&c->scratch);
    arena_free(&c->brief);
    pointer_table_free(&c->class_of);
    text_table_free(&c->class_named);
    pointer_table_free(&c->permuted_of);
    pointer_table_free(&c->stayed.of);
    mem_free(alloc, c->stayed.rows, c->stayed.room * sizeof *c->stayed.rows);
    mem_free(alloc, (void *)c->classes, c->class_room * sizeof *c->classes);
    mem_free(alloc, c->permuted, c->permuted_room * sizeof *c->permuted);
    mem_free(alloc, (void *)c->known, c->known_room * sizeof *c->known);
}

/* ---- one node --------------------------------------------------------------------------------------------------- */

/* Returns true if the inputs are made earlier. Otherwise the op is part of a cycle, or follows one in a file that can't
 * be sorted. */
static bool inputs_are_ready(const xir_node *at) {
    for (size_t i = 0; at->c->cyclic && i < xir_op_input_count(at->op); i++) {
        const xir_value *v = xir_op_input(at->op, (int64_t)i);
        if (v && xir_value_op(v) && !xir_op_before(xir_value_op(v), at->op)) return false;
    }
    return true;
}

static void unknown_op(xir_node *at) {
    conversion *c = at->c;
    if (!c->checking) {
        xir_node_unsupported(at, "XIR has no known equivalent");
        return;
    }
    at->fate = NODE_STAYS;
    xir_str key = xir_class_key(xir_op_class(at->op));
    size_t prefix = strlen(at->cls->dialect->prefix);
    int n = (int)(key.size - prefix < 120 ? key.size - prefix : 120);
    if (at->cls->foreign) {
        node_say(at, XIR_NOTE, XIR_OK, NULL, "%.*s is unknown: it was not checked", n, key.data + prefix);
        return;
    }
    if (at->cls->newer) {
        node_say(at, XIR_NOTE, XIR_OK, NULL,
                 "%.*s is unknown: it was not checked; versions of the %s are known up to %lld, "
                 "this graph has %lld", n, key.data + prefix, convert_operators(at->cls->dialect),
                 (long long)DECLARED(at->cls->dialect, newest), (long long)at->cls->version);
        return;
    }
    if (node_is_silent(at, XIR_ERROR, XIR_E_UNKNOWN)) return;
    const xir_convert_row *near = row_like(c->ctx, at->cls->dialect, key);
    node_say(at, XIR_ERROR, XIR_E_UNKNOWN, NULL, "the %s of %s has no %.*s%s%s%s", convert_operators(at->cls->dialect),
             at->cls->dialect->name, n, key.data + prefix,
             near ? "; did you mean '" : "", near ? near->name + prefix : "", near ? "'?" : "");
}

/* Returns true if the format's own check has found an error about the op. */
static bool is_faulty(const conversion *c, const xir_node *at) {
    const int64_t number = convert_number(at->cls->dialect, at->op);
    return number >= 0 && (uint64_t)number < c->n_faulty && c->faulty[number];
}

/* Runs before the row: sets the fate of a node that it must not convert. The format's own check has found what is
 * wrong here, if it has one. */
static inline void look_at(conversion *c, xir_node *at) {
    const convert_class *cls = at->cls;
    c->mute = c->checking && DECLARED(cls->dialect, check_file);
    if (c->mute && is_faulty(c, at)) at->fate = NODE_WRONG;
    else if ((!cls->row || cls->foreign) && DECLARED(cls->dialect, function) &&
             (at->function = cls->dialect->function(at))) {}
    else if (xir_node_failed(at)) {}
    else if (!cls->row) unknown_op(at);
    else if (cls->n_slots && !node_find_inputs(at)) at->fate = at->fate == NODE_NO_MEMORY ? at->fate : NODE_WRONG;
    else if (!node_is_sound(at) || !inputs_are_ready(at)) at->fate = xir_node_failed(at) ? at->fate : NODE_WRONG;
    c->mute = false;
}

/* An opened node's results come from its body. They take the names of its outputs. */
static void resume(xir_node *at) {
    at->mark = at->opened->mark;
    at->opened->resume(at);
    for (size_t i = 0; i < at->n_out && !xir_node_failed(at); i++) {
        xir_value *v = at->given[i];
        if (v && node_has_inside(at, v) && xir_value_set_name(v, XIR_STR(""))) (void)node_no_memory(at);
    }
}

static xir_status run_node(conversion *c, xir_op *op, const convert_class *cls) {
    xir_node at;
    node_begin(c, op, cls, &at);
    if (!at.given) return XIR_E_MEMORY;

    at.opened = opened_of(c, op);
    c->nodes += !at.opened;
    if (!at.opened) look_at(c, &at);
    if (xir_node_failed(&at)) {}
    else if (at.opened) resume(&at);
    else if (at.function) at.function(&at);
    else if (c->checking && DECLARED(cls->dialect, check) && !cls->dialect->check(&at)) at.fate = NODE_WRONG;
    else if (cls->row->hook) cls->row->hook(&at);
    else row_run(&at);

    if (at.fate == NODE_OPENED) return c->no_memory ? XIR_E_MEMORY : XIR_OK;
    if (!xir_node_failed(&at) && node_all_given(&at) && node_give_letters(&at) && node_put_in_place(&at)) {
        if (at.opened) opened_close(c, at.opened);
        c->changed++;
        return XIR_OK;
    }
    c->bytes.stays = true;
    node_undo(&at);
    node_discard(&at);
    if (at.fate == NODE_NO_MEMORY) return XIR_E_MEMORY;
    if (at.fate == NODE_STAYS && DECLARED(cls->dialect, types)) cls->dialect->types(&at);
    return at.fate == NODE_NO_MEMORY || c->no_memory || !stayed_add(c, &at) ? XIR_E_MEMORY : XIR_OK;
}

/* A foreign network may return nothing, while what XIR's ops compute is returned: unused ones at the end are erased. */
static void drop_unreturned(conversion *c) {
    xir_op *output = xir_network_output_op(c->net), *op;
    if (!output || xir_op_input_count(output)) return;
    while ((op = xir_op_prev(output)) && !xir_op_is(op, xir_input_class()) &&
           !xir_class_is_opaque(xir_op_class(op)) && !op_is_used(op) && xir_op_erase(op) == XIR_OK) c->changed++;
}

static xir_status convert_op(conversion *c, xir_op *op, bool own) {
    const convert_class *cls = conversion_class_of(c, op);
    if (!cls || (own && !conversion_look_through(c, op))) return XIR_E_MEMORY;
    return cls->dialect ? run_node(c, op, cls) : XIR_OK;
}

xir_status conversion_run(conversion *c) {
    bool sorted;
    provenance_scope scope;
    spent_begin(c->within, c->net);
    converted_begin(c);
    xir_status status = conversion_order(c, &sorted);
    c->changed += !sorted && !c->cyclic;
    const bool by_rows = c->checking && !DECLARED(c->dialect, check_file);
    if (!status && by_rows) status = conversion_check_values(c, sorted || c->cyclic);
    bool prepared = false;
    if (!status && !defaults_begin(c)) status = XIR_E_MEMORY;
    const xir_value *newest = c->net->all_params;
    if (!status && !c->back.to && DECLARED(c->dialect, prepare)) status = c->dialect->prepare(c->net, &prepared);
    converted_params(c, newest);
    c->changed += prepared;
    for (xir_op *op = xir_network_first(c->net), *next; op && !status; op = next) {
        xir_op *const before = xir_op_prev(op);
        next = xir_op_next(op);
        const bool own = !xir_class_is_opaque(xir_op_class(op));
        if (!c->back.to && own && (!c->dialect || c->cyclic)) continue;
        provenance_begin(c->net, &scope, op);
        status = c->back.to ? back_run(c, op) : convert_op(c, op, own);
        provenance_end(c->net, &scope);
        converted_turn(c);
        if (c->back.to) continue;
        if (c->in.back) next = before ? xir_op_next(before) : xir_network_first(c->net);
        c->in.back = false;
        if (!status && c->cancelled)
            status = diag_fail(c->why, XIR_E_CANCELLED, XIR_STR(""), "%sthe run was cancelled", c->prefix);
    }
    if (status) opened_undo_all(c);
    converted_end(c);
    if (!status && c->back.to) status = back_finish(c);
    if (!status && !c->back.to) status = lists_settle(c);
    if (!status && !c->checking) status = stayed_report(c);
    if (!status) status = defaults_end(c);
    if (!status && !c->checking && !c->back.to && c->dialect) drop_unreturned(c);
    if (status == XIR_E_MEMORY) diag_memory(c->why);
    return status ? status : c->status;
}
