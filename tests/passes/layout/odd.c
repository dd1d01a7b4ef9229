/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* layout: unusual networks. What it does not understand stays unchanged, and the rest stays correct. */
#include <stdio.h>
#include "support/nchw.h"
#include "support/story.h"
#include "support/random_net.h"
#include "support/scarce.h"

/* ---- other ranks, other orders ---------------------------------------------------------------------------------- */

static void sequences_and_volumes(void **state) {
    (void)state;
    xir_network *net;
    xir_value *x = relu_of(nchw_conv(NCHW_BEGIN(&net, 2, 3, 9), 4, 3, "a"), "b");
    x = add_of(x, PARAMS(net, "k", NULL, 4, 1), "sum");
    NCHW_END(nchw_conv(x, 5, 3, "c"));
    PROVE(net, NULL);
    CHECK_TYPED_OPS(net, "x:fp32[2,3,9]*** = Input()", "%1:fp32[2,9,3]NLC = Transpose(x)", "a:fp32[2,9,4]NLC = Conv1d(%1, a.w, a.b)",
                    "b:fp32[2,9,4]NLC = ReLU(a)", "sum:fp32[2,9,4]NLC = Add(b, k)", "%12:fp32[2,9,5]NLC = Conv1d(sum, c.w, c.b)",
                    "c:fp32[2,5,9]*** = Transpose(%12)", "Output(c)");
    xir_network_free(net);

    x = relu_of(nchw_conv(NCHW_BEGIN(&net, 1, 2, 3, 4, 5), 4, 3, "a"), "b");
    xir_value *flat = RESHAPE(x, "flat", 1, 240);
    NCHW_END(nchw_conv(x, 5, 1, "c"), matmul_of(flat, 3, "m"));
    PROVE_WITHIN(net, 1e-6);
    assert_int_equal(TRANSPOSES(net), 2);
    xir_network_free(net);
}

/* Tensors with letters: PReLU finds its channels by the C, wherever it is. */
static void slopes_of_channels(void **state) {
    (void)state;
    xir_network *net;
    xir_value *x = channels_last(NCHW_BEGIN(&net, 2, 3, 4, 5)), *w = PARAMS(net, "w", "HWIO", 1, 1, 3, 6);
    xir_value *a = TRANSPOSE(XIR_CONV2D(xir_at_end(net), .input = x, .weights = w), "NCHW", 0, 3, 1, 2);
    xir_prelu_attrs p = xir_prelu_init();
    p.alpha = PARAMS(net, "alpha", NULL, 6);
    xir_value *y = named(XIR_OP(xir_at_end(net), prelu, .input = a, .attrs = &p), "p");
    NCHW_END(nchw_conv(y, 2, 1, "b"));
    PROVE(net, NULL);
    assert_int_equal(TRANSPOSES(net), 2);
    xir_network_free(net);
}

/* A Transpose that moves nothing gives the axes their letters. It stays. */
static void a_transpose_that_gives_letters(void **state) {
    (void)state;
    xir_network *net;
    xir_value *a = nchw_conv(NCHW_BEGIN(&net, 2, 3, 4, 5), 6, 3, "a");
    xir_prelu_attrs p = xir_prelu_init();
    p.alpha = PARAMS(net, "alpha", NULL, 6);
    xir_value *called = named(TRANSPOSE(a, "NCHW", 0, 1, 2, 3), "called");
    NCHW_END(named(XIR_OP(xir_at_end(net), prelu, .input = called, .attrs = &p), "p"));
    assert_int_equal(PROVE(net, NULL), 0);
    xir_network_free(net);
}

/* Without letters the channels are the last axis, which another order would move. */
static void slopes_of_the_last_axis(void **state) {
    (void)state;
    xir_network *net;
    xir_value *a = nchw_conv(NCHW_BEGIN(&net, 2, 3, 4, 5), 6, 3, "a");
    xir_prelu_attrs p = xir_prelu_init();
    p.alpha = PARAMS(net, "alpha", NULL, 5);
    xir_value *y = named(XIR_OP(xir_at_end(net), prelu, .input = a, .attrs = &p), "p");
    NCHW_END(nchw_conv(y, 2, 1, "b"));
    PROVE(net, NULL);
    assert_int_equal(TRANSPOSES(net), 4);
    xir_network_free(net);
}

