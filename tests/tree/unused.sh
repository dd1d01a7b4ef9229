#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# unused.sh NM SHARED EXCEPTIONS OBJECTS: every name that an object of the library defines for others has a user: the
# shared library exports it, or another object of the library uses it. A function or a variable that only its own file
# uses is static; one that nothing uses is removed.
#
# EXCEPTIONS has a line for each name without a user that stays, "name reason". An exception that is not needed is an
# error. table.sh says what OBJECTS is.
set -u

. "$(dirname "$0")/table.sh"

awk '
function fail(text) { print text; failed = 1 }

$1 == "public" { public[$2] = 1 }
$1 == "except" { except[$2] = 1; if (NF < 3) fail("without a reason: " $2) }
$1 == "define" { where[$3] = $2; what[$3] = $4 }
$1 == "use"    { used[$3] = 1 }
END {
    for (name in where) {
        checked++
        if (name in public || name in used) continue
        if (name in except) needed[name] = 1
        else fail(where[name] ": no other file uses the " what[name] " " name)
    }
    for (name in except) if (!(name in needed)) fail("not needed any more: " name)
    if (checked < 1000) fail("only " checked " names were seen")
    if (!failed) print checked " names, each with a user"
    exit failed
}' "$work/table" >"$work/found"
failed=$?
sort "$work/found"
exit "$failed"
