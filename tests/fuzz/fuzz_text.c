/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Texts: any bytes are refused with findings, or they are a network. Then it is written as a text that is read and
 * written again as the same bytes, and another format has the same file for both; and its ops come back as parts. */
#include "network.h"

static void read_parts(xir_network *net, xir_diags *why) {
    for (size_t i = 0; i < 4 && i < xir_network_op_count(net); i++) {
        buffer part, again;
        xir_op *op = xir_network_op_at(net, (int64_t)i);
        xir_network *copy = xir_network_new(net->ctx, "", XIR_FRAMEWORK_ONNX, "");
        must(copy != NULL && xir_network_set_text(copy, XIR_TEXT_XIR_VERSION,
                                                  xir_network_text_of(net, XIR_TEXT_XIR_VERSION)) == XIR_OK);
        buffer_init(&part, context_alloc(net->ctx));
        buffer_init(&again, context_alloc(net->ctx));
        must(xir_op_write(op, "text", keep, &part, why) == XIR_OK);
        xir_op *read = xir_op_read(copy, part.data, part.size, "text", why);
        if (read) {
            must(xir_op_write(read, "text", keep, &again, why) == XIR_OK);
            must(again.size == part.size && memcmp(again.data, part.data, part.size) == 0);
        }
        buffer_free(&again);
        buffer_free(&part);
        xir_network_free(copy);
        xir_diags_clear(why);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    xir_context *ctx = fuzz_context();
    xir_diags *why = xir_diags_new(ctx);
    must(why != NULL);
    (void)probe_head(&format_text, data, size);
    xir_network *net = read_from(ctx, &format_text, data, size, why);
    must((xir_diags_count_of(why, XIR_ERROR) == 0) == (net != NULL));
    xir_diags_clear(why);
    if (net) {
        bool valid;
        buffer text;
        xir_network *copy = must_copy(net, &valid, why);
        xir_network_free(copy);
        if (write_to(net, &format_text, false, &text, why) == XIR_OK) {
            xir_network *again = read_from(ctx, &format_text, text.data, text.size, why);
            must(again != NULL && xir_network_equal(net, again, false));
            must_be(again, &format_text, false, text.data, text.size, why);
            buffer flat;   /* says the same of both */
            if (write_to(net, &format_flat, false, &flat, why) == XIR_OK)
                must_be(again, &format_flat, false, flat.data, flat.size, why);
            buffer_free(&flat);
            xir_network_free(again);
            read_parts(net, why);
        }
        buffer_free(&text);
        xir_diags_clear(why);
        xir_network_free(net);
    }
    xir_diags_free(why);
    return 0;
}
