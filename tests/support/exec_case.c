#include <stdio.h>
#include <xir/exec.h>
#include "support/exec_case.h"

enum { MOST_SHOWN = 40 };

/* Elements as text, until the call after the next. */
static const char *elements(const xir_array *a) {
    static char texts[2][MOST_SHOWN * 24 + 400];
    static int turn;
    char *out = texts[turn ^= 1];
    int at = snprintf(out, 400, "%s =", op_type_words(xir_array_type(a)));
    for (size_t i = 0; i < xir_array_count(a) && i < MOST_SHOWN; i++) at += sprintf(out + at, " %.9g", xir_array_real(a, i));
    if (xir_array_count(a) > MOST_SHOWN) strcpy(out + at, " ...");
    return out;
}

static xir_array *array_of(const xir_value *params) {
    xir_array *array = xir_array_of_params(params, why);
    if (!array) fail_msg("elements: %s", op_case_findings(why));
    return array;
}

static void check_result(op_case *c, size_t i, const xir_array *found) {
    xir_difference d;
    if (!xir_type_equal(xir_array_type(found), c->outputs[i])) {
        op_case_fail(c, op_type_words(c->outputs[i]), "%s", op_type_words(xir_array_type(found)));
    } else if (c->results[i]) {
        xir_array *expected = array_of(c->results[i]);
        if (xir_array_compare(found, expected, 1e-6, 1e-5, &d) != XIR_OK || !d.same_shape || d.count) {
            op_case_fail(c, elements(expected), "%s, element %zu", elements(found), d.first);
        }
        xir_array_free(expected);
    }
}

static void check_refusal(op_case *c, xir_status status) {
    char expected[512];
    snprintf(expected, sizeof expected, "%s %s \"%s\"", xir_status_name(c->code), c->path, c->part);
    for (size_t i = 0; i < xir_diags_count(why); i++) {
        const xir_diag *d = xir_diags_at(why, i);
        size_t n = strlen(c->path);
        bool there = strcmp(c->path, ".") == 0 || (d->path.size >= n && memcmp(d->path.data + d->path.size - n, c->path, n) == 0);
        if (status == c->code && d->code == c->code && there && memmem(d->message.data, d->message.size, c->part, strlen(c->part))) return;
    }
    op_case_fail(c, expected, "%s", status ? op_case_findings(why) : "results");
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
    xir_op *op = op_case_add(&c);
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
        status = xir_op_run(op, in, xir_op_input_count(op), out, n, why);
        if (!refuse_end()) break;
        bool nothing = status == XIR_E_MEMORY || (c.bad && status == c.code);   // its finding had no room
        for (size_t i = 0; i < n; i++) nothing = nothing && !out[i];
        if (!nothing) {
            op_case_fail(&c, "no memory and no results", "%s at allocation %zu", xir_status_name(status), refused);
            break;
        }
    }
    if (c.bad) check_refusal(&c, status);
    else if (status) op_case_fail(&c, "results", "%s", op_case_findings(why));
    else if (n != c.n_outputs) op_case_fail(&c, "as many outputs as are said", "%zu", n);
    for (size_t i = 0; i < n && !status; i++) {
        if (!c.bad && i < c.n_outputs) check_result(&c, i, out[i]);
        xir_array_free(out[i]);
    }
    for (size_t i = 0; i < c.n_inputs; i++) xir_array_free((xir_array *)(uintptr_t)in[i]);
    op_case_end(&c);
}
