/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The lines of the network itself: .name "x" .framework ONNX "13" … Several may stand in one line, each once. What a
 * text does not mention is as in a new network; .absent has the keys that the file lacked. */
#include "symbol.h"
#include "raw/md5.h"
#include "text/reader.h"
#include "text/text_format.h"

xir_str text_usual(network_key key) {
    switch (key) {
    case NETWORK_ICRAFT_VERSION: return XIR_STR("v3.33.1");
    case NETWORK_XIR_VERSION:    return XIR_STR("3.33.1.0");
    case NETWORK_PARAMS_MD5:     return XIR_STR(MD5_OF_NOTHING);
    default:                     return XIR_STR("");
    }
}

static bool set_text(text_reader *r, network_key key, xir_str text) {
    r->given |= UINT32_C(1) << key;
    return keep_network_text(&r->d, key, text);
}

static bool read_text(text_reader *r, source *s, network_key key) {
    xir_str text;
    text_skip(s);
    return s->ops->text(s, &text) && set_text(r, key, text);
}

static bool read_framework(text_reader *r, source *s) {
    if (!read_text(r, s, NETWORK_FRAMEWORK)) return false;
    text_skip(s);
    return here(s) == end_of(s) || *here(s) != '"' || read_text(r, s, NETWORK_FRAMEWORK_VERSION);
}

static bool read_version(text_reader *r, source *s) {
    if (r->has_ops)
        return source_fail(s, here(s), XIR_E_INVALID,
                           "the version decides how reals are read: it stands before objects and ops");
    return read_text(r, s, NETWORK_XIR_VERSION);
}

static bool read_ai_target(text_reader *r, source *s) {
    const xir_object *target = NULL;
    text_skip(s);
    r->given |= UINT32_C(1) << NETWORK_AI_TARGET;
    r->has_ops = true;
    if (text_takes_word(s, "null")) return true;
    if (!text_object(&r->d, s, r->d.ctx->types[CLASS_target], &target)) return false;
    r->d.net->ai_target = (const xir_target *)target;
    if (!text_take(s, '(')) return true;
    if (!text_takes_word(s, "default")) return text_expected(s, here(s), "'default)'");
    r->d.net->ai_target_new = true;
    return text_need(s, ')');
}

static bool read_params(text_reader *r, source *s) {
    number n;
    text_skip(s);
    const char *at = here(s);
    if (!s->ops->number(s, &n)) return false;
    if (n.kind == NUMBER_REAL || (n.kind == NUMBER_I64 && n.i64 < 0))
        return source_fail(s, at, XIR_E_BOUNDS, "expected a number of bytes");
    r->d.net->params_bytes = n.u64;
    r->given |= UINT32_C(1) << NETWORK_PARAMS_BYTES;
    return read_text(r, s, NETWORK_PARAMS_MD5);
}

static bool read_absent(text_reader *r, source *s) {
    if (!text_open(s, '(')) return false;
    do {
        xir_str word;
        int key = 0;
        text_skip(s);
        const char *at = here(s);
        if (text_word(s, &word) == WORD_NONE) return r->d.trace.status ? false :
            text_expected(s, at, "a key of the network");
        while (key < NETWORK_KEYS && !xir_str_equal(word, xir_str_of(network_keys[key]))) key++;
        if (key == NETWORK_KEYS || key == NETWORK_TYPE || key == NETWORK_OPS || key == NETWORK_AI_TARGET)
            return source_fail(s, at, XIR_E_UNKNOWN, "'%.*s' is not a key that may be absent", CLIP(word));
        r->d.net->absent |= UINT32_C(1) << key;
    } while (text_take(s, ','));
    return text_close(s, ')');
}

static bool read_order(text_reader *r, source *s, gathered *out) {
    gathered list = { 0 };
    text_skip(s);
    if (!each_item(&r->d, s, item_i64, &list)) return false;
    int64_t *kept = arena_copy(&r->d.keep, list.data, list.size * sizeof *kept);
    if (!kept) return trace_memory(&r->d.trace);
    *out = (gathered){ kept, list.size, list.size };
    return true;
}

/* {batch=1..64, length}: in this order. */
static bool read_symbol(text_reader *r, source *s) {
    xir_str name;
    expr e;
    int64_t least = 0, most = SYMBOL_MOST;
    text_skip(s);
    const char *at = here(s);
    if (text_word(s, &name) == WORD_NONE) return r->d.trace.status ? false :
        text_expected(s, at, "the name of a symbol");
    if (text_take(s, '=')) {
        text_skip(s);
        const xir_str range = { here(s), text_name_length(here(s), end_of(s)) };
        const char *dots = range.size > 2 ? memchr(range.data, '.', range.size - 1) : NULL;
        source part = *s;
        if (!dots || dots[1] != '.') return text_expected(s, here(s), "an interval, 1..64");
        part.end = dots;
        if (!text_int(&part, &least)) return false;
        part = *s;
        part.at = dots + 2;
        if (!text_int(&part, &most)) return false;
        s->at = part.at;
    }
    const xir_status status = symbol_declare(&r->d.net->pool, name, least, most, &e, NULL);
    if (status == XIR_E_MEMORY) return trace_memory(&r->d.trace);
    return !status || source_fail(s, at, status, "the symbol '%.*s' cannot be from %" PRId64 " to %" PRId64, CLIP(name),
                                  least,
                                  most);
}

