/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* JSON in texts of FlatBuffers: classless maps, and the `extra` of tables, which has what slots cannot hold. A key of
 * `extra` that names a row sets the row; null says that the file it came from did not have the row. */
#include "flat/read.h"

void flat_json(flat_reader *r, source *s, xir_str text, uint32_t depth) {
    *s = (source){ .ops = &json_source, .at = text.data, .start = r->base, .end = text.data + text.size,
                   .trace = &r->d.trace, .scratch = &r->d.scratch, .depth = depth, .deepest = r->deepest };
    json_begin(s);
}

/* The text of classless values. They take more memory than the text. */
static bool read_json_text(flat_reader *r, const uint8_t *field, xir_str *out) {
    *out = flat_text_at(field);
    return flat_spend(r, field, 4 * (uint64_t)out->size);
}

bool flat_read_map(flat_reader *r, const uint8_t *field, bool with_params, xir_map *out) {
    *out = (xir_map){ NULL, 0 };
    xir_str text;
    if (!read_json_text(r, field, &text)) return false;
    if (!text.size || xir_str_equal(text, XIR_STR("{}"))) return true;
    source s;
    flat_json(r, &s, text, r->depth);
    if (s.ops->shape(&s) == SHAPE_NULL) return s.ops->null(&s) && json_at_end(&s);
    return decode_map(&r->d, &s, out, with_params) && json_at_end(&s);
}

bool flat_read_spelled(flat_reader *r, const uint8_t *field, const xir_class *of, const xir_object **out) {
    xir_str text;
    source s;
    if (!read_json_text(r, field, &text)) return false;
    flat_json(r, &s, text, r->depth - 1);
    return decode_object(&r->d, &s, of, out) && json_at_end(&s);
}

/* ---- extra -------------------------------------------------------------------------------------------------- */

static void reset_row(flat_over *over, int what) {
    const xir_field *f = &over->cls->fields[what];
    size_t size = f->kind == XIR_KIND_BOOL ? sizeof(bool) : f->kind == XIR_KIND_ENUM ? sizeof(int)
                : f->kind <= XIR_KIND_PARAMS ? 8 : sizeof(xir_i64s);
    if (f->kind == XIR_KIND_TEXT) size = sizeof(xir_str);
    memcpy(body_at(over->body, f), body_at(over->blank, f), size);
    if (what < 64) over->absent |= UINT64_C(1) << what;
}

static bool read_row(flat_reader *r, source *s, flat_over *over, int what, xir_str name) {
    const xir_field *f = &over->cls->fields[what];
    if (!members_note(&r->d, s, &over->m, over->cls, what, name)) return false;
    if (!over->all && s->ops->shape(s) == SHAPE_NULL) {
        reset_row(over, what);
        return s->ops->null(s);
    }
    return over->op ? decode_op_field(&r->d, s, f, over->body) : decode_field(&r->d, s, f, over->body);
}

static bool has_slot(source *s, const void *at, xir_str name) {
    return source_fail(s, at, XIR_E_EXISTS, "\"%.*s\" has a slot and cannot be in extra", CLIP(name));
}

static bool read_target(flat_reader *r, source *s, const xir_target **out) {
    const xir_object *target;
    if (!decode_object(&r->d, s, r->d.ctx->types[CLASS_target], &target)) return false;
    *out = target->cls == r->d.ctx->types[CLASS_host_target] ? NULL : (const xir_target *)target;
    return true;
}

/* A key of a class that is not a row. */
static bool read_base(flat_reader *r, source *s, flat_over *over, int what, const void *at, xir_str name) {
    xir_str known;
    if (what == KEY_TYPE && over->all) return s->ops->text(s, &known);
    if (what == KEY_TARGET && over->target) return read_target(r, s, over->target);
    return has_slot(s, at, name);
}

static bool read_class_key(flat_reader *r, source *s, flat_over *over, const void *at, xir_str name) {
    const class_key *key = class_find_key(over->cls, name, 0);
    if (!key) return add_extra(&r->d, s, &over->m.extra, name, over->op);
    if (key->field >= 0) return read_row(r, s, over, key->field, name);
    if (!members_note(&r->d, s, &over->m, over->cls, key->field, name)) return false;
    return read_base(r, s, over, key->field, at, name);
}

static bool read_type(flat_reader *r, source *s, const xir_type **out) {
    const xir_object *type = NULL;
    if (s->ops->shape(s) == SHAPE_NULL) {
        if (!s->ops->null(s)) return false;
    } else if (!decode_object(&r->d, s, r->d.ctx->types[CLASS_type], &type)) {
        return false;
    }
    *out = (const xir_type *)type;
    return true;
}

static bool read_mtype(flat_reader *r, source *s, const xir_mtype **out) {
    const xir_object *mtype;
    if (!decode_object(&r->d, s, r->d.ctx->types[CLASS_mtype], &mtype)) return false;
    *out = mtype->cls == r->d.ctx->types[CLASS_host_mem] ? NULL : (const xir_mtype *)mtype;
    return true;
}

static bool read_value_key(flat_reader *r, source *s, flat_over *over, const void *at, xir_str name) {
    int i = 0;
    while (i < VALUE_KEYS && !xir_str_equal(name, xir_str_of(value_keys[i]))) i++;
    if (i == VALUE_KEYS) return add_extra(&r->d, s, &over->m.extra, name, false);
    if (i != VALUE_DTYPE && i != VALUE_MTYPE) return has_slot(s, at, name);
    if (over->m.few[0] >> i & 1) return key_again(&r->d, s, over->m.at, name);
    over->m.few[0] |= UINT64_C(1) << i;
    return i == VALUE_DTYPE ? read_type(r, s, over->type) : read_mtype(r, s, over->mtype);
}

static bool read_keys(flat_reader *r, source *s, flat_over *over, frame *f) {
    for (bool first = true;; first = false) {
        f->key = (xir_str){ NULL, 0 };
        int stepped = s->ops->key(s, first, &f->key);
        if (stepped != 1) return stepped == 0;
        const void *at = s->at;
        if (!(over->cls ? read_class_key : read_value_key)(r, s, over, at, f->key)) return false;
    }
}

bool flat_read_extra(flat_reader *r, const uint8_t *field, flat_over *over, xir_map *extra) {
    xir_str text;
    source s;
    if (!read_json_text(r, field, &text)) return false;
    flat_json(r, &s, text, r->depth - 1);
    over->m = (members){ .at = s.at };
    over->m.seen = over->m.few;
    if (over->cls && !members_begin(&r->d, &s, &over->m, over->cls)) return false;
    if (s.ops->shape(&s) != SHAPE_MAP) return source_expected(&s, "a map");
    if (!s.ops->enter(&s)) return false;
    frame f = { .up = r->d.trace.top, .index = SIZE_MAX };
    r->d.trace.top = &f;
    bool ok = read_keys(r, &s, over, &f);
    r->d.trace.top = f.up;
    if (!ok || !json_at_end(&s) || !sort_extra(&r->d, &s, over->m.at, &over->m.extra, extra)) return false;
    if (over->all) over->absent = members_absent(&over->m, over->cls);
    return true;
}
