#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# renamed.sh CC TOP: scripts/rename.txt, what is made of it, and what it does to sources. A name that is used does not
# compile, and the error says what to use; rename.sh makes it compile, or says what to do.
set -u
cc=$1
cd "$2" || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0
say() { echo "$*"; failed=1; }
rows() { grep -v -e '^#' -e '^ *$' scripts/rename.txt; }
all=    # errors
case $("$cc" --version) in *clang*) all=-ferror-limit=0 ;; esac
compile() { "$cc" -std=c11 -Werror $all -Iinclude -fsyntax-only "$1" 2>"$work/said"; }

sh scripts/rename.sh --headers "$work"
for header in gone.h gone_off.h; do
    cmp "$work/$header" include/xir/$header || say "include/xir/$header: run sh scripts/rename.sh --headers include/xir"
done
rows | LC_ALL=C sort -c 2>/dev/null || say "scripts/rename.txt is not sorted"

# Each name is in the header that the list says, and in no other.
rows | while read -r name to note; do
    [ "$to" != - ] || [ -n "$note" ] || echo "$name: neither a name nor a sentence"
    for header in $(grep -lw "$name" include/xir/*.h include/xir/*.hpp); do
        case $header in */gone.h | */gone_off.h) continue ;; esac
        [ "<xir/${header##*/}>" = "$to" ] || echo "$name: $header has it still"
    done
    case $to in "<xir/"*) grep -qw "$name" "include/xir/${to#<xir/}" 2>/dev/null ||
        grep -qw "$name" "include/$(echo "$to" | tr -d '<>')" || echo "$name: $to does not have it" ;; esac
done >"$work/wrong"
[ ! -s "$work/wrong" ] || { cat "$work/wrong"; failed=1; }

# A use is an error with that sentence, whatever header is included.
{
    echo '#include <xir/op.h>'
    rows | awk '{ print "void *use_" NR "(void) { return (void *)" $1 "; }" }'
} >"$work/old.c"
compile "$work/old.c" && say "old names compile"
rows | while read -r name to note; do
    case $to in
    "<"*) sentence="$name is in $to" ;;
    -)    sentence="$name has been removed: $note" ;;
    *)    sentence="$name is now $to" ;;
    esac
    grep -qF "error: $sentence" "$work/said" || echo "no error says: $sentence"
done >"$work/wrong"
[ ! -s "$work/wrong" ] || { cat "$work/wrong"; failed=1; }

# The script's changes of sources.
cat >"$work/user.c" <<'END'
#include <stdio.h>
#include <xir/xir.h>

xir_op *last(const xir_view *view);
xir_op *last(const xir_view *view) { return xir_view_last(view); }
END
compile "$work/user.c" && say "a name that has moved compiles"
sh scripts/rename.sh "$work/user.c" || say "rename.sh fails"
compile "$work/user.c" || { say "what rename.sh makes does not compile"; cat "$work/said"; }
[ "$(sed -n 3p "$work/user.c")" = '#include <xir/icraft.h>' ] || say "the header is not after the others"
cp "$work/user.c" "$work/again.c"
sh scripts/rename.sh "$work/again.c"
cmp "$work/user.c" "$work/again.c" || say "rename.sh changes a source twice"
printf '#include <xir/deepx.h>\nint n(void) { return xir_deepx_upstream(0, 0, 0); }\n' >"$work/gone.c"
sh scripts/rename.sh "$work/gone.c" 2>"$work/said" && say "a name that is gone is not a failure"
grep -q "gone.c:2: xir_deepx_upstream has been removed: " "$work/said" || say "rename.sh does not say what is gone"
exit $failed
