/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory runs out at every allocation of a conversion of PNNX, of one to PNNX, and of a check. */
#include "convert/pnnx_text.h"
#include "scarce_dialect.h"
#include "support/story.h"

/* A network with everything that allocates in its own way. */
static const char text[] =
    "7767517\n40 42\n"
    "pnnx.Input x_in 0 1 x #x=(1,2,6,6)f32\n"
    "pnnx.Input o_in 0 1 o #o=(?,6)f32\n"
    "pnnx.Input moved_in 0 1 moved #moved=(1,2,6,6)f32\n"
    "nn.Conv2d c 1 1 x a bias=True dilation=(1,1) groups=1 padding=same stride=(1,1) @bias=(2)f32 @weight=(2,2,3,3)f32\n"
    "BatchNorm2d b 1 1 a b affine=1 eps=1e-3 @bias=(2)f32 @running_mean=(2)f32 @running_var=(2)f32 @weight=(2)f32\n"
    "pnnx.Expression e 2 1 a b d expr=add(mul(@0,2.5),atan2(@1,logaddexp(@0,size(@0,1))))\n"
    "nn.MaxPool2d p 1 2 d f g ceil_mode=True kernel_size=(3,3) return_indices=True stride=(2,2)\n"
    "Tensor.index i 1 1 f h expr=[None,[0,1],None,[-1,0]]\n"
    "F.interpolate r 1 1 f k mode=bicubic size=(5,4)\n"
    "Tensor.slice s 1 1 k l dims=(2,3) ends=(3,2147483647) selects=(2147483647,1) starts=(0,0) steps=(2,1)\n"
    "torch.flatten t 1 1 d m end_dim=-1 start_dim=1\n"
    "nn.Linear u 1 1 m n bias=False in_features=72 out_features=3 @weight=(3,72)f32\n"
    "pnnx.SliceIndexes v 0 1 q indexes=(1,2147483647)\n"
    "pnnx.Expression w 1 1 o y expr=[size(@0,0),-1,2]\n"
    "Tensor.reshape by_list 2 1 o y ar\n"
    "torch.lgamma stays 1 1 n aa\n"
    "com.Other other 1 1 n bb\n"
    "prim::TupleConstruct tuple 2 1 aa bb cc\n"
    "prim::TupleConstruct all 2 1 cc y dd\n"
    "nn.GRU gru 1 2 l ee ff batch_first=True bias=False bidirectional=True hidden_size=2 input_size=2 num_layers=1 "
    "@weight_hh_l0=(6,2)f32 @weight_hh_l0_reverse=(6,2)f32 @weight_ih_l0=(6,2)f32 @weight_ih_l0_reverse=(6,2)f32\n"
    "__torch__.torch.nn.modules.activation.ReLU6 relu 1 1 l ao\n"
    "prim::Constant one 0 1 c1 value=1\nprim::Constant two 0 1 c2 value=2\nprim::ListConstruct list 2 1 ao l c3\n"
    "aten::cat join 2 1 c3 c1 ap\naten::add sum 3 1 ap ap c2 aq\n"
    "Expression both 2 1 l ao c4 expr=(neg(@0),@1)\naten::cat formulas 2 1 c4 c1 at\n"
    "torchvision.ops.DeformConv2d deformed 2 1 x moved au @weight=(1,2,1,1)f32\n"
    "nn.PixelShuffle shuffle 1 1 x gg upscale_factor=1\n"
    "custom.Module module 1 1 x hh\n"
    "prim::TupleUnpack unpack 1 3 hh ii jj kk\n"
    "pnnx.Expression last 2 1 ii kk ll expr=add(@0,@1)\n"
    "pnnx.Output dd_out 1 0 dd\n"
    "pnnx.Output ll_out 1 0 ll\n"
    "pnnx.Output ee_out 1 0 ee\n"
    "pnnx.Output aq_out 1 0 aq\n"
    "pnnx.Output ar_out 1 0 ar\n"
    "pnnx.Output at_out 1 0 at\n"
    "pnnx.Output au_out 1 0 au\n";

