/* MessagePack as text, for tests: items apart by blanks, each in its shortest form, packed without any library.
 *
 *     {3 [2        the head of a map of 3 members, of a list of 2; what follows belongs to them
 *     'name'       a text; between the quotes anything but quotes
 *     7 -1 1.5 1.5d  integers; reals in 32 bits, and in 64
 *     nil true false
 *     <3           bytes: 0, 1, 2
 *     #dcffff      these bytes as they are, in hexadecimal digits
 *     `            the byte that comes is marked */
#ifndef SUPPORT_MSGPACK_TEXT_H
#define SUPPORT_MSGPACK_TEXT_H

#include "json_net.h"

/* Appends what the text means. *mark becomes the place of the mark in all of it, if there is one and `mark` is not
 * NULL. */
void pack_text(paper *out, const char *text, uint64_t *mark);

/* JSON as MessagePack, members in the order in which they stand. Or as a foreign writer may have it: each number,
 * text, list, map and key in a form chosen by chance, reals in 64 bits that would fit 32, the texts of infinities
 * and "nan" as reals; members in any order. */
typedef struct pack_style { bool longer, shuffled; } pack_style;
void pack_json(paper *out, const char *json, size_t size, const pack_style *style);
/* Heads and numbers, in the shortest form (`longer` 0), or so many forms longer, as far as there are any. */
void pack_head(paper *out, char what, uint64_t n, int longer);   /* '{' '[' '\'' '<' */
void pack_integer(paper *out, int64_t v, int longer);
void pack_uinteger(paper *out, uint64_t v, int longer);
void pack_real(paper *out, double v, bool wide);

#endif
