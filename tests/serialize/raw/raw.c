/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Valid raw files: what is loaded is what was saved, lazily or not, and an unchanged network saves the same bytes. */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <cmocka.h>
#include <openssl/evp.h>
#include <xir/icraft.h>
#include "raw/raw.h"
#include "support/raw_net.h"
#include "support/scratch.h"
#include "support/skips.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static const raw_param three[] = { { 3, 4 }, { 7, 0 }, { 5, 6 } };

/* A file made by hand for the three, with table and payloads in other orders than a walk: payloads 5, 3, table 7, 5,
 * 3. */
static size_t shuffled(uint8_t file[64]) {
    raw_put_header(file, 3);
    raw_put_entry(file, 0, 7, 58);
    raw_put_entry(file, 1, 5, 52);
    raw_put_entry(file, 2, 3, 58);
    for (size_t i = 0; i < 6; i++) file[52 + i] = raw_byte(5, i);
    for (size_t i = 0; i < 4; i++) file[58 + i] = raw_byte(3, i);
    return 62;
}

static void assert_filled(xir_value *const *values, size_t n) {
    for (size_t i = 0; i < n; i++) assert_true(raw_is_filled(values[i]));
}

static raw_memory written(xir_network *net) {
    raw_memory m = { 0 };
    assert_int_equal(xir_raw_write(net, raw_memory_write, &m, NULL), XIR_OK);
    return m;
}

static void assert_writes(xir_network *net, const uint8_t *file, size_t size) {
    raw_memory m = written(net);
    assert_int_equal(m.size, size);
    assert_memory_equal(m.data, file, size);
    free(m.data);
}

static void set_md5(xir_network *net, const char *hex) {
    assert_int_equal(xir_network_set_text(net, XIR_TEXT_PARAMS_MD5, xir_str_of(hex)), XIR_OK);
}

