/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The operators of PNNX that XIR's ops become, as the lines of its text: formulas that are merged, lists that are
 * computed, attention as a whole. Networks are written as in support/story.h; declared shapes and the lines of inputs
 * and outputs are left out. Each network computes the same after the way back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "support/op_list.h"
#include "support/story.h"

typedef struct text { char data[1 << 16]; size_t size; } text;

static bool append(void *user, const void *data, size_t size) {
    text *to = user;
    if (size >= sizeof to->data - to->size) return false;
    memcpy(to->data + to->size, data, size);
    to->data[to->size += size] = '\0';
    return true;
}

/* "pnnx.Expression y 1 1 x y expr=abs(@0)", without "#x=(2)f32", one blank between words. */
static void shorten(text *t) {
    char *to = t->data, *rest, *line = strtok_r(t->data, "\n", &rest);
    line = strtok_r(NULL, "\n", &rest);   /* the counts */
    while ((line = strtok_r(NULL, "\n", &rest))) {
        if (strncmp(line, "pnnx.Input", 10) == 0 || strncmp(line, "pnnx.Output", 11) == 0) continue;
        char *words;
        for (char *w = strtok_r(line, " ", &words); w; w = strtok_r(NULL, " ", &words)) {
            const size_t n = strlen(w);
            if (*w == '#' || *w == '$') continue;
            memmove(to, w, n);
            to += n;
            *to++ = ' ';
        }
        to[-1] = '\n';
    }
    *to = '\0';
}

/* Networks with open dims are not run. */
static bool is_open(const xir_network *net) {
    const xir_op *inputs = xir_network_input_op(net);
    for (size_t i = 0; i < xir_op_output_count(inputs); i++)
        if (xir_type_has_unknown_dim(xir_value_type(xir_op_output(inputs, (int64_t)i)))) return true;
    return false;
}

static void becomes(const char *story, const char *expected, int line) {
    static text t;
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "pnnx", .unchecked = true);
    xir_network *net = story_net(story), *before = xir_network_clone(net);
    xir_diags_clear(why);
    if (xir_pass_run(net, "xir-to-pnnx", "strict", NULL, why)) {
        xir_diags_print(why, stderr);
        fail_msg("line %d: it is not converted", line);
    }
    t.size = 0;
    if (xir_network_write(net, append, &t, &options, why)) {
        xir_diags_print(why, stderr);
        fail_msg("line %d: it is not written", line);
    }
    shorten(&t);
    if (strcmp(t.data, expected)) fail_msg("line %d: expected\n%sfound\n%s", line, expected, t.data);
    xir_diags_clear(why);
    const xir_status status = xir_pass_run(net, "pnnx-to-xir", "strict", NULL, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    assert_int_equal(xir_network_infer(net, why), XIR_OK);
    if (!is_open(net)) CHECK_SAME_NUMBERS(net, before);
    xir_network_free(before);
    xir_network_free(net);
}
#define BECOMES(story, expected) becomes(story, expected, __LINE__)

/* ---- formulas --------------------------------------------------------------------------------------------------- */

static void chains_are_one_formula(void **state) {
    (void)state;
    BECOMES("x: 2 3; a = Abs x; b = Sqrt a; c = Exp b; out c",
            "pnnx.Expression c 1 1 x c expr=exp(sqrt(abs(@0)))\n");
    BECOMES("x: 2 3; h: 0.5; a = Multiply x h; b = Add a x [beta=-1]; out b",
            "pnnx.Expression b 1 1 x b expr=sub(mul(@0,0.5),@0)\n");
}

/* Inputs are numbered by their first place in the formula. */
static void inputs_keep_their_sides(void **state) {
    (void)state;
    BECOMES("x: 2 3; y: 2 3; z: 2 3; a = Abs y; b = Div a x; c = Pow z b; out c",
            "pnnx.Expression c 3 1 z y x c expr=pow(@0,div(abs(@1),@2))\n");
    BECOMES("x: 2 3; y: 2 3; a = Multiply y x; b = Add x a; out b",
            "pnnx.Expression b 2 1 x y b expr=add(@0,mul(@1,@0))\n");
}

