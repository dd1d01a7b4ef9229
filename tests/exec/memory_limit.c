/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A run, and a proof, never take more memory than their limit: they end with a finding before they would. */
#include <stdlib.h>
#include <xir/exec.h>
#include <xir/prove.h>
#include "support/story.h"

/* An allocator that counts bytes. */
typedef struct counted { size_t there, most; } counted;

static void *resize(void *user, void *block, size_t old_size, size_t size) {
    counted *c = user;
    c->there += size - old_size;
    if (c->there > c->most) c->most = c->there;
    if (size) return realloc(block, size);
    free(block);
    return NULL;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* A network in a context that counts, with random inputs. */
typedef struct stage {
    counted      c;
    xir_context *ctx;
    xir_network *net;
    xir_diags   *why;
    xir_array   *in[2];
    size_t       n;
} stage;

static void stage_open(stage *s, const char *story) {
    *s = (stage){ .n = 0 };
    s->ctx = xir_context_new(&(xir_allocator){ .resize = resize, .user = &s->c });
    s->net = story_net_in(s->ctx, story);
    s->why = xir_diags_new(s->ctx);
    xir_value *values[2];
    s->n = xir_network_inputs(s->net, values, 2);
    for (size_t i = 0; i < s->n; i++) s->in[i] = xir_array_random(s->ctx, xir_value_type(values[i]), i, s->why);
}

static void stage_close(stage *s) {
    for (size_t i = 0; i < s->n; i++) xir_array_free(s->in[i]);
    xir_diags_free(s->why);
    xir_network_free(s->net);
    xir_context_free(s->ctx);
    assert_int_equal(s->c.there, 0);
}

/* Runs with a limit. Besides elements and the memory of kernels, a run takes tables of some bytes for each op. */
static xir_status run(stage *s, uint64_t limit, xir_array **out) {
    const xir_run_options how = XIR_INIT(xir_run_options, .max_memory = limit, .threads = 1);
    enum { TABLES = 12000 };
    const size_t before = s->c.there;
    s->c.most = before;
    xir_diags_clear(s->why);
    xir_status status = xir_network_run(s->net, (const xir_array *const *)s->in, s->n, out, 1, &how, s->why);
    if (limit && s->c.most - before > limit + TABLES)
        fail_msg("%zu bytes, the limit is %llu", s->c.most - before, (unsigned long long)limit);
    return status;
}

static const char *const stories[] = {
    "x: 300 300; a = ReLU x; b = ReLU a; c = ReLU b; d = ReLU c; e = Sigmoid d; out e",
    "x: fp16 300 300; a = ReLU x; b = Add a a; c = Multiply b a; d = Softmax c [axis=0]; out d",
    "x: 300 300; a = Transpose x [dims=1,0 layout=@layout(**)]; b = Matmul a x; c = Sum b [dim=1]; out c",
    "x: C 99; r = Reshape x [shape=9,11 layout=@layout(**)]; s = Neg r; t = Reshape s [shape=99 layout=@layout(C)]; out t",
    "x: NHWC 1 60 60 4; w: params HWIO 5 5 4 8; y = Conv2d x w; out y",
};

/* There is a least limit: below it a run fails, and from it on it computes the same. */
static void a_run_stays_below_its_limit(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(stories); i++) {
        stage s;
        xir_array *expected = NULL, *out = NULL;
        xir_difference d;
        stage_open(&s, stories[i]);
        DOES(run(&s, 0, &expected));
        uint64_t low = 0, high = UINT64_C(1) << 30;   /* refused, enough */
        while (high - low > 1 + high / 64) {
            const uint64_t limit = low + (high - low) / 2;
            const xir_status status = run(&s, limit, &out);
            if (status) {
                assert_int_equal(status, XIR_E_LIMIT);
                assert_int_equal(xir_diags_count(s.why), 1);
                assert_non_null(strstr(xir_diags_at(s.why, 0)->message.data, "(max_memory)"));
                assert_null(out);
                low = limit;
                continue;
            }
            DOES(xir_array_compare(out, expected, 0, 0, &d));
            assert_int_equal(d.count, 0);
            xir_array_free(out);
            high = limit;
        }
        size_t size;
        xir_array_data(expected, &size);
        if (high < size || high > 40 * UINT64_C(90000))
            fail_msg("%s: %llu bytes are enough", stories[i], (unsigned long long)high);
        xir_array_free(expected);
        stage_close(&s);
    }
}

static void an_op_by_itself_has_a_limit_too(void **state) {
    (void)state;
    stage s;
    xir_array *out = NULL;
    stage_open(&s, "x: 100 100; y = ReLU x; out y");
    const xir_op *op = story_op(s.net, "y");
    const xir_array *const in[] = { s.in[0] };
    assert_int_equal(xir_op_run(op, in, 1, &out, 1, &XIR_INIT(xir_run_options, .max_memory = 39999), s.why),
                     XIR_E_LIMIT);
    CHECK_STR(xir_diags_at(s.why, 0)->path, "/ops/1");
    DOES(xir_op_run(op, in, 1, &out, 1, &XIR_INIT(xir_run_options, .max_memory = 60000), s.why));
    xir_array_free(out);   /* after the run */
    stage_close(&s);
}

