/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Lists of numbers that are computed, on the way back: "[size(@0,0),mul(size(@0,2),2),-1]". What computes a list is
 * followed back to the sizes and numbers that it comes from, through the operators that it has become already, since
 * that is how PNNX writes it. An item that comes from anything else is an element of it. */
#include <stdio.h>
#include <stdlib.h>
#include "pnnx/pnnx.h"

enum {
    MOST_LISTED = 64,           /* items of a list, and parts that it is joined of */
    MOST_LIST_TEXT = 1 << 10,
    MOST_LIST_INPUTS = MOST_LISTED,
    MOST_LIST_DEPTH = 40,       /* operators between an item and what it comes from */
};

typedef struct listing {
    xir_node  *at;
    char       text[MOST_LIST_TEXT];
    size_t     size, n_in;
    xir_value *in[MOST_LIST_INPUTS];
    bool       fits;
} listing;

static void put(listing *l, const char *text, size_t n) {
    if (l->size + n >= MOST_LIST_TEXT) l->fits = false;
    else memcpy(l->text + l->size, text, n), l->size += n;
}

static void put_number(listing *l, int64_t v) {
    char text[24];
    put(l, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)v));
}

static void put_input(listing *l, xir_value *v) {
    char text[24];
    size_t i = 0;
    while (i < l->n_in && l->in[i] != v) i++;
    if (i == MOST_LIST_INPUTS || !v) l->fits = false;
    if (!l->fits) return;
    if (i == l->n_in) l->in[l->n_in++] = v;
    put(l, text, (size_t)snprintf(text, sizeof text, "@%zu", i));
}

/* An operator of PNNX by the end of its key; an integer among its parameters. */
static bool is(const xir_op *op, const char *type) {
    const xir_str key = xir_class_key(xir_op_class(op));
    return xir_class_is_opaque(xir_op_class(op)) && key.size == 6 + strlen(type) && !memcmp(key.data, "pnnx::", 6) &&
           !memcmp(key.data + 6, type, key.size - 6);
}

static bool parameter(const xir_op *op, const char *name, int64_t *out) {
    const xir_any *any = xir_map_find(xir_op_extra(op), xir_str_of(name));
    if (!any || any->kind != XIR_ANY_INT) return false;
    *out = any->as.integer;
    return true;
}

static int64_t count_of(const xir_value *v) { return v_rank(v) == 0 ? 1 : v_rank(v) == 1 ? v_dim(v, 0) : -1; }

/* Item i of Params, or of an operator that holds them. */
static bool constant_item(listing *l, const xir_value *v, int64_t i, int64_t *out) {
    xir_ints numbers;
    const xir_op *op = xir_value_op(v);
    const xir_any *data = xir_map_find(op && is(op, "pnnx.Attribute") ? xir_op_extra(op) : NULL, XIR_STR("@data"));
    if (data && data->kind == XIR_ANY_PARAMS) v = data->as.params;
    if (!xir_value_is_params(v) || !v_is_integer(v) || !conversion_ints(l->at->c, v, &numbers)) return false;
    if (i < 0 || i >= (int64_t)numbers.n || numbers.v[i] == OPEN_ITEM) return false;
    *out = numbers.v[i];
    return true;
}

static void put_item(listing *l, xir_value *v, int64_t i, unsigned depth);

