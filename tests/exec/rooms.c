/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory that a run uses again: what is kept and what is in use never exceed the most that was in use at one moment,
 * nothing is lost where memory runs out, and a run of equal layers takes the memory of two. */
#include <stdio.h>
#include <stdlib.h>
#include <xir/exec.h>
#include "rooms.h"
#include "support/net.h"
#include "support/story.h"

/* An allocator that counts bytes, and large blocks that it has made. It refuses after a number of calls, and more bytes
 * than there may be. */
typedef struct counted {
    size_t there, most, large, refuse;   /* refuse: calls until then; 0: never */
    size_t limit;                        /* of bytes; 0: none                  */
} counted;

static void *resize(void *user, void *block, size_t old_size, size_t size) {
    counted *c = user;
    if (size > old_size && c->refuse && --c->refuse == 0) {
        c->refuse = 1;
        return NULL;
    }
    if (size > old_size && c->limit && c->there + (size - old_size) > c->limit) return NULL;
    if (size >= 1 << 15 && !block) c->large++;
    c->there += size - old_size;
    if (c->there > c->most) c->most = c->there;
    if (size) return realloc(block, size);
    free(block);
    return NULL;
}

enum { SLOTS = 12 };

static size_t size_of(size_t n) { return (size_t)40000 + n * 7000; }

static void what_is_kept_never_adds_to_the_peak(void **state) {
    (void)state;
    counted c = { 0 };
    const xir_allocator alloc = { .resize = resize, .user = &c };
    rooms r;
    rooms_open(&r, &alloc, NULL);
    struct { void *block; size_t size; bool is_blob; } slots[SLOTS] = { { NULL, 0, false } };
    size_t used = 0, most = 0, blobs = 0;
    for (int step = 0; step < 20000; step++) {
        const size_t i = chance(SLOTS);
        if (!slots[i].block) {
            slots[i].size = chance(5) ? size_of(chance(6)) : chance(1000);
            slots[i].is_blob = chance(2);
            slots[i].block = slots[i].is_blob ? (void *)rooms_take_blob(&r, &alloc, slots[i].size)
                             : rooms_take(&r, &alloc, slots[i].size);
            assert_non_null(slots[i].block);
            if (slots[i].is_blob) assert_true(((blob *)slots[i].block)->size == slots[i].size);
            memset(slots[i].is_blob ? (void *)(uintptr_t)((blob *)slots[i].block)->bytes : slots[i].block, 7,
                   slots[i].size);
            used += slots[i].size;
        } else {
            if (slots[i].is_blob) rooms_give_blob(&r, slots[i].block);
            else rooms_give(&r, &alloc, slots[i].block, slots[i].size);
            used -= slots[i].size;
            slots[i].block = NULL;
        }
        if (used > most) most = used;
        blobs = (size_t)(SLOTS + MOST_ROOMS) * (sizeof(blob) + 16);
        if (c.there > most + blobs) fail_msg("step %d: %zu bytes exist, at most %zu were used", step, c.there, most);
        assert_true(r.n <= MOST_ROOMS);
    }
    assert_true(c.large < 6000);   /* of some 8000 large blocks */
    for (size_t i = 0; i < SLOTS; i++) {
        if (!slots[i].block) continue;
        if (slots[i].is_blob) blob_release(slots[i].block);
        else mem_free(&alloc, slots[i].block, slots[i].size);
    }
    rooms_close(&r);
    assert_int_equal(c.there, 0);
}

static void a_block_comes_back(void **state) {
    (void)state;
    counted c = { 0 };
    const xir_allocator alloc = { .resize = resize, .user = &c };
    rooms r;
    rooms_open(&r, &alloc, NULL);
    void *block = rooms_take(&r, &alloc, 100000);
    blob *data = rooms_take_blob(&r, &alloc, 100000);
    rooms_give(&r, &alloc, block, 100000);
    rooms_give_blob(&r, data);
    assert_int_equal(c.large, 2);
    assert_ptr_equal(rooms_take_blob(&r, &alloc, 100000), data);
    assert_ptr_equal(rooms_take(&r, &alloc, 100000), block);
    assert_int_equal(c.large, 2);
    /* Bytes that others hold too are theirs. */
    blob_retain(data);
    rooms_give_blob(&r, data);
    blob *other = rooms_take_blob(&r, &alloc, 100000);
    assert_ptr_not_equal(other, data);
    blob_release(data);
    rooms_give_blob(&r, other);
    rooms_give(&r, &alloc, block, 100000);
    rooms_close(&r);
    assert_int_equal(c.there, 0);
}

