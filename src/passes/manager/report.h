/* Rows of a report while it is made. */
#ifndef PASSES_REPORT_H
#define PASSES_REPORT_H

#include "manager/pipeline.h"

typedef struct report_row {
    xir_pass_row row;
    size_t       step;     /* of the pipeline; REPORT_ADDED */
} report_row;

struct xir_pass_report {
    xir_context *ctx;
    arena        arena;    /* texts */
    report_row  *rows;
    size_t       n, room;
};

#define REPORT_ADDED SIZE_MAX

void report_clear(xir_pass_report *report);
/* The row of a step, made if it is not there. It moves when another is made; NULL without memory. */
xir_pass_row *report_row_of(xir_pass_report *report, size_t step, const pipeline_step *s, xir_network *net);
/* Groups take the time of the passes in them: the rows that follow theirs, as long as they are deeper. */
void report_sum_groups(xir_pass_report *report);
/* Whether a pass has run. */
bool report_has_run(const xir_pass_report *report, const xir_pass_decl *pass);

#endif
