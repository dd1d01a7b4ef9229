/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by PNNX's rows: their hooks, and operations that several hooks use. Types of operators are PyTorch's names:
 * nn.* are modules with weights as attributes, F.*, torch.* and Tensor.* are functions with tensors as inputs. A hook
 * serves both: the row gives the inputs their positions. */
#ifndef CONVERT_PNNX_H
#define CONVERT_PNNX_H

#include <float.h>
#include <math.h>
#include "formula/parts.h"
#include "rows/row.h"

enum {
    PNNX_END = INT32_MAX,        /* in slices: to the end, or nothing selected */
    PNNX_MOST_LISTED = 1 << 22,  /* elements of a constant that a hook writes  */
};

/* The variant of a module that pads: its spatial dims, and 4 times how; 0: the function, whose attributes say it. */
enum { PNNX_PAD_CONSTANT, PNNX_PAD_REFLECT, PNNX_PAD_REPEAT };

/* Returns true if PNNX's own reader takes a number of an attribute. It ends the program on integers of more than 32
 * bits, and on reals that are not normal floats. */
static inline bool pnnx_reads_integer(double v) { return fabs(v) <= INT32_MAX; }
static inline bool pnnx_reads_real(double v) {
    return v == 0 || !isfinite(v) || (fabs(v) >= FLT_MIN && fabs(v) <= FLT_MAX);
}

/* older.c: operators of 2021 get today's names and parameters. */
xir_status pnnx_older(xir_network *net, bool *changed);
/* pnnx.c: the dialect's own. */
xir_status pnnx_prepare(xir_network *net, bool *changed);
bool       pnnx_is_pure(const xir_op *op);
int64_t    pnnx_number(const xir_op *op);
bool       pnnx_check(xir_node *at);
size_t     pnnx_spelled(xir_str type, char *out, size_t room);
void       pnnx_split_key(xir_str key, xir_str *domain, xir_str *type);

/* The element type of PyTorch's word, "torch.float"; NULL if it is unknown, or if XIR has no such type. */
const xir_type *pnnx_element(xir_context *ctx, xir_str word);
/* Returns true if an attribute is missing or None. */
bool pnnx_is_none(const xir_node *at, const char *name);
/* A list of integers of an attribute; a number counts as one item. `n` items are expected, or one that counts for all;
 * 0: any number. False if it is missing or None, or empty though items are expected, or after a failure. */
bool pnnx_list(xir_node *at, const char *name, size_t n, xir_ints *out);
/* The next word of a list that is a text, "(@0,3)" or "(None,add(@0,1))"; false at its end. */
bool pnnx_next_word(xir_str *list, xir_str *word);
/* A word that is an integer; beyond 32 bits *out is at least PNNX_END, if it is not negative. */
bool pnnx_word_integer(xir_str word, int64_t *out);
/* x in the elements that the attribute dtype names: PyTorch casts before it computes. x if it is missing or None; NULL
 * after a failure. */
xir_value *pnnx_cast_first(xir_node *at, xir_value *x);
/* Returns true if input i has integers; otherwise it adds a finding. */
bool pnnx_is_index(xir_node *at, size_t i, const xir_value *v);
/* x * y^T + bias, with y as PyTorch has it, [out, in]. Absent: NULL. */
xir_value *pnnx_times(xir_node *at, xir_value *x, xir_value *weight, xir_value *bias);
/* bits.c: two tensors of bools, or of integers of one type, bit by bit. NULL after a failure. */
typedef enum pnnx_bit_function { PNNX_AND, PNNX_OR, PNNX_XOR, PNNX_NOT, PNNX_LEFT, PNNX_RIGHT } pnnx_bit_function;
xir_value *pnnx_make_bits(xir_node *at, pnnx_bit_function f, xir_value *a, xir_value *b);
/* The means of `out` windows over axis `axis` of x, which has `in` elements: an adaptive pool along one axis. */
xir_value *pnnx_averaged(xir_node *at, xir_value *x, size_t axis, int64_t in, int64_t out);
/* Operands of one element type, PyTorch's promotion of both. */
bool pnnx_promote(xir_node *at, xir_value **a, xir_value **b);
/* x with a dim of 1 at an axis if it has one dim less than `rank`, for which *added is set; and y without that dim. */
xir_value *pnnx_with_batch(xir_node *at, xir_value *x, size_t rank, int64_t axis, bool *added);
xir_value *pnnx_without_batch(xir_node *at, xir_value *y, int64_t axis, bool added);
/* Gives the node the maxima of windows over the last `n` axes of x and their positions in the image. For each axis,
 * places has the place of cell c of window o at c * out + o, which may be outside. */
bool pnnx_max_places(xir_node *at, xir_value *x, size_t n, const xir_ints *places, const int64_t *out);
xir_value *pnnx_softmax(xir_node *at, const char *cls, xir_value *x, int64_t axis);

