#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# links.sh TOP: the files that the pages of TOP link to exist: "](path" and "](path#part", from the folder of the page.
# TOP is the tree, or the folder of an installed documentation. Code is not read: a lambda looks the same.
set -u
cd "$1" || exit 2

failed=0
links=0
for page in README.md CHANGELOG.md CONTRIBUTING.md THIRD_PARTY.md SECURITY.md docs/*.md examples/models/README.md; do
    for link in $(awk '/^```/ { code = !code; next } !code' "$page" | grep -o '](\([^)# ]*\)' | cut -c3- |
        grep -v '^[a-z]*:'); do
        links=$((links + 1))
        [ -e "$(dirname "$page")/$link" ] || { echo "$page: no file $link"; failed=1; }
    done
done
[ "$links" -ge 200 ] || { echo "only $links links"; failed=1; }
exit $failed
