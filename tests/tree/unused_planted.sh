#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# unused_planted.sh CC NM SHARED EXCEPTIONS OBJECTS: unused.sh detects every kind of fault. Each plant is an object that
# is added to the library's objects.
set -u

cc=$1 nm=$2 shared=$3 exceptions=$4 objects=$5
here=$(dirname "$0")
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0

# plant FILE TEXT: adds an object made from that text.
plant() {
    mkdir -p "$work/$(dirname "$1")"
    echo "$2" >"$work/plant.c"
    "$cc" -c -o "$work/$1.o" "$work/plant.c" || exit 2
    echo "$work/$1.o" >>"$work/objects"
}

run() { sh "$here/unused.sh" "$nm" "$shared" "$exceptions" "$work/objects" >"$work/out"; }

# expect WORDS…: unused.sh fails and prints these words.
expect() {
    if run; then
        echo "unused.sh did not find: $*"
        failed=1
    elif ! grep -q "$*" "$work/out"; then
        echo "unused.sh does not say: $*"
        sed 's/^/    /' "$work/out"
        failed=1
    fi
    cp "$objects" "$work/objects"
}

cp "$objects" "$work/objects"
plant src/core/base/alone.c "int plant_one(void); int plant_one(void) { return 1; }"
expect "src/core/base/alone.c: no other file uses the function plant_one"

# A use in the same file does not count.
plant src/exec/own.c "int plant_one(void); int plant_two(void); int plant_one(void) { return plant_two(); }
                      int plant_two(void) { return plant_one(); }"
expect "src/exec/own.c: no other file uses the function plant_two"

plant src/ops/written.c "int plant_one = 1;"
expect "src/ops/written.c: no other file uses the variable plant_one"

plant src/ops/zero.c "int plant_one[8];"
expect "src/ops/zero.c: no other file uses the variable plant_one"

plant src/ops/read.c "extern const int plant_one[2]; const int plant_one[2] = { 1, 2 };"
expect "src/ops/read.c: no other file uses the variable plant_one"

plant src/ops/weak.c "int plant_one(void); __attribute__((weak)) int plant_one(void) { return 1; }"
expect "src/ops/weak.c: no other file uses the function plant_one"

# Names of the compiler, and names that another file uses, are accepted.
plant src/ops/two.c "int plant_one(void); int plant_one(void) { return 1; } int __plant_two = 1;"
plant src/ops/user.c "int plant_one(void); int plant_one(void);
                      __attribute__((constructor)) static void begin(void) { plant_one(); }"
if ! run; then
    echo "unused.sh finds a name that is used:"
    sed 's/^/    /' "$work/out"
    failed=1
fi
cp "$objects" "$work/objects"

given=$exceptions exceptions=$work/more
{ cat "$given"; echo "xir_nothing  an exception that nothing needs"; } >"$work/more"
expect "not needed any more: xir_nothing"

sed '/^gemm_path_at/d' "$given" >"$work/more"
expect "no other file uses the function gemm_path_at"

{ sed '/^gemm_path_at/d' "$given"; echo "gemm_path_at"; } >"$work/more"
expect "without a reason: gemm_path_at"

[ "$failed" -eq 0 ] && echo "every plant is found"
exit "$failed"
