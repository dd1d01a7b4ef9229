/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Findings: what a list keeps, how it prints, and what happens when memory runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <xir/xir.h>
#include "context.h"
#include "support/program.h"

static xir_context *ctx;
static xir_diags *list;

static int set_up(void **state) {
    (void)state;
    ctx = xir_context_new(NULL);
    list = ctx ? xir_diags_new(ctx) : NULL;
    return list ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    xir_diags_free(list);
    xir_context_free(ctx);
    return 0;
}

static xir_str str(const char *text) { return xir_str_of(text); }

static void check_text(const char *expected, char *text, size_t size) {
    if (size != strlen(expected) || memcmp(text, expected, size) != 0) {
        print_error("expected: %s\nfound:    %.*s\n", expected, (int)size, text);
        fail();
    }
    free(text);
}

/* All findings, as they are printed. */
#define CHECK_PRINTS(expected)                          \
    do {                                                \
        char *text_ = NULL;                             \
        size_t size_ = 0;                               \
        FILE *out_ = open_memstream(&text_, &size_);    \
        xir_diags_print(list, out_);                    \
        fclose(out_);                                   \
        check_text(expected, text_, size_);             \
    } while (0)

/* ---- what a list keeps ------------------------------------------------------------------------------------------ */

static void findings_stay_in_order(void **state) {
    (void)state;
    assert_int_equal(xir_diags_count(list), 0);
    assert_null(xir_diags_at(list, 0));
    assert_int_equal(xir_diags_add(list, XIR_ERROR, XIR_E_BOUNDS, str("/ops/1/stride_width"), "%d is below %d", 0, 1),
                     XIR_E_BOUNDS);
    assert_int_equal(xir_diags_add(list, XIR_WARNING, XIR_OK, str(""), "no raw file next to it"), XIR_OK);
    for (int i = 0; i < 900; i++) xir_diags_add(list, XIR_NOTE, XIR_OK, str("/tags"), "note %d", i);

    assert_int_equal(xir_diags_count(list), 902);
    assert_int_equal(xir_diags_count_of(list, XIR_ERROR), 1);
    assert_int_equal(xir_diags_count_of(list, XIR_WARNING), 1);
    assert_int_equal(xir_diags_count_of(list, XIR_NOTE), 900);
    const xir_diag *first = xir_diags_at(list, 0);
    assert_int_equal(first->severity, XIR_ERROR);
    assert_int_equal(first->code, XIR_E_BOUNDS);
    assert_true(xir_str_equal(first->message, str("0 is below 1")));
    assert_true(xir_str_equal(first->path, str("/ops/1/stride_width")));
    assert_true(first->byte == XIR_NO_BYTE && first->line == 0 && first->file.size == 0);
    assert_true(xir_str_equal(xir_diags_at(list, 901)->message, str("note 899")));
    assert_null(xir_diags_at(list, 902));

    xir_diags_clear(list);
    assert_int_equal(xir_diags_count(list), 0);
    assert_int_equal(xir_diags_count_of(list, XIR_NOTE), 0);
    CHECK_PRINTS("");
}

static void texts_are_copied(void **state) {
    (void)state;
    char path[] = "/ops/7", file[] = "net.json", message[] = "here";
    const xir_diag diag = { .severity = XIR_ERROR, .code = XIR_E_SYNTAX, .message = str(message), .file = str(file),
                            .byte = 12, .line = 3, .column = 4, .path = str(path) };
    assert_int_equal(xir_diags_append(list, &diag), XIR_E_SYNTAX);
    memset(path, '#', sizeof path);
    memset(file, '#', sizeof file);
    memset(message, '#', sizeof message);
    CHECK_PRINTS("net.json:3:4: /ops/7: here\n");
}

