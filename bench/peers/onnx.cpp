/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* libonnx: a ModelProto, on the heap as its own tools make it. Its edges are names, so it has no walk over them, and
 * cannot erase an operation without searching all others. */
#include "../peer.h"

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <initializer_list>
#include <memory>
#include <string>

namespace {

using namespace onnx;

struct Model {
    size_t ops;
    std::unique_ptr<ModelProto> model;
    std::string bytes, path;
};

void add_ints(NodeProto *node, const char *name, std::initializer_list<int64_t> values)
{
    AttributeProto *a = node->add_attribute();
    a->set_name(name);
    a->set_type(AttributeProto::INTS);
    for (int64_t v : values)
        a->add_ints(v);
}

void set_tensor(ValueInfoProto *info, const std::string &name)
{
    info->set_name(name);
    auto *type = info->mutable_type()->mutable_tensor_type();
    type->set_elem_type(TensorProto::FLOAT);
    for (int64_t dim : {1, 16, 56, 56})
        type->mutable_shape()->add_dim()->set_dim_value(dim);
}

void add_initializer(GraphProto *graph, const std::string &name, std::initializer_list<int64_t> shape,
                     std::string &&bytes)
{
    TensorProto *w = graph->add_initializer();
    w->set_name(name);
    w->set_data_type(TensorProto::FLOAT);
    for (int64_t dim : shape)
        w->add_dims(dim);
    w->set_raw_data(std::move(bytes));
}

std::unique_ptr<ModelProto> build(size_t ops)
{
    auto model = std::make_unique<ModelProto>();
    model->set_ir_version(8);
    model->add_opset_import()->set_version(15);
    GraphProto *graph = model->mutable_graph();
    graph->set_name("bench");

    add_initializer(graph, "w", {16, 16, 3, 3}, std::string(16 * 16 * 3 * 3 * 4, '\0'));
    std::string last = "x";
    set_tensor(graph->add_input(), last);
    for (size_t i = 0; i < ops; i++) {
        NodeProto *node = graph->add_node();
        node->add_input(last);
        if (i % 2 == 0) {
            node->set_op_type("Conv");
            node->add_input("w");
            add_ints(node, "kernel_shape", {3, 3});
            add_ints(node, "strides", {1, 1});
            add_ints(node, "pads", {1, 1, 1, 1});
            add_ints(node, "dilations", {1, 1});
            AttributeProto *group = node->add_attribute();
            group->set_name("group");
            group->set_type(AttributeProto::INT);
            group->set_i(1);
        } else {
            node->set_op_type("Relu");
        }
        last = "v" + std::to_string(i);
        node->add_output(last);
    }
    set_tensor(graph->add_output(), last);
    return model;
}

void *empty_setup(const bench_input *in)
{
    return new Model{in->ops, nullptr, {}, {}};
}

void *built_setup(const bench_input *in)
{
    return new Model{in->ops, build(in->ops), {}, {}};
}

/* The first check of a process fills the registry of schemas. */
void *checked_setup(const bench_input *in)
{
    checker::check_model(*build(2));
    return built_setup(in);
}

bool build_run(void *state, bench_result *out)
{
    auto *m = static_cast<Model *>(state);
    m->model = build(m->ops);
    out->count = static_cast<uint64_t>(m->model->graph().node_size());
    return true;
}

bool check_run(void *state, bench_result *out)
{
    auto *m = static_cast<Model *>(state);
    try {
        checker::check_model(*m->model);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "xir-bench: onnx: %s\n", e.what());
        return false;
    }
    out->count = 0; /* findings */
    return true;
}

bool clone_run(void *state, bench_result *out)
{
    auto *m = static_cast<Model *>(state);
    auto *copy = new ModelProto(*m->model);
    out->count = static_cast<uint64_t>(copy->graph().node_size());
    return true;
}

bool free_run(void *state, bench_result *out)
{
    auto *m = static_cast<Model *>(state);
    out->count = static_cast<uint64_t>(m->model->graph().node_size());
    m->model.reset();
    return true;
}

bool encode_run(void *state, bench_result *out)
{
    auto *m = static_cast<Model *>(state);
    if (!m->model->SerializeToString(&m->bytes))
        return false;
    out->bytes = m->bytes.size();
    out->count = static_cast<uint64_t>(m->model->graph().node_size());
    return true;
}

void *encoded_setup(const bench_input *in)
{
    auto *m = static_cast<Model *>(built_setup(in));
    bench_result ignored;
    if (!encode_run(m, &ignored))
        return nullptr;
    m->model.reset();
    return m;
}

bool decode_run(void *state, bench_result *out)
{
    auto *m = static_cast<Model *>(state);
    m->model = std::make_unique<ModelProto>();
    if (!m->model->ParseFromString(m->bytes))
        return false;
    out->bytes = m->bytes.size();
    out->count = static_cast<uint64_t>(m->model->graph().node_size());
    return true;
}

/* Four initializers of some MiB each, with the shapes of files.c. */
std::unique_ptr<ModelProto> build_large(size_t mib, const char *bytes)
{
    auto model = build(FILES_OPS);
    const size_t size = mib << 20;
    for (size_t i = 0; i < FILES_PARAMS; i++)
        add_initializer(model->mutable_graph(), "large" + std::to_string(i),
                        {16, 16, static_cast<int64_t>(mib), 1024},
                        bytes ? std::string(bytes + i * size, size) : std::string(size, '\0'));
    return model;
}

