/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* bind: gives symbolic dims numbers, or fewer of them.
 *
 *     x:fp32[batch,length,64] = input()                        x:fp32[4,length,64] = input()
 *     y:fp32[batch,floor((length + 1)/2),64] = pool(x)   ->    y:fp32[4,floor((length + 1)/2),64] = pool(x)
 *
 * All types follow; no op is inferred again, because what inference would find is what the expressions say. */
#include "support/bindings.h"

static xir_status run(xir_pass *at) {
    bool changed;
    return bindings_apply(at, "dims", ';', &changed);
}

static const xir_pass_option options[] = {
    { "dims", XIR_PASS_TEXT, "", "names of open dims and their values: \"batch=4;length=8..512\"" },
};

const xir_pass_decl pass_bind = {
    XIR_PASS_HEAD("bind", "gives open dims numbers or narrower intervals, by name"),
    .level = XIR_LEVEL_NEEDED,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run,
};
