/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Smaller tensors. A number that is a dim of inputs or Params becomes smaller wherever they have it, so that channels
 * of an input and of a weight stay the same; everything between follows by inference. Of Params the elements at the
 * lowest indices remain. */
#include "reduction.h"
#include <stdlib.h>

/* ---- elements ---------------------------------------------------------------------------------------------------- */

/* The bytes of an element; 0: its elements are not whole bytes, or the Params have none. */
static size_t element_bytes(const xir_value *params) {
    const uint64_t bits = xir_type_storage_bits(xir_type_element(xir_value_type(params)));
    return xir_params_has_data(params) && bits % 8 == 0 ? (size_t)(bits / 8) : 0;
}

enum { MOST_AXES = 16 };

/* Copies the corner of a row-major array of `rank` dims. */
static void copy_corner(char *to, const char *from, const int64_t *now, const int64_t *was, size_t rank, size_t size) {
    int64_t index[MOST_AXES] = { 0 };
    for (;;) {
        size_t at = 0, axis = rank;
        for (size_t i = 0; i < rank; i++) at = at * (size_t)was[i] + (size_t)index[i];
        memcpy(to, from + at * size, size);
        to += size;
        while (axis > 0 && ++index[axis - 1] == now[axis - 1]) index[--axis] = 0;
        if (!axis) return;
    }
}

/* The type with the smaller dim; NULL: it does not have the number, or the type would not be one. */
static const xir_type *with_dim(const reducing *r, const xir_type *type, int64_t was, int64_t now) {
    int64_t dims[MOST_AXES];
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    bool any = false;
    if (!tensor || tensor->shape.size > MOST_AXES) return NULL;
    for (size_t i = 0; i < tensor->shape.size; i++) {
        dims[i] = tensor->shape.data[i] == was ? now : tensor->shape.data[i];
        any = any || dims[i] != tensor->shape.data[i];
    }
    return any ? xir_type_with_shape(xir_network_context(r->best), type, dims, tensor->shape.size, NULL) : NULL;
}

static xir_status shrink_params(reducing *r, xir_value *params, const xir_type *type) {
    const xir_tensor_type *was = xir_type_as_tensor(xir_value_type(params)), *now = xir_type_as_tensor(type);
    const size_t size = element_bytes(params);
    uint64_t bytes;
    if (!size || xir_type_bytes(type, &bytes) || !bytes) return XIR_E_UNSUPPORTED;
    char *part = reduce_new(r, (size_t)bytes, 1);
    if (!part) return XIR_E_MEMORY;
    copy_corner(part, xir_params_data(params, NULL), now->shape.data, was->shape.data, now->shape.size, size);
    xir_params_clear(params);
    xir_status status = xir_value_set_type(params, type);
    if (!status) status = xir_params_set_copy(params, part, (size_t)bytes);
    reduce_drop(r, part, (size_t)bytes, 1);
    return status;
}

/* ---- dims -------------------------------------------------------------------------------------------------------- */

typedef struct dims {
    int64_t *items;      /* each once, the greatest first */
    size_t   n, room;
} dims;

static int greatest_first(const void *x, const void *y) {
    const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a < b) - (a > b);
}

static size_t count_dims(xir_value *const *values, size_t n, int64_t *out) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const xir_tensor_type *tensor = xir_type_as_tensor(xir_value_type(values[i]));
        for (size_t k = 0; tensor && k < tensor->shape.size; k++, found++)
            if (out) out[found] = tensor->shape.data[k];
    }
    return found;
}

/* The inputs and the Params of a network; false without memory. */
static xir_value **borders(reducing *r, xir_network *net, size_t *n_inputs, size_t *n) {
    *n_inputs = xir_network_inputs(net, NULL, 0);
    *n = *n_inputs + xir_network_params(net, NULL, 0);
    xir_value **values = reduce_new(r, *n, sizeof *values);
    if (!values) return NULL;
    xir_network_inputs(net, values, *n_inputs);
    xir_network_params(net, values + *n_inputs, *n - *n_inputs);
    return values;
}

static bool list_dims(reducing *r, dims *out) {
    size_t n_inputs, n;
    xir_value **values = borders(r, r->best, &n_inputs, &n);
    if (!values) return false;
    out->room = count_dims(values, n, NULL);
    out->items = reduce_new(r, out->room, sizeof *out->items);
    if (out->items) {
        count_dims(values, n, out->items);
        qsort(out->items, out->room, sizeof *out->items, greatest_first);
        for (size_t i = 0; i < out->room; i++)
            if (out->items[i] > 1 && (!out->n || out->items[out->n - 1] != out->items[i]))
                out->items[out->n++] = out->items[i];
    }
    reduce_drop(r, (void *)values, n, sizeof *values);
    return out->items != NULL;
}

/* Returns true if a value is a list of a dialect, which keeps its length. */
static bool is_kept(const reducing *r, const xir_value *v) {
    return r->is_dialect && xir_value_is_params(v) && reduce_is_list(v);
}

/* Makes a dim smaller in all inputs and Params. XIR_E_MISSING: none has it. */
static xir_status shrink_all(reducing *r, xir_network *net, int64_t was, int64_t now) {
    size_t n_inputs, n;
    bool any = false;
    xir_value **values = borders(r, net, &n_inputs, &n);
    xir_status status = values ? XIR_OK : XIR_E_MEMORY;
    for (size_t k = 0; values && k < n && !status; k++) {
        const xir_type *type = with_dim(r, xir_value_type(values[k]), was, now);
        if (!type || is_kept(r, values[k])) continue;
        any = true;
        status = k < n_inputs ? xir_value_set_type(values[k], type) : shrink_params(r, values[k], type);
    }
    if (values) reduce_drop(r, (void *)values, n, sizeof *values);
    return status ? status : any ? XIR_OK : XIR_E_MISSING;
}

/* For each dim there are networks that have 1, 2 and the half in its place; and of a dialect the same again, in which
 * attributes and lists have the smaller number, too. */
static size_t for_each_dim(const reducing *r) { return r->is_dialect ? 6 : 3; }

static xir_network *with_less(reducing *r, size_t i, const void *arg) {
    const dims *d = arg;
    const size_t way = i % for_each_dim(r);
    const int64_t was = d->items[i / for_each_dim(r)], now = way % 3 == 0 ? 1 : way % 3 == 1 ? 2 : (was + 1) / 2;
    xir_network *net = now < was ? reduce_clone(r) : NULL;
    bool any = way < 3;
    if (!net) return NULL;
    xir_status status = shrink_all(r, net, was, now);
    if (!status && way >= 3) status = reduce_replace_numbers(r, net, was, now, &any);
    return reduce_settle_again(r, net, status ? status : any ? XIR_OK : XIR_E_INVALID);
}

bool reduce_dims(reducing *r) {
    bool helped = false;
    if (r->is_dialect) r->faults = reduce_count_faults(r, r->best);
    while (!reduce_ends(r)) {
        dims d = { 0 };
        if (!list_dims(r, &d)) return helped;
        const size_t to = for_each_dim(r) * d.n;
        const bool again = reduce_first(r, 0, to, with_less, &d) < to;
        reduce_drop(r, d.items, d.room, sizeof *d.items);
        if (!again) return helped;
        helped = true;
    }
    return helped;
}
