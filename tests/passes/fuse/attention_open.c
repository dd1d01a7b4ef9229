/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Attention in networks with open dims: what is fused while batch and lengths are symbols computes the same with any
 * numbers, and what is equal only by chance is not fused. */
#include "support/story.h"
#include <xir/pass.h>

/* Axis `axis` of the input is the symbol. */
typedef struct opened { const char *input; int64_t axis; const char *symbol; } opened;

#define STARS4 "layout=@layout(****)"
#define STARS3 "layout=@layout(***)"

static void open_axis(xir_network *net, const opened *o) {
    xir_value *v = story_value(net, o->input);
    const xir_type *type = xir_value_type(v);
    char text[8][24];
    xir_str dims[8];
    const size_t rank = xir_type_rank(type);
    for (size_t i = 0; i < rank; i++) {
        if ((int64_t)i == o->axis) snprintf(text[i], sizeof text[i], "%s", o->symbol);
        else xir_type_dim_text(type, (int64_t)i, text[i], sizeof text[i]);
        dims[i] = xir_str_of(text[i]);
    }
    const xir_type *made = xir_network_type_with_dims(net, type, dims, rank, why);
    assert_non_null(made);
    DOES(xir_value_set_type(v, made));
}

static xir_network *opened_net(const char *story, const opened *list, size_t n) {
    xir_network *net = story_net(story);
    for (size_t i = 0; i < n; i++) open_axis(net, &list[i]);
    DOES(xir_network_infer(net, why));
    return net;
}

static size_t count(xir_network *net, const xir_class_decl *decl) {
    size_t n = 0;
    for (xir_op *op = NULL; (op = xir_network_next_of_class(net, op, decl));) n++;
    return n;
}

static void run_pass(xir_network *net, const char *pass, const char *options) {
    xir_diags_clear(why);
    if (xir_pass_run(net, pass, options, NULL, why) == XIR_OK) return;
    xir_diags_print(why, stderr);
    fail_msg("%s", pass);
}

/* Compares the fused network with the one before, with each of these numbers. */
static void computes_the_same(const char *story, const opened *list, size_t n, const char *const *bindings,
                              size_t n_bindings, size_t transposes) {
    xir_network *fused = opened_net(story, list, n);
    run_pass(fused, "fuse", NULL);
    CHECK_SOUND(fused);
    assert_int_equal(xir_network_validate(fused, why), XIR_OK);
    assert_int_equal(count(fused, xir_attention_class()), 1);
    assert_int_equal(count(fused, xir_softmax_class()), 0);
    run_pass(fused, "dce", NULL);
    assert_int_equal(count(fused, xir_transpose_class()), transposes);
    for (size_t i = 0; i < n_bindings; i++) {
        xir_network *before = opened_net(story, list, n), *after = xir_network_clone(fused);
        run_pass(before, "bind", bindings[i]);
        run_pass(after, "bind", bindings[i]);
        DOES(xir_network_infer(after, why));
        check_same_numbers(before, after, bindings[i], (int)i);
        xir_network_free(before);
        xir_network_free(after);
    }
    xir_network_free(fused);
}

static void stays(const char *story, const opened *list, size_t n) {
    xir_network *net = opened_net(story, list, n);
    size_t changes;
    DOES(xir_pass_run(net, "fuse", NULL, &changes, why));
    if (changes) {
        char *text = story_text(net);
        fail_msg("changed: %s", text);
    }
    xir_network_free(net);
}

/* ---- BERT: heads by lists that are computed; the result is asked for its dims ------------------------------------ */

#define BERT \
    "x: 3 5 24; m: 3 1 1 5; wq: params 24 24; wk: params 24 24; wv: params 24 24; b: params 24; " \
    "apart: params sint64 2 = 3 8; whole: params sint64 1 = 24; root: 2.828427; " \
    "n = Shape x; n2 = Slice n [begin=0 end=2 stride=1]; d = Concat n2 apart [axis=0]; " \
    "q0 = Matmul x wq b; k0 = Matmul x wk b; v0 = Matmul x wv b; " \
    "q1 = Reshape q0 d [shape=-1,-1,-1,-1 " STARS4 "]; q = Transpose q1 [dims=0,2,1,3 " STARS4 "]; " \
    "k1 = Reshape k0 d [shape=-1,-1,-1,-1 " STARS4 "]; t = Transpose k1 [dims=0,2,3,1 " STARS4 "]; " \
    "v1 = Reshape v0 d [shape=-1,-1,-1,-1 " STARS4 "]; v = Transpose v1 [dims=0,2,1,3 " STARS4 "]; " \
    "s0 = Matmul q t; s1 = Div s0 root; s = Add s1 m; w = Softmax s; h = Matmul w v; " \
    "o = Transpose h [dims=0,2,1,3 " STARS4 "]; "

