/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Pairs of values, and the findings of comparing them: stories side by side. */
#include <math.h>
#include <stdio.h>
#include "support/scarce.h"
#include "support/story.h"

/* A comparison after one run on numbers that depend on the position alone. */
typedef struct checked {
    xir_network *a, *b;
    xir_compare *c;
} checked;

static xir_array *counted(xir_context *in, const xir_type *type) {
    xir_array *array = xir_array_new(in, type, NULL);
    float *v = array ? xir_array_edit(array) : NULL;
    for (size_t i = 0; v && i < xir_array_count(array); i++) v[i] = (float)((double)(i * 7 % 11) / 4 - 1.25);
    return array;
}

static xir_status run(xir_compare *c, const xir_network *a) {
    xir_array *in[4];
    const size_t n = xir_network_inputs(a, NULL, 0);
    for (size_t i = 0; i < n; i++)
        in[i] = counted(xir_network_context(a), xir_value_type(xir_op_output(xir_network_input_op(a), (int64_t)i)));
    const xir_status status = xir_compare_run(c, (const xir_array *const *)in, n, why);
    for (size_t i = 0; i < n; i++) xir_array_free(in[i]);
    return status;
}

static checked compare_nets(xir_network *a, xir_network *b, const xir_compare_options *how) {
    checked k = { a, b, xir_compare_new(a, b, how, why) };
    if (!k.c) xir_diags_print(why, stderr);
    assert_non_null(k.c);
    if (run(k.c, a)) xir_diags_print(why, stderr);
    return k;
}

static checked compare_stories(const char *a, const char *b, const xir_compare_options *how) {
    return compare_nets(story_net(a), story_net(b), how);
}

static void free_checked(checked *k) {
    xir_compare_free(k->c);
    xir_network_free(k->a);
    xir_network_free(k->b);
}

/* The pairs as text: "a=a b!c", by the names of the values or of their ops; "!" is a bad one, "?" one of another
 * shape. */
static const char *pairs_of(const checked *k) {
    static char text[2000];
    const xir_compare_pair *p;
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; (p = xir_compare_at(k->c, i)); i++) {
        const xir_str a = xir_op_name(xir_value_op(p->a)), b = xir_op_name(xir_value_op(p->b));
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.*s%c%.*s", n ? " " : "", XIR_ARG(a),
                              !p->same_shape ? '?' : p->bad ? '!' : '=', XIR_ARG(b));
    }
    return text;
}

#define CHECK_PAIRS(a, b, how, expected)                     \
    do {                                                     \
        checked checked_ = compare_stories(a, b, how);       \
        assert_string_equal(pairs_of(&checked_), expected);  \
        free_checked(&checked_);                             \
    } while (0)

static void values_of_one_name_are_pairs(void **state) {
    (void)state;
    static const char a[] = "x: fp32 4; a = Neg x; b = Sign a; c = Add a b; out c";
    CHECK_PAIRS(a, a, NULL, "a=a b=b c=c");
    /* in another order */
    CHECK_PAIRS("x: fp32 4; a = Neg x; b = Sign x; c = Add a b; out c",
                "x: fp32 4; b = Sign x; a = Neg x; c = Add a b; out c", NULL, "a=a b=b c=c");
    /* a wrong op, and what it spoils */
    CHECK_PAIRS(a, "x: fp32 4; a = Neg x; b = Abs a; c = Add a b; out c", NULL, "a=a b!b c!c");
    CHECK_PAIRS(a, "x: fp32 4; a = Neg x; b = Sign a; c = Add a b [beta=-1]; out c", NULL, "a=a b=b c!c");
    /* an op is missing */
    CHECK_PAIRS(a, "x: fp32 4; a = Neg x; c = Add a a; out c", NULL, "a=a c!c");
    /* the last op is missing: the outputs differ, whatever they are called */
    CHECK_PAIRS(a, "x: fp32 4; a = Neg x; b = Sign a; out b", NULL, "a=a b=b c!b");
    CHECK_PAIRS("x: fp32 4; a = Neg x; b = Sign x; out a b", "x: fp32 4; b = Sign x; a = Neg x; out b a", NULL, "a=a b=b");
    /* an op is new */
    CHECK_PAIRS(a, "x: fp32 4; a = Neg x; n = Neg a; b = Sign n; c = Add a b; out c", NULL, "a=a b!b c!c");
}

