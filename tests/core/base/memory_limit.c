/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The limit of the memory that a thread holds: what counts, what is refused, and what findings say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <xir/xir.h>
#include "context.h"
#include "memory_limit.h"
#include "support/program.h"
#include "support/scratch.h"
#include "file.h"

enum { KIB = 1 << 10 };

static void blocks_count_until_they_are_freed(void **state) {
    memory_limit l;
    (void)state;
    assert_int_equal(memory_limit_left(), SIZE_MAX);
    memory_limit_begin(&l, 100 * KIB, 2, 10 * KIB);   /* the file counts already */
    void *a = mem_new(&memory_default, 60 * KIB);
    assert_non_null(a);
    assert_false(memory_limit_exceeded());
    assert_null(mem_new(&memory_default, 60 * KIB));
    assert_true(memory_limit_exceeded());
    assert_in_range(memory_limit_left(), 49 * KIB, 50 * KIB);
    void *more = mem_grow(&memory_default, a, 60 * KIB, 100 * KIB);
    assert_non_null(more);
    assert_null(mem_grow(&memory_default, more, 100 * KIB, 200 * KIB));   /* the block stays */
    mem_free(&memory_default, more, 100 * KIB);
    assert_int_equal(memory_limit_left(), 110 * KIB);
    memory_limit_end(&l);
    assert_int_equal(memory_limit_left(), SIZE_MAX);
    void *large = mem_new(&memory_default, 1000 * KIB);
    assert_non_null(large);
    mem_free(&memory_default, large, 1000 * KIB);
}

/* Each piece counts with what an allocator needs for it. */
static void many_small_blocks_count_as_more(void **state) {
    enum { MANY = 4000 };
    void *blocks[MANY];
    memory_limit l;
    size_t n = 0;
    (void)state;
    memory_limit_begin(&l, 100 * KIB, 2, 0);
    while (n < MANY && (blocks[n] = mem_new(&memory_default, 8))) n++;
    assert_in_range(n, 100 * KIB / 40, 100 * KIB / 24);
    for (size_t i = 0; i < n; i++) mem_free(&memory_default, blocks[i], 8);
    memory_limit_end(&l);
}

static void an_arena_uses_nearly_all_of_it(void **state) {
    memory_limit l;
    arena a;
    size_t taken = 0;
    (void)state;
    arena_init(&a, &memory_default);
    memory_limit_begin(&l, 8 << 20, 2, 0);
    while (arena_take(&a, 256)) taken += 256;   /* each is a block of its own for a sanitizer */
    assert_in_range(taken, 7 << 20, 8 << 20);
    arena_free(&a);
    memory_limit_end(&l);
}

static void findings_say_the_limit_once(void **state) {
    (void)state;
    memory_limit l;
    xir_context *ctx = xir_context_new(NULL);
    xir_diags *why = xir_diags_new(ctx);
    memory_limit_begin(&l, 100 * KIB, 16, 3);
    assert_null(mem_new(&memory_default, 200 * KIB));
    assert_int_equal(diag_memory(NULL), XIR_E_MEMORY);
    assert_int_equal(diag_memory(why), XIR_E_MEMORY);
    assert_int_equal(diag_memory(why), XIR_E_MEMORY);
    assert_true(l.said);
    memory_limit_end(&l);
    assert_int_equal(xir_diags_count(why), 1);
    assert_int_equal(xir_diags_at(why, 0)->code, XIR_E_LIMIT);
    assert_string_equal(xir_diags_at(why, 0)->message.data, "more than 102448 bytes of memory are needed: the limit is "
                        "102400, and 16 for each byte of the file");
    diag_memory(why);
    assert_int_equal(xir_diags_at(why, 1)->code, XIR_E_MEMORY);
    xir_diags_free(why);
    xir_context_free(ctx);
}

/* Files that a task opens count, and let it hold more. */
static void files_raise_it(void **state) {
    (void)state;
    const char *path = scratch("raises");
    static char bytes[40 * KIB];
    memory_limit l;
    xir_context *ctx = xir_context_new(NULL);
    scratch_put(path, bytes, sizeof bytes);
    for (int mapped = 0; mapped < 2; mapped++) {
        file_reader r;
        memory_limit_begin(&l, 100 * KIB, 2, 0);
        assert_int_equal(file_reader_open(&r, ctx, path, NULL), XIR_OK);
        assert_int_equal(memory_limit_left(), 180 * KIB);
        blob *b = mapped ? file_reader_map(&r) : file_reader_all(&r, UINT64_MAX);
        assert_non_null(b);
        assert_in_range(memory_limit_left(), 139 * KIB, 140 * KIB);
        blob_release(b);
        assert_int_equal(memory_limit_left(), 180 * KIB);
        file_reader_close(&r);
        memory_limit_end(&l);
    }
    xir_context_free(ctx);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_count_until_they_are_freed), cmocka_unit_test(many_small_blocks_count_as_more),
        cmocka_unit_test(an_arena_uses_nearly_all_of_it),    cmocka_unit_test(findings_say_the_limit_once),
        cmocka_unit_test(files_raise_it),
    };
    scratch_make();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
