/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Compares XIR's JSON with that of nlohmann, which wrote the original's files: both accept the same random and damaged
 * texts, and print the accepted ones alike.
 *
 *     json_oracle [count [seed]]        20000 texts, each damaged three times, by default
 *
 * Exits with 1 and one line about the first difference. */

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>
#include <xir/xir.h>
#include "support/program.h"

namespace {

std::uint64_t state;

/* splitmix64 */
std::uint64_t next()
{
    std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

std::uint64_t chance(std::uint64_t n) { return next() % n; }

template <std::size_t N> const char *one_of(const char *const (&parts)[N]) { return parts[chance(N)]; }

std::string text()
{
    static const char *const parts[] = { "a", "", " ", "\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t",
                                         "\\u0000", "\\u001F",
                                         "\\u00e9", "\\u4E2D", "\\ud83d\\ude00", "\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80", "\x7F",
                                         "key", "0123456789abcdef", "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF" };
    std::string out = "\"";
    for (std::uint64_t n = chance(5); n > 0; n--)
        out += one_of(parts);
    return out + "\"";
}

std::string number()
{
    std::string out = chance(3) ? "" : "-";
    out += chance(4) ? std::to_string(chance(10)) : std::to_string(next() >> chance(64));
    if (chance(2))
        out += "." + std::to_string(next() >> chance(64));
    if (chance(3) == 0) {
        static const char *const signs[] = { "e", "E", "e+", "E-", "e-" };
        out += one_of(signs) + std::to_string(chance(chance(4) ? 20 : 400));
    }
    return out;
}

std::string blanks()
{
    static const char *const all[] = { "", "", "", " ", "\n", "\t", "\r", "  \n   " };
    return one_of(all);
}

std::string value(int depth)
{
    static const char *const words[] = { "null", "true", "false" };
    std::string out = blanks();
    switch (chance(depth > 0 ? 6 : 4)) {
    case 0: out += one_of(words); break;
    case 1: out += text(); break;
    case 2: case 3: out += number(); break;
    case 4:
        out += "[" + blanks();
        for (std::uint64_t i = 0, n = chance(4); i < n; i++)
            out += (i ? "," : "") + value(depth - 1);
        out += "]";
        break;
    default:
        out += "{" + blanks();
        for (std::uint64_t i = 0, n = chance(4); i < n; i++)
            out += (i ? "," : "") + blanks() + text() + blanks() + ":" + value(depth - 1);
        out += "}";
    }
    return out + blanks();
}

void damage(std::string &text)
{
    static const char common[] = "\"\\{}[],:0-+.eEu \n\x01\x80\xC0\xC3\xED\xF0\xF4\xFF";
    if (text.empty())
        return;
    std::size_t at = chance(text.size());
    switch (chance(4)) {
    case 0: text.erase(at, 1 + chance(3)); break;
    case 1: text.insert(at, 1, common[chance(sizeof common - 1)]); break;
    case 2: text[at] = common[chance(sizeof common - 1)]; break;
    default: text[at] = static_cast<char>(text[at] ^ (1 << chance(8))); break;
    }
}

[[noreturn]] void differ(const std::string &text, const std::string &own, const std::string &theirs)
{
    std::printf("json_oracle: of\n%s\nXIR's is\n%s\nthe other's\n%s\n", text.c_str(), own.c_str(), theirs.c_str());
    std::exit(1);
}

std::string print(xir_network *net, int indent)
{
    xir_text_buffer out;
    if (xir_json_print(net, indent, &out) != XIR_OK)
        return "(not printed)";
    std::string text(out.data, out.size);
    xir_text_free(&out);
    return text;
}

/* A value is read as a tag of a network. A text that breaks out of that place is another text, just as useful. For
 * nlohmann a zero byte ends the text, whatever follows it. */
std::uint64_t accepted;

void compare(xir_context *ctx, const std::string &value)
{
    if (value.find('\0') != std::string::npos)
        return;
    const std::string text = "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[],\"tags\":{\"x\":" + value + "}}";
    xir_network *net = xir_json_read(ctx, xir_str{ text.data(), text.size() }, xir_str{ nullptr, 0 }, nullptr);
    nlohmann::json theirs = nlohmann::json::parse(text, nullptr, false);
    if (theirs.is_discarded()) {
        if (net)
            differ(text, print(net, 0), "refused");
        return;
    }
    if (!net)
        differ(text, "refused", theirs.dump());
    accepted++;
    for (int indent = 0; indent <= 4; indent += 2) {
        const std::string a = print(net, indent), b = theirs.dump(indent ? indent : -1);
        if (a != b)
            differ(text, a, b);
    }
    xir_network_free(net);
}

} // namespace

GROUP
{
    const std::uint64_t count = group_argc > 1 ? std::strtoull(group_argv[1], nullptr, 10) : 20000;
    state = group_argc > 2 ? std::strtoull(group_argv[2], nullptr, 10) : 20240229;
    xir_context *ctx = xir_context_new(nullptr);
    for (std::uint64_t i = 0; i < count; i++) {
        std::string text = value(4);
        compare(ctx, text);
        for (int k = 0; k < 3; k++) {
            damage(text);
            compare(ctx, text);
        }
    }
    xir_context_free(ctx);
    std::printf("json_oracle: %llu texts agree, %llu of them are JSON\n", static_cast<unsigned long long>(count * 4),
                static_cast<unsigned long long>(accepted));
    return 0;
}
