/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/calls.h"
#include <xir/ops.h>
#include <xir/region.h>
#include "support/upkeep.h"

static bool has_name(const void *user, const xir_op *call) {
    const xir_str *name = user;
    return !name->size || xir_str_equal(xir_op_name(call), *name);
}

/* The ops of a body follow the op before the call, so calls among them are met next. */
xir_status inline_calls_that(xir_pass *at, bool (*is_meant)(const void *user, const xir_op *call), const void *user,
                             size_t *n) {
    xir_op *op = at->net->first;
    *n = 0;
    while (op) {
        xir_op *before = op->prev;
        if (!xir_op_is(op, xir_call_op_class()) || !is_meant(user, op)) {
            op = op->next;
            continue;
        }
        const xir_status status = xir_op_inline(op);
        if (status == XIR_E_MEMORY) return pass_no_memory(at);
        if (status) return xir_pass_fail(at, status, op, "the call cannot be inlined");
        xir_pass_changed(at, 1);
        ++*n;
        op = before ? before->next : at->net->first;
    }
    return XIR_OK;
}

xir_status inline_calls(xir_pass *at, xir_str name, size_t *n) { return inline_calls_that(at, has_name, &name, n); }
