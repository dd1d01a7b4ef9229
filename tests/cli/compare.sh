# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir compare: the first value that differs, of two networks, and of a network and a folder of arrays.
. "$SRC/tests/cli/lib.sh"
cp "$data/small.json" "$data/small.raw" "$SRC/examples/models/digits.onnx" .
digits=$SRC/examples/models

# Nothing differs: in a copy, in another format, after passes, in another order of axes, between frameworks.
run 0 compare small.json small.json; quiet; out "0 bad"
run 0 convert small.json small.fb; run 0 compare small.json small.fb --seed 3; quiet; out "0 bad"
run 0 opt digits.onnx digits.fb; run 0 compare digits.onnx digits.fb; quiet; out "0 bad"
run 0 opt digits.onnx tagged.fb --provenance; run 0 compare digits.onnx tagged.fb; quiet; out "0 bad"
run 0 compare tagged.fb digits.onnx; quiet; out "0 bad"
run 0 convert digits.onnx plain.onnx; run 0 compare digits.onnx plain.onnx --tolerance 0; quiet

# Passes fuse, move and reorder: what is left of the values is the same, with tags and without, and each op by itself.
for model in vit gpt swin unet; do
    onnx=$SRC/tests/convert/onnx/dynamic/$model.onnx
    run 0 opt "$onnx" fused.fb; run 0 compare "$onnx" fused.fb; out " 0 bad"
    run 0 opt "$onnx" fused.fb --provenance; run 0 compare "$onnx" fused.fb; out " 0 bad"
    run 0 compare "$onnx" fused.fb --alone; out " 0 bad"
done

# A stride that does not go with the types: the second network cannot be run.
edit small.json stride.json 's/"stride_width":1/"stride_width":2/2'; cp small.raw stride.raw
run 1 compare small.json stride.json; err "/ops/3/outputs/0"; silent
# Weights: the ops before are good, and the finding has the numbers.
cp small.json weights.json; cp small.raw weights.raw
poke weights.raw $(($(wc -c <small.raw) - 4)) '\000\000\200\103'
edit small.json weights.json 's/"params_md5":"[^"]*"/"params_md5":""/'
run 1 compare small.json weights.json; out "the first bad value"; out " elements differ from A"
err "weights.json: the first bad value is '"; err "elements differ, by up to"
cp out first
run 1 compare small.json weights.json --json; json 'd["first_bad"]["bad"] and d["exit_code"] == 1'
json 'd["pairs"][0]["bad"] is False and d["bad"] >= 1 and "side_by_side" in d["first_bad"]'
run 0 compare small.json weights.json --tolerance 1e9
run 0 compare small.json weights.json --fail-below -999; not_out "!"
run 1 compare small.json weights.json --fail-below 300; err "SNR"
run 1 compare small.json weights.json --alone; out " 1 bad"
run 1 compare small.json weights.json --sort sqnr; out "the first bad value"
sed -n 2p out | grep -q '^!' || bad "the worst pair is not the first"

# A folder: what run --output writes, of values that become outputs.
run 0 extract small.json all.json --end conv1 --end relu1 --end conv2 --end pool
run 0 run all.json --output dump; quiet
run 0 compare all.json dump --seed 0; quiet; out "4 pairs, 0 bad"
run 2 compare all.json dump; err "dump: there is no array for the input '': --input names one, or --seed gives random"
mv dump/output_0.npy dump/conv1.npy; mv dump/output_1.npy dump/4.npy; mv dump/output_2.npy dump/conv2.npy
mv dump/output_3.npy dump/pool.npy
run 0 compare small.json dump --seed 0; quiet; out "4 pairs, 0 bad; 1 value of A and 0 files of B in no pair"
run 0 compare small.json dump --seed 0 --alone; quiet
run 1 compare small.json dump --seed 1; err "dump: the first bad value is 'conv1' of op #1 icraft::xir::Conv2d"; out " 4 bad"
run 1 compare small.json dump --seed 1 --alone; out " 1 bad"
run 1 compare small.json dump --json --seed 1; json 'd["pairs"][1]["by"] == "file" and "op_b" not in d["pairs"][0]'
cp -r dump other; touch other/superfluous.npy other/readme.txt
run 0 compare small.json other --seed 0; err "note: 2 files of other are for no value of the network: readme.txt, superfluous.npy"
head -c 400 dump/4.npy >other/4.npy; run 1 compare small.json other --seed 0; err "other/4.npy"
cp dump/pool.npy other/4.npy; run 1 compare small.json other --seed 0; out "another shape"; err "'relu1' of op #2"
rm other/4.npy; run 0 compare small.json other --seed 0; not_err "4.npy"; out "3 pairs"
mkdir empty; run 1 compare small.json empty; err "the folder has no file for a value of the network"
run 3 compare small.json nowhere; err nowhere

# The bytes of a value, without a header; one byte less, and one more.
mkdir bytes; tail -c 1024 dump/conv1.npy >bytes/conv1.bin
run 0 compare small.json bytes --seed 0; quiet; out "1 pair, 0 bad"
tail -c 1023 dump/conv1.npy >bytes/conv1.bin
run 1 compare small.json bytes --seed 0; err "bytes/conv1.bin: expected the 1024 bytes of the value, found 1023"
tail -c 1025 dump/conv1.npy >bytes/conv1.bin; run 1 compare small.json bytes --seed 0; err "found 1025"

# The inputs of a folder are those of the device.
cp -r dump inputs; npy=$(ls "$digits"/digits_inputs.npy)
run 0 run digits.onnx --input "$npy" --each --output answers
run 1 compare digits.onnx answers --seed 0; err "another shape"

# Many samples: the worst and the mean.
run 0 compare digits.onnx digits.fb --input "$digits/digits_inputs.npy" --each; quiet; out "64 samples"; out "the mean"

# Command lines that make no sense, and networks that cannot be compared.
run 2 compare small.json; err "usage: xir compare A B"
run 2 compare - -; err "only one"
run 2 compare small.json small.json --sort size; err "--sort takes"
run 2 compare small.json small.json --tolerance -1; err "--tolerance takes"
run 2 compare small.json small.json --seed x; err "--seed takes"
run 2 compare small.json small.json --input nobody=x.npy; err "nobody"
run 1 compare small.json digits.fb; err "input 0 'image' of the network: expected"
run 3 compare small.json nothing.json; err "nothing.json"
run 1 compare small.json small.json --max-work 10; err "steps"
finish
