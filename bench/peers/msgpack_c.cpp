/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* msgpack-c, the library in C, used like msgpack-cxx. */
#include "../peer.h"

#include <msgpack.h>

#include <cstdio>
#include <cstring>

namespace {

struct Tree {
    const bench_input *in;
    const char *data;
    size_t size;
    msgpack_unpacked root;
    msgpack_sbuffer packed;
};

void *unpack_setup(const bench_input *in)
{
    auto *t = new Tree{};
    t->in = in;
    t->data = bytes_make(in, "imodel", &t->size);
    msgpack_unpacked_init(&t->root);
    msgpack_sbuffer_init(&t->packed);
    return t->data ? t : nullptr;
}

bool unpack_run(void *state, bench_result *out)
{
    auto *t = static_cast<Tree *>(state);
    msgpack_unpack_return got = msgpack_unpack_next(&t->root, t->data, t->size, nullptr);
    if (got != MSGPACK_UNPACK_SUCCESS) {
        std::fprintf(stderr, "xir-bench: msgpack-c: %d\n", static_cast<int>(got));
        return false;
    }
    const msgpack_object_map &network = t->root.data.via.map;
    for (uint32_t i = 0; i < network.size; i++) {
        const msgpack_object &key = network.ptr[i].key;
        if (key.via.str.size == 3 && std::memcmp(key.via.str.ptr, "ops", 3) == 0)
            out->count = network.ptr[i].val.via.array.size;
    }
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
    msgpack_packer packer;
    msgpack_packer_init(&packer, &t->packed, msgpack_sbuffer_write);
    if (msgpack_pack_object(&packer, t->root.data) != 0)
        return false;
    out->bytes = t->packed.size;
    out->count = t->root.data.via.map.size;
    return true;
}

bool pack_check(void *state)
{
    auto *t = static_cast<Tree *>(state);
    return bytes_same(t->in, "imodel", t->packed.data, t->packed.size);
}

} // namespace

const bench_case msgpack_c_cases[] = {
    {"msgpack-write", "msgpack-c", BENCH_TEXT, pack_setup, pack_run, pack_check,
     "msgpack_pack_object of the tree of our file into an sbuffer"},
    {"msgpack-read", "msgpack-c", BENCH_TEXT, unpack_setup, unpack_run, nullptr,
     "msgpack_unpack_next of our file: a tree that refers to the texts, no network"},
    {},
};
