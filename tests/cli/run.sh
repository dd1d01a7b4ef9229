# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir run: what a network computes, for files or random numbers, and how far that is from the expected results.
. "$SRC/tests/cli/lib.sh"
cp "$data/small.json" "$data/small.raw" .

# npy NAME DESCR SHAPE BYTES: makes a .npy file; bytes in the spelling of printf.
npy() {
    { printf '\223NUMPY\001\000\166\000'; printf '%-117s\n' "{'descr': '$2', 'fortran_order': False, 'shape': $3, }"; printf "$4"; } >"$1"
}
# floats N: N zeros of four bytes.
floats() { head -c $(($1 * 4)) /dev/zero; }

# Random inputs: the same every time, others with another seed. One file for each output, and nothing else.
run 0 run small.json; quiet; out "output_0  @fp(32) NHWC [1,4,4,4]"; lines out 1
run 0 run small.json --output a; quiet; there a/output_0.npy
[ "$(ls a)" = output_0.npy ] || bad "more than the output is in a"
run 0 run small.json --output b/c/d; quiet; same a/output_0.npy b/c/d/output_0.npy
run 0 run small.json --output b --seed 1; ! cmp -s a/output_0.npy b/output_0.npy || bad "another seed gives the same"
run 0 run --lazy small.json --compare a --tolerance 0; quiet; out "largest difference 0"

# The same bits on any number of threads.
for n in 1 2 7 1000; do
    run 0 run small.json --threads $n --output t$n; quiet; same a/output_0.npy t$n/output_0.npy
done
for word in 0 -1 two 2x ""; do
    run 2 run small.json --threads "$word"; err "--threads takes a number from 1 on, not '$word'"; silent
done

# The memory of values: 1*8*8*3, 1*8*8*4 and so on in fp32; Params do not count.
run 0 run small.json --memory; quiet; out "memory: at most "; out " bytes of values, at icraft::xir::"; lines out 2
run 0 run small.json --memory --json; quiet; out '"memory":{"bytes":'; out '"held":'
run 1 run small.json --memory --max-work 1000; silent
run 0 run small.json --json; ! grep -q '"memory"' out || bad "memory without --memory"

# Comparing: the differing output is named, and the exit code is 1.
run 1 run small.json --compare b; out "largest difference"; err "b/output_0.npy: 'output_0' differs at [0,0,0,"
err "]: expected "; err ", found "; err "of 64 elements differ"
run 0 run small.json --compare b --tolerance 1000; quiet
npy b/output_0.npy '<f4' '(1,)' '\000\000\200\077'
run 1 run small.json --compare b; out "another shape"; err "@fp(32) * [1]"
echo "no array" >b/output_0.npy; run 1 run small.json --compare b; err "b/output_0.npy@0x0: this is not an .npy file"
run 3 run small.json --compare nowhere; err "nowhere/output_0.npy"

# Inputs from files: by name, or the only one.
{ printf '\223NUMPY\001\000\166\000'; printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 8, 8, 3), }"; floats 192; } >zeros.npy
run 0 run small.json --input zeros.npy --output z; quiet
run 2 run small.json --input nobody=zeros.npy; err "--input nobody=zeros.npy: the network has no input 'nobody'"
run 0 run small.json --input 0=zeros.npy; quiet
for option in output compare; do
    run 2 run small.json --$option -; silent; err "--$option takes a folder, which - is not: ./- is the folder of that name"
done
gone -
run 2 run small.json --input 1=zeros.npy; err "the network has no input '1'"
run 2 run small.json --input =zeros.npy; err "--input takes NAME=FILE.npy, not '=zeros.npy'"
cp zeros.npy odd=zeros.npy; run 0 run small.json --input odd=zeros.npy; quiet
run 2 run small.json --input zeros.npy --input zeros.npy; err "twice"
npy short.npy '<f4' '(1,)' '\000\000\000\000'
run 1 run small.json --input short.npy --output w; err "input 0 '' of the network: expected @fp(32) [1,8,8,3], found an array of @fp(32) [1]"; silent; gone w
npy double.npy '<f8' '(1,)' '\000\000\000\000\000\000\000\000'
run 1 run small.json --input double.npy; err "@fp(64)"
run 3 run small.json --input missing.npy; err "missing.npy"
: >empty.npy; run 1 run small.json --input empty.npy; err "empty.npy"

