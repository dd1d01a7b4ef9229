/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* fold-products: constants before a product become part of the product's constants. Each rule has networks that it
 * changes, with the same numbers, and networks that it must not change. */
#define TESTED "fold-products"
#include "passes/scarce_numbers.h"

#define IMAGE "x: NHWC 1 5 6 4; w: params HWIO 3 3 4 6; "
#define PADDED "[pad_top=1 pad_bottom=1 pad_left=1 pad_right=1]"

/* ---- factors ----------------------------------------------------------------------------------------------------- */

static void a_factor_goes_into_the_next_product(void **state) {
    (void)state;
    BECOMES(IMAGE "s: 0.5; n = Multiply x s; y = Conv2d n w " PADDED "; out y", "y = Conv2d x w " PADDED "; out y");
    BECOMES(IMAGE "n = DivideScalar x [divisor=3]; y = Conv2d n w; out y", "y = Conv2d x w; out y");
    BECOMES(IMAGE "s: params 4 = 1 2 3 4; n = Div x s; y = Conv2d n w " PADDED "; out y",
            "y = Conv2d x w " PADDED "; out y");
    BECOMES("x: NHWC 1 5 6 4; w: params HWOI 3 3 6 4; s: 3; n = Multiply s x; y = ConvTranspose2d n w; out y",
            "y = ConvTranspose2d x w; out y");
    BECOMES("x: 2 3 4; w: params 2 4 5; s: -2; n = Multiply x s; y = Matmul n w; out y", "y = Matmul x w; out y");
    BECOMES("x: NHWC 1 5 6 4; w: params HWIO 3 3 1 4; s: params 4; n = Multiply x s; "
            "y = Conv2d n w [groups=4 pad_top=1]; out y", "y = Conv2d x w [pad_top=1 groups=4]; out y");
}

static void other_factors_stay(void **state) {
    (void)state;
    STAYS(IMAGE "s: params 6 1 = 1 2 3 4 5 6; n = Multiply x s; y = Conv2d n w; out y");       /* along W */
    STAYS(IMAGE "s: params 5 6 4; n = Multiply x s; y = Conv2d n w; out y");
    STAYS(IMAGE "s: 0.5; n = Multiply x s; y = Conv2d n w; out y n");
    STAYS(IMAGE "s: 0.5; n = Multiply x s; r = ReLU n; y = Conv2d r w; out y");
    STAYS(IMAGE "s: inf; n = Multiply x s; y = Conv2d n w; out y");
    STAYS(IMAGE "s: nan; n = Multiply x s; y = Conv2d n w; out y");
    STAYS(IMAGE "s: 0.5; n = Multiply x s; y = Conv2d n w; r = ReLU n; out y r");
    STAYS("x: NHWC 1 5 6 4; w: HWIO 3 3 4 6; s: params 4 = 1 2 3 4; n = Multiply x s; y = Conv2d n w; out y");
    STAYS("x: NHWC 1 5 6 4; w: params HWIO 3 3 4 6 = none; s: 2; n = Multiply x s; y = Conv2d n w; out y");
    STAYS("x: 3 4; w: params 4 5; s: params 3 4; n = Multiply x s; y = Matmul n w; out y");
    STAYS("x: 1 4; w: params 4 5; s: params 3 4; n = Multiply x s; y = Matmul n w; out y");    /* it broadcasts */
    STAYS("x: sint32 3 4; s: params sint32 1 = 3; t: params sint32 1 = 5; n = Multiply x s; y = Multiply n t; out y");
}

