/* A dialect that a program brings: toy::, whose op types have dots, whose findings have places and words of its own, and
 * which has no versions. Networks are written as in support/story.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/convert.h>
#include <xir/pass.h>
#include "support/onnx_make.h"
#include "support/story.h"

static xir_context *with;
static xir_diags   *found;
static xir_network *net;

/* Rows of a program that was built with a newer library: each is longer than this library knows. */
typedef struct long_row { xir_convert_row row; const char *later; uint64_t more; } long_row;
#define LONG_ROW(...) { .row = { .abi = XIR_ABI, .size = sizeof(long_row), __VA_ARGS__ } }

static bool twice(xir_node *at) {
    xir_value *x = xir_node_in(at, 0);
    return xir_node_gives(at, "Add", XIR_VALUES(x, x), XIR_NO_SETS);
}

static const long_row rows[] = {
    LONG_ROW("toy::nn.Relu",    "1", "1", "",             "ReLU",    NULL,          NULL),
    LONG_ROW("toy::nn.Leaky",   "1", "1", "slope:f!",     "ReLU",    "alpha=slope", NULL),
    LONG_ROW("toy::math.Twice", "1", "1", "version:i",    "Add",     NULL,          twice),
};

static int64_t number(const xir_op *op) { return 10 * xir_op_id(op); }

static void split(xir_str key, xir_str *domain, xir_str *type) {
    if (key.size > 5 && memcmp(key.data, "user.", 5) == 0) *domain = (xir_str){ key.data, 4 };
    *type = key;
}

static bool is_pure(const xir_op *op) { return !xir_str_equal(xir_class_key(xir_op_class(op)), XIR_STR("toy::io.Print")); }

static const xir_dialect_decl toy = {
    XIR_DIALECT_HEAD("toy::", "Toy"), .pass = "toy-to-xir", .rows = &rows[0].row, .n_rows = COUNT(rows),
    .node = "line", .nodes = "/lines/", .results = "/returns/", .sources = "argument", .operators = "library",
    .number = number, .split = split, .is_pure = is_pure,
};

static int begin(void **state) {
    (void)state;
    with = xir_context_new(NULL);
    found = xir_diags_new(with);
    net = NULL;
    assert_int_equal(xir_dialect_register(with, &toy, found), XIR_OK);
    return 0;
}

static int end(void **state) {
    (void)state;
    xir_network_free(net);
    xir_diags_free(found);
    xir_context_free(with);
    return 0;
}

static void check_found(size_t i, xir_severity severity, xir_status code, const char *path, const char *message) {
    const xir_diag *d = xir_diags_at(found, i);
    assert_non_null(d);
    assert_int_equal(d->severity, severity);
    assert_int_equal(d->code, code);
    CHECK_STR(d->path, path);
    if (!strstr(d->message.data, message)) fail_msg("'%.*s' has no '%s'", (int)d->message.size, d->message.data, message);
}

/* ---- what is registered ------------------------------------------------------------------------------------------- */

static void a_dialect_is_found_with_its_rows_and_its_name_of_the_pass(void **state) {
    (void)state;
    assert_ptr_equal(xir_dialect_find(with, XIR_STR("toy::nn.Relu")), &toy);
    assert_ptr_equal(xir_dialect_find(with, XIR_STR("onnx::Relu")), xir_dialect_at(with, 0));
    assert_ptr_equal(xir_dialect_at(with, 1), &toy);
    assert_null(xir_dialect_at(with, 2));
    assert_null(xir_dialect_find(with, XIR_STR("toy::")));
    assert_null(xir_dialect_find(with, XIR_STR("toy:nn")));
    assert_null(xir_dialect_find(with, XIR_STR("nobody::nn")));
    assert_null(xir_dialect_find(with, XIR_STR("")));
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_ptr_equal(xir_convert_find(with, xir_str_of(rows[i].row.name)), &rows[i].row);
    }
    assert_null(xir_convert_find(with, XIR_STR("toy::nn.Rel")));
    const xir_pass_decl *pass = xir_pass_find(with, XIR_STR("to-xir"));
    assert_non_null(pass);
    assert_ptr_equal(xir_pass_find(with, XIR_STR("toy-to-xir")), pass);
    assert_ptr_equal(xir_pass_find(with, XIR_STR("onnx-to-xir")), pass);
    size_t n = 0;
    for (size_t i = 0; xir_pass_at(with, i); i++) n += xir_pass_at(with, i) == pass;
    assert_int_equal(n, 1);
}

static const xir_convert_row bare = { XIR_CONVERT_HEAD, "bad::A", "1", "1", "", "ReLU", NULL, NULL },
                             other = { XIR_CONVERT_HEAD, "toy::A", "1", "1", "", "ReLU", NULL, NULL };
