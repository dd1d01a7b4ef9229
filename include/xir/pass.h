/* Passes: functions that change a network, known by name, and pipelines of them written as text. docs/passes.md
 * shows what each one does; docs/writing-a-pass.md is a walk through a new one. */
#ifndef XIR_PASS_H
#define XIR_PASS_H

#include <string.h>
#include <xir/serialize.h>

XIR_BEGIN

/* ---- what an author declares --------------------------------------------------------------------------------- */

/* A pass at work: its network, its options, and where it reports to. */
typedef struct xir_pass xir_pass;

typedef enum xir_pass_kind {
    XIR_PASS_INT,    /* "1000", "64K", "1M", "2G" (powers of 1000)      */
    XIR_PASS_REAL,   /* "1e-5"                                          */
    XIR_PASS_BOOL,   /* "true", "false"; the name alone is true         */
    XIR_PASS_TEXT    /* as it stands, or in double quotes               */
} xir_pass_kind;

/* An option: a row, as attributes are rows. */
typedef struct xir_pass_option {
    const char   *name;      /* "limit": lower case, with dashes   */
    xir_pass_kind kind;
    const char   *default_text; /* as it would be written, "1M"       */
    const char   *doc;
} xir_pass_option;

/* Levels: a run leaves out the passes above the level that it is given, if it is given one. */
enum {
    XIR_LEVEL_NEEDED = 1,    /* without it the others do not work: conversion, inference                */
    XIR_LEVEL_EXACT  = 2,    /* every number stays what it was                                          */
    XIR_LEVEL_FAST   = 3,    /* sums may be made in another order: the last digits change               */
    XIR_LEVEL_MAX    = 4     /* worth its time only where speed is everything                           */
};

/* Constant, and there as long as the context. */
typedef struct xir_pass_decl {
    uint32_t               abi, size;   /* XIR_ABI, sizeof(xir_pass_decl): grows at its end      */
    uint32_t               option_size; /* sizeof(xir_pass_option): options grow, too            */
    const char            *name;        /* lower case, with dashes: "fold-batchnorm"             */
    const char            *doc;         /* one line                                             */
    int                    level;       /* XIR_LEVEL_...; 0 is XIR_LEVEL_NEEDED                   */
    const char *const     *needs;       /* passes that must have run before, NULL at the end; NULL: none.
                                           A run that has not run one runs it first, with its defaults  */
    const xir_pass_option *options;
    size_t                 n_options;
    /* Changes the network, or leaves it, or fails through xir_pass_fail: then the network may be half changed. */
    xir_status           (*run)(xir_pass *at);
    void                  *user;        /* the declarer's own: `run` asks for it, xir_pass_user   */
} xir_pass_decl;

#define XIR_PASS_HEAD(name_, doc_)                                                                                   \
    .abi = XIR_ABI, .size = sizeof(xir_pass_decl), .option_size = sizeof(xir_pass_option), .name = (name_),          \
    .doc = (doc_)

/* Copies option `i` of a pass; what its declaration does not know is zero. False past the end. */
static inline bool xir_pass_option_at(const xir_pass_decl *decl, size_t i, xir_pass_option *out) {
    if (i >= decl->n_options) return false;
    memset(out, 0, sizeof *out);
    memcpy(out, (const char *)decl->options + i * decl->option_size,
           decl->option_size < sizeof *out ? decl->option_size : sizeof *out);
    return true;
}

/* ---- for passes at work --------------------------------------------------------------------------------------- */

/* The network to change, and its context. */
XIR_API xir_network *xir_pass_network(const xir_pass *at);
XIR_API xir_context *xir_pass_context(const xir_pass *at);
/* The `user` of the declaration. */
XIR_API void        *xir_pass_user(const xir_pass *at);
/* Options, by the names of the declaration: what the pipeline says, else the configuration of the run under
 * "pass.option", else the default. Another name is a programming error: 0 or the empty text. */
XIR_API int64_t xir_pass_int(const xir_pass *at, const char *option);
XIR_API double  xir_pass_real(const xir_pass *at, const char *option);
XIR_API bool    xir_pass_bool(const xir_pass *at, const char *option);
XIR_API xir_str xir_pass_text(const xir_pass *at, const char *option);
/* What the configuration of the whole run has under a key; NULL: nothing. */
XIR_API const xir_any *xir_pass_config(const xir_pass *at, const char *key);
/* Counts changes: what a group asks for, and the report. A pass that counts none leaves the network as it was, ids
 * and names included; a verified run compares. */
