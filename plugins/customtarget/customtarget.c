/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A plug-in with a target: a processor of half-precision maps that runs a dozen classes of the library. The rules of
 * its row say which ops; xir check --target halves lists those that break one, and xir_op_try asks about a single op.
 * Inference follows the host and then gives the result its element type. docs/embedding.md walks through it. */
#include <xir/plugin.h>
#include <xir/xir.h>

/* ---- inference ------------------------------------------------------------------------------------------------- */

/* As the host does, then in halves. */
static xir_status infer_halves(xir_infer *at) {
    xir_context *ctx = xir_infer_context(at);
    const xir_type *half = xir_type_float(ctx, XIR_FLOAT_FP16);
    xir_status status = xir_infer_as_host(at);
    for (size_t i = 0; !status && xir_infer_output(at, i); i++) {
        const xir_type *type = xir_type_with_element(ctx, xir_infer_output(at, i), half, NULL);
        status = type ? xir_infer_change(at, i, type) : XIR_E_MEMORY;
    }
    return status;
}

/* ---- rules ----------------------------------------------------------------------------------------------------- */

static bool in_floats(xir_infer *at) {
    for (size_t i = 0; i < xir_infer_input_count(at); i++) {
        const xir_type *element = xir_type_element(xir_infer_input(at, i));
        if (!element) continue;   /* absent */
        if (xir_type_kind_of(element) != XIR_TYPE_FLOAT || xir_type_storage_bits(element) > 32) return false;
    }
    return true;
}

static bool of_four_dims(xir_infer *at) {
    for (size_t i = 0; xir_infer_output(at, i); i++) {
        if (xir_type_rank(xir_infer_output(at, i)) > 4) return false;
    }
    return true;
}

static bool of_known_dims(xir_infer *at) {
    for (size_t i = 0; xir_infer_output(at, i); i++) {
        if (xir_type_has_unknown_dim(xir_infer_output(at, i))) return false;
    }
    return true;
}

static bool kernel_is_small(xir_infer *at) {
    const xir_type *kernel = xir_infer_input(at, 1);
    return xir_type_axis_dim(kernel, 'H', false) <= 7 && xir_type_axis_dim(kernel, 'W', false) <= 7;
}

static bool kernel_is_constant(xir_infer *at) { return xir_infer_input_is_params(at, 1); }

static bool steps_are_small(xir_infer *at) {
    const xir_conv2d_attrs *conv = xir_infer_attrs(at);
    return conv->stride_width <= 4 && conv->stride_height <= 4;
}

static bool is_not_dilated(xir_infer *at) {
    const xir_conv2d_attrs *conv = xir_infer_attrs(at);
    return conv->dilation_width == 1 && conv->dilation_height == 1;
}

static bool greatest_of_few(xir_infer *at) {
    const xir_max_pool2d_attrs *pool = xir_infer_attrs(at);
    return pool->pool_width <= 8 && pool->pool_height <= 8;
}

static bool mean_of_few(xir_infer *at) {
    const xir_avg_pool2d_attrs *pool = xir_infer_attrs(at);
    return pool->pool_width <= 8 && pool->pool_height <= 8;
}

static bool along_the_last_dim(xir_infer *at) {
    const xir_softmax_attrs *softmax = xir_infer_attrs(at);
    return softmax->axis < 0 || softmax->axis + 1 == (int64_t)xir_type_rank(xir_infer_input(at, 0));
}

#define RULE(of, condition, what, how) { .cls = of, .holds = condition, .needs = what, .mend = how }
#define RUNS(id)                       { .cls = xir_##id##_class }
static const xir_target_rule rules[] = {
    RULE(NULL,                 in_floats,          "inputs of floats of at most 32 bits", "cast them"),
    RULE(NULL,                 of_four_dims,       "results of at most 4 dims",           "join dims with Reshape"),
    RULE(NULL,                 of_known_dims,      "dims that are known",                 "bind them: --input-shape"),
    RULE(xir_conv2d_class,     kernel_is_constant, "a kernel that is a constant",         NULL),
    RULE(xir_conv2d_class,     kernel_is_small,    "a kernel of at most 7 x 7",           "split it"),
    RULE(xir_conv2d_class,     steps_are_small,    "steps of at most 4",                  NULL),
    RULE(xir_conv2d_class,     is_not_dilated,     "a kernel without dilation",           "fill it with zeros"),
    RULE(xir_max_pool2d_class, greatest_of_few,    "windows of at most 8 x 8",            "pool twice"),
    RULE(xir_avg_pool2d_class, mean_of_few,        "windows of at most 8 x 8",            "pool twice"),
    RULE(xir_softmax_class,    along_the_last_dim, "the last dim as axis",                "transpose before and after"),
    RULE(xir_matmul_class,     kernel_is_constant, "a second matrix that is a constant",  NULL),
    RUNS(relu), RUNS(sigmoid), RUNS(tanh), RUNS(add), RUNS(multiply), RUNS(concat), RUNS(reshape),
};

/* ---- the plug-in ----------------------------------------------------------------------------------------------- */

static const xir_target_row halves = {
    XIR_TARGET_HEAD("customtarget::HalvesTarget", "halves", "a processor of half-precision maps"),
    .accelerator = true, XIR_TARGET_RULES(rules),
};

#define INFER(id) { .cls = xir_##id##_class, .infer = infer_halves, .target_key = "customtarget::HalvesTarget" }
static const xir_plugin_infer infers[] = {
    INFER(conv2d), INFER(max_pool2d), INFER(avg_pool2d), INFER(softmax),  INFER(matmul), INFER(relu),
    INFER(sigmoid), INFER(tanh),      INFER(add),        INFER(multiply), INFER(concat), INFER(reshape),
};

const xir_plugin *xir_plugin_entry(void) {
    static const xir_target_row *const targets[] = { &halves };
    static const xir_plugin plugin = {
        XIR_PLUGIN_HEAD("customtarget"),
        .infers = infers, .n_infers = sizeof infers / sizeof infers[0], .targets = targets, .n_targets = 1,
    };
    return &plugin;
}