static void results_with_several_uses_stay_operators(void **state) {
    (void)state;
    BECOMES("x: 2 3; a = Abs x; b = Exp a; c = Multiply b a; out c",
            "pnnx.Expression a 1 1 x a expr=abs(@0)\npnnx.Expression c 1 1 a c expr=mul(exp(@0),@0)\n");
    BECOMES("x: 2 3; a = Abs x; b = Multiply a a; out b",
            "pnnx.Expression a 1 1 x a expr=abs(@0)\npnnx.Expression b 1 1 a b expr=mul(@0,@0)\n");
    BECOMES("x: 2 3; a = Abs x; b = Exp a; out a b",
            "pnnx.Expression a 1 1 x a expr=abs(@0)\npnnx.Expression b 1 1 a b expr=exp(@0)\n");
}

/* A formula that stands twice in another one would be computed twice, and in a chain 2^n times. */
static void squares_of_squares_are_not_merged(void **state) {
    (void)state;
    BECOMES("x: 2 3; a = Multiply x x; b = Multiply a a; c = Multiply b b; out c",
            "pnnx.Expression a 1 1 x a expr=mul(@0,@0)\npnnx.Expression b 1 1 a b expr=mul(@0,@0)\n"
            "pnnx.Expression c 1 1 b c expr=mul(@0,@0)\n");
}

static void other_operators_are_between_formulas(void **state) {
    (void)state;
    BECOMES("x: 2 3; a = Abs x; b = ReLU a; c = Exp b; d = Neg c; out d",
            "pnnx.Expression a 1 1 x a expr=abs(@0)\nnn.ReLU b 1 1 a b\n"
            "pnnx.Expression d 1 1 b d expr=neg(exp(@0))\n");
}

/* Both ways, and the number of operators in between. */
static size_t there_and_back(xir_network *net, size_t *most_inputs) {
    xir_network *before = xir_network_clone(net);
    xir_diags_clear(why);
    assert_int_equal(xir_pass_run(net, "xir-to-pnnx", "strict", NULL, why), XIR_OK);
    const size_t n = xir_network_op_count(net) - 2;
    *most_inputs = 0;
    for (const xir_op *op = xir_network_first(net); op != xir_network_output_op(net); op = xir_op_next(op))
        if (xir_op_input_count(op) > *most_inputs) *most_inputs = xir_op_input_count(op);
    assert_int_equal(xir_pass_run(net, "pnnx-to-xir", "strict", NULL, why), XIR_OK);
    assert_int_equal(xir_network_infer(net, why), XIR_OK);
    CHECK_SAME_NUMBERS(net, before);
    xir_network_free(before);
    xir_network_free(net);
    return n;
}

/* A formula has a length, and a depth, that are read again; longer chains are several. */
static void long_chains_are_several_formulas(void **state) {
    enum { OPS = 300 };
    (void)state;
    size_t most;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", FP32("**", 2, 3)), *y = x;
    for (int i = 0; i < OPS; i++) y = add(net, y, x, NULL);
    results(net, XIR_VALUES(y));
    const size_t n = there_and_back(net, &most);
    assert_true(n > 1 && n < OPS / 20);
}

static void sums_of_many_inputs_are_several_formulas(void **state) {
    enum { INPUTS = 24 };
    (void)state;
    char story[INPUTS * 40];
    size_t n = 0, most;
    for (int i = 0; i < INPUTS; i++) n += (size_t)sprintf(story + n, "x%d: 2 3; ", i);
    for (int i = 1; i < INPUTS; i++)
        n += (size_t)sprintf(story + n, "s%d = Add %c%d x%d; ", i, i > 1 ? 's' : 'x', i - 1, i);
    sprintf(story + n, "out s%d", INPUTS - 1);
    n = there_and_back(story_net(story), &most);
    assert_true(n > 1 && n < 4 && most > 2 && most <= 16);
}

/* ---- lists ------------------------------------------------------------------------------------------------------ */

/* The ops that compute a list are in the list. */
static void computed_lists_are_formulas_of_sizes(void **state) {
    (void)state;
    BECOMES("x: 2 3 4; y: 6 2 2; i: params sint64 1 = 0; m: params sint64 1 = -1; s = Shape y; "
            "f = Gather s i [axis=0]; l = Concat f m [axis=0]; z = Reshape x l [shape=-1,-1 layout=@layout(**)]; "
            "out z",
            "pnnx.Expression z.pnnx.Expression 1 1 y z.pnnx.Expression expr=[size(@0,0),-1]\n"
            "Tensor.reshape z 2 1 x z.pnnx.Expression z\n");
}

