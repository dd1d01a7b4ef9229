/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* nn.MultiheadAttention becomes products of XIR, and these become one operator again, with the same parameters, weights
 * and results: with a mask, with rows at the end of keys and values, with the weights as a second output. What is used
 * elsewhere, or is not the attention that PyTorch computes, stays apart. */
#include <string.h>
#include "convert/pnnx_text.h"
#include "support/story.h"

#define FALSES "add_bias_kv=False add_zero_attn=False "
#define WEIGHTS "@in_proj_bias=(24)f32 @in_proj_weight=(24,8)f32 @out_proj.bias=(8)f32 @out_proj.weight=(8,8)f32"
#define ONE "bias=True embed_dim=8 kdim=8 num_heads=2 vdim=8 " WEIGHTS
#define OTHER "bias=False embed_dim=8 kdim=6 num_heads=4 vdim=4 @k_proj_weight=(8,6)f32 @out_proj.weight=(8,8)f32 " \
              "@q_proj_weight=(8,8)f32 @v_proj_weight=(8,4)f32"
#define SELF  "q=(3,5,8)f32"
#define CROSS "q=(3,5,8)f32 k=(3,7,6)f32 v=(3,7,4)f32"

static const struct { const char *inputs, *outputs, *line; } whole[] = {
    { SELF, "y", "nn.MultiheadAttention a 1 1 q y " FALSES "batch_first=True " ONE },
    { SELF, "y", "nn.MultiheadAttention a 1 1 q y " FALSES ONE },
    { SELF, "y z", "nn.MultiheadAttention a 1 2 q y z " FALSES ONE },
    { SELF " m=(5,5)f32", "y", "nn.MultiheadAttention a 2 1 q m y " FALSES "batch_first=True " ONE " $attn_mask=m" },
    { SELF " m=(6,5,5)f32", "y z",
      "nn.MultiheadAttention a 2 2 q m y z " FALSES "batch_first=True " ONE " $attn_mask=m" },
    { SELF " k=(3,7,8)f32", "y", "nn.MultiheadAttention a 2 1 q k y " FALSES "batch_first=True " ONE },
    { CROSS, "y", "nn.MultiheadAttention a 3 1 q k v y " FALSES "batch_first=True " OTHER },
    { CROSS " m=(5,7)f32", "y z", "nn.MultiheadAttention a 4 2 q k v m y z " FALSES "batch_first=True " OTHER
      " $attn_mask=m" },
    { SELF, "y", "nn.MultiheadAttention a 1 1 q y add_bias_kv=True add_zero_attn=True batch_first=True bias=True "
      "embed_dim=8 kdim=8 num_heads=2 vdim=8 @bias_k=(1,1,8)f32 @bias_v=(1,1,8)f32 " WEIGHTS },
    { SELF " m=(5,5)f32", "y z", "nn.MultiheadAttention a 2 2 q m y z add_bias_kv=False add_zero_attn=True "
      "batch_first=True " ONE " $attn_mask=m" },
    { CROSS, "y",
      "nn.MultiheadAttention a 3 1 q k v y add_bias_kv=True add_zero_attn=False batch_first=True bias=False "
      "embed_dim=8 kdim=6 num_heads=4 vdim=4 @bias_k=(1,1,8)f32 @bias_v=(1,1,8)f32 @k_proj_weight=(8,6)f32 "
      "@out_proj.weight=(8,8)f32 @q_proj_weight=(8,8)f32 @v_proj_weight=(8,4)f32" },
};

typedef struct text { char data[1 << 14]; size_t size; } text;

static bool append(void *user, const void *data, size_t size) {
    text *to = user;
    if (size >= sizeof to->data - to->size) return false;
    memcpy(to->data + to->size, data, size);
    to->data[to->size += size] = '\0';
    return true;
}

/* The lines of operators other than inputs and outputs, one blank between words, without shapes of operands. */
static void operators(xir_network *net, text *out) {
    static text file;
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "pnnx", .unchecked = true);
    file.size = out->size = 0;
    assert_int_equal(xir_network_write(net, append, &file, &options, why), XIR_OK);
    char *rest, *line = strtok_r(file.data, "\n", &rest);
    line = strtok_r(NULL, "\n", &rest);
    while ((line = strtok_r(NULL, "\n", &rest))) {
        char *words;
        if (strncmp(line, "pnnx.Input", 10) == 0 || strncmp(line, "pnnx.Output", 11) == 0) continue;
        for (char *w = strtok_r(line, " ", &words); w; w = strtok_r(NULL, " ", &words))
            if (*w != '#') append(out, w, strlen(w)), append(out, " ", 1);
        out->data[out->size - 1] = '\n';
    }
    out->data[out->size] = '\0';
}

static void run_passes(xir_network *net, const char *passes) {
    xir_diags_clear(why);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(passes), why);
    assert_non_null(pipeline);
    assert_int_equal(xir_pipeline_run(pipeline, net, NULL, NULL, why), XIR_OK);
    xir_pipeline_free(pipeline);
}

