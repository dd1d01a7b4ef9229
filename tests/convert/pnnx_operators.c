/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators of PNNX compute what the same operators of ONNX compute, with the same weights and inputs; those that ONNX
 * does not have, what a formula gives. */
#include <math.h>
#include "convert/onnx_text.h"
#include "convert/pnnx_text.h"

/* ---- the same in both ------------------------------------------------------------------------------------------- */

typedef struct pair {
    const char *inputs, *outputs, *lines, *weights, *nodes;
} pair;

#define IMAGE "a=(2,4,7,6)f32"
static const pair pairs[] = {
    /* convolutions */
    { IMAGE, "y", "nn.Conv2d c 1 1 a y bias=True dilation=(1,2) groups=2 in_channels=4 kernel_size=(3,2) out_channels=6 "
      "padding=(1,2) padding_mode=zeros stride=(2,1) @bias=(6)f32 @weight=(6,2,3,2)f32\n",
      "c.bias=(6) c.weight=(6,2,3,2)",
      "Conv a,c.weight,c.bias y dilations=[1,2] group=2 pads=[1,2,1,2] strides=[2,1]" },
    { IMAGE, "y", "nn.Conv2d c 1 1 a y bias=False dilation=(1,1) groups=1 in_channels=4 kernel_size=(3,2) out_channels=2 "
      "padding=same padding_mode=zeros stride=(1,1) @weight=(2,4,3,2)f32\n",
      "c.weight=(2,4,3,2)", "Conv a,c.weight y auto_pad=SAME_UPPER" },
    { "a=(2,3,9)f32", "y", "nn.Conv1d c 1 1 a y bias=True dilation=(1) groups=1 in_channels=3 kernel_size=(3) "
      "out_channels=4 padding=(1) padding_mode=zeros stride=(2) @bias=(4)f32 @weight=(4,3,3)f32\n",
      "c.bias=(4) c.weight=(4,3,3)", "Conv a,c.weight,c.bias y pads=[1,1] strides=[2]" },
    { "a=(1,2,5,4,3)f32", "y", "nn.Conv3d c 1 1 a y bias=False dilation=(1,1,1) groups=1 in_channels=2 "
      "kernel_size=(3,2,1) out_channels=3 padding=(1,0,1) padding_mode=zeros stride=(1,2,1) @weight=(3,2,3,2,1)f32\n",
      "c.weight=(3,2,3,2,1)", "Conv a,c.weight y pads=[1,0,1,1,0,1] strides=[1,2,1]" },
    { IMAGE, "y", "pnnx.Attribute p 0 1 w @data=(3,4,3,3)f32\nF.conv2d f 2 1 a w y bias=None dilation=(1,1) groups=1 "
      "padding=(0,0) stride=(1,1) $input=a $weight=w\n", "p.data=(3,4,3,3)", "Conv a,p.data y" },
    { IMAGE, "y", "nn.ConvTranspose2d c 1 1 a y bias=True dilation=(1,1) groups=2 in_channels=4 kernel_size=(3,2) "
      "out_channels=6 output_padding=(1,0) padding=(1,0) stride=(2,1) @bias=(6)f32 @weight=(4,3,3,2)f32\n",
      "c.bias=(6) c.weight=(4,3,3,2)",
      "ConvTranspose a,c.weight,c.bias y group=2 output_padding=[1,0] pads=[1,0,1,0] strides=[2,1]" },
    /* without a batch */
    { "a=(4,7,6)f32", "y", "nn.Conv2d c 1 1 a y bias=True dilation=(1,1) groups=1 in_channels=4 kernel_size=(3,2) "
      "out_channels=3 padding=(1,0) padding_mode=zeros stride=(1,2) @bias=(3)f32 @weight=(3,4,3,2)f32\n",
      "c.bias=(3) c.weight=(3,4,3,2) i=[0]",
      "Unsqueeze a,i b;Conv b,c.weight,c.bias d pads=[1,0,1,0] strides=[1,2];Squeeze d,i y" },
    { "a=(4,5)f32", "y", "nn.ConvTranspose1d c 1 1 a y bias=False dilation=(1) groups=1 in_channels=4 kernel_size=(3) "
      "out_channels=2 output_padding=(0) padding=(1) stride=(2) @weight=(4,2,3)f32\n", "c.weight=(4,2,3) i=[0]",
      "Unsqueeze a,i b;ConvTranspose b,c.weight d pads=[1,1] strides=[2];Squeeze d,i y" },
    /* a weight that is an input, or has half of the bits */
    { "a=(2,3)f32 b=(4,3)f32", "y", "nn.Linear l 2 1 a b y bias=True in_features=3 out_features=4 @bias=(4)f32 $input=a "
      "$weight=b\n", "l.bias=(4)", "Gemm a,b,l.bias y transB=1" },
    { "a=(2,3)f32", "y", "nn.Linear l 1 1 a y bias=False in_features=3 out_features=4 @weight=(4,3)f16\n",
      "l.weight=(4,3)", "Cast l.weight h to=10;Cast h w to=1;Gemm a,w y transB=1" },
    { IMAGE, "y", "nn.Conv2d c 1 1 a y bias=False dilation=(1,1) groups=1 in_channels=4 kernel_size=(3,2) out_channels=2 "
      "padding=(0,0) padding_mode=zeros stride=(1,1) @weight=(2,4,3,2)bf16\n", "c.weight=(2,4,3,2)",
      "Cast c.weight h to=16;Cast h w to=1;Conv a,w y" },
    { IMAGE, "y", "F.sigmoid s 1 1 a b\ntorch.logit l 1 1 b y eps=None\n", "", "Identity a y" },
    /* pools */
    { IMAGE, "y", "nn.MaxPool2d p 1 1 a y ceil_mode=True dilation=(1,1) kernel_size=(3,2) padding=(1,1) "
      "return_indices=False stride=(2,2)\n", "",
      "MaxPool a y ceil_mode=1 kernel_shape=[3,2] pads=[1,1,1,1] strides=[2,2]" },
    { IMAGE, "y", "nn.AvgPool2d p 1 1 a y ceil_mode=False count_include_pad=True divisor_override=None kernel_size=(3,2) "
      "padding=(1,0) stride=(2,2)\n", "",
      "AveragePool a y count_include_pad=1 kernel_shape=[3,2] pads=[1,0,1,0] strides=[2,2]" },
    { IMAGE, "y", "F.avg_pool2d p 1 1 a y ceil_mode=False count_include_pad=False divisor_override=None kernel_size=(3,3) "
      "padding=(1,1) stride=None\n", "",
      "AveragePool a y kernel_shape=[3,3] pads=[1,1,1,1] strides=[3,3]" },
    { IMAGE, "y", "nn.AdaptiveAvgPool2d p 1 1 a y output_size=(1,1)\n", "", "GlobalAveragePool a y" },
    { IMAGE, "y", "F.adaptive_max_pool2d p 1 1 a y output_size=(1,1) return_indices=False\n", "", "GlobalMaxPool a y" },
    /* normalisations */
    { IMAGE, "y", "nn.BatchNorm2d n 1 1 a y affine=True eps=1.000000e-3 num_features=4 @bias=(4)f32 "
      "@running_mean=(4)f32 @running_var=(4)f32 @weight=(4)f32\nF.relu r 1 1 y unused\n",
      "n.bias=(4) n.running_mean=(4) n.running_var=(4) n.weight=(4)",
      "BatchNormalization a,n.weight,n.bias,n.running_mean,n.running_var y epsilon=0.001" },
    { IMAGE, "y", "nn.InstanceNorm2d n 1 1 a y affine=True eps=1.000000e-2 num_features=4 track_running_stats=False "
      "@bias=(4)f32 @weight=(4)f32\n", "n.bias=(4) n.weight=(4)",
      "InstanceNormalization a,n.weight,n.bias y epsilon=0.01" },
    { IMAGE, "y", "nn.GroupNorm n 1 1 a y affine=True eps=1.000000e-2 num_channels=4 num_groups=2 @bias=(4)f32 "
      "@weight=(4)f32\n", "n.bias=(4) n.weight=(4)",
      "GroupNormalization a,n.weight,n.bias y epsilon=0.01 num_groups=2" },
    { IMAGE, "y", "nn.LayerNorm n 1 1 a y elementwise_affine=True eps=1.000000e-2 normalized_shape=(7,6) @bias=(7,6)f32 "
      "@weight=(7,6)f32\n", "n.bias=(7,6) n.weight=(7,6)",
      "LayerNormalization a,n.weight,n.bias y axis=-2 epsilon=0.01" },
    { IMAGE, "y", "nn.LocalResponseNorm n 1 1 a y alpha=0.5 beta=0.75 k=2.0 size=3\n", "",
      "LRN a y alpha=0.5 beta=0.75 bias=2.0 size=3" },
    /* products */
    { "a=(5,4)f32", "y", "nn.Linear l 1 1 a y bias=True in_features=4 out_features=3 @bias=(3)f32 @weight=(3,4)f32\n",
      "l.bias=(3) l.weight=(3,4)", "Gemm a,l.weight,l.bias y transB=1" },
    { "a=(2,5,4)f32 b=(2,4,3)f32", "y", "torch.bmm l 2 1 a b y $input=a $mat2=b\n", "", "MatMul a,b y" },
    { "a=(5,3)f32 b=(5,4)f32 c=(4,3)f32", "y",
      "torch.addmm l 3 1 a b c y alpha=2.0 beta=0.5 $input=a $mat1=b $mat2=c\n", "",
      "Gemm b,c,a y alpha=2.0 beta=0.5" },
    { "a=(2,3,4)f32 b=(2,5,4)f32", "y", "torch.einsum e 2 1 a b y equation=bij,bkj->bik\n", "",
      "Einsum a,b y equation=bij,bkj->bik" },
    { "a=(2,3,4)f32 b=(2,3,4)f32 c=(2,3,5)f32", "y", "F.scaled_dot_product_attention s 3 1 a b c y dropout_p=0.0 "
      "is_causal=True scale=0.5 $query=a $key=b $value=c\n", "m=[1,0,0,1,1,0,1,1,1] d=[3,3] k=[1000] e=[2]",
      "Einsum a,b s equation=bij,bkj->bik;Cast e two to=1;Div s,two p;Cast k big to=1;Sub p,big low;Reshape m,d r;"
      "Cast r t to=9;Where t,p,low q;Softmax q z axis=-1;MatMul z,c y" },
    /* activations that ONNX has */
    { IMAGE, "y", "nn.PReLU p 1 1 a y num_parameters=4 @weight=(4)f32\n", "p.weight=(4) i=[4,1,1]",
      "Reshape p.weight,i w;PRelu a,w y" },
    { IMAGE, "y", "F.gelu g 1 1 a y\n", "", "Gelu a y" },
    { IMAGE, "y", "nn.GELU g 1 1 a y approximate=tanh\n", "", "Gelu a y approximate=tanh" },
    { IMAGE, "y", "nn.SELU s 1 1 a y\n", "", "Selu a y" },
    { IMAGE, "y", "nn.CELU s 1 1 a y alpha=0.5\n", "", "Celu a y alpha=0.5" },
    { IMAGE, "y", "F.softmax s 1 1 a y dim=1\n", "", "Softmax a y axis=1" },
    { IMAGE, "y", "nn.LogSoftmax s 1 1 a y dim=-1\n", "", "LogSoftmax a y axis=-1" },
    /* reductions and searches */
    { IMAGE, "y", "torch.mean r 1 1 a y dim=(1,-1) keepdim=True\n", "i=[1,3]", "ReduceMean a,i y" },
    { IMAGE, "y", "torch.sum r 1 1 a y dim=(2) keepdim=False\n", "i=[2]", "ReduceSum a,i y keepdims=0" },
    { IMAGE, "y", "torch.logsumexp r 1 1 a y dim=(1) keepdim=False\n", "i=[1]", "ReduceLogSumExp a,i y keepdims=0" },
    /* elements by their places */
    { "a=(3,4)f32", "y", "torch.tril t 1 1 a y diagonal=0\n", "", "Trilu a y upper=0" },
    { "a=(2,3,4)f32", "y", "torch.triu t 1 1 a y diagonal=1\n", "k=[1]", "Squeeze k j;Trilu a,j y" },
    { "a=(3)f32 b=(4)f32", "y", "torch.outer o 2 1 a b y\n", "i=[1]", "Unsqueeze a,i c;Mul c,b y" },
    { "a=(3)f32 b=(4)f32", "y z", "torch.meshgrid m 2 2 a b y z indexing=ij\n", "i=[1] s=[3,4]",
      "Unsqueeze a,i c;Expand c,s y;Expand b,s z" },
    { "a=(3)f32 b=(4)f32", "y z", "torch.meshgrid m 2 2 a b y z indexing=xy\n", "i=[1] s=[4,3]",
      "Expand a,s y;Unsqueeze b,i c;Expand c,s z" },
    /* sorted elements, and truths */
    { IMAGE, "y z", "torch.sort s 1 2 a y z descending=True dim=1\n", "k=[4]", "TopK a,k y,z axis=1" },
    { IMAGE, "y", "torch.argsort s 1 1 a y descending=False dim=-1\n", "k=[6]", "TopK a,k b,y largest=0" },
    { IMAGE, "y", "torch.gt g 1 1 a b other=0.0\ntorch.any n 1 1 b y dim=1 keepdim=False\n", "i=[1] o=[1]",
      "Relu a b;ReduceMax b,i c keepdims=0;Cast c y to=9" },
    { IMAGE, "y", "F.relu r 1 1 a b\ntorch.all n 1 1 b y dim=(1,2) keepdim=True\n", "i=[1,2]",
      "Relu a b;ReduceMin b,i c;Cast c y to=9" },
    /* scattered elements */
    { "a=(5)f32 b=(2)f32", "y", "pnnx.Expression e 0 1 i expr=[3,1]\ntorch.scatter s 3 1 a i b y dim=0 $input=a "
      "$index=i $src=b\n", "i=[3,1]", "ScatterElements a,i,b y reduction=none" },
    { IMAGE, "y", "torch.norm n 1 1 a y dim=(1) keepdim=False p=inf\n", "i=[1]", "Abs a b;ReduceMax b,i y keepdims=0" },
    { IMAGE, "y", "torch.norm n 1 1 a y dim=(1) keepdim=True p=-inf\n", "i=[1]", "Abs a b;ReduceMin b,i y" },
    { IMAGE, "y", "F.relu r 1 1 a b\ntorch.norm n 1 1 b y dim=(2) keepdim=False p=0\n", "i=[2]",
      "Relu a b;Sign b c;ReduceSum c,i y keepdims=0" },
    { IMAGE, "y", "F.normalize n 1 1 a y dim=1 eps=1.000000e-12 p=inf\n", "i=[1]",
      "Abs a b;ReduceMax b,i c;Div a,c y" },
    { "a=(1,2,3)f32", "y", "nn.ConstantPad1d p 1 1 a b padding=(1,0) value=-inf\nF.relu r 1 1 b y\n",
      "p=[0,0,1,0,0,0]", "Relu a b;Pad b,p y" },
    { IMAGE, "y z", "torch.max r 1 2 a y z dim=1 keepdim=True\n", "i=[1]",
      "ReduceMax a,i y;ArgMax a z axis=1" },
    { IMAGE, "y", "torch.argmin r 1 1 a y dim=2 keepdim=False\n", "", "ArgMin a y axis=2 keepdims=0" },
    { "a=(3,9)f32", "y z", "torch.topk t 1 2 a y z dim=1 k=4 largest=True sorted=True\n", "i=[4]", "TopK a,i y,z axis=1" },
    { IMAGE, "y", "torch.cumsum c 1 1 a y dim=2\n", "i=[2]", "CumSum a,i y" },
    /* moved elements */
    { IMAGE, "y", "torch.cat c 2 1 a a y dim=-3\n", "", "Concat a,a y axis=1" },
    { IMAGE, "y", "torch.stack c 2 1 a a y dim=1\n", "i=[1]", "Unsqueeze a,i u;Concat u,u y axis=1" },
    { IMAGE, "y z", "torch.chunk c 1 2 a y z chunks=2 dim=2\n", "i=[4,3]", "Split a,i y,z axis=2" },
    { IMAGE, "y z", "torch.tensor_split c 1 2 a y z dim=2 indices=(2)\n", "i=[2,5]", "Split a,i y,z axis=2" },
    { IMAGE, "y z", "torch.split c 1 2 a y z dim=3 split_size_or_sections=4\n", "i=[4,2]", "Split a,i y,z axis=3" },
    { IMAGE, "y", "Tensor.permute p 1 1 a y dims=(0,2,3,1)\n", "", "Transpose a y perm=[0,2,3,1]" },
    { IMAGE, "y", "torch.transpose p 1 1 a y dim0=1 dim1=-1\n", "", "Transpose a y perm=[0,3,2,1]" },
    { IMAGE, "y", "Tensor.reshape r 1 1 a y shape=(0,-1,6)\n", "i=[2,28,6]", "Reshape a,i y" },
    { IMAGE, "y", "torch.flatten r 1 1 a y end_dim=-1 start_dim=1\n", "", "Flatten a y" },
    { IMAGE, "y", "Tensor.slice s 1 1 a y dims=(1,2,3) ends=(3,0,2147483647) selects=(2147483647,-2,2147483647) "
      "starts=(1,0,-5) steps=(1,0,2)\n", "b=[1,5,1] e=[3,6,6] d=[1,2,3] s=[1,1,2] q=[2]",
      "Slice a,b,e,d,s t;Squeeze t,q y" },
    { IMAGE, "y", "torch.flip f 1 1 a y dims=(1,3)\n", "b=[-1,-1] e=[-9999,-9999] d=[1,3] s=[-1,-1]",
      "Slice a,b,e,d,s y" },
    { IMAGE, "y", "F.pad p 1 1 a y mode=reflect pad=(2,1,0,3) value=None\n", "i=[0,0,0,2,0,0,3,1]",
      "Pad a,i y mode=reflect" },
    { IMAGE, "y", "nn.ReplicationPad2d p 1 1 a y padding=(1,2,3,0)\n", "i=[0,0,3,1,0,0,0,2]", "Pad a,i y mode=edge" },
    { IMAGE, "y", "F.pad p 1 1 a y mode=circular pad=(2,1,0,3) value=None\n",
      "i=[4,5,0,1,2,3,4,5,0] j=[0,1,2,3,4,5,6,0,1,2]", "Gather a,i b axis=3;Gather b,j y axis=2" },
    { "a=(2,8,3,4)f32", "y", "nn.PixelShuffle p 1 1 a y upscale_factor=2\n", "", "DepthToSpace a y blocksize=2 mode=CRD" },
    { "a=(3,1,4)f32", "y", "Tensor.expand e 1 1 a y sizes=(2,-1,5,4)\n", "i=[2,3,5,4]", "Expand a,i y" },
    { "a=(3,4)f32", "y", "Tensor.repeat e 1 1 a y sizes=(2,1,3)\n", "i=[1,3,4] j=[2,1,3]",
      "Reshape a,i r;Tile r,j y" },
    { "a=(1,3,1)f32", "y", "torch.squeeze s 1 1 a y dim=(0,1)\n", "i=[0]", "Squeeze a,i y" },
    { "a=(3,4)f32", "y", "torch.unsqueeze s 1 1 a y dim=-2\n", "i=[-2]", "Unsqueeze a,i y" },
    /* by index */
    { "a=(5)i64", "y", "nn.Embedding e 1 1 a y embedding_dim=4 num_embeddings=3 sparse=False @weight=(3,4)f32\n",
      "e.weight=(3,4)", "Gather e.weight,a y" },
    { "a=(4,6)f32 b=(4,2)i64", "y", "torch.gather g 2 1 a b y dim=1 $input=a $index=b\n", "", "GatherElements a,b y axis=1" },
    { "a=(4,6)f32 b=(3)i64", "y", "torch.index_select g 2 1 a b y dim=1 $input=a $index=b\n", "", "Gather a,b y axis=1" },
    { "a=(3,6)f32 b=(2,4)i64 c=(3,5)f32", "y",
      "torch.scatter_add s 3 1 a b c y dim=0 $input=a $index=b $src=c\n", "s=[0,0] e=[2,4]",
      "Slice c,s,e d;ScatterElements a,b,d y axis=0 reduction=add" },
    { "a=(4,6)f32 b=(4,6)bool", "y", "torch.masked_select m 2 1 a b y $input=a $mask=b\n", "i=[-1]",
      "Reshape a,i f;Reshape b,i c;Compress f,c y" },
    { "a=(4,6)bool b=(4,6)f32 c=(6)f32", "y", "torch.where w 3 1 a b c y $condition=a $input=b $other=c\n", "",
      "Where a,b,c y" },
    /* images */
    { IMAGE, "y", "F.interpolate u 1 1 a y align_corners=False mode=bilinear recompute_scale_factor=None "
      "scale_factor=None size=(10,5)\n", "i=[2,4,10,5]", "Resize a,,,i y mode=linear" },
    { IMAGE, "y", "nn.Upsample u 1 1 a y align_corners=True mode=bilinear size=(10,5)\n", "i=[2,4,10,5]",
      "Resize a,,,i y coordinate_transformation_mode=align_corners mode=linear" },
    { IMAGE, "y", "F.interpolate u 1 1 a y mode=nearest scale_factor=(2.0,3.0)\n", "i=[2,4,14,18]",
      "Resize a,,,i y coordinate_transformation_mode=asymmetric mode=nearest nearest_mode=floor" },
    /* windows of 2 by 2 cells that begin at each row and at each second column */
    { "a=(2,4,3,6)f32", "y", "F.interpolate u 1 1 a y align_corners=None mode=area size=(2,3)\n", "",
      "AveragePool a y kernel_shape=[2,2] strides=[1,2]" },
    { "a=(2,4,6,8)f32", "y", "F.interpolate u 1 1 a y mode=area recompute_scale_factor=None "
      "scale_factor=(0.5,0.25)\n", "", "AveragePool a y kernel_shape=[2,4] strides=[2,4]" },
    { IMAGE, "y", "F.interpolate u 1 1 a y align_corners=False mode=bicubic size=(10,5)\n", "i=[2,4,10,5]",
      "Resize a,,,i y mode=cubic" },
    { "a=(1,2,5,4)f32 b=(1,3,3,2)f32", "y", "F.grid_sample g 2 1 a b y align_corners=False mode=bilinear "
      "padding_mode=border $input=a $grid=b\n", "", "GridSample a,b y mode=linear padding_mode=border" },
};

