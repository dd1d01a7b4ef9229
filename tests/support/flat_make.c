/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include "support/flat_make.h"
#include "flat/wire.h"
#include "json/json.h"

/* The name of a place. */
typedef struct named { char text[400]; } named;

static XIR_PRINTF(1, 2) named name_of(const char *how, ...) {
    named out;
    va_list args;
    va_start(args, how);
    vsnprintf(out.text, sizeof out.text, how, args);
    va_end(args);
    return out;
}

/* ---- bytes and places --------------------------------------------------------------------------------------- */

static size_t put(flat_made *m, const void *bytes, size_t n) {
    if (m->size + n > m->room) {
        m->room = (m->size + n) * 2;
        m->data = realloc(m->data, m->room);
        if (!m->data) abort();
    }
    if (bytes) memcpy(m->data + m->size, bytes, n);
    else memset(m->data + m->size, 0, n);
    m->size += n;
    return m->size - n;
}

/* Aligns the byte that will come `ahead` bytes after the end. */
static void align(flat_made *m, size_t to, size_t ahead) {
    while ((m->size + ahead) % to) put(m, NULL, 1);
}

static void set(flat_made *m, size_t at, uint64_t v, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) m->data[at + i] = (uint8_t)(v >> 8 * i);
}

static void spot(flat_made *m, const char *path, const char *rest, size_t at) {
    if (m->n_spots == m->spot_room) {
        m->spot_room = m->spot_room * 2 + 64;
        m->spots = realloc(m->spots, m->spot_room * sizeof *m->spots);
        if (!m->spots) abort();
    }
    char *name = malloc(strlen(path) + strlen(rest) + 1);
    if (!name) abort();
    m->spots[m->n_spots++] = (flat_spot){ strcat(strcpy(name, path), rest), at };
}

static const flat_spot *find_spot(const flat_made *m, const char *name) {
    for (size_t i = 0; i < m->n_spots; i++) {
        if (strcmp(m->spots[i].name, name) == 0) return &m->spots[i];
    }
    return NULL;
}

size_t flat_spot_at(const flat_made *m, const char *place) {
    char name[200];
    snprintf(name, sizeof name, "%s", place);
    char *sign = strpbrk(name, "+-");
    long more = sign ? strtol(sign, NULL, 0) : 0;
    if (sign) *sign = '\0';
    while (*name && name[strlen(name) - 1] == ' ') name[strlen(name) - 1] = '\0';
    if (strcmp(name, "^") == 0) return (size_t)more;
    if (strcmp(name, "$") == 0) return m->size + (size_t)more;
    const flat_spot *s = find_spot(m, name);
    if (!s) fail_msg("there is no place \"%s\"", name);
    return s->at + (size_t)more;
}

void flat_made_free(flat_made *m) {
    for (size_t i = 0; i < m->n_spots; i++) free(m->spots[i].name);
    free(m->spots);
    free(m->data);
    *m = (flat_made){ 0 };
}

/* ---- making ------------------------------------------------------------------------------------------------- */

typedef struct maker { flat_made *m; flat_schema schema; } maker;

static size_t make_table(maker *k, const flat_table *as, const xir_map *map, const char *path);

static int64_t integer(const xir_any *v) {
    switch (v->kind) {
    case XIR_ANY_BOOL: return v->as.boolean;
    case XIR_ANY_INT:  return v->as.integer;
    case XIR_ANY_UINT: return (int64_t)v->as.uinteger;
    default: fail_msg("expected an integer");
    }
    return 0;
}