# Two inputs and two outputs: one has a path as its name, and one the name of another's file.
# value NAME ELEMENT DIM ID, op KEY NAME ID INPUTS OUTPUTS
value() {
    printf '{"_type_key":"icraft::xir::Value","dtype":{"_type_key":"icraft::xir::TensorType","element_dtype":"%s","layout":"@layout(*)",' "$2"
    printf '"merged_distrs":[],"shape":[%s]},"mtype":"@hostm","name":"%s","tags":{},"v_id":%s}' "$3" "$1" "$4"
}
op() { printf '{"_type_key":"icraft::xir::%s","compile_target":"@hostt","inputs":[%s],"name":"%s","op_id":%s,"outputs":[%s],"tags":{}}' "$1" "$4" "$2" "$3" "$5"; }
x=$(value x '@fp(32)' -1 0) y=$(value x=y '@bf(16)' 2 1) a=$(value a/b '@fp(32)' -1 2) b=$(value a_b '@bf(16)' 2 3)
{
    printf '{"_type_key":"icraft::xir::Network","ai_target":"@buyit","framework_kind":"ONNX","framework_version":"","icraft_version":"v3.33.1",'
    printf '"icraft_xir_version":"3.33.1.0","name":"two","ops":[%s,%s,%s,%s],"params_bytes":0,"params_md5":"","tags":{}}' \
        "$(op Input in 0 '' "$x,$y")" "$(op Abs r 1 "$x" "$a")" "$(op Neg n 2 "$y" "$b")" "$(op Output out 3 "$a,$b,$a" '')"
} >two.json
npy x.npy '<f4' '(3,)' '\000\000\200\277\000\000\000\100\000\000\000\000'
npy y.npy '<f4' '(2,)' '\000\000\200\077\000\000\000\300'
run 0 run two.json --input x=x.npy --input x=y=y.npy --output two; quiet; lines out 3
out "a/b  @fp(32) * [3]"; out "a_b  @bf(16) * [2]"
[ "$(ls two | tr '\n' ' ')" = "a_b.npy a_b_1.npy " ] || bad "other files: $(ls two)"
npy expected.npy '<f4' '(3,)' '\000\000\200\077\000\000\000\100\000\000\000\000'; same two/a_b.npy expected.npy
npy expected.npy '<f4' '(2,)' '\000\000\200\277\000\000\000\100'; same two/a_b_1.npy expected.npy
run 0 run two.json --input 0=x.npy --input 1=y.npy --output by_position; quiet; same by_position/a_b.npy two/a_b.npy
run 2 run two.json --input x=x.npy --input 0=x.npy; err "--input gives 'x' twice"
run 2 run two.json --input x=x.npy; err "there is no --input for 'x=y'"
run 2 run two.json --input z=x.npy; err "the network has no input 'z'; the network's inputs are: x, x=y"
run 2 run two.json --input x.npy; err "--input takes NAME=FILE, not 'x.npy'; the network's inputs are: x, x=y"
run 0 run two.json; quiet; out "a/b  @fp(32) * [1]"

# An op that cannot be run is named.
edit small.json h.json 's/"_type_key":"icraft::xir::ReLU"/"_type_key":"customop::DetPostZG"/'; cp small.raw h.raw
run 1 run h.json --output h; err "customop::DetPostZG"; err "no kernel"; silent; gone h
cp small.json alone.json; run 1 run alone.json; err "has no bytes"

# As JSON: an object an output, and the findings.
rm -rf a && run 0 run small.json --output a --json; quiet
json 'd["file"] == "small.json" and d["exit_code"] == 0 and d["findings"] == [] and len(d["outputs"]) == 1'
json 'd["outputs"][0] == {"name": "output_0", "dtype": "@fp(32)", "shape": [1, 4, 4, 4], "layout": "@layout(NHWC)", "file": "a/output_0.npy", "compared": None}'
run 0 run small.json --compare a --json; json 'd["outputs"][0]["compared"] == {"file": "a/output_0.npy", "same_shape": True, "differ": 0, "of": 64, "largest": 0.0}'
run 1 run small.json --compare a --seed 1 --json; json 'd["exit_code"] == 1 and d["outputs"][0]["compared"]["at"] == [0, 0, 0, 0]'
json 'd["outputs"][0]["compared"]["found"] != d["outputs"][0]["compared"]["expected"] and len(d["findings"]) == 1'
run 1 run h.json --json; json 'd["outputs"] == [] and "DetPostZG" in d["findings"][0]["message"]'
run 3 run small.json --compare nowhere --json; json 'd["outputs"][0]["compared"] == {"file": "nowhere/output_0.npy"} and d["exit_code"] == 3'
run 2 run small.json --seed x --json; json 'd["exit_code"] == 2'

