/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Slices, cells around a tensor, and other sizes on the way back: all dialects read the same numbers of XIR's op, also
 * where a constant gives them, and what becomes of it computes the same. Ops that are not XIR's stay. */
#include <math.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include "support/story.h"
#include "support/ways.h"

static xir_array *run(xir_network *net) {
    xir_value *input;
    xir_array *out = NULL;
    assert_int_equal(xir_network_inputs(net, &input, 1), 1);
    xir_array *in = xir_array_random(ctx, xir_value_type(input), 1, why);
    DOES(xir_network_run(net, (const xir_array *const[]){ in }, 1, &out, 1, NULL, why));
    xir_array_free(in);
    return out;
}

/* The foreign ops of a way compute what the network does. */
static void check_way(const char *story, const char *way) {
    xir_network *net = story_net(story);
    xir_array *expected = run(net);
    xir_diags_clear(why);
    const bool converts = xir_pass_run(net, way, "strict", NULL, why) == XIR_OK;
    if (!converts || xir_pass_run(net, "to-xir", "strict", NULL, why)) {
        xir_diags_print(why, stderr);
        fail_msg("%s: %s", way, story);
    }
    xir_array *found = run(net);
    assert_int_equal(xir_array_count(found), xir_array_count(expected));
    for (size_t i = 0; i < xir_array_count(found); i++)
        if (fabs(xir_array_real(found, i) - xir_array_real(expected, i)) > 1e-4)   /* TenniS's cells are so near */
            fail_msg("%s: %s: element %zu is %g, not %g", way, story, i, xir_array_real(found, i),
                     xir_array_real(expected, i));
    xir_array_free(found);
    xir_array_free(expected);
    xir_network_free(net);
}

static void numbers_of_a_constant_are_numbers(void **state) {
    (void)state;
    static const char *const stories[] = {
        "x: 4 6; b: params sint64 4 = 1 -3 3 5; y = Slice x b [begin=-1,-1 end=-1,-1 stride=1,2]; out y",
        "x: 4 6; c: params sint64 4 = 1 0 0 2; y = Pad x c [padding=-1,-1,-1,-1 value=2.0]; out y",
    };
    for (size_t i = 0; i < COUNT(stories); i++)
        for (size_t k = 0; k < WAYS; k++) check_way(stories[i], ways_back[k]);
}

static void a_bound_is_where_numpy_has_it(void **state) {
    (void)state;
    static const char *const bounds[] = {
        "begin=0,1 end=9223372036854775807,9223372036854775807 stride=1,2", "begin=-9,-2 end=-1,100 stride=2,1",
        "begin=3,-1 end=0,-9 stride=-1,-2", "begin=100,5 end=-100,-7 stride=-2,-1",
        "begin=2,0 end=4,6 stride=9223372036854775807,5", "begin=-1,4 end=-5,6 stride=-9223372036854775807,1",
        "begin=2,0 end=0,6 stride=-9223372036854775808,1",
    };
    for (size_t i = 0; i < COUNT(bounds); i++) {
        char story[200];
        snprintf(story, sizeof story, "x: 4 6; y = Slice x [%s]; out y", bounds[i]);
        for (size_t k = 0; k < WAYS; k++) {
            const bool large = strstr(bounds[i], "stride=9") || strstr(bounds[i], "stride=-9");
            if (!large || strcmp(ways_back[k], "xir-to-deepx") == 0) check_way(story, ways_back[k]);
        }
    }
}

/* Bounds that a run gives, or bounds from before the end of a dim that a run gives: ONNX has another first element. */
static xir_array *run_slice(xir_network *net, const int64_t *bounds) {
    const xir_type *fp32 = xir_type_float(ctx, XIR_FLOAT_FP32), *i64 = xir_type_sint(ctx, 64);
    xir_array *in[2] = { xir_array_random(ctx, XIR_TENSOR(ctx, fp32, "**", 4, 6), 1, why), NULL }, *out = NULL;
    if (bounds) in[1] = xir_array_copy(ctx, XIR_TENSOR(ctx, i64, "*", 4), bounds, 4 * sizeof *bounds, why);
    DOES(xir_network_run(net, (const xir_array *const *)in, bounds ? 2 : 1, &out, 1, NULL, why));
    for (size_t i = 0; i < 2; i++) xir_array_free(in[i]);
    return out;
}

