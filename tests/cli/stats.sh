# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir stats: what networks cost, for people and for programs.
. "$SRC/tests/cli/lib.sh"
has python3 || finish
unset COLUMNS
digits=$SRC/examples/models/digits.onnx

# ---- the table, the pictures and CSV as they are. golden NAME WORDS…: the output of xir stats is data/stats/NAME.
golden() {
    name=$1
    shift
    run 0 stats "$digits" "$@"; quiet; same out "$data/stats/$name"
}
COLUMNS=110; export COLUMNS
golden class.txt
COLUMNS=72
golden op.txt --by op --top 6
LC_ALL=C.UTF-8; golden plot_utf8.txt --plot --by op --sort element_ops --top 8
LC_ALL=C; golden plot_ascii.txt --plot --sort parameters
unset COLUMNS
golden scope.csv --by scope --csv
golden op.csv --by op --csv

# A line is not wider than the terminal; a pipe gets every column.
for wide in 50 64 80 100 140; do
    COLUMNS=$wide; export COLUMNS
    for by in class op scope; do
        run 0 stats "$digits" --by $by; quiet
        most=$(sed '/^$/,$d' out | awk '{ if (length > most) most = length } END { print most }')
        [ "$most" -le "$wide" ] || bad "a line of $most columns, not $wide"
    done
done
unset COLUMNS
run 0 stats "$digits" --by op; out "@fp(32) NHWC [1,8,8,16]"; out "written"
for odd in 0 x 12x -5 ''; do COLUMNS=$odd; export COLUMNS; run 0 stats "$digits"; out "written"; done
unset COLUMNS

# ---- JSON: the sums of ops, classes and scopes are the same, and rows and others are all.
figures='parameters parameter_bytes multiply_adds element_ops bytes_read bytes_written'
for by in op class scope; do
    run 0 stats "$digits" --json --by $by; quiet; lines out 1
    json 'd["converted"] and d["format"] == "onnx" and d["by"] == "'$by'" and d["exit_code"] == 0'
    for f in $figures; do json 'sum(r["'$f'"] for r in d["rows"]) == d["total"]["'$f'"]'; done
    json 'd["total"]["multiply_adds"] == 106752 and d["total"]["parameters"] == 7546 and d["total"]["ops"] == 17'
    json 'd["peak"]["bytes"] == 8192 and d["peak"]["exact"] and d["peak"]["name"] == "/b1/BatchNormalization"'
    run 0 stats "$digits" --json --by $by --top 2
    json 'len(d["rows"]) == 2 and sum(r["multiply_adds"] for r in d["rows"] + [d["others"]]) == 106752'
done
run 0 stats "$digits" --json --by op --sort multiply-adds
json 'd["rows"][0]["name"] == "/c2/Conv" and d["rows"][0]["multiply_adds"] == 73728'
json 'd["rows"][0]["outputs"] == [{"dtype": "@fp(32)", "shape": [1, 4, 4, 32], "layout": "@layout(NHWC)"}]'
json 'max(r["live_bytes"] for r in d["rows"]) == d["peak"]["bytes"]'
run 0 stats "$digits" --json --by op --sort order
json '[r["class"] for r in d["rows"]][:2] == ["icraft::xir::Input", "icraft::xir::Conv2d"]'
run 0 stats "$data/small.json" --json --no-params; json 'd["peak"]["bytes"] == 3072 and d["peak"]["name"] == "add"'
run 0 stats "$data/small.json" --json --no-params --views --in-place
json 'd["peak"]["bytes"] == 2048 and d["peak"]["name"] == "conv2"'

