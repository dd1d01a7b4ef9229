/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Edits of the order and of several ops at once. Everything that an edit needs is checked and obtained first; then it
 * only relinks. */
#include <inttypes.h>
#include <stdio.h>
#include "provenance.h"

static xir_status check_placed(xir_network *net, const xir_op *op) {
    if (!op) return net_null(net, "op");
    if (op->net == net && op->flags & OP_PLACED) return XIR_OK;
    return net_fail(net, XIR_E_MISSING, "op %" PRId64 " is not in the order of this network", op->id);
}

/* Removes an op that nothing uses. */
static void leave(xir_op *op) {
    ids_forget_op(op);
    op_unlink(op);
    op_forget(op);
}

xir_status xir_network_remove(xir_network *net, xir_op *op) {
    if (!net) return XIR_E_MISSING;
    xir_status status = check_placed(net, op);
    if (status) return status;
    op_drop_uses(op);
    leave(op);
    return XIR_OK;
}

/* ---- bypassing --------------------------------------------------------------------------------------------- */

/* The value that replaces output i: the op's non-Params input i, or its only one. */
static xir_value *stand_in(const xir_op *op, uint32_t i) {
    xir_value *only = NULL;
    uint32_t n = 0;
    for (uint32_t j = 0; j < op->n_inputs; j++) {
        xir_value *v = op_inputs(op)[j].value;
        if (!v || value_is_params(v)) continue;
        if (n++ == i) return v;
        only = v;
    }
    return n == 1 ? only : NULL;
}

/* Returns true if an op, or the placed op that contains it, is being removed. */
static bool leaves(const xir_op *op) {
    while (op->flags & OP_CHILD) op = xir_op_parent(op);
    return op->flags & OP_LEAVING;
}

/* The final replacement of output i: the op that makes a replacement may be removed too. NULL if there is none, or if
 * they form a cycle. */
static xir_value *last_stand_in(const xir_op *op, uint32_t i, size_t n_leaving) {
    for (size_t steps = 0; steps <= n_leaving; steps++) {
        xir_value *v = stand_in(op, i);
        if (!v || !value_op(v) || !leaves(value_op(v))) return v;
        if (value_op(v)->flags & OP_CHILD) return NULL;
        op = value_op(v);
        i = (uint32_t)(v - op_outputs(op));
    }
    return NULL;
}

static bool used_by_who_stays(const xir_value *v) {
    for (const xir_use *u = v->uses; u; u = u->next) {
        if (!leaves(u->user)) return true;
    }
    return false;
}

static xir_status check_bypass(xir_network *net, xir_op *const *ops, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const xir_op *op = ops[i];
        for (uint32_t j = 0; j < op->n_outputs; j++) {
            if (!used_by_who_stays(&op_outputs(op)[j]) || last_stand_in(op, j, n)) continue;
            return net_fail(net, XIR_E_INVALID, "op %" PRId64 " has no input to stand in for its output %" PRIu32,
                            op->id, j);
        }
    }
    return XIR_OK;
}

xir_status xir_network_bypass(xir_network *net, xir_op *const *ops, size_t n) {
    xir_status status = XIR_OK;
    size_t marked = 0;
    for (; marked < n && !status; marked += !status) {
        status = check_placed(net, ops[marked]);
        if (!status && ops[marked]->flags & OP_LEAVING) {
            status = net_fail(net, XIR_E_EXISTS, "op %" PRId64 " is named twice", ops[marked]->id);
        }
        if (!status) ops[marked]->flags |= OP_LEAVING;
    }
    if (!status) status = check_bypass(net, ops, n);
    for (size_t i = 0; i < n && !status; i++) {
        for (uint32_t j = 0; j < ops[i]->n_outputs; j++) {
            xir_value *v = &op_outputs(ops[i])[j];
            if (used_by_who_stays(v)) xir_value_replace(v, last_stand_in(ops[i], j, n));
        }
    }
    for (size_t i = 0; i < marked; i++) {
        ops[i]->flags &= ~(uint32_t)OP_LEAVING;
        if (status) continue;
        op_drop_uses(ops[i]);   /* uses by each other, and of their sub ops */
        leave(ops[i]);
    }
    return status;
}

