#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# words_planted.sh: words.sh finds a listed phrase in every kind of text, however many, and nothing else.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
mkdir "$work/scripts"
printf '# comment\n\\bplugh\\b\txyzzy\n' >"$work/scripts/words.txt"
failed=0

for file in a.c a.h a.def a.cpp a.hpp a.md a.sh a.awk a.py a.txt a.cmake a.json a.svg; do
    printf 'a line\nthe Plugh is here\n' >"$work/$file"
    if sh "$here/words.sh" "$work" >"$work/out.log" || ! grep -q "^$file:2: \"Plugh\": xyzzy\$" "$work/out.log"; then
        echo "words.sh does not find the phrase in $file"
        failed=1
    fi
    printf 'plughs are not listed\n' >"$work/$file"
    if ! sh "$here/words.sh" "$work" >"$work/out.log"; then
        echo "words.sh finds a phrase in $file that is not listed"
        failed=1
    fi
    rm "$work/$file"
done
if sh "$here/words.sh" "$work" >"$work/out.log" 2>&1; then
    echo "words.sh succeeds without files"
    failed=1
fi

# found LINES…: words.sh prints exactly these lines before the last one.
found() {
    sh "$here/words.sh" "$work" >"$work/out.log" 2>&1
    printf '%s\n' "$@" >"$work/want.log"
    sed '$d' "$work/out.log" | cmp -s - "$work/want.log" && return
    echo "words.sh does not print: $*"
    sed 's/^/    /' "$work/out.log"
    failed=1
}

# Patterns apply to lines, each by itself: one does not change the next one.
printf 'plugh|xyzzy\tone\n^start\ttwo\n(?<!not )end(?=[.]|$)\tthree\n(?-i:UP)per\tfour\n' >"$work/scripts/words.txt"
printf 'Xyzzy, plugh\nno start\nSTART plugh\n' >"$work/a b.c"
printf 'not end\nthe end is\nThe End.\nend' >"$work/b.c"
printf 'upper\nUPPER \0 \377 plugh\r\nnot \nend\n' >"$work/c.c"
found 'a b.c:1: "Xyzzy": one' 'a b.c:3: "plugh": one' 'a b.c:3: "START": two' 'b.c:3: "End": three' \
    'b.c:4: "end": three' 'c.c:2: "plugh": one' 'c.c:2: "UPPER": four' 'c.c:4: "end": three'

# Each of many files is read.
rm "$work"/*.c
for i in $(seq 1001 2002); do echo >"$work/$i.c"; done
for i in 1001 2000 2001 2002; do echo plugh >"$work/$i.c"; done
found '1001.c:1: "plugh": one' '2000.c:1: "plugh": one' '2001.c:1: "plugh": one' '2002.c:1: "plugh": one'

# A pattern that is malformed is an error, not a tree without phrases.
printf '(plugh\tone\n' >"$work/scripts/words.txt"
if sh "$here/words.sh" "$work" >"$work/out.log" 2>&1; then
    echo "words.sh accepts a malformed pattern"
    failed=1
fi

[ "$failed" -eq 0 ] && echo "every plant is found"
exit "$failed"
