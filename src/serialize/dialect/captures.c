/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The names in scope are a list with a hash table over it. When a graph has been walked, its names are removed from the
 * end of the list, so nested graphs cost no more than their contents. The captures of one node become one list without
 * duplicates in the same way. */
#include "dialect/dialect.h"

static uint64_t hash_of(const dialect_scopes *s, xir_str text) { return dialect_hash(s->d, text); }

static bool has(const dialect_scopes *s, xir_str text) {
    if (!s->room) return false;
    const scope_name *names = s->names.data;
    uint64_t hash = hash_of(s, text);
    for (uint32_t i = s->buckets[(hash ^ hash >> 32) & (s->room - 1)]; i; i = names[i - 1].next) {
        if (xir_str_equal(names[i - 1].text, text)) return true;
    }
    return false;
}

static void link_name(dialect_scopes *s, uint32_t i) {
    scope_name *name = (scope_name *)s->names.data + i;
    uint64_t hash = hash_of(s, name->text);
    name->bucket = (uint32_t)((hash ^ hash >> 32) & (s->room - 1));
    name->next = s->buckets[name->bucket];
    s->buckets[name->bucket] = i + 1;
}

static bool grow(dialect_scopes *s) {
    size_t room = s->room ? 2 * s->room : 64;
    uint32_t *buckets = mem_new(s->d->alloc, room * sizeof *buckets);
    if (!buckets) return trace_memory(&s->d->trace);
    memset(buckets, 0, room * sizeof *buckets);
    mem_free(s->d->alloc, s->buckets, s->room * sizeof *buckets);
    s->buckets = buckets;
    s->room = room;
    for (uint32_t i = 0; i < s->names.size; i++) link_name(s, i);
    return true;
}

bool dialect_scope_define(dialect_scopes *s, xir_str text) {
    if (!text.size || has(s, text)) return true;
    if (s->names.size >= s->room && !grow(s)) return false;
    scope_name *name = s->names.size < UINT32_MAX - 1 ? dialect_add(s->d, &s->names, sizeof *name) : NULL;
    if (!name) return trace_memory(&s->d->trace);
    *name = (scope_name){ .text = text };
    link_name(s, (uint32_t)s->names.size - 1);
    return true;
}

bool dialect_scope_use(dialect_scopes *s, xir_str text) {
    return !text.size || has(s, text) || dialect_node_capture(s->d, text);
}

bool dialect_scope_enter(dialect_scopes *s, uint64_t byte, size_t *outside) {
    if (s->depth >= s->deepest) {
        return DIALECT_FAIL(s->d, byte, XIR_E_LIMIT, "graphs are nested deeper than %" PRIu32, s->deepest);
    }
    *outside = s->names.size;
    s->depth++;
    return true;
}

/* Names after the first `outside` are the last ones of their buckets. */
void dialect_scope_leave(dialect_scopes *s, size_t outside) {
    const scope_name *names = s->names.data;
    s->depth--;
    for (; s->names.size > outside; s->names.size--) {
        s->buckets[names[s->names.size - 1].bucket] = names[s->names.size - 1].next;
    }
}

void dialect_scopes_begin(dialect_scopes *s, dialect *d) {
    uint32_t deepest = d->ctx->limits.max_depth < CODEC_DEEPEST ? d->ctx->limits.max_depth : CODEC_DEEPEST;
    *s = (dialect_scopes){ .d = d, .deepest = deepest };
}

void dialect_scopes_end(dialect_scopes *s) {
    dialect_list_free(s->d, &s->names, sizeof(scope_name));
    mem_free(s->d->alloc, s->buckets, s->room * sizeof *s->buckets);
}

bool dialect_unite_captures(dialect *d) {
    dialect_list *captures = &d->node.captures;
    if (captures->size < 2) return !dialect_failed(d);
    dialect_scopes s;
    dialect_scopes_begin(&s, d);
    xir_str *all = captures->data;
    size_t n = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < captures->size; i++) {
        if (has(&s, all[i])) continue;
        all[n++] = all[i];
        ok = dialect_scope_define(&s, all[i]);
    }
    captures->size = n;
    dialect_scopes_end(&s);
    return ok;
}
