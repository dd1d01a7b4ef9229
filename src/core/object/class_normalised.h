/* What a class's NORMALISED row says: what an op computes where its maps are in normalised numbers
 * (docs/executor.md). declare.h lists the words; normalised.h answers for an op. */
#ifndef CORE_CLASS_NORMALISED_H
#define CORE_CLASS_NORMALISED_H

#include <xir/class.h>

typedef enum normalised_kind {   /* ORDER NORMALISED */
    NORMALISED_NONE,
    NORMALISED_REAL,      /* from what maps stand for; named constants are real numbers                              */
    NORMALISED_EVEN,      /* with a named constant: the ratios of all maps are the same                              */
    NORMALISED_SCALED,    /* each map is multiplied by a constant that holds the ratios                              */
    NORMALISED_PRODUCT,   /* the first input times the second, of which one holds them, or the scales that are named */
    NORMALISED_KINDS
} normalised_kind;

/* A class names no more inputs and attributes than a word has bits; an input of any number has the last port's bit. */
typedef struct class_normalised {
    normalised_kind  kind;
    uint64_t         inputs, fields;   /* bit i: the one of this number is named */
    const xir_field *cut;              /* the scales among them; NULL: none      */
} class_normalised;

/* Reads the NORMALISED row of a class, whose attributes and ports are known, into cls->normalised. A row that
 * contradicts the class or itself is XIR_E_INVALID, with a finding. */
xir_status class_read_normalised(xir_class *cls, const xir_row *row, xir_diags *why);

/* Whether an attribute holds numbers that constants of a map may be: reals, Params, scalars that are no integers,
 * scales. */
bool field_holds_numbers(const xir_field *f);

#endif
