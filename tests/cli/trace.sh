# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir trace: what passes make of an op, and what an op of the result was made of. xir opt --provenance keeps it in tags.
. "$SRC/tests/cli/lib.sh"
cp "$SRC/examples/models/digits.onnx" "$data/small.json" "$data/small.raw" .

# The page shows these.
page() {
    awk -v from="\$ xir trace digits.onnx $1" '$0 == "```" { on = 0 } on; $0 == from { on = 1 }' "$SRC/docs/xir.md" >page
}
run 0 trace digits.onnx /b1/BatchNormalization; quiet; page /b1/BatchNormalization; lines page 13; same out page
run 0 trace digits.onnx /c1/Conv --back; quiet; page "/c1/Conv --back"; lines page 9; same out page

# By id; an op that nothing stands for; an op that nothing changes; passes that are given.
run 0 trace digits.onnx "#2"; quiet; out "#2 onnx::BatchNormalization"; out "fold-batchnorm"
run 0 trace digits.onnx "#2" --passes to-xir; lines out 6; not_out fold
run 0 trace digits.onnx "#2" --passes ""; quiet; lines out 1
run 0 trace digits.onnx "#18" --back --passes to-xir; lines out 2
out "before to-xir           #1 onnx::Conv '/c1/Conv'"
run 0 trace digits.onnx "#2" --disable fold-batchnorm; not_out fold-batchnorm
run 0 trace small.json conv1; quiet; out "#1 icraft::xir::Conv2d 'conv1'"

# Names: of several ops, of none.
edit small.json twice.json 's/"name":"conv2"/"name":"conv1"/'
run 0 trace twice.json conv1 --passes ""; lines out 3; out "#1 icraft"; out "#3 icraft"
run 2 trace small.json conv3; silent; err "small.json: there is no op 'conv3'; did you mean 'conv"
run 2 trace small.json nonsense --back; err "there is no op 'nonsense'; OP is the name of an op, or its id as #17"
run 2 trace small.json "#99"; err "there is no op '#99'"
run 2 trace small.json; err "usage: xir trace"
run 2 trace small.json conv1 --passes "infer,fodl"; err "did you mean 'fold'?"

edit small.json lines.json 's/"name":"conv2"/"name":"a\\nb"/'
run 0 trace lines.json "#3" --passes ""; lines out 1; out "'a\x0ab'"

# Tags: of the first file, also after a second run, and through other formats; a run without the option leaves them.
run 0 opt digits.onnx digits.json --provenance; quiet
run 0 show digits.json --op /c1/Conv --compact; out '"source.ops":[1,2]'
run 0 opt digits.json again.fb --provenance; quiet
run 0 show again.fb --op /c1/Conv --compact; out '"source.ops":[1,2]'; out '"source.values":[7]'
run 0 trace again.fb /c1/Conv; quiet; out "tag source.ops          [1,2]"
run 0 trace again.fb /c1/Conv --back; quiet; out "tag source.ops          [1,2]"
run 0 opt digits.onnx plain.json; run 0 show plain.json --compact; not_out "source.ops"
run 0 check again.fb --no-params; out "no fault found"

# A file may say anything.
cp digits.raw odd.raw; cp digits.raw far.raw
edit digits.json odd.json 's/"source.ops":\[1,2\]/"source.ops":["a",-1]/g'
run 0 opt odd.json odd.fb --provenance; err "the tag source.ops of op 18 does not count: expected a list of ids"
err "the tag source.ops of value 74 does not count"
run 0 show odd.fb --op /c1/Conv --compact; not_out "source.ops"
edit digits.json odd.json 's/"source.ops":\[1,2\]/"source.ops":7/g'
run 0 opt odd.json odd.fb --provenance; err "does not count"
edit digits.json far.json 's/"source.ops":\[1,2\]/"source.ops":[9000000000000,5]/g'
run 0 opt far.json far.fb --provenance; quiet
run 0 show far.fb --op /c1/Conv --compact; out '"source.ops":[5,9000000000000]'

# A pipeline that fails in the middle: what was printed is true.
run 1 trace digits.onnx "#2" --passes "to-xir,fix{limit=1}(layout,fold-batchnorm,dce)"; out "to-xir"; err "fixed point"
finish
