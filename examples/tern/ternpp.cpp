/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

// ternpp MODEL: passes, partition, memory and commands of ternc, in C++17.
#include <xir/xir.hpp>
#include <cinttypes>
#include <cstdio>
extern "C" {
#include "tern.h"
}
namespace own {
#define XIR_DEFS "tern.def"
#include <xir/traits.hpp>
}

static xir_status compile(xir::context &ctx, xir::network &net, xir_diags *why)
{
    xir::pipeline passes(ctx, xir_default_pipeline(), why);
    if (xir_status status = passes.add("fuse-to{class=tern::Conv}", ctx, why)) return status;
    if (xir_status status = passes.run(net, why)) return status;

    const xir_target *npu = xir_target_named(ctx, XIR_STR("tern"));
    xir_network_set_ai_target(net, npu);
    for (xir::op op : net.ops())
        if (xir_op_try(op, npu, nullptr) == XIR_OK) xir_op_set_target(op, npu);
    xir::groups parts(net, [](xir::op op) { return xir_target_row_of(xir_op_target(op))->accelerator ? 0 : -1; }, why);

    xir::functor<void(xir::op)> emit(ctx);
    emit.set<own::tern_conv>([](xir::op op) {
        std::printf("    CONV s%" PRId64, op.as<own::tern_conv>()->stride_width);
    });
    emit.set<xir::ops::max_pool2d>([](xir::op op) {
        std::printf("    POOL %" PRId64, op.as<xir::ops::max_pool2d>()->pool_width);
    });
    for (xir::members part : parts) {
        xir::network code = xir::outline(net, part);
        xir::liveness lives(code, true, why);
        if (!code || !lives) return XIR_E_INVALID;
        std::printf("tern: ; %zu ops, %" PRIu64 " bytes at least\n", part.size(), lives.peak());
        for (xir::op op : code.ops()) {
            if (auto *f = emit.of(op)) f(op);
            else std::printf("    ; %.*s", XIR_ARG(xir::str(op.key())));
            for (xir::value v : op.outputs())
                if (auto life = lives.of(v)) std::printf(" %" PRId64 "-%" PRId64, life->first, life->end);
            std::puts("");
        }
    }
    return XIR_OK;
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    xir::context ctx;
    xir::diags why(ctx);
    xir_status status = xir_plugin_add(ctx, xir_plugin_entry(), why);
    xir::network net = status ? xir::network() : xir::network::load(ctx, argv[1], why);
    if (!status) status = net ? compile(ctx, net, why) : XIR_E_IO;
    for (const xir_diag &d : why) xir_diag_print(&d, stderr);
    return status != XIR_OK;
}
