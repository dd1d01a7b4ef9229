/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The conversion of each operator type of PNNX: its inputs, by PyTorch's names, its weights, its parameters, and the
 * ops that it becomes. A row without a hook makes one op, with the attributes of its last column. Modules (nn.) and
 * functions (F.) of the same name share a hook. A node that a hook can't convert exactly stays unchanged. */
#include "pnnx/pnnx.h"
#include "spec/recurrent.h"

#define ROW(type, in, out, attributes, cls, sets) \
    { XIR_CONVERT_HEAD, "pnnx::" type, in, out, attributes, cls, sets, NULL }
#define BY_HOOK(type, in, out, attributes, cls, sets, ...) /* the hook, and its .variant */ \
    { XIR_CONVERT_HEAD, "pnnx::" type, in, out, attributes, cls, sets, pnnx_##__VA_ARGS__ }
/* The same with the way back from classes of XIR, by the row's sets or by a hook. */
#define WITH_BACK(type, in, out, attributes, cls, sets, hook, from, ...) \
    { XIR_CONVERT_HEAD, "pnnx::" type, in, out, attributes, cls, sets, pnnx_##hook, from, __VA_ARGS__ }
#define pnnx_copied xir_convert_copy
#define STAYS(type) { XIR_CONVERT_HEAD, "pnnx::" type, "0-", "0-", "*:aA", NULL, NULL, xir_convert_unsupported }
#define COPY(type, attributes) \
    { XIR_CONVERT_HEAD, "pnnx::" type, "1 input", "1", attributes, "Copy", NULL, xir_convert_copy }
/* A module and a function without parameters. */
#define BOTH(module, function, cls, sets) \
    ROW("nn." module, "1 input", "1", "inplace:bi", cls, sets), \
    ROW("F." function, "1 input", "1", "inplace:bi", cls, sets)
#define BOTH_BY(module, function, attributes, cls, sets, hook) \
    BY_HOOK("nn." module, "1 input", "1", attributes, cls, sets, hook), \
    BY_HOOK("F." function, "1 input", "1", attributes, cls, sets, hook)
#define BOTH_WITH(module, function, attributes, cls, sets) \
    ROW("nn." module, "1 input", "1", attributes, cls, sets), ROW("F." function, "1 input", "1", attributes, cls, sets)

#define SET1(to, from) #to "_width=" from "[0]"
#define SET2(to, from) #to "_height=" from "[0] " #to "_width=" from "[1]"
#define SET3(to, from) #to "_depth=" from "[0] " #to "_height=" from "[1] " #to "_width=" from "[2]"
#define PAD1 "pad_left=padding[0] pad_right=padding[0]"
#define PAD2 "pad_top=padding[0] pad_bottom=padding[0] pad_left=padding[1] pad_right=padding[1]"
#define PAD3 "pad_front=padding[0] pad_back=padding[0] pad_top=padding[1] pad_bottom=padding[1] " \
             "pad_left=padding[2] pad_right=padding[2]"
#define MODES "padding_mode=padding_mode{zeros:ZEROS,reflect:REFLECT,replicate:REPLICATE,circular:CIRCULAR}"
#define STEPS(n) SET##n(stride, "stride") " " SET##n(dilation, "dilation") " " PAD##n

#define CONV_KEYS  "bias:bi dilation:Ii groups:i in_channels:i kernel_size:Ii out_channels:i padding:Iis " \
                   "padding_mode:s stride:Ii"
#define TRANS_KEYS CONV_KEYS " output_padding:Ii"
#define F_CONV     "bias:n dilation:Ii groups:i padding:Iis stride:Ii"
#define CONV(n, letters) \
    WITH_BACK("nn.Conv" #n "d", "1 input:NC" letters " @weight:OI" letters " @bias?", "1", CONV_KEYS,                  \
            "Conv" #n "d", STEPS(n) " groups=groups:1 " MODES, conv, "Conv" #n "d", pnnx_back_conv),                   \
    WITH_BACK("F.conv" #n "d", "2-3 input:NC" letters " weight:OI" letters " bias?", "1", F_CONV, "Conv" #n "d",       \
            STEPS(n) " groups=groups:1", conv, "Conv" #n "d", pnnx_back_conv),                                         \
    WITH_BACK("nn.ConvTranspose" #n "d", "1 input:NC" letters " @weight:IO" letters " @bias?", "1", TRANS_KEYS,        \
            "ConvTranspose" #n "d", STEPS(n) " " SET##n(output_pad, "output_padding") " groups=groups:1",              \
            conv_transpose, "ConvTranspose" #n "d", pnnx_back_conv),                                                   \
    WITH_BACK("F.conv_transpose" #n "d", "2-3 input:NC" letters " weight:IO" letters " bias?", "1",                    \
            F_CONV " output_padding:Ii", "ConvTranspose" #n "d",                                                       \
            STEPS(n) " " SET##n(output_pad, "output_padding") " groups=groups:1", conv_transpose,                      \
            "ConvTranspose" #n "d", pnnx_back_conv)

#define MAX_KEYS "ceil_mode:bi dilation:Ii kernel_size:Ii padding:Ii return_indices:bi stride:Iin"
#define AVG_KEYS "ceil_mode:bi count_include_pad:bi divisor_override:in kernel_size:Ii padding:Ii stride:Iin"
#define LP_KEYS  "ceil_mode:bi kernel_size:Ii norm_type:fi stride:Iin"
#define POOLS(n, letters) \
    WITH_BACK("nn.MaxPool" #n "d", "1 input:NC" letters, "1-2", MAX_KEYS, "MaxPool" #n "d",                            \
            SET##n(pool, "kernel_size") " " STEPS(n), max_pool, "MaxPool" #n "d", pnnx_back_pool, .variant = n),       \
    BY_HOOK("F.max_pool" #n "d",  "1 input", "1-2", MAX_KEYS, "MaxPool" #n "d", NULL, max_pool, .variant = n),         \
    WITH_BACK("nn.AvgPool" #n "d", "1 input:NC" letters, "1", AVG_KEYS, "AvgPool" #n "d, Pad",                         \
            SET##n(pool, "kernel_size") " " SET##n(stride, "stride") " " PAD##n                                        \
            " count_include_pad=count_include_pad divisor_override=divisor_override",                                  \
            avg_pool, "AvgPool" #n "d", pnnx_back_pool, .variant = n),                                                 \
    BY_HOOK("F.avg_pool" #n "d",  "1 input", "1", AVG_KEYS, "AvgPool" #n "d, Pad", NULL, avg_pool, .variant = n),      \
    BY_HOOK("nn.LPPool" #n "d",   "1 input", "1", LP_KEYS, "Pow, AvgPool" #n "d", NULL, lp_pool, .variant = n),        \
    BY_HOOK("F.lp_pool" #n "d",   "1 input", "1", LP_KEYS, "Pow, AvgPool" #n "d", NULL, lp_pool, .variant = n),        \
    WITH_BACK("nn.AdaptiveAvgPool" #n "d", "1 input", "1", "output_size:Iia", "Mean, AvgPool" #n "d or Matmul", NULL,  \
            adaptive_avg, "Mean", pnnx_back_global_average, .variant = n),                                             \
    BY_HOOK("F.adaptive_avg_pool" #n "d", "1 input", "1", "output_size:Iia", "Mean, AvgPool" #n "d or Matmul", NULL,   \
            adaptive_avg, .variant = n),                                                                               \
    BY_HOOK("nn.AdaptiveMaxPool" #n "d", "1 input", "1-2", "output_size:Iia return_indices:bi", "Max, Gather", NULL,   \
            adaptive_max, .variant = n),                                                                               \
    BY_HOOK("F.adaptive_max_pool" #n "d", "1 input", "1-2", "output_size:Iia return_indices:bi", "Max, Gather", NULL,  \
            adaptive_max, .variant = n)

#define NORM_KEYS "affine:bi eps:f num_features:i track_running_stats:bi momentum:f"
#define NORMS(n, letters) \
    WITH_BACK("nn.BatchNorm" #n "d", "1 input:NC" letters " @running_mean @running_var @weight? @bias?", "1",          \
            NORM_KEYS, "BatchNorm" #n "d", NULL, batch_norm, "BatchNorm" #n "d", pnnx_back_batch_norm),                \
    WITH_BACK("nn.InstanceNorm" #n "d", "1 input:NC" letters " @running_mean? @running_var? @weight? @bias?", "1",     \
            NORM_KEYS, "InstanceNorm" #n "d or BatchNorm" #n "d", "eps=eps", instance_norm, "InstanceNorm" #n "d",     \
            pnnx_back_instance_norm, .variant = true)

#define COMPARE(name, cls) \
    WITH_BACK("torch." name, "1-2 input other", "1", "other:if", cls, NULL, compare, cls, pnnx_back_compare)
#define LOGIC(name, cls)   WITH_BACK("torch." name, "2 input other", "1", "", cls, NULL, logic, cls, NULL)
#define BITS(name, cls, op) \
    BY_HOOK("torch.bitwise_" name, "1-2 input other", "1", "other:ib", cls, NULL, bits, .variant = PNNX_##op)
#define REDUCE(name, cls, back) \
    WITH_BACK("torch." name, "1 input", "1", "dim:Iin keepdim:bi dtype:sn", cls, "dim=dim keepdim=keepdim", reduce, \
              cls, back)
#define RESIZE_KEYS "align_corners:bin mode:s recompute_scale_factor:bin scale_factor:Ffin scale_factors:Fn " \
                    "size:Iin antialias:bi"
#define CELLS "batch_first:bi bias:bi bidirectional:bi hidden_size:i input_size:i num_layers:i proj_size:i " \
              "nonlinearity:s dropout:f *:t"
#define PADS(type, n, mode) \
    BY_HOOK("nn." type #n "d", "1 input", "1", "padding:Ii value:fi", "Pad", NULL, pad, \
            .variant = n + 4 * PNNX_PAD_##mode)

static const xir_convert_row rows[] = {
    /* what PNNX makes itself */
    WITH_BACK("pnnx.Expression", "0-", "1", "expr:sifbnaA!", "elementwise operations", NULL, expression,
            "Abs ACos ACosh ASin ASinh ATan ATanh Ceil Cos Cosh Erf Exp Floor Log Neg Reciprocal Round Sign Sin "
            "Sinh Sqrt Tan Add Multiply Div DivideScalar Pow Maximum Minimum Mod Shape",
            pnnx_back_expression),
    BY_HOOK("pnnx.Attribute",    "0",       "1",  "*:t", "Params", NULL, attribute),
    BY_HOOK("pnnx.SliceIndexes", "0-",      "1",  "indexes:SIsi!", "Concat", NULL, slice_indexes),

    /* elementwise, one input */
    BOTH("ReLU", "relu", "ReLU", NULL),             BOTH("Sigmoid", "sigmoid", "Sigmoid", NULL),
    BOTH("Tanh", "tanh", "Tanh", NULL),             BOTH("SiLU", "silu", "SiLU", NULL),
    BOTH("Mish", "mish", "Mish", NULL),             BOTH("Hardsigmoid", "hardsigmoid", "Hardsigmoid", NULL),
    BOTH("Hardswish", "hardswish", "Hardswish", NULL), BOTH("LogSigmoid", "logsigmoid", "LogSigmoid", NULL),
    BOTH("Softsign", "softsign", "Softsign", NULL), BOTH("Tanhshrink", "tanhshrink", "Tanhshrink", NULL),
    BOTH("ReLU6", "relu6", "ReLU", "max_value=6"),
    BOTH_WITH("LeakyReLU", "leaky_relu", "negative_slope:fi inplace:bi", "ReLU", "alpha=negative_slope:0.01"),
    BOTH_WITH("ELU", "elu", "alpha:fi inplace:bi", "ELU", "alpha=alpha:1"),
    BOTH_WITH("Hardtanh", "hardtanh", "max_val:fi min_val:fi inplace:bi", "Hardtanh",
            "min_val=min_val:-1 max_val=max_val:1"),
    BOTH_WITH("Hardshrink", "hardshrink", "lambd:fi", "Hardshrink", "lambda=lambd:0.5"),
    BOTH_WITH("Softshrink", "softshrink", "lambd:fi", "Softshrink", "lambda=lambd:0.5"),
    BOTH_WITH("Softplus", "softplus", "beta:fi threshold:fi", "Softplus", "beta=beta:1 threshold=threshold:20"),
    BOTH_BY("CELU", "celu", "alpha:fi inplace:bi", "DivideScalar, ELU, Multiply", NULL, celu),
    BOTH_BY("SELU", "selu", "inplace:bi", "ELU, Multiply", NULL, selu),
    WITH_BACK("nn.GELU", "1 input", "1", "approximate:s", "GELU, or Tanh, Multiply", NULL, gelu, "GELU", NULL),
    BY_HOOK("F.gelu", "1 input", "1", "approximate:s", "GELU, or Tanh, Multiply", NULL, gelu),
    BOTH_BY("GLU", "glu", "dim:i", "Slice, Sigmoid, Multiply", NULL, glu),
    BOTH_BY("Threshold", "threshold", "threshold:fi value:fi inplace:bi", "Greater, Where", NULL, threshold),
    BOTH_BY("RReLU", "rrelu", "lower:fi upper:fi inplace:bi training:bi", "ReLU", NULL, rrelu),
    WITH_BACK("nn.Softmax", "1 input", "1", "dim:in dtype:sn", "Softmax", "axis=dim", soft, "Softmax", NULL),
    BY_HOOK("F.softmax", "1 input", "1", "dim:in dtype:sn", "Softmax", NULL, soft),
    WITH_BACK("nn.LogSoftmax", "1 input", "1", "dim:in dtype:sn", "LogSoftmax", "axis=dim", soft, "LogSoftmax", NULL),
    BY_HOOK("F.log_softmax", "1 input", "1", "dim:in dtype:sn", "LogSoftmax", NULL, soft),
    BOTH_BY("Softmin", "softmin", "dim:in dtype:sn", "Neg, Softmax", NULL, soft),
    BY_HOOK("nn.Softmax2d",        "1 input", "1", "", "Softmax", NULL, soft),
    BY_HOOK("torch.softmax",       "1 input", "1", "dim:i dtype:sn", "Softmax", NULL, soft),
    BY_HOOK("torch.log_softmax",   "1 input", "1", "dim:i dtype:sn", "LogSoftmax", NULL, soft),
    WITH_BACK("nn.PReLU", "1 input @weight", "1", "num_parameters:i", "PReLU", NULL, prelu, "PReLU", pnnx_back_prelu),
    BY_HOOK("F.prelu",   "2 input weight",  "1", "",                 "PReLU", NULL, prelu),
    COPY("nn.Dropout", "p:f inplace:bi"), COPY("nn.Dropout2d", "p:f inplace:bi"),
    COPY("nn.Dropout3d", "p:f inplace:bi"), COPY("nn.AlphaDropout", "p:f inplace:bi"),
    COPY("F.dropout", "p:f training:bi inplace:bi"), COPY("nn.Identity", "*:a"),
    WITH_BACK("Tensor.clone", "1 input", "1", "memory_format:sn", "Copy", NULL, copied, "Copy", NULL),
    COPY("torch.clone", "memory_format:sn"), COPY("torch.positive", ""),
    COPY("Tensor.contiguous", "memory_format:sn"), COPY("Tensor.detach", ""),
    WITH_BACK("torch.clamp", "1-3 input min max", "1", "max:fin min:fin", "ClampScalar", NULL, clamp, "ClampScalar",
            pnnx_back_clamp),
    WITH_BACK("Tensor.to", "1 input", "1", "copy:bi dtype:s memory_format:sn non_blocking:bi device:s", "Cast", NULL,
            to, "Cast", pnnx_back_cast),
    BY_HOOK("Tensor.type_as", "2 input other", "1", "", "Cast", NULL, to),
    BY_HOOK("Tensor.fill",    "1-2 input value", "1", "value:fib", "Where", NULL, fill),
    BY_HOOK("Tensor.masked_fill", "2-3 input mask value", "1", "value:fibs", "Where", NULL, masked_fill),
    BY_HOOK("torch.masked_fill",  "2-3 input mask value", "1", "value:fibs", "Where", NULL, masked_fill),

    /* elementwise, two inputs */
    COMPARE("eq", "Equal"), COMPARE("ne", "NotEqual"), COMPARE("lt", "Less"), COMPARE("le", "LessEqual"),
    COMPARE("gt", "Greater"), COMPARE("ge", "GreaterEqual"),
    LOGIC("logical_and", "And"), LOGIC("logical_or", "Or"), LOGIC("logical_xor", "Xor"),
    BY_HOOK("torch.logit", "1 input", "1", "eps:fn", "Div, Log", NULL, logit),
    WITH_BACK("torch.logical_not", "1 input", "1", "", "Not", NULL, logic, "Not", NULL),
    BITS("and", "And, or Mod", AND), BITS("or", "Or, or Mod", OR), BITS("xor", "Xor, or Mod", XOR),
    BITS("not", "Not, or Neg", NOT),
    BITS("left_shift", "Pow, Multiply", LEFT), BITS("right_shift", "Pow, Div", RIGHT),
    WITH_BACK("torch.where", "1-3 condition input other", "1", "input:if other:if", "Where", NULL, where, "Where",
            pnnx_back_where),
    BY_HOOK("torch.outer", "2 input vec2", "1", "", "Multiply", NULL, outer),
    BY_HOOK("torch.cross", "2 input other", "1", "dim:in", "Gather, Multiply, Add", NULL, cross),

    /* products */
    WITH_BACK("nn.Linear", "1 input @weight:OI @bias?", "1",
            "bias:bi in_features:i out_features:i in_channels:i out_channels:i", "Matmul", NULL, linear, "Matmul",
            pnnx_back_linear),
    BY_HOOK("F.linear",  "2-3 input weight:OI bias?", "1", "bias:n", "Matmul", NULL, linear),
    WITH_BACK("torch.matmul", "2 input other", "1", "", "Matmul", NULL, matmul, "Matmul", pnnx_back_matmul),
    BY_HOOK("torch.bmm",    "2 input mat2",  "1", "", "Matmul", NULL, matmul),
    BY_HOOK("torch.mm",     "2 input mat2",  "1", "", "Matmul", NULL, matmul),
    BY_HOOK("torch.mv",     "2 input vec",   "1", "", "Matmul", NULL, matmul),
    BY_HOOK("torch.addmm",  "3 input mat1 mat2", "1", "alpha:fi beta:fi", "Matmul, Add", NULL, addmm),
    BY_HOOK("torch.baddbmm", "3 input batch1 batch2", "1", "alpha:fi beta:fi", "Matmul, Add", NULL, addmm),
    WITH_BACK("torch.einsum", "1-", "1", "equation:s!", "Einsum", NULL, einsum, "Einsum", pnnx_back_einsum),
    BY_HOOK("nn.MultiheadAttention",
            "1-4 query key value attn_mask @in_proj_weight? @in_proj_bias? @out_proj.weight @out_proj.bias? "
            "@q_proj_weight? @k_proj_weight? @v_proj_weight? @bias_k? @bias_v?", "1-2",
            "add_bias_kv:bi add_zero_attn:bi batch_first:bi bias:bi embed_dim:i kdim:i num_heads:i! vdim:i",
            "Matmul, Softmax", NULL, attention),
    WITH_BACK("F.scaled_dot_product_attention", "3-4 query key value attn_mask", "1",
            "dropout_p:fi enable_gqa:bi is_causal:bi scale:fn attn_mask:n", "Matmul, Softmax", NULL, sdpa,
            "Attention", pnnx_back_sdpa),

    /* windows and sizes */
    CONV(1, "W"), CONV(2, "HW"), CONV(3, "DHW"),
    POOLS(1, "W"), POOLS(2, "HW"), POOLS(3, "DHW"),
    BY_HOOK("torchvision.ops.DeformConv2d", "2-3 input:NCHW @weight:OIHW offset @bias? mask?", "1",
            "bias:bi dilation:Ii groups:i in_channels:i kernel_size:Ii out_channels:i padding:Ii stride:Ii",
            "GridSample, Matmul", NULL, deform_conv),
    BY_HOOK("torchvision.ops.RoIAlign", "2 input boxes", "1",
            "aligned:bi output_size:Ii! sampling_ratio:i spatial_scale:fi", "Gather, Matmul", NULL, roi_align),
    BY_HOOK("torchvision.ops.nms", "2 boxes scores", "1", "iou_threshold:fi!", "NonMaxSuppression", NULL, nms),
    WITH_BACK("nn.Upsample", "1-2 input size", "1", RESIZE_KEYS, "Upsample, Gather or Matmul", NULL, resize,
            "Resize Upsample", pnnx_back_resize),
    BY_HOOK("nn.UpsamplingBilinear2d", "1-2 input size", "1", RESIZE_KEYS, "Upsample, Gather or Matmul", NULL, resize),
    BY_HOOK("nn.UpsamplingNearest2d",  "1-2 input size", "1", RESIZE_KEYS, "Upsample, Gather or Matmul", NULL, resize),
    BY_HOOK("F.upsample",              "1-2 input size", "1", RESIZE_KEYS, "Upsample, Gather or Matmul", NULL, resize),
    BY_HOOK("F.upsample_nearest",      "1-2 input size", "1", RESIZE_KEYS, "Upsample, Gather or Matmul", NULL, resize),
    BY_HOOK("F.upsample_bilinear",     "1-2 input size", "1", RESIZE_KEYS, "Upsample, Gather or Matmul", NULL, resize),
    BY_HOOK("F.interpolate",           "1-2 input size", "1", RESIZE_KEYS, "Upsample, Gather or Matmul", NULL, resize),
    WITH_BACK("F.grid_sample", "2 input grid", "1", "align_corners:bin mode:s padding_mode:s", "GridSample",
            "interpolation=mode{bilinear:LINEAR,nearest:NEAREST,bicubic:CUBIC} "
            "padding_mode=padding_mode{zeros:ZEROS,border:BORDER,reflection:REFLECTION} "
            "align_corners=align_corners",
            grid_sample, "GridSample", pnnx_back_grid_sample),
    BY_HOOK("F.affine_grid", "1 theta", "1", "align_corners:bin size:I!", "Matmul", NULL, affine_grid),
    WITH_BACK("nn.PixelShuffle", "1 input", "1", "upscale_factor:i!", "PixelShuffle or Transpose",
            "upscale_factor=upscale_factor", pixel_shuffle, "PixelShuffle", pnnx_back_shuffle),
    BY_HOOK("F.pixel_shuffle", "1 input", "1", "upscale_factor:i!", "PixelShuffle or Transpose", NULL, pixel_shuffle),
    BOTH_BY("PixelUnshuffle", "pixel_unshuffle", "downscale_factor:i!", "Reshape, Transpose", NULL, pixel_unshuffle),
    WITH_BACK("nn.ChannelShuffle", "1 input", "1", "groups:i!", "Reshape, Transpose", "groups=groups",
            channel_shuffle, "ChannelShuffle", pnnx_back_shuffle),
    BY_HOOK("F.channel_shuffle", "1 input", "1", "groups:i!", "Reshape, Transpose", NULL, channel_shuffle),
    BOTH_BY("Fold", "fold", "dilation:Ii kernel_size:Ii! output_size:Ii! padding:Ii stride:Ii", "Pad, Add", NULL, fold),
    WITH_BACK("nn.Unfold", "1 input", "1", "dilation:Ii kernel_size:Ii! padding:Ii stride:Ii", "Gather, Concat",
            SET2(kernel, "kernel_size") " " SET2(stride, "stride") " " SET2(dilation, "dilation") " " PAD2, unfold,
            "Unfold", pnnx_back_unfold),
    BY_HOOK("F.unfold", "1 input", "1", "dilation:Ii kernel_size:Ii! padding:Ii stride:Ii", "Gather, Concat", NULL,
            unfold),
    PADS("ConstantPad", 1, CONSTANT), PADS("ConstantPad", 2, CONSTANT), PADS("ConstantPad", 3, CONSTANT),
    PADS("ZeroPad", 2, CONSTANT),
    PADS("ReflectionPad", 1, REFLECT), PADS("ReflectionPad", 2, REFLECT), PADS("ReflectionPad", 3, REFLECT),
    PADS("ReplicationPad", 1, REPEAT), PADS("ReplicationPad", 2, REPEAT), PADS("ReplicationPad", 3, REPEAT),
    WITH_BACK("F.pad", "1 input", "1", "mode:s pad:I! value:fin", "Pad", NULL, pad, "Pad", pnnx_back_pad),

    /* normalisations */
    NORMS(1, "W"), NORMS(2, "HW"), NORMS(3, "DHW"),
    BY_HOOK("F.batch_norm", "3-5 input running_mean running_var weight bias", "1", "bias:n weight:n eps:f",
            "BatchNorm1d to 3d", NULL, batch_norm),
    BY_HOOK("F.instance_norm", "1-5 input running_mean running_var weight bias", "1",
            "bias:n weight:n running_mean:n running_var:n eps:f", "InstanceNorm1d to 3d", NULL, instance_norm),
    WITH_BACK("nn.GroupNorm", "1 input @weight? @bias?", "1", "affine:bi eps:f num_channels:i num_groups:i!",
            "GroupNorm", "groups=num_groups eps=eps", group_norm, "GroupNorm", pnnx_back_group_norm),
    BY_HOOK("F.group_norm", "1-3 input weight bias", "1", "bias:n weight:n eps:f num_groups:i!", "GroupNorm", NULL,
            group_norm),
    WITH_BACK("nn.LayerNorm", "1 input @weight? @bias?", "1", "elementwise_affine:bi eps:f normalized_shape:Ii!",
            "LayerNorm", NULL, layer_norm, "LayerNorm", pnnx_back_layer_norm),
    BY_HOOK("F.layer_norm", "1-3 input weight bias", "1", "bias:n weight:n eps:f normalized_shape:Ii!", "LayerNorm",
            NULL, layer_norm),
    WITH_BACK("nn.RMSNorm", "1 input @weight?", "1", "elementwise_affine:bi eps:fn normalized_shape:Ii!", "RMSNorm",
            NULL, rms_norm, "RMSNorm", pnnx_back_layer_norm),
    BY_HOOK("F.rms_norm", "1-2 input weight", "1", "weight:n eps:fn normalized_shape:Ii!", "RMSNorm", NULL, rms_norm),
    BOTH_BY("LocalResponseNorm", "local_response_norm", "alpha:fi beta:fi k:fi size:i!", "AvgPool2d, Pow, Div", NULL,
            lrn),
    WITH_BACK("F.normalize", "1 input", "1", "dim:Ii eps:fi p:fi", "Normalize", NULL, normalize, "Normalize",
            pnnx_back_normalize),
    BY_HOOK("F.pairwise_distance", "2 x1 x2", "1", "eps:fi keepdim:bi p:fi", "Add, Normalize", NULL, pairwise_distance),

    /* reductions */
    REDUCE("mean", "Mean", pnnx_back_reduce), REDUCE("sum", "Sum", pnnx_back_reduce),
    REDUCE("prod", "Prod", pnnx_back_reduce), REDUCE("amax", "Max", NULL), REDUCE("amin", "Min", NULL),
    BY_HOOK("torch.logsumexp", "1 input", "1", "dim:Ii keepdim:bi", "Max, Exp, Sum, Log", NULL, logsumexp),
    BY_HOOK("torch.std", "1 input", "1", "dim:Iin keepdim:bi unbiased:bi correction:fin", "Mean, Sum, Sqrt", NULL, std, .variant = true),
    BY_HOOK("torch.var", "1 input", "1", "dim:Iin keepdim:bi unbiased:bi correction:fin", "Mean, Sum", NULL, std),
    BY_HOOK("torch.norm", "1 input", "1", "dim:Iin keepdim:bi p:sfi dtype:sn", "Abs, Pow, Sum", NULL, norm),
    BY_HOOK("torch.max", "1-2 input other", "1-2", "dim:i keepdim:bi", "Max, Argmax", NULL, min_max, .variant = true),
    BY_HOOK("torch.min", "1-2 input other", "1-2", "dim:i keepdim:bi", "Min, Argmin", NULL, min_max),
    WITH_BACK("torch.argmax", "1 input", "1", "dim:in keepdim:bi", "Argmax", "dim=dim keepdim=keepdim", arg, "Argmax",
            NULL),
    WITH_BACK("torch.argmin", "1 input", "1", "dim:in keepdim:bi", "Argmin", "dim=dim keepdim=keepdim", arg, "Argmin",
            NULL),
    WITH_BACK("torch.topk", "1 input", "2", "dim:i k:i! largest:bi sorted:bi", "TopK", NULL, topk, "TopK",
            pnnx_back_topk),
    BY_HOOK("torch.sort", "1 input", "2", "dim:i descending:bi stable:bin", "TopK", NULL, sort),
    BY_HOOK("torch.argsort", "1 input", "1", "dim:i descending:bi stable:bin", "TopK", NULL, sort),
    BY_HOOK("torch.any", "1 input", "1", "dim:Iin keepdim:bi", "Max", NULL, any, .variant = true),
    BY_HOOK("torch.all", "1 input", "1", "dim:Iin keepdim:bi", "Min", NULL, any),
    WITH_BACK("torch.cumsum", "1 input", "1", "dim:i! dtype:sn", "CumSum", "axis=dim", cumsum, "CumSum",
            pnnx_back_cumsum),
    BY_HOOK("torch.cumprod", "1 input", "1", "dim:i! dtype:sn", "Slice, Multiply, Concat", NULL, cumprod),

    /* moved elements */
    WITH_BACK("Tensor.reshape", "1-2 input shape", "1", "shape:I", "Reshape", NULL, reshape, "Reshape",
            pnnx_back_reshape),
    BY_HOOK("torch.reshape",  "1-2 input shape", "1", "shape:I", "Reshape", NULL, reshape),
    BY_HOOK("Tensor.view",    "1-2 input shape", "1", "shape:I", "Reshape", NULL, reshape),
    BY_HOOK("Tensor.reshape_as", "2 input other", "1", "", "Reshape", NULL, like),
    BY_HOOK("Tensor.expand_as",  "2 input other", "1", "", "Expand", NULL, like),
    WITH_BACK("Tensor.permute", "1 input", "1", "dims:I!", "Transpose", NULL, permute, "Transpose", pnnx_back_permute),
    BY_HOOK("torch.permute",   "1 input", "1", "dims:I!", "Transpose", NULL, permute),
    BY_HOOK("torch.transpose", "1 input", "1", "dim0:i! dim1:i!", "Transpose", NULL, transpose),
    BY_HOOK("torch.t",         "1 input", "1", "", "Transpose", NULL, transpose),
    BY_HOOK("torch.flatten",   "1 input", "1", "end_dim:i start_dim:i", "Reshape", NULL, flatten),
    BY_HOOK("nn.Flatten",      "1 input", "1", "end_dim:i start_dim:i", "Reshape", NULL, flatten, .variant = 1),
    BY_HOOK("Tensor.unflatten", "1 input", "1", "dim:i! sizes:I!", "Reshape", NULL, unflatten),
    WITH_BACK("torch.squeeze", "1 input", "1", "dim:Iin", "Squeeze", NULL, squeeze, "Squeeze", pnnx_back_squeeze),
    BY_HOOK("torch.unsqueeze", "1 input", "1", "dim:Ii!", "Reshape", NULL, unsqueeze),
    WITH_BACK("Tensor.slice", "1-7 input start end step starts ends steps selects", "1",
            "dim:i start:in end:in step:in dims:I starts:I ends:I steps:I selects:I", "Slice, Squeeze", NULL, slice,
            "Slice", pnnx_back_slice),
    BY_HOOK("Tensor.slice_copy", "2 self src", "1",
            "dim:i start:in end:in step:in dims:I starts:I ends:I steps:I selects:I", "ScatterND", NULL, slice_copy),
    BY_HOOK("torch.slice_scatter", "2 input src", "1", "dim:i start:in end:in step:in", "ScatterND", NULL, slice_copy),
    WITH_BACK("Tensor.select", "1-2 input index", "1", "dim:i! index:i", "Gather", NULL, select, "Gather",
            pnnx_back_index_select),
    BY_HOOK("torch.select",   "1-2 input index", "1", "dim:i! index:i", "Gather", NULL, select),
    BY_HOOK("torch.narrow",   "1 input", "1", "dim:i! length:i! start:i!", "Slice", NULL, narrow),
    WITH_BACK("Tensor.expand", "1-2 input sizes", "1", "sizes:I", "Expand", NULL, expand, "Expand", pnnx_back_expand),
    BY_HOOK("Tensor.repeat",  "1 input", "1", "sizes:I!", "Tile", NULL, repeat),
    WITH_BACK("torch.tile", "1 input", "1", "dims:I!", "Tile", NULL, repeat, "Tile", pnnx_back_tile),
    BY_HOOK("torch.repeat_interleave", "1-2 input repeats", "1", "dim:in repeats:i output_size:n", "Gather", NULL,
            repeat_interleave),
    WITH_BACK("torch.cat", "1-", "1", "dim:i", "Concat", NULL, cat, "Concat", pnnx_back_cat),
    WITH_BACK("torch.stack", "1-", "1", "dim:i", "Stack", NULL, stack, "Stack", pnnx_back_cat),
    BY_HOOK("torch.chunk",    "1 input", "1-", "chunks:i! dim:i", "Split", NULL, chunk),
    WITH_BACK("torch.split", "1 tensor", "1-", "dim:i split_size_or_sections:Ii!", "Split", NULL, split, "Split",
            pnnx_back_split),
    BY_HOOK("torch.tensor_split", "1 input", "1-", "dim:i indices:I sections:i", "Split", NULL, tensor_split),
    WITH_BACK("torch.unbind", "1 input", "1-", "dim:i", "Unstack", NULL, unbind, "Unstack", pnnx_back_unbind),
    WITH_BACK("torch.roll", "1 input", "1", "dims:Iin shifts:Ii!", "Roll", NULL, roll, "Roll", pnnx_back_roll),
    BY_HOOK("torch.flip",     "1 input", "1", "dims:Ii!", "Slice", NULL, flip),
    BY_HOOK("torch.diag",     "1 input", "1", "diagonal:i", "Gather, Multiply", NULL, diag),
    BY_HOOK("torch.tril",     "1 input", "1", "diagonal:i", "Where", NULL, triangle),
    BY_HOOK("torch.triu",     "1 input", "1", "diagonal:i", "Where", NULL, triangle, .variant = true),
    BY_HOOK("torch.meshgrid", "1-", "1-", "indexing:sn", "Expand", NULL, meshgrid),

    /* elements by index */
    WITH_BACK("nn.Embedding", "1 input @weight", "1",
            "embedding_dim:i num_embeddings:i sparse:bi padding_idx:in scale_grad_by_freq:bi", "Gather", NULL,
            embedding, "Gather", pnnx_back_embedding),
    BY_HOOK("F.embedding", "2 input weight", "1", "scale_grad_by_freq:bi sparse:bi padding_idx:in", "Gather", NULL,
            embedding),
    WITH_BACK("torch.index_select", "2 input index", "1", "dim:i!", "Gather", NULL, index_select, "Gather",
            pnnx_back_index_select),
    WITH_BACK("torch.gather", "2 input index", "1", "dim:i! sparse_grad:bi", "GatherElements", "axis=dim", gather,
            "GatherElements", pnnx_back_gather),
    BY_HOOK("Tensor.index",       "1-2 input indices", "1", "expr:sifbnaA", "Gather or GatherND", NULL, index),
    WITH_BACK("Tensor.index_put", "2-3 input indices values", "1", "accumulate:bi values:fi", "ScatterND", NULL,
            index_put, "ScatterND", pnnx_back_index_put),
    WITH_BACK("torch.masked_select", "2 input mask", "1", "", "NonZero, GatherND", NULL, masked_select, "NonZero",
            pnnx_back_non_zero),
    BY_HOOK("torch.scatter_add",  "3 input index src", "1", "dim:i!", "ScatterND", NULL, scatter),
    BY_HOOK("torch.scatter", "2-3 input index src", "1", "dim:i! value:fib reduce:sn", "ScatterND", NULL, scatter),

    /* constants */
    WITH_BACK("torch.full", "0-1 size", "1", "dtype:sn fill_value:fib size:I", "ConstantOfShape", NULL, full,
            "ConstantOfShape", pnnx_back_full),
    BY_HOOK("torch.zeros", "0-1 size", "1", "dtype:sn size:I", "ConstantOfShape", NULL, full),
    BY_HOOK("torch.ones",  "0-1 size", "1", "dtype:sn size:I", "ConstantOfShape", NULL, full),
    WITH_BACK("torch.arange", "0-3 start end step", "1", "dtype:sn start:if end:if step:if", "Range", NULL, arange,
            "Range", pnnx_back_arange),

    /* recurrent */
    WITH_BACK("nn.LSTM", "1-3 input hx cx", "1-3", CELLS, "LSTM", NULL, recurrent, "LSTM", pnnx_back_recurrent,
              .variant = RECURRENT_LSTM),
    WITH_BACK("nn.GRU", "1-2 input hx", "1-2", CELLS, "GRU", NULL, recurrent, "GRU", pnnx_back_recurrent,
              .variant = RECURRENT_GRU),
    WITH_BACK("nn.RNN", "1-2 input hx", "1-2", CELLS, "RNN", NULL, recurrent, "RNN", pnnx_back_recurrent,
              .variant = RECURRENT_RNN),

    /* XIR has no complex elements and no gamma function */
    STAYS("torch.complex"), STAYS("torch.real"), STAYS("torch.imag"), STAYS("torch.view_as_complex"),
    STAYS("torch.view_as_real"), STAYS("torch.stft"), STAYS("torch.istft"), STAYS("torch.lgamma"),
    STAYS("torch.fft.fft"), STAYS("torch.fft.fft2"), STAYS("torch.fft.fftn"), STAYS("torch.fft.ifft"),
    STAYS("torch.fft.ifft2"), STAYS("torch.fft.ifftn"), STAYS("torch.fft.rfft"), STAYS("torch.fft.rfft2"),
    STAYS("torch.fft.rfftn"), STAYS("torch.fft.irfft"), STAYS("torch.fft.irfft2"), STAYS("torch.fft.irfftn"),
    STAYS("torch.fft.hfft"), STAYS("torch.fft.hfft2"), STAYS("torch.fft.hfftn"), STAYS("torch.fft.ihfft"),
    STAYS("torch.fft.ihfft2"), STAYS("torch.fft.ihfftn"),
};

/* The options of the way back. */
static const xir_pass_option options[] = { XIR_DIALECT_STRICT, XIR_DIALECT_NAMES };

extern const xir_dialect_decl dialect_pnnx;
static const xir_pass_decl pass_xir_to_pnnx =
    XIR_DIALECT_PASS_WITH("xir-to-pnnx", "converts XIR's ops to PNNX's operators, one by one", &dialect_pnnx, options);

const xir_dialect_decl dialect_pnnx = {
    XIR_DIALECT_HEAD("pnnx::", "PNNX"), .pass = "pnnx-to-xir", .rows = rows, .n_rows = COUNT(rows),
    .node = "operator", .nodes = "/ops/", .sources = "or that of a pnnx.Input", .operators = "set of operators",
    .number = pnnx_number, .split = pnnx_split_key, .is_pure = pnnx_is_pure, .check = pnnx_check,
    .prepare = pnnx_prepare, .grows = true,
    .spelled = pnnx_spelled,
    .back = &pass_xir_to_pnnx, .before_back = "layout{to=nchw}", .constant = pnnx_constant, .finish = pnnx_finish,
    .value = "operand",
};
