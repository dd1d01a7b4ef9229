/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The outputs of an op, which are contiguous in memory. More of them need another array, and all move there; fewer need
 * no memory, so that a caller can undo what it did. Everything is checked and obtained before the first change. */
#include <inttypes.h>
#include <xir/icraft.h>
#include "provenance.h"

/* ---- their number ----------------------------------------------------------------------------------------------- */

static xir_status check_number(const xir_op *op, size_t n) {
    xir_network *net = op->net;
    for (size_t i = n; i < op->n_outputs; i++) {
        if (!op_outputs(op)[i].uses) continue;
        return net_fail(net, XIR_E_IN_USE, "output %zu of op %" PRId64 " is used by op %" PRId64, i, op->id,
                        op_outputs(op)[i].uses->user->id);
    }
    if (n > UINT32_MAX / sizeof(xir_value)) return net_fail(net, XIR_E_LIMIT, "%zu outputs are too many", n);
    if ((int64_t)n > INT64_MAX - net->next_value_id) return net_fail(net, XIR_E_LIMIT, "there are no ids left");
    return XIR_OK;
}

/* The array for `n` outputs, and room for their ids. */
static xir_status obtain(xir_op *op, size_t n, xir_value **out) {
    *out = op_outputs(op);
    if (n <= op->n_outputs) return XIR_OK;
    *out = op_take_outputs(op, n);
    return *out && net_reserve_ids(op->net, 0, n) ? XIR_OK : net_no_memory(op->net);
}

/* Moves a value to another place. */
static void move(xir_network *net, xir_value *to, const xir_value *from) {
    *to = *from;
    provenance_moved(net, from, to);
    if (to->uses) to->uses->link = &to->uses;
    for (xir_use *u = to->uses; u; u = u->next) u->value = to;
}

/* Moves the outputs into an array. New ones have no type yet. Their ids are not in the tables until `enter`. */
static void resize(xir_op *op, xir_value *values, size_t n) {
    if (op_is_in(op)) ids_forget_op(op);
    const uint32_t kept = op->n_outputs < n ? op->n_outputs : (uint32_t)n;
    for (uint32_t i = 0; values != op_outputs(op) && i < kept; i++) move(op->net, &values[i], &op_outputs(op)[i]);
    for (size_t i = kept; i < n; i++) values[i] = (xir_value){ .id = op->net->next_temp_id--, .from = (uintptr_t)op };
    op_put_outputs(op, values, n);
}

static void enter(xir_op *op) {
    xir_network *net = op->net;
    if (op_is_in(op)) {
        op_set_id(op, op->id);
        for (uint32_t i = 0; i < op->n_outputs; i++) {
            xir_value *v = &op_outputs(op)[i];
            value_set_id(v, v->id < 0 ? net->next_value_id : v->id);
        }
        op_named_all(op);   /* of values that have moved */
    }
    net->epoch++;
}

void op_remove_output(xir_op *op, size_t i) {
    xir_value *values = op_outputs(op);
    if (op_is_in(op)) ids_forget_op(op);
    for (size_t k = i + 1; k < op->n_outputs; k++) move(op->net, &values[k - 1], &values[k]);
    op_put_outputs(op, values, op->n_outputs - (size_t)1);
    enter(op);
}

/* ---- their types ------------------------------------------------------------------------------------------------ */

/* Returns true if the network has these very types already: then taking them needs no memory. */
static bool are_own(xir_network *net, const xir_type *const *types, size_t n) {
    size_t i = 0;
    while (i < n && net_type(net, types[i]) == types[i]) i++;
    return i == n;
}

static xir_status intern(xir_network *net, const xir_type *const *types, size_t n, const xir_type **own) {
    for (size_t i = 0; own && i < n; i++) {
        own[i] = net_type(net, types[i]);
        if (types[i] && !own[i]) own = NULL;
    }
    return own ? XIR_OK : net_no_memory(net);
}

xir_status xir_op_set_outputs(xir_op *op, const xir_type *const *types, size_t n) {
    if (!op) return XIR_E_MISSING;
    xir_network *net = op->net;
    const size_t bytes = n * sizeof *types;
    const xir_type **own = NULL;
    xir_value *values;
    xir_status status = check_number(op, n);
    if (!status && !are_own(net, types, n)) status = intern(net, types, n, own = mem_new(&net->alloc, bytes));
    if (!status) status = obtain(op, n, &values);
    if (!status) {
        resize(op, values, n);
        for (size_t i = 0; i < n; i++) values[i].type = own ? own[i] : types[i];
        enter(op);
    }
    mem_free(&net->alloc, (void *)own, bytes);
    return status;
}

/* ---- values that become outputs ---------------------------------------------------------------------------------- */

static bool is_input(const xir_op *op, const xir_value *v) {
    for (const xir_use *u = v->uses; u; u = u->next) {
        if (u->user == op) return true;
    }
    return false;
}

