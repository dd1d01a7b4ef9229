/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The passes that convert XIR's ops to those of a dialect (XIR_DIALECT_PASS). What the format can't say stays, and is
 * listed. */
#include <stdio.h>
#include "walk/lost.h"
#include "walk/walk.h"
#include "manager/pass.h"
#include "support/calls.h"

const xir_pass_option xir_dialect_pass_options[1] = { XIR_DIALECT_STRICT };

const xir_pass *xir_node_pass(const xir_node *at) { return at->c->back.to ? at->c->back.pass : NULL; }

static bool is_end(const xir_op *op) { return xir_op_is(op, xir_input_class()) || xir_op_is(op, xir_output_class()); }

/* The hooks of the dialect around the conversion. The end is for networks that are all of the format. */
static bool is_all_of(const xir_network *net, const xir_dialect_decl *to) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        if (!is_end(op) && !dialect_has_class(to, op->cls)) return false;
    return true;
}

bool convert_has_ops_of_xir(const xir_network *net) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        if (!is_end(op) && !xir_class_is_opaque(op->cls)) return true;
    return false;
}

xir_status convert_need_static(xir_pass *pass, const char *because) {
    const xir_op *input = xir_network_input_op(xir_pass_network(pass));
    for (size_t i = 0; input && i < xir_op_output_count(input); i++) {
        const xir_value *v = xir_op_output(input, (int64_t)i);
        const xir_str name = xir_value_name(v);
        if (!xir_type_as_tensor(xir_value_type(v)) || !xir_type_has_unknown_dim(xir_value_type(v))) continue;
        return xir_pass_fail(pass, XIR_E_INVALID, input,
                             "input %zu '%.*s' has open dims, but %s: expected dims, which --input-shape gives", i,
                             CLIP_TO(name, 80), because);
    }
    return XIR_OK;
}

/* A format without functions has no op with a body of ops. */
static xir_status open_calls(xir_pass *at, const conversion *c) {
    size_t n;
    const xir_status status = inline_calls(at, XIR_STR(""), &n);
    if (status || !n) return status;
    return xir_diags_add(at->why, XIR_NOTE, XIR_OK, XIR_STR(""), "%s%zu call%s inlined: %s has no calls", c->prefix, n,
                         n == 1 ? " is" : "s are", c->back.to->name);
}

static xir_status run(xir_pass *at, conversion *c) {
    const xir_dialect_decl *to = c->back.to;
    xir_status status = DECLARED(to, calls) ? XIR_OK : open_calls(at, c);
    if (!status && !lost_begin(c->back.lost, c)) status = diag_memory(at->why);
    if (!status && DECLARED(to, begin_back)) status = to->begin_back(at);
    if (!status && DECLARED(to, calls)) status = to->calls(at);
    if (!status) status = back_begin(c) ? conversion_run(c) : diag_memory(at->why);
    if (status || !is_all_of(c->net, to)) return status;
    if (DECLARED(to, end_back)) status = to->end_back(at);
    return status ? status : lost_report(c->back.lost, at);
}

xir_status xir_dialect_pass_run(xir_pass *at) {
    conversion c;
    char prefix[80];
    lost had;
    const xir_dialect_decl *to = xir_pass_user(at);
    snprintf(prefix, sizeof prefix, "%.70s: ", at->decl->name);
    conversion_begin(&c, at->net, at->why);
    c.back.to = to;
    c.back.pass = at;
    c.back.lost = &had;
    c.dialect = NULL;
    c.strict = xir_pass_bool(at, "strict");
    c.within = at->within;
    c.prefix = prefix;
    const xir_status status = run(at, &c);
    xir_pass_changed(at, c.changed);
    lost_free(&had);
    back_end(&c);
    conversion_end(&c);
    return status;
}

/* ---- bodies of calls -------------------------------------------------------------------------------------------- */

static xir_status run_before_back(const xir_dialect_decl *to, xir_network *body, xir_diags *why) {
    const char *before = DECLARED(to, before_back);
    if (!before) return XIR_OK;
    xir_pipeline *p = xir_pipeline_parse(body->ctx, xir_str_of(before), why);
    const xir_status status = p ? xir_pipeline_run(p, body, NULL, NULL, why) : XIR_E_MEMORY;
    xir_pipeline_free(p);
    return status;
}

/* Findings about a body have places in it, and its ops are reported again once the call is inlined. */
static xir_status convert_body(const xir_pass *at, xir_network *body, pass_value *values, xir_diags *why) {
    xir_pass inner = *at;
    for (size_t i = 0; i < at->n_values; i++) {
        values[i] = at->values[i];
        if (strcmp(values[i].name, "strict") == 0) values[i].as.flag = false;
        if (strcmp(values[i].name, "names") == 0) values[i].text = XIR_STR("");
    }
    inner.net = body;
    inner.values = values;
    inner.why = why;
    xir_status status = run_before_back(xir_pass_user(at), body, why);
    return status ? status : xir_dialect_pass_run(&inner);
}

xir_status xir_dialect_convert_body(xir_pass *at, xir_network *body, bool *whole) {
    if (!at || !body || !whole) return diag_null(at ? at->why : NULL, !at ? "at" : !body ? "body" : "whole");
    *whole = false;
    const xir_allocator *alloc = context_alloc(body->ctx);
    pass_value *values = mem_new(alloc, (at->n_values + 1) * sizeof *values);
    xir_diags *why = xir_diags_new(body->ctx);
    xir_status status = values && why ? convert_body(at, body, values, why) : XIR_E_MEMORY;
    *whole = !status && is_all_of(body, xir_pass_user(at));
    mem_free(alloc, values, (at->n_values + 1) * sizeof *values);
    xir_diags_free(why);
    if (status == XIR_E_MEMORY) return diag_memory(at->why);
    return status == XIR_E_CANCELLED ? status : XIR_OK;
}

/* ---- the pipeline ----------------------------------------------------------------------------------------------- */

/* The format that the operators of a format are of; of an unknown one, itself. */
static const char *operators_of(xir_context *ctx, const char *format) {
    xir_format_info f = XIR_INIT(xir_format_info);
    for (size_t i = 0; xir_context_format_at(ctx, i, &f, NULL) == XIR_OK; i++)
        if (strcmp(f.name, format) == 0) return f.operators ? f.operators : format;
    return format;
}

size_t xir_pipeline_to(xir_context *ctx, const char *format, char *out, size_t size) {
    char prefix[64];
    const int n = snprintf(prefix, sizeof prefix, "%s::-", operators_of(ctx, format));   /* any class */
    const xir_dialect_decl *d = n > 0 && n < (int)sizeof prefix ? xir_dialect_find(ctx, xir_str_of(prefix)) : NULL;
    const xir_pass_decl *back = DECLARED(d, back);
    const char *before = back ? DECLARED(d, before_back) : NULL;
    return (size_t)snprintf(out, size, "%s%s%s%s%s", xir_default_pipeline(), before ? "," : "", before ? before : "",
                            back ? "," : "", back ? back->name : "");
}
