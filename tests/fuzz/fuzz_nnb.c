/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* NNB: any bytes are refused with one finding, or they are a network that can be validated and copied, and that comes
 * back byte for byte, through another format too. Without what is kept of its file, it is written or refused, and what
 * is written is read and written the same. It can be checked and converted, and what it becomes goes back: as functions
 * of the C runtime, or, if the file has an even number of bytes, as any function, with parameters of 8 bits. What is
 * written then can be read. */
#include "network.h"

static void without_tag(xir_network *net, xir_diags *why) {
    buffer out;
    must(xir_network_set_tag(net, XIR_STR("nnb.file"), NULL) == XIR_OK);
    if (write_to(net, &format_nnb, false, &out, why) == XIR_OK)
        must_survive(net, &format_nnb, &format_nnb, false, out.data, out.size, why);
    buffer_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    xir_context *ctx = fuzz_context();
    xir_diags *why = xir_diags_new(ctx);
    must(why != NULL);
    (void)probe_head(&format_nnb, data, size);
    xir_network *net = read_from(ctx, &format_nnb, data, size, why);
    must(xir_diags_count_of(why, XIR_ERROR) == (net ? 0u : 1u));
    xir_diags_clear(why);
    if (net) {
        bool valid;
        xir_network *copy = must_copy(net, &valid, why);
        must_be(copy, &format_nnb, false, data, size, why);
        must_survive(net, &format_flat, &format_nnb, false, data, size, why);
        without_tag(copy, why);
        xir_network_free(copy);
        copy = xir_network_clone(net);
        must(copy != NULL);
        must_convert(net, copy, valid, "nnb-to-xir", why);
        must_go_back(xir_network_clone(net), "nnb-to-xir", "xir-to-nnb",
                     size % 2 ? NULL : "runtime=false,weights=FIXED8", &format_nnb, why);
        xir_network_free(net);
    }
    xir_diags_free(why);
    return 0;
}
