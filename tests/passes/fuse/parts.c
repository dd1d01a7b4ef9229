/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pass `fuse` puts ops together again that exporters take apart: norms, activations, and ops that move elements. */
#define TESTED "fuse"
#include "passes/before_after.h"
#include "support/scarce.h"

/* ---- LayerNorm -------------------------------------------------------------------------------------------------- */

#define ROOT "v = Mean p [dim=-1 keepdim=true]; a = Add v eps; "
#define OFF  "m = Mean x [dim=-1 keepdim=true]; d = Add x m [beta=-1]; "

static void layer_norm_in_other_spellings(void **state) {
    (void)state;
    const char *squares[] = { "p = Pow d two; ", "p = Multiply d d; " };
    const char *ends[] = {
        "r = Sqrt a; y = Div d r",
        "r = Sqrt a; i = Reciprocal r; y = Multiply d i",
        "r = Sqrt a; i = Reciprocal r; y = Multiply i d",
        "r = Sqrt a; i = Div one r; y = Multiply d i",
        "r = Pow a half; y = Div d r",
        "i = Pow a minus; y = Multiply d i",
    };
    for (size_t i = 0; i < COUNT(squares); i++) {
        for (size_t j = 0; j < COUNT(ends); j++) {
            char text[400];
            snprintf(text, sizeof text, "x: 2 3 4; two: 2; one: 1; half: 0.5; minus: -0.5; eps: 1e-6; " OFF "%s" ROOT "%s; out y",
                     squares[i], ends[j]);
            BECOMES(text, "y = LayerNorm x [axis=-1 eps=1e-06]; out y");
        }
    }
}

static void a_layer_norm_whose_difference_is_computed_twice(void **state) {
    (void)state;
    BECOMES("x: 2 3 4; eps: 1e-5; " OFF "e = Add x m [beta=-1]; p = Multiply d d; " ROOT "r = Sqrt a; y = Div e r; out y",
            "y = LayerNorm x [axis=-1]; out y");
    BECOMES("x: 2 3 4; two: 2; eps: 1e-5; " OFF "k = Mean x [dim=2 keepdim=true]; e = Add x k [beta=-1]; p = Pow e two; " ROOT
            "r = Sqrt a; y = Div d r; out y", "y = LayerNorm x [axis=2]; out y");
    BECOMES("x: 2 3 4; two: 2; eps: 1e-5; g: params 4; " OFF "e = Add x m [beta=-1]; p = Pow e two; " ROOT
            "r = Sqrt a; i = Reciprocal r; n = Multiply d i; y = Multiply n g; out y", "y = LayerNorm x [axis=-1 gamma=g]; out y");
    STAYS("x: 2 3 4; two: 2; eps: 1e-5; " OFF "k = Mean x [dim=1 keepdim=true]; e = Add x k [beta=-1]; p = Pow e two; " ROOT
          /* Over other dims. */
          "r = Sqrt a; y = Div d r; out y");
    STAYS("x: 2 3 4; two: 2; eps: 1e-5; " OFF "e = Add x m; p = Pow e two; " ROOT "r = Sqrt a; y = Div d r; out y");
    STAYS("x: 2 3 4; two: 2; eps: 1e-5; " OFF "e = Add m x [beta=-1]; p = Pow e two; " ROOT "r = Sqrt a; y = Div d r; out y");
    STAYS("x: 2 3 4; two: 2; eps: 1e-5; " OFF "e = Add x m [beta=-1]; p = Pow e two; " ROOT "r = Sqrt a; y = Div d r; out y m");
    STAYS("x: 2 3 4; two: 2; eps: 1e-5; " OFF "e = Add x m [beta=-1]; p = Pow e two; " ROOT "r = Sqrt a; y = Multiply d r; out y");
    STAYS("x: 2 3 4; two: 2; half: 0.4; eps: 1e-5; " OFF "e = Add x m [beta=-1]; p = Pow e two; " ROOT
          "r = Pow a half; y = Div d r; out y");
}

/* ---- RMSNorm ---------------------------------------------------------------------------------------------------- */

