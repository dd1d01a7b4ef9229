/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The official FlatBuffers library, with the code that its compiler makes of docs/xir.fbs. Its builder gets the
 * numbers of the chain and shares what XIR shares: types, places, targets, and each value among its uses. Its
 * objects (--gen-object-api) are for programs that change what they have read; objects own their parts, so they
 * share nothing. */
#include "../peer.h"

#include <xir_generated.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::Verifier;

/* An operation, before it is written. */
struct Op {
    bool conv;
    int64_t height, width, pad_top, pad_bottom, pad_left, pad_right;
    int64_t op_id, input, weights, output;
};

struct Param {
    int64_t v_id;
    int64_t height, width;
    const char *data;
    size_t size;
};

struct Chain {
    std::vector<Op> ops;
    std::vector<Param> params;

    void add(const Op &op) { ops.push_back(op); }
};

/* The chain of text.c. */
Chain chain_of(size_t n)
{
    Chain c;
    c.params.push_back({1, 3, 3, nullptr, 0});
    int64_t last = 0;
    for (size_t i = 0; i < n; i++) {
        auto at = static_cast<int64_t>(i);
        c.add({i % 2 == 0, 3, 3, 1, 1, 1, 1, at + 1, last, 0, at + 2});
        last = at + 2;
    }
    return c;
}

using Tags = std::vector<uint8_t>;

/* Writes networks with the builder. Offsets of shared parts are kept; values by their place in the chain, where 0 is
 * the input. */
class Writer {
public:
    explicit Writer(FlatBufferBuilder &builder) : b(builder) {}

    void write(const Chain &chain)
    {
        begin();
        for (const Param &p : chain.params)
            params.push_back(param(p));
        ops_types.reserve(chain.ops.size() + 2);
        ops.reserve(chain.ops.size() + 2);

        Offset<void> last = value(0);
        auto none = types({});
        auto no_values = values({});
        auto one = types({fbs::Value_box_Value});
        auto two = types({fbs::Value_box_Value, fbs::Value_box_Params});
        add(fbs::Operation_box_Input,
            fbs::CreateInput(b, 0, empty, none, no_values, one, values({last}),
                             fbs::CompileTarget_box_HostTarget, host, tags)
                .Union());
        for (const Op &op : chain.ops) {
            Offset<void> result = value(op.output);
            if (op.conv)
                add(fbs::Operation_box_Conv2d,
                    fbs::CreateConv2d(b, 1, 1, op.pad_top, op.pad_bottom, op.pad_left, op.pad_right, 1, 1,
                                      1, zeros, fbs::QuantizedScaleArray_box_QuantizedScaleArray, scales,
                                      op.op_id, empty, two,
                                      values({last, params[static_cast<size_t>(op.weights)]}), one,
                                      values({result}), fbs::CompileTarget_box_HostTarget, host, tags)
                        .Union());
            else
                add(fbs::Operation_box_ReLU,
                    fbs::CreateReLU(b, 0, std::numeric_limits<float>::infinity(), 0, op.op_id, empty,
                                    one, values({last}), one, values({result}),
                                    fbs::CompileTarget_box_HostTarget, host, tags)
                        .Union());
            last = result;
        }
        add(fbs::Operation_box_Output,
            fbs::CreateOutput(b, static_cast<int64_t>(chain.ops.size()) + 1, empty, one, values({last}),
                              none, no_values, fbs::CompileTarget_box_HostTarget, host, tags)
                .Union());
        finish();
    }

private:
    FlatBufferBuilder &b;
    Offset<flatbuffers::String> empty, tags, zeros;
    Offset<void> host, place, f32, image, scales;
    Offset<fbs::Layout> hwio;
    std::vector<Offset<void>> params, ops;
    Tags ops_types;

    Offset<flatbuffers::Vector<uint8_t>> types(std::initializer_list<uint8_t> list)
    {
        return b.CreateVector(list.begin(), list.size());
    }

    Offset<flatbuffers::Vector<Offset<void>>> values(std::initializer_list<Offset<void>> list)
    {
        return b.CreateVector(list.begin(), list.size());
    }

    Offset<fbs::Layout> layout(const char *names)
    {
        std::vector<Offset<void>> axes;
        for (const char *c = names; *c; c++)
            axes.push_back(fbs::CreateAxisName(b, b.CreateString(c, 1)).Union());
        Tags kinds(axes.size(), fbs::AxisName_box_AxisName);
        return fbs::CreateLayout(b, b.CreateVector(kinds), b.CreateVector(axes));
    }

