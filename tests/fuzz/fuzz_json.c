/* Reading structures: whatever the bytes, the network is refused with a finding, or it prints, and what it prints is read
 * again as a network that prints the same. */
#include <stdlib.h>
#include <string.h>
#include <xir/xir.h>

static void must(bool ok) {
    if (!ok) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static xir_context *ctx;
    if (!ctx) ctx = xir_context_new(NULL);
    xir_diags *why = xir_diags_new(ctx);
    must(why != NULL);
    xir_network *net = xir_json_read(ctx, (xir_str){ (const char *)data, size }, XIR_STR("fuzz"), why);
    must((net != NULL) == (xir_diags_count(why) == 0));
    if (net) {
        xir_text_buffer once, twice, indented;
        must(xir_json_print(net, 0, &once) == XIR_OK);
        must(xir_json_print(net, 1, &indented) == XIR_OK);
        xir_network *again = xir_json_read(ctx, (xir_str){ once.data, once.size }, XIR_STR("once"), why);
        must(again != NULL);
        must(xir_json_print(again, 0, &twice) == XIR_OK);
        must(twice.size == once.size && memcmp(twice.data, once.data, once.size) == 0);
        xir_network_free(again);
        again = xir_json_read(ctx, (xir_str){ indented.data, indented.size }, XIR_STR("indented"), why);
        must(again != NULL);
        must(xir_network_equal(net, again, false));
        xir_network_free(again);
        xir_text_free(&once);
        xir_text_free(&twice);
        xir_text_free(&indented);
    }
    xir_network_free(net);
    xir_diags_free(why);
    return 0;
}
