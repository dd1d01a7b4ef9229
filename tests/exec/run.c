/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Runs of ops and networks: checks of inputs, dims that a network leaves open, lifetimes of arrays, findings on
 * failure, and kernels of programs. The tables in tests/exec/ have the results of operations. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <xir/region.h>
#include "support/op_case.h"
#include "support/own.h"

static xir_network *net;
static xir_array   *out[8];

static int begin(void **state) {
    (void)state;
    net = new_net();
    xir_diags_clear(why);
    return 0;
}

static int end(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(out); i++) {
        xir_array_free(out[i]);
        out[i] = NULL;
    }
    xir_network_free(net);
    return 0;
}

/* An array from numbers; the caller frees it. */
static xir_array *array(const xir_type *type, const char *numbers) {
    op_text t = { .net = new_net() };
    char text[200];
    xir_value *params = NULL;
    snprintf(text, sizeof text, "= %s", numbers);
    t.at = text;
    if (!op_text_elements(&t, type, &params)) fail_msg("%s: %s", numbers, t.fault);
    xir_array *made = xir_array_from_params(params, why);
    op_text_free(&t);
    xir_network_free(t.net);
    return made;
}

/* The numbers of an output. */
static void check_numbers(const xir_array *found, const char *numbers) {
    assert_non_null(found);
    xir_difference d;
    xir_array *expected = array(xir_array_type(found), numbers);
    DOES(xir_array_compare(found, expected, 1e-6, 1e-6, &d));
    if (d.count) fail_msg("element %zu is %g, %g was expected", d.first, d.a, d.b);
    xir_array_free(expected);
}

/* Runs the network on one array, and frees it. */
static xir_status run_on(xir_array *in, size_t outputs) {
    xir_status status = xir_network_run(net, (const xir_array *const[]){ in }, 1, out, outputs, NULL, why);
    xir_array_free(in);
    return status;
}

static xir_value *relu_of(xir_value *x, const char *name) { return xir_build_relu(xir_at_end(net), x, name); }

/* ---- inputs ----------------------------------------------------------------------------------------------------- */

/* in(x: fp32 NC ?x2) -> relu -> out */
static void one_relu(void) {
    xir_value *x = xir_input(XIR_AT(net), "x", FP32("NC", -1, 2));
    DOES(xir_value_set_name(x, XIR_STR("x")));
    xir_output(XIR_AT(net), XIR_VALUES(relu_of(x, "r")));
    DOES(xir_network_status(net));
}

static void dims_come_from_the_arrays(void **state) {
    (void)state;
    one_relu();
    DOES(run_on(array(FP32("NC", 2, 2), "1 -2 3 -4"), 1));
    check_numbers(out[0], "1 0 3 0");
    assert_true(xir_type_equal(xir_array_type(out[0]), FP32("NC", 2, 2)));
    /* only read */
    assert_true(xir_type_has_unknown_dim(xir_value_type(xir_op_output(xir_network_op_at(net, 1), 0))));
    xir_array_free(out[0]);
    DOES(run_on(array(FP32("NC", 0, 2), ""), 1));
    assert_int_equal(xir_array_count(out[0]), 0);
}

static void the_layout_of_an_array_does_not_count(void **state) {
    (void)state;
    one_relu();
    DOES(run_on(array(FP32("**", 1, 2), "-1 1"), 1));
    CHECK_SPELLED(xir_type_layout(xir_array_type(out[0])), "@layout(NC)");
}

static void arrays_that_do_not_fit(void **state) {
    (void)state;
    one_relu();
    assert_int_equal(run_on(array(FP32("NC", 1, 3), "1 2 3"), 1), XIR_E_BOUNDS);
    check_finding(XIR_E_BOUNDS, "input 0 'x' of the network: expected @fp(32) [?,2], found an array of @fp(32) [1,3]");
    assert_int_equal(run_on(array(FP32("*", 2), "1 2"), 1), XIR_E_BOUNDS);
    check_finding(XIR_E_BOUNDS, "[2]");
    assert_int_equal(run_on(array(XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP64), "NC", 1, 2), "1 2"), 1),
                     XIR_E_TYPE);
    check_finding(XIR_E_TYPE, "found an array of @fp(64) [1,2]");
    assert_int_equal(run_on(NULL, 1), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "input 0 'x' of the network: there is no array for the input");
    assert_int_equal(xir_network_run(net, NULL, 0, out, 1, NULL, why), XIR_E_BOUNDS);
    check_finding(XIR_E_BOUNDS, "expected 1 inputs of the network, found 0");
    assert_int_equal(run_on(array(FP32("NC", 1, 2), "1 2"), 2), XIR_E_BOUNDS);
    check_finding(XIR_E_BOUNDS, "expected 1 outputs of the network, found 2");
    assert_null(out[0]);
}

