/* Rows: their list, their texts, and the ops that rows without a hook make. The rows of dialects, programs and plug-ins
 * are in one list of the context. */
#include <stdlib.h>
#include "convert/convert.h"

/* ---- texts of rows ---------------------------------------------------------------------------------------------- */

static const char *skip(const char *p) {
    while (*p == ' ') p++;
    return p;
}

/* Whether a character can be part of a name: formats have names like "out_proj.weight" and "#shape". */
static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("_.#$", c));
}

static const char *read_word(const char *p, xir_str *out) {
    *out = (xir_str){ p, 0 };
    while (is_word(p[out->size])) out->size++;
    return p + out->size;
}

/* Reads ">=11", "<13" or both. */
static const char *read_versions(const char *p, int64_t *from, int64_t *until) {
    char *end = (char *)(uintptr_t)p;
    for (;; p = end) {
        if (*p == '<') *until = strtoll(p + 1, &end, 10);
        else if (*p == '>' && p[1] == '=') *from = strtoll(p + 2, &end, 10);
        else return p;
    }
}

void row_versions(const char *attributes, int64_t *from, int64_t *until) {
    *from = 0;
    *until = INT64_MAX;
    if (attributes) (void)read_versions(skip(attributes), from, until);
}

bool row_next_attribute(const char **text, row_attribute *out) {
    const char *p = *text ? skip(*text) : "";
    *out = (row_attribute){ .from = 0, .until = INT64_MAX };
    if (*p == '<' || *p == '>') {   /* the versions that have the op */
        p = skip(read_versions(p, &(int64_t){ 0 }, &(int64_t){ 0 }));
    }
    if (!*p) return *text = p, false;
    if (*p == '*') out->name = (xir_str){ p, 1 }, p++;
    else p = read_word(p, &out->name);
    if (!out->name.size || *p++ != ':') return false;
    out->kinds = (xir_str){ p, strspn(p, "nbifstogyaBIFSTOGYA") };
    if (!out->kinds.size) return false;
    p += out->kinds.size;
    if (*p == '!') out->needed = true, p++;
    p = read_versions(p, &out->from, &out->until);
    if (*p && *p != ' ') return false;
    *text = p;
    return true;
}

bool row_range(const char *text, size_t *least, size_t *most) {
    char *end;
    if (!text || *text < '0' || *text > '9') return false;
    *least = *most = (size_t)strtoul(text, &end, 10);
    if (*end == '-') {
        *most = end[1] ? (size_t)strtoul(end + 1, &end, 10) : SIZE_MAX;
        if (*most == SIZE_MAX) return end[1] == '\0' || end[1] == ' ';
    }
    return (*end == '\0' || *end == ' ') && *least <= *most;
}

const char *row_input_names(const char *inputs) { return skip(inputs + strcspn(inputs, " ")); }

bool row_next_input(const char **text, xir_str *name) {
    const char *end = read_word(*text, name);
    if (!name->size || (*end && *end != ' ')) return false;
    *text = skip(end);
    return true;
}

bool row_next_set(const char **text, row_set *out) {
    const char *p = *text ? skip(*text) : "";
    char *end;
    *out = (row_set){ .has_number = false };
    if (!*p) return *text = p, false;
    p = read_word(p, &out->field);
    if (!out->field.size || *p++ != '=') return false;
    bool is_number = (*p >= '0' && *p <= '9') || *p == '-';
    if (!is_number) {
        p = read_word(p, &out->attribute);
        if (!out->attribute.size) return false;
        is_number = *p == ':';
        if (is_number) p++;
    }
    if (is_number) {
        out->number = strtod(p, &end);
        out->has_number = true;
        if (end == p) return false;
        p = end;
    }
    if (*p && *p != ' ') return false;
    *text = p;
    return true;
}

/* ---- the list --------------------------------------------------------------------------------------------------- */

const xir_convert_row *xir_convert_find(xir_context *ctx, xir_str name) {
    return registry_find(ctx, REGISTRY_CONVERSION, name);
}
const xir_convert_row *xir_convert_at(xir_context *ctx, size_t i) { return registry_at(ctx, REGISTRY_CONVERSION, i); }

const xir_convert_row *row_like(xir_context *ctx, const xir_dialect_decl *dialect, xir_str key) {
    const xir_convert_row *near = NULL, *row;
    const size_t prefix = strlen(dialect->prefix);
    size_t distance = SIZE_MAX;
    xir_str name = { key.data + prefix, key.size - prefix };
    for (size_t i = 0; (row = xir_convert_at(ctx, i)); i++) {
        if (strncmp(row->name, dialect->prefix, prefix) != 0) continue;
        if (xir_str_is_nearer(name, xir_str_of(row->name + prefix), &distance)) near = row;
    }
    return near;
}

