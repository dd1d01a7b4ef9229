/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Lives of values, bytes alive at each op, the peak: in networks that a reader can count by hand; what is shared and
 * what is not; and what is refused. The executor's own count is compared in tests/exec/memory.c. */
#include <stdlib.h>
#include <xir/region.h>
#include "support/often.h"
#include "support/story.h"

static xir_liveness *live(const xir_network *net, bool views, bool in_place) {
    xir_liveness *l = xir_liveness_new(
        net, &XIR_INIT(xir_liveness_options, .views = views, .in_place = in_place), why);
    assert_non_null(l);
    return l;
}

/* "0-2:16" for a value that is made by op 0, read last by op 2, and takes 16 bytes; "?" for unknown bytes; "=NAME" or
 * "=params" if it is in the bytes of another value. */
static void check_life(const xir_liveness *l, const xir_value *v, const char *expected, int line) {
    char found[200], bytes[32];
    xir_life life = XIR_INIT(xir_life);
    if (!xir_liveness_of(l, v, &life)) fail_msg("line %d: the value has no life", line);
    snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)life.bytes);
    int n = snprintf(found, sizeof found, "%lld-%lld:%s", (long long)life.first, (long long)life.last,
                     life.known ? bytes : "?");
    if (life.of_params) {
        snprintf(found + n, sizeof found - (size_t)n, "=params");
    } else if (life.in != v) {
        xir_str name = xir_value_name(life.in);
        snprintf(found + n, sizeof found - (size_t)n, "=%.*s", (int)name.size, name.data);
    }
    if (strcmp(found, expected)) fail_msg("line %d: expected %s, found %s", line, expected, found);
}
#define CHECK_LIFE(l, v, expected) check_life(l, v, expected, __LINE__)

/* The bytes at each op. */
static void check_bytes(const xir_liveness *l, const char *expected, int line) {
    char found[400];
    size_t n = 0;
    for (size_t i = 0; i < xir_liveness_op_count(l); i++) {
        const size_t unknown = xir_liveness_unknown_at(l, (int64_t)i);
        n += (size_t)snprintf(found + n, sizeof found - n, "%s%llu", i ? " " : "",
                              (unsigned long long)xir_liveness_bytes_at(l, (int64_t)i));
        if (unknown) n += (size_t)snprintf(found + n, sizeof found - n, "+%zu?", unknown);
    }
    if (strcmp(found, expected)) fail_msg("line %d: expected %s, found %s", line, expected, found);
}
#define CHECK_BYTES(l, expected) check_bytes(l, expected, __LINE__)

static xir_live_peak peak_of(const xir_liveness *l) {
    xir_live_peak peak = XIR_INIT(xir_live_peak);
    DOES(xir_liveness_peak(l, &peak, why));
    return peak;
}

/* A story with its bytes at each op, the Input op first. */
static void check_story_bytes(const char *story, bool views, bool in_place, const char *expected, int line) {
    xir_network *net = story_net(story);
    xir_liveness *l = live(net, views, in_place);
    check_bytes(l, expected, line);
    xir_liveness_free(l);
    xir_network_free(net);
}
#define STORY_BYTES(story, views, in_place, expected) check_story_bytes(story, views, in_place, expected, __LINE__)

/* ---- plain ------------------------------------------------------------------------------------------------------- */

static void a_value_lives_from_its_op_to_its_last_reader(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = ReLU x; b = ReLU a; c = Add a b; out c");
    const xir_value *c = story_value(net, "c");
    xir_liveness *l = live(net, false, false);
    CHECK_LIFE(l, story_value(net, "x"), "0-1:16");
    CHECK_LIFE(l, story_value(net, "a"), "1-3:16");
    CHECK_LIFE(l, story_value(net, "b"), "2-3:16");
    CHECK_LIFE(l, c, "3-4:16");
    CHECK_BYTES(l, "16 32 32 48 16");
    const xir_live_peak peak = peak_of(l);
    assert_int_equal(peak.bytes, 48);
    assert_ptr_equal(peak.op, xir_value_op(c));
    assert_int_equal(peak.position, 3);
    assert_true(peak.exact);
    assert_int_equal(peak.values, 4);
    const xir_value *at[2];
    assert_int_equal(xir_liveness_values_at(l, 3, at, 2), 3);
    assert_ptr_equal(at[0], story_value(net, "a"));
    assert_ptr_equal(at[1], story_value(net, "b"));
    assert_ptr_equal(xir_liveness_op_at(l, 3), xir_value_op(c));
    assert_int_equal(xir_liveness_position(l, xir_value_op(c)), 3);
    xir_liveness_free(l);
    xir_network_free(net);
}

