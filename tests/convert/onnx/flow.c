/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Control flow of ONNX while a network is converted: names, places, limits, and what is left of nodes that are kept.
 * What it computes is compared in cases.c. */
#include <xir/convert.h>
#include <xir/onnx.h>
#include <xir/pass.h>
#include "cases.h"
#include "support/op_list.h"

static xir_network *net;

#define MODEL(...) (net = CASE_MODEL(__VA_ARGS__))

static size_t convert(void) {
    size_t changes = 0;
    xir_diags_clear(why);
    DOES(xir_pass_run(net, "to-xir", NULL, &changes, why));
    DOES(xir_network_validate(net, why));
    return changes;
}

/* Converts, and expects the first finding to be a note with this text. */
static void keeps(const char *text) {
    (void)convert();
    const xir_diag *d = xir_diags_at(why, 0);
    if (!d || !strstr(d->message.data, text)) fail_msg("not '%s' but '%s'", text, d ? d->message.data : "");
}

static void ends(void) {
    xir_network_free(net);
    net = NULL;
}

#define IF       "if | | x=f32[2] *c=bool[]{1} | If c y then_branch=@T else_branch=@T | y"
#define THEN     "@T | | *two=f32[1]{2} | Mul x,two t; Relu t u | u"
#define LOOP(n)  "loop | | x=f32[2] *n=i64[]{" n "} z=f32[2] | Loop n,,z y,all body=@B; Neg y u | u all"
#define BODY     "@B | i c s | | Add s,x t; Identity c d | d t t"

/* ---- names and places ------------------------------------------------------------------------------------------- */

static bool has(const char *name) { return xir_network_value_by_name(net, xir_str_of(name)); }

static void names_begin_with_the_nodes_output(void **state) {
    (void)state;
    MODEL(THEN, IF);
    assert_true(convert() > 0);
    assert_true(has("y") && has("y.t") && has("y.two"));
    assert_false(has("t"));
    assert_non_null(xir_network_op_by_name(net, XIR_STR("y.n0")));
    assert_int_equal(convert(), 0);
    ends();
    MODEL(BODY, LOOP("2"));
    (void)convert();
    assert_true(has("y") && has("all") && has("y.0.t"));
    assert_non_null(xir_network_op_by_name(net, XIR_STR("y.1.n0")));
    assert_int_equal(convert(), 0);
    ends();
}

/* ---- nodes that are kept ---------------------------------------------------------------------------------------- */

/* They are as before, whatever the rounds were that could not be finished. */
static void a_node_that_is_kept_is_as_before(void **state) {
    (void)state;
    static const char *const loops[] = {
        "@B | i c s | | Add s,x t; Bogus t u; Identity c d | d u u",
        "@B | i c s | | Add s,x t; Identity t u; ReduceMax t r keepdims=0; Cast r q to=9; Identity q d | d u u",
        "@B | i c s | *m=i64[]{0} | SequenceConstruct s,x l; SequenceAt l,m t; Less m,i d0; Or d0,c d | d t t",
        "@B | i c s | *m=i64[]{0} *k=i64[]{70} | Loop k,,s t body=@I; Less m,i d0; Or d0,c d | d t t",
        "@B | i c s | *m=i64[]{9} | Concat s,x t axis=0; Less i,m d | d t t",
    };
    for (size_t i = 0; i < COUNT(loops); i++) {
        MODEL("@I | j g s | | Add s,x e; Identity g f | f e", loops[i],
              "loop | | x=f32[2] z=f32[2] | Loop ,,z y,all body=@B; Neg y u | u all");
        char *before = op_list(net), *after;
        (void)convert();
        after = op_list(net);
        if (i == 0 || i == 4) {   // these end, and what is inside is kept or joined
            free(before);
            free(after);
            ends();
            continue;
        }
        const char *loop = strstr(before, "Loop");
        assert_non_null(loop);
        if (!strstr(after, "onnx::Loop")) fail_msg("loop %zu: %s", i, after);
        free(before);
        free(after);
        assert_int_equal(xir_op_input_count(xir_network_op_by_name(net, XIR_STR("n0"))), 4);
        assert_int_equal(xir_network_op_count(net), 4);
        assert_int_equal(convert(), 0);
        ends();
    }
}

