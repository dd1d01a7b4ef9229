/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A running pass, as the library sees it. */
#ifndef PASSES_PASS_H
#define PASSES_PASS_H

#include <xir/pass.h>
#include "graph.h"

/* One option as the pipeline gives it. */
typedef struct pass_setting { xir_str name, value; } pass_setting;

/* One option of a running pass: where its value is from is decided, and the text is read. */
typedef struct pass_value {
    const char   *name;
    xir_pass_kind kind;
    xir_str       text;                                   /* of a text */
    union { int64_t integer; double real; bool flag; } as;
} pass_value;

struct xir_pass {
    const xir_pass_decl *decl;
    xir_network         *net;
    const pass_value    *values;      /* of all options                                      */
    size_t               n_values;
    const char          *misread;     /* an option that the pass asks for and does not have  */
    const xir_map       *config;      /* NULL: none */
    size_t               changes;
    budget              *within;      /* for constants, shared by the whole run             */
    xir_diags           *why;
};

/* The index of an option, whose row is copied to `out`; PASS_NO_OPTION if there is no option of this name. */
#define PASS_NO_OPTION SIZE_MAX
size_t pass_option_named(const xir_pass_decl *decl, xir_str name, xir_pass_option *out);
/* Checks a value against the option's kind; on a mismatch returns `code`, with a finding without a place. */
xir_status pass_check_value(const xir_pass_decl *decl, const xir_pass_option *o, xir_str value, xir_status code,
                            xir_diags *why);
/* Reads all options of a pass into `out`, which has room for them, at most PIPELINE_OPTIONS; returns how many. Values
 * are from the `n` settings of the pipeline, which have been checked, else from the configuration (NULL: none), else by
 * default. */
size_t pass_read_values(xir_context *ctx, const xir_pass_decl *decl, const pass_setting *settings, size_t n,
                        const xir_map *config, pass_value *out);
/* The registered pass whose name is close to this one; empty if none is. */
xir_str pass_near(xir_context *ctx, xir_str name);
/* Writes the text after "has no option 'x'": the successor of an option that the pass had, or a suggestion. Returns
 * `out`. */
enum { PASS_HINT_ROOM = 300 };
const char *pass_option_hint(const xir_pass_decl *decl, xir_str name, char out[PASS_HINT_ROOM]);
/* Checks every value of the configuration that belongs to an option: XIR_E_UNKNOWN, XIR_E_TYPE. Passes are those of the
 * pipeline, which may be NULL, and the registered ones. */
xir_status pass_check_config(xir_context *ctx, const struct xir_pipeline *p, const xir_map *config, xir_diags *why);
/* Checks a declaration as registering does, except that its name may be taken. */
xir_status pass_check(xir_context *ctx, const xir_pass_decl *decl, xir_diags *why);

/* The suggestion after an unknown name: "; did you mean 'fold'?". */
#define NEAR_FORMAT    "%s%.*s%s"
#define NEAR_ARGS(s)   (s).size ? "; did you mean '" : "", (int)(s).size, (s).size ? (s).data : "", (s).size ? "'?" : ""

#endif
