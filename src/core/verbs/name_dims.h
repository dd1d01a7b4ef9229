/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Symbols for the open dims of a network of a foreign format. */
#ifndef CORE_NAME_DIMS_H
#define CORE_NAME_DIMS_H

#include "graph.h"
#include "symbol.h"

/* Makes symbols of the unknown dims of the network's inputs and sets `*named` if there is one. Their names are those of
 * the tag source.dims. A name that is an expression over names of other dims is that expression ("past + length"). A
 * dim without a name that a symbol may have gets one: "?0", "?1", … */
xir_status net_name_dims(xir_network *net, bool *named);

/* Finds the meaning of a file's name for a dim: a symbol of the pool or an expression over such symbols. EXPR_UNKNOWN
 * if a symbol is not in the pool: nothing is declared. False without memory. */
bool expr_of_name(object_pool *pool, xir_str name, expr *out);

#endif
