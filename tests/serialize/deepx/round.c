/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* DeepX IR that is read and written comes back byte for byte, also through every other format, and so does every file
 * of the corpus; after a change only what changed is another. Values of one name follow each other, and types follow
 * from what the calls do. */
#include <glob.h>
#include <xir/deepx.h>
#include "support/kept.h"
#include "support/load_net.h"
#include "support/skips.h"
#include "support/stored.h"
#include "graph.h"

static xir_network *read_deepx(xir_str text) {
    xir_network *net = stored_must_read("deepx", text.data, text.size);
    xir_diags_clear(why);
    return net;
}

static void must_be_written(xir_network *net, xir_str text) {
    stored_must_be(net, "deepx", text.data, text.size, "the text");
}

static void must_come_back(xir_str text) {
    static const char *const others[] = { "json", "imodel", "fb" };
    xir_network *net = read_deepx(text);
    must_be_written(net, text);
    for (size_t i = 0; i < COUNT(others); i++) {
        buffer between = stored_as(net, others[i]);
        xir_network *again = xir_network_read(ctx, between.data, between.size, XIR_STR("x"),
                                              &XIR_INIT(xir_load_options, .format = others[i]), why);
        assert_non_null(again);
        must_be_written(again, text);
        xir_network_free(again);
        buffer_free(&between);
    }
    xir_network_free(net);
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static const char *const files[] = {
    "",
    "\n\n# nothing\n",
    /* as front ends send */
    "newtensor (vector<int32>:[3 4]) -> (tensor<float32>:0) //  created_at=1744724799.06\n"
    "constant (var<int32>:1) -> (tensor<float32>:0) // author=miaobyte  created_at=1744724799.07\n"
    "print (tensor<float32>:0, var<string>:%.4f) -> () // author=miaobyte  created_at=1744724799.08\n",
    /* as the executor prints */
    "concat(listtensor<float32>:[a b c], var<int32>:1)->(tensor<float32>:d)\ndeltensor()->(tensor<any>:d)\n",
    /* without types, and the first description */
    "matmul(A, B)->(C)\nsum(A, [1 2 3], true)->(B) //id=1\nargset(1.5)->(v)\n",
    "matmul A,B -> C\nsum(A,[1 2 3]) -> B\nnewtensor 3 4 5 -> T1\nprint t ->\nnow -> t\n",
    /* definitions, alone and between calls */
    "matmul(tensor<float64|float32>:A, tensor<any>:B)->(tensor<any>:C) // author=cblas\nload(var<string>:path)->()\n",
    "f(a)->(b)\n# text\nmatmul(Tensor<float32|float64> A, Tensor<any> B) -> Tensor<any> C\n\n```\nf(b)->(a)",
    /* blocks */
    ("deepxir mean(A: tensor<?1x?2xf32>, axis: list<i32>) -> (m: tensor<?1xf32>) {\n\n"
     "    sum(A, axis, false) -> (m)\n}\nmean(x, [1])->(y)\nfunc g() -> () {}\n"),
    /* other blanks, in all places */
    "f  (  a,b  )->(c)  //x=1  \nf(a ,b) ->(c)\r\n   f(a, b)->(c)   \nf()->()\n",
    /* paths, texts, names */
    "load(\"a/b.c\")->()\nsave(tensor<any>:\xC3\xA4.1, var<string>:/tmp/a//b->c)->()\nf('a, b', 1, [x y])->()\n",
    "renametensor(var<string>:b)->(tensor<float32>:a)\ncopytensor(tensor<any>:b)->(tensor<any>:b)\n",
};

static void files_come_back(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) must_come_back(xir_str_of(files[i]));
}

