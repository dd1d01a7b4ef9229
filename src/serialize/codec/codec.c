/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Helpers for reading and writing: plans, the names of keys, and the place in a finding. */
#include "codec/codec.h"
#include "memory_limit.h"

/* ---- keys -------------------------------------------------------------------------------------------------- */

/* ORDER NETWORK */
const char *const network_keys[NETWORK_KEYS] = {
    "_type_key", "ai_target", "framework_kind", "framework_version", "icraft_version", "icraft_xir_version", "name", "ops",
    "params_bytes", "params_md5", "tags",
};
/* ORDER VALUE */
const char *const value_keys[VALUE_KEYS] = { "_allow_no_data", "_type_key", "dtype", "mtype", "name", "tags", "v_id" };

const xir_str network_class_key = { "icraft::xir::Network", 20 };
const xir_str value_class_key   = { "icraft::xir::Value", 18 };
const xir_str params_class_key  = { "icraft::xir::Params", 19 };

xir_network_text network_key_text(network_key key) {
    switch (key) {
    case NETWORK_FRAMEWORK:         return XIR_TEXT_FRAMEWORK;
    case NETWORK_FRAMEWORK_VERSION: return XIR_TEXT_FRAMEWORK_VERSION;
    case NETWORK_ICRAFT_VERSION:    return XIR_TEXT_ICRAFT_VERSION;
    case NETWORK_XIR_VERSION:       return XIR_TEXT_XIR_VERSION;
    case NETWORK_NAME:              return XIR_TEXT_NAME;
    case NETWORK_PARAMS_MD5:        return XIR_TEXT_PARAMS_MD5;
    default:                        return XIR_TEXT_COUNT;
    }
}

static void bake_key(codec_key *key, bake_fn *bake) {
    memset(key->baked, 0, BAKED);
    key->size = bake ? bake(key->name, key->baked) : 0;
}

void codec_bake(codec_key *key, bake_fn *bake, const char *text, int what) {
    *key = (codec_key){ .name = xir_str_of(text), .what = what };
    bake_key(key, bake);
}

void codec_plans_init(codec_plans *plans, arena *keep, bake_fn *bake) {
    *plans = (codec_plans){ .arena = keep, .bake = bake };
    pointer_table_init(&plans->by_class, keep->alloc);
}

void codec_plans_free(codec_plans *plans) {
    mem_free(plans->arena->alloc, (void *)plans->plans, plans->room * sizeof *plans->plans);
    pointer_table_free(&plans->by_class);
}

/* Classes that nobody registered have only the keys that every op, or every object, has: one list serves all ops. */
static codec_key *keys_of(codec_plans *plans, const xir_class *cls) {
    bool shared = cls->opaque && cls->is_op;
    if (shared && plans->opaque_keys) return plans->opaque_keys;
    codec_key *keys = arena_take(plans->arena, cls->more->n_keys * sizeof *keys);
    for (uint32_t i = 0, n = 0; keys && i < cls->more->n_keys; i++) {
        const class_key *k = &cls->more->keys[i];
        if (k->old) continue;
        keys[n] = (codec_key){ .name = k->name, .field = k->field >= 0 ? &cls->fields[k->field] : NULL,
                               .what = k->field };
        bake_key(&keys[n++], plans->bake);
    }
    if (shared) plans->opaque_keys = keys;
    return keys;
}

static void *take_zeroed(arena *a, size_t size) {
    void *block = arena_take(a, size);
    return block ? memset(block, 0, size) : NULL;
}

static codec_plan *make_plan(codec_plans *plans, const xir_class *cls, bool late) {
    codec_plan *plan = arena_take(plans->arena, sizeof *plan);
    codec_key *keys = keys_of(plans, cls);
    void *body = arena_take(plans->arena, cls->body_size);
    codec_recent *recent = late ? plans->shared : NULL;
    stretch *stretches = late ? NULL : take_zeroed(plans->arena, STRETCHES * sizeof *stretches);
    if (!recent) recent = take_zeroed(plans->arena, sizeof *recent);
    if (!plan || !keys || !body || !recent || !(late || stretches)) return NULL;
    if (late) plans->shared = recent;
    *plan = (codec_plan){ .cls = cls, .keys = keys, .recent = recent, .stretches = stretches, .last_body = body };
    for (uint32_t i = 0; i < cls->more->n_keys; i++) plan->n_keys += !cls->more->keys[i].old;
    return plan;
}

/* Ops of classes that nobody registered have no ops in them, so one plan at a time is enough for them. */
static codec_plan *late_plan(codec_plans *plans, const xir_class *cls) {
    if (!plans->late) plans->late = make_plan(plans, cls, true);
    if (plans->late && plans->late->cls != cls) {
        plans->late->cls = cls;
        plans->late->last_attrs = NULL;
    }
    return plans->late;
}