static void all_users_take_it_up(void **state) {
    (void)state;
    BECOMES(IMAGE "v: params HWIO 1 1 4 2; s: 3; n = Multiply x s; a = Mean n [dim=1,2 keepdim=true]; b = Conv2d a v; "
            "y = Conv2d n w " PADDED "; out y b",
            "a.folded = Mean x [dim=1,2 keepdim=true]; b = Conv2d a.folded v; y = Conv2d x w " PADDED "; out y b");
    /* a gate: what it multiplies passes the factor on */
    BECOMES(IMAGE "v: params HWIO 1 1 4 4; s: 3; n = Multiply x s; a = Mean n [dim=1,2 keepdim=true]; b = Conv2d a v; "
            "g = Sigmoid b; h = Multiply n g; y = Conv2d h w; out y",
            "a.folded = Mean x [dim=1,2 keepdim=true]; b = Conv2d a.folded v; g = Sigmoid b; h.folded = Multiply x g; y = Conv2d h.folded w; out y");
    /* a square of the factor would be needed */
    STAYS(IMAGE "s: 3; n = Multiply x s; h = Multiply n n; y = Conv2d h w; out y");
    /* weights that another op uses, too, would be copied */
    STAYS("x: NHWC 1 5 6 32; w: params HWIO 3 3 32 64; s: 3; n = Multiply x s; y = Conv2d n w; z = Conv2d x w; out y z");
    STAYS(IMAGE "v: HWIO 3 3 4 6; s: 3; n = Multiply x s; y = Conv2d n w; z = Conv2d n v; out y z");
}

static void factors_pass_ops_that_are_linear(void **state) {
    (void)state;
    BECOMES(IMAGE "s: params 4; n = Multiply x s; p = AvgPool2d n [pool_width=2 pool_height=2 pad_left=1]; "
            "y = Conv2d p w; out y", "p.folded = AvgPool2d x [pool_width=2 pool_height=2 pad_left=1]; y = Conv2d p.folded w; out y");
    BECOMES(IMAGE "s: params 4; n = Multiply x s; p = Upsample n [height=10 width=12]; y = Conv2d p w; out y",
            "p.folded = Upsample x [height=10 width=12]; y = Conv2d p.folded w; out y");
    BECOMES("x: NCHW 1 4 5 6; w: params HWIO 3 3 4 6; s: params 4 1 1; n = Multiply x s; "
            "t = Transpose n [dims=0,2,3,1 layout=@layout(NHWC)]; y = Conv2d t w; out y",
            "t.folded = Transpose x [dims=0,2,3,1 layout=@layout(NHWC)]; y = Conv2d t.folded w; out y");
    BECOMES("x: 2 3 4; w: params 4 5; s: params 4; n = Multiply x s; r = Reshape n [shape=6,4 layout=@layout(**)]; "
            "y = Matmul r w; out y", "r.folded = Reshape x [shape=6,4 layout=@layout(**)]; y = Matmul r.folded w; out y");
    BECOMES("x: 2 6; w: params 2 5; v: params 4 5; s: params 6; n = Multiply x s; a, b = Split n [sections=2,4 axis=1]; "
            "y = Matmul a w; z = Matmul b v; out y z",
            "a.folded, b.folded = Split x [sections=2,4 axis=1]; y = Matmul a.folded w; z = Matmul b.folded v; out y z");
    BECOMES("x: 2 3; z: 2 4; w: params 7 5; s: 3; n = Multiply x s; c = Concat n z [axis=1]; y = Matmul c w; out y",
            "c.folded = Concat x z [axis=1]; y = Matmul c.folded w; out y");
    BECOMES("x: 2 3; z: 2 4; w: params 7 5; s: params 3; n = Add x s; c = Concat z n [axis=-1]; y = Matmul c w; out y",
            "c.folded = Concat z x; y = Matmul c.folded w y.bias; out y");
    /* not along a dim that they change */
    STAYS("x: 2 6; w: params 3 5; s: params 6; n = Multiply x s; r = Reshape n [shape=4,3 layout=@layout(**)]; "
          "y = Matmul r w; out y");
    STAYS("x: 2 6; w: params 3 5; s: params 6; n = Multiply x s; r = Slice n [begin=0,3 end=2,6 stride=1,1]; "
          "y = Matmul r w; out y");
    STAYS("x: 2 3; z: 4 3; w: params 3 5; s: params 3; n = Multiply x s; c = Concat n z [axis=0]; y = Matmul c w; out y");
    STAYS(IMAGE "s: 3; n = Multiply x s; p = MaxPool2d n [pool_width=2 pool_height=2]; y = Conv2d p w; out y");
}

