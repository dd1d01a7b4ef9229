/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The numbers that inputs of a network may be: TAKES rows narrow them for each op, and ops pass them on to the
 * inputs. */
#include <math.h>
#include <stdio.h>
#include "support/scarce.h"
#include "support/story.h"

/* "0..4", "0.. gap 0.0156", "any"; a number of integers has a `#`. */
static void put_numbers(char *out, size_t room, const xir_numbers *r) {
    char low[30] = "", high[30] = "", gap[30] = "";
    if (r->low > -INFINITY) snprintf(low, sizeof low, "%.4g", r->low);
    if (r->high < INFINITY) snprintf(high, sizeof high, "%.4g", r->high);
    if (r->gap > 0) snprintf(gap, sizeof gap, " gap %.4g", r->gap);
    if (*low || *high || *gap || r->whole) snprintf(out, room, "%s%s..%s%s", r->whole ? "#" : "", low, high, gap);
    else snprintf(out, room, "any");
}

/* The numbers of each input, "0..4; any". */
static const char *taken(const xir_network *net) {
    static char all[400];
    xir_numbers r[8];
    size_t n = xir_network_inputs(net, NULL, 0);
    assert_true(n <= COUNT(r));
    for (size_t i = 0; i < n; i++) r[i] = XIR_INIT(xir_numbers);
    assert_int_equal(xir_network_input_numbers(net, r, n, why), XIR_OK);
    *all = '\0';
    for (size_t i = 0; i < n; i++) {
        if (i) strcat(all, "; ");
        put_numbers(all + strlen(all), sizeof all - strlen(all), &r[i]);
    }
    return all;
}

