/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* layout: whole networks, before and after. Each begins in NCHW with Transposes around every convolution, and ends in
 * NHWC. */
#include "support/nchw.h"

static void a_chain_of_convolutions(void **state) {
    (void)state;
    xir_network *net;
    xir_value *x = NCHW_BEGIN(&net, 1, 3, 8, 8);
    x = nchw_conv(x, 4, 3, "a");
    x = relu_of(x, "b");
    x = nchw_pool(x, "c");
    x = nchw_conv(x, 5, 3, "d");
    NCHW_END(x);
    assert_int_equal(TRANSPOSES(net), 6);
    assert_true(PROVE(net, NULL) > 0);
    CHECK_TYPED_OPS(net, "x:fp32[1,3,8,8]**** = Input()",
                    "%1:fp32[1,8,8,3]NHWC = Transpose(x)",
                    "a:fp32[1,8,8,4]NHWC = Conv2d(%1, a.w, a.b)",
                    "b:fp32[1,8,8,4]NHWC = ReLU(a)",
                    "c:fp32[1,4,4,4]NHWC = MaxPool2d(b)",
                    "%13:fp32[1,4,4,5]NHWC = Conv2d(c, d.w, d.b)",
                    "d:fp32[1,5,4,4]**** = Transpose(%13)",
                    "Output(d)");
    xir_network_free(net);
}

static void a_residual_block(void **state) {
    (void)state;
    xir_network *net;
    xir_value *x = NCHW_BEGIN(&net, 2, 4, 6, 6);
    xir_value *a = relu_of(nchw_conv(x, 4, 3, "a"), "ar");
    xir_value *b = nchw_conv(relu_of(nchw_conv(a, 4, 3, "b"), "br"), 4, 3, "c");
    NCHW_END(relu_of(add_of(b, a, "sum"), "out"));
    PROVE(net, NULL);
    CHECK_OPS(net, "x = Input()", "%1 = Transpose(x)", "a = Conv2d(%1, a.w, a.b)", "ar = ReLU(a)", "b = Conv2d(ar, b.w, b.b)",
              "br = ReLU(b)", "c = Conv2d(br, c.w, c.b)", "sum = Add(c, ar)", "%19 = ReLU(sum)", "out = Transpose(%19)", "Output(out)");
    xir_network_free(net);
}

static void a_dense_block(void **state) {
    (void)state;
    xir_network *net;
    xir_value *x = relu_of(nchw_conv(NCHW_BEGIN(&net, 1, 3, 6, 6), 4, 3, "stem"), "a");
    xir_value *b = relu_of(nchw_conv(x, 4, 3, "b"), "br");
    xir_value *bb = concat_of(XIR_VALUES(x, b), 1, "x+b");
    xir_value *c = relu_of(nchw_conv(bb, 4, 3, "c"), "cr");
    xir_value *all = concat_of(XIR_VALUES(bb, c), 1, "all");
    NCHW_END(nchw_conv(relu_of(nchw_batch_norm(all, "norm"), "r"), 4, 1, "out"));
    PROVE(net, NULL);
    assert_int_equal(TRANSPOSES(net), 2);
    CHECK_OPS(net, "x = Input()", "%1 = Transpose(x)", "stem = Conv2d(%1, stem.w, stem.b)", "a = ReLU(stem)", "b = Conv2d(a, b.w, b.b)",
              "br = ReLU(b)", "x+b = Concat(a, br)", "c = Conv2d(x+b, c.w, c.b)", "cr = ReLU(c)", "all = Concat(x+b, cr)",
              "norm = BatchNorm2d(all)", "r = ReLU(norm)", "%30 = Conv2d(r, out.w, out.b)", "out = Transpose(%30)", "Output(out)");
    assert_int_equal(xir_concat_of(xir_network_op_at(net, 6))->axis, 3);
    xir_network_free(net);
}

/* The squeezed map has one pixel per channel and thus no order: it joins the other maps. */
static void squeeze_and_excite(void **state) {
    (void)state;
    xir_network *net;
    xir_value *a = nchw_conv(NCHW_BEGIN(&net, 2, 3, 6, 6), 8, 3, "a");
    xir_value *s = nchw_global_pool(a, "s");
    s = relu_of(nchw_conv(s, 2, 1, "down"), "r");
    s = sigmoid_of(nchw_conv(s, 8, 1, "up"), "gate");
    NCHW_END(nchw_conv(multiply_of(a, s, "scaled"), 4, 1, "out"));
    PROVE(net, NULL);
    assert_int_equal(TRANSPOSES(net), 2);
    xir_network_free(net);
}

