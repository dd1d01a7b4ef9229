/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Calls as functions of a model, and back: every case of the executor's tables in the body of a call, what functions
 * cannot have, their names and constants, and nodes of functions that become calls (functions=keep). */
#include <xir/convert.h>
#include <xir/onnx.h>
#include <xir/region.h>
#include "convert/onnx/cases.h"
#include "convert/way_back.h"
#include "support/often.h"
#include "support/scarce.h"
#include "support/story.h"

static size_t calls_in(const xir_network *net) {
    size_t n = 0;
    XIR_EACH_OP(op, net) n += xir_op_is(op, xir_call_op_class());
    return n;
}

static const xir_list *functions_of(const xir_network *net) {
    static const xir_list none;
    const xir_any *tag = xir_network_tags(net) ? xir_map_find(xir_network_tags(net), XIR_STR("onnx.functions")) : NULL;
    return tag ? &tag->as.list : &none;
}

static void run_pass(xir_network *net, const char *name, const char *options) {
    xir_diags_clear(why);
    if (!xir_pass_run(net, name, options, NULL, why)) return;
    xir_diags_print(why, stderr);
    fail_msg("%s", name);
}

/* One op as the only one of a call. */
static bool outline_one(xir_network *net, xir_op *op, const char *name) {
    const xir_outline_options how = XIR_INIT(xir_outline_options, .name = xir_str_of(name));
    if (xir_outline(net, &op, 1, &how)) return true;
    xir_network_clear_status(net);
    return false;
}

/* ---- every case -------------------------------------------------------------------------------------------------- */

typedef struct figures { size_t functions, inlined, calls; } figures;
static figures seen;

static void check_functions(xir_network *net, way_case *w, const char *how) {
    for (size_t i = 0; i < functions_of(net)->size; i++) {
        xir_network *f = xir_onnx_read_function(ctx, functions_of(net)->items[i].as.text, why);
        if (!f) op_case_fail(&w->c, "a function", "%s%s", way_first_message(), how);
        xir_network_free(f);
    }
}

/* The file has the call, and reading it makes a call again. */
static void there_and_back(way_case *w, xir_network *net, const char *how) {
    xir_diags_clear(why);
    const bool sound = xir_network_validate(net, why) == XIR_OK && xir_dialect_check(net, why) == XIR_OK;
    if (!sound) {
        op_case_fail(&w->c, "sound operators", "%s%s", way_first_message(), how);
        return;
    }
    check_functions(net, w, how);
    xir_network *file = way_through_file(net, "onnx", xir_dialect_check);
    if (!file && strstr(way_first_message(), "that ONNX does not have")) return;
    if (!file) {
        op_case_fail(&w->c, "a file", "%s%s", way_first_message(), how);
        return;
    }
    xir_diags_clear(why);
    const bool back = !xir_pass_run(file, "onnx-to-xir", "strict,functions=keep", NULL, why) &&
                      way_is_whole(file, false) && xir_network_validate(file, why) == XIR_OK;
    if (!back) op_case_fail(&w->c, "ops of XIR", "%s%s", way_first_message(), how);
    else way_compute(&w->c, NULL, file, w->in, way_input_stored, way_stored, how);
    seen.calls += calls_in(file);
    xir_network_free(file);
}

/* Returns true if the op alone becomes operators, and a call of it may: maps that hold x / ratio are outside, too. */
static bool is_whole_alone(const way_case *w, const char *options) {
    xir_network *net = xir_network_clone(w->c.net);
    bool ratios = false;
    XIR_EACH_OP(op, net) {
        XIR_EACH_OUTPUT(v, op) ratios |= xir_type_norm_ratios(xir_type_element(xir_value_type(v))) != NULL;
    }
    const bool whole = !xir_pass_run(net, "denormalize", NULL, NULL, NULL) &&
                       !xir_pass_run(net, "layout", "to=nchw", NULL, NULL) &&
                       !xir_pass_run(net, "xir-to-onnx", options, NULL, NULL) && way_is_whole(net, true);
    xir_network_free(net);
    return whole && !ratios;
}