static void files_of_the_corpus(void **state) {
    const char *corpus = CORPUS_OR_SKIP();
    char pattern[PATH_MAX];
    glob_t found = { 0 };
    size_t n = 0;
    (void)state;
    for (int i = 0; i < 2; i++) {
        snprintf(pattern, sizeof pattern, "%s/deepx/%s*.ir", corpus, i ? "values/" : "");
        assert_int_equal(glob(pattern, i ? GLOB_APPEND : 0, NULL, &found), 0);
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        if (strstr(path, "/edge.ir") || strstr(path, "/test_1_tf.ir")) continue;   /* texts that are malformed */
        size_t size;
        uint8_t *text = scratch_get(path, &size);
        xir_network *net = xir_network_load(ctx, path, NULL, why);
        if (!net || xir_diags_count(why)) {
            xir_diags_print(why, stderr);
            fail_msg("%s: expected no finding", path);
        }
        xir_network_free(net);
        must_come_back((xir_str){ (const char *)text, size });
        free(text);
        n++;
    }
    globfree(&found);
    assert_true(n > 70);
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static const xir_value *output(const xir_network *net, int64_t op) {
    return xir_op_output(xir_network_op_at(net, op), 0);
}

static void values_of_one_name(void **state) {
    static const char text[] = "newtensor (vector<int32>:[3 4]) -> (tensor<float32>:a)\n"
                               "constant (var<int32>:1) -> (tensor<float32>:a)\n"
                               "add (tensor<float32>:a, tensor<float32>:x) -> (tensor<float32>:a)\n"
                               "reshape (tensor<float32>:a, vector<int32>:[12]) -> (tensor<float32>:a)\n"
                               "renametensor (var<string>:b) -> (tensor<float32>:a)\n"
                               "newtensor (vector<int32>:[2]) -> (tensor<bool>:a)\n"
                               "deltensor () -> (tensor<bool>:a)\n";
    (void)state;
    xir_network *net = read_deepx((xir_str){ text, sizeof text - 1 });
    const xir_op *add = xir_network_op_at(net, 3);
    assert_int_equal(xir_op_input_count(add), 3);
    assert_ptr_equal(xir_op_input(add, 0), output(net, 2));
    assert_ptr_equal(xir_op_input(add, 1), output(net, 0));    /* nothing makes x: it is an input */
    assert_ptr_equal(xir_op_input(add, 2), output(net, 2));    /* what a was before */
    assert_true(xir_str_equal(xir_value_name(output(net, 3)), XIR_STR("a")));
    assert_int_equal(xir_map_find(xir_value_tags(output(net, 3)), XIR_STR("deepx.version"))->as.integer, 2);
    assert_int_equal(xir_type_dim(xir_value_type(output(net, 3)), 1, false), 4);
    assert_int_equal(xir_type_rank(xir_value_type(output(net, 4))), 1);
    assert_true(xir_str_equal(xir_value_name(output(net, 5)), XIR_STR("b")));
    assert_int_equal(xir_type_dim(xir_value_type(output(net, 5)), 0, false), 12);
    const xir_op *results = xir_network_op_at(net, 8);
    assert_int_equal(xir_op_input_count(results), 1);          /* b is left */
    assert_ptr_equal(xir_op_input(results, 0), output(net, 5));
    xir_network_free(net);
}

/* A changed op has its line printed; the others are unchanged. */
static void a_change_alone(void **state) {
    static const char text[] = "f( a,b )->(c)\n# note\nf( c,a )->(d)\n";
    (void)state;
    xir_network *net = read_deepx((xir_str){ text, sizeof text - 1 });
    xir_value *b = xir_network_value_by_name(net, XIR_STR("b"));
    assert_non_null(b);
    assert_int_equal(xir_value_set_name(b, XIR_STR("e")), XIR_OK);
    buffer out = stored_as(net, "deepx");
    assert_true(out.size > 0 && memcmp(out.data, "f(a, e)->(c)\n# note\nf( c,a )->(d)\n", out.size) == 0);
    assert_int_equal(xir_value_set_name(b, XIR_STR("b")), XIR_OK);
    must_be_written(net, (xir_str){ text, sizeof text - 1 });
    buffer_free(&out);
    xir_network_free(net);
}

/* New lines are live, or those of the seed if its tag says so; of a line that comes from a file in another spelling the
 * text is kept, until its op changes. */
static void other_spellings(void **state) {
    static const char live[] = "sum(tensor<any>:a, vector<int32>:[0 1], var<bool>:true)->(tensor<any>:s) // id=1\n"
                               "now()->(tensor<any>:s)\n",
                      front[] = "sum (tensor<any>:a, vector<int32>:[0 1], var<bool>:true) -> (tensor<any>:s) // id=1\n"
                                "now () -> (tensor<any>:s)\n",
                      simplified[] = "sum(a, [0 1], true)->(s) // id=1\nnow()->(s)\n";
    (void)state;
    xir_network *net = read_deepx(XIR_STR(live));
    const xir_any seed = xir_any_text(XIR_STR("seed"));
    must_be_written(net, XIR_STR(live));
    assert_int_equal(xir_network_set_tag(net, XIR_STR("deepx.spelling"), &seed), XIR_OK);
    must_be_written(net, XIR_STR("sum a,[0 1],true -> s // id=1\nnow -> s\n"));
    xir_network_free(net);
    must_come_back(XIR_STR(front));
    must_come_back(XIR_STR(simplified));
    net = read_deepx(XIR_STR(front));
    for (int64_t i = 1; i <= 2; i++)
        assert_int_equal(xir_op_set_tag(xir_network_op_at(net, i), XIR_STR("deepx.line"), NULL), XIR_OK);
    must_be_written(net, XIR_STR(live));
    xir_network_free(net);
}

/* A file of an earlier version may say that calls are written in a spelling that is not written any more. */
static void spellings_that_were_written(void **state) {
    static const char *const words[] = { "front", "simplified", "blocks" };
    static const char text[] = "exp(tensor<float32>:x)->(tensor<float32>:y)\n";
    (void)state;
    xir_network *net = read_deepx(XIR_STR(text));
    for (size_t i = 0; i < COUNT(words); i++) {
        const xir_any word = xir_any_text(xir_str_of(words[i]));
        assert_int_equal(xir_network_set_tag(net, XIR_STR("deepx.spelling"), &word), XIR_OK);
        buffer out = stored_as(net, "deepx");
        assert_true(xir_str_equal((xir_str){ out.data, out.size }, XIR_STR(text)));
        assert_int_equal(xir_diags_count(why), 1);
        assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "calls are written in the spelling live"));
        xir_diags_clear(why);
        buffer_free(&out);
    }
    xir_network_free(net);
}

