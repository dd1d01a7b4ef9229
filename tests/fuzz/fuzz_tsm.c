/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* TSM, as a module or as a container, plain or scrambled, holds what every format with a dialect promises. Without its
 * tags a network is written, and what is written is read and written the same. */
#include "dialect.h"

static void without_tags(xir_network *net, xir_diags *why) {
    static const char *const tags[] = { "tsm.nodes", "tsm.header", "tsm.csta" };
    buffer out;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        must(xir_network_set_tag(net, xir_str_of(tags[i]), NULL) == XIR_OK);
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        must(xir_op_set_tag(op, XIR_STR("tsm.params"), NULL) == XIR_OK);
    must(write_to(net, &format_tsm, false, &out, why) == XIR_OK);
    must_survive(net, &format_tsm, &format_tsm, false, out.data, out.size, why);
    buffer_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const fuzz_dialect tsm = { &format_tsm, .to = "tsm-to-xir", .back = "xir-to-tsm", .also = without_tags };
    return must_hold(&tsm, data, size);
}
