/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pass `fold-batchnorm`: networks before and after it, with the same numbers; and networks that it must not
 * change. */
#define TESTED "fold-batchnorm"
#include "passes/scarce_numbers.h"

/* ---- after ------------------------------------------------------------------------------------------------------ */

#define IMAGE "x: NHWC 1 5 6 4; "
#define NORM4 "v: params 4; m: params 4; "

static void after_a_convolution(void **state) {
    (void)state;
    BECOMES(IMAGE "w: params HWIO 3 3 4 4; " NORM4 "c = Conv2d x w [pad_left=1 pad_right=1]; y = BatchNorm2d c [variance=v mean=m]; out y",
            "y = Conv2d x w c.bias [pad_left=1 pad_right=1]; out y");
    BECOMES(IMAGE "w: params HWIO 3 3 4 4; b: params 4; " NORM4 "c = Conv2d x w b; y = BatchNorm2d c [variance=v mean=m]; r = ReLU y; out r",
            "y = Conv2d x w b; r = ReLU y; out r");
    BECOMES("x: NCHW 1 4 5 6; w: params OIHW 4 4 3 3; " NORM4 "c = Conv2d x w; y = BatchNorm2d c [variance=v mean=m]; out y",
            "y = Conv2d x w c.bias; out y");
    BECOMES("x: NLC 2 7 4; w: params LIO 3 4 4; " NORM4 "c = Conv1d x w; y = BatchNorm1d c [variance=v mean=m]; out y", "y = Conv1d x w c.bias; out y");
    BECOMES("x: NDHWC 1 3 4 5 4; w: params DHWIO 2 2 2 4 4; " NORM4 "c = Conv3d x w; y = BatchNorm3d c [variance=v mean=m]; out y",
            "y = Conv3d x w c.bias; out y");
}

static void in_groups(void **state) {
    (void)state;
    BECOMES(IMAGE "w: params HWIO 3 3 1 4; " NORM4 "c = Conv2d x w [groups=4]; y = BatchNorm2d c [variance=v mean=m]; out y",
            "y = Conv2d x w c.bias [groups=4]; out y");
    BECOMES(IMAGE "w: params HWIO 3 3 2 6; v: params 6; m: params 6; c = Conv2d x w [groups=2]; y = BatchNorm2d c [variance=v mean=m]; out y",
            "y = Conv2d x w c.bias [groups=2]; out y");
}

static void after_a_transposed_convolution(void **state) {
    (void)state;
    BECOMES(IMAGE "w: params HWOI 3 3 6 4; v: params 6; m: params 6; c = ConvTranspose2d x w [stride_width=2 stride_height=2 pad_top=1]; "
            "y = BatchNorm2d c [variance=v mean=m]; out y", "y = ConvTranspose2d x w c.bias [stride_width=2 stride_height=2 pad_top=1]; out y");
    BECOMES(IMAGE "w: params HWOI 3 3 3 4; b: params 6; v: params 6; m: params 6; c = ConvTranspose2d x w b [groups=2]; "
            "y = BatchNorm2d c [variance=v mean=m]; out y", "y = ConvTranspose2d x w b [groups=2]; out y");
}

static void after_a_product(void **state) {
    (void)state;
    BECOMES("x: NC 3 5; w: params 5 4; " NORM4 "c = Matmul x w; y = BatchNorm1d c [variance=v mean=m]; out y", "y = Matmul x w c.bias; out y");
    BECOMES("x: NC 3 5; w: params 5 4; b: params 4; " NORM4 "c = Matmul x w b; y = BatchNorm1d c [variance=v mean=m]; out y", "y = Matmul x w b; out y");
    BECOMES("x: NC 3 5; w: params 5 4; b: 2; " NORM4 "c = Matmul x w b; y = BatchNorm1d c [variance=v mean=m]; out y", "y = Matmul x w c.bias; out y");
    BECOMES("x: 2 3 5; w: params 2 5 4; s: params 4; c = Matmul x w; y = Multiply c s; out y", "y = Matmul x w; out y");
    STAYS("x: NC 3 5; w: params 5 4; b: params 3 4; " NORM4 "c = Matmul x w b; y = BatchNorm1d c [variance=v mean=m]; out y");
    STAYS("x: NC 3 5; z: 5 4; " NORM4 "c = Matmul x z; y = BatchNorm1d c [variance=v mean=m]; out y");
    STAYS("x: 5 4; w: params NC 3 5; " NORM4 "c = Matmul w x; y = BatchNorm1d c [variance=v mean=m]; out y");
    STAYS("x: NCL 3 4 5; w: params 5 4; " NORM4 "c = Matmul x w; y = BatchNorm1d c [variance=v mean=m]; out y");   /* its channels are not the columns */
}