/* ---- constants -------------------------------------------------------------------------------------------------- */

/* One constant with three users: two share it in the new order, and one keeps the old order. */
static void a_shared_constant(void **state) {
    (void)state;
    xir_network *net;
    xir_value *x = NCHW_BEGIN(&net, 2, 3, 4, 5);
    xir_value *k = PARAMS(net, "k", NULL, 6, 4, 5);
    xir_value *a = multiply_of(nchw_conv(x, 6, 3, "a"), k, "ak");
    xir_value *b = add_of(nchw_conv(a, 6, 3, "b"), k, "bk");
    xir_value *m = add_of(RESHAPE(matmul_of(x, 12, "m"), "r", 1, 12, 6, 4), PARAMS(net, "other", NULL, 12, 6, 4), "n");
    xir_value *plain = add_of(RESHAPE(matmul_of(x, 10, "mm"), "rr", 2, 6, 4, 5), k, "plain");
    NCHW_END(nchw_conv(b, 2, 1, "c"), m, plain);
    PROVE(net, NULL);
    assert_int_equal(TRANSPOSES(net), 2);
    const xir_value *of_a = NULL, *of_b = NULL, *of_plain = NULL;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        xir_str name = xir_op_output_count(op) ? xir_value_name(xir_op_output(op, 0)) : XIR_STR("");
        if (xir_str_equal(name, XIR_STR("ak"))) of_a = xir_op_input(op, 1);
        if (xir_str_equal(name, XIR_STR("bk"))) of_b = xir_op_input(op, 1);
        if (xir_str_equal(name, XIR_STR("plain"))) of_plain = xir_op_input(op, 1);
    }
    assert_ptr_equal(of_a, of_b);
    assert_ptr_equal(of_plain, k);
    assert_ptr_not_equal(of_a, k);
    CHECK_STR(xir_value_name(of_a), "k");
    xir_network_free(net);
}

/* [C, 1, 1] to [1, 1, C] moves no element: the bytes are shared. */
static void bytes_that_stay(void **state) {
    (void)state;
    xir_network *net;
    xir_value *a = nchw_conv(NCHW_BEGIN(&net, 2, 3, 4, 5), 6, 3, "a");
    xir_value *k = PARAMS(net, "k", NULL, 6, 1, 1);
    const void *bytes = xir_params_data(k, NULL);
    NCHW_END(nchw_conv(add_of(a, k, "sum"), 2, 1, "b"));
    PROVE(net, NULL);
    xir_op *sum = xir_network_op_at(net, 3);
    assert_true(xir_op_is(sum, xir_add_class()));
    assert_ptr_equal(xir_params_data(xir_op_input(sum, 1), NULL), bytes);
    assert_true(xir_type_equal(xir_value_type(xir_op_input(sum, 1)), FP32("***", 1, 1, 6)));
    xir_network_free(net);
}

/* Elements without bytes can't be moved. */
static void constants_without_bytes(void **state) {
    (void)state;
    xir_network *net;
    xir_value *a = nchw_conv(NCHW_BEGIN(&net, 2, 3, 4, 5), 6, 3, "a");
    xir_value *k = xir_params_new(net, XIR_STR("k"), FP32("***", 6, 4, 5));
    xir_params_set_allow_no_data(k, true);
    NCHW_END(nchw_conv(add_of(a, k, "sum"), 2, 1, "b"));
    assert_int_equal(PASS(net, "layout"), 0);
    assert_int_equal(TRANSPOSES(net), 4);
    xir_network_free(net);
}

/* ---- open dims -------------------------------------------------------------------------------------------------- */

