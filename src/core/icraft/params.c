/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Params with the memory that they are for, and with aligned bytes. */
#include <xir/icraft.h>
#include "graph.h"

xir_value *xir_params_copy_in(xir_network *net, xir_str text, const xir_type *type, const xir_mtype *mtype,
                              const void *data, size_t size) {
    if (!net) return NULL;
    const bool host = !mtype || xir_mtype_kind_of(mtype) == XIR_MTYPE_HOST;
    const xir_mtype *own = host ? NULL : (const xir_mtype *)net_intern(net, (const xir_object *)mtype);
    if (!host && !own) {
        net_fail(net, XIR_E_MEMORY, "no memory for a parameter");
        return NULL;
    }
    xir_value *value = xir_params_copy(net, text, type, data, size);
    if (value) value_more_of(value)->mtype = own;
    return value;
}

const void *xir_params_typed(const xir_value *value, size_t alignment) {
    const void *data = xir_params_data(value, NULL);
    return alignment && ((uintptr_t)data & (alignment - 1)) == 0 ? data : NULL;
}
