/* The list of passes: the built-in ones, and those that a program or a plug-in registers. */
#include "pass.h"

#define PASS(id) extern const xir_pass_decl pass_##id;
#include "passes.def"
#undef PASS

static const xir_pass_decl *const built_in[] = {
#define PASS(id) &pass_##id,
#include "passes.def"
#undef PASS
    NULL,
};

static xir_status check(xir_context *ctx, const xir_pass_decl *decl, xir_diags *why) {
    if (decl->abi != XIR_ABI || decl->size < sizeof *decl) {
        return diag_fail(why, XIR_E_ABI, XIR_STR(""), "the pass was declared for another version of the binary interface");
    }
    if (!decl->name || !*decl->name || !decl->run || !decl->describe) {
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "a pass has no name, no description or no function");
    }
    for (size_t i = 0; i < decl->n_options; i++) {
        const xir_pass_option *o = &decl->options[i];
        xir_status status = pass_check_setting(decl, &(pass_setting){ xir_str_of(o->name), xir_str_of(o->preset) }, why);
        if (status) return XIR_E_INVALID;
    }
    for (const char *const *need = decl->needs; need && *need; need++) {
        if (registry_find(ctx, REGISTRY_PASS, xir_str_of(*need))) continue;
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "the pass %s needs %s, which is not registered", decl->name, *need);
    }
    return XIR_OK;
}

xir_status xir_pass_register(xir_context *ctx, const xir_pass_decl *decl, xir_diags *why) {
    size_t taken;
    xir_status status = check(ctx, decl, why);
    if (status) return status;
    status = registry_add(ctx, REGISTRY_PASS, &(registry_item){ decl->name, decl }, 1, &taken);
    if (status == XIR_E_EXISTS) return diag_fail(why, status, XIR_STR(""), "there is a pass '%s' already", decl->name);
    return status ? diag_memory(why) : XIR_OK;
}

const xir_pass_decl *xir_pass_find(xir_context *ctx, xir_str name) { return registry_find(ctx, REGISTRY_PASS, name); }
const xir_pass_decl *xir_pass_at(xir_context *ctx, size_t i) { return registry_at(ctx, REGISTRY_PASS, i); }

xir_status passes_register(xir_context *ctx) {
    for (size_t i = 0; built_in[i]; i++) {
        xir_status status = xir_pass_register(ctx, built_in[i], NULL);
        if (status) return status;
    }
    return XIR_OK;
}
