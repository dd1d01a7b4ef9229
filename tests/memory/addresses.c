/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Addresses of a network's values: which overlaps are faults, which are not, and what is beyond a limit. The files of
 * real back ends have none. */
#include "support/buffers.h"
#include "support/often.h"
#include "support/scarce.h"
#include "support/story.h"

/* "x@0 a@16": external memory; '#': on the chip; "x!2+16": chunk 2. Others stay on the host. */
static void place_values(xir_network *net, const char *text) {
    for (char *at = (char *)(uintptr_t)text; *at;) {
        char name[20] = "", *p = name;
        while (!strchr("@#!", *at)) *p++ = *at++;
        const char kind = *at;
        uint64_t first = strtoull(at + 1, &at, 10), offset = *at == '+' ? strtoull(at + 1, &at, 10) : 0;
        DOES(xir_value_set_mtype(story_value(net, name), kind == '@' ? xir_mtype_external(ctx, first)
                                                       : kind == '#' ? xir_mtype_onchip(ctx, first)
                                                                     : xir_mtype_chunk(ctx, first, offset)));
        while (*at == ' ') at++;
    }
}

static void check_story_places(const char *story, const char *places, const char *path, const char *part, int line) {
    xir_network *net = story_net(story);
    place_values(net, places);
    const xir_status status = xir_memory_check(
        net, &XIR_INIT(xir_memory_check_options, .onchip = 1 << 20, .align = 4), why);
    if (!part) {
        if (status) fail_msg("line %d: %.*s", line, (int)xir_diags_at(why, 0)->message.size,
                             xir_diags_at(why, 0)->message.data);
    } else {
        if (!status) fail_msg("line %d: no finding", line);
        const xir_diag *first = xir_diags_at(why, 0);
        CHECK_STR(first->path, path);
        if (first->code != status || !strstr(first->message.data, part))
            fail_msg("line %d: %.*s", line, (int)first->message.size, first->message.data);
        xir_diags_clear(why);
    }
    xir_network_free(net);
}
#define SOUND(story, places)              check_story_places(story, places, "", NULL, __LINE__)
#define FAULT(story, places, path, part)  check_story_places(story, places, path, part, __LINE__)

#define CHAIN "x: fp32 4; a = Sigmoid x; b = Sigmoid a; c = Add a b; out c"

static void values_that_live_together_are_apart(void **state) {
    (void)state;
    SOUND(CHAIN, "");
    SOUND(CHAIN, "x@0 a@16 b@0 c@32");
    SOUND(CHAIN, "x@0 a#0 b!0+0 c!1+0");
    FAULT(CHAIN, "x@0 a@16 b@16", "/ops/2/outputs/0",
          "bytes 16 to 31 of external memory overlap those of value 'a', 16 to 31, which lives at the same time");
    FAULT(CHAIN, "a#4 b#16", "/ops/2/outputs/0", "bytes 16 to 31 of on-chip memory overlap those of value 'a', 4 to 19");
    FAULT(CHAIN, "a!7+0 b!7+12", "/ops/2/outputs/0", "of its chunk overlap those of value 'a'");
}

static void all_at_one_address_is_a_fault(void **state) {
    (void)state;
    FAULT("x: fp32 4; a = ReLU x; b = Tanh x; c = Add a b; out c", "x@4096 a@4096 b@4096 c@4096", "/ops/1/outputs/0",
          "overlap those of value 'x'");
}

static void rows_allow_to_write_over_an_input(void **state) {
    (void)state;
    SOUND("x: fp32 4; a = Sigmoid x; b = ReLU a; out b", "a@0 b@0");
    SOUND("x: fp32 4; a = Sigmoid x; b = Sigmoid x; c = Add a b; out c", "a@0 b@16 c@16");
    FAULT("x: fp32 4; a = Sigmoid x; b = ReLU a; out b", "a@0 b@8", "/ops/2/outputs/0", "overlap those of value 'a'");
    FAULT("x: fp32 4; a = Sigmoid x; b = ReLU a; c = Add a b; out c", "a@0 b@0", "/ops/2/outputs/0",
          "overlap those of value 'a'");
    SOUND("x: fp32 1 4; a = Sigmoid x; b = Squeeze a; c = Sigmoid b; out b c", "a@0 b@0 c@32");
}

