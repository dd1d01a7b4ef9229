# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# The same as rule_order.sh for real networks, if XIR_CORPUS names them, and ten orders: none of them leaves another
# number of operations. One in a hundred would be allowed, if it were explained here.
. "$SRC/tests/cli/lib.sh"
[ -d "${XIR_CORPUS:-}/onnx" ] || skip "XIR_CORPUS names no folder of real files"
command -v xz >/dev/null || skip "no xz"

# ops FILE: how many operations it has after the pipeline, which has printed FILE.
ops() { sed 's/.*"ops_after":\([0-9]*\).*/\1/' "$1"; }

for file in "$XIR_CORPUS"/onnx/*.onnx.xz; do
    xz -dc "$file" >net.onnx
    run 0 opt net.onnx net.fb --json
    expected=$(ops out)
    for order in 1 2 3 4 5 6 7 8 9 10; do
        run 0 opt net.onnx net.fb --json --set rule-order=$order
        [ "$(ops out)" = "$expected" ] || bad "$file, order $order: $(ops out) operations, not $expected"
    done
    rm -f net.*
done
finish
