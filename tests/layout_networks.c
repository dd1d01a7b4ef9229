/* layout: whole networks, before and after. What comes in NCHW with Transposes around every convolution goes out in NHWC. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_convolutions),
        cmocka_unit_test(a_residual_block),
    };
    return RUN_GROUP(tests);
}
