/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The reference executor: an image of 224 x 224 through all layers of ResNet-50, VGG-19 and MaxViT-T, in double, and
 * products of matrices. It is to be fast enough to prove passes on real networks. */
#include "exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

exec_net *exec_begin(int64_t size, const char *name)
{
    exec_net *r = calloc(1, sizeof *r);
    if (!r || !(r->ctx = xir_context_new(NULL)) || !(r->why = xir_diags_new(r->ctx)))
        return NULL;
    r->f32 = xir_type_float(r->ctx, XIR_FLOAT_FP32);
    const xir_type *image = XIR_TENSOR(r->ctx, r->f32, "NHWC", 1, size, size, 3);
    r->net = xir_network_new(r->ctx, name, XIR_FRAMEWORK_PYTORCH, "1.9");
    r->image = xir_array_random(r->ctx, image, 1, r->why);
    return r;
}

exec_net *exec_end(exec_net *r)
{
    if (xir_network_status(r->net) == XIR_OK && r->image)
        return r;
    xir_diags_print(xir_network_diags(r->net), stderr);
    return NULL;
}

static float weight(size_t i)
{
    return (float)((int)(i * 2654435761u >> 24) - 128) / 4096;
}

xir_value *exec_params(exec_net *r, const xir_type *type)
{
    xir_value *p = xir_params_new(r->net, XIR_STR(""), type);
    if (p)
        (void)xir_params_fill_f32(p, weight);
    return p;
}

xir_value *exec_conv(exec_net *r, xir_value *x, int64_t size, int64_t stride, int64_t of)
{
    int64_t in = xir_type_dim(xir_value_type(x), 3, false);
    xir_value *w = exec_params(r, XIR_TENSOR(r->ctx, r->f32, "HWIO", size, size, in, of));
    xir_value *b = exec_params(r, XIR_TENSOR(r->ctx, r->f32, "O", of));
    x = XIR_CONV2D(xir_at_end(r->net), .input = x, .weights = w, .bias = b, .stride = stride, .pad = size / 2);
    if (x) {
        const xir_type *y = xir_value_type(x);
        r->products += (uint64_t)(size * size * in * of * xir_type_dim(y, 1, false) * xir_type_dim(y, 2, false));
    }
    return x;
}

static xir_value *relu(exec_net *r, xir_value *x)
{
    return XIR_RELU(xir_at_end(r->net), x);
}

static xir_value *bottleneck(exec_net *r, xir_value *x, int64_t width, int64_t stride, bool first)
{
    xir_value *way = first ? exec_conv(r, x, 1, stride, 4 * width) : x;
    x = relu(r, exec_conv(r, x, 1, 1, width));
    x = relu(r, exec_conv(r, x, 3, stride, width));
    x = exec_conv(r, x, 1, 1, 4 * width);
    return relu(r, XIR_OP(xir_at_end(r->net), add, .lhs = x, .rhs = way));
}

static void *setup_resnet(const bench_input *in)
{
    static const struct {
        int64_t width, stride;
        int     blocks;
    } stages[] = { { 64, 1, 3 }, { 128, 2, 4 }, { 256, 2, 6 }, { 512, 2, 3 } };
    (void)in;
    exec_net *r = exec_begin(224, "resnet50");
    if (!r)
        return NULL;
    xir_at at = xir_at_end(r->net);
    xir_value *x = relu(r, exec_conv(r, xir_input(at, "image", xir_array_type(r->image)), 7, 2, 64));
    x = XIR_MAX_POOL2D(at, .input = x, .k = 3, .stride = 2, .pad = 1);
    for (size_t s = 0; s < sizeof stages / sizeof stages[0]; s++) {
        for (int b = 0; b < stages[s].blocks; b++)
            x = bottleneck(r, x, stages[s].width, b ? 1 : stages[s].stride, b == 0);
    }
    x = XIR_OP(at, mean, .input = x, .attrs = XIR_ATTRS(mean, (dim, XIR_I64S(1, 2))));
    xir_value *k = exec_params(r, XIR_TENSOR(r->ctx, r->f32, "**", 2048, 1000));
    x = XIR_OP(at, matmul, .x = x, .k = k);
    r->products += 2048 * 1000;
    xir_output(at, XIR_VALUES(x));
    return exec_end(r);
}

/* ---- VGG-19 ---------------------------------------------------------------------------------------------------- */

static xir_value *dense(exec_net *r, xir_value *x, int64_t from, int64_t to)
{
    xir_at at = xir_at_end(r->net);
    x = XIR_OP(at, matmul, .x = x, .k = exec_params(r, XIR_TENSOR(r->ctx, r->f32, "**", from, to)),
               .b = exec_params(r, XIR_TENSOR(r->ctx, r->f32, "*", to)));
    r->products += (uint64_t)(from * to);
    return x;
}

