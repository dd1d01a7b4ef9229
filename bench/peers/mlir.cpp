/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* MLIR: a function of registered TOSA operations, tosa.conv2d and tosa.clamp in turn. Attributes are properties of
 * the operation; types and attributes are uniqued in a context that exists, with its dialects loaded, before the
 * clocks start. One thread. */
#include "../peer.h"

#include <mlir/Bytecode/BytecodeReader.h>
#include <mlir/Bytecode/BytecodeWriter.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/Tosa/IR/TosaOps.h>
#include <mlir/IR/Builders.h>
#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/MLIRContext.h>
#include <mlir/IR/PatternMatch.h>
#include <mlir/IR/PatternMatch.h>
#include <mlir/IR/Verifier.h>
#include <mlir/Parser/Parser.h>
#include <mlir/Transforms/GreedyPatternRewriteDriver.h>
#include <mlir/Transforms/WalkPatternRewriteDriver.h>
#include <mlir/Pass/PassManager.h>
#include <mlir/Transforms/Passes.h>
#include <mlir/Transforms/RegionUtils.h>

#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>

#include <fcntl.h>
#include <unistd.h>

#include <cfloat>
#include <cstdio>
#include <string>

namespace {

using namespace mlir;

/* The ways in which the chain is made. `Given` hands every operation its prepared type and attributes, which no
 * program can do faster. `Unique` does the same, but no two convolutions have the same padding. `Inferred` has numbers
 * and asks the operation for its type, as XIR's builder does. `Checked` also verifies each operation at once. */
enum class Style { Given, Unique, Inferred, Checked };

/* Two chains, as in bench/passes.c. */
enum class Two { Dead, Equal, EqualFar, Unequal };

struct Net {
    MLIRContext context{MLIRContext::Threading::DISABLED};
    size_t ops;
    OwningOpRef<ModuleOp> module, copy;
    Block *body = nullptr;
    std::string text;

    explicit Net(size_t n) : ops(n)
    {
        context.loadDialect<tosa::TosaDialect, func::FuncDialect>();
    }

