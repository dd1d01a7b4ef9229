/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Loops that threads share are cut anywhere: each kernel that has such a loop gives the same bytes on every path with
 * 1, 2 and 7 threads that share short loops too, as on the plain path with loops that are whole. Sizes make last
 * pieces and last vectors of each length. What the kernels compute is the subject of other tests. */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <xir/exec.h>
#include "gemm_paths.h"
#include "support/again.h"
#include "support/net.h"
#include "support/story.h"

enum { MOST_INPUTS = 3, MOST_OUTPUTS = 3, SIZES = 8, MOST_TEXT = 600 };

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void run(const xir_network *net, xir_array *const *in, size_t n, size_t threads, xir_array **out,
                const char *story) {
    const xir_run_options how = XIR_INIT(xir_run_options, .threads = threads);
    xir_diags_clear(why);
    if (xir_network_run(net, (const xir_array *const *)in, n, out, xir_network_outputs(net, NULL, 0), &how, why)) {
        const xir_str message = xir_diags_at(why, 0)->message;
        fail_msg("%s: %.*s", story, (int)message.size, message.data);
    }
}

static bool same_numbers(const xir_array *a, const xir_array *b) {
    for (size_t i = 0; i < xir_array_count(a); i++) {
        const double x = xir_array_real(a, i), y = xir_array_real(b, i);
        if (memcmp(&x, &y, sizeof x) && !(isnan(x) && isnan(y))) return false;
    }
    return true;
}

/* A NaN may have other bits. */
static bool same(const xir_array *a, const xir_array *b) {
    size_t size, other;
    const void *first = xir_array_data(a, &size), *second = xir_array_data(b, &other);
    return size == other && (!size || memcmp(first, second, size) == 0 || same_numbers(a, b));
}

static void check_cuts(const xir_network *net, xir_array *const *in, size_t n, const char *story) {
    static const char *const threads[] = { "1", "2", "7" };
    const size_t n_out = xir_network_outputs(net, NULL, 0);
    xir_array *whole[MOST_OUTPUTS] = { NULL };
    const gemm_path *path;
    assert_in_range(n_out, 1, MOST_OUTPUTS);
    way_set("plain", NULL);
    run(net, in, n, 1, whole, story);
    for (size_t p = 0; (path = gemm_path_at(p)); p++) {
        for (size_t t = 0; t < COUNT(threads); t++) {
            xir_array *cut[MOST_OUTPUTS] = { NULL };
            way_set(path->name, threads[t]);
            run(net, in, n, 0, cut, story);
            for (size_t o = 0; o < n_out; o++) {
                if (!same(whole[o], cut[o]))
                    fail_msg("%s: output %zu differs: %s, %s threads", story, o, path->name, threads[t]);
                xir_array_free(cut[o]);
            }
        }
    }
    way_reset();
    for (size_t o = 0; o < n_out; o++) xir_array_free(whole[o]);
}

/* An input called i has indices below 3. */
static xir_array *some_array(const xir_value *value) {
    const xir_type *type = xir_value_type(value);
    xir_array *array = xir_array_random(ctx, type, chance(1 << 20), why);
    assert_non_null(array);
    int64_t *at = xir_str_equal(xir_value_name(value), XIR_STR("i")) ? xir_array_edit(array) : NULL;
    for (size_t k = 0; at && k < xir_array_count(array); k++) at[k] = (int64_t)chance(3);
    return array;
}

/* Writes a story with numbers for its signs: $ is `many`, & is `few`, ? a type. */
static void fill_in(char out[MOST_TEXT], const char *story, size_t many, size_t few, const char *type) {
    size_t n = 0;
    for (; *story; story++) {
        const size_t left = MOST_TEXT - n;
        if (*story == '$' || *story == '&') n += (size_t)snprintf(out + n, left, "%zu", *story == '$' ? many : few);
        else if (*story == '?') n += (size_t)snprintf(out + n, left, "%s", type);
        else n += (size_t)snprintf(out + n, left, "%c", *story);
        assert_true(n < MOST_TEXT - 1);
    }
}

