#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# calls_planted.sh CC NM SHARED EXCEPTIONS OBJECTS: calls.sh detects every kind of fault. Each plant is an object that
# breaks one rule, added to the library's objects.
set -u

cc=$1 nm=$2 shared=$3 exceptions=$4 objects=$5
here=$(dirname "$0")
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0

# plant FILE DEFINES CALLS: adds an object made from that file.
plant() {
    mkdir -p "$work/$(dirname "$1")"
    echo "int $3(void); int $2(void); int $2(void) { return $3(); }" >"$work/plant.c"
    "$cc" -c -o "$work/$1.o" "$work/plant.c" || exit 2
    echo "$work/$1.o" >>"$work/objects"
}

# expect WORDS…: calls.sh fails and prints these words.
expect() {
    if sh "$here/calls.sh" "$nm" "$shared" "$exceptions" "$work/objects" >"$work/out"; then
        echo "calls.sh did not find: $*"
        failed=1
    elif ! grep -q "$*" "$work/out"; then
        echo "calls.sh does not say: $*"
        sed 's/^/    /' "$work/out"
        failed=1
    fi
    cp "$objects" "$work/objects"
}

cp "$objects" "$work/objects"
plant src/core/base/upward.c plant_one xir_context_new
expect "src/core/base/upward.c calls upward: xir_context_new of src/library/library.c"

plant src/core/graph/upward.c plant_one xir_network_save
expect "src/core/graph/upward.c calls upward: xir_network_save of src/serialize/save.c"

plant src/exec/sideways.c plant_one passes_register
expect "src/exec/sideways.c calls a private name of another layer: passes_register"

plant src/passes/ring/one.c plant_one plant_two
plant src/passes/other/two.c plant_two plant_one
expect "a circle of files crosses folders"

plant src/passes/upward.c plant_one xir_node_make
expect "src/passes/upward.c calls upward: xir_node_make of src/convert/node/make.c"

plant src/convert/node/upward.c plant_one row_run
expect "src/convert/node/upward.c calls upward: row_run of src/convert/rows/row.c"

plant src/convert/pnnx/sideways.c plant_one onnx_version
expect "src/convert/pnnx/sideways.c calls another dialect: onnx_version"

plant src/convert/walk/sideways.c plant_one passes_register
expect "src/convert/walk/sideways.c calls a private name of another layer: passes_register"

plant src/passes/ring/one.c plant_one plant_two
plant src/passes/other/two.c plant_two xir_network_free
plant src/passes/other/three.c plant_three plant_four
plant src/passes/ring/four.c plant_four xir_network_free
expect "folders call each other in a circle"

plant src/convert/node/one.c plant_one plant_two
plant src/convert/node/two.c plant_two plant_one
expect "a circle that is not listed, of files of src/convert/node: one.c,two.c"

echo "src/ops/a.c src/exec/b.c xir_nothing  an exception that nothing needs" >"$work/more"
cat "$exceptions" >>"$work/more"
exceptions=$work/more
expect "not needed any more: src/ops/a.c src/exec/b.c xir_nothing"

[ "$failed" -eq 0 ] && echo "every plant is found"
exit "$failed"
