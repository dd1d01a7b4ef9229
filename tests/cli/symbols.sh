# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

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
run 1 opt open.json five.json --passes 'bind{dims="batch=99"}'; err "bind: dims: expected values of 'batch' within 1..64, found 99"
run 1 opt open.json five.json --passes 'bind{dims="bach=4"}'; err "bind: dims, 'bach=4': no open dim has the name 'bach'; did you mean 'batch'?"

# --bind sets the dims of the pass bind, which is the first one if the pipeline does not have it.
run 0 opt open.json bound.json --bind batch=4 --bind width=2..9 --verify; quiet
run 0 info bound.json; out "value 0 'x' @fp(32) NC [4,2*width]"; out "  width from 2 to 9"; not_out "batch"
run 0 opt bound.json some.json --bind width=3..9 --verify; quiet   # an interval is a change
run 1 diff bound.json some.json; out '~ xir.symbols/width: "2..9" -> "3..9"'; out "the network itself changed"
run 1 diff bound.json some.json --json; json '[(i["field"], i["a"], i["b"]) for i in d] == [("xir.symbols/width", "2..9", "3..9")]'
run 0 opt bound.json again.json --bind width=2..9 --json; same again.json bound.json
json 'sum(p["changes"] for p in d["passes"]) == 0'
for passes in infer "" "infer,bind" 'fix(bind{dims="batch=4;width=2..9"})' 'infer,fix{limit=3}( bind )'; do
    run 0 opt open.json some.json --bind batch=4 --bind width=2..9 --passes "$passes"; quiet
    run 0 info some.json; out "[4,2*width]"; out "  width from 2 to 9"
done
run 0 opt open.json some.json --bind batch=4 --passes 'bind{dims="batch=5"}'; run 0 info some.json; out "[5,2*width]"
run 0 opt open.json four.json --prove --bind batch=4; quiet; out "proven: 2 networks compute the same"
run 1 opt open.json wrong.json --bind batch=-1; gone wrong.json
err "bind: dims: expected values of 'batch' within 1..64, found -1"
run 1 opt open.json wrong.json --bind batch=8..7; err "found 8..7"; gone wrong.json
run 1 opt open.json wrong.json --bind batch=1 --bind batch=1
err "bind: dims, 'batch=1': the name 'batch' appears twice"
run 1 opt open.json wrong.json --bind width=99999999999999999999
err "bind: dims, 'width=99999999999999999999', character 7"
# A shape of an input gives its symbols numbers everywhere.
run 0 opt open.json some.json --input-shape x=4,10; quiet
run 0 info some.json; out "x' @fp(32) NC [4,10]"; out "[20,2]"
run 1 opt open.json wrong.json --input-shape x=99,10; gone wrong.json
err "to-xir: input-shape: expected values of 'batch' within 1..64, found 99"
run 2 run open.json --bind batch; err "--bind takes NAME=N or NAME=A..B, not 'batch'"
run 0 run open.json --bind batch=3 --bind width=4; quiet; out "[12,2]"
run 1 run open.json --bind batch=65; err "expected values of 'batch' within 1..64, found 65"

# check --bind checks the network as it is for these dims: some may not be divided by six.
run 0 check open.json --bind batch=3 --bind width=2..4; quiet
edit open.json six.json 's/"shape":\[-1,2\]/"shape":[6,-1]/g; s/\["batch\*width",""\]/["","floor(batch*width\/3)"]/g'
run 0 check six.json; quiet
run 0 check six.json --bind batch=3 --bind width=2; quiet
run 1 check six.json --bind batch=2 --bind width=2; out "six.json: 1 error"
err "/ops/2/shape: icraft::xir::Reshape 'r': input has 8 elements: expected a multiple of 6"
run 1 check open.json --bind batch=65; out "open.json: 1 error"
err "open.json: bind: dims: expected values of 'batch' within 1..64, found 65"
run 2 check open.json --bind batch; err "--bind takes NAME=N or NAME=A..B, not 'batch'"; silent
run 2 check open.json six.json --bind bach=3 --json
err "open.json: --bind bach=3: the network has no open dim 'bach'; did you mean 'batch'?"
json '[i["findings"][0]["file"] for i in d] == ["open.json", "six.json"] and not any(i["complete"] for i in d)'

# A name that the network does not have, or a malformed value, is a wrong command line, before any parameter and pass.
for command in "opt open.json no.json" "opt open.json no.json --passes dce" "run open.json" "stats open.json" \
        "trace open.json x"; do
    run 2 $command --bind bach=3; silent; lines err 1
    err "open.json: --bind bach=3: the network has no open dim 'bach'; did you mean 'batch'?"
    run 2 $command --bind nothing=3; err "'nothing'; the network's open dims are: batch, width"
    run 2 $command --bind batch=3x; err "--bind takes NAME=N or NAME=A..B, not 'batch=3x'"
done
for command in "opt open.json no.json" "stats open.json" "trace open.json x"; do
    run 2 $command --input-shape xx=4,10; silent; lines err 1
    err "open.json: --input-shape xx=4,10: the network has no input 'xx'; did you mean 'x'?"
    run 2 $command --input-shape x=4,1o; err "--input-shape takes NAME=D,D,..., not 'x=4,1o'"
    run 2 $command --input-shape x=4,10:fp23; err "found 'fp23'; did you mean 'fp32'?"
done
gone no.json
run 2 opt four.json no.json --bind batch=3 --reproduce kept.json; gone kept.json; gone no.json
run 0 opt all.json again.json; run 2 opt all.json no.json --bind batch=3; err "'batch'; it has none"

# Random inputs: symbols are 1, and expressions follow.
run 0 run open.json; quiet; out "[1,2]"
edit open.json wrong.json 's/"2\*width"/"2*width +"/g'
run 1 check wrong.json; err "dim 1, '2*width +', character 10"
edit open.json wrong.json 's/"1..64"/"9..8"/g'
run 1 check wrong.json; err "found 9..8"
