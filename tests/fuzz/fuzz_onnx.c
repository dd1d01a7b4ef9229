/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading ONNX: any bytes are refused with one finding, or they are a network, which can be validated, copied and
 * converted, and which is unchanged after writing and reading another format, or ONNX if it can hold the network. */
#include "network.h"
#include "spelled.h"

static void comes_back(xir_context *ctx, xir_network *net, const format *through, xir_diags *why) {
    buffer file;
    spelling dims;
    must(spelling_begin(&dims, net, why) == XIR_OK);
    const xir_status status = write_to(net, through, false, &file, why);
    spelling_end(&dims);
    if (status != XIR_E_LIMIT) {   /* nested deeper than the format allows */
        must(status == XIR_OK);
        xir_network *again = read_from(ctx, through, file.data, file.size, why);
        must(again != NULL && spelled_read(again, XIR_STR(""), why) == XIR_OK);
        /* Fields that the other format has about a raw file are absent here. */
        must(xir_network_set_text(again, XIR_TEXT_PARAMS_MD5, net->text[XIR_TEXT_PARAMS_MD5]) == XIR_OK);
        must(xir_network_equal(net, again, true));
        xir_network_free(again);
    }
    buffer_free(&file);
    xir_diags_clear(why);
}

/* Networks that ONNX can hold come back from ONNX; other networks are refused with one finding, before the first
 * byte. */
static void comes_back_from_onnx(xir_context *ctx, xir_network *net, xir_diags *why) {
    buffer file, twice;
    const xir_status status = write_to(net, &format_onnx, false, &file, why);
    must(xir_diags_count(why) == (status ? 1u : 0u));
    xir_diags_clear(why);
    if (!status) {
        xir_network *again = read_from(ctx, &format_onnx, file.data, file.size, why);
        must(again != NULL && xir_network_equal(net, again, true));
        must(write_to(again, &format_onnx, false, &twice, why) == XIR_OK);
        must(twice.size == file.size && memcmp(twice.data, file.data, file.size) == 0);
        buffer_free(&twice);
        xir_network_free(again);
    }
    must(!status || !file.size);
    buffer_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    xir_context *ctx = fuzz_context();
    xir_diags *why = xir_diags_new(ctx);
    blob *whole = blob_borrow(context_alloc(ctx), data, size, false, NULL, NULL);
    must(why != NULL && whole != NULL);
    (void)probe_head(&format_onnx, data, size);
    for (int structure = 0; structure < 2; structure++) {
        const format_reading how = { .ctx = ctx, .name = XIR_STR("fuzz"), .no_params = structure, .why = why };
        xir_network *net = format_onnx.read(&how, whole);
        must(xir_diags_count(why) == (net ? 0u : 1u));
        xir_diags_clear(why);
        if (!net) continue;
        bool valid;
        xir_network *copy = must_copy(net, &valid, why);
        must_convert(net, copy, valid, "onnx-to-xir", why);
        if (!structure) comes_back_from_onnx(ctx, net, why);
        comes_back(ctx, net, &format_flat, why);
        comes_back(ctx, net, &format_msgpack, why);
        xir_network_free(net);
    }
    blob_release(whole);
    xir_diags_free(why);
    return 0;
}
