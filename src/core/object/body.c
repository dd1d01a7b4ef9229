/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The verbs on bodies that report nothing: hash, equality, deep copy, rounding, reading. Each is one switch over the
 * kinds of fields and knows no particular class. */
#include "context.h"
#include "hash.h"
#include "number.h"

static uint64_t hash_list(uint64_t hash, const void *data, size_t size, size_t item) {
    return hash_bytes(hash, data, size * item);
}

static uint64_t hash_field(uint64_t hash, const xir_field *f, const void *at) {
    switch (f->kind) {
    case XIR_KIND_BOOL:   return hash_bytes(hash, at, sizeof(bool));
    case XIR_KIND_I64:
    case XIR_KIND_U64:
    case XIR_KIND_REAL:   return hash_bytes(hash, at, 8);
    case XIR_KIND_TEXT:   return hash_bytes(hash, ((const xir_str *)at)->data, ((const xir_str *)at)->size);
    case XIR_KIND_ENUM:   return hash_bytes(hash, at, sizeof(int));
    case XIR_KIND_REF: {
        uint32_t part = xir_object_hash(*(const xir_object *const *)at);
        return hash_bytes(hash, &part, sizeof part);
    }
    case XIR_KIND_PARAMS: return hash_bytes(hash, at, sizeof(void *));
    case XIR_KIND_MAP:    return map_hash(hash, at);
    case XIR_KIND_BOOLS:  return hash_list(hash, ((const xir_bools *)at)->data, ((const xir_bools *)at)->size,
                                           sizeof(bool));
    case XIR_KIND_I64S:   return hash_list(hash, ((const xir_i64s *)at)->data, ((const xir_i64s *)at)->size, 8);
    case XIR_KIND_REALS:  return hash_list(hash, ((const xir_reals *)at)->data, ((const xir_reals *)at)->size, 8);
    case XIR_KIND_TEXTS: {
        const xir_texts *l = at;
        for (size_t i = 0; i < l->size; i++) hash = hash_bytes(hash, l->data[i].data, l->data[i].size);
        return hash;
    }
    case XIR_KIND_REFS: {
        const xir_refs *l = at;
        for (size_t i = 0; i < l->size; i++) {
            uint32_t part = xir_object_hash(l->data[i]);
            hash = hash_bytes(hash, &part, sizeof part);
        }
        return hash;
    }
    case XIR_KIND_RUNS: {
        const xir_runs *l = at;
        for (size_t i = 0; i < l->size; i++) {
            hash = hash_bytes(hash, &l->data[i], offsetof(xir_run, value) + sizeof l->data[i].value);
        }
        return hash;
    }
    case XIR_KIND_PARAMSS:
    case XIR_KIND_OPS:    return hash_list(hash, ((const xir_values *)at)->data, ((const xir_values *)at)->size,
                                           sizeof(void *));
    case XIR_KIND_COUNT:  break;
    }
    return hash;
}

void body_hash_into(const xir_class *cls, const void *body, uint64_t *hash) {
    if (cls->plain && !cls->more->n_spans) return;
    if (cls->plain && cls->is_op) {
        /* Only for ops: their references are interned in one pool, so that pointers stand for contents. */
        for (uint32_t i = 0; i < cls->more->n_spans; i++) {
            *hash = hash_bytes(*hash, (const char *)body + cls->more->spans[i].start, cls->more->spans[i].size);
        }
        return;
    }
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        *hash = hash_field(*hash, &cls->fields[i], body_at(body, &cls->fields[i]));
    }
}

static bool same_list(const void *a, size_t n, const void *b, size_t m, size_t item) {
    return n == m && (n == 0 || memcmp(a, b, n * item) == 0);
}

static bool same_runs(const xir_runs *a, const xir_runs *b) {
    if (a->size != b->size) return false;
    for (size_t i = 0; i < a->size; i++) {
        const xir_run *x = &a->data[i], *y = &b->data[i];
        if (x->end != y->end || x->m != y->m || x->exp != y->exp || memcmp(&x->value, &y->value, sizeof x->value)) {
            return false;
        }
    }
    return true;
}

