/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See lists.h. */
#include "node/lists.h"

list_item item_dim(xir_value *of, size_t axis) {
    const xir_tensor_type *type = xir_type_as_tensor(xir_value_type(of));
    return (list_item){ .v = expr_of_dim(type->shape.data[axis]), .origin = FROM_DIM, .of = of,
                        .axis = (int64_t)axis };
}

list_item item_known_dim(xir_value *of, size_t axis) {
    list_item item = item_dim(of, axis);
    if (expr_is_number(item.v)) item.origin = FROM_NUMBER;
    return item;
}

list_items make_items(xir_node *at, size_t n, int64_t fill) {
    list_items list = { NULL, 0 };
    if (xir_node_failed(at)) return list;
    if (n < SIZE_MAX / sizeof *list.v - 1) list.v = node_take(at, (n + 1) * sizeof *list.v);
    if (!list.v) return node_no_memory(at), list;
    list.n = n;
    for (size_t i = 0; i < n; i++) list.v[i] = item_number(fill);
    return list;
}

static bool of_numbers(xir_node *at, const xir_ints *numbers, list_items *out) {
    *out = make_items(at, numbers->n, 0);
    for (size_t i = 0; i < out->n; i++) {   // no position, dim or count is below EXPR_LEAST
        out->v[i].v = expr_is_number(numbers->v[i]) ? numbers->v[i] : EXPR_LEAST;
    }
    return out->v;
}

/* Item i of a value, one step back: the op moves items without changing them. False if it does something else. */
static bool step_back(conversion *c, const xir_value **v, int64_t *i) {
    const xir_op *op = xir_value_op(*v);
    item_list at;
    if (xir_op_is(op, xir_gather_class())) {
        if (!conversion_items(c, xir_op_input(op, 1), &at) || *i >= (int64_t)at.n || !expr_is_number(at.v[*i]))
            return false;
        *i = at.v[*i];
        if (*i < 0 && v_rank(xir_op_input(op, 0)) == 1) *i += v_dim(xir_op_input(op, 0), 0);
    } else if (xir_op_is(op, xir_slice_class())) {
        const xir_slice_attrs *a = xir_op_body(op, xir_slice_class());
        int64_t n = v_rank(xir_op_input(op, 0)) == 1 ? v_dim(xir_op_input(op, 0), 0) : -1;
        if (xir_op_input_count(op) != 1 || n < 0 || a->stride.data[0] != 1) return false;
        int64_t begin = a->begin.data[0] < 0 ? a->begin.data[0] + n : a->begin.data[0];
        *i += begin < 0 ? 0 : begin;
    } else if (xir_op_is(op, xir_concat_class())) {
        size_t k = 0, n;
        while (k < xir_op_input_count(op) && items_count(xir_value_type(xir_op_input(op, (int64_t)k)), &n) &&
               *i >= (int64_t)n) *i -= (int64_t)n, k++;
        *v = xir_op_input(op, (int64_t)k);
        return *v != NULL;
    } else if (!xir_op_is(op, xir_reshape_class()) && !xir_op_is(op, xir_squeeze_class()) &&
               !xir_op_is(op, xir_copy_class()) && !xir_op_is(op, xir_cast_class())) {
        return false;
    }
    *v = xir_op_input(op, 0);
    return *v != NULL;
}

/* The number or the dim that an item is, if it is only that: also a dim about which nothing is known can be kept. */
static bool trace_item(conversion *c, const xir_value *v, int64_t i, list_item *out) {
    enum { MOST_STEPS = 32 };
    for (size_t step = 0; step < MOST_STEPS && v && xir_value_op(v) && !xir_value_is_params(v) && i >= 0; step++) {
        const xir_op *op = xir_value_op(v);
        if (xir_op_is(op, xir_shape_class())) {
            const xir_shape_attrs *a = xir_op_body(op, xir_shape_class());
            xir_value *of = xir_op_input(op, 0);
            int64_t rank = (int64_t)v_rank(of), start = a->start < 0 ? a->start + rank : a->start;
            i += start < 0 ? 0 : start;
            if (i < rank) *out = item_dim(of, (size_t)i);
            return i < rank;
        }
        if (!step_back(c, &v, &i)) return false;
    }
    item_list at;
    if (!v || i < 0 || !xir_value_is_params(v) || !conversion_items(c, v, &at) || i >= (int64_t)at.n) return false;
    if (expr_is_number(at.v[i])) *out = item_number(at.v[i]);
    return expr_is_number(at.v[i]);
}

bool read_items_of(xir_node *at, const char *name, size_t input, list_items *out) {
    xir_ints numbers;
    item_list known;
    char words[80];
    if (name && xir_node_items(at, name, &numbers)) return of_numbers(at, &numbers, out);
    if (xir_node_failed(at) || !xir_node_has(at, input)) return false;
    if (xir_node_is_constant(at, input)) return xir_node_ints(at, input, &numbers) && of_numbers(at, &numbers, out);
    xir_value *v = xir_node_input(at, input);
    if (!v) return false;
    int64_t n = v_rank(v) == 0 ? 1 : v_rank(v) == 1 ? v_dim(v, 0) : -1;
    if (n < 0 || n > MOST_ITEMS || xir_value_is_params(v) || !v_is_integer(v)) {
        return xir_node_unsupported(at, "%s is not constant", node_input_words(at, input, words));
    }
    *out = make_items(at, (size_t)n, 0);
    if (!out->v) return false;
    bool found = conversion_items(at->c, v, &known) && known.n == out->n;
    for (size_t i = 0; i < out->n; i++) {
        out->v[i] = (list_item){ .v = found ? known.v[i] : EXPR_UNKNOWN, .origin = FROM_ITEM, .of = v,
                                 .axis = (int64_t)i };
        if (expr_is_number(out->v[i].v)) out->v[i].origin = FROM_NUMBER;
        if (out->v[i].v == EXPR_UNKNOWN) (void)trace_item(at->c, v, (int64_t)i, &out->v[i]);
    }
    return true;
}

