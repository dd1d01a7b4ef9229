/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Values of PNNX's operators. In a file a value is a text without quotes, and the text alone decides what it is: "1" is
 * an integer, "1.0" a float, "zeros" a string, "(1,2)" a list of integers. These two calls read and print values as
 * PNNX's own code does, for programs that write or read them. docs/pnnx.md describes the files. */
#ifndef XIR_PNNX_H
#define XIR_PNNX_H

#include <xir/any.h>
#include <xir/diag.h>

XIR_BEGIN

/* The kind of a value; the numbers are those of PNNX. */
typedef enum xir_pnnx_kind {
    XIR_PNNX_NONE      = 0,
    XIR_PNNX_BOOL      = 1,
    XIR_PNNX_INT       = 2,    /* of 32 bits                                    */
    XIR_PNNX_FLOAT     = 3,    /* of 32 bits                                    */
    XIR_PNNX_STRING    = 4,
    XIR_PNNX_INTS      = 5,
    XIR_PNNX_FLOATS    = 6,
    XIR_PNNX_STRINGS   = 7,
    XIR_PNNX_COMPLEX   = 10,   /* printed, but not read: its text is a float    */
    XIR_PNNX_COMPLEXES = 11
} xir_pnnx_kind;

/* Sets *kind to what PNNX reads in a text, and *n to the number of items: 1, 0 for NONE, those of a list. The first
 * `room` items are stored; texts borrow from `text`. Lists follow PNNX too: the last item decides the kind, and items
 * of other kinds are lost ("(1,2.5,3)" are the integers 1 and 3). XIR_E_BOUNDS for an integer outside 32 bits or a
 * float that is too large, which PNNX cannot read. */
XIR_API xir_status xir_pnnx_value_parse(xir_str text, xir_pnnx_kind *kind, xir_any *items, size_t room, size_t *n,
                                        xir_diags *why);

/* Prints a value as PNNX does: floats with as many digits as they need ("0.1", "1.000000e-5", "45.0"), lists in
 * parentheses. `items` are of the kind that _parse gives: bools, integers, reals, texts; a complex number is two
 * reals. Like snprintf, *size is the length of the text, of which as much as fits into `room` is stored, terminated by
 * a zero. XIR_E_TYPE if an item is of another kind; XIR_E_BOUNDS if their number is wrong or an integer does not
 * fit. */
XIR_API xir_status xir_pnnx_value_print(xir_pnnx_kind kind, const xir_any *items, size_t n, char *out, size_t room,
                                        size_t *size, xir_diags *why);

XIR_END

#endif
