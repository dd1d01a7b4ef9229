/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The memory that files of tiny classless values take: one value is 24 bytes, or 40 in a map, and may be a single
 * byte of a file. The size of the file bounds the reader's memory at any time; a file that would break the bound is
 * refused. */
#include "support/net.h"
#include "support/weigh.h"

/* ---- files ------------------------------------------------------------------------------------------------------ */

typedef struct text { char *data; size_t size; } text;

static void put(text *t, const char *bytes, size_t size) {
    memcpy(t->data + t->size, bytes, size);
    t->size += size;
}

#define PUT(t, literal) put(t, literal, sizeof(literal) - 1)

/* A list of `n` times the same item, in the tags of a network without ops. */
static text in_json(const char *item, size_t n) {
    size_t size = strlen(item);
    text t = { malloc(200 + n * (size + 1)), 0 };
    PUT(&t, "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[],\"tags\":{\"a\":[");
    for (size_t i = 0; i < n; i++) {
        if (i) PUT(&t, ",");
        put(&t, item, size);
    }
    PUT(&t, "]}}");
    return t;
}

static void put_count(text *t, char head, size_t n) {
    const char bytes[] = { head, (char)(n >> 24), (char)(n >> 16), (char)(n >> 8), (char)n };
    put(t, bytes, sizeof bytes);
}

static text in_msgpack(const char *item, size_t size, size_t n) {
    text t = { malloc(200 + n * size), 0 };
    PUT(&t, "\x83\xA9_type_key\xB4icraft::xir::Network\xA3ops\x90\xA4tags\x81\xA1" "a");
    put_count(&t, '\xDD', n);
    for (size_t i = 0; i < n; i++) put(&t, item, size);
    return t;
}

/* Undeclared keys, one in each op. */
static text ops_in_msgpack(size_t n) {
    text t = { malloc(200 + n * 60), 0 };
    PUT(&t, "\x82\xA9_type_key\xB4icraft::xir::Network\xA3ops");
    put_count(&t, '\xDD', n);
    for (size_t i = 0; i < n; i++) {
        PUT(&t, "\x86\xA9_type_key\xA1" "c\xA6inputs\x90\xA7outputs\x90\xA1x\xC0\xA1y\x80\xA5op_id");
        put_count(&t, '\xCE', i);
    }
    return t;
}

/* Ops of as many classes that nobody registered. */
static text classes_in_msgpack(size_t n) {
    text t = { malloc(200 + n * 60), 0 };
    PUT(&t, "\x82\xA9_type_key\xB4icraft::xir::Network\xA3ops");
    put_count(&t, '\xDD', n);
    for (size_t i = 0; i < n; i++) {
        char key[24];
        snprintf(key, sizeof key, "\xA8%08zx", i);
        PUT(&t, "\x84\xA9_type_key");
        put(&t, key, 9);
        PUT(&t, "\xA6inputs\x90\xA7outputs\x90\xA5op_id");
        put_count(&t, '\xCE', i);
    }
    return t;
}

/* ---- reading them ----------------------------------------------------------------------------------------------- */

enum { FREE = 64 << 20 };

static void read_within(const char *format, text t, size_t times, bool fits) {
    const xir_allocator alloc = { weigh, NULL };
    xir_context *own = xir_context_new(&alloc);
    xir_diags *found = xir_diags_new(own);
    most_held = held;
    const size_t before = held;
    xir_network *net = xir_network_read(own, t.data, t.size, XIR_STR("tiny"),
                                        &XIR_INIT(xir_load_options, .format = format), found);
    if (fits && !net) xir_diags_print(found, stderr);
    if (fits != (net != NULL)) fail_msg("%s of %zu bytes %s", format, t.size, fits ? "is refused" : "is accepted");
    if (!fits) {
        assert_int_equal(xir_diags_at(found, 0)->code, XIR_E_LIMIT);
        assert_true(xir_str_equal(xir_diags_at(found, 0)->message,
            XIR_STR("more values without a class than the limit of 1000000 and the size of the input allow")));
    }
    if (most_held - before > FREE + times * t.size) {
        fail_msg("%s of %zu bytes took %zu bytes, which is more than 64 MiB plus %zu times its size", format, t.size,
                 most_held - before, times);
    }
    xir_network_free(net);
    xir_diags_free(found);
    xir_context_free(own);
    assert_int_equal(held, 0);
    free(t.data);
}

