/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory runs out at every allocation of a conversion to ONNX: of a network in which some ops stay, and of one that is
 * converted whole, so that everything in it gets a name. The call reports it, the network stays valid, and with memory
 * again the conversion goes on to the same operators. */
#include "convert/scarce_dialect.h"
#include <xir/quant.h>
#include "support/onnx_nodes.h"
#include "support/story.h"

/* Conversions that allocate in their own way: maps, kernels, lists, constants, formulas, casts, several results, and
 * what stays. */
static const char story[] =
    "x: NCHW 1 2 6 6; k: params HWIO 3 3 2 2; b: params 2; i: params sint64 2 2 = 0 1 1 -1; h: 0.5; u: 3 4; l: sint64 1;"
    "f: params 2 8 2; r: params 2 8 2; y: NHWC 1 4 4 2; q: 1 2 3 2; qs: 2 1 2; v: sint64 3; k2: params sint64 1 = 2;"
    "c = Conv2d x k b [pad_left=1]; n = BatchNorm2d c [mean=b variance=b];"
    "p = AvgPool2d y [pool_height=2 pool_width=2 divisor_override=3]; a = Add n h [alpha=2]; e = Exp a;"
    "m = Multiply e n; g = GatherND u i; z = NonZero u; s = Shape u; t = Slice s [begin=1] [end=2] [stride=1];"
    "j = Concat t l [axis=0]; w = Reshape u j [shape=-1,-1 layout=@layout(**)];"
    "o, oh, oc = LSTM qs f r [hidden_size=2 direction=BIDIRECTIONAL]; at = Attention q q q [softcap=2];"
    "d = ReLU p [threshold=2]; si = SiLU u; sp, sq = Split u [sections=1,3 axis=1]; tv, ti = TopK u k2;"
    "fd = DivideScalar v [divisor=2 rounding_mode=FLOOR]; am = Argmax u; rs = Resize x [dsize=3,3];"
    "gs = GridSample x y; out m g z w o at d si sq tv ti fd am rs gs";

static const char whole[] =
    "x: NCHW 1 2 6 6; k: params HWIO 3 3 2 2; u: 3 4; w: params 4 2; c = Conv2d x k; g = GELU c; l = Matmul u w;"
    "s = Sum u [dim=1]; out g l s s w";

/* The result goes back in turn. */
static const char *pass_name(void) { return "onnx-to-xir"; }

static void prepare(want *w) {
    w->net = story_net_in(w->ctx, whole);
    assert_int_equal(xir_pass_run(w->net, "xir-to-onnx", "strict", NULL, w->why), XIR_OK);
    xir_diags_clear(w->why);
}

static void going_back(want *w) {
    IN_PLENTY(w, w->net = story_net_in(w->ctx, story));
    assert_non_null(w->net);
    TRY_LOOSELY(w, xir_pass_run(w->net, "xir-to-onnx", NULL, NULL, w->why));
    IN_PLENTY(w, tidy(w));
    IN_PLENTY(w, w->result = classes_of(w->net));
}

static void going_whole(want *w) {
    IN_PLENTY(w, w->net = story_net_in(w->ctx, whole));
    assert_non_null(w->net);
    TRY_LOOSELY(w, xir_pass_run(w->net, "xir-to-onnx", "opset=17", NULL, w->why));
    IN_PLENTY(w, tidy(w));
    IN_PLENTY(w, w->result = classes_of(w->net));
    if (strstr(w->result, "onnx::Conv\n") == NULL) fail_msg("it is not converted:\n%s", w->result);
}

/* Ops for which only the newest version has operators. */
static void going_to_the_newest(want *w) {
    IN_PLENTY(w, w->net = story_net_in(w->ctx, "q: 1 2 3 2; m: fp32 3; x: 2 4; at = Attention q q q m [scale=2 softcap=3];"
                                               "r = RMSNorm x [axis=1]; out at r"));
    assert_non_null(w->net);
    TRY_LOOSELY(w, xir_pass_run(w->net, "xir-to-onnx", "opset=23", NULL, w->why));
    IN_PLENTY(w, tidy(w));
    IN_PLENTY(w, w->result = classes_of(w->net));
    if (strstr(w->result, "onnx::Attention\n") == NULL) fail_msg("it is not converted:\n%s", w->result);
}

static const xir_type *quantised_element(xir_context *of) {
    const xir_scales *scales = xir_scales_from(of, (double[]){ 0.5 }, 1, -1);
    const int64_t zero = 3;
    return scales ? xir_type_quantized(of, scales, &zero, 1, xir_type_uint(of, 8), NULL) : NULL;
}

static void set_element(xir_value *v, const xir_type *element) {
    xir_context *of = xir_network_context(xir_value_network(v));
    const xir_type *type = element ? xir_type_with_element(of, xir_value_type(v), element, NULL) : NULL;
    assert_non_null(type);
    assert_int_equal(xir_value_set_type(v, type), XIR_OK);
}

/* Gives the input and the results of a network a quantised type. */
static void quantise(xir_network *net) {
    const xir_type *element = quantised_element(xir_network_context(net));
    set_element(xir_op_output(xir_network_input_op(net), 0), element);
    set_element(xir_op_input(xir_network_output_op(net), 0), element);
}

