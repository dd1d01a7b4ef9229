/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A dialect that a program registers: toy::. Its op types contain dots, its findings have their own words and
 * places, and it has no versions. Networks are written as in support/story.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/pass.h>
#include "graph.h"
#include "own_dialect.h"
#include "support/onnx_make.h"


/* Rows of a program that was built with a newer library: each is longer than the row that this library knows. */
typedef struct long_row { xir_convert_row row; const char *later; uint64_t more; } long_row;
#define LONG_ROW(...) { .row = { .abi = XIR_ABI, .size = sizeof(long_row), __VA_ARGS__ } }

static bool twice(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    return xir_node_becomes(at, "Add", XIR_VALUES(x, x), XIR_NO_SETS);
}

/* input * weight + bias */
static bool affine(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *weight = xir_node_input(at, 1), *bias = xir_node_optional_input(at, 2);
    if (!xir_node_same_elements(at, 0, x, 1, weight)) return false;
    xir_value *y = xir_node_product(at, x, weight);
    return xir_node_result(at, 0, bias ? xir_node_sum(at, y, bias, 1, 1) : y);
}

/* Turns the attributes into numbers: x * scale + the sum of pads, and 100 more if it is flagged. */
static bool numbers(xir_node *at) {
    const double *reals;
    xir_ints list;
    size_t n;
    double sum = xir_node_bool(at, "flag", false) ? 100 : 0;
    if (xir_node_items(at, "pad", &list)) for (size_t i = 0; i < list.n; i++) sum += (double)list.v[i];
    if (xir_node_real_items(at, "more", &reals, &n)) for (size_t i = 0; i < n; i++) sum += reals[i];
    xir_value *x = xir_node_input(at, 0);
    if (xir_node_failed(at)) return false;
    return xir_node_becomes(at, "ClampScalar", XIR_VALUES(x), XIR_SETS(XIR_SETR("min", xir_node_real(at, "scale", 1)),
                                                                      XIR_SETR("max", sum)));
}

/* A constant in other dims. */
static bool shaped(xir_node *at) {
    xir_ints dims;
    static const char *const letters[] = { NULL, "NC", "N?" };
    xir_value *x = xir_node_input(at, 0);
    if (!xir_node_items(at, "dims", &dims)) return false;
    return xir_node_result(at, 0, xir_node_reshaped(at, x, &dims, letters[xir_node_int(at, "letters", 0)]));
}

static bool leaks(xir_node *at) {
    return xir_node_becomes(at, "ReLU", XIR_VALUES(xir_node_input(at, 0)),
                            XIR_SETS(XIR_SETR("alpha", 0.25 * (double)xir_node_variant(at))));
}

static const long_row rows[] = {
    LONG_ROW("toy::nn.Affine",  "1-3 input weight bias", "1", "fused:nb", "Multiply, Add", NULL, affine),
    LONG_ROW("toy::nn.Numbers", "1", "1", "scale:fib flag:bn pad:Is more:FI #id:i out.dims:I *:t", "ClampScalar", NULL, numbers),
    LONG_ROW("toy::nn.Kinds",   "1", "1", "n:n b:b i:i f:f s:s t:t o:o a:a B:B I:I F:F S:S T:T O:O A:A", NULL, NULL, xir_convert_unsupported),
    LONG_ROW("toy::nn.Same",    "1", "1", "", "Copy", NULL, xir_convert_copy),
    LONG_ROW("toy::nn.Relu",    "1", "1", "",             "ReLU",    NULL,          NULL),
    LONG_ROW("toy::nn.Leaky",   "1", "1", "slope:f!",     "ReLU",    "alpha=slope", NULL),
    LONG_ROW("toy::nn.Shaped",  "1", "1", "dims:I letters:i", "Reshape", NULL,     shaped),
    LONG_ROW("toy::nn.Drip",    "1", "1", "",             "ReLU",    NULL,          leaks, .variant = 1),
    LONG_ROW("toy::nn.Leak",    "1", "1", "",             "ReLU",    NULL,          leaks, .variant = 2),
    LONG_ROW("toy::math.Twice", "1", "1", "version:i",    "Add",     NULL,          twice),
};

