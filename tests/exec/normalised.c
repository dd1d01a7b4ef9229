/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks in normalised numbers compute the same as in floats, each op within one step of its result, and passes keep
 * every element. normalised.txt has the results and refusals of single ops. */
#include <stdio.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/icraft.h>
#include "support/quantiser.h"

#define IMAGE "x: NHWC 1 6 6 4; "

/* In these the ratios may differ between channels. */
static const char *const stories[] = {
    IMAGE "w: params HWIO 3 3 4 6; b: params 6; c = Conv2d x w b [pad_left=1 pad_top=1]; y = ReLU c; out y",
    IMAGE "w: params HWIO 3 3 4 6; c = Conv2d x w [stride_width=2]; out c",
    IMAGE "w: params HWIO 3 3 1 4; b: params 4; c = Conv2d x w b [groups=4]; out c",
    IMAGE "w: params HWIO 2 2 2 6; c = Conv2d x w [groups=2]; out c",
    IMAGE "w: params HWOI 3 3 5 4; b: params 5; c = ConvTranspose2d x w b [stride_width=2 stride_height=2]; out c",
    IMAGE "w: params HWOI 2 2 3 4; c = ConvTranspose2d x w [groups=2]; out c",
    IMAGE "v: params 4; m: params 4; y = BatchNorm2d x [variance=v mean=m]; out y",
    IMAGE "k: params 4 5; b: params 5; y = Matmul x k b; out y",
    "x: NC 3 8; k: params 8 5; y = Matmul x k; z = ReLU y; out z",
    IMAGE "z: NHWC 1 6 6 4; y = Add x z; out y",
    IMAGE "z: NHWC 1 6 6 4; y = Add x z [alpha=0.3 beta=-2.5]; out y",
    IMAGE "c: params 4; y = Add x c [beta=3]; out y",
    IMAGE "z: NHWC 1 6 6 4; y = Multiply x z; out y",
    IMAGE "c: params 4; y = Multiply x c; out y",
    IMAGE "z: NHWC 1 6 6 3; y = Concat x z [axis=-1]; out y",
    IMAGE "y = MaxPool2d x [pool_width=2 pool_height=2 stride_width=2]; out y",
    IMAGE "y = AvgPool2d x [pool_width=3 pool_height=3 pad_left=1]; out y",
    IMAGE "y = ReLU x; a = ReLU y [alpha=0.1]; out a",
    IMAGE "s: params 4; y = PReLU x [alpha=s]; out y",
    IMAGE "a = Sigmoid x; b = Tanh x; c = GELU x; d = SiLU x; out a b c d",
    IMAGE "a = ELU x [alpha=0.7]; b = Hardswish x; c = Hardsigmoid x; d = Mish x; out a b c d",
    IMAGE "y = Softmax x [axis=-1]; g: params 4; b: params 4; z = LayerNorm x [axis=3 gamma=g beta=b]; out y z",
    IMAGE "y = Transpose x [dims=0,2,1,3 layout=@layout(NWHC)]; z = Slice y [begin=0,1,0,1 end=1,4,6,3 stride=1,2,1,1]; out z",
    IMAGE "a, b = Split x [axis=-1 sections=1,3]; c = ReLU b; out a c",
};

/* These maps have a single ratio, because channels are combined. */
static const char *const mixed[] = {
    "x: NC 4 6; y: * 6 5; z = Matmul x y; out z",
    IMAGE "y = Reshape x [shape=1,144 layout=@layout(NC)]; k: params 144 3; z = Matmul y k; out z",
    IMAGE "y = Resize x [dsize=8,8]; out y",
    IMAGE "y = Concat x x [axis=1]; out y",
    IMAGE "y = Mean x [dim=1,2]; out y",
};

/* The ops of a small network, in order. */
static const char *const networks[] = {
    IMAGE "w: params HWIO 3 3 4 8; b: params 8; c = Conv2d x w b [pad_left=1 pad_right=1 pad_top=1 pad_bottom=1]; r = ReLU c; "
          "d: params HWIO 3 3 1 8; e = Conv2d r d [groups=8 pad_left=1 pad_right=1 pad_top=1 pad_bottom=1]; "
          "v: params 8; m: params 8; n = BatchNorm2d e [variance=v mean=m]; s = Add r n; g = Sigmoid s; h = Multiply s g; "
          "p = MaxPool2d h [pool_width=2 pool_height=2]; q = AvgPool2d h [pool_width=2 pool_height=2]; "
          "j = Concat p q [axis=-1]; k: params 16 4; l: params 4; y = Matmul j k l; out y",
};

static const quantiser ways[] = {
    { .per_channel = false, .bits = 8 },
    { .per_channel = true,  .bits = 8 },
    { .per_channel = true,  .bits = 8,  .constants = true },
    { .per_channel = true,  .bits = 16 },
    { .per_channel = false, .bits = 16 },
};