    bool build(Style style);
    void build_two(Two how);
};

/* The type that `Op` infers for these operands. */
template <typename Op>
Type infer(MLIRContext *context, ValueRange operands, typename Op::Properties &properties,
           Type element)
{
    SmallVector<ShapedTypeComponents, 1> shapes;
    if (failed(Op::inferReturnTypeComponents(context, std::nullopt, operands, {}, &properties, {},
                                             shapes)) ||
        !shapes[0].hasRank())
        return {};
    return RankedTensorType::get(shapes[0].getDims(), element);
}

bool Net::build(Style style)
{
    OpBuilder b(&context);
    Location at = b.getUnknownLoc();
    Type f32 = b.getF32Type();
    auto image = RankedTensorType::get({1, 56, 56, 16}, f32);
    module = ModuleOp::create(at);
    b.setInsertionPointToEnd(module->getBody());
    auto kernel = RankedTensorType::get({16, 3, 3, 16}, f32);
    auto row = RankedTensorType::get({16}, f32), one = RankedTensorType::get({1}, f32);
    auto type = b.getFunctionType({image, kernel, row, one}, {image});
    auto function = func::FuncOp::create(b, at, "bench", type);
    body = function.addEntryBlock();
    b.setInsertionPointToStart(body);

    Value last = body->getArgument(0), weights = body->getArgument(1), bias = body->getArgument(2);
    Value zero = body->getArgument(3); /* a constant would cost the verifier 500 ns more an op */
    auto pad = b.getDenseI64ArrayAttr({1, 1, 1, 1});
    auto step = b.getDenseI64ArrayAttr({1, 1});
    auto acc = TypeAttr::get(f32);
    Attribute least = b.getF32FloatAttr(0), most = b.getF32FloatAttr(FLT_MAX);
    auto nan = tosa::NanPropagationModeAttr::get(&context, tosa::NanPropagationMode::PROPAGATE);

    bool typed = style == Style::Given || style == Style::Unique;
    for (size_t i = 0; i < ops; i++) {
        Operation *op;
        if (i % 2 == 0 && typed) {
            int64_t shift = static_cast<int64_t>(i);
            if (style == Style::Unique)
                pad = b.getDenseI64ArrayAttr({1, 1, 1 + shift, 1 - shift});
            op = tosa::Conv2DOp::create(b, at, image, last, weights, bias, zero, zero, pad, step,
                                        step, acc);
        } else if (i % 2 == 0) {
            tosa::Conv2DOp::Properties p;
            p.pad = b.getDenseI64ArrayAttr({1, 1, 1, 1});
            p.stride = b.getDenseI64ArrayAttr({1, 1});
            p.dilation = b.getDenseI64ArrayAttr({1, 1});
            p.acc_type = acc;
            Value operands[] = {last, weights, bias, zero, zero};
            Type result = infer<tosa::Conv2DOp>(&context, operands, p, f32);
            if (!result)
                return false;
            op = tosa::Conv2DOp::create(b, at, TypeRange(result), operands, p);
        } else if (typed) {
            op = tosa::ClampOp::create(b, at, image, last, least, most, nan);
        } else {
            tosa::ClampOp::Properties p;
            p.min_val = b.getF32FloatAttr(0);
            p.max_val = b.getF32FloatAttr(FLT_MAX);
            p.nan_mode = nan;
            Type result = infer<tosa::ClampOp>(&context, last, p, f32);
            if (!result)
                return false;
            op = tosa::ClampOp::create(b, at, TypeRange(result), ValueRange(last), p);
        }
        if (style == Style::Checked && failed(verify(op)))
            return false;
        last = op->getResult(0);
    }
    func::ReturnOp::create(b, at, last);
    return true;
}

void Net::build_two(Two how)
{
    OpBuilder b(&context);
    Location at = b.getUnknownLoc();
    Type f32 = b.getF32Type();
    auto image = RankedTensorType::get({1, 56, 56, 16}, f32);
    module = ModuleOp::create(at);
    b.setInsertionPointToEnd(module->getBody());
    auto kernel = RankedTensorType::get({16, 3, 3, 16}, f32);
    auto row = RankedTensorType::get({16}, f32), one = RankedTensorType::get({1}, f32);
    auto type = b.getFunctionType({image, kernel, row, one}, {image});
    auto function = func::FuncOp::create(b, at, "bench", type);
    body = function.addEntryBlock();
    b.setInsertionPointToStart(body);
    Value weights = body->getArgument(1), bias = body->getArgument(2), zero = body->getArgument(3);
    auto unit = b.getDenseI64ArrayAttr({1, 1});
    auto acc = TypeAttr::get(f32);
    Attribute least = b.getF32FloatAttr(0), most = b.getF32FloatAttr(FLT_MAX);
    auto nan = tosa::NanPropagationModeAttr::get(&context, tosa::NanPropagationMode::PROPAGATE);
    auto step = [&](Value x, size_t i, int64_t shift) -> Value {
        if (i % 2)
            return tosa::ClampOp::create(b, at, image, x, least, most, nan);
        auto pad = b.getDenseI64ArrayAttr({1, 1, 1 + shift, 1 - shift});
        return tosa::Conv2DOp::create(b, at, image, x, weights, bias, zero, zero, pad, unit, unit, acc);
    };
    Value first = body->getArgument(0), second = first;
    for (size_t i = 0; i < ops / 2; i++) {
        auto n = static_cast<int64_t>(i);
        first = step(first, i, how == Two::Unequal ? n : 0);
        if (how != Two::EqualFar)
            second = step(second, i, how == Two::Unequal ? -1 - n : 0);
    }
    for (size_t i = 0; how == Two::EqualFar && i < ops / 2; i++)
        second = step(second, i, 0);
    if (how != Two::Dead)
        first = tosa::AddOp::create(b, at, image, first, second);
    func::ReturnOp::create(b, at, first);
}

void *empty_setup(const bench_input *in)
{
    auto *net = new Net(in->ops);
    size_t ops = net->ops;
    net->ops = 2; /* so that the attributes and types exist, and code is paged in */
    bool built = net->build(Style::Checked);
    net->ops = ops;
    return built ? net : nullptr;
}

void *built_setup(const bench_input *in)
{
    auto *net = new Net(in->ops);
    return net->build(Style::Given) ? net : nullptr;
}

void *printed_setup(const bench_input *in)
{
    auto *net = static_cast<Net *>(built_setup(in));
    if (!net)
        return nullptr;
    llvm::raw_string_ostream os(net->text);
    net->module->print(os);
    net->module = {};
    return net;
}

template <Style style>
bool build_run(void *state, bench_result *out)
{
    auto *net = static_cast<Net *>(state);
    if (!net->build(style))
        return false;
    out->count = net->ops;
    return true;
}

bool verify_run(void *state, bench_result *out)
{
    auto *net = static_cast<Net *>(state);
    out->count = failed(verify(*net->module)); /* findings */
    return out->count == 0;
}

bool clone_run(void *state, bench_result *out)
{
    auto *net = static_cast<Net *>(state);
    net->copy = net->module->clone();
    out->count = net->ops;
    return true;
}

/* Every clamp is erased; its users read its input. */
bool erase_run(void *state, bench_result *out)
{
    auto *net = static_cast<Net *>(state);
    for (Operation &op : llvm::make_early_inc_range(*net->body))
        if (auto clamp = dyn_cast<tosa::ClampOp>(op)) {
            clamp.getOutput().replaceAllUsesWith(clamp.getInput());
            clamp.erase();
            out->count++;
        }
    return true;
}

template <Two how>
void *two_setup(const bench_input *in)
{
    auto *net = new Net(in->ops);
    net->build_two(how);
    return net;
}

size_t count_ops(Net *net)
{
    size_t n = 0;
    for (Operation &op : *net->body)
        n += &op != nullptr;
    return n;
}

template <std::unique_ptr<Pass> (*make)()>
bool pass_run(void *state, bench_result *out)
{
    auto *net = static_cast<Net *>(state);
    PassManager manager(&net->context);
    manager.enableVerifier(false);
    manager.addNestedPass<func::FuncOp>(make());
    out->count = net->ops;
    return succeeded(manager.run(*net->module));
}

bool region_dce_run(void *state, bench_result *out)
{
    auto *net = static_cast<Net *>(state);
    IRRewriter rewriter(&net->context);
    out->count = net->ops;
    return succeeded(runRegionDCE(rewriter, net->module->getOperation()->getRegions()));
}

bool dce_check(void *state)
{
    auto *net = static_cast<Net *>(state);
    return count_ops(net) == net->ops / 2 + 1;
}

bool cse_check(void *state)
{
    auto *net = static_cast<Net *>(state);
    return count_ops(net) == net->ops / 2 + 2;
}

bool free_run(void *state, bench_result *out)
{
    auto *net = static_cast<Net *>(state);
    net->module = {};
    out->count = net->ops;
    return true;
}

/* A clamp after a convolution that only it uses becomes an attribute of the convolution, and the network half as
 * long. */
struct FuseClamp : OpRewritePattern<tosa::ClampOp> {
    using OpRewritePattern::OpRewritePattern;

