/* Ops on maps in normalised numbers. A map whose element type has ratios N holds x / N. A network that was
 * normalised computes z / Nz from x / Nx, and the constants of its ops hold the ratios: the weights w * Nx / Nz, the
 * bias b / Nz. What a map stands for may not be multiplied by them. The class's NORMALISED row says which of an op's
 * inputs and attributes are such constants; here it is said, for one op, what its numbers are. Whoever computes an
 * op asks, and whoever reads or changes its constants (docs/executor.md). */
#ifndef CORE_NORMALISED_H
#define CORE_NORMALISED_H

#include "graph.h"

typedef struct op_numbers {
    bool              normalised;   /* maps are read, and results are stored, without their ratios               */
    const xir_scales *cut;          /* what the results are multiplied by before they are stored; NULL: nothing */
} op_numbers;

/* Why there is no answer, and where: "inputs/1". */
typedef struct numbers_fault {
    char where[80], text[400];
} numbers_fault;

/* Whether elements are in normalised numbers and some ratio is not 1: only then it matters what numbers an op's
 * constants hold. */
bool type_is_normalised(const xir_type *type);

/* Whether an input or output of the op is of such a type. */
bool op_has_normalised(const xir_op *op);

/* The numbers of an op whose inputs, then outputs, are of these types; NULL: absent, or not known. XIR_E_UNSUPPORTED
 * with the fault where it is not known what its constants hold. Types that are not normalised are always fine. */
xir_status op_numbers_of(const xir_op *op, const xir_type *const *types, op_numbers *out, numbers_fault *why);

#endif
