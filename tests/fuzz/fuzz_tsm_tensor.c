/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Single tensors of TensorStack: any bytes are refused with one finding, or they are arrays that are written as these
 * bytes. */
#include <string.h>
#include <xir/tsm.h>
#include "fuzz.h"
#include "support/kept.h"
#include "memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { ROOM = 64 };
    static xir_context *ctx;
    if (!ctx) ctx = xir_context_new(NULL);
    xir_diags *why = xir_diags_new(ctx);
    xir_array *arrays[ROOM];
    size_t n;
    must(ctx && why);
    const xir_status status = xir_tsm_tensor_read(ctx, data, size, XIR_STR("fuzz"), arrays, ROOM, &n, why);
    must(xir_diags_count_of(why, XIR_ERROR) == (status ? 1u : 0u));
    if (!status && n <= ROOM) {
        buffer out;
        buffer_init(&out, &memory_default);
        must(xir_tsm_tensor_write((const xir_array *const *)arrays, n, keep, &out, why) == XIR_OK);
        must(out.size == size && memcmp(out.data, data, size) == 0);
        buffer_free(&out);
    }
    for (size_t i = 0; !status && i < n && i < ROOM; i++) xir_array_free(arrays[i]);
    xir_diags_free(why);
    return 0;
}
