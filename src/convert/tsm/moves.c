/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators that change dims, repeat or join tensors, and constants made from shapes. */
#include <stdio.h>
#include "spec/moving.h"
#include "spec/one_axis.h"
#include "tsm/tsm.h"

/* ---- dims ------------------------------------------------------------------------------------------------------- */

/* The dims of a list, 0 for the dim of x at the same place. */
static bool give_reshaped(xir_node *at, xir_value *x, list_items *dims) {
    for (size_t i = 0; i < dims->n; i++) {
        const bool number = expr_is_number(dims->v[i].v);
        if (number && (dims->v[i].v < -1 || dims->v[i].v > TSM_MOST_DIM))
            return tsm_out_of_range(at, "shape", dims->v[i].v);
        if (!number || dims->v[i].v) continue;
        if (i >= v_rank(x))
            return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "shape[%zu] is 0, but the input has %zu dims", i,
                                    v_rank(x));
        dims->v[i] = v_dim(x, i) < 0 ? item_dim(x, i) : item_number(v_dim(x, i));
    }
    return xir_node_result(at, 0, make_reshaped_to(at, x, dims));
}

/* In a parameter, or in an input. */
bool tsm_reshape(xir_node *at) {
    xir_ints numbers;
    list_items dims;
    xir_value *x = xir_node_input(at, 0);
    if (at->n_in > 1) return read_items_of(at, NULL, 1, &dims) && give_reshaped(at, x, &dims);
    if (!tsm_list(at, "shape", SIZE_MAX, INT32_MIN, &numbers)) return xir_node_unsupported(at, "shape is missing");
    dims = make_items(at, numbers.n, 0);
    for (size_t i = 0; i < dims.n; i++) dims.v[i] = item_number(numbers.v[i]);
    return dims.v && give_reshaped(at, x, &dims);
}

/* The dims of x as items. */
static list_items items_of(xir_node *at, xir_value *x) {
    list_items dims = make_items(at, v_rank(x), 1);
    for (size_t i = 0; i < dims.n; i++) dims.v[i] = v_dim(x, i) < 0 ? item_dim(x, i) : item_number(v_dim(x, i));
    return dims;
}

/* x with n dims of 1 before and m after. */
static xir_value *with_ones(xir_node *at, xir_value *x, size_t n, size_t m) {
    if (xir_node_failed(at) || !x || n + m == 0) return x;
    const list_items own = items_of(at, x);
    list_items dims = make_items(at, n + own.n + m, 1);
    for (size_t i = 0; i < own.n && dims.v; i++) dims.v[n + i] = own.v[i];
    return xir_node_failed(at) ? NULL : make_reshaped_to(at, x, &dims);
}

static bool unchanged(xir_node *at, xir_value *x, const xir_value *y) {
    return x == y ? xir_convert_copy(at) : xir_node_result(at, 0, x);
}

enum { MOST_RANK = 32 };   /* what an operator may add to the dims of a tensor */

/* dim and all after it become one; ones are added if there are fewer. */
bool tsm_flatten(xir_node *at) {
    int64_t dim;
    xir_value *x = xir_node_input(at, 0);
    const int64_t rank = (int64_t)v_rank(x);
    if (!tsm_int(at, "dim", 1, -rank, MOST_RANK, &dim)) return false;
    if (dim < 0) dim += rank;
    if (dim + 1 >= rank) return unchanged(at, with_ones(at, x, 0, (size_t)(dim + 1 - rank)), x);
    list_items dims = items_of(at, x);
    if (!dims.v) return false;
    dims.n = (size_t)dim + 1;
    dims.v[dim] = item_number(-1);
    return xir_node_result(at, 0, make_reshaped_to(at, x, &dims));
}

bool tsm_flatten2d(xir_node *at) {
    int64_t dim;
    xir_value *x = xir_node_input(at, 0);
    const int64_t rank = x ? (int64_t)v_rank(x) : 0;
    if (!x || !tsm_int(at, "dim", 1, -rank, rank, &dim)) return false;
    if (dim < 0) dim += rank;
    return xir_node_result(at, 0, tsm_flattened(at, x, (size_t)dim));
}