static void one_after_the_other(void **state) {
    (void)state;
    BECOMES(IMAGE "w: params HWIO 3 3 4 4; u: params HWIO 1 1 4 4; " NORM4 "c = Conv2d x w; n = BatchNorm2d c [variance=v mean=m]; d = Conv2d n u; "
            "y = BatchNorm2d d [variance=v mean=m]; out y", "n = Conv2d x w c.bias; y = Conv2d n u d.bias; out y");
    BECOMES(IMAGE "w: params HWIO 3 3 4 4; " NORM4 "c = Conv2d x w; n = BatchNorm2d c [variance=v mean=m]; y = BatchNorm2d n [variance=m mean=v]; out y",
            "y = Conv2d x w c.bias; out y");
}

static void other_constants_of_channels(void **state) {
    (void)state;
    BECOMES(IMAGE "w: params HWIO 3 3 4 4; s: params 4; c = Conv2d x w; y = Multiply c s; out y", "y = Conv2d x w; out y");
    BECOMES(IMAGE "w: params HWIO 3 3 4 4; s: params NHWC 1 1 1 4; c = Conv2d x w; y = Multiply s c; out y", "y = Conv2d x w; out y");
    BECOMES("x: NCHW 1 4 5 6; w: params OIHW 4 4 3 3; s: params 4 1 1; t: 0.5; c = Conv2d x w; n = Add c s; y = Multiply n t; out y", "y = Conv2d x w c.bias; out y");
    BECOMES(IMAGE "w: params HWIO 3 3 4 4; s: params 4; c = Conv2d x w; y = Add c s [alpha=2 beta=-3]; out y", "y = Conv2d x w c.bias; out y");
    BECOMES(IMAGE "w: params HWIO 3 3 4 4; b: params 4; s: params 4; c = Conv2d x w b; y = Add s c [alpha=2 beta=-3]; out y", "y = Conv2d x w b; out y");
    BECOMES(IMAGE "w: params HWIO 3 3 4 4; s: params 4 = 1 2 3 4; c = Conv2d x w; d = Div c s; y = DivideScalar d [divisor=3]; out y", "y = Conv2d x w; out y");
    STAYS(IMAGE "w: params HWIO 3 3 4 4; s: params 4 = 1 2 3 4; c = Conv2d x w; y = Div s c; out y");
    STAYS(IMAGE "w: params HWIO 3 3 4 4; s: params 3 4 4; c = Conv2d x w; y = Multiply c s; out y");        /* per position */
    STAYS(IMAGE "w: params HWIO 3 3 4 4; s: params 2 1 1 4; c = Conv2d x w; y = Multiply c s; out y");      /* per sample: it broadcasts */
    STAYS("x: NCHW 1 4 5 6; w: params OIHW 4 4 3 3; s: params 4; c = Conv2d x w; y = Multiply c s; out y"); /* along W */
    STAYS(IMAGE "w: params HWIO 3 3 4 4; c = Conv2d x w; y = DivideScalar c [divisor=3 rounding_mode=FLOOR]; out y");
}

static void values_with_other_users(void **state) {
    (void)state;
    STAYS(IMAGE "w: params HWIO 3 3 4 4; " NORM4 "c = Conv2d x w; y = BatchNorm2d c [variance=v mean=m]; out y c");
    STAYS(IMAGE "w: params HWIO 3 3 4 4; " NORM4 "c = Conv2d x w; y = BatchNorm2d c [variance=v mean=m]; z = Add c y; out z");
    /* Weights that two convolutions share are copied: the other one keeps them. */
    BECOMES(IMAGE "w: params HWIO 3 3 4 4; " NORM4 "c = Conv2d x w; y = BatchNorm2d c [variance=v mean=m]; d = Conv2d x w; out y d",
            "y = Conv2d x w/c c.bias; d = Conv2d x w; out y d");
    BECOMES(IMAGE "w: params HWIO 3 3 4 4; b: params 4; " NORM4 "c = Conv2d x w b; y = BatchNorm2d c [variance=v mean=m]; d = Conv2d x w b; "
            "z = BatchNorm2d d [variance=m mean=v]; out y z", "y = Conv2d x w/c b/c; z = Conv2d x w b; out y z");
}

