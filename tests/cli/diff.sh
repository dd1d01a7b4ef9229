# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir diff: differences, in the words of the network.
. "$SRC/tests/cli/lib.sh"
cp "$data/small.json" "$data/small.raw" .

run 0 diff small.json small.json; quiet; silent

# A name does not control the terminal: marks that change the direction of text and line ends of Unicode are printed as
# bytes.
edit small.json steers.json "s/conv1/con$(printf '\342\200\256\342\200\250')v1/"
run 1 diff small.json steers.json; out 'con\xe2\x80\xae\xe2\x80\xa8v1'
run 0 diff --json small.json small.json; quiet; json 'd == []'
run 0 diff --params small.json small.json; quiet; silent
run 0 diff --params --lazy small.json small.json; quiet
"$XIR" diff - small.json <small.json >out 2>err || bad "standard input"; quiet
run 2 diff - -
run 2 diff --params --no-params small.json small.json
"$XIR" show small.json >indented.json; run 0 diff small.json indented.json; silent

# An attribute, a tag, a type, a field of the network.
edit small.json a.json 's/"pad_top":1/"pad_top":2/'
run 1 diff small.json a.json; quiet; out "icraft::xir::Conv2d 'conv1' (op 1)"; out "  ~ pad_top: 1 -> 2"; out "1 changed"; lines out 3
run 1 diff --json small.json a.json
json 'd == [{"change": "changed", "in": "op", "op_a": {"op_id": 1, "name": "conv1", "type_key": "icraft::xir::Conv2d"}, "op_b": {"op_id": 1, "name": "conv1", "type_key": "icraft::xir::Conv2d"}, "field": "pad_top", "a": 1, "b": 2}]'
edit small.json a.json -e 's/"alpha":\[1.0\]/"alpha":[0.5]/' -e 's/"padding_mode":"ZEROS"/"padding_mode":"REFLECT"/2' -e 's/"max_value":"inf"/"max_value":6.0/'
run 1 diff small.json a.json; out "~ alpha: [1.0] -> [0.5]"; out '~ padding_mode: "ZEROS" -> "REFLECT"'; out '~ max_value: "inf" -> 6.0'; out "3 changed"
edit small.json a.json 's/"shape":\[1,4,4,4\]/"shape":[1,4,4,8]/g'
run 1 diff small.json a.json; out "'pool' (op 5)"; out "~ outputs/0/dtype/shape: [1,4,4,4] -> [1,4,4,8]"; out "1 changed"
run 1 diff --json small.json a.json; json '[r["field"] for r in d] == ["outputs/0/dtype/shape"] and d[0]["b"] == [1, 4, 4, 8]'
edit small.json a.json 's/"framework_version":"v1.9"/"framework_version":"v2.0"/'
run 1 diff small.json a.json; out 'network'; out '~ framework_version: "v1.9" -> "v2.0"'; lines out 3
run 1 diff --json small.json a.json; json 'd == [{"change": "changed", "in": "network", "field": "framework_version", "a": "v1.9", "b": "v2.0"}]'
edit small.json a.json 's/"op_id":3,/"mine":7,&/'; run 1 diff small.json a.json; out "~ mine: (none) -> 7"
run 1 diff --json small.json a.json; json 'd[0]["a"] is None and d[0]["b"] == 7'
edit small.json a.json 's/"name":"relu1"/"name":"other"/'
run 1 diff small.json a.json; out '~ name: "relu1" -> "other"'; out "1 changed"
edit small.json a.json 's/"_type_key":"icraft::xir::ReLU"/"_type_key":"my::Op"/'
run 1 diff small.json a.json; out '~ _type_key: "icraft::xir::ReLU" -> "my::Op"'

# A real that is a float has at most nine digits, unless the two would look the same.
edit small.json a.json 's/"alpha":\[1.0\]/"alpha":[0.1]/'
run 1 diff small.json a.json; out "~ alpha: [1.0] -> [0.1]"
# Files before 3.30 have doubles.
edit small.json a.json -e 's/3\.33\.1/3.27.0/g' -e 's/"threshold":0.0/"threshold":0.1/'
edit a.json b.json 's/"threshold":0.1/"threshold":0.10000000149011612/'
run 1 diff small.json b.json; out "~ threshold: 0.0 -> 0.1"
run 1 diff a.json b.json; out "~ threshold: 0.1 -> 0.10000000149011612"