static void a_start_before_the_first_element_picks_nothing(void **state) {
    (void)state;
    static const int64_t bounds[][4] = {
        { 3, 1, -9, 5 }, { -1, 0, -9, 6 }, { -4, 0, -9, 6 }, { -5, 0, -9, 6 }, { -5, 0, 3, 6 }, { -100, -2, INT64_MIN, 6 },
        { 100, -100, 1, 100 }, { 2, 5, INT64_MAX, 2 },
    };
    static const char *const stories[] = {
        "x: 4 6; b: sint64 4; y = Slice x b [begin=-1,-1 end=-1,-1 stride=-1,2]; out y",
        "x: 4 6; b: sint64 4; y = Slice x b [begin=-1,-1 end=-1,-1 stride=-2,-1]; out y",
        "x: -1 6; y = Slice x [begin=-5,0 end=-9,6 stride=-1,1]; out y",
        "x: -1 6; y = Slice x [begin=-3,0 end=-9,6 stride=-1,2]; out y",
    };
    for (size_t i = 0; i < COUNT(stories); i++)
        for (size_t k = 0; k < COUNT(bounds); k++) {
            const int64_t *given = strstr(stories[i], "b: ") ? bounds[k] : NULL;
            xir_network *net = story_net(stories[i]);
            xir_array *expected = run_slice(net, given);
            DOES(xir_pass_run(net, "xir-to-onnx", "strict", NULL, why));
            DOES(xir_pass_run(net, "to-xir", "strict", NULL, why));
            xir_array *found = run_slice(net, given);
            assert_true(xir_type_equal(xir_array_type(found), xir_array_type(expected)));
            for (size_t e = 0; e < xir_array_count(found); e++)
                assert_true(xir_array_real(found, e) == xir_array_real(expected, e));
            xir_array_free(found);
            xir_array_free(expected);
            xir_network_free(net);
        }
}

static void cells_are_added_and_removed(void **state) {
    (void)state;
    static const char *const pads[] = {
        "padding=0,0,1,2 value=0.5", "padding=-1,0,2,-3", "padding=0,0,2,1 mode=REFLECTION",
        "padding=0,0,3,3 mode=REPLICATION", "padding=0,0,2,6 mode=SYMMETRIC",
    };
    for (size_t i = 0; i < COUNT(pads); i++) {
        char story[200];
        snprintf(story, sizeof story, "x: 4 6; y = Pad x [%s]; out y", pads[i]);
        for (size_t k = 0; k < WAYS; k++) check_way(story, ways_back[k]);
    }
}

static void images_have_another_size(void **state) {
    (void)state;
    static const char *const ops[] = {
        "Resize x [dsize=8,10 interpolation=INTER_NEAREST]", "Resize x [dsize=3,7]",
        "Upsample x [height=8 width=10]", "Upsample x [height=6 width=9 interpolation=BILINEAR]",
        "Upsample x [height=7 width=9 interpolation=BILINEAR align_corners=true]",
        "Upsample x [height=7 width=9 interpolation=BICUBIC]",
    };
    for (size_t i = 0; i < COUNT(ops); i++) {
        char story[200];
        snprintf(story, sizeof story, "x: NHWC 1 4 5 2; y = %s; out y", ops[i]);
        for (size_t k = 0; k < WAYS; k++) check_way(story, ways_back[k]);
    }
}

/* An op of another dialect that has the name of a class of XIR is another operation. */
static void ops_of_another_dialect_stay(void **state) {
    (void)state;
    static const char *const names[] = { "Resize", "Pad", "CumSum", "LSTM", "Expand" };
    for (size_t i = 0; i < COUNT(names); i++)
        for (size_t k = 0; k < WAYS; k++) {
            char story[100], key[40];
            const char *other = strcmp(dialect_formats[k], "onnx") ? "onnx" : "nnb";
            snprintf(key, sizeof key, "%s::%s", other, names[i]);
            snprintf(story, sizeof story, "x: 1 4 6 2; y = %s x; out y", key);
            xir_network *net = story_net(story);
            (void)xir_pass_run(net, ways_back[k], NULL, NULL, why);
            const xir_op *op = xir_op_next(xir_network_first(net));
            if (!xir_str_equal(xir_class_key(xir_op_class(op)), xir_str_of(key))) fail_msg("%s: %s", ways_back[k], key);
            xir_diags_clear(why);
            xir_network_free(net);
        }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_a_constant_are_numbers),
        cmocka_unit_test(a_bound_is_where_numpy_has_it),
        cmocka_unit_test(a_start_before_the_first_element_picks_nothing),
        cmocka_unit_test(cells_are_added_and_removed),
        cmocka_unit_test(images_have_another_size),
        cmocka_unit_test(ops_of_another_dialect_stay),
    };
    return RUN_GROUP(tests);
}
