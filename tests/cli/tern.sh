# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# The Tern NPU of examples/tern, in C and in C++: a model is compiled, proven, and saved with the plan of its memory.
. "$SRC/tests/cli/lib.sh"

[ -x "$BUILD/examples/ternc" ] || { without examples/ternc; finish; }
model=$SRC/examples/models/digits.onnx
"$BUILD/examples/ternc" "$model" out.fb prove >program 2>said || bad "ternc: $(cat said)"
grep -q '^; proven: [0-9]* networks compute the same$' program || bad "no proof"
grep -q '^tern0: ; [0-9]* ops, [0-9]* bytes of scratch, [0-9]* MACs$' program || bad "no part"
grep -q '^    CONV s1 p1 g1 max .* s:[0-9a-f]* <- s:[0-9a-f]* w0+[0-9]* w[0-9]*+[0-9]*   ; ' program || bad "no command"
grep -q '^    xir::Call ; tern0$' program || bad "the part is not an op"
run 0 info out.fb; out "tern::Npu"; run 0 show out.fb --op tern0; out '"_type_key": "xir::Call"'

# A model that is missing is a finding.
"$BUILD/examples/ternc" none.onnx none.fb >program 2>said && bad "a model that is missing"
grep -q 'none.onnx' said || bad "no finding"

if [ -x "$BUILD/examples/ternpp" ]; then
    "$BUILD/examples/ternpp" "$model" >program 2>said || bad "ternpp: $(cat said)"
    grep -q '^tern: ; [0-9]* ops, [0-9]* bytes at least$' program || bad "no part in C++"
    grep -q '^    CONV s1 [0-9]*-[0-9]*$' program || bad "no command in C++"
else
    without examples/ternpp
fi
finish