/* The last of the axes first, each counted in what is left. Without axes all dims of 1 are removed. */
bool tsm_squeeze(xir_node *at) {
    xir_ints axes;
    xir_value *x = xir_node_input(at, 0);
    list_items dims = items_of(at, x);
    const bool given = tsm_list(at, "axes", SIZE_MAX, INT32_MIN, &axes) && axes.n;
    if (xir_node_failed(at) || (!given && !xir_node_need_dims(at, x, 0, SIZE_MAX))) return false;
    for (size_t i = given ? axes.n : dims.n; i-- > 0;) {
        int64_t axis = (int64_t)i;
        if (given && !xir_node_axis(at, "attribute/axes", axes.v[i], dims.n, &axis)) return false;
        const list_item *item = &dims.v[axis];
        if (!given && item->v != 1) continue;
        if (expr_is_number(item->v) && item->v != 1)
            return xir_node_invalid(at, XIR_E_INVALID, "attribute/axes", "axes: expected a dim of 1, found dim %lld of "
                                    "%lld", (long long)axis, (long long)item->v);
        for (size_t k = (size_t)axis; k + 1 < dims.n; k++) dims.v[k] = dims.v[k + 1];
        dims.n--;
    }
    return xir_node_result(at, 0, make_reshaped_to(at, x, &dims));
}

/* One axis after the other. */
bool tsm_unsqueeze(xir_node *at) {
    xir_ints axes;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !tsm_list(at, "axes", SIZE_MAX, INT32_MIN, &axes)) return false;
    if (axes.n > MOST_RANK) return xir_node_unsupported(at, "%zu axes", axes.n);
    const list_items own = items_of(at, x);
    list_items dims = make_items(at, own.n + axes.n, 1);
    if (xir_node_failed(at)) return false;
    for (size_t i = 0; i < own.n; i++) dims.v[i] = own.v[i];
    dims.n = own.n;
    for (size_t i = 0; i < axes.n; i++) {
        int64_t axis;
        if (!xir_node_axis(at, "attribute/axes", axes.v[i], dims.n + 1, &axis)) return false;
        for (size_t k = dims.n++; k > (size_t)axis; k--) dims.v[k] = dims.v[k - 1];
        dims.v[axis] = item_number(1);
    }
    return xir_node_result(at, 0, make_reshaped_to(at, x, &dims));
}

/* Ones up to a rank: at most `front` before, then at most `end` after, or the other way round. */
bool tsm_expand(xir_node *at) {
    xir_ints to;
    xir_value *x = xir_node_input(at, 0);
    if (at->n_in < 2) return xir_node_invalid(at, XIR_E_MISSING, "input/1", "input 1, the number of dims, is missing");
    if (!tsm_constant(at, 1, 1, &to)) return false;
    const int64_t rank = (int64_t)v_rank(x), front = xir_node_int(at, "front", -1), end = xir_node_int(at, "end", -1);
    const bool inverse = xir_node_bool(at, "inverse", false);
    if (to.v[0] < rank || to.v[0] > MOST_RANK)
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/1", "input 1: expected from %lld to %d dims, found %lld",
                                (long long)rank, MOST_RANK, (long long)to.v[0]);
    int64_t left = to.v[0] - rank, most = inverse ? end : front;
    const int64_t first = most < 0 || most > left ? left : most;
    left -= first;
    most = inverse ? front : end;
    if (most >= 0 && most < left)
        return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "front and end: expected at least %lld, found %lld and %lld",
                                (long long)(to.v[0] - rank), (long long)front, (long long)end);
    const size_t before = (size_t)(inverse ? left : first), after = (size_t)(inverse ? first : left);
    return unchanged(at, with_ones(at, x, before, after), x);
}

