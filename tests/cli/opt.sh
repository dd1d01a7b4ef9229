# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir opt and xir passes: pipelines on the command line, what is written, what a failure keeps.
. "$SRC/tests/cli/lib.sh"
small=$data/small.json digits=$SRC/examples/models/digits.onnx

# ---- xir passes
run 0 passes; quiet; out "dce "; out "exact "; out "without --passes xir opt runs: bind,to-xir,"
run 0 passes onnx-to-xir; quiet; out "also: onnx-to-xir"; out "level: needed"; out "input-shape: text"; out "strict: bool = false"
run 0 passes --json; quiet; json '{"sort", "infer", "dce", "cse", "fold"} <= {p["name"] for p in d["passes"]}'
json 'd["default"].split(",")[:2] == ["bind", "to-xir"] and all(p["level"] in ("needed", "exact", "fast", "max") and p["doc"] for p in d["passes"])'
run 0 passes --json dce; json '[p["name"] for p in d["passes"]] == ["dce"]'
run 0 passes; shown=$(sed -n 's/^without --passes xir opt runs: //p' out)
[ "$(awk '/^## The default pipeline/ { on = 1 } on && /^```/ { if (code++) exit; next } on && code' "$SRC/docs/passes.md" | tr -d ' \n')" = "$shown" ] ||
    bad "docs/passes.md has another default pipeline"
for pass in $(printf '%s' "$shown" | tr ',()' '   '); do
    [ "$pass" = fix ] || grep -q "^### $pass\$" "$SRC/docs/passes.md" || bad "docs/passes.md has nothing on $pass"
done
run 2 passes dcee; silent; err "there is no pass 'dcee'; did you mean 'dce'?"
run 2 passes frobnicate; err "there is no pass 'frobnicate'; xir passes lists them"
run 2 passes a b

# ---- what is run
run 0 opt --help; out "usage: xir opt"; out "--passes TEXT"; out "--prove"
run 0 opt "$small"; quiet; silent                                  # without OUT nothing is written
run 0 opt "$small" --passes ""; quiet; silent
run 0 opt "$small" same.json --passes ""; quiet; cp "$data/small.raw" want.raw; same same.json "$small"
same same.raw want.raw
run 0 opt "$small" - --passes ""; same out "$small"
run 0 opt "$small" x.fb --passes "dce,fix(cse,dce)"; quiet
run 0 opt "$small" x.imodel --passes "dce"; quiet
run 0 diff x.fb x.imodel --params; quiet
run 0 opt x.fb x.fb --passes "sort,infer"; quiet
run 0 diff x.fb x.imodel --params; quiet
run 0 opt "$small" x.json --indent; there x.json; there x.raw
run 0 opt "$small" y.json --no-params --passes infer; there y.json; gone y.raw
run 0 opt "$small" named --to imodel; run 0 info named; out "imodel"

# ---- an invalid command line is refused before anything is read
run 2 opt; err "usage: xir opt"
run 2 opt a b c
run 2 opt nowhere.json --passes "infer,fodl"; silent; err "pipeline:1:7: there is no pass 'fodl'; did you mean 'fold'?"
run 2 opt nowhere.json --passes "fold{limit=many}"; err "pipeline:1:12: option limit of the pass fold: expected an integer, found 'many'"
run 2 opt nowhere.json --passes "dce)"; err "pipeline:1:4: expected ',', found ')'"
run 2 opt nowhere.json out.txt; err "the name does not tell the format"
run 2 opt nowhere.json --level deep; err "--level takes needed, exact, fast, max, or 1 to 4, not 'deep'"
run 2 opt nowhere.json --set fold; err "--set takes KEY=VALUE, not 'fold'"
run 2 opt nowhere.json --bind N; err "--bind takes NAME=N or NAME=A..B, not 'N'"
run 2 opt nowhere.json --input-shape 1,3; err "--input-shape takes NAME=D,D,..., not '1,3'"
run 2 opt nowhere.json --seed 3; err "--input, --each, --seed, --tolerance and --max-memory need --prove"
run 2 opt nowhere.json --threads x; err "--threads takes a number from 1 on, not 'x'"
run 2 opt nowhere.json --prove --seed x; err "--seed takes a number, not 'x'"
run 2 opt nowhere.json --prove --tolerance -1; err "--tolerance takes a number above 0, not '-1'"
run 2 opt nowhere.json --prove --input x=; err "--input takes NAME=FILE.npy, not 'x='"
run 3 opt "$small" --prove --input x; err "x: cannot"
run 3 opt "$small" --prove --input 0=nowhere.npy; err "nowhere.npy"
run 2 opt "$small" --prove --input x=nowhere.npy; err "the network has no input 'x'"
run 2 opt "$small" --dump-dir -; err "--dump-dir takes a folder, which - is not"
run 2 opt "$small" --reproduce -; err "--reproduce takes a file, not standard output"
run 2 opt "$small" --disable dec; err "there is no pass 'dec', which the settings disable; did you mean 'dce'?"
run 2 opt "$small" --require nobody; err "there is no pass 'nobody', which the settings require"
run 2 opt "$small" --set fold.limt=3; err "the pass fold has no option 'limt'; did you mean 'limit'?"
run 2 opt "$small" --set fold.limit=x; err "option limit of the pass fold: expected an integer, found 'x'"
run 3 opt nowhere.json; err "nowhere.json"

