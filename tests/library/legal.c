/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The rules of Buyi and Zhuge: for each a small network that breaks it and no other, and a legal neighbour. */
#include <math.h>
#include <xir/icraft.h>
#include <xir/legal.h>
#include "support/story.h"

/* The network that breaks a rule, and one that does not. `typed` asks rules about elements; `int8` quantises the maps
 * first. */
typedef struct row {
    const char *rule, *broken, *legal;
    enum { PLAIN, TYPED, INT8 } how;
    xir_network *(*make)(bool broken);    /* instead of the texts */
} row;

/* A map that is padded along these dims, by as many ops or by one, and pruned again. */
static xir_value *align(xir_value *x, const int64_t *dims, size_t n) {
    static const int64_t unit = 8;
    const xir_object *units[2];
    for (size_t i = 0; i < n; i++) {
        xir_aligned_unit u = xir_aligned_unit_init();
        u.index = (xir_i64s){ &dims[i], 1 };
        u.unit = (xir_i64s){ &unit, 1 };
        units[i] = (const xir_object *)xir_aligned_unit_make(ctx, &u, why);
    }
    return XIR_OP(xir_at_end(xir_value_network(x)), align_axis, .input = x,
                  .attrs = XIR_ATTRS(align_axis, (aligned_units, (xir_refs){ units, n })));
}

static xir_value *prune(xir_value *x, const int64_t *which, size_t n) {
    return XIR_OP(xir_at_end(xir_value_network(x)), prune_axis, .input = x,
                  .attrs = XIR_ATTRS(prune_axis, (index, (xir_i64s){ which, n })));
}

static xir_network *aligned(bool broken_align, bool broken_prune) {
    static const int64_t dims[] = { 3, 1 }, first[] = { 0, 1 };
    xir_network *net = new_net();
    xir_value *x = xir_input(xir_at_end(net), "x", FP32("NHWC", 1, 3, 4, 5));
    x = broken_align ? align(x, dims, 2) : align(align(x, dims, 1), dims + 1, 1);
    x = broken_prune ? prune(x, first, 2) : prune(prune(x, first, 1), first, 1);
    xir_output(xir_at_end(net), XIR_VALUES(x));
    CHECK_SOUND(net);
    return net;
}

static xir_network *align_two(bool broken) { return aligned(broken, false); }
static xir_network *prune_two(bool broken) { return aligned(false, broken); }

#define MAP8  "x: NHWC 1 8 8 4; "
#define MAP9  "x: NHWC 1 9 9 4; "
#define CONV  "w: params HWIO 3 3 4 8; "
#define TRANS "w: params HWOI 2 2 8 4; "

/* A product of stored numbers, all of them 127 in the weights, or 1: with 144 000 of them for a result of 8 bits, or of
 * a network of 16 bits, the sums exceed 32 bits. */
static xir_network *sums(const char *story, int64_t bits, bool broken) {
    const double one = 0.5;
    xir_network *net = story_net(story);
    xir_op *op = story_op(net, "y");
    const xir_type *element = xir_type_quantized(ctx, xir_scales_from(ctx, &one, 1, -1), NULL, 0,
                                                 xir_type_sint(ctx, bits), NULL);
    const xir_type *type = xir_type_with_element(ctx, xir_value_type(xir_op_input(op, 1)), element, why);
    int64_t n = 0;
    DOES(xir_type_elements(type, &n));
    const size_t size = (size_t)n * (size_t)bits / 8;
    unsigned char *bytes = malloc(size);
    memset(bytes, broken ? 127 : 1, size);
    xir_value *w = xir_params_copy(net, XIR_STR("stored"), type, bytes, size);
    free(bytes);
    DOES(xir_op_set_input(op, 1, w));
    XIR_EACH_OP(each, net) {
        XIR_EACH_OUTPUT(v, each) DOES(xir_value_set_type(v, xir_type_with_element(ctx, xir_value_type(v), element, why)));
    }
    return net;
}

#define DEEP_CONV  "x: NHWC 1 3 3 16000; w: params HWIO 3 3 16000 1; y = Conv2d x w; out y"
#define DEEP_TRANS "x: NHWC 1 3 3 16000; w: params HWOI 3 3 1 16000; y = ConvTranspose2d x w; out y"
static xir_network *conv_sums(bool broken)       { return sums(DEEP_CONV, 8, broken); }
static xir_network *transposed_sums(bool broken) { return sums(DEEP_TRANS, 8, broken); }
static xir_network *wide_sums(bool broken) {
    return sums("x: 1 4; w: params 4 2; y = Matmul x w; out y", broken ? 16 : 8, broken);
}
static xir_network *deep_sums(bool broken) {
    return sums("x: 1 1 144000; w: params 1 144000 2; y = Matmul x w; out y", 8, broken);
}

/* ---- Buyi's scales ----------------------------------------------------------------------------------------------- */

/* n scales m * 2^-e. */
static const xir_scales *exp_scales(int64_t m, int64_t e, size_t n) {
    int64_t ms[8], es[8];
    double origins[8];
    for (size_t i = 0; i < n; i++) {
        ms[i] = m;
        es[i] = e;
        origins[i] = ldexp((double)m, (int)-e);
    }
    return xir_exp_scales_from(ctx, ms, es, origins, n, -1);
}

