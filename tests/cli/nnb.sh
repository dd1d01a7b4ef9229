# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# NNB: a file is shown, checked, converted and compared; it comes back byte for byte, through every format too; and it
# is written as the source of an array.
. "$SRC/tests/cli/lib.sh"

# LeakyReLU of two numbers.
{
    printf '\003\0\0\0\001\0\0\0\002\0\0\0\002\0\0\0\002\0\0\0\007\0\0\0\001\0\0\0'
    printf '\013\0\0\0\001\0\0\0\0\0\0\0\001\0\0\0\001\0\0\0\014\0\0\0\154\0\0\0'
    printf '\0\0\0\0\004\0\0\0\010\0\0\0\020\0\0\0\024\0\0\0\050\0\0\0\054\0\0\0'
    printf '\100\0\0\0\110\0\0\0\114\0\0\0\120\0\0\0\150\0\0\0\0\0\0\0\001\0\0\0'
    printf '\010\0\0\0\010\0\0\0\002\0\0\0\0\0\0\0\001\0\0\0\003\0\0\0\0\0\0\0'
    printf '\377\377\377\377\002\0\0\0\001\0\0\0\001\0\0\0\005\0\0\0\0\0\0\0\376\377\377\377'
    printf '\004\0\0\0\006\0\0\0\0\0\0\0\001\0\0\0\017\0\0\0\001\0\0\0\010\0\0\0'
    printf '\001\0\0\0\011\0\0\0\0\0\0\077\012\0\0\0'
} >net.nnb

run 0 info net.nnb; quiet; out "format      nnb"; out "framework   NNABLA"; out "nnb::LeakyReLU"
run 0 show net.nnb --op LeakyReLU_0; quiet; out '"alpha": 0.5'; out '"name": "v1"'
run 0 check net.nnb; out "no fault found"

comes_back net.nnb
run 0 opt net.nnb converted.fb; quiet; run 0 check converted.fb; out "no fault found"    # functions no longer
cp net.nnb net; run 0 info net; out "format      nnb"   # by its content

# Parameters: without their bytes a network is shown and kept, but no NNB. PReLU with two slopes.
{
    printf '\003\0\0\0\001\0\0\0\002\0\0\0\002\0\0\0\003\0\0\0\012\0\0\0\001\0\0\0\016\0\0\0\001\0\0\0\0\0\0'
    printf '\0\001\0\0\0\001\0\0\0\017\0\0\0\234\0\0\0\0\0\0\0\004\0\0\0\010\0\0\0\020\0\0\0\030\0\0\0\054\0'
    printf '\0\0\060\0\0\0\070\0\0\0\114\0\0\0\124\0\0\0\150\0\0\0\164\0\0\0\174\0\0\0\200\0\0\0\230\0\0\0\0'
    printf '\0\0\0\002\0\0\0\010\0\0\0\010\0\0\0\001\0\0\0\002\0\0\0\0\0\0\0\002\0\0\0\003\0\0\0\0\0\0\0\377'
    printf '\377\377\377\002\0\0\0\0\0\0\077\0\0\200\076\001\0\0\0\001\0\0\0\005\0\0\0\0\0\0\0\006\0\0\0\001'
    printf '\0\0\0\002\0\0\0\002\0\0\0\002\0\0\0\010\0\0\0\0\0\0\0\376\377\377\377\004\0\0\0\007\0\0\0\011\0'
    printf '\0\0\0\0\0\0\001\0\0\0\002\0\0\0\025\0\0\0\002\0\0\0\013\0\0\0\001\0\0\0\014\0\0\0\001\0\0\0\015'
    printf '\0\0\0'
} >slopes.nnb
for lazy in "" --lazy; do
    run 0 convert $lazy slopes.nnb copy.nnb; quiet; same slopes.nnb copy.nnb
    run 0 convert $lazy slopes.nnb between.json; run 0 convert $lazy between.json back.nnb; same slopes.nnb back.nnb
    run 0 diff --params $lazy slopes.nnb between.json