    Offset<void> tensor(std::initializer_list<int64_t> shape, Offset<fbs::Layout> order)
    {
        auto no_distrs = b.CreateVector(std::vector<Offset<fbs::MergedAxisDistr>>());
        return fbs::CreateTensorType(b, fbs::ScalarType_box_FloatType, f32,
                                     b.CreateVector(shape.begin(), shape.size()), order, no_distrs)
            .Union();
    }

    void begin()
    {
        empty = b.CreateString("");
        tags = b.CreateString("{}");
        zeros = b.CreateString("ZEROS");
        host = fbs::CreateHostTarget(b).Union();
        place = fbs::CreateHostMem(b).Union();
        f32 = fbs::CreateFloatType(b, 127, -126, 24, 32).Union();
        scales = fbs::CreateQuantizedScaleArray(b, -1, b.CreateVector(std::vector<float>())).Union();
        image = tensor({1, 56, 56, 16}, layout("NHWC"));
        hwio = layout("HWIO");
    }

    Offset<void> value(int64_t v_id)
    {
        return fbs::CreateValue(b, v_id, empty, tags, fbs::DataType_box_TensorType, image,
                                fbs::MemType_box_HostMem, place)
            .Union();
    }

    Offset<void> param(const Param &p)
    {
        Offset<flatbuffers::Vector<uint8_t>> data = 0;
        if (p.data)
            data = b.CreateVector(reinterpret_cast<const uint8_t *>(p.data), p.size);
        return fbs::CreateParams(b, false, p.v_id, empty, tags, fbs::DataType_box_TensorType,
                                 tensor({p.height, p.width, 16, 16}, hwio), fbs::MemType_box_HostMem,
                                 place, data)
            .Union();
    }

    void add(uint8_t type, Offset<void> op)
    {
        ops_types.push_back(type);
        ops.push_back(op);
    }

    void finish()
    {
        auto kinds = b.CreateVector(ops_types);
        auto tables = b.CreateVector(ops);
        auto buyi = fbs::CreateBuyiTarget(b).Union();
        b.Finish(fbs::CreateNetwork(b, b.CreateString("bench"), b.CreateString("PYTORCH"),
                                    b.CreateString("1.9"), b.CreateString("3.33.1.0"),
                                    b.CreateString("v3.33.1"), 0,
                                    b.CreateString("d41d8cd98f00b204e9800998ecf8427e"), tags, kinds, tables,
                                    fbs::CompileTarget_box_BuyiTarget, buyi));
    }
};

struct Flat {
    const bench_input *in = nullptr;
    Chain chain;
    FlatBufferBuilder builder{1 << 20};
    const uint8_t *data = nullptr;
    size_t size = 0;
    fbs::NetworkT network;
    std::string path;
};

/* The library's default limit is a million tables. */
bool verify(const Flat *f)
{
    Verifier v(f->data, f->size, 128, std::numeric_limits<flatbuffers::uoffset_t>::max());
    return v.VerifyBuffer<fbs::Network>(nullptr);
}

/* ---- writing ---------------------------------------------------------------------------------- */

void *build_setup(const bench_input *in)
{
    auto *f = new Flat;
    f->in = in;
    f->chain = chain_of(in->ops);
    return f;
}

bool build_run(void *state, bench_result *out)
{
    auto *f = static_cast<Flat *>(state);
    f->builder.Clear();
    Writer(f->builder).write(f->chain);
    out->bytes = f->builder.GetSize();
    out->count = f->chain.ops.size() + 2;
    return true;
}

/* A builder that already has the memory. */
void *rebuild_setup(const bench_input *in)
{
    void *f = build_setup(in);
    bench_result ignored;
    return build_run(f, &ignored) ? f : nullptr;
}

bool build_check(void *state)
{
    auto *f = static_cast<Flat *>(state);
    f->data = f->builder.GetBufferPointer();
    f->size = f->builder.GetSize();
    return verify(f) && bytes_same(f->in, "fb", f->data, f->size);
}

void *bytes_setup(const bench_input *in)
{
    auto *f = new Flat;
    f->in = in;
    f->data = reinterpret_cast<const uint8_t *>(bytes_make(in, "fb", &f->size));
    return f->data ? f : nullptr;
}

void *objects_setup(const bench_input *in)
{
    auto *f = static_cast<Flat *>(bytes_setup(in));
    if (!f)
        return nullptr;
    fbs::GetNetwork(f->data)->UnPackTo(&f->network);
    return f;
}

bool pack_run(void *state, bench_result *out)
{
    auto *f = static_cast<Flat *>(state);
    f->builder.Finish(fbs::Network::Pack(f->builder, &f->network));
    out->bytes = f->builder.GetSize();
    out->count = f->network.ops.size();
    return true;
}

