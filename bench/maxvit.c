/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* MaxViT-T (Tu et al., 2022) for images of 224 x 224, as torchvision's maxvit_t: a stem, then four stages whose layers
 * are an inverted residual with squeeze and excitation, attention within windows of 7 x 7, and attention over a grid of
 * 7 x 7. Heads have 32 channels; each pair of places in a window has a bias by its distance. 30.9e6 parameters.
 *
 * Attention is made of single ops, as exporters write it: so a proof has something to fuse and to fold. Weights are
 * uniform and have the variance 1 / fan-in, so that numbers neither grow nor vanish. */
#include "exec.h"

enum { WINDOW = 7, PLACES = WINDOW * WINDOW, DISTANCES = (2 * WINDOW - 1) * (2 * WINDOW - 1), HEAD = 32 };

/* ---- weights ----------------------------------------------------------------------------------------------------- */

typedef struct uniform {
    uint64_t seed;
    double   middle, half;
} uniform;

/* Number i is that of SplitMix64 at position i from the seed. */
static void fill(void *user, size_t i, void *out)
{
    const uniform *u = user;
    uint64_t x = (u->seed << 32 | i) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    *(float *)out = (float)(u->middle + u->half * ((double)(x >> 11) / (double)(UINT64_C(1) << 52) - 1));
}

static xir_value *uniform_params(exec_net *r, const xir_type *type, double middle, double half)
{
    uniform u = { ++r->params, middle, half };
    xir_value *p = xir_params_new(r->net, XIR_STR(""), type);
    if (p)
        (void)xir_params_fill(p, sizeof(float), fill, &u);
    return p;
}

/* The variance of numbers from -h to h is h * h / 3. */
static xir_value *weights(exec_net *r, const xir_type *type, int64_t fan_in)
{
    double h = 1;
    while (h * h * (double)fan_in > 3)
        h *= 0.99;
    return uniform_params(r, type, 0, h);
}

static xir_value *factors(exec_net *r, int64_t n)
{
    return uniform_params(r, XIR_TENSOR(r->ctx, r->f32, "*", n), 1, 0.25);
}

static xir_value *addends(exec_net *r, int64_t n)
{
    return uniform_params(r, XIR_TENSOR(r->ctx, r->f32, "*", n), 0, 0.1);
}

/* ---- ops --------------------------------------------------------------------------------------------------------- */

static int64_t dim_of(const xir_value *v, int64_t k)
{
    return v ? xir_type_dim(xir_value_type(v), k, false) : 1;
}

/* A convolution of k x k, over all channels or each channel by itself. */
static xir_value *conv(exec_net *r, xir_value *x, int64_t k, int64_t stride, int64_t of, bool each, bool bias)
{
    const int64_t in = each ? 1 : dim_of(x, 3);
    xir_value *w = weights(r, XIR_TENSOR(r->ctx, r->f32, "HWIO", k, k, in, of), k * k * in);
    x = XIR_CONV2D(xir_at_end(r->net), .input = x, .weights = w, .bias = bias ? addends(r, of) : NULL,
                   .stride = stride, .pad = k / 2, .groups = each ? of : 1);
    r->products += (uint64_t)(k * k * in * of * dim_of(x, 1) * dim_of(x, 2));
    return x;
}

static xir_value *norm(exec_net *r, xir_value *x)
{
    xir_value *f = factors(r, dim_of(x, 3)), *a = addends(r, dim_of(x, 3));
    return XIR_OP(xir_at_end(r->net), batch_norm2d, .input = x,
                  .attrs = XIR_ATTRS(batch_norm2d, (variance, f), (mean, a)));
}

static xir_value *layer_norm(exec_net *r, xir_value *x, int64_t axis)
{
    xir_value *f = factors(r, dim_of(x, axis)), *a = addends(r, dim_of(x, axis));
    return XIR_OP(xir_at_end(r->net), layer_norm, .input = x,
                  .attrs = XIR_ATTRS(layer_norm, (axis, XIR_I64S(axis)), (gamma, f), (beta, a)));
}

static xir_value *gelu(exec_net *r, xir_value *x)
{
    return XIR_OP(xir_at_end(r->net), gelu, .input = x);
}

