/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* NNB holds what every format with a dialect promises. Without what is kept of its file, a network is written or
 * refused, and what is written is read and written the same. The way back makes functions of the C runtime, or, if the
 * file has an even number of bytes, any function, with parameters of 8 bits. */
#include "dialect.h"

static void without_tag(xir_network *net, xir_diags *why) {
    buffer out;
    must(xir_network_set_tag(net, XIR_STR("nnb.file"), NULL) == XIR_OK);
    if (write_to(net, &format_nnb, false, &out, why) == XIR_OK)
        must_survive(net, &format_nnb, &format_nnb, false, out.data, out.size, why);
    buffer_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const fuzz_dialect nnb = { &format_nnb, .one = true, .to = "nnb-to-xir", .back = "xir-to-nnb",
                                      .settings = { "runtime=false,weights=FIXED8", NULL }, .also = without_tag };
    return must_hold(&nnb, data, size);
}
