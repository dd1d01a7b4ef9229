/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The Tern NPU, a second back end: a target with rules that a network may break, one command for a convolution with all
 * that follows it, its kernel, and the pass that finds it. ternc.c compiles for it in C, ternpp.cpp in C++. */
#include "tern.h"
#include <inttypes.h>
#include <math.h>
#include <xir/exec.h>
#include <xir/pattern.h>
#include <xir/sugar.h>
#include <xir/work.h>

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

/* ---- the operation ---------------------------------------------------------------------------------------------- */

static int64_t window(int64_t in, int64_t before, int64_t after, int64_t k, int64_t stride) {
    if (in < 0 || k < 0) return XIR_UNKNOWN_DIM;
    const int64_t n = in + before + after - k;
    return n < 0 ? 0 : n / stride + 1;
}

xir_status tern_conv_check(xir_infer *at) {
    const xir_tern_conv_attrs *a = xir_infer_attrs(at);
    const xir_type *x = xir_infer_input(at, 0), *w = xir_infer_input(at, 1);
    if (a->low > a->high) return xir_infer_fail(at, XIR_E_BOUNDS, "low", "low is above high: expected low <= high");
    if (!xir_type_as_tensor(x) || !xir_type_as_tensor(w)) return XIR_OK;   /* unknown types are not checked */
    if (xir_type_rank(x) != 4 || xir_type_rank(w) != 4)
        return xir_infer_fail(at, XIR_E_TYPE, "inputs/0", "expected tensors of rank 4");
    const int64_t c = xir_type_axis_dim(x, 'C', false), i = xir_type_axis_dim(w, 'I', false);
    if (c >= 0 && i >= 0 && (c % a->groups || c / a->groups != i))
        return xir_infer_fail(at, XIR_E_TYPE, "inputs/1", "input has %" PRId64 " channels: expected %" PRId64
                              " for each of %" PRId64 " groups", c, i, a->groups);
    return XIR_OK;
}

xir_status tern_conv_infer(xir_infer *at) {
    const xir_status status = xir_infer_need_tensors(at, 2);
    if (status) return status;
    const xir_tern_conv_attrs *a = xir_infer_attrs(at);
    const xir_type *x = xir_infer_input(at, 0), *w = xir_infer_input(at, 1);
    return xir_infer_result_like(at, x, (const int64_t[]){
        xir_type_axis_dim(x, 'N', false),
        window(xir_type_axis_dim(x, 'H', false), a->pad_top, a->pad_bottom, xir_type_axis_dim(w, 'H', false),
               a->stride_height),
        window(xir_type_axis_dim(x, 'W', false), a->pad_left, a->pad_right, xir_type_axis_dim(w, 'W', false),
               a->stride_width),
        xir_type_axis_dim(w, 'O', false),
    }, 4);
}

xir_status tern_conv_work(xir_infer *at) {
    const xir_type *w = xir_infer_input(at, 1);
    const uint64_t out = xir_work_outputs(at);
    uint64_t each = 1;
    for (int i = 0; i < 3; i++) each = xir_work_times(each, xir_work_dim(at, w, i));
    return xir_work_result(at, xir_work_times(out, each), xir_work_times(out, 2));
}

/* The outputs of one place: [q] along the channels. */
static void conv_at(const xir_tern_conv_attrs *a, const xir_type *xt, const xir_type *wt, const double *x,
                    const double *w, int64_t p, int64_t q, double *out) {
    const int64_t H = xir_type_dim(xt, 1, false), W = xir_type_dim(xt, 2, false), C = xir_type_dim(xt, 3, false),
                  KH = xir_type_dim(wt, 0, false), KW = xir_type_dim(wt, 1, false), I = xir_type_dim(wt, 2, false),
                  O = xir_type_dim(wt, 3, false);
    for (int64_t kh = 0; kh < KH; kh++)
        for (int64_t kw = 0; kw < KW; kw++) {
            const int64_t h = p * a->stride_height - a->pad_top + kh, v = q * a->stride_width - a->pad_left + kw;
            for (int64_t i = 0; i < I && h >= 0 && v >= 0 && h < H && v < W; i++)
                for (int64_t o = 0; o < O; o++)
                    out[o] += x[(h * W + v) * C + o / (O / a->groups) * I + i] * w[((kh * KW + kw) * I + i) * O + o];
        }
}

static xir_status run_conv(xir_kernel *at) {
    const xir_tern_conv_attrs *a = xir_kernel_attrs(at);
    const xir_type *xt = xir_kernel_input_type(at, 0), *wt = xir_kernel_input_type(at, 1),
                   *yt = xir_kernel_output_type(at, 0);
    const double *x = xir_kernel_reals(at, 0), *w = xir_kernel_reals(at, 1),
                 *b = xir_kernel_input_type(at, 2) ? xir_kernel_reals(at, 2) : NULL,
                 *r = xir_kernel_input_type(at, 3) ? xir_kernel_reals(at, 3) : NULL;
    double *y = xir_kernel_real_out(at, 0);
    if (!x || !w || !y) return XIR_E_MEMORY;
    const int64_t N = xir_type_dim(yt, 0, false), P = xir_type_dim(yt, 1, false), Q = xir_type_dim(yt, 2, false),
                  O = xir_type_dim(yt, 3, false), map = xir_type_dim(xt, 1, false) * xir_type_dim(xt, 2, false) *
                                                        xir_type_dim(xt, 3, false),
                  kernel = xir_type_dim(wt, 0, false) * xir_type_dim(wt, 1, false) * xir_type_dim(wt, 2, false);
    for (int64_t i = 0; i < N * P * Q; i++) {
        double *out = y + i * O;
        for (int64_t o = 0; o < O; o++) out[o] = (b ? b[o] : 0) + (r ? r[i * O + o] : 0);
        conv_at(a, xt, wt, x + i / (P * Q) * map, w, i / Q % P, i % Q, out);
        for (int64_t o = 0; o < O; o++) out[o] = fmin(fmax(out[o], a->low), a->high);
        if (xir_kernel_stops(at, (uint64_t)(O * kernel))) return XIR_E_CANCELLED;
    }
    return XIR_OK;
}

