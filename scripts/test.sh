#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# test.sh [PRESET [CTEST OPTIONS…]]: installs what is missing on Debian 12, builds PRESET (dev) and runs its tests. The
# exit code is ctest's. With CI in the environment it also fails if a test was skipped that tests/skips.txt does not
# list.
#
#   sh scripts/test.sh                  everything, as configured for daily work
#   sh scripts/test.sh asan             under AddressSanitizer and UndefinedBehaviorSanitizer
#   sh scripts/test.sh asan-clang       the same with clang, which detects more
#   sh scripts/test.sh dev -R network   tests whose name contains "network"
set -eu

preset=${1:-dev}
[ $# -eq 0 ] || shift
top=$(cd "$(dirname "$0")/.." && pwd)

case $preset in
release | bench-peers)
    echo "test.sh: preset $preset has no tests; these have: dev dev-clang asan asan-clang tsan coverage fuzz" >&2
    exit 2 ;;
esac

sh "$top/scripts/build.sh" "$preset"
cd "$top"
rm -f "build/$preset/skips/"* "build/$preset/seconds"
# Some tests wait for the disk: one more than there are processors runs.
ctest --preset "$preset" -j "${JOBS:-$(($(nproc) + 1))}" "$@" </dev/null
sh scripts/seconds.sh "build/$preset"
[ "$preset" = dev-clang ] || echo "the work of calls is counted by the test linear of another preset: sh scripts/test.sh dev-clang -R linear"
sh scripts/skips.sh "build/$preset" || [ -z "${CI:-}" ]