# ---- scopes: parts between slashes, or else between dots.
rename() {   # FROM TO NAME...: ops get these names
    python3 - "$@" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
for op, name in zip(d["ops"], sys.argv[3:]): op["name"] = name
json.dump(d, open(sys.argv[2], "w"), separators=(",", ":"))
P
}
cp "$data/small.json" net.json
rename net.json scopes.json in /a.b/c/conv a.b.relu /a.b/c/pool a.b/c/ '' //x
run 0 stats scopes.json --json --by scope --no-params; quiet
json 'sorted((r["name"], r["ops"]) for r in d["rows"]) == [("", 3), ("a.b", 1), ("a.b/c", 3)]'
run 0 stats scopes.json --json --by scope --depth 1 --no-params
json 'sorted((r["name"], r["ops"]) for r in d["rows"]) == [("", 3), ("a", 1), ("a.b", 3)]'
run 0 stats scopes.json --by scope --sort name --no-params
out "(none)    3"

# ---- tiles of the scopes, or why there are none.
rename net.json tiled.json in /s/conv /s/relu /s/pool /s/add //x
run 0 stats tiled.json --by scope --tiles 1000 --no-params; quiet
out "tiles of 1000 B along H and W"
run 0 stats tiled.json --json --by scope --tiles 1000 --no-params; quiet
json '[t["tiles"] > 1 and 0 < t["peak_bytes"] <= 1000 for t in d["tiles"] if t["scope"] == "s"] == [True]'
json 'all(t["made_bytes"] >= t["made_once_bytes"] > 0 for t in d["tiles"])'
run 0 stats tiled.json --by scope --tiles 10 --no-params; quiet
out "bytes are alive while it runs"
run 2 stats tiled.json --tiles 1000; err "--tiles is for --by scope"
run 2 stats tiled.json --by scope --tiles 0; err "--tiles takes a number from 1 on"

# ---- what is not known is counted and never 0.
edit net.json odd.json 's/"_type_key":"icraft::xir::ReLU"/"_type_key":"my::Op"/'
run 0 stats odd.json --no-params; quiet
out "my::Op"; out "not known      multiply-adds of 1, element ops of 1, bytes read of 1 ops"
run 0 stats odd.json --no-params --json
json '[r["multiply_adds"] for r in d["rows"] if r["name"] == "my::Op"] == [None]'
json 'd["total"]["multiply_adds"] is None and d["total"]["unknown_ops"]["multiply_adds"] == 1'
json 'd["total"]["known"]["multiply_adds"] > 0 and d["total"]["bytes_written"] > 0'
run 0 stats odd.json --no-params --csv; out "my::Op,1,0,0,,,,,1024"
run 0 stats "$data/open.json"; out "?"; out "not known"; out "peak memory    not known"
run 0 stats "$data/open.json" --plot; out "of some values they are not known"

# ---- open dims get numbers, by name or by input; an op that is not converted is seen.
open=$SRC/tests/convert/onnx/dynamic/mlp.onnx
run 0 stats "$open" --json; json 'd["total"]["unknown_ops"]["multiply_adds"] > 0'
run 0 stats "$open" --json --bind batch=2; quiet; json '"unknown_ops" not in d["total"] and d["peak"]["exact"]'
cp out bound
run 0 stats "$open" --json --input-shape image=2,1,4,4; quiet; same out bound
run 2 stats "$open" --input-shape nothing=2,1,4,4; err "the network has no input 'nothing'; the network's inputs are: image"
run 2 stats "$open" --input-shape 3; err "--input-shape takes NAME=D,D,..., not '3'"
printf '\010\010\102\002\020\021\072\030\012\014\012\001x\022\001y\042\004Nope\132\003\012\001x\142\003\012\001y' >nope.onnx
run 0 stats nope.onnx; out "ops            3, converted in part"; err "Nope"
# Ops that only the conversion adds are not counted: a Transpose to channels last, and one back.
run 0 stats "$digits"; out "ops            17, converted"; not_out "in part"; not_out "Transpose"
out "bytes          66.28 kB read, 31.78 kB written"; out "runs (op 21, number 3 of 17)"
run 0 stats "$digits" --by op --json; json 'len(d["rows"]) == 17 and d["total"]["ops"] == 17 and d["peak"]["position"] == 2'
run 0 opt "$digits" as_it_is.json --passes to-xir; run 0 stats as_it_is.json --json   # there they are ops of the file
json 'd["total"]["ops"] == 31 and d["peak"]["bytes"] == 8192 and d["total"]["parameters"] == 7546'