/* ---- the pass: Conv2d [+ Add] + ReLU becomes tern::Conv ---------------------------------------------------------- */

static bool is_plain_conv(const xir_op *op, void *user) {
    (void)user;
    const xir_conv2d_attrs *a = xir_conv2d_of(op);
    const xir_type *y = xir_value_type(xir_op_output(op, 0));
    return a->pad_top >= 0 && a->pad_left >= 0 && a->pad_bottom >= 0 && a->pad_right >= 0 &&
           xir_type_dim(y, -1, false) == xir_type_channels(y);
}

enum { X, WEIGHTS, BIAS, OTHER, CONV, SUM, OUT };
static const xir_pattern_row rows[] = {
    [X]       = { XIR_ROW_ANY },
    [WEIGHTS] = { XIR_ROW_PARAMS },
    [BIAS]    = { XIR_ROW_PARAMS, .optional = true },
    [OTHER]   = { XIR_ROW_ANY },
    [CONV]    = { XIR_ROW_OP(xir_conv2d_class), XIR_ROW_INPUTS(X, WEIGHTS, BIAS), .where = is_plain_conv,
                  XIR_ROW_ATTRS(XIR_ATTR_DEFAULT("dilation_width"), XIR_ATTR_DEFAULT("dilation_height"),
                                XIR_ATTR_DEFAULT("padding_mode")) },
    [SUM]     = { XIR_ROW_OP(xir_add_class), XIR_ROW_INPUTS(CONV, OTHER), .commutes = true, .optional = true,
                  XIR_ROW_ATTRS(XIR_ATTR_DEFAULT("alpha"), XIR_ATTR_DEFAULT("beta")) },
    [OUT]     = { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(SUM),
                  XIR_ROW_ATTRS(XIR_ATTR_DEFAULT("alpha"), XIR_ATTR_DEFAULT("threshold")) },
};

/* No broadcasting. */
static bool is_same_type(const xir_match *m, void *user) {
    (void)user;
    const xir_value *other = xir_match_op(m, SUM) ? xir_match_value(m, OTHER) : NULL;
    return !other || xir_type_equal(xir_value_type(xir_match_value(m, CONV)), xir_value_type(other));
}
static const xir_pattern_decl pattern = { XIR_PATTERN_HEAD("tern-conv", rows), .closed = true, .check = is_same_type };

static xir_verdict fuse(xir_rewriter *rewriter, const xir_match *m, const void *user) {
    (void)user;
    const xir_conv2d_attrs *c = xir_conv2d_of(xir_match_op(m, CONV));
    xir_at at = xir_match_at(m);
    xir_tern_conv_attrs a = xir_tern_conv_init();
    a.stride_width = c->stride_width, a.stride_height = c->stride_height, a.groups = c->groups;
    a.pad_top = c->pad_top, a.pad_bottom = c->pad_bottom, a.pad_left = c->pad_left, a.pad_right = c->pad_right;
    a.high = fmin(a.high, xir_relu_of(xir_match_op(m, OUT))->max_value);
    at.target = xir_target_named(xir_network_context(xir_rewriter_network(rewriter)), XIR_STR("tern"));
    xir_value *other = xir_match_op(m, SUM) ? xir_match_value(m, OTHER) : NULL;
    return xir_match_replace(m, XIR_OP(at, tern_conv, .input = xir_match_value(m, X), .residual = other, .attrs = &a,
                                       .weights = xir_match_value(m, WEIGHTS), .bias = xir_match_value(m, BIAS)));
}

static xir_status run_to_tern(xir_pass *at) {
    xir_network *net = xir_pass_network(at);
    xir_context *ctx = xir_pass_context(at);
    const xir_target *target = xir_target_named(ctx, XIR_STR("tern"));
    if (!target) return xir_pass_fail(at, XIR_E_UNKNOWN, NULL, "the target tern is not registered");
    xir_pattern *found = xir_pattern_new(ctx, &pattern, xir_pass_diags(at));
    if (!found) return XIR_E_INVALID;
    const xir_rule rule = { found, fuse, NULL };
    size_t n = 0;
    xir_status status = xir_network_rewrite(net, &rule, 1, sizeof rule, 0, &n, xir_pass_diags(at));
    xir_pattern_free(found);
    if (!status && n) status = xir_network_set_ai_target(net, target);
    if (!status) xir_pass_changed(at, n);
    return status;
}

static const char *const needs[] = { "infer", NULL };
static const xir_pass_decl to_tern = {
    XIR_PASS_HEAD("to-tern", "convolutions with sum and ReLU become commands of the Tern NPU"),
    .level = XIR_LEVEL_FAST, .needs = needs, .run = run_to_tern,
};

/* ---- the description -------------------------------------------------------------------------------------------- */

const xir_plugin *xir_plugin_entry(void) {
    static const xir_target_row *const targets[] = { &tern };
    static xir_class_fn *const classes[] = { xir_tern_conv_class };
    static const xir_plugin_kernel kernels[] = { { xir_tern_conv_class, run_conv } };
    static const xir_pass_decl *const passes[] = { &to_tern };
    static const xir_plugin plugin = {
        XIR_PLUGIN_HEAD("tern"), .targets = targets, .n_targets = 1, .classes = classes, .n_classes = 1,
        .kernels = kernels, .n_kernels = 1, .passes = passes, .n_passes = 1,
    };
    return &plugin;
}
