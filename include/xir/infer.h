/* What an inference or check function sees of an op: its class, attributes, input types and target, and nothing
 * else, so that it is a pure function and its answers may be reused. Unknown dims are negative; what depends on one
 * is XIR_UNKNOWN_DIM. */
#ifndef XIR_INFER_H
#define XIR_INFER_H

#include <xir/type.h>

XIR_BEGIN

/* Who is asked about. None of these fails; all pointers live as long as the call. */
XIR_API xir_context      *xir_infer_context(const xir_infer *at);
XIR_API const xir_class  *xir_infer_class(const xir_infer *at);
/* The attribute struct of the class, or for objects the object. */
XIR_API const void       *xir_infer_attrs(const xir_infer *at);
XIR_API const xir_target *xir_infer_target(const xir_infer *at);

/* Input types by position; NULL where an input is absent or has no type. */
XIR_API size_t          xir_infer_input_count(const xir_infer *at);
XIR_API const xir_type *xir_infer_input(const xir_infer *at, size_t i);
/* The type of output `i` as far as it is known: for WORK functions. NULL past the last one. */
XIR_API const xir_type *xir_infer_output(const xir_infer *at, size_t i);
/* Whether an input is a constant of the network: the same answer while the network is built, checked and run. Like
 * its type, this is part of what an answer depends on, and the answer is reused. */
XIR_API bool            xir_infer_input_is_params(const xir_infer *at, size_t i);
/* The value itself, for the few results that depend on a constant's bytes; it makes the answer depend on more
 * than types, so the answer is not reused. */
XIR_API const xir_value *xir_infer_input_value(xir_infer *at, size_t i);

/* Fails, naming the port, unless the first `n` inputs are tensors that are not tiled: what rules for the host
 * understand. */
XIR_API xir_status xir_infer_need_tensors(xir_infer *at, size_t n);

/* The product of dims: 0 if one of them is, else XIR_UNKNOWN_DIM if one is unknown. More than 64 bits is a failure,
 * XIR_E_LIMIT at `where`. */
XIR_API xir_status xir_infer_product(xir_infer *at, const char *where, const int64_t *dims, size_t n, int64_t *out);

/* Gives the next output's type. The third gives element type and layout of `like`, without merged distributions, and
 * new dims; a NULL layout is the default of the rank. */
XIR_API xir_status xir_infer_result(xir_infer *at, const xir_type *type);
XIR_API xir_status xir_infer_result_tensor(xir_infer *at, const xir_type *element, const xir_layout *layout,
                                           const int64_t *dims, size_t rank);
XIR_API xir_status xir_infer_result_like(xir_infer *at, const xir_type *like, const int64_t *dims, size_t rank);

/* Says what is wrong and returns `code`. The sentence names both what was expected and what was found; the op's
 * class and name are put before it, `where` ("stride_width", "inputs/1"; may be NULL) becomes the path. */
XIR_API xir_status xir_infer_fail(xir_infer *at, xir_status code, const char *where, const char *format, ...)
    XIR_PRINTF(4, 5);

XIR_END

#endif