/* ---- positions -------------------------------------------------------------------------------------------------- */

/* PyTorch's positions do not count from the end. */
static void computed_positions_count_from_the_start(void **state) {
    (void)state;
    BECOMES("x: 4 30; i: sint64 2; n = Neg i; a = Gather x n [axis=-1]; out a",
            "pnnx.Expression a.pnnx.Expression 1 1 i a.pnnx.Expression expr=remainder(neg(@0),30)\n"
            "torch.index_select a 2 1 x a.pnnx.Expression a dim=1\n");
    BECOMES("x: 4 30; i: sint64 2 3; n = Neg i; a = GatherElements x n [axis=1]; out a",
            "pnnx.Expression a.pnnx.Expression 1 1 i a.pnnx.Expression expr=remainder(neg(@0),30)\n"
            "torch.gather a 2 1 x a.pnnx.Expression a dim=1\n");
    BECOMES("x: 4 3; i: params sint64 2 = -1 -4; a = Gather x i [axis=0]; out a",
            "pnnx.Attribute pnnx_unique_0 0 1 0 @data=(2)i64\ntorch.index_select a 2 1 x 0 a dim=0\n");
    BECOMES("x: 4 30; i: sint64 2; k: params sint64 1 = 30; m = Mod i k; a = Gather x m [axis=-1]; out a",
            "pnnx.Expression m 1 1 i m expr=remainder(@0,30)\n"
            "torch.index_select a 2 1 x m a dim=1\n");
}

static void rows_of_a_constant_matrix_are_an_embedding(void **state) {
    (void)state;
    BECOMES("w: params 50 3; i: sint64 2 4; n = Neg i; a = Gather w n [axis=0]; out a",
            "pnnx.Expression a.pnnx.Expression 1 1 i a.pnnx.Expression expr=remainder(neg(@0),50)\n"
            "nn.Embedding a 1 1 a.pnnx.Expression a embedding_dim=3 num_embeddings=50 sparse=False @weight=(50,3)f32\n");
}

/* PyTorch takes positions of 64 bits, and to pick rows also of 32; XIR's may be any integers. */
static void positions_are_integers_that_pytorch_takes(void **state) {
    (void)state;
    BECOMES("x: 200 3; i: uint8 2; a = Gather x i [axis=0]; out a",
            "Tensor.to a.Tensor.to 1 1 i a.Tensor.to copy=False dtype=torch.long\n"
            "torch.index_select a 2 1 x a.Tensor.to a dim=0\n");
    BECOMES("x: 200 3; i: sint8 2; a = Gather x i [axis=0]; out a",   /* 200 is not one of these integers */
            "Tensor.to a.Tensor.to 1 1 i a.Tensor.to copy=False dtype=torch.long\n"
            "pnnx.Expression a.pnnx.Expression 1 1 a.Tensor.to a.pnnx.Expression expr=remainder(@0,200)\n"
            "torch.index_select a 2 1 x a.pnnx.Expression a dim=0\n");
    BECOMES("x: 40 3; i: sint32 2; a = Gather x i [axis=0]; out a",
            "pnnx.Expression a.pnnx.Expression 1 1 i a.pnnx.Expression expr=remainder(@0,40)\n"
            "torch.index_select a 2 1 x a.pnnx.Expression a dim=0\n");
    BECOMES("x: 40 3; i: sint32 2 3; a = GatherElements x i [axis=0]; out a",
            "Tensor.to a.Tensor.to 1 1 i a.Tensor.to copy=False dtype=torch.long\n"
            "pnnx.Expression a.pnnx.Expression 1 1 a.Tensor.to a.pnnx.Expression expr=remainder(@0,40)\n"
            "torch.gather a 2 1 x a.pnnx.Expression a dim=0\n");
    BECOMES("w: params 50 3; i: uint8 2 4; a = Gather w i [axis=0]; out a",
            "Tensor.to a.Tensor.to 1 1 i a.Tensor.to copy=False dtype=torch.long\n"
            "nn.Embedding a 1 1 a.Tensor.to a embedding_dim=3 num_embeddings=50 sparse=False @weight=(50,3)f32\n");
    BECOMES("x: 4 3; i: params uint8 2 = 1 3; a = Gather x i [axis=0]; out a",
            "pnnx.Attribute pnnx_unique_0 0 1 0 @data=(2)i64\ntorch.index_select a 2 1 x 0 a dim=0\n");
}