bool save_run(void *state, bench_result *out)
{
    auto *m = static_cast<Model *>(state);
    int fd = open(m->path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || !m->model->SerializeToFileDescriptor(fd))
        return false;
    out->bytes = static_cast<size_t>(lseek(fd, 0, SEEK_CUR));
    out->count = FILES_PARAMS;
    return fsync(fd) == 0 && close(fd) == 0;
}

void *save_setup(const bench_input *in)
{
    const char *bytes = files_random(static_cast<size_t>(FILES_PARAMS * FILES_SAVE_MIB) << 20);
    return bytes ? new Model{FILES_OPS, build_large(FILES_SAVE_MIB, bytes), {}, files_save_path(in, "save.peer")}
                 : nullptr;
}

/* The first run makes the file. protobuf takes less than 2 GiB. */
struct SparseFile : google::protobuf::io::CopyingOutputStream {
    int fd;

    explicit SparseFile(int file) : fd(file) {}
    bool Write(const void *data, int size) override { return files_put_sparse(fd, data, static_cast<size_t>(size)); }
};

void *open_setup(const bench_input *in)
{
    auto *m = new Model{FILES_OPS, nullptr, {}, std::string(in->path) + "/sparse.onnx"};
    if (access(m->path.c_str(), R_OK) == 0)
        return m;
    auto model = build_large(FILES_LESS_MIB, nullptr);
    SparseFile file(open(m->path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
    bool ok;
    {
        google::protobuf::io::CopyingOutputStreamAdaptor stream(&file);
        ok = file.fd >= 0 && model->SerializeToZeroCopyStream(&stream);
    }
    return files_end_sparse(file.fd) && ok ? m : nullptr;
}

bool open_run(void *state, bench_result *out)
{
    auto *m = static_cast<Model *>(state);
    int fd = open(m->path.c_str(), O_RDONLY);
    google::protobuf::io::FileInputStream file(fd);
    google::protobuf::io::CodedInputStream coded(&file);
    m->model = std::make_unique<ModelProto>();
    if (fd < 0 || !m->model->ParseFromCodedStream(&coded))
        return false;
    out->bytes = static_cast<size_t>(lseek(fd, 0, SEEK_END));
    out->count = static_cast<uint64_t>(m->model->graph().node_size());
    return out->count == FILES_OPS;
}

/* The model that XIR reads. */
void *made_setup(const bench_input *in)
{
    size_t size;
    const char *bytes = onnx_make(in->ops, &size);
    return bytes ? new Model{in->ops, nullptr, std::string(bytes, size), {}} : nullptr;
}

void *large_setup(const bench_input *in)
{
    const char *path = onnx_make_file(in);
    return path ? new Model{0, nullptr, {}, path} : nullptr;
}

bool large_run(void *state, bench_result *out)
{
    auto *m = static_cast<Model *>(state);
    int fd = open(m->path.c_str(), O_RDONLY);
    google::protobuf::io::FileInputStream file(fd);
    google::protobuf::io::CodedInputStream coded(&file);
    m->model = std::make_unique<ModelProto>();
    if (fd < 0 || !m->model->ParseFromCodedStream(&coded))
        return false;
    out->count = static_cast<uint64_t>(m->model->graph().node_size());
    return true;
}

#define ENCODE 0, built_setup, encode_run, nullptr, "ModelProto::SerializeToString: ONNX's own bytes, of other length"
#define DECODE 0, encoded_setup, decode_run, nullptr, "ModelProto::ParseFromString: ONNX's own bytes, edges are names"

} // namespace

const bench_case onnx_cases[] = {
    {"build", "onnx", 0, empty_setup, build_run, nullptr,
     "ModelProto of Conv (5 attributes) and Relu; nothing inferred or checked"},
    {"validate", "onnx", 0, checked_setup, check_run, nullptr, "checker::check_model; no shapes"},
    {"clone", "onnx", 0, built_setup, clone_run, nullptr, "copy constructor of ModelProto"},
    {"free", "onnx", 0, built_setup, free_run, nullptr, "destructor of ModelProto"},
    {"flat-write", "onnx", ENCODE},
    {"flat-read", "onnx", DECODE},
    {"msgpack-write", "onnx", ENCODE},
    {"msgpack-read", "onnx", DECODE},
    {"onnx-read", "onnx", 0, made_setup, decode_run, nullptr, "ModelProto::ParseFromString of the same bytes"},
    {"onnx-load", "onnx", BENCH_FOLDER, large_setup, large_run, nullptr, "ModelProto::ParseFromCodedStream of the same file"},
    {"load-lazy", "onnx", BENCH_SPARSE, open_setup, open_run, nullptr,
     "ModelProto from a cached file of nearly 2 GiB: all of it is read"},
    {"save", "onnx", BENCH_FOLDER | BENCH_BY_WALL, save_setup, save_run, nullptr,
     "ModelProto::SerializeToFileDescriptor, fsync(2): no MD5"},
    {},
};