static void rms_norm(void **state) {
    (void)state;
    const char *squares[] = { "p = Pow x two; ", "p = Multiply x x; " };
    const char *ends[] = {
        "r = Sqrt a; y = Div x r",
        "r = Sqrt a; i = Reciprocal r; y = Multiply x i",
        "r = Sqrt a; i = Div one r; y = Multiply i x",
        "r = Pow a half; i = Reciprocal r; y = Multiply x i",
        "i = Pow a minus; y = Multiply x i",
    };
    for (size_t i = 0; i < COUNT(squares); i++) {
        for (size_t j = 0; j < COUNT(ends); j++) {
            char text[400];
            snprintf(text, sizeof text, "x: 2 3 4; two: 2; one: 1; half: 0.5; minus: -0.5; eps: 1e-6; %s" ROOT "%s; out y",
                     squares[i], ends[j]);
            BECOMES(text, "y = RMSNorm x [axis=-1 eps=1e-06]; out y");
        }
    }
    BECOMES("x: 2 3 4; two: 2; eps: 1e-5; g: params 4; p = Pow x two; " ROOT "r = Sqrt a; n = Div x r; y = Multiply g n; out y",
            "y = RMSNorm x [axis=-1 gamma=g]; out y");
    BECOMES("x: 2 3 4; two: 2; eps: 1e-5; p = Pow x two; v = Mean p [keepdim=true]; a = Add eps v; r = Sqrt a; y = Div x r; out y",
            "y = RMSNorm x [axis=0,1,2]; out y");
    BECOMES("x: 2 3 4; two: 2; eps: 1e-5; g: params 3 4; p = Pow x two; v = Mean p [dim=-1,1 keepdim=true]; a = Add v eps; r = Sqrt a; "
            "n = Div x r; y = Multiply n g; out y", "y = RMSNorm x [axis=-1,1 gamma=g]; out y");
    BECOMES("x: 2 3 4; two: 2; eps: 1e-5; g: params 3 4; p = Pow x two; " ROOT "r = Sqrt a; n = Div x r; y = Multiply n g; out y",
            "n = RMSNorm x [axis=-1]; y = Multiply n g; out y");   /* other dims than the normalised ones */
}

static void ops_that_are_not_an_rms_norm(void **state) {
    (void)state;
    STAYS("x: 2 3 4; two: 3; eps: 1e-6; p = Pow x two; " ROOT "r = Sqrt a; y = Div x r; out y");
    STAYS("x: 2 3 4; z: 2 3 4; two: 2; eps: 1e-6; p = Pow z two; " ROOT "r = Sqrt a; y = Div x r; out y");
    STAYS("x: 2 3 4; z: 2 3 4; eps: 1e-6; p = Multiply x z; " ROOT "r = Sqrt a; y = Div x r; out y");
    STAYS("x: 2 3 4; two: 2; eps: params 4; p = Pow x two; " ROOT "r = Sqrt a; y = Div x r; out y");
    STAYS("x: 2 3 4; two: 2; eps: 1e-6; p = Pow x two; " ROOT "r = Sqrt a; y = Div x r; out y r");
    STAYS("x: 2 3 4; two: 2; eps: 1e-6; p = Pow x two; " ROOT "r = Sqrt a; y = Div r x; out y");
    STAYS("x: 2 3 4; two: 2; eps: 1e-6; p = Pow x two; " ROOT "r = Sqrt a; y = Div x r [rounding_mode=FLOOR]; out y");
    /* Dims not kept. */
    STAYS("x: 3 3; two: 2; eps: 1e-6; p = Pow x two; v = Mean p [dim=-1]; a = Add v eps; r = Sqrt a; y = Div x r; out y");
    /* Of a higher rank. */
    STAYS("x: 2 3 4; two: 2; eps: params 1 1 1 1 = 1e-6; p = Pow x two; " ROOT "r = Sqrt a; y = Div x r; out y");
}

#define WIDE "w = Cast x [target_dtype=fp32,2,3,4]; p = Multiply w w; v = Mean p [dim=-1 keepdim=true]; a = Add v eps; r = Sqrt a; n = Div w r; "

static void norms_between_casts(void **state) {
    (void)state;
    BECOMES("x: fp16 2 3 4; eps: 1e-5; " WIDE "y = Cast n [target_dtype=fp16,2,3,4]; out y", "y = RMSNorm x [axis=-1]; out y");
    BECOMES("x: fp16 2 3 4; eps: 1e-5; g: params fp16 4 = 1 2 0.5 -4; " WIDE "c = Cast n [target_dtype=fp16,2,3,4]; y = Multiply g c; out y",
            "y = RMSNorm x [axis=-1 gamma=g]; out y");
    BECOMES("x: fp16 2 3 4; w = Cast x [target_dtype=fp32,2,3,4]; n = LayerNorm w [axis=-1]; y = Cast n [target_dtype=fp16,2,3,4]; out y",
            "y = LayerNorm x [axis=-1]; out y");
    /* A story prints no types. */
    BECOMES("x: fp16 2 3 4; eps: 1e-5; " WIDE "out n", "w = Cast x [target_dtype=0]; n = RMSNorm w [axis=-1]; out n");
    BECOMES("x: fp16 2 3 4; eps: 1e-5; " WIDE "y = Cast n [target_dtype=fp16,2,3,4]; out y w",
            "w = Cast x [target_dtype=0]; n = RMSNorm w [axis=-1]; y = Cast n [target_dtype=0]; out y w");
    STAYS("x: fp16 2 3 4; g: params 4; w = Cast x [target_dtype=fp32,2,3,4]; n = LayerNorm w [axis=-1 gamma=g]; "
          /* Factors in fp32. */
          "y = Cast n [target_dtype=fp16,2,3,4]; out y");
    STAYS("x: 2 3 4; w = Cast x [target_dtype=fp16,2,3,4]; n = LayerNorm w [axis=-1]; y = Cast n [target_dtype=fp32,2,3,4]; out y");
    STAYS("x: sint32 2 3 4; w = Cast x [target_dtype=fp32,2,3,4]; n = LayerNorm w [axis=-1]; y = Cast n [target_dtype=sint32,2,3,4]; out y");
    STAYS("x: fp16 2 3 4; w = Cast x [target_dtype=fp32,2,3,4]; n = LayerNorm w [axis=-1]; y = Cast n [target_dtype=bf16,2,3,4]; out y");
    STAYS("x: fp16 2 3 4; w = Cast x [target_dtype=fp32,2,3,4]; n = LayerNorm w [axis=-1]; y = Cast n [target_dtype=fp16,2,3,4]; out y n");
    STAYS("x: fp16 2 3 4; w = Cast x [target_dtype=fp32,2,3,4]; n = Softmax w [axis=-1]; y = Cast n [target_dtype=fp16,2,3,4]; out y");
}

