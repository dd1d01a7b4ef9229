/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Files that a file names: each is opened once and keeps its contents. A refusal says why. Running out of memory
 * leaves nothing open. The paths that lead elsewhere are tested in onnx_external. */
#include <sys/stat.h>
#include "named_files.h"
#include "support/net.h"
#include "support/scratch.h"

static named_files of(const char *path, bool lazy) {
    named_files files = { .ctx = ctx, .alloc = context_alloc(ctx), .path = path, .lazy = lazy, .most = 100,
                          .why = why };
    named_files_begin(&files);
    return files;
}

static void each_is_opened_once(void **state) {
    (void)state;
    named_fault fault;
    enum { FILES = 40 };   /* more than the table first has room for */
    char *names[FILES];
    for (int i = 0; i < FILES; i++) {
        names[i] = malloc(16);
        snprintf(names[i], 16, "w%d", i);
    }
    for (int lazy = 0; lazy < 2; lazy++) {
        named_files files = of(scratch("model"), lazy);
        for (int i = 0; i < FILES; i++) {
            scratch_put(scratch(names[i]), names[i], strlen(names[i]));
            assert_int_equal(named_files_find(&files, xir_str_of(names[i]), &fault), i);
        }
        for (int i = 0; i < FILES; i++) {
            unlink(scratch(names[i]));
            assert_int_equal(named_files_find(&files, xir_str_of(names[i]), &fault), i);
            const named_file *file = &files.files[i];
            assert_int_equal(file->whole->size, strlen(names[i]));
            assert_memory_equal(file->whole->bytes, names[i], file->whole->size);
        }
        blob *part = blob_part(files.files[7].whole, 1, 1);
        named_files_end(&files);
        assert_int_equal(part->bytes[0], '7');   /* parts are still valid */
        blob_release(part);
        named_files_end(&files);                 /* nothing is left to release */
    }
    for (int i = 0; i < FILES; i++) free(names[i]);
}

static void faults_say_why(void **state) {
    (void)state;
    named_fault fault;
    char large[101] = { 0 };
    scratch_put(scratch("large"), large, sizeof large);
    static const struct { const char *path, *location; xir_status status; bool folder; const char *what; } rows[] = {
        { "model",        "missing", XIR_E_IO,      false, "No such file" },
        { "model",        "../x",    XIR_E_INVALID, false, "\"..\"" },
        { "model",        "/x",      XIR_E_INVALID, false, "root" },
        { "model",        "",        XIR_E_INVALID, false, "empty" },
        { "nowhere/model", "x",      XIR_E_IO,      true,  "cannot open the folder of the model, " },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        named_files files = of(scratch(rows[i].path), false);
        for (int again = 0; again < 2; again++) {   /* a fault leaves no entry in the table */
            assert_int_equal(named_files_find(&files, xir_str_of(rows[i].location), &fault), -1);
            assert_int_equal(fault.status, rows[i].status);
            assert_int_equal(fault.folder, rows[i].folder);
            if (!strstr(fault.what, rows[i].what)) fail_msg("row %zu: %s", i, fault.what);
        }
        named_files_end(&files);
    }
    named_files files = of(scratch("model"), false);
    assert_int_equal(named_files_find(&files, XIR_STR("large"), &fault), -1);
    assert_int_equal(fault.status, XIR_E_LIMIT);
    assert_string_equal(fault.what, "");   /* the finding says it */
    assert_int_equal(xir_diags_count(why), 1);
    xir_diags_clear(why);
    named_files_end(&files);
}

static void without_memory(void **state) {
    (void)state;
    named_fault fault;
    scratch_put(scratch("w"), "w", 1);
    for (size_t n = 0, done = 0; !done; n++) {
        assert_true(n < 100);
        named_files files = of(scratch("model"), false);
        refuse_after(n);
        done = named_files_find(&files, XIR_STR("w"), &fault) == 0;
        bool refused = refuse_end();
        assert_true(done || (refused && fault.status == XIR_E_MEMORY));
        named_files_end(&files);
        xir_diags_clear(why);
    }
}

GROUP {
    scratch_make();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_opened_once),
        cmocka_unit_test(faults_say_why),
        cmocka_unit_test(without_memory),
    };
    return RUN_GROUP(tests);
}
