/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The texts in boxes. Texts of files are made harmless: what does not show as a letter, or changes the direction of
 * text, becomes \xNN, as findings print it. */
#include <stdio.h>
#include <string.h>
#include "make.h"
#include "out.h"

/* ---- characters -------------------------------------------------------------------------------------------------- */

/* The bytes of the well-formed UTF-8 character at the start of `s`, and its number; 0 if it is malformed. */
static size_t decode(xir_str s, uint32_t *code) {
    const unsigned char *c = (const unsigned char *)s.data;
    const size_t n = c[0] < 0x80 ? 1 : c[0] >= 0xC2 && c[0] < 0xE0 ? 2 : c[0] >= 0xE0 && c[0] < 0xF0 ? 3
                   : c[0] >= 0xF0 && c[0] < 0xF5 ? 4 : 0;
    if (n == 0 || n > s.size) return 0;
    *code = n == 1 ? c[0] : c[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((c[i] & 0xC0) != 0x80) return 0;
        *code = *code << 6 | (c[i] & 0x3Fu);
    }
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const bool bad = *code < least[n] || *code > 0x10FFFF || (*code >= 0xD800 && *code < 0xE000);
    return bad ? 0 : n;
}

/* Control characters, line ends, marks of direction, characters without a shape, and what XML does not have. */
static bool is_harmless(uint32_t c) {
    if (c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || c == 0x61C || c == 0xFEFF) return false;
    if ((c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F)) return false;
    return (c & 0xFFFE) != 0xFFFE && !(c >= 0xFFF9 && c <= 0xFFFB) && !(c >= 0xE0000 && c <= 0xE0FFF);
}

size_t draw_harmless(xir_str *s, char out[8]) {
    uint32_t code;
    if (*s->data >= ' ' && *s->data < 0x7F) {
        out[0] = *s->data++;
        s->size--;
        return 1;
    }
    const size_t n = decode(*s, &code);
    size_t size = n ? n : 1;
    if (n && is_harmless(code)) {
        memcpy(out, s->data, n);
        *s = (xir_str){ s->data + n, s->size - n };
        return n;
    }
    *s = (xir_str){ s->data + size, s->size - size };
    return (size_t)snprintf(out, 8, n ? "\\u%04X" : "\\x%02X", n ? code & 0xFFFF : (unsigned char)s->data[-1]);
}

/* Appends a text, as much of it as fits `letters`. */
static size_t append(char *out, size_t size, xir_str s, size_t letters) {
    size_t n = 0;
    while (s.size && n < letters && size < DRAW_TEXT - 16) {
        char c[8];
        const size_t k = draw_harmless(&s, c);
        memcpy(out + size, c, k);
        size += k;
        n += k > 4 ? k : 1;
    }
    if (s.size) {
        memcpy(out + size, "…", 3);
        size += 3;
    }
    out[size] = '\0';
    return size;
}

/* The end of a long name says more than its beginning. */
static size_t append_end(char *out, xir_str s) {
    if (s.size <= DRAW_LETTERS) return append(out, 0, s, DRAW_LETTERS);
    s.data += s.size - (DRAW_LETTERS - 1);
    s.size = DRAW_LETTERS - 1;
    while (s.size && ((unsigned char)s.data[0] & 0xC0) == 0x80) s.data++, s.size--;
    memcpy(out, "…", 3);
    return append(out, 3, s, DRAW_LETTERS);
}

/* ---- boxes of nodes ---------------------------------------------------------------------------------------------- */

/* "icraft::xir::Conv2d", "onnx::Conv": what is after the last colon. */
xir_str draw_class_word(const xir_op *op) {
    const xir_str key = xir_class_key(xir_op_class(op));
    size_t at = key.size;
    while (at && key.data[at - 1] != ':') at--;
    return at < key.size ? (xir_str){ key.data + at, key.size - at } : key;
}

/* The name without what the titles of its groups say. */
static xir_str name_in_group(const picture *p, uint32_t node) {
    const xir_str name = xir_op_name(p->nodes[node].op);
    const draw_group *group = &p->groups[p->nodes[node].group];
    const size_t at = group->prefix;
    const bool fits = at && at < name.size && memcmp(name.data, xir_op_name(p->nodes[group->named].op).data, at) == 0;
    return fits ? (xir_str){ name.data + at, name.size - at } : name;
}

