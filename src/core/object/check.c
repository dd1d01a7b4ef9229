/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The contents of a body: bounds, enum words, required references and their classes. Every fault is a sentence that
 * names the class, the attribute, what was expected and what was found. */
#include <inttypes.h>
#include <stdio.h>
#include <xir/icraft.h>
#include "context.h"
#include "rule.h"

/* The owner of the body: its class, and the name of the op if it has one. */
typedef struct subject { const xir_class *cls; xir_str name; } subject;
#define SUBJECT       "%.*s%s%.*s%s"
#define SUBJECT_OF(s) (int)(s)->cls->key.size, (s)->cls->key.data, (s)->name.size ? " '" : "", (int)(s)->name.size, \
                      (s)->name.size ? (s)->name.data : "", (s)->name.size ? "'" : ""

/* "path/name", cut to a length that suits a finding. */
typedef struct place { char text[512]; } place;

static xir_str at_field(place *p, xir_str path, xir_str name) {
    int n = snprintf(p->text, sizeof p->text, "%.*s/%.*s", (int)path.size, path.data, (int)name.size, name.data);
    size_t size = n < 0 ? 0 : (size_t)n < sizeof p->text ? (size_t)n : sizeof p->text - 1;
    return (xir_str){ p->text, size };
}

static xir_status fault(xir_diags *why, xir_status code, xir_str path, const xir_field *f, const char *format, ...)
    XIR_PRINTF(5, 6);
static xir_status fault(xir_diags *why, xir_status code, xir_str path, const xir_field *f, const char *format, ...) {
    place p;
    va_list list;
    va_start(list, format);
    diag_failv(why, &(xir_diag){ .severity = XIR_ERROR, .code = code, .byte = XIR_NO_BYTE,
                                 .path = at_field(&p, path, f->name) }, format, list);
    va_end(list);
    return code;
}

static xir_status check_number(const subject *of, const xir_field *f, const void *at, xir_str path, xir_diags *why) {
    if (f->kind == XIR_KIND_REAL) {
        double v = *(const double *)at;
        if (f->has_min && !(v >= f->min.r)) {
            return fault(why, XIR_E_BOUNDS, path, f, "%g is below %g, the least %s of " SUBJECT, v, f->min.r,
                         f->name.data, SUBJECT_OF(of));
        }
        if (f->has_max && !(v <= f->max.r)) {
            return fault(why, XIR_E_BOUNDS, path, f, "%g is above %g, the greatest %s of " SUBJECT, v, f->max.r,
                         f->name.data, SUBJECT_OF(of));
        }
        return XIR_OK;
    }
    if (f->kind == XIR_KIND_U64) {
        uint64_t v = *(const uint64_t *)at, least = (uint64_t)f->min.i, greatest = (uint64_t)f->max.i;
        if (f->has_min && v < least) {
            return fault(why, XIR_E_BOUNDS, path, f, "%" PRIu64 " is below %" PRIu64 ", the least %s of " SUBJECT, v,
                         least, f->name.data, SUBJECT_OF(of));
        }
        if (f->has_max && v > greatest) {
            return fault(why, XIR_E_BOUNDS, path, f, "%" PRIu64 " is above %" PRIu64 ", the greatest %s of " SUBJECT,
                         v, greatest, f->name.data, SUBJECT_OF(of));
        }
        return XIR_OK;
    }
    int64_t v = *(const int64_t *)at;
    if (f->has_min && v < f->min.i) {
        return fault(why, XIR_E_BOUNDS, path, f, "%" PRId64 " is below %" PRId64 ", the least %s of " SUBJECT,
                     v, f->min.i, f->name.data, SUBJECT_OF(of));
    }
    if (f->has_max && v > f->max.i) {
        return fault(why, XIR_E_BOUNDS, path, f, "%" PRId64 " is above %" PRId64 ", the greatest %s of " SUBJECT, v,
                     f->max.i, f->name.data, SUBJECT_OF(of));
    }
    return XIR_OK;
}