static void an_unused_value_lives_for_one_op(void **state) {
    (void)state;
    STORY_BYTES("x: fp32 4; y: fp32 100; a = ReLU x; b = ReLU x; out b", false, false, "416 32 32 16");
}

static void results_live_to_the_end(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = ReLU x; b = ReLU x; c = ReLU b; out a c");
    xir_liveness *l = live(net, false, false);
    CHECK_LIFE(l, story_value(net, "a"), "1-4:16");
    CHECK_BYTES(l, "16 32 48 48 32");
    xir_liveness_free(l);
    xir_network_free(net);
    /* Even if the Output op is not the last one. */
    net = story_net("x: fp32 4; a = ReLU x; b = ReLU x; out a");
    const xir_op *order[] = { xir_network_op_at(net, 0), story_op(net, "a"), xir_network_output_op(net),
                              story_op(net, "b") };
    l = xir_liveness_new(net, &XIR_INIT(xir_liveness_options, .in_place = true, .order = order, .n_order = 4), why);
    assert_non_null(l);
    CHECK_LIFE(l, story_value(net, "a"), "1-3:16");
    CHECK_LIFE(l, story_value(net, "x"), "0-3:16");
    CHECK_BYTES(l, "16 32 32 48");
    xir_liveness_free(l);
    xir_network_free(net);
}

static void params_are_apart(void **state) {
    (void)state;
    xir_network *net = story_net("w: params 8; x: fp32 8; a = Add x w; b = Add a w; out b");
    xir_liveness *l = live(net, true, true);
    size_t unknown = 7;
    assert_int_equal(xir_liveness_params(l, &unknown), 32);
    assert_int_equal(unknown, 0);
    xir_life life = XIR_INIT(xir_life, .known = true, .bytes = 3);
    assert_false(xir_liveness_of(l, story_value(net, "w"), &life));
    assert_true(!life.known && !life.bytes && life.size == sizeof life);
    DOES(xir_value_set_type(story_value(net, "w"), FP32("*", XIR_UNKNOWN_DIM)));
    assert_int_equal(xir_liveness_params(l, NULL) + xir_liveness_params(l, &unknown), 0);
    assert_int_equal(unknown, 1);
    xir_liveness_free(l);
    xir_network_free(net);
}

static void unknown_bytes_are_counted_not_zero(void **state) {
    (void)state;
    xir_network *net = story_net("x: -1 4; k: fp32 4; a = ReLU x; b = ReLU k; c = Add a b; out c");
    xir_liveness *l = live(net, true, true);
    CHECK_LIFE(l, story_value(net, "x"), "0-1:?");
    CHECK_BYTES(l, "16+1? 16+2? 32+1? 16+2? 0+1?");
    const xir_live_peak peak = peak_of(l);
    assert_false(peak.exact);
    assert_int_equal(peak.unknown, 3);
    assert_int_equal(peak.bytes, 32);
    xir_liveness_free(l);
    DOES(xir_value_set_type(story_value(net, "b"), NULL));
    l = live(net, false, false);
    CHECK_LIFE(l, story_value(net, "b"), "2-3:?");
    xir_liveness_free(l);
    xir_network_free(net);
}

