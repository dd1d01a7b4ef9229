#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# commit.sh TOP WORK CMAKE: cmake/XirCommit.cmake finds the commit of a checkout and of a source archive, and finds none
# in a folder that is neither, without git, and where git refuses. There is always a date.
set -eu
top=$1
work=$2
cmake=$3
unset SOURCE_DATE_EPOCH

rm -rf "$work"
mkdir -p "$work/plain/cmake"
cp "$top/cmake/XirCommit.cmake" "$top/cmake/commit.txt" "$work/plain/cmake"
failed=0

# expect WHAT COMMIT DATE FOLDER [OPTION…]: both are extended regular expressions.
expect() {
    what=$1 commit=$2 date=$3 folder=$4
    shift 4
    "$cmake" "-DTOP=$folder" "-DOUT=$work/commit.h" "$@" -P "$folder/cmake/XirCommit.cmake" || failed=1
    grep -qE "^#define XIR_COMMIT \"$commit\"\$" "$work/commit.h" && grep -qE "^#define XIR_DATE \"$date\"\$" "$work/commit.h" ||
        { echo "$what:"; cat "$work/commit.h"; failed=1; }
}
day='[0-9]{4}-[0-9]{2}-[0-9]{2}'

expect "a folder" "" "$day" "$work/plain"
SOURCE_DATE_EPOCH=1000000000 expect "a given day" "" 2001-09-09 "$work/plain"

mkdir "$work/plain/.git"
expect "git refuses" "" "$day" "$work/plain"
expect "no git" "" "$day" "$work/plain" -DXIR_GIT=XIR_GIT-NOTFOUND

echo '3ded0cd7 2026-01-02 ' >"$work/plain/cmake/commit.txt"
expect "an archive" 3ded0cd7 2026-01-02 "$work/plain"
echo '3ded0cd7 2026-01-02 v0.1.0-5-g3ded0cd7' >"$work/plain/cmake/commit.txt"
expect "an archive after a tag" v0.1.0-5-g3ded0cd7 2026-01-02 "$work/plain"

if command -v git >/dev/null && git -C "$top" rev-parse HEAD >"$work/head" 2>/dev/null; then
    hash=$(cut -c1-7 "$work/head")
    expect "a checkout" "(v.*-g)?$hash[0-9a-f]*(-dirty)?|v[^-]*(-dirty)?" "$day" "$top"
    mkdir "$work/archive"
    git -C "$top" archive HEAD .gitattributes cmake | tar -xf - -C "$work/archive"
    if [ -f "$work/archive/cmake/commit.txt" ]; then
        expect "git archive" "(v.*-g)?$hash[0-9a-f]*|v[^-]*" "$day" "$work/archive"
    fi
fi
exit $failed