/* The network with normalised maps of 8 bits, which have the scale m, and with stored weights, if it has some. */
static xir_network *normalised(const char *story, int64_t m, int64_t m_of_weights) {
    xir_network *net = story_net(story);
    XIR_EACH_OP(each, net) {
        XIR_EACH_OUTPUT(v, each) {
            const size_t n = (size_t)xir_type_dim(xir_value_type(v), -1, false);
            const double ratios[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
            const xir_type *real = xir_type_float(ctx, XIR_FLOAT_FP32);
            const xir_type *plain = xir_type_normalized(ctx, xir_norm_ratios_from(ctx, ratios, n, -1),
                                                        xir_type_sint(ctx, 8), real);
            const xir_type *element = xir_type_normalized_quantized(ctx, plain, exp_scales(m, 0, n), NULL, 0);
            DOES(xir_value_set_type(v, xir_type_with_element(ctx, xir_value_type(v), element, why)));
        }
    }
    xir_value *w = xir_op_input(story_op(net, "y"), 1);
    if (!xir_value_is_params(w)) return net;
    const xir_type *element = xir_type_quantized(ctx, exp_scales(m_of_weights, 10, 1), NULL, 0, xir_type_sint(ctx, 8),
                                                 NULL);
    const xir_type *type = xir_type_with_element(ctx, xir_value_type(w), element, why);
    static const char zeros[1000] = "";
    int64_t n = 0;
    DOES(xir_type_elements(type, &n));
    DOES(xir_op_set_input(story_op(net, "y"), 1, xir_params_copy(net, XIR_STR("stored"), type, zeros, (size_t)n)));
    return net;
}

static xir_network *cut(const char *story, bool broken) {
    xir_network *net = normalised(story, 1, 0);
    const xir_scales *scales = exp_scales(broken ? 300 : 200, 10, 4);
    DOES(xir_op_set(story_op(net, "y"), XIR_STR("cut_scale"),
                    &(xir_attr){ .kind = XIR_KIND_REF, .as.ref = (const xir_object *)scales }));
    return net;
}

/* A compiled op with stored weights. */
static xir_network *hard_scales(bool broken) {
    xir_network *net = normalised("x: 1 8; y = ReLU x; out y", 1, 0);
    const xir_type *map = xir_value_type(xir_op_output(story_op(net, "y"), 0));
    const xir_scales *scales = exp_scales(broken ? 100 : 200, 10, 8);
    const xir_type *element = xir_type_quantized(ctx, scales, NULL, 0, xir_type_sint(ctx, 8), NULL);
    static const char zeros[8] = "";
    xir_value *w = xir_params_copy(net, XIR_STR("stored"), xir_type_with_element(ctx, map, element, why), zeros, 8);
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.params = (xir_values){ &w, 1 };
    xir_op *hard = xir_network_add(net, &(xir_op_desc){
        .size = sizeof(xir_op_desc), .cls = xir_class_find_decl(ctx, xir_hard_op_class()), .id = XIR_NO_ID,
        .attrs = &attrs, INPUTS(xir_op_output(story_op(net, "y"), 0)), TYPES(map),
        .before = xir_network_output_op(net) });
    assert_non_null(hard);
    DOES(xir_op_set_input(xir_network_output_op(net), 0, xir_op_output(hard, 0)));
    return net;
}

static xir_network *map_scale(bool broken) { return normalised("x: 1 4; y = ReLU x; out y", broken ? 2 : 1, 0); }
static xir_network *conv_scales(bool broken) {
    return normalised("x: NHWC 1 3 3 4; w: params HWIO 3 3 4 8; y = Conv2d x w; out y", 1, broken ? 300 : 200);
}
static xir_network *transposed_scales(bool broken) {
    return normalised("x: NHWC 1 3 3 4; w: params HWOI 3 3 8 4; y = ConvTranspose2d x w; out y", 1, broken ? 300 : 200);
}
static xir_network *matmul_scales(bool broken) {
    return normalised("x: 2 4; w: params 4 8; y = Matmul x w; out y", 1, broken ? 300 : 200);
}
static xir_network *matmul_cut(bool broken)   { return cut("x: 4 4; z: 4 4; y = Matmul x z; out y", broken); }
static xir_network *multiply_cut(bool broken) { return cut("x: 4 4; z: 4 4; y = Multiply x z; out y", broken); }

static const row buyi[] = {
    { "dims",      "x: 1 70000; y = ReLU x; out y",                                  "x: 1 65535; y = ReLU x; out y" },
    { "open-dims", "x: -1 4; y = ReLU x; out y",                                     "x: 1 4; y = ReLU x; out y" },
    { "elements",  MAP8 "y = ReLU x; out y",                                         MAP8 "y = ReLU x; out y", TYPED },
    { "activation", "x: 1 4; z: 1 4; y = Pow x z; out y",                            "x: 1 4; z: 2; y = Pow x z; out y" },
    { "no-clamp_scalar", MAP8 "y = ClampScalar x [min=0 max=6]; out y",
      MAP8 "y = Hardtanh x [min_val=0 max_val=6]; out y" },
    { "no-log",    MAP8 "y = Log x; out y",                                          MAP8 "y = Sqrt x; out y" },
    { "add-rank",  "x: 2 4; z: 4; y = Add x z; out y",                               "x: 2 4; z: 1 4; y = Add x z; out y" },
    { "add-shape", "x: 2 3 4; z: 2 1 4; y = Add x z; out y",                         "x: 2 3 4; z: 1 1 4; y = Add x z; out y" },
    { "avg-window", "x: NHWC 1 4096 2048 1; y = AvgPool2d x [pool_width=2048 pool_height=2049 stride_height=2047]; out y",
      "x: NHWC 1 4096 2048 2; y = AvgPool2d x [pool_width=2048 pool_height=2048 stride_height=2048]; out y" },
    { "avg-stride", MAP9 "y = AvgPool2d x [pool_width=2 pool_height=3 stride_width=2 stride_height=2]; out y",
      MAP9 "y = AvgPool2d x [pool_width=3 pool_height=3 stride_width=2 stride_height=2]; out y" },
    { "avg-divisor", "x: NHWC 1 64 64 1; y = AvgPool2d x [pool_width=50 pool_height=50 divisor_override=3]; out y",
      "x: NHWC 1 64 64 1; y = AvgPool2d x [pool_width=40 pool_height=50 divisor_override=3]; out y" },
    { "avg-layout", "x: NCHW 1 4 8 8; y = AvgPool2d x [pool_width=2 pool_height=2]; out y",
      MAP8 "y = AvgPool2d x [pool_width=2 pool_height=2]; out y" },
    { "avg-padding", MAP8 "y = AvgPool2d x [pool_width=2 pool_height=2 pad_left=1 count_include_pad=true]; out y",
      MAP8 "y = AvgPool2d x [pool_width=2 pool_height=2 pad_left=1]; out y" },
    { "avg-global", "x: NHWC 1 64 64 1; y = AvgPool2d x [pool_width=64 pool_height=64]; out y",
      "x: NHWC 1 32 64 1; y = AvgPool2d x [pool_width=64 pool_height=32]; out y" },
    { "concat-constants", "x: 1 4; a: params 1 2; b: params 1 2; y = Concat x a b; out y",
      "x: 1 4; a: params 1 2; y = Concat x a x; out y" },
    { "conv-padding", MAP8 CONV "y = Conv2d x w [pad_left=1 padding_mode=REFLECT]; out y",
      MAP8 CONV "y = Conv2d x w [pad_left=1]; out y" },
    { "conv-stride", MAP8 CONV "y = Conv2d x w [stride_width=2]; out y",
      MAP9 CONV "y = Conv2d x w [stride_width=2]; out y" },
    { "conv-kernel", "x: NHWC 1 60 60 1; w: params HWIO 46 46 1 1; y = Conv2d x w [pad_left=1]; out y",
      "x: NHWC 1 60 60 1; w: params HWIO 46 46 1 1; y = Conv2d x w; out y" },
    { "conv-layout", "x: NCHW 1 4 8 8; " CONV "y = Conv2d x w; out y",               MAP8 CONV "y = Conv2d x w; out y" },
    { "transposed-weights", MAP8 "v: HWOI 2 2 8 4; y = ConvTranspose2d x v [stride_width=2 stride_height=2]; out y",
      MAP8 TRANS "y = ConvTranspose2d x w [stride_width=2 stride_height=2]; out y" },
    { "transposed-groups", MAP8 "w: params HWOI 2 2 2 4; y = ConvTranspose2d x w [groups=2]; out y",
      MAP8 TRANS "y = ConvTranspose2d x w; out y" },
    { "transposed-dilation", MAP8 TRANS "y = ConvTranspose2d x w [dilation_width=2]; out y",
      MAP8 TRANS "y = ConvTranspose2d x w; out y" },
    { "transposed-kernel", "x: NHWC 1 60 60 1; w: params HWOI 46 46 1 1; y = ConvTranspose2d x w; out y",
      "x: NHWC 1 60 60 1; w: params HWOI 45 45 1 1; y = ConvTranspose2d x w; out y" },
    { "transposed-stride", MAP9 TRANS "y = ConvTranspose2d x w [stride_width=2]; out y",
      MAP8 TRANS "y = ConvTranspose2d x w [stride_width=2]; out y" },
    { "transposed-layout", "x: NCHW 1 4 8 8; " TRANS "y = ConvTranspose2d x w; out y",
      MAP8 TRANS "y = ConvTranspose2d x w; out y" },
    { "expand-dims", "x: 1 1 4; y = Expand x [sizes=2,3,-1]; out y",
      "x: 1 1 4; y = Expand x [sizes=-1,3,-1]; out y" },
    { "expand-channels", "x: 1 2 1; y = Expand x [sizes=-1,-1,4]; out y",
      "x: 1 1 4; y = Expand x [sizes=-1,3,-1]; out y" },
    { "expand-numbers", "x: 1 4; n: sint64 2; y = Expand x n [sizes=-1,-1]; out y",  "x: 1 4; y = Expand x [sizes=2,-1]; out y" },
    { "instance-layout", "x: NCHW 1 4 8 8; y = InstanceNorm2d x; out y",             MAP8 "y = InstanceNorm2d x; out y" },
    { "layer-bare", "x: 3 4; g: params 3; y = LayerNorm x [axis=0 gamma=g]; out y",  "x: 3 4; y = LayerNorm x [axis=0]; out y" },
    { "layer-axis", "x: 3 4; y = LayerNorm x [axis=-1]; out y",                      "x: 3 4; y = LayerNorm x [axis=-2]; out y" },
    { "matmul-rank", "x: 1 3 4; k: params 4 5; y = Matmul x k; out y",
      "x: 3 4; k: params 4 5; y = Matmul x k; out y" },
    { "max-window", "x: NHWC 1 4096 2048 1; y = MaxPool2d x [pool_width=2048 pool_height=2049 stride_height=2047]; out y",
      "x: NHWC 1 4096 2048 2; y = MaxPool2d x [pool_width=2048 pool_height=2048 stride_height=2048]; out y" },
    { "max-stride", MAP9 "y = MaxPool2d x [pool_width=2 pool_height=3 stride_width=2 stride_height=2]; out y",
      MAP9 "y = MaxPool2d x [pool_width=3 pool_height=3 stride_width=2 stride_height=2]; out y" },
    { "max-layout", "x: NCHW 1 4 8 8; y = MaxPool2d x [pool_width=2 pool_height=2]; out y",
      MAP8 "y = MaxPool2d x [pool_width=2 pool_height=2]; out y" },
    { "max-global", "x: NHWC 1 64 64 1; y = MaxPool2d x [pool_width=64 pool_height=64]; out y",
      "x: NHWC 1 32 64 1; y = MaxPool2d x [pool_width=64 pool_height=32]; out y" },
    { "multiply-rank", "x: 2 4; z: params 4; y = Multiply x z; out y",
      "x: 2 4; z: params 1 4; y = Multiply x z; out y" },
    { "multiply-shape", "x: 2 3 4; z: params 1 1 1; y = Multiply x z; out y",
      "x: 2 3 4; z: params 1 1 4; y = Multiply x z; out y" },
    { "normalize-axis", "x: 3 4; y = Normalize x [axis=-1]; out y",                  "x: 3 4; y = Normalize x [axis=0]; out y" },
    { "pad-mode",  "x: 1 3 4; y = Pad x [padding=0,0,1,1,0,0 mode=REFLECTION]; out y",
      "x: 1 3 4; y = Pad x [padding=0,0,1,1,0,0]; out y" },
    { "pad-channels", "x: 1 3 4; y = Pad x [padding=0,0,0,0,0,1]; out y",
      "x: 1 3 4; y = Pad x [padding=0,0,1,0,0,0]; out y" },
    { "pad-numbers", "x: 1 4; n: sint64 4; y = Pad x n [padding=-1,-1,-1,-1]; out y",
      "x: 1 4; y = Pad x [padding=1,0,0,0]; out y" },
    { "reshape-numbers", "x: 1 4; n: sint64 1; y = Reshape x n [shape=-1 layout=@layout(*)]; out y",
      "x: 1 4; y = Reshape x [shape=4 layout=@layout(*)]; out y" },
    { "roll-dims", "x: 3 4; y = Roll x [shifts=1]; out y",
      "x: 3 4; y = Roll x [shifts=1 dims=0]; out y" },
    { "slice-channels", "x: 3 4; y = Slice x [begin=0,0 end=3,2 stride=1,1]; out y",
      "x: 3 4; y = Slice x [begin=0,0 end=2,4 stride=1,1]; out y" },
    { "slice-stride", "x: 8 4; y = Slice x [begin=0,0 end=5,4 stride=2,1]; out y",
      "x: 8 4; y = Slice x [begin=0,0 end=6,4 stride=2,1]; out y" },
    { "slice-numbers", "x: 8 4; n: sint64 4; y = Slice x n [begin=-1,-1 end=-1,-1 stride=1,1]; out y",
      "x: 8 4; y = Slice x [begin=0,0 end=6,4 stride=1,1]; out y" },
    { "softmax-axis", "x: 3 4; y = Softmax x; out y",                                "x: 3 4; y = Softmax x [axis=0]; out y" },
    { "split-axis", "x: 2 6 4; a, b = Split x [sections=2,4 axis=1]; y = Concat a b [axis=1]; out y",
      "x: 1 6 4; a, b = Split x [sections=2,4 axis=1]; y = Concat a b [axis=1]; out y" },
    { "transpose-axes", "x: 2 3 4 5; y = Transpose x [dims=0,2,3,1 layout=@layout(****)]; out y",
      "x: 2 3 4 5; y = Transpose x [dims=2,1,0,3 layout=@layout(****)]; out y" },
    { "upsample-mode", MAP8 "y = Upsample x [height=16 width=16 interpolation=BICUBIC]; out y",
      MAP8 "y = Upsample x [height=16 width=16 interpolation=BILINEAR]; out y" },
    { "upsample-whole", MAP8 "y = Upsample x [height=12 width=16]; out y",
      MAP8 "y = Upsample x [height=16 width=16]; out y" },
    { "upsample-product", "x: NHWC 1 2 2 1; y = Upsample x [height=44 width=48 align_corners=false]; out y",
      "x: NHWC 1 2 2 1; y = Upsample x [height=44 width=44]; out y" },
    { "upsample-factor", "x: NHWC 1 2 2 1; y = Upsample x [height=46 width=2]; out y",
      "x: NHWC 1 2 2 1; y = Upsample x [height=44 width=2]; out y" },
    { "upsample-layout", "x: NCHW 1 4 8 8; y = Upsample x [height=16 width=16]; out y",
      MAP8 "y = Upsample x [height=16 width=16]; out y" },
    { "no-mean",   MAP8 "y = Mean x [dim=1,2 keepdim=true]; out y",
      MAP8 "y = AvgPool2d x [pool_width=8 pool_height=8]; out y" },
    { "no-resize", MAP8 "y = Resize x [dsize=16,16]; out y",
      MAP8 "y = Upsample x [height=16 width=16]; out y" },
    { "no-squeeze", "x: 1 4; y = Squeeze x [axis=0]; out y",                         "x: 1 4; y = Copy x; out y" },
    { "no-unstack", "x: 2 4; a, b = Unstack x; y = Add a b; out y",                  "x: 2 4; y = AlignAxis x; out y" },
    { "no-pixel_shuffle", MAP8 "y = PixelShuffle x [upscale_factor=2]; out y",       MAP8 "y = PruneAxis x [index=]; out y" },
    { "conv-sums",  "broken", "legal", TYPED, conv_sums },
    { "transposed-sums", "broken", "legal", TYPED, transposed_sums },
    { "matmul-sums", "broken", "legal", TYPED, wide_sums },
    { "map-scale",   "broken", "legal", TYPED, map_scale },
    { "conv-scales", "broken", "legal", TYPED, conv_scales },
    { "transposed-scales", "broken", "legal", TYPED, transposed_scales },
    { "matmul-scales", "broken", "legal", TYPED, matmul_scales },
    { "matmul-cut",  "broken", "legal", TYPED, matmul_cut },
    { "multiply-cut", "broken", "legal", TYPED, multiply_cut },
    { "hard-scales", "broken", "legal", TYPED, hard_scales },
};

static const row zhuge[] = {
    { "open-dims", "x: -1 4; y = ReLU x; out y",                                     "x: 1 4; y = ReLU x; out y" },
    { "elements",  MAP8 "y = ReLU x; out y",
      "x: bf16 NHWC 1 8 8 4; y = ReLU x; out y", TYPED },
    { "unit",      "x: fp32 NCHWc16 1 1 4 4 16; y = ReLU x; out y",
      "x: fp32 NCHWc8 1 1 4 4 8; y = ReLU x; out y" },
    { "activation", "x: 1 4; z: 1 4; y = Pow x z; out y",                            "x: 1 4; z: 2; y = Pow x z; out y" },
    { "add-shape", "x: 2 3 4; z: 2 1 4; y = Add x z; out y",
      "x: 2 3 4; z: 1 1 4; y = Add x z; out y", INT8 },
    { "align-axes", "two units", "one", PLAIN, align_two },
    { "prune-axes", "two distributions", "one", PLAIN, prune_two },
    { "argmax-size", "x: 2049 1; y = Argmax x; out y",                                  "x: 2048 1; y = Argmax x; out y" },
    { "argmax-elements", "x: bf16 8; y = Argmax x; out y",                             "x: tf32 8; y = Argmax x; out y", TYPED },
    { "avg-layout", "x: NCHW 1 4 8 8; y = AvgPool2d x [pool_width=2 pool_height=2]; out y",
      MAP8 "y = AvgPool2d x [pool_width=2 pool_height=2]; out y" },
    { "cast-elements", "x: bf16 1 4; u = Copy x; z = Cast u [target_dtype=fp16,1,4]; y = Copy z; out y",
      "x: bf16 1 4; u = Copy x; z = Cast u [target_dtype=tf32,1,4]; y = Copy z; out y", TYPED },
    { "concat-inputs", "x: bf16 1 4; y = Concat x x x x x x x x x x x x x x x x x; out y",
      "x: bf16 1 4; y = Concat x x x x x x x x x x x x x x x x; out y", TYPED },
    { "conv-weights", MAP8 "v: HWIO 3 3 4 8; y = Conv2d x v; out y",                 MAP8 CONV "y = Conv2d x w; out y" },
    { "conv-padding", MAP8 CONV "y = Conv2d x w [pad_left=1 padding_mode=REFLECT]; out y",
      MAP8 CONV "y = Conv2d x w [stride_width=2]; out y" },
    { "conv-layout", "x: NCHW 1 4 8 8; " CONV "y = Conv2d x w; out y",
      MAP8 CONV "y = Conv2d x w [dilation_width=2]; out y" },
    { "transposed-weights", MAP8 "v: HWOI 2 2 8 4; y = ConvTranspose2d x v; out y",  MAP8 TRANS "y = ConvTranspose2d x w; out y" },
    { "transposed-layout", "x: NCHW 1 4 8 8; " TRANS "y = ConvTranspose2d x w; out y",
      MAP9 TRANS "y = ConvTranspose2d x w [stride_width=2]; out y" },
    { "expand-numbers", "x: 1 4; n: tf32 2; m = Cast n [target_dtype=sint64,2]; y = Expand x m [sizes=-1,-1]; out y",
      "x: 1 1 4; y = Expand x [sizes=2,3,-1]; out y" },
    { "instance-layout", "x: NCHW 1 4 8 8; y = InstanceNorm2d x; out y",             MAP8 "y = InstanceNorm2d x; out y" },
    { "layer-dims", "x: 1 3 4; y = LayerNorm x [axis=-1]; out y",                    "x: 3 4; y = LayerNorm x [axis=-1]; out y" },
    { "log-softmax-dims", "x: 1 3 4; y = LogSoftmax x; out y",                       "x: 3 4; y = LogSoftmax x; out y" },
    { "matmul-rank", "x: 1 3 4; k: params 4 5; y = Matmul x k; out y",
      "x: 1 3 4; k: params 1 4 5; y = Matmul x k; out y" },
    { "max-layout", "x: NCHW 1 4 8 8; y = MaxPool2d x [pool_width=2 pool_height=2]; out y",
      MAP9 "y = MaxPool2d x [pool_width=2 pool_height=2 stride_width=2 stride_height=2]; out y" },
    { "mean-channels", "x: 2 3 4; y = Mean x [dim=2]; out y",                        "x: 2 3 4; y = Mean x [dim=1]; out y", INT8 },
    { "multiply-shape", "x: 2 3 4; z: 2 1 4; y = Multiply x z; out y",
      "x: 2 3 4; z: 1 1 4; y = Multiply x z; out y", INT8 },
    { "normalize-p", "x: 3 4; y = Normalize x [axis=-1 p=3]; out y",
      "x: 3 4; y = Normalize x [axis=-1 p=1]; out y" },
    { "normalize-dim", "x: 1 4; y = Normalize x [axis=0]; out y",                    "x: 3 4; y = Normalize x [axis=0]; out y" },
    { "pad-mode",  "x: 1 3 4; y = Pad x [padding=0,0,1,1,0,0 mode=REFLECTION]; out y",
      "x: 1 3 4; y = Pad x [padding=0,0,1,1,0,1]; out y" },
    { "pad-value", "x: 1 3 4; y = Pad x [padding=0,0,1,1,0,0 value=2]; out y",
      "x: 1 3 4; y = Pad x [padding=0,0,1,1,0,0 value=0]; out y" },
    { "pad-numbers", "x: 1 4; n: sint64 4; y = Pad x n [padding=-1,-1,-1,-1]; out y",
      "x: 1 4; y = Pad x [padding=1,0,0,0]; out y" },
    { "reshape-numbers", "x: 1 4; n: sint64 1; y = Reshape x n [shape=-1 layout=@layout(*)]; out y",
      "x: 1 4; y = Reshape x [shape=4 layout=@layout(*)]; out y" },
    { "slice-numbers", "x: 8 4; n: sint64 4; y = Slice x n [begin=-1,-1 end=-1,-1 stride=1,1]; out y",
      "x: 8 4; y = Slice x [begin=0,0 end=5,3 stride=2,1]; out y" },
    { "softmax-dims", "x: 1 3 4; y = Softmax x; out y",                              "x: 3 4; y = Softmax x; out y" },
    { "sum-channels", "x: 2 3 4; y = Sum x [dim=2]; out y",                          "x: 2 3 4; y = Sum x [dim=1]; out y", INT8 },
    { "transpose-axes", "x: 2 3 4 5; y = Transpose x [dims=0,2,3,1 layout=@layout(****)]; out y",
      "x: 2 3 4 5; y = Transpose x [dims=2,0,1,3 layout=@layout(****)]; out y" },
    { "upsample-mode", MAP8 "y = Upsample x [height=16 width=16 interpolation=BICUBIC]; out y",
      MAP8 "y = Upsample x [height=12 width=16 interpolation=BILINEAR]; out y" },
    { "upsample-product", "x: NHWC 1 2 2 1; y = Upsample x [height=44 width=48]; out y",
      "x: NHWC 1 2 2 1; y = Upsample x [height=50 width=40]; out y" },
    { "upsample-layout", "x: NCHW 1 4 8 8; y = Upsample x [height=16 width=16]; out y",
      MAP8 "y = Upsample x [height=12 width=16]; out y" },
    { "no-resize", MAP8 "y = Resize x [dsize=16,16]; out y",                         "x: 8 4; y = Sum x [dim=0]; out y" },
    { "no-squeeze", "x: 1 4; y = Squeeze x [axis=0]; out y",
      "x: 8 4; y = SwapOrder x [order=1,0,2,3]; out y" },
    { "no-unstack", "x: 2 4; a, b = Unstack x; y = Add a b; out y",
      "x: 3 6 4; a, b = Split x [sections=2,4 axis=1]; y = Concat a b [axis=1]; out y" },
    { "no-pixel_shuffle", MAP8 "y = PixelShuffle x [upscale_factor=2]; out y",
      "x: 8 4; y = Roll x [shifts=1]; z = ClampScalar y [min=0 max=1]; u = Log z; out u" },
    { "conv-sums",  "broken", "legal", TYPED, conv_sums },
    { "transposed-sums", "broken", "legal", TYPED, transposed_sums },
    { "matmul-sums", "broken", "legal", TYPED, deep_sums },
};

static const xir_target *target_of(const char *name) {
    const int kind = xir_target_find(ctx, xir_str_of(name));
    return xir_target_of_kind(ctx, (xir_target_kind)kind, "330");
}

/* Gives every map of fp32 elements of 8 bits. */
static void quantise(xir_network *net) {
    const double one = 0.5;
    const xir_type *q = xir_type_quantized(ctx, xir_scales_from(ctx, &one, 1, -1), NULL, 0,
                                           xir_type_sint(ctx, 8), xir_type_float(ctx, XIR_FLOAT_FP32));
    assert_non_null(q);
    XIR_EACH_OP(op, net) {
        XIR_EACH_OUTPUT(v, op) DOES(xir_value_set_type(v, xir_type_with_element(ctx, xir_value_type(v), q, why)));
    }
}

static xir_network *net_of(const row *r, const char *text) {
    xir_network *net = r->make ? r->make(text == r->broken) : story_net(text);
    if (r->how == INT8) quantise(net);
    return net;
}

/* Asking about a network gives what asking about each op does. */
static void same_answer(void *user, const xir_op *op, xir_status status) {
    const xir_status alone = xir_op_try(op, user, NULL);
    if (alone != status) fail_msg("op %lld: %d, alone %d", (long long)xir_op_id(op), (int)status, (int)alone);
}

static void check_answers(const char *target, const row *r, const xir_network *net) {
    const xir_try_options how = XIR_INIT(xir_try_options, .answer = same_answer,
                                         .user = (void *)(uintptr_t)target_of(target));
    if (r->how == PLAIN) (void)xir_network_try(net, target_of(target), &how, NULL, NULL);
}

static void check_row(const char *target, const row *r) {
    const xir_try_options how = XIR_INIT(xir_try_options, .typed = r->how != PLAIN);
    xir_network *net = net_of(r, r->broken);
    xir_diags_clear(why);
    const xir_status status = xir_network_try(net, target_of(target), &how, NULL, why);
    size_t n = 0;
    bool note = false;
    for (size_t i = 0; i < xir_diags_count(why); i++) {
        const xir_diag *d = xir_diags_at(why, i);
        const bool is = d->rule && xir_str_equal(d->rule->name, xir_str_of(r->rule));
        if (is) note = d->severity == XIR_NOTE;
        n += is;
        if (!is && d->severity != XIR_NOTE)
            fail_msg("%s, %s: another finding, %.*s", target, r->rule, XIR_ARG(d->message));
    }
    if (!n) fail_msg("%s, %s: '%s' does not break it", target, r->rule, r->broken);
    assert_int_equal(status, note ? XIR_OK : XIR_E_UNSUPPORTED);
    check_answers(target, r, net);
    xir_network_free(net);
}

/* The pass that a sentence begins with, as a step of a pipeline; false if it names none. */
static bool read_pass(const char *mend, const char *target, char *out, size_t size) {
    const size_t n = mend ? strcspn(mend, "{ ") : 0;
    if (!n || !xir_pass_find(ctx, (xir_str){ mend, n })) return false;
    if (mend[n] == '{') snprintf(out, size, "%.*s", (int)strcspn(mend, " "), mend);
    else snprintf(out, size, "%.*s{target=%s}", (int)n, mend, target);
    return true;
}

/* The pass that mends a rule makes the network legal, and it computes the same. */
static size_t mended;
static void check_mended(const char *target, const row *r) {
    char pass[80];
    const xir_target_row *of = xir_target_row_of(target_of(target));
    const xir_target_rule *rule = NULL;
    for (size_t k = 0; k < of->n_rules && !rule; k++) {
        if (strcmp(of->rules[k].name, r->rule) == 0) rule = &of->rules[k];
    }
    if (rule->flags & XIR_RULE_NOTE || r->how != PLAIN || !read_pass(rule->mend, target, pass, sizeof pass)) return;
    xir_network *net = net_of(r, r->broken), *before = xir_network_clone(net);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(pass), why);
    xir_diags_clear(why);
    DOES(xir_pipeline_run(pipeline, net, &XIR_INIT(xir_pass_settings, .verify = true), NULL, why));
    xir_diags_clear(why);
    const xir_status status = xir_network_try(net, target_of(target), NULL, NULL, why);
    const xir_diag *d = xir_diags_at(why, 0);
    char *text = story_text(net);
    if (status) fail_msg("%s, %s: %s does not mend it: %.*s in %s", target, r->rule, pass, XIR_ARG(d->message), text);
    free(text);
    CHECK_SOUND(net);
    CHECK_SAME_NUMBERS(before, net);
    mended++;
    xir_pipeline_free(pipeline);
    xir_network_free(before);
    xir_network_free(net);
}

