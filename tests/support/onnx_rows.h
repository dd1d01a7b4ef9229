/* What the rows of op types share: their hooks, lists, and the operations that most of them are made of. */
#ifndef SUPPORT_ONNX_ROWS_H
#define SUPPORT_ONNX_ROWS_H

#include "support/onnx_map.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- lists --------------------------------------------------------------------------------------------------------- */

/* The integers from `first` on; as many ones. */
items items_from(int64_t first, size_t n);
items items_of_one(size_t n);
/* Of the items [from, to): -1 if any of them is unknown, or there are more than can be counted. */
int64_t items_product(const items *list, size_t from, size_t to);

/* ---- operations ---------------------------------------------------------------------------------------------------- */

/* A constant of rank 0. */
xir_value *seed_make_number(onnx_at *at, const xir_type *element, double value);
/* alpha * lhs + beta * rhs; lhs * rhs; x times a constant; lhs / rhs. */
xir_value *seed_make_sum(onnx_at *at, xir_value *lhs, xir_value *rhs, double alpha, double beta);
xir_value *seed_make_product(onnx_at *at, xir_value *lhs, xir_value *rhs);
xir_value *seed_make_scaled(onnx_at *at, xir_value *x, double factor);
xir_value *seed_make_quotient(onnx_at *at, xir_value *lhs, xir_value *rhs);
/* An operation of one input without attributes. */
xir_value *seed_make_of(onnx_at *at, const char *cls, xir_value *x);
xir_value *make_transposed(onnx_at *at, xir_value *x, const items *perm);
/* Other dims, of which one may be unknown: Reshape keeps it. No form if there are more. */
xir_value *seed_make_reshaped(onnx_at *at, xir_value *x, const items *dims);
xir_value *seed_make_unsqueezed(onnx_at *at, xir_value *x, const items *axes);
/* The convolution that the attributes of the node say, of as many dims as x has. */
xir_value *seed_make_conv(onnx_at *at, xir_value *x, xir_value *kernel, xir_value *bias);
/* A reduction over some dims; classes that reduce one dim are made for each. */
xir_value *seed_make_reduced(onnx_at *at, const char *cls, xir_value *x, const items *axes, bool keep);

/* The letters of feature maps of one, two and three spatial dims; "Conv2d" from "Conv" and 2. */
extern const char *const map_feature_letters[3];
const char *map_class_of_rank(char room[32], const char *family, size_t n);

/* ---- hooks --------------------------------------------------------------------------------------------------------- */

/* onnx_rows_elements.c, onnx_rows_moves.c, onnx_rows_windows.c, onnx_rows_reductions.c, onnx_rows_products.c */
onnx_hook row_add, row_arg_max, row_arg_min, row_average_pool, row_batch_normalization, row_cast, row_cast_like,
    row_celu, row_clip, row_compress, row_concat, row_constant, row_constant_of_shape, row_conv, row_conv_integer,
    row_conv_transpose, row_cum_sum, row_depth_to_space, row_dequantize_linear, row_div, row_dropout,
    row_dynamic_quantize_linear, row_einsum, row_expand, row_flatten, row_gather_nd, row_gemm,
    row_global_average_pool, row_global_max_pool, row_grid_sample, row_gru, row_hardmax, row_instance_normalization,
    row_is_inf, row_is_nan, row_layer_normalization, row_log_softmax, row_lrn, row_lstm, row_matmul_integer,
    row_max, row_max_pool, row_mean_variance_normalization, row_min, row_mul, row_nll_loss, row_non_max_suppression,
    row_non_zero, row_one_hot, row_pad, row_pow, row_prelu, row_quantize_linear, seed_row_range, row_reduce_l1,
    row_reduce_l2, row_reduce_log_sum, row_reduce_log_sum_exp, row_reduce_max, row_reduce_mean, row_reduce_min,
    row_reduce_prod, row_reduce_sum, row_reduce_sum_square, row_reshape, row_resize, row_rnn, row_scatter_nd,
    row_selu, row_shape, row_shrink, row_size, row_slice, row_softmax, row_softmax_cross_entropy_loss,
    row_space_to_depth, row_split, row_squeeze, row_sub, row_sum, row_tile, row_top_k, row_transpose, row_trilu,
    row_unsqueeze, row_where;

#endif
