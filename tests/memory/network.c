/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Buffers of networks: what gets one, who shares one, unknown bytes; plans of them, and the memory types that
 * follow. */
#include "support/buffers.h"
#include "support/scarce.h"
#include "support/story.h"

static xir_memory_buffers *buffers_in(const xir_network *net, bool sharing, const xir_memory_buffers_options *how) {
    xir_liveness *l = xir_liveness_new(
        net, &XIR_INIT(xir_liveness_options, .views = sharing, .in_place = sharing), why);
    xir_memory_buffers *b = xir_memory_buffers_new(l, how, why);
    xir_liveness_free(l);
    return b;
}

/* "x 0-1:16" for each buffer, with the name of its first value. */
static void check_buffers(const xir_memory_buffers *b, const char *expected, int line) {
    char found[400] = "";
    size_t n = 0;
    for (size_t i = 0; i < xir_memory_buffers_count(b); i++) {
        const xir_buffer *it = &xir_memory_buffers_data(b)[i];
        const xir_str name = xir_value_name(xir_memory_buffers_value(b, i));
        n += (size_t)snprintf(found + n, sizeof found - n, "%s%.*s %lld-%lld:%llu", i ? ", " : "", (int)name.size,
                              name.data, (long long)it->from, (long long)it->to, (unsigned long long)it->size);
        if (it->fixed) n += (size_t)snprintf(found + n, sizeof found - n, "@%llu", (unsigned long long)it->offset);
    }
    if (strcmp(found, expected)) fail_msg("line %d: expected %s, found %s", line, expected, found);
}
#define CHECK_BUFFERS(b, expected) check_buffers(b, expected, __LINE__)

#define STORY "x: fp32 4; a = ReLU x; b = Sigmoid a; c = Add a b; out c"

static void each_value_has_a_buffer(void **state) {
    (void)state;
    xir_network *net = story_net(STORY);
    xir_memory_buffers *b = buffers_in(net, false, &XIR_INIT(xir_memory_buffers_options, .align = 64));
    CHECK_BUFFERS(b, "x 0-1:16, a 1-3:16, b 2-3:16, c 3-4:16");
    assert_int_equal(xir_memory_buffers_data(b)[2].align, 64);
    assert_int_equal(xir_memory_buffers_find(b, story_value(net, "b")), 2);
    assert_null(xir_memory_buffers_value(b, 4));
    xir_memory_buffers_free(b);
    xir_network_free(net);
}

static void values_that_share_bytes_have_one_buffer(void **state) {
    (void)state;
    xir_network *net = story_net("w: params 8; x: fp32 8; a = Sigmoid x; b = ReLU a; c = Add b w; v = Squeeze w; out c v");
    xir_memory_buffers *b = buffers_in(net, true, NULL);
    CHECK_BUFFERS(b, "x 0-1:32, a 1-5:32");
    assert_int_equal(xir_memory_buffers_find(b, story_value(net, "c")), 1);
    assert_int_equal(xir_memory_buffers_find(b, story_value(net, "w")), SIZE_MAX);
    assert_int_equal(xir_memory_buffers_find(b, story_value(net, "v")), SIZE_MAX);
    assert_int_equal(xir_memory_buffers_find(b, NULL), SIZE_MAX);
    xir_memory_buffers_free(b);
    xir_network_free(net);
}

static bool not_x(void *user, const xir_value *value) {
    (void)user;
    return !xir_str_equal(xir_value_name(value), XIR_STR("x"));
}

static bool is_a(void *user, const xir_value *value, uint64_t *offset) {
    *offset = *(const uint64_t *)user;
    return xir_str_equal(xir_value_name(value), XIR_STR("a"));
}

static void a_program_chooses_values_and_places(void **state) {
    (void)state;
    uint64_t at = 100;
    xir_network *net = story_net(STORY);
    xir_memory_buffers *b = buffers_in(
        net, false, &XIR_INIT(xir_memory_buffers_options, .takes = not_x, .is_fixed = is_a, .user = &at));
    CHECK_BUFFERS(b, "a 1-3:16@100, b 2-3:16, c 3-4:16");
    xir_memory_buffers_free(b);
    xir_network_free(net);
}

