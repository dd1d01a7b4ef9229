/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Objects, rows and vectors in tables. The contents of a slot are written before its table; an object that was written
 * before is only referred to. */
#include <math.h>
#include "flat/write.h"
#include "types.h"

/* ---- references -------------------------------------------------------------------------------------------- */

/* NULL: not written yet. */
static flat_ref *find_ref(const flat_writer *w, const void *what) {
    const uint32_t *at = pointer_table_find(&w->ref_of, what);
    return at ? &w->refs[*at] : NULL;
}

/* Only items that were not remembered before. */
static void remember(flat_writer *w, flat_ref ref) {
    if (flat_failed(w)) return;
    if (!mem_reserve(context_alloc(w->ctx), (void **)&w->refs, &w->ref_room, w->n_refs + 1, sizeof *w->refs) ||
        !pointer_table_add(&w->ref_of, ref.what, (uint32_t)w->n_refs)) {
        flat_fail(w, XIR_E_MEMORY);
        return;
    }
    w->refs[w->n_refs++] = ref;
}

uint32_t flat_noted(const flat_writer *w, const void *what) {
    const flat_ref *r = find_ref(w, what);
    return r ? r->at : 0;
}

void flat_note(flat_writer *w, const void *what, uint32_t at) { remember(w, (flat_ref){ .what = what, .at = at }); }

/* ---- texts and vectors ------------------------------------------------------------------------------------- */