static void check_net(xir_network *net, const char *text) {
    xir_value *values[MOST_INPUTS];
    xir_array *in[MOST_INPUTS];
    const size_t n = xir_network_inputs(net, values, MOST_INPUTS);
    assert_in_range(n, 1, MOST_INPUTS);
    for (size_t i = 0; i < n; i++) in[i] = some_array(values[i]);
    check_cuts(net, in, n, text);
    for (size_t i = 0; i < n; i++) xir_array_free(in[i]);
    xir_network_free(net);
}

static void check_story_of(const char *story, size_t many, size_t few, const char *type) {
    char text[MOST_TEXT];
    fill_in(text, story, many, few, type);
    check_net(story_net(text), text);
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

static const char *const types[] = { "fp32", "fp16", "fp64", "bf16" };

static void elements(void **state) {
    (void)state;
    static const char *const of_one[] = {
        "Abs", "ACos", "ACosh", "ASin", "ASinh", "ATan", "ATanh", "Ceil", "ClampScalar", "Cos", "Cosh",
        "DivideScalar", "ELU", "Erf", "Exp", "Floor", "GELU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh",
        "Log", "LogSigmoid", "Mish", "Neg", "Reciprocal", "ReLU", "Round", "Sigmoid", "Sign", "SiLU", "Sin", "Sinh",
        "Softplus", "Softshrink", "Softsign", "Sqrt", "Tan", "Tanh", "Tanhshrink",
    };
    static const char *const of_two[] = {
        "Add", "Div", "Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "Maximum", "Minimum", "Mod",
        "Multiply", "NotEqual", "Pow",
    };
    static const char *const of_truths[] = { "And", "Or", "Xor" };
    char story[200];
    for (size_t size = 0; size < SIZES; size++) {
        for (size_t i = 0; i < COUNT(of_one); i++) {
            snprintf(story, sizeof story, "x: ? $; z = %s x%s; out z", of_one[i],
                     strcmp(of_one[i], "DivideScalar") ? "" : " [divisor=3]");
            check_story_of(story, 129 + size, 0, types[(i + size) % COUNT(types)]);
        }
        for (size_t i = 0; i < COUNT(of_two); i++) {
            snprintf(story, sizeof story, "x: ? 3 $; y: ? $; z = %s x y%s; out z", of_two[i],
                     strcmp(of_two[i], "Mod") ? "" : " [fmod=true]");
            check_story_of(story, 65 + size, 0, types[(i + size) % COUNT(types)]);
        }
        for (size_t i = 0; i < COUNT(of_truths); i++) {
            snprintf(story, sizeof story, "x: bool 3 $; y: bool $; z = %s x y; n = Not z; out z n", of_truths[i]);
            check_story_of(story, 65 + size, 0, "");
        }
    }
}

/* ---- kernels with loops of their own ----------------------------------------------------------------------------- */

/* Ops of the same inputs, each a network: ops of one network that do not need each other are computed at the same time,
 * and their loops are whole then. A loop has `$` items or more. */
static const struct { const char *inputs, *calls[5]; } rows[] = {
    /* activation, elementwise, cast, fill */
    { "x: ? NHWC 1 $ 3 &; s: params &",                  { "PReLU x [alpha=s]" } },
    { "x: ? NCHW 2 3 $ &; s: params 3",                  { "PReLU x [alpha=s]" } },
    { "x: ? 3 $; y: ? $; c: bool 3 1",                   { "Where x y c" } },
    { "x: ? & $",                                        { "Cast x [target_dtype=fp16,&,$]" } },
    { "x: ? & $; s = Shape x",                           { "ConstantOfShape s" } },
    { "x: ? 1; a: 0; b: $; c: 1",                        { "Range a b c" } },
    /* norms */
    { "x: ? NLC 2 $ &; v: params &; m: params &",        { "BatchNorm1d x [variance=v mean=m]" } },
    { "x: ? NHWC 1 $ 3 &; v: params &; m: params &",     { "BatchNorm2d x [variance=v mean=m]" } },
    { "x: ? NCHW 2 3 $ &; v: params 3; m: params 3",     { "BatchNorm2d x [variance=v mean=m]" } },
    { "x: ? NDHWC 1 2 $ 3 &; v: params &; m: params &",  { "BatchNorm3d x [variance=v mean=m]" } },
    { "x: ? NLC 1 & $",                                  { "InstanceNorm1d x" } },
    { "x: ? NHWC 1 & 30 $",                              { "InstanceNorm2d x" } },
    { "x: ? NDHWC 1 2 & 30 $",                           { "InstanceNorm3d x" } },
    { "x: ? NHWC $ & 3 4",                               { "GroupNorm x [groups=2]" } },
    { "x: ? $ 3&",                                       { "Softmax x [axis=1]", "LogSoftmax x [axis=0]",
                                                           "LayerNorm x [axis=1]", "RMSNorm x [axis=1]",
                                                           "Normalize x [axis=1]" } },
    /* pools, windows, images */
    { "x: ? NLC & $ 3",                                  { "AvgPool1d x [pool_width=3 pad_left=1]",
                                                           "MaxPool1d x [pool_width=2]" } },
    { "x: ? NHWC 1 & $ 3",                               { "AvgPool2d x [pool_width=3 pool_height=1]",
                                                           "MaxPool2d x [pool_width=2 pool_height=1]",
                                                           "Unfold x [kernel_height=1 kernel_width=2 pad_left=1]" } },
    { "x: ? NDHWC 1 2 & $ 3",                            { "AvgPool3d x [pool_width=3 pool_height=1 pool_depth=2]",
                                                           "MaxPool3d x [pool_width=2 pool_height=1 pool_depth=1]" } },
    { "x: ? NHWC 1 9 $ &",                               { "Upsample x [height=11 width=13 interpolation=BILINEAR]",
                                                           "Upsample x [height=14 width=33 interpolation=NEAREST]",
                                                           "Resize x [dsize=7,73]",
                                                           "Resize x [dsize=3,9 interpolation=INTER_NEAREST]" } },
    { "x: ? NHWC 1 9 8 &; g: fp32 NHWC 1 2 $ 2",         { "GridSample x g",
                                                           "GridSample x g [interpolation=NEAREST]" } },
    /* products */
    { "x: ? NLC 5 $ 3; k: ? LIO 3 3 &",                  { "Conv1d x k" } },
    { "x: ? NHWC 1 & $ 3; k: ? HWIO 1 3 3 &",            { "Conv2d x k" } },
    { "x: ? NHWC 1 3 $ &; k: ? HWIO 2 3 1 &",            { "Conv2d x k [groups=&]" } },
    { "x: ? NDHWC 5 2 3 $ 3; k: ? DHWIO 1 1 3 3 &",      { "Conv3d x k" } },
    { "x: ? NLC 1 $ 3; k: ? LOI 3 4& 3",                 { "ConvTranspose1d x k [stride_width=2]" } },
    { "x: ? NHWC 1 & $ 3; k: ? HWOI 1 3 4& 3",           { "ConvTranspose2d x k [stride_width=2]" } },
    { "x: ? NDHWC 1 2 3 $ 3; k: ? DHWOI 1 1 3 4& 3",     { "ConvTranspose3d x k" } },
    { "x: ? $ 3&; y: ? 3& 2&",                           { "Matmul x y" } },
    { "x: ? & $; y: ? $ 3",                              { "Matmul x y" } },
    { "x: sint64 $ 3&; y: sint64 3& 2&",                 { "Matmul x y" } },
    { "x: ? $ &; y: ? & 7; c: ? $",                      { "Einsum x y c [equation=ab,bc,a->ca]" } },
    { "q: ? 1 2 $ &; k: ? 1 2 9 &; v: ? 1 2 9 5",        { "Attention q k v" } },
    { "x: ? 2 $ &; w: ? 1 12 &; r: ? 1 12 3",            { "z, h, c = LSTM x w r [hidden_size=3]; out z h c" } },
    { "x: ? 2 $ &; w: ? 1 9 &; r: ? 1 9 3",              { "z, h = GRU x w r [hidden_size=3]; out z h" } },
    { "x: ? 2 $ &; w: ? 1 3 &; r: ? 1 3 3",              { "z, h = RNN x w r [hidden_size=3]; out z h" } },
    /* reductions and selections */
    { "x: ? $ 3&",                                       { "Sum x [dim=1]", "Mean x [dim=0]", "Prod x [dim=1]",
                                                           "CumSum x [axis=1]", "CumSum x [axis=0]" } },
    { "x: ? $ 3&; k: params sint64 1 = 2",               { "v, i = TopK x k [axis=1]; out v i" } },
    /* moves */
    { "x: ? $ &; y: ? $ 3",                              { "Concat x y x [axis=1]", "Stack x x [dim=1]" } },
    { "x: ? 3 & 5; i: sint64 $",                         { "Gather x i [axis=0]" } },
    { "x: ? 3 $; i: sint64 & $",                         { "GatherElements x i" } },
    { "x: ? 3 3 &; i: sint64 $ 2",                       { "GatherND x i" } },
    { "x: ? $ &",                                        { "Roll x [shifts=5]", "Pad x [padding=1,2,0,3]",
                                                           "Slice x [begin=1,0 end=$,& stride=2,1]" } },
    { "x: ? $ & 3",                                      { "Transpose x [dims=2,0,1 layout=@layout(***)]",
                                                           "Tile x [dims=2,1,2]",
                                                           "a, b, c = Unstack x [dim=2]; out a b c" } },
    { "x: ? 1 & 1",                                      { "Expand x [sizes=$,&,3]" } },
    { "x: ? $ 9",                                        { "a, b = Split x [axis=1 sections=4,5]; out a b" } },
    { "x: ? NHWC 1 $ & 8",                               { "ChannelShuffle x [groups=2]",
                                                           "PixelShuffle x [upscale_factor=2]" } },
};

static void kernels(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t k = 0; k < COUNT(rows[i].calls) && rows[i].calls[k]; k++) {
            char story[MOST_TEXT];
            const char *call = rows[i].calls[k];
            if (strstr(call, "out ")) snprintf(story, sizeof story, "%s; %s", rows[i].inputs, call);
            else snprintf(story, sizeof story, "%s; z = %s; out z", rows[i].inputs, call);
            for (size_t size = 0; size < SIZES; size++)
                check_story_of(story, 129 + size, 1 + size, types[(i + k + size) % 2 * 2]);
        }
    }
}