static void check(const char *text, const quantiser *how) {
    quantised q = quantise_story(text, how);
    char what[1000];
    snprintf(what, sizeof what, "%s, %s, %d bits%s", text, how->per_channel ? "a ratio a channel" : "a ratio a map",
             (int)how->bits, how->constants ? ", 16-bit constants" : "");
    check_each_op(&q, what);
    quantised_free(&q);
}

static void each_op_computes_what_it_did_in_floats(void **state) {
    (void)state;
    for (size_t w = 0; w < COUNT(ways); w++) {
        for (size_t i = 0; i < COUNT(stories); i++) check(stories[i], &ways[w]);
        for (size_t i = 0; i < COUNT(mixed) && !ways[w].per_channel; i++) check(mixed[i], &ways[w]);
        for (size_t i = 0; i < COUNT(networks); i++) check(networks[i], &ways[w]);
    }
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

static void run_pass(xir_network *net, const char *pass, size_t *changes) {
    xir_diags_clear(why);
    xir_status status = xir_pass_run(net, pass, NULL, changes, why);
    if (status) xir_diags_print(why, stderr);
    if (status) fail_msg("%s: %s", pass, xir_status_name(status));
}

static void passes_keep_every_element(void **state) {
    (void)state;
    static const char *const passes[] = { "fold", "fold-batchnorm", "fold-products", "moves", "layout", "fuse", "identity",
                                          "cse", "infer" };
    for (size_t w = 0; w < COUNT(ways); w++) {
        for (size_t i = 0; i < COUNT(stories) + COUNT(networks); i++) {
            quantised q = quantise_story(i < COUNT(stories) ? stories[i] : networks[i - COUNT(stories)], &ways[w]);
            xir_network *net = xir_network_clone(q.net);
            for (size_t p = 0; p < COUNT(passes); p++) {
                size_t changes;
                run_pass(net, passes[p], &changes);
                check_same_outputs(&q, net, passes[p]);
            }
            xir_network_free(net);
            quantised_free(&q);
        }
    }
}

/* Gives a value a ratio and 16 bits: the op of the story then works on a map in normalised numbers, whatever its
 * constants were stored for. */
static void normalise(xir_network *net, const char *name, double ratio) {
    xir_value *v = story_value(net, name);
    const xir_tensor_type *tensor = xir_type_as_tensor(xir_value_type(v));
    size_t n = (size_t)tensor->shape.data[tensor->shape.size - 1];
    double ratios[16];
    const double one = 0.01;
    for (size_t i = 0; i < n; i++) ratios[i] = ratio;
    const xir_type *normalised = xir_type_normalized(ctx, xir_norm_ratios_from(ctx, ratios, n, -1),
                                                     xir_type_sint(ctx, 16), NULL);
    const xir_type *element = xir_type_normalized_quantized(ctx, normalised,
                                                            xir_scales_from(ctx, &one, 1, -1), NULL, 0);
    DOES(xir_value_set_type(v, xir_type_tensor(ctx, element, tensor->layout, tensor->shape.data, tensor->shape.size)));
}

typedef struct before_pass {
    const char *pass, *text, *normalised;
    size_t      changes;
} before_pass;

static const before_pass befores[] = {
    /* A factor that is stored for z / 4 is not a factor of the floats on both sides. */
    { "fuse", "x: NC 3 4; g: params 4; n = LayerNorm x [axis=-1]; y = Multiply n g; out y", "n", 0 },
    { "fuse", "x: NC 3 4; b: params 4; n = LayerNorm x [axis=-1]; y = Add n b; out y", "n", 0 },
    { "fuse", "x: NC 3 4; k: params 4 2; b: params 2; m = Matmul x k; y = Add m b; out y", "m", 0 },
    { "fuse", "x: NC 3 4; k: params 4 2; b: params 2; m = Matmul x k; y = Add m b; out y", "y", 0 },
    { "fold-batchnorm", "x: NHWC 1 4 4 3; w: params HWIO 2 2 3 4; f: params 4; c = Conv2d x w; y = Multiply c f; out y", "c", 0 },
    { "fold-batchnorm", "x: NHWC 1 4 4 3; w: params HWIO 2 2 3 4; f: params 4; c = Conv2d x w; y = Multiply c f; out y", "y", 0 },
    /* Elements converted by a transposition stay converted. */
    { "fold-batchnorm", "x: NHWC 1 4 4 3; w: params HWIO 2 2 3 4; f: params 4; c = Conv2d x w; "
                        "t = Transpose c [dims=0,3,1,2 layout=@layout(NCHW)]; u = Transpose t [dims=0,2,3,1 layout=@layout(NHWC)]; y = Multiply u f; out y", "t", 0 },
    { "merge", "x: NC 3 4; a = Transpose x [dims=1,0 layout=@layout(CN)]; y = Transpose a [dims=1,0 layout=@layout(NC)]; out y", "a", 0 },
    { "merge", "x: NC 3 4; a = Reshape x [shape=4,3 layout=@layout(NC)]; y = Reshape a [shape=2,6 layout=@layout(NC)]; out y", "a", 0 },
    { "merge", "x: NC 3 4; z: NC 2 4; a = Concat x z [axis=0]; y = Concat a [axis=0]; out y", "a", 0 },
    { "identity", "x: NC 3 4; a: 1; y = Multiply x a; out y", "y", 0 },
    { "layout", "x: NCHW 1 3 4 4; w: params OIHW 4 3 2 2; c = Conv2d x w; y = ReLU c; out y", "c", 0 },
    /* Inference does not overwrite types that were set. */
    { "infer", "x: NC 3 4; k: params 4 2; m = Matmul x k; y = ReLU m; out y", "m", 0 },
    { "infer", "x: NC 3 4; a = Reshape x [shape=4,3 layout=@layout(NC)]; y = ReLU a; out y", "a", 0 },
    /* The factors of the input of a normalised convolution are kept. */
    { "fold-batchnorm", "x: NHWC 1 4 4 3; f: params 3; w: params HWIO 2 2 3 4; m = Multiply x f; y = Conv2d m w; out y", "y", 1 },
};

static void a_map_between_floats_is_not_passed_over(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(befores); i++) {
        const before_pass *b = &befores[i];
        xir_network *net = story_net(b->text), *old;
        size_t changes = 99;
        normalise(net, b->normalised, 4);
        old = xir_network_clone(net);
        run_pass(net, b->pass, &changes);
        if (changes != b->changes)
            fail_msg("%s: %s: %zu changes, %zu were expected", b->pass, b->text, changes, b->changes);
        if (xir_network_first_unrunnable(net)) fail_msg("%s", b->text);
        CHECK_SAME_NUMBERS(old, net);
        xir_network_free(old);
        xir_network_free(net);
    }
}