static int64_t number(const xir_op *op) { return 10 * xir_op_id(op); }

static void split(xir_str key, xir_str *domain, xir_str *type) {
    if (key.size > 5 && memcmp(key.data, "user.", 5) == 0) *domain = (xir_str){ key.data, 4 };
    *type = key;
}

static bool is_pure(const xir_op *op) {
    return !xir_str_equal(xir_class_key(xir_op_class(op)), XIR_STR("toy::io.Print"));
}

static const xir_dialect_decl toy = {
    XIR_DIALECT_HEAD("toy::", "Toy"), .pass = "toy-to-xir", .rows = &rows[0].row, .n_rows = COUNT(rows),
    .node = "line", .nodes = "/lines/", .results = "/returns/", .sources = "argument", .operators = "library",
    .number = number, .split = split, .is_pure = is_pure,
};

static int begin(void **state) {
    (void)state;
    return begin_with(&toy);
}

static void check_found(size_t i, xir_severity severity, xir_status code, const char *path, const char *message) {
    const xir_diag *d = xir_diags_at(found, i);
    assert_non_null(d);
    assert_int_equal(d->severity, severity);
    assert_int_equal(d->code, code);
    if (path) CHECK_STR(d->path, path);
    if (!strstr(d->message.data, message))
        fail_msg("'%.*s' has no '%s'", (int)d->message.size, d->message.data, message);
}

/* ---- optional members ------------------------------------------------------------------------------------------- */

/* Toy's own rules: a kept op gives what it takes; an op may not be called "wrong". */
static void types(xir_node *at) {
    xir_node_type_output(at, 0, xir_value_type(xir_op_input(xir_node_op(at), 0)));
}
static bool check(xir_node *at) {
    if (!xir_str_equal(xir_op_name(xir_node_op(at)), XIR_STR("wrong"))) return true;
    return xir_node_invalid(at, XIR_E_INVALID, NULL, "expected another name");
}
static const xir_convert_row kept_rows[] = {
    { XIR_CONVERT_HEAD, "kind::Kept", "1", "1", "", NULL, NULL, xir_convert_unsupported },
    { XIR_CONVERT_HEAD, "kind::Relu", "1", "1", "", "ReLU", NULL, NULL },
};
static const xir_dialect_decl kind = {
    XIR_DIALECT_HEAD("kind::", "Kind"), .rows = kept_rows, .n_rows = COUNT(kept_rows), .check = check, .types = types,
};
/* The same, from a program that does not know the last members. */
static const xir_dialect_decl older = {
    .abi = XIR_ABI, .size = offsetof(xir_dialect_decl, check), .prefix = "kind::", .name = "Kind", .rows = kept_rows,
    .n_rows = COUNT(kept_rows), .check = check, .types = types,
};

static void a_dialect_types_and_checks_its_ops(void **state) {
    (void)state;
    for (int knows = 0; knows < 2; knows++) {
        xir_context *own = xir_context_new(NULL);
        xir_diags *said = xir_diags_new(own);
        assert_int_equal(xir_dialect_register(own, knows ? &kind : &older, said), XIR_OK);
        xir_network *in = story_net_in(own, "x: 2; kept = kind::Kept x; wrong = kind::Relu kept; out wrong");
        story_value(in, "kept")->type = story_value(in, "wrong")->type = NULL;
        assert_int_equal(xir_dialect_check(in, said), knows ? XIR_E_INVALID : XIR_OK);
        xir_diags_clear(said);
        assert_int_equal(xir_pass_run(in, "to-xir", NULL, NULL, said), XIR_OK);
        CHECK_STORY(in, knows ? "kept = kind::Kept x; wrong = ReLU kept; out wrong"
                              : "kept = kind::Kept x; wrong = kind::Relu kept; out wrong");
        xir_network_free(in);
        xir_diags_free(said);
        xir_context_free(own);
    }
}