/* The MD5 of some bytes, by libcrypto in one call. */
static const char *md5_of(const void *data, size_t size) {
    static char hex[33];
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    assert_int_equal(EVP_Digest(data, size, digest, &n, EVP_md5(), NULL), 1);
    for (unsigned i = 0; i < n; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    return hex;
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

static void a_new_network_writes_its_params_in_the_order_of_the_walk(void **state) {
    xir_value *values[3];
    xir_network *net = raw_network(*state, three, 3, 2, values);
    for (size_t i = 0; i < 3; i++) raw_fill(values[i]);
    uint8_t expected[62];
    raw_put_header(expected, 3);
    raw_put_entry(expected, 0, 3, 52);
    raw_put_entry(expected, 1, 7, 56);
    raw_put_entry(expected, 2, 5, 56);
    for (size_t i = 0; i < 4; i++) expected[52 + i] = raw_byte(3, i);
    for (size_t i = 0; i < 6; i++) expected[56 + i] = raw_byte(5, i);
    assert_writes(net, expected, sizeof expected);
    assert_int_equal(xir_network_params_bytes(net), 62);
    assert_true(xir_str_equal(xir_network_text_of(net, XIR_TEXT_PARAMS_MD5), xir_str_of(md5_of(expected, 62))));
    xir_network_free(net);
}

static void params_without_bytes_cannot_be_written(void **state) {
    xir_value *values[3];
    xir_network *net = raw_network(*state, three, 3, 2, values);
    xir_diags *why = xir_diags_new(*state);
    raw_memory m = { 0 };
    assert_int_equal(xir_raw_write(net, raw_memory_write, &m, why), XIR_E_MISSING);
    assert_int_equal(m.size, 0);
    xir_str said = xir_diags_at(why, 0)->message;
    assert_true(xir_str_equal(said, XIR_STR("v_id 3 'p0' and 1 more Params have no bytes")));   /* 7 needs none */
    raw_fill(values[0]);
    assert_int_equal(xir_raw_save(net, scratch("missing.raw"), why), XIR_E_MISSING);
    assert_true(xir_str_equal(xir_diags_at(why, 1)->message, XIR_STR("v_id 5 'p2' has no bytes")));
    assert_int_not_equal(access(scratch("missing.raw"), F_OK), 0);

    /* Params that may lack bytes then have no entry. */
    xir_params_set_allow_no_data(values[2], true);
    m = written(net);
    assert_int_equal(m.size, 16 + 2 * 12 + 4);
    assert_int_equal(raw_get_le(m.data + 12, 4), 2);
    raw_fill(values[2]);
    assert_int_equal(xir_raw_read(net, m.data, m.size, 0, NULL), XIR_OK);
    assert_true(raw_is_filled(values[2]));   /* not in the file: they keep their bytes */
    free(m.data);
    xir_network_free(net);
    xir_diags_free(why);
}

static void ids_of_more_than_32_bits_cannot_be_written(void **state) {
    static const raw_param wanted[] = { { INT32_MAX, 1 }, { (int64_t)INT32_MAX + 1, 1 } };
    xir_value *values[2];
    xir_network *net = raw_network(*state, wanted, 2, 1, values);
    xir_diags *why = xir_diags_new(*state);
    for (size_t i = 0; i < 2; i++) raw_fill(values[i]);
    raw_memory m = { 0 };
    assert_int_equal(xir_raw_write(net, raw_memory_write, &m, why), XIR_E_BOUNDS);
    assert_true(xir_str_equal(xir_diags_at(why, 0)->message,
                              XIR_STR("v_id 2147483648 'p1' does not fit: ids in a raw file have 32 bits")));
    assert_int_equal(xir_value_set_id(values[1], 0x7FFFFFFE), XIR_OK);
    m = written(net);
    assert_int_equal(raw_get_le(m.data + 16, 4), INT32_MAX);
    free(m.data);
    xir_network_free(net);
    xir_diags_free(why);
}

static void a_changed_type_is_noticed_before_anything_is_written(void **state) {
    xir_value *values[3];
    xir_network *net = raw_network(*state, three, 3, 2, values);
    xir_diags *why = xir_diags_new(*state);
    for (size_t i = 0; i < 3; i++) raw_fill(values[i]);
    assert_int_equal(xir_value_set_type(values[2], raw_bytes_type(*state, 7)), XIR_OK);
    raw_memory m = { 0 };
    assert_int_equal(xir_raw_write(net, raw_memory_write, &m, why), XIR_E_INVALID);
    assert_true(xir_str_equal(xir_diags_at(why, 0)->message, XIR_STR("v_id 5 'p2' has 6 bytes, but its type takes 7")));
    assert_int_equal(m.size, 0);
    xir_network_free(net);
    xir_diags_free(why);
}

static void more_bytes_than_a_file_can_have_cannot_be_written(void **state) {
    static const raw_param params_of[] = { { 3, INT64_MAX - 7 }, { 5, INT64_MAX - 7 }, { 7, INT64_MAX - 7 } };
    for (size_t n = 2; n <= 3; n++) {   /* past int64, past uint64 */
        xir_value *values[3];
        xir_network *net = raw_network(*state, params_of, n, 1, values);
        xir_diags *why = xir_diags_new(*state);
        raw_memory m = { 0 };
        for (size_t i = 0; i < n; i++)   /* they are never read */
            assert_int_equal(xir_params_set_borrow(values[i], values, (size_t)params_of[i].size, NULL, NULL), XIR_OK);
        assert_int_equal(xir_raw_write(net, raw_memory_write, &m, why), XIR_E_LIMIT);
        assert_true(xir_str_equal(xir_diags_at(why, 0)->message,
                                  XIR_STR("the Params take more bytes than a file can have")));
        assert_int_equal(m.size, 0);
        xir_network_free(net);
        xir_diags_free(why);
    }
}

/* No network that was built or read is like this. */
static void two_params_of_one_id_are_refused(void **state) {
    uint8_t file[64];
    size_t size = shuffled(file);
    xir_value *values[3];
    xir_network *net = raw_network(*state, three, 3, 2, values);
    xir_diags *why = xir_diags_new(*state);
    values[2]->id = 3;
    assert_int_equal(xir_raw_read(net, file, size, 0, why), XIR_E_EXISTS);
    assert_true(xir_str_equal(xir_diags_at(why, 0)->message, XIR_STR("two Params of the network have v_id 3")));
    values[2]->id = 5;
    assert_int_equal(xir_value_set_name(values[1], XIR_STR("")), XIR_OK);
    raw_put_entry(file, 0, 7, 0);
    assert_int_equal(xir_raw_read(net, file, size, 0, why), XIR_E_CORRUPT);   /* one without a name */
    assert_true(xir_str_equal(xir_diags_at(why, 1)->message,
                              XIR_STR("the payload of v_id 7 begins at byte 0, inside the table, which ends at 52")));
    xir_network_free(net);
    xir_diags_free(why);
}

static void a_callback_may_stop_at_any_byte(void **state) {
    xir_value *values[3];
    xir_network *net = raw_network(*state, three, 3, 2, values);
    for (size_t i = 0; i < 3; i++) raw_fill(values[i]);
    for (size_t most = 1; most < 62; most++) {
        xir_diags *why = xir_diags_new(*state);
        raw_memory m = { .most = most };
        assert_int_equal(xir_raw_write(net, raw_memory_write, &m, why), XIR_E_IO);
        assert_int_equal(xir_diags_count(why), 1);
        assert_int_equal(xir_diags_at(why, 0)->byte, m.size);
        assert_int_equal(xir_network_params_bytes(net), 0);
        xir_diags_free(why);
        free(m.data);
    }
    xir_network_free(net);
}

static void a_network_without_params_has_the_empty_digest_and_writes_a_header(void **state) {
    xir_network *net = raw_network(*state, NULL, 0, 0, NULL);
    uint8_t header[16];
    char hex[MD5_DIGITS + 1];
    uint64_t bytes = 1;
    raw_put_header(header, 0);
    assert_writes(net, header, 16);
    assert_int_equal(xir_network_params_bytes(net), 0);
    assert_true(xir_str_equal(xir_network_text_of(net, XIR_TEXT_PARAMS_MD5), XIR_STR(MD5_OF_NOTHING)));
    assert_int_equal(raw_digest(net, &bytes, hex, NULL), XIR_OK);
    assert_int_equal(bytes, 0);
    assert_string_equal(hex, MD5_OF_NOTHING);
    xir_diags *why = xir_diags_new(*state);
    scratch_put(scratch("none.raw"), header, 16);
    scratch_put(scratch("empty.raw"), header, 0);
    for (unsigned flags = 0; flags < 8; flags++) {
        assert_int_equal(xir_raw_read(net, header, 16, flags, why), XIR_OK);
        assert_int_equal(xir_raw_read(net, NULL, 0, flags, why), XIR_OK);
        assert_int_equal(xir_raw_load(net, scratch("none.raw"), flags, why), XIR_OK);
        assert_int_equal(xir_raw_load(net, scratch("empty.raw"), flags, why), XIR_OK);
    }
    assert_int_equal(xir_diags_count(why), 0);
    xir_diags_free(why);
    xir_network_free(net);
}

/* ---- loading ------------------------------------------------------------------------------------------------ */

static void orders_of_table_and_payloads_are_kept(void **state) {
    uint8_t file[64];
    size_t size = shuffled(file);
    scratch_put(scratch("shuffled.raw"), file, size);
    for (unsigned flags = 0; flags < 8; flags++) {
        for (int from_file = 0; from_file < 2; from_file++) {
            xir_value *values[3];
            xir_network *net = raw_network(*state, three, 3, 2, values);
            set_md5(net, md5_of(file, size));
            assert_int_equal(from_file ? xir_raw_load(net, scratch("shuffled.raw"), flags, NULL)
                                       : xir_raw_read(net, file, size, flags, NULL), XIR_OK);
            assert_filled(values, 3);
            assert_int_equal(xir_params_is_lazy(values[0]), (flags & XIR_LOAD_LAZY) != 0);
            assert_writes(net, file, size);
            xir_network_free(net);
        }
    }
}

static void new_params_come_after_the_loaded_ones(void **state) {
    /* The network has two more, which a walk meets before and between the others. */
    static const raw_param five[] = { { 20, 2 }, { 3, 4 }, { 21, 1 }, { 7, 0 }, { 5, 6 } };
    uint8_t file[64];
    size_t size = shuffled(file);
    xir_value *values[5];
    xir_network *net = raw_network(*state, five, 5, 5, values);
    xir_params_set_allow_no_data(values[0], true);
    xir_params_set_allow_no_data(values[2], true);
    assert_int_equal(xir_raw_read(net, file, size, 0, NULL), XIR_OK);
    assert_writes(net, file, size);

    xir_params_set_allow_no_data(values[0], false);
    xir_params_set_allow_no_data(values[2], false);
    raw_fill(values[0]);
    raw_fill(values[2]);
    raw_memory m = written(net);
    static const struct {
        int32_t id;
        uint64_t offset;
    } expected[] = { { 7, 82 }, { 5, 76 }, { 3, 82 }, { 20, 86 }, { 21, 88 } };
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal((int32_t)raw_get_le(m.data + 16 + 12 * i, 4), expected[i].id);
        assert_int_equal(raw_get_le(m.data + 20 + 12 * i, 8), expected[i].offset);
    }
    assert_int_equal(m.size, 89);
    assert_int_equal(xir_raw_read(net, m.data, m.size, 0, NULL), XIR_OK);
    assert_filled(values, 5);
    free(m.data);

    /* Other bytes do not change the order. */
    assert_int_equal(xir_params_set_copy(values[4], "abcdef", 6), XIR_OK);
    m = written(net);
    assert_memory_equal(m.data + 76, "abcdef", 6);
    free(m.data);
    xir_network_free(net);
}

static void many_params_in_any_order_are_kept(void **state) {
    enum { N = 1000 };
    raw_param *wanted = calloc(N, sizeof *wanted);
    xir_value **values = calloc(N, sizeof *values);
    uint64_t seed = 7;
    size_t size = 16 + 12 * N, total = size;
    uint32_t order[2][N];
    for (size_t i = 0; i < N; i++) {
        wanted[i] = (raw_param){ .id = (int64_t)((i * 7919) % 100003 + 10),
                                 .size = (int64_t)(i % 5 == 0 ? 0 : i % 37) };
        total += (size_t)wanted[i].size;
        order[0][i] = order[1][i] = (uint32_t)i;
    }
    for (int o = 0; o < 2; o++)
        for (size_t i = N; i > 1; i--) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            size_t k = (size_t)((seed >> 33) % i);
            uint32_t swap = order[o][k];
            order[o][k] = order[o][i - 1];
            order[o][i - 1] = swap;
        }
    uint8_t *file = malloc(total);
    uint64_t offsets[N];
    raw_put_header(file, N);
    for (size_t i = 0; i < N; i++) {
        const raw_param *p = &wanted[order[0][i]];
        offsets[order[0][i]] = size;
        for (size_t k = 0; k < (size_t)p->size; k++) file[size++] = raw_byte(p->id, k);
    }
    for (size_t i = 0; i < N; i++)
        raw_put_entry(file, i, (int32_t)wanted[order[1][i]].id, offsets[order[1][i]]);
    for (unsigned lazy = 0; lazy < 2; lazy++) {
        xir_network *net = raw_network(*state, wanted, N, N / 2, values);
        assert_int_equal(xir_raw_read(net, file, total, lazy ? XIR_LOAD_LAZY : 0, NULL), XIR_OK);
        assert_filled(values, N);
        assert_writes(net, file, total);
        xir_network_free(net);
    }
    free(wanted);
    free(values);
    free(file);
}

