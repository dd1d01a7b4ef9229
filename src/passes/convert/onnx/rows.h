/* What the rows of ONNX share: short words for what hooks call most, their hooks, and the operations that several are
 * made of. */
#ifndef PASSES_CONVERT_ONNX_ROWS_H
#define PASSES_CONVERT_ONNX_ROWS_H

#include "convert/convert.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define INS(...)      XIR_VALUES(__VA_ARGS__)
#define SETS(...)     XIR_SETS(__VA_ARGS__)
#define NO_SETS       XIR_NO_SETS
#define INT(name, v)  XIR_SETI(name, v)
#define REAL(name, v) XIR_SETR(name, v)
#define WORD(name, v) XIR_SETW(name, v)
#define LIST(name, v) XIR_SETL(name, v)
#define OBJ(name, v)  XIR_SETO(name, v)

enum { MOST_LISTED = 1 << 20 };   /* items that are written out because a dim is so large */

/* ---- element types ------------------------------------------------------------------------------------------------ */

/* The element type of a TensorProto.DataType in our words; NULL for texts, complex numbers and what is unknown. */
const xir_type *onnx_element(xir_context *ctx, int64_t data_type);

/* ---- questions ---------------------------------------------------------------------------------------------------- */

size_t          v_rank(const xir_value *v);
int64_t         v_dim(const xir_value *v, size_t i);        /* negative: unknown */
const xir_type *v_element(const xir_value *v);
bool            v_is_integer(const xir_value *v);
bool            v_is_open(const xir_value *v);
xir_ints        v_dims(xir_node *at, const xir_value *v);
/* Of the items [from, to): -1 if one of them is unknown, or there are more than can be counted. */
int64_t         product_of(const xir_ints *list, size_t from, size_t to);
/* Lets the node stay unless dims [from, to) are known: what ONNX leaves to the time of running may be an attribute with
 * us. */
bool            need_dims(xir_node *at, const xir_value *v, size_t from, size_t to);
/* An attribute that must be one of some words, "A|B"; false after a finding. */
bool            one_of(xir_node *at, const char *name, const char *otherwise, const char *words);
/* A finding unless two inputs have the same elements; unless they broadcast. */
bool            elements_agree(xir_node *at, size_t i, const xir_value *a, size_t j, const xir_value *b);
bool            broadcasts(xir_node *at, size_t i, const xir_value *a, size_t j, const xir_value *b);

/* ---- operations --------------------------------------------------------------------------------------------------- */

/* A constant of rank 0. */
xir_value *make_number(xir_node *at, const xir_type *element, double value);
/* alpha * lhs + beta * rhs; lhs * rhs; x times a constant; lhs / rhs. */
xir_value *make_sum(xir_node *at, xir_value *lhs, xir_value *rhs, double alpha, double beta);
xir_value *make_product(xir_node *at, xir_value *lhs, xir_value *rhs);
xir_value *make_scaled(xir_node *at, xir_value *x, double factor);
xir_value *make_quotient(xir_node *at, xir_value *lhs, xir_value *rhs);
/* An operation of one input without attributes. */
xir_value *make_of(xir_node *at, const char *cls, xir_value *x);
/* The same elements in other dims, of which one may be -1: the one that is left. The node stays if more are not known. */
xir_value *make_reshaped(xir_node *at, xir_value *x, const xir_ints *dims);
xir_value *make_lettered(xir_node *at, xir_value *x, const xir_ints *dims, const char *letters);
xir_value *make_unsqueezed(xir_node *at, xir_value *x, const xir_ints *axes, const char *where);
xir_value *make_cast(xir_node *at, xir_value *x, const xir_type *element);
/* Feature maps with the channels behind the batch, as they are in ONNX, and behind all other dims, as they are with us. */
xir_value *to_channels_last(xir_node *at, xir_value *x);
xir_value *to_channels_second(xir_node *at, xir_value *x);
/* The convolution that the attributes of the node say, of as many dims as x has, in ONNX's order. */
xir_value *make_conv(xir_node *at, xir_value *x, xir_value *kernel, xir_value *bias);
/* The node as a Resize by its own coordinates: gives its output in the dims `to`, made with a scale for each. */
bool onnx_resample(xir_node *at, const xir_ints *to, const double *scales);
/* A reduction over some dims; classes that reduce one dim are made for each. */
xir_value *make_reduced(xir_node *at, const char *cls, xir_value *x, const xir_ints *axes, bool keep);
/* One of three texts by the number of spatial dims, 1 to 3. */
#define BY_RANK(n, one, two, three) ((n) == 1 ? (one) : (n) == 2 ? (two) : (three))