static const struct { const char *net, *takes; } stories[] = {
    /* tables */
    { "t: params 5 2; x: sint64 3; y = Gather t x; out y",                                           "#0..4" },
    { "t: params 5 2; x: sint64 3; y = Gather t x [axis=1]; out y",                                  "#0..1" },
    { "t: params 5 2; x: sint64 3; y = Gather t x [axis=-1]; out y",                                 "#0..1" },
    { "t: 7 2; x: sint64 3; y = Gather t x; out y",                                                  "any; #0..6" },
    { "t: -1 2; x: sint64 3; y = Gather t x; out y",                                                  "any; any" },
    { "t: 5 2; x: sint64 3 2; y = GatherElements t x; out y",                                        "any; #0..4" },
    { "t: 5 3; x: sint64 4 2; y = GatherND t x; out y",                                              "any; #0..2" },
    { "t: 5 3; x: sint64 5 1; y = GatherND t x [batch_dims=1]; out y",                               "any; #0..2" },
    { "t: 5 3; x: sint64 4 1; u: 4 3; y = ScatterND t x u; out y",                                   "any; #0..4; any" },
    { "t: 3 8; k: sint64 1; a, b = TopK t k; out a b",                                               "any; #1..8" },
    /* lengths of sequences */
    { "x: 7 2 3; w: params 1 20 3; r: params 1 20 5; l: sint32 2; y, h, c = LSTM x w r - l [hidden_size=5]; out y",
      "any; #1..7" },
    { "x: 2 7 3; w: params 1 15 3; r: params 1 15 5; l: sint32 2; y, h = GRU x w r - l [hidden_size=5 layout=1]; out y",
      "any; #1..7" },
    { "x: -1 2 3; w: params 1 5 3; r: params 1 5 5; l: sint64 2; y, h = RNN x w r - l [hidden_size=5]; out y",
      "any; #1..1" },
    { "x: 0 2 3; w: params 1 5 3; r: params 1 5 5; l: sint64 2; y, h = RNN x w r - l [hidden_size=5]; out y",
      "any; any" },
    /* two tables; the later op counts if they have nothing in common */
    { "t: params 5 2; s: params 3 2; x: sint64 3; y = Gather t x; z = Gather s x; out y z",          "#0..2" },
    { "t: params 5 2; x: fp32 3; l = Sqrt x; i = Cast x [target_dtype=sint64,3]; y = Gather t i; out l y",  "#0..4" },
    { "t: params 5 2; x: fp32 3; l = ACosh x; n = Neg l; r = Sqrt n; out r",                            "1.." },
    /* through ops that move and convert */
    { "t: params 5 2; x: fp32 3; i = Cast x [target_dtype=sint64,3]; y = Gather t i; out y",           "#0..4" },
    { "t: params 5 2; x: sint64 6; a = Reshape x [shape=2,3 layout=@layout(**)]; b = Transpose a [dims=1,0 layout=@layout(**)]; y = Gather t b; out y", "#0..4" },
    { "t: params 5 2; x: sint64 2; z: sint64 3; a = Concat x z; y = Gather t a; out y",                  "#0..4; #0..4" },
    { "t: params 5 2; x: sint64 3; z: sint64 3; c: bool 3; a = Where x z c; y = Gather t a; out y",      "#0..4; #0..4; any" },
    { "t: params 5 2; d: sint64 9; x: sint64 3; a = Gather d x; y = Gather t a; out y",                  "#0..4; #0..8" },
    /* sums and products with constants */
    { "t: params 5 2; x: sint64 3; c: params sint64 1 = 2; a = Add x c; y = Gather t a; out y",          "#-2..2" },
    { "t: params 5 2; x: sint64 3; c: params sint64 1 = 2; a = Add c x [beta=-1]; y = Gather t a; out y", "#-2..2" },
    { "t: params 9 2; x: sint64 3; c: params sint64 3 = 1 2 3; a = Add x c; y = Gather t a; out y",      "-1..5" },
    { "t: params 9 2; x: sint64 3; z: sint64 3; a = Add x z; y = Gather t a; out y",                     "#0..4; #0..4" },
    { "t: params 9 2; x: sint64 3; c: params sint64 1 = 4; a = Multiply x c; y = Gather t a; out y",     "0..2" },
    { "t: params 9 2; x: sint64 3; a = Neg x; y = Gather t a; out y",                                 "#-8..0" },
    { "t: params 9 2; x: sint64 3; c: params sint64 1 = 0; a = Multiply x c; y = Gather t a; out y",     "any" },
    /* functions that are not defined everywhere */
    { "x: fp32 3; y = Log x; out y",                                                                   "0.01562.." },
    { "x: fp32 3; y = Sqrt x; out y",                                                                  "0.." },
    { "x: fp32 3; y = ASin x; out y",                                                                  "-1..1" },
    { "x: fp32 3; y = ACos x; out y",                                                                  "-1..1" },
    { "x: fp32 3; y = ACosh x; out y",                                                                 "1.." },
    { "x: fp32 3; y = ATanh x; out y",                                                                 "-0.9844..0.9844" },
    { "x: fp32 3; y = Reciprocal x; out y",                                                            ".. gap 0.01562" },
    { "x: fp32 3; z: fp32 3; y = Div x z; out y",                                                           "any; .. gap 0.01562" },
    { "x: sint32 3; z: sint32 3; y = Div x z [rounding_mode=TRUNC]; out y",                                                   "any; .. gap 1" },
    { "x: sint32 3; z: sint32 3; y = Mod x z; out y",                                                   "any; .. gap 1" },
    { "x: fp32 3; e: params 1 = 0.5; y = Pow x e; out y",                                              "0.." },
    { "x: fp32 3; e: params 1 = -0.5; y = Pow x e; out y",                                             "0.. gap 0.01562" },
    { "x: fp32 3; e: params 1 = -2; y = Pow x e; out y",                                               ".. gap 0.01562" },
    { "x: fp32 3; e: params 1 = 2; y = Pow x e; out y",                                                "any" },
    { "x: fp32 3; e: fp32 3; y = Pow x e; out y",                                                           "0.01562..; any" },
    { "x: fp32 3; c: params 1 = 1; a = Add x c; y = Sqrt a; out y",                                    "-1.." },
    { "x: fp32 3; c: params 1 = 4; a = Div x c; y = ASin a; out y",                                    "-4..4" },
    { "x: fp32 3; a = ReLU x; y = Sqrt a; out y",                                                      "any" },
    /* a mask is 0 or 1: what it leaves out gets a large negative number */
    { "m: sint64 4; f = Cast m [target_dtype=fp32,4]; c: params 1 = 1; k: params 1 = -10000; a = Add c f [beta=-1]; y = Multiply a k; out y",
      "#0..1" },
    { "m: fp32 4; c: params 1 = 1; k: params 1 = 10000; a = Add m c [beta=-1]; y = Multiply a k; out y", "#0..1" },
    { "x: fp32 4; k: params 1 = 100; y = Multiply x k; out y",                                         "any" },
    /* ops that say nothing */
    { "x: fp32 3; y = ReLU x; out y",                                                                  "any" },
    { "x: fp32 3; y = onnx::Log x; out y",                                                             "any" },
};

static void stories_of_inputs(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(stories); i++) {
        xir_network *net = story_net(stories[i].net);
        const char *found = taken(net);
        if (strcmp(found, stories[i].takes) != 0) {
            fail_msg("%s\n  expected %s\n  found    %s", stories[i].net, stories[i].takes, found);
        }
        xir_network_free(net);
    }
}

/* ---- drawing ---------------------------------------------------------------------------------------------------- */

static xir_array *drawn(const xir_type *type, xir_numbers within) {
    xir_array *array = xir_array_random_in(ctx, type, 3, &within, why);
    assert_non_null(array);
    return array;
}