static void values_without_a_common_name_follow_their_neighbours(void **state) {
    (void)state;
    CHECK_PAIRS("x: fp32 4; a = Neg x; b = Sign a; c = Add a b; out c",
                "x: fp32 4; p = Neg x; q = Sign p; r = Add p q; out r", NULL, "a=p b=q c=r");
}

static void another_shape_is_a_bad_pair_of_ops_of_one_class(void **state) {
    (void)state;
    CHECK_PAIRS("x: fp32 2 4; a = Neg x; r = Reshape a [shape=4,2 layout=@layout(**)]; s = Sum r [dim=0]; out s",
                "x: fp32 2 4; a = Neg x; r = Reshape a [shape=2,2,2 layout=@layout(***)]; s = Sum r [dim=0]; out s",
                NULL, "a=a r?r s?s");
}

static void axes_of_length_one_and_flat_values_do_not_matter(void **state) {
    (void)state;
    CHECK_PAIRS("x: fp32 2 4; a = Neg x; r = Reshape a [shape=8 layout=@layout(*)]; out r",
                "x: fp32 2 4; a = Neg x; r = Reshape a [shape=1,2,4,1 layout=@layout(****)]; out r", NULL, "a=a r=r");
}

static void elements_follow_their_axes(void **state) {
    (void)state;
    /* by the letters of the layouts, and by the place of the channels */
    CHECK_PAIRS("x: NCHW 1 3 2 5; a = Neg x; out a", "x: NHWC 1 2 5 3; a = Neg x; out a", NULL, "a=a");
    CHECK_PAIRS("x: fp32 1 3 2 5; a = Neg x; out a", "x: NHWC 1 2 5 3; a = Neg x; out a", NULL, "a=a");
    CHECK_PAIRS("x: NHWC 1 2 5 3; a = Neg x; out a", "x: fp32 1 3 2 5; a = Neg x; out a", NULL, "a=a");
    /* also where dims alone do not tell */
    CHECK_PAIRS("x: NCHW 1 4 4 4; a = Neg x; out a", "x: NHWC 1 4 4 4; a = Neg x; out a", NULL, "a=a");
    CHECK_PAIRS("x: fp32 1 4 4 4; a = Neg x; out a", "x: NHWC 1 4 4 4; a = Neg x; out a", NULL, "a=a");
    /* letters that only one side has, of axes that have not moved */
    static const char a[] = "x: fp32 1 64; y = Abs x; a = Reshape y [shape=1,4,4,4 layout=@layout(****)]; b = Neg a; out b",
                      b[] = "x: fp32 1 64; y = Abs x; a = Reshape y [shape=1,4,4,4 layout=@layout(NHWC)]; b = Neg a; out b";
    CHECK_PAIRS(a, b, NULL, "y=y a=a b=b");
    CHECK_PAIRS(a, b, &XIR_INIT(xir_compare_options, .alone = true), "y=y a=a b=b");
}

static void an_op_that_computes_another_value_has_its_name(void **state) {
    (void)state;
    /* as passes fuse: the op stays, and makes the value of the op after it */
    xir_network *a = story_net("x: fp32 4; a = Neg x; b = Add a a; c = Abs b; out c");
    xir_network *b = story_net("x: fp32 4; a = Add x x [alpha=-1 beta=-1]; c = Abs a; out c");
    DOES(xir_value_set_name(story_value(b, "a"), XIR_STR("b")));
    checked k = compare_nets(a, b, NULL);
    assert_string_equal(pairs_of(&k), "b=a c=c");
    free_checked(&k);
}