static xir_status check_ref(const subject *of, const xir_field *f, const xir_object *ref, xir_str path,
                            xir_diags *why) {
    if (!ref) {
        if (f->flags & XIR_FIELD_OPTIONAL) return XIR_OK;
        return fault(why, XIR_E_MISSING, path, f, "attribute %s of " SUBJECT " is null", f->name.data, SUBJECT_OF(of));
    }
    /* An object of an unregistered class is kept; it cannot be checked. */
    if (f->of && !ref->cls->opaque && !xir_class_is_a(ref->cls, f->of)) {
        return fault(why, XIR_E_TYPE, path, f, "expected a %s, found a %s", f->of->key.data,
                     ref->cls->key.data);
    }
    return XIR_OK;
}

static xir_status check_params(const subject *of, const xir_field *f, const xir_value *v, xir_str path,
                               xir_diags *why) {
    if (!v) {
        if (f->flags & XIR_FIELD_OPTIONAL) return XIR_OK;
        return fault(why, XIR_E_MISSING, path, f, "attribute %s of " SUBJECT " is null", f->name.data, SUBJECT_OF(of));
    }
    if (of->cls->ctx->is_params(v)) return XIR_OK;
    return fault(why, XIR_E_TYPE, path, f, "expected Params, found an op's value");
}

static xir_status check_field(const subject *of, const xir_field *f, const void *at, xir_str path, xir_diags *why) {
    switch (f->kind) {
    case XIR_KIND_I64:
    case XIR_KIND_U64:
    case XIR_KIND_REAL: return check_number(of, f, at, path, why);
    case XIR_KIND_ENUM: {
        int word = *(const int *)at;
        if (word >= 0 && (size_t)word < f->members->size) return XIR_OK;
        return fault(why, XIR_E_BOUNDS, path, f, "%d is not a word of %s, which has %zu", word, f->members->name,
                     f->members->size);
    }
    case XIR_KIND_REF: return check_ref(of, f, *(const xir_object *const *)at, path, why);
    case XIR_KIND_REFS: {
        const xir_refs *l = at;
        xir_status first = XIR_OK;
        for (size_t i = 0; i < l->size; i++) {
            xir_status s = check_ref(of, f, l->data[i], path, why);
            if (!first) first = s;
        }
        return first;
    }
    case XIR_KIND_PARAMS: return check_params(of, f, *(xir_value *const *)at, path, why);
    case XIR_KIND_PARAMSS: {
        const xir_values *l = at;
        xir_status first = XIR_OK;
        for (size_t i = 0; i < l->size; i++) {
            xir_status s = check_params(of, f, l->data[i], path, why);
            if (!first) first = s;
        }
        return first;
    }
    default: return XIR_OK;
    }
}

/* Most fields are good in a way that a comparison or two show. The others, which need not be bad, go to check_field. */
static inline bool is_good(const xir_field *f, const void *at) {
    return f->kind == XIR_KIND_REF ? ref_is_good(f, *(const xir_object *const *)at) : number_is_good(f, at);
}

xir_status body_check(const xir_class *cls, const void *body, xir_str owner, xir_str path, xir_diags *why) {
    xir_status first = XIR_OK;
    subject of = { cls, owner };
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        if (is_good(f, body_at(body, f))) continue;
        xir_status s = check_field(&of, f, body_at(body, f), path, why);
        if (!first) first = s;
    }
    return first;
}

xir_status field_check(const xir_class *cls, const xir_field *f, const void *body, xir_str owner, xir_str path,
                       xir_diags *why) {
    xir_class alone = *cls;   /* through body_check, so that check_field has one caller and is inlined there */
    alone.fields = (xir_field *)(uintptr_t)f;
    alone.n_fields = 1;
    return body_check(&alone, body, owner, path, why);
}

/* ---- setting by name --------------------------------------------------------------------------------------- */

