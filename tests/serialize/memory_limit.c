/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The limit of the memory that reading holds (xir_limits.max_read_memory): what exceeds it is refused in every format,
 * with one finding that says so; nothing is left, and the limit does not outlast the call. 16 bytes for each byte of
 * the file are always allowed: where records are not smaller than that, a file is read whatever its size. */
#include <xir/icraft.h>
#include "support/net.h"
#include "support/raw_net.h"
#include "support/scratch.h"
#include "support/weigh.h"

/* ---- files of many small things --------------------------------------------------------------------------------- */

typedef struct text { char *data; size_t size, room; } text;

static void put(text *t, const void *bytes, size_t size) {
    if (t->size + size > t->room) t->data = realloc(t->data, t->room = 2 * (t->size + size) + 4096);
    memcpy(t->data + t->size, bytes, size);
    t->size += size;
}
#define PUT(t, literal) put(t, literal, sizeof(literal) - 1)

static void put_word(text *t, uint32_t v) {
    const uint8_t p[] = { (uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24) };
    put(t, p, sizeof p);
}

/* Absent inputs of a single op. */
static void put_imodel(text *t, size_t n) {
    const char count[] = { (char)(n >> 24), (char)(n >> 16), (char)(n >> 8), (char)n };
    PUT(t, "\x82\xA9_type_key\xB4icraft::xir::Network\xA3ops\x91\x84\xA9_type_key\xA1" "c\xA7outputs\x90\xA5op_id\1"
           "\xA6inputs\xDD");
    put(t, count, sizeof count);
    for (size_t i = 0; i < n; i++) PUT(t, "\xC0");
}

/* Nodes without inputs and outputs. */
static void put_onnx(text *t, size_t n) {
    text graph = { NULL, 0, 0 };
    for (size_t i = 0; i < n; i++) PUT(&graph, "\n\3\"\1A");
    PUT(t, "\x08\x09\x42\4\n\0\x10\x11\x3A");
    for (size_t size = graph.size; ; size >>= 7) {
        const char byte = (char)((size & 127) | (size > 127 ? 128 : 0));
        put(t, &byte, 1);
        if (size <= 127) break;
    }
    put(t, graph.data, graph.size);
    free(graph.data);
}

/* Operators of a class each. */
static void put_pnnx(text *t, size_t n) {
    char line[40];
    put(t, line, (size_t)snprintf(line, sizeof line, "7767517\n%zu 0\n", n));
    for (size_t i = 0; i < n; i++) put(t, line, (size_t)snprintf(line, sizeof line, "F.%zx b 0 0\n", i));
}

static void put_deepx(text *t, size_t n) {
    for (size_t i = 0; i < n; i++) PUT(t, "f a->b\n");
}

/* Functions with a record each. */
static void put_nnb(text *t, size_t n) {
    const uint32_t all = (uint32_t)n, data = 4 + 20 + 4 + 24 * all + 4 * all;
    const uint32_t head[14] = { 3, 44, 1, 0, 1, 2, all, all + 3, 1, 0, 0, 0, all + 4, data };
    for (size_t i = 0; i < 14; i++) put_word(t, head[i]);
    put_word(t, 0);
    put_word(t, 4);
    put_word(t, 24);
    for (uint32_t i = 0; i <= all; i++) put_word(t, 28 + 24 * i);
    put_word(t, 0);                                   /* the sizes of buffers, the inputs, and an empty list */
    const uint32_t variable[5] = { 0, 0, 0, 0, UINT32_MAX };
    for (size_t i = 0; i < 5; i++) put_word(t, variable[i]);
    put_word(t, 1);                                   /* the variables */
    for (uint32_t i = 0; i < all; i++) {
        const uint32_t record[6] = { 15, 0, 0, 0, 0, 0 };
        for (size_t k = 0; k < 6; k++) put_word(t, record[k]);
    }
    for (uint32_t i = 0; i < all; i++) put_word(t, 3 + i);
}

static void put_tsm_text(text *t, const char *name, const char *words) {
    put_word(t, (uint32_t)strlen(name));
    put(t, name, strlen(name));
    put_word(t, 1);
    PUT(t, "\x0D");
    put_word(t, 1);
    put_word(t, (uint32_t)strlen(words));
    put(t, words, strlen(words));
}

static void put_tsm(text *t, size_t n) {
    put_word(t, 0);
    put_word(t, 0x19910929);
    for (size_t i = 0; i < 30 + 2; i++) put_word(t, 0);
    put_word(t, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        put_word(t, 2);
        put_tsm_text(t, "#name", "");
        put_tsm_text(t, "#op", "r");
        put_word(t, 0);
    }
}

