/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading values and ops. The table of a value is met where the value is defined and again at each use: it is
 * remembered. Other writers may embed a copy at each use: copies are found by v_id. */
#include "flat/read.h"

/* ---- values ------------------------------------------------------------------------------------------------- */

static bool check_id(flat_reader *r, const uint8_t *table, const char *what, int64_t id) {
    bool none = r->d.existing && !r->d.adopts;   /* unplaced values have no id yet */
    if ((id >= 0 || none) && id < INT64_MAX) return true;
    return FLAT_FAIL(r, table, XIR_E_BOUNDS, "%s %" PRId64 " is outside 0 to %" PRId64, what, id, INT64_MAX - 1);
}

static const uint8_t *value_field(const flat_view *t, const flat_table *as, int slot) {
    return flat_field_at(t, as->slots[slot].slot);
}

/* The type or the memory type of a value, if it was read before. */
static inline bool read_again(flat_reader *r, const flat_view *t, const flat_slot *slot, const uint8_t *field,
                              flat_last_ref *last, const xir_object **out) {
    const uint8_t *table = flat_follow(field);
    const flat_table *as = flat_member(t, slot);
    if (table == last->table && as == last->as) {
        *out = last->object;
        return true;
    }
    if (!flat_read_object(r, table, as, out)) return false;
    *last = (flat_last_ref){ table, as, *out };
    return true;
}

static bool read_type(flat_reader *r, const flat_view *t, const flat_slot *slot, const xir_type **out) {
    const uint8_t *field = flat_field_at(t, slot->slot + 1u);
    const xir_object *type;
    if (!field) return true;
    if (!read_again(r, t, slot, field, &r->type, &type)) return false;
    *out = (const xir_type *)type;
    return true;
}

static bool read_mtype(flat_reader *r, const flat_view *t, const flat_slot *slot, const xir_mtype **out) {
    const uint8_t *field = flat_field_at(t, slot->slot + 1u);
    const xir_object *mtype;
    if (!field) return true;
    if (!read_again(r, t, slot, field, &r->place, &mtype)) return false;
    if (mtype->cls != r->d.ctx->types[CLASS_host_mem]) *out = (const xir_mtype *)mtype;
    return true;
}

static bool read_value_extra(flat_reader *r, const uint8_t *field, value_in *in) {
    flat_over over = { .type = &in->type, .mtype = &in->mtype };
    return flat_read_extra(r, field, &over, &in->extra);
}

/* The fields of a value's or Params' table; Params have one more field in front. */
static bool read_value_fields(flat_reader *r, const flat_view *t, const flat_table *as, value_in *in, frame *f) {
    int p = in->params ? PARAMS_SLOT_ID : VALUE_SLOT_ID;
    const flat_slot *slots = as->slots + p;
    const uint8_t *field = value_field(t, as, VALUE_SLOT_ID + p);
    in->id = field ? flat_i64(field) : 0;
    f->key = slots[VALUE_SLOT_ID].name;
    if (!check_id(r, t->at, "v_id", in->id)) return false;
    f->key = slots[VALUE_SLOT_NAME].name;
    if ((field = value_field(t, as, VALUE_SLOT_NAME + p)) && !flat_read_text(r, field, &in->name)) return false;
    f->key = slots[VALUE_SLOT_TAGS].name;
    if ((field = value_field(t, as, VALUE_SLOT_TAGS + p)) && !flat_read_map(r, field, false, &in->tags)) return false;
    f->key = slots[VALUE_SLOT_DTYPE].name;
    if (!read_type(r, t, &slots[VALUE_SLOT_DTYPE], &in->type)) return false;
    f->key = slots[VALUE_SLOT_MTYPE].name;
    if (!read_mtype(r, t, &slots[VALUE_SLOT_MTYPE], &in->mtype)) return false;
    f->key = as->slots[as->extra].name;
    if ((field = value_field(t, as, (int)as->extra)) && !read_value_extra(r, field, in)) return false;
    f->key = (xir_str){ NULL, 0 };
    return true;
}