static void statuses_without_findings(void **state) {
    (void)state;
    one_relu();
    xir_array *x = array(FP32("NC", 1, 3), "1 2 3");
    assert_int_equal(xir_network_run(net, (const xir_array *const[]){ x }, 1, out, 1, NULL, NULL), XIR_E_BOUNDS);
    xir_array_free(x);
}

/* ---- outputs ---------------------------------------------------------------------------------------------------- */

static void inputs_and_params_may_go_straight_out(void **state) {
    (void)state;
    xir_value *x = xir_input(XIR_AT(net), "x", FP32("*", 2));
    xir_value *w = xir_params_copy(net, XIR_STR("w"), FP32("*", 1), (const float[]){ 7 }, 4), *r = relu_of(x, "r");
    xir_output(XIR_AT(net), XIR_VALUES(x, w, r, r));
    DOES(run_on(array(FP32("*", 2), "-1 1"), 4));
    check_numbers(out[0], "-1 1");
    check_numbers(out[1], "7");
    check_numbers(out[2], "0 1");
    check_numbers(out[3], "0 1");
}

/* in(2 3) -> transpose -> reshape to -1: Reshape and Transpose of an open dim */
static void open_dims_are_inferred_op_by_op(void **state) {
    (void)state;
    xir_value *x = xir_input(XIR_AT(net), "x", FP32("**", -1, 3));
    x = XIR_TRANSPOSE(XIR_AT(net), x, 1, 0);
    x = XIR_RESHAPE(XIR_AT(net), x, "*", -1);
    xir_output(XIR_AT(net), XIR_VALUES(x));
    DOES(run_on(array(FP32("**", 2, 3), "1 2 3 4 5 6"), 1));
    check_numbers(out[0], "1 4 2 5 3 6");
    assert_int_equal(xir_type_rank(xir_array_type(out[0])), 1);
}

/* The dims depend on computed numbers: Shape -> ConstantOfShape, and Range up to the input. */
static void dims_may_depend_on_numbers(void **state) {
    (void)state;
    xir_value *x = xir_input(XIR_AT(net), "x", FP32("**", -1, -1));
    xir_op *shape = xir_add_shape(XIR_AT(net), (xir_shape_in){ .input = x }, NULL);
    xir_op *ones = xir_add_constant_of_shape(XIR_AT(net),
                                             (xir_constant_of_shape_in){ .input = xir_op_output(shape, 0) }, NULL);
    xir_value *sum = xir_build_add(XIR_AT(net), x, xir_op_output(ones, 0), 1, 1, "sum");
    xir_output(XIR_AT(net), XIR_VALUES(sum));
    DOES(xir_network_status(net));
    DOES(run_on(array(FP32("**", 2, 1), "5 6"), 1));
    check_numbers(out[0], "5 6");
}

static void a_type_that_the_network_says_is_kept(void **state) {
    (void)state;
    const xir_type *half = XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP16), "N*", 1, 2);
    xir_value *x = xir_input(XIR_AT(net), "x", FP32("NC", 1, 2));
    xir_op *relu = xir_network_add(net, &(xir_op_desc)DESC(relu, INPUTS(x), TYPES(half)));
    xir_op *moved = xir_network_add(net, &(xir_op_desc)DESC(copy, INPUTS(x), TYPES(half)));
    xir_output(XIR_AT(net), XIR_VALUES(xir_op_output(relu, 0), xir_op_output(moved, 0)));
    DOES(run_on(array(FP32("NC", 1, 2), "0.1 -1"), 2));
    assert_true(xir_type_equal(xir_array_type(out[0]), half));
    check_numbers(out[0], "0.0999755859375 0");
    check_numbers(out[1], "0.0999755859375 -1");
}