static bool agree(const xir_array *a, const xir_array *b) {
    xir_difference d;
    return xir_array_compare(a, b, 1e-5, 1e-5, &d) == XIR_OK && d.same_shape && !d.count;
}

static void compare(const pair *list, size_t n_pairs) {
    size_t wrong = 0;
    for (size_t i = 0; i < n_pairs; i++) {
        xir_array *x[PNNX_MOST_ENDS] = { NULL }, *y[PNNX_MOST_ENDS] = { NULL };
        xir_network *net = pnnx_net(list[i].inputs, list[i].lines, list[i].outputs);
        xir_network *onnx = onnx_net(list[i].inputs, list[i].weights, list[i].nodes, list[i].outputs);
        pnnx_converted(net, list[i].lines);
        const size_t n = pnnx_run(net, x);
        assert_int_equal(pnnx_run(onnx, y), n);
        for (size_t k = 0; k < n; k++) {
            if (!agree(x[k], y[k])) print_error("output %zu differs: %s", k, list[i].lines), wrong++;
            xir_array_free(x[k]);
            xir_array_free(y[k]);
        }
        xir_network_free(net);
        xir_network_free(onnx);
    }
    assert_int_equal(wrong, 0);
}

static void operators_of_both(void **state) {
    (void)state;
    compare(pairs, COUNT(pairs));
}

