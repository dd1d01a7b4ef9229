#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# syntax.sh COMPILER…: checks the source that this command compiles, and leaves an empty object. A launcher of CMake's.
set -eu

out=
last=
for word in "$@"; do
    [ "$last" = -o ] && out=$word
    last=$word
done
"$@" -fsyntax-only
: >"$out"
