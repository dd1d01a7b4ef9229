/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading objects and rows. */
#include "flat/read.h"

/* ---- tables read before ------------------------------------------------------------------------------------- */

enum { LISTS = FLAT_PAGE / FLAT_FEW };

bool flat_remember(flat_reader *r, const uint8_t *table, const flat_table *as, const void *it, uint32_t weight) {
    const xir_allocator *alloc = context_alloc(r->d.ctx);
    uint32_t place = flat_place(r, table), **page = &r->pages[place / FLAT_PAGE];
    if (!*page) {
        if (!(*page = arena_take(&r->lists, LISTS * sizeof **page))) return trace_memory(&r->d.trace);
        memset(*page, 0, LISTS * sizeof **page);
    }
    uint32_t *last = &(*page)[place % FLAT_PAGE / FLAT_FEW];
    for (uint32_t i = *last; i; i = r->met[i - 1].next) {
        if (r->met[i - 1].place != place || r->met[i - 1].as != as->number) continue;
        r->met[i - 1].it = it;
        return true;
    }
    if (r->n_met == r->met_room && !mem_reserve(alloc, (void **)&r->met, &r->met_room, r->n_met + 1, sizeof *r->met)) {
        return trace_memory(&r->d.trace);
    }
    r->met[r->n_met] = (flat_met){ it, place, *last, weight, as->number };
    *last = (uint32_t)++r->n_met;
    return true;
}

bool flat_spend_slow(flat_reader *r, const uint8_t *at) {
    return FLAT_FAIL(r, at, XIR_E_LIMIT, "shared contents take too much memory for a file of %u bytes", r->size);
}

/* ---- classes ------------------------------------------------------------------------------------------------ */

static size_t row_size(const xir_field *f) {
    switch (f->kind) {
    case XIR_KIND_BOOL: return sizeof(bool);
    case XIR_KIND_I64: case XIR_KIND_U64: case XIR_KIND_REAL: case XIR_KIND_REF: case XIR_KIND_PARAMS: return 8;
    case XIR_KIND_ENUM: return 0;   /* an absent name is the default */
    default: return sizeof(xir_i64s);
    }
}

flat_class *flat_class_of(flat_reader *r, const flat_table *table) {
    flat_class *c = &r->classes[table->number];
    if (c->plan) return c;
    const xir_class *cls = table->cls;
    c->blank = arena_copy(&r->d.keep, cls->defaults, cls->body_size);
    c->fields = arena_take(&r->d.keep, table->n_slots * sizeof *c->fields);
    codec_plan *plan = c->blank && c->fields ? codec_plan_of(&r->plans, cls) : NULL;
    if (!plan) {
        trace_memory(&r->d.trace);
        return NULL;
    }
    for (uint32_t i = 0; i < table->n_slots; i++) {
        const xir_field *row = table->slots[i].row;
        if (row) memset(body_at(c->blank, row), 0, row_size(row));
    }
    if (!cls->is_op) *(xir_object *)c->blank = (xir_object){ .cls = cls };
    c->plan = plan;
    return c;
}

void flat_list_fields(flat_class *c, const flat_table *as, const flat_view *t) {
    if (c->vtable == t->vtable) return;
    c->vtable = t->vtable;
    c->n = 0;
    for (uint32_t i = 0; i < as->n_slots; i++) {
        const flat_slot *slot = &as->slots[i];
        bool two = slot->kind == FLAT_UNION || slot->kind == FLAT_UNIONS;
        uint32_t at = flat_field(t, slot->slot + two);
        if (!at) continue;
        c->fields[c->n++] = (flat_present){ .slot = slot, .at = at, .offset = slot->row ? slot->row->offset : 0 };
    }
}

/* ---- texts and lists ---------------------------------------------------------------------------------------- */

bool flat_read_text(flat_reader *r, const uint8_t *field, xir_str *out) {
    *out = flat_text_at(field);
    return flat_spend(r, field, out->size);
}

/* Memory for the items of a vector, and where they are in the file. NULL after a failure; an empty vector gets memory
 * too. */
static void *list_room(flat_reader *r, const uint8_t *field, size_t item, const uint8_t **from, size_t *n) {
    const uint8_t *vector = flat_follow(field);
    *n = little_u32(vector);
    *from = vector + 4;
    if (!flat_spend(r, field, *n * item)) return NULL;
    void *room = arena_take(&r->d.scratch, *n * item);
    if (!room) trace_memory(&r->d.trace);
    return room;
}

