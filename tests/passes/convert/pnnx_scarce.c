/* Memory runs out at every allocation of a conversion of PNNX, and of a check. */
#include "scarce_dialect.h"

/* A network with everything that allocates in its own way. */
static const char text[] =
    "7767517\n25 27\n"
    "pnnx.Input x_in 0 1 x #x=(1,2,6,6)f32\n"
    "pnnx.Input o_in 0 1 o #o=(?,6)f32\n"
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
    "torch.lgamma stays 1 1 n aa\n"
    "com.Other other 1 1 n bb\n"
    "prim::TupleConstruct tuple 2 1 aa bb cc\n"
    "prim::TupleConstruct all 2 1 cc y dd\n"
    "nn.GRU gru 1 2 l ee ff batch_first=True bias=False bidirectional=True hidden_size=2 input_size=2 num_layers=1 "
    "@weight_hh_l0=(6,2)f32 @weight_hh_l0_reverse=(6,2)f32 @weight_ih_l0=(6,2)f32 @weight_ih_l0_reverse=(6,2)f32\n"
    "nn.PixelShuffle shuffle 1 1 x gg upscale_factor=1\n"
    "custom.Module module 1 1 x hh\n"
    "prim::TupleUnpack unpack 1 3 hh ii jj kk\n"
    "pnnx.Expression last 2 1 ii kk ll expr=add(@0,@1)\n"
    "pnnx.Output dd_out 1 0 dd\n"
    "pnnx.Output ll_out 1 0 ll\n"
    "pnnx.Output ee_out 1 0 ee\n";

/* The ops without the numbers of unnamed constants: an attempt that failed may have used some. */
static char *result_of(const xir_network *net) {
    char *list = op_list_typed(net), *to = list;
    for (const char *p = list; *p;) {
        *to++ = *p;
        if (*p++ == '#') p += strspn(p, "0123456789");
    }
    *to = '\0';
    return list;
}

static const char *pass_name(void) { return "pnnx-to-xir"; }

static void prepare(want *w) {
    const xir_load_options options = XIR_INIT(xir_load_options, .format = "pnnx", .no_params = true);
    w->net = xir_network_read(w->ctx, text, sizeof text - 1, XIR_STR("x.param"), &options, w->why);
    xir_diags_clear(w->why);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_converting),
        cmocka_unit_test(test_checking),
    };
    return RUN_GROUP(tests);
}
