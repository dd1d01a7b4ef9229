/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The texts of rows: the grammar that xir/convert.h describes. Registering a row checks its texts; a conversion reads
 * those of a row once, when it meets the row's class (classes.c). */
#include <stdlib.h>
#include "number.h"
#include "rows/row.h"

static const char *skip(const char *p) {
    while (*p == ' ') p++;
    return p;
}

/* Returns true if a character can be part of a name: formats have names like "out_proj.weight" and "#shape". */
static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("_.#$", c));
}

static const char *read_word(const char *p, xir_str *out) {
    *out = (xir_str){ p, 0 };
    while (is_word(p[out->size])) out->size++;
    return p + out->size;
}

/* Reads ">=11", "<13" or both. */
static const char *read_versions(const char *p, int64_t *from, int64_t *until) {
    char *end = (char *)(uintptr_t)p;
    for (;; p = end) {
        if (*p == '<') *until = strtoll(p + 1, &end, 10);
        else if (*p == '>' && p[1] == '=') *from = strtoll(p + 2, &end, 10);
        else return p;
    }
}

void row_versions(const char *attributes, int64_t *from, int64_t *until) {
    *from = 0;
    *until = INT64_MAX;
    if (attributes) (void)read_versions(skip(attributes), from, until);
}

bool row_next_attribute(const char **text, row_attribute *out) {
    const char *p = *text ? skip(*text) : "";
    *out = (row_attribute){ .from = 0, .until = INT64_MAX };
    if (*p == '<' || *p == '>') {   /* the versions that have the op */
        p = skip(read_versions(p, &(int64_t){ 0 }, &(int64_t){ 0 }));
    }
    if (!*p) return *text = p, false;
    if (*p == '*') out->name = (xir_str){ p, 1 }, p++;
    else p = read_word(p, &out->name);
    if (!out->name.size || *p++ != ':') return false;
    out->kinds = (xir_str){ p, strspn(p, "nbifstogyaBIFSTOGYA") };
    if (!out->kinds.size) return false;
    p += out->kinds.size;
    if (*p == '!') out->needed = true, p++;
    p = read_versions(p, &out->from, &out->until);
    if (*p && *p != ' ') return false;
    *text = p;
    return true;
}

bool row_range(const char *text, size_t *least, size_t *most) {
    char *end;
    if (!text || *text < '0' || *text > '9') return false;
    *least = *most = (size_t)strtoul(text, &end, 10);
    if (*end == '-') {
        *most = end[1] && end[1] != ' ' ? (size_t)strtoul(end + 1, &end, 10) : SIZE_MAX;
        if (*most == SIZE_MAX) return end[1] == '\0' || end[1] == ' ';
    }
    return (*end == '\0' || *end == ' ') && *least <= *most;
}

const char *row_input_names(const char *inputs) { return skip(inputs + strcspn(inputs, " ")); }

bool row_next_input(const char **text, row_input *out) {
    const char *p = *text;
    *out = (row_input){ .is_attribute = *p == '@' };
    p = read_word(p + out->is_attribute, &out->name);
    if (!out->name.size) return false;
    if (out->is_attribute) out->name = (xir_str){ out->name.data - 1, out->name.size + 1 };
    if (*p == ':') {
        out->order = (xir_str){ p + 1, strspn(p + 1, "NCDHWLOI") };
        if (out->order.size < 2) return false;
        p = out->order.data + out->order.size;
    }
    if (*p == '?') out->optional = true, p++;
    if (*p && *p != ' ') return false;
    *text = skip(p);
    return true;
}

bool row_next_word(xir_str *words, row_word *out) {
    size_t colon = 0, end = 0;
    while (end < words->size && words->data[end] != ',') end++;
    while (colon < end && words->data[colon] != ':') colon++;
    if (colon == 0 || colon + 1 >= end) return false;
    *out = (row_word){ { words->data, colon }, { words->data + colon + 1, end - colon - 1 } };
    const size_t used = end < words->size ? end + 1 : end;
    *words = (xir_str){ words->data + used, words->size - used };
    return true;
}

/* "name", "!name", "name[1]" or "name{a:A,b:B}". NULL: it is malformed. */
static const char *read_source(const char *p, row_set *out) {
    char *end;
    if (*p == '!') out->inverted = true, p++;
    p = read_word(p, &out->attribute);
    if (!out->attribute.size) return NULL;
    if (*p == '[') {
        if (p[1] < '0' || p[1] > '9') return NULL;
        out->item = (size_t)strtoul(p + 1, &end, 10);
        out->is_item = true;
        if (*end != ']') return NULL;
        p = end + 1;
    }
    if (*p != '{') return p;
    out->words = (xir_str){ p + 1, strcspn(p + 1, "} ") };
    p = out->words.data + out->words.size;
    xir_str rest = out->words;
    for (row_word pair; row_next_word(&rest, &pair);) {}
    const bool whole = out->words.size && !rest.size && p[-1] != ',';
    return whole && *p == '}' ? p + 1 : NULL;
}

bool row_next_set(const char **text, row_set *out) {
    const char *p = *text ? skip(*text) : "";
    *out = (row_set){ .has_number = false };
    if (!*p) return *text = p, false;
    p = read_word(p, &out->field);
    if (!out->field.size || *p++ != '=') return false;
    bool is_number = (*p >= '0' && *p <= '9') || *p == '-';
    if (*p == '\'') {
        out->word = (xir_str){ p + 1, strcspn(p + 1, "' ") };
        p = out->word.data + out->word.size;
        if (!out->word.size || *p++ != '\'') return false;
    } else if (!is_number) {
        if (!(p = read_source(p, out))) return false;
        is_number = *p == ':';
        if (is_number) p++;
    }
    if (is_number) {
        number v;
        const size_t size = number_parse(p, strlen(p), &v);
        if (!size) return false;
        out->number = v.kind == NUMBER_I64 ? (double)v.i64 : v.kind == NUMBER_U64 ? (double)v.u64 : v.real;
        out->has_number = true;
        p += size;
    }
    if (*p && *p != ' ') return false;
    *text = p;
    return true;
}

bool convert_next_class(const char **classes, char name[64]) {
    const char *p = skip(*classes);
    const size_t n = strcspn(p, " ");
    *classes = p + n;
    if (!n || n >= 64) return false;
    memcpy(name, p, n);
    name[n] = '\0';
    return true;
}