/* An unknown batch size is not an obstacle, not even where a map is flattened. */
static void an_open_batch(void **state) {
    (void)state;
    xir_network *net;
    xir_value *x = relu_of(nchw_conv(NCHW_BEGIN(&net, -1, 3, 4, 5), 6, 3, "a"), "r");
    xir_value *columns = RESHAPE(x, "columns", -1, 6, 20);
    xir_value *t = matmul_of(TRANSPOSE(columns, NULL, 0, 2, 1), 2, "t");
    NCHW_END(matmul_of(RESHAPE(x, "flat", -1, 120), 7, "fc"), t);
    assert_true(PASS(net, "layout") > 0);
    CHECK_TYPED_OPS(net, "x:fp32[?,3,4,5]**** = Input()", "%1:fp32[?,4,5,3]NHWC = Transpose(x)",
                    "a:fp32[?,4,5,6]NHWC = Conv2d(%1, a.w, a.b)", "r:fp32[?,4,5,6]NHWC = ReLU(a)",
                    "columns:fp32[?,20,6]*** = Reshape(r)", "t:fp32[?,20,2]*** = Matmul(columns, t.w)",
                    "flat:fp32[?,120]** = Reshape(r)", "fc:fp32[?,7]** = Matmul(flat, fc.w)", "Output(fc, t)");
    xir_network_free(net);
}

static void open_rows_and_columns(void **state) {
    (void)state;
    xir_network *net;
    xir_value *x = relu_of(nchw_conv(NCHW_BEGIN(&net, 1, 3, -1, -1), 6, 3, "a"), "r");
    xir_value *columns = RESHAPE(x, "columns", 1, 6, -1);
    NCHW_END(matmul_of(TRANSPOSE(columns, NULL, 0, 2, 1), 2, "t"));
    assert_true(PASS(net, "layout") > 0);
    assert_int_equal(TRANSPOSES(net), 1);
    xir_network_free(net);
}

/* Shape asks for the dims at their new positions, one by one if they are not adjacent any more. */
static void shapes_of_maps(void **state) {
    (void)state;
    xir_network *net;
    xir_value *x = relu_of(nchw_conv(NCHW_BEGIN(&net, 2, 3, 4, 5), 6, 3, "a"), "r"), *all[4];
    static const struct { int64_t start, end; } asked[] = { { 0, 4 }, { -2, 4 }, { 0, 1 }, { 1, 3 } };
    for (size_t i = 0; i < 4; i++) {
        xir_shape_attrs a = xir_shape_init();
        char name[] = "s0";
        name[1] = (char)('0' + i);
        a.start = asked[i].start;
        if (i) a.end = (const xir_int_imm *)xir_scalar_int(ctx, asked[i].end);
        all[i] = named(XIR_OP(xir_at_end(net), shape, .input = x, .attrs = &a), name);
    }
    NCHW_END(nchw_conv(x, 2, 1, "b"), all[0], all[1], all[2], all[3]);
    PROVE(net, NULL);
    CHECK_OPS(net, "x = Input()", "%1 = Transpose(x)", "a = Conv2d(%1, a.w, a.b)", "r = ReLU(a)", "%7 = Shape(r)", "s0 = Gather(%7, #16)",
              "s1 = Shape(r)", "s2 = Shape(r)", "%10 = Shape(r)", "s3 = Gather(%10, #18)", "%14 = Conv2d(r, b.w, b.b)", "b = Transpose(%14)",
              "Output(b, s0, s1, s2, s3)");
    xir_network_free(net);
}

/* The other direction: ops with channels last get them first. The input had no letters: a Transpose that moves nothing
 * gives it some. */
static void channels_come_first(void **state) {
    (void)state;
    xir_network *net;
    xir_value *x = relu_of(nchw_conv(NCHW_BEGIN(&net, 2, 3, 4, 5), 6, 3, "a"), "r");
    x = add_of(x, PARAMS(net, "k", NULL, 6, 1, 1), "sum");
    x = concat_of(XIR_VALUES(x, sigmoid_of(x, "s")), 1, "both");
    NCHW_END(nchw_conv(nchw_pool(x, "p"), 2, 1, "b"));
    PROVE(net, NULL);
    assert_int_equal(TRANSPOSES(net), 2);
    PROVE(net, "to=nchw");
    CHECK_TYPED_OPS(net, "x:fp32[2,3,4,5]**** = Input()",
                    "%21:fp32[2,3,4,5]NCHW = Transpose(x)",
                    "a:fp32[2,6,4,5]NCHW = Conv2d(%21, a.w, a.b)",
                    "r:fp32[2,6,4,5]NCHW = ReLU(a)",
                    "sum:fp32[2,6,4,5]NCHW = Add(r, k)",
                    "s:fp32[2,6,4,5]NCHW = Sigmoid(sum)",
                    "both:fp32[2,12,4,5]NCHW = Concat(sum, s)",
                    "p:fp32[2,12,2,2]NCHW = MaxPool2d(both)",
                    "b:fp32[2,2,2,2]NCHW = Conv2d(p, b.w, b.b)",
                    "Output(b)");
    xir_network_free(net);
}

