/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A plug-in with ops that are declared correctly and then do wrong. tests/cli/plugin.sh uses them. */
#include <stdlib.h>
#include <xir/xir.h>

#define XIR_DEFS "faulty.def"
#include <xir/declare.h>
#define XIR_DEFS "faulty.def"
#include <xir/define.h>

xir_status faulty_infer(xir_infer *at) { return xir_infer_result(at, xir_infer_input(at, 0)); }
xir_status faulty_infer_none(xir_infer *at) {
    (void)at;
    return XIR_OK;
}
xir_status faulty_infer_two(xir_infer *at) {
    const xir_status status = faulty_infer(at);
    return status ? status : faulty_infer(at);
}

xir_status faulty_infer_null(xir_infer *at) { return xir_infer_result(at, NULL); }

static xir_status run_abort(xir_kernel *at) {
    (void)at;
    abort();
}

static xir_status run_write(xir_kernel *at) {
    *(volatile char *)((uintptr_t)xir_kernel_op(at) & 15) = 1;
    return XIR_OK;
}

static int descend(volatile char *above, int n) {
    volatile char frame[4096] = { 0 };
    frame[n % 4096] = above[0];
    return n < 1 << 30 ? descend(frame, n + 1) + frame[0] : frame[1];
}

static xir_status run_deep(xir_kernel *at) {
    char first = 0;
    (void)at;
    return descend(&first, 0) ? XIR_E_INVALID : XIR_OK;
}

const xir_plugin *xir_plugin_entry(void) {
    static xir_class_fn *const classes[] = { xir_faulty_none_class, xir_faulty_two_class, xir_faulty_null_class,
                                             xir_faulty_abort_class, xir_faulty_write_class, xir_faulty_deep_class };
    static const xir_plugin_kernel kernels[] = {
        { xir_faulty_abort_class, run_abort }, { xir_faulty_write_class, run_write }, { xir_faulty_deep_class, run_deep },
    };
    static const xir_plugin plugin = {
        XIR_PLUGIN_HEAD("faulty"), .classes = classes, .n_classes = sizeof classes / sizeof *classes,
        .kernels = kernels, .n_kernels = sizeof kernels / sizeof *kernels,
    };
    return &plugin;
}