/* ---- GroupNorm -------------------------------------------------------------------------------------------------- */

#define PARTS(dims, shape, letters)                                                                                    \
    "x: " dims "; r = Reshape x [shape=" shape "]; t = Transpose r [dims=0,2,1 layout=@layout(NLC)]; "                         \
    "n = InstanceNorm1d t; u = Transpose n [dims=0,2,1 layout=@layout(***)]; y = Reshape u [shape=" letters "]; "

static void group_norm(void **state) {
    (void)state;
    BECOMES(PARTS("2 6 4 5", "2,3,-1 layout=@layout(***)", "2,6,4,5 layout=@layout(****)") "out y",
            "%6 = Transpose x [dims=0,2,3,1 layout=@layout(NHWC)]; %7 = GroupNorm %6 [groups=3]; y = Transpose %7 [dims=0,3,1,2 layout=@layout(****)]; out y");
    BECOMES(PARTS("2 6 4", "2,2,12 layout=@layout(***)", "2,6,-1 layout=@layout(***)") "out y",
            "%6 = Transpose x [dims=0,2,1 layout=@layout(NLC)]; %7 = GroupNorm %6 [groups=2]; y = Transpose %7 [dims=0,2,1 layout=@layout(***)]; out y");
    BECOMES(PARTS("2 6", "2,3,2 layout=@layout(***)", "2,6 layout=@layout(**)") "out y", "y = GroupNorm x [groups=3]; out y");
    BECOMES(PARTS("NCHW 2 6 4 5", "2,1,120 layout=@layout(***)", "2,6,4,5 layout=@layout(NCHW)") "out y", "y = GroupNorm x [groups=1]; out y");
    /* The parts have no Transposes: the map gets letters in place of an order. */
    BECOMES("x: 2 6 4 5; r = Reshape x [shape=2,3,-1 layout=@layout(NCL)]; n = InstanceNorm1d r [eps=0.001]; y = Reshape n [shape=2,6,4,5 layout=@layout(****)]; out y",
            "%4 = Reshape x [shape=2,6,4,5 layout=@layout(NCHW)]; %5 = GroupNorm %4 [groups=3 eps=0.001]; y = Reshape %5 [shape=2,6,4,5 layout=@layout(****)]; out y");
    BECOMES("x: 2 6; r = Reshape x [shape=2,3,2,1 layout=@layout(NCHW)]; o: params 3 = 1 1 1; z: params 3 = 0 0 0; "
            "n = InstanceNorm2d r [gamma=o beta=z]; y = Reshape n [shape=2,6 layout=@layout(**)]; out y", "y = GroupNorm x [groups=3]; out y");
}

static void factors_of_channels(void **state) {
    (void)state;
    BECOMES("x: NHWC 1 2 2 6; g: params 6; b: params 1 1 6; n = GroupNorm x [groups=3]; m = Multiply n g; y = Add b m; out y",
            "y = GroupNorm x [groups=3 gamma=g beta=b]; out y");
    BECOMES("x: NCHW 1 6 2 2; g: params 6 1 1; b: params 1 6 1 1; n = GroupNorm x [groups=3]; m = Multiply g n; y = Add m b; out y",
            "y = GroupNorm x [groups=3 gamma=g beta=b]; out y");
    BECOMES("x: 2 6; b: params 6; n = GroupNorm x [groups=3]; y = Add b n; out y", "y = GroupNorm x [groups=3 beta=b]; out y");
    /* Along the columns. */
    STAYS("x: NHWC 1 6 6 6; g: params 6 1; n = GroupNorm x [groups=3]; y = Multiply n g; out y");
    STAYS("x: NCHW 1 6 6 6; g: params 6; n = GroupNorm x [groups=3]; y = Multiply n g; out y");
    STAYS("x: 2 6; g: 2; n = GroupNorm x [groups=3]; y = Multiply n g; out y");
    STAYS("x: 2 6; g: params 6; b: params 6; n = GroupNorm x [groups=3 beta=b]; y = Multiply n g; out y");
    STAYS("x: 2 6; g: params 6; n = GroupNorm x [groups=3]; y = Multiply n g; out y n");
    STAYS("x: 2 6; b: params 6; n = GroupNorm x [groups=3]; y = Add n b [beta=-1]; out y");
}

