/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* legalize: ops that a target does not run become others that it runs, with the same numbers. tests/library/legal.c has
 * one for each rule that names the pass; here are the rewrites themselves, in steps and at their limits. */
#include <xir/legal.h>
#include "support/story.h"

static const xir_target *target_of(const char *name) {
    const int kind = xir_target_find(ctx, xir_str_of(name));
    return xir_target_of_kind(ctx, (xir_target_kind)kind, "330");
}

static void run_on(xir_network *net, const char *target) {
    char options[40];
    snprintf(options, sizeof options, "target=%s", target);
    xir_diags_clear(why);
    size_t changes;
    char *before = picture(net);
    if (xir_pass_run(net, "legalize", options, &changes, why)) {
        xir_diags_print(why, stderr);
        fail();
    }
    char *after = picture(net);
    assert_int_equal(changes == 0, strcmp(before, after) == 0);
    free(before);
    free(after);
    CHECK_SOUND(net);
    xir_diags_clear(why);
    DOES(xir_network_validate(net, why));
}

/* The network becomes this story, all of it legal, with the same numbers; running again changes nothing. */
static void check_legalized(const char *target, const char *text, const char *expected) {
    xir_network *net = story_net(text), *before = xir_network_clone(net);
    run_on(net, target);
    if (expected) CHECK_STORY(net, expected);
    xir_diags_clear(why);
    const xir_status status = xir_network_try(net, target_of(target), NULL, NULL, why);
    if (status) fail_msg("%s: %s", text, xir_diags_at(why, 0)->message.data);
    CHECK_SAME_NUMBERS(before, net);
    size_t changes;
    DOES(xir_pass_run(net, "legalize", target[0] == 'b' ? "target=buyi" : "target=zhuge", &changes, why));
    assert_int_equal(changes, 0);
    xir_network_free(before);
    xir_network_free(net);
}

static void check_unchanged(const char *target, const char *text) {
    xir_network *net = story_net(text);
    char *before = picture(net);
    run_on(net, target);
    char *after = picture(net);
    assert_string_equal(before, after);
    free(before);
    free(after);
    xir_network_free(net);
}

/* ---- windows ---------------------------------------------------------------------------------------------------- */

static void cells_that_no_window_reads_are_cut(void **state) {
    (void)state;
    check_legalized("buyi", "x: NHWC 1 8 8 2; y = MaxPool2d x [pool_width=3 pool_height=3 stride_width=2 stride_height=2 "
                    "pad_right=1 pad_left=1 pad_top=1 pad_bottom=1]; out y",
                    "y = MaxPool2d x [pool_width=3 pool_height=3 stride_width=2 stride_height=2 pad_top=1 pad_left=1]; out y");
    /* Padding first, then the map. */
    check_legalized("buyi", "x: NHWC 1 8 9 2; y = AvgPool2d x [pool_width=2 pool_height=2 stride_width=4 stride_height=4 "
                    "pad_right=1]; out y", NULL);
    check_legalized("buyi", "x: NHWC 1 9 9 2; w: params HWIO 2 2 2 3; b: params 3; y = Conv2d x w b [stride_width=3 "
                    "stride_height=4]; z = ReLU y; out z", NULL);
    check_unchanged("zhuge", "x: NHWC 1 9 9 2; w: params HWIO 2 2 2 3; y = Conv2d x w [stride_width=3]; out y");
}

static void kernels_are_split(void **state) {
    (void)state;
    check_legalized("buyi", "x: NHWC 1 50 50 2; w: params HWIO 47 46 1 2; b: params 2; y = Conv2d x w b [groups=2 pad_top=3 "
                    "pad_left=2 pad_right=1]; out y", NULL);
    check_legalized("buyi", "x: NHWC 1 60 60 1; w: params HWIO 24 24 1 2; y = Conv2d x w [dilation_width=2 dilation_height=2 "
                    "stride_width=3 stride_height=2 pad_top=30 pad_bottom=29]; out y", NULL);
    /* Not constant: there is nothing to split. */
    check_unchanged("buyi", "x: NHWC 1 50 50 1; w: HWIO 47 46 1 1; y = Conv2d x w [pad_top=1]; out y");
}

static void means_become_pools(void **state) {
    (void)state;
    check_legalized("buyi", "x: NHWC 2 7 5 3; y = Mean x [dim=1,2 keepdim=true]; out y",
                    "y = AvgPool2d x [pool_width=5 pool_height=7]; out y");
    check_legalized("buyi", "x: NHWC 2 7 5 3; y = Mean x [dim=1]; out y", NULL);
    check_unchanged("buyi", "x: NHWC 2 7 5 3; y = Mean x [dim=3]; out y");
    check_unchanged("buyi", "x: 2 7 5 3; y = Mean x [dim=1,2]; out y");   /* no letters */
}

