/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Values and ops. A value is written before the first op that has it as an output or an input, and then referred to. */
#include "flat/write.h"

/* ---- values ------------------------------------------------------------------------------------------------ */

static void put_extra(flat_writer *w, flat_fields *f, const flat_table *t, const xir_map *undeclared) {
    flat_set_at(f, t->slots[t->extra].slot, flat_extra(w, f, undeclared));
}

/* The common fields of Values and Params; `first` is the slot of the type. */
static void put_common(flat_writer *w, flat_fields *f, const flat_table *t, const xir_value *v, int id, int first) {
    const value_more *more = value_more_of(v);
    const flat_slot *slots = t->slots;
    flat_set64(f, slots[id].slot, (uint64_t)v->id);
    flat_set_at(f, slots[id + 1].slot, more ? flat_text(w, name_text(more->name)) : w->no_text);
    flat_set_at(f, slots[id + 2].slot, more ? flat_plain_map(w, f, more->tags) : w->no_map);
    const xir_object *type = (const xir_object *)v->type;
    const xir_object *place = (const xir_object *)(more && more->mtype ? more->mtype : w->ctx->host_mem);
    bool has_type = flat_object(w, f, &slots[first], type), has_place = flat_object(w, f, &slots[first + 1], place);
    if (!has_type) flat_item(w, (extra_item){ slots[first].name, EXTRA_OBJECT, .as.object = type });
    if (!has_place) flat_item(w, (extra_item){ slots[first + 1].name, EXTRA_OBJECT, .as.object = place });
    w->e.plain = true;
    if (w->n_items || (more && more->extra)) put_extra(w, f, t, more ? more->extra : NULL);
    w->e.plain = false;
    if (f->height + 1 > w->value_height) w->value_height = f->height + 1;
}

/* Its own fields are the id and the name. */
static uint32_t value_again(flat_writer *w, flat_pattern *p, const xir_value *v) {
    const value_more *more = value_more_of(v);
    uint32_t name = more ? flat_text(w, name_text(more->name)) : w->no_text;
    uint8_t *table = flat_copy(w, p);
    if (!table) return 0;
    flat_own64(table, p, 0, (uint64_t)v->id);
    flat_own_at(table, p, 1, name);
    return p->at;
}

uint32_t flat_value(flat_writer *w, const xir_value *v) {
    flat_pattern *p = flat_value_pattern(w, v);
    if (p && p->bytes) return value_again(w, p, v);
    const flat_table *t = w->s.value;
    flat_fields f;
    flat_fields_init(&f);
    put_common(w, &f, t, v, VALUE_SLOT_ID, VALUE_SLOT_DTYPE);
    uint32_t at = flat_put(w, t, &f);
    bool has_extra = f.middle >> t->slots[VALUE_SLOT_EXTRA].slot & 1;
    if (p && !has_extra)
        flat_learn(w, p, &f, (const uint16_t[]){ t->slots[VALUE_SLOT_ID].slot, t->slots[VALUE_SLOT_NAME].slot }, 2, at);
    return at;
}

/* The offset to the bytes is filled in when the structure is complete: only then is their place known. */
uint32_t flat_params(flat_writer *w, const xir_value *v) {
    const params *p = value_params(v);
    flat_params_at *known = &w->params[p->number];
    if (known->at) return known->at;
    const flat_table *t = w->s.params;
    flat_fields f;
    flat_fields_init(&f);
    flat_set8(&f, t->slots[PARAMS_SLOT_ALLOW].slot, p->allow_no_data);
    put_common(w, &f, t, v, PARAMS_SLOT_ID, PARAMS_SLOT_DTYPE);
    if (known->has_bytes) flat_set32(&f, t->slots[PARAMS_SLOT_DATA].slot, 1);
    return known->at = flat_put(w, t, &f);
}

/* Writes all outputs of an op, unless they are written already. */
static void put_outputs(flat_writer *w, const xir_op *op) {
    uint32_t *known = &w->outputs[op->slot];
    if (*known || op->n_outputs == 0 || flat_failed(w)) return;
    if (op->n_outputs == 1) {
        *known = flat_value(w, op_outputs(op));
        return;
    }
    if (!mem_reserve(context_alloc(w->ctx), (void **)&w->many, &w->many_room, w->n_many + op->n_outputs,
                     sizeof *w->many)) {
        flat_fail(w, XIR_E_MEMORY);
        return;
    }
    *known = (uint32_t)w->n_many + 1;
    for (uint32_t i = 0; i < op->n_outputs; i++) w->many[w->n_many++] = flat_value(w, &op_outputs(op)[i]);
}

