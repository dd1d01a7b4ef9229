# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# ONNX Runtime computes what xir run does, without optimisations, for models with open dims. It is an npm package, which
# building and testing do not need: a developer who has it names its folder.
# npm install --ignore-scripts onnxruntime-node@1.30.0, then XIR_ONNXRUNTIME=…/node_modules/onnxruntime-node
. "$SRC/tests/cli/lib.sh"

if [ ! -d "${XIR_ONNXRUNTIME-}" ] || ! command -v node >/dev/null; then
    skip "XIR_ONNXRUNTIME names no folder of onnxruntime-node, or there is no node"
fi
node "$SRC/tests/convert/onnx/dynamic/onnxruntime.mjs" "$XIR_ONNXRUNTIME" check "$XIR" >out 2>err ||
    bad "onnxruntime.mjs"
out "optimised/encoder.onnx s0=4,s1=3"
node "$SRC/tests/convert/onnx/cases/onnxruntime.mjs" "$XIR_ONNXRUNTIME" --check >out 2>err ||
    bad "cases/onnxruntime.mjs"
node "$SRC/tests/passes/quantize/onnxruntime.mjs" "$XIR_ONNXRUNTIME" "$XIR" "$SRC/examples/models" >out 2>err ||
    bad "quantize/onnxruntime.mjs"
lines out 19
out "4  onnx::com.microsoft.QLinearConv"
node "$SRC/tests/convert/onnx/functions.mjs" "$XIR_ONNXRUNTIME" "$XIR" "$SRC/examples/models" >out 2>err ||
    bad "functions.mjs"
lines out 9
node "$SRC/tests/passes/quantize/ops.mjs" "$XIR_ONNXRUNTIME" "$XIR" >out 2>err || bad "quantize/ops.mjs"
out "310 comparisons, 0 failed"
finish