static void unknown_bytes_need_a_number(void **state) {
    (void)state;
    xir_network *net = story_net("x: -1 4; a = ReLU x; out a");
    assert_null(buffers_in(net, false, NULL));
    const xir_diag *d = xir_diags_at(why, 0);
    CHECK_STR(d->path, "/ops/0/outputs/0");
    check_finding(XIR_E_BOUNDS, "the bytes of value 'x' are unknown");
    xir_memory_buffers *b = buffers_in(net, false, &XIR_INIT(xir_memory_buffers_options, .upper = 10));
    CHECK_BUFFERS(b, "x 0-1:160, a 1-2:160");
    xir_memory_buffers_free(b);
    DOES(xir_value_set_type(story_value(net, "x"), FP32("***", -1, 1 << 30, 1 << 30)));
    assert_null(buffers_in(net, false, &XIR_INIT(xir_memory_buffers_options, .upper = 10)));
    CHECK_STR(xir_diags_at(why, 0)->path, "/ops/0/outputs/0");
    check_finding(XIR_E_BOUNDS, "the bytes of value 'x' exceed 2^64 - 1");
    DOES(xir_value_set_type(story_value(net, "x"), FP32("***", 10, 1 << 30, 1 << 30)));
    assert_null(buffers_in(net, false, NULL));
    check_finding(XIR_E_BOUNDS, "the bytes of value 'x' exceed 2^64 - 1");
    DOES(xir_value_set_type(story_value(net, "x"), FP32("*", 4)));
    DOES(xir_value_set_type(story_value(net, "a"), NULL));
    assert_null(buffers_in(net, false, &XIR_INIT(xir_memory_buffers_options, .upper = 10)));
    check_finding(XIR_E_BOUNDS, "the bytes of value 'a' are unknown");
    assert_null(buffers_in(net, false, &XIR_INIT(xir_memory_buffers_options, .upper = -2)));
    check_finding(XIR_E_BOUNDS, "-2 for a dim is negative");
    assert_null(xir_memory_buffers_new(NULL, NULL, why));
    check_finding(XIR_E_MISSING, "liveness");
    xir_network_free(net);
}

/* "x@64 a@0" of external memory, "x#64" on the chip, "x!3+64" in a chunk. */
static void check_places(const xir_network *net, const char *names, const char *expected, int line) {
    char found[400] = "";
    size_t n = 0;
    for (const char *name = names; *name; name++) {
        const xir_mtype *it = xir_value_mtype(story_value(net, (const char[]){ *name, 0 }));
        const xir_mtype_kind kind = xir_mtype_kind_of(it);
        n += (size_t)snprintf(found + n, sizeof found - n, "%s%c%s%llu", n ? " " : "", *name,
                              kind == XIR_MTYPE_EXTERNAL ? "@" : kind == XIR_MTYPE_ONCHIP ? "#" :
                              kind == XIR_MTYPE_CHUNK ? "!" : "host", (unsigned long long)xir_mtype_addr(it));
        if (kind == XIR_MTYPE_CHUNK)
            n += (size_t)snprintf(found + n, sizeof found - n, "+%llu", (unsigned long long)xir_mtype_offset(it));
    }
    if (strcmp(found, expected)) fail_msg("line %d: expected %s, found %s", line, expected, found);
}
#define CHECK_PLACES(net, names, expected) check_places(net, names, expected, __LINE__)

