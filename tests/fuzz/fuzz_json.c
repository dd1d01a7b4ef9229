/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading structures: any bytes are refused with a finding, or they are a network, and its text is read again as a
 * network that prints the same. The same network is made from the text through values without a class, a way that
 * recognises no repetitions. Any network that was read can be validated, copied and inferred again. */
#include "codec/any_io.h"
#include "fuzz.h"
#include "json/json.h"

/* The long way: through values without a class. */
static void check_plainly(xir_context *ctx, const uint8_t *data, size_t size, const xir_text_buffer *expected) {
    static any_levels levels;
    arena a;
    arena_init(&a, context_alloc(ctx));
    xir_any any;
    must(json_read_any(ctx, &a, (xir_str){ (const char *)data, size }, &any, NULL) == XIR_OK);
    xir_network *net = network_new(ctx);
    must(net != NULL);
    memcpy(net->version, (const uint32_t[4]){ 3, 33, 1, 0 }, sizeof net->version);
    decoder d;
    source s;
    decoder_init(&d, ctx, net, &any_source, XIR_STR(""), (xir_str){ NULL, 0 }, NULL);
    any_source_init(&d, &s, &any, &levels);
    must(decode_network(&d, &s));
    decoder_free(&d);
    xir_text_buffer text;
    must(xir_json_print(net, 0, &text) == XIR_OK);
    must(text.size == expected->size && memcmp(text.data, expected->data, text.size) == 0);
    xir_text_free(&text);
    xir_network_free(net);
    arena_free(&a);
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
        check_plainly(ctx, data, size, &once);
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
        xir_diags_clear(why);
        must((xir_network_validate(net, why) == XIR_OK) == (xir_diags_count_of(why, XIR_ERROR) == 0));
        again = xir_network_clone(net);
        must(again != NULL && xir_network_equal(net, again, true));
        xir_network_infer(again, NULL);
        xir_network_free(again);
    }
    xir_network_free(net);
    xir_diags_free(why);
    return 0;
}
