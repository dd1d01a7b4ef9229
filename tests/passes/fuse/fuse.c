/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pass `fuse`: networks before and after it, and networks that it must not change. */
#define TESTED "fuse"
#include "passes/before_after.h"
#include "support/scarce.h"
#include <xir/pattern.h>

/* ---- Matmul and bias -------------------------------------------------------------------------------------------- */

static void a_constant_sum_becomes_the_bias(void **state) {
    (void)state;
    BECOMES("x: 2 3; k: params 3 4; b: params 4; m = Matmul x k; y = Add m b; out y", "y = Matmul x k b; out y");
    BECOMES("x: 2 3; k: params 3 4; b: params 4; m = Matmul x k; y = Add b m; out y", "y = Matmul x k b; out y");
    BECOMES("x: 5 2 3; z: 5 3 4; b: 1; m = Matmul x z; y = Add m b; r = ReLU y; out r", "y = Matmul x z b; r = ReLU y; out r");
    BECOMES("x: 2 3; k: params 3 3; b: params 3; m = Matmul x k; y = Add m b; n = Matmul y k; z = Add n b; out z",
            "y = Matmul x k b; z = Matmul y k b; out z");
}

static void sums_that_are_not_a_bias(void **state) {
    (void)state;
    STAYS("x: 2 3; z: 2 4; k: params 3 4; m = Matmul x k; y = Add m z; out y");                       /* computed */
    STAYS("x: 2 3; k: params 3 4; b: params 4; m = Matmul x k; y = Add m b [beta=2]; out y");
    STAYS("x: 2 3; k: params 3 4; b: params 5 2 4; m = Matmul x k; y = Add m b; out y");              /* the product would broadcast */
    STAYS("x: 2 3; k: params 3 4; b: params 4; m = Matmul x k; y = Add m b; out y m");                /* the product is a result, too */
    STAYS("x: 2 3; k: params 3 4; b: params 4; m = Matmul x k; y = Add m b; z = Add y m; out z");
    STAYS("x: 2 3; k: params 3 4; b: params 4; m = Matmul x k b; y = Add m b; out y");                /* it has a bias already */
}

/* ---- activations ------------------------------------------------------------------------------------------------ */

static void silu(void **state) {
    (void)state;
    BECOMES("x: 2 3; s = Sigmoid x; y = Multiply x s; out y", "y = SiLU x; out y");
    BECOMES("x: 2 3; s = Sigmoid x; y = Multiply s x; out y", "y = SiLU x; out y");
    BECOMES("x: 2 3; a = ReLU x; s = Sigmoid a; y = Multiply a s; z = Add y a; out z", "a = ReLU x; y = SiLU a; z = Add y a; out z");
    STAYS("x: 2 3; z: 2 3; s = Sigmoid z; y = Multiply x s; out y");
    STAYS("x: 2 3; s = Sigmoid x; y = Multiply x s; out y s");
    STAYS("x: 2 3; s = Sigmoid x; y = Multiply s s; out y");
}

static void hardswish(void **state) {
    (void)state;
    BECOMES("x: 2 3; s = Hardsigmoid x; y = Multiply x s; out y", "y = Hardswish x; out y");
    STAYS("x: 2 3; s = Hardsigmoid x [alpha=0.2]; y = Multiply x s; out y");
    STAYS("x: 2 3; s = Hardsigmoid x [beta=0.4]; y = Multiply x s; out y");
    const char *relu6s[] = { "r = ReLU a [max_value=6]", "r = ClampScalar a [min=0 max=6]",
                             "r = Hardtanh a [min_val=0 max_val=6]" };
    const char *ends[] = {
        "m = Multiply x r; y = Div m six",   "m = Multiply r x; y = Multiply m sixth", "m = Multiply x r; y = DivideScalar m [divisor=6]",
        "m = Div r six; y = Multiply x m",   "m = Multiply sixth r; y = Multiply m x", "m = DivideScalar r [divisor=6]; y = Multiply x m",
        "m = Div x six; y = Multiply m r",   "m = Multiply x sixth; y = Multiply r m", "m = DivideScalar x [divisor=6]; y = Multiply m r",
    };
    for (size_t i = 0; i < COUNT(relu6s); i++) {
        for (size_t j = 0; j < COUNT(ends); j++) {
            char text[400];
            snprintf(text, sizeof text, "x: 2 3; three: 3; six: 6; sixth: 0.16666667; a = Add x three; %s; %s; out y",
                     relu6s[i], ends[j]);
            BECOMES(text, "y = Hardswish x; out y");
        }
    }
}

