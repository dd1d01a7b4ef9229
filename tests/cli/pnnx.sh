# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# PNNX: a text and its archive are shown, checked, converted and compared; they come back byte for byte, through every
# format too.
. "$SRC/tests/cli/lib.sh"

f="#0=(1,2)f32"
{
    echo 7767517
    echo 4 3
    echo "pnnx.Input               pnnx_input_0             0 1 0 $f"
    printf %s "nn.Linear                fc                       1 1 0 1 bias=True in_features=2 out_features=1 "
    echo "@bias=(1)f32 @weight=(1,2)f32 $f #1=(1,1)f32"
    printf %s "torch.eq                 torch.eq_0               2 1 1 1 2 "
    echo "\$input=1 \$other=1 #1=(1,1)f32 #1=(1,1)f32 #2=(1,1)bool"
    echo "pnnx.Output              pnnx_output_0            1 0 2 #2=(1,1)bool"
} >net.pnnx.param

# The structure alone, with a warning.
run 0 convert net.pnnx.param alone.param; err "there is no parameter file next to it"; same alone.param net.pnnx.param
gone alone.bin
run 3 info net.pnnx.param --params missing.bin

# Without weights there is an archive nevertheless, which PNNX itself needs: an empty one. Reading does not need it, and
# does not look at another one of that name.
printf '7767517\n2 1\npnnx.Input a 0 1 x #x=(1)f32\npnnx.Output b 1 0 x #x=(1)f32\n' >bare.param
run 0 info bare.param; quiet; run 0 convert bare.param empty.param; quiet; there empty.bin
[ "$(wc -c <empty.bin)" -eq 98 ] || bad "an empty archive of $(wc -c <empty.bin) bytes"
run 0 info empty.param --params empty.bin; quiet
run 0 convert bare.param named.param --out-params named.zip; quiet; same named.zip empty.bin; gone named.bin
run 0 convert bare.param alone.param --no-params; quiet; gone alone.bin
run 0 convert bare.param - --to pnnx; quiet
run 0 convert bare.param bare.json; quiet; gone bare.raw; run 0 convert bare.json back.param; same back.bin empty.bin
rm -f alone.param back.param back.bin; echo something >bare.bin
run 0 info bare.param; quiet; run 0 check bare.param; out "no fault found"
run 1 info bare.param --params bare.bin; err "bare.bin"

# The members of an archive without its directory: fc.bias is 4 bytes, fc.weight 8.
header() { printf 'PK\003\004\0\0\0\0\0\0\0\0\0\0'; }
{
    header; printf '\0331\337\337\4\0\0\0\4\0\0\0\7\0\0\0fc.bias\0\0\200?'
    header; printf '\0\0\0\0\10\0\0\0\10\0\0\0\11\0\0\0fc.weight\0\0\0@\0\0\100@'
} >walked.bin
run 1 convert net.pnnx.param x.fb --params walked.bin; err "walked.bin@0x0: the checksum of 'fc.bias'"; gone x.fb
run 0 info net.pnnx.param --params walked.bin; err "the archive has no directory"
poke walked.bin 14 '\152\152\241\254'; poke walked.bin 55 '\265\211\164\273'
run 0 convert net.pnnx.param net.pnnx.param --params walked.bin --lazy; there net.pnnx.bin
run 0 info net.pnnx.param; quiet; out "format      pnnx"; out "params      2, "; out "in net.pnnx.bin"
run 0 check net.pnnx.param; out "no fault found"

for lazy in "" --lazy; do
    run 0 convert $lazy net.pnnx.param copy.param; quiet; same net.pnnx.param copy.param; same net.pnnx.bin copy.bin
    run 0 diff $lazy net.pnnx.param copy.param
    for other in json imodel fb; do
        run 0 convert $lazy net.pnnx.param "between.$other"
        run 0 convert $lazy "between.$other" back.param --out-params back.zip
        same net.pnnx.param back.param; same net.pnnx.bin back.zip; gone back.bin
    done
done

# A check reads the archive once, so that it may come from a pipe.
cat net.pnnx.bin | { run 0 check net.pnnx.param --params /dev/stdin; out "no fault found"; exit "$failed"; } || failed=1