/* Files of 2021: types of modules are bare, bools are numbers, and an expression has brackets or a third item. */
static const pair older[] = {
    { IMAGE, "y", "Conv2d c 1 1 a y bias=1 dilation=(1,1) groups=1 in_channels=4 kernel_size=(3,3) out_channels=2 "
      "padding=(1,1) stride=(2,2) @bias=(2)f32 @weight=(2,4,3,3)f32\n", "c.bias=(2) c.weight=(2,4,3,3)",
      "Conv a,c.weight,c.bias y pads=[1,1,1,1] strides=[2,2]" },
    { IMAGE, "y", "BatchNorm2d n 1 1 a b affine=1 eps=1.000000e-03 num_features=4 @bias=(4)f32 @running_mean=(4)f32 "
      "@running_var=(4)f32 @weight=(4)f32\nReLU r 1 1 b y\n",
      "n.bias=(4) n.running_mean=(4) n.running_var=(4) n.weight=(4)",
      "BatchNormalization a,n.weight,n.bias,n.running_mean,n.running_var b epsilon=0.001;Relu b y" },
    { IMAGE, "y", "MaxPool2d p 1 1 a y ceil_mode=1 dilation=(1,1) kernel_size=(3,3) padding=(0,0) stride=(2,2)\n", "",
      "MaxPool a y ceil_mode=1 kernel_shape=[3,3] strides=[2,2]" },
    { IMAGE, "y", "Upsample u 1 1 a y mode=nearest scale_factors=(2.000000e+00,3.000000e+00) size=None\n", "i=[2,4,14,18]",
      "Resize a,,,i y coordinate_transformation_mode=asymmetric mode=nearest nearest_mode=floor" },
    { "a=(5,4)f32", "y", "Linear l 1 1 a y bias=1 in_channels=4 out_channels=3 @bias=(3)f32 @weight=(3,4)f32\n",
      "l.bias=(3) l.weight=(3,4)", "Gemm a,l.weight,l.bias y transB=1" },
    { IMAGE, "y", "AdaptiveAvgPool2d p 1 1 a b output_size=(1,1)\nDropout d 1 1 b y\n", "", "GlobalAveragePool a y" },
    { IMAGE, "y", "Expression e 2 1 a a y expr=add(@0,@1,1)\n", "", "Add a,a y" },
    { IMAGE, "y", "torch.mean m 1 1 a y dim=(2,3) keepdim=0\n", "i=[2,3]", "ReduceMean a,i y keepdims=0" },
    /* modules and functions by the names that PyTorch has for them, numbers as operands */
    { IMAGE, "y", "__torch__.torch.nn.modules.conv.Conv2d c 1 1 a b bias=1 dilation=(1,1) groups=1 in_channels=4 "
      "kernel_size=(3,3) out_channels=2 padding=(1,1) stride=(2,2) @bias=(2)f32 @weight=(2,4,3,3)f32\n"
      "__torch__.torch.nn.modules.activation.ReLU6 r 1 1 b y\n", "c.bias=(2) c.weight=(2,4,3,3)",
      "Conv a,c.weight,c.bias b pads=[1,1,1,1] strides=[2,2];Clip b y min=0.0 max=6.0" },
    { IMAGE, "y z", "prim::Constant k 0 1 two value=2\nprim::Constant l 0 1 one value=1\n"
      "prim::Constant m 0 1 half value=5.000000e-01\naten::add s 3 1 a a two b\naten::mul t 2 1 b half c\n"
      "prim::ListConstruct u 2 1 one one sizes\naten::adaptive_avg_pool2d p 2 1 c sizes d\n"
      "prim::Constant n 0 1 last value=-1\naten::flatten f 3 1 d one last y\n"
      "prim::ListConstruct v 2 1 a c both\naten::cat w 2 1 both one z\n", "e=[2]",
      "Add a,a x;Add x,a t;Cast e h to=1;Div t,h c;GlobalAveragePool c d;Flatten d y;Concat a,c z axis=1" },
    { "a=(2,3)f32", "y z", "prim::Constant k 0 1 zero value=0\naten::unbind u 2 1 a zero all\n"
      "prim::ListUnpack v 1 2 all y z\n", "i=[1,1] q=[0]", "Split a,i b,c axis=0;Squeeze b,q y;Squeeze c,q z" },
};
static void operators_of_2021(void **state) {
    (void)state;
    compare(older, COUNT(older));
}

