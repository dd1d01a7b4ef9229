# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Modules of PyTorch: a network of PNNX is written as a program with its archive of weights; Python parses it, and finds
# the statements that XIR means and no others, whatever the names are. Whether PyTorch computes it: cli_pytorch.
. "$SRC/tests/cli/lib.sh"

f="#0=(1,2)f32"
{
    printf '7767517\n5 4\n'
    echo "pnnx.Input               pnnx_input_0             0 1 0 $f"
    echo "nn.Linear                fc                       1 1 0 1 bias=True in_features=2 out_features=1 @bias=(1)f32 @weight=(1,2)f32"
    echo "F.gelu                   act                      1 1 1 2 approximate=tanh"
    echo "pnnx.Expression          expr                     2 1 2 0 3 expr=mul(add(@0,1),size(@1,0))"
    echo "pnnx.Output              pnnx_output_0            1 0 3"
} >net.pnnx.param
header() { printf 'PK\003\004\0\0\0\0\0\0\0\0\0\0'; }
{
    header; printf '\152\152\241\254\4\0\0\0\4\0\0\0\7\0\0\0fc.bias\0\0\200?'
    header; printf '\265\211\164\273\10\0\0\0\10\0\0\0\11\0\0\0fc.weight\0\0\0@\0\0\100@'
} >walked.bin
run 0 convert net.pnnx.param net.pnnx.param --params walked.bin --lazy; there net.pnnx.bin

# The statements of a module: those of forward, what is imported, and what is called.
python_has() {
    has python3 || return 0
    python3 - "$@" <<'END' || bad "$ran: $1 has other statements"
import ast, sys
text = open(sys.argv[1], encoding="ascii").read()
tree = ast.parse(text)
kinds = [type(node).__name__ for node in tree.body if not isinstance(node, (ast.Expr, ast.Import))]
imports = [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
model = next(node for node in tree.body if isinstance(node, ast.ClassDef))
init, forward = model.body
body = [ast.unparse(node) for node in forward.body]
whole = (kinds == ["Assign", "Assign", "FunctionDef", "FunctionDef", "ClassDef", "FunctionDef", "If"] and
         imports == ["os", "zipfile", "torch", "torch.nn", "torch.nn.functional"] and len(init.body) == 3)
if not whole or body != sys.argv[2:]:
    print(kinds, imports, body, sep="\n")
    sys.exit(1)
END
}
# An archive that Python's own module reads.
python_reads() {
    has python3 || return 0
    [ "$(python3 -c 'import sys, zipfile; print(*zipfile.ZipFile(sys.argv[1]).namelist())' "$1")" = "$2" ] ||
        bad "$ran: Python finds other members in $1"
}

# The weights of the file become those of the module: they are the same bytes.
cp net.pnnx.bin before.bin
run 0 convert net.pnnx.param net.py; quiet; silent; same net.pnnx.bin before.bin
python_has net.py "v_1 = self.m_fc(v_0)" "v_2 = F.gelu(v_1, approximate='tanh')" "v_3 = (v_2 + 1) * v_0.size(0)" "return v_3"
python_reads net.pnnx.bin "fc.bias fc.weight"
run 0 convert net.pnnx.param net.py --lazy; quiet; same net.pnnx.bin before.bin
run 0 convert net.pnnx.param other.py; quiet; same other.pnnx.bin before.bin
run 0 convert net.pnnx.param named.py --out-params w.zip; quiet; same w.zip before.bin; gone named.pnnx.bin
grep -q "^WEIGHTS = .*'w\.zip')$" named.py || bad "the module does not name its archive"
run 0 convert net.pnnx.param bare.py --no-params; quiet; same bare.py net.py; gone bare.pnnx.bin
run 0 convert net.pnnx.param - --to py; cp out piped.py; same piped.py net.py; err "the parameters are not written"
run 2 info net.py; err "cannot read py"

# From any network; not over the weights of a file that stays.
run 0 opt "$SRC/examples/models/digits.onnx" digits.py; there digits.pnnx.bin
run 0 convert net.pnnx.param net.fb; run 0 opt net.fb net.opt.py; there net.opt.pnnx.bin
# F.gelu is a part of an expression now.
lost="note: xir-to-pnnx: not in the file: 1 of 6 names of values, 1 of 2 names of ops"
lines err 1; err "$lost"
cp net.py before.py
run 2 opt net.pnnx.param net.py; err "net.pnnx.bin: the parameters of net.pnnx.param would be replaced, but not their"
same net.py before.py; same net.pnnx.bin before.bin
run 0 opt net.pnnx.param net.py --out-params net.bin; lines err 1; err "$lost"
same net.pnnx.bin before.bin; there net.bin

# Networks that PNNX does not have, or that Python would not understand, leave no file.
run 3 convert "$data/small.json" no.py; err "xir opt converts those that it can"; gone no.py; gone no.pnnx.bin
sed 's/F.gelu  /os.exit/' net.pnnx.param >exit.param
run 3 convert exit.param no.py --params net.pnnx.bin; err "op 2 'act' (os.exit): it cannot be written"; gone no.py
gone no.pnnx.bin
sed 's/add(@0,1)/eval(@0)/' net.pnnx.param >eval.param
run 3 convert eval.param no.py --params net.pnnx.bin; err "op 3 'expr' (pnnx.Expression): the expression: 'eval' with 1"
gone no.py

# Names and texts with quotes, ends of lines and bytes that end texts elsewhere.
evil='x\\n        import os\\n\\"\\"\\"'"'"');os.system(0)#'
run 0 convert net.pnnx.param net.json
sed "s/\"name\":\"fc\"/\"name\":\"$evil\"/; s/\"name\":\"1\"/\"name\":\"$evil\"/g; s/\"tanh\"/\"$evil\"/" net.json >evil.json
run 0 convert evil.json evil.py --params net.raw; quiet
id=x_________import_os_______os_system_0__
python_has evil.py "v_$id = self.m_$id(v_0)" \
    "v_2 = F.gelu(v_$id, approximate='x\\n        import os\\n\"\"\"\\');os.system(0)#')" \
    "v_3 = (v_2 + 1) * v_0.size(0)" "return v_3"
sed 's/"name":"fc"/"name":"f\\u0000c"/' net.json >nul.json
run 3 convert nul.json nul.py --params net.raw; err "its name cannot be that of a member of an archive"; gone nul.py
gone nul.pnnx.bin
finish
