/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Quantised numbers on the way back. In the file a quantised value is the integers that it stores, and between it and
 * operators are views: Identity nodes of a quantised type on one side and of its integers on the other, which are
 * removed at the end. These calls read quantised types and make views, reals and quantised numbers (back_quantised.c).
 * After a failure of the node they do nothing. */
#ifndef CONVERT_ONNX_BACK_QUANTISED_H
#define CONVERT_ONNX_BACK_QUANTISED_H

#include "onnx/back.h"

/* The properties of a quantised type. */
typedef struct linear {
    const xir_type *element, *stored;
    size_t          n;           /* scales                                          */
    const double   *scales;
    int64_t        *zeros;       /* n of them                                       */
    bool            any_zero, sign;
    int64_t         axis;        /* of several scales                               */
    uint64_t        bits;
    double          least, most; /* of stored numbers                               */
} linear;

/* Returns true for a tensor of quantised elements. */
bool linear_is(const xir_value *v);
/* Reads the type of v. Returns false, with a reason, for a type that the operators cannot express. */
bool linear_read(xir_node *at, const xir_value *v, linear *t);
/* Returns true if QuantizeLinear of the version has the type. */
bool linear_can_write(const xir_node *at, const linear *t);

/* The same bits with other elements. */
xir_value *linear_view(xir_node *at, xir_value *v, const xir_type *element);
static inline xir_value *linear_stored(xir_node *at, xir_value *q, const linear *t) {
    return linear_view(at, q, t->stored);
}

/* The type of reals of this format; NULL without memory. */
const xir_type *linear_reals(xir_node *at, xir_float_format format);
/* One number, or one for each index of the axis, in dims that broadcast with v. Returns NULL without a list. */
xir_value *linear_along(xir_node *at, const xir_value *v, const linear *t, const xir_type *element, const double *list);
/* The zero points as reals. */
double *linear_zeros(xir_node *at, const linear *t);

/* Quantised numbers as reals of 32 bits, and of 64 bits. */
xir_value *linear_real(xir_node *at, xir_value *q, const linear *t);
xir_value *linear_real64(xir_node *at, xir_value *q, const linear *t);

/* Numbers within bounds, of which attributes of XIR's ops only hold floats. */
xir_value *linear_clamped(xir_node *at, xir_value *v, double low, double high);
/* Reals of 32 bits by QuantizeLinear with these scales: half to even, full range. */
xir_value *linear_quantised_by(xir_node *at, xir_value *x, const linear *t, const double *scales);
/* Reals rounded half away from zero, as XIR stores results; `full`: with the least integer. */
xir_value *linear_rounded(xir_node *at, xir_value *v, const linear *t, bool full);

/* Reals of 32 bits that numbers of the type stand for, as the type's numbers: nothing is rounded. */
xir_value *linear_chosen(xir_node *at, xir_value *v, const linear *t);

/* ---- ops on integers (back_integers.c) ---- */

/* Converts an op of quantised values to operators on the integers that they store; NULL if it has no such form. */
xir_convert_fn *onnx_on_integers(xir_node *at);
/* Returns true for the classes that only move elements. */
bool onnx_moves(const xir_node *at);
/* Returns true for ops that copy stored integers in the executor, the least one too: all that move elements, and some
 * that choose them. A Pad with new elements may store all again. */
bool onnx_copies(xir_node *at);
bool onnx_fills(const xir_node *at);
/* Returns true for ops that choose among numbers of one type, whose results have this type. */
bool onnx_chooses(const xir_node *at);

#endif
