/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by TensorStack's rows: their hooks, and operations that several hooks use. An operator computes what TenniS
 * computes; docs/tsm.md lists where that is not what its name says. */
#ifndef CONVERT_TSM_H
#define CONVERT_TSM_H

#include "formula/parts.h"
#include "rows/row.h"

enum {
    TSM_MOST_LISTED = 1 << 22,   /* elements of a constant that a hook writes */
    TSM_MOST_DIM = INT32_MAX,    /* numbers of a file have 32 bits            */
};

/* Variants of convolutions; and, as bits, of batch norms. */
typedef enum tsm_conv { TSM_PLAIN, TSM_DEPTHWISE, TSM_TRANSPOSED } tsm_conv;
enum { TSM_NORMALISED = 1, TSM_SCALED = 2 };

/* The numbers of element types that XIR has. */
enum { TSM_INT8 = 1, TSM_UINT64 = 8, TSM_FLOAT16, TSM_FLOAT32, TSM_FLOAT64, TSM_BOOLEAN = 21 };

/* fields.c: the dialect's own: packed tensors become several values, and inputs get their types. */
xir_status tsm_prepare(xir_network *net, bool *changed);
/* back_names.c: after the way back, nodes are named as their results are, each differently. */
xir_status tsm_finish(xir_network *net, bool *changed);

/* Adds a finding about a number in a parameter that the operator does not take. Returns false. */
bool tsm_out_of_range(xir_node *at, const char *name, int64_t found);
/* An integer in a parameter, from `least` to `most`. */
bool tsm_int(xir_node *at, const char *name, int64_t otherwise, int64_t least, int64_t most, int64_t *out);
/* A list of n integers, none below `least`; n is SIZE_MAX for a list of any length. One number is a list of one. False
 * if the parameter is missing, or after a finding. */
bool tsm_list(xir_node *at, const char *name, size_t n, int64_t least, xir_ints *out);
/* Integers of 32 bits in an input that is a constant. */
bool tsm_constant(xir_node *at, size_t i, size_t n, xir_ints *out);
/* Returns true if a value has `rank` dims; a finding about the input otherwise. */
bool tsm_has_rank(xir_node *at, size_t i, const xir_value *v, size_t rank);

/* The element type of a number in `#dtype`; NULL: XIR does not have it. */
const xir_type *tsm_element(xir_context *ctx, int64_t dtype);
/* The type that two values are converted to before an operation on both; NULL after a failure. */
const xir_type *tsm_common(xir_node *at, const xir_value *a, const xir_value *b);
/* The value converted as C converts numbers. */
xir_value *tsm_cast(xir_node *at, xir_value *x, const xir_type *element);
/* Indices as 64-bit integers; values as the 32-bit integers that results have. */
xir_value *tsm_index(xir_node *at, xir_value *x);
xir_value *tsm_int32(xir_node *at, xir_value *x);
/* One number for each index of an axis of x, in dims that broadcast with those of x. */
xir_value *tsm_along(xir_node *at, xir_value *v, const xir_value *x, size_t axis);
/* x in two dims: those before axis `from`, and the others. */
xir_value *tsm_flattened(xir_node *at, xir_value *x, size_t from);
/* x with cells before and after each dim: `pairs` has their numbers; negative ones cut. x itself if all are 0. */
xir_value *tsm_padded(xir_node *at, xir_value *x, const xir_ints *pairs, double value);

/* back_logic.c: Not, And and Or of truths. */
bool tsm_back_logic(xir_node *at);
/* back.c: an operator of a key, with a type of its own; NULL after a failure. */
xir_value      *tsm_part(xir_node *at, const char *key, xir_values inputs, xir_sets sets, const xir_type *type);
/* The type of a result; a type, with the usual layout if that is NULL; a type with other elements. NULL after a
 * failure. */
