/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A cancelled run stops, also in the middle of a kernel, and a run stops before an op that exceeds its work limit. */
#include <stdio.h>
#include <xir/exec.h>
#include <xir/prove.h>
#include "support/patience.h"
#include "support/story.h"

/* Runs a network on random inputs. */
static xir_status run(const xir_network *net, const xir_run_options *options) {
    xir_array *in[4], *out[4] = { NULL };
    size_t n = xir_network_inputs(net, NULL, 0), m = xir_network_outputs(net, NULL, 0);
    xir_value *values[4];
    xir_run_options alone = XIR_INIT(xir_run_options);
    if (options) alone = *options;
    alone.threads = 1;   /* other threads compute without a question, so the number of questions would vary */
    options = &alone;
    xir_network_inputs(net, values, 4);
    for (size_t i = 0; i < n; i++) in[i] = xir_array_random(ctx, xir_value_type(values[i]), i, why);
    xir_diags_clear(why);
    xir_status status = xir_network_run(net, (const xir_array *const *)in, n, out, m, options, why);
    for (size_t i = 0; i < m; i++) {
        assert_true(!status == (out[i] != NULL));
        xir_array_free(out[i]);
    }
    for (size_t i = 0; i < n; i++) xir_array_free(in[i]);
    return status;
}

static size_t questions(const xir_network *net) {
    patience p = { 0 };
    DOES(run(net, &XIR_INIT(xir_run_options, .cancel = impatient, .user = &p)));
    return p.asked;
}

/* ---- in a kernel ------------------------------------------------------------------------------------------------ */

/* An op for each kind of loop, and the expected number of calls: at least one for so many rows of 1024 steps. */
static const struct { const char *story; size_t least; } loops[] = {
    { "x: 100 100; y = Sigmoid x; out y",                                                            2 },
    { "x: sint32 100 100; y = Neg x; out y",                                                          2 },
    { "x: 100 100; z: C 100; y = Add x z; out y",                                                      9 },
    { "x: C 2048; z: 4 1; y = Multiply x z; out y",                                                    4 },
    { "x: 100 100; w: params 100 20; y = Matmul x w; out y",                                         8 },
    { "x: 100 100; z: 100 20; y = Einsum x z [equation=ij,jk->ik]; out y",                       8 },
    { "x: sint32 30 100; z: sint32 100 20; y = Einsum x z [equation=ij,jk->ik]; out y",           30 },
    { "x: sint32 30 100; w: params sint32 100 20; y = Matmul x w; out y",                             30 },
    { "x: NHWC 1 30 30 4; w: HWIO 5 5 4 8; y = Conv2d x w; out y",                                  20 },
    { "x: NHWC 1 10 10 4; w: HWOI 5 5 8 4; y = ConvTranspose2d x w; out y",                         10 },
    { "x: NHWC 1 30 30 4; y = MaxPool2d x [pool_width=5 pool_height=5]; out y",                    50 },
    { "x: NHWC 1 30 30 4; y = AvgPool2d x [pool_width=5 pool_height=5]; out y",                    50 },
    { "x: NHWC 1 30 30 4; y = Unfold x [kernel_width=5 kernel_height=5]; out y",                   50 },
    { "x: NHWC 1 30 30 4; y = Upsample x [height=60 width=60 interpolation=BILINEAR]; out y",     10 },
    { "x: NHWC 1 30 30 4; g: NHWC 1 60 60 2; y = GridSample x g; out y",                            10 },
    { "x: 100 100; y = Sum x [dim=1]; out y",                                                      9 },
    { "x: sint32 100 100; y = Sum x [dim=1]; out y",                                                  9 },
    { "x: 100 100; y = CumSum x; out y",                                                             9 },
    { "x: 100 100; y = Softmax x; out y",                                                            9 },
    { "x: 100 100; y = LayerNorm x [axis=1]; out y",                                               9 },
    { "x: 100 100; y = RMSNorm x [axis=1]; out y",                                                 9 },
    { "x: 100 100; y = Normalize x [axis=1]; out y",                                               9 },
    { "x: NHWC 1 30 30 8; y = GroupNorm x [groups=2]; out y",                                        2 },
    { "x: 100 100; y = Transpose x [dims=1,0 layout=@layout(**)]; out y",                         9 },
    { "x: 100 100; z: 100 100; y = Concat x z [axis=1]; out y",                                      9 },
    { "x: 100 100; y = Argmax x; out y",                                                             1 },
    { "x: 100 100; y = NonZero x; out y",                                                            2 },
    { "x: 4 4 30 8; y = Attention x x x; out y",                                                     9 },
    { "x: 20 2 30; w: 1 64 30; r: 1 64 16; h, y, c = LSTM x w r [hidden_size=16]; out h",           30 },
};

static void kernels_ask(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(loops); i++) {
        xir_network *net = story_net(loops[i].story);
        const size_t outside = 3, all = questions(net);   /* before the input, the op, the output */
        if (all < outside + loops[i].least) fail_msg("%s: asked %zu times", loops[i].story, all);
        /* The first call inside the kernel, and the last one. */
        for (size_t at = 3; at <= all - 1; at += all > 4 ? all - 4 : 1) {
            patience p = { .at = at };
            xir_status status = run(net, &XIR_INIT(xir_run_options, .cancel = impatient, .user = &p));
            if (status != XIR_E_CANCELLED || p.asked != at || xir_diags_count(why) != 1 ||
                !strstr(xir_diags_at(why, 0)->message.data, "the run was cancelled during this op")) {
                fail_msg("%s, question %zu of %zu: %s, asked %zu times", loops[i].story, at, all,
                         xir_status_name(status), p.asked);
            }
        }
        xir_network_free(net);
    }
}