static void the_md5_of_the_network_is_compared(void **state) {
    uint8_t file[64];
    size_t size = shuffled(file);
    scratch_put(scratch("md5.raw"), file, size);
    static const struct { const char *md5; unsigned flags; xir_status status; size_t warnings, notes; } rows[] = {
        /* wrong */
        { "00000000000000000000000000000000", 0, XIR_E_CORRUPT, 0 },
        { "00000000000000000000000000000000", XIR_LOAD_NO_MD5, XIR_OK, 0 },
        { "00000000000000000000000000000000", XIR_LOAD_LAZY, XIR_OK, 0 },
        { "00000000000000000000000000000000", XIR_LOAD_LAZY | XIR_LOAD_NO_MD5, XIR_OK, 0 },
        { "00000000000000000000000000000000", XIR_LOAD_LAZY | XIR_LOAD_MD5, XIR_E_CORRUPT, 0 },
        { "0000", 0, XIR_E_CORRUPT, 0 },
        /* right; also in capitals */
        { NULL, 0, XIR_OK, 0 },
        { NULL, XIR_LOAD_LAZY | XIR_LOAD_MD5, XIR_OK, 0 },
        { "A", 0, XIR_OK, 0 },
        /* none: reported where it would have been compared */
        { "", 0, XIR_OK, 0, 1 },
        { "", XIR_LOAD_NO_MD5, XIR_OK, 0 },
        { "", XIR_LOAD_LAZY, XIR_OK, 0 },
        { "", XIR_LOAD_LAZY | XIR_LOAD_MD5, XIR_OK, 0, 1 },
        { MD5_OF_NOTHING, 0, XIR_OK, 1 },
        { MD5_OF_NOTHING, XIR_LOAD_LAZY, XIR_OK, 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_value *values[3];
        xir_network *net = raw_network(*state, three, 3, 2, values);
        xir_diags *why = xir_diags_new(*state);
        char capitals[33];
        snprintf(capitals, sizeof capitals, "%s", md5_of(file, size));
        for (char *c = capitals; *c; c++) *c = *c >= 'a' && *c <= 'f' ? (char)(*c - 'a' + 'A') : *c;
        set_md5(net, !rows[i].md5 ? md5_of(file, size) : strcmp(rows[i].md5, "A") == 0 ? capitals : rows[i].md5);
        assert_int_equal(xir_raw_load(net, scratch("md5.raw"), rows[i].flags, why), rows[i].status);
        assert_int_equal(xir_diags_count_of(why, XIR_WARNING), rows[i].warnings);
        assert_int_equal(xir_diags_count_of(why, XIR_NOTE), rows[i].notes);
        assert_int_equal(xir_diags_count_of(why, XIR_ERROR), rows[i].status != XIR_OK);
        assert_int_equal(xir_params_data(values[0], NULL) != NULL, rows[i].status == XIR_OK);
        xir_network_free(net);
        xir_diags_free(why);
    }
}

static void without_md5_in_libcrypto_eager_loading_fails_with_a_finding(void **state) {
    uint8_t file[64];
    size_t size = shuffled(file);
    xir_network *net = raw_network(*state, three, 3, 2, NULL);
    xir_diags *why = xir_diags_new(*state);
    raw_memory m = { 0 };
    char hex[MD5_DIGITS + 1];
    uint64_t bytes;
    set_md5(net, md5_of(file, size));
    assert_int_equal(EVP_default_properties_enable_fips(NULL, 1), 1);
    xir_status loaded = xir_raw_read(net, file, size, 0, why);
    xir_status unchecked = xir_raw_read(net, file, size, XIR_LOAD_NO_MD5, NULL);
    xir_status saved = xir_raw_write(net, raw_memory_write, &m, NULL);
    xir_status saved_file = xir_raw_save(net, scratch("fips.raw"), NULL);
    xir_status lazy = xir_raw_read(net, file, size, XIR_LOAD_LAZY | XIR_LOAD_MD5, NULL);
    xir_status digest = raw_digest(net, &bytes, hex, NULL);
    assert_int_equal(EVP_default_properties_enable_fips(NULL, 0), 1);
    assert_int_equal(loaded, XIR_E_UNSUPPORTED);
    assert_int_equal(unchecked, XIR_OK);
    assert_int_equal(saved, XIR_E_UNSUPPORTED);
    assert_int_equal(saved_file, XIR_E_UNSUPPORTED);
    assert_int_not_equal(access(scratch("fips.raw"), F_OK), 0);
    assert_int_equal(lazy, XIR_E_UNSUPPORTED);
    assert_int_equal(digest, XIR_E_UNSUPPORTED);
    assert_int_equal(xir_diags_count(why), 1);
    assert_int_equal(m.size, 0);
    xir_network_free(net);
    xir_diags_free(why);
}

static void loading_again_replaces_and_failing_does_not(void **state) {
    uint8_t file[64];
    size_t size = shuffled(file);
    xir_value *values[3];
    xir_network *net = raw_network(*state, three, 3, 2, values);
    xir_diags *why = xir_diags_new(*state);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(xir_raw_read(net, file, size, i == 1 ? XIR_LOAD_LAZY : 0, NULL), XIR_OK);
        assert_filled(values, 3);
    }
    const void *had = xir_params_data(values[0], NULL);
    assert_int_equal(xir_raw_load(net, scratch("not there"), 0, why), XIR_E_IO);
    assert_int_equal(xir_raw_load(net, scratch_folder, XIR_LOAD_LAZY, why), XIR_E_IO);
    assert_int_equal(xir_diags_count(why), 2);
    assert_ptr_equal(xir_params_data(values[0], NULL), had);
    assert_filled(values, 3);
    xir_network_free(net);
    xir_diags_free(why);
}