static void factors_of_factors_are_one(void **state) {
    (void)state;
    BECOMES("x: 3 4; s: 3; t: 5; n = Multiply x s; y = Multiply n t; out y", "y = Multiply x t; out y");
    BECOMES("x: 3 4; s: 3; t: params 3 4; n = Multiply x s; y = Multiply t n; out y", "y = Multiply t x; out y");
    BECOMES("x: 3 4; s: params 4; t: 5; n = Multiply x s; y = Multiply n t; out y", "y = Multiply x t; out y");
    BECOMES("x: 3 4; s: 3; t: params 4 = 1 2 3 4; n = Multiply x s; y = Div n t; out y", "y = Multiply x t; out y");
    BECOMES("x: 3 4; s: 3; t: params 4; n = Add x s; y = Add t n [alpha=2 beta=-3]; out y",
            "y = Add t x [alpha=2 beta=-3]; out y");
    BECOMES("x: 3 4; s: -3; t: 0; n = Multiply x s; y = Div n t; out y", "y = Div x t; out y");     /* by -0 then */
    STAYS("x: 3 4; s: 3; t: 5; n = Multiply x s; y = Multiply n t; out y n");
    STAYS("x: 3 4; s: 3; t: 0; n = Multiply x s; y = Div t n; out y");
    BECOMES("x: 3 4; s: 0; t: 5; n = Multiply x s; y = Div n t; out y", "y = Multiply x t; out y");   /* not t / 0 */
    STAYS("x: 3 4; s: 1e30; t: 1e30; n = Multiply x s; y = Multiply n t; out y");
    STAYS("x: 3 4; s: 1e-30; t: 1e-30; n = Multiply x s; y = Multiply n t; out y");
    STAYS("x: 3 4; s: 3; z: 3 4; n = Add x s; y = Multiply n z; out y");
}

static void a_quotient_that_remains_is_a_product(void **state) {
    (void)state;
    BECOMES("x: 3 4; y = DivideScalar x [divisor=3]; out y", "y = Multiply x %2; out y");
    BECOMES("x: []; y = DivideScalar x [divisor=3]; out y", "y = Multiply x %2; out y");
    BECOMES("x: 3 4; t: params 4 = 1 2 -3 4; y = Div x t; out y", "y = Multiply x t; out y");
    BECOMES("x: 3 4; t: 7; y = Div x t; z = Div x t; out y z", "y = Multiply x t/y; z = Multiply x t; out y z");
    STAYS("x: fp16 3 4; t: params fp16 1 = 7; y = Div x t; out y");
    STAYS("x: 3 4; y = DivideScalar x [divisor=3 rounding_mode=FLOOR]; out y");
    STAYS("x: 3 4; t: params 4 = 1 2 0 4; y = Div x t; out y");
    STAYS("x: 3 4; t: params 4 = 1 2 inf 4; y = Div x t; out y");
    STAYS("x: 3 4; t: params 4 = 1 2 nan 4; y = Div x t; out y");
    STAYS("x: 3 4; t: 3e38; y = Div x t; out y");               /* the reciprocal is not normal */
    STAYS("x: 3 4; t: params 4 = none; y = Div x t; out y");
    STAYS("x: 3 4; t: 3; y = Div t x; out y");
    STAYS("x: sint32 3 4; t: params sint32 1 = 3; y = Div x t [rounding_mode=FLOOR]; out y");
    STAYS("x: 1 4; t: params 3 4; y = Div x t; out y");         /* it broadcasts */
}

static void a_power_of_one_half_is_a_root(void **state) {
    (void)state;
    BECOMES("x: 3 4; t: 0.5; y = Pow x t; out y", "y = Sqrt x; out y");
    STAYS("x: 3 4; t: -0.5; y = Pow x t; out y");
    STAYS("x: 3 4; t: params 4 = 0.5 0.5 0.5 2; y = Pow x t; out y");
    STAYS("x: 3 4; t: 0.5; y = Pow t x; out y");
}

