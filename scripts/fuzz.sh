#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# fuzz.sh [SECONDS [TARGET…]]: runs each fuzz target (all of them) for SECONDS (60). Inputs that reach new code are kept
# in build/fuzz/tests/corpus/TARGET, and the next run begins with them. An input that crashes is left next to that
# folder as TARGET-crash-…. tests/fuzz/corpus/TARGET is read, not written. XIR_FUZZ_MB (4096) limits the memory of a
# target; where it is less than 1 GiB, AddressSanitizer keeps 16 MB of freed memory, not 256.
set -eu

seconds=${1:-60}
megabytes=${XIR_FUZZ_MB:-4096}
[ "$megabytes" -ge 1024 ] || export ASAN_OPTIONS="quarantine_size_mb=16:${ASAN_OPTIONS:-}"
[ $# -eq 0 ] || shift
top=$(cd "$(dirname "$0")/.." && pwd)
tests=$top/build/fuzz/tests

sh "$top/scripts/build.sh" fuzz
[ $# -gt 0 ] || set -- $(cd "$top/tests/fuzz" && ls fuzz_*.c | sed 's/^fuzz_//; s/\.c$//')

failed=
for name in "$@"; do
    (
        printf '\n== %s, %s s\n' "$name" "$seconds"
        found=$tests/corpus/$name
        mkdir -p "$found"
        set -- "$found"
        [ ! -d "$top/tests/fuzz/corpus/$name" ] || set -- "$@" "$top/tests/fuzz/corpus/$name"
        [ ! -f "$top/tests/fuzz/$name.dict" ] || set -- "-dict=$top/tests/fuzz/$name.dict" "$@"
        exec "$tests/fuzz_$name" -max_total_time="$seconds" -rss_limit_mb="$megabytes" -print_final_stats=1 \
            -artifact_prefix="$found-" "$@" </dev/null
    ) || failed="$failed $name"
done

[ -z "$failed" ] || { echo "fuzz.sh: failed:$failed" >&2; exit 1; }
