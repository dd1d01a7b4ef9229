#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# alone.sh COMPILER INCLUDE: every header below INCLUDE/xir compiles alone and when it is included twice, without a
# warning, in C11 (gcc, clang) or C++17 (g++, clang++), where those of C++ are included too. So do init.c and list.c,
# which use their macros, and xir.hpp includes at most 1 MB of text. textual.txt, next to this script, names the headers
# that are included as text, once per list.
set -u

compiler=$1
include=$2
here=$(dirname "$0")

case $compiler in
*++) options="-x c++ -std=c++17 -Wall -Wextra -Wpedantic" ;;
*)   options="-x c -std=c11 -Wall -Wextra -Wpedantic -Wstrict-prototypes" ;;
esac

count=0
failed=0
list=$(mktemp) || exit 2
trap 'rm -f "$list"' EXIT
case $compiler in
*++) (cd "$include" && find xir -name '*.h' -o -name '*.hpp') | sort >"$list" ;;
*)   (cd "$include" && find xir -name '*.h') | sort >"$list" ;;
esac

while IFS= read -r header; do
    if [ -f "$here/textual.txt" ] && grep -qxF "$header" "$here/textual.txt"; then
        continue
    fi
    count=$((count + 1))
    # Options are words. A declaration follows, because an empty unit is a warning.
    if ! printf '#include <%s>\n#include <%s>\nextern int alone;\n' "$header" "$header" |
        "$compiler" $options -Werror -fsyntax-only -I"$include" -; then
        echo "$header does not compile alone with: $compiler $options"
        failed=$((failed + 1))
    fi
done <"$list"

# Programs that use their macros; a list of ops once more as it has grown.
for program in init.c list.c "list.c -DGROWN"; do
    count=$((count + 1))
    if ! "$compiler" $options -Wmissing-field-initializers -Werror -fsyntax-only -I"$include" -iquote "$here" \
        "$here"/$program; then
        echo "$program does not compile with: $compiler $options"
        failed=$((failed + 1))
    fi
done

# Time is not counted, but text: each header of the library of C++ adds to it, <cmath> 300 KB.
if [ "${compiler%++}" != "$compiler" ]; then
    bytes=$(echo '#include <xir/xir.hpp>' | "$compiler" $options -E -P -I"$include" - | wc -c)
    if [ "$bytes" -gt 1000000 ] || [ "$bytes" -eq 0 ]; then
        echo "xir.hpp is $bytes bytes with what it includes: at most 1000000 were expected"
        failed=$((failed + 1))
    fi
fi

echo "$count headers, $failed failed: $compiler $options"
[ "$count" -gt 0 ] && [ "$failed" -eq 0 ]
