/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A plug-in with one pass. docs/writing-a-pass.md explains it. */
#include <xir/plugin.h>
#include "inverse.h"

const xir_plugin *xir_plugin_entry(void) {
    static const xir_pass_decl *const passes[] = { &inverse_pass };
    static const xir_plugin plugin = { XIR_PLUGIN_HEAD("custompass"), .passes = passes, .n_passes = 1 };
    return &plugin;
}