/* Only the first output over an input that the op reads nowhere else, with as many elements of as many bits. */
static void rows_do_not_allow_more_than_to_write_over_an_input(void **state) {
    (void)state;
    static const char scatter[] = "x: fp32 2; i: sint64 2 1; a = Sigmoid x; s = ScatterND a i a; out s";
    SOUND("x: fp32 2; u: fp32 2; i: sint64 2 1; a = Sigmoid x; s = ScatterND a i u; out s", "a@0 s@0");
    FAULT(scatter, "a@0 s@0", "/ops/2/outputs/0", "overlap those of value 'a'");
    FAULT("x: fp32 1; y: fp32 4; a = Sigmoid x; b = Less a y; out b", "a@0 b@0", "/ops/2/outputs/0",
          "bytes 0 to 3 of external memory overlap those of value 'a', 0 to 3");
}

/* This holds even for an op after the Output op. */
static void results_are_not_written_over(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = Sigmoid x; b = ReLU a; out a");
    place_values(net, "a@0 b@0");
    DOES(xir_op_move(xir_network_output_op(net), story_op(net, "b")));
    assert_int_equal(xir_memory_check(net, NULL, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "overlap those of value 'a'");
    xir_network_free(net);
}

static void params_live_all_the_time(void **state) {
    (void)state;
    SOUND("w: params 4; x: fp32 4; a = Add x w; b = Sigmoid a; out b", "w@4096 x@4112 a@4128 b@4112");
    FAULT("w: params 4; x: fp32 4; a = Add x w; b = Sigmoid a; out b", "w@4096 b@4100", "/ops/2/outputs/0",
          "bytes 4100 to 4115 of external memory overlap those of Params 'w', 4096 to 4111, which live all the time");
    FAULT("w: params 4; x: fp32 4; a = Add x w; out a", "w@4096 x@4096", "/ops/0/outputs/0", "those of Params 'w'");
    FAULT("w: params 4; x: fp32 4; a = Add w x; out a", "w@4096 a@4096", "/ops/1/outputs/0", "those of Params 'w'");
    FAULT("w: params 4; u: params 4; x: fp32 4; a = Add x w; b = Add a u; out b", "w@0 u@8", "/ops/2/inputs/1",
          "those of Params 'w'");
    FAULT("w: params 4; x: fp32 4; a = Add x w; out a", "w@6", "/ops/1/inputs/1", "is not a multiple of 4");
    SOUND("w: params 4; x: fp32 4; a = acme::Thing x w; out a", "w@0 a@0");
}

static void views_of_params_may_be_where_these_are(void **state) {
    (void)state;
    static const char story[] = "w: params 1 1 4; x: fp32 4; v = Squeeze w [axis=0]; u = Squeeze v [axis=0]; a = Add x u; out a";
    SOUND(story, "w@0 v@0 u@0");
    SOUND(story, "v@0 u@0");
    SOUND(story, "w@0 u@0");
    FAULT(story, "w@0 u@8", "/ops/2/outputs/0", "overlap those of Params 'w'");
}

static void ops_without_rules_may_do_anything(void **state) {
    (void)state;
    SOUND("x: fp32 4; a = acme::Thing x; b = acme::Thing a x; out b", "x@0 a@8 b@4");
    FAULT("x: fp32 4; a = acme::Thing x; b = Sigmoid a; c = Add a b; out c", "a@0 b@4", "/ops/2/outputs/0",
          "overlap those of value 'a'");
}

static void parts_lie_in_what_they_are_joined_to(void **state) {
    (void)state;
    SOUND("x: fp32 4; a = Sigmoid x; b = Sigmoid x; c = Concat a b [axis=0]; out c", "a@0 b@16 c@0");
    FAULT("x: fp32 4; a = Sigmoid x; b = Sigmoid x; c = Concat a b [axis=0]; out c", "a@0 b@8", "/ops/2/outputs/0",
          "overlap those of value 'a'");
}

/* Views of one value at one address, all read by the last op; and parts in what they are joined to. */
static void many_values_may_be_in_the_same_bytes(void **state) {
    (void)state;
    enum { N = 6000 };
    xir_value **values = calloc(N, sizeof *values);
    for (int views = 0; views < 2; views++) {
        xir_network *net = new_net();
        xir_value *x = xir_input(xir_at_end(net), "x", FP32("**", 1, 4));
        xir_value *a = XIR_OP(xir_at_end(net), sigmoid, .input = x);
        for (size_t i = 0; i < N; i++) {
            values[i] = views ? xir_build_reshape(xir_at_end(net), a, "**", (const int64_t[]){ 1, 4 }, 2, NULL)
                              : XIR_OP(xir_at_end(net), sigmoid, .input = a);
            DOES(xir_value_set_mtype(values[i], xir_mtype_external(ctx, views ? 0 : 16 * i)));
        }
        xir_value *c =
            XIR_OP(xir_at_end(net), concat, .inputs = { values, N }, .attrs = XIR_ATTRS(concat, (axis, 0)));
        DOES(xir_value_set_mtype(c, xir_mtype_external(ctx, views ? 16 : 0)));
        DOES(xir_value_set_mtype(a, views ? xir_mtype_external(ctx, 0) : xir_mtype_onchip(ctx, 0)));
        assert_non_null(xir_output(xir_at_end(net), XIR_VALUES(c)));
        DOES(xir_memory_check(net, NULL, why));
        DOES(xir_value_set_mtype(values[N / 2], xir_mtype_external(ctx, 8)));
        assert_int_equal(xir_memory_check(net, NULL, why), XIR_E_INVALID);
        assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "bytes 8 to 23 of external memory overlap"));
        xir_diags_clear(why);
        xir_network_free(net);
    }
    free(values);
}

