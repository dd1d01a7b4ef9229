/* A run of a pipeline, and what it leaves behind for people: dumps, and what repeats a failure. */
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
    size_t                   runs;     /* of passes so far                                         */
    xir_network             *before;   /* a copy of the network before the pass that runs; NULL: not made */
    bool                     valid;    /* the network has been; from then on it must stay so       */
} manager;

/* Saves the network as NN-NAME.json in the folder of dumps, which is made if need be. */
xir_status manager_dump(const manager *m, const char *name);

/* Saves the network as it was before the failing step, and says in a note what repeats the failure. What goes wrong
 * with that is a note, too. */
void manager_reproduce(const manager *m, const pipeline_step *s, xir_network *before);

#endif
