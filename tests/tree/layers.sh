#!/bin/sh
# layers.sh TOP: who may include whom.
#
#   src/core/<layer>                          itself and the layers below: base, object, type, graph, verbs
#   src/attrs                                 nothing but <xir/…>
#   src/{ops,exec}                            itself, src/attrs and src/core
#   src/{serialize,passes,library}            itself and src/core
#   tools/<program>                   itself
#   examples, plugins/<plug-in>       nothing but <xir/…> and what lies beside
#   include/xir                       <xir/…>, or a file beside it
#
# An #include "…" is looked up where the rules allow it: beside the file, in its folder, in
# those below.  What is not found there, or leaves its folder by "..", is an error; so is an
# #include <xir/…> that is not public.
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
    beside=$(dirname "$file")
    for name in $(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$file"); do
        case $name in
        ../* | */../*) wrong "$file" "#include \"$name\" leaves its folder"; continue ;;
        esac
        found=
        for folder in "$beside" "$@"; do
            [ -f "$folder/$name" ] && found=1
        done
        [ -n "$found" ] || wrong "$file" "#include \"$name\" is not in $beside${*:+, $*}"
    done
    for name in $(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*<\(xir\/[^>]*\)>.*/\1/p' "$file"); do
        [ -f "include/$name" ] || wrong "$file" "#include <$name> is no public header"
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
for folder in tools/*/; do
    each "${folder%/}" "${folder%/}"
done
each examples
each plugins
each include/xir include

[ "$failed" -eq 0 ] && echo "every include stays in its layer"
exit "$failed"
