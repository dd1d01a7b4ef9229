/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The target that a pass is for. */
#include "support/target_option.h"

xir_status pass_target(xir_pass *at, const xir_target **out) {
    const xir_str text = xir_pass_text(at, "target");
    *out = xir_network_ai_target(at->net);
    if (!text.size && xir_network_has_ai_target(at->net)) return XIR_OK;
    if (!text.size)
        return xir_pass_fail(at, XIR_E_MISSING, NULL, "option target: the network is for no target, name one");
    xir_diags *why = xir_pass_diags(at);
    *out = xir_target_parse(xir_pass_context(at), text, why);
    if (*out) return XIR_OK;
    const size_t n = xir_diags_count(why);   /* the last one is its */
    const xir_diag *said = n ? xir_diags_at(why, n - 1) : NULL;
    return said && said->code == XIR_E_MEMORY ? XIR_E_MEMORY : XIR_E_UNKNOWN;
}
