# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Sourced by calls.sh and unused.sh with their arguments NM SHARED EXCEPTIONS OBJECTS. Makes $work/table, which has a
# line for each fact about the symbols of the library's objects:
#
#   public NAME                  the shared library exports it
#   except WORD…                 a line of EXCEPTIONS
#   use FILE NAME                an object needs it
#   define FILE NAME KIND        an object defines it for others; KIND is function or variable
#
# OBJECTS is a file with the path of an object on each line. Names that begin with two underscores belong to the
# compiler: sanitizers and coverage add variables.
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