static bool read_value_table(flat_reader *r, const uint8_t *table, const flat_table *as, value_in *in) {
    flat_view t = flat_view_of(table);
    *in = (value_in){ .at = table, .params = as->shape == FLAT_PARAMS };
    if (in->params) {
        const uint8_t *allow = value_field(&t, as, PARAMS_SLOT_ALLOW);
        in->allow = allow && *allow;
    }
    frame f = { .up = r->d.trace.top, .index = SIZE_MAX };
    r->d.trace.top = &f;
    r->depth++;
    bool ok = read_value_fields(r, &t, as, in, &f);
    r->depth--;
    r->d.trace.top = f.up;
    return ok;
}

/* Records the bytes that a table of Params has. */
static bool note_payload(flat_reader *r, const uint8_t *table, const flat_table *as, xir_value *v) {
    flat_view t = flat_view_of(table);
    const uint8_t *field = value_field(&t, as, PARAMS_SLOT_DATA), *bytes;
    if (!field) return true;
    if (r->n_payloads == r->payload_room &&
        !mem_reserve(context_alloc(r->d.ctx), (void **)&r->payloads, &r->payload_room,
                     r->n_payloads + 1, sizeof *r->payloads)) {
        return trace_memory(&r->d.trace);
    }
    bytes = flat_follow(field);
    flat_payload *p = &r->payloads[r->n_payloads];
    *p = (flat_payload){ v, flat_place(r, bytes) + 4, little_u32(bytes), flat_place(r, table),
                         (uint32_t)r->n_payloads };
    r->n_payloads++;
    return true;
}

/* The value that a table means. A value without a producer may have been replaced since. */
bool flat_use_value(flat_reader *r, const uint8_t *table, const flat_table *as, xir_value **out) {
    const flat_met *met = flat_known_as(r, table, as);
    const xir_value *known = met ? met->it : NULL;
    if (known && (value_op(known) || value_is_params(known))) {
        *out = (xir_value *)(uintptr_t)known;
        return true;
    }
    value_in in;
    if (!read_value_table(r, table, as, &in) || !use_value(&r->d, &r->s, &in, out)) return false;
    return (!in.params || note_payload(r, table, as, *out)) && flat_remember(r, table, as, *out, 0);
}

bool flat_use_params(flat_reader *r, const uint8_t *table, xir_value **out) {
    return flat_use_value(r, table, r->schema->params, out);
}

/* ---- inputs and outputs ------------------------------------------------------------------------------------- */

typedef bool item_table_fn(flat_reader *r, op_in *op, const uint8_t *table, const flat_table *as);

static bool read_input(flat_reader *r, op_in *op, const uint8_t *table, const flat_table *as) {
    xir_value *v = NULL;
    if (table && !flat_use_value(r, table, as, &v)) return false;
    xir_value **out = gather(&r->d, &op->inputs, sizeof *out);
    if (out) *out = v;
    return out != NULL;
}

static bool read_output(flat_reader *r, op_in *op, const uint8_t *table, const flat_table *as) {
    if (!table || as->shape != FLAT_VALUE) {
        const uint8_t *at = table ? table : op->at;
        return FLAT_FAIL(r, at, XIR_E_TYPE, "expected %s, found %s", value_class_key.data,
                         table ? params_class_key.data : "nothing");
    }
    value_in *in = gather(&r->d, &op->outputs, sizeof *in);
    if (!in || !read_value_table(r, table, as, in)) return false;
    const xir_type **type = gather(&r->d, &op->types, sizeof *type);
    if (type) *type = in->type;
    return type != NULL;
}

/* Reads each item of a vector of values; absent items are NULL. */
static bool each_value(flat_reader *r, const flat_view *t, const flat_slot *slot, const uint8_t *field,
                       item_table_fn *read, op_in *op) {
    const uint8_t *vector = flat_follow(field), *tags = flat_follow(t->at + flat_field(t, slot->slot)) + 4;
    uint32_t n = little_u32(vector);
    if (!flat_spend(r, field, sizeof(xir_use) * (uint64_t)n)) return false;
    frame f = { .up = r->d.trace.top, .index = 0 };
    r->d.trace.top = &f;
    r->depth++;
    for (; f.index < n; f.index++) {
        const uint8_t *item = vector + 4 + 4 * f.index;
        uint8_t tag = tags[f.index];
        if (!read(r, op, tag ? flat_follow(item) : NULL, slot->family->members[tag])) break;
    }
    r->depth--;
    r->d.trace.top = f.up;
    return f.index == n;
}

