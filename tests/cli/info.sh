# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir info: numbers, for people and for programs.
. "$SRC/tests/cli/lib.sh"
cp "$data/small.json" "$data/small.raw" .

run 0 info small.json; quiet
out "name        small"; out "PYTORCH v1.9"; out "ops         7"; out "values      6"; out "params      3, 564 bytes in small.raw"
out "value 0 @fp(32) NHWC [1,8,8,3]"; out "2  icraft::xir::Conv2d"

run 0 info --json small.json; quiet; lines out 1
json 'set("format name ops values params params_bytes op_types inputs outputs".split()) <= set(d)'
json 'd["format"] == "json" and d["name"] == "small" and d["ops"] == 7 and d["values"] == 6'
json 'd["params"] == 3 and d["params_bytes"] == 564 and d["params_file"] == "small.raw"'
json 'd["op_types"]["icraft::xir::Conv2d"] == 2 and sum(d["op_types"].values()) == 7'
json 'd["inputs"] == [{"name": "", "v_id": 0, "dtype": "@fp(32)", "shape": [1, 8, 8, 3], "layout": "@layout(NHWC)"}]'
json 'len(d["outputs"]) == 1 and d["outputs"][0]["shape"] == [1, 4, 4, 4]'

# The target is the one in the file. A foreign network has the default one, which JSON does not name.
out_target() { run 0 info "$1"; out "ai target   $2"; run 0 info --json "$1"; json "d['ai_target'] == $3"; }
out_target small.json @buyit '"@buyit"'
out_target "$SRC/examples/models/digits.onnx" '@buyit (default)' None
run 0 convert "$SRC/examples/models/digits.onnx" digits.json
grep -q '"ai_target":"@buyit"' digits.json || bad "a new file has no target"
out_target digits.json @buyit '"@buyit"'

# Without parameters: a warning if they were wanted, none if they were not.
mv small.raw other.raw
run 0 info small.json; err "warning: there is no parameter file"; out "3, 564 bytes"; not_out " in "
run 0 info --json small.json; json 'd["params_file"] is None and d["params"] == 3 and d["params_bytes"] == 564'
run 0 info --no-params small.json; quiet
run 0 info --params other.raw small.json; quiet; out "in other.raw"
run 0 info --lazy --params other.raw small.json; quiet
run 3 info --params missing.raw small.json; err "missing.raw"
mv other.raw small.params; run 0 info small.json; quiet; out "in small.params"
cp small.params small.raw; run 0 info small.json; out "in small.raw"

# Parameters that do not fit are reported, and everything that is known is printed.
head -c 100 small.params >small.raw
run 1 info small.json; err "small.raw"; out "ops         7"
run 0 info --no-params small.json; quiet

# Standard input has no file next to it.
"$XIR" info --json - <small.json >out 2>err || bad "standard input"; json 'd["ops"] == 7'; err "<stdin>: warning"

# Names are data: they are quoted for programs, and do not control a terminal.
edit small.json hostile.json 's/"name":"small"/"name":"a\\"b\\\\c\\u001b[2J\\n\\u00e9"/'
run 0 info --json --no-params hostile.json; json 'd["name"] == "a\"b\\c\x1b[2J\n\u00e9"'
run 0 info --no-params hostile.json; out 'a"b\c\x1b[2J\x0a'

# Unknown classes are counted like others; types that are not tensors and values without a type have no shape.
edit small.json odd.json 's/"_type_key":"icraft::xir::ReLU"/"_type_key":"my::Op"/'
run 0 info --json --no-params odd.json; json 'd["op_types"]["my::Op"] == 1'
echo '{"_type_key":"icraft::xir::Network","icraft_xir_version":"3.33.1.0","ops":[]}' >none.json
run 0 info --json none.json; json 'd["ops"] == 0 and d["inputs"] == [] and d["op_types"] == {}'

# Several files: one report each, and the worst exit code.
cp small.params small.raw; cp small.json second.json; cp small.raw second.raw
run 0 info small.json second.json; quiet; out "name        small"; grep -q '^second.json$' out || bad "no heading"
[ "$(grep -c '^ops         7$' out)" -eq 2 ] || bad "not two reports"
run 3 info small.json missing.json second.json; err "missing.json: cannot be read"; [ "$(grep -c '^ops         7$' out)" -eq 2 ] || bad "not two reports"
run 0 info --json small.json second.json; json '[f["file"] for f in d] == ["small.json", "second.json"] and all(f["ops"] == 7 for f in d)'
run 3 info --json small.json missing.json; json '[f["exit_code"] for f in d] == [0, 3] and "ops" not in d[1]'
json '[(x["severity"], x["status"], x["file"]) for x in d[1]["findings"]] == [("error", "io", "missing.json")]'
run 0 info --json small.json; json 'd["file"] == "small.json" and d["exit_code"] == 0 and d["findings"] == []'
run 3 info --json missing.json; json 'd["exit_code"] == 3 and d["findings"][0]["message"].startswith("cannot be read")'
run 2 info - -; err "standard input can be read only once"; silent
run 2 info --params small.raw small.json second.json; err "--params is for one file, not for 2"; silent
run 2 info --json --nosuch; json 'd["exit_code"] == 2 and len(d["findings"]) == 1'
finish