static void long_sentences_are_whole(void **state) {
    (void)state;
    char *long_text = malloc(100001);
    memset(long_text, 'x', 100000);
    long_text[100000] = '\0';
    xir_diags_add(list, XIR_ERROR, XIR_E_SYNTAX, str(""), "%s!", long_text);
    assert_int_equal(xir_diags_at(list, 0)->message.size, 100001);
    assert_int_equal(xir_diags_at(list, 0)->message.data[100000], '!');
    free(long_text);
    /* Lengths around the size of the buffer in which short messages are made. */
    for (int n = 510; n <= 514; n++) {
        xir_diags_add(list, XIR_ERROR, XIR_E_SYNTAX, str(""), "%0*d", n, 7);
        const xir_diag *last = xir_diags_at(list, xir_diags_count(list) - 1);
        assert_int_equal(last->message.size, n);
        assert_int_equal(last->message.data[n - 1], '7');
    }
}

/* A file with a fault every few bytes: findings after the list is full are counted. */
static void a_full_list_counts(void **state) {
    (void)state;
    xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_findings = 3), NULL);
    xir_diags *few = xir_diags_new(ctx), *all = list;
    for (int i = 0; i < 5; i++) xir_diags_add(few, XIR_WARNING, XIR_OK, str(""), "warning %d", i);
    assert_int_equal(xir_diags_count(few), 3);
    assert_int_equal(xir_diags_more(few), 2);
    assert_int_equal(xir_diags_count_of(few, XIR_WARNING), 5);
    assert_int_equal(xir_diags_count_of(few, XIR_ERROR), 0);

    /* The first error is kept nevertheless: a call that failed has said why. */
    assert_int_equal(diag_fail(few, XIR_E_TYPE, str(""), "error 1"), XIR_E_TYPE);
    assert_int_equal(diag_fail(few, XIR_E_TYPE, str(""), "error 2"), XIR_E_TYPE);
    xir_diags_append(few, &(xir_diag){ .severity = XIR_NOTE, .byte = XIR_NO_BYTE, .message = XIR_STR("a note") });
    /* and so is the first one that says that memory ran out, so that no other error is taken for the cause */
    assert_int_equal(diag_memory(few), XIR_E_MEMORY);
    assert_int_equal(diag_memory(few), XIR_E_MEMORY);
    assert_int_equal(xir_diags_count(few), 5);
    assert_int_equal(xir_diags_at(few, 3)->code, XIR_E_TYPE);
    assert_int_equal(xir_diags_at(few, 4)->code, XIR_E_MEMORY);
    assert_int_equal(xir_diags_more(few), 5);
    assert_int_equal(xir_diags_count_of(few, XIR_ERROR), 4);
    assert_int_equal(xir_diags_count_of(few, XIR_NOTE), 1);

    list = few;
    CHECK_PRINTS("warning: warning 0\nwarning: warning 1\nwarning: warning 2\nerror 1\nout of memory\nand 5 more\n");
    list = all;
    diags_append(all, few);   /* appending passes the count on */
    assert_int_equal(xir_diags_count(all), 5);
    assert_int_equal(xir_diags_more(all), 5);
    assert_int_equal(xir_diags_count_of(all, XIR_WARNING), 5);

    xir_diags_clear(few);
    assert_int_equal(xir_diags_more(few) + xir_diags_count(few) + xir_diags_count_of(few, XIR_ERROR), 0);
    xir_diags_set_max(few, 0);
    xir_diags_add(few, XIR_NOTE, XIR_OK, str(""), "nothing is kept");
    assert_int_equal(xir_diags_count(few), 0);
    assert_int_equal(xir_diags_more(few), 1);
    assert_int_equal(xir_diags_more(NULL), 0);
    xir_diags_free(few);
}

static xir_status fail_at(xir_diags *why, const xir_diag *at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const xir_status status = diag_failv(why, at, format, args);
    va_end(args);
    return status;
}

/* The text would be read at an address that nothing has. */
static void what_is_only_counted_is_not_formatted(void **state) {
    (void)state;
    const char *nowhere = (const char *)(uintptr_t)8;
    const xir_diag at = { .severity = XIR_ERROR, .code = XIR_E_TYPE, .byte = XIR_NO_BYTE };
    xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_findings = 1), NULL);
    xir_diags *few = xir_diags_new(ctx);
    assert_false(diag_is_counted(few, XIR_ERROR, XIR_E_TYPE));
    diag_fail(few, XIR_E_TYPE, str(""), "%s", "error 1");
    assert_int_equal(fail_at(few, &at, "%s", nowhere), XIR_E_TYPE);
    assert_int_equal(diag_fail(few, XIR_E_TYPE, str(""), "%s", nowhere), XIR_E_TYPE);
    assert_true(diag_is_counted(few, XIR_WARNING, XIR_OK));
    assert_true(diag_is_counted(NULL, XIR_ERROR, XIR_E_TYPE));
    assert_int_equal(xir_diags_count(few), 1);
    assert_int_equal(xir_diags_count_of(few, XIR_ERROR), 3);
    assert_int_equal(xir_diags_count_of(few, XIR_WARNING), 1);
    xir_diags_free(few);
}

