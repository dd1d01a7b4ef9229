/* Expressions of PNNX: any bytes are the expression of an operator on tensors of several types, some of open dims. It
 * becomes operations, and the network is valid; or the operator stays, with a finding. Blanks end a word of the file,
 * so they are left out. */
#include <string.h>
#include <xir/convert.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "fuzz.h"

enum { MOST = 4000 };

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
        (void)xir_dialect_check(net, why);
        xir_diags_clear(why);
        const bool converted = xir_pass_run(net, "pnnx-to-xir", NULL, NULL, why) == XIR_OK;
        const xir_op *op = xir_network_first(net);
        while (op && !xir_class_is_dialect(xir_op_class(op))) op = xir_op_next(op);
        must(!op || xir_diags_count(why) > 0);
        xir_diags_clear(why);
        must(!converted || xir_network_validate(net, why) == XIR_OK);
        xir_network_free(net);
    }
    xir_diags_free(why);
    return 0;
}
