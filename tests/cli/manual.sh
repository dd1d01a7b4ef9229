# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# The manual page of each command has sections EXIT STATUS, EXAMPLES and SEE ALSO. The examples run, in a folder with
# the files of examples/models, and a reader sees them as they are typed.
. "$SRC/tests/cli/lib.sh"

mkdir bin
ln -s "$XIR" bin/xir
PATH=$PWD/bin:$PATH
export PATH
here=$PWD
run 0 --help
sed -n '/^Commands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p' out >commands
cp out usage
examples=0
for sub in $(cat commands); do
    cd "$here" || exit 1
    run 0 help --man "$sub"
    page=$here/xir-$sub.1
    cp out "$page"
    for section in NAME SYNOPSIS DESCRIPTION OPTIONS "EXIT STATUS" EXAMPLES "SEE ALSO"; do
        grep -qx "\.SH $section" "$page" || bad "xir-$sub.1 has no section $section"
    done
    # Each page that it refers to is one of the program's.
    for other in $(sed -n 's/^\.BR xir\\-\([a-z]*\) (1).*/\1/p' "$page"); do
        grep -qx "$other" commands || bad "xir-$sub.1 refers to a command $other"
    done
    mkdir "$here/$sub"
    cd "$here/$sub" || exit 1
    cp "$SRC"/examples/models/digits* .
    sed -n '/^\.SH EXAMPLES/,/^\.SH SEE/{/^\.EX/,/^\.EE/{/^\.E[XE]/d;p;};}' "$page" |
        sed 's/\\&//g; s/\\-/-/g; s/\\(aq/'"'"'/g; s/\\(ga/`/g; s/\\(ha/^/g; s/\\(ti/~/g; s/\\e/\\/g' >"$here/lines"
    [ -s "$here/lines" ] || bad "xir-$sub.1 has no example"
    while IFS= read -r line; do
        examples=$((examples + 1))
        why=
        sh -c "$line" >"$here/out" 2>"$here/err" </dev/null || why="it fails"
        case $line in *xir*) ;; *) why="it does not call xir" ;; esac
        if command -v mandoc >/dev/null; then
            mandoc -T utf8 -O width=240 "$page" | grep -qF -- "$line" || why="mandoc shows it otherwise"
        fi
        [ -z "$why" ] || { echo "FAILED: an example of xir-$sub.1: $why: $line"; cat "$here/err"; failed=1; }
    done <"$here/lines"
done
cd "$here" || exit 1
[ "$examples" -ge 30 ] || bad "only $examples examples"
has mandoc || :
finish
