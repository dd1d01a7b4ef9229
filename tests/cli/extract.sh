# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir extract: a network cut in two computes what the whole one does; values are named by name, op or id.
. "$SRC/tests/cli/lib.sh"
models=$SRC/examples/models

# The trained network of digits, cut in the middle: the numbers of the second half are those of the whole.
run 0 opt "$models/digits.onnx" digits.json; quiet
run 0 extract digits.json head.json --end /Relu_1_output_0; quiet; silent
run 0 extract digits.json tail.json --begin /Relu_1_output_0; quiet
run 0 info head.json; out "value 0 'image'"; out "'/Relu_1_output_0' @fp(32) NHWC [1,4,4,32]"
run 0 check head.json; quiet
run 0 check tail.json; quiet
run 0 run digits.json --input "$models/digits_inputs.npy" --each --output whole
run 0 run head.json --input "$models/digits_inputs.npy" --each --output middle
run 0 run tail.json --input middle/_Relu_1_output_0.npy --each --compare whole --tolerance 0; quiet

# Each half has its own parameters only, and what is in it is unchanged.
run 0 show --compact --op /c1/Conv digits.json; cp out conv
run 0 show --compact --op /c1/Conv head.json; same out conv
run 2 show --op /c1/Conv tail.json
[ $(($(wc -c <head.raw) + $(wc -c <tail.raw))) -lt $(($(wc -c <digits.raw) + 200)) ] || bad "parameters are in both"

# The same value by the name of its op, by output and by id; in other formats.
run 0 extract digits.json again.json --end /Relu_1; same again.json head.json
run 0 extract digits.json again.json --end /Relu_1:0; same again.json head.json
run 0 extract digits.json again.json --end '#52'; same again.json head.json
run 0 extract digits.json again.fb --end /Relu_1
run 0 convert again.fb again.json; same again.json head.json
run 0 extract digits.json - --end /Relu_1 --no-params

# Several of each, in their order; a value that is both is passed through.
cp "$data/small.json" "$data/small.raw" .
run 0 extract small.json two.json --begin conv1 --end relu1 --end conv1; quiet
run 0 info two.json; out "value"
run 0 show --compact two.json; json '[v["v_id"] for v in d["ops"][-1]["inputs"]][1] == d["ops"][0]["outputs"][0]["v_id"]'
json '[o["name"] for o in d["ops"]][1] == "relu1" and len(d["ops"]) == 3'

# A file of another framework is cut as it is; the format wants the types of inputs and outputs.
run 0 extract "$models/digits.onnx" logits.onnx --end logits
run 0 run logits.onnx --input "$models/digits_inputs.npy" --each --compare whole --tolerance 1e-3
run 0 extract "$models/digits.onnx" head.onnx --end /Relu_1; quiet
run 0 extract "$models/digits.onnx" tail.onnx --begin /Relu_1; quiet
run 0 info head.onnx --json; json 'd["outputs"][0]["shape"] == [1, 32, 4, 4]'
run 0 info tail.onnx --json; json '[v["shape"] for v in d["inputs"]] == [[1, 32, 4, 4]]'
run 0 run "$models/digits.onnx" --input "$models/digits_inputs.npy" --each --output foreign
run 0 run head.onnx --input "$models/digits_inputs.npy" --each --output half
run 0 run tail.onnx --input half/_Relu_1_output_0.npy --each --compare foreign --tolerance 0; quiet
run 0 extract "$models/digits.pnnx.param" half.json --end '#3' --no-params
run 0 info half.json; out "format"

# Arguments that make no sense.
run 2 extract small.json no.json; err "extract needs --begin V or --end V"; gone no.json
run 2 extract small.json no.json --end conv3; err "there is no value 'conv3'; did you mean"; gone no.json
run 2 extract small.json no.json --end nonsense; err "--end takes the name of a value or of an op, OP:n"
run 2 extract small.json no.json --begin conv1:7; err "there is no value 'conv1:7'"
run 2 extract small.json no.json --begin '#9999'; err "there is no value '#9999'"
run 2 extract small.json no.json --end conv1 --end conv1; err "which is given twice"
run 2 extract small.json no.json --begin relu1 --end conv1; err "is not needed: no end value depends on it"
run 2 extract small.json no.json --begin w1; err "begin value 0 is Params"; gone no.json
printf '{' >bad.json
run 1 extract bad.json no.json --end x; gone no.json
finish