static void ops_that_are_not_a_hardswish(void **state) {
    (void)state;
    BECOMES("x: 2 3; three: 3; six: 6; a = Add three x; r = ReLU a [max_value=6]; y = Div r six; out y", "y = Hardsigmoid x; out y");
    STAYS("x: 2 3; three: 3.1; six: 6; a = Add x three; r = ReLU a [max_value=6]; y = Div r six; out y");
    STAYS("x: 2 3; three: 3; six: 6; a = Add x three; r = ReLU a [max_value=5]; y = Div r six; out y");
    STAYS("x: 2 3; three: 3; six: 6; a = Add x three; r = ReLU a [max_value=6 alpha=0.1]; y = Div r six; out y");
    STAYS("x: 2 3; three: 3; six: 6; a = Add x three; r = ReLU a [max_value=6]; y = Div six r; out y");
    STAYS("x: 2 3; three: 3; six: 6; a = Add x three; r = ReLU a [max_value=6]; y = Div r six [rounding_mode=FLOOR]; out y");
    STAYS("x: 2 3; three: 3; six: 6; a = Add x three; r = ReLU a [max_value=6]; y = Div r six; out y r");
    STAYS("x: 2 3; three: 3; six: params 2 3 = 6 6 6 6 6 6; a = Add x three; r = ReLU a [max_value=6]; y = Div r six; out y");
    /* A constant of a higher rank makes the result one of a higher rank. */
    STAYS("x: 2 3; three: params 1 1 1 = 3; six: 6; a = Add x three; r = ReLU a [max_value=6]; y = Div r six; out y");
}

static void gelu(void **state) {
    (void)state;
    const char *arguments[] = { "s = Div x root", "s = Multiply x half_root", "s = Multiply half_root x",
                                "s = DivideScalar x [divisor=1.4142135]" };
    const char *ends[] = {
        "m = Multiply x p; y = Multiply m half", "m = Multiply p x; y = Div m two", "m = Multiply x p; y = DivideScalar m [divisor=2]",
        "m = Multiply p half; y = Multiply x m", "m = Multiply half p; y = Multiply m x",
        "m = Multiply x half; y = Multiply m p", "m = Div x two; y = Multiply p m",
    };
    for (size_t i = 0; i < COUNT(arguments); i++) {
        for (size_t j = 0; j < COUNT(ends); j++) {
            char text[400];
            snprintf(text, sizeof text,
                     "x: 2 3; root: 1.4142135; half_root: 0.70710677; half: 0.5; two: 2; one: 1; %s; e = Erf s; "
                     "p = Add %s; %s; out y", arguments[i], j % 2 ? "e one" : "one e", ends[j]);
            BECOMES(text, "y = GELU x; out y");
        }
    }
    STAYS("x: 2 3; root: 1.5; half: 0.5; one: 1; s = Div x root; e = Erf s; p = Add e one; m = Multiply x p; y = Multiply m half; out y");
    STAYS("x: 2 3; z: 2 3; root: 1.4142135; half: 0.5; one: 1; s = Div z root; e = Erf s; p = Add e one; m = Multiply x p; y = Multiply m half; out y");
}

/* ---- LayerNorm -------------------------------------------------------------------------------------------------- */

