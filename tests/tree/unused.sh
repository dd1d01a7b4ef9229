#!/bin/sh
# unused.sh NM SHARED EXCEPTIONS OBJECTS: every name that an object of the library defines for others has a user: the
# shared library exports it, or another object of the library uses it. A function or a variable that only its own file
# uses is static; one that nothing uses is removed.
#
# OBJECTS is a file with the path of an object on each line. EXCEPTIONS has a line for each name without a user that
# stays, "name reason". An exception that is not needed is an error.
#
# Names that begin with two underscores belong to the compiler: sanitizers and coverage add variables.
set -u

nm=$1 shared=$2 exceptions=$3 objects=$4
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

"$nm" -D --defined-only "$shared" | awk 'NF >= 3 { sub(/@.*/, "", $3); print "public", $3 }' >"$work/table" || exit 2
grep -v -e '^#' -e '^$' "$exceptions" | sed 's/^/except /' >>"$work/table"
xargs "$nm" -A <"$objects" | awk '
    { file = $1; sub(/:.*/, "", file); sub(/^.*\/src\//, "src/", file); sub(/\.o$/, "", file); kind = $(NF - 1) }
    $NF ~ /^__/                       { next }
    kind ~ /^[Uwv]$/                  { print "use", file, $NF }
    kind ~ /^[TDBRVWCG]$/             { print "define", file, $NF, kind ~ /[TW]/ ? "function" : "variable" }' \
    >>"$work/table"

awk '
function fail(text) { print text; failed = 1 }

$1 == "public" { public[$2] = 1 }
$1 == "except" { except[$2] = 1; if (NF < 3) fail("without a reason: " $2) }
$1 == "define" { where[$3] = $2; what[$3] = $4 }
$1 == "use"    { used[$3] = 1 }
END {
    for (name in where) {
        checked++
        if (name in public || name in used) continue
        if (name in except) needed[name] = 1
        else fail(where[name] ": no other file uses the " what[name] " " name)
    }
    for (name in except) if (!(name in needed)) fail("not needed any more: " name)
    if (checked < 1000) fail("only " checked " names were seen")
    if (!failed) print checked " names, each with a user"
    exit failed
}' "$work/table" >"$work/found"
failed=$?
sort "$work/found"
exit "$failed"