static bool same_field(const xir_field *f, const void *a, const void *b) {
    switch (f->kind) {
    case XIR_KIND_BOOL:   return *(const bool *)a == *(const bool *)b;
    case XIR_KIND_I64:
    case XIR_KIND_U64:
    case XIR_KIND_REAL:   return memcmp(a, b, 8) == 0;
    case XIR_KIND_TEXT:   return xir_str_equal(*(const xir_str *)a, *(const xir_str *)b);
    case XIR_KIND_ENUM:   return *(const int *)a == *(const int *)b;
    case XIR_KIND_REF:    return xir_object_equal(*(const xir_object *const *)a, *(const xir_object *const *)b);
    case XIR_KIND_PARAMS: return *(xir_value *const *)a == *(xir_value *const *)b;
    case XIR_KIND_MAP:    return xir_map_equal(a, b);
    case XIR_KIND_BOOLS:  {
        const xir_bools *x = a, *y = b;
        return same_list(x->data, x->size, y->data, y->size, sizeof(bool));
    }
    case XIR_KIND_I64S:   {
        const xir_i64s *x = a, *y = b;
        if (f->flags & XIR_FIELD_OPTIONAL && !x->data != !y->data) return false;
        return same_list(x->data, x->size, y->data, y->size, 8);
    }
    case XIR_KIND_REALS:  {
        const xir_reals *x = a, *y = b;
        return same_list(x->data, x->size, y->data, y->size, 8);
    }
    case XIR_KIND_TEXTS: {
        const xir_texts *x = a, *y = b;
        if (x->size != y->size) return false;
        for (size_t i = 0; i < x->size; i++) {
            if (!xir_str_equal(x->data[i], y->data[i])) return false;
        }
        return true;
    }
    case XIR_KIND_REFS: {
        const xir_refs *x = a, *y = b;
        if (x->size != y->size) return false;
        for (size_t i = 0; i < x->size; i++) {
            if (!xir_object_equal(x->data[i], y->data[i])) return false;
        }
        return true;
    }
    case XIR_KIND_RUNS:   return same_runs(a, b);
    case XIR_KIND_PARAMSS:
    case XIR_KIND_OPS:    {
        const xir_values *x = a, *y = b;
        return same_list(x->data, x->size, y->data, y->size, sizeof(void *));
    }
    case XIR_KIND_COUNT:  break;
    }
    return true;
}

bool body_equal(const xir_class *cls, const void *a, const void *b) {
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        if (!same_field(f, body_at(a, f), body_at(b, f))) return false;
    }
    return true;
}

static bool same_spelling(const xir_object *a, const xir_object *b) {
    if (a == b) return true;
    if (!a || !b || a->absent != b->absent || a->cls == a->cls->ctx->tensor_class) return false;
    return xir_object_equal(a, b);
}

bool body_same(const xir_class *cls, const void *a, const void *b) {
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        const void *x = body_at(a, f), *y = body_at(b, f);
        if (f->kind != XIR_KIND_REF ? !same_field(f, x, y)
                                    : !same_spelling(*(const xir_object *const *)x, *(const xir_object *const *)y))
            return false;
    }
    return true;
}

bool field_equal(const xir_field *f, const void *a, const void *b) {
    return same_field(f, body_at(a, f), body_at(b, f));
}

uint64_t field_hash(uint64_t hash, const xir_field *f, const void *body) {
    return hash_field(hash, f, body_at(body, f));
}

/* ---- copying ----------------------------------------------------------------------------------------------- */

static bool copy_list(arena *to, const void **data, size_t size, size_t item) {
    if (size == 0) {
        *data = NULL;
        return true;
    }
    void *copy = size <= SIZE_MAX / item ? arena_copy(to, *data, size * item) : NULL;
    if (!copy) return false;
    *data = copy;
    return true;
}

static bool copy_i64s(arena *to, const xir_field *f, xir_i64s *list) {
    static const int64_t none = 0;
    bool empty = f->flags & XIR_FIELD_OPTIONAL && list->data && list->size == 0;   // which is not null
    if (!copy_list(to, (const void **)&list->data, list->size, sizeof *list->data)) return false;
    if (empty) list->data = &none;
    return true;
}

static bool intern_ref(object_pool *pool, const xir_object **ref) {
    if (!*ref) return true;
    *ref = pool_intern_held(pool, *ref);
    return *ref != NULL;
}

static bool copy_field(object_pool *pool, arena *to, const xir_field *f, void *at) {
    switch (f->kind) {
    case XIR_KIND_TEXT: return arena_text(to, *(xir_str *)at, at);
    case XIR_KIND_REF:  return intern_ref(pool, at);
    case XIR_KIND_MAP: {
        xir_any from = { .kind = XIR_ANY_MAP, .as.map = *(xir_map *)at }, copy;
        if (!any_copy(to, &from, &copy)) return false;
        *(xir_map *)at = copy.as.map;
        return true;
    }
    case XIR_KIND_BOOLS:   return copy_list(to, (const void **)&((xir_bools *)at)->data, ((xir_bools *)at)->size,
                                            sizeof(bool));
    case XIR_KIND_I64S:    return copy_i64s(to, f, at);
    case XIR_KIND_REALS:   return copy_list(to, (const void **)&((xir_reals *)at)->data, ((xir_reals *)at)->size, 8);
    case XIR_KIND_RUNS:    return copy_list(to, (const void **)&((xir_runs *)at)->data, ((xir_runs *)at)->size,
                                            sizeof(xir_run));
    case XIR_KIND_PARAMSS: return copy_list(to, (const void **)&((xir_values *)at)->data, ((xir_values *)at)->size,
                                            sizeof(void *));
    case XIR_KIND_OPS:     return copy_list(to, (const void **)&((xir_ops *)at)->data, ((xir_ops *)at)->size,
                                            sizeof(void *));
    case XIR_KIND_TEXTS: {
        xir_texts *l = at;
        if (!copy_list(to, (const void **)&l->data, l->size, sizeof(xir_str))) return false;
        xir_str *items = (xir_str *)(uintptr_t)l->data;
        for (size_t i = 0; i < l->size; i++) {
            if (!arena_text(to, items[i], &items[i])) return false;
        }
        return true;
    }
    case XIR_KIND_REFS: {
        xir_refs *l = at;
        if (!copy_list(to, (const void **)&l->data, l->size, sizeof(void *))) return false;
        const xir_object **items = (const xir_object **)(uintptr_t)l->data;
        for (size_t i = 0; i < l->size; i++) {
            if (!intern_ref(pool, &items[i])) return false;
        }
        return true;
    }
    default: return true;   /* stored by value, or a pointer that is kept */
    }
}