/* Ops of which the tables have an id alone. `n`: a multiple of 8. */
static void put_fb(text *t, size_t n) {
    const uint32_t all = (uint32_t)n, types = 40;
    put_word(t, 28);
    const uint16_t slots[12] = { 24, 12, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8 };   /* of the network, at 4 */
    put(t, slots, sizeof slots);
    put_word(t, 24);
    put_word(t, types - 32);
    put_word(t, types + 4 + all - 36);
    put_word(t, all);
    for (size_t i = 0; i < all; i++) PUT(t, "\3");
    put_word(t, all);
    for (uint32_t i = 0; i < all; i++) put_word(t, 4 * (all - i) + 12 + 16 * i);
    PUT(t, "\6\0\x0C\0\4\0\0\0\0\0\0\0");
    for (uint32_t i = 0; i < all; i++) {
        put_word(t, 12 + 16 * i);
        put_word(t, i);
        put_word(t, 0);
        put_word(t, 0);
    }
}

/* ---- reading them ----------------------------------------------------------------------------------------------- */

enum { LITTLE = 1 << 20, REPORT = 1 << 20, TIMES = 16 };

/* Nothing in JSON takes more than 16 times its text. */
static const struct row {
    const char *format;
    bool        refused;
    size_t      few, many;
    void      (*put)(text *t, size_t n);
} formats[] = {
    { "imodel", true,  24, 200000, put_imodel },
    { "fb",     false, 24,  20000, put_fb     },
    { "onnx",   true,  24,  20000, put_onnx   },
    { "pnnx",   true,  24,  20000, put_pnnx   },
    { "nnb",    true,  24,  20000, put_nnb    },
    { "tsm",    false, 24,  20000, put_tsm    },
    { "deepx",  true,  24,  40000, put_deepx  },
};

static void check_refusal(const xir_diags *found) {
    if (xir_diags_count(found) != 1 || xir_diags_at(found, 0)->code != XIR_E_LIMIT) xir_diags_print(found, stderr);
    assert_int_equal(xir_diags_count(found), 1);
    assert_int_equal(xir_diags_at(found, 0)->code, XIR_E_LIMIT);
    assert_true(xir_str_equal(xir_diags_at(found, 0)->file, XIR_STR("many")));
    assert_non_null(strstr(xir_diags_at(found, 0)->message.data, "bytes of memory are needed: the limit is "));
}

static void files_of_many_small_things(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(formats); i++) {
        const xir_allocator alloc = { weigh, NULL };
        xir_context *own = xir_context_new(&alloc);
        xir_diags *found = xir_diags_new(own);
        text t = { NULL, 0, 0 };
        formats[i].put(&t, formats[i].many);
        const xir_load_options as = XIR_INIT(xir_load_options, .format = formats[i].format);
        DOES(xir_context_set_limits(own, &XIR_INIT(xir_limits, .max_read_memory = LITTLE), found));
        const size_t before = most_held = held;
        xir_network *net = xir_network_read(own, t.data, t.size, XIR_STR("many"), &as, found);
        if (!net != formats[i].refused)
            fail_msg("%s of %zu bytes is %s", formats[i].format, t.size, net ? "accepted" : "refused");
        if (!net) check_refusal(found);
        if (most_held - before > LITTLE + REPORT + TIMES * t.size)
            fail_msg("%s of %zu bytes took %zu bytes", formats[i].format, t.size, most_held - before);
        xir_network_free(net);
        xir_diags_clear(found);

        /* few things are read, and with the default many are; without a limit there are no findings */
        t.size = 0;
        formats[i].put(&t, formats[i].few);
        net = xir_network_read(own, t.data, t.size, XIR_STR("few"), &as, found);
        if (!net) xir_diags_print(found, stderr);
        assert_non_null(net);
        xir_network_free(net);
        t.size = 0;
        formats[i].put(&t, formats[i].many);
        DOES(xir_context_set_limits(own, &XIR_INIT(xir_limits, .max_read_memory = 64 << 20), found));
        net = xir_network_read(own, t.data, t.size, XIR_STR("many"), &as, found);
        if (!net) xir_diags_print(found, stderr);
        assert_non_null(net);
        xir_network_free(net);
        xir_diags_free(found);
        xir_context_free(own);
        assert_int_equal(held, 0);
        free(t.data);
    }
}

/* A file of many small parameters, for a network that is in memory already. */
static void many_small_parameters(void **state) {
    (void)state;
    enum { N = 40000 };
    static raw_param wanted[N];
    static xir_value *values[N];
    for (int i = 0; i < N; i++) wanted[i] = (raw_param){ i + 3, 1 };
    xir_network *net = raw_network(ctx, wanted, N, 2, values);
    for (int i = 0; i < N; i++) raw_fill(values[i]);
    DOES(xir_raw_save(net, scratch("many.raw"), why));
    xir_limits old = XIR_INIT(xir_limits);
    DOES(xir_context_limits(ctx, &old, why));
    DOES(xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_read_memory = LITTLE), why));
    for (int lazy = 0; lazy < 2; lazy++) {
        const xir_load_options how = XIR_INIT(xir_load_options, .format = "json", .lazy = lazy);
        DOES(xir_network_load_params(net, scratch("many.raw"), &how, why));
        assert_true(raw_is_filled(values[N - 1]));
    }
    DOES(xir_context_set_limits(ctx, &old, why));
    xir_network_free(net);
}

GROUP {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_many_small_things),
        cmocka_unit_test(many_small_parameters),
    };
    scratch_make();
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
