/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Passes: named functions that change a network, and pipelines of them, written as text. docs/passes.md shows what each
 * pass does; docs/writing-a-pass.md shows how to write one. */
#ifndef XIR_PASS_H
#define XIR_PASS_H

#include <string.h>
#include <xir/serialize.h>
#include <xir/view.h>

XIR_BEGIN

/* ---- what an author declares --------------------------------------------------------------------------------- */

/* A running pass: its network, its options and its findings. */
typedef struct xir_pass xir_pass;

typedef enum xir_pass_kind {
    XIR_PASS_INT,    /* "1000", "64K", "1M", "2G" (powers of 1000)      */
    XIR_PASS_REAL,   /* "1e-5"                                          */
    XIR_PASS_BOOL,   /* "true", "false"; the name alone is true         */
    XIR_PASS_TEXT    /* bare, or in double quotes                       */
} xir_pass_kind;

/* An option, described by a row as attributes are. */
typedef struct xir_pass_option {
    const char   *name;      /* "limit": lower case, with dashes   */
    xir_pass_kind kind;
    const char   *default_text; /* as a pipeline would write it, "1M" */
    const char   *doc;
} xir_pass_option;

/* An option that a pass had. Pipelines and configurations that still set it are refused with what replaces it. */
typedef struct xir_pass_removed {
    const char *name;
    const char *instead;     /* "custom writes the ops that ONNX has no operators for" */
} xir_pass_removed;

/* Levels. A run with a level skips the passes above it. */
enum {
    XIR_LEVEL_NEEDED = 1,    /* other passes do not work without it: conversion, inference              */
    XIR_LEVEL_EXACT  = 2,    /* every computed number stays the same                                    */
    XIR_LEVEL_FAST   = 3,    /* sums may be reordered: the last digits change                           */
    XIR_LEVEL_MAX    = 4     /* worth its compile time only if speed matters most                       */
};

/* Must be constant and live as long as the context. */
typedef struct xir_pass_decl {
    uint32_t               abi, size;   /* XIR_ABI, sizeof(xir_pass_decl): may grow at its end   */
    uint32_t               option_size; /* sizeof(xir_pass_option): options may grow too         */
    const char            *name;        /* lower case, with dashes: "fold-batchnorm"             */
    const char            *doc;         /* one line                                             */
    int                    level;       /* XIR_LEVEL_...; 0 is XIR_LEVEL_NEEDED                   */
    const char *const     *needs;       /* passes that must run earlier, ended by NULL; NULL: none. A run that lacks
                                           one runs it first, with its defaults                  */
    const xir_pass_option *options;
    size_t                 n_options;
    /* Changes the network, or leaves it unchanged, or fails through xir_pass_fail: then it may be partly changed. */
    xir_status           (*run)(xir_pass *at);
    void                  *user;        /* for `run`, which gets it with xir_pass_user           */
    uint64_t               flags;       /* XIR_PASS_OVERRIDES, or 0                               */
    const xir_pass_removed *removed;    /* options that it had, ended by a row without a name; NULL: none */
} xir_pass_decl;

/* Registering the pass takes the place of the one that has its name, if there is one. Otherwise that is refused. */
enum { XIR_PASS_OVERRIDES = 1 };

#define XIR_PASS_HEAD(name_, doc_)                                                                                   \
    .abi = XIR_ABI, .size = sizeof(xir_pass_decl), .option_size = sizeof(xir_pass_option), .name = (name_),          \
    .doc = (doc_)

/* Copies option `i` of a pass. Members that the declaration does not have are zero. False past the end. */
static inline bool xir_pass_option_at(const xir_pass_decl *decl, size_t i, xir_pass_option *out) {
    if (i >= decl->n_options) return false;
    memset(out, 0, sizeof *out);
    memcpy(out, (const char *)decl->options + i * decl->option_size,
           decl->option_size < sizeof *out ? decl->option_size : sizeof *out);
    return true;
}

/* ---- for running passes --------------------------------------------------------------------------------------- */

/* The network to change, and its context. */
XIR_API xir_network *xir_pass_network(const xir_pass *at);
XIR_API xir_context *xir_pass_context(const xir_pass *at);
/* The `user` of the declaration. */
XIR_API void        *xir_pass_user(const xir_pass *at);
/* Options, by their declared names: the value from the pipeline, otherwise from the configuration of the run under
 * "pass.option", otherwise the default. Asking for a name that the pass does not declare with this kind gives 0 or the
 * empty text, and fails the pass when it returns: XIR_E_INVALID. What it has changed remains. */