static void convert(way_case *w, int version) {
    char how[60], options[24];
    snprintf(how, sizeof how, ", version %d%s", version, w->how);
    snprintf(options, sizeof options, "opset=%d", version);
    xir_network *net = xir_network_clone(w->c.net);
    if (outline_one(net, xir_network_op_by_id(net, xir_op_id(w->op)), "f")) {
        xir_diags_clear(why);
        assert_int_equal(xir_pass_run(net, "xir-to-onnx", options, NULL, why), XIR_OK);
        assert_int_equal(calls_in(net), 0);
        const bool function = functions_of(net)->size == 1;
        seen.functions += function;
        seen.inlined += !function;
        const bool whole = is_whole_alone(w, options);
        if (function != whole) op_case_fail(&w->c, whole ? "a function" : "no function", "%s", how);
        if (function && !way_is_whole(net, true)) op_case_fail(&w->c, "operators alone", "%s", how);
        else if (function) there_and_back(w, net, how);
    }
    xir_network_free(net);
}

static void each(const char *text, const char *file, int line, op_counts *counts) {
    static const int versions[] = { 21, 13 };
    enum { VERSIONS = IS_SANITIZED ? 1 : COUNT(versions) };
    for (int constants = 0; constants < 2; constants++) {
        way_case w;
        way_case_begin(&w, text, file, line, counts, constants);
        for (size_t i = 0; w.op && i < VERSIONS; i++) convert(&w, versions[i]);
        counts->good += w.op != NULL;
        way_case_end(&w);
    }
}

static void tables_become_functions_and_come_back(void **state) {
    (void)state;
    op_counts counts = { .out = stderr };
    way_each("convert/onnx/back.txt", each, &counts);
    printf("%zu calls become functions, %zu are inlined; %zu calls come back\n", seen.functions, seen.inlined,
           seen.calls);
    if (counts.failed) fail_msg("%zu cases fail", counts.failed);
    assert_true(seen.functions > 1000 && seen.calls > 1000);
}

/* ---- stories ----------------------------------------------------------------------------------------------------- */

#define NESTED "x: 2 3; a/s = Sigmoid x; a/t = Tanh a/s; b/e/s = Exp a/t; b/e/r = ReLU b/e/s; b/f/s = Sigmoid b/e/r; " \
               "c = ReLU b/f/s; out c"

/* Writes the network as a file of ONNX, and reads that with functions kept. */
static xir_network *back_again(xir_network *net) {
    xir_diags_clear(why);
    xir_network *file = way_through_file(net, "onnx", xir_dialect_check);
    if (!file) fail_msg("%s", way_first_message());
    run_pass(file, "onnx-to-xir", "strict,functions=keep");
    CHECK_SOUND(file);
    return file;
}

static bool has_class(const xir_network *net, const char *key) {
    XIR_EACH_OP(op, net) if (xir_str_equal(xir_class_key(xir_op_class(op)), xir_str_of(key))) return true;
    return false;
}

static void calls_in_calls(void **state) {
    (void)state;
    xir_network *net = story_net(NESTED), *before = xir_network_clone(net);
    run_pass(net, "outline", "by=name,depth=2");
    run_pass(net, "outline", "by=name");
    run_pass(net, "xir-to-onnx", "strict");
    assert_int_equal(functions_of(net)->size, 4);
    assert_true(has_class(net, "onnx::icraft.xir.calls.a") && has_class(net, "onnx::icraft.xir.calls.b"));
    xir_network *file = back_again(net);
    assert_int_equal(calls_in(file), 2);
    CHECK_SAME_NUMBERS(before, file);
    run_pass(file, "xir-to-onnx", "strict");   /* the same functions, whose names calls remember */
    assert_int_equal(functions_of(file)->size, 4);
    assert_true(has_class(file, "onnx::icraft.xir.calls.a") && has_class(file, "onnx::icraft.xir.calls.b"));
    run_pass(file, "onnx-to-xir", "strict");
    assert_int_equal(calls_in(file), 0);
    CHECK_SAME_NUMBERS(before, file);
    xir_network_free(before);
    xir_network_free(file);
    xir_network_free(net);
}

