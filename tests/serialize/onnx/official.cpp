/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Files that XIR writes, checked by protobuf's own decoder and by ONNX's own checker: every model of ONNX's tests and
 * of this tree is read and written unchanged. The decoder then finds the same message, and the checker accepts it if
 * it accepted the model before. Where a message may say one thing in two ways, both are brought into one form: numbers
 * of a tensor in their own field or as raw bytes, empty texts or none, orders that mean nothing.
 *
 *     onnx_official [folder…]        all files *.onnx below the folders
 *
 * Exits with 1 and a line for each model that differs or is refused. */

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <google/protobuf/util/message_differencer.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <xir/xir.h>
#include "support/program.h"

namespace {

/* ---- one form -------------------------------------------------------------------------------------------------- */

/* The bytes that a number of an int32_data field takes as raw data. */
std::size_t width_of(int element)
{
    switch (element) {
    case onnx::TensorProto::UINT8: case onnx::TensorProto::INT8: case onnx::TensorProto::BOOL: return 1;
    case onnx::TensorProto::UINT16: case onnx::TensorProto::INT16: case onnx::TensorProto::FLOAT16:
    case onnx::TensorProto::BFLOAT16: return 2;
    default: return 4;
    }
}

template <typename Number> void append(std::string &raw, Number v, std::size_t width)
{
    char bytes[sizeof v];
    std::memcpy(bytes, &v, sizeof v);
    raw.append(bytes, width);
}

void unite(onnx::TensorProto &t)
{
    std::string raw;
    for (float v : t.float_data()) append(raw, v, sizeof v);
    for (double v : t.double_data()) append(raw, v, sizeof v);
    for (std::int32_t v : t.int32_data()) append(raw, v, width_of(t.data_type()));
    for (std::int64_t v : t.int64_data()) append(raw, v, sizeof v);
    for (std::uint64_t v : t.uint64_data())
        append(raw, v, t.data_type() == onnx::TensorProto::UINT32 ? 4 : sizeof v);
    t.clear_float_data();
    t.clear_double_data();
    t.clear_int32_data();
    t.clear_int64_data();
    t.clear_uint64_data();
    if (!raw.empty()) t.set_raw_data(raw);
    if (t.raw_data().empty()) t.clear_raw_data();
    if (t.data_location() == onnx::TensorProto::DEFAULT) t.clear_data_location();
    if (t.doc_string().empty()) t.clear_doc_string();
    if (t.name().empty()) t.clear_name();
}

/* A field of another kind than the attribute's means nothing. */
void unite(onnx::AttributeProto &a)
{
    using onnx::AttributeProto;
    if (a.doc_string().empty()) a.clear_doc_string();
    if (a.type() != AttributeProto::INT) a.clear_i();
    if (a.type() != AttributeProto::FLOAT) a.clear_f();
    if (a.type() != AttributeProto::STRING) a.clear_s();
    if (a.type() != AttributeProto::TENSOR) a.clear_t();
    if (a.type() != AttributeProto::GRAPH) a.clear_g();
    if (a.has_t()) unite(*a.mutable_t());
    for (auto &t : *a.mutable_tensors()) unite(t);
    if (a.has_sparse_tensor()) {
        unite(*a.mutable_sparse_tensor()->mutable_values());
        unite(*a.mutable_sparse_tensor()->mutable_indices());
    }
}

template <typename Named> void unite_domain(Named &n)
{
    if (n.domain().empty() || n.domain() == "ai.onnx") n.clear_domain();
}

template <typename Items> void sort_by_name(Items &items)
{
    std::sort(items.begin(), items.end(), [](const auto &a, const auto &b) { return a.name() < b.name(); });
}

void unite(onnx::NodeProto &n)
{
    if (n.name().empty()) n.clear_name();
    if (n.doc_string().empty()) n.clear_doc_string();
    unite_domain(n);
    sort_by_name(*n.mutable_attribute());
    while (n.input_size() && n.input(n.input_size() - 1).empty()) n.mutable_input()->RemoveLast();
    for (auto &a : *n.mutable_attribute()) unite(a);
}

void unite(onnx::ModelProto &m)
{
    onnx::GraphProto &g = *m.mutable_graph();
    for (auto &n : *g.mutable_node()) unite(n);
    for (auto &t : *g.mutable_initializer()) unite(t);
    for (auto &s : *g.mutable_sparse_initializer()) {
        unite(*s.mutable_values());
        unite(*s.mutable_indices());
    }
    for (auto *values : { g.mutable_value_info(), g.mutable_input(), g.mutable_output() })
        for (auto &v : *values)
            if (v.doc_string().empty()) v.clear_doc_string();
    sort_by_name(*g.mutable_value_info());
    if (g.doc_string().empty()) g.clear_doc_string();
    if (m.doc_string().empty()) m.clear_doc_string();
    if (m.domain().empty()) m.clear_domain();
    if (m.producer_name().empty()) m.clear_producer_name();
    if (m.producer_version().empty()) m.clear_producer_version();
    auto &opsets = *m.mutable_opset_import();
    for (auto &o : opsets) unite_domain(o);
    std::sort(opsets.begin(), opsets.end(), [](const auto &a, const auto &b) { return a.domain() < b.domain(); });
}

/* ---- one model ------------------------------------------------------------------------------------------------- */

struct Counts { long models = 0, accepted = 0, wrong = 0; };

bool keep(void *user, const void *data, size_t size)
{
    static_cast<std::string *>(user)->append(static_cast<const char *>(data), size);
    return true;
}

std::string bytes_of(const std::filesystem::path &path)
{
    std::ifstream file(path, std::ios::binary);
    return { std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>() };
}

/* Returns true if weights are in other files. */
bool is_split(const onnx::ModelProto &m)
{
    const auto &weights = m.graph().initializer();
    return std::any_of(weights.begin(), weights.end(),
                       [](const auto &t) { return t.data_location() == onnx::TensorProto::EXTERNAL; });
}

bool write_again(xir_context *ctx, const std::string &path, std::string &out)
{
    xir_diags *why = xir_diags_new(ctx);
    xir_network *net = xir_network_load(ctx, path.c_str(), nullptr, why);
    xir_save_options options = XIR_INIT(xir_save_options);
    options.format = "onnx";
    bool ok = net && xir_network_write(net, keep, &out, &options, why) == XIR_OK;
    if (!ok) xir_diags_print(why, stdout);
    xir_network_free(net);
    xir_diags_free(why);
    return ok;
}

std::string refusal_of(const onnx::ModelProto &m)
{
    try {
        onnx::checker::check_model(m);
        return "";
    } catch (const std::exception &e) {
        return e.what();
    }
}

void check_model(xir_context *ctx, const std::filesystem::path &path, Counts &counts)
{
    onnx::ModelProto before, after;
    std::string bytes, differences;
    if (!before.ParseFromString(bytes_of(path)) || is_split(before)) return;
    counts.models++;
    if (!write_again(ctx, path.string(), bytes) || !after.ParseFromString(bytes)) {
        std::printf("%s: it is not written, or protobuf cannot read what is written\n", path.c_str());
        counts.wrong++;
        return;
    }
    if (refusal_of(before).empty()) {
        const std::string refusal = refusal_of(after);
        counts.accepted++;
        counts.wrong += !refusal.empty();
        if (!refusal.empty()) std::printf("%s: no longer accepted: %.300s\n", path.c_str(), refusal.c_str());
    }
    unite(before);
    unite(after);
    google::protobuf::util::MessageDifferencer differencer;
    differencer.ReportDifferencesToString(&differences);
    if (differencer.Compare(before, after)) return;
    std::printf("%s: another message: %.400s\n", path.c_str(), differences.c_str());
    counts.wrong++;
}

} // namespace

GROUP
{
    std::vector<std::string> folders(group_argv + 1, group_argv + group_argc);
    if (folders.empty()) folders = { "/usr/share/libonnx-testdata/data", XIR_TEST_DATA, XIR_TEST_DATA "/../examples" };
    xir_context *ctx = xir_context_new(nullptr);
    Counts counts;
    for (const std::string &folder : folders) {
        if (!std::filesystem::exists(folder)) {
            std::printf("%s does not exist\n", folder.c_str());
            return 1;
        }
        for (const auto &entry : std::filesystem::recursive_directory_iterator(folder))
            if (entry.path().extension() == ".onnx") check_model(ctx, entry.path(), counts);
    }
    std::printf("%ld models, %ld of which the checker accepted; %ld are wrong\n", counts.models, counts.accepted,
                counts.wrong);
    xir_context_free(ctx);
    return counts.models >= 1072 && !counts.wrong ? 0 : 1;
}
