# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir opt over real exports, if XIR_CORPUS names them: each goes through the default pipeline and is verified; the ONNX
# ops that are left are counted; the small ones are proven.
. "$SRC/tests/cli/lib.sh"
[ -d "${XIR_CORPUS:-}/onnx" ] || skip "XIR_CORPUS names no folder of real files"
command -v xz >/dev/null || skip "no xz"

for packed in "$XIR_CORPUS"/onnx/*.onnx.xz; do
    name=$(basename "$packed" .onnx.xz)
    case $name in swin* | resnet* | densenet*) ! sanitized || continue ;; esac
    xz -dc "$packed" >net.onnx
    run 0 opt net.onnx net.fb --verify --time
    run 0 check net.fb; out "no fault found"
    run 0 info net.fb
    case $name in
    ssdlite*) ;;   # what it ends with depends on data: If, NonMaxSuppression
    *) not_out "onnx::" ;;
    esac
    case $name in
    mobilenet* | resnet* | unet* | densenet*)
        not_out "BatchNormalization"
        [ "$(awk '$2 == "icraft::xir::Transpose" { n = $1 } END { print n + 0 }' out)" -le 2 ] || bad "$name: transposes are left inside" ;;
    esac
    run 0 opt net.fb again.fb --time
    [ "$(awk '$1 == "all" { print $3 }' out)" = 0 ] || bad "$name: there is still something to do"
    case $name in
    lstm* | unet*) run 0 opt net.onnx --prove; out "proven: " ;;
    esac
done
run 0 opt net.onnx --passes ""; quiet
finish