done
run 0 info slopes.nnb --no-params; quiet; out "nnb::PReLU"
run 0 convert --no-params slopes.nnb bare.json; quiet
run 3 convert --no-params bare.json bare.nnb; err "'v1' has no bytes"; gone bare.nnb

# A network of XIR's own operations is not one of NNabla's.
run 3 convert "$SRC/tests/cli/data/small.json" no.nnb; err "convert the network to them first"; gone no.nnb
run 3 convert "$SRC/tests/cli/data/small.json" no.c; err "convert the network to them first"; gone no.c

# An argument that NNB has no room for, of a valid network.
sed -e 's/"shape":\[3,3,3,4\]/"shape":[1,1,3,4]/; s/"pad_top":1/"pad_top":0/; s/"pad_bottom":1/"pad_bottom":0/' \
    -e 's/"pad_left":1/"pad_left":0/; s/"pad_right":1/"pad_right":0/' \
    -e 's/"dilation_height":1,"dilation_width":1/"dilation_height":4294967297,"dilation_width":4294967297/' \
    "$SRC/tests/cli/data/small.json" >wide.json
run 3 opt --no-params wide.json wide.nnb; err "Conv2d 'conv1' (op 1): not converted: dilation_height does not fit into 32 bits"
gone wide.nnb

# Refused, with the byte.
printf '\004' | dd of=net conv=notrunc 2>/dev/null; run 1 show net --from nnb
err "net@0x0: expected version 2 or 3, found 4"
head -c 100 net.nnb >cut.nnb; run 1 info cut.nnb
err "cut.nnb@0x30: 12 entries and 108 bytes of data make a file of 212 bytes"

# A fault that the runtime would run into: the buffers are too small for the variables.
cp net.nnb small.nnb; printf '\004' | dd of=small.nnb bs=1 seek=112 conv=notrunc 2>/dev/null
run 1 check small.nnb; err "/variables/0: buffer 0 is too small: expected 8 bytes, found 4"
run 0 convert small.nnb kept.nnb; same small.nnb kept.nnb

# An array in C compiles, and has the bytes of the file.
run 0 convert net.nnb net.c; quiet
grep -q '^ \*   input 0: float \[2\], 8 bytes$' net.c || bad "no comment about the input"
{
    cat net.c
    echo '#include <stdio.h>'
    echo 'int main(void) { return fwrite(nnb_net, 1, nnb_net_size, stdout) != nnb_net_size; }'
} >whole.c
if cc -std=c11 -Wall -Wextra -Werror -pedantic whole.c -o whole 2>cc.txt; then
    ./whole >from_c.nnb; same net.nnb from_c.nnb
else
    cat cc.txt; bad "the source does not compile"
fi
run 2 info net.c; err "cannot read c"

# Its functions become XIR's operations, and it is run. A shape that the function does not give is a fault.
run 0 opt net.nnb net.json --passes nnb-to-xir --strict; quiet; grep -q '"icraft::xir::ReLU"' net.json || bad "no ReLU"
run 0 run net.nnb; out "v1  @fp(32)"
cp net.nnb wrong.nnb; printf '\001' | dd of=wrong.nnb bs=1 seek=144 conv=notrunc 2>/dev/null
run 1 check wrong.nnb; err "output 0 'v1' has a wrong declared type: expected @fp(32) [2], found @fp(32) [1]"

# Files of the corpus. The shapes of zoo_all_v2.nnb are all the same, so that they are wrong.
if [ -n "${XIR_CORPUS-}" ]; then
    for f in "$XIR_CORPUS"/nnb/*.nnb; do
        run 0 convert "$f" real.nnb; same "$f" real.nnb
        case "$f" in
            */zoo_all_v2.nnb) run 1 check "$f"; err "wrong declared type" ;;
            *) run 0 check "$f"; run 0 opt "$f" real.fb --passes to-xir --strict; quiet
               run 0 opt "$f" again.nnb --prove; out "networks compute the same"; run 0 check again.nnb ;;
        esac
    done
