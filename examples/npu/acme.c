/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A back end in one file: a target, an operation of its own with a kernel, and the pass that puts it into networks.
 * docs/tutorial.md builds it as a plug-in, docs/embedding.md links it with backend.c. */
#include "acme.h"
#include <math.h>
#include <xir/exec.h>
#include <xir/pattern.h>
#include <xir/sugar.h>
#include <xir/work.h>

#define XIR_DEFS "acme.def"
#include <xir/define.h>

/* ---- the target ------------------------------------------------------------------------------------------------- */

/* Feature maps are of fp32 and known size, with channels last. */
static bool is_map(xir_infer *at) {
    const xir_type *type = xir_infer_output(at, 0), *fp32 = xir_type_float(xir_infer_context(at), XIR_FLOAT_FP32);
    return xir_type_rank(type) == 4 && xir_type_axis_dim(type, 'C', false) == xir_type_dim(type, -1, false) &&
           xir_type_equal(xir_type_element(type), fp32);
}

static bool is_known(xir_infer *at) { return !xir_type_has_unknown_dim(xir_infer_output(at, 0)); }

static const xir_target_rule rules[] = {
    { .holds = is_map,   .needs = "maps of fp32 with channels last (NHWC)", .mend = "run the pass layout{to=nhwc}"     },
    { .holds = is_known, .needs = "dims that are known",                    .mend = "bind them: xir opt --input-shape" },
    { .cls = xir_conv2d_class     },
    { .cls = xir_relu_class       },
    { .cls = xir_max_pool2d_class },
    { .cls = xir_hardswish_add_class },
};

static const xir_target_row npu = {
    XIR_TARGET_HEAD("acme::NpuTarget", "npu", "the NPU of this example: floats, channels last"),
    .accelerator = true, XIR_TARGET_RULES(rules),
};

/* ---- the operation ---------------------------------------------------------------------------------------------- */

/* Returns XIR_OK if both inputs are tensors of one type. Runs before inference and when a network is validated. */
xir_status hardswish_add_check(xir_infer *at) {
    const xir_type *input = xir_infer_input(at, 0), *residual = xir_infer_input(at, 1);
    if (!input || !residual || xir_type_equal(input, residual)) return XIR_OK;   /* unknown types are not checked */
    return xir_infer_fail(at, XIR_E_TYPE, "inputs/1", "expected the type of input, found another one");
}

xir_status hardswish_add_infer(xir_infer *at) {
    xir_status status = xir_infer_need_tensors(at, 2);
    return status ? status : xir_infer_result(at, xir_infer_input(at, 0));
}

/* The NPU works on feature maps with channels last. */
xir_status hardswish_add_infer_npu(xir_infer *at) {
    xir_status status = xir_infer_need_tensors(at, 2);
    if (status) return status;
    const xir_type *input = xir_infer_input(at, 0);
    if (xir_type_rank(input) != 4 || xir_type_dim(input, -1, false) != xir_type_channels(input)) {
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0", "expected a feature map with channels last (NHWC)");
    }
    return xir_infer_result(at, input);
}

/* The work of the op, for costs and limits: the gated input and the sum, for each element. */
xir_status hardswish_add_work(xir_infer *at) {
    return xir_work_elementwise(at, xir_work_times(2, xir_work_outputs(at)));
}

/* Computes the op in double. The executor rounds the output to its type. */
static xir_status run_hardswish_add(xir_kernel *at) {
    const xir_hardswish_add_attrs *attrs = xir_kernel_attrs(at);
    const double *input = xir_kernel_reals(at, 0), *residual = xir_kernel_reals(at, 1);
    double *output = xir_kernel_real_out(at, 0);
    int64_t n = 0;
    if (!input || !residual || !output || xir_type_elements(xir_kernel_output_type(at, 0), &n)) return XIR_E_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        double gate = fmin(fmax(input[i] / 6 + 0.5, 0), 1);
        output[i] = input[i] * gate + attrs->scale * residual[i];
    }
    return XIR_OK;
}

/* ---- the pass --------------------------------------------------------------------------------------------------- */

/* Add computes alpha * lhs + beta * rhs; by default it is lhs + rhs. */
enum { INPUT, RESIDUAL, SWISH, SUM };
static const xir_pattern_row rows[] = {
    [INPUT]    = { XIR_ROW_ANY },
    [RESIDUAL] = { XIR_ROW_ANY },
    [SWISH]    = { XIR_ROW_OP(xir_hardswish_class), XIR_ROW_INPUTS(INPUT) },
    [SUM]      = { XIR_ROW_OP(xir_add_class), XIR_ROW_INPUTS(SWISH, RESIDUAL),
                   XIR_ROW_ATTRS(XIR_ATTR_DEFAULT("alpha"), XIR_ATTR_DEFAULT("beta")), .commutes = true },
};

/* No broadcasting: both inputs have one type. */
static bool is_same_type(const xir_match *m, void *user) {
    (void)user;
    return xir_type_equal(xir_value_type(xir_match_value(m, INPUT)), xir_value_type(xir_match_value(m, RESIDUAL)));
}

static const xir_pattern_decl pattern = {
    XIR_PATTERN_HEAD("hardswish-add", rows), .closed = true, .check = is_same_type,
};

static xir_verdict to_hardswish_add(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)user;
    xir_at where = xir_match_at(m);
    where.target = xir_target_named(xir_network_context(xir_rewriter_network(at)), XIR_STR("npu"));
    xir_value *input = xir_match_value(m, INPUT), *residual = xir_match_value(m, RESIDUAL);
    return xir_match_replace(m, XIR_OP(where, hardswish_add, .input = input, .residual = residual));
}

static xir_status run_to_npu(xir_pass *at) {
    xir_network *net = xir_pass_network(at);
    xir_context *ctx = xir_pass_context(at);
    const xir_target *target = xir_target_named(ctx, XIR_STR("npu"));
    if (!target) return xir_pass_fail(at, XIR_E_UNKNOWN, NULL, "the target npu is not registered");
    xir_pattern *found = xir_pattern_new(ctx, &pattern, xir_pass_diags(at));
    if (!found) return XIR_E_INVALID;
    xir_rule rule = { found, to_hardswish_add, NULL };
    size_t n = 0;
    xir_status status = xir_network_rewrite(net, &rule, 1, sizeof rule, 0, &n, xir_pass_diags(at));
    xir_pattern_free(found);
    if (!status && n) status = xir_network_set_ai_target(net, target);   /* its ops belong in networks for it */
    if (!status) xir_pass_changed(at, n);
    return status;
}

static const char *const needs[] = { "infer", NULL };
static const xir_pass_decl to_npu = {
    XIR_PASS_HEAD("to-npu", "a Hardswish and the Add after it become one operation of the NPU"),
    .level = XIR_LEVEL_FAST, .needs = needs, .run = run_to_npu,
};

/* ---- the description -------------------------------------------------------------------------------------------- */

const xir_plugin *xir_plugin_entry(void) {
    static const xir_target_row *const targets[] = { &npu };
    static xir_class_fn *const classes[] = { xir_hardswish_add_class };
    static const xir_plugin_kernel kernels[] = { { .cls = xir_hardswish_add_class, .run = run_hardswish_add } };
    static const xir_pass_decl *const passes[] = { &to_npu };
    static const xir_plugin plugin = {
        XIR_PLUGIN_HEAD("acme"),
        .targets = targets, .n_targets = 1,
        .classes = classes, .n_classes = 1,
        .kernels = kernels, .n_kernels = 1,
        .passes  = passes,  .n_passes  = 1,
    };
    return &plugin;
}
