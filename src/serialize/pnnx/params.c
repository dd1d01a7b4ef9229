/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Parameters of a line, which become attributes: keys and values that are texts. Layers repeat the parameters of
 * others, which are then not read again. */
#include "number.h"
#include "pnnx/pnnx.h"

/* ---- values ---------------------------------------------------------------------------------------------------- */

/* A list whose items are of one kind: integers, floats, or strings without brackets. False: it is a text, because a
 * list would lose something, or with a failure. */
static bool read_list(pnnx_reader *r, xir_str text, xir_any *out, bool *same) {
    const char open = text.data[0], close = text.data[text.size - 1];
    xir_str item;
    xir_pnnx_kind kind = XIR_PNNX_NONE;
    bool flat = text.size > 2 && close == (open == '(' ? ')' : ']');
    r->values.size = 0;
    *same = open == '(';
    if (text.size < 2) return false;
    for (pnnx_items walk = pnnx_items_of((xir_str){ text.data + 1, text.size - 2 }); pnnx_next_item(&walk, &item);) {
        xir_any *value = dialect_add(&r->d, &r->values, sizeof *value);
        const xir_pnnx_kind of = pnnx_scalar_kind(item);
        bool whole, as_printed;
        if (!value) return false;
        if (!pnnx_take_scalar(item, of, value, &whole, &as_printed))
            return PNNX_FAIL(r, item.data, XIR_E_BOUNDS, "the number '%.*s' does not fit into 32 bits", CLIP(item));
        if (kind == XIR_PNNX_NONE) kind = of;
        bool plain = of != XIR_PNNX_STRING || item.size;
        for (size_t i = 0; of == XIR_PNNX_STRING && i < item.size; i++) plain &= !memchr("()[]", item.data[i], 4);
        flat &= kind == of && whole && plain;
        *same &= as_printed;
    }
    *out = xir_any_list(r->values.data, r->values.size);
    return flat;
}

/* The value of a text. What PNNX would lose is kept as a text: "12abc", "(1,2.5)", "[1,size(@0,2)]". *same: it is
 * printed so again. */
static bool read_value(pnnx_reader *r, xir_str text, xir_any *out, bool *same) {
    const char first = text.size ? text.data[0] : '\0';
    bool whole;
    *same = true;
    *out = xir_any_text(text);
    if (!text.size || memchr(text.data, '%', text.size)) return true;
    if (xir_str_equal(text, XIR_STR("None"))) *out = xir_any_null();
    else if (xir_str_equal(text, XIR_STR("True"))) *out = xir_any_bool(true);
    else if (xir_str_equal(text, XIR_STR("False"))) *out = xir_any_bool(false);
    else if (xir_str_equal(text, XIR_STR("()"))) *out = xir_any_list(NULL, 0);
    else if (xir_str_equal(text, XIR_STR("[]"))) {
        *out = xir_any_list(NULL, 0);
        *same = false;
    } else if (first == '(' || first == '[') {
        if (read_list(r, text, out, same)) return true;
        *out = xir_any_text(text);
        *same = true;
        return !dialect_failed(&r->d);
    } else {
        if (!pnnx_take_scalar(text, pnnx_scalar_kind(text), out, &whole, same))
            return PNNX_FAIL(r, text.data, XIR_E_BOUNDS, "the number '%.*s' does not fit into 32 bits", CLIP(text));
        if (!whole) {
            *out = xir_any_text(text);
            *same = true;
        }
    }
    return true;
}

/* ---- parameters and weights ------------------------------------------------------------------------------------ */

/* ncnn has the same lines, but its parameters have numbers as keys: "0=64". */
static bool is_number(xir_str key) {
    size_t i = key.size && key.data[0] == '-';
    const size_t first = i;
    while (i < key.size && is_digit(key.data[i])) i++;
    return i > first && i == key.size;
}

static bool refuse_ncnn(pnnx_reader *r, const pnnx_item *item) {
    return PNNX_FAIL(r, item->whole.data, XIR_E_UNSUPPORTED, "this is a network of ncnn, not of PNNX: '%.*s'",
                     CLIP(item->whole));
}

/* Of parameters with one key the last counts; there is one weight of a key. */
static bool keep_last(pnnx_reader *r) {
    dialect_list *attrs = &r->d.node.attrs;
    xir_entry *e = attrs->data;
    size_t n = 0;
    if (!attrs->size) return true;
    if (!entries_sort(&r->d.scratch, e, attrs->size)) return trace_memory(&r->d.trace);
    for (size_t i = 0; i < attrs->size; i++) {
        bool again = i + 1 < attrs->size && xir_str_equal(e[i].key, e[i + 1].key);
        if (again && e[i].value.kind == XIR_ANY_PARAMS)
            return DIALECT_FAIL(&r->d, (uint64_t)(((pnnx_item *)r->items.data)->whole.data - r->text.data),
                                XIR_E_EXISTS, "the weight '%.*s' appears twice", CLIP(e[i].key));
        if (!again) e[n++] = e[i];
    }
    attrs->size = n;
    return true;
}

/* ---- texts that were read before ------------------------------------------------------------------------------- */

/* All parameters of a text that is written as it is: each op that differs must be seen to. */
static bool remember(pnnx_reader *r, xir_str text, size_t from, pnnx_params_memo *memo) {
    const dialect_node *node = &r->d.node;
    const xir_entry *entries = (const xir_entry *)node->attrs.data + from;
    const size_t n = node->attrs.size - from;
    const xir_entry *copy = arena_copy(&r->d.scratch, entries, n * sizeof *entries);
    if (!copy) return trace_memory(&r->d.trace);
    *memo = (pnnx_params_memo){ text, copy, n, node->n_sorted == node->attrs.size };
    return true;
}

