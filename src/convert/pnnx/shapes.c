/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators that give a tensor other dims, or its dims another order. */
#include "pnnx/pnnx.h"
#include "spec/moving.h"
#include "spec/one_axis.h"

/* The shape is a parameter, or an input that an Expression makes. A 0 is a dim without elements, as everywhere in
 * PyTorch; but the converter writes 0 for a dim that is kept. */
bool pnnx_reshape(xir_node *at) {
    list_items shape;
    xir_value *x = xir_node_input(at, 0);
    if (!read_items_of(at, "shape", 1, &shape))
        return xir_node_failed(at) ? false : xir_node_invalid(at, XIR_E_MISSING, NULL, "shape is missing");
    for (size_t i = 0; i < shape.n; i++)
        if (shape.v[i].v == 0 && shape.v[i].origin == FROM_NUMBER && i < v_rank(x)) shape.v[i] = item_dim(x, i);
    return xir_node_result(at, 0, make_reshaped_to(at, x, &shape));
}

static bool expanded(xir_node *at, xir_value *x, list_items *sizes) {
    const size_t more = sizes->n - v_rank(x);
    xir_ints numbers = xir_node_make_ints(at, sizes->n, -1);
    for (size_t i = 0; i < numbers.n; i++) {
        if (i >= more && sizes->v[i].v == v_dim(x, i - more)) sizes->v[i] = item_number(-1);
        if (items_known(sizes)) numbers.v[i] = sizes->v[i].v;
    }
    const xir_sets sets = SETS(LIST("sizes", &numbers));
    if (items_known(sizes)) return xir_node_becomes(at, "Expand", INS(x), sets);
    for (size_t i = 0; i < numbers.n; i++) numbers.v[i] = -1;
    return xir_node_result(at, 0, make_listed(at, "Expand", x, sizes, sets));
}

/* The dims of another value. */
bool pnnx_like(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *other = xir_node_input(at, 1);
    list_items dims = make_items(at, v_rank(other), 0);
    for (size_t i = 0; i < dims.n; i++) dims.v[i] = item_known_dim(other, i);
    const xir_str type = xir_node_type(at);
    if (!xir_str_equal(type, XIR_STR("Tensor.expand_as")))
        return xir_node_result(at, 0, make_reshaped_to(at, x, &dims));
    if (dims.n < v_rank(x)) return xir_node_unsupported(at, "fewer dims");
    return expanded(at, x, &dims);
}

bool pnnx_expand(xir_node *at) {
    list_items sizes;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !read_items_of(at, "sizes", 1, &sizes)) return false;
    if (sizes.n < v_rank(x)) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/sizes", "expected at least %zu items, found %zu",
                                v_rank(x), sizes.n);
    }
    return expanded(at, x, &sizes);
}

bool pnnx_repeat(xir_node *at) {
    xir_ints counts;
    xir_value *x = xir_node_input(at, 0);
    const char *name = xir_str_equal(xir_node_type(at), XIR_STR("torch.tile")) ? "dims" : "sizes";
    if (!x || !pnnx_list(at, name, 0, &counts)) return false;
    const size_t rank = v_rank(x), n = counts.n > rank ? counts.n : rank;
    list_items dims = make_items(at, n, 1);
    xir_ints all = xir_node_make_ints(at, n, 1);
    if (xir_node_failed(at)) return false;
    for (size_t i = 0; i < counts.n; i++) all.v[n - counts.n + i] = counts.v[i];
    for (size_t i = 0; i < rank; i++) dims.v[n - rank + i] = item_known_dim(x, i);
    if (n > rank) x = make_reshaped_to(at, x, &dims);
    return xir_node_becomes(at, "Tile", INS(x), SETS(LIST("dims", &all)));
}

bool pnnx_permute(xir_node *at) {
    xir_ints dims;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !pnnx_list(at, "dims", v_rank(x), &dims)) return false;
    if (!order_is_sound(at, "attribute/dims", &dims, dims.n)) return false;
    return xir_node_result(at, 0, xir_node_transposed(at, x, dims.v, dims.n, NULL));
}

