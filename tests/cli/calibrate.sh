# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir calibrate: samples in one run and in several give the same ranges; what is not a sample is refused. xir mix:
# which ops need more bits.
. "$SRC/tests/cli/lib.sh"

cat >net.xir <<'END'
xir 1
%x = Input() : fp32 ** [1,2]
%y = ReLU(%x) : fp32 ** [1,2]
Output(%y)
END

# npy NAME SHAPE BYTES: float32; bytes in the spelling of printf.
npy() {
    { printf '\223NUMPY\001\000\166\000'; printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': $2, }"; printf "$3"; } >"$1"
}
one='\000\000\200\077'; two='\000\000\000\100'; minus='\000\000\200\277'
npy both.npy '(2, 2)' "$one$minus$two$one"
npy first.npy '(1, 2)' "$one$minus"
npy second.npy '(1, 2)' "$two$one"

run 0 calibrate net.xir both.json --input both.npy --each; quiet; out "2 samples, 2 values"
run 0 calibrate net.xir first.json --input x=first.npy; quiet; out "1 samples, 2 values"
run 0 calibrate net.xir apart.json --input second.npy --merge first.json; quiet; out "2 samples, 2 values"
same both.json apart.json
run 0 calibrate net.xir second.json --input second.npy
run 0 calibrate net.xir merged.json --merge first.json --merge second.json; quiet; same both.json merged.json
grep -q '"max":2.0,"min":-1.0,"samples":2' both.json || bad "the range of x"
run 0 calibrate net.xir none.json --input both.npy --each --products; out "2 samples, 0 values"
run 0 calibrate net.xir both.json --input both.npy --each; gone both.json.part

# A network of another framework is converted first.
run 0 opt net.xir net.onnx --passes xir-to-onnx
run 0 calibrate net.onnx onnx.json --input both.npy --each; out "2 samples, 2 values"

# Refused arguments.
run 2 calibrate net.xir c.json; err "needs samples"; gone c.json
run 2 calibrate net.xir; err "usage: xir calibrate NET C.json"
run 1 calibrate net.xir c.json --input both.npy; err "expected @fp(32) [1,2]"; gone c.json
npy nan.npy '(1, 2)' "$one"'\000\000\300\177'
run 1 calibrate net.xir c.json --input nan.npy; err "value 'x' of op '' is NaN at element 1"; gone c.json
echo '{}' >empty.json
run 1 calibrate net.xir c.json --merge empty.json; err "empty.json"; err "the member is missing"; gone c.json
run 3 calibrate net.xir c.json --merge nowhere.json; err "nowhere.json: cannot be read"
run 3 calibrate net.xir no/folder/c.json --input both.npy --each; err "no/folder/c.json: cannot be written"
sed 's/"x"/"z"/' both.json >other.json
run 0 calibrate net.xir c.json --merge other.json; err "1 values that the network does not have, 'z' first"

# A trained network becomes that of a device: as docs/quantize.md shows.
cp "$SRC/examples/models/digits_inputs.npy" images.npy
run 0 opt "$SRC/examples/models/digits.onnx" digits.fb
run 0 opt digits.fb legal.fb --passes "legalize{target=buyi},infer,dce"
run 0 calibrate legal.fb c.json --input images.npy --each; out "64 samples, 15 values"
run 0 opt legal.fb q.fb --passes "quantize{scheme=buyi,calibration=c.json,outputs=same}" --verify; quiet
run 0 check q.fb --target buyi; out "no fault found"
run 0 run q.fb --input images.npy --each --output fb
run 0 convert q.fb q.json; run 0 run q.json --input images.npy --each --output json; same fb/logits.npy json/logits.npy
run 0 calibrate digits.fb d.json --input images.npy --each; out "64 samples, 14 values"
run 0 opt digits.fb o.fb --passes "quantize{scheme=onnx,calibration=d.json}" --verify
run 0 opt o.fb o.onnx --passes xir-to-onnx
run 0 run o.fb --input images.npy --each --output here; run 0 run o.onnx --input images.npy --each --compare here
run 0 opt digits.fb z.fb --passes "quantize{scheme=zhuge,calibration=d.json}" --verify
run 0 opt z.fb z.onnx --passes xir-to-onnx; run 0 check z.onnx    # a bias of fp16 becomes fp32, as the map is
run 0 run z.fb --input images.npy --each --output there; run 0 run z.onnx --input images.npy --each --compare there
run 0 opt digits.fb b.fb --passes "quantize{scheme=buyi,calibration=d.json}" --verify
run 0 opt b.fb b.onnx; run 0 check b.onnx    # ratios become scales
run 0 run b.fb --input images.npy --each --output buyi
run 0 run b.onnx --input images.npy --each --compare buyi --tolerance 0.05
run 1 opt digits.fb never.fb --passes "quantize{calibration=c.json,scheme=none}"; err "there is no scheme 'none'"; gone never.fb

# Ratios by channel: the network of normalised numbers computes the same, and becomes integers.
run 0 calibrate legal.fb channels.json --input images.npy --each --channels; out "64 samples, 15 values"
run 0 opt legal.fb n.fb --passes "normalize{calibration=channels.json,per=channel}" --prove
run 0 run legal.fb --input images.npy --each --output real
run 0 run n.fb --input images.npy --each --compare real --tolerance 1e-5
run 0 convert n.fb n.json; run 0 run n.json --input images.npy --each --compare real --tolerance 1e-5
run 0 opt n.fb nq.fb --passes "quantize{scheme=buyi}" --verify
run 0 run nq.fb --input images.npy --each --output integers
run 1 opt legal.fb no.fb --passes "normalize{calibration=c.json,per=channel}"; err "no ranges of channels"

# Single ops by a CSV.
printf 'op,type,bits,per,saturation\n*,Conv2d,float\n' >f.csv
run 0 opt digits.fb f.fb --passes "quantize{scheme=onnx,calibration=d.json,precision=f.csv}" --verify
printf 'op,type,bits,per,saturation\nnobody,,16\n' >f.csv
run 1 opt digits.fb no.fb --passes "quantize{calibration=d.json,precision=f.csv}"
err "f.csv:2: the row matches no op of the network, found 'nobody,,16'"

# The ops that need more bits are chosen, and the CSV is used again.
run 0 mix digits.fb mix.csv --input images.npy --each --quantize "scheme=onnx,per=tensor,calibration=d.json" \
    --least 41.5
quiet; out "of 10 values have more bits or are floats"; out "cosine 0.9999"
head -1 mix.csv >title; echo "op,type,bits,per,saturation" >expected; same title expected
run 0 opt digits.fb mixed.fb --passes "quantize{scheme=onnx,per=tensor,calibration=d.json,precision=mix.csv}" --verify
run 0 compare digits.fb mixed.fb --input images.npy --each --fail-below 30
run 1 mix digits.fb mix.csv --input images.npy --each --quantize "scheme=buyi,calibration=d.json" --least 90
err "the results are not good enough within the budget"; there mix.csv
run 2 mix digits.fb no.csv --quantize scheme=buyi; err "a choice needs samples"; gone no.csv
run 2 mix digits.fb no.csv --input images.npy --below 2; err "--below takes a number above 0, at most 1, not '2'"
run 2 mix digits.fb no.csv --input images.npy --budget no; err "--budget takes a number above 0"
run 2 mix digits.fb no.csv --input images.npy --least -1; err "--least takes a positive number of dB"
run 1 mix digits.fb no.csv --input images.npy --each --quantize scheme=none
err "there is no scheme 'none'"; gone no.csv
run 2 mix digits.fb; err "usage: xir mix NET F.csv"
finish
