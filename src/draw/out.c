/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Text that is written in large pieces. */
#include "out.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void flush(draw_out *o) {
    if (o->size && !o->failed && !o->write(o->user, o->buffer, o->size)) o->failed = true;
    o->size = 0;
}

void draw_put(draw_out *o, const char *text, size_t size) {
    while (size) {
        const size_t room = sizeof o->buffer - o->size, n = size < room ? size : room;
        memcpy(o->buffer + o->size, text, n);
        o->size += n;
        text += n;
        size -= n;
        if (o->size == sizeof o->buffer) flush(o);
    }
}

char *draw_begin(draw_out *o, size_t n) {
    if (sizeof o->buffer - o->size < n) flush(o);
    return o->buffer + o->size;
}

void draw_text(draw_out *o, const char *terminated) { draw_put(o, terminated, strlen(terminated)); }

size_t draw_digits(char out[DRAW_DIGITS], int64_t number) {
    char digits[DRAW_DIGITS];
    size_t at = sizeof digits;
    uint64_t n = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do digits[--at] = (char)('0' + n % 10); while (n /= 10);
    if (number < 0) digits[--at] = '-';
    memcpy(out, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

void draw_int(draw_out *o, int64_t number) {
    char digits[DRAW_DIGITS];
    draw_put(o, digits, draw_digits(digits, number));
}

void draw_print(draw_out *o, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (n > 0) draw_put(o, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static const char *xml_name(char c) {
    switch (c) {
    case '&':  return "&amp;";
    case '<':  return "&lt;";
    case '>':  return "&gt;";
    case '"':  return "&quot;";
    case '\'': return "&#39;";
    default:   return NULL;
    }
}

void draw_xml(draw_out *o, xir_str text, size_t most) {
    for (size_t n = 0; text.size && n < most;) {
        char c[8];
        const size_t k = draw_harmless(&text, c);
        const char *name = k == 1 ? xml_name(c[0]) : NULL;
        if (name) draw_text(o, name);
        else draw_put(o, c, k);
        n += k;
    }
    if (text.size) draw_text(o, "…");
}

/* In a quoted text of DOT a backslash begins an escape, which also names parts of the graph: \N. */
void draw_quoted(draw_out *o, xir_str text, size_t most) {
    for (size_t n = 0; text.size && n < most;) {
        char c[8];
        const size_t k = draw_harmless(&text, c);
        for (size_t i = 0; i < k; i++) {
            if (c[i] == '"' || c[i] == '\\') draw_put(o, "\\", 1);
            draw_put(o, &c[i], 1);
        }
        n += k;
    }
    if (text.size) draw_text(o, "…");
}

xir_status draw_end(draw_out *o, xir_diags *why) {
    flush(o);
    if (o->no_memory) return no_memory(why);
    if (!o->failed) return XIR_OK;
    return xir_diags_add(why, XIR_ERROR, XIR_E_IO, XIR_STR(""), "the picture could not be written");
}
