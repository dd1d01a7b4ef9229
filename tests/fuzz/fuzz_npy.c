/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading .npy files: any bytes are refused with a finding, or they give an array whose size is that of its type,
 * and no larger than the bytes; the same every time. */
#include <xir/xir.h>
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static xir_context *ctx;
    if (!ctx) ctx = xir_context_new(NULL);
    must(ctx != NULL);
    xir_diags *why = xir_diags_new(ctx);
    xir_array *array = xir_array_read_npy(ctx, data, size, XIR_STR("in"), why), *again;
    must(array || xir_diags_count(why) > 0);
    if (array) {
        uint64_t bytes;
        size_t found;
        xir_difference d;
        must(xir_type_bytes(xir_array_type(array), &bytes) == XIR_OK);
        (void)xir_array_data(array, &found);
        must(bytes == found && found <= size);
        again = xir_array_read_npy(ctx, data, size, XIR_STR("in"), why);
        must(again && xir_array_compare(array, again, 0, 0, &d) == XIR_OK && d.same_shape && d.count == 0);
        xir_array_free(again);
        xir_array_free(array);
    }
    xir_diags_free(why);
    return 0;
}
