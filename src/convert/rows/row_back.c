/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Rows, read backward: from the attributes of XIR's op, each set "name=attribute" makes the attribute, and each set
 * "name=number" is a condition. What no set names must have its default. Orders of axes are those that the row has for
 * the inputs: a kernel HWIO becomes OIHW, and a map that is not in the order is transposed before and after. */
#include <math.h>
#include <stdlib.h>
#include "rows/row.h"
#include "spec/maps.h"
#include "types.h"

enum { MOST_LISTED = 8 };

/* ---- orders of axes --------------------------------------------------------------------------------------------- */

xir_value *row_back_input(xir_node *at, size_t i) {
    const xir_str order = i < at->to->n_slots ? at->to->slots[i].order : (xir_str){ NULL, 0 };
    return node_in_order(at, xir_node_optional_input(at, i), order);
}

/* A type with its axes in the order of the node. Networks repeat themselves, so the latest types are known. */
static const xir_type *type_in_order(xir_node *at, const xir_type *type, const int64_t axes[8]) {
    const xir_str order = at->order;
    int64_t dims[8];
    uint64_t letters = 0;
    memcpy(&letters, order.data, order.size);
    ordered_type *known = &at->c->ordered[hash_pointer(type) % COUNT(at->c->ordered)];
    if (known->type == type && known->letters == letters) return known->made;
    for (size_t i = 0; i < order.size; i++) dims[i] = type_dim(type, axes[i]);
    const xir_layout *layout = conversion_layout(at->c, order);
    const xir_ints list = { dims, order.size };
    const xir_type *made = layout ? node_type(at, xir_type_element(type), layout, &list) : NULL;
    if (!made) return node_no_memory(at), NULL;
    *known = (ordered_type){ type, letters, made };
    return made;
}

/* The type of an output in the order of input 0 of the row; the output itself if it is in this order. */
static const xir_type *output_type(xir_node *at, const xir_value *v, int64_t axes[8], bool *same) {
    const xir_str order = at->order;
    const xir_type *type = xir_value_type(v);
    *same = true;
    if (!order.size) return type;
    if (!node_axes_in(at, v, order, axes, same)) return NULL;
    return *same ? type : type_in_order(at, type, axes);
}

bool row_back_results(xir_node *at, xir_op *op) {
    for (size_t i = 0; op && i < at->n_out; i++)
        xir_node_result(at, i, map_as_output(at, i, xir_op_output(op, (int64_t)i)));
    return !xir_node_failed(at);
}

/* ---- sets ------------------------------------------------------------------------------------------------------- */

/* The attributes of the foreign op that are known so far, each at the index of the first set that names it. */
typedef struct theirs {
    xir_any whole[ROW_SETS], items[ROW_SETS][MOST_LISTED];
    size_t  n_items[ROW_SETS];
    bool    has[ROW_SETS];
} theirs;

static bool has_kind(xir_str kinds, char letter) { return kinds.size && memchr(kinds.data, letter, kinds.size); }

/* The value in a kind that the attribute takes: a bool, an integer, a real. */
static xir_any in_kind(xir_any any, xir_str kinds) {
    const bool number = any.kind == XIR_ANY_BOOL || any.kind == XIR_ANY_INT || any.kind == XIR_ANY_REAL;
    const double v = number ? node_any_real(&any, 0) : 0;
    if (!number) return any;
    if (any.kind == XIR_ANY_REAL && has_kind(kinds, 'f')) return any;
    if (any.kind == XIR_ANY_BOOL && has_kind(kinds, 'b')) return any;
    if (any.kind == XIR_ANY_INT && has_kind(kinds, 'i')) return any;
    if (has_kind(kinds, 'f')) return xir_any_real(v);
    if (has_kind(kinds, 'b') && (v == 0 || v == 1)) return xir_any_bool(v != 0);
    if (has_kind(kinds, 'i') && v == trunc(v) && fabs(v) < 0x1p53) return xir_any_int((int64_t)v);
    return any;
}

/* Two sets of one attribute or item must agree: pads of both sides are one number of the file. */
static bool put_value(xir_node *at, theirs *t, const row_set *from, xir_any any) {
    const size_t i = from->first;
    xir_any *to = &t->whole[i];
    if (from->is_item) {
        if (from->item >= MOST_LISTED) return xir_node_unsupported(at, "the conversion is invalid: too many items");
        while (t->n_items[i] <= from->item) t->items[i][t->n_items[i]++] = xir_any_null();
        to = &t->items[i][from->item];
    }
    const bool had = from->is_item ? to->kind != XIR_ANY_NULL : t->has[i];
    if (had && !xir_any_equal(to, &any))
        return xir_node_unsupported(at, "%.*s is another number than its counterpart", (int)from->field.size,
                                    from->field.data);
    *to = any;
    t->has[i] = true;
    return true;
}
/* The file's word for XIR's, as a text, a number or a bool. */
static bool their_word(xir_node *at, const row_set *from, xir_any *any) {
    const xir_str kinds = from->kinds;
    char room[24];
    for (size_t i = 0; any->kind == XIR_ANY_TEXT && i < from->n_pairs; i++) {
        const xir_str word = from->pairs[i].theirs;
        if (!same_word(from->pairs[i].own, any->as.text)) continue;
        const bool truth = xir_str_equal(word, XIR_STR("True")) || xir_str_equal(word, XIR_STR("False"));
        if (truth && has_kind(kinds, 'b')) *any = xir_any_bool(word.data[0] == 'T');
        else if (has_kind(kinds, 's')) *any = xir_any_text(word);
        else if (word.size < sizeof room) {
            memcpy(room, word.data, word.size);
            room[word.size] = '\0';
            *any = xir_any_int(strtoll(room, NULL, 10));
        }
        return true;
    }
    const xir_str text = any->kind == XIR_ANY_TEXT ? any->as.text : XIR_STR("");
    return xir_node_unsupported(at, "%.*s is %.*s", (int)from->field.size, from->field.data, CLIP(text));
}

