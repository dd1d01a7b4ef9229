/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops get the target. Where the target infers another type than the host did, the value is cast back for its readers
 * outside; and a value that enters is cast where the ops around it work in other elements by now. */
#include <xir/sugar.h>
#include "partition/partition.h"
#include "types.h"

/* The element type that the target has put in place of another one; NULL until it has. */
typedef struct elements { const xir_type *from, *to; } elements;

static int64_t group_of(const partition *p, const xir_op *op) { return op ? xir_groups_of(p->groups, op) : -1; }

/* `before` NULL: at the end. */
static xir_value *cast_to(const partition *p, xir_op *before, xir_value *v, const xir_type *type) {
    return xir_build_cast((xir_at){ .net = p->net, .before = before }, v, type, NULL);
}

/* The readers of a value outside of a group read it as it was. */
static xir_status cast_back(partition *p, xir_op *op, xir_value *v, const xir_type *was) {
    const int64_t group = group_of(p, op);
    const xir_use *use = xir_value_uses(v);
    while (use && group_of(p, xir_use_op(use)) == group) use = xir_use_next(use);
    if (!use) return XIR_OK;
    xir_value *back = cast_to(p, op->next, v, was);
    if (!back) return xir_network_status(p->net);
    for (use = xir_value_uses(v); use;) {
        const xir_use *next = xir_use_next(use);
        xir_op *user = xir_use_op(use);
        if (group_of(p, user) != group && user != xir_value_op(back)) {
            const xir_status status = xir_op_set_input(user, xir_use_index(use), back);
            if (status) return status;
        }
        use = next;
    }
    return value_take_name(back, v) ? XIR_OK : pass_no_memory(p->at);
}

/* A Cast of the value to this type that stands before an op; made if there is none. */
static xir_value *cast_before(const partition *p, xir_op *op, xir_value *v, const xir_type *type) {
    for (const xir_use *use = xir_value_uses(v); use; use = xir_use_next(use)) {
        xir_op *cast = xir_use_op(use);
        const bool is = xir_op_is(cast, xir_cast_class()) && target_is_host(op_target(cast)) && cast->n_outputs;
        if (!is || !xir_op_before(cast, op) || !xir_type_equal(op_outputs(cast)[0].type, type)) continue;
        return &op_outputs(cast)[0];
    }
    return cast_to(p, op, v, type);
}

static bool has_element(const xir_value *v, const xir_type *element) {
    const xir_type *own = v ? xir_type_element(v->type) : NULL;
    return own && element && xir_type_equal(own, element);
}

/* If an op reads elements that the target has made, its inputs from outside become such elements, too. */
static xir_status cast_inputs(partition *p, xir_op *op, const elements *e) {
    bool reads = false;
    for (uint32_t i = 0; i < op->n_inputs && e->to; i++) reads |= has_element(op_inputs(op)[i].value, e->to);
    for (uint32_t i = 0; i < op->n_inputs && reads; i++) {
        xir_value *v = op_inputs(op)[i].value;
        const bool enters = v && !value_is_params(v) && group_of(p, value_op(v)) != group_of(p, op);
        if (!enters || !has_element(v, e->from)) continue;
        const xir_type *type = xir_type_with_element(p->net->ctx, v->type, e->to, NULL);
        xir_value *now = type ? cast_before(p, op, v, type) : NULL;
        if (!now) return pass_no_memory(p->at);
        const xir_status status = xir_op_set_input(op, i, now);
        if (status) return status;
    }
    return XIR_OK;
}

/* Infers an op that has the target now. */
static xir_status infer_again(partition *p, xir_op *op, elements *e) {
    enum { FEW = 8 };
    const xir_type *was[FEW];
    const uint32_t n = op->n_outputs;
    xir_status status = cast_inputs(p, op, e);
    for (uint32_t i = 0; i < n && i < FEW; i++) was[i] = op_outputs(op)[i].type;
    if (!status) status = op_infer(op, INFER_CONVERSIONS_STAY, 0, NULL);
    if (status == XIR_E_UNSUPPORTED) return XIR_OK;   /* types that were given, as quantised ones are */
    if (status) return op_infer(op, INFER_CONVERSIONS_STAY, 0, xir_pass_diags(p->at));
    for (uint32_t i = 0; i < n && i < FEW && !status; i++) {
        xir_value *v = &op_outputs(op)[i];
        if (!was[i] || !v->type || xir_type_equal(was[i], v->type)) continue;
        if (!e->to) *e = (elements){ xir_type_element(was[i]), xir_type_element(v->type) };
        status = cast_back(p, op, v, was[i]);
    }
    return status;
}

static bool same_target(const xir_target *a, const xir_target *b) {
    if (target_is_host(a) || target_is_host(b)) return target_is_host(a) && target_is_host(b);
    return xir_object_equal((const xir_object *)a, (const xir_object *)b);
}

xir_status partition_place(partition *p) {
    elements e = { NULL, NULL };
    xir_status status = XIR_OK;
    for (xir_op *op = p->net->first, *next; op && !status; op = next) {
        next = op->next;
        const bool own = group_of(p, op) >= 0;
        if (!own && (op->slot >= p->slots || !p->asked[op->slot])) continue;
        const bool same = same_target(op_target(op), own ? p->target : NULL);
        if (!same) {
            if (xir_op_set_target(op, own ? p->target : NULL)) return pass_no_memory(p->at);
            xir_pass_changed(p->at, 1);
        }
        if (own && !same && xir_op_can_infer(op)) status = infer_again(p, op, &e);
    }
    return status;
}
