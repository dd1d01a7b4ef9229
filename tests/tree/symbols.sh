#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# symbols.sh NM SHARED [STATIC]: every name that the libraries export begins with xir_.
set -u

nm=$1
failed=0

# strangers FILE OPTIONS…: exported names that do not begin with xir_. "A" is the version node itself.
strangers() {
    file=$1
    shift
    names=$("$nm" "$@" --defined-only "$file" | awk 'NF >= 3 && $2 != "A" { sub(/@.*/, "", $3); print $3 }')
    mine=$(printf '%s\n' "$names" | grep -c '^xir_')
    others=$(printf '%s\n' "$names" | grep -v -e '^xir_' -e '^$')
    if [ "$mine" -eq 0 ]; then
        echo "$file exports no xir_ name"
        failed=1
    elif [ -n "$others" ]; then
        echo "$file exports names that do not begin with xir_:"
        printf '%s\n' "$others" | sed 's/^/    /'
        failed=1
    else
        echo "$file: $mine names"
    fi
}

strangers "$2" -D
[ $# -lt 3 ] || strangers "$3" -g
exit "$failed"