static uint32_t float_bits(const xir_any *v) {
    float f = v->kind == XIR_ANY_REAL ? (float)v->as.real : (float)integer(v);
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static uint8_t tag_of(const flat_family *family, const xir_any *v) {
    if (v->kind != XIR_ANY_TEXT) return (uint8_t)integer(v);
    for (uint32_t tag = 1; tag < family->n; tag++) {
        if (xir_str_equal(v->as.text, xir_str_of(family->members[tag]->name))) return (uint8_t)tag;
    }
    if (xir_str_equal(v->as.text, XIR_STR("NONE"))) return 0;
    fail_msg("%.*s is not in %s", (int)v->as.text.size, v->as.text.data, family->name);
    return 0;
}

static const flat_table *member_of(const flat_family *family, uint8_t tag) {
    return tag && tag < family->n ? family->members[tag] : family->members[1];
}

static void lead_to(maker *k, size_t at, size_t to) { set(k->m, at, to - at, 4); }

static size_t make_text(maker *k, xir_str text, const char *path) {
    align(k->m, 4, 0);
    size_t at = put(k->m, NULL, 4);
    set(k->m, at, text.size, 4);
    put(k->m, text.data, text.size);
    put(k->m, NULL, 1);
    spot(k->m, path, "", at);
    return at;
}

/* A vector of scalars, or of the offsets of items that are written after it. */
static size_t make_vector(maker *k, const xir_list *list, size_t item, const char *path) {
    align(k->m, item > 4 ? item : 4, 4);
    size_t at = put(k->m, NULL, 4);
    set(k->m, at, list->size, 4);
    put(k->m, NULL, list->size * item);
    spot(k->m, path, "", at);
    for (size_t i = 0; i < list->size; i++) {
        spot(k->m, path, name_of("[%zu]", i).text, at + 4 + i * item);
    }
    return at;
}

static const xir_any *get(const xir_map *map, const char *name, const char *suffix) {
    named key = name_of("%s%s", name, suffix);
    return xir_map_find(map, xir_str_of(key.text));
}

/* Writes a table. Returns 0 for a name, whose table is written later. */
static size_t make_item(maker *k, const flat_table *as, const xir_any *v, const char *path) {
    return v->kind == XIR_ANY_MAP ? make_table(k, as, &v->as.map, path) : 0;
}

/* Writes a value that does not lie in the table itself. Returns its place, 0 for one that is named and written
 * later. */
static size_t make_field(maker *k, const flat_slot *slot, const xir_any *v, const xir_any *tags, const char *path) {
    static const size_t sizes[FLAT_KINDS] = { [FLAT_BYTES] = 1, [FLAT_BOOLS] = 1, [FLAT_I64S] = 8, [FLAT_F32S] = 4 };
    switch (slot->kind) {
    case FLAT_TEXT: case FLAT_ENUM: case FLAT_JSON:
        if (v->kind != XIR_ANY_TEXT) fail_msg("%s: expected a text", path);
        return make_text(k, v->as.text, path);
    case FLAT_TABLE: return make_item(k, slot->table, v, path);
    case FLAT_UNION: return make_item(k, member_of(slot->family, tag_of(slot->family, tags)), v, path);
    default: break;
    }
    if (v->kind != XIR_ANY_LIST) fail_msg("%s: expected a list", path);
    const xir_list *list = &v->as.list;
    size_t item = sizes[slot->kind] ? sizes[slot->kind] : 4, at = make_vector(k, list, item, path);
    for (size_t i = 0; i < list->size; i++) {
        const xir_any *it = &list->items[i];
        named below = name_of("%s/%zu", path, i);
        size_t place = at + 4 + i * item, to = 0;
        if (slot->kind == FLAT_F32S) set(k->m, place, float_bits(it), 4);
        else if (sizes[slot->kind]) set(k->m, place, (uint64_t)integer(it), item);
        else if (slot->kind == FLAT_TEXTS) to = make_text(k, it->as.text, below.text);
        else if (slot->kind == FLAT_TABLES) to = make_item(k, slot->table, it, below.text);
        else if (it->kind != XIR_ANY_NULL) {
            uint8_t tag = i < tags->as.list.size ? tag_of(slot->family, &tags->as.list.items[i]) : 0;
            to = make_item(k, member_of(slot->family, tag), it, below.text);
        }
        if (to) lead_to(k, place, to);
    }
    return at;
}

static size_t make_tags(maker *k, const flat_slot *slot, const xir_any *v, const char *path) {
    size_t at = make_vector(k, &v->as.list, 1, path);
    for (size_t i = 0; i < v->as.list.size; i++) k->m->data[at + 4 + i] = tag_of(slot->family, &v->as.list.items[i]);
    return at;
}

/* One slot that the table has. */
typedef struct there {
    const flat_slot *slot;
    const xir_any *v, *tags;
    bool tag;
    uint32_t number;
    size_t at, bytes;
} there;

static size_t bytes_of(const there *t) {
    if (t->tag) return t->slot->kind == FLAT_UNION ? 1 : 4;
    return t->slot->kind == FLAT_BOOL ? 1 : t->slot->kind == FLAT_I64 || t->slot->kind == FLAT_U64 ? 8 : 4;
}

static size_t list_fields(const flat_table *as, const xir_map *map, there *out) {
    size_t n = 0;
    for (uint32_t i = 0; i < as->n_slots; i++) {
        const flat_slot *slot = &as->slots[i];
        bool two = slot->kind == FLAT_UNION || slot->kind == FLAT_UNIONS;
        const xir_any *v = get(map, slot->name.data, ""), *tags = two ? get(map, slot->name.data, "_type") : NULL;
        if (tags) out[n++] = (there){ .slot = slot, .v = tags, .tag = true, .number = slot->slot };
        if (v) out[n++] = (there){ .slot = slot, .v = v, .tags = tags, .number = slot->slot + two };
    }
    return n;
}

static size_t make_table(maker *k, const flat_table *as, const xir_map *map, const char *path) {
    there fields[80];
    flat_made *m = k->m;
    size_t n = list_fields(as, map, fields), size = 4, slots = 0, known = 0;
    for (size_t i = 0; i < map->size; i++) known += memchr("&=", map->entries[i].key.data[0], 2) != NULL;
    for (size_t i = 0; i < n; i++) {
        there *t = &fields[i];
        t->bytes = bytes_of(t);
        while (size % t->bytes) size++;
        t->at = size;
        size += t->bytes;
        slots = t->number + 1u;
    }
    if (n + known != map->size) fail_msg("%s: a key that %s does not have", path, as->name);
    align(m, 2, 0);
    size_t vtable = put(m, NULL, 4 + 2 * slots);
    set(m, vtable, 4 + 2 * slots, 2);
    set(m, vtable + 2, size, 2);
    align(m, 8, 0);
    size_t table = put(m, NULL, size);
    set(m, table, table - vtable, 4);
    spot(m, path, "", table);
    spot(m, path, ":", vtable);
    for (size_t i = 0; i < n; i++) {
        there *t = &fields[i];
        named field = name_of("%s%s", t->slot->name.data, t->tag ? "_type" : ""),
              below = name_of("%s/%s", path, field.text);
        set(m, vtable + 4 + 2 * t->number, t->at, 2);
        spot(m, path, name_of(".%s", field.text).text, table + t->at);
        spot(m, path, name_of(":%s", field.text).text, vtable + 4 + 2 * t->number);
        if (t->tag && t->slot->kind == FLAT_UNION) {
            m->data[table + t->at] = tag_of(t->slot->family, t->v);
        } else if (t->tag) {
            lead_to(k, table + t->at, make_tags(k, t->slot, t->v, below.text));
        } else if (t->slot->kind == FLAT_F32) {
            set(m, table + t->at, float_bits(t->v), 4);
        } else if (t->slot->kind <= FLAT_F32) {
            set(m, table + t->at, (uint64_t)integer(t->v), t->bytes);
        } else {
            size_t to = make_field(k, t->slot, t->v, t->tags, below.text);
            if (to) lead_to(k, table + t->at, to);
        }
    }
    return table;
}

/* Offsets point forward: a named table must follow everything that refers to it, so these offsets are set at the
 * end. */
static void make_references(maker *k, const xir_any *v, const char *path, const char *field) {
    if (v->kind == XIR_ANY_MAP) {
        for (size_t i = 0; i < v->as.map.size; i++) {
            xir_str key = v->as.map.entries[i].key;
            if (key.data[0] == '&') continue;
            make_references(k, &v->as.map.entries[i].value, name_of("%s/%.*s", path, (int)key.size, key.data).text,
                            name_of("%s.%.*s", path, (int)key.size, key.data).text);
        }
    } else if (v->kind == XIR_ANY_LIST) {
        for (size_t i = 0; i < v->as.list.size; i++) {
            make_references(k, &v->as.list.items[i], name_of("%s/%zu", path, i).text, name_of("%s[%zu]", path, i).text);
        }
    } else if (v->kind == XIR_ANY_TEXT && v->as.text.size > 1 && v->as.text.data[0] == '*') {
        named name = name_of("&%.*s", (int)v->as.text.size - 1, v->as.text.data + 1);
        lead_to(k, flat_spot_at(k->m, field), flat_spot_at(k->m, name.text));
    }
}

/* Writes the tables that others refer to, in the order of their names. */
static void make_named(maker *k, const xir_any *all) {
    for (size_t i = 0; all && i < all->as.map.size; i++) {
        const xir_entry *e = &all->as.map.entries[i];
        const xir_any *as = xir_map_find(&e->value.as.map, XIR_STR("="));
        const flat_table *table = NULL;
        for (uint32_t t = 0; as && t < k->schema.n_tables; t++) {
            if (xir_str_equal(as->as.text, xir_str_of(k->schema.tables[t]->name))) table = k->schema.tables[t];
        }
        if (!table) fail_msg("%.*s is not the name of a table", (int)e->key.size, e->key.data);
        make_table(k, table, &e->value.as.map, name_of("&%.*s", (int)e->key.size, e->key.data).text);
    }
}

flat_made flat_make(xir_context *with, const char *text) {
    flat_made m = { 0 };
    maker k = { .m = &m };
    char *json = malloc(strlen(text) + 1);
    if (!json) abort();
    strcpy(json, text);
    for (char *p = json; *p; p++) {
        if (*p == '\'') *p = '"';
        else if (*p == '`') *p = '\'';
    }
    arena a;
    arena_init(&a, context_alloc(with));
    xir_diags *wrong = xir_diags_new(with);
    xir_any any;
    if (json_read_any(with, &a, xir_str_of(json), &any, wrong) != XIR_OK) {
        xir_diags_print(wrong, stderr);
        fail_msg("not JSON: %s", text);
    }
    assert_true(flat_schema_init(&k.schema, with));
    put(&m, NULL, 4);
    size_t root = make_table(&k, k.schema.network, &any.as.map, "");
    set(&m, 0, root, 4);
    make_named(&k, xir_map_find(&any.as.map, XIR_STR("&")));
    make_references(&k, &any, "", "");
    const xir_any *named_ones = xir_map_find(&any.as.map, XIR_STR("&"));
    for (size_t i = 0; named_ones && i < named_ones->as.map.size; i++) {
        const xir_entry *e = &named_ones->as.map.entries[i];
        make_references(&k, &e->value, name_of("&%.*s", (int)e->key.size, e->key.data).text, "");
    }
    flat_schema_free(&k.schema);
    xir_diags_free(wrong);
    arena_free(&a);
    free(json);
    return m;
}

/* ---- spoiling ----------------------------------------------------------------------------------------------- */

static void spoil_one(flat_made *m, char *change) {
    char kind[8], place[120], op[3], value[120];
    while (isspace((unsigned char)*change)) change++;
    if (!*change) return;
    if (sscanf(change, "cut %119[^;]", place) == 1) {
        m->size = flat_spot_at(m, place);
        return;
    }
    if (sscanf(change, "%7s %119s %2s %119[^;]", kind, place, op, value) != 4) fail_msg("not a change: %s", change);
    size_t at = flat_spot_at(m, strcmp(place, "root") == 0 ? "" : place), bytes = (size_t)atoi(kind + 1) / 8;
    uint64_t v = value[0] == '@' ? flat_spot_at(m, value + 1) : (uint64_t)strtoll(value, NULL, 0);
    if (op[0] == '+') {
        uint64_t old = 0;
        for (size_t i = 0; i < bytes; i++) old |= (uint64_t)m->data[at + i] << 8 * i;
        v += old;
    } else if (op[0] == '>') {
        v -= at;         /* an offset to the place */
    } else if (op[0] == '<') {
        v = at - v;      /* the place has the vtable */
    }
    assert_true(at + bytes <= m->room);
    set(m, at, v, bytes);
}

void flat_spoil(flat_made *m, const char *changes) {
    char text[1000];
    snprintf(text, sizeof text, "%s", changes);
    for (char *part = text; part;) {
        char *next = strchr(part, ';');
        if (next) *next++ = '\0';
        spoil_one(m, part);
        part = next;
    }
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

xir_network *flat_read_bytes(xir_context *with, const void *data, size_t size, xir_diags *findings) {
    blob *whole = blob_new(context_alloc(with), size);   /* exact, so that a read past the end is detected */
    if (!whole) {
        diag_memory(findings);
        return NULL;
    }
    if (size) memcpy((uint8_t *)(uintptr_t)whole->bytes, data, size);
    xir_network *net = format_flat.read(&(format_reading){ .ctx = with, .name = XIR_STR("x.fb"),   .why = findings },
                                        whole);
    blob_release(whole);
    return net;
}