/* Hashes bytes, not machine words: which texts are shared must not depend on byte order. */
static uint64_t hash_of(xir_str text) {
    uint64_t hash = text.size, last = 0;
    size_t i = 0;
    for (; i + 8 <= text.size; i += 8) {
        const uint8_t *p = (const uint8_t *)text.data + i;
        hash = (hash ^ (little_u32(p) | (uint64_t)little_u32(p + 4) << 32)) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    for (; i < text.size; i++) last = last << 8 | (uint8_t)text.data[i];
    return (hash ^ last) * UINT64_C(0x9E3779B97F4A7C15);
}

static uint32_t put_text(flat_writer *w, xir_str text) {
    const bool may_fit = text.size <= FLAT_MOST_BYTES;   /* then it is read */
    if (may_fit && !flat_failed(w) && !sink_takes(&w->json.sink, text)) flat_fail(w, XIR_E_INVALID);
    return flat_failed(w) ? 0 : flat_string(&w->b, text.data, text.size);
}

static uint32_t put_short(flat_writer *w, xir_str text) {
    flat_bytes *kept = &w->texts[(hash_of(text) >> 32) % FLAT_TEXTS_KEPT];
    if (kept->at && kept->size == text.size && memcmp(kept->bytes, text.data, text.size) == 0) return kept->at;
    uint32_t at = put_text(w, text);
    if (at) *kept = (flat_bytes){ w->b.low + 4, (uint32_t)text.size, at };
    return at;
}

uint32_t flat_text(flat_writer *w, xir_str text) {
    if (text.size == 0) return w->no_text;
    return text.size <= FLAT_TEXT_SHORT ? put_short(w, text) : put_text(w, text);
}

static uint32_t put_word(flat_writer *w, const char *word) {
    uint32_t at = flat_noted(w, word);
    if (at) return at;
    at = flat_text(w, xir_str_of(word));
    flat_note(w, word, at);
    return at;
}

static uint32_t put_i64s(flat_writer *w, const int64_t *data, size_t n) {
    if (n == 0) return w->no_list;
    uint32_t at;
    uint8_t *p = flat_vector(&w->b, n, 8, &at);
    for (size_t i = 0; p && i < n; i++) little_put64(p + 8 * i, (uint64_t)data[i]);
    return at;
}

/* Symbolic dims are below -1, which is what the file has for them. */
static uint32_t put_dims(flat_writer *w, const int64_t *dims, size_t n) {
    if (n == 0) return w->no_list;
    uint32_t at;
    uint8_t *p = flat_vector(&w->b, n, 8, &at);
    for (size_t i = 0; p && i < n; i++) little_put64(p + 8 * i, (uint64_t)(dims[i] < 0 ? XIR_UNKNOWN_DIM : dims[i]));
    return at;
}

static uint32_t bits_of(float v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* Returns true if a float32 holds it. */
static bool is_f32(double v) { return isnan(v) || number_to_f32(v) == v; }

static bool put_reals(flat_writer *w, const xir_reals *list, uint32_t *at) {
    for (size_t i = 0; i < list->size; i++) {
        if (!is_f32(list->data[i])) return false;
    }
    *at = w->no_list;
    uint8_t *p = list->size ? flat_vector(&w->b, list->size, 4, at) : NULL;
    for (size_t i = 0; p && i < list->size; i++) little_put32(p + 4 * i, bits_of((float)list->data[i]));
    return true;
}

void flat_push_slow(flat_writer *w, flat_tagged item) {
    if (!mem_reserve(context_alloc(w->ctx), (void **)&w->list, &w->list_room, w->n_list + 1, sizeof *w->list)) {
        flat_fail(w, XIR_E_MEMORY);
        return;
    }
    w->list[w->n_list++] = item;
}

uint32_t flat_pop_tables(flat_writer *w, size_t from) {
    size_t n = w->n_list - from;
    uint32_t at = w->no_list;
    if (n && !flat_failed(w)) at = flat_offsets(&w->b, &w->list[from].at, n, sizeof *w->list);
    w->n_list = from;
    return at;
}

static uint32_t put_tags(flat_writer *w, const flat_tagged *list, size_t n) {
    uint64_t tags = 0;
    for (size_t i = 0; i < n && n <= FLAT_TAGS_FEW; i++) tags |= (uint64_t)list[i].tag << (8 * i);
    flat_tags *kept = &w->tags[((tags + n) * UINT64_C(0x9E3779B97F4A7C15) >> 40) % FLAT_TAGS_KEPT], all = { 0 };
    if (n > FLAT_TAGS_FEW) kept = &all;
    if (kept->at && kept->n == n && kept->tags == tags) return kept->at;
    uint8_t *p = flat_vector(&w->b, n, 1, &kept->at);
    for (size_t i = 0; p && i < n; i++) p[i] = list[i].tag;
    kept->n = (uint32_t)n;
    kept->tags = tags;
    return kept->at;
}

flat_pair flat_pop_pair(flat_writer *w, size_t from) {
    size_t n = w->n_list - from;
    flat_pair pair = { .tags = n && !flat_failed(w) ? put_tags(w, w->list + from, n) : w->no_list };
    pair.tables = flat_pop_tables(w, from);
    return pair;
}

/* ---- tables whose fields are not rows ----------------------------------------------------------------------- */

uint32_t flat_put(flat_writer *w, const flat_table *t, const flat_fields *f) {
    return flat_failed(w) ? 0 : flat_table_put(&w->b, f, &w->last[t->number]);
}

static uint32_t axis_name(flat_writer *w, char letter) {
    static const char letters[128] = { 0 };
    const void *key = &letters[(unsigned char)letter & 127];   /* one address per letter */
    uint32_t at = flat_noted(w, key);
    if (at) return at;
    const flat_table *t = w->s.axis_name;
    flat_fields f;
    flat_fields_init(&f);
    flat_set_at(&f, t->slots[AXIS_NAME_SLOT_NAME].slot, flat_text(w, (xir_str){ &letter, 1 }));
    at = flat_put(w, t, &f);
    flat_note(w, key, at);
    return at;
}

static uint32_t axis_unit(flat_writer *w, char letter, int64_t unit) {
    const flat_table *t = w->s.axis_unit;
    flat_fields f;
    flat_fields_init(&f);
    flat_set64(&f, t->slots[AXIS_UNIT_SLOT_UNIT].slot, (uint64_t)unit);
    flat_set_at(&f, t->slots[AXIS_UNIT_SLOT_NAME].slot, flat_text(w, (xir_str){ &letter, 1 }));
    return flat_put(w, t, &f);
}

static void put_layout(flat_writer *w, flat_fields *f, const flat_table *t, const xir_layout *layout) {
    const flat_slot *axes = &t->slots[LAYOUT_SLOT_AXES];
    uint8_t unit = flat_tag(axes->family, w->s.axis_unit), name = flat_tag(axes->family, w->s.axis_name);
    size_t from = w->n_list;
    layout_axis a;
    for (form_text walk = layout_walk(layout); !flat_failed(w) && layout_next(&walk, &a);) {
        if (a.unit) flat_push(w, axis_unit(w, a.letter, a.unit), unit);
        else flat_push(w, axis_name(w, a.letter), name);
    }
    f->height = 1;
    flat_set_pair(f, axes->slot, flat_pop_pair(w, from));
}

static void put_distr(flat_writer *w, flat_fields *f, const flat_table *t, const xir_distr *distr) {
    flat_set_at(f, t->slots[DISTR_SLOT_AXIS].slot, put_i64s(w, distr->merged_axis.data, distr->merged_axis.size));
    uint32_t at;
    uint8_t *p = flat_vector(&w->b, (size_t)runs_total(distr->sections), 1, &at);
    int64_t i = 0;
    for (size_t k = 0; p && k < distr->sections.size; k++) {
        const xir_run *run = &distr->sections.data[k];
        memset(p + i, run->m != 0, (size_t)(run->end - i));
        i = run->end;
    }
    flat_set_at(f, t->slots[DISTR_SLOT_MASK].slot, at);
    if (distr->legacy) return;
    const xir_enum *words = xir_class_field(t->cls, XIR_STR("uvalue"))->members;
    flat_set_at(f, t->slots[DISTR_SLOT_UVALUE].slot, put_word(w, words->names[distr->uvalue]));
}

static void put_float(flat_fields *f, const flat_table *t, const xir_float_type *type) {
    int64_t numbers[4];
    flat_float_of(type->format, numbers);
    for (int i = FLOAT_SLOT_EMAX; i <= FLOAT_SLOT_BITS; i++) flat_set64(f, t->slots[i].slot, (uint64_t)numbers[i]);
}

typedef enum run_part { RUN_M, RUN_EXP, RUN_VALUE } run_part;

/* One number of every element, such as m. */
static uint32_t put_runs(flat_writer *w, xir_runs runs, run_part part) {
    uint32_t at;
    uint8_t *p = flat_vector(&w->b, (size_t)runs_total(runs), part == RUN_VALUE ? 4 : 8, &at);
    int64_t i = 0;
    for (size_t j = 0; p && j < runs.size; j++) {
        const xir_run *run = &runs.data[j];
        uint32_t value = bits_of(run->value);
        int64_t whole = part == RUN_M ? run->m : run->exp;
        for (; part == RUN_VALUE && i < run->end; i++, p += 4) little_put32(p, value);
        for (; i < run->end; i++, p += 8) little_put64(p, (uint64_t)whole);
    }
    return at;
}

static void put_scales(flat_writer *w, flat_fields *f, const flat_table *t, const xir_scales *scales) {
    flat_set64(f, t->slots[SCALES_SLOT_AXIS].slot, (uint64_t)scales->axis);
    flat_set_at(f, t->slots[SCALES_SLOT_SCALE].slot, put_runs(w, scales->items, RUN_VALUE));
}

static void put_exp_scales(flat_writer *w, flat_fields *f, const flat_table *t, const xir_exp_scales *scales) {
    flat_set_at(f, t->slots[EXP_SCALES_SLOT_M].slot, put_runs(w, scales->items, RUN_M));
    flat_set_at(f, t->slots[EXP_SCALES_SLOT_EXP].slot, put_runs(w, scales->items, RUN_EXP));
    flat_set64(f, t->slots[EXP_SCALES_SLOT_AXIS].slot, (uint64_t)scales->axis);
    flat_set_at(f, t->slots[EXP_SCALES_SLOT_SCALE].slot, put_runs(w, scales->items, RUN_VALUE));
}

static void put_norm_ratios(flat_writer *w, flat_fields *f, const flat_table *t, const xir_norm_ratios *ratios) {
    flat_set64(f, t->slots[RATIOS_SLOT_AXIS].slot, (uint64_t)ratios->axis);
    flat_set_at(f, t->slots[RATIOS_SLOT_DATA].slot, put_runs(w, ratios->items, RUN_VALUE));
}

/* The number of elements that its vectors would have. */
static int64_t expanded(const flat_table *t, const xir_object *object) {
    switch (t->shape) {
    case FLAT_DISTR:       return runs_total(((const xir_distr *)object)->sections);
    case FLAT_SCALES:      return runs_total(((const xir_scales *)object)->items);
    case FLAT_EXP_SCALES:  return runs_total(((const xir_exp_scales *)object)->items);
    case FLAT_NORM_RATIOS: return runs_total(((const xir_norm_ratios *)object)->items);
    default:               return 0;
    }
}

/* ---- objects ----------------------------------------------------------------------------------------------- */

void flat_fail(flat_writer *w, xir_status status) {
    if (w->b.status) return;
    w->b.status = status;
    w->too_deep = status == XIR_E_LIMIT;   /* size limits are the builder's */
}

bool flat_deeper(flat_writer *w) {
    if (w->depth >= w->deepest) flat_fail(w, XIR_E_LIMIT);
    if (flat_failed(w)) return false;
    w->depth++;
    return true;
}

/* A target without a table is written as a CustomTarget with all its contents in `extra`. */
static void put_spelled(flat_writer *w, flat_fields *f, const flat_table *t, const xir_object *object) {
    uint64_t out = object->absent ? codec_left_out(object->cls, object, object->absent) : 0;
    flat_all_object_items(w, object, out);
    flat_set_at(f, t->slots[t->extra].slot, flat_extra(w, f, object->extra));
}

static void put_rows(flat_writer *w, flat_fields *f, const flat_table *t, const xir_object *object) {
    if (object->cls != t->cls) {
        put_spelled(w, f, t, object);
        return;
    }
    uint64_t over = 0;
    for (uint32_t i = 0; i < t->n_slots && t->slots[i].what >= 0; i++) {
        if (!flat_row(w, f, &t->slots[i], object)) over |= (uint64_t)1 << t->slots[i].what;
    }
    uint64_t out = object->absent ? codec_left_out(t->cls, object, object->absent) : 0;
    if (out | over) flat_row_items(w, t->cls, object, out, over, NULL);
    flat_set_at(f, t->slots[t->extra].slot, flat_extra(w, f, object->extra));
}

static void put_object(flat_writer *w, flat_ref *ref) {
    const flat_table *t = w->s.tables[ref->number - 1];
    const void *object = ref->what;
    flat_fields f;
    flat_fields_init(&f);
    if (!flat_deeper(w)) return;
    switch (t->shape) {
    case FLAT_LAYOUT:      put_layout(w, &f, t, object); break;
    case FLAT_DISTR:       put_distr(w, &f, t, object); break;
    case FLAT_FLOAT:       put_float(&f, t, object); break;
    case FLAT_SCALES:      put_scales(w, &f, t, object); break;
    case FLAT_EXP_SCALES:  put_exp_scales(w, &f, t, object); break;
    case FLAT_NORM_RATIOS: put_norm_ratios(w, &f, t, object); break;
    default:               put_rows(w, &f, t, object); break;
    }
    w->depth--;
    w->expanded += expanded(t, object);
    ref->at = flat_put(w, t, &f);
    uint32_t levels = f.height + flat_levels(t);
    if (levels > w->deepest) flat_fail(w, XIR_E_LIMIT);
    ref->height = (uint16_t)levels;
    remember(w, *ref);
}

static bool may_expand(const flat_writer *w, int64_t n) {
    return n <= FLAT_EXPANDED_MOST && n <= FLAT_EXPANDED_ALL - w->expanded;
}

/* An object that a slot can hold: its position if it was written, or position 0 and its table to be. False if the slot
 * cannot hold it. */
static bool fits(flat_writer *w, const flat_slot *slot, const xir_object *object, flat_ref *out) {
    flat_ref *known = find_ref(w, object);
    const flat_table *t = known ? w->s.tables[known->number - 1] : flat_table_of(&w->s, object->cls);
    if (!t && slot->family == w->s.targets && !object->cls->more->form) t = w->s.custom_target;
    if (!t || (!known && !may_expand(w, expanded(t, object)))) return false;
    *out = known ? *known : (flat_ref){ .what = object, .number = t->number };
    if (!slot->family) return t == slot->table;
    if (out->tag && out->tag < slot->family->n && slot->family->members[out->tag] == t) return true;
    out->tag = flat_tag(slot->family, t);
    if (known) known->tag = out->tag;
    return out->tag != 0;
}

static uint32_t refer(flat_writer *w, flat_fields *f, flat_ref ref) {
    if (!ref.at) put_object(w, &ref);
    flat_over(f, ref.height);
    return ref.at;
}

bool flat_object(flat_writer *w, flat_fields *f, const flat_slot *slot, const xir_object *object) {
    flat_ref ref;
    if (!object) return true;
    if (!fits(w, slot, object, &ref)) return false;
    if (slot->family) flat_set8(f, slot->slot, ref.tag);
    flat_set_at(f, slot->slot + (slot->family != NULL), refer(w, f, ref));
    return true;
}

/* A vector of tables cannot have absent items; a vector of unions can. */
static bool put_objects(flat_writer *w, flat_fields *f, const flat_slot *slot, const xir_refs *list) {
    flat_ref ref;
    int64_t n = 0;   /* of elements; if all of them fit the limit, each does in its turn */
    for (size_t i = 0; i < list->size; i++) {
        if (list->data[i] ? !fits(w, slot, list->data[i], &ref) : !slot->family) return false;
        if (list->data[i] && !ref.at) n += expanded(w->s.tables[ref.number - 1], list->data[i]);
        if (n && n > FLAT_EXPANDED_ALL - w->expanded) return false;
    }
    size_t from = w->n_list;
    uint32_t others = f->height;
    f->height = 0;
    for (size_t i = 0; i < list->size && !flat_failed(w); i++) {
        if (list->data[i] && fits(w, slot, list->data[i], &ref)) flat_push(w, refer(w, f, ref), ref.tag);
        else flat_push(w, 0, 0);
    }
    f->height++;
    flat_over(f, others);
    if (slot->family) flat_set_pair(f, slot->slot, flat_pop_pair(w, from));
    else flat_set_at(f, slot->slot, flat_pop_tables(w, from));
    return true;
}

/* ---- rows -------------------------------------------------------------------------------------------------- */

static bool put_params_list(flat_writer *w, flat_fields *f, const flat_slot *slot, const xir_values *list) {
    for (size_t i = 0; i < list->size; i++) {
        if (!list->data[i]) return false;
    }
    size_t from = w->n_list;
    for (size_t i = 0; i < list->size && !flat_failed(w); i++) flat_push(w, flat_params(w, list->data[i]), 0);
    flat_over(f, w->value_height + 1);
    flat_set_at(f, slot->slot, flat_pop_tables(w, from));
    return true;
}

static bool put_ops(flat_writer *w, flat_fields *f, const flat_slot *slot, const xir_ops *list) {
    for (size_t i = 0; i < list->size; i++) {
        if (flat_table_of(&w->s, list->data[i]->cls) != slot->table) return false;
    }
    size_t from = w->n_list;
    for (size_t i = 0; i < list->size && !flat_failed(w); i++) {
        uint8_t tag;
        uint32_t height = 0, at = flat_op(w, list->data[i], &tag, &height);
        flat_over(f, height + 1);
        flat_push(w, at, 0);
    }
    flat_set_at(f, slot->slot, flat_pop_tables(w, from));
    return true;
}

static uint32_t put_texts(flat_writer *w, const xir_texts *list) {
    size_t from = w->n_list;
    for (size_t i = 0; i < list->size && !flat_failed(w); i++) flat_push(w, flat_text(w, list->data[i]), 0);
    return flat_pop_tables(w, from);
}

static uint32_t put_bools(flat_writer *w, const xir_bools *list) {
    uint32_t at = w->no_list;
    uint8_t *p = list->size ? flat_vector(&w->b, list->size, 1, &at) : NULL;
    for (size_t i = 0; p && i < list->size; i++) p[i] = list->data[i];
    return at;
}

static uint64_t bits_of_real(double v) { return bits_of((float)v); }

bool flat_row(flat_writer *w, flat_fields *f, const flat_slot *slot, const void *body) {
    const xir_field *row = slot->row;
    const void *at = body_at(body, row);
    switch (slot->kind) {
    case FLAT_BOOL: flat_set8(f, slot->slot, *(const bool *)at); return true;
    case FLAT_I64:
    case FLAT_U64:  flat_set64(f, slot->slot, *(const uint64_t *)at); return true;
    case FLAT_F32:
        if (!is_f32(*(const double *)at)) return false;
        flat_set32(f, slot->slot, (uint32_t)bits_of_real(*(const double *)at));
        return true;
    case FLAT_TEXT: flat_set_at(f, slot->slot, flat_text(w, *(const xir_str *)at)); return true;
    case FLAT_ENUM: {
        int member = *(const int *)at;
        if (member < 0 || (size_t)member >= row->members->size) return false;
        flat_set_at(f, slot->slot, put_word(w, row->members->names[member]));
        return true;
    }
    case FLAT_JSON: flat_set_at(f, slot->slot, flat_map(w, f, at)); return true;
    case FLAT_TABLE:
        if (row->kind != XIR_KIND_PARAMS) return flat_object(w, f, slot, *(const xir_object *const *)at);
        if (!*(xir_value *const *)at) return true;
        flat_set_at(f, slot->slot, flat_params(w, *(xir_value *const *)at));
        flat_over(f, w->value_height);
        return true;
    case FLAT_UNION: return flat_object(w, f, slot, *(const xir_object *const *)at);
    case FLAT_BOOLS: flat_set_at(f, slot->slot, put_bools(w, at)); return true;
    case FLAT_I64S: {
        const xir_i64s *list = at;
        bool null = !list->data && row->flags & XIR_FIELD_OPTIONAL;
        uint32_t (*put)(flat_writer *, const int64_t *, size_t) = field_is_shape(w->ctx, row) ? put_dims : put_i64s;
        if (!null) flat_set_at(f, slot->slot, put(w, list->data, list->size));
        return true;
    }
    case FLAT_F32S: {
        uint32_t list;
        if (!put_reals(w, at, &list)) return false;
        flat_set_at(f, slot->slot, list);
        return true;
    }
    case FLAT_TEXTS: flat_set_at(f, slot->slot, put_texts(w, at)); return true;
    case FLAT_TABLES:
        if (row->kind == XIR_KIND_PARAMSS) return put_params_list(w, f, slot, at);
        if (row->kind == XIR_KIND_OPS) return put_ops(w, f, slot, at);
        return put_objects(w, f, slot, at);
    case FLAT_UNIONS: return put_objects(w, f, slot, at);
    case FLAT_BYTES:
    case FLAT_KINDS: break;
    }
    return false;
}
