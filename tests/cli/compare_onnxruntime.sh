# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# The values that ONNX Runtime computes inside of models are the dump that xir compare reads: no value differs. It is an
# npm package, which building and testing do not need: a developer who has it names its folder (onnxruntime.sh says
# how).
. "$SRC/tests/cli/lib.sh"

if [ ! -d "${XIR_ONNXRUNTIME-}" ] || ! command -v node >/dev/null; then
    skip "XIR_ONNXRUNTIME names no folder of onnxruntime-node, or there is no node"
fi
models=$SRC/tests/convert/onnx/dynamic

# same_inside MODEL PAIRS DIM=N…: all values of the model are equal, and at least so many are compared.
same_inside() {
    model=$1 least=$2
    shift 2
    rm -rf dump all.onnx
    binds=
    for dim in "$@"; do binds="$binds --bind $dim"; done
    node "$SRC/tests/cli/compare_onnxruntime.mjs" "$XIR_ONNXRUNTIME" "$XIR" "$model" dump "$@" >out 2>err || bad "$model"
    run 0 compare "$model" dump $binds --tolerance 1e-3
    pairs=$(sed -n 's/^\([0-9]*\) pairs*, 0 bad.*/\1/p' out)
    [ "${pairs:-0}" -ge "$least" ] || bad "$ran: ${pairs:-0} pairs, expected $least"
    echo "$model: ${pairs:-0} pairs"
}
same_inside "$SRC/examples/models/digits.onnx" 12
same_inside "$models/mlp.onnx" 3 batch=2
same_inside "$models/vit.onnx" 20 batch=2
same_inside "$models/yolo.onnx" 20 batch=1 height=16 width=16
same_inside "$models/tagger.onnx" 3 batch=2 length=5
same_inside "$models/bert.onnx" 20 batch=2 length=6
same_inside "$models/efficientnet.onnx" 20 batch=2
same_inside "$models/convnext.onnx" 20 batch=2
same_inside "$models/swin.onnx" 20 batch=2
same_inside "$models/unet.onnx" 10 batch=2
same_inside "$models/distilbert.onnx" 20 batch=2
finish