static void missing_constants_and_bytes(void **state) {
    (void)state;
    STAYS(IMAGE "w: HWIO 3 3 4 4; " NORM4 "c = Conv2d x w; y = BatchNorm2d c [variance=v mean=m]; out y");
    STAYS(IMAGE "w: params HWIO 3 3 4 4; b: fp32 4; " NORM4 "c = Conv2d x w b; y = BatchNorm2d c [variance=v mean=m]; out y");
    STAYS(IMAGE "w: params HWIO 3 3 4 4 = none; " NORM4 "c = Conv2d x w; y = BatchNorm2d c [variance=v mean=m]; out y");
    STAYS(IMAGE "w: params HWIO 3 3 4 4; v: params 4 = none; m: params 4; c = Conv2d x w; y = BatchNorm2d c [variance=v mean=m]; out y");
}

/* ---- before ----------------------------------------------------------------------------------------------------- */

static void in_front_of_a_convolution(void **state) {
    (void)state;
    BECOMES(IMAGE "w: params HWIO 3 3 4 6; " NORM4 "n = BatchNorm2d x [variance=v mean=m]; y = Conv2d n w; out y", "y = Conv2d x w y.bias; out y");
    BECOMES(IMAGE "w: params HWIO 3 3 4 6; b: params 6; " NORM4 "n = BatchNorm2d x [variance=v mean=m]; y = Conv2d n w b [stride_width=2]; out y",
            "y = Conv2d x w b [stride_width=2]; out y");
    BECOMES(IMAGE "w: params HWIO 3 3 2 6; " NORM4 "n = BatchNorm2d x [variance=v mean=m]; y = Conv2d n w [groups=2]; out y",
            "y = Conv2d x w y.bias [groups=2]; out y");
    BECOMES(IMAGE "w: params HWIO 3 3 4 6; " NORM4 "n = BatchNorm2d x [variance=v mean=m]; y = Conv2d n w [pad_top=1 pad_left=2 padding_mode=REFLECT]; out y",
            "y = Conv2d x w y.bias [pad_top=1 pad_left=2 padding_mode=REFLECT]; out y");
    BECOMES(IMAGE "w: params HWIO 3 3 4 6; " NORM4 "n = BatchNorm2d x [variance=v mean=m]; y = Conv2d n w [pad_top=-1]; out y",
            "y = Conv2d x w y.bias [pad_top=-1]; out y");
    BECOMES("x: NC 3 4; w: params 4 5; " NORM4 "n = BatchNorm1d x [variance=v mean=m]; y = Matmul n w; out y", "y = Matmul x w y.bias; out y");
    BECOMES("x: 2 3 4; w: params 2 4 5; s: params 4; n = Multiply x s; y = Matmul n w; out y", "y = Matmul x w; out y");
}

static void not_where_padding_is_read(void **state) {
    (void)state;
    STAYS(IMAGE "w: params HWIO 3 3 4 6; " NORM4 "n = BatchNorm2d x [variance=v mean=m]; y = Conv2d n w [pad_top=1]; out y");
    STAYS(IMAGE "w: params HWIO 3 3 4 6; " NORM4 "n = BatchNorm2d x [variance=v mean=m]; y = Conv2d n w [pad_right=1]; out y");
    STAYS(IMAGE "w: params HWOI 3 3 6 4; " NORM4 "n = BatchNorm2d x [variance=v mean=m]; y = ConvTranspose2d n w; out y");
    STAYS("x: 3 4; w: params 4 5; half: 0.5; n = Multiply x half; y = Matmul n w; out y");                  /* it may belong to an activation */
    STAYS("x: 3 4; w: params 4 5; n = DivideScalar x [divisor=6]; y = Matmul n w; out y");
    STAYS("x: 2 3 4; w: params 2 4 5; s: params 4; n = Add x s; y = Matmul n w; out y");                    /* there would be one bias per matrix */
    /* Without an addend zeros stay zeros. */
    BECOMES(IMAGE "w: params HWIO 3 3 4 6; v: params 4; z: params 4 = 0 0 0 0; n = BatchNorm2d x [variance=v mean=z]; y = Conv2d n w [pad_top=1]; out y",
            "y = Conv2d x w [pad_top=1]; out y");
    BECOMES(IMAGE "w: params HWOI 3 3 6 4; s: params 4; n = Multiply x s; y = ConvTranspose2d n w [stride_width=2]; out y",
            "y = ConvTranspose2d x w [stride_width=2]; out y");
    BECOMES(IMAGE "w: params HWOI 3 3 3 4; s: params 4; n = Multiply x s; y = ConvTranspose2d n w [groups=2]; out y", "y = ConvTranspose2d x w [groups=2]; out y");
    STAYS(IMAGE "w: params HWIO 3 3 4 6; " NORM4 "n = BatchNorm2d x [variance=v mean=m]; y = Conv2d n w; r = ReLU n; out y r");
    STAYS(IMAGE "w: params HWIO 3 3 4 6; " NORM4 "n = BatchNorm2d x [variance=v mean=m]; y = Conv2d n w; z = Conv2d n w; out y z");
}

