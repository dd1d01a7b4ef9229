/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See spelled.h. */
#include "spelled.h"
#include <stdio.h>
#include "diagnose.h"
#include "forms.h"
#include "types.h"

#define DIMS_KEY    XIR_STR("xir.dims")
#define SYMBOLS_KEY XIR_STR("xir.symbols")

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static bool print_dim(spelling *s, int64_t dim, xir_any *out) {
    buffer text;
    xir_str kept = XIR_STR("");
    buffer_init(&text, &s->net->alloc);
    if (dim_is_symbolic(dim)) expr_print(&s->net->pool, dim, &text);
    bool ok = !text.failed && arena_text(&s->scratch, (xir_str){ text.data, text.size }, &kept);
    buffer_free(&text);
    *out = xir_any_text(kept);
    return ok;
}

/* Params of attributes are visited for each of them: then the key is replaced by an equal one, and the end, which goes
 * backwards, still restores the first. */
static bool spell_value(void *user, xir_value *v) {
    spelling *s = user;
    const xir_tensor_type *tensor = symbolic_type(v);
    if (!tensor || s->failed) return !s->failed;
    size_t rank = tensor->shape.size;
    xir_any *items = arena_take(&s->scratch, rank * sizeof *items);
    bool ok = items && value_need_more(v) &&
        mem_reserve(&s->net->alloc, (void **)&s->values, &s->room, s->n + 1, sizeof *s->values);
    for (size_t i = 0; i < rank && ok; i++) ok = print_dim(s, tensor->shape.data[i], &items[i]);
    const xir_map *extra = NULL;
    xir_any list = xir_any_list(items, rank);
    ok = ok && map_with(&s->scratch, value_more_of(v)->extra, DIMS_KEY, &list, &extra);
    if (ok) {
        s->values[s->n++] = (spelled_value){ v, value_more_of(v)->extra };
        value_more_of(v)->extra = extra;
    }
    s->failed = !ok;
    return ok;
}

static bool spell_symbols(spelling *s) {
    size_t n = xir_network_symbols(s->net, NULL, 0);
    if (n == 0 || n == SIZE_MAX) return n == 0;
    xir_symbol *symbols = arena_take(&s->scratch, n * sizeof *symbols);
    xir_entry *entries = arena_take(&s->scratch, n * sizeof *entries);
    if (!symbols || !entries || xir_network_symbols(s->net, symbols, n) != n) return false;
    for (size_t i = 0; i < n; i++) {
        char text[64];
        xir_str kept;
        snprintf(text, sizeof text, "%lld..%lld", (long long)symbols[i].least, (long long)symbols[i].most);
        if (!arena_text(&s->scratch, xir_str_of(text), &kept)) return false;
        entries[i] = (xir_entry){ symbols[i].name, xir_any_text(kept) };
    }
    const xir_any map = { .kind = XIR_ANY_MAP, .as.map = { entries, n } };
    return map_with(&s->scratch, s->net->extra, SYMBOLS_KEY, &map, &s->net->extra);
}

xir_status spelling_begin(spelling *s, xir_network *net, xir_diags *why) {
    *s = (spelling){ .net = net, .extra = net->extra };
    if (!net->pool.symbols) return XIR_OK;
    s->begun = true;
    arena_init(&s->scratch, &net->alloc);
    if (spell_symbols(s)) net_walk_values(net, spell_value, s);
    else s->failed = true;
    return s->failed ? diag_memory(why) : XIR_OK;
}