static void ops_that_are_not_a_group_norm(void **state) {
    (void)state;
    /* Other dims. */
    STAYS(PARTS("2 6 4 5", "2,3,-1 layout=@layout(***)", "2,6,5,4 layout=@layout(****)") "out y");
    /* Not the samples. */
    STAYS(PARTS("2 6 4 5", "3,2,-1 layout=@layout(***)", "2,6,4,5 layout=@layout(****)") "out y");
    /* Parts of channels. */
    STAYS(PARTS("2 6 4 5", "2,4,-1 layout=@layout(***)", "2,6,4,5 layout=@layout(****)") "out y");
    STAYS(PARTS("2 6 4 5", "2,3,-1 layout=@layout(***)", "2,6,4,5 layout=@layout(****)") "out y n");
    /* Dim 1 is not the channels. */
    STAYS(PARTS("NHWC 2 6 4 6", "2,3,-1 layout=@layout(***)", "2,6,4,6 layout=@layout(NHWC)") "out y");
    STAYS("x: 2 6 4 5; g: params 3; r = Reshape x [shape=2,3,-1 layout=@layout(NCL)]; n = InstanceNorm1d r [gamma=g]; y = Reshape n [shape=2,6,4,5 layout=@layout(****)]; out y");
    STAYS("x: 2 6 4 5; r = Reshape x [shape=2,3,-1 layout=@layout(***)]; n = InstanceNorm1d r; y = Reshape n [shape=2,6,4,5 layout=@layout(****)]; out y");
    STAYS("x: 2 6 4 5; r = Reshape x [shape=2,3,40 layout=@layout(***)]; t = Transpose r [dims=0,2,1 layout=@layout(NLC)]; n = InstanceNorm1d t; "
          /* Not transposed back. */
          "y = Reshape n [shape=2,6,4,5 layout=@layout(****)]; out y");
    STAYS("x: -1 6 4 5; r = Reshape x [shape=-1,3,40 layout=@layout(NCL)]; n = InstanceNorm1d r; "
          "y = Reshape n [shape=-1,6,4,5 layout=@layout(****)]; out y");   /* dims that are not known to be the same */
    STAYS("x: 3 9 1 1; r = Reshape x [shape=3,3,3 layout=@layout(***)]; t = Transpose r [dims=0,2,1 layout=@layout(NLC)]; n = InstanceNorm1d t; "
          "u = Transpose n [dims=2,1,0 layout=@layout(***)]; y = Reshape u [shape=3,9,1,1 layout=@layout(****)]; out y");
}

/* ---- Softplus and Mish ------------------------------------------------------------------------------------------ */

static void softplus_and_mish(void **state) {
    (void)state;
    BECOMES("x: 2 3; one: 1; e = Exp x; s = Add e one; y = Log s; out y", "y = Softplus x; out y");
    BECOMES("x: 2 3; one: 1; e = Exp x; s = Add one e; y = Log s; out y", "y = Softplus x; out y");
    BECOMES("x: 2 3; one: 1; r = ReLU x; e = Exp r; s = Add e one; l = Log s; y = Multiply l r; out y", "r = ReLU x; l = Softplus r; y = Multiply l r; out y");
    BECOMES("x: 2 3; s = Softplus x; t = Tanh s; y = Multiply x t; out y", "y = Mish x; out y");
    BECOMES("x: 2 3; s = Softplus x [threshold=1e30]; t = Tanh s; y = Multiply t x; out y", "y = Mish x; out y");
    BECOMES("x: 2 3; one: 1; e = Exp x; a = Add e one; s = Log a; t = Tanh s; y = Multiply x t; out y", "y = Mish x; out y");
    STAYS("x: 2 3; two: 2; e = Exp x; s = Add e two; y = Log s; out y");
    STAYS("x: 2 3; one: 1; e = Exp x; s = Add e one [beta=2]; y = Log s; out y");
    STAYS("x: 2 3; one: 1; e = Exp x; s = Add e one; y = Log s; out y e");
    STAYS("x: 2 3; z: 2 3; e = Exp x; s = Add e z; y = Log s; out y");
    STAYS("x: 2 3; one: params 1 1 1 = 1; e = Exp x; s = Add e one; y = Log s; out y");
    STAYS("x: 2 3; s = Softplus x [beta=2]; t = Tanh s; y = Multiply x t; out y");
    STAYS("x: 2 3; s = Softplus x [threshold=1]; t = Tanh s; y = Multiply x t; out y");
    STAYS("x: 2 3; z: 2 3; s = Softplus x; t = Tanh s; y = Multiply z t; out y");
    STAYS("x: 2 3; s = Softplus x; t = Tanh s; y = Multiply x t; out y t");
    STAYS("x: 2 3; s = Softplus x; t = Tanh s; y = Multiply x s; out y t");
}

