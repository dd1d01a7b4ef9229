/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A user's program that loads a plug-in. It prints the class that was registered, or why there is none. Its exit
 * code is the status. */
#include <stdio.h>
#include <xir/xir.h>

int main(int argc, char **argv)
{
    xir_context *ctx = xir_context_new(NULL);
    xir_diags *why = xir_diags_new(ctx);
    xir_status status = xir_plugin_load(ctx, argc > 1 ? argv[1] : "", why);
    const xir_class *cls = xir_class_find(ctx, XIR_STR("whatever::Flatten"));

    if (cls) printf("%.*s\n", (int)xir_class_key(cls).size, xir_class_key(cls).data);
    xir_diags_print(why, stdout);
    xir_diags_free(why);
    xir_context_free(ctx);
    return (int)status;
}