static void bytes_beyond_64_bits_are_the_most(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; y: fp32 4; a = ReLU x; b = ReLU y; c = Add a b; out c");
    const xir_type *huge = FP32("**", INT64_C(1) << 31, INT64_C(1) << 30);          /* 2^63 bytes */
    const xir_type *more = FP32("***", INT64_C(1) << 31, INT64_C(1) << 31, 1 << 20);
    DOES(xir_value_set_type(story_value(net, "a"), huge));
    DOES(xir_value_set_type(story_value(net, "b"), huge));
    xir_liveness *l = live(net, false, false);
    CHECK_BYTES(l, "32 9223372036854775840 18446744073709551615 18446744073709551615 16");
    assert_int_equal(peak_of(l).position, 2);
    xir_liveness_free(l);
    DOES(xir_value_set_type(story_value(net, "a"), more));
    l = live(net, true, true);
    CHECK_BYTES(l, "32 18446744073709551615 18446744073709551615 18446744073709551615 16");
    assert_true(peak_of(l).exact);
    xir_liveness_free(l);
    xir_network_free(net);
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

static void a_view_keeps_the_bytes_alive(void **state) {
    (void)state;
    const char *story = "x: 1 8; a = ReLU x; v = Squeeze a [axis=0]; b = ReLU a; c = ReLU v; out b c";
    xir_network *net = story_net(story);
    xir_liveness *l = live(net, true, false);
    CHECK_LIFE(l, story_value(net, "a"), "1-3:32");
    CHECK_LIFE(l, story_value(net, "v"), "2-4:32=a");
    CHECK_BYTES(l, "32 64 32 64 96 64");
    xir_life life = XIR_INIT(xir_life);
    assert_true(xir_liveness_of(l, story_value(net, "a"), &life));
    assert_int_equal(life.end, 4);
    xir_liveness_free(l);
    STORY_BYTES(story, false, false, "32 64 64 96 96 64");
    xir_network_free(net);
}

static void a_view_of_params_takes_nothing(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 8; w: params 1 8; v = Squeeze w [axis=0]; u = Copy v; a = Add x u; out a");
    xir_liveness *l = live(net, true, false);
    CHECK_LIFE(l, story_value(net, "v"), "1-2:32=params");
    CHECK_LIFE(l, story_value(net, "u"), "2-3:32=params");
    CHECK_BYTES(l, "32 32 32 64 32");
    xir_liveness_free(l);
    xir_network_free(net);
}

static bool is_transpose(void *user, const xir_op *op) {
    ++*(int *)user;
    return xir_op_is(op, xir_transpose_class());
}

/* A Transpose is not a view by its row; with other bytes than its input an op is not one whatever is said. */
static void a_program_says_which_ops_are_views(void **state) {
    (void)state;
    int asked = 0;
    const char *story = "x: 2 4; a = ReLU x; t = Transpose a [dims=1,0 layout=@layout(**)]; b = ReLU t; out b";
    xir_network *net = story_net(story);
    const xir_liveness_options how = XIR_INIT(xir_liveness_options, .is_view = is_transpose, .user = &asked);
    xir_liveness *l = xir_liveness_new(net, &how, why);
    assert_non_null(l);
    CHECK_LIFE(l, story_value(net, "t"), "2-3:32=a");
    CHECK_BYTES(l, "32 64 32 64 32");
    assert_true(asked > 0);
    xir_liveness_free(l);
    STORY_BYTES(story, true, false, "32 64 64 64 32");
    xir_network_free(net);
}

static void a_row_that_does_not_hold_shares_nothing(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 8; v = Copy x; out v");
    DOES(xir_value_set_type(story_value(net, "v"), FP32("*", 9)));                               /* more bytes */
    xir_liveness *l = live(net, true, true);
    CHECK_BYTES(l, "32 68 36");
    xir_liveness_free(l);
    DOES(xir_value_set_type(story_value(net, "v"), XIR_TENSOR(ctx, xir_type_sint(ctx, 32), "*", 8)));
    l = live(net, true, true);                                                                   /* converted */
    CHECK_BYTES(l, "32 64 32");
    xir_liveness_free(l);
    DOES(xir_op_set_inputs(xir_value_op(story_value(net, "v")), NULL, 0));                       /* no input */
    l = live(net, true, true);
    CHECK_BYTES(l, "32 32 32");
    xir_liveness_free(l);
    xir_network_free(net);
}

/* ---- in place ---------------------------------------------------------------------------------------------------- */

static void an_output_is_written_over_what_dies(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = ReLU x; b = ReLU a; c = ReLU b; out c");
    xir_liveness *l = live(net, false, true);
    CHECK_LIFE(l, story_value(net, "a"), "1-2:16");              /* x is the caller's */
    CHECK_LIFE(l, story_value(net, "b"), "2-3:16=a");
    CHECK_LIFE(l, story_value(net, "c"), "3-4:16=a");
    CHECK_BYTES(l, "16 32 16 16 16");
    xir_liveness_free(l);
    xir_network_free(net);
}

static void what_is_still_read_is_not_written_over(void **state) {
    (void)state;
    /* a is read by c after b */
    STORY_BYTES("x: fp32 4; a = ReLU x; b = ReLU a; c = Add a b; d = ReLU c; out d", false, true, "16 32 32 32 16 16");
    /* a is a result */
    STORY_BYTES("x: fp32 4; a = ReLU x; b = ReLU a; out a b", false, true, "16 32 32 32");
    /* a view of a is read after b; without views it has bytes of its own */
    STORY_BYTES("x: fp32 4; a = ReLU x; v = Copy a; b = ReLU a; c = Add v b; out c", true, true, "16 32 16 32 32 16");
    STORY_BYTES("x: fp32 4; a = ReLU x; v = Copy a; b = ReLU a; c = Add v b; out c", false, true, "16 32 32 32 32 16");
    /* the sum of two: over the first, or the second where the first is repeated */
    STORY_BYTES("x: fp32 4; a = ReLU x; b = ReLU x; c = Add a b; out c", false, true, "16 32 48 32 16");
    STORY_BYTES("x: fp32 4; y: 3 4; a = ReLU x; b = ReLU y; c = Add a b; out c", false, true, "64 80 112 64 48");
    /* of the same bytes, but not of the same elements: 16 numbers of 4 bytes, and 4 times 4 bools */
    STORY_BYTES("x: 1 4; y: 4 4; a = ReLU x; b = ReLU y; c = Greater a b; out c", false, true, "80 96 144 96 16");
    /* a read twice is fine where both inputs are in the row */
    STORY_BYTES("x: fp32 4; a = ReLU x; c = Multiply a a; out c", false, true, "16 32 16 16");
    /* no row: Softmax needs all elements for each */
    STORY_BYTES("x: fp32 4; a = ReLU x; c = Softmax a; out c", false, true, "16 32 32 16");
}

/* data is written over, but not if the updates are a view of it. */
static void an_input_outside_of_the_row_is_not_written_over(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; i: sint64 4 1; a = ReLU x; s = ScatterND a i a; out s");
    xir_liveness *l = live(net, false, true);
    CHECK_LIFE(l, story_value(net, "s"), "2-3:16");
    xir_liveness_free(l);
    xir_network_free(net);
    net = story_net("x: fp32 4; u: fp32 4; i: sint64 4 1; a = ReLU x; s = ScatterND a i u; out s");
    l = live(net, false, true);
    CHECK_LIFE(l, story_value(net, "s"), "2-3:16=a");
    xir_liveness_free(l);
    xir_network_free(net);
}

/* A class of a program: any number of inputs, and the row is about all but the first. */
typedef struct ports { xir_value *first; xir_values rest; } ports;
static const xir_class_decl *sum_class(void) {
    static const xir_row rows[] = {
        { .decl = XIR_DECL_OP, .name = "test::Sum", .doc = "a sum", .min = { .i = sizeof(ports) } },
        { .decl = XIR_DECL_OPT, .name = "first", .doc = "", .offset = offsetof(ports, first) },
        { .decl = XIR_DECL_VAR, .name = "rest", .doc = "", .offset = offsetof(ports, rest) },
        { .decl = XIR_DECL_OUT, .name = "sum", .doc = "" },
        { .decl = XIR_DECL_SHARES, .doc = "OVER, rest" },
        { .decl = XIR_DECL_END },
    };
    static const xir_class_decl decl = { XIR_ABI, sizeof(xir_class_decl), sizeof(xir_row), rows };
    return &decl;
}

static xir_value *sum(xir_network *net, xir_value *const *inputs, size_t n) {
    const xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, sum_class()), .inputs = inputs,
                                      .n_inputs = n, TYPES(FP32("*", 4)), .id = XIR_NO_ID,
                                      .before = xir_network_output_op(net));
    xir_op *op = xir_network_add(net, &desc);
    assert_non_null(op);
    return xir_op_output(op, 0);
}

