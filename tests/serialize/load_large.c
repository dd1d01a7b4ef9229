/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Large mapped files: opening one touches no parameter, touching one parameter reads its pages and few others, and the
 * memory of the process does not depend on the size of the file. Measured in pages, not in time. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "support/load_net.h"
#include "support/skips.h"

enum { OPS = 100, KERNEL = 3200 };   /* a chain of ops, each with KERNEL * KERNEL floats: 4 GB in all */

/* Resident pages of this process, in bytes. */
static size_t resident(void) {
    size_t pages = 0, own = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%zu %zu", &pages, &own) != 2) own = 0;
    if (f) fclose(f);
    return own * (size_t)sysconf(_SC_PAGESIZE);
}

/* The growth of this process. */
static size_t growth(size_t before) {
    size_t now = resident();
    return now > before ? now - before : 0;
}

/* in(1 n) times OPS weights of n x n. */
static xir_network *chain(int64_t n) {
    xir_network *net = new_net();
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "in", FP32("**", 1, n));
    for (int i = 0; i < OPS; i++) {
        char called[16];
        snprintf(called, sizeof called, "w%d", i);
        xir_value *w = xir_params_new(net, xir_str_of(called), FP32("**", n, n));
        xir_at here = at;
        here.name = xir_str_of(called);
        x = XIR_OP(here, matmul, .x = x, .k = w);
    }
    xir_output(at, XIR_VALUES(x));
    if (xir_network_status(net)) xir_diags_print(xir_network_diags(net), stderr);
    assert_int_equal(xir_network_status(net), XIR_OK);
    return net;
}

/* A raw file of the network whose payloads are a hole. False if the file system does not support holes. */
static bool put_sparse_raw(const char *path, const xir_network *net, uint64_t each) {
    xir_value *list[OPS];
    uint8_t head[16 + 12 * OPS];
    assert_int_equal(xir_network_params(net, list, OPS), OPS);
    raw_put_header(head, OPS);
    for (size_t i = 0; i < OPS; i++) raw_put_entry(head, i, (int32_t)xir_value_id(list[i]), sizeof head + i * each);
    scratch_put(path, head, sizeof head);
    return truncate(path, (off_t)(sizeof head + OPS * each)) == 0;
}

/* The number of resident pages of a piece of memory. */
static size_t resident_pages(const void *data, uint64_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), resident = 0;
    uintptr_t begin = (uintptr_t)data & ~(page - 1), end = ((uintptr_t)data + size + page - 1) & ~(page - 1);
    unsigned char *list = malloc((end - begin) / page);
    assert_non_null(list);
    assert_int_equal(mincore((void *)begin, end - begin, list), 0);
    for (size_t i = 0; i < (end - begin) / page; i++) resident += list[i] & 1;
    free(list);
    return resident;
}

/* The bytes of all Params except one, in resident pages. */
static size_t pages_of_others(const xir_network *net, const xir_value *but) {
    xir_value *list[OPS];
    size_t n = xir_network_params(net, list, OPS), resident = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t size;
        const void *data = xir_params_data(list[i], &size);
        if (list[i] != but) resident += resident_pages(data, size);
    }
    return resident;
}

static void opening_4_gb_takes_no_memory(void **state) {
    (void)state;
    const char *json = scratch("large.json"), *raw = scratch("large.raw");
    const uint64_t each = (uint64_t)KERNEL * KERNEL * 4;
    xir_network *net = chain(KERNEL);
    assert_int_equal(xir_network_save(net, json, NULL, why), XIR_OK);
    bool sparse = put_sparse_raw(raw, net, each);
    xir_network_free(net);
    if (!sparse) {
        SKIP("no sparse files of %llu bytes: %s", (unsigned long long)(OPS * each), strerror(errno));
    }
    const xir_verify levels[] = { XIR_VERIFY_DEFAULT, XIR_VERIFY_NEVER, XIR_VERIFY_ON_TOUCH };
    for (size_t i = 0; i < COUNT(levels); i++) {
        size_t before = resident();
        xir_network *lazy = xir_network_load(ctx, json, &XIR_INIT(xir_load_options, .lazy = true, .verify = levels[i]),
                                             why);
        if (!lazy && memmem(xir_diags_at(why, 0)->message.data, xir_diags_at(why, 0)->message.size, "cannot map", 10)) {
            xir_diags_clear(why);
            unlink(raw);
            SKIP("4 GB cannot be mapped: a limit on address space");
        }
        if (!lazy) xir_diags_print(why, stderr);
        assert_non_null(lazy);
        assert_int_equal(xir_diags_count(why), 0);
        assert_in_range(growth(before), 0, 16 << 20);
        /* No page of a hole is in the page cache before it is read. The page with the end of the table is. */
        xir_value *list[OPS];
        assert_int_equal(xir_network_params(lazy, list, OPS), OPS);
        uint64_t size;
        const uint8_t *middle = xir_params_data(list[50], &size);
        assert_int_equal(size, each);
        assert_int_equal(middle[size / 2], 0);
        assert_true(resident_pages(middle + size / 2, 1) == 1);
        assert_in_range(growth(before), 0, 16 << 20);
        /* what the kernel reads ahead of the table */
        if (i == 0) assert_in_range(pages_of_others(lazy, list[50]), 0, 600);
        xir_network_free(lazy);
    }
    unlink(raw);
}

/* The same for files with parameters inside, of 64 MB. */
static void parameters_inside_are_not_touched(void **state) {
    (void)state;
    enum { SMALL = 400 };
    xir_format_info f;
    const uint64_t each = (uint64_t)SMALL * SMALL * 4;
    xir_network *net = chain(SMALL);
    xir_value *list[OPS];
    assert_int_equal(xir_network_params(net, list, OPS), OPS);
    uint8_t *bytes = calloc(1, each);
    assert_non_null(bytes);
    for (size_t i = 0; i < OPS; i++) assert_int_equal(xir_params_set_borrow(list[i], bytes, each, NULL, NULL), XIR_OK);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        if (load_is_pair(&f)) continue;
        const char *path = load_path("inside", &f);
        load_save(net, path, &f);
        size_t before = resident();
        xir_network *lazy = load_must(path, &XIR_INIT(xir_load_options, .lazy = true));
        assert_in_range(growth(before), 0, 16 << 20);
        xir_network_free(lazy);
        unlink(path);
    }
    xir_network_free(net);
    free(bytes);
}

#define STORY(f) cmocka_unit_test(f)

GROUP {
    scratch_make();
    const struct CMUnitTest tests[] = {
        STORY(opening_4_gb_takes_no_memory),
        STORY(parameters_inside_are_not_touched),
    };
    return RUN_GROUP(tests);
}
