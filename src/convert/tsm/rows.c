/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The operators of TensorStack: their inputs and parameters, and what they become. Parameters are read by value,
 * whatever their width: a flag may be an integer, a real an integer. */
#include "tsm/tsm.h"

#define ANY "#shape:I #dtype:i #output_count:i "
#define OP(type, in, out, attributes, cls, sets, ...) \
    { XIR_CONVERT_HEAD, "tsm::" type, in, out, ANY attributes, cls, sets, __VA_ARGS__ }
#define ROW(type, in, attributes, cls, sets)           OP(type, in, "1", attributes, cls, sets, NULL)
#define BY_HOOK(type, in, out, attributes, cls, ...)   OP(type, in, out, attributes, cls, NULL, tsm_##__VA_ARGS__)
#define WITH_BACK(type, in, out, attributes, cls, sets, hook, from, ...) /* the hook back, and the .variant */ \
    { XIR_CONVERT_HEAD, "tsm::" type, in, out, ANY attributes, cls, sets, tsm_##hook, from, __VA_ARGS__ }
#define COPY(type, in, attributes)                     \
    { XIR_CONVERT_HEAD, "tsm::" type, in, "1", ANY attributes, "Copy", NULL, xir_convert_copy, "Copy", NULL }
#define STAYS(type, in, out, attributes) OP(type, in, out, attributes, NULL, NULL, xir_convert_unsupported)

#define FORMAT    "format:s! "
#define WINDOW    FORMAT "stride:I! dilation:I dialations:I "
#define CONV      WINDOW "padding_value:fi kernel_packed:bi "
#define POOL      FORMAT "type:i padding_type:i "
#define SAME_PADS "padding:I "

static const xir_convert_row rows[] = {
    /* structure */
    STAYS("<const>", "0", "1", "*:aA"),
    STAYS("<param>", "0", "1", "*:aA"),
    BY_HOOK("_field", "1", "1", "offset:i!", "Copy", field),
    STAYS("_pack", "1-", "1", ""),
    COPY("_copy", "1", ""),
    WITH_BACK("_cast", "1", "1", "dtype:i!", "Cast", NULL, cast_to, "Cast", tsm_back_cast),
    BY_HOOK("to_float", "1", "1", "", "Cast", to_float),
    WITH_BACK("_shape", "1", "1", "", "Shape, Cast", NULL, shape, "Shape", tsm_back_shape),
    BY_HOOK("_dims", "1", "1", "", "Params", dims),
    /* elements */
    ROW("abs", "1", "", "Abs", NULL),
    WITH_BACK("add", "2", "1", "", "Add", NULL, binary, "Add", tsm_back_sum, .variant = 1),
    WITH_BACK("sub", "2", "1", "", "Add", NULL, binary, "Add Not", tsm_back_sum, .variant = -1),
    WITH_BACK("mul", "2", "1", "", "Multiply", NULL, binary, "Multiply Neg And", tsm_back_product),
    WITH_BACK("div", "2", "1", "", "Div", NULL, binary, "Div DivideScalar Reciprocal", tsm_back_div),
    WITH_BACK("mod", "2", "1", "", "Mod", NULL, binary, "Mod", tsm_back_mod),
    WITH_BACK("maximum", "2", "1", "", "Maximum", NULL, binary, "Maximum Or", tsm_back_maximum),
    WITH_BACK("minimum", "2", "1", "", "Minimum", NULL, binary, "Minimum", NULL),
    WITH_BACK("equal", "2", "1", "", "Equal", NULL, equal,
              "Equal NotEqual Greater GreaterEqual Less LessEqual Xor", tsm_back_equal),
    WITH_BACK("where", "3", "1", "", "Where", NULL, where, "Where", tsm_back_where),
    ROW("ceil", "1", "", "Ceil", NULL),
    ROW("floor", "1", "", "Floor", NULL),
    WITH_BACK("erf", "1", "1", "", "Erf", NULL, function, "Erf", NULL),
    WITH_BACK("exp", "1", "1", "", "Exp", NULL, function, "Exp", NULL),
    WITH_BACK("sqrt", "1", "1", "", "Sqrt", NULL, function, "Sqrt", NULL),
    BY_HOOK("rsqrt", "1", "1", "", "Sqrt, Reciprocal", rsqrt),
    BY_HOOK("square", "1", "1", "", "Multiply", square),
    WITH_BACK("pow", "1", "1", "y:fi!", "Pow", NULL, pow, "Pow", tsm_back_pow),
    ROW("relu", "1", "", "ReLU", NULL),
    WITH_BACK("relu_max", "1", "1", "max:fi", "ClampScalar", NULL, relu_max, "ClampScalar", tsm_back_clamp),
    ROW("leaky_relu", "1", "scale:fi", "ReLU", "alpha=scale:0"),
    WITH_BACK("prelu", "2", "1", "dim:i!", "PReLU", NULL, prelu, "PReLU", tsm_back_prelu),
    WITH_BACK("sigmoid", "1", "1", "", "Sigmoid", NULL, function, "Sigmoid", NULL),
    ROW("hard_sigmoid", "1", "alpha:fi beta:fi", "Hardsigmoid", "alpha=alpha:0.2 beta=beta:0.5"),
    WITH_BACK("softplus", "1", "1", "", "Softplus", NULL, function, "Softplus Mish LogSigmoid",
              tsm_back_softplus),
    WITH_BACK("tanh", "1", "1", "", "Tanh", NULL, function, "Tanh", NULL),
    BY_HOOK("quantize", "1", "1", "quantize_scale:FIfi!", "Multiply, Floor, Cast", quantize),
    /* sums and norms */
    BY_HOOK("add_bias", "2", "1", "format:s dim:i", "Add", add_bias),
    BY_HOOK("batch_norm", "3", "1", "dim:i! epsilon:fi", "Add, Div", batch_norm, .variant = TSM_NORMALISED),
    WITH_BACK("batch_scale", "3", "1", "dim:i!", "Multiply, Add", NULL, batch_norm,
              "BatchNorm1d BatchNorm2d BatchNorm3d", tsm_back_batch_norm, .variant = TSM_SCALED),
    BY_HOOK("fused_batch_norm", "5", "1", "dim:i! epsilon:fi", "Add, Div, Multiply", batch_norm,
            .variant = TSM_NORMALISED | TSM_SCALED),
    WITH_BACK("l2_norm", "1", "1", "dim:i epsilon:fi", "Sum, Sqrt, Div", NULL, l2_norm, "Normalize",
              tsm_back_normalize),
    BY_HOOK("norm_image", "1", "1", "epsilon:fi", "Mean, Sqrt, Div", norm_image),
    BY_HOOK("prewhiten", "1", "1", "epsilon:fi", "Mean, Sqrt, Div", norm_image),
    WITH_BACK("softmax", "1", "1", "dim:i! smooth:bi", "Softmax", NULL, softmax, "Softmax", tsm_back_softmax),
    /* products */
    WITH_BACK("gemm", "2-3", "1", "alpha:fi beta:fi transA:bi transB:bi", "Matmul", NULL, gemm, "Matmul",
              tsm_back_matmul),
    BY_HOOK("inner_prod", "2", "1", "transpose:bi kernel_packed:bi", "Matmul", inner_prod),
    BY_HOOK("matmul", "2", "1", "", "Matmul", matmul),
    WITH_BACK("LSTM", "4-6", "1-", "direction:s! hidden_size:i!", "LSTM", NULL, lstm, "LSTM", tsm_back_lstm),
    /* windows */
    WITH_BACK("conv2d", "2", "1", CONV "padding:I!", "Conv2d", NULL, conv2d, "Conv2d", tsm_back_conv),
    BY_HOOK("conv2d_v2", "3", "1", CONV, "Conv2d", conv2d),
    BY_HOOK("depthwise_conv2d", "2", "1", CONV "padding:I!", "Conv2d", conv2d, .variant = TSM_DEPTHWISE),
    BY_HOOK("depthwise_conv2d_v2", "3", "1", CONV, "Conv2d", conv2d, .variant = TSM_DEPTHWISE),
    WITH_BACK("transpose_conv2d", "2", "1", CONV "padding:I! output_shape:I", "ConvTranspose2d", NULL, conv2d,
              "ConvTranspose2d", tsm_back_conv_transpose, .variant = TSM_TRANSPOSED),
    BY_HOOK("conv2d_quantized", "2", "1", CONV "padding:I! quantize_scale:FIfi dequantize_scales:FIfi!",
              "Conv2d, Multiply", conv2d_quantized),
    BY_HOOK("conv2d_winograd", "2-3", "1", FORMAT "padding:I padding_value:fi kernel_winograd_transformed:bi *:aA",
              "Conv2d", conv2d_winograd),
    BY_HOOK("conv2d_winograd_v2", "2-3", "1", FORMAT
              "padding:I padding_value:fi kernel_winograd_transformed:bi *:aA", "Conv2d", conv2d_winograd),
    BY_HOOK("winograd_transform_kernel", "1", "1", "winograd_mode:s", "Matmul", winograd_kernel),
    BY_HOOK("dcn_v2_forward", "5", "1", WINDOW "padding:I! deformable_groups:i!", "GridSample, Matmul", deformed),
    WITH_BACK("pooling2d", "1", "1", POOL "padding:I! ksize:I! stride:I!", "MaxPool2d or AvgPool2d", NULL, pooling2d,
              "MaxPool2d AvgPool2d", tsm_back_pool),
    BY_HOOK("pooling2d_v2", "4", "1", POOL, "MaxPool2d or AvgPool2d", pooling2d),
    WITH_BACK("global_pooling2d", "1", "1", FORMAT "type:i", "MaxPool2d or AvgPool2d", NULL, global_pooling2d, "Mean",
              tsm_back_global_average),
    BY_HOOK("_onnx_pooling2d_padding", "3", "1", "auto_pad:s " SAME_PADS, "Params", onnx_padding),
    BY_HOOK("_dragon_pooling2d_padding", "3", "1", "ceil:bi auto_pad:s " SAME_PADS, "Params", dragon_padding),
    BY_HOOK("_mx_pooling2d_padding", "3", "1", FORMAT "valid:bi! padding:I!", "Params", mx_padding),
    BY_HOOK("_tf_pooling2d_padding", "3", "1", FORMAT "padding_method:s! " SAME_PADS, "Params", tf_padding),
    BY_HOOK("_dragon_conv2d_padding", "2", "1", WINDOW "padding_method:s auto_pad:s " SAME_PADS, "Params",
              dragon_padding),
    BY_HOOK("_tf_conv2d_padding", "2", "1", WINDOW "padding_method:s! " SAME_PADS, "Params", tf_padding),
    /* reductions */
    WITH_BACK("reduce_mean", "1", "1", "dims:Ii! keep_dims:bi", "Mean", NULL, reduce, "Mean", tsm_back_reduce),
    WITH_BACK("reduce_sum", "1", "1", "dims:Ii! keep_dims:bi", "Sum", NULL, reduce, "Sum", tsm_back_reduce),
    BY_HOOK("reduce_prod", "1", "1", "dims:Ii! keep_dims:bi", "Prod", reduce),
    WITH_BACK("max", "1", "1", "dim:i! keep_dims:bi", "Max", NULL, max, "Max Min", tsm_back_extreme),
    WITH_BACK("argmax", "1", "1", "dim:i!", "Argmax, Cast", NULL, argmax, "Argmax Argmin",
              tsm_back_extreme),
    WITH_BACK("topkv2", "1", "1-", "number:i! sorted:bi", "TopK, Cast", NULL, topk, "TopK", tsm_back_top_k),
    /* moves */
    WITH_BACK("_reshape", "1", "1", "shape:I!", "Reshape", NULL, reshape, "Reshape Squeeze", tsm_back_reshape),
    BY_HOOK("_reshape_v2", "2", "1", "", "Reshape", reshape),
    BY_HOOK("flatten", "1", "1", "dim:i", "Reshape", flatten),
    BY_HOOK("flatten2d", "1", "1", "dim:i", "Reshape", flatten2d),
    BY_HOOK("squeeze", "1", "1", "axes:Ii", "Reshape", squeeze),
    BY_HOOK("unsqueeze", "1", "1", "axes:Ii!", "Reshape", unsqueeze),
    BY_HOOK("_expand", "1-2", "1", "front:i end:i inverse:bi", "Reshape", expand),
    WITH_BACK("_transpose", "1", "1", "permute:I", "Transpose", NULL, transpose, "Transpose", tsm_back_transpose),
    BY_HOOK("transpose_v2", "2", "1", "", "Transpose", transpose),
    BY_HOOK("_dimshuffle", "1", "1", "dim:i! shuffle:I!", "Gather", dimshuffle),
    WITH_BACK("broadcast", "2", "1", "", "Expand", NULL, broadcast, "Expand", tsm_back_expand),
    WITH_BACK("tile", "1", "1", "repeats:I!", "Tile", NULL, tile, "Tile", tsm_back_tile),
    BY_HOOK("tile_v2", "2", "1", "", "Tile", tile),
    WITH_BACK("concat", "1-", "1", "dim:i!", "Concat", NULL, concat, "Concat", tsm_back_join),
    WITH_BACK("stack", "1-", "1", "axis:i", "Stack", NULL, stack, "Stack", tsm_back_join),
    BY_HOOK("chunk", "1", "1-", "chunks:i! dim:i", "Split", chunk),
    WITH_BACK("split", "1-2", "1-", "axis:i!", "Split", NULL, split, "Split", tsm_back_split),
    BY_HOOK("slice", "1", "1", "begin:I! size:I!", "Slice", slice),
    BY_HOOK("slice_v2", "3", "1", "", "Slice", slice),
    BY_HOOK("slice_v3", "3-5", "1", "", "Slice or Range, Gather", slice_v3),
    WITH_BACK("strided_slice", "1", "1", "begin:I! end:I! stride:I begin_mask:i end_mask:i ellipsis_mask:i "
            "new_axis_mask:i shrink_axis_mask:i", "Slice, Reshape", NULL, strided_slice,
              "Slice", tsm_back_slice),
    WITH_BACK("gather", "2", "1", "axis:i", "Gather", "axis=axis", gather, "Gather", NULL),
    WITH_BACK("gatherv2", "2", "1", "", "GatherND", NULL, gather_nd, "GatherND", tsm_back_gather_nd),
    BY_HOOK("gather_elements", "2", "1", "axis:i", "GatherElements", gather_elements),
    WITH_BACK("scatter_nd", "3", "1", "", "ScatterND", NULL, scatter_nd, "ScatterND", tsm_back_scatter_nd),
    WITH_BACK("pad", "2", "1", "padding_value:fi", "Pad", NULL, pad, "Pad", tsm_back_pad),
    BY_HOOK("divided", "1", "1", "size:I! padding_value:fi", "Pad", divided),
    BY_HOOK("_limit", "1", "1", "shape:I!", "Pad", limit),
    BY_HOOK("crop_nd", "2", "1", "shift:I", "Pad", crop_nd),
    BY_HOOK("crop_to", "2", "1", "axis:i offset:Ii", "Pad", crop_to),
    BY_HOOK("batch_to_space4d", "1", "1", "crop:I! block_shape:I!", "Transpose, Reshape, Pad", batch_to_space),
    BY_HOOK("space_to_batch4d", "1", "1", "padding:I! block_shape:I!", "Pad, Reshape, Transpose", space_to_batch),
    WITH_BACK("constant_of_shape", "1", "1", "value:fiFI", "ConstantOfShape", NULL, constant_of_shape,
              "ConstantOfShape", tsm_back_constant_of_shape),
    WITH_BACK("range", "3", "1", "", "Range", NULL, range, "Range", tsm_back_range),
    /* images */
    WITH_BACK("_resize2d", "2", "1", "type:i", "Upsample or Gather", NULL, resize2d, "Upsample Resize",
              tsm_back_upsample),
    BY_HOOK("resize_nearest_neighbor", "2", "1", "align_corners:bi dim:i", "Upsample or Gather", resize_nearest),
    BY_HOOK("sample2d", "1", "1", "type:i dim:i scale:fi!", "Gather, Multiply", sample2d),
    BY_HOOK("sample2d_v2", "2", "1", "type:i", "Upsample or Gather", sample2d_v2),
    STAYS("sample2d_like", "2", "1", "type:i dim:i"),
    BY_HOOK("affine_sample2d", "3", "1", "type:i dim:i outer_value:fi", "Gather, Multiply", affine_sample2d),
    BY_HOOK("force_color", "1", "1", "dims:i dim:i", "Expand", force_color),
    BY_HOOK("force_gray", "1", "1", "scale:FI", "Multiply, Sum", force_gray),
    BY_HOOK("_nhwc_center_crop2d", "1", "1", "size:Ii!", "Pad", center_crop),
    BY_HOOK("_nhwc_letterbox", "1", "1", "size:Ii! type:i outer_value:fi", "Gather, Multiply", letterbox),
    BY_HOOK("_nhwc_scale_resize2d", "1", "1", "size:Ii! type:i", "Gather, Multiply", scale_resize),
    BY_HOOK("shape_index_patch", "2", "1", "*:aA", "GatherElements, Where", shape_index_patch),
    /* detection */
    BY_HOOK("non_max_suppression_v3", "2", "1", "max_output_size:i! iou_threshold:fi! score_threshold:fi! mode:s",
              "NonMaxSuppression", non_max_suppression),
    BY_HOOK("roi_align", "2", "1", "pool_h:i! pool_w:i! spatial_scale:fi sampling_ratio:i", "GridSample, AvgPool2d",
              roi_align),
    STAYS("proposal", "3-", "1", "*:aA"),
    BY_HOOK("prior_box", "2", "1", "*:aA", "Params", prior_box),
    STAYS("detection_output", "3-", "1", "*:aA"),
    BY_HOOK("yolo", "1", "1-", "*:aA", "Sigmoid, Concat", yolo),
    STAYS("yolo_poster", "1-", "1", "*:aA"),
    STAYS("rknn2", "0-", "1", "*:aA"),
};

/* An operator without a row is one of the user: TenniS loads whatever is registered with it. */
static void split(xir_str key, xir_str *domain, xir_str *type) {
    *type = key;
    *domain = key;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (xir_str_equal(key, xir_str_of(rows[i].name + sizeof "tsm::" - 1))) *domain = XIR_STR("");
}

/* The options of the way back. */
static const xir_pass_option options[] = { XIR_DIALECT_STRICT, XIR_DIALECT_NAMES };

extern const xir_dialect_decl dialect_tsm;
static const xir_pass_decl pass_xir_to_tsm =
    XIR_DIALECT_PASS_WITH("xir-to-tsm", "converts XIR's ops to TensorStack's operators, one by one", &dialect_tsm,
                          options);

const xir_dialect_decl dialect_tsm = {
    XIR_DIALECT_HEAD("tsm::", "TSM"), .pass = "tsm-to-xir", .rows = rows, .n_rows = COUNT(rows),
    .node = "node", .nodes = "/nodes/", .sources = "network input or constant", .operators = "set of operators",
    .split = split, .check = tsm_check, .dims = tsm_declared_dims, .element = tsm_declared_element,
    .prepare = tsm_prepare,
    .back = &pass_xir_to_tsm, .before_back = "layout{to=nchw}", .finish = tsm_finish,
    .value = "node", .lacks = XIR_LACKS_OP_NAMES | XIR_LACKS_TENSOR_NAMES,
};