XIR_API int64_t xir_pass_int(const xir_pass *at, const char *option);
XIR_API double  xir_pass_real(const xir_pass *at, const char *option);
XIR_API bool    xir_pass_bool(const xir_pass *at, const char *option);
XIR_API xir_str xir_pass_text(const xir_pass *at, const char *option);
/* The value of a key in the configuration of the whole run; NULL if there is none. */
XIR_API const xir_any *xir_pass_config(const xir_pass *at, const char *key);
/* Adds to the number of changes, which groups and the report use. A pass that counts none must leave the network
 * unchanged, ids and names included; a verified run checks this. */
XIR_API void xir_pass_changed(xir_pass *at, size_t n);
/* Reports what is wrong with an op (NULL: with the network) and returns `code`; or adds a finding without failing. */
XIR_API xir_status xir_pass_fail(xir_pass *at, xir_status code, const xir_op *op, const char *format,
                                 ...) XIR_PRINTF(4, 5);
XIR_API void       xir_pass_diag(xir_pass *at, xir_severity severity, const xir_op *op, const char *format,
                                 ...) XIR_PRINTF(4, 5);
XIR_API xir_diags *xir_pass_diags(xir_pass *at);

/* ---- the list ------------------------------------------------------------------------------------------------- */

/* Registers a pass. XIR_E_EXISTS if another pass has the name and this one does not override it, XIR_E_INVALID if the
 * declaration contradicts itself (no name, a default of the wrong kind, a needed pass that is not registered, or one
 * that would need this one), XIR_E_ABI. On failure the context is unchanged. */
XIR_API xir_status xir_pass_register(xir_context *ctx, const xir_pass_decl *decl, xir_diags *why);
/* Removes a pass, which may be one of the library, with all its names. Returns XIR_E_UNKNOWN if no pass has the name,
 * and XIR_E_IN_USE if another pass needs it.
 *
 * Pipelines that exist keep the passes that they were made with, removed and overridden ones too; only passes that they
 * need are looked up when they run. So one thread may register, override and remove passes while others run pipelines;
 * and declarations must live as long as the context even then. */
XIR_API xir_status xir_pass_remove(xir_context *ctx, const char *name, xir_diags *why);
/* The first returns the pass of a name, or NULL if no pass has it. The second returns the i-th pass in the order of
 * registration, or NULL past the end. A pass that overrides another has its place. */
XIR_API const xir_pass_decl *xir_pass_find(xir_context *ctx, xir_str name);
XIR_API const xir_pass_decl *xir_pass_at(xir_context *ctx, size_t i);

/* Runs one pass, with options as a pipeline writes them between braces, "limit=1M"; NULL: the defaults. Passes that it
 * needs are not run. Otherwise the settings are the current ones of this thread. `changes` may be NULL. Fails like
 * xir_pipeline_run. */
XIR_API xir_status xir_pass_run(xir_network *net, const char *name, const char *options, size_t *changes,
                                xir_diags *why);

/* ---- pipelines ------------------------------------------------------------------------------------------------ */

/* Passes in the order in which they run, parsed from a text:
 *
 *     pipeline = [ step { "," step } ]
 *     step     = name [ options ]  |  "fix" [ options ] "(" pipeline ")"
 *     options  = "{" [ option { "," option } ] "}"
 *     option   = name [ "=" value ]
 *     value    = text without blanks and , ( ) { } "  |  '"' anything, with \" and \\ for " and \ '"'
 *
 * Blanks and line ends may stand between them. fix(...) repeats its steps until one round of them changes nothing. If
 * they still change something after as many rounds as its only option allows, fix{limit=100}(...), it fails with
 * XIR_E_LIMIT. Groups may be nested 16 deep. */
typedef struct xir_pipeline xir_pipeline;

/* Parses a pipeline. It copies what it needs of the text and keeps the context alive. Several threads may run a
 * pipeline, each on its own network, while nobody adds steps. NULL with a finding that has line and column:
 * XIR_E_SYNTAX; XIR_E_UNKNOWN for an unknown pass or option, with a suggestion; XIR_E_TYPE for a value of the wrong
 * kind; XIR_E_EXISTS for a duplicate option; XIR_E_LIMIT if nested too deep; XIR_E_MEMORY. */
XIR_API xir_pipeline *xir_pipeline_parse(xir_context *ctx, xir_str text, xir_diags *why);
XIR_API void          xir_pipeline_free(xir_pipeline *pipeline);   /* accepts NULL */
/* Prints the canonical text: no blanks, options in the order of their declaration, quotes only where needed. Parsing it
 * gives an equal pipeline. */
XIR_API xir_status    xir_pipeline_print(const xir_pipeline *pipeline, xir_text_buffer *out);
/* Makes a pipeline without steps; NULL: XIR_E_MEMORY. */
XIR_API xir_pipeline *xir_pipeline_new(xir_context *ctx, xir_diags *why);
/* Adds a step at the end: a pass, which need not be registered, but must live as long as the pipeline and its reports.
 * `options` are written as between braces; NULL: none. Settings of a run name such a pass as others, and passes that it
 * needs must be registered. Statuses of xir_pass_register (but names may be taken) and of xir_pipeline_parse; then the
 * pipeline is unchanged. */