/* ---- outside of its model --------------------------------------------------------------------------------------- */

static void many_dims(void **state) {
    (void)state;
    xir_network *net;
    xir_value *x = NCHW_BEGIN(&net, 1, 2, 1, 2, 1, 2, 1, 2, 3);
    xir_value *t = named(TRANSPOSE(x, NULL, 8, 1, 2, 3, 4, 5, 6, 7, 0), "t");
    NCHW_END(named(TRANSPOSE(relu_of(t, "r"), NULL, 8, 1, 2, 3, 4, 5, 6, 7, 0), "y"));
    assert_int_equal(PROVE(net, NULL), 0);
    xir_network_free(net);
}

/* The orders of eight dims fit into one word. */
static void eight_dims(void **state) {
    (void)state;
    xir_network *net;
    xir_value *x = relu_of(NCHW_BEGIN(&net, 1, 2, 3, 2, 1, 2, 1, 3), "first");
    xir_value *t = TRANSPOSE(x, NULL, 7, 2, 0, 1, 3, 5, 4, 6);
    t = TRANSPOSE(sigmoid_of(t, "s"), NULL, 2, 3, 1, 4, 6, 5, 7, 0);
    NCHW_END(relu_of(t, "y"));
    PROVE(net, NULL);
    assert_int_equal(TRANSPOSES(net), 0);
    xir_network_free(net);
}

/* A value that a sub op reads must stay unchanged. */
static void values_that_sub_ops_read_are_unchanged(void **state) {
    (void)state;
    xir_network *net;
    xir_value *a = relu_of(nchw_conv(NCHW_BEGIN(&net, 1, 3, 4, 5), 6, 3, "a"), "r");
    const xir_type *type = xir_value_type(a);
    xir_op *sub = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(a), TYPES(type)));
    assert_non_null(sub);
    xir_hard_op_attrs h = xir_hard_op_init();
    h.sub_hard_ops = (xir_ops){ &sub, 1 };
    xir_op *hard = xir_network_add(net, &(xir_op_desc)DESC(hard_op, INPUTS(a), TYPES(type), .attrs = &h));
    assert_non_null(hard);
    NCHW_END(named(xir_op_output(hard, 0), "h"), nchw_conv(a, 2, 1, "b"));
    run_pass(net, "layout", NULL, __FILE__, __LINE__);
    assert_ptr_equal(xir_op_input(sub, 0), a);
    assert_ptr_equal(xir_value_type(a), type);
    xir_network_free(net);
}

/* Results: one value under two names stays two values. A result of a Transpose keeps its name, whichever op makes it
 * afterwards. */
static void results_keep_their_names(void **state) {
    (void)state;
    xir_network *net;
    xir_value *x = NCHW_BEGIN(&net, 1, 3, 4, 5);
    xir_value *a = nchw_conv(x, 6, 3, "a");
    xir_value *last = named(channels_last(relu_of(a, "r")), "last");
    xir_value *copy_of_x = named(channels_first(channels_last(x)), "same");
    NCHW_END(last, a, copy_of_x, x);
    PROVE(net, NULL);
    xir_network_free(net);
}

/* A conversion derives the names of the ops that it adds around an op from that op's name: the source's own name
 * wins. */