codec_plan *codec_plan_of(codec_plans *plans, const xir_class *cls) {
    enum { MANY = 256 };
    const uint32_t *at = pointer_table_find(&plans->by_class, cls);
    if (at) return plans->plans[*at];
    size_t n = plans->by_class.n;
    if (cls->opaque && cls->is_op && n >= MANY) return late_plan(plans, cls);
    if (n >= UINT32_MAX ||
        !mem_reserve(plans->arena->alloc, (void **)&plans->plans, &plans->room, n + 1,
                     sizeof *plans->plans)) return NULL;
    codec_plan *plan = make_plan(plans, cls, cls->opaque && n >= MANY);
    if (!plan || !pointer_table_add(&plans->by_class, cls, (uint32_t)n)) return NULL;
    return plans->plans[n] = plan;
}

/* ---- findings ---------------------------------------------------------------------------------------------- */

/* A member of a JSON pointer: '~' and '/' are escaped. */
static void put_key(buffer *out, xir_str key) {
    for (size_t i = 0; i < key.size; i++) {
        if (key.data[i] == '~') buffer_str(out, "~0");
        else if (key.data[i] == '/') buffer_str(out, "~1");
        else buffer_char(out, key.data[i]);
    }
}

void trace_path(buffer *out, const frame *f) {
    if (!f) return;
    trace_path(out, f->up);   /* the depth is limited: so deep are values nested */
    if (f->index == SIZE_MAX && !f->key.data) return;
    buffer_char(out, '/');
    if (f->index == SIZE_MAX) {
        put_key(out, f->key);
        return;
    }
    if (buffer_reserve(out, NUMBER_ROOM)) out->size += number_put_u64(out->data + out->size, f->index);
}

static void put_line(const trace *t, xir_diag *d) {
    uint64_t end = d->byte < t->text.size ? d->byte : t->text.size;
    uint32_t line = 1;
    uint64_t start = 0;
    for (const char *p = t->text.data; (p = memchr(p, '\n', (size_t)(t->text.data + end - p))) != NULL;) {
        p++;
        if (line < UINT32_MAX) line++;
        start = (uint64_t)(p - t->text.data);
    }
    d->line = line;
    d->column = end - start < UINT32_MAX ? (uint32_t)(end - start) + 1 : UINT32_MAX;
}

bool trace_failv(trace *t, xir_status code, uint64_t byte, const char *format, va_list args) {
    if (t->status) return false;
    t->status = code;
    if (!t->why) return false;
    xir_diag d = { .severity = XIR_ERROR, .code = code, .file = t->file, .byte = byte };
    if (t->text.data && byte != XIR_NO_BYTE) put_line(t, &d);
    buffer path;
    buffer_init(&path, context_alloc(t->ctx));
    trace_path(&path, t->top);
    if (!path.failed) d.path = (xir_str){ path.data, path.size };
    diag_failv(t->why, &d, format, args);
    buffer_free(&path);
    return false;
}

bool trace_fail(trace *t, xir_status code, uint64_t byte, const char *format, ...) {
    va_list args;
    va_start(args, format);
    trace_failv(t, code, byte, format, args);
    va_end(args);
    return false;
}

bool source_fail(const source *s, const void *at, xir_status code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    trace_failv(s->trace, code, s->ops->offset(s, at), format, args);
    va_end(args);
    return false;
}

bool trace_memory(trace *t) {
    char limit[MEMORY_LIMIT_ROOM];
    if (t->status) return false;
    if (t->why && memory_limit_say(limit)) return trace_fail(t, XIR_E_LIMIT, XIR_NO_BYTE, "%s", limit);
    t->status = XIR_E_MEMORY;
    diag_memory(t->why);
    return false;
}

const char *shape_words(shape s) {
    switch (s) {
    case SHAPE_NONE:   break;
    case SHAPE_NULL:   return "null";
    case SHAPE_BOOL:   return "true or false";
    case SHAPE_NUMBER: return "a number";
    case SHAPE_TEXT:   return "a text";
    case SHAPE_BYTES:  return "bytes";
    case SHAPE_LIST:   return "a list";
    case SHAPE_MAP:    return "a map";
    }
    return "nothing";
}

bool source_expected(source *s, const char *what) {
    shape found = s->ops->shape(s);
    if (found == SHAPE_NONE) return false;
    return source_fail(s, s->at, XIR_E_TYPE, "expected %s, found %s", what, shape_words(found));
}

/* Hashes only parts of long items: a caller that finds a match compares the items. */
uint64_t codec_hash(const char *item, size_t size) {
    enum { LONG = 256, PART = 64 };
    if (size <= LONG) return hash_bytes(0, item, size);
    uint64_t hash = hash_bytes(size, item, PART);
    for (size_t i = 1; i < 4; i++) hash = hash_bytes(hash, item + size / 4 * i, 16);
    return hash_bytes(hash, item + size - PART, PART);
}