static void check_legal(const char *target, const row *r) {
    const xir_try_options how = XIR_INIT(xir_try_options, .typed = r->how != PLAIN);
    xir_network *net = net_of(r, r->legal);
    const bool no_quantised = r->how == TYPED && strcmp(target, "buyi") == 0;   /* quantised below */
    if (no_quantised) quantise(net);
    xir_diags_clear(why);
    const xir_status status = xir_network_try(net, target_of(target), &how, NULL, why);
    const xir_diag *d = xir_diags_at(why, 0);
    if (status || d) fail_msg("%s, %s: '%s' is not legal: %.*s", target, r->rule, r->legal, XIR_ARG(d->message));
    check_answers(target, r, net);
    xir_network_free(net);
}

/* Each row is broken by its network alone, kept by the other one, and mended if it names a pass: `mends` of them. */
static void check_target_rows(const char *target, const row *rows, size_t n, size_t mends) {
    mended = 0;
    for (size_t i = 0; i < n; i++) {
        check_row(target, &rows[i]);
        check_legal(target, &rows[i]);
        check_mended(target, &rows[i]);
    }
    assert_int_equal(mended, mends);
    /* Each rule of the target that can be broken is among them. */
    const xir_target_row *of = xir_target_row_of(target_of(target));
    for (size_t k = 0; k < of->n_rules; k++) {
        const xir_target_rule *rule = &of->rules[k];
        bool known = !rule->holds && !(rule->flags & XIR_RULE_EXCLUDES);
        for (size_t i = 0; i < n && !known; i++) known = strcmp(rows[i].rule, rule->name) == 0;
        if (!known) fail_msg("%s: no network breaks %s", target, rule->name);
        for (size_t j = 0; j < k; j++) assert_string_not_equal(rule->name, of->rules[j].name);
    }
}