static void open_dims_do_not_part_values(void **state) {
    (void)state;
    xir_network *a = story_net("x: fp32 1 1 4; a = Neg x; b = Abs a; out b"), *b = xir_network_clone(a);
    const int64_t open[] = { -1, -1, 4 };
    const xir_type *fp32 = xir_type_float(ctx, XIR_FLOAT_FP32);
    for (xir_op *op = xir_network_first(b); op; op = xir_op_next(op))
        for (size_t i = 0; i < xir_op_output_count(op); i++)
            DOES(xir_value_set_type(xir_op_output(op, (int64_t)i), xir_type_tensor(ctx, fp32, NULL, open, 3)));
    checked k = compare_nets(a, b, NULL);
    assert_string_equal(pairs_of(&k), "a=a b=b");
    free_checked(&k);
}

static void a_wrong_order_of_axes_is_bad(void **state) {
    (void)state;
    CHECK_PAIRS("x: NCHW 1 4 4 4; a = Transpose x [dims=0,2,3,1 layout=@layout(NHWC)]; b = Neg a; out b",
                "x: NCHW 1 4 4 4; a = Transpose x [dims=0,3,2,1 layout=@layout(NWHC)]; b = Neg a; out b", NULL, "a=a b=b");
    CHECK_PAIRS("x: fp32 1 4 4 4; a = Transpose x [dims=0,2,3,1 layout=@layout(****)]; b = Neg a; out b",
                "x: fp32 1 4 4 4; a = Transpose x [dims=0,3,2,1 layout=@layout(****)]; b = Neg a; out b", NULL, "a!a b!b");
}

static void a_reshape_keeps_the_order_of_its_input(void **state) {
    (void)state;
    static const char a[] = "x: NCHW 1 3 2 4; a = Neg x; r = Reshape a [shape=1,24 layout=@layout(**)]; b = Abs r; "
                            "s = Sum b [dim=1]; out s",
                      b[] = "x: NHWC 1 2 4 3; a = Neg x; r = Reshape a [shape=1,24 layout=@layout(**)]; b = Abs r; "
                            "s = Sum b [dim=1]; out s";
    CHECK_PAIRS(a, b, NULL, "a=a r=r b=b s=s");
    CHECK_PAIRS(a, b, &XIR_INIT(xir_compare_options, .alone = true), "a=a r=r b=b s=s");
}

static void alone_each_op_answers_for_itself(void **state) {
    (void)state;
    static const char a[] = "x: fp32 4; a = Neg x; b = Add a x; c = Neg b; d = Abs c; out d",
                      b[] = "x: fp32 4; a = Neg x; b = Add a x [beta=3]; c = Neg b; d = Neg c; out d";
    CHECK_PAIRS(a, b, NULL, "a=a b!b c!c d!d");
    CHECK_PAIRS(a, b, &XIR_INIT(xir_compare_options, .alone = true), "a=a b!b c=c d=d");
    CHECK_PAIRS("x: fp32 4; a = Neg x; b = Add a x; c = Neg b; d = Abs a; out c d",
                "x: fp32 4; a = Neg x; b = Add a x [beta=3]; c = Neg b; d = Neg a; out c d",
                &XIR_INIT(xir_compare_options, .alone = true), "a=a b!b c=c d!d");
}

static void tolerances_say_what_is_bad(void **state) {
    (void)state;
    static const char a[] = "x: fp32 4; a = Add x x; out a", b[] = "x: fp32 4; a = Add x x [beta=1.01]; out a";
    CHECK_PAIRS(a, b, NULL, "a!a");
    CHECK_PAIRS(a, b, &XIR_INIT(xir_compare_options, .absolute = 0.5), "a=a");
    CHECK_PAIRS(a, b, &XIR_INIT(xir_compare_options, .relative = 0.02), "a=a");
    /* 1 in 200: 46 dB */
    CHECK_PAIRS(a, b, &XIR_INIT(xir_compare_options, .by_snr = true, .least_snr = 45), "a=a");
    CHECK_PAIRS(a, b, &XIR_INIT(xir_compare_options, .by_snr = true, .least_snr = 47), "a!a");
}