static void an_image_of_one_cell_is_copied(void **state) {
    (void)state;
    BECOMES("x: NHWC 2 1 1 3; y = Upsample x [height=4 width=5 interpolation=BILINEAR]; out y",
            "y = Upsample x [height=4 width=5]; out y");
    BECOMES("x: NCHW 2 3 1 1; y = Upsample x [height=4 width=5 interpolation=BICUBIC align_corners=true]; out y",
            "y = Upsample x [height=4 width=5]; out y");
    STAYS("x: NHWC 1 1 2 3; y = Upsample x [height=4 width=5 interpolation=BILINEAR]; out y");
    STAYS("x: NHWC 1 -1 1 3; y = Upsample x [height=4 width=5 interpolation=BILINEAR]; out y");
    STAYS("x: NHWC 1 1 1 3; y = Upsample x [height=4 width=5 align_corners=true]; out y");
}

/* ---- addends ----------------------------------------------------------------------------------------------------- */

static void an_addend_goes_into_the_bias(void **state) {
    (void)state;
    BECOMES(IMAGE "s: 0.5; n = Add x s; y = Conv2d n w; out y", "y = Conv2d x w y.bias; out y");
    BECOMES(IMAGE "b: params 6; s: 0.5; n = Add x s [alpha=2 beta=3]; y = Conv2d n w b; out y", "y = Conv2d x w b; out y");
    BECOMES("x: 3 4; w: params 4 5; s: 0.5; n = Add x s; y = Matmul n w; out y", "y = Matmul x w y.bias; out y");
    BECOMES("x: NHWC 1 5 6 4; w: params HWIO 1 1 4 6; s: 3; n = Add x s; a = Mean n [dim=1,2 keepdim=true]; "
            "y = Conv2d a w; out y", "a.folded = Mean x [dim=1,2 keepdim=true]; y = Conv2d a.folded w y.bias; out y");
    STAYS(IMAGE "s: 0.5; n = Add x s; y = Conv2d n w " PADDED "; out y");
    STAYS("x: NHWC 1 5 6 4; w: params HWOI 3 3 6 4; s: 3; n = Add x s; y = ConvTranspose2d n w; out y");
    STAYS("x: 2 3 4; w: params 2 4 5; s: 3; n = Add x s; y = Matmul n w; out y");             /* a bias for each matrix */
    STAYS(IMAGE "s: 3; n = Add x s; p = AvgPool2d n [pool_width=2 pool_height=2 pad_left=1]; y = Conv2d p w; out y");
    STAYS(IMAGE "s: 3; n = Add x s; p = Sum n [dim=1,2 keepdim=true]; q = Multiply p p; y = Add q q; out y");
}

static void before_padding_the_factor_goes_and_the_addend_is_divided(void **state) {
    (void)state;
    BECOMES(IMAGE "s: 4; t: params 1 = 2; n = Multiply x s; a = Add n t; y = Conv2d a w " PADDED "; out y",
            "a.folded = Add x t; y = Conv2d a.folded w " PADDED "; out y");
    BECOMES(IMAGE "s: params 4 = 1 2 4 8; t: params 1 = 2; n = Multiply x s; a = Add n t; y = Conv2d a w " PADDED "; out y",
            "a.folded = Add x t; y = Conv2d a.folded w " PADDED "; out y");
    BECOMES(IMAGE "s: 4; t: 2; n = Multiply x s; a = Add n t; y = Conv2d a w; out y", "y = Conv2d x w y.bias; out y");
    STAYS(IMAGE "s: 0; t: 2; n = Multiply x s; a = Add n t; y = Conv2d a w " PADDED "; out y");
    STAYS(IMAGE "s: params 4 = 1 0 1 1; t: 2; n = Multiply x s; a = Add n t; y = Conv2d a w " PADDED "; out y");
    STAYS(IMAGE "s: 1e-30; t: 1e30; n = Multiply x s; a = Add n t; y = Conv2d a w " PADDED "; out y");
    STAYS(IMAGE "s: 4; z: 1; n = Multiply x s; a = Add n z; r = ReLU a; y = Conv2d r w " PADDED "; out y");
    STAYS(IMAGE "s: 4; z: NHWC 1 5 6 4; n = Multiply x s; a = Add n z; y = Conv2d a w " PADDED "; out y");
}

