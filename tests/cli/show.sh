# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir show: exactly what the writer writes.
. "$SRC/tests/cli/lib.sh"
cp "$data/small.json" "$data/small.raw" .

run 0 show --compact small.json; quiet; same out small.json
run 0 show small.json; quiet; cp out indented.json
[ "$(sed -n 2p out)" = '    "_type_key": "icraft::xir::Network",' ] || bad "no indentation by four"
[ -n "$(tail -c 1 out)" ] || bad "a newline at the end"
run 0 show indented.json; same out indented.json
run 0 show --compact indented.json; same out small.json
run 0 convert small.json other.json --indent; same other.json indented.json
run 0 show --no-params small.json; same out indented.json
run 0 show --lazy --params small.raw small.json; same out indented.json
run 0 show --params small.raw small.json; same out indented.json
run 3 show --params missing.raw small.json
rm small.raw; run 0 show small.json; quiet; same out indented.json

# One op, or some: as they are in the network, by name or id. No op has the name "".
run 0 show --op conv1 small.json; quiet; json 'd["name"] == "conv1" and d["op_id"] == 1 and d["stride_width"] == 1'
json '[len(d["inputs"]), d["inputs"][1]["name"], d["outputs"][0]["dtype"]["shape"]] == [3, "w1", [1, 8, 8, 4]]'
json 'd == json.load(open("small.json"))["ops"][1]'; cp out conv1
run 0 show --op "#1" small.json; same out conv1
run 0 show --compact --op conv1 small.json; lines out 1; json 'd["name"] == "conv1"'; cp out line
run 0 show --compact --op relu1 --op=#1 small.json; lines out 2; tail -n 1 out >last; same last line
run 2 show --op conv3 small.json; silent; err "small.json: there is no op 'conv3'; did you mean 'conv"
run 2 show --op nonsense small.json; err "there is no op 'nonsense'; --op takes the name of an op, or its id as #17"
run 2 show --op "#99" small.json; err "there is no op '#99'"
edit small.json twice.json 's/"name":"conv2"/"name":"conv1"/'
run 0 show --compact --op conv1 twice.json; lines out 2
edit small.json number.json 's/"name":"conv2"/"name":"#1"/'
run 0 show --op "#1" number.json; json 'd["op_id"] == 3'   # a name comes before an id

has python3 && { python3 -c '
import json; d = json.load(open("small.json"))
json.dump(dict(reversed(list(d.items()))), open("turned.json", "w"), indent=1)'
run 0 show --compact turned.json; same out small.json; }
finish