static void bert(void **state) {
    (void)state;
    static const char story[] = BERT
        "on = Shape o; o2 = Slice on [begin=0 end=2 stride=1]; od = Concat o2 whole [axis=0]; "
        "y = Reshape o od [shape=-1,-1,-1 " STARS3 "]; out y";
    static const opened list[] = {
        { "x", 0, "batch" }, { "x", 1, "length" }, { "m", 0, "batch" }, { "m", 3, "length" },
    };
    static const char *const bindings[] = { "dims=\"batch=1;length=1\"", "dims=\"batch=2;length=7\"", "dims=\"batch=3;length=2\"",
                                            "dims=\"batch=1;length=64\"", "dims=\"batch=0;length=4\"" };
    computes_the_same(story, list, COUNT(list), bindings, COUNT(bindings), 0);
}

/* ---- GPT: keys and values of the past, a slice of a causal mask -------------------------------------------------- */

#define GPT(low) \
    "q: 3 2 3 8; k: 3 2 3 8; v: 3 2 3 8; pk: 3 2 5 8; pv: 3 2 5 8; scale: 0.35355338; low: params 1 = " low "; " \
    "c: params bool 1 1 8 8 = 1 0 0 0 0 0 0 0 1 1 0 0 0 0 0 0 1 1 1 0 0 0 0 0 1 1 1 1 0 0 0 0 1 1 1 1 1 0 0 0 " \
    "1 1 1 1 1 1 0 0 1 1 1 1 1 1 1 0 1 1 1 1 1 1 1 1; " \
    "zeros: params sint64 2 = 0 0; ones: params sint64 2 = 1 1; zero: params sint64 1 = 0; " \
    "ak = Concat pk k [axis=2]; av = Concat pv v [axis=2]; " \
    "ps = Shape pk; pn = Slice ps [begin=2 end=3 stride=1]; ks = Shape ak; kn = Slice ks [begin=2 end=3 stride=1]; "
#define GPT_END \
    "t = Transpose ak [dims=0,1,3,2 " STARS4 "]; s0 = Matmul q t; s1 = Multiply s0 scale; s = Where s1 low seen; " \
    "w = Softmax s; y = Matmul w av; out y ak av"

static const opened past[] = {
    { "q", 0, "batch" },  { "k", 0, "batch" },  { "v", 0, "batch" },   { "pk", 0, "batch" }, { "pv", 0, "batch" },
    { "q", 2, "length" }, { "k", 2, "length" }, { "v", 2, "length" },  { "pk", 2, "past" },  { "pv", 2, "past" },
};
static const char *const past_numbers[] = {
    "dims=\"batch=1;length=1;past=0\"", "dims=\"batch=2;length=1;past=7\"", "dims=\"batch=1;length=8;past=0\"",
    "dims=\"batch=3;length=3;past=4\"",
};

static void gpt_with_a_past(void **state) {
    (void)state;
    static const char sliced[] = GPT("-10000")
        "b = Concat zeros pn zero ones kn kn [axis=0]; seen = Slice c b [begin=-1,-1,-1,-1 end=-1,-1,-1,-1 stride=1,1,1,1]; " GPT_END;
    static const char endless[] = GPT("-inf")
        "b = Concat zeros pn zero ones kn kn [axis=0]; seen = Slice c b [begin=-1,-1,-1,-1 end=-1,-1,-1,-1 stride=1,1,1,1]; " GPT_END;
    computes_the_same(sliced, past, COUNT(past), past_numbers, COUNT(past_numbers), 0);
    computes_the_same(endless, past, COUNT(past), past_numbers, COUNT(past_numbers), 0);
}

