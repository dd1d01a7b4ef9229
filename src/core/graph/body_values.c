/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See body_values.h. */
#include <stdio.h>
#include "body_values.h"

xir_status body_open(body_values *b, const xir_allocator *alloc, xir_ops ops) {
    *b = (body_values){ .alloc = alloc, .ops = ops };
    pointer_table_init(&b->places, alloc);
    if (ops.size >= UINT32_MAX || !pointer_table_reserve(&b->places, ops.size + 1)) return XIR_E_MEMORY;
    b->first = mem_new(alloc, (ops.size + 1) * sizeof *b->first);
    if (!b->first) return XIR_E_MEMORY;
    for (size_t i = 0; i < ops.size; i++) {
        const uint32_t *place = pointer_table_add(&b->places, ops.data[i], (uint32_t)i);   /* there is room */
        b->first[i] = b->n;
        b->n += ops.data[i]->n_outputs;
        if (!place || *place != i) return place ? XIR_E_EXISTS : XIR_E_MEMORY;
    }
    return XIR_OK;
}

void body_close(body_values *b) {
    pointer_table_free(&b->places);
    mem_free(b->alloc, b->first, (b->ops.size + 1) * sizeof *b->first);
    b->first = NULL;
}

size_t body_place(const body_values *b, const xir_op *op) {
    const uint32_t *place = op ? pointer_table_find(&b->places, op) : NULL;
    return place ? *place : SIZE_MAX;
}

size_t body_index(const body_values *b, const xir_value *v) {
    const size_t place = body_place(b, value_op(v));
    return place == SIZE_MAX ? SIZE_MAX : b->first[place] + (size_t)(v - op_outputs(value_op(v)));
}

bool body_has_types(const xir_op *input, const xir_infer *at) {
    for (uint32_t i = 0; i < input->n_outputs; i++)
        if (!xir_type_equal(op_outputs(input)[i].type, xir_infer_input(at, i))) return false;
    return true;
}

/* ---- inference -------------------------------------------------------------------------------------------------- */

/* A walk over the body. Inference asks values for their types, so there is one for each value of the body, which stands
 * for it; an input of the op that runs the body stands for itself. */
typedef struct walk {
    const body_values *b;
    xir_infer         *at;
    xir_value        **now;     /* by index                                */
    xir_value         *own;     /* what they point to                      */
    value_more         more;    /* of all of those                         */
    xir_value        **inputs;  /* of the op that is asked                 */
    size_t             n_inputs;
} walk;

static xir_value *given(const xir_infer *at, size_t i) {
    return at->op ? op_inputs(at->op)[i].value : at->values[i];
}

static bool begin(walk *w) {
    const xir_ops ops = w->b->ops;
    for (size_t i = 0; i < ops.size; i++)
        if (ops.data[i]->n_inputs > w->n_inputs) w->n_inputs = ops.data[i]->n_inputs;
    w->now = mem_new(w->b->alloc, (w->b->n + 1) * sizeof *w->now);
    w->own = mem_new(w->b->alloc, (w->b->n + 1) * sizeof *w->own);
    w->inputs = mem_new(w->b->alloc, (w->n_inputs + 1) * sizeof *w->inputs);
    if (!w->now || !w->own || !w->inputs) return false;
    w->more = (value_more){ .net = ops.data[0]->net, .name = &name_empty };
    for (size_t i = 0; i < w->b->n; i++) {
        w->own[i] = (xir_value){ .from = value_from(&w->more) };
        w->now[i] = &w->own[i];
    }
    for (uint32_t i = 0; i < ops.data[0]->n_outputs; i++) {
        if (given(w->at, i)) w->now[i] = given(w->at, i);   /* an absent input has no type */
    }
    return true;
}

static void end(walk *w) {
    mem_free(w->b->alloc, (void *)w->now, (w->b->n + 1) * sizeof *w->now);
    mem_free(w->b->alloc, w->own, (w->b->n + 1) * sizeof *w->own);
    mem_free(w->b->alloc, (void *)w->inputs, (w->n_inputs + 1) * sizeof *w->inputs);
}

