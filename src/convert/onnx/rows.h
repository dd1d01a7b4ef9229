/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by ONNX's rows: their hooks, and operations that several hooks use. */
#ifndef CONVERT_ONNX_ROWS_H
#define CONVERT_ONNX_ROWS_H

#include "node/helpers.h"
#include "spec/windows.h"

enum { MOST_LISTED = 1 << 20 };   /* the longest list that a hook writes because of a large dim */

/* ---- element types ---------------------------------------------------------------------------------------------- */

/* XIR's element type for a TensorProto.DataType; NULL for texts, complex numbers and unknown ones. */
const xir_type *onnx_element(xir_context *ctx, int64_t data_type);
/* The same for the elements that a node asks for: NULL for those also if memory is out, which the node then reports. */
const xir_type *onnx_given_element(xir_node *at, int64_t data_type);
/* Returns true if a list of words, each between spaces, has this one. */
bool onnx_has_name(const char *names, const char *name);

/* ---- operations ------------------------------------------------------------------------------------------------- */

/* Checks that v, input i, has from `least` to `most` dims; SIZE_MAX: or more. */
bool onnx_ranked(xir_node *at, size_t i, const xir_value *v, size_t least, size_t most);
/* Makes the convolution that the node's attributes describe, for as many dims as x has, in ONNX's order. */
xir_value *make_conv(xir_node *at, xir_value *x, xir_value *kernel, xir_value *bias);
/* Checks that elements and inner dims of a matrix product agree. */
bool onnx_inner_dims_fit(xir_node *at, const xir_value *a, const xir_value *b);
/* a times b, plus c if it is not NULL: checks that the inner dims agree. */
xir_value *onnx_product(xir_node *at, xir_value *a, xir_value *b, xir_value *c);
/* The Gemm that the node's inputs and attributes describe. */
xir_value *onnx_gemm_of(xir_node *at);
/* Input i as 32-bit integers, minus the zero points of input `zero`, one for all or one for each element of an axis. */
xir_value *onnx_centred(xir_node *at, size_t i, size_t zero, size_t axis);
/* The floats that integers of more than 8 bits, or sums of products, are scaled in: those of the scale, or float32
 * where these have fewer bits. */
const xir_type *onnx_float_of_integers(xir_node *at, const xir_type *real);
/* saturate(round(x / scale) + zero point), in the elements of the zero point, or else of the node's output_dtype. */
xir_value *onnx_quantized(xir_node *at, xir_value *x, xir_value *scale, xir_value *zero);
/* x as 8-bit integers from 0 to 255, for its own range extended to include 0; sets scale and zero point. */
xir_value *onnx_dynamically_quantized(xir_node *at, xir_value *x, xir_value **scale, xir_value **zero);
/* Reads the windows that the node's attributes describe, over x; `kernel` may be NULL. Padding of auto_pad is 0. */
bool onnx_windows(xir_node *at, const xir_value *x, const xir_value *kernel, windows *w);
/* The place of each window's first maximum, as MaxPool counts them. */
xir_value *onnx_places_of_maxima(xir_node *at, xir_value *x, const windows *w);
/* An image of 3 to 5 dims, whose channels are the last one, with channels as dim 1. */
xir_value *onnx_channels_second(xir_node *at, xir_value *x);
/* The averages of the windows that the node's attributes describe, over x. */
xir_value *onnx_average(xir_node *at, xir_value *x);
/* LayerNorm, or RMSNorm, over some axes; `beta` may be NULL. What is not constant is multiplied and added. */
xir_value *onnx_layer_norm(xir_node *at, xir_value *x, xir_value *gamma, xir_value *beta, const xir_ints *axes,
                           double eps);
