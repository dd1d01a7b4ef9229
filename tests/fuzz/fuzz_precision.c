/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The precision of single ops: any text is refused with one error, or gives a valid network, the same every time. The
 * first byte of an input chooses the scheme. */
#include <stdlib.h>
#include <string.h>
#include <xir/icraft.h>
#include <xir/xir.h>
#include "fuzz.h"

/* Three ops with names, whose values have ranges. */
static xir_network *sample(xir_context *ctx) {
    static const float weights[6] = { 1, -2, 3, 0.5f, -0.25f, 1 };
    const xir_type *real = xir_type_float(ctx, XIR_FLOAT_FP32);
    xir_network *net = xir_network_new(ctx, "sample", XIR_FRAMEWORK_ONNX, "");
    must(net != NULL);
    const xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", XIR_TENSOR(ctx, real, "**", 4, 3));
    xir_value *w = xir_params_copy(net, XIR_STR("w"), XIR_TENSOR(ctx, real, "**", 3, 2), weights, sizeof weights);
    xir_value *m = XIR_OP(at, matmul, .x = x, .k = w, .name = "fc");
    xir_value *r = XIR_RELU(at, m);
    xir_value *s = XIR_OP(at, softmax, .input = r);
    xir_output(at, XIR_VALUES(s));
    must(!xir_op_set_name(xir_value_op(r), XIR_STR("act, \"one\"")));
    const xir_type *ranged = xir_type_calibrated(ctx, -4, 6, 6, real, NULL);
    xir_value *const values[] = { x, m, r, s };
    for (size_t i = 0; i < 4; i++)
        must(!xir_value_set_type(values[i], xir_type_with_element(ctx, xir_value_type(values[i]), ranged, NULL)));
    must(!xir_network_status(net));
    return net;
}

/* The text as an option, between quotation marks; a text of one line would be a path. */
static char *option_of(const uint8_t *data, size_t size, const char *scheme) {
    char *option = malloc(2 * size + 80), *to;
    must(option != NULL);
    to = option + sprintf(option, "scheme=%s,precision=\"\n", scheme);
    for (size_t i = 0; i < size; i++) {
        if (data[i] == '"' || data[i] == '\\') *to++ = '\\';
        *to++ = (char)data[i];
    }
    memcpy(to, "\"", 2);
    return option;
}

static void check(xir_context *ctx, const char *option) {
    xir_diags *why = xir_diags_new(ctx), *again = xir_diags_new(ctx);
    xir_network *net = sample(ctx), *other = sample(ctx);
    const xir_status status = xir_pass_run(net, "quantize", option, NULL, why);
    must(xir_pass_run(other, "quantize", option, NULL, again) == status);
    must(xir_diags_count(why) == xir_diags_count(again));
    if (status) must(xir_diags_count_of(why, XIR_ERROR) == 1);
    else must(xir_network_validate(net, NULL) == XIR_OK && xir_network_op_count(net) == xir_network_op_count(other));
    xir_network_free(net);
    xir_network_free(other);
    xir_diags_free(why);
    xir_diags_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const schemes[] = { "onnx", "zhuge", "buyi" };
    static xir_context *ctx;
    if (!ctx) ctx = xir_context_new(NULL);
    must(ctx != NULL);
    if (!size || memchr(data + 1, 0, size - 1)) return 0;   /* no option has a zero byte */
    char *option = option_of(data + 1, size - 1, schemes[data[0] % 3]);
    check(ctx, option);
    free(option);
    return 0;
}
