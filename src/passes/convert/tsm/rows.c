/* The operators of TensorStack with their inputs and parameters, for checks. None of them is converted to XIR's
 * operations. Parameters are read by value, whatever their width: a flag may be an integer, a real an integer. */
#include "convert/helpers.h"

#define ANY "#shape:I #dtype:i #output_count:i "
#define OP(type, in, attributes) \
    { XIR_CONVERT_HEAD, "tsm::" type, in, "1", ANY attributes, NULL, NULL, xir_convert_unsupported }

#define FORMAT    "format:s! "
#define WINDOW    FORMAT "stride:I! dilation:I dialations:I "
#define CONV      WINDOW "padding_value:fi kernel_packed:bi "
#define POOL      FORMAT "type:i padding_type:i "
#define SAME_PADS "padding:I "

static const xir_convert_row rows[] = {
    /* structure */
    OP("<const>",                 "0",    "*:aA"),
    OP("<param>",                 "0",    "*:aA"),
    OP("_field",                  "1",    "offset:i!"),
    OP("_pack",                   "1-",   ""),
    OP("_copy",                   "1",    ""),
    OP("_cast",                   "1",    "dtype:i!"),
    OP("to_float",                "1",    ""),
    OP("_shape",                  "1",    ""),
    OP("_dims",                   "1",    ""),
    /* elements */
    OP("abs",                     "1",    ""),
    OP("add",                     "2",    ""),
    OP("sub",                     "2",    ""),
    OP("mul",                     "2",    ""),
    OP("div",                     "2",    ""),
    OP("mod",                     "2",    ""),
    OP("maximum",                 "2",    ""),
    OP("minimum",                 "2",    ""),
    OP("equal",                   "2",    ""),
    OP("where",                   "3",    ""),
    OP("ceil",                    "1",    ""),
    OP("floor",                   "1",    ""),
    OP("erf",                     "1",    ""),
    OP("exp",                     "1",    ""),
    OP("sqrt",                    "1",    ""),
    OP("rsqrt",                   "1",    ""),
    OP("square",                  "1",    ""),
    OP("pow",                     "1",    "y:fi!"),
    OP("relu",                    "1",    ""),
    OP("relu_max",                "1",    "max:fi"),
    OP("leaky_relu",              "1",    "scale:fi"),
    OP("prelu",                   "2",    "dim:i!"),
    OP("sigmoid",                 "1",    ""),
    OP("hard_sigmoid",            "1",    "alpha:fi beta:fi"),
    OP("softplus",                "1",    ""),
    OP("tanh",                    "1",    ""),
    OP("quantize",                "1",    "quantize_scale:FIfi!"),
    /* sums and norms */
    OP("add_bias",                "2",    "format:s dim:i"),
    OP("batch_norm",              "3",    "dim:i! epsilon:fi"),
    OP("batch_scale",             "3",    "dim:i!"),
    OP("fused_batch_norm",        "5",    "dim:i! epsilon:fi"),
    OP("l2_norm",                 "1",    "dim:i epsilon:fi"),
    OP("norm_image",              "1",    "epsilon:fi"),
    OP("prewhiten",               "1",    "epsilon:fi"),
    OP("softmax",                 "1",    "dim:i! smooth:bi"),
    OP("reduce_mean",             "1",    "dims:Ii! keep_dims:bi"),
    OP("reduce_sum",              "1",    "dims:Ii! keep_dims:bi"),
    OP("reduce_prod",             "1",    "dims:Ii! keep_dims:bi"),
    OP("max",                     "1",    "dim:i! keep_dims:bi"),
    OP("argmax",                  "1",    "dim:i!"),
    OP("topkv2",                  "1",    "number:i! sorted:bi"),
    /* products */
    OP("gemm",                    "2-3",  "alpha:fi beta:fi transA:bi transB:bi"),
    OP("inner_prod",              "2",    "transpose:bi kernel_packed:bi"),
    OP("matmul",                  "2",    ""),
    OP("LSTM",                    "4-6",  "direction:s! hidden_size:i!"),
    /* windows */
    OP("conv2d",                  "2",    CONV "padding:I!"),
    OP("conv2d_v2",               "3",    CONV),
    OP("depthwise_conv2d",        "2",    CONV "padding:I!"),
    OP("depthwise_conv2d_v2",     "3",    CONV),
    OP("transpose_conv2d",        "2",    CONV "padding:I! output_shape:I"),
    OP("conv2d_quantized",        "2",    CONV "padding:I! quantize_scale:FIfi dequantize_scales:FIfi!"),
    OP("conv2d_winograd",         "2-3",  FORMAT "padding:I padding_value:fi kernel_winograd_transformed:bi *:aA"),
    OP("conv2d_winograd_v2",      "2-3",  FORMAT "padding:I padding_value:fi kernel_winograd_transformed:bi *:aA"),
    OP("winograd_transform_kernel", "1",  "winograd_mode:s"),
    OP("dcn_v2_forward",          "4-5",  WINDOW "padding:I! deformable_groups:i!"),
    OP("pooling2d",               "1",    POOL "padding:I! ksize:I! stride:I!"),
    OP("pooling2d_v2",            "4",    POOL),
    OP("global_pooling2d",        "1",    FORMAT "type:i"),
    OP("_onnx_pooling2d_padding", "3",    "auto_pad:s " SAME_PADS),
    OP("_dragon_pooling2d_padding", "3",  "ceil:bi auto_pad:s " SAME_PADS),
    OP("_mx_pooling2d_padding",   "3",    FORMAT "valid:bi! padding:I!"),
    OP("_tf_pooling2d_padding",   "3",    FORMAT "padding_method:s! " SAME_PADS),
    OP("_dragon_conv2d_padding",  "2",    WINDOW "padding_method:s auto_pad:s " SAME_PADS),
    OP("_tf_conv2d_padding",      "2",    WINDOW "padding_method:s! " SAME_PADS),
    /* moves */
    OP("_reshape",                "1",    "shape:I!"),
    OP("_reshape_v2",             "2",    ""),
    OP("flatten",                 "1",    "dim:i"),
    OP("flatten2d",               "1",    "dim:i"),
    OP("squeeze",                 "1",    "axes:Ii"),
    OP("unsqueeze",               "1",    "axes:Ii!"),
    OP("_expand",                 "1-2",  "front:i end:i inverse:bi"),
    OP("_transpose",              "1",    "permute:I"),
    OP("transpose_v2",            "2",    ""),
    OP("_dimshuffle",             "1",    "dim:i! shuffle:I!"),
    OP("broadcast",               "2",    ""),
    OP("tile",                    "1",    "repeats:I!"),
    OP("tile_v2",                 "2",    ""),
    OP("concat",                  "1-",   "dim:i!"),
    OP("stack",                   "1-",   "axis:i"),
    OP("chunk",                   "1",    "chunks:i! dim:i"),
    OP("split",                   "1-2",  "axis:i!"),
    OP("slice",                   "1",    "begin:I! size:I!"),
    OP("slice_v2",                "3",    ""),
    OP("slice_v3",                "3-5",  ""),
    OP("strided_slice",           "1",    "begin:I! end:I! stride:I begin_mask:i end_mask:i ellipsis_mask:i "
                                          "new_axis_mask:i shrink_axis_mask:i"),
    OP("gather",                  "2",    "axis:i"),
    OP("gatherv2",                "2",    ""),
    OP("gather_elements",         "2",    "axis:i"),
    OP("scatter_nd",              "3",    ""),
    OP("pad",                     "2",    "padding_value:fi"),
    OP("divided",                 "1",    "size:I! padding_value:fi"),
    OP("_limit",                  "1",    "shape:I!"),
    OP("crop_nd",                 "2",    "shift:I"),
    OP("crop_to",                 "2",    "axis:i offset:Ii"),
    OP("batch_to_space4d",        "1",    "crop:I! block_shape:I!"),
    OP("space_to_batch4d",        "1",    "padding:I! block_shape:I!"),
    OP("constant_of_shape",       "1",    "value:fiFI"),
    OP("range",                   "3",    ""),
    /* images */
    OP("_resize2d",               "2",    "type:i"),
    OP("resize_nearest_neighbor", "2",    "align_corners:bi dim:i"),
    OP("sample2d",                "1",    "type:i dim:i scale:fi!"),
    OP("sample2d_v2",             "2",    "type:i"),
    OP("sample2d_like",           "2",    "type:i dim:i"),
    OP("affine_sample2d",         "3",    "type:i dim:i outer_value:fi"),
    OP("force_color",             "1",    "dims:i dim:i"),
    OP("force_gray",              "1",    "scale:FI"),
    OP("_nhwc_center_crop2d",     "1",    "size:Ii!"),
    OP("_nhwc_letterbox",         "1",    "size:Ii! type:i outer_value:fi"),
    OP("_nhwc_scale_resize2d",    "1",    "size:Ii! type:i"),
    OP("shape_index_patch",       "2",    "*:aA"),
    /* detection */
    OP("non_max_suppression_v3",  "2",    "max_output_size:i! iou_threshold:fi! score_threshold:fi! mode:s"),
    OP("roi_align",               "2",    "pool_h:i! pool_w:i! spatial_scale:fi sampling_ratio:i"),
    OP("proposal",                "3-",   "*:aA"),
    OP("prior_box",               "2",    "*:aA"),
    OP("detection_output",        "3-",   "*:aA"),
    OP("yolo",                    "1",    "*:aA"),
    OP("yolo_poster",             "1-",   "*:aA"),
    OP("rknn2",                   "0-",   "*:aA"),
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
    XIR_DIALECT_HEAD("tsm::", "TSM"), .rows = rows, .n_rows = COUNT(rows), .sources = "network input or constant",
    .operators = "set of operators", .split = split,
};
