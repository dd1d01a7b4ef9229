/* Shared by ONNX's rows: their hooks, and operations that several hooks use. */
#ifndef PASSES_CONVERT_ONNX_ROWS_H
#define PASSES_CONVERT_ONNX_ROWS_H

#include "convert/helpers.h"

enum { MOST_LISTED = 1 << 20 };   /* the longest list that a hook writes because of a large dim */

/* ---- element types ---------------------------------------------------------------------------------------------- */

/* XIR's element type for a TensorProto.DataType; NULL for texts, complex numbers and unknown ones. */
const xir_type *onnx_element(xir_context *ctx, int64_t data_type);

/* ---- operations ------------------------------------------------------------------------------------------------- */

/* Makes the convolution that the node's attributes describe, for as many dims as x has, in ONNX's order. */
xir_value *make_conv(xir_node *at, xir_value *x, xir_value *kernel, xir_value *bias);
/* Converts a Resize with its own coordinates: its output has the dims `to`, each made with a scale of its own. */
bool onnx_resample(xir_node *at, const xir_ints *to, const double *scales);
/* Whether the image of a Resize, or its new size, is open; then the second converts it. `old`: before version 11.
 * `sizes_at` is 0 if the op has no input of sizes. */
bool onnx_resize_is_open(xir_node *at, const xir_value *x, size_t sizes_at);
bool onnx_resize_open(xir_node *at, xir_value *x, bool old, size_t scales_at, size_t sizes_at);

/* ---- hooks ------------------------------------------------------------------------------------------------------ */

#define ONNX_HOOKS(HOOK) \
    HOOK(add) HOOK(arg_max) HOOK(arg_min) HOOK(average_pool) HOOK(batch_normalization) HOOK(binary) HOOK(bit_shift) HOOK(cast) HOOK(cast_like)   \
    HOOK(celu) HOOK(clip) HOOK(compress) HOOK(concat) HOOK(constant) HOOK(constant_of_shape) HOOK(conv) HOOK(conv_integer)       \
    HOOK(conv_transpose) HOOK(cum_sum) HOOK(depth_to_space) HOOK(dequantize_linear) HOOK(div) HOOK(dropout)                     \
    HOOK(dynamic_quantize_linear) HOOK(einsum) HOOK(expand) HOOK(eye_like) HOOK(flatten) HOOK(gather) HOOK(gather_nd) HOOK(gemm) \
    HOOK(gelu) HOOK(lp_normalization)                                                     \
    HOOK(global_average_pool) HOOK(global_max_pool) HOOK(grid_sample) HOOK(group_normalization) HOOK(gru) HOOK(hardmax)         \
    HOOK(if_) HOOK(instance_normalization) HOOK(is_inf) HOOK(is_nan) HOOK(layer_normalization)                 \
    HOOK(log_softmax) HOOK(loop) HOOK(lrn) HOOK(lstm) HOOK(matmul) HOOK(matmul_integer) HOOK(max) HOOK(max_pool) HOOK(mean)      \
    HOOK(mean_variance_normalization) HOOK(min) HOOK(mul) HOOK(nll_loss) HOOK(non_max_suppression) HOOK(non_zero) HOOK(one_hot) \
    HOOK(pad) HOOK(pow) HOOK(prelu) HOOK(quantize_linear) HOOK(range) HOOK(reduce_l1) HOOK(reduce_l2) HOOK(reduce_log_sum)      \
    HOOK(reduce_log_sum_exp) HOOK(reduce_max) HOOK(reduce_mean) HOOK(reduce_min) HOOK(reduce_prod) HOOK(reduce_sum)             \
    HOOK(reduce_sum_square) HOOK(reshape) HOOK(resize) HOOK(rnn) HOOK(scan) HOOK(scatter_nd) HOOK(selu) HOOK(shape) HOOK(shrink) HOOK(size) \
    HOOK(slice) HOOK(softmax) HOOK(softmax_cross_entropy_loss) HOOK(space_to_depth) HOOK(split) HOOK(squeeze) HOOK(sub)         \
    HOOK(sum) HOOK(thresholded_relu) HOOK(tile) HOOK(top_k) HOOK(transpose) HOOK(trilu) HOOK(unsqueeze) HOOK(where)          \
    HOOK(qlinear_conv) HOOK(qlinear_matmul) HOOK(reverse_sequence) HOOK(scatter_elements)
#define HOOK(name) xir_convert_fn onnx_##name;
ONNX_HOOKS(HOOK)
#undef HOOK

#endif