static void each_rule_of_buyi_is_broken_and_kept(void **state) {
    (void)state;
    check_target_rows("buyi", buyi, COUNT(buyi), 31);
}

static void each_rule_of_zhuge_is_broken_and_kept(void **state) {
    (void)state;
    check_target_rows("zhuge", zhuge, COUNT(zhuge), 16);
}

static void other_classes_are_not_run(void **state) {
    (void)state;
    static const char *const nets[] = {
        "x: 1 8; y = Erf x; out y",        "x: 1 8; y = NonZero x; out y",     "x: 1 8; y = Argmax x; out y",
        "x: 1 8; y = LogSoftmax x; out y", "x: 1 8; y = Sum x [dim=0]; out y", "x: 1 8; y = Exp x; out y",
    };
    for (size_t i = 0; i < COUNT(nets); i++) {
        xir_network *net = story_net(nets[i]);
        xir_diags_clear(why);
        assert_int_equal(xir_network_try(net, target_of("buyi"), NULL, NULL, why), XIR_E_UNSUPPORTED);
        const xir_diag *d = xir_diags_at(why, 0);
        CHECK_STR(d->path, "/ops/1");
        assert_non_null(strstr(d->message.data, "buyi does not run this class"));
        assert_int_equal(d->rule->needed.size, 0);
        xir_network_free(net);
    }
}