/* A declaration of a body may hold in one round alone. */
static void declared_dims_of_a_round_do_not_count(void **state) {
    (void)state;
    om g = om_begin("body"), m = om_begin("net");
    om_input(&g, "i", ONNX_INT64, OM_SCALAR);
    om_input(&g, "c", ONNX_BOOL, OM_SCALAR);
    om_input(&g, "s", ONNX_FLOAT, OM_DIMS(1));
    om_node(&g, "Identity", "", "c", "d");
    om_node(&g, "Concat", "", "s,x", "t");
    om_int(&g, "axis", 0);
    om_output(&g, "d", ONNX_BOOL, OM_SCALAR);
    om_output(&g, "t", ONNX_FLOAT, OM_DIMS(3));
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(2));
    om_input(&m, "z", ONNX_FLOAT, OM_DIMS(1));
    om_int64s(&m, "n", OM_SCALAR, (const int64_t[]){ 3 }, 1);
    om_node(&m, "Loop", "loop", "n,,z", "y");
    om_graph_attr(&m, "body", &g);
    om_output(&m, "y", 0, OM_NO_RANK);
    size_t size;
    const void *bytes = om_done(&m, &size);
    net = xir_network_read(ctx, bytes, size, XIR_STR("m.onnx"), NULL, why);
    om_free(&m);
    assert_non_null(net);
    xir_diags_clear(why);
    DOES(xir_dialect_check(net, why));
    (void)convert();
    assert_int_equal(xir_diags_count(why), 0);
    assert_int_equal(xir_type_dim(xir_value_type(xir_network_value_by_name(net, XIR_STR("y"))), 0, false), 7);
    ends();
}

/* ---- lists ------------------------------------------------------------------------------------------------------ */

static void a_list_that_is_a_result_stays(void **state) {
    (void)state;
    MODEL("@T | | | Neg x n; SequenceConstruct x,n l | l",
          "if | | x=f32[2] *c=bool[]{1} | If c s then_branch=@T else_branch=@T; SequenceLength s k | s k");
    keeps("a value is one tensor, not a list of tensors");
    const xir_op *last = xir_network_output_op(net), *list = xir_value_op(xir_op_input(last, 0));
    assert_true(xir_str_equal(xir_class_key(xir_op_class(list)), XIR_STR("onnx::SequenceConstruct")));
    assert_true(has("s"));
    assert_true(xir_value_is_params(xir_op_input(last, 1)));
    assert_int_equal(xir_network_op_count(net), 4);   // Input, Neg, the list, Output
    assert_int_equal(convert(), 0);
    ends();
    MODEL("x | | x=f32[3] | SplitToSequence x s | s");
    keeps("a value is one tensor");
    assert_int_equal(xir_network_op_count(net), 3);
    assert_int_equal(convert(), 0);
    ends();
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

static void limits_are_those_of_the_context(void **state) {
    (void)state;
    xir_limits before = XIR_INIT(xir_limits, .max_depth = 0);
    DOES(xir_context_limits(ctx, &before, why));
    assert_true(before.max_rounds == 64 && before.max_unrolled == 10000);
    DOES(xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_rounds = 2), why));
    MODEL(BODY, LOOP("3"));
    keeps("there are 3 rounds, more than 2");
    ends();
    MODEL(BODY, LOOP("2"));
    (void)convert();
    assert_int_equal(xir_diags_count(why), 0);
    ends();
    DOES(xir_context_set_limits(ctx, &before, why));
    DOES(xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_unrolled = 5), why));
    MODEL(BODY, LOOP("3"));
    keeps("unrolled loops have more than 5 ops");
    ends();
    DOES(xir_context_set_limits(ctx, &before, why));
    DOES(xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_inlined = 1), why));
    MODEL(THEN, IF);
    keeps("branches, functions and loops have more than 1 ops");
    ends();
    DOES(xir_context_set_limits(ctx, &before, why));
}

