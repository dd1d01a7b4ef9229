/* Arrays: numbers outside of networks, as the executor takes and gives them. An array has a tensor type whose dims
 * are all known, and the bytes that Params of that type have in a file: row-major, little-endian, without gaps, not
 * aligned in general. Arrays are immutable but for who has just made one, counted, and may be shared between
 * threads. */
#ifndef XIR_ARRAY_H
#define XIR_ARRAY_H

#include <xir/network.h>

XIR_BEGIN

typedef struct xir_array xir_array;

/* An array of a type, its bytes zero; or a copy of `size` bytes, which must be what the type takes. NULL with a
 * finding: XIR_E_TYPE no tensor, XIR_E_BOUNDS an unknown dim or another size, XIR_E_LIMIT, XIR_E_MEMORY. It keeps
 * the context alive. */
XIR_API xir_array *xir_array_new(xir_context *ctx, const xir_type *type, xir_diags *why);
XIR_API xir_array *xir_array_copy(xir_context *ctx, const xir_type *type, const void *data, size_t size,
                                  xir_diags *why);
/* The bytes of Params, shared with them, not copied: lazily mapped ones stay in their file. XIR_E_MISSING without
 * bytes. */
XIR_API xir_array *xir_array_from_params(const xir_value *params, xir_diags *why);
/* Params of a network with the type and bytes of the array, which they share. Unplaced, as xir_params_new; NULL with
 * a finding in the network. */
XIR_API xir_value *xir_params_from_array(xir_network *net, xir_str name, const xir_array *array);

/* One more holder; one less (NULL is accepted). */
XIR_API xir_array *xir_array_retain(xir_array *array);
XIR_API void       xir_array_free(xir_array *array);

/* What it is. None fails; pointers live as long as the array. */
XIR_API const xir_type *xir_array_type(const xir_array *array);
XIR_API size_t          xir_array_count(const xir_array *array);      /* of elements                        */
XIR_API const void     *xir_array_data(const xir_array *array, size_t *size);
/* The bytes to write, for who made it by xir_array_new or _copy and has given it to nobody yet. */
XIR_API void           *xir_array_edit(xir_array *array);

/* Elements as numbers: quantised ones as the reals that they stand for (stored * scale, never the origin: see
 * docs/executor.md). xir_array_real is for a look at one element; the others copy `n` elements from `from` on.
 * Integers beyond 2^53 lose digits as reals; reals are cut towards zero as integers. XIR_E_BOUNDS, XIR_E_TYPE for
 * elements that are no numbers. */
XIR_API double     xir_array_real(const xir_array *array, size_t i);
XIR_API xir_status xir_array_reals(const xir_array *array, size_t from, size_t n, double *out);
XIR_API xir_status xir_array_i64s(const xir_array *array, size_t from, size_t n, int64_t *out);

/* Where two arrays of one shape first differ: |a - b| > absolute + relative * |b|, or one of them is NaN and the
 * other is not. */
typedef struct xir_difference {
    bool   same_shape;   /* nothing was compared if not                        */
    size_t count;        /* how many elements differ                           */
    size_t first;        /* the first one, row-major; SIZE_MAX: none           */
    double a, b;         /* what it is                                         */
    double largest;      /* the greatest |a - b| of all, NaN apart             */
} xir_difference;
XIR_API xir_status xir_array_compare(const xir_array *a, const xir_array *b, double absolute, double relative,
                                     xir_difference *out);

/* NumPy files (.npy, versions 1 to 3; format: numpy.lib.format). Read: little- and big-endian bool, integers and
 * floats of 1 to 8 bytes, C and Fortran order; never a pickle. Written: version 1, little-endian, C order; bf16 and
 * quantised elements as float32. The layout of what is read is `*` for each dim. A failing write leaves the old
 * file. */
XIR_API xir_array *xir_array_load_npy(xir_context *ctx, const char *path, xir_diags *why);
XIR_API xir_array *xir_array_read_npy(xir_context *ctx, const void *data, size_t size, xir_str name, xir_diags *why);
XIR_API xir_status xir_array_save_npy(const xir_array *array, const char *path, xir_diags *why);

XIR_END

#endif
