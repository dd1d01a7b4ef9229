/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators of TSM compute what the same operators of ONNX compute, or several of them, with the same weights and
 * inputs: every operator with a row, with its parameters varied. */
#include <math.h>
#include <xir/convert.h>
#include <xir/quant.h>
#include "convert/tsm_text.h"

typedef struct pair { const char *inputs, *nodes, *weights, *onnx; } pair;

#define A "a=2,3,4"
#define AB "a=2,3,4 b=1,4"
#define IMAGE "a=2,3,7,6"
#define KERNEL "<const> w - value=10:4,3,3,3:;"
#define FORMAT " format='NCHW"
#define PADS(...) " padding=5:4,2:0,0,0,0," #__VA_ARGS__
#define STEPS(name, ...) " " name "=5:4:1,1," #__VA_ARGS__
static const pair pairs[] = {
    /* element types and structure */
    { A, "_copy y 0", "", "Identity a y" },
    { A, "_cast y 0 dtype=5::5", "", "Cast a y to=6" },
    { A, "_cast y 0 dtype=5::1", "", "Cast a y to=3" },
    { A, "to_float y 0", "", "Identity a y" },
    { A, "_shape y 0", "", "Shape a y" },
    { A, "_dims y 0", "", "Shape a s;Size s y" },
    { AB, "_pack p 0,1;_field y 2 offset=5::1", "", "Identity b y" },
    /* elements */
    { AB, "add y 0,1", "", "Add a,b y" }, { AB, "sub y 0,1", "", "Sub a,b y" },
    { AB, "mul y 0,1", "", "Mul a,b y" }, { AB, "div y 0,1", "", "Div a,b y" },
    { AB, "maximum y 0,1", "", "Max a,b y" }, { AB, "minimum y 0,1", "", "Min a,b y" },
    { "k=2,3 k1=3", "add y 0,1", "", "Add k,k1 y" },
    { "k=2,3", "<const> i - value=5::2;mod y 0,1", "i=[2]", "Mod k,i y fmod=1" },
    { "k=2,3", "<const> i - value=5::2;div y 0,1", "i=[2]", "Div k,i y" },
    { "k=2,3 a=3", "add y 0,1", "", "Cast k x to=1;Add x,a y" },
    { "k=2,3 k1=3", "equal y 0,1", "", "Equal k,k1 y" },
    { "k=2,3 k1=3 a=2,3 b=3", "equal c 0,1;where y 4,2,3", "", "Equal k,k1 c;Where c,a,b y" },
    { "k=2,3 a=2,3 b=3", "where y 0,1,2", "", "Cast k c to=9;Where c,a,b y" },
    { A, "abs y 0", "", "Abs a y" }, { A, "ceil y 0", "", "Ceil a y" }, { A, "floor y 0", "", "Floor a y" },
    { A, "erf y 0", "", "Erf a y" }, { A, "exp y 0", "", "Exp a y" }, { A, "tanh y 0", "", "Tanh a y" },
    { A, "sigmoid y 0", "", "Sigmoid a y" }, { A, "softplus y 0", "", "Softplus a y" },
    { "p=2,3", "sqrt y 0", "", "Sqrt p y" }, { "p=2,3", "rsqrt y 0", "", "Sqrt p s;Reciprocal s y" },
    { A, "square y 0", "", "Mul a,a y" }, { "p=2,3", "pow y 0 y=10::0.5", "c={0.5}", "Pow p,c y" },
    { A, "pow y 0 y=5::2", "c={2}", "Pow a,c y" },
    { A, "relu y 0", "", "Relu a y" }, { A, "relu_max y 0 max=10::1", "c={1}", "Relu a b;Min b,c y" },
    { A, "leaky_relu y 0 scale=10::0.25", "", "LeakyRelu a y alpha=0.25" },
    { A, "leaky_relu y 0", "", "Relu a y" },
    { A, "hard_sigmoid y 0", "", "HardSigmoid a y alpha=0.2 beta=0.5" },
    { A, "hard_sigmoid y 0 alpha=10::0.5 beta=10::0.25", "", "HardSigmoid a y alpha=0.5 beta=0.25" },
    { A, "<const> w - value=10:3:;prelu y 0,1 dim=5::1", "w=(3,1)", "PRelu a,w y" },
    { A, "<const> w - value=10:1:;prelu y 0,1 dim=5::2", "w=(1)", "PRelu a,w y" },
    { A, "<const> w - value=10:4:;prelu y 0,1 dim=5::-1", "w=(4)", "PRelu a,w y" },
    { A, "quantize y 0 quantize_scale=10::40", "c={40} h={0.5} m={-128} n={127}",
      "Mul a,c b;Abs b d;Add d,h e;Floor e f;Sign b s;Mul f,s g;Max g,m i;Min i,n y" },
    { A, "quantize y 0 quantize_scale=10:2:40,90", "c={40,90} r=[2,1,1] h={0.5} m={-128} n={127}",
      "Reshape c,r x;Mul a,x b;Abs b d;Add d,h e;Floor e f;Sign b s;Mul f,s g;Max g,m i;Min i,n y" },
    /* sums and norms */
    { A, "<const> w - value=10:3:;add_bias y 0,1 dim=5::1", "w=(3,1)", "Add a,w y" },
    { IMAGE, "<const> w - value=10:3:;add_bias y 0,1 format='NCHW", "w=(3,1,1)", "Add a,w y" },
    { IMAGE, "<const> w - value=10:6:;add_bias y 0,1 format='NHWC", "w=(6)", "Add a,w y" },
    { IMAGE, "<const> w - value=10:3:;<const> q - value=10:3:;batch_norm y 0,1,2 dim=5::1 epsilon=10::0.25",
      "w=(3,1,1) q=+(3,1,1) e={0.25}", "Sub a,w b;Add q,e c;Sqrt c d;Div b,d y" },
    { A, "<const> w - value=10:4:;<const> w1 - value=10:4:;batch_scale y 0,1,2 dim=5::2", "w=(4) w1=(4)",
      "Mul a,w b;Add b,w1 y" },
    { IMAGE, "<const> w - value=10:3:;<const> q - value=10:3:;<const> w1 - value=10:3:;<const> w2 - value=10:3:;"
      "fused_batch_norm y 0,1,2,3,4 dim=5::1", "w=(3) q=+(3) w1=(3) w2=(3)",
      "BatchNormalization a,w1,w2,w,q y epsilon=0.00001" },
    { IMAGE, "<const> w - value=10:3:;<const> q - value=10:3:;<const> w1 - value=10:3:;<const> w2 - value=10:3:;"
      "fused_batch_norm y 0,1,2,3,4 dim=5::1 epsilon=10::0.5", "w=(3) q=+(3) w1=(3) w2=(3)",
      "BatchNormalization a,w1,w2,w,q y epsilon=0.5" },
    { A, "l2_norm y 0", "i=[2] e={0.00001}", "Mul a,a s;ReduceSum s,i t keepdims=1;Add t,e u;Sqrt u v;Div a,v y" },
    { A, "l2_norm y 0 dim=5::1 epsilon=10::0.5", "i=[1] e={0.5}",
      "Mul a,a s;ReduceSum s,i t keepdims=1;Add t,e u;Sqrt u v;Div a,v y" },
    { A, "norm_image y 0 epsilon=10::0.5", "i=[1,2] e={0.5}",
      "ReduceMean a,i m;Sub a,m d;Mul d,d s;ReduceMean s,i v;Sqrt v r;Add r,e u;Div d,u y" },
    { A, "prewhiten y 0", "i=[1,2] e={0.28867513}",
      "ReduceMean a,i m;Sub a,m d;Mul d,d s;ReduceMean s,i v;Sqrt v r;Max r,e u;Div d,u y" },
    { A, "prewhiten y 0 epsilon=10::0.5", "i=[1,2] e={0.28867513}",   /* which TenniS does not read */
      "ReduceMean a,i m;Sub a,m d;Mul d,d s;ReduceMean s,i v;Sqrt v r;Max r,e u;Div d,u y" },
    { A, "softmax y 0 dim=5::1", "", "Softmax a y axis=1" },
    { A, "softmax y 0 dim=5::-1 smooth=21::0", "", "Softmax a y axis=-1" },
    { A, "reduce_mean y 0 dims=5:2:1,2", "i=[1,2]", "ReduceMean a,i y keepdims=1" },
    { A, "reduce_mean y 0 dims=5::-1 keep_dims=21::0", "i=[2]", "ReduceMean a,i y keepdims=0" },
    { A, "reduce_sum y 0 dims=5::1 keep_dims=1::0", "i=[1]", "ReduceSum a,i y keepdims=0" },
    { A, "reduce_prod y 0 dims=5:1:0", "i=[0]", "ReduceProd a,i y keepdims=1" },
    { A, "reduce_prod y 0 dims=5:2:1,2 keep_dims=21::0", "i=[1,2]", "ReduceProd a,i y keepdims=0" },
    { A, "max y 0 dim=5::1", "i=[1]", "ReduceMax a,i y keepdims=1" },
    { A, "max y 0 dim=5::-1 keep_dims=5::0", "i=[2]", "ReduceMax a,i y keepdims=0" },
    { A, "argmax y 0 dim=5::1", "", "ArgMax a y axis=1 keepdims=0" },
    { A, "topkv2 t 0 number=5::2;_field y 1 offset=5::0;_field y1 1 offset=5::1", "i=[2]", "TopK a,i y,y1 axis=2" },
    { A, "topkv2 t 0 number=5::9 sorted=5::1;_field y 1 offset=5::1", "i=[4]", "TopK a,i v,y axis=2" },
    /* products */
    { "a=3,4 b=4,5 c=5", "gemm y 0,1,2", "", "Gemm a,b,c y" },
    { "a=4,3 b=5,4 c=3,1", "gemm y 0,1,2 alpha=10::0.5 beta=10::2 transA=2::1 transB=21::1", "",
      "Gemm a,b,c y alpha=0.5 beta=2.0 transA=1 transB=1" },
    { "a=2,3,4", "<const> w - value=10:12,5:;inner_prod y 0,1 kernel_packed=21::0", "w=(12,5)", "Flatten a x;MatMul x,w y" },
    { "a=2,4", "<const> w - value=10:5,4:;inner_prod y 0,1 transpose=21::1", "w=(5,4)", "Gemm a,w y transB=1" },
    { "a=2,3,4 b=4,5", "matmul y 0,1", "", "MatMul a,b y" },
    { "a=4,2,3", "<const> w - value=10:1,20,3:;<const> w1 - value=10:1,20,5:;<const> w2 - value=10:1,40:;"
      "LSTM l 0,1,2,3 direction='forward hidden_size=5::5;_field y 4 offset=5::0;_field y1 4 offset=5::1;"
      "_field y2 4 offset=5::2", "w=(1,20,3) w1=(1,20,5) w2=(1,40)", "LSTM a,w,w1,w2 y,y1,y2 hidden_size=5" },
    { "a=4,2,3 b=2,2,5 c=2,2,5", "<const> w - value=10:2,20,3:;<const> w1 - value=10:2,20,5:;"
      "<const> w2 - value=10:2,40:;LSTM l 0,3,4,5,1,2 direction='bidirectional hidden_size=5::5;_field y 6 offset=5::1",
      "w=(2,20,3) w1=(2,20,5) w2=(2,40)", "LSTM a,w,w1,w2,,b,c s,y,t hidden_size=5 direction=bidirectional" },
    /* convolutions */
    { IMAGE, KERNEL "conv2d y 0,1" FORMAT PADS(1,1,0,2) STEPS("stride", 2,1) STEPS("dilation", 1,2), "w=(4,3,3,3)",
      "Conv a,w y pads=[1,0,1,2] strides=[2,1] dilations=[1,2]" },
    { IMAGE, KERNEL "conv2d y 0,1" FORMAT PADS(1,1,1,1) STEPS("stride", 1,1) STEPS("dialations", 2,1)
      " padding_value=10::0.5", "w=(4,3,3,3) i=[0,0,1,1,0,0,1,1] c={0.5}",
      "Squeeze c v;Pad a,i,v x;Conv x,w y dilations=[2,1]" },
    { IMAGE, KERNEL "<const> i - value=5:4,2:0,0,0,0,1,0,0,1;conv2d_v2 y 0,2,1 kernel_packed=21::0 padding_value=10::2"
      FORMAT STEPS("stride", 1,1) STEPS("dilation", 2,1), "w=(4,3,3,3) i=[0,0,1,0,0,0,0,1] c={2}",
      "Squeeze c v;Pad a,i,v x;Conv x,w y dilations=[2,1]" },
    { IMAGE, KERNEL "<const> i - value=5:4,2:;conv2d_v2 y 0,2,1" FORMAT STEPS("stride", 1,1) STEPS("dialations", 1,2),
      "w=(4,3,3,3)", "Conv a,w y dilations=[1,2]" },
    { IMAGE, "<const> w - value=10:1,3,3,2:;depthwise_conv2d y 0,1 padding_value=10::-1 kernel_packed=21::0" FORMAT
      PADS(1,0,0,1) STEPS("stride", 1,2) STEPS("dilation", 2,1), "w=(3,1,3,2) i=[0,0,1,0,0,0,0,1] c={-1}",
      "Squeeze c v;Pad a,i,v x;Conv x,w y group=3 strides=[1,2] dilations=[2,1]" },
    { IMAGE, "<const> w - value=10:1,3,3,2:;depthwise_conv2d y 0,1" FORMAT PADS(0,0,0,0) STEPS("stride", 1,1)
      STEPS("dialations", 1,3), "w=(3,1,3,2)", "Conv a,w y group=3 dilations=[1,3]" },
    { IMAGE, "<const> w - value=10:1,3,3,2:;<const> i - value=5:4,2:0,0,0,0,0,0,1,1;depthwise_conv2d_v2 y 0,2,1 "
      "padding_value=10::3 kernel_packed=21::0" FORMAT STEPS("stride", 1,1) STEPS("dilation", 2,1),
      "w=(3,1,3,2) i=[0,0,0,1,0,0,0,1] c={3}", "Squeeze c v;Pad a,i,v x;Conv x,w y group=3 dilations=[2,1]" },
    { IMAGE, "<const> w - value=10:1,3,3,2:;<const> i - value=5:4,2:;depthwise_conv2d_v2 y 0,2,1" FORMAT
      STEPS("stride", 1,1) STEPS("dialations", 1,2), "w=(3,1,3,2)", "Conv a,w y group=3 dilations=[1,2]" },
    { IMAGE, "<const> w - value=10:3,4,3,2:;transpose_conv2d y 0,1 padding_value=10::0 kernel_packed=21::0" FORMAT
      PADS(0,0,0,0) STEPS("stride", 1,1) STEPS("dialations", 2,1), "w=(3,4,3,2)",
      "ConvTranspose a,w y dilations=[2,1]" },
    { IMAGE, "_cast i 0 dtype=5::1;<const> v - value=1:2,3,1,2:1,2,3,4,5,6,7,8,9,10,11,12;conv2d_quantized y 1,2 "
      "padding_value=10::2 kernel_packed=21::0 quantize_scale=10:1:5" FORMAT PADS(1,0,0,1) STEPS("stride", 1,2)
      STEPS("dialations", 1,2) " dequantize_scales=10:2:0.5,2",
      "v={1,2,3,4,5,6,7,8,9,10,11,12} s=[2,3,1,2] c={0.5,2} r=[2,1,1] p=[0,0,1,0,0,0,0,1] b={2}",
      "Cast a i to=3;Cast i x to=1;Squeeze b e;Pad x,p,e f;Reshape v,s w;Conv f,w z strides=[1,2] dilations=[1,2];"
      "Reshape c,r d;Mul z,d y" },
    { IMAGE, KERNEL "conv2d_winograd y 0,1 padding_value=10::0.5 kernel_winograd_transformed=21::0" FORMAT
      PADS(1,0,0,1), "w=(4,3,3,3) i=[0,0,1,0,0,0,0,1] c={0.5}", "Squeeze c v;Pad a,i,v x;Conv x,w y" },
    { IMAGE, KERNEL "conv2d_winograd_v2 y 0,1 padding_value=10::0.5 kernel_winograd_transformed=21::0" FORMAT
      PADS(1,0,0,1), "w=(4,3,3,3) i=[0,0,1,0,0,0,0,1] c={0.5}", "Squeeze c v;Pad a,i,v x;Conv x,w y" },
    { IMAGE, KERNEL "conv2d y 0,1 kernel_packed=21::0" FORMAT PADS(-1,0,0,-2) STEPS("stride", 1,1),
      "w=(4,3,3,3) i=[0,0,-1,0,0,0,0,-2]", "Pad a,i x;Conv x,w y" },
    { "a=2,7,6,3", KERNEL "conv2d y 0,1 format='NHWC padding=5:4,2:0,0,1,1,0,0,0,0 stride=5:4:1,2,1,1", "w=(4,3,3,3)",
      "Transpose a x perm=[0,3,1,2];Conv x,w z pads=[1,0,1,0] strides=[2,1];Transpose z y perm=[0,2,3,1]" },
    { IMAGE, KERNEL "<const> i - value=5:4,2:0,0,0,0,1,0,0,1;conv2d_v2 y 0,2,1" FORMAT STEPS("stride", 1,1),
      "w=(4,3,3,3)", "Conv a,w y pads=[1,0,0,1]" },
    { IMAGE, "<const> w - value=10:1,3,3,2:;depthwise_conv2d y 0,1" FORMAT PADS(1,1,0,0) STEPS("stride", 1,1),
      "w=(3,1,3,2)", "Conv a,w y group=3 pads=[1,0,1,0]" },
    { IMAGE, "<const> w - value=10:1,3,3,2:;<const> i - value=5:4,2:;depthwise_conv2d_v2 y 0,2,1" FORMAT
      STEPS("stride", 2,2), "w=(3,1,3,2)", "Conv a,w y group=3 strides=[2,2]" },
    { IMAGE, "<const> w - value=10:3,4,3,2:;transpose_conv2d y 0,1" FORMAT PADS(1,0,0,1) STEPS("stride", 2,1)
      STEPS("dilation", 1,2), "w=(3,4,3,2)", "ConvTranspose a,w y pads=[1,0,0,1] strides=[2,1] dilations=[1,2]" },
    { IMAGE, "_cast i 0 dtype=5::1;<const> v - value=1:2,3,1,1:1,2,3,4,5,6;conv2d_quantized y 1,2" FORMAT
      PADS(0,0,0,0) STEPS("stride", 1,1) STEPS("dilation", 1,1) " dequantize_scales=10:2:0.5,2",
      "v={1,2,3,4,5,6} s=[2,3,1,1] c={0.5,2} r=[2,1,1]",
      "Cast a i to=3;Cast i x to=1;Reshape v,s w;Conv x,w z;Reshape c,r d;Mul z,d y" },
    { IMAGE " b=2,3,1,1", "_cast i 0 dtype=5::1;_cast j 1 dtype=5::1;conv2d_quantized y 2,3" FORMAT PADS(0,0,0,0)
      STEPS("stride", 1,1) " dequantize_scales=10:2:0.5,2", "c={0.5,2} r=[2,1,1]",
      "Cast a i to=3;Cast i x to=1;Cast b j to=3;Cast j w to=1;Conv x,w z;Reshape c,r d;Mul z,d y" },
    { IMAGE, "_cast i 0 dtype=5::1;<const> v - value=1:2,3,1,1:1,2,3,4,5,6;conv2d_quantized y 1,2" FORMAT
      PADS(0,0,0,0) STEPS("stride", 1,1) " dequantize_scales=10:2:0,-1",
      "v={1,2,3,4,5,6} s=[2,3,1,1] c={0,-1} r=[2,1,1]",
      "Cast a i to=3;Cast i x to=1;Reshape v,s w;Conv x,w z;Reshape c,r d;Mul z,d y" },
    { IMAGE, KERNEL "conv2d_winograd y 0,1" FORMAT PADS(1,1,1,1), "w=(4,3,3,3)", "Conv a,w y pads=[1,1,1,1]" },
    { IMAGE, KERNEL "<const> i - value=5:4,2:;conv2d_winograd_v2 y 0,2,1" FORMAT, "w=(4,3,3,3)", "Conv a,w y" },
    { "a=9,1,3,3", "winograd_transform_kernel y 0 winograd_mode='winograd_f23", "g={1,0,0,0.5,0.5,0.5,0.5,-0.5,0.5,0,0,1} "
      "s=[4,3] t=[16,9,1] r=[9,1,4,4] b=[0] m=[8] n=[9] u=[16,8] v=[16,1]",
      "Reshape g,s G;Transpose G H;MatMul G,a c;MatMul c,H d;Transpose d e perm=[2,3,0,1];Reshape e,t f;"
      "Reshape f,r y" },
    /* pools: the windows are counted upward */
    { IMAGE, "pooling2d y 0 type=5::0" FORMAT PADS(0,0,0,0) STEPS("ksize", 2,2) STEPS("stride", 2,2), "",
      "MaxPool a y kernel_shape=[2,2] strides=[2,2] ceil_mode=1" },
    { IMAGE, "pooling2d y 0 type=5::1" FORMAT PADS(1,1,1,1) STEPS("ksize", 3,3) STEPS("stride", 2,2), "",
      "AveragePool a y kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1] ceil_mode=1" },
    { "a=2,3,7,7", "pooling2d y 0 type=5::1 padding_type=5::3" FORMAT PADS(1,1,1,1) STEPS("ksize", 3,3)
      STEPS("stride", 2,2), "", "AveragePool a y kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1] count_include_pad=1" },
    { IMAGE, "<const> k - value=5:4:1,1,2,2;<const> s - value=5:4:1,1,2,3;_onnx_pooling2d_padding p 0,1,2;"
      "pooling2d_v2 y 0,3,1,2 type=5::1" FORMAT, "", "AveragePool a y kernel_shape=[2,2] strides=[2,3]" },
    { IMAGE, "<const> k - value=5:4:1,1,3,2;<const> s - value=5:4:1,1,2,2;"
      "_onnx_pooling2d_padding p 0,1,2 auto_pad='SAME_UPPER;pooling2d_v2 y 0,3,1,2 type=5::0" FORMAT, "",
      "MaxPool a y kernel_shape=[3,2] strides=[2,2] auto_pad=SAME_UPPER" },
    { "a=2,3,7,7", "<const> k - value=5:4:1,1,3,3;<const> s - value=5:4:1,1,2,2;_onnx_pooling2d_padding p 0,1,2"
      PADS(1,1,1,1) ";pooling2d_v2 y 0,3,1,2 type=5::1 padding_type=5::3" FORMAT, "",
      "AveragePool a y kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1] count_include_pad=1" },
    { IMAGE, "<const> k - value=5:4:1,1,3,3;<const> s - value=5:4:1,1,2,2;"
      "_dragon_pooling2d_padding p 0,1,2 ceil=21::1 auto_pad='VALID" PADS(1,1,1,1) ";pooling2d_v2 y 0,3,1,2 type=5::0"
      FORMAT, "", "MaxPool a y kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1] ceil_mode=1" },
    { IMAGE, "<const> k - value=5:4:1,1,3,2;<const> s - value=5:4:1,1,2,2;"
      "_dragon_pooling2d_padding p 0,1,2 auto_pad='SAME_UPPER;pooling2d_v2 y 0,3,1,2 type=5::0" FORMAT, "",
      "MaxPool a y kernel_shape=[3,2] strides=[2,2] auto_pad=SAME_UPPER" },
    { IMAGE, "<const> k - value=5:4:1,1,3,3;<const> s - value=5:4:1,1,2,2;_tf_pooling2d_padding p 0,1,2 "
      "padding_method='VALID" FORMAT PADS(1,0,0,1) ";pooling2d_v2 y 0,3,1,2 type=5::0" FORMAT, "",
      "MaxPool a y kernel_shape=[3,3] strides=[2,2] pads=[1,0,0,1]" },
    { IMAGE, KERNEL "_tf_conv2d_padding p 0,1 padding_method='VALID" FORMAT PADS(1,0,0,1) STEPS("stride", 1,1)
      STEPS("dilation", 2,1) ";conv2d_v2 y 0,2,1" FORMAT STEPS("stride", 1,1) STEPS("dilation", 2,1), "w=(4,3,3,3)",
      "Conv a,w y pads=[1,0,0,1] dilations=[2,1]" },
    { IMAGE, KERNEL "_tf_conv2d_padding p 0,1 padding_method='SAME" FORMAT STEPS("stride", 1,1)
      STEPS("dialations", 2,2) ";conv2d_v2 y 0,2,1" FORMAT STEPS("stride", 1,1) STEPS("dialations", 2,2),
      "w=(4,3,3,3)", "Conv a,w y pads=[2,2,2,2] dilations=[2,2]" },
    { IMAGE, KERNEL "_dragon_conv2d_padding p 0,1 auto_pad='NOTSET" FORMAT PADS(1,0,2,1) STEPS("stride", 1,1)
      STEPS("dialations", 1,1) ";conv2d_v2 y 0,2,1" FORMAT STEPS("stride", 1,1), "w=(4,3,3,3)",
      "Conv a,w y pads=[1,2,0,1]" },
    { IMAGE, "<const> k - value=5:4:1,1,3,2;<const> s - value=5:4:1,1,2,2;"
      "_onnx_pooling2d_padding p 0,1,2 auto_pad='SAME_LOWER;pooling2d_v2 y 0,3,1,2 type=5::1" FORMAT, "",
      "AveragePool a y kernel_shape=[3,2] strides=[2,2] auto_pad=SAME_LOWER" },
    { IMAGE, "<const> k - value=5:4:1,1,3,2;<const> s - value=5:4:1,1,2,2;"
      "_dragon_pooling2d_padding p 0,1,2 ceil=21::0;pooling2d_v2 y 0,3,1,2 type=5::0" FORMAT, "",
      "MaxPool a y kernel_shape=[3,2] strides=[2,2]" },
    { IMAGE, "<const> k - value=5:4:1,1,2,2;<const> s - value=5:4:1,1,2,3;_mx_pooling2d_padding p 0,1,2 valid=21::1"
      FORMAT PADS(1,1,1,1) ";pooling2d_v2 y 0,3,1,2 type=5::0" FORMAT, "",
      "MaxPool a y kernel_shape=[2,2] strides=[2,3] pads=[1,1,1,1]" },
    { IMAGE, "<const> k - value=5:4:1,1,3,3;<const> s - value=5:4:1,1,2,2;"
      "_tf_pooling2d_padding p 0,1,2 padding_method='SAME" FORMAT ";pooling2d_v2 y 0,3,1,2 type=5::0" FORMAT, "",
      "MaxPool a y kernel_shape=[3,3] strides=[2,2] auto_pad=SAME_UPPER" },
    { IMAGE, KERNEL "_tf_conv2d_padding p 0,1 padding_method='SAME" FORMAT STEPS("stride", 2,2)
      ";conv2d_v2 y 0,2,1" FORMAT STEPS("stride", 2,2), "w=(4,3,3,3)", "Conv a,w y strides=[2,2] auto_pad=SAME_UPPER" },
    { IMAGE, KERNEL "_dragon_conv2d_padding p 0,1 padding_method='SAME_LOWER" FORMAT STEPS("stride", 1,1)
      STEPS("dilation", 1,1) ";conv2d_v2 y 0,2,1" FORMAT STEPS("stride", 1,1), "w=(4,3,3,3)",
      "Conv a,w y pads=[1,1,1,1]" },
    { IMAGE, "global_pooling2d y 0 type=5::1" FORMAT, "", "GlobalAveragePool a y" },
    { IMAGE, "global_pooling2d y 0 type=5::0" FORMAT, "", "GlobalMaxPool a y" },
    /* moves */
    { A, "_reshape y 0 shape=7:3:0,-1,2", "i=[2,6,2]", "Reshape a,i y" },
    { A, "<const> i - value=5:2:4,-1;_reshape_v2 y 0,1", "i=[4,6]", "Reshape a,i y" },
    { A, "flatten y 0", "", "Flatten a y" }, { A, "flatten y 0 dim=5::3", "i=[2,3,4,1]", "Reshape a,i y" },
    { A, "flatten2d y 0 dim=5::2", "", "Flatten a y axis=2" }, { A, "flatten2d y 0 dim=5::-1", "", "Flatten a y axis=2" },
    { "a=1,3,1", "squeeze y 0", "", "Squeeze a y" }, { "a=1,3,1", "squeeze y 0 axes=5:1:-1", "i=[2]", "Squeeze a,i y" },
    { "a=3,2", "unsqueeze y 0 axes=5:2:0,2", "i=[0,2]", "Unsqueeze a,i y" },
    { "a=3,2", "<const> i - value=5::4;_expand y 0,1 front=5::1", "i=[1,3,2,1]", "Reshape a,i y" },
    { "a=3,2", "<const> i - value=5::4;_expand y 0,1 front=5::1 end=5::1 inverse=21::1", "i=[1,3,2,1]", "Reshape a,i y" },
    { A, "_transpose y 0 permute=5:3:2,0,1", "", "Transpose a y perm=[2,0,1]" },
    { A, "_transpose y 0", "", "Transpose a y perm=[0,2,1]" },
    { "a=2,3", "_transpose y 0 permute=5:3:0,2,1", "i=[1,3,2]", "Transpose a x;Reshape x,i y" },
    { A, "<const> i - value=5:3:1,0,2;transpose_v2 y 0,1", "", "Transpose a y perm=[1,0,2]" },
    { A, "_dimshuffle y 0 dim=5::1 shuffle=5:4:2,0,1,1", "i=[2,0,1,1]", "Gather a,i y axis=1" },
    { "a=3,1", "<const> i - value=5:3:2,1,4;broadcast y 0,1", "i=[2,3,4]", "Expand a,i y" },
    { "a=2,3", "tile y 0 repeats=5:2:2,3", "i=[2,3]", "Tile a,i y" },
    { "a=2,3", "<const> i - value=5:3:2,1,3;tile_v2 y 0,1", "s=[1,2,3] i=[2,1,3]", "Reshape a,s x;Tile x,i y" },
    { "a=2,3 b=2,1", "concat y 0,1 dim=5::-1", "", "Concat a,b y axis=1" },
    { "a=2,3 b=2,3", "stack y 0,1 axis=5::1", "i=[1]", "Unsqueeze a,i x;Unsqueeze b,i z;Concat x,z y axis=1" },
    { "a=2,7", "chunk c 0 chunks=5::3 dim=5::1;_field y 1 offset=5::0;_field y1 1 offset=5::1;_field y2 1 offset=5::2",
      "i=[3,3,1]", "Split a,i y,y1,y2 axis=1" },
    { "a=4,2", "chunk c 0 chunks=5::2;_field y 1 offset=5::1", "", "Split a x,y axis=0 num_outputs=2" },
    { "a=2,7", "<const> i - value=5:2:2,5;split c 0,1 axis=5::-1;_field y 2 offset=5::1", "i=[2,5]",
      "Split a,i x,y axis=1" },
    { "a=4,5", "slice y 0 begin=5:2:1,2 size=5:2:2,-1", "i=[1,2] j=[3,5]", "Slice a,i,j y" },
    { "a=4,5", "<const> i - value=5:2:0,1;<const> j - value=5:2:3,2;slice_v2 y 0,1,2", "i=[0,1] j=[3,3]", "Slice a,i,j y" },
    { "a=4,5", "<const> i - value=5:1:-1;<const> j - value=5:1:-9;<const> k - value=5:1:1;<const> l - value=5:1:-2;"
      "slice_v3 y 0,1,2,3,4", "i=[-1] j=[-9] k=[1] l=[-2]", "Slice a,i,j,k,l y" },
    /* k is 0, kd 2, k2 1 */
    { "a=3,4 k=1 kd=1 k2=1", "slice_v3 y 0,1,2,3", "i=[1]", "Slice a,k,kd,i y" },
    { "a=3,4 k=1 kd=1", "slice_v3 y 0,1,2", "", "Slice a,k,kd y" },
    { "a=5,6", "strided_slice y 0 begin=5:2:1,9 end=5:2:-1,0 stride=5:2:2,-2 end_mask=5::2", "i=[1,9] j=[-1,-9] l=[2,-2] m=[0,1]",
      "Slice a,i,j,m,l y" },
    { "a=5,6", "strided_slice y 0 begin=5:2:9,1 end=5:2:3,4 begin_mask=5::1", "i=[0,1] j=[3,4]", "Slice a,i,j y" },
    { A, "strided_slice y 0 begin=5:3:0,0,1 end=5:3:1,1,3 ellipsis_mask=5::2 shrink_axis_mask=5::1", "i=[0,1] j=[1,3] k=[0,2] m=[0]",
      "Slice a,i,j,k x;Squeeze x,m y" },
    { "a=3,4", "strided_slice y 0 begin=5:2:0,1 end=5:2:1,3 new_axis_mask=5::1", "i=[1] j=[3] k=[0] m=[0]",
      "Slice a,i,j,k x;Unsqueeze x,m y" },
    { "a=3,4 k=2,3", "gather y 0,1", "", "Gather a,k y" }, { "a=2,3 k=2", "gather y 0,1 axis=5::-1", "", "Gather a,k y axis=1" },
    { "a=3,3 k=4,2", "gatherv2 y 0,1", "", "GatherND a,k y" },
    { "a=3,4 k=2,4", "gather_elements y 0,1", "", "GatherElements a,k y" },
    { "a=3,4 k=3,2", "gather_elements y 0,1 axis=5::1", "", "GatherElements a,k y axis=1" },
    { "a=3,3 b=2,3", "<const> i - value=7:2,1:2,0;scatter_nd y 0,2,1", "i=[2,0] s=[2,1]", "Reshape i,s k;ScatterND a,k,b y" },
    { "a=2,3", "<const> i - value=5:2,2:1,0,-1,2;pad y 0,1 padding_value=10::0.5", "i=[1,-1,0,2] c={0.5}",
      "Squeeze c v;Pad a,i,v y" },
    { A, "divided y 0 size=5:2:2,3", "i=[0,0,0,0,1,2]", "Pad a,i y" },
    { A, "divided y 0 size=5:1:3 padding_value=10::0.5", "i=[0,0,0,0,0,2] c={0.5}", "Squeeze c v;Pad a,i,v y" },
    { "a=5,7", "_limit y 0 shape=5:2:2,9", "i=[1] j=[3] k=[0]", "Slice a,i,j,k y" },
    { "a=5,7", "<const> i - value=5:2:4,8;crop_nd y 0,1", "i=[0,0,-1,1]", "Pad a,i y" },
    { "a=5,7", "<const> i - value=5:2:4,8;crop_nd y 0,1 shift=5:2:1,-1", "i=[-1,1,0,0]", "Pad a,i y" },
    { "a=2,5,7 b=2,4,8", "crop_to y 0,1 axis=5::1 offset=5:2:1,0", "i=[0,-1,0,0,0,1]", "Pad a,i y" },
    { "a=4,3,2,2", "batch_to_space4d y 0 crop=5:2,2:0,1,1,0 block_shape=5:2:2,2", "i=[2,2,1,3,2,2] j=[1,3,4,4] k=[0,1] l=[3,4] m=[2,3]",
      "Reshape a,i b;Transpose b c perm=[2,3,4,0,5,1];Reshape c,j d;Slice d,k,l,m y" },
    { "a=1,3,4,6", "space_to_batch4d y 0 padding=5:2,2:0,0,0,0 block_shape=5:2:2,3", "i=[1,3,2,2,2,3] j=[6,3,2,2]",
      "Reshape a,i b;Transpose b c perm=[3,5,0,1,2,4];Reshape c,j y" },
    { "k=2", "constant_of_shape c 0 value=10::0.5;_shape y 1", "", "Identity k y" },
    { "a=3", "<const> i - value=5:2:2,3;constant_of_shape c 1 value=10::0.5;add y 0,2", "c={0.5} i=[2,3]", "Add a,c x;Expand x,i y" },
    { "a=5", "<const> i - value=5::1;<const> j - value=5::5;<const> l - value=5::2;range r 1,2,3;gather y 0,4", "i=[1,3]", "Gather a,i y" },
    /* images */
    { "a=2,3,8,8", "<const> i - value=5:4:-1,-1,3,5;_resize2d y 0,1 type=5::0", "i=[2,3,3,5]",
      "Resize a,,,i y mode=linear coordinate_transformation_mode=half_pixel" },
    { "a=2,3,4,5", "<const> i - value=5:4:2,3,8,10;_resize2d y 0,1 type=5::2", "i=[2,3,8,10]",
      "Resize a,,,i y mode=nearest coordinate_transformation_mode=half_pixel nearest_mode=round_prefer_ceil" },
    { "a=4,5,3", "<const> i - value=5:3:8,10,-1;_resize2d y 0,1 type=5::3", "i=[0,0,1,1,2,2,3,3] j=[0,0,1,1,2,2,3,3,4,4]",
      "Gather a,i b axis=0;Gather b,j y axis=1" },
    { "a=2,3,4,5", "<const> i - value=5:2:8,10;resize_nearest_neighbor y 0,1 dim=5::2 align_corners=21::1",
      "i=[2,3,8,10]",
      "Resize a,,,i y mode=nearest coordinate_transformation_mode=half_pixel nearest_mode=round_prefer_ceil" },
    { "a=2,4,6,3", "<const> c - value=10:4:1,0.5,0.5,1;sample2d_v2 y 0,1", "i=[0,2] j=[0,2,4]", "Gather a,i b axis=1;Gather b,j y axis=2" },
    { "a=2,4,6", "sample2d y 0 scale=10::0.5 type=5::2", "i=[0,2] j=[0,2,4]", "Gather a,i b axis=1;Gather b,j y axis=2" },
    { "a=4,6,3", "sample2d y 0 scale=10::0.5 dim=5::0", "i=[0,2] j=[0,2,4]", "Gather a,i b axis=0;Gather b,j y axis=1" },
    { "a=2,4,6,3", "<const> c - value=10:4:1,0.5,0.5,1;sample2d_v2 y 0,1 type=5::0", "s=[2,3,2,3]",
      "Transpose a b perm=[0,3,1,2];Resize b,,,s c mode=linear coordinate_transformation_mode=half_pixel;"
      "Transpose c y perm=[0,2,3,1]" },
    { "a=4,5", "<const> i - value=5:2:2,3;<const> m - value=10:3,3:1,0,-1,0,1,0,0,0,1;"
      "affine_sample2d y 0,1,2 type=5::2 dim=5::0 outer_value=10::0.5", "i=[0,1] p=[0,1,0,0] c={0.5}",
      "Gather a,i b axis=0;Gather b,i d axis=1;Squeeze c v;Pad d,p,v y" },
    { "a=2,4,6", "<const> i - value=5:2:3,2;<const> m - value=10:3,3:0,1,1,1,0,0,0,0,1;"
      "affine_sample2d y 0,1,2 type=5::2 dim=5::1", "i=[0,1] j=[1,2,3]",
      "Gather a,i b axis=1;Gather b,j c axis=2;Transpose c y perm=[0,2,1]" },
    { "a=2,4,1", "force_color y 0", "i=[1,1,3]", "Tile a,i y" },
    { "a=2,4,1", "force_color y 0 dim=5::-1 dims=5::3", "i=[1,1,3]", "Tile a,i y" },   /* neither is read */
    { "a=2,4,3", "force_gray y 0 scale=10:3:1,2,-1", "c={1,2,-1} i=[2]", "Mul a,c x;ReduceSum x,i y keepdims=1" },
    { "a=2,5,6,3", "_nhwc_center_crop2d y 0 size=5:2:4,3", "i=[1,1] j=[4,5] k=[1,2]", "Slice a,i,j,k y" },
    { "a=1,4,6,3", "_nhwc_letterbox y 0 size=5:2:3,3 type=5::2 outer_value=10::0.5", "i=[0,2] j=[0,2,4] p=[0,0,0,0,0,1,0,0] c={0.5}",
      "Gather a,i b axis=1;Gather b,j d axis=2;Squeeze c v;Pad d,p,v y" },
    { "a=1,4,8,3", "_nhwc_scale_resize2d y 0 size=5:1:8 type=5::3", "i=[0,0,1,1,2,2,3,3] j=[0,0,1,1,2,2,3,3,4,4,5,5,6,6,7,7]",
      "Gather a,i b axis=1;Gather b,j y axis=2" },
};

