#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Print src/core/base/number_tables.c, computed with exact integers.

    scripts/make_number_tables.py > src/core/base/number_tables.c
    scripts/make_number_tables.py --check     compare with the checked-in file, exit 1 if different

number.h, number_print.c and number_parse.c estimate logarithms with integers. Those estimates are proved here over
their whole range before anything is printed, so a wrong constant cannot make a table.
"""

import os
import sys

POWER_LEAST, POWER_MOST = -342, 308               # 10^q for any double with up to 19 digits
CACHED_LEAST, CACHED_MOST, CACHED_STEP = -300, 324, 8   # Loitsch 2010, alpha = -60, gamma = -32


def floor_log2(num, den):
    """The greatest e with 2^e <= num/den."""
    e = num.bit_length() - den.bit_length()
    if e >= 0:
        return e if num >= den << e else e - 1
    return e if num << -e >= den else e - 1


def floor_log10(num, den):
    """The greatest k with 10^k <= num/den."""
    k = 0
    while num >= den * 10:
        k, den = k + 1, den * 10
    while num < den:
        k, num = k - 1, num * 10
    return k


def ten(q):
    """10^q as a fraction."""
    return (10 ** q, 1) if q >= 0 else (1, 10 ** -q)


def significand(q, bits, rounded):
    """The top `bits` bits of 10^q, truncated or rounded to the nearest."""
    num, den = ten(q)
    shift = bits - 1 - floor_log2(num, den)
    if shift >= 0:
        num <<= shift
    else:
        den <<= -shift
    value = (2 * num + den) // (2 * den) if rounded else num // den
    assert 1 << (bits - 1) <= value < 1 << bits
    return value


def two(e):
    """2^e as a fraction."""
    return (1 << e, 1) if e >= 0 else (1, 1 << -e)


def prove_estimates():
    # number.h, number_log2_ten
    for q in range(POWER_LEAST, CACHED_MOST + 1):
        assert (q * 217706) >> 16 == floor_log2(*ten(q)), q
    # number_print.c, decimal_length: log10(2) for widths up to 64 bits is right or one too high
    for width in range(1, 65):
        least, most = len(str(1 << (width - 1))), len(str((1 << width) - 1))
        guess = (width * 1233) >> 12
        assert guess <= least and most <= guess + 1 and guess <= 19, width
    # number_print.c, shortest_f32: floor(log10(2^e)) and floor(log10(3/4 * 2^e))
    for e in range(-149, 105):
        num, den = two(e)
        assert (e * 1262611) >> 22 == floor_log10(num, den), e
        assert (e * 1262611 - 524031) >> 22 == floor_log10(3 * num, 4 * den), e
    # number_print.c, cached_power: the scaled binary exponent lies in [alpha, gamma]
    for e in range(-1137, 961):
        k = -((-(-60 - e - 1) * 78913) >> 18)
        at = (k - CACHED_LEAST + CACHED_STEP - 1) // CACHED_STEP
        q = CACHED_LEAST + CACHED_STEP * at
        assert CACHED_LEAST <= q <= CACHED_MOST, e
        assert -60 <= e + (floor_log2(*ten(q)) - 63) + 64 <= -32, e


def rows(cells, per_row, label):
    lines = ["    " + " ".join(cell + "," for cell in cells[at:at + per_row])
             for at in range(0, len(cells), per_row)]
    for at, line in enumerate(lines):
        yield line.ljust(len(lines[0])) + "  // " + label(at * per_row)


def text():
    out = ["""\
/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Powers of ten, as the text of numbers needs them.  scripts/make_number_tables.py printed this
 * file from exact integers and `--check` compares; nothing here is edited by hand. */

#include "number.h"

/* "00" to "99": two digits are one copy. */
const char number_pair[200] = {"""]
    for tens in range(10):
        out.append("    " + ",".join(f"'{tens}','{ones}'" for ones in range(10)) + ",")
    out.append("""\
};

/* 10^0 to 10^19, all that fit 64 bits. */
const uint64_t number_ten[20] = {""")
    for q in range(20):
        out.append(f"    UINT64_C({10 ** q:20}),  // {q:2}")
    out.append(f"""\
}};

/* 10^q for q = {CACHED_LEAST}, {CACHED_LEAST + CACHED_STEP}, … {CACHED_MOST}:
 * the 64 leading bits, rounded to the nearest.  These are the cached powers of Grisu2; the remark
 * gives q of the first in the row. */
const uint64_t number_cached[{(CACHED_MOST - CACHED_LEAST) // CACHED_STEP + 1}] = {{""")
    cached = [f"0x{significand(q, 64, True):016x}"
              for q in range(CACHED_LEAST, CACHED_MOST + 1, CACHED_STEP)]
    out += rows(cached, 4, lambda at: f"{CACHED_LEAST + CACHED_STEP * at:4}")
    out.append(f"""\
}};

/* 10^q for q = {POWER_LEAST} … {POWER_MOST}: the 128 leading bits, cut off, high half first.
 * From q = 0 to 55 they are exact.  The remark gives q of the first in the row. */
const struct number_wide number_power[{POWER_MOST - POWER_LEAST + 1}] = {{""")
    power = []
    for q in range(POWER_LEAST, POWER_MOST + 1):
        value = significand(q, 128, False)
        power.append(f"{{0x{value >> 64:016x}, 0x{value & (1 << 64) - 1:016x}}}")
        assert (0 <= q <= 55) == (q >= 0 and 5 ** q < 1 << 128)
    out += rows(power, 2, lambda at: f"{POWER_LEAST + at:4}")
    out.append("};")
    return "\n".join(line.rstrip() for line in out) + "\n"


def main():
    prove_estimates()
    want = text()
    if sys.argv[1:] == []:
        sys.stdout.write(want)
    elif sys.argv[1:] == ["--check"]:
        root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        path = os.path.join(root, "src", "core", "base", "number_tables.c")
        with open(path, encoding="utf-8") as file:
            if file.read() != want:
                sys.exit(f"{path}: differs from what make_number_tables.py prints")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
