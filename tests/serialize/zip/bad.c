/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Malformed archives: each is refused with its status, its byte and its message, when it is opened or when a member is
 * taken. Every archive truncated at every byte, and with every byte changed, is refused or still has the content that
 * its checksums promise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "zip/zip.h"
#include "support/kept.h"
#include "support/program.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* ---- archives --------------------------------------------------------------------------------------------------- */

/* Members "a" (AAAA), "b" (BB) and "c" (nothing), in both forms, and "d", deflated, alone. The constants say where
 * their parts begin. */
enum { SMALL, LARGE, PACKED, ARCHIVES };
enum { A = 0, B = 35, C_ = 68, DIR = 99, DIR_B = DIR + 47, DIR_C = DIR_B + 47, END = DIR_C + 47, SIZE = END + 22 };
enum { LB = 67, LC = 132, LDIR = 195, LDIR_B = LDIR + 79, LDIR_C = LDIR_B + 79, END64 = LDIR_C + 79,
       LOCATOR = END64 + 56, LEND = LOCATOR + 20, LSIZE = LEND + 22 };
enum { PDATA = 31, PDIR = PDATA + 7, PEND = PDIR + 47, PSIZE = PEND + 22 };
/* The bytes that members may inflate to, in addition to 16 times the archive, and for "d" with it. */
enum { MOST = 4096, LIMIT = MOST + 16 * PSIZE };

static void put_le(char *at, int bytes, uint64_t v) {
    for (int i = 0; i < bytes; i++) at[i] = (char)(v >> (8 * i));
}

static buffer archive(int which) {
    static const char packed[] = "\x4B\x4C\x4A\x4E\xC4\x40\x00";   /* "abc", seven times */
    buffer out;
    zip_writer w;
    buffer_init(&out, &memory_default);
    zip_begin(&w, &memory_default, which == LARGE, keep, &out);
    if (which == PACKED) {
        zip_add(&w, XIR_STR("d"), packed, sizeof packed - 1);
    } else {
        zip_add(&w, XIR_STR("a"), "AAAA", 4);
        zip_add(&w, XIR_STR("b"), "BB", 2);
        zip_add(&w, XIR_STR("c"), NULL, 0);
    }
    assert_int_equal(zip_end(&w), XIR_OK);
    for (int i = 0; which == PACKED && i < 2; i++) {
        char *method = out.data + (i ? PDIR + 10 : 8);
        put_le(method, 2, ZIP_DEFLATED);
        put_le(method + 6, 4, 0x2BDABB71);
        put_le(method + 14, 4, 21);
    }
    return out;
}

/* ---- what is refused -------------------------------------------------------------------------------------------- */

typedef struct change { int at, bytes; uint64_t value; } change;
typedef struct bad {
    int         which;
    size_t      size;        /* truncated to this; 0: whole       */
    change      changes[4];  /* bytes 0 ends                      */
    xir_status  status;
    uint64_t    byte;
    const char *sentence;    /* the beginning of the message      */
} bad;

#define C XIR_E_CORRUPT
#define U XIR_E_UNSUPPORTED
#define X XIR_E_EXISTS

