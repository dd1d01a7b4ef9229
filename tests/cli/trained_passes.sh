# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# What the default pipeline leaves of two trained networks that find and read lines of text: their ops, nothing to
# change in its own result, and the numbers of ONNX Runtime. Building and testing do not need the networks: a developer
# who has them names their folder (trained.sh says how), and that of ONNX Runtime (onnxruntime.sh).
. "$SRC/tests/cli/lib.sh"

models=${XIR_TRAINED-}
[ -f "$models/ch_PP-OCRv4_rec_infer.onnx" ] || skip "XIR_TRAINED names no folder with ch_PP-OCRv4_rec_infer.onnx"

# one NAME OPS DIM…: at most OPS ops are left; with these dims the network computes the same.
one() {
    net=$models/$1 most=$2
    shift 2
    run 0 opt "$net" a.fb --verify
    run 0 info a.fb --json; json "d['ops'] <= $most"
    run 0 opt a.fb b.fb
    run 0 diff a.fb b.fb; quiet
    if [ ! -d "${XIR_ONNXRUNTIME-}" ] || ! command -v node >/dev/null; then
        without "ONNX Runtime"
        return
    fi
    dims= binds= n=0
    for size in "$@"; do
        dims="$dims p2o.DynamicDimension.$n=$size" binds="$binds --bind p2o.DynamicDimension.$n=$size"
        n=$((n + 1))
    done
    rm -rf dump all.onnx
    node "$SRC/tests/cli/compare_onnxruntime.mjs" "$XIR_ONNXRUNTIME" "$XIR" "$net" dump $dims >out 2>err || bad "$net"
    run 0 opt "$net" a.fb $binds
    run 0 run a.fb --input dump/x.npy --compare dump --tolerance 1e-4; quiet
}
one ch_PP-OCRv4_det_infer.onnx 193 1 64 64
one ch_PP-OCRv4_rec_infer.onnx 188 1 32
finish
