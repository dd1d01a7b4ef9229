/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* MD5: the digests of RFC 1321, and those of libcrypto for bytes of any size, in any pieces. */
#include <openssl/evp.h>
#include "support/net.h"
#include "raw/md5.h"

static const char *digest(const void *data, size_t size, size_t piece) {
    static char hex[MD5_DIGITS + 1];
    md5 m;
    md5_begin(&m);
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < piece ? size - at : piece;
        md5_add(&m, (const char *)data + at, n);
    }
    assert_int_equal(md5_end(&m, hex, NULL), XIR_OK);
    return hex;
}

static void digests_of_the_rfc(void **state) {
    (void)state;
    static const struct { const char *text, *digest; } rows[] = {
        { "", MD5_OF_NOTHING },
        { "a", "0cc175b9c0f1b6a831c399e269772661" },
        { "abc", "900150983cd24fb0d6963f7d28e17f72" },
        { "message digest", "f96b697d7cb7938d525a2f31aaf161d0" },
        { "abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b" },
        { "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f" },
        { "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
          "57edf4a22be3c955ac49da2e2107b67a" },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(digest(rows[i].text, strlen(rows[i].text), 1000), rows[i].digest);
}

static const char *digest_of_libcrypto(const void *data, size_t size) {
    static char hex[MD5_DIGITS + 1];
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    assert_int_equal(EVP_Digest(data, size, bytes, &n, EVP_md5(), NULL), 1);
    for (unsigned i = 0; i < n; i++) snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
    return hex;
}

/* Every size up to some blocks, and a large one, which is taken in several steps. */
static void digests_of_libcrypto(void **state) {
    (void)state;
    enum { LARGE = 1 << 20 };
    static const size_t pieces[] = { 1, 7, 63, 64, 65, 1000 };
    static uint8_t bytes[LARGE + 1];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 197 + (i >> 9));
    for (size_t size = 0; size <= 5 * MD5_BLOCK; size++) {
        const char *expected = digest_of_libcrypto(bytes + 1, size);    /* at an odd address */
        for (size_t i = 0; i < COUNT(pieces); i++)
            assert_string_equal(digest(bytes + 1, size, pieces[i]), expected);
    }
    for (size_t size = LARGE - 70; size <= LARGE; size += 35)
        assert_string_equal(digest(bytes, size, 300001), digest_of_libcrypto(bytes, size));
}

/* The size is counted in bits, in 64 of them: one of 2^32 bits and more is not that of its remainder. */
static void many_bits_are_counted(void **state) {
    (void)state;
    md5 a, b;
    char hex_a[MD5_DIGITS + 1], hex_b[MD5_DIGITS + 1];
    md5_begin(&a);
    md5_begin(&b);
    a.size = UINT64_C(1) << 29;
    assert_int_equal(md5_end(&a, hex_a, NULL), XIR_OK);
    assert_int_equal(md5_end(&b, hex_b, NULL), XIR_OK);
    assert_string_not_equal(hex_a, hex_b);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_of_the_rfc),
        cmocka_unit_test(digests_of_libcrypto),
        cmocka_unit_test(many_bits_are_counted),
    };
    return RUN_GROUP(tests);
}
