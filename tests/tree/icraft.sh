#!/bin/sh
# icraft.sh TOP: every test and every public name that docs/icraft.md names exists. A test is PROGRAM: NAME, where the
# program of tests/…/PART/FILE.c is PART_FILE, or FILE if they are equal or PART is passes or serialize.
set -u
cd "$1" || exit 2
bad=0
say() { echo "docs/icraft.md: $*"; bad=1; }

tests=$(grep -oE '`[a-z_]+: [a-z_0-9]+`' docs/icraft.md | tr -d '` ' | sort -u)
[ "$(echo "$tests" | wc -l)" -ge 50 ] || say "fewer tests are named than expected"
for test in $tests; do
    program=${test%%:*} name=${test#*:}
    file=$(find tests/core tests/library tests/passes tests/serialize -name '*.c' | awk -F/ -v want="$program" '{
        part = $(NF - 1); file = $NF; sub(/\.c$/, "", file)
        plain = part == file || part == "passes" || part == "serialize"
        if (want == (plain ? file : part "_" file)) print }')
    if [ -z "$file" ]; then say "there is no test program $program"
    elif ! grep -q "^static void $name(" $file; then say "$file has no test $name"; fi
done
for word in $(grep -oE '`(xir|XIR)_[a-zA-Z_0-9]+' docs/icraft.md | tr -d '`' | sort -u); do
    grep -rqw -- "$word" include/xir || say "$word is not public"
done
exit $bad
