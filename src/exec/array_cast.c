/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The numbers of an array as elements of another type are what the operation Cast computes: a network of one Cast is
 * run, so that there is one rule for both. */
#include <xir/exec.h>
#include <xir/sugar.h>
#include "array.h"
#include "types.h"

/* A network that casts an array of one type to another; NULL with a finding. */
static xir_network *cast_network(xir_context *ctx, const xir_type *from, const xir_type *to, xir_diags *why) {
    xir_network *net = xir_network_new(ctx, "cast", XIR_FRAMEWORK_ONNX, "");
    if (!net) return diag_memory(why), NULL;
    xir_at at = XIR_AT(net);
    xir_output(at, XIR_VALUES(xir_build_cast(at, xir_input(at, "x", from), to, NULL)));
    if (!xir_network_status(net)) return net;
    xir_network_move_diags(net, why);
    xir_network_free(net);
    return NULL;
}

xir_array *xir_array_cast(const xir_array *array, const xir_type *element, xir_diags *why) {
    if (!array || !element) return array_fail(why, XIR_E_MISSING, "a cast needs an array and an element type"), NULL;
    const xir_type *from = array->type;
    if (xir_type_equal(xir_type_element(from), element)) return xir_array_retain((xir_array *)(uintptr_t)array);
    const xir_i64s dims = xir_type_as_tensor(from)->shape;
    const xir_layout *layout = xir_type_layout(from);
    const xir_type *to = xir_type_is_scalar(element)
        ? xir_type_tensor(array->ctx, element, layout, dims.data, dims.size) : NULL;
    if (!to) return array_fail(why, XIR_E_TYPE, "a cast makes elements: the type is not one of them"), NULL;
    xir_network *net = cast_network(array->ctx, from, to, why);
    const xir_array *in[] = { array };
    xir_array *made = NULL;
    if (net) (void)!xir_network_run(net, in, 1, &made, 1, NULL, why);
    xir_network_free(net);
    return made;
}
