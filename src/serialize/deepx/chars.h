/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The class of each byte in a text of DeepX. Classes of bytes are bits of a table, so that a line is read without
 * asking for each character in turn. */
#ifndef SERIALIZE_DEEPX_CHARS_H
#define SERIALIZE_DEEPX_CHARS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    DEEPX_LETTER  = 1,    /* of names of functions and formal parameters: a-z A-Z _ and bytes beyond ASCII          */
    DEEPX_DIGIT   = 2,
    DEEPX_TYPE    = 4,    /* what a type has besides letters and digits                                             */
    DEEPX_NO_NAME = 8,    /* what the name of a tensor does not have                                                */
    DEEPX_ENDS    = 16,   /* where a parameter may end, or something in it may begin: brackets, quotes, , - /        */
    DEEPX_HOLDS   = 32,   /* brackets and quotes: what may hold a comma within a parameter                          */
    DEEPX_NO_HOLE = 64,   /* : and /, which may end a type or begin metadata: see pattern.h                         */
};
extern const uint8_t deepx_chars[256];

static inline bool deepx_is(char c, unsigned classes) { return (deepx_chars[(unsigned char)c] & classes) != 0; }
static inline bool deepx_is_blank(char c) { return c == ' ' || c == '\t'; }
/* Returns true for a character between words of metadata. */
static inline bool deepx_is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static inline bool deepx_is_letter(char c) { return deepx_is(c, DEEPX_LETTER); }

#endif