XIR_API xir_status    xir_pipeline_add(xir_pipeline *pipeline, const xir_pass_decl *pass, const char *options,
                                       xir_diags *why);
/* Adds all steps of another pipeline of the context, which may be the same one. If `limit` is not 0, they become a
 * group that is repeated, fix{limit=…}(…). XIR_E_INVALID for another context, XIR_E_BOUNDS for a negative limit,
 * XIR_E_LIMIT if nested too deep, XIR_E_MEMORY; then the pipeline is unchanged. */
XIR_API xir_status    xir_pipeline_append(xir_pipeline *pipeline, const xir_pipeline *steps, int64_t limit,
                                          xir_diags *why);
/* The pipeline that `xir opt` runs by default: from an ONNX dialect network, or one of XIR, to an optimised one.
 * Static. */
XIR_API const char   *xir_default_pipeline(void);

/* ---- the report of a run ---------------------------------------------------------------------------------------- */

typedef enum xir_pass_fate {
    XIR_PASS_RAN,
    XIR_PASS_DISABLED,       /* skipped: the settings disable it        */
    XIR_PASS_ABOVE_LEVEL     /* skipped: it is above the level          */
} xir_pass_fate;

/* One step of the pipeline, or a pass that was inserted before a step because the step needs it. */
typedef struct xir_pass_row {
    xir_str              text;          /* "fold{limit=1M}", "fix"                                        */
    const xir_pass_decl *pass;          /* NULL: a group                                                  */
    uint32_t             depth;         /* how many groups it is in                                       */
    bool                 added;         /* inserted, because another pass needs it                        */
    xir_pass_fate        fate;
    size_t               runs;          /* for a group: rounds                                            */
    size_t               changes;
    uint64_t             ns;            /* time in the pass itself; for a group: in its passes            */
    size_t               ops_before;    /* of its first run */
    size_t               ops_after;     /* of its last run  */
} xir_pass_row;

/* Rows in the order of their first run. A report can be reused: every run clears it. */
typedef struct xir_pass_report xir_pass_report;
XIR_API xir_pass_report    *xir_pass_report_new(xir_context *ctx);
XIR_API void                xir_pass_report_free(xir_pass_report *report);   /* accepts NULL */
/* NULL past the end. Valid until the report is reused. */
XIR_API const xir_pass_row *xir_pass_report_at(const xir_pass_report *report, size_t i);

/* ---- running -------------------------------------------------------------------------------------------------- */

/* The argument of a watch: a pass that is about to run, or has run. */
typedef struct xir_pass_event {
    const xir_pass_decl *pass;
    xir_str              text;       /* the step, "fold{limit=1M}"              */
    const xir_network   *net;        /* read only                               */
    size_t               run;        /* the number of the run, from 1           */
    size_t               changes;    /* after the pass: the changes it counted  */
    xir_diags           *why;
} xir_pass_event;

/* A watch on a run: `before` is called before every pass, `after` after each one that did not fail. Either may be NULL.
 * Any status but XIR_OK ends the run as if the pass had failed. */
typedef struct xir_pass_watch {
    uint32_t     size;      /* XIR_INIT(xir_pass_watch) */
    xir_status (*before)(void *user, const xir_pass_event *event);
    xir_status (*after)(void *user, const xir_pass_event *event);
    void        *user;
    const char  *options;   /* the `xir opt` options that recreate it: "--prove"; NULL: none */
} xir_pass_watch;

/* Lists of names end with NULL; NULL is the empty list. */
typedef struct xir_pass_settings {
    uint32_t              size;         /* XIR_INIT(xir_pass_settings) */
    /* XIR_LEVEL_...: skip passes above this level, except needed ones; 0: skip none. */
    int                   level;
    /* Passes that are skipped everywhere. */
    const char *const    *disabled;
    /* Passes that run whatever their level. */
    const char *const    *required;
    /* "pass.option": the value where the pipeline does not set the option. Other keys are for passes that know them.
     * Values are texts, numbers, bools. */
    const xir_map        *config;
    /* The passes that others need have already been run. */
    bool                  no_needs;
    /* After every pass, validate the network and check its addresses (once both have been sound). If the pass counted
     * no changes, check that it made none. */
    bool                  verify;
    /* A folder, created if missing. It gets the network at the start as 00-start.json, with its parameters in a .raw,
     * and the network after each run NN that changed something as NN-pass.json. */
    const char           *dump_dir;
    /* A file: the network before a failing pass is saved there, and a note has the command that reproduces the
     * failure. */
    const char           *reproduce;
    const xir_pass_watch *watches;      /* each with its size, the same for all */
    size_t                n_watches;
    /* Called before every pass, while constants are computed, and while `plan` searches. True ends the run:
     * XIR_E_CANCELLED. NULL: never. */
    bool                (*cancel)(void *user);
    void                 *cancel_user;
    /* The greatest number of threads that compute a constant, the calling one included; 0 and 1: no others. They are
     * made for operations that take long, and have ended when the constant exists. The constants have the same bits
     * for any number. */
    size_t                threads;
} xir_pass_settings;

