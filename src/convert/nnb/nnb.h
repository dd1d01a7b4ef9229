/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by NNB's rows: their hooks, and operations that several hooks use. A function means what NNabla documents;
 * docs/nnb.md lists where its C runtime computes something else. */
#ifndef CONVERT_NNB_H
#define CONVERT_NNB_H

#include "formula/parts.h"
#include "rows/row.h"

enum {
    NNB_MOST_LISTED = 1 << 22,   /* elements of a constant that a hook writes */
    NNB_MOST_DIM = INT32_MAX,    /* numbers of a file have 32 bits            */
    NNB_WEIGHTS = 4,             /* words of the option `weights`             */
};

/* Variants of products and convolutions: input 2 has binary weights, and, scaled, input 3 factors of the outputs. */
enum { NNB_PLAIN, NNB_BINARY, NNB_BINARY_SCALED };

/* nnb.c, fixed.c: the dialect's own. */
xir_status nnb_to_reals(xir_network *net, bool *changed);
bool       nnb_is_pure(const xir_op *op);
/* The fraction bits of a fixed-point type that a file can have: a scale of 2^-bits, no zero point; -1: another type. */
int nnb_fraction_of(const xir_type *element);
/* Sets XIR's ops apart from their fixed-point values, by Casts to and from reals; and, by Identity, the functions that
 * the C runtime does not compute with the types that they have. Return XIR_OK or XIR_E_MEMORY. */
xir_status nnb_ops_to_reals(xir_network *net, bool *changed);
xir_status nnb_functions_apart(xir_network *net, bool (*is_computed)(const xir_op *op), bool *changed);
int64_t    nnb_api_level(const xir_network *net, xir_str domain);

/* Adds a finding about a number in an argument that the function does not take. Returns false. */
bool nnb_out_of_range(xir_node *at, const char *argument, int64_t found);
/* The argument base_axis, counted from the start: an axis of x, or its number of dims. */
bool nnb_base(xir_node *at, const xir_value *x, size_t *out);
/* Axes of x, counted from the start, each once, in ascending order; and all others. */
bool     nnb_axes(xir_node *at, const char *name, const xir_value *x, xir_ints *out);
xir_ints nnb_other_axes(xir_node *at, const xir_ints *axes, size_t rank);
/* A list of n integers, none below `least`. If it is missing, or empty and may be, it is n times `otherwise`. */
bool nnb_list(xir_node *at, const char *name, size_t n, int64_t least, int64_t otherwise, bool empty, xir_ints *out);

/* Truth of numbers: not 0; and back, as 0 and 1. */
xir_value *nnb_truth(xir_node *at, xir_value *x);
xir_value *nnb_number(xir_node *at, xir_value *truth, const xir_type *element);
/* Indices, which files have as floats, as 64-bit integers. */
xir_value *nnb_index(xir_node *at, xir_value *x);
/* x in all dims from axis `from` on as one. */
xir_value *nnb_flattened(xir_node *at, xir_value *x, size_t from);
/* (x - mean) / sqrt(variance + eps), both over some axes. */
xir_value *nnb_normalised(xir_node *at, xir_value *x, const xir_ints *axes, double eps);

/* ---- the way back (back_*.c) ---- */

/* Returns true if only functions that NNabla's C runtime computes may be made; and the api level of the file, the
 * newest unless another one is wanted. */
bool       nnb_for_runtime(const xir_node *at);
int64_t    nnb_level(const xir_node *at);
bool       nnb_back_check(xir_node *at);
xir_status nnb_begin_back(xir_pass *pass);
/* The place of the option `weights` in its words, NNB_WEIGHTS for another text; the types of the file; and its
 * fixed-point values, which come last. */
size_t     nnb_weights(const xir_pass *pass);
xir_status nnb_type_functions(xir_pass *pass);
xir_status nnb_fix_functions(xir_pass *pass);
/* Makes a function and gives its results to the node. */
bool nnb_calls(xir_node *at, const char *key, xir_values inputs, xir_sets sets);

