/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory runs out at every allocation of a conversion of NNB, of one to NNB, and of a check: see scarce_dialect.h. */
#include "convert/scarce_dialect.h"
#include "support/nnb_make.h"
#include "support/story.h"

/* A network with everything that allocates in its own way: fixed-point values and parameters, signs, feature maps, a
 * window with padding that counts, lists, constants, and what is not converted. */
static const char text[] =
    "nnb 3 45\ninputs 0 1\noutputs 5 8 11 14 18 19\nbuffers 600 600 600 600 600 600 600 600 600 600 600 700\n"
    "v f 1,2,6,6 b0\nv i8:5 1,8 b1\nv f 3,2,3,3 p216\nv f 3 p12\nv f 1,3,6,6 b2\nv f 1,3,4,4 b3\n"
    "v i8:6 8,4 p32\nv i8:7 4 p4\nv i8:3 1,4 b4\nv f 8,4 p128\nv sign 8,4 p4\nv i8:3 1,4 b5\n"
    "v f 1,2,1,1 p8\nv f 1,2,6,6 b6\nv f 1,2,6,9 b7\nv f 2 p8\nv f 1,2,6,6 b8\nv f 1,2,6,6 b9\nv f 1,2,6,6 b10\n"
    "v f 1,2,9,9 b11\n"
    "f 265 0,2,3>4 i1 [1,1] [1,1] [1,1] i1 B0\n"
    "f 267 4>5 [3,3] [2,2] B0 [2,2] B0 B1\n"
    "f 0 1,6,7>8 i1\n"
    "f 235 1,9,10>11 i1 f1\n"
    "f 22 0,12,12,12,12>13 [1] f0.9 f0.1 B0\n"
    "f 123 13>14 [1,2] i1 f0\n"
    "f 21 0,15>16 i1\n"
    "f 158 16>17 i2 B0\n"
    "f 73 17>18\n"
    "f 291 0>19 [9,9] i1 B0 B0 B0 B0\n";

static const char *pass_name(void) { return "nnb-to-xir"; }

static void prepare(want *w) {
    static nnb_made file;
    nnb_make(&file, text);
    w->net = xir_network_read(w->ctx, file.bytes, file.size, XIR_STR("x.nnb"),
                              &XIR_INIT(xir_load_options, .format = "nnb"), w->why);
    xir_diags_clear(w->why);
}

/* A network of XIR whose way back allocates in many ways. */
static const char story[] =
    "x: NCHW 1 2 6 6; k: params HWIO 3 3 2 2; b: params 2; i: params sint64 2 = 0 1; h: 0.5; u: 3 4; j: sint64 3;"
    "y: NHWC 1 4 4 2; q: 1 2 3 2; w: params 4 2;"
    "c = Conv2d x k b [pad_left=1]; n = BatchNorm2d c [mean=b variance=b];"
    "p = AvgPool2d y [pool_height=2 pool_width=2 count_include_pad=true pad_top=1]; a = Add n h [alpha=2]; e = Exp a;"
    "m = Multiply e n; g = Gather u i [axis=1]; l = Matmul u w; r = Greater u h; v = Where u h r; rd = Round u;"
    "mx = Max u; at = Attention q q q [softcap=2]; t = Tile u [dims=2,1,1]; ln = LayerNorm u [axis=1];"
    "d = ReLU p [threshold=2]; s = SiLU u; sp, sq = Split u [sections=1,3 axis=1];"
    "ls = LogSoftmax u [axis=1]; cs = CumSum u [axis=0]; jj = Reshape j [shape=3,1 layout=@layout(**)];"
    "out m g l v rd mx at t ln d s sq ls cs jj";

static void prepare_story(want *w) {
    w->net = story_net_in(w->ctx, story);
    xir_diags_clear(w->why);
}

static void going_back(want *w) {
    IN_PLENTY(w, prepare_story(w));
    assert_non_null(w->net);
    TRY_LOOSELY(w, xir_pass_run(w->net, "xir-to-nnb", NULL, NULL, w->why));
    IN_PLENTY(w, tidy(w));
    IN_PLENTY(w, w->result = result_of(w->net));
}

SCARCE_TEST(going_back)

/* A network that is all of NNabla's functions gets the types of a file. */
static const char whole[] =
    "u: 3 4; w: params 4 2; i: params sint64 2 = 3 1; l = Matmul u w; g = Gather u i [axis=1]; r = Greater u u; out l g r";

static void typing(want *w) {
    IN_PLENTY(w, w->net = story_net_in(w->ctx, whole));
    assert_non_null(w->net);
    TRY_LOOSELY(w, xir_pass_run(w->net, "xir-to-nnb", "weights=FIXED8", NULL, w->why));
    IN_PLENTY(w, tidy(w));
    IN_PLENTY(w, w->result = result_of(w->net));
}

SCARCE_TEST(typing)

/* Fixed point goes back: values and parameters, with functions that take them and a sum that does not. */
static const char fixed[] =
    "nnb 3 44\ninputs 0 1\noutputs 6 7\nbuffers 4 4 4 4 8 8\nv i8:4 1,4 b0\nv i8:3 1,4 b1\nv i8:2 1,4 b2\n"
    "v i8:2 1,4 b3\nv i8:5 4,2 p8\nv i8:3 2 p2\nv i8:2 1,2 b4\nv i16:3 1,4 b5\n"
    "f 31 0,1>2 B0\nf 14 2>3 B0\nf 0 3,4,5>6 i1\nf 11 3>7\n";

static void fixing(want *w) {
    static nnb_made file;
    IN_PLENTY(w, nnb_make(&file, fixed));
    IN_PLENTY(w, w->net = xir_network_read(w->ctx, file.bytes, file.size, XIR_STR("x.nnb"), NULL, w->why));
    assert_non_null(w->net);
    IN_PLENTY(w, assert_int_equal(xir_pass_run(w->net, "nnb-to-xir", "strict", NULL, w->why), XIR_OK));
    TRY_LOOSELY(w, xir_pass_run(w->net, "xir-to-nnb", "weights=FIXED8", NULL, w->why));
    IN_PLENTY(w, tidy(w));
    IN_PLENTY(w, w->result = result_of(w->net));
}

SCARCE_TEST(fixing)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_converting),
        cmocka_unit_test(test_going_back),
        cmocka_unit_test(test_typing),
        cmocka_unit_test(test_fixing),
        cmocka_unit_test(test_checking),
    };
    return RUN_GROUP(tests);
}