# Names, the order and ids can be ignored.
edit small.json a.json 's/"name":"relu1"/"name":"other"/'
run 0 diff --ignore names small.json a.json; silent
edit a.json b.json 's/"pad_top":1/"pad_top":2/'
run 1 diff --ignore names small.json b.json; out "~ pad_top: 1 -> 2"; not_out "other"
run 1 diff --ignore order,ids --ignore names small.json b.json; out "~ pad_top: 1 -> 2"; not_out "other"
run 1 diff --ignore names --ignore ids small.json b.json; not_out "other"
run 2 diff --ignore names, small.json a.json; err "not ''"
run 2 diff --ignore name small.json a.json; err "--ignore takes names, order or ids, not 'name'"
run 2 diff --ids --ignore ids small.json a.json; err "contradict"
# If two ops have exchanged their names, they differ in everything. A note says so.
edit small.json a.json -e 's/"name":"relu1"/"name":"@"/' -e 's/"name":"pool"/"name":"relu1"/' -e 's/"name":"@"/"name":"pool"/'
run 1 diff small.json a.json; err "note: 'relu1' and 'pool' look as if their names were exchanged; --ignore names"
run 0 diff --ignore names small.json a.json; quiet; silent

# Changes that need an editor that understands the file.
if has python3; then
    cat >edit.py <<'END'
import copy, json, sys
what, at = sys.argv[1], int(sys.argv[2])
d = json.load(open("small.json")); ops = d["ops"]
def values(x):
    if isinstance(x, dict):
        if "v_id" in x: yield x
        for y in x.values(): yield from values(y)
    elif isinstance(x, list):
        for y in x: yield from values(y)
def bypass(i):
    old, new = ops[i]["outputs"][0]["v_id"], ops[i]["inputs"][0]
    del ops[i]
    for op in ops: op["inputs"] = [copy.deepcopy(new) if v["v_id"] == old else v for v in op["inputs"]]
def number():
    seen = {}
    for i, op in enumerate(ops): op["op_id"] = i
    for v in values(ops): v["v_id"] = seen.setdefault(v["v_id"], len(seen) + 100)
if what == "remove": bypass(at)
if what == "renumber": number()
if what == "anonymous":
    for op in ops: op["name"] = ""
if what == "shifted":
    for op in ops: op["name"] = ""
    json.dump(d, open("base.json", "w"))
    bypass(at); number()
if what == "move": ops.insert(at, ops.pop(int(sys.argv[3])))
if what == "insert":
    old = ops[at]["outputs"][0]
    new = copy.deepcopy(ops[2]); new.update(name="new", op_id=50); new["inputs"] = [copy.deepcopy(old)]
    new["outputs"][0] = copy.deepcopy(old); new["outputs"][0]["v_id"] = 60
    for op in ops:
        op["inputs"] = [copy.deepcopy(new["outputs"][0]) if v["v_id"] == old["v_id"] else v for v in op["inputs"]]
    ops.insert(at + 1, new)
if what == "rewire": ops[4]["inputs"][1] = copy.deepcopy(ops[1]["outputs"][0])
if what == "more": ops[4]["inputs"].insert(0, copy.deepcopy(ops[1]["outputs"][0]))
def hard(id, layers, inputs, outputs, subs):
    return dict(_type_key="icraft::xir::HardOp", compile_target="@hostt", device_info={"base": 4294972444}, instr=[],
                params=[], origin_ops_id=[id], layer_count=layers, inputs=inputs, name="", op_id=id, outputs=outputs,
                sub_hard_ops=subs, tags={})
if what == "subs":
    def value(id): return dict(copy.deepcopy(ops[1]["outputs"][0]), v_id=id)
    subs = [hard(20 + i, i, copy.deepcopy(ops[2]["inputs"]), [value(30 + i)], []) for i in range(3)]
    ops[2] = hard(2, 9, ops[2]["inputs"], ops[2]["outputs"], subs)
    json.dump(d, open("base.json", "w"))
    subs.insert(at, subs.pop(0))
    subs[1]["layer_count"] = 77
    del subs[2]
