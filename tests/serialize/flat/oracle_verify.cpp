/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The verifier that flatc generates from docs/xir.fbs accepts what XIR writes, and its accessors read it correctly. It
 * also accepts every damaged file that XIR accepts. Everything that JSON can express is written so that it accepts it,
 * and is read back as the same.
 *
 *     flat_oracle_verify [count]        300 random networks by default, file and text damaged 30 times each
 *
 * Exits with 1 and a line about the first difference. */

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <flatbuffers/flatbuffers.h>
#include <xir/xir.h>
#include "xir_generated.h"
#include "support/often.h"
#include "support/program.h"

extern "C" char *random_json(std::uint64_t most, std::size_t *size);
extern "C" std::uint64_t chance(std::uint64_t n);

namespace {

using bytes = std::vector<std::uint8_t>;

unsigned long odd_networks;

/* The default limits of flatc's users, and those that a large network needs. */
constexpr flatbuffers::uoffset_t usual_depth = 64, usual_tables = 1000000, deep = 1024, many = 1000000000;

[[noreturn]] void fail(const std::string &what)
{
    std::fprintf(stderr, "%s\n", what.c_str());
    std::exit(1);
}

bool gather(void *user, const void *data, std::size_t size)
{
    auto *out = static_cast<bytes *>(user);
    const auto *p = static_cast<const std::uint8_t *>(data);
    out->insert(out->end(), p, p + size);
    return true;
}

bytes written(xir_network *net, xir_diags *why)
{
    bytes out;
    xir_save_options options = XIR_INIT(xir_save_options);
    options.format = "fb";
    options.unchecked = true;
    if (xir_network_write(net, gather, &out, &options, why) != XIR_OK) {
        if (why)
            xir_diags_print(why, stderr);
        fail("not written");
    }
    return out;
}

bool accepted(const bytes &file, flatbuffers::uoffset_t depth, flatbuffers::uoffset_t tables)
{
    flatbuffers::Verifier verifier(file.data(), file.size(), depth, tables);
    return fbs::VerifyNetworkBuffer(verifier);
}

/* Some of the accessors. */
void look(const bytes &file, const xir_network *net, const std::string &which)
{
    const fbs::Network *root = fbs::GetNetwork(file.data());
    if (root->ops()->size() != xir_network_op_count(net) || root->ops_type()->size() != root->ops()->size())
        fail(which + ": the number of ops");
    for (flatbuffers::uoffset_t i = 0; i < root->ops()->size(); i++) {
        const xir_op *op = xir_network_op_at(net, i);
        const std::string key(xir_class_key(xir_op_class(op)).data, xir_class_key(xir_op_class(op)).size);
        const auto tag = root->ops_type()->GetEnum<fbs::Operation_box>(i);
        const std::string name = fbs::EnumNameOperation_box(tag);
        if (key != "icraft::xir::" + name && tag != fbs::Operation_box_Unknown)
            fail(which + ": " + key + " is a " + name);
        if (tag != fbs::Operation_box_ReLU)
            continue;
        const auto *relu = root->ops()->GetAs<fbs::ReLU>(i);
        if (relu->op_id() != xir_op_id(op) || relu->outputs()->size() != xir_op_output_count(op))
            fail(which + ": a ReLU");
        for (flatbuffers::uoffset_t k = 0; k < relu->outputs()->size(); k++)
            if (relu->outputs()->GetAs<fbs::Value>(k)->v_id() != xir_value_id(xir_op_output(op, k)))
                fail(which + ": an output of a ReLU");
    }
}

void damage(const bytes &file, xir_context *ctx, const std::string &which)
{
    for (int i = 0; i < 30; i++) {
        bytes broken = file;
        for (std::uint64_t n = chance(3) + 1; n > 0; n--)
            broken[chance(broken.size())] = static_cast<std::uint8_t>(chance(2) ? chance(256) : chance(8) * 4);
        const xir_str name = { which.data(), which.size() };
        if (xir_flat_verify(ctx, broken.data(), broken.size(), name, nullptr) == XIR_OK &&
            !accepted(broken, deep, many))
            fail(which + ": XIR accepts a damaged file, flatc does not");
    }
}

std::string printed(xir_network *net)
{
    xir_text_buffer text;
    if (xir_json_print(net, 0, &text) != XIR_OK)
        fail("not printed");
    const std::string out(text.data, text.size);
    xir_text_free(&text);
    return out;
}

/* Some digits become other digits, and a few bytes anything: about half of such texts are still odd networks. */
void odd_ones(const std::string &text, xir_context *ctx, const std::string &which)
{
    static const char bytes_of_json[] = "0123456789-.e[]{},:\"ntfai";
    xir_load_options options = XIR_INIT(xir_load_options);
    options.format = "fb";
    for (int i = 0; i < 30; i++) {
        std::string odd = text;
        for (std::uint64_t n = chance(20) + 1; n > 0; n--) {
            char &c = odd[chance(odd.size())];
            if (c >= '0' && c <= '9')
                c = static_cast<char>('0' + chance(10));
            else if (chance(15) == 0)
                c = bytes_of_json[chance(sizeof bytes_of_json - 1)];
        }
        const xir_str name = { nullptr, 0 };
        xir_network *net = xir_json_read(ctx, xir_str{ odd.data(), odd.size() }, name, nullptr);
        if (!net)
            continue;
        odd_networks++;
        const bytes file = written(net, nullptr);
        if (!accepted(file, usual_depth, usual_tables))
            fail(which + ", changed: not accepted");
        xir_network *again = xir_network_read(ctx, file.data(), file.size(), name, &options, nullptr);
        if (!again || printed(again) != printed(net))
            fail(which + ", changed: not the same when it is read: " + odd);
        xir_network_free(again);
        xir_network_free(net);
    }
}

void random_ones(xir_context *ctx, xir_diags *why, std::uint64_t count)
{
    for (std::uint64_t i = 0; i < count; i++) {
        const std::string which = "random network " + std::to_string(i);
        std::size_t size;
        char *text = random_json(i % 10 ? 6 : 40, &size);
        xir_network *net = xir_json_read(ctx, xir_str{ text, size }, xir_str{ nullptr, 0 }, why);
        if (!net)
            fail(which + " is not read");
        const bytes file = written(net, why);
        if (!accepted(file, usual_depth, usual_tables))
            fail(which + " is not accepted");
        look(file, net, which);
        damage(file, ctx, which);
        odd_ones(std::string(text, size), ctx, which);
        xir_network_free(net);
        std::free(text);
    }
}

/* A shared table counts at each use, so a large network needs higher limits than the default. */
void a_large_one(xir_context *ctx, xir_diags *why)
{
    const std::int64_t dims[] = { 1, 8, 8, 3 };
    xir_network *net = xir_network_new(ctx, "chain", XIR_FRAMEWORK_PYTORCH, "1");
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "", xir_type_tensor_text(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "NHWC", dims, 4));
    for (int i = 0; i < 60000; i++)
        x = xir_build_relu(at, x, "");
    const bytes file = written(net, why);
    if (accepted(file, usual_depth, usual_tables))
        fail("60000 ops have fewer tables than docs/formats.md says");
    if (!accepted(file, usual_depth, many))
        fail("60000 ops are not accepted");
    xir_network_free(net);
}

} // namespace

GROUP
{
    xir_context *ctx = xir_context_new(nullptr);
    xir_diags *why = xir_diags_new(ctx);
    random_ones(ctx, why, group_argc > 1 ? std::strtoull(group_argv[1], nullptr, 10) : OFTEN(300));
    if (odd_networks == 0)
        fail("none of the changed texts is a network");
    a_large_one(ctx, why);
    xir_diags_free(why);
    xir_context_free(ctx);
    return 0;
}
