#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# code_lines.sh FOLDER…: the lines of code in the C files of each folder and of those below it, without blank lines and
# comments. A line that is part of a text counts.
set -eu

for folder in "$@"; do
    find "$folder" -name '*.[ch]' -o -name '*.def' -o -name '*.cpp' -o -name '*.hpp' | sort | xargs -r awk '
FNR == 1 { inside = 0; files++ }
{
    rest = $0
    code = 0
    while (rest != "") {
        if (inside) {
            at = index(rest, "*/")
            if (!at) break
            rest = substr(rest, at + 2)
            inside = 0
            continue
        }
        if (!match(rest, /\/\*|\/\/|["\047]/)) { code += rest ~ /[^ \t]/; break }
        code += substr(rest, 1, RSTART - 1) ~ /[^ \t]/
        mark = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        if (mark == "//") break
        if (mark == "/*") { inside = 1; continue }
        code++
        while (match(rest, /\\.|["\047]/)) {   # to the end of the text
            end = substr(rest, RSTART, RLENGTH)
            rest = substr(rest, RSTART + RLENGTH)
            if (end == mark) break
        }
    }
    lines += code > 0
}
END { printf "%s %d\n", files + 0, lines }' |
        awk -v folder="$folder" '{ files += $1; lines += $2 } END { printf "%7d  %4d files  %s\n", lines, files, folder }'
done
