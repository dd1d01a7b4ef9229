/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The container of SeetaFace, ".csta": a magic number and a tree of pieces, in which the module is at /backbone/tsm, as
 * bytes or as the name of a file, "@file@net.tsm". Released ones are scrambled: the word "fast", then the container, of
 * which each block of 16 bytes is combined with the sum of a known key.
 *
 * The rest of the tree is a tag of the network: numbers, texts, lists and maps by value, and maps of one key for what
 * these cannot say: {"@dict": [[key, piece], …]} unless the keys are sorted, {"@binary": digits}, {"@text": digits},
 * {"@float": digits}, {"@bool": 2}, {"@nil": 1}. {"@module": true} stands for the module. */
#include <math.h>
#include "task.h"
#include "tsm/tsm.h"

enum { NIL, INT, FLOAT, TEXT, BINARY, LIST, DICT, BOOL };
enum { MAGIC_SIZE = 4, SCRAMBLE_BLOCK = 16 };
static const char fast[] = "fast", key[] = "seetatech.com", named[] = "@file@";

/* ---- scrambling -------------------------------------------------------------------------------------------------- */

static uint64_t key_sum(void) {
    uint64_t sum = 0;
    for (size_t i = 0; key[i]; i++) sum = 10 * sum + (uint64_t)(unsigned char)key[i];
    return sum;
}

void tsm_scramble(uint8_t *p, uint64_t size) {
    uint8_t word[8];
    little_put32(word, (uint32_t)key_sum());
    little_put32(word + 4, (uint32_t)(key_sum() >> 32));
    size -= size % SCRAMBLE_BLOCK;
    for (uint64_t i = 0; i < size; i++) p[i] ^= word[i % 8];
}

