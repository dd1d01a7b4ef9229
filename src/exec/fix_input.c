/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* An input of a network that becomes a constant: its symbols get numbers, Params take its uses, and the Input op has
 * one output less. Everything is checked before the first change. */
#include <xir/symbols.h>
#include "array.h"
#include "symbolic.h"
#include "diagnose.h"
#include "symbol.h"
#include "types.h"

/* The input of the name, or the Params that are its default; NULL: there is none. */
static xir_value *find_input(xir_network *net, xir_str name) {
    const xir_op *input = xir_network_input_op(net);
    for (uint32_t i = 0; input && i < input->n_outputs; i++)
        if (xir_str_equal(xir_value_name(&op_outputs(input)[i]), name)) return &op_outputs(input)[i];
    for (xir_value *v = net->all_params; v; v = value_params(v)->next)
        if (value_is_default(v) && v->uses && xir_str_equal(xir_value_name(v), name)) return v;
    return NULL;
}

static xir_status check(const xir_value *v, const xir_array *array, const xir_type **type, xir_diags *why) {
    xir_network *net = value_net(v);
    const xir_op *input = value_op(v);
    sentence reason = { "" };
    xir_status status = agree(net->ctx, v->type, array->type, type, &reason);
    if (status) return array_fail(why, status, "the input '%.*s': %s", CLIP(xir_value_name(v)), reason.text);
    if (!input) return XIR_OK;   /* a default has no symbols */
    const size_t room = input->n_outputs * sizeof(xir_array *);
    const xir_array **arrays = mem_new(&net->alloc, room);
    if (!arrays) return diag_memory(why);
    for (uint32_t i = 0; i < input->n_outputs; i++) arrays[i] = v == &op_outputs(input)[i] ? array : NULL;
    status = check_symbols(input, arrays, why);
    mem_free(&net->alloc, (void *)arrays, room);
    return status;
}

/* Gives the symbols that are dims of the input the numbers that the array has there. */
static xir_status bind(const xir_value *v, const xir_type *now, xir_diags *why) {
    xir_network *net = value_net(v);
    const size_t rank = xir_type_as_tensor(v->type) ? xir_type_rank(v->type) : 0;
    xir_symbol *list = mem_new(&net->alloc, (rank + 1) * sizeof *list);
    size_t n = 0;
    if (!list) return diag_memory(why);
    for (size_t i = 0; i < rank; i++) {
        const size_t k = symbol_of(&net->pool, type_dim(v->type, (int64_t)i));
        const int64_t is = type_dim(now, (int64_t)i);
        if (k == SIZE_MAX) continue;
        list[n] = (xir_symbol){ symbol_at(&net->pool, k)->name, is, is };
        bool first = true;
        for (size_t j = 0; j < n && first; j++) first = !xir_str_equal(list[j].name, list[n].name);
        n += first;
    }
    const xir_status status = n ? xir_network_bind(net, list, n, why) : XIR_OK;
    mem_free(&net->alloc, list, (rank + 1) * sizeof *list);
    return status;
}

xir_status xir_network_fix_input(xir_network *net, xir_str name, const xir_array *array, xir_diags *why) {
    if (!net || !array) return diag_null(why, net ? "array" : "net");
    const xir_type *type = NULL;
    xir_value *v = find_input(net, name);
    if (!v) return array_fail(why, XIR_E_UNKNOWN, "the network has no input '%.*s'", CLIP(name));
    xir_status status = check(v, array, &type, why);
    if (status) return status;
    xir_array *same = NULL;
    status = array_as(array, type, &same, why);
    if (!status) status = bind(v, type, why);
    xir_value *now = status ? NULL : xir_params_from_array(net, xir_value_name(v), same);
    xir_array_free(same);
    if (!now) return status ? status : diag_memory(why);
    uses_move(v, now);
    if (value_op(v)) op_remove_output(value_op(v), (size_t)xir_value_index(v));
    net->epoch++;
    return XIR_OK;
}