/* Checks that the settings name existing passes and options, with values of the right kinds: XIR_E_UNKNOWN, XIR_E_TYPE,
 * XIR_E_ABI, XIR_E_UNSUPPORTED. */
XIR_API xir_status xir_pass_settings_check(xir_context *ctx, const xir_pass_settings *settings, xir_diags *why);

/* Settings for all runs of a thread that have none of their own (NULL): from xir_pass_scope_new until
 * xir_pass_scope_free, in that thread and context. Scopes nest; the newest counts. What the settings point to must live
 * as long. NULL with a finding: what xir_pass_settings_check finds, XIR_E_MEMORY. The thread that has made a scope
 * frees it; NULL is accepted. */
typedef struct xir_pass_scope xir_pass_scope;
XIR_API xir_pass_scope *xir_pass_scope_new(xir_context *ctx, const xir_pass_settings *settings, xir_diags *why);
XIR_API void            xir_pass_scope_free(xir_pass_scope *scope);
/* Copies the settings that are current in this thread, up to out->size; false if it has none: then members are zero.
 * In a pass and in what it calls, they are those of the run, without no_needs, watches, dump_dir and reproduce, which
 * belong to its network: so a run within a run has the same level, passes and configuration. */
XIR_API bool xir_pass_current(xir_context *ctx, xir_pass_settings *out);
/* Returns true if the current settings let a pass run: it is not disabled, and not above the level or required. True
 * without settings. */
XIR_API bool xir_pass_is_enabled(xir_context *ctx, const xir_pass_decl *pass);

/* Runs a pipeline. `report` may be NULL; so may `settings`: then they are the current ones of this thread, if it has
 * some. Stops at the first failure: that of a pass, or
 *   XIR_E_UNKNOWN, _TYPE  xir_pass_settings_check fails, before anything has run
 *   XIR_E_INVALID         a disabled pass is needed; or a pass breaks its contract: it ignored a failed building call,
 *                         or, in a verified run, it changed the network but counted no change
 *   that of validation    in a verified run, the network is no longer valid; the finding names the pass
 *   XIR_E_LIMIT           a group does not reach a fixed point
 *   XIR_E_CANCELLED       `cancel` returned true
 *   XIR_E_IO              a dump cannot be written
 * The network is then as the failing pass left it, perhaps partly changed. xir_pipeline_run_copy does not change it. */
XIR_API xir_status xir_pipeline_run(const xir_pipeline *pipeline, xir_network *net, const xir_pass_settings *settings,
                                    xir_pass_report *report, xir_diags *why);
/* Runs it on a copy, which shares parameter bytes until they are written, and returns the copy; NULL on failure. */
XIR_API xir_network *xir_pipeline_run_copy(const xir_pipeline *pipeline, const xir_network *net,
                                           const xir_pass_settings *settings, xir_pass_report *report, xir_diags *why);

/* Runs it on a view, with any passes: they get the view as a network (xir_view_to_network), whose Input and Output are
 * the values that enter and leave it, and what they leave takes the place of the view's ops. If a pass has changed
 * anything, all ops of the view and their outputs are new records; those that the passes kept have their ids (sub ops
 * get new ones). Ops outside are not changed, except that some run later if they depend on the view, and that an input
 * of an op that is not placed becomes absent if it is a value inside the view. Input and Output ops of the view stay as
 * they are. Places in findings, reports, watches and dumps are about the view's network; what a pass changes of the
 * network itself, such as its tags, is not kept. On return the view is renewed and has the new ops. Linear in the
 * network. Statuses of xir_pipeline_run; and
 *   XIR_E_STALE    the view is stale
 *   XIR_E_IN_USE   xir_view_rewrite or xir_pipeline_run_view runs on this view
 *   XIR_E_INVALID  the view is not convex, or the passes have changed the number of its inputs or outputs
 *   XIR_E_TYPE     they have changed the type of an input or output
 * On failure the network is unchanged, though other views of it may be stale, unless only renewing the view has
 * failed: then it is stale, XIR_E_MEMORY. */
XIR_API xir_status xir_pipeline_run_view(const xir_pipeline *pipeline, xir_view *view,
                                         const xir_pass_settings *settings, xir_pass_report *report, xir_diags *why);

XIR_END

#endif
