/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tables of texts, and JSON, for the page. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "html_out.h"

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static uint32_t hash_of(xir_str s) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < s.size; i++) h = (h ^ (unsigned char)s.data[i]) * UINT64_C(0x100000001b3);
    return (uint32_t)(h ^ h >> 32);
}

static bool grow(html_table *t) {
    const size_t n_slots = t->n_slots ? 2 * t->n_slots : 1024;
    uint32_t *slots = draw_new(t->alloc, n_slots, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < t->n; i++) {
        size_t at = hash_of(t->items[i]) & (n_slots - 1);
        while (slots[at]) at = (at + 1) & (n_slots - 1);
        slots[at] = (uint32_t)i + 1;
    }
    draw_free(t->alloc, t->slots);
    t->slots = slots;
    t->n_slots = n_slots;
    return true;
}

static bool copy_of(html_table *t, xir_str *s) {
    if (t->left < s->size) {
        const size_t size = s->size > 4000 ? s->size : 64000;
        char *room = draw_new(t->alloc, 1, sizeof(char *) + size);
        if (!room) return false;
        memcpy(room, &t->room, sizeof t->room);
        t->room = room;
        t->used = sizeof(char *);
        t->left = size;
    }
    char *copy = t->room + t->used;
    memcpy(copy, s->data, s->size);
    t->used += s->size;
    t->left -= s->size;
    s->data = copy;
    return true;
}

uint32_t html_number(html_table *t, xir_str s, bool copy) {
    if (t->failed) return 0;
    if (2 * (t->n + 1) > t->n_slots && !grow(t)) goto no_memory;
    size_t at = hash_of(s) & (t->n_slots - 1);
    for (; t->slots[at]; at = (at + 1) & (t->n_slots - 1)) {
        if (xir_str_equal(t->items[t->slots[at] - 1], s)) return t->slots[at] - 1;
    }
    xir_str *items = draw_room(t->alloc, t->items, t->n + 1, sizeof *items);
    if (!items) goto no_memory;
    t->items = items;
    if (!s.size) s.data = "";
    else if (copy && !copy_of(t, &s)) goto no_memory;
    items[t->n] = s;
    t->slots[at] = (uint32_t)t->n + 1;
    return (uint32_t)t->n++;
no_memory:
    t->failed = true;
    return 0;
}

void html_table_free(html_table *t) {
    while (t->room) {
        char *before;
        memcpy(&before, t->room, sizeof before);
        draw_free(t->alloc, t->room);
        t->room = before;
    }
    draw_free(t->alloc, t->items);
    draw_free(t->alloc, t->slots);
    *t = (html_table){ .alloc = t->alloc };
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* Letters that neither JSON nor HTML nor a page's script escapes. */
static bool is_plain(char c) {
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' && c != '\'';
}

static void put_escaped(draw_out *o, const char *text, size_t size) {
    char code[8];
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)text[i] < 0x7F && !is_plain(text[i]))
            draw_put(o, code, (size_t)snprintf(code, sizeof code, "\\u%04x", text[i]));
        else draw_put(o, text + i, 1);
    }
}

static void put_string(draw_out *o, xir_str s) {
    draw_put(o, "\"", 1);
    while (s.size) {
        size_t plain = 0;
        while (plain < s.size && is_plain(s.data[plain])) plain++;
        draw_put(o, s.data, plain);
        s = (xir_str){ s.data + plain, s.size - plain };
        if (!s.size) break;
        char character[8];
        put_escaped(o, character, draw_harmless(&s, character));
    }
    draw_put(o, "\"", 1);
}

static void begin_item(html_json *j, const char *name) {
    if (j->next) draw_put(&j->out, ",", 1);
    j->next = true;
    if (!name) return;
    put_string(&j->out, xir_str_of(name));
    draw_put(&j->out, ":", 1);
}

void html_open(html_json *j, const char *name, char bracket) {
    begin_item(j, name);
    draw_put(&j->out, &bracket, 1);
    j->next = false;
}

void html_close(html_json *j, char bracket) {
    draw_put(&j->out, &bracket, 1);
    j->next = true;
}

void html_string(html_json *j, const char *name, xir_str s) {
    begin_item(j, name);
    put_string(&j->out, s);
}

void html_integer(html_json *j, const char *name, int64_t v) {
    begin_item(j, name);
    draw_int(&j->out, v);
}

void html_verbatim(html_json *j, const char *name, xir_str s) {
    char code[8];
    begin_item(j, name);
    draw_put(&j->out, "\"", 1);
    for (size_t i = 0; i < s.size; i++) {
        const unsigned char c = (unsigned char)s.data[i];
        if (c >= 0x20 && c != 0x7F && !strchr("\"\\<>&'", (int)c)) draw_put(&j->out, s.data + i, 1);
        else draw_put(&j->out, code, (size_t)snprintf(code, sizeof code, "\\u%04x", c));
    }
    draw_put(&j->out, "\"", 1);
}

/* The decimal point does not depend on the locale. */
void html_real(html_json *j, const char *name, double v) {
    enum { WHOLE = 1000000000 };   /* below it %.9g has all digits of an integer */
    char text[40] = "null";
    begin_item(j, name);
    if (v > -WHOLE && v < WHOLE && v == (double)(int64_t)v && !(v == 0 && signbit(v))) {
        draw_int(&j->out, (int64_t)v);
        return;
    }
    const size_t n = isfinite(v) ? (size_t)snprintf(text, sizeof text, "%.9g", v) : 4;
    for (size_t i = 0; i < n && isfinite(v); i++) if (!strchr("0123456789+-e", text[i])) text[i] = '.';
    draw_put(&j->out, text, n);
}

void html_column(html_json *j, const char *name) {
    html_open(j, name, '[');
    j->last = 0;
}

void html_cell(html_json *j, int64_t v) {
    const int64_t step = (int64_t)((uint64_t)v - (uint64_t)j->last);   /* ids of a file may be anything */
    char *text = draw_begin(&j->out, 1 + DRAW_DIGITS);
    size_t n = 0;
    if (j->next) text[n++] = ',';
    if (step >= 0 && step < 10) text[n++] = (char)('0' + step);
    else n += draw_digits(text + n, step);
    j->out.size += n;
    j->next = true;
    j->last = v;
}
