/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading objects and rows. An encoding that was read before is not decoded again. A one-string form goes through the
 * parser of its class, once for each text. */
#include <math.h>
#include <stdio.h>
#include "codec/read.h"

/* ---- objects ----------------------------------------------------------------------------------------------- */

/* "icraft::xir::Layout", or "an object" if any class fits. */
#define WANTED(of) CLIP((of) ? (of)->key : XIR_STR("an object"))

bool object_fits(const xir_class *cls, const xir_class *of) {
    return !of || xir_class_is_a(cls, of) || (cls->opaque && of->traits & XIR_TRAIT_ABSTRACT);
}

static bool misfit(source *s, const void *at, const xir_class *cls, const xir_class *of) {
    return source_fail(s, at, XIR_E_TYPE, "expected %.*s, found %.*s", WANTED(of), CLIP(cls->key));
}

bool object_made(decoder *d, const xir_object *object, const xir_object **out) {
    *out = pool_intern(d->pool, object);
    return *out || trace_memory(&d->trace);
}

static bool make_real(decoder *d, source *s, const void *at, double v, const xir_class *of, const xir_object **out) {
    const xir_class *cls = d->ctx->types[CLASS_float_imm];
    if (!object_fits(cls, of)) return misfit(s, at, cls, of);
    xir_float_imm body = { .head.cls = cls };
    return fit_real(d, s, at, v, &body.value) && object_made(d, &body.head, out);
}

static bool read_scalar(decoder *d, source *s, const xir_class *of, const xir_object **out) {
    const void *at = s->at;
    if (s->ops->shape(s) == SHAPE_BOOL) {
        const xir_class *cls = d->ctx->types[CLASS_bool_imm];
        if (!object_fits(cls, of)) return misfit(s, at, cls, of);
        xir_bool_imm body = { .head.cls = cls };
        return s->ops->boolean(s, &body.value) && object_made(d, &body.head, out);
    }
    number n;
    if (!s->ops->number(s, &n)) return false;
    if (n.kind == NUMBER_REAL) return make_real(d, s, at, n.real, of, out);
    if (n.kind == NUMBER_U64) {
        return source_fail(s, at, XIR_E_BOUNDS, "%" PRIu64 " does not fit 64 bits with a sign", n.u64);
    }
    const xir_class *cls = d->ctx->types[CLASS_int_imm];
    if (!object_fits(cls, of)) return misfit(s, at, cls, of);
    xir_int_imm body = { .head.cls = cls, .value = n.i64 };
    return object_made(d, &body.head, out);
}

/* A slot by size and last bytes: a caller that finds an entry compares the text. */
static form_memo *memo_of_form(decoder *d, xir_str text) {
    uint64_t tail = 0;
    memcpy(&tail, text.data + (text.size < 8 ? 0 : text.size - 8), text.size < 8 ? text.size : 8);
    uint64_t hash = (tail ^ text.size << 56) * 0x9E3779B97F4A7C15u;
    return &d->forms[(hash >> 48) % FORMS];
}

/* Returns true if the text lies in the input itself and so stays valid. */
static bool is_input(const source *s, xir_str text) {
    return (uintptr_t)text.data >= (uintptr_t)s->start && (uintptr_t)text.data < (uintptr_t)s->end;
}

static bool read_form(decoder *d, source *s, const void *at, xir_str text, const xir_class *of,
                      const xir_object **out) {
    form_memo *memo = memo_of_form(d, text);
    if (memo->object && xir_str_equal(memo->text, text)) {
        *out = memo->object;
    } else {
        form_error e = { 0 };
        *out = form_parse(d->pool, text, &e);
        if (!*out) {
            if (e.status == XIR_E_MEMORY) return trace_memory(&d->trace);
            uint64_t byte = is_input(s, text) ? s->ops->offset(s, text.data) + e.at : s->ops->offset(s, at);
            return trace_fail(&d->trace, e.status ? e.status : XIR_E_SYNTAX, byte, "%s", e.message);
        }
        if (is_input(s, text)) *memo = (form_memo){ text, *out };
    }
    return object_fits((*out)->cls, of) || misfit(s, at, (*out)->cls, of);
}

static bool read_text_object(decoder *d, source *s, const xir_class *of, const xir_object **out) {
    const void *at = s->at;
    xir_str text;
    if (!s->ops->text(s, &text)) return false;
    if (text.size && text.data[0] == '@') return read_form(d, s, at, text, of, out);
    double v;
    if (object_fits(d->ctx->types[CLASS_float_imm], of) && special_real(text, &v))
        return make_real(d, s, at, v, of, out);
    return source_fail(s, at, XIR_E_TYPE, "expected %.*s, found the text \"%.*s\"", WANTED(of), CLIP(text));
}