/* A pipe has no size and cannot be mapped. */
static void a_pipe_is_loaded_eagerly_only(void **state) {
    uint8_t file[64];
    size_t size = shuffled(file);
    char path[64];
    for (unsigned flags = 0; flags <= XIR_LOAD_LAZY; flags++) {
        xir_value *values[3];
        int fds[2];
        xir_network *net = raw_network(*state, three, 3, 2, values);
        assert_int_equal(pipe(fds), 0);
        assert_int_equal(write(fds[1], file, size), size);
        close(fds[1]);
        snprintf(path, sizeof path, "/dev/fd/%d", fds[0]);
        assert_int_equal(xir_raw_load(net, path, flags, NULL), flags ? XIR_E_IO : XIR_OK);
        if (!flags) assert_filled(values, 3);
        close(fds[0]);
        xir_network_free(net);
    }
    /* An endless pipe is abandoned when it can no longer be valid. */
    xir_network *net = raw_network(*state, three, 3, 2, NULL);
    assert_int_equal(xir_raw_load(net, "/dev/zero", 0, NULL), XIR_E_LIMIT);
    xir_network_free(net);
}

/* ---- lazily ------------------------------------------------------------------------------------------------- */

static void lazy_params_are_copied_when_written_or_asked_to(void **state) {
    uint8_t file[64];
    size_t size = shuffled(file), now_size;
    const char *path = scratch("lazy.raw");
    scratch_put(path, file, size);
    xir_value *values[3];
    xir_network *net = raw_network(*state, three, 3, 2, values);
    assert_int_equal(xir_raw_load(net, path, XIR_LOAD_LAZY, NULL), XIR_OK);
    for (size_t i = 0; i < 3; i++) assert_true(xir_params_is_lazy(values[i]));
    const uint8_t *mapped = xir_params_data(values[0], NULL);

    uint8_t *mine = xir_params_edit(values[0]);
    assert_ptr_not_equal(mine, mapped);
    assert_false(xir_params_is_lazy(values[0]));
    assert_true(xir_params_is_lazy(values[2]));
    assert_true(raw_is_filled(values[0]));
    mine[0] ^= 1;
    assert_ptr_equal(xir_params_edit(values[0]), mine);   /* its own copy now */
    assert_int_equal(mapped[0], mine[0] ^ 1);

    assert_int_equal(xir_params_load(values[2]), XIR_OK);
    assert_false(xir_params_is_lazy(values[2]));
    assert_true(raw_is_filled(values[2]));
    assert_int_equal(xir_params_load(values[1]), XIR_OK);
    assert_false(xir_params_is_lazy(values[1]));

    uint8_t *now = scratch_get(path, &now_size);
    assert_int_equal(now_size, size);
    assert_memory_equal(now, file, size);
    free(now);
    xir_network_free(net);
}

