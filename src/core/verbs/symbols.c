/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The symbols of a network: declaring, listing, making types with them, giving them fewer values. */
#include "symbols.h"
#include <stdio.h>
#include "diagnose.h"
#include "hash.h"
#include "source_tags.h"
#include "types.h"

/* ---- walking ----------------------------------------------------------------------------------------------------- */

typedef struct value_walk {
    bool (*visit)(void *user, xir_value *v);
    void *user;
} value_walk;

/* Of the uses of a value the walk takes the first of its list, so that a type with many dims is not looked at once for
 * each use. It takes all of them if the first is of an op that has no place. */
static bool is_for_walk(const xir_use *use) {
    const xir_use *first = use->value->uses;
    return first == use || !op_is_in(first->user);
}

static bool walk_op(void *user, xir_op *op) {
    const value_walk *w = user;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        xir_value *v = op_inputs(op)[i].value;
        if (v && !value_op(v) && is_for_walk(&op_inputs(op)[i]) && !w->visit(w->user, v)) return false;
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (!w->visit(w->user, &op_outputs(op)[i])) return false;
    }
    return op_each_child(op, walk_op, user) && op_walk_attr_params(op, w->visit, w->user);
}

bool net_walk_values(const xir_network *net, bool (*visit)(void *user, xir_value *v), void *user) {
    value_walk w = { visit, user };
    for (xir_op *op = net->first; op; op = op->next) {
        if (!walk_op(&w, op)) return false;
    }
    return true;
}

/* ---- declaring and listing --------------------------------------------------------------------------------------- */

xir_status xir_network_declare_symbol(xir_network *net, xir_str name, int64_t least, int64_t most, xir_diags *why) {
    expr e;
    if (!net) return diag_null(why, "network");
    const bool is_new = symbol_find(&net->pool, name) == EXPR_UNKNOWN;
    xir_status status = symbol_declare(&net->pool, name, least, most, &e, why);
    if (!status && !is_new) net_forget_inferred(net);   // nothing depends on a new symbol yet
    return status;
}

typedef struct marking { const object_pool *pool; bool *used; } marking;

static bool mark_symbol(void *user, size_t i) {
    ((const marking *)user)->used[i] = true;
    return true;
}

static bool mark_symbols(void *user, xir_value *v) {
    const marking *m = user;
    const xir_tensor_type *tensor = symbolic_type(v);
    for (size_t i = 0; tensor && i < tensor->shape.size; i++) {
        expr_walk(m->pool, tensor->shape.data[i], mark_symbol, user);
    }
    return true;
}

size_t xir_network_symbols(const xir_network *net, xir_symbol *out, size_t room) {
    size_t declared = 0, n = 0;
    if (!net || !net->pool.symbols) return 0;
    while (symbol_at(&net->pool, declared)) declared++;
    marking m = { &net->pool, mem_new(&net->alloc, declared + 1) };
    if (!m.used) return SIZE_MAX;
    memset(m.used, 0, declared + 1);
    net_walk_values(net, mark_symbols, &m);
    for (size_t i = 0; i < declared; i++) {
        const symbol *s = symbol_at(&net->pool, i);
        if (m.used[i] && n++ < room) out[n - 1] = (xir_symbol){ s->name, s->least, s->most };
    }
    mem_free(&net->alloc, m.used, declared + 1);
    return n;
}

/* The names that a file gives to the open dims of a value; false without memory. */
static bool add_dim_names(text_table *names, const xir_value *v) {
    const xir_tensor_type *tensor = xir_type_as_tensor(v->type);
    const xir_any *tag = tensor ? source_tag_find(xir_value_tags(v), SOURCE_DIMS) : NULL;
    const size_t n = tag && tag->kind == XIR_ANY_LIST ? tag->as.list.size : 0;
    for (size_t k = 0; k < n && k < tensor->shape.size; k++) {
        const xir_any *name = &tag->as.list.items[k];
        const bool counts = tensor->shape.data[k] == XIR_UNKNOWN_DIM && name->kind == XIR_ANY_TEXT;
        if (counts && name->as.text.size && !text_table_add(names, name->as.text, 0)) return false;
    }
    return true;
}

