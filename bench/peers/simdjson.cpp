/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* simdjson's DOM: the fastest widely used way to parse JSON. It makes a tape of the text; XIR continues from there
 * to a network with types, edges and use lists. */
#include "../peer.h"

#include <simdjson.h>

#include <cstdio>

static_assert(BENCH_PADDING >= simdjson::SIMDJSON_PADDING, "simdjson reads past the text");

namespace {

struct Parse {
    const bench_input *in;
    simdjson::dom::parser parser;

    explicit Parse(const bench_input *input) : in(input) {}

    bool once(bench_result *out)
    {
        simdjson::dom::element root;
        simdjson::dom::array ops;
        auto error = parser.parse(in->text, in->size, false).get(root);
        if (!error)
            error = root["ops"].get(ops);
        if (error) {
            std::fprintf(stderr, "xir-bench: simdjson: %s\n", simdjson::error_message(error));
            return false;
        }
        out->bytes = in->size;
        out->count = ops.size();
        return true;
    }
};

void *fresh_setup(const bench_input *in)
{
    return new Parse(in);
}

/* A first parse gives the parser its memory; only the second is measured. */
void *reused_setup(const bench_input *in)
{
    bench_result ignored;
    auto *p = new Parse(in);
    return p->once(&ignored) ? p : nullptr;
}

bool parse_run(void *state, bench_result *out)
{
    return static_cast<Parse *>(state)->once(out);
}

} // namespace

const bench_case simdjson_cases[] = {
    {"json-read", "simdjson-dom", BENCH_TEXT, fresh_setup, parse_run, nullptr,
     "simdjson dom::parser::parse with a fresh parser: a tape, no network"},
    {"json-read", "simdjson-reused", BENCH_TEXT, reused_setup, parse_run, nullptr,
     "the same with a parser that has parsed the text before"},
    {},
};