static uint32_t output_at(flat_writer *w, const xir_op *op, size_t i) {
    put_outputs(w, op);
    uint32_t known = w->outputs[op->slot];
    return op->n_outputs == 1 || flat_failed(w) ? known : w->many[known - 1 + i];
}

static void push_value(flat_writer *w, const xir_value *v) {
    if (!v) {
        flat_push(w, 0, 0);
    } else if (value_is_params(v)) {
        flat_push(w, flat_params(w, v), w->tag_params);
    } else if (value_op(v)) {
        flat_push(w, output_at(w, value_op(v), (size_t)(v - op_outputs(value_op(v)))), w->tag_value);
    } else {
        uint32_t at = flat_noted(w, v);
        if (!at) flat_note(w, v, at = flat_value(w, v));
        flat_push(w, at, w->tag_value);
    }
}

/* ---- ops --------------------------------------------------------------------------------------------------- */

/* Absent inputs at the end are left out. */
static flat_pair put_inputs(flat_writer *w, const xir_op *op) {
    const xir_use *inputs = op_inputs(op);
    size_t n = op->n_inputs, from = w->n_list;
    while (n && !inputs[n - 1].value) n--;
    for (size_t i = 0; i < n && !flat_failed(w); i++) push_value(w, inputs[i].value);
    return flat_pop_pair(w, from);
}

static flat_pair put_op_outputs(flat_writer *w, const xir_op *op) {
    size_t from = w->n_list;
    for (uint32_t i = 0; i < op->n_outputs && !flat_failed(w); i++) flat_push(w, output_at(w, op, i), w->tag_value);
    return flat_pop_pair(w, from);
}

/* Lists the Params that are written in its slots of text. */
static void put_listed(flat_writer *w, flat_fields *f, const flat_slot *slot, const xir_op *op, bool known,
                       uint64_t over) {
    const xir_class *cls = op->cls;
    const xir_map *extra = xir_op_extra(op);
    if (cls->plain && !extra) return;
    size_t from = w->n_list;
    w->lists++;
    if (!known) {
        flat_list_op(w, op);
    } else {
        for (uint32_t i = 0; i < cls->n_fields && !cls->plain; i++) {
            bool spelled = cls->fields[i].kind == XIR_KIND_MAP || (i < 64 && over >> i & 1);
            if (spelled) flat_list_row(w, &cls->fields[i], op->attrs);
        }
        if (extra) flat_list_any(w, &(xir_any){ .kind = XIR_ANY_MAP, .as.map = *extra });
    }
    if (w->n_list > from) flat_set_at(f, slot->slot, flat_pop_tables(w, from));
}

static void copy_fields(flat_fields *to, const flat_fields *from, uint32_t slots) {
    to->wide = from->wide;
    to->middle = from->middle;
    to->narrow = from->narrow;
    to->offsets = from->offsets;
    to->height = from->height;
    memcpy(to->bits, from->bits, slots * sizeof *to->bits);
}

/* Fills the slots of rows, which come first; returns the number of the next slot. */
static uint32_t put_rows(flat_writer *w, flat_fields *f, const flat_table *t, const xir_op *op, uint64_t *over) {
    flat_rows *last = &w->rows[t->number];
    uint32_t n = 0;
    while (t->slots[n].what >= 0) n++;   /* `extra` comes after them */
    if (last->attrs == op->attrs) {
        copy_fields(f, &last->fields, t->slots[n].slot);
        *over = last->over;
        return n;
    }
    for (uint32_t i = 0; i < n && !flat_failed(w); i++) {
        if (!flat_row(w, f, &t->slots[i], op->attrs)) *over |= (uint64_t)1 << t->slots[i].what;
    }
    if (!op->cls->plain || flat_failed(w)) return n;
    last->attrs = op->attrs;
    last->over = *over;
    copy_fields(&last->fields, f, t->slots[n].slot);
    return n;
}

enum { OWN_ID, OWN_NAME, OWN_INPUTS, OWN_OUTPUTS = OWN_INPUTS + 2, OWN_COUNT = OWN_OUTPUTS + 2 };

