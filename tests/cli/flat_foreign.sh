# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# FlatBuffers files of another writer: flatc, which shares no code with XIR, and builds from the end to the beginning.
. "$SRC/tests/cli/lib.sh"
command -v flatc >/dev/null || skip "no flatc"
schema=$SRC/docs/xir.fbs
flatc --schema -b -o . "$schema" || bad "flatc does not take the schema"
cp "$data/small.json" "$data/small.raw" .

# flatc takes the file that XIR writes apart and builds it again. Its payloads are in another order: the digest shows
# which.
run 0 convert small.json small.fb; quiet
flatc --json --raw-binary --strict-json --defaults-json -o . xir.bfbs -- small.fb || bad "flatc does not read our file"
mv small.json text.json; cp "$data/small.json" .
flatc -b -o . "$schema" text.json || bad "flatc does not take what it wrote"
run 0 convert text.bin back.json; quiet; same back.json small.json; same back.raw small.raw
run 0 convert text.bin --to fb back.fb; run 0 convert back.fb again.json; same again.json small.json

# A raw file in an unusual order: the second payload first, then the last one, then the others.
if has python3; then
    python3 - <<'END'
import hashlib, struct
raw = open("small.raw", "rb").read()
n, = struct.unpack_from("<I", raw, 12)
entries = [struct.unpack_from("<iQ", raw, 16 + 12 * i) for i in range(n)]
ends = sorted(at for _, at in entries) + [len(raw)]
size = lambda at: min(e for e in ends if e > at) - at
entries = [entries[1], entries[-1], entries[0]] + entries[2:-1]
assert n >= 3
at, table, payloads = 16 + 12 * n, b"", b""
for v_id, was in entries:
    table += struct.pack("<iQ", v_id, at)
    payloads += raw[was:was + size(was)]
    at += size(was)
shuffled = raw[:16] + table + payloads
open("odd.raw", "wb").write(shuffled)
old, new = (hashlib.md5(b).hexdigest() for b in (raw, shuffled))
text = open("small.json").read()
assert old in text and old != new
open("odd.json", "w").write(text.replace(old, new))
END
    run 0 convert odd.json odd.fb; quiet
    flatc --json --raw-binary --strict-json --defaults-json -o . xir.bfbs -- odd.fb || bad "flatc cannot read it"
    mv odd.json text.json
    flatc -b -o . "$schema" text.json || bad "flatc does not take what it wrote"
    run 0 convert text.bin odd.json; quiet
    cp odd.raw first.raw; run 0 convert odd.fb odd.json; quiet; same odd.raw first.raw
fi

cat >tiny.json <<'END'
{ "name": "tiny", "ops_type": ["Input", "Abs"], "ops": [
  { "outputs_type": ["Value"], "outputs": [{ "v_id": 5, "dtype_type": "IntegerType", "dtype": { "sign": true, "ibits": 8 } }] },
  { "op_id": 1, "inputs_type": ["Value"], "inputs": [{ "v_id": 5, "dtype_type": "IntegerType", "dtype": { "sign": true, "ibits": 8 } }] } ] }
END
flatc -b -o . "$schema" tiny.json || bad "flatc does not take the text"
run 0 convert tiny.bin --to json -
out '"outputs":[{"_type_key":"icraft::xir::Value","dtype":"@sint(8)","mtype":"@hostm","name":"","tags":{},"v_id":5}]'
sed 's/"v_id": 5, "dtype_type": "IntegerType", "dtype": { "sign": true, "ibits": 8 } }\] } \]/"v_id": 5 }] } ]/' tiny.json >differs.json
flatc -b -o . "$schema" differs.json || bad "flatc does not take the text"
run 1 convert differs.bin x.json; err "/ops/1/inputs/0: this copy of v_id 5 differs from the one at byte"; gone x.json
exit $failed
