/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Several ops of a network at once, connecting by position, and the copy of an op. */
#include <xir/each.h>
#include <xir/icraft.h>
#include "copying.h"
#include "graph.h"

int64_t xir_network_next_value_id(const xir_network *net) { return net ? net->next_value_id : 0; }

size_t xir_network_ops_by_id(const xir_network *net, const int64_t *ids, size_t n, xir_op **out) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++) found += (out[i] = xir_network_op_by_id(net, ids[i])) != NULL;
    return found;
}

xir_status xir_network_remove_if(xir_network *net, bool (*pick)(const xir_op *op, void *user), void *user,
                                 size_t *removed) {
    if (!net) return XIR_E_MISSING;
    size_t n = 0;
    XIR_EACH_OP(op, net) {
        if (!pick(op, user)) continue;
        xir_network_remove(net, op);   /* it is placed, so it cannot fail */
        n++;
    }
    if (removed) *removed = n;
    return XIR_OK;
}

xir_status xir_network_connect(xir_network *net, xir_value *value, xir_op *op, int64_t index) {
    if (!net) return XIR_E_MISSING;
    if (!op) return net_null(net, "op");
    if (op->net != net) return net_fail(net, XIR_E_INVALID, "the op to connect to belongs to another network");
    return index < 0 ? xir_op_add_input(op, value) : xir_op_set_input(op, (size_t)index, value);
}

xir_op *xir_mapping_op(const xir_mapping *map, const xir_op *from) {
    return map && from ? mapping_op(map, from) : NULL;
}
