/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The first program in C++17: a small network is built, looked at, changed, saved and loaded again.
 *
 *     c++ -std=c++17 quickstart.cpp $(pkg-config --cflags --libs xir) -o quickstart && ./quickstart
 *
 * It writes tiny.fb into the current folder. */
#include <xir/xir.hpp>

#include <cstdio>

/* Each call gives the value that the new operation makes; its type is inferred. Nothing has to be checked on the way:
 * after a failure the calls do nothing, and the network's status reports it at the end. */
static xir::network build(xir::context &ctx)
{
    xir::network net(ctx, "tiny");
    xir::builder b = net.end();
    const float ones[3 * 3 * 3 * 8] = { 1 };

    xir::value x = b.input("image", ctx.tensor(ctx.fp32(), "NHWC", { 1, 32, 32, 3 }));
    xir::value w = b.params("weights", ctx.tensor(ctx.fp32(), "HWIO", { 3, 3, 3, 8 }), ones, sizeof ones);
    xir::builder stem = b.scoped("stem/");
    x = stem.named("conv").add<xir::ops::conv2d>({ x, w }, [](auto &a) {
        a.stride_width = a.stride_height = 2;
        a.pad_left = a.pad_right = a.pad_top = a.pad_bottom = 1;
    });
    x = stem.named("act").add<xir::ops::relu>({ x }, [](auto &a) { a.alpha = 0.125; });
    b.output({ x });
    return net;
}

static void print(const xir::network &net)
{
    for (xir::op op : net.ops()) {
        std::printf("%.*s '%.*s':", (int)op.key().size(), op.key().data(), (int)op.name().size(), op.name().data());
        for (xir::value v : op.outputs()) {
            for (std::int64_t dim : v.type().dims()) std::printf(" %lld", (long long)dim);
            std::printf(", used %zu times", v.use_count());
        }
        std::puts("");
    }
}

int main()
{
    xir::context ctx;
    xir::diags why(ctx);
    xir::network net = build(ctx);
    if (net.status() != XIR_OK) return xir_diags_print(net.findings(), stderr), 1;

    /* An attribute by its name, and through the struct of its class. */
    xir::op act = net.op_by_name("stem/act");
    std::printf("alpha is %g", act.get<double>("alpha").value_or(0));
    act.edit<xir::ops::relu>([](auto &a) { a.alpha = 0.25; });
    std::printf(" and becomes %g\n", act.as<xir::ops::relu>()->alpha);
    print(net);

    if (net.save("tiny.fb", why) != XIR_OK) return xir_diags_print(why, stderr), 1;
    xir::network back = xir::network::load(ctx, "tiny.fb", why);
    bool same = back && xir_network_equal(net, back, true);
    std::printf("tiny.fb holds %s network\n", same ? "the same" : "another");
    for (const xir_diag &finding : why) xir_diag_print(&finding, stderr);
    return same ? 0 : 1;
}