static xir_value *add(exec_net *r, xir_value *a, xir_value *b)
{
    return XIR_OP(xir_at_end(r->net), add, .lhs = a, .rhs = b);
}

static xir_value *dense(exec_net *r, xir_value *x, int64_t from, int64_t to, bool bias)
{
    const xir_type *type = x ? xir_value_type(x) : r->f32;
    uint64_t rows = 1;
    for (int64_t k = 0; k + 1 < (int64_t)xir_type_rank(type); k++)
        rows *= (uint64_t)dim_of(x, k);
    r->products += rows * (uint64_t)(from * to);
    xir_value *w = weights(r, XIR_TENSOR(r->ctx, r->f32, "**", from, to), from);
    return XIR_OP(xir_at_end(r->net), matmul, .x = x, .k = w, .b = bias ? addends(r, to) : NULL);
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

/* Scales each channel by what the means of all channels say. */
static xir_value *squeeze(exec_net *r, xir_value *x, int64_t to)
{
    xir_at at = xir_at_end(r->net);
    const int64_t n = dim_of(x, 3);
    xir_value *s = XIR_OP(at, mean, .input = x, .attrs = XIR_ATTRS(mean, (dim, XIR_I64S(1, 2)), (keepdim, true)));
    s = XIR_OP(at, silu, .input = conv(r, s, 1, 1, to, false, true));
    s = XIR_OP(at, sigmoid, .input = conv(r, s, 1, 1, n, false, true));
    return XIR_OP(at, multiply, .lhs = x, .rhs = s);
}

static xir_value *inverted(exec_net *r, xir_value *x, int64_t width, int64_t stride)
{
    xir_value *way = x;
    if (stride > 1)
        way = XIR_AVG_POOL2D(xir_at_end(r->net), .input = way, .k = 3, .stride = stride, .pad = 1);
    if (stride > 1 || dim_of(x, 3) != width)
        way = conv(r, way, 1, 1, width, false, true);
    x = norm(r, x);
    x = gelu(r, norm(r, conv(r, x, 1, 1, 4 * width, false, false)));
    x = gelu(r, norm(r, conv(r, x, 3, stride, 4 * width, true, false)));
    x = conv(r, squeeze(r, x, width / 4), 1, 1, width, false, true);
    return add(r, way, x);
}

/* For each pair of places the number of their distance. */
static xir_value *distances(exec_net *r)
{
    static int64_t of[PLACES * PLACES];
    for (int i = 0; i < PLACES; i++)
        for (int k = 0; k < PLACES; k++)
            of[i * PLACES + k] = (i / WINDOW - k / WINDOW + WINDOW - 1) * (2 * WINDOW - 1) + i % WINDOW - k % WINDOW +
                                 WINDOW - 1;
    if (!r->shared)
        r->shared = xir_params_copy(r->net, XIR_STR("distances"),
                                          XIR_TENSOR(r->ctx, xir_type_sint(r->ctx, 64), "*", PLACES * PLACES), of,
                                          sizeof of);
    return r->shared;
}

/* [distances, heads] -> [heads, places, places] */
static xir_value *relative_bias(exec_net *r, int64_t heads)
{
    xir_at at = xir_at_end(r->net);
    xir_value *table = uniform_params(r, XIR_TENSOR(r->ctx, r->f32, "**", DISTANCES, heads), 0, 0.1);
    xir_value *b = XIR_OP(at, gather, .data = table, .indices = distances(r));
    b = XIR_RESHAPE(at, b, "***", PLACES, PLACES, heads);
    return XIR_TRANSPOSE(at, b, 2, 0, 1);
}

/* One of the three parts: [windows, places, channels] -> [windows, heads, places, 32], or with the last two swapped. */
static xir_value *heads_of(exec_net *r, xir_value *x, int64_t heads, bool swapped)
{
    xir_at at = xir_at_end(r->net);
    x = XIR_RESHAPE(at, x, "****", dim_of(x, 0), PLACES, heads, HEAD);
    return swapped ? XIR_TRANSPOSE(at, x, 0, 2, 3, 1) : XIR_TRANSPOSE(at, x, 0, 2, 1, 3);
}

static xir_value *attend(exec_net *r, xir_value *x)
{
    xir_at at = xir_at_end(r->net);
    const int64_t n = dim_of(x, 2), heads = n / HEAD, windows = dim_of(x, 0);
    xir_value *all = dense(r, x, n, 3 * n, true);
    xir_value *q = XIR_OP(at, split, .input = all, .attrs = XIR_ATTRS(split, (sections, XIR_I64S(n, n, n))));
    xir_op *parts = q ? xir_value_op(q) : NULL;
    if (!parts)
        return NULL;
    q = heads_of(r, q, heads, false);
    xir_value *k = heads_of(r, xir_op_output(parts, 1), heads, true),
              *v = heads_of(r, xir_op_output(parts, 2), heads, false);
    k = XIR_OP(at, multiply, .lhs = k,
               .rhs = uniform_params(r, XIR_TENSOR(r->ctx, r->f32, "*", 1), 0.17677669, 0));
    xir_value *s = XIR_OP(at, matmul, .x = q, .k = k);
    s = XIR_OP(at, softmax, .input = add(r, s, relative_bias(r, heads)));
    s = XIR_OP(at, matmul, .x = s, .k = v);
    r->products += 2 * (uint64_t)(windows * heads * PLACES * PLACES * HEAD);
    s = XIR_TRANSPOSE(at, s, 0, 2, 1, 3);
    return dense(r, XIR_RESHAPE(at, s, "***", windows, PLACES, n), n, n, true);
}

/* Attention and two dense layers over windows of neighbours, or over a grid of cells that lie far apart. */
static xir_value *partitioned(exec_net *r, xir_value *x, bool grid)
{
    xir_at at = xir_at_end(r->net);
    const int64_t h = dim_of(x, 1), w = dim_of(x, 2), n = dim_of(x, 3), i = h / WINDOW, k = w / WINDOW;
    x = grid ? XIR_RESHAPE(at, x, "******", 1, WINDOW, i, WINDOW, k, n)
             : XIR_RESHAPE(at, x, "******", 1, i, WINDOW, k, WINDOW, n);
    x = grid ? XIR_TRANSPOSE(at, x, 0, 2, 4, 1, 3, 5) : XIR_TRANSPOSE(at, x, 0, 1, 3, 2, 4, 5);
    x = XIR_RESHAPE(at, x, "***", i * k, PLACES, n);
    x = add(r, x, attend(r, layer_norm(r, x, 2)));
    xir_value *y = gelu(r, dense(r, layer_norm(r, x, 2), n, 4 * n, true));
    x = add(r, x, dense(r, y, 4 * n, n, true));
    x = XIR_RESHAPE(at, x, "******", 1, i, k, WINDOW, WINDOW, n);
    x = grid ? XIR_TRANSPOSE(at, x, 0, 3, 1, 4, 2, 5) : XIR_TRANSPOSE(at, x, 0, 1, 3, 2, 4, 5);
    return XIR_RESHAPE(at, x, "NHWC", 1, h, w, n);
}

void *maxvit_setup(const bench_input *in)
{
    static const struct { int64_t width; int layers; } stages[] = { { 64, 2 }, { 128, 2 }, { 256, 5 }, { 512, 2 } };
    (void)in;
    exec_net *r = exec_begin(224, "maxvit_t");
    if (!r)
        return NULL;
    xir_at at = xir_at_end(r->net);
    xir_value *x = xir_input(at, "image", xir_array_type(r->image));
    x = gelu(r, norm(r, conv(r, x, 3, 2, 64, false, false)));
    x = conv(r, x, 3, 1, 64, false, true);
    for (size_t s = 0; s < sizeof stages / sizeof stages[0]; s++)
        for (int l = 0; l < stages[s].layers; l++) {
            x = inverted(r, x, stages[s].width, l ? 1 : 2);
            x = partitioned(r, x, false);
            x = partitioned(r, x, true);
        }
    x = XIR_OP(at, mean, .input = x, .attrs = XIR_ATTRS(mean, (dim, XIR_I64S(1, 2))));
    x = XIR_OP(at, tanh, .input = dense(r, layer_norm(r, x, 1), 512, 512, true));
    xir_output(at, XIR_VALUES(dense(r, x, 512, 1000, false)));
    return exec_end(r);
}
