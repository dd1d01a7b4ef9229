/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Numbering. An op, its Params inputs, the Params and sub ops of its attributes, and its outputs get ids in this order,
 * which is that of the original. An op may bring ids along, for example from a file: it keeps them, unless they are
 * taken. Room in the tables of ids is reserved first, so that nothing fails halfway. */
#include <inttypes.h>
#include "graph.h"

xir_status value_number(xir_value *v) {
    xir_network *net = value_net(v);
    if (net->next_value_id == INT64_MAX) return net_fail(net, XIR_E_LIMIT, "there are no ids left");
    return value_set_id(v, net->next_value_id) ? XIR_OK : net_no_memory(net);
}

/* ---- room ------------------------------------------------------------------------------------------------------- */

/* The most ids that an op, its sub ops and all their values may need. */
typedef struct id_counts { size_t ops, values; } id_counts;

static bool count_params(void *user, xir_value *v) {
    ((id_counts *)user)->values += v->id < 0;
    return true;
}

static bool count_op(void *user, xir_op *op) {
    id_counts *n = user;
    n->ops++;
    n->values += op->n_outputs;
    return op_each_child(op, count_op, n);
}

xir_status ops_reserve_ids(xir_network *net, xir_op *const *ops, size_t n) {
    id_counts all = { 0, 0 };
    for (size_t i = 0; i < n; i++) {
        all.ops++;
        all.values += (size_t)ops[i]->n_outputs + ops[i]->n_inputs;   /* at most all inputs are Params */
        if (ops[i]->cls->plain && !op_more_of(ops[i])) continue;
        op_walk_attr_params(ops[i], count_params, &all);
        op_each_child(ops[i], count_op, &all);
    }
    if (all.ops > (uint64_t)(INT64_MAX - net->next_op_id) || all.values > (uint64_t)(INT64_MAX - net->next_value_id)) {
        return net_fail(net, XIR_E_LIMIT, "there are no ids left");
    }
    return net_reserve_ids(net, all.ops, all.values) ? XIR_OK : net_no_memory(net);
}

xir_status op_reserve_ids(const xir_op *op) {
    return ops_reserve_ids(op->net, &(xir_op *){ (xir_op *)(uintptr_t)op }, 1);
}

/* ---- new ids: room is reserved, so nothing fails ---------------------------------------------------------------- */

static bool number_one(void *user, xir_value *v) {
    xir_network *net = user;
    if (v->id < 0) value_set_id(v, net->next_value_id);
    return true;
}

static void number_outputs(xir_op *op) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        xir_value *v = &op_outputs(op)[i];
        value_set_id(v, v->id < 0 ? op->net->next_value_id : v->id);
    }
}

/* Numbers sub ops at every depth, which a reader's limit bounds. */
static bool number_child(void *user, xir_op *child) {
    op_set_id(child, child->id < 0 ? child->net->next_op_id : child->id);
    number_outputs(child);
    return op_each_child(child, number_child, user);
}

void op_number_attrs(xir_op *op) {
    if (op->cls->plain && !op_more_of(op)) return;
    op_walk_attr_params(op, number_one, op->net);
    op_each_child(op, number_child, NULL);
}

static void give_ids(xir_op *op) {
    xir_network *net = op->net;
    op_set_id(op, op->id < 0 ? net->next_op_id : op->id);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        xir_value *v = op_inputs(op)[i].value;
        if (v && value_is_params(v)) number_one(net, v);
    }
    op_number_attrs(op);
    number_outputs(op);
}

/* ---- ids that an op brings along -------------------------------------------------------------------------------- */

static bool brings_ids(const xir_op *op) {
    id_counts n = { 0, 0 };
    bool brings = op->id >= 0 && op->id < op->net->next_op_id;   /* ids above are free */
    for (uint32_t i = 0; i < op->n_outputs; i++) brings |= op_outputs(op)[i].id >= 0;
    if (!brings && !op->cls->plain) op_each_child(op, count_op, &n);
    return brings || n.ops;
}

/* Enters them into the tables one by one, so that ids of the same op and its sub ops are compared too. */
static bool enter_ids(void *user, xir_op *op) {
    xir_network *net = op->net;
    xir_status *status = user;
    const xir_op *same = op->id < 0 ? NULL : net_find_op(net, op->id);
    if (same && same != op) *status = net_fail(net, XIR_E_EXISTS, "op id %" PRId64 " is taken", op->id);
    else if (op->id >= 0) op_set_id(op, op->id);
    for (uint32_t i = 0; i < op->n_outputs && !*status; i++) {
        xir_value *v = &op_outputs(op)[i];
        const xir_value *other = v->id < 0 ? NULL : net_find_value(net, v->id);
        if (other && other != v) *status = net_fail(net, XIR_E_EXISTS, "value id %" PRId64 " is taken", v->id);
        else if (v->id >= 0) value_set_id(v, v->id);
    }
    return !*status && op_each_child(op, enter_ids, status);
}

static bool leave_ids(void *user, xir_op *op) {
    ids_forget_op(op);
    return op_each_child(op, leave_ids, user);
}

void op_leave_ids(xir_op *op) { leave_ids(NULL, op); }

xir_status op_number(xir_op *op) {
    xir_network *net = op->net;
    const bool brings = brings_ids(op);
    if (brings && !net_build_ids(net)) return net_no_memory(net);
    xir_status status = op_reserve_ids(op);
    if (status) return status;
    const int64_t next_op = net->next_op_id, next_value = net->next_value_id;
    if (brings && !enter_ids(&status, op)) {
        op_leave_ids(op);
        net->next_op_id = next_op;
        net->next_value_id = next_value;
        return status;
    }
    give_ids(op);
    return XIR_OK;
}

xir_status op_enter_attrs(xir_op *op) {
    xir_network *net = op->net;
    const int64_t next_op = net->next_op_id, next_value = net->next_value_id;
    xir_status status = op_reserve_ids(op);
    if (status) return status;
    if (!op->cls->plain && !op_each_child(op, enter_ids, &status)) {
        net->next_op_id = next_op;
        net->next_value_id = next_value;
        return status;
    }
    op_number_attrs(op);
    return XIR_OK;
}
