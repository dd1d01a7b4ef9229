/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* MessagePack as text, for tests: items are separated by blanks, each in its shortest form, and packed without a
 * library.
 *
 *     {3 [2          the head of a map of 3 members, of a list of 2; their items follow
 *     'name'         a text; between the quotes anything except quotes
 *     7 -1 1.5 1.5d  integers; reals of 32 bits, and of 64
 *     nil true false
 *     <3             bytes: 0, 1, 2
 *     #dcffff        these bytes, in hexadecimal digits
 *     `              marks the next byte */
#ifndef SUPPORT_MSGPACK_TEXT_H
#define SUPPORT_MSGPACK_TEXT_H

#include "json_net.h"

/* Appends the bytes of the text. *mark becomes the offset of the mark, if the text has one and `mark` is not NULL. */
void pack_text(paper *out, const char *text, uint64_t *mark);

/* JSON as MessagePack, with members in their order. Or as another writer may write it: each number, text, list, map
 * and key has a random form, reals that would fit 32 bits have 64, infinities and "nan" are reals, and members are
 * in any order. */
typedef struct pack_style { bool longer, shuffled; } pack_style;
void pack_json(paper *out, const char *json, size_t size, const pack_style *style);
/* Heads and numbers in the shortest form (`longer` 0), or `longer` forms longer, as far as such forms exist. */
void pack_head(paper *out, char what, uint64_t n, int longer);   /* '{' '[' '\'' '<' */
void pack_integer(paper *out, int64_t v, int longer);
void pack_uinteger(paper *out, uint64_t v, int longer);
void pack_real(paper *out, double v, bool wide);

#endif