static bool agree(const xir_array *a, const xir_array *b) {
    const xir_type *s = xir_array_type(a), *t = xir_array_type(b);
    bool same = xir_type_rank(s) == xir_type_rank(t) && xir_array_count(a) == xir_array_count(b);
    for (size_t i = 0; same && i < xir_type_rank(s); i++)
        same = xir_type_dim(s, (int64_t)i, false) == xir_type_dim(t, (int64_t)i, false);
    for (size_t i = 0; same && i < xir_array_count(a); i++) {
        const double x = xir_array_real(a, i), y = xir_array_real(b, i);
        same = fabs(x - y) <= 1e-5 + 1e-5 * fabs(y);
    }
    return same;
}

static bool converts(xir_network *net) {
    xir_diags_clear(why);
    const xir_status status = xir_pass_run(net, "tsm-to-xir", "strict", NULL, why);
    if (status || xir_diags_count(why)) xir_diags_print(why, stderr);
    return !status && !xir_diags_count(why) && xir_network_validate(net, why) == XIR_OK;
}

static bool checks(xir_network *net) {
    xir_diags_clear(why);
    if (xir_dialect_check(net, why) == XIR_OK && !xir_diags_count(why)) return true;
    xir_diags_print(why, stderr);
    return false;
}

static bool same(const pair *p) {
    static char text[8000];
    char inputs[1000], outputs[1000];
    xir_array *x[TSM_MOST_ENDS] = { NULL }, *y[TSM_MOST_ENDS] = { NULL };
    tsm_text(text, p->inputs, p->nodes, inputs, outputs);
    xir_network *net = tsm_net(text);
    if (!checks(net) || !converts(net)) return xir_network_free(net), false;
    xir_network *onnx = onnx_net(inputs, p->weights, p->onnx, outputs);
    bool all = true;
    const size_t n = tsm_run(net, x);
    assert_int_equal(tsm_run(onnx, y), n);
    for (size_t k = 0; k < n; k++) {
        const bool one = agree(x[k], y[k]);
        if (!one)
            print_error("output %zu: %.9g, expected %.9g, …\n", k, xir_array_real(x[k], 0), xir_array_real(y[k], 0));
        all &= one;
        xir_array_free(x[k]);
        xir_array_free(y[k]);
    }
    xir_network_free(net);
    xir_network_free(onnx);
    return all;
}

