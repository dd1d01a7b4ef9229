/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks to MessagePack and back, in memory. */
#ifndef TESTS_MSGPACK_NET_H
#define TESTS_MSGPACK_NET_H

#include "json_net.h"
#include "format.h"   /* after the others: it has parameters with the same names */

static inline bool collect_bytes(void *user, const void *data, size_t size) {
    put_bytes(user, data, size);
    return true;
}

static inline xir_status try_pack(xir_network *net, paper *out) {
    format_writing how = { .path = "test.imodel", .write = collect_bytes, .user = out, .why = why };
    return format_msgpack.write(net, &how);
}

/* The file of a network; writing must succeed. Free it. */
static inline paper pack_net(xir_network *net) {
    paper out = { 0 };
    xir_status status = try_pack(net, &out);
    if (status) show_findings();
    assert_int_equal(status, XIR_OK);
    return out;
}

static inline void free_block(void *user, const void *data) {
    (void)data;
    free(user);
}

/* Reads from a block of exactly this size, which lives as long as the network. */
static inline xir_network *unpack_how(const void *data, size_t size, const format_reading *how) {
    char *block = block_of(data, size);
    blob *whole = blob_borrow(context_alloc(how->ctx), block, size, false, free_block, block);
    if (!whole) {
        free(block);
        return NULL;
    }
    xir_network *net = format_msgpack.read(how, whole);
    blob_release(whole);
    return net;
}

static inline xir_network *try_unpack(const void *data, size_t size) {
    format_reading how = { .ctx = ctx, .name = XIR_STR("test.imodel"), .compare = true, .why = why };
    return unpack_how(data, size, &how);
}

static inline xir_network *unpack_net(const void *data, size_t size) {
    xir_network *net = try_unpack(data, size);
    if (!net) show_findings();
    assert_non_null(net);
    assert_int_equal(xir_diags_count(why), 0);
    return net;
}

/* JSON to MessagePack to JSON must give the same text, and writing MessagePack again the same bytes. */
static inline void check_packs(const char *text, size_t size) {
    xir_network *net = must_read(text, size);
    paper once = pack_net(net);
    xir_network *again = unpack_net(once.data, once.size);
    check_prints(again, 0, text, size);
    assert_true(xir_network_equal(net, again, false));
    paper twice = pack_net(again);
    check_same(once.data, once.size, twice.data, twice.size);
    xir_network_free(net);
    xir_network_free(again);
    free(once.data);
    free(twice.data);
}

#endif
