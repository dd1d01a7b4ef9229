# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Networks of torchvision with weights from a seed, quantised and written as ONNX: ONNX Runtime computes, without its
# optimisations, what the executor does from the inputs of each op. It adds floats and the executor doubles, so that a
# number next to a tie may be stored as the next integer: at most one in 10^6 elements differs. Needs XIR_TORCH
# (torchvision.sh), XIR_ONNXRUNTIME (onnxruntime.sh) and node.
. "$SRC/tests/cli/lib.sh"

"${XIR_TORCH:-false}" -c 'import torchvision' 2>/dev/null ||
    skip "XIR_TORCH names no interpreter of Python with torchvision"
if [ ! -d "${XIR_ONNXRUNTIME-}" ] || ! command -v node >/dev/null; then
    skip "XIR_ONNXRUNTIME names no folder of onnxruntime-node, or there is no node"
fi

# same NET SCHEME PAIRS: at least so many values are compared.
same() {
    run 0 opt net.fb q.fb --passes "quantize{scheme=$2,calibration=c.json}" --verify
    run 0 opt q.fb q.onnx
    rm -rf dump all.onnx
    node "$SRC/tests/cli/compare_onnxruntime.mjs" "$XIR_ONNXRUNTIME" "$XIR" q.onnx dump >out 2>err || bad "$1, $2"
    "$XIR" compare q.onnx dump --alone --json >out 2>err || [ $? = 1 ] || bad "compare of $1, $2"
    json "len(d['pairs']) >= $3 and all(p['same_shape'] for p in d['pairs'])"
    json "sum(p['differ'] for p in d['pairs']) <= 1e-6 * sum(p['of'] for p in d['pairs'])"
    json "all(p['figures']['cosine'] > 0.9999 for p in d['pairs'])"
    "$XIR_TORCH" -B - "$1, $2" <<'END'
import json, sys
pairs = json.load(open('out'))['pairs']
print(sys.argv[1], len(pairs), 'pairs,', sum(p['differ'] for p in pairs), 'of', sum(p['of'] for p in pairs), 'differ')
END
}
for name in resnet18 mobilenet_v2; do
    "$XIR_TORCH" -B "$SRC/tests/cli/torchvision_export.py" $name >out 2>err || bad "torchvision_export.py $name"
    run 0 opt $name.onnx net.fb
    run 0 calibrate net.fb c.json --input $name/x.npy
    same $name onnx 80
    same $name zhuge 80
    rm -rf $name $name.onnx
done
finish