static xir_status set_word(const xir_field *f, void *at, const xir_attr *attr, xir_diags *why) {
    if (attr->kind == XIR_KIND_ENUM || attr->kind == XIR_KIND_I64) {
        *(int *)at = attr->kind == XIR_KIND_ENUM ? attr->as.enumerator
                   : attr->as.i64 < 0 || attr->as.i64 > INT32_MAX ? -1 : (int)attr->as.i64;
        return XIR_OK;   /* its range is checked with the bounds */
    }
    for (size_t i = 0; i < f->members->size; i++) {
        if (xir_str_equal(xir_str_of(f->members->names[i]), attr->as.text)) {
            *(int *)at = (int)i;
            return XIR_OK;
        }
    }
    char words[128];
    xir_field_type_text(f, words, sizeof words);
    return fault(why, XIR_E_UNKNOWN, XIR_STR(""), f, "expected %s, found '%.*s'", words,
                 CLIP(attr->as.text));
}

/* Returns true if a row of one kind accepts a value of another. */
static bool takes(xir_kind row, xir_kind given) {
    if (row == given) return true;
    switch (row) {
    case XIR_KIND_REAL: return given == XIR_KIND_I64;
    case XIR_KIND_U64:  return given == XIR_KIND_I64;
    case XIR_KIND_ENUM: return given == XIR_KIND_TEXT || given == XIR_KIND_I64;
    default:            return false;
    }
}

xir_status body_set(const xir_class *cls, const xir_field *f, void *body, const xir_attr *attr, xir_diags *why) {
    (void)cls;
    void *at = body_at(body, f);
    if (!takes(f->kind, attr->kind)) {
        return fault(why, XIR_E_TYPE, XIR_STR(""), f, "expected a value of kind %s, found %s",
                     xir_kind_name(f->kind), xir_kind_name(attr->kind));
    }
    const bool may_be_null = f->kind == XIR_KIND_REF || f->kind == XIR_KIND_PARAMS || f->flags & XIR_FIELD_OPTIONAL;
    if (attr->is_null && !may_be_null) {
        return fault(why, XIR_E_TYPE, XIR_STR(""), f, "expected a value of kind %s, found none",
                     xir_kind_name(f->kind));
    }
    switch (f->kind) {
    case XIR_KIND_BOOL:    *(bool *)at = attr->as.boolean; break;
    case XIR_KIND_I64:     *(int64_t *)at = attr->as.i64; break;
    case XIR_KIND_U64:
        if (attr->kind == XIR_KIND_I64 && attr->as.i64 < 0) {
            return fault(why, XIR_E_BOUNDS, XIR_STR(""), f, "%" PRId64 " is below 0", attr->as.i64);
        }
        *(uint64_t *)at = attr->as.u64;
        break;
    case XIR_KIND_REAL:    *(double *)at = attr->kind == XIR_KIND_I64 ? (double)attr->as.i64 : attr->as.real; break;
    case XIR_KIND_TEXT:    *(xir_str *)at = attr->as.text; break;
    case XIR_KIND_ENUM:    return set_word(f, at, attr, why);
    case XIR_KIND_REF:     *(const xir_object **)at = attr->is_null ? NULL : attr->as.ref; break;
    case XIR_KIND_PARAMS:  *(xir_value **)at = attr->is_null ? NULL : attr->as.params; break;
    case XIR_KIND_MAP:     *(xir_map *)at = attr->as.map; break;
    case XIR_KIND_BOOLS:   *(xir_bools *)at = attr->as.bools; break;
    case XIR_KIND_I64S:    *(xir_i64s *)at = attr->is_null ? (xir_i64s){ NULL, 0 } : attr->as.i64s; break;
    case XIR_KIND_REALS:   *(xir_reals *)at = attr->as.reals; break;
    case XIR_KIND_TEXTS:   *(xir_texts *)at = attr->as.texts; break;
    case XIR_KIND_REFS:    *(xir_refs *)at = attr->as.refs; break;
    case XIR_KIND_RUNS:    *(xir_runs *)at = attr->as.runs; break;
    case XIR_KIND_PARAMSS: *(xir_values *)at = attr->as.values; break;
    case XIR_KIND_OPS:     *(xir_ops *)at = attr->as.ops; break;
    case XIR_KIND_COUNT:   break;
    }
    return XIR_OK;
}

