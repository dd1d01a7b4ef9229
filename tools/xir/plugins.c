/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Plug-ins that the command line names, and no others: loaded before the command reads any file, so that their
 * classes are known when one is read. */
#include <string.h>
#include "cli.h"

word_list plugins;

void words_add(word_list *w, const char *word) {
    w->items = resize((void *)w->items, (w->n + 1) * sizeof *w->items);
    w->items[w->n++] = word;
}

/* 1 is about the networks; what is not a plug-in is a fault of the command line. */
int code_of_plugin(xir_status status) { return status == XIR_E_IO || status == XIR_E_MEMORY ? REFUSED : MISUSED; }

int load_plugins(void) {
    int code = DONE;
    for (size_t i = 0; i < plugins.n && !code; i++) {
        xir_diags *why = new_diags();
        xir_status status = xir_plugin_load(context, plugins.items[i], why);
        if (status) code = code_of_plugin(status);
        say(why);
        xir_diags_free(why);
    }
    return code;
}
