/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The types that ONNX's operators give to their outputs, for nodes that are not converted: what follows them can
 * then be converted. A table (types.c) has rows for every operator of the standard, another (types_microsoft.c) for
 * those of ONNX Runtime; the rules for dims are in types_*.c. */
#ifndef CONVERT_ONNX_TYPES_H
#define CONVERT_ONNX_TYPES_H

#include "onnx/rows.h"

/* Writes the dims of output at->asked; unknown ones are -1, and an expression of an input's dim is copied. False: the
 * rank is unknown, or the node contradicts itself. Rules add no findings. */
typedef bool onnx_shape_rule(xir_node *at, xir_ints *dims);

#define SHAPE_RULES(RULE) \
    RULE(same) RULE(broadcast) RULE(scalar) RULE(reduced) RULE(positions) RULE(like_second) RULE(listed)               \
    RULE(attribute_shape) RULE(counted) RULE(shape) RULE(range)                                                        \
    RULE(concat) RULE(split) RULE(reshape) RULE(expand) RULE(tile) RULE(pad) RULE(slice) RULE(squeeze)                 \
    RULE(unsqueeze) RULE(flatten) RULE(transpose) RULE(resize) RULE(depth_to_space) RULE(space_to_depth)               \
    RULE(center_crop_pad) RULE(compress) RULE(unique) RULE(gather) RULE(gather_nd) RULE(one_hot) RULE(top_k)           \
    RULE(non_zero) RULE(boxes)                                                                                         \
    RULE(convolution) RULE(transposed_convolution) RULE(pool) RULE(unpool) RULE(global_pool) RULE(col2im)              \
    RULE(regions) RULE(affine_grid) RULE(grid_sample) RULE(image)                                                      \
    RULE(matmul) RULE(gemm) RULE(einsum) RULE(det) RULE(attention) RULE(recurrent) RULE(batch_normalization)           \
    RULE(layer_normalization) RULE(dynamic_quantize) RULE(cross_entropy) RULE(dft) RULE(stft) RULE(mel_weights)        \
    RULE(multinomial) RULE(ngrams)
#define RULE(name) onnx_shape_rule onnx_shape_##name;
SHAPE_RULES(RULE)
#undef RULE

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* The elements of the outputs, a word for each, the last one for all that follow: those of an input ("0"), of the code
 * in an attribute ("@dtype"), of a tensor in an attribute ("#value"), or a type; the first that exists of several
 * ("2|u8"). Then the rule for dims, and the elements that inputs must have, a letter for each:
 *
 *   b  bool     l  int64     i  int32 or int64     n  int32     .  any that the operator takes
 *
 * NULL: the outputs are sequences, texts or optionals, or a graph inside the node declares their types (graph.c). The
 * names of the operators are between spaces. */
typedef struct type_row {
    const char      *elements;
    onnx_shape_rule *shape;
    const char      *inputs, *names;
} type_row;
static inline const type_row *onnx_type_row_named(const type_row *rows, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++) if (onnx_has_name(rows[i].names, name)) return &rows[i];
    return NULL;
}

/* The row of an operator of com.microsoft; NULL: there is none. */
const type_row *onnx_type_row_of_microsoft(const char *name);

/* The words of the tables about an operator, read once for each: its types (types.c); the kinds of elements that it
 * takes, and those with which ONNX Runtime computes, a bit for each (back_types.c). */
typedef struct onnx_facts {
    char            name[64];     /* its type, empty if no table can have it */
    bool            typed, read;
    const type_row *types;
    uint32_t        takes, runs;
} onnx_facts;
/* shared.c: NULL out of memory, which the conversion notes. */
onnx_facts *onnx_facts_of(xir_node *at, const convert_class *cls);

/* ---- what rules ask --------------------------------------------------------------------------------------------- */

/* The dims of an input in memory of the conversion. False: it is absent or has no tensor type. */
static inline bool dims_of(xir_node *at, size_t input, xir_ints *dims) {
    const xir_value *v = node_input_at(at, input);
    if (!v || !xir_type_as_tensor(xir_value_type(v))) return false;
    *dims = node_own_dims(at, v);
    return dims->v;
}

/* `n` unknown dims. */
static inline bool open_dims(xir_node *at, size_t n, xir_ints *dims) {
    *dims = xir_node_make_ints(at, n, -1);
    return dims->v;
}

/* The number of elements of a list that is an input: a dim, or -1. */
static inline int64_t length_of(const xir_node *at, size_t input) {
    const xir_value *v = node_input_at(at, input);
    return v && xir_type_as_tensor(xir_value_type(v)) && v_rank(v) == 1 ? v_dim(v, 0) : -1;
}

/* An axis from 0 on. False: it is out of range. */
static inline bool axis_in(int64_t axis, size_t rank, size_t *out) {
    if (axis < 0) axis += (int64_t)rank;
    *out = (size_t)axis;
    return axis >= 0 && axis < (int64_t)rank;
}

/* A dim that a file gives as a number: negative ones are unknown. */
static inline int64_t dim_given(int64_t v) { return v < 0 ? -1 : v; }

/* Sums and products of dims: unknown if one of them is, or beyond int64. */
static inline int64_t dim_sum(int64_t a, int64_t b) {
    int64_t sum;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? -1 : sum;
}
static inline int64_t dim_product(int64_t a, int64_t b) {
    int64_t product;
    if (a == 0 || b == 0) return 0;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? -1 : product;
}

/* A dim in parts of a size: unknown if it is not a whole number of them. */
static inline int64_t dim_quotient(int64_t dim, int64_t by) {
    return dim >= 0 && by > 0 && dim % by == 0 ? dim / by : -1;
}

/* Writes these dims: DIMS(batch, 3). */
#define DIMS(...) &(const xir_ints){ (int64_t[]){ __VA_ARGS__ }, sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t) }
bool dims_are(xir_node *at, xir_ints *out, const xir_ints *dims);
/* Writes the dims of x, with others in the place of those from `from` up to `to`. */
bool dims_with(xir_node *at, xir_ints *out, const xir_ints *x, size_t from, size_t to, const xir_ints *others);
/* Writes the dims of the product of two matrices, or of many, or vectors. */
bool dims_of_product(xir_node *at, const xir_ints *a, const xir_ints *b, xir_ints *out);
/* Writes those of Gather. */
bool dims_gathered(xir_node *at, const xir_ints *x, int64_t axis, xir_ints *out);

/* A list of integers from an attribute, or else from an input whose elements are known, some of them OPEN_ITEM. */
bool items_of(xir_node *at, const char *attribute, size_t input, xir_ints *out);
/* One number from an input; -1: it is unknown. */
int64_t number_of(xir_node *at, size_t input);
/* Computes the shape to which two shapes broadcast. */
bool dims_broadcast(xir_node *at, const xir_ints *a, const xir_ints *b, xir_ints *out);

#endif
