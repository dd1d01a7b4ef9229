/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Cuts a part out of a network, at values: what the end values need, back to the begin values. Finds the ops that are
 * needed, clones the network, and removes the others from the clone, so that all its other contents are kept. */
#include <inttypes.h>
#include "region.h"
#include "view.h"

typedef struct extracting {
    const xir_network   *net;
    const xir_allocator *alloc;
    xir_diags           *why;
    xir_status           status;
    xir_value *const    *begin, **end;   /* `end` has room for n_end and all outputs of the network */
    size_t               n_begin, n_end, end_room;
    pointer_table        begins;         /* positions among the begin values                        */
    uint8_t             *reached;        /* of each begin value, whether it is needed               */
    uint64_t            *needed;         /* ops, a bit for each slot                                */
    uint8_t             *inputs;         /* of each output of the Input op, whether it is needed    */
    const xir_op       **pending;        /* ops whose inputs are still to be looked at              */
    size_t               slots, n_pending;
    xir_network         *copy;
    xir_op             **copies;         /* by slot of the original                                 */
    xir_op              *input;          /* of the copy                                             */
} extracting;

static bool has(const uint64_t *bits, const xir_op *op) { return bits[op->slot / 64] >> (op->slot % 64) & 1; }
static void put(uint64_t *bits, const xir_op *op)       { bits[op->slot / 64] |= (uint64_t)1 << (op->slot % 64); }

/* ---- what is given ---------------------------------------------------------------------------------------------- */

static bool check_value(extracting *x, const xir_value *v, const char *word, size_t i) {
    const xir_op *op = v ? value_op(v) : NULL;
    const char *fault = !v || !value_net(v)               ? "NULL"
                      : value_net(v) != x->net            ? "of another network"
                      : value_is_params(v)                ? "Params"
                      : !op || op->flags & OP_ERASED      ? "not made by any op"
                      : op->flags & OP_CHILD              ? "made by a sub op"
                      : !(op->flags & OP_PLACED)          ? "made by an op that is not placed"
                      : NULL;
    if (!fault) return true;
    x->status = diag_fail(x->why, v ? XIR_E_INVALID : XIR_E_MISSING, XIR_STR(""), "%s value %zu is %s", word, i, fault);
    return false;
}

static bool check_values(extracting *x, pointer_table *seen, xir_value *const *values, size_t n, const char *word) {
    for (size_t i = 0; i < n; i++) {
        if (!check_value(x, values[i], word, i)) return false;
        const uint32_t *place = pointer_table_add(seen, values[i], (uint32_t)i);
        if (!place) return diag_no_memory(&x->status, x->why);
        if (*place == i) continue;
        x->status = diag_fail(x->why, XIR_E_INVALID, XIR_STR(""), "%s value %zu is value %" PRId64 ", which is given "
                              "twice", word, i, values[i]->id);
        return false;
    }
    return true;
}

/* ---- which ops are needed --------------------------------------------------------------------------------------- */

/* Notes that a value is needed. */
static void need(extracting *x, const xir_value *v) {
    const uint32_t *place = pointer_table_find(&x->begins, v);
    const xir_op *maker = placed_maker(v);
    if (place) x->reached[*place] = 1;
    if (place || !maker) return;
    if (maker == xir_network_input_op(x->net)) {
        if (value_op(v) == maker) x->inputs[v - op_outputs(maker)] = 1;
    } else if (!has(x->needed, maker)) {
        put(x->needed, maker);
        x->pending[x->n_pending++] = maker;
    }
}

static bool need_inputs(void *user, xir_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++)
        if (op_inputs(op)[i].value) need(user, op_inputs(op)[i].value);
    return op_each_child(op, need_inputs, user);
}

/* Returns true if an op, or a sub op, uses a begin value or what such an op makes: stops then. */
static bool is_independent(void *user, xir_op *op) {
    const extracting *x = user;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        const xir_op *maker = v ? placed_maker(v) : NULL;
        if (v && (pointer_table_find(&x->begins, v) || (maker && has(x->needed, maker)))) return false;
    }
    return op_each_child(op, is_independent, user);
}

