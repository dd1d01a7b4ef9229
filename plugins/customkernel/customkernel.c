/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A plug-in with an operation and its kernel for the executor: a function and a row. docs/executor.md explains it. */
#include <math.h>
#include <xir/exec.h>
#include <xir/plugin.h>

#define XIR_DEFS "customkernel.def"
#include <xir/declare.h>
#define XIR_DEFS "customkernel.def"
#include <xir/define.h>

xir_status snake_check(xir_infer *at) {
    const xir_snake_attrs *a = xir_infer_attrs(at);
    return a->frequency != 0 ? XIR_OK
           : xir_infer_fail(at, XIR_E_BOUNDS, "frequency", "frequency is 0: expected another number");
}

xir_status snake_infer(xir_infer *at) {
    xir_status status = xir_infer_need_tensors(at, 1);
    return status ? status : xir_infer_result(at, xir_infer_input(at, 0));
}

static xir_status run_snake(xir_kernel *at) {
    const xir_snake_attrs *a = xir_kernel_attrs(at);
    const double *x = xir_kernel_reals(at, 0);
    double *y = xir_kernel_real_out(at, 0);
    int64_t n = 0;
    if (!x || !y || xir_type_elements(xir_kernel_output_type(at, 0), &n)) return XIR_E_MEMORY;
    for (int64_t i = 0; i < n; i++) y[i] = x[i] + pow(sin(a->frequency * x[i]), 2) / a->frequency;
    return XIR_OK;
}

const xir_plugin *xir_plugin_entry(void) {
    static xir_class_fn *const classes[] = { xir_snake_class };
    static const xir_plugin_kernel kernels[] = {
        { xir_snake_class, run_snake },
    };
    static const xir_plugin plugin = {
        XIR_PLUGIN_HEAD("customkernel"),
        .classes = classes, .n_classes = 1,
        .kernels = kernels, .n_kernels = sizeof kernels / sizeof kernels[0],
    };
    return &plugin;
}