static void limits_and_alignments_are_kept(void **state) {
    (void)state;
    SOUND(CHAIN, "a#1048560");
    FAULT(CHAIN, "a#1048564", "/ops/1/outputs/0", "16 bytes at 1048564 end beyond the on-chip memory, which has 1048576");
    SOUND(CHAIN, "a@1048564");
    FAULT(CHAIN, "a@6", "/ops/1/outputs/0", "the address 6 in external memory is not a multiple of 4");
    FAULT(CHAIN, "a@18446744073709551608", "/ops/1/outputs/0", "end beyond 2^64 - 1");
}

static void bad_arguments_are_refused(void **state) {
    (void)state;
    assert_int_equal(xir_memory_check(NULL, NULL, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "network");
    xir_network *net = story_net(CHAIN);
    DOES(xir_memory_check(net, NULL, NULL));
    place_values(net, "a@0 b@0");
    assert_int_equal(xir_memory_check(net, NULL, NULL), XIR_E_INVALID);
    xir_network_free(net);
}

static void real_files_have_no_fault(void **state) {
    (void)state;
    static const char *const names[] = { "superpoint_test_softmax_BY.json", "yolov5s_plin_352x640_ZG.json" };
    const char *corpus = getenv("XIR_CORPUS");
    char path[1000];
    for (size_t i = 0; i < COUNT(names) && corpus; i++) {
        snprintf(path, sizeof path, "%s/icraft/%s", corpus, names[i]);
        xir_network *net = xir_network_load(ctx, path, NULL, NULL);
        if (!net) continue;
        DOES(xir_memory_check(net, &XIR_INIT(xir_memory_check_options, .onchip = 2 << 20, .align = 32), why));
        xir_network_free(net);
    }
}

/* ---- against plans ----------------------------------------------------------------------------------------------- */

/* A chain of ops with branches, planned: no fault. With one value moved, a fault where two that live together overlap,
 * unless one may be written over the other. */
static void planned_networks_are_sound_and_moved_values_are_found(void **state) {
    (void)state;
    size_t found = 0;
    for (uint64_t i = 0; i < OFTEN(300); i++) {
        chance_begin(i);
        const xir_type *type = FP32("**", 4, 1 + (int64_t)chance(8));
        xir_network *net = new_net();
        xir_value *values[40] = { xir_input(xir_at_end(net), "x", type) };
        size_t n = 1;
        for (; n < 40; n++) {
            xir_value *a = values[n - 1 - chance(n < 5 ? n : 5)], *b = values[n - 1];
            values[n] = chance(2) ? XIR_OP(xir_at_end(net), sigmoid, .input = a)
                                  : xir_build_add(xir_at_end(net), a, b, 1, 1, "");
        }
        assert_non_null(xir_output(xir_at_end(net), XIR_VALUES(values[n - 1])));
        xir_liveness *l = xir_liveness_new(net, &XIR_INIT(xir_liveness_options, .in_place = i % 2), why);
        xir_memory_buffers *b = xir_memory_buffers_new(l, &XIR_INIT(xir_memory_buffers_options, .align = 16), why);
        xir_memory_plan *plan = xir_memory_buffers_plan(b, NULL, why);
        DOES(xir_memory_assign(net, b, plan, XIR_MTYPE_EXTERNAL, 64, why));
        DOES(xir_memory_check(net, &XIR_INIT(xir_memory_check_options, .align = 16), why));
        xir_value *moved = values[chance(n)];
        const uint64_t bytes = xir_memory_buffers_data(b)[0].size;
        DOES(xir_value_set_mtype(moved, xir_mtype_external(ctx, 64 + chance(plan_peak(plan).bytes))));
        bool overlaps = false;
        xir_life life = XIR_INIT(xir_life), other = XIR_INIT(xir_life);
        assert_true(xir_liveness_of(l, moved, &life));
        for (size_t j = 0; j < n; j++) {
            const uint64_t at = xir_mtype_addr(xir_value_mtype(moved)), to = xir_mtype_addr(xir_value_mtype(values[j]));
            assert_true(xir_liveness_of(l, values[j], &other));
            overlaps |= values[j] != moved && life.first < other.last && other.first < life.last && at < to + bytes &&
                        to < at + bytes;
        }
        if (overlaps) {
            assert_int_equal(xir_memory_check(net, NULL, why), XIR_E_INVALID);
            xir_diags_clear(why);
            found++;
        }
        xir_memory_plan_free(plan);
        xir_memory_buffers_free(b);
        xir_liveness_free(l);
        xir_network_free(net);
    }
    assert_true(found > OFTEN(300) / 4);
}

/* The same with views, and with every sharing of the plan: the checker allows at least what liveness does. */
static void plans_that_share_bytes_are_sound(void **state) {
    (void)state;
    for (uint64_t i = 0; i < OFTEN(300); i++) {
        chance_begin(i);
        xir_network *net = new_net();
        xir_value *values[60] = { xir_input(xir_at_end(net), "x", FP32("**", 4, 6)) };
        for (size_t n = 1; n < COUNT(values); n++) {
            xir_value *a = values[n - 1 - chance(n < 8 ? n : 8)], *b = values[n - 1 - chance(n < 3 ? n : 3)];
            values[n] = chance(3) ? xir_build_reshape(xir_at_end(net), a, "**", (const int64_t[]){ 4, 6 }, 2, NULL)
                      : chance(2) ? XIR_OP(xir_at_end(net), relu, .input = a)
                                  : xir_build_add(xir_at_end(net), a, b, 1, 1, "");
        }
        assert_non_null(xir_output(xir_at_end(net), XIR_VALUES(values[COUNT(values) - 1], values[40])));
        xir_liveness *l = xir_liveness_new(
            net, &XIR_INIT(xir_liveness_options, .views = i % 2, .in_place = i / 2 % 2), why);
        xir_memory_buffers *b = xir_memory_buffers_new(l, NULL, why);
        xir_memory_plan *plan = xir_memory_buffers_plan(b, NULL, why);
        DOES(xir_memory_assign(net, b, plan, XIR_MTYPE_ONCHIP, 0, why));
        DOES(xir_memory_check(net, NULL, why));
        xir_memory_plan_free(plan);
        xir_memory_buffers_free(b);
        xir_liveness_free(l);
        xir_network_free(net);
    }
}

static void checking(want *w) {
    IN_PLENTY(w, w->net = story_net_in(w->ctx, "w: params 1 4; x: fp32 4; v = Squeeze w; a = Add x v; out a"));
    IN_PLENTY(w, DOES(xir_value_set_mtype(story_value(w->net, "w"), xir_mtype_external(w->ctx, 128))));
    IN_PLENTY(w, DOES(xir_value_set_mtype(story_value(w->net, "a"), xir_mtype_external(w->ctx, 64))));
    TRY(w, xir_memory_check(w->net, NULL, w->why));
    IN_PLENTY(w, w->result = picture(w->net));
}
SCARCE_TEST(checking)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_that_live_together_are_apart),
        cmocka_unit_test(all_at_one_address_is_a_fault),
        cmocka_unit_test(rows_allow_to_write_over_an_input),
        cmocka_unit_test(rows_do_not_allow_more_than_to_write_over_an_input),
        cmocka_unit_test(results_are_not_written_over),
        cmocka_unit_test(params_live_all_the_time),
        cmocka_unit_test(views_of_params_may_be_where_these_are),
        cmocka_unit_test(ops_without_rules_may_do_anything),
        cmocka_unit_test(parts_lie_in_what_they_are_joined_to),
        cmocka_unit_test(many_values_may_be_in_the_same_bytes),
        cmocka_unit_test(limits_and_alignments_are_kept),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(real_files_have_no_fault),
        cmocka_unit_test(planned_networks_are_sound_and_moved_values_are_found),
        cmocka_unit_test(plans_that_share_bytes_are_sound),
        cmocka_unit_test(test_checking),
    };
    return RUN_GROUP(tests);
}