/* The outputs of the network that depend on a begin value, each once. */
static bool find_ends(extracting *x) {
    const xir_op *output = xir_network_output_op(x->net);
    pointer_table seen;
    pointer_table_init(&seen, x->alloc);
    for (xir_op *op = x->net->first; op; op = op->next)
        if (!is_independent(x, op)) put(x->needed, op);
    for (uint32_t i = 0; output && i < output->n_inputs && !x->status; i++) {
        xir_value *v = op_inputs(output)[i].value;
        const bool depends = v && (!x->n_begin || pointer_table_find(&x->begins, v) ||
                                   (value_op(v) && has(x->needed, value_op(v))));
        if (!depends || value_is_params(v)) continue;
        if (!check_value(x, v, "output", i)) break;   /* nothing has validated the network */
        const uint32_t *place = pointer_table_add(&seen, v, i);
        if (!place) diag_no_memory(&x->status, x->why);
        else if (*place == i) x->end[x->n_end++] = v;
    }
    pointer_table_free(&seen);
    memset(x->needed, 0, (x->slots / 64 + 1) * sizeof *x->needed);
    if (!x->status && !x->n_end)
        x->status = diag_fail(x->why, XIR_E_INVALID, XIR_STR(""), x->n_begin
                              ? "no output of the network depends on a begin value" : "the network has no outputs");
    return !x->status;
}

static bool find_needed(extracting *x) {
    for (size_t i = 0; i < x->n_end; i++) need(x, x->end[i]);
    while (x->n_pending) (void)need_inputs(x, (xir_op *)(uintptr_t)x->pending[--x->n_pending]);
    for (size_t i = 0; i < x->n_begin; i++) {
        if (x->reached[i]) continue;
        const xir_str name = xir_value_name(x->begin[i]);
        x->status = diag_fail(x->why, XIR_E_INVALID, XIR_STR(""), "begin value %" PRId64 "%s%.*s%s is not needed: no "
                              "end value depends on it, except through other begin values", x->begin[i]->id,
                              name.size ? " '" : "", name.size > 80 ? 80 : (int)name.size, name.data,
                              name.size ? "'" : "");
        return false;
    }
    return true;
}

/* ---- the network of its own ------------------------------------------------------------------------------------- */

static xir_value *copy_of(const extracting *x, const xir_value *v) {
    return &op_outputs(x->copies[value_op(v)->slot])[v - op_outputs(value_op(v))];
}

/* The values that the copy begins with. Returns their number. */
static size_t coming(const extracting *x, const xir_value **out) {
    const xir_op *input = xir_network_input_op(x->net);
    size_t n = 0;
    for (; n < x->n_begin; n++) out[n] = x->begin[n];
    for (uint32_t i = 0; input && i < input->n_outputs; i++)
        if (x->inputs[i]) out[n++] = &op_outputs(input)[i];
    return n;
}

/* The Input has the id, the name and the tags of the one that the network has. */
static bool take_over(xir_op *to, xir_op *from) {
    const op_more *more = op_more_of(from);
    const int64_t id = from->id;
    if (more && (more->tags || more->extra)) {
        if (!op_need_more(to)) return false;
        op_more_of(to)->tags = more->tags;
        op_more_of(to)->extra = more->extra;
    }
    op_set_label(to, op_label(from));
    return op_set_own_target(to, op_target(from)) && !xir_network_remove(from->net, from) && op_set_id(to, id);
}

/* Gives `to` the properties of `from`: id, name, tags, memory type, and uses. A value that had no op may have no id:
 * then `to` gets a new one. False without memory. */
