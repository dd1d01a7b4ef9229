/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Parts in the bytes of their wholes: which are, where they are in them, and which are not. */
#include "support/story.h"

/* "a=c+16" for each value of a list of letters: it is in the bytes of c, from byte 16 on; "a": in its own. */
static void check_parts(const char *story, uint64_t align, const char *names, const char *expected, int line) {
    char found[200] = "";
    size_t n = 0;
    xir_network *net = story_net(story);
    const xir_liveness_options how =
        XIR_INIT(xir_liveness_options, .views = true, .in_place = true, .parts = true, .part_align = align);
    xir_liveness *l = xir_liveness_new(net, &how, why);
    for (const char *name = names; *name; name++) {
        xir_life life = XIR_INIT(xir_life);
        const xir_value *v = story_value(net, (const char[]){ *name, 0 });
        assert_true(xir_liveness_of(l, v, &life));
        n += (size_t)snprintf(found + n, sizeof found - n, "%s%c", n ? " " : "", *name);
        if (life.in != v) n += (size_t)snprintf(found + n, sizeof found - n, "=%c", *xir_value_name(life.in).data);
        if (life.offset) n += (size_t)snprintf(found + n, sizeof found - n, "+%llu", (unsigned long long)life.offset);
    }
    if (strcmp(found, expected)) fail_msg("line %d: expected %s, found %s", line, expected, found);
    xir_liveness_free(l);
    xir_network_free(net);
}
#define PARTS(story, names, expected) check_parts(story, 0, names, expected, __LINE__)

#define TWO "x: fp32 1 4 4; a = CumSum x; b = CumSum x; "
#define END "; e = CumSum d; out e"

static void what_is_joined_is_in_the_whole(void **state) {
    (void)state;
    PARTS(TWO "d = Concat a b [axis=1]" END, "abd", "a=d b=d+64 d");
    PARTS(TWO "d = Stack a b [dim=0]" END, "abd", "a=d b=d+64 d");
    PARTS(TWO "d = Stack a b [dim=1]" END, "abd", "a=d b=d+64 d");
    PARTS(TWO "c = Concat a b [axis=1]; d = Concat c a [axis=1]" END, "abcd", "a=d+128 b=d+64 c=d d");
    PARTS(TWO "c = ReLU a; d = Concat b c [axis=1]" END, "abcd", "a=d+64 b=d c=d+64 d");
    PARTS(TWO "c = Reshape a [shape=1,16,1 layout=@layout(***)]; u = Reshape b [shape=1,16,1 layout=@layout(***)]; "
          "d = Concat c u [axis=1]" END, "abcud", "a=d b=d+64 c=d u=d+64 d");
}

static void what_is_divided_is_in_the_whole(void **state) {
    (void)state;
    static const char split[] = "x: fp32 1 4 4; d = CumSum x; a, b = Split d [sections=1,3 axis=1]; c = CumSum b; "
                                "e = CumSum a; out c e";
    PARTS(split, "dab", "d a=d b=d+16");
    check_parts(split, 16, "dab", "d a=d b=d+16", __LINE__);
    check_parts(split, 32, "dab", "d a b", __LINE__);
    PARTS("x: fp32 1 4 4; d = CumSum x; a = Slice d [begin=0,1,0 end=1,3,4 stride=1,1,1]; b = CumSum a; out b", "da",
          "d a=d+16");
    PARTS("x: fp32 1 4 4; d = CumSum x; a = Slice d [begin=0,-3,1 end=1,2,3 stride=1,1,1]; b = CumSum a; out b", "da",
          "d a=d+20");
    PARTS("x: fp32 2 4; d = CumSum x; a, b = Unstack d; c = Add a b; e = CumSum c; out e", "dabc", "d a=d b=d+16 c=d");
}

static void other_dims_before_the_axis_make_many_runs(void **state) {
    (void)state;
    PARTS(TWO "d = Concat a b [axis=2]" END, "abd", "a b d");
    PARTS(TWO "d = Stack a b [dim=3]" END, "abd", "a b d");
    PARTS("x: fp32 1 4 4; d = CumSum x; a, b = Split d [sections=1,3 axis=2]; c = CumSum b; out c a", "dab", "d a b");
    PARTS("x: fp32 1 4 4; d = CumSum x; a = Slice d [begin=0,0,1 end=1,4,3 stride=1,1,1]; b = CumSum a; out b", "da",
          "d a");
    PARTS("x: fp32 1 4 4; d = CumSum x; a = Slice d [begin=0,0,0 end=1,4,4 stride=1,2,1]; b = CumSum a; out b", "da",
          "d a");
}

static void inputs_results_and_params_are_no_parts(void **state) {
    (void)state;
    PARTS("w: params 1 4 4; " TWO "c = Concat x a [axis=1]; d = Concat c w [axis=1]" END, "xabcd", "x a=d+64 b c=d d");
    PARTS(TWO "d = Concat a b [axis=1]; e = CumSum d; out e a", "abd", "a b=d+64 d");
    PARTS(TWO "d = Concat a b [axis=1]; out d", "abd", "a b d");
    PARTS("x: fp32 1 4 4; a, b = Split x [sections=1,3 axis=1]; c = CumSum a; d = CumSum b; out c d", "xab", "x a b");
}

/* Bytes that something else still needs are not written over. */
static void nothing_needed_is_written_over(void **state) {
    (void)state;
    PARTS(TWO "d = Concat a b [axis=1]; c = ReLU a; e = CumSum d; out c e", "abdc", "a b=d+64 d c=a");
    PARTS(TWO "c = ReLU a; d = Concat c b [axis=1]; e = ReLU d; f = CumSum e; out f", "abcde", "a=d b=d+64 c=d d e=d");
    PARTS(TWO "d = Concat a b [axis=1]; e = ReLU d; c = CumSum a; f = CumSum e; out c f", "abde", "a b=d+64 d e=d");
    PARTS("x: fp32 1 4 4; d = CumSum x; a, b = Split d [sections=1,3 axis=1]; c = ReLU a; e = CumSum d; f = CumSum c; "
          "g = CumSum b; out e f g", "dabc", "d a b=d+16 c=a");
}

static void the_join_that_saves_more_has_a_value(void **state) {
    (void)state;
    PARTS("x: fp32 1 4 4; a = CumSum x; b = CumSum a; u = Concat b a [axis=1]; d = Concat u u b [axis=1]; "
          "e = CumSum d; f = CumSum u; out e f", "abu", "a=d+64 b=d+256 u=d");
}

/* The whole would be there from `a` on, and thus at the peak, c. */
static void a_peak_does_not_rise(void **state) {
    (void)state;
    PARTS("x: fp32 1 4 4; a = Slice x [begin=0,0,0 end=1,1,4 stride=1,1,1]; b = Concat x x x x x x [axis=2]; "
          "c = CumSum b; u = Slice c [begin=0,0,0 end=1,4,4 stride=1,1,1]; d = Concat a u [axis=1]; e = CumSum d; out e",
          "aud", "a u=d+16 d");
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_joined_is_in_the_whole),
        cmocka_unit_test(what_is_divided_is_in_the_whole),
        cmocka_unit_test(other_dims_before_the_axis_make_many_runs),
        cmocka_unit_test(inputs_results_and_params_are_no_parts),
        cmocka_unit_test(nothing_needed_is_written_over),
        cmocka_unit_test(the_join_that_saves_more_has_a_value),
        cmocka_unit_test(a_peak_does_not_rise),
    };
    return RUN_GROUP(tests);
}
