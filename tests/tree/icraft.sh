#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# icraft.sh TOP: every test and every public name that docs/icraft.md names exists. A test is PROGRAM: NAME, where the
# program of tests/…/PART/FILE.c is PART_FILE, or FILE if they are equal or PART is passes or serialize.
set -u
cd "$1" || exit 2
bad=0
say() { echo "docs/icraft.md: $*"; bad=1; }

# "PROGRAM: NAME" of every test.
exist() {
    find tests/core tests/library tests/passes tests/serialize -name '*.c' -exec awk '
        FNR == 1 {
            n = split(FILENAME, part, "/")
            program = part[n]
            sub(/\.c$/, "", program)
            folder = part[n - 1]
            if (folder != program && folder != "passes" && folder != "serialize") program = folder "_" program
        }
        /^static void [a-z_0-9]+\(/ { sub(/^static void /, ""); sub(/\(.*/, ""); print program ": " $0 }' {} +
}

# missing FILE: the lines of standard input that FILE does not have.
missing() { grep -vxFf "$1"; }

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
exist >"$work/tests"
find include/xir -type f -exec cat {} + | tr -c 'a-zA-Z_0-9' '\n' | sort -u >"$work/public"
grep -oE '`[a-z_]+: [a-z_0-9]+`' docs/icraft.md | tr -d '`' | sort -u >"$work/named"
grep -oE '`(xir|XIR)_[a-zA-Z_0-9]+' docs/icraft.md | tr -d '`' | sort -u >"$work/words"

[ "$(wc -l <"$work/named")" -ge 50 ] || say "fewer tests are named than expected"
[ -s "$work/words" ] || say "no public name is named"
for test in $(missing "$work/tests" <"$work/named" | tr -d ' '); do
    say "there is no test ${test#*:} in a program ${test%%:*}"
done
for word in $(missing "$work/public" <"$work/words"); do say "$word is not public"; done
exit $bad