static void squeeze_by_a_mean_and_linear_layers(void **state) {
    (void)state;
    xir_network *net;
    xir_value *a = nchw_conv(NCHW_BEGIN(&net, 2, 3, 6, 6), 8, 3, "a");
    xir_mean_attrs m = xir_mean_init();
    m.dim = (xir_i64s){ (const int64_t[]){ 2, 3 }, 2 };
    xir_value *s = named(XIR_OP(xir_at_end(net), mean, .input = a, .attrs = &m), "s");
    s = sigmoid_of(matmul_of(relu_of(matmul_of(s, 2, "down"), "r"), 8, "up"), "gate");
    s = RESHAPE(s, "map", 2, 8, 1, 1);
    NCHW_END(nchw_conv(multiply_of(a, s, "scaled"), 4, 1, "out"));
    PROVE(net, NULL);
    assert_int_equal(TRANSPOSES(net), 2);
    CHECK_OPS(net, "x = Input()", "%1 = Transpose(x)", "a = Conv2d(%1, a.w, a.b)", "s = Mean(a)", "down = Matmul(s, down.w)",
              "r = ReLU(down)", "up = Matmul(r, up.w)", "gate = Sigmoid(up)", "map = Reshape(gate)", "scaled = Multiply(a, map)",
              "%18 = Conv2d(scaled, out.w, out.b)", "out = Transpose(%18)", "Output(out)");
    xir_network_free(net);
}

static void a_u_net(void **state) {
    (void)state;
    xir_network *net;
    xir_value *a = relu_of(nchw_conv(NCHW_BEGIN(&net, 1, 3, 8, 8), 4, 3, "a"), "ar");
    xir_value *b = relu_of(nchw_conv(nchw_pool(a, "down"), 8, 3, "b"), "br");
    xir_value *up = nchw_upsample(b, 8, 8, "up");
    NCHW_END(nchw_conv(concat_of(XIR_VALUES(a, up), 1, "both"), 2, 1, "out"));
    PROVE(net, NULL);
    assert_int_equal(TRANSPOSES(net), 2);
    xir_network_free(net);
}

/* The weights after a flattened map: their rows follow the order of the map. */
static void flatten_and_a_product(void **state) {
    (void)state;
    xir_network *net;
    xir_value *a = relu_of(nchw_conv(NCHW_BEGIN(&net, 2, 3, 4, 5), 6, 3, "a"), "ar");
    xir_value *f = RESHAPE(a, "flat", 2, 120);
    xir_any dims[] = { xir_any_text(XIR_STR("n")), xir_any_int(120) }, list = xir_any_list(dims, 2);
    DOES(xir_value_set_tag(f, XIR_STR("source.dims"), &list));
    NCHW_END(matmul_of(relu_of(matmul_of(sigmoid_of(f, "s"), 7, "fc1"), "r"), 3, "fc2"));
    PROVE_WITHIN(net, 1e-6);
    assert_int_equal(TRANSPOSES(net), 1);
    CHECK_OPS(net, "x = Input()", "%1 = Transpose(x)", "a = Conv2d(%1, a.w, a.b)", "ar = ReLU(a)", "flat = Reshape(ar)",
              "s = Sigmoid(flat)", "fc1 = Matmul(s, fc1.w)", "r = ReLU(fc1)", "fc2 = Matmul(r, fc2.w)", "Output(fc2)");
    xir_network_free(net);
}

/* A generator: the columns of the weights and of the addend follow the order of the map. */
static void a_product_and_a_map(void **state) {
    (void)state;
    xir_network *net;
    xir_value *m = matmul_of(NCHW_BEGIN(&net, 2, 7), 120, "fc");
    m = add_of(m, PARAMS(net, "bias", NULL, 120), "sum");
    xir_value *map = RESHAPE(relu_of(m, "r"), "map", 2, 6, 4, 5);
    xir_value *y = nchw_conv(relu_of(map, "q"), 3, 3, "out");
    NCHW_END(y);
    PROVE(net, NULL);
    CHECK_OPS(net, "x = Input()", "fc = Matmul(x, fc.w)", "sum = Add(fc, bias)", "r = ReLU(sum)", "map = Reshape(r)", "q = ReLU(map)",
              "%11 = Conv2d(q, out.w, out.b)", "out = Transpose(%11)", "Output(out)");
    xir_network_free(net);

    /* The middle of an autoencoder: rows in one order, columns in another. */
    xir_value *a = nchw_conv(NCHW_BEGIN(&net, 2, 3, 4, 5), 6, 3, "a");
    xir_value *f = matmul_of(RESHAPE(a, "flat", 2, 120), 40, "fc");
    NCHW_END(nchw_conv(RESHAPE(f, "map", 2, 2, 4, 5), 3, 3, "out"));
    PROVE_WITHIN(net, 1e-6);
    assert_int_equal(TRANSPOSES(net), 2);
    xir_network_free(net);
}