/* Appends a word at out + n, if it fits with a zero at the end. */
static size_t put_word(char *out, size_t n, size_t room, const char *word) {
    const size_t size = strlen(word);
    if (n + size + 1 > room) return n;
    memcpy(out + n, word, size + 1);
    return n + size;
}

static size_t put_number(char *out, size_t n, uint32_t number) {
    char digits[DRAW_DIGITS + 1];
    digits[draw_digits(digits, number)] = '\0';
    return put_word(out, n, DRAW_TEXT, digits);
}

static size_t element_words(const xir_type *type, char *out, size_t room) {
    static const char *const floats[] = { "fp16", "fp32", "fp64", "bf16", "tf32", "fpe7m8", "fpe6m9" };
    const xir_type *stored = type ? xir_type_storage(type) : NULL;
    const xir_object *object = xir_type_object(stored), *body;
    if (object && (body = xir_object_body(object, xir_float_type_class())) != NULL) {
        const unsigned format = (unsigned)((const xir_float_type *)(const void *)body)->format;
        return put_word(out, 0, room, format < sizeof floats / sizeof *floats ? floats[format] : "float");
    }
    if (object && (body = xir_object_body(object, xir_integer_type_class())) != NULL) {
        const xir_integer_type *integer = (const xir_integer_type *)(const void *)body;
        return (size_t)snprintf(out, room, "%sint%lld", integer->sign ? "" : "u", (long long)integer->ibits);
    }
    return put_word(out, 0, room, stored && xir_type_kind_of(stored) == XIR_TYPE_BOOL ? "bool" : "?");
}

/* "fp32 1×56×56×64": a scalar type has no dims, a tensor of rank 0 has "[]". */
size_t draw_type_text(const xir_type *type, char *out, size_t room) {
    size_t n = element_words(type, out, room);
    const size_t rank = type ? xir_type_rank(type) : 0;
    if (!type || !xir_type_as_tensor(type)) return n;
    n = put_word(out, n, room, rank ? " " : " []");
    for (size_t i = 0; i < rank && n + 48 < room; i++) {
        if (i) n = put_word(out, n, room, "×");
        const size_t all = xir_type_dim_text(type, (int64_t)i, out + n, 40);
        n += all < 40 ? all : 39;
    }
    return n;
}

static size_t type_line(const picture *p, uint32_t node, char *out) {
    const xir_op *op = p->nodes[node].op;
    const size_t outputs = xir_op_output_count(op);
    char text[256];
    out[0] = '\0';
    if (!outputs || !xir_value_type(xir_op_output(op, 0))) return 0;
    size_t n = draw_type_text(xir_value_type(xir_op_output(op, 0)), text, sizeof text - 32);
    if (outputs > 1) n += (size_t)snprintf(text + n, sizeof text - n, " +%zu", outputs - 1);
    return append(out, 0, (xir_str){ text, n }, DRAW_LETTERS);
}

/* Returns the sign for the differences of a node. */
static const char *sign_of(unsigned changes) {
    if (changes & XIR_DIFF_REMOVED) return "−";
    if (changes & XIR_DIFF_ADDED) return "+";
    if (changes & XIR_DIFF_MOVED) return changes & XIR_DIFF_CHANGED ? ">~" : ">";
    return changes ? "~" : "";
}

static size_t class_line(const picture *p, uint32_t node, char *out) {
    const char *sign = sign_of(draw_changes(p, node));
    const size_t n = put_word(out, put_word(out, 0, 8, sign), 8, *sign ? " " : "");
    return append(out, n, draw_class_word(p->nodes[node].op), DRAW_LETTERS);
}

