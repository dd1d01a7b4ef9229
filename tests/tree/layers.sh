#!/bin/sh
# layers.sh TOP: which folder may include which.
#
#   src/core/<layer>                  itself and the layers below: base, object, type, graph, verbs
#   src/attrs                         only <xir/…>
#   src/{ops,exec}                    itself, src/attrs and src/core
#   src/{serialize,passes,library}    itself and src/core
#   src/draw                          itself and <xir/…>
#   tools/<program>                   itself
#   examples, plugins/<plug-in>       only <xir/…> and files next to it
#   include/xir                       <xir/…>, or a file next to it
#
# An #include "…" is searched for where the rules allow it: next to the file, in its folder, in the folders below. It is
# an error if it is not found there or leaves its folder by "..". An #include <xir/…> that is not public is an error
# too.
set -u
cd "$1" || exit 2

failed=0
wrong() {
    echo "$1: $2"
    failed=1
}

# check FILE ALLOWED…
check() {
    file=$1
    shift
    own=$(dirname "$file")
    for name in $(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$file"); do
        case $name in
        ../* | */../*) wrong "$file" "#include \"$name\" leaves its folder"; continue ;;
        esac
        found=
        for folder in "$own" "$@"; do
            [ -f "$folder/$name" ] && found=1
        done
        [ -n "$found" ] || wrong "$file" "#include \"$name\" is not in $own${*:+, $*}"
    done
    for name in $(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*<\(xir\/[^>]*\)>.*/\1/p' "$file"); do
        [ -f "include/$name" ] || wrong "$file" "#include <$name> is not a public header"
    done
}

# each FOLDER ALLOWED…
each() {
    top=$1
    shift
    [ -d "$top" ] || return 0
    list=$(find "$top" -name '*.[ch]' -o -name '*.def')
    IFS='
'
    for path in $list; do
        unset IFS
        check "$path" "$@"
    done
    unset IFS
}

core=
for folder in base object type graph verbs; do
    core="src/core/$folder $core"
    each "src/core/$folder" $core
done
each src/attrs
each src/ops src/ops src/attrs $core
each src/exec src/exec src/attrs $core
for folder in serialize passes library; do
    each "src/$folder" "src/$folder" $core
done
each src/draw src/draw
for folder in tools/*/; do
    each "${folder%/}" "${folder%/}"
done
each examples
each plugins
each include/xir include

[ "$failed" -eq 0 ] && echo "every include stays in its layer"
exit "$failed"
