#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# man.sh TOP WORK MANDOC: the manual pages of the public headers, which are written in the folder WORK: one for each
# header, with all its functions in NAME; mandoc has no warning about them.
set -eu
top=$1
work=$2
mandoc=$3

rm -rf "$work"
perl "$top/scripts/reference/man.pl" "$top/include" "$work" 0.0.0 2000-01-01
failed=0
for header in "$top"/include/xir/*.h; do
    name=$(basename "$header")
    case $name in decl_*.h | gone*.h | xir.h) continue ;; esac
    page=$work/xir_$name.3
    [ -s "$page" ] || { echo "no page of $name"; failed=1; continue; }
    sed -n '/^\.SH NAME/,/^\.SH SYNOPSIS/p' "$page" | tr -d '\\,' | tr ' ' '\n' >"$work/names"
    for function in $(sed -n 's/^XIR_API [^(]*[ *]\(xir_[a-z0-9_]*[a-z0-9]\)(.*/\1/p' "$header"); do
        grep -qx "$function" "$work/names" || { echo "xir_$name.3: NAME lacks $function"; failed=1; }
    done
done
"$mandoc" -T lint -W warning "$work"/*.3 || failed=1
"$mandoc" -T ascii "$work/xir_network.h.3" | grep -q 'Returns an empty network' || { echo "no contract"; failed=1; }
exit $failed
