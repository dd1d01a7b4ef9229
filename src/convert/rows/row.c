/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Rows: their list, and the ops that rows without a hook make. The rows of dialects, programs and plug-ins are in one
 * list of the context. */
#include "number.h"
#include "rows/row.h"

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
    const xir_str type = { key.data + prefix, key.size - prefix };
    const size_t n = DECLARED(dialect, spelled) ? dialect->spelled(type, text + prefix, sizeof text - prefix) : 0;
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

/* ---- rows without a hook ---------------------------------------------------------------------------------------- */

/* An attribute's value for a set, or one of its items. A number counts as a list of equal items. NULL: the node does
 * not have it. */
static const xir_any *value_of(const xir_node *at, const row_set *from) {
    const xir_map *extra = xir_op_extra(at->op);
    const xir_any *any = from->attribute.size ? xir_map_find(extra, from->attribute) : NULL;
    if (!any || !from->is_item || any->kind != XIR_ANY_LIST) return any;
    return from->item < any->as.list.size ? &any->as.list.items[from->item] : NULL;
}

/* XIR's word for a word, a number or a bool of the file; empty if the row does not have it. */
static xir_str own_word(const xir_any *any, const row_set *from) {
    char digits[NUMBER_ROOM];
    xir_str value = { digits, 0 };
    if (any->kind == XIR_ANY_TEXT) value = any->as.text;
    else if (any->kind == XIR_ANY_BOOL) value = xir_str_of(any->as.boolean ? "True" : "False");
    else if (any->kind == XIR_ANY_INT) value.size = number_put_i64(digits, any->as.integer);
    for (size_t i = 0; i < from->n_pairs; i++)
        if (xir_str_equal(from->pairs[i].theirs, value)) return from->pairs[i].own;
    return (xir_str){ NULL, 0 };
}

/* Makes one set. Leaves *made if the node does not have the attribute and the row has no default. False: the node is
 * kept, because the row has no set for the attribute's value. */
static bool set_of(xir_node *at, const row_set *from, xir_set *out, bool *made) {
    const xir_any *any = value_of(at, from);
    if (any && any->kind == XIR_ANY_NULL) any = NULL;
    if (!any && !from->has_number && !from->word.size) return true;
    *made = true;
    *out = (xir_set){ .name = from->name, .kind = XIR_SET_REAL, .r = from->number };
    if (from->word.size) *out = (xir_set)XIR_SETE(from->name, from->word);
    if (any) *out = (xir_set){ .name = from->name, .kind = XIR_SET_ANY, .p = any };
    if (any && from->n_pairs) *out = (xir_set)XIR_SETE(from->name, own_word(any, from));
    if (any && from->inverted) *out = (xir_set)XIR_SETI(from->name, !(node_any_real(any, 0) != 0));
    const bool text = any && any->kind == XIR_ANY_TEXT && (from->is_item || from->inverted);
    if (!text && !(any && from->n_pairs && !out->text.size)) return true;
    const int n = text_clip(from->attribute, 60);
    if (any->kind != XIR_ANY_TEXT) return xir_node_unsupported(at, "this value of %.*s", n, from->attribute.data);
    return xir_node_unsupported(at, "%.*s is %.*s", n, from->attribute.data, CLIP_TO(any->as.text, 60));
}

static bool has_set(xir_sets sets, xir_str name) {
    for (size_t i = 0; i < sets.n; i++) if (xir_str_equal(xir_str_of(sets.data[i].name), name)) return true;
    return false;
}

/* Returns true if letters describe feature maps; otherwise they describe a kernel. */
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
    xir_set sets[ROW_SETS + ROW_SETS];
    size_t n = 0;
    for (const row_set *from = at->cls->sets, *end = from + at->cls->n_sets; from < end; from++) {
        bool made = false;
        if (has_set(more, from->field)) continue;
        if (!set_of(at, from, &sets[n], &made)) return false;
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
