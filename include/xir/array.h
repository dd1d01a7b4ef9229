/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Arrays: numbers outside of networks, as the executor takes and returns them. An array has a tensor type whose dims
 * are all known. Its bytes are those that Params of this type have in a file: row-major, little-endian, without
 * gaps, not aligned in general. Arrays are reference counted and may be shared between threads. They are immutable,
 * except for the caller that has just made one. */
#ifndef XIR_ARRAY_H
#define XIR_ARRAY_H

#include <xir/network.h>

XIR_BEGIN

typedef struct xir_array xir_array;

/* Makes an array of a type: with zero bytes, or with a copy of `size` bytes, which must be exactly what the type takes.
 * The array keeps the context alive. Returns NULL with a finding: XIR_E_TYPE if the type is not a tensor, XIR_E_BOUNDS
 * for an unknown dim or a wrong size, XIR_E_LIMIT, XIR_E_MEMORY. */
XIR_API xir_array *xir_array_new(xir_context *ctx, const xir_type *type, xir_diags *why);
XIR_API xir_array *xir_array_copy(xir_context *ctx, const xir_type *type, const void *data, size_t size,
                                  xir_diags *why);
/* Makes an array each of whose elements is the number; a real is the nearest one. NULL with a finding: as above, and
 * XIR_E_BOUNDS for a number that is not one of the integers or truths of the type. */
XIR_API xir_array *xir_array_filled(xir_context *ctx, const xir_type *type, double number, xir_diags *why);
/* Returns an array that shares the bytes of Params. Nothing is copied, and lazily mapped bytes stay in their file.
 * Returns NULL with XIR_E_MISSING if there are no bytes. */
XIR_API xir_array *xir_array_from_params(const xir_value *params, xir_diags *why);
/* Makes Params of a network that share the type and bytes of the array. They are not placed, as with xir_params_new.
 * Returns NULL with a finding in the network. */
XIR_API xir_value *xir_params_from_array(xir_network *net, xir_str name, const xir_array *array);

/* Makes an input of the network, or an input with a default, a constant: in all uses Params with its name and its
 * layout, which share the bytes of the array, take its place. The values of the inputs after it move, as with
 * xir_op_set_outputs. A symbol that is a dim of the input becomes the number that the array has there, in all types of
 * the network; other types stay as they are (xir_network_infer). On failure the network is unchanged, except on
 * XIR_E_MEMORY:
 *   XIR_E_MISSING  `net` or `array` is NULL
 *   XIR_E_UNKNOWN  no input has the name
 *   XIR_E_TYPE     the input has other elements
 *   XIR_E_BOUNDS   the input has other dims, or a dim is not one that its symbol may have
 *   XIR_E_INVALID  the dims of the array contradict each other
 *   XIR_E_MEMORY */
XIR_API xir_status xir_network_fix_input(xir_network *net, xir_str name, const xir_array *array, xir_diags *why);

/* Take and drop a reference. xir_array_free accepts NULL. */
XIR_API xir_array *xir_array_retain(xir_array *array);
XIR_API void       xir_array_free(xir_array *array);

/* Ask an array. None of these fails; pointers live as long as the array. */
XIR_API const xir_type *xir_array_type(const xir_array *array);
XIR_API size_t          xir_array_count(const xir_array *array);      /* of elements                        */
XIR_API const void     *xir_array_data(const xir_array *array, size_t *size);
/* Returns the bytes for writing. Only for the caller that made the array with xir_array_new or _copy and has not yet
 * passed it on. */
XIR_API void           *xir_array_edit(xir_array *array);

/* Elements as numbers. A quantised element is the real number it stands for: stored * scale, never the origin (see
 * docs/executor.md). xir_array_real is for a look at one element; the others copy `n` elements, starting at `from`.
 * As reals, integers beyond 2^53 lose digits. As integers, reals are truncated towards zero. XIR_E_BOUNDS;
 * XIR_E_TYPE if the elements are not numbers. */
XIR_API double     xir_array_real(const xir_array *array, size_t i);
XIR_API xir_status xir_array_reals(const xir_array *array, size_t from, size_t n, double *out);
XIR_API xir_status xir_array_i64s(const xir_array *array, size_t from, size_t n, int64_t *out);