static void derived_names_give_way(void **state) {
    (void)state;
    xir_network *net;
    xir_value *x = NCHW_BEGIN(&net, 1, 3, 4, 5);
    xir_value *before = named(channels_last(x), "c.Transpose"), *w = PARAMS(net, "w", "HWIO", 1, 1, 3, 6);
    xir_value *conv = named(XIR_CONV2D(xir_at_end(net), .input = before, .weights = w), "c.Conv2d");
    xir_value *r = relu_of(named(channels_first(conv), "c"), "r");
    xir_value *pool = nchw_pool(r, "p");
    named(xir_op_input(xir_value_op(xir_op_input(xir_value_op(pool), 0)), 0), "p.Transpose");
    named(xir_op_input(xir_value_op(pool), 0), "p.MaxPool2d");
    NCHW_END(pool);
    PROVE(net, NULL);
    CHECK_OPS(net, "x = Input()", "c.Transpose = Transpose(x)", "c = Conv2d(c.Transpose, w)", "r = ReLU(c)", "p.MaxPool2d = MaxPool2d(r)",
              "p = Transpose(p.MaxPool2d)", "Output(p)");
    xir_network_free(net);
}

/* A list of dim names follows the axes, also for a result. */
static void names_of_dims_follow(void **state) {
    (void)state;
    xir_network *net;
    xir_any dims[] = { xir_any_text(XIR_STR("n")), xir_any_int(3), xir_any_text(XIR_STR("h")),
                       xir_any_text(XIR_STR("w")) };
    xir_any list = xir_any_list(dims, 4), now[] = { dims[0], dims[2], dims[3], dims[1] },
            expected = xir_any_list(now, 4);
    xir_value *x = NCHW_BEGIN(&net, -1, 3, -1, -1), *y = relu_of(nchw_conv(x, 6, 3, "a"), "y");
    DOES(xir_value_set_tag(x, XIR_STR("onnx.dims"), &list));   /* as in older files */
    DOES(xir_value_set_tag(y, XIR_STR("source.dims"), &list));
    NCHW_END(y);
    assert_true(PASS(net, "layout") > 0);
    xir_value *results[1], *arguments[1];
    assert_int_equal(xir_network_outputs(net, results, 1), 1);
    assert_true(xir_any_equal(xir_map_find(xir_value_tags(results[0]), XIR_STR("source.dims")), &list));
    xir_op *made = xir_value_op(xir_op_input(xir_value_op(results[0]), 0));
    assert_true(xir_op_is(made, xir_relu_class()));
    assert_null(xir_value_tags(xir_op_output(made, 0)));
    assert_true(PASS_WITH(net, "layout", "io=nhwc") > 0);
    xir_network_outputs(net, results, 1);
    xir_network_inputs(net, arguments, 1);
    CHECK_STR(xir_value_name(results[0]), "y");
    assert_true(xir_any_equal(xir_map_find(xir_value_tags(results[0]), XIR_STR("source.dims")), &expected));
    assert_true(xir_any_equal(xir_map_find(xir_value_tags(arguments[0]), XIR_STR("source.dims")), &expected));
    assert_null(xir_map_find(xir_value_tags(arguments[0]), XIR_STR("onnx.dims")));
    xir_network_free(net);
}