static void halves_keep_their_precision(void **state) {
    (void)state;
    BECOMES("x: fp16 3 2; w: params fp16 2 2 = 1 2 3 4; s: params fp16 1 = 0.5; n = Multiply x s; y = Matmul n w; out y",
            "y = Matmul x w; out y");
    STAYS("x: fp16 3 2; w: params fp16 2 2 = 1 2 3 4; s: params fp16 1 = 60000; n = Multiply x s; y = Matmul n w; out y");
    STAYS("x: fp16 3 2; w: params fp16 2 2 = 1 2 0.001 0.002; s: params fp16 1 = 0.001; n = Multiply x s; "
          "y = Matmul n w; out y");
}

/* ---- norms ------------------------------------------------------------------------------------------------------- */

static void factors_of_norms_go_into_products(void **state) {
    (void)state;
    BECOMES("x: 3 4; g: params 4; b: params 4; w: params 4 5; n = LayerNorm x [axis=-1 gamma=g beta=b]; "
            "y = Matmul n w; out y", "n.folded = LayerNorm x [axis=-1]; y = Matmul n.folded w y.bias; out y");
    BECOMES("x: 2 3 4; g: params 4; w: params 4 5; v: params 4 2; n = RMSNorm x [axis=2 gamma=g]; y = Matmul n w; "
            "z = Matmul n v; out y z", "n.folded = RMSNorm x [axis=2]; y = Matmul n.folded w; z = Matmul n.folded v; out y z");
    BECOMES("x: 2 3 4; g: params 4; w: params 4 5; n = LayerNorm x [axis=2 gamma=g]; "
            "r = Reshape n [shape=6,4 layout=@layout(**)]; y = Matmul r w; out y",
            "n.folded = LayerNorm x [axis=2]; r.folded = Reshape n.folded [shape=6,4 layout=@layout(**)]; y = Matmul r.folded w; out y");
    STAYS("x: 3 4; g: params 4; w: params 4 5; n = LayerNorm x [axis=-1 gamma=g]; y = Matmul n w; out y n");
    STAYS("x: 3 4; g: params 12; w: params 4 5; n = LayerNorm x [axis=0,1 gamma=g]; y = Matmul n w; out y");
    STAYS("x: 3 4; g: params 3; w: params 4 5; n = LayerNorm x [axis=0 gamma=g]; y = Matmul n w; out y");
    STAYS("x: 3 4; w: params 4 5; n = LayerNorm x [axis=1]; y = Matmul n w; out y");
    STAYS("x: 3 4; g: params 4 = none; w: params 4 5; n = LayerNorm x [axis=1 gamma=g]; y = Matmul n w; out y");
    STAYS("x: 3 4; g: params 4; w: params 4 5; z: 3 4; n = RMSNorm x [axis=1 gamma=g]; a = Add n z; y = Matmul a w; out y");
}

/* ---- padding ----------------------------------------------------------------------------------------------------- */

