/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the files that check a network of functions of NNabla. Findings name functions and variables by the numbers
 * that they have in the file: "/functions/3/argument/pad", "/variables/12". */
#ifndef SERIALIZE_NNB_CHECK_H
#define SERIALIZE_NNB_CHECK_H

#include "nnb/nnb.h"

typedef struct nnb_checking {
    nnb_model       *m;
    xir_diags       *why;
    xir_status       status;     /* of the first error */
} nnb_checking;

/* `place` is "/functions/3" and what follows it, or "". */
void nnb_say(nnb_checking *c, xir_severity severity, xir_status code, const char *place, const char *sentence, ...)
    XIR_PRINTF(5, 6);

/* check_function.c: number, arguments, ends of each function. */
void nnb_check_functions(nnb_checking *c);
/* check_overlap.c: parameters that are written, but share their data. False without memory. */
bool nnb_check_overlaps(nnb_checking *c);

static inline const nnb_variable *nnb_variable_at(const nnb_model *m, size_t i) {
    return (const nnb_variable *)m->variables.data + i;
}
static inline const nnb_record *nnb_record_at(const nnb_model *m, size_t i) {
    return (const nnb_record *)m->records.data + i;
}
static inline int32_t nnb_int_at(const nnb_model *m, size_t i) { return ((const int32_t *)m->ints.data)[i]; }

#endif
