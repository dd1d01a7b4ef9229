#include "support/spent.h"
#include <inttypes.h>
#include <stdio.h>

bool spent_on(xir_op *op, budget *within, char out[200]) {
    if (!within->refused || !within->asked || op->flags & OP_LEFT) return false;
    op->flags |= OP_LEFT;
    within->said = true;
    const bool alone = within->asked > within->op_work;
    snprintf(out, 200, "it takes %" PRIu64 " steps, %s %" PRIu64 "%s", within->asked,
             alone ? "a constant may take" : "of those for constants", alone ? within->op_work : within->work,
             alone ? "" : " are left");
    return true;
}

void spent_nothing(xir_network *net, budget *within) {
    for (xir_op *op = net->first; op && within->said; op = op->next) op->flags &= ~(uint32_t)OP_LEFT;
    within->said = false;
}