# ---- times
run 0 opt "$small" --time --passes "dce,fix(cse,dce),infer"; quiet; out "pass "; out "  dce "; out "fix "; out "all "
lines out 7
run 0 opt "$small" - --time --passes "dce"; err "pass "; same out "$small"
run 0 opt "$small" --time --passes "dce,fuse,cse" --level exact; out "above the level"
run 0 opt "$small" --time --passes "dce,fuse,cse" --level exact --require fuse; not_out "above the level"
run 0 opt "$small" --time --passes "dce,fuse" --disable dce --disable fuse; out "disabled"; lines out 4

# ---- an ONNX network, proven
run 0 opt "$digits" digits.fb --prove --verify --time; quiet; out "proven: "
out "the largest difference of an output is "; out " ops computed, "; there digits.fb; gone digits.failed.json
run 0 check digits.fb; quiet
run 0 info digits.fb; not_out "onnx::"; not_out "BatchNorm"
run 0 opt digits.fb again.fb --prove; quiet                         # nothing is left to do
run 0 diff digits.fb again.fb --params
run 1 opt "$digits" --prove --input "image=$SRC/examples/models/digits_inputs.npy"; err "nothing was proven"; err "[1,1,8,8], found an array of @fp(32) [64,1,8,8]"
run 0 opt "$digits" --prove --each --input "$SRC/examples/models/digits_inputs.npy"; quiet; out "proven: "
run 2 opt "$digits" --prove --input "picture=$SRC/examples/models/digits_inputs.npy"; err "the network has no input 'picture'; the network's inputs are: image"
for input in image 0; do
    run 0 opt "$digits" --prove --each --input "$input=$SRC/examples/models/digits_inputs.npy"; quiet; out "proven: "
done
run 1 opt "$digits" --prove --passes "dce"; silent; err "nothing was proven: no network could be run"
run 1 opt "$digits" --input-shape image=64,3,8,8; err "image"

# ---- an encoder whose inputs index tables, with a mask (make_bert.py): random inputs are numbers that it takes
for seed in 0 1 2 3; do run 0 opt "$data/bert.onnx" bert.fb --prove --seed $seed; quiet; out "proven: 2 networks"; done
run 0 run "$data/bert.onnx"; quiet; out "hidden  @fp(32) *** [1,5,4]"
run 0 run bert.fb --seed 3; quiet

# ---- a network whose weights were removed: a copy with other weights is proven, and the zeros are written
edit "$small" zeros.json 's/"params_md5":"[0-9a-f]*"/"params_md5":""/'
{ head -c 52 "${small%.json}.raw"; head -c 512 /dev/zero; } >zeros.raw
run 0 opt zeros.json filled.json --prove --passes "merge,fuse,dce,fold-batchnorm,cse,infer"
lines err 1; err "has no params_md5"; there filled.json
out "the weights are all zeros; with weights filled from seed 0: proven: "; lines out 2
cmp -s zeros.raw filled.raw || bad "the weights that are written"
run 0 opt zeros.json --prove --seed 7 --passes "dce" --json; json 'd["proof"]["filled"]["networks"] == 1'
run 0 opt "$small" --prove --passes "dce" --json; json '"filled" not in d["proof"]'
# a pass that is wrong: with zeros its outputs are the same, and there is one verdict
run 1 opt zeros.json --prove --plugin "$BUILD/tests/plugin/wrong.so" --passes drop-relu; not_out "proven"
err "with weights filled at random"; err "computes something else"

# ---- as JSON
run 0 opt "$small" --time --json --passes "dce,fix(cse,dce),fuse" --disable fuse; quiet; lines out 1
json '[(p["text"], p["pass"], p["depth"]) for p in d["passes"]] == [("dce", "dce", 0), ("fix", None, 0), ("cse", "cse", 1), ("dce", "dce", 1), ("fuse", "fuse", 0)]'
json '[p["fate"] for p in d["passes"]] == ["ran"] * 4 + ["disabled"] and d["passes"][0]["ops_before"] == 7 and d["passes"][0]["ns"] >= 0'
json 'd["output"] is None and d["proof"] is None and d["exit_code"] == 0 and d["findings"] == []'
pnnx=$SRC/examples/models/digits.pnnx.param
run 0 opt "$pnnx" pnnx.fb --prove; quiet; out "proven: "; run 0 check pnnx.fb; quiet
run 0 opt "$digits" json.fb --prove --json; quiet; there json.fb
json 'd["output"] == "json.fb" and d["proof"]["networks"] > 2 and d["proof"]["outputs"] > 0 and d["proof"]["largest"] < 1e-4'
json 'd["proof"]["computed"] > 17 and d["proof"]["reused"] > 0 and d["proof"]["ns"] > 0'
run 1 opt "$digits" no.fb --prove --tolerance 1e-12 --json; gone no.fb; json 'd["exit_code"] == 1 and any("--reproduce FILE keeps" in f["message"] for f in d["findings"])'
run 1 opt "$digits" --prove --passes "dce" --json; json 'len(d["findings"]) > 1 and d["proof"]["networks"] == 0'
run 2 opt "$small" - --json; json 'd["exit_code"] == 2'; err "--json and the network cannot both go to standard output"
run 2 opt "$small" --passes "fodl" --json; json '"passes" not in d and d["findings"][0]["line"] == 1 and d["findings"][0]["column"] == 1'

