#!/bin/sh
# words_planted.sh: words.sh finds a listed phrase in every kind of text, and nothing else.
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

[ "$failed" -eq 0 ] && echo "every plant is found"
exit "$failed"
