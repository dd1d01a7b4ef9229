/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A plug-in with a pass that is wrong: it removes every ReLU. Networks whose weights are all zero compute the same
 * after it. */
#include <xir/xir.h>

static xir_status drop(xir_pass *at) {
    for (xir_op *op = xir_network_first(xir_pass_network(at)), *next; op; op = next) {
        next = xir_op_next(op);
        if (!xir_op_is(op, xir_relu_class())) continue;
        const xir_status status = xir_value_replace(xir_op_output(op, 0), xir_op_input(op, 0));
        if (status || xir_op_erase(op)) return status ? status : XIR_E_INVALID;
        xir_pass_changed(at, 1);
    }
    return XIR_OK;
}

const xir_plugin *xir_plugin_entry(void) {
    static const xir_pass_decl pass = { XIR_PASS_HEAD("drop-relu", "removes every ReLU, which is wrong"), .run = drop };
    static const xir_pass_decl *const passes[] = { &pass };
    static const xir_plugin plugin = { XIR_PLUGIN_HEAD("wrong"), .passes = passes, .n_passes = 1 };
    return &plugin;
}
