/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Texts of DeepX that are large in one way each: a line, its parameters, the versions of one name, brackets and types
 * in each other. They come back, or are refused with the place. */
#include <stdlib.h>
#include "support/net.h"
#include "support/often.h"
#include "support/stored.h"

enum { LINE = OFTEN(100 << 20), MANY = OFTEN(1000 * 1000) };

/* `before`, `n` times `again`, `after`. */
static buffer text_of(const char *before, size_t n, const char *again, const char *after) {
    const size_t one = strlen(again);
    buffer b;
    buffer_init(&b, &memory_default);
    assert_true(buffer_reserve(&b, strlen(before) + n * one + strlen(after)));
    buffer_str(&b, before);
    if (one == 1) {
        memset(b.data + b.size, *again, n);
        b.size += n;
    }
    for (size_t i = 0; one > 1 && i < n; i++) buffer_put(&b, again, one);
    buffer_str(&b, after);
    return b;
}

static void must_be_refused(buffer b, xir_status code, uint32_t line, uint32_t column, const char *words) {
    assert_null(stored_read("deepx", b.data, b.size));
    const xir_diag *d = xir_diags_at(why, 0);
    assert_int_equal(d->line, line);
    assert_int_equal(d->column, column);
    check_finding(code, words);
    buffer_free(&b);
}

static void must_come_back(buffer b) {
    xir_network *net = stored_must_read("deepx", b.data, b.size);
    xir_diags_clear(why);
    stored_must_be(net, "deepx", b.data, b.size, "the text");
    xir_network_free(net);
    buffer_free(&b);
}

static void a_line_of_100_mb(void **state) {
    (void)state;
    must_be_refused(text_of("f(a)->(b)\n", LINE, "a", ""), XIR_E_SYNTAX, 2, LINE + 1, "expected '->' after");
    must_be_refused(text_of("f(\"", LINE, "a", ")->(b)\n"), XIR_E_SYNTAX, 1, 3, "the quote has no end");
    must_come_back(text_of("print(tensor<float32>:a, var<string>:", LINE, "a", ")->()\n"));
}

static void a_million_parameters(void **state) {
    (void)state;
    must_come_back(text_of("f(a", MANY, ", a", ")->(b)\n"));
    must_come_back(text_of("f(1", MANY, ", 1", ")->(b)\n"));
    must_come_back(text_of("f(a)->(b", MANY / 10, ", b", ")\n"));
    must_come_back(text_of("concat([a", MANY, " a", "], 0)->(b)\n"));
    must_be_refused(text_of("f(a", MANY, ", a", ", )->(b)\n"), XIR_E_SYNTAX, 1, 3 * MANY + 6, "a parameter is empty");
}

static void a_name_that_a_million_lines_make_anew(void **state) {
    (void)state;
    buffer b = text_of("", MANY, "newtensor([2])->(a)\n", "");
    xir_network *net = stored_must_read("deepx", b.data, b.size);
    const xir_value *last = xir_op_output(xir_network_op_at(net, MANY), 0);
    assert_int_equal(xir_map_find(xir_value_tags(last), XIR_STR("deepx.version"))->as.integer, MANY - 1);
    assert_int_equal(xir_op_input_count(xir_network_op_at(net, MANY + 1)), 1);      /* the last one is left */
    stored_must_be(net, "deepx", b.data, b.size, "the text");
    xir_network_free(net);
    buffer_free(&b);
}

static void nesting_without_end(void **state) {
    static const char *const open[] = { "[", "(", "{" };
    char sentence[60];
    (void)state;
    snprintf(sentence, sizeof sentence, "more than %d brackets are open", 64);
    for (size_t i = 0; i < COUNT(open); i++)
        must_be_refused(text_of("f(", MANY, open[i], ""), XIR_E_LIMIT, 1, 67, sentence);
    must_be_refused(text_of("deepxir f(a: ", MANY, "list<", ""), XIR_E_LIMIT, 1, 14 + 32 * 5, "more than 32 types");
    must_be_refused(text_of("func f() -> () {\n", MANY, "g() -> () {\n", ""), XIR_E_SYNTAX, 2, 11,
                    "expected the end of the line or '//', found '{'");
    buffer blocks = text_of("", MANY / 100, "func f() -> () {", "");
    assert_null(stored_read("deepx", blocks.data, blocks.size));
    xir_diags_clear(why);
    buffer_free(&blocks);
}

/* A call of short names takes more memory than 16 times its text. */
static int without_limit(void **state) {
    const int failed = group_begin(state);
    return failed || xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_read_memory = UINT64_MAX), why) != XIR_OK;
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_of_100_mb),
        cmocka_unit_test(a_million_parameters),
        cmocka_unit_test(a_name_that_a_million_lines_make_anew),
        cmocka_unit_test(nesting_without_end),
    };
    return cmocka_run_group_tests(tests, without_limit, group_end);
}
