/* The reference executor on ResNet-50: an image of 224 x 224 through all its layers, computed by definition in
 * double. It does not need to be fast, only fast enough to prove passes on real networks. */
#include "bench.h"

#include <xir/exec.h>
#include <xir/xir.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct resnet {
    xir_context *ctx;
    xir_network *net;
    xir_array   *image;
    xir_diags   *why;
    uint64_t     products;
} resnet;

static float weight(size_t i)
{
    return (float)((int)(i * 2654435761u >> 24) - 128) / 4096;
}

static xir_value *params(resnet *r, const xir_type *type)
{
    xir_value *p = xir_params_new(r->net, XIR_STR(""), type);
    if (p)
        (void)xir_params_fill_f32(p, weight);
    return p;
}

/* A convolution with a bias and `of` filters. */
static xir_value *conv(resnet *r, xir_value *x, int64_t size, int64_t stride, int64_t of)
{
    const xir_type *f32 = xir_type_float(r->ctx, XIR_FLOAT_FP32);
    int64_t in = xir_type_dim(xir_value_type(x), 3, false);
    xir_value *w = params(r, XIR_TENSOR(r->ctx, f32, "HWIO", size, size, in, of));
    x = XIR_CONV2D(xir_at_end(r->net), .input = x, .weights = w, .bias = params(r, XIR_TENSOR(r->ctx, f32, "O", of)),
                   .stride = stride, .pad = size / 2);
    if (x) {
        const xir_type *y = xir_value_type(x);
        r->products += (uint64_t)(size * size * in * of * xir_type_dim(y, 1, false) * xir_type_dim(y, 2, false));
    }
    return x;
}

static xir_value *relu(resnet *r, xir_value *x)
{
    return XIR_RELU(xir_at_end(r->net), x);
}

static xir_value *bottleneck(resnet *r, xir_value *x, int64_t width, int64_t stride, bool first)
{
    xir_value *way = first ? conv(r, x, 1, stride, 4 * width) : x;
    x = relu(r, conv(r, x, 1, 1, width));
    x = relu(r, conv(r, x, 3, stride, width));
    x = conv(r, x, 1, 1, 4 * width);
    return relu(r, XIR_OP(xir_at_end(r->net), add, .lhs = x, .rhs = way));
}

static void *setup(const bench_input *in)
{
    static const struct {
        int64_t width, stride;
        int     blocks;
    } stages[] = { { 64, 1, 3 }, { 128, 2, 4 }, { 256, 2, 6 }, { 512, 2, 3 } };
    (void)in;
    resnet *r = calloc(1, sizeof *r);
    if (!r || !(r->ctx = xir_context_new(NULL)) || !(r->why = xir_diags_new(r->ctx)))
        return NULL;
    const xir_type *f32 = xir_type_float(r->ctx, XIR_FLOAT_FP32),
                    *image = XIR_TENSOR(r->ctx, f32, "NHWC", 1, 224, 224, 3);
    r->net = xir_network_new(r->ctx, "resnet50", XIR_FRAMEWORK_PYTORCH, "1.9");
    r->image = xir_array_random(r->ctx, image, 1, r->why);
    xir_at at = xir_at_end(r->net);
    xir_value *x = relu(r, conv(r, xir_input(at, "image", image), 7, 2, 64));
    x = XIR_MAX_POOL2D(at, .input = x, .k = 3, .stride = 2, .pad = 1);
    for (size_t s = 0; s < sizeof stages / sizeof stages[0]; s++) {
        for (int b = 0; b < stages[s].blocks; b++)
            x = bottleneck(r, x, stages[s].width, b ? 1 : stages[s].stride, b == 0);
    }
    x = XIR_OP(at, mean, .input = x, .attrs = XIR_ATTRS(mean, (dim, XIR_I64S(1, 2))));
    xir_value *k = params(r, XIR_TENSOR(r->ctx, f32, "**", 2048, 1000));
    x = XIR_OP(at, matmul, .x = x, .k = k);
    r->products += 2048 * 1000;
    xir_output(at, XIR_VALUES(x));
    if (xir_network_status(r->net) == XIR_OK && r->image)
        return r;
    xir_diags_print(xir_network_diags(r->net), stderr);
    return NULL;
}

static bool run(void *state, bench_result *out)
{
    resnet *r = state;
    const xir_array *in[] = { r->image };
    xir_array *logits;
    if (xir_network_run(r->net, in, 1, &logits, 1, NULL, r->why) != XIR_OK) {
        xir_diags_print(r->why, stderr);
        return false;
    }
    out->count = r->products;
    return xir_array_count(logits) == 1000;
}

const bench_case exec_cases[] = {
    { "exec-resnet", NULL, BENCH_BY_BYTE, setup, run, NULL,
      "an image through ResNet-50; ns_per_op is of the image, count the products: 2 * count / ns_per_op is GFLOP/s" },
    { 0 },
};
