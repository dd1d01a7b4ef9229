#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# rename.sh FILE…: brings C and C++ sources that were written for an earlier version to this one, in place. What is done
# is in rename.txt: a name that has another one is replaced; for one that is in another header, that header is included
# too; for one that is gone, what to do now is printed, with file and line, and the exit code is 1.
#
# rename.sh --headers FOLDER writes gone.h and gone_off.h into it: names of the list are errors that say the same.
set -eu

list=$(dirname "$0")/rename.txt
rows() { grep -v -e '^#' -e '^ *$' "$list"; }

# message NAME NEW NOTE: as awk's function, what an error says.
message='function message(name, to, note) {
    if (to ~ /^</) return name " is in " to
    if (to != "-") return name " is now " to
    return name " has been removed: " note
}'

if [ "${1:-}" = --headers ]; then
    licence=$(sed -n '2s|^#|/*|p; 3s|^#\(.*\)| *\1 */|p' "$0")
    printf '%s\n\n' "$licence" >"$2/gone.h"
    printf '%s\n\n' "$licence" >"$2/gone_off.h"
    rows | awk "$message"'
    {
        note = $0
        sub(/^[^ ]+ +[^ ]+ */, "", note)
        line = sprintf("#define %-32s XIR_GONE_(\"%s\")", $1, message($1, $2, note))
    }
    $2 == "<xir/icraft.h>" { moved = moved line "\n"; next }
    { gone = gone line "\n" }
    END {
        print "/* Names of the version before that are elsewhere or gone: one that is used does not compile, and the error says what"
        print " * to use. For one version. scripts/rename.sh makes this file of scripts/rename.txt, and changes sources. */"
        print "#ifndef XIR_GONE_H\n#define XIR_GONE_H\n"
        print "#define XIR_GONE_(text)  XIR_GONE2_(GCC error text)"
        print "#define XIR_GONE2_(text) _Pragma(#text)\n"
        printf "%s\n#ifndef XIR_ICRAFT_H\n%s#endif\n\n#endif\n", gone, moved
    }' >>"$2/gone.h"
    rows | awk '
    BEGIN { print "/* For <xir/icraft.h>: its names may be used. scripts/rename.sh makes this file. No guard. */" }
    $2 == "<xir/icraft.h>" { print "#undef " $1 }' >>"$2/gone_off.h"
    exit
fi

[ $# -gt 0 ] || { sed -n '5,/^set/{/^set/d;s/^# \{0,1\}//;p;}' "$0"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rows >"$work/rows"
failed=0
for file; do
    awk -v file="$file" -v out="$work/out" "$message"'
    FNR == NR { note = $0; sub(/^[^ ]+ +[^ ]+ */, "", note); to[$1] = $2; said[$1] = note; next }
    {
        line = ""
        rest = $0
        while (match(rest, /[A-Za-z_][A-Za-z_0-9]*/)) {
            word = substr(rest, RSTART, RLENGTH)
            line = line substr(rest, 1, RSTART - 1)
            rest = substr(rest, RSTART + RLENGTH)
            if (word in to) {
                if (to[word] ~ /^</) need[to[word]] = 1
                else if (to[word] != "-") word = to[word]
                else { print file ":" FNR ": " message(word, "-", said[word]) | "cat 1>&2"; failed = 1 }
            }
            line = line word
        }
        text[++n] = line rest
        if ($0 ~ /^[A-Za-z]/ || $0 ~ /^# *define +XIR_DEFS/) began = 1
        if ($0 !~ /^#include/) next
        has[$2] = 1
        if (!place || (!began && $2 ~ /^</)) place = n     # after the last #include <…> at the beginning
    }
    END {
        for (i = 1; i <= n; i++) {
            print text[i] >out
            if (i == place) for (header in need) if (!(header in has)) print "#include " header >out
        }
        exit failed
    }' "$work/rows" "$file" || failed=1
    cmp -s "$work/out" "$file" || cat "$work/out" >"$file"
done
exit $failed