/* ---- registration ----------------------------------------------------------------------------------------------- */

static void a_dialect_is_registered_with_its_rows_and_its_pass_name(void **state) {
    (void)state;
    assert_ptr_equal(xir_dialect_find(with, XIR_STR("toy::nn.Relu")), &toy);
    assert_ptr_equal(xir_dialect_find(with, XIR_STR("onnx::Relu")), xir_dialect_at(with, 0));
    assert_ptr_equal(xir_dialect_at(with, 5), &toy);
    assert_null(xir_dialect_at(with, 6));
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
        { { BAD, .n_rows = 1 },                                             XIR_E_INVALID,     "no table"                 },
        { { BAD, .pass = "Bad" },                                           XIR_E_INVALID,     "not a name for a pass"     },
        { { BAD, .rows = &other, .n_rows = 1 },                             XIR_E_INVALID,     "key of a known dialect"     },
        { { BAD, .rows = &newer[0].row, .n_rows = 1 },                      XIR_E_UNSUPPORTED, "this version does not know"     },
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
        assert_null(xir_dialect_at(with, 6));
        assert_null(xir_convert_find(with, XIR_STR("bad::A")));
    }
    const xir_dialect_decl good = { BAD, .rows = &bare, .n_rows = 1, .pass = "bad-to-xir" };
    assert_int_equal(xir_dialect_register(with, &good, NULL), XIR_OK);
    assert_ptr_equal(xir_convert_find(with, XIR_STR("bad::A")), &bare);
    /* and the other way round: a pass with its name */
    static const xir_pass_decl taken = { XIR_PASS_HEAD("bad-to-xir", "x"), .run = NULL };
    xir_pass_decl pass = taken;
    pass.run = xir_pass_find(with, XIR_STR("dce"))->run;
    assert_int_equal(xir_pass_register(with, &pass, NULL), XIR_E_EXISTS);
}

/* ---- converting ------------------------------------------------------------------------------------------------- */

static xir_status run(const char *pass, const char *options) {
    xir_diags_clear(found);
    return xir_pass_run(net, pass, options, NULL, found);
}

/* A format may hold the operators of another one's dialect. */
static void formats_of_a_dialect_have_its_way_back(void **state) {
    static const struct { const char *format, *as; } ways[] = {
        { "py", "pnnx" }, { "c", "nnb" }, { "p", "json" }, { "", "json" }, { "toy", "json" },
    };
    char pipeline[1024], expected[1024];
    (void)state;
    for (size_t i = 0; i < COUNT(ways); i++) {
        const size_t size = xir_pipeline_to(ctx, ways[i].format, pipeline, sizeof pipeline);
        xir_pipeline_to(ctx, ways[i].as, expected, sizeof expected);
        assert_string_equal(pipeline, expected);
        assert_int_equal(size, strlen(expected));
    }
    assert_string_equal(expected, xir_default_pipeline());
    xir_pipeline_to(ctx, "py", pipeline, sizeof pipeline);
    assert_non_null(strstr(pipeline, ",layout{to=nchw},xir-to-pnnx"));
}

static void any_name_of_the_pass_converts_every_dialect(void **state) {
    (void)state;
    static const char *const names[] = { "to-xir", "toy-to-xir", "onnx-to-xir" };
    for (size_t i = 0; i < COUNT(names); i++) {
        net = story_net_in(
            with,
            "x: 2 3; a = toy::nn.Leaky x [slope=0.5]; b = onnx::Relu a; c = toy::math.Twice b [version=1]; out c");
        assert_int_equal(run(names[i], NULL), XIR_OK);
        assert_int_equal(xir_diags_count(found), 0);
        CHECK_STORY(net, "a = ReLU x [alpha=0.5]; b = ReLU a; c = Add b b; out c");
        xir_network_free(net);
        net = NULL;
    }
}