static bool read_bools(flat_reader *r, const uint8_t *field, xir_bools *out) {
    const uint8_t *from;
    size_t n;
    bool *list = list_room(r, field, sizeof *list, &from, &n);
    for (size_t i = 0; list && i < n; i++) list[i] = from[i] != 0;
    *out = (xir_bools){ list, n };
    return list != NULL;
}

bool flat_read_i64s(flat_reader *r, const uint8_t *field, xir_i64s *out) {
    const uint8_t *from;
    size_t n;
    int64_t *list = list_room(r, field, sizeof *list, &from, &n);
    for (size_t i = 0; list && i < n; i++) list[i] = flat_i64(from + 8 * i);
    *out = (xir_i64s){ list, n };
    return list != NULL;
}

static bool read_reals(flat_reader *r, const uint8_t *field, xir_reals *out) {
    const uint8_t *from;
    size_t n;
    double *list = list_room(r, field, sizeof *list, &from, &n);
    for (size_t i = 0; list && i < n; i++) list[i] = (double)flat_real_at(from + 4 * i);
    *out = (xir_reals){ list, n };
    return list != NULL;
}

static bool read_texts(flat_reader *r, const uint8_t *field, xir_texts *out) {
    const uint8_t *from;
    size_t n;
    xir_str *list = list_room(r, field, sizeof *list, &from, &n);
    *out = (xir_texts){ list, n };
    for (size_t i = 0; list && i < n; i++) {
        if (!flat_read_text(r, from + 4 * i, &list[i])) return false;
    }
    return list != NULL;
}

/* ---- lists of tables ---------------------------------------------------------------------------------------- */

const uint8_t *flat_list_item(flat_reader *r, const flat_view *t, const flat_slot *slot, const uint8_t *item, size_t i,
                              const flat_table **as) {
    if (slot->kind == FLAT_TABLES) {
        *as = slot->table;
        return flat_follow(item);
    }
    uint8_t tag = flat_follow(t->at + flat_field(t, slot->slot))[4 + i];
    *as = slot->family->members[tag];
    if (tag) return flat_follow(item);
    FLAT_FAIL(r, item, XIR_E_TYPE, "expected an item of %.*s, found nothing", CLIP(slot->name));
    return NULL;
}

static bool read_item(flat_reader *r, const flat_slot *slot, const uint8_t *table, const flat_table *as, void **out) {
    switch (slot->row->kind) {
    case XIR_KIND_PARAMSS: return flat_use_params(r, table, (xir_value **)out);
    case XIR_KIND_OPS:     return flat_read_op(r, table, as, (xir_op **)out);
    default: break;
    }
    const xir_object *object;
    if (!flat_read_object(r, table, as, &object)) return false;
    *out = (void *)(uintptr_t)object;
    return object_fits(object->cls, slot->row->of) ||
           FLAT_FAIL(r, table, XIR_E_TYPE, "expected %.*s, found %s", CLIP(slot->row->of->key), as->name);
}

/* Lists of objects, of Params and of ops are all lists of pointers. */
static bool read_list(flat_reader *r, const flat_view *t, const flat_slot *slot, const uint8_t *field, void *out) {
    const uint8_t *from, *table;
    size_t n;
    void **list = list_room(r, field, sizeof *list, &from, &n);
    if (!list) return false;
    frame f = { .up = r->d.trace.top, .index = 0 };
    r->d.trace.top = &f;
    r->depth++;
    for (; f.index < n; f.index++) {
        const flat_table *as;
        table = flat_list_item(r, t, slot, from + 4 * f.index, f.index, &as);
        if (!table || !read_item(r, slot, table, as, &list[f.index])) break;
    }
    r->depth--;
    r->d.trace.top = f.up;
    memcpy(out, &(xir_refs){ (const xir_object *const *)(void *)list, n }, sizeof(xir_refs));
    return f.index == n;
}

/* ---- rows --------------------------------------------------------------------------------------------------- */

bool flat_read_enum(flat_reader *r, const uint8_t *field, const xir_enum *words, int *out) {
    xir_str word = flat_text_at(field);
    for (size_t i = 0; i < words->size; i++) {
        if (!xir_str_equal(word, xir_str_of(words->names[i]))) continue;
        *out = (int)i;
        return true;
    }
    return FLAT_FAIL(r, (const uint8_t *)word.data, XIR_E_UNKNOWN, "\"%.*s\" is not one of %s", CLIP(word),
                     words->name);
}