/* Fails unless a value may become output `i`. */
static xir_status check_value(const xir_op *op, const xir_value *v, size_t i) {
    xir_network *net = op->net;
    if (!v) return net_null(net, "value");
    if (value_net(v) != net)
        return net_fail(net, XIR_E_INVALID, "the value for output %zu is of another network", i);
    if (value_is_params(v)) return net_fail(net, XIR_E_INVALID, "the value for output %zu is Params", i);
    if (value_op(v))
        return net_fail(net, XIR_E_INVALID, "the value for output %zu is an output of op %" PRId64, i,
                        value_op(v)->id);
    if (value_is_spent(v))
        return net_fail(net, XIR_E_INVALID, "the value for output %zu has become an output already", i);
    if (is_input(op, v)) return net_fail(net, XIR_E_INVALID, "output %zu would be an input of its own op", i);
    if (v->id < 0) return XIR_OK;
    const xir_value *other = net_find_value(net, v->id);
    if (!other || other == v) return XIR_OK;
    return net_fail(net, XIR_E_EXISTS, "value id %" PRId64 " for output %zu is taken", v->id, i);
}

/* Checks all values. One that is listed twice is met again with a mark. */
static xir_status check_values(xir_op *op, xir_value *const *values, size_t n, size_t first) {
    static const xir_op address;   /* nobody reads it */
    xir_op *mark = (xir_op *)(uintptr_t)&address;
    xir_status status = XIR_OK;
    for (size_t i = 0; i < n; i++) {
        /* Tables of ids list values without an op: they are built before the marks. */
        if (values[i] && values[i]->id >= 0 && !net_build_ids(op->net)) return net_no_memory(op->net);
    }
    size_t marked = 0;
    for (; marked < n && !status; marked += !status) {
        if (values[marked] && value_op(values[marked]) == mark)
            status = net_fail(op->net, XIR_E_EXISTS, "the value for output %zu is listed twice", first + marked);
        else status = check_value(op, values[marked], first + marked);
        if (!status) value_set_op(values[marked], mark);
    }
    for (size_t i = 0; i < marked; i++) value_set_op(values[i], NULL);
    return status;
}

static bool says_more(const xir_value *v) {
    const value_more *m = value_more_of(v);
    return m->name->size || m->tags || m->extra || m->mtype;
}

/* Room for what few values have, one for each that has it. */
static xir_status obtain_more(xir_network *net, xir_value *const *values, size_t n, value_more **out) {
    size_t need = 0;
    for (size_t i = 0; i < n; i++) need += says_more(values[i]);
    *out = need ? arena_take(&net->arena, need * sizeof **out) : NULL;
    return *out || !need ? XIR_OK : net_no_memory(net);
}

/* Everything that the value is becomes the output's. `*more` is the next free room. */
static void become(xir_value *out, xir_value *v, value_more **more) {
    xir_network *net = value_more_of(v)->net;
    out->type = v->type;
    if (says_more(v)) {
        if (!value_more_of(out)) value_set_more(out, (*more)++);
        xir_op *op = value_op(out);
        *value_more_of(out) = *value_more_of(v);
        value_set_op(out, op);
    } else if (value_more_of(out)) {
        *value_more_of(out) = (value_more){ .net = net, .producer = value_op(out), .name = &name_empty };
    }
    ids_forget_value(v);
    if (v->id >= 0) out->id = v->id;
    uses_move(v, out);
    *v = (xir_value){ .id = net->next_temp_id--, .from = v->from };
    *value_more_of(v) = (value_more){ .net = net, .name = &name_spent };
}

/* Outputs from `first` on become `n` values; the op then has `all`. */
static xir_status set_values(xir_op *op, size_t first, xir_value *const *values, size_t n, size_t all) {
    xir_network *net = op->net;
    value_more *more;
    xir_value *outputs;
    if (op->flags & OP_ERASED) return net_fail(net, XIR_E_INVALID, "the op is erased");
    xir_status status = check_number(op, all);
    if (!status) status = check_values(op, values, n, first);
    if (!status) status = obtain_more(net, values, n, &more);
    if (!status) status = obtain(op, all, &outputs);
    if (status) return status;
    resize(op, outputs, all);
    for (size_t i = 0; i < n; i++) become(&outputs[first + i], values[i], &more);
    enter(op);
    return XIR_OK;
}

xir_value *xir_op_set_output(xir_op *op, size_t i, xir_value *value) {
    if (!op) return NULL;
    if (i > op->n_outputs) {
        net_fail(op->net, XIR_E_BOUNDS, "output %zu of an op that has %" PRIu32, i, op->n_outputs);
        return NULL;
    }
    const size_t all = i == op->n_outputs ? i + 1 : op->n_outputs;
    return set_values(op, i, &value, 1, all) ? NULL : &op_outputs(op)[i];
}

xir_status xir_op_set_output_values(xir_op *op, xir_value *const *values, size_t n) {
    return op ? set_values(op, 0, values, n, n) : XIR_E_MISSING;
}