/* Not a pointer_table: the key is the hash, which the format has computed. */
static size_t object_slot(const decoder *d, uint64_t hash) {
    size_t at = (size_t)hash & (d->object_room - 1);
    while (d->objects[at].memo.start && d->objects[at].hash != hash) at = (at + 1) & (d->object_room - 1);
    return at;
}

/* Of two encodings with one hash, the later takes the slot. Without memory nothing is remembered. */
static void remember_object(decoder *d, codec_memo memo, uint64_t hash) {
    if ((d->object_count + 1) * 2 > d->object_room) {
        size_t old_room = d->object_room, room = old_room ? old_room * 2 : 64;
        object_memo *old = d->objects, *objects = mem_new(context_alloc(d->ctx), room * sizeof *objects);
        if (!objects) return;
        memset(objects, 0, room * sizeof *objects);
        d->objects = objects;
        d->object_room = room;
        for (size_t i = 0; i < old_room; i++) {
            if (old[i].memo.start) objects[object_slot(d, old[i].hash)] = old[i];
        }
        mem_free(context_alloc(d->ctx), old, old_room * sizeof *old);
    }
    object_memo *slot = &d->objects[object_slot(d, hash)];
    if (!slot->memo.start) d->object_count++;
    *slot = (object_memo){ memo, hash };
}

/* The class of the next map. */
static const xir_class *class_of_map(decoder *d, source *s, const xir_class *of) {
    uint64_t byte = source_here(s);
    xir_str key;
    if (!s->ops->member(s, XIR_STR("_type_key"), &key)) {
        xir_any ignored;
        source copy = *s;
        if (any_in(d, &copy, &ignored, false)) {
            trace_fail(&d->trace, XIR_E_MISSING, byte, "expected %.*s, found a map without _type_key",
                       WANTED(of));
        }
        return NULL;
    }
    const xir_class *cls = xir_class_find(d->ctx, key);
    if (!cls) {
        if (of && !(of->traits & XIR_TRAIT_ABSTRACT)) {
            trace_fail(&d->trace, XIR_E_UNKNOWN, byte, "expected %.*s, found the unknown class %.*s", WANTED(of),
                       CLIP(key));
            return NULL;
        }
        cls = class_opaque(d->ctx, key, false);
        if (!cls) trace_memory(&d->trace);
        return cls;
    }
    if (cls->is_op || !object_fits(cls, of)) {
        misfit(s, s->at, cls, of);
        return NULL;
    }
    if (cls->more->form) {
        trace_fail(&d->trace, XIR_E_TYPE, byte, "expected %.*s as one text, found a map", CLIP(cls->key));
        return NULL;
    }
    if (cls->traits & XIR_TRAIT_ABSTRACT) {
        trace_fail(&d->trace, XIR_E_TYPE, byte, "%.*s is a family of classes: expected one of its members",
                   CLIP(cls->key));
        return NULL;
    }
    return cls;
}

/* The members of an object's map. */
static bool read_rows(decoder *d, source *s, const codec_plan *plan, void *body, members *m, xir_str *name) {
    const xir_class *cls = plan->cls;
    uint32_t next = 0;
    for (bool first = true;; first = false) {
        int what, stepped = next_member(s, plan, first, &next, name, &what);
        if (stepped != 1) return stepped == 0;
        if (what == KEY_NONE) {
            if (!add_extra(d, s, &m->extra, *name, false)) return false;
            continue;
        }
        if (!members_note(d, s, m, cls, what, *name)) return false;
        xir_str known;   /* _type_key, the only key that is not a row */
        if (!(what >= 0 ? decode_field(d, s, &cls->fields[what], body) : s->ops->text(s, &known))) return false;
    }
}

static bool read_object_members(decoder *d, source *s, const codec_plan *plan, void *body, members *m) {
    if (!s->ops->enter(s)) return false;
    frame f = { .up = d->trace.top, .index = SIZE_MAX };
    d->trace.top = &f;
    bool ok = read_rows(d, s, plan, body, m, &f.key);
    d->trace.top = f.up;
    return ok;
}

bool object_complete(decoder *d, const xir_class *cls, const void *body, uint64_t byte) {
    const xir_i64s *dims = cls == d->ctx->tensor_class ? &((const xir_tensor_type *)body)->shape : NULL;
    for (size_t i = 0; dims && i < dims->size; i++) {
        if (dims->data[i] >= XIR_UNKNOWN_DIM) continue;
        return trace_fail(&d->trace, XIR_E_BOUNDS, byte, "expected dims from -1 on (-1: unknown), found %" PRId64
                          " as dim %zu", dims->data[i], i);
    }
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        if (f->kind != XIR_KIND_REF || f->flags & XIR_FIELD_OPTIONAL) continue;
        if (*(const xir_object *const *)body_at(body, f)) continue;
        return trace_fail(&d->trace, XIR_E_MISSING, byte, "%.*s needs %.*s", CLIP(cls->key), CLIP(f->name));
    }
    return true;
}

