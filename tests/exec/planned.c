/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Runs in the memory that a network plans: the bits of a right plan are those of a plain run, and what a plan has wrong
 * computes wrong numbers. */
#include <stdlib.h>
#include <xir/exec.h>
#include "support/again.h"
#include "support/scarce.h"
#include "support/story.h"

enum { MOST = 4 };

/* "x@0 a@16": external memory; '!': chunk 0. Others stay on the host. */
static void place_values(xir_network *net, const char *text) {
    for (char *at = (char *)(uintptr_t)text; *at;) {
        char name[20] = "", *p = name;
        while (!strchr("@!", *at)) *p++ = *at++;
        const char kind = *at;
        const uint64_t address = strtoull(at + 1, &at, 10);
        DOES(xir_value_set_mtype(story_value(net, name), kind == '@' ? xir_mtype_external(ctx, address)
                                                                     : xir_mtype_chunk(ctx, 0, address)));
        while (*at == ' ') at++;
    }
}

typedef struct results { xir_array *of[MOST]; size_t n; } results;

static xir_status run(const xir_network *net, const xir_run_options *how, results *out) {
    xir_value *values[MOST];
    xir_array *in[MOST];
    const size_t n = xir_network_inputs(net, values, MOST);
    *out = (results){ .n = xir_network_outputs(net, NULL, 0) };
    for (size_t i = 0; i < n; i++) in[i] = xir_array_random(ctx, xir_value_type(values[i]), i, why);
    const xir_status status = xir_network_run(net, (const xir_array *const *)in, n, out->of, out->n, how, why);
    for (size_t i = 0; i < n; i++) xir_array_free(in[i]);
    return status;
}

static bool are_same(const results *a, const results *b) {
    bool same = a->n == b->n;
    for (size_t i = 0; i < a->n && same; i++) {
        size_t size, other;
        const void *data = xir_array_data(a->of[i], &size), *with = xir_array_data(b->of[i], &other);
        same = size == other && (!size || memcmp(data, with, size) == 0);
    }
    return same;
}

static void forget(results *r) {
    for (size_t i = 0; i < r->n; i++) xir_array_free(r->of[i]);
}

/* Returns true if a run in the memory of the plan has the bits of one without. */
static bool is_right(const xir_network *net, size_t threads) {
    results plain, planned;
    DOES(run(net, NULL, &plain));
    DOES(run(net, &XIR_INIT(xir_run_options, .arena = true, .threads = threads), &planned));
    const bool same = are_same(&plain, &planned);
    forget(&plain);
    forget(&planned);
    return same;
}

static void check_places(const char *story, const char *places, bool right, int line) {
    xir_network *net = story_net(story);
    place_values(net, places);
    for (size_t threads = 1; threads < 8; threads += 3)
        if (is_right(net, threads) != right) fail_msg("line %d: %s numbers", line, right ? "other" : "the same");
    xir_network_free(net);
}
#define RIGHT(story, places) check_places(story, places, true, __LINE__)
#define WRONG(story, places) check_places(story, places, false, __LINE__)

#define CHAIN "x: fp32 4; a = Sigmoid x; b = Transpose a [dims=0 layout=@layout(*)]; c = Add a b; out c"

static void overlaps_compute_other_numbers(void **state) {
    (void)state;
    RIGHT(CHAIN, "x@0 a@16 b@0 c@32");
    RIGHT(CHAIN, "a!0 c@0");
    RIGHT(CHAIN, "x@5 a@1000000000000000 b@23 c@40");
    WRONG(CHAIN, "a@16 b@16");
    WRONG(CHAIN, "a@16 b@28");
    WRONG(CHAIN, "x@0 a@16 b@0 c@12");
    WRONG("x: fp32 4; y: fp32 4; a = Add x y; out a", "x@0 y@0");
    WRONG("x: fp32 4; a = Sigmoid x; b = Neg a; c = Neg x; out b c", "b@0 c@8");
}

