/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* MessagePack against Python's msgpack: Python reads what XIR writes and finds what JSON and raw have, and XIR reads
 * what Python writes. Without that package the test is skipped. */
#include <sys/wait.h>
#include <xir/icraft.h>
#include "support/raw_net.h"
#include "support/msgpack_net.h"
#include "support/scratch.h"
#include "support/skips.h"

#define PYTHON "/usr/bin/python3"
enum { SKIPPED = 77, RANDOM = 60, WITH_BYTES = 20 };

static size_t n_networks;

static const char *path_of(size_t number, const char *suffix) {
    char name[64];
    snprintf(name, sizeof name, "%zu.%s", number, suffix);
    return scratch(name);
}

/* The next network of the folder. */
static void put_network(xir_network *net, bool with_raw) {
    xir_text_buffer json;
    assert_int_equal(xir_json_print(net, 0, &json), XIR_OK);
    scratch_put(path_of(n_networks, "json"), json.data, json.size);
    xir_text_free(&json);
    paper file = pack_net(net);
    scratch_put(path_of(n_networks, "imodel"), file.data, file.size);
    free(file.data);
    if (with_raw) {
        raw_memory raw = { 0 };
        assert_int_equal(xir_raw_write(net, raw_memory_write, &raw, why), XIR_OK);
        scratch_put(path_of(n_networks, "raw"), raw.data, raw.size);
        free(raw.data);
    }
    xir_network_free(net);
    n_networks++;
}

static void put_random(void) {
    paper p = random_network(10);
    put_network(must_read(p.data, p.size), false);
    free(p.data);
}

/* Params in random orders of payloads and table, sometimes the same. */
static void put_with_bytes(void) {
    enum { MOST = 12 };
    raw_param some[MOST];
    xir_value *values[MOST];
    size_t n = 1 + chance(MOST), order[2][MOST];
    for (size_t i = 0; i < n; i++)
        some[i] = (raw_param){ 1000 - 7 * (int64_t)i, chance(4) ? (int64_t)chance(400) : (int64_t)chance(100000) };
    xir_network *net = raw_network(ctx, some, n, chance(n + 1), values);
    for (size_t i = 0; i < n; i++) raw_fill(values[i]);
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < n; i++) order[k][i] = i;
        for (size_t i = n; i > 1 && chance(4); i--) {
            size_t j = chance(i), swap = order[k][i - 1];
            order[k][i - 1] = order[k][j];
            order[k][j] = swap;
        }
    }
    for (size_t i = 0; i < n; i++) {   /* as if they had been read in these orders */
        value_params(values[order[0][i]])->raw_index = (uint32_t)i;
        value_params(values[order[1][i]])->table_index = (uint32_t)i;
    }
    put_network(net, true);
}

static void put_real_files(void) {
    const char *corpus = getenv("XIR_CORPUS");
    if (!corpus) return;
    char path[4096], raw[4096];
    snprintf(path, sizeof path, "%s/icraft/superpoint_test_softmax_BY.json", corpus);
    snprintf(raw, sizeof raw, "%s/icraft/superpoint_test_softmax_BY.raw", corpus);
    xir_network *net = xir_json_load(ctx, path, why);
    assert_non_null(net);
    assert_int_equal(xir_raw_load(net, raw, 0, why), XIR_OK);
    put_network(net, true);
    snprintf(path, sizeof path, "%s/icraft/yolov5s_plin_352x640_ZG.json", corpus);
    net = xir_json_load(ctx, path, why);
    assert_non_null(net);
    put_network(net, false);
}

/* Python wrote what XIR wrote. */
static void check_other(size_t number) {
    size_t size = 0, json_size = 0, raw_size = 0;
    char *other = (char *)scratch_get(path_of(number, "other.imodel"), &size);
    char *json = (char *)scratch_get(path_of(number, "json"), &json_size);
    uint8_t *raw = scratch_get(path_of(number, "raw"), &raw_size);
    assert_non_null(other);
    xir_network *net = unpack_net(other, size);
    check_prints(net, 0, json, json_size);
    if (raw) {
        raw_memory written = { 0 };
        assert_int_equal(xir_raw_write(net, raw_memory_write, &written, why), XIR_OK);
        check_same((const char *)written.data, written.size, (const char *)raw, raw_size);
        free(written.data);
    }
    xir_network_free(net);
    free(raw);
    free(json);
    free(other);
}

static void python_and_xir_read_each_other(void **state) {
    (void)state;
    n_networks = 0;
    for (int i = 0; i < RANDOM; i++) put_random();
    for (int i = 0; i < WITH_BYTES; i++) put_with_bytes();
    put_real_files();
    char command[2 * PATH_MAX];
    snprintf(command, sizeof command, PYTHON " '" XIR_TEST_DATA "/serialize/msgpack/oracle.py' '%s' %zu",
             scratch_folder, n_networks);
    fflush(stdout);
    int status = access(PYTHON, X_OK) == 0 ? system(command) : SKIPPED << 8;
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
        SKIP("no " PYTHON " with python3-msgpack");
    }
    assert_int_equal(status, 0);
    for (size_t i = 0; i < n_networks; i++) check_other(i);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(python_and_xir_read_each_other) };
    scratch_make();
    return RUN_GROUP(tests);
}
