/* A pass at work, from inside; and the list of built-in passes. */
#ifndef PASSES_PASS_H
#define PASSES_PASS_H

#include <xir/pass.h>
#include "graph.h"

/* One option as a pipeline gives it. */
typedef struct pass_setting { xir_str name, value; } pass_setting;

struct xir_pass {
    const xir_pass_decl *decl;
    xir_network         *net;
    const pass_setting  *settings;    /* what the pipeline says; defaults are not among them */
    size_t               n_settings;
    const xir_map       *config;      /* NULL: none */
    size_t               changes;
    budget              *within;      /* of the whole run: for constants that are computed   */
    xir_diags           *why;
};

/* The number of an option, which is copied; PASS_NO_OPTION: there is none of this name. */
#define PASS_NO_OPTION SIZE_MAX
size_t pass_option_named(const xir_pass_decl *decl, xir_str name, xir_pass_option *out);
/* `code`, with a finding that has no place, for a value that is none of the option's kind. */
xir_status pass_check_value(const xir_pass_decl *decl, const xir_pass_option *o, xir_str value, xir_status code,
                            xir_diags *why);
/* The registered pass, or the option, that was perhaps meant by a name; empty: none is near. */
xir_str pass_near(xir_context *ctx, xir_str name);
xir_str pass_option_near(const xir_pass_decl *decl, xir_str name);
/* Every value of the configuration that is of an option of a pass: XIR_E_UNKNOWN, XIR_E_TYPE. */
xir_status pass_check_config(xir_context *ctx, const xir_map *config, xir_diags *why);

/* What words of an unknown thing say of the one that was meant: "; did you mean 'fold'?". */
#define NEAR_FORMAT    "%s%.*s%s"
#define NEAR_ARGS(s)   (s).size ? "; did you mean '" : "", (int)(s).size, (s).size ? (s).data : "", (s).size ? "'?" : ""

#endif