XIR_API void xir_pass_changed(xir_pass *at, size_t n);
/* Says what is wrong with an op (NULL: with the network) and returns `code`; or what people should know, without
 * failing. */
XIR_API xir_status xir_pass_fail(xir_pass *at, xir_status code, const xir_op *op, const char *format,
                                 ...) XIR_PRINTF(4, 5);
XIR_API void       xir_pass_diag(xir_pass *at, xir_severity severity, const xir_op *op, const char *format,
                                 ...) XIR_PRINTF(4, 5);
XIR_API xir_diags *xir_pass_diags(xir_pass *at);

/* ---- the list ------------------------------------------------------------------------------------------------- */

/* Registers a pass. XIR_E_EXISTS for a name that another one has, XIR_E_INVALID for a declaration that contradicts
 * itself (no name, a default that is none of its kind, a needed pass that is not registered), XIR_E_ABI. On failure
 * the context is as before. */
XIR_API xir_status xir_pass_register(xir_context *ctx, const xir_pass_decl *decl, xir_diags *why);
/* By name, NULL if there is none; in the order of registration, NULL past the end. */
XIR_API const xir_pass_decl *xir_pass_find(xir_context *ctx, xir_str name);
XIR_API const xir_pass_decl *xir_pass_at(xir_context *ctx, size_t i);

/* Runs one pass with options as a pipeline writes them between its braces, "limit=1M"; NULL: the defaults. What it
 * needs is not run. `changes` may be NULL. Fails as xir_pipeline_run. */
XIR_API xir_status xir_pass_run(xir_network *net, const char *name, const char *options, size_t *changes,
                                xir_diags *why);

/* ---- pipelines ------------------------------------------------------------------------------------------------ */

/* Passes in the order in which they run, from a text:
 *
 *     pipeline = [ step { "," step } ]
 *     step     = name [ options ]  |  "fix" [ options ] "(" pipeline ")"
 *     options  = "{" [ option { "," option } ] "}"
 *     option   = name [ "=" value ]
 *     value    = text without blanks and , ( ) { } "  |  '"' anything, with \" and \\ for " and \ '"'
 *
 * with blanks and line ends between them. fix(...) repeats its steps until all of them, one after the other, have
 * changed nothing; it is XIR_E_LIMIT if they still do after as many rounds as its one option says,
 * fix{limit=100}(...). Groups may be 16 deep. */
typedef struct xir_pipeline xir_pipeline;

/* NULL with a finding that has line and column: XIR_E_SYNTAX, XIR_E_UNKNOWN no such pass or option (with the one
 * that was perhaps meant), XIR_E_TYPE a value of another kind, XIR_E_EXISTS an option twice, XIR_E_LIMIT too deep,
 * XIR_E_MEMORY. It keeps nothing of the text, and the context alive. A pipeline does not change: several threads may
 * run it, each on a network of its own. */
XIR_API xir_pipeline *xir_pipeline_parse(xir_context *ctx, xir_str text, xir_diags *why);
XIR_API void          xir_pipeline_free(xir_pipeline *pipeline);   /* accepts NULL */
/* The canonical text: no blanks, options in the order of their declaration, quotes where they are needed. Parsed, it
 * is the same pipeline. */
XIR_API xir_status    xir_pipeline_print(const xir_pipeline *pipeline, xir_text_buffer *out);
/* What `xir opt` runs if nobody says what: from an ONNX dialect network, or one of ours, to an optimised one.
 * Static. */
XIR_API const char   *xir_default_pipeline(void);

/* ---- what a run says ------------------------------------------------------------------------------------------ */

typedef enum xir_pass_fate {
    XIR_PASS_RAN,
    XIR_PASS_DISABLED,       /* left out: the settings disable it       */
    XIR_PASS_ABOVE_LEVEL     /* left out: it is above the level         */
} xir_pass_fate;

/* One step of the pipeline, or a pass that was put before one because that needs it. */
typedef struct xir_pass_row {
    xir_str              text;          /* "fold{limit=1M}", "fix"                                        */
    const xir_pass_decl *pass;          /* NULL: a group                                                  */
    uint32_t             depth;         /* how many groups it is in                                       */
    bool                 added;         /* another needs it                                               */
    xir_pass_fate        fate;
    size_t               runs;          /* of a group: rounds                                             */
    size_t               changes;
    uint64_t             ns;            /* in the pass itself; of a group: in its passes                  */
    size_t               ops_before;    /* of its first run */
    size_t               ops_after;     /* of its last run  */
} xir_pass_row;

