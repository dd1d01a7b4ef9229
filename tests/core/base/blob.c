/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Blobs: bytes with an owner, and parts of them, which keep the whole alive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "graph.h"
#include "support/program.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* Counts releases. */
typedef struct lender { int released; } lender;
static void release(void *user, const void *data) {
    lender *l = user;
    (void)data;
    l->released++;
}

static void a_part_keeps_the_whole(void **state) {
    (void)state;
    lender l = { 0 };
    static const uint8_t bytes[100] = { [40] = 7 };
    blob *whole = blob_borrow(&memory_default, bytes, 100, true, release, &l);
    blob *part = blob_part(whole, 40, 10), *piece = blob_part(part, 0, 1);
    blob *keeper = blob_new(&memory_default, 3 * sizeof(blob));
    blob *heads = (blob *)(uintptr_t)keeper->bytes;
    keeper->parent = whole;
    blob_retain(whole);
    for (int i = 0; i < 3; i++) blob_part_in(&heads[i], keeper, whole, 40, 1);
    blob_retain_many(keeper, 3);
    blob_release(keeper);
    blob_release(whole);
    blob_release(part);
    assert_int_equal(*piece->bytes, 7);
    assert_true(piece->mapped);
    assert_false(blob_is_mine(piece));
    blob_release(piece);
    assert_int_equal(l.released, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(*heads[i].bytes, 7);
        assert_false(blob_is_mine(&heads[i]));
    }
    for (int i = 2; i >= 0; i--) blob_release(&heads[i]);
    assert_int_equal(l.released, 1);
    blob_release(NULL);
}

static void owned_bytes_are_aligned_and_may_be_any_number(void **state) {
    (void)state;
    static const uint64_t sizes[] = { 0, 1, 15, 16, 17, 4096, (4 << 20) - 1, 4 << 20, (4 << 20) + 1, (11 << 20) + 5 };
    for (size_t i = 0; i < COUNT(sizes); i++) {
        blob *b = blob_new(&memory_default, sizes[i]);
        assert_non_null(b);
        assert_int_equal((uintptr_t)b->bytes % (sizes[i] >= 4 << 20 ? 2 << 20 : 16), 0);
        assert_true(blob_is_mine(b));
        memset((void *)(uintptr_t)b->bytes, 1, (size_t)sizes[i]);
        blob_retain(b);
        assert_false(blob_is_mine(b));
        blob_release(b);
        blob_release(b);
    }
    assert_null(blob_new(&memory_default, UINT64_MAX));
    assert_null(blob_new(&memory_default, INT64_MAX));
    assert_null(blob_new(&memory_default, UINT64_MAX - (2 << 20)));
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_keeps_the_whole),
        cmocka_unit_test(owned_bytes_are_aligned_and_may_be_any_number),
    };
    return cmocka_run_group_tests_name("blob", tests, NULL, NULL);
}