static const char *fault_of(const xir_convert_row *row) {
    size_t least, most;
    row_attribute attribute;
    row_set set;
    const char *attributes = row->attributes, *sets = row->sets;
    size_t n_names = 0;
    if (!row_range(row->inputs, &least, &most)) return "its number of inputs is not a range";
    const char *names = row_input_names(row->inputs);
    for (xir_str name; row_next_input(&names, &name);) n_names++;
    if (*names || n_names > most) return "its input names are malformed";
    if (!row_range(row->outputs, &least, &most) || strchr(row->outputs, ' '))
        return "its number of outputs is not a range";
    while (row_next_attribute(&attributes, &attribute)) {}
    if (attributes && *attributes) return "its list of attributes is malformed";
    while (row_next_set(&sets, &set)) {}
    if (sets && *sets) return "its list of sets is malformed";
    if (!row->cls && !row->hook) return "it has no class and no hook";
    return NULL;
}

xir_status convert_check_row(const xir_dialect_decl *dialect, const xir_convert_row *first, const xir_convert_row *row,
                             xir_diags *why) {
    xir_status status = convert_check_size(row, sizeof *row, sizeof *row, "conversion row", why);
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
    xir_status status = convert_check_size(row, sizeof *row, sizeof *row, "conversion row", why);
    if (status) return status;
    *name = row->name;
    return convert_check_row(row->name ? xir_dialect_find(ctx, xir_str_of(row->name)) : NULL, row, row, why);
}

static const registry_rules row_rules = { .noun = "conversion row", .check = check_row };

void convert_rules_define(xir_context *ctx) {
    registry_define(ctx, REGISTRY_CONVERSION, &row_rules);
    registry_define(ctx, REGISTRY_DIALECT, &dialect_rules);
}

/* The rows of a table have the size of the first. */
static xir_status find_rows(const xir_convert_row *rows, size_t n, const void **items, xir_diags *why) {
    xir_status status = n ? convert_check_size(rows, sizeof *rows, sizeof *rows, "conversion row", why) : XIR_OK;
    for (size_t i = 0; i < n && !status; i++) {
        const xir_convert_row *row = convert_row_at(rows, i);
        if (row->size != rows->size) status = convert_check_row(NULL, rows, row, why);
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

/* ---- rows without a hook ---------------------------------------------------------------------------------------- */

/* Makes one set. False: it is left out, because the node does not have the attribute and the row has no default. */
static bool set_of(const xir_node *at, const row_set *from, char name[64], xir_set *out) {
    const xir_map *extra = xir_op_extra(at->op);
    const xir_any *any = from->attribute.size && extra ? xir_map_find(extra, from->attribute) : NULL;
    if (from->field.size >= 64 || (!any && !from->has_number)) return false;
    memcpy(name, from->field.data, from->field.size);
    name[from->field.size] = '\0';
    *out = (xir_set){ .name = name, .kind = XIR_SET_REAL, .r = from->number };
    if (any && any->kind == XIR_ANY_NULL) return from->has_number;
    if (any) *out = (xir_set){ .name = name, .kind = XIR_SET_ANY, .p = any };
    return true;
}

bool row_run(xir_node *at) {
    enum { MOST_SETS = 12 };
    char names[MOST_SETS][64];
    xir_set sets[MOST_SETS];
    size_t n = 0;
    row_set from;
    const char *text = at->cls->row->sets;
    while (n < MOST_SETS && row_next_set(&text, &from)) n += set_of(at, &from, names[n], &sets[n]);
    xir_value **inputs = arena_take(&at->c->scratch, (at->n_in + 1) * sizeof *inputs);
    if (!inputs) return node_no_memory(at);
    for (size_t i = 0; i < at->n_in; i++) inputs[i] = xir_node_optional_input(at, i);
    const xir_values values = { inputs, at->n_in };
    if (at->n_out <= 1) return xir_node_becomes(at, at->cls->row->cls, values, (xir_sets){ sets, n });
    xir_op *op = xir_node_make_op(at, at->cls->row->cls, values, (xir_sets){ sets, n });
    for (size_t i = 0; op && i < at->n_out; i++) xir_node_result(at, i, xir_op_output(op, (int64_t)i));
    return !xir_node_failed(at);
}