size_t xir_network_dim_names(const xir_network *net, xir_str *out, size_t room) {
    text_table names;
    const symbol *s;
    bool ok = true;
    if (!net) return 0;
    text_table_init(&names, &net->alloc);
    for (size_t i = 0; ok && (s = symbol_at(&net->pool, i)); i++) ok = text_table_add(&names, s->name, 0);
    for (xir_op *op = net->first; ok && op; op = op->next)
        for (uint32_t i = 0; ok && i < op->n_outputs; i++) ok = add_dim_names(&names, &op_outputs(op)[i]);
    const size_t n = ok ? names.n : SIZE_MAX;
    for (size_t i = 0; ok && i < n && i < room; i++) out[i] = (xir_str){ names.items[i].text, names.items[i].size };
    text_table_free(&names);
    return n;
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

const xir_type *xir_network_type_with_dims(xir_network *net, const xir_type *type, const xir_str *dims, size_t rank,
                                           xir_diags *why) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    if (!net || !tensor) return refuse(why, XIR_E_TYPE, "", "expected a network and a tensor type");
    const xir_type *made = NULL;
    int64_t *list = mem_new(&net->alloc, (rank + 1) * sizeof *list);
    if (!list) return out_of_memory(why);
    bool ok = true;
    for (size_t i = 0; i < rank && ok; i++) {
        form_error e = { 0 };
        expr dim = EXPR_UNKNOWN;
        ok = xir_str_equal(dims[i], XIR_STR("?")) || expr_parse(&net->pool, dims[i], &dim, &e);
        if (!ok) {
            refuse(why, e.status, "shape", "dim %zu, '%.*s', character %zu: %s", i, CLIP(dims[i]), e.at + 1, e.message);
        } else if (expr_is_number(dim) && dim < 0) {
            refuse(why, XIR_E_BOUNDS, "shape", "dim %zu, '%.*s': expected a number from 0 on", i, CLIP(dims[i]));
            ok = false;
        }
        list[i] = dim_of_expr(dim);
    }
    if (ok) {
        xir_layout const *layout = xir_layout_rank(tensor->layout) == rank ? tensor->layout : NULL;
        made = type_tensor(&net->pool, tensor->element_dtype, layout, (xir_i64s){ list, rank }, tensor->merged_distrs);
        if (!made) out_of_memory(why);
    }
    mem_free(&net->alloc, list, (rank + 1) * sizeof *list);
    return made;
}

typedef struct nearest { int64_t each; } nearest;

static expr nearest_value(void *user, const object_pool *from, size_t i) {
    const symbol *s = symbol_at(from, i);
    const int64_t each = ((const nearest *)user)->each;
    return each < s->least ? s->least : each > s->most ? s->most : each;
}

const xir_type *xir_type_with_known_dims(xir_context *ctx, const xir_type *type, int64_t each, xir_diags *why) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    if (!tensor) return refuse(why, XIR_E_TYPE, "", "expected a tensor type");
    object_pool *from = tensor_pool(tensor);
    const size_t rank = tensor->shape.size;
    const xir_type *made = NULL;
    int64_t *dims = mem_new(&ctx->alloc, (rank + 1) * sizeof *dims);
    bool ok = dims != NULL;
    for (size_t i = 0; i < rank && ok; i++) {
        int64_t dim = tensor->shape.data[i];
        bool symbolic = from && dim_is_symbolic(dim);
        dims[i] = symbolic ? expr_remake(from, from, dim, nearest_value, &(nearest){ each }) : dim < 0 ? each : dim;
        ok = dims[i] >= 0;
        if (!ok) {
            refuse(why, XIR_E_BOUNDS, "shape", "dim %zu is %s: expected at least 0 for symbols near %lld, found %lld", i,
                   word_of_dim(from, dim).text, (long long)each, (long long)dims[i]);
        }
    }
    if (ok) made = xir_type_with_shape(ctx, type, dims, rank, why);
    else if (!dims) out_of_memory(why);
    mem_free(&ctx->alloc, dims, (rank + 1) * sizeof *dims);
    return made;
}

/* ---- binding ---------------------------------------------------------------------------------------------------- */

typedef struct binding {
    xir_network *net;
    expr        *values;   /* by symbol: its number, or itself */
    bool        *given;    /* by symbol: has a binding         */
    xir_diags   *why;
    xir_status   status;
    bool         narrows;  /* a symbol gets fewer values       */
    bool         stores;   /* the second walk                  */
    const xir_type *was, *now;   /* most values of a stretch have one type */
} binding;

static expr value_of_symbol(void *user, const object_pool *from, size_t i) {
    (void)from;
    return ((const binding *)user)->values[i];
}