/* ---- ops ---------------------------------------------------------------------------------------------------- */

static bool read_target(flat_reader *r, const flat_view *t, const flat_slot *slot, const uint8_t *field,
                        const xir_target **out) {
    const xir_object *target;
    if (!flat_read_object(r, flat_follow(field), flat_member(t, slot), &target)) return false;
    *out = target->cls == r->d.ctx->types[CLASS_host_target] ? NULL : (const xir_target *)target;
    return true;
}

/* Params of undeclared attributes, and those of an op without a table: the reader of the attributes finds them by
 * v_id. */
static bool read_extra_params(flat_reader *r, const uint8_t *field) {
    const uint8_t *vector = flat_follow(field);
    uint32_t n = little_u32(vector);
    frame f = { .up = r->d.trace.top, .index = 0 };
    r->d.trace.top = &f;
    r->depth++;
    for (; f.index < n; f.index++) {
        xir_value *v;
        const uint8_t *item = vector + 4 + 4 * f.index;
        if (!flat_spend(r, item, 4) || !flat_use_params(r, flat_follow(item), &v)) break;
    }
    r->depth--;
    r->d.trace.top = f.up;
    return f.index == n;
}

static bool read_base(flat_reader *r, const flat_view *t, const flat_slot *slot, const uint8_t *field, op_in *op) {
    switch (slot->what) {
    case FLAT_ID:           op->id = flat_i64(field); return true;
    case FLAT_NAME:         return flat_read_text(r, field, &op->name);
    case FLAT_INPUTS:       return each_value(r, t, slot, field, read_input, op);
    case FLAT_OUTPUTS:      return each_value(r, t, slot, field, read_output, op);
    case FLAT_TARGET:       return read_target(r, t, slot, field, &op->target);
    case FLAT_TAGS:         return flat_read_map(r, field, false, &op->tags);
    case FLAT_EXTRA_PARAMS: return read_extra_params(r, field);
    default:                return true;   /* extra: last, when all Params are known */
    }
}

static bool take_op_id(flat_reader *r, const uint8_t *table, int64_t id) {
    decoder *d = &r->d;
    bool taken;
    if (!check_id(r, table, "op_id", id)) return false;
    if (id < 0) return true;
    if (!note_op_id(d, id, &taken)) return false;
    if (!taken && !(d->existing && net_find_op(d->net, id))) return true;
    return FLAT_FAIL(r, table, XIR_E_EXISTS, "op_id %" PRId64 " is already used by another op", id);
}

/* The table of an op, while it is read. */
typedef struct op_table {
    flat_view         t;
    const flat_table *as;
    flat_class       *c;
    const xir_class  *cls;    /* may differ from the table's */
    bool              own;    /* it is the table's: rows are in slots */
    void             *body;
    xir_map           extra;
    uint64_t          absent;
} op_table;

/* Sub ops may use another vtable of the class: then the list is built again. */
static bool read_fields(flat_reader *r, op_table *o, op_in *in, frame *f) {
    const flat_table *as = o->as;
    flat_class *c = o->c;
    flat_list_fields(c, as, &o->t);
    for (uint32_t i = 0; i < c->n; i++) {
        flat_present *present = &c->fields[i];
        const uint8_t *field = o->t.at + present->at;
        const flat_slot *slot = present->slot;
        if (slot->kind == FLAT_I64 && slot->what >= 0 && o->own) {
            int64_t v = flat_i64(field);
            memcpy((char *)o->body + present->offset, &v, sizeof v);
            continue;
        }
        f->key = slot->name;
        if (slot->what < 0) {
            if (!read_base(r, &o->t, slot, field, in)) return false;
        } else if (o->own) {
            if (!flat_read_field(r, &o->t, present, o->body)) return false;
            if (slot->kind == FLAT_TABLES) flat_list_fields(c, as, &o->t);
        } else if (flat_text_at(field).size) {
            return FLAT_FAIL(r, field, XIR_E_CORRUPT, "%.*s has its attributes in extra and cannot have this field",
                             CLIP(o->cls->key));
        }
    }
    f->key = XIR_STR("op_id");
    if (!take_op_id(r, o->t.at, in->id)) return false;
    const uint8_t *extra = flat_field_at(&o->t, as->slots[as->extra].slot);
    if (!extra) return true;
    f->key = as->slots[as->extra].name;
    flat_over over = { .cls = o->cls, .body = o->body, .blank = o->cls->defaults, .all = !o->own, .op = true,
                       .target = &in->target };
    bool ok = flat_read_extra(r, extra, &over, &o->extra);
    o->absent = over.absent;
    return ok;
}