/* A longer order puts ones in front; without one the last two dims are swapped. */
bool tsm_transpose(xir_node *at) {
    xir_ints order;
    xir_value *x = xir_node_input(at, 0);
    const size_t rank = v_rank(x);
    const bool given = at->n_in > 1 ? tsm_constant(at, 1, SIZE_MAX, &order)
                                    : tsm_list(at, "permute", SIZE_MAX, INT32_MIN, &order);
    if (!given) {
        order = xir_node_series(at, 0, rank);
        if (rank < 2 || !order.v) return rank < 2 ? xir_convert_copy(at) : false;
        order.v[rank - 2] = (int64_t)rank - 1, order.v[rank - 1] = (int64_t)rank - 2;
    }
    if (order.n < rank || order.n > MOST_RANK)
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/permute", "permute: expected from %zu to %d numbers, "
                                "found %zu", rank, MOST_RANK, order.n);
    if (!order_is_sound(at, "attribute/permute", &order, order.n)) return false;
    return xir_node_result(at, 0, xir_node_transposed(at, with_ones(at, x, order.n - rank, 0), order.v, order.n, NULL));
}

/* ---- repeats ---------------------------------------------------------------------------------------------------- */

/* Both the tensor and the shape may have the 1 of a pair. */
bool tsm_broadcast(xir_node *at) {
    xir_ints shape;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !tsm_constant(at, 1, SIZE_MAX, &shape)) return false;
    const size_t rank = v_rank(x), n = rank > shape.n ? rank : shape.n;
    if (n > MOST_RANK) return xir_node_unsupported(at, "%zu dims", n);
    xir_ints sizes = xir_node_make_ints(at, n, -1);
    for (size_t i = 0; i < shape.n && sizes.v; i++) {
        const size_t k = n - shape.n + i;
        const int64_t own = k + rank < n ? 1 : v_dim(x, k + rank - n), to = shape.v[i];
        if (to < 0) return xir_node_invalid(at, XIR_E_BOUNDS, "input/1", "input 1: expected no negative number, found "
                                            "%lld", (long long)to);
        if (to != 1 && own != 1 && own >= 0 && own != to)
            return xir_node_invalid(at, XIR_E_INVALID, "input/1", "input 1: expected %lld or 1 at %zu, found %lld",
                                    (long long)own, i, (long long)to);
        sizes.v[k] = to == 1 ? k + rank < n ? 1 : -1 : to;
    }
    return sizes.v && xir_node_becomes(at, "Expand", INS(x), SETS(LIST("sizes", &sizes)));
}

/* Counts for the last dims, or for more dims than the tensor has. */
bool tsm_tile(xir_node *at) {
    xir_ints counts;
    xir_value *x = xir_node_input(at, 0);
    if (!(at->n_in > 1 ? tsm_constant(at, 1, SIZE_MAX, &counts)
                       : tsm_list(at, "repeats", SIZE_MAX, INT32_MIN, &counts))) return false;
    if (counts.n > MOST_RANK) return xir_node_unsupported(at, "%zu dims", counts.n);
    for (size_t i = 0; i < counts.n; i++) if (counts.v[i] < 0) return tsm_out_of_range(at, "repeats", counts.v[i]);
    return xir_node_becomes(at, "Tile", INS(x), SETS(LIST("dims", &counts)));
}

/* ---- joins and parts -------------------------------------------------------------------------------------------- */

bool tsm_concat(xir_node *at) { return op_of_joining(at, "Concat", "dim", 0); }
bool tsm_stack(xir_node *at)  { return op_of_joining(at, "Stack", "axis", 0); }

/* Parts of an axis, as many as there are sizes. */
static bool give_parts(xir_node *at, const one_axis *a, const xir_ints *sizes) {
    const xir_node *node = at;
    if (at->n_out > sizes->n)
        return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "it has %zu fields, but field %zu is used", sizes->n,
                                node->n_out - 1);
    return node_gives(at, xir_node_make_op(at, "Split", INS(a->x), SETS(LIST("sections", sizes), AXIS("axis", *a))));
}