static void a_finding_has_its_parts(void **state) {
    (void)state;
    xir_network *net = story_net("x: NHWC 1 224 224 3; w: params HWIO 3 3 3 8; "
                                 "c2 = Conv2d x w [stride_width=2 stride_height=2 pad_left=1 pad_right=1 pad_top=1]; out c2");
    xir_diags_clear(why);
    assert_int_equal(xir_network_try(net, target_of("buyi"), NULL, NULL, why), XIR_E_UNSUPPORTED);
    assert_int_equal(xir_diags_count(why), 1);
    const xir_diag *d = xir_diags_at(why, 0);
    CHECK_STR(d->path, "/ops/1/stride_width");
    CHECK_STR(d->message, "icraft::xir::Conv2d 'c2': (224 - 3 + 1 + 1) % 2 is 1: buyi needs strides that divide; "
                          "legalize cuts padding or the map");
    CHECK_STR(d->rule->target, "buyi");
    CHECK_STR(d->rule->name, "conv-stride");
    CHECK_STR(d->rule->found, "(224 - 3 + 1 + 1) % 2 is 1");
    CHECK_STR(d->rule->needed, "strides that divide");
    CHECK_STR(d->rule->mend, "legalize cuts padding or the map");
    xir_network_free(net);
}

/* Ops that have the target are asked about alone, and Casts at borders are nobody's fault. */
static void own_ops_and_borders(void **state) {
    (void)state;
    xir_network *net = story_net("x: 1 8; c = Cast x [target_dtype=fp16,1,8]; r = ReLU c; e = Erf r; "
                                 "k = Cast e [target_dtype=fp32,1,8]; out k");
    xir_tried tried = XIR_INIT(xir_tried);
    xir_diags_clear(why);
    assert_int_equal(xir_network_try(net, target_of("buyi"), NULL, &tried, why), XIR_E_UNSUPPORTED);
    assert_int_equal(xir_diags_count(why), 1);
    assert_true(tried.legal == 1 && tried.refused == 1 && tried.borders == 2 && tried.elsewhere == 0);
    DOES(xir_network_set_ai_target(net, target_of("buyi")));
    DOES(xir_op_set_target(xir_network_op_at(net, 2), target_of("buyi")));
    xir_diags_clear(why);
    assert_int_equal(xir_network_try(net, target_of("buyi"), NULL, &tried, why), XIR_OK);
    assert_true(tried.legal == 1 && tried.refused == 0 && tried.borders == 0 && tried.elsewhere == 3);
    assert_int_equal(xir_network_try(net, target_of("buyi"), &XIR_INIT(xir_try_options, .all = true), &tried, why),
                     XIR_E_UNSUPPORTED);
    /* A rule of a manual does not make an op invalid. */
    DOES(xir_op_set_target(xir_network_op_at(net, 3), target_of("buyi")));
    xir_diags_clear(why);
    DOES(xir_network_validate(net, why));
    xir_network_free(net);
}

