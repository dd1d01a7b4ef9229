/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* canon: one form for what computes the same bits. Each rule has networks that it changes, and networks that it must
 * not. */
#define TESTED "canon"
#include <math.h>
#include <xir/exec.h>
#include "passes/before_after.h"

/* ---- bits -------------------------------------------------------------------------------------------------------- */

static const float numbers[12] = { NAN, -INFINITY, -7, -1e-40f, -0.0f, 0, 1e-40f, 0.5f, 2.5f, 6, 7, INFINITY };

static void run_numbers(const char *text, bool rewritten, float *out) {
    xir_network *net = rewritten ? passed(text) : story_net(text);
    xir_array *in = xir_array_new(ctx, xir_value_type(story_value(net, "x")), why), *result = NULL;
    memcpy(xir_array_edit(in), numbers, sizeof numbers);
    DOES(xir_network_run(net, (const xir_array *const[]){ in }, 1, &result, 1, NULL, why));
    size_t bytes = 0;   /* truths are smaller, and means are fewer */
    const void *data = xir_array_data(result, &bytes);
    memset(out, 0, sizeof numbers);
    memcpy(out, data, bytes < sizeof numbers ? bytes : sizeof numbers);
    xir_array_free(in);
    xir_array_free(result);
    xir_network_free(net);
}

/* "x: 1 12; …; out y" is rewritten, and has the same bits; a NaN is a NaN. */
static void keeps_bits(const char *text, int line) {
    float before[COUNT(numbers)], after[COUNT(numbers)];
    run_numbers(text, false, before);
    run_numbers(text, true, after);
    if (!changes) fail_msg("line %d: no changes", line);
    for (size_t i = 0; i < COUNT(numbers); i++) {
        if (isnan(before[i]) ? !isnan(after[i]) : memcmp(&before[i], &after[i], sizeof *before) != 0)
            fail_msg("line %d: %g became %g and is %g now", line, (double)numbers[i], (double)before[i],
                     (double)after[i]);
    }
}
#define KEEPS_BITS(text) keeps_bits(text, __LINE__)

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

static void bounds_from_zero_are_a_relu(void **state) {
    (void)state;
    BECOMES("x: 3 4; y = ClampScalar x [min=0 max=6]; out y", "y = ReLU x [max_value=6]; out y");
    BECOMES("x: 3 4; y = ClampScalar x [min=0]; out y", "y = ReLU x; out y");
    BECOMES("x: 3 4; y = Hardtanh x [min_val=0 max_val=6]; out y", "y = ReLU x [max_value=6]; out y");
    BECOMES("x: 3 4; y = Hardtanh x; out y", "y = ClampScalar x [min=-1 max=1]; out y");
    BECOMES("x: 3 4; y = ClampScalar x; z = Neg y; out z", "z = Neg x; out z");
    BECOMES("x: 3 4; c: inf; y = Minimum x c; z = Neg y; out z", "z = Neg x; out z");
    BECOMES("x: 3 4; c: 0; y = Maximum x c; out y", "y = ReLU x; out y");
    BECOMES("x: 3 4; c: 6; y = Minimum c x; out y", "y = ClampScalar x [max=6]; out y");
    BECOMES("x: 3 4; c: params 1 1 = -2; y = Maximum x c; out y", "y = ClampScalar x [min=-2]; out y");
    BECOMES("x: 3 4; z: 0; six: 6; a = Maximum x z; y = Minimum a six; out y", "y = ReLU x [max_value=6]; out y");
    KEEPS_BITS("x: 1 12; y = ClampScalar x [min=0 max=6]; out y");
    KEEPS_BITS("x: 1 12; y = Hardtanh x [min_val=0 max_val=2.5]; out y");
    KEEPS_BITS("x: 1 12; c: 0; y = Maximum x c; out y");
    KEEPS_BITS("x: 1 12; c: 6; y = Minimum c x; out y");
    KEEPS_BITS("x: 1 12; c: 6; y = Minimum x c; out y");
}