/* ---- hooks -------------------------------------------------------------------------------------------------------- */

#define ONNX_HOOKS(HOOK)                                                                                                        \
    HOOK(add) HOOK(arg_max) HOOK(arg_min) HOOK(average_pool) HOOK(batch_normalization) HOOK(binary) HOOK(bit_shift) HOOK(cast) HOOK(cast_like)   \
    HOOK(celu) HOOK(clip) HOOK(compress) HOOK(concat) HOOK(constant) HOOK(constant_of_shape) HOOK(conv) HOOK(conv_integer)       \
    HOOK(conv_transpose) HOOK(cum_sum) HOOK(depth_to_space) HOOK(dequantize_linear) HOOK(div) HOOK(dropout)                     \
    HOOK(dynamic_quantize_linear) HOOK(einsum) HOOK(expand) HOOK(eye_like) HOOK(flatten) HOOK(gather) HOOK(gather_nd) HOOK(gemm) \
    HOOK(gelu) HOOK(like_first) HOOK(lp_normalization) HOOK(no_counterpart)                                                     \
    HOOK(global_average_pool) HOOK(global_max_pool) HOOK(grid_sample) HOOK(group_normalization) HOOK(gru) HOOK(hardmax)         \
    HOOK(identity) HOOK(if_) HOOK(instance_normalization) HOOK(is_inf) HOOK(is_nan) HOOK(layer_normalization)                 \
    HOOK(log_softmax) HOOK(loop) HOOK(lrn) HOOK(lstm) HOOK(matmul) HOOK(matmul_integer) HOOK(max) HOOK(max_pool) HOOK(mean)      \
    HOOK(mean_variance_normalization) HOOK(min) HOOK(mul) HOOK(nll_loss) HOOK(non_max_suppression) HOOK(non_zero) HOOK(one_hot) \
    HOOK(pad) HOOK(pow) HOOK(prelu) HOOK(quantize_linear) HOOK(range) HOOK(reduce_l1) HOOK(reduce_l2) HOOK(reduce_log_sum)      \
    HOOK(reduce_log_sum_exp) HOOK(reduce_max) HOOK(reduce_mean) HOOK(reduce_min) HOOK(reduce_prod) HOOK(reduce_sum)             \
    HOOK(reduce_sum_square) HOOK(reshape) HOOK(resize) HOOK(rnn) HOOK(scatter_nd) HOOK(selu) HOOK(shape) HOOK(shrink) HOOK(size) \
    HOOK(slice) HOOK(softmax) HOOK(softmax_cross_entropy_loss) HOOK(space_to_depth) HOOK(split) HOOK(squeeze) HOOK(sub)         \
    HOOK(sum) HOOK(thresholded_relu) HOOK(tile) HOOK(top_k) HOOK(transpose) HOOK(trilu) HOOK(unsqueeze) HOOK(where)          \
    HOOK(qlinear_conv) HOOK(qlinear_matmul) HOOK(reverse_sequence) HOOK(scatter_elements)
#define HOOK(name) xir_convert_fn onnx_##name;
ONNX_HOOKS(HOOK)
#undef HOOK

#endif