/* The ops in the body of a call are asked about, each with its place. */
static void bodies_of_calls_are_asked_about(void **state) {
    (void)state;
    xir_network *net = story_net("x: 1 8; a = ReLU x; e = Erf a; s = Sigmoid e; out s");
    xir_op *part[] = { xir_network_op_at(net, 1), xir_network_op_at(net, 2) };
    assert_non_null(xir_outline(net, part, 2, NULL));
    xir_diags_clear(why);
    assert_int_equal(xir_network_try(net, target_of("buyi"), NULL, NULL, why), XIR_E_UNSUPPORTED);
    assert_int_equal(xir_diags_count(why), 1);
    CHECK_STR(xir_diags_at(why, 0)->path, "/ops/1/body/2");
    xir_network_free(net);
}

/* Absent inputs, values without a type, open dims and dims of 0: each op of each network, in each place. No rule breaks
 * down; where types are missing, the network answers as its ops do. */
static void spoil(const row *r, const char *target, int way) {
    xir_network *net = net_of(r, r->broken);
    const xir_target *of = target_of(target);
    const xir_try_options how = XIR_INIT(xir_try_options, .answer = same_answer, .user = (void *)(uintptr_t)of);
    XIR_EACH_OP(op, net) {
        if (xir_op_is(op, xir_output_class())) continue;
        const size_t n = way == 0 ? xir_op_input_count(op) : xir_op_output_count(op);
        for (size_t i = 0; i < n; i++) {
            xir_value *v = way == 0 ? xir_op_input(op, (int64_t)i) : xir_op_output(op, (int64_t)i);
            const xir_type *was = v ? xir_value_type(v) : NULL;
            int64_t dims[8];
            const size_t rank = xir_type_rank(was);
            if (!v || !was || rank > 8) continue;
            for (size_t k = 0; k < rank; k++) dims[k] = way == 2 ? -1 : 0;
            if (way == 0) DOES(xir_op_set_input(op, i, NULL));
            else if (way == 1) DOES(xir_value_set_type(v, NULL));
            else DOES(xir_value_set_type(v, xir_type_tensor(ctx, xir_type_element(was), xir_type_layout(was), dims,
                                                            rank)));
            (void)xir_network_try(net, of, way < 2 ? &how : NULL, NULL, NULL);
            xir_diags_clear(why);
            (void)xir_op_try(op, of, why);
            if (way == 0) DOES(xir_op_set_input(op, i, v));
            else DOES(xir_value_set_type(v, was));
        }
    }
    xir_network_free(net);
}