static bool read_ref(flat_reader *r, const uint8_t *table, const flat_table *as, const xir_field *row, void *out) {
    if (row->kind == XIR_KIND_PARAMS) return flat_use_params(r, table, out);
    const xir_object *object;
    if (!flat_read_object(r, table, as, &object)) return false;
    *(const xir_object **)out = object;
    return object_fits(object->cls, row->of) ||
           FLAT_FAIL(r, table, XIR_E_TYPE, "expected %.*s, found %s", CLIP(row->of->key), as->name);
}

/* A name or an object that was read from this field before. */
static bool read_again(flat_reader *r, const uint8_t *to, uint32_t tag, const flat_present *field, void *at) {
    if (to != field->to || tag != field->tag) return false;
    r->weight += field->weight;
    if (field->slot->kind == FLAT_ENUM) *(int *)at = field->word;
    else *(const void **)at = field->object;
    return true;
}

static bool read_shared(flat_reader *r, const flat_view *t, flat_present *field, void *at) {
    const flat_slot *slot = field->slot;
    const xir_field *row = slot->row;
    const uint8_t *from = t->at + field->at, *to = flat_follow(from);
    uint32_t tag = slot->kind == FLAT_UNION ? t->at[flat_field(t, slot->slot)] : 0;
    if (read_again(r, to, tag, field, at)) return true;
    uint64_t before = r->weight;
    /* Reading the object may replace the list of fields by that of another vtable. */
    if (slot->kind == FLAT_ENUM) {
        if (!flat_read_enum(r, from, row->members, at)) return false;
        *field = (flat_present){ slot, field->at, field->offset, to, NULL, tag, 0, *(int *)at };
    } else {
        const flat_table *as = slot->kind == FLAT_UNION ? slot->family->members[tag] : slot->table;
        if (!read_ref(r, to, as, row, at)) return false;
        if (field->slot != slot) return true;
        field->to = to;
        field->tag = tag;
        field->object = *(const void **)at;
        field->weight = (uint32_t)(r->weight - before);
    }
    return true;
}

bool flat_read_field(flat_reader *r, const flat_view *t, flat_present *present, void *body) {
    const flat_slot *slot = present->slot;
    const uint8_t *field = t->at + present->at;
    void *at = (char *)body + present->offset;
    switch (slot->kind) {
    case FLAT_BOOL:  *(bool *)at = *field != 0; return true;
    case FLAT_I64:   *(int64_t *)at = flat_i64(field); return true;
    case FLAT_F32:   *(double *)at = (double)flat_real_at(field); return true;
    case FLAT_U64:
        *(uint64_t *)at = little_u64(field);
        return slot->row->kind == XIR_KIND_U64 || *(uint64_t *)at <= INT64_MAX ||
               FLAT_FAIL(r, field, XIR_E_BOUNDS, "%" PRIu64 " does not fit 64 bits with a sign", *(uint64_t *)at);
    case FLAT_ENUM: case FLAT_TABLE: case FLAT_UNION: return read_shared(r, t, present, at);
    case FLAT_TEXT:  return flat_read_text(r, field, at);
    case FLAT_JSON:  return flat_read_map(r, field, true, at);
    case FLAT_BOOLS: return read_bools(r, field, at);
    case FLAT_I64S:  return flat_read_i64s(r, field, at);
    case FLAT_F32S:  return read_reals(r, field, at);
    case FLAT_TEXTS: return read_texts(r, field, at);
    case FLAT_TABLES:
    case FLAT_UNIONS: return read_list(r, t, slot, field, at);
    case FLAT_BYTES: case FLAT_KINDS: break;
    }
    return FLAT_FAIL(r, field, XIR_E_UNSUPPORTED, "%.*s cannot be read", CLIP(slot->name));
}

/* ---- objects ------------------------------------------------------------------------------------------------ */

/* A class with a one-string form has no place for undeclared keys, and its parser keeps the bounds of its rows. */
static bool check_form(flat_reader *r, const flat_view *t, const flat_table *as, const void *body) {
    for (uint32_t i = 0; body && i < as->cls->n_fields; i++) {
        const xir_field *f = &as->cls->fields[i];
        if (f->kind != XIR_KIND_I64) continue;
        int64_t v = *(const int64_t *)body_at(body, f);
        if ((f->has_min && v < f->min.i) || (f->has_max && v > f->max.i)) {
            return FLAT_FAIL(r, t->at, XIR_E_BOUNDS, "%.*s %" PRId64 " is outside %" PRId64 " to %" PRId64,
                             CLIP(f->name), v, f->min.i, f->max.i);
        }
    }
    const uint8_t *field = flat_slot_at(t, as, (int)as->extra);
    xir_map extra = { 0 };
    if (field && !flat_read_map(r, field, false, &extra)) return false;
    return !extra.size || FLAT_FAIL(r, field, XIR_E_TYPE, "%s is written as one text and cannot have %.*s", as->name,
                                    CLIP(extra.entries[0].key));
}

