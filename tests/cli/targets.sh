# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# The ops that targets run: docs/targets.md, the rules about a class, xir check --target, and a network that is made
# legal, divided, and split into parts that give its result.
. "$SRC/tests/cli/lib.sh"

run 0 ops --rules; quiet
cmp -s out "$SRC/docs/targets.md" || {
    bad "docs/targets.md is not what the rules say. Renew it: xir ops --rules > docs/targets.md"
    diff "$SRC/docs/targets.md" out | head -20
}
run 2 ops --rules --json; err "exclude each other"
run 2 ops --rules Conv2d; err "for all classes"
run 0 ops Conv2d; out "on buyi"; out "  needs strides that divide; legalize cuts padding or the map"; out "on zhuge"; out "  needs weights that are constants"
run 0 ops Log; grep -A1 '^on buyi' out | grep -q 'does not run it' || bad "Buyi runs Log"; grep -A2 '^on zhuge' out | grep -q 'one map in' || bad "Zhuge does not run Log"
run 0 ops Mean; out "  does not run it; legalize makes it a pool"
run 0 ops Erf; out "on buyi"; not_out "runs it;"
run 0 ops AvgPool2d; out "  needs count_include_pad = false, it is said"

cp "$SRC/examples/models/digits.onnx" .
run 0 opt digits.onnx f.fb --disable canon; quiet   # which would leave out the padding that no window reads
run 1 check f.fb --target buyi
err "f.fb: /ops/4/stride_width: icraft::xir::Conv2d '/c2/Conv': (8 - 3 + 1 + 1) % 2 is 1: buyi needs strides that divide; legalize cuts padding or the map"
err "/ops/1/dims: icraft::xir::Transpose"; lines err 2; out "f.fb: 2 errors"
run 1 check f.fb --target buyi --json
json '[f["rule"] for f in d["findings"]] == ["transpose-axes", "conv-stride"]'
json '[d["findings"][1][k] for k in ("target", "found", "needed", "mend")] == ["buyi", "(8 - 3 + 1 + 1) % 2 is 1", "strides that divide", "legalize cuts padding or the map"]'
run 1 check f.fb --target buyi --typed; err "buyi needs maps of 8 or 16 bits"
run 1 check f.fb --target zhuge:330; lines err 1
run 1 check f.fb --target "zhuge(340)"; lines err 1
run 2 check f.fb --target zhuge:; err "--target: there is no target"
run 2 check f.fb --target buyi:1; err "--target: there is no target"
run 2 check f.fb --target zhuqe:330; err "did you mean 'zhuge'?"

run 0 opt f.fb r.fb --passes "legalize{target=buyi},partition{target=buyi}" --prove
err "note: partition: buyi runs 14 of 14 ops in 1 group, with 100.00 % of the multiply-adds; 2 values cross borders"; out "proven: 3 networks"
run 0 check r.fb --target buyi; quiet; out "r.fb: no fault found"
run 0 opt r.fb --passes "partition{target=buyi}" --split parts
there parts/index.json; there parts/part0.fb; gone parts/part1.fb
run 0 info r.fb; out "       0  buyi: 14 ops, "; out "  14 of 14 ops, 100.00 % of the multiply-adds"
run 0 info --json r.fb; json 'd["groups"][0]["ops"] == 14 and d["groups"][0]["multiply_adds"] == d["multiply_adds"]'
run 0 info f.fb; not_out "groups"
run 0 info --json f.fb; json '"groups" not in d'

# Runs each part on what earlier ones have made; a value has its name in the index.
cat >run.py <<'END'
import json, os, shutil, struct, subprocess
os.makedirs("values")
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }".ljust(117) + "\n"
numbers = struct.pack("<12f", *range(-6, 6))
open("values/x.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode() + numbers)
for part in json.load(open("parts/index.json"))["parts"]:
    words = [os.environ["XIR"], "run", "parts/" + part["file"], "--output", "values"]
    for i, port in enumerate(part["inputs"]):
        words += ["--input", "%d=values/%s.npy" % (i, port["name"])]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
END

# A network with an op that stays on the host in the middle.
op() { printf '{"_type_key":"%s","compile_target":"@hostt","inputs":[%s],"name":"%s","op_id":%s,"outputs":[%s],"tags":{}}' "$1" "$4" "$2" "$3" "$5"; }
v() { printf '{"_type_key":"icraft::xir::Value","dtype":{"_type_key":"icraft::xir::TensorType","element_dtype":"@fp(32)","layout":"@layout(**)","merged_distrs":[],"shape":[3,4]},"mtype":"@hostm","name":"%s","tags":{},"v_id":%s}' "$2" "$1"; }
a=$(v 0 x) b=$(v 1 b) c=$(v 2 c) e=$(v 3 e)
printf '%s' "{\"_type_key\":\"icraft::xir::Network\",\"ai_target\":\"@buyit\",\"framework_kind\":\"PYTORCH\",\"framework_version\":\"v1.9\",\"icraft_version\":\"v3.33.1\",\"icraft_xir_version\":\"3.33.1.0\",\"name\":\"three\",\"ops\":[$(op icraft::xir::Input "" 0 "" "$a"),$(op icraft::xir::Sigmoid b 1 "$a" "$b"),$(op xir::Erf c 2 "$b" "$c"),$(op icraft::xir::Tanh e 3 "$c" "$e"),$(op icraft::xir::Output "" 4 "$e" "")],\"params_bytes\":0,\"params_md5\":\"d41d8cd98f00b204e9800998ecf8427e\",\"tags\":{}}" >three.json
run 1 check three.json --target buyi; err "/ops/2: xir::Erf 'c': buyi does not run this class"; lines err 1
for how in "" ",outline"; do
    rm -rf parts values
    run 0 opt three.json divided.json --passes "partition{target=buyi$how}" --split parts
    err "note: xir::Erf 'c': buyi does not run this class"; err "buyi runs 2 of 3 ops in 2 groups"; err "4 values cross borders"
    run 0 check divided.json --target buyi; out "no fault found"
    there parts/part2.fb; gone parts/part3.fb
    run 0 info divided.json; out "  2 of 3 ops, 100.00 % of the multiply-adds"
    if has python3; then
        XIR=$XIR python3 run.py || bad "the parts do not run"
        run 0 run three.json --input x=values/x.npy --output whole; same whole/e.npy values/e.npy
    fi
done
# In a divided network the target's own ops are asked about, and others are counted in one note.
run 0 opt three.json divided.json --passes "partition{target=buyi}"
run 0 check divided.json --target buyi; err "note: 1 op is not for buyi and was not asked about"; lines err 1

# A folder with others' files is left as it is, one of an earlier split is replaced.
mkdir others && echo mine >others/notes.txt
run 3 opt r.fb --passes "infer" --split others; err "the folder holds another file, notes.txt"; gone others/index.json
run 3 opt r.fb --passes "infer" --split others/notes.txt; err "cannot be made a folder"
run 0 opt r.fb --passes "infer" --split parts; there parts/part0.fb; gone parts/part1.fb
run 1 opt r.fb --passes "partition{target=nobody}"; err "there is no target 'nobody'"

finish
