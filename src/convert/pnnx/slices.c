/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators that take a part of a tensor, or write one: Tensor.slice, Tensor.slice_copy, torch.select, torch.narrow. */
#include "node/lists.h"
#include "pnnx/pnnx.h"
#include "spec/one_axis.h"
#include "spec/slicing.h"

/* The n items of the parameter `many`, or the only one of the parameter `one`, from an attribute or an input; all
 * `otherwise` if the node has neither. */
static bool slice_list(xir_node *at, const char *one, const char *many, size_t n, int64_t otherwise, list_items *out) {
    const char *name = pnnx_is_none(at, many) && xir_node_input_named(at, many) == SIZE_MAX ? one : many;
    const size_t input = name ? xir_node_input_named(at, name) : SIZE_MAX;
    xir_ints numbers;
    if (name && input != SIZE_MAX) return read_items_of(at, NULL, input, out) && out->n == n;
    *out = make_items(at, n, otherwise);
    if (!name || !pnnx_list(at, name, n, &numbers)) return !xir_node_failed(at);
    for (size_t i = 0; i < n; i++) out->v[i] = item_number(numbers.v[i] >= PNNX_END ? INT64_MAX : numbers.v[i]);
    return true;
}

/* From the parameters of a Tensor.slice of x; `gone` has 1 for each dim that is removed. Negative selections count from
 * the end. */
static bool read_slicing(xir_node *at, xir_value *x, slicing *s, xir_ints *gone) {
    list_items starts, ends, steps, selects;
    xir_ints dims;
    const size_t rank = v_rank(x);
    if (!pnnx_list(at, "dims", 0, &dims) && !xir_node_failed(at))
        dims = xir_node_make_ints(at, 1, xir_node_int(at, "dim", 0));
    if (xir_node_failed(at)) return false;
    if (!slice_list(at, "start", "starts", dims.n, 0, &starts) ||
        !slice_list(at, "end", "ends", dims.n, INT64_MAX, &ends) ||
        !slice_list(at, "step", "steps", dims.n, 1, &steps) ||
        !slice_list(at, NULL, "selects", dims.n, INT64_MAX, &selects))
        return xir_node_unsupported(at, "lists of different lengths");
    list_items bounds = make_items(at, 2 * rank, 0);
    xir_ints step = xir_node_make_ints(at, rank, 1);
    *gone = xir_node_make_ints(at, rank, 0);
    if (xir_node_failed(at)) return false;
    for (size_t i = 0; i < rank; i++) bounds.v[rank + i] = item_number(INT64_MAX);
    for (size_t i = 0; i < dims.n; i++) {
        int64_t axis;
        if (!xir_node_axis(at, "attribute/dims", dims.v[i], rank, &axis)) return false;
        const expr select = selects.v[i].v;
        list_item *begin = &bounds.v[axis], *end = &bounds.v[rank + (size_t)axis];
        if (!expr_is_number(select)) return xir_node_unsupported(at, "a selection that is computed");
        if (select < PNNX_END) {
            *begin = item_number(select);
            *end = item_number(select == -1 ? INT64_MAX : select + 1);
            gone->v[axis] = 1;
            continue;
        }
        if (!expr_is_number(steps.v[i].v) || steps.v[i].v < 1)
            return xir_node_unsupported(at, "a step that is computed");
        *begin = starts.v[i];
        *end = ends.v[i];
        step.v[axis] = steps.v[i].v;
    }
    return slicing_of_items(at, &bounds, &step, s);
}

bool pnnx_slice(xir_node *at) {
    slicing s;
    xir_ints gone;
    xir_value *x = xir_node_input(at, 0);
    if (!read_slicing(at, x, &s, &gone)) return false;
    xir_ints axes = xir_node_make_ints(at, gone.n, 0);
    if (!axes.v) return false;
    axes.n = 0;
    for (size_t i = 0; i < gone.n; i++) if (gone.v[i]) axes.v[axes.n++] = (int64_t)i;
    xir_value *y = op_of_slicing(at, x, &s);
    if (!y || !axes.n) return xir_node_result(at, 0, y);
    return xir_node_result(at, 0, xir_node_make(at, "Squeeze", INS(y), SETS(LIST("axis", &axes))));
}

/* Writes a part: the positions of its elements are listed, and one ScatterND over the flattened tensor writes them. */
bool pnnx_slice_copy(xir_node *at) {
    slicing s;
    xir_ints gone;
    xir_value *x = xir_node_input(at, 0), *src = xir_node_input(at, 1);
    if (!read_slicing(at, x, &s, &gone) || !src || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    if (s.computed) return xir_node_unsupported(at, "bounds that are computed");
    const size_t rank = v_rank(x);
    xir_ints dims = xir_node_dims(at, x), count = xir_node_make_ints(at, rank, 0);
    if (xir_node_failed(at)) return false;
    for (size_t i = 0; i < rank; i++) {
        const slice_part p = slicing_picks(&s, i, dims.v[i]);
        s.begin.v[i] = p.first, count.v[i] = p.count;
    }
    if (!node_elements_at_most(at, &count, PNNX_MOST_LISTED, "the part")) return false;
    const int64_t total = product_of(&count, 0, rank);
    xir_ints places = xir_node_make_ints(at, (size_t)total, 0);
    for (int64_t k = 0; places.v && k < total; k++) {
        int64_t rest = k, stride = 1;
        for (size_t i = rank; i-- > 0; stride *= dims.v[i], rest /= count.v[i]) {
            places.v[k] += (s.begin.v[i] + rest % count.v[i] * s.step.v[i]) * stride;
        }
    }
    xir_value *flat = make_shaped(at, x, (int64_t[]){ -1 }, 1), *updates = make_shaped(at, src, (int64_t[]){ -1 }, 1);
    if (updates && v_dim(updates, 0) != total) return xir_node_unsupported(at, "a source of other dims");
    xir_value *index = places.v ? make_shaped(at, xir_node_integers(at, &places), (int64_t[]){ total, 1 }, 2) : NULL;
    xir_value *y = index && updates ? xir_node_make(at, "ScatterND", INS(flat, index, updates), NO_SETS) : NULL;
    return xir_node_result(at, 0, y ? make_reshaped(at, y, &dims) : NULL);
}

bool pnnx_select(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/dim", 0);
    xir_value *index = xir_node_has(at, 1) ? xir_node_input(at, 1)
        : xir_node_scalar(at, xir_type_sint(xir_node_context(at), 64), (double)xir_node_int(at, "index", 0));
    return xir_node_becomes(at, "Gather", INS(a.x, index), SETS(AXIS("axis", a)));
}

bool pnnx_narrow(xir_node *at) {
    int64_t start = xir_node_int(at, "start", 0);
    const int64_t length = xir_node_int(at, "length", 0);
    const one_axis a = start < 0 ? known_axis_of(at, "attribute/dim", 0) : one_axis_of(at, "attribute/dim", 0);
    if (start < 0) start += a.n;
    if (start < 0 || length < 0 || start > PNNX_END || length > PNNX_END)
        return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "a part from %lld of %lld elements", (long long)start,
                                (long long)length);
    return xir_node_result(at, 0, make_part(at, a.x, a.axis, start, start + length, 1));
}
