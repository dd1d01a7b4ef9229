# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# DeepX IR: a program is shown, checked, converted and compared, and comes back byte for byte through every format; what
# is malformed is refused with all its lines.
. "$SRC/tests/cli/lib.sh"

cat >net.ir <<'END'
# a linear layer
newtensor (vector<int32>:[2 3]) -> (tensor<float32>:w) //  created_at=1744724799.06
constant (var<float32>:0.5) -> (tensor<float32>:w) // author=miaobyte  created_at=1744724799.07
newtensor (vector<int32>:[1 3]) -> (tensor<float32>:y) //  created_at=1744724799.08
matmul (tensor<float32>:x, tensor<float32>:w) -> (tensor<float32>:y) // author=cblas  created_at=1744724799.09
print (tensor<float32>:y, var<string>:%.4f) -> () // author=miaobyte  created_at=1744724799.1
END
run 0 info net.ir; quiet; out "format      deepx"; out "framework   DEEPX"; out "deepx::matmul"; out "'x' no type"
run 0 show net.ir; quiet; out '"arg0": "[2 3]"'
run 0 check net.ir
for other in json imodel fb dxir; do
    run 0 convert net.ir "between.$other"; quiet
    run 0 convert "between.$other" back.ir; quiet; same net.ir back.ir
done
run 0 diff net.ir back.ir
cp net.ir program; run 0 info program; out "format      deepx"                  # by its content
run 0 convert --from deepx --to deepx net.ir copy.ir; same net.ir copy.ir

# All errors of a file in one run; nothing is written.
printf 'add(a,b)->(c)\nadd(a,,b)->(c)\nadd(a,b)\nadd(tensor<float31>:a)->(c)\nadd@float32 a b->c\n' >bad.ir
run 1 convert bad.ir x.fb; gone x.fb
err "bad.ir:2:7: a parameter is empty"; err "bad.ir:3:9: expected '->'"; err "bad.ir:4:12: 'float31' is not a precision"
err "bad.ir:5:4: 'add@' is the spelling of February 2025"

# Text that the executor takes for something else is a warning.
printf 'load(var<string>:/tmp//a.b)->()\n' >odd.ir
run 0 convert odd.ir odd2.ir; err "odd.ir:1:22: warning: the executor ends the line at this '//'"; same odd.ir odd2.ir

# An option that has been removed says what does now what it did.
run 2 show net.ir --as-upstream=head; err "--as-upstream has been removed: a DeepX text is read as it is written"
run 2 check net.ir --as-upstream head; err "'xir check' warns where the executor's parser reads it otherwise"
run 2 show net.ir --as-upstreams; err "show has no option '--as-upstreams'"

# A program is converted and run; what it prints is a result. Definitions alone, and a program that returns nothing, are
# valid.
cat >run.ir <<'END'
newtensor (vector<int32>:[2 2]) -> (tensor<float32>:a) //
arange (var<float32>:1, var<float32>:1) -> (tensor<float32>:a) //
print (tensor<float32>:a) -> () //
mulscalar (tensor<float32>:a, var<float32>:2) -> (tensor<float32>:a) //
END
run 0 run run.ir --output results; out "a  @fp(32) ** [2,2]"; out "a@1  @fp(32) ** [2,2]"
run 0 opt run.ir run.fb --prove
run 0 check run.ir
printf 'exp(tensor<any>:A)->(tensor<any>:C)\nadd(tensor<float32|float64>:a, tensor<any>:b)->(tensor<any>:c)\n' >defs.ir
run 0 check defs.ir
printf 'frob(tensor<any>:A)->(tensor<any>:C)\n' >frob.ir
printf 'newtensor(vector<int32>:[2])->(tensor<int32>:a)\nfrob(tensor<int32>:a)->(tensor<int32>:a)\n' >calls.ir
run 1 check calls.ir; err "calls.ir:2:1: /ops/2: no definition is called 'frob'"
run 1 check calls.ir --defs frob.ir; err "calls.ir:1:1: /ops/1: no definition is called 'newtensor'"
run 1 check calls.ir --defs calls.ir; err "the file has no definitions"
# A fault of a parameter is found at the parameter.
cat >columns.ir <<'END'
newtensor(vector<int32>:[2])->(tensor<float32>:a)
  rpowscalar(var<int32>:2, tensor<float32>:a)->(tensor<float32>:a)
