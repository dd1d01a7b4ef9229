/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Parameters in MessagePack: payloads and both their orders come back as they were in the raw file, wherever in the map
 * they are; reading only the structure does not touch their bytes. */
#include <sys/mman.h>
#include <xir/icraft.h>
#include "support/raw_net.h"
#include "support/msgpack_net.h"
#include "support/msgpack_text.h"
#include "support/scratch.h"
#include "support/skips.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* ---- there and back ---------------------------------------------------------------------------------------- */

/* Both files of the original: the JSON, and the raw if there is one. */
static void check_pair(const char *json, size_t json_size, const void *raw, size_t raw_size) {
    xir_network *net = must_read(json, json_size);
    if (raw) assert_int_equal(xir_raw_read(net, raw, raw_size, 0, why), XIR_OK);
    paper file = pack_net(net);
    xir_network_free(net);
    net = unpack_net(file.data, file.size);
    check_prints(net, 0, json, json_size);
    if (raw) {
        raw_memory again = { 0 };
        assert_int_equal(xir_raw_write(net, raw_memory_write, &again, why), XIR_OK);
        check_same((const char *)again.data, again.size, raw, raw_size);
        free(again.data);
    }
    paper twice = pack_net(net);
    check_same(file.data, file.size, twice.data, twice.size);
    xir_network_free(net);
    free(file.data);
    free(twice.data);
}

static void real_files_come_back(void **state) {
    (void)state;
    static const char *const files[] = { "superpoint_test_softmax_BY", "yolov5s_plin_352x640_ZG" };
    const char *corpus = CORPUS_OR_SKIP();
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        char path[4096];
        size_t size = 0, raw_size = 0;
        snprintf(path, sizeof path, "%s/icraft/%s.json", corpus, files[i]);
        char *text = (char *)scratch_get(path, &size);
        assert_non_null(text);
        snprintf(path, sizeof path, "%s/icraft/%s.raw", corpus, files[i]);
        uint8_t *raw = scratch_get(path, &raw_size);
        check_pair(text, size, raw, raw_size);
        free(raw);
        free(text);
    }
}

enum { SOME = 5 };
static const raw_param some[SOME] = { { 70, 9 }, { 7, 0 }, { 700, 300 }, { 71, 1 }, { 5, 70000 } };

/* A raw file of these Params: payloads in one order, the table in another. */
static uint8_t *raw_file(const size_t *payloads, const size_t *table, size_t *size) {
    uint64_t at = RAW_HEADER + RAW_ENTRY * SOME, offsets[SOME];
    for (size_t i = 0; i < SOME; i++) {
        offsets[payloads[i]] = at;
        at += (uint64_t)some[payloads[i]].size;
    }
    uint8_t *file = calloc(1, at);
    raw_put_header(file, SOME);
    for (size_t i = 0; i < SOME; i++) {
        raw_put_entry(file, i, (int32_t)some[table[i]].id, offsets[table[i]]);
        for (size_t k = 0; k < (size_t)some[i].size; k++) file[offsets[i] + k] = raw_byte(some[i].id, k);
    }
    *size = at;
    return file;
}

static void both_orders_of_a_raw_file_are_kept(void **state) {
    (void)state;
    for (int round = 0; round < 40; round++) {
        size_t orders_of[2][SOME], size;
        for (int k = 0; k < 2; k++) {
            for (size_t i = 0; i < SOME; i++) orders_of[k][i] = i;
            for (size_t i = SOME; i > 1; i--) {
                size_t j = chance(i), swap = orders_of[k][i - 1];
                orders_of[k][i - 1] = orders_of[k][j];
                orders_of[k][j] = swap;
            }
        }
        const size_t *table = round % 4 ? orders_of[1] : orders_of[0];
        uint8_t *raw = raw_file(orders_of[0], table, &size);
        xir_network *net = raw_network(ctx, some, SOME, chance(SOME), NULL);
        assert_int_equal(xir_raw_read(net, raw, size, XIR_LOAD_NO_MD5, why), XIR_OK);
        xir_diags_clear(why);
        xir_text_buffer json;
        assert_int_equal(xir_json_print(net, 0, &json), XIR_OK);
        check_pair(json.data, json.size, raw, size);
        /* The key is present exactly if it is needed. Params of no bytes have random places. */
        paper file = pack_net(net);
        bool said = memmem(file.data, file.size, "\xACparams_table", 13) != NULL;
        if (table == orders_of[0]) assert_false(said);
        xir_text_free(&json);
        xir_network_free(net);
        free(file.data);
        free(raw);
    }
}