static void masks_without_a_key_for_each_query(void **state) {
    (void)state;
    /* the last keys instead of the first, and what is not a slice */
    stays(GPT("-10000") "b = Concat zeros pn zero ones kn kn [axis=0]; r = Slice c [begin=0,0,0,-1 end=1,1,8,-99 stride=1,1,1,-1]; "
          "seen = Slice r b [begin=-1,-1,-1,-1 end=-1,-1,-1,-1 stride=1,1,1,1]; " GPT_END, past, COUNT(past));
    stays(GPT("-10000") "x = Copy c; b = Concat zeros pn zero ones kn kn [axis=0]; "
          "seen = Slice x b [begin=-1,-1,-1,-1 end=-1,-1,-1,-1 stride=1,1,1,1]; " GPT_END, past, COUNT(past));
}

/* ---- dims that do not agree -------------------------------------------------------------------------------------- */

#define CORE \
    "q: 3 2 4 8; k: 3 2 5 8; v: 3 2 5 6; m: 3 1 1 5; t = Transpose k [dims=0,1,3,2 " STARS4 "]; s0 = Matmul q t; " \
    "s = Add s0 m; w = Softmax s; y = Matmul w v; out y"

static void dims_that_agree(void **state) {
    (void)state;
    static const opened list[] = {
        { "q", 0, "n" }, { "k", 0, "n" }, { "v", 0, "n" }, { "m", 0, "n" }, { "q", 2, "i" }, { "k", 2, "j" }, { "v", 2, "j" }, { "m", 3, "j" },
    };
    static const char *const bindings[] = { "dims=\"n=1;i=1;j=1\"", "dims=\"n=4;i=3;j=9\"", "dims=\"n=2;i=6;j=1\"" };
    computes_the_same(CORE, list, COUNT(list), bindings, COUNT(bindings), 0);
}

static void dims_that_do_not_agree(void **state) {
    (void)state;
    static const opened batch[] = { { "q", 0, "a" }, { "k", 0, "b" }, { "v", 0, "b" }, { "m", 0, "b" } };
    static const opened values[] = { { "v", 0, "n" } };
    static const opened masks[] = { { "k", 2, "i" }, { "v", 2, "i" }, { "m", 3, "j" } };
    static const opened lengths[] = { { "k", 2, "i" }, { "v", 2, "j" }, { "m", 3, "i" } };
    static const opened heads[] = { { "q", 1, "h" }, { "k", 1, "h" }, { "v", 1, "h" } };
    static const opened sizes[] = { { "q", 3, "d" }, { "k", 3, "d" } };
    static const opened nothing[] = { { "q", 2, "?" } };
    stays(CORE, batch, COUNT(batch));
    stays(CORE, values, COUNT(values));
    stays(CORE, masks, COUNT(masks));
    stays(CORE, lengths, COUNT(lengths));
    stays(CORE, heads, COUNT(heads));
    stays(CORE, sizes, COUNT(sizes));
    stays(CORE, nothing, COUNT(nothing));
}

/* ---- Swin: windows of a batch without a number ------------------------------------------------------------------- */

#define SWIN(mask, apart) \
    "x: 2 4 5 24; b: params 1 2 5 5; m: params " mask "; r = Reshape x [shape=-1,5,24 " STARS3 "]; " \
    "p0 = Reshape r [shape=-1,5,3,2,4 layout=@layout(*****)]; p = Transpose p0 [dims=2,0,3,1,4 layout=@layout(*****)]; " \
    "q, k, v = Unstack p; t = Transpose k [dims=0,1,3,2 " STARS4 "]; s = Matmul q t b; " \
    "a = Reshape s [shape=" apart ",2,5,5 layout=@layout(*****)]; c = Add a m; z = Reshape c [shape=-1,2,5,5 " STARS4 "]; " \
    "w = Softmax z; y = Matmul w v; out y"