static void saving_over_the_mapped_file_keeps_the_network(void **state) {
    uint8_t file[64];
    size_t size = shuffled(file), now_size;
    const char *path = scratch("over.raw");
    scratch_put(path, file, size);
    xir_value *values[3];
    xir_network *net = raw_network(*state, three, 3, 2, values);
    assert_int_equal(xir_raw_load(net, path, XIR_LOAD_LAZY, NULL), XIR_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(xir_raw_save(net, path, NULL), XIR_OK);
        assert_filled(values, 3);
    }
    uint8_t *now = scratch_get(path, &now_size);
    assert_int_equal(now_size, size);
    assert_memory_equal(now, file, size);
    free(now);

    *(uint8_t *)xir_params_edit(values[2]) = 'X';
    assert_int_equal(xir_raw_save(net, path, NULL), XIR_OK);
    assert_true(raw_is_filled(values[0]));   /* from the old file, which no longer has a name */
    now = scratch_get(path, &now_size);
    assert_int_equal(now_size, size);
    assert_int_equal(now[52], 'X');
    assert_memory_equal(now + 53, file + 53, size - 53);
    assert_int_equal(xir_raw_load(net, path, 0, NULL), XIR_OK);   /* with the MD5 that saving left */
    free(now);
    xir_network_free(net);
}

static void a_clone_outlives_the_network_that_mapped(void **state) {
    uint8_t file[64];
    size_t size = shuffled(file);
    scratch_put(scratch("clone.raw"), file, size);
    xir_network *net = raw_network(*state, three, 3, 2, NULL);
    set_md5(net, md5_of(file, size));
    assert_int_equal(xir_raw_load(net, scratch("clone.raw"), XIR_LOAD_LAZY, NULL), XIR_OK);
    xir_network *copy = xir_network_clone(net);
    xir_network_free(net);
    assert_non_null(copy);
    assert_writes(copy, file, size);
    xir_value *values[3];
    assert_int_equal(xir_network_params(copy, values, 3), 3);
    assert_filled(values, 3);
    xir_network_free(copy);
}

static void *edit_own_clone(void *user) {
    xir_network *net = user;
    xir_value *values[3];
    bool right = xir_network_params(net, values, 3) == 3;
    for (size_t i = 0; right && i < 3; i++) right = raw_is_filled(values[i]);
    uint8_t *mine = xir_params_edit(values[0]);
    for (size_t i = 0; mine && i < 4; i++) mine[i] ^= 0xFF;
    xir_params_load(values[2]);
    right = right && mine && raw_is_filled(values[2]);
    xir_network_free(net);
    return right ? net : NULL;
}

static void clones_in_threads_share_the_bytes(void **state) {
    enum { THREADS = 4, ROUNDS = 50 };
    uint8_t file[64];
    size_t size = shuffled(file);
    scratch_put(scratch("threads.raw"), file, size);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        xir_value *values[3];
        void *right;
        xir_network *net = raw_network(*state, three, 3, 2, values);
        assert_int_equal(xir_raw_load(net, scratch("threads.raw"), round % 2 ? XIR_LOAD_LAZY : 0, NULL), XIR_OK);
        for (int i = 0; i < THREADS; i++) {
            xir_network *copy = xir_network_clone(net);
            assert_non_null(copy);
            assert_int_equal(pthread_create(&threads[i], NULL, edit_own_clone, copy), 0);
        }
        if (round % 3) xir_network_free(net);   /* while they work */
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], &right);
            assert_non_null(right);
        }
        if (round % 3) continue;
        assert_filled(values, 3);
        xir_network_free(net);
    }
}

/* The number of pages that the process has been given so far. */
static long pages_touched(void) {
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_minflt + usage.ru_majflt;
}