/* Reading a field may meet another vtable of the class: then the list is built again. */
static bool read_fields(flat_reader *r, const flat_view *t, const flat_table *as, flat_class *c, void *body, frame *f) {
    flat_list_fields(c, as, t);
    for (uint32_t i = 0; i < c->n; i++) {
        f->key = c->fields[i].slot->name;
        if (c->fields[i].slot->what >= 0 && !flat_read_field(r, t, &c->fields[i], body)) return false;
        flat_list_fields(c, as, t);
    }
    return true;
}

static bool read_rows(flat_reader *r, const flat_view *t, const flat_table *as, const xir_object **out) {
    const xir_class *cls = as->cls;
    flat_class *c = flat_class_of(r, as);
    xir_object *body = c ? arena_take(&r->d.scratch, cls->body_size) : NULL;
    if (!body) return trace_memory(&r->d.trace);
    memcpy(body, c->blank, cls->body_size);
    frame f = { .up = r->d.trace.top, .index = SIZE_MAX };
    r->d.trace.top = &f;
    bool ok = read_fields(r, t, as, c, body, &f);
    xir_map extra = { 0 };
    const uint8_t *text = cls->more->form ? NULL : flat_slot_at(t, as, (int)as->extra);
    if (ok && text) {
        f.key = as->slots[as->extra].name;
        flat_over over = { .cls = cls, .body = body, .blank = cls->defaults };
        ok = flat_read_extra(r, text, &over, &extra);
        body->absent = (uint32_t)over.absent;
    }
    r->d.trace.top = f.up;
    if (!ok || (cls->more->form && !check_form(r, t, as, body))) return false;
    if (!object_complete(&r->d, cls, body, flat_place(r, t->at))) return false;
    body->extra = extra.size ? &extra : NULL;
    return object_made(&r->d, body, out);
}

/* A CustomTarget whose `extra` has the key of a class is of that class. *out is NULL if it really is a CustomTarget. */
static bool read_target(flat_reader *r, const flat_view *t, const flat_table *as, const xir_object **out) {
    const uint8_t *field = flat_slot_at(t, as, (int)as->extra);
    xir_map extra = { 0 };
    *out = NULL;
    if (field && !flat_read_map(r, field, false, &extra)) return false;
    return !xir_map_find(&extra, XIR_STR("_type_key")) ||
           flat_read_spelled(r, field, r->d.ctx->types[CLASS_target], out);
}

static bool read_any(flat_reader *r, const uint8_t *table, const flat_table *as, const xir_object **out) {
    flat_view t = flat_view_of(table);
    if (as == r->schema->custom_target) {
        if (!read_target(r, &t, as, out)) return false;
        if (*out) return true;
    }
    if (as->shape == FLAT_ROWS) return read_rows(r, &t, as, out);
    if (as->cls && !check_form(r, &t, as, NULL)) return false;
    return flat_read_shape(r, &t, as, out);
}

/* A shared object is built once, but formats that write it in full, such as JSON, write it at each use. */
static bool make_object(flat_reader *r, const uint8_t *table, const flat_table *as, const xir_object **out) {
    uint64_t outside = r->weight;
    r->weight = 1;
    if (!read_any(r, table, as, out)) return false;
    if (r->weight > r->heaviest) {
        return FLAT_FAIL(r, table, XIR_E_LIMIT, "%s has more than %u tables in it, counting shared ones at each use",
                         as->name, r->heaviest);
    }
    if (!flat_remember(r, table, as, *out, (uint32_t)r->weight)) return false;
    r->weight += outside;
    return true;
}

bool flat_read_object(flat_reader *r, const uint8_t *table, const flat_table *as, const xir_object **out) {
    const flat_met *known = flat_known_as(r, table, as);
    if (known) {
        r->weight += known->weight;
        *out = known->it;
        return true;
    }
    uint32_t levels = flat_levels(as);
    r->depth += levels;
    bool ok = make_object(r, table, as, out);
    r->depth -= levels;
    return ok;
}
