/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading FlatBuffers: any bytes are refused with a finding, or they are a network; its file is read again as a
 * network that prints the same. Any network that was read can be validated, copied and inferred again. */
#include "network.h"
#include "flat/flat.h"
#include "memory.h"

static void check_network(xir_context *ctx, xir_network *net, xir_diags *why) {
    xir_text_buffer once, twice;
    must(xir_json_print(net, 0, &once) == XIR_OK);
    buffer file;
    must(write_to(net, &format_flat, false, &file, why) == XIR_OK);
    must(xir_flat_verify(ctx, file.data, file.size, XIR_STR("again"), why) == XIR_OK);
    xir_network *again = read_from(ctx, &format_flat, file.data, file.size, why);
    must(again != NULL);
    must(xir_json_print(again, 0, &twice) == XIR_OK);
    must(twice.size == once.size && memcmp(twice.data, once.data, once.size) == 0);
    xir_network_free(again);
    xir_text_free(&twice);
    buffer_free(&file);
    again = xir_json_read(ctx, (xir_str){ once.data, once.size }, XIR_STR("json"), why);
    must(again != NULL);
    must(xir_json_print(again, 0, &twice) == XIR_OK);
    must(twice.size == once.size && memcmp(twice.data, once.data, once.size) == 0);
    xir_text_free(&twice);
    xir_text_free(&once);
    xir_network_free(again);
    xir_diags_clear(why);
    must((xir_network_validate(net, why) == XIR_OK) == (xir_diags_count_of(why, XIR_ERROR) == 0));
    again = xir_network_clone(net);
    must(again != NULL && xir_network_equal(net, again, true));
    xir_network_infer(again, NULL);
    xir_network_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static xir_context *ctx;
    if (!ctx) ctx = xir_context_new(NULL);
    xir_diags *why = xir_diags_new(ctx);
    must(why != NULL);
    bool good = xir_flat_verify(ctx, data, size, XIR_STR("fuzz"), why) == XIR_OK;
    must(good == (xir_diags_count(why) == 0));
    xir_diags_clear(why);
    (void)probe_head(&format_flat, data, size);
    xir_network *net = read_from(ctx, &format_flat, data, size, why);
    must(good || !net);
    must((net != NULL) == (xir_diags_count(why) == 0));
    if (net) check_network(ctx, net, why);
    xir_network_free(net);
    xir_diags_free(why);
    return 0;
}
