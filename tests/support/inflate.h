/* Unpacks deflated members of archives (RFC 1951) that NumPy wrote. The bytes are those of a test: what is malformed
 * fails the test. */
#ifndef SUPPORT_INFLATE_H
#define SUPPORT_INFLATE_H

#include <stddef.h>

/* Unpacks `size` bytes into `out`, which has exactly the unpacked size. */
void inflate_bytes(const unsigned char *from, size_t size, unsigned char *out, size_t out_size);

#endif
