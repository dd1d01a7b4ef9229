/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "scratch.h"
#include <xir/memory.h>
#include <xir/ops.h>
#include "body_values.h"

enum { MOST_DEPTH = 32 };

typedef struct measuring {
    scratch_bytes_fn *bytes_of;
    const void       *user;
    uint64_t          align;
    scratch_values   *out;
    xir_diags        *why;
    unsigned          depth;
} measuring;

/* Values of a body by index. */
typedef struct living {
    size_t last;      /* the place of the last op that reads it       */
    bool   own;       /* neither an input of the body nor a result    */
} living;

/* The buffers of a body, and which values of the list are in each. */
typedef struct body_buffers {
    xir_buffer *of;
    size_t     *first;    /* of each buffer, and the end of the last one */
    size_t      n;
} body_buffers;

static xir_status measure(const measuring *m, const xir_op *op, uint64_t *bytes);

static xir_status far(const measuring *m) {
    return diag_fail(m->why, XIR_E_LIMIT, XIR_STR(""), "the bytes of the body of a call exceed 2^63 - 1, or more than "
                     "%d calls are within each other", MOST_DEPTH);
}

/* Finds out how long the values live. */
static void find_lives(const body_values *b, living *all) {
    const size_t n = b->ops.size;
    for (size_t at = 0; at < n; at++) {
        const xir_op *op = b->ops.data[at];
        for (uint32_t i = 0; i < op->n_outputs; i++)
            all[b->first[at] + i] = (living){ .last = at, .own = at && at + 1 < n };
        for (uint32_t i = 0; i < op->n_inputs; i++) {
            const size_t index = body_index(b, op_inputs(op)[i].value);
            if (index == SIZE_MAX) continue;
            all[index].last = at;
            all[index].own &= at + 1 < n;
        }
    }
}

static void add_buffer(const measuring *m, body_buffers *buffers, uint64_t bytes, size_t from, size_t to) {
    buffers->of[buffers->n++] = (xir_buffer){ .from = (int64_t)from, .to = (int64_t)to, .size = bytes,
                                              .align = m->align };
    buffers->first[buffers->n] = m->out->n;
}

static xir_status add_value(const measuring *m, body_buffers *buffers, const xir_value *v, size_t from, size_t to) {
    const xir_allocator *alloc = &value_net(v)->ctx->alloc;
    uint64_t bytes;
    bool takes;
    if (!mem_reserve(alloc, (void **)&m->out->of, &m->out->room, m->out->n + 1, sizeof *m->out->of))
        return diag_memory(m->why);
    const xir_status status = m->bytes_of(m->user, v, &bytes, &takes);
    if (status || !takes) return status;
    m->out->of[m->out->n++] = (scratch_value){ v, 0 };
    add_buffer(m, buffers, bytes, from, to);
    return XIR_OK;
}

/* A buffer for each value that the body makes, and one for each call within. */
static xir_status list_buffers(const measuring *m, const body_values *b, const living *all, body_buffers *buffers) {
    xir_status status = XIR_OK;
    buffers->first[0] = m->out->n;
    for (size_t at = 0; at < b->ops.size && !status; at++) {
        const xir_op *op = b->ops.data[at];
        uint64_t within;
        for (uint32_t i = 0; i < op->n_outputs && !status; i++) {
            const living *v = &all[b->first[at] + i];
            if (v->own) status = add_value(m, buffers, &op_outputs(op)[i], at, v->last);
        }
        if (!status && xir_op_is(op, xir_call_op_class())) {
            status = measure(m, op, &within);
            if (!status) add_buffer(m, buffers, within, at, at);
        }
    }
    return status;
}

/* Places inside of a buffer are counted from the place of the buffer. */
static xir_status place(const measuring *m, xir_context *ctx, const body_buffers *buffers, uint64_t *bytes) {
    xir_memory_peak peak = XIR_INIT(xir_memory_peak);
    xir_diags *said = xir_diags_new(ctx);
    xir_memory_plan *plan = said ? xir_memory_plan_new(ctx, buffers->of, buffers->n, NULL, said) : NULL;
    const bool memory = !said || (!plan && xir_diags_at(said, 0)->code == XIR_E_MEMORY);
    xir_diags_free(said);
    if (!plan) return memory ? diag_memory(m->why) : far(m);
    const uint64_t *offsets = xir_memory_plan_offsets(plan);
    for (size_t i = 0; i < buffers->n; i++)
        for (size_t k = buffers->first[i]; k < buffers->first[i + 1]; k++) m->out->of[k].offset += offsets[i];
    const xir_status status = xir_memory_plan_peak(plan, &peak, m->why);
    xir_memory_plan_free(plan);
    *bytes = peak.bytes;
    return status;
}

static xir_status measure_body(const measuring *m, const body_values *b, const xir_op *op, uint64_t *bytes) {
    const xir_allocator *alloc = &op->net->ctx->alloc;
    const size_t most = b->n + b->ops.size + 1;
    living *all = mem_new(alloc, (b->n + 1) * sizeof *all);
    body_buffers buffers = { .of = mem_new(alloc, most * sizeof *buffers.of),
                             .first = mem_new(alloc, most * sizeof *buffers.first) };
    const bool ready = all && buffers.of && buffers.first;
    xir_status status = ready ? XIR_OK : diag_memory(m->why);
    if (!status) find_lives(b, all);
    if (!status) status = list_buffers(m, b, all, &buffers);
    if (!status && buffers.n) status = place(m, op->net->ctx, &buffers, bytes);
    mem_free(alloc, all, (b->n + 1) * sizeof *all);
    mem_free(alloc, buffers.of, most * sizeof *buffers.of);
    mem_free(alloc, buffers.first, most * sizeof *buffers.first);
    return status;
}

static xir_status measure(const measuring *m, const xir_op *op, uint64_t *bytes) {
    *bytes = 0;
    if (!xir_op_is(op, xir_call_op_class())) return XIR_OK;
    const xir_ops ops = ((const xir_call_op_attrs *)op->attrs)->body;
    measuring inner = *m;
    body_values b;
    if (!ops.size) return XIR_OK;
    if (++inner.depth > MOST_DEPTH) return far(m);
    xir_status status = body_open(&b, &op->net->ctx->alloc, ops);
    if (!status) status = measure_body(&inner, &b, op, bytes);
    else if (status == XIR_E_MEMORY) status = diag_memory(m->why);
    else status = diag_fail(m->why, status, XIR_STR(""), "an op is listed twice in the body of a call");
    body_close(&b);
    return status;
}

xir_status scratch_of(const xir_op *op, uint64_t align, scratch_bytes_fn *bytes_of, const void *user,
                      scratch_values *out, uint64_t *bytes, xir_diags *why) {
    const measuring m = { bytes_of, user, align, out, why, 0 };
    return measure(&m, op, bytes);
}

void scratch_free(const xir_allocator *alloc, scratch_values *values) {
    mem_free(alloc, values->of, values->room * sizeof *values->of);
}