/* The type with numbers for bound symbols; NULL after a failure. */
static const xir_type *bound_type(binding *b, const xir_value *v, const xir_tensor_type *tensor) {
    object_pool *pool = &b->net->pool;
    const xir_type *made = NULL;
    size_t rank = tensor->shape.size;
    int64_t *dims = mem_new(&b->net->alloc, rank * sizeof *dims);
    bool ok = dims != NULL;
    for (size_t i = 0; i < rank && ok; i++) {
        expr e = expr_remake(pool, pool, expr_of_dim(tensor->shape.data[i]), value_of_symbol, b);
        dims[i] = dim_of_expr(e);
        ok = !(expr_is_number(e) && e < 0);
        if (ok) continue;
        xir_str name = xir_value_name(v);
        b->status = XIR_E_BOUNDS;
        refuse(b->why, XIR_E_BOUNDS, "", "dim %zu of value %lld '%.*s' is %s: expected at least 0, found %lld with "
               "these values", i, (long long)v->id, CLIP(name), word_of_dim(pool, tensor->shape.data[i]).text,
               (long long)e);
    }
    if (ok && !expr_no_memory(pool)) {
        xir_tensor_type body = *tensor;
        body.head.hash = 0;
        body.shape.data = dims;
        made = (const xir_type *)pool_intern(pool, &body.head);
    }
    if (!made && !b->status) {
        diag_memory(b->why);
        b->status = XIR_E_MEMORY;
    }
    mem_free(&b->net->alloc, dims, rank * sizeof *dims);
    return made;
}

static bool bind_value(void *user, xir_value *v) {
    binding *b = user;
    const xir_tensor_type *tensor = symbolic_type(v);
    if (!tensor) return true;
    if (v->type != b->was || !b->now) {
        b->was = v->type;
        b->now = bound_type(b, v, tensor);
    }
    if (b->now && b->stores) v->type = b->now;
    return b->now != NULL;
}

static xir_status check_binding(binding *b, const xir_symbol *to) {
    const object_pool *pool = &b->net->pool;
    size_t i = symbol_of(pool, symbol_find(pool, to->name));
    const symbol *s = i == SIZE_MAX ? NULL : symbol_at(pool, i);
    if (!s) {
        refuse(b->why, XIR_E_UNKNOWN, "", "expected a symbol of the network, found '%.*s'", CLIP(to->name));
        return XIR_E_UNKNOWN;
    }
    if (b->given[i]) {
        refuse(b->why, XIR_E_EXISTS, "", "expected one binding for the symbol '%.*s', found two", CLIP(to->name));
        return XIR_E_EXISTS;
    }
    if (to->least > to->most || to->least < s->least || to->most > s->most) {
        char found[48];
        snprintf(found, sizeof found, to->least == to->most ? "%lld" : "%lld..%lld", (long long)to->least,
                 (long long)to->most);
        refuse(b->why, XIR_E_BOUNDS, "", "expected values of '%.*s' within %lld..%lld, found %s", CLIP(to->name),
               (long long)s->least, (long long)s->most, found);
        return XIR_E_BOUNDS;
    }
    b->given[i] = true;
    b->narrows |= to->least > s->least || to->most < s->most;
    if (to->least == to->most) b->values[i] = to->least;
    return XIR_OK;
}

xir_status xir_network_bind(xir_network *net, const xir_symbol *bindings, size_t n, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    size_t count = 0;
    while (symbol_at(&net->pool, count)) count++;
    binding b = { .net = net, .why = why, .values = mem_new(&net->alloc, (count + 1) * sizeof *b.values),
                  .given = mem_new(&net->alloc, count + 1) };
    if (!b.values || !b.given) b.status = diag_memory(why);
    if (b.given) memset(b.given, 0, count + 1);
    for (size_t i = 0; i < count && !b.status; i++)
        b.values[i] = symbol_find(&net->pool, symbol_at(&net->pool, i)->name);
    for (size_t i = 0; i < n && !b.status; i++) b.status = check_binding(&b, &bindings[i]);
    /* Intervals are narrowed after everything that may be refused, because they never grow again. */
    if (!b.status && b.narrows) net_walk_values(net, bind_value, &b);
    for (size_t i = 0; i < n && !b.status; i++) {
        expr e;
        b.status = symbol_declare(&net->pool, bindings[i].name, bindings[i].least, bindings[i].most, &e, why);
    }
    if (!b.status && b.narrows) {
        b.stores = true;
        b.was = b.now = NULL;
        net_walk_values(net, bind_value, &b);
    }
    if (!b.status && b.narrows) {
        net_forget_inferred(net);
        net->epoch++;
    }
    if (b.values) mem_free(&net->alloc, b.values, (count + 1) * sizeof *b.values);
    if (b.given) mem_free(&net->alloc, b.given, count + 1);
    return b.status;
}