static void a_row_may_be_about_many_inputs(void **state) {
    (void)state;
    enum { N = 20000 };
    DOES(xir_class_register(ctx, sum_class(), why));
    xir_network *net = story_net("x: fp32 4; a = ReLU x; b = ReLU x; c = ReLU x; out x");
    xir_value *a = story_value(net, "a"), *b = story_value(net, "b"), *c = story_value(net, "c");
    xir_value *s = sum(net, (xir_value *const[]){ a, a, b, c }, 4);
    xir_liveness *l = live(net, true, true);
    CHECK_LIFE(l, s, "4-4:16=b");      /* a is read through the first input too */
    xir_liveness_free(l);
    xir_network_free(net);
    /* Nothing else is read. */
    net = story_net("x: fp32 4; a = ReLU x; out x");
    a = story_value(net, "a");
    xir_value **inputs = malloc(N * sizeof *inputs);
    assert_non_null(inputs);
    for (size_t i = 0; i < N; i++) inputs[i] = a;
    s = sum(net, inputs, N);
    l = live(net, true, true);
    CHECK_LIFE(l, s, "2-2:16");
    xir_liveness_free(l);
    free(inputs);
    xir_network_free(net);
}

/* ---- orders and broken networks ---------------------------------------------------------------------------------- */

static void another_order_gives_other_lives(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = ReLU x; b = ReLU x; c = ReLU a; d = Add b c; out d");
    const xir_op *order[6];
    for (int i = 0; i < 6; i++) order[i] = xir_network_op_at(net, i);
    const xir_op *b = order[2];
    order[2] = order[3];
    order[3] = b;
    xir_liveness_options how = XIR_INIT(xir_liveness_options, .order = order, .n_order = 6);
    xir_liveness *l = xir_liveness_new(net, &how, why);
    assert_non_null(l);
    CHECK_LIFE(l, story_value(net, "a"), "1-2:16");
    CHECK_LIFE(l, story_value(net, "b"), "3-4:16");
    assert_int_equal(xir_liveness_position(l, b), 3);
    xir_liveness_free(l);
    xir_network *other = story_net("x: fp32 4; out x");
    const struct { const xir_op *op; size_t at, n; const char *part; } bad[] = {
        { order[1],                 2, 6, "item 2 of the order is an op that is before it too"      },
        { NULL,                     0, 6, "item 0 of the order is NULL"                             },
        { xir_network_first(other), 4, 6, "item 4 of the order is an op of another network"         },
        { order[2],                 2, 5, "the order has 5 ops, the network has 6"                  },
        { order[4],                 1, 6, "the input is used before it is computed"                 },
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        const xir_op *kept = order[bad[i].at];
        order[bad[i].at] = bad[i].op;
        how.n_order = bad[i].n;
        xir_diags_clear(why);
        assert_null(xir_liveness_new(net, &how, why));
        check_finding(XIR_E_INVALID, bad[i].part);
        order[bad[i].at] = kept;
    }
    xir_network_free(other);
    xir_network_free(net);
}