static void note_path(void *user, xir_severity severity, xir_str path) {
    char *all = user;
    snprintf(all + strlen(all), 40, "%d%.*s ", (int)severity, (int)path.size, path.data);
}

static void a_watched_list_shows_what_it_does_not_keep(void **state) {
    (void)state;
    char seen[200] = "";
    xir_diags_set_max(list, 1);
    diags_watch(list, note_path, seen);
    assert_false(diag_is_counted(list, XIR_ERROR, XIR_E_TYPE));
    diag_fail(list, XIR_E_TYPE, str("/a"), "kept");
    assert_false(diag_is_counted(list, XIR_ERROR, XIR_E_TYPE));   /* it has to be added, to be seen */
    diag_fail(list, XIR_E_TYPE, str("/b"), "counted");
    xir_diags_append(list, &(xir_diag){ .severity = XIR_NOTE, .byte = XIR_NO_BYTE, .path = XIR_STR("/c") });
    fail_at(list, &(xir_diag){ .severity = XIR_WARNING, .byte = XIR_NO_BYTE, .path = XIR_STR("/d") }, "%d", 1);
    diags_watch(list, NULL, NULL);
    diag_fail(list, XIR_E_TYPE, str("/e"), "not seen");
    assert_string_equal(seen, "0/a 0/b 2/c 1/d ");
    assert_int_equal(xir_diags_count(list), 1);
    assert_int_equal(xir_diags_more(list), 4);
    diags_watch(NULL, note_path, seen);
}

/* Building calls report what they refuse with findings of their own. */
static void the_list_of_a_network_is_never_full(void **state) {
    (void)state;
    xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_findings = 2), NULL);
    xir_network *net = xir_network_new(ctx, "n", XIR_FRAMEWORK_PYTORCH, "v1.9");
    for (int i = 0; i < 5; i++) xir_diags_add(xir_network_diags(net), XIR_ERROR, XIR_E_TYPE, str(""), "%d", i);
    assert_int_equal(xir_diags_count(xir_network_diags(net)), 5);
    xir_network_free(net);
}

static void no_list_takes_the_status(void **state) {
    (void)state;
    const xir_diag diag = { .code = XIR_E_IO };
    assert_int_equal(xir_diags_add(NULL, XIR_ERROR, XIR_E_TYPE, str(""), "%d", 1), XIR_E_TYPE);
    assert_int_equal(xir_diags_append(NULL, &diag), XIR_E_IO);
    assert_int_equal(diag_fail(NULL, XIR_E_LIMIT, str(""), "x"), XIR_E_LIMIT);
    assert_int_equal(diag_memory(NULL), XIR_E_MEMORY);
    assert_int_equal(xir_diags_count(NULL), 0);
    assert_int_equal(xir_diags_count_of(NULL, XIR_ERROR), 0);
    assert_null(xir_diags_at(NULL, 0));
    xir_diags_free(NULL);
}

static void an_unknown_severity_is_an_error(void **state) {
    (void)state;
    xir_diags_add(list, (xir_severity)77, XIR_E_TYPE, str(""), "x");
    xir_diags_append(list, &(xir_diag){ .severity = (xir_severity)-1, .byte = XIR_NO_BYTE, .message = XIR_STR("y") });
    assert_int_equal(xir_diags_count_of(list, XIR_ERROR), 2);
    assert_int_equal(xir_diags_count_of(list, (xir_severity)77), 0);
}

/* ---- how it prints ---------------------------------------------------------------------------------------------- */

