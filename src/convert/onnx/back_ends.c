/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The end of the way back, when all ops are nodes: quantised values are the integers that they store, as ONNX has them;
 * and the operator sets say the library's own domain, if there are nodes of it. */
#include "onnx/back_quantised.h"
#include "onnx/custom.h"
#include "onnx/onnx.h"

/* ---- quantised values ------------------------------------------------------------------------------------------- */

/* A node of our own says the types of its inputs and outputs itself. */
static bool says_types(const xir_op *op) { return op && onnx_is_custom(op); }

static bool is_between_custom(const xir_value *v) {
    bool custom = says_types(xir_value_op(v));
    for (const xir_use *use = xir_value_uses(v); use && custom; use = xir_use_next(use))
        custom = says_types(xir_use_op(use));
    return custom;
}

/* Gives a value the type of what it stores. */
static xir_status as_stored(xir_pass *pass, xir_value *v) {
    xir_context *ctx = xir_pass_context(pass);
    const xir_type *type = v ? xir_value_type(v) : NULL;
    if (!type || !xir_type_as_tensor(type)) return XIR_OK;
    if (xir_type_kind_of(xir_type_element(type)) != XIR_TYPE_QUANTIZED) return XIR_OK;
    if (xir_type_is_layouted(type) || xir_type_as_tensor(type)->merged_distrs.size) return XIR_OK;
    if (is_between_custom(v)) return XIR_OK;
    const xir_type *stored = xir_type_with_element(ctx, type, xir_type_storage(type), NULL);
    xir_pass_changed(pass, 1);
    return stored ? xir_value_set_type(v, stored) : XIR_E_MEMORY;
}

static xir_status store_all(xir_pass *pass) {
    xir_status status = XIR_OK;
    for (xir_op *op = xir_network_first(xir_pass_network(pass)); op && !status; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_output_count(op) && !status; i++)
            status = as_stored(pass, xir_op_output(op, (int64_t)i));
        for (size_t i = 0; i < xir_op_input_count(op) && !status; i++) {
            xir_value *v = xir_op_input(op, (int64_t)i);
            if (v && xir_value_is_params(v)) status = as_stored(pass, v);
        }
    }
    return status;
}

/* ---- views ------------------------------------------------------------------------------------------------------ */

/* In a network that keeps ops, a view is XIR's op for it. */
static xir_status as_bit_cast(xir_network *net, xir_op *op) {
    xir_context *ctx = xir_network_context(net);
    xir_value *x = xir_op_input(op, 0), *y = xir_op_output(op, 0);
    const xir_type *type = xir_value_type(y);
    int64_t dims[64];
    const size_t rank = xir_type_rank(type);
    if (rank > COUNT(dims)) return XIR_OK;
    for (size_t i = 0; i < rank; i++) dims[i] = xir_type_dim(type, (int64_t)i, false);
    xir_bit_cast_attrs attrs = xir_bit_cast_init();
    const xir_type *known = xir_type_tensor(ctx, xir_type_element(type), xir_type_layout(type), dims, rank);
    attrs.target_dtype = xir_type_as_tensor(known);
    if (!known) return XIR_E_MEMORY;
    xir_op *made = xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, xir_bit_cast_class()),
        .attrs = &attrs, .inputs = &x, .n_inputs = 1, .types = &type, .n_types = 1, .id = XIR_NO_ID, .before = op));
    if (!made) return XIR_E_MEMORY;
    xir_value *v = xir_op_output(made, 0);
    xir_status status = xir_value_set_name(v, xir_value_name(y));
    if (!status) status = xir_value_replace(y, v);
    return status ? status : xir_op_erase(op);
}

/* Returns true for what no op uses since others have taken its input: a view, or the reals of a constant. */
static bool is_left_over(const xir_op *op) {
    const bool reals = xir_str_equal(xir_class_key(xir_op_class(op)), XIR_STR("onnx::DequantizeLinear")) &&
                       xir_op_input(op, 0) && xir_value_is_params(xir_op_input(op, 0));
    return (reals || onnx_is_view(op)) && !xir_value_uses(xir_op_output(op, 0));
}

xir_status onnx_finish(xir_network *net, bool *changed) {
    bool whole = true, any = false;
    xir_status status = XIR_OK;
    for (xir_op *op = xir_network_last(net), *prev; op && !status; op = prev) {
        prev = xir_op_prev(op);
        if (!is_left_over(op)) continue;
        status = xir_op_erase(op);
        *changed = true;
    }
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const bool end = xir_op_is(op, xir_input_class()) || xir_op_is(op, xir_output_class());
        whole &= end || xir_class_is_opaque(xir_op_class(op));
        any |= onnx_is_view(op);
    }
    for (xir_op *op = xir_network_first(net), *next; op && any && !whole && !status; op = next) {
        next = xir_op_next(op);
        if (!onnx_is_view(op)) continue;
        status = as_bit_cast(net, op);
        *changed = true;
    }
    return status;
}

/* Enters the results of the network; false without memory. */
static bool note_results(const xir_network *net, pointer_table *results) {
    const xir_op *out = xir_network_output_op(net);
    for (size_t i = 0; i < xir_op_input_count(out); i++) {
        const xir_value *v = xir_op_input(out, (int64_t)i);
        if (v && !pointer_table_add(results, v, 0)) return false;
    }
    return true;
}

/* Takes a view away. A result of the network keeps its name: then what it views gets it, if nothing knows that by
 * another one. */
static xir_status drop_view(xir_pass *pass, xir_op *op, pointer_table *results) {
    xir_value *x = xir_op_input(op, 0), *y = xir_op_output(op, 0);
    if (pointer_table_find(results, y)) {
        const xir_op *from = xir_value_op(x);
        const bool fixed = !from || xir_op_is(from, xir_input_class()) || pointer_table_find(results, x);
        if (fixed) return XIR_OK;
        xir_status status = xir_value_set_name(x, xir_value_name(y));
        if (!status && !pointer_table_add(results, x, 0)) status = XIR_E_MEMORY;
        if (status) return status;
    }
    const xir_status status = xir_value_replace(y, x);
    xir_pass_changed(pass, 1);
    return status ? status : xir_op_erase(op);
}

static xir_status drop_views(xir_pass *pass) {
    xir_network *net = xir_pass_network(pass);
    pointer_table results;
    pointer_table_init(&results, context_alloc(xir_pass_context(pass)));
    xir_status status = note_results(net, &results) ? XIR_OK : XIR_E_MEMORY;
    for (xir_op *op = xir_network_last(net), *prev; op && !status; op = prev) {   /* a view of a view before that */
        prev = xir_op_prev(op);
        if (onnx_is_view(op)) status = drop_view(pass, op, &results);
    }
    pointer_table_free(&results);
    return status;
}

/* ---- operator sets ---------------------------------------------------------------------------------------------- */

static bool has_custom(const xir_network *net) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) if (onnx_is_custom(op)) return true;
    return false;
}

static xir_status name_domain(xir_pass *pass) {
    xir_network *net = xir_pass_network(pass);
    const xir_entry own = { .key = XIR_STR(CUSTOM_DOMAIN), .value = xir_any_int(CUSTOM_VERSION) };
    const xir_map sets = onnx_operator_sets(net);
    if (!has_custom(net) || xir_map_find(&sets, own.key)) return XIR_OK;
    const xir_status status = onnx_import(net, &own, 1);
    xir_pass_changed(pass, 1);
    return status;
}

xir_status onnx_settle_types(xir_pass *pass) {
    xir_status status = drop_views(pass);
    if (!status) status = store_all(pass);
    return status ? status : name_domain(pass);
}