#define BARE "m = Mean x [dim=-1 keepdim=true]; d = Add x m [beta=-1]; p = Pow d two; v = Mean p [dim=-1 "             \
    "keepdim=true]; "                                                                                                  \
             "a = Add v eps; r = Sqrt a; n = Div d r"

static void layer_norm(void **state) {
    (void)state;
    BECOMES("x: 2 3 4; two: 2; eps: 1e-6; " BARE "; out n", "n = LayerNorm x [axis=-1 eps=1e-06]; out n");
    BECOMES("x: 2 3 4; two: 2; eps: 1e-6; g: params 4; b: params 4; " BARE "; s = Multiply n g; y = Add s b; out y",
            "y = LayerNorm x [axis=-1 eps=1e-06 gamma=g beta=b]; out y");
    BECOMES("x: 2 3 4; two: 2; eps: 1e-6; b: params 1 1 4; " BARE "; y = Add b n; out y", "y = LayerNorm x [axis=-1 eps=1e-06 beta=b]; out y");
    BECOMES("x: 2 3 4; two: 2; eps: 1e-6; g: params 3 4; " BARE "; y = Multiply g n; out y",
            "n = LayerNorm x [axis=-1 eps=1e-06]; y = Multiply g n; out y");   /* other dims than the normalised ones */
    BECOMES("x: 2 3 4; two: 2; eps: 1e-6; g: 2; " BARE "; y = Multiply g n; out y", "n = LayerNorm x [axis=-1 eps=1e-06]; y = Multiply g n; out y");
    BECOMES("x: 2 3 4; eps: 1e-5; m = Mean x [dim=1,2 keepdim=true]; d = Add x m [beta=-1]; p = Multiply d d; v = Mean p [dim=-1,-2 keepdim=true]; "
            "a = Add eps v; r = Sqrt a; n = Div d r; out n", "n = LayerNorm x [axis=1,2]; out n");
    BECOMES("x: 2 3; two: 2; eps: 1e-5; m = Mean x [keepdim=true]; d = Add x m [beta=-1]; p = Pow d two; v = Mean p [keepdim=true]; "
            "a = Add eps v; r = Sqrt a; n = Div d r; out n", "n = LayerNorm x [axis=0,1]; out n");
}

static void ops_that_are_not_a_layer_norm(void **state) {
    (void)state;
    /* other dims than the mean's: the last part is an RMSNorm */
    BECOMES("x: 2 3 4; two: 2; eps: 1e-6; m = Mean x [dim=-1 keepdim=true]; d = Add x m [beta=-1]; p = Pow d two; v = Mean p [dim=1 keepdim=true]; "
            "a = Add v eps; r = Sqrt a; n = Div d r; out n",
            "m = Mean x [dim=-1 keepdim=true]; d = Add x m [beta=-1]; n = RMSNorm d [axis=1 eps=1e-06]; out n");
    STAYS("x: 2 3 4; two: 3; eps: 1e-6; " BARE "; out n");
    BECOMES("x: 2 3 4; two: 2; eps: 1e-6; " BARE "; out n d",
            "m = Mean x [dim=-1 keepdim=true]; d = Add x m [beta=-1]; n = RMSNorm d [axis=-1 eps=1e-06]; out n d");
    STAYS("x: 2 3 4; two: 2; eps: params 4; " BARE "; out n");
    BECOMES("x: 2 3 4; z: 2 3 4; two: 2; eps: 1e-6; m = Mean z [dim=-1 keepdim=true]; d = Add x m [beta=-1]; p = Pow d two; "
            "v = Mean p [dim=-1 keepdim=true]; a = Add v eps; r = Sqrt a; n = Div d r; out n",
            "m = Mean z [dim=-1 keepdim=true]; d = Add x m [beta=-1]; n = RMSNorm d [axis=-1 eps=1e-06]; out n");
    STAYS("x: 2 3 4; g: params 4; b: params 4; n = LayerNorm x [axis=-1 beta=b]; y = Multiply n g; out y");   /* the product comes after the sum */
}

