/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* PNNX texts: any bytes are refused with one finding, or they are a network that can be validated, checked, copied
 * and converted, and whose text comes back: what is written is read, and is written the same. Through another format
 * too. It is a module of PyTorch, or is refused as one. */
#include "network.h"
#include "python.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    xir_context *ctx = fuzz_context();
    xir_diags *why = xir_diags_new(ctx);
    must(why != NULL);
    (void)probe_head(&format_pnnx, data, size);
    xir_network *net = read_from(ctx, &format_pnnx, data, size, why);
    must(xir_diags_count_of(why, XIR_ERROR) == (net ? 0u : 1u));
    xir_diags_clear(why);
    if (net) {
        bool valid;
        buffer text;
        xir_network *copy = must_copy(net, &valid, why);
        must(write_to(copy, &format_pnnx, true, &text, why) == XIR_OK);
        must_survive(net, &format_pnnx, &format_pnnx, true, text.data, text.size, why);
        must_survive(net, &format_flat, &format_pnnx, true, text.data, text.size, why);
        buffer_free(&text);
        must_be_python(net, why);
        must_convert(net, copy, valid, "pnnx-to-xir", why);
        xir_network_free(net);
    }
    xir_diags_free(why);
    return 0;
}