/* Pieces of n / chunks, rounded up; the last ones may be shorter. */
bool tsm_chunk(xir_node *at) {
    int64_t chunks;
    const one_axis a = one_axis_of(at, "attribute/dim", -2);
    if (!tsm_int(at, "chunks", 1, 1, 1 << 16, &chunks) || !xir_node_need_dims(at, a.x, a.axis, a.axis + 1))
        return false;
    const int64_t n = a.n, size = (n + chunks - 1) / chunks;
    if (n < chunks)
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/chunks", "chunks: expected at most %lld, found %lld",
                                (long long)n, (long long)chunks);
    const xir_ints sizes = sizes_of_parts(at, n, size);
    return sizes.v && give_parts(at, &a, &sizes);
}

bool tsm_split(xir_node *at) {
    xir_ints sizes;
    const one_axis a = one_axis_of(at, "attribute/axis", 0);
    if (at->n_in < 2) return xir_node_invalid(at, XIR_E_MISSING, "input/1", "input 1, the sizes, is missing");
    return tsm_constant(at, 1, SIZE_MAX, &sizes) && give_parts(at, &a, &sizes);
}

/* Converts `_field` of anything else than packed tensors. Fields of these are gone by now (fields.c). */
bool tsm_field(xir_node *at) {
    int64_t offset;
    if (!tsm_int(at, "offset", 0, 0, TSM_MOST_DIM, &offset)) return false;
    if (!offset && xir_node_has(at, 0) && xir_type_as_tensor(xir_value_type(xir_node_input(at, 0))))
        return xir_convert_copy(at);
    return xir_node_unsupported(at, "a field of a tensor that is not known to be packed");
}

/* ---- constants -------------------------------------------------------------------------------------------------- */

/* The element type of a parameter: what the file has, if it is not what the usual writer would choose. */
static const xir_type *element_of(xir_node *at, const char *name) {
    const xir_map *tags = xir_op_tags(xir_node_op(at));
    const xir_any *a = tags ? xir_map_find(tags, XIR_STR("tsm.params")) : NULL, *value = xir_node_attr(at, name);
    a = a && a->kind == XIR_ANY_MAP ? xir_map_find(&a->as.map, XIR_STR("types")) : NULL;
    a = a && a->kind == XIR_ANY_MAP ? xir_map_find(&a->as.map, xir_str_of(name)) : NULL;
    if (a && a->kind == XIR_ANY_LIST && a->as.list.size && a->as.list.items[0].kind == XIR_ANY_INT)
        return tsm_element(xir_node_context(at), a->as.list.items[0].as.integer);
    if (value && value->kind == XIR_ANY_LIST && value->as.list.size) value = value->as.list.items;
    return tsm_element(xir_node_context(at), value && value->kind == XIR_ANY_INT ? 5 : 10);
}

bool tsm_constant_of_shape(xir_node *at) {
    const double *list;
    size_t n = 0;
    const xir_type *element = element_of(at, "value");
    double value = xir_node_real(at, "value", 0);
    if (xir_node_real_items(at, "value", &list, &n) && n) value = list[0];
    if (xir_node_failed(at) || !element) return xir_node_unsupported(at, "elements that XIR does not have");
    return xir_node_becomes(at, "ConstantOfShape", INS(tsm_index(at, xir_node_input(at, 0))),
                            SETS(REAL("value", value), OBJ("element_dtype", element)));
}

bool tsm_range(xir_node *at) {
    xir_value *first = xir_node_input(at, 0), *limit = xir_node_input(at, 1), *step = xir_node_input(at, 2);
    if (!xir_node_same_elements(at, 0, first, 1, limit) || !xir_node_same_elements(at, 0, first, 2, step)) return false;
    return xir_node_becomes(at, "Range", INS(first, limit, step), NO_SETS);
}
