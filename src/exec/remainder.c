/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The remainder of reals. Libraries divide bit by bit: if x is huge and y tiny, that takes some microseconds. Here the
 * mantissas are integers a and b, so that the remainder is a * 2^e mod b, and the power takes a multiplication for each
 * bit of e. */
#include "remainder.h"
#include <math.h>
#include <stdint.h>

#ifdef __SIZEOF_INT128__
static uint64_t times_mod(uint64_t a, uint64_t b, uint64_t m) {
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)a * b % m);
}

/* 2^e mod m, for m from 2^52 and e below 2^12. */
static uint64_t power_mod(unsigned e, uint64_t m) {
    enum { BITS = 6 };
    uint64_t power = times_mod((uint64_t)1 << (e >> BITS), 1, m);
    for (int i = BITS - 1; i >= 0; i--) {
        power = times_mod(power, power, m);
        if (e >> i & 1) power = power * 2 % m;
    }
    return power;
}

double real_mod(double x, double y) {
    enum { MANTISSA = 53, NEAR = 32 };
    int ex, ey;
    if (!isfinite(x) || !isfinite(y) || y == 0) return fmod(x, y);
    const double a = frexp(fabs(x), &ex), b = frexp(fabs(y), &ey);
    if (x == 0 || ex - ey <= NEAR) return fmod(x, y);
    const uint64_t m = (uint64_t)ldexp(b, MANTISSA);
    const uint64_t rest = times_mod((uint64_t)ldexp(a, MANTISSA), power_mod((unsigned)(ex - ey), m), m);
    return copysign(ldexp((double)rest, ey - MANTISSA), x);   // exact: a multiple of the last bit of y, and below y
}
#else
double real_mod(double x, double y) { return fmod(x, y); }
#endif
