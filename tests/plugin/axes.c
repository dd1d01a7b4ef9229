/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops whose classes declare how they work in other orders of axes, for the pass `layout`.
 * tests/passes/layout/plugin.c uses them. */
#include <xir/xir.h>

#define XIR_DEFS "axes.def"
#include <xir/declare.h>
#define XIR_DEFS "axes.def"
#include <xir/define.h>

xir_status axes_same(xir_infer *at) { return xir_infer_result(at, xir_infer_input(at, 0)); }

static size_t product(const xir_type *type, size_t from, size_t to) {
    size_t n = 1;
    for (size_t i = from; i < to; i++) n *= (size_t)xir_type_dim(type, (int64_t)i, false);
    return n;
}

static xir_status halve(xir_kernel *at) {
    const xir_type *type = xir_kernel_output_type(at, 0);
    const double *x = xir_kernel_reals(at, 0);
    double *y = xir_kernel_real_out(at, 0);
    if (!x || !y) return XIR_E_MEMORY;
    for (size_t i = 0, n = product(type, 0, xir_type_rank(type)); i < n; i++) y[i] = x[i] / 2;
    return XIR_OK;
}

static xir_status mirror(xir_kernel *at) {
    const xir_axes_mirror_attrs *a = xir_kernel_attrs(at);
    const xir_type *type = xir_kernel_output_type(at, 0);
    const double *x = xir_kernel_reals(at, 0);
    double *y = xir_kernel_real_out(at, 0);
    if (!x || !y) return XIR_E_MEMORY;
    size_t rank = xir_type_rank(type), axis = (size_t)(a->axis < 0 ? a->axis + (int64_t)rank : a->axis);
    size_t outer = product(type, 0, axis), n = product(type, axis, axis + 1), inner = product(type, axis + 1, rank);
    for (size_t o = 0; o < outer; o++) {
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < inner; k++) y[(o * n + i) * inner + k] = x[(o * n + n - 1 - i) * inner + k];
        }
    }
    return XIR_OK;
}

const xir_plugin *xir_plugin_entry(void) {
    static xir_class_fn *const classes[] = { xir_axes_halve_class, xir_axes_mirror_class, xir_axes_silent_class,
                                             xir_axes_untyped_class };
    static const xir_plugin_kernel kernels[] = {
        { xir_axes_halve_class, halve }, { xir_axes_mirror_class, mirror }, { xir_axes_silent_class, halve }, { xir_axes_untyped_class, halve },
    };
    static const xir_plugin plugin = { XIR_PLUGIN_HEAD("axes"), .classes = classes, .n_classes = 4, .kernels = kernels,
                                       .n_kernels = 4 };
    return &plugin;
}