static bool read_symbols(text_reader *r, source *s) {
    r->has_ops = true;
    if (!text_open(s, '{')) return false;
    do {
        if (!read_symbol(r, s)) return false;
    } while (text_take(s, ','));
    return text_close(s, '}');
}

static bool read_map(text_reader *r, source *s, const xir_map **out) {
    xir_map map;
    return text_plain_map(r, s, &map) && keep_map(&r->d, &map, out);
}

/* ---- entries --------------------------------------------------------------------------------------------------- */

enum { ENTRY_VERSION, ENTRY_NAME, ENTRY_FRAMEWORK, ENTRY_ICRAFT, ENTRY_TARGET, ENTRY_ABSENT, ENTRY_PARAMS, ENTRY_ORDER,
       ENTRY_TABLE, ENTRY_SYMBOLS, ENTRY_TAGS, ENTRY_MORE, ENTRIES };
static const char *const entries[ENTRIES] = { "xir_version", "name", "framework", "icraft", "ai_target", "absent",
                                             "params",
                                              "raw_order", "raw_table", "symbols", "tags", "more" };

static bool read_entry(text_reader *r, source *s, int entry) {
    switch (entry) {
    case ENTRY_VERSION:   return read_version(r, s);
    case ENTRY_NAME:      return read_text(r, s, NETWORK_NAME);
    case ENTRY_FRAMEWORK: return read_framework(r, s);
    case ENTRY_ICRAFT:    return read_text(r, s, NETWORK_ICRAFT_VERSION);
    case ENTRY_TARGET:    return read_ai_target(r, s);
    case ENTRY_ABSENT:    return read_absent(r, s);
    case ENTRY_PARAMS:    return read_params(r, s);
    case ENTRY_ORDER:     return read_order(r, s, &r->raw_order);
    case ENTRY_TABLE:     return read_order(r, s, &r->raw_table);
    case ENTRY_SYMBOLS:   return read_symbols(r, s);
    case ENTRY_TAGS:      return read_map(r, s, &r->d.net->tags);
    case ENTRY_MORE:      return read_map(r, s, &r->d.net->extra);
    default: return false;
    }
}

static bool unknown_entry(source *s, const char *at, xir_str word) {
    size_t distance = SIZE_MAX;
    const char *meant = NULL;
    for (int i = 0; i < ENTRIES; i++)
        if (xir_str_is_nearer(word, xir_str_of(entries[i]), &distance)) meant = entries[i];
    return source_fail(s, at, XIR_E_UNKNOWN, meant ? "there is no entry .%.*s: perhaps .%s is meant"
                                                   : "there is no entry .%.*s", CLIP(word), meant ? meant : "");
}

/* At a dot. */
bool text_header(text_reader *r, source *s) {
    while (here(s) < end_of(s) && *here(s) == '.') {
        const char *at = here(s);
        const xir_str word = { at + 1, text_name_length(at + 1, end_of(s)) };
        int entry = 0;
        while (entry < ENTRIES && !xir_str_equal(word, xir_str_of(entries[entry]))) entry++;
        if (entry == ENTRIES) return unknown_entry(s, at, word);
        if (r->entries >> entry & 1) return source_fail(s, at, XIR_E_EXISTS, ".%s is given twice", entries[entry]);
        r->entries |= UINT32_C(1) << entry;
        s->at = word.data + word.size;
        if (!read_entry(r, s, entry)) return false;
        text_skip(s);
    }
    return true;
}

/* Fields that were not given have their usual value, or are absent. */
bool text_header_end(text_reader *r) {
    static const network_key texts[] = { NETWORK_NAME, NETWORK_FRAMEWORK, NETWORK_FRAMEWORK_VERSION,
                                        NETWORK_ICRAFT_VERSION,
                                         NETWORK_XIR_VERSION, NETWORK_PARAMS_MD5 };
    xir_network *net = r->d.net;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const uint32_t bit = UINT32_C(1) << texts[i];
        if (r->given & bit || net->absent & bit) continue;
        if (xir_network_set_text(net, network_key_text(texts[i]),
                                 text_usual(texts[i]))) return trace_memory(&r->d.trace);
    }
    if (!(r->given >> NETWORK_AI_TARGET & 1)) net->absent |= UINT32_C(1) << NETWORK_AI_TARGET;
    else if (version_before(net->version, 3, 31)) net->absent |= NETWORK_HAD_AI_TARGET;
    return true;
}
