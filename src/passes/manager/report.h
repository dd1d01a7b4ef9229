/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A report under construction. */
#ifndef PASSES_REPORT_H
#define PASSES_REPORT_H

#include "manager/pipeline.h"

typedef struct report_row {
    xir_pass_row row;
    size_t       step;     /* index in the pipeline, or REPORT_ADDED */
} report_row;

struct xir_pass_report {
    xir_context *ctx;
    arena        arena;    /* of the texts */
    report_row  *rows;
    size_t       n, room;
};

#define REPORT_ADDED SIZE_MAX

void report_clear(xir_pass_report *report);
/* The row of a step, added if missing. Valid until the next row is added; NULL: out of memory. */
xir_pass_row *report_row_of(xir_pass_report *report, size_t step, const pipeline_step *s, xir_network *net);
/* Sets the time of each group to the sum of the deeper rows that follow it. */
void report_sum_groups(xir_pass_report *report);
/* Returns true if the pass has run. */
bool report_has_run(const xir_pass_report *report, const xir_pass_decl *pass);

#endif