/* Item i of what a formula gives: "size(@0)" and items of lists by their place, operands by their items. */
static bool put_formula(listing *l, const xir_op *op, xir_str text, int64_t i, unsigned depth) {
    size_t p = 0;
    const bool is_list = text.size && text.data[0] == '[';
    if (is_list) {   /* from the i-th comma outside of brackets on */
        int64_t item = 0;
        int nested = 0;
        for (p = 1; p < text.size && item < i; p++) {
            nested += (text.data[p] == '(') - (text.data[p] == ')');
            item += text.data[p] == ',' && !nested;
        }
        if (item < i) return false;
    }
    int nested = 0;
    for (; p < text.size && l->fits; ) {
        const char c = text.data[p];
        nested += (c == '(') - (c == ')');
        if (is_list && (c == ']' || (c == ',' && !nested))) return true;
        if (c != '@') {
            put(l, text.data + p++, 1);
            continue;
        }
        size_t k = 0;
        const bool whole = p >= 5 && !memcmp(text.data + p - 5, "size(", 5);
        for (p++; p < text.size && text.data[p] >= '0' && text.data[p] <= '9' && k < 1 << 20; p++)
            k = 10 * k + (size_t)(text.data[p] - '0');
        xir_value *v = k < xir_op_input_count(op) ? xir_op_input(op, (int64_t)k) : NULL;
        if (!v) return false;
        if (!whole) {
            const int64_t n = count_of(v);
            if (n < 1) return false;
            put_item(l, v, n == 1 ? 0 : i, depth + 1);
            continue;
        }
        put_input(l, v);
        if (p < text.size && text.data[p] == ')') put(l, ",", 1), put_number(l, i);
    }
    return !is_list;
}

/* The value and item that an operator moves without changing it; false: it is of another kind. */
static bool step_back(listing *l, xir_value **v, int64_t *i) {
    const xir_op *op = xir_value_op(*v);
    int64_t dim, start = 0, step = 1, index;
    if (is(op, "torch.cat") || is(op, "torch.stack")) {
        if (!parameter(op, "dim", &dim) || (dim != 0 && dim != -1) || v_rank(*v) != 1 ||
            xir_op_input_count(op) > MOST_LISTED) return false;
        for (size_t k = 0; k < xir_op_input_count(op); k++) {
            xir_value *part = xir_op_input(op, (int64_t)k);
            const int64_t n = part ? count_of(part) : -1;
            if (n < 0) return false;
            if (*i < n) return *v = part, true;
            *i -= n;
        }
        return false;
    }
    xir_value *x = xir_op_input_count(op) ? xir_op_input(op, 0) : NULL;
    if (!x || !xir_type_as_tensor(xir_value_type(x)) || !v_is_integer(x) || count_of(x) < 0) return false;
    const int64_t n = count_of(x);
    if (is(op, "Tensor.select")) {
        if (v_rank(x) != 1 || !parameter(op, "index", &index)) return false;
        *i = index < 0 ? index + n : index;
    } else if (is(op, "torch.index_select")) {
        xir_value *places = xir_op_input_count(op) > 1 ? xir_op_input(op, 1) : NULL;
        if (v_rank(x) != 1 || !places || !constant_item(l, places, *i, &index)) return false;
        *i = index;
    } else if (is(op, "Tensor.slice")) {
        if (v_rank(x) != 1 || !parameter(op, "start", &start) || !parameter(op, "step", &step)) return false;
        start = start < 0 ? start + n : start;
        *i = (start < 0 ? 0 : start) + *i * step;
    } else if (!is(op, "Tensor.reshape") && !is(op, "torch.squeeze") && !is(op, "torch.unsqueeze") &&
               !is(op, "Tensor.clone") && !is(op, "Tensor.to")) {
        return false;
    }
    *v = x;
    return *i >= 0 && *i < n;
}

/* Item i of a value of rank 0 or 1. */
static void put_item(listing *l, xir_value *v, int64_t i, unsigned depth) {
    int64_t number;
    for (unsigned steps = 0; steps < MOST_LIST_DEPTH; steps++) {
        if (constant_item(l, v, i, &number)) {
            put_number(l, number);
            return;
        }
        const xir_op *op = xir_value_op(v);
        const xir_map *extra = op && is(op, "pnnx.Expression") ? xir_op_extra(op) : NULL;
        const xir_any *formula = xir_map_find(extra, XIR_STR("expr"));
        if (formula && formula->kind == XIR_ANY_TEXT && depth < MOST_LIST_DEPTH) {
            const listing before = *l;
            if (put_formula(l, op, formula->as.text, i, depth) || !l->fits) return;
            *l = before;
        }
        if (!op || !step_back(l, &v, &i)) break;
    }
    if (v_rank(v) == 1) {
        const xir_type *index = xir_type_sint(xir_node_context(l->at), 64);
        v = xir_node_make(l->at, "Gather", INS(v, xir_node_scalar(l->at, index, (double)i)), SETS(INT("axis", 0)));
    }
    if (v) put_input(l, v);
    else l->fits = false;
}