static void calls_of_one_name(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; a = Sigmoid x; b = Tanh a; c = Sigmoid b; d = Exp c; out d");
    xir_network *before = xir_network_clone(net);
    for (int i = 1; i <= 4; i++) assert_true(outline_one(net, xir_network_op_at(net, i), "1 f"));
    run_pass(net, "xir-to-onnx", "strict");
    assert_int_equal(functions_of(net)->size, 3);   /* two calls have one function */
    assert_true(has_class(net, "onnx::icraft.xir.calls._1_f") && has_class(net, "onnx::icraft.xir.calls._1_f_2"));
    xir_network *file = back_again(net);
    assert_int_equal(calls_in(file), 4);
    CHECK_SAME_NUMBERS(before, file);
    xir_network_free(before);
    xir_network_free(file);
    xir_network_free(net);
}

/* A call with an op that ONNX has no operator for is inlined, and so are the calls around it. */
static void what_stays_is_inlined(void **state) {
    (void)state;
    xir_network *net = story_net("x: NHWC 1 4 4 2; g: NHWC 1 2 2 2; a/b/s = Sigmoid x; a/b/u = GridSample a/b/s g; a/c/t = "
                                 "Tanh a/b/u; a/c/e = Exp a/c/t; out a/c/e");
    run_pass(net, "outline", "by=name,depth=2");
    run_pass(net, "outline", "by=name");
    assert_int_equal(calls_in(net), 1);
    xir_diags_clear(why);
    DOES(xir_pass_run(net, "xir-to-onnx", "opset=13", NULL, why));   /* which has no GridSample */
    assert_int_equal(calls_in(net), 0);
    assert_int_equal(functions_of(net)->size, 1);
    assert_non_null(strstr(way_first_message(), "2 calls are inlined: a function of ONNX has operators alone"));
    xir_network_free(net);
}

/* A constant of 1024 bytes is an input of the function, which two calls share; a smaller one is inside. */
static void large_constants_are_inputs(void **state) {
    (void)state;
    xir_network *net = story_net("x: 1 16; w: params 16 16; b: params 16; y = Matmul x w; z = Add y b; p = Matmul z w; q = Add p "
                                 "b; out q");
    xir_network *before = xir_network_clone(net);
    xir_op *ops[] = { xir_network_op_at(net, 1), xir_network_op_at(net, 2) };
    assert_non_null(xir_outline(net, ops, 2, NULL));
    xir_op *more[] = { xir_network_op_at(net, 2), xir_network_op_at(net, 3) };
    assert_non_null(xir_outline(net, more, 2, NULL));
    run_pass(net, "xir-to-onnx", "strict");
    assert_int_equal(functions_of(net)->size, 1);
    const xir_op *first = xir_network_op_at(net, 1), *second = xir_network_op_at(net, 2);
    assert_int_equal(xir_op_input_count(first), 2);
    assert_true(xir_value_is_params(xir_op_input(first, 1)) && xir_op_input(first, 1) == xir_op_input(second, 1));
    xir_network *file = back_again(net);
    assert_int_equal(calls_in(file), 2);
    CHECK_SAME_NUMBERS(before, file);
    xir_network_free(before);
    xir_network_free(file);
    xir_network_free(net);
}

/* An input of the body that is a result of it, too. */
static void an_input_may_be_a_result(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; y: 2 3; a = Sigmoid x; b = Add a y; out b a");
    xir_network *before = xir_network_clone(net);
    xir_op *ops[] = { xir_network_op_at(net, 1), xir_network_op_at(net, 2) };
    xir_op *call = xir_outline(net, ops, 2, NULL);
    assert_non_null(call);
    xir_attr body;
    DOES(xir_op_get(call, XIR_STR("body"), &body));
    const xir_ops in = body.as.ops;
    DOES(xir_op_set_input(in.data[in.size - 1], 1, xir_op_output(in.data[0], 0)));   /* x itself in place of a */
    xir_network_free(before);
    before = xir_network_clone(net);
    run_pass(net, "xir-to-onnx", "strict");
    assert_int_equal(functions_of(net)->size, 1);
    xir_network *file = back_again(net);
    CHECK_SAME_NUMBERS(before, file);
    xir_network_free(before);
    xir_network_free(file);
    xir_network_free(net);
}

