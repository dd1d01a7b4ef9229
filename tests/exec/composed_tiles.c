/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Composed ops are computed in tiles if their parts can be, with the attributes that the class passes on to them, and
 * whole otherwise. The tiles compute the same bits in either case. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xir/exec.h>
#include <xir/tiles.h>
#include "support/story.h"

#define XIR_DEFS "support/twins.def"
#include <xir/declare.h>

#define PAD "pad_top=1 pad_bottom=1 pad_left=1 pad_right=1"

/* A network, whose region is all of it between Input and Output; the axes; a budget; if that is too small because an
 * op is computed whole, one that is large enough for it. */
static const struct { const char *net, *letters; uint64_t budget, whole; } stories[] = {
    { "x: NHWC 1 12 12 4; w: params 3 3 4 4; b: params 4; c = twin::Conv x w b - [" PAD "]; y = twin::Conv c w b x [" PAD
      " leak=0.5]; out y", "HW", 2000, 0 },
    { "x: NHWC 1 12 12 4; w: params 3 3 4 4; c = twin::Conv x w - - [" PAD " stride_height=2]; s = twin::SiLU c; y = "
      "twin::GELU s; out y", "H", 2000, 0 },
    { "x: NHWC 1 9 8 4; w: params 3 3 4 4; y = twin::Block x w; out y", "HW", 900, 0 },
    { "x: NHWC 1 12 12 4; y = twin::LayerNorm x [axis=3]; out y", "HW", 400, 0 },
    { "x: NHWC 1 10 10 4; y = twin::Fixed x [pad_top=1 pad_left=1]; out y", "HW", 1000, 0 },
    { "x: NHWC 1 12 12 4; y = twin::Half x [pad_top=1 pad_left=1 inner=fp16:NHWC,-1,-1,-1,4 outer=fp32:NHWC,1,-1,-1,4]; "
      "out y", "HW", 2000, 0 },
    /* the type inside is that of the whole map */
    { "x: NHWC 1 12 12 4; y = twin::Half x [inner=fp16:NHWC,1,12,12,4 outer=fp32:NHWC,1,-1,-1,4]; out y", "HW", 2000,
      5000 },
    /* the middle would be that of a larger part */
    { "x: NHWC 1 12 12 4; y = twin::Edges x [" PAD "]; out y", "HW", 2000, 5000 },
    /* the padding of four sides is one attribute */
    { "x: NHWC 1 12 12 4; y = twin::Even x [pad=1]; out y", "HW", 2000, 5000 },
    /* dims are those of the whole */
    { "x: NHWC 1 8 8 8; y = twin::PixelShuffle x [upscale_factor=2]; out y", "HW", 2000, 5000 },
};

static size_t region_of(const xir_network *net, xir_op **ops, size_t room) {
    size_t n = 0;
    XIR_EACH_OP(op, net) {
        if (op == xir_network_input_op(net) || op == xir_network_output_op(net)) continue;
        assert_true(n < room);
        ops[n++] = op;
    }
    return n;
}

static xir_array *run(const xir_network *net) {
    xir_value *x;
    xir_array *out = NULL;
    assert_int_equal(xir_network_inputs(net, &x, 1), 1);
    xir_array *in = xir_array_random(ctx, xir_value_type(x), 7, why);
    const xir_array *given = in;
    DOES(xir_network_run(net, &given, 1, &out, 1, NULL, why));
    xir_array_free(in);
    return out;
}

static void check_same_bits(const xir_network *net, const xir_network *other, const char *story) {
    xir_array *a = run(net), *b = run(other);
    size_t n, m;
    const void *x = xir_array_data(a, &n), *y = xir_array_data(b, &m);
    if (n != m || memcmp(x, y, n) != 0) fail_msg("%s: other bits", story);
    xir_array_free(a);
    xir_array_free(b);
}

static void composed_ops_are_computed_in_tiles(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(stories); i++) {
        xir_network *net = story_net(stories[i].net);
        xir_op *ops[8];
        const size_t n = region_of(net, ops, COUNT(ops));
        xir_tiles_options how = XIR_INIT(xir_tiles_options, .budget = stories[i].budget, .letters = stories[i].letters);
        xir_diags_clear(why);
        xir_tiles *tiles = xir_region_tiles(net, ops, n, &how, why);
        if (!tiles == !stories[i].whole) {
            xir_diags_print(why, stderr);
            fail_msg("%s: %zu tiles within %" PRIu64, stories[i].net, xir_tiles_count(tiles), how.budget);
        }
        if (!tiles) {
            how.budget = stories[i].whole;
            tiles = xir_region_tiles(net, ops, n, &how, why);
        }
        assert_non_null(tiles);
        assert_true(stories[i].whole || xir_tiles_count(tiles) > 1);
        xir_network *all = xir_tiles_network(tiles, why);
        if (!all) xir_diags_print(why, stderr);
        assert_non_null(all);
        DOES(xir_network_validate(all, why));
        check_same_bits(net, all, stories[i].net);
        xir_network_free(all);
        xir_tiles_free(tiles);
        xir_network_free(net);
    }
}

static int begin_group(void **state) {
    static const xir_class_decl *(*const twins[])(void) = {
        xir_twin_conv_class, xir_twin_silu_class, xir_twin_gelu_class, xir_twin_layer_norm_class,
        xir_twin_pixel_shuffle_class, xir_twin_block_class, xir_twin_edges_class, xir_twin_even_class,
        xir_twin_fixed_class, xir_twin_half_class,
    };
    int bad = group_begin(state);
    for (size_t i = 0; i < COUNT(twins) && !bad; i++) bad = xir_class_register(ctx, twins[i](), why) != XIR_OK;
    return bad;
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(composed_ops_are_computed_in_tiles) };
    return cmocka_run_group_tests(tests, begin_group, group_end);
}