static xir_value *formula_op(listing *l, const xir_ints *dims) {
    xir_context *ctx = xir_node_context(l->at);
    const xir_type *type = node_type(l->at, xir_type_sint(ctx, 64), NULL, dims);
    if (!type) return node_no_memory(l->at), NULL;
    return foreign_value(l->at, "pnnx::pnnx.Expression", (xir_values){ l->in, l->n_in },
                         SETS(WORD("expr", ((xir_str){ l->text, l->size }))), type);
}

xir_value *pnnx_listed(xir_node *at, xir_value *v) {
    const int64_t n = v ? count_of(v) : -1;
    if (n < 1 || n > MOST_LISTED || !v_is_integer(v)) return xir_node_unsupported(at, "a list of unknown length"), NULL;
    listing *l = node_take(at, sizeof *l);
    if (!l) return node_no_memory(at), NULL;
    for (unsigned depth = 0; depth <= MOST_LIST_DEPTH; depth += MOST_LIST_DEPTH) {   /* the second time, plain items */
        *l = (listing){ .at = at, .fits = true };
        put(l, "[", 1);
        for (int64_t i = 0; i < n; i++) {
            if (i) put(l, ",", 1);
            put_item(l, v, i, depth);
        }
        put(l, "]", 1);
        if (l->fits) break;
    }
    if (!l->fits) return xir_node_unsupported(at, "a list of a very long formula"), NULL;
    return formula_op(l, &(xir_ints){ (int64_t[]){ n }, 1 });
}

/* The bounds of a slice are numbers and operators of one number each. */
xir_value *pnnx_slice_listed(xir_node *at, xir_value *v, size_t first, size_t n) {
    listing *all = node_take(at, 2 * sizeof *all), *one = all ? all + 1 : NULL;
    if (!all) return node_no_memory(at), NULL;
    *all = (listing){ .at = at, .fits = true };
    put(all, "(", 1);
    for (size_t i = 0; i < n && !xir_node_failed(at); i++) {
        *one = (listing){ .at = at, .fits = true };
        put_item(one, v, (int64_t)(first + i), 0);
        if (xir_node_failed(at) || !one->fits) break;
        one->text[one->size] = '\0';
        if (i) put(all, ",", 1);
        char *end;
        const long long number = strtoll(one->text, &end, 10);
        if (!*end) put_number(all, number > PNNX_END ? PNNX_END : number < -PNNX_END ? -PNNX_END : number);
        else put_input(all, strcmp(one->text, "@0") ? formula_op(one, &(xir_ints){ NULL, 0 }) : one->in[0]);
    }
    put(all, ")", 1);
    if (xir_node_failed(at)) return NULL;
    if (!all->fits || !one->fits) return xir_node_unsupported(at, "a list of a very long formula"), NULL;
    const xir_type *type = node_type(at, xir_type_sint(xir_node_context(at), 64), NULL,
                                     &(xir_ints){ (int64_t[]){ (int64_t)n }, 1 });
    if (!type) return node_no_memory(at), NULL;
    return foreign_value(at, "pnnx::pnnx.SliceIndexes", (xir_values){ all->in, all->n_in },
                         SETS(WORD("indexes", ((xir_str){ all->text, all->size }))), type);
}

/* Numbers that only a list needed before it was written: the operators that compute them, from the last on. */
xir_status pnnx_drop_lists(xir_network *net, bool *changed) {
    xir_status status = XIR_OK;
    const xir_op *output = xir_network_output_op(net);
    for (xir_op *op = xir_network_last(net), *before; op && !status; op = before) {
        before = xir_op_prev(op);
        const xir_value *v = xir_op_output_count(op) == 1 ? xir_op_output(op, 0) : NULL;
        const bool small = v && xir_type_as_tensor(xir_value_type(v)) && v_rank(v) <= 1 && v_is_integer(v);
        if (op == output || !small || xir_value_uses(v) || !xir_class_is_opaque(xir_op_class(op)) ||
            !pnnx_is_pure(op)) continue;
        status = xir_op_erase(op);
        *changed = true;
    }
    return status;
}