/* The core of products computes both, and asks equally often for each. */
static void an_equation_that_is_a_product_asks_as_a_product(void **state) {
    (void)state;
    static const struct { const char *equation, *product; } pairs[] = {
        { "x: 100 100; z: 100 20; y = Einsum x z [equation=ij,jk->ik]; out y",
          "x: 100 100; z: 100 20; y = Matmul x z; out y" },
        { "x: 4 70 90; z: 4 90 50; y = Einsum x z [equation=bij,bjk->bik]; out y",
          "x: 4 70 90; z: 4 90 50; y = Matmul x z; out y" },
    };
    for (size_t i = 0; i < COUNT(pairs); i++) {
        xir_network *equation = story_net(pairs[i].equation), *product = story_net(pairs[i].product);
        const size_t all = questions(equation);
        assert_int_equal(all, questions(product));
        assert_true(all > 3 + 8);
        xir_network_free(equation);
        xir_network_free(product);
    }
}

/* Without cancellation it would run for ages. */
static void what_never_ends_is_cancelled(void **state) {
    (void)state;
    xir_network *net = story_net(
        "a: C 900; b: C 900; c: C 900; d: C 900; y = Einsum a b c d a b c d [equation=a,b,c,d,e,f,g,h->]; out y");
    patience p = { .at = 1000 };
    assert_int_equal(run(net, &XIR_INIT(xir_run_options, .cancel = impatient, .user = &p)), XIR_E_CANCELLED);
    assert_int_equal(p.asked, 1000);
    xir_network_free(net);
}

static void a_run_asks_before_every_op(void **state) {
    (void)state;
    xir_network *net = story_net("x: C 2; a = Neg x; b = Neg a; out b");
    assert_int_equal(questions(net), 4);
    for (size_t at = 1; at <= 4; at++) {
        patience p = { .at = at };
        assert_int_equal(run(net, &XIR_INIT(xir_run_options, .cancel = impatient, .user = &p)), XIR_E_CANCELLED);
        assert_int_equal(p.asked, at);
    }
    xir_network_free(net);
}

/* ---- work limits ------------------------------------------------------------------------------------------------ */

static void an_op_that_takes_too_much_is_not_begun(void **state) {
    (void)state;
    xir_network *net = story_net("x: 10 10; w: params 10 10; a = Matmul x w; b = ReLU a; c = Matmul b w; out c");
    const uint64_t all = 1000 + 10 * 100 + 10 * 100 + 1000 + 10 * 100;
    DOES(run(net, &XIR_INIT(xir_run_options, .max_work = all)));
    DOES(run(net, NULL));
    assert_int_equal(run(net, &XIR_INIT(xir_run_options, .max_work = all - 1)), XIR_E_LIMIT);
    CHECK_STR(xir_diags_at(why, 0)->message,
              "icraft::xir::Matmul 'c': the op takes 2000 steps, but only 1999 are left");
    assert_int_equal(run(net, &XIR_INIT(xir_run_options, .max_work = 1)), XIR_E_LIMIT);
    xir_network_free(net);
}

/* The output dims are known only after the computation, so the elements of the inputs count. */
static void of_unknown_dims_inputs_count(void **state) {
    (void)state;
    xir_network *net = story_net("x: 10 10; y = NonZero x; out y");
    DOES(run(net, &XIR_INIT(xir_run_options, .max_work = 3000)));
    assert_int_equal(run(net, &XIR_INIT(xir_run_options, .max_work = 2999)), XIR_E_LIMIT);
    xir_network_free(net);
}

/* ---- proofs ----------------------------------------------------------------------------------------------------- */

static void a_proof_has_no_limit_unless_it_is_given_one(void **state) {
    (void)state;
    xir_network *net = story_net("x: 10 10; w: params 10 10; a = Matmul x w; out a");
    static const struct { uint64_t max_work; size_t networks; } rows[] = { { 0, 1 }, { 2000, 1 }, { 1999, 0 } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_proof *proof = xir_proof_new(ctx, &XIR_INIT(xir_proof_options, .max_work = rows[i].max_work), why);
        xir_proof_state now = XIR_INIT(xir_proof_state);
        DOES(xir_proof_check(proof, net, why));
        DOES(xir_proof_state_of(proof, &now, why));
        assert_int_equal(now.networks, rows[i].networks);
        if (!now.networks) assert_int_equal(xir_diags_at(xir_proof_obstacle(proof), 0)->code, XIR_E_LIMIT);
        xir_proof_free(proof);
    }
    patience p = { .at = 2 };
    xir_proof *proof = xir_proof_new(ctx, &XIR_INIT(xir_proof_options, .cancel = impatient, .user = &p), why);
    assert_int_equal(xir_proof_check(proof, net, why), XIR_E_CANCELLED);
    xir_proof_free(proof);
    xir_diags_clear(why);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_ask),
        cmocka_unit_test(an_equation_that_is_a_product_asks_as_a_product),
        cmocka_unit_test(what_never_ends_is_cancelled),
        cmocka_unit_test(a_run_asks_before_every_op),
        cmocka_unit_test(an_op_that_takes_too_much_is_not_begun),
        cmocka_unit_test(of_unknown_dims_inputs_count),
        cmocka_unit_test(a_proof_has_no_limit_unless_it_is_given_one),
    };
    return RUN_GROUP(tests);
}