#define NNB_BACKS(BACK) \
    BACK(add) BACK(multiply) BACK(div) BACK(pow) BACK(extreme2) BACK(mod) BACK(neg) BACK(sqrt)         \
    BACK(reciprocal) BACK(sign) BACK(relu) BACK(clamp) BACK(prelu) BACK(whole) BACK(round) BACK(compare)        \
    BACK(logic) BACK(not) BACK(where) BACK(reshape) BACK(transpose) BACK(join) BACK(unstack) BACK(slice)       \
    BACK(pad) BACK(expand) BACK(tile) BACK(gather) BACK(gather_nd) BACK(scatter_nd) BACK(topk) BACK(conv) BACK(pool)       \
    BACK(global_average) \
    BACK(resize) BACK(batch_norm) BACK(matmul) BACK(reduce) BACK(extreme) BACK(softmax) BACK(layer_norm)     \
    BACK(copy) BACK(cumsum) BACK(recurrent) BACK(grid_sample)
#define BACK(name) xir_convert_fn nnb_back_##name;
NNB_BACKS(BACK)
#undef BACK

#define NNB_HOOKS(HOOK) \
    HOOK(selu) HOOK(crelu) HOOK(celu) HOOK(prelu) HOOK(sinc) HOOK(binary_sign) HOOK(chain) HOOK(binary) HOOK(scalar) \
    HOOK(scalar_first) HOOK(from_scalar) HOOK(sign) \
    HOOK(logic) HOOK(compare) HOOK(compare_scalar) HOOK(logic_scalar) HOOK(logical_not) HOOK(is_nan)            \
    HOOK(is_inf) HOOK(reset_nan) HOOK(reset_inf) HOOK(where) HOOK(bool_fill) HOOK(round) HOOK(atan2) HOOK(mod)             \
    HOOK(bit_shift) HOOK(fixed_quantize) HOOK(quantize_linear) HOOK(dequantize_linear) HOOK(binary_error)                  \
    HOOK(affine) HOOK(matmul) HOOK(embed) HOOK(convolution) HOOK(depthwise) HOOK(deconvolution) HOOK(depthwise_back)       \
    HOOK(max_pool) HOOK(average_pool) HOOK(sum_pool) HOOK(global_average) HOOK(unpool) HOOK(interpolate)                   \
    HOOK(batch_norm) HOOK(group_norm) HOOK(instance_norm) HOOK(layer_norm) HOOK(tensor_norm) HOOK(norm_normalize)          \
    HOOK(weight_norm) HOOK(weight_standardize) HOOK(mean_subtraction) HOOK(reduce) HOOK(extreme) HOOK(reduce_all)          \
    HOOK(norm) HOOK(cum_prod) HOOK(concat) HOOK(slice) HOOK(pad) HOOK(transpose) HOOK(broadcast_to) HOOK(flip)             \
    HOOK(shift) HOOK(reshape) HOOK(shape) HOOK(matrix_diag) HOOK(matrix_diag_part) HOOK(trilu) HOOK(meshgrid)              \
    HOOK(one_hot) HOOK(eye_like) HOOK(constant) HOOK(arange) HOOK(linspace) HOOK(sort) HOOK(gather) HOOK(gather_nd)        \
    HOOK(scatter_nd) HOOK(scatter_add) HOOK(top_k_data) HOOK(dropout) HOOK(sigmoid_cross_entropy)                          \
    HOOK(binary_cross_entropy) HOOK(softmax_cross_entropy) HOOK(squared_error) HOOK(absolute_error) HOOK(huber_loss)       \
    HOOK(epsilon_loss) HOOK(kl_multinomial) HOOK(recurrent) HOOK(warp_by_grid)
#define HOOK(name) xir_convert_fn nnb_##name;
NNB_HOOKS(HOOK)
#undef HOOK

#endif
