/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir.hpp, as a program uses it: built, walked, changed, saved, refused. Each story prints what failed and where. */
#include <xir/xir.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include "support/program.h"

namespace {

int failures;

void expect(bool holds, const char *what, int line)
{
    if (holds) return;
    std::printf("cpp.cpp:%d: expected: %s\n", line, what);
    failures++;
}
#define EXPECT(what) expect((what), #what, __LINE__)

/* image -> conv (3 -> 8) -> relu -> sum (relu + relu) -> output */
struct chain_net {
    xir::network net;
    xir::value   image, weights, conv, relu, sum;

    explicit chain_net(xir::context &ctx) : net(ctx, "chain")
    {
        xir::builder b = net.end();
        image = b.input("image", ctx.tensor(ctx.fp32(), "NHWC", { 1, 8, 8, 3 }));
        weights = b.params("weights", ctx.tensor(ctx.fp32(), "HWIO", { 3, 3, 3, 8 }));
        conv = b.named("conv").add<xir::ops::conv2d>({ image, weights }, [](auto &a) { a.stride_width = 2; });
        relu = b.scoped("tail/").named("relu").add<xir::ops::relu>({ conv });
        sum = b.scoped("tail/").named("sum").add<xir::ops::add>({ relu, relu });
        b.output({ sum });
    }
};

void types_say_what_they_are(xir::context &ctx)
{
    xir::type t = ctx.tensor(ctx.sint(8), "NCHW", { 1, -1, 5, 6 });
    EXPECT(t.rank() == 4 && t.dim(-1) == 6 && t.dim(1) < 0 && t.layout() == "NCHW");
    EXPECT(t.element() == ctx.sint(8) && t.element() != ctx.uint(8));
    EXPECT(t == ctx.tensor(ctx.sint(8), "NCHW", std::vector<std::int64_t>{ 1, -1, 5, 6 }));
    EXPECT(ctx.tensor(ctx.fp32(), "", { 2, 3 }).rank() == 2);
    EXPECT(ctx.fp32().kind() == XIR_TYPE_FLOAT && ctx.boolean().kind() == XIR_TYPE_BOOL);
    EXPECT(ctx.floating(XIR_FLOAT_BF16) != ctx.floating(XIR_FLOAT_FP16));
}

void empty_ones_answer_nothing(xir::context &)
{
    xir::type t;
    xir::value v;
    xir::op o;
    EXPECT(!t && t.rank() == 0 && t.dims().empty() && t.layout().empty() && !t.element());
    EXPECT(!v && v.name().empty() && !v.type() && !v.maker() && v.use_count() == 0 && v.uses().begin() == v.uses().end());
    EXPECT(!o && o.key().empty() && o.inputs().empty() && o.outputs().empty() && !o.next() && !o.input("weights"));
    EXPECT(!o.is<xir::ops::relu>() && !o.as<xir::ops::relu>() && !o.get<double>("alpha") && !o.has("alpha"));
    EXPECT(o.edit<xir::ops::relu>([](auto &) {}) == XIR_E_TYPE);
    xir::network none;
    EXPECT(!none && none.op_count() == 0 && none.ops().begin() == none.ops().end() && none.inputs().empty());
}

void ranges_go_over_all(xir::context &ctx)
{
    chain_net c(ctx);
    EXPECT(c.net.status() == XIR_OK && c.net.op_count() == 5);
    std::string names;
    for (xir::op op : c.net.ops()) names += std::string(op.name()) + ";";
    EXPECT(names == ";conv;tail/relu;tail/sum;;" || names == "image;conv;tail/relu;tail/sum;;");
    std::size_t positions = 0;
    for (xir::use u : c.relu.uses()) {
        EXPECT(u.user() == c.sum.maker());
        positions += u.index() + 1;
    }
    EXPECT(positions == 3 && c.relu.use_count() == 2);
    xir::op conv = c.conv.maker();
    EXPECT(conv.inputs().size() >= 2 && conv.inputs()[0] == c.image && conv.input("weights") == c.weights);
    EXPECT(conv.outputs().size() == 1 && *conv.outputs().begin() == c.conv && conv.next() == c.relu.maker());
    EXPECT(c.net.inputs().size() == 1 && c.net.outputs().size() == 1 && c.net.params().size() == 1);
    EXPECT(c.net.params()[0] == c.weights && c.weights.is_params() && c.weights.name() == "weights");
    EXPECT(c.net.op_by_id(conv.id()) == conv && c.net.op_by_name("tail/relu") == c.relu.maker());
    EXPECT(c.net.value_by_id(c.sum.id()) == c.sum && !c.net.op_by_name("nobody"));
}

void attributes_have_their_kinds(xir::context &ctx)
{
    chain_net c(ctx);
    xir::op conv = c.conv.maker(), relu = c.relu.maker();
    EXPECT(conv.get<std::int64_t>("stride_width") == 2 && conv.get<int>("stride_height") == 1);
    EXPECT(conv.get<double>("stride_width") == 2.0 && !conv.get<bool>("stride_width"));
    EXPECT(conv.get<std::string_view>("padding_mode") == "ZEROS" && !conv.get<double>("no_such"));
    EXPECT(conv.has("groups") && !conv.has("no_such"));
    /* A member that is left out has its default: an infinite maximum, not 0. */
    EXPECT(relu.as<xir::ops::relu>() && relu.as<xir::ops::relu>()->max_value > 1e30);
    EXPECT(relu.set("alpha", 0.5) == XIR_OK && relu.get<double>("alpha") == 0.5);
    EXPECT(conv.set("padding_mode", "REFLECT") == XIR_OK && conv.get<std::string_view>("padding_mode") == "REFLECT");
    EXPECT(conv.set("pad_left", 1) == XIR_OK && conv.get<int>("pad_left") == 1);
    EXPECT(conv.set("pad_left", "one") == XIR_E_TYPE && conv.set("pad_lef", 1) == XIR_E_UNKNOWN);
    EXPECT(relu.edit<xir::ops::relu>([](auto &a) { a.alpha = 0.25; }) == XIR_OK);
    EXPECT(relu.as<xir::ops::relu>()->alpha == 0.25 && !relu.as<xir::ops::conv2d>());
    EXPECT(relu.edit<xir::ops::conv2d>([](auto &) {}) == XIR_E_TYPE);

    xir::builder b = c.net.end().before(c.net.ops().begin() == c.net.ops().end() ? nullptr : c.sum.maker());
    xir::value turned = b.add<xir::ops::transpose>({ c.relu }, [&](auto &a) {
        static const std::int64_t order[] = { 0, 3, 1, 2 };
        a.dims = { order, 4 };
        a.layout = xir_layout_parse(ctx, XIR_STR("NCHW"), nullptr);
    });
    const std::vector<std::int64_t> order = { 0, 3, 1, 2 };
    EXPECT(turned && turned.maker().get<std::vector<std::int64_t>>("dims") == order);
    EXPECT(turned.maker().next() == c.sum.maker());
}

void a_loop_may_remove_what_it_is_at(xir::context &ctx)
{
    chain_net c(ctx);
    for (xir::op op : c.net.ops()) {
        if (!op.is<xir::ops::relu>()) continue;
        EXPECT(op.output().replace_with(op.input(0)) == XIR_OK);
        EXPECT(op.erase() == XIR_OK && !op);
    }
    EXPECT(c.net.op_count() == 4 && c.conv.use_count() == 2 && c.net.validate() == XIR_OK);
}

void failures_are_kept(xir::context &ctx)
{
    xir::network net(ctx, "wrong");
    xir::builder b = net.end();
    const int line = __LINE__ - 1;
    xir::value x = b.input("x", ctx.tensor(ctx.fp32(), "NHWC", { 1, 8, 8, 3 }));
    xir::value w = b.params("w", ctx.tensor(ctx.fp32(), "HWIO", { 3, 3, 4, 8 }));
    xir::value y = b.named("conv").add<xir::ops::conv2d>({ x, w });
    EXPECT(!y && !b.add<xir::ops::relu>({ y }) && net.status() != XIR_OK);
    EXPECT(xir_diags_count(net.findings()) == 1);
    const xir_diag *finding = xir_diags_at(net.findings(), 0);
    EXPECT(finding && xir::view(finding->file).find("cpp.cpp") != std::string_view::npos);
    EXPECT(finding && finding->line == static_cast<std::uint32_t>(line));

    /* More inputs than there are ports. */
    xir::network many(ctx, "many");
    x = many.end().input("x", ctx.tensor(ctx.fp32(), "*", { 1 }));
    EXPECT(!many.end().add<xir::ops::relu>({ x, x }) && many.status() != XIR_OK);
    EXPECT(xir_diags_count(many.findings()) == 1);
}

void files_and_passes_and_runs(xir::context &ctx)
{
    char folder[] = "/tmp/xir-cpp-XXXXXX";
    EXPECT(mkdtemp(folder) != nullptr);
    const std::string path = std::string(folder) + "/chain.fb";
    xir::diags        why(ctx);
    chain_net         c(ctx);
    EXPECT(xir_params_fill_f32(c.weights, [](std::size_t i) { return static_cast<float>(i % 7); }) == XIR_OK);
    EXPECT(c.net.save(path, why) == XIR_OK && why.empty());
    xir::network back = xir::network::load(ctx, path, why);
    EXPECT(back && xir_network_equal(c.net, back, true) && xir_network_equal(back.clone(), back, true));
    EXPECT(!xir::network::load(ctx, path + ".not", why) && why.size() == 1);
    for (const xir_diag &finding : why) EXPECT(finding.code == XIR_E_IO && finding.message.size > 0);
    why.clear();
    EXPECT(why.empty());

    xir::array image(xir_array_random(ctx, c.image.type(), 1, why));
    std::vector<xir::array> before = c.net.run({ image }, why);
    EXPECT(c.net.optimize("identity,merge,fold,cse,dce", why) == XIR_OK);
    EXPECT(c.net.optimize("no-such-pass", why) != XIR_OK && !why.empty());
    std::vector<xir::array> after = c.net.run({ image });
    EXPECT(before.size() == 1 && after.size() == 1 && before[0].reals() == after[0].reals());
    EXPECT(!before[0].reals().empty() && c.net.run({}).empty());

    xir::network moved = std::move(back);
    EXPECT(moved && !back);
    xir_network_free(moved.release());
    EXPECT(!moved);
    std::remove(path.c_str());
    std::remove(folder);
}

/* Handles of passes: they run, prove, and are empty after a failure. */
void pipelines_run_and_prove(xir::context &ctx)
{
    xir::diags why(ctx);
    chain_net  c(ctx);
    EXPECT(xir_params_fill_f32(c.weights, [](std::size_t i) { return static_cast<float>(i % 5) - 2; }) == XIR_OK);
    xir::pipeline passes(ctx, "identity,fold", why);
    EXPECT(passes && passes.add("dce", ctx, why) == XIR_OK && passes.add("no-such-pass", ctx, why) != XIR_OK);
    EXPECT(!why.empty());
    why.clear();
    xir::proof same(ctx, why);
    EXPECT(passes.prove(c.net, same, why) == XIR_OK && why.empty());
    EXPECT(same.state().networks >= 1 && same.check(c.net) == XIR_OK);
    EXPECT(passes.run(c.net) == XIR_OK);
    xir::pipeline none(ctx, "no-such-pass", why);
    EXPECT(!none && none.run(c.net) == XIR_E_INVALID && xir::pipeline(ctx));
}

void networks_are_divided(xir::context &ctx)
{
    chain_net   c(ctx);
    int         asked = 0;
    xir::groups parts(c.net, [&asked](xir::op o) {
        return asked++, o.is<xir::ops::conv2d>() || o.is<xir::ops::relu>() ? 0 : -1;
    });
    EXPECT(parts && parts.size() == 1 && asked > 0);
    std::string names;
    for (xir::members part : parts)
        for (xir::op o : part) names += std::string(o.name()) + ";";
    EXPECT(names == "conv;tail/relu;" && parts[0].size() == 2 && parts[1].empty());
    xir::network code = xir::outline(c.net, parts[0]);
    EXPECT(code && code.op_count() == 4);
    xir::liveness lives(c.net), apart(c.net, false);
    auto life = lives.of(c.relu);
    EXPECT(life && life->bytes == 6 * 3 * 8 * 4 && life->end > life->first);
    EXPECT(!lives.of(c.weights) && lives.peak() > 0 && lives.peak() <= apart.peak());
}

void patterns_are_composed(xir::context &ctx)
{
    chain_net   c(ctx);
    xir::parts  of(ctx);
    xir_part   *x = of.any(), *y = of.any();
    xir_part   *root = of.op<xir::ops::add>({ x, y }, [](xir_pattern_row &row) { row.commutes = true; });
    xir::pattern sums = of.pattern("sum", root);
    EXPECT(sums);
    int found = 0;
    sums.each(c.net, [&](const xir_match &m) { found += xir_match_part_value(&m, x) == c.relu; });
    EXPECT(found == 1);
    std::size_t n = 7;
    EXPECT(sums.rewrite(c.net, [](const xir_match &, xir::builder) { return xir::value(); }, &n) == XIR_OK && n == 0);
    EXPECT(sums.rewrite(c.net, [&](const xir_match &m, xir::builder b) {
        return b.add<xir::ops::multiply>({ xir_match_part_value(&m, x), xir_match_part_value(&m, y) });
    }, &n) == XIR_OK && n == 1);
    EXPECT(c.net.op_by_name("tail/sum").is<xir::ops::multiply>());
    xir::diags why(ctx);
    EXPECT(!of.pattern("none", nullptr, true, why) && !why.empty());
}

void ops_are_created_by_name(xir::context &ctx)
{
    chain_net c(ctx);
    xir::op   pool = c.net.create("icraft::xir::MaxPool2d");
    EXPECT(pool && pool.is_draft() && pool.outputs().empty());
    EXPECT(pool.set("pool_width", 2) == XIR_OK && pool.add_input(c.relu) == XIR_OK);
    EXPECT(pool.place(c.sum.maker()) == XIR_E_MISSING && pool.is_draft());
    EXPECT(pool.set("pool_height", 2) == XIR_OK && pool.place(c.sum.maker()) == XIR_OK && !pool.is_draft());
    xir::value v = c.net.make_value("v", c.relu.type());
    EXPECT(v && !v.maker() && pool.set_output(0, v) == pool.output() && pool.output().name() == "v");
    EXPECT(!c.net.create("icraft::xir::MaxPool") && c.net.status() != XIR_OK);
}

void functions_are_chosen_by_class(xir::context &ctx)
{
    chain_net                            c(ctx);
    xir::functor<std::size_t(xir::op)>   count(ctx);
    EXPECT(!count.of(c.relu.maker()));
    EXPECT(count.set<xir::ops::conv2d>([](xir::op o) { return o.inputs().size(); }) == XIR_OK);
    EXPECT(count.set_trait(XIR_TRAIT_ACTIVATION, [](xir::op) { return std::size_t(10); }) == XIR_OK);
    EXPECT(count.set_rest([](xir::op) { return std::size_t(100); }) == XIR_OK);
    std::size_t sum = 0;
    for (xir::op o : c.net.ops()) sum += count.of(o)(o);
    EXPECT(sum == 100 + 2 + 10 + 100 + 100);
    EXPECT(!count.of(nullptr) && c.relu.maker().has_trait(XIR_TRAIT_ACTIVATION));
}

}

GROUP
{
    xir::context ctx;
    if (!ctx) return 2;
    void (*const stories[])(xir::context &) = {
        types_say_what_they_are, empty_ones_answer_nothing, ranges_go_over_all, attributes_have_their_kinds,
        a_loop_may_remove_what_it_is_at, failures_are_kept, files_and_passes_and_runs,
        pipelines_run_and_prove, networks_are_divided, patterns_are_composed, ops_are_created_by_name,
        functions_are_chosen_by_class,
    };
    for (auto *story : stories) story(ctx);
    std::printf("%d failures\n", failures);
    return failures != 0;
}
