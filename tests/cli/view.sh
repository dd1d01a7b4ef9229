# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir view: pictures, by format, by group, in part, of broken networks; files and words that make no sense.
. "$SRC/tests/cli/lib.sh"
cp "$data/small.json" "$data/small.raw" .

# valid FILE: an SVG that other programs take; graph FILE: a DOT that Graphviz takes. Both are asked where they are
# installed; tests/draw looks at the same without them.
installed() { command -v "$1" >/dev/null; }
valid() { ! installed xmllint || xmllint --noout "$1" 2>err || bad "$ran: $1 is not XML"; }
graph() { ! installed dot || dot -Tsvg "$1" >/dev/null 2>err || bad "$ran: Graphviz does not take $1"; }

# The format is that of the name, or of the option; standard output is -.
run 0 view small.json small.svg; quiet; silent; valid small.svg
grep -q 'id="n3"><title>Conv2d conv2 #3' small.svg || bad "$ran: no box of conv2"
run 0 view small.json - --svg; quiet; same out small.svg
run 0 view --svg --no-params small.json; quiet; silent; same small.svg small.svg
run 0 view small.json; quiet; silent; grep -q '^<!doctype html>' small.html || bad "$ran: no page"
run 0 view small.json small.dot; quiet; graph small.dot
run 0 view small.json small.gv; same small.dot small.gv
"$XIR" view - - --dot <small.json >out 2>err || bad "standard input"; same out small.dot
run 0 convert small.json small.fb
run 0 view small.fb other.svg; same small.svg other.svg

# The parts of a drawing: groups, levels, direction, a part.
edit small.json scopes.json -e 's/"name":"conv1"/"name":"stem\/conv1"/' -e 's/"name":"relu1"/"name":"stem\/relu1"/'
run 0 view scopes.json - --svg; out 'class="o"'; cp out all.svg; valid all.svg
run 0 view scopes.json - --svg --depth 1; out '>2 ops</text>'; not_out 'stem/relu1 #2'
run 0 view scopes.json - --svg --group none; not_out 'class="o"'
run 0 view scopes.json - --dot --group scope; out 'subgraph cluster_1'; out 'rankdir=TB'
run 0 view scopes.json - --dot --left-to-right; out 'rankdir=LR'
run 0 view scopes.json - --svg --left-to-right; cp out turned.svg; valid turned.svg
edit small.json tags.json 's/"tags":{}/"tags":{"part":"head"}/g'
run 0 view tags.json - --dot --group tag:part; out 'head'
run 0 view small.json - --dot --select conv2 --hops 1; out 'n3 -> n4'; out 'n2 -> n3'; not_out 'n1 ->'
run 0 view small.json - --dot --select '#3' --hops 0; not_out ' -> '

# Twice the same bytes.
run 0 view scopes.json again.svg; same all.svg again.svg

# Hostile names; broken networks that can be read.
edit small.json evil.json 's/"name":"conv1"/"name":"<\/script><img onerror=x>\\u202e\\u0007\\u0000"/'
run 0 view evil.json evil.svg; valid evil.svg
! grep -q -e '<img' -e '</script' evil.svg || bad "$ran: a tag from a name"
run 0 view evil.json evil.dot; graph evil.dot
edit small.json mark.json -e 's/"name":"conv1"/"name":"s\\u200e\/a"/' -e 's/"name":"relu1"/"name":"s\\u200e\/b"/'
run 0 view mark.json - --group scope; out '"prefix":[0,8]'
sed 's/"ops":\[.*\],"params_bytes"/"ops":[],"params_bytes"/' small.json >empty.json
run 0 view empty.json empty.svg; valid empty.svg
run 0 view empty.json empty.dot; graph empty.dot

# Foreign formats: types and costs are those of the conversion, the ops those of the file.
run 0 view "$data/small.onnx" - --svg; out "<svg"; cp out onnx.svg; valid onnx.svg
digits=$SRC/examples/models/digits.onnx open=$SRC/tests/convert/onnx/dynamic/mlp.onnx
run 0 view "$digits" - --dot; quiet; out 'Conv /c2/Conv #4'; out '/c2/Conv_output_0 fp32 1×32×4×4'; not_out ' ?\n'
run 0 view "$digits" digits.html; quiet
grep -qF '["accelerator","@buyit (default)"]' digits.html || bad "$ran: no target that nobody has set"
run 0 view small.json target.html; grep -qF '["accelerator","@buyit"]' target.html || bad "$ran: no target"
run 0 show "$digits" --text --no-params; out '.ai_target @buyit (default)'; cp out default.xir
run 0 info default.xir; out 'ai target   @buyit (default)'
run 0 show small.json --text --no-params; out '.ai_target @buyit'; not_out '(default)'
if has python3; then
    run 0 stats "$digits" --json
    python3 - <<'END' || bad "the costs of the page are not those of xir stats"
import json, re, sys
d = json.loads(re.search(r'id="data">(.*?)</script>', open("digits.html", encoding="utf-8").read(), re.S).group(1))
heats = {h["title"]: sum(h["values"]) for h in d["heats"]}
total = json.load(open("out", encoding="utf-8"))["total"]
sys.exit(heats != {"Multiply-adds": total["multiply_adds"], "Parameters": total["parameters"],
                   "Bytes": total["bytes_read"] + total["bytes_written"]})
