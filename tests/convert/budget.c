/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Constants of a model that would take too much work are not computed, neither by a check nor by a conversion: a note
 * names the node, and it is not an error. */
#include <stdio.h>
#include "model.h"
#include "support/weigh.h"

/* y = x + the sum of all products of six constant vectors, `each` numbers long. */
static xir_network *six_vectors(int64_t each) {
    static float ones[1000];
    static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
    size_t size;
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(1));
    for (size_t i = 0; i < COUNT(names); i++) om_floats(&m, names[i], OM_DIMS(each), ones, (size_t)each);
    om_node(&m, "Einsum", "sum", "a,b,c,d,e,f", "s");
    om_text(&m, "equation", "a,b,c,d,e,f->");
    om_node(&m, "Add", "add", "x,s", "y");
    om_output(&m, "y", ONNX_FLOAT, OM_DIMS(1));
    const void *bytes = om_done(&m, &size);
    xir_network *net = xir_network_read(ctx, bytes, size, XIR_STR("model.onnx"), NULL, why);
    assert_non_null(net);
    xir_diags_clear(why);
    return net;
}

static const char ages[] =
    "Einsum 'sum' (node 0): its inputs are constants, but it is not computed: it takes 2657205000000000010 steps, and a "
    "constant may take 2000000000";

static void check_note(const char *before, const char *sentence) {
    assert_int_equal(xir_diags_count(why), 1);
    const xir_diag *d = xir_diags_at(why, 0);
    char expected[300];
    snprintf(expected, sizeof expected, "%s%s", before, sentence);
    assert_int_equal(d->severity, XIR_NOTE);
    CHECK_STR(d->message, expected);
    CHECK_STR(d->path, "/graph/node/0");
    xir_diags_clear(why);
}

static void a_check_computes_small_constants(void **state) {
    (void)state;
    xir_network *net = six_vectors(4);
    DOES(xir_dialect_check(net, why));
    assert_int_equal(xir_diags_count(why), 0);
    xir_network_free(net);
}

static void a_check_skips_expensive_constants(void **state) {
    (void)state;
    xir_network *net = six_vectors(900);
    DOES(xir_dialect_check(net, why));
    check_note("", ages);
    xir_network_free(net);
}

/* The fold after the conversion has the same budget and does not repeat the note. */
static void a_conversion_skips_expensive_constants_and_so_does_fold(void **state) {
    (void)state;
    xir_network *net = six_vectors(900);
    xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(xir_default_pipeline()), why);
    DOES(xir_pipeline_run(p, net, NULL, NULL, why));
    check_note("to-xir: ", ages);
    assert_int_equal(xir_network_op_count(net), 4);
    DOES(xir_network_validate(net, why));
    xir_pipeline_free(p);
    xir_network_free(net);
}

/* 4^6 products of 5 factors, and the result: 20490 steps. Fold can't use what the conversion has spent. */
static void a_run_has_one_budget(void **state) {
    (void)state;
    static const struct { uint64_t max_work; const char *said; } rows[] = {
        { 20490, NULL },
        { 20489, "Einsum 'sum' (node 0): its inputs are constants, but it is not computed: it takes 20490 steps, and 20489 are left for constants" },
    };
    xir_limits before = XIR_INIT(xir_limits);
    DOES(xir_context_limits(ctx, &before, why));
    for (size_t i = 0; i < COUNT(rows); i++) {
        om_free(&m);
        m = om_begin("net");
        xir_network *net = six_vectors(4);
        DOES(xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_work = rows[i].max_work), why));
        DOES(xir_pass_run(net, "to-xir", NULL, NULL, why));
        DOES(xir_context_set_limits(ctx, &before, why));
        if (rows[i].said) check_note("to-xir: ", rows[i].said);
        assert_int_equal(xir_diags_count(why), 0);
        xir_network_free(net);
    }
}

static bool at_once(void *user) {
    (void)user;
    return true;
}

/* Cancels before the pass begins, or in the middle of it. */
static bool second_time(void *user) {
    return ++*(size_t *)user == 2;
}

