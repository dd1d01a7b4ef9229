/* Reading ONNX: any bytes are refused with one finding, or they are a network, which can be validated, copied and
 * converted, and which is unchanged after writing and reading another format. */
#include <xir/convert.h>
#include <xir/pass.h>
#include "fuzz.h"
#include "support/probe.h"
#include "format.h"
#include "spelled.h"

static bool keep(void *user, const void *data, size_t size) {
    buffer_put(user, data, size);
    return !((buffer *)user)->failed;
}

static void comes_back(xir_context *ctx, xir_network *net, const format *through, xir_diags *why) {
    buffer file;
    buffer_init(&file, context_alloc(ctx));
    spelling dims;
    must(spelling_begin(&dims, net, why) == XIR_OK);
    xir_status status = through->write(net, &(format_writing){ .path = "", .write = keep, .user = &file, .why = why });
    spelling_end(&dims);
    if (status != XIR_E_LIMIT) {   /* nested deeper than the format allows */
        must(status == XIR_OK);
        blob *whole = blob_borrow(context_alloc(ctx), file.data, file.size, false, NULL, NULL);
        must(whole != NULL);
        xir_network *again = through->read(&(format_reading){ .ctx = ctx, .name = XIR_STR("again"), .why = why },
                                           whole);
        blob_release(whole);
        must(again != NULL && spelled_read(again, XIR_STR(""), why) == XIR_OK);
        /* Fields that the other format has about a raw file are absent here. */
        must(xir_network_set_text(again, XIR_TEXT_PARAMS_MD5, net->text[XIR_TEXT_PARAMS_MD5]) == XIR_OK);
        must(xir_network_equal(net, again, true));
        xir_network_free(again);
    }
    buffer_free(&file);
    xir_diags_clear(why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static size_t runs;
    static xir_context *ctx;
    if (runs++ % 1000 == 0) {   /* classes of all keys that occurred stay in it */
        xir_context_free(ctx);
        ctx = xir_context_new(NULL);
    }
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
        xir_status status = xir_network_validate(net, why);
        must((status == XIR_OK) == (xir_diags_count_of(why, XIR_ERROR) == 0));
        xir_diags_clear(why);
        xir_network *copy = xir_network_clone(net);
        must(copy != NULL && xir_network_equal(net, copy, true));
        (void)xir_dialect_check(copy, why);
        must(xir_network_equal(net, copy, true));
        xir_diags_clear(why);
        bool converted = xir_pass_run(copy, "onnx-to-xir", NULL, NULL, why) == XIR_OK;
        xir_diags_clear(why);
        must(!converted || status != XIR_OK || xir_network_validate(copy, why) == XIR_OK);
        xir_diags_clear(why);
        xir_network_free(copy);
        comes_back(ctx, net, &format_flat, why);
        comes_back(ctx, net, &format_msgpack, why);
        xir_network_free(net);
    }
    blob_release(whole);
    xir_diags_free(why);
    return 0;
}
