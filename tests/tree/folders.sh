#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# folders.sh TREE: each folder of src has a README.md that says what lives there, and the files that it names exist.
set -eu

cd "$1"
failed=0
n=0
for folder in $(find src -type d | sort); do
    n=$((n + 1))
    if [ ! -f "$folder/README.md" ]; then
        echo "$folder has no README.md"
        failed=1
        continue
    fi
    # `name.c`, `name_*.c`, `folder/name.h`: relative to the folder, or to the tree.
    for name in $(grep -o '`[^` ]*\.[a-z*]*`' "$folder/README.md" | tr -d '`' | sort -u); do
        found=
        for file in $folder/$name $name include/$name; do
            [ -e "$file" ] && found=yes
        done
        [ "$found" ] && continue
        echo "$folder/README.md names $name, which does not exist"
        failed=1
    done
done
echo "$n folders"
[ "$n" -gt 40 ] || { echo "too few folders were looked at"; failed=1; }
exit "$failed"