fi

# The way back: opt knows the format of its output. The network is the same on the way through PNNX and FlatBuffers.
models="$SRC/examples/models"
run 0 opt "$models/digits.onnx" d.nnb --prove; out "networks compute the same"
run 0 check d.nnb; quiet; out "no fault found"
mkdir -p expected; cp "$models/digits_logits.npy" expected/v26.npy
run 0 run d.nnb --input "$models/digits_inputs.npy" --each --compare expected --tolerance 1e-4
run 0 opt d.nnb d.c; quiet; grep -q 'unsigned char nnb_d\[' d.c || bad "no array"
run 0 opt d.nnb d.pnnx.param; run 0 opt d.pnnx.param d.fb
run 0 run d.fb --input "$models/digits_inputs.npy" --each --compare expected --tolerance 1e-4
run 0 convert d.nnb d.c; quiet; cc -std=c11 -Wall -Wextra -Werror -pedantic -c d.c || bad "d.c does not compile"

# Floats and 16 bits get all of 64 digits right, 8 bits at least 62. Convolutions use their weights as floats.
lost="note: xir-to-nnb: not in the file: 23 of 23 names of values, 12 of 12 names of ops (--set xir-to-nnb.names=FILE keeps them)"
for weights in FLOAT32 FIXED16 FIXED8; do
    run 0 opt "$models/digits.onnx" "$weights.nnb" --set "xir-to-nnb.weights=$weights"; lines err 1; err "$lost"
    run 0 check "$weights.nnb"; out "no fault found"
    run 0 info "$weights.nnb"
    if [ $weights != FLOAT32 ]; then out "nnb::Identity"; fi
    rm -rf answers; run 0 run "$weights.nnb" --input "$models/digits_inputs.npy" --each --output answers
    [ -x "$BUILD/examples/score" ] || { without examples/score; continue; }
    "$BUILD/examples/score" answers/v*.npy "$models/digits_labels.npy" >score || bad "$weights: no score"
    case "$weights $(cat score)" in
        FLOAT32\ 64\ of\ 64* | FIXED16\ 64\ of\ 64* | FIXED8\ 6[234]\ of\ 64*) ;;
        *) bad "$weights: $(cat score)" ;;
    esac
done
[ "$(wc -c <FIXED8.nnb)" -lt 12000 ] || bad "weights of 8 bits take more than 12000 bytes"

# An array in C has the functions of NNabla, too: the default passes end with them.
run 0 opt "$models/digits.onnx" source.c; lines err 1; err "$lost"
run 0 opt "$models/digits.onnx" same.nnb; run 0 convert same.nnb same.c
sed 's/nnb_source/nnb_same/g' source.c >renamed.c; same renamed.c same.c

# Versions, levels and names.
run 0 opt "$models/digits.onnx" old.nnb --set xir-to-nnb.version=2 --set xir-to-nnb.api=1 \
    --set xir-to-nnb.names=names.tsv
quiet   # nothing is lost
run 0 check old.nnb; quiet
run 0 run old.nnb --input "$models/digits_inputs.npy" --each --compare expected --tolerance 1e-4
grep -q "^variable	0	image$" names.tsv || bad "names.tsv does not have the input"
grep -q "^Convolution	0	/c1/Conv$" names.tsv || bad "names.tsv does not have the first convolution"
for wrong in weights=INT8 version=4 api=46; do
    run 1 opt "$models/digits.onnx" no.nnb --set "xir-to-nnb.$wrong"; err "xir-to-nnb: ${wrong%=*}: expected"; gone no.nnb
done
run 3 opt "$models/digits.onnx" no.nnb --set xir-to-nnb.names=no/such/folder; err "no/such/folder: cannot make a temporary file"
gone no.nnb
finish