static void no_rule_breaks_down(void **state) {
    (void)state;
    for (int way = 0; way < 4; way++) {
        for (size_t i = 0; i < COUNT(buyi); i++) if (buyi[i].how == PLAIN) spoil(&buyi[i], "buyi", way);
        for (size_t i = 0; i < COUNT(zhuge); i++) if (zhuge[i].how == PLAIN) spoil(&zhuge[i], "zhuge", way);
    }
}

static void bad_arguments_are_refused(void **state) {
    (void)state;
    xir_network *net = story_net("x: 1 8; a = ReLU x; out a");
    assert_int_equal(xir_network_try(NULL, target_of("buyi"), NULL, NULL, why), XIR_E_MISSING);
    assert_int_equal(xir_network_try(net, NULL, NULL, NULL, why), XIR_E_MISSING);
    const xir_try_options none = { 0 };
    assert_int_equal(xir_network_try(net, target_of("buyi"), &none, NULL, why), XIR_E_ABI);
    assert_int_equal(xir_target_set_rules(ctx, -1, xir_target_row_at(ctx, XIR_TARGET_BUYI), why), XIR_E_BOUNDS);
    assert_int_equal(xir_target_set_rules(ctx, 99, xir_target_row_at(ctx, XIR_TARGET_BUYI), why), XIR_E_BOUNDS);
    assert_int_equal(xir_target_set_rules(ctx, XIR_TARGET_BUYI, NULL, why), XIR_E_INVALID);
    xir_network_free(net);
}