/* ---- by formula ------------------------------------------------------------------------------------------------- */

static double relu6(double x) { return x < 0 ? 0 : x > 6 ? 6 : x; }
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double silu(double x) { return x / (1 + exp(-x)); }
static double mish(double x) { return x * tanh(log1p(exp(x))); }
static double hardsigmoid(double x) { return x <= -3 ? 0 : x >= 3 ? 1 : x / 6 + 0.5; }
static double hardswish(double x) { return x * hardsigmoid(x); }
static double logsigmoid(double x) { return -log1p(exp(-x)); }
static double softsign(double x) { return x / (1 + fabs(x)); }
static double tanhshrink(double x) { return x - tanh(x); }
static double leaky(double x) { return x < 0 ? 0.25 * x : x; }
static double elu(double x) { return x < 0 ? 0.5 * expm1(x) : x; }
static double hardtanh(double x) { return x < -0.5 ? -0.5 : x > 1 ? 1 : x; }
static double hardshrink(double x) { return fabs(x) > 0.75 ? x : 0; }
static double softshrink(double x) { return x > 0.75 ? x - 0.75 : x < -0.75 ? x + 0.75 : 0; }
static double softplus(double x) { return 2 * x > 3 ? x : log1p(exp(2 * x)) / 2; }
static double threshold(double x) { return x > 0.5 ? x : -3; }
static double rrelu(double x) { return x < 0 ? 0.5 * x : x; }
static double clamped(double x) { return x < -0.5 ? -0.5 : x > 0.25 ? 0.25 : x; }
static double at_least(double x) { return x < 0.25 ? 0.25 : x; }
static double at_most(double x) { return x > 0.25 ? 0.25 : x; }
static double more(double x) { return x > 0.5; }
static double is_0(double x) { return x == 0; }
static double filled(double x) { (void)x; return 2.5; }
static double unchanged(double x) { return x; }

