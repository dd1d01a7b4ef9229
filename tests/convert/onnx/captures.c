/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Graphs of nodes that are kept know values from outside by their names: the names follow when these values get other
 * ones, and xir_onnx_rename_captures gives them. */
#include <xir/onnx.h>
#include "cases.h"
#include "convert/scarce_dialect.h"
#include "convert/way_back.h"
#include "source_tags.h"

/* The branch of an If becomes nodes of the network. The If in it, whose condition is data, stays: its graphs take g and
 * h from outside. In @K another g hides it. */
#define INNER "@I | | | Add g,h i | i", "@J | | | If b j then_branch=@K else_branch=@L | j", \
              "@K | | | Neg x g; Abs g a; Cast a i to=6; Cast i q to=1 | q", "@L | | | Identity g p | p"
#define OUTER "@T | | | Relu x g; Exp x h; ReduceSum g s keepdims=0; Greater s,k b; If b r then_branch=@I else_branch=@J | r"
#define MODEL "if | | x=f32[2] *c=bool[]{1} *k=f32[]{0} | If c y then_branch=@T else_branch=@T | y"

static const xir_op *kept_if(const xir_network *net) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        if (xir_str_equal(xir_class_key(xir_op_class(op)), XIR_STR("onnx::If"))) return op;
    fail_msg("there is no If");
    return NULL;
}

static xir_value *graph_of(const xir_op *op, const char *name) {
    const xir_any *map = xir_map_find(xir_op_extra(op), xir_str_of(name));
    assert_true(map && map->kind == XIR_ANY_MAP);
    return xir_map_find(&map->as.map, XIR_STR("onnx.graph"))->as.params;
}

/* The names that a graph takes from outside, in the order of their use, "g h". */
static const char *taken_by(const xir_value *graph) {
    static char text[200];
    size_t n = 0;
    xir_diags_clear(why);
    xir_network *body = xir_onnx_read_graph(graph, why);
    assert_non_null(body);
    text[0] = '\0';
    for (const xir_op *op = xir_network_first(body); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_input_count(op); i++) {
            const xir_value *v = xir_op_input(op, (int64_t)i);
            if (!v || xir_value_op(v) || xir_value_is_params(v)) continue;
            const xir_str name = xir_value_name(v);
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%.*s", n ? " " : "", (int)name.size, name.data);
        }
    }
    xir_network_free(body);
    return text;
}

static void names_follow_into_graphs(void **state) {
    (void)state;
    xir_network *net = CASE_MODEL(INNER, OUTER, MODEL);
    xir_diags_clear(why);
    DOES(xir_pass_run(net, "to-xir", NULL, NULL, why));
    assert_string_equal(taken_by(graph_of(kept_if(net), "then_branch")), "g h");
    DOES(xir_pass_run(net, "xir-to-onnx", NULL, NULL, why));
    assert_true(way_is_whole(net, true));
    const xir_op *op = kept_if(net);
    const xir_any *names = source_tag_find(xir_op_tags(op), SOURCE_CAPTURES);
    assert_int_equal(names->as.list.size + 1, xir_op_input_count(op));
    for (size_t i = 1; i < xir_op_input_count(op); i++)
        assert_true(xir_str_equal(names->as.list.items[i - 1].as.text, xir_value_name(xir_op_input(op, (int64_t)i))));
    assert_string_equal(taken_by(graph_of(op, "then_branch")), "y.g y.h");
    assert_string_equal(taken_by(graph_of(op, "else_branch")), "y.b x y.g");
    xir_diags_clear(why);
    xir_network *read = way_through_file(net, "onnx", xir_dialect_check);
    if (!read) fail_msg("%s", way_first_message());
    xir_network *again = way_through_file(read, "onnx", xir_dialect_check);
    assert_true(again && xir_network_equal(read, again, true));
    DOES(xir_pass_run(read, "xir-to-onnx", NULL, NULL, why));   /* names that agree stay */
    assert_true(xir_network_equal(read, again, true));
    xir_network_free(again);
    xir_network_free(read);
    xir_network_free(net);
}

