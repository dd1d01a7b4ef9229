/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A network of DeepX as a text has it: the text is written and read. What is not in it, the tensors of its folder and
 * the types of inputs, is given to the network that was read. */
#ifndef TEST_CONVERT_DEEPX_TEXT_H
#define TEST_CONVERT_DEEPX_TEXT_H

#include <xir/deepx.h>
#include "convert/way_back.h"

static inline bool deepx_is_load(const xir_op *op) {
    return xir_str_equal(xir_class_key(xir_op_class(op)), XIR_STR("deepx::loadtensordata"));
}

static inline xir_op *deepx_load_of(const xir_network *net, xir_str name) {
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        if (deepx_is_load(op) && xir_str_equal(xir_value_name(xir_op_output(op, 0)), name)) return op;
    return NULL;
}

/* Gives the calls that read files the tensors that these would have. */
static inline void deepx_give_files(const xir_network *from, xir_network *to) {
    for (xir_op *op = xir_network_first(from); op; op = xir_op_next(op)) {
        const xir_any *data = deepx_is_load(op) ? xir_map_find(xir_op_extra(op), XIR_STR("data")) : NULL;
        if (!data) continue;
        xir_op *same = deepx_load_of(to, xir_value_name(xir_op_output(op, 0)));
        uint64_t size;
        const void *bytes = xir_params_data(data->as.params, &size);
        assert_non_null(same);
        xir_value *copy = xir_params_copy(to, XIR_STR(""), xir_value_type(data->as.params), bytes, (size_t)size);
        const xir_any any = { .kind = XIR_ANY_PARAMS, .as.params = copy };
        assert_int_equal(xir_op_set_extra(same, XIR_STR("data"), &any), XIR_OK);
    }
}

/* Only the results that the other network has, in its order: those that exist at the end are all results. */
static inline bool deepx_set_results(const xir_network *from, xir_network *to) {
    xir_op *output = xir_network_output_op(to);
    const xir_op *own = xir_network_output_op(from);
    xir_value *found[MOST_OUTPUTS] = { NULL };
    for (size_t i = 0; i < xir_op_input_count(own); i++) {
        const xir_str name = xir_value_name(xir_op_input(own, (int64_t)i));
        for (size_t k = 0; k < xir_op_input_count(output); k++) {
            xir_value *v = xir_op_input(output, (int64_t)k);
            if (xir_str_equal(xir_value_name(v), name)) found[i] = v;
        }
        if (!found[i]) return false;
    }
    return xir_op_set_inputs(output, found, xir_op_input_count(own)) == XIR_OK;
}

/* A text does not have the types of inputs, nor those that nothing uses. */
static inline void deepx_give_types(const xir_network *from, xir_network *to) {
    const xir_op *own = xir_network_input_op(from), *inputs = xir_network_input_op(to);
    for (size_t i = 0; i < xir_op_output_count(inputs); i++) {
        xir_value *v = xir_op_output(inputs, (int64_t)i);
        const size_t k = way_input_named(from, xir_value_name(v));
        assert_true(k != SIZE_MAX);
        assert_int_equal(xir_value_set_type(v, xir_value_type(xir_op_output(own, (int64_t)k))), XIR_OK);
    }
}

/* Written and read, without fault; NULL if there is one. */
static inline xir_network *deepx_through_text(xir_network *net) {
    xir_network *again = way_through_file(net, "deepx", NULL);
    if (!again) return NULL;
    deepx_give_files(net, again);
    deepx_give_types(net, again);
    if (!xir_deepx_check(again, why)) return again;
    xir_network_free(again);
    return NULL;
}

#endif
