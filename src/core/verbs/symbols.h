/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Walks over the types of a network, for verbs on its symbols and for files. */
#ifndef CORE_SYMBOLS_H
#define CORE_SYMBOLS_H

#include <xir/symbols.h>
#include "graph.h"
#include "symbol.h"

/* Visits every value of the network, some more than once: outputs, Params, values without an op; of sub ops too. False
 * stops. */
bool net_walk_values(const xir_network *net, bool (*visit)(void *user, xir_value *v), void *user);

/* The type of a value if it is a tensor with symbolic dims, otherwise NULL. */
static inline const xir_tensor_type *symbolic_type(const xir_value *v) {
    const xir_tensor_type *tensor = xir_type_as_tensor(v->type);
    return tensor && dims_symbolic(tensor->shape) ? tensor : NULL;
}

#endif