static void sizes_change_in_steps(void **state) {
    (void)state;
    check_legalized("buyi", "x: NHWC 1 2 2 1; y = Upsample x [height=96 width=60]; out y", NULL);
    check_legalized("buyi", "x: NHWC 1 3 3 1; y = Upsample x [height=61 width=121 interpolation=BILINEAR "
                    "align_corners=true]; out y", NULL);
    check_unchanged("buyi", "x: NHWC 1 2 2 1; y = Upsample x [height=60 width=60 interpolation=BILINEAR]; out y");
    check_unchanged("buyi", "x: NHWC 1 2 2 1; y = Upsample x [height=74 width=74]; out y");    /* 37 is a prime */
    check_legalized("buyi", "x: NHWC 1 4 4 2; y = Resize x [dsize=9,7]; out y", NULL);
    check_unchanged("buyi", "x: NHWC 1 4 4 2; y = Resize x [dsize=9,7 interpolation=INTER_NEAREST]; out y");
}

/* ---- axes ------------------------------------------------------------------------------------------------------- */

static void transposes_are_made_of_swaps(void **state) {
    (void)state;
    check_legalized("buyi", "x: NCHW 1 3 4 5; y = Transpose x [dims=0,2,3,1 layout=@layout(NHWC)]; out y", NULL);
    check_legalized("buyi", "x: 2 3 4 5 6; y = Transpose x [dims=4,3,0,2,1 layout=@layout(*****)]; out y", NULL);
    check_legalized("zhuge", "x: 2 3 4 5 6; y = Transpose x [dims=4,3,0,2,1 layout=@layout(*****)]; out y", NULL);
    check_legalized("buyi", "x: 2 3 4; y = Transpose x [dims=2,1,0 layout=@layout(***)]; out y", NULL);
}

static void norms_work_along_the_last_axis_but_one(void **state) {
    (void)state;
    check_legalized("buyi", "x: 2 3 4; y = Softmax x; out y", NULL);
    check_legalized("buyi", "x: fp32 5; z: fp32 5; s = Add x z; y = Softmax s; out y", NULL);
    check_legalized("buyi", "x: 2 3 4 5; y = Softmax x [axis=1]; out y", NULL);
    check_legalized("buyi", "x: 2 3 4; g: params 4; b: params 4; y = LayerNorm x [axis=-1 gamma=g beta=b]; out y", NULL);
    check_legalized("buyi", "x: 2 3 4; g: params 4; y = LayerNorm x [axis=2 gamma=g]; out y", NULL);
    check_legalized("zhuge", "x: 2 3 4; g: params 4; b: params 4; y = LayerNorm x [axis=-1 gamma=g beta=b]; out y", NULL);
    check_legalized("zhuge", "x: 2 3 4; y = LogSoftmax x; out y", NULL);
    check_legalized("zhuge", "x: 2 3 4 5; y = Softmax x [axis=1]; out y", NULL);
    check_unchanged("buyi", "x: 2 3 4; y = LogSoftmax x; out y");
    check_unchanged("buyi", "x: 2 3 4; y = LayerNorm x [axis=1,2]; out y");
}

/* ---- others ----------------------------------------------------------------------------------------------------- */

static void operands_get_ranks_and_shapes(void **state) {
    (void)state;
    check_legalized("buyi", "x: 2 3 4; s: 0.5; y = Multiply x s; out y", NULL);
    check_legalized("buyi", "x: 2 3 4; c: params 3 1; y = Add x c [beta=-1]; out y", NULL);
    check_legalized("buyi", "x: 2 3 4; z: 3 4; y = Add z x; out y", NULL);
    check_legalized("buyi", "x: 2 3 4; k: params 4 5; b: params 5; y = Matmul x k b; out y", NULL);
    check_unchanged("buyi", "x: 2 3 4; z: 2 3 1; y = Add x z; out y");   /* channels cannot be repeated */
    check_unchanged("buyi", "x: 3 4; k: params 4; y = Matmul x k; out y");
}

