/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Archives of libzip's tests in XIR_CORPUS/zip: whether each is opened, how many members it has, and how many of them
 * are read; and the first refusal, of the archive or of a member. What differs from libzip is on purpose: an archive
 * whose header and directory contradict each other has no meaning that all readers share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "support/scratch.h"
#include "support/skips.h"
#include "zip/zip.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])
#define OK XIR_OK
#define C  XIR_E_CORRUPT
#define X  XIR_E_EXISTS
#define U  XIR_E_UNSUPPORTED
#define NO XIR_NO_BYTE

typedef struct archive {
    const char *name;
    xir_status  opened;
    size_t      members, read;
    xir_status  refusal;     /* of the archive, or of the first member that is not read */
    uint64_t    byte;
    const char *sentence;    /* its beginning                                          */
} archive;

static const archive table[] = {
    { "aaaaaaaa-stored.zip",                     OK,  1,  1, OK,    NO, "" },
    { "bigzero-zip.zip",                         OK,  1,  1, OK,    NO, "" },
    { "bogus.zip",                               C,   0,  0, C,      0, "expected the header of a member, found the bytes" },
    { "broken.zip",                              OK,  6,  2, C,  10299, "the checksum of 'storedcrcerror' is B71A694C, but th" },
    { "changing-size-muchl.zip",                 OK,  3,  3, OK,    NO, "" },
    { "changing-size-muchlo.zip",                OK,  3,  3, OK,    NO, "" },
    { "changing-size-muchlonger.zip",            OK,  3,  3, OK,    NO, "" },
    { "changing-size.zip",                       OK,  2,  2, OK,    NO, "" },
    { "cm-default.zip",                          OK,  4,  4, OK,    NO, "" },
    { "empty-pkware.zip",                        OK,  1,  0, U,      0, "the member '0' is encrypted" },
    { "encrypt-1234.zip",                        OK,  1,  0, U,      0, "the member 'sample.txt' is encrypted" },
    { "encrypt-aes128-noentropy.zip",            OK,  2,  1, U,     41, "the member 'encrypted' is encrypted" },
    { "encrypt-aes128.zip",                      OK,  2,  1, U,     41, "the member 'encrypted' is encrypted" },
    { "encrypt-aes192-noentropy.zip",            OK,  2,  1, U,     41, "the member 'encrypted' is encrypted" },
    { "encrypt-aes192.zip",                      OK,  2,  1, U,     69, "the member 'encrypted' is encrypted" },
    { "encrypt-aes256-noentropy.zip",            OK,  2,  1, U,     41, "the member 'encrypted' is encrypted" },
    { "encrypt-aes256.zip",                      OK,  2,  1, U,     69, "the member 'encrypted' is encrypted" },
    { "encrypt-none.zip",                        OK,  2,  2, OK,    NO, "" },
    { "encrypt-pkware-noentropy-2.zip",          OK,  2,  1, U,     41, "the member 'encrypted' is encrypted" },
    { "encrypt-pkware-noentropy.zip",            OK,  2,  1, U,     41, "the member 'encrypted' is encrypted" },
    { "encrypt.zip",                             OK,  2,  1, U,      0, "the member 'encrypted' is encrypted" },
    { "encrypt_plus_extra.zip",                  OK,  2,  1, U,      0, "the member 'encrypted' is encrypted" },
    { "encrypt_plus_extra_modified_c.zip",       OK,  2,  1, U,      0, "the member 'encrypted' is encrypted" },
    { "encrypt_plus_extra_modified_l.zip",       OK,  2,  1, U,      0, "the member 'encrypted' is encrypted" },
    { "extra_field_align_1-0.zip",               OK,  1,  1, OK,    NO, "" },
    { "extra_field_align_1-ef_00.zip",           OK,  1,  1, OK,    NO, "" },
    { "extra_field_align_1-ef_ff.zip",           OK,  1,  1, OK,    NO, "" },
    { "extra_field_align_1-ff.zip",              OK,  1,  1, OK,    NO, "" },
    { "extra_field_align_2-0.zip",               OK,  1,  1, OK,    NO, "" },
    { "extra_field_align_2-ef_00.zip",           OK,  1,  1, OK,    NO, "" },
    { "extra_field_align_2-ef_ff.zip",           OK,  1,  1, OK,    NO, "" },
    { "extra_field_align_2-ff.zip",              OK,  1,  1, OK,    NO, "" },
    { "extra_field_align_3-0.zip",               OK,  1,  1, OK,    NO, "" },
    { "extra_field_align_3-ef_00.zip",           OK,  1,  1, OK,    NO, "" },
    { "extra_field_align_3-ef_ff.zip",           OK,  1,  1, OK,    NO, "" },
    { "extra_field_align_3-ff.zip",              OK,  1,  1, OK,    NO, "" },
    { "extra_field_align_4-ff.zip",              OK,  1,  1, OK,    NO, "" },
    { "filename_duplicate.zip",                  X,   0,  0, X,     41, "the member 'test1' appears twice, first at byte 0" },
    { "filename_duplicate_empty.zip",            X,   0,  0, X,     36, "the member '' appears twice, first at byte 0" },
    { "filename_empty.zip",                      OK,  1,  1, OK,    NO, "" },
    { "fileorder.zip",                           OK,  2,  2, OK,    NO, "" },
    { "firstsecond-split-deflated.zip",          OK,  2,  2, OK,    NO, "" },
    { "firstsecond-split-stored.zip",            OK,  2,  2, OK,    NO, "" },
    { "firstsecond.zip",                         OK,  2,  2, OK,    NO, "" },
    { "foo-stored.zip",                          OK,  1,  1, OK,    NO, "" },
    { "gap-add.zip",                             OK,  4,  3, C,      0, "the checksum of 'gap' is 935603C1, but the archive s" },
    { "gap-delete.zip",                          OK,  2,  1, C,      0, "the checksum of 'gap' is 935603C1, but the archive s" },
    { "gap-replace.zip",                         OK,  3,  2, C,      0, "the checksum of 'gap' is 935603C1, but the archive s" },
    { "gap.zip",                                 OK,  3,  2, C,      0, "the checksum of 'gap' is 935603C1, but the archive s" },
    { "hmac-error.zip",                          OK,  1,  0, U,      0, "the member 'test.txt' is encrypted" },
    { "incons-archive-comment-longer.zip",       OK,  1,  1, OK,    NO, "" },
    { "incons-archive-comment-shorter.zip",      OK,  1,  1, OK,    NO, "" },
    { "incons-cdoffset.zip",                     C,   0,  0, C,    131, "a directory of 71 bytes from 2097212 on reaches beyo" },
    { "incons-cdsize-large.zip",                 C,   0,  0, C,    131, "a directory of 72 bytes from 60 on reaches beyond th" },
    { "incons-cdsize-small.zip",                 C,   0,  0, C,     60, "entry 0 reaches beyond the directory, which ends at" },
    { "incons-central-compression-method.zip",   C,   0,  0, C,      0, "the header of 'a' and its entry in the directory dif" },
    { "incons-central-compsize-larger-toolarge.zip", C,   0,  0, C,      0, "the header of 'a' and its entry in the directory dif" },
    { "incons-central-compsize-larger.zip",      C,   0,  0, C,      0, "the header of 'a' and its entry in the directory dif" },
    { "incons-central-compsize-smaller.zip",     C,   0,  0, C,      0, "the header of 'aaaaaaaaa' and its entry in the direc" },
    { "incons-central-crc.zip",                  C,   0,  0, C,      0, "the header of 'a' and its entry in the directory dif" },
    { "incons-central-date.zip",                 OK,  1,  1, OK,    NO, "" },
    { "incons-central-file-comment-longer.zip",  C,   0,  0, C,     60, "entry 0 reaches beyond the directory, which ends at" },
    { "incons-central-file-comment-shorter.zip", C,   0,  0, C,    124, "expected entry 1 of the directory, which ends at byt" },
    { "incons-central-file-comment-utf8-ascii.zip", OK,  1,  1, OK,    NO, "" },
    { "incons-central-magic-bad.zip",            C,   0,  0, C,     60, "expected entry 0 of the directory, which ends at byt" },
    { "incons-central-magic-bad2.zip",           C,   0,  0, C,     60, "expected entry 0 of the directory, which ends at byt" },
    { "incons-central-size-larger.zip",          C,   0,  0, C,      0, "the header of 'a' and its entry in the directory dif" },
    { "incons-data.zip",                         OK,  1,  0, C,      0, "the checksum of 'a' is 71BEEFF9, but the archive say" },
    { "incons-ef-central-size-wrong.zip",        OK,  1,  1, OK,    NO, "" },
    { "incons-ef-local-dupe-utf8comment.zip",    OK,  1,  1, OK,    NO, "" },
    { "incons-ef-local-dupe-utf8name.zip",       OK,  1,  1, OK,    NO, "" },
    { "incons-ef-local-dupe-zip64-v1.zip",       C,   0,  0, C,      0, "the header of '-' and its entry in the directory dif" },
    { "incons-ef-local-dupe-zip64-v2.zip",       OK,  1,  1, OK,    NO, "" },
    { "incons-ef-local-id-size.zip",             OK,  1,  1, OK,    NO, "" },
    { "incons-ef-local-id.zip",                  OK,  1,  1, OK,    NO, "" },
    { "incons-ef-local-size.zip",                OK,  1,  0, C,      0, "the checksum of 'a' is D202EF8D, but the archive say" },
    { "incons-ef-local-utf8name-ascii.zip",      OK,  1,  1, OK,    NO, "" },
    { "incons-eocd-magic-bad.zip",               OK,  1,  1, OK,    NO, "" },
    { "incons-eocd64-gap.zip",                   C,   0,  0, C,    104, "the 64-bit record takes 40 bytes from 112 on, but it" },
    { "incons-eocd64.zip",                       C,   0,  0, C,    176, "the record at the end contradicts the 64-bit record" },
    { "incons-file-count-high.zip",              C,   0,  0, C,    131, "the directory has 1 entries, but the record at the e" },
    { "incons-file-count-low.zip",               C,   0,  0, C,    282, "the directory has 3 entries, but the record at the e" },
    { "incons-file-count-overflow.zip",          C,   0,  0, C,    176, "the record at the end contradicts the 64-bit record" },
    { "incons-filename-nul-byte.zip",            OK,  1,  1, OK,    NO, "" },
    { "incons-gap-before-cd.zip",                OK,  1,  1, OK,    NO, "" },
    { "incons-gap-before-eocd.zip",              OK,  1,  1, OK,    NO, "" },
    { "incons-gap-before-local.zip",             OK,  2,  2, OK,    NO, "" },
    { "incons-local-compression-method.zip",     C,   0,  0, C,      0, "the header of 'a' and its entry in the directory dif" },
    { "incons-local-compsize-larger.zip",        C,   0,  0, C,      0, "the header of 'a' and its entry in the directory dif" },
    { "incons-local-compsize-smaller.zip",       C,   0,  0, C,      0, "the header of 'aaaaaaaaa' and its entry in the direc" },
    { "incons-local-crc.zip",                    C,   0,  0, C,      0, "the header of 'a' and its entry in the directory dif" },
    { "incons-local-filename-long.zip",          C,   0,  0, C,      0, "the name of a member reaches beyond byte 60" },
    { "incons-local-filename-missing.zip",       C,   0,  0, C,      0, "the header of 'a' and its entry in the directory dif" },
    { "incons-local-filename-short.zip",         C,   0,  0, C,      0, "the header of 'a' and its entry in the directory dif" },
    { "incons-local-filename.zip",               C,   0,  0, C,      0, "the header of 'a' and its entry in the directory dif" },
    { "incons-local-magic-bad.zip",              C,   0,  0, C,      0, "expected the header of a member, found the bytes 40" },
    { "incons-local-size-larger.zip",            C,   0,  0, C,      0, "the header of 'a' and its entry in the directory dif" },
    { "incons-stored-size.zip",                  OK,  1,  0, C,      0, "the member 'test' is stored, but takes 4 bytes for 3" },
    { "incons-streamed-2.zip",                   OK,  1,  1, OK,    NO, "" },
    { "incons-streamed.zip",                     OK,  1,  1, OK,    NO, "" },
    { "incons-trailing-garbage.zip",             OK,  1,  0, C,      0, "the deflated bytes of 'test' end 16 bytes before the" },
    { "incons-zip64-checkcons-overflow.zip",     C,   0,  0, C,     51, "the member 'A' takes 18446744073709551615 bytes from" },
    { "junk-at-end.zip",                         OK,  3,  3, OK,    NO, "" },
    { "junk-at-start.zip",                       C,   0,  0, C,    188, "expected entry 0 of the directory, which ends at byt" },
    { "lzma-no-eos.zip",                         OK,  1,  0, U,      0, "the member 'testfile-with-eos.data' is packed by met" },
    { "mtime-default.zip",                       OK,  1,  1, OK,    NO, "" },
    { "mtime-dstpoint-deflated.zip",             OK,  1,  1, OK,    NO, "" },
    { "mtime-dstpoint.zip",                      OK,  1,  1, OK,    NO, "" },
    { "mtime-post-dstpoint-deflated.zip",        OK,  1,  1, OK,    NO, "" },
    { "mtime-post-dstpoint.zip",                 OK,  1,  1, OK,    NO, "" },
    { "mtime-pre-dstpoint-deflated.zip",         OK,  1,  1, OK,    NO, "" },
    { "mtime-pre-dstpoint.zip",                  OK,  1,  1, OK,    NO, "" },
    { "multidisk.zip",                           U,   0,  0, U,    100, "the file is a part of an archive of several files" },
    { "rename_ok.zip",                           OK,  4,  4, OK,    NO, "" },
    { "stored-no-eos.zip",                       OK,  1,  1, OK,    NO, "" },
    { "streamed-zip64.zip",                      OK,  1,  1, OK,    NO, "" },
    { "streamed.zip",                            OK,  1,  1, OK,    NO, "" },
    { "test-cp437-comment-utf-8.zip",            OK, 16, 16, OK,    NO, "" },
    { "test-cp437-fc-utf-8-filename.zip",        OK,  1,  1, OK,    NO, "" },
    { "test-cp437-fc.zip",                       OK,  1,  1, OK,    NO, "" },
    { "test-cp437.zip",                          OK, 16, 16, OK,    NO, "" },
    { "test-utf8-unmarked.zip",                  OK,  1,  1, OK,    NO, "" },
    { "test-utf8.zip",                           OK,  1,  1, OK,    NO, "" },
    { "test.zip",                                OK,  3,  3, OK,    NO, "" },
    { "test2.zip",                               OK,  1,  1, OK,    NO, "" },
    { "test_open_multiple.zip",                  OK,  1,  1, OK,    NO, "" },
    { "testbuffer.zip",                          OK,  1,  1, OK,    NO, "" },
    { "testbuffer_reopen.zip",                   OK,  2,  2, OK,    NO, "" },
    { "testbzip2.zip",                           OK,  1,  0, U,      0, "the member 'abac-repeat.txt' is packed by method 12," },
    { "testbzip2broken.zip",                     OK,  1,  0, U,      0, "the member 'abac-repeat.txt' is packed by method 12," },
    { "testchanged.zip",                         OK,  4,  4, OK,    NO, "" },
    { "testchangedlocal.zip",                    OK,  4,  4, OK,    NO, "" },
    { "testcomment.zip",                         OK,  4,  4, OK,    NO, "" },
    { "testcomment13.zip",                       OK,  2,  2, OK,    NO, "" },
    { "testcommentremoved.zip",                  OK,  4,  4, OK,    NO, "" },
    { "testdeflated.zip",                        OK,  1,  1, OK,    NO, "" },
    { "testdeflated2.zip",                       OK,  2,  2, OK,    NO, "" },
    { "testdir.zip",                             OK,  2,  2, OK,    NO, "" },
    { "testempty.zip",                           OK,  0,  0, OK,    NO, "" },
    { "testextrabytes.zip",                      OK,  1,  1, OK,    NO, "" },
    { "testfile-UTF8.zip",                       OK,  1,  1, OK,    NO, "" },
    { "testfile-cp437.zip",                      OK,  1,  1, OK,    NO, "" },
    { "testfile-ef.zip",                         OK,  1,  1, OK,    NO, "" },
    { "testfile-long-comment.zip",               OK,  1,  1, OK,    NO, "" },
    { "testfile-lzma.zip",                       OK,  1,  0, U,      0, "the member 'abac-repeat.txt' is packed by method 14," },
    { "testfile-plus-extra.zip",                 OK,  1,  1, OK,    NO, "" },
    { "testfile-stored-dos.zip",                 OK,  1,  1, OK,    NO, "" },
    { "testfile-torrentzip-modified.zip",        OK,  1,  1, OK,    NO, "" },
    { "testfile-torrentzip.zip",                 OK,  1,  1, OK,    NO, "" },
    { "testfile-truncated.zip",                  OK,  1,  1, OK,    NO, "" },
    { "testfile-xz.zip",                         OK,  1,  0, U,      0, "the member 'abac-repeat.txt' is packed by method 95," },
    { "testfile-zstd.zip",                       OK,  1,  0, U,      0, "the member 'abac-repeat.txt' is packed by method 93," },
    { "testfile.zip",                            OK,  1,  1, OK,    NO, "" },
    { "testfile0.zip",                           OK,  1,  1, OK,    NO, "" },
    { "testfile2014.zip",                        OK,  1,  1, OK,    NO, "" },
    { "teststdin.zip",                           OK,  1,  1, OK,    NO, "" },
    { "teststored.zip",                          OK,  1,  1, OK,    NO, "" },
    { "utf-8-standardization-input.zip",         OK,  1,  1, OK,    NO, "" },
    { "utf-8-standardization-output.zip",        OK,  1,  1, OK,    NO, "" },
    { "zip-in-archive-comment.zip",              C,   0,  0, C,     42, "expected entry 0 of the directory, which ends at byt" },
    { "zip64-3mf.zip",                           OK,  1,  1, OK,    NO, "" },
    { "zip64-in-archive-comment.zip",            C,   0,  0, C,    286, "the 64-bit record is not at byte 100" },
    { "zip64.zip",                               OK,  1,  1, OK,    NO, "" },
    { "zipcmp_zip_dir.zip",                      OK,  3,  3, OK,    NO, "" },
};