/* ---- transposes between ----------------------------------------------------------------------------------------- */

static void between_transposes_of_a_conversion(void **state) {
    (void)state;
    BECOMES("x: NCHW 1 4 5 6; w: params HWIO 3 3 4 4; " NORM4 "a = Transpose x [dims=0,2,3,1 layout=@layout(NHWC)]; c = Conv2d a w; "
            "d = Transpose c [dims=0,3,1,2 layout=@layout(NCHW)]; e = Transpose d [dims=0,2,3,1 layout=@layout(NHWC)]; "
            "n = BatchNorm2d e [variance=v mean=m]; y = Transpose n [dims=0,3,1,2 layout=@layout(NCHW)]; out y",
            "a = Transpose x [dims=0,2,3,1 layout=@layout(NHWC)]; n = Conv2d a w c.bias; y = Transpose n [dims=0,3,1,2 layout=@layout(NCHW)]; out y");
    BECOMES("x: NHWC 1 5 6 4; w: params HWIO 3 3 4 4; " NORM4 "n = BatchNorm2d x [variance=v mean=m]; "
            "d = Transpose n [dims=0,3,1,2 layout=@layout(NCHW)]; e = Transpose d [dims=0,2,3,1 layout=@layout(NHWC)]; y = Conv2d e w; out y",
            "y = Conv2d x w y.bias; out y");
    STAYS("x: NHWC 1 5 4 4; w: params HWIO 3 1 4 4; " NORM4 "c = Conv2d x w; d = Transpose c [dims=0,3,1,2 layout=@layout(NCHW)]; "
          "e = Transpose d [dims=0,3,2,1 layout=@layout(NHWC)]; n = BatchNorm2d e [variance=v mean=m]; out n");
}

static void other_elements(void **state) {
    (void)state;
    BECOMES("x: fp64 NHWC 1 5 6 4; w: params fp64 HWIO 3 3 4 4; v: params fp64 4; m: params fp64 4; c = Conv2d x w; y = BatchNorm2d c [variance=v mean=m]; out y",
            "y = Conv2d x w c.bias; out y");
    BECOMES("x: fp16 NC 2 3; w: params fp16 3 2 = 0 0 0 0 0 0; s: params fp16 2 = 0.5 3; c = Matmul x w; y = Multiply c s; out y",
            "y = Matmul x w; out y");
    BECOMES("x: tf32 NC 2 3; w: params tf32 3 2 = 1 2 3 4 5 6; s: params tf32 2 = 0.5 2; c = Matmul x w; y = Multiply c s; out y",
            "y = Matmul x w; out y");
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static void failing_allocations_leave_the_numbers(void **state) {
    static const char *const network =
        "x: NHWC 1 5 6 4; w: params HWIO 3 3 4 4; z: params HWIO 1 1 4 2; b: params 2; v: params 4 = 1 2 3 4; m: params 4; "
        "a = BatchNorm2d x [variance=v mean=m]; c = Conv2d a w; n = BatchNorm2d c [variance=v mean=m]; d = Conv2d n z b; e = Add d b; y = ReLU e; out y";
    (void)state;
    numbers_survive(&network, 1);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_a_convolution),
        cmocka_unit_test(in_groups),
        cmocka_unit_test(after_a_transposed_convolution),
        cmocka_unit_test(after_a_product),
        cmocka_unit_test(one_after_the_other),
        cmocka_unit_test(other_constants_of_channels),
        cmocka_unit_test(values_with_other_users),
        cmocka_unit_test(missing_constants_and_bytes),
        cmocka_unit_test(in_front_of_a_convolution),
        cmocka_unit_test(not_where_padding_is_read),
        cmocka_unit_test(between_transposes_of_a_conversion),
        cmocka_unit_test(other_elements),
        cmocka_unit_test(failing_allocations_leave_the_numbers),
    };
    return RUN_GROUP(tests);
}
