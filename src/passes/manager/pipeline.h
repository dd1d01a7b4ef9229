/* A pipeline, taken apart, and running one step of it. */
#ifndef PASSES_PIPELINE_H
#define PASSES_PIPELINE_H

#include "manager/pass.h"

/* Steps lie in the order of the text; those of a group follow it, up to its end. */
typedef struct pipeline_step {
    const xir_pass_decl *pass;        /* NULL: a group                          */
    const pass_setting  *settings;    /* in the order of the declaration        */
    size_t               n_settings;
    size_t               end;         /* the next step that is not part of this */
    uint32_t             depth;
    int64_t              limit;       /* of a group                             */
    xir_str              text;        /* canonical, without what is in the group */
} pipeline_step;

struct xir_pipeline {
    xir_context   *ctx;
    arena          arena;
    pipeline_step *steps;
    size_t         n, room;
};

enum { PIPELINE_DEPTH = 16, PIPELINE_LIMIT = 100, PIPELINE_OPTIONS = 64 /* of a pass, at most */ };
extern const char pipeline_fix[];   /* the word that begins a group; no pass has this name */

/* Whether a text can be the name of a pass or of an option: lower case letters, digits, dashes, a letter first. */
bool pipeline_is_name(xir_str text);

/* A pipeline of one pass; `options` as between its braces. NULL with a finding and its status. */
xir_pipeline *pipeline_of_pass(xir_context *ctx, const xir_pass_decl *pass, xir_str options, xir_status *status,
                               xir_diags *why);

/* Says which passes may be registered in the context. */
void pass_rules_define(xir_context *ctx);

#endif
