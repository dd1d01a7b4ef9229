/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reads the one-string spellings. A text may come from a hostile file: every step checks for the end of the text, every
 * number is checked, and a failure names the byte and what was found there. Texts are read in one pass, without
 * recursion. */
#ifndef CORE_FORMS_H
#define CORE_FORMS_H

#include "object.h"

/* A text being read. `why` may be NULL. */
typedef struct form_text {
    const char *data;
    size_t      size, at;
    form_error *why;
} form_text;

/* The next byte to be read, -1 at the end. */
static inline int form_next(const form_text *t) {
    return t->at < t->size ? (unsigned char)t->data[t->at] : -1;
}

/* Reads one byte if it is `c`. */
static inline bool form_skip(form_text *t, char c) {
    if (form_next(t) != (unsigned char)c) return false;
    t->at++;
    return true;
}

/* Describes a byte for a sentence: "'X'", "a space", "byte 0x0a", "the end". */
enum { FORM_FOUND = 16 };
void form_found(char out[FORM_FOUND], int c);

/* Fails at a byte with "expected <what>, found <the byte>". Always returns false. */
bool form_expected(form_text *t, xir_status status, size_t at, const char *format, ...) XIR_PRINTF(4, 5);

/* Begins a text; reads "@name(". */
void form_begin(form_text *t, xir_str text, form_error *why);
bool form_open(form_text *t, xir_str text, const char *name, form_error *why);
/* Reads exactly this text. */
bool form_literal(form_text *t, const char *literal);
/* Reads ")" and the end of the text. */
bool form_close(form_text *t);

/* Numbers. Integers are decimal, without leading zeros and plus sign, and 0 has no minus sign. Reals are JSON's numbers
 * and inf, -inf and nan, rounded to float32. `what` names the number in sentences: "an axis". */
bool form_i64(form_text *t, const char *what, int64_t *out);
bool form_u64(form_text *t, const char *what, uint64_t *out);
bool form_f32(form_text *t, const char *what, float *out);

void form_put_i64(buffer *out, int64_t v);
void form_put_u64(buffer *out, uint64_t v);
void form_put_f32(buffer *out, float v);

/* The last step of every parse function: interns the candidate in the pool, or fails because memory ran out. */
const xir_object *form_made(object_pool *pool, const xir_object *candidate, form_error *why);

/* The spelling of classes without attributes: "@" and the name. */
void              form_word_print(const xir_object *object, buffer *out);
const xir_object *form_word_parse(object_pool *pool, const xir_class *cls, xir_str text, form_error *why);

#endif