static void what_is_refused_changes_nothing(void **state) {
    (void)state;
    counted c = { .refuse = 1 };
    const xir_allocator alloc = { .resize = resize, .user = &c };
    rooms r;
    rooms_open(&r, &alloc, NULL);
    assert_null(rooms_take(&r, &alloc, 100000));
    assert_null(rooms_take_blob(&r, &alloc, 100000));
    assert_null(rooms_take_blob(&r, &alloc, UINT64_MAX));
    assert_int_equal(r.used, 0);
    assert_int_equal(r.most, 0);
    rooms_close(&r);
    assert_int_equal(c.there, 0);
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static void greatest(void *user, const xir_op *op, const xir_run_memory *now) {
    uint64_t *most = user;
    (void)op;
    if (now->bytes > *most) *most = now->bytes;
}

/* Runs a story in a context that counts. Beyond its values, a run takes less than `more` bytes on one thread: others
 * have panels and sums of their own. */
static void check_run(const char *story, size_t large, size_t more) {
    counted c = { 0 };
    const xir_allocator alloc = { .resize = resize, .user = &c };
    xir_context *own = xir_context_new(&alloc);
    xir_network *net = story_net_in(own, story);
    xir_diags *findings = xir_diags_new(own);
    xir_value *value;
    assert_int_equal(xir_network_inputs(net, &value, 1), 1);
    xir_array *in = xir_array_random(own, xir_value_type(value), 1, findings), *out = NULL;
    uint64_t most = 0;
    for (int again = 0; again < 2; again++) {
        const xir_run_options how = XIR_INIT(xir_run_options, .memory = greatest, .user = &most, .threads = 1);
        const size_t before = c.there;
        c.large = 0;
        c.most = before;
        DOES(xir_network_run(net, (const xir_array *const[]){ in }, 1, &out, 1, &how, findings));
        if (c.large > large) fail_msg("%s: %zu large blocks", story, c.large);
        if (c.most - before > most + more)
            fail_msg("%s: %zu bytes, of which values take %llu", story, c.most - before, (unsigned long long)most);
        xir_array_free(out);
        if (again) assert_int_equal(c.there, before);   /* the first run interns types */
    }
    xir_array_free(in);
    xir_diags_free(findings);
    xir_network_free(net);
    xir_context_free(own);
}

static void layers_use_the_same_memory(void **state) {
    (void)state;
    check_run("x: fp32 300 300; a = ReLU x; b = ReLU a; c = ReLU b; d = ReLU c; e = Sigmoid d; out e", 2, 10000);
    check_run("x: fp16 300 300; a = ReLU x; b = Add a a; c = Multiply b a; d = Softmax c [axis=0]; out d", 4, 200000);
    check_run("x: fp32 NHWC 1 100 100 9; a = MaxPool2d x [pool_width=3 pool_height=3 pad_left=1 pad_right=1 pad_top=1 "
              "pad_bottom=1]; b = Transpose a [dims=0,3,1,2 layout=@layout(NCHW)]; c = Sum b [dim=1]; out c", 4, 200000);
}

/* The panels and sums of a product take some 3 MB; each of its tensors would take 4 MB of doubles. */
static void products_convert_no_tensor_as_a_whole(void **state) {
    (void)state;
    static const char *const elements[] = { "fp16", "bf16", "fp32" };
    for (size_t i = 0; i < COUNT(elements); i++) {
        char story[200];
        snprintf(story, sizeof story, "x: %s 700 700; y = Matmul x x; out y", elements[i]);
        check_run(story, 4, 3600000);
    }
}

/* A network of blocks of many sizes: 90 to 720 KB. */
static const char *const sizes = "x: fp32 100 225; a = ReLU x; b = Concat a a [axis=0]; c = Sigmoid b; "
                                 "d = Concat c b [axis=0]; e = Sigmoid d; f = Concat e d [axis=0]; y = Sum f [dim=0]; out y";

/* Runs it in a context of its own, with a limit of memory unless it is 0. Returns the large blocks that were made. */
static size_t run_sizes(counted *c, const xir_network *net, const xir_array *in, uint64_t max_memory,
                        xir_diags *findings) {
    const xir_run_options how = XIR_INIT(xir_run_options, .max_memory = max_memory);
    xir_array *out = NULL;
    c->large = 0;
    DOES(xir_network_run(net, &in, 1, &out, 1, &how, findings));
    xir_array_free(out);
    return c->large;
}

static void the_next_run_has_what_the_last_one_left(void **state) {
    (void)state;
    counted c = { 0 };
    const xir_allocator alloc = { .resize = resize, .user = &c };
    xir_context *own = xir_context_new(&alloc);
    xir_network *net = story_net_in(own, sizes);
    xir_diags *findings = xir_diags_new(own);
    xir_value *value;
    assert_int_equal(xir_network_inputs(net, &value, 1), 1);
    xir_array *in = xir_array_random(own, xir_value_type(value), 1, findings);
    const size_t limited = run_sizes(&c, net, in, 1 << 24, findings), before = c.there;
    assert_true(limited >= 5);
    assert_int_equal(run_sizes(&c, net, in, 1 << 24, findings), limited);
    assert_int_equal(c.there, before);                /* a run with a limit leaves nothing */
    assert_true(run_sizes(&c, net, in, 0, findings) >= 5);
    const size_t after = c.there;
    assert_true(after > before + 90000 * 5);
    for (int i = 0; i < 3; i++) assert_int_equal(run_sizes(&c, net, in, 0, findings), 0);
    assert_int_equal(c.there, after);
    assert_int_equal(run_sizes(&c, net, in, 1 << 24, findings), limited);   /* nor does it have anything */
    /* Two runs at once: what is left is that of the first one that ends. */
    xir_run_state *runs[2];
    for (size_t i = 0; i < COUNT(runs); i++) {
        const xir_op *op;
        assert_non_null(runs[i] = xir_run_new(net, (const xir_array *const[]){ in }, 1, NULL, findings));
        do DOES(xir_run_step(runs[i], &op, findings)); while (op);
    }
    for (size_t i = 0; i < COUNT(runs); i++) xir_run_free(runs[i]);
    assert_int_equal(run_sizes(&c, net, in, 0, findings), 0);
    xir_array_free(in);
    xir_diags_free(findings);
    xir_network_free(net);
    xir_context_free(own);
    assert_int_equal(c.there, 0);
}

/* The next run frees what one has left where it needs blocks of other sizes. */
static void what_is_left_makes_room(void **state) {
    (void)state;
    counted c = { 0 };
    const xir_allocator alloc = { .resize = resize, .user = &c };
    xir_context *own = xir_context_new(&alloc);
    xir_network *net = story_net_in(own, sizes), *other = story_net_in(own, "x: fp32 100 225; a = Concat x x x x x x x "
                                    "[axis=0]; y = Sum a [dim=0]; out y");
    xir_diags *findings = xir_diags_new(own);
    xir_value *value;
    assert_int_equal(xir_network_inputs(net, &value, 1), 1);
    xir_array *in = xir_array_random(own, xir_value_type(value), 1, findings);
    (void)run_sizes(&c, net, in, 0, findings);
    c.limit = c.there + 100000;
    assert_true(run_sizes(&c, other, in, 0, findings) > 0);
    c.limit = 0;
    xir_array_free(in);
    xir_diags_free(findings);
    xir_network_free(other);
    xir_network_free(net);
    xir_context_free(own);
    assert_int_equal(c.there, 0);
}

/* At most 32 MiB: one of two blocks of 24 MB. */
static void little_is_left(void **state) {
    (void)state;
    counted c = { 0 };
    const xir_allocator alloc = { .resize = resize, .user = &c };
    xir_context *own = xir_context_new(&alloc);
    xir_network *net = story_net_in(own, "x: fp32 3000 1000; a = Concat x x [axis=0]; b = ReLU a; y = Sum b [dim=0]; "
                                         "out y");
    xir_diags *findings = xir_diags_new(own);
    xir_value *value;
    assert_int_equal(xir_network_inputs(net, &value, 1), 1);
    xir_array *in = xir_array_random(own, xir_value_type(value), 1, findings);
    const size_t before = c.there;
    (void)run_sizes(&c, net, in, 0, findings);
    const size_t left = c.there - before;
    if (left < 24000000 || left > (32 << 20) + 100000) fail_msg("%zu bytes are left", left);
    xir_array_free(in);
    xir_diags_free(findings);
    xir_network_free(net);
    xir_context_free(own);
    assert_int_equal(c.there, 0);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_never_adds_to_the_peak),
        cmocka_unit_test(a_block_comes_back),
        cmocka_unit_test(what_is_refused_changes_nothing),
        cmocka_unit_test(layers_use_the_same_memory),
        cmocka_unit_test(the_next_run_has_what_the_last_one_left),
        cmocka_unit_test(what_is_left_makes_room),
        cmocka_unit_test(little_is_left),
        cmocka_unit_test(products_convert_no_tensor_as_a_whole),
    };
    return RUN_GROUP(tests);
}
