/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The dialects that every context has, and registering more. Dialects are registered like passes: after the checks, the
 * prefix, the rows and the dialect's name for the pass to-xir enter the lists of the context together. */
#include "walk/walk.h"
#include "library.h"
#include "manager/pass.h"
#include "manager/pipeline.h"
#include "sized.h"

enum {
    MOST_ROWS     = 1 << 16,
    LEAST_DIALECT = SIZE_TO(xir_dialect_decl, is_pure),
    LEAST_ROW     = SIZE_TO(xir_convert_row, hook)
};

/* ---- checks ----------------------------------------------------------------------------------------------------- */

/* Checks a struct that begins with its ABI version and size: it has all fields of the first version, and none that is
 * unknown here is set. */
static xir_status check_size(const void *decl, size_t least, size_t known, const char *what, xir_diags *why) {
    const struct { uint32_t abi, size; } *head = decl;
    if (head->abi != XIR_ABI || head->size < least) {
        return diag_fail(why, XIR_E_ABI, XIR_STR(""), "a %s was declared for another version of the binary interface",
                         what);
    }
    for (size_t i = known; i < head->size; i++) {
        if (!((const char *)decl)[i]) continue;
        return diag_fail(why, XIR_E_UNSUPPORTED, XIR_STR(""),
                         "a %s sets a member that this version does not know: byte %zu is set, its size here "
                         "is %zu", what, i, known);
    }
    return XIR_OK;
}

static const char *fault_of(const xir_convert_row *row) {
    size_t least, most;
    row_attribute attribute;
    row_set set;
    const char *attributes = row->attributes, *sets = row->sets;
    size_t n_names = 0;
    if (!row_range(row->inputs, &least, &most)) return "its number of inputs is not a range";
    const char *names = row_input_names(row->inputs);
    for (row_input input; row_next_input(&names, &input);) n_names += !input.is_attribute;
    if (*names || n_names > most) return "its input names are malformed";
    if (!row_range(row->outputs, &least, &most) || strchr(row->outputs, ' '))
        return "its number of outputs is not a range";
    while (row_next_attribute(&attributes, &attribute)) {}
    if (attributes && *attributes) return "its list of attributes is malformed";
    size_t n_sets = 0;
    for (; row_next_set(&sets, &set); n_sets++) if (set.field.size >= ROW_NAME) return "the name of a set is too long";
    if (sets && *sets) return "its list of sets is malformed";
    if (n_sets > ROW_SETS) return "it has more than 32 sets";
    if (!row->cls && !row->hook) return "it has no class and no hook";
    if (convert_row_back(row) && !*convert_row_classes(row)) return "it has a way back, but not from any class";
    return NULL;
}

/* A row of a table that begins with `first`, of a dialect (NULL: of none). */
static xir_status check_row_of(const xir_dialect_decl *dialect, const xir_convert_row *first,
                               const xir_convert_row *row, xir_diags *why) {
    xir_status status = check_size(row, LEAST_ROW, sizeof *row, "conversion row", why);
    if (status) return status;
    if (row->size != first->size) {
        return diag_fail(why, XIR_E_ABI, XIR_STR(""),
                         "a conversion row has %u bytes: expected %u, like the first of its table",
                         row->size, first->size);
    }
    const size_t prefix = dialect ? strlen(dialect->prefix) : 0;
    const bool of_dialect = dialect && row->name && strncmp(row->name, dialect->prefix, prefix) == 0 &&
        row->name[prefix];
    const char *fault = of_dialect ? fault_of(row) : "its name is not a key of a known dialect";
    if (!fault) return XIR_OK;
    return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "the conversion row '%.100s' is invalid: %s",
                     row->name ? row->name : "", fault);
}

static xir_status check_row(xir_context *ctx, const void *const *items, size_t i, const char **name, xir_diags *why) {
    const xir_convert_row *row = items[i];
    xir_status status = check_size(row, LEAST_ROW, sizeof *row, "conversion row", why);
    if (status) return status;
    *name = row->name;
    return check_row_of(row->name ? xir_dialect_find(ctx, xir_str_of(row->name)) : NULL, row, row, why);
}

static bool is_prefix(const char *text) {
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return n && strcmp(text + n, "::") == 0 && strcmp(text, "icraft::") != 0 && strcmp(text, "xir::") != 0;
}