/* The difference of two arrays of one shape. Two elements differ if |a - b| > absolute + relative * |b|, or if exactly
 * one of them is NaN. */
typedef struct xir_difference {
    bool   same_shape;   /* false: nothing was compared                        */
    size_t count;        /* how many elements differ                           */
    size_t first;        /* the first of them, row-major; SIZE_MAX: none       */
    double a, b;         /* the two values there                               */
    double largest;      /* the largest |a - b| of all elements, NaN ignored   */
} xir_difference;
XIR_API xir_status xir_array_compare(const xir_array *a, const xir_array *b, double absolute, double relative,
                                     xir_difference *out);

/* ---- packing for devices ------------------------------------------------------------------------------------- */

/* Each makes a new array with the elements of another one in other places. Elements of any storage are moved bit by
 * bit: parts of a byte, quantised ones, others. A quantised element type stays, and scales follow their axis to its new
 * place; if an axis with scales or zero points of its own is padded or tiled, the elements of the result are the stored
 * integers. NULL with a finding: XIR_E_MISSING for NULL, XIR_E_LIMIT, XIR_E_MEMORY, and what each says.
 *
 * Axis i of the result is the axis order[i] of the array, from the end if negative, as numpy.transpose has it; the
 * letters of an untiled layout move along. XIR_E_BOUNDS if `order` is not a permutation of the axes. */
XIR_API xir_array *xir_array_permute(const xir_array *array, const int64_t *order, size_t n, xir_diags *why);
/* Adds a number of elements before and after along each axis; a negative number removes elements. New elements are
 * `number`; 0 of a quantised type is its stored 0. XIR_E_BOUNDS if `n` is not the rank, if more is removed than there
 * is, or for another number than 0 in a quantised type, and one that the elements cannot be. */
XIR_API xir_array *xir_array_pad(const xir_array *array, const int64_t *before, const int64_t *after, size_t n,
                                 double number, xir_diags *why);
/* Puts an array whose axes are the letters `from` (empty: those of its layout) into the layout `to`, such as "NCHWc32"
 * or "OIHWi4o16"; a unit may also stand before its letter, "OIHW16o". The axes come in the order of `to`; an axis with
 * units is divided, the first unit of a letter being the coarsest. If units do not divide the dim, zeros fill the last
 * tile. XIR_E_SYNTAX for a text that is not a layout; XIR_E_INVALID if `from` is tiled, if its letters are not one for
 * each axis, or if `to` has others, or a unit without its axis; XIR_E_BOUNDS if `from` does not have the rank. */
XIR_API xir_array *xir_array_tile(const xir_array *array, xir_str from, xir_str to, xir_diags *why);
/* The way back: an array in the layout `from` (empty: its own) becomes one whose axes are the letters `to`, with `n`
 * dims, which cut the filling off. NULL `dims`: all of it stays. XIR_E_BOUNDS for dims that the tiles do not have, or
 * whose units are not dims of the array; otherwise as above. */
XIR_API xir_array *xir_array_untile(const xir_array *array, xir_str from, xir_str to, const int64_t *dims, size_t n,
                                    xir_diags *why);
/* Converts the elements as the operation Cast does (docs/ops.md): to the nearest number of the type, for integers
 * towards 0. `element` may be quantised; if the array has it already, the result is the array, retained. XIR_E_TYPE if
 * it is not an element type, or if Cast does not convert to it. */
XIR_API xir_array *xir_array_cast(const xir_array *array, const xir_type *element, xir_diags *why);

/* NumPy files (.npy, versions 1 to 3; format: numpy.lib.format). Reading accepts bool, integers and floats of 1 to 8
 * bytes, little- and big-endian, in C and Fortran order; never a pickle. The layout of the result is `*` for each dim.
 * Writing gives version 1, little-endian, C order, with bf16 and quantised elements as float32. If writing fails, the
 * old file remains. */
XIR_API xir_array *xir_array_load_npy(xir_context *ctx, const char *path, xir_diags *why);
XIR_API xir_array *xir_array_read_npy(xir_context *ctx, const void *data, size_t size, xir_str name, xir_diags *why);
XIR_API xir_status xir_array_save_npy(const xir_array *array, const char *path, xir_diags *why);

XIR_END

#endif
