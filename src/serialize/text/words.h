/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The letters and words of the text, for both directions. A NAME has letters, digits and _ . / - and :, which is not
 * its last letter; two slashes end it, since they begin a comment. Digits alone are a number, never a NAME. */
#ifndef SERIALIZE_TEXT_WORDS_H
#define SERIALIZE_TEXT_WORDS_H

#include "graph.h"

enum { TEXT_NAME = 1, TEXT_DIGIT = 2, TEXT_LAYOUT = 4 };
extern const uint8_t text_letters[256];

static inline bool text_is(char c, int kind) { return text_letters[(unsigned char)c] & kind; }

/* The length of the letters of a NAME, or of a number, that begin at `p`. */
static inline size_t text_name_length(const char *p, const char *end) {
    const char *from = p;
    while (p < end && text_is(*p, TEXT_NAME) && !(*p == '/' && end - p > 1 && p[1] == '/')) p++;
    while (p > from && p[-1] == ':') p--;
    return (size_t)(p - from);
}

/* The digits of an INT, with a minus sign or without. */
bool text_is_int(xir_str word);
/* Returns true if a text is a NAME, so that it needs no quotes. */
bool text_is_name(xir_str text);

/* The name of an op that is written as ~: that of its first result, without the first "_output_0" that ends it or comes
 * before a dot, which exporters of ONNX add to the op's. It is the name up to `cut`, and then from `rest` on. */
typedef struct text_alike { size_t cut, rest; } text_alike;
text_alike text_alike_of(xir_str result);
bool text_is_alike(xir_str op, xir_str result);

/* The length of a one-string form that begins at `p`: "@name" and what is in parentheses, in which brackets of any kind
 * close those of any other: "[0, 32)". */
size_t text_form_length(const char *p, const char *end);

/* The prefix of classes that are written without it: icraft::xir::. */
extern const xir_str text_own;
/* The name of a class in a text if it needs no quotes; otherwise empty, and the whole key is quoted. */
xir_str text_class_word(xir_str key);

/* "fp32" for @fp(32), "int8", "bool": the word of an element type; 0 if it has none. At most TEXT_ELEMENT bytes. */
enum { TEXT_ELEMENT = 32 };
size_t text_element_word(const xir_object *type, char out[TEXT_ELEMENT]);
/* The element type of such a word; NULL if there is none, or without memory, which sets *failed. */
const xir_type *text_element_of(object_pool *pool, xir_str word, bool *failed);

/* The attributes that have neither a default nor null for one, of the first 64: the text of an op mentions them all. */
uint64_t text_required(const xir_class *cls);

/* The payload of Params that is inline by default: so many bytes together. */
enum { TEXT_INLINE = 16384 };

#endif