static const bad table[] = {
    /* what is not an archive */
    { SMALL, 0, { { 0, 4, 0 }, { END, 4, 0 } }, C, 0, "expected the header of a member, found the bytes 00 00 00 00" },
    { SMALL, 3, { { 0, 0, 0 } }, C, 0, "the file is not an archive: it has 3 bytes" },
    { SMALL, 29, { { 0, 0, 0 } }, C, 0, "the header of a member reaches beyond byte 29" },
    { SMALL, 30, { { 0, 0, 0 } }, C, 0, "the name of a member reaches beyond byte 30" },
    { SMALL, 34, { { 0, 0, 0 } }, C, 0, "the member 'a' takes 4 bytes from 31 on, but the file ends at 34" },
    { SMALL, 50, { { 0, 0, 0 } }, C, B, "the header of a member reaches beyond byte 50" },
    { LARGE, 66, { { 0, 0, 0 } }, C, 0, "the member 'a' takes 4 bytes from 63 on, but the file ends at 66" },

    /* without a directory */
    { SMALL, DIR, { { B, 4, 0x04034B51 } }, C, B, "expected the header of a member, found the bytes 51 4B 03 04" },
    { SMALL, DIR, { { A + 18, 4, 3 } }, C, 34, "expected the header of a member, found the bytes 41 50 4B 03" },
    { SMALL, DIR, { { A + 18, 4, 5 } }, C, 36, "expected the header of a member, found the bytes 4B 03 04 00" },
    { SMALL, DIR, { { A + 18, 4, 0xFFFFFFFF } }, C, A, "the member 'a' takes 4294967295 bytes from 31 on" },
    { SMALL, DIR, { { B + 30, 1, 'a' } }, X, B, "the member 'a' appears twice, first at byte 0" },
    { SMALL, DIR, { { C_ + 6, 2, 8 } }, U, C_, "the size of 'c' comes after its data, and the archive has no directory" },
    { SMALL, DIR, { { B + 26, 2, 0xFFFF } }, C, B, "the name of a member reaches beyond byte 99" },
    { SMALL, DIR, { { B + 28, 2, 0xFFFF } }, C, B, "the name of a member reaches beyond byte 99" },
    { LARGE, LDIR, { { 47 - 12, 8, UINT64_MAX } , { 47 - 4, 8, UINT64_MAX } }, C, A, "the member 'a' takes 18446744073709551615 bytes from 63 on" },
    { LARGE, LDIR, { { 33, 2, 12 } }, C, A, "the member 'a' has no 64-bit sizes" },

    /* the record at the end */
    { SMALL, 0, { { END + 4, 2, 1 } }, U, END, "the file is a part of an archive of several files" },
    { SMALL, 0, { { END + 6, 2, 1 } }, U, END, "the file is a part of an archive of several files" },
    { SMALL, 0, { { END + 8, 2, 2 } }, U, END, "the file is a part of an archive of several files" },
    { SMALL, 0, { { END + 8, 2, 2 }, { END + 10, 2, 2 } }, C, END, "the directory has 3 entries, but the record at the end says 2" },
    { SMALL, 0, { { END + 8, 2, 4 }, { END + 10, 2, 4 } }, C, END, "the directory has 3 entries, but the record at the end says 4" },
    { SMALL, 0, { { END + 8, 4, 0xFFFFFFFF } }, C, END, "the directory has 3 entries, but the record at the end says 65535" },
    { SMALL, 0, { { END + 12, 4, 142 } }, C, END, "a directory of 142 bytes from 99 on reaches beyond the record" },
    { SMALL, 0, { { END + 12, 4, 0xFFFFFFFF } }, C, END, "a directory of 4294967295 bytes from 99 on reaches beyond" },
    { SMALL, 0, { { END + 12, 4, 140 } }, C, DIR_C, "entry 2 reaches beyond the directory, which ends at byte 239" },
    { SMALL, 0, { { END + 12, 4, 93 } }, C, DIR_B, "entry 1 reaches beyond the directory, which ends at byte 192" },
    { SMALL, 0, { { END + 16, 4, 98 } }, C, 98, "expected entry 0 of the directory, which ends at byte 239" },
    { SMALL, 0, { { END + 16, 4, 100 } }, C, END, "a directory of 141 bytes from 100 on reaches beyond the record" },
    { SMALL, 0, { { END + 16, 4, 0xFFFFFFFF } }, C, END, "a directory of 141 bytes from 4294967295 on reaches beyond" },
    { SMALL, 0, { { END + 16, 4, 0 } }, C, 0, "expected entry 0 of the directory, which ends at byte 141" },
    { SMALL, 0, { { END + 16, 4, END }, { END + 12, 4, 22 } }, C, END, "a directory of 22 bytes from 240 on reaches beyond" },

    /* the 64-bit records */
    { LARGE, 0, { { LOCATOR + 4, 4, 1 } }, U, LOCATOR, "the file is a part of an archive of several files" },
    { LARGE, 0, { { LOCATOR + 16, 4, 2 } }, U, LOCATOR, "the file is a part of an archive of several files" },
    { LARGE, 0, { { LOCATOR + 8, 8, END64 + 1 } }, C, LOCATOR + 8, "the 64-bit record is not at byte 433" },
    { LARGE, 0, { { LOCATOR + 8, 8, LOCATOR } }, C, LOCATOR + 8, "the 64-bit record is not at byte 488" },
    { LARGE, 0, { { LOCATOR + 8, 8, UINT64_MAX } }, C, LOCATOR + 8, "the 64-bit record is not at byte 18446744073709551615" },
    { LARGE, 0, { { END64, 4, 0 } }, C, LOCATOR + 8, "the 64-bit record is not at byte 432" },
    { LARGE, 0, { { END64 + 4, 8, 43 } }, C, END64 + 4, "the 64-bit record takes 43 bytes from 444 on, but its locator is at 488" },
    { LARGE, 0, { { END64 + 4, 8, 45 } }, C, END64 + 4, "the 64-bit record takes 45 bytes from 444 on, but its locator is at 488" },
    { LARGE, 0, { { END64 + 4, 8, UINT64_MAX } }, C, END64 + 4, "the 64-bit record takes 18446744073709551615 bytes" },
    { LARGE, 0, { { END64 + 16, 4, 1 } }, U, END64, "the file is a part of an archive of several files" },
    { LARGE, 0, { { END64 + 24, 8, 4 } }, U, END64, "the file is a part of an archive of several files" },
    { LARGE, 0, { { END64 + 24, 8, 4 }, { END64 + 32, 8, 4 } }, C, END64, "the directory has 3 entries, but the record at the end says 4" },
    { LARGE, 0, { { END64 + 40, 8, 238 } }, C, END64, "a directory of 238 bytes from 195 on reaches beyond the record" },
    { LARGE, 0, { { END64 + 40, 8, UINT64_MAX } }, C, END64, "a directory of 18446744073709551615 bytes from 195 on" },
    { LARGE, 0, { { END64 + 48, 8, UINT64_MAX } }, C, END64, "a directory of 237 bytes from 18446744073709551615 on" },
    { LARGE, 0, { { LEND + 8, 2, 2 } }, C, LEND, "the record at the end contradicts the 64-bit record at 432" },
    { LARGE, 0, { { LEND + 12, 4, 5 } }, C, LEND, "the record at the end contradicts the 64-bit record at 432" },
    { LARGE, 0, { { LEND + 16, 4, 5 } }, C, LEND, "the record at the end contradicts the 64-bit record at 432" },

    /* entries of the directory */
    { SMALL, 0, { { DIR_B, 4, 0x02014B51 } }, C, DIR_B, "expected entry 1 of the directory, which ends at byte 240" },
    { SMALL, 0, { { DIR_C + 28, 2, 2 } }, C, DIR_C, "entry 2 reaches beyond the directory, which ends at byte 240" },
    { SMALL, 0, { { DIR_C + 30, 2, 1 } }, C, DIR_C, "entry 2 reaches beyond the directory" },
    { SMALL, 0, { { DIR_C + 32, 2, 0xFFFF } }, C, DIR_C, "entry 2 reaches beyond the directory" },
    { SMALL, 0, { { DIR_B + 34, 2, 1 } }, U, DIR_B, "the file is a part of an archive of several files" },
    { SMALL, 0, { { DIR + 8, 2, 1 << 13 } }, U, DIR, "the directory of the archive is encrypted" },
    { SMALL, 0, { { DIR_B + 42, 4, DIR } }, C, DIR_B, "the entry of 'b' leads to byte 99, but the members end at 99" },
    { SMALL, 0, { { DIR_B + 42, 4, DIR_B } }, C, DIR_B, "the entry of 'b' leads to byte 146, but the members end at 99" },
    { SMALL, 0, { { DIR_B + 42, 4, DIR - 1 } }, C, DIR - 1, "the header of a member reaches beyond byte 99" },
    { SMALL, 0, { { DIR_B + 42, 4, B + 1 } }, C, B + 1, "expected the header of a member, found the bytes 4B 03 04 00" },
    { SMALL, 0, { { DIR_B + 42, 4, A } }, C, A, "the header of 'b' and its entry in the directory differ in the name" },
    { LARGE, 0, { { LDIR_B + 47 + 20, 8, UINT64_MAX } }, C, LDIR_B, "the entry of 'b' leads to byte 18446744073709551615" },
    { LARGE, 0, { { LDIR + 47 + 2, 2, 20 } }, C, LDIR, "the entry of 'a' has no 64-bit sizes" },
    { LARGE, 0, { { LDIR + 47 + 2, 2, 0 } }, C, LDIR, "the entry of 'a' has no 64-bit sizes" },
    { LARGE, 0, { { LDIR + 47 + 2, 2, 29 } }, U, LDIR, "the file is a part of an archive of several files" },
    { LARGE, 0, { { LDIR + 47 + 28, 4, 7 } }, U, LDIR, "the file is a part of an archive of several files" },

    /* entries and headers that differ */
    { SMALL, 0, { { DIR + 46, 1, 'x' } }, C, A, "the header of 'x' and its entry in the directory differ in the name" },
    { SMALL, 0, { { A + 30, 1, 'x' } }, C, A, "the header of 'a' and its entry in the directory differ in the name" },
    { SMALL, 0, { { A + 26, 2, 0 } }, C, A, "the header of 'a' and its entry in the directory differ in the name" },
    { SMALL, 0, { { A + 26, 2, 70 } }, C, A, "the name of a member reaches beyond byte 99" },
    { SMALL, 0, { { A + 6, 2, 1 } }, C, A, "the header of 'a' and its entry in the directory differ in the flags" },
    { SMALL, 0, { { A + 8, 2, 8 } }, C, A, "the header of 'a' and its entry in the directory differ in the method" },
    { SMALL, 0, { { A + 14, 4, 1 } }, C, A, "the header of 'a' and its entry in the directory differ in the checksum" },
    { SMALL, 0, { { A + 18, 4, 3 } }, C, A, "the header of 'a' and its entry in the directory differ in the size" },
    { SMALL, 0, { { A + 22, 4, 3 } }, C, A, "the header of 'a' and its entry in the directory differ in the size" },
    { SMALL, 0, { { A + 6, 2, 8 }, { A + 22, 4, 3 } }, C, A, "the header of 'a' and its entry in the directory differ in the size" },
    { LARGE, 0, { { 31 + 4, 8, 5 } }, C, A, "the header of 'a' and its entry in the directory differ in the size" },

    /* members that lie where others do */
    { SMALL, 0, { { A + 18, 4, 5 }, { DIR + 20, 4, 5 } }, C, B, "the member 'b' begins here, but 'a' reaches to byte 36" },
    { SMALL, 0, { { A + 18, 4, 68 }, { DIR + 20, 4, 68 } }, C, B, "the member 'b' begins here, but 'a' reaches to byte 99" },
    { SMALL, 0, { { A + 18, 4, 69 }, { DIR + 20, 4, 69 } }, C, DIR, "the member 'a' takes 69 bytes from 31 on, but the members end at 99" },
    { SMALL, 0, { { A + 28, 2, 5 }, { A + 18, 4, 0 }, { DIR + 20, 4, 0 } }, C, B, "the member 'b' begins here, but 'a' reaches to byte 36" },
    { SMALL, 0, { { DIR_B + 46, 1, 'a' }, { B + 30, 1, 'a' } }, X, B, "the member 'a' appears twice, first at byte 0" },
    { LARGE, 0, { { 31 + 12, 8, UINT64_MAX }, { LDIR + 47 + 12, 8, UINT64_MAX } }, C, LDIR, "the member 'a' takes 18446744073709551615 bytes from 63 on" },

    /* contents */
    { SMALL, 0, { { 31, 1, 'B' } }, C, A, "the checksum of 'a' is 89B8A71F, but the archive says 9B0D08F1" },
    { SMALL, 0, { { A + 22, 4, 3 }, { DIR + 24, 4, 3 } }, C, A, "the member 'a' is stored, but takes 4 bytes for 3" },
    { SMALL, 0, { { A + 6, 2, 1 }, { DIR + 8, 2, 1 } }, U, A, "the member 'a' is encrypted" },
    { SMALL, 0, { { A + 8, 2, 14 }, { DIR + 10, 2, 14 } }, U, A, "the member 'a' is packed by method 14, expected 0 (stored) or 8 (deflated)" },
    { SMALL, 0, { { A + 8, 2, 8 }, { DIR + 10, 2, 8 } }, C, A, "the deflated bytes of 'a' are invalid for 4 bytes" },
    { PACKED, 0, { { PDATA, 1, 0xFF } }, C, 0, "the deflated bytes of 'd' are invalid for 21 bytes" },
    { PACKED, 0, { { 22, 4, 20 }, { PDIR + 24, 4, 20 } }, C, 0, "the deflated bytes of 'd' are too many for 20 bytes" },
    { PACKED, 0, { { 22, 4, 22 }, { PDIR + 24, 4, 22 } }, C, 0, "the deflated bytes of 'd' are too few for 22 bytes" },
    { PACKED, 0, { { 22, 4, 9000 }, { PDIR + 24, 4, 9000 } }, C, 0, "7 deflated bytes of 'd' cannot be 9000 bytes" },
    { PACKED, 0, { { 22, 4, 4000000000 }, { PDIR + 24, 4, 4000000000 } }, C, 0, "7 deflated bytes of 'd' cannot be 4000000000 bytes" },
    { PACKED, 0, { { 22, 4, LIMIT }, { PDIR + 24, 4, LIMIT } }, C, 0, "the deflated bytes of 'd' are too few for 5808 bytes" },
    { PACKED, 0, { { 22, 4, LIMIT + 1 }, { PDIR + 24, 4, LIMIT + 1 } }, XIR_E_LIMIT, 0, "the members up to 'd' have more than 5808 bytes when they are inflated" },
    { PACKED, PDIR, { { 22, 4, LIMIT + 1 } }, XIR_E_LIMIT, 0, "the members up to 'd' have more than 4704 bytes when they" },
    { PACKED, 0, { { 14, 4, 1 }, { PDIR + 16, 4, 1 } }, C, 0, "the checksum of 'd' is 2BDABB71, but the archive says 00000001" },
};