static void other_bounds_stay(void **state) {
    (void)state;
    STAYS("x: 3 4; y = ClampScalar x [min=-1 max=6]; out y");
    STAYS("x: 3 4; y = ClampScalar x [min=-0.0 max=6]; out y");       /* ReLU gives 0 */
    STAYS("x: 3 4; y = ClampScalar x [min=0 max=0]; out y");          /* … and 0 for -0 */
    STAYS("x: 3 4; y = ClampScalar x [min=1 max=0]; out y");
    STAYS("x: sint32 3 4; y = ClampScalar x [min=0 max=6]; out y");
    STAYS("x: 3 4; y = ReLU x [alpha=0.5 max_value=6]; out y");
    STAYS("x: 3 4; c: 0; y = Maximum c x; out y");                    /* 0 for -0 */
    STAYS("x: 3 4; c: params 4 = 1 2 3 4; y = Maximum x c; out y");
    STAYS("x: 1 4; c: params 1 1 1 = 1; y = Maximum x c; out y");         /* another rank */
    STAYS("x: 3 4; z: 3 4; y = Maximum x z; out y");
    STAYS("x: fp64 3 4; c: params fp64 1 = 0.1; y = Maximum x c; out y");   /* no float32 */
}

static void bounds_of_bounds_are_bounds(void **state) {
    (void)state;
    BECOMES("x: 3 4; a = ReLU x; y = ReLU a; out y", "y = ReLU x; out y");
    BECOMES("x: 3 4; a = ReLU x [max_value=6]; b = ReLU a; y = Sigmoid b; out y a",
            "a = ReLU x [max_value=6]; y = Sigmoid a; out y a");
    BECOMES("x: 3 4; a = ReLU x; y = ClampScalar a [max=6]; out y", "y = ReLU x [max_value=6]; out y");
    BECOMES("x: 3 4; a = ClampScalar x [min=-1 max=4]; y = ClampScalar a [min=2 max=6]; out y",
            "y = ClampScalar x [min=2 max=4]; out y");
    BECOMES("x: 3 4; a = ClampScalar x [min=-3 max=-1]; y = ClampScalar a [min=2 max=6]; out y",
            "y = ClampScalar x [min=2 max=2]; out y");
    STAYS("x: 3 4; a = ClampScalar x [min=-3 max=-1]; y = ReLU a [max_value=6]; out y");   /* 0 for -0 */
    STAYS("x: 3 4; a = ReLU x; y = ClampScalar a [max=6]; out y a");   /* two remain */
    STAYS("x: 3 4; a = ReLU x [alpha=0.5]; y = ReLU a; out y");
    KEEPS_BITS("x: 1 12; a = ReLU x; y = ClampScalar a [max=6]; out y");
    KEEPS_BITS("x: 1 12; a = ClampScalar x [min=-1 max=4]; y = ClampScalar a [min=-0.0 max=2.5]; out y");
    KEEPS_BITS("x: 1 12; a = ClampScalar x [min=-3 max=-1]; y = ClampScalar a [min=2 max=6]; out y");
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

static void the_second_undoes_or_repeats_the_first(void **state) {
    (void)state;
    static const struct { const char *before, *after; } rows[] = {
        { "a = Neg x; b = Neg a; y = Sigmoid b; out y",       "y = Sigmoid x; out y"              },
        { "a = Abs x; b = Abs a; y = Sigmoid b; out y",       "a = Abs x; y = Sigmoid a; out y"   },
        { "a = Floor x; b = Floor a; y = Sigmoid b; out y",   "a = Floor x; y = Sigmoid a; out y" },
        { "a = Floor x; b = Round a; y = Sigmoid b; out y",   "a = Floor x; y = Sigmoid a; out y" },
        { "a = Round x; b = Ceil a; y = Sigmoid b; out y",    "a = Round x; y = Sigmoid a; out y" },
        { "a = Sign x; b = Sign a; y = Sigmoid b; out y",     "a = Sign x; y = Sigmoid a; out y"  },
        { "a = Sign x; b = Floor a; y = Sigmoid b; out y",    "a = Sign x; y = Sigmoid a; out y"  },
        { "a = Neg x; y = Abs a; out y",                      "y = Abs x; out y"                  },
    };
    char text[200];
    for (size_t i = 0; i < COUNT(rows); i++) {
        snprintf(text, sizeof text, "x: 1 12; %s", rows[i].before);
        BECOMES(text, rows[i].after);
        KEEPS_BITS(text);
    }
    BECOMES("x: bool 1 4; a = Not x; b = Not a; y = Not b; out y", "y = Not x; out y");
    BECOMES("x: 1 4; a = Neg x; b = Neg a; y = Sigmoid b; out y a", "a = Neg x; y = Sigmoid x; out y a");
    BECOMES("x: sint8 1 4; a = Neg x; b = Neg a; c = Neg b; y = Abs c; out y", "y = Abs x; out y");
}

static void the_opposite_of_a_comparison_is_one(void **state) {
    (void)state;
    BECOMES("x: sint32 3 4; y: sint32 4; c = Less x y; n = Not c; out n", "n = GreaterEqual x y; out n");
    BECOMES("x: sint32 3 4; y: sint32 4; c = LessEqual x y; n = Not c; out n", "n = Greater x y; out n");
    BECOMES("x: 3 4; y: 4; c = NotEqual x y; n = Not c; out n", "n = Equal x y; out n");
    KEEPS_BITS("x: 1 12; c = NotEqual x x; n = Not c; out n");   /* some are NaN */
    STAYS("x: 3 4; y: 4; c = Less x y; n = Not c; out n");
    STAYS("x: sint32 3 4; y: sint32 4; c = Less x y; n = Not c; out n c");
}

static void other_pairs_stay(void **state) {
    (void)state;
    STAYS("x: 1 4; a = Abs x; y = Neg a; out y");
    STAYS("x: 1 4; a = Floor x; y = Abs a; out y");
    STAYS("x: 1 4; a = Floor x; y = Sign a; out y");
    STAYS("x: 1 4; a = Not x; y = Not a; out y");             /* whether x is not 0 */
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

static void quotients_by_powers_of_two_are_products(void **state) {
    (void)state;
    BECOMES("x: 3 4; y = DivideScalar x [divisor=4]; out y", "y = Multiply x %2; out y");
    BECOMES("x: 3 4; c: -0.5; y = Div x c; out y", "y = Multiply x %3; out y");
    BECOMES("x: []; y = DivideScalar x [divisor=4]; out y", "y = Multiply x %2; out y");
    BECOMES("x: fp16 3 4; y = DivideScalar x [divisor=16384]; out y", "y = Multiply x %2; out y");
    BECOMES("x: 3 4; c: 2; y = Pow x c; out y", "y = Multiply x x; out y");
    KEEPS_BITS("x: 1 12; y = DivideScalar x [divisor=4]; out y");
    KEEPS_BITS("x: 1 12; y = DivideScalar x [divisor=-0.0009765625]; out y");
    KEEPS_BITS("x: 1 12; c: 2; y = Pow x c; out y");
    STAYS("x: 3 4; y = DivideScalar x [divisor=3]; out y");
    STAYS("x: 3 4; y = DivideScalar x [divisor=32768]; out y");        /* its reciprocal is not normal in fp16 */
    STAYS("x: 3 4; y = DivideScalar x [divisor=4 rounding_mode=FLOOR]; out y");
    STAYS("x: 3 4; c: params 4 = 2 4 8 16; y = Div x c; out y");
    STAYS("x: 3 4; c: 4; y = Div c x; out y");
    STAYS("x: 3 4; c: 3; y = Pow x c; out y");
    STAYS("x: sint32 3 4; c: 2; y = Pow x c; out y");
}

/* x ^ 0.5 is 0 for -0, and infinite for -inf. */
static void powers_are_reciprocals_and_roots(void **state) {
    (void)state;
    BECOMES("x: 3 4; c: -1; y = Pow x c; out y", "y = Reciprocal x; out y");
    BECOMES("x: 3 4; c: 0.5; a = Abs x; y = Pow a c; out y", "a = Abs x; y = Sqrt a; out y");
    BECOMES("x: 3 4; c: 0.5; e: 1e-5; s = Multiply x x; m = Mean s [dim=-1 keepdim=true]; v = Add m e; y = Pow v c; out y",
            "s = Multiply x x; m = Mean s [dim=-1 keepdim=true]; v = Add m e; y = Sqrt v; out y");
    KEEPS_BITS("x: 1 12; c: -1; y = Pow x c; out y");
    KEEPS_BITS("x: 1 12; c: 0.5; a = Abs x; y = Pow a c; out y");
    KEEPS_BITS("x: 1 12; c: 0.5; a = Multiply x x; y = Pow a c; out y");
    KEEPS_BITS("x: 1 12; c: 0.5; a = Exp x; y = Pow a c; out y");
    STAYS("x: 3 4; c: 0.5; y = Pow x c; out y");
    STAYS("x: 3 4; c: 0.5; e: -1e-5; s = Abs x; v = Add s e; y = Pow v c; out y");
    STAYS("x: 3 4; c: 0.5; z: 3 4; s = Multiply x z; y = Pow s c; out y");
    STAYS("x: fp64 3 4; c: params fp64 1 = -1; y = Pow x c; out y");   /* the last digit may differ */
    STAYS("x: sint32 3 4; c: -1; y = Pow x c; out y");
}

/* ---- parts of a dim ---------------------------------------------------------------------------------------------- */

static void bounds_of_slices_are_positions(void **state) {
    (void)state;
    BECOMES("x: 3 8; y = Slice x [begin=0,-6 end=9223372036854775807,-1 stride=1,2]; out y",
            "y = Slice x [begin=0,2 end=3,7 stride=1,2]; out y");
    STAYS("x: 3 8; y = Slice x [begin=0,2 end=3,7 stride=1,2]; out y");
    STAYS("x: 3 8; y = Slice x [begin=0,-1 end=3,-9 stride=1,-1]; out y");
}

static void slices_that_are_all_parts_are_a_split(void **state) {
    (void)state;
    BECOMES("x: 3 8; a = Slice x [begin=0,0 end=3,2 stride=1,1]; b = Slice x [begin=0,2 end=3,8 stride=1,1]; "
            "y = Concat b a [axis=1]; out y a",
            "a, b = Split x [sections=2,6 axis=1]; y = Concat b a [axis=1]; out y a");
    BECOMES("x: 4 8; c = Slice x [begin=3,0 end=4,8 stride=1,1]; b = Slice x [begin=1,0 end=3,8 stride=1,1]; "
            "s = Sigmoid b; a = Slice x [begin=0,0 end=1,8 stride=1,1]; out a s c",
            "a, b, c = Split x [sections=1,2,1 axis=0]; s = Sigmoid b; out a s c");
    STAYS("x: 3 8; a = Slice x [begin=0,0 end=3,2 stride=1,1]; b = Slice x [begin=0,3 end=3,8 stride=1,1]; out a b");
    STAYS("x: 3 8; a = Slice x [begin=0,0 end=3,3 stride=1,1]; b = Slice x [begin=0,2 end=3,8 stride=1,1]; out a b");
    STAYS("x: 3 8; a = Slice x [begin=0,0 end=3,2 stride=1,1]; b = Slice x [begin=1,2 end=3,8 stride=1,1]; out a b");
    STAYS("x: 3 8; a = Slice x [begin=0,0 end=3,4 stride=1,1]; b = Slice x [begin=0,4 end=3,8 stride=1,2]; out a b");
    STAYS("x: 3 8; a = Slice x [begin=0,0 end=3,4 stride=1,1]; b = Slice x [begin=0,0 end=3,4 stride=1,1]; out a b");
}

static void a_gather_of_a_run_is_a_slice(void **state) {
    (void)state;
    BECOMES("x: 3 8; i: params sint64 3 = 2 3 4; y = Gather x i [axis=1]; out y",
            "y = Slice x [begin=0,2 end=3,5 stride=1,1]; out y");
    BECOMES("x: 3 8; i: params sint64 2 = -2 -1; y = Gather x i [axis=-1]; out y",
            "y = Slice x [begin=0,6 end=3,8 stride=1,1]; out y");
    STAYS("x: 3 8; i: params sint64 3 = 2 4 3; y = Gather x i [axis=1]; out y");
    STAYS("x: 3 8; i: params sint64 2 = 7 -8; y = Gather x i [axis=1]; out y");
    STAYS("x: 3 8; i: params sint64 1 2 = 2 3; y = Gather x i [axis=1]; out y");
    STAYS("x: 3 8; i: params sint64 2 = none; y = Gather x i [axis=1]; out y");
    STAYS("x: 3 8; i: sint64 2; y = Gather x i [axis=1]; out y");
    STAYS("h: sint64 2 4; i: params sint64 2 = 2 3; "
          "x = Reshape h [shape=8 layout=@layout(*)]; y = Gather x i; out y");   /* it may be a shape */
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

#define TWO_INDICES(a, b) "i: params sint64 = " #a "; j: params sint64 = " #b "; "

static void gathers_of_each_index_are_an_unstack(void **state) {
    (void)state;
    BECOMES("x: 2 3 4; " TWO_INDICES(1, 0) "p = Gather x i; s = Sigmoid p; q = Gather x j; out s q",
            "q, p = Unstack x; s = Sigmoid p; out s q");
    BECOMES("x: 5 2; " TWO_INDICES(0, -1) "p = Gather x i [axis=1]; q = Gather x j [axis=-1]; out p q",
            "p, q = Unstack x [dim=1]; out p q");
    STAYS("x: 3 4; " TWO_INDICES(0, 1) "p = Gather x i; q = Gather x j; out p q");
    STAYS("x: 2 4; " TWO_INDICES(0, 0) "p = Gather x i; q = Gather x j; out p q");
    STAYS("x: 2 2; " TWO_INDICES(0, 1) "p = Gather x i; q = Gather x j [axis=1]; out p q");
    STAYS("x: 2 4; i: params sint64 = 0; p = Gather x i; q = Slice x [begin=1,0 end=2,4 stride=1,1]; out p q");
    STAYS("x: 2 4; i: params sint64 = 0; j: sint64; p = Gather x i; q = Gather x j; out p q");
    STAYS("x: 1 4; i: params sint64 = 0; p = Gather x i; out p");
}

static void an_op_that_reads_itself_stays(void **state) {
    static const char *const stories[] = { "x: 3 4; y = Floor x; out y", "x: 3 4; y = ReLU x; out y" };
    (void)state;
    for (size_t i = 0; i < COUNT(stories); i++) {
        xir_network *net = story_net(stories[i]);
        xir_op *op = xir_op_next(xir_network_first(net));
        DOES(xir_op_set_input(op, 0, xir_op_output(op, 0)));
        DOES(xir_pass_run(net, TESTED, NULL, &changes, why));
        assert_int_equal(changes, 0);
        xir_network_free(net);
    }
}

/* ---- images ------------------------------------------------------------------------------------------------------ */

static void a_resize_of_rows_and_columns_is_an_upsample(void **state) {
    (void)state;
    BECOMES("x: NHWC 1 2 3 4; y = Resize x [dsize=4,9 interpolation=INTER_NEAREST]; out y",
            "y = Upsample x [height=4 width=9]; out y");
    BECOMES("x: NCHW 1 4 5 7; y = Resize x [dsize=3,9]; out y",
            "y = Upsample x [height=3 width=9 interpolation=BILINEAR]; out y");
    BECOMES("x: NCWH 1 4 5 7; y = Resize x [dsize=3,9]; out y",
            "y = Upsample x [height=9 width=3 interpolation=BILINEAR]; out y");
    BECOMES("x: sint32 NHWC 1 2 3 4; y = Resize x [dsize=3,2 interpolation=INTER_NEAREST]; out y",
            "y = Upsample x [height=3 width=2]; out y");
    STAYS("x: NLC 1 2 3; y = Resize x [dsize=4]; out y");
    STAYS("x: NDHWC 1 2 2 2 3; y = Resize x [dsize=4,4,4]; out y");
    STAYS("x: NHWC 1 2 3 4; s: sint64 2; y = Resize x s [dsize=-1,-1]; out y");
    STAYS("x: NHWC 1 2 3 4; y = Upsample x [height=4 width=9 align_corners=true]; out y");
}

/* ---- windows ----------------------------------------------------------------------------------------------------- */

static void padding_that_no_window_reads_is_left_out(void **state) {
    (void)state;
    BECOMES("x: NHWC 1 8 9 2; k: HWIO 3 3 2 4; y = Conv2d x k [stride_height=2 stride_width=2 pad_top=1 pad_bottom=1 "
            "pad_left=1 pad_right=1]; out y",
            "y = Conv2d x k [stride_width=2 stride_height=2 pad_top=1 pad_left=1 pad_right=1]; out y");
    BECOMES("x: NHWC 1 8 8 2; y = MaxPool2d x [pool_height=2 pool_width=3 stride_height=3 stride_width=3 pad_bottom=1 "
            "pad_right=2]; out y",
            "y = MaxPool2d x [pool_width=3 pool_height=2 stride_width=3 stride_height=3 pad_right=1]; out y");
    BECOMES("x: NCHW 1 2 8 8; y = AvgPool2d x [pool_height=2 pool_width=2 stride_height=2 stride_width=2 pad_bottom=1 "
            "count_include_pad=true]; out y",
            "y = AvgPool2d x [pool_width=2 pool_height=2 stride_width=2 stride_height=2 count_include_pad=true]; out y");
    BECOMES("x: NLC 1 8 2; k: LIO 3 2 4; y = Conv1d x k [stride_width=2 pad_left=1 pad_right=1 dilation_width=1]; out y",
            "y = Conv1d x k [stride_width=2 pad_left=1]; out y");
    BECOMES("x: NDHWC 1 8 4 4 2; y = MaxPool3d x [pool_width=1 pool_height=1 pool_depth=3 stride_depth=2 pad_front=1 pad_back=1]; "
            "out y",
            "y = MaxPool3d x [pool_depth=3 pool_width=1 pool_height=1 stride_depth=2 pad_front=1]; out y");
    STAYS("x: NHWC 1 9 9 2; k: HWIO 3 3 2 4; y = Conv2d x k [stride_height=2 pad_top=1 pad_bottom=1]; out y");
    STAYS("x: NHWC 1 8 8 2; k: HWIO 3 3 2 4; y = Conv2d x k [stride_height=2 pad_top=1 pad_bottom=0]; out y");
    STAYS("x: NHWC 1 8 8 2; k: HWIO 3 3 2 4; y = Conv2d x k [pad_top=1 pad_bottom=1 pad_left=1 pad_right=1]; out y");
    STAYS("x: NHWC 1 -1 8 2; k: HWIO 3 3 2 4; y = Conv2d x k [stride_height=2 pad_top=1 pad_bottom=1]; out y");
    STAYS("x: NHWC 1 8 8 2; k: HWOI 3 3 4 2; y = ConvTranspose2d x k [stride_height=2 pad_top=1 pad_bottom=1]; out y");
}

static void an_average_of_the_whole_map_is_a_mean(void **state) {
    (void)state;
    BECOMES("x: NHWC 1 3 4 2; y = AvgPool2d x [pool_height=3 pool_width=4 stride_height=2]; out y",
            "y = Mean x [dim=1,2 keepdim=true]; out y");
    BECOMES("x: NCHW 2 2 3 4; y = AvgPool2d x [pool_height=3 pool_width=4 count_include_pad=true]; out y",
            "y = Mean x [dim=2,3 keepdim=true]; out y");
    BECOMES("x: NLC 1 5 2; y = AvgPool1d x [pool_width=5]; out y", "y = Mean x [dim=1 keepdim=true]; out y");
    BECOMES("x: NCW 1 2 5; y = AvgPool1d x [pool_width=5]; out y", "y = Mean x [dim=2 keepdim=true]; out y");
    BECOMES("x: NDHWC 2 2 3 4 2; y = AvgPool3d x [pool_depth=2 pool_height=3 pool_width=4]; out y",
            "y = Mean x [dim=1,2,3 keepdim=true]; out y");
    KEEPS_BITS("x: 1 12; c = ClampScalar x [min=-5 max=4.5]; m = Reshape c [shape=1,3,2,2 layout=@layout(NHWC)]; "
               "y = AvgPool2d m [pool_height=3 pool_width=2]; out y");   /* one mean is NaN, the other finite */
}

static void other_averages_stay(void **state) {
    (void)state;
    STAYS("x: NHWC 1 3 4 2; y = AvgPool2d x [pool_height=3 pool_width=3]; out y");
    STAYS("x: NHWC 1 3 4 2; y = AvgPool2d x [pool_height=3 pool_width=4 divisor_override=3]; out y");
    STAYS("x: NHWC 1 3 4 2; y = AvgPool2d x [pool_height=3 pool_width=4 pad_left=1 pad_right=1]; out y");
    STAYS("x: NHWC 1 3 4 2; y = AvgPool2d x [pool_height=3 pool_width=5 pad_right=1]; out y");
    STAYS("x: NHWC 1 -1 4 2; y = AvgPool2d x [pool_height=3 pool_width=4]; out y");
    STAYS("x: NHWC 1 1000 2000 2; y = MaxPool2d x [pool_height=1000 pool_width=2000]; out y");
    STAYS("x: NWHC 1 4 3 2; y = AvgPool2d x [pool_height=3 pool_width=4]; out y");    /* its sum has another order */
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_from_zero_are_a_relu),
        cmocka_unit_test(other_bounds_stay),
        cmocka_unit_test(bounds_of_bounds_are_bounds),
        cmocka_unit_test(the_second_undoes_or_repeats_the_first),
        cmocka_unit_test(the_opposite_of_a_comparison_is_one),
        cmocka_unit_test(other_pairs_stay),
        cmocka_unit_test(quotients_by_powers_of_two_are_products),
        cmocka_unit_test(powers_are_reciprocals_and_roots),
        cmocka_unit_test(bounds_of_slices_are_positions),
        cmocka_unit_test(slices_that_are_all_parts_are_a_split),
        cmocka_unit_test(a_gather_of_a_run_is_a_slice),
        cmocka_unit_test(gathers_of_each_index_are_an_unstack),
        cmocka_unit_test(an_op_that_reads_itself_stays),
        cmocka_unit_test(a_resize_of_rows_and_columns_is_an_upsample),
        cmocka_unit_test(padding_that_no_window_reads_is_left_out),
        cmocka_unit_test(an_average_of_the_whole_map_is_a_mean),
        cmocka_unit_test(other_averages_stay),
    };
    return RUN_GROUP(tests);
}
