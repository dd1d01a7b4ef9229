/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Malformed DeepX IR: each text is refused with its status, its line and column, and its message; all errors of a text
 * are found in one run. Texts that the executor would take for something else are read with a warning. Every text
 * truncated at every byte, and with every byte changed, is refused or is a network that comes back. */
#include "support/malformed.h"
#include "support/load_net.h"
#include "support/stored.h"

#define S XIR_E_SYNTAX
#define B XIR_E_BOUNDS
#define L XIR_E_LIMIT
#define U XIR_E_UNSUPPORTED
#define X XIR_E_EXISTS
#define WARNS XIR_OK

#define OPEN "[[[[[[[[[[[[[[[["

static const malformed_text table[] = {
    /* names and arrows */
    { "add(a,b)", S, 1, 9, "expected '->' after the parameters, found the end of the line" },
    { "add(a,b) // id=1", S, 1, 10, "expected '->' after the parameters, found the end of the line" },
    { "add a,b", S, 1, 8, "expected '->' after the parameters, found the end of the line" },
    { "add", S, 1, 4, "expected '->' after the parameters, found the end of the line" },
    { "add(a,b) c->(d)", S, 1, 10, "expected '->' after the parameters, found 'c->(d)'" },
    { "add(a,b)=>(c)", S, 1, 9, "expected '->' after the parameters, found '=>(c)'" },
    { "add(a)->(b)->(c)", S, 1, 12, "expected the end of the line or '//', found '->(c)'" },
    { "add a->b->c", S, 1, 9, "expected the end of the line or '//', found '->c'" },
    { "add(a)->(b) c", S, 1, 13, "expected the end of the line or '//', found 'c'" },
    { "->(b)", S, 1, 1, "expected the name of a function, found '->(b)'" },
    { "(a)->(b)", S, 1, 1, "expected the name of a function, found '(a)->(b)'" },
    { "<x>(a)->(b)", S, 1, 1, "expected the name of a function, found '<x>(a)->(b)'" },
    { ".x(a)->(b)", S, 1, 1, "expected the name of a function, found '.x(a)->(b)'" },
    { "x:y(a)->(b)", S, 1, 2, "expected a blank or '(' after the name, found ':y(a)->(b)'" },
    { "x-y(a)->(b)", S, 1, 2, "expected a blank or '(' after the name, found '-y(a)->(b)'" },
    { "add@float32 t1 t2->t3", U, 1, 4, "'add@' is the spelling of February 2025, which is not read" },
    { "add(a)->(b)\nadd@float32 t1(g1) t2(g2)<-t3(g3)", U, 2, 4, "'add@' is the spelling of February 2025" },
    { " add(a)->(b)", WARNS, 1, 1, "the line begins with a blank: the executor takes the name as empty" },
    { "\tadd(a)->(b)", WARNS, 1, 1, "the line begins with a blank" },
    { "add\t(a)->(b)", WARNS, 1, 4, "a tab follows the name: the executor takes it as part of the name" },
    { "f(var<string>:->)->(b)", WARNS, 1, 15, "the executor takes this as the arrow" },
    { "load(var<string>:/a//b)->()", WARNS, 1, 20, "the executor ends the line at this '//'" },
    { "f(var<string>:\"a,b\")->(c)", WARNS, 1, 17, "the executor splits the parameter at this comma" },
    { "newtensor([3,4])->(c)", WARNS, 1, 13, "the executor splits the parameter at this comma" },

    /* brackets and quotes */
    { "add(a,b->(c)", S, 1, 4, "the bracket '(' is not closed" },
    { "add(a->b", S, 1, 4, "the bracket '(' is not closed" },
    { "add(a)->(b", S, 1, 9, "the bracket '(' is not closed" },
    { "add(a)->(b))", S, 1, 12, "expected the end of the line or '//', found ')'" },
    { "add a)->(b)", S, 1, 6, "the bracket ')' was not opened" },
    { "add([1 2)->(b)", S, 1, 9, "the bracket ')' was not opened" },
    { "add([1 2->(b)", S, 1, 5, "the bracket '[' is not closed" },
    { "add(1 2])->(b)", S, 1, 8, "the bracket ']' was not opened" },
    { "add({a)->(b)", S, 1, 7, "the bracket ')' was not opened" },
    { "add(a})->(b)", S, 1, 6, "the bracket '}' was not opened" },
    { "f(\"a)->(b)", S, 1, 3, "the quote has no end" },
    { "f('a)->(b)", S, 1, 3, "the quote has no end" },
    { "f(var<string>:\"a)->(b)", S, 1, 15, "the quote has no end" },
    { "f(" OPEN OPEN OPEN OPEN "[1)->(b)", L, 1, 67, "more than 64 brackets are open" },

    /* parameters */
    { "add(a,,b)->(c)", S, 1, 7, "a parameter is empty" },
    { "add(,b)->(c)", S, 1, 5, "a parameter is empty" },
    { "add(a,)->(c)", S, 1, 7, "a parameter is empty" },
    { "add(a)->(,)", S, 1, 10, "a parameter is empty" },
    { "add a,->c", S, 1, 7, "a parameter is empty" },
    { "add(a b)->(c)", S, 1, 5, "'a b' is neither a name nor a value" },
    { "add((a))->(c)", S, 1, 5, "'(a)' is neither a name nor a value" },
    { "add(float16 a)->(c)", S, 1, 5, "'float16 a' is neither a name nor a value" },
    { "add(tensor<any>:)->(c)", S, 1, 17, "the parameter 'tensor<any>:' has no value" },
    { "add(tensor<any>:a b)->(c)", S, 1, 17, "'a b' is not the name of a tensor" },
    { "add(tensor<any>:[a])->(c)", S, 1, 17, "'[a]' is not the name of a tensor" },
    { "add(tensor<any>:a<b)->(c)", S, 1, 17, "'a<b' is not the name of a tensor" },

    /* types */
    { "f(tensor<float32:a)->(b)", S, 1, 3, "'tensor<float32' has no '>'" },
    { "f(tensor<:a)->(b)", S, 1, 3, "'tensor<' has no '>'" },
    { "f(tensor<>:a)->(b)", S, 1, 3, "'tensor<>' has no precision between '<' and '>'" },
    { "f(tensor<float32>x:a)->(b)", S, 1, 18, "'x' is after the '>' of a type" },
    { "f(tensor<float32 >:a)->(b)", S, 1, 10, "'float32 ' is not a precision" },
    { "f(tensor<Float32>:a)->(b)", S, 1, 10, "'Float32' is not a precision" },
    { "f(tensor<float31>:a)->(b)", S, 1, 10, "'float31' is not a precision" },
    { "f(tensor<float32|>:a)->(b)", S, 1, 18, "'' is not a precision" },
    { "f(tensor<float32|float32>:a)->(b)", S, 1, 18, "'float32' appears twice in the type" },
    { "f(tensor<float|float16>:a)->(b)", S, 1, 16, "'float16' appears twice in the type" },
    { "f(tensr<any>:a)->(b)", S, 1, 3, "'tensr' is not a category: expected var, vector, tensor or listtensor" },
    { "f(<any>:a)->(b)", S, 1, 3, "'' is not a category" },
    { "f(:a)->(b)", S, 1, 3, "'' is not a category" },
    { "f(var|var<any>:a)->(b)", S, 1, 7, "'var' appears twice in the type" },
    { "f(tensor <any>:a)->(b)", S, 1, 3, "'tensor ' is not a category" },
    { "f(Tensor<float32>:a)->(b)", WARNS, 1, 3, "the type 'Tensor<float32>' has a capital letter" },
    { "f(var<fp8>:1)->(b)", WARNS, 1, 3, "the executor takes the precision of 'var<fp8>' as any" },

    /* metadata */
    { "f(a)->(b) //id=abc", S, 1, 16, "id is not a number: found 'abc'" },
    { "f(a)->(b) // id=12abc", S, 1, 17, "id is not a number: found '12abc'" },
    { "f(a)->(b) // id=", S, 1, 17, "id is not a number: found ''" },
    { "f(a)->(b) // id=-", S, 1, 17, "id is not a number: found '-'" },
    { "f(a)->(b) // id=2147483648", B, 1, 17, "id=2147483648 does not fit into 32 bits" },
    { "f(a)->(b) // id=-2147483649", B, 1, 17, "id=-2147483649 does not fit into 32 bits" },
    { "f(a)->(b) // benchmark.repeat=1.5", S, 1, 31, "benchmark.repeat is not a number: found '1.5'" },
    { "f(a)->(b) // created_at=now", S, 1, 25, "created_at is not a number: found 'now'" },
    { "f(a)->(b) // sent_at=1e", S, 1, 22, "sent_at is not a number: found '1e'" },
    { "f(a)->(b) // recv_at=1e9999", B, 1, 22, "recv_at=1e9999 does not fit into a time" },
    { "f(a)->(b) // id=1 id=2", X, 1, 19, "id appears twice in the metadata" },
    { "f(a)->(b) // author=x author=x", X, 1, 23, "author appears twice in the metadata" },
    { "f(a)->(b) // =x", S, 1, 14, "'=x' in the metadata has no key" },
    { "f(a)->(b) // x", WARNS, 1, 14, "'x' in the metadata is not key=value: the executor ignores it" },

    /* bytes */
    { "\xEF\xBB\xBF" "f(a)->(b)", S, 1, 1, "the text begins with a byte order mark" },
    { "f(a)->(b)\nf(\xFF)->(b)", S, 2, 3, "the text is not UTF-8" },
    { "f(\xC3", S, 1, 3, "the text is not UTF-8" },
    { "f(a\r)->(b)", S, 1, 4, "the line has a control character" },
    { "f(\x01)->(b)", S, 1, 3, "the line has a control character" },
    { "f(a)->(b)\r\n", WARNS, 1, 10, "the line ends with a carriage return" },

    /* blocks */
    { "deepxir f(a: f32)", S, 1, 18, "expected '->', found the end of the text" },
    { "deepxir f(a: f32) -> (b: f32)", S, 1, 30, "expected '{', found the end of the text" },
    { "deepxir f(a: f32) -> (b: f32) {\ng(a)->(b)\n", S, 3, 1, "the block 'f' is not closed" },
    { "deepxir f(a f32) -> () {}", S, 1, 13, "expected ':', found 'f32) -> () {}'" },
    { "deepxir f(a: f32, a: i8) -> () {}", X, 1, 19, "the parameter 'a' appears twice" },
    { "deepxir f(a: f32) -> (a: f32) {}", X, 1, 23, "the parameter 'a' appears twice" },
    { "deepxir f(a: f33) -> () {}", S, 1, 14, "'f33' is not a type" },
    { "deepxir f(a: tensor<3xf33>) -> () {}", S, 1, 23, "'f33' is not an element type" },
    { "deepxir f(a: tensor<3>) -> () {}", S, 1, 22, "expected 'x' after a dim, found '>) -> () {}'" },
    { "deepxir f(a: tensor<?1x?2xf32) -> () {}", S, 1, 30, "expected '>', found ') -> () {}'" },
    { "deepxir f(a: list<f32) -> () {}", S, 1, 22, "expected '>', found ') -> () {}'" },
    { "func f(a: f32|) -> () {}", S, 1, 15, "') -> () {}' is not a type" },
    { "function f(1) -> () {}", S, 1, 13, "expected ':', found ') -> () {}'" },
    { "deepxir f() -> () {\n    g(a)\n}", S, 2, 9, "expected '->' after the parameters, found the end of the line" },
    { "deepxir f() -> () {\n\n  f(a)->(b)\n}", U, 3, 3, "the block 'f' calls itself" },
    { "deepxir f() -> () {} x", S, 1, 22, "expected the end of the line after '}', found 'x'" },
};

