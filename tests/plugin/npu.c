/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Two targets, and inference of the same classes on each: fp16 on one, fp64 on the other.
 * docs/writing-a-target.md walks through it. With XIR_NPU in the environment, its description is refused. */
#include <stdlib.h>
#include <string.h>
#include <xir/plugin.h>
#include <xir/work.h>

#define XIR_DEFS "npu.def"
#include <xir/declare.h>
#define XIR_DEFS "npu.def"
#include <xir/define.h>

static xir_status give_as(xir_infer *at, xir_float_format format) {
    const xir_type *input = xir_infer_input(at, 0);
    const xir_tensor_type *tensor = xir_type_as_tensor(input);
    if (!tensor) return xir_infer_fail(at, XIR_E_TYPE, "inputs/0", "input is not a tensor");
    return xir_infer_result_tensor(at, xir_type_float(xir_infer_context(at), format), tensor->layout,
                                   tensor->shape.data, tensor->shape.size);
}

xir_status npu_grow_infer(xir_infer *at) {
    enum { MOST = 16 };
    const xir_npu_grow_attrs *grow = xir_infer_attrs(at);
    const xir_tensor_type *tensor = xir_type_as_tensor(xir_infer_input(at, 0));
    int64_t dims[MOST];
    size_t n = tensor ? tensor->shape.size : 0;
    if (!n || n > MOST) return xir_infer_fail(at, XIR_E_TYPE, "inputs/0", "input is not a tensor of a few dims");
    /* The bounds of the row are checked too, but an op of a file may be asked before. */
    if (grow->by < 0 || grow->by > (int64_t)(MOST - n))
        return xir_infer_fail(at, XIR_E_BOUNDS, "by", "the output would not have 1 to %d dims", MOST);
    memcpy(dims, tensor->shape.data, n * sizeof *dims);
    for (int64_t i = 0; i < grow->by; i++) dims[n++] = 1;
    return xir_infer_result_tensor(at, tensor->element_dtype, NULL, dims, n);
}

/* A multiply-add for each element and each added dim. */
xir_status npu_grow_work(xir_infer *at) {
    const xir_npu_grow_attrs *grow = xir_infer_attrs(at);
    return xir_work_result(at, xir_work_times(xir_work_elements(at, xir_infer_input(at, 0)), (uint64_t)grow->by),
                           xir_work_outputs(at));
}

xir_status npu_host_infer(xir_infer *at)   { return give_as(at, XIR_FLOAT_FP32); }
xir_status npu_half_infer(xir_infer *at)   { return give_as(at, XIR_FLOAT_FP16); }
xir_status npu_double_infer(xir_infer *at) { return give_as(at, XIR_FLOAT_FP64); }

static const int64_t of_16[] = { 16, 0 };
static const xir_target_row npu =
    { XIR_TARGET_HEAD("acme::NpuTarget", "npu", "an accelerator with tiles of 16 channels"),
      .accelerator = true, .tiles = of_16 };
static const xir_target_row dsp = { XIR_TARGET_HEAD("acme::DspTarget", "dsp", "a signal processor"), .cores = "v1 v2" };
static const xir_target_row *const targets[] = { &npu, &dsp };
static const xir_target_row *const twice[] = { &npu, &npu }, *const null[] = { &npu, NULL };

static xir_class_fn *const classes[] = { xir_npu_twice_class, xir_npu_grow_class };
static const xir_plugin_infer infers[] = {
    { .cls = xir_relu_class, .infer = npu_half_infer,   .target_key = "acme::NpuTarget" },
    { .cls = xir_relu_class, .infer = npu_double_infer, .target_key = "acme::DspTarget" },
}, again[] = {
    { .cls = xir_npu_twice_class, .infer = npu_half_infer, .target_key = "acme::NpuTarget" },
    { .cls = xir_npu_twice_class, .infer = npu_half_infer, .target_key = "acme::NpuTarget" },
}, lost[] = {
    { .cls = xir_relu_class, .infer = npu_half_infer, .target_key = "acme::NoTarget" },
}, no_target[] = {
    { .cls = xir_relu_class, .infer = npu_half_infer, .target_key = "icraft::xir::HostMem" },
};

#define CLASSES .classes = classes, .n_classes = 2
#define TARGETS .targets = targets, .n_targets = 2
static const struct { const char *name; xir_plugin plugin; } ways[] = {
    { "",           { XIR_PLUGIN_HEAD("npu"), CLASSES, .infers = infers, .n_infers = 2, TARGETS } },
    { "no targets", { XIR_PLUGIN_HEAD("npu"), CLASSES } },
    { "NULL",       { XIR_PLUGIN_HEAD("npu"), .n_targets = 2 } },
    { "a NULL",     { XIR_PLUGIN_HEAD("npu"), .targets = null, .n_targets = 2 } },
    { "twice",      { XIR_PLUGIN_HEAD("npu"), .targets = twice, .n_targets = 2 } },
    { "again",      { XIR_PLUGIN_HEAD("npu"), CLASSES, .infers = again, .n_infers = 2, TARGETS } },
    { "lost",       { XIR_PLUGIN_HEAD("npu"), CLASSES, .infers = lost, .n_infers = 1, TARGETS } },
    { "no target",  { XIR_PLUGIN_HEAD("npu"), CLASSES, .infers = no_target, .n_infers = 1, TARGETS } },
};

const xir_plugin *xir_plugin_entry(void) {
    const char *name = getenv("XIR_NPU");
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (strcmp(ways[i].name, name ? name : "") == 0) return &ways[i].plugin;
    }
    return NULL;
}
