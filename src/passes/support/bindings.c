/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See bindings.h. Everything is checked before anything changes. */
#include "support/bindings.h"
#include "forms.h"
#include "source_tags.h"
#include "symbol.h"

/* One item of the list. */
typedef struct item {
    xir_symbol to;
    xir_str    text;
    bool       is_symbol, is_named;   /* of the network; in a tag of an open dim */
} item;

typedef struct bindings {
    xir_pass   *at;
    const char *option;
    item       *items;
    xir_symbol *symbols;   /* those of the items that are symbols */
    size_t      n, n_symbols;
    bool        changed;
} bindings;

#define ITEM(i) CLIP_TO((i)->text, 80)

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static xir_str next_item(xir_str *rest, char separator) {
    size_t n = 0;
    while (n < rest->size && rest->data[n] != separator) n++;
    const xir_str text = { rest->data, n };
    const size_t used = n < rest->size ? n + 1 : n;
    *rest = (xir_str){ rest->data + used, rest->size - used };
    return text;
}

static xir_status read_item(const bindings *b, xir_str text, item *out) {
    size_t eq = text.size;
    while (eq > 0 && text.data[eq - 1] != '=') eq--;
    form_text t;
    form_error e = { .status = XIR_E_SYNTAX, .message = "expected NAME=N or NAME=A..B" };
    form_begin(&t, (xir_str){ text.data + eq, text.size - eq }, &e);
    *out = (item){ .text = text, .to.name = { text.data, eq ? eq - 1 : 0 } };
    bool ok = eq > 1 && form_i64(&t, "a number", &out->to.least);
    out->to.most = out->to.least;
    if (ok && t.at < t.size) ok = form_literal(&t, "..") && form_i64(&t, "a number", &out->to.most);
    if (ok && t.at < t.size) ok = form_expected(&t, XIR_E_SYNTAX, t.at, "the end");
    if (ok) return XIR_OK;
    return xir_pass_fail(b->at, e.status, NULL, "%s, '%.*s', character %zu: %s", b->option, ITEM(out), eq + e.at + 1,
                         e.message);
}

static xir_status check_name(const bindings *b, const item *last) {
    for (const item *i = b->items; i < last; i++) {
        if (!xir_str_equal(i->to.name, last->to.name)) continue;
        return xir_pass_fail(b->at, XIR_E_EXISTS, NULL, "%s, '%.*s': the name '%.*s' appears twice", b->option,
                             ITEM(last), CLIP_TO(last->to.name, 80));
    }
    return XIR_OK;
}

static xir_status read_items(bindings *b, xir_str list, char separator) {
    xir_status status = XIR_OK;
    while (list.size && !status) {
        const xir_str text = next_item(&list, separator);
        if (!text.size) continue;
        item *last = &b->items[b->n++];
        status = read_item(b, text, last);
        if (!status) status = check_name(b, last);
    }
    return status;
}

/* ---- names of the file ------------------------------------------------------------------------------------------- */

/* The item for the name that the tag gives to dim `k`; NULL if there is none. */
static item *item_for(const bindings *b, const xir_any *names, size_t k) {
    const xir_any *name = names && names->kind == XIR_ANY_LIST && k < names->as.list.size ? &names->as.list.items[k]
                                                                                          : NULL;
    for (size_t i = 0; name && name->kind == XIR_ANY_TEXT && i < b->n; i++)
        if (xir_str_equal(name->as.text, b->items[i].to.name)) return &b->items[i];
    return NULL;
}

static void find_names(const bindings *b, xir_value *v) {
    const xir_tensor_type *tensor = xir_type_as_tensor(v->type);
    const xir_any *names = tensor ? source_tag_find(xir_value_tags(v), SOURCE_DIMS) : NULL;
    for (size_t k = 0; names && k < tensor->shape.size; k++) {
        item *found = tensor->shape.data[k] == XIR_UNKNOWN_DIM ? item_for(b, names, k) : NULL;
        if (found) found->is_named = true;
    }
}

/* Gives numbers to dims with names, and removes the tag of a value that has none left open. */
static xir_status set_dims(bindings *b, xir_value *v) {
    const xir_tensor_type *tensor = xir_type_as_tensor(v->type);
    const xir_any *names = tensor ? source_tag_find(xir_value_tags(v), SOURCE_DIMS) : NULL;
    if (!names) return XIR_OK;
    const size_t rank = tensor->shape.size;
    const xir_allocator *alloc = &b->at->net->alloc;
    int64_t *dims = mem_new(alloc, (rank + 1) * sizeof *dims);
    if (!dims) return diag_memory(b->at->why);
    bool changes = false;
    for (size_t k = 0; k < rank; k++) {
        const item *found = tensor->shape.data[k] == XIR_UNKNOWN_DIM ? item_for(b, names, k) : NULL;
        const bool has_number = found && found->to.least == found->to.most;
        dims[k] = has_number ? found->to.least : tensor->shape.data[k];
        changes |= has_number;
    }
    xir_status status = XIR_OK;
    if (changes) {
        const xir_type *type = xir_type_with_shape(b->at->net->ctx, v->type, dims, rank, b->at->why);
        status = type ? xir_value_set_type(v, type) : XIR_E_MEMORY;
        b->changed = true;
    }
    mem_free(alloc, dims, (rank + 1) * sizeof *dims);
    if (!status && !xir_type_has_unknown_dim(v->type)) {
        status = source_tag_set(v, SOURCE_DIMS, NULL);
        b->changed = true;
    }
    return status;
}