xir_value *onnx_rms_norm(xir_node *at, xir_value *x, xir_value *gamma, const xir_ints *axes, double eps);
/* The mean of x over some axes, and the reciprocal of its deviation, or without a mean of its root mean square. */
xir_value *onnx_reciprocal_deviation(xir_node *at, xir_value *x, xir_value *mean, const xir_ints *axes, double eps);
/* 0, 1, 2, … along dim `axis` of x, which may be open: [n], or with `column` [n, 1]. */
xir_value *onnx_places_along(xir_node *at, xir_value *x, size_t axis, bool column);
/* Checks that v, input j, broadcasts with x, input 0, and that the result has the dims of x. False for NULL. */
bool onnx_broadcasts_to(xir_node *at, const xir_value *x, size_t j, const xir_value *v);
/* [batch, length, heads * size] as [batch, length, heads, size], and back. `where` is for the finding. */
xir_value *onnx_in_heads(xir_node *at, xir_value *x, int64_t heads, const char *where);
xir_value *onnx_from_heads(xir_node *at, xir_value *x);
/* [batch, length, heads, size] as [batch, heads, length, size], or back. */
xir_value *onnx_heads_exchanged(xir_node *at, xir_value *x);
/* x with the position embedding of RotaryEmbedding: x is [batch, length, heads, size]; cos and sin broadcast with
 * [batch, length, 1, rotated / 2]. The first `rotated` elements of the last dim change. */
xir_value *onnx_rotated(xir_node *at, xir_value *x, xir_value *cos, xir_value *sin, int64_t rotated, bool interleaved);

/* Rows of the table that is input i, of angles for each token of x, which dim `tokens` counts: [batch or 1, length, 1,
 * n]. Positions are [batch, length], or one from which the tokens count; without them the table has a row for each
 * token. */
xir_value *onnx_rotary_rows(xir_node *at, size_t i, xir_value *x, size_t tokens, xir_value *places, int64_t n);

/* Returns true if something uses output i. */
static inline bool node_wants(const xir_node *at, size_t i) {
    return i < at->n_out && xir_value_uses(xir_op_output(at->op, (int64_t)i));
}

/* Converts a Resize with its own coordinates: its output has the dims `to`, each made with a scale of its own. If
 * `region` is not NULL, it has where each dim begins and then where each ends, as parts of it. */
bool onnx_resample(xir_node *at, const xir_ints *to, const double *scales, const double *region);
/* Returns true if the image of a Resize, or its new size, is open; then the second converts it. `old`: before version
 * 11. `sizes_at` is 0 if the op has no input of sizes. */
bool onnx_resize_is_open(xir_node *at, const xir_value *x, size_t sizes_at);
bool onnx_resize_open(xir_node *at, xir_value *x, bool old, size_t scales_at, size_t sizes_at);

/* ---- hooks ------------------------------------------------------------------------------------------------------ */