static const long_row newer[] = { { .row = { .abi = XIR_ABI, .size = sizeof(long_row), .name = "bad::A", .inputs = "1",
                                             .outputs = "1", .cls = "ReLU" }, .later = "x" } };
static const xir_convert_row uneven[] = {
    { XIR_CONVERT_HEAD, "bad::A", "1", "1", "", "ReLU", NULL, NULL },
    { .abi = XIR_ABI, .size = sizeof(xir_convert_row) + 8, "bad::B", "1", "1", "", "ReLU", NULL, NULL }, { .abi = 0 },
};

static void dialects_that_are_refused(void **state) {
    (void)state;
#define BAD XIR_DIALECT_HEAD("bad::", "Bad")
    static const struct { xir_dialect_decl decl; xir_status code; const char *part; } cases[] = {
        { { .abi = 0 },                                                     XIR_E_ABI,         "another version"          },
        { { .abi = XIR_ABI, .size = 8, .prefix = "bad::" },                 XIR_E_ABI,         "another version"          },
        { { XIR_DIALECT_HEAD(NULL, "x") },                                  XIR_E_INVALID,     "'' is not a prefix"       },
        { { XIR_DIALECT_HEAD("bad", "x") },                                 XIR_E_INVALID,     "'bad' is not a prefix"    },
        { { XIR_DIALECT_HEAD("::", "x") },                                  XIR_E_INVALID,     "'::' is not a prefix"     },
        { { XIR_DIALECT_HEAD("a::b::", "x") },                              XIR_E_INVALID,     "'a::b::' is not a prefix" },
        { { XIR_DIALECT_HEAD("icraft::", "x") },                            XIR_E_INVALID,     "is not a prefix"          },
        { { XIR_DIALECT_HEAD("bad::", "") },                                XIR_E_INVALID,     "has no name"              },
        { { BAD, .n_rows = 1 },                                             XIR_E_INVALID,     "rows at NULL"             },
        { { BAD, .pass = "Bad" },                                           XIR_E_INVALID,     "not a name of a pass"     },
        { { BAD, .rows = &other, .n_rows = 1 },                             XIR_E_INVALID,     "no key of a dialect"      },
        { { BAD, .rows = &newer[0].row, .n_rows = 1 },                      XIR_E_UNSUPPORTED, "only a newer library"     },
        { { BAD, .rows = uneven, .n_rows = 2 },                             XIR_E_ABI,         "the first of its table"   },
        { { XIR_DIALECT_HEAD("toy::", "x") },                               XIR_E_EXISTS,      "a dialect 'toy::' already" },
        { { XIR_DIALECT_HEAD("onnx::", "x") },                              XIR_E_EXISTS,      "a dialect 'onnx::' already" },
        { { BAD, .rows = &bare, .n_rows = 1, .pass = "dce" },               XIR_E_EXISTS,      "a pass 'dce' already"     },
        { { BAD, .rows = &bare, .n_rows = 1, .pass = "toy-to-xir" },        XIR_E_EXISTS,      "a pass 'toy-to-xir' already" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        xir_diags_clear(found);
        assert_int_equal(xir_dialect_register(with, &cases[i].decl, found), cases[i].code);
        check_found(0, XIR_ERROR, cases[i].code, "", cases[i].part);
        assert_null(xir_dialect_at(with, 2));
        assert_null(xir_convert_find(with, XIR_STR("bad::A")));
    }
    const xir_dialect_decl good = { BAD, .rows = &bare, .n_rows = 1, .pass = "bad-to-xir" };
    assert_int_equal(xir_dialect_register(with, &good, NULL), XIR_OK);
    assert_ptr_equal(xir_convert_find(with, XIR_STR("bad::A")), &bare);
    /* and the other way round: a pass of its name */
    static const xir_pass_decl taken = { XIR_PASS_HEAD("bad-to-xir", "x"), .run = NULL };
    xir_pass_decl pass = taken;
    pass.run = xir_pass_find(with, XIR_STR("dce"))->run;
    assert_int_equal(xir_pass_register(with, &pass, NULL), XIR_E_EXISTS);
}

/* ---- converting --------------------------------------------------------------------------------------------------- */

static xir_status run(const char *pass, const char *options) {
    xir_diags_clear(found);
    return xir_pass_run(net, pass, options, NULL, found);
}

static void any_name_of_the_pass_converts_every_dialect(void **state) {
    (void)state;
    static const char *const names[] = { "to-xir", "toy-to-xir", "onnx-to-xir" };
    for (size_t i = 0; i < COUNT(names); i++) {
        net = story_net_in(with, "x: 2 3; a = toy::nn.Leaky x [slope=0.5]; b = onnx::Relu a; c = toy::math.Twice b [version=1]; out c");
        assert_int_equal(run(names[i], NULL), XIR_OK);
        assert_int_equal(xir_diags_count(found), 0);
        CHECK_STORY(net, "a = ReLU x [alpha=0.5]; b = ReLU a; c = Add b b; out c");
        xir_network_free(net);
        net = NULL;
    }
}

static void findings_have_the_words_and_places_of_the_dialect(void **state) {
    (void)state;
    static const struct { const char *text; xir_severity severity; xir_status code; const char *path, *message; } cases[] = {
        { "x: 2; a = toy::nn.Relo x; out a",                 XIR_ERROR, XIR_E_UNKNOWN, "/lines/10",
          "nn.Relo 'a' (line 10): the library of Toy has no nn.Relo; did you mean 'nn.Relu'?" },
        { "x: 2; a = toy::user.Relu x; out a",               XIR_NOTE,  XIR_OK,        "/lines/10",
          "nothing is known of user.Relu: it was not checked" },
        { "x: 2; a = toy::nn.Relu x; b = toy::nn.Leaky a; out b", XIR_ERROR, XIR_E_MISSING, "/lines/20/attribute/slope",
          "nn.Leaky 'b' (line 20): the attribute slope is needed, a real, and absent" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        net = story_net_in(with, cases[i].text);
        xir_diags_clear(found);
        assert_int_equal(xir_dialect_check(net, found), cases[i].code);
        check_found(0, cases[i].severity, cases[i].code, cases[i].path, cases[i].message);
        xir_network_free(net);
        net = NULL;
    }
}

/* Settings know the names of a pass as one, wherever they stand. */
static void settings_know_all_names_of_a_pass(void **state) {
    (void)state;
    static const char story[] = "x: 2; a = toy::user.Relu x; out a";
    static const char *const names[] = { "to-xir", "toy-to-xir", "onnx-to-xir" };
    for (size_t i = 0; i < COUNT(names); i++) {
        for (size_t k = 0; k < COUNT(names); k++) {
            char key[60];
            snprintf(key, sizeof key, "%s.strict", names[i]);
            xir_entry entry = { xir_str_of(key), xir_any_bool(true) };
            const xir_map map = { &entry, 1 };
            xir_pipeline *p = xir_pipeline_parse(with, xir_str_of(names[k]), found);
            assert_non_null(p);
            net = story_net_in(with, story);
            assert_int_equal(xir_pipeline_run(p, net, &(xir_pass_settings){ .config = &map }, NULL, found), XIR_E_UNKNOWN);
            const char *const disabled[] = { names[i], NULL };
            assert_int_equal(xir_pipeline_run(p, net, &(xir_pass_settings){ .config = &map, .disabled = disabled }, NULL, found), XIR_OK);
            xir_network_free(net);
            xir_pipeline_free(p);
        }
    }
    net = NULL;
}

static void needs_know_all_names_of_a_pass(void **state) {
    (void)state;
    static const char *const needs[] = { "toy-to-xir", NULL };
    xir_pass_decl after = *xir_pass_find(with, XIR_STR("dce"));
    after.name = "after";
    after.needs = needs;
    assert_int_equal(xir_pass_register(with, &after, found), XIR_OK);
    xir_pipeline *p = xir_pipeline_parse(with, XIR_STR("onnx-to-xir,after"), found);
    xir_pass_report *report = xir_pass_report_new(with);
    net = story_net_in(with, "x: 2; a = toy::nn.Relu x; out a");
    assert_int_equal(xir_pipeline_run(p, net, NULL, report, found), XIR_OK);
    CHECK_STR(xir_pass_report_at(report, 0)->text, "to-xir");
    CHECK_STR(xir_pass_report_at(report, 1)->text, "after");
    assert_null(xir_pass_report_at(report, 2));
    xir_pass_report_free(report);
    xir_pipeline_free(p);
}

static void a_dialect_says_which_ops_are_pure(void **state) {
    (void)state;
    net = story_net_in(with, "x: 2; a = toy::nn.Tanh x; b = toy::nn.Tanh x; c = toy::io.Print x; d = toy::nn.Tanh c; "
                             "e = nobody::Tanh x; p = Add a b; out p");
    assert_int_equal(run("cse", NULL), XIR_OK);
    assert_int_equal(run("dce", NULL), XIR_OK);
    char *text = story_text(net);
    assert_null(strstr(text, "d = "));
    assert_non_null(strstr(text, "c = toy::io.Print"));
    assert_non_null(strstr(text, "e = nobody::Tanh"));
    assert_non_null(strstr(text, "p = Add a a"));
    free(text);
}

/* ---- types of inputs ---------------------------------------------------------------------------------------------- */

static void input_shape_types_an_input_without_a_type(void **state) {
    (void)state;
    static const struct { const char *options, *element; size_t rank; xir_status code; const char *part; } cases[] = {
        { "input-shape=\"x=2,3:fp32\"", "@fp(32)",    2, XIR_OK,        NULL },
        { "input-shape=\"x=2,3:fp16\"", "@fp(16)",    2, XIR_OK,        NULL },
        { "input-shape=\"x=2,3:bf16\"", "@bf(16)",    2, XIR_OK,        NULL },
        { "input-shape=\"x=4:i64\"",    "@sint(64)",  1, XIR_OK,        NULL },
        { "input-shape=\"x=4:u7\"",     "@uint(7)",   1, XIR_OK,        NULL },
        { "input-shape=\"x=4:bool\"",   "@bool",      1, XIR_OK,        NULL },
        { "input-shape=\"x=:fp32\"",    "@fp(32)",    0, XIR_OK,        NULL },
        { "input-shape=\"x=2,3\"",      NULL,         0, XIR_E_MISSING, "the input 'x' has no type: its elements are expected too, x=2,3:fp32" },
        { "input-shape=\"x=2,3:\"",     NULL,         0, XIR_E_SYNTAX,  "'' are no elements" },
        { "input-shape=\"x=2,3:f32\"",  NULL,         0, XIR_E_SYNTAX,  "'f32' are no elements: expected is one of fp16 fp32" },
        { "input-shape=\"x=2,3:i0\"",   NULL,         0, XIR_E_SYNTAX,  "'i0' are no elements" },
        { "input-shape=\"x=2,3:i65\"",  NULL,         0, XIR_E_SYNTAX,  "'i65' are no elements" },
        { "input-shape=\"x=2,3:i8,9\"", NULL,         0, XIR_E_SYNTAX,  "'i8,9' are no elements" },
        { "input-shape=\"y=2,3:i8\"",   NULL,         0, XIR_E_TYPE,    "other elements are given for the input 'y'" },
        { "input-shape=\"y=2,3:fp32\"", NULL,         0, XIR_E_MISSING, NULL },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        net = xir_network_new(with, "n", XIR_FRAMEWORK_PYTORCH, "");
        const xir_type *types[] = { NULL, XIR_TENSOR(with, xir_float(with, XIR_FLOAT_FP32), "**", 2, 3) };
        xir_op *in = xir_network_add(net, &(xir_op_desc){ .cls = xir_class_of(with, xir_input_class()), .types = types, .n_types = 2,
                                                          .id = XIR_NO_ID });
        assert_non_null(in);
        xir_value *x = xir_op_output(in, 0), *y = xir_op_output(in, 1);
        assert_int_equal(xir_value_set_name(x, XIR_STR("x")), XIR_OK);
        assert_int_equal(xir_value_set_name(y, XIR_STR("y")), XIR_OK);
        const xir_class *cls = class_opaque(with, XIR_STR("toy::nn.Relu"), true);
        const xir_type *none[] = { NULL };
        xir_op *relu = xir_network_add(net, &(xir_op_desc){ .cls = cls, .inputs = &x, .n_inputs = 1, .types = none, .n_types = 1,
                                                            .name = XIR_STR("r"), .id = XIR_NO_ID });
        assert_non_null(relu);
        assert_int_equal(xir_value_set_name(xir_op_output(relu, 0), XIR_STR("z")), XIR_OK);
        if (cases[i].part == NULL && cases[i].code == XIR_E_MISSING) {   /* the same elements are no fault, x stays untyped */
            assert_int_equal(run("to-xir", cases[i].options), XIR_OK);
            check_found(0, XIR_NOTE, XIR_OK, "/lines/10", "input 0 'x' has no tensor type");
        } else {
            xir_status status = run("to-xir", cases[i].options);
            if (status != cases[i].code) xir_diags_print(found, stderr);
            assert_int_equal(status, cases[i].code);
        }
        if (cases[i].part) check_found(0, XIR_ERROR, cases[i].code, "", cases[i].part);
        if (cases[i].element) {
            const xir_type *type = xir_value_type(xir_op_output(xir_network_input_op(net), 0));
            assert_int_equal(xir_type_rank(type), cases[i].rank);
            assert_string_equal(spelled(xir_type_element(type)), cases[i].element);
        }
        xir_network_free(net);
        net = NULL;
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_dialect_is_found_with_its_rows_and_its_name_of_the_pass),
        TEST(dialects_that_are_refused),
        TEST(any_name_of_the_pass_converts_every_dialect),
        TEST(findings_have_the_words_and_places_of_the_dialect),
        TEST(settings_know_all_names_of_a_pass),
        TEST(needs_know_all_names_of_a_pass),
        TEST(a_dialect_says_which_ops_are_pure),
        TEST(input_shape_types_an_input_without_a_type),
    };
    return RUN_GROUP(tests);
}