bool pack_check(void *state)
{
    auto *f = static_cast<Flat *>(state);
    return bytes_same(f->in, "fb", f->builder.GetBufferPointer(), f->builder.GetSize());
}

/* ---- reading ---------------------------------------------------------------------------------- */

bool verify_run(void *state, bench_result *out)
{
    auto *f = static_cast<Flat *>(state);
    out->bytes = f->size;
    out->count = !verify(f); /* findings */
    return out->count == 0;
}

bool unpack_run(void *state, bench_result *out)
{
    auto *f = static_cast<Flat *>(state);
    if (!verify(f))
        return false;
    fbs::GetNetwork(f->data)->UnPackTo(&f->network);
    out->bytes = f->size;
    out->count = f->network.ops.size();
    return true;
}

/* Reads every field of the classes in the chain. */
struct Walk {
    uint64_t sum = 0;
    bool known = true;

    void text(const flatbuffers::String *s)
    {
        if (s && s->size())
            sum += static_cast<uint8_t>((*s)[0]);
    }
    void number(int64_t n) { sum += static_cast<uint64_t>(n); }
    void number(float f)
    {
        uint32_t bits;
        std::memcpy(&bits, &f, sizeof bits);
        sum += bits;
    }

    void layout(const fbs::Layout *l)
    {
        if (!l || !l->axis_names())
            return;
        for (flatbuffers::uoffset_t i = 0; i < l->axis_names()->size(); i++)
            if (l->axis_names_type()->Get(i) == fbs::AxisName_box_AxisName)
                text(l->axis_names()->GetAs<fbs::AxisName>(i)->name());
            else
                number(static_cast<int64_t>(l->axis_names()->GetAs<fbs::AxisUnit>(i)->unit()));
    }
    void tensor(const fbs::TensorType *t)
    {
        if (!t)
            return;
        if (auto *f = t->element_dtype_as_FloatType())
            number(f->emax() + f->emin() + static_cast<int64_t>(f->precision() + f->fbits()));
        else
            known = false;
        if (t->shape())
            for (int64_t dim : *t->shape())
                number(dim);
        layout(t->layout());
        if (t->merged_distrs() && t->merged_distrs()->size())
            known = false;
    }
    template <typename V>
    void value(const V *v)
    {
        number(v->v_id());
        text(v->name());
        text(v->tags());
        if (v->dtype_type() == fbs::DataType_box_TensorType)
            tensor(v->dtype_as_TensorType());
        else
            known = false;
        sum += v->mtype_type();
    }
    template <typename Types, typename Values>
    void values(const Types *kinds, const Values *list)
    {
        for (flatbuffers::uoffset_t i = 0; list && i < list->size(); i++)
            if (kinds->Get(i) == fbs::Value_box_Value) {
                value(list->template GetAs<fbs::Value>(i));
            } else {
                auto *p = list->template GetAs<fbs::Params>(i);
                value(p);
                number(int64_t{p->_allow_no_data()});
                number(int64_t{p->_data() ? p->_data()->size() : 0});
            }
    }
    template <typename O>
    void base(const O *op)
    {
        number(op->op_id());
        text(op->name());
        values(op->inputs_type(), op->inputs());
        values(op->outputs_type(), op->outputs());
        sum += op->compile_target_type();
        text(op->tags());
        text(op->extra());
    }
    void op(const fbs::Conv2d *c)
    {
        for (int64_t n : {c->stride_width(), c->stride_height(), c->pad_top(), c->pad_bottom(), c->pad_left(),
                          c->pad_right(), c->dilation_width(), c->dilation_height(), c->groups()})
            number(n);
        text(c->padding_mode());
        if (auto *s = c->cut_scale_as_QuantizedScaleArray()) {
            number(s->axis());
            if (s->origin_scale())
                for (float f : *s->origin_scale())
                    number(f);
        } else if (c->cut_scale()) {
            known = false;
        }
        base(c);
    }
    void op(const fbs::ReLU *r)
    {
        number(r->alpha());
        number(r->max_value());
        number(r->threshold());
        base(r);
    }
    void network(const fbs::Network *n)
    {
        for (auto *s : {n->name(), n->framework_kind(), n->framework_version(), n->icraft_xir_version(),
                        n->icraft_version(), n->params_md5(), n->tags()})
            text(s);
        sum += n->params_bytes() + n->ai_target_type();
        for (flatbuffers::uoffset_t i = 0; i < n->ops()->size(); i++)
            switch (n->ops_type()->Get(i)) {
            case fbs::Operation_box_Conv2d: op(n->ops()->GetAs<fbs::Conv2d>(i)); break;
            case fbs::Operation_box_ReLU: op(n->ops()->GetAs<fbs::ReLU>(i)); break;
            case fbs::Operation_box_Input: base(n->ops()->GetAs<fbs::Input>(i)); break;
            case fbs::Operation_box_Output: base(n->ops()->GetAs<fbs::Output>(i)); break;
            default: known = false;
            }
    }
};

