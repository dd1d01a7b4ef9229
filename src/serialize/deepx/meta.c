/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Metadata: words "key=value" after "//". The executor knows six keys; others are kept. */
#include "deepx/deepx.h"

#define KEY(text, kind) { text, sizeof text - 1, DEEPX_META_##kind }
static const struct { const char *key; size_t size; deepx_meta_kind kind; } keys[] = {
    KEY("id", INTEGER), KEY("author", TEXT), KEY("created_at", TIME), KEY("sent_at", TIME), KEY("recv_at", TIME),
    KEY("benchmark.repeat", INTEGER),
};
enum { KEYS = sizeof keys / sizeof *keys };

static bool next_word(xir_str *rest, xir_str *word) {
    const char *p = rest->data, *end = p + rest->size;
    while (p < end && deepx_is_space(*p)) p++;
    const char *start = p;
    while (p < end && !deepx_is_space(*p)) p++;
    *word = (xir_str){ start, (size_t)(p - start) };
    *rest = (xir_str){ p, (size_t)(end - p) };
    return p > start;
}

/* The number of a key; KEYS if the executor does not know it. */
static size_t find_key(xir_str key) {
    size_t k = 0;
    while (k < KEYS && !(key.size == keys[k].size && memcmp(key.data, keys[k].key, key.size) == 0)) k++;
    return k;
}

static bool split(xir_str word, xir_str *key, xir_str *value) {
    const char *equals = memchr(word.data, '=', word.size), *end = word.data + word.size;
    *key = (xir_str){ word.data, equals ? (size_t)(equals - word.data) : word.size };
    *value = (xir_str){ equals ? equals + 1 : end, equals ? (size_t)(end - equals) - 1 : 0 };
    return equals;
}

bool deepx_next_meta(xir_str *rest, xir_str *value, deepx_meta_kind *kind) {
    xir_str word, key;
    do {
        if (!next_word(rest, &word)) return false;
    } while (!split(word, &key, value));
    const size_t k = find_key(key);
    *kind = k < KEYS ? keys[k].kind : DEEPX_META_UNKNOWN;
    return true;
}

/* A key is between a blank and the first '=' of its word. */
xir_str deepx_meta_value(xir_str meta, const char *key) {
    const size_t n = strlen(key);
    xir_str found = { NULL, 0 };
    if (!meta.size) return found;
    const char *start = meta.data, *end = start + meta.size;
    for (const char *p = start, *equals; p < end && (equals = memchr(p, '=', (size_t)(end - p))); p = equals + 1) {
        if ((size_t)(equals - start) < n || memcmp(equals - n, key, n) != 0) continue;
        if (equals - n > start && !deepx_is_space(equals[-(ptrdiff_t)n - 1])) continue;
        const char *stop = equals + 1;
        while (stop < end && !deepx_is_space(*stop)) stop++;
        found = (xir_str){ equals + 1, (size_t)(stop - equals) - 1 };
    }
    return found;
}

/* Digits with a sign, of 32 bits. */
static xir_status check_integer(xir_str v) {
    const bool negative = v.size && v.data[0] == '-';
    int64_t n = 0;
    size_t i = negative;
    for (; i < v.size && is_digit(v.data[i]); i++) {
        n = 10 * n + (v.data[i] - '0');
        if (n > (int64_t)INT32_MAX + negative) return XIR_E_BOUNDS;
    }
    return i == v.size && i > negative ? XIR_OK : XIR_E_SYNTAX;
}

static xir_status check_time(xir_str v) {
    size_t digits = 0, i = v.size && (v.data[0] == '-' || v.data[0] == '+');
    for (; i < v.size && is_digit(v.data[i]); i++) digits++;
    if (i < v.size && v.data[i] == '.')
        for (i++; i < v.size && is_digit(v.data[i]); i++) digits++;
    if (!digits) return XIR_E_SYNTAX;
    if (i < v.size && (v.data[i] == 'e' || v.data[i] == 'E')) {
        i++;
        if (i < v.size && (v.data[i] == '-' || v.data[i] == '+')) i++;
        if (i == v.size || v.size - i > 3) return i == v.size ? XIR_E_SYNTAX : XIR_E_BOUNDS;
        for (; i < v.size && is_digit(v.data[i]); i++) continue;
    }
    return i == v.size ? XIR_OK : XIR_E_SYNTAX;
}

static bool check_value(deepx_place *w, size_t key, xir_str value) {
    const deepx_meta_kind kind = keys[key].kind;
    const xir_status status = kind == DEEPX_META_INTEGER ? check_integer(value)
                            : kind == DEEPX_META_TIME ? check_time(value) : XIR_OK;
    if (status == XIR_E_BOUNDS)
        return deepx_error(w, value.data, status, "%s=%.*s does not fit into %s", keys[key].key, CLIP(value),
                           kind == DEEPX_META_INTEGER ? "32 bits" : "a time");
    if (!status) return true;
    return deepx_error(w, value.data, status, "%s is not a number: found '%.*s'", keys[key].key, CLIP(value));
}

bool deepx_check_meta(deepx_place *w, xir_str meta) {
    bool seen[KEYS] = { false }, ok = true;
    xir_str word, key, value;
    while (next_word(&meta, &word)) {
        if (!split(word, &key, &value)) {
            deepx_warn(w, word.data, "'%.*s' in the metadata is not key=value: the executor ignores it", CLIP(word));
            continue;
        }
        const size_t k = find_key(key);
        if (!key.size) ok = deepx_error(w, word.data, XIR_E_SYNTAX, "'%.*s' in the metadata has no key", CLIP(word));
        if (k == KEYS) continue;
        if (seen[k]) ok = deepx_error(w, word.data, XIR_E_EXISTS, "%s appears twice in the metadata", keys[k].key);
        seen[k] = true;
        ok = check_value(w, k, value) && ok;
    }
    return ok;
}