#define ONNX_HOOKS(HOOK)                                                                                              \
    HOOK(add) HOOK(arg_max) HOOK(arg_min) HOOK(average_pool) HOOK(batch_normalization) HOOK(binary) HOOK(bit_shift)   \
    HOOK(cast) HOOK(cast_like) HOOK(celu) HOOK(clip) HOOK(compress) HOOK(concat) HOOK(constant)                       \
    HOOK(constant_of_shape) HOOK(conv) HOOK(conv_integer) HOOK(conv_transpose) HOOK(cum_sum) HOOK(depth_to_space)     \
    HOOK(dequantize_linear) HOOK(div) HOOK(dropout) HOOK(dynamic_quantize_linear) HOOK(einsum) HOOK(expand)           \
    HOOK(eye_like) HOOK(flatten) HOOK(gather) HOOK(gather_nd) HOOK(gemm) HOOK(gelu) HOOK(lp_normalization)            \
    HOOK(global_average_pool) HOOK(global_max_pool) HOOK(grid_sample) HOOK(group_normalization) HOOK(gru)             \
    HOOK(hardmax) HOOK(if_) HOOK(instance_normalization) HOOK(is_inf) HOOK(is_nan) HOOK(layer_normalization)          \
    HOOK(log_softmax) HOOK(loop) HOOK(lrn) HOOK(lstm) HOOK(matmul) HOOK(matmul_integer) HOOK(max) HOOK(max_pool)      \
    HOOK(mean) HOOK(mean_variance_normalization) HOOK(min) HOOK(mul) HOOK(nll_loss) HOOK(non_max_suppression)         \
    HOOK(non_zero) HOOK(one_hot) HOOK(pad) HOOK(pow) HOOK(prelu) HOOK(quantize_linear) HOOK(range) HOOK(reduce_l1)    \
    HOOK(reduce_l2) HOOK(reduce_log_sum) HOOK(reduce_log_sum_exp) HOOK(reduce_max) HOOK(reduce_mean)                  \
    HOOK(reduce_min) HOOK(reduce_prod) HOOK(reduce_sum) HOOK(reduce_sum_square) HOOK(reshape) HOOK(resize) HOOK(rnn)  \
    HOOK(scan) HOOK(scatter_nd) HOOK(selu) HOOK(shape) HOOK(shrink) HOOK(size) HOOK(slice) HOOK(softmax)              \
    HOOK(softmax_cross_entropy_loss) HOOK(space_to_depth) HOOK(split) HOOK(squeeze) HOOK(sub) HOOK(sum)               \
    HOOK(thresholded_relu) HOOK(tile) HOOK(top_k) HOOK(transpose) HOOK(trilu) HOOK(unsqueeze) HOOK(where)             \
    HOOK(qlinear_conv) HOOK(qlinear_matmul) HOOK(reverse_sequence) HOOK(scatter_elements) HOOK(rms_normalization)     \
    HOOK(swish) HOOK(rotary_embedding) HOOK(hann_window) HOOK(hamming_window) HOOK(blackman_window)                   \
    HOOK(mel_weight_matrix) HOOK(dft) HOOK(stft) HOOK(det) HOOK(bitwise_not) HOOK(bitwise_and) HOOK(bitwise_or)       \
    HOOK(bitwise_xor) HOOK(tensor_scatter) HOOK(lp_pool) HOOK(global_lp_pool) HOOK(roi_align) HOOK(deform_conv)       \
    HOOK(affine_grid) HOOK(col2im) HOOK(center_crop_pad) HOOK(max_unpool) HOOK(attention) HOOK(qonnx_quant)           \
    HOOK(qonnx_bipolar) HOOK(qonnx_float) HOOK(qonnx_trunc) HOOK(ms_bias_gelu) HOOK(ms_fast_gelu)                     \
    HOOK(ms_quick_gelu) HOOK(ms_bias_add) HOOK(ms_bias_softmax) HOOK(ms_bias_split_gelu) HOOK(ms_fused_matmul)        \
    HOOK(ms_fused_matmul_activation) HOOK(ms_causal_conv) HOOK(ms_fused_gemm) HOOK(ms_fused_conv)                     \
    HOOK(ms_matmul_nbits) HOOK(ms_gather_block_quantized) HOOK(ms_qlinear_where) HOOK(ms_nhwc_max_pool)               \
    HOOK(ms_qattention) HOOK(ms_nchwc) HOOK(ms_skip_layer_normalization) HOOK(ms_skip_rms_normalization)              \
    HOOK(ms_embed_layer_normalization) HOOK(ms_group_norm) HOOK(ms_skip_group_norm) HOOK(ms_rotary_embedding)         \
    HOOK(ms_attention) HOOK(ms_multi_head_attention) HOOK(ms_group_query_attention) HOOK(ms_qlinear_add)              \
    HOOK(ms_qlinear_mul) HOOK(ms_qlinear_unary) HOOK(ms_qlinear_pool) HOOK(ms_qlinear_global_pool)                    \
    HOOK(ms_qlinear_concat) HOOK(ms_qlinear_softmax) HOOK(ms_qlinear_conv) HOOK(ms_qgemm)                             \
    HOOK(ms_dynamic_quantize_matmul) HOOK(ms_matmul_integer_to_float) HOOK(identity) HOOK(concat_from_sequence)       \
    HOOK(optional) HOOK(optional_get) HOOK(optional_has) HOOK(sequence_at) HOOK(sequence_construct)                   \
    HOOK(sequence_empty) HOOK(sequence_erase) HOOK(sequence_insert) HOOK(sequence_length) HOOK(sequence_map)          \
    HOOK(split_to_sequence) HOOK(unique)
#define HOOK(name) xir_convert_fn onnx_##name;
ONNX_HOOKS(HOOK)
#undef HOOK

#endif
