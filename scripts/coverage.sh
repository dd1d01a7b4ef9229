#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# coverage.sh: runs the tests of preset coverage and prints the share of each folder's lines and branches that they
# execute. build/coverage/gcov/*.gcov marks the lines that are not executed by "#####".
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=$top/build/coverage

sh "$top/scripts/build.sh" coverage
find "$build" -name '*.gcda' -exec rm -f {} +
cd "$top"
ctest --preset coverage -j "${JOBS:-$(nproc)}" </dev/null

rm -rf "$build/gcov"
mkdir -p "$build/gcov"
cd "$build/gcov"
find "$build/CMakeFiles" -name '*.gcda' -exec gcov -b -p -r -s "$top" {} + >summary.txt 2>/dev/null

# "File 'src/core/x.c'", then its lines and branches as "Lines executed:97.10% of 310".
awk -F"[':%]| of " '
    function add(kind) { hit[folder, kind] += $2 * $4 / 100; all[folder, kind] += $4 }
    /^File/                   { split($2, part, "/"); folder = part[1] "/" part[2]; seen[folder] = part[1] == "src" }
    /^Lines executed/         { add("lines") }
    /^Taken at least once/    { add("branches") }
    /^$/                      { folder = "" }
    function share(f, kind) { return all[f, kind] ? 100 * hit[f, kind] / all[f, kind] : 100 }
    END {
        for (f in seen)
            if (seen[f])
                printf "%-16s %7d lines %6.2f %%   %7d branches %6.2f %%\n",
                    f, all[f, "lines"], share(f, "lines"), all[f, "branches"], share(f, "branches")
    }' summary.txt | sort
