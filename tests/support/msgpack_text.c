/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include <stdlib.h>
#include "msgpack_text.h"
#include "codec/read.h"
#include "json/json.h"

static void put_byte(paper *out, unsigned v) {
    char c = (char)v;
    put_bytes(out, &c, 1);
}

/* Writes the low bytes, most significant first. */
static void put_wide(paper *out, unsigned first, uint64_t v, int bytes) {
    put_byte(out, first);
    while (bytes-- > 0) put_byte(out, (unsigned)(v >> 8 * bytes & 0xFF));
}

/* Writes the forms with 1, 2, 4 and 8 bytes after the first byte, beginning with form `least`. */
static int form_of(int least, int longer, int most) { return least + longer < most ? least + longer : most; }

void pack_head(paper *out, char what, uint64_t n, int longer) {
    /* Form 0 is in the first byte, form 1 in one more byte, form 2 in two, form 3 in four. */
    static const struct { char what; unsigned in, most; unsigned first[4]; } heads[] = {
        { '{',  0x80, 15, { 0x80, 0,    0xDE, 0xDF } },
        { '[',  0x90, 15, { 0x90, 0,    0xDC, 0xDD } },
        { '\'', 0xA0, 31, { 0xA0, 0xD9, 0xDA, 0xDB } },
        { '<',  0,    0,  { 0,    0xC4, 0xC5, 0xC6 } },
    };
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        if (heads[i].what != what) continue;
        int least = heads[i].in && n <= heads[i].most ? 0 : n <= 0xFF && heads[i].first[1] ? 1 : n <= 0xFFFF ? 2 : 3;
        int form = form_of(least, longer, 3);
        if (form == 1 && !heads[i].first[1]) form = 2;
        if (form == 0) put_byte(out, heads[i].in | (unsigned)n);
        else put_wide(out, heads[i].first[form], n, 1 << (form - 1));
        return;
    }
    abort();
}

void pack_uinteger(paper *out, uint64_t v, int longer) {
    int least = v < 128 ? -1 : v <= UINT8_MAX ? 0 : v <= UINT16_MAX ? 1 : v <= UINT32_MAX ? 2 : 3,
        form = form_of(least, longer, 3);
    if (form < 0) put_byte(out, (unsigned)v);
    else put_wide(out, 0xCCu + (unsigned)form, v, 1 << form);
}

void pack_integer(paper *out, int64_t v, int longer) {
    if (v >= 0 && longer < 4) {
        pack_uinteger(out, (uint64_t)v, longer);
        return;
    }
    int least = v >= -32 && v < 128 ? -1 : v >= INT8_MIN && v <= INT8_MAX ? 0 : v >= INT16_MIN && v <= INT16_MAX ? 1 :
                v >= INT32_MIN && v <= INT32_MAX ? 2 : 3;
    int form = form_of(least, longer % 4, 3);
    if (form < 0) put_byte(out, (unsigned)(v & 0xFF));
    else put_wide(out, 0xD0u + (unsigned)form, (uint64_t)v, 1 << form);
}

void pack_real(paper *out, double v, bool wide) {
    float narrow = (float)v;
    uint32_t bits;
    uint64_t all;
    memcpy(&bits, &narrow, 4);
    memcpy(&all, &v, 8);
    put_wide(out, wide ? 0xCB : 0xCA, wide ? all : bits, wide ? 8 : 4);
}

/* ---- text -------------------------------------------------------------------------------------------------- */