static void plans_become_memory_types(void **state) {
    (void)state;
    xir_network *net = story_net(STORY);
    xir_memory_buffers *b = buffers_in(net, true, &XIR_INIT(xir_memory_buffers_options, .align = 64));
    xir_memory_plan *plan = xir_memory_buffers_plan(b, NULL, why);
    assert_int_equal(plan_peak(plan).bytes, 128);
    DOES(xir_memory_assign(net, b, plan, XIR_MTYPE_EXTERNAL, 4096, why));
    CHECK_PLACES(net, "xabc", "x@4160 a@4096 b@4160 c@4096");
    DOES(xir_memory_assign(net, b, plan, XIR_MTYPE_ONCHIP, 0, why));
    CHECK_PLACES(net, "xabc", "x#64 a#0 b#64 c#0");
    DOES(xir_memory_assign(net, b, plan, XIR_MTYPE_CHUNK, 3, why));
    CHECK_PLACES(net, "xabc", "x!3+64 a!3+0 b!3+64 c!3+0");
    assert_int_equal(xir_memory_assign(net, b, plan, XIR_MTYPE_HOST, 0, why), XIR_E_BOUNDS);
    check_finding(XIR_E_BOUNDS, "has no addresses");
    assert_int_equal(xir_memory_assign(net, b, plan, XIR_MTYPE_ONCHIP, INT64_MAX - 10, why), XIR_E_BOUNDS);
    check_finding(XIR_E_BOUNDS, "exceeds 2^63 - 1");
    assert_int_equal(xir_memory_assign(net, b, NULL, XIR_MTYPE_ONCHIP, 0, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "plan");
    xir_memory_plan *other = xir_memory_plan_new(ctx, NULL, 0, NULL, why);
    assert_int_equal(xir_memory_assign(net, b, other, XIR_MTYPE_ONCHIP, 0, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "the plan has 0 buffers");
    xir_memory_plan_free(other);
    xir_network *copy = xir_network_clone(net);
    assert_int_equal(xir_memory_assign(copy, b, plan, XIR_MTYPE_ONCHIP, 0, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "is not one of the network");
    xir_network_free(copy);
    CHECK_PLACES(net, "xabc", "x!3+64 a!3+0 b!3+64 c!3+0");
    xir_memory_plan_free(plan);
    xir_memory_buffers_free(b);
    xir_network_free(net);
}

static void a_limit_names_the_op_at_the_peak(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = ReLU x; b = Sigmoid a; c = Add a b; out c");
    xir_memory_buffers *b = buffers_in(net, false, NULL);
    assert_null(xir_memory_buffers_plan(b, &XIR_INIT(xir_memory_options, .limit = 40), why));
    assert_int_equal(xir_diags_count(why), 2);
    CHECK_STR(xir_diags_at(why, 1)->path, "/ops/3");
    CHECK_STR(xir_diags_at(why, 1)->message, "the most bytes live while op 'c' runs: 'a' 16, 'b' 16, 'c' 16");
    xir_diags_clear(why);
    xir_memory_buffers_free(b);
    assert_null(xir_memory_buffers_plan(NULL, NULL, why));
    check_finding(XIR_E_MISSING, "buffers");
    xir_network_free(net);
}

static const char *note_of(const xir_memory_buffers *b, const xir_memory_options *how, xir_status status) {
    xir_diags_clear(why);
    assert_null(xir_memory_buffers_plan(b, how, why));
    assert_int_equal(xir_diags_at(why, 0)->code, status);
    return xir_diags_count(why) > 1 ? xir_diags_at(why, 1)->message.data : NULL;
}

static void other_failures_name_no_op(void **state) {
    (void)state;
    xir_network *net = story_net(STORY);
    xir_memory_buffers *b = buffers_in(net, false, NULL);
    assert_non_null(note_of(b, &XIR_INIT(xir_memory_options, .limit = 40), XIR_E_LIMIT));
    assert_null(note_of(b, &XIR_INIT(xir_memory_options, .limit = 40, .effort = XIR_EFFORT_COUNT), XIR_E_BOUNDS));
    const xir_memory_options none = { .size = 0, .limit = 40 };
    assert_null(note_of(b, &none, XIR_E_ABI));
    assert_null(xir_memory_buffers_plan(b, &XIR_INIT(xir_memory_options, .limit = 40), NULL));
    xir_diags_clear(why);
    xir_memory_buffers_free(b);
    xir_network_free(net);
}

/* Eight values are all that live; of nine, one is not named. */
static void a_note_says_whether_it_names_all_values(void **state) {
    (void)state;
    for (size_t n = 8; n <= 9; n++) {
        xir_network *net = new_net();
        xir_value *values[8], *x = xir_input(xir_at_end(net), "x", FP32("**", 1, 4));
        for (size_t i = 0; i < n - 1; i++) values[i] = XIR_OP(xir_at_end(net), sigmoid, .input = x);
        assert_non_null(xir_output(xir_at_end(net), (xir_values){ values, n - 1 }));
        xir_memory_buffers *b = buffers_in(net, false, NULL);
        const char *note = note_of(b, &XIR_INIT(xir_memory_options, .limit = 40), XIR_E_LIMIT);
        assert_non_null(note);
        if ((strstr(note, "…") != NULL) != (n > 8)) fail_msg("of %zu values: %s", n, note);
        xir_diags_clear(why);
        xir_memory_buffers_free(b);
        xir_network_free(net);
    }
}

static void an_empty_network_has_no_buffers(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_memory_buffers *b = buffers_in(net, true, NULL);
    xir_memory_plan *plan = xir_memory_buffers_plan(b, NULL, why);
    assert_int_equal(xir_memory_buffers_count(b), 0);
    DOES(xir_memory_assign(net, b, plan, XIR_MTYPE_EXTERNAL, 0, why));
    xir_memory_plan_free(plan);
    xir_memory_buffers_free(b);
    xir_network_free(net);
}

static void planning(want *w) {
    xir_liveness *l;
    xir_memory_buffers *b;
    xir_memory_plan *plan;
    IN_PLENTY(w, w->net = story_net_in(w->ctx, STORY));
    TRY_MAKE(w, l, xir_liveness_new(w->net, &XIR_INIT(xir_liveness_options, .in_place = true), w->why));
    TRY_MAKE(w, b, xir_memory_buffers_new(l, NULL, w->why));
    TRY_MAKE(w, plan, xir_memory_buffers_plan(b, NULL, w->why));
    TRY(w, xir_memory_assign(w->net, b, plan, XIR_MTYPE_EXTERNAL, 4096, w->why));
    xir_memory_plan_free(plan);
    xir_memory_buffers_free(b);
    xir_liveness_free(l);
    IN_PLENTY(w, w->result = picture(w->net));
}
SCARCE_TEST(planning)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_value_has_a_buffer),
        cmocka_unit_test(values_that_share_bytes_have_one_buffer),
        cmocka_unit_test(a_program_chooses_values_and_places),
        cmocka_unit_test(unknown_bytes_need_a_number),
        cmocka_unit_test(plans_become_memory_types),
        cmocka_unit_test(a_limit_names_the_op_at_the_peak),
        cmocka_unit_test(other_failures_name_no_op),
        cmocka_unit_test(a_note_says_whether_it_names_all_values),
        cmocka_unit_test(an_empty_network_has_no_buffers),
        cmocka_unit_test(test_planning),
    };
    return RUN_GROUP(tests);
}