/* Each function calls the next one `times` times. */
static void chain(size_t n, size_t times) {
    static onnx_case c;
    static char line[300];
    case_all_bodies()->n = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)snprintf(line, sizeof line, "@h.F%zu | x | | ", i);
        for (size_t k = 0; k < times; k++) {
            char type[30] = "Neg";
            if (i + 1 < n) snprintf(type, sizeof type, "h.F%zu", i + 1);
            at += (size_t)snprintf(line + at, sizeof line - at, "%s %s %s; ", type, k ? "a" : "x",
                                   k + 1 == times ? "y" : "a");
        }
        line[at - 2] = '\0';
        strcat(line, "| y");
        assert_false(case_read(&c, line));
    }
    assert_true(case_read(&c, "chain | | x=f32[2] | h.F0 x y | y"));
    net = case_network(&c);
}

static void deep_and_wide_calls_are_limited(void **state) {
    (void)state;
    chain(110, 1);
    (void)convert();
    assert_int_equal(xir_network_op_count(net), 3);
    ends();
    xir_limits before = XIR_INIT(xir_limits, .max_depth = 0);
    DOES(xir_context_limits(ctx, &before, why));
    DOES(xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_depth = 100, .max_inlined = 2000), why));
    chain(110, 1);
    keeps("nested more than 100 deep");
    ends();
    chain(40, 2);
    keeps("more than 2000 ops");
    ends();
    DOES(xir_context_set_limits(ctx, &before, why));
}

/* ---- bytes ------------------------------------------------------------------------------------------------------ */

static xir_value *branch_of(const char *name) {
    const xir_op *op = xir_network_op_by_name(net, XIR_STR("n0"));
    const xir_any *map = xir_map_find(xir_op_extra(op), xir_str_of(name));
    assert_true(map && map->kind == XIR_ANY_MAP);
    return xir_map_find(&map->as.map, XIR_STR("onnx.graph"))->as.params;
}

static void a_graph_is_read_by_itself(void **state) {
    (void)state;
    MODEL(THEN, IF);
    xir_diags_clear(why);
    xir_network *body = xir_onnx_read_graph(branch_of("then_branch"), why);
    assert_non_null(body);
    assert_int_equal(xir_network_op_count(body), 4);
    const xir_value *x = xir_op_input(xir_network_op_at(body, 1), 0);
    assert_true(!xir_value_op(x) && !xir_value_is_params(x) && xir_str_equal(xir_value_name(x), XIR_STR("x")));
    xir_network_free(body);
    assert_null(xir_onnx_read_graph(NULL, why));
    assert_null(xir_onnx_read_graph(x = xir_network_value_by_name(net, XIR_STR("x")), why));
    assert_int_equal(xir_diags_at(why, 1)->code, XIR_E_TYPE);
    ends();
}

/* The message of a graph without nodes, inputs and outputs; with and without a blob. */
static void a_graph_may_have_no_bytes(void **state) {
    (void)state;
    for (int way = 0; way < 3; way++) {
        MODEL(THEN, IF);
        xir_value *branch = branch_of("then_branch");
        DOES(xir_value_set_type(branch, xir_type_tensor(ctx, xir_type_uint(ctx, 8), NULL, &(int64_t){ 0 }, 1)));
        if (way == 0) xir_params_clear(branch);
        else if (way == 1) DOES(xir_params_set_copy(branch, "", 0));
        else DOES(xir_params_set_borrow(branch, NULL, 0, NULL, NULL));
        xir_diags_clear(why);
        xir_network *body = xir_onnx_read_graph(branch, why);
        assert_non_null(body);
        assert_int_equal(xir_network_op_count(body), 2);
        assert_int_equal(xir_network_inputs(body, NULL, 0) + xir_network_outputs(body, NULL, 0), 0);
        xir_network_free(body);
        assert_int_equal(xir_pass_run(net, "to-xir", NULL, NULL, why), XIR_E_BOUNDS);
        assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "then_branch: expected 1 outputs"));
        ends();
    }
}

