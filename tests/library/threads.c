/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Threads: different networks on one context, one network read by many threads, classes and types made by all at
 * once. An error shows as a result that differs from that of a single thread, or in ThreadSanitizer. */
#include <stdio.h>
#include <xir/icraft.h>
#include "support/crew.h"
#include "support/own.h"


/* ---- a context for all ------------------------------------------------------------------------------------------ */

/* The allocator counts too: every block is freed, by whichever thread. */
static atomic_size_t blocks_out, bytes_out;

static void *count(void *user, void *block, size_t old_size, size_t size) {
    (void)user;
    if (!block) atomic_fetch_add(&blocks_out, 1);
    atomic_fetch_add(&bytes_out, size - old_size);
    if (size) return realloc(block, size);
    if (block) atomic_fetch_sub(&blocks_out, 1);
    free(block);
    return NULL;
}

static xir_context *shared;

static xir_context *new_context(void) {
    xir_context *made = xir_context_new(&(xir_allocator){ count, NULL });
    assert_non_null(made);
    return made;
}

static int set_up(void **state) {
    (void)state;
    shared = new_context();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    xir_context_free(shared);
    if (blocks_out || bytes_out)
        print_error("%zu blocks of %zu bytes are left\n", (size_t)blocks_out, (size_t)bytes_out);
    return blocks_out || bytes_out ? -1 : 0;
}

enum { THREADS = 4 };

/* ---- networks of their own on one context ----------------------------------------------------------------------- */

static float number_of(size_t i) { return (float)i; }

/* A network of `n` blocks whose dims depend on `kind`. */
static xir_network *blocks(xir_context *with, int kind, int n) {
    xir_network *net = xir_network_new(with, "blocks", XIR_FRAMEWORK_PYTORCH, "v1.9");
    if (!net) return NULL;
    const xir_type *fp32 = xir_type_float(with, XIR_FLOAT_FP32);
    const xir_any kind_any = xir_any_int(kind);
    xir_at at = XIR_AT(net);
    int64_t c = 2 + kind;
    xir_value *x = xir_input(at, "in", XIR_TENSOR(with, fp32, "NHWC", 1, 16, 16, c));
    for (int i = 0; i < n; i++) {
        xir_value *w = xir_params_new(net, XIR_STR("w"), XIR_TENSOR(with, fp32, "HWIO", 3, 3, c, c));
        if (w) xir_params_fill_f32(w, number_of);
        xir_value *y = XIR_CONV2D(at, .input = x, .weights = w, .pad = 1);
        y = XIR_RELU(at, y);
        x = xir_build_add(at, x, y, 1, (double)i / 8, "sum");
        if (x) xir_op_set_tag(xir_value_op(x), XIR_STR("kind"), &kind_any);
    }
    xir_output(at, XIR_VALUES(x));
    return net;
}

typedef struct expected { xir_context *ctx; xir_text_buffer text[THREADS]; } expected;

