/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The chain of graph.c, built through xir.hpp. */
#include <xir/xir.hpp>

#include <cstdio>

extern "C" xir_network *graph_make_cpp(xir_context *ctx, std::size_t ops, const void *data, std::size_t size);

xir_network *graph_make_cpp(xir_context *ctx, std::size_t ops, const void *data, std::size_t size)
{
    const xir::type f32 = xir_type_float(ctx, XIR_FLOAT_FP32);
    xir::network    net(ctx, "bench", XIR_FRAMEWORK_PYTORCH, "1.9");
    if (!net)
        return nullptr;

    xir::builder b = net.end();
    xir::value   last = b.input("", XIR_TENSOR(ctx, f32, "NHWC", 1, 56, 56, 16));
    xir::value   w = b.params("", XIR_TENSOR(ctx, f32, "HWIO", 3, 3, 16, 16));
    if (w)
        xir_params_set_borrow(w, data, size, nullptr, nullptr);
    for (std::size_t i = 0; i < ops; i++) {
        if (i % 2 == 0)
            last = b.add<xir::ops::conv2d>({ last, w }, [](auto &a) {
                a.stride_width = a.stride_height = 1;
                a.dilation_width = a.dilation_height = 1;
                a.pad_top = a.pad_bottom = 1;
                a.pad_left = 1;
                a.pad_right = 1;
                a.groups = 1;
                a.padding_mode = XIR_PADDING_ZEROS;
            });
        else
            last = b.add<xir::ops::relu>({ last }, [](auto &a) { a.alpha = 0; });
    }
    b.output({ last });
    if (net.status() == XIR_OK)
        return net.release();
    xir_diags_print(net.findings(), stderr);
    return nullptr;
}
