/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Numbers as text. number_oracle.cpp compares the same functions with independent ones on millions of values; this
 * file has the cases with names, and the properties of every value. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "number.h"
#include "support/skips.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* ---- Help ---- */

static uint64_t seed;

/* splitmix64 */
static uint64_t next_random(void)
{
    uint64_t z = (seed += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static double real_of(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static uint32_t bits_of_f32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static float f32_of(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static void expect_text(const char *out, size_t n, const char *text)
{
    if (n != strlen(text) || memcmp(out, text, n) != 0)
        fail_msg("expected \"%s\", wrote \"%.*s\"", text, (int)n, out);
}

/* Reads a copy that ends where its memory ends, so that a sanitizer detects a read past the end. */
static size_t parse(const char *text, size_t size, number *out)
{
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    size_t n = number_parse(copy, size, out);
    free(copy);
    return n;
}

static void expect_real(const char *text, double v)
{
    number n;
    if (parse(text, strlen(text), &n) != strlen(text))
        fail_msg("\"%.60s\" was not read to its end", text);
    if (n.kind != NUMBER_REAL || bits_of(n.real) != bits_of(v))
        fail_msg("\"%.60s\" was read as %a, expected %a", text, n.real, v);
}

static void expect_f32(const char *text, float v)
{
    float out = 0;
    if (number_parse_f32(text, strlen(text), &out) != strlen(text))
        fail_msg("\"%.60s\" was not read to its end", text);
    if (bits_of_f32(out) != bits_of_f32(v))
        fail_msg("\"%.60s\" was read as %a, expected %a", text, (double)out, (double)v);
}

/* ---- Integers ---- */

static void integers_are_written_as_they_are(void **state)
{
    (void)state;
    static const struct { int64_t v; const char *text; } rows[] = {
        { 0,          "0"                    },
        { 7,          "7"                    },
        { -7,         "-7"                   },
        { 10,         "10"                   },
        { 99,         "99"                   },
        { -100,       "-100"                 },
        { 4294972444, "4294972444"           },
        { INT64_MAX,  "9223372036854775807"  },
        { INT64_MIN,  "-9223372036854775808" },
    };
    char out[20];
    for (size_t i = 0; i < COUNT(rows); i++)
        expect_text(out, number_put_i64(out, rows[i].v), rows[i].text);
    expect_text(out, number_put_u64(out, UINT64_MAX), "18446744073709551615");
}

static void every_length_of_integer_is_right_at_its_ends(void **state)
{
    (void)state;
    char out[20], text[32];
    uint64_t ten = 1;
    for (int i = 0; i < 20; i++, ten *= 10)
        for (int d = -1; d <= 1; d++) {
            uint64_t v = ten + (uint64_t)d;
            snprintf(text, sizeof text, "%llu", (unsigned long long)v);
            expect_text(out, number_put_u64(out, v), text);
        }
}

static void integers_come_back(void **state)
{
    (void)state;
    char out[20];
    number n;
    seed = 1;
    for (int i = 0; i < 300000; i++) {
        int64_t v = (int64_t)next_random() >> (next_random() % 64);
        size_t size = number_put_i64(out, v);
        assert_int_equal(number_parse(out, size, &n), size);
        assert_int_equal(n.kind, NUMBER_I64);
        assert_true(n.i64 == v);
    }
}

/* ---- Doubles as nlohmann-json writes them ---- */

static void reals_are_written_as_nlohmann_writes_them(void **state)
{
    (void)state;
    static const struct { double v; const char *text; } rows[] = {
        { 0.0,                       "0.0"                     },
        { -0.0,                      "-0.0"                    },
        { 1.0,                       "1.0"                     },
        { -1.5,                      "-1.5"                    },
        { 0.1,                       "0.1"                     },
        { 0.3,                       "0.3"                     },
        { 4.35,                      "4.35"                    },
        { 1.0 / 3,                   "0.3333333333333333"      },
        { 0x1.99999ap-4,             "0.10000000149011612"     },
        { 100.0,                     "100.0"                   },
        { 4294972444.0,              "4294972444.0"            },
        { 123456789012345.67,        "123456789012345.67"      },
        { 1e-4,                      "0.0001"                  },
        { 9.999e-5,                  "9.999e-05"               },
        { 5e-5,                      "5e-05"                   },
        { 0.00012345678901234567,    "0.00012345678901234567"  },
        { 999999999999999.0,         "999999999999999.0"       },
        { 999999999999999.9,         "999999999999999.9"       },
        { 1e15,                      "1e+15"                   },
        { -1e15,                     "-1e+15"                  },
        { 9007199254740992.0,        "9.007199254740992e+15"   },
        { 1.2345678901234568e+17,    "1.2345678901234568e+17"  },
        { 1e22,                      "1e+22"                   },
        { 5e-324,                    "5e-324"                  },
        { 2.2250738585072009e-308,   "2.225073858507201e-308"  },
        { 2.2250738585072014e-308,   "2.2250738585072014e-308" },
        { -1.7976931348623157e+308,  "-1.7976931348623157e+308" },
        /* Numbers in files are not the shortest or nearest where those of Grisu2 are not. */
        { 1e23,                      "9.999999999999999e+22"   },
        { 0x1.3e681cp-6,             "0.019434001296758652"    },
        { 0x1.2272p-3,               "0.14181900024414063"     },
        { 0x1.6fe7e4p-2,             "0.35928303003311157"     },
    };
    char out[NUMBER_ROOM];
    for (size_t i = 0; i < COUNT(rows); i++) {
        expect_text(out, number_put_real(out, rows[i].v), rows[i].text);
        expect_real(rows[i].text, rows[i].v);
    }
}

static void nothing_after_the_text_is_written(void **state)
{
    (void)state;
    char out[NUMBER_ROOM + 8];
    seed = 2;
    for (int i = 0; i < 300000; i++) {
        double v = i % 2 ? real_of(next_random()) : (double)(int64_t)next_random() * 0x1p-40;
        float f = (float)v;
        memset(out, '#', sizeof out);
        if (isfinite(v))
            assert_true(number_put_real(out, v) <= 24);
        if (isfinite(f))
            assert_true(number_put_f32(out, f) <= 17);
        assert_memory_equal(out + NUMBER_ROOM, "########", 8);
    }
}

static void reals_come_back(void **state)
{
    (void)state;
    char out[NUMBER_ROOM];
    number n;
    seed = 3;
    for (int i = 0; i < 400000; i++) {
        double v = 0;
        switch (i % 4) {
        case 0: v = real_of(next_random());                                 break;
        case 1: v = (double)f32_of((uint32_t)next_random());                break;
        case 2: v = (double)(next_random() % 1000000) / 1000;               break;
        case 3: v = real_of((next_random() % 2047 << 52) + next_random() % 3); break;
        }
        if (!isfinite(v))
            continue;
        size_t size = number_put_real(out, v);
        assert_int_equal(number_parse(out, size, &n), size);
        assert_int_equal(n.kind, NUMBER_REAL);
        if (bits_of(n.real) != bits_of(v))
            fail_msg("%a was written as %.*s and read as %a", v, (int)size, out, n.real);
    }
}

/* ---- float32, shortest ---- */

static void f32_are_written_shortest(void **state)
{
    (void)state;
    static const struct { float v; const char *text; } rows[] = {
        { 0.0F,             "0"                },
        { -0.0F,            "-0"               },
        { 1.0F,             "1"                },
        { -2.5F,            "-2.5"             },
        { 0.1F,             "0.1"              },
        { 1.0F / 3,         "0.33333334"       },
        { 0.00013890066F,   "0.00013890066"    },
        { 1e-4F,            "0.0001"           },
        { 3.0874726e-05F,   "3.0874726e-05"    },
        { 9.999999e-05F,    "9.999999e-05"     },
        { 16777216.0F,      "16777216"         },
        { 123456792.0F,     "123456790"        },
        { 1e15F,            "1000000000000000" },
        { 9.999999e15F,     "9999999000000000" },
        { 1e16F,            "1e+16"            },
        { -1.2e20F,         "-1.2e+20"         },
        { 0x1p-149F,        "1e-45"            },
        { 0x1p-126F,        "1.1754944e-38"    },
        { 0x1.fffffep127F,  "3.4028235e+38"    },
        { 0x1p-24F,         "5.9604645e-08"    },   // a power of two: its neighbours differ
        { 8.589973e9F,      "8589974000"       },   // 8589973504: both give the same float, this one is nearer
    };
    char out[NUMBER_ROOM];
    for (size_t i = 0; i < COUNT(rows); i++) {
        expect_text(out, number_put_f32(out, rows[i].v), rows[i].text);
        expect_f32(rows[i].text, rows[i].v);
    }
}

/* Returns true if digits * 10^exponent is read as v. */
static bool reads_back(uint32_t digits, int exponent, float v)
{
    char text[40];
    int n = snprintf(text, sizeof text, "%ue%d", (unsigned)digits, exponent);
    float out = 0;
    return number_parse_f32(text, (size_t)n, &out) == (size_t)n && out == v;
}

static double distance(uint32_t digits, int exponent, float v)
{
    char text[40];
    int n = snprintf(text, sizeof text, "%u.0e%d", (unsigned)digits, exponent);
    number out;
    assert_int_equal(number_parse(text, (size_t)n, &out), n);
    return fabs(out.real - (double)v);
}

/* The texts that are read as v form an interval. So if a shorter text were in it, those next to XIR's text would be;
 * and no text of the same length in it is nearer. */
static void check_shortest(float v)
{
    char out[NUMBER_ROOM];
    size_t size = number_put_f32(out, v);
    float back = -1;
    if (number_parse_f32(out, size, &back) != size || back != v)
        fail_msg("%a was written as %.*s", (double)v, (int)size, out);

    uint32_t digits = 0;
    int exponent = 0;
    bool fraction = false;
    for (size_t i = 0; i < size; i++) {
        if (out[i] == 'e') {
            exponent += atoi(out + i + 1);
            break;
        }
        if (out[i] == '.') {
            fraction = true;
        } else if (digits < 100000000) {
            digits = digits * 10 + (uint32_t)(out[i] - '0');
            exponent -= fraction;
        } else {
            assert_true(out[i] == '0' && !fraction);
            exponent++;
        }
    }
    while (digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    const bool shorter = digits >= 10 && (reads_back(digits / 10, exponent + 1, v)
                                          || reads_back(digits / 10 + 1, exponent + 1, v));
    double distance_of_text = distance(digits, exponent, v) * (1 - 1e-6);
    const bool nearer = (reads_back(digits - 1, exponent, v)
                         && distance(digits - 1, exponent, v) < distance_of_text)
                        || (reads_back(digits + 1, exponent, v)
                            && distance(digits + 1, exponent, v) < distance_of_text);
    if (shorter || nearer)
        fail_msg("%a was written as %.*s: there is a %s text", (double)v, (int)size, out,
                 shorter ? "shorter" : "nearer");
}

static void sampled_f32_are_shortest_and_come_back(void **state)
{
    (void)state;
    const uint32_t infinity = UINT32_C(0xff) << 23;
    for (uint32_t field = 0; field < 255; field++)          // powers of two and their neighbours
        for (uint32_t d = 0; d < 4; d++)
            if ((field << 23) + d > 1)
                check_shortest(f32_of((field << 23) + d - 1));
    uint32_t n = 0;
    for (uint32_t bits = 1; bits < infinity; bits += 2039, n++)     // about 2^20
        check_shortest(f32_of(bits));
    assert_true(n > 1000000);
}

static void strided_f32_come_back(void **state)
{
    (void)state;
    char out[NUMBER_ROOM];
    for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += 1021) {       // about 2^22
        float v = f32_of((uint32_t)bits), back;
        if (!isfinite(v))
            continue;
        size_t size = number_put_f32(out, v);
        if (number_parse_f32(out, size, &back) != size || bits_of_f32(back) != bits)
            fail_msg("%a was written as %.*s", (double)v, (int)size, out);
    }
}

/* ---- Reading: kinds and extent ---- */

static void the_kind_follows_from_text_and_range(void **state)
{
    (void)state;
    static const struct { const char *text; number want; } rows[] = {
        { "0",                     { NUMBER_I64,  .i64 = 0                                   } },
        { "-0",                    { NUMBER_I64,  .i64 = 0                                   } },
        { "-1",                    { NUMBER_I64,  .i64 = -1                                  } },
        { "1234567",               { NUMBER_I64,  .i64 = 1234567                             } },
        { "12345678",              { NUMBER_I64,  .i64 = 12345678                            } },
        { "123456789",             { NUMBER_I64,  .i64 = 123456789                           } },
        { "9223372036854775807",   { NUMBER_I64,  .i64 = INT64_MAX                           } },
        { "-9223372036854775808",  { NUMBER_I64,  .i64 = INT64_MIN                           } },
        { "9223372036854775808",   { NUMBER_U64,  .u64 = UINT64_C(9223372036854775808)       } },
        { "9999999999999999999",   { NUMBER_U64,  .u64 = UINT64_C(9999999999999999999)       } },
        { "10000000000000000000",  { NUMBER_U64,  .u64 = UINT64_C(10000000000000000000)      } },
        { "18446744073709551615",  { NUMBER_U64,  .u64 = UINT64_MAX                          } },
        { "18446744073709551616",  { NUMBER_REAL, .real = 18446744073709551616.0             } },
        { "19999999999999999999",  { NUMBER_REAL, .real = 20000000000000000000.0             } },
        { "20000000000000000000",  { NUMBER_REAL, .real = 20000000000000000000.0             } },
        { "28446744073709551615",  { NUMBER_REAL, .real = 28446744073709551615.0             } },
        { "100000000000000000000", { NUMBER_REAL, .real = 1e20                               } },
        { "-9223372036854775809",  { NUMBER_REAL, .real = -9223372036854775808.0             } },
        { "-18446744073709551615", { NUMBER_REAL, .real = -18446744073709551616.0            } },
        { "1.0",                   { NUMBER_REAL, .real = 1.0                                } },
        { "1e0",                   { NUMBER_REAL, .real = 1.0                                } },
        { "-0.0",                  { NUMBER_REAL, .real = -0.0                               } },
        { "-0e5",                  { NUMBER_REAL, .real = -0.0                               } },
        { "1E+2",                  { NUMBER_REAL, .real = 100.0                              } },
        { "1e400",                 { NUMBER_OVERFLOW, .real = (double)INFINITY               } },
        { "-1e400",                { NUMBER_OVERFLOW, .real = -(double)INFINITY              } },
        { "1e99999999999999999999", { NUMBER_OVERFLOW, .real = (double)INFINITY              } },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const number *want = &rows[i].want;
        number n;
        assert_int_equal(parse(rows[i].text, strlen(rows[i].text), &n), strlen(rows[i].text));
        if (n.kind != want->kind || n.u64 != want->u64)
            fail_msg("%s: kind %d, bits %#llx; expected kind %d, bits %#llx", rows[i].text,
                     (int)n.kind, (unsigned long long)n.u64, (int)want->kind,
                     (unsigned long long)want->u64);
    }
}

static void a_text_that_is_not_a_number_is_refused(void **state)
{
    (void)state;
    static const struct { const char *text; size_t length; } rows[] = {
        { "",        0 }, { "-",       0 }, { "+1",      0 }, { ".5",      0 }, { "-.5",     0 },
        { "e5",      0 }, { "nan",     0 }, { "inf",     0 }, { " 1",      0 }, { "--1",     0 },
        { "/",       0 }, { ":",       0 }, { "-x",      0 }, { "\xb1",    0 }, { "Infinity", 0 },
        { "01",      1 }, { "-01",     2 }, { "00",      1 }, { "1.",      1 }, { "1.x",     1 },
        { "1e",      1 }, { "1e+",     1 }, { "1e-x",    1 }, { "1.e5",    1 }, { "0x10",    1 },
        { "1.5e",    3 }, { "1.5E-",   3 }, { "1.5.5",   3 }, { "1e5.5",   3 }, { "1e5e5",   3 },
        { "12,",     2 }, { "12]",     2 }, { "1.25}",   4 }, { "1 2",     1 }, { "1_000",   1 },
        { "12345678:", 8 }, { "1.12345678/", 10 }, { "1.1234567\xff", 9 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        number n = { NUMBER_U64, .u64 = 42 };
        float f = 42;
        size_t size = strlen(rows[i].text);
        if (parse(rows[i].text, size, &n) != rows[i].length)
            fail_msg("\"%s\": expected length %d", rows[i].text, (int)rows[i].length);
        assert_int_equal(number_parse_f32(rows[i].text, size, &f), rows[i].length);
        if (rows[i].length == 0) {
            assert_true(n.kind == NUMBER_U64 && n.u64 == 42);
            assert_true(f == 42);
        }
    }
}

/* The grammar a second time, as an automaton: the length of the longest number at the beginning. */
static size_t longest(const char *text, size_t size)
{
    enum { START, MINUS, ZERO, WHOLE, POINT, PART, E, SIGN, POWER } at = START;
    size_t length = 0;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        bool digit = c >= '0' && c <= '9', e = c == 'e' || c == 'E';
        if (at == START && c == '-')
            at = MINUS;
        else if ((at == START || at == MINUS) && digit)
            at = c == '0' ? ZERO : WHOLE;
        else if ((at == ZERO || at == WHOLE) && c == '.')
            at = POINT;
        else if ((at == ZERO || at == WHOLE || at == PART) && e)
            at = E;
        else if ((at == POINT || at == PART) && digit)
            at = PART;
        else if (at == E && (c == '+' || c == '-'))
            at = SIGN;
        else if ((at == E || at == SIGN || at == POWER) && digit)
            at = POWER;
        else if (!(at == WHOLE && digit))
            break;
        if (at == ZERO || at == WHOLE || at == PART || at == POWER)
            length = i + 1;
    }
    return length;
}

static void every_prefix_has_the_length_that_the_grammar_says(void **state)
{
    (void)state;
    static const char *const whole[] = {
        "-12345678901234567890123.12345678901234567890123e-123",
        "0.00000000000000000000000000000012345678E+0012",
        "-0.0e-0",
        "18446744073709551615",
        "9007199254740993.00000000000000000000000000000000001",
    };
    number n;
    for (size_t i = 0; i < COUNT(whole); i++)
        for (size_t size = 0; size <= strlen(whole[i]); size++)
            assert_int_equal(parse(whole[i], size, &n), longest(whole[i], size));
}

static void random_texts_have_the_length_that_the_grammar_says(void **state)
{
    (void)state;
    static const char alphabet[] = "00123456789999.-+eE,";
    char text[24];
    number n;
    seed = 4;
    for (int i = 0; i < 400000; i++) {
        size_t size = next_random() % sizeof text;
        for (size_t j = 0; j < size; j++)
            text[j] = alphabet[next_random() % (j < 3 ? 14 : 20)];
        if (parse(text, size, &n) != longest(text, size))
            fail_msg("\"%.*s\": expected length %d", (int)size, text, (int)longest(text, size));
    }
}

/* ---- Reading: rounding ---- */

static void reals_round_to_nearest_ties_to_even(void **state)
{
    (void)state;
    static const struct { const char *text; double v; } rows[] = {
        { "0.1",                                          0x1.999999999999ap-4    },
        { "1e22",                                         0x1.0f0cf064dd592p73    },
        { "1e23",                                         0x1.52d02c7e14af6p76    },
        { "9007199254740993.0",                           0x1p53                  },
        { "9007199254740993e0",                           0x1p53                  },
        { "9007199254740993.00000000000000000000000001",  0x1.0000000000001p53    },
        { "9007199254740992.99999999999999999999999999",  0x1p53                  },
        { "9007199254740995.0",                           0x1.0000000000002p53    },
        { "9007199254740994.99999999999999999999999999",  0x1.0000000000001p53    },
        { "90071992547409930e-1",                         0x1p53                  },
        { "5e-324",                                       0x1p-1074               },
        { "2.5e-324",                                     0x1p-1074               },
        { "2.4703282292062327e-324",                      0.0                     },
        { "2.4703282292062328e-324",                      0x1p-1074               },
        { "1e-324",                                       0.0                     },
        { "-1e-400",                                      -0.0                    },
        { "0e400",                                        0.0                     },
        { "0.000e99999999999999999999",                   0.0                     },
        { "1e-99999999999999999999",                      0.0                     },
        { "2.2250738585072011e-308",                      0x0.fffffffffffffp-1022 },
        { "2.2250738585072012e-308",                      0x1p-1022               },
        { "2.2250738585072014e-308",                      0x1p-1022               },
        { "1.7976931348623157e308",                       0x1.fffffffffffffp1023  },
        { "1.7976931348623158e308",                       0x1.fffffffffffffp1023  },
        { "179769313486231580793e288",                    0x1.fffffffffffffp1023  },
        { "1.448997445238699",                            0x1.72f17f1f49aadp0     },
        { "8.9e-308",                                     8.9e-308                },
        { "7.2057594037927933e16",                        0x1p56                  },
        { "8.98846567431158e307",                         0x1.0000000000000p1023  },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        expect_real(rows[i].text, rows[i].v);
}

static void overflow_begins_halfway_above_the_greatest(void **state)
{
    (void)state;
    /* 2^1024 - 2^970, and the next smaller number. */
    static const char half[] =
        "1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490"
        "1797758720709633028641669288791094655554785194040263065748867150582068190890200070838367"
        "6273854845817711531764475730270069855571366959622842914819860834936475292719074168444365"
        "510704342711559699508093042880177904174497792";
    char text[400];
    number n;
    memcpy(text, half, sizeof half);
    assert_int_equal(parse(text, strlen(text), &n), strlen(text));
    assert_int_equal(n.kind, NUMBER_OVERFLOW);
    text[strlen(text) - 1] = '1';
    expect_real(text, 0x1.fffffffffffffp1023);

    float f;
    assert_int_equal(number_parse_f32("3.4028235677973367e38", 21, &f), 0);     // 2^128 - 2^103 …
    assert_int_equal(number_parse_f32("-1e39", 5, &f), 0);
    expect_f32("340282356779733661637539395458142568447", 0x1.fffffep127F);     // … and one less
    assert_int_equal(number_parse_f32("340282356779733661637539395458142568448", 39, &f), 0);
}

/* Reads the text of the exact `half` between the even `low` and `high`, then texts slightly off. */
static void check_half(const char *exact, double below, double half, double above)
{
    static char text[2400];
    size_t size = strlen(exact);
    memcpy(text, exact, size + 1);
    expect_real(text, half);
    memcpy(text + size, "000000000000000000000000000000000001", 37);
    expect_real(text, above);
    memset(text + size, '0', 1000);
    memcpy(text + size + 1000, "1", 2);
    expect_real(text, above);
    memcpy(text, exact, size + 1);
    assert_int_equal(text[size - 1], '5');
    memcpy(text + size - 1, "4999", 5);
    expect_real(text, below);
}

static void halfway_points_of_any_length_go_to_even(void **state)
{
    (void)state;
#if __LDBL_MANT_DIG__ >= 64     // otherwise no type can hold a halfway point
    static char text[1200];
    seed = 5;
    for (int i = 0; i < 3000; i++) {
        uint64_t bits = next_random() >> 2;                 // below 1
        if (i % 4 == 0)
            bits = next_random() >> (11 + next_random() % 53);      // subnormal, usually
        double low = real_of(bits), high = real_of(bits + 1);
        if (low >= 1)
            continue;
        snprintf(text, sizeof text, "%.1076Lf", ((long double)low + (long double)high) / 2);
        size_t size = strlen(text);
        while (text[size - 1] == '0')
            text[--size] = '\0';
        check_half(text, low, bits % 2 ? high : low, high);
    }
#else
    SKIP("long double is not wider than double");
#endif
}

static void f32_is_rounded_once(void **state)
{
    (void)state;
    /* Just above halfway between 1 and its successor: a double as an intermediate step would lose the rest. */
    expect_f32("1.00000005960464477539062500000000000001", 0x1.000002p0F);
    expect_f32("1.000000059604644775390625", 1.0F);
    expect_f32("1.00000005960464477539062499999999999999", 1.0F);
    expect_f32("1.00000017881393432617187499", 0x1.000002p0F);
    expect_f32("1.000000178813934326171875", 0x1.000004p0F);
    expect_f32("16777217", 16777216.0F);
    expect_f32("16777219", 16777220.0F);
    expect_f32("16777217.000000000000000001", 16777218.0F);
    expect_f32("20000000000000000001", 2e19F);
    expect_f32("1e-45", 0x1p-149F);
    expect_f32("7.006492321624085e-46", 0.0F);
    expect_f32("7.006492321624086e-46", 0x1p-149F);
    expect_f32("1e-400", 0.0F);
    expect_f32("-0", -0.0F);
    expect_f32("-0.0e3", -0.0F);

    static char text[200];
    seed = 6;
    for (int i = 0; i < 100000; i++) {
        uint32_t bits = (uint32_t)next_random() >> 1;
        if (i % 4 == 0)
            bits >>= next_random() % 31;
        float low = f32_of(bits), high = f32_of(bits + 1);
        if (!(low < 1))
            continue;
        int size = snprintf(text, sizeof text - 10, "%.150f", ((double)low + (double)high) / 2);
        expect_f32(text, bits % 2 ? high : low);
        memcpy(text + size, "0001", 5);
        expect_f32(text, high);
        while (text[--size] != '5')
            ;
        memcpy(text + size, "4999", 5);
        expect_f32(text, low);
    }
}

static void a_million_digits_are_read_exactly(void **state)
{
    (void)state;
    enum { N = 1000000 };
    char *text = malloc(N + 64);
    assert_non_null(text);

    memset(text, '0', N);                           // 1000…0e-999999
    text[0] = '1';
    strcpy(text + N, "e-999999");
    expect_real(text, 1.0);
    text[N - 1] = '1';
    expect_real(text, 1.0);

    memset(text, '0', N);                           // 0.000…01e999998
    text[1] = '.';
    strcpy(text + N - 1, "1e999998");
    expect_real(text, 1.0);

    memset(text, '0', N);                           // halfway, then a 1 after a million zeros
    memcpy(text, "9007199254740993.", 17);
    text[N] = '\0';
    expect_real(text, 0x1p53);
    strcpy(text + N, "1");
    expect_real(text, 0x1.0000000000001p53);

    memset(text, '9', N);                           // 0.999…9
    memcpy(text, "0.", 2);
    text[N] = '\0';
    expect_real(text, 1.0);
    expect_f32(text, 1.0F);

    number n;                                       // 999…9
    text[1] = '9';
    text[0] = '9';
    assert_int_equal(number_parse(text, N, &n), N);
    assert_int_equal(n.kind, NUMBER_OVERFLOW);
    free(text);
}

static void to_f32_rounds_and_widens(void **state)
{
    (void)state;
    assert_true(number_to_f32(0.1) == 0x1.99999ap-4);
    assert_true(number_to_f32(1.0) == 1.0);
    assert_true(number_to_f32(0x1.000001p0) == 1.0);
    assert_true(number_to_f32(0x1.000003p0) == 0x1.000004p0);
    assert_true(number_to_f32(1e-60) == 0.0);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_written_as_they_are),
        cmocka_unit_test(every_length_of_integer_is_right_at_its_ends),
        cmocka_unit_test(integers_come_back),
        cmocka_unit_test(reals_are_written_as_nlohmann_writes_them),
        cmocka_unit_test(nothing_after_the_text_is_written),
        cmocka_unit_test(reals_come_back),
        cmocka_unit_test(f32_are_written_shortest),
        cmocka_unit_test(sampled_f32_are_shortest_and_come_back),
        cmocka_unit_test(strided_f32_come_back),
        cmocka_unit_test(the_kind_follows_from_text_and_range),
        cmocka_unit_test(a_text_that_is_not_a_number_is_refused),
        cmocka_unit_test(every_prefix_has_the_length_that_the_grammar_says),
        cmocka_unit_test(random_texts_have_the_length_that_the_grammar_says),
        cmocka_unit_test(reals_round_to_nearest_ties_to_even),
        cmocka_unit_test(overflow_begins_halfway_above_the_greatest),
        cmocka_unit_test(halfway_points_of_any_length_go_to_even),
        cmocka_unit_test(f32_is_rounded_once),
        cmocka_unit_test(a_million_digits_are_read_exactly),
        cmocka_unit_test(to_f32_rounds_and_widens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
