/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Archives are written byte for byte as expected, in both forms, and read in all forms that writers of zip use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "zip/zip.h"
#include "support/kept.h"
#include "support/program.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* ---- writing ---------------------------------------------------------------------------------------------------- */

typedef struct member { const char *name, *content; } member;

static buffer written(bool zip64, const member *members, size_t n) {
    buffer out;
    zip_writer w;
    buffer_init(&out, &memory_default);
    zip_begin(&w, &memory_default, zip64, keep, &out);
    for (size_t i = 0; i < n; i++) {
        zip_add(&w, xir_str_of(members[i].name), members[i].content, strlen(members[i].content));
    }
    assert_int_equal(zip_end(&w), XIR_OK);
    return out;
}

/* Compares with bytes in hexadecimal; blanks are ignored. */
static void assert_bytes(const buffer *got, const char *hex) {
    size_t n = 0;
    for (; *hex; hex++) {
        if (*hex == ' ') continue;
        char digits[3] = { hex[0], hex[1], 0 };
        if (n >= got->size || (uint8_t)got->data[n] != strtoul(digits, NULL, 16)) fail_msg("byte %zu differs", n);
        n++;
        hex++;
    }
    assert_int_equal(n, got->size);
}

static void empty_archives(void **state) {
    (void)state;
    buffer small = written(false, NULL, 0), large = written(true, NULL, 0);
    assert_bytes(&small, "504b0506 0000 0000 0000 0000 00000000 00000000 0000");
    assert_bytes(&large, "504b0606 2c00000000000000 0000 0000 00000000 00000000 0000000000000000 0000000000000000"
                         "0000000000000000 0000000000000000"
                         "504b0607 00000000 0000000000000000 01000000"
                         "504b0506 ffff ffff ffff ffff ffffffff ffffffff 0000");
    buffer_free(&small);
    buffer_free(&large);
}

