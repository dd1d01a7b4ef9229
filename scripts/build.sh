#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# build.sh [PRESET [TARGET…]]: installs what PRESET (dev) needs, configures it, and builds it, or only the targets, in
# build/PRESET. JOBS is the number of parallel jobs; the default is the number of processors.
set -eu

preset=${1:-dev}
[ $# -eq 0 ] || shift
top=$(cd "$(dirname "$0")/.." && pwd)

case $preset in
release)     needs="build" ;;
bench-peers) needs="build peers" ;;
dev-clang)   needs="build test clang" ;;
fuzz)        needs="build fuzz" ;;
*)           needs="build test" ;;
esac
sh "$top/scripts/setup.sh" $needs

cd "$top"
cmake --preset "$preset"
cmake --build --preset "$preset" --parallel "${JOBS:-$(nproc)}" ${1:+--target "$@"}
