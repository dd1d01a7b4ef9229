/* Memory runs out at every allocation of a conversion to ONNX: of a network in which some ops stay, and of one that is
 * converted whole, so that everything in it gets a name. The call reports it, the network stays valid, and with memory
 * again the conversion goes on to the same operators. */
#include "passes/convert/scarce_dialect.h"
#include "support/story.h"

/* What allocates in its own way: maps, kernels, lists, constants, formulas, casts, several results, and what stays. */
static const char story[] =
    "x: NCHW 1 2 6 6; k: params HWIO 3 3 2 2; b: params 2; i: params sint64 2 2 = 0 1 1 -1; h: 0.5; u: 3 4; l: sint64 1;"
    "f: params 2 8 2; r: params 2 8 2; y: NHWC 1 4 4 2; q: 1 2 3 2; qs: 2 1 2; v: sint64 3; k2: params sint64 1 = 2;"
    "c = Conv2d x k b [pad_left=1]; n = BatchNorm2d c [mean=b variance=b];"
    "p = AvgPool2d y [pool_height=2 pool_width=2 divisor_override=3]; a = Add n h [alpha=2]; e = Exp a;"
    "m = Multiply e n; g = GatherND u i; z = NonZero u; s = Shape u; t = Slice s [begin=1] [end=2] [stride=1];"
    "j = Concat t l [axis=0]; w = Reshape u j [shape=-1,-1 layout=@layout(**)];"
    "o, oh, oc = LSTM qs f r [hidden_size=2 direction=BIDIRECTIONAL]; at = Attention q q q [softcap=2];"
    "d = ReLU p [threshold=2]; si = SiLU u; sp, sq = Split u [sections=1,3 axis=1]; tv, ti = TopK u k2;"
    "fd = DivideScalar v [divisor=2 rounding_mode=FLOOR]; am = Argmax u; rs = Resize x [dsize=3,3];"
    "gs = GridSample x y; out m g z w o at d si sq tv ti fd am rs gs";

static const char whole[] =
    "x: NCHW 1 2 6 6; k: params HWIO 3 3 2 2; u: 3 4; w: params 4 2; c = Conv2d x k; g = GELU c; l = Matmul u w;"
    "s = Sum u [dim=1]; out g l s s w";

/* What became of it goes back in turn. */
static const char *pass_name(void) { return "onnx-to-xir"; }

static void prepare(want *w) {
    w->net = story_net_in(w->ctx, whole);
    assert_int_equal(xir_pass_run(w->net, "xir-to-onnx", "strict", NULL, w->why), XIR_OK);
    xir_diags_clear(w->why);
}

static void going_back(want *w) {
    IN_PLENTY(w, w->net = story_net_in(w->ctx, story));
    assert_non_null(w->net);
    TRY_LOOSELY(w, xir_pass_run(w->net, "xir-to-onnx", NULL, NULL, w->why));
    IN_PLENTY(w, tidy(w));
    IN_PLENTY(w, w->result = classes_of(w->net));
}

static void going_whole(want *w) {
    IN_PLENTY(w, w->net = story_net_in(w->ctx, whole));
    assert_non_null(w->net);
    TRY_LOOSELY(w, xir_pass_run(w->net, "xir-to-onnx", "opset=17", NULL, w->why));
    IN_PLENTY(w, tidy(w));
    IN_PLENTY(w, w->result = classes_of(w->net));
    if (strstr(w->result, "onnx::Conv\n") == NULL) fail_msg("it is not converted:\n%s", w->result);
}

SCARCE_TEST(going_back)
SCARCE_TEST(going_whole)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_going_back),
        cmocka_unit_test(test_going_whole),
        cmocka_unit_test(test_converting),
        cmocka_unit_test(test_checking),
    };
    return RUN_GROUP(tests);
}