    LogicalResult matchAndRewrite(tosa::ClampOp clamp, PatternRewriter &rewriter) const override
    {
        auto conv = clamp.getInput().getDefiningOp<tosa::Conv2DOp>();
        if (!conv || !conv->hasOneUse() || conv.getOutput().getType() != clamp.getOutput().getType())
            return failure();
        rewriter.modifyOpInPlace(conv, [&] { conv->setDiscardableAttr("clamp", clamp.getMaxValAttr()); });
        rewriter.replaceOp(clamp, conv.getOutput());
        return success();
    }
};

/* The patterns, frozen, also exist before the clocks start. */
struct Fusing : Net {
    std::unique_ptr<FrozenRewritePatternSet> patterns;

    explicit Fusing(size_t n) : Net(n)
    {
        RewritePatternSet set(&context);
        set.add<FuseClamp>(&context);
        patterns = std::make_unique<FrozenRewritePatternSet>(std::move(set));
    }
};

void *fuse_setup(const bench_input *in)
{
    auto *net = new Fusing(in->ops);
    return net->build(Style::Given) ? net : nullptr;
}

template <bool greedy>
bool fuse_run(void *state, bench_result *out)
{
    auto *net = static_cast<Fusing *>(state);
    if (!greedy)
        walkAndApplyPatterns(*net->module, *net->patterns);
    else if (failed(applyPatternsGreedily(*net->module, *net->patterns,
                                          GreedyRewriteConfig().enableFolding(false).enableConstantCSE(false))))
        return false;
    out->count = net->ops / 2;
    return true;
}

bool fuse_check(void *state)
{
    auto *net = static_cast<Fusing *>(state);
    size_t left = 0;
    net->module->walk([&](tosa::ClampOp) { left++; });
    return left == 0;
}

/* From each operation over its operands to their producers. */
bool walk_run(void *state, bench_result *out)
{
    auto *net = static_cast<Net *>(state);
    for (Operation &op : *net->body)
        for (Value v : op.getOperands())
            if (Operation *from = v.getDefiningOp())
                out->count += from->getNumResults();
            else
                out->count++;
    return true;
}

bool print_run(void *state, bench_result *out)
{
    auto *net = static_cast<Net *>(state);
    llvm::raw_string_ostream os(net->text);
    net->module->print(os);
    os.flush();
    out->bytes = net->text.size();
    out->count = net->ops;
    return true;
}

bool parse_run(void *state, bench_result *out)
{
    auto *net = static_cast<Net *>(state);
    net->module = parseSourceString<ModuleOp>(
        net->text, ParserConfig(&net->context, /*verifyAfterParse=*/false));
    if (!net->module)
        return false;
    out->bytes = net->text.size();
    net->module->walk([&](Operation *) { out->count++; });
    return true;
}

/* Bytecode is MLIR's own binary format. */
bool encode_run(void *state, bench_result *out)
{
    auto *net = static_cast<Net *>(state);
    llvm::raw_string_ostream os(net->text);
    if (failed(writeBytecodeToFile(*net->module, os)))
        return false;
    os.flush();
    out->bytes = net->text.size();
    out->count = net->ops;
    return true;
}

void *encoded_setup(const bench_input *in)
{
    auto *net = static_cast<Net *>(built_setup(in));
    bench_result ignored;
    if (!net || !encode_run(net, &ignored))
        return nullptr;
    net->module = {};
    return net;
}

bool decode_run(void *state, bench_result *out)
{
    auto *net = static_cast<Net *>(state);
    Block top;
    ParserConfig config(&net->context, /*verifyAfterParse=*/false);
    if (failed(readBytecodeFile(llvm::MemoryBufferRef(net->text, "bench"), &top, config)))
        return false;
    net->module = cast<ModuleOp>(&top.front());
    net->module->getOperation()->remove();
    out->bytes = net->text.size();
    net->module->walk([&](Operation *) { out->count++; });
    return true;
}

/* A file with resources, which is how MLIR keeps large constants: blobs that are read in place. */
struct SparseFile : llvm::raw_ostream {
    int fd;
    bool ok;
    uint64_t at = 0;

