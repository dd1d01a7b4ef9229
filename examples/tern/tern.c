/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The Tern NPU, a second back end: a target with rules that a network may break, and one command for a convolution with
 * all that follows it. tern.def says which ops the command consists of: inference, checks, cost and kernel follow from
 * them, and the pass fuse-to finds them. ternc.c compiles for it in C, ternpp.cpp in C++. */
#include "tern.h"

#define XIR_DEFS "tern.def"
#include <xir/define.h>

/* ---- rules ------------------------------------------------------------------------------------------------------ */

static bool is_map(xir_infer *at) {
    const xir_type *t = xir_infer_output(at, 0), *fp32 = xir_type_float(xir_infer_context(at), XIR_FLOAT_FP32);
    return xir_type_rank(t) == 4 && xir_type_axis_dim(t, 'C', false) == xir_type_dim(t, -1, false) &&
           xir_type_equal(xir_type_element(t), fp32);
}
static bool is_known(xir_infer *at) { return !xir_type_has_unknown_dim(xir_infer_output(at, 0)); }
static bool is_batch1(xir_infer *at) { return xir_type_dim(xir_infer_output(at, 0), 0, false) == 1; }
static bool has_const_kernel(xir_infer *at) { return xir_infer_input_is_params(at, 1); }
static bool has_small_kernel(xir_infer *at) {
    const xir_type *w = xir_infer_input(at, 1);
    return w && xir_type_axis_dim(w, 'H', false) <= 11 && xir_type_axis_dim(w, 'W', false) <= 11;
}
static bool has_equal_sum(xir_infer *at) {
    const xir_type *residual = xir_infer_input(at, 3);
    return !residual || xir_type_equal(residual, xir_infer_output(at, 0));
}
static bool has_no_dilation(xir_infer *at) {
    const xir_conv2d_attrs *a = xir_infer_attrs(at);
    return a->dilation_width == 1 && a->dilation_height == 1 && a->padding_mode == XIR_PADDING_ZEROS;
}

#define RULE(of, condition, what, how) { .cls = of, .holds = condition, .needs = what, .mend = how }
static const xir_target_rule rules[] = {
    RULE(NULL,                is_map,           "maps of fp32, NHWC",            "run layout{to=nhwc}"),
    RULE(NULL,                is_known,         "known dims",                    "bind them"),
    RULE(NULL,                is_batch1,        "batch 1",                       "bind batch=1"),
    RULE(xir_tern_conv_class, has_small_kernel, "kernels up to 11x11",           "leave it on the host"),
    RULE(xir_tern_conv_class, has_const_kernel, "constant kernels",              "fold"),
    RULE(xir_tern_conv_class, has_equal_sum,    "a sum without broadcast",      "leave it on the host"),
    RULE(xir_conv2d_class,    has_no_dilation,  "no dilation, zeros as padding", "leave it on the host"),
    RULE(xir_conv2d_class,    has_const_kernel, "constant kernels",              "fold"),
    { .cls = xir_relu_class       },
    { .cls = xir_add_class        },
    { .cls = xir_max_pool2d_class },
};
static const xir_target_row tern = {
    XIR_TARGET_HEAD("tern::Npu", "tern", "the Tern NPU: fp32 maps, channels last, 256 KiB"),
    .accelerator = true, XIR_TARGET_RULES(rules),
};

/* ---- the description -------------------------------------------------------------------------------------------- */

const xir_plugin *xir_plugin_entry(void) {
    static const xir_target_row *const targets[] = { &tern };
    static xir_class_fn *const classes[] = { xir_tern_conv_class };
    static const xir_plugin plugin = {
        XIR_PLUGIN_HEAD("tern"), .targets = targets, .n_targets = 1, .classes = classes, .n_classes = 1,
    };
    return &plugin;
}