/* A function imports the operator sets of its nodes, and no others. */
static void functions_import_what_they_use(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 2; y = onnx::com.microsoft.Gelu x; z = Sigmoid y; u = onnx::other.Op z; out u");
    const xir_entry sets[] = { { XIR_STR(""), xir_any_int(17) }, { XIR_STR("com.microsoft"), xir_any_int(1) },
                               { XIR_STR("other"), xir_any_int(3) } };
    const xir_any map = xir_any_map(sets, 3);
    DOES(xir_network_set_tag(net, XIR_STR("onnx.opset"), &map));
    xir_op *ops[] = { xir_network_op_at(net, 1), xir_network_op_at(net, 2) };
    assert_non_null(xir_outline(net, ops, 2, NULL));
    run_pass(net, "xir-to-onnx", "strict");
    assert_int_equal(functions_of(net)->size, 1);
    xir_network *f = xir_onnx_read_function(ctx, functions_of(net)->items[0].as.text, why);
    assert_non_null(f);
    const xir_any *used = xir_map_find(xir_network_tags(f), XIR_STR("onnx.opset"));
    assert_int_equal(used->as.map.size, 2);
    CHECK_STR(used->as.map.entries[1].key, "com.microsoft");
    assert_int_equal(xir_map_find(xir_network_tags(net), XIR_STR("onnx.opset"))->as.map.size, 4);
    xir_network_free(f);
    xir_network_free(net);
}

/* ---- nodes of functions ------------------------------------------------------------------------------------------ */

static const struct { const char *function, *model; size_t calls; } kept[] = {
    { "@h.F | x | | Neg x y | y",                    "one | | x=f32[2] | h.F x y | y",                           1 },
    { "@h.F | x | k=2.0 | Elu x y alpha=$k:f | y",   "defaults | | x=f32[2] | h.F x y; h.F y z k=0.5 | z",       2 },
    { "@h.F | x w | | Add x,w t; Neg t y | y",       "constant | | x=f32[2] *w=f32[2] | h.F x,w y | y",          1 },
    { "@h.F | x lo hi | | Clip x,lo,hi y | y",       "absent | | x=f32[2] *hi=f32[]{0.5} | h.F x,,hi y | y",     1 },
    { "@h.F | x | | Neg x y; Abs x z | y z",         "two | | x=f32[2] | h.F x a,b; Add a,b c | c",              1 },
    { "@h.F | x | | Neg x y; Abs x z | y z",         "optional | | x=f32[2] | h.F x a | a",                      1 },
    { "@h.F | x | | Identity x y | y",               "copy | | x=f32[2] | h.F x a; Neg a b | b",                 1 },
};

static void nodes_of_functions_become_calls(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(kept); i++) {
        xir_network *net = CASE_MODEL(kept[i].function, kept[i].model), *plain = xir_network_clone(net);
        run_pass(net, "onnx-to-xir", "strict,functions=keep");
        run_pass(plain, "onnx-to-xir", "strict");
        CHECK_SOUND(net);
        if (calls_in(net) != kept[i].calls) fail_msg("%s: %zu calls", kept[i].model, calls_in(net));
        assert_int_equal(calls_in(plain), 0);
        CHECK_SAME_NUMBERS(plain, net);
        run_pass(net, "xir-to-onnx", "strict");
        if (kept[i].calls && !strstr(kept[i].model, "defaults")) assert_true(has_class(net, "onnx::h.F"));
        xir_network *file = back_again(net);
        CHECK_SAME_NUMBERS(plain, file);
        xir_network_free(file);
        xir_network_free(plain);
        xir_network_free(net);
    }
}

#define F "@h.F | x | | Neg x t; Abs t y | y"

/* In functions, branches and rounds: so many calls, those in calls not counted. */
static const struct { const char *lines[4]; size_t calls; } within[] = {
    { { F, "@h.G | x | | h.F x t; h.F t y | y", "nested | | x=f32[2] | h.G x y; h.F y z | z" }, 2 },
    { { F, "@h.G | x | | Relu x t; h.F t y | y", "again | | x=f32[2] | h.G x y; h.G y z | z" }, 2 },
    { { F, "@T | | | h.F x t | t", "if | | x=f32[2] *c=bool[]{1} | h.F x q; If c y then_branch=@T else_branch=@T | y q" }, 2 },
    { { F, "@T | | | h.F x t | t", "data | | x=f32[2] c=bool[]{0} | h.F x q; If c y then_branch=@T else_branch=@T | y q" }, 3 },
    { { F, "@B | i c s | | h.F s t; Identity c d | d t t",
        "loop | | x=f32[2] *n=i64[]{3} z=f32[2] | h.F x q; Loop n,,z y,all body=@B; Neg y u | u all q" }, 4 },
};

