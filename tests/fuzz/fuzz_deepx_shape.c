/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A .shape of DeepX: any bytes are refused with a finding, or they are a shape whose numbers agree. */
#include <stdlib.h>
#include <string.h>
#include "deepx/folder.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static xir_context *ctx;
    if (!ctx) ctx = xir_context_new(NULL);
    xir_diags *why = xir_diags_new(ctx);
    char *exact = malloc(size + 1);
    deepx_shape out;
    must(why && exact);
    if (size) memcpy(exact, data, size);
    deepx_place w = { .why = why, .file = XIR_STR("w.shape") };
    const bool ok = deepx_shape_read(&w, (xir_str){ exact, size }, &out);
    must(ok == (w.status == XIR_OK) && ok == (xir_diags_count(why) == 0));
    if (ok) {
        uint64_t n = 1;
        must(out.rank <= DEEPX_MOST_DIMS && out.element < deepx_elements.n);
        for (size_t i = 0; i < out.rank; i++) {
            must(out.dims[i] >= 0);
            n *= (uint64_t)out.dims[i];
        }
        must(n == out.elements && out.bytes == n * deepx_elements.rows[out.element].bits / 8);
    } else {
        const xir_diag *d = xir_diags_at(why, 0);
        must(d->line > 0 && d->column > 0 && d->byte <= size);
    }
    free(exact);
    xir_diags_free(why);
    return 0;
}
