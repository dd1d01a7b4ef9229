/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Buffers from lives. A value that is the oldest in its bytes makes a buffer, those in the same bytes later join it. */
#include "values.h"
#include <inttypes.h>
#include <stdio.h>
#include <xir/ops.h>
#include <xir/symbols.h>
#include "graph.h"
#include "scratch.h"
#include "sized.h"

#define OPTIONS_STRUCT SIZED(xir_memory_buffers_options, user)

typedef struct maker {
    xir_memory_buffers *b;
    const xir_liveness *l;
    const xir_memory_buffers_options *how;
    xir_diags *why;
} maker;

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static xir_status fail_bytes(const maker *m, const xir_value *v, const char *what) {
    char path[64];
    const xir_op *op = xir_value_op(v);
    while (xir_op_parent(op)) op = xir_op_parent(op);
    const xir_str name = xir_value_name(v);
    const int n = snprintf(path, sizeof path, "/ops/%" PRId64, xir_network_index_of(m->b->net, op));
    if (op == xir_value_op(v))
        snprintf(path + n, sizeof path - (size_t)n, "/outputs/%zu", (size_t)(v - op_outputs(op)));
    return diag_fail(m->why, XIR_E_BOUNDS, xir_str_of(path), "the bytes of value '%.*s' %s", CLIP(name), what);
}

static xir_status fail_unknown(const maker *m, const xir_value *v) {
    return fail_bytes(m, v, "are unknown: bind its symbols, or give a number for them");
}

static xir_status fail_far(const maker *m, const xir_value *v) { return fail_bytes(m, v, "exceed 2^64 - 1"); }

/* The bytes of a value whose dims are not all numbers. */
static xir_status find_bytes(const maker *m, const xir_value *v, uint64_t *bytes) {
    const xir_type *type = xir_value_type(v);
    if (!type || !m->how->upper) return fail_unknown(m, v);
    const xir_type *known = xir_type_with_known_dims(m->b->net->ctx, type, m->how->upper, m->why);
    if (!known) return XIR_E_BOUNDS;
    const xir_status status = xir_type_bytes(known, bytes);
    return status == XIR_E_BOUNDS || status == XIR_E_UNKNOWN ? fail_unknown(m, v) : status ? fail_far(m, v) : XIR_OK;
}

