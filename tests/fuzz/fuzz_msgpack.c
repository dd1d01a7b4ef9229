/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* MessagePack: any bytes are refused with a finding, or they are a network; its file is read again as a network with
 * the same file and the same JSON. If no bytes of parameters are involved, the same network is made through values
 * without a class, a way that recognises no repetitions. msgpack-c agrees on where an item ends. */
#include <msgpack.h>
#include "fuzz.h"
#include "support/probe.h"
#include "codec/any_io.h"
#include "json/json.h"
#include "msgpack/packed.h"
#include "format.h"

static bool collect(void *user, const void *data, size_t size) {
    buffer_put(user, data, size);
    return true;
}

static buffer pack(xir_context *ctx, xir_network *net) {
    buffer out;
    buffer_init(&out, context_alloc(ctx));
    format_writing how = { .path = "", .write = collect, .user = &out };
    must(format_msgpack.write(net, &how) == XIR_OK && !out.failed);
    return out;
}

static xir_network *unpack(xir_context *ctx, const void *data, size_t size, bool no_params, xir_diags *why) {
    blob *whole = blob_borrow(context_alloc(ctx), data, size, false, NULL, NULL);
    must(whole != NULL);
    format_reading how = { .ctx = ctx, .name = XIR_STR("fuzz"), .no_params = no_params, .why = why };
    xir_network *net = format_msgpack.read(&how, whole);
    blob_release(whole);
    return net;
}

/* Reads the input as a value without a class; false if it is not such a value. */
static bool read_any(xir_context *ctx, arena *to, const uint8_t *data, size_t size, xir_any *out) {
    static decoder d;
    source s;
    packed_levels open;
    decoder_init(&d, ctx, NULL, &packed_source, XIR_STR(""), (xir_str){ NULL, 0 }, NULL);
    packed_begin(&d, &s, &open, data, size);
    bool ok = packed_scan(&d.trace, data, size, s.deepest) && decode_any(&d, &s, out);
    if (ok) {
        must(s.at == data + size && s.depth == 0);
        must(any_copy(to, out, out));
    }
    decoder_free(&d);
    return ok;
}

/* The long way: through values without a class. */
static void check_plainly(xir_context *ctx, const uint8_t *data, size_t size, const xir_text_buffer *expected) {
    static any_levels levels;
    arena a;
    arena_init(&a, context_alloc(ctx));
    xir_any any;
    if (read_any(ctx, &a, data, size, &any) && !xir_map_find(&any.as.map, XIR_STR("params"))) {
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
    }
    arena_free(&a);
}

/* If the scan accepts the bytes, msgpack-c reads them as one item with nothing after it. */
static void check_scan(xir_context *ctx, const uint8_t *data, size_t size) {
    trace t = { .ctx = ctx };
    if (!packed_scan(&t, data, size, PACKED_DEEPEST)) return;
    msgpack_unpacked item;
    msgpack_unpacked_init(&item);
    size_t used = 0;
    must(msgpack_unpack_next(&item, (const char *)data, size, &used) == MSGPACK_UNPACK_SUCCESS && used == size);
    msgpack_unpacked_destroy(&item);
}

static void check_network(xir_context *ctx, xir_network *net, const uint8_t *data, size_t size) {
    xir_text_buffer json, twice;
    must(xir_json_print(net, 0, &json) == XIR_OK);
    check_plainly(ctx, data, size, &json);
    buffer once = pack(ctx, net);
    xir_network *again = unpack(ctx, once.data, once.size, false, NULL);
    must(again != NULL);
    must(xir_json_print(again, 0, &twice) == XIR_OK);
    must(twice.size == json.size && memcmp(twice.data, json.data, json.size) == 0);
    buffer same = pack(ctx, again);
    must(same.size == once.size && memcmp(same.data, once.data, once.size) == 0);
    must(xir_network_equal(net, again, true));
    xir_network_free(again);
    again = unpack(ctx, data, size, true, NULL);
    must(again != NULL && xir_network_equal(net, again, false));
    xir_network_free(again);
    buffer_free(&same);
    buffer_free(&once);
    xir_text_free(&json);
    xir_text_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static xir_context *ctx;
    if (!ctx) ctx = xir_context_new(NULL);
    xir_diags *why = xir_diags_new(ctx);
    must(why != NULL);
    check_scan(ctx, data, size);
    (void)probe_head(&format_msgpack, data, size);
    xir_network *net = unpack(ctx, data, size, false, why);
    must((net != NULL) == (xir_diags_count_of(why, XIR_ERROR) == 0));
    if (net) check_network(ctx, net, data, size);
    xir_network_free(net);
    xir_diags_free(why);
    return 0;
}