/* Writes what the own fields refer to in the order of the slots, as flat_op does. */
static uint32_t op_again(flat_writer *w, flat_pattern *p, const xir_op *op, uint8_t *tag, uint32_t *height) {
    put_outputs(w, op);
    uint32_t name = flat_text(w, name_text(op_label(op)));
    flat_pair in = put_inputs(w, op), out = put_op_outputs(w, op);
    uint8_t *table = flat_copy(w, p);
    if (!table) return 0;
    flat_own64(table, p, OWN_ID, (uint64_t)op->id);
    flat_own_at(table, p, OWN_NAME, name);
    flat_own_at(table, p, OWN_INPUTS, in.tags);
    flat_own_at(table, p, OWN_INPUTS + 1, in.tables);
    flat_own_at(table, p, OWN_OUTPUTS, out.tags);
    flat_own_at(table, p, OWN_OUTPUTS + 1, out.tables);
    *tag = p->tag;
    *height = (p->height > w->value_height + 1 ? p->height : w->value_height + 1) + p->levels;
    return p->at;
}

/* Learns the table that flat_op has written, unless it has texts that list what its slots do not hold. */
static void learn_op(flat_writer *w, flat_pattern *p, const flat_table *t, const flat_fields *f, uint32_t at) {
    const flat_slot *extra = &t->slots[t->extra], *base = extra + (FLAT_EXTRA - FLAT_ID);
    if ((f->middle >> extra->slot | f->middle >> extra[1].slot) & 1) return;
    const uint16_t in = base[FLAT_ID - FLAT_INPUTS].slot, out = base[FLAT_ID - FLAT_OUTPUTS].slot;
    const uint16_t own[OWN_COUNT] = {
        base->slot, base[FLAT_ID - FLAT_NAME].slot, in, (uint16_t)(in + 1), out, (uint16_t)(out + 1),
    };
    p->height = f->height;
    p->levels = (uint8_t)flat_levels(t);
    p->tag = flat_tag(w->s.ops, t);
    flat_learn(w, p, f, own, OWN_COUNT, at);
}

uint32_t flat_op(flat_writer *w, const xir_op *op, uint8_t *tag, uint32_t *height) {
    flat_pattern *p = w->depth < w->deepest ? flat_op_pattern(w, op) : NULL;
    if (p && p->bytes) return op_again(w, p, op, tag, height);
    const flat_table *t = flat_table_of(&w->s, op->cls);
    bool known = t != NULL, target = true;
    if (!known) t = w->s.unknown;
    *tag = flat_tag(w->s.ops, t);
    if (!flat_deeper(w)) return 0;
    flat_fields f;
    flat_fields_init(&f);
    uint64_t over = 0;
    const op_more *more = op_more_of(op);
    put_outputs(w, op);
    for (uint32_t i = known ? put_rows(w, &f, t, op, &over) : 0; i < t->n_slots && !flat_failed(w); i++) {
        const flat_slot *slot = &t->slots[i];
        switch ((flat_base)slot->what) {
        case FLAT_ID:      flat_set64(&f, slot->slot, (uint64_t)op->id); break;
        case FLAT_NAME:    flat_set_at(&f, slot->slot, flat_text(w, name_text(op_label(op)))); break;
        case FLAT_INPUTS:  flat_set_pair(&f, slot->slot, put_inputs(w, op)); break;
        case FLAT_OUTPUTS: flat_set_pair(&f, slot->slot, put_op_outputs(w, op)); break;
        case FLAT_TARGET:  target = flat_object(w, &f, slot, (const xir_object *)op_target(op)); break;
        case FLAT_TAGS:    flat_set_at(&f, slot->slot, more ? flat_plain_map(w, &f, more->tags) : w->no_map); break;
        case FLAT_EXTRA: {
            uint64_t out = more && more->absent ? codec_left_out(op->cls, op->attrs, more->absent) : 0;
            if (!known) flat_all_items(w, op, out, !target);
            else if (out | over || !target)
                flat_row_items(w, op->cls, op->attrs, out, over, target ? NULL : op_target(op));
            put_extra(w, &f, t, more ? more->extra : NULL);
            break;
        }
        case FLAT_EXTRA_PARAMS: put_listed(w, &f, slot, op, known, over); break;
        case FLAT_NO_ROW: break;   /* nothing; likewise for the rows of Unknown */
        }
    }
    w->depth--;
    uint32_t at = flat_put(w, t, &f);
    if (p && known) learn_op(w, p, t, &f, at);
    flat_over(&f, w->value_height + 1);   /* in the lists of inputs, outputs and others */
    *height = f.height + flat_levels(t);
    return at;
}