/* ---- Roll ------------------------------------------------------------------------------------------------------- */

#define ENDS "end=9223372036854775807,9223372036854775807"

static void roll(void **state) {
    (void)state;
    BECOMES("x: 2 7; a = Slice x [begin=0,3 " ENDS " stride=1,1]; b = Slice x [begin=0,0 end=2,3 stride=1,1]; y = Concat a b [axis=1]; out y",
            "y = Roll x [shifts=-3 dims=1]; out y");
    BECOMES("x: 2 7; a = Slice x [begin=0,-3 " ENDS " stride=1,1]; b = Slice x [begin=0,0 end=9,-3 stride=1,1]; y = Concat a b [axis=-1]; out y",
            "y = Roll x [shifts=3 dims=1]; out y");
    BECOMES("x: sint32 2 7; a = Slice x [begin=1,0 end=2,7 stride=1,1]; b = Slice x [begin=0,0 end=1,7 stride=1,1]; y = Concat a b [axis=0]; out y",
            "y = Roll x [shifts=-1 dims=0]; out y");
    BECOMES("x: 6 7; a = Slice x [begin=2,0 end=6,7 stride=1,1]; b = Slice x [begin=0,0 end=2,7 stride=1,1]; r = Concat a b [axis=0]; "
            "c = Slice r [begin=0,4 end=6,7 stride=1,1]; d = Slice r [begin=0,0 end=6,4 stride=1,1]; y = Concat c d [axis=1]; out y",
            "y = Roll x [shifts=-2,3 dims=0,1]; out y");
    BECOMES("x: 6 7; r = Roll x [shifts=2 dims=0]; s = Roll r [shifts=1,1 dims=1,-2]; y = Roll s [shifts=-3 dims=1]; out y",
            "y = Roll x [shifts=2,1,1,-3 dims=0,1,-2,1]; out y");
}

#define TWO(a, b, rest) "x: 2 7; z: 2 7; a = Slice " a " stride=1,1]; b = Slice " b " stride=1,1]; y = Concat " rest

static void ops_that_are_not_a_roll(void **state) {
    (void)state;
    STAYS(TWO("x [begin=0,3 end=2,7", "x [begin=0,0 end=2,3", "b a [axis=1]; out y"));        /* the same again */
    STAYS(TWO("x [begin=0,3 end=2,7", "z [begin=0,0 end=2,3", "a b [axis=1]; out y"));
    STAYS(TWO("x [begin=0,3 end=2,7", "x [begin=0,0 end=2,4", "a b [axis=1]; out y"));        /* a column twice */
    /* Without the first column. */
    STAYS(TWO("x [begin=0,4 end=2,7", "x [begin=0,1 end=2,4", "a b [axis=1]; out y"));
    STAYS(TWO("x [begin=0,3 end=2,7", "x [begin=0,0 end=2,3", "a b [axis=1]; out y a"));
    STAYS(TWO("x [begin=0,3 end=1,7", "x [begin=0,0 end=1,3", "a b [axis=1]; out y"));        /* a row less */
    STAYS(TWO("x [begin=0,3 end=2,7", "x [begin=0,0 end=2,3", "a b x [axis=1]; out y"));
    STAYS("x: 2 7; a = Slice x [begin=0,6 end=2,2 stride=1,-1]; b = Slice x [begin=0,0 end=2,3 stride=1,1]; y = Concat a b [axis=1]; out y");
    /* All elements as one dim. */
    STAYS("x: 6 7; r = Roll x [shifts=2]; y = Roll r [shifts=1 dims=1]; out y");
    STAYS("x: 6 7; r = Roll x [shifts=2 dims=0]; y = Roll r [shifts=1 dims=1]; out y r");
    STAYS("x: -1 7; a = Slice x [begin=3,0 " ENDS " stride=1,1]; b = Slice x [begin=0,0 end=3,9223372036854775807 stride=1,1]; y = Concat a b [axis=0]; out y");
}

/* ---- Reshape, Transpose, Reshape -------------------------------------------------------------------------------- */

