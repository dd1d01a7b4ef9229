/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "bodies.h"
#include <xir/ops.h>

/* The value outside that a value of a call's body stands for; NULL: none. */
static const xir_value *stands_for(const xir_op *call, const xir_value *v, uint32_t i) {
    const xir_op *op = value_op(v);
    if (op->cls == op->net->ctx->input_class) return i < call->n_inputs ? op_inputs(call)[i].value : NULL;
    for (const xir_use *u = v->uses; u; u = u->next) {
        const size_t at = xir_use_index(u);
        if (u->user->cls == op->net->ctx->output_class && at < call->n_outputs) return &op_outputs(call)[at];
    }
    return NULL;
}

static xir_status set_like(const bodies *b, xir_value *v, const xir_value *outside) {
    const xir_mtype *mtype = xir_value_mtype(outside);
    const xir_mtype_kind kind = xir_mtype_kind_of(mtype);
    if (kind == XIR_MTYPE_CHUNK) return plan_place(b->at, v, kind, xir_mtype_addr(mtype), xir_mtype_offset(mtype));
    return plan_place(b->at, v, kind, 0, kind == XIR_MTYPE_HOST ? 0 : xir_mtype_addr(mtype));
}

static xir_status set_value(const bodies *b, const xir_op *call, xir_value *v, uint32_t i) {
    const xir_value *outside = stands_for(call, v, i);
    const bool kept = b->how->etm && b->how->keep && xir_mtype_kind_of(xir_value_mtype(v)) != XIR_MTYPE_HOST;
    const xir_op *planned = call;
    while (xir_op_parent(planned)) planned = xir_op_parent(planned);
    const bool shares = b->maps_at && parts_plans(b->parts, planned);
    const size_t at = shares ? xir_memory_buffers_find(b->maps, v) : SIZE_MAX;
    if (outside) return set_like(b, v, outside);
    if (kept) return XIR_OK;
    if (at == SIZE_MAX) return plan_place(b->at, v, XIR_MTYPE_HOST, 0, 0);
    return plan_place(b->at, v, b->how->etm ? XIR_MTYPE_EXTERNAL : XIR_MTYPE_CHUNK, 0,
                      b->maps_at[at] + xir_memory_buffers_offset(b->maps, v));
}

typedef struct setting { const bodies *b; const xir_op *call; xir_status status; } setting;

/* Sets the values of an op in a body, then those of its own body. */
static bool set_op(void *user, xir_op *op) {
    setting *s = user, inner = { .b = s->b, .call = op };
    for (uint32_t i = 0; i < op->n_outputs && !s->status; i++)
        s->status = set_value(s->b, s->call, &op_outputs(op)[i], i);
    if (!s->status && xir_op_is(op, xir_call_op_class())) (void)op_each_child(op, set_op, &inner);
    if (!s->status) s->status = inner.status;
    return !s->status;
}

xir_status bodies_set(const bodies *b) {
    setting s = { .b = b };
    for (const xir_op *op = b->at->net->first; op && !s.status; op = op->next) {
        s.call = op;
        if (xir_op_is(op, xir_call_op_class())) (void)op_each_child(op, set_op, &s);
    }
    return s.status;
}