tsm_wrapping tsm_wrapping_of(const uint8_t *head, size_t size) {
    uint8_t first[SCRAMBLE_BLOCK];
    if (size >= 8 && little_u32(head + 4) == TSM_CODE) return TSM_MODULE;
    if (size > MAGIC_SIZE && little_u32(head) == TSM_CODE && head[MAGIC_SIZE] <= BOOL) return TSM_CONTAINER;
    if (size < MAGIC_SIZE + sizeof first || memcmp(head, fast, MAGIC_SIZE) != 0) return TSM_UNKNOWN;
    memcpy(first, head + MAGIC_SIZE, sizeof first);
    tsm_scramble(first, sizeof first);
    return little_u32(first) == TSM_CODE ? TSM_SCRAMBLED : TSM_UNKNOWN;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct pieces {
    tsm_container *to;
    tsm_cursor     c;
    uint64_t       left;      /* values that may still be made */
    uint32_t       depth, deepest;
} pieces;

#define PIECE_FAIL(p, at, code, ...) trace_fail((p)->c.trace, (code), tsm_at(&(p)->c, (at)), __VA_ARGS__)

static bool read_piece(pieces *p, int place, xir_any *out);

static bool take_byte(pieces *p, uint8_t *out, const char *what) {
    if (!tsm_left(&p->c))
        return PIECE_FAIL(p, p->c.p, XIR_E_CORRUPT, "the file ends in %s: expected 1 byte, found 0", what);
    *out = *p->c.p++;
    return true;
}

static void *take(pieces *p, uint64_t n, size_t size) {
    void *out = NULL;
    if (n > p->left)
        PIECE_FAIL(p, p->c.p, XIR_E_LIMIT, "the container has more pieces than the limit of %" PRIu64 " and the size "
                   "of the file allow", p->c.trace->ctx->limits.max_values);
    else if (!(out = arena_take(&p->to->scratch, (size_t)n * size))) trace_memory(p->c.trace);
    else p->left -= n;
    return out;
}

/* {"@word": value} */
static bool wrap(pieces *p, const char *word, xir_any value, xir_any *out) {
    xir_entry *entry = take(p, 1, sizeof *entry);
    if (!entry) return false;
    *entry = (xir_entry){ xir_str_of(word), value };
    *out = xir_any_map(entry, 1);
    return true;
}

static bool wrap_bytes(pieces *p, const char *word, const uint8_t *bytes, size_t n, xir_any *out) {
    buffer text;
    buffer_init(&text, p->to->alloc);
    tsm_put_digits(&text, bytes, n);
    const char *kept = text.failed ? NULL : arena_copy(&p->to->scratch, text.data ? text.data : "", text.size);
    const size_t size = text.size;
    buffer_free(&text);
    if (!kept) return trace_memory(p->c.trace);
    return wrap(p, word, xir_any_text((xir_str){ kept, size }), out);
}

static bool read_float(pieces *p, xir_any *out) {
    uint32_t bits;
    float v;
    if (!tsm_take_u32(&p->c, &bits, "a number")) return false;
    memcpy(&v, &bits, sizeof v);
    *out = xir_any_real(v);
    return isfinite(v) || wrap_bytes(p, "@float", p->c.p - 4, 4, out);
}

static bool is_module_name(xir_str text) {
    return text.size > sizeof named - 1 && memcmp(text.data, named, sizeof named - 1) == 0;
}

/* `place`: 2 at /backbone/tsm. */
static bool read_text(pieces *p, int place, bool binary, xir_any *out) {
    xir_str text;
    if (!tsm_take_text(&p->c, &text, binary ? "the length of bytes" : "the length of a text")) return false;
    const bool module = place == 2 && !p->to->found && (binary || is_module_name(text));
    if (module) {
        p->to->found = true;
        p->to->at = tsm_at(&p->c, (const uint8_t *)text.data);
        p->to->size = text.size;
        if (!binary) p->to->file = (xir_str){ text.data + sizeof named - 1, text.size - (sizeof named - 1) };
        return wrap(p, "@module", xir_any_bool(true), out);
    }
    *out = xir_any_text(text);
    if (!binary && tsm_is_utf8(text)) return true;
    return wrap_bytes(p, binary ? "@binary" : "@text", (const uint8_t *)text.data, text.size, out);
}

static bool read_list(pieces *p, xir_any *out) {
    uint32_t n;
    if (!tsm_take_count(&p->c, 2, &n, "the length of a list")) return false;
    xir_any *items = take(p, n, sizeof *items);
    for (uint32_t i = 0; items && i < n; i++)
        if (!read_piece(p, 0, &items[i])) return false;
    *out = xir_any_list(items, n);
    return items;
}

/* Keys as texts that are sorted are a map; others a list of pairs. */
static bool as_pairs(pieces *p, const xir_entry *entries, uint32_t n, xir_any *out) {
    bool sorted = true;
    for (uint32_t i = 0; i < n; i++) {
        sorted &= tsm_is_utf8(entries[i].key) && !(entries[i].key.size && entries[i].key.data[0] == '@');
        sorted &= !i || str_order(entries[i - 1].key, entries[i].key) < 0;
    }
    *out = xir_any_map(entries, n);
    if (sorted) return true;
    xir_any *list = take(p, n, sizeof *list);
    for (uint32_t i = 0; list && i < n; i++) {
        xir_any *pair = take(p, 2, sizeof *pair);
        if (!pair) return false;
        pair[0] = xir_any_text(entries[i].key);
        pair[1] = entries[i].value;
        if (!tsm_is_utf8(entries[i].key) && !wrap_bytes(p, "@text", (const uint8_t *)entries[i].key.data,
                                                        entries[i].key.size, &pair[0])) return false;
        list[i] = xir_any_list(pair, 2);
    }
    return list && wrap(p, "@dict", xir_any_list(list, n), out);
}

static bool read_dict(pieces *p, int place, xir_any *out) {
    static const char *const path[] = { "backbone", "tsm" };
    uint32_t n;
    if (!tsm_take_count(&p->c, 6, &n, "the length of a map")) return false;
    xir_entry *entries = take(p, 2 * (uint64_t)n, sizeof *entries);
    for (uint32_t i = 0; entries && i < n; i++) {
        if (!tsm_take_text(&p->c, &entries[i].key, "the length of a key")) return false;
        const bool on = place >= 0 && place < 2 && tsm_is(entries[i].key, path[place]);
        if (!read_piece(p, on ? place + 1 : -1, &entries[i].value)) return false;
    }
    return entries && as_pairs(p, entries, n, out);
}

/* `place`: how many steps of /backbone/tsm lead here; -1: another place. */
static bool read_piece(pieces *p, int place, xir_any *out) {
    const uint8_t *at = p->c.p;
    uint8_t type = NIL, byte = 0;
    uint32_t word;
    bool ok = false;
    if (p->depth == p->deepest)
        return PIECE_FAIL(p, at, XIR_E_LIMIT, "pieces are nested deeper than %" PRIu32, p->deepest);
    if (!take_byte(p, &type, "the type of a piece")) return false;
    p->depth++;
    switch (type) {
    case NIL:
        ok = take_byte(p, &byte, "a nil");
        *out = xir_any_null();
        if (ok && byte) ok = wrap(p, "@nil", xir_any_int(byte), out);
        break;
    case BOOL:
        ok = take_byte(p, &byte, "a bool");
        *out = xir_any_bool(byte);
        if (ok && byte > 1) ok = wrap(p, "@bool", xir_any_int(byte), out);
        break;
    case INT:
        ok = tsm_take_u32(&p->c, &word, "a number");
        *out = xir_any_int(ok ? (int32_t)word : 0);
        break;
    case FLOAT:  ok = read_float(p, out); break;
    case TEXT:   ok = read_text(p, place, false, out); break;
    case BINARY: ok = read_text(p, place, true, out); break;
    case LIST:   ok = read_list(p, out); break;
    case DICT:   ok = read_dict(p, place, out); break;
    default:
        ok = PIECE_FAIL(p, at, XIR_E_TYPE, "the type of a piece is %d: expected 0 to %d", type, BOOL);
    }
    p->depth--;
    return ok;
}

bool tsm_container_open(tsm_container *to, const format_reading *how, blob *whole, bool scrambled, trace *place) {
    const xir_limits *limits = &how->ctx->limits;
    *to = (tsm_container){ .alloc = context_alloc(how->ctx), .scrambled = scrambled };
    arena_init(&to->scratch, to->alloc);
    const uint8_t *bytes = whole->bytes;
    uint64_t begin = MAGIC_SIZE;
    if (scrambled) {
        if (!(to->plain = blob_new(to->alloc, whole->size))) return trace_memory(place);
        if (!task_copy((void *)(uintptr_t)to->plain->bytes, bytes, whole->size)) return trace_memory(place);
        bytes = to->plain->bytes;
        tsm_scramble((uint8_t *)(uintptr_t)bytes + MAGIC_SIZE, whole->size - MAGIC_SIZE);
        begin += MAGIC_SIZE;
    }
    enum { DEEPEST = 256 };
    pieces p = { .to = to, .c = { bytes, bytes + begin, bytes + whole->size, place },
                 .left = limits->max_values + whole->size / 8,
                 .deepest = limits->max_depth < DEEPEST ? limits->max_depth : DEEPEST };
    if (!read_piece(&p, 0, &to->tree)) return false;
    if (p.c.p != p.c.end)
        return PIECE_FAIL(&p, p.c.p, XIR_E_CORRUPT, "%" PRIu64 " bytes follow the container: expected the end",
                          tsm_left(&p.c));
    return to->found || trace_fail(place, XIR_E_MISSING, MAGIC_SIZE, "the container has no module: expected bytes, or "
                                   "a text that begins with %s, at /backbone/tsm", named);
}

void tsm_container_close(tsm_container *c) {
    blob_release(c->plain);
    arena_free(&c->scratch);
}

uint64_t tsm_sum(uint64_t sum, const void *data, size_t size) {
    const uint8_t *p = data;
    for (size_t i = 0; i < size; i++) sum = (sum ^ p[i]) * 0x100000001B3u;
    return sum;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static const xir_any *wrapped(const xir_any *v, const char *word) {
    const bool one = v->kind == XIR_ANY_MAP && v->as.map.size == 1;
    return one && tsm_is(v->as.map.entries[0].key, word) ? &v->as.map.entries[0].value : NULL;
}

static bool can_take(const xir_any *digits) {
    return digits->kind == XIR_ANY_TEXT && digits->as.text.size / 2 <= TSM_COUNT_MOST;
}

static bool put_bytes(buffer *out, uint8_t type, const xir_any *digits) {
    const size_t at = out->size;
    buffer_char(out, (char)type);
    if (type != FLOAT) tsm_put_word(out, 0);
    const size_t begin = out->size;
    if (!can_take(digits) || !tsm_take_digits(digits->as.text, out)) return false;
    if (!out->failed && type != FLOAT) little_put32((uint8_t *)out->data + at + 1, (uint32_t)(out->size - begin));
    return type != FLOAT || out->failed || out->size - begin == 4;
}

static bool put_piece(tsm_tree *t, const xir_any *v, int depth);

static bool put_key(buffer *out, const xir_any *k) {
    const xir_any *digits = wrapped(k, "@text");
    const bool plain = k->kind == XIR_ANY_TEXT && tsm_can_count(k, TSM_COUNT_MOST);
    if (plain) tsm_put_text(out, k->as.text);
    if (plain || !digits) return plain;
    const size_t at = out->size;
    tsm_put_word(out, 0);
    if (!can_take(digits) || !tsm_take_digits(digits->as.text, out)) return false;
    if (!out->failed) little_put32((uint8_t *)out->data + at, (uint32_t)(out->size - at - 4));
    return true;
}

static bool put_pairs(tsm_tree *t, const xir_any *pairs, int depth) {
    if (pairs->kind != XIR_ANY_LIST || !tsm_can_count(pairs, TSM_COUNT_MOST)) return false;
    buffer_char(&t->out, DICT);
    tsm_put_word(&t->out, (uint32_t)pairs->as.list.size);
    for (size_t i = 0; i < pairs->as.list.size; i++) {
        const xir_any *pair = &pairs->as.list.items[i];
        if (pair->kind != XIR_ANY_LIST || pair->as.list.size != 2 || !put_key(&t->out, &pair->as.list.items[0]) ||
            !put_piece(t, &pair->as.list.items[1], depth)) return false;
    }
    return true;
}

static bool put_map(tsm_tree *t, const xir_any *v, int depth) {
    const xir_any *inside;
    if (wrapped(v, "@module")) {
        if (t->has_module) return false;
        t->has_module = true;
        t->module_at = t->out.size;
        return true;
    }
    if ((inside = wrapped(v, "@dict"))) return put_pairs(t, inside, depth);
    if ((inside = wrapped(v, "@binary"))) return put_bytes(&t->out, BINARY, inside);
    if ((inside = wrapped(v, "@text"))) return put_bytes(&t->out, TEXT, inside);
    if ((inside = wrapped(v, "@float"))) return put_bytes(&t->out, FLOAT, inside);
    const bool nil = (inside = wrapped(v, "@nil")) != NULL;
    if (nil || (inside = wrapped(v, "@bool"))) {
        buffer_char(&t->out, nil ? NIL : BOOL);
        const uint8_t byte = inside->kind == XIR_ANY_INT ? (uint8_t)inside->as.integer : 0;
        buffer_char(&t->out, (char)byte);
        return inside->kind == XIR_ANY_INT && inside->as.integer == byte;
    }
    buffer_char(&t->out, DICT);
    tsm_put_word(&t->out, (uint32_t)v->as.map.size);
    for (size_t i = 0; i < v->as.map.size; i++) {
        const xir_any key_text = xir_any_text(v->as.map.entries[i].key);
        if (!put_key(&t->out, &key_text) || !put_piece(t, &v->as.map.entries[i].value, depth)) return false;
    }
    return true;
}

static bool put_piece(tsm_tree *t, const xir_any *v, int depth) {
    enum { DEEPEST = 256 };
    if (depth == DEEPEST || !tsm_can_count(v, TSM_COUNT_MOST)) return false;
    switch (v->kind) {
    case XIR_ANY_NULL: buffer_put(&t->out, "\0\0", 2); return true;
    case XIR_ANY_BOOL:
        buffer_char(&t->out, BOOL);
        buffer_char(&t->out, v->as.boolean);
        return true;
    case XIR_ANY_INT:
        buffer_char(&t->out, INT);
        tsm_put_word(&t->out, (uint32_t)v->as.integer);
        return v->as.integer >= INT32_MIN && v->as.integer <= INT32_MAX;
    case XIR_ANY_REAL: {
        const float real = (float)v->as.real;
        uint32_t bits;
        memcpy(&bits, &real, sizeof bits);
        buffer_char(&t->out, FLOAT);
        tsm_put_word(&t->out, bits);
        return !number_beyond_f32(v->as.real);
    }
    case XIR_ANY_TEXT:
        buffer_char(&t->out, TEXT);
        tsm_put_text(&t->out, v->as.text);
        return true;
    case XIR_ANY_LIST:
        buffer_char(&t->out, LIST);
        tsm_put_word(&t->out, (uint32_t)v->as.list.size);
        for (size_t i = 0; i < v->as.list.size; i++)
            if (!put_piece(t, &v->as.list.items[i], depth + 1)) return false;
        return true;
    case XIR_ANY_MAP: return put_map(t, v, depth + 1);
    default:          return false;
    }
}

bool tsm_tree_make(tsm_tree *t, const xir_any *tree) {
    const xir_entry inner[] = { { XIR_STR("@module"), xir_any_bool(true) } };
    const xir_entry middle[] = { { XIR_STR("tsm"), xir_any_map(inner, 1) } };
    const xir_entry outer[] = { { XIR_STR("backbone"), xir_any_map(middle, 1) } };
    const xir_any usual = xir_any_map(outer, 1);
    tsm_put_word(&t->out, TSM_CODE);
    return put_piece(t, tree ? tree : &usual, 0) && t->has_module;
}

void tsm_tree_module(buffer *out, bool binary, uint64_t size, xir_str file) {
    buffer_char(out, binary ? BINARY : TEXT);
    tsm_put_word(out, (uint32_t)(binary ? size : file.size + sizeof named - 1));
    if (binary) return;
    buffer_str(out, named);
    buffer_put(out, file.data, file.size);
}
