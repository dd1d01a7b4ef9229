#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# layers.sh TOP: which folder may include which.
#
#   src/common                         only <xir/…>: how structs of callers are read and filled
#   src/core/<layer>                  itself and the layers below: src/common, base, object, type, graph, verbs, icraft
#   src/attrs                         only <xir/…>
#   src/{ops,exec,passes}             itself, src/attrs and src/core
#   src/{memory,serialize}            itself and src/core
#   src/targets, src/library          itself and src/core
#   src/convert                       itself, src/passes, src/attrs and src/core; its rooms see those below them:
#                                     node < spec < formula < rows < walk < each dialect, and no dialect sees another
#   src/{quant,draw,compare,reduce,trial}  itself, src/common and <xir/…>
#   tools/<program>                   itself
#   examples, plugins/<plug-in>       only <xir/…> and files next to it
#   include/xir                       <xir/…>, or a file next to it
#
# An #include "…" is searched for where the rules allow it: next to the file, in its folder, in the folders below. It is
# an error if it is not found there or leaves its folder by "..". An #include <xir/…> that is not public is an error
# too.
set -u
cd "$1" || exit 2

# each FOLDER ALLOWED…: a rule for the files in FOLDER.
each() { echo "rule $*"; }
# room FOLDER ALLOWED…: the folders next to FOLDER that its files include by "<folder>/…".
room() { echo "room $*"; }

rules() {
    each src/common
    core=src/common
    for folder in base object type graph verbs icraft; do
        core="src/core/$folder $core"
        each "src/core/$folder" $core
    done
    each src/attrs
    each src/ops src/ops src/attrs $core
    each src/exec src/exec src/attrs $core
    each src/passes src/passes src/attrs $core
    for folder in memory serialize targets library; do
        each "src/$folder" "src/$folder" $core
    done
    each src/convert src/convert src/passes src/attrs $core
    rooms=
    for folder in node spec formula rows walk; do
        room src/convert/$folder $rooms
        rooms="$rooms $folder"
    done
    for folder in src/convert/*/; do
        case " $rooms " in *" $(basename "$folder") "*) ;; *) room "${folder%/}" $rooms ;; esac
    done
    for folder in quant draw compare reduce trial; do each "src/$folder" "src/$folder" src/common; done
    for folder in tools/*/; do
        each "${folder%/}" "${folder%/}"
    done
    each examples
    each plugins
    each include/xir include
}

tops="src tools examples plugins include/xir"
{
    rules
    find $tops ! -type d | sed 's/^/file /'
    grep -raE --include='*.[ch]' --include='*.def' '^[[:space:]]*#[[:space:]]*include[[:space:]]*("|<xir/)' $tops
} | awk '
function wrong(text) { print path ": " text; failed = 1 }

$1 == "rule" {
    top[++rules] = $2 "/"
    $1 = $2 = ""
    sub(/^ +/, "")
    allowed[rules] = $0
    next
}
$1 == "room" {
    path = $2
    $1 = $2 = ""
    sees[path] = $0 " "
    next
}
$1 == "file" { exists[substr($0, 6)] = 1; next }
{
    at = index($0, ":")
    path = substr($0, 1, at - 1)
    for (rule = rules; rule && index(path, top[rule]) != 1; rule--);
    if (!rule) next
    checked++
    match($0, /["<][^">]*/)
    name = substr($0, RSTART + 1, RLENGTH - 1)
    if (substr($0, RSTART, 1) == "<") {
        if (!(("include/" name) in exists)) wrong("#include <" name "> is not a public header")
        next
    }
    if (name ~ /(^|\/)\.\.\//) { wrong("#include \"" name "\" leaves its folder"); next }
    own = path
    sub(/\/[^\/]*$/, "", own)
    found = (own "/" name) in exists
    n = split(allowed[rule], folder, " ")
    for (i = 1; i <= n; i++) found = found || (folder[i] "/" name) in exists
    if (!found) wrong("#include \"" name "\" is not in " own (n ? ", " allowed[rule] : ""))
    above = own
    sub(/\/[^\/]*$/, "", above)
    next_to = name
    sub(/\/.*$/, "", next_to)
    if (own in sees && next_to != name && own != above "/" next_to && ((above "/" name) in exists) &&
        !index(sees[own], " " next_to " ")) wrong("#include \"" name "\": the room does not see " next_to)
}
END {
    if (checked < 1000) { print "only " checked + 0 " includes were seen"; failed = 1 }
    if (!failed) print "every include stays in its layer: " checked
    exit failed
}'
