/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops on maps in normalised numbers. A map whose element type has ratios N contains x / N. A normalised network
 * computes z / Nz from x / Nx, and the constants of its ops contain the ratios: weights are w * Nx / Nz, the bias is
 * b / Nz. What a map stands for must not be multiplied by them. The class's NORMALISED row says which inputs and
 * attributes of an op are such constants; the functions here decide, for one op, what its numbers are. All code that
 * computes an op, or reads or changes its constants, must ask them (docs/executor.md). */
#ifndef CORE_NORMALISED_H
#define CORE_NORMALISED_H

#include "graph.h"

typedef struct op_numbers {
    bool              normalised;   /* maps are read and results stored without applying their ratios          */
    const xir_scales *cut;          /* results are multiplied by these before they are stored; NULL: by nothing */
} op_numbers;

/* Why there is no answer, and where: "inputs/1". */
typedef struct numbers_fault {
    char where[80], text[400];
} numbers_fault;

/* Returns true if elements are in normalised numbers and some ratio is not 1: only then it matters what the
 * constants of an op contain. */
bool type_is_normalised(const xir_type *type);

/* Returns true if an input or output of the op has such a type. */
bool op_has_normalised(const xir_op *op);

/* The numbers of an op whose inputs, then outputs, have these types; NULL: absent or unknown. XIR_E_UNSUPPORTED with
 * the fault if it is unknown what its constants contain. Types that are not normalised are always accepted. */
xir_status op_numbers_of(const xir_op *op, const xir_type *const *types, op_numbers *out, numbers_fault *why);

#endif
