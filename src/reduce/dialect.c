/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks of a dialect. Their ops are known by what the conversion to XIR makes of them in a copy: it gives the types
 * of values, and its check says if a network is valid. */
#include "reduction.h"

/* ---- types ------------------------------------------------------------------------------------------------------- */

static bool is_known(const xir_value *v) { return xir_type_as_tensor(xir_value_type(v)); }

/* The type of a converted value as that of the value in the file, with the letters that it has there. */
static const xir_type *as_in_file(const xir_network *net, const xir_type *was, const xir_type *now) {
    const bool same_rank = xir_type_as_tensor(was) && xir_type_rank(was) == xir_type_rank(now);
    return xir_type_with_layout(xir_network_context(net), now, same_rank ? xir_type_layout(was) : NULL, NULL);
}

/* Gives the values that a converted one stands for its type, unless they have one. `was`: the same network with the
 * types that the file declares. */
static xir_status take_type(const xir_network *was, xir_network *net, const xir_provenance *p, const xir_value *v) {
    enum { ROOM = 8 };
    int64_t ids[ROOM];
    size_t n = 0;
    xir_status status = is_known(v) ? xir_provenance_values_of(p, v, ids, ROOM, &n) : XIR_OK;
    for (size_t i = 0; i < n && i < ROOM && !status; i++) {
        xir_value *of = xir_network_value_by_id(net, ids[i]);
        const xir_value *before = xir_network_value_by_id(was, ids[i]);
        if (!of || is_known(of)) continue;
        const xir_type *type = as_in_file(net, before ? xir_value_type(before) : NULL, xir_value_type(v));
        if (type) status = xir_value_set_type(of, type);
    }
    return status;
}

/* Types the values that have none by converting a copy. An op that is not converted leaves its values without. */
static xir_status find_types(const xir_network *was, xir_network *net) {
    xir_network *copy = xir_network_clone(net);
    xir_provenance *p = copy ? xir_provenance_new(copy, NULL) : NULL;
    xir_status status = p ? xir_pass_run(copy, "to-xir", NULL, NULL, NULL) : XIR_E_MEMORY;
    if (status != XIR_E_MEMORY) status = XIR_OK;
    for (const xir_op *op = p ? xir_network_first(copy) : NULL; op && !status; op = xir_op_next(op))
        for (size_t i = 0; i < xir_op_output_count(op) && !status; i++)
            status = take_type(was, net, p, xir_op_output(op, (int64_t)i));
    xir_provenance_free(p);
    xir_network_free(copy);
    return status;
}

static bool is_same_type(const xir_value *a, const xir_value *b) {
    const xir_type *x = a ? xir_value_type(a) : NULL, *y = b ? xir_value_type(b) : NULL;
    return x == y || (x && y && xir_type_equal(x, y));
}

static bool reads_the_same(const xir_op *a, const xir_op *b) {
    for (size_t i = 0; i < xir_op_input_count(a); i++)
        if (!is_same_type(xir_op_input(a, (int64_t)i), xir_op_input(b, (int64_t)i))) return false;
    return true;
}

/* A value whose new type is unknown keeps its old one if the inputs of its op keep theirs. */
static xir_status settle_types(const xir_op *was, const xir_op *op) {
    xir_status status = XIR_OK;
    const bool same = reads_the_same(was, op);
    for (size_t i = 0; i < xir_op_output_count(op) && !status; i++) {
        const xir_value *before = xir_op_output(was, (int64_t)i);
        xir_value *v = xir_op_output(op, (int64_t)i);
        if (is_known(v) || !is_known(before)) continue;
        status = same ? xir_value_set_type(v, xir_value_type(before)) : XIR_E_UNSUPPORTED;
    }
    return status;
}

static xir_status forget_types(xir_network *net) {
    xir_status status = XIR_OK;
    for (xir_op *op = xir_network_first(net); op && !status; op = xir_op_next(op)) {
        if (op == xir_network_input_op(net)) continue;
        for (size_t i = 0; i < xir_op_output_count(op) && !status; i++)
            status = xir_value_set_type(xir_op_output(op, (int64_t)i), NULL);
    }
    return status;
}

xir_status reduce_find_types(xir_network *net) { return find_types(net, net); }

/* `net` is a copy of the best network, whose inputs, Params and attributes may have changed. */
static xir_status type_again(const reducing *r, xir_network *net) {
    xir_status status = forget_types(net);
    if (!status) status = find_types(r->best, net);
    const xir_op *was = xir_network_first(r->best);
    for (const xir_op *op = xir_network_first(net); op && was && !status; op = xir_op_next(op), was = xir_op_next(was))
        if (op != xir_network_input_op(net)) status = settle_types(was, op);
    return status;
}

/* ---- valid networks ---------------------------------------------------------------------------------------------- */

size_t reduce_count_faults(reducing *r, const xir_network *net) {
    xir_diags *found = xir_diags_new(xir_network_context(net));
    if (!found || xir_dialect_check(net, found) == XIR_E_MEMORY) r->status = XIR_E_MEMORY;
    const size_t n = found ? xir_diags_count_of(found, XIR_ERROR) : 0;
    xir_diags_free(found);
    return n;
}