/* Begins a question about an op of the body. */
static void start(walk *w, size_t place, xir_infer *q, xir_str path, xir_diags *why) {
    const xir_op *op = w->b->ops.data[place];
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        xir_value *v = op_inputs(op)[i].value;
        const size_t index = v ? body_index(w->b, v) : SIZE_MAX;
        w->inputs[i] = index == SIZE_MAX ? v : w->now[index];
    }
    infer_start(q, op->net, op->cls, op->attrs, op_target(op), w->inputs, op->n_inputs, name_text(op_label(op)), why);
    q->pool = w->at->pool;
    q->run = op;
    q->path = path;
}

/* Infers one op into q->out. */
static xir_status infer_one(walk *w, size_t place, xir_infer *q, xir_str path) {
    const xir_op *op = w->b->ops.data[place];
    start(w, place, q, path, NULL);
    xir_status status = infer_run(q);
    const bool keeps = status == XIR_E_UNKNOWN || (status == XIR_E_UNSUPPORTED && op->n_outputs);
    if (keeps) {
        q->n_out = 0;
        q->status = status = XIR_OK;
        for (uint32_t i = 0; i < op->n_outputs && !status; i++) status = infer_see_output(q, op_outputs(op)[i].type);
    } else if (status && status != XIR_E_MEMORY && w->at->why) {
        infer_end(q);
        start(w, place, q, path, w->at->why);   /* once more, for the finding */
        status = infer_run(q);
    }
    if (!status && q->n_out != op->n_outputs)
        status = diag_fail(w->at->why, XIR_E_INVALID, path, "the op does not have as many outputs as inference gives");
    for (uint32_t i = 0; i < op->n_outputs && !status; i++)
        status = keep_conversion(op, q, op_outputs(op)[i].type, &q->out[i]);
    return status;
}

/* A figure that is unknown for one op of the body is unknown for the whole. */
static xir_status add_work(xir_infer *at, xir_infer *q, xir_work *sum) {
    xir_work one;
    xir_status status = infer_work(q, &one);
    at->work.unsaid |= q->work.unsaid;
    at->work.open |= q->work.open;
    if (status) return status;
    sum->multiply_adds = xir_work_add(sum->multiply_adds, one.multiply_adds);
    sum->element_ops = xir_work_add(sum->element_ops, one.element_ops);
    return XIR_OK;
}

static xir_status infer_all(walk *w, xir_work *work) {
    xir_infer *at = w->at;
    char path[300];
    xir_status status = XIR_OK;
    for (size_t i = 1; i + 1 < w->b->ops.size && !status; i++) {
        const xir_op *op = w->b->ops.data[i];
        xir_infer q;
        int n = 0;
        path[0] = 0;
        if (at->why && at->place)
            n = snprintf(path, sizeof path, "/ops/%zu/body/%zu", at->place - 1, i);
        else if (at->why)
            n = snprintf(path, sizeof path, "%.*s/body/%zu", (int)at->path.size, at->path.data ? at->path.data : "", i);
        const size_t size = n < 0 ? 0 : (size_t)n < sizeof path ? (size_t)n : sizeof path - 1;
        status = infer_one(w, i, &q, (xir_str){ path, size });
        for (uint32_t k = 0; k < op->n_outputs && !status; k++) w->own[w->b->first[i] + k].type = q.out[k];
        if (!status && work) status = add_work(at, &q, work);
        infer_end(&q);
    }
    return status;
}

xir_status body_infer(const body_values *b, xir_infer *at, const xir_type **types, xir_work *work) {
    walk w = { .b = b, .at = at };
    at->read_values = true;   /* the answer depends on more than the attributes: somebody may edit the body */
    xir_status status = begin(&w) ? infer_all(&w, work) : XIR_E_MEMORY;
    for (size_t i = 0; i < b->n && !status; i++) types[i] = w.now[i]->type;
    end(&w);
    return status;
}
