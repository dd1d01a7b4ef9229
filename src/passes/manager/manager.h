/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A run of a pipeline, its dumps and its reproducers. */
#ifndef PASSES_MANAGER_H
#define PASSES_MANAGER_H

#include <pthread.h>
#include "manager/report.h"
#include "sized.h"

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

#define SETTINGS SIZED(xir_pass_settings, n_watches)
#define WATCH    SIZED(xir_pass_watch, options)

/* Copies the settings into this library's struct and checks them. `p` may be NULL. */
xir_status settings_take(const xir_pipeline *p, xir_context *ctx, const xir_pass_settings *given,
                         xir_pass_settings *out, xir_diags *why);
/* Runs a pass with its defaults, whatever settings are current. */
xir_status pass_run_alone(xir_network *net, const char *name, xir_diags *why);
/* The fate of a pass. A needed pass runs at any level. */
xir_pass_fate settings_fate(xir_context *ctx, const xir_pass_settings *set, const xir_pass_decl *pass, bool needed);

/* ---- settings that are current in a thread (scope.c) ------------------------------------------------------------ */

typedef struct pass_scope {
    struct pass_scope       *older;
    pthread_t                by;
    const xir_pass_settings *set;
} pass_scope;

void scope_enter(xir_context *ctx, pass_scope *scope, const xir_pass_settings *set);
void scope_leave(xir_context *ctx, pass_scope *scope);
/* Copies the newest settings of this thread. Returns false and leaves `out` unchanged if the thread has none. */
bool scope_current(xir_context *ctx, xir_pass_settings *out);

/* Saves the network as NN-NAME.json in the folder of dumps; makes the folder if it does not exist. */
xir_status manager_dump(const manager *m, const char *name);

/* Saves the network from before the failing step, and adds a note with the command that repeats the failure. If saving
 * fails, that is a note, too. */
void manager_reproduce(const manager *m, const pipeline_step *s, xir_network *before);

#endif