/* A flattened map that has another reader keeps its order. */
static void flatten_and_a_result(void **state) {
    (void)state;
    xir_network *net;
    xir_value *f = RESHAPE(nchw_conv(NCHW_BEGIN(&net, 2, 3, 4, 5), 6, 3, "a"), "flat", 2, 120);
    xir_value *m = matmul_of(f, 7, "fc");
    NCHW_END(m, f);
    PROVE(net, NULL);
    CHECK_OPS(net, "x = Input()", "%1 = Transpose(x)", "%4 = Conv2d(%1, a.w, a.b)", "a = Transpose(%4)", "flat = Reshape(a)",
              "fc = Matmul(flat, fc.w)", "Output(fc, flat)");
    xir_network_free(net);
}

/* A single pixel needs no reordered weights. */
static void flatten_a_pixel(void **state) {
    (void)state;
    xir_network *net;
    xir_value *g = nchw_global_pool(nchw_conv(NCHW_BEGIN(&net, 2, 3, 4, 4), 6, 3, "a"), "g");
    NCHW_END(matmul_of(RESHAPE(g, "flat", 2, 6), 7, "fc"));
    PROVE(net, NULL);
    CHECK_OPS(net, "x = Input()", "%1 = Transpose(x)", "a = Conv2d(%1, a.w, a.b)", "g = AvgPool2d(a)", "flat = Reshape(g)",
              "fc = Matmul(flat, fc.w)", "Output(fc)");
    xir_network_free(net);
}

/* ShuffleNet: the groups of channels change places by a Transpose of the network itself. */
static void a_channel_shuffle(void **state) {
    (void)state;
    xir_network *net;
    xir_value *a = nchw_conv(NCHW_BEGIN(&net, 1, 3, 6, 6), 8, 1, "a");
    xir_value *s = TRANSPOSE(RESHAPE(a, "split", 1, 2, 4, 6, 6), NULL, 0, 2, 1, 3, 4);
    s = RESHAPE(named(s, "turned"), "shuffled", 1, 8, 6, 6);
    NCHW_END(nchw_conv(s, 4, 1, "out"));
    PROVE(net, NULL);
    CHECK_TYPED_OPS(net, "x:fp32[1,3,6,6]**** = Input()",
                    "%1:fp32[1,6,6,3]NHWC = Transpose(x)",
                    "a:fp32[1,6,6,8]NHWC = Conv2d(%1, a.w, a.b)",
                    "split:fp32[1,6,6,2,4]***** = Reshape(a)",
                    "turned:fp32[1,6,6,4,2]***** = Transpose(split)",
                    "shuffled:fp32[1,6,6,8]NHWC = Reshape(turned)",
                    "%12:fp32[1,6,6,4]NHWC = Conv2d(shuffled, out.w, out.b)",
                    "out:fp32[1,4,6,6]**** = Transpose(%12)",
                    "Output(out)");
    xir_network_free(net);
}

/* The model's own path from maps to tokens is what the reshape gives by itself. */
static void a_map_as_tokens(void **state) {
    (void)state;
    xir_network *net;
    xir_value *a = nchw_conv(NCHW_BEGIN(&net, 1, 3, 8, 8), 16, 1, "patches");
    xir_value *t = named(TRANSPOSE(RESHAPE(a, "columns", 1, 16, 64), NULL, 0, 2, 1), "tokens");
    NCHW_END(matmul_of(t, 16, "qkv"));
    PROVE(net, NULL);
    CHECK_OPS(net, "x = Input()", "%1 = Transpose(x)", "patches = Conv2d(%1, patches.w, patches.b)", "columns = Reshape(patches)",
              "qkv = Matmul(columns, qkv.w)", "Output(qkv)");
    xir_network_free(net);
}

