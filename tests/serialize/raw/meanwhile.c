/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The MD5 while bytes are written: the digest is that of all bytes, whatever the pieces, with a thread and without one;
 * and files get the same bytes. */
#include <openssl/evp.h>
#include <xir/icraft.h>
#include "support/load_net.h"
#include "raw/meanwhile.h"

static void set_threads(bool some) {
    meanwhile_least = some ? 0 : UINT64_MAX;
    meanwhile_refused = false;
}

static void forget_threads(void) {
    meanwhile_least = 1 << 20;
    meanwhile_refused = false;
}

static const char *md5_of(const void *data, size_t size) {
    static char hex[MD5_DIGITS + 1];
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    assert_int_equal(EVP_Digest(data, size, digest, &n, EVP_md5(), NULL), 1);
    for (unsigned i = 0; i < n; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    return hex;
}

/* ---- digests ----------------------------------------------------------------------------------------------------- */

enum { MOST = 9 << 20 };

static void check_pieces(const uint8_t *bytes, size_t size, size_t piece) {
    md5_meanwhile b;
    char hex[MD5_DIGITS + 1];
    const xir_allocator *alloc = context_alloc(ctx);
    const size_t head = size < 5 ? size : 5;
    assert_int_equal(meanwhile_begin(&b, alloc, size, why), XIR_OK);
    meanwhile_begin_with(&b, bytes, head);
    for (size_t at = head, n; at < size; at += n) {
        n = size - at < piece ? size - at : piece;
        assert_true(meanwhile_add(&b, bytes + at, n));
    }
    assert_int_equal(meanwhile_end(&b, hex, why), XIR_OK);
    assert_string_equal(hex, md5_of(bytes, size));
}

static void digests_do_not_depend_on_pieces(void **state) {
    (void)state;
    static const size_t sizes[] = { 0, 1, 5, 6, 63, 64, 100000, MOST };
    static const size_t pieces[] = { 13, 4096, 65537, MEANWHILE_AT_ONCE };
    uint8_t *bytes = malloc(MOST);
    assert_non_null(bytes);
    for (size_t i = 0; i < MOST; i++) bytes[i] = (uint8_t)(i * 7 + (i >> 11));
    for (int way = 0; way < 3; way++) {
        set_threads(way > 0);
        meanwhile_refused = way == 2;
        for (size_t i = 0; i < COUNT(sizes); i++)
            for (size_t j = 0; j < COUNT(pieces); j++) check_pieces(bytes, sizes[i], pieces[j]);
    }
    forget_threads();
    free(bytes);
}

/* Bytes that still wait are not hashed once the sum is given up. */
static void a_digest_may_be_dropped(void **state) {
    (void)state;
    static const uint8_t bytes[1 << 16];
    set_threads(true);
    for (int pieces = 0; pieces < 70; pieces += 23) {
        md5_meanwhile b;
        assert_int_equal(meanwhile_begin(&b, context_alloc(ctx), sizeof bytes, why), XIR_OK);
        for (int i = 0; i < pieces; i++) assert_true(meanwhile_add(&b, bytes, sizeof bytes));
        assert_int_equal(meanwhile_end(&b, NULL, why), XIR_OK);
    }
    forget_threads();
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* A network of many small Params and some large ones. */
static xir_network *large_net(void) {
    enum { N = 600 };
    static raw_param wanted[N];
    xir_value *values[N];
    for (int i = 0; i < N; i++) wanted[i] = (raw_param){ i + 3, i % 100 == 7 ? 700000 : i % 19 };
    xir_network *net = raw_network(ctx, wanted, N, 2, values);
    for (int i = 0; i < N; i++) raw_fill(values[i]);
    return net;
}

static uint8_t *saved(xir_network *net, const xir_format_info *f, const char *name, size_t *size) {
    load_save(net, load_path(name, f), f);
    return scratch_get(load_path(name, f), size);
}

static void files_have_the_same_bytes(void **state) {
    (void)state;
    static const char *const names[] = { "json", "imodel", "fb" };
    xir_format_info f = XIR_INIT(xir_format_info);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        if (strcmp(f.name, names[0]) && strcmp(f.name, names[1]) && strcmp(f.name, names[2])) continue;
        uint8_t *first = NULL;
        size_t first_size = 0;
        for (int way = 0; way < 3; way++) {
            set_threads(way > 0);
            meanwhile_refused = way == 2;
            size_t size;
            xir_network *net = large_net();    /* without an MD5 that is known already */
            uint8_t *bytes = saved(net, &f, way ? "again" : "first", &size);
            raw_memory m = { 0 };
            const xir_save_options options = XIR_INIT(xir_save_options, .format = f.name, .unchecked = true);
            assert_int_equal(xir_network_write(net, raw_memory_write, &m, &options, why), XIR_OK);
            assert_int_equal(m.size, size);    /* nothing can be replaced there: the MD5 comes first */
            assert_memory_equal(m.data, bytes, size);
            free(m.data);
            xir_network_free(net);
            if (way) {
                assert_int_equal(size, first_size);
                assert_memory_equal(bytes, first, size);
                free(bytes);
                xir_network_free(load_must(load_path("again", &f), NULL));    /* which compares the MD5 */
            } else {
                first = bytes;
                first_size = size;
            }
        }
        free(first);
    }
    forget_threads();
}

/* A text that is equal to the digits which stand in the file at first stays as it is. */
static void other_texts_stay(void **state) {
    (void)state;
    static const char zeros[] = "00000000000000000000000000000000";
    const xir_format_info f = { .name = "fb", .suffixes = "fb" };
    xir_network *net = large_net();
    DOES(xir_network_set_text(net, XIR_TEXT_NAME, XIR_STR(zeros)));
    load_save(net, scratch("zeros.fb"), &f);
    xir_network_free(net);
    net = load_must(scratch("zeros.fb"), NULL);
    CHECK_STR(xir_network_text_of(net, XIR_TEXT_NAME), zeros);
    assert_int_equal(xir_network_text_of(net, XIR_TEXT_PARAMS_MD5).size, MD5_DIGITS);
    xir_network_free(net);
}

/* Writing stops, or is cancelled, at any place: no file, and a status. */
typedef struct stopping { int calls, stop; } stopping;

static bool stops(void *user) {
    stopping *s = user;
    return ++s->calls == s->stop;
}

static void saving_can_be_cancelled(void **state) {
    (void)state;
    static const char *const files[] = { "c.fb", "c.imodel", "c.json" };
    xir_network *net = large_net();
    for (int way = 0; way < 2; way++) {
        set_threads(way);
        for (size_t i = 0; i < COUNT(files); i++) {
            xir_status status = XIR_E_CANCELLED;
            for (int stop = 1; status; stop += 3) {
                stopping s = { .stop = stop };
                const xir_save_options how = XIR_INIT(xir_save_options, .unchecked = true, .cancel = stops, .user = &s);
                status = xir_network_save(net, scratch(files[i]), &how, why);
                assert_true(status == XIR_OK || status == XIR_E_CANCELLED);
                assert_int_equal(access(scratch(files[i]), F_OK), status ? -1 : 0);
                xir_diags_clear(why);
            }
        }
        for (size_t i = 0; i < COUNT(files); i++) unlink(scratch(files[i]));
        unlink(scratch("c.raw"));
    }
    forget_threads();
    xir_network_free(net);
}

static bool takes_some(void *user, const void *data, size_t size) {
    (void)data;
    uint64_t *left = user;
    if (size > *left) return false;
    *left -= size;
    return true;
}

static void a_writer_may_stop(void **state) {
    (void)state;
    static const char *const formats[] = { "fb", "imodel" };
    xir_network *net = large_net();
    for (int way = 0; way < 2; way++) {
        set_threads(way);
        for (size_t i = 0; i < COUNT(formats); i++) {
            for (uint64_t takes = 0; takes < 4 << 20; takes += 777777) {
                uint64_t left = takes;
                const xir_save_options how = XIR_INIT(xir_save_options, .format = formats[i], .unchecked = true);
                FAILS_TO_SAVE(xir_network_write(net, takes_some, &left, &how, why), XIR_E_IO, "accepted no more");
            }
        }
    }
    forget_threads();
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_do_not_depend_on_pieces),
        cmocka_unit_test(a_digest_may_be_dropped),
        cmocka_unit_test(files_have_the_same_bytes),
        cmocka_unit_test(other_texts_stay),
        cmocka_unit_test(saving_can_be_cancelled),
        cmocka_unit_test(a_writer_may_stop),
    };
    scratch_make();
    return RUN_GROUP(tests);
}
