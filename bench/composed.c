/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Inference of composed classes next to that of the library's classes that mean the same. A network has OPS ops of one
 * class; no two have the same types. Before each round the library forgets its answers, so that each op is inferred in
 * each round. */
#include "bench.h"

#include <xir/xir.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XIR_DEFS "../tests/support/twins.def"
#include <xir/declare.h>
#define XIR_DEFS "../tests/support/twins.def"
#include <xir/define.h>

enum { OPS = 1000, CHANNELS = 64 };

typedef const xir_class_decl *decl_fn(void);

typedef struct composed {
    xir_context *ctx;
    xir_network *net;
    xir_diags   *why;
    size_t       rounds;
} composed;

static xir_value *per_channel(const composed *g)
{
    const xir_type *f32 = xir_type_float(g->ctx, XIR_FLOAT_FP32);
    return xir_params_new(g->net, XIR_STR(""), XIR_TENSOR(g->ctx, f32, "C", CHANNELS));
}

static bool has(const xir_class *cls, const char *name)
{
    return xir_class_field(cls, xir_str_of(name)) != NULL;
}

/* Adds one op, with attributes of the names that its class has. */
static bool add(const composed *g, const xir_class *cls, xir_value *x)
{
    static const int64_t last = -1;
    xir_named_attr named[8];
    size_t n = 0;
    if (has(cls, "axis"))
        named[n++] = (xir_named_attr){ XIR_STR("axis"), { .kind = XIR_KIND_I64S, .as.i64s = { &last, 1 } } };
    if (has(cls, "groups"))
        named[n++] = (xir_named_attr){ XIR_STR("groups"), { .kind = XIR_KIND_I64, .as.i64 = 8 } };
    if (has(cls, "upscale_factor"))
        named[n++] = (xir_named_attr){ XIR_STR("upscale_factor"), { .kind = XIR_KIND_I64, .as.i64 = 2 } };
    if (has(cls, "gamma"))
        named[n++] = (xir_named_attr){ XIR_STR("gamma"), { .kind = XIR_KIND_PARAMS, .as.params = per_channel(g) } };
    if (has(cls, "gamma") && has(cls, "beta"))
        named[n++] = (xir_named_attr){ XIR_STR("beta"), { .kind = XIR_KIND_PARAMS, .as.params = per_channel(g) } };
    return xir_network_add(g->net, &XIR_INIT(xir_op_desc, .cls = cls, .inputs = &x, .n_inputs = 1, .named = named,
                                             .n_named = n, .id = XIR_NO_ID));
}

static void *setup(const bench_input *in, decl_fn *of)
{
    static decl_fn *const twins[] = {
        xir_twin_hardswish_class, xir_twin_silu_class, xir_twin_gelu_class, xir_twin_mish_class,
        xir_twin_softplus_class, xir_twin_layer_norm_class, xir_twin_rms_norm_class, xir_twin_normalize_class,
        xir_twin_group_norm_class, xir_twin_channel_shuffle_class, xir_twin_pixel_shuffle_class, xir_twin_conv_class,
    };
    composed *g = calloc(1, sizeof *g);
    if (!g || !(g->ctx = xir_context_new(NULL)) || !(g->why = xir_diags_new(g->ctx)))
        return NULL;
    g->net = xir_network_new(g->ctx, "bench", XIR_FRAMEWORK_PYTORCH, "1.9");
    g->rounds = in->ops / OPS + 1;
    bool good = g->net;
    for (size_t i = 0; i < sizeof twins / sizeof twins[0] && good; i++)
        good = xir_class_register(g->ctx, twins[i](), g->why) == XIR_OK;
    const xir_type *f32 = xir_type_float(g->ctx, XIR_FLOAT_FP32);
    const xir_class *cls = good ? xir_class_find_decl(g->ctx, of()) : NULL;
    const xir_type *types[OPS];
    for (int64_t i = 0; i < OPS; i++)
        types[i] = XIR_TENSOR(g->ctx, f32, "NHWC", 1, 100 + i, 50 + i, CHANNELS);
    xir_op *input = cls ? xir_inputs(xir_at_end(g->net), "", types, OPS) : NULL;
    for (int64_t i = 0; i < OPS && input && good; i++)
        good = add(g, cls, xir_op_output(input, i));
    if (good && input)
        return g;
    xir_diags_print(g->net ? xir_network_diags(g->net) : g->why, stderr);
    return NULL;
}

static xir_status never(xir_infer *at)
{
    return xir_infer_result(at, NULL);
}

static bool run(void *state, bench_result *result)
{
    composed *g = state;
    for (size_t i = 0; i < g->rounds; i++) {
        /* A class that the network does not have: answers are forgotten all the same. */
        if (xir_infer_register(g->ctx, xir_twin_conv_class(), XIR_TARGET_BUYI, never) ||
            xir_network_infer(g->net, g->why)) {
            xir_diags_print(g->why, stderr);
            return false;
        }
        result->count += xir_network_op_count(g->net);
    }
    return true;
}

/* The rows of a class and its twin. */
#define PAIR(word, text)                                                                                         \
    static void *word##_setup(const bench_input *in)      { return setup(in, xir_##word##_class); }              \
    static void *twin_##word##_setup(const bench_input *in) { return setup(in, xir_twin_##word##_class); }
#define PAIRS(row)                                                                                               \
    row(hardswish, "HardSwish") row(silu, "SiLU") row(gelu, "GELU") row(mish, "Mish") row(softplus, "Softplus")    \
    row(layer_norm, "LayerNorm") row(rms_norm, "RMSNorm") row(normalize, "Normalize")                            \
    row(group_norm, "GroupNorm") row(channel_shuffle, "ChannelShuffle") row(pixel_shuffle, "PixelShuffle")
PAIRS(PAIR)

#define ROWS(word, text)                                                                                         \
    { "composed-" #word, NULL, 0, twin_##word##_setup, run, NULL, "xir_network_infer of composed twins of " text },   \
    { "composed-" #word, "class", 0, word##_setup, run, NULL, "the same of the library's class" },
const bench_case composed_cases[] = { PAIRS(ROWS) { 0 } };
