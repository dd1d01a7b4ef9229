# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Programs that nobody here wrote take what xir reduce leaves: ONNX's checker and ONNX Runtime the models, Graphviz
# their pictures. The checker takes every candidate, too. Needs Debian's python3-onnx and graphviz, node, and the npm
# package of onnxruntime.sh.
. "$SRC/tests/cli/lib.sh"

python=
for p in python3 /usr/bin/python3; do "$p" -c 'import onnx.checker' 2>/dev/null && python=$p; done
[ -n "$python" ] || without python3-onnx
runtime=
[ -d "${XIR_ONNXRUNTIME-}" ] && command -v node >/dev/null && runtime=$XIR_ONNXRUNTIME
[ -n "$runtime" ] || without XIR_ONNXRUNTIME
has dot && dot=yes || dot=
[ -n "$python$runtime$dot" ] || skip "there is neither python3-onnx nor onnxruntime-node nor Graphviz"

mkdir candidates
cat >has <<'END'
n=$(ls candidates | wc -l)
cp "$1" candidates/$2_$n.onnx
"$XIR" show --text "$1" | grep -q "onnx::$2("
END
cat >check.py <<'END'
import onnx, sys
for path in sys.argv[1:]:
    try:
        onnx.checker.check_model(onnx.load(path), full_check=True)
    except Exception as e:
        print(path, e, file=sys.stderr)
        sys.exit(1)
END
export XIR
cat >load.cjs <<'END'
const [folder, model] = process.argv.slice(2);
require(folder).InferenceSession.create(model).catch(e => { console.error(String(e)); process.exit(1); });
END

# taken MODEL CLASS: the model is reduced to what still has an op of the class, with small dims.
taken() {
    small=$(basename "$1" .onnx)_$2.onnx
    run 0 reduce "$1" "$small" --check "sh has {} $2" --max-runs 200
    ops=$(sed -n 's/^\([0-9]*\) of .* are left.*/\1/p' out)
    [ "${ops:-99}" -le 5 ] || bad "$ran: ${ops:-no} ops are left, expected at most 5"
    if [ -n "$python" ]; then
        "$python" check.py "$small" >out 2>err || bad "$small: ONNX's checker refuses it"
        "$python" check.py candidates/* >out 2>err || bad "$small: ONNX's checker refuses a candidate"
    fi
    if [ -n "$runtime" ]; then
        node load.cjs "$runtime" "$PWD/$small" >out 2>err || bad "$small: ONNX Runtime refuses it"
    fi
    rm -f candidates/*
    size=$(wc -c <"$small")
    [ "$size" -le 400 ] || bad "$small has $size bytes, expected at most 400"
    if [ -n "$dot" ]; then
        run 0 view "$small" small.dot --dot
        dot -Tsvg small.dot >/dev/null 2>err || bad "$small: Graphviz refuses its picture"
    fi
}

models=$SRC/tests/convert/onnx/dynamic
for class in Conv BatchNormalization HardSigmoid MaxPool Flatten Gemm; do
    taken "$SRC/examples/models/digits.onnx" $class
done
taken "$models/mlp.onnx" Relu
taken "$models/vit.onnx" Softmax
taken "$models/vit.onnx" MatMul
taken "$models/yolo.onnx" Concat
taken "$models/yolo.onnx" Resize
taken "$models/bert.onnx" Gather
taken "$models/unet.onnx" Conv
finish