static const char *pass_name(void) { return "pnnx-to-xir"; }

static void prepare(want *w) {
    const xir_load_options options = XIR_INIT(xir_load_options, .format = "pnnx", .no_params = true);
    w->net = xir_network_read(w->ctx, text, sizeof text - 1, XIR_STR("x.param"), &options, w->why);
    xir_diags_clear(w->why);
}

/* A network of XIR whose way back allocates in many ways. */
static const char story[] =
    "x: NCHW 1 2 6 6; k: params HWIO 3 3 2 2; b: params 2; i: params sint64 2 2 = 0 1 1 -1; h: 0.5; u: 3 4; l: sint64 1;"
    "f: params 2 8 2; r: params 2 8 2; y: NHWC 1 4 4 2; q: 1 2 3 2; qs: 2 1 2;"
    "c = Conv2d x k b [pad_left=1]; n = BatchNorm2d c [mean=b variance=b];"
    "p = AvgPool2d y [pool_height=2 pool_width=2]; a = Add n h [alpha=2]; e = Exp a; m = Multiply e n;"
    "g = GatherND u i; z = NonZero u; s = Shape u; t = Slice s [begin=1] [end=2] [stride=1];"
    "j = Concat t l [axis=0]; w = Reshape u j [shape=-1,-1 layout=@layout(**)];"
    "o, oh, oc = LSTM qs f r [hidden_size=2 direction=BIDIRECTIONAL]; at = Attention q q q [softcap=2];"
    "st = Mean l; d = ReLU p [threshold=2]; v = SiLU u; sp, sq = Split u [sections=1,3 axis=1];"
    "out m g z w o at st d v sq";

static void prepare_story(want *w) {
    w->net = story_net_in(w->ctx, story);
    xir_diags_clear(w->why);
}

static void prepare_attention(want *w) {
    static const char lines[] =
        "7767517\n5 5\npnnx.Input at_in 0 1 at #at=(2,3,4)f32\npnnx.Input m_in 0 1 m #m=(3,3)f32\n"
        "nn.MultiheadAttention attention 2 2 at m am an add_bias_kv=True add_zero_attn=True batch_first=True "
        "bias=True embed_dim=4 kdim=4 num_heads=2 vdim=4 @bias_k=(1,1,4)f32 @bias_v=(1,1,4)f32 @in_proj_bias=(12)f32 "
        "@in_proj_weight=(12,4)f32 @out_proj.bias=(4)f32 @out_proj.weight=(4,4)f32 $attn_mask=m\n"
        "pnnx.Output am_out 1 0 am\npnnx.Output an_out 1 0 an\n";
    const xir_load_options options = XIR_INIT(xir_load_options, .format = "pnnx", .no_params = true);
    w->net = xir_network_read(w->ctx, lines, sizeof lines - 1, XIR_STR("x.param"), &options, w->why);
    assert_non_null(w->net);
    pnnx_fill(w->net);
    assert_int_equal(xir_pass_run(w->net, "pnnx-to-xir", "strict", NULL, w->why), XIR_OK);
    xir_diags_clear(w->why);
}

static void joining_attention(want *w) {
    IN_PLENTY(w, prepare_attention(w));
    TRY_LOOSELY(w, xir_pass_run(w->net, "xir-to-pnnx", NULL, NULL, w->why));
    IN_PLENTY(w, tidy(w));
    IN_PLENTY(w, w->result = result_of(w->net));
}

static void going_back(want *w) {
    IN_PLENTY(w, prepare_story(w));
    assert_non_null(w->net);
    TRY_LOOSELY(w, xir_pass_run(w->net, "xir-to-pnnx", NULL, NULL, w->why));
    IN_PLENTY(w, tidy(w));
    IN_PLENTY(w, w->result = result_of(w->net));
}

SCARCE_TEST(joining_attention)
SCARCE_TEST(going_back)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_converting),
        cmocka_unit_test(test_joining_attention),
        cmocka_unit_test(test_going_back),
        cmocka_unit_test(test_checking),
    };
    return RUN_GROUP(tests);
}
