# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# The page of xir view computes the coordinates that the library computes for SVG: the same integers for every box, of
# one network and of two, with constants and without. Its labels are those of SVG, too, and none is squeezed.
. "$SRC/tests/cli/lib.sh"

command -v node >/dev/null || skip "no node"
# A chain of blocks in layers, each with a connection that skips it, and one value that every block uses.
awk 'BEGIN {
    n = 3; at = 1
    text = "pnnx.Input pnnx_input_0 0 1 0\npnnx.Input pnnx_input_1 0 1 1\n"; count = 2; last = 0; next_value = 2
    for (l = 0; l < 3; l++) for (b = 0; b < 4; b++) {
        p = "layer" l ".block" b "."
        a = next_value++; c = next_value++; d = next_value++; e = next_value++
        text = text "nn.Conv2d " p "conv 1 1 " last " " a "\nnn.ReLU " p "relu 1 1 " a " " c "\n"
        text = text "torch.mul " p "mul 2 1 " c " 1 " d "\ntorch.add " p "add 2 1 " d " " last " " e "\n"
        count += 4; last = e
    }
    print 7767517; print count + 1, next_value; printf "%s", text; print "pnnx.Output pnnx_output_0 1 0 " last
}' >net.pnnx.param
# The same network without one op, and with a new name of another one.
awk '/ layer1.block2.relu / { old = $6; new = $5; next }
    NR == 2 { $1-- }
    { for (i = 5; i <= NF; i++) if (old != "" && $i == old) $i = new }
    { sub("layer2.block1.mul", "layer2.block1.product"); print }' \
    net.pnnx.param >other.pnnx.param
net="--from pnnx net.pnnx.param"
for input in "$net" "$SRC/tests/golden/json/seed.json" "$net --diff other.pnnx.param"; do
    for how in "" "--depth 1" "--depth 2" "--left-to-right" "--depth 2 --left-to-right" "--group none" \
            "--group repeat" "--group scope"; do
        # shellcheck disable=SC2086    # words
        run 0 view $how $input page.html --no-values
        # shellcheck disable=SC2086
        run 0 view $how $input net.svg
        ran="layout.mjs $how $input"
        node "$SRC/tests/view/layout.mjs" "$SRC/src/draw/page" page.html net.svg >out 2>err || bad "the layouts differ"
        out "boxes"
    done
done
# Two constants in a group whose names have other scopes: they keep them.
cat >constants.pnnx.param <<'END'
7767517
6 5
pnnx.Input in 0 1 0
torch.ones w 0 1 1 size=(2,2)
torch.ones other/weights 0 1 2 size=(2,2)
torch.add block/first/addition_one 2 1 0 1 3
torch.mul block/first/product 2 1 3 2 4
pnnx.Output out 1 0 4
END
# A page has both pictures, with ops that depend on constants alone and without them, and changes between them.
for how in "" "--constants"; do
    other=--constants
    [ -z "$how" ] || other=
    # shellcheck disable=SC2086    # words
    run 0 view $how constants.pnnx.param page.html --no-values
    for svg in "$how" "$other"; do
        # shellcheck disable=SC2086
        run 0 view $svg constants.pnnx.param net.svg
        twin=
        [ "$svg" = "$how" ] || twin=twin
        ran="layout.mjs $how, $svg"
        # shellcheck disable=SC2086
        node "$SRC/tests/view/layout.mjs" "$SRC/src/draw/page" page.html net.svg $twin >out 2>err || bad "the layouts differ"
        out "boxes"
    done
    ran="constants.mjs $how"
    node "$SRC/tests/view/constants.mjs" page.html >out 2>err || bad "the button"
    out "checks"
done
run 0 view "$SRC/examples/models/digits.onnx" page.html --no-values
if grep -q '"twin"' page.html; then bad "$ran: a second picture of a network without such ops"; fi
for input in "$net" "$SRC/tests/golden/json/seed.json" "constants.pnnx.param --constants"; do
    # shellcheck disable=SC2086    # words
    run 0 view $input page.html --no-values
    # shellcheck disable=SC2086
    run 0 view $input net.svg
    ran="labels.mjs $input"
    node "$SRC/tests/view/labels.mjs" "$SRC/src/draw/page" page.html net.svg >out 2>err || bad "labels"
    out "labels"
done
grep -q '>other/weights</text>' net.svg || bad "$ran: a name lost what no title says"
finish
