/* The target that a pass is for. */
#include "support/target_option.h"

xir_status pass_target(xir_pass *at, const xir_target **out) {
    const xir_str text = xir_pass_text(at, "target");
    *out = xir_network_ai_target(at->net);
    if (!text.size && xir_network_has_ai_target(at->net)) return XIR_OK;
    if (!text.size)
        return xir_pass_fail(at, XIR_E_MISSING, NULL, "option target: the network is for no target, name one");
    *out = xir_target_parse(xir_pass_context(at), text, xir_pass_diags(at));
    return *out ? XIR_OK : XIR_E_UNKNOWN;   /* with its finding */
}