static void places_print(void **state) {
    (void)state;
    const struct { xir_diag diag; const char *printed; } rows[] = {
        { { .file = XIR_STR("a.json"), .line = 2, .column = 5, .path = XIR_STR("/ops"), .byte = 9 }, "a.json:2:5: /ops: m\n" },
        { { .file = XIR_STR("a.json"), .line = 2, .byte = XIR_NO_BYTE },                             "a.json:2: m\n" },
        { { .file = XIR_STR("a.raw"), .byte = 0x1F0, .path = XIR_STR("/params/3") },                 "a.raw@0x1f0: /params/3: m\n" },
        { { .file = XIR_STR("a.raw"), .byte = XIR_NO_BYTE },                                         "a.raw: m\n" },
        { { .line = 1, .column = 1, .byte = 0 },                                                     "1:1: m\n" },
        { { .byte = 0 },                                                                             "@0x0: m\n" },
        { { .byte = XIR_NO_BYTE, .path = XIR_STR("/name") },                                         "/name: m\n" },
        { { .byte = XIR_NO_BYTE },                                                                   "m\n" },
        { { .severity = XIR_WARNING, .byte = XIR_NO_BYTE, .path = XIR_STR("/name") },                "/name: warning: m\n" },
        { { .severity = XIR_NOTE, .file = XIR_STR("f"), .byte = XIR_NO_BYTE },                       "f: note: m\n" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        xir_diag diag = rows[i].diag;
        diag.message = str("m");
        xir_diags_clear(list);
        xir_diags_append(list, &diag);
        CHECK_PRINTS(rows[i].printed);
    }
}

static void nothing_in_a_file_drives_a_terminal(void **state) {
    (void)state;
    static const struct { const char *text, *printed; } rows[] = {
        { "plain \"text\" with \\ in it",  "plain \"text\" with \\ in it\n" },
        { "\x1b[2Jclear",                  "\\x1b[2Jclear\n" },
        { "two\nlines\r\ttab",             "two\\x0alines\\x0d\\x09tab\n" },
        { "del \x7f",                      "del \\x7f\n" },
        { "层 é 🙂",                       "层 é 🙂\n" },
        { "C1 \xC2\x9B" "31m",             "C1 \\xc2\\x9b31m\n" },
        { "first after C1 \xC2\xA0",       "first after C1 \xC2\xA0\n" },
        { "bidi \xE2\x80\xAE" "evil \xE2\x81\xA6.",  "bidi \\xe2\\x80\\xaeevil \\xe2\\x81\\xa6.\n" },
        { "marks \xE2\x80\x8E\xE2\x80\x8F\xD8\x9C", "marks \\xe2\\x80\\x8e\\xe2\\x80\\x8f\\xd8\\x9c\n" },
        { "ends \xE2\x80\xAA\xE2\x81\xA9",       "ends \\xe2\\x80\\xaa\\xe2\\x81\\xa9\n" },
        { "lines \xE2\x80\xA8\xE2\x80\xA9",      "lines \\xe2\\x80\\xa8\\xe2\\x80\\xa9\n" },
        { "others \xE2\x80\x8D \xE2\x80\xA7 \xE2\x80\xAF \xE2\x81\xA5 \xE2\x81\xAA \xD8\x9B \xD8\x9D",
          "others \xE2\x80\x8D \xE2\x80\xA7 \xE2\x80\xAF \xE2\x81\xA5 \xE2\x81\xAA \xD8\x9B \xD8\x9D\n" },
        { "lone \x9B \xBF",                "lone \\x9b \\xbf\n" },
        { "cut \xE5\xB1",                  "cut \\xe5\\xb1\n" },
        { "cut, then text \xF0\x9F\x99z",  "cut, then text \\xf0\\x9f\\x99z\n" },
        { "overlong \xC0\xAF \xE0\x80\xAF \xF0\x80\x80\xAF", "overlong \\xc0\\xaf \\xe0\\x80\\xaf \\xf0\\x80\\x80\\xaf\n" },
        { "surrogate \xED\xA0\x80",        "surrogate \\xed\\xa0\\x80\n" },
        { "above \xF4\x90\x80\x80 \xF5\xFF", "above \\xf4\\x90\\x80\\x80 \\xf5\\xff\n" },
        { "edges \xEF\xBF\xBF \xF4\x8F\xBF\xBF \xED\x9F\xBF", "edges \xEF\xBF\xBF \xF4\x8F\xBF\xBF \xED\x9F\xBF\n" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        xir_diags_clear(list);
        xir_diags_add(list, XIR_ERROR, XIR_E_SYNTAX, str(""), "%s", rows[i].text);
        CHECK_PRINTS(rows[i].printed);
    }
    xir_diags_clear(list);
    xir_diags_append(list, &(xir_diag){ .file = XIR_STR("a\nb"), .path = { "/\0x", 3 }, .line = 1, .column = 2,
                                        .message = XIR_STR("m") });
    CHECK_PRINTS("a\\x0ab:1:2: /\\x00x: m\n");
}

static ssize_t count_write(void *user, const char *data, size_t size) {
    (void)data;
    ++*(size_t *)user;
    return (ssize_t)size;
}

/* Standard error is not buffered: each piece that is printed is a write. */
static void many_findings_take_few_writes(void **state) {
    (void)state;
    enum { FINDINGS = 20000, WRITES = 1000 };
    size_t writes = 0;
    FILE *out = fopencookie(&writes, "w", (cookie_io_functions_t){ .write = count_write });
    assert_non_null(out);
    setvbuf(out, NULL, _IONBF, 0);
    xir_diags_set_max(list, FINDINGS);
    for (int i = 0; i < FINDINGS; i++) {
        xir_diags_append(list, &(xir_diag){ .file = XIR_STR("net.json"), .line = 1, .column = 3,
                                            .path = XIR_STR("/ops/7/inputs/1"), .message =
            XIR_STR("icraft::xir::Relu 'stem/\xC3\xA9\n': an input is absent and not optional, or no op of the network makes it") });
    }
    xir_diags_print(list, out);
    assert_in_range(writes, 1, WRITES);
    writes = 0;
    xir_diag_print(xir_diags_at(list, 0), out);
    assert_int_equal(writes, 1);
    fclose(out);
}

/* A failed call names its place in the program. */
static void a_failed_call_names_the_callers_line(void **state) {
    (void)state;
    xir_network *net = xir_network_new(ctx, "n", XIR_FRAMEWORK_PYTORCH, "v1.9");
    xir_at at = XIR_AT(net);
    const xir_type *fp32 = xir_type_float(ctx, XIR_FLOAT_FP32);
    xir_value *x = xir_input(at, "image", XIR_TENSOR(ctx, fp32, "NHWC", 1, 3, 3, 4));
    xir_value *w = xir_params_new(net, XIR_STR("w"), XIR_TENSOR(ctx, fp32, "HWIO", 5, 5, 4, 8));
    int line = __LINE__ + 1;
    x = XIR_CONV2D(at, .input = x, .weights = w, .name = "conv1");
    assert_null(x);
    x = XIR_RELU(at, x);   /* adds no finding of its own */
    assert_null(x);

    assert_int_equal(xir_network_status(net), XIR_E_INVALID);
    assert_int_equal(xir_diags_count(xir_network_diags(net)), 1);
    const xir_diag *diag = xir_diags_at(xir_network_diags(net), 0);
    assert_int_equal(diag->line, line);
    assert_true(xir_str_equal(diag->file, str(__FILE__)));
    assert_true(xir_str_equal(diag->message,
                              str("icraft::xir::Conv2d 'conv1': a kernel of 5 rows with dilation 1 does not fit "
                                  "into 3 rows with padding of 0")));
    xir_network_free(net);
}

/* ---- without memory --------------------------------------------------------------------------------------------- */

typedef struct tight { size_t left; bool refuse; } tight;

static void *tight_resize(void *user, void *block, size_t old_size, size_t size) {
    tight *t = user;
    (void)old_size;
    if (size == 0) {
        free(block);
        return NULL;
    }
    if (t->refuse && t->left == 0) return NULL;
    if (t->refuse) t->left--;
    return realloc(block, size);
}

static void adding_never_fails(void **state) {
    (void)state;
    for (size_t allowed = 0; allowed < 8; allowed++) {
        tight t = { 0 };
        const xir_allocator alloc = { tight_resize, &t };
        xir_context *small = xir_context_new(&alloc);
        xir_diags *diags = xir_diags_new(small);
        xir_diags_add(diags, XIR_NOTE, XIR_OK, str(""), "before");
        t = (tight){ .left = allowed, .refuse = true };
        for (int i = 0; i < 300; i++) {
            assert_int_equal(xir_diags_add(diags, XIR_WARNING, XIR_E_TYPE, str("/p"), "finding %d", i), XIR_E_TYPE);
        }
        assert_int_equal(xir_diags_add(diags, XIR_ERROR, XIR_E_CORRUPT, str("/p"), "worst"), XIR_E_CORRUPT);
        assert_int_equal(diag_memory(diags), XIR_E_MEMORY);
        t.refuse = false;
        xir_diags_add(diags, XIR_NOTE, XIR_OK, str(""), "after");

        size_t n = xir_diags_count(diags), lost = 0;
        assert_true(xir_str_equal(xir_diags_at(diags, 0)->message, str("before")));
        assert_true(xir_str_equal(xir_diags_at(diags, n - 1)->message, str("after")));
        assert_true(xir_diags_count_of(diags, XIR_ERROR) >= 1);
        assert_int_equal(xir_diags_count_of(diags, XIR_ERROR) + xir_diags_count_of(diags, XIR_WARNING) +
                         xir_diags_count_of(diags, XIR_NOTE), n);
        for (size_t i = 0; i < n; i++) {
            const xir_diag *d = xir_diags_at(diags, i);
            bool here = d->message.size > 13 && memcmp(d->message.data, "out of memory", 13) == 0;
            lost += here;
            if (here) assert_true(d->severity == XIR_ERROR && d->code == XIR_E_CORRUPT);
        }
        assert_true(lost <= 1);
        if (allowed == 0) assert_int_equal(lost, 1);
        xir_diags_free(diags);
        xir_context_free(small);
    }
}

static void a_list_without_memory_is_null(void **state) {
    (void)state;
    tight t = { 0 };
    const xir_allocator alloc = { tight_resize, &t };
    xir_context *small = xir_context_new(&alloc);
    t.refuse = true;
    assert_null(xir_diags_new(small));
    t.refuse = false;
    xir_context_free(small);
}

static void every_status_has_a_name(void **state) {
    (void)state;
    for (int i = 0; i < XIR_STATUS_COUNT; i++) {
        assert_true(strlen(xir_status_name((xir_status)i)) > 1);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(xir_status_name((xir_status)i), xir_status_name((xir_status)k));
    }
    assert_string_equal(xir_status_name(XIR_E_BOUNDS), "bounds");
    assert_string_equal(xir_status_name(XIR_STATUS_COUNT), "?");
    assert_string_equal(xir_status_name((xir_status)-1), "?");
    char version[40];
    snprintf(version, sizeof version, "%d.%d.%d", XIR_VERSION_MAJOR, XIR_VERSION_MINOR, XIR_VERSION_PATCH);
    assert_string_equal(xir_version(), version);
    assert_true(xir_str_equal(xir_str_of(NULL), XIR_STR("")));
    assert_false(xir_str_equal(XIR_STR("a"), XIR_STR("b")));
    assert_false(xir_str_equal(XIR_STR("a"), XIR_STR("ab")));
}

#define STORY(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

GROUP {
    const struct CMUnitTest tests[] = {
        STORY(findings_stay_in_order),
        STORY(texts_are_copied),
        STORY(long_sentences_are_whole),
        STORY(a_full_list_counts),
        STORY(what_is_only_counted_is_not_formatted),
        STORY(a_watched_list_shows_what_it_does_not_keep),
        STORY(the_list_of_a_network_is_never_full),
        STORY(no_list_takes_the_status),
        STORY(an_unknown_severity_is_an_error),
        STORY(places_print),
        STORY(nothing_in_a_file_drives_a_terminal),
        STORY(many_findings_take_few_writes),
        STORY(a_failed_call_names_the_callers_line),
        STORY(adding_never_fails),
        STORY(a_list_without_memory_is_null),
        STORY(every_status_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