/* ---- elements of results ---------------------------------------------------------------------------------------- */

/* PyTorch's sums of integers have 64 bits. */
static void sums_have_the_elements_of_their_input(void **state) {
    (void)state;
    BECOMES("x: sint32 2 3; a = CumSum x [axis=1]; out a",
            "Tensor.to a.Tensor.to 1 1 x a.Tensor.to copy=False dtype=torch.long\n"
            "torch.cumsum a.torch.cumsum 1 1 a.Tensor.to a.torch.cumsum dim=1\n"
            "Tensor.to a 1 1 a.torch.cumsum a copy=False dtype=torch.int\n");
    BECOMES("x: uint8 2 3; a = Sum x [dim=1]; out a",
            "Tensor.to a.Tensor.to 1 1 x a.Tensor.to copy=False dtype=torch.long\n"
            "torch.sum a.torch.sum 1 1 a.Tensor.to a.torch.sum dim=(1) keepdim=False\n"
            "Tensor.to a 1 1 a.torch.sum a copy=False dtype=torch.uint8\n");
    BECOMES("x: sint64 2 3; a = CumSum x [axis=1]; out a", "torch.cumsum a 1 1 x a dim=1\n");
    BECOMES("x: 2 3; a = CumSum x [axis=1]; out a", "torch.cumsum a 1 1 x a dim=1\n");
}

/* A module has weights of one element type. */
static void a_bias_of_other_elements_is_added(void **state) {
    (void)state;
    BECOMES("x: sint8 2 3; w: params sint8 3 2; b: params sint32 2; a = Matmul x w b; out a",
            "pnnx.Attribute pnnx_unique_0 0 1 0 @data=(2)i8\n"
            "nn.Linear a.nn.Linear 1 1 x a.nn.Linear bias=False in_features=3 out_features=2 @weight=(2,3)i8\n"
            "pnnx.Expression a 2 1 a.nn.Linear 0 a expr=add(@0,@1)\n");
}

/* ---- named inputs ----------------------------------------------------------------------------------------------- */

/* PNNX's own reader would give both names to the first input. */
static void named_inputs_are_different_operands(void **state) {
    (void)state;
    BECOMES("x: 2 3; a = NotEqual x x; out a",
            "Tensor.clone pnnx_unique_0 1 1 x 0\ntorch.ne a 2 1 x 0 a\n");
    BECOMES("x: 2 3; a = Concat x x [axis=0]; out a", "torch.cat a 2 1 x x a dim=0\n");
}

/* ---- open dims -------------------------------------------------------------------------------------------------- */