static void an_order_that_cannot_be_run_is_refused(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = ReLU x; b = ReLU a; out b");
    xir_op *a = story_op(net, "a"), *b = story_op(net, "b");
    DOES(xir_op_set_input(a, 0, xir_op_output(b, 0)));
    assert_null(xir_liveness_new(net, NULL, why));
    check_finding(XIR_E_INVALID, "the input is used before it is computed: sort the network");
    xir_diags_clear(why);
    DOES(xir_op_set_input(a, 0, xir_op_output(a, 0)));
    assert_null(xir_liveness_new(net, NULL, why));
    check_finding(XIR_E_INVALID, "the op reads a value that it makes itself");
    xir_diags_clear(why);
    /* An absent input, one that no op makes, and one of an op that is not in the order take nothing. */
    DOES(xir_op_set_input(a, 0, NULL));
    CHECK_STR(xir_op_name(a), "a");
    xir_liveness *l = live(net, true, true);
    CHECK_BYTES(l, "16 16 16 16");
    xir_liveness_free(l);
    DOES(xir_op_set_input(a, 0, xir_value_new(net, XIR_STR("loose"), FP32("*", 9), NULL)));
    l = live(net, false, false);
    CHECK_BYTES(l, "16 16 32 16");
    xir_life life = XIR_INIT(xir_life);
    assert_false(xir_liveness_of(l, xir_op_input(a, 0), &life));
    xir_liveness_free(l);
    xir_network_free(net);
}

