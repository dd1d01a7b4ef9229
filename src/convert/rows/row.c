/* Rows: their list, their texts, and the ops that rows without a hook make. The rows of dialects, programs and plug-ins
 * are in one list of the context. */
#include <stdio.h>
#include <stdlib.h>
#include "number.h"
#include "rows/row.h"
#include "sized.h"

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
        *most = end[1] && end[1] != ' ' ? (size_t)strtoul(end + 1, &end, 10) : SIZE_MAX;
        if (*most == SIZE_MAX) return end[1] == '\0' || end[1] == ' ';
    }
    return (*end == '\0' || *end == ' ') && *least <= *most;
}

const char *row_input_names(const char *inputs) { return skip(inputs + strcspn(inputs, " ")); }

bool row_next_input(const char **text, row_input *out) {
    const char *p = *text;
    *out = (row_input){ .is_attribute = *p == '@' };
    p = read_word(p + out->is_attribute, &out->name);
    if (!out->name.size) return false;
    if (out->is_attribute) out->name = (xir_str){ out->name.data - 1, out->name.size + 1 };
    if (*p == ':') {
        out->order = (xir_str){ p + 1, strspn(p + 1, "NCDHWLOI") };
        if (out->order.size < 2) return false;
        p = out->order.data + out->order.size;
    }
    if (*p == '?') out->optional = true, p++;
    if (*p && *p != ' ') return false;
    *text = skip(p);
    return true;
}

bool row_next_word(xir_str *words, xir_str *theirs, xir_str *own) {
    size_t colon = 0, end = 0;
    while (end < words->size && words->data[end] != ',') end++;
    while (colon < end && words->data[colon] != ':') colon++;
    if (colon == 0 || colon + 1 >= end) return false;
    *theirs = (xir_str){ words->data, colon };
    *own = (xir_str){ words->data + colon + 1, end - colon - 1 };
    const size_t used = end < words->size ? end + 1 : end;
    *words = (xir_str){ words->data + used, words->size - used };
    return true;
}

/* "name", "!name", "name[1]" or "name{a:A,b:B}". NULL: it is malformed. */
static const char *read_source(const char *p, row_set *out) {
    char *end;
    xir_str theirs, own;
    if (*p == '!') out->inverted = true, p++;
    p = read_word(p, &out->attribute);
    if (!out->attribute.size) return NULL;
    if (*p == '[') {
        if (p[1] < '0' || p[1] > '9') return NULL;
        out->item = (size_t)strtoul(p + 1, &end, 10);
        out->is_item = true;
        if (*end != ']') return NULL;
        p = end + 1;
    }
    if (*p != '{') return p;
    out->words = (xir_str){ p + 1, strcspn(p + 1, "} ") };
    p = out->words.data + out->words.size;
    xir_str rest = out->words;
    while (row_next_word(&rest, &theirs, &own)) {}
    const bool whole = out->words.size && !rest.size && p[-1] != ',';
    return whole && *p == '}' ? p + 1 : NULL;
}