/* ---- suggestions ------------------------------------------------------------------------------------------- */

xir_str class_suggest(const xir_class *cls, xir_str name) {
    xir_str best = { NULL, 0 };
    size_t distance = SIZE_MAX;
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        if (xir_str_is_nearer(name, cls->fields[i].name, &distance)) best = cls->fields[i].name;
    }
    return best;
}

xir_status body_refuse(const xir_class *cls, xir_diags *why) {
    xir_str id = xir_class_id(cls);
    return diag_fail(why, XIR_E_INVALID, XIR_STR(""),
                     "attributes of %.*s: expected a struct from xir_%.*s_init()%s, found another one; what that "
                     "leaves out is 0, not its default", (int)cls->key.size, cls->key.data, (int)id.size, id.data,
                     cls->is_op ? " or XIR_ATTRS" : "");
}

/* ---- objects ----------------------------------------------------------------------------------------------- */

static const xir_object *make(xir_context *ctx, const xir_class_decl *decl, const void *body, bool round,
                              xir_diags *why) {
    const xir_class *cls = xir_class_find_decl(ctx, decl);
    if (!cls || cls->is_op || cls->traits & XIR_TRAIT_ABSTRACT) {
        diag_fail(why, XIR_E_UNKNOWN, XIR_STR(""), "%s is not a registered class of objects", decl->rows->name);
        return NULL;
    }
    if (!((const xir_object *)body)->cls && !body_is_made(cls, body)) {   /* a copy of an object has a class */
        body_refuse(cls, why);
        return NULL;
    }
    _Alignas(16) char space[256];
    xir_object *made = cls->body_size <= sizeof space ? (void *)space : mem_new(&ctx->alloc, cls->body_size);
    const xir_object *object = NULL;
    if (made) {
        memcpy(made, body, cls->body_size);
        *made = (xir_object){ .cls = cls };
        body_fill_presets(cls, made);
        arena lists;   /* rounded lists, until they are interned */
        arena_init(&lists, &ctx->alloc);
        bool rounded = !round || body_round(&lists, cls, made);
        xir_infer view = { .ctx = ctx, .pool = &ctx->pool, .cls = cls, .attrs = made, .why = why };
        if (!rounded) {
            diag_memory(why);
        } else if (body_check(cls, made, XIR_STR(""), XIR_STR(""), why) == XIR_OK && rule_check(&view) == XIR_OK) {
            object = pool_intern(&ctx->pool, made);
            if (!object) diag_memory(why);
        }
        arena_free(&lists);
        if ((void *)made != (void *)space) mem_free(&ctx->alloc, made, cls->body_size);
    } else {
        diag_memory(why);
    }
    return object;
}

const xir_object *xir_object_make(xir_context *ctx, const xir_class_decl *decl, const void *body, xir_diags *why) {
    return make(ctx, decl, body, true, why);
}

const xir_object *xir_object_make_exact(xir_context *ctx, const xir_class_decl *decl, const void *body,
                                        xir_diags *why) {
    return make(ctx, decl, body, false, why);
}

const xir_class *xir_object_class(const xir_object *object) { return object->cls; }

const xir_object *xir_object_body(const xir_object *object, const xir_class_decl *decl) {
    for (const xir_class *c = object ? object->cls : NULL; c; c = c->more->base) {
        if (c->decl == decl) return object;
    }
    return NULL;
}

xir_status xir_object_get(const xir_object *object, xir_str name, xir_attr *out) {
    const xir_field *f = xir_class_field(object->cls, name);
    if (!f) return XIR_E_UNKNOWN;
    body_get(f, object, out);
    return XIR_OK;
}