/* ---- replacing --------------------------------------------------------------------------------------------- */

/* Returns true if the new op uses an output of the old one. Then its uses must not move, or it would read itself. */
static bool reads(const xir_op *op, const xir_value *value) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op_inputs(op)[i].value == value) return true;
    }
    return false;
}

static xir_status replace(xir_network *net, xir_op *old, xir_op *now, bool keep_uses) {
    if (!net) return XIR_E_MISSING;
    xir_status status = now ? check_placed(net, old) : net_null(net, "op");
    if (!status && now->net == net) status = op_complete(now);
    if (status) return status;
    if (keep_uses && old->n_outputs != now->n_outputs) {
        return net_fail(net, XIR_E_INVALID, "op %" PRId64 " has %" PRIu32 " outputs, its replacement %" PRIu32, old->id,
                        old->n_outputs, now->n_outputs);
    }
    for (uint32_t i = 0; i < old->n_outputs; i++) {
        if (!reads(now, &op_outputs(old)[i])) continue;
        return net_fail(net, XIR_E_INVALID, "the replacement of op %" PRId64 " reads what that op makes", old->id);
    }
    /* The new op enters the order while the old one is still there: an Input may follow an Input here, and nothing else
     * changes. */
    bool was_first = old == net->first && old->cls->traits & XIR_TRAIT_SOURCE;
    if (now->net != net || now->flags & (OP_PLACED | OP_CHILD | OP_ERASED)) {
        return net_fail(net, XIR_E_INVALID, "the replacement of op %" PRId64 " must be an unplaced op of this network",
                        old->id);
    }
    if (was_first != !!(now->cls->traits & XIR_TRAIT_SOURCE) && net->n_ops > 1) {
        return net_fail(net, XIR_E_INVALID, "an Input is replaced by an Input only");
    }
    status = place_before(now, old);
    if (status) return status;
    for (uint32_t i = 0; i < old->n_outputs && keep_uses; i++)
        xir_value_replace(&op_outputs(old)[i], &op_outputs(now)[i]);
    provenance_absorbed(now, old);
    op_drop_uses(old);
    leave(old);
    return XIR_OK;
}

xir_status xir_network_replace(xir_network *net, xir_op *old, xir_op *now) { return replace(net, old, now, false); }
xir_status xir_network_replace_keep_uses(xir_network *net, xir_op *old, xir_op *now) {
    return replace(net, old, now, true);
}

xir_status xir_op_move(xir_op *op, xir_op *before) {
    if (!op) return XIR_E_MISSING;
    xir_network *net = op->net;
    xir_status status = check_placed(net, op);
    if (!status && before) status = check_placed(net, before);
    if (status || op == before || (op->next == before && (before || net->last == op))) return status;
    op_unlink(op);
    op_link(op, before);
    return XIR_OK;
}

/* ---- inference of the whole -------------------------------------------------------------------------------- */

/* Returns true if there are outputs and all of them have types. */
static bool is_typed(const xir_op *op) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (!op_outputs(op)[i].type) return false;
    }
    return op->n_outputs > 0;
}

xir_status xir_network_infer(xir_network *net, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    xir_status first = XIR_OK;
    size_t i = 0;
    for (xir_op *op = net->first; op; op = op->next, i++) {
        if (!xir_op_can_infer(op)) continue;
        xir_status status = op_infer(op, INFER_CONVERSIONS_STAY, 0, NULL);
        if (status == XIR_E_MEMORY) return why ? diag_memory(why) : net_no_memory(net);
        if (!status || (status == XIR_E_UNSUPPORTED && is_typed(op))) continue;
        status = op_infer(op, INFER_CONVERSIONS_STAY, i + 1, why);   /* once more, for the finding */
        if (!first) first = status;
    }
    return first;
}