/* A head that returns boxes: [N, A*K, H, W] becomes [N, H*W*A, K]. */
static void a_detection_head(void **state) {
    (void)state;
    xir_network *net;
    xir_value *a = nchw_conv(NCHW_BEGIN(&net, 1, 3, 4, 4), 12, 1, "head");
    xir_value *v = RESHAPE(a, "anchors", 1, 3, 4, 4, 4);
    v = TRANSPOSE(v, NULL, 0, 3, 4, 1, 2);
    NCHW_END(RESHAPE(v, "boxes", 1, 48, 4));
    PROVE(net, NULL);
    CHECK_OPS(net, "x = Input()", "%1 = Transpose(x)", "head = Conv2d(%1, head.w, head.b)", "anchors = Reshape(head)",
              "boxes = Reshape(anchors)", "Output(boxes)");
    xir_network_free(net);
}

static void classes_of_pixels(void **state) {
    (void)state;
    xir_network *net;
    xir_value *a = nchw_conv(NCHW_BEGIN(&net, 1, 3, 4, 4), 5, 3, "a");
    xir_softmax_attrs s = xir_softmax_init();
    s.axis = 1;
    xir_value *p = named(XIR_OP(xir_at_end(net), softmax, .input = a, .attrs = &s), "p");
    xir_argmax_attrs m = xir_argmax_init();
    m.dim = (const xir_int_imm *)xir_scalar_int(ctx, 1);
    NCHW_END(named(XIR_OP(xir_at_end(net), argmax, .input = p, .attrs = &m), "best"));
    PROVE(net, NULL);
    CHECK_OPS(net, "x = Input()", "%1 = Transpose(x)", "a = Conv2d(%1, a.w, a.b)", "p = Softmax(a)", "best = Argmax(p)", "Output(best)");
    xir_network_free(net);
}

/* ---- inputs and results ----------------------------------------------------------------------------------------- */

static void open_borders(void **state) {
    (void)state;
    xir_network *net;
    xir_value *x = NCHW_BEGIN(&net, 1, 3, 8, 8);
    xir_value *a = relu_of(nchw_conv(relu_of(x, "r"), 4, 3, "a"), "b");
    NCHW_END(a, nchw_conv(a, 2, 1, "c"));
    PROVE(net, "io=nhwc");
    CHECK_TYPED_OPS(net, "x:fp32[1,8,8,3]NHWC = Input()",
                    "r:fp32[1,8,8,3]NHWC = ReLU(x)",
                    "a:fp32[1,8,8,4]NHWC = Conv2d(r, a.w, a.b)",
                    "b:fp32[1,8,8,4]NHWC = ReLU(a)",
                    "c:fp32[1,8,8,2]NHWC = Conv2d(b, c.w, c.b)",
                    "Output(b, c)");
    xir_network_free(net);
}

/* An input that an op needs in its original order stays. */
static void a_border_in_two_orders(void **state) {
    (void)state;
    xir_network *net;
    xir_value *x = NCHW_BEGIN(&net, 1, 3, 4, 5);
    xir_value *m = matmul_of(x, 4, "m");
    NCHW_END(nchw_conv(x, 6, 3, "a"), m);
    PROVE(net, "io=nhwc");
    CHECK_OPS(net, "x = Input()", "m = Matmul(x, m.w)", "%3 = Transpose(x)", "a = Conv2d(%3, a.w, a.b)", "Output(a, m)");
    xir_network_free(net);
}

/* A value is a result and has other users: one Transpose, for the result. */
static void a_result_inside(void **state) {
    (void)state;
    xir_network *net;
    xir_value *a = relu_of(nchw_conv(NCHW_BEGIN(&net, 1, 3, 4, 4), 4, 3, "a"), "feature");
    NCHW_END(a, nchw_conv(a, 4, 3, "b"));
    PROVE(net, NULL);
    CHECK_OPS(net, "x = Input()", "%1 = Transpose(x)", "a = Conv2d(%1, a.w, a.b)", "%6 = ReLU(a)", "feature = Transpose(%6)",
              "%10 = Conv2d(%6, b.w, b.b)", "b = Transpose(%10)", "Output(feature, b)");
    xir_network_free(net);
}

/* ---- unchanged -------------------------------------------------------------------------------------------------- */