static void nodes_in_bodies_become_calls(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(within); i++) {
        size_t n = 0;
        while (n < 4 && within[i].lines[n]) n++;
        xir_network *net = case_model(within[i].lines, n), *plain = xir_network_clone(net);
        run_pass(net, "onnx-to-xir", "strict,functions=keep");
        run_pass(plain, "onnx-to-xir", "strict");
        CHECK_SOUND(net);
        if (calls_in(net) != within[i].calls) fail_msg("%s: %zu calls", within[i].lines[n - 1], calls_in(net));
        CHECK_SAME_NUMBERS(plain, net);
        run_pass(net, "xir-to-onnx", "strict");
        xir_network *file = back_again(net);
        CHECK_SAME_NUMBERS(plain, file);
        xir_network_free(file);
        xir_network_free(plain);
        xir_network_free(net);
    }
}

/* A node with a graph that calls a function stays as it was, and the function keeps its name: calls get others. */
static void functions_of_nodes_that_stay(void **state) {
    (void)state;
    xir_network *net = CASE_MODEL(F, "@B | i c s | | h.F s t; Identity c d | d t t",
                                  "loop | | x=f32[2] n=i64[]{3} z=f32[2] | h.F x q; Loop n,,z y,all body=@B; Neg y u | u q");
    run_pass(net, "onnx-to-xir", "functions=keep");
    assert_int_equal(calls_in(net), 1);
    assert_true(has_class(net, "onnx::Loop"));
    run_pass(net, "xir-to-onnx", "strict");
    assert_int_equal(functions_of(net)->size, 2);
    assert_true(has_class(net, "onnx::h.F_2"));
    xir_diags_clear(why);
    xir_network *file = way_through_file(net, "onnx", xir_dialect_check);
    if (!file) fail_msg("%s", way_first_message());
    xir_network_free(file);
    xir_network_free(net);
}

/* A node with a graph that stays is in the body of the call, and in its function. */
static void nodes_that_stay_in_functions(void **state) {
    (void)state;
    xir_network *net = CASE_MODEL("@B | i c s=f32[2] | | Add s,x t; Identity c d | d t t",
                                  "@h.G | x n z | | Loop n,,z y,all body=@B; Neg y u | u",
                                  "loop | | x=f32[2] n=i64[]{3} z=f32[2] | h.G x,n,z u; h.G x,n,u v | v");
    run_pass(net, "onnx-to-xir", "functions=keep");
    assert_int_equal(calls_in(net), 2);
    CHECK_SOUND(net);
    run_pass(net, "xir-to-onnx", "strict");
    assert_int_equal(calls_in(net), 0);
    assert_int_equal(functions_of(net)->size, 2);
    xir_diags_clear(why);
    const xir_type *type = XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "*", 2);
    DOES(xir_value_set_type(xir_network_value_by_name(net, XIR_STR("v")), type));   /* that of a Loop is unknown */
    xir_network *file = way_through_file(net, "onnx", xir_dialect_check);
    if (!file) fail_msg("%s", way_first_message());
    run_pass(file, "onnx-to-xir", "functions=keep");
    assert_int_equal(calls_in(file), 2);
    CHECK_SOUND(file);
    xir_network_free(file);
    xir_network_free(net);
}

static void what_is_kept_is_said(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2; y = ReLU x; out y");
    xir_diags_clear(why);
    assert_int_equal(xir_pass_run(net, "to-xir", "functions=some", NULL, why), XIR_E_SYNTAX);
    assert_non_null(strstr(way_first_message(), "functions: expected 'expand' or 'keep', found 'some'"));
    xir_network_free(net);
}

/* ---- bad input --------------------------------------------------------------------------------------------------- */