enum { BINARY = 2, TEXT = 16, MANY = 3000000 };

static void tiny_values_of_messagepack(void **state) {
    (void)state;
    read_within("imodel", in_msgpack("\xC0", 1, MANY), BINARY, false);
    read_within("imodel", in_msgpack("\xC0", 1, MANY / 3), BINARY, true);
    read_within("imodel", in_msgpack("\x80", 1, MANY), BINARY, false);
    read_within("imodel", in_msgpack("\x81\xA0\xC0", 3, MANY / 3), BINARY, false);
    read_within("imodel", in_msgpack("\x81\xA0\xC0", 3, MANY / 12), BINARY, true);
    read_within("imodel", in_msgpack("\xCB\0\0\0\0\0\0\0\0", 9, MANY / 3), BINARY, true);   /* typical numbers */
}

static void tiny_values_of_json(void **state) {
    (void)state;
    read_within("json", in_json("1", MANY / 2), TEXT, true);
    read_within("json", in_json("{}", MANY / 6 * 5), TEXT, true);
    read_within("json", in_json("1", 2 * MANY), TEXT, false);
    read_within("json", in_json("{\"\":0}", MANY / 6), TEXT, true);
}

static void undeclared_keys(void **state) {
    (void)state;
    read_within("imodel", ops_in_msgpack(70000), BINARY, true);
}

static void classes_that_nobody_registered(void **state) {
    (void)state;
    read_within("imodel", classes_in_msgpack(75000), BINARY, true);
    read_within("imodel", classes_in_msgpack(100000), BINARY, true);
}

/* Nothing is to be inferred, moved or converted in ops of such classes, so that no list of them is made. */
static void ops_of_such_classes(void **state) {
    (void)state;
    enum { LITTLE = 1 << 20 };
    const xir_allocator alloc = { weigh, NULL };
    xir_context *own = xir_context_new(&alloc);
    const text t = classes_in_msgpack(75000);
    xir_network *net = xir_network_read(own, t.data, t.size, XIR_STR("tiny"),
                                        &XIR_INIT(xir_load_options, .format = "imodel"), NULL);
    const size_t before = most_held = held;
    assert_int_equal(xir_network_validate(net, NULL), XIR_OK);
    assert_in_range(most_held - before, 0, LITTLE);
    assert_int_equal(xir_pass_run(net, "layout", NULL, NULL, NULL), XIR_OK);
    assert_in_range(most_held - before, 0, LITTLE);
    assert_int_equal(xir_pass_run(net, "to-xir", NULL, NULL, NULL), XIR_OK);
    assert_in_range(most_held - before, 0, LITTLE);
    xir_network_free(net);
    xir_context_free(own);
    free(t.data);
}

static void the_limit_can_be_set(void **state) {
    (void)state;
    const text t = in_json("1", 12);
    const xir_str json = { t.data, t.size };
    xir_limits usual = XIR_INIT(xir_limits);
    assert_int_equal(xir_context_limits(ctx, &usual, why), XIR_OK);
    assert_int_equal(usual.max_values, 1000000);
    for (uint64_t most = 1; most < 20; most++) {
        xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_values = most), why);
        xir_network *net = xir_json_read(ctx, json, XIR_STR("n.json"), why);
        assert_int_equal(net != NULL, most + json.size / 3 >= 15);   /* the tag is two and one, the list holds 12 */
        xir_diags_clear(why);
        xir_network_free(net);
    }
    xir_context_set_limits(ctx, &usual, why);
    free(t.data);
}

#define STORY(f) cmocka_unit_test_teardown(f, clean)

static int clean(void **state) {
    (void)state;
    xir_diags_clear(why);
    return 0;
}

GROUP {
    static const struct CMUnitTest tests[] = {
        STORY(tiny_values_of_messagepack),
        STORY(tiny_values_of_json),
        STORY(undeclared_keys),
        STORY(classes_that_nobody_registered),
        STORY(ops_of_such_classes),
        STORY(the_limit_can_be_set),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