/* Attention heads: these Transposes belong to the network itself. */
static void attention_stays(void **state) {
    (void)state;
    xir_network *net;
    xir_value *x = NCHW_BEGIN(&net, 1, 6, 8);
    xir_value *q = TRANSPOSE(RESHAPE(matmul_of(x, 8, "q"), "qh", 1, 6, 2, 4), NULL, 0, 2, 1, 3);
    xir_value *k = TRANSPOSE(RESHAPE(matmul_of(x, 8, "k"), "kh", 1, 6, 2, 4), NULL, 0, 2, 3, 1);
    xir_value *s = PARAMS(net, "scale", NULL, 1);
    xir_value *scores = multiply_of(XIR_OP(xir_at_end(net), matmul, .x = q, .k = k), s, "scores");
    xir_value *v = TRANSPOSE(RESHAPE(matmul_of(x, 8, "v"), "vh", 1, 6, 2, 4), NULL, 0, 2, 1, 3);
    xir_value *o = XIR_OP(xir_at_end(net), matmul, .x = scores, .k = v);
    o = RESHAPE(TRANSPOSE(o, NULL, 0, 2, 1, 3), "merged", 1, 6, 8);
    NCHW_END(matmul_of(add_of(o, x, "sum"), 8, "out"));
    assert_int_equal(PROVE(net, NULL), 0);
    xir_network_free(net);
}

/* Transposes that cancel through ops that work in any order are removed everywhere. */
static void orders_cancel_without_convolutions(void **state) {
    (void)state;
    xir_network *net;
    xir_value *x = NCHW_BEGIN(&net, 2, 3, 4, 5);
    xir_value *a = TRANSPOSE(matmul_of(x, 5, "m"), NULL, 3, 0, 1, 2);
    a = sigmoid_of(relu_of(a, "r"), "s");
    NCHW_END(matmul_of(TRANSPOSE(a, NULL, 1, 2, 3, 0), 5, "out"));
    PROVE(net, NULL);
    CHECK_OPS(net, "x = Input()", "m = Matmul(x, m.w)", "r = ReLU(m)", "s = Sigmoid(r)", "out = Matmul(s, out.w)", "Output(out)");
    xir_network_free(net);
}

static void an_unknown_class_ends_a_region(void **state) {
    (void)state;
    xir_network *net;
    xir_value *a = relu_of(nchw_conv(NCHW_BEGIN(&net, 1, 3, 4, 4), 4, 3, "a"), "b");
    xir_value *u = named(foreign(net, "custom::Thing", xir_value_type(a), XIR_VALUES(a)), "thing");
    NCHW_END(nchw_conv(relu_of(u, "c"), 4, 3, "d"));
    assert_true(PASS(net, "layout") > 0);
    CHECK_OPS(net, "x = Input()", "%1 = Transpose(x)", "a = Conv2d(%1, a.w, a.b)", "%6 = ReLU(a)", "b = Transpose(%6)",
              "thing = custom::Thing(b)", "%15 = Transpose(thing)", "c = ReLU(%15)", "%12 = Conv2d(c, d.w, d.b)",
              "d = Transpose(%12)", "Output(d)");
    xir_network_free(net);
}

static void tokens_between_convolutions_keep_their_order(void **state) {
    (void)state;
    xir_network *net;
    xir_value *a = nchw_conv(NCHW_BEGIN(&net, 1, 3, 4, 4), 8, 1, "a");
    xir_value *t = TRANSPOSE(RESHAPE(a, "flat", 1, 8, 16), NULL, 0, 2, 1);
    t = matmul_of(t, 8, "mlp");
    t = RESHAPE(TRANSPOSE(t, NULL, 0, 2, 1), "map", 1, 8, 4, 4);
    NCHW_END(nchw_conv(t, 4, 1, "out"));
    PROVE(net, NULL);
    assert_int_equal(TRANSPOSES(net), 2);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_convolutions),
        cmocka_unit_test(a_residual_block),
        cmocka_unit_test(a_dense_block),
        cmocka_unit_test(squeeze_and_excite),
        cmocka_unit_test(squeeze_by_a_mean_and_linear_layers),
        cmocka_unit_test(a_u_net),
        cmocka_unit_test(flatten_and_a_product),
        cmocka_unit_test(a_product_and_a_map),
        cmocka_unit_test(flatten_and_a_result),
        cmocka_unit_test(flatten_a_pixel),
        cmocka_unit_test(a_channel_shuffle),
        cmocka_unit_test(a_map_as_tokens),
        cmocka_unit_test(a_detection_head),
        cmocka_unit_test(classes_of_pixels),
        cmocka_unit_test(open_borders),
        cmocka_unit_test(a_border_in_two_orders),
        cmocka_unit_test(a_result_inside),
        cmocka_unit_test(attention_stays),
        cmocka_unit_test(orders_cancel_without_convolutions),
        cmocka_unit_test(an_unknown_class_ends_a_region),
        cmocka_unit_test(tokens_between_convolutions_keep_their_order),
    };
    return RUN_GROUP(tests);
}
