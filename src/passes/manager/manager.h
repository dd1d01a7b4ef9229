/* A run of a pipeline, its dumps and its reproducers. */
#ifndef PASSES_MANAGER_H
#define PASSES_MANAGER_H

#include "manager/report.h"

typedef struct manager {
    const xir_pipeline      *p;
    xir_network             *net;
    const xir_pass_settings *set;
    xir_pass_report         *report;
    xir_diags               *why;
    budget                   within;   /* for constants that passes compute                        */
    size_t                   runs;     /* number of passes run so far                              */
    xir_network             *before;   /* a copy from before the current pass; NULL: not made   */
    bool                     valid;    /* the network was valid once; it must stay valid           */
} manager;

/* Saves the network as NN-NAME.json in the folder of dumps; makes the folder if it does not exist. */
xir_status manager_dump(const manager *m, const char *name);

/* Saves the network from before the failing step, and adds a note with the command that repeats the failure. If saving
 * fails, that is a note, too. */
void manager_reproduce(const manager *m, const pipeline_step *s, xir_network *before);

#endif