static void a_pad_is_the_padding_of_windows(void **state) {
    (void)state;
    BECOMES(IMAGE "p = Pad x [padding=0,0,1,2,3,4,0,0]; y = Conv2d p w; out y",
            "y = Conv2d x w [pad_top=1 pad_bottom=2 pad_left=3 pad_right=4]; out y");
    BECOMES(IMAGE "b: params 6; p = Pad x [padding=0,0,1,0,0,0,0,0]; y = Conv2d p w b [pad_top=1 stride_width=2]; out y",
            "y = Conv2d x w b [stride_width=2 pad_top=2]; out y");
    BECOMES("x: NCHW 1 4 5 6; w: params OIHW 6 4 3 3; p = Pad x [padding=0,0,0,0,1,1,2,2]; y = Conv2d p w; out y",
            "y = Conv2d x w [pad_top=1 pad_bottom=1 pad_left=2 pad_right=2]; out y");
    BECOMES("x: NHWC 1 5 6 4; p = Pad x [padding=0,0,1,0,1,0,0,0]; y = AvgPool2d p [pool_width=2 pool_height=2]; out y",
            "y = AvgPool2d x [pool_width=2 pool_height=2 pad_top=1 pad_left=1 count_include_pad=true]; out y");
    BECOMES("x: NHWC 1 5 6 4; p = Pad x [padding=0,0,1,0,1,0,0,0 value=-inf]; "
            "y = MaxPool2d p [pool_width=2 pool_height=2 stride_width=2]; out y",
            "y = MaxPool2d x [pool_width=2 pool_height=2 stride_width=2 pad_top=1 pad_left=1]; out y");
    /* two convolutions share it */
    BECOMES(IMAGE "v: params HWIO 1 1 4 2; p = Pad x [padding=0,0,1,1,1,1,0,0]; y = Conv2d p w; z = Conv2d p v; out y z",
            "y = Conv2d x w " PADDED "; z = Conv2d x v " PADDED "; out y z");
    STAYS(IMAGE "p = Pad x [padding=0,0,1,1,1,1,0,0 value=0.5]; y = Conv2d p w; out y");
    STAYS(IMAGE "p = Pad x [padding=0,0,1,1,1,1,0,0 mode=REFLECTION]; y = Conv2d p w; out y");
    STAYS(IMAGE "p = Pad x [padding=0,0,2,-1,1,1,0,0]; y = Conv2d p w; out y");
    STAYS(IMAGE "p = Pad x [padding=0,1,1,1,1,1,0,0]; y = Conv2d p w; out y");
    STAYS(IMAGE "p = Pad x [padding=0,0,1,1,1,1,0,0]; y = Conv2d p w [pad_top=1 padding_mode=REFLECT]; out y");
    STAYS("x: NHWC 1 5 6 4; p = Pad x [padding=0,0,1,1,1,1,0,0]; y = MaxPool2d p [pool_width=2 pool_height=2]; out y");
    STAYS("x: NHWC 1 5 6 4; p = Pad x [padding=0,0,1,1,1,1,0,0]; y = AvgPool2d p [pool_width=2 pool_height=2 pad_left=1]; out y");
}

/* ---- orders ------------------------------------------------------------------------------------------------------ */

