#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# walk.sh DOC: does what DOC tells its reader to do, in the working directory. A block of C that begins with /* name.c
# */ is that file. In a console block, a line "$ command" is run, and must succeed unless "$ echo $?" follows. The lines
# after it are all its output, one stream after the other; "…" stands for any text within a line, and alone for any
# lines.
set -u
doc=$1
LC_ALL=C
export LC_ALL

rm -rf .walk && mkdir .walk || exit 1
awk '
/^```/ {
    inside = !inside
    console = inside && $0 == "```console"
    code = inside && $0 == "```c"
    to = ""
    first = 1
    next
}
code && first && /^\/\* [a-z_]+\.(c|h|def) \*\/$/ {
    to = substr($0, 4, length($0) - 6)
    printf "" >to
}
code && to { print >to }
console && /^\$ / {
    n++
    command = sprintf(".walk/%03d.command", n)
    want = sprintf(".walk/%03d.want", n)
    print substr($0, 3) >command
    print FNR >(".walk/" sprintf("%03d", n) ".line")
    printf "" >want
    first = 0
    next
}
console { print >want }
{ first = 0 }
' "$doc" || exit 1

# Prints the first line of OUT that WANT does not have; nothing if they match.
differs() { # WANT OUT
    awk -v want="$1" '
    function pattern(line) {
        gsub(/[][\\.^$*+?(){}|]/, "\\\\&", line)
        gsub(/…/, ".*", line)
        return "^" line "$"
    }
    BEGIN { n = 0; while ((getline line < want) > 0) { any[++n] = line == "…"; like[n] = pattern(line) } }
    { got[++m] = $0 }
    END {   # fits[i]: the first i wanted lines match the lines so far
        fits[0] = 1
        for (i = 1; i <= n; i++) fits[i] = any[i] && fits[i - 1]
        for (j = 1; j <= m; j++) {
            before = fits[0]; fits[0] = 0; some = 0
            for (i = 1; i <= n; i++) {
                last = fits[i]
                fits[i] = any[i] ? fits[i - 1] || last : before && got[j] ~ like[i]
                before = last
                some = some || fits[i]
            }
            if (!some) { print "not as shown: " got[j]; exit }
        }
        if (!fits[n]) print "ends before what is shown"
    }' "$2"
}

failed=0
steps=0
status=0
for command in .walk/*.command; do
    step=${command%.command}
    steps=$((steps + 1))
    (exit $status)
    . "./$command" >"$step.out" 2>"$step.err" </dev/null
    status=$?
    next=.walk/$(printf '%03d' $((steps + 1))).command
    if [ $status -ne 0 ] && ! grep -qx 'echo \$?' "$next" 2>/dev/null; then
        echo "exit code $status" >>"$step.err"
    fi
    cat "$step.out" "$step.err" >"$step.both"
    said=$(differs "$step.want" "$step.both")
    cat "$step.err" "$step.out" >"$step.either"
    [ -z "$said" ] || [ -z "$(differs "$step.want" "$step.either")" ] || {
        echo "$doc:$(cat "$step.line"): $ $(cat "$command")"
        echo "$said"
        sed 's/^/    /' "$step.both"
        failed=1
    }
done
[ "$steps" -ge 10 ] || { echo "only $steps commands in $doc"; failed=1; }
echo "$steps commands of ${doc##*/}"
exit $failed