bool body_copy(object_pool *pool, arena *to, const xir_class *cls, void *out, const void *body) {
    if (out != body) {
        size_t head = cls->is_op ? 0 : sizeof(xir_object);
        memcpy((char *)out + head, (const char *)body + head, cls->body_size - head);
    }
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        if (!copy_field(pool, to, &cls->fields[i], body_at(out, &cls->fields[i]))) return false;
    }
    return true;
}

void body_fill_presets(const xir_class *cls, void *body) {
    for (uint32_t i = 0; i < cls->more->n_refs; i++) {
        const xir_field *f = &cls->fields[cls->more->refs[i]];
        const xir_object **ref = body_at(body, f);
        if (!*ref) *ref = *(const xir_object **)body_at(cls->defaults, f);
    }
    if (cls->plain) return;
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        xir_refs *list = f->kind == XIR_KIND_REFS ? body_at(body, f) : NULL;
        if (list && list->size == 0) *list = *(const xir_refs *)body_at(cls->defaults, f);
    }
}

static bool round_list(arena *to, xir_reals *list) {
    double *copy = arena_copy(to, list->data, list->size * sizeof *copy);
    if (!copy) return false;
    for (size_t i = 0; i < list->size; i++) copy[i] = number_to_f32(copy[i]);
    list->data = copy;
    return true;
}

bool field_round(arena *to, const xir_field *f, void *body) {
    void *at = body_at(body, f);
    if (f->kind == XIR_KIND_REAL) *(double *)at = number_to_f32(*(double *)at);
    return f->kind != XIR_KIND_REALS || ((xir_reals *)at)->size == 0 || round_list(to, at);
}

bool body_round(arena *to, const xir_class *cls, void *body) {
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        if (!field_round(to, &cls->fields[i], body)) return false;
    }
    return true;
}

void body_get(const xir_field *f, const void *body, xir_attr *out) {
    const void *at = body_at(body, f);
    *out = (xir_attr){ .kind = f->kind };
    switch (f->kind) {
    case XIR_KIND_BOOL:    out->as.boolean = *(const bool *)at; break;
    case XIR_KIND_I64:     out->as.i64 = *(const int64_t *)at; break;
    case XIR_KIND_U64:     out->as.u64 = *(const uint64_t *)at; break;
    case XIR_KIND_REAL:    out->as.real = *(const double *)at; break;
    case XIR_KIND_TEXT:    out->as.text = *(const xir_str *)at; break;
    case XIR_KIND_ENUM:    out->as.enumerator = *(const int *)at; break;
    case XIR_KIND_REF:     out->as.ref = *(const xir_object *const *)at; out->is_null = !out->as.ref; break;
    case XIR_KIND_PARAMS:  out->as.params = *(xir_value *const *)at; out->is_null = !out->as.params; break;
    case XIR_KIND_MAP:     out->as.map = *(const xir_map *)at; break;
    case XIR_KIND_BOOLS:   out->as.bools = *(const xir_bools *)at; break;
    case XIR_KIND_I64S:
        out->as.i64s = *(const xir_i64s *)at;
        out->is_null = f->flags & XIR_FIELD_OPTIONAL && !out->as.i64s.data;
        break;
    case XIR_KIND_REALS:   out->as.reals = *(const xir_reals *)at; break;
    case XIR_KIND_TEXTS:   out->as.texts = *(const xir_texts *)at; break;
    case XIR_KIND_REFS:    out->as.refs = *(const xir_refs *)at; break;
    case XIR_KIND_RUNS:    out->as.runs = *(const xir_runs *)at; break;
    case XIR_KIND_PARAMSS: out->as.values = *(const xir_values *)at; break;
    case XIR_KIND_OPS:     out->as.ops = *(const xir_ops *)at; break;
    case XIR_KIND_COUNT:   break;
    }
}
