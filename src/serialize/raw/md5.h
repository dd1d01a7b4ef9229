/* MD5 in pieces, by libcrypto. It protects against accidents, not against people. None of this can fail. */
#ifndef SERIALIZE_MD5_H
#define SERIALIZE_MD5_H

#include <stddef.h>
#include <stdint.h>

enum { MD5_DIGITS = 32 };

/* MD5 of no bytes: what the format says of a network without parameters. */
#define MD5_OF_NOTHING "d41d8cd98f00b204e9800998ecf8427e"

typedef struct md5 { uint32_t state[24]; } md5;   /* libcrypto's, whose header nobody else needs */

void md5_begin(md5 *m);
void md5_add(md5 *m, const void *data, size_t size);
/* Writes 32 lower-case digits and a zero byte. */
void md5_end(md5 *m, char hex[MD5_DIGITS + 1]);

#endif