/* Even by the op that reads them last, unless its row allows it. */
static void outputs_over_inputs_need_a_row(void **state) {
    (void)state;
    RIGHT("x: fp32 4; a = Sigmoid x; b = ReLU a; out b", "a@0 b@0");
    RIGHT("x: fp32 4; a = Sigmoid x; b = Sigmoid x; c = Add a b; out c", "a@0 b@16 c@16");
    RIGHT("x: fp32 4; a = Sigmoid x; b = Add a a; out b", "a@0 b@0");
    RIGHT("x: fp32 1 4; a = Sigmoid x; b = Squeeze a; c = Sigmoid b; out c", "a@0 b@0 c@0");
    WRONG("x: fp32 4; a = Sigmoid x; b = Neg a; out b", "a@0 b@8");
    WRONG("x: fp32 4; a = Sigmoid x; b = Neg a; c = Add a b; out c", "a@0 b@0");
    WRONG("x: fp32 4; a = Sigmoid x; b = CumSum a; out b", "a@0 b@0");
    WRONG("x: fp32 1 4; a = Sigmoid x; b = Squeeze a; c = Sigmoid b; out b c", "a@0 b@0 c@0");
}

static void views_may_be_elsewhere(void **state) {
    (void)state;
    static const char view[] = "x: fp32 1 4; a = Sigmoid x; b = Squeeze a; c = Sigmoid a; d = Add b c; out d";
    RIGHT(view, "x@0 a@16 b@16 c@32 d@16");
    RIGHT(view, "a@16 b@0 c@16");
    RIGHT(view, "a@16 c@16");
    WRONG(view, "x@0 a@16 b@20");
}

static void params_are_at_their_addresses(void **state) {
    (void)state;
    static const char story[] = "w: params 4; x: fp32 4; a = Add x w; b = Sigmoid a; c = Add b w; out c";
    RIGHT(story, "w@0 x@16 a@32");
    WRONG(story, "w@0 x@16 a@4");
    WRONG(story, "w@0 x@12");
    RIGHT("w: params 1 4; x: fp32 4; v = Squeeze w; a = Add x v; b = Add a v; out b", "w@0 v@0 a@16");
}

static void parts_of_ops_with_several_outputs(void **state) {
    (void)state;
    static const char story[] = "x: fp32 2 4; a = Sigmoid x; b, c = Split a [sections=1,1 axis=0]; d = Add b c; out d";
    RIGHT(story, "a@0 b@32 d@0");
    WRONG(story, "a@0 b@4");
}

/* ---- what the caller sees ---------------------------------------------------------------------------------------- */

static xir_array *kept[MOST];
static size_t     n_kept;

static bool keep(void *user, const xir_value *value, const xir_array *array) {
    (void)user;
    (void)value;
    kept[n_kept++] = xir_array_retain((xir_array *)(uintptr_t)array);
    return true;
}

static void arrays_outlive_their_memory(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = Sigmoid x; b = ReLU a; c = ReLU b; out c");
    place_values(net, "a@0 b@0 c@0");
    results out;
    DOES(run(net, &XIR_INIT(xir_run_options, .arena = true, .watch = keep), &out));
    assert_int_equal(n_kept, 3);
    for (size_t i = 0; i < n_kept; i++) {
        xir_difference d;
        DOES(xir_array_compare(kept[i], out.of[0], 0, 0, &d));
        assert_int_equal(d.count, 0);
        xir_array_free(kept[i]);
    }
    forget(&out);
    xir_network_free(net);
}

static uint64_t most;

static void note_memory(void *user, const xir_op *op, const xir_run_memory *now) {
    (void)user;
    (void)op;
    if (now->bytes > most) most = now->bytes;
}

