#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# deprecated.sh CC INCLUDE VERSION: programs ask for a version of the headers in #if, and a name before which there is
# XIR_DEPRECATED causes a warning with what replaces it.
set -eu
cc=$1
include=$2
version=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/main.c" <<END
#include <xir/base.h>
#if !XIR_VERSION_AT_LEAST(0, 0, 9) || !XIR_VERSION_AT_LEAST(XIR_VERSION_MAJOR, XIR_VERSION_MINOR, XIR_VERSION_PATCH)
#error "the headers are older than they are"
#endif
#if XIR_VERSION_AT_LEAST(XIR_VERSION_MAJOR, XIR_VERSION_MINOR, XIR_VERSION_PATCH + 1) || XIR_VERSION_AT_LEAST(99, 0, 0)
#error "the headers are newer than they are"
#endif
#if !XIR_VERSION_AT_LEAST($(echo "$version" | sed 's/\./, /g'))
#error "the version of CMakeLists.txt is another one"
#endif
XIR_DEPRECATED("use new_name") int old_name(void);
int main(void) {
#ifdef USES
    return old_name();
#else
    return 0;
#endif
}
END
"$cc" -Wall -Wextra -Werror "-I$include" -fsyntax-only "$work/main.c"
if "$cc" -DUSES -Werror "-I$include" -fsyntax-only "$work/main.c" 2>"$work/said"; then
    echo "a deprecated name causes no warning"
    exit 1
fi
grep -q 'use new_name' "$work/said" || { cat "$work/said"; exit 1; }