/* ---- all rules------------------------------------------------------------------------------------------------- */

static void names_ids_and_tags_of_the_last_value_stay(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; s = Sigmoid x; y = Multiply x s; out y");
    xir_any note = xir_any_text(XIR_STR("of y"));
    DOES(xir_value_set_tag(story_value(net, "y"), XIR_STR("note"), &note));
    DOES(xir_pass_run(net, "fuse", NULL, NULL, why));
    xir_str text;
    assert_true(xir_tag_text(xir_value_tags(story_value(net, "y")), "note", &text));
    CHECK_STR(text, "of y");
    CHECK_STR(xir_op_name(story_op(net, "y")), "y");
    xir_network_free(net);
}

static void quantised_and_integer_elements_stay(void **state) {
    (void)state;
    STAYS("x: sint32 2 3; z: sint32 3 4; b: params sint32 4; m = Matmul x z; y = Add m b; out y");
}

static void ten_thousand_matches_in_a_row(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "x", FP32("*", 4));
    for (int i = 0; i < 10000; i++) {
        xir_op *s = xir_add_sigmoid(at, (xir_sigmoid_in){ .input = x }, NULL);
        xir_op *m = xir_add_multiply(at, (xir_multiply_in){ .lhs = x, .rhs = xir_op_output(s, 0) }, NULL);
        x = xir_op_output(m, 0);
    }
    xir_output(at, XIR_VALUES(x));
    DOES(xir_pass_run(net, "fuse", NULL, &changes, why));
    assert_int_equal(changes, 10000);
    assert_int_equal(xir_network_op_count(net), 10002);
    CHECK_SOUND(net);
    xir_network_free(net);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static void scarcely(want *w) {
    IN_PLENTY(w, w->net = story_net_in(w->ctx,
        "x: 2 4; k: params 4 4; b: params 4; two: 2; eps: 1e-5; three: 3; six: 6; root: 1.4142135; half: 0.5; one: 1; "
        "n = Matmul x k; m = Add n b; s = Sigmoid m; u = Multiply s m; o = Mean u [dim=-1 keepdim=true]; d = Add u o [beta=-1]; p = Pow d two; "
        "v = Mean p [dim=-1 keepdim=true]; a = Add v eps; r = Sqrt a; q = Div d r; g = Multiply q b; h = Add g b; t = Add h three; "
        "c = ReLU t [max_value=6]; i = Div c six; j = Multiply h i; e = Div j root; f = Erf e; l = Add f one; w = Multiply j l; y = Multiply w half; out y"));
    TRY_LOOSELY(w, xir_pass_run(w->net, "fuse", NULL, NULL, w->why));
    IN_PLENTY(w, assert_int_equal(xir_pass_run(w->net, "dce", NULL, NULL, w->why), XIR_OK));   /* ops that failures left unused */
    w->result = story_text(w->net);
}

static void failing_allocations_leak_nothing(void **state) {
    (void)state;
    run_scarcely("fuse", scarcely, false);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_sum_becomes_the_bias),
        cmocka_unit_test(sums_that_are_not_a_bias),
        cmocka_unit_test(silu),
        cmocka_unit_test(hardswish),
        cmocka_unit_test(ops_that_are_not_a_hardswish),
        cmocka_unit_test(gelu),
        cmocka_unit_test(layer_norm),
        cmocka_unit_test(ops_that_are_not_a_layer_norm),
        cmocka_unit_test(names_ids_and_tags_of_the_last_value_stay),
        cmocka_unit_test(quantised_and_integer_elements_stay),
        cmocka_unit_test(ten_thousand_matches_in_a_row),
        cmocka_unit_test(failing_allocations_leak_nothing),
    };
    return RUN_GROUP(tests);
}
