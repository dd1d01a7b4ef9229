/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Texts of PNNX: numbers and values. A value is what its text looks like, so printing and reading must agree with PNNX
 * digit for digit. Nothing here uses the locale. */
#ifndef SERIALIZE_PNNX_VALUE_H
#define SERIALIZE_PNNX_VALUE_H

#include <xir/pnnx.h>
#include "memory.h"
#include "number.h"

/* ---- number.c -------------------------------------------------------------------------------------------------- */

enum { PNNX_FLOAT_ROOM = 40 };

/* Prints as PNNX does: "45.0", "1.000000e-5", "-inf", "nan.0". Returns the length, below PNNX_FLOAT_ROOM. */
size_t pnnx_put_float(char *out, float v);
/* Prints as C's %e does: "1.200000e+00". */
size_t pnnx_put_scientific(char *out, float v);
/* Read the longest number at the beginning of a text that begins with a digit, or with '-' and a digit: an integer of
 * 32 bits; a float as C's strtof reads it, hexadecimal ones included. Return its length; 0 if the number does not
 * fit. */
size_t pnnx_take_int(xir_str text, int32_t *out);
size_t pnnx_take_float(xir_str text, float *out);

/* ---- value.c --------------------------------------------------------------------------------------------------- */

/* The kind of a text without brackets: INT, FLOAT or STRING. */
xir_pnnx_kind pnnx_scalar_kind(xir_str text);
/* Reads a scalar of this kind; false if the number does not fit. *same: printing gives the same text. *whole: the
 * number is the whole text. */
bool pnnx_take_scalar(xir_str text, xir_pnnx_kind kind, xir_any *out, bool *whole, bool *same);

/* A walk over the items of a list, which commas separate. */
typedef struct pnnx_items { const char *at, *end; bool more; } pnnx_items;
pnnx_items pnnx_items_of(xir_str list);
bool pnnx_next_item(pnnx_items *walk, xir_str *out);

#endif
