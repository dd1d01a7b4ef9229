/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Targets that a command names. */
#include "cli.h"

int find_target(const char *word, const xir_target **out) {
    *out = NULL;
    if (!word) return DONE;
    xir_diags *why = new_diags();
    *out = xir_target_parse(context, xir_str_of(word), why);
    const xir_diag *said = *out ? NULL : xir_diags_at(why, 0);
    int code = *out ? DONE : MISUSED;
    if (said && said->code == XIR_E_MEMORY) code = no_memory();
    else if (said) complain(MISUSED, "--target: %.*s", (int)said->message.size, said->message.data);
    xir_diags_free(why);
    return code;
}
