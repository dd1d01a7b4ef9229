#!/bin/sh
# demo.sh: builds the library and the program, and runs examples/quickstart. `xir` then inspects the network that it
# wrote, converts it to every format and back, and prints operations, built in and of a plug-in. The second part takes a
# trained network from ONNX: it is converted, checked, optimised with a proof that it still computes the same, saved and
# loaded lazily, and it recognises 64 handwritten digits as PyTorch does. Everything is written to build/demo.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
sh "$top/scripts/build.sh" release

demo=$top/build/demo
rm -rf "$demo"
mkdir -p "$demo"
cd "$demo"

# Prints a command as it would be typed, and runs it.
run() {
    printf '\n$ %s\n' "$*"
    "$@"
}

PATH=$top/build/release/examples:$top/build/release/tools:$PATH
run quickstart

run xir info    whatever.json
run xir check   whatever.json
run xir info --lazy whatever.fb
run xir convert whatever.json copy.fb
run xir convert copy.fb       copy.imodel
run xir convert copy.imodel   copy.json
run cmp whatever.fb     copy.fb
run cmp whatever.imodel copy.imodel
run xir diff --params whatever.json copy.json
run cmp whatever.json copy.json
run cmp whatever.raw  copy.raw
echo "not a bit is different"
run xir ops     Softmax
run xir ops     --plugin "$top/build/release/plugins/customop.so" DetPost

printf '\n--- a trained network: from ONNX to answers, and the same answers from every file\n'
models=$top/examples/models
cp "$models/digits.onnx" .
run xir info  digits.onnx
run xir check digits.onnx
run xir opt   digits.onnx digits.fb --time --prove
run xir info  --lazy digits.fb
run xir convert digits.fb digits.json
run xir run   digits.fb   --lazy --each --input image="$models/digits_inputs.npy" --output answers
run xir run   digits.json --lazy --each --input image="$models/digits_inputs.npy" --compare answers --tolerance 0
run xir run   digits.onnx        --each --input image="$models/digits_inputs.npy" --compare answers
run xir plan  digits.fb planned.fb --how memory=etm
run xir opt   digits.fb buyi.fb --passes "legalize{target=buyi},partition{target=buyi}" --prove --split parts
printf '\n64 digits that the network was not trained on, next to the answers of PyTorch:\n'
run score answers/logits.npy "$models/digits_labels.npy" "$models/digits_logits.npy"

printf '\n--- and back to ONNX: the same answers\n'
run xir opt   digits.fb back.onnx
run xir check back.onnx
run xir run   back.onnx --each --input image="$models/digits_inputs.npy" --compare answers --output onnx
run score onnx/*.npy "$models/digits_labels.npy" "$models/digits_logits.npy"

printf '\n--- and back to another format: the same network for PyTorch, as PNNX\n'
run xir opt   digits.fb digits.pnnx.param
run xir check digits.pnnx.param
run xir run   digits.pnnx.param --each --input image="$models/digits_inputs.npy" --output pnnx
run score pnnx/*.npy "$models/digits_labels.npy" "$models/digits_logits.npy"

printf '\n--- and on: as TSM for TensorStack, as NNB for a microcontroller (without names), and as XIR again\n'
run xir opt   digits.pnnx.param digits.tsm
run xir run   digits.tsm --each --input "$models/digits_inputs.npy" --output tsm
run score tsm/*.npy "$models/digits_labels.npy" "$models/digits_logits.npy"
run xir opt   digits.tsm digits.nnb
run xir check digits.nnb
run xir run   digits.nnb --each --input "$models/digits_inputs.npy" --output nnb
run score nnb/*.npy "$models/digits_labels.npy" "$models/digits_logits.npy"
run xir opt   digits.nnb digits_again.fb --prove
run xir run   digits_again.fb --each --input "$models/digits_inputs.npy" --output again
run score again/*.npy "$models/digits_labels.npy" "$models/digits_logits.npy"

printf '\n--- and on: as calls of DeepX, linear layers and windows, with its parameters in a folder\n'
run xir opt   digits_again.fb digits.ir --set xir-to-deepx.windows=true --set xir-to-deepx.delete=true
run xir check digits.ir
run xir run   digits.ir --each --input v0="$models/digits_inputs.npy" --output deepx
run score deepx/*.npy "$models/digits_labels.npy" "$models/digits_logits.npy"

printf '\n--- a vision transformer with an open batch: it converts as it is, and with a number for it\n'
cp "$top/tests/convert/onnx/dynamic/vit.onnx" .
run xir opt   vit.onnx vit.fb
run xir info  vit.fb
run xir run   vit.fb
run xir opt   --bind batch=4 vit.onnx vit4.fb
run xir run   vit4.fb

printf '\nThe files are in %s:\n' "$demo"
ls -l
printf '\nThe program is %s\n' "$top/build/release/tools/xir"
