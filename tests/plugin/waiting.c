/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A pass, a reader and a kernel that take as long as a test wants: they end when standard input does. */
#include <stdio.h>
#include <xir/format.h>
#include <xir/xir.h>

#define XIR_DEFS "waiting.def"
#include <xir/declare.h>
#define XIR_DEFS "waiting.def"
#include <xir/define.h>

static void wait_for_end(void) {
    while (getchar() != EOF) {}
}

static xir_status run(xir_pass *at) {
    (void)at;
    wait_for_end();
    return XIR_OK;
}

static const xir_pass_decl waiting = {
    XIR_PASS_HEAD("wait", "waits for the end of standard input"),
    .level = XIR_LEVEL_EXACT, .run = run,
};

/* The bytes of the file do not matter. */
static xir_network *read_slowly(const xir_format_reading *how) {
    wait_for_end();
    return xir_network_new(how->ctx, "slow", XIR_FRAMEWORK_PYTORCH, "");
}

static const xir_format_decl slow = {
    XIR_FORMAT_HEAD("slow", "file that takes long"), .suffixes = "slow", .read = read_slowly,
};

xir_status wait_infer(xir_infer *at) { return xir_infer_result(at, xir_infer_input(at, 0)); }

/* Reports the op before it waits: so many steps make the run ask whether it is cancelled. */
static xir_status run_wait(xir_kernel *at) {
    if (xir_kernel_stops(at, UINT64_C(1) << 40)) return XIR_E_CANCELLED;
    wait_for_end();
    return xir_kernel_forward(at, 0, 0);
}

const xir_plugin *xir_plugin_entry(void) {
    static xir_class_fn *const classes[] = { xir_wait_class };
    static const xir_plugin_kernel kernels[] = { { xir_wait_class, run_wait } };
    static const xir_pass_decl *const passes[] = { &waiting };
    static const xir_format_decl *const formats[] = { &slow };
    static const xir_plugin plugin = {
        XIR_PLUGIN_HEAD("waiting"), .classes = classes, .n_classes = 1, .kernels = kernels, .n_kernels = 1,
        .passes = passes, .n_passes = 1, .formats = formats, .n_formats = 1,
    };
    return &plugin;
}
