/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "scratch.h"
#include <xir/ops.h>
#include "body_values.h"

enum { MOST_DEPTH = 32 };

typedef struct measuring {
    scratch_bytes_fn *bytes_of;
    const void       *user;
    xir_diags        *why;
    unsigned          depth;
} measuring;

/* Values of a body by index. */
typedef struct living {
    uint64_t bytes;
    size_t   last;    /* the place of the last op that reads it                    */
    bool     own;     /* neither an input of the body nor a result                 */
} living;

static xir_status measure(const measuring *m, const xir_op *op, uint64_t *peak);

static xir_status far(const measuring *m) {
    return diag_fail(m->why, XIR_E_LIMIT, XIR_STR(""), "the bytes of the body of a call exceed 2^64 - 1, or more than "
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

/* Adds up along the body; `ending` has room for the bytes that end at each op. */
static xir_status sum_up(const measuring *m, const body_values *b, living *all, uint64_t *ending, uint64_t *peak) {
    uint64_t sum = 0, within, now;
    xir_status status = XIR_OK;
    memset(ending, 0, b->ops.size * sizeof *ending);
    for (size_t at = 0; at < b->ops.size && !status; at++) {
        const xir_op *op = b->ops.data[at];
        for (uint32_t i = 0; i < op->n_outputs && !status; i++) {
            living *v = &all[b->first[at] + i];
            if (!v->own) continue;
            status = m->bytes_of(m->user, &op_outputs(op)[i], &v->bytes);
            if (!status && !add_u64(sum, v->bytes, &sum)) status = far(m);
            if (!status) ending[v->last] += v->bytes;
        }
        if (!status) status = measure(m, op, &within);
        if (!status && !add_u64(sum, within, &now)) status = far(m);
        if (!status && now > *peak) *peak = now;
        sum -= ending[at];
    }
    return status;
}

static xir_status measure(const measuring *m, const xir_op *op, uint64_t *peak) {
    *peak = 0;
    if (!xir_op_is(op, xir_call_op_class())) return XIR_OK;
    const xir_ops ops = ((const xir_call_op_attrs *)op->attrs)->body;
    const measuring inner = { m->bytes_of, m->user, m->why, m->depth + 1 };
    const xir_allocator *alloc = &op->net->ctx->alloc;
    body_values b;
    if (!ops.size) return XIR_OK;
    if (inner.depth > MOST_DEPTH) return far(m);
    xir_status status = body_open(&b, alloc, ops);
    living *all = status ? NULL : mem_new(alloc, (b.n + 1) * sizeof *all);
    uint64_t *ending = status ? NULL : mem_new(alloc, ops.size * sizeof *ending);
    if (!status && all && ending) {
        find_lives(&b, all);
        status = sum_up(&inner, &b, all, ending, peak);
    } else if (status != XIR_E_EXISTS) {
        status = diag_memory(m->why);
    } else {
        status = diag_fail(m->why, status, XIR_STR(""), "an op is listed twice in the body of a call");
    }
    mem_free(alloc, all, (b.n + 1) * sizeof *all);
    mem_free(alloc, ending, ops.size * sizeof *ending);
    body_close(&b);
    return status;
}

xir_status scratch_of(const xir_op *op, scratch_bytes_fn *bytes_of, const void *user, uint64_t *bytes, xir_diags *why) {
    const measuring m = { bytes_of, user, why, 0 };
    return measure(&m, op, bytes);
}