/* The class that an op without a table names in its extra; NULL: none, or a failure. */
static const xir_class *class_in_extra(flat_reader *r, const flat_view *t) {
    const flat_table *as = r->schema->unknown;
    const uint8_t *field = flat_field_at(t, as->slots[as->extra].slot);
    xir_str key;
    if (!field) return NULL;
    source s;
    flat_json(r, &s, flat_text_at(field), r->depth);
    if (!s.ops->member(&s, XIR_STR("_type_key"), &key)) return NULL;
    const xir_class *cls = xir_class_find(r->d.ctx, key);
    if (cls && !cls->is_op) {
        FLAT_FAIL(r, field, XIR_E_TYPE, "expected an op, found %.*s", CLIP(key));
        return NULL;
    }
    if (!cls && !(cls = class_opaque(r->d.ctx, key, true))) trace_memory(&r->d.trace);
    return cls;
}

/* Remembers the tables of values that were just defined. */
static bool remember_outputs(flat_reader *r, const op_in *in, xir_op *op) {
    const value_in *outputs = in->outputs.data;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (!flat_remember(r, outputs[i].at, r->schema->value, &op_outputs(op)[i], 0)) return false;
        flat_keep_value(r, outputs[i].at, &op_outputs(op)[i]);
    }
    return true;
}

static codec_plan *plan_op(flat_reader *r, op_table *o, const void **blank) {
    if (!(o->c = flat_class_of(r, o->as))) return NULL;
    if (o->as == r->schema->unknown && (o->cls = class_in_extra(r, &o->t)) != NULL) {
        *blank = o->cls->defaults;
        codec_plan *plan = codec_plan_of(&r->plans, o->cls);
        if (!plan) trace_memory(&r->d.trace);
        return plan;
    }
    if (r->d.trace.status) return NULL;
    o->cls = o->as->cls;
    o->own = true;
    *blank = o->c->blank;
    return o->c->plan;
}

bool flat_read_op(flat_reader *r, const uint8_t *table, const flat_table *as, xir_op **out) {
    enum { BODY = 256, FEW = 4, OUTPUTS = 2 };
    if (as->shape != FLAT_OP) return FLAT_FAIL(r, table, XIR_E_TYPE, "expected an op, found %s", as->name);
    op_table o = { .t = flat_view_of(table), .as = as };
    const void *blank;
    codec_plan *plan = plan_op(r, &o, &blank);
    if (!plan) return false;
    _Alignas(16) char space[BODY];
    xir_value *inputs[FEW];
    value_in outputs[OUTPUTS];
    const xir_type *types[OUTPUTS];
    o.body = o.cls->body_size <= BODY ? space : arena_take(&r->d.scratch, o.cls->body_size);
    if (!o.body) return trace_memory(&r->d.trace);
    memcpy(o.body, blank, o.cls->body_size);
    op_in in = { .plan = plan, .at = table, .inputs = { inputs, 0, FEW }, .outputs = { outputs, 0, OUTPUTS },
                 .types = { (void *)types, 0, OUTPUTS } };
    frame f = { .up = r->d.trace.top, .index = SIZE_MAX };
    r->d.trace.top = &f;
    r->depth++;
    bool ok = read_fields(r, &o, &in, &f);
    r->depth--;
    r->d.trace.top = f.up;
    if (!ok || !build_op(&r->d, &r->s, &in, o.body, &o.extra, o.absent, out)) return false;
    if (o.own) flat_keep_op(r, table, as, *out);
    return remember_outputs(r, &in, *out);
}