static unsigned hex_of(char c) { return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a' + 10); }

void pack_text(paper *out, const char *text, uint64_t *mark) {
    for (const char *p = text; *p;) {
        const char *end = p + strcspn(p, " ");
        if (*p == ' ') {
            p++;
            continue;
        }
        if (*p == '`') {
            if (mark) *mark = out->size;
            p++;
            continue;
        }
        if (*p == '\'') {
            end = strchr(p + 1, '\'');
            if (!end) abort();
            pack_head(out, '\'', (uint64_t)(end - p - 1), 0);
            put_bytes(out, p + 1, (size_t)(end - p - 1));
            end++;
        } else if (*p == '{' || *p == '[') {
            pack_head(out, *p, strtoull(p + 1, NULL, 10), 0);
        } else if (*p == '<') {
            uint64_t n = strtoull(p + 1, NULL, 10);
            pack_head(out, '<', n, 0);
            for (uint64_t i = 0; i < n; i++) put_byte(out, (unsigned)i & 0xFF);
        } else if (*p == '#') {
            for (p++; p < end; p += 2) put_byte(out, hex_of(p[0]) << 4 | hex_of(p[1]));
        } else if (*p == 'n') {
            put_byte(out, 0xC0);
        } else if (*p == 't' || *p == 'f') {
            put_byte(out, *p == 't' ? 0xC3 : 0xC2);
        } else if (memchr(p, '.', (size_t)(end - p))) {
            pack_real(out, strtod(p, NULL), end[-1] == 'd');
        } else if (*p == '-') {
            pack_integer(out, strtoll(p, NULL, 10), 0);
        } else {
            pack_uinteger(out, strtoull(p, NULL, 10), 0);
        }
        p = end;
    }
}

/* ---- JSON -------------------------------------------------------------------------------------------------- */

static int some_longer(const pack_style *style) { return style->longer && chance(3) == 0 ? (int)chance(8) : 0; }

static void pack_str(paper *out, xir_str text, const pack_style *style) {
    pack_head(out, '\'', text.size, some_longer(style));
    put_bytes(out, text.data, text.size);
}

static void pack_number(paper *out, const number *n, const pack_style *style) {
    double v = n->real;
    if (n->kind == NUMBER_I64) pack_integer(out, n->i64, some_longer(style));
    else if (n->kind == NUMBER_U64) pack_uinteger(out, n->u64, 0);
    else pack_real(out, v, (double)(float)v != v || (style->longer && chance(2)));
}

static void pack_item(paper *out, source *s, const pack_style *style);

/* The members of a list or map one after the other, and the places where they begin. */
static void pack_members(paper *out, source *s, const pack_style *style, bool map) {
    paper all = { 0 };
    size_t n = 0, room = 16, *begins = malloc(room * sizeof *begins);
    xir_str key;
    put(&all, "%s", "");
    if (!begins || !s->ops->enter(s)) abort();
    for (; (map ? s->ops->key(s, n == 0, &key) : s->ops->item(s, n == 0)) == 1; n++) {
        if (n + 2 > room && !(begins = realloc(begins, (room *= 2) * sizeof *begins))) abort();
        begins[n] = all.size;
        if (map) pack_str(&all, key, style);
        pack_item(&all, s, style);
    }
    begins[n] = all.size;
    pack_head(out, map ? '{' : '[', n, some_longer(style));
    size_t *order = malloc((n + 1) * sizeof *order);
    if (!order) abort();
    for (size_t i = 0; i < n; i++) order[i] = i;
    for (size_t i = n; map && style->shuffled && i > 1; i--) {
        size_t other = chance(i), swap = order[i - 1];
        order[i - 1] = order[other];
        order[other] = swap;
    }
    for (size_t i = 0; i < n; i++) put_bytes(out, all.data + begins[order[i]], begins[order[i] + 1] - begins[order[i]]);
    free(order);
    free(begins);
    free(all.data);
}

static void pack_item(paper *out, source *s, const pack_style *style) {
    bool yes;
    number n;
    xir_str text;
    double special;
    switch (s->ops->shape(s)) {
    case SHAPE_NULL:
        put_byte(out, 0xC0);
        if (!s->ops->null(s)) abort();
        break;
    case SHAPE_BOOL:
        if (!s->ops->boolean(s, &yes)) abort();
        put_byte(out, yes ? 0xC3 : 0xC2);
        break;
    case SHAPE_NUMBER:
        if (!s->ops->number(s, &n)) abort();
        pack_number(out, &n, style);
        break;
    case SHAPE_TEXT:
        if (!s->ops->text(s, &text)) abort();
        if (style->longer && chance(2) && special_real(text, &special)) pack_real(out, special, chance(2));
        else pack_str(out, text, style);
        break;
    case SHAPE_LIST: pack_members(out, s, style, false); break;
    case SHAPE_MAP:  pack_members(out, s, style, true); break;
    default: abort();
    }
}

void pack_json(paper *out, const char *json, size_t size, const pack_style *style) {
    static const pack_style plain = { false, false };
    static decoder d;
    source s;
    decoder_init(&d, ctx, NULL, &json_source, XIR_STR(""), (xir_str){ json, size }, NULL);
    decoder_source(&d, &s, &json_source, json, size);
    json_begin(&s);
    pack_item(out, &s, style ? style : &plain);
    decoder_free(&d);
}