static bool read_map_object(decoder *d, source *s, const xir_class *of, const xir_object **out) {
    const void *at = s->at;
    uint64_t hash = 0;
    codec_memo print;
    bool printed = s->ops->fingerprint(s, &print, &hash);
    if (printed && d->object_room) {
        const codec_memo *known = &d->objects[object_slot(d, hash)].memo;
        if (known->start && s->ops->repeats(s, known)) {
            *out = known->object;
            return object_fits((*out)->cls, of) || misfit(s, at, (*out)->cls, of);
        }
    }
    const xir_class *cls = class_of_map(d, s, of);
    if (!cls) return false;
    codec_plan *plan = codec_plan_of(&d->plans, cls);
    xir_object *body = arena_take(&d->scratch, cls->body_size);
    if (!plan || !body) return trace_memory(&d->trace);
    memcpy(body, cls->defaults, cls->body_size);
    *body = (xir_object){ .cls = cls };
    members m;
    xir_map extra;
    if (!members_begin(d, s, &m, cls) || !read_object_members(d, s, plan, body, &m)) return false;
    if (!sort_extra(d, s, at, &m.extra, &extra)) return false;
    if (!object_complete(d, cls, body, s->ops->offset(s, at))) return false;
    body->extra = extra.size ? &extra : NULL;
    body->absent = (uint32_t)members_absent(&m, cls);
    if (!object_made(d, body, out)) return false;
    if (printed) {
        print.object = *out;
        remember_object(d, print, hash);
    }
    return true;
}

bool decode_object(decoder *d, source *s, const xir_class *of, const xir_object **out) {
    if (s->ops->object) return s->ops->object(d, s, of, out);
    switch (s->ops->shape(s)) {
    case SHAPE_NONE:   return false;
    case SHAPE_TEXT:   return read_text_object(d, s, of, out);
    case SHAPE_MAP:    return read_map_object(d, s, of, out);
    case SHAPE_BOOL:
    case SHAPE_NUMBER:
        if (object_fits(d->ctx->types[CLASS_float_imm], of) || (of && object_fits(of, d->ctx->types[CLASS_scalar]))) {
            return read_scalar(d, s, of, out);
        }
        break;
    default: break;
    }
    char what[80];
    snprintf(what, sizeof what, "%.*s", WANTED(of));
    return source_expected(s, what);
}

typedef struct ref_list { gathered items; const xir_class *of; } ref_list;

static bool item_ref(decoder *d, source *s, void *user) {
    ref_list *list = user;
    const xir_object *object;
    if (!decode_object(d, s, list->of, &object)) return false;
    const xir_object **out = gather(d, &list->items, sizeof *out);
    if (out) *out = object;
    return out != NULL;
}

/* ---- rows -------------------------------------------------------------------------------------------------- */

static bool read_enum(source *s, const xir_enum *words, int *out) {
    const void *at = s->at;
    xir_str word;
    if (!s->ops->text(s, &word)) return false;
    for (size_t i = 0; i < words->size; i++) {
        if (xir_str_equal(word, xir_str_of(words->names[i]))) {
            *out = (int)i;
            return true;
        }
    }
    char known[300];
    size_t n = 0;
    known[0] = '\0';
    for (size_t i = 0; i < words->size && n < sizeof known - 1; i++) {
        n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", words->names[i]);
    }
    return source_fail(s, at, XIR_E_UNKNOWN, "\"%.*s\" is not one of %s", CLIP(word), known);
}

static bool read_u64(source *s, uint64_t *out) {
    const void *at = s->at;
    number n;
    if (!s->ops->number(s, &n)) return false;
    if (n.kind == NUMBER_I64 && n.i64 < 0) {
        return source_fail(s, at, XIR_E_BOUNDS, "%" PRId64 " is below 0", n.i64);
    }
    if (n.kind == NUMBER_REAL) {
        return source_fail(s, at, XIR_E_TYPE, "expected an integer of 64 bits, found %g", n.real);
    }
    *out = n.kind == NUMBER_I64 ? (uint64_t)n.i64 : n.u64;
    return true;
}

static bool item_run(decoder *d, source *s, void *user) {
    gathered numbers = { 0 };
    const void *at = s->at;
    if (!each_item(d, s, item_real, &numbers)) return false;
    const double *v = numbers.data;
    bool whole = numbers.size == 4;
    for (size_t i = 0; whole && i < 3; i++) whole = v[i] == floor(v[i]) && fabs(v[i]) < 9.0e18;
    if (!whole) return source_fail(s, at, XIR_E_TYPE, "expected a run [end, m, exp, value]");
    xir_run *out = gather(d, user, sizeof *out);
    if (out) *out = (xir_run){ .end = (int64_t)v[0], .m = (int64_t)v[1], .exp = (int64_t)v[2], .value = (float)v[3] };
    return out != NULL;
}

