# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# The commands of docs/debugging.md print what the page shows. The device is a network whose sum reads another value.
. "$SRC/tests/cli/lib.sh"
cp "$SRC/examples/models/digits.onnx" .
run 0 opt digits.onnx digits.fb
run 0 convert digits.fb device.xir
sed -i 's|Add(%/Relu_1_output_0|Add(%/Relu_2_output_0|' device.xir
ends=
for value in image /b1/BatchNormalization_output_0 /Relu_output_0 /b2/BatchNormalization_output_0 /Relu_1_output_0 \
    /dw/Conv_output_0 /Relu_2_output_0 /pw/Conv_output_0 /Mul_output_0 /Add_output_0 /pool/MaxPool_output_0 \
    /Flatten_output_0 logits; do
    ends="$ends --end $value"
done
run 0 extract device.xir all.fb $ends
run 0 run all.fb --output dump --seed 7

# shown COMMAND: runs it, and compares what it prints with the block of the page that begins with it.
shown() {
    code=$1
    shift
    eval "run $code $*"
    cat out err >printed
    awk -v from="\$ xir $*" '$0 == "```" { on = 0 } on; $0 == from { on = 1 }' "$SRC/docs/debugging.md" >page
    [ -s page ] || bad "docs/debugging.md does not show: xir $*"
    same page printed
}
shown 1 compare digits.onnx dump
shown 1 compare digits.onnx dump --alone
shown 0 reduce digits.onnx small.onnx --differs "'dump --alone'"
shown 1 compare small.onnx dump
run 0 check small.onnx
finish
