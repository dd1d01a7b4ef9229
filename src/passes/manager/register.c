/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

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

/* The pass that will have a name: one of those that are registered together, or a registered one. */
static const xir_pass_decl *pass_named(xir_context *ctx, const void *const *among, size_t n, const char *name) {
    for (size_t i = n; i-- > 0;) {
        const xir_pass_decl *decl = among[i];
        if (strcmp(decl->name, name) == 0) return decl;
    }
    return registry_find(ctx, REGISTRY_PASS, xir_str_of(name));
}

/* Checks that no pass that an overriding one needs, directly or through others, needs the one that it overrides: a run
 * would not end. Each pass is followed once. */
static xir_status check_override(xir_context *ctx, const void *const *items, size_t n_before, xir_diags *why) {
    const xir_pass_decl *decl = items[n_before], *old = registry_find(ctx, REGISTRY_PASS, xir_str_of(decl->name));
    const xir_pass_decl **reached = NULL;
    size_t n = 0, room = 0;
    pointer_table seen;
    pointer_table_init(&seen, &ctx->alloc);
    xir_status status = XIR_OK;
    for (size_t i = 0; i <= n && old && !status; i++) {
        const xir_pass_decl *from = i ? reached[i - 1] : decl;
        for (const char *const *need = from->needs; need && *need && !status; need++) {
            const xir_pass_decl *to = pass_named(ctx, items, n_before, *need);
            if (to == old || strcmp(*need, decl->name) == 0) {
                status = diag_fail(why, XIR_E_INVALID, XIR_STR(""),
                                   "the pass %s cannot override the one of its name, because %s%s needs that one",
                                   decl->name, i ? "" : "it itself, ", i ? from->name : decl->name);
            } else if (to && !pointer_table_find(&seen, to)) {
                const bool ok = pointer_table_add(&seen, to, 0) &&
                                mem_reserve(&ctx->alloc, (void **)&reached, &room, n + 1, sizeof *reached);
                if (ok) reached[n++] = to;
                else status = diag_memory(why);
            }
        }
    }
    mem_free(&ctx->alloc, (void *)reached, room * sizeof *reached);
    pointer_table_free(&seen);
    return status;
}

static uint64_t flags_of(const xir_pass_decl *decl) {
    return decl->size >= SIZE_TO(xir_pass_decl, flags) ? decl->flags : 0;
}

static bool overrides(const void *item) { return flags_of(item) & XIR_PASS_OVERRIDES; }

/* Returns true if the declaration or an option uses fields that this library does not know. */
static bool asks_for_more(const xir_pass_decl *decl) {
    bool strange = sized_beyond(decl, sizeof *decl, decl->size) < decl->size;
    strange |= (flags_of(decl) & ~(uint64_t)XIR_PASS_OVERRIDES) != 0;
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
        return diag_fail(why, XIR_E_UNSUPPORTED, XIR_STR(""), "the pass %s sets a member that this version does not "
                         "know", decl->name);
    }
    for (size_t i = 0; i < decl->n_options; i++) {
        xir_status status = check_option(decl, i, why);
        if (status) return status;
    }
    for (const char *const *need = decl->needs; need && *need; need++) {
        if (pass_named(ctx, items, n_before, *need)) continue;
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "the pass %s needs %s, which is not registered",
                         decl->name, *need);
    }
    return overrides(decl) ? check_override(ctx, items, n_before, why) : XIR_OK;
}

static const registry_rules rules = { .noun = "pass", .check = check_pass, .overrides = overrides };

xir_status pass_check(xir_context *ctx, const xir_pass_decl *decl, xir_diags *why) {
    const void *item = decl;
    const char *name;
    return check_pass(ctx, &item, 0, &name, why);
}

void pass_rules_define(xir_context *ctx) { registry_define(ctx, REGISTRY_PASS, &rules); }

xir_status xir_pass_register(xir_context *ctx, const xir_pass_decl *decl, xir_diags *why) {
    const void *item = decl;
    return registry_add(ctx, REGISTRY_PASS, &item, 1, why);
}

xir_status xir_pass_remove(xir_context *ctx, const char *name, xir_diags *why) {
    const xir_pass_decl *pass = xir_pass_find(ctx, xir_str_of(name));
    registry_item item;
    if (!pass) {
        xir_str near = pass_near(ctx, xir_str_of(name));
        return diag_fail(why, XIR_E_UNKNOWN, XIR_STR(""), "there is no pass '%.80s'" NEAR_FORMAT, name ? name : "",
                         NEAR_ARGS(near));
    }
    for (size_t i = 0; registry_item_at(ctx, REGISTRY_PASS, i, &item); i++) {
        const xir_pass_decl *other = item.it;
        for (const char *const *need = other->needs; need && *need; need++) {
            if (other == pass || xir_pass_find(ctx, xir_str_of(*need)) != pass) continue;
            return diag_fail(why, XIR_E_IN_USE, XIR_STR(""), "the pass %s needs %s", other->name, pass->name);
        }
    }
    registry_remove(ctx, REGISTRY_PASS, pass);
    return XIR_OK;
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