/* Ops with an attribute that a story does not express. */
enum { GREATEST, LEAST, FIRST_GREATEST, FIRST_LEAST, QUANTA, OTHERS };

static xir_value *add_other(xir_network *net, int which, xir_value *x, const int64_t dims[2]) {
    const xir_int_imm *axis = (const xir_int_imm *)xir_scalar_int(ctx, dims[0] % 2);
    const xir_scales *scales = xir_scales_from(ctx, (const double[]){ 0.125 }, 1, -1);
    const xir_type *byte = xir_type_quantized(ctx, scales, NULL, 0, xir_type_sint(ctx, 8), NULL);
    const xir_tensor_type *bytes = xir_type_as_tensor(xir_type_tensor(ctx, byte, NULL, dims, 2));
    const xir_at at = xir_at_end(net);
    switch (which) {
    case GREATEST:       return XIR_OP(at, max, .input = x, .attrs = XIR_ATTRS(max, (dim, axis)));
    case LEAST:          return XIR_OP(at, min, .input = x, .attrs = XIR_ATTRS(min, (dim, axis)));
    case FIRST_GREATEST: return XIR_OP(at, argmax, .input = x, .attrs = XIR_ATTRS(argmax, (dim, axis)));
    case FIRST_LEAST:    return XIR_OP(at, argmin, .input = x, .attrs = XIR_ATTRS(argmin, (dim, axis)));
    default:             return XIR_OP(at, quantize, .input = x, .attrs = XIR_ATTRS(quantize, (target_dtype, bytes)));
    }
}

static void extremes_and_quanta(void **state) {
    (void)state;
    for (int which = 0; which < OTHERS; which++) {
        for (int64_t size = 0; size < SIZES; size++) {
            const int64_t dims[] = { 129 + size, 31 + size };
            const xir_type *type = XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "**", dims[0], dims[1]);
            xir_network *net = new_net();
            xir_value *z = add_other(net, which, xir_input(xir_at_end(net), "x", type), dims);
            xir_output(xir_at_end(net), XIR_VALUES(z));
            DOES(xir_network_status(net));
            check_net(net, "extremes and quanta");
        }
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements),
        cmocka_unit_test(kernels),
        cmocka_unit_test(extremes_and_quanta),
    };
    return RUN_GROUP(tests);
}
