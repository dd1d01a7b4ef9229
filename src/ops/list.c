/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See list.h. */
#include <inttypes.h>
#include "constant.h"
#include "list.h"

enum { LIST = 1 };   /* the input */

bool has_list(const xir_infer *at) { return infer_has_input(at, LIST); }

const char *list_place(const xir_infer *at, const char *attribute) { return has_list(at) ? "inputs/1" : attribute; }

bool list_checkable(const xir_infer *at) { return !has_list(at) || xir_infer_input(at, LIST); }

xir_status check_list(xir_infer *at, size_t size) {
    const xir_type *type = xir_infer_input(at, LIST);
    const char *name = input_name(at, LIST);
    if (!type) return xir_infer_fail(at, XIR_E_MISSING, "inputs/1", "%s has no type", name);
    xir_status status = need_integers(at, LIST);
    if (status) return status;
    if (xir_type_rank(type) != 1) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/1", "%s has %zu dims: expected 1, a list of numbers", name,
                              xir_type_rank(type));
    }
    const xir_integer_type *integer = xir_integer_type_of((const xir_object *)xir_type_element(type));
    if (integer && (!integer->sign || (integer->ibits != 32 && integer->ibits != 64))) {
        char room[40];
        return xir_infer_fail(at, XIR_E_TYPE, "inputs/1", "the elements of %s are %s: expected sint(32) or sint(64)",
                              name, element_word(xir_type_element(type), room, sizeof room));
    }
    int64_t dim = xir_type_dim(type, 0, false);
    if (dim >= 0 && (uint64_t)dim != size) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/1", "%s has %" PRId64 " numbers: expected %zu", name, dim,
                              size);
    }
    if (!inputs_tiled(at, 1)) return XIR_OK;
    return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0",
                          "%s is tiled: expected a tensor without tiles, because %s is computed", input_name(at, 0),
                          name);
}

xir_status check_open(xir_infer *at, const char *attribute, xir_i64s items) {
    for (size_t i = 0; i < items.size; i++) {
        if (items.data[i] == -1) continue;
        return xir_infer_fail(at, XIR_E_INVALID, attribute,
                              "item %zu is %" PRId64 ": expected -1, because %s gives the numbers", i, items.data[i],
                              input_name(at, LIST));
    }
    return XIR_OK;
}

xir_status copy_items(xir_infer *at, xir_i64s items, dim_list *out) {
    if (!dims_init(at, out, items.size)) return XIR_E_MEMORY;
    for (size_t i = 0; i < items.size; i++) {
        out->data[i] = items.data[i] < EXPR_LEAST ? EXPR_LEAST : items.data[i];
    }
    return XIR_OK;
}

xir_status read_items(xir_infer *at, size_t size, dim_list *out) {
    integer_list read;
    item_list items;
    xir_status status = read_integers(at, LIST, &read);
    if (status) return status;
    if (!dims_init(at, out, size)) return XIR_E_MEMORY;
    bool computed = !read.known && items_of_value(at->pool, xir_infer_input_value(at, LIST), &items);
    for (size_t i = 0; i < size; i++) {
        if (read.known && i < read.size) out->data[i] = read.data[i] < EXPR_LEAST ? EXPR_LEAST : read.data[i];
        else out->data[i] = computed && i < items.n ? items.v[i] : UNKNOWN_ITEM;
    }
    if (!computed || !expr_no_memory(at->pool)) return XIR_OK;
    dims_free(out);
    return infer_no_memory(at);
}
