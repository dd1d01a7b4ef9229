# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# One table has all that the program says of its command line: docs/xir.md, --help and the manual page agree.
. "$SRC/tests/cli/lib.sh"

run 0 help --markdown; quiet; cp out markdown
awk '/^<!-- Printed by xir help --markdown/ { on = 1; next } /^<!-- / { on = 0 } on' "$SRC/docs/xir.md" >page
cmp -s markdown page || {
    bad "docs/xir.md is not what the tables say. Renew the part between its comments: xir help --markdown"
    diff page markdown | head -20
}
run 0 help --man; quiet; cp out man
run 0 --help; cp out usage
sed -n '/^Commands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p' usage >commands
[ "$(wc -l <commands)" -ge 12 ] || bad "--help lists $(wc -l <commands) commands"

# Every command is in all of them, with every option of its help.
while read -r sub; do
    run 0 help "$sub"; cp out help
    grep -q "^\.SS xir $sub" man || bad "the manual page has no section on $sub"
    case $sub in
    help | completion) ;;
    *) grep -q "^## xir $sub\$" "$SRC/docs/xir.md" || bad "docs/xir.md has no section on $sub" ;;
    esac
    # Its section in the reference, and what is of every command.
    awk -v head="### $sub" '/^### / { on = $0 == head; seen = 1 } on || !seen' markdown >section
    grep -q "^### $sub\$" section || bad "the reference has no section on $sub"
    sed -n 's/^  --\([a-z0-9-]*\).*/\1/p' help >options
    grep -q help options || bad "the help of $sub has no options, not even the common ones"
    while read -r option; do
        grep -q -- "^| .--$option[ \`]" section || bad "the reference of $sub has no --$option"
        grep -qF -- "\\fB\\-\\-$(echo "$option" | sed 's/-/\\-/g')\\fR" man || bad "the manual page has no --$option"
    done <options
done <commands

run 2 help --man --markdown; silent; err "help takes one of"
run 2 help show --man; silent

# The page is one that its formatter accepts without a warning.
if has groff; then
    groff -man -Tutf8 -ww -z man >out 2>err || bad "groff fails"
    [ ! -s err ] || bad "groff warns"
fi
finish
