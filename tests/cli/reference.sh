# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# One table has all that the program documents of its command line: docs/xir.md, --help and the manual pages agree.
. "$SRC/tests/cli/lib.sh"

run 0 help --markdown; quiet; cp out markdown
awk '/^<!-- Printed by xir help --markdown/ { on = 1; next } /^<!-- / { on = 0 } on' "$SRC/docs/xir.md" >page
cmp -s markdown page || {
    bad "docs/xir.md is not what the tables say. Renew the part between its comments: xir help --markdown"
    diff page markdown | head -20
}
run 0 help --man; quiet; cp out xir.1
run 0 --help; cp out usage
sed -n '/^Commands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p' usage >commands
[ "$(wc -l <commands)" -ge 12 ] || bad "--help lists $(wc -l <commands) commands"

# Every command is in all of them, with every option of its help. Options of a format are explained with that format.
while read -r sub; do
    run 0 help --man "$sub"; quiet; cp out "xir-$sub.1"
    run 0 help "$sub"; cp out help
    for format in $(grep -q '^Options of other formats' help && echo json fb onnx tsm text deepx); do
        "$XIR" "$sub" --help --to "$format" >>help || bad "xir $sub --help --to $format"
    done
    grep -q "^\.BR xir.-$sub (1)" xir.1 || bad "the manual page does not refer to that of $sub"
    grep -q "^xir.-$sub .- " "xir-$sub.1" || bad "the page of $sub has no NAME"
    case $sub in
    help | completion) ;;
    *) grep -q "^## xir $sub\$" "$SRC/docs/xir.md" || bad "docs/xir.md has no section on $sub" ;;
    esac
    # Its section in the reference, and what is of every command.
    awk -v head="### $sub" '/^### / { on = $0 == head; seen = 1 } on || !seen' markdown >section
    grep -q "^### $sub\$" section || bad "the reference has no section on $sub"
    sed -n 's/^  --\([a-z0-9-]*\).*/\1/p' help | sort -u >options
    grep -q help options || bad "the help of $sub has no options, not even the common ones"
    sed -n 's/^| .--\([a-z0-9-]*\)[ `].*/\1/p' section | sort -u >listed
    sed -n 's/^\\fB\\-\\-\([^ ]*\)\\fR.*/\1/p' "xir-$sub.1" xir.1 | sed 's/\\-/-/g' | sort -u >manual
    comm -23 options listed >left; [ ! -s left ] || bad "the reference of $sub has no --$(head -1 left)"
    comm -23 options manual >left; [ ! -s left ] || bad "the manual pages of $sub have no --$(head -1 left)"
    comm -23 listed options >left; [ ! -s left ] || bad "the help of $sub has no --$(head -1 left)"
done <commands

run 2 help --man --markdown; silent; err "help --markdown takes neither"
run 2 help show --markdown; silent
run 2 help --man frobnicate; silent; err "no command 'frobnicate'"

# Groups: what is of one format is named, and explained where the line names the format.
run 0 convert --help; out "Options of files:"; out "Options of other formats:"; out "--align (fb)"
not_out "a multiple of N"
run 0 convert --help --to fb; out "Options of a format:"; out "a multiple of N"; not_out "--align (fb)"
run 0 show --from=deepx -h; out "Options of a format:"; out "every line is a call"
run 0 opt --help; out "Options of proofs:"; out "Limits:"

# Lines are as wide as the terminal, within reason.
for columns in 40 64 80 100; do
    for sub in opt reduce help; do
        COLUMNS=$columns "$XIR" $sub --help | sed '/^Examples:/,$d' >narrow
        awk -v most=$columns 'length > most && !/^  --/ && !/^usage/ { print; bad = 1 } END { exit bad }' narrow >wide ||
            bad "xir $sub --help at $columns columns: $(head -1 wide)"
    done
done
run 0 opt --help; cp out usual
for columns in nonsense 0 -5; do
    COLUMNS=$columns "$XIR" opt --help | cmp -s - usual || bad "COLUMNS=$columns"
done

# The pages are such that their formatters accept them without a warning.
for page in xir*.1; do
    if has groff; then
        groff -man -Tutf8 -ww -z "$page" >out 2>err || bad "groff fails on $page"
        [ ! -s err ] || bad "groff warns about $page"
    fi
    if has mandoc; then
        mandoc -T lint -W warning "$page" >out 2>err || bad "mandoc warns about $page"
    fi
done
finish