static void a_graph_is_renamed(void **state) {
    (void)state;
    static const struct { const char *branch, *names[4]; size_t n; const char *taken; xir_status status; } cases[] = {
        { "then_branch", { "g", "one", "h", "two" }, 2, "one two", XIR_OK },
        { "then_branch", { "g", "h", "h", "g" },     2, "h g",     XIR_OK },
        { "then_branch", { "g", "h" },               1, "h h",     XIR_OK },
        { "then_branch", { "other", "g" },           1, "g h",     XIR_OK },
        { "then_branch", { NULL },                   0, "g h",     XIR_OK },
        { "then_branch", { "g", "i" },               1, NULL,      XIR_E_EXISTS },
        { "else_branch", { "g", "p" },               1, NULL,      XIR_E_EXISTS },
        { "else_branch", { "g", "q" },               1, "b x q",   XIR_OK },   /* @K defines q, and does not use g */
    };
    xir_network *net = CASE_MODEL(INNER, OUTER, MODEL);
    DOES(xir_pass_run(net, "to-xir", NULL, NULL, why));
    for (size_t i = 0; i < COUNT(cases); i++) {
        xir_str names[4];
        for (size_t k = 0; k < 2 * cases[i].n; k++) names[k] = xir_str_of(cases[i].names[k]);
        xir_value *graph = graph_of(kept_if(net), cases[i].branch);
        xir_diags_clear(why);
        const xir_value *made = xir_onnx_rename_captures(graph, names, cases[i].n, why);
        if (cases[i].status) {
            assert_null(made);
            assert_int_equal(xir_diags_at(why, 0)->code, cases[i].status);
        } else {
            assert_non_null(made);
            if (cases[i].taken && strcmp(taken_by(made), cases[i].taken) != 0)
                fail_msg("case %zu: expected '%s', found '%s'", i, cases[i].taken, taken_by(made));
        }
    }
    xir_network_free(net);
}

static void what_is_no_graph_is_not_renamed(void **state) {
    (void)state;
    const xir_str names[] = { XIR_STR("g"), XIR_STR("one") };
    xir_network *net = CASE_MODEL(INNER, OUTER, MODEL);
    xir_value *graph = graph_of(kept_if(net), "then_branch");
    xir_diags_clear(why);
    assert_null(xir_onnx_rename_captures(NULL, names, 1, why));
    assert_null(xir_onnx_rename_captures(graph, NULL, 1, why));
    assert_null(xir_onnx_rename_captures(xir_network_value_by_name(net, XIR_STR("x")), names, 1, why));
    assert_int_equal(xir_diags_at(why, 2)->code, XIR_E_TYPE);
    static const char cut[] = "\x0a\x7f";
    const int64_t size = sizeof cut - 1;
    DOES(xir_value_set_type(graph, xir_type_tensor(ctx, xir_type_uint(ctx, 8), NULL, &size, 1)));
    DOES(xir_params_set_copy(graph, cut, sizeof cut - 1));
    xir_diags_clear(why);
    assert_null(xir_onnx_rename_captures(graph, names, 1, why));
    assert_int_equal(xir_diags_at(why, 0)->code, XIR_E_SYNTAX);
    xir_params_clear(graph);
    xir_diags_clear(why);
    assert_null(xir_onnx_rename_captures(graph, names, 1, why));
    assert_int_equal(xir_diags_at(why, 0)->code, XIR_E_MISSING);
    xir_diags_clear(why);
    xir_network_free(net);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static void prepare(want *w) {
    static const char *const lines[] = { INNER, OUTER, MODEL };
    static onnx_case c;
    case_all_bodies()->n = 0;
    for (size_t i = 0; i < COUNT(lines); i++) (void)case_read(&c, lines[i]);
    w->net = case_network_in(w->ctx, &c);
    assert_int_equal(xir_pass_run(w->net, "to-xir", NULL, NULL, w->why), XIR_OK);
    xir_diags_clear(w->why);
}

static const char *pass_name(void) { return "xir-to-onnx"; }

GROUP {
    (void)test_checking;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_follow_into_graphs),
        cmocka_unit_test(a_graph_is_renamed),
        cmocka_unit_test(what_is_no_graph_is_not_renamed),
        cmocka_unit_test(test_converting),
    };
    return RUN_GROUP(tests);
}