static bool same_text(const xir_text_buffer *a, const xir_text_buffer *b) {
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static void build_print_read(int number, void *user) {
    expected *e = user;
    for (int round = 0; round < 20; round++) {
        int kind = (number + round) % THREADS;
        xir_network *net = blocks(e->ctx, kind, 6), *copy = net ? xir_network_clone(net) : NULL;
        xir_text_buffer text = { 0 }, again = { 0 };
        EXPECT(net && copy && xir_network_status(net) == XIR_OK);
        EXPECT(xir_network_validate(net, NULL) == XIR_OK);
        EXPECT(xir_network_infer(copy, NULL) == XIR_OK);
        EXPECT(xir_json_print(copy, 0, &text) == XIR_OK);
        EXPECT(same_text(&text, &e->text[kind]));
        xir_network *read = xir_json_read(e->ctx, (xir_str){ text.data, text.size }, XIR_STR("x"), NULL);
        EXPECT(read && xir_network_equal(net, read, false));
        EXPECT(broken_invariant(net, ASK_ALL) == NULL && read && broken_invariant(read, ASK_ALL) == NULL);
        xir_text_free(&text);
        xir_text_free(&again);
        xir_network_free(net);
        xir_network_free(read);
        xir_network_free(copy);
    }
}

static void each_builds_prints_and_reads(void **state) {
    (void)state;
    expected e = { .ctx = shared };
    for (int i = 0; i < THREADS; i++) {
        xir_network *net = blocks(shared, i, 6);
        assert_int_equal(xir_network_status(net), XIR_OK);
        assert_int_equal(xir_json_print(net, 0, &e.text[i]), XIR_OK);
        xir_network_free(net);
    }
    all_at_once(THREADS, build_print_read, &e);
    for (int i = 0; i < THREADS; i++) xir_text_free(&e.text[i]);
}

/* The last network, whichever thread frees it, frees the context too. */
static void build_and_free(int number, void *user) {
    xir_network **nets = user;
    xir_network *net = blocks(xir_network_context(nets[number]), number, 2);
    EXPECT(net != NULL);
    xir_network_free(nets[number]);
    xir_network_free(net);
}

static void the_last_network_frees_the_context(void **state) {
    (void)state;
    for (int round = 0; round < 20; round++) {
        xir_context *own = new_context();
        xir_network *nets[THREADS];
        for (int i = 0; i < THREADS; i++) nets[i] = blocks(own, i, 1);
        xir_context_free(own);
        all_at_once(THREADS, build_and_free, nets);
    }
}

/* ---- one network, many readers ---------------------------------------------------------------------------------- */

static bool every_third(const xir_op *op, void *user) {
    (void)user;
    return xir_op_id(op) % 3 == 0;
}

static void read_all(int number, void *user) {
    xir_network *net = user;
    int64_t n = (int64_t)xir_network_op_count(net);
    xir_value *some[64];
    xir_op *near[8];
    for (int64_t k = 0; k < n; k++) {
        int64_t i = (k * 7 + number) % n;
        xir_op *op = xir_network_op_at(net, i);
        EXPECT(op && xir_op_id(op) == i);
        if (!op) return;
        EXPECT(xir_network_index_of(net, op) == i);
        EXPECT(xir_network_op_by_id(net, i) == op);
        EXPECT(xir_op_output_count(op) == 0 || xir_network_value_by_id(net, xir_value_id(xir_op_output(op, 0))) == xir_op_output(op, 0));
        EXPECT(i == 0 || xir_op_before(xir_network_first(net), op));
        EXPECT(xir_op_producers(op, true, near, 8) <= 8 && xir_op_consumers(op, true, near, 8) <= 8);
        EXPECT(xir_op_structural_hash(op) == xir_op_structural_hash(op));
        EXPECT(xir_op_validate(op, NULL) == XIR_OK);
    }
    EXPECT(xir_network_op_by_name(net, XIR_STR("sum")) != NULL);
    EXPECT(xir_network_params(net, some, 64) == 12);
    EXPECT(xir_network_validate(net, NULL) == XIR_OK);
    EXPECT(xir_network_equal(net, net, true));
    xir_network *copy = xir_network_clone(net);
    EXPECT(copy && xir_network_equal(net, copy, true));
    xir_view *view = xir_view_if(net, every_third, NULL), *whole = xir_view_range(net, 0, INT64_MAX);
    EXPECT(view && whole && !xir_view_is_stale(view) && xir_view_op_count(whole) == (size_t)n);
    xir_text_buffer text = { 0 };
    EXPECT(xir_op_print(xir_network_first(net), 0, &text) == XIR_OK);
    xir_text_free(&text);
    xir_view_free(view);
    xir_view_free(whole);
    /* Bytes are shared with the source until they are written: both may happen at the same time. */
    if (copy && xir_network_params(copy, some, 64) == 12) {
        for (int i = 0; i < 12; i++) {
            float *mine = xir_params_edit(some[i]);
            EXPECT(mine && mine[1] == 1);
            if (mine) mine[1] = (float)number;
        }
    }
    xir_network_free(copy);
}

static void many_read_one(void **state) {
    (void)state;
    /* Each network is new: the first thread that needs its indexes makes them. */
    for (int round = 0; round < 20; round++) {
        xir_network *net = blocks(shared, round % 3, 12);
        assert_int_equal(xir_network_status(net), XIR_OK);
        all_at_once(THREADS, read_all, net);
        CHECK_SOUND(net);
        xir_network_free(net);
    }
}

static void print_it(int number, void *user) {
    xir_text_buffer text = { 0 };
    (void)number;
    EXPECT(xir_json_print(user, 0, &text) == XIR_OK);
    EXPECT(text.size > 1000);
    xir_text_free(&text);
}

static void many_print_one(void **state) {
    (void)state;
    for (int round = 0; round < 10; round++) {
        xir_network *net = blocks(shared, round % 3, 8);
        all_at_once(THREADS, print_it, net);
        xir_network_free(net);
    }
}

/* ---- one network with open dims ---------------------------------------------------------------------------------- */

/* x[batch, height, 2*width, 3] -> conv 3x3, stride 2 -> reshape [-1, 4]; after that, batch gets fewer values. */
static xir_network *open_net(xir_context *with) {
    static const char *const texts[] = { "batch", "height", "2*width", "3" };
    xir_str dims[COUNT(texts)];
    for (size_t i = 0; i < COUNT(texts); i++) dims[i] = xir_str_of(texts[i]);
    xir_network *net = xir_network_new(with, "open", XIR_FRAMEWORK_PYTORCH, "v1.9");
    const xir_type *fp32 = xir_type_float(with, XIR_FLOAT_FP32), *like = XIR_TENSOR(with, fp32, "NHWC", 1, 1, 1, 1);
    xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", xir_network_type_with_dims(net, like, dims, COUNT(texts), NULL));
    xir_value *w = xir_params_new(net, XIR_STR("w"), XIR_TENSOR(with, fp32, "HWIO", 3, 3, 3, 4));
    xir_value *y = XIR_CONV2D(at, .input = x, .weights = w, .stride = 2, .pad = 1);
    y = XIR_RESHAPE(at, y, "**", -1, 4);
    y = xir_build_add(at, y, y, 1, 1, "sum");
    xir_output(at, XIR_VALUES(y));
    xir_network_declare_symbol(net, XIR_STR("batch"), 2, 9, NULL);
    return net;
}

static void ask_about_dims(int number, void *user) {
    xir_network *net = user;
    const xir_op *op = xir_network_first(net);
    xir_numbers of_x = XIR_INIT(xir_numbers);
    (void)number;
    EXPECT(xir_network_validate(net, NULL) == XIR_OK);
    EXPECT(xir_network_input_numbers(net, &of_x, 1, NULL) == XIR_OK);
    for (; op; op = xir_op_next(op)) {
        xir_work work = XIR_INIT(xir_work);
        xir_status status = xir_op_work(op, &work, NULL);
        EXPECT(xir_op_validate(op, NULL) == XIR_OK && (status == XIR_OK || status == XIR_E_BOUNDS));
    }
    xir_network *copy = xir_network_clone(net);
    EXPECT(copy && xir_network_equal(net, copy, true) && xir_network_infer(copy, NULL) == XIR_OK);
    xir_network_free(copy);
    print_it(number, net);
}

static void many_ask_about_open_dims(void **state) {
    (void)state;
    for (int round = 0; round < 10; round++) {
        xir_network *net = open_net(shared);
        assert_int_equal(xir_network_status(net), XIR_OK);
        all_at_once(THREADS, ask_about_dims, net);
        xir_network_free(net);
    }
}

/* ---- one context ------------------------------------------------------------------------------------------------ */

typedef struct made { xir_context *ctx; const xir_type *types[THREADS][200]; } made;

static void make_types(int number, void *user) {
    made *m = user;
    for (int64_t i = 0; i < 200; i++) {
        const double scale[] = { 0.5, (double)i };
        const xir_type *element = xir_type_sint(m->ctx, 1 + i % 40);
        if (i % 3 == 0) element = xir_type_normalized_quantized(
            m->ctx, xir_type_normalized(m->ctx, xir_norm_ratios_from(m->ctx, scale, 2, -1), element, NULL),
                                                                xir_scales_from(m->ctx, scale, 2, -1), NULL, 0);
        m->types[number][i] = XIR_TENSOR(m->ctx, element, i % 2 ? "N*" : "NC", i + 1, 2);
        EXPECT(m->types[number][i] != NULL);
    }
}

static void equal_types_of_all_threads_are_one(void **state) {
    (void)state;
    for (int round = 0; round < 5; round++) {
        static made m;
        m.ctx = new_context();
        all_at_once(THREADS, make_types, &m);
        for (int i = 1; i < THREADS; i++) assert_memory_equal(m.types[i], m.types[0], sizeof m.types[0]);
        xir_context_free(m.ctx);
    }
}

static void register_and_use(int number, void *user) {
    xir_context *own = user;
    const xir_class_decl *const all[] = { xir_own_thing_class(), xir_own_grain_class(), xir_own_box_class(),
                                          xir_own_mix_class(), xir_own_tap_class() };
    for (size_t i = 0; i < COUNT(all); i++) EXPECT(xir_class_register(own, all[i], NULL) == XIR_OK);
    EXPECT(xir_class_find(own, XIR_STR("test::OldBox")) == xir_class_find_decl(own, xir_own_box_class()));
    for (size_t i = 0; xir_context_class_at(own, i); i++) EXPECT(xir_class_key(xir_context_class_at(own, i)).size > 0);
    /* Unknown classes are made on the way. */
    char json[100];
    for (int i = 0; i < 40; i++) {
        snprintf(json, sizeof json, "{\"_type_key\":\"strange::Thing%d\",\"a\":1}", (i + number) % 50);
        EXPECT(xir_object_parse(own, xir_str_of(json), NULL) != NULL);
    }
}

static void classes_are_registered_once(void **state) {
    (void)state;
    for (int round = 0; round < 20; round++) {
        xir_context *own = new_context();
        size_t before = 0, after = 0;
        while (xir_context_class_at(own, before)) before++;
        all_at_once(THREADS, register_and_use, own);
        while (xir_context_class_at(own, after)) after++;
        assert_int_equal(after, before + 5);
        xir_context_free(own);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_builds_prints_and_reads),
        cmocka_unit_test(the_last_network_frees_the_context),
        cmocka_unit_test(many_read_one),
        cmocka_unit_test(many_print_one), cmocka_unit_test(many_ask_about_open_dims),
        cmocka_unit_test(equal_types_of_all_threads_are_one),
        cmocka_unit_test(classes_are_registered_once),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