static void check(const archive *a, const char *path) {
    size_t size, n_read = 0;
    uint8_t *bytes = scratch_get(path, &size);
    if (!bytes) fail_msg("%s is missing", path);
    xir_context *ctx = xir_context_new(NULL);
    xir_diags *why = xir_diags_new(ctx);
    blob *whole = blob_borrow(&memory_default, bytes, size, false, NULL, NULL);
    zip_archive z;
    xir_status opened = zip_open(&z, &memory_default, whole, xir_str_of(a->name), 8 << 20, why), refusal = opened;
    size_t n = opened ? 0 : z.n;
    for (size_t i = 0; i < n; i++) {
        blob *content = zip_take(&z, &z.members[i], true);
        n_read += content != NULL;
        blob_release(content);
        if (!refusal) refusal = z.status;
        z.status = XIR_OK;
    }
    const size_t findings = xir_diags_count(why);
    const xir_diag *d = findings ? xir_diags_at(why, 0) : NULL;
    if (opened != a->opened || n != a->members || n_read != a->read || refusal != a->refusal ||
        (d ? d->byte : XIR_NO_BYTE) != a->byte ||
        strncmp(d ? d->message.data : "", a->sentence, strlen(a->sentence)) != 0) {
        fail_msg("%s: %s, %zu members, %zu read, %s at byte %lld: %s", a->name, xir_status_name(opened), n, n_read,
                 xir_status_name(refusal), d ? (long long)d->byte : -1, d ? d->message.data : "");
    }
    assert_true((findings > 0) == (refusal != XIR_OK));
    zip_close(&z);
    blob_release(whole);
    xir_diags_free(why);
    xir_context_free(ctx);
    free(bytes);
}

/* Every archive of the folder has a row. */
static void archives_of_libzip(void **state) {
    const char *corpus = CORPUS_OR_SKIP();
    char path[4096];
    (void)state;
    for (size_t i = 0; i < COUNT(table); i++) {
        snprintf(path, sizeof path, "%s/zip/%s", corpus, table[i].name);
        check(&table[i], path);
    }
    snprintf(path, sizeof path, "%s/zip", corpus);
    assert_int_equal(scratch_count_in(path), COUNT(table));
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(archives_of_libzip) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