# A plug-in brings the kernel of its operation.
snake=$BUILD/plugins/customkernel.so
if [ -e "$snake" ]; then
    sed -e 's/icraft::xir::Abs","compile_target"/customkernel::Snake","compile_target"/' two.json >snake.json
    run 1 run snake.json --input x=x.npy --input x=y=y.npy; err "customkernel::Snake 'r': the executor has no kernel for this class"
    run 0 run --plugin "$snake" snake.json --input x=x.npy --input x=y=y.npy --output snake; quiet
    npy expected.npy '<f4' '(3,)' '\147\167\225\276\246\352\064\100\000\000\000\000'
    same snake/a_b.npy expected.npy   # -0.2919..., 2.8268...
fi

# Quantised inputs and outputs: a file has the real numbers, or the integers that are stored. The real numbers are
# rounded to float32 in a file, and so they are compared.
cat >stored.xir <<'END'
xir 1
!q = QuantizedType{scale=@scales([axis=-1]0.1), zero_points=[1], storage_dtype=int8, expressed_dtype=fp32} * [3]
%x = Input() : !q
%y = Copy(%x) : !q
Output(%y)
END
mkdir ints; npy ints/y.npy '|i1' '(3,)' '\001\376\144'   # 1, -2, 100
run 0 run stored.xir --input ints/y.npy --compare ints --tolerance 0 --output reals; quiet; out "largest difference 0"
npy expected.npy '<f4' '(3,)' '\000\000\000\000\232\231\231\276\147\146\036\101'   # 0, -0.3, 9.9
same reals/y.npy expected.npy
run 0 run stored.xir --input ints/y.npy --compare reals --tolerance 0; quiet
run 0 run stored.xir --input reals/y.npy --compare ints --tolerance 0; quiet
npy ints/y.npy '|i1' '(3,)' '\001\377\144'
run 1 run stored.xir --input reals/y.npy --compare ints --tolerance 0
err "'y' differs at [1]: expected -0.200000003, found -0.300000004; 1 of 3 elements differ"

# Invalid command lines.
run 2 run; err "usage"
run 2 run small.json --tolerance -1; err "--tolerance"
run 2 run small.json --seed 1.5; err "--seed"
: >file; run 3 run small.json --output file; err "file: cannot be made"

# A trained network: the ONNX file gives PyTorch's answer.
digits=$SRC/examples/models
{ printf '\223NUMPY\001\000\166\000'; printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 8, 8), }"; tail -c $((64 * 256)) "$digits/digits_inputs.npy" | head -c 256; } >image.npy
mkdir torch; { printf '\223NUMPY\001\000\166\000'; printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 10), }"; tail -c $((64 * 40)) "$digits/digits_logits.npy" | head -c 40; } >torch/logits.npy
run 0 run "$digits/digits.onnx" --input image=image.npy --compare torch --tolerance 1e-4
out "logits  @fp(32) ** [1,10]  largest difference"
# All of them, one after the other.
mkdir all; cp "$digits/digits_logits.npy" all/logits.npy
run 0 run "$digits/digits.onnx" --each --input "$digits/digits_inputs.npy" --compare all; quiet; out "logits  @fp(32) ** [64,10]  largest difference"
run 1 run "$digits/digits.onnx" --input "$digits/digits_inputs.npy"; err "input 0 'image' of the network: expected @fp(32) [1,1,8,8]"
run 1 run "$digits/digits.onnx" --compare torch; err "'logits' differs"

# An ONNX file whose input x has no type: it gets that of the array, or what --input-shape says
printf '\010\010\102\002\020\021\072\030\012\014\012\001x\022\001y\042\004Relu\132\003\012\001x\142\003\012\001y' >untyped.onnx
npy x.npy '<f4' '(2,)' '\000\000\300\277\000\000\040\100'   # -1.5, 2.5
npy y.npy '<f4' '(2,)' '\000\000\000\000\000\000\040\100'
run 0 run untyped.onnx --input x=x.npy --output untyped; quiet; tail -c 8 untyped/y.npy >found
tail -c 8 y.npy >expected; same found expected
run 1 run untyped.onnx; err "is not a tensor"
run 0 opt --strict --input-shape x=2:fp32 untyped.onnx typed.json; quiet; run 0 run typed.json --input x.npy; quiet
run 0 opt --set onnx-to-xir.strict=true --set onnx-to-xir.input-shape=x=2:i8 untyped.onnx typed.json; quiet
run 1 opt --input-shape x=2 untyped.onnx typed.json; err "the input 'x' has no type: expected its elements, too, as in x=2:fp32"
finish