/* Opens an archive and takes all its members. */
static xir_status read_all(const void *bytes, size_t size, xir_diags *why) {
    blob *whole = blob_borrow(&memory_default, bytes, size, false, NULL, NULL);
    zip_archive z;
    xir_status status = zip_open(&z, &memory_default, whole, XIR_STR("x.zip"), MOST, why);
    for (size_t i = 0; !status && i < z.n; i++) {
        blob *content = zip_take(&z, &z.members[i], true);
        if (content) assert_int_equal(content->size, z.members[i].size);
        blob_release(content);
        status = z.status;
    }
    zip_close(&z);
    blob_release(whole);
    return status;
}

/* The same for bytes with nothing after them, so that sanitizers see a read beyond the end. */
static xir_status read_exact(const void *bytes, size_t size, xir_diags *why) {
    void *exact = malloc(size ? size : 1);
    if (size) memcpy(exact, bytes, size);
    xir_status status = read_all(exact, size, why);
    assert_int_equal(xir_diags_count(why), status ? 1 : 0);
    free(exact);
    return status;
}

static void refused(void **state) {
    size_t wrong = 0;
    for (size_t i = 0; i < COUNT(table); i++) {
        const bad *row = &table[i];
        xir_diags *why = xir_diags_new(*state);
        buffer file = archive(row->which);
        for (const change *c = row->changes; c < row->changes + COUNT(row->changes) && c->bytes; c++) {
            put_le(file.data + c->at, c->bytes, c->value);
        }
        xir_status status = read_exact(file.data, row->size ? row->size : file.size, why);
        const xir_diag *d = status ? xir_diags_at(why, 0) : NULL;
        if (!d || status != row->status || d->byte != row->byte ||
            strncmp(d->message.data, row->sentence, strlen(row->sentence)) != 0) {
            print_error("row %zu: %s at byte %lld: %s\n expected: %s\n", i, xir_status_name(status),
                        d ? (long long)d->byte : -1, d ? d->message.data : "", row->sentence);
            wrong++;
        }
        buffer_free(&file);
        xir_diags_free(why);
    }
    assert_int_equal(wrong, 0);
}

