/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The conversion of each function of NNabla: its inputs, by NNabla's names, its arguments, and the ops that it becomes.
 * A function has one row, whichever of its numbers a file has: arguments that older numbers do not have are optional,
 * and come with the api level of the first number that has them. Where NNabla and its C runtime differ, the row says
 * what NNabla does (docs/nnb.md). A row without a hook makes one op, with the attributes of its last column. */
#include <xir/nnb.h>
#include "nnb/nnb.h"
#include "spec/recurrent.h"

#define ROW(type, in, out, arguments, cls, sets) \
    { XIR_CONVERT_HEAD, "nnb::" type, in, out, arguments, cls, sets, NULL }
#define BY_HOOK(type, in, out, arguments, cls, ...) /* the hook, and its .variant */ \
    { XIR_CONVERT_HEAD, "nnb::" type, in, out, arguments, cls, NULL, nnb_##__VA_ARGS__ }
/* The same, with a hook for the way back from classes of XIR. Other rows without a hook are read backward by
 * themselves. */
#define BACK(type, in, out, arguments, cls, hook, from, ...) \
    { XIR_CONVERT_HEAD, "nnb::" type, in, out, arguments, cls, NULL, nnb_##hook, from, nnb_back_##__VA_ARGS__ }
#define ROW_BACK(type, in, out, arguments, cls, sets, from, back) \
    { XIR_CONVERT_HEAD, "nnb::" type, in, out, arguments, cls, sets, NULL, from, nnb_back_##back }
/* The same, if the function is not one that the way back makes. */
#define ROW_ONLY(type, in, out, arguments, cls, sets) ROW_BACK(type, in, out, arguments, cls, sets, "", copy)
#define nnb_copied xir_convert_copy
#define STAYS(type) { XIR_CONVERT_HEAD, "nnb::" type, "0-", "0-", "*:aA", NULL, NULL, xir_convert_unsupported }

static const xir_convert_row rows[] = {
    /* neural network layer */
    BACK("Affine", "2-3 x weight bias", "1", "base_axis:i!", "Matmul", affine, "Matmul", matmul),
    BACK("RNN", "3-5", "1-2", ">=2 num_layers:i! nonlinearity:s! dropout:f bidirectional:bi! training:bi", "RNN",
            recurrent, "RNN", recurrent, .variant = RECURRENT_RNN),
    BACK("LSTM", "4-6", "1-3", ">=2 num_layers:i! dropout:f bidirectional:bi! training:bi", "LSTM", recurrent, "LSTM",
            recurrent, .variant = RECURRENT_LSTM),
    BACK("GRU", "3-5", "1-2", ">=2 num_layers:i! dropout:f bidirectional:bi! training:bi", "GRU", recurrent, "GRU",
            recurrent, .variant = RECURRENT_GRU),
    BACK("Convolution", "2-3 x weight bias", "1",
            "base_axis:i! pad:I! stride:I! dilation:I! group:i! channel_last:bi>=4", "Conv1d to 3d", convolution,
            "Conv1d Conv2d Conv3d", conv),
    STAYS("FusedConvolution"),
    BY_HOOK("DepthwiseConvolution", "2-3 x weight bias", "1",
            "base_axis:i! pad:I! stride:I! dilation:I! multiplier:i!", "Conv1d to 3d", depthwise),
    BACK("Deconvolution", "2-3 x weight bias", "1",
            "base_axis:i! pad:I! stride:I! dilation:I! group:i! channel_last:bi>=8 output_padding:I>=15",
            "ConvTranspose1d to 3d", deconvolution, "ConvTranspose1d ConvTranspose2d ConvTranspose3d", conv),
    BY_HOOK("DepthwiseDeconvolution", "2-3 x weight bias", "1",
            "base_axis:i! pad:I! stride:I! dilation:I! divisor:i!", "ConvTranspose1d to 3d", depthwise_back),
    STAYS("DeformableConvolution"), STAYS("AdaptiveSeparableConvolution"),
    BACK("MaxPooling", "1 x", "1", "kernel:I! stride:I! ignore_border:bi! pad:I! channel_last:bi>=4",
            "MaxPool1d to 3d", max_pool, "MaxPool1d MaxPool2d MaxPool3d", pool),
    BACK("AveragePooling", "1 x", "1",
            "kernel:I! stride:I! ignore_border:bi! pad:I! channel_last:bi including_pad:bi>=4",
            "AvgPool1d to 3d, Pad", average_pool, "AvgPool1d AvgPool2d AvgPool3d", pool),
    BACK("GlobalAveragePooling", "1 x", "1", "", "Mean", global_average, "Mean", global_average),
    BY_HOOK("SumPooling", "1 x", "1", "kernel:I! stride:I! ignore_border:bi! pad:I! channel_last:bi>=4",
            "AvgPool1d to 3d", sum_pool),
    BACK("Unpooling", "1 x", "1", "kernel:I! channel_last:bi>=13", "Upsample or Gather", unpool, "Upsample Resize",
            resize),
    BACK("Embed", "2 x0 w", "1", "", "Gather", embed, "Gather", gather),
    STAYS("RoiAlign"),

    /* neural network activation functions */
    ROW("Sigmoid", "1 x", "1", "", "Sigmoid", NULL),
    ROW("Swish", "1 x", "1", "", "SiLU", NULL),
    ROW("Tanh", "1 x", "1", "", "Tanh", NULL),
    ROW_BACK("ReLU", "1 x", "1", "inplace:bi", "ReLU", NULL, "ReLU", relu),
    ROW_ONLY("LeakyReLU", "1 x", "1", "alpha:f! inplace:bi>=2", "ReLU", "alpha=alpha:0.1"),
    ROW_BACK("Softmax", "1 x", "1", "axis:i!", "Softmax", "axis=axis", "Softmax", softmax),
    ROW_BACK("LogSoftmax", "1 x", "1", ">=4 axis:i!", "LogSoftmax", "axis=axis", "LogSoftmax", softmax),
    ROW("ELU", "1 x", "1", "alpha:f!", "ELU", "alpha=alpha:1"),
    BY_HOOK("SELU", "1 x", "1", "scale:f! alpha:f!", "ELU, Multiply", selu),
    BY_HOOK("CReLU", "1 x", "1", "axis:i!", "ReLU, Concat", crelu),
    BY_HOOK("CELU", "1 x", "1", "alpha:f! axis:i!", "ELU, Concat", celu),
    BACK("PReLU", "2 x0 x1", "1", "base_axis:i!", "PReLU", prelu, "PReLU", prelu),
    ROW("GELU", "1 x", "1", ">=2", "GELU", NULL),
    ROW("Mish", "1 x", "1", "arguments:t", "Mish", NULL),
    ROW_ONLY("ReLU6", "1 x", "1", ">=2", "ReLU", "max_value=6"),
    ROW("HardSigmoid", "1 x", "1", ">=2 arg0:f>=3 arg1:f>=3", "Hardsigmoid", "alpha=0.2 beta=0.5"),
    ROW_ONLY("HardTanh", "1 x", "1", ">=2 arg0:fi arg1:fi", "Hardtanh", "min_val=-1 max_val=1"),
    ROW("LogSigmoid", "1 x", "1", ">=2", "LogSigmoid", NULL),
    ROW("SoftPlus", "1 x", "1", ">=2 arg0:i arg1:i beta:f>=33", "Softplus", "beta=beta:1"),
    ROW("SoftSign", "1 x", "1", ">=2", "Softsign", NULL),
    ROW("TanhShrink", "1 x", "1", ">=2", "Tanhshrink", NULL),
    BY_HOOK("Sinc", "1 x", "1", ">=2", "Sin, Div, Where", sinc),

    /* normalization */
    BY_HOOK("FusedBatchNormalization", "5-6 x beta gamma mean variance z", "1-3",
            ">=4 axes:I! decay_rate:f eps:f! batch_stat:bi! nonlinearity:s!", "BatchNorm1d to 3d, or Multiply, Add",
            batch_norm, .variant = true),
    BACK("BatchNormalization", "1-5", "1-3",
            "axes:I! decay_rate:f eps:f! batch_stat:bi! no_scale:bi>=28 no_bias:bi>=28",
            "BatchNorm1d to 3d, or Multiply, Add", batch_norm, "BatchNorm1d BatchNorm2d BatchNorm3d", batch_norm),
    BY_HOOK("GroupNormalization", "1-3", "1-3",
            ">=27 num_groups:i! channel_axis:i! batch_axis:I! eps:f! no_scale:bi! no_bias:bi!", "LayerNorm",
            group_norm),
    BY_HOOK("InstanceNormalization", "1-3", "1-3",
            ">=27 channel_axis:i! batch_axis:I! eps:f! no_scale:bi! no_bias:bi!", "LayerNorm", instance_norm),
    BACK("LayerNormalization", "1-3", "1-3", ">=27 batch_axis:I! eps:f! no_scale:bi! no_bias:bi!", "LayerNorm",
            layer_norm, "LayerNorm", layer_norm),
    BY_HOOK("NormNormalization", "1 x", "1", ">=23 p:f! axes:I! eps:f!", "Sum, Pow, Div", norm_normalize),
    STAYS("SyncBatchNormalization"),
    BY_HOOK("TensorNormalization", "1-3", "1-3", ">=27 axes:I! eps:f! no_scale:bi! no_bias:bi!", "LayerNorm",
            tensor_norm),
    BY_HOOK("WeightNormalization", "2 w g", "1", ">=19 dim:i! eps:f!", "Sum, Sqrt, Div", weight_norm),
    BY_HOOK("WeightStandardization", "1 w", "1", ">=27 channel_axis:i! eps:f!", "LayerNorm", weight_standardize),
    STAYS("SpectralNorm"),
    BY_HOOK("MeanSubtraction", "3 x rmean t", "1", "base_axis:i! update_running_mean:bi!", "Add", mean_subtraction),
    BY_HOOK("ClipGradByValue", "3 x min max", "1", "", "Copy", copied),
    BY_HOOK("ClipGradByNorm", "1 x", "1", "clip_norm:f! axes:I!", "Copy", copied),

    /* reduction */
    BACK("Sum", "1 x", "1", "axes:I! keep_dims:bi!", "Sum", reduce, "Sum", reduce),
    ROW_BACK("CumSum", "1 x", "1", "arguments:t axis:i exclusive:bi reverse:bi", "CumSum",
            "axis=axis exclusive=exclusive reverse=reverse", "CumSum", cumsum),
    BACK("Mean", "1 x", "1", "axes:I! keep_dims:bi!", "Mean", reduce, "Mean", reduce),
    BACK("Max", "1 x", "1-2", "axes:I! keep_dims:bi! with_index:bi>=2 only_index:bi>=2", "Max", extreme,
            "Max Argmax", extreme),
    BACK("Min", "1 x", "1-2", "axes:I! keep_dims:bi! with_index:bi>=2 only_index:bi>=2", "Min", extreme,
            "Min Argmin", extreme),
    BY_HOOK("Norm", "1 x", "1", ">=24 p:f! axes:I! keep_dims:bi!", "Abs, Pow, Sum", norm),
    BACK("Prod", "1 x", "1", "axes:I! keep_dims:bi!", "Prod", reduce, "Prod", reduce),
    BY_HOOK("CumProd", "1 x", "1", "arguments:t axis:i exclusive:bi reverse:bi", "Slice, Multiply, Concat", cum_prod),
    BY_HOOK("ReduceSum", "1 x", "1", "", "Sum", reduce_all),
    BY_HOOK("ReduceMean", "1 x", "1", "", "Mean", reduce_all),

    /* arithmetic */
    BACK("Add2", "2 x0 x1", "1", "inplace:bi", "Add", binary, "Add", add),
    BY_HOOK("AddN", "1-", "1", ">=10", "Add", chain),
    BY_HOOK("BcAdd2", "2 x0 x1", "1", "inplace:bi>=21", "Add", binary),
    BY_HOOK("Sub2", "2 x0 x1", "1", "inplace:bi>=21", "Add", binary),
    BACK("Mul2", "2 x0 x1", "1", "inplace:bi>=21", "Multiply", binary, "Multiply", multiply),
    BY_HOOK("MulN", "1-", "1", ">=10", "Multiply", chain),
    BACK("Div2", "2 x0 x1", "1", "inplace:bi>=21", "Div", binary, "Div", div),
    BACK("Pow2", "2 x0 x1", "1", "inplace:bi>=21", "Pow", binary, "Pow", pow),
    BY_HOOK("AddScalar", "1 x", "1", "val:f! inplace:bi>=21", "Add", scalar),
    BACK("MulScalar", "1 x", "1", "val:f! inplace:bi>=21", "Multiply", scalar, "Neg DivideScalar", neg),
    BACK("PowScalar", "1 x", "1", "val:f! inplace:bi>=21", "Pow", scalar, "Sqrt", sqrt),
    BY_HOOK("RSubScalar", "1 x", "1", "val:f!", "Add", from_scalar),
    BACK("RDivScalar", "1 x", "1", "val:f!", "Div", scalar_first, "Reciprocal", reciprocal),
    BY_HOOK("RPowScalar", "1 x", "1", "val:f!", "Pow", scalar_first),

    /* logical */
    BACK("Sign", "1 x", "1", "alpha:f!", "Sign, Where", sign, "Sign", sign),
    ROW_BACK("Minimum2", "2 x0 x1", "1", "", "Minimum", NULL, "Minimum", extreme2),
    ROW_BACK("Maximum2", "2 x0 x1", "1", "", "Maximum", NULL, "Maximum", extreme2),
    ROW_ONLY("MinimumScalar", "1 x", "1", "val:f!", "ClampScalar", "max=val"),
    ROW_BACK("MaximumScalar", "1 x", "1", "val:f!", "ClampScalar", "min=val", "ClampScalar Hardtanh", clamp),
    BACK("LogicalAnd", "2 x0 x1", "1", "", "And", logic, "And", logic),
    BACK("LogicalOr", "2 x0 x1", "1", "", "Or", logic, "Or", logic),
    BACK("LogicalXor", "2 x0 x1", "1", "", "Xor", logic, "Xor", logic),
    BACK("Equal", "2 x0 x1", "1", "", "Equal", compare, "Equal", compare),
    BACK("NotEqual", "2 x0 x1", "1", "", "NotEqual", compare, "NotEqual", compare),
    BACK("GreaterEqual", "2 x0 x1", "1", "", "GreaterEqual", compare, "GreaterEqual", compare),
    BACK("Greater", "2 x0 x1", "1", "", "Greater", compare, "Greater", compare),
    BACK("LessEqual", "2 x0 x1", "1", "", "LessEqual", compare, "LessEqual", compare),
    BACK("Less", "2 x0 x1", "1", "", "Less", compare, "Less", compare),
    STAYS("SearchSorted"),
    BY_HOOK("LogicalAndScalar", "1 x0", "1", "val:bi!", "And", logic_scalar),
    BY_HOOK("LogicalOrScalar", "1 x0", "1", "val:bi!", "Or", logic_scalar),
    BY_HOOK("LogicalXorScalar", "1 x0", "1", "val:bi!", "Xor", logic_scalar),
    BY_HOOK("EqualScalar", "1 x0", "1", "val:f!", "Equal", compare_scalar),
    BY_HOOK("NotEqualScalar", "1 x0", "1", "val:f!", "NotEqual", compare_scalar),
    BY_HOOK("GreaterEqualScalar", "1 x0", "1", "val:f!", "GreaterEqual", compare_scalar),
    BY_HOOK("GreaterScalar", "1 x0", "1", "val:f!", "Greater", compare_scalar),
    BY_HOOK("LessEqualScalar", "1 x0", "1", "val:f!", "LessEqual", compare_scalar),
    BY_HOOK("LessScalar", "1 x0", "1", "val:f!", "Less", compare_scalar),
    BACK("LogicalNot", "1 x0", "1", "", "Not", logical_not, "Not", not),
    BY_HOOK("IsNaN", "1 x0", "1", ">=2", "NotEqual", is_nan),
    BY_HOOK("IsInf", "1 x0", "1", ">=2", "Equal", is_inf),
    BY_HOOK("ResetNaN", "1 x0", "1", ">=2 val:f!", "Where", reset_nan),
    BY_HOOK("ResetInf", "1 x0", "1", ">=2 val:f!", "Where", reset_inf),
    BACK("Where", "3 condition x_true x_false", "1", ">=2", "Where", where, "Where", where),

    /* math */
    BY_HOOK("Constant", "0", "1", "val:f! shape:I!", "Params", constant),
    BY_HOOK("Arange", "0", "1", ">=2 start:f! stop:f! step:f!", "Params", arange),
    BY_HOOK("Linspace", "0", "1", ">=38 start:f! stop:f! num:i!", "Params", linspace),
    ROW("Abs", "1 x", "1", "", "Abs", NULL),
    ROW("Exp", "1 x", "1", "", "Exp", NULL),
    ROW("Log", "1 x", "1", "", "Log", NULL),
    BACK("Identity", "1 x", "1", "", "Copy", copied, "Copy Cast", copy),
    BY_HOOK("BatchMatmul", "2 a b", "1", "transpose_a:bi! transpose_b:bi!", "Matmul", matmul),
    BACK("Round", "1 x", "1", "", "Floor, Sign, Multiply", round, "Round", round),
    ROW_BACK("Ceil", "1 x", "1", "", "Ceil", NULL, "Ceil", whole),
    ROW_BACK("Floor", "1 x", "1", "", "Floor", NULL, "Floor", whole),
    ROW("Sin", "1 x", "1", ">=2", "Sin", NULL),
    ROW("Cos", "1 x", "1", ">=2", "Cos", NULL),
    ROW("Tan", "1 x", "1", ">=2", "Tan", NULL),
    ROW("Sinh", "1 x", "1", ">=2", "Sinh", NULL),
    ROW("Cosh", "1 x", "1", ">=2", "Cosh", NULL),
    ROW("ASin", "1 x", "1", ">=2", "ASin", NULL),
    ROW("ACos", "1 x", "1", ">=2", "ACos", NULL),
    ROW("ATan", "1 x", "1", ">=2", "ATan", NULL),
    BY_HOOK("ATan2", "2 x0 x1", "1", ">=2", "ATan, Where", atan2),
    ROW("ASinh", "1 x", "1", ">=2", "ASinh", NULL),
    ROW("ACosh", "1 x", "1", ">=2", "ACosh", NULL),
    ROW("ATanh", "1 x", "1", ">=2", "ATanh", NULL),
    ROW("Erf", "1 x", "1", ">=42", "Erf", NULL),

    /* array manipulation */
    BACK("Concatenate", "1-", "1", "axis:i!", "Concat", concat, "Concat", join),
    ROW_BACK("Split", "1 x", "1-", "axis:i!", "Unstack", "dim=axis", "Unstack", unstack),
    ROW_BACK("Stack", "1-", "1", "axis:i!", "Stack", "dim=axis", "Stack", join),
    BACK("Slice", "1 x", "1", "start:I! stop:I! step:I!", "Slice", slice, "Slice Split", slice),
    BACK("Pad", "1 x", "1", "pad_width:I! mode:s! constant_value:f!", "Pad or Gather", pad, "Pad", pad),
    BACK("Transpose", "1 x", "1", "axes:I!", "Transpose", transpose, "Transpose", transpose),
    ROW_BACK("Broadcast", "1 x", "1", "shape:I!", "Expand", "sizes=shape", "Expand", expand),
    BY_HOOK("BroadcastTo", "2 x y", "1", ">=2 axis:i!", "Reshape, Expand", broadcast_to),
    ROW_BACK("Tile", "1 x", "1", ">=2 reps:I!", "Tile", "dims=reps", "Tile", tile),
    BY_HOOK("OneHot", "1 x", "1", "shape:I!", "Equal, And", one_hot),
    BY_HOOK("Flip", "1 x", "1", "axes:I!", "Slice", flip),
    BY_HOOK("Shift", "1 x", "1", "shifts:I! border_mode:s!", "Gather", shift),
    BACK("Sort", "1 x", "1-2", ">=2 axis:i! reverse:bi! with_index:bi! only_index:bi!", "TopK", sort, "TopK", topk),
    BACK("Reshape", "1 x", "1", "shape:I! inplace:bi>=2", "Reshape", reshape, "Reshape Squeeze", reshape),
    BY_HOOK("Shape", "1 x", "1", ">=41 start:i! end:i!", "Params", shape),
    BY_HOOK("MatrixDiag", "1 x", "1", "", "Where", matrix_diag),
    BY_HOOK("MatrixDiagPart", "1 x", "1", "", "Gather", matrix_diag_part),
    BY_HOOK("Trilu", "1 x", "1", ">=45 k:i! upper:bi!", "Where", trilu),
    BY_HOOK("Meshgrid", "1-", "1-", ">=32 ij_indexing:bi!", "Reshape, Expand", meshgrid),
    STAYS("BatchDet"), STAYS("BatchInv"), STAYS("BatchLogdet"), STAYS("BatchCholesky"), STAYS("Assign"),
    BY_HOOK("Gather", "2 x Indices", "1", "arguments:t axis:i batch_dims:Ii", "Gather", gather),
    BACK("GatherNd", "2 x indices", "1", ">=4", "GatherND", gather_nd,
            "GatherND GatherElements", gather_nd),
    STAYS("BoolGather"),
    BACK("ScatterNd", "2-3 data indices out", "1", ">=4 shape:I! add:bi>=37", "ScatterND", scatter_nd,
            "ScatterND", scatter_nd),
    BY_HOOK("ScatterAdd", "3 x0 indices x1", "1", ">=22 axis:i!", "ScatterND", scatter_add),
    STAYS("BoolScatter"),
    BY_HOOK("BoolFill", "2 data mask", "1", ">=36 value:f!", "Where", bool_fill),
    STAYS("PackPaddedSequence"), STAYS("PadPackedSequence"), STAYS("NonZero"),

    /* signal processing */
    BY_HOOK("Interpolate", "1 x", "1", ">=2 output_size:I! mode:s! align_corners:bi! half_pixel:bi>=12 "
            "half_pixel_for_nn:bi>=14 channel_last:bi>=14", "Upsample, Gather or Matmul", interpolate),
    STAYS("ONNXResize"), STAYS("FFT"), STAYS("IFFT"), STAYS("STFT"), STAYS("ISTFT"),

    /* stochasticity */
    BY_HOOK("Dropout", "1 x", "1", "p:f! seed:i output_mask:bi>=34", "Copy", dropout),
    BY_HOOK("TopKData", "1 x", "1-2", "k:i! abs:bi! reduce:bi! base_axis:i! largest:bi>=43 with_index:bi>=43", "TopK",
            top_k_data),
    STAYS("TopKGrad"), STAYS("Rand"), STAYS("Randint"), STAYS("Randn"), STAYS("RandBinomial"), STAYS("RandBeta"),
    STAYS("RandGamma"), STAYS("RandomChoice"), STAYS("RandomCrop"), STAYS("RandomFlip"), STAYS("RandomShift"),
    STAYS("RandomErase"), STAYS("ImageAugmentation"),

    /* loss functions */
    BY_HOOK("SigmoidCrossEntropy", "2 x target", "1", "", "LogSigmoid, Add", sigmoid_cross_entropy),
    BY_HOOK("BinaryCrossEntropy", "2 x target", "1", "", "Log, Add", binary_cross_entropy),
    BY_HOOK("SoftmaxCrossEntropy", "2 x target", "1", "axis:i!", "LogSoftmax, GatherElements", softmax_cross_entropy),
    BY_HOOK("CategoricalCrossEntropy", "2 x target", "1", "axis:i!", "GatherElements, Log", softmax_cross_entropy),
    BY_HOOK("SquaredError", "2 x0 x1", "1", "", "Add, Multiply", squared_error),
    BY_HOOK("AbsoluteError", "2 x0 x1", "1", "", "Add, Abs", absolute_error),
    BY_HOOK("HuberLoss", "2 x0 x1", "1", "delta:f!", "Abs, ClampScalar", huber_loss),
    BY_HOOK("EpsilonInsensitiveLoss", "2 x0 x1", "1", "epsilon:f!", "Abs, ReLU", epsilon_loss),
    BY_HOOK("KLMultinomial", "2 p q", "1", "base_axis:i!", "Log, Sum", kl_multinomial),

    /* geometric neural network layers */
    STAYS("AffineGrid"),
    BACK("WarpByGrid", "2 x grid", "1", ">=18 mode:s! padding_mode:s! align_corners:bi! channel_last:bi!",
            "GridSample", warp_by_grid, "GridSample", grid_sample),
    STAYS("WarpByFlow"),

    /* quantization neural network layers */
    BY_HOOK("BinarySigmoid", "1 x", "1", "", "Greater, Where", binary_sign, .variant = 0),
    BY_HOOK("BinaryTanh", "1 x", "1", "", "Greater, Where", binary_sign, .variant = -1),
    BY_HOOK("BinaryConnectAffine", "3-4 x weight binary_weight bias", "1", "base_axis:i! quantize_zero_to:f>=2",
            "Matmul", affine, .variant = NNB_BINARY),
    BY_HOOK("BinaryConnectConvolution", "3-4 x weight binary_weight bias", "1",
            "base_axis:i! pad:I! stride:I! dilation:I! group:i! quantize_zero_to:f>=2", "Conv1d to 3d", convolution,
            .variant = NNB_BINARY),
    BY_HOOK("BinaryWeightAffine", "4-5 x weight binary_weight alpha bias", "1", "base_axis:i! quantize_zero_to:f>=2",
            "Matmul, Multiply", affine, .variant = NNB_BINARY_SCALED),
    BY_HOOK("BinaryWeightConvolution", "4-5 x weight binary_weight alpha bias", "1",
            "base_axis:i! pad:I! stride:I! dilation:I! group:i! quantize_zero_to:f>=2", "Conv1d to 3d, Multiply",
            convolution, .variant = NNB_BINARY_SCALED),
    STAYS("INQAffine"), STAYS("INQConvolution"),
    BY_HOOK("FixedPointQuantize", "1 x", "1", "sign:bi! n:i! delta:f! ste_fine_grained:bi!",
            "Floor, Multiply, ClampScalar", fixed_quantize),
    STAYS("MinMaxQuantize"), STAYS("Pow2Quantize"), STAYS("Prune"),
    BY_HOOK("QuantizeLinear", "3 x scale zero_point", "1", ">=16 round_mode:s! narrow_range:bi! dtype:i!",
            "Div, Round, ClampScalar", quantize_linear),
    BY_HOOK("DequantizeLinear", "3 x scale zero_point", "1", ">=16", "Add, Multiply", dequantize_linear),

    /* validation */
    STAYS("TopNError"),
    BY_HOOK("BinaryError", "2 x target", "1", "", "GreaterEqual, Xor", binary_error),
    STAYS("ConfusionMatrix"),

    /* unsupported, special use */
    STAYS("VATNoise"),
    BY_HOOK("Unlink", "1 x", "1", "", "Copy", copied),
    STAYS("Sink"), STAYS("NmsDetection2d"), STAYS("ONNXNonMaxSuppression"), STAYS("MaxPoolingBackward"),
    STAYS("PatchCorrelation"), STAYS("Unique"),
    BY_HOOK("EyeLike", "1 x", "1", ">=44 k:i!", "Params", eye_like),
    BACK("Mod2", "2 x0 x1", "1", ">=44 fmod:bi!", "Mod, or Div, Floor", mod, "Mod", mod),
    BY_HOOK("BitShift", "2 x shift", "1", ">=44 direction:s!", "Pow, Multiply", bit_shift),
    STAYS("Einsum"),
};

/* The options of the way back. */
static const xir_pass_option options[] = {
    XIR_DIALECT_STRICT,
    { "runtime", XIR_PASS_BOOL, "true",
      "only functions that NNabla's C runtime computes; false: all that an exporter writes" },
    { "weights", XIR_PASS_TEXT, "FLOAT32",
      "the type of parameters: FLOAT32, FIXED16, FIXED8 (each with its own fraction bits), or SIGN (those of 1 and -1 "
      "become bits)" },
    { "version", XIR_PASS_INT,  "0", "of the file: 2 or 3; 0: that of the file that was read, or 3" },
    { "api",     XIR_PASS_INT,  "0", "the greatest api level of functions, 1 to 45; 0: any" },
    XIR_DIALECT_NAMES,
};

extern const xir_dialect_decl dialect_nnb;
static const xir_pass_decl pass_xir_to_nnb =
    XIR_DIALECT_PASS_WITH("xir-to-nnb", "converts XIR's ops to functions of NNabla, one by one", &dialect_nnb, options);

const xir_dialect_decl dialect_nnb = {
    XIR_DIALECT_HEAD("nnb::", "NNB"), .pass = "nnb-to-xir", .rows = rows, .n_rows = COUNT(rows),
    .node = "function", .nodes = "/functions/", .sources = "network input or parameter",
    .operators = "table of functions", .version = nnb_api_level, .is_pure = nnb_is_pure, .prepare = nnb_to_reals,
    .check_file = xir_nnb_check, .check = nnb_back_check,
    .back = &pass_xir_to_nnb, .before_back = "layout{to=nchw}", .begin_back = nnb_begin_back,
    .end_back = nnb_type_functions,
    .numbered = "v", .value = "variable",
};