uniform(var<float32>:0, var<float32>:1, var<int32>:4207496328)->(tensor<float32>:a)
add(tensor<float32>:a, tensor<float32>:z)->(tensor<float32>:b) // author=cblas
concat(listtensor<float32>:[a y], var<int32>:0)->(tensor<float32>:a)
lessscalar(tensor<float32>:a, var<int32>:2)->(tensor<float32>:a)
func f(x: tensor<?1x3xf32>, n: i32) -> (y: tensor) {
    exp(x)->(y)
}
f(a, [1])->(a)
f(a, 1)->(a)
END
run 1 check columns.ir
err "columns.ir:2:14: /ops/2/attribute/arg0: note: "; err "columns.ir:3:41: /ops/3/attribute/arg2: warning: 4"
err "columns.ir:4:24: /ops/4/input/1: note: no line makes 'z'"; err "columns.ir:4:45: /ops/4/input/2: note: no line makes"
err "columns.ir:5:8: /ops/5/input/1: note: no line makes 'y'"; err "columns.ir:6:47: /ops/6/attribute/ret0: note: "
err "columns.ir:10:3: /ops/7/attribute/arg0: 'x' of the block 'f': expected 2 dims, found 1"; err "columns.ir:11:3: /ops/8/"

# A program whose lines fit definitions: --as-calls says what they are, wherever a file is read.
printf 'exp(tensor<any>:x)->(tensor<any>:y)\nfrob(tensor<any>:y)->(tensor<any>:y)\n' >looks.ir
run 0 show looks.ir; out '"deepx.defs"'
run 0 show looks.ir --as-calls --op '#1'; out '"deepx::exp"'
run 0 check looks.ir; run 1 check looks.ir --as-calls; err "looks.ir:2:1: /ops/2: no definition is called 'frob'"
run 1 check looks.ir --as-calls --defs frob.ir; err "looks.ir:1:1: /ops/1: no definition is called 'exp'"
run 0 convert --as-calls looks.ir looks2.ir; same looks.ir looks2.ir
run 0 convert --as-calls looks.ir looks.fb; run 0 convert looks.fb looks2.ir; same looks.ir looks2.ir
run 0 info looks.ir --as-calls; out "deepx::exp"; run 0 diff looks.ir looks2.ir --as-calls

printf 'newtensor(vector<int32>:[2])->(tensor<int32>:a)\ndeltensor()->(tensor<int32>:a)\n' >none.ir
run 0 check none.ir; run 0 opt none.ir none.fb

# The tensors of a program are in the folder next to it, or in one that is named.
mkdir p.data other.data
printf 'load(var<string>:/elsewhere/w)->()\nnewtensor([2])->(tensor<float32>:y)\nadd(w, w)->(y)\n' >p.ir
run 0 opt p.ir p.fb --no-params --input-shape w=2:fp32   # what is loaded becomes an input
run 2 opt p.ir no.fb --no-params --input-shape ww=2:fp32; err "the network has no input 'ww'; did you mean 'w'?"
gone no.fb
printf 'dtype: float32\ndim: 1\nshape:\n  - 2\nstride:\n  - 1\nsize: 2\n' | tee p.data/w.shape >other.data/w.shape
printf '\0\0\200\077\0\0\0\100' >p.data/w.data
printf '\0\0\200\077' >other.data/w.data
run 0 info p.ir; quiet; out "params      1, "
run 0 run p.ir; out "y  @fp(32) * [2]"
run 0 check p.ir
run 0 opt p.ir p.fb --prove
run 0 convert p.ir q.fb; run 0 info q.fb; out "params      1, "
run 0 info p.ir --no-params; quiet; out "params      0, "
run 1 info p.ir --params other.data; err "other.data/w.data: expected 8 bytes, as its type takes, found 4"
run 1 check p.ir --params other.data; err "other.data/w.data: expected 8 bytes"
run 3 info p.ir --params none.data; err "none.data"
run 3 info p.ir --params - </dev/null; err "they cannot come from one file"
sed 's/^size: 2/size: 3/' p.data/w.shape >other.data/w.shape
run 1 run p.ir --params other.data; err "other.data/w.shape:7:7: size does not fit the shape: expected 2, found 3"

