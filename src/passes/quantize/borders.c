/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Borders between floats and stored numbers. A value is converted once for each side. */
#include <stdio.h>
#include <xir/ops.h>
#include <xir/sugar.h>
#include "quantize.h"
#include "support/upkeep.h"

static const xir_type *with_element(const quantizing *q, const xir_value *value, const xir_type *element) {
    return element ? xir_type_with_element(q->net->ctx, value->type, element, q->at->why) : NULL;
}

/* A cursor for an op that is called like a value, with a suffix; `room` holds the name. */
enum { NAME_ROOM = 260 };
static xir_at cursor(const quantizing *q, const xir_value *value, const char *suffix, xir_op *before,
                     char room[NAME_ROOM]) {
    const xir_str name = xir_value_name(value);
    const int shown = name.size < 200 ? (int)name.size : 200;
    room[0] = '\0';
    if (name.size) snprintf(room, NAME_ROOM, "%.*s%s", shown, name.data, suffix);
    return (xir_at){ .net = q->net, .before = before, .name = xir_str_of(room) };
}

static xir_value *make(xir_at at, xir_value *value, const xir_type *type, const scheme *s, bool quantize) {
    const xir_tensor_type *to = xir_type_as_tensor(type);
    const xir_str name = at.name;
    xir_value *out = quantize
        ? XIR_OP(at, quantize, .input = value, .attrs = XIR_ATTRS(quantize, (target_dtype, to),
                 (rounding, s->half_even ? XIR_TIES_HALF_EVEN : XIR_TIES_HALF_AWAY), (full_range, s->full_range)))
        : XIR_OP(at, cast, .input = value, .attrs = XIR_ATTRS(cast, (target_dtype, to)));
    return out && name.size && xir_value_set_name(out, name) ? NULL : out;
}

xir_status move_uses(const quantizing *q, xir_value *from, xir_value *to) {
    for (xir_use *u = from->uses, *next; u; u = next) {
        next = (xir_use *)(uintptr_t)xir_use_next(u);
        xir_op *op = xir_use_op(u);
        if (op == value_op(to) || (q->products && !is_product(op))) continue;
        const xir_status status = xir_op_set_input(op, xir_use_index(u), to);
        if (status) return status;
    }
    return XIR_OK;
}

xir_status store_value(quantizing *q, xir_value *value, const xir_type *element, xir_op *before) {
    char room[NAME_ROOM];
    const xir_type *type = with_element(q, value, element);
    if (!type) return XIR_E_MEMORY;
    xir_value *stored = make(cursor(q, value, q->real_maps ? ".normalized" : ".quantized", before, room), value, type,
                             &q->scheme, q->scheme.pairs);
    if (!stored) return xir_network_status(q->net);
    xir_pass_changed(q->at, 1);
    return move_uses(q, value, stored);
}

xir_value *cast_value(quantizing *q, xir_value *value, const xir_type *element, xir_op *before) {
    char room[NAME_ROOM];
    const xir_type *type = with_element(q, value, element);
    const xir_float_type *to = xir_float_type_of((const xir_object *)element);
    const bool real = to && to->format == XIR_FLOAT_FP32;
    xir_value *out = type ? make(cursor(q, value, real ? ".real" : ".rounded", before, room), value, type,
                                 &q->scheme, false) : NULL;
    if (out) xir_pass_changed(q->at, 1);
    return out;
}

/* The floats of a stored value. */
static xir_value *floats_of(quantizing *q, xir_value *value, xir_op *before) {
    const uint32_t *known = pointer_table_find(&q->casts, value);
    if (known) return q->floats[*known];
    if (q->n_floats == q->room) {
        const size_t room_now = q->room ? q->room * 2 : 32;
        const xir_allocator *alloc = &q->net->alloc;
        xir_value **floats = alloc->resize(alloc->user, q->floats, q->room * sizeof *floats, room_now * sizeof *floats);
        if (!floats) return NULL;
        q->floats = floats;
        q->room = room_now;
    }
    xir_value *out = cast_value(q, value, xir_type_expressed(value->type), before);
    if (!out || !pointer_table_add(&q->casts, value, (uint32_t)q->n_floats)) return NULL;
    return q->floats[q->n_floats++] = out;
}

xir_status read_floats(quantizing *q, xir_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        xir_value *value = op_inputs(op)[i].value;
        if (!is_stored(value) || value_is_params(value)) continue;
        xir_value *floats = floats_of(q, value, op);
        if (!floats) return xir_network_status(q->net) ? xir_network_status(q->net) : XIR_E_MEMORY;
        const xir_status status = xir_op_set_input(op, i, floats);
        if (status) return status;
    }
    return XIR_OK;
}

/* A value that has a name which another one needs gets a suffix. */
static xir_status move_name(const quantizing *q, xir_value *holder) {
    char room[NAME_ROOM];
    const xir_str name = xir_value_name(holder);
    const int shown = name.size < 200 ? (int)name.size : 200;
    snprintf(room, sizeof room, "%.*s%s", shown, name.data,
             !is_stored(holder) ? ".computed" : q->real_maps ? ".normalized" : ".quantized");
    return xir_value_set_name(holder, xir_str_of(room));
}

xir_status name_outputs(quantizing *q, const xir_str *names) {
    const xir_op *out = xir_network_output_op(q->net), *in = xir_network_input_op(q->net);
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < out->n_inputs && !status; i++) {
        xir_value *value = op_inputs(out)[i].value;
        if (!value || !names[i].size || xir_str_equal(xir_value_name(value), names[i])) continue;
        xir_value *holder = xir_network_value_by_name(q->net, names[i]);
        if (!holder) return XIR_E_MEMORY;   /* for the table of names: some value has it */
        if (in && value_op(holder) == in) continue;   /* an input is a result: it keeps its name */
        if (value_op(holder)) status = move_name(q, holder);
        if (!status) status = xir_value_set_name(value, names[i]);
    }
    return status;
}