/* The way back (back_*.c): Params as an operator; expressions of expressions as one. */
xir_value *pnnx_constant(xir_node *at, xir_value *params);
xir_status pnnx_finish(xir_network *net, bool *changed);
/* PyTorch's word for an element type, "torch.float"; NULL: it has none, or memory is short. */
const char *pnnx_element_word(xir_node *at, const xir_type *element);
/* A list that is computed, of 64-bit integers in one dim, as the formula of an operator; n items of one from `first`
 * on, as the bounds of a slice. NULL after a failure. */
xir_value *pnnx_listed(xir_node *at, xir_value *v);
xir_value *pnnx_slice_listed(xir_node *at, xir_value *v, size_t first, size_t n);
/* Removes what computes numbers that nothing uses any more. */
xir_status pnnx_drop_lists(xir_network *net, bool *changed);
/* back_attention.c: what nn.MultiheadAttention consists of becomes one. */
xir_status pnnx_join_attention(xir_network *net, bool *changed);
/* back_names.c: gives operators with weights names of their own; copies an operand that is twice among named inputs. */
xir_status pnnx_name_weights(xir_network *net, bool *changed);
xir_status pnnx_part_inputs(xir_network *net, bool *changed);

#define PNNX_BACKS(BACK) \
    BACK(expression) BACK(clamp) BACK(compare) BACK(where) BACK(cast) BACK(conv) BACK(pool) BACK(linear) BACK(matmul)  \
    BACK(global_average) BACK(reduce) BACK(einsum) BACK(batch_norm) BACK(instance_norm) BACK(group_norm) BACK(layer_norm)  \
    BACK(prelu) BACK(normalize) BACK(reshape) BACK(permute) BACK(squeeze) BACK(expand) BACK(tile) BACK(cat) BACK(slice)            \
    BACK(split) BACK(unbind) BACK(pad) BACK(roll) BACK(index_select) BACK(topk) BACK(sdpa) BACK(resize)                \
    BACK(grid_sample) BACK(shuffle) BACK(unfold) BACK(recurrent)                                                             \
    BACK(embedding) BACK(gather) BACK(index_put) BACK(non_zero) BACK(arange) BACK(full) BACK(cumsum)
#define BACK(name) xir_convert_fn pnnx_back_##name;
PNNX_BACKS(BACK)
#undef BACK

#define PNNX_HOOKS(HOOK) \
    HOOK(expression) HOOK(attribute) HOOK(threshold) HOOK(rrelu) HOOK(celu) HOOK(selu) HOOK(glu) HOOK(soft) HOOK(gelu) \
    HOOK(prelu) HOOK(compare) HOOK(logic) HOOK(bits) HOOK(clamp) HOOK(to) HOOK(fill) HOOK(masked_fill) HOOK(where)     \
    HOOK(addmm) HOOK(conv) HOOK(conv_transpose) HOOK(max_pool) HOOK(avg_pool) HOOK(lp_pool) HOOK(adaptive_avg)         \
    HOOK(adaptive_max) HOOK(linear) HOOK(batch_norm) HOOK(instance_norm) HOOK(group_norm) HOOK(layer_norm)             \
    HOOK(rms_norm) HOOK(lrn) HOOK(normalize) HOOK(pairwise_distance) HOOK(reduce) HOOK(logsumexp) HOOK(std) HOOK(norm) \
    HOOK(arg) HOOK(min_max) HOOK(topk) HOOK(cumsum) HOOK(cumprod) HOOK(reshape) HOOK(permute) HOOK(transpose)          \
    HOOK(flatten) HOOK(unflatten) HOOK(squeeze) HOOK(unsqueeze) HOOK(slice) HOOK(slice_copy) HOOK(select) HOOK(narrow) \
    HOOK(expand) HOOK(repeat) HOOK(cat) HOOK(stack) HOOK(chunk) HOOK(split) HOOK(tensor_split) HOOK(unbind) HOOK(roll) \
    HOOK(flip) HOOK(pad) HOOK(pixel_shuffle) HOOK(pixel_unshuffle) HOOK(channel_shuffle) HOOK(fold) HOOK(unfold)       \
    HOOK(embedding) HOOK(index_select) HOOK(gather) HOOK(index) HOOK(index_put) HOOK(slice_indexes) HOOK(einsum)       \
    HOOK(matmul) HOOK(resize) HOOK(grid_sample) HOOK(affine_grid) HOOK(recurrent) HOOK(attention) HOOK(sdpa)           \
    HOOK(cross) HOOK(like) HOOK(full) HOOK(arange) HOOK(repeat_interleave) HOOK(diag) HOOK(scatter)                    \
    HOOK(masked_select) HOOK(sort) HOOK(any) HOOK(triangle) HOOK(meshgrid) HOOK(outer) HOOK(logit)            \
    HOOK(deform_conv) HOOK(roi_align) HOOK(nms)
#define HOOK(name) xir_convert_fn pnnx_##name;
PNNX_HOOKS(HOOK)
#undef HOOK

#endif