bool row_next_set(const char **text, row_set *out) {
    const char *p = *text ? skip(*text) : "";
    *out = (row_set){ .has_number = false };
    if (!*p) return *text = p, false;
    p = read_word(p, &out->field);
    if (!out->field.size || *p++ != '=') return false;
    bool is_number = (*p >= '0' && *p <= '9') || *p == '-';
    if (*p == '\'') {
        out->word = (xir_str){ p + 1, strcspn(p + 1, "' ") };
        p = out->word.data + out->word.size;
        if (!out->word.size || *p++ != '\'') return false;
    } else if (!is_number) {
        if (!(p = read_source(p, out))) return false;
        is_number = *p == ':';
        if (is_number) p++;
    }
    if (is_number) {
        number v;
        const size_t size = number_parse(p, strlen(p), &v);
        if (!size) return false;
        out->number = v.kind == NUMBER_I64 ? (double)v.i64 : v.kind == NUMBER_U64 ? (double)v.u64 : v.real;
        out->has_number = true;
        p += size;
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

const xir_convert_row *convert_row_of(xir_context *ctx, const xir_dialect_decl *dialect, xir_str key) {
    enum { MOST_KEY = 200 };
    char text[MOST_KEY];
    const xir_convert_row *row = xir_convert_find(ctx, key);
    const size_t prefix = strlen(dialect->prefix);
    if (row) return row;
    const size_t n = convert_spelled(dialect, (xir_str){ key.data + prefix, key.size - prefix }, text + prefix,
                                     sizeof text - prefix);
    if (!n || n > sizeof text - prefix) return NULL;
    memcpy(text, dialect->prefix, prefix);
    return xir_convert_find(ctx, (xir_str){ text, prefix + n });
}

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

xir_convert_fn *convert_row_back(const xir_convert_row *row) {
    return row->size >= SIZE_TO(xir_convert_row, back) ? row->back : NULL;
}

const char *convert_row_classes(const xir_convert_row *row) {
    const char *from = row->size >= SIZE_TO(xir_convert_row, from) ? row->from : NULL;
    return from ? from : row->hook ? "" : row->cls;
}

bool convert_next_class(const char **classes, char name[64]) {
    const char *p = skip(*classes);
    const size_t n = strcspn(p, " ");
    *classes = p + n;
    if (!n || n >= 64) return false;
    memcpy(name, p, n);
    name[n] = '\0';
    return true;
}

/* ---- rows without a hook ---------------------------------------------------------------------------------------- */

/* An attribute's value for a set, or one of its items. A number counts as a list of equal items. NULL: the node does
 * not have it. */
static const xir_any *value_of(const xir_node *at, const row_set *from) {
    const xir_map *extra = xir_op_extra(at->op);
    const xir_any *any = from->attribute.size && extra ? xir_map_find(extra, from->attribute) : NULL;
    if (!any || !from->is_item || any->kind != XIR_ANY_LIST) return any;
    return from->item < any->as.list.size ? &any->as.list.items[from->item] : NULL;
}

/* XIR's word for a word, a number or a bool of the file; empty if the row does not have it. */
static xir_str own_word(const xir_any *any, xir_str words) {
    char digits[24] = "";
    xir_str value = { digits, 0 }, theirs, own;
    if (any->kind == XIR_ANY_TEXT) value = any->as.text;
    else if (any->kind == XIR_ANY_BOOL) value = xir_str_of(any->as.boolean ? "True" : "False");
    else if (any->kind == XIR_ANY_INT)
        value.size = (size_t)snprintf(digits, sizeof digits, "%lld", (long long)any->as.integer);
    while (row_next_word(&words, &theirs, &own)) if (xir_str_equal(theirs, value)) return own;
    return (xir_str){ NULL, 0 };
}

/* Makes one set. Leaves *made if the node does not have the attribute and the row has no default. False: the node is
 * kept, because the row has no set for the attribute's value. */
static bool set_of(xir_node *at, const row_set *from, char name[ROW_NAME], xir_set *out, bool *made) {
    const xir_any *any = value_of(at, from);
    if (any && any->kind == XIR_ANY_NULL) any = NULL;
    if (!any && !from->has_number && !from->word.size) return true;
    *made = true;
    memcpy(name, from->field.data, from->field.size);
    name[from->field.size] = '\0';
    *out = (xir_set){ .name = name, .kind = XIR_SET_REAL, .r = from->number };
    if (from->word.size) *out = (xir_set)XIR_SETE(name, from->word);
    if (any) *out = (xir_set){ .name = name, .kind = XIR_SET_ANY, .p = any };
    if (any && from->words.size) *out = (xir_set)XIR_SETE(name, own_word(any, from->words));
    if (any && from->inverted) *out = (xir_set)XIR_SETI(name, !(node_any_real(any, 0) != 0));
    const bool text = any && any->kind == XIR_ANY_TEXT && (from->is_item || from->inverted);
    if (!text && !(any && from->words.size && !out->text.size)) return true;
    const int n = text_clip(from->attribute, 60);
    if (any->kind != XIR_ANY_TEXT) return xir_node_unsupported(at, "this value of %.*s", n, from->attribute.data);
    return xir_node_unsupported(at, "%.*s is %.*s", n, from->attribute.data, CLIP_TO(any->as.text, 60));
}

static bool has_set(xir_sets sets, xir_str name) {
    for (size_t i = 0; i < sets.n; i++) if (xir_str_equal(xir_str_of(sets.data[i].name), name)) return true;
    return false;
}

/* Whether letters describe feature maps; otherwise they describe a kernel. */
static bool is_map(xir_str order) { return order.size >= 3 && order.data[0] == 'N' && order.data[1] == 'C'; }

/* A kernel in XIR's order: what precedes its spatial axes comes last, in reverse, "OIHW" as "HWIO". */
static xir_value *kernel_of(xir_node *at, xir_value *v, xir_str order) {
    int64_t axes[8];
    char letters[9] = "";
    if (!v || order.size > 8) return v;
    for (size_t i = 0; i < order.size; i++) {
        axes[i] = (int64_t)(i + 2 < order.size ? i + 2 : order.size - 1 - i);
        letters[i] = order.data[axes[i]];
    }
    return xir_node_transposed(at, v, axes, order.size, order.size > 2 ? letters : NULL);
}

/* An input in XIR's order of axes, if the row gives the order that it has; NULL if absent. */
static xir_value *input_value(xir_node *at, size_t i) {
    xir_value *v = xir_node_optional_input(at, i);
    const xir_str order = i < at->cls->n_slots ? at->cls->slots[i].order : (xir_str){ NULL, 0 };
    if (!v || !order.size) return v;
    const size_t rank = xir_type_rank(xir_value_type(v));
    if (rank != order.size) {
        char words[80];
        return xir_node_unsupported(at, "%s has %zu dims", node_input_words(at, i, words), rank), NULL;
    }
    return is_map(order) ? xir_node_channels_last(at, v) : kernel_of(at, v, order);
}

/* Sets the node's outputs to those of an op; feature maps in the order of input 0. */
static bool give_results(xir_node *at, xir_op *op) {
    const bool map = at->cls->n_slots && is_map(at->cls->slots[0].order);
    for (size_t i = 0; op && i < at->n_out; i++) {
        xir_value *v = xir_op_output(op, (int64_t)i);
        xir_node_result(at, i, map ? xir_node_channels_second(at, v) : v);
    }
    return !xir_node_failed(at);
}

bool row_run_with(xir_node *at, xir_sets more) {
    char names[ROW_SETS][ROW_NAME];
    xir_set sets[ROW_SETS + ROW_SETS];
    size_t n = 0;
    row_set from;
    const char *text = at->cls->row->sets;
    while (n < ROW_SETS && row_next_set(&text, &from)) {
        bool made = false;
        if (has_set(more, from.field)) continue;
        if (!set_of(at, &from, names[n], &sets[n], &made)) return false;
        n += made;
    }
    for (size_t i = 0; i < more.n && i < ROW_SETS; i++) sets[n++] = more.data[i];
    const size_t n_in = at->n_in > at->cls->n_slots ? at->n_in : at->cls->n_slots;
    xir_value **inputs = node_take(at, (n_in + 1) * sizeof *inputs);
    if (!inputs) return node_no_memory(at);
    for (size_t i = 0; i < at->n_in; i++) inputs[i] = input_value(at, i);
    const xir_values values = { inputs, at->n_in };
    const bool map = at->cls->n_slots && is_map(at->cls->slots[0].order);
    if (at->n_out <= 1 && !map) return xir_node_becomes(at, at->cls->row->cls, values, (xir_sets){ sets, n });
    return give_results(at, xir_node_make_op(at, at->cls->row->cls, values, (xir_sets){ sets, n }));
}

bool row_run(xir_node *at) { return row_run_with(at, XIR_NO_SETS); }