#define TURN(type, apart, order, back)                                                                                 \
    "x: " type "; a = Reshape x [shape=" apart "]; t = Transpose a [dims=" order "]; y = Reshape t [shape=" back "]; out y"

static void channel_shuffle(void **state) {
    (void)state;
    BECOMES(TURN("NHWC 2 3 4 6", "2,3,4,2,3 layout=@layout(*****)", "0,1,2,4,3 layout=@layout(*****)", "2,3,4,6 layout=@layout(NHWC)"),
            "y = ChannelShuffle x [groups=2]; out y");
    BECOMES(TURN("NCHW 2 6 3 4", "2,3,2,3,4 layout=@layout(*****)", "0,2,1,3,4 layout=@layout(*****)", "2,-1,3,4 layout=@layout(NCHW)"),
            "y = ChannelShuffle x [groups=3]; out y");
    BECOMES(TURN("NCHW 2 6 3 4", "2,3,2,12 layout=@layout(****)", "0,2,1,-1 layout=@layout(****)", "2,6,3,4 layout=@layout(NCHW)"),
            /* Rows and columns are merged. */
            "y = ChannelShuffle x [groups=3]; out y");
    BECOMES(TURN("sint32 5 6", "5,2,3 layout=@layout(***)", "0,2,1 layout=@layout(***)", "5,6 layout=@layout(**)"), "y = ChannelShuffle x [groups=2]; out y");
    BECOMES(TURN("NHWC 1 1 1 6", "1,2,3,1,1 layout=@layout(*****)", "0,2,1,3,4 layout=@layout(*****)", "1,1,1,6 layout=@layout(NHWC)"),
            /* Dims of 1 stand anywhere. */
            "y = ChannelShuffle x [groups=2]; out y");
    BECOMES(TURN("NHWC 2 3 4 6", "2,3,4,2,3 layout=@layout(*****)", "0,1,2,4,3 layout=@layout(*****)", "2,3,4,6 layout=@layout(****)"),
            /* Other letters. */
            "%4 = ChannelShuffle x [groups=2]; y = Reshape %4 [shape=2,3,4,6 layout=@layout(****)]; out y");
}

static void ops_that_are_not_a_channel_shuffle(void **state) {
    (void)state;
    /* No letter says where the channels are. */
    STAYS(TURN("2 6 3 4", "2,3,2,3,4 layout=@layout(*****)", "0,2,1,3,4 layout=@layout(*****)", "2,6,3,4 layout=@layout(****)"));
    /* Rows and columns, too. */
    STAYS(TURN("NHWC 2 3 4 6", "2,3,4,2,3 layout=@layout(*****)", "0,2,1,4,3 layout=@layout(*****)", "2,3,4,6 layout=@layout(NHWC)"));
    /* Of the rows. */
    STAYS(TURN("NHWC 2 4 4 4", "2,2,2,4,4 layout=@layout(*****)", "0,2,1,3,4 layout=@layout(*****)", "2,4,4,4 layout=@layout(NHWC)"));
    /* Other dims. */
    STAYS(TURN("NHWC 2 3 4 6", "2,3,4,2,3 layout=@layout(*****)", "0,1,2,4,3 layout=@layout(*****)", "2,3,6,4 layout=@layout(NHWC)"));
    STAYS(TURN("NHWC 2 3 4 6", "2,3,2,2,6 layout=@layout(*****)", "0,1,3,2,4 layout=@layout(*****)", "2,3,4,6 layout=@layout(NHWC)"));
    /* Three blocks. */
    STAYS(TURN("5 8", "5,2,2,2 layout=@layout(****)", "0,3,2,1 layout=@layout(****)", "5,8 layout=@layout(**)"));
    STAYS("x: 5 6; a = Reshape x [shape=5,2,3 layout=@layout(***)]; t = Transpose a [dims=0,2,1 layout=@layout(***)]; y = Reshape t [shape=5,6 layout=@layout(**)]; out y t");
}

