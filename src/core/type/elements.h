/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Elements as numbers, in one place for all layers: how the bytes of each element type are read as reals or
 * integers, and how numbers are stored. Bytes need not be aligned. Elements of whole bytes are little-endian; others
 * are packed bit by bit, from the lowest bit of a byte. Reals are rounded once, to the nearest number of the format,
 * ties to even, and become infinite if too large. Integers are wrapped to their width; bool is 0 or 1. Quantised
 * elements are reals divided by their scale, rounded half away from zero and limited. From real to integer: towards
 * zero, limited to the range; NaN becomes 0. */
#ifndef CORE_ELEMENTS_H
#define CORE_ELEMENTS_H

#include <xir/type.h>
#include "memory.h"

/* ---- of one type ------------------------------------------------------------------------------------------- */

typedef enum element_kind {
    ELEMENT_NONE,     /* not a number of up to 64 bits */
    ELEMENT_BOOL,
    ELEMENT_SIGNED,
    ELEMENT_UNSIGNED,
    ELEMENT_FLOAT
} element_kind;

typedef struct element_format {
    element_kind kind;
    uint8_t      bits;                /* of one element                                    */
    uint8_t      exponent, mantissa;  /* bits of a float's parts, without the sign         */
} element_format;

/* The format of the elements of a tensor, or of an element type. ELEMENT_NONE for NULL, quantised elements and unknown
 * classes. */
element_format element_format_of(const xir_type *type);
static inline bool element_is_float(element_format f)  { return f.kind == ELEMENT_FLOAT; }
static inline bool element_is_number(element_format f) { return f.kind > ELEMENT_BOOL; }   /* a float or an integer */

/* Element i of `bytes`; for ELEMENT_NONE, NaN and 0. */
double  element_real(element_format f, const void *bytes, size_t i);
int64_t element_i64(element_format f, const void *bytes, size_t i);
/* A real as an integer: towards zero, limited to int64_t; NaN becomes 0. */
int64_t element_cut(double v);
/* An integer as a real that will be rounded to this format: rounding twice gives the same as rounding once. */
double  element_of_i64(element_format f, int64_t v);
/* The format must not be ELEMENT_NONE. */
void    element_put_real(element_format f, void *bytes, size_t i, double v);
void    element_put_i64(element_format f, void *bytes, size_t i, int64_t v);

/* Returns false if the elements are integers or truths, and none of them is the number. */
bool    element_has(const xir_type *element, double v);

/* Many elements of an element type that is not quantised. Bools, integers and floats can be read and written. Other
 * types read as zeros, and writing them returns false. Writing starts at element 0 and clears the unused bits of the
 * last byte. */
static inline bool element_readable(const xir_type *element) { return element_format_of(element).kind != ELEMENT_NONE; }
void elements_to_ints(const xir_type *element, const void *bytes, size_t from, size_t n, int64_t *out);
void elements_to_reals(const xir_type *element, const void *bytes, size_t from, size_t n, double *out);
bool elements_of_ints(const xir_type *element, const int64_t *v, size_t n, void *out);
bool elements_of_reals(const xir_type *element, const double *v, size_t n, void *out);
bool elements_fill(const xir_type *element, double v, size_t n, void *out);

/* ---- of one tensor ----------------------------------------------------------------------------------------- */

/* One number for each index of a dim, or one for all: element i has items[i / inner % n]. */
typedef struct element_row {
    double *items;
    size_t  n, inner;
} element_row;

/* The storage of the elements of one tensor, including quantised ones. */
typedef struct tensor_elements {
    const xir_allocator *alloc;
    element_format format;               /* of what is stored     */
    bool           quantised;
    uint8_t        stored;               /* an element_store      */
    element_row    scale, ratio, zero;   /* no items: 1, 1 and 0  */
    const struct element_loops *loops;   /* of this processor     */
} tensor_elements;

/* Prepares for a tensor type with known dims. XIR_E_UNSUPPORTED for elements that are not numbers, or scales that do
 * not fit the dims; XIR_E_MEMORY. Only quantised elements take memory. Close what was opened. */
xir_status elements_open(tensor_elements *e, const xir_allocator *alloc, const xir_type *type, xir_diags *why);
void       elements_close(tensor_elements *e);
/* Elements of a format, not quantised; there is nothing to close. */
tensor_elements elements_plain(element_format f);
/* Switches to normalised numbers: what elements stand for, divided by their ratios. */
void       elements_normalise(tensor_elements *e);
/* Switches to stored numbers minus the zero point. */
void       elements_unscale(tensor_elements *e);
/* Of elements [from, from + n): their scales and zero points. */
void       elements_scales(const tensor_elements *e, size_t from, size_t n, double *out);
void       elements_zeros(const tensor_elements *e, size_t from, size_t n, double *out);
static inline bool elements_are_real(const tensor_elements *e) {
    return e->quantised || e->format.kind == ELEMENT_FLOAT;
}

/* Elements [from, from + n) of a tensor whose first byte is `bytes`. */
void elements_read_reals(const tensor_elements *e, const void *bytes, size_t from, size_t n, double *out);
void elements_read_i64s(const tensor_elements *e, const void *bytes, size_t from, size_t n, int64_t *out);
void elements_write_reals(const tensor_elements *e, void *bytes, size_t from, size_t n, const double *in);
void elements_write_i64s(const tensor_elements *e, void *bytes, size_t from, size_t n, const int64_t *in);
/* Reads the stored elements unchanged: quantised elements without their scales and zero points. Integers that are
 * written are limited to their range. */
void elements_read_stored(const tensor_elements *e, const void *bytes, size_t from, size_t n, double *out);
void elements_write_stored(const tensor_elements *e, void *bytes, size_t from, size_t n, const double *in);
/* Elements base + at[0], base + at[1], …; 0 where at[i] is negative. */
void elements_read_reals_at(const tensor_elements *e, const void *bytes, int64_t base, const int64_t *at, size_t n,
                            double *out);
void elements_read_i64s_at(const tensor_elements *e, const void *bytes, int64_t base, const int64_t *at, size_t n,
                           int64_t *out);

#endif