# ---- dumps
run 0 opt "$digits" --dump-dir dumps; there dumps/00-start.json; there dumps/00-start.raw; there dumps/02-to-xir.json
run 0 check dumps/02-to-xir.json
run 0 opt "$digits" --dump-dir texts --dump-text; there texts/00-start.xir; gone texts/00-start.json
sed -n 2p texts/02-to-xir.xir > line2; grep -q '^// to-xir' line2 || bad "$ran: line 2 does not name the pass"
run 2 opt "$digits" --dump-text; err "--dump-dir"
run 0 check texts/02-to-xir.xir; run 0 diff --params texts/02-to-xir.xir dumps/02-to-xir.json; silent
run 1 diff dumps/00-start.json dumps/02-to-xir.json
run 3 opt "$digits" --dump-dir "$small"; err "cannot"

# ---- a failure keeps what reproduces it, if that is asked for
run 1 opt "$digits" out.fb --prove --tolerance 1e-12 --dump-dir more; silent; gone out.fb
gone out.failed.json; gone more/failed.json
err "note: --reproduce FILE keeps the network before this pass, and prints the command that repeats the failure"
not_err "this repeats"
run 1 opt "$digits" out.fb --prove --tolerance 1e-12 --reproduce out.failed.json; silent; gone out.fb
there out.failed.json; there out.failed.raw
not_err "--reproduce FILE"
err "the network is not proven to compute the same after this pass:"; err "the first value that differs is"; err "xir opt out.failed.json --passes "
cp err first
command=$(sed -n 's/.*this repeats the failure: xir opt //p' err)
eval "run 1 opt $command"
err "the network is not proven to compute the same after this pass:"
[ "$(sed -n 's/: the network is not proven.*//p' err)" = "$(sed -n 's/: the network is not proven.*//p' first)" ] || bad "another pass fails"
run 1 opt "$digits" --prove --tolerance 1e-12 --reproduce kept.imodel; err "xir opt kept.imodel"; there kept.imodel
# a wrong name of an input is seen before any pass, and before any parameter: the files have none
mkdir bare && cp "$small" bare/small.json
run 2 opt bare/small.json typo.fb --input-shape imgae=1,8,8,3 --reproduce typo.json; lines err 1
gone typo.fb; gone typo.json
run 2 opt "$digits" typo.fb --input-shape imgae=1,1,8,8; gone typo.fb; lines err 1
err "$digits: --input-shape imgae=1,1,8,8: the network has no input 'imgae'; did you mean 'image'?"

# ---- canon makes an Upsample of a Resize: the files of other formats are the same
mkdir -p resize/as_is resize/canon
for how in NEAREST LINEAR; do
    printf 'xir 1\n%%x = Input() : fp32 NHWC [1,4,6,8]\n%s\nOutput(%%y)\n' \
        "%y = Resize(%x) {dsize=[9,13], interpolation=INTER_$how} ~ : fp32 NHWC [1,9,13,8]" >resize/x.xir
    for format in onnx pnnx nnb tsm deepx; do
        run 0 opt resize/x.xir resize/as_is/y --to $format --passes xir-to-$format
        run 0 opt resize/x.xir resize/canon/y --to $format --passes "canon,xir-to-$format"
        same resize/as_is/y resize/canon/y
    done
    run 0 opt resize/x.xir resize/canon/y.xir --passes canon; grep -q "Upsample(" resize/canon/y.xir ||
        bad "no Upsample"
done

# ---- passes of plug-ins run if they are named
custompass=$BUILD/plugins/custompass.so
[ -e "$custompass" ] || finish
run 0 passes --plugin "$custompass" inverse; out "needs: infer"; out "exact: bool = false"
run 0 opt "$small" --plugin "$custompass" --passes "inverse{exact}" --time; out "infer (needed)"
run 0 opt "$small" --plugin "$custompass" --time; not_out "inverse"
run 2 opt "$small" --passes inverse; err "there is no pass 'inverse'"
finish