static xir_network *read_deepx(const char *text, size_t size) { return stored_read("deepx", text, size); }

static void texts_that_are_refused(void **state) {
    (void)state;
    malformed_try(table, COUNT(table), read_deepx);
}

/* An error does not hide those of other lines. */
static void all_errors_in_one_run(void **state) {
    static const unsigned lines[] = { 1, 3, 4, 7, 9 };
    (void)state;
    assert_null(read_deepx("add(a\nadd(a)->(b)\nadd(a,,b)->(c)\nf(var<x>:1)->()\n\n# note\n->\n"
                           "deepxir f() -> () {\n    g(a)\n}\nadd(b)->(c)\n", 94));
    assert_int_equal(xir_diags_count(why), COUNT(lines));
    for (size_t i = 0; i < COUNT(lines); i++) assert_int_equal(xir_diags_at(why, i)->line, lines[i]);
    xir_diags_clear(why);
}

static void a_zero_byte_is_refused(void **state) {
    (void)state;
    assert_null(read_deepx("f(a\0)->(b)\n", 11));
    check_finding(S, "the text has a byte 0");
}

/* ---- any bytes -------------------------------------------------------------------------------------------------- */

static const char whole[] =
    "# all of it\n"
    "matmul(tensor<float64|float32>:A, tensor<any>:B)->(tensor<any>:C) // author=cblas\n"
    "newtensor (vector<int32>:[3 4]) -> (tensor<float32>:a.1) //  created_at=17447.065\n"
    "concat(listtensor<any>:[a.1 b], var<int32>:-1)->(tensor<float32>:a.1)\n"
    "load(\"/x.y\")->()\n"
    "func f(a: tensor<?1x2xf32>|f32) -> (b: list<bool>) {\n"
    "    g(a, 1e-5, [1 2])-> b   // note\n"
    "}\n"
    "sum a.1,[0 1],true -> s";

static void every_text_truncated_anywhere(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(table); i++)
        for (size_t n = 0; n <= strlen(table[i].text); n++) stored_comes_back("deepx", table[i].text, n);
    for (size_t n = 0; n < sizeof whole; n++) stored_comes_back("deepx", whole, n);
}

static void every_byte_changed(void **state) {
    static const char other[] = " \t\n\r\0()[]{}<>|,:;\"'-/#*=_aT9.?\x80\xFF";
    char text[sizeof whole];
    (void)state;
    memcpy(text, whole, sizeof whole);
    for (size_t i = 0; i + 1 < sizeof whole; i++) {
        for (size_t k = 0; k + 1 < sizeof other; k++) {
            text[i] = other[k];
            stored_comes_back("deepx", text, sizeof whole - 1);
        }
        text[i] = whole[i];
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_that_are_refused),
        cmocka_unit_test(all_errors_in_one_run),
        cmocka_unit_test(a_zero_byte_is_refused),
        cmocka_unit_test(every_text_truncated_anywhere),
        cmocka_unit_test(every_byte_changed),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
