# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# TSM: a file is shown, checked, converted and compared; it comes back byte for byte, through every format too; faults
# are refused with their byte.
. "$SRC/tests/cli/lib.sh"

# scores LOGITS NET: these are the digits of all 64 images.
scores() {
    [ -x "$BUILD/examples/score" ] || { without examples/score; return; }
    "$BUILD/examples/score" "$1" "$digits/digits_labels.npy" >score || bad "$2: no score"
    case "$(cat score)" in 64\ of\ 64*) ;; *) bad "$2: $(cat score)" ;; esac
}

# The ReLU of docs/tsm.md, from the page itself.
{
    printf '\0\0\0\0\051\011\221\031'
    head -c 120 /dev/zero
    awk '/^```/ { open = !open; next } open && /^ *[0-9]+  [0-9a-f][0-9a-f]( |$)/ { print substr($0, 6, 47) }' \
        "$SRC/docs/tsm.md" | tr -s ' ' '\n' | while read -r byte; do
        [ -z "$byte" ] || printf "\\$(printf '%03o' "0x$byte")"
    done
} >net.tsm

run 0 info net.tsm; quiet; out "format      tsm"; out "framework   TENSORSTACK"; out "tsm::relu"
run 0 show net.tsm --op y; quiet; out '"_type_key": "tsm::relu"'
run 0 check net.tsm; out "no fault found"
cp net.tsm net; run 0 info net; out "format      tsm"   # by its content

comes_back net.tsm
run 0 info --no-params net.tsm; quiet