static void a_type_that_cannot_be_is_refused(void **state) {
    (void)state;
    xir_value *x = xir_input(XIR_AT(net), "x", FP32("NC", 1, 2));
    xir_op *relu = xir_network_add(net,
                                   &(xir_op_desc)DESC(relu, INPUTS(x), TYPES(FP32("NC", 1, 3)), .name = XIR_STR("r")));
    xir_output(XIR_AT(net), XIR_VALUES(xir_op_output(relu, 0)));
    assert_int_equal(run_on(array(FP32("NC", 1, 2), "1 2"), 1), XIR_E_INVALID);
    check_finding(XIR_E_INVALID,
                  "icraft::xir::ReLU 'r': the network declares @fp(32) [1,3], inference gives @fp(32) [1,2]");
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

static void an_op_without_a_kernel_is_named(void **state) {
    (void)state;
    xir_value *x = xir_input(XIR_AT(net), "x", FP32("*", 2));
    xir_op *hard =
        xir_network_add(net, &(xir_op_desc)DESC(hard_op, INPUTS(x), TYPES(FP32("*", 2)), .name = XIR_STR("hard")));
    xir_output(XIR_AT(net), XIR_VALUES(xir_op_output(hard, 0)));
    assert_false(xir_op_can_run(hard));
    assert_ptr_equal(xir_network_first_unrunnable(net), hard);
    assert_int_equal(run_on(array(FP32("*", 2), "1 2"), 1), XIR_E_UNSUPPORTED);
    check_finding(XIR_E_UNSUPPORTED, "icraft::xir::HardOp 'hard': the executor has no kernel for this class");
    assert_int_equal(xir_op_run(hard, NULL, 0, out, 1, NULL, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "there is no array for the input");
}

/* Not the call, which has a kernel. */
static void an_op_of_a_body_without_a_kernel_is_named(void **state) {
    (void)state;
    xir_value *x = xir_input(XIR_AT(net), "x", FP32("*", 2));
    xir_op *hard =
        xir_network_add(net, &(xir_op_desc)DESC(hard_op, INPUTS(x), TYPES(FP32("*", 2)), .name = XIR_STR("hard")));
    xir_value *y = xir_build_relu(XIR_AT(net), xir_op_output(hard, 0), "r");
    xir_output(XIR_AT(net), XIR_VALUES(y));
    xir_op *call = xir_outline(net, (xir_op *[]){ hard, xir_value_op(y) }, 2, NULL);
    xir_op *outer = xir_outline(net, &call, 1, NULL);
    assert_non_null(outer);
    assert_true(xir_op_can_run(outer));
    const xir_op *lacks = xir_network_first_unrunnable(net);
    CHECK_STR(xir_op_name(lacks), "hard");
    assert_ptr_not_equal(lacks, outer);
    assert_int_equal(run_on(array(FP32("*", 2), "1 2"), 1), XIR_E_UNSUPPORTED);
    CHECK_STR(xir_diags_at(why, 0)->path, "/ops/1/body/1/body/1");
    check_finding(XIR_E_UNSUPPORTED, "icraft::xir::HardOp 'hard': the executor has no kernel for this class");
}

static void every_op_has_a_kernel(void **state) {
    (void)state;
    one_relu();
    assert_null(xir_network_first_unrunnable(net));
    assert_true(xir_op_can_run(xir_network_op_at(net, 1)));
    assert_false(xir_op_can_run(xir_network_input_op(net)));
}

/* The only classes of the library without a kernel compute nothing, or nothing that is known. */
static void classes_without_kernels(void **state) {
    (void)state;
    static const char *const without[] = { "icraft::xir::Input",  "icraft::xir::Output",    "icraft::xir::Unknown",
                                           "icraft::xir::Unsupport", "icraft::xir::HardOp", "icraft::xir::Region",
                                           "icraft::xir::Reorg",  "icraft::xir::Route",     "icraft::xir::Yolo",
                                           "icraft::xir::MultiYolo", "icraft::xir::SSDOutput",
                                           "icraft::xir::InnerProduct" };
    xir_context *fresh = xir_context_new(NULL);
    const xir_class *cls;
    size_t found = 0;
    for (size_t i = 0; (cls = xir_context_class_at(fresh, i)); i++) {
        bool expected = false;
        for (size_t k = 0; k < COUNT(without); k++)
            expected = expected || xir_str_equal(xir_class_key(cls), xir_str_of(without[k]));
        if (!xir_class_is_op(cls) || class_kernel(cls)) continue;
        if (!expected) fail_msg("%.*s has no kernel", (int)xir_class_key(cls).size, xir_class_key(cls).data);
        found++;
    }
    assert_int_equal(found, COUNT(without));
    xir_context_free(fresh);
}

/* The inference of a target whose weights are constants. */
static xir_status constant_second(xir_infer *at) {
    if (xir_infer_input_is_params(at, 0)) return xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "it must be computed");
    if (!xir_infer_input_is_params(at, 1)) return xir_infer_fail(at, XIR_E_INVALID, "inputs/1", "it must be constant");
    return xir_infer_result(at, xir_infer_input(at, 0));
}

/* An input is constant in a run if, and only if, it is constant in the network, also if dims are unknown, so that the
 * run reads bytes. */
static void rules_see_the_same_constants_in_a_run(void **state) {
    (void)state;
    static const int64_t dims[] = { 2, XIR_UNKNOWN_DIM };
    for (size_t i = 0; i < COUNT(dims); i++) {
        xir_context *own = xir_context_new(NULL);
        DOES(xir_infer_register(own, xir_multiply_class(), XIR_TARGET_WOLONG, constant_second));
        xir_network *made = xir_network_new(own, "constant", XIR_FRAMEWORK_PYTORCH, "v1.9");
        const xir_type *type = XIR_TENSOR(own, xir_type_float(own, XIR_FLOAT_FP32), "*", 2);
        xir_value *x = xir_input(XIR_AT(made), "x", XIR_TENSOR(own, xir_type_float(own, XIR_FLOAT_FP32), "*", dims[i]));
        xir_value *k = xir_params_copy(made, XIR_STR("k"), type, (const float[]){ 2, 3 }, 2 * sizeof(float));
        xir_at at = XIR_AT(made);
        at.target = xir_target_of_kind(own, XIR_TARGET_WOLONG, NULL);
        xir_op *op = xir_add_multiply(at, (xir_multiply_in){ x, k }, NULL);
        assert_non_null(op);
        xir_output(XIR_AT(made), XIR_VALUES(xir_op_output(op, 0)));
        xir_array *in = xir_array_random(own, type, 1, why);
        xir_status status = xir_network_run(made, (const xir_array *const[]){ in }, 1, out, 1, NULL, why);
        if (status) xir_diags_print(why, stderr);
        assert_int_equal(status, XIR_OK);
        xir_array_free(in);
        xir_array_free(out[0]);
        out[0] = NULL;
        xir_network_free(made);
        xir_context_free(own);
    }
}

static void tiles_are_not_run(void **state) {
    (void)state;
    const xir_type *tiled = FP32("NHWCc4", 1, 1, 1, 1, 4);
    xir_value *x = xir_input(XIR_AT(net), "x", tiled);
    xir_output(XIR_AT(net), XIR_VALUES(relu_of(x, "r")));
    assert_int_equal(run_on(array(tiled, "1 2 3 4"), 1), XIR_E_UNSUPPORTED);
    check_finding(XIR_E_UNSUPPORTED, "'r': the executor does not run tiled layouts");
}

static void params_without_bytes_are_named(void **state) {
    (void)state;
    xir_value *x = xir_input(XIR_AT(net), "x", FP32("*", 2)), *w = xir_params_new(net, XIR_STR("weight"), FP32("*", 2));
    xir_output(XIR_AT(net), XIR_VALUES(xir_build_add(XIR_AT(net), x, w, 1, 1, "a")));
    assert_int_equal(run_on(array(FP32("*", 2), "1 2"), 1), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "parameter 'weight' has no bytes");
}

static void a_value_is_made_before_it_is_used(void **state) {
    (void)state;
    xir_value *x = xir_input(XIR_AT(net), "x", FP32("*", 2)), *a = relu_of(x, "a"), *b = relu_of(a, "b");
    xir_output(XIR_AT(net), XIR_VALUES(b));
    DOES(xir_op_set_input(xir_value_op(a), 0, b));   /* a cycle, as a foreign file may have one */
    assert_int_equal(run_on(array(FP32("*", 2), "1 2"), 1), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "'a': the input is used before it is computed");
    DOES(xir_op_set_input(xir_value_op(a), 0, NULL));
    assert_int_equal(run_on(array(FP32("*", 2), "1 2"), 1), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "input is absent");
}

static void attributes_are_checked_before_a_kernel_runs(void **state) {
    (void)state;
    xir_value *x = xir_input(XIR_AT(net), "x", FP32("**", 2, 2));
    x = XIR_TRANSPOSE(XIR_AT(net), x, 1, 0);
    xir_output(XIR_AT(net), XIR_VALUES(x));
    xir_op *op = xir_value_op(x);
    /* as from a file */
    ((xir_i64s *)(uintptr_t)&((const xir_transpose_attrs *)xir_op_body(op, xir_transpose_class()))->dims)->size = 1;
    assert_int_equal(run_on(array(FP32("**", 2, 2), "1 2 3 4"), 1), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "Transpose");
}

/* ---- one op ----------------------------------------------------------------------------------------------------- */

static void an_op_of_params_needs_no_arrays(void **state) {
    (void)state;
    xir_input(XIR_AT(net), "x", FP32("*", 1));
    xir_value *a = xir_params_copy(net, XIR_STR("a"), FP32("*", 2), (const float[]){ 1, 2 }, 8);
    xir_value *b = xir_params_copy(net, XIR_STR("b"), FP32("*", 2), (const float[]){ 10, 20 }, 8);
    const xir_op *op = xir_value_op(xir_build_add(XIR_AT(net), a, b, 1, 1, "sum"));
    DOES(xir_op_run(op, NULL, 0, out, 1, NULL, why));
    check_numbers(out[0], "11 22");
    xir_array_free(out[0]);
    xir_array *x = array(FP32("*", 2), "5 6");
    /* an array instead of one of them */
    DOES(xir_op_run(op, (const xir_array *const[]){ x, NULL }, 2, out, 1, NULL, why));
    check_numbers(out[0], "15 26");
    assert_int_equal(xir_op_run(op, (const xir_array *const[]){ x }, 1, out + 1, 1, NULL, why), XIR_E_BOUNDS);
    check_finding(XIR_E_BOUNDS, "expected 2 inputs, found 1");
    xir_array_free(x);
}

/* ---- watching, and lifetimes of arrays -------------------------------------------------------------------------- */

typedef struct watching {
    char   names[200];
    size_t left;     /* how many more are accepted */
} watching;

static bool watch(void *user, const xir_value *value, const xir_array *array) {
    watching *w = user;
    xir_str name = xir_op_name(xir_value_op(value));
    size_t n = strlen(w->names);
    snprintf(w->names + n, sizeof w->names - n, "%.*s:%g ", (int)name.size, name.data, xir_array_real(array, 0));
    return w->left-- > 1;
}

static void every_value_is_seen_in_order(void **state) {
    (void)state;
    xir_value *x = xir_input(XIR_AT(net), "x", FP32("*", 1)), *a = relu_of(x, "a");
    xir_value *b = xir_build_add(XIR_AT(net), a, a, 1, 1, "b");
    relu_of(b, "unused");
    xir_output(XIR_AT(net), XIR_VALUES(b));
    watching w = { .left = 9 };
    xir_array *in = array(FP32("*", 1), "3");
    DOES(xir_network_run(net, (const xir_array *const[]){ in }, 1, out, 1, &XIR_INIT(xir_run_options, .watch = watch,
                                                                                     .user = &w), why));
    assert_string_equal(w.names, "a:3 b:6 unused:6 ");
    w = (watching){ .left = 2 };
    xir_array_free(out[0]);
    assert_int_equal(xir_network_run(net, (const xir_array *const[]){ in }, 1, out, 1,
                                     &XIR_INIT(xir_run_options, .watch = watch, .user = &w), why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "stopped");
    assert_string_equal(w.names, "a:3 b:6 ");
    assert_null(out[0]);
    xir_array_free(in);
}

typedef struct memory { size_t now, most; } memory;

static void *measured(void *user, void *block, size_t old_size, size_t size) {
    memory *m = user;
    m->now = m->now - old_size + size;
    if (m->now > m->most) m->most = m->now;
    if (size) return realloc(block, size);
    free(block);
    return NULL;
}

static void arrays_go_after_their_last_use(void **state) {
    (void)state;
    enum { N = 1 << 18, OPS = 40 };
    memory m = { 0, 0 };
    xir_allocator alloc = { measured, &m };
    xir_context *own = xir_context_new(&alloc);
    xir_network *chain = xir_network_new(own, "chain", XIR_FRAMEWORK_ONNX, "");
    const xir_type *type = XIR_TENSOR(own, xir_type_float(own, XIR_FLOAT_FP32), "*", N);
    xir_value *x = xir_input(xir_at_end(chain), "x", type);
    for (int i = 0; i < OPS; i++) x = xir_build_relu(xir_at_end(chain), x, "r");
    xir_output(xir_at_end(chain), XIR_VALUES(x));
    xir_array *in = xir_array_random(own, type, 1, NULL);
    size_t before = m.most = m.now;
    DOES(xir_network_run(chain, (const xir_array *const[]){ in }, 1, out, 1, NULL, NULL));
    /* The arrays of an op, and their numbers as doubles. */
    if (m.most - before > (size_t)N * (2 * 4 + 2 * 8) + (1 << 16)) fail_msg("%zu bytes were needed", m.most - before);
    xir_array_free(out[0]);
    out[0] = NULL;
    xir_array_free(in);
    xir_network_free(chain);
    xir_context_free(own);
    assert_int_equal(m.now, 0);
}

/* ---- many threads ----------------------------------------------------------------------------------------------- */

typedef struct runner { xir_network *net; int n; bool good; } runner;

static void *run_often(void *user) {
    runner *r = user;
    xir_context *with = xir_network_context(r->net);
    r->good = true;
    for (int i = 0; i < 20 && r->good; i++) {
        const xir_type *type = XIR_TENSOR(with, xir_type_float(with, XIR_FLOAT_FP32), "NC", r->n, 2);
        xir_array *in = xir_array_random(with, type, (uint64_t)i, NULL), *o = NULL;
        r->good = in && xir_network_run(r->net, (const xir_array *const[]){ in }, 1, &o, 1, NULL, NULL) == XIR_OK;
        for (size_t k = 0; r->good && k < xir_array_count(o); k++)
            r->good = xir_array_real(o, k) == 2 * fmax(xir_array_real(in, k), 0);
        xir_array_free(in);
        xir_array_free(o);
    }
    return NULL;
}

static void threads_run_one_network(void **state) {
    (void)state;
    enum { THREADS = 4 };
    xir_context *own = xir_context_new(NULL);   /* the group's counts without a lock */
    xir_network *shared = xir_network_new(own, "shared", XIR_FRAMEWORK_ONNX, "");
    xir_at at = xir_at_end(shared);
    xir_value *x = xir_input(at, "x", XIR_TENSOR(own, xir_type_float(own, XIR_FLOAT_FP32), "NC", -1, 2));
    xir_value *two = xir_params_copy(shared, XIR_STR("two"),
                                     XIR_TENSOR(own, xir_type_float(own, XIR_FLOAT_FP32), "*", 1), (const float[]){ 2 },
                                     4);
    xir_op *doubled = xir_add_multiply(at, (xir_multiply_in){ .lhs = xir_build_relu(at, x, "r"), .rhs = two }, NULL);
    xir_output(at, XIR_VALUES(xir_op_output(doubled, 0)));
    pthread_t threads[THREADS];
    runner runners[THREADS];
    for (int i = 0; i < THREADS; i++) {
        runners[i] = (runner){ .net = shared, .n = i + 1 };
        assert_int_equal(pthread_create(&threads[i], NULL, run_often, &runners[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(runners[i].good);
    }
    xir_network_free(shared);
    xir_context_free(own);
}

/* ---- out of memory ---------------------------------------------------------------------------------------------- */

static bool run_a_network(xir_context *with) {
    xir_network *n = xir_network_new(with, "n", XIR_FRAMEWORK_ONNX, "");
    if (!n) return false;
    const xir_type *type = xir_type_tensor_text(with, xir_type_float(with, XIR_FLOAT_FP32), "**",
                                                (const int64_t[]){ -1, 3 }, 2);
    xir_at at = xir_at_end(n);
    xir_value *x = xir_input(at, "x", type);
    x = xir_build_relu(at, x, "r");
    x = XIR_TRANSPOSE(at, x, 1, 0);
    x = xir_build_add(at, x, x, 1, 1, "a");
    x = XIR_RESHAPE(at, x, "*", -1);
    xir_output(at, XIR_VALUES(x));
    bool built = xir_network_status(n) == XIR_OK, done = false;
    const xir_type *actual = built
        ? xir_type_tensor_text(with, xir_type_float(with, XIR_FLOAT_FP32), "**", (const int64_t[]){ 2, 3 }, 2) : NULL;
    xir_array *in = actual ? xir_array_new(with, actual, NULL) : NULL, *o = NULL;
    if (in) {
        xir_status status = xir_network_run(n, (const xir_array *const[]){ in }, 1, &o, 1, NULL, NULL);
        assert_true(status == XIR_OK || status == XIR_E_MEMORY);
        assert_true((o != NULL) == (status == XIR_OK));
        done = status == XIR_OK;
    }
    xir_array_free(in);
    xir_array_free(o);
    xir_network_free(n);
    return done;
}

static void memory_ends_anywhere(void **state) {
    (void)state;
    check_memory(run_a_network);
}

/* ---- kernels of a program --------------------------------------------------------------------------------------- */

/* Mix: turns * base, with variations for other tests. */
static enum { MIXES, FORGETS, FAILS, HAS_NO_MEMORY, RETURNS, ASKS_TOO_MUCH } what_mix_does;

static xir_status mix(xir_kernel *at) {
    const xir_own_mix_attrs *a = xir_kernel_attrs(at);
    switch (what_mix_does) {
    case FORGETS:       return XIR_OK;
    case FAILS:         return xir_kernel_fail(at, XIR_E_INVALID, "inputs/1", "%d is too much", 7);
    case HAS_NO_MEMORY: return XIR_E_MEMORY;
    case RETURNS:       return XIR_E_LIMIT;
    case ASKS_TOO_MUCH: return xir_kernel_reals(at, 5) ? XIR_OK : XIR_E_MEMORY;
    case MIXES:         break;
    }
    const double *x = xir_kernel_reals(at, 0);
    double *y = xir_kernel_real_out(at, 0), *scratch = xir_kernel_alloc(at, 3, 8);
    if (!x || !y || !scratch) return XIR_E_MEMORY;
    int64_t n = 0;
    (void)xir_type_elements(xir_kernel_output_type(at, 0), &n);
    assert_true(scratch[2] == 0 && xir_kernel_input_count(at) == xir_op_input_count(xir_kernel_op(at)) &&
                xir_kernel_output_count(at) == 1);
    const double *recipe = a->recipe ? xir_kernel_param_reals(at, a->recipe) : NULL;
    if (a->recipe && !recipe) return XIR_E_MEMORY;
    for (int64_t i = 0; i < n; i++) y[i] = (double)a->turns * x[i] + (recipe ? recipe[0] : 0);
    return XIR_OK;
}

static xir_op *add_mix(xir_value *base, xir_value *recipe) {
    DOES(xir_class_register(ctx, xir_own_thing_class(), why));
    DOES(xir_class_register(ctx, xir_own_grain_class(), why));
    DOES(xir_class_register(ctx, xir_own_box_class(), why));
    DOES(xir_class_register(ctx, xir_own_mix_class(), why));
    xir_own_mix_attrs a = xir_own_mix_init();
    xir_own_box box = xir_own_box_init();
    box.year = 1999;
    box.load = 1;
    box.maker = XIR_STR("me");
    box.where = (const xir_mtype *)read_text("@hostm");
    box.marks = (xir_i64s){ (const int64_t[]){ 1 }, 1 };
    a.bowl = xir_own_box_make(ctx, &box, why);
    assert_non_null(a.bowl);
    a.turns = 3;
    a.recipe = recipe;
    xir_at at = XIR_AT(net);
    at.name = XIR_STR("mixed");
    xir_op *op = xir_add_own_mix(at, (xir_own_mix_in){ .base = base }, &a);
    assert_non_null(op);
    return op;
}

static void a_program_brings_a_kernel(void **state) {
    (void)state;
    what_mix_does = MIXES;
    xir_value *x = xir_input(XIR_AT(net), "x", FP32("*", 2));
    xir_value *recipe = xir_params_copy(net, XIR_STR("r"), FP32("*", 1), (const float[]){ 100 }, 4);
    xir_op *op = add_mix(x, recipe);
    xir_output(XIR_AT(net), XIR_VALUES(xir_op_output(op, 0)));
    assert_ptr_equal(xir_network_first_unrunnable(net), op);
    DOES(xir_kernel_register(ctx, xir_own_mix_class(), mix));
    assert_true(xir_op_can_run(op));
    DOES(run_on(array(FP32("*", 2), "1 2"), 1));
    check_numbers(out[0], "103 106");
    assert_int_equal(xir_kernel_register(ctx, xir_own_tap_class(), mix), XIR_E_UNKNOWN);
}

static void kernels_that_fail(void **state) {
    (void)state;
    static const struct { int does; xir_status code; const char *part; } rows[] = {
        { FORGETS,       XIR_E_INVALID, "test::Mix 'mixed': the kernel has not computed output 0" },
        { FAILS,         XIR_E_INVALID, "test::Mix 'mixed': 7 is too much"                        },
        { HAS_NO_MEMORY, XIR_E_MEMORY,  "out of memory"                                               },
        { RETURNS,       XIR_E_LIMIT,   "the kernel failed: limit"                                },
        { ASKS_TOO_MUCH, XIR_E_MISSING, "the input is absent"                                            },
    };
    xir_value *x = xir_input(XIR_AT(net), "x", FP32("*", 2));
    xir_op *op = add_mix(x, NULL);
    xir_output(XIR_AT(net), XIR_VALUES(xir_op_output(op, 0)));
    DOES(xir_kernel_register(ctx, xir_own_mix_class(), mix));
    for (size_t i = 0; i < COUNT(rows); i++) {
        what_mix_does = rows[i].does;
        assert_int_equal(run_on(array(FP32("*", 2), "1 2"), 1), rows[i].code);
        assert_int_equal(xir_diags_count(why), 1);
        const xir_diag *d = xir_diags_at(why, 0);
        CHECK_STR(d->path, rows[i].does == FAILS ? "/ops/1/inputs/1" : rows[i].does == ASKS_TOO_MUCH ? "/ops/1/inputs/5" : "/ops/1");
        check_finding(rows[i].code, rows[i].part);
    }
}

/* Tap has no inference: types are those that were set, and the kernel sets an open dim. */
static int64_t flow = 3;

static xir_status tap(xir_kernel *at) {
    int64_t n = -1;
    if (xir_type_elements(xir_kernel_output_type(at, 0), &n)) {
        xir_status status = xir_kernel_result(at, 0, (const int64_t[]){ flow }, 1);
        if (status) return status;
        n = flow;
    }
    int64_t *y = xir_kernel_i64_out(at, 0);
    if (!y) return XIR_E_MEMORY;
    for (int64_t i = 0; i < n; i++) y[i] = 100 + i;
    return XIR_OK;
}

static void a_kernel_gives_dims(void **state) {
    (void)state;
    DOES(xir_class_register(ctx, xir_own_tap_class(), why));
    DOES(xir_kernel_register(ctx, xir_own_tap_class(), tap));
    xir_input(XIR_AT(net), "x", FP32("*", 1));
    xir_own_tap_attrs a = xir_own_tap_init();
    a.pressure = 1;
    const xir_type *open = XIR_TENSOR(ctx, xir_type_sint(ctx, 8), "C", -1),
                    *known = XIR_TENSOR(ctx, xir_type_uint(ctx, 8), "C", 2);
    xir_op *op = xir_network_add(net, &(xir_op_desc)DESC(own_tap, .attrs = &a, TYPES(open)));
    assert_non_null(op);
    flow = 3;
    DOES(xir_op_run(op, NULL, 0, out, 1, NULL, why));
    check_numbers(out[0], "100 101 102");
    assert_true(xir_type_equal(xir_array_type(out[0]), XIR_TENSOR(ctx, xir_type_sint(ctx, 8), "C", 3)));
    xir_array_free(out[0]);
    flow = -1;
    assert_int_equal(xir_op_run(op, NULL, 0, out, 1, NULL, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "the kernel computed dim 0 as -1");
    op = xir_network_add(net, &(xir_op_desc)DESC(own_tap, .attrs = &a, TYPES(known)));
    DOES(xir_op_run(op, NULL, 0, out, 1, NULL, why));
    check_numbers(out[0], "100 101");
}

GROUP {
#define STORY(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        STORY(dims_come_from_the_arrays),             STORY(the_layout_of_an_array_does_not_count),
        STORY(arrays_that_do_not_fit),                STORY(statuses_without_findings),
        STORY(inputs_and_params_may_go_straight_out), STORY(open_dims_are_inferred_op_by_op),
        STORY(dims_may_depend_on_numbers),            STORY(a_type_that_the_network_says_is_kept),
        STORY(a_type_that_cannot_be_is_refused),      STORY(an_op_without_a_kernel_is_named),
        STORY(an_op_of_a_body_without_a_kernel_is_named),
        STORY(every_op_has_a_kernel),                 STORY(classes_without_kernels),
        STORY(rules_see_the_same_constants_in_a_run),
        STORY(tiles_are_not_run),
        STORY(params_without_bytes_are_named),        STORY(a_value_is_made_before_it_is_used),
        STORY(attributes_are_checked_before_a_kernel_runs), STORY(an_op_of_params_needs_no_arrays),
        STORY(every_value_is_seen_in_order),          STORY(arrays_go_after_their_last_use),
        STORY(threads_run_one_network),               STORY(memory_ends_anywhere),
        STORY(a_program_brings_a_kernel),             STORY(kernels_that_fail),
        STORY(a_kernel_gives_dims),
    };
    return RUN_GROUP(tests);
}