static void moves_become_moves_that_are_run(void **state) {
    (void)state;
    check_legalized("buyi", "x: 3 2 4; a, b, c = Unstack x; y = Concat c a b [axis=0]; out y", NULL);
    check_legalized("buyi", "x: 2 6 4; a, b = Split x [sections=2,4 axis=1]; out b a", NULL);
    check_unchanged("buyi", "x: 2 6 4; a, b = Split x [sections=1,3 axis=2]; out b a");
    check_legalized("buyi", "x: NHWC 1 3 2 8; y = PixelShuffle x [upscale_factor=2]; out y", NULL);
    check_legalized("zhuge", "x: NCHW 1 8 3 2; y = PixelShuffle x [upscale_factor=2]; out y", NULL);
    check_legalized("buyi", "x: 1 3 1 4; y = Squeeze x [axis=]; out y", NULL);
    check_legalized("buyi", "x: 2 3; y = Roll x [shifts=2]; out y", NULL);
    check_legalized("buyi", "x: 1 1 4; y = Expand x [sizes=2,3,5,4]; out y", NULL);
    check_legalized("buyi", "x: 9 4; y = Slice x [begin=0,0 end=7,4 stride=3,1]; out y", NULL);
    check_unchanged("buyi", "x: 8 4; y = Slice x [begin=0,0 end=8,4 stride=3,1]; out y");   /* the map ends there */
    check_legalized("buyi", "x: 2 3; y = ClampScalar x [min=0 max=6]; out y", "y = Hardtanh x [min_val=0 max_val=6]; out y");
    check_unchanged("buyi", "x: 2 3; y = ClampScalar x [min=6 max=0]; out y");
}

/* Ops that cannot be legal are unchanged, and so are those with open dims, and legal ones. */
static void others_stay(void **state) {
    (void)state;
    check_unchanged("buyi", "x: 2 3; y = Erf x; z = NonZero y; out z");
    check_unchanged("buyi", "x: NHWC 1 -1 8 4; y = MaxPool2d x [pool_width=2 pool_height=2 stride_width=3 stride_height=2]; out y");
    check_unchanged("buyi", "x: NHWC 1 8 8 4; y = ReLU x; out y");
    xir_network *net = story_net("x: 2 3; y = Squeeze x [axis=]; out y");
    assert_int_equal(xir_pass_run(net, "legalize", NULL, NULL, NULL), XIR_E_MISSING);
    assert_int_equal(xir_pass_run(net, "legalize", "target=nobody", NULL, NULL), XIR_E_UNKNOWN);
    xir_network_free(net);
}

/* Between a quantised map and its result there is no type for what the steps would compute. */
static void ops_on_quantised_numbers_stay_with_a_note(void **state) {
    (void)state;
    const double half = 0.5;
    const xir_type *q = xir_type_quantized(ctx, xir_scales_from(ctx, &half, 1, -1), NULL, 0, xir_type_sint(ctx, 8),
                                           NULL);
    xir_network *net = story_net("x: NHWC 1 5 5 2; y = MaxPool2d x [pool_width=2 pool_height=2 stride_width=2 "
                                 "stride_height=2]; z = MaxPool2d x [pool_width=2 pool_height=2 stride_width=2 "
                                 "stride_height=2]; out y z");
    XIR_EACH_OP(op, net) {
        XIR_EACH_OUTPUT(v, op) DOES(xir_value_set_type(v, xir_type_with_element(ctx, xir_value_type(v), q, why)));
    }
    size_t changes;
    xir_diags_clear(why);
    DOES(xir_pass_run(net, "legalize", "target=buyi", &changes, why));
    assert_int_equal(changes, 0);
    assert_int_equal(xir_diags_count(why), 1);
    assert_int_equal(xir_diags_at(why, 0)->severity, XIR_NOTE);
    assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "2 ops on quantised numbers stay as before, this one "
                           "first"));
    xir_network_free(net);
}

static bool legalize_in(xir_context *with) {
    xir_network *net = story_net_in(with, "x: NHWC 1 9 9 2; w: params HWIO 2 2 2 3; c = Conv2d x w [stride_width=3]; "
                                    "m = Mean c [dim=1,2]; g: params 3; n = LayerNorm m [axis=-1 gamma=g]; s: 0.5; "
                                    "y = Multiply n s; out y");
    const bool done = net && xir_pass_run(net, "legalize", "target=buyi", NULL, NULL) == XIR_OK;
    xir_network_free(net);
    return done;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    check_memory(legalize_in);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_that_no_window_reads_are_cut),
        cmocka_unit_test(kernels_are_split),
        cmocka_unit_test(means_become_pools),
        cmocka_unit_test(sizes_change_in_steps),
        cmocka_unit_test(transposes_are_made_of_swaps),
        cmocka_unit_test(norms_work_along_the_last_axis_but_one),
        cmocka_unit_test(operands_get_ranks_and_shapes),
        cmocka_unit_test(moves_become_moves_that_are_run),
        cmocka_unit_test(others_stay),
        cmocka_unit_test(ops_on_quantised_numbers_stay_with_a_note),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return RUN_GROUP(tests);
}