/* ---- classes of programs ----------------------------------------------------------------------------------------- */

typedef struct one_input { xir_value *x; } one_input;

#define CLASS(id, key, ...) \
    static const xir_class_decl *id(void) { \
        static const xir_row rows[] = { \
            { .decl = XIR_DECL_OP, .name = key, .doc = "half of each element", .offset = 1, \
              .min = { .i = sizeof(one_input) } }, \
            { .decl = XIR_DECL_IN, .name = "x", .doc = "" }, { .decl = XIR_DECL_OUT, .name = "y", .doc = "" },                   \
            __VA_ARGS__ { .decl = XIR_DECL_END }, \
        }; \
        static const xir_class_decl decl = { XIR_ABI, sizeof decl, sizeof(xir_row), rows }; \
        return &decl; \
    }
CLASS (silent, "test::Silent", )
CLASS (outspoken, "test::Outspoken", { .decl = XIR_DECL_NORMALISED, .doc = "REAL" },)

static xir_status halve(xir_kernel *at) {
    const double *x = xir_kernel_reals(at, 0);
    double *y = xir_kernel_real_out(at, 0);
    if (!x || !y) return XIR_E_MEMORY;
    for (int i = 0; i < 2; i++) y[i] = x[i] / 2;
    return XIR_OK;
}

/* A class declares how it computes in normalised numbers, or it does not run on them. */
static void a_row_of_a_program_s_class_is_followed(void **state) {
    (void)state;
    static const xir_class_decl *(*const classes[])(void) = { silent, outspoken };
    for (size_t i = 0; i < COUNT(classes); i++) {
        xir_network *net = story_net("x: NC 1 2; y = ReLU x; out y");
        xir_value *x = story_value(net, "x");
        const xir_type *type;
        xir_array *in = xir_array_random(ctx, xir_value_type(x), 1, why), *given, *out = NULL;
        bool normalised = true;
        normalise(net, "x", 4);
        type = xir_value_type(x);
        DOES(xir_class_register(ctx, classes[i](), why));
        DOES(xir_kernel_register(ctx, classes[i](), halve));
        const xir_class *cls = xir_class_find_decl(ctx, classes[i]());
        const xir_op *op =
            xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = cls, .inputs = &x, .n_inputs = 1, .types = &type,
                                           .n_types = 1, .id = XIR_NO_ID));
        assert_non_null(op);
        given = xir_array_new(ctx, type, why);
        ((int16_t *)xir_array_edit(given))[0] = 50;   /* 2 */
        xir_diags_clear(why);
        xir_status status = xir_op_run(op, (const xir_array *const[]){ given }, 1, &out, 1, NULL, why);
        assert_int_equal(status, i ? XIR_OK : XIR_E_UNSUPPORTED);
        if (i) assert_float_equal(xir_array_real(out, 0), 1, 1e-6);
        else check_finding(XIR_E_UNSUPPORTED, "it is not known what the class computes from them");
        assert_int_equal(xir_op_is_normalised(op, &normalised, NULL), status);
        assert_false(normalised);
        xir_array_free(in);
        xir_array_free(given);
        xir_array_free(out);
        xir_network_free(net);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_op_computes_what_it_did_in_floats),
        cmocka_unit_test(passes_keep_every_element),
        cmocka_unit_test(a_map_between_floats_is_not_passed_over),
        cmocka_unit_test(a_row_of_a_program_s_class_is_followed),
    };
    return RUN_GROUP(tests);
}