static void targets_are_read_as_people_write_them(void **state) {
    (void)state;
    static const struct { const char *text, *name, *core; } good[] = {
        { "buyi", "buyi", "" }, { "icraft::xir::BuyiTarget", "buyi", "" }, { "zhuge", "zhuge", "330" },
        { "zhuge:340", "zhuge", "340" }, { "zhuge(30S)", "zhuge", "30S" },
        { "icraft::xir::ZhugeTarget:new one", "zhuge", "new one" }, { "host", "host", "" },
    };
    static const struct { const char *text, *part; } bad[] = {
        { "", "no target ''" }, { "buyy", "did you mean 'buyi'?" }, { "buyi:", "no target 'buyi:'" },
        { "buyi:1", "no target" }, { "buyi(1)", "no target" }, { "zhuge:", "no target" }, { "zhuge(", "no target" },
        { "zhuge(330", "no target" }, { "zhuge()", "no target" }, { "zhuqe:330", "did you mean 'zhuge'?" }, { "::", "no target" },
    };
    for (size_t i = 0; i < COUNT(good); i++) {
        const xir_target *target = xir_target_parse(ctx, xir_str_of(good[i].text), why);
        assert_non_null(target);
        assert_string_equal(xir_target_row_of(target)->name, good[i].name);
        CHECK_STR(xir_target_core(target), good[i].core);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        xir_diags_clear(why);
        assert_null(xir_target_parse(ctx, xir_str_of(bad[i].text), why));
        const char *said = xir_diags_at(why, 0)->message.data;
        if (!strstr(said, bad[i].part)) fail_msg("%s", said);
    }
}

/* A caller of an older version has shorter rules. */
static void shorter_rules_are_taken(void **state) {
    (void)state;
    typedef struct older { xir_class_fn *cls; bool (*holds)(xir_infer *at); const char *needs, *mend; } older;
    static const older rules[] = { { xir_relu_class, NULL, NULL, NULL }, { xir_erf_class, NULL, NULL, NULL } };
    xir_context *with = xir_context_new(NULL);
    const xir_target_row from = { XIR_TARGET_HEAD("x", "x", "x"), .rules = (const xir_target_rule *)(const void *)rules,
                                  .n_rules = 2, .rule_size = sizeof(older) };
    DOES(xir_target_set_rules(with, XIR_TARGET_WOLONG, &from, why));
    xir_network *net = story_net_in(with, "x: 1 8; y = Erf x; out y");
    DOES(xir_network_try(net, xir_target_named(with, XIR_STR("wolong")), NULL, NULL, why));
    xir_network_free(net);
    net = story_net_in(with, "x: 1 8; y = Tanh x; out y");
    assert_int_equal(xir_network_try(net, xir_target_named(with, XIR_STR("wolong")), NULL, NULL, NULL),
                     XIR_E_UNSUPPORTED);
    xir_network_free(net);
    xir_context_free(with);
}

/* A map of quantised numbers without a sign is not one of int8. */
static void zhuge_stores_numbers_with_a_sign(void **state) {
    (void)state;
    const double one = 0.5;
    for (int sign = 0; sign < 2; sign++) {
        const xir_type *stored = sign ? xir_type_sint(ctx, 8) : xir_type_uint(ctx, 8);
        const xir_type *q = xir_type_quantized(ctx, xir_scales_from(ctx, &one, 1, -1), NULL, 0, stored, NULL);
        xir_network *net = story_net("x: 1 8; y = ReLU x; z = Copy y; out z");
        XIR_EACH_OP(op, net) {
            XIR_EACH_OUTPUT(v, op) DOES(xir_value_set_type(v, xir_type_with_element(ctx, xir_value_type(v), q, why)));
        }
        xir_diags_clear(why);
        const xir_status status = xir_network_try(net, target_of("zhuge"), NULL, NULL, why);
        assert_int_equal(status, sign ? XIR_OK : XIR_E_UNSUPPORTED);
        if (!sign) assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "the elements are not int8"));
        xir_network_free(net);
    }
    xir_diags_clear(why);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zhuge_stores_numbers_with_a_sign),
        cmocka_unit_test(each_rule_of_buyi_is_broken_and_kept),
        cmocka_unit_test(each_rule_of_zhuge_is_broken_and_kept),
        cmocka_unit_test(other_classes_are_not_run),
        cmocka_unit_test(a_finding_has_its_parts),
        cmocka_unit_test(own_ops_and_borders),
        cmocka_unit_test(bodies_of_calls_are_asked_about),
        cmocka_unit_test(no_rule_breaks_down),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(targets_are_read_as_people_write_them),
        cmocka_unit_test(shorter_rules_are_taken),
    };
    return RUN_GROUP(tests);
}
