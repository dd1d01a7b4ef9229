/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The passes that every context has, in the order of passes.def, the schemes of quantisation, and the rules for
 * registering more. */
#include "library.h"
#include "manager/pipeline.h"
#include "quantize/scheme.h"

#define PASS(id) extern const xir_pass_decl pass_##id;
#include "passes.def"
#undef PASS

static const xir_pass_decl *const built_in[] = {
#define PASS(id) &pass_##id,
#include "passes.def"
#undef PASS
    NULL,
};

/* Names that passes had before. */
static const registry_item aliases[] = { { REGISTRY_PASS, "merge", &pass_moves } };

xir_status passes_register(xir_context *ctx) {
    pass_rules_define(ctx);
    for (size_t i = 0; built_in[i]; i++) {
        xir_status status = xir_pass_register(ctx, built_in[i], NULL);
        if (status) return status;
    }
    const xir_status status = registry_add_own(ctx, aliases, sizeof aliases / sizeof *aliases);
    return status ? status : schemes_define(ctx);
}
