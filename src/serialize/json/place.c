/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Finds where in a JSON text the values are that JSON pointers name: one walk over the text, which enters only values
 * that some pointer leads into and skips the rest. The pointers are sorted with '/' below every other byte, so that all
 * pointers into one value are neighbours. A reader has accepted the text; if it has changed since and is malformed, the
 * walk ends early. A pointer to something that the text leaves out gets the place of the value that would contain
 * it. */
#include "json/json.h"

typedef xir_format_place wanted;

typedef struct search {
    const char *start, *p, *end;
    wanted     *list;
    buffer      key;            /* of the current member, as a pointer spells it */
    int         depth;
} search;

enum { DEEPEST = 2048 };

/* ---- order --------------------------------------------------------------------------------------- */

/* The token at `at` of a pointer. */
static xir_str token(const wanted *w, size_t at) {
    const size_t left = w->path.size - at;
    if (!left) return (xir_str){ NULL, 0 };
    const char *start = w->path.data + at, *slash = memchr(start, '/', left);
    return (xir_str){ start, slash ? (size_t)(slash - start) : left };
}

/* Narrows [*from, *to) to the pointers whose token at `at` is the key. */
static bool narrow(const search *w, size_t at, xir_str key, size_t *from, size_t *to) {
    size_t low = *from, high = *to;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (place_order(token(&w->list[middle], at), key) < 0) low = middle + 1;
        else high = middle;
    }
    size_t first = low;
    for (high = *to; low < high;) {
        size_t middle = (low + high) / 2;
        if (place_order(token(&w->list[middle], at), key) <= 0) low = middle + 1;
        else high = middle;
    }
    *from = first;
    *to = low;
    return first < low;
}

/* ---- moving over the text ------------------------------------------------------------------------ */

static void blanks(search *w) {
    while (w->p < w->end && (*w->p == ' ' || *w->p == '\n' || *w->p == '\r' || *w->p == '\t')) w->p++;
}

static bool next_is(search *w, char c) {
    blanks(w);
    return w->p < w->end && *w->p == c;
}

static bool step(search *w, char c) {
    if (!next_is(w, c)) return false;
    w->p++;
    return true;
}

static bool hop_text(search *w) {
    if (!step(w, '"')) return false;
    while (w->p < w->end && *w->p != '"') w->p += *w->p == '\\' ? 2 : 1;
    if (w->p >= w->end) return false;
    w->p++;
    return true;
}

/* Skips a whole value, however deep. */
static bool hop(search *w) {
    size_t open = 0;
    do {
        blanks(w);
        if (w->p >= w->end) return false;
        switch (*w->p) {
        case '"':
            if (!hop_text(w)) return false;
            break;
        case '{': case '[':
            open++;
            w->p++;
            continue;
        case '}': case ']':
            if (!open) return false;
            open--;
            w->p++;
            break;
        case ',': case ':':
            if (!open) return false;
            w->p++;
            continue;
        default:
            while (w->p < w->end && !strchr(",:]}[{\" \n\r\t", *w->p)) w->p++;
        }
    } while (open);
    return true;
}

static void add_utf8(buffer *t, uint32_t c) {
    char b[4];
    size_t n = 1;
    if (c < 0x80) {
        b[0] = (char)c;
    } else if (c < 0x800) {
        b[0] = (char)(0xC0 | c >> 6);
        b[1] = (char)(0x80 | (c & 0x3F));
        n = 2;
    } else if (c < 0x10000) {
        b[0] = (char)(0xE0 | c >> 12);
        b[1] = (char)(0x80 | (c >> 6 & 0x3F));
        b[2] = (char)(0x80 | (c & 0x3F));
        n = 3;
    } else {
        b[0] = (char)(0xF0 | c >> 18);
        b[1] = (char)(0x80 | (c >> 12 & 0x3F));
        b[2] = (char)(0x80 | (c >> 6 & 0x3F));
        b[3] = (char)(0x80 | (c & 0x3F));
        n = 4;
    }
    buffer_put(t, b, n);
}

static uint32_t hex4(const char *p, const char *end) {
    uint32_t v = 0;
    for (int i = 0; i < 4; i++) {
        char c = p + i < end ? p[i] : '0';
        v = v * 16 + (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10) % 16;
    }
    return v;
}

/* Reads a key as a pointer spells it: JSON escapes resolved, '~' and '/' as ~0 and ~1. */
static bool read_key(search *w) {
    blanks(w);
    const char *p = w->p + 1;
    if (!hop_text(w)) return false;
    const char *end = w->p - 1;
    buffer *k = &w->key;
    k->size = 0;
    while (p < end) {
        char c = *p++;
        if (c == '\\' && p < end) {
            c = *p++;
            switch (c) {
            case 'b': c = '\b'; break;
            case 'f': c = '\f'; break;
            case 'n': c = '\n'; break;
            case 'r': c = '\r'; break;
            case 't': c = '\t'; break;
            case 'u': {
                uint32_t code = hex4(p, end);
                p += 4;
                if (code >= 0xD800 && code < 0xDC00 && end - p >= 6) {
                    code = 0x10000 + ((code - 0xD800) << 10) + (hex4(p + 2, end) - 0xDC00);
                    p += 6;
                }
                if (code == '~' || code == '/') buffer_str(k, code == '~' ? "~0" : "~1");
                else add_utf8(k, code);
                continue;
            }
            default: break;
            }
        }
        if (c == '~') buffer_str(k, "~0");
        else if (c == '/') buffer_str(k, "~1");
        else buffer_char(k, c);
    }
    return true;
}

/* ---- the walk ------------------------------------------------------------------------------------ */

static bool enter(search *w, size_t from, size_t to, size_t at);

/* The next member or item, with key w->key: enters it if a pointer leads there. */
static bool member(search *w, size_t from, size_t to, size_t at) {
    size_t size = w->key.size;
    if (!narrow(w, at + 1, ((xir_str){ w->key.data, w->key.size }), &from, &to)) return hop(w);
    return enter(w, from, to, at + 1 + size);
}

/* The first `at` bytes of the pointers in [from, to) lead to the next value: enters it. */
static bool enter(search *w, size_t from, size_t to, size_t at) {
    blanks(w);
    for (size_t i = from; i < to; i++) w->list[i].byte = (size_t)(w->p - w->start);
    while (from < to && w->list[from].path.size <= at) from++;
    if (from == to || w->depth == DEEPEST) return hop(w);
    bool ok = true;
    w->depth++;
    if (step(w, '{')) {
        for (bool first = true; ok && !next_is(w, '}'); first = false) {
            ok = (first || step(w, ',')) && read_key(w) && step(w, ':') && member(w, from, to, at);
        }
        ok = ok && step(w, '}');
    } else if (step(w, '[')) {
        for (size_t i = 0; ok && !next_is(w, ']'); i++) {
            char index[24];
            w->key.size = 0;
            buffer_put(&w->key, index, (size_t)snprintf(index, sizeof index, "%zu", i));
            ok = (i == 0 || step(w, ',')) && member(w, from, to, at);
        }
        ok = ok && step(w, ']');
    } else {
        ok = hop(w);
    }
    w->depth--;
    return ok;
}

xir_status json_find_places(xir_context *ctx, xir_str json, xir_format_place *places, size_t n, void *user) {
    search w = { .start = json.data, .p = json.data, .end = json.data ? json.data + json.size : NULL, .list = places };
    (void)user;
    buffer_init(&w.key, context_alloc(ctx));
    enter(&w, 0, n, 0);
    bool failed = w.key.failed;
    buffer_free(&w.key);
    return failed ? XIR_E_MEMORY : XIR_OK;
}
