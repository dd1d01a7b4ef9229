/* nlohmann::json, with which the original XIR reads and writes its networks. */
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

} // namespace

const bench_case nlohmann_cases[] = {
    {"json-read", "nlohmann", BENCH_TEXT | BENCH_SLOW, parse_setup, parse_run, nullptr,
     "nlohmann::json::parse: a tree of values, no network"},
    {"json-write", "nlohmann", BENCH_TEXT | BENCH_SLOW, dump_setup, dump_run, dump_check,
     "nlohmann::json::dump, compact, of such a tree"},
    {},
};