static void numbers_are_drawn_where_they_are_taken(void **state) {
    (void)state;
    const xir_type *types[] = {
        FP32("*", 500), XIR_TENSOR(ctx, xir_type_sint(ctx, 64), "*", 500), XIR_TENSOR(ctx, xir_type_uint(ctx, 8), "*", 500),
        XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP16), "*", 500),
    };
    const struct { double low, high, gap; bool whole; } in[] = {
        { 0, 4, 0, true }, { 3, 3, 0, true }, { 2, INFINITY, 0, false }, { 0, INFINITY, 0, false }, { 1, 5, 0, false },
        { 100, INFINITY, 0, true }, { -INFINITY, INFINITY, 1, false }, { 0, INFINITY, 1, false }, { 0, 250, 0, true },
    };
    for (size_t t = 0; t < COUNT(types); t++) {
        for (size_t k = 0; k < COUNT(in); k++) {
            xir_numbers within = xir_numbers_between(in[k].low, in[k].high);
            within.gap = in[k].gap;
            within.whole = in[k].whole;
            xir_array *array = drawn(types[t], within);
            bool differs = false;
            for (size_t i = 0; i < 500; i++) {
                double v = xir_array_real(array, i);
                differs |= v != xir_array_real(array, 0);
                bool good = v >= in[k].low && v <= in[k].high && fabs(v) >= in[k].gap;
                good &= !in[k].whole || v == floor(v);
                if (!good) fail_msg("type %zu, numbers %zu: found %g", t, k, v);
            }
            assert_int_equal(differs, in[k].low != in[k].high);
            xir_array_free(array);
        }
    }
}

static void numbers_below_0_are_drawn_too(void **state) {
    (void)state;
    xir_array *array = drawn(XIR_TENSOR(ctx, xir_type_sint(ctx, 8), "*", 200), xir_numbers_between(-INFINITY, -5));
    for (size_t i = 0; i < 200; i++) assert_true(xir_array_real(array, i) <= -5);
    xir_array_free(array);
    array = drawn(FP32("*", 200), xir_numbers_between(-INFINITY, -5));
    for (size_t i = 0; i < 200; i++) assert_true(xir_array_real(array, i) <= -5);
    xir_array_free(array);
}

/* An index of a large table, in a float that stores only small integers exactly. */
static void integers_in_floats_are_exact(void **state) {
    (void)state;
    xir_numbers within = xir_numbers_between(0, 30521);
    within.whole = true;
    xir_array *array = drawn(XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP16), "*", 500), within);
    for (size_t i = 0; i < 500; i++) assert_true(xir_array_real(array, i) <= 2048);
    xir_array_free(array);
}

static void all_numbers_are_drawn_as_always(void **state) {
    (void)state;
    const xir_type *types[] = { FP32("*", 99), XIR_TENSOR(ctx, xir_type_sint(ctx, 64), "*", 99),
                                XIR_TENSOR(ctx, xir_type_uint(ctx, 2), "*", 99) };
    const xir_numbers any = xir_numbers_any();
    for (size_t t = 0; t < COUNT(types); t++) {
        xir_array *a = xir_array_random(ctx, types[t], 3, why), *b = drawn(types[t], any);
        xir_difference d;
        assert_int_equal(xir_array_compare(a, b, 0, 0, &d), XIR_OK);
        assert_int_equal(d.count, 0);
        xir_array_free(a);
        xir_array_free(b);
    }
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

static void structs_need_their_size(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 3; y = Log x; out y");
    xir_numbers r = { 0 };
    assert_int_equal(xir_network_input_numbers(net, &r, 1, why), XIR_E_ABI);
    assert_null(xir_array_random_in(ctx, FP32("*", 3), 1, &r, why));
    xir_numbers two[2] = { XIR_INIT(xir_numbers), XIR_INIT(xir_numbers) };
    assert_int_equal(xir_network_input_numbers(net, two, 2, why), XIR_OK);   /* more than it has */
    assert_true(two[0].low > 0 && two[1].low == -INFINITY);
    xir_diags_clear(why);
    xir_network_free(net);
}

static void scarce_ask(want *w) {
    xir_network *net;
    const char *story = "t: params 5 2; x: sint64 3; c: params sint64 1 = 2; a = Add x c; y = Gather t a; out y";
    IN_PLENTY(w, net = story_net_in(w->ctx, story));
    xir_numbers r = XIR_INIT(xir_numbers);
    TRY(w, xir_network_input_numbers(net, &r, 1, w->why));
    assert_true(r.low == -2);
    IN_PLENTY(w, xir_network_free(net));
}

static void every_allocation(void **state) {
    (void)state;
    run_scarcely("asking for numbers", scarce_ask, false);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stories_of_inputs),
        cmocka_unit_test(numbers_are_drawn_where_they_are_taken),
        cmocka_unit_test(numbers_below_0_are_drawn_too),
        cmocka_unit_test(integers_in_floats_are_exact),
        cmocka_unit_test(all_numbers_are_drawn_as_always),
        cmocka_unit_test(structs_need_their_size),
        cmocka_unit_test(every_allocation),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
