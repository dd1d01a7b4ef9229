/* Passes: functions that change a network, known by name, and pipelines of them written as text. docs/passes.md shows what each one does;
 * docs/writing-a-pass.md is a walk through a new one. */
#ifndef XIR_PASS_H
#define XIR_PASS_H

#include <xir/network.h>

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
    const char   *name;      /* "limit"                            */
    xir_pass_kind kind;
    const char   *preset;    /* as it would be written, "1M"       */
    const char   *describe;
} xir_pass_option;

/* Levels: a pass runs where the level asked for is at least its own, or where it is asked for by name. */
enum { XIR_LEVEL_NEEDED = 0, XIR_LEVEL_EXACT = 1, XIR_LEVEL_FAST = 2, XIR_LEVEL_MAX = 3 };

/* Constant, and there as long as the context. */
typedef struct xir_pass_decl {
    uint32_t               abi, size;   /* XIR_ABI, sizeof(xir_pass_decl): grows at its end      */
    const char            *name;        /* lower case, with dashes: "fold-batchnorm"             */
    const char            *describe;    /* one line                                             */
    int                    level;
    const char *const     *needs;       /* passes that must have run before, NULL at the end; NULL: none */
    const xir_pass_option *options;
    size_t                 n_options;
    /* Changes the network, or leaves it, or fails through xir_pass_fail: then the network may be half changed. */
    xir_status           (*run)(xir_pass *at);
} xir_pass_decl;

#define XIR_PASS_HEAD(name_, describe_) .abi = XIR_ABI, .size = sizeof(xir_pass_decl), .name = (name_), .describe = (describe_)

/* ---- for passes at work --------------------------------------------------------------------------------------- */

XIR_API xir_network *xir_pass_network(const xir_pass *at);
XIR_API xir_context *xir_pass_context(const xir_pass *at);
/* Options, by the names of the declaration: what the pipeline says, else the default. Another name is a programming error. */
XIR_API int64_t xir_pass_int(const xir_pass *at, const char *option);
XIR_API double  xir_pass_real(const xir_pass *at, const char *option);
XIR_API bool    xir_pass_bool(const xir_pass *at, const char *option);
XIR_API xir_str xir_pass_text(const xir_pass *at, const char *option);
/* The configuration of the whole run under a key; NULL: none. */
XIR_API const xir_any *xir_pass_config(const xir_pass *at, const char *key);
/* Counts changes: what a fixpoint asks for, and the report. No changes: the network is as it was. */
XIR_API void xir_pass_changed(xir_pass *at, size_t n);
/* Says what is wrong with an op (NULL: with the network) and returns `code`; or what people should know, without failing. */
XIR_API xir_status xir_pass_fail(xir_pass *at, xir_status code, const xir_op *op, const char *format, ...) XIR_PRINTF(4, 5);
XIR_API void       xir_pass_say(xir_pass *at, xir_severity severity, const xir_op *op, const char *format, ...) XIR_PRINTF(4, 5);
XIR_API xir_diags *xir_pass_diags(xir_pass *at);

/* ---- the list ------------------------------------------------------------------------------------------------- */

/* Registers a pass. XIR_E_EXISTS for a name that another one has, XIR_E_INVALID for a declaration that contradicts itself (no name, a
 * default that is none of its kind, a needed pass that is not registered), XIR_E_ABI. On failure the context is as before. */
XIR_API xir_status xir_pass_register(xir_context *ctx, const xir_pass_decl *decl, xir_diags *why);
/* By name, NULL if there is none; in the order of registration, NULL past the end. */
XIR_API const xir_pass_decl *xir_pass_find(xir_context *ctx, xir_str name);
XIR_API const xir_pass_decl *xir_pass_at(xir_context *ctx, size_t i);

/* Runs one pass with options as a pipeline writes them between its braces, "limit=1M"; NULL: the defaults. `changes` may be NULL. */
XIR_API xir_status xir_pass_run(xir_network *net, const char *name, const char *options, size_t *changes, xir_diags *why);

XIR_END

#endif
