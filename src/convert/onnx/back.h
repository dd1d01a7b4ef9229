/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back to ONNX: ops of XIR become operators of the version that the network's operator set has, 11 to 23. The
 * hooks of rows (rows.c) are in back_*.c, and use what is here. */
#ifndef CONVERT_ONNX_BACK_H
#define CONVERT_ONNX_BACK_H

#include "node/lists.h"
#include "onnx/onnx.h"
#include "onnx/rows.h"
#include "formula/parts.h"
#include "formula/simpler.h"
#include "rows/row.h"
#include "spec/maps.h"

enum { ONNX_OLDEST_BACK = 11, ONNX_NEWEST_BACK = 23, ONNX_USUAL_BACK = 13 };

/* ---- the network (back.c) ---- */

xir_status onnx_begin_back(xir_pass *pass);
xir_status onnx_end_back(xir_pass *pass);   /* back_names.c */
xir_status onnx_rename_captures(xir_pass *pass);   /* back_captures.c */
xir_status onnx_back_functions(xir_pass *pass);   /* back_functions.c: calls become functions */
xir_status onnx_settle_types(xir_pass *pass);   /* back_ends.c: quantised values, operator sets */
/* The version of ONNX's own operator set in the network. */
static inline int64_t onnx_target(const xir_node *at) { return onnx_version(at->c->net, (xir_str){ NULL, 0 }); }

/* ---- versions (back_version.c) ---- */

/* The least version that has operators for an op of XIR, or 0. */
int64_t onnx_needs(const xir_op *op);
/* Returns true if an operator, with its attributes and inputs, is the same in both versions, 11 or newer. */
bool    onnx_means_the_same(const xir_op *op, int64_t a, int64_t b);
/* Returns true if the version of the network has operators for the node's op. */
bool    onnx_is_new_enough(xir_node *at);

/* ---- element types (back_types.c) ---- */

/* The number of an element type in ONNX (TensorProto.DataType); -1: it has none, or memory is out. */
int64_t onnx_code_of(xir_node *at, const xir_type *element);
/* Returns true if an operator takes these elements at the network's version; if ONNX Runtime computes with them. */
bool onnx_takes(xir_node *at, const char *key, const xir_type *element);
bool onnx_runs(xir_node *at, const char *key, const xir_type *element);
/* Returns the elements with which an operator computes: these or, if it does not take them or ONNX Runtime does not
 * compute with them, a type that has all their numbers. NULL if there is none (back_kernels.c). */
const xir_type *onnx_element_for(xir_node *at, const char *key, const xir_type *element);
/* The dialect's check, and on the way back the elements that an operator takes. */
bool onnx_check_both(xir_node *at);

/* ---- quantised numbers (back_pairs.c) ---- */

/* Sets the ways in which an op with quantised values becomes operators, to be tried in order, and returns their number:
 * 0 for other ops. */
size_t         onnx_quantised_ways(xir_node *at, xir_convert_fn *out[2]);
/* The last way: as pairs. */
xir_convert_fn onnx_back_pairs;
/* A constant between DequantizeLinear and its op, with its axes in another order; NULL if x is something else, or after
 * a failure (back_quantised.c). */
xir_value     *onnx_turned_constant(xir_node *at, xir_value *x, const xir_ints *order);
/* Returns true if a node only stands between a quantised value and its integers. */
bool           onnx_is_view(const xir_op *op);
/* Such nodes are removed at the end or, if other ops stay, become BitCasts (back_ends.c). */
xir_status     onnx_finish(xir_network *net, bool *changed);

/* ---- operators (back_calls.c) ---- */

/* Makes an operator, by its key, with the types of the node's outputs, and gives its results to the node. Absent
 * inputs at the end are left out. Where the operator has no elements such as those of the input `of`, it computes with
 * wider ones, between Casts, as far as this input and later ones have such elements. */
bool onnx_calls(xir_node *at, const char *key, xir_values inputs, xir_sets sets);
bool onnx_calls_on(xir_node *at, const char *key, size_t of, xir_values inputs, xir_sets sets);
/* Names the outputs of an operator that the node does not give: those that the standard requires are not absent, even
 * if nothing uses them. False: out of memory. */