static void activations(void **state) {
    (void)state;
    static const struct { const char *line; double (*f)(double); } cases[] = {
        { "nn.ReLU6", relu6 }, { "F.relu6", relu6 }, { "nn.Sigmoid", sigmoid }, { "F.sigmoid", sigmoid },
        { "nn.Tanh", tanh }, { "F.tanh", tanh }, { "nn.SiLU", silu }, { "F.silu", silu }, { "nn.Mish", mish },
        { "nn.Hardsigmoid", hardsigmoid }, { "F.hardswish", hardswish }, { "nn.LogSigmoid", logsigmoid },
        { "F.softsign", softsign }, { "nn.Tanhshrink", tanhshrink },
        { "nn.LeakyReLU %s negative_slope=0.25", leaky }, { "F.leaky_relu %s negative_slope=0.25", leaky },
        { "nn.ELU %s alpha=0.5", elu }, { "F.hardtanh %s max_val=1.0 min_val=-0.5", hardtanh },
        { "nn.Hardshrink %s lambd=0.75", hardshrink }, { "F.softshrink %s lambd=0.75", softshrink },
        { "nn.Softplus %s beta=2.0 threshold=3.0", softplus },
        { "nn.Threshold %s threshold=0.5 value=-3.0", threshold }, { "F.rrelu %s lower=0.25 upper=0.75", rrelu },
        { "torch.clamp %s max=0.25 min=-0.5", clamped }, { "torch.clamp %s max=None min=0.25", at_least },
        { "torch.clamp %s max=0.25 min=None", at_most }, { "torch.clamp %s max=inf min=0.25", at_least },
        { "nn.Hardtanh %s max_val=0.25 min_val=-inf", at_most }, { "nn.Threshold %s threshold=-inf value=nan", unchanged }, { "torch.gt %s other=0.5", more },
        { "Tensor.fill %s value=2.5", filled }, { "nn.Dropout %s p=0.5", unchanged }, { "torch.clone", unchanged }, { "torch.logical_not", is_0 },
        { "Tensor.to %s copy=False dtype=torch.float", unchanged },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char line[200];
        xir_array *in[1], *out[1];
        const char *rest = strstr(cases[i].line, " %s");
        const size_t type = rest ? (size_t)(rest - cases[i].line) : strlen(cases[i].line);
        snprintf(line, sizeof line, "%.*s op 1 1 a y%s\n", (int)type, cases[i].line, rest ? rest + 3 : "");
        xir_network *net = pnnx_net("a=(2,3,5,4)f32", line, "y");
        pnnx_converted(net, line);
        pnnx_arrays(net, in);
        pnnx_run(net, out);
        for (size_t k = 0; k < 120; k++) {
            const double x = xir_array_real(in[0], k), y = xir_array_real(out[0], k), expected = cases[i].f(x);
            if (!(fabs(y - expected) <= 2e-6 * (1 + fabs(expected))))
                fail_msg("%s of %g: expected %.9g, found %.9g", cases[i].line, x, expected, y);
        }
        xir_array_free(in[0]);
        xir_array_free(out[0]);
        xir_network_free(net);
    }
}

