# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir check of an ONNX file: nodes are checked by what they would become. Each finding appears once, with the node's
# place in the graph.
. "$SRC/tests/cli/lib.sh"
cp "$data/small.onnx" .

# at TEXT N: where the N-th occurrence of a text begins.
at() { grep -abo -- "$1" small.onnx | sed -n "$2p" | cut -d: -f1; }

run 0 check small.onnx; quiet; out "small.onnx: no fault found"
run 0 check --lazy small.onnx; quiet
run 0 check --no-params small.onnx; quiet

# A name of an attribute, of an op type, of a value that no node makes; a declared dim.
cp small.onnx a.onnx; poke a.onnx "$(at pads 1)" 'padz'
run 1 check a.onnx; lines err 1
err "a.onnx: /graph/node/0/attribute/padz: Conv 'conv1' (node 0): unknown attribute 'padz'; did you mean 'pads'?"
cp small.onnx b.onnx; poke b.onnx "$(at Relu 1)" 'Relo'
run 1 check b.onnx; lines err 1; err "/graph/node/1: Relo 'act1' (node 1): the operator set of ONNX has no Relo; did you mean 'Relu'?"
cp small.onnx c.onnx; poke c.onnx "$(at bias 1)" 'bios'
run 1 check c.onnx; lines err 1
err "/graph/node/2/input/1: Add 'add1' (node 2): input 1 'bios' is undefined: expected node output, graph input or initializer"

# All of them in one run, without findings that only follow from another fault.
cp small.onnx d.onnx; poke d.onnx "$(at pads 1)" 'padz'; poke d.onnx "$(at bias 1)" 'bios'
run 1 check d.onnx; lines err 2; err "/graph/node/0/attribute/padz"; err "/graph/node/2/input/1"; out "d.onnx: 2 errors"

# The elements of a constant are checked wherever they are: in the file, in a raw file, in a pipe.
cp "$data/reshape.onnx" .
count="/graph/node/0/input/1: Reshape 'rs' (node 0): expected a shape for the 6 elements of input 0, found one for 8"
run 1 check reshape.onnx; lines err 1; err "reshape.onnx: $count"
run 0 convert reshape.onnx reshape.json; run 1 check reshape.json; lines err 1; err "$count"
"$XIR" check - <reshape.onnx >out 2>err; [ $? = 1 ] || bad "check of a pipe"; err "$count"
run 0 check --no-params reshape.onnx

# Weights with fewer elements than their shape, together with another fault.
cp "$SRC/examples/models/digits.onnx" .
poke digits.onnx "$(grep -abo 'fc.biasJ' digits.onnx | cut -d: -f1 | awk '{ print $1 - 5 }')" "$(printf '\014')"
run 1 check digits.onnx; lines err 2
err "/graph/node/14/input/2: Gemm '/fc/Gemm' (node 14): dim 0 of input 2: expected 10 or 1, found 12"
err "/graph/initializer/16/raw_data: tensor 'fc.bias' has 40 bytes in raw_data, but 12 of float takes 48"

# The same network in another format gives the same findings.
run 0 convert a.onnx a.json; run 1 check a.json; lines err 1; err "/graph/node/0/attribute/padz"
run 0 convert small.onnx e.imodel; run 0 check e.imodel; quiet

# The conversion gives the same findings for nodes that it cannot convert, and warns about what it leaves out.
run 0 opt --passes onnx-to-xir small.onnx f.json; quiet
run 0 check f.json; quiet
run 0 opt --passes onnx-to-xir a.onnx g.json; lines err 2
err "warning: to-xir: Conv 'conv1' (node 0): unknown attribute 'padz'"
err "warning: to-xir: Add 'add1' (node 2): output 0 'out' has a wrong declared type: expected @fp(32) [1, 2, 1, 1], found @fp(32) [1, 2, 2, 2]"
run 0 opt --passes onnx-to-xir b.onnx h.json; lines err 2
err "Relo 'act1' (node 1): not converted, nor is 1 that waits for it: XIR has no known equivalent"
err "note: to-xir: 2 of 3 nodes are not converted, for 1 reason"
run 0 opt --passes onnx-to-xir b.onnx h.json --json; json 'd["not_converted"] == 2 and len(d["findings"]) == 2'
run 0 opt small.onnx h.json --json; json 'd["not_converted"] == 0'
run 1 opt --passes onnx-to-xir --strict b.onnx i.json; gone i.json
finish