END
fi
run 0 view "$open" - --dot --bind batch=2; quiet; out 'fp32 2×'; not_out 'batch'
run 0 view "$open" - --dot --input-shape image=2,1,4,4; quiet; out 'fp32 2×1×4×4'
run 2 view "$open" x.svg --bind bach=2; err "has no open dim 'bach'; did you mean 'batch'?"; gone x.svg
run 2 view "$open" x.svg --input-shape imag=2,1,4,4; err "did you mean 'image'?"; gone x.svg
run 1 view "$open" x.svg --input-shape image=2,1,4; err "expected 4 dims for the input 'image', found 3"; gone x.svg
run 0 view "$digits" - --dot --no-params; out 'Conv /c2/Conv #4'

# Ops that depend on constants alone belong to the ops that use them, unless they are wanted.
cat >ones.pnnx.param <<'END'
7767517
4 3
pnnx.Input in 0 1 0
torch.ones ones 0 1 1 size=(2,2)
torch.add sum 2 1 0 1 2
pnnx.Output out 1 0 2
END
run 0 view ones.pnnx.param - --dot; quiet; not_out 'torch.ones'; out 'n2 [label="torch.add'; out 'in: 1 '
not_out 'n1 ->'
run 0 view ones.pnnx.param - --dot --constants; quiet; out 'n1 [label="torch.ones'; out 'n1 -> n2'

# Two networks as one. Without a difference the picture has the same boxes and lines. With values they may differ in
# Params; both may have an op of a number.
edit small.json after.json -e 's/"name":"relu1"/"name":"relu1b"/' -e 's/"_type_key":"icraft::xir::ReLU"/"_type_key":"my::Op"/'
cp small.raw after.raw
run 0 view small.json same.svg --diff small.json; quiet; valid same.svg
[ "$(grep -c '<g id=' small.svg)" = "$(grep -c '<g id=' same.svg)" ] || bad "$ran: other boxes"
! grep -q -e 'e er' -e 'e ea' -e 'id="r' same.svg || bad "$ran: differences"
run 0 view small.json after.svg --diff after.json; quiet; valid after.svg
grep -q '>− ReLU</text>' after.svg && grep -q '>+ Op</text>' after.svg || bad "$ran: no signs"
run 0 view small.json after.dot --diff after.json; graph after.dot
grep -q 'r2 \[label="− ReLU' after.dot || bad "$ran: no op that was removed"
run 0 view small.json - --dot --diff after.json --select relu1b --hops 1; out 'n2 [label="+ Op'; out '~ '; not_out 'n0 '
run 0 view small.json page.html --diff after.json; quiet
grep -q '"diff":{"change":' page.html || bad "$ran: no diff"
run 0 view small.json again.html --diff after.json; same page.html again.html
printf '\100' | dd of=after.raw bs=1 seek=$(($(wc -c <after.raw) - 1)) conv=notrunc 2>/dev/null
run 0 view small.json values.html --diff after.json
grep -q 'elements differ' values.html || bad "$ran: no elements"
"$XIR" view - - --svg --diff after.json <small.json >out 2>err || bad "standard input"; same out after.svg
run 2 view - x.svg --diff -; err "only one of the two"; gone x.svg
run 3 view small.json x.svg --diff missing.json; gone x.svg
run 2 view small.json after.json --svg --diff after.json; err "the network itself"

# The pictures of docs/view.md are what the program draws.
run 0 opt "$data/bert.onnx" bert.fb
run 0 view bert.fb bert.svg; same bert.svg "$SRC/docs/pictures/view.svg"
run 0 view "$SRC/examples/models/digits.onnx" digits.svg --left-to-right
same digits.svg "$SRC/docs/pictures/view_digits.svg"
run 0 opt "$SRC/examples/models/digits.onnx" before.fb --passes to-xir
run 0 opt "$SRC/examples/models/digits.onnx" after.fb
run 0 view before.fb diff.svg --diff after.fb --select /HardSigmoid --left-to-right
same diff.svg "$SRC/docs/pictures/view_diff.svg"; valid diff.svg

# Words that make no sense write nothing.
run 2 view small.json x.png; err "does not tell the format of the picture"; gone x.png
run 2 view small.json - --svg --dot; err "contradict each other"
run 2 view small.json - --svg --group rows; err "--group takes scope"
run 2 view small.json - --svg --group tag:; err "--group takes scope"
run 2 view small.json - --svg --depth many; err "--depth takes a number, not 'many'"
run 2 view small.json - --svg --depth -1; err "--depth takes a number"
run 2 view small.json - --svg --hops 2; err "--hops is about --select"
run 2 view small.json x.svg --select nobody; err "there is no op 'nobody'"; gone x.svg
run 2 view small.json x.svg --select conw1; err "there is no op 'conw1'; did you mean 'conv1'?"; gone x.svg
run 2 view small.json x.svg --select '#99'; gone x.svg
cp "$data/small.onnx" net.html; run 2 view net.html; err "the network itself"; same "$data/small.onnx" net.html
run 2 view small.json ./small.json --svg; err "the network itself"
run 2 view - --svg; err "needs the name of a file"
run 3 view small.json no/folder/x.svg; err "cannot be written"
run 3 view missing.json x.svg; gone x.svg
echo '{' >broken.json; run 1 view broken.json x.svg; gone x.svg

# A symbolic link stays, and the file that it leads to is replaced; files with a similar name are left alone.
mkdir far; echo old >far/x.svg; ln -s far/x.svg link.svg; echo mine >link.svg.part; echo mine >far/x.svg.part
run 0 view small.json link.svg; same small.svg far/x.svg; [ -L link.svg ] || bad "$ran: the link is gone"
echo mine >mine; same mine link.svg.part; same mine far/x.svg.part
[ -z "$(ls -A far | grep xir)" ] || bad "$ran: a part"

if [ -e /dev/full ]; then run 3 view small.json /dev/full --svg; there /dev/full; fi

finish
