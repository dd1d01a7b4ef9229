#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# seconds.sh BUILD [--budget]: prints the processor seconds of the tests that ran last in BUILD: the sum, and the ten
# largest. With --budget it fails if a test took more than it may: 8 s, or what tests/slow.txt grants it.
#
# Limits hold on a machine where the loop of tests/timing/seconds.c takes 0.25 s; on others they are scaled by that
# loop. A quarter more is not reported: other programs on the same processor cost that.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=$1
[ -f "$build/seconds" ] || { echo "seconds.sh: no test has run in $build" >&2; exit 1; }

# A test that ran several times counts with its last run.
awk '{ last[$2] = $1 } END { for (name in last) print last[name], name }' "$build/seconds" |
    LC_ALL=C sort -rn >"$build/seconds.sorted"
awk '{ sum += $1 } END { printf "%d tests took %.0f s of processor time; the largest:\n", NR, sum }' "$build/seconds.sorted"
head -n 10 "$build/seconds.sorted"
[ "${2:-}" = --budget ] || exit 0

awk -v preset="$(basename "$build")" -v loop="$("$build/tests/seconds")" '
    BEGIN { scale = loop / 0.25 }
    FILENAME ~ /slow.txt$/ {
        if (/^#/ || !NF) next
        if ($2 == preset || $2 == "-") most[$1] = $3
        next
    }
    {
        limit = ($2 in most ? most[$2] : 8) * scale * 1.25
        if ($1 <= limit) next
        printf "%s took %.1f s, more than %.1f s (tests/slow.txt)\n", $2, $1, limit
        failed = 1
    }
    END { exit failed }' "$top/tests/slow.txt" "$build/seconds.sorted"
