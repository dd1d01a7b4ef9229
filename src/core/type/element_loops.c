/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The paths of element_loops.h, from one text. FMA is not enabled: there is nothing to fuse. */
#include "element_loops.h"
#include <stdlib.h>
#include <string.h>

#define BITS_INFINITE UINT64_C(0x7FF0000000000000)
#define BITS_NAN      UINT64_C(0x7FF8000000000000)
#define SIGN          UINT64_C(0x8000000000000000)
#define INLINED       static inline __attribute__((always_inline))

INLINED uint64_t bits_of(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}
INLINED double double_of(uint64_t bits) {
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
/* 2^n, of a normal number. */
INLINED double power_of_2(int n) { return double_of((uint64_t)(n + 1023) << 52); }

/* Limited to a range; NaN becomes 0. */
INLINED double within(double x, double low, double high) {
    x = x > high ? high : x;
    x = x < low ? low : x;
    return x == x ? x : 0;
}

/* The same as round(), without a call: numbers of 2^52 and more have no fraction, and adding 2^52 to others rounds ties
 * to even, so that a tie that went down is corrected. The sign of a zero is lost. */
INLINED double half_away(double x) {
    const double size = double_of(bits_of(x) & ~SIGN), even = (size + 0x1p52) - 0x1p52;
    const double away = size - even == 0.5 ? even + 1 : even, rounded = size < 0x1p52 ? away : size;
    return x < 0 ? -rounded : rounded;
}

#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { STORED_AS_HERE = 1 };
#else
enum { STORED_AS_HERE = 0 };
#endif

element_store element_store_of(element_format f) {
    static const element_store widths[] = { STORED_U8, STORED_U16, STORED_U32, STORED_U64 };
    if (!STORED_AS_HERE) return STORED_OTHER;
    switch (f.kind) {
    case ELEMENT_NONE:     break;
    case ELEMENT_BOOL:     return f.bits == 8 ? STORED_BOOL : STORED_OTHER;
    case ELEMENT_FLOAT:
        if (f.mantissa == 52) return STORED_F64;
        if (f.mantissa == 23) return STORED_F32;
        return f.bits == 32 ? STORED_TF32 : STORED_F16;
    case ELEMENT_SIGNED:
    case ELEMENT_UNSIGNED:
        for (unsigned i = 0; i < sizeof widths / sizeof *widths; i++) {
            /* ORDER element_store: a signed one is before the unsigned one. */
            if (f.bits == 8u << i) return (element_store)(widths[i] - (f.kind == ELEMENT_SIGNED));
        }
        break;
    }
    return STORED_OTHER;
}

#define PATH(name) plain_##name
#define PATH_NAME  "plain"
#define TARGET
#include "element_loops_path.h"

#if defined __x86_64__

#define PATH(name) avx2_##name
#define PATH_NAME  "avx2"
#define TARGET     __attribute__((target("avx2")))
#include "element_loops_path.h"

#define PATH(name) avx512_##name
#define PATH_NAME  "avx512"
#define TARGET     __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2")))
#include "element_loops_path.h"

const element_loops *element_loops_at(size_t i) {
    const bool avx2 = __builtin_cpu_supports("avx2");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return i == 0 ? &plain_loops : i == 1 && avx2 ? &avx2_loops : i == 2 && avx512 ? &avx512_loops : NULL;
}

#else
const element_loops *element_loops_at(size_t i) { return i == 0 ? &plain_loops : NULL; }
#endif

const element_loops *element_loops_now(void) {
    const char *word = getenv("XIR_EXEC_PATH");
    const element_loops *best = &plain_loops, *now;
    for (size_t i = 0; (now = element_loops_at(i)); i++) {
        best = now;
        if (word && strcmp(word, now->name) == 0) break;
    }
    return best;
}