bool onnx_name_rest(xir_node *at, xir_op *op);
/* The operator of the node's row. */
bool onnx_becomes(xir_node *at, xir_values inputs, xir_sets sets);
/* The same for operators on feature maps: at->order says the order of axes of their outputs. */
bool onnx_becomes_map(xir_node *at, xir_values inputs, xir_sets sets);
/* An operator with one output of these elements and dims; NULL after a failure. */
xir_value *onnx_call(xir_node *at, const char *key, xir_values inputs, xir_sets sets, const xir_type *element,
                     const xir_ints *dims);

/* An operator's inputs and attributes, collected: a list is an attribute before version `since`, then input `at`. */
typedef struct onnx_form {
    xir_value *in[16];
    size_t     n_in;
    xir_set    sets[16];
    size_t     n_sets;
    xir_ints   lists[4];
    size_t     n_lists;
} onnx_form;
void onnx_put_input(onnx_form *f, size_t i, xir_value *v);
void onnx_put_list(xir_node *at, onnx_form *f, const char *name, size_t i, int64_t since, const xir_ints *list);
static inline xir_values onnx_inputs(const onnx_form *f) { return (xir_values){ f->in, f->n_in }; }
static inline xir_sets onnx_sets(const onnx_form *f) { return (xir_sets){ f->sets, f->n_sets }; }

/* The op of the node on other inputs; its types follow. What its attributes say about requantisation, which the types
 * of results say too, has its default. NULL after a failure. */
xir_op *node_remade(xir_node *at, xir_value *const *in, size_t n);
/* The types that inference gives the outputs of an op, which may have others. XIR_E_UNKNOWN: the class has no
 * inference; XIR_E_BOUNDS: it gives another number of outputs; else what it fails with. */
xir_status onnx_inferred(xir_node *at, const xir_op *op, const xir_type ***out);
/* A convolution of integers as one of reals that have all sums (back_whole.c). */
bool onnx_back_whole_conv(xir_node *at);

/* v with a dim of 1 at this axis of the result. */
xir_value *onnx_unsqueezed(xir_node *at, xir_value *v, int64_t axis);
/* Integers as ONNX's operators take them, of 64 bits. */
xir_value *onnx_long(xir_node *at, xir_value *v);
/* A tensor among the attributes of XIR's op, in the elements of input 0; NULL if it is absent, or after a failure. */
xir_value *onnx_weight(xir_node *at, const char *name);

#define ONNX_WAYS_BACK(WAY) \
    WAY(unary) WAY(cast) WAY(clip) WAY(gelu) WAY(shrink) WAY(add) WAY(logic) WAY(div) WAY(equal) WAY(compare)        \
    WAY(extreme2)                                                                                                    \
    WAY(mod) WAY(mul) WAY(pow) WAY(prelu) WAY(where) WAY(copy) WAY(softplus)                                         \
    WAY(constant_of_shape) WAY(range) WAY(shape) WAY(join) WAY(depth_to_space) WAY(expand) WAY(pad) WAY(reshape)      \
    WAY(slice) WAY(split) WAY(squeeze) WAY(tile) WAY(transpose)                                                      \
    WAY(average_pool) WAY(conv) WAY(conv_transpose) WAY(global_average_pool) WAY(grid_sample) WAY(max_pool)            \
    WAY(resize)                                                                                                       \
    WAY(place) WAY(batch_norm) WAY(cum_sum) WAY(group_norm) WAY(instance_norm) WAY(layer_norm) WAY(rms_norm)           \
    WAY(softmax) WAY(attention)                                                                                      \
    WAY(reduce) WAY(extreme) WAY(einsum) WAY(matmul)                                                                 \
    WAY(gather) WAY(gather_nd) WAY(boxes) WAY(non_zero) WAY(scatter_nd) WAY(top_k) WAY(recurrent)
#define WAY(name) xir_convert_fn onnx_back_##name;
ONNX_WAYS_BACK(WAY)
#undef WAY

#endif