/* The members of a network of these Params, without the payloads. */
static paper structure_of(xir_network *net, size_t *members) {
    xir_text_buffer json;
    assert_int_equal(xir_json_print(net, 0, &json), XIR_OK);
    paper p = { 0 };
    pack_json(&p, json.data, json.size, NULL);
    xir_text_free(&json);
    assert_true((uint8_t)p.data[0] >= 0x80 && (uint8_t)p.data[0] < 0x8D);
    *members = (uint8_t)p.data[0] & 15;
    memmove(p.data, p.data + 1, --p.size);
    return p;
}

static void put_payloads(paper *p, bool long_forms) {
    pack_text(p, "'params'", NULL);
    pack_head(p, '[', SOME, long_forms);
    for (size_t i = 0; i < SOME; i++) {
        pack_head(p, '[', 2, long_forms ? 2 : 0);
        pack_integer(p, some[i].id, long_forms ? 7 : 0);
        pack_head(p, '<', (uint64_t)some[i].size, long_forms ? 3 : 0);
        for (size_t k = 0; k < (size_t)some[i].size; k++) put_bytes(p, &(char){ (char)raw_byte(some[i].id, k) }, 1);
    }
}

static void payloads_may_be_anywhere(void **state) {
    (void)state;
    xir_network *net = raw_network(ctx, some, SOME, 2, NULL);
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_input_count(op); i++) {
            if (xir_value_is_params(xir_op_input(op, i))) raw_fill(xir_op_input(op, i));
        }
        if (!xir_op_is(op, xir_hard_op_class())) continue;
        const xir_values *more = &xir_hard_op_of(op)->params;
        for (size_t i = 0; i < more->size; i++) raw_fill(more->data[i]);
    }
    size_t members;
    paper structure = structure_of(net, &members);
    for (int k = 0; k < 6; k++) {
        paper p = { 0 };
        pack_head(&p, '{', members + (k % 3 ? 2 : 1), 0);
        if (k % 3 == 1) pack_text(&p, "'params_table' [5 5 71 700 7 70", NULL);
        if (k < 3) put_payloads(&p, k == 1);
        if (k % 3 == 2) pack_text(&p, "'params_table' [5 70 7 700 71 5", NULL);
        put_bytes(&p, structure.data, structure.size);
        if (k >= 3) put_payloads(&p, k == 4);
        /* The MD5 is that of the raw file whose table has the network's order. */
        format_reading whole = { .ctx = ctx, .name = XIR_STR("x"), .compare = k % 3 != 1, .why = why };
        xir_network *again = unpack_how(p.data, p.size, &whole);
        if (!again) show_findings();
        assert_non_null(again);
        assert_true(xir_network_equal(net, again, true));
        /* In file order. */
        paper file = pack_net(again);
        bool said = memmem(file.data, file.size, "\xACparams_table", 13) != NULL;
        assert_int_equal(said, k % 3 == 1);
        xir_network_free(again);
        /* The structure alone. */
        format_reading alone = { .ctx = ctx, .name = XIR_STR("x"), .no_params = true, .why = why };
        again = unpack_how(p.data, p.size, &alone);
        assert_non_null(again);
        assert_true(xir_network_equal(net, again, false));
        assert_false(xir_network_equal(net, again, true));
        xir_text_buffer json, expected;
        assert_int_equal(xir_json_print(again, 0, &json), XIR_OK);
        assert_int_equal(xir_json_print(net, 0, &expected), XIR_OK);
        check_same(json.data, json.size, expected.data, expected.size);
        xir_text_free(&json);
        xir_text_free(&expected);
        xir_network_free(again);
        free(file.data);
        free(p.data);
    }
    free(structure.data);
    xir_network_free(net);
}

/* Reading lazily touches no byte of parameters: here the bytes are inaccessible. */
static void bytes_of_parameters_are_not_touched(void **state) {
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 64 * page;
    const raw_param one = { 3, (int64_t)size };
    xir_value *v;
    xir_network *net = raw_network(ctx, &one, 1, 1, &v);
    raw_fill(v);
    paper file = pack_net(net);
    char *map = mmap(NULL, file.size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map != MAP_FAILED);
    memcpy(map, file.data, file.size);
    size_t head = (size_t)((const char *)memmem(file.data, file.size, "\xC6", 1) - file.data) + 5;
    size_t from = (head + page - 1) / page * page;
    assert_int_equal(mprotect(map + from, (head + size) / page * page - from, PROT_NONE), 0);
    blob *whole = blob_borrow(context_alloc(ctx), map, file.size, true, NULL, NULL);
    format_reading lazily = { .ctx = ctx, .name = XIR_STR("x"), .why = why };
    xir_network *again = format_msgpack.read(&lazily, whole);
    assert_non_null(again);
    blob_release(whole);
    assert_int_equal(mprotect(map, file.size, PROT_READ), 0);
    assert_true(xir_network_equal(net, again, true));
    xir_network_free(again);
    xir_network_free(net);
    munmap(map, file.size + page);
    free(file.data);
}