/* Every op as a node of our own, with an attribute of each kind, and back. */
static const char own[] =
    "x: NHWC 1 4 4 2; k: params HWIO 3 3 2 2; b: params 2; f: params 2 8 2; r: params 2 8 2; qs: 2 1 2;"
    "c = Conv2d x k b [pad_left=1 padding_mode=REFLECT]; n = BatchNorm2d c [mean=b variance=b];"
    "o, oh, oc = LSTM qs f r [hidden_size=2 direction=BIDIRECTIONAL]; w = Reshape n [shape=-1,2 layout=@layout(**)];"
    "a = ReLU w [alpha=0.5]; out a o";

static void begin_own(want *w) {
    w->net = story_net_in(w->ctx, own);
    assert_non_null(w->net);
    assert_int_equal(xir_pass_register(w->ctx, onnx_nodes_pass(), w->why), XIR_OK);
}

static void going_to_own_nodes(want *w) {
    IN_PLENTY(w, begin_own(w));
    TRY_LOOSELY(w, xir_pass_run(w->net, ONNX_NODES, NULL, NULL, w->why));
    IN_PLENTY(w, w->result = classes_of(w->net));
    if (strstr(w->result, "onnx::icraft.xir.LSTM\n") == NULL) fail_msg("it is not converted:\n%s", w->result);
}

static void coming_from_own_nodes(want *w) {
    IN_PLENTY(w, begin_own(w));
    IN_PLENTY(w, assert_int_equal(xir_pass_run(w->net, ONNX_NODES, NULL, NULL, w->why), XIR_OK));
    TRY_LOOSELY(w, xir_pass_run(w->net, "to-xir", NULL, NULL, w->why));
    IN_PLENTY(w, w->result = classes_of(w->net));
    if (strstr(w->result, "xir::LSTM\n") == NULL) fail_msg("it is not converted:\n%s", w->result);
}

/* A product of quantised numbers, as a file that ONNX Runtime quantised has it. */
static void prepare_quantised(want *w) {
    IN_PLENTY(w, w->net = story_net_in(w->ctx, "x: NCHW 1 2 6 6; k: params OIHW 3 2 3 3; o = Conv2d x k; out o"));
    assert_non_null(w->net);
    IN_PLENTY(w, quantise(w->net));
}

static void going_quantised(want *w) {
    prepare_quantised(w);
    TRY_LOOSELY(w, xir_pass_run(w->net, "xir-to-onnx", NULL, NULL, w->why));
    IN_PLENTY(w, w->result = classes_of(w->net));
    if (strstr(w->result, "onnx::QuantizeLinear\n") == NULL) fail_msg("it is not converted:\n%s", w->result);
}

/* Quantised numbers that are computed as integers, and a constant that is turned as it is stored. */
static void quantise_all(xir_network *net) {
    static const uint8_t bytes[36] = { 1, 2, 3 };
    const xir_type *element = quantised_element(xir_network_context(net));
    xir_op *output = xir_network_output_op(net);
    xir_value *k = xir_op_input(xir_op_next(xir_network_first(net)), 1);
    for (xir_op *op = xir_network_first(net); op != output; op = xir_op_next(op))
        set_element(xir_op_output(op, 0), element);
    set_element(k, element);
    assert_int_equal(xir_params_set_copy(k, bytes, sizeof bytes), XIR_OK);
}

static void going_as_integers(want *w) {
    IN_PLENTY(w, w->net = story_net_in(w->ctx, "x: NCHW 1 2 6 6; k: params HWIO 3 3 2 2; c = Conv2d x k;"
        "m = MaxPool2d c [pool_height=2 pool_width=2]; r = ReLU m; p = Pad r [padding=0,0,0,0,1,1,1,1];"
        "o = Transpose p [dims=0,2,3,1 layout=@layout(NHWC)]; out o"));
    assert_non_null(w->net);
    IN_PLENTY(w, quantise_all(w->net));
    TRY_LOOSELY(w, xir_pass_run(w->net, "xir-to-onnx", NULL, NULL, w->why));
    IN_PLENTY(w, w->result = classes_of(w->net));
    if (strstr(w->result, "onnx::MaxPool\nonnx::Clip\nonnx::Pad\n") == NULL)
        fail_msg("it is not converted:\n%s", w->result);
}

SCARCE_TEST(going_to_own_nodes)
SCARCE_TEST(coming_from_own_nodes)
SCARCE_TEST(going_quantised)
SCARCE_TEST(going_as_integers)
SCARCE_TEST(going_back)
SCARCE_TEST(going_whole)
SCARCE_TEST(going_to_the_newest)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_going_to_own_nodes),
        cmocka_unit_test(test_coming_from_own_nodes),
        cmocka_unit_test(test_going_quantised),
        cmocka_unit_test(test_going_as_integers),
        cmocka_unit_test(test_going_back),
        cmocka_unit_test(test_going_whole),
        cmocka_unit_test(test_going_to_the_newest),
        cmocka_unit_test(test_converting),
        cmocka_unit_test(test_checking),
    };
    return RUN_GROUP(tests);
}