/* Only the table is read: the work does not depend on the bytes, which take 2^28 pages. */
static void a_sparse_file_of_1_tib_opens_at_once(void **state) {
    const char *path = scratch("sparse.raw");
    const raw_param wanted[] = { { 1, 8 }, { 2, ((int64_t)1 << 40) - 16 - 3 * 12 - 12 }, { 3, 4 } };
    uint8_t head[16 + 36 + 8] = { 0 };
    raw_put_header(head, 3);
    raw_put_entry(head, 0, 1, 52);
    raw_put_entry(head, 1, 2, 60);
    raw_put_entry(head, 2, 3, (uint64_t)60 + (uint64_t)wanted[1].size);
    memcpy(head + 52, "8 bytes.", 8);
    scratch_put(path, head, sizeof head);
    int fd = open(path, O_WRONLY);
    if (fd < 0 || pwrite(fd, "last", 4, ((off_t)1 << 40) - 4) != 4) {
        int error = errno;
        close(fd);
        unlink(path);
        SKIP("no sparse files of 1 TiB: %s", strerror(error));
    }
    close(fd);
    xir_value *values[3];
    xir_network *net = raw_network(*state, wanted, 3, 2, values);
    xir_diags *why = xir_diags_new(*state);
    long before = pages_touched();
    xir_status status = xir_raw_load(net, path, XIR_LOAD_LAZY, why);
    long touched = pages_touched() - before;
    bool mapped = status == XIR_OK || memcmp(xir_diags_at(why, 0)->message.data, "cannot map", 10) != 0;
    if (mapped) {
        assert_int_equal(status, XIR_OK);
        print_message("1 TiB opened lazily: %ld pages touched\n", touched);
        assert_in_range(touched, 0, 1000);
        uint64_t size;
        const uint8_t *bytes = xir_params_data(values[1], &size);
        assert_int_equal(size, wanted[1].size);
        assert_int_equal(bytes[size / 2], 0);
        assert_memory_equal(xir_params_data(values[0], NULL), "8 bytes.", 8);
        assert_memory_equal(xir_params_data(values[2], NULL), "last", 4);
        assert_true(xir_params_is_lazy(values[1]));
    }
    xir_network_free(net);
    xir_diags_free(why);
    unlink(path);
    if (!mapped) SKIP("1 TiB cannot be mapped: a limit on address space");
}

/* ---- the keys in the structure file ----------------------------------------------------------------------------- */

static void the_digest_is_that_of_the_file_that_would_be_written(void **state) {
    uint8_t file[64];
    size_t size = shuffled(file);
    char hex[MD5_DIGITS + 1];
    uint64_t bytes;
    xir_value *values[3];
    xir_network *net = raw_network(*state, three, 3, 2, values);
    assert_int_equal(raw_digest(net, &bytes, hex, NULL), XIR_E_MISSING);

    /* Written unchanged from an eagerly loaded file, also after changes of the network's texts. */
    set_md5(net, md5_of(file, size));
    assert_int_equal(xir_raw_read(net, file, size, 0, NULL), XIR_OK);
    set_md5(net, "something else");
    assert_int_equal(raw_digest(net, &bytes, hex, NULL), XIR_OK);
    assert_int_equal(bytes, size);
    assert_string_equal(hex, md5_of(file, size));

    /* For a lazily loaded file the claim is kept; nothing is read. */
    set_md5(net, "0123456789abcdef0123456789abcdef");
    assert_int_equal(xir_raw_read(net, file, size, XIR_LOAD_LAZY, NULL), XIR_OK);
    assert_int_equal(raw_digest(net, &bytes, hex, NULL), XIR_OK);
    assert_string_equal(hex, "0123456789abcdef0123456789abcdef");
    assert_int_equal(bytes, size);

    /* Writing reads the bytes, and reports a wrong claim. */
    raw_memory m = { 0 };
    xir_diags *why = xir_diags_new(*state);
    assert_int_equal(xir_raw_write(net, raw_memory_write, &m, why), XIR_OK);
    assert_int_equal(xir_diags_count_of(why, XIR_WARNING), 1);
    assert_true(xir_str_equal(xir_network_text_of(net, XIR_TEXT_PARAMS_MD5), xir_str_of(md5_of(file, size))));
    free(m.data);

    /* Without a valid claim it is computed: loaded unchecked, changed bytes, another id, another order. */
    assert_int_equal(xir_raw_read(net, file, size, XIR_LOAD_NO_MD5, NULL), XIR_OK);
    assert_int_equal(raw_digest(net, &bytes, hex, NULL), XIR_OK);
    assert_string_equal(hex, md5_of(file, size));

    *(uint8_t *)xir_params_edit(values[0]) ^= 1;
    file[58] ^= 1;
    assert_int_equal(raw_digest(net, &bytes, hex, NULL), XIR_OK);
    assert_string_equal(hex, md5_of(file, size));
    file[58] ^= 1;

    set_md5(net, md5_of(file, size));
    assert_int_equal(xir_raw_read(net, file, size, XIR_LOAD_LAZY, NULL), XIR_OK);
    assert_int_equal(xir_value_set_id(values[0], 33), XIR_OK);
    assert_int_equal(raw_digest(net, &bytes, hex, NULL), XIR_OK);
    m = written(net);
    assert_string_equal(hex, md5_of(m.data, m.size));
    assert_string_not_equal(hex, md5_of(file, size));
    free(m.data);
    xir_diags_free(why);
    xir_network_free(net);
}

static void params_bytes_that_contradict_the_file_are_a_warning(void **state) {
    uint8_t file[64];
    size_t size = shuffled(file);
    xir_network *net = raw_network(*state, three, 3, 2, NULL);
    xir_diags *why = xir_diags_new(*state);
    net->params_bytes = 61;
    assert_int_equal(xir_raw_read(net, file, size, XIR_LOAD_LAZY, why), XIR_OK);
    assert_int_equal(xir_diags_count_of(why, XIR_WARNING), 1);
    assert_true(xir_str_equal(xir_diags_at(why, 0)->message, XIR_STR("params_bytes is 61, but the file has 62")));
    net->params_bytes = 62;
    assert_int_equal(xir_raw_read(net, file, size, XIR_LOAD_LAZY, why), XIR_OK);
    assert_int_equal(xir_diags_count(why), 1);
    xir_params_clear(NULL);
    xir_network_free(net);
    xir_diags_free(why);
}

/* ---- memory that is refused ---------------------------------------------------------------------------------- */

typedef struct meter { size_t calls, refuse_from, refuse_to; uint64_t in_use; } meter;

static void *metered(void *user, void *block, size_t old_size, size_t size) {
    meter *m = user;
    if (size == 0) {
        m->in_use -= old_size;
        free(block);
        return NULL;
    }
    m->calls++;
    if (m->calls >= m->refuse_from && m->calls < m->refuse_to) return NULL;
    void *now = realloc(block, size);
    if (now) m->in_use += size - (block ? old_size : 0);
    return now;
}

