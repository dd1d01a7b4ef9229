/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The inputs of an op: each is a use in the list of its value. A failed change leaves the op unchanged, with a
 * finding in its network. */
#include <inttypes.h>
#include <xir/icraft.h>
#include "graph.h"

static xir_status check_value(xir_op *op, const xir_value *v) {
    if (v && value_is_spent(v)) return value_not_spent(v);
    if (!v || value_net(v) == op->net) return XIR_OK;
    return net_fail(op->net, XIR_E_INVALID, "the value belongs to another network");
}

static xir_status past_end(xir_op *op, size_t i) {
    return net_fail(op->net, XIR_E_BOUNDS, "input %zu of an op that has %" PRIu32, i, op->n_inputs);
}

/* Gives an id to Params when a placed op starts to use them. */
static xir_status number_input(xir_op *op, xir_value *v) {
    if (v && op->flags & OP_PLACED) value_met(v);
    if (!v || v->id >= 0 || !value_is_params(v) || !op_is_in(op)) return XIR_OK;
    return value_number(v);
}

/* Makes room for `n` inputs; moved uses keep their positions in the lists of their values. */
static bool reserve_inputs(xir_op *op, size_t n) {
    /* Most ops that get another input get one: a bias. Only those that get more have room to spare. */
    const bool apart = op->flags & OP_INPUTS_APART;
    size_t room = apart ? op_more_of(op)->input_room : op->room;
    if (n <= room) return true;
    if (n > UINT32_MAX / sizeof(xir_use)) return false;
    room = apart && room * 2 > n ? room * 2 : n;
    xir_use *uses = arena_take(&op->net->arena, room * sizeof *uses);
    op_more *more = uses ? op_need_more(op) : NULL;
    if (!more) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        uses[i] = op_inputs(op)[i];
        if (!uses[i].value) continue;
        *uses[i].link = &uses[i];
        if (uses[i].next) uses[i].next->link = &uses[i].next;
    }
    more->inputs = uses;
    more->input_room = (uint32_t)room;
    op->flags |= OP_INPUTS_APART;
    return true;
}

/* Moves a use within the op, including its links. */
static void move_use(xir_use *to, xir_use *from) {
    *to = *from;
    if (!to->value) return;
    *to->link = to;
    if (to->next) to->next->link = &to->next;
}

xir_status xir_op_set_input(xir_op *op, size_t i, xir_value *v) {
    if (!op) return XIR_E_MISSING;
    if (i >= op->n_inputs) return past_end(op, i);
    xir_status status = check_value(op, v);
    if (!status) status = number_input(op, v);
    if (status) return status;
    use_unlink(&op_inputs(op)[i]);
    use_link(&op_inputs(op)[i], op, v);
    op->net->epoch++;
    return XIR_OK;
}

xir_status xir_op_insert_input(xir_op *op, size_t i, xir_value *v) {
    if (!op) return XIR_E_MISSING;
    if (i > op->n_inputs) return past_end(op, i);
    xir_status status = check_value(op, v);
    if (!status && !reserve_inputs(op, (size_t)op->n_inputs + 1)) status = net_no_memory(op->net);
    if (!status) status = number_input(op, v);
    if (status) return status;
    for (size_t j = op->n_inputs; j > i; j--) move_use(&op_inputs(op)[j], &op_inputs(op)[j - 1]);
    op->n_inputs++;
    use_link(&op_inputs(op)[i], op, v);
    op->net->epoch++;
    return XIR_OK;
}

xir_status xir_op_add_input(xir_op *op, xir_value *v) { return xir_op_insert_input(op, op ? op->n_inputs : 0, v); }

xir_status xir_op_set_inputs(xir_op *op, xir_value *const *values, size_t n) {
    if (!op) return XIR_E_MISSING;
    xir_status status = XIR_OK;
    for (size_t i = 0; i < n && !status; i++) status = check_value(op, values[i]);
    if (status) return status;
    if (!reserve_inputs(op, n) || !net_reserve_ids(op->net, 0, n)) return net_no_memory(op->net);
    for (size_t i = 0; i < n && !status; i++) status = number_input(op, values[i]);
    if (status) return status;
    xir_op_clear_inputs(op);
    op->n_inputs = (uint32_t)n;
    for (size_t i = 0; i < n; i++) use_link(&op_inputs(op)[i], op, values[i]);
    return XIR_OK;
}

xir_status xir_op_replace_input(xir_op *op, xir_value *old, xir_value *now) {
    if (!op) return XIR_E_MISSING;
    xir_status status = check_value(op, now);
    if (!status) status = number_input(op, now);
    if (status) return status;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op_inputs(op)[i].value != old) continue;
        use_unlink(&op_inputs(op)[i]);
        use_link(&op_inputs(op)[i], op, now);
    }
    op->net->epoch++;
    return XIR_OK;
}

/* Removes the inputs with the value `id`, or position `at`; later inputs move up, each once. */
static void take_out(xir_op *op, size_t at, bool by_id, int64_t id) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        xir_use *u = &op_inputs(op)[i];
        bool out = by_id ? u->value && u->value->id == id : i == at;
        if (out) use_unlink(u);
        else {
            if (kept != i) move_use(&op_inputs(op)[kept], u);
            kept++;
        }
    }
    op->n_inputs = kept;
    op->net->epoch++;
}

xir_status xir_op_remove_input(xir_op *op, size_t i) {
    if (!op) return XIR_E_MISSING;
    if (i >= op->n_inputs) return past_end(op, i);
    take_out(op, i, false, 0);
    return XIR_OK;
}

xir_status xir_op_remove_input_id(xir_op *op, int64_t v_id) {
    if (!op) return XIR_E_MISSING;
    uint32_t before = op->n_inputs;
    take_out(op, 0, true, v_id);
    if (op->n_inputs < before) return XIR_OK;
    return net_fail(op->net, XIR_E_MISSING, "value %" PRId64 " is not an input of op %" PRId64, v_id, op->id);
}

void xir_op_clear_inputs(xir_op *op) {
    if (!op) return;
    for (uint32_t i = 0; i < op->n_inputs; i++) use_unlink(&op_inputs(op)[i]);
    op->n_inputs = 0;
    op->net->epoch++;
}
