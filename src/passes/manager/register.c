/* The rules for registering passes, and the lookup of passes. */
#include "manager/pipeline.h"
#include "sized.h"

static xir_status check_option(const xir_pass_decl *decl, size_t i, xir_diags *why) {
    xir_pass_option option, first;
    const xir_pass_option *o = &option;
    xir_pass_option_at(decl, i, &option);
    if (!o->name || !pipeline_is_name(xir_str_of(o->name)) ||
        pass_option_named(decl, xir_str_of(o->name), &first) != i || !o->doc) {
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""),
                         "option '%s' of the pass %s: expected a unique name of lower-case letters, digits and dashes, "
                         "and a description", o->name ? o->name : "", decl->name);
    }
    if (!o->default_text && o->kind != XIR_PASS_TEXT) {
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "option %s of the pass %s has no default", o->name,
                         decl->name);
    }
    return pass_check_value(decl, o, xir_str_of(o->default_text), XIR_E_INVALID, why);
}

static bool is_listed(const void *const *among, size_t n, xir_str name) {
    for (size_t i = 0; i < n; i++) {
        const xir_pass_decl *decl = among[i];
        if (xir_str_equal(xir_str_of(decl->name), name)) return true;
    }
    return false;
}

/* Whether the declaration or an option uses fields that this library does not know. */
static bool asks_for_more(const xir_pass_decl *decl) {
    bool strange = sized_beyond(decl, sizeof *decl, decl->size) < decl->size;
    for (size_t i = 0; !strange && i < decl->n_options; i++) {
        const char *option = (const char *)decl->options + i * decl->option_size;
        strange = sized_beyond(option, sizeof *decl->options, decl->option_size) < decl->option_size;
    }
    return strange;
}

static xir_status check_pass(xir_context *ctx, const void *const *items, size_t n_before, const char **name,
                             xir_diags *why) {
    const xir_pass_decl *decl = items[n_before];
    if (decl->abi != XIR_ABI || decl->size < SIZE_TO(xir_pass_decl, user) ||
        decl->option_size < SIZE_TO(xir_pass_option, doc)) {
        return diag_fail(why, XIR_E_ABI, XIR_STR(""),
                         "a pass was declared for another version of the binary interface");
    }
    if (!decl->name || !pipeline_is_name(xir_str_of(decl->name)) || strcmp(decl->name, pipeline_fix) == 0) {
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""),
                         "'%s' is not a name for a pass: expected lower-case letters, digits and dashes",
                         decl->name ? decl->name : "");
    }
    *name = decl->name;
    if (!decl->run || !decl->doc || decl->level < 0 || decl->level > XIR_LEVEL_MAX ||
        (decl->n_options && !decl->options) || decl->n_options > PIPELINE_OPTIONS) {
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""),
                         "the pass %s has no function, description or level, or more than %d "
                         "options", decl->name, PIPELINE_OPTIONS);
    }
    if (asks_for_more(decl)) {
        return diag_fail(why, XIR_E_UNSUPPORTED, XIR_STR(""), "the pass %s asks for what a newer library has",
                         decl->name);
    }
    for (size_t i = 0; i < decl->n_options; i++) {
        xir_status status = check_option(decl, i, why);
        if (status) return status;
    }
    for (const char *const *need = decl->needs; need && *need; need++) {
        xir_str needed = xir_str_of(*need);
        if (registry_find(ctx, REGISTRY_PASS, needed) || is_listed(items, n_before, needed)) continue;
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "the pass %s needs %s, which is not registered",
                         decl->name, *need);
    }
    return XIR_OK;
}

static const registry_rules rules = { .noun = "pass", .check = check_pass };

void pass_rules_define(xir_context *ctx) { registry_define(ctx, REGISTRY_PASS, &rules); }

xir_status xir_pass_register(xir_context *ctx, const xir_pass_decl *decl, xir_diags *why) {
    const void *item = decl;
    return registry_add(ctx, REGISTRY_PASS, &item, 1, why);
}

const xir_pass_decl *xir_pass_find(xir_context *ctx, xir_str name) { return registry_find(ctx, REGISTRY_PASS, name); }

/* Aliases of a pass are skipped. */
const xir_pass_decl *xir_pass_at(xir_context *ctx, size_t i) {
    registry_item item;
    for (size_t k = 0; registry_item_at(ctx, REGISTRY_PASS, k, &item); k++) {
        const xir_pass_decl *pass = item.it;
        if (item.name == pass->name && i-- == 0) return pass;
    }
    return NULL;
}