xir_network *reduce_settle_again(reducing *r, xir_network *net, xir_status edited) {
    xir_status status = edited;
    if (net && !status && r->is_dialect) status = type_again(r, net);
    reduce_fails(r, status);
    net = reduce_settle(r, net, status);
    if (!net || !r->is_dialect || (reduce_count_faults(r, net) <= r->faults && !r->status)) return net;
    xir_network_free(net);
    return NULL;
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

/* Removes the i-th attribute of an op, or with SIZE_MAX all. XIR_E_MISSING: there is none. */
xir_status reduce_drop_attribute(xir_op *op, size_t i) {
    const xir_map *extra = xir_op_extra(op);
    if (!extra || !extra->size || (i != SIZE_MAX && i >= extra->size)) return XIR_E_MISSING;
    xir_status status = XIR_OK;
    for (size_t left = i == SIZE_MAX ? extra->size : 1; left && !status; left--) {
        extra = xir_op_extra(op);
        status = xir_op_set_extra(op, extra->entries[i == SIZE_MAX ? left - 1 : i].key, NULL);
    }
    return status;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* A number that equals a dim becomes the smaller one. */
static bool replace(int64_t *number, int64_t was, int64_t now) {
    const bool same = *number == was;
    if (same) *number = now;
    return same;
}

static xir_status replace_in_list(reducing *r, xir_op *op, xir_str key, const xir_list *list, int64_t was, int64_t now,
                                  bool *any) {
    xir_any *items = reduce_new(r, list->size, sizeof *items);
    bool here = false;
    if (!items) return XIR_E_MEMORY;
    for (size_t i = 0; i < list->size; i++) {
        items[i] = list->items[i];
        if (items[i].kind == XIR_ANY_INT) here = replace(&items[i].as.integer, was, now) || here;
    }
    const xir_any all = xir_any_list(items, list->size);
    const xir_status status = here ? xir_op_set_extra(op, key, &all) : XIR_OK;
    reduce_drop(r, items, list->size, sizeof *items);
    *any = *any || here;
    return status;
}

static xir_status replace_in_attributes(reducing *r, xir_op *op, int64_t was, int64_t now, bool *any) {
    xir_status status = XIR_OK;
    const xir_map *extra = xir_op_extra(op);
    for (size_t i = 0; extra && i < extra->size && !status; i++, extra = xir_op_extra(op)) {
        const xir_str key = extra->entries[i].key;
        xir_any value = extra->entries[i].value;
        if (value.kind == XIR_ANY_LIST) status = replace_in_list(r, op, key, &value.as.list, was, now, any);
        if (value.kind != XIR_ANY_INT || !replace(&value.as.integer, was, now)) continue;
        status = xir_op_set_extra(op, key, &value);
        *any = true;
    }
    return status;
}

/* Params that are an integer or a list of these, of 64 bits: most often a shape. */
bool reduce_is_list(const xir_value *params) {
    const xir_type *element = xir_type_element(xir_value_type(params));
    const xir_integer_type *integer = element ? xir_integer_type_of(xir_type_object(element)) : NULL;
    return integer && xir_type_storage_bits(element) == 64 && xir_type_rank(xir_value_type(params)) < 2 &&
           xir_params_has_data(params);
}

static xir_status replace_in_params(reducing *r, xir_value *params, int64_t was, int64_t now, bool *any) {
    uint64_t size;
    const char *bytes = reduce_is_list(params) ? xir_params_data(params, &size) : NULL;
    if (!bytes || !size) return XIR_OK;
    int64_t *numbers = reduce_new(r, (size_t)size, 1);
    bool here = false;
    if (!numbers) return XIR_E_MEMORY;
    memcpy(numbers, bytes, (size_t)size);
    for (size_t i = 0; i < size / sizeof *numbers; i++) here = replace(&numbers[i], was, now) || here;
    const xir_status status = here ? xir_params_set_copy(params, numbers, (size_t)size) : XIR_OK;
    reduce_drop(r, numbers, (size_t)size, 1);
    *any = *any || here;
    return status;
}

xir_status reduce_replace_numbers(reducing *r, xir_network *net, int64_t was, int64_t now, bool *any) {
    const size_t n = xir_network_params(net, NULL, 0);
    xir_value **params = reduce_new(r, n, sizeof *params);
    xir_status status = params ? XIR_OK : XIR_E_MEMORY;
    if (params) xir_network_params(net, params, n);
    for (size_t i = 0; i < n && !status; i++) status = replace_in_params(r, params[i], was, now, any);
    for (xir_op *op = xir_network_first(net); op && !status; op = xir_op_next(op))
        if (xir_class_is_dialect(xir_op_class(op))) status = replace_in_attributes(r, op, was, now, any);
    reduce_drop(r, (void *)params, n, sizeof *params);
    return status;
}