static void options_are_checked(void **state) {
    (void)state;
    xir_network *net;
    NCHW_END(nchw_conv(NCHW_BEGIN(&net, 1, 3, 4, 5), 6, 3, "a"));
    size_t changes;
    assert_int_equal(xir_pass_run(net, "layout", "io=nchw", &changes, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "option io: expected keep or nhwc, found 'nchw'");
    assert_int_equal(xir_pass_run(net, "layout", "to=chwn", &changes, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "option to: expected nhwc or nchw, found 'chwn'");
    xir_network_free(net);
}

/* Random networks of everything that a file may have, valid or not: whatever is wrong with them, they stay
 * consistent. */
static void random_files(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        random_net *r = random_net_make(ctx, seed, NULL);
        size_t size;
        char *text = random_net_text(r, NULL, 0, "", &size);
        xir_network *net = xir_network_read(ctx, text, size, XIR_STR("chance"),
                                            &XIR_INIT(xir_load_options, .format = "json", .no_params = true), why);
        if (net) {
            xir_pass_run(net, "layout", NULL, NULL, why);
            xir_pass_run(net, "layout", "io=nhwc,to=nchw", NULL, why);
            CHECK_SOUND(net);
        }
        xir_diags_clear(why);
        xir_network_free(net);
        free(text);
        random_net_free(r);
    }
}

/* ---- time and memory -------------------------------------------------------------------------------------------- */

/* One value with many users, each in another order than the value has, and one op with many inputs. */
static void many_users(void **state) {
    (void)state;
    enum { USERS = 3000 };
    xir_network *net;
    xir_value *x = nchw_conv(NCHW_BEGIN(&net, 1, 3, 4, 5), 6, 3, "a"), **all = calloc(USERS, sizeof *all);
    assert_non_null(all);
    for (size_t i = 0; i < USERS; i++) all[i] = relu_of(TRANSPOSE(x, NULL, 0, 1, 3, 2), "r");
    NCHW_END(nchw_conv(concat_of((xir_values){ all, USERS }, 1, "all"), 1, 1, "out"));
    assert_true(PASS(net, "layout") > 0);
    assert_true(TRANSPOSES(net) <= 3);
    free(all);
    xir_network_free(net);
}

static void without_memory(want *w) {
    xir_context *own = ctx;
    xir_diags *own_why = why;
    w->memory.plenty = true;
    ctx = w->ctx;
    why = xir_diags_new(ctx);
    xir_network *net;
    xir_value *x = nchw_conv(NCHW_BEGIN(&net, 2, 3, 4, 5), 6, 3, "a");
    x = multiply_of(relu_of(x, "r"), PARAMS(net, "k", NULL, 6, 4, 1), "m");
    xir_value *f = matmul_of(RESHAPE(x, "flat", 2, 120), 3, "fc");
    NCHW_END(nchw_conv(concat_of(XIR_VALUES(x, x), 1, "c"), 2, 1, "b"), f, x);
    w->memory.plenty = false;
    xir_status status = xir_pass_run(net, "layout", NULL, NULL, why);
    w->memory.plenty = true;
    assert_true(status == XIR_OK || (status == XIR_E_MEMORY && w->memory.refused));
    CHECK_SOUND(net);
    w->result = strdup("done");
    xir_network_free(net);
    xir_diags_free(why);
    ctx = own;
    why = own_why;
    w->memory.plenty = false;
}

static void failing_allocations_leak_nothing(void **state) {
    (void)state;
    run_scarcely("layout", without_memory, false);
}

/* A value that is listed twice as a result is one value afterwards, too, under its name. */
static void a_result_that_is_listed_twice(void **state) {
    (void)state;
    xir_network *net =
        story_net("x: 1 2 3; a = Reshape x [shape=1,2,1,3] [layout=@layout(****)]; b = Squeeze a [axis=0,2];"
                  "y = Transpose b [dims=0,1] [layout=@layout(**)];"
                  "z = Transpose x [dims=2,0,1] [layout=@layout(***)]; out y z y");
    xir_network *before = xir_network_clone(net);
    xir_value *is[3];
    DOES(xir_pass_run(net, "layout", NULL, NULL, why));
    xir_network_outputs(net, is, 3);
    assert_ptr_equal(is[0], is[2]);
    assert_true(xir_str_equal(xir_value_name(is[0]), XIR_STR("y")) &&
                xir_str_equal(xir_value_name(is[1]), XIR_STR("z")));
    CHECK_SAME_NUMBERS(before, net);
    CHECK_SOUND(net);
    xir_network_free(before);
    xir_network_free(net);
}

/* A Cast finds axes by letter, and a Transpose may give axes the letters of others. */
static void casts_find_axes_by_letter(void **state) {
    (void)state;
    static const char *const texts[] = {
        "%a = Transpose(%x) {dims=[0,2,1,3], layout=NHWC} : fp32 NHWC [1,4,4,4]\n%b = Sigmoid(%a) : fp32 NHWC [1,4,4,4]\n"
        "%c = Cast(%b) {target_dtype=fp16 NHWC [1,4,4,4]} : fp16 NHWC [1,4,4,4]\n%d = Sigmoid(%c) : fp16 NHWC [1,4,4,4]\n"
        "%y = Transpose(%d) {dims=[0,2,1,3], layout=NHWC} : fp16 NHWC [1,4,4,4]\n",
        "%a = Transpose(%x) {dims=[0,2,1,3], layout=NHWC} : fp32 NHWC [1,4,4,4]\n%b = Sigmoid(%a) : fp32 NHWC [1,4,4,4]\n"
        "%c = Cast(%b) {target_dtype=fp16 NWHC [1,4,4,4]} : fp16 NWHC [1,4,4,4]\n%d = Sigmoid(%c) : fp16 NWHC [1,4,4,4]\n"
        "%y = Transpose(%d) {dims=[0,2,1,3], layout=NHWC} : fp16 NHWC [1,4,4,4]\n",
        "%a = Transpose(%x) {dims=[0,3,1,2], layout=NCHW} : fp32 NCHW [1,4,4,4]\n%b = Sigmoid(%a) : fp32 NCHW [1,4,4,4]\n"
        "%c = Cast(%b) {target_dtype=fp16 NHWC [1,4,4,4]} : fp16 NHWC [1,4,4,4]\n%d = Sigmoid(%c) : fp16 NHWC [1,4,4,4]\n"
        "%y = Transpose(%d) {dims=[0,3,1,2], layout=NCHW} : fp16 NCHW [1,4,4,4]\n",
        "%a = Transpose(%x) {dims=[0,3,1,2], layout=NCHW} : fp32 NCHW [1,4,4,4]\n"
        "%b = Transpose(%a) {dims=[0,2,3,1], layout=NHWC} : fp32 NHWC [1,4,4,4]\n"
        "%c = MaxPool2d(%b) {pool_width=3, pool_height=3, pad_left=1, pad_right=1, pad_top=1, pad_bottom=1} : fp32 NHWC [1,4,4,4]\n"
        "%d = Transpose(%c) {dims=[0,2,1,3], layout=NHWC} : fp32 NHWC [1,4,4,4]\n"
        "%y = Cast(%d) {target_dtype=fp16 NHWC [1,4,4,4]} : fp16 NHWC [1,4,4,4]\n",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        char text[1000];
        snprintf(text, sizeof text, "xir 1\n%%x = Input() : fp32 NHWC [1,4,4,4]\n%sOutput(%%y)\n", texts[i]);
        xir_network *net = xir_network_read(ctx, text, strlen(text), XIR_STR("text"),
                                            &XIR_INIT(xir_load_options, .format = "text"), why);
        assert_non_null(net);
        xir_network *before = xir_network_clone(net);
        size_t changes;
        DOES(xir_pass_run(net, "layout", NULL, &changes, why));
        assert_true(changes);
        CHECK_SAME_NUMBERS(before, net);
        CHECK_SOUND(net);
        xir_network_free(before);
        xir_network_free(net);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_and_volumes),
        cmocka_unit_test(slopes_of_channels),
        cmocka_unit_test(a_transpose_that_gives_letters),
        cmocka_unit_test(slopes_of_the_last_axis),
        cmocka_unit_test(a_result_that_is_listed_twice),
        cmocka_unit_test(casts_find_axes_by_letter),
        cmocka_unit_test(a_shared_constant),
        cmocka_unit_test(bytes_that_stay),
        cmocka_unit_test(constants_without_bytes),
        cmocka_unit_test(an_open_batch),
        cmocka_unit_test(open_rows_and_columns),
        cmocka_unit_test(shapes_of_maps),
        cmocka_unit_test(channels_come_first),
        cmocka_unit_test(many_dims),
        cmocka_unit_test(eight_dims),
        cmocka_unit_test(values_that_sub_ops_read_are_unchanged),
        cmocka_unit_test(results_keep_their_names),
        cmocka_unit_test(derived_names_give_way),
        cmocka_unit_test(names_of_dims_follow),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(random_files),
        cmocka_unit_test(many_users),
        cmocka_unit_test(failing_allocations_leak_nothing),
    };
    return RUN_GROUP(tests);
}