# It is converted, run, and written as other formats. A trained network of ONNX becomes TSM, and computes the same.
run 0 run net.tsm --seed 1; out "y  @fp(32) ** [1,4]"
run 0 opt net.tsm net.json; run 0 info net.json; out "icraft::xir::ReLU"
run 0 opt "$SRC/tests/cli/data/net.csta" csta.fb; run 0 info csta.fb; out "icraft::xir::ReLU"
digits=$SRC/examples/models
mkdir all; cp "$digits/digits_logits.npy" all/logits.npy
run 0 opt "$digits/digits.onnx" d.tsm; lines err 1
err "note: xir-to-tsm: not in the file: 12 of 12 names of ops (--set xir-to-tsm.names=FILE keeps them)"
run 0 opt "$digits/digits.onnx" d.tsm --set xir-to-tsm.names=names.tsv; quiet
grep -q '^add_bias	/dw/Conv_output_0	/dw/Conv$' names.tsv || bad "names.tsv does not have the op /dw/Conv"
run 0 check d.tsm; out "no fault found"
run 0 opt d.tsm d.pnnx.param; run 0 opt d.pnnx.param e.tsm
run 0 opt d.tsm d.nnb; run 0 opt d.nnb n.tsm
for net in d.tsm d.pnnx.param e.tsm d.nnb n.tsm; do
    run 0 run "$net" --each --input "$digits/digits_inputs.npy" --output got
    [ -f got/logits.npy ] || mv got/*.npy got/logits.npy
    run 0 run "$digits/digits.onnx" --each --input "$digits/digits_inputs.npy" --compare got --tolerance 1e-4
    scores got/logits.npy "$net"
    rm -r got
done
run 0 run d.tsm --each --input "$digits/digits_inputs.npy" --compare all
out "logits  @fp(32) ** [64,10]  largest difference"

# A network of XIR's own operations is not one of TensorStack's.
run 3 convert "$SRC/tests/cli/data/small.json" no.tsm; err "convert the network to them first"; gone no.tsm

# A container comes back as it is, scrambled, or plain; the module alone, and a new container, have the same module.
csta=$SRC/tests/cli/data/net.csta
run 0 info "$csta"; quiet; out "format      tsm"; out "tsm::relu"
run 0 check "$csta"; out "no fault found"
run 0 convert "$csta" copy.csta; quiet; same "$csta" copy.csta
run 0 convert "$csta" between.fb; run 0 convert between.fb copy.csta; same "$csta" copy.csta
run 0 convert --plain "$csta" plain.csta; ! cmp -s plain.csta "$csta" || bad "the container is still scrambled"
run 0 convert plain.csta copy.csta; same plain.csta copy.csta
run 0 convert "$csta" alone.tsm; same net.tsm alone.tsm
run 0 convert alone.tsm new.csta; run 0 convert new.csta again.tsm; same net.tsm again.tsm
run 2 convert --plain "$csta" no.json; err "nothing is scrambled in json: --plain is for tsm"; gone no.json
cat net.tsm >part.tsm; printf '\051\011\221\031\006\001\0\0\0\010\0\0\0backbone\006\001\0\0\0\003\0\0\0tsm\003' >named.csta
printf '\016\0\0\0@file@part.tsm' >>named.csta
run 0 convert named.csta copy.csta; same named.csta copy.csta
ln -s part.tsm link.tsm; sed 's/part/link/' named.csta >link.csta; run 1 info link.csta; err "link.tsm"

# Refused, with the byte.
size=$(wc -c <net.tsm)
head -c $((size - 1)) net.tsm >cut.tsm; run 1 check cut.tsm; err "the number of inputs of a node is 1, but the 3 bytes"
{ cat net.tsm; printf x; } >more.tsm; run 1 check more.tsm; err "1 bytes follow the last node: expected the end"
cp net.tsm cycle.tsm; printf '\001' | dd of=cycle.tsm bs=1 seek=$((size - 4)) conv=notrunc 2>/dev/null
run 1 check cycle.tsm; err "relu 'y' (node 1): input 0 is the node itself"
printf 'x' | dd of=net bs=1 seek=4 conv=notrunc 2>/dev/null; run 1 show net --from tsm
err "net@0x4: this is not a TensorStack file: expected the code 0x19910929"

# A tensor of TensorStack is the input of a run: 1 tensor, FLOAT32, 1x8x8x3.
cp "$SRC/tests/cli/data/small.json" "$SRC/tests/cli/data/small.raw" .
head='\012\004\0\0\0\001\0\0\0\010\0\0\0\010\0\0\0\003\0\0\0'
{ printf "\001\0\0\0$head"; head -c 768 /dev/zero; } >zeros.t
run 0 run small.json --input zeros.t; quiet; out "output_0  @fp(32) NHWC [1,4,4,4]"
head -c 100 zeros.t >cut.t; run 1 run small.json --input cut.t
err "cut.t@0x19: the file ends in the elements of a tensor: expected 192 of 4 bytes each, found 75 bytes"
{ printf "\002\0\0\0$head"; head -c 768 /dev/zero; printf "$head"; head -c 768 /dev/zero; } >two.t
run 1 run small.json --input two.t; err "two.t@0x0: the file has 2 tensors: expected one"
run 3 run small.json --input missing.t; err "missing.t"

# Files of the corpus: only dtypes.tsm has an operator that nobody knows. The network of a face computes the same
# after every pass, on its way back and after it. Its own order is channels first, which only its ends keep.
if [ -n "${XIR_CORPUS-}" ]; then
    for f in "$XIR_CORPUS"/tsm/*.tsm "$XIR_CORPUS"/tsm/onnxnode/*.tsm; do
        run 0 convert "$f" real.tsm; same "$f" real.tsm
        run 0 check "$f"; out "no fault found"
        case $f in
            */dtypes.tsm) run 1 opt "$f" --passes to-xir --strict; err "XIR has no known equivalent" ;;
            *) run 0 opt "$f" --passes to-xir --strict; quiet ;;
        esac
    done
    face=$XIR_CORPUS/tsm/face_landmarker_pts5_net1.tsm
    run 0 opt "$face" face.fb --prove; out "compute the same"
    run 0 opt "$face" face.tsm --prove; out "compute the same"
    run 0 check face.tsm; out "no fault found"
    run 0 opt face.tsm again.fb --prove; out "compute the same"
    run 0 run face.fb --seed 7 --output faces
    run 0 run again.fb --seed 7 --compare faces --tolerance 1e-5
    run 0 opt "$face" last.fb --set layout.io=nhwc; run 0 info last.fb; out "Conv2d"; not_out "Transpose"
fi
finish
