/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The text of a case is read byte by byte. */
#include <errno.h>
#include <stdio.h>
#include "support/op_case.h"

typedef struct block { struct block *next; _Alignas(16) char bytes[]; } block;

void *op_text_keep(op_text *t, size_t size) {
    block *b = calloc(1, sizeof *b + size);
    if (!b) abort();
    b->next = t->blocks;
    t->blocks = b;
    return b->bytes;
}

void op_text_free(op_text *t) {
    for (block *b = t->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
}

bool op_text_fail(op_text *t, const char *format, ...) {
    if (t->fault[0]) return false;
    va_list list;
    va_start(list, format);
    vsnprintf(t->fault, sizeof t->fault, format, list);
    va_end(list);
    return false;
}

char op_text_next(op_text *t) {
    t->at += strspn(t->at, " \t");
    return *t->at;
}

bool op_text_skip(op_text *t, char c) {
    if (op_text_next(t) != c) return false;
    t->at++;
    return true;
}

bool op_text_expect(op_text *t, char c) { return op_text_skip(t, c) || op_text_fail(t, "'%c' was expected", c); }

bool op_text_in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool op_text_word(op_text *t, const char *word) {
    size_t size = strlen(word);
    op_text_next(t);
    if (strncmp(t->at, word, size) != 0 || op_text_in_word(t->at[size])) return false;
    t->at += size;
    return true;
}

bool op_text_i64(op_text *t, int64_t *out) {
    char *end;
    op_text_next(t);
    errno = 0;
    *out = strtoll(t->at, &end, 10);
    if (end == t->at || errno || *end == '.' || *t->at == '+') return op_text_fail(t, "an integer was expected");
    t->at = end;
    return true;
}

bool op_text_i64s(op_text *t, xir_i64s *out) {
    enum { MOST = 256 };
    int64_t *items = op_text_keep(t, MOST * sizeof *items);
    size_t n = 0;
    if (!op_text_expect(t, '[')) return false;
    while (!op_text_skip(t, ']')) {
        if (n == MOST || (n && !op_text_expect(t, ',')))
            return op_text_fail(t, "a list of at most %d integers was expected", MOST);
        if (!op_text_i64(t, &items[n++])) return false;
    }
    *out = (xir_i64s){ items, n };
    return true;
}

/* The length of "(…)", whatever brackets it contains: a half-open interval has one of each kind. 0 if it is not
 * closed. */
static size_t in_brackets(const char *text) {
    size_t depth = 0;
    for (size_t i = 0; text[i]; i++) {
        if (strchr("([{", text[i])) depth++;
        else if (strchr(")]}", text[i]) && --depth == 0) return i + 1;
    }
    return 0;
}

static const xir_object *object_of(op_text *t, size_t size) {
    form_error e = { 0 };
    const xir_object *object = form_parse(context_pool(ctx), (xir_str){ t->at, size }, &e);
    if (object) t->at += size;
    else op_text_fail(t, "%.*s: %s", (int)size, t->at, e.message);
    return object;
}

static size_t name_size(const char *text) {
    size_t size = 1;
    while (op_text_in_word(text[size])) size++;
    return size;
}

const xir_object *op_text_object(op_text *t) {
    op_text_next(t);
    size_t size = name_size(t->at);
    if (t->at[size] == '(') size += in_brackets(t->at + size);
    return object_of(t, size);
}

const xir_object *op_text_target(op_text *t) {
    op_text_next(t);
    size_t size = name_size(t->at), with = t->at[size] == '(' ? size + in_brackets(t->at + size) : size;
    return object_of(t, t->at[with] == '(' ? with : size);
}
