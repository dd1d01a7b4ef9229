# Sourced by the tests of the program. Each test is a story in an empty folder: `run CODE WORDS…` runs xir, keeps what it prints
# in ./out and ./err, and wants that exit code; `out` and `err` want a piece of text there. The first thing that is not so is
# said with all there is to know, the rest is still looked at. A failure without a sentence on stderr is a fault, whatever was
# wanted; but that two networks differ xir diff says in its output.
set -u
LC_ALL=C
export LC_ALL
data=$SRC/tests/cli/data
failed=0
left_out=
[ -z "${XIR_SKIPS:=}" ] || rm -f "$XIR_SKIPS"
rm -rf work && mkdir work && cd work || exit 1

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
    [ "$got" -eq 0 ] || [ -s err ] || { [ "$got" -eq 1 ] && [ -s out ] && [ "$1" = diff ]; } || bad "$ran: it fails without a word"
}

out()     { grep -qF -- "$1" out || bad "$ran: no '$1' in its output"; }
err()     { grep -qF -- "$1" err || bad "$ran: no '$1' among its findings"; }
not_out() { ! grep -qF -- "$1" out || bad "$ran: '$1' in its output"; }
not_err() { ! grep -qF -- "$1" err || bad "$ran: '$1' among its findings"; }
quiet()   { [ ! -s err ] || bad "$ran: it says something"; }
silent()  { [ ! -s out ] || bad "$ran: it prints something"; }
same()    { cmp -s "$1" "$2" || bad "$ran: $1 and $2 differ"; }
lines()   { [ "$(wc -l <"$1")" -eq "$2" ] || bad "$ran: $(wc -l <"$1") lines in $1, not $2"; }
gone()    { [ ! -e "$1" ] || bad "$ran: $1 is there"; }
there()   { [ -e "$1" ] || bad "$ran: $1 is not there"; }

# skip WHY: ends a test that cannot run here. without WHAT: goes on without a part of it, for want of a tool; the test is skipped
# then too, but only if the rest passes.
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

# The output is JSON; and what is said about it, in Python's words with d for it, is true.
json() {
    has python3 || return 0
    python3 - "${1:-True}" <<'END' || bad "$ran: not so: ${1:-JSON}"
import json, sys
d = json.load(open("out", encoding="utf-8"))
sys.exit(0 if eval(sys.argv[1]) else 1)
END
}

# edit FROM TO SED…: a changed copy of a structure file.
edit() {
    from=$1 to=$2
    shift 2
    sed "$@" "$from" >"$to"
    ! cmp -s "$from" "$to" || bad "edit changed nothing: $*"
}

# column FILE TEXT: where in a one-line file the text ends, plus one.
column() { awk -v t="$2" '{ print index($0, t) + length(t) }' "$1"; }

# poke FILE AT BYTES: overwrites bytes, in printf's spelling.
poke() { printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; }

finish() {
    [ $failed -ne 0 ] || [ -z "$left_out" ] || exit 77
    exit $failed
}
