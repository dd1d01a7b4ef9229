/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The remainder of reals has the bits of C's fmod, for all pairs of exponents and for the borders. */
#include <math.h>
#include <stdio.h>
#include "remainder.h"
#include "support/net.h"
#include "support/often.h"

enum { CASES = OFTEN(20000) };

static uint64_t bits_of(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static void check_pair(double x, double y) {
    const double found = real_mod(x, y), expected = fmod(x, y);
    if (bits_of(found) == bits_of(expected) || (isnan(found) && isnan(expected))) return;
    fail_msg("%a mod %a: expected %a, found %a", x, y, expected, found);
}

static void borders(void **state) {
    (void)state;
    static const double at[] = { 0, 0x1p-1074, 0x0.fffffffffffffp-1022, 0x1p-1022, 0x1p-32, 1, 0x1.0000000000001p0, 3,
                                 0x1p32, 0x1.fffffp33, 0x1.fffffffffffffp52, 0x1p63, 0x1.fffffffffffffp1023, INFINITY,
                                 NAN };
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        for (size_t j = 0; j < sizeof at / sizeof *at; j++) {
            for (int signs = 0; signs < 4; signs++) check_pair(signs & 1 ? -at[i] : at[i], signs & 2 ? -at[j] : at[j]);
        }
    }
}

/* Any 64 bits are a number; every third divisor is subnormal or a power of two. */
static void any_two(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i++) {
        uint64_t x = chance(UINT64_MAX), y = chance(UINT64_MAX);
        if (i % 6 == 0) y &= UINT64_C(0x800fffffffffffff) >> i % 40;
        if (i % 6 == 3) y &= UINT64_C(0xfff0000000000000);
        double of_x, of_y;
        memcpy(&of_x, &x, sizeof x), memcpy(&of_y, &y, sizeof y);
        check_pair(of_x, of_y);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(borders),
        cmocka_unit_test(any_two),
    };
    return RUN_GROUP(tests);
}