/* ---- what is refused when writing -------------------------------------------------------------------------- */

static void networks_that_it_cannot_hold_are_refused(void **state) {
    (void)state;
    /* The bytes are not read before. */
    const raw_param large = { 3, (int64_t)UINT32_MAX + 1 };
    xir_value *v;
    xir_network *net = raw_network(ctx, &large, 1, 1, &v);
    assert_int_equal(xir_params_set_borrow(v, &large, (uint64_t)UINT32_MAX + 1, NULL, NULL), XIR_OK);
    paper file = { 0 };
    assert_int_equal(try_pack(net, &file), XIR_E_LIMIT);
    assert_int_equal(file.size, 0);
    check_finding(XIR_E_LIMIT, "v_id 3 'p0' has 4294967296 bytes, MessagePack allows at most 4294967295; Json&Raw");
    xir_network_free(net);
    /* Some Params have bytes and others lack them. */
    xir_value *both[2];
    net = raw_network(ctx, (const raw_param[]){ { 1, 4 }, { 2, 4 } }, 2, 2, both);
    raw_fill(both[0]);
    assert_int_equal(try_pack(net, &file), XIR_E_MISSING);
    assert_int_equal(file.size, 0);
    xir_diags_clear(why);
    xir_network_free(net);
}

static bool stop_after(void *user, const void *data, size_t size) {
    (void)data;
    (void)size;
    return (*(int *)user)-- > 0;
}

static void a_callback_that_stops_is_an_error(void **state) {
    (void)state;
    const raw_param two[] = { { 1, 100000 }, { 2, 100000 } };
    xir_value *values[2];
    xir_network *net = raw_network(ctx, two, 2, 1, values);
    raw_fill(values[0]);
    raw_fill(values[1]);
    int pieces = 0;
    for (;; pieces++) {
        int left = pieces;
        format_writing how = { .path = "", .write = stop_after, .user = &left, .why = why };
        xir_status status = format_msgpack.write(net, &how);
        if (status == XIR_OK) break;
        assert_int_equal(status, XIR_E_IO);
        assert_int_equal(left, -1);
    }
    assert_int_equal(pieces, 5);   /* up to the first bytes, those, the part between, the second bytes, the rest */
    assert_int_equal(xir_diags_count(why), 0);
    xir_network_free(net);
}

/* ---- memory ------------------------------------------------------------------------------------------------ */

static paper scarce;

static bool read_and_write(xir_context *with) {
    format_reading how = { .ctx = with, .name = XIR_STR("x"), .compare = true };
    xir_network *net = unpack_how(scarce.data, scarce.size, &how);
    if (!net) return false;
    paper out = { 0 };
    format_writing again = { .path = "", .write = collect_bytes, .user = &out };
    xir_status status = format_msgpack.write(net, &again);
    if (status) assert_int_equal(status, XIR_E_MEMORY);
    else check_same(out.data, out.size, scarce.data, scarce.size);
    xir_network_free(net);
    free(out.data);
    return status == XIR_OK;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    static const size_t payloads[] = { 4, 2, 0, 1, 3 }, table[] = { 0, 1, 2, 3, 4 };
    size_t size;
    uint8_t *raw = raw_file(payloads, table, &size);
    xir_network *net = raw_network(ctx, some, SOME, 2, NULL);
    assert_int_equal(xir_raw_read(net, raw, size, XIR_LOAD_NO_MD5, why), XIR_OK);
    xir_diags_clear(why);
    scarce = pack_net(net);
    check_memory(read_and_write);
    xir_network_free(net);
    free(scarce.data);
    free(raw);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_files_come_back),
        cmocka_unit_test(both_orders_of_a_raw_file_are_kept),
        cmocka_unit_test(payloads_may_be_anywhere),
        cmocka_unit_test(bytes_of_parameters_are_not_touched),
        cmocka_unit_test(networks_that_it_cannot_hold_are_refused),
        cmocka_unit_test(a_callback_that_stops_is_an_error),
        cmocka_unit_test(every_allocation_may_fail),
    };
    scratch_make();
    return RUN_GROUP(tests);
}
