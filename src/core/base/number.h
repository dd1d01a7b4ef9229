/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Numbers as text, both ways.
 *
 * A double is written digit for digit as nlohmann-json 3.11 writes it, so that files compare equal. A float32 is
 * written as the shortest text that reads back as itself. Reading follows the grammar of JSON and rounds to nearest,
 * ties to even, for texts of any length.
 *
 * Nothing here allocates, uses the locale, writes a terminating zero or reads past the end of its input. The
 * processor must be in its default rounding mode. */

#ifndef XIR_CORE_NUMBER_H
#define XIR_CORE_NUMBER_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Room for any one number. Writing returns the length of the text, which is at most 20 for integers, 24 for doubles
 * and 17 for float32. number_put_real and number_put_f32 may also overwrite the bytes after the text, up to
 * NUMBER_ROOM from `out`. */
enum { NUMBER_ROOM = 32 };

static inline bool is_digit(int c) { return c >= '0' && c <= '9'; }

/* These write nothing after their text. */
size_t number_put_i64(char *out, int64_t v);
size_t number_put_u64(char *out, uint64_t v);

/* Writes a finite `v` as nlohmann::json(v).dump() does: "0.1", "1.0", "-0.0", "1e-05", "1.2345678901234568e+17";
 * without an exponent from 1e-4 to below 1e15. The text reads back as `v`. About one text in a hundred could be
 * shorter or nearer (Grisu2, Loitsch 2010). */
size_t number_put_real(char *out, double v);

/* Writes a finite `v` with the fewest digits that read back as `v`; among those, the nearest to it: "1", "-0", "0.1",
 * "0.00013890066", "3.0874726e-05", "1e+16"; without an exponent from 1e-4 to below 1e16. */
size_t number_put_f32(char *out, float v);

/* The value of a text, as nlohmann-json reads it: an integer without fraction and exponent is I64 if it fits ("-0"
 * is the integer 0), otherwise U64 if it fits, otherwise REAL. */
typedef enum {
    NUMBER_I64,         // .i64
    NUMBER_U64,         // .u64, above INT64_MAX
    NUMBER_REAL,        // .real, finite; a number too small to differ from zero is zero
    NUMBER_OVERFLOW,    // .real, an infinity: the magnitude rounds to 2^1024 or more
} number_kind;

typedef struct {
    number_kind kind;
    union {
        int64_t  i64;
        uint64_t u64;
        double   real;
    };
} number;

/* Reads the longest JSON number at the beginning of `text` and returns its length. Returns 0 and leaves `out`
 * unchanged if there is none: "-", "+1", ".5", "nan". The caller decides what may follow: "01" is a 0 of length 1;
 * "1.", "1e+" and "1.x" are a 1 of length 1. The time is linear in the length. */
size_t number_parse(const char *text, size_t size, number *out);

/* The same with one rounding, directly to float32; "-0" is minus zero. Also returns 0 for a number that rounds to
 * infinity. */
size_t number_parse_f32(const char *text, size_t size, float *out);

/* The nearest float32, widened again; infinity if the magnitude is too large. Through memory: gcc 12 at -O2 loses the
 * conversion if two of them are adjacent (it vectorises both away). */
static inline double number_to_f32(double v)
{
    volatile float rounded = (float)v;
    return (double)rounded;
}

/* Returns true if a finite number becomes infinite as a float32. */
static inline bool number_beyond_f32(double v)
{
    double rounded = number_to_f32(v);
    return v >= -DBL_MAX && v <= DBL_MAX && (rounded < -FLT_MAX || rounded > FLT_MAX);
}

/* ---- Between number_*.c ---- */

struct number_wide {
    uint64_t high, low;
};

extern const char number_pair[200];
extern const uint64_t number_ten[20];
extern const uint64_t number_cached[79];            // from 10^-300 in steps of 10^8
extern const struct number_wide number_power[651];  // from 10^-342 in steps of 10

enum { NUMBER_CACHED_LEAST = -300, NUMBER_CACHED_STEP = 8 };
enum { NUMBER_POWER_LEAST = -342, NUMBER_POWER_MOST = 308 };

/* The greatest e with 2^e <= 10^q, for q from -342 to 324 (proved where the tables are made). On every compiler that
 * XIR supports, shifting a negative number right is arithmetic. */
static inline int number_log2_ten(int q)
{
    return (q * 217706) >> 16;
}

/* The number of leading zeros of a nonzero `v`. */
static inline int number_leading_zeros(uint64_t v)
{
#if defined __GNUC__
    return __builtin_clzll(v);
#else
    int n = 0;
    for (; !(v >> 63); v <<= 1)
        n++;
    return n;
#endif
}

static inline struct number_wide number_multiply(uint64_t a, uint64_t b)
{
#if defined __SIZEOF_INT128__ && !defined NUMBER_WITHOUT_INT128
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (struct number_wide){ (uint64_t)(product >> 64), (uint64_t)product };
#else
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
    uint64_t one = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
    uint64_t two = (a & UINT32_MAX) * (b >> 32) + (one & UINT32_MAX);
    return (struct number_wide){ (a >> 32) * (b >> 32) + (one >> 32) + (two >> 32),
                                 (two << 32) | (low & UINT32_MAX) };
#endif
}

/* Eight characters as a word, the first in the lowest byte, whatever the byte order of the machine. */
static inline uint64_t number_load(const char *at)
{
    uint64_t v = 0;
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(&v, at, sizeof v);
#else
    for (int i = 0; i < 8; i++)
        v |= (uint64_t)(unsigned char)at[i] << 8 * i;
#endif
    return v;
}

static inline void number_store(char *out, uint64_t v)
{
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(out, &v, sizeof v);
#else
    for (int i = 0; i < 8; i++)
        out[i] = (char)(v >> 8 * i & 0xff);
#endif
}

#endif
