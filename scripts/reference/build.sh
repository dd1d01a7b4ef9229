#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# build.sh OUT VERSION: builds the reference of the public headers in the folder OUT: html/index.html, xir.tag, and
# warnings.txt, which is empty if all is well. It needs perl and doxygen.
set -eu

out=${1:?usage: build.sh OUT VERSION}
version=${2:?usage: build.sh OUT VERSION}
scripts=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$scripts/../.." && pwd)
for program in perl doxygen; do
    command -v "$program" >/dev/null || { echo "build.sh: the reference needs $program, which is not installed" >&2; exit 1; }
done

mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -rf "$out/html" "$out/pages" "$out/examples"
perl "$scripts/pages.pl" "$top" "$out/pages"
perl "$scripts/examples.pl" "$top" "$out/examples"

# Paths may have blanks: Doxygen takes quoted ones. The filters get theirs from the environment.
input="\"$out/pages\""
for page in "$top"/*.md "$top"/docs/*.md; do
    input="$input \"$page\""
done
for header in $(perl -I"$scripts" -e 'use headers "header_files"; print map { s{.*/}{}r . "\n" } header_files($ARGV[0])' \
    "$top/include"); do
    input="$input \"$top/include/xir/$header\""
done
input="$input \"$top/include/xir/xir.hpp\""
export EXAMPLES="$out/examples" TOP="$top" OUT="$out" VERSION="$version" INPUT="$input" SCRIPTS="$scripts"
cd "$out"
doxygen "$scripts/Doxyfile"