/* Rows in the order of their first run. A report may be used again: every run empties it. */
typedef struct xir_pass_report xir_pass_report;
XIR_API xir_pass_report    *xir_pass_report_new(xir_context *ctx);
XIR_API void                xir_pass_report_free(xir_pass_report *report);   /* accepts NULL */
/* NULL past the end. Valid until the report is used again. */
XIR_API const xir_pass_row *xir_pass_report_at(const xir_pass_report *report, size_t i);

/* ---- running -------------------------------------------------------------------------------------------------- */

/* What a watch is told: of a pass that is about to run, or has run. */
typedef struct xir_pass_event {
    const xir_pass_decl *pass;
    xir_str              text;       /* the step, "fold{limit=1M}"              */
    const xir_network   *net;        /* only to be looked at                    */
    size_t               run;        /* the number of the run, from 1           */
    size_t               changes;    /* after it: what it says it changed       */
    xir_diags           *why;
} xir_pass_event;

/* Who watches a run: `before` every pass and `after` each that did not fail. Either may be NULL; what is no XIR_OK
 * ends the run, as if the pass had failed. */
typedef struct xir_pass_watch {
    uint32_t     size;      /* XIR_INIT(xir_pass_watch) */
    xir_status (*before)(void *user, const xir_pass_event *event);
    xir_status (*after)(void *user, const xir_pass_event *event);
    void        *user;
    const char  *options;   /* of `xir opt`, that make it watch again: "--prove"; NULL: none */
} xir_pass_watch;

/* Lists of names end with NULL; NULL is the empty list. */
typedef struct xir_pass_settings {
    uint32_t              size;         /* XIR_INIT(xir_pass_settings) */
    /* XIR_LEVEL_...: passes above it are left out; 0: none are. Needed passes stay */
    int                   level;
    /* passes that are left out wherever they stand                                 */
    const char *const    *disabled;
    /* passes that run whatever their level                                         */
    const char *const    *required;
    const xir_map        *config;       /* "pass.option": for every place where the pipeline does not say it; other keys
                                           are for passes that know them. Values are texts, numbers, bools               */
    /* what passes need has been run already                                        */
    bool                  no_needs;
    bool                  verify;       /* after every pass the network is validated (from when it is valid first), and
                                           compared with what it was if the pass says that it changed nothing             */
    const char           *dump_dir;     /* a folder, made if need be: the network at the start in 00-start.json, with its
                                           parameters in a .raw, and after run NN, if it changed something, in NN-pass.json */
    const char           *reproduce;    /* a file: where the network before a failing pass is saved; a note then has the
                                           command that repeats the failure                                              */
    const xir_pass_watch *watches;      /* each with its size, the same for all */
    size_t                n_watches;
    bool                (*cancel)(void *user);   /* asked before every pass, and while constants are computed; true ends the run:
                                                    XIR_E_CANCELLED. NULL: never                                      */
    void                 *cancel_user;
} xir_pass_settings;

/* Whether settings name passes and options that there are, with values of their kinds: XIR_E_UNKNOWN, XIR_E_TYPE;
 * XIR_E_ABI, XIR_E_UNSUPPORTED. */
XIR_API xir_status xir_pass_settings_check(xir_context *ctx, const xir_pass_settings *settings, xir_diags *why);

/* Runs a pipeline; `settings` and `report` may be NULL. Stops at the first failure: of a pass, with what it says; or
 *   XIR_E_UNKNOWN, _TYPE  what xir_pass_settings_check finds, before anything has run
 *   XIR_E_INVALID         a disabled pass is needed; a pass is not honest: a building call failed unnoticed, or of a verified run,
 *                         the network changed although the pass says that it did not
 *   what validation says  of a verified run: the network is not valid any more; the finding names the pass
 *   XIR_E_LIMIT           a group does not come to rest
 *   XIR_E_CANCELLED       `cancel` has said so
 *   XIR_E_IO              a dump cannot be written
 * The network is then as the failing pass left it, perhaps half changed: xir_pipeline_run_copy leaves it alone. */
XIR_API xir_status xir_pipeline_run(const xir_pipeline *pipeline, xir_network *net, const xir_pass_settings *settings,
                                    xir_pass_report *report, xir_diags *why);
/* Runs it on a copy, which shares the bytes of parameters until they are written, and returns that; NULL on failure. */
XIR_API xir_network *xir_pipeline_run_copy(const xir_pipeline *pipeline, const xir_network *net,
                                           const xir_pass_settings *settings, xir_pass_report *report, xir_diags *why);

XIR_END

#endif