static void provenance_comes_before_names(void **state) {
    (void)state;
    xir_network *a = story_net("x: fp32 4; a = Neg x; b = Sign a; out b"), *b = xir_network_clone(a);
    xir_provenance *p = xir_provenance_new(b, why);
    DOES(xir_value_set_name(story_value(b, "a"), XIR_STR("other")));
    DOES(xir_value_set_name(story_value(b, "b"), XIR_STR("a")));
    checked k = compare_nets(a, b, NULL);
    assert_string_equal(pairs_of(&k), "a=a b=b");   /* names of ops */
    assert_int_equal(xir_compare_at(k.c, 0)->by, XIR_COMPARE_BY_SOURCE);
    xir_compare_free(k.c);
    /* the tags say the same, if they are about a network like the other one */
    DOES(xir_provenance_write_tags(p));
    xir_provenance_free(p);
    k = compare_nets(a, b, NULL);
    assert_string_equal(pairs_of(&k), "a=a b=b");
    xir_compare_free(k.c);
    xir_network *far = story_net("x: fp32 4; a = Neg x; b = Sign a; out b");
    for (xir_op *op = xir_network_first(far); op; op = xir_op_next(op))
        for (size_t i = 0; i < xir_op_output_count(op); i++) {
            xir_value *v = xir_op_output(op, (int64_t)i);
            const xir_any id = xir_any_int(xir_value_id(v) + 1000), tag = xir_any_list(&id, 1);
            DOES(xir_value_set_tag(v, XIR_STR(XIR_PROVENANCE_VALUES), &tag));
            DOES(xir_op_set_tag(op, XIR_STR(XIR_PROVENANCE_OPS), &tag));
        }
    xir_network_free(k.b);
    k = compare_nets(a, far, NULL);
    assert_string_equal(pairs_of(&k), "a=a b=b");
    assert_int_equal(xir_compare_at(k.c, 0)->by, XIR_COMPARE_BY_NAME);
    free_checked(&k);
}

static void a_bad_pair_shows_the_ops_between_it_and_the_pairs_before(void **state) {
    (void)state;
    checked k = compare_stories("x: fp32 4; a = Neg x; b = Sign a; c = Abs b; d = Add c a; out d",
                                "x: fp32 4; a = Neg x; d = Add a a; out d", NULL);
    const xir_compare_pair *bad = xir_compare_first_bad(k.c);
    const xir_op *ops[4];
    assert_string_equal(pairs_of(&k), "a=a d!d");
    assert_int_equal(xir_compare_ops(k.c, bad, false, ops, 4), 3);
    assert_ptr_equal(ops[0], story_op(k.a, "d"));
    assert_ptr_equal(ops[1], story_op(k.a, "c"));
    assert_ptr_equal(ops[2], story_op(k.a, "b"));
    assert_int_equal(xir_compare_ops(k.c, bad, true, ops, 4), 1);
    xir_compare_state state_of = XIR_INIT(xir_compare_state);
    DOES(xir_compare_state_of(k.c, &state_of, why));
    assert_true(state_of.samples == 1 && state_of.bad == 1 && state_of.alone_a == 2 && state_of.alone_b == 0);
    free_checked(&k);
}

static void samples_give_the_worst_and_the_mean(void **state) {
    (void)state;
    checked k = compare_stories("x: fp32 1; a = Add x x; out a", "x: fp32 1; a = Add x x [beta=2]; out a", NULL);
    const xir_compare_pair *p = xir_compare_at(k.c, 0);
    assert_true(fabs(p->worst.largest - 1.25) < 1e-6 && fabs(p->mean.largest - 1.25) < 1e-6);
    const float numbers[] = { 4, 0.75f };
    for (size_t i = 0; i < 2; i++) {
        xir_array *in = xir_array_copy(ctx, FP32("*", 1), &numbers[i], sizeof numbers[i], why);
        DOES(xir_compare_run(k.c, (const xir_array *const[]){ in }, 1, why));
        xir_array_free(in);
    }
    assert_int_equal(p->samples, 3);
    assert_true(p->worst.largest == 4 && fabs(p->mean.largest - 2) < 1e-6 && p->expected == 8 && p->found == 12);
    free_checked(&k);
}