const xir_type *tsm_type(const xir_node *at, size_t i);
const xir_type *tsm_tensor(xir_node *at, const xir_type *element, const xir_layout *layout, const xir_ints *dims);
const xir_type *tsm_typed_as(xir_node *at, const xir_type *type, const xir_type *element);
/* The first result is an operator's; the results are fields of a packed tensor. */
bool            tsm_gives(xir_node *at, const char *key, xir_values inputs, xir_sets sets);
bool            tsm_give_fields(xir_node *at, const char *key, xir_values inputs, xir_sets sets);
/* Integers as a constant of 32 bits; dims NULL: one dim. Whether all dims fit into 32 bits; else the node stays. */
xir_value      *tsm_list_of(xir_node *at, const xir_ints *v, const xir_ints *dims);
/* Returns true if XIR's Upsample, which rounds x + 0.5 down, finds the nearest cells that TenniS does. */
bool            tsm_same_cells(int64_t in, int64_t out);
bool            tsm_short_dims(xir_node *at, const xir_value *x);
/* The number of an element type; 0: TensorStack does not have it. */
int64_t         tsm_dtype(xir_node *at, const xir_type *element);
/* The dialect's check of a node, and the dims and elements that a file declares for its result. */
bool            tsm_check(xir_node *at);
const xir_any  *tsm_declared_dims(const xir_value *v);
const xir_type *tsm_declared_element(const xir_value *v);
/* Returns true if the op is of XIR's class. */
bool            tsm_is_class(const xir_node *at, const char *name);

#define TSM_HOOKS(HOOK)                                                                                                \
    HOOK(field) HOOK(cast_to) HOOK(to_float) HOOK(shape) HOOK(dims)                                            \
    HOOK(binary) HOOK(equal) HOOK(where) HOOK(function) HOOK(rsqrt) HOOK(square) HOOK(pow) HOOK(relu_max)              \
    HOOK(prelu) HOOK(quantize)                                                                                         \
    HOOK(add_bias) HOOK(batch_norm) HOOK(l2_norm) HOOK(norm_image) HOOK(softmax) HOOK(reduce) HOOK(max) HOOK(argmax)   \
    HOOK(topk)                                                                                                         \
    HOOK(gemm) HOOK(inner_prod) HOOK(matmul) HOOK(lstm)                                                                \
    HOOK(conv2d) HOOK(conv2d_quantized) HOOK(conv2d_winograd) HOOK(winograd_kernel) HOOK(deformed)                     \
    HOOK(pooling2d) HOOK(global_pooling2d) HOOK(onnx_padding) HOOK(dragon_padding)                                     \
    HOOK(mx_padding) HOOK(tf_padding)                                                                                  \
    HOOK(reshape) HOOK(flatten) HOOK(flatten2d) HOOK(squeeze) HOOK(unsqueeze) HOOK(expand) HOOK(transpose)             \
    HOOK(dimshuffle) HOOK(broadcast) HOOK(tile) HOOK(concat) HOOK(stack) HOOK(chunk) HOOK(split)                       \
    HOOK(slice) HOOK(slice_v3) HOOK(strided_slice) HOOK(gather) HOOK(gather_nd) HOOK(gather_elements)                  \
    HOOK(scatter_nd) HOOK(pad) HOOK(divided) HOOK(limit) HOOK(crop_nd) HOOK(crop_to) HOOK(batch_to_space)              \
    HOOK(space_to_batch) HOOK(constant_of_shape) HOOK(range)                                                           \
    HOOK(resize2d) HOOK(resize_nearest) HOOK(sample2d) HOOK(sample2d_v2) HOOK(affine_sample2d)     \
    HOOK(force_color) HOOK(force_gray) HOOK(center_crop) HOOK(letterbox) HOOK(scale_resize)                            \
    HOOK(non_max_suppression) HOOK(prior_box) HOOK(yolo) HOOK(roi_align) HOOK(shape_index_patch)
#define TSM_BACK_HOOKS(HOOK)                                                                                           \
    HOOK(sum) HOOK(product) HOOK(div) HOOK(mod) HOOK(equal) HOOK(where) HOOK(pow) HOOK(softplus) HOOK(clamp)           \
    HOOK(cast) HOOK(prelu) HOOK(matmul) HOOK(lstm) HOOK(conv) HOOK(conv_transpose) HOOK(pool) HOOK(batch_norm)         \
    HOOK(global_average) HOOK(upsample) HOOK(reduce) HOOK(extreme) HOOK(softmax) HOOK(normalize) HOOK(top_k)           \
    HOOK(reshape) HOOK(transpose) HOOK(expand) HOOK(tile) HOOK(join) HOOK(split) HOOK(slice) HOOK(pad) HOOK(gather_nd) \
    HOOK(shape) HOOK(maximum) HOOK(scatter_nd) HOOK(range) HOOK(constant_of_shape)
#define HOOK(name) xir_convert_fn tsm_##name;
TSM_HOOKS(HOOK)
#undef HOOK
#define HOOK(name) xir_convert_fn tsm_back_##name;
TSM_BACK_HOOKS(HOOK)
#undef HOOK

#endif
