/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* msgpack-cxx, on the tree of objects that it makes of XIR's file: 24 bytes a value, 48 for a pair of a map, all in
 * one zone. */
#include "../peer.h"

#include <msgpack.hpp>

#include <cstdio>
#include <exception>

namespace {

struct Tree {
    const bench_input *in;
    const char *data = nullptr;
    size_t size = 0;
    msgpack::object_handle root;
    msgpack::sbuffer packed;
};

/* Texts are not copied from the input. */
bool refer(msgpack::type::object_type, std::size_t, void *)
{
    return true;
}

void *unpack_setup(const bench_input *in)
{
    auto *t = new Tree{in, nullptr, 0, {}, {}};
    t->data = bytes_make(in, "imodel", &t->size);
    return t->data ? t : nullptr;
}

bool unpack_run(void *state, bench_result *out)
{
    auto *t = static_cast<Tree *>(state);
    try {
        t->root = msgpack::unpack(t->data, t->size, refer);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "xir-bench: msgpack-cxx: %s\n", e.what());
        return false;
    }
    const msgpack::object_map &network = t->root->via.map;
    for (uint32_t i = 0; i < network.size; i++)
        if (network.ptr[i].key.as<std::string>() == "ops")
            out->count = network.ptr[i].val.via.array.size;
    out->bytes = t->size;
    return out->count > 0;
}

void *pack_setup(const bench_input *in)
{
    void *t = unpack_setup(in);
    bench_result ignored;
    return t && unpack_run(t, &ignored) ? t : nullptr;
}

bool pack_run(void *state, bench_result *out)
{
    auto *t = static_cast<Tree *>(state);
    msgpack::pack(t->packed, t->root.get());
    out->bytes = t->packed.size();
    out->count = t->root->via.map.size;
    return true;
}

bool pack_check(void *state)
{
    auto *t = static_cast<Tree *>(state);
    return bytes_same(t->in, "imodel", t->packed.data(), t->packed.size());
}

} // namespace

const bench_case msgpack_cxx_cases[] = {
    {"msgpack-write", "msgpack-cxx", BENCH_TEXT, pack_setup, pack_run, pack_check,
     "msgpack::pack of the tree of our file into an sbuffer"},
    {"msgpack-read", "msgpack-cxx", BENCH_TEXT, unpack_setup, unpack_run, nullptr,
     "msgpack::unpack of our file: a tree that refers to the texts, no network"},
    {},
};
