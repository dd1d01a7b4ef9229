/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Windows of convolutions and pools on the way back: one bound of their numbers for all dialects, and one reason. */
#include <stdio.h>
#include <string.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "support/story.h"
#include "support/ways.h"

static bool has_foreign_op(const xir_network *net) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        if (xir_class_is_opaque(xir_op_class(op))) return true;
    return false;
}

/* The op stays, with this reason. */
static void check_stays(const char *pass, const char *text, const char *reason) {
    xir_network *net = story_net(text);
    xir_diags_clear(why);
    assert_int_equal(xir_pass_run(net, pass, "", NULL, why), XIR_OK);
    const xir_diag *d = xir_diags_at(why, 0);
    const int size = d ? (int)d->message.size : 0;
    if (has_foreign_op(net) || !d || !memmem(d->message.data, d->message.size, reason, strlen(reason)))
        fail_msg("%s, %s: expected '%s', found '%.*s'", pass, text, reason, size, size ? d->message.data : "");
    xir_network_free(net);
}

static void very_large_windows_stay(void **state) {
    (void)state;
    static const struct { const char *op, *attributes, *large; } cases[] = {
        { "MaxPool2d", "pool_height=2 pool_width=2 stride_height=4611686018427387904",           "stride_height" },
        { "MaxPool2d", "pool_height=2 pool_width=2 stride_width=2147483648",                     "stride_width" },
        { "AvgPool2d", "pool_height=2 pool_width=2 stride_height=2147483648",                    "stride_height" },
        { "AvgPool2d", "pool_height=2 pool_width=2 stride_height=2147483648 divisor_override=3", "stride_height" },
        { "MaxPool2d", "pool_height=2147483650 pool_width=2 pad_top=2147483648",                 "pool_height" },
        { "Conv2d",    "stride_height=2147483648",                                               "stride_height" },
        { "Conv2d",    "dilation_width=2147483648",                                              "dilation_width" },
        { "Conv2d",    "dilation_height=4294967297",                                             "dilation_height" },
        { "Conv2d",    "stride_height=2147483647 pad_top=2147483648",                            "pad_top" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[200], reason[60];
        const bool conv = strncmp(cases[i].op, "Conv", 4) == 0;
        snprintf(text, sizeof text, "x: NHWC 1 4 4 2; w: params HWIO 1 1 2 3; y = %s x%s [%s]; out y", cases[i].op,
                 conv ? " w" : "", cases[i].attributes);
        snprintf(reason, sizeof reason, "%s does not fit into 32 bits", cases[i].large);
        for (size_t k = 0; k < WAYS; k++) check_stays(ways_back[k], text, reason);
    }
}

static void very_large_maps_stay(void **state) {
    (void)state;
    for (size_t k = 0; k < 3; k++)   /* the others have reasons of their own */
        check_stays(ways_back[k], "x: NHWC 1 2147483648 4 2; y = MaxPool2d x [pool_height=2 pool_width=2]; out y",
                    "a dim that does not fit into 32 bits");
}

/* No conversion multiplies the dims of a kernel before it has compared them with 32 bits. The op is not valid. */
static void very_large_kernels_stay(void **state) {
    (void)state;
    static const char text[] =
        "xir 1\n"
        "%x, %w = Input() : fp32 NHWC [1,4,4,2], fp32 HWIO [4611686018427387903,4294967296,2,3]\n"
        "%y = Conv2d(%x, %w) {dilation_width=2147483647, dilation_height=2147483647} : fp32 NHWC [1,4,4,3]\n"
        "Output(%y)\n";
    for (size_t k = 0; k < WAYS; k++) {
        xir_network *net = xir_network_read(ctx, text, sizeof text - 1, XIR_STR("k.xir"),
                                            &XIR_INIT(xir_load_options, .format = "text"), why);
        assert_non_null(net);
        xir_diags_clear(why);
        (void)xir_pass_run(net, ways_back[k], "", NULL, why);
        if (has_foreign_op(net) || !xir_diags_count(why)) fail_msg("%s: expected a reason, and the op", ways_back[k]);
        xir_network_free(net);
    }
}

static xir_network *way_back(const char *pass, const char *text) {
    xir_network *net = story_net(text);
    assert_int_equal(xir_pass_run(net, pass, "", NULL, why), XIR_OK);
    return net;
}

/* `canon` leaves out padding that no window reads. Dialects get the same numbers for both sides all the same. */
static void padding_that_no_window_reads_is_even(void **state) {
    (void)state;
    static const struct { const char *op, *one_side, *both; } cases[] = {
        { "Conv2d",    "stride_height=2 stride_width=2 pad_top=1 pad_left=1", "pad_bottom=1 pad_right=1" },
        { "Conv2d",    "stride_height=2 stride_width=2 pad_top=1 pad_left=1", "pad_bottom=1" },
        { "MaxPool2d", "pool_height=3 pool_width=3 stride_height=2 stride_width=2 pad_top=1 pad_left=1",
          "pad_bottom=1 pad_right=1" },
        { "AvgPool2d", "pool_height=3 pool_width=3 stride_height=2 stride_width=2 pad_top=1 pad_left=1",
          "pad_bottom=1 pad_right=1" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char one[300], both[300];
        const char *inputs = strcmp(cases[i].op, "Conv2d") == 0 ? "x w" : "x";
        const char *head = "x: NHWC 1 8 6 2; w: params HWIO 3 3 2 3; y =";
        snprintf(one, sizeof one, "%s %s %s [%s]; out y", head, cases[i].op, inputs, cases[i].one_side);
        snprintf(both, sizeof both, "%s %s %s [%s %s]; out y", head, cases[i].op, inputs, cases[i].one_side,
                 cases[i].both);
        for (size_t k = 0; k < WAYS; k++) {
            xir_network *a = way_back(ways_back[k], one), *b = way_back(ways_back[k], both);
            if (!has_foreign_op(a)) fail_msg("%s: %s stays", ways_back[k], one);
            if (!xir_network_equal(a, b, true)) fail_msg("%s: %s and %s differ", ways_back[k], one, both);
            xir_network_free(a);
            xir_network_free(b);
        }
    }
}

/* Writes the classes of the foreign ops without the dialect, "Conv GlobalAveragePool". */
static void foreign_ops(const xir_network *net, char *out, size_t room) {
    size_t n = 0;
    *out = '\0';
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        if (!xir_class_is_opaque(xir_op_class(op))) continue;
        const xir_str key = xir_class_key(xir_op_class(op));
        const char *name = memmem(key.data, key.size, "::", 2);
        n += (size_t)snprintf(out + n, n < room ? room - n : 0, "%s%.*s", n ? " " : "",
                              (int)(key.data + key.size - name) - 2, name + 2);
    }
}

/* The mean of all cells of each channel is a pool of the whole map, which more runtimes have, where the format has the
 * map as it is: in the order with channels second. Other means are reductions. */
static void means_of_whole_maps_are_pools(void **state) {
    (void)state;
    static const struct { const char *text, *ops[4]; } cases[] = {   /* onnx, pnnx, nnb, tsm */
        { "x: NCHW 1 2 3 4; y = Mean x [dim=2,3 keepdim=true]; out y",
          { "GlobalAveragePool", "nn.AdaptiveAvgPool2d", "AveragePooling", "global_pooling2d" } },
        { "x: NCHW 1 2 3 4; t = Transpose x [dims=0,2,3,1 layout=@layout(NHWC)]; y = Mean t [dim=-2,1 keepdim=true];"
          "u = Transpose y [dims=0,3,1,2 layout=@layout(NCHW)]; out u",
          { "GlobalAveragePool", "nn.AdaptiveAvgPool2d", "AveragePooling", "global_pooling2d" } },
        { "x: NCDHW 1 2 3 4 5; y = Mean x [dim=2,3,4 keepdim=true]; out y",
          { "GlobalAveragePool", "nn.AdaptiveAvgPool3d", "AveragePooling", "reduce_mean reduce_mean reduce_mean _copy" } },
        { "x: NCHW -1 2 3 4; y = Mean x [dim=2,3 keepdim=true]; out y",
          { "GlobalAveragePool", "nn.AdaptiveAvgPool2d" } },
        { "x: bf16 NCHW 1 2 3 4; y = Mean x [dim=2,3 keepdim=true]; out y", { "Cast ReduceMean Cast" } },
        { "x: NCHW 1 2 0 4; y = Mean x [dim=2,3 keepdim=true]; out y", { "ReduceMean", "torch.mean" } },
        { "x: NHWC 1 3 4 2; y = Mean x [dim=1,2 keepdim=true]; out y",
          { "ReduceMean", "torch.mean", "Sum MulScalar", "reduce_mean reduce_mean _copy" } },
        { "x: NCHW 1 2 3 4; y = Mean x [dim=2,3]; out y",
          { "ReduceMean", "torch.mean", "Sum MulScalar", "reduce_mean reduce_mean squeeze" } },
        { "x: NCHW 1 2 3 4; y = Mean x [dim=1,3 keepdim=true]; out y",
          { "ReduceMean", "torch.mean", "Sum MulScalar", "reduce_mean reduce_mean _copy" } },
        { "x: **** 1 2 3 4; y = Mean x [dim=2,3 keepdim=true]; out y",
          { "ReduceMean", "torch.mean", "Sum MulScalar", "reduce_mean reduce_mean _copy" } },
    };
    static const char *const passes[] = { "xir-to-onnx", "xir-to-pnnx", "xir-to-nnb", "xir-to-tsm" };
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t k = 0; k < COUNT(passes); k++) {
            char found[200];
            if (!cases[i].ops[k]) continue;
            xir_network *net = way_back(passes[k], cases[i].text);
            foreign_ops(net, found, sizeof found);
            if (strcmp(found, cases[i].ops[k]) != 0)
                fail_msg("%s, %s: expected %s, found %s", passes[k], cases[i].text, cases[i].ops[k], found);
            xir_network_free(net);
        }
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(very_large_windows_stay),
        cmocka_unit_test(very_large_maps_stay),
        cmocka_unit_test(very_large_kernels_stay),
        cmocka_unit_test(padding_that_no_window_reads_is_even),
        cmocka_unit_test(means_of_whole_maps_are_pools),
    };
    return RUN_GROUP(tests);
}
