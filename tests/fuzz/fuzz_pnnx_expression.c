/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Expressions of PNNX: any bytes are the expression of an operator on tensors of several types, some of open dims. It
 * becomes operations, and the network is valid; or the operator stays, with a finding. The operations become operators
 * again, and these operations: whatever is written can be read. It also becomes Python, or is refused. Blanks end a
 * word of the file, so they are left out. */
#include <string.h>
#include <xir/convert.h>
#include <xir/ops.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "python.h"

enum { MOST = 4000 };

/* Returns true if an op other than Input and Output is of a dialect, or not of one. */
static bool has(const xir_network *net, bool foreign) {
    const xir_op *op = xir_network_first(net);
    while (op && (xir_op_is(op, xir_input_class()) || xir_op_is(op, xir_output_class()) ||
                  xir_class_is_dialect(xir_op_class(op)) != foreign)) op = xir_op_next(op);
    return op;
}

/* The way to PNNX and back. */
static void there_and_back(xir_network *net, xir_diags *why) {
    must(xir_pass_run(net, "xir-to-pnnx", NULL, NULL, why) == XIR_OK);
    must(xir_network_validate(net, why) == XIR_OK);
    const bool whole = !has(net, false);
    must(whole || xir_diags_count(why) > 0);
    xir_diags_clear(why);
    must(xir_pass_run(net, "pnnx-to-xir", NULL, NULL, why) == XIR_OK);
    must(xir_network_validate(net, why) == XIR_OK);
    must(!whole || !has(net, true));
    xir_diags_clear(why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static size_t runs;
    static xir_context *ctx;
    static const char head[] = "7767517\n7 6\npnnx.Input a 0 1 a #a=(2,3)f32\npnnx.Input b 0 1 b #b=(3)i64\n"
                               "pnnx.Input c 0 1 c #c=(?,3)f32\npnnx.Input d 0 1 d #d=(1)bool\n"
                               "pnnx.Expression e 4 1 a b c d y expr=",
                      tail[] = "\npnnx.Output o 1 0 y\n";
    char text[sizeof head + MOST + sizeof tail];
    size_t n = sizeof head - 1;
    memcpy(text, head, n);
    for (size_t i = 0; i < size && i < MOST; i++) {
        if (data[i] > ' ' && data[i] < 0x7f) text[n++] = (char)data[i];
    }
    memcpy(text + n, tail, sizeof tail);
    if (runs++ % 1000 == 0) {
        xir_context_free(ctx);
        ctx = xir_context_new(NULL);
    }
    xir_diags *why = xir_diags_new(ctx);
    must(why != NULL);
    const xir_load_options options = XIR_INIT(xir_load_options, .format = "pnnx", .no_params = true);
    xir_network *net = xir_network_read(ctx, text, n + sizeof tail - 1, XIR_STR("fuzz"), &options, why);
    if (net) {   /* a number of the text may not fit into 32 bits */
        must_be_python(net, why);
        (void)xir_dialect_check(net, why);
        xir_diags_clear(why);
        const bool converted = xir_pass_run(net, "pnnx-to-xir", NULL, NULL, why) == XIR_OK;
        must(!has(net, true) || xir_diags_count(why) > 0);
        xir_diags_clear(why);
        must(!converted || xir_network_validate(net, why) == XIR_OK);
        if (converted && !has(net, true)) there_and_back(net, why);
        xir_network_free(net);
    }
    xir_diags_free(why);
    return 0;
}
