/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A parsed pipeline, and running one step of it. */
#ifndef PASSES_PIPELINE_H
#define PASSES_PIPELINE_H

#include "manager/pass.h"

/* Steps are in the order of the text. The steps of a group follow it, up to its `end`. */
typedef struct pipeline_step {
    const xir_pass_decl *pass;        /* NULL: a group                          */
    const pass_setting  *settings;    /* in the order of the declaration        */
    size_t               n_settings;
    size_t               end;         /* the first step after it and its group  */
    uint32_t             depth;
    int64_t              limit;       /* of a group                             */
    xir_str              text;        /* canonical, without the steps of a group */
} pipeline_step;

struct xir_pipeline {
    xir_context   *ctx;
    arena          arena;
    pipeline_step *steps;
    size_t         n, room;
};

enum { PIPELINE_DEPTH = 16, PIPELINE_LIMIT = 100, PIPELINE_OPTIONS = 64 /* maximum per pass */ };
extern const char pipeline_fix[];   /* the keyword of a group; no pass can have this name */

/* Returns true if a text can name a pass or an option: lower-case letters, digits and dashes, starting with a
 * letter. */
bool pipeline_is_name(xir_str text);

/* The pass of a step (of NULL: none), or the registered one, with a name; NULL if there is none. */
const xir_pass_decl *pipeline_pass(const xir_pipeline *p, xir_context *ctx, xir_str name);

/* A pipeline of one pass; `options` is the text between its braces. On failure NULL, a finding and the status. */
xir_pipeline *pipeline_of_pass(xir_context *ctx, const xir_pass_decl *pass, xir_str options, xir_status *status,
                               xir_diags *why);

/* Defines the rules for registering passes in the context. */
void pass_rules_define(xir_context *ctx);

#endif