#define PLACES " ceil_mode=False dilation=(1,1) kernel_size=(3,2) padding=(1,0) return_indices=True stride=(2,2)\n"
#define LP " ceil_mode=False kernel_size=(3,2) norm_type=2 stride=(2,2)\n"
/* Pools of an image without a batch, and positions of its maxima, are those of a batch of one. */
static void pools_without_a_batch(void **state) {
    (void)state;
    xir_array *out[6];
    static const char lines[] = "nn.MaxPool2d p 1 2 a y z" PLACES "nn.LPPool2d l 1 1 a x" LP
                                "torch.unsqueeze u 1 1 a b dim=0\n"
                                "nn.MaxPool2d q 1 2 b c d" PLACES "nn.LPPool2d m 1 1 b e" LP
                                "torch.squeeze s 1 1 c y2 dim=0\ntorch.squeeze t 1 1 d z2 dim=0\n"
                                "torch.squeeze v 1 1 e x2 dim=0\n";
    xir_network *net = pnnx_net("a=(2,7,6)f32", lines, "y z x y2 z2 x2");
    pnnx_converted(net, lines);
    assert_int_equal(pnnx_run(net, out), 6);
    for (size_t i = 0; i < 3; i++) assert_true(agree(out[i], out[3 + i]));
    assert_int_equal(xir_array_count(out[1]), 2 * 4 * 3);
    for (size_t i = 0; i < 6; i++) xir_array_free(out[i]);
    xir_network_free(net);
}

