#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# readme.sh README INCLUDE COMPILER STANDARD: the first program of README.md compiles without a warning.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $4 in
c++*) program=$work/tiny.cpp ;;
*)    program=$work/tiny.c ;;
esac
awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit } on' "$1" >"$program"
grep -q '^int main' "$program" || { echo "no program in $1"; exit 1; }
"$3" -std="$4" -Wall -Wextra -Wpedantic -Werror -I"$2" -c "$program" -o "$work/tiny.o"