static void bytes_that_are_wrong_or_missing(void **state) {
    (void)state;
    MODEL(THEN, IF);
    xir_params_clear(branch_of("then_branch"));
    xir_diags_clear(why);
    assert_null(xir_onnx_read_graph(branch_of("then_branch"), why));
    assert_int_equal(xir_diags_at(why, 0)->code, XIR_E_MISSING);
    xir_params_set_allow_no_data(branch_of("then_branch"), true);
    keeps("then_branch: the bytes of the graph were not loaded");
    ends();
    static const char garbage[] = "\x0a\x05garbage";
    MODEL(THEN, IF);
    xir_value *branch = branch_of("then_branch");
    const int64_t size = sizeof garbage - 1;
    DOES(xir_value_set_type(branch, xir_type_tensor(ctx, xir_type_uint(ctx, 8), NULL, &size, 1)));
    DOES(xir_params_set_copy(branch, garbage, sizeof garbage - 1));
    xir_diags_clear(why);
    assert_int_equal(xir_pass_run(net, "to-xir", NULL, NULL, why), XIR_E_SYNTAX);
    assert_true(xir_str_equal(xir_diags_at(why, 0)->path, XIR_STR("/graph/node/0/attribute/then_branch")));
    ends();
}

static void functions_are_read_from_base64(void **state) {
    (void)state;
    static const char *const bad[] = { "A", "A===", "####", "=AAA", "AA=A", "CgVn" };
    for (size_t i = 0; i < COUNT(bad); i++) {
        xir_diags_clear(why);
        assert_null(xir_onnx_read_function(ctx, xir_str_of(bad[i]), why));
        assert_int_equal(xir_diags_count(why), 1);
        assert_int_equal(xir_diags_at(why, 0)->code, XIR_E_SYNTAX);
    }
    assert_null(xir_onnx_read_function(NULL, XIR_STR(""), why));
    xir_network *f = xir_onnx_read_function(ctx, XIR_STR("CgFG"), why);   // the name F
    assert_non_null(f);
    assert_true(xir_str_equal(xir_network_text_of(f, XIR_TEXT_NAME), XIR_STR("F")));
    xir_network_free(f);
    MODEL("@h.F | x | k=2.0 b | Neg x y | y", "call | | x=f32[2] | h.F x y | y");
    const xir_any *list = xir_map_find(xir_network_tags(net), XIR_STR("onnx.functions"));
    f = xir_onnx_read_function(ctx, list->as.list.items[0].as.text, why);
    assert_non_null(f);
    const xir_op *defaults = xir_network_op_at(f, 1);
    assert_true(xir_str_equal(xir_class_key(xir_op_class(defaults)), XIR_STR("onnx::FunctionProto")));
    assert_int_equal(xir_op_extra(defaults)->size, 1);
    xir_network_free(f);
    ends();
}

/* A function that can't be read is an error with its place. */
static void a_function_that_is_wrong(void **state) {
    (void)state;
    MODEL("@h.F | x | | Neg x y | y", "call | | x=f32[2] | h.F x y | y");
    const xir_any text = xir_any_text(XIR_STR("CgVn")), list = xir_any_list(&text, 1);
    DOES(xir_network_set_tag(net, XIR_STR("onnx.functions"), &list));
    xir_diags_clear(why);
    assert_int_equal(xir_pass_run(net, "to-xir", NULL, NULL, why), XIR_E_SYNTAX);
    assert_true(xir_str_equal(xir_diags_at(why, 0)->path, XIR_STR("/functions/0")));
    ends();
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_begin_with_the_nodes_output), cmocka_unit_test(a_node_that_is_kept_is_as_before),
        cmocka_unit_test(a_list_that_is_a_result_stays),     cmocka_unit_test(limits_are_those_of_the_context),
        cmocka_unit_test(deep_and_wide_calls_are_limited),   cmocka_unit_test(a_graph_is_read_by_itself),
        cmocka_unit_test(a_graph_may_have_no_bytes),         cmocka_unit_test(bytes_that_are_wrong_or_missing),
        cmocka_unit_test(functions_are_read_from_base64),    cmocka_unit_test(a_function_that_is_wrong),
        cmocka_unit_test(declared_dims_of_a_round_do_not_count),
    };
    return RUN_GROUP(tests);
}
