# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir check --target, legalize and partition over real files, if XIR_CORPUS names them: networks that the vendor's
# compiler has made break no rule; classifiers and a segmentation run on the target as a whole, in one group.
. "$SRC/tests/cli/lib.sh"
[ -d "${XIR_CORPUS:-}/onnx" ] || skip "XIR_CORPUS names no folder of real files"
command -v xz >/dev/null || skip "no xz"

run 0 check --no-params --target buyi "$XIR_CORPUS/icraft/superpoint_test_softmax_BY.json"; out "no fault found"; err "8 ops are not for buyi"
run 0 check --no-params --target zhuge:330 "$XIR_CORPUS/icraft/yolov5s_plin_352x640_ZG.json"; out "no fault found"
nets='resnet18 mobilenet_v2 unet_small'
sanitized && nets=unet_small
for net in $nets; do
    xz -dkc "$XIR_CORPUS/onnx/$net.onnx.xz" >$net.onnx
    run 0 opt $net.onnx f.fb
    run 0 opt f.fb r.fb --passes "legalize{target=buyi},partition{target=buyi}" --prove; out "proven: 3 networks"
    err "in 1 group, with 100.00 % of the multiply-adds; 2 values cross borders"
    run 0 check r.fb --target buyi; quiet
    rm -rf parts
    run 0 opt r.fb --passes "partition{target=buyi}" --split parts; there parts/part0.fb; gone parts/part1.fb
    run 0 info r.fb; out "100.00 % of the multiply-adds"
done
finish
