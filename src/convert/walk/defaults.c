/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Inputs that have a default: a conversion uses the default as a constant where it needs its numbers, or another order
 * of its elements. If nothing takes the input itself any more, a note says so. Formats other than ONNX do not have such
 * inputs: there all of them become constants. */
#include "walk/walk.h"
#include "text.h"

/* Marks the Params that ops take; false on out of memory. */
static bool find_used(const conversion *c, pointer_table *used) {
    const xir_allocator *alloc = context_alloc(c->ctx);
    const size_t n = xir_network_params(c->net, NULL, 0);
    xir_value **all = mem_new(alloc, (n + 1) * sizeof *all);
    bool ok = all;
    if (ok) xir_network_params(c->net, all, n);
    for (size_t i = 0; i < n && ok; i++) ok = pointer_table_add(used, all[i], 0);
    mem_free(alloc, all, (n + 1) * sizeof *all);
    return ok;
}

bool defaults_begin(conversion *c) {
    size_t n = 0;
    pointer_table used;
    for (const xir_value *v = c->net->all_params; v; v = value_params(v)->next) n += value_is_default(v);
    if (!n || c->checking) return true;
    pointer_table_init(&used, context_alloc(c->ctx));
    c->defaults = find_used(c, &used) ? arena_take(&c->scratch, n * sizeof *c->defaults) : NULL;
    for (xir_value *v = c->net->all_params; v && c->defaults; v = value_params(v)->next)
        if (value_is_default(v) && pointer_table_find(&used, v)) c->defaults[c->n_defaults++] = v;
    pointer_table_free(&used);
    return c->defaults;
}

static void say(conversion *c, const xir_value *v, const char *why) {
    xir_diags_add(c->why, XIR_NOTE, XIR_OK, XIR_STR(""), "%sthe input '%.*s' becomes a constant: %s", c->prefix,
                   CLIP(xir_value_name(v)), why);
}

xir_status defaults_end(conversion *c) {
    const bool keeps = !c->back.to || xir_str_equal(xir_str_of(c->back.to->prefix), XIR_STR("onnx::"));
    pointer_table used;
    xir_status status = XIR_OK;
    if (!c->n_defaults) return status;
    pointer_table_init(&used, context_alloc(c->ctx));
    if (!find_used(c, &used)) status = XIR_E_MEMORY;
    for (size_t i = 0; i < c->n_defaults && !status; i++) {
        xir_value *v = c->defaults[i];
        const bool taken = pointer_table_find(&used, v);
        if (keeps && taken) continue;
        say(c, v, taken ? "the format has no inputs with a default" : "its default is computed with");
        status = xir_params_fix_default(v);
    }
    pointer_table_free(&used);
    return status;
}
