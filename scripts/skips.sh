#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# skips.sh BUILD: prints what the last run of the tests in BUILD skipped, and fails if tests/skips.txt does not allow
# one of the skips. A line of BUILD/skips/TEST is "PART REASON".
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
failed=0
XIR_ONCE=
grep -q '^XIR_SANITIZE:STRING=.' "$1/CMakeCache.txt" || XIR_ONCE=1

# may_be TEST/PART: whether a line of the list matches it, and the line's variable is not set.
may_be() {
    while read -r pattern unless excuse; do
        case $pattern in '' | '#'*) continue ;; esac
        case $1 in $pattern) ;; *) continue ;; esac
        [ "$unless" = - ] && return
        eval "[ -z \"\${$unless:-}\" ]" && return
    done <"$top/tests/skips.txt"
    return 1
}

for file in "$1"/skips/*; do
    [ -f "$file" ] || continue
    while read -r part reason; do
        name=$(basename "$file")/$part
        if may_be "$name"; then
            echo "skipped: $name: $reason"
        else
            echo "SKIPPED: $name: $reason (not in tests/skips.txt)"
            failed=1
        fi
    done <"$file"
done
exit "$failed"