static void operators_compute_what_onnx_computes(void **state) {
    (void)state;
    size_t wrong = 0;
    const char *only = getenv("XIR_TSM_ONLY");
    for (size_t i = 0; i < COUNT(pairs); i++) {
        if ((only && atoi(only) != (int)i) || same(&pairs[i])) continue;
        print_error("%zu: %s: %s\n", i, pairs[i].inputs, pairs[i].nodes);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

/* A constant kernel of 8 bits has a quantised type, and what it stands for goes back to TensorStack. */
static void kernels_of_8_bits_are_quantised(void **state) {
    static char text[8000];
    char in[1000], outputs[1000];
    xir_value *params[8];
    xir_array *y = NULL, *again = NULL;
    size_t quantised = 0;
    (void)state;
    tsm_text(text, "a=1,3,4,4", "_cast i 0 dtype=5::1;<const> v - value=1:2,3,1,1:1,2,-3,4,5,-128;conv2d_quantized y 1,2"
             FORMAT PADS(0,0,0,0) STEPS("stride", 1,1) " dequantize_scales=10:2:0.1,2", in, outputs);
    xir_network *net = tsm_net(text);
    assert_true(converts(net));
    const size_t n = xir_network_params(net, params, 8);
    for (size_t i = 0; i < n; i++) {
        const xir_type *type = xir_value_type(params[i]), *element = xir_type_element(type);
        if (!xir_type_is_quantized(element)) continue;
        quantised++;
        assert_int_equal(xir_type_storage_bits(element), 8);
        assert_int_equal(xir_scales_count(xir_type_scale(element)), 2);
        assert_int_equal(xir_type_dim(type, xir_scales_axis(xir_type_scale(element)), false), 2);
        assert_true(xir_scales_at(xir_type_scale(element), 0) == (double)0.1f);
    }
    assert_int_equal(quantised, 1);
    assert_int_equal(tsm_run(net, &y), 1);
    DOES(xir_pass_run(net, "layout", "to=nchw", NULL, why));
    DOES(xir_pass_run(net, "xir-to-tsm", "strict", NULL, why));
    assert_true(converts(net));
    assert_int_equal(tsm_run(net, &again), 1);
    assert_true(agree(again, y));
    xir_array_free(y);
    xir_array_free(again);
    xir_network_free(net);
}

/* A packed result is all its fields, as often as it is listed. */
static void packed_results_are_their_fields(void **state) {
    (void)state;
    xir_array *y[TSM_MOST_ENDS] = { NULL };
    xir_network *net = tsm_net("inputs 0\noutputs 1,2,1\nn <param> a - #dtype=5::10 #shape=5:2:4,3\n"
                               "n chunk c 0 chunks=5::2 dim=5::0\nn abs b 0\n");
    assert_true(converts(net));
    assert_int_equal(tsm_run(net, y), 5);
    for (size_t i = 0; i < 6; i++) {
        const double first = 2 * number_of("a", i), second = 2 * number_of("a", 6 + i);
        assert_true(fabs(xir_array_real(y[0], i) - first) < 1e-6 && fabs(xir_array_real(y[1], i) - second) < 1e-6);
        assert_true(fabs(xir_array_real(y[3], i) - first) < 1e-6 && fabs(xir_array_real(y[4], i) - second) < 1e-6);
    }
    assert_int_equal(xir_array_count(y[2]), 12);
    for (size_t i = 0; i < 5; i++) xir_array_free(y[i]);
    xir_network_free(net);
}

/* ---- operators of detectors: formulas ---------------------------------------------------------------------------- */

static size_t computed(const char *inputs, const char *nodes, xir_array **out) {
    static char text[8000];
    char in[1000], outputs[1000];
    tsm_text(text, inputs, nodes, in, outputs);
    xir_network *net = tsm_net(text);
    assert_true(converts(net));
    const size_t n = tsm_run(net, out);
    xir_network_free(net);
    return n;
}

static void boxes_that_overlap_are_left_out(void **state) {
    (void)state;
    xir_array *y = NULL;   /* boxes 1 and 2 overlap by 2/3, and box 3 has no score */
    computed("p=1", "<const> b - value=10:4,4:0,0,1,1,2,2,1,5,2,2,1,4,9,9,1,1;<const> s - value=10:4:0.5,0.25,0.75,0;"
             "non_max_suppression_v3 n 1,2 max_output_size=5::3 iou_threshold=10::0.5 score_threshold=10::0.1 mode='xywh;"
             "_cast f 3 dtype=5::10;mul y 0,4", &y);
    const double p = positive_of("p", 0), expected[] = { 2 * p, 0, -p };
    for (size_t i = 0; i < 3; i++) assert_true(fabs(xir_array_real(y, i) - expected[i]) < 1e-6);
    xir_array_free(y);
}

/* One box of 4 in a cell of 2 x 2 of an image of 8 x 4, and one of the ratio 4. */
static void prior_boxes(void **state) {
    (void)state;
    xir_array *y = NULL;
    assert_int_equal(computed("a=1,1,2,2 b=1,3,4,8", "prior_box y 0,1 min_size=10:1:4 max_size=10:0: aspect_ratio=10:1:4 "
                              "flip=21::0 variance=10:4:1,2,3,4 clip=21::0", &y), 1);
    assert_int_equal(xir_array_count(y), 2 * 2 * 2 * 2 * 4);
    const double expected[] = { 0, -0.25, 0.5, 0.75, -0.25, 0, 0.75, 0.5 };
    for (size_t i = 0; i < 8; i++) assert_true(fabs(xir_array_real(y, i) - expected[i]) < 1e-6);
    for (size_t i = 0; i < 32; i++) assert_true(xir_array_real(y, 32 + i) == (double)(i % 4 + 1));
    xir_array_free(y);
}

static void yolo_maps(void **state) {
    (void)state;
    xir_array *y[2] = { NULL };
    computed("a=1,14,1,2", "yolo l 0 classes=5::2 mask=5:2:0,1 anchors=10:4:1,2,3,4;_field y 1 offset=5::0;"
             "_field y1 1 offset=5::3", y);
    for (size_t i = 0; i < 28; i++) {
        const size_t map = i / 2 % 7;
        const double x = 2 * number_of("a", i), expected = map == 2 || map == 3 ? x : 1 / (1 + exp(-x));
        assert_true(fabs(xir_array_real(y[0], i) - expected) < 1e-6);
    }
    assert_true(xir_array_count(y[1]) == 4 && xir_array_real(y[1], 3) == 4);
    xir_array_free(y[0]);
    xir_array_free(y[1]);
}

/* Channel `map` of an image at a place, linear between cells; 0 outside. */
static double between(const char *name, int map, double row, double column, int rows, int columns) {
    double sum = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            sum += fmax(0, 1 - fabs(row - i)) * fmax(0, 1 - fabs(column - j)) * 2 *
                   number_of(name, (size_t)((map * rows + i) * columns + j));
    return sum;
}

/* The same with the cells of the border outside; 0 outside by more than one cell. */
static double sample(const char *name, double row, double column, int rows, int columns) {
    if (row < -1 || row > rows || column < -1 || column > columns) return 0;
    return between(name, 0, fmin(fmax(row, 0), rows - 1), fmin(fmax(column, 0), columns - 1), rows, columns);
}

static void regions_are_means_of_samples(void **state) {
    (void)state;
    xir_array *y = NULL;
    computed("a=1,1,5,6", "<const> r - value=10:2,5:0,1,0,9,5,-1,0,0,4,4;roi_align y 0,1 pool_h=5::2 pool_w=5::3 "
             "spatial_scale=10::0.5 sampling_ratio=5::2", &y);
    for (int p = 0; p < 6; p++) {   /* from (0.5, 0) to (4.5, 2.5) */
        double sum = 0;
        for (int k = 0; k < 4; k++)
            sum += sample("a", (p / 3 + (k / 2 + 0.5) / 2) * 1.25, 0.5 + (p % 3 + (k % 2 + 0.5) / 2) * 4 / 3., 5, 6);
        assert_true(fabs(xir_array_real(y, (size_t)p) - sum / 4) < 1e-5);
        assert_true(xir_array_real(y, (size_t)p + 6) == 0);
    }
    xir_array_free(y);
}

/* Two images of 4 channels in two parts, a kernel of 2 x 3, 3 x 4 windows. */
static void deformed_convolutions(void **state) {
    (void)state;
    enum { MAPS = 4, ROWS = 5, COLUMNS = 6, OUT = 3, TAPS = 6, HIGH = 3, WIDE = 4, CELLS = HIGH * WIDE };
    xir_array *y = NULL, *again = NULL;
#define DEFORMED(spelling) "<const> w - value=10:3,4,2,3:;<const> w1 - value=10:3:;dcn_v2_forward y 0,3,4,1,2 " \
        "format='NCHW padding=5:4,2:0,0,0,0,1,1,1,1 stride=5:4:1,1,2,1 " spelling "=5:4:1,1,1,2 deformable_groups=5::2"
    computed("a=2,4,5,6 b=2,24,3,4 c=2,12,3,4", DEFORMED("dilation"), &y);
    computed("a=2,4,5,6 b=2,24,3,4 c=2,12,3,4", DEFORMED("dialations"), &again);
    assert_true(agree(again, y));
    xir_array_free(again);
    assert_int_equal(xir_array_count(y), 2 * OUT * CELLS);
    for (int i = 0; i < 2 * OUT * CELLS; i++) {
        const int image = i / (OUT * CELLS), out = i / CELLS % OUT, cell = i % CELLS;
        double sum = number_of("w1", (size_t)out);
        for (int k = 0; k < MAPS * TAPS; k++) {
            const int map = k / TAPS, tap = k % TAPS, of = (image * 2 + map / 2) * TAPS + tap;
            const double row = 2 * number_of("b", (size_t)(2 * of * CELLS + cell)),
                         column = 2 * number_of("b", (size_t)((2 * of + 1) * CELLS + cell));
            sum += number_of("w", (size_t)(out * MAPS * TAPS + k)) * 2 * number_of("c", (size_t)(of * CELLS + cell)) *
                   between("a", image * MAPS + map, cell / WIDE * 2 - 1 + tap / 3 + row,
                           cell % WIDE - 1 + tap % 3 * 2 + column, ROWS, COLUMNS);
        }
        if (fabs(xir_array_real(y, (size_t)i) - sum) > 1e-4)
            fail_msg("element %d is %.9g, expected %.9g", i, xir_array_real(y, (size_t)i), sum);
    }
    xir_array_free(y);
}

static void patches_around_points(void **state) {
    (void)state;
    xir_array *y = NULL;   /* 3 x 3 cells around (0.5, 0) and (1, 1) of 5 x 5 */
    computed("a=1,1,5,5", "<const> p - value=10:1,4,1,1:0.5,0,1,1;shape_index_patch y 0,1 origin_patch=5:2:3,3 "
             "origin=5:2:5,5", &y);
    for (int i = 0; i < 18; i++) {
        const int point = i / 3 % 2, r = i / 6 + (point ? 3 : 0), column = i % 3 + (point ? 3 : 1);
        const bool in = r >= 0 && r < 5 && column < 5;
        const double expected = in ? 2 * number_of("a", (size_t)(r * 5 + column)) : 0;
        assert_true(fabs(xir_array_real(y, (size_t)i) - expected) < 1e-6);
    }
    xir_array_free(y);
}

/* ---- all rows ---------------------------------------------------------------------------------------------------- */

static bool has_word(const char *text, const char *word) {
    const size_t n = strlen(word);
    for (const char *p = text; (p = strstr(p, word)); p += n)
        if ((p == text || p[-1] == ';' || p[-1] == ' ') && p[n] == ' ') return true;
    return false;
}

static bool has_parameter(const char *text, const char *row, xir_str name) {
    char word[80];
    snprintf(word, sizeof word, " %.*s=", (int)name.size, name.data);
    if (strcmp(row, "transpose_conv2d") == 0 && strcmp(word, " output_shape=") == 0) return true;   /* refused */
    return has_word(text, row) && strstr(text, word);
}

/* Every parameter that a row lists, but those of all nodes, has a value in some network above. */
static void every_parameter_is_tried(void **state) {
    (void)state;
    static const char *const elsewhere[] = { "non_max_suppression_v3", "roi_align", "dcn_v2_forward" };
    const xir_convert_row *row;
    size_t wrong = 0, tried = 0;
    for (size_t i = 0; (row = xir_convert_at(ctx, i)); i++) {
        if (strncmp(row->name, "tsm::", 5) != 0 || !row->cls) continue;
        bool skip = false;
        for (size_t k = 0; k < COUNT(elsewhere); k++) skip |= strcmp(elsewhere[k], row->name + 5) == 0;
        for (const char *p = row->attributes; !skip && *p; p += strcspn(p, " "), p += strspn(p, " ")) {
            const xir_str name = { p, strcspn(p, ":") };
            bool found = *p == '#' || *p == '*';
            for (size_t k = 0; k < COUNT(pairs) && !found; k++)
                found = has_parameter(pairs[k].nodes, row->name + 5, name);
            tried++;
            if (found) continue;
            print_error("%s of %s is not tried\n", p, row->name);
            wrong++;
        }
    }
    assert_true(tried > 400);
    assert_int_equal(wrong, 0);
}

static void every_row_is_tried(void **state) {
    (void)state;
    static const char *const by_formula[] = { "non_max_suppression_v3", "prior_box", "yolo", "roi_align",
                                              "shape_index_patch", "dcn_v2_forward" };
    const xir_convert_row *row;
    size_t wrong = 0, rows = 0;
    for (size_t i = 0; (row = xir_convert_at(ctx, i)); i++) {
        if (strncmp(row->name, "tsm::", 5) != 0 || !row->cls) continue;
        bool tried = false;
        for (size_t k = 0; k < COUNT(pairs) && !tried; k++) tried = has_word(pairs[k].nodes, row->name + 5);
        for (size_t k = 0; k < COUNT(by_formula); k++) tried |= strcmp(by_formula[k], row->name + 5) == 0;
        rows++;
        if (tried) continue;
        print_error("%s is not tried\n", row->name);
        wrong++;
    }
    assert_true(rows >= 115);
    assert_int_equal(wrong, 0);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_compute_what_onnx_computes),
        cmocka_unit_test(kernels_of_8_bits_are_quantised),
        cmocka_unit_test(packed_results_are_their_fields),
        cmocka_unit_test(boxes_that_overlap_are_left_out),
        cmocka_unit_test(prior_boxes),
        cmocka_unit_test(yolo_maps),
        cmocka_unit_test(regions_are_means_of_samples),
        cmocka_unit_test(deformed_convolutions),
        cmocka_unit_test(patches_around_points),
        cmocka_unit_test(every_row_is_tried),
        cmocka_unit_test(every_parameter_is_tried),
    };
    return RUN_GROUP(tests);
}
