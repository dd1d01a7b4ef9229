/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Refused memory: an op is made, inferred and computed again and again, and each time another request for memory is
 * refused. The answer is XIR_E_MEMORY, or the one that there is without a refusal. */
#include <string.h>
#include "trying.h"

enum { MOST_REFUSALS = 600 };

/* Makes the op and computes it from inputs that exist; *stage says what was done last. */
static xir_status once(trying *t, const drawn *d, made *m, arrays *a, const char **stage, xir_diags *found) {
    *stage = "CHECK or INFER";
    *m = trial_make(t, d);
    if (!m->net) return XIR_E_MEMORY;
    if (!m->op) return xir_network_status(m->net);
    *stage = "its kernel";
    return xir_op_can_run(m->op) && a->n_out ? trial_run(m, a, found) : XIR_OK;
}

static void compare(trying *t, const arrays *a, const arrays *right, uint64_t request) {
    for (size_t i = 0; i < right->n_out; i++)
        if (right->out[i] && a->out[i] && !trial_same_array(a->out[i], right->out[i]))
            trial_fault(t, FAULT_MEMORY, "its kernel computes other numbers for %s if memory is refused (request %llu): "
                        "expected XIR_E_MEMORY", t->line, (unsigned long long)request);
}

/* Refuses one request. Returns false once there are fewer. */
static bool refuse(trying *t, const drawn *d, const arrays *right, uint64_t request) {
    const char *stage;
    arrays a = *right;
    made m;
    xir_diags *found = xir_diags_new(t->ctx);
    memset((void *)a.out, 0, sizeof a.out);
    t->memory.count = 0;
    t->memory.refused = false;
    t->memory.refuse = request;
    const xir_status status = once(t, d, &m, &a, &stage, found);
    t->memory.refuse = 0;
    const bool refused = t->memory.refused;
    t->memory.refused = false;
    const xir_diag *first = trial_finding(&m), *more = trial_first(found);
    const xir_diag *says = first ? first : more;
    if (refused && !status) compare(t, &a, right, request);
    else if (refused && status != XIR_E_MEMORY)
        trial_fault(t, FAULT_MEMORY, "%s answers %s for %s if memory is refused (request %llu): expected XIR_E_MEMORY, "
                    "found '%.*s'", stage, xir_status_name(status), t->line, (unsigned long long)request,
                    says ? xir_str_shown_(says->message.size) : 0, says ? says->message.data : "");
    trial_free_outputs(&a);
    trial_unmake(&m);
    xir_diags_free(found);
    return refused;
}

void trial_refused(trying *t, const drawn *d) {
    arrays right = { .n_in = 0 };
    made m = trial_make(t, d);
    trial_step(t, "CHECK, INFER or its kernel, with a request for memory that is refused");
    if (m.op && !trial_inputs(t, &m, d->seed, &right)) right.n_out = 0;
    const bool fine = m.op && (!xir_op_can_run(m.op) || !right.n_out || trial_run(&m, &right, NULL) == XIR_OK);
    for (uint64_t k = 1; fine && k < MOST_REFUSALS && refuse(t, d, &right, k); k++) {}
    trial_free(&right);
    trial_unmake(&m);
}
