/* The plain functions of libcrypto, not those of EVP: to find MD5 by its name EVP loads providers, in thousands of allocations, and
 * crashes when one of the first is refused. These need no start, no memory and, in FIPS mode, nobody's leave: no secret is kept
 * with this sum. Since 3.0 their header calls them deprecated. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/md5.h>
#include "raw/md5.h"

_Static_assert(sizeof(MD5_CTX) <= sizeof(md5) && _Alignof(MD5_CTX) <= _Alignof(md5), "an md5 has room for libcrypto's state");

static MD5_CTX *state_of(md5 *m) { return (MD5_CTX *)(void *)m->state; }

void md5_begin(md5 *m)                                  { (void)MD5_Init(state_of(m)); }
void md5_add(md5 *m, const void *data, size_t size)     { (void)MD5_Update(state_of(m), data, size); }

void md5_end(md5 *m, char hex[MD5_DIGITS + 1]) {
    unsigned char digest[MD5_DIGEST_LENGTH];
    (void)MD5_Final(digest, state_of(m));
    for (unsigned i = 0; i < MD5_DIGEST_LENGTH; i++) {
        hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    hex[MD5_DIGITS] = '\0';
}
