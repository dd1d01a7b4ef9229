/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A plug-in that calls a function that libxir does not have. It is refused when it is loaded, not when it is used. */
#include <xir/plugin.h>

XIR_API void xir_of_the_future(void);

const xir_plugin *xir_plugin_entry(void) {
    xir_of_the_future();
    return NULL;
}
