/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* TSM: any bytes, as a module or as a container, plain or scrambled, are refused with findings, or they are a network
 * that can be copied, and that comes back byte for byte, through another format too. Without its tags it is written,
 * and what is written is read and written the same. It can be checked and converted, and what it becomes goes back:
 * what is written then can be read. */
#include "network.h"

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
    xir_context *ctx = fuzz_context();
    xir_diags *why = xir_diags_new(ctx);
    must(why != NULL);
    (void)probe_head(&format_tsm, data, size);
    xir_network *net = read_from(ctx, &format_tsm, data, size, why);
    must((xir_diags_count_of(why, XIR_ERROR) == 0) == (net != NULL));
    xir_diags_clear(why);
    if (net) {
        bool valid;
        xir_network *copy = must_copy(net, &valid, why);
        must_be(copy, &format_tsm, false, data, size, why);
        must_survive(net, &format_flat, &format_tsm, false, data, size, why);
        without_tags(copy, why);
        xir_network_free(copy);
        copy = xir_network_clone(net);
        must(copy != NULL);
        must_convert(net, copy, valid, "tsm-to-xir", why);
        must_go_back(xir_network_clone(net), "tsm-to-xir", "xir-to-tsm", NULL, &format_tsm, why);
        xir_network_free(net);
    }
    xir_diags_free(why);
    return 0;
}
