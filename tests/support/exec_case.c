/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include <stdio.h>
#include <xir/exec.h>
#include "support/alive.h"
#include "support/exec_case.h"
#include "graph.h"

enum { MOST_SHOWN = 40 };

/* Elements as text; valid until the second call after this one. */
static const char *elements(const xir_array *a) {
    static char texts[2][MOST_SHOWN * 24 + 400];
    static int turn;
    char *out = texts[turn ^= 1];
    int at = snprintf(out, 400, "%s =", op_type_words(xir_array_type(a)));
    for (size_t i = 0; i < xir_array_count(a) && i < MOST_SHOWN; i++)
        at += sprintf(out + at, " %.9g", xir_array_real(a, i));
    if (xir_array_count(a) > MOST_SHOWN) strcpy(out + at, " ...");
    return out;
}

static xir_array *array_of(const xir_value *data) {
    xir_array *array = xir_array_from_params(data, why);
    if (!array) fail_msg("elements: %s", op_case_findings(why));
    return array;
}

static bool same_bytes(const xir_array *a, const xir_array *b) {
    size_t n, m;
    const void *x = xir_array_data(a, &n), *y = xir_array_data(b, &m);
    return n == m && (n == 0 || memcmp(x, y, n) == 0);
}

static void check_result(op_case *c, size_t i, const xir_array *found, const char *how) {
    xir_difference d;
    const xir_type *type = xir_array_type(found);
    if (!xir_type_equal(type, c->outputs[i])) {
        op_case_fail(c, op_type_words(c->outputs[i]), "%s%s", op_type_words(type), how);
    } else if (c->results[i]) {
        xir_array *expected = array_of(c->results[i]);
        bool near = xir_array_compare(found, expected, 1e-6, 1e-5, &d) == XIR_OK && d.same_shape && !d.count;
        if (near && !xir_kernel_is_real(type)) near = same_bytes(found, expected);
        if (!near) op_case_fail(c, elements(expected), "%s, element %zu%s", elements(found), d.first, how);
        xir_array_free(expected);
    }
}

static void check_results(op_case *c, xir_status status, xir_array **out, size_t n, const char *how) {
    if (!c->bad && status) op_case_fail(c, "results", "%s%s", op_case_findings(why), how);
    else if (!c->bad && n != c->n_outputs) op_case_fail(c, "as many outputs as the case has", "%zu%s", n, how);
    for (size_t i = 0; i < n && !status; i++) {
        if (!c->bad && !c->failed && i < c->n_outputs) check_result(c, i, out[i], how);
        xir_array_free(out[i]);
        out[i] = NULL;
    }
}

static void check_refusal(op_case *c, xir_status status) {
    char expected[512];
    snprintf(expected, sizeof expected, "%s %s \"%s\"", xir_status_name(c->code), c->path, c->part);
    for (size_t i = 0; i < xir_diags_count(why); i++) {
        const xir_diag *d = xir_diags_at(why, i);
        size_t n = strlen(c->path);
        bool there = strcmp(c->path, ".") == 0 ||
            (d->path.size >= n && memcmp(d->path.data + d->path.size - n, c->path, n) == 0);
        if (status == c->code && d->code == c->code && there &&
            memmem(d->message.data, d->message.size, c->part, strlen(c->part))) return;
    }
    op_case_fail(c, expected, "%s", status ? op_case_findings(why) : "results");
}

/* Makes the op, with the types that inference gives or the case states. */
static xir_op *add_op(op_case *c) {
    xir_op *op = op_case_add(c);
    if (op || (c->bad && !c->n_outputs) || xir_network_status(c->net) != XIR_E_UNSUPPORTED) return op;
    xir_network_clear_status(c->net);
    return xir_network_add(c->net, &XIR_INIT(xir_op_desc,
        .cls = c->cls, .attrs = c->body, .inputs = c->inputs, .n_inputs = c->n_inputs, .types = c->outputs,
        .n_types = c->n_outputs, .target = c->target, .name = XIR_STR("op"), .id = XIR_NO_ID));
}

/* Adds an Output op to the case's network, and runs the network on the arrays of its arguments. */
static void run_network(op_case *c, const xir_op *op, const xir_array *const *in, const char *how) {
    const xir_array *args[MOST_INPUTS] = { NULL };
    xir_array *out[MOST_OUTPUTS] = { NULL };
    xir_value *values[MOST_OUTPUTS];
    size_t n = xir_op_output_count(op), n_args = 0;
    for (size_t i = 0; i < n; i++) values[i] = xir_op_output(op, (int64_t)i);
    for (size_t i = 0; i < c->n_inputs; i++) {
        if (c->is_arg[i]) args[n_args++] = in[i];
    }
    if (!xir_output(xir_at_end(c->net), (xir_values){ values, n })) {
        op_case_fail(c, "an Output op", "%s%s", op_case_findings(xir_network_diags(c->net)), how);
        return;
    }
    xir_diags_clear(why);
    char fault[ALIVE_FAULT];
    xir_status status = run_alive(c->net, args, n_args, out, n, fault);
    if (*fault) op_case_fail(c, "the bytes that liveness computes", "%s%s", fault, how);
    if (c->bad && status != c->code) op_case_fail(c, xir_status_name(c->code), "%s%s", xir_status_name(status), how);
    check_results(c, status, out, n, how);
}

