/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Prepares a module before its operators are converted. A packed tensor becomes several values: the operator that
 * makes it gets an output for each field, and `_field` and `_pack` disappear. An input without an element type takes
 * that of its Cast. */
#include <string.h>
#include "graph.h"
#include "tsm/tsm.h"

enum { MOST_FIELDS = 4096 };

static const xir_any *param_of(const xir_op *op, const char *name) {
    return xir_map_find(xir_op_extra(op), xir_str_of(name));
}

/* Returns how many fields an operator gives; 0: it may give one tensor. */
static size_t fields_of(const xir_op *op) {
    const xir_any *chunks = param_of(op, "chunks"), *value = param_of(op, "value");
    if (op_is_of(op, "tsm::", "topkv2")) return 2;
    if (op_is_of(op, "tsm::", "LSTM")) return 3;
    if (op_is_of(op, "tsm::", "yolo")) return 4;
    if (op_is_of(op, "tsm::", "_pack")) return xir_op_input_count(op);
    if (op_is_of(op, "tsm::", "<const>") && value && value->kind == XIR_ANY_LIST) return value->as.list.size;
    const bool chunk = op_is_of(op, "tsm::", "chunk") && chunks && chunks->kind == XIR_ANY_INT;
    if (chunk && chunks->as.integer > 0 && chunks->as.integer <= MOST_FIELDS) return (size_t)chunks->as.integer;
    const xir_value *sizes = op_is_of(op, "tsm::", "split") ? xir_op_input(op, 1) : NULL;
    const int64_t n = sizes && xir_type_as_tensor(xir_value_type(sizes)) && v_rank(sizes) == 1 ? v_dim(sizes, 0) : 0;
    return n > 0 && n <= MOST_FIELDS ? (size_t)n : 0;
}

/* The operator that makes a packed value, and the number of its fields; NULL: it is not packed. */
static xir_op *packer_of(const xir_value *v, size_t *n) {
    xir_op *op = v && !xir_value_is_params(v) ? xir_value_op(v) : NULL;
    *n = op && xir_class_is_dialect(xir_op_class(op)) ? fields_of(op) : 0;
    return *n ? op : NULL;
}

/* Field i of a packed value, NULL if it does not have one: an input of a `_pack`, Params of a constant, or an output,
 * which the operator gets. */
static xir_status field_at(xir_op *op, size_t n, size_t i, xir_value **out) {
    *out = NULL;
    if (i >= n) return XIR_OK;
    if (op_is_of(op, "tsm::", "_pack")) {
        *out = xir_op_input(op, (int64_t)i);
        return XIR_OK;
    }
    if (op_is_of(op, "tsm::", "<const>")) {
        const xir_any *item = &param_of(op, "value")->as.list.items[i];
        *out = item->kind == XIR_ANY_PARAMS ? item->as.params : NULL;
        return XIR_OK;
    }
    if (xir_op_output_count(op) < n) {
        const xir_type *types[MOST_FIELDS];
        for (size_t k = 0; k < n; k++)
            types[k] = k < xir_op_output_count(op) ? xir_value_type(xir_op_output(op, (int64_t)k)) : NULL;
        const xir_status status = n > MOST_FIELDS ? XIR_OK : xir_op_set_outputs(op, types, n);
        if (status || n > MOST_FIELDS) return status;
    }
    *out = xir_op_output(op, (int64_t)i);
    return XIR_OK;
}

static bool is_name_of(const xir_value *v, const xir_op *op) {
    return xir_str_equal(xir_value_name(v), xir_op_name(op));
}

/* A `_field` of a packed value is the field, which gets the name of the first one. */
static xir_status take_field(xir_op *op, bool *changed) {
    const xir_any *offset = param_of(op, "offset");
    size_t n;
    xir_value *y = xir_op_output(op, 0), *field = NULL;
    xir_op *from = xir_op_input_count(op) == 1 ? packer_of(xir_op_input(op, 0), &n) : NULL;
    if (!from || from == op || !y || !offset || offset->kind != XIR_ANY_INT || offset->as.integer < 0) return XIR_OK;
    xir_status status = field_at(from, n, (size_t)offset->as.integer, &field);
    if (status || !field || field == y) return status;
    const bool own = !xir_value_is_params(field) && xir_value_op(field) == from;
    const bool fresh = own && (!xir_value_name(field).size || (offset->as.integer == 0 && is_name_of(field, from)));
    if (fresh) status = xir_value_set_name(field, xir_value_name(y));
    if (!status) status = xir_value_replace(y, field);
    *changed = true;
    return status ? status : xir_op_erase(op);
}

/* A result of the network that is packed still, and the number of its fields; op NULL: another result. An operator that
 * has outputs for its fields is done. */
typedef struct packed_result { xir_op *op; size_t n; } packed_result;

static packed_result packed_result_of(const xir_op *last, size_t i) {
    packed_result r;
    r.op = packer_of(xir_op_input(last, (int64_t)i), &r.n);
    if (!r.op || xir_op_output_count(r.op) != 1) r = (packed_result){ NULL, 1 };
    return r;
}