# ---- names are data: they drive neither a terminal nor a spreadsheet's columns.
python3 - net.json hostile.json <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
names = ["a\x1b[2J\n,\"b\"", "long/" * 200000 + "x", "\u202eright", "/", "..."]
for op, name in zip(d["ops"], names): op["name"] = name
json.dump(d, open(sys.argv[2], "w"), separators=(",", ":"))
P
for by in op scope class; do
    for how in "" --csv --json --plot; do
        # shellcheck disable=SC2086
        run 0 stats hostile.json --no-params --by $by $how; quiet
        [ "$how" = --json ] || ! grep -q "$(printf '\033')" out || bad "an escape character"
    done
done
run 0 stats hostile.json --no-params --by op --csv; out '"a\x1b[2J\x0a,""b""",'; lines out 8
COLUMNS=60; export COLUMNS
run 0 stats hostile.json --no-params --by op; out '...'; [ "$(wc -c <out)" -lt 3000 ] || bad "long names are not cut"
unset COLUMNS

# ---- networks at fault: what is known is printed.
echo '{"_type_key":"icraft::xir::Network","icraft_xir_version":"3.33.1.0","ops":[]}' >none.json
run 0 stats none.json --plot; quiet; out "ops            0"; out "peak memory    0 B"
run 0 stats none.json --json; json 'd["rows"] == [] and d["total"]["ops"] == 0 and d["total"]["multiply_adds"] == 0'
python3 - net.json cycle.json <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
d["ops"][2], d["ops"][3] = d["ops"][3], d["ops"][2]
json.dump(d, open(sys.argv[2], "w"), separators=(",", ":"))
P
run 1 stats cycle.json --no-params; err "sort the network"; out "multiply-adds"; out "peak memory    not known"
run 1 stats cycle.json --no-params --json; json 'd["peak"] is None and d["total"]["multiply_adds"] == 7936'
run 3 stats missing.json; err "missing.json"; silent
run 3 stats missing.json --json; json 'd["exit_code"] == 3'
echo '{' >bad.json
run 1 stats bad.json --from json; silent

# ---- lines that make no sense.
run 2 stats net.json --by layer; err "--by takes class, op or scope, not 'layer'"
run 2 stats net.json --by clas; err "did you mean 'class'?"
run 2 stats net.json --sort multiply_add; err "did you mean 'multiply_adds'?"
run 2 stats net.json --sort nothing; err "it takes order, name, ops, parameters"
run 2 stats net.json --top 0; err "--top takes a number from 1 on, not '0'"
run 2 stats net.json --top 99999999999999999999; err "--top"
run 2 stats net.json --depth 2; err "--depth is for --by scope"
run 2 stats net.json --by scope --depth x; err "--depth takes a number"
run 2 stats net.json --json --csv; json 'd["exit_code"] == 2'; err "--json, --csv and --plot exclude each other"
run 2 stats net.json --bind x; err "bind"

# ---- published counts, within 1 %, if XIR_CORPUS names the files.
[ -d "${XIR_CORPUS:-}/onnx" ] || finish
counts='resnet18:1810 mobilenet_v2:300 densenet121:2830'
sanitized && counts=mobilenet_v2:300
for line in $counts; do
    xz -dc "$XIR_CORPUS/onnx/${line%:*}.onnx.xz" >real.onnx
    run 0 stats real.onnx --json
    json "abs(d['total']['multiply_adds'] / 1e6 / ${line#*:} - 1) < 0.01 and 'unknown_ops' not in d['total']"
done
finish