/* ---- binding ----------------------------------------------------------------------------------------------------- */

static xir_status no_such_name(const bindings *b, const item *i) {
    const object_pool *pool = &b->at->net->pool;
    xir_str near = { NULL, 0 };
    size_t distance = SIZE_MAX;
    const symbol *s;
    for (size_t k = 0; (s = symbol_at(pool, k)); k++)
        if (xir_str_is_nearer(i->to.name, s->name, &distance)) near = s->name;
    return xir_pass_fail(b->at, XIR_E_UNKNOWN, NULL, "%s, '%.*s': no open dim has the name '%.*s'" NEAR_FORMAT,
                         b->option, ITEM(i), CLIP_TO(i->to.name, 80), NEAR_ARGS(near));
}

static xir_status check_item(const bindings *b, const item *i) {
    const int64_t most = -(EXPR_LEAST + 1);   /* xir_network_bind checks symbols */
    if (i->is_symbol) return XIR_OK;
    if (!i->is_named) return no_such_name(b, i);
    if (i->to.least < 0 || i->to.most < i->to.least || i->to.most > most) {
        return xir_pass_fail(b->at, XIR_E_BOUNDS, NULL, "%s, '%.*s': expected values within 0..%lld", b->option,
                             ITEM(i), (long long)most);
    }
    if (i->to.least == i->to.most) return XIR_OK;
    return xir_pass_fail(b->at, XIR_E_UNSUPPORTED, NULL, "%s, '%.*s': expected a number, found an interval: the name is "
                         "not a symbol of the network", b->option, ITEM(i));
}

/* The findings of the network, as those of the option. */
xir_status bindings_bind(xir_pass *at, const char *option, const xir_symbol *symbols, size_t n) {
    xir_diags *found = xir_diags_new(at->net->ctx);
    if (!found) return diag_memory(at->why);
    const xir_status status = xir_network_bind(at->net, symbols, n, found);
    const xir_diag *d = xir_diags_at(found, 0);
    if (status == XIR_E_MEMORY) diag_memory(at->why);
    else if (status && d) xir_pass_fail(at, status, NULL, "%s: %.*s", option, CLIP_TO(d->message, 400));
    xir_diags_free(found);
    return status;
}

static xir_status apply(bindings *b) {
    xir_network *net = b->at->net;
    xir_status status = XIR_OK;
    for (xir_op *op = net->first; op; op = op->next)
        for (uint32_t i = 0; i < op->n_outputs; i++) find_names(b, &op_outputs(op)[i]);
    for (size_t i = 0; i < b->n && !status; i++) {
        b->items[i].is_symbol = symbol_find(&net->pool, b->items[i].to.name) != EXPR_UNKNOWN;
        if (b->items[i].is_symbol) b->symbols[b->n_symbols++] = b->items[i].to;
        status = check_item(b, &b->items[i]);
    }
    const uint64_t epoch = net->epoch;   /* grows if anything is bound */
    if (!status && b->n_symbols) status = bindings_bind(b->at, b->option, b->symbols, b->n_symbols);
    b->changed = net->epoch != epoch;
    for (xir_op *op = net->first; op && !status; op = op->next)
        for (uint32_t i = 0; i < op->n_outputs && !status; i++) status = set_dims(b, &op_outputs(op)[i]);
    return status;
}

xir_status bindings_apply(xir_pass *at, const char *option, char separator, bool *changed) {
    const xir_str list = xir_pass_text(at, option);
    const xir_allocator *alloc = &at->net->alloc;
    size_t room = 1;
    *changed = false;
    if (!list.size) return XIR_OK;
    for (size_t i = 0; i < list.size; i++) room += list.data[i] == separator;
    bindings b = { .at = at, .option = option, .items = mem_new(alloc, room * sizeof *b.items),
                   .symbols = mem_new(alloc, room * sizeof *b.symbols) };
    xir_status status = b.items && b.symbols ? read_items(&b, list, separator) : diag_memory(at->why);
    if (!status && b.n) status = apply(&b);
    *changed = b.changed;
    xir_pass_changed(at, b.changed);
    if (b.items) mem_free(alloc, b.items, room * sizeof *b.items);
    if (b.symbols) mem_free(alloc, b.symbols, room * sizeof *b.symbols);
    return status;
}
