#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# callers.sh TOP: public functions have a caller outside of the tests: the library itself, a program, the Python
# package, a plug-in, an example, a benchmark, a macro or inline function of a header, or a page of docs that says when
# to call it. <xir/icraft.h> is apart: its functions are for programs that are ported.
#
# callers.txt has a line for each function without one, "name reason", at most 20. A line that is not needed is an
# error.
set -u
cd "$1" || exit 2
exceptions=tests/tree/callers.txt

# The public names, and the words of files by where they are. In C a definition is not a call: a line that does not
# begin with a blank defines the first function that it names, unless it declares one.
{
    find include/xir -name '*.h' ! -name icraft.h ! -name 'gone*.h'
    find include/xir -name '*.hpp'
    find src tools python examples plugins bench \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.def' \)
    find docs -name '*.md' ! -name icraft.md ! -name python-c.md
    echo README.md
} | xargs awk -v exceptions="$exceptions" '
# A line of C without its comments.
function code(line,    at) {
    if (inside) {
        at = index(line, "*/")
        if (!at) return ""
        line = substr(line, at + 2)
        inside = 0
    }
    while ((at = index(line, "/*"))) {
        if (!index(substr(line, at), "*/")) { inside = 1; return substr(line, 1, at - 1) }
        line = substr(line, 1, at - 1) " " substr(line, at + index(substr(line, at), "*/") + 1)
    }
    sub(/\/\/.*/, "", line)
    return line
}
function uses(text) {
    while (match(text, /xir_[a-z0-9_]+/)) {
        used[substr(text, RSTART, RLENGTH)] = 1
        text = substr(text, RSTART + RLENGTH)
    }
}
FNR == 1 { page = FILENAME ~ /\.md$/; header = FILENAME ~ /^include\/xir\/.*\.h$/; inside = declares = 0 }
page { uses($0); next }
{
    line = code($0)
    if (header && line ~ /^XIR_API /) {
        declares = 1
        if (match(line, /xir_[a-z0-9_]+\(/)) public[substr(line, RSTART, RLENGTH - 1)] = FILENAME
    }
    if (declares) { if (line ~ /;/) declares = 0; next }
    if (!header && line ~ /^[a-z]/ && match(line, /xir_[a-z0-9_]+\(/)) line = substr(line, RSTART + RLENGTH)
    uses(line)
}
END {
    while ((getline line < exceptions) > 0) {
        if (line ~ /^#/) continue
        split(line, word, " ")
        if (line !~ / /) { print exceptions ": without a reason: " line; failed = 1 }
        except[word[1]] = 1
        listed++
    }
    for (name in public) {
        n++
        if (name in used) continue
        if (name in except) needed[name] = 1
        else { print public[name] ": nothing but tests calls " name; failed = 1 }
    }
    for (name in except) if (!(name in needed)) { print exceptions ": not needed any more: " name; failed = 1 }
    if (listed > 20) { print exceptions ": " listed " functions, more than 20"; failed = 1 }
    if (n < 500) { print "only " n + 0 " public functions were seen"; failed = 1 }
    if (!failed) print n " public functions, " listed + 0 " without a caller"
    exit failed
}'