/* A set with a number or a word of XIR: whether the op has it. */
static bool holds(xir_node *at, const row_set *from, const xir_any *any) {
    const int n = (int)from->field.size;
    if (from->word.size) {
        if (any && any->kind == XIR_ANY_TEXT && same_word(any->as.text, from->word)) return true;
        return xir_node_unsupported(at, "%.*s is not %.*s", n, from->field.data, (int)from->word.size, from->word.data);
    }
    const bool list = any && any->kind == XIR_ANY_LIST && any->as.list.size == 1;
    const double v = node_any_real(list ? any->as.list.items : any, NAN);
    if ((float)v == (float)from->number) return true;
    return xir_node_unsupported(at, "%.*s is not %g", n, from->field.data, from->number);
}

static bool read_set(xir_node *at, theirs *t, const row_set *from, const xir_field *field) {
    const xir_any *own = own_field(at, field);
    if (!from->attribute.size) return holds(at, from, own);
    if (!own) return true;   /* absent, as in the file */
    xir_any any = *own;
    if (from->n_pairs && !their_word(at, from, &any)) return false;
    if (from->inverted) any = in_kind(xir_any_bool(node_any_real(&any, 0) == 0), from->kinds);
    else if (!from->n_pairs && !from->is_item) any = in_kind(any, from->kinds);
    return put_value(at, t, from, any);
}

static bool has_set(xir_sets sets, xir_str name) {
    for (size_t i = 0; i < sets.n; i++) if (xir_str_equal(xir_str_of(sets.data[i].name), name)) return true;
    return false;
}

/* Attributes that the file requires and nothing has set. */
static bool nothing_missing(xir_node *at, xir_sets sets) {
    for (size_t i = 0; at->to->needs && i < at->to->n_attributes; i++) {
        const row_attribute *a = &at->to->attributes[i];
        if (!a->needed || at->to->version < a->from || at->to->version >= a->until || has_set(sets, a->name)) continue;
        return xir_node_unsupported(at, "nothing gives %.*s", (int)a->name.size, a->name.data);
    }
    return true;
}

/* The fields that the row's hook sees: constants, and all of a row without sets except the scale of cutting, which no
 * hook has. */
static uint64_t seen_by_hook(const xir_class *cls, const xir_convert_row *row) {
    uint64_t seen = 0;
    for (size_t i = 0; convert_row_back(row) && i < cls->n_fields && i < 64; i++) {
        const xir_field *f = &cls->fields[i];
        const bool all = !row->sets && !xir_str_equal(f->name, XIR_STR("cut_scale"));
        if (f->kind == XIR_KIND_PARAMS || all) seen |= (uint64_t)1 << i;
    }
    return seen;
}

bool row_becomes(xir_node *at, xir_values inputs, xir_sets more) {
    const convert_class *to = at->to;
    const xir_class *cls = at->op->cls;
    theirs t;   /* on the stack: a node must not keep it until the end of the conversion */
    uint64_t named = 0;
    xir_str other = { NULL, 0 };
    if (xir_node_failed(at)) return false;
    memset(t.has, 0, to->n_sets * sizeof *t.has);
    memset(t.n_items, 0, to->n_sets * sizeof *t.n_items);
    for (const row_set *from = to->sets, *end = from + to->n_sets; from < end; from++) {
        const xir_field *f = xir_class_field(cls, from->field);
        if (!f) return xir_node_unsupported(at, "it has no attribute %s", from->name);
        named |= (uint64_t)1 << (f - cls->fields);
        if (!has_set(more, from->attribute) && !read_set(at, &t, from, f)) return false;
    }
    const bool by_default = at->op->attrs == cls->defaults;
    if (!by_default && !own_is_default(at->op, named | seen_by_hook(cls, to->row), &other))
        return xir_node_unsupported(at, "%.*s has another value than its default", (int)other.size, other.data);
    xir_set *all = node_take(at, (to->n_sets + more.n + 1) * sizeof *all);
    const xir_type **types = node_take(at, (at->n_out + 1) * sizeof *types);
    if (!all || !types) return node_no_memory(at);
    size_t n = 0;
    for (size_t i = 0; i < to->n_sets; i++) {
        if (!t.has[i]) continue;
        if (to->sets[i].is_item) t.whole[i] = xir_any_list(t.items[i], t.n_items[i]);
        all[n++] = (xir_set){ .name = to->sets[i].theirs, .kind = XIR_SET_ANY, .p = &t.whole[i] };
    }
    for (size_t i = 0; i < more.n; i++) all[n++] = more.data[i];
    const xir_sets sets = { all, n };
    if (!nothing_missing(at, sets)) return false;
    for (size_t i = 0; i < at->n_out; i++) {
        int64_t axes[8];
        bool same;
        types[i] = output_type(at, xir_op_output(at->op, (int64_t)i), axes, &same);
        if (xir_node_failed(at)) return false;
    }
    xir_op *op = foreign_make(at, to, inputs, sets, types, at->n_out);
    at->main = op;
    return op && row_back_results(at, op);
}

bool row_run_back(xir_node *at) {
    const size_t n = at->n_in;
    if (at->to->n_slots && n > at->to->n_slots) return xir_node_unsupported(at, "%zu inputs", n);
    xir_value **in = node_take(at, (n + 1) * sizeof *in);
    if (!in) return node_no_memory(at);
    for (size_t i = 0; i < n; i++) in[i] = row_back_input(at, i);
    return row_becomes(at, (xir_values){ in, n }, XIR_NO_SETS);
}
