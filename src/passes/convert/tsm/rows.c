/* The operators of TensorStack: their inputs and parameters, and what they become. Parameters are read by value,
 * whatever their width: a flag may be an integer, a real an integer. */
#include "convert/tsm/tsm.h"

#define ANY "#shape:I #dtype:i #output_count:i "
#define OP(type, in, out, attributes, cls, sets, hook) \
    { XIR_CONVERT_HEAD, "tsm::" type, in, out, ANY attributes, cls, sets, hook }
#define ROW(type, in, attributes, cls, sets)           OP(type, in, "1", attributes, cls, sets, NULL)
#define BY_HOOK(type, in, out, attributes, cls, hook)  OP(type, in, out, attributes, cls, NULL, tsm_##hook)
#define COPY(type, in, attributes)                     OP(type, in, "1", attributes, "Copy", NULL, xir_convert_copy)
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
    BY_HOOK("_cast", "1", "1", "dtype:i!", "Cast", cast_to),
    BY_HOOK("to_float", "1", "1", "", "Cast", to_float),
    BY_HOOK("_shape", "1", "1", "", "Shape, Cast", shape),
    BY_HOOK("_dims", "1", "1", "", "Params", dims),
    /* elements */
    ROW("abs", "1", "", "Abs", NULL),
    BY_HOOK("add", "2", "1", "", "Add", binary),
    BY_HOOK("sub", "2", "1", "", "Add", binary),
    BY_HOOK("mul", "2", "1", "", "Multiply", binary),
    BY_HOOK("div", "2", "1", "", "Div", binary),
    BY_HOOK("mod", "2", "1", "", "Mod", binary),
    BY_HOOK("maximum", "2", "1", "", "Maximum", binary),
    BY_HOOK("minimum", "2", "1", "", "Minimum", binary),
    BY_HOOK("equal", "2", "1", "", "Equal", equal),
    BY_HOOK("where", "3", "1", "", "Where", where),
    ROW("ceil", "1", "", "Ceil", NULL),
    ROW("floor", "1", "", "Floor", NULL),
    BY_HOOK("erf", "1", "1", "", "Erf", function),
    BY_HOOK("exp", "1", "1", "", "Exp", function),
    BY_HOOK("sqrt", "1", "1", "", "Sqrt", function),
    BY_HOOK("rsqrt", "1", "1", "", "Sqrt, Reciprocal", rsqrt),
    BY_HOOK("square", "1", "1", "", "Multiply", square),
    BY_HOOK("pow", "1", "1", "y:fi!", "Pow", pow),
    ROW("relu", "1", "", "ReLU", NULL),
    BY_HOOK("relu_max", "1", "1", "max:fi", "ClampScalar", relu_max),
    ROW("leaky_relu", "1", "scale:fi", "ReLU", "alpha=scale:0"),
    BY_HOOK("prelu", "2", "1", "dim:i!", "PReLU", prelu),
    BY_HOOK("sigmoid", "1", "1", "", "Sigmoid", function),
    ROW("hard_sigmoid", "1", "alpha:fi beta:fi", "Hardsigmoid", "alpha=alpha:0.2 beta=beta:0.5"),
    BY_HOOK("softplus", "1", "1", "", "Softplus", function),
    BY_HOOK("tanh", "1", "1", "", "Tanh", function),
    BY_HOOK("quantize", "1", "1", "quantize_scale:FIfi!", "Multiply, Floor, Cast", quantize),
    /* sums and norms */
    BY_HOOK("add_bias", "2", "1", "format:s dim:i", "Add", add_bias),
    BY_HOOK("batch_norm", "3", "1", "dim:i! epsilon:fi", "Add, Div", batch_norm),
    BY_HOOK("batch_scale", "3", "1", "dim:i!", "Multiply, Add", batch_norm),
    BY_HOOK("fused_batch_norm", "5", "1", "dim:i! epsilon:fi", "Add, Div, Multiply", batch_norm),
    BY_HOOK("l2_norm", "1", "1", "dim:i epsilon:fi", "Sum, Sqrt, Div", l2_norm),
    BY_HOOK("norm_image", "1", "1", "epsilon:fi", "Mean, Sqrt, Div", norm_image),
    BY_HOOK("prewhiten", "1", "1", "epsilon:fi", "Mean, Sqrt, Div", norm_image),
    BY_HOOK("softmax", "1", "1", "dim:i! smooth:bi", "Softmax", softmax),
    BY_HOOK("reduce_mean", "1", "1", "dims:Ii! keep_dims:bi", "Mean", reduce),
    BY_HOOK("reduce_sum", "1", "1", "dims:Ii! keep_dims:bi", "Sum", reduce),
    BY_HOOK("reduce_prod", "1", "1", "dims:Ii! keep_dims:bi", "Prod", reduce),
    BY_HOOK("max", "1", "1", "dim:i! keep_dims:bi", "Max", max),
    BY_HOOK("argmax", "1", "1", "dim:i!", "Argmax, Cast", argmax),
    BY_HOOK("topkv2", "1", "1-", "number:i! sorted:bi", "TopK, Cast", topk),
    /* products */
    BY_HOOK("gemm", "2-3", "1", "alpha:fi beta:fi transA:bi transB:bi", "Matmul", gemm),
    BY_HOOK("inner_prod", "2", "1", "transpose:bi kernel_packed:bi", "Matmul", inner_prod),
    BY_HOOK("matmul", "2", "1", "", "Matmul", matmul),
    BY_HOOK("LSTM", "4-6", "1-", "direction:s! hidden_size:i!", "LSTM", lstm),
    /* windows */
    BY_HOOK("conv2d", "2", "1", CONV "padding:I!", "Conv2d", conv2d),
    BY_HOOK("conv2d_v2", "3", "1", CONV, "Conv2d", conv2d),
    BY_HOOK("depthwise_conv2d", "2", "1", CONV "padding:I!", "Conv2d", conv2d),
    BY_HOOK("depthwise_conv2d_v2", "3", "1", CONV, "Conv2d", conv2d),
    BY_HOOK("transpose_conv2d", "2", "1", CONV "padding:I! output_shape:I", "ConvTranspose2d", conv2d),
    BY_HOOK("conv2d_quantized", "2", "1", CONV "padding:I! quantize_scale:FIfi dequantize_scales:FIfi!",
            "Conv2d, Multiply", conv2d_quantized),
    BY_HOOK("conv2d_winograd", "2-3", "1", FORMAT "padding:I padding_value:fi kernel_winograd_transformed:bi *:aA",
            "Conv2d", conv2d_winograd),
    BY_HOOK("conv2d_winograd_v2", "2-3", "1", FORMAT "padding:I padding_value:fi kernel_winograd_transformed:bi *:aA",
            "Conv2d", conv2d_winograd),
    BY_HOOK("winograd_transform_kernel", "1", "1", "winograd_mode:s", "Matmul", winograd_kernel),
    STAYS("dcn_v2_forward", "4-5", "1", WINDOW "padding:I! deformable_groups:i!"),
    BY_HOOK("pooling2d", "1", "1", POOL "padding:I! ksize:I! stride:I!", "MaxPool2d or AvgPool2d", pooling2d),
    BY_HOOK("pooling2d_v2", "4", "1", POOL, "MaxPool2d or AvgPool2d", pooling2d),
    BY_HOOK("global_pooling2d", "1", "1", FORMAT "type:i", "MaxPool2d or AvgPool2d", global_pooling2d),
    BY_HOOK("_onnx_pooling2d_padding", "3", "1", "auto_pad:s " SAME_PADS, "Params", onnx_padding),
    BY_HOOK("_dragon_pooling2d_padding", "3", "1", "ceil:bi auto_pad:s " SAME_PADS, "Params", dragon_padding),
    BY_HOOK("_mx_pooling2d_padding", "3", "1", FORMAT "valid:bi! padding:I!", "Params", mx_padding),
    BY_HOOK("_tf_pooling2d_padding", "3", "1", FORMAT "padding_method:s! " SAME_PADS, "Params", tf_padding),
    BY_HOOK("_dragon_conv2d_padding", "2", "1", WINDOW "padding_method:s auto_pad:s " SAME_PADS, "Params",
            dragon_padding),
    BY_HOOK("_tf_conv2d_padding", "2", "1", WINDOW "padding_method:s! " SAME_PADS, "Params", tf_padding),
    /* moves */
    BY_HOOK("_reshape", "1", "1", "shape:I!", "Reshape", reshape),
    BY_HOOK("_reshape_v2", "2", "1", "", "Reshape", reshape),
    BY_HOOK("flatten", "1", "1", "dim:i", "Reshape", flatten),
    BY_HOOK("flatten2d", "1", "1", "dim:i", "Reshape", flatten2d),
    BY_HOOK("squeeze", "1", "1", "axes:Ii", "Reshape", squeeze),
    BY_HOOK("unsqueeze", "1", "1", "axes:Ii!", "Reshape", unsqueeze),
    BY_HOOK("_expand", "1-2", "1", "front:i end:i inverse:bi", "Reshape", expand),
    BY_HOOK("_transpose", "1", "1", "permute:I", "Transpose", transpose),
    BY_HOOK("transpose_v2", "2", "1", "", "Transpose", transpose),
    BY_HOOK("_dimshuffle", "1", "1", "dim:i! shuffle:I!", "Gather", dimshuffle),
    BY_HOOK("broadcast", "2", "1", "", "Expand", broadcast),
    BY_HOOK("tile", "1", "1", "repeats:I!", "Tile", tile),
    BY_HOOK("tile_v2", "2", "1", "", "Tile", tile),
    BY_HOOK("concat", "1-", "1", "dim:i!", "Concat", concat),
    BY_HOOK("stack", "1-", "1", "axis:i", "Stack", stack),
    BY_HOOK("chunk", "1", "1-", "chunks:i! dim:i", "Split", chunk),
    BY_HOOK("split", "1-2", "1-", "axis:i!", "Split", split),
    BY_HOOK("slice", "1", "1", "begin:I! size:I!", "Slice", slice),
    BY_HOOK("slice_v2", "3", "1", "", "Slice", slice),
    BY_HOOK("slice_v3", "3-5", "1", "", "Slice or Range, Gather", slice_v3),
    BY_HOOK("strided_slice", "1", "1", "begin:I! end:I! stride:I begin_mask:i end_mask:i ellipsis_mask:i "
            "new_axis_mask:i shrink_axis_mask:i", "Slice, Reshape", strided_slice),
    BY_HOOK("gather", "2", "1", "axis:i", "Gather", gather),
    BY_HOOK("gatherv2", "2", "1", "", "GatherND", gather_nd),
    BY_HOOK("gather_elements", "2", "1", "axis:i", "GatherElements", gather_elements),
    BY_HOOK("scatter_nd", "3", "1", "", "ScatterND", scatter_nd),
    BY_HOOK("pad", "2", "1", "padding_value:fi", "Pad", pad),
    BY_HOOK("divided", "1", "1", "size:I! padding_value:fi", "Pad", divided),
    BY_HOOK("_limit", "1", "1", "shape:I!", "Pad", limit),
    BY_HOOK("crop_nd", "2", "1", "shift:I", "Pad", crop_nd),
    BY_HOOK("crop_to", "2", "1", "axis:i offset:Ii", "Pad", crop_to),
    BY_HOOK("batch_to_space4d", "1", "1", "crop:I! block_shape:I!", "Transpose, Reshape, Pad", batch_to_space),
    BY_HOOK("space_to_batch4d", "1", "1", "padding:I! block_shape:I!", "Pad, Reshape, Transpose", space_to_batch),
    BY_HOOK("constant_of_shape", "1", "1", "value:fiFI", "ConstantOfShape", constant_of_shape),
    BY_HOOK("range", "3", "1", "", "Range", range),
    /* images */
    BY_HOOK("_resize2d", "2", "1", "type:i", "Upsample or Gather", resize2d),
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

extern const xir_dialect_decl dialect_tsm;
const xir_dialect_decl dialect_tsm = {
    XIR_DIALECT_HEAD("tsm::", "TSM"), .pass = "tsm-to-xir", .rows = rows, .n_rows = COUNT(rows),
    .sources = "network input or constant", .operators = "set of operators", .split = split, .prepare = tsm_prepare,
};