static bool item_params(decoder *d, source *s, void *user) {
    xir_value *v;
    if (!decode_params(d, s, &v)) return false;
    xir_value **out = gather(d, user, sizeof *out);
    if (out) *out = v;
    return out != NULL;
}

static bool item_op(decoder *d, source *s, void *user) {
    xir_op *op;
    if (!decode_op(d, s, &op)) return false;
    xir_op **out = gather(d, user, sizeof *out);
    if (out) *out = op;
    return out != NULL;
}

static bool read_params_list(decoder *d, source *s, const xir_field *f, xir_values *out) {
    gathered list = { 0 };
    bool ok = f->flags & XIR_FIELD_SINGLE && s->ops->shape(s) == SHAPE_MAP ? item_params(d, s, &list)
                                                                             : each_item(d, s, item_params, &list);
    *out = (xir_values){ list.data, list.size };
    return ok;
}

static bool in_network(decoder *d, source *s) {
    return d->net || trace_fail(&d->trace, XIR_E_TYPE, source_here(s), "Params and ops can only be part of a network");
}

/* An empty list that could also be null points here. */
static const int64_t no_items = 0;

bool decode_field(decoder *d, source *s, const xir_field *f, void *body) {
    void *at = body_at(body, f);
    gathered list = { 0 };
    bool ok;
    switch (f->kind) {
    case XIR_KIND_BOOL: return s->ops->boolean(s, at);
    case XIR_KIND_I64:  return s->ops->integer(s, at);
    case XIR_KIND_U64:  return read_u64(s, at);
    case XIR_KIND_REAL: return read_real(d, s, at);
    case XIR_KIND_TEXT: return s->ops->text(s, at);
    case XIR_KIND_ENUM: return read_enum(s, f->members, at);
    case XIR_KIND_MAP:  return decode_map(d, s, at, false);
    case XIR_KIND_REF:
        if (s->ops->shape(s) != SHAPE_NULL) return decode_object(d, s, f->of, at);
        *(const xir_object **)at = NULL;
        return s->ops->null(s);
    case XIR_KIND_PARAMS:
        if (s->ops->shape(s) != SHAPE_NULL) return in_network(d, s) && decode_params(d, s, at);
        *(xir_value **)at = NULL;
        return s->ops->null(s);
    case XIR_KIND_BOOLS:
        ok = each_item(d, s, item_bool, &list);
        *(xir_bools *)at = (xir_bools){ list.data, list.size };
        return ok;
    case XIR_KIND_I64S:
        if (f->flags & XIR_FIELD_OPTIONAL && s->ops->shape(s) == SHAPE_NULL) {
            *(xir_i64s *)at = (xir_i64s){ NULL, 0 };
            return s->ops->null(s);
        }
        ok = each_item(d, s, item_i64, &list);
        *(xir_i64s *)at = (xir_i64s){ list.data || !(f->flags & XIR_FIELD_OPTIONAL) ? list.data : &no_items,
                                      list.size };
        return ok;
    case XIR_KIND_REALS:
        ok = each_item(d, s, item_real, &list);
        *(xir_reals *)at = (xir_reals){ list.data, list.size };
        return ok;
    case XIR_KIND_TEXTS:
        ok = each_item(d, s, item_text, &list);
        *(xir_texts *)at = (xir_texts){ list.data, list.size };
        return ok;
    case XIR_KIND_REFS: {
        ref_list refs = { .of = f->of };
        ok = each_item(d, s, item_ref, &refs);
        *(xir_refs *)at = (xir_refs){ refs.items.data, refs.items.size };
        return ok;
    }
    case XIR_KIND_RUNS:
        ok = each_item(d, s, item_run, &list);
        *(xir_runs *)at = (xir_runs){ list.data, list.size };
        return ok;
    case XIR_KIND_PARAMSS:
        return in_network(d, s) && read_params_list(d, s, f, at);
    case XIR_KIND_OPS:
        ok = in_network(d, s) && each_item(d, s, item_op, &list);
        *(xir_ops *)at = (xir_ops){ list.data, list.size };
        return ok;
    case XIR_KIND_COUNT: break;
    }
    return false;
}

bool decode_op_field(decoder *d, source *s, const xir_field *f, void *body) {
    return f->kind == XIR_KIND_MAP ? decode_map(d, s, body_at(body, f), true) : decode_field(d, s, f, body);
}
