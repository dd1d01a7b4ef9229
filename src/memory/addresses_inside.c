/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Each body is checked as a plan of its own, memory by memory. What a body within needs is one more buffer of it for
 * each run of bytes, while its call runs; and the runs of the outermost body are compared with what lives outside. */
#include "addresses_inside.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xir/ops.h>
#include "body_values.h"

enum { PATH_ROOM = 160, MOST_DEPTH = 32 };

/* Bytes that something in a body has, from one place of the order to another. */
typedef struct held {
    place            at;
    size_t           first, last;
    const xir_value *value;
    size_t           op;         /* of the body */
} held;

typedef struct held_list { held *of; size_t n, room; } held_list;

typedef struct level { inside_check *c; const xir_op *call; const char *path; unsigned depth; } level;

/* Fills in the place of a value. Returns false if it is on the host, or if its bytes are unknown, none, or end beyond
 * 2^64 - 1. */
static bool place_of(const xir_value *v, place *out) {
    const xir_mtype *mtype = xir_value_mtype(v);
    const xir_mtype_kind kind = xir_mtype_kind_of(mtype);
    const bool chunk = kind == XIR_MTYPE_CHUNK;
    uint64_t bytes;
    if (kind == XIR_MTYPE_HOST || !v->type || xir_type_bytes(v->type, &bytes) || !bytes) return false;
    *out = (place){ .memory = chunk ? xir_mtype_addr(mtype) * 4 + kind : (uint64_t)kind,
                    .from = chunk ? xir_mtype_offset(mtype) : xir_mtype_addr(mtype) };
    return add_u64(out->from, bytes, &out->to);
}

static void fail(const level *l, size_t op, const xir_value *v, const char *format, ...) XIR_PRINTF(4, 5);
static void fail(const level *l, size_t op, const xir_value *v, const char *format, ...) {
    char path[PATH_ROOM + 60], sentence[SENTENCE_ROOM];
    va_list args;
    va_start(args, format);
    text_vprint(sentence, sizeof sentence, format, args);
    va_end(args);
    const int n = snprintf(path, sizeof path, "%s/body/%zu", l->path, op);
    if (xir_op_parent(value_op(v)) == l->call)   /* and not in a body within */
        snprintf(path + n, sizeof path - (size_t)n, "/outputs/%zu", (size_t)(v - op_outputs(value_op(v))));
    diag_fail(l->c->why, XIR_E_INVALID, xir_str_of(path), "%s", sentence);
    if (!l->c->status) l->c->status = XIR_E_INVALID;
}

/* ---- ports ------------------------------------------------------------------------------------------------------- */

static void check_port(const level *l, size_t op, const xir_value *v, const xir_value *outside, const char *what) {
    place its, other;
    if (!outside || !place_of(v, &its) || !place_of(outside, &other)) return;
    if (its.memory == other.memory && its.from == other.from) return;
    fail(l, op, v, "it is not where the %s of the call is", what);
}

static void check_ports(const level *l, const body_values *b) {
    const xir_op *call = l->call;
    const xir_op *in = body_input(b), *out = body_output(b);
    for (uint32_t i = 0; i < in->n_outputs && i < call->n_inputs; i++)
        check_port(l, 0, &op_outputs(in)[i], op_inputs(call)[i].value, "input");
    for (uint32_t i = 0; i < out->n_inputs && i < call->n_outputs; i++) {
        const xir_value *v = op_inputs(out)[i].value;
        const size_t at = v && !value_is_params(v) ? body_place(b, value_op(v)) : SIZE_MAX;
        if (at != SIZE_MAX && at) check_port(l, at, v, &op_outputs(call)[i], "output");
    }
}

/* ---- what is held ------------------------------------------------------------------------------------------------ */

static bool add(const inside_check *c, held_list *list, const held *it) {
    if (!mem_reserve(&c->ctx->alloc, (void **)&list->of, &list->room, list->n + 1, sizeof *list->of)) return false;
    list->of[list->n++] = *it;
    return true;
}

static void free_list(const inside_check *c, const held_list *list) {
    mem_free(&c->ctx->alloc, list->of, list->room * sizeof *list->of);
}

/* Finds the last op that reads each value, by index; SIZE_MAX: the value is a port. */
static void find_last(const body_values *b, size_t *last) {
    const size_t n = b->ops.size;
    for (size_t at = 0; at < n; at++) {
        for (uint32_t i = 0; i < b->ops.data[at]->n_outputs; i++) last[b->first[at] + i] = at ? at : SIZE_MAX;
        for (uint32_t i = 0; i < b->ops.data[at]->n_inputs; i++) {
            const size_t index = body_index(b, op_inputs(b->ops.data[at])[i].value);
            if (index != SIZE_MAX && last[index] != SIZE_MAX) last[index] = at + 1 < n ? at : SIZE_MAX;
        }
    }
}

static void check_place(const level *l, const held *it) {
    const uint64_t align = l->c->how->align, most = l->c->how->onchip;
    if (align > 1 && it->at.from % align)
        fail(l, it->op, it->value, "the address %" PRIu64 " is not a multiple of %" PRIu64, it->at.from, align);
    if (it->at.memory == XIR_MTYPE_ONCHIP && most && it->at.to > most)
        fail(l, it->op, it->value, "%" PRIu64 " bytes at %" PRIu64 " end beyond the on-chip memory, which has %" PRIu64,
             it->at.to - it->at.from, it->at.from, most);
}

static xir_status look_at(const level *l, held_list *runs);

