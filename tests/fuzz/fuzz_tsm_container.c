/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Containers of TensorStack's modules: any bytes after the magic number are refused, or they are a container that comes
 * back; scrambled, they are the same network. */
#include "network.h"
#include "tsm/tsm.h"

static xir_network *read_it(xir_context *ctx, const uint8_t *data, size_t size, xir_diags *why) {
    xir_network *net = read_from(ctx, &format_tsm, data, size, why);
    must((xir_diags_count_of(why, XIR_ERROR) == 0) == (net != NULL));
    xir_diags_clear(why);
    return net;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    xir_context *ctx = fuzz_context();
    xir_diags *why = xir_diags_new(ctx);
    const size_t all = size + 8;
    uint8_t *bytes = malloc(all);
    must(why && bytes);
    memcpy(bytes, "fast\x29\x09\x91\x19", 8);
    if (size) memcpy(bytes + 8, data, size);
    xir_network *net = size >= 4 && little_u32(data) == TSM_CODE ? NULL : read_it(ctx, bytes + 4, all - 4, why);
    if (net) must_be(net, &format_tsm, false, bytes + 4, all - 4, why);
    if (net && all - 4 >= 16) {
        tsm_scramble(bytes + 4, all - 4);
        xir_network *again = read_it(ctx, bytes, all, why);
        must(again != NULL);
        must_be(again, &format_tsm, false, bytes, all, why);
        xir_network_free(again);
    }
    xir_network_free(net);
    free(bytes);
    xir_diags_free(why);
    return 0;
}
