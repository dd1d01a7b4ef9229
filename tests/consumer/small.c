/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A program that builds a network and saves it as FlatBuffers, with no other component of the library: small FILE. */
#include <xir/xir.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    xir_context *ctx = argc == 2 ? xir_context_new_with(NULL, XIR_COMPONENTS(xir_component_flat())) : NULL;
    xir_diags *why = ctx ? xir_diags_new(ctx) : NULL;
    if (!why) return 1;
    xir_network *net = xir_network_new(ctx, "small", XIR_FRAMEWORK_PYTORCH, "2.1");
    const xir_type *fp32 = xir_type_float(ctx, XIR_FLOAT_FP32);
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "x", XIR_TENSOR(ctx, fp32, "NHWC", 1, 8, 8, 3));
    xir_output(at, XIR_VALUES(xir_build_relu(at, x, NULL)));

    xir_status status = xir_network_save(net, argv[1], NULL, why);
    if (status) xir_diags_print(why, stderr);
    xir_network_free(net);
    xir_diags_free(why);
    xir_context_free(ctx);
    return status != XIR_OK;
}