json.dump(d, open("a.json", "w"), separators=(",", ":"))
END
    change() { python3 edit.py "$@"; }
    change remove 2
    run 1 diff small.json a.json; out "- icraft::xir::ReLU 'relu1' (op 2): removed"; out "1 removed, 0 added, 0 moved, 2 changed"
    out "~ inputs/0: output 0 of icraft::xir::ReLU 'relu1' (op 2) -> output 0 of icraft::xir::Conv2d 'conv1' (op 1)"
    run 1 diff a.json small.json; out "+ icraft::xir::ReLU 'relu1' (op 2): added after icraft::xir::Conv2d 'conv1' (op 1)"
    run 1 diff --json a.json small.json; json '[r for r in d if r["change"] == "added"][0]["op_b"]["name"] == "relu1"'
    json '[r for r in d if r["change"] == "added"][0]["op_a"] is None'
    change insert 3
    run 1 diff small.json a.json; out "+ icraft::xir::ReLU 'new' (op 50): added"; out "0 removed, 1 added, 0 moved, 1 changed"
    change rewire 0
    run 1 diff small.json a.json; out "~ inputs/1: output 0 of icraft::xir::ReLU 'relu1' (op 2) -> output 0 of icraft::xir::Conv2d 'conv1' (op 1)"; out "1 changed"
    change more 0
    run 1 diff small.json a.json; out "~ inputs/0: (none) -> output 0 of icraft::xir::Conv2d 'conv1' (op 1)"; lines out 3
    # An op that has moved is one difference, in either direction.
    change move 4 2
    run 1 diff small.json a.json; out "0 removed, 0 added, 1 moved, 0 changed"; out "> icraft::xir::ReLU 'relu1' (op 2): moved from after"
    change move 2 4
    run 1 diff small.json a.json; out "1 moved, 0 changed"
    run 0 diff --ignore order small.json a.json; silent
    run 1 diff --json small.json a.json; json 'len(d) == 1 and d[0]["change"] == "moved" and d[0]["op_a"]["name"] == "add" and "after_a" in d[0] and "after_b" in d[0]'
    # Sub ops.
    change subs 1
    run 0 diff base.json base.json; silent
    run 1 diff base.json a.json
    out "- icraft::xir::HardOp (op 2) / icraft::xir::HardOp (op 22): removed"; out "~ layer_count: 0 -> 77"; out "1 removed, 0 added, 1 moved, 1 changed"
    run 1 diff --json base.json a.json; json 'all(r["op_a"]["parent_id"] == 2 for r in d) and len(d) == 3'
    run 0 check --no-params base.json; run 0 info --no-params base.json; out "values      9"
    # Ids alone are not a difference, unless an option says so.
    change renumber 0
    run 0 diff small.json a.json; silent; err "note: "; err "--ids shows them"
    run 0 diff --ignore ids small.json a.json; quiet; silent
    run 1 diff --ids small.json a.json; out "v_id: "
    # Ops without names match by their ids; if the ids mean nothing, by their neighbours.
    change anonymous 0
    run 1 diff small.json a.json; out "6 changed"; out '~ name: "conv1" -> ""'; not_out "removed:"
    change shifted 2
    run 1 diff base.json a.json; out "1 removed, 0 added, 0 moved, 2 changed"; out "- icraft::xir::ReLU (op 2): removed"
    change shifted 1
    run 1 diff base.json a.json; out "1 removed, 0 added, 0 moved,"; out "- icraft::xir::Conv2d (op 1): removed"
fi

# Parameters by value. -0.75 is 00 00 40 BF; the first is at 52, the bias at 484.
edit small.json b.json 's/"params_md5":"[0-9a-f]*"/"params_md5":""/'
cp small.raw b.raw; poke b.raw 52 '\001'
run 1 diff small.json b.json; out "~ params_md5"; not_out "values differ"
run 1 diff --params small.json b.json; out "~ inputs/1/data: 1 of 108 values differ, by at most"; out "at [0,0,0,0]: -0.75 -> -0.75000006"; not_out "md5"
run 0 diff --tolerance 1e-6 small.json b.json; silent
run 1 diff --tolerance 1e-9 small.json b.json; run 1 diff --params --tolerance 0 small.json b.json
poke b.raw 487 '\277\000\000\000\077'   # the sign of the first, and the second becomes 0.5
run 1 diff --params --json small.json b.json
json 'len(d) == 2 and d[1]["field"] == "inputs/2/data" and d[1]["of"] == 4 and d[1]["at"] == [1] and d[1]["a"] == -0.5 and d[1]["b"] == 0.5 and d[1]["largest"] == 1.0 and d[1]["differ"] == 1'
poke b.raw 484 '\000\000\300\177'       # NaN is infinitely far from any number
run 1 diff --tolerance 1e30 --json small.json b.json; json 'len(d) == 1 and d[0]["largest"] == "inf" and d[0]["at"] == [0]'
cp small.json d.json; cp b.raw d.raw    # bytes that do not match params_md5 are compared nevertheless
run 1 diff --params small.json d.json; out "~ inputs/2/data: 2 of 4 values differ, by at most inf, at [0]: -0.75 -> nan"
cp b.json c.json; cp b.raw c.raw; run 0 diff --params b.json c.json; silent
rm c.raw; run 1 diff --params b.json c.json; err "warning: there is no parameter file"; out "~ inputs/1/data: bytes -> (none)"
rm b.raw; run 0 diff --params b.json c.json; silent
for t in -1 x nan '' 1x; do run 2 diff --tolerance "$t" small.json small.json; err "--tolerance takes a number"; done

# Hostile names.
edit small.json e.json 's/"name":"conv1"/"name":"c\\u001b[2J\\"\\n"/'
run 1 diff small.json e.json; out '\u001b[2J'; ! grep -q "$(printf '\033')" out || bad "a name drives the terminal"
run 1 diff e.json small.json; ! grep -q "$(printf '\033')" out || bad "a name drives the terminal"
run 1 diff --json e.json small.json; json 'd[0]["a"] == "c\x1b[2J\"\n"'
finish
