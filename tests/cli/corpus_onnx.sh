# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Real exports, if XIR_CORPUS names them: no faults are found, and each is converted except its If.
. "$SRC/tests/cli/lib.sh"
[ -d "${XIR_CORPUS:-}/onnx" ] || skip "XIR_CORPUS names no folder of real files"
command -v xz >/dev/null || skip "no xz"

for file in "$XIR_CORPUS"/onnx/*.onnx.xz; do
    xz -dc "$file" >net.onnx
    run 0 check --lazy net.onnx; quiet; out "no fault found"
    case $file in
    *ssdlite*)
        run 0 opt --lazy --passes onnx-to-xir net.onnx; lines err 2; err "If 'If_3487' (node 3487): not converted"
        run 1 opt --lazy --passes onnx-to-xir --strict net.onnx; err "If_3487" ;;
    *)  run 0 opt --lazy --passes onnx-to-xir --strict --verify net.onnx; quiet ;;
    esac
    case $file in
    *_dyn*)
        run 0 opt --lazy --passes onnx-to-xir --bind batch=3 net.onnx net.imodel; run 0 info net.imodel
        out "[3,3,224,224]"; out "[3,1000]"
        run 0 opt --lazy --passes onnx-to-xir --input-shape x=3,3,224,224 net.onnx net.imodel; run 0 info net.imodel
        out "[3,1000]"
        run 1 opt --lazy --passes onnx-to-xir --input-shape x=3,4,224,224 net.onnx
        err "dim 1 of the input 'x': expected 3, found 4" ;;
    esac
    rm -f net.*
done
finish