# A member that says that it inflates to 20000 bytes, in an archive of 57.
{
    printf 'PK\003\004\0\0\0\0\10\0\0\0\0\0\0\0\0\0\24\0\0\0\40\116\0\0\7\0\0\0fc.bias'
    printf '%s' 01234567890123456789
} >bomb.bin
run 1 info net.pnnx.param --params bomb.bin --max-unpacked 19087; err "bomb.bin@0x0: the members up to 'fc.bias' have"
err "more than 19999 bytes when they are inflated, which is the limit"
run 1 info net.pnnx.param --params bomb.bin --max-unpacked 19088; err "'fc.bias' has 20000 bytes, but its type takes 4"
run 2 info net.pnnx.param --max-unpacked 0; err "--max-unpacked takes a number from 1 on, not '0'"

# Networks that do not fit are refused, and leave no file.
sed 's/@bias=(1)/@bias=(3)/' net.pnnx.param >wrong.pnnx.param; cp net.pnnx.bin wrong.pnnx.bin
run 1 convert wrong.pnnx.param x.fb; err "wrong.pnnx.bin@0x0: the member 'fc.bias' has 4 bytes, but its type takes 12"
gone x.fb
sed 's/(1,2)f32/(1,x)f32/' net.pnnx.param >bad.param
run 1 show bad.param; err "bad.param:3:"
printf '7767517\n2 2\nInput data 0 1 data\nReLU r 1 1 data out 0=1\n' >ncnn.param
run 1 show ncnn.param; err "ncnn.param:4:21: this is a network of ncnn, not of PNNX: '0=1'"

# The way back: opt knows the format of its output. What PNNX has no operator for stays, so there is no file.
models="$SRC/examples/models"
run 0 opt "$models/digits.onnx" d.pnnx.param --prove; out "networks compute the same"; there d.pnnx.bin
run 0 check d.pnnx.param; out "no fault found"
mkdir -p expected; cp "$models/digits_logits.npy" expected/logits.npy
run 0 run d.pnnx.param --input "$models/digits_inputs.npy" --each --compare expected --tolerance 1e-4
run 0 opt d.pnnx.param d.fb; run 0 opt d.fb again.pnnx.param; run 0 convert again.pnnx.param again.json
run 0 run again.pnnx.param --input "$models/digits_inputs.npy" --each --compare expected --tolerance 1e-4

# PNNX writes no shape for a scalar, and has it as an expression; an operator that is not converted keeps it.
{
    printf '7767517\n6 5\npnnx.Input a 0 1 x #x=(2,3)f32\npnnx.Expression e 0 1 n expr=2\n'
    printf 'Odd o 2 1 x n y dim=0 #x=(2,3)f32 #y=(2,3)f32\ntorch.sum s 1 1 y z keepdim=False #y=(2,3)f32\n'
    printf 'pnnx.Output b 1 0 z\n'
} >scalar.param
run 0 opt scalar.param scalar_out.param; err "Odd 'o' (operator 2): not converted"
cp scalar_out.param out; out "expr=2"; out "Odd                      o"; out "torch.sum"

# A broken graph is read, and its faults have lines.
sed '5s/2 1 1 1/2 1 1 7/' net.pnnx.param >broken.param; cp net.pnnx.bin broken.bin
run 1 check broken.param; err "broken.param:5:1: /ops/2/input/1: torch.eq 'torch.eq_0' (operator 2): input 1 '7' is undefined"

# A pass makes constants, which have bytes, next to the weights of a structure, which have none. No file holds some
# parameters only, so the structure is written. A format that always has parameters inside refuses.
{
    printf '7767517\n3 2\npnnx.Input in 0 1 0 #0=(1,2,3,3)f32\nnn.BatchNorm2d bn 1 1 0 1 affine=True eps=0.001 '
    printf 'num_features=2 @bias=(2)f32 @running_mean=(2)f32 @running_var=(2)f32 @weight=(2)f32 #0=(1,2,3,3)f32 '
    printf '#1=(1,2,3,3)f32\npnnx.Output out 1 0 1\n'
} >norm.param
for kind in fb imodel json xir; do
    run 0 opt norm.param norm.$kind --no-params; quiet; there norm.$kind; gone norm.raw
    run 0 show --text norm.$kind --no-params; out "Sqrt("; rm norm.$kind
    run 0 opt norm.param norm.$kind; err "norm.$kind: warning: the structure alone is written"; gone norm.raw
done
run 0 opt norm.param norm.json --out-params norm.raw; err "norm.json: warning: the structure alone"; gone norm.raw
for kind in onnx nnb tsm; do
    run 3 opt norm.param norm.$kind --no-params; err "has no bytes, and"; err "inside"; gone norm.$kind
done
finish