/* torch.squeeze keeps a dim that is not 1, so the rank of its result would depend on the input. */
static void open_dims_are_selected(void **state) {
    (void)state;
    BECOMES("x: 1 2 1; a = Squeeze x [axis=0,2]; out a", "torch.squeeze a 1 1 x a dim=(0,2)\n");
    BECOMES("x: 1 2 -1; a = Squeeze x [axis=0,2]; out a",
            "Tensor.select a.Tensor.select 1 1 x a.Tensor.select dim=2 index=0\n"
            "Tensor.select a 1 1 a.Tensor.select a dim=0 index=0\n");
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

/* PNNX's own reader ends the program on integers of attributes that have more than 32 bits, and on reals that are not
 * normal floats: these are weights. */
static void numbers_that_pnnx_does_not_read_are_weights(void **state) {
    (void)state;
    BECOMES("x: 2 3; h: 0.5; a = LessEqual x h; out a", "torch.le a 1 1 x a other=0.5\n");
    BECOMES("x: 2 3; h: 1e-45; a = LessEqual x h; out a",
            "pnnx.Attribute a 0 1 0 @data=(1)f32\nTensor.select h 1 1 0 h dim=0 index=0\ntorch.le a 2 1 x h a\n");
    BECOMES("x: 2 3; k: params sint64 = 2147483647; a = Abs x; out a k",
            "pnnx.Expression k 0 1 k expr=2147483647\npnnx.Expression a 1 1 x a expr=abs(@0)\n");
    BECOMES("x: 2 3; k: params sint64 = 2147483648; a = Abs x; out a k",
            "pnnx.Attribute pnnx_unique_0 0 1 0 @data=(1)i64\nTensor.select k 1 1 0 k dim=0 index=0\n"
            "pnnx.Expression a 1 1 x a expr=abs(@0)\n");
    BECOMES("x: 2 3; k: params fp64 = 1e-39; a = Abs x; out a k",
            "pnnx.Attribute pnnx_unique_0 0 1 0 @data=(1)f64\nTensor.select k 1 1 0 k dim=0 index=0\n"
            "pnnx.Expression a 1 1 x a expr=abs(@0)\n");
}

/* ---- what PNNX cannot say ---------------------------------------------------------------------------------------- */

static void stays(const char *story, const char *reason, int line) {
    xir_network *net = story_net(story);
    xir_diags_clear(why);
    const xir_status status = xir_pass_run(net, "xir-to-pnnx", "strict", NULL, why);
    if (status != XIR_E_UNKNOWN) fail_msg("line %d: it is converted, status %d", line, status);
    const xir_diag *d = xir_diags_at(why, 0);
    char found[500] = "";
    if (d) snprintf(found, sizeof found, "%.*s", (int)d->message.size, d->message.data);
    if (!strstr(found, reason)) fail_msg("line %d: expected '%s', found '%s'", line, reason, found);
    xir_network_free(net);
}
#define STAYS(story, reason) stays(story, reason, __LINE__)

static void what_cannot_be_said_stays_with_the_reason(void **state) {
    (void)state;
    STAYS("x: 1 1; a = Tile x [dims=3000000000,1]; out a", "a dim that does not fit into 32 bits");
    STAYS("x: 2 3; a = Normalize x [axis=1 eps=inf]; out a", "a norm with eps = inf");
    STAYS("x: 4 1; a = Slice x [begin=0,0 end=4,1 stride=3000000000,1]; out a", "does not fit into 32 bits");
    STAYS("x: uint64 4; a = Abs x; out a", "elements that PyTorch does not have");
    STAYS("x: 3 1; i: sint64 2 1; u: 2 1; a = ScatterND x i u [reduction=MUL]; out a",
          "updates that are neither put nor added");
    STAYS("x: sint64 4; a = Mean x; out a", "a mean of integers");
    STAYS("b: 1 6 4; s: 1 1 6; a = NonMaxSuppression b s; out a",
          "NonMaxSuppression 'a' (op 1): not converted: PNNX has no operation for it");
    STAYS("x: 2 3; a = ELU x [alpha=1e-40]; out a",
          "alpha is 9.99995e-41: PNNX's reader takes floats from 1.17549e-38 to 3.40282e+38");
    STAYS("x: 2 3; n: sint64 2; a = Tile x n [dims=-1,-1]; out a", "dims is computed");
    STAYS("x: sint32 3; y: sint32 3; a = Div x y [rounding_mode=TRUNC]; out a", "rounded towards zero");
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_are_one_formula),
        cmocka_unit_test(inputs_keep_their_sides),
        cmocka_unit_test(results_with_several_uses_stay_operators),
        cmocka_unit_test(squares_of_squares_are_not_merged),
        cmocka_unit_test(other_operators_are_between_formulas),
        cmocka_unit_test(long_chains_are_several_formulas),
        cmocka_unit_test(sums_of_many_inputs_are_several_formulas),
        cmocka_unit_test(computed_lists_are_formulas_of_sizes),
        cmocka_unit_test(computed_positions_count_from_the_start),
        cmocka_unit_test(rows_of_a_constant_matrix_are_an_embedding),
        cmocka_unit_test(positions_are_integers_that_pytorch_takes),
        cmocka_unit_test(sums_have_the_elements_of_their_input),
        cmocka_unit_test(a_bias_of_other_elements_is_added),
        cmocka_unit_test(named_inputs_are_different_operands),
        cmocka_unit_test(open_dims_are_selected),
        cmocka_unit_test(numbers_that_pnnx_does_not_read_are_weights),
        cmocka_unit_test(what_cannot_be_said_stays_with_the_reason),
    };
    return RUN_GROUP(tests);
}