static void the_places_are_right(void **state) {
    static const size_t sizes[ARCHIVES] = { SIZE, LSIZE, PSIZE };
    for (int which = 0; which < ARCHIVES; which++) {
        buffer file = archive(which);
        xir_diags *why = xir_diags_new(*state);
        assert_int_equal(file.size, sizes[which]);
        assert_int_equal(read_exact(file.data, file.size, why), XIR_OK);
        buffer_free(&file);
        xir_diags_free(why);
    }
}

/* An archive that loses its end is walked: it keeps its members until one of them is cut. */
static void truncated_at_every_byte(void **state) {
    static const size_t members_end[ARCHIVES] = { DIR, LDIR, PDIR };
    for (int which = 0; which < ARCHIVES; which++) {
        buffer file = archive(which);
        for (size_t size = 0; size < file.size; size++) {
            xir_diags *why = xir_diags_new(*state);
            xir_status status = read_exact(file.data, size, why);
            if (size >= members_end[which]) assert_int_equal(status, XIR_OK);
            xir_diags_free(why);
        }
        buffer_free(&file);
    }
}

static void changed_at_every_byte(void **state) {
    static const int flips[] = { 0x01, 0x80, 0xFF };
    for (int which = 0; which < ARCHIVES; which++) {
        buffer file = archive(which);
        for (size_t i = 0; i < file.size * COUNT(flips); i++) {
            xir_diags *why = xir_diags_new(*state);
            char *byte = &file.data[i / COUNT(flips)];
            *byte = (char)(*byte ^ flips[i % COUNT(flips)]);
            (void)read_exact(file.data, file.size, why);
            *byte = (char)(*byte ^ flips[i % COUNT(flips)]);
            xir_diags_free(why);
        }
        buffer_free(&file);
    }
}

static int begin(void **state) { return (*state = xir_context_new(NULL)) ? 0 : -1; }
static int end(void **state) {
    xir_context_free(*state);
    return 0;
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_places_are_right),
        cmocka_unit_test(refused),
        cmocka_unit_test(truncated_at_every_byte),
        cmocka_unit_test(changed_at_every_byte),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