static void *setup_vgg(const bench_input *in)
{
    static const struct { int64_t width; int convs; } stages[] = { { 64, 2 }, { 128, 2 }, { 256, 4 }, { 512, 4 },
                                                                   { 512, 4 } };
    (void)in;
    exec_net *r = exec_begin(224, "vgg19");
    if (!r)
        return NULL;
    xir_value *x = xir_input(xir_at_end(r->net), "image", xir_array_type(r->image));
    for (size_t s = 0; s < sizeof stages / sizeof stages[0]; s++) {
        for (int i = 0; i < stages[s].convs; i++)
            x = relu(r, exec_conv(r, x, 3, 1, stages[s].width));
        x = XIR_MAX_POOL2D(xir_at_end(r->net), .input = x, .k = 2, .stride = 2);
    }
    x = XIR_OP(xir_at_end(r->net), reshape, .input = x,
               .attrs = XIR_ATTRS(reshape, (shape, XIR_I64S(1, 25088)), (layout, xir_layout_default(r->ctx, 2))));
    x = relu(r, dense(r, x, 25088, 4096));
    x = relu(r, dense(r, x, 4096, 4096));
    xir_output(xir_at_end(r->net), XIR_VALUES(dense(r, x, 4096, 1000)));
    return exec_end(r);
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

static void *setup_product(const bench_input *in)
{
    (void)in;
    exec_net *r = exec_begin(1, "product");
    if (!r)
        return NULL;
    const xir_type *f64 = xir_type_float(r->ctx, XIR_FLOAT_FP64),
                   *square = XIR_TENSOR(r->ctx, f64, "**", PRODUCT_SIZE, PRODUCT_SIZE), *types[] = { square, square };
    xir_array_free(r->image);
    r->image = xir_array_random(r->ctx, square, 1, r->why);
    r->other = xir_array_random(r->ctx, square, 2, r->why);
    xir_op *inputs = xir_inputs(xir_at_end(r->net), "in", types, 2);
    xir_value *x = XIR_OP(xir_at_end(r->net), matmul, .x = xir_op_output(inputs, 0), .k = xir_op_output(inputs, 1));
    xir_output(xir_at_end(r->net), XIR_VALUES(x));
    return r->other ? exec_end(r) : NULL;
}

static bool run_product(void *state, bench_result *out)
{
    exec_net *r = state;
    const xir_array *in[] = { r->image, r->other };
    const xir_run_options options = XIR_INIT(xir_run_options, .threads = bench_threads);
    for (int i = 0; i < PRODUCTS; i++) {
        xir_array *y;
        if (xir_network_run(r->net, in, 2, &y, 1, &options, r->why) != XIR_OK) {
            xir_diags_print(r->why, stderr);
            return false;
        }
        xir_array_free(y);
    }
    out->count = (uint64_t)PRODUCTS * PRODUCT_SIZE * PRODUCT_SIZE * PRODUCT_SIZE;
    return true;
}

/* ---- running ------------------------------------------------------------------------------------------------- */

bool exec_run(void *state, bench_result *out)
{
    exec_net *r = state;
    const xir_array *in[] = { r->image };
    xir_array *logits;
    const xir_run_options options = XIR_INIT(xir_run_options, .threads = bench_threads);
    if (xir_network_run(r->net, in, 1, &logits, 1, &options, r->why) != XIR_OK) {
        xir_diags_print(r->why, stderr);
        return false;
    }
    out->count = r->products;
    return xir_array_count(logits) == 1000;
}

const bench_case exec_cases[] = {
    { "exec-resnet", NULL, BENCH_BY_BYTE, setup_resnet, exec_run, NULL,
      "an image through ResNet-50; ns_per_op is of the image, count the products: 2 * count / ns_per_op is GFLOP/s" },
    { "exec-vgg", NULL, BENCH_BY_BYTE, setup_vgg, exec_run, NULL, "the same through VGG-19" },
    { "exec-maxvit", NULL, BENCH_BY_BYTE, maxvit_setup, exec_run, NULL, "the same through MaxViT-T" },
    { "exec-branches", NULL, BENCH_BY_BYTE, branches_setup, exec_run, NULL,
      "the same through 256 branches of two short convolutions" },
    { "exec-lstms", NULL, BENCH_BY_BYTE, lstms_setup, exec_run, NULL,
      "100 steps through 4 LSTMs of one input, of 64 features and 128 hidden ones" },
    { "exec-product", NULL, BENCH_BY_BYTE, setup_product, run_product, NULL,
      "10 products of 512 x 512 matrices of doubles" },
    { 0 },
};

int exec_save(const char *name, const char *path)
{
    for (const bench_case *c = exec_cases; c->run; c++) {
        if (strcmp(c->bench, name) != 0)
            continue;
        exec_net *r = c->setup(NULL);
        if (r && xir_network_save(r->net, path, NULL, r->why) == XIR_OK)
            return 0;
        if (r)
            xir_diags_print(r->why, stderr);
        return 3;
    }
    fprintf(stderr, "xir-bench: --save: no bench of the executor is called '%s'; see --list\n", name);
    return 2;
}
