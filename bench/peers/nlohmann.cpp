/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* nlohmann::json, with which Icraft XIR reads and writes its networks. */
#include "../peer.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

namespace {

using nlohmann::json;

struct Parse {
    const bench_input *in;
    json root;
    std::string text;
};

void *parse_setup(const bench_input *in)
{
    return new Parse{in, {}, {}};
}

bool parse_run(void *state, bench_result *out)
{
    auto *p = static_cast<Parse *>(state);
    try {
        p->root = json::parse(p->in->text, p->in->text + p->in->size);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "xir-bench: nlohmann: %s\n", e.what());
        return false;
    }
    out->bytes = p->in->size;
    out->count = p->root["ops"].size();
    return true;
}

void *dump_setup(const bench_input *in)
{
    bench_result ignored;
    void *p = parse_setup(in);
    return parse_run(p, &ignored) ? p : nullptr;
}

bool dump_run(void *state, bench_result *out)
{
    auto *p = static_cast<Parse *>(state);
    p->text = p->root.dump();
    out->bytes = p->text.size();
    out->count = p->root["ops"].size();
    return true;
}

bool dump_check(void *state)
{
    auto *p = static_cast<Parse *>(state);
    return p->text == std::string_view(p->in->text, p->in->size);
}

/* The same tree as MessagePack, which this library also supports. */
bool pack_run(void *state, bench_result *out)
{
    auto *p = static_cast<Parse *>(state);
    json::to_msgpack(p->root, p->text);
    out->bytes = p->text.size();
    out->count = p->root["ops"].size();
    return true;
}

void *unpack_setup(const bench_input *in)
{
    auto *p = new Parse{in, {}, {}};
    size_t size;
    const char *bytes = bytes_make(in, "imodel", &size);
    if (!bytes)
        return nullptr;
    p->text.assign(bytes, size);
    return p;
}

bool unpack_run(void *state, bench_result *out)
{
    auto *p = static_cast<Parse *>(state);
    p->root = json::from_msgpack(p->text, true, false);
    if (p->root.is_discarded())
        return false;
    out->bytes = p->text.size();
    out->count = p->root["ops"].size();
    return true;
}

} // namespace

const bench_case nlohmann_cases[] = {
    {"json-read", "nlohmann", BENCH_TEXT | BENCH_SLOW, parse_setup, parse_run, nullptr,
     "nlohmann::json::parse: a tree of values, no network"},
    {"json-write", "nlohmann", BENCH_TEXT | BENCH_SLOW, dump_setup, dump_run, dump_check,
     "nlohmann::json::dump, compact, of such a tree"},
    {"msgpack-write", "nlohmann", BENCH_TEXT | BENCH_SLOW, dump_setup, pack_run, nullptr,
     "nlohmann::json::to_msgpack of such a tree into a string"},
    {"msgpack-read", "nlohmann", BENCH_TEXT | BENCH_SLOW, unpack_setup, unpack_run, nullptr,
     "nlohmann::json::from_msgpack of our file: a tree of values, no network"},
    {},
};
