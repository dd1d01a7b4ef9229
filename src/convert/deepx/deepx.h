/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by DeepX's rows: their hooks, and what hooks ask of a call. A call writes into a tensor that exists, so the
 * type of its output is declared. What is not a tensor is the text of its parameter, the attribute "arg1" by its
 * number. */
#ifndef CONVERT_DEEPX_H
#define CONVERT_DEEPX_H

#include "formula/parts.h"
#include "rows/row.h"

/* deepx.c: the dialect's own. */
bool    deepx_is_pure(const xir_op *op);
int64_t deepx_number_of(const xir_op *op);
size_t  deepx_spelled(xir_str type, char *out, size_t room);
/* prepare.c: what calls do to names becomes edges. */
xir_status deepx_prepare(xir_network *net, bool *changed);

/* Returns true if an op is a call of a function: "add". */
bool deepx_calls(const xir_op *op, const char *function);
/* The name of the function, or an empty text if the op is of another dialect. */
xir_str deepx_function(const xir_op *op);

/* ---- parameters: false after a failure -------------------------------------------------------------------------- */

/* The text of a parameter; empty if it is a tensor. */
xir_str deepx_text(const xir_node *at, size_t i);
/* A number as the executor reads it: through a float32. The second is that of a text. */
bool deepx_number(xir_node *at, size_t i, double *out);
bool deepx_parse_number(xir_str text, double *out);
bool deepx_flag(xir_node *at, size_t i, bool *out);
/* A vector of integers, "[3 4]" or "3 4". */
bool deepx_ints(xir_node *at, size_t i, xir_ints *out);
/* The axes of a reduction: without any all, from the end if negative, each once, in ascending order. */
bool deepx_axes(xir_node *at, size_t i, size_t rank, xir_ints *out);
/* Adds a finding about a parameter. Returns false. */
bool deepx_invalid(xir_node *at, size_t i, xir_status code, const char *sentence);

/* ---- tensors ---------------------------------------------------------------------------------------------------- */

/* The type of the tensor that the call writes into: of its output, or of what the tensor held before. NULL: unknown. */
const xir_type *deepx_target(const xir_node *at);
/* The same; if it is unknown or has open dims, the node is kept. */
const xir_type *deepx_known_target(xir_node *at);
/* A number as a constant of the elements of x, as C converts it: an integer loses the fraction. */
xir_value *deepx_scalar(xir_node *at, const xir_type *element, double v);

/* ---- the way back (back_*.c) ------------------------------------------------------------------------------------- */

/* The word for an element type; NULL: DeepX does not have it. Whether it has all types of an op. */
const char *deepx_precision(const xir_type *element);
bool        deepx_back_check(xir_node *at);
/* The type of the node's result. */
const xir_type *deepx_result(const xir_node *at);

/* Texts of parameters, in memory of the conversion: "[3 4]", the dims of a type, a number. Whether a number is one of
 * float32, which is what the executor reads. */
const char *deepx_vector(xir_node *at, const xir_ints *v);
const char *deepx_dims(xir_node *at, const xir_type *type);
const char *deepx_digits(xir_node *at, double v);
bool        deepx_holds(double v);

/* Makes a call. `form` has a letter for each parameter: T a tensor, L a list of tensors, V a vector, n a number of the
 * kind that the first tensor has, f i b s a var of float32, int32, bool or string; `texts` are those of the others. The
 * second gives its result to the node. */
xir_value *deepx_call(xir_node *at, const char *key, const char *form, xir_values in, const char *const *texts,
                      const xir_type *type);
bool       deepx_gives(xir_node *at, const char *form, xir_values in, const char *const *texts);
/* x broadcast to the dims of a type. */
xir_value *deepx_spread(xir_node *at, xir_value *x, const xir_type *dims);
/* Returns true if one of two inputs is a number that a text says, and adds no dims to the other one. */
bool       deepx_is_number(xir_node *at, size_t i, double *out);
/* Reals without their fractions. */
xir_value *deepx_cut(xir_node *at, xir_value *x);
xir_value *deepx_back_constant(xir_node *at, xir_value *own);
/* Returns how many inputs of a call are its parameters. */
size_t     deepx_own_inputs(const xir_op *op);
/* back_file.c: the options; names, tensors and deletions of the whole network. */
xir_status deepx_begin_back(xir_pass *pass);
xir_status deepx_end_back(xir_pass *pass);

#define DEEPX_BACKS(BACK) \
    BACK(unary) BACK(add) BACK(multiply) BACK(div) BACK(pow) BACK(extreme2) BACK(relu) BACK(clamp) BACK(compare)       \
    BACK(at_most) BACK(logic) BACK(not) BACK(where) BACK(cast) BACK(copy) BACK(round) BACK(sign) BACK(sigmoid)         \
    BACK(hyperbolic) BACK(area) BACK(elu) BACK(erf) BACK(softmax) BACK(prelu) BACK(reshape) BACK(transpose)            \
    BACK(expand) BACK(tile) BACK(concat) BACK(stack) BACK(slice) BACK(split) BACK(pad) BACK(gather)                    \
    BACK(gather_elements) BACK(reduce) BACK(mean) BACK(place) BACK(cumsum) BACK(matmul) BACK(conv) BACK(max_pool)      \
    BACK(average_pool)
#define BACK(name) xir_convert_fn deepx_back_##name;
DEEPX_BACKS(BACK)
#undef BACK
/* Calls the hook of the node's class: the rows say which classes they have. */
xir_convert_fn deepx_back;

#define DEEPX_HOOKS(HOOK) \
    HOOK(newtensor) HOOK(load) HOOK(same) HOOK(cast) HOOK(constant) HOOK(arange) HOOK(uniform) HOOK(normal)            \
    HOOK(dropout) HOOK(unary) HOOK(pair) HOOK(sub) HOOK(by_number) HOOK(scalar_first) HOOK(near) HOOK(near_scalar)     \
    HOOK(invert) HOOK(matmul) HOOK(reduce) HOOK(reshape) HOOK(transpose) HOOK(concat) HOOK(broadcast)                  \
    HOOK(indexselect) HOOK(repeat) HOOK(choose)
#define HOOK(name) xir_convert_fn deepx_##name;
DEEPX_HOOKS(HOOK)
#undef HOOK

#endif