    explicit SparseFile(int file) : raw_ostream(/*unbuffered=*/true), fd(file), ok(file >= 0) {}
    void write_impl(const char *data, size_t size) override
    {
        ok = ok && files_put_sparse(fd, data, size);
        at += size;
    }
    uint64_t current_pos() const override { return at; }
};

struct OpenedFile {
    Net net{FILES_OPS};
    Block top;
    std::string path;
};

/* The first run makes the file. gcc 12 warns wrongly about the blobs' deleters, which are given. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
void *open_setup(const bench_input *in)
{
    auto *f = new OpenedFile;
    f->path = std::string(in->path) + "/sparse.mlirbc";
    if (access(f->path.c_str(), R_OK) == 0)
        return f;
    const char *zeros = files_zeros();
    Net made(FILES_OPS);
    if (!zeros || !made.build(Style::Given))
        return nullptr;
    Builder b(&made.context);
    auto type = RankedTensorType::get({FILES_MOST_MIB, 1024, 16, 16}, b.getF32Type());
    ArrayRef<char> bytes(zeros, static_cast<size_t>(FILES_MOST_MIB) << 20);
    for (int i = 0; i < FILES_PARAMS; i++) {
        std::string name = "large" + std::to_string(i);
        (*made.module)->setAttr(name, DenseResourceElementsAttr::get(
                                          type, name, UnmanagedAsmResourceBlob::allocateWithAlign(bytes, 64)));
    }
    SparseFile file(open(f->path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
    bool ok = succeeded(writeBytecodeToFile(*made.module, file)) && file.ok;
    return files_end_sparse(file.fd) && ok ? f : nullptr;
}
#pragma GCC diagnostic pop

bool open_run(void *state, bench_result *out)
{
    auto *f = static_cast<OpenedFile *>(state);
    auto buffer = llvm::MemoryBuffer::getFile(f->path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!buffer)
        return false;
    auto source = std::make_shared<llvm::SourceMgr>();
    source->AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
    if (failed(readBytecodeFile(source, &f->top, ParserConfig(&f->net.context, /*verifyAfterParse=*/false))))
        return false;
    f->top.front().walk([&](Operation *) { out->count++; });
    return true;
}

bool open_check(void *state)
{
    auto *f = static_cast<OpenedFile *>(state);
    auto large = dyn_cast_or_null<DenseResourceElementsAttr>(f->top.front().getAttr("large3"));
    return large && large.getData().size() == static_cast<size_t>(FILES_MOST_MIB) << 20;
}

