/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Compares number.h with independent implementations on seeded values: number_put_real with
 * nlohmann::json::dump, number_put_f32 with std::to_chars (shortest), number_parse and
 * number_parse_f32 with std::from_chars.
 *
 *     number_oracle [count [seed]]        2,000,000 values of each kind by default
 *
 * Ends with 1 and one line about the first difference. */

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include <nlohmann/json.hpp>
#include "support/program.h"

extern "C" {
#include "number.h"
}

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

template <class To, class From> To bits_as(From from)
{
    static_assert(sizeof(To) == sizeof(From), "");
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

[[noreturn]] void differ(const char *what, const std::string &input, const std::string &mine,
                         const std::string &theirs)
{
    std::printf("number_oracle: %s of %s: number.h gives %s, the other %s\n", what, input.c_str(),
                mine.c_str(), theirs.c_str());
    std::exit(1);
}

std::string hex(double v)
{
    char text[64];
    std::snprintf(text, sizeof text, "%a", v);
    return text;
}

std::string digits(std::uint64_t n)
{
    std::string s;
    while (n-- > 0)
        s += static_cast<char>('0' + next() % 10);
    return s;
}

float any_f32()
{
    for (;;) {
        float v = bits_as<float>(static_cast<std::uint32_t>(next()));
        if (std::isfinite(v))
            return v;
    }
}

/* A finite double of one of eight kinds. */
double any_real()
{
    static const double ten[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11 };
    for (;;) {
        double v = 0;
        switch (next() % 8) {
        case 0: case 1:                             // any bits
            v = bits_as<double>(next());
            break;
        case 2:                                     // a float32, widened
            v = any_f32();
            break;
        case 3:                                     // a float32 such as networks hold
            v = static_cast<float>(static_cast<double>(next() >> 11) * 0x1p-53 * 4 - 2);
            break;
        case 4:                                     // a decimal: 12345 / 10^k
            v = static_cast<double>(next() % 1000000000) / ten[next() % 12];
            break;
        case 5: {                                   // near a power of two
            std::uint64_t bits = (next() % 2047) << 52;
            v = bits_as<double>(bits + next() % 7 - (bits ? 3 : 0));
            break;
        }
        case 6: {                                   // near a power of ten
            std::string text = "1e" + std::to_string(static_cast<int>(next() % 632) - 323);
            std::from_chars(text.data(), text.data() + text.size(), v);
            v = bits_as<double>(bits_as<std::uint64_t>(v) + next() % 7 - (v > 1e-322 ? 3 : 0));
            break;
        }
        default:                                    // an integer, a fraction of a power of two
            v = static_cast<double>(next() >> (next() % 64)) * (next() % 2 ? 1 : 0x1p-20);
            break;
        }
        if (next() % 4 == 0)
            v = -v;
        if (std::isfinite(v))
            return v;
    }
}

/* A JSON number of one of six kinds. */
std::string any_text()
{
    char text[64];
    std::string sign = next() % 4 == 0 ? "-" : "";
    std::string exponent = "e" + std::to_string(static_cast<int>(next() % 700) - 350);
    switch (next() % 6) {
    case 0:                                         // an integer
        return sign + std::to_string(next() >> (next() % 64));
    case 1: {                                       // the shortest text of a double
        auto end = std::to_chars(text, text + sizeof text, any_real()).ptr;
        return std::string(text, end);
    }
    case 2: {                                       // 17 digits of a double
        auto end = std::to_chars(text, text + sizeof text, any_real(),
                                 std::chars_format::scientific, 16).ptr;
        return std::string(text, end);
    }
    case 3:                                         // digits with a point
        return sign + std::to_string(next() % 1000) + "." + digits(1 + next() % 25);
    case 4:                                         // digits, point and exponent
        return sign + std::to_string(next() % 10) + "." + digits(1 + next() % 30) + exponent;
    default: {                                      // a halfway point, exactly or almost
        /* 2 * m + 1 has 54 bits, 25 for float32: exact as long double, and so is its full text. */
        const int bits = next() % 4 ? 53 : 24;
        const std::uint64_t m = (next() >> (64 - bits)) | (UINT64_C(1) << (bits - 1));
        const int e = next() % 8 ? static_cast<int>(next() % 180) - 100
                                 : static_cast<int>(next() % 1900) - 1075;
        char wide[1600];
        int n = std::snprintf(wide, sizeof wide, "%.*Lf", e < 0 ? -e : 1,
                              std::ldexp(static_cast<long double>(2 * m + 1), e));
        std::string all(wide, static_cast<std::size_t>(n));
        switch (next() % 3) {
        case 0: all += digits(next() % 3) + "1"; break;
        case 1: all.pop_back(); break;
        default: break;
        }
        if (all.back() == '.')
            all += '9';
        return sign + all;
    }
    }
}

void check_put_real()
{
    double v = any_real();
    char mine[NUMBER_ROOM];
    std::string text(mine, number_put_real(mine, v)), theirs = nlohmann::json(v).dump();
    if (text != theirs)
        differ("number_put_real", hex(v), text, theirs);
    number back;
    if (number_parse(text.data(), text.size(), &back) != text.size() || back.kind != NUMBER_REAL
        || bits_as<std::uint64_t>(back.real) != bits_as<std::uint64_t>(v))
        differ("number_parse", text, hex(back.real), hex(v));
}

/* "-1.234e-05" to "1234", without trailing zeros. */
std::string significant(const char *at, const char *end)
{
    std::string s;
    for (; at != end && *at != 'e'; at++)
        if (*at >= '0' && *at <= '9' && !(s.empty() && *at == '0'))
            s += *at;
    while (!s.empty() && s.back() == '0')
        s.pop_back();
    return s;
}

void check_put_f32()
{
    float v = next() % 2 ? any_f32() : static_cast<float>(any_real());
    if (!std::isfinite(v))
        return;
    char mine[NUMBER_ROOM], theirs[64];
    std::string text(mine, number_put_f32(mine, v));
    char *end = std::to_chars(theirs, theirs + sizeof theirs, v,
                              std::chars_format::scientific).ptr;
    if (significant(mine, mine + text.size()) != significant(theirs, end))
        differ("number_put_f32", hex(v), text, std::string(theirs, end));
    float back = 0;
    if (number_parse_f32(text.data(), text.size(), &back) != text.size()
        || bits_as<std::uint32_t>(back) != bits_as<std::uint32_t>(v))
        differ("number_parse_f32", text, hex(back), hex(v));
}

void check_parse()
{
    std::string text = any_text();
    const char *at = text.data(), *end = at + text.size();
    const bool integer = text.find_first_of(".e") == std::string::npos;

    number mine;
    if (number_parse(at, text.size(), &mine) != text.size())
        differ("number_parse", text, "of another length", std::to_string(text.size()));
    std::int64_t i64 = 0;
    std::uint64_t u64 = 0;
    double real = 0;
    if (integer && std::from_chars(at, end, i64).ec == std::errc()) {
        if (mine.kind != NUMBER_I64 || mine.i64 != i64)
            differ("number_parse", text, "not that", std::to_string(i64));
    } else if (integer && std::from_chars(at, end, u64).ec == std::errc()) {
        if (mine.kind != NUMBER_U64 || mine.u64 != u64)
            differ("number_parse", text, "not that", std::to_string(u64));
    } else if (std::from_chars(at, end, real).ec == std::errc()) {
        if (mine.kind != NUMBER_REAL
            || bits_as<std::uint64_t>(mine.real) != bits_as<std::uint64_t>(real))
            differ("number_parse", text, hex(mine.real), hex(real));
    } else if (mine.kind != NUMBER_OVERFLOW && !(mine.kind == NUMBER_REAL && mine.real == 0)) {
        differ("number_parse", text, hex(mine.real), "out of range");
    }

    float f32 = 0, ours_f32 = 0;
    std::size_t length = number_parse_f32(at, text.size(), &ours_f32);
    if (std::from_chars(at, end, f32).ec == std::errc()) {
        if (length != text.size()
            || bits_as<std::uint32_t>(ours_f32) != bits_as<std::uint32_t>(f32))
            differ("number_parse_f32", text, length ? hex(ours_f32) : "malformed", hex(f32));
    } else if (length != 0 && ours_f32 != 0) {
        differ("number_parse_f32", text, hex(ours_f32), "out of range");
    }
}

} // namespace

GROUP
{
    const std::uint64_t usual = 2000000;
    const std::uint64_t count = group_argc > 1 ? std::strtoull(group_argv[1], nullptr, 10) : usual;
    state = group_argc > 2 ? std::strtoull(group_argv[2], nullptr, 10) : 20240229;
    for (std::uint64_t i = 0; i < count; i++) {
        check_put_real();
        check_put_f32();
        check_parse();
    }
    std::printf("number_oracle: %llu values of each kind agree\n",
                static_cast<unsigned long long>(count));
    return 0;
}