static void a_variant_tells_rows_of_one_hook_apart(void **state) {
    (void)state;
    net = story_net_in(with, "x: 2 3; a = toy::nn.Drip x; b = toy::nn.Leak a; out b");
    assert_int_equal(run("to-xir", "strict"), XIR_OK);
    CHECK_STORY(net, "a = ReLU x [alpha=0.25]; b = ReLU a [alpha=0.5]; out b");
}

static void findings_have_the_words_and_places_of_the_dialect(void **state) {
    (void)state;
    static const struct { const char *text; xir_severity severity; xir_status code; const char *path,
                          *message; } cases[] = {
        { "x: 2 3; a = toy::nn.Relo x; out a",                 XIR_ERROR, XIR_E_UNKNOWN, "/lines/10",
          "nn.Relo 'a' (line 10): the library of Toy has no nn.Relo; did you mean 'nn.Relu'?" },
        { "x: 2 3; a = toy::user.Relu x; out a",               XIR_NOTE,  XIR_OK,        "/lines/10",
          "user.Relu is unknown: it was not checked" },
        { "x: 2 3; a = toy::nn.Relu x; b = toy::nn.Leaky a; out b", XIR_ERROR, XIR_E_MISSING,
          "/lines/20/attribute/slope", "nn.Leaky 'b' (line 20): the attribute slope is missing: expected a real" },
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

/* Settings treat all names of a pass as one. */
static void settings_accept_all_names_of_a_pass(void **state) {
    (void)state;
    static const char story[] = "x: 2 3; a = toy::user.Relu x; out a";
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
            assert_int_equal(xir_pipeline_run(p, net, &XIR_INIT(xir_pass_settings, .config = &map), NULL, found),
                             XIR_E_UNKNOWN);
            const char *const disabled[] = { names[i], NULL };
            assert_int_equal(xir_pipeline_run(p, net,
                                              &XIR_INIT(xir_pass_settings, .config = &map, .disabled = disabled), NULL,
                                              found), XIR_OK);
            xir_network_free(net);
            xir_pipeline_free(p);
        }
    }
    net = NULL;
}

static void needs_accept_all_names_of_a_pass(void **state) {
    (void)state;
    static const char *const needs[] = { "toy-to-xir", NULL };
    xir_pass_decl after = *xir_pass_find(with, XIR_STR("dce"));
    after.name = "after";
    after.needs = needs;
    assert_int_equal(xir_pass_register(with, &after, found), XIR_OK);
    xir_pipeline *p = xir_pipeline_parse(with, XIR_STR("onnx-to-xir,after"), found);
    xir_pass_report *report = xir_pass_report_new(with);
    net = story_net_in(with, "x: 2 3; a = toy::nn.Relu x; out a");
    assert_int_equal(xir_pipeline_run(p, net, NULL, report, found), XIR_OK);
    CHECK_STR(xir_pass_report_at(report, 0)->text, "to-xir");
    CHECK_STR(xir_pass_report_at(report, 1)->text, "after");
    assert_null(xir_pass_report_at(report, 2));
    xir_pass_report_free(report);
    xir_pipeline_free(p);
}