/* torch.t swaps the dims of a matrix. */
bool pnnx_transpose(xir_node *at) {
    int64_t a, b;
    xir_value *x = xir_node_input(at, 0);
    const size_t rank = v_rank(x);
    if (xir_str_equal(xir_node_type(at), XIR_STR("torch.t")) && rank < 2) return xir_node_result(at, 0, x);
    if (!node_axis(at, "dim0", 0, rank, &a) || !node_axis(at, "dim1", 1, rank, &b)) return false;
    xir_ints order = xir_node_series(at, 0, rank);
    if (!order.v) return false;
    order.v[a] = b, order.v[b] = a;
    return xir_node_result(at, 0, xir_node_transposed(at, x, order.v, rank, NULL));
}

bool pnnx_flatten(xir_node *at) {
    int64_t first, last;
    xir_value *x = xir_node_input(at, 0);
    const size_t rank = v_rank(x);
    if (rank == 0) return xir_node_result(at, 0, make_shaped(at, x, (int64_t[]){ 1 }, 1));
    if (!node_axis(at, "start_dim", xir_node_variant(at), rank, &first) ||
        !node_axis(at, "end_dim", -1, rank, &last)) return false;
    if (first > last) return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/end_dim", "end_dim is before start_dim");
    const size_t n = rank - (size_t)(last - first);
    list_items dims = make_items(at, n, -1);
    for (size_t i = 0; i < dims.n; i++)
        if (i != (size_t)first) dims.v[i] = item_known_dim(x, i < (size_t)first ? i : i + (size_t)(last - first));
    if (first == last) return xir_node_result(at, 0, x);
    const xir_ints all = xir_node_dims(at, x);
    const int64_t product = all.v ? product_of(&all, (size_t)first, (size_t)last + 1) : -1;
    if (dims.v && product >= 0) dims.v[first] = item_number(product);
    return xir_node_result(at, 0, make_reshaped_to(at, x, &dims));
}

bool pnnx_unflatten(xir_node *at) {
    xir_ints sizes;
    const one_axis a = one_axis_of(at, "attribute/dim", 0);
    xir_value *x = a.x;
    if (!x || !pnnx_list(at, "sizes", 0, &sizes)) return false;
    list_items dims = make_items(at, v_rank(x) - 1 + sizes.n, -1);
    for (size_t i = 0, k = a.axis; i < dims.n; i++) {
        if (i >= k && i < k + sizes.n) dims.v[i] = item_number(sizes.v[i - k]);
        else dims.v[i] = item_known_dim(x, i < k ? i : i - sizes.n + 1);
    }
    return xir_node_result(at, 0, make_reshaped_to(at, x, &dims));
}

/* Only dims of 1 are removed. */
bool pnnx_squeeze(xir_node *at) {
    xir_ints axes;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    if (!pnnx_list(at, "dim", 0, &axes)) axes = xir_node_series(at, 0, v_rank(x));
    xir_ints gone = xir_node_make_ints(at, v_rank(x), 0), rest = xir_node_make_ints(at, v_rank(x), 0);
    if (xir_node_failed(at) || !axes_from_start(at, "attribute/dim", v_rank(x), &axes)) return false;
    for (size_t i = 0; i < axes.n; i++) gone.v[axes.v[i]] = v_dim(x, (size_t)axes.v[i]) == 1;
    rest.n = 0;
    for (size_t i = 0; i < gone.n; i++) if (!gone.v[i]) rest.v[rest.n++] = v_dim(x, i);
    return xir_node_result(at, 0, rest.n == gone.n ? x : make_reshaped(at, x, &rest));
}

bool pnnx_unsqueeze(xir_node *at) {
    xir_ints axes;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !pnnx_list(at, "dim", 0, &axes)) return false;
    return xir_node_result(at, 0, xir_node_unsqueezed(at, x, &axes, "attribute/dim"));
}