static pnnx_params_memo *memo_of(pnnx_reader *r, xir_str text) {
    return &r->params[hash_text(r->d.names.seed, text.data, text.size) % PNNX_PARAMS_MEMOS];
}

static pnnx_params_memo *memo_of_type(pnnx_reader *r) {
    return &r->last_params[(size_t)(r->d.node.type - r->d.types) % PNNX_PARAMS_MEMOS];
}

/* Skips the parameters if they are those of the last operator of this type. */
static const pnnx_params_memo *skip_params(pnnx_reader *r, pnnx_text *rest) {
    const pnnx_params_memo *memo = memo_of_type(r);
    const char *p = pnnx_skip_blanks(rest->p, rest->end);
    const size_t size = memo->text.size, left = (size_t)(rest->end - p);
    bool same = size && size <= left && memcmp(p, memo->text.data, size) == 0 &&
                (size == left || pnnx_is_blank(p[size]));
    if (same) rest->p = p + size;
    return same ? memo : NULL;
}

/* Returns true if the items are in the order in which they are written: kinds, and the keys of the first two kinds. */
static bool is_sorted(const pnnx_reader *r) {
    const pnnx_item *items = r->items.data;
    for (size_t i = 1; i < r->items.size; i++) {
        const pnnx_item *a = &items[i - 1], *b = &items[i];
        if (a->kind > b->kind) return false;
        if (a->kind == b->kind && b->kind <= PNNX_ATTR && str_order(a->key, b->key) >= 0) return false;
    }
    return true;
}

bool pnnx_gather_line(pnnx_reader *r, pnnx_head *head) {
    const pnnx_text whole = head->rest;
    r->known = skip_params(r, &head->rest);
    if (!pnnx_gather_items(r, head)) return false;
    const pnnx_item *items = r->items.data;
    r->sorted = is_sorted(r);
    if (!r->known || (r->sorted && !(r->items.size && items[0].kind == PNNX_PARAM))) return true;
    r->known = NULL;   /* more parameters follow */
    head->rest = whole;
    if (!pnnx_gather_items(r, head)) return false;
    r->sorted = is_sorted(r);
    return true;
}

/* ---- attributes ------------------------------------------------------------------------------------------------ */

/* The text of the parameters; empty if they are not together. */
static xir_str params_text(const pnnx_reader *r) {
    const pnnx_item *items = r->items.data;
    size_t n = 0;
    while (r->sorted && n < r->items.size && items[n].kind == PNNX_PARAM) n++;
    if (!n) return (xir_str){ NULL, 0 };
    return (xir_str){ items[0].whole.data,
                      (size_t)(items[n - 1].whole.data - items[0].whole.data) + items[n - 1].whole.size };
}

static bool read_params(pnnx_reader *r, bool *same_text) {
    const pnnx_item *items = r->items.data;
    for (size_t i = 0; i < r->items.size; i++) {
        const pnnx_item *item = &items[i];
        xir_any value;
        bool same = true;
        if (item->kind != PNNX_PARAM) continue;
        if (!r->is_pnnx && is_number(item->key)) return refuse_ncnn(r, item);
        r->is_pnnx = true;
        if (!read_value(r, item->value, &value, &same) || !dialect_node_attr(&r->d, item->key, &value)) return false;
        *same_text &= same && memchr(item->whole.data, '=', item->whole.size);
    }
    return true;
}

static bool read_weights(pnnx_reader *r, xir_str op) {
    const pnnx_item *items = r->items.data;
    for (size_t i = 0; i < r->items.size; i++) {
        xir_any value;
        if (items[i].kind != PNNX_ATTR) continue;
        const xir_str key = { items[i].key.data - 1, items[i].key.size + 1 };
        if (!pnnx_read_weight(r, op, &items[i], &value) || !dialect_node_attr_kept(&r->d, key, value)) return false;
    }
    return true;
}

/* Parameters that no memo has. */
static bool read_new_params(pnnx_reader *r, xir_str text, pnnx_params_memo *memo) {
    const size_t from = r->d.node.attrs.size;
    bool same_text = true;
    if (!read_params(r, &same_text)) return false;
    r->differs |= !same_text;
    if (!same_text) r->d.node.bytes.size = 0;
    return !text.size || !same_text || remember(r, text, from, memo);
}

/* Ops without weights share equal attributes, ops with weights the parameters in them. Weights come first: the sign
 * before their keys is below the letters. */
bool pnnx_read_attributes(pnnx_reader *r, xir_str op) {
    const pnnx_item *items = r->items.data;
    const xir_str text = r->known ? r->known->text : params_text(r);
    pnnx_params_memo *memo = memo_of(r, text);
    bool weights = false;
    for (size_t i = 0; i < r->items.size; i++) weights |= items[i].kind == PNNX_ATTR;
    r->differs |= !r->sorted;
    r->is_pnnx |= weights;
    if (!weights && dialect_node_attrs_again(&r->d, text)) return true;
    if (weights && !read_weights(r, op)) return false;
    if (!r->known && text.size && memo->text.size && xir_str_equal(memo->text, text)) r->known = memo;
    if (r->known) {
        if (!dialect_node_attrs_kept(&r->d, r->known->entries, r->known->n, r->known->sorted)) return false;
    } else {
        if (!read_new_params(r, text, memo)) return false;
        if (memo->text.data == text.data && text.size) r->known = memo;
    }
    if (r->known) *memo_of_type(r) = *r->known;
    return !dialect_failed(&r->d) && (r->sorted || keep_last(r));
}