static void what_cannot_be_compared_is_said(void **state) {
    (void)state;
    xir_network *a = story_net("x: fp32 4; a = Neg x; out a"), *two = story_net("x: fp32 4; y: fp32 4; a = Add x y; out a");
    xir_network *none = story_net("x: fp32 4; out x"), *longer = story_net("x: fp32 5; a = Neg x; out a");
    assert_null(xir_compare_new(NULL, a, NULL, why));
    check_finding(XIR_E_MISSING, "expected a network");
    assert_null(xir_compare_new(a, NULL, NULL, why));
    check_finding(XIR_E_MISSING, "neither");
    assert_null(xir_compare_new(a, a, &XIR_INIT(xir_compare_options, .folder = "."), why));
    check_finding(XIR_E_INVALID, "found both");
    assert_null(xir_compare_new(a, a, &XIR_INIT(xir_compare_options, .absolute = -1), why));
    check_finding(XIR_E_INVALID, "tolerances");
    assert_null(xir_compare_new(a, none, NULL, why));
    check_finding(XIR_E_INVALID, "no value of one network stands for one of the other");
    assert_null(xir_compare_new(a, NULL, &XIR_INIT(xir_compare_options, .folder = "/nowhere/at/all"), why));
    check_finding(XIR_E_IO, "folder");
    xir_compare *c = xir_compare_new(a, two, NULL, why);
    assert_non_null(c);
    assert_int_equal(run(c, a), XIR_E_BOUNDS);
    check_finding(XIR_E_BOUNDS, "the first network has 1 inputs, the second one 2");
    xir_compare_free(c);
    xir_compare_free(NULL);
    c = xir_compare_new(a, longer, NULL, why);
    assert_int_equal(run(c, a), XIR_E_BOUNDS);
    assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "input 0 'x' of the network: expected @fp(32) [5]"));
    assert_non_null(strstr(xir_diags_at(why, 1)->message.data, "this is about the second network"));
    xir_compare_free(c);
    xir_network_free(a);
    xir_network_free(longer);
    xir_network_free(two);
    xir_network_free(none);
}

/* ---- out of memory ----------------------------------------------------------------------------------------------- */

static void scarce_compare(want *w) {
    xir_network *a = NULL, *b = NULL;
    xir_compare *c = NULL;
    IN_PLENTY(w, a = story_net_in(w->ctx, "x: NCHW 1 3 2 2; a = Neg x; b = Sign a; c = Add a b; out c");
              b = story_net_in(w->ctx, "x: NHWC 1 2 2 3; a = Neg x; q = Sign a; c = Add a q; out c"));
    TRY_MAKE(w, c, xir_compare_new(a, b, &XIR_INIT(xir_compare_options, .alone = true), w->why));
    xir_array *in = NULL;
    IN_PLENTY(w, in = counted(w->ctx, xir_value_type(story_value(a, "x"))));
    TRY_LOOSELY(w, xir_compare_run(c, (const xir_array *const[]){ in }, 1, w->why));
    assert_null(xir_compare_first_bad(c));
    assert_int_equal(xir_compare_count(c), 2);
    xir_array_free(in);
    xir_compare_free(c);
    xir_network_free(a);
    xir_network_free(b);
}
SCARCE_TEST(scarce_compare)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_one_name_are_pairs),
        cmocka_unit_test(values_without_a_common_name_follow_their_neighbours),
        cmocka_unit_test(another_shape_is_a_bad_pair_of_ops_of_one_class),
        cmocka_unit_test(axes_of_length_one_and_flat_values_do_not_matter),
        cmocka_unit_test(elements_follow_their_axes),
        cmocka_unit_test(an_op_that_computes_another_value_has_its_name),
        cmocka_unit_test(open_dims_do_not_part_values),
        cmocka_unit_test(a_wrong_order_of_axes_is_bad),
        cmocka_unit_test(a_reshape_keeps_the_order_of_its_input),
        cmocka_unit_test(alone_each_op_answers_for_itself),
        cmocka_unit_test(tolerances_say_what_is_bad),
        cmocka_unit_test(provenance_comes_before_names),
        cmocka_unit_test(a_bad_pair_shows_the_ops_between_it_and_the_pairs_before),
        cmocka_unit_test(samples_give_the_worst_and_the_mean),
        cmocka_unit_test(what_cannot_be_compared_is_said),
        cmocka_unit_test(test_scarce_compare),
    };
    return RUN_GROUP(tests);
}