size_t items_open(const list_items *list) {
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) n += !expr_is_number(list->v[i].v);
    return n;
}

bool items_known(const list_items *list) { return items_open(list) == 0; }

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* The number of items from `first` on that one op gives. */
static size_t run_of(const list_items *list, size_t first) {
    const list_item *a = &list->v[first];
    size_t n = 1;
    for (; first + n < list->n; n++) {
        const list_item *b = &list->v[first + n];
        if (b->origin != a->origin || b->of != a->of) break;
        if (a->origin == FROM_DIM && b->axis != a->axis + (int64_t)n) break;
    }
    return n;
}

static xir_value *numbers_of(xir_node *at, const list_item *items, size_t n) {
    xir_ints numbers = xir_node_make_ints(at, n, 0);
    for (size_t i = 0; i < numbers.n; i++) numbers.v[i] = items[i].origin == FROM_NUMBER ? items[i].v : items[i].axis;
    return numbers.v ? xir_node_integers(at, &numbers) : NULL;
}

/* Items of a value: all of it, or some. */
static xir_value *picked(xir_node *at, const list_item *items, size_t n) {
    int64_t one = 1;
    const xir_ints line = { &one, 1 };
    xir_value *of = xir_node_cast(at, items->of, xir_type_sint(at->c->ctx, 64));
    if (!of) return NULL;
    if (v_rank(of) == 0) of = make_reshaped(at, of, &line);
    bool all = of && v_dim(of, 0) == (int64_t)n;
    for (size_t i = 0; i < n; i++) all = all && items[i].axis == (int64_t)i;
    if (!of || all) return of;
    return xir_node_make(at, "Gather", INS(of, numbers_of(at, items, n)), SETS(INT("axis", 0)));
}

xir_value *make_list(xir_node *at, const list_items *list) {
    xir_value **parts = node_take(at, (list->n + 1) * sizeof *parts);
    size_t n_parts = 0;
    if (!parts) return node_no_memory(at), NULL;
    for (size_t i = 0, n; i < list->n && !xir_node_failed(at); i += n) {
        const list_item *items = &list->v[i];
        n = run_of(list, i);
        if (items->origin == FROM_NUMBER) parts[n_parts++] = numbers_of(at, items, n);
        else if (items->origin == FROM_ITEM) parts[n_parts++] = picked(at, items, n);
        else parts[n_parts++] = xir_node_make(at, "Shape", INS(items->of), SETS(INT("start", items->axis),
                                                                               INT("end", items->axis + (int64_t)n)));
    }
    if (xir_node_failed(at)) return NULL;
    if (!n_parts) return numbers_of(at, NULL, 0);
    if (n_parts == 1) return parts[0];
    return xir_node_make(at, "Concat", (xir_values){ parts, n_parts }, SETS(INT("axis", 0)));
}

xir_value *make_listed(xir_node *at, const char *cls, xir_value *x, const list_items *list, xir_sets sets) {
    return xir_node_make(at, cls, INS(x, make_list(at, list)), sets);
}

xir_value *make_reshaped_to(xir_node *at, xir_value *x, const list_items *dims) {
    xir_ints shape = xir_node_make_ints(at, dims->n, -1);
    bool zero = false;
    size_t open = 0;
    if (!shape.v) return NULL;
    for (size_t i = 0; i < dims->n; i++) {
        bool rest = !expr_is_number(dims->v[i].v) || dims->v[i].v < 0;
        if (!rest) shape.v[i] = dims->v[i].v;
        zero |= shape.v[i] == 0;
        open += rest;
    }
    if (open < 2 && !(open && zero)) return make_reshaped(at, x, &shape);
    for (size_t i = 0; i < shape.n; i++) shape.v[i] = -1;
    return make_listed(at, "Reshape", x, dims,
                       SETS(LIST("shape", &shape), OBJ("layout", xir_layout_default(at->c->ctx, shape.n))));
}

xir_value *xir_node_unsqueezed(xir_node *at, xir_value *x, const xir_ints *axes, const char *where) {
    if (xir_node_failed(at)) return NULL;
    xir_ints dims = xir_node_make_ints(at, v_rank(x) + axes->n, -2);
    for (size_t i = 0; i < axes->n; i++) {
        int64_t axis;
        if (!xir_node_axis(at, where, axes->v[i], dims.n, &axis)) return NULL;
        if (dims.v[axis] == 1) {
            return xir_node_invalid(at, XIR_E_INVALID, where, "axis %lld appears twice", (long long)axes->v[i]), NULL;
        }
        dims.v[axis] = 1;
    }
    list_items to = make_items(at, dims.n, 1);
    if (xir_node_failed(at)) return NULL;
    for (size_t i = 0, from = 0; i < dims.n; i++) if (dims.v[i] == -2) to.v[i] = item_dim(x, from++);
    return make_reshaped_to(at, x, &to);
}