/* Integers bit by bit, of any sign: two inputs, or an input and a number. */
static void bits(void **state) {
    (void)state;
    static const struct { const char *line; bool two; char f; } cases[] = {
        { "pnnx.Expression op 2 1 a b y expr=and(@0,@1)\n", true,  '&' },
        { "pnnx.Expression op 2 1 a b y expr=or(@0,@1)\n",  true,  '|' },
        { "torch.bitwise_xor op 2 1 a b y $input=a $other=b\n", true, '^' },
        { "pnnx.Expression op 1 1 a y expr=and(@0,10)\n",   false, '&' },
        { "pnnx.Expression op 1 1 a y expr=and(@0,7)\n",    false, '&' },
        { "torch.bitwise_or op 1 1 a y other=10\n",          false, '|' },
        { "pnnx.Expression op 1 1 a y expr=xor(10,@0)\n",   false, '^' },
    };
    static const int64_t numbers[] = { 0, 1, 2, 10, 77, -1, -2, -77, INT64_MAX, INT64_MIN, 1LL << 40,
                                       -(1LL << 40) - 3 };
    enum { N = COUNT(numbers) };
    for (size_t i = 0; i < COUNT(cases); i++) {
        xir_network *net = pnnx_net(cases[i].two ? "a=(12,1)i64 b=(12)i64" : "a=(12,1)i64", cases[i].line, "y");
        xir_array *in[2] = { NULL }, *out[1] = { NULL };
        pnnx_converted(net, cases[i].line);
        pnnx_arrays(net, in);
        for (size_t k = 0; k <= cases[i].two; k++) memcpy(xir_array_edit(in[k]), numbers, sizeof numbers);
        const size_t n_in = 1 + cases[i].two;
        assert_int_equal(xir_network_run(net, (const xir_array *const *)in, n_in, out, 1, NULL, why), XIR_OK);
        assert_int_equal(xir_array_count(out[0]), cases[i].two ? N * N : N);
        const int64_t *y = xir_array_edit(out[0]);
        for (size_t k = 0; k < xir_array_count(out[0]); k++) {
            const int64_t a = numbers[cases[i].two ? k / N : k], b = cases[i].two ? numbers[k % N] : 10;
            const int64_t mask = strstr(cases[i].line, ",7)") ? 7 : b;
            const int64_t expected = cases[i].f == '&' ? a & mask : cases[i].f == '|' ? a | mask : a ^ mask;
            if (y[k] != expected)
                fail_msg("%s%lld and %lld: expected %lld, found %lld", cases[i].line, (long long)a, (long long)mask,
                         (long long)expected, (long long)y[k]);
        }
        xir_array_free(out[0]);
        for (size_t k = 0; k < 2; k++) xir_array_free(in[k]);
        xir_network_free(net);
    }
}

/* A tuple that is a result is its items; one that is taken apart is removed. */
static void tuples(void **state) {
    (void)state;
    xir_array *in[1], *out[PNNX_MOST_ENDS];
    xir_network *net = pnnx_net("a=(6)f32", "pnnx.Expression n 1 1 a b expr=neg(@0)\n"
                                "prim::TupleConstruct t 2 1 a b t\nprim::TupleConstruct u 2 1 t a u\n"
                                "prim::TupleUnpack v 1 2 t c d\nprim::TupleConstruct w 2 1 d c w\n", "u w");
    pnnx_converted(net, "tuples");
    pnnx_arrays(net, in);
    assert_int_equal(pnnx_run(net, out), 5);
    assert_null(xir_map_find(xir_op_tags(xir_network_output_op(net)), XIR_STR("pnnx.lines")));   /* of the tuples */
    static const double signs[] = { 1, -1, 1, -1, 1 };
    for (size_t i = 0; i < 5; i++) {
        assert_true(xir_array_real(out[i], 2) == signs[i] * xir_array_real(in[0], 2));
        xir_array_free(out[i]);
    }
    xir_array_free(in[0]);
    xir_network_free(net);
}