static void later_changes_do_no_harm(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = ReLU x; b = ReLU a; out b"), *other = story_net("x: fp32 4; out x");
    xir_liveness *l = live(net, true, true);
    xir_op *a = story_op(net, "a");
    xir_value *b = story_value(net, "b"), *value = xir_op_output(a, 0);
    xir_at before = xir_at_end(net);
    before.before = xir_value_op(b);
    xir_value *made = xir_build_relu(before, story_value(net, "x"), "new");
    DOES(xir_network_remove(net, a));
    xir_life life = XIR_INIT(xir_life);
    assert_false(xir_liveness_of(l, made, &life));
    assert_false(xir_liveness_of(l, story_value(other, "x"), &life));
    assert_false(xir_liveness_of(l, NULL, &life));
    assert_int_equal(xir_liveness_position(l, xir_value_op(made)), -1);
    assert_int_equal(xir_liveness_position(l, xir_network_first(other)), -1);
    (void)xir_liveness_of(l, value, &life);
    CHECK_LIFE(l, b, "2-3:16=a");
    assert_null(xir_liveness_op_at(l, 4));
    assert_null(xir_liveness_op_at(l, -1));
    assert_int_equal(xir_liveness_bytes_at(l, 4) + xir_liveness_bytes_at(l, -1), 0);
    assert_int_equal(xir_liveness_values_at(l, 4, NULL, 0), 0);
    xir_liveness_free(l);
    xir_network_free(other);
    xir_network_free(net);
}

/* A value that a sub op reads counts as read by its parent; the values of a sub op do not count. */
static void sub_ops_read_for_their_parent(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = ReLU x; b = ReLU x; out b");
    xir_op *out = xir_network_output_op(net);
    xir_op *part = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(story_value(net, "a")), TYPES(FP32("*", 8))));
    xir_op *next = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(xir_op_output(part, 0)), TYPES(FP32("*", 8))));
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.sub_hard_ops = (xir_ops){ (xir_op *const[]){ part, next }, 2 };
    xir_op *hard = xir_network_add(net, &(xir_op_desc)DESC(hard_op, .attrs = &attrs, INPUTS(story_value(net, "b")),
                                                           TYPES(FP32("*", 4)), .before = out));
    assert_non_null(hard);
    xir_liveness *l = live(net, false, false);
    CHECK_LIFE(l, story_value(net, "a"), "1-3:16");
    CHECK_BYTES(l, "16 32 48 48 16");
    xir_life life = XIR_INIT(xir_life);
    assert_false(xir_liveness_of(l, xir_op_output(part, 0), &life));
    xir_liveness_free(l);
    DOES(xir_op_move(hard, story_op(net, "a")));
    assert_null(xir_liveness_new(net, NULL, why));
    check_finding(XIR_E_INVALID, "the input is used before it is computed");
    xir_network_free(net);
}

