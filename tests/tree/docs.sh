#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# docs.sh TOP: the parts of files that the pages below show are in those files. A block of C that begins with a comment
# naming a file is a part of that file, line by line, except for blank lines. docs/pnnx.md and the test of PNNX's
# classes have the same table.
set -u
cd "$1" || exit 2

awk '
function finish() {
    if (named && !found) { print "a block shows " named ", and that file has none of it"; failed = 1 }
    named = ""
}
/^```/ {
    if (open) finish()
    open = !open
    first = 1
    next
}
open && first && match($0, /^\/\* [a-z_]+\/[a-z_\/]+\.(c|def|h) \*\/$/) {
    named = substr($0, 4, length($0) - 6)
    first = found = 0
    n = at = 0
    while ((getline line < named) > 0) lines[++n] = line
    close(named)
    if (!n) { print named ": no such file"; failed = 1 }
    next
}
open && named && $0 != "" {
    first = 0
    for (i = at + 1; i <= n && lines[i] != $0; i++);
    if (i > n) { print FILENAME ":" FNR ": not in " named ": " $0; failed = 1 }
    else { at = i; found = 1; shown++ }
}
{ first = 0 }
END {
    if (shown < 100) { print "only " shown + 0 " lines are shown"; failed = 1 }
    print shown + 0 " lines"
    exit failed
}' docs/writing-*.md docs/executor.md docs/tutorial.md docs/embedding.md || exit 1

# The members of PNNX's classes that docs/pnnx.md has a counterpart of are those that the test does.
names='(Graph|Operator|Operand|Parameter|Attribute|StoreZipReader|StoreZipWriter)::[a-z_A-Z=+]+'
shown=$(grep -E '^\| `' docs/pnnx.md | cut -d'|' -f2 | grep -oE "$names" | sort -u)
tested=$(grep -E '^    \{ "' tests/serialize/pnnx/graph.c | grep -oE "$names" | sort -u)
if [ -z "$shown" ] || [ "$shown" != "$tested" ]; then
    printf 'docs/pnnx.md has:\n%s\ntests/serialize/pnnx/graph.c has:\n%s\n' "$shown" "$tested"
    exit 1
fi
