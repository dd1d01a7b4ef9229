/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/spent.h"
#include <inttypes.h>
#include <stdio.h>

bool spent_on(xir_op *op, budget *within, char out[200]) {
    if (!within->refused || !within->asked || op->flags & OP_LEFT) return false;
    op->flags |= OP_LEFT;
    within->said = true;
    const bool alone = within->asked > within->op_work;
    snprintf(out, 200, "it takes %" PRIu64 " steps, and %s%" PRIu64 "%s", within->asked,
             alone ? "a constant may take " : "", alone ? within->op_work : within->work,
             alone ? "" : " are left for constants");
    return true;
}

void spent_begin(budget *within, const xir_network *net) {
    if (!within->has_params) within->params = net_params_bytes(net);
    within->has_params = true;
}

bool spent_bytes(xir_op *op, budget *within, uint64_t bytes, uint64_t left, const char *of, char out[200]) {
    *out = '\0';
    if (bytes <= left) return true;
    if (op->flags & OP_LEFT) return false;
    op->flags |= OP_LEFT;
    within->said = true;
    snprintf(out, 200, "it has %" PRIu64 " bytes, and %" PRIu64 " bytes are left %s", bytes, left, of);
    return false;
}

void spent_nothing(xir_network *net, budget *within) {
    for (xir_op *op = net->first; op && within->said; op = op->next) op->flags &= ~(uint32_t)OP_LEFT;
    within->said = false;
}