static void a_dialect_decides_which_ops_are_pure(void **state) {
    (void)state;
    net = story_net_in(with, "x: 2 3; a = toy::nn.Tanh x; b = toy::nn.Tanh x; c = toy::io.Print x; d = toy::nn.Tanh c; "
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

/* ---- inputs by name, weights as attributes ---------------------------------------------------------------------- */

static xir_value *params_of(const char *name, xir_float_format format) {
    static const double bytes[6] = { 1, 2, 3, 4, 5, 6 };
    xir_value *v = xir_params_copy(net, xir_str_of(name),
                                   XIR_TENSOR(with, xir_type_float(with, format), "**", 2, 3), bytes,
                                   format == XIR_FLOAT_FP64 ? 48 : 24);
    assert_non_null(v);
    return v;
}

static void set_attr(const char *op, const char *name, xir_any value) {
    assert_int_equal(xir_op_set_extra(story_op(net, op), xir_str_of(name), &value), XIR_OK);
}

/* "weight - bias" */
static void call_inputs(const char *op, const char *text) {
    xir_any names[8];
    size_t n = 0;
    for (const char *p = text; *p; p += strspn(p, " ")) {
        size_t size = strcspn(p, " ");
        names[n++] = *p == '-' ? xir_any_null() : xir_any_text((xir_str){ p, size });
        p += size;
    }
    xir_any list = xir_any_list(names, n);
    assert_int_equal(xir_op_set_tag(story_op(net, op), XIR_STR("source.inputs"), &list), XIR_OK);
}

static void inputs_are_found_by_name_or_position(void **state) {
    (void)state;
    static const struct { const char *inputs, *names, *attributes, *after; } cases[] = {
        { "x w b", NULL,                "",       "a.Multiply = Multiply x w; a = Add a.Multiply b; out a" },
        { "b x w", "bias input weight", "",       "a.Multiply = Multiply x w; a = Add a.Multiply b; out a" },
        { "w x b", "weight - -",        "",       "a.Multiply = Multiply x w; a = Add a.Multiply b; out a" },
        { "w x",   "weight",            "",       "a = Multiply x w; out a" },
        { "x",     NULL,                "weight", "a = Multiply x weight; out a" },
        { "x",     "input",             "weight", "a = Multiply x weight; out a" },
        { "x b",   "input bias",        "weight", "a.Multiply = Multiply x weight; a = Add a.Multiply b; out a" },
        { "x w",   NULL,                "bias",   "a.Multiply = Multiply x w; a = Add a.Multiply bias; out a" },
        { "x x x", "bias input weight", "",       "a.Multiply = Multiply x x; a = Add a.Multiply x; out a" },
        { "w x b", "weight input weight", "",     "a.Multiply = Multiply x w; a = Add a.Multiply b; out a" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[200];
        snprintf(text, sizeof text, "x: 2 3; w: 2 3; b: 2 3; a = toy::nn.Affine %s; out a", cases[i].inputs);
        net = story_net_in(with, text);
        if (cases[i].names) call_inputs("a", cases[i].names);
        if (*cases[i].attributes) {
            set_attr("a", cases[i].attributes,
                     (xir_any){ .kind = XIR_ANY_PARAMS, .as.params = params_of(cases[i].attributes, XIR_FLOAT_FP32) });
        }
        xir_diags_clear(found);
        assert_int_equal(xir_dialect_check(net, found), XIR_OK);
        assert_int_equal(run("to-xir", "strict"), XIR_OK);
        assert_int_equal(xir_diags_count(found), 0);
        CHECK_STORY(net, cases[i].after);
        xir_network_free(net);
        net = NULL;
    }
}

/* A finding names the input's place in the file. */
static void wrong_inputs(void **state) {
    (void)state;
    static const struct { const char *inputs, *names; const char *attribute; xir_status code; const char *path,
                          *message; } cases[] = {
        { "x y",   "input wait",   NULL,     XIR_E_UNKNOWN, "/lines/10/input/1",          "there is no input 'wait'" },
        { "x",     NULL,           NULL,     XIR_E_MISSING, "/lines/10/input/1",          "input 1 (weight) is missing" },
        { "x d",   NULL,           NULL,     XIR_E_TYPE,    "/lines/10/input/1",          "input 1 (weight): expected float, like input 0 (input), found double" },
        { "d x",   "weight input", NULL,     XIR_E_TYPE,    "/lines/10/input/0",          "input 1 (weight): expected float, like input 0 (input), found double" },
        { "x",     NULL,           "weight", XIR_E_TYPE,    "/lines/10/attribute/weight", "input 1 (weight): expected float, like input 0 (input), found double" },
        { "x y",   NULL,           "weight", XIR_E_UNKNOWN, "/lines/10/attribute/weight", "unknown attribute 'weight'" },
        { "x y y y", NULL,         NULL,     XIR_E_BOUNDS,  "/lines/10",                  "expected 1 to 3 inputs, found 4" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[200];
        snprintf(text, sizeof text, "x: 2 3; y: 2 3; d: fp64 2 3; a = toy::nn.Affine %s; out a", cases[i].inputs);
        net = story_net_in(with, text);
        if (cases[i].names) call_inputs("a", cases[i].names);
        if (cases[i].attribute) {
            set_attr("a", cases[i].attribute,
                     (xir_any){ .kind = XIR_ANY_PARAMS, .as.params = params_of("p", XIR_FLOAT_FP64) });
        }
        xir_diags_clear(found);
        assert_int_equal(xir_dialect_check(net, found), cases[i].code);
        check_found(0, XIR_ERROR, cases[i].code, cases[i].path, cases[i].message);
        xir_network_free(net);
        net = NULL;
    }
}

/* ---- kinds of attributes ---------------------------------------------------------------------------------------- */

static void every_letter_is_a_kind(void **state) {
    (void)state;
    static const char letters[] = "nbifstoaBIFSTOA";
    const xir_any one = xir_any_int(1), real = xir_any_real(0.5), yes = xir_any_bool(true),
                  word = xir_any_text(XIR_STR("x"));
    net = story_net_in(with, "x: 2 3; a = toy::nn.Kinds x; out a");
    const xir_any tensor = { .kind = XIR_ANY_PARAMS, .as.params = params_of("p", XIR_FLOAT_FP32) },
                  map = xir_any_map(NULL, 0);
    const struct { xir_any value; const char *good; } values[] = {
        { xir_any_null(),            "na"       },
        { yes,                       "ba"       },
        { one,                       "ia"       },
        { real,                      "fa"       },
        { word,                      "sa"       },
        { tensor,                    "tafsF"    },   /* inf, nan, and texts that are not UTF-8 */
        { map,                       "toa"      },
        { xir_any_list(&yes, 1),     "aBA"      },
        { xir_any_list(&one, 1),     "aIA"      },
        { xir_any_list(&real, 1),    "aFA"      },
        { xir_any_list(&word, 1),    "aSA"      },
        { xir_any_list(&tensor, 1),  "aTAFS"    },
        { xir_any_list(&map, 1),     "aTOA"     },
        { xir_any_list(NULL, 0),     "aBIFSTOA" },
    };
    for (size_t i = 0; i < COUNT(values); i++) {
        for (const char *letter = letters; *letter; letter++) {
            const char name[] = { *letter, '\0' };
            set_attr("a", name, values[i].value);
            xir_diags_clear(found);
            xir_status status = xir_dialect_check(net, found);
            xir_status expected = strchr(values[i].good, *letter) ? XIR_OK : XIR_E_TYPE;
            if (status != expected) fail_msg("value %zu as %c: %s", i, *letter, xir_status_name(status));
            assert_int_equal(xir_op_set_extra(story_op(net, "a"), xir_str_of(name), NULL), XIR_OK);
        }
    }
}

static void several_kinds_and_any_name(void **state) {
    (void)state;
    static const int64_t whole[6] = { 7, 0, 0, 0, 0, 0 };
    xir_any two[] = { xir_any_int(3), xir_any_int(4) }, halves[] = { xir_any_real(0.5), xir_any_real(0.25) };
    static const struct { const char *name; int value; xir_status code; const char *text; } cases[] = {
        { "scale",    0, XIR_OK,        "[min=0.5 max=0]" },
        { "scale",    1, XIR_OK,        "[min=-3 max=0]" },
        { "scale",    2, XIR_OK,        "[min=1 max=0]" },     /* true */
        { "scale",    3, XIR_E_TYPE,    "scale: expected a real, an integer or a bool, found a text" },
        { "flag",     2, XIR_OK,        "[min=1 max=100]" },
        { "flag",     4, XIR_OK,        "[min=1 max=0]" },     /* none */
        { "flag",     1, XIR_E_TYPE,    "flag: expected a bool or none, found an integer" },
        { "pad",      5, XIR_OK,        "[min=1 max=7]" },
        { "pad",      3, XIR_OK,        "[min=1 max=0]" },
        { "pad",      6, XIR_E_TYPE,    "pad: expected a list of integers or a text, found a list of reals" },
        { "more",     6, XIR_OK,        "[min=1 max=0.75]" },
        { "more",     5, XIR_OK,        "[min=1 max=7]" },
        { "#id",      1, XIR_OK,        "[min=1 max=0]" },
        { "out.dims", 5, XIR_OK,        "[min=1 max=0]" },
        { "whatever", 7, XIR_OK,        "[min=1 max=0]" },
        { "whatever", 1, XIR_E_TYPE,    "whatever: expected a tensor, found an integer" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        net = story_net_in(with, "x: 2 3; a = toy::nn.Numbers x; out a");
        xir_value *seven = xir_params_copy(net, XIR_STR("p"),
                                           XIR_TENSOR(with, xir_type_sint(with, 64), "*", 1), whole, 8);
        const xir_any values[] = { xir_any_real(0.5), xir_any_int(-3), xir_any_bool(true), xir_any_text(XIR_STR("x")),
                                   xir_any_null(),
                                   xir_any_list(two, 2), xir_any_list(halves, 2),
                                   { .kind = XIR_ANY_PARAMS, .as.params = seven } };
        set_attr("a", cases[i].name, values[cases[i].value]);
        xir_status status = run("to-xir", "strict");
        assert_int_equal(status, XIR_OK == cases[i].code ? XIR_OK : cases[i].code);
        char expected[100];
        snprintf(expected, sizeof expected, "a = ClampScalar x %s; out a", cases[i].text);
        if (status) check_found(0, XIR_ERROR, cases[i].code, NULL, cases[i].text);
        else CHECK_STORY(net, expected);
        xir_network_free(net);
        net = NULL;
    }
}

static void a_copy_of_a_constant_is_a_constant(void **state) {
    (void)state;
    net = story_net_in(with, "x: 2 3; w: params 2 3; a = toy::nn.Same x; b = toy::nn.Same w; c = Add a b; out c");
    assert_int_equal(run("to-xir", "strict"), XIR_OK);
    CHECK_STORY(net, "a = Copy x; c = Add a b; out c");
}

/* ---- types of inputs -------------------------------------------------------------------------------------------- */

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
        { "input-shape=\"x=2,3\"",      NULL,         0, XIR_E_MISSING, "the input 'x' has no type: expected its elements, too, as in x=2,3:fp32" },
        { "input-shape=\"x=2,3:\"",     NULL,         0, XIR_E_SYNTAX,  "found ''" },
        { "input-shape=\"x=2,3:f32\"",  NULL,         0, XIR_E_SYNTAX,  "input-shape: expected one of fp16 fp32" },
        { "input-shape=\"x=2,3:i0\"",   NULL,         0, XIR_E_SYNTAX,  "found 'i0'" },
        { "input-shape=\"x=2,3:i65\"",  NULL,         0, XIR_E_SYNTAX,  "found 'i65'" },
        { "input-shape=\"x=2,3:i8,9\"", NULL,         0, XIR_E_SYNTAX,  "found 'i8,9'" },
        { "input-shape=\"y=2,3:i8\"",   NULL,         0, XIR_E_TYPE,    "the elements for the input 'y' are not those of the file" },
        { "input-shape=\"y=2,3:fp32\"", NULL,         0, XIR_E_MISSING, NULL },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        net = xir_network_new(with, "n", XIR_FRAMEWORK_PYTORCH, "");
        const xir_type *types[] = { NULL, XIR_TENSOR(with, xir_type_float(with, XIR_FLOAT_FP32), "**", 2, 3) };
        xir_op *in = xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(with, xir_input_class()),
                                                    .types = types, .n_types = 2,
                                                          .id = XIR_NO_ID));
        assert_non_null(in);
        xir_value *x = xir_op_output(in, 0), *y = xir_op_output(in, 1);
        assert_int_equal(xir_value_set_name(x, XIR_STR("x")), XIR_OK);
        assert_int_equal(xir_value_set_name(y, XIR_STR("y")), XIR_OK);
        const xir_class *cls = class_opaque(with, XIR_STR("toy::nn.Relu"), true);
        const xir_type *none[] = { NULL };
        xir_op *relu = xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = cls, .inputs = &x, .n_inputs = 1,
                                                      .types = none, .n_types = 1,
                                                            .name = XIR_STR("r"), .id = XIR_NO_ID));
        assert_non_null(relu);
        assert_int_equal(xir_value_set_name(xir_op_output(relu, 0), XIR_STR("z")), XIR_OK);
        /* the same elements are accepted; x stays untyped */
        if (cases[i].part == NULL && cases[i].code == XIR_E_MISSING) {
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

/* A shape that a constant can't have is the reason why an op stays; memory is not at fault. */
static void a_constant_that_is_reshaped_wrongly_stays(void **state) {
    static const struct { const char *params; int64_t dims[2], letters; const char *reason; } cases[] = {
        { "2 3", { 3, -1 }, 1, "found @fp(32) [2, 3]" },   /* done, but the file declares other dims */
        { "0 3", { 0, -1 }, 0, "shape" },
        { "2 3", { 4, -1 }, 0, "shape" },
        { "2 3", { 3, 2 },  2, "'N?' are not the letters of axes" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char story[100];
        snprintf(story, sizeof story, "x: 2; w: params %s; a = toy::nn.Shaped w; b = Copy x; out a b", cases[i].params);
        net = story_net_in(with, story);
        xir_any items[] = { xir_any_int(cases[i].dims[0]), xir_any_int(cases[i].dims[1]) };
        set_attr("a", "dims", xir_any_list(items, 2));
        set_attr("a", "letters", xir_any_int(cases[i].letters));
        assert_int_not_equal(run("to-xir", NULL), XIR_E_MEMORY);
        if (!strstr(xir_diags_at(found, 0)->message.data, cases[i].reason))
            fail_msg("'%s', not '%s'", xir_diags_at(found, 0)->message.data, cases[i].reason);
        xir_network_free(net);
        net = NULL;
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

GROUP {
    const struct CMUnitTest tests[] = {
        TEST(a_dialect_is_registered_with_its_rows_and_its_pass_name),
        TEST(dialects_that_are_refused),
        TEST(a_dialect_types_and_checks_its_ops),
        TEST(formats_of_a_dialect_have_its_way_back),
        TEST(any_name_of_the_pass_converts_every_dialect),
        TEST(a_variant_tells_rows_of_one_hook_apart),
        TEST(findings_have_the_words_and_places_of_the_dialect),
        TEST(settings_accept_all_names_of_a_pass),
        TEST(needs_accept_all_names_of_a_pass),
        TEST(a_dialect_decides_which_ops_are_pure),
        TEST(inputs_are_found_by_name_or_position),
        TEST(wrong_inputs),
        TEST(every_letter_is_a_kind),
        TEST(several_kinds_and_any_name),
        TEST(a_copy_of_a_constant_is_a_constant),
        TEST(a_constant_that_is_reshaped_wrongly_stays),
        TEST(input_shape_types_an_input_without_a_type),
    };
    return RUN_GROUP(tests);
}
