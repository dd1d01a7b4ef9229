#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# reference.sh TOP WORK: the reference of the public headers, which is built in the folder WORK in at most a minute, has
# no warning; its links work; every function has a contract, and at least 200 have an example; it answers the questions
# of questions.txt.
set -eu
top=$1
work=$2

rm -rf "$work"
timeout 60 sh "$top/scripts/reference/build.sh" "$work" 0 || { echo "the reference is not built in a minute"; exit 1; }
[ ! -s "$work/warnings.txt" ] || { head -20 "$work/warnings.txt"; exit 1; }
exec perl -I"$top/scripts/reference" "$top/tests/tree/reference.pl" "$top" "$work"