size_t draw_node_text(const picture *p, uint32_t node, int line, char out[DRAW_TEXT]) {
    if (line == DRAW_LINE_CLASS) return class_line(p, node, out);
    if (line == DRAW_LINE_NAME) return append_end(out, name_in_group(p, node));
    return type_line(p, node, out);
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

size_t draw_group_title(const picture *p, uint32_t group, char out[DRAW_TEXT]) {
    const draw_group *g = &p->groups[group];
    const xir_str label = group ? g->label : xir_network_name(p->net);
    size_t n = append_end(out, label);
    if (g->reason != DRAW_OF_REPEATS && g->reason != DRAW_OF_COPY) return n;
    if (!n || g->reason == DRAW_OF_COPY) n = put_word(out, n, DRAW_TEXT, "block ");
    else n = put_word(out, n, DRAW_TEXT, " ");
    if (g->reason == DRAW_OF_REPEATS) n = put_word(out, n, DRAW_TEXT, "×");
    return put_number(out, n, g->number);
}

size_t draw_group_count(const picture *p, uint32_t group, char out[DRAW_TEXT]) {
    const draw_group *g = &p->groups[group];
    const uint32_t differing = p->differing ? p->differing[g->end] - p->differing[g->begin] : 0;
    size_t n = put_word(out, put_number(out, 0, g->end - g->begin), DRAW_TEXT, " ops");
    if (!differing) return n;
    n = put_number(out, put_word(out, n, DRAW_TEXT, ", "), differing);
    return put_word(out, n, DRAW_TEXT, differing == 1 ? " differs" : " differ");
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* The width of a letter of 12 pixels in a wide font, in tenths of a pixel: browsers differ in their fonts. */
static uint32_t letter_width(uint32_t c) {
    enum { THIN = 48, WIDE = 116 };
    static const uint8_t uncommon[0x80] = {
        ['i'] = THIN, ['l'] = THIN, ['j'] = THIN, ['t'] = THIN, ['f'] = THIN, ['r'] = THIN, ['I'] = THIN, ['.'] = THIN,
        [','] = THIN, [':'] = THIN, [';'] = THIN, ['\''] = THIN, ['|'] = THIN, ['!'] = THIN, ['('] = THIN,
        [')'] = THIN, ['['] = THIN, [']'] = THIN, ['{'] = THIN, ['}'] = THIN, ['/'] = THIN, ['-'] = THIN,
        ['"'] = THIN, [' '] = THIN,
        ['m'] = WIDE, ['w'] = WIDE, ['M'] = WIDE, ['W'] = WIDE, ['@'] = WIDE, ['%'] = WIDE,
    };
    if (c < 0x80 && uncommon[c]) return uncommon[c];
    if (c >= 0x2E80) return 130;
    if (c == 0xD7) return 101;   /* the sign between dims */
    return (c >= 'A' && c <= 'Z') || c >= 0x80 ? 88 : 76;
}

/* The width of a text of 12 pixels. */
static uint32_t width_of(const char *text, size_t size) {
    uint32_t tenths = 0, code;
    for (size_t at = 0; at < size;) {
        const unsigned char c = (unsigned char)text[at];
        const size_t n = c < 0x80 ? (code = c, 1) : decode((xir_str){ text + at, size - at }, &code);
        tenths += n ? letter_width(code) : 80;
        at += n ? n : 1;
    }
    return (tenths + 9) / 10;
}

static uint16_t even(uint32_t n) { return (uint16_t)(n + n % 2); }

static void size_node(picture *p, uint32_t i) {
    char text[DRAW_TEXT];
    uint32_t width = width_of(text, draw_node_text(p, i, DRAW_LINE_CLASS, text)) * 11 / 10, lines = 0;
    for (int line = DRAW_LINE_NAME; line < DRAW_LINES; line++) {
        const size_t n = draw_node_text(p, i, line, text);
        const uint32_t w = width_of(text, n) * 11 / 12;
        if (w > width) width = w;
        lines += n != 0;
    }
    p->nodes[i].width = even(width + 24 < 64 ? 64 : width + 24);
    p->nodes[i].height = (uint16_t)(DRAW_HEAD + (lines ? DRAW_LINE_HEIGHT * lines + DRAW_LINE_END : 0));
}

static void size_group(picture *p, uint32_t i) {
    char text[DRAW_TEXT];
    draw_group *g = &p->groups[i];
    const uint32_t title = width_of(text, draw_group_title(p, i, text)) * 11 / 10;
    const uint32_t count = width_of(text, draw_group_count(p, i, text)) * 11 / 12;
    const uint32_t width = (title > count ? title : count) + 40;
    g->title = even(title + 8);
    g->width = even(width < 96 ? 96 : width);
    g->height = DRAW_CLOSED_HEIGHT;
}

bool draw_size_boxes(picture *p) {
    for (uint32_t i = 0; i < p->n_nodes; i++) size_node(p, i);
    for (uint32_t i = 0; i < p->n_groups; i++) size_group(p, i);
    return true;
}