static xir_status list_held(const level *l, const body_values *b, const size_t *last, held_list *list) {
    xir_status status = XIR_OK;
    for (size_t at = 1; at + 1 < b->ops.size && !status; at++) {
        const xir_op *op = b->ops.data[at];
        char path[PATH_ROOM];
        for (uint32_t i = 0; i < op->n_outputs && !status; i++) {
            held it = { .first = at, .last = last[b->first[at] + i], .value = &op_outputs(op)[i], .op = at };
            if (it.last == SIZE_MAX || !place_of(it.value, &it.at)) continue;
            check_place(l, &it);
            if (!add(l->c, list, &it)) status = diag_memory(l->c->why);
        }
        if (status || !xir_op_is(op, xir_call_op_class())) continue;
        held_list runs = { NULL, 0, 0 };
        snprintf(path, sizeof path, "%s/body/%zu", l->path, at);
        status = look_at(&(level){ l->c, op, path, l->depth + 1 }, &runs);
        for (size_t i = 0; i < runs.n && !status; i++) {
            held it = runs.of[i];
            it.first = it.last = it.op = at;
            if (!add(l->c, list, &it)) status = diag_memory(l->c->why);
        }
        free_list(l->c, &runs);
    }
    return status;
}

static int by_place(const void *a, const void *b) {
    const held *x = a, *y = b;
    if (x->at.memory != y->at.memory) return x->at.memory < y->at.memory ? -1 : 1;
    if (x->at.from != y->at.from) return x->at.from < y->at.from ? -1 : 1;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : (x->at.to > y->at.to) - (x->at.to < y->at.to);
}

/* Checks what is held in one memory. */
static xir_status compare(const level *l, const held *all, size_t n) {
    const xir_allocator *alloc = &l->c->ctx->alloc;
    xir_buffer *buffers = mem_new(alloc, n * sizeof *buffers);
    uint64_t *offsets = mem_new(alloc, n * sizeof *offsets);
    xir_diags *said = xir_diags_new(l->c->ctx);
    const bool ready = buffers && offsets && said;
    for (size_t i = 0; ready && i < n; i++) {
        buffers[i] = (xir_buffer){ .from = (int64_t)all[i].first, .to = (int64_t)all[i].last,
                                   .size = all[i].at.to - all[i].at.from };
        offsets[i] = all[i].at.from;
    }
    xir_status status = ready ? xir_memory_plan_check(l->c->ctx, buffers, offsets, n, 0, said) : XIR_E_MEMORY;
    const xir_diag *d = status ? xir_diags_at(said, 0) : NULL;
    const size_t number = d && d->path.size > 1 ? (size_t)strtoull(d->path.data + 1, NULL, 10) : SIZE_MAX;
    if (number < n)
        fail(l, all[number].op, all[number].value, "bytes %" PRIu64 " to %" PRIu64 " overlap those of another value of "
             "the body, which lives at the same time", all[number].at.from, all[number].at.to - 1);
    xir_diags_free(said);
    mem_free(alloc, buffers, n * sizeof *buffers);
    mem_free(alloc, offsets, n * sizeof *offsets);
    return status == XIR_E_MEMORY ? diag_memory(l->c->why) : XIR_OK;
}

/* Compares what is held, and joins the bytes to runs. */
static xir_status settle(const level *l, held_list *list, held_list *runs) {
    xir_status status = XIR_OK;
    if (list->n) qsort(list->of, list->n, sizeof *list->of, by_place);
    for (size_t i = 0, end; i < list->n && !status; i = end) {
        for (end = i; end < list->n && list->of[end].at.memory == list->of[i].at.memory;) end++;
        status = compare(l, &list->of[i], end - i);
    }
    for (size_t i = 0; i < list->n && !status; i++) {
        held *last = runs->n ? &runs->of[runs->n - 1] : NULL;
        const place *it = &list->of[i].at;
        const bool joins = last && last->at.memory == it->memory && it->from <= last->at.to;
        if (joins && it->to > last->at.to) last->at.to = it->to;
        if (!joins && !add(l->c, runs, &list->of[i])) status = diag_memory(l->c->why);
    }
    return status;
}

/* Checks a body; `runs` are the bytes that it needs. */
static xir_status look_at(const level *l, held_list *runs) {
    const xir_ops ops = ((const xir_call_op_attrs *)l->call->attrs)->body;
    const xir_allocator *alloc = &l->c->ctx->alloc;
    body_values b;
    held_list list = { NULL, 0, 0 };
    if (ops.size < 2 || l->depth > MOST_DEPTH) return XIR_OK;   /* such a call is not valid */
    const xir_status opened = body_open(&b, alloc, ops);
    size_t *last = opened ? NULL : mem_new(alloc, (b.n + 1) * sizeof *last);
    xir_status status = opened == XIR_E_MEMORY || (!opened && !last) ? diag_memory(l->c->why) : XIR_OK;
    if (last) {
        find_last(&b, last);
        check_ports(l, &b);
        status = list_held(l, &b, last, &list);
        if (!status) status = settle(l, &list, runs);
    }
    free_list(l->c, &list);
    mem_free(alloc, last, (b.n + 1) * sizeof *last);
    body_close(&b);
    return status;
}

xir_status inside_check_call(inside_check *c, const xir_op *call, int64_t number) {
    char path[40];
    held_list runs = { NULL, 0, 0 };
    snprintf(path, sizeof path, "/ops/%" PRId64, number);
    const level l = { c, call, path, 0 };
    xir_status status = look_at(&l, &runs);
    for (size_t i = 0; i < runs.n && !status; i++) {
        const held *it = &runs.of[i];
        const xir_value *other = c->living(c->user, &it->at);
        if (other)
            fail(&l, it->op, it->value, "bytes %" PRIu64 " to %" PRIu64 " that the body needs overlap those of value "
                 "'%.*s', which lives while the call runs", it->at.from, it->at.to - 1, CLIP(xir_value_name(other)));
    }
    free_list(c, &runs);
    return status;
}