static void swin(void **state) {
    (void)state;
    static const opened list[] = { { "x", 0, "batch" } };
    static const char *const bindings[] = { "dims=\"batch=1\"", "dims=\"batch=2\"", "dims=\"batch=5\"" };
    computes_the_same(SWIN("1 4 1 5 5", "-1,4"), list, 1, bindings, 3, 1);
    computes_the_same(SWIN("4 1 5 5", "-1,4"), list, 1, bindings, 3, 1);
    computes_the_same(SWIN("1 4 2 5 5", "-1,4"), list, 1, bindings, 3, 1);
    computes_the_same(SWIN("1 1 1 5 5", "-1,4"), list, 1, bindings, 3, 1);
    computes_the_same(SWIN("1 4 1 1 5", "-1,4"), list, 1, bindings, 3, 1);
}

static void masks_of_all_images_stay(void **state) {
    (void)state;
    static const opened list[] = { { "x", 0, "batch" }, { "m", 0, "batch" } };
    static const char story[] =
        "x: 2 4 5 24; m: 2 4 1 5 5; r = Reshape x [shape=-1,5,24 " STARS3 "]; "
        "p0 = Reshape r [shape=-1,5,3,2,4 layout=@layout(*****)]; p = Transpose p0 [dims=2,0,3,1,4 layout=@layout(*****)]; "
        "q, k, v = Unstack p; t = Transpose k [dims=0,1,3,2 " STARS4 "]; s = Matmul q t; "
        "a = Reshape s [shape=-1,4,2,5,5 layout=@layout(*****)]; c = Add a m; z = Reshape c [shape=-1,2,5,5 " STARS4 "]; "
        "w = Softmax z; y = Matmul w v; out y";
    stays(story, list, COUNT(list));
}

/* ---- exported models --------------------------------------------------------------------------------------------- */

static void run_pipeline(xir_network *net, const char *text) {
    xir_diags_clear(why);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(text), why);
    const xir_status status = pipeline ? xir_pipeline_run(pipeline, net, NULL, NULL, why) : XIR_E_SYNTAX;
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    xir_pipeline_free(pipeline);
}

/* The ops that remain in the default pipeline: their heads need no Transpose, except those of keys of the past. With
 * numbers for the dims, formats without an attention take them, too. */
static void exported_models(void **state) {
    (void)state;
    static const struct { const char *model; size_t transposes; const char *dims; } models[] = {
        { "bert",           0, "batch=2;length=5"        },
        { "optimised/bert", 0, "batch=2;length=5"        },
        { "gpt",            4, "batch=2;length=3;past=4" },
        { "optimised/gpt",  4, "batch=2;length=1;past=6" },
        { "vit",            1, "batch=2"                 },   /* of the image */
    };
    for (size_t i = 0; i < COUNT(models); i++) {
        char path[300], options[80];
        snprintf(path, sizeof path, XIR_TEST_DATA "/convert/onnx/dynamic/%s.onnx", models[i].model);
        xir_network *net = xir_network_load(ctx, path, NULL, why);
        assert_non_null(net);
        run_pipeline(net, xir_default_pipeline());
        assert_int_equal(count(net, xir_attention_class()), 1);
        assert_int_equal(count(net, xir_softmax_class()), 0);
        if (count(net, xir_transpose_class()) != models[i].transposes)
            fail_msg("%s: %zu transpositions", models[i].model, count(net, xir_transpose_class()));
        snprintf(options, sizeof options, "dims=\"%s\"", models[i].dims);
        run_pass(net, "bind", options);
        run_pipeline(net, "infer,fold,infer,dce");
        for (int format = 0; format < 3; format++) {
            static const char *const to[] = { "layout{to=nchw},xir-to-pnnx{strict}", "xir-to-tsm{strict}", "xir-to-deepx" };
            xir_network *one = xir_network_clone(net);
            run_pipeline(one, to[format]);
            assert_int_equal(count(one, xir_attention_class()), 0);
            xir_network_free(one);
        }
        xir_network_free(net);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bert),
        cmocka_unit_test(gpt_with_a_past),
        cmocka_unit_test(masks_without_a_key_for_each_query),
        cmocka_unit_test(dims_that_agree),
        cmocka_unit_test(dims_that_do_not_agree),
        cmocka_unit_test(swin),
        cmocka_unit_test(masks_of_all_images_stay),
        cmocka_unit_test(exported_models),
    };
    return RUN_GROUP(tests);
}
