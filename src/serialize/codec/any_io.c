/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See any_io.h. */
#include "codec/any_io.h"
#include "codec/read.h"

static const xir_any *here(const source *s) { return s->at; }
static any_level *level(const source *s) { return &((any_levels *)s->state)->of[s->depth - 1]; }

static shape on_shape(source *s) {
    switch (here(s)->kind) {
    case XIR_ANY_NULL:   return SHAPE_NULL;
    case XIR_ANY_BOOL:   return SHAPE_BOOL;
    case XIR_ANY_INT:
    case XIR_ANY_UINT:
    case XIR_ANY_REAL:   return SHAPE_NUMBER;
    case XIR_ANY_TEXT:   return SHAPE_TEXT;
    case XIR_ANY_LIST:   return SHAPE_LIST;
    case XIR_ANY_MAP:
    case XIR_ANY_PARAMS: return SHAPE_MAP;   /* as it would be written */
    }
    return SHAPE_NULL;
}

static bool from_null(source *s) {
    (void)s;
    return true;
}

static bool from_boolean(source *s, bool *out) {
    if (here(s)->kind != XIR_ANY_BOOL) return source_expected(s, shape_words(SHAPE_BOOL));
    *out = here(s)->as.boolean;
    return true;
}

static bool from_number(source *s, number *out) {
    switch (here(s)->kind) {
    case XIR_ANY_INT:
        *out = (number){ .kind = NUMBER_I64, .i64 = here(s)->as.integer };
        return true;
    case XIR_ANY_UINT:
        *out = (number){ .kind = here(s)->as.uinteger > INT64_MAX ? NUMBER_U64 : NUMBER_I64,
                         .u64 = here(s)->as.uinteger };
        return true;
    case XIR_ANY_REAL:
        *out = (number){ .kind = NUMBER_REAL, .real = here(s)->as.real };
        return true;
    default: return source_expected(s, shape_words(SHAPE_NUMBER));
    }
}

static bool from_integer(source *s, int64_t *out) {
    number n = { 0 };
    if (!from_number(s, &n)) return false;
    if (n.kind == NUMBER_U64) {
        return source_fail(s, s->at, XIR_E_BOUNDS, "%" PRIu64 " does not fit 64 bits with a sign", n.u64);
    }
    if (n.kind == NUMBER_REAL)
        return source_fail(s, s->at, XIR_E_TYPE, "expected an integer, found %g", n.real);
    *out = n.i64;
    return true;
}

static bool from_text(source *s, xir_str *out) {
    if (here(s)->kind != XIR_ANY_TEXT) return source_expected(s, shape_words(SHAPE_TEXT));
    *out = here(s)->as.text;
    return true;
}

static bool from_params(source *s, xir_value **out) {
    if (here(s)->kind != XIR_ANY_PARAMS) return false;
    *out = here(s)->as.params;
    return true;
}

static bool from_enter(source *s) {
    if (here(s)->kind != XIR_ANY_MAP && here(s)->kind != XIR_ANY_LIST) return source_expected(s, "a map or list");
    if (s->depth >= s->deepest)
        return source_fail(s, s->at, XIR_E_LIMIT, "values are nested deeper than %u", s->deepest);
    s->depth++;
    *level(s) = (any_level){ here(s), 0 };
    return true;
}

static int from_item(source *s, bool first) {
    (void)first;
    any_level *l = level(s);
    if (l->next == l->in->as.list.size) {
        s->depth--;
        return 0;
    }
    s->at = &l->in->as.list.items[l->next++];
    return 1;
}

static int from_key(source *s, bool first, xir_str *out) {
    (void)first;
    any_level *l = level(s);
    if (l->next == l->in->as.map.size) {
        s->depth--;
        return 0;
    }
    const xir_entry *entry = &l->in->as.map.entries[l->next++];
    *out = entry->key;
    s->at = &entry->value;
    return 1;
}

static bool from_key_is(source *s, bool first, const codec_key *key) {
    (void)first;
    any_level *l = level(s);
    if (l->next == l->in->as.map.size || !xir_str_equal(l->in->as.map.entries[l->next].key, key->name)) return false;
    s->at = &l->in->as.map.entries[l->next++].value;
    return true;
}

static bool from_member(const source *s, xir_str key, xir_str *out) {
    const xir_any *value = here(s)->kind == XIR_ANY_MAP ? xir_map_find(&here(s)->as.map, key) : NULL;
    if (!value || value->kind != XIR_ANY_TEXT) return false;
    *out = value->as.text;
    return true;
}

static bool from_repeats(source *s, const codec_memo *memo) {
    (void)s;
    (void)memo;
    return false;
}

static bool from_fingerprint(const source *s, codec_memo *out, uint64_t *hash) {
    (void)s;
    (void)out;
    (void)hash;
    return false;
}

static uint64_t from_offset(const source *s, const void *at) {
    (void)s;
    (void)at;
    return XIR_NO_BYTE;
}

const source_ops any_source = {
    .shape = on_shape, .null = from_null, .boolean = from_boolean, .integer = from_integer, .number = from_number,
    .text = from_text, .params = from_params, .enter = from_enter, .key = from_key, .item = from_item,
    .key_is = from_key_is, .member = from_member, .repeats = from_repeats, .fingerprint = from_fingerprint,
    .offset = from_offset,
};

void any_source_init(decoder *d, source *s, const xir_any *any, any_levels *levels) {
    decoder_source(d, s, &any_source, "", 0);   /* no bytes: everything */
    d->values_left = UINT64_MAX;                /* is in memory already */
    s->at = any;
    s->state = levels;
}
