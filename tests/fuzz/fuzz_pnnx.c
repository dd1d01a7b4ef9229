/* PNNX texts: any bytes are refused with one finding, or they are a network that can be validated, checked, copied
 * and converted, and whose text comes back: what is written is read, and is written the same. Through another format
 * too. */
#include <xir/convert.h>
#include <xir/pass.h>
#include "fuzz.h"
#include "support/probe.h"
#include "format.h"

static bool keep(void *user, const void *data, size_t size) {
    buffer_put(user, data, size);
    return !((buffer *)user)->failed;
}

static xir_network *read_from(xir_context *ctx, const format *f, const void *data, size_t size, xir_diags *why) {
    blob *whole = blob_borrow(context_alloc(ctx), data, size, false, NULL, NULL);
    must(whole != NULL);
    xir_network *net = f->read(&(format_reading){ .ctx = ctx, .name = XIR_STR("fuzz"), .why = why }, whole);
    blob_release(whole);
    return net;
}

static buffer written(xir_network *net, const format *f, xir_diags *why) {
    buffer out;
    buffer_init(&out, context_alloc(net->ctx));
    const format_writing how = { .path = "", .no_params = true, .write = keep, .user = &out, .why = why };
    must(f->write(net, &how) == XIR_OK);
    return out;
}

static void comes_back(xir_network *net, const buffer *text, const format *through, xir_diags *why) {
    buffer between = written(net, through, why);
    xir_network *again = read_from(net->ctx, through, between.data, between.size, why);
    must(again != NULL);
    buffer second = written(again, &format_pnnx, why);
    must(second.size == text->size && memcmp(second.data, text->data, text->size) == 0);
    xir_network_free(again);
    buffer_free(&between);
    buffer_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static size_t runs;
    static xir_context *ctx;
    if (runs++ % 1000 == 0) {   /* classes of all keys that occurred stay in it */
        xir_context_free(ctx);
        ctx = xir_context_new(NULL);
    }
    xir_diags *why = xir_diags_new(ctx);
    must(why != NULL);
    (void)probe_head(&format_pnnx, data, size);
    xir_network *net = read_from(ctx, &format_pnnx, data, size, why);
    must(xir_diags_count_of(why, XIR_ERROR) == (net ? 0u : 1u));
    xir_diags_clear(why);
    if (net) {
        const bool valid = xir_network_validate(net, why) == XIR_OK;
        xir_network *copy = xir_network_clone(net);
        must(copy != NULL && xir_network_equal(net, copy, true));
        (void)xir_dialect_check(copy, why);
        must(xir_network_equal(net, copy, true));
        buffer text = written(copy, &format_pnnx, why);
        comes_back(net, &text, &format_pnnx, why);
        comes_back(net, &text, &format_flat, why);
        buffer_free(&text);
        const bool converted = xir_pass_run(copy, "pnnx-to-xir", NULL, NULL, why) == XIR_OK;
        must(!converted || !valid || xir_network_validate(copy, why) == XIR_OK);
        xir_diags_clear(why);
        xir_network_free(copy);
        xir_network_free(net);
    }
    xir_diags_free(why);
    return 0;
}
