/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* SHARES rows in the memory of a plan: values share bytes where the row says that they may, and the executor writes
 * over them. A network with the op computes the same there as with memory for each value:
 *
 *     x = Maximum(in, in);  y = op(x);  z = Maximum(x, x)       z only if the row says that x keeps its bytes */
#include <stdio.h>
#include <string.h>
#include "trying.h"

enum { MOST_RESULTS = MOST_OUTPUTS + MOST_INPUTS };

/* The network of the op, and what it computes. */
typedef struct planned {
    made       m;
    size_t     n_results;
    xir_value *results[MOST_RESULTS];
} planned;

/* A copy of a value that keeps its numbers; NULL if there is none for its elements. */
static xir_value *copy_of(trying *t, xir_network *net, xir_value *v, xir_op *before) {
    xir_value *const twice[] = { v, v };
    const xir_class *cls = xir_class_find_decl(t->ctx, xir_maximum_class());
    const xir_op *op = xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = cls, .inputs = twice, .n_inputs = 2,
                                                      .before = before, .id = XIR_NO_ID));
    return op ? xir_op_output(op, 0) : NULL;
}

static bool make_planned(trying *t, const drawn *d, bool read_later, planned *p) {
    *p = (planned){ .m = trial_make(t, d) };
    xir_value *copies[MOST_INPUTS] = { NULL };
    bool good = p->m.op;
    for (size_t i = 0; i < d->n_inputs && good; i++) {
        xir_value *v = xir_op_input(p->m.op, (int64_t)i);
        if (!v || xir_value_is_params(v)) continue;
        copies[i] = copy_of(t, p->m.net, v, p->m.op);
        good = copies[i] && xir_op_set_input(p->m.op, i, copies[i]) == XIR_OK;
    }
    for (size_t i = 0; good && i < xir_op_output_count(p->m.op); i++)
        p->results[p->n_results++] = xir_op_output(p->m.op, (int64_t)i);
    for (size_t i = 0; i < d->n_inputs && good && read_later; i++) {
        if (!copies[i]) continue;
        xir_value *z = copy_of(t, p->m.net, copies[i], NULL);
        good = z;
        p->results[p->n_results++] = z;
    }
    /* A copy of each result, because results of the network share no bytes. */
    for (size_t i = 0; i < p->n_results && good; i++)
        good = (p->results[i] = copy_of(t, p->m.net, p->results[i], NULL));
    const xir_class *cls = xir_class_find_decl(t->ctx, xir_output_class());
    return good && xir_network_add(p->m.net, &XIR_INIT(xir_op_desc, .cls = cls, .inputs = p->results,
                                                       .n_inputs = p->n_results, .id = XIR_NO_ID));
}

static bool run_planned(const planned *p, const arrays *a, bool arena, xir_array **out) {
    const xir_array *in[MOST_INPUTS];
    size_t n = 0;
    for (size_t i = 0; i < a->n_in; i++)
        if (a->in[i]) in[n++] = a->in[i];
    const xir_run_options how = XIR_INIT(xir_run_options, .arena = arena);
    return xir_network_run(p->m.net, in, n, out, p->n_results, &how, NULL) == XIR_OK;
}

static void compare_planned(trying *t, const planned *p, const arrays *a, xir_str row) {
    xir_array *plain[MOST_RESULTS] = { NULL }, *over[MOST_RESULTS] = { NULL };
    if (run_planned(p, a, false, plain) &&
        xir_pass_run(p->m.net, "plan", "in-place=true,parts=true", NULL, NULL) == XIR_OK &&
        run_planned(p, a, true, over)) {
        for (size_t i = 0; i < p->n_results; i++)
            if (!trial_same_array(plain[i], over[i]))
                trial_fault(t, FAULT_PLAN, "SHARES (%.*s) is wrong: in the memory of a plan, where values share the "
                            "bytes that the row names, %s computes other numbers", xir_str_shown_(row.size), row.data,
                            t->line);
    }
    for (size_t i = 0; i < MOST_RESULTS; i++) {
        xir_array_free(plain[i]);
        xir_array_free(over[i]);
    }
}

/* ---- SHARES (VIEW) ----------------------------------------------------------------------------------------------- */

static bool begins(xir_str row, const char *kind) {
    return row.size >= strlen(kind) && memcmp(row.data, kind, strlen(kind)) == 0;
}

/* The only input that a VIEW row names. */
static size_t viewed(const trying *t, xir_str row) {
    const xir_str name = { row.data + 6, row.size - 6 };
    size_t i = 0;
    while (i < xir_class_input_count(t->cls) && !xir_str_equal(xir_class_input_at(t->cls, i)->name, name)) i++;
    return i;
}

static void try_view(trying *t, const made *m, const arrays *given, xir_str row) {
    arrays a = *given;
    const size_t i = begins(row, "VIEW, ") ? viewed(t, row) : SIZE_MAX;
    if (i >= a.n_in || !a.in[i] || trial_run(m, &a, NULL)) return;
    const xir_type *x = xir_array_type(a.in[i]), *y = xir_array_type(a.out[0]);
    size_t n, k;
    const char *from = xir_array_data(a.in[i], &n), *to = xir_array_data(a.out[0], &k);
    if (n == k && n && xir_type_equal(xir_type_element(x), xir_type_element(y)) && memcmp(from, to, n) != 0)
        trial_fault(t, FAULT_VIEW, "SHARES (VIEW) is wrong: the output of %s has other bytes than input %zu", t->line, i);
    trial_free_outputs(&a);
}

void trial_shares(trying *t, const drawn *d, const made *m) {
    const xir_str row = xir_class_note(t->cls, XIR_DECL_SHARES, 0);
    planned p = { .n_results = 0 };
    arrays a = { .n_in = 0 };
    if (!row.size || !xir_op_can_run(m->op) || !xir_op_output_count(m->op)) return;
    trial_step(t, "its kernel, in the memory of a plan");
    if (trial_inputs(t, m, d->seed, &a)) {
        try_view(t, m, &a, row);
        if (make_planned(t, d, !begins(row, "OVER"), &p)) compare_planned(t, &p, &a, row);
        trial_unmake(&p.m);
    }
    trial_free(&a);
}
