/* libonnx: a ModelProto, on the heap as its own tools make it. Edges are names in it, so there is
 * no walk over them, and erasing an operation without a search of all others is not on offer. */
#include "../peer.h"

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

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

std::unique_ptr<ModelProto> build(size_t ops)
{
    auto model = std::make_unique<ModelProto>();
    model->set_ir_version(8);
    model->add_opset_import()->set_version(15);
    GraphProto *graph = model->mutable_graph();
    graph->set_name("bench");

    TensorProto *w = graph->add_initializer();
    w->set_name("w");
    w->set_data_type(TensorProto::FLOAT);
    for (int64_t dim : {16, 16, 3, 3})
        w->add_dims(dim);
    w->set_raw_data(std::string(16 * 16 * 3 * 3 * 4, '\0'));

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
    return new Model{in->ops, nullptr};
}

void *built_setup(const bench_input *in)
{
    return new Model{in->ops, build(in->ops)};
}

/* The first check of all fills the registry of schemas, once for a process. */
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

} // namespace

const bench_case onnx_cases[] = {
    {"build", "onnx", 0, empty_setup, build_run, nullptr,
     "ModelProto of Conv (5 attributes) and Relu; nothing inferred or checked"},
    {"validate", "onnx", 0, checked_setup, check_run, nullptr, "checker::check_model; no shapes"},
    {"clone", "onnx", 0, built_setup, clone_run, nullptr, "copy constructor of ModelProto"},
    {"free", "onnx", 0, built_setup, free_run, nullptr, "destructor of ModelProto"},
    {},
};
