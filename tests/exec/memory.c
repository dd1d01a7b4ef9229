/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The bytes that exist while a network runs, as the executor reports them: in networks that a reader can count, in
 * random ones, and in real ones, always as liveness computes them beforehand. tests/exec/tables.c compares the same for
 * all classes. */
#include <stdio.h>
#include <xir/exec.h>
#include "support/alive.h"
#include "support/often.h"
#include "support/story.h"

/* ---- what is reported -------------------------------------------------------------------------------------------- */

typedef struct report { char text[400]; size_t n; } report;

static void note(void *user, const xir_op *op, const xir_run_memory *now) {
    report *r = user;
    xir_str name = xir_op_name(op);
    r->n += (size_t)snprintf(r->text + r->n, sizeof r->text - r->n, "%s%.*s:%u/%llu/%llu", r->n ? " " : "",
                             (int)name.size, name.data, now->values, (unsigned long long)now->bytes,
                             (unsigned long long)now->held);
}

/* "op:values/bytes/held" after each op of a story. */
static void check_report(const char *story, const char *expected, int line) {
    xir_network *net = story_net(story);
    report r = { .n = 0 };
    xir_value *value;
    xir_array *in, *out[2] = { NULL };
    assert_int_equal(xir_network_inputs(net, &value, 1), 1);
    in = xir_array_random(ctx, xir_value_type(value), 1, why);
    const xir_run_options how = XIR_INIT(xir_run_options, .user = &r, .memory = note);
    DOES(xir_network_run(net, (const xir_array *const[]){ in }, 1, out, xir_network_outputs(net, NULL, 0), &how, why));
    if (strcmp(r.text, expected)) fail_msg("line %d: expected %s, found %s", line, expected, r.text);
    for (int i = 0; i < 2; i++) xir_array_free(out[i]);
    xir_array_free(in);
    CHECK_ALIVE(net, 2);
    xir_network_free(net);
}
#define CHECK_REPORT(story, expected) check_report(story, expected, __LINE__)

static void each_op_is_reported_with_what_exists(void **state) {
    (void)state;
    CHECK_REPORT("x: fp32 4; a = ReLU x; b = ReLU a; c = Add a b; out c",
                 "in:1/16/16 a:2/32/32 b:2/32/32 c:3/48/48 :1/16/16");
    /* nobody reads b */
    CHECK_REPORT("x: fp32 4; a = ReLU x; b = ReLU x; out a", "in:1/16/16 a:2/32/32 b:3/48/48 :1/16/16");
    /* results stay */
    CHECK_REPORT("x: fp32 4; a = ReLU x; b = ReLU a; c = ReLU b; out a c",
                 "in:1/16/16 a:2/32/32 b:2/32/32 c:3/48/48 :2/32/32");
    /* the same value twice */
    CHECK_REPORT("x: fp32 4; a = ReLU x; out a a", "in:1/16/16 a:2/32/32 :1/16/16");
}

static void a_view_exists_but_holds_nothing(void **state) {
    (void)state;
    CHECK_REPORT("x: 1 4; a = ReLU x; v = Squeeze a [axis=0]; b = ReLU a; c = ReLU v; out b c",
                 "in:1/16/16 a:2/32/32 v:2/32/16 b:3/48/32 c:3/48/48 :2/32/32");
    /* x itself is a result, and so is a view of it */
    CHECK_REPORT("x: 1 4; v = Copy x; out x v", "in:1/16/16 v:2/32/16 :2/32/16");
    /* of Params */
    CHECK_REPORT("x: fp32 4; w: params 1 4; v = Squeeze w [axis=0]; a = Add v x; out a",
                 "in:1/16/16 v:2/32/16 a:3/48/32 :1/16/16");
    CHECK_REPORT("x: fp32 4; w: params 4; out x w", "in:1/16/16 :1/16/16");
}

static void many_outputs_exist_at_once(void **state) {
    (void)state;
    CHECK_REPORT("x: 4 2; a, b = Split x [sections=2,2 axis=0]; c = Add a b; out c",
                 "in:1/32/32 a:3/64/64 c:3/48/48 :1/16/16");
}

static xir_status give_zeros(xir_kernel *at) { return xir_kernel_bytes_out(at, 0) ? XIR_OK : XIR_E_MEMORY; }

/* x -> a, b; h(b) with a sub op that reads a; c = ReLU h. So a exists until h is done, although only the sub op reads
 * it. */
static void what_a_sub_op_reads_exists_until_its_parent_is_done(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = ReLU x; b = ReLU x; out b");
    xir_op *out = xir_network_output_op(net);
    xir_op *part = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(story_value(net, "a")), TYPES(FP32("*", 8))));
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.sub_hard_ops = (xir_ops){ (xir_op *const[]){ part }, 1 };
    xir_op *hard = xir_network_add(net, &(xir_op_desc)DESC(hard_op, .attrs = &attrs, INPUTS(story_value(net, "b")),
                                                           TYPES(FP32("*", 4)), .name = XIR_STR("h"), .before = out));
    assert_non_null(hard);
    xir_at at = xir_at_end(net);
    at.before = out;
    xir_value *c = xir_build_relu(at, xir_op_output(hard, 0), "c");
    DOES(xir_op_set_input(out, 0, c));
    DOES(xir_kernel_register(ctx, xir_hard_op_class(), give_zeros));
    CHECK_ALIVE(net, 3);
    report r = { .n = 0 };
    xir_array *in = xir_array_random(ctx, FP32("*", 4), 1, why), *made = NULL;
    const xir_run_options how = XIR_INIT(xir_run_options, .user = &r, .memory = note);
    for (size_t n = 0;; n++) {
        refuse_after(n);
        r.n = 0;
        const xir_status status = xir_network_run(net, (const xir_array *const[]){ in }, 1, &made, 1, &how, why);
        if (!refuse_end()) {
            DOES(status);
            break;
        }
        assert_int_equal(status, XIR_E_MEMORY);
        assert_null(made);
        xir_diags_clear(why);
    }
    assert_string_equal(r.text, "in:1/16/16 a:2/32/32 b:3/48/48 h:3/48/48 c:2/32/32 :1/16/16");
    xir_array_free(made);
    xir_array_free(in);
    xir_network_free(net);
}

