/* A pass at work, from inside; and the list of built-in passes. */
#ifndef PASSES_PASS_H
#define PASSES_PASS_H

#include <xir/pass.h>
#include "graph.h"

/* One option as a pipeline gives it. Texts are the caller's. */
typedef struct pass_setting { xir_str name, value; } pass_setting;

struct xir_pass {
    const xir_pass_decl *decl;
    xir_network         *net;
    const pass_setting  *settings;    /* what the pipeline says; defaults are not among them */
    size_t               n_settings;
    const xir_map       *config;      /* NULL: none */
    size_t               changes;
    xir_diags           *why;
};

/* "limit=1M,strict" against the options of a pass: XIR_E_UNKNOWN with a suggestion, XIR_E_TYPE, XIR_E_SYNTAX. */
xir_status pass_check_setting(const xir_pass_decl *decl, const pass_setting *setting, xir_diags *why);

#endif