static void one_member(void **state) {
    (void)state;
    const member x[] = { { "ab", "hello" } };
    buffer small = written(false, x, 1), large = written(true, x, 1);
    assert_bytes(&small, "504b0304 0000 0000 0000 0000 0000 86a61036 05000000 05000000 0200 0000 6162 68656c6c6f"
                         "504b0102 0000 0000 0000 0000 0000 0000 86a61036 05000000 05000000 0200 0000 0000 0000 0000"
                         "00000000 00000000 6162"
                         "504b0506 0000 0000 0100 0100 30000000 25000000 0000");
    assert_bytes(&large, "504b0304 0000 0000 0000 0000 0000 86a61036 ffffffff ffffffff 0200 2000 6162"
                         "0100 1c00 0500000000000000 0500000000000000 0000000000000000 00000000 68656c6c6f"
                         "504b0102 0000 0000 0000 0000 0000 0000 86a61036 ffffffff ffffffff 0200 2000 0000 ffff 0000"
                         "00000000 ffffffff 6162"
                         "0100 1c00 0500000000000000 0500000000000000 0000000000000000 00000000"
                         "504b0606 2c00000000000000 0000 0000 00000000 00000000 0100000000000000 0100000000000000"
                         "5000000000000000 4500000000000000"
                         "504b0607 00000000 9500000000000000 01000000"
                         "504b0506 ffff ffff ffff ffff ffffffff ffffffff 0000");
    buffer_free(&small);
    buffer_free(&large);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static void assert_holds(zip_archive *z, const char *name, const char *content) {
    const zip_member *m = zip_find(z, xir_str_of(name));
    assert_non_null(m);
    blob *got = zip_take(z, m, true);
    assert_non_null(got);
    assert_int_equal(got->size, strlen(content));
    if (got->size) assert_memory_equal(got->bytes, content, got->size);
    blob_release(got);
}

/* Reads bytes with nothing after them; the archive has `n` members of this table. */
static void assert_reads(const buffer *file, bool zip64, bool walked, const member *members, size_t n) {
    void *exact = malloc(file->size);
    memcpy(exact, file->data, file->size);
    blob *whole = blob_borrow(&memory_default, exact, file->size, false, NULL, NULL);
    zip_archive z;
    assert_int_equal(zip_open(&z, &memory_default, whole, XIR_STR("x.zip"), 0, NULL), XIR_OK);
    assert_int_equal(z.n, n);
    assert_int_equal(z.zip64, zip64);
    assert_int_equal(z.walked, walked);
    for (size_t i = 0; i < n; i++) assert_holds(&z, members[i].name, members[i].content);
    assert_null(zip_find(&z, XIR_STR("another")));
    assert_int_equal(z.status, XIR_OK);
    zip_close(&z);
    blob_release(whole);
    free(exact);
}

/* A name is only compared: it may look like a path. */
static const member three[] = { { "conv.weight", "0123456789" }, { "../up", "" }, { "/etc/x", "PK\1\2PK\5\6" } };

static void both_forms(void **state) {
    (void)state;
    for (int zip64 = 0; zip64 < 2; zip64++) {
        buffer file = written(zip64, three, 3), empty = written(zip64, NULL, 0);
        assert_reads(&file, zip64, false, three, 3);
        assert_reads(&empty, zip64, false, NULL, 0);
        buffer_free(&file);
        buffer_free(&empty);
    }
}

static void without_a_directory(void **state) {
    (void)state;
    static const member plain[] = { { "a", "0123456789" }, { "b", "" } };
    for (int zip64 = 0; zip64 < 2; zip64++) {
        buffer file = written(zip64, plain, 2);
        file.size = zip64 ? 10 + 2 * (30 + 1 + 32) : 10 + 2 * (30 + 1);
        for (int more = 0; more < 4; more++, file.size++) assert_reads(&file, zip64, true, plain, 2);
        buffer_free(&file);
    }
}

static void with_a_comment_or_other_bytes_at_the_end(void **state) {
    (void)state;
    buffer file = written(false, three, 3);
    buffer_str(&file, "PK\5\6 is not the end");
    assert_reads(&file, false, false, three, 3);
    size_t comment = strlen("PK\5\6 is not the end");
    file.data[file.size - comment - 2] = (char)comment;
    assert_reads(&file, false, false, three, 3);
    buffer_free(&file);
}

/* The directory may have another order than the members. */
static void in_another_order(void **state) {
    (void)state;
    static const member two[] = { { "a", "1" }, { "b", "22" } };
    enum { DIRECTORY = 31 + 1 + 31 + 2, ENTRY = 47 };
    buffer file = written(false, two, 2);
    char first[ENTRY];
    memcpy(first, file.data + DIRECTORY, ENTRY);
    memmove(file.data + DIRECTORY, file.data + DIRECTORY + ENTRY, ENTRY);
    memcpy(file.data + DIRECTORY + ENTRY, first, ENTRY);
    assert_reads(&file, false, false, two, 2);
    buffer_free(&file);
}

/* Sizes and checksum that follow the data, as streams have them. */
static void sizes_after_the_data(void **state) {
    (void)state;
    static const member one[] = { { "a", "123" } };
    buffer file = written(false, one, 1);
    file.data[6] = 8;
    memset(file.data + 14, 0, 12);
    file.data[34 + 8] = 8;
    assert_reads(&file, false, false, one, 1);
    buffer_free(&file);
}

/* Members "a", "b", … deflated by zlib: "abc", seven times. The archive says that each has `size` bytes. */
static buffer packed(size_t n, unsigned size) {
    static const char bytes[] = "\x4B\x4C\x4A\x4E\xC4\x40";   /* and a zero byte */
    static const uint8_t sum[] = { 0x71, 0xBB, 0xDA, 0x2B };
    enum { LOCAL = 31 + sizeof bytes, ENTRY = 47 };
    buffer file;
    zip_writer w;
    buffer_init(&file, &memory_default);
    zip_begin(&w, &memory_default, false, keep, &file);
    for (size_t i = 0; i < n; i++) zip_add(&w, (xir_str){ &"ab"[i], 1 }, bytes, sizeof bytes);
    assert_int_equal(zip_end(&w), XIR_OK);
    for (size_t i = 0; i < 2 * n; i++) {
        char *method = file.data + (i < n ? LOCAL * i + 8 : LOCAL * n + ENTRY * (i - n) + 10);
        method[0] = ZIP_DEFLATED;
        memcpy(method + 6, sum, 4);
        method[14] = (char)size;
        method[15] = (char)(size >> 8);
    }
    return file;
}

static void deflated(void **state) {
    (void)state;
    const member expected[] = { { "a", "abcabcabcabcabcabcabc" }, { "b", "abcabcabcabcabcabcabc" } };
    for (size_t n = 1; n <= 2; n++) {
        buffer file = packed(n, 21);
        assert_reads(&file, false, false, expected, n);
        buffer_free(&file);
    }
}

/* The sizes of all members count, before any is inflated. */
static void the_limit_is_for_all_members(void **state) {
    (void)state;
    buffer file = packed(2, 2000);
    const uint64_t more = 4000 - 16 * file.size;
    for (uint64_t limit = more - 1; limit <= more; limit++) {
        blob *whole = blob_borrow(&memory_default, file.data, file.size, false, NULL, NULL);
        zip_archive z;
        assert_int_equal(zip_open(&z, &memory_default, whole, XIR_STR(""), limit, NULL),
                         limit < more ? XIR_E_LIMIT : XIR_OK);
        zip_close(&z);
        blob_release(whole);
    }
    buffer_free(&file);
}

/* A stored member is not copied. */
static void stored_members_stay_where_they_are(void **state) {
    (void)state;
    buffer file = written(true, three, 3);
    blob *whole = blob_borrow(&memory_default, file.data, file.size, false, NULL, NULL);
    zip_archive z;
    assert_int_equal(zip_open(&z, &memory_default, whole, XIR_STR(""), 0, NULL), XIR_OK);
    blob *content = zip_take(&z, zip_find(&z, XIR_STR("conv.weight")), false);
    zip_close(&z);
    blob_release(whole);
    assert_ptr_equal(content->bytes, file.data + 30 + 11 + 32);
    blob_release(content);
    buffer_free(&file);
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

static bool full(void *user, const void *data, size_t size) {
    (void)data;
    return (*(size_t *)user += size) < 80;
}

static void a_full_disk_stops_it(void **state) {
    (void)state;
    zip_writer w;
    size_t n = 0;
    zip_begin(&w, &memory_default, true, full, &n);
    for (size_t i = 0; i < COUNT(three); i++) {
        zip_add(&w, xir_str_of(three[i].name), three[i].content, strlen(three[i].content));
    }
    assert_int_equal(zip_end(&w), XIR_E_IO);
}

static void a_name_has_65535_bytes(void **state) {
    (void)state;
    char *name = malloc(65536);
    memset(name, 'n', 65536);
    for (size_t size = 65535; size <= 65536; size++) {
        zip_writer w;
        buffer out;
        buffer_init(&out, &memory_default);
        zip_begin(&w, &memory_default, true, keep, &out);
        zip_add(&w, (xir_str){ name, size }, "1", 1);
        assert_int_equal(zip_end(&w), size == 65535 ? XIR_OK : XIR_E_LIMIT);
        buffer_free(&out);
    }
    free(name);
}

static void what_fits(void **state) {
    (void)state;
    assert_true(zip_fits(false, 65534, 1000, 1000));
    assert_false(zip_fits(false, 65535, 1000, 1000));
    assert_true(zip_fits(true, 65535, 1000, 1000));
    assert_false(zip_fits(false, 1, 1, UINT32_MAX));
    assert_true(zip_fits(true, 1, 1, UINT32_MAX));
    assert_false(zip_fits(true, 1, 1, UINT64_MAX));
    assert_false(zip_fits(true, UINT64_MAX / 2, 1, 1));
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_archives),
        cmocka_unit_test(one_member),
        cmocka_unit_test(both_forms),
        cmocka_unit_test(without_a_directory),
        cmocka_unit_test(with_a_comment_or_other_bytes_at_the_end),
        cmocka_unit_test(in_another_order),
        cmocka_unit_test(sizes_after_the_data),
        cmocka_unit_test(deflated),
        cmocka_unit_test(the_limit_is_for_all_members),
        cmocka_unit_test(stored_members_stay_where_they_are),
        cmocka_unit_test(a_full_disk_stops_it),
        cmocka_unit_test(a_name_has_65535_bytes),
        cmocka_unit_test(what_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