static xir_status load_from_pipe(xir_network *net, const uint8_t *file, size_t size, xir_diags *why) {
    int fds[2];
    char path[64];
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], file, size), size);
    close(fds[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", fds[0]);
    xir_status status = xir_raw_load(net, path, 0, why);
    close(fds[0]);
    return status;
}

/* Each allocation of each call is refused once, and then all from it on; the call fails and changes nothing, and then
 * succeeds. */
static void a_refused_allocation_changes_nothing(void **state) {
    (void)state;
    enum { LOADS, SAVES = LOADS + 5, PAIRS, DIGESTS, SCENARIOS };
    uint8_t file[64];
    size_t size = shuffled(file), points = 0;
    scratch_put(scratch("oom.raw"), file, size);
    for (int scenario = 0; scenario < SCENARIOS; scenario++) {
        for (int for_ever = 0; for_ever < 2; for_ever++) {
            bool done = false;
            for (size_t n = 1; !done; n++) {
                meter m = { .refuse_from = SIZE_MAX };
                xir_context *ctx = xir_context_new(&(xir_allocator){ metered, &m });
                xir_diags *why = xir_diags_new(ctx);
                xir_value *values[3];
                xir_network *net = raw_network(ctx, three, 3, 2, values);
                for (size_t i = 0; i < 3; i++) raw_fill(values[i]);
                const void *had = xir_params_data(values[0], NULL);
                char hex[MD5_DIGITS + 1];
                uint64_t bytes;
                set_md5(net, scenario < SAVES ? md5_of(file, size) : "old");
                m.refuse_from = m.calls + n;
                m.refuse_to = for_ever ? SIZE_MAX : m.refuse_from + 1;
                xir_status status =
                    scenario == 0 ? xir_raw_read(net, file, size, 0, why) :
                    scenario == 1 ? xir_raw_read(net, file, size, XIR_LOAD_LAZY, why) :
                    scenario == 2 ? xir_raw_load(net, scratch("oom.raw"), 0, why) :
                    scenario == 3 ? xir_raw_load(net, scratch("oom.raw"), XIR_LOAD_LAZY | XIR_LOAD_MD5, why) :
                    scenario == 4 ? load_from_pipe(net, file, size, why) :
                    scenario == SAVES ? xir_raw_save(net, scratch("oom-out.raw"), why) :
                    scenario == PAIRS ? xir_json_raw_save(net, scratch("oom-out.json"), NULL, XIR_SAVE_UNCHECKED, why)
                                      : raw_digest(net, &bytes, hex, why);
                done = status == XIR_OK && m.calls < m.refuse_from;
                points++;
                m.refuse_from = SIZE_MAX;
                if (status != XIR_OK) {
                    assert_int_equal(status, XIR_E_MEMORY);
                    assert_int_equal(xir_diags_count(why), 1);
                    assert_ptr_equal(xir_params_data(values[0], NULL), had);
                    assert_true(xir_str_equal(xir_network_text_of(net, XIR_TEXT_PARAMS_MD5),
                                              xir_str_of(scenario < SAVES ? md5_of(file, size) : "old")));
                    assert_int_not_equal(access(scratch("oom-out.raw"), F_OK), 0);
                }
                unlink(scratch("oom-out.raw"));
                unlink(scratch("oom-out.json"));
                assert_filled(values, 3);
                xir_network_free(net);
                xir_diags_free(why);
                xir_context_free(ctx);
                assert_int_equal(m.in_use, 0);
            }
        }
    }
    print_message("%zu allocations refused\n", points);
}

/* ---- pairs, and real files ----------------------------------------------------------------------------------- */

static void a_pair_is_saved_together_or_not_at_all(void **state) {
    xir_value *values[3];
    size_t size = 0;
    xir_network *net = raw_network(*state, three, 3, 2, values);
    xir_diags *why = xir_diags_new(*state);
    const char *json = scratch("pair.json"), *raw = scratch("pair.raw");
    assert_int_equal(xir_json_raw_save(net, json, raw, XIR_SAVE_UNCHECKED, why), XIR_E_MISSING);
    assert_int_not_equal(access(json, F_OK), 0);
    assert_int_not_equal(access(raw, F_OK), 0);

    for (size_t i = 0; i < 3; i++) raw_fill(values[i]);
    assert_int_equal(xir_json_raw_save(net, json, NULL, XIR_SAVE_UNCHECKED, why), XIR_OK);   /* pair.raw is the name */
    uint8_t *bytes = scratch_get(raw, &size);
    char expected[64];
    snprintf(expected, sizeof expected, "\"params_md5\":\"%s\"", md5_of(bytes, size));
    uint8_t *text = scratch_get(json, &size);
    assert_non_null(strstr((char *)text, expected));
    assert_non_null(strstr((char *)text, "\"params_bytes\":62,"));
    free(bytes);
    free(text);

    /* The structure cannot be written: the parameters are the old ones. */
    struct stat before, after;
    assert_int_equal(stat(raw, &before), 0);
    *(uint8_t *)xir_params_edit(values[0]) ^= 1;
    xir_str said = xir_network_text_of(net, XIR_TEXT_PARAMS_MD5);
    assert_int_equal(xir_json_raw_save(net, scratch("no/such/folder.json"), raw, XIR_SAVE_UNCHECKED, why), XIR_E_IO);
    assert_int_equal(xir_json_raw_save(net, "/dev/full", raw, XIR_SAVE_UNCHECKED, why), XIR_E_IO);
    assert_int_equal(xir_json_raw_save(net, raw, raw, XIR_SAVE_UNCHECKED, why), XIR_E_EXISTS);
    assert_int_equal(stat(raw, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_true(xir_str_equal(xir_network_text_of(net, XIR_TEXT_PARAMS_MD5), said));
    assert_int_equal(xir_diags_count(why), 4);
    xir_network_free(net);

    /* An invalid network is not saved unless that is requested; other names get ".raw" appended. */
    net = xir_network_new(*state, "no ops", XIR_FRAMEWORK_ONNX, "1");
    assert_int_not_equal(xir_json_raw_save(net, scratch("invalid"), NULL, 0, why), XIR_OK);
    assert_int_not_equal(access(scratch("invalid.raw"), F_OK), 0);
    assert_int_equal(xir_json_raw_save(net, scratch("invalid"), NULL, XIR_SAVE_UNCHECKED | XIR_SAVE_INDENT, NULL),
                     XIR_OK);
    assert_int_equal(access(scratch("invalid.raw"), F_OK), 0);
    assert_int_equal(xir_json_raw_save(net, scratch(".json"), NULL, XIR_SAVE_UNCHECKED, NULL), XIR_OK);
    assert_int_equal(access(scratch(".json.raw"), F_OK), 0);
    xir_network_free(net);
    xir_diags_free(why);
}

static const char *corpus(const char *name) {
    static char path[PATH_MAX];
    const char *top = getenv("XIR_CORPUS");
    if (!top || !*top) return NULL;
    snprintf(path, sizeof path, "%s/%s", top, name);
    return access(path, R_OK) == 0 ? path : NULL;
}

static void a_real_pair_comes_back_byte_for_byte(void **state) {
    const char *path = corpus("icraft/superpoint_test_softmax_BY.json");
    if (!path) SKIP("XIR_CORPUS has no icraft/superpoint_test_softmax_BY");
    char json[PATH_MAX], raw[PATH_MAX];
    snprintf(json, sizeof json, "%s", path);
    path = corpus("icraft/superpoint_test_softmax_BY.raw");
    if (!path) SKIP("XIR_CORPUS has no icraft/superpoint_test_softmax_BY");
    snprintf(raw, sizeof raw, "%s", path);
    size_t size, now_size;
    uint8_t *file = scratch_get(raw, &size);
    static const unsigned ways[] = { 0, XIR_LOAD_NO_MD5, XIR_LOAD_LAZY, XIR_LOAD_LAZY | XIR_LOAD_MD5 };
    for (size_t i = 0; i < COUNT(ways); i++) {
        xir_diags *why = xir_diags_new(*state);
        xir_network *net = xir_json_load(*state, json, why);
        if (!net) xir_diags_print(why, stderr);
        assert_non_null(net);
        if (xir_raw_load(net, raw, ways[i], why) != XIR_OK) xir_diags_print(why, stderr);
        assert_int_equal(xir_diags_count(why), 0);
        assert_int_equal(xir_network_params(net, NULL, 0), 36);
        assert_int_equal(xir_json_raw_save(net, scratch("real.json"), scratch("real.raw"), 0, why), XIR_OK);
        uint8_t *now = scratch_get(scratch("real.raw"), &now_size);
        assert_int_equal(now_size, size);
        assert_memory_equal(now, file, size);
        assert_true(xir_str_equal(xir_network_text_of(net, XIR_TEXT_PARAMS_MD5),
                                  XIR_STR("a186c770eeae98da638762f020f1fda4")));
        free(now);
        size_t text_size, now_text_size;
        uint8_t *text = scratch_get(json, &text_size), *now_text = scratch_get(scratch("real.json"), &now_text_size);
        assert_int_equal(text_size, now_text_size);
        assert_memory_equal(text, now_text, text_size);
        free(text);
        free(now_text);
        xir_network_free(net);
        xir_diags_free(why);
    }
    free(file);
}

GROUP {
    const struct CMUnitTest tests[] = {
        /* before the first use: afterwards MD5 is kept */
        cmocka_unit_test(without_md5_in_libcrypto_eager_loading_fails_with_a_finding),
        cmocka_unit_test(a_new_network_writes_its_params_in_the_order_of_the_walk),
        cmocka_unit_test(params_without_bytes_cannot_be_written),
        cmocka_unit_test(ids_of_more_than_32_bits_cannot_be_written),
        cmocka_unit_test(a_changed_type_is_noticed_before_anything_is_written),
        cmocka_unit_test(more_bytes_than_a_file_can_have_cannot_be_written),
        cmocka_unit_test(two_params_of_one_id_are_refused),
        cmocka_unit_test(a_callback_may_stop_at_any_byte),
        cmocka_unit_test(a_network_without_params_has_the_empty_digest_and_writes_a_header),
        cmocka_unit_test(orders_of_table_and_payloads_are_kept),
        cmocka_unit_test(new_params_come_after_the_loaded_ones),
        cmocka_unit_test(many_params_in_any_order_are_kept),
        cmocka_unit_test(the_md5_of_the_network_is_compared),
        cmocka_unit_test(loading_again_replaces_and_failing_does_not),
        cmocka_unit_test(a_pipe_is_loaded_eagerly_only),
        cmocka_unit_test(lazy_params_are_copied_when_written_or_asked_to),
        cmocka_unit_test(saving_over_the_mapped_file_keeps_the_network),
        cmocka_unit_test(a_clone_outlives_the_network_that_mapped),
        cmocka_unit_test(clones_in_threads_share_the_bytes),
        cmocka_unit_test(a_sparse_file_of_1_tib_opens_at_once),
        cmocka_unit_test(the_digest_is_that_of_the_file_that_would_be_written),
        cmocka_unit_test(params_bytes_that_contradict_the_file_are_a_warning),
        cmocka_unit_test(a_refused_allocation_changes_nothing),
        cmocka_unit_test(a_pair_is_saved_together_or_not_at_all),
        cmocka_unit_test(a_real_pair_comes_back_byte_for_byte),
    };
    return cmocka_run_group_tests_name("raw", tests, scratch_begin, scratch_end);
}
