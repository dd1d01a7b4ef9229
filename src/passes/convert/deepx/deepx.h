/* Shared by DeepX's rows: their hooks, and what hooks ask of a call. A call writes into a tensor that exists, so the
 * type of its output is declared. What is not a tensor is the text of its parameter, the attribute "arg1" by its
 * number. */
#ifndef PASSES_CONVERT_DEEPX_H
#define PASSES_CONVERT_DEEPX_H

#include "convert/parts.h"

/* deepx.c: the dialect's own. */
bool    deepx_is_pure(const xir_op *op);
int64_t deepx_number_of(const xir_op *op);
size_t  deepx_spelled(xir_str type, char *out, size_t room);
/* prepare.c: what calls do to names becomes edges. */
xir_status deepx_prepare(xir_network *net, bool *changed);

/* Whether an op is a call of a function: "add". */
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

#define DEEPX_HOOKS(HOOK) \
    HOOK(newtensor) HOOK(load) HOOK(same) HOOK(cast) HOOK(constant) HOOK(arange) HOOK(uniform) HOOK(normal) HOOK(dropout)         \
    HOOK(unary) HOOK(pair) HOOK(sub) HOOK(by_number) HOOK(scalar_first) HOOK(near) HOOK(near_scalar) HOOK(invert)         \
    HOOK(matmul) HOOK(reduce) HOOK(reshape) HOOK(transpose) HOOK(concat) HOOK(broadcast) HOOK(indexselect)             \
    HOOK(repeat) HOOK(choose)
#define HOOK(name) xir_convert_fn deepx_##name;
DEEPX_HOOKS(HOOK)
#undef HOOK

#endif
