/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The SHARES row of a class: whose bytes the outputs of an op may have. declare.h lists the words; liveness uses
 * them. */
#ifndef CORE_CLASS_SHARES_H
#define CORE_CLASS_SHARES_H

#include <xir/class.h>

typedef enum shares_kind {   /* ORDER SHARES */
    SHARES_NOTHING,
    SHARES_VIEW,      /* the output is the bytes of the named input                                    */
    SHARES_OVER,      /* the output may be written over a named input that nobody reads any more       */
    SHARES_DIVIDES,   /* the outputs are parts of the named input                                      */
    SHARES_PICKS,     /* the output is a part of the named input                                       */
    SHARES_JOINS,     /* the named inputs are parts of the output                                      */
    SHARES_KINDS
} shares_kind;

/* Inputs are bits of a word, so a class names at most 64. A variadic input has the last port's bit. */
typedef struct class_shares {
    shares_kind kind;
    uint64_t    inputs;   /* bit i: input i is named */
    const xir_field *along, *by;   /* DIVIDES, JOINS: the axis; PICKS: the starts and the steps */
} class_shares;

/* Reads the SHARES row of a class, whose ports are already known, into cls->more->shares. A row that contradicts the
 * class or itself is XIR_E_INVALID, with a finding. */
xir_status class_read_shares(xir_class *cls, const xir_row *row, xir_diags *why);

#endif