static void bad_calls_are_refused(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; out x");
    assert_null(xir_liveness_new(NULL, NULL, why));
    check_finding(XIR_E_MISSING, "network");
    xir_diags_clear(why);
    assert_null(xir_liveness_new(net, &(xir_liveness_options){ 0 }, why));
    check_finding(XIR_E_ABI, "no size");
    xir_liveness *l = live(net, false, false);
    xir_life life = { 0 };
    assert_false(xir_liveness_of(l, story_value(net, "x"), &life));
    xir_live_peak peak = { 0 };
    assert_int_equal(xir_liveness_peak(l, &peak, NULL), XIR_E_ABI);
    peak = XIR_INIT(xir_live_peak);
    assert_int_equal(xir_liveness_peak(NULL, &peak, NULL), XIR_E_MISSING);
    assert_true(peak.position == -1 && !peak.op);
    xir_liveness_free(l);
    xir_liveness_free(NULL);
    xir_network_free(net);
    net = new_net();
    l = live(net, true, true);
    peak = peak_of(l);
    assert_true(peak.position == -1 && !peak.op && !peak.bytes && peak.exact);
    xir_liveness_free(l);
    xir_network_free(net);
}

static bool look(xir_context *with) {
    xir_network *net = story_net_in(with, "x: -1 4; a = ReLU x; v = Copy a; b = Add a v; out b");
    xir_liveness *l = xir_liveness_new(net, &XIR_INIT(xir_liveness_options, .views = true, .in_place = true), NULL);
    const bool done = l != NULL;
    if (l) CHECK_BYTES(l, "0+1? 0+2? 0+2? 0+3? 0+1?");
    xir_liveness_free(l);
    xir_network_free(net);
    return done;
}

static void failing_allocations_lose_nothing(void **state) {
    (void)state;
    check_memory(look);
}

/* ---- many -------------------------------------------------------------------------------------------------------- */

/* One value with 10^5 readers, and as many results. */
static void one_value_may_have_many_uses(void **state) {
    (void)state;
    enum { N = OFTEN(100000) };
    xir_network *net = new_net();
    xir_value *x = xir_input(xir_at_end(net), "x", FP32("*", 2));
    xir_value **all = malloc(N * sizeof *all);
    assert_non_null(all);
    for (size_t i = 0; i < N; i++) all[i] = xir_build_relu(xir_at_end(net), x, NULL);
    xir_output(xir_at_end(net), (xir_values){ all, N });
    xir_liveness *l = live(net, true, true);
    assert_int_equal(xir_liveness_bytes_at(l, N), 8 * (N + 1));
    assert_int_equal(peak_of(l).position, N);
    xir_liveness_free(l);
    free(all);
    xir_network_free(net);
}

/* Random networks against an obvious count: which values exist is asked again at every op. */
static xir_network *random_ops(size_t n) {
    static const char *const units[] = { "ReLU", "Copy", "Neg" };
    char story[2000];
    int at = snprintf(story, sizeof story, "x: fp32 4; y: 2 4; w: params 4");
    for (size_t i = 0; i < n; i++) {
        char a[12], b[12];
        for (int k = 0; k < 2; k++) {
            const size_t from = chance(i + 2);
            snprintf(k ? b : a, sizeof a, from == i ? "x" : from == i + 1 ? "w" : "v%zu", from);
        }
        if (chance(3)) at += snprintf(story + at, sizeof story - (size_t)at, "; v%zu = %s %s", i, units[chance(3)], a);
        else at += snprintf(story + at, sizeof story - (size_t)at, "; v%zu = Add %s %s", i, a, b);
    }
    snprintf(story + at, sizeof story - (size_t)at, "; out v%zu v%zu", n - 1, (size_t)chance(n));
    return story_net(story);
}

static bool is_read_at_or_after(const xir_network *net, const xir_value *v, int64_t at) {
    for (const xir_use *u = xir_value_uses(v); u; u = xir_use_next(u)) {
        if (xir_use_op(u) == xir_network_output_op(net) || xir_network_index_of(net, xir_use_op(u)) >= at) return true;
    }
    return xir_network_index_of(net, xir_value_op(v)) == at;
}