/* A network that DeepX cannot say is refused before the first byte. */
static void what_is_refused(void **state) {
    buffer out;
    (void)state;
    buffer_init(&out, &memory_default);
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "deepx", .unchecked = true);
    xir_network *net = small_net();
    assert_int_equal(xir_network_write(net, keep, &out, &options, why), XIR_E_UNSUPPORTED);
    assert_int_equal(xir_diags_count(why), 1);
    xir_diags_clear(why);
    xir_network_free(net);
    net = read_deepx(XIR_STR("f(a)->(b)\n"));
    assert_int_equal(xir_value_set_name(xir_op_output(xir_network_op_at(net, 1), 0), XIR_STR("b b")), XIR_OK);
    assert_int_equal(xir_network_write(net, keep, &out, &options, why), XIR_E_UNSUPPORTED);
    check_finding(XIR_E_UNSUPPORTED, "'b b' cannot be the name of a tensor in DeepX");
    xir_network_free(net);
    net = read_deepx(XIR_STR("f(a)->(b)\ng(b)->(b)\n"));
    assert_int_equal(xir_value_set_name(xir_op_output(xir_network_op_at(net, 1), 0), XIR_STR("")), XIR_OK);
    xir_diags_clear(why);
    assert_int_equal(xir_network_write(net, keep, &out, &options, why), XIR_E_UNSUPPORTED);
    check_finding(XIR_E_UNSUPPORTED, "a tensor has no name");
    xir_network_free(net);
    assert_int_equal(out.size, 0);
}

/* Texts that would not be one name of a line again, and texts that are: digits, dots, UTF-8, arrows and slashes
 * alone. */
static void names_of_tensors(void **state) {
    static const char *const illegal[] = {
        " b", "b ", "b c", "b,c", "b\tc", "b\nc", "b\rc", "b(0)", "b[0]", "{b}", "b<c", "b>c", "b|c", "\"b\"", "b'c",
        "b\x7F", "b\x01",
    };
    static const char *const legal[] = { "0", "b.c", "-b", "\xC3\xA4", "b/c", "b:c", "b=c", "#b", "b@1", "true" };
    buffer out;
    (void)state;
    buffer_init(&out, &memory_default);
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "deepx", .unchecked = true);
    xir_network *net = read_deepx(XIR_STR("newtensor(vector<int32>:[1])->(tensor<float32>:b)\n"));
    xir_value *b = xir_op_output(xir_network_op_at(net, 1), 0);
    for (size_t i = 0; i < COUNT(illegal); i++) {
        assert_int_equal(xir_value_set_name(b, xir_str_of(illegal[i])), XIR_OK);
        assert_int_equal(xir_network_write(net, keep, &out, &options, why), XIR_E_UNSUPPORTED);
        check_finding(XIR_E_UNSUPPORTED, "cannot be the name of a tensor in DeepX");
        assert_int_equal(out.size, 0);
    }
    for (size_t i = 0; i < COUNT(legal); i++) {
        char text[80];
        assert_int_equal(xir_value_set_name(b, xir_str_of(legal[i])), XIR_OK);
        snprintf(text, sizeof text, "newtensor(vector<int32>:[1])->(tensor<float32>:%s)\n", legal[i]);
        must_be_written(net, xir_str_of(text));
        must_come_back(xir_str_of(text));
    }
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_back),
        cmocka_unit_test(files_of_the_corpus),
        cmocka_unit_test(values_of_one_name),
        cmocka_unit_test(a_change_alone),
        cmocka_unit_test(other_spellings),
        cmocka_unit_test(spellings_that_were_written),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(names_of_tensors),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
