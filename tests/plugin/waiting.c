/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A pass that takes as long as a test wants: it ends when standard input does. */
#include <stdio.h>
#include <xir/xir.h>

static xir_status run(xir_pass *at) {
    (void)at;
    while (getchar() != EOF) {}
    return XIR_OK;
}

static const xir_pass_decl waiting = {
    XIR_PASS_HEAD("wait", "waits for the end of standard input"),
    .level = XIR_LEVEL_EXACT, .run = run,
};

const xir_plugin *xir_plugin_entry(void) {
    static const xir_pass_decl *const passes[] = { &waiting };
    static const xir_plugin plugin = { XIR_PLUGIN_HEAD("waiting"), .passes = passes, .n_passes = 1 };
    return &plugin;
}
