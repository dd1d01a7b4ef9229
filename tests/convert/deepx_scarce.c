/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory runs out at every allocation of a conversion of DeepX, of the way back, and of a check: see
 * scarce_dialect.h. */
#include "convert/scarce_dialect.h"
#include "support/story.h"

/* A program with everything that allocates in its own way: vars, files, printed versions, drawn numbers, inputs, lists
 * and what is not converted. */
static const char text[] =
    "func half(x: tensor<?1xf32>, n: f32) -> (y: tensor<?1xf32>) {\n    newtensor(?1, f32)->(t)\n    mulscalar(x, n)->(t)\n"
    "    copy(t)->(y)\n}\n"
    "func copy(x: tensor<?1xf32>) -> (y: tensor<?1xf32>) {\n    copytensor(x)->(y)\n}\n"
    "newtensor(vector<int32>:[2 3])->(tensor<float32>:a)\n"
    "uniform(var<float32>:0, var<float32>:1, var<int32>:7)->(tensor<float32>:a)\n"
    "print(tensor<float32>:a)->()\n"
    "argset(var<float32>:2.5)->(var<float32>:k)\n"
    "mulscalar(tensor<float32>:a, var<float32>:k)->(tensor<float32>:a)\n"
    "dropout(var<float32>:0.5, var<int32>:0)->(tensor<float32>:a)\n"
    "save(tensor<float32>:a, var<string>:/tmp/w)->()\n"
    "load(var<string>:/tmp/w)->()\n"
    "load(var<string>:/tmp/v)->()\n"
    "newtensor(vector<int32>:[4 6])->(tensor<float32>:r)\n"
    "repeat(tensor<float32>:a, vector<int32>:[2 2])->(tensor<float32>:r)\n"
    "newtensor(vector<int32>:[6 2])->(tensor<float32>:b)\n"
    "arange(var<float32>:0, var<float32>:1)->(tensor<float32>:b)\n"
    "newtensor(vector<int32>:[4 2])->(tensor<float32>:p)\n"
    "matmul(tensor<float32>:r, tensor<float32>:b)->(tensor<float32>:p) // author=cblas\n"
    "newtensor(vector<int32>:[8 2])->(tensor<float32>:c)\n"
    "concat(listtensor<float32>:[p p], var<int32>:0)->(tensor<float32>:c)\n"
    "newtensor(vector<int32>:[8])->(tensor<float32>:s)\n"
    "sum(tensor<float32>:c, vector<int32>:[1], var<bool>:false)->(tensor<float32>:s)\n"
    "half(tensor<float32>:s, var<float32>:0.5)->(tensor<float32>:s)\n"
    "exp(tensor<float32>:v)->(tensor<float32>:v)\n"
    "deltensor()->(tensor<float32>:c)\n";

static const char *pass_name(void) { return "deepx-to-xir"; }

static void prepare(want *w) {
    w->net = xir_network_read(w->ctx, text, sizeof text - 1, XIR_STR("x.ir"),
                              &XIR_INIT(xir_load_options, .format = "deepx"), w->why);
    xir_diags_clear(w->why);
}

/* XIR's ops, each of which goes back in its own way: by one call, in terms of others, with broadcasts, constants that
 * fill a tensor or lie in a file, windows with padding and groups, kept dims, results that are inputs or constants, and
 * one that is not converted. */
static const struct { const char *text, *options; } stories[] = {
    { "x: 2 3; y: 1 3; w: params 3 4; h: 0.5; i: params sint64 2 = 1 0; a = Add x y [beta=-1]; m = Multiply a h; "
      "p = Matmul a w; s = Softmax p; g = Gather p i [axis=1]; k = Prod p [dim=1 keepdim=true]; r = Round x; "
      "l = Less x y; q = Where x y l; out m s g k r q x h", "delete=true" },
    { "x: NHWC 1 5 5 4; k: params HWIO 3 3 2 4; b: params 4; c = Conv2d x k b [groups=2 pad_left=1]; "
      "m = MaxPool2d c [pool_height=2 pool_width=2 pad_top=1]; v = AvgPool2d c [pool_height=2 pool_width=2 pad_left=1]; "
      "out m v", "windows=true,delete=true,author=cublas" },
    { "x: 2 3 4; z: sint32 3 3; t = Transpose x [dims=2,0,1 layout=@layout(***)]; c = Concat x x [axis=1]; u = CumSum x [axis=2]; "
      "d = Slice x [begin=0,1,0 end=2,3,4 stride=1,1,1]; a = Argmax x; e = Erf x; f = Div z z [rounding_mode=FLOOR]; "
      "n = Matmul z z; o = Pow z z; out t c u d a e f n", "" },
};

static size_t story;

static void going_back(want *w) {
    IN_PLENTY(w, w->net = story_net_in(w->ctx, stories[story].text));
    assert_non_null(w->net);
    TRY_LOOSELY(w, xir_pass_run(w->net, "xir-to-deepx", stories[story].options, NULL, w->why));
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