static void pixel_shuffle(void **state) {
    (void)state;
    BECOMES(TURN("NHWC 2 3 4 12", "2,3,4,3,2,2 layout=@layout(******)", "0,1,4,2,5,3 layout=@layout(******)", "2,6,8,3 layout=@layout(NHWC)"),
            "y = PixelShuffle x [upscale_factor=2]; out y");
    BECOMES(TURN("NCHW 2 9 3 4", "2,1,3,3,3,4 layout=@layout(******)", "0,1,4,2,5,3 layout=@layout(******)", "2,1,9,12 layout=@layout(NCHW)"),
            "y = PixelShuffle x [upscale_factor=3]; out y");
    BECOMES(TURN("NHWC 1 3 4 4", "3,4,2,2 layout=@layout(****)", "0,2,1,3 layout=@layout(****)", "1,6,8,1 layout=@layout(NHWC)"),
            /* Dims of 1 are left out. */
            "y = PixelShuffle x [upscale_factor=2]; out y");
    BECOMES(TURN("NHWC 2 3 4 12", "2,3,4,3,2,2 layout=@layout(******)", "0,1,4,2,5,3 layout=@layout(******)", "2,6,8,3 layout=@layout(****)"),
            "%4 = PixelShuffle x [upscale_factor=2]; y = Reshape %4 [shape=2,6,8,3 layout=@layout(****)]; out y");
    /* No letters. */
    STAYS(TURN("2 12 3 4", "2,3,2,2,3,4 layout=@layout(******)", "0,1,4,2,5,3 layout=@layout(******)", "2,3,6,8 layout=@layout(****)"));
    /* DepthToSpace, DCR. */
    STAYS(TURN("NCHW 2 12 3 4", "2,2,2,3,3,4 layout=@layout(******)", "0,3,4,1,5,2 layout=@layout(******)", "2,3,6,8 layout=@layout(NCHW)"));
    /* Rows and columns exchanged. */
    STAYS(TURN("NCHW 2 12 3 4", "2,3,2,2,3,4 layout=@layout(******)", "0,1,4,3,5,2 layout=@layout(******)", "2,3,6,8 layout=@layout(NCHW)"));
    /* The reverse. */
    STAYS(TURN("NCHW 2 3 6 8", "2,3,3,2,4,2 layout=@layout(******)", "0,1,3,5,2,4 layout=@layout(******)", "2,12,3,4 layout=@layout(NCHW)"));
    STAYS(TURN("NCHW 2 12 3 4", "2,3,2,2,3,4 layout=@layout(******)", "0,1,4,2,5,3 layout=@layout(******)", "2,6,6,4 layout=@layout(NCHW)"));
    /* Two factors. */
    STAYS(TURN("NCHW 2 6 3 4", "2,3,1,2,3,4 layout=@layout(******)", "0,1,4,2,5,3 layout=@layout(******)", "2,3,3,8 layout=@layout(NCHW)"));
}

/* ---- rolls and windows ------------------------------------------------------------------------------------------ */

#define CUT "a = Reshape r [shape=1,2,2,2,2,3 layout=@layout(******)]; t = Transpose a [dims=0,1,3,2,4,5 layout=@layout(******)]; "
#define WINDOWS CUT "y = Reshape t [shape=4,4,3 layout=@layout(***)]; "
#define JOINED "a = Reshape x [shape=1,2,2,2,2,3 layout=@layout(******)]; t = Transpose a [dims=0,1,3,2,4,5 layout=@layout(******)]; " \
               "w = Reshape t [shape=1,4,4,3 layout=@layout(****)]; "

static void rolled_windows(void **state) {
    (void)state;
    BECOMES("x: 1 4 4 3; r = Roll x [shifts=-1,-1 dims=1,2]; " WINDOWS "out y",
            "%5 = Reshape x [shape=16,3 layout=@layout(**)]; %7 = Gather %5 %6; y = Reshape %7 [shape=4,4,3 layout=@layout(***)]; out y");
    BECOMES("x: 1 4 4 3; s = Roll x [shifts=-1 dims=1]; r = Roll s [shifts=3 dims=-2]; " WINDOWS "out y",
            "%7 = Reshape x [shape=16,3 layout=@layout(**)]; %9 = Gather %7 %8; y = Reshape %9 [shape=4,4,3 layout=@layout(***)]; out y");
    BECOMES("x: 4 4 3; " JOINED "y = Roll w [shifts=1,2,-1 dims=1,2,1]; out y",
            "%5 = Reshape x [shape=16,3 layout=@layout(**)]; %7 = Gather %5 %6; y = Reshape %7 [shape=1,4,4,3 layout=@layout(****)]; out y");
    BECOMES("x: 4 4 3; " JOINED "s = Roll w [shifts=1 dims=1]; y = Roll s [shifts=1 dims=2]; out y",
            "%7 = Reshape x [shape=16,3 layout=@layout(**)]; %9 = Gather %7 %8; y = Reshape %9 [shape=1,4,4,3 layout=@layout(****)]; out y");
    BECOMES("x: sint32 4 4 3; " JOINED "y = Roll w [shifts=1 dims=1]; z = Multiply y y; out z",
            "%6 = Reshape x [shape=16,3 layout=@layout(**)]; %8 = Gather %6 %7; y = Reshape %8 [shape=1,4,4,3 layout=@layout(****)]; z = Multiply y y; out z");
}

