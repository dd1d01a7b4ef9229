/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory runs out at every allocation of a conversion of TSM, of the way back, and of a check: see scarce_dialect.h. */
#include "convert/scarce_dialect.h"
#include "support/story.h"
#include "support/tsm_make.h"

/* A network with everything that allocates in its own way: an input without elements, fields of packed tensors, a
 * border of another value, computed pads, lists, constants, tables of cells, and what is not converted. */
static const char text[] =
    "inputs 0\noutputs 5,4,9,10,12,4,15,16,18\n"
    "n <param> x - #shape=5:4:1,2,6,6\nn _cast x1 0 dtype=5::10\nn <const> w - value=10:3,2,3,3:\n"
    "n conv2d c 1,2 format='NCHW padding=5:4,2:0,0,0,0,1,1,1,1 stride=5:4:1,1,1,1 padding_value=10::1\n"
    "n chunk k 3 chunks=5::2 dim=5::1\nn _field f 4 offset=5::1\n"
    "n <const> size - value=5:4:1,1,2,2\nn <const> step - value=5:4:1,1,2,2\nn _onnx_pooling2d_padding p 1,6,7\n"
    "n pooling2d_v2 y 1,8,6,7 format='NCHW type=5::1\nn quantize q 1 quantize_scale=10:1:2\n"
    "n <const> to - value=5:4:1,2,5,7\nn _resize2d r 1,11 type=5::0\n"
    "n <const> two - value=10:2:1,2+10:2:3,4\nn _field t 13 offset=5::1\nn prelu s 1,14 dim=5::1\n"
    "n detection_output d 1,1,1\nn flatten g 1\nn norm_image h 17\n";

static const char *pass_name(void) { return "tsm-to-xir"; }

static void prepare(want *w) {
    static tsm_made file;
    tsm_make(&file, text);
    w->net = xir_network_read(w->ctx, file.bytes, file.size, XIR_STR("x.tsm"),
                              &XIR_INIT(xir_load_options, .format = "tsm"), w->why);
    xir_diags_clear(w->why);
}

/* XIR's ops, each of which goes back in its own way: by a row, with groups, with constants and packed tensors, in terms
 * of others; one is not converted. */
static const char *const stories[] = {
    "x: NCHW 1 4 6 6; k: params OIHW 4 2 3 3; g = Conv2d x k [groups=2]; p = MaxPool2d g [pool_height=2 pool_width=2]; "
    "y = Upsample p [height=6 width=6]; n = GroupNorm x [groups=2]; out y n",
    "u: 3 4; w: params 4 2; i: params sint64 2 = 3 1; k: params sint64 1 = 2; m = Matmul u w; g = Gather u i [axis=1]; "
    "r = Greater u u; t, f = TopK u k; e = LogSoftmax u; l = Log u; out m g r t f e l",
    "v: 3 2 4; w: params 3 4 2; m = Matmul v w; s = CumSum v [axis=2]; q = Prod v [dim=1]; o = Round v; "
    "n = Min v; out m s q o n",
};

static size_t story;

static void going_back(want *w) {
    IN_PLENTY(w, w->net = story_net_in(w->ctx, stories[story]));
    assert_non_null(w->net);
    TRY_LOOSELY(w, xir_pass_run(w->net, "xir-to-tsm", NULL, NULL, w->why));
    IN_PLENTY(w, tidy(w));
    IN_PLENTY(w, w->result = classes_of(w->net));
}

SCARCE_TEST(going_back)

static void each_story_goes_back(void **state) {
    for (story = 0; story < COUNT(stories); story++) test_going_back(state);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_converting),
        cmocka_unit_test(each_story_goes_back),
        cmocka_unit_test(test_checking),
    };
    return RUN_GROUP(tests);
}