bool walk_run(void *state, bench_result *out)
{
    auto *f = static_cast<Flat *>(state);
    if (!verify(f))
        return false;
    Walk walk;
    walk.network(fbs::GetNetwork(f->data));
    out->bytes = f->size;
    out->count = walk.sum;
    if (!walk.known)
        std::fprintf(stderr, "xir-bench: flatbuffers: this walk knows the generated chain only\n");
    return walk.known;
}

/* ---- files ------------------------------------------------------------------------------------ */

void *file_setup(const bench_input *in)
{
    auto *f = new Flat;
    f->path = std::string(in->path) + "/" + FILES_FLAT;
    return f;
}

bool open_run(void *state, bench_result *out)
{
    auto *f = static_cast<Flat *>(state);
    struct stat st;
    int fd = open(f->path.c_str(), O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0)
        return false;
    f->size = static_cast<size_t>(st.st_size);
    void *map = mmap(nullptr, f->size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return false;
    f->data = static_cast<const uint8_t *>(map);
    out->count = verify(f) ? fbs::GetNetwork(f->data)->ops()->size() - 2 : 0;
    return out->count == FILES_OPS;
}

void *save_setup(const bench_input *in)
{
    auto *f = new Flat;
    const size_t size = static_cast<size_t>(FILES_SAVE_MIB) << 20;
    const char *bytes = files_random(FILES_PARAMS * size);
    if (!bytes)
        return nullptr;
    f->chain = chain_of(FILES_OPS);
    for (int i = 0; i < FILES_PARAMS; i++)
        f->chain.params.push_back({FILES_OPS + 2 + i, FILES_SAVE_MIB, 1024,
                                   bytes + static_cast<size_t>(i) * size, size});
    f->path = files_save_path(in, "save.peer");
    return f;
}

bool save_run(void *state, bench_result *out)
{
    auto *f = static_cast<Flat *>(state);
    Writer(f->builder).write(f->chain);
    int fd = open(f->path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    out->bytes = f->builder.GetSize();
    out->count = FILES_PARAMS;
    for (size_t at = 0; fd >= 0 && at < out->bytes;) {
        ssize_t n = write(fd, f->builder.GetBufferPointer() + at, out->bytes - at);
        if (n <= 0)
            return false;
        at += static_cast<size_t>(n);
    }
    return fd >= 0 && fsync(fd) == 0 && close(fd) == 0;
}

} // namespace

const bench_case flatbuffers_cases[] = {
    {"flat-write", "flatbuffers", BENCH_TEXT | BENCH_CHAIN, build_setup, build_run, build_check,
     "FlatBufferBuilder, from plain structs of the chain; types and values shared"},
    {"flat-write", "flatbuffers-reused", BENCH_TEXT | BENCH_CHAIN, rebuild_setup, build_run, nullptr,
     "the same with a builder that has had the memory before"},
    {"flat-write", "flatbuffers-objects", BENCH_TEXT | BENCH_SLOW, objects_setup, pack_run, pack_check,
     "Network::Pack of its objects: nothing is shared"},
    {"flat-read", "flatbuffers-objects", BENCH_TEXT | BENCH_SLOW, bytes_setup, unpack_run, nullptr,
     "Verifier, then Network::UnPack of our bytes: objects with copies of all types"},
    {"flat-read", "flatbuffers-walk", BENCH_TEXT | BENCH_CHAIN, bytes_setup, walk_run, nullptr,
     "Verifier, then a look at every field where it lies: no network"},
    {"flat-open", "flatbuffers", BENCH_TEXT, bytes_setup, verify_run, nullptr,
     "Verifier with raised limits on our bytes"},
    {"load-lazy", "flatbuffers", BENCH_SPARSE, file_setup, open_run, nullptr,
     "mmap(2) of our FlatBuffers file and Verifier: no network"},
    {"save", "flatbuffers", BENCH_FOLDER | BENCH_BY_WALL, save_setup, save_run, nullptr,
     "FlatBufferBuilder, write(2), fsync(2): no MD5"},
    {},
};
