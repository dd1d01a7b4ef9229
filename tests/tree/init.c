/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* XIR_INIT as a program writes it, for every struct that begins with its size: without a warning in C11 and C++17. */
#include <xir/xir.h>

#define EACH(of)                                                                                                     \
    of(xir_load_options) of(xir_save_options) of(xir_format_info) of(xir_limits) of(xir_run_options) of(xir_op_desc) \
    of(xir_pass_settings) of(xir_pass_watch) of(xir_proof_options) of(xir_proof_input) of(xir_proof_state) \
    of(xir_work)

#define SIZE_OF(type) + (XIR_INIT(type).size == sizeof(type) ? 0 : 1)
extern int wrong(void);
int wrong(void) { return 0 EACH(SIZE_OF); }

extern xir_network *load(xir_context *ctx, const char *path, xir_diags *why);
xir_network *load(xir_context *ctx, const char *path, xir_diags *why)
{
#ifdef __cplusplus
    xir_load_options how = XIR_INIT(xir_load_options);
    how.lazy = true;
    how.verify = XIR_VERIFY_FULL;
    return xir_network_load(ctx, path, &how, why);
#else
    return xir_network_load(ctx, path, &XIR_INIT(xir_load_options, .lazy = true, .verify = XIR_VERIFY_FULL), why);
#endif
}

#ifndef __cplusplus
static const xir_save_options indented = { .size = sizeof(xir_save_options), .indent = true };
#else
static const xir_save_options indented = XIR_INIT(xir_save_options);
#endif

extern xir_status save(xir_network *net, const char *path, xir_diags *why);
xir_status save(xir_network *net, const char *path, xir_diags *why)
{
    return xir_network_save(net, path, &indented, why);
}

/* Ops with named arguments and attributes. */
extern xir_value *act(xir_network *net, xir_value *x, const xir_layout *letters);
xir_value *act(xir_network *net, xir_value *x, const xir_layout *letters)
{
    xir_at at = XIR_HERE(xir_at_scope(XIR_AT(net), "act/"));
    x = XIR_OP(at, relu, .input = x);
    x = XIR_OP(at, relu, .input = x, .attrs = XIR_ATTRS(relu, (max_value, 6), (alpha, 0.1)), .name = "six");
    return XIR_OP(at, transpose, .input = x,
                  .attrs = XIR_ATTRS(transpose, (dims, XIR_I64S(0, 2, 1)), (layout, letters)));
}