static bool move_value(xir_value *to, xir_value *from) {
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

static bool make_input(extracting *x, const xir_value **values, const xir_type **types) {
    const size_t n = coming(x, values);
    for (size_t i = 0; i < n; i++) types[i] = copy_of(x, values[i])->type;
    x->input = view_make_end(x->copy, x->copy->ctx->input_class, types, n, 0);
    if (!x->input) return false;
    op_link(x->input, x->copy->first);
    for (size_t i = 0; i < n; i++)
        if (!move_value(&op_outputs(x->input)[i], copy_of(x, values[i]))) return false;
    const xir_op *old = xir_network_input_op(x->net);
    return !old || take_over(x->input, x->copies[old->slot]);
}

static bool make_output(extracting *x, const xir_value *const *values, size_t n) {
    const xir_op *old = xir_network_output_op(x->net);
    pointer_table places;
    pointer_table_init(&places, x->alloc);
    bool good = true;
    for (size_t i = 0; i < n && good; i++) good = pointer_table_add(&places, values[i], (uint32_t)i);
    for (size_t i = 0; i < x->n_end && good; i++) {   /* from now on the values of the copy */
        const uint32_t *place = pointer_table_find(&places, x->end[i]);
        x->end[i] = place ? &op_outputs(x->input)[*place] : copy_of(x, x->end[i]);
    }
    pointer_table_free(&places);
    if (good && old) return !xir_op_set_inputs(x->copies[old->slot], x->end, x->n_end);
    xir_op *output = good ? view_make_end(x->copy, x->copy->ctx->output_class, NULL, 0, x->n_end) : NULL;
    if (!output) return false;
    for (size_t i = 0; i < x->n_end; i++) use_link(&op_inputs(output)[i], output, x->end[i]);
    op_link(output, NULL);
    return true;
}

static bool remove_others(extracting *x) {
    const xir_op *input = xir_network_input_op(x->net), *output = xir_network_output_op(x->net);
    for (const xir_op *op = x->net->last; op; op = op->prev) {
        if (op == input || op == output || has(x->needed, op)) continue;
        if (xir_network_remove(x->copy, x->copies[op->slot])) return false;
    }
    return true;
}

/* An op that makes a begin value stays if it is needed for something else. Its output is then a value that nothing
 * uses: it gets a new id. */
static bool number_others(extracting *x) {
    for (size_t i = 0; i < x->n_begin; i++) {
        const xir_op *maker = x->copies[value_op(x->begin[i])->slot];
        if (!(maker->flags & OP_ERASED) && value_number(copy_of(x, x->begin[i]))) return false;
    }
    return true;
}

static bool cut(extracting *x) {
    const xir_op *input = xir_network_input_op(x->net);
    const size_t room = x->n_begin + (input ? input->n_outputs : 0) + 1;
    const xir_value **values = mem_new(x->alloc, room * sizeof *values);
    const xir_type **types = mem_new(x->alloc, room * sizeof *types);
    x->copies = mem_new(x->alloc, x->slots * sizeof *x->copies);
    x->copy = x->copies ? xir_network_clone(x->net) : NULL;
    bool good = values && types && x->copy;
    xir_op *copy = x->copy ? x->copy->first : NULL;
    for (const xir_op *op = x->net->first; op && good; op = op->next, copy = copy->next) x->copies[op->slot] = copy;
    good = good && make_input(x, values, types) && make_output(x, values, x->input->n_outputs) && remove_others(x) &&
           number_others(x);
    mem_free(x->alloc, (void *)values, room * sizeof *values);
    mem_free(x->alloc, (void *)types, room * sizeof *types);
    return good || diag_no_memory(&x->status, x->why);
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

static bool prepare(extracting *x, xir_value *const *end) {
    const xir_op *input = xir_network_input_op(x->net), *output = xir_network_output_op(x->net);
    const size_t n_inputs = input ? input->n_outputs : 0, words = x->slots / 64 + 1;
    x->end_room = x->n_end + (output ? output->n_inputs : 0) + 1;
    x->end = mem_new(x->alloc, x->end_room * sizeof *x->end);
    x->reached = mem_new(x->alloc, x->n_begin + 1);
    x->needed = mem_new(x->alloc, words * sizeof *x->needed);
    x->inputs = mem_new(x->alloc, n_inputs + 1);
    x->pending = mem_new(x->alloc, x->slots * sizeof *x->pending);
    if (!x->end || !x->reached || !x->needed || !x->inputs || !x->pending) return diag_no_memory(&x->status, x->why);
    if (x->n_end) memcpy(x->end, end, x->n_end * sizeof *x->end);
    memset(x->reached, 0, x->n_begin + 1);
    memset(x->needed, 0, words * sizeof *x->needed);
    memset(x->inputs, 0, n_inputs + 1);
    return true;
}

static bool extract(extracting *x, xir_value *const *end) {
    pointer_table ends;
    pointer_table_init(&ends, x->alloc);
    bool good = check_values(x, &x->begins, x->begin, x->n_begin, "begin") &&
                check_values(x, &ends, end, x->n_end, "end");
    pointer_table_free(&ends);
    return good && prepare(x, end) && (x->n_end || find_ends(x)) && find_needed(x) && cut(x);
}

static void close(extracting *x) {
    const xir_op *input = xir_network_input_op(x->net);
    mem_free(x->alloc, x->end, x->end_room * sizeof *x->end);
    mem_free(x->alloc, x->reached, x->n_begin + 1);
    mem_free(x->alloc, x->needed, (x->slots / 64 + 1) * sizeof *x->needed);
    mem_free(x->alloc, x->inputs, (input ? input->n_outputs : 0) + (size_t)1);
    mem_free(x->alloc, (void *)x->pending, x->slots * sizeof *x->pending);
    mem_free(x->alloc, x->copies, x->slots * sizeof *x->copies);
    pointer_table_free(&x->begins);
}

xir_network *xir_extract(const xir_network *net, xir_value *const *begin, size_t n_begin, xir_value *const *end,
                         size_t n_end, xir_diags *why) {
    if (!net || (n_begin && !begin) || (n_end && !end)) {
        (void)diag_null(why, !net ? "network" : "list of values");
        return NULL;
    }
    extracting x = { .net = net, .alloc = &net->ctx->alloc, .why = why, .begin = begin, .n_begin = n_begin,
                     .n_end = n_end, .slots = (size_t)net->n_slots + 1 };
    pointer_table_init(&x.begins, x.alloc);
    const bool done = extract(&x, end);
    close(&x);
    if (done) return x.copy;
    xir_network_free(x.copy);
    return NULL;
}
