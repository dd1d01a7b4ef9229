/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Params that are made before their bytes: for callers that compute large ones, which would otherwise be copied
 * first. */
#ifndef CORE_PARAMS_ROOM_H
#define CORE_PARAMS_ROOM_H

#include "graph.h"

/* Like xir_params_copy, but the bytes are not set: the caller writes all `size` of them to *bytes before it uses the
 * value. */
xir_value *params_with_room(xir_network *net, xir_str name, const xir_type *type, size_t size, void **bytes);

#endif
