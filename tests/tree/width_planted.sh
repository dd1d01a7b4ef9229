#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# width_planted.sh: width.sh finds a line of 121 columns in every kind of text, and accepts the lines that it exempts.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
mkdir "$work/docs"
failed=0
long=xxxxxxxxxxxxxxxxxxxx
long=$long$long$long$long$long$long     # 120 columns

# plant FILE LINE…: the tree consists of this file with these lines, and a file without a fault.
plant() {
    rm -f "$work"/*.* "$work"/docs/*
    echo x >"$work/fine.c"
    file=$1
    shift
    printf '%s\n' "$@" >"$work/$file"
}

# wide FILE LINES…: width.sh names the first line of the file.
wide() {
    plant "$@"
    if sh "$here/width.sh" "$work" >"$work/out" || ! grep -q "^$1:1: 121 columns\$" "$work/out"; then
        echo "width.sh does not find the line: $2"
        failed=1
    fi
}

# fine FILE LINES…: width.sh finds nothing.
fine() {
    plant "$@"
    if ! sh "$here/width.sh" "$work" >"$work/out"; then
        echo "width.sh does not accept the line: $2"
        failed=1
    fi
}

for file in a.c a.h a.def a.cpp a.hpp a.sh a.awk a.py a.cmake CMakeLists.txt a.md docs/a.md; do
    wide "$file" "x$long"
    fine "$file" "$long"
done
fine a.c 'ä'"${long#x}"                             # 120 characters, 121 bytes
wide a.md "x$long" '```' "$long"                    # before a fenced block
fine a.md '```' "$long$long" '```'
fine a.md "| $long |"
fine docs/ops.md "$long$long"
fine a.c "    { $long },"
fine a.c "    ROW($long)"
fine a.c "    call(\"$long\");"
wide a.c "    { ${long#xxxxx}"                      # not a whole row

[ "$failed" -eq 0 ] && echo "every plant is found"
exit "$failed"
