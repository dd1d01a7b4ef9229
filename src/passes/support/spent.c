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

static uint64_t plus(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

void spent_begin(budget *within, const xir_network *net, uint64_t free) {
    within->free = free;
    for (const xir_value *v = within->has_params ? NULL : net->all_params; v; v = value_params(v)->next) {
        const blob *data = value_params(v)->data;
        if (data) within->params = plus(within->params, data->size);
    }
    within->has_params = true;
}

uint64_t spent_left(const budget *within) {
    const uint64_t most = plus(within->free, plus(within->params, within->params));
    return most > within->kept ? most - within->kept : 0;
}

void spent_less(budget *within, uint64_t bytes) { within->kept -= bytes < within->kept ? bytes : within->kept; }

bool spent_bytes(xir_op *op, budget *within, uint64_t bytes, char out[200]) {
    const uint64_t left = spent_left(within);
    *out = '\0';
    if (bytes <= left) {
        within->kept += bytes;
        return true;
    }
    if (op->flags & OP_LEFT) return false;
    op->flags |= OP_LEFT;
    within->said = true;
    snprintf(out, 200, "it has %" PRIu64 " bytes, and %" PRIu64 " bytes are left for results", bytes, left);
    return false;
}

void spent_nothing(xir_network *net, budget *within) {
    for (xir_op *op = net->first; op && within->said; op = op->next) op->flags &= ~(uint32_t)OP_LEFT;
    within->said = false;
}
