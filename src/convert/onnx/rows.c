/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The conversion of each ONNX op type: its numbers of inputs and outputs, its attributes in all versions 1 to 24,
 * and the ops that it becomes. A row without a hook makes one op of the same inputs, with the attributes of its last
 * column. A node that a hook can't convert exactly stays unchanged. */
#include "onnx/back.h"
#include "onnx/custom.h"
#include "onnx/onnx.h"
#include "onnx/rows.h"

#define ROW(type, in, out, attributes, cls, sets) \
    { XIR_CONVERT_HEAD, "onnx::" type, in, out, attributes, cls, sets, NULL }
#define BY_HOOK(type, in, out, attributes, cls, hook) \
    { XIR_CONVERT_HEAD, "onnx::" type, in, out, attributes, cls, NULL, onnx_##hook }
/* The same with the way back from classes of XIR (back.h). */
#define BACK(type, in, out, attributes, cls, hook, from, back) \
    { XIR_CONVERT_HEAD, "onnx::" type, in, out, attributes, cls, NULL, onnx_##hook, from, onnx_back_##back }
#define STAYS(type, in, out, attributes) \
    { XIR_CONVERT_HEAD, "onnx::" type, in, out, attributes, NULL, NULL, xir_convert_unsupported }
/* An operator of ONNX Runtime: its set has one version. */
#define MS_SAME(type, in, out, attributes, cls, hook)  BY_HOOK("com.microsoft." type, in, out, attributes, cls, hook)
#define MS(type, in, out, attributes, cls, hook)       MS_SAME(type, in, out, attributes, cls, ms_##hook)
/* QONNX's own domain, and that of Brevitas. */
#define QONNX(type, in, attributes, cls, hook) \
    BY_HOOK("qonnx.custom_op.general." type, in, "1", attributes, cls, hook), \
    BY_HOOK("onnx.brevitas." type, in, "1", attributes, cls, hook)
#define NCHWC(type, in, attributes) \
    { XIR_CONVERT_HEAD, "onnx::com.microsoft.nchwc." type, in, "1", attributes, NULL, NULL, onnx_ms_nchwc }
/* Functions of each element. */
#define UNARY(type, attributes, cls) \
    { XIR_CONVERT_HEAD, "onnx::" type, "1", "1", attributes, cls, NULL, NULL, cls, onnx_back_unary }
#define SAME(type, cls)                                UNARY(type, "consumed_inputs:I<6", cls)
#define SINCE(version, type, cls)                      UNARY(type, ">=" #version, cls)
/* Version 18 turned the axes into an input; for ReduceSum version 13 did. */
#define REDUCE(type, cls, hook) \
    BY_HOOK(type, "1-2", "1", "axes:I<18 keepdims:i noop_with_empty_axes:i>=18", cls, hook)
#define REDUCE_BACK(type, cls, hook, back) \
    BACK(type, "1-2", "1", "axes:I<18 keepdims:i noop_with_empty_axes:i>=18", cls, hook, cls, back)

#define WINDOW "auto_pad:s dilations:I kernel_shape:I pads:I strides:I"
#define POOL   "auto_pad:s kernel_shape:I! pads:I strides:I"
#define HEADS  "mask_filter_value:f num_heads:i! scale:f unidirectional:i"
#define GATES  "activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:i layout:i>=14"

static const xir_convert_row rows[] = {
    /* elementwise, one input */
    SAME("Abs", "Abs"),                  SINCE(7, "Acos", "ACos"),            SINCE(9, "Acosh", "ACosh"),          SINCE(7, "Asin", "ASin"),
    SINCE(9, "Asinh", "ASinh"),          SINCE(7, "Atan", "ATan"),            SINCE(9, "Atanh", "ATanh"),          SAME("Ceil", "Ceil"),
    SINCE(7, "Cos", "Cos"),              SINCE(9, "Cosh", "Cosh"),            SINCE(9, "Erf", "Erf"),              SAME("Exp", "Exp"),
    SAME("Floor", "Floor"),              SAME("Log", "Log"),                  SINCE(18, "Mish", "Mish"),           SAME("Neg", "Neg"),
    SAME("Not", "Not"),                  SAME("Reciprocal", "Reciprocal"),    SAME("Relu", "ReLU"),                SINCE(11, "Round", "Round"),
    SAME("Sigmoid", "Sigmoid"),          SINCE(9, "Sign", "Sign"),            SINCE(7, "Sin", "Sin"),              SINCE(9, "Sinh", "Sinh"),
    SAME("Softsign", "Softsign"),        SAME("Sqrt", "Sqrt"),                SINCE(7, "Tan", "Tan"),              SAME("Tanh", "Tanh"),
    SINCE(14, "HardSwish", "Hardswish"),
    ROW    ("Elu",             "1",   "1",   "alpha:f consumed_inputs:I<6",          "ELU",             "alpha=alpha:1"),
    ROW    ("HardSigmoid",     "1",   "1",   "alpha:f beta:f consumed_inputs:I<6",   "Hardsigmoid",     "alpha=alpha:0.2 beta=beta:0.5"),
    ROW    ("LeakyRelu",       "1",   "1",   "alpha:f consumed_inputs:I<6",          "ReLU",            "alpha=alpha:0.01"),
    { XIR_CONVERT_HEAD, "onnx::Softplus", "1", "1", "", "Softplus", "threshold=1e30", NULL, "Softplus LogSigmoid",
      onnx_back_softplus },
    BY_HOOK("BitShift",        "2",   "1",   ">=11 direction:s!",                    "Pow, Multiply, or Pow, Div", bit_shift),
    BACK   ("Cast",            "1",   "1",   "to:i! round_mode:s>=24 saturate:i>=19", "Cast",            cast, "Cast", cast),
    BY_HOOK("CastLike",        "2",   "1",   ">=15 round_mode:s>=24 saturate:i>=19", "Cast",            cast_like),
    BY_HOOK("Celu",            "1",   "1",   ">=12 alpha:f",                         "DivideScalar, ELU, Multiply", celu),
    BACK   ("Clip",            "1-3", "1",   "max:f<11 min:f<11 consumed_inputs:I<6", "ClampScalar",    clip, "ClampScalar Hardtanh", clip),
    BY_HOOK("Dropout",         "1-3", "1-2", "seed:i>=12 ratio:f<12 is_test:i<7 consumed_inputs:I<6", "Copy, ConstantOfShape", dropout),
    BACK   ("Gelu",            "1",   "1",   ">=20 approximate:s",                   "GELU, or Tanh, Multiply", gelu, "GELU", gelu),
    { XIR_CONVERT_HEAD, "onnx::Identity", "1", "1", "", "Copy", NULL, onnx_identity, "Copy Round Ceil Floor",
      onnx_back_copy },
    BY_HOOK("IsInf",           "1",   "1",   ">=10 detect_negative:i detect_positive:i", "Equal",           is_inf),
    BY_HOOK("IsNaN",           "1",   "1",   ">=9",                                  "NotEqual",        is_nan),
    BY_HOOK("Selu",            "1",   "1",   "alpha:f gamma:f consumed_inputs:I<6",  "ELU, Multiply",   selu),
    BACK   ("Shrink",          "1",   "1",   ">=9 bias:f lambd:f",                   "Hardshrink, Softshrink or Where", shrink,
            "Hardshrink Softshrink", shrink),
    BY_HOOK("ThresholdedRelu", "1",   "1",   "alpha:f",                              "Greater, Where",  thresholded_relu),
    BY_HOOK("Swish",           "1",   "1",   ">=24 alpha:f",                         "SiLU, or Multiply, Sigmoid", swish),

    /* elementwise, several inputs */
    BACK   ("Add",             "2",   "1",   "axis:i<7 broadcast:i<7 consumed_inputs:I<6", "Add",       add, "Add", add),
    BACK   ("And",             "2",   "1",   "axis:i<7 broadcast:i<7",               "And",             binary, "And", logic),
    BACK   ("Div",             "2",   "1",   "axis:i<7 broadcast:i<7 consumed_inputs:I<6", "Div",       div, "Div DivideScalar", div),
    BACK   ("Equal",           "2",   "1",   "axis:i<7 broadcast:i<7",               "Equal",           binary, "Equal NotEqual Not", equal),
    BACK   ("Greater",         "2",   "1",   "axis:i<7 broadcast:i<7",               "Greater",         binary, "Greater", compare),
    BACK   ("GreaterOrEqual",  "2",   "1",   ">=12",                                 "GreaterEqual",    binary, "GreaterEqual", compare),
    BACK   ("Less",            "2",   "1",   "axis:i<7 broadcast:i<7",               "Less",            binary, "Less", compare),
    BACK   ("LessOrEqual",     "2",   "1",   ">=12",                                 "LessEqual",       binary, "LessEqual", compare),
    BACK   ("Max",             "1-",  "1",   "consumed_inputs:I<6",                  "Maximum",         max, "Maximum ReLU", extreme2),
    BY_HOOK("Mean",            "1-",  "1",   "consumed_inputs:I<6",                  "Add, DivideScalar", mean),
    BACK   ("Min",             "1-",  "1",   "consumed_inputs:I<6",                  "Minimum",         min, "Minimum", extreme2),
    BACK   ("Mod",             "2",   "1",   ">=10 fmod:i",                          "Mod",             binary, "Mod", mod),
    BACK   ("Mul",             "2",   "1",   "axis:i<7 broadcast:i<7 consumed_inputs:I<6", "Multiply",  mul, "Multiply", mul),
    BACK   ("Or",              "2",   "1",   "axis:i<7 broadcast:i<7",               "Or",              binary, "Or", logic),
    BACK   ("Pow",             "2",   "1",   "axis:i<7 broadcast:i<7",               "Pow",             pow, "Pow", pow),
    BACK   ("PRelu",           "2",   "1",   "consumed_inputs:I<6",                  "PReLU, or ReLU, Minimum, Multiply, Add", prelu, "PReLU", prelu),
    BY_HOOK("Sub",             "2",   "1",   "axis:i<7 broadcast:i<7 consumed_inputs:I<6", "Add",       sub),
    BY_HOOK("Sum",             "1-",  "1",   "consumed_inputs:I<6",                  "Add",             sum),
    BACK   ("Where",           "3",   "1",   ">=9",                                  "Where",           where, "Where", where),
    BACK   ("Xor",             "2",   "1",   "axis:i<7 broadcast:i<7",               "Xor",             binary, "Xor", logic),

    /* constants and shapes */
    BY_HOOK("Constant",        "0",   "1",   "sparse_value:t>=11 value:t value_float:f>=12 value_floats:F>=12 value_int:i>=12 "
                                             "value_ints:I>=12 value_string:s>=12 value_strings:S>=12", "Params", constant),
    BACK   ("ConstantOfShape", "1",   "1",   ">=9 value:t",                          "ConstantOfShape", constant_of_shape, "ConstantOfShape", constant_of_shape),
    BY_HOOK("EyeLike",         "1",   "1",   ">=9 dtype:i k:i",                      "Params",          eye_like),
    BACK   ("Range",           "3",   "1",   ">=11",                                 "Range",           range, "Range", range),
    BACK   ("Shape",           "1",   "1",   "end:i>=15 start:i>=15",                "Shape",           shape, "Shape", shape),
    BY_HOOK("Size",            "1",   "1",   "",                                     "Shape, Prod",     size),

    /* moved elements */
    BACK   ("Concat",          "1-",  "1",   "axis:i!>=4",                           "Concat",          concat, "Concat Stack", join),
    BACK   ("DepthToSpace",    "1",   "1",   "blocksize:i! mode:s>=11",              "PixelShuffle, or Reshape, Transpose", depth_to_space, "PixelShuffle", depth_to_space),
    BACK   ("Expand",          "2",   "1",   ">=8",                                  "Expand",          expand, "Expand", expand),
    BY_HOOK("Flatten",         "1",   "1",   "axis:i",                               "Reshape",         flatten),
    BACK   ("Pad",             "1-4", "1",   "mode:s pads:I<11 paddings:I<2 value:f<11", "Pad",         pad, "Pad", pad),
    BACK   ("Reshape",         "1-2", "1",   "allowzero:i>=14 shape:I<5 consumed_inputs:I<5", "Reshape", reshape, "Reshape", reshape),
    BACK   ("Slice",           "1-5", "1",   "axes:I<10 ends:I<10 starts:I<10",      "Slice",           slice, "Slice", slice),
    BY_HOOK("SpaceToDepth",    "1",   "1",   "blocksize:i!",                         "Reshape, Transpose", space_to_depth),
    BACK   ("Split",           "1-2", "1-",  "axis:i num_outputs:i>=18 split:I<13",  "Split",           split, "Split", split),
    BACK   ("Squeeze",         "1-2", "1",   "axes:I<13",                            "Squeeze",         squeeze, "Squeeze", squeeze),
    BACK   ("Tile",            "2-3", "1",   "",                                     "Tile",            tile, "Tile", tile),
    BACK   ("Transpose",       "1",   "1",   "perm:I",                               "Transpose",       transpose, "Transpose", transpose),
    BY_HOOK("Trilu",           "1-2", "1",   ">=14 upper:i",                         "Where",           trilu),
    BY_HOOK("Unsqueeze",       "1-2", "1",   "axes:I<13",                            "Reshape",         unsqueeze),

    /* windows and sizes */
    BACK   ("AveragePool",       "1",   "1",   POOL " ceil_mode:i>=10 count_include_pad:i>=7 dilations:I>=19", "AvgPool1d to 3d, or Conv1d to 3d, Div", average_pool, "AvgPool1d AvgPool2d AvgPool3d", average_pool),
    BACK   ("Conv",              "2-3", "1",   WINDOW " group:i",                                 "Conv1d to 3d",        conv, "Conv1d Conv2d Conv3d", conv),
    BY_HOOK("ConvInteger",       "2-4", "1",   ">=10 " WINDOW " group:i",                         "Conv1d to 3d, BitCast, or Cast, Add, Conv1d to 3d", conv_integer),
    BACK   ("ConvTranspose",     "2-3", "1",   WINDOW " group:i output_padding:I output_shape:I", "ConvTranspose1d to 3d", conv_transpose, "ConvTranspose1d ConvTranspose2d ConvTranspose3d", conv_transpose),
    BACK   ("GlobalAveragePool", "1",   "1",   "",                                                "Mean",                global_average_pool, "Mean", global_average_pool),
    BY_HOOK("GlobalMaxPool",     "1",   "1",   "",                                                "Max",                 global_max_pool),
    BACK   ("GridSample",        "2",   "1",   ">=16 align_corners:i mode:s padding_mode:s",      "GridSample",          grid_sample, "GridSample", grid_sample),
    BACK   ("MaxPool",           "1",   "1-2", POOL " ceil_mode:i>=10 dilations:I>=10 storage_order:i>=8", "MaxPool1d to 3d, Gather, Argmax", max_pool, "MaxPool1d MaxPool2d MaxPool3d", max_pool),
    BACK   ("Resize",            "1-4", "1",   ">=10 antialias:i>=18 axes:I>=18 coordinate_transformation_mode:s>=11 cubic_coeff_a:f>=11 "
                                               "exclude_outside:i>=11 extrapolation_value:f>=11 keep_aspect_ratio_policy:s>=18 mode:s "
                                               "nearest_mode:s>=11", "Resize, Upsample or Gathers", resize, "Resize Upsample",
            resize),
    BY_HOOK("Upsample",          "1-2", "1",   "<10 mode:s scales:F<9 height_scale:f<7 width_scale:f<7", "Resize, Upsample or Gathers", resize),

    /* reductions and normalisations */
    BACK   ("ArgMax",            "1",   "1",   "axis:i keepdims:i select_last_index:i>=12",       "Argmax",              arg_max, "Argmax", place),
    BACK   ("ArgMin",            "1",   "1",   "axis:i keepdims:i select_last_index:i>=12",       "Argmin",              arg_min, "Argmin", place),
    BACK   ("BatchNormalization", "5",  "1-5", "epsilon:f momentum:f spatial:i<9 training_mode:i>=14 is_test:i<7 consumed_inputs:I<6",
            "BatchNorm1d to 3d", batch_normalization, "BatchNorm1d BatchNorm2d BatchNorm3d", batch_norm),
    BACK   ("CumSum",            "2",   "1",   ">=11 exclusive:i reverse:i",                      "CumSum",              cum_sum, "CumSum", cum_sum),
    BACK   ("GroupNormalization", "3",  "1",   ">=18 epsilon:f num_groups:i! stash_type:i>=21",   "GroupNorm",           group_normalization, "GroupNorm", group_norm),
    BY_HOOK("Hardmax",           "1",   "1",   "axis:i",                                          "Argmax, Equal, Cast", hardmax),
    BACK   ("InstanceNormalization", "3", "1", "epsilon:f consumed_inputs:I<6",                   "InstanceNorm1d to 3d", instance_normalization, "InstanceNorm1d InstanceNorm2d InstanceNorm3d", instance_norm),
    BACK   ("LayerNormalization", "2-3", "1-3", "axis:i epsilon:f stash_type:i",                  "LayerNorm",           layer_normalization, "LayerNorm", layer_norm),
    BACK   ("LogSoftmax",        "1",   "1",   "axis:i",                                          "LogSoftmax",          log_softmax, "LogSoftmax", softmax),
    BY_HOOK("LpNormalization",   "1",   "1",   "axis:i p:i",                                      "Normalize",           lp_normalization),
    BY_HOOK("LRN",               "1",   "1",   "alpha:f beta:f bias:f size:i!",                   "AvgPool2d, Pow, Div", lrn),
    BY_HOOK("MeanVarianceNormalization", "1", "1", "axes:I",                                      "Mean, Sqrt, Div",     mean_variance_normalization),
    REDUCE("ReduceL1",        "Abs, Sum",            reduce_l1),          REDUCE("ReduceL2",      "Multiply, Sum, Sqrt", reduce_l2),
    REDUCE("ReduceLogSum",    "Sum, Log",            reduce_log_sum),     REDUCE_BACK("ReduceMax", "Max", reduce_max, extreme),
    REDUCE("ReduceLogSumExp", "Max, Exp, Sum, Log",  reduce_log_sum_exp), REDUCE_BACK("ReduceMean", "Mean", reduce_mean, reduce),
    REDUCE_BACK("ReduceMin", "Min", reduce_min, extreme),         REDUCE_BACK("ReduceProd", "Prod", reduce_prod, reduce),
    REDUCE("ReduceSumSquare", "Multiply, Sum",       reduce_sum_square),
    BACK   ("ReduceSum",         "1-2", "1",   "axes:I<13 keepdims:i noop_with_empty_axes:i>=13", "Sum",                 reduce_sum, "Sum", reduce),
    BACK   ("RMSNormalization",  "2",   "1",   ">=23 axis:i epsilon:f stash_type:i",             "RMSNorm",             rms_normalization, "RMSNorm", rms_norm),
    BY_HOOK("RotaryEmbedding",   "3-4", "1",   ">=23 interleaved:i num_heads:i rotary_embedding_dim:i", "Gather, Multiply, Add, Concat", rotary_embedding),
    BACK   ("Softmax",           "1",   "1",   "axis:i",                                          "Softmax",             softmax, "Softmax", softmax),

    /* products and quantisation */
    BY_HOOK("DequantizeLinear",      "2-3", "1", ">=10 axis:i>=13 block_size:i>=21 output_dtype:i>=23", "Cast, or Cast, Add, Multiply", dequantize_linear),
    BY_HOOK("DynamicQuantizeLinear", "1",   "3", ">=11",                                          "Min, Max, Div, Round, ClampScalar, Cast", dynamic_quantize_linear),
    BACK   ("Einsum",                "1-",  "1", ">=12 equation:s!",                              "Einsum",              einsum, "Einsum", einsum),
    BY_HOOK("Gemm",                  "2-3", "1", "alpha:f beta:f transA:i transB:i broadcast:i<7", "Matmul, Add",        gemm),
    BACK   ("MatMul",                "2",   "1", "",                                              "Matmul",              matmul, "Matmul", matmul),
    BY_HOOK("MatMulInteger",         "2-4", "1", ">=10",                                          "Matmul, BitCast, or Cast, Add, Matmul",   matmul_integer),
    BY_HOOK("QLinearConv",           "8-9", "1", ">=10 " WINDOW " group:i",                       "Conv1d to 3d, Quantize, or Multiply, Round, ClampScalar, Cast", qlinear_conv),
    BY_HOOK("QLinearMatMul",         "8",   "1", ">=10",                                          "Matmul, Quantize, or Multiply, Round, ClampScalar, Cast", qlinear_matmul),
    BY_HOOK("QuantizeLinear",        "2-3", "1", ">=10 axis:i>=13 saturate:i>=19 block_size:i>=21 output_dtype:i>=21 precision:i>=23",
            "Quantize, or Div, Round, ClampScalar, Cast", quantize_linear),

    /* elements by index */
    BY_HOOK("Compress",          "2",   "1",   ">=9 axis:i",                                      "NonZero, Reshape, Gather", compress),
    BACK   ("Gather",            "2",   "1",   "axis:i",                                          "Gather",              gather, "Gather Unstack", gather),
    BACK   ("GatherElements",    "2",   "1",   ">=11 axis:i",                                     "GatherElements",      gather, "GatherElements", gather),
    BACK   ("GatherND",          "2",   "1",   ">=11 batch_dims:i>=12",                           "GatherND",            gather_nd, "GatherND", gather_nd),
    BACK   ("NonMaxSuppression", "2-5", "1",   ">=10 center_point_box:i",                         "NonMaxSuppression",   non_max_suppression, "NonMaxSuppression", boxes),
    BACK   ("NonZero",           "1",   "1",   ">=9",                                             "NonZero",             non_zero, "NonZero", non_zero),
    BY_HOOK("OneHot",            "3",   "1",   ">=9 axis:i",                                      "Equal, Or, Where",    one_hot),
    BY_HOOK("ReverseSequence",   "2",   "1",   ">=10 batch_axis:i time_axis:i",                   "GatherND",            reverse_sequence),
    BY_HOOK("Scatter",           "3",   "1",   ">=9<11 axis:i",                                   "Stack, ScatterND",    scatter_elements),
    BY_HOOK("ScatterElements",   "3",   "1",   ">=11 axis:i reduction:s>=16",                     "Stack, ScatterND",    scatter_elements),
    BACK   ("ScatterND",         "3",   "1",   ">=11 reduction:s>=16",                            "ScatterND",           scatter_nd, "ScatterND", scatter_nd),
    BACK   ("TopK",              "1-2", "2",   "axis:i k:i<10 largest:i>=11 sorted:i>=11",        "TopK, Cast",          top_k, "TopK", top_k),

    /* losses and recurrent networks */
    BACK   ("GRU",               "3-6", "0-2", GATES " linear_before_reset:i>=3 output_sequence:i<7", "GRU",                gru, "GRU", recurrent),
    BACK   ("LSTM",              "3-8", "0-3", GATES " input_forget:i output_sequence:i<7",       "LSTM",                lstm, "LSTM", recurrent),
    BACK   ("RNN",               "3-6", "0-2", GATES " output_sequence:i<7",                      "RNN",                 rnn, "RNN", recurrent),
    BY_HOOK("NegativeLogLikelihoodLoss", "2-3", "1", ">=12 ignore_index:i reduction:s",           "GatherElements, Neg, Mean", nll_loss),
    BY_HOOK("SoftmaxCrossEntropyLoss", "2-3", "1-2", ">=12 ignore_index:i reduction:s",           "LogSoftmax, GatherElements, Neg, Mean", softmax_cross_entropy_loss),

    /* ONNX Runtime's operators, as its optimiser writes them */
    { XIR_CONVERT_HEAD, "onnx::com.microsoft.Gelu", "1", "1", "", "GELU", NULL, NULL, "" },
    MS     ("BiasGelu",           "2",   "1",   "",                                  "Add, GELU",           bias_gelu),
    MS     ("FastGelu",           "1-2", "1",   "",                                  "Add, Tanh, Multiply", fast_gelu),
    MS     ("QuickGelu",          "1",   "1",   "alpha:f",                           "Multiply, Sigmoid",   quick_gelu),
    MS     ("BiasAdd",            "3",   "1",   "",                                  "Add",                 bias_add),
    MS     ("BiasSoftmax",        "2",   "1",   "axis:i is_inner_broadcast:i!",      "Add, Softmax",        bias_softmax),
    MS     ("BiasSplitGelu",      "2",   "1",   "",                                  "Add, GELU, Multiply", bias_split_gelu),
    MS     ("FusedMatMul",        "2",   "1",   "alpha:f transA:i transB:i transBatchA:i transBatchB:i", "Transpose, Matmul, Multiply", fused_matmul),
    MS     ("FusedMatMulActivation", "2", "1", "activation:s! activation_alpha:f activation_axis:i activation_beta:f "
                                                "activation_gamma:f alpha:f transA:i transB:i transBatchA:i transBatchB:i", "Matmul, an activation", fused_matmul_activation),
    MS     ("CausalConvWithState", "2-4", "2",  "activation:s ndim:i",               "Concat, Conv1d, SiLU", causal_conv),
    MS_SAME("Trilu",              "1-2", "1",   "upper:i",                           "Where",               trilu),
    MS_SAME("GatherND",           "2",   "1",   "",                                  "GatherND",            gather_nd),
    MS     ("TransposeMatMul",    "2",   "1",   "alpha:f transA:i transB:i",         "Transpose, Matmul, Multiply", fused_matmul),
    MS     ("FusedGemm",          "2-3", "1",   "activation:s activation_alpha:f activation_beta:f activation_gamma:f alpha:f beta:f "
                                                "transA:i transB:i", "Matmul, Add, an activation", fused_gemm),
    MS     ("FusedConv",          "2-4", "1",   WINDOW " group:i activation:s activation_params:F", "Conv1d to 3d, Add, activation", fused_conv),
    MS     ("MatMulNBits",        "3-6", "1",   "K:i! N:i! accuracy_level:i bits:i block_size:i! weight_prepacked:i", "Div, Mod, Cast, Multiply, Matmul", matmul_nbits),
    MS     ("GatherBlockQuantized", "3-4", "1", "bits:i block_size:i gather_axis:i quantize_axis:i", "Gather, Multiply", gather_block_quantized),
    MS     ("QLinearWhere",       "9",   "1",   "",                                  "Where, Round, ClampScalar, Cast", qlinear_where),
    MS     ("NhwcMaxPool",        "1",   "1",   "auto_pad:s ceil_mode:i dilations:I kernel_shape:I! pads:I strides:I", "MaxPool1d to 3d", nhwc_max_pool),
    MS     ("QAttention",         "5-9", "1-2", HEADS " do_rotary:i past_present_share_buffer:i", "Matmul, Attention", qattention),
    MS_SAME("SimplifiedLayerNormalization", "2", "1-2", "axis:i epsilon:f stash_type:i", "RMSNorm",         rms_normalization),
    BY_HOOK("SimplifiedLayerNormalization", "2", "1-2", "axis:i epsilon:f stash_type:i", "RMSNorm",         rms_normalization),
    MS     ("SkipLayerNormalization",   "3-5", "1-4", "epsilon:f",                   "Add, LayerNorm",      skip_layer_normalization),
    MS     ("SkipSimplifiedLayerNormalization", "3-4", "1-4", "epsilon:f",           "Add, RMSNorm",        skip_rms_normalization),
    MS     ("EmbedLayerNormalization",  "7-9", "1-3", "epsilon:f mask_index_type:i", "Gather, Add, LayerNorm", embed_layer_normalization),
    MS     ("GroupNorm",          "3",   "1",   "activation:i! channels_last:i epsilon:f groups:i!", "GroupNorm, SiLU", group_norm),
    MS     ("SkipGroupNorm",      "4-5", "1-2", "activation:i! channels_last:i epsilon:f groups:i!", "Add, GroupNorm, SiLU", skip_group_norm),
    MS     ("RotaryEmbedding",    "4",   "1",   "interleaved:i is_packed_batching:i num_heads:i rotary_embedding_dim:i scale:f",
            "Gather, Multiply, Add, Concat", rotary_embedding),
    MS     ("Attention",          "2-7", "1-2", HEADS " do_rotary:i past_present_share_buffer:i qkv_hidden_sizes:I rotary_embedding_dim:i",
            "Matmul, Attention",  attention),
    MS     ("MultiHeadAttention", "1-10", "1-4", HEADS,                              "Attention",           multi_head_attention),
    MS     ("GroupQueryAttention", "7-14", "1-4",
            "causal:i do_rotary:i k_quant_type:s kv_cache_bit_width:i kv_num_heads:i! local_window_size:i num_heads:i! "
            "qk_norm_epsilon:f qk_output:i rotary_interleaved:i scale:f sliding_window_cache:i smooth_softmax:i softcap:f "
            "v_quant_type:s", "Concat, Attention", group_query_attention),
    MS_SAME("QuantizeLinear",     "2-3", "1",   "axis:i",       "Quantize, or Div, Round, ClampScalar, Cast", quantize_linear),
    MS_SAME("DequantizeLinear",   "2-3", "1",   "axis:i",                            "Cast, or Cast, Add, Multiply", dequantize_linear),
    MS     ("QLinearAdd",         "7-8", "1",   "",                                  "Multiply, Add, Quantize, or Round, ClampScalar, Cast", qlinear_add),
    MS     ("QLinearMul",         "7-8", "1",   "",                                  "Multiply, Quantize, or Round, ClampScalar, Cast", qlinear_mul),
    MS     ("QLinearSigmoid",     "4-5", "1",   "",                                  "Sigmoid, Quantize, or Round, ClampScalar, Cast", qlinear_unary),
    MS     ("QLinearLeakyRelu",   "4-5", "1",   "alpha:f",                           "ReLU, Quantize, or Round, ClampScalar, Cast", qlinear_unary),
    MS     ("QLinearAveragePool", "4-5", "1",   POOL " ceil_mode:i channels_last:i count_include_pad:i", "AvgPool1d to 3d, Quantize, or Round, ClampScalar, Cast", qlinear_pool),
    MS     ("QLinearGlobalAveragePool", "5", "1", "channels_last:i",                 "Sum, Multiply, Quantize, or Round, ClampScalar, Cast", qlinear_global_pool),
    MS     ("QLinearConcat",      "5-",  "1",   "axis:i!",                           "Concat, Quantize, or Round, ClampScalar, Cast", qlinear_concat),
    MS     ("QLinearSoftmax",     "5",   "1",   "axis:i opset:i!",                   "Softmax, Quantize, or Round, ClampScalar, Cast", qlinear_softmax),
    MS     ("QLinearConv",        "8-9", "1",   WINDOW " channels_last:i group:i",   "Conv1d to 3d, Quantize, or Multiply, Round, ClampScalar, Cast", qlinear_conv),
    MS     ("QGemm",              "6-9", "1",   "alpha:f transA:i transB:i",         "Matmul, Multiply, Quantize, or Round, ClampScalar, Cast", qgemm),
    MS     ("DynamicQuantizeMatMul", "3-5", "1", "",                                 "Round, Cast, Matmul, Multiply", dynamic_quantize_matmul),
    MS     ("MatMulIntegerToFloat", "4-7", "1", "",                                  "Cast, Matmul, Multiply", matmul_integer_to_float),
    NCHWC("Conv", "2-4", WINDOW " group:i activation:s activation_params:F"), NCHWC("MaxPool", "1", POOL " ceil_mode:i dilations:I storage_order:i"),
    NCHWC("AveragePool", "1", POOL " ceil_mode:i count_include_pad:i dilations:I"), NCHWC("GlobalMaxPool", "1", ""), NCHWC("GlobalAveragePool", "1", ""),
    NCHWC("ReorderInput", "1", "channels_last:i"), NCHWC("ReorderOutput", "1", "channels:i channels_last:i"),
    NCHWC("Upsample", "1", "coordinate_transformation_mode:s mode:s scales:I"),

    /* QONNX */
    QONNX  ("Quant",             "4",    "narrow:i rounding_mode:s signed:i",        "Quantize, Cast",      qonnx_quant),
    QONNX  ("IntQuant",          "4",    "narrow:i rounding_mode:s signed:i",        "Quantize, Cast",      qonnx_quant),
    QONNX  ("BipolarQuant",      "2",    "",                                         "GreaterEqual, Where", qonnx_bipolar),
    QONNX  ("Trunc",             "5-7",  "narrow:i rounding_mode:s signed:i",
            "Div, Add, Round, Floor, Multiply", qonnx_trunc),
    QONNX  ("FloatQuant",        "6",    "has_inf:i has_infinity:i has_nan:i has_subnormal:i rounding_mode:s saturation:i signed:i",
            "Div, ClampScalar, Cast, Multiply", qonnx_float),

    /* subgraphs */
    BY_HOOK("If",                "1",   "0-",  "else_branch:g! then_branch:g!",                   "the nodes of a branch",                  if_),
    BY_HOOK("Loop",              "2-",  "1-",  "body:g!",                                         "the nodes of each round, Concat",                  loop),
    BY_HOOK("Scan",              "1-",  "1-",  ">=8 body:g! num_scan_inputs:i! scan_input_axes:I>=9 scan_input_directions:I>=9 "
                                               "scan_output_axes:I>=9 scan_output_directions:I>=9 directions:I<9", "the nodes of each round, Concat", scan),

    /* built from several others: regions, signals, bits */
    BY_HOOK("BitwiseAnd",        "2",   "1",   ">=18", "Div, Mod, Multiply, Sum", bitwise_and),
    BY_HOOK("BitwiseNot",        "1",   "1",   ">=18", "Add", bitwise_not),
    BY_HOOK("BitwiseOr",         "2",   "1",   ">=18", "Div, Mod, Multiply, Sum, Add", bitwise_or),
    BY_HOOK("BitwiseXor",        "2",   "1",   ">=18", "Div, Mod, Multiply, Sum, Add", bitwise_xor),
    BY_HOOK("AffineGrid",        "2",   "1",   ">=20 align_corners:i", "Matmul", affine_grid),
    BACK   ("Attention",         "3-7", "1-4", ">=23 is_causal:i kv_num_heads:i q_num_heads:i qk_matmul_output_mode:i scale:f softcap:f softmax_precision:i", "Attention", attention, "Attention", attention),
    BY_HOOK("BlackmanWindow",    "1",   "1",   ">=17 output_datatype:i periodic:i", "Params, or Range, Cos", blackman_window),
    BY_HOOK("CenterCropPad",     "2",   "1",   ">=18 axes:I", "Slice, Pad", center_crop_pad),
    BY_HOOK("Col2Im",            "3",   "1",   ">=18 dilations:I pads:I strides:I", "ConvTranspose1d to 3d", col2im),
    BY_HOOK("DFT",               "1-3", "1",   ">=17 axis:i<20 inverse:i onesided:i", "Matmul, Add, Concat", dft),
    BY_HOOK("DeformConv",        "3-5", "1",   ">=19 dilations:I group:i kernel_shape:I offset_group:i pads:I strides:I", "GridSample, Multiply, Matmul", deform_conv),
    BY_HOOK("Det",               "1",   "1",   ">=11", "Multiply, Sum, Matmul", det),
    BY_HOOK("GlobalLpPool",      "1",   "1",   "p:fi", "Pow, Sum, Pow", global_lp_pool),
    BY_HOOK("HammingWindow",     "1",   "1",   ">=17 output_datatype:i periodic:i", "Params, or Range, Cos", hamming_window),
    BY_HOOK("HannWindow",        "1",   "1",   ">=17 output_datatype:i periodic:i", "Params, or Range, Cos", hann_window),
    BY_HOOK("LpPool",            "1",   "1",   POOL " ceil_mode:i>=18 dilations:I>=18 p:i", "Pow, Conv1d to 3d, Pow", lp_pool),
    BY_HOOK("MaxUnpool",         "2-3", "1",   ">=9 kernel_shape:I! pads:I strides:I", "ScatterND, Pad", max_unpool),
    BY_HOOK("MelWeightMatrix",   "5",   "1",   ">=17 output_datatype:i", "Params", mel_weight_matrix),
    BY_HOOK("RoiAlign",          "3",   "1",   ">=10 coordinate_transformation_mode:s>=16 mode:s output_height:i output_width:i sampling_ratio:i spatial_scale:f", "Gather, Matmul", roi_align),
    BY_HOOK("STFT",              "2-4", "1",   ">=17 onesided:i", "Gather, Multiply, Matmul, Concat", stft),
    BY_HOOK("TensorScatter",     "2-3", "1",   ">=24 axis:i mode:s", "ScatterND", tensor_scatter),

    /* no XIR operation */
    STAYS  ("Bernoulli",         "1",   "1",   ">=15 dtype:i seed:f"),
    BY_HOOK("ConcatFromSequence", "1",  "1",   ">=11 axis:i! new_axis:i", "Concat", concat_from_sequence),
    STAYS  ("ImageDecoder",      "1",   "1",   ">=20 pixel_format:s"),
    STAYS  ("MaxRoiPool",        "2",   "1",   "pooled_shape:I! spatial_scale:f"),
    STAYS  ("Multinomial",       "1",   "1",   ">=7 dtype:i sample_size:i seed:f"),
    BY_HOOK("Optional",          "0-1", "1",   ">=15 type:y", "its value", optional),
    BY_HOOK("OptionalGetElement", "1",  "1",   ">=15", "its value", optional_get),
    BY_HOOK("OptionalHasElement", "0-1", "1",  ">=15", "Params", optional_has),
    STAYS  ("RandomNormal",      "0",   "1",   "dtype:i mean:f scale:f seed:f shape:I!"),
    STAYS  ("RandomNormalLike",  "1",   "1",   "dtype:i mean:f scale:f seed:f"),
    STAYS  ("RandomUniform",     "0",   "1",   "dtype:i high:f low:f seed:f shape:I!"),
    STAYS  ("RandomUniformLike", "1",   "1",   "dtype:i high:f low:f seed:f"),
    STAYS  ("RegexFullMatch",    "1",   "1",   ">=20 pattern:s"),
    BY_HOOK("SequenceAt",        "2",   "1",   ">=11", "a member", sequence_at),
    BY_HOOK("SequenceConstruct", "1-",  "1",   ">=11", "its members", sequence_construct),
    BY_HOOK("SequenceEmpty",     "0",   "1",   ">=11 dtype:i", "its members", sequence_empty),
    BY_HOOK("SequenceErase",     "1-2", "1",   ">=11", "its members", sequence_erase),
    BY_HOOK("SequenceInsert",    "2-3", "1",   ">=11", "its members", sequence_insert),
    BY_HOOK("SequenceLength",    "1",   "1",   ">=11", "Params", sequence_length),
    BY_HOOK("SequenceMap",       "1-",  "1-",  ">=17 body:g!", "the nodes of each round", sequence_map),
    BY_HOOK("SplitToSequence",   "1-2", "1",   ">=11 axis:i keepdims:i", "Slice, Gather", split_to_sequence),
    STAYS  ("StringConcat",      "2",   "1",   ">=20"),
    STAYS  ("StringNormalizer",  "1",   "1",   ">=10 case_change_action:s is_case_sensitive:i locale:s stopwords:S"),
    STAYS  ("StringSplit",       "1",   "2",   ">=20 delimiter:s maxsplit:i"),
    STAYS  ("TfIdfVectorizer",   "1",   "1",   ">=9 max_gram_length:i! max_skip_count:i! min_gram_length:i! mode:s! ngram_counts:I! ngram_indexes:I! "
                                               "pool_int64s:I pool_strings:S weights:F"),
    BY_HOOK("Unique",            "1",   "1-4", ">=11 axis:i sorted:i", "TopK, NonZero, Gather", unique),
};

static const xir_pass_option options[] = {
    XIR_DIALECT_STRICT,
    { "custom", XIR_PASS_BOOL, "false", "what ONNX has no operators for becomes nodes in the domain icraft.xir" },
    { "opset", XIR_PASS_INT, "0", "the version of the operator set, 11 to 23; 0: that of the file that the network "
                                  "comes from, or 13, or the least above it that all ops need" },
};

extern const xir_dialect_decl dialect_onnx;
static const xir_pass_removed removed[] = {
    { "all-custom", "'custom' makes nodes of the ops that ONNX has no operators for" },
    { NULL, NULL },
};
static const xir_pass_decl pass_xir_to_onnx = {
    XIR_PASS_HEAD("xir-to-onnx", "converts XIR's ops to operators of ONNX, one by one"), .level = XIR_LEVEL_NEEDED,
    .options = options, .n_options = COUNT(options), .run = xir_dialect_pass_run,
    .user = (void *)(uintptr_t)&dialect_onnx, .removed = removed,
};

const xir_dialect_decl dialect_onnx = {
    XIR_DIALECT_HEAD("onnx::", "ONNX"), .pass = "onnx-to-xir", .rows = rows, .n_rows = COUNT(rows),
    .node = "node", .nodes = "/graph/node/", .results = "/graph/output/", .sources = "graph input or initializer",
    .operators = "operator set", .split = onnx_split_key, .version = onnx_version, .is_pure = onnx_is_pure,
    .check = onnx_check_both, .types = onnx_types, .element = onnx_declared_element, .newest = ONNX_NEWEST,
    .function = onnx_function, .rest = onnx_rest,
    .back = &pass_xir_to_onnx, .before_back = "denormalize,layout{to=nchw}", .begin_back = onnx_begin_back,
    .end_back = onnx_end_back, .finish = onnx_finish, .lacks = XIR_LACKS_TENSOR_NAMES, .calls = onnx_back_functions,
};
