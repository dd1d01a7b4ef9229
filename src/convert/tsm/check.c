/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Checks of a node that rows cannot express: the dims and elements that a file declares for its result, and, on the
 * way back, whether a file can hold its values. */
#include "tsm/tsm.h"

/* A parameter of the node whose only result is v. */
static const xir_any *declared(const xir_value *v, const char *name) {
    const xir_op *op = xir_value_op(v);
    return xir_map_find(op && xir_op_output_count(op) == 1 ? xir_op_extra(op) : NULL, xir_str_of(name));
}

const xir_any *tsm_declared_dims(const xir_value *v) { return declared(v, "#shape"); }

const xir_type *tsm_declared_element(const xir_value *v) {
    const xir_any *dtype = declared(v, "#dtype");
    xir_context *ctx = xir_network_context(xir_value_network(v));
    return dtype && dtype->kind == XIR_ANY_INT ? tsm_element(ctx, dtype->as.integer) : NULL;
}

static bool can_be_stored(xir_node *at, const xir_value *v) {
    const xir_type *type = v ? xir_value_type(v) : NULL;
    if (!xir_type_as_tensor(type)) return true;
    if (!tsm_dtype(at, xir_type_element(type)))
        return xir_node_unsupported(at, "elements that TensorStack does not have");
    return tsm_short_dims(at, v);
}

enum { SAID_NAME = 32 };

bool tsm_check(xir_node *at) {
    const xir_op *op = xir_node_op(at);
    const size_t named = xir_op_name(op).size;
    if (at->c->checking && named >= SAID_NAME)
        node_say(at, XIR_NOTE, XIR_OK, NULL, "its name has %zu bytes: TensorStack's documents allow fewer than %d, its "
                 "readers take more", named, SAID_NAME);
    if (!xir_node_pass(at)) return true;
    for (size_t i = 0, n = op_values(op); i < n; i++) if (!can_be_stored(at, op_value(op, i))) return false;
    return true;
}
