#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# seconds.sh BUILD [--budget]: prints the processor seconds of the tests that ran last in BUILD: the sum, and the ten
# largest. With --budget it fails if a test took more than it may: 8 s, or what tests/slow.txt grants it.
#
# Limits hold on a machine where the loop of tests/timing/seconds.c takes 5 ms, and the start of a process 1 ms. On
# others they are scaled: by the loop, as it ran after all tests or after this one, whichever took longer; for a test
# that spends a tenth of its time in the kernel also by the start, since under some hypervisors a process costs ten
# times as much. Half as much again is not reported: tests that run at the same time share caches.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=$1
[ -f "$build/seconds" ] || { echo "seconds.sh: no test has run in $build" >&2; exit 1; }

# "SECONDS NAME SYSTEM LOOP START"; a test that ran several times counts with its last run.
awk '{ last[$3] = sprintf("%.3f %s %s %s %s", $1 + $2, $3, $2, $4, $5) } END { for (name in last) print last[name] }' \
    "$build/seconds" | LC_ALL=C sort -rn >"$build/seconds.sorted"
awk '{ sum += $1; loop += $4; start += $5 }
    END { printf "%d tests took %.0f s of processor time (the loop %.1f ms, a start %.1f ms); the largest:\n", NR, sum,
                 1000 * loop / NR, 1000 * start / NR }' "$build/seconds.sorted"
head -n 10 "$build/seconds.sorted" | cut -d' ' -f1,2
[ "${2:-}" = --budget ] || exit 0

awk -v preset="$(basename "$build")" '
    FILENAME ~ /slow.txt$/ {
        if (/^#/ || !NF) next
        if ($2 == preset || $2 == "-") most[$1] = $3
        next
    }
    { took[$2] = $1; inside[$2] = $3; own[$2] = $4; loop += $4; start += $5; n++ }
    END {
        for (name in took) {
            scale = (own[name] > loop / n ? own[name] : loop / n) / 0.005
            if (inside[name] > took[name] / 10 && start / n / 0.001 > scale) scale = start / n / 0.001
            limit = (name in most ? most[name] : 8) * scale * 1.5
            if (took[name] <= limit) continue
            printf "%s took %.1f s, more than %.1f s (tests/slow.txt)\n", name, took[name], limit
            failed = 1
        }
        exit failed
    }' "$top/tests/slow.txt" "$build/seconds.sorted"
