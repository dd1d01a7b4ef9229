/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* An op as an inference or check function sees it: its class, attributes, input types and target, and nothing else. So
 * it is a pure function, and its answers can be cached. Unknown dims are negative; a result that depends on one is
 * XIR_UNKNOWN_DIM. */
#ifndef XIR_INFER_H
#define XIR_INFER_H

#include <xir/type.h>

XIR_BEGIN

/* The op in question. None of these fails; all pointers live as long as the call. */
XIR_API xir_context      *xir_infer_context(const xir_infer *at);
XIR_API const xir_class  *xir_infer_class(const xir_infer *at);
/* The attribute struct of the op; when an object is checked, the object. */
XIR_API const void       *xir_infer_attrs(const xir_infer *at);
XIR_API const xir_target *xir_infer_target(const xir_infer *at);

/* Input types by position; NULL if an input is absent or has no type. */
XIR_API size_t          xir_infer_input_count(const xir_infer *at);
XIR_API const xir_type *xir_infer_input(const xir_infer *at, size_t i);
/* The type of output `i` as far as it is known, for WORK functions. NULL past the last one. */
XIR_API const xir_type *xir_infer_output(const xir_infer *at, size_t i);
/* Returns true if an input is a constant of the network. The answer is the same while the network is built, checked and
 * run. Like the input's type, it is part of the key of the cached answer. */
XIR_API bool            xir_infer_input_is_params(const xir_infer *at, size_t i);
/* Returns the value itself, for the few results that depend on a constant's bytes. The answer then depends on more than
 * types, so it is not cached. */
XIR_API const xir_value *xir_infer_input_value(xir_infer *at, size_t i);

/* Fails, naming the port, unless the first `n` inputs are tensors without tiling, which is what rules for the host
 * handle. */
XIR_API xir_status xir_infer_need_tensors(xir_infer *at, size_t n);

/* The product of dims: 0 if one of them is 0, otherwise XIR_UNKNOWN_DIM if one is unknown. If it exceeds 64 bits, the
 * call fails with XIR_E_LIMIT at `where`. */
XIR_API xir_status xir_infer_product(xir_infer *at, const char *where, const int64_t *dims, size_t n, int64_t *out);

/* Set the type of the next output. The third takes element type and layout from `like`, without its merged
 * distributions, and new dims. A NULL layout is the default of the rank. */
XIR_API xir_status xir_infer_result(xir_infer *at, const xir_type *type);
XIR_API xir_status xir_infer_result_tensor(xir_infer *at, const xir_type *element, const xir_layout *layout,
                                           const int64_t *dims, size_t rank);
XIR_API xir_status xir_infer_result_like(xir_infer *at, const xir_type *like, const int64_t *dims, size_t rank);

/* Infers as the host does: its check and its function, whose results become those of this call. For the function of
 * another target, which then changes them: "as the host does, then in tiles". XIR_E_UNKNOWN if the host has no function
 * for the class; XIR_E_INVALID, with a finding, in the host's own function. */
XIR_API xir_status xir_infer_as_host(xir_infer *at);
/* Replaces the type of an output that has been set. XIR_E_BOUNDS, with a finding, if it has not been. */
XIR_API xir_status xir_infer_change(xir_infer *at, size_t i, const xir_type *type);

/* Reports what is wrong and returns `code`. The sentence states what was expected and what was found. The op's class
 * and name are put before it, and `where` ("stride_width", "inputs/1"; may be NULL) becomes the path. */
XIR_API xir_status xir_infer_fail(xir_infer *at, xir_status code, const char *where, const char *format, ...)
    XIR_PRINTF(4, 5);

/* For rules of targets (xir_target_rule): what a rule that is broken has found, "(224 - 3 + 1 + 1) % 2 is 1", and
 * where: an attribute or an input ("stride_width", "inputs/1"; NULL: the op). It does nothing if no sentence is made,
 * so that asking is cheap; a second call replaces the first. */
XIR_API void xir_rule_found(xir_infer *at, const char *where, const char *format, ...) XIR_PRINTF(3, 4);

XIR_END

#endif