static void rolls_and_windows_that_stay(void **state) {
    (void)state;
    STAYS("x: 1 4 4 3; r = ReLU x; " WINDOWS "out y");                                            /* no roll */
    STAYS("x: 1 4 4 3; r = Roll x [shifts=-1 dims=1]; " WINDOWS "out y r");
    STAYS("x: 1 4 4 3; r = Roll x [shifts=-1 dims=3]; " WINDOWS "out y");                         /* within rows */
    /* All elements as one dim. */
    STAYS("x: 1 4 4 3; r = Roll x [shifts=-1]; " WINDOWS "out y");
    /* Other rows. */
    STAYS("x: 1 4 4 3; r = Roll x [shifts=-1 dims=1]; " CUT "y = Reshape t [shape=4,6,2 layout=@layout(***)]; out y");
    STAYS("x: 1 4 4 3; r = Roll x [shifts=-1 dims=1]; a = Reshape r [shape=1,2,2,2,2,3 layout=@layout(******)]; "
          "t = Transpose a [dims=0,1,3,2,5,4 layout=@layout(******)]; y = Reshape t [shape=4,4,3 layout=@layout(***)]; out y");
    STAYS("x: 4 4 3; " JOINED "y = Roll w [shifts=1 dims=1]; out y w");
    STAYS("x: 4 4 3; " JOINED "y = Roll w [shifts=1 dims=-1]; out y");
    STAYS("x: -1 4 4 3; r = Roll x [shifts=-1 dims=1]; a = Reshape r [shape=-1,2,2,2,2,3 layout=@layout(******)]; "
          "t = Transpose a [dims=0,1,3,2,4,5 layout=@layout(******)]; y = Reshape t [shape=-1,4,3 layout=@layout(***)]; out y");
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static void scarcely(want *w) {
    IN_PLENTY(w, w->net = story_net_in(w->ctx,
        "x: NCHW 2 6 4 5; z: 2 6 4 5; two: 2; eps: 1e-5; one: 1; g: params 6 1 1; h: params 5; r = Reshape x [shape=2,3,-1 layout=@layout(NCL)]; "
        "n = InstanceNorm1d r; u = Reshape n [shape=2,6,4,5 layout=@layout(NCHW)]; m = Multiply u g; b = Add m g; e = Exp b; s = Add e one; l = Log s; "
        "t = Tanh l; f = Multiply t b; p = Pow f two; v = Mean p [dim=-1 keepdim=true]; a = Add v eps; c = Sqrt a; d = Div f c; i = Multiply d h; "
        "j = Slice i [begin=0,0,1,0 end=2,6,4,5 stride=1,1,1,1]; k = Slice i [begin=0,0,0,0 end=2,6,1,5 stride=1,1,1,1]; o = Concat j k [axis=2]; "
        "q = Roll o [shifts=1 dims=0]; a1 = Reshape q [shape=2,3,2,20 layout=@layout(****)]; a2 = Transpose a1 [dims=0,2,1,3 layout=@layout(****)]; "
        "a3 = Reshape a2 [shape=2,6,4,5 layout=@layout(NCHW)]; w1 = Roll a3 [shifts=1,2 dims=1,2]; w2 = Reshape w1 [shape=2,2,3,4,5 layout=@layout(*****)]; "
        "w3 = Transpose w2 [dims=0,3,1,2,4 layout=@layout(*****)]; w4 = Reshape w3 [shape=8,6,5 layout=@layout(***)]; out w4"));
    TRY_LOOSELY(w, xir_pass_run(w->net, "fuse", NULL, NULL, w->why));
    /* Ops that failures left unused. */
    IN_PLENTY(w, assert_int_equal(xir_pass_run(w->net, "dce", NULL, NULL, w->why), XIR_OK));
    w->result = story_text(w->net);
    for (char *c = strchr(w->result, '%'); c; c = strchr(c, '%')) {   /* failures take numbers, too */
        while (*++c >= '0' && *c <= '9') *c = '0';
    }
}

static void failing_allocations_leak_nothing(void **state) {
    (void)state;
    run_scarcely("fuse", scarcely, false);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layer_norm_in_other_spellings),
        cmocka_unit_test(a_layer_norm_whose_difference_is_computed_twice),
        cmocka_unit_test(rms_norm),
        cmocka_unit_test(ops_that_are_not_an_rms_norm),
        cmocka_unit_test(norms_between_casts),
        cmocka_unit_test(group_norm),
        cmocka_unit_test(factors_of_channels),
        cmocka_unit_test(ops_that_are_not_a_group_norm),
        cmocka_unit_test(softplus_and_mish),
        cmocka_unit_test(roll),
        cmocka_unit_test(ops_that_are_not_a_roll),
        cmocka_unit_test(channel_shuffle),
        cmocka_unit_test(ops_that_are_not_a_channel_shuffle),
        cmocka_unit_test(pixel_shuffle),
        cmocka_unit_test(rolled_windows),
        cmocka_unit_test(rolls_and_windows_that_stay),
        cmocka_unit_test(failing_allocations_leak_nothing),
    };
    return RUN_GROUP(tests);
}
