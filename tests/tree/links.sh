#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# links.sh TOP: the files and headings that the pages of TOP link to exist: "](path", "](path#part" and "](#part", from
# the folder of the page. TOP is the tree, or the folder of an installed documentation. Code is not read: a lambda looks
# the same. A heading is named as on the hosts of such pages: lower case, without punctuation, dashes for blanks, and -1
# after it if an earlier one has the same name.
set -u
cd "$1" || exit 2

# One line for each link: the page, the path from TOP, and "missing" if that page has no such heading.
awk '
FNR == 1 { code = 0; folder = FILENAME; if (!sub(/\/[^\/]*$/, "", folder)) folder = "." }
/^```/ { code = !code }
code { next }
/^#+ / {
    name = tolower($0)
    sub(/^#+ */, "", name)
    gsub(/[^a-z0-9_ -]/, "", name)
    gsub(/ /, "-", name)
    key = FILENAME "#" name
    n = seen[key]++
    heading[n ? key "-" n : key] = 1
}
{
    gsub(/`[^`]*`/, "")
    while (match($0, /\]\([^) ]*\)/)) {
        link = substr($0, RSTART + 2, RLENGTH - 3)
        $0 = substr($0, RSTART + RLENGTH)
        if (link ~ /^[a-z]*:/) continue
        at = index(link, "#")
        path = at ? substr(link, 1, at - 1) : link
        path = path == "" ? FILENAME : folder "/" path
        while (sub(/(^|\/)\.\//, "/", path)) sub(/^\//, "", path)
        while (sub(/(^|\/)[^\/.][^\/]*\/\.\.\//, "/", path)) sub(/^\//, "", path)
        links++
        from[links] = FILENAME
        to[links] = path
        part[links] = at && path ~ /\.md$/ ? substr(link, at + 1) : ""
    }
}
END {
    for (i = 1; i <= links; i++) {
        if (part[i] != "") parts++
        print from[i], to[i], part[i] != "" && !((to[i] "#" part[i]) in heading) ? "missing " part[i] : ""
    }
    if (links < 500 || parts < 250) print "- only " links + 0 " links, " parts + 0 " of them to headings"
}' README.md CHANGELOG.md CONTRIBUTING.md THIRD_PARTY.md SECURITY.md docs/*.md examples/models/README.md | sort -u | {
    failed=0
    while read -r page path missing part; do
        case $page in -) echo "$path $missing $part"; failed=1; continue ;; esac
        [ -e "$path" ] || { echo "$page: no file $path"; failed=1; }
        [ -z "$missing" ] || { echo "$page: $path has no heading '$part'"; failed=1; }
    done
    exit $failed
}