static xir_status check_dialect(xir_context *ctx, const void *const *items, size_t i, const char **name,
                                xir_diags *why) {
    const xir_dialect_decl *d = items[i];
    (void)ctx;
    xir_status status = check_size(d, LEAST_DIALECT, sizeof *d, "dialect", why);
    if (status) return status;
    if (!d->prefix || !is_prefix(d->prefix)) {
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""),
                         "'%.80s' is not a prefix for a dialect: expected lower-case letters, digits and _, "
                         "then ::", d->prefix ? d->prefix : "");
    }
    if (!d->name || !*d->name || (d->n_rows && !d->rows) || d->n_rows > MOST_ROWS) {
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "the dialect '%.80s' has no name, no table, or too many rows",
                         d->prefix);
    }
    if (d->pass && !pipeline_is_name(xir_str_of(d->pass))) {
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""),
                         "'%.80s' is not a name for a pass: expected lower-case letters, digits and dashes",
                         d->pass);
    }
    for (size_t k = 0; k < d->n_rows && !status; k++) {
        status = check_row_of(d, d->rows, convert_row_at(d->rows, k), why);
    }
    *name = d->prefix;
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* The rows of a table have the size of the first. */
static xir_status find_rows(const xir_convert_row *rows, size_t n, const void **items, xir_diags *why) {
    xir_status status = n ? check_size(rows, LEAST_ROW, sizeof *rows, "conversion row", why) : XIR_OK;
    for (size_t i = 0; i < n && !status; i++) {
        const xir_convert_row *row = convert_row_at(rows, i);
        if (row->size != rows->size) status = check_row_of(NULL, rows, row, why);
        items[i] = row;
    }
    return status;
}

xir_status xir_convert_register(xir_context *ctx, const xir_convert_row *rows, size_t n, xir_diags *why) {
    const xir_allocator *alloc = context_alloc(ctx);
    size_t size = (n ? n : 1) * sizeof(void *);
    const void **items = n <= SIZE_MAX / sizeof(void *) ? mem_new(alloc, size) : NULL;
    if (!items) return diag_memory(why);
    xir_status status = find_rows(rows, n, items, why);
    if (!status) status = registry_add(ctx, REGISTRY_CONVERSION, items, n, why);
    mem_free(alloc, (void *)items, size);
    return status;
}

/* ---- dialects --------------------------------------------------------------------------------------------------- */

/* A dialect also registers its rows, its name for the pass to-xir, and its way back. */
static size_t brings(const void *item, registry_item *out) {
    const xir_dialect_decl *d = item;
    if (d->abi != XIR_ABI || d->size < LEAST_DIALECT || d->n_rows > MOST_ROWS) return 0;
    for (size_t i = 0; out && i < d->n_rows; i++) {
        const xir_convert_row *row = convert_row_at(d->rows, i);
        out[i] = (registry_item){ REGISTRY_CONVERSION, row->name, row };
    }
    size_t n = d->n_rows;
    if (d->pass && out) out[n] = (registry_item){ REGISTRY_PASS, d->pass, &pass_to_xir };
    n += d->pass != NULL;
    const xir_pass_decl *back = DECLARED(d, back);
    if (back && out) out[n] = (registry_item){ REGISTRY_PASS, back->name, back };
    return n + (back != NULL);
}

xir_status xir_dialect_register(xir_context *ctx, const xir_dialect_decl *d, xir_diags *why) {
    const void *item = d;
    return registry_add(ctx, REGISTRY_DIALECT, &item, 1, why);
}

/* ---- those of every context ------------------------------------------------------------------------------------- */

#define FORMAT(id, page, fuzz)
#define DIALECT(id, page, fuzz) extern const xir_dialect_decl dialect_##id;
#include "formats.def"
#undef DIALECT

/* In registration order. They follow the pass to-xir, because each gives it a name. */
static const xir_dialect_decl *const built_in[] = {
#define DIALECT(id, page, fuzz) &dialect_##id,
#include "formats.def"
#undef DIALECT
#undef FORMAT
};

/* Without checks, since every context does so. */
static xir_status register_own(xir_context *ctx, const xir_dialect_decl *d) {
    const size_t n = 1 + brings(d, NULL);
    registry_item *items = mem_new(context_alloc(ctx), n * sizeof *items);
    if (!items) return XIR_E_MEMORY;
    items[0] = (registry_item){ REGISTRY_DIALECT, d->prefix, d };
    (void)brings(d, items + 1);
    xir_status status = registry_add_own(ctx, items, n);
    mem_free(context_alloc(ctx), items, n * sizeof *items);
    return status;
}

static const registry_rules row_rules = { .noun = "conversion row", .check = check_row };
static const registry_rules dialect_rules = { .noun = "dialect", .check = check_dialect, .brings = brings };

xir_status convert_register(xir_context *ctx) {
    registry_define(ctx, REGISTRY_CONVERSION, &row_rules);
    registry_define(ctx, REGISTRY_DIALECT, &dialect_rules);
    xir_status status = xir_pass_register(ctx, &pass_to_xir, NULL);
    for (size_t i = 0; i < sizeof built_in / sizeof *built_in && !status; i++) status = register_own(ctx, built_in[i]);
    return status;
}