static void a_conversion_is_cancelled(void **state) {
    (void)state;
    xir_network *net = six_vectors(12);
    xir_pipeline *p = xir_pipeline_parse(ctx, XIR_STR("to-xir"), why);
    assert_int_equal(xir_pipeline_run(p, net, &XIR_INIT(xir_pass_settings, .cancel = at_once), NULL, why),
                     XIR_E_CANCELLED);
    CHECK_STR(xir_diags_at(why, 0)->message, "the run was cancelled before to-xir");
    xir_diags_clear(why);
    size_t asked = 0;
    assert_int_equal(xir_pipeline_run(p, net,
                                      &XIR_INIT(xir_pass_settings, .cancel = second_time, .cancel_user = &asked), NULL,
                                      why), XIR_E_CANCELLED);
    CHECK_STR(xir_diags_at(why, 0)->message, "to-xir: the run was cancelled");
    assert_int_equal(asked, 2);
    xir_diags_clear(why);
    xir_pipeline_free(p);
    xir_network_free(net);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------ */

/* A model with `n` constants of LONG integers, each made by a node of about 50 bytes. */
enum { LONG = 4096 };
static const void *many_constants(size_t n, size_t *size) {
    static const char *const kinds[] = { "Expand", "Range", "Add" };
    static int64_t line[LONG];
    const int64_t none = 0, one = 1, many = LONG;
    om_input(&m, "x", ONNX_INT64, OM_DIMS(LONG));
    om_int64s(&m, "z", OM_SCALAR, &none, 1);
    om_int64s(&m, "one", OM_SCALAR, &one, 1);
    om_int64s(&m, "many", OM_SCALAR, &many, 1);
    om_int64s(&m, "dims", OM_DIMS(1), &many, 1);
    om_int64s(&m, "line", OM_DIMS(LONG), line, LONG);
    static const char *const inputs[] = { "one,dims", "z,many,one", "one,line" };
    for (size_t i = 0; i < n; i++) {
        char name[24];
        snprintf(name, sizeof name, "n%zu", i);
        om_node(&m, kinds[i % 3], name, inputs[i % 3], name);
    }
    om_node(&m, "Add", "add", "x,n0", "y");
    om_output(&m, "y", ONNX_INT64, OM_DIMS(LONG));
    return om_done(&m, size);
}

/* The constants that a check or a conversion computes may have max_converted bytes plus 16 times those of the
 * parameters. Those of fold may have 64 MiB plus twice the bytes of the parameters, besides. */
static void constants_have_a_budget_of_bytes(void **state) {
    (void)state;
    enum { NODES = 6000, MADE = 16 << 20, FREE = 64 << 20, GRAPH = 12 << 20 };
    const xir_allocator alloc = { weigh, NULL };
    size_t size;
    const void *bytes = many_constants(NODES, &size);
    assert_true(size < 300000);
    xir_context *own = xir_context_new(&alloc);
    xir_diags *found = xir_diags_new(own);
    const size_t before = held;
    DOES(xir_context_set_limits(own, &XIR_INIT(xir_limits, .max_converted = MADE), found));
    xir_network *net = xir_network_read(own, bytes, size, XIR_STR("model.onnx"), NULL, found);
    assert_non_null(net);
    DOES(xir_dialect_check(net, found));
    const size_t computed = (NODES - xir_diags_count_of(found, XIR_NOTE)) * LONG * sizeof(int64_t);
    if (computed < MADE / 8 * 7 || computed > MADE + 16 * (size + LONG * sizeof(int64_t)))
        fail_msg("%zu bytes", computed);
    static const char *const parts[] = { "its inputs are constants, but it is not computed: it has 32768 bytes, and ",
                                         " bytes are left of max_converted" };
    for (size_t i = 0; i < COUNT(parts); i++) assert_non_null(strstr(xir_diags_at(found, 0)->message.data, parts[i]));
    xir_diags_clear(found);
    xir_pipeline *p = xir_pipeline_parse(own, xir_str_of(xir_default_pipeline()), found);
    DOES(xir_pipeline_run(p, net, NULL, NULL, found));
    if (most_held - before > MADE + FREE + GRAPH + 16 * size)
        fail_msg("%zu bytes for a file of %zu", most_held - before, size);
    xir_pipeline_free(p);
    xir_network_free(net);
    xir_diags_free(found);
    xir_context_free(own);
    assert_int_equal(held, 0);
}

GROUP {
    const struct CMUnitTest tests[] = {
        MODEL_TEST(a_check_computes_small_constants),
        MODEL_TEST(a_check_skips_expensive_constants),
        MODEL_TEST(a_conversion_skips_expensive_constants_and_so_does_fold),
        MODEL_TEST(a_run_has_one_budget),
        MODEL_TEST(a_conversion_is_cancelled),
        MODEL_TEST(constants_have_a_budget_of_bytes),
    };
    return RUN_GROUP(tests);
}