/* Arrays of a run that the caller keeps count as long as they are kept. */
static xir_array *kept[8];

static bool keep(void *user, const xir_value *value, const xir_array *array) {
    size_t *n = user;
    (void)value;
    kept[(*n)++] = xir_array_retain((xir_array *)(uintptr_t)array);
    return true;
}

static void what_the_caller_keeps_counts(void **state) {
    (void)state;
    for (int keeps = 0; keeps < 2; keeps++) {
        stage s;
        size_t n = 0;
        xir_array *out = NULL;
        stage_open(&s, stories[0]);
        const xir_run_options how = XIR_INIT(xir_run_options, .max_memory = 900000, .watch = keeps ? keep : NULL,
                                             .user = &n, .threads = 1);
        assert_int_equal(xir_network_run(s.net, (const xir_array *const *)s.in, 1, &out, 1, &how, s.why),
                         keeps ? XIR_E_LIMIT : XIR_OK);
        xir_array_free(out);
        while (n) xir_array_free(kept[--n]);
        stage_close(&s);
    }
}

/* ---- proofs ------------------------------------------------------------------------------------------------------ */

/* Checks a network with a proof, and returns how many bytes that took at most. */
static size_t prove(stage *s, const xir_proof_options *options, size_t *networks, xir_status *obstacle) {
    xir_proof_state now = XIR_INIT(xir_proof_state);
    s->c.most = s->c.there;
    const size_t before = s->c.there;
    xir_proof *proof = xir_proof_new(s->ctx, options, s->why);
    DOES(xir_proof_check(proof, s->net, s->why));
    DOES(xir_proof_state_of(proof, &now, s->why));
    *networks = now.networks;
    *obstacle = now.networks ? XIR_OK : xir_diags_at(xir_proof_obstacle(proof), 0)->code;
    xir_proof_free(proof);
    return s->c.most - before;
}

/* An input of 2^18 elements, and a result in the same bytes. */
static void the_inputs_of_a_proof_are_not_made_beyond_a_limit(void **state) {
    (void)state;
    enum { BYTES = 4 << 18 };
    static const struct { uint64_t work, memory; bool proven; } rows[] = {
        { 0,         0,             true  }, { (10 << 18) - 1, 0,            false },
        { 10 << 18,  0,             true  }, { 0,              BYTES - 1,    false },
        { 0,         BYTES + 1,     true  }, { 0,              4 * BYTES,    true  },
        { 10 << 18,  4 * BYTES,     true  },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        stage s;
        size_t networks;
        xir_status obstacle;
        s = (stage){ .n = 0 };
        s.ctx = xir_context_new(&(xir_allocator){ .resize = resize, .user = &s.c });
        s.net = story_net_in(s.ctx, "x: 512 512; y = Reshape x [shape=262144 layout=@layout(C)]; out y");
        s.why = xir_diags_new(s.ctx);
        const xir_proof_options options = XIR_INIT(xir_proof_options, .max_work = rows[i].work,
                                                   .max_memory = rows[i].memory);
        const size_t most = prove(&s, &options, &networks, &obstacle);
        assert_int_equal(networks, rows[i].proven);
        assert_int_equal(obstacle, rows[i].proven ? XIR_OK : XIR_E_LIMIT);
        if (rows[i].memory && most > rows[i].memory + (1 << 17)) fail_msg("row %zu: %zu bytes", i, most);
        if (rows[i].work && !rows[i].proven) assert_true(most < BYTES);
        stage_close(&s);
    }
}

/* The copies that samples are count as inputs. */
static void samples_count_as_inputs(void **state) {
    (void)state;
    stage s;
    stage_open(&s, "x: 1 50; y = ReLU x; out y");
    xir_array *many = xir_array_random(s.ctx, XIR_TENSOR(s.ctx, xir_type_float(s.ctx, XIR_FLOAT_FP32), "**", 40, 50), 1,
                                       s.why);
    for (int large = 0; large < 2; large++) {
        size_t networks;
        xir_status obstacle;
        (void)prove(&s, &XIR_INIT(xir_proof_options, .each = true, .n_inputs = 1, .max_memory = large ? 100000 : 8100,
                                  .inputs = &XIR_INIT(xir_proof_input, .name = "x", .array = many)),
                    &networks, &obstacle);
        assert_int_equal(networks, large);
        assert_int_equal(obstacle, large ? XIR_OK : XIR_E_LIMIT);
    }
    xir_array_free(many);
    stage_close(&s);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_stays_below_its_limit),
        cmocka_unit_test(an_op_by_itself_has_a_limit_too),
        cmocka_unit_test(what_the_caller_keeps_counts),
        cmocka_unit_test(the_inputs_of_a_proof_are_not_made_beyond_a_limit),
        cmocka_unit_test(samples_count_as_inputs),
    };
    return RUN_GROUP(tests);
}
