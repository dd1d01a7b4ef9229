/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Data types, immutable and interned: element types (integers, floats, quantised types) and tensor types (element type,
 * dims, layout, valid elements). The structs of all classes of types.def are public for reading. */
#ifndef XIR_TYPE_H
#define XIR_TYPE_H

#include <xir/distr.h>
#include <xir/layout.h>
#include <xir/place.h>

#define XIR_DEFS <xir/types.def>
#define XIR_DECLARED XIR_API
#include <xir/declare.h>

XIR_BEGIN

typedef enum xir_type_kind {
    XIR_TYPE_BOOL,
    XIR_TYPE_INTEGER,
    XIR_TYPE_FLOAT,
    XIR_TYPE_CALIBRATED,
    XIR_TYPE_NORMALIZED,
    XIR_TYPE_QUANTIZED,
    XIR_TYPE_NORMALIZED_QUANTIZED,
    XIR_TYPE_TENSOR,
    XIR_TYPE_OTHER   /* of a class that this library does not know */
} xir_type_kind;

/* Make types. They return NULL if memory runs out or an argument is invalid, with a finding if there is a `why`. */
XIR_API const xir_type *xir_type_bool(xir_context *ctx);
XIR_API const xir_type *xir_type_sint(xir_context *ctx, int64_t bits);
XIR_API const xir_type *xir_type_uint(xir_context *ctx, int64_t bits);
XIR_API const xir_type *xir_type_float(xir_context *ctx, xir_float_format format);

/* A tensor type of `rank` dims, each at least XIR_UNKNOWN_DIM. A NULL layout is the default of the rank. A layout that
 * does not fit the rank is accepted, as in the original, and xir_network_validate reports it. */
XIR_API const xir_type *xir_type_tensor(xir_context *ctx, const xir_type *element, const xir_layout *layout,
                                        const int64_t *dims, size_t rank);
/* The same from a layout text and a list of dims: XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "NHWC", 1, 416,
 * 416, 3). Also NULL for a text that is not a layout: the next finding of this thread about a missing type has the
 * reason. */
XIR_API const xir_type *xir_type_tensor_text(xir_context *ctx, const xir_type *element, const char *layout,
                                             const int64_t *dims, size_t rank);
#define XIR_TENSOR(ctx, element, layout, ...)                                           \
    xir_type_tensor_text((ctx), (element), (layout), (const int64_t[]){ __VA_ARGS__ },  \
                         sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

/* Any negative dim is unknown. This is the one that XIR writes, and the only one that callers, files and plug-ins
 * may give: types with another one are refused (XIR_E_BOUNDS). A network may know an unknown dim by an expression
 * over named symbols ("batch", "floor((length + 1)/2)", see symbols.h). Calls that return a dim return
 * XIR_UNKNOWN_DIM for it; `shape` of the struct has another negative number, which a rule that copies dims of its
 * inputs copies too. Such a type lives in its network: variants of it do too, and making one counts as a change of
 * that network. */
#define XIR_UNKNOWN_DIM (-1)

/* Ask any type. None of these fails. */
XIR_API xir_type_kind xir_type_kind_of(const xir_type *type);
XIR_API bool          xir_type_equal(const xir_type *a, const xir_type *b);
XIR_API bool          xir_type_is_scalar(const xir_type *type);
/* True for calibrated and normalized types too. For a tensor, ask its element type. */
XIR_API bool          xir_type_is_quantized(const xir_type *type);
/* The storage bits of one element: 8 for @bool, 32 for @tf(32), those of the storage type for quantised types, those of
 * the element type for tensors, 0 for a type of an unknown class. */
XIR_API uint64_t      xir_type_storage_bits(const xir_type *type);
/* The stored and the expressed type: the storage and expressed types of a quantised type or of a tensor of one. For
 * other types, both are the (element) type itself. */
XIR_API const xir_type *xir_type_storage(const xir_type *type);
XIR_API const xir_type *xir_type_expressed(const xir_type *type);

/* Ask a tensor type. The cast gives NULL for any other type; the questions below then answer 0, NULL or false. */
XIR_API const xir_tensor_type *xir_type_as_tensor(const xir_type *type);
XIR_API const xir_type        *xir_type_element(const xir_type *type);
XIR_API const xir_layout      *xir_type_layout(const xir_type *type);
XIR_API size_t                 xir_type_rank(const xir_type *type);
/* A dim by index, from the end if negative. With `combine`, the two axes of a tiled pair both give their product (C*c).
 * 0 past the end, negative if unknown. */
XIR_API int64_t  xir_type_dim(const xir_type *type, int64_t i, bool combine);
/* A dim by the letter of its axis. Without `combine`, the case of the letter matters. 0 if there is no such axis. */
XIR_API int64_t  xir_type_axis_dim(const xir_type *type, char axis, bool combine);
/* The number of channels: C with its unit, otherwise O, otherwise I; 0 if the layout has none of them. */
XIR_API int64_t  xir_type_channels(const xir_type *type);
XIR_API bool     xir_type_is_layouted(const xir_type *type);
/* Returns true if a dim is not a number; whether one of them is an expression over symbols. */
XIR_API bool     xir_type_has_unknown_dim(const xir_type *type);
XIR_API bool     xir_type_is_symbolic(const xir_type *type);
/* Writes a dim by index, from the end if negative: "416", "2*batch", "?" if nothing is known, "" past the end.
 * Writes at most `size` bytes, always terminated if `size` is not 0, and returns the length of the whole text. */
XIR_API size_t   xir_type_dim_text(const xir_type *type, int64_t i, char *out, size_t size);
/* The number of elements; 1 for rank 0 and for scalar types. XIR_E_BOUNDS if a dim is unknown, XIR_E_LIMIT if the
 * number exceeds int64_t, XIR_E_UNKNOWN for a type of an unknown class. */
XIR_API xir_status xir_type_elements(const xir_type *type, int64_t *out);
/* The bytes that the elements take in a file: bits rounded up to whole bytes. Fails like xir_type_elements. */
XIR_API xir_status xir_type_bytes(const xir_type *type, uint64_t *out);
/* The distribution over exactly these dims; NULL if there is none. */
XIR_API const xir_distr *xir_type_distr(const xir_type *type, const int64_t *axes, size_t n);

/* Variants of a tensor type: a new type with one part changed. They return NULL with a finding if the layout or the
 * distributions no longer fit the shape, or if a dim is below XIR_UNKNOWN_DIM and not one of the network of `type`.
 * A layout that consists of `*` only follows the rank. A NULL layout is the default. */
XIR_API const xir_type *xir_type_with_element(xir_context *ctx, const xir_type *type, const xir_type *element,
                                              xir_diags *why);
XIR_API const xir_type *xir_type_with_layout(xir_context *ctx, const xir_type *type, const xir_layout *layout,
                                             xir_diags *why);
XIR_API const xir_type *xir_type_with_shape(xir_context *ctx, const xir_type *type, const int64_t *dims, size_t rank,
                                            xir_diags *why);
/* Replaces the distribution over its dims. XIR_E_MISSING if there is none. */
XIR_API const xir_type *xir_type_set_distr(xir_context *ctx, const xir_type *type, const xir_distr *distr,
                                           xir_diags *why);

/* The type as an object, for functions that take any object: xir_object_get, xir_object_class. NULL gives NULL. */
XIR_API const xir_object *xir_type_object(const xir_type *type);

XIR_END

#endif