void *touch_setup(const bench_input *in)
{
    void *f = open_setup(in);
    bench_result ignored;
    return f && open_run(f, &ignored) ? f : nullptr;
}

bool touch_run(void *state, bench_result *out)
{
    auto *f = static_cast<OpenedFile *>(state);
    auto large = dyn_cast_or_null<DenseResourceElementsAttr>(f->top.front().getAttr("large0"));
    if (!large)
        return false;
    out->bytes = large.getData().size();
    out->count = files_sum(large.getData().data(), out->bytes);
    return true;
}

#define ENCODE                                                                                     \
    0, built_setup, encode_run, nullptr, "writeBytecodeToFile into a string: MLIR's own bytes, of other length"
#define DECODE                                                                                     \
    0, encoded_setup, decode_run, nullptr,                                                         \
        "readBytecodeFile without verifying: MLIR's own bytes to a live module"

} // namespace

const bench_case mlir_cases[] = {
    {"build", "mlir", 0, empty_setup, build_run<Style::Given>, nullptr,
     "tosa ops with ready attributes and types; nothing inferred or checked"},
    {"build", "mlir-inferred", 0, empty_setup, build_run<Style::Inferred>, nullptr,
     "tosa ops, attributes from numbers, types from inferReturnTypeComponents"},
    {"build", "mlir-checked", 0, empty_setup, build_run<Style::Checked>, nullptr,
     "the same, and mlir::verify of each op as it is made"},
    {"build-unique", "mlir", 0, empty_setup, build_run<Style::Unique>, nullptr,
     "like build/mlir, but no two convolutions have the same padding"},
    {"validate", "mlir", 0, built_setup, verify_run, nullptr, "mlir::verify of the module"},
    {"clone", "mlir", 0, built_setup, clone_run, nullptr, "ModuleOp::clone"},
    {"erase", "mlir", 0, built_setup, erase_run, nullptr,
     "replaceAllUsesWith and erase of every clamp; time per op of the whole network"},
    {"pass-dce", "mlir", 0, two_setup<Two::Dead>, region_dce_run, dce_check, "runRegionDCE of the module"},
    {"pass-dce", "mlir-canonicalize", BENCH_SLOW, two_setup<Two::Dead>, pass_run<createCanonicalizerPass>, dce_check,
     "the pass canonicalize, which also looks for patterns"},
    {"pass-cse", "mlir", 0, two_setup<Two::Equal>, pass_run<createCSEPass>, cse_check, "the pass cse, without verifying"},
    {"pass-cse-far", "mlir", 0, two_setup<Two::EqualFar>, pass_run<createCSEPass>, cse_check, "the same"},
    {"pass-cse-nothing", "mlir", 0, two_setup<Two::Unequal>, pass_run<createCSEPass>, nullptr, "the same"},
    {"free", "mlir", 0, built_setup, free_run, nullptr, "destroys the module; the context stays"},
    {"pass-fuse", "mlir-walk", 0, fuse_setup, fuse_run<false>, fuse_check,
     "walkAndApplyPatterns: a clamp after a convolution becomes its attribute, in place; one pattern"},
    {"pass-fuse", "mlir-greedy", 0, fuse_setup, fuse_run<true>, fuse_check,
     "the same by applyPatternsGreedily, without folding"},
    {"walk", "mlir", BENCH_BY_EDGE, built_setup, walk_run, nullptr,
     "all operands of all ops (5 a conv2d), to their producers"},
    {"json-write", "mlir-text", BENCH_SLOW, built_setup, print_run, nullptr,
     "ModuleOp::print into a string: MLIR's own text, of other length"},
    {"json-read", "mlir-text", BENCH_SLOW, printed_setup, parse_run, nullptr,
     "parseSourceString without verifying: MLIR's own text to a live module"},
    {"flat-write", "mlir-bytecode", ENCODE},
    {"flat-read", "mlir-bytecode", DECODE},
    {"msgpack-write", "mlir-bytecode", ENCODE},
    {"msgpack-read", "mlir-bytecode", DECODE},
    {"load-lazy", "mlir-bytecode", BENCH_SPARSE, open_setup, open_run, open_check,
     "readBytecodeFile of a mapped file with resources of 4 GiB"},
    {"touch-lazy", "mlir-bytecode", BENCH_SPARSE | BENCH_BY_BYTE, touch_setup, touch_run, nullptr,
     "the sum of its first resource: 1 GiB of holes"},
    {},
};