void spelling_end(spelling *s) {
    if (!s->begun) return;
    for (size_t i = s->n; i > 0; i--) value_more_of(s->values[i - 1].value)->extra = s->values[i - 1].extra;
    s->net->extra = s->extra;
    mem_free(&s->net->alloc, s->values, s->room * sizeof *s->values);
    arena_free(&s->scratch);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

typedef struct reading {
    xir_network *net;
    xir_str      file;
    xir_diags   *why;
    xir_status   status;
    size_t       declared;     /* how many symbols the network's key has */
    char         path[64];
} reading;

static bool fail(reading *r, xir_status code, const char *format, ...) XIR_PRINTF(3, 4);
static bool fail(reading *r, xir_status code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    r->status = code;
    diag_failv(r->why, &(xir_diag){ .severity = XIR_ERROR, .code = code, .file = r->file, .byte = XIR_NO_BYTE,
                                    .path = xir_str_of(r->path) }, format, args);
    va_end(args);
    return false;
}

static bool read_interval(xir_str text, int64_t *least, int64_t *most) {
    form_text t;
    form_begin(&t, text, NULL);
    return form_i64(&t, "", least) && form_literal(&t, "..") && form_i64(&t, "", most) && t.at == t.size;
}

static bool read_symbol(reading *r, const xir_entry *entry) {
    expr e;
    int64_t least, most;
    if (entry->value.kind != XIR_ANY_TEXT || !read_interval(entry->value.as.text, &least, &most)) {
        return fail(r, XIR_E_SYNTAX, "expected the interval of the symbol '%.*s' as a text, \"0..8\"",
                    CLIP(entry->key));
    }
    r->status = symbol_declare(&r->net->pool, entry->key, least, most, &e, r->why);
    r->declared++;
    return !r->status;
}

static bool read_symbols(reading *r, const xir_any *map) {
    if (map->kind != XIR_ANY_MAP) return fail(r, XIR_E_TYPE, "expected a map from symbols to intervals");
    for (size_t i = 0; i < map->as.map.size; i++) {
        if (!read_symbol(r, &map->as.map.entries[i])) return false;
    }
    return true;
}

static bool read_dim(reading *r, const xir_any *text, size_t i, int64_t *dim) {
    expr e;
    form_error why = { 0 };
    if (text->kind != XIR_ANY_TEXT) return fail(r, XIR_E_TYPE, "expected a text for dim %zu", i);
    if (text->as.text.size == 0) return true;
    if (!expr_parse(&r->net->pool, text->as.text, &e, &why)) {
        return fail(r, why.status, "dim %zu, '%.*s', character %zu: %s", i, CLIP(text->as.text), why.at + 1,
                    why.message);
    }
    const symbol *more = symbol_at(&r->net->pool, r->declared);
    if (more) return fail(r, XIR_E_UNKNOWN, "dim %zu: xir.symbols does not have '%.*s'", i, CLIP(more->name));
    int64_t read = dim_of_expr(e);
    if (*dim >= 0 && read != *dim) {
        return fail(r, XIR_E_INVALID, "expected -1 for dim %zu in shape, where it is '%.*s', found %lld", i,
                    CLIP(text->as.text), (long long)*dim);
    }
    *dim = read;
    return true;
}

static bool read_dims(reading *r, xir_value *v, const xir_any *list) {
    const xir_tensor_type *tensor = xir_type_as_tensor(v->type);
    const size_t rank = tensor ? tensor->shape.size : 0;
    if (list->kind != XIR_ANY_LIST || list->as.list.size != rank) {
        return fail(r, XIR_E_TYPE, "expected a list of %zu texts, one a dim", rank);
    }
    int64_t *dims = mem_new(&r->net->alloc, (rank + 1) * sizeof *dims);
    if (!dims) return diag_no_memory(&r->status, r->why);
    bool ok = true;
    for (size_t i = 0; i < rank && ok; i++) {
        dims[i] = tensor->shape.data[i];
        ok = read_dim(r, &list->as.list.items[i], i, &dims[i]);
    }
    if (ok && tensor) {
        xir_tensor_type body = *tensor;
        body.head.hash = 0;
        body.shape.data = dims;
        v->type = (const xir_type *)pool_intern(&r->net->pool, &body.head);
        ok = v->type && map_with(&r->net->arena, value_more_of(v)->extra, DIMS_KEY, NULL, &value_more_of(v)->extra);
        if (!ok) diag_no_memory(&r->status, r->why);
    }
    mem_free(&r->net->alloc, dims, (rank + 1) * sizeof *dims);
    return ok;
}

static bool read_value(void *user, xir_value *v) {
    reading *r = user;
    const xir_any *list = xir_value_extra(v) ? xir_map_find(value_more_of(v)->extra, DIMS_KEY) : NULL;
    if (!list) return true;
    snprintf(r->path, sizeof r->path, "/values/%lld/xir.dims", (long long)v->id);
    return read_dims(r, v, list);
}

xir_status spelled_read(xir_network *net, xir_str file, xir_diags *why) {
    const xir_any *symbols = xir_map_find(net->extra, SYMBOLS_KEY);
    if (!symbols) return XIR_OK;
    reading r = { .net = net, .file = file, .why = why, .path = "/xir.symbols" };
    if (read_symbols(&r, symbols)) net_walk_values(net, read_value, &r);
    if (!r.status && !map_with(&net->arena, net->extra, SYMBOLS_KEY, NULL, &net->extra))
        diag_no_memory(&r.status, r.why);
    return r.status;
}
