/* NNB: any bytes are refused with one finding, or they are a network that can be validated and copied, and that comes
 * back byte for byte, through another format too. Without what is kept of its file, it is written or refused, and what
 * is written is read and written the same. */
#include <stdlib.h>
#include "support/probe.h"
#include "format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok) {
    if (!ok) abort();
}

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

static bool written(xir_network *net, const format *f, buffer *out, xir_diags *why) {
    buffer_init(out, context_alloc(net->ctx));
    return f->write(net, &(format_writing){ .path = "", .write = keep, .user = out, .why = why }) == XIR_OK;
}

static void is_same(xir_network *net, const void *data, size_t size, xir_diags *why) {
    buffer out;
    must(written(net, &format_nnb, &out, why));
    must(out.size == size && memcmp(out.data, data, size) == 0);
    buffer_free(&out);
}

static void through(xir_network *net, const format *f, const void *data, size_t size, xir_diags *why) {
    buffer between;
    must(written(net, f, &between, why));
    xir_network *again = read_from(net->ctx, f, between.data, between.size, why);
    must(again != NULL);
    is_same(again, data, size, why);
    xir_network_free(again);
    buffer_free(&between);
}

static void without_tag(xir_network *net, xir_diags *why) {
    buffer out;
    must(xir_network_set_tag(net, XIR_STR("nnb.file"), NULL) == XIR_OK);
    if (written(net, &format_nnb, &out, why)) {
        xir_network *again = read_from(net->ctx, &format_nnb, out.data, out.size, why);
        must(again != NULL);
        is_same(again, out.data, out.size, why);
        xir_network_free(again);
    }
    buffer_free(&out);
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
    (void)probe_head(&format_nnb, data, size);
    xir_network *net = read_from(ctx, &format_nnb, data, size, why);
    must(xir_diags_count_of(why, XIR_ERROR) == (net ? 0u : 1u));
    xir_diags_clear(why);
    if (net) {
        (void)xir_network_validate(net, why);
        xir_network *copy = xir_network_clone(net);
        must(copy != NULL && xir_network_equal(net, copy, true));
        is_same(copy, data, size, why);
        through(net, &format_flat, data, size, why);
        without_tag(copy, why);
        xir_network_free(copy);
        xir_network_free(net);
    }
    xir_diags_free(why);
    return 0;
}