/* The bytes of a value of a body. */
static xir_status bytes_inside(const void *user, const xir_value *v, uint64_t *bytes, bool *takes) {
    const maker *m = user;
    *bytes = 0;
    *takes = !m->how->takes || m->how->takes(m->how->user, v);
    if (!*takes) return XIR_OK;
    const xir_status status = v->type ? xir_type_bytes(v->type, bytes) : XIR_E_BOUNDS;
    return status == XIR_E_LIMIT ? fail_far(m, v) : status ? find_bytes(m, v, bytes) : XIR_OK;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static bool reserve(xir_memory_buffers *b) {
    return mem_reserve(b->alloc, (void **)&b->data, &b->room, b->n + 1, sizeof *b->data) &&
           mem_reserve(b->alloc, (void **)&b->first, &b->first_room, b->n + 1, sizeof *b->first) &&
           mem_reserve(b->alloc, (void **)&b->values, &b->value_room, b->n_values + 1, sizeof *b->values) &&
           mem_reserve(b->alloc, (void **)&b->buffer_of, &b->buffer_room, b->n_values + 1, sizeof *b->buffer_of) &&
           mem_reserve(b->alloc, (void **)&b->offset_of, &b->offset_room, b->n_values + 1, sizeof *b->offset_of);
}

static xir_status add_value(const maker *m, const xir_value *v, const xir_life *life) {
    xir_memory_buffers *b = m->b;
    const uint32_t *joined = pointer_table_find(&b->bases, life->in);
    if (!reserve(b)) return diag_memory(m->why);
    const uint32_t number = joined ? *joined : (uint32_t)b->n;
    if (!pointer_table_add(&b->numbers, v, (uint32_t)b->n_values) ||
        (!joined && !pointer_table_add(&b->bases, life->in, number))) return diag_memory(m->why);
    b->values[b->n_values] = v;
    b->offset_of[b->n_values] = life->offset;
    b->buffer_of[b->n_values++] = number;
    if (joined) return XIR_OK;
    xir_buffer it = { .from = life->first, .to = life->end, .size = life->bytes, .align = m->how->align };
    if (!life->known) {
        xir_status status = find_bytes(m, v, &it.size);
        if (status) return status;
    } else if (life->bytes == UINT64_MAX) {
        return fail_far(m, v);
    } else if (life->in != v) {   /* it may be a part of that */
        xir_life whole = XIR_INIT(xir_life);
        if (xir_liveness_of(m->l, life->in, &whole)) it.size = whole.bytes;
    }
    it.fixed = m->how->is_fixed && m->how->is_fixed(m->how->user, v, &it.offset);
    if (it.fixed && it.offset < life->offset) return fail_bytes(m, v, "are a part of others, which begin below 0");
    if (it.fixed) it.offset -= life->offset;
    b->first[b->n] = v;
    b->data[b->n++] = it;
    return XIR_OK;
}

static bool is_taken(const maker *m, const xir_value *v, const xir_life *life) {
    return !life->of_params && (!m->how->takes || m->how->takes(m->how->user, v));
}

/* Returns true if all values of a body have places already, and these are the places of its plan from one offset on. */
static bool is_fixed_inside(const maker *m, const scratch_values *inside, uint64_t *offset) {
    for (size_t i = 0; i < inside->n; i++) {
        uint64_t its;
        if (!m->how->is_fixed || !m->how->is_fixed(m->how->user, inside->of[i].value, &its)) return false;
        if (its < inside->of[i].offset || (i && its - inside->of[i].offset != *offset)) return false;
        *offset = its - inside->of[i].offset;
    }
    return inside->n;
}

/* The values of a body are in the buffer of its call. */
static xir_status add_inside(const maker *m, const scratch_values *inside) {
    xir_memory_buffers *b = m->b;
    for (size_t i = 0; i < inside->n; i++) {
        if (!reserve(b) || !pointer_table_add(&b->numbers, inside->of[i].value, (uint32_t)b->n_values))
            return diag_memory(m->why);
        b->values[b->n_values] = inside->of[i].value;
        b->offset_of[b->n_values] = inside->of[i].offset;
        b->buffer_of[b->n_values++] = (uint32_t)b->n;
    }
    return XIR_OK;
}

/* A value of a body that stands for one outside is where that is. */
static xir_status add_alias(const maker *m, const xir_value *inside, const xir_value *outside) {
    xir_memory_buffers *b = m->b;
    const uint32_t *known = outside ? pointer_table_find(&b->numbers, outside) : NULL;
    if (!known || pointer_table_find(&b->numbers, inside)) return XIR_OK;
    const uint32_t number = *known;
    if (!reserve(b) || !pointer_table_add(&b->numbers, inside, (uint32_t)b->n_values)) return diag_memory(m->why);
    b->values[b->n_values] = inside;
    b->offset_of[b->n_values] = b->offset_of[number];
    b->buffer_of[b->n_values] = b->buffer_of[number];
    b->n_values++;
    return XIR_OK;
}

/* The ports of a call, and of the calls in its body. */
static xir_status add_ports(const maker *m, const xir_op *call) {
    if (!xir_op_is(call, xir_call_op_class())) return XIR_OK;
    const xir_ops ops = ((const xir_call_op_attrs *)call->attrs)->body;
    const xir_op *in = ops.size ? ops.data[0] : NULL, *out = ops.size ? ops.data[ops.size - 1] : NULL;
    xir_status status = XIR_OK;
    for (uint32_t i = 0; in && i < in->n_outputs && i < call->n_inputs && !status; i++)
        status = add_alias(m, &op_outputs(in)[i], op_inputs(call)[i].value);
    for (uint32_t i = 0; out && i < out->n_inputs && i < call->n_outputs && !status; i++) {
        const xir_value *v = op_inputs(out)[i].value;
        const bool own = v && !value_is_params(v) && value_op(v) != in && xir_op_parent(value_op(v)) == call;
        if (own) status = add_alias(m, v, &op_outputs(call)[i]);
    }
    for (size_t i = 0; i < ops.size && !status; i++) status = add_ports(m, ops.data[i]);
    return status;
}

/* The values of a call's body need bytes while it runs. */
static xir_status add_scratch(const maker *m, const xir_op *op, size_t at) {
    xir_memory_buffers *b = m->b;
    scratch_values inside = { NULL, 0, 0 };
    uint64_t bytes;
    xir_status status = scratch_of(op, m->how->align, bytes_inside, m, &inside, &bytes, m->why);
    if (!status && bytes) status = add_inside(m, &inside);
    if (!status && bytes) {
        xir_buffer it = { .from = (int64_t)at, .to = (int64_t)at, .size = bytes, .align = m->how->align };
        it.fixed = is_fixed_inside(m, &inside, &it.offset);
        if (!reserve(b)) status = diag_memory(m->why);
        else b->first[b->n] = NULL, b->data[b->n++] = it;
    }
    scratch_free(b->alloc, &inside);
    return status ? status : add_ports(m, op);
}

static xir_status add_values(const maker *m) {
    xir_memory_buffers *b = m->b;
    xir_status status = XIR_OK;
    for (size_t at = 0; at < b->n_ops && !status; at++) {
        const xir_op *op = xir_liveness_op_at(m->l, (int64_t)at);
        b->ops[at] = op;
        for (size_t i = 0; i < op->n_outputs && !status; i++) {
            const xir_value *v = &op_outputs(op)[i];
            xir_life life = XIR_INIT(xir_life);
            if (!xir_liveness_of(m->l, v, &life) || !is_taken(m, v, &life)) continue;
            status = add_value(m, v, &life);
        }
        if (!status && op_has_children(op)) status = add_scratch(m, op, at);
    }
    return status;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

xir_memory_buffers *xir_memory_buffers_new(const xir_liveness *l, const xir_memory_buffers_options *options,
                                           xir_diags *why) {
    xir_memory_buffers_options how;
    const xir_network *net = xir_liveness_network(l);
    if (!l) {
        diag_null(why, "liveness");
        return NULL;
    }
    if (sized_take(OPTIONS_STRUCT, &how, options, why)) return NULL;
    if (how.upper < 0) {
        diag_fail(why, XIR_E_BOUNDS, XIR_STR(""), "%" PRId64 " for a dim is negative", how.upper);
        return NULL;
    }
    xir_memory_buffers *b = mem_new(&net->ctx->alloc, sizeof *b);
    if (!b) {
        diag_memory(why);
        return NULL;
    }
    *b = (xir_memory_buffers){ .net = net, .alloc = &net->ctx->alloc, .n_ops = xir_liveness_op_count(l) };
    pointer_table_init(&b->numbers, b->alloc);
    pointer_table_init(&b->bases, b->alloc);
    b->ops = mem_new(b->alloc, (b->n_ops + 1) * sizeof *b->ops);
    const maker m = { .b = b, .l = l, .how = &how, .why = why };
    if (b->ops ? !add_values(&m) : (diag_memory(why), false)) return b;
    xir_memory_buffers_free(b);
    return NULL;
}

void xir_memory_buffers_free(xir_memory_buffers *b) {
    if (!b) return;
    const xir_allocator *alloc = b->alloc;
    mem_free(alloc, (void *)b->ops, (b->n_ops + 1) * sizeof *b->ops);
    mem_free(alloc, b->data, b->room * sizeof *b->data);
    mem_free(alloc, (void *)b->first, b->first_room * sizeof *b->first);
    mem_free(alloc, (void *)b->values, b->value_room * sizeof *b->values);
    mem_free(alloc, b->buffer_of, b->buffer_room * sizeof *b->buffer_of);
    mem_free(alloc, b->offset_of, b->offset_room * sizeof *b->offset_of);
    pointer_table_free(&b->numbers);
    pointer_table_free(&b->bases);
    mem_free(alloc, b, sizeof *b);
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

size_t xir_memory_buffers_count(const xir_memory_buffers *b) { return b ? b->n : 0; }

const xir_buffer *xir_memory_buffers_data(const xir_memory_buffers *b) { return b ? b->data : NULL; }

const xir_value *xir_memory_buffers_value(const xir_memory_buffers *b, size_t i) {
    return b && i < b->n ? b->first[i] : NULL;
}

size_t xir_memory_buffers_find(const xir_memory_buffers *b, const xir_value *value) {
    const uint32_t *number = b && value ? pointer_table_find(&b->numbers, value) : NULL;
    return number ? b->buffer_of[*number] : SIZE_MAX;
}

uint64_t xir_memory_buffers_offset(const xir_memory_buffers *b, const xir_value *value) {
    const uint32_t *number = b && value ? pointer_table_find(&b->numbers, value) : NULL;
    return number ? b->offset_of[*number] : 0;
}