/* The same with inputs whose dims are unknown to the network, unless the op requires known dims. */
static void run_with_unknown_dims(op_case *c, const xir_array *const *in) {
    op_case again;
    if (op_case_begin(&again, c->text, c->file, c->line, c->counts) && again.n_args) {
        for (size_t i = 0, k = 0; i < again.n_inputs; i++) {
            int64_t dims[16];
            for (size_t j = 0; j < COUNT(dims); j++) dims[j] = XIR_UNKNOWN_DIM;
            const xir_tensor_type *type = again.is_arg[i] ? xir_type_as_tensor(again.args[k++]) : NULL;
            if (!type || type->shape.size > COUNT(dims) || type->merged_distrs.size) continue;
            const xir_type *open = xir_type_tensor(ctx, type->element_dtype, type->layout, dims, type->shape.size);
            DOES(xir_value_set_type(again.inputs[i], open));
        }
        const xir_op *op = op_case_add(&again);
        if (op) run_network(&again, op, in, ", with unknown dims");
    }
    c->failed = c->failed || again.failed;
    op_case_end(&again);
}

/* Runs an op that was not checked: it gives results or is refused, and does no harm. */
static void run_unchecked(op_case *c, void *body, const xir_array *const *in) {
    xir_array *out[MOST_OUTPUTS] = { NULL };
    xir_op *op = op_case_bring_in(c, body);
    size_t n = xir_op_output_count(op);
    for (size_t i = 0; i < n; i++) DOES(xir_value_set_type(xir_op_output(op, (int64_t)i), NULL));
    xir_diags_clear(why);
    xir_status status = xir_op_run(op, in, xir_op_input_count(op), out, n, NULL, why);
    for (size_t i = 0; i < n; i++) {
        if ((status == XIR_OK) != (out[i] != NULL))
            op_case_fail(c, "all results or none", "%s", xir_status_name(status));
        xir_array_free(out[i]);
    }
    if (xir_op_erase(op)) op_case_fail(c, "an op without users", "%s", op_case_findings(xir_network_diags(c->net)));
}

static void run_with_harm(op_case *c, const xir_array *const *in) {
    void *body = op_text_keep(&c->t, c->cls->body_size);
    for (uint32_t k = 0; k < c->cls->n_fields && !c->failed; k++) {
        int64_t room[16];
        for (size_t i = 0; !c->failed; i++) {
            memcpy(body, c->body, c->cls->body_size);
            if (!op_case_harmful_attr(&c->cls->fields[k], body, i, room)) break;
            run_unchecked(c, body, in);
        }
    }
}

void exec_case_run(const char *text, const char *file, int line, op_counts *counts) {
    op_case c;
    const xir_array *in[MOST_INPUTS] = { NULL };
    xir_array *out[MOST_OUTPUTS] = { NULL };
    if (!op_case_begin(&c, text, file, line, counts)) {
        op_case_fail(&c, "a case", "%s", c.t.fault);
        op_case_end(&c);
        return;
    }
    c.bad ? counts->bad++ : counts->good++;
    xir_op *op = add_op(&c);
    if (!op) {
        op_case_fail(&c, "an operation", "%s", op_case_findings(xir_network_diags(c.net)));
        op_case_end(&c);
        return;
    }
    for (size_t i = 0, n = 0; i < c.n_inputs; i++) {
        if (c.is_arg[i] && !c.given[n]) fail_msg("%s:%d: input %zu has no elements", file, line, i);
        if (c.is_arg[i]) in[i] = array_of(c.given[n++]);
    }
    size_t n = xir_op_output_count(op);
    xir_status status;
    for (size_t refused = 0;; refused++) {
        xir_diags_clear(why);
        refuse_after(refused);
        status = xir_op_run(op, in, xir_op_input_count(op), out, n, NULL, why);
        if (!refuse_end()) break;
        bool nothing = status == XIR_E_MEMORY || (c.bad && status == c.code);   // its finding had no memory
        for (size_t i = 0; i < n; i++) nothing = nothing && !out[i];
        if (!nothing) {
            op_case_fail(&c, "no memory and no results", "%s at allocation %zu", xir_status_name(status), refused);
            break;
        }
    }
    if (c.bad) check_refusal(&c, status);
    check_results(&c, status, out, n, "");
    if (!c.failed && !(c.cls->traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK))) run_network(&c, op, in, ", as a network");
    if (!c.failed) run_with_unknown_dims(&c, in);
    if (!c.failed && !c.bad) run_with_harm(&c, in);
    for (size_t i = 0; i < c.n_inputs; i++) xir_array_free((xir_array *)(uintptr_t)in[i]);
    op_case_end(&c);
}