static void an_order_goes_into_the_weights(void **state) {
    (void)state;
    BECOMES(IMAGE "n = SwapOrder x [order=2,0,3,1]; y = Conv2d n w " PADDED "; out y", "y = Conv2d x w " PADDED "; out y");
    BECOMES(IMAGE "n = ChannelShuffle x [groups=2]; y = Conv2d n w; out y", "y = Conv2d x w; out y");
    BECOMES("x: 3 4; i: params sint64 4 = 1 -1 0 2; w: params 4 5; v: params 4 2; n = Gather x i [axis=1]; r = ReLU n; "
            "y = Matmul r w; z = Matmul n v; out y z", "r.folded = ReLU x; y = Matmul r.folded w; z = Matmul x v; out y z");
    BECOMES(IMAGE "n = SwapOrder x [order=1,0,3,2 axis=3]; p = MaxPool2d n [pool_width=2 pool_height=2]; "
            "m = Mean p [dim=1 keepdim=true]; y = Conv2d m w [pad_top=1 pad_bottom=1]; out y",
            "p.folded = MaxPool2d x [pool_width=2 pool_height=2]; m.folded = Mean p.folded [dim=1 keepdim=true]; "
            "y = Conv2d m.folded w [pad_top=1 pad_bottom=1]; out y");
    STAYS(IMAGE "n = SwapOrder x [order=2,0,3,1]; y = Conv2d n w; out y n");
    STAYS(IMAGE "n = SwapOrder x [order=1,0,2,3,4,5 axis=2]; y = Conv2d n w; out y");                 /* along W */
    STAYS(IMAGE "n = SwapOrder x [order=2,0,3,1]; s = Softmax n; y = Conv2d s w; out y");
    STAYS(IMAGE "n = SwapOrder x [order=2,0,3,1]; y = Conv2d n w; z = Conv2d x w; out y z");
    STAYS("x: 3 4; i: params sint64 4 = 1 1 0 2; w: params 4 5; n = Gather x i [axis=1]; y = Matmul n w; out y");
    STAYS("x: 3 4; i: params sint64 4 = none; w: params 4 5; n = Gather x i [axis=1]; y = Matmul n w; out y");
    STAYS("x: 3 4; i: sint64 4; w: params 4 5; n = Gather x i [axis=1]; y = Matmul n w; out y");
    STAYS("x: NHWC 1 5 6 4; d: params HWIO 3 3 1 4; n = SwapOrder x [order=2,0,3,1]; y = Conv2d n d [groups=4]; out y");
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void failing_allocations_leave_the_numbers(void **state) {
    static const char *const networks[] = {
        IMAGE "s: 4; t: params 4; v: params HWIO 1 1 6 4; g: params 6; n = Multiply x s; a = Add n t; "
        "p = Pad a [padding=0,0,1,1,1,1,0,0]; c = Conv2d p w; m = RMSNorm c [axis=3 gamma=g]; y = Conv2d m v; out y",
        /* several products, of which one gets a bias and one keeps its own; values on the way, with long names too */
        IMAGE "v: params HWIO 1 1 4 2; b: params 2 = 1 2; s: params 4 = 2 -2 4 8; n = Multiply x s; a = Add n s; "
              "m = Mean a [dim=1,2 keepdim=true]; k = Conv2d m v b; y = Conv2d a w; z = Conv2d a v; out k y z",
        /* a norm: its gamma and beta go last */
        "x: 3 4; g: params 4 = 2 4 -8 2; t: params 4 = 1 2 3 4; w: params 4 5; v: params 4 6; "
        "n = LayerNorm x [axis=1 gamma=g beta=t]; y = Matmul n w; z = Matmul n v; out y z",
        /* an order of channels */
        IMAGE "v: params HWIO 1 1 4 2; n = SwapOrder x [axis=3 order=2,0,3,1]; r = ReLU n; y = Conv2d r w; z = Conv2d n v; "
              "out y z",
        /* an operand that is not a weight */
        "x: 2 3 4; p: params 4 = 1 2 3 4; q: params 4 5; s: 4; n = Multiply x s; m = Multiply n p; c = Add n p; "
        "e = Matmul c q; out m e",
    };
    (void)state;
    numbers_survive(networks, COUNT(networks));
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_factor_goes_into_the_next_product),
        cmocka_unit_test(other_factors_stay),
        cmocka_unit_test(all_users_take_it_up),
        cmocka_unit_test(factors_pass_ops_that_are_linear),
        cmocka_unit_test(factors_of_factors_are_one),
        cmocka_unit_test(a_quotient_that_remains_is_a_product),
        cmocka_unit_test(an_image_of_one_cell_is_copied),
        cmocka_unit_test(a_power_of_one_half_is_a_root),
        cmocka_unit_test(an_addend_goes_into_the_bias),
        cmocka_unit_test(before_padding_the_factor_goes_and_the_addend_is_divided),
        cmocka_unit_test(halves_keep_their_precision),
        cmocka_unit_test(factors_of_norms_go_into_products),
        cmocka_unit_test(a_pad_is_the_padding_of_windows),
        cmocka_unit_test(an_order_goes_into_the_weights),
        cmocka_unit_test(failing_allocations_leave_the_numbers),
    };
    return RUN_GROUP(tests);
}