static bool stop_at_b(void *user, const xir_value *value, const xir_array *found) {
    (void)user;
    (void)found;
    return !xir_str_equal(xir_value_name(value), XIR_STR("b"));
}

static void a_run_that_stops_reports_no_more(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = ReLU x; b = ReLU a; c = ReLU b; out c");
    report r = { .n = 0 };
    xir_array *in = xir_array_random(ctx, FP32("*", 4), 1, why), *out = NULL;
    const xir_run_options how = XIR_INIT(xir_run_options, .user = &r, .memory = note, .watch = stop_at_b);
    assert_int_equal(xir_network_run(net, (const xir_array *const[]){ in }, 1, &out, 1, &how, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "the run was stopped");
    xir_diags_clear(why);
    assert_string_equal(r.text, "in:1/16/16 a:2/32/32");
    xir_array_free(in);
    xir_network_free(net);
}

/* A program that was built before the member existed. */
static void an_older_program_asks_for_nothing(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = ReLU x; out a");
    report r = { .n = 0 };
    xir_array *in = xir_array_random(ctx, FP32("*", 4), 1, why), *out = NULL;
    xir_run_options how = XIR_INIT(xir_run_options, .user = &r, .memory = note);
    how.size = offsetof(xir_run_options, memory);
    DOES(xir_network_run(net, (const xir_array *const[]){ in }, 1, &out, 1, &how, why));
    assert_int_equal(r.n, 0);
    xir_array_free(out);
    xir_array_free(in);
    xir_network_free(net);
}

/* ---- many networks ----------------------------------------------------------------------------------------------- */

static xir_network *random_ops(size_t n) {
    static const char *const units[] = { "ReLU", "Copy", "Neg", "Softmax" };
    char story[3000];
    int at = snprintf(story, sizeof story, "x: 2 4; y: 1 4; w: params 2 4");
    for (size_t i = 0; i < n; i++) {
        char from[2][12];
        for (int k = 0; k < 2; k++) {
            const size_t v = chance(i + 3);
            snprintf(from[k], sizeof from[k], v == i ? "x" : v == i + 1 ? "y" : v == i + 2 ? "w" : "v%zu", v);
        }
        if (chance(2)) at += snprintf(story + at, sizeof story - (size_t)at, "; v%zu = Add %s %s", i, from[0], from[1]);
        else at += snprintf(story + at, sizeof story - (size_t)at, "; v%zu = %s %s", i, units[chance(4)], from[0]);
    }
    snprintf(story + at, sizeof story - (size_t)at, "; out v%zu x v%zu", (size_t)chance(n), (size_t)chance(n));
    return story_net(story);
}

static void random_networks_take_what_liveness_says(void **state) {
    (void)state;
    for (int i = 0; i < OFTEN(500); i++) {
        xir_network *net = random_ops(1 + chance(30));
        CHECK_ALIVE(net, (uint64_t)i);
        xir_network_free(net);
    }
}

static void real_networks_take_what_liveness_says(void **state) {
    (void)state;
    static const char *const files[] = {
        "../examples/models/digits.onnx", "cli/data/bert.onnx", "cli/data/small.onnx",
        "convert/onnx/dynamic/yolo.onnx", "convert/onnx/dynamic/swin.onnx",
        "convert/onnx/dynamic/convnext.onnx", "convert/onnx/dynamic/efficientnet.onnx",
    };
    for (size_t i = 0; i < COUNT(files); i++) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", XIR_TEST_DATA, files[i]);
        xir_network *net = xir_network_load(ctx, path, NULL, why);
        xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(xir_default_pipeline()), why);
        if (!net || !pipeline) fail_msg("%s was not read", path);
        DOES(xir_pipeline_run(pipeline, net, NULL, NULL, why));
        print_message("%s: %llu bytes\n", files[i], (unsigned long long)CHECK_ALIVE(net, 5));
        xir_pipeline_free(pipeline);
        xir_network_free(net);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_op_is_reported_with_what_exists),
        cmocka_unit_test(a_view_exists_but_holds_nothing),
        cmocka_unit_test(many_outputs_exist_at_once),
        cmocka_unit_test(what_a_sub_op_reads_exists_until_its_parent_is_done),
        cmocka_unit_test(a_run_that_stops_reports_no_more),
        cmocka_unit_test(an_older_program_asks_for_nothing),
        cmocka_unit_test(random_networks_take_what_liveness_says),
        cmocka_unit_test(real_networks_take_what_liveness_says),
    };
    return RUN_GROUP(tests);
}
