# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# What a network becomes does not depend on which of several rules that fit is tried first: with the rules in other
# orders, the default pipeline leaves as many operations of each class.
. "$SRC/tests/cli/lib.sh"

# classes FILE: how many operations of each class it has.
classes() { "$XIR" info "$1" | awk '$1 ~ /^[0-9]+$/ && $2 ~ /::/ { print $1, $2 }'; }

for file in "$SRC"/tests/convert/onnx/dynamic/*.onnx; do
    run 0 opt "$file" net.fb
    classes net.fb >expected
    [ -s expected ] || bad "$file: no operations"
    for order in 1 2 3; do
        run 0 opt "$file" net.fb --set rule-order=$order
        classes net.fb >found
        same expected found
    done
done

run 1 opt "$SRC/tests/convert/onnx/dynamic/mlp.onnx" net.fb --set rule-order=first
err "rule-order: expected a number from 0 on"
finish