static void functions_that_cannot_be_written(void **state) {
    (void)state;
    xir_text_buffer text;
    xir_network *net = story_net("x: 2; y = ReLU x; out y");
    assert_int_equal(xir_onnx_write_function(NULL, &text, why), XIR_E_MISSING);
    assert_int_equal(xir_onnx_write_function(net, NULL, why), XIR_E_MISSING);
    DOES(xir_network_set_text(net, XIR_TEXT_NAME, XIR_STR("f")));
    assert_int_equal(xir_onnx_write_function(net, &text, why), XIR_E_UNSUPPORTED);   /* an op of XIR */
    assert_int_equal(text.size, 0);
    run_pass(net, "xir-to-onnx", "strict");
    DOES(xir_network_set_text(net, XIR_TEXT_NAME, XIR_STR("")));
    assert_int_equal(xir_onnx_write_function(net, &text, why), XIR_E_INVALID);       /* no name */
    DOES(xir_network_set_text(net, XIR_TEXT_NAME, XIR_STR("f")));
    DOES(xir_onnx_write_function(net, &text, why));
    xir_network *again = xir_onnx_read_function(ctx, (xir_str){ text.data, text.size }, why);
    assert_non_null(again);
    CHECK_STR(xir_network_text_of(again, XIR_TEXT_NAME), "f");
    xir_text_buffer twice;
    DOES(xir_onnx_write_function(again, &twice, why));
    assert_true(xir_str_equal((xir_str){ text.data, text.size }, (xir_str){ twice.data, twice.size }));
    xir_text_free(&twice);
    xir_text_free(&text);
    xir_op *node = xir_network_op_at(again, 2);   /* after a constant */
    const xir_entry to = { XIR_STR("onnx.ref"), xir_any_text(XIR_STR("k")) };
    const xir_any reference = xir_any_map(&to, 1);
    DOES(xir_op_set_extra(node, XIR_STR("alpha"), &reference));
    assert_int_equal(xir_onnx_write_function(again, &text, why), XIR_E_UNSUPPORTED);
    DOES(xir_op_set_extra(node, XIR_STR("alpha"), NULL));
    const xir_type *type = XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "*", 2);
    DOES(xir_op_set_input(node, 0, xir_value_new(again, XIR_STR("outside"), type, NULL)));
    assert_int_equal(xir_onnx_write_function(again, &text, why), XIR_E_INVALID);
    xir_network_free(again);
    xir_network_free(net);
    xir_diags_clear(why);
}

/* Functions that call each other in a circle are refused, kept or not. */
static void circles_are_refused(void **state) {
    (void)state;
    xir_network *net = CASE_MODEL("@c.F | x | | c.G x y | y", "@c.G | x | | c.F x y | y",
                                  "circle | | x=f32[2] | c.F x y | y");
    xir_diags_clear(why);
    assert_int_equal(xir_pass_run(net, "onnx-to-xir", "functions=keep", NULL, why), XIR_E_INVALID);
    assert_non_null(strstr(way_first_message(), "functions call each other in a circle"));
    assert_int_equal(calls_in(net), 0);
    xir_network_free(net);
    xir_diags_clear(why);
}

/* ---- little memory ----------------------------------------------------------------------------------------------- */

static bool convert_in(xir_context *with) {
    xir_network *net = story_net_in(with, "x: 1 16; w: params 16 16; a/b/y = Matmul x w; a/b/z = ReLU a/b/y; a/s = Sigmoid "
                                          "a/b/z; c/t = Tanh a/s; out c/t");
    const bool done = net && !xir_pass_run(net, "outline", "by=name,depth=2", NULL, NULL) &&
                      !xir_pass_run(net, "outline", "by=name", NULL, NULL) &&
                      !xir_pass_run(net, "xir-to-onnx", NULL, NULL, NULL) &&
                      !xir_pass_run(net, "onnx-to-xir", "functions=keep", NULL, NULL) && calls_in(net) == 2;
    xir_network_free(net);
    return done;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    check_memory(convert_in);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_become_functions_and_come_back),
        cmocka_unit_test(calls_in_calls),
        cmocka_unit_test(calls_of_one_name),
        cmocka_unit_test(what_stays_is_inlined),
        cmocka_unit_test(large_constants_are_inputs),
        cmocka_unit_test(an_input_may_be_a_result),
        cmocka_unit_test(functions_import_what_they_use),
        cmocka_unit_test(nodes_of_functions_become_calls),
        cmocka_unit_test(nodes_in_bodies_become_calls),
        cmocka_unit_test(functions_of_nodes_that_stay),
        cmocka_unit_test(nodes_that_stay_in_functions),
        cmocka_unit_test(what_is_kept_is_said),
        cmocka_unit_test(functions_that_cannot_be_written),
        cmocka_unit_test(circles_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return RUN_GROUP(tests);
}
