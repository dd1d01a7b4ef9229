# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Sourced by the tests of the program. Each test is a story in an empty folder: `run CODE WORDS…` runs xir, keeps its
# output in ./out and ./err, and expects that exit code; `out` and `err` expect a piece of text in them. The first
# failed check prints everything that is known; the checks after it still run. A failure without a message on stderr is
# a fault, whatever was expected, except that xir diff reports differences in its output.
set -u
LC_ALL=C
export LC_ALL
data=$SRC/tests/cli/data
failed=0
left_out=
[ -z "${XIR_SKIPS:=}" ] || rm -f "$XIR_SKIPS"
rm -rf work && mkdir work && cd work || exit 1
room=$PWD

bad() {
    failed=1
    echo "FAILED: $*"
    echo "--- out"; head -c 2000 out; echo
    echo "--- err"; head -c 2000 err; echo
}

run() {
    want=$1
    shift
    ran="xir $*"
    "$XIR" "$@" >out 2>err
    got=$?
    [ "$got" -eq "$want" ] || bad "$ran: exit code $got, not $want"
    [ "$got" -eq 0 ] || [ -s err ] || { [ "$got" -eq 1 ] && [ -s out ] && [ "$1" = diff ]; } ||
        bad "$ran: it fails without a message"
}

# Under a sanitizer the large files of XIR_CORPUS take minutes; smaller ones of the same kinds are tried there.
sanitized() { [ "${XIR_SANITIZED:-0}" = 1 ]; }

out()     { grep -qF -- "$1" out || bad "$ran: expected '$1' in its output"; }
err()     { grep -qF -- "$1" err || bad "$ran: expected '$1' among its findings"; }
not_out() { ! grep -qF -- "$1" out || bad "$ran: '$1' in its output"; }
not_err() { ! grep -qF -- "$1" err || bad "$ran: '$1' among its findings"; }
quiet()   { [ ! -s err ] || bad "$ran: expected no findings"; }
silent()  { [ ! -s out ] || bad "$ran: expected no output"; }
same()    { cmp -s "$1" "$2" || bad "$ran: $1 and $2 differ"; }
lines()   { [ "$(wc -l <"$1")" -eq "$2" ] || bad "$ran: $(wc -l <"$1") lines in $1, expected $2"; }
gone()    { [ ! -e "$1" ] || bad "$ran: $1 exists"; }
there()   { [ -e "$1" ] || bad "$ran: $1 does not exist"; }

# Converted to its own format, and through others, a file comes back byte for byte, eager and lazy.
comes_back() {
    for lazy in "" --lazy; do
        run 0 convert $lazy "$1" "copy.${1##*.}"; quiet; same "$1" "copy.${1##*.}"
        run 0 diff $lazy "$1" "copy.${1##*.}"
        for other in json imodel fb; do
            run 0 convert $lazy "$1" "between.$other"
            run 0 convert $lazy "between.$other" "back.${1##*.}"; same "$1" "back.${1##*.}"
        done
    done
}

# skip WHY: ends a test that cannot run here. without WHAT: continues without a part of the test because a tool is
# missing; the test then counts as skipped if the rest passes.
note() { [ -z "$XIR_SKIPS" ] || echo "$*" >>"$XIR_SKIPS"; }
skip() {
    echo "skipped: $*"
    note all "$*"
    exit 77
}
without() {
    [ "$left_out" = "$1" ] && return
    left_out=$1
    echo "skipped in part: no $1"
    note part "no $1"
}
has() { command -v "$1" >/dev/null || { without "$1"; return 1; }; }

# The output is JSON, and a Python expression about it, called d, is true.
json() {
    has python3 || return 0
    python3 - "${1:-True}" <<'END' || bad "$ran: not so: ${1:-JSON}"
import json, sys
d = json.load(open("out", encoding="utf-8"))
sys.exit(0 if eval(sys.argv[1]) else 1)
END
}

# edit FROM TO SED…: makes a changed copy of a structure file.
edit() {
    from=$1 to=$2
    shift 2
    sed "$@" "$from" >"$to"
    ! cmp -s "$from" "$to" || bad "edit changed nothing: $*"
}

# column FILE TEXT: the column after the text in a one-line file.
column() { awk -v t="$2" '{ print index($0, t) + length(t) }' "$1"; }

# poke FILE AT BYTES: overwrites bytes, in the spelling of printf.
poke() { printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; }

# What a failed test has written stays.
finish() {
    [ $failed -ne 0 ] || { cd / && rm -rf "$room"; }
    [ $failed -ne 0 ] || [ -z "$left_out" ] || exit 77
    exit $failed
}