static void memory_is_counted_as_before(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = Sigmoid x; b = Sigmoid a; c = Sigmoid b; out c");
    place_values(net, "x@0 a@0 b@0 c@0");
    results out;
    DOES(run(net, &XIR_INIT(xir_run_options, .arena = true, .memory = note_memory), &out));
    assert_int_equal(most, 32);
    forget(&out);
    xir_network_free(net);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void check_refused(const char *story, const char *places, uint64_t max_memory, xir_status code,
                          const char *part) {
    xir_network *net = story_net(story);
    results out;
    place_values(net, places);
    const xir_run_options how = XIR_INIT(xir_run_options, .arena = true, .max_memory = max_memory);
    assert_int_equal(run(net, &how, &out), code);
    check_finding(code, part);
    xir_network_free(net);
}

static void networks_without_a_plan_are_refused(void **state) {
    (void)state;
    static const char story[] = "x: fp32 4; a = Sigmoid x; b = Neg a; out b";
    check_refused(story, "", 0, XIR_E_MISSING, "no value of the network has an address");
    check_refused(story, "a@18446744073709551610", 0, XIR_E_LIMIT, "'a' ends beyond 2^64 - 1");
    check_refused("x: fp32 1000; a = Sigmoid x; b = Neg a; out b", "a@0", 2000, XIR_E_LIMIT, "the limit is 2000");
    check_refused("x: fp32 -1; a = Sigmoid x; b = Neg a; out b", "a@0", 0, XIR_E_BOUNDS,
                  "the bytes of 'a', which has an address, are unknown");
}

/* A kernel that writes more than its output. */
static xir_status write_beyond(xir_kernel *at) {
    float *out = xir_kernel_bytes_out(at, 0);
    if (!out) return XIR_E_MEMORY;
    out[4] = 1;
    return XIR_OK;
}

static void writing_beyond_an_output_is_noticed(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; b = ReLU x; out b");
    xir_op *b = story_op(net, "b");
    const xir_op_desc hard = DESC(hard_op, INPUTS(story_value(net, "x")), TYPES(FP32("*", 4)), .name = XIR_STR("a"),
                                  .before = b);
    xir_op *a = xir_network_add(net, &hard);
    DOES(xir_op_set_input(b, 0, xir_op_output(a, 0)));
    DOES(xir_kernel_register(ctx, xir_hard_op_class(), write_beyond));
    DOES(xir_value_set_mtype(xir_op_output(a, 0), xir_mtype_external(ctx, 0)));
    results out;
    assert_int_equal(run(net, &XIR_INIT(xir_run_options, .arena = true), &out), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "the op has written beyond its output");
    xir_network_free(net);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void run_planned(want *w) {
    xir_network *net;
    xir_array *in = NULL, *out = NULL;
    const xir_run_options how = XIR_INIT(xir_run_options, .arena = true, .watch = NULL);
    IN_PLENTY(w, net = story_net_in(w->ctx, "w: params 4; x: fp32 4; a = Add x w; b = Sigmoid a; c = CumSum b; out c"));
    IN_PLENTY(w, DOES(xir_pass_run(net, "plan", "memory=etm", NULL, w->why)));
    IN_PLENTY(w, in = xir_array_random(w->ctx, xir_value_type(story_value(net, "x")), 1, w->why));
    TRY(w, xir_network_run(net, (const xir_array *const[]){ in }, 1, &out, 1, &how, w->why));
    xir_array_free(in);
    xir_array_free(out);
    xir_network_free(net);
}
SCARCE_TEST(run_planned)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlaps_compute_other_numbers),
        cmocka_unit_test(outputs_over_inputs_need_a_row),
        cmocka_unit_test(views_may_be_elsewhere),
        cmocka_unit_test(params_are_at_their_addresses),
        cmocka_unit_test(parts_of_ops_with_several_outputs),
        cmocka_unit_test(arrays_outlive_their_memory),
        cmocka_unit_test(memory_is_counted_as_before),
        cmocka_unit_test(networks_without_a_plan_are_refused),
        cmocka_unit_test(writing_beyond_an_output_is_noticed),
        cmocka_unit_test(test_run_planned),
    };
    return RUN_GROUP(tests);
}
