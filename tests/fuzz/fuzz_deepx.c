/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* DeepX texts: any bytes are refused with at least one finding, or they are a network that can be validated and copied,
 * and that is written as the same bytes. Through another format too. It can be checked and converted, and what it
 * becomes goes back: what is written then can be read. */
#include "network.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    xir_context *ctx = fuzz_context();
    xir_diags *why = xir_diags_new(ctx);
    must(why != NULL);
    (void)probe_head(&format_deepx, data, size);
    xir_network *net = read_from(ctx, &format_deepx, data, size, why);
    must((xir_diags_count_of(why, XIR_ERROR) == 0) == (net != NULL));
    xir_diags_clear(why);
    if (net) {
        bool valid;
        xir_network *copy = must_copy(net, &valid, why);
        must_be(copy, &format_deepx, true, data, size, why);
        must_survive(net, &format_flat, &format_deepx, true, data, size, why);
        xir_network_free(copy);
        copy = xir_network_clone(net);
        must(copy != NULL);
        must_convert(net, copy, valid, "deepx-to-xir", why);
        must_go_back(xir_network_clone(net), "deepx-to-xir", "xir-to-deepx",
                     size % 2 ? "windows=false" : "delete=true", &format_deepx, why);
        xir_network_free(net);
    }
    xir_diags_free(why);
    return 0;
}