static void goes_there_and_back(size_t i, const char *pipeline) {
    static text t;
    char line[600];
    xir_array *before[2] = { NULL }, *after[2] = { NULL };
    snprintf(line, sizeof line, "%s\n", whole[i].line);
    xir_network *net = pnnx_net(whole[i].inputs, line, whole[i].outputs);
    pnnx_converted(net, line);
    const size_t n = pnnx_run(net, before);
    run_passes(net, pipeline);
    operators(net, &t);
    if (strcmp(t.data, line) != 0) fail_msg("expected\n%sfound\n%s", line, t.data);
    pnnx_converted(net, line);
    assert_int_equal(pnnx_run(net, after), n);
    for (size_t k = 0; k < n; k++) {
        xir_difference d;
        assert_int_equal(xir_array_compare(before[k], after[k], 1e-6, 1e-6, &d), XIR_OK);
        assert_true(d.same_shape && !d.count);
        xir_array_free(before[k]);
        xir_array_free(after[k]);
    }
    xir_network_free(net);
}

static void attention_becomes_one_operator_again(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(whole); i++) {
        goes_there_and_back(i, "xir-to-pnnx");
        goes_there_and_back(i, "fold,cse,dce,layout{to=nchw},xir-to-pnnx");
        /* fuse makes an Attention, which gives 0 where a mask hides all keys: an unknown one may */
        if (strstr(whole[i].line, "$attn_mask")) continue;
        goes_there_and_back(i, "fix(fold,identity,merge,fuse,cse,dce),layout{to=nchw},xir-to-pnnx");
    }
}

/* ---- attention as others write it ------------------------------------------------------------------------------- */

static size_t attentions(const xir_network *net) {
    size_t n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        n += xir_str_equal(xir_class_key(xir_op_class(op)), XIR_STR("pnnx::nn.MultiheadAttention"));
    return n;
}

#define FOUR "layout=@layout(****)"
/* Two heads of four elements. `scores` makes d of s, with the numbers h, k and q; `bias` is that of the keys. */
static size_t made_of(const char *scores, const char *bias, const char *results) {
    char story[2000];
    snprintf(story, sizeof story,
             "x: 2 5 8; m: 5 5; h: 0.5; k: 2; q: 0.25; wq: params 8 8; wk: params 8 8; wv: params 8 8; "
             "wo: params 8 8; bq: params 8; bk: params 8; bv: params 8; bo: params 8; "
             "a = Matmul x wq bq; b = Matmul x wk%s; c = Matmul x wv bv; "
             "ra = Reshape a [shape=2,5,2,4 " FOUR "]; ta = Transpose ra [dims=0,2,1,3 " FOUR "]; "
             "rb = Reshape b [shape=2,5,2,4 " FOUR "]; tb = Transpose rb [dims=0,2,3,1 " FOUR "]; "
             "rc = Reshape c [shape=2,5,2,4 " FOUR "]; tc = Transpose rc [dims=0,2,1,3 " FOUR "]; "
             "s = Matmul ta tb; %s; p = Softmax d [axis=3]; o = Matmul p tc; "
             "to = Transpose o [dims=0,2,1,3 " FOUR "]; ro = Reshape to [shape=2,5,8 layout=@layout(***)]; "
             "y = Matmul ro wo bo; out y%s", bias, scores, results);
    size_t n[2];
    const bool masked = strstr(scores, "f m") || strstr(scores, "m f");
    for (int fused = 0; fused < 2; fused++) {   /* in parts, and as XIR's Attention: the same comes of both */
        xir_network *net = story_net(story), *before = xir_network_clone(net);
        run_passes(net, fused ? "fuse,xir-to-pnnx" : "xir-to-pnnx");
        n[fused] = attentions(net);
        run_passes(net, "pnnx-to-xir");
        assert_int_equal(xir_network_infer(net, why), XIR_OK);
        CHECK_SAME_NUMBERS(net, before);
        xir_network_free(before);
        xir_network_free(net);
    }
    assert_int_equal(n[1], masked ? 0 : n[0]);   /* but where a mask may hide all keys, XIR's has another result */
    return n[0];
}

static void scores_may_be_scaled_after_the_product(void **state) {
    (void)state;
    assert_int_equal(made_of("d = Multiply s h", " bk", ""), 1);
    assert_int_equal(made_of("d = Div s k", " bk", ""), 1);
    assert_int_equal(made_of("f = Multiply s h; d = Add f m", " bk", ""), 1);
    assert_int_equal(made_of("f = Multiply s h; d = Add m f", " bk", ""), 1);
}

static void what_is_not_its_attention_stays_apart(void **state) {
    (void)state;
    assert_int_equal(made_of("d = Multiply s q", " bk", ""), 0);                    /* another scale     */
    assert_int_equal(made_of("f = Add s m; d = Multiply f h", " bk", ""), 0);       /* a scaled mask     */
    assert_int_equal(made_of("f = Multiply s h; d = Add f f", " bk", ""), 0);
    assert_int_equal(made_of("d = Multiply s h", "", ""), 0);                       /* a bias is missing */
    assert_int_equal(made_of("d = Multiply s h", " bk", " p"), 0);                  /* weights of heads  */
    assert_int_equal(made_of("d = Multiply s h", " bk", " s"), 0);
    assert_int_equal(made_of("d = Multiply s h", " bk", " b"), 0);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_becomes_one_operator_again),
        cmocka_unit_test(scores_may_be_scaled_after_the_product),
        cmocka_unit_test(what_is_not_its_attention_stays_apart),
    };
    return RUN_GROUP(tests);
}
