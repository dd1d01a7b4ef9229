# Symbolic dims in the program: info, show and diff print them, opt binds them, run chooses values for them.
. "$SRC/tests/cli/lib.sh"
cp "$data/open.json" .

run 0 info open.json; quiet; out "value 0 'x' @fp(32) NC [batch,2*width]"; out "@fp(32) ** [batch*width,2]"
out "  batch from 1 to 64"; out "  width from 0 to 2147483647"
run 0 info --json open.json
json 'd["symbols"] == {"batch": [1, 64], "width": [0, 2147483647]}'
json 'd["inputs"][0]["shape"] == [-1, -1] and d["inputs"][0]["dims"] == ["batch", "2*width"]'
run 0 check open.json; quiet

# Files have -1 and the texts, whatever their format.
"$XIR" show --compact open.json >shown.json; cmp -s shown.json open.json || bad "show prints other bytes"
run 0 convert open.json open.fb; run 0 convert open.fb open.imodel; run 0 convert open.imodel again.json; quiet
cmp -s again.json open.json || bad "another format loses something"

run 0 opt open.json four.json --passes 'bind{dims="batch=4"}'; quiet
run 1 diff open.json four.json; out '~ outputs/0/dtype/shape: ["batch","2*width"] -> ["4","2*width"]'
run 0 opt four.json all.json --passes 'bind{dims="width=5"}'; run 0 info all.json; out "[20,2]"
run 1 opt open.json five.json --passes 'bind{dims="batch=99"}'; err "expected values of 'batch' within 1..64, found 99..99"
run 1 opt open.json five.json --passes 'bind{dims="bach=4"}'; err "found 'bach'"

# Random inputs: symbols are 1, and expressions follow.
run 0 run open.json; quiet; out "[1,2]"
edit open.json wrong.json 's/"2\*width"/"2*width +"/g'
run 1 check wrong.json; err "dim 1, '2*width +', character 10"
edit open.json wrong.json 's/"1..64"/"9..8"/g'
run 1 check wrong.json; err "found 9..8"