#define DEFORM "torchvision.ops.DeformConv2d d 2 1 a b y stride=(1,1) padding=(1,1) @weight=(2,2,3,3)f32 "
#define ROI    "torchvision.ops.RoIAlign r 2 1 a b y sampling_ratio=2 spatial_scale=1.0 aligned=True "
static const struct { const char *inputs, *lines, *reason; } refused[] = {
    { "a=(2,3)f32", "F.softmax s 1 1 a y dim=1 dtype=torch.long\n", "a dtype of integers" },
    { "a=(2,3)f32", "nn.LogSoftmax s 1 1 a y dim=1 dtype=torch.cfloat\n", "elements that XIR does not have" },
    { "a=(2,3)f32", "torch.cumsum s 1 1 a y dim=1 dtype=torch.cfloat\n", "elements that XIR does not have" },
    { IMAGE, "nn.AdaptiveAvgPool2d p 1 1 a y output_size=(None,2,3)\n", "output_size: expected 2 items, found 3" },
    { IMAGE, "nn.AdaptiveAvgPool2d p 1 1 a y output_size=(None,some)\n", "output_size: expected integers or None" },
    { IMAGE, "nn.AdaptiveMaxPool2d p 1 1 a y output_size=(1.5,2.5)\n", "output_size: expected integers or None" },
    { "a=(2,4,?,6)f32", "nn.AdaptiveMaxPool2d p 1 1 a y output_size=(None,2)\n", "dim 2 is unknown" },
    { IMAGE, "F.interpolate u 1 1 a y antialias=True mode=nearest size=(3,3)\n",
      "antialias: expected an image of 4 dims and the mode bilinear or bicubic" },
    { "a=(2,4,7)f32", "F.interpolate u 1 1 a y antialias=True mode=linear size=(3)\n",
      "antialias: expected an image of 4 dims and the mode bilinear or bicubic" },
    { "a=(2,4,?,?)f32", "F.interpolate u 1 1 a y antialias=True mode=bilinear scale_factor=(2.0,2.0)\n",
      "antialiasing of an image of unknown size" },
    { "a=(1,2,4,4)i64", "F.interpolate u 1 1 a y antialias=True mode=bilinear size=(3,3)\n", "integers between cells" },
    { IMAGE, "torch.roll r 1 1 a y dims=() shifts=(1,2)\n", "shifts: expected 1 item, found 2" },
    { IMAGE, "torch.roll r 1 1 a y dims=(0,1) shifts=(1)\n", "shifts: expected 2 items, found 1" },
    { "a=(1,2,4,4)f32 b=(1,17,4,4)f32", DEFORM "\n", "dim 1 of the offsets: expected a multiple of 18" },
    { "a=(1,2,4,4)f32 b=(1,54,4,4)f32", DEFORM "\n", "expected a divisor of the channels, found 3" },
    { "a=(1,2,4,4)f32 b=(1,18,4,4)f32", DEFORM "groups=2\n", "dim 1 of the kernel: expected 1, found 2" },
    { "a=(1,2,4,4)f32 b=(1,18,3,4)f32", DEFORM "\n", "dim 2 of input 2: expected 4, found 3" },
    { "a=(1,2,4,4)f32 b=(1,18,2,2)f32", DEFORM "dilation=(4,1)\n", "expected at least 9 elements" },
    { "a=(2,4,4)f32 b=(1,18,4,4)f32", DEFORM "\n", "input 0: expected 4 dims, found 3" },
    { "a=(1,2,?,4)f32 b=(1,18,4,4)f32", DEFORM "\n", "dim 2 is unknown" },
    { "a=(1,2,4,4)f32 b=(3,4)f32", ROI "output_size=(2,2)\n", "dim 1 of the boxes: expected 5" },
    { "a=(1,2,4,4)f32 b=(3,5)i64", ROI "output_size=(2,2)\n", "expected float, like input 0" },
    { "a=(1,2,4,4)f32 b=(3,5)f32", ROI "output_size=(2,0)\n", "output_size[1]: expected 1 to 1048576, found 0" },
    { "a=(1,2,4,4)f32 b=(3,5)f32", ROI "\n", "the attribute output_size is missing" },
    { "a=(3,4)f32 b=(3)f32", "torchvision.ops.nms n 2 1 a b y iou_threshold=1.5\n", "a threshold of 1.5" },
    { "a=(3,5)f32 b=(3)f32", "torchvision.ops.nms n 2 1 a b y iou_threshold=0.5\n", "dim 1 of the boxes: expected 4" },
    { "a=(3,4)f32 b=(3)f32", "torchvision.ops.nms n 2 1 a b y\n", "the attribute iou_threshold is missing" },
    /* a list of 2021 that something else uses, one of numbers in place of tensors, and one without its items */
    { "a=(2)f32", "Expression e 1 1 a l expr=(neg(@0),@0)\nprim::Constant k 0 1 dim value=0\n"
      "aten::cat c 2 1 l dim b\naten::stack s 2 1 l dim y\n", "aten::" },
    { "a=(2)f32", "prim::Constant k 0 1 dim value=0\nprim::ListConstruct u 2 1 a dim l\naten::cat c 2 1 l dim y\n",
      "aten::cat" },
    { "a=(2)f32", "prim::Constant k 0 1 size\nprim::ListConstruct u 1 1 size l\naten::reshape r 2 1 a l y\n",
      "prim::Constant" },
};

static bool is_found(const char *reason) {
    for (size_t i = 0; i < xir_diags_count(why); i++)
        if (strstr(xir_diags_at(why, i)->message.data, reason)) return true;
    return false;
}

static void what_is_not_converted(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        xir_network *net = pnnx_net(refused[i].inputs, refused[i].lines, "y");
        xir_diags_clear(why);
        const xir_status status = xir_pass_run(net, "pnnx-to-xir", NULL, NULL, why);
        if (!status && !xir_network_first_unrunnable(net)) fail_msg("it is converted: %s", refused[i].lines);
        if (!is_found(refused[i].reason)) {
            xir_diags_print(why, stderr);
            fail_msg("expected '%s': %s", refused[i].reason, refused[i].lines);
        }
        xir_network_free(net);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_of_both),
        cmocka_unit_test(operators_of_2021),
        cmocka_unit_test(activations),
        cmocka_unit_test(pools_without_a_batch),
        cmocka_unit_test(bits),
        cmocka_unit_test(tuples),
        cmocka_unit_test(what_is_not_converted),
    };
    return RUN_GROUP(tests);
}