# A network becomes calls, its parameters the files of a folder; windows are picked by places. What it was computes the
# same, and so does what it is when it is read again.
digits=$SRC/examples/models/digits
run 0 opt "$digits.onnx" d.ir --set xir-to-deepx.delete=true
err "windows become constants of places, which take 7168 bytes in the file"
err "names of ops (--set xir-to-deepx.names=FILE keeps them); 1 input without a type, which --input-shape gives"
run 0 opt "$digits.onnx" d.ir --set xir-to-deepx.delete=true --set xir-to-deepx.names=names.tsv
not_err "not in the file"; grep -q "^tensor	_Relu_output_0	/Relu_output_0$" names.tsv || bad "names.tsv"
run 3 opt "$digits.onnx" no.ir --set xir-to-deepx.windows=false; err "Conv2d"
err "DeepX has no function for this class"; not_err "a tensor has no name"; gone no.ir
run 0 check d.ir
run 0 run d.ir --each --input image="${digits}_inputs.npy" --output answers
run 0 run "$digits.onnx" --each --input image="${digits}_inputs.npy" --compare answers
run 0 opt --input-shape image=1,8,8,1:fp32 d.ir d.fb --prove
# score NPY: whether all 64 digits are recognised.
score() {
    [ -x "$BUILD/examples/score" ] || { without examples/score; return 0; }
    "$BUILD/examples/score" "$1" "${digits}_labels.npy" >scored || bad "$1: no score"
    case $(cat scored) in "64 of 64 right"*) ;; *) bad "$1: $(cat scored)" ;; esac
}
score answers/logits.npy
run 0 opt "$digits.onnx" d.nnb
run 0 opt d.nnb n.ir --set xir-to-deepx.windows=true --set xir-to-deepx.delete=true --set xir-to-deepx.author=cublas
run 0 run n.ir --each --input v0="${digits}_inputs.npy" --output numbers
score numbers/v26.npy
# matmul has the author that is wanted, functions of one author have none, and all others have miaobyte.
grep '^matmul' n.ir | grep -v '// author=cublas$' && bad "a matmul of another author"
grep -E -v '^(matmul|newtensor|loadtensordata|copytensor|todtype|deltensor)\(' n.ir | grep -v '// author=miaobyte$' &&
    bad "a function of another author"
grep '^load(' n.ir && bad "load names a tensor by its file"
run 0 convert d.ir e.ir; quiet
sed 's/:d\.data/:e.data/' d.ir >want.ir; same want.ir e.ir
diff -r d.data e.data || fail "the folders differ"
# Files that others have put into the folder are kept, and so is the text.
: >e.data/notes.txt
run 3 convert d.ir e.ir; err "e.data: the folder has something else: 'notes.txt'. It is not replaced"
same want.ir e.ir
rm -r e.data; : >e.data
run 3 convert d.ir e.ir; err "e.data: it exists and is not a folder"
ls -A | grep tmp && fail "a temporary folder is left"
run 0 opt "$digits.onnx" c.ir --set xir-to-deepx.windows=true --set xir-to-deepx.delete=true \
    --set xir-to-deepx.author=cublas
grep -q '^matmul.*author=cublas' c.ir && ! grep -q author=cblas c.ir || fail "the author of matmul"
run 0 check c.ir
run 0 run c.ir --each --input image="${digits}_inputs.npy" --compare answers
run 1 opt "$digits.onnx" f.ir --set xir-to-deepx.author=nobody; err "author: expected cblas or cublas, found 'nobody'"

if [ -n "${XIR_CORPUS:-}" ]; then
    run 0 check "$XIR_CORPUS/deepx/funcdef_ompsimd.ir"
    for f in "$XIR_CORPUS"/deepx/trace_*.ir "$XIR_CORPUS"/deepx/values/*.ir "$XIR_CORPUS"/deepx/seed.ir; do
        run 0 check "$f"
    done
    for f in "$XIR_CORPUS"/deepx/trace_*.ir; do
        run 0 run "$f"
        run 0 opt "$f" trace.fb --prove; out "proven:"
    done
    # A network of linear layers goes to DeepX and back, on numbers that the executor draws.
    printf '%s\n' 'newtensor(vector<int32>:[1 784])->(tensor<float32>:v0)' \
        'uniform(var<float32>:0, var<float32>:1, var<int32>:7)->(tensor<float32>:v0)' >drawn.ir
    run 0 run drawn.ir --output drawn
    run 0 run "$XIR_CORPUS/nnb/gd_mnist.nnb" --input drawn/v0.npy --output recognised
    run 0 opt "$XIR_CORPUS/nnb/gd_mnist.nnb" gd.ir --prove --set xir-to-deepx.delete=true
    out "compute the same"
    run 0 check gd.ir
    run 0 run gd.ir --input v0=drawn/v0.npy --compare recognised
    run 0 opt --input-shape v0=1,784:fp32 gd.ir gd.fb --prove; out "proven:"
    run 0 run gd.fb --input v0=drawn/v0.npy --compare recognised
    for f in "$XIR_CORPUS"/deepx/trace_*.ir "$XIR_CORPUS"/deepx/seed.ir "$XIR_CORPUS"/deepx/funcdef_ompsimd.ir; do
        run 0 convert --from deepx --to deepx "$f" c1.ir; quiet; same "$f" c1.ir
    done
fi
finish
