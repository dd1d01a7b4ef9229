# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# ONNX: read by every command, written again; weights in files next to the model.
. "$SRC/tests/cli/lib.sh"
cp "$data/chain.onnx" "$data/external.onnx" .

run 0 info chain.onnx; quiet; out "format      onnx"; out "ops         6"; out "params      2, 68 bytes"; out "onnx::com.example.Own"
run 0 info --json chain.onnx; json 'd["ops"] == 6 and d["params_bytes"] == 68'
run 0 show --compact chain.onnx; quiet; out '"source.dims":["N0",3,4,4]'; out '"onnx.name":"n"'
out '"kernel_shape":[1,1]'; cp out chain.shown
run 0 check chain.onnx; out "no fault found"

# It is detected by content, then by name.
cp chain.onnx noname; run 0 show --compact noname; same out chain.shown
run 0 show --compact --from onnx - <chain.onnx; same out chain.shown
run 0 show --compact - <chain.onnx; same out chain.shown

# Through every format, and back to ONNX.
for kind in json imodel fb; do
    for lazy in "" --lazy; do
        run 0 convert chain.onnx there.$kind $lazy; quiet
        run 0 diff chain.onnx there.$kind --params $lazy; quiet; silent
        run 0 diff there.$kind chain.onnx $lazy; quiet; silent
        run 0 show --compact --no-params there.$kind
        run 0 convert there.$kind back.onnx $lazy; quiet; run 0 diff --params --ids chain.onnx back.onnx; silent
        rm -f there.* back.onnx
    done
done
run 0 convert chain.onnx o.onnx; quiet; run 0 diff --params --ids chain.onnx o.onnx; silent
run 0 convert o.onnx - --to onnx <o.onnx; same out o.onnx
run 0 convert o.onnx o.onnx --lazy; run 0 convert o.onnx again.onnx; same o.onnx again.onnx
run 3 convert "$data/small.json" small.onnx; gone small.onnx
err "small.onnx: ONNX has no operator for 5 ops: icraft::xir::Conv2d"; err "xir opt converts those that it can, with to-xir and xir-to-onnx"
run 3 convert --no-params chain.onnx bare.onnx; err "has no bytes, and ONNX has them inside"; gone bare.onnx
run 0 convert chain.onnx zero.json; sed -i 's/"name":"small"/"name":"a\\u0000b"/' zero.json
run 3 convert zero.json zero.onnx; err "the name 'a' of the network has a zero byte"; gone zero.onnx

# Weights next to what is written.
digits=$SRC/examples/models/digits.onnx
run 0 convert --external "$digits" d.onnx; quiet; there d.onnx.data; run 0 diff --params "$digits" d.onnx; silent
run 0 convert --external d.onnx d.onnx --lazy; run 0 diff --params --lazy d.onnx "$digits"; silent
run 0 convert d.onnx inside.onnx; gone inside.onnx.data; run 0 diff --params d.onnx inside.onnx; silent
mv d.onnx.data other; run 3 info d.onnx; err '"d.onnx.data": No such file'
run 2 convert --external chain.onnx o.fb; err "fb does not name a file of its parameters: --external is for onnx"; gone o.fb
run 2 convert --external chain.onnx - --to onnx; err "--external writes two files"

# A network of XIR, or of another format, becomes operators of ONNX, which compute the same.
inputs=$SRC/examples/models/digits_inputs.npy
run 0 run "$digits" --each --input image="$inputs" --output answers
run 0 opt "$digits" digits.fb
for opset in 11 13 21; do
    run 0 opt digits.fb back.onnx --set xir-to-onnx.opset=$opset; run 0 check back.onnx; quiet
    run 0 info back.onnx; out "opset$opset"; out "onnx::Conv"
    run 0 run back.onnx --each --input image="$inputs" --compare answers
done

# From each other format: all 64 digits are recognised.
for from in "$SRC/examples/models/digits.pnnx.param" digits.tsm digits.nnb; do
    case $from in digits.*) run 0 opt digits.fb "$from" ;; esac
    run 0 opt "$from" back.onnx --external; there back.onnx.data; run 0 check back.onnx; quiet
    run 0 info back.onnx; out "onnx::Conv"; not_out "icraft::xir::Conv"
    rm -rf again; run 0 run back.onnx --each --input "$inputs" --output again
    [ -x "$BUILD/examples/score" ] || { without examples/score; continue; }
    "$BUILD/examples/score" again/*.npy "$SRC/examples/models/digits_labels.npy" >score || bad "$from: no score"
    case $(cat score) in "64 of 64 right"*) ;; *) bad "$from: $(cat score)" ;; esac
done
run 1 opt digits.fb back.onnx --set xir-to-onnx.opset=10; err "opset: expected 11 to 23, found 10"

# A place in the file and in the model.
head -c 100 chain.onnx >cut.onnx; run 1 show cut.onnx; err "cut.onnx@0x"; err "reaches beyond the end"; silent
poke chain.onnx 20 '\377'; run 1 show chain.onnx; silent

# Weights next to the model: the files must exist, and a path must lead to one of them.
run 3 info external.onnx; err 'external.onnx@0x23: /graph/initializer/0/external_data: '; err '"weights.bin": No such file'
run 0 info --no-params external.onnx
printf 12345678 >weights.bin
run 0 info external.onnx; out "params      1, 36 bytes"
run 0 check external.onnx --lazy; quiet
run 0 convert external.onnx inside.fb; run 0 diff external.onnx inside.fb --params; quiet; silent
printf 1234567 >weights.bin; run 1 info external.onnx; err "the file ends at 7"
mv weights.bin elsewhere; ln -s elsewhere weights.bin; run 1 info external.onnx; err "symbolic link"
rm weights.bin; ln elsewhere weights.bin; run 1 info external.onnx; err "hard links"
run 1 info - <external.onnx; err "did not come from a file"
finish
