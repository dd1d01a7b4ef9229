#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# demo.sh: installs what is missing, builds the library and the program, and takes networks through them: one that a
# program in C builds, a trained one from ONNX to 64 recognised digits and on through each format, and a transformer
# with an open batch. Each station is a line of a table. build/demo/demo.log has the commands and all that they print.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
models=$top/examples/models
demo=$top/build/demo
log=$demo/demo.log
rm -rf "$demo"
mkdir -p "$demo"

fail() {
    printf '\ndemo.sh: %s; the end of %s:\n' "$1" "$log"
    tail -n 20 "$log"
    exit 1
} >&2

# --- building: of its output the packages that it installs, and every tenth percent ---------------

printf 'Building XIR ... '
began=$(date +%s)
{ sh "$top/scripts/build.sh" release 2>&1 && : >"$demo/built"; } | tee "$log" | awk '
/^setup\.sh: installed/ { printf "%s ... ", substr($0, 11); fflush() }
/^\[[0-9]+\/[0-9]+\]/   { split(substr($1, 2), n, "/"); percent = int(10 * n[1] / n[2]) * 10
                          if (percent > shown) { shown = percent; printf "%d%% ", shown; fflush() } }'
[ -e "$demo/built" ] || fail "the build failed"
rm "$demo/built"
printf 'in %d s.\n' $(($(date +%s) - began))

# --- stations --------------------------------------------------------------------------------------

PATH=$top/build/release/examples:$top/build/release/tools:$PATH
cd "$demo"

# Runs a command. The log has it as it would be typed, and what it prints; `printed` has the latter, too.
run() {
    printf '\n$ %s\n' "$*" >>"$log"
    "$@" >printed 2>&1 || { cat printed >>"$log"; fail "'$*' failed"; }
    cat printed >>"$log"
}

# station WHAT; its commands; result TEXT: a line of the table.
station() {
    what=$1
    station_began=$(date +%s%N)
}
result() {
    printf '%-44s %-42s %7d ms\n' "$what" "$1" $((($(date +%s%N) - station_began) / 1000000))
}

# Output of the last command: of the first line that a pattern matches, its first group.
said() {
    sed -n "s/$1/\\1/p" printed | head -n 1
}

# Runs a network on the 64 digits, and compares the answers with their classes and with PyTorch's logits.
answers() { # NETWORK INPUT OPTION...
    file=$1 input=$2
    shift 2
    run xir run "$file" --each --input "$input$models/digits_inputs.npy" --output "answers_$file" "$@"
    run score "answers_$file"/*.npy "$models/digits_labels.npy" "$models/digits_logits.npy"
    echo "$(said '^\([0-9]* of [0-9]* right\)$'), $(said '.*difference of a number is \(.*\)') from PyTorch"
}

opened() { # FILE
    run xir info --json "$1"
    echo "$(said '.*"ops":\([0-9]*\),.*') ops"
}

cat <<'END'

Each line is a network that XIR reads, changes, writes or runs.
  proven   XIR ran it before and after each change, on random inputs: the largest difference found
  right    of 64 digits that it was not trained on: the largest difference from PyTorch's outputs

END

station "built in C, through .fb, .imodel, .json"
run quickstart
run xir check whatever.json
run xir convert whatever.json copy.fb
run xir convert copy.fb copy.imodel
run xir convert copy.imodel copy.json
for suffix in fb imodel json raw; do run cmp whatever.$suffix copy.$suffix; done
result "not a bit is different"

station "digits.onnx, trained -> digits.fb"
cp "$models/digits.onnx" .
run xir check digits.onnx
run xir opt digits.onnx digits.fb --time --prove
ops=$(awk '$1 == "all" { print $4 " -> " $5 " ops" }' printed)
result "$ops, proven: $(said '.*difference of an output is \([^ ]*\).*')"

station "digits.fb, run on images"
result "$(answers digits.fb image= --lazy)"

station "digits.fb, at addresses in a device's memory"
run xir plan digits.fb planned.fb --how memory=etm
bytes=$(said '.*; \([0-9]* bytes\) from .*')
run xir check planned.fb
result "$bytes, $(answers planned.fb image= --arena | sed 's/,.*//')"

station "digits.fb -> digits.json"
run xir convert digits.fb digits.json
run xir run digits.json --lazy --each --input image="$models/digits_inputs.npy" --compare answers_digits.fb \
    --tolerance 0
result "the same answers to the last bit"

station "digits.fb -> ops of an accelerator"
run xir opt digits.fb buyi.fb --passes "legalize{target=buyi},partition{target=buyi}" --prove --split parts
run xir check buyi.fb --target buyi
run xir info buyi.fb
result "$(said ' *\([0-9]* of [0-9]* ops, .* of the multiply-adds\)')"

station "digits.fb -> integers of 8 bits"
run xir calibrate digits.fb ranges.json --input image="$models/digits_inputs.npy" --each
run xir opt digits.fb digits8.fb --passes "quantize{scheme=onnx,calibration=ranges.json}" --verify
run xir run digits8.fb --each --input image="$models/digits_inputs.npy" --compare answers_digits.fb --tolerance 1
result "$(said '.*largest difference \(.*\)') from the floats"

# on FROM TO INPUT OPTION...: a network goes on to another format, and still recognises the digits.
on() {
    station "$1 -> $2"
    from=$1 to=$2 input=$3
    shift 3
    run xir opt "$from" "$to" "$@"
    run xir check "$to"
    result "$(answers "$to" "$input")"
}
on digits.fb         back.onnx         image=
on digits.fb         digits.pnnx.param image=
on digits.pnnx.param digits.tsm        ''
on digits.tsm        digits.nnb        ''
on digits.nnb        again.fb          ''      --prove
on again.fb          digits.ir         v0=     --set xir-to-deepx.windows=true --set xir-to-deepx.delete=true

station "vit.onnx, a transformer with an open batch"
cp "$top/tests/convert/onnx/dynamic/vit.onnx" .
run xir opt vit.onnx vit.fb
run xir run vit.fb
result "$(opened vit.onnx) -> $(opened vit.fb), runs"

station "vit.onnx, the batch is 4"
run xir opt --bind batch=4 vit.onnx vit4.fb
run xir run vit4.fb
result "$(opened vit4.fb), runs"

cat <<END

The files, and demo.log with all commands, are in $demo.
The program is $top/build/release/tools/xir:
  xir help                                              lists its commands
  xir view --diff digits.onnx digits.fb digits.html     makes a page of what happened to digits.onnx
END