static void random_networks_agree_with_a_slow_count(void **state) {
    (void)state;
    for (int i = 0; i < OFTEN(400); i++) {
        xir_network *net = random_ops(1 + chance(12));
        xir_liveness *l = live(net, false, false), *both = live(net, true, true);
        const int64_t n = (int64_t)xir_network_op_count(net);
        for (int64_t at = 0; at < n; at++) {
            uint64_t all = 0, bytes = 0, taken = 0;
            const xir_value *bases[40];
            size_t n_bases = 0;
            for (int64_t k = 0; k <= at; k++) {
                const xir_op *op = xir_network_op_at(net, k);
                for (size_t o = 0; o < xir_op_output_count(op); o++) {
                    const xir_value *v = xir_op_output(op, (int64_t)o);
                    if (!is_read_at_or_after(net, v, at)) continue;
                    DOES(xir_type_bytes(xir_value_type(v), &bytes));
                    all += bytes;
                    xir_life life = XIR_INIT(xir_life);
                    assert_true(xir_liveness_of(both, v, &life));
                    size_t h = 0;
                    while (h < n_bases && bases[h] != life.in) h++;
                    if (!life.in || h < n_bases) continue;
                    bases[n_bases++] = life.in;
                    taken += bytes;
                }
            }
            assert_int_equal(xir_liveness_bytes_at(l, at), all);
            assert_int_equal(xir_liveness_bytes_at(both, at), taken);
        }
        xir_liveness_free(l);
        xir_liveness_free(both);
        xir_network_free(net);
    }
}

/* The values of a body are alive together as far as its ops read them: here b and e, then e and the body's of the call
 * inside. What enters and leaves is counted once. */
static void a_body_is_counted_while_its_call_runs(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; a = ReLU x; b = ReLU a; e = ReLU a; f = ReLU b; g = ReLU f; h = Add g e; out h");
    xir_op *ops[8];
    size_t n = 0;
    XIR_EACH_OP(op, net) ops[n++] = op;
    xir_op *inner = xir_outline(net, (xir_op *[]){ ops[4], ops[5] }, 2, NULL);
    assert_non_null(inner);
    xir_liveness *l = live(net, false, false);
    CHECK_BYTES(l, "24 48 48 72 96 72 24");   /* in `inner` b, e, f and g */
    xir_liveness_free(l);
    assert_non_null(xir_outline(net, (xir_op *[]){ ops[2], ops[3], inner, ops[6] }, 4, NULL));
    l = live(net, false, false);
    CHECK_BYTES(l, "24 48 144 24");            /* a and h; and b, e, g, and f in the call inside */
    assert_int_equal(peak_of(l).position, 2);
    xir_liveness_free(l);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_is_counted_while_its_call_runs),
        cmocka_unit_test(a_value_lives_from_its_op_to_its_last_reader),
        cmocka_unit_test(an_unused_value_lives_for_one_op),
        cmocka_unit_test(results_live_to_the_end),
        cmocka_unit_test(params_are_apart),
        cmocka_unit_test(unknown_bytes_are_counted_not_zero),
        cmocka_unit_test(bytes_beyond_64_bits_are_the_most),
        cmocka_unit_test(a_view_keeps_the_bytes_alive),
        cmocka_unit_test(a_view_of_params_takes_nothing),
        cmocka_unit_test(a_program_says_which_ops_are_views),
        cmocka_unit_test(a_row_that_does_not_hold_shares_nothing),
        cmocka_unit_test(an_output_is_written_over_what_dies),
        cmocka_unit_test(what_is_still_read_is_not_written_over),
        cmocka_unit_test(an_input_outside_of_the_row_is_not_written_over),
        cmocka_unit_test(a_row_may_be_about_many_inputs),
        cmocka_unit_test(another_order_gives_other_lives),
        cmocka_unit_test(an_order_that_cannot_be_run_is_refused),
        cmocka_unit_test(later_changes_do_no_harm),
        cmocka_unit_test(sub_ops_read_for_their_parent),
        cmocka_unit_test(bad_calls_are_refused),
        cmocka_unit_test(failing_allocations_lose_nothing),
        cmocka_unit_test(one_value_may_have_many_uses),
        cmocka_unit_test(random_networks_agree_with_a_slow_count),
    };
    return RUN_GROUP(tests);
}