/* The fields of packed results, and the other results. */
static xir_status list_results(const xir_op *last, const packed_result *results, xir_value **v, size_t *count) {
    size_t k = 0;
    for (size_t i = 0; i < xir_op_input_count(last); i++) {
        const size_t begin = k;
        const packed_result *r = &results[i];
        v[k++] = xir_op_input(last, (int64_t)i);
        for (size_t f = 0; r->op && f < r->n; f++) {
            const xir_status status = field_at(r->op, r->n, f, &v[begin + f]);
            if (status) return status;
            if (!v[begin + f]) {   /* not Params: all of it is kept */
                v[begin] = xir_op_input(last, (int64_t)i), k = begin + 1;
                break;
            }
            k = begin + f + 1;
        }
    }
    *count = k;
    return XIR_OK;
}

/* Packed results of the network become all their fields, as often as they are listed. After a failure they are packed
 * again. */
static xir_status spread_results(xir_network *net, bool *changed) {
    xir_op *last = xir_network_output_op(net);
    const xir_allocator *alloc = context_alloc(xir_network_context(net));
    const size_t count = last ? xir_op_input_count(last) : 0;
    size_t all = 0, k = 0;
    bool any = false;
    packed_result *results = count ? mem_new(alloc, count * sizeof *results) : NULL;
    if (!count) return XIR_OK;
    if (!results) return XIR_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        results[i] = packed_result_of(last, i);
        any |= results[i].op != NULL;
        all += results[i].n;
    }
    any &= all <= (size_t)MOST_FIELDS * 16;
    xir_value **v = any ? mem_new(alloc, all * sizeof *v) : NULL;
    xir_status status = any && !v ? XIR_E_MEMORY : XIR_OK;
    if (v) status = list_results(last, results, v, &k);
    if (v && !status) status = xir_op_set_inputs(last, v, k);
    for (size_t i = 0; v && status && i < count; i++) {
        xir_op *op = results[i].op;
        const xir_type *type = op ? xir_value_type(xir_op_output(op, 0)) : NULL;
        if (op && xir_op_output_count(op) > 1) (void)xir_op_set_outputs(op, &type, 1);
    }
    if (v) mem_free(alloc, (void *)v, all * sizeof *v);
    mem_free(alloc, results, count * sizeof *results);
    *changed |= any;
    return status;
}

/* The dims of an input in its tag: #shape of a file without #dtype. */
static const xir_list *shape_of(const xir_value *v) {
    const xir_any *a = xir_map_find(xir_value_tags(v), XIR_STR("tsm.params"));
    a = a && a->kind == XIR_ANY_MAP ? xir_map_find(&a->as.map, XIR_STR("more")) : NULL;
    a = a && a->kind == XIR_ANY_MAP ? xir_map_find(&a->as.map, XIR_STR("#shape")) : NULL;
    return a && a->kind == XIR_ANY_LIST ? &a->as.list : NULL;
}

/* The elements to which all users cast an input; 0 if they do not agree. */
static int64_t cast_of(const xir_value *v) {
    int64_t dtype = 0;
    for (const xir_use *use = xir_value_uses(v); use; use = xir_use_next(use)) {
        const xir_op *op = xir_use_op(use);
        const xir_any *to = op_is_of(op, "tsm::", "_cast") ? param_of(op, "dtype") : NULL;
        const int64_t own = op_is_of(op, "tsm::", "to_float") ? 10 : to && to->kind == XIR_ANY_INT ? to->as.integer : 0;
        if (!own || (dtype && own != dtype)) return 0;
        dtype = own;
    }
    return dtype;
}

static xir_status type_input(xir_context *ctx, xir_value *v, bool *changed) {
    enum { MOST_DIMS = 32 };
    int64_t dims[MOST_DIMS];
    const xir_list *shape = xir_value_type(v) ? NULL : shape_of(v);
    const xir_type *element = shape ? tsm_element(ctx, cast_of(v)) : NULL;
    if (!element || shape->size > MOST_DIMS) return XIR_OK;
    for (size_t i = 0; i < shape->size; i++) {
        if (shape->items[i].kind != XIR_ANY_INT) return XIR_OK;
        const int64_t dim = shape->items[i].as.integer;
        dims[i] = dim < 0 || dim > TSM_MOST_DIM ? XIR_UNKNOWN_DIM : dim;
    }
    const xir_type *type = xir_type_tensor(ctx, element, NULL, dims, shape->size);
    *changed = true;
    return type ? xir_value_set_type(v, type) : XIR_E_MEMORY;
}

xir_status tsm_prepare(xir_network *net, bool *changed) {
    xir_status status = XIR_OK;
    *changed = false;
    const xir_op *input = xir_network_input_op(net);
    for (size_t i = 0; input && i < xir_op_output_count(input) && !status; i++)
        status = type_input(xir_network_context(net), xir_op_output(input, (int64_t)i), changed);
    if (!status) status = spread_results(net, changed);
    for (xir_op *op = xir_network_first(net), *next; op && !status; op = next) {
        next = xir_op_next(op);
        if (op_is_of(op, "tsm::", "_field")) status = take_field(op, changed);
    }
    bool any = *changed;
    for (xir_op *op = any ? xir_network_last(net) : NULL, *before; op && !status; op = before) {
        before = xir_op_prev(op);
        const bool packs = op_is_of(op, "tsm::", "_pack") || (op_is_of(op, "tsm::", "<const>") && fields_of(op));
        if (packs && !xir_value_uses(xir_op_output(op, 0))) status = xir_op_erase(op);
    }
    return status;
}
