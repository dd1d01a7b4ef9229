/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The NORMALISED row of a class: what an op computes if its maps are in normalised numbers (docs/executor.md).
 * declare.h lists the words; normalised.h answers for an op. */
#ifndef CORE_CLASS_NORMALISED_H
#define CORE_CLASS_NORMALISED_H

#include <xir/class.h>

typedef enum normalised_kind {   /* ORDER NORMALISED */
    NORMALISED_NONE,
    NORMALISED_REAL,      /* computes from what the maps stand for; named constants are real numbers                */
    NORMALISED_EVEN,      /* with a named constant, the ratios of all maps are equal                                 */
    NORMALISED_SCALED,    /* each map is multiplied by a constant that contains the ratios                           */
    NORMALISED_PRODUCT,   /* first input times second: one of them, or the named scales, contain the ratios          */
    NORMALISED_KINDS
} normalised_kind;

/* Inputs and attributes are bits of a word, so a class names at most 64 of each. A variadic input has the last port's
 * bit. */
typedef struct class_normalised {
    normalised_kind  kind;
    uint64_t         inputs, fields;   /* bit i: number i is named               */
    const xir_field *cut;              /* the scales among them; NULL: none      */
} class_normalised;

/* Reads the NORMALISED row of a class, whose attributes and ports are already known, into cls->more->normalised. A row
 * that contradicts the class or itself is XIR_E_INVALID, with a finding. */
xir_status class_read_normalised(xir_class *cls, const xir_row *row, xir_diags *why);

/* Returns true if an attribute holds numbers that may be constants of a map: reals, Params, scalars that are not
 * integers, scales. */
bool field_holds_numbers(const xir_field *f);

#endif
